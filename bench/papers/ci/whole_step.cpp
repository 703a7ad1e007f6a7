// CI Table I, whole steps: the dam break of section 5 (1600 particles, h = 0.05 m, m = 0.0012 kg, mu = 50, dt = 0.002
// s) with the paper's kernels and forces, three stiffness and tension cases, and per step the time of the search by
// three methods and of the dynamics. k is read as P = k (rho - rho0) in N m / kg (with the unit printed, steps of 0.002
// s would not be stable).
//   paper_ci_whole_step CSV_FILE TABLE_FILE
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/neighbors.hpp>
#include <quadrat/simulation.hpp>

#include <chrono>
#include <cstdio>

namespace {

using namespace quadrat;

template <class Fn>
double milliseconds(Fn&& fn) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    constexpr double stiffness[3] = {20, 40, 70}, tension[3] = {0.6, 1.4, 2.2};
    constexpr int steps = 100;
    constexpr float h = 0.05f;
    std::FILE* const file = argc > 2 ? std::fopen(argv[1], "w") : nullptr;
    std::FILE* const table = argc > 2 ? std::fopen(argv[2], "w") : nullptr;
    if (!file || !table) {
        std::fprintf(stderr, "paper_ci_whole_step CSV_FILE TABLE_FILE: cannot write\n");
        return 1;
    }
    std::fprintf(table,
                 "\n| whole steps, ms | dynamics | all pairs: search, step | spatial hashing | cell indexing | step, "
                 "hashing / indexing | neighbours |\n|---|---|---|---|---|---|---|\n");
    std::fprintf(file, "case,all_pairs_ms,spatial_hashing_ms,cell_indexing_ms,dynamics_ms,neighbors\n");
    for (int c = 0; c < 3; ++c) {
        Scene scene;
        scene.kernel = KernelKind::paper;
        scene.solver = SolverKind::ideal_gas;
        scene.support = double{h};
        scene.spacing = 0.010627;  // (0.0012 / 1000)^(1/3)
        scene.domain.box = {{{0, 0, 0}}, {{0.3, 0.15, 0.4}}};
        scene.domain.ghosts = false;
        scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.0850, 0.1063, 0.2126}}}, .count = {8, 10, 20}});
        scene.stepping = {.kind = StepKind::fixed, .fixed = 0.002, .courant = 1};
        scene.phases[0].particle_mass = 0.0012;
        scene.phases[0].viscosity = 50;
        scene.phases[0].artificial_viscosity = 0;
        scene.phases[0].stiffness = stiffness[c];
        scene.phases[0].tension = tension[c];
        Simulation s(scene);
        double all = 0, hash = 0, cells = 0, dynamics = 0;
        BruteForce<3, float> brute;
        UniformHash<3, float> uniform;
        CellIndex<3, float> index({.radius = h});
        NeighborList list;
        for (int k = 0; k < steps; ++k) {
            const double before = s.stats().seconds.search;
            const double step = milliseconds([&] { s.step(); });
            dynamics += step - (s.stats().seconds.search - before) * 1e3;
            const auto x = s.positions();
            all += milliseconds([&] {
                brute.build(x);
                brute.find_neighbors(h, list);
            });
            const std::uint64_t entries = list.entries();
            hash += milliseconds([&] { uniform.find_neighbors(x, h, list); });
            cells += milliseconds([&] {
                index.build(x);
                index.find_neighbors(list);
            });
            if (list.entries() != entries) {
                std::fprintf(stderr, "different answers in step %d\n", k);
                return 1;
            }
        }
        std::fprintf(file, "%d,%.4f,%.4f,%.4f,%.4f,%.1f\n", c + 1, all / steps, hash / steps, cells / steps,
                     dynamics / steps, s.stats().neighbors);
        std::fprintf(table,
                     "| case %d (k %g, tension %g) | %.3f | %.3f, %.3f | %.3f, %.3f | %.3f, %.3f | %.2f | %.1f |\n",
                     c + 1, stiffness[c], tension[c], dynamics / steps, all / steps, (all + dynamics) / steps,
                     hash / steps, (hash + dynamics) / steps, cells / steps, (cells + dynamics) / steps,
                     (hash + dynamics) / (cells + dynamics), s.stats().neighbors);
    }
    std::fclose(file);
    std::fclose(table);
}
