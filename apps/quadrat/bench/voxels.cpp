// quadrat bench voxels: packs a set of positions and looks them up, one by one and in batches, at random and in order.
#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "verb.hpp"
#include "voxel_report.hpp"

namespace quadrat::cli {
namespace {

struct VoxelBenchOptions {
    std::string scenario = "D3";
    std::uint64_t n = 0, seed = 1;
    VoxelOptions voxels;
    bool json = false;
};

// Random positions without repetition, by z, y, x.
template <int D>
std::vector<Voxel<D>> random_positions(std::uint64_t n, std::uint32_t side, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    std::vector<std::uint64_t> keys;
    std::uint64_t cells = 1;
    for (int a = 0; a < D; ++a) cells *= side;
    while (keys.size() < n) {
        while (keys.size() < n) keys.push_back(g() % cells);
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    std::vector<Voxel<D>> out;
    for (std::uint64_t k : keys) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a, k /= side) p[a] = static_cast<std::int32_t>(k % side);
        out.push_back(p);
    }
    return out;
}

// The shell of a ball with about n voxels.
std::vector<Voxel<3>> shell_positions(std::uint64_t n) {
    const double radius = std::sqrt(static_cast<double>(n) / (4 * 3.14159265358979));
    const auto r = static_cast<std::int32_t>(radius) + 2;
    std::vector<Voxel<3>> out;
    for (std::int32_t z = -r; z <= r; ++z)
        for (std::int32_t y = -r; y <= r; ++y)
            for (std::int32_t x = -r; x <= r; ++x) {
                const double d =
                    std::sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z) -
                    radius;
                if (d >= -0.5 && d < 0.5) out.push_back({x, y, z});
            }
    return out;
}

// Rows of a repeated pattern, 36 % full.
std::vector<Voxel<2>> pattern_positions(std::uint64_t n) {
    const auto side = static_cast<std::int32_t>(std::sqrt(static_cast<double>(n) / 0.36)) + 1;
    std::vector<Voxel<2>> out;
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x)
            if ((x % 16 * 7 + y % 16 * 3 + (x / 16 + y / 16) % 5) % 25 < 9) out.push_back({x, y});
    return out;
}

template <int D>
Json measure(const std::vector<Voxel<D>>& positions, const VoxelBenchOptions& options) {
    std::vector<std::uint32_t> values(positions.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i) * 2654435761u | 1;
    std::mt19937_64 g(options.seed + 7);
    std::vector<Voxel<D>> queries;
    std::uint64_t want = 0, all = 0;
    for (std::size_t i = 0; i < std::size_t{1} << 20 && !positions.empty(); ++i) {
        const std::size_t k = g() % positions.size();
        queries.push_back(positions[k]);
        want += values[k];
    }
    for (const std::uint32_t v : values) all += v;
    Progress progress("measuring " + options.scenario);
    Timer timer;
    const auto voxels = SparseVoxels<std::uint32_t, D>::pack(positions, values, options.voxels);
    const double build = timer.lap();
    bool right = true;
    const auto best = [&](std::size_t count, std::uint64_t sum, auto&& run) {
        double least = 1e300;
        for (int round = 0; round < 5; ++round) {
            (void)timer.lap();
            const std::uint64_t got = run();
            least = std::min(least, timer.lap());
            right = right && got == sum;
        }
        return least * 1e9 / static_cast<double>(std::max<std::size_t>(count, 1));
    };
    const auto over = [&](const std::vector<Voxel<D>>& list) {
        std::uint64_t sum = 0;
        for (const Voxel<D>& p : list)
            if (const std::uint32_t* v = voxels.find(p)) sum += *v;
        return sum;
    };
    const double hit = best(queries.size(), want, [&] { return over(queries); });
    const double ordered = best(positions.size(), all, [&] { return over(positions); });
    std::vector<std::uint32_t> found(queries.size());
    const double batch = best(queries.size(), want, [&] {
        voxels.at(queries, found);
        std::uint64_t sum = 0;
        for (const std::uint32_t v : found) sum += v;
        return sum;
    });
    Json json = voxel_json(voxels.grid());
    json["scenario"] = options.scenario;
    json["build_seconds"] = build;
    json["random_ns"] = hit;
    json["in_order_ns"] = ordered;
    json["batch_ns"] = batch;
    json["right"] = right;
    return json;
}

}  // namespace

void add_bench_voxels(CLI::App& bench) {
    const auto options = std::make_shared<VoxelBenchOptions>();
    CLI::App* verb = add_verb(bench, "voxels", "packing and lookups of sparse voxels",
                              "  quadrat bench voxels --scenario D3 --n 500000 --json");
    verb->add_option("--scenario", options->scenario, "D1 random 2048^2, D2 random 512^3, D3 shell, D5 pattern")
        ->check(CLI::IsMember({"D1", "D2", "D3", "D5"}))
        ->capture_default_str();
    whole_number(verb->add_option("--n", options->n, "entries (default 100000; about, for D3 and D5)"), 0, 100000000);
    whole_number(verb->add_option("--seed", options->seed, "of positions and queries (default 1)"), 0,
                 ~std::uint64_t{0});
    verb->add_option("--layout", options->voxels.layout, "voxel, brick, bits or auto (default auto)")
        ->transform(choice<Layout>(
            {{"auto", Layout::automatic}, {"voxel", Layout::voxel}, {"brick", Layout::brick}, {"bits", Layout::bits}}));
    verb->add_option("--construction", options->voxels.construction, "fast or compact (default fast)")
        ->transform(choice<Construction>({{"fast", Construction::fast}, {"compact", Construction::compact}}));
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] {
        const std::uint64_t n = options->n ? options->n : 100000;
        if (n > 100000000 || (options->scenario == "D1" && n > 2000000))
            throw UsageError("--n: too many for this scenario");
        Json json;
        if (options->scenario == "D1") json = measure<2>(random_positions<2>(n, 2048, options->seed), *options);
        if (options->scenario == "D2") json = measure<3>(random_positions<3>(n, 512, options->seed), *options);
        if (options->scenario == "D3") json = measure<3>(shell_positions(n), *options);
        if (options->scenario == "D5") json = measure<2>(pattern_positions(n), *options);
        std::printf("%s\n", (options->json ? json.dump(2) : voxel_text(json)).c_str());
    });
}

}  // namespace quadrat::cli
