// Particle-steps per second of the weakly compressible solver: a jittered lattice in a box with walls on all sides,
// about 30 neighbours, sorted along a Z curve.
//   quadrat_bench_simulation [particles = 1000000] [threads = 1] [steps = 5] [weak | incompressible]
#include <quadrat/simulation.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    using namespace quadrat;
    const double n = argc > 1 ? std::atof(argv[1]) : 1e6;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int steps = argc > 3 ? std::atoi(argv[3]) : 5;
    const double pi = 3.14159265358979;
    Scene scene;
    if (argc > 4 && std::strcmp(argv[4], "incompressible") == 0) scene.solver = SolverKind::incompressible;
    scene.spacing = 0.01;
    scene.support = scene.spacing * std::cbrt(30 * 3 / (4 * pi));
    const double edge = scene.spacing * std::ceil(std::cbrt(n));
    scene.domain.box = {{{0, 0, 0}}, {{edge, edge, 1.2 * edge}}};
    scene.blocks.push_back({.box = {{{0, 0, 0}}, {{edge, edge, edge}}}});
    scene.jitter = 0.3;
    const auto executor = make_executor(threads);
    Simulation s(scene, executor.get());
    for (int k = 0; k < 2; ++k) s.step();
    const StepSeconds before = s.stats().seconds;
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < steps; ++k) s.step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const SimulationStats t = s.stats();
    const auto ms = [&](double StepSeconds::*part) { return (t.seconds.*part - before.*part) / steps * 1e3; };
    const double count = static_cast<double>(t.particles);
    std::printf(
        "n %zu threads %u: %.3f M particle-steps/s, %.1f ms/step: search %.1f density %.1f forces %.1f solve %.1f "
        "move and sort %.1f; %.1f neighbours\n",
        static_cast<std::size_t>(t.particles), threads, count * steps / seconds / 1e6, seconds / steps * 1e3,
        ms(&StepSeconds::search), ms(&StepSeconds::density), ms(&StepSeconds::forces), ms(&StepSeconds::solve),
        ms(&StepSeconds::integrate), t.neighbors);
}
