// quadrat bench ccd: a crumpled cloth, or a heap of tori, in motion; each step finds all contacts of the same motion
// again, or only the candidates.
#include <quadrat/ccd.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <numbers>
#include <random>

#include "bench/bench_report.hpp"
#include "io/checksum.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* ccd_methods[] = {"contacts", "candidates"};

struct ClothScene {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> start, end;
};

// A square sheet of about n triangles, folded like an accordion whose layers lie close; the layers move through each
// other.
ClothScene crumpled_cloth(std::uint64_t n, std::uint64_t seed) {
    ClothScene s;
    const auto side = static_cast<std::uint32_t>(std::max(2.0, std::sqrt(static_cast<double>(n) / 2)));
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(-0.1, 0.1);
    const double edge = 1.0 / side;
    for (std::uint32_t i = 0; i <= side; ++i)
        for (std::uint32_t j = 0; j <= side; ++j) {
            const double u = i * edge, v = j * edge;
            const double fold = std::sin(10 * std::numbers::pi * u);
            const Vec3d p = {{0.1 * fold + noise(random) * edge, v + noise(random) * edge,
                              0.2 * u + 0.01 * std::sin(12 * v) + noise(random) * edge}};
            s.start.push_back(p);
            s.end.push_back({{p[0] + 0.5 * edge * std::sin(7 * v + 3 * u), p[1] + noise(random) * edge,
                              p[2] + 1.5 * edge * std::cos(9 * u - 5 * v)}});
            if (i && j) {
                const std::uint32_t d = i * (side + 1) + j;
                s.triangles.push_back({d, d - 1, d - side - 1});
                s.triangles.push_back({d - 1, d - side - 2, d - side - 1});
            }
        }
    return s;
}

// Tori of 800 triangles in a cubic heap that is squeezed.
ClothScene tori(std::uint64_t n, std::uint64_t seed) {
    ClothScene s;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> turn(0, std::numbers::pi);
    const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, n / 800));
    const auto side = static_cast<std::uint32_t>(std::ceil(std::cbrt(count)));
    for (std::uint32_t t = 0; t < count; ++t) {
        const auto base = static_cast<std::uint32_t>(s.start.size());
        const double lean = turn(random), yaw = turn(random);
        const double x0 = 2.2 * (t % side), y0 = 2.2 * (t / side % side), z0 = 2.2 * (t / side / side);
        for (std::uint32_t i = 0; i < 20; ++i)
            for (std::uint32_t k = 0; k < 20; ++k) {
                const double a = std::numbers::pi * i / 10, b = std::numbers::pi * k / 10, r = 1 + 0.4 * std::cos(b);
                const double x = r * std::cos(a), y = r * std::sin(a), z = 0.4 * std::sin(b);
                const double lx = x * std::cos(lean) - z * std::sin(lean), lz = x * std::sin(lean) + z * std::cos(lean);
                const Vec3d p = {{x0 + lx * std::cos(yaw) - y * std::sin(yaw),
                                  y0 + lx * std::sin(yaw) + y * std::cos(yaw), z0 + lz}};
                s.start.push_back(p);
                s.end.push_back({{0.97 * p[0], 0.97 * p[1], 0.94 * p[2]}});
                const auto at = [&](std::uint32_t p_, std::uint32_t q) { return base + (p_ % 20) * 20 + q % 20; };
                s.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
                s.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
            }
    }
    return s;
}

void run_ccd(const BenchOptions& options) {
    check_method(options.common.method, ccd_methods);
    if (options.scenario != "C1" && options.scenario != "C2")
        throw UsageError("--scenario: unknown scene '" + options.scenario + "'; choose one of C1, C2");
    if (options.dimension != 3) throw UsageError("--dimension: meshes have 3");
    const std::string method = options.common.method == "auto" ? "contacts" : options.common.method;
    Progress progress("measuring " + options.scenario);
    const ClothScene scene =
        options.scenario == "C1" ? crumpled_cloth(options.n, options.seed) : tori(options.n, options.seed);
    const MovingMesh mesh{.triangles = scene.triangles, .start = scene.start, .end = scene.end};
    const auto executor = options.common.executor();
    const ContactOptions contact{.executor = executor.get()};
    BenchReport report;
    const auto step = [&] {
        Timer timer;
        std::uint64_t sum = 0;
        if (method == "contacts") {
            const ContactList list = find_contacts(mesh, contact);
            const double seconds = timer.lap();
            for (const Contact& c : list) sum += io::mix_pair(c.features[0], c.features[1]);
            report.pairs = list.size();
            report.tested = list.candidates;
            report.checksum = sum;
            return seconds;
        }
        const Candidates list = find_candidates({&mesh, 1}, contact);
        const double seconds = timer.lap();
        for (const auto* pairs : {&list.vertex_face, &list.edge_edge}) sum += io::checksum(*pairs);
        report.pairs = report.tested = list.size();
        report.checksum = sum;
        return seconds;
    };
    report.setup = step();
    for (unsigned s = 0; s < options.steps; ++s) report.steps.push_back(step());
    progress.end();
    report.print(options, "ccd", method);
}

}  // namespace

void add_bench_ccd(CLI::App& bench) {
    auto options = std::make_shared<BenchOptions>();
    options->type = "double";
    CLI::App* verb = add_verb(bench, "ccd", "contacts of moving meshes",
                              "  quadrat bench ccd --scenario C1 --n 100000 --threads 2 --json");
    options->add_to(*verb, "C1 a crumpled cloth of n triangles, C2 a heap of tori of 800 triangles each", "C1",
                    ccd_methods);
    verb->callback([options] { run_ccd(*options); });
}

}  // namespace quadrat::cli
