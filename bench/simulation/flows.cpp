// Viscous flows whose solution is known, as CSV on the standard output (docs/results/simulation.md):
// flow, solver, particles across, measured, exact, error. All are 2D, of viscosity 0.1 m^2 / s and one metre wide.
//   shear   v_x ~ sin(2 pi y), periodic: the rate at which it decays
//   layers  two halves that slide along each other, periodic: the rate of their first wave, later
//   vortex  Taylor & Green 1937, periodic: the rate at which its energy decays
//   couette, poiseuille   between two plates, from rest: the largest error of the profile, over its largest speed,
//   after
//           5 s. Later the particles leave their lattice (docs/decisions/0170-viscosity-by-strain-and-ties.md).
#include <quadrat/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>

namespace {

using namespace quadrat;

constexpr double nu = 0.1, wave = 2 * std::numbers::pi;

Scene base(SolverKind solver, int across) {
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.gravity = {};
    s.spacing = 1.0 / across;
    s.expected_speed = 1;
    s.phases[0].viscosity = 1000 * nu;
    s.phases[0].artificial_viscosity = 0;
    return s;
}

Scene periodic(SolverKind solver, int across, const std::function<Vec3d(double, double)>& flow) {
    Scene s = base(solver, across);
    s.domain.periodic = {true, true, false};
    s.particles.emplace_back();
    for (int y = 0; y < across; ++y)
        for (int x = 0; x < across; ++x) {
            const Vec3d p = {{(x + 0.5) * s.spacing, (y + 0.5) * s.spacing, 0}};
            s.particles[0].positions.push_back(p);
            s.particles[0].velocities.push_back(flow(p[0], p[1]));
        }
    return s;
}

double amplitude(const Simulation& s) {
    double sum = 0;
    for (std::size_t i = 0; i < s.positions().size(); ++i)
        sum += double{s.velocities()[i][0]} * std::sin(wave * double{s.positions()[i][1]});
    return sum;
}

void print(const char* flow, SolverKind solver, int across, double measured, double exact, double error) {
    std::printf("%s,%s,%d,%.5g,%.5g,%.4f\n", flow, solver == SolverKind::incompressible ? "incompressible" : "weak",
                across, measured, exact, error);
    std::fflush(stdout);
}

void rate(const char* flow, SolverKind solver, int across, const Scene& scene, double from, double to, bool energy) {
    Simulation s(scene);
    const auto size = [&] { return energy ? std::sqrt(s.stats().kinetic) : amplitude(s); };
    s.advance_to(from);
    const double before = size(), start = s.time();
    s.advance_to(to);
    const double measured = std::log(before / size()) / (s.time() - start);
    const double exact = (energy ? 2 : 1) * nu * wave * wave;
    print(flow, solver, across, measured, exact, measured / exact - 1);
}

void profile(const char* flow, SolverKind solver, int across, bool driven) {
    constexpr double force = 0.8, plate = 0.1;
    Scene scene = base(solver, across);
    scene.domain.box = {{{0, 0, 0}}, {{0.5, 1, 1}}};
    scene.domain.periodic[0] = true;
    scene.blocks.push_back({.box = {{{0, 0, 0}}, {{0.5, 1, 0}}}});
    if (driven) {
        scene.gravity = {{force, 0, 0}};
    } else {
        scene.domain.open[3] = true;
        scene.bodies.push_back({.shape = BodyShape::plane,
                                .motion = BodyMotion::moving,
                                .normal = {{0, -1, 0}},
                                .position = {{0, 1 + 1e-6, 0}},  // rounding must not take the last row away
                                .velocity = {{plate, 0, 0}},
                                .boundary = BoundaryKind::field});
    }
    Simulation s(scene);
    s.advance_to(5);  // five times L^2 / (pi^2 nu)
    const double most = driven ? force / (8 * nu) : plate;
    // What the start has left: the first term of its series, of which the next is e^-15 times as much.
    const double pi = std::numbers::pi, rest = std::exp(-pi * pi * nu * s.time());
    const double start = driven ? 4 * force / (nu * pi * pi * pi) : 2 * plate / pi;
    double worst = 0, fastest = 0;
    for (std::size_t i = 0; i < s.positions().size(); ++i) {
        const double y = s.positions()[i][1], v = s.velocities()[i][0];
        const double steady = driven ? force * y * (1 - y) / (2 * nu) : plate * y;
        worst = std::max(worst, std::abs(v - (steady - start * rest * std::sin(pi * y))));
        fastest = std::max(fastest, v);
    }
    print(flow, solver, across, fastest, most, worst / most);
}

}  // namespace

int main() {
    std::printf("flow,solver,across,measured,exact,error\n");
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible})
        for (const int across : {10, 20, 40}) {
            rate("shear", solver, across,
                 periodic(solver, across,
                          [](double, double y) {
                              return Vec3d{{0.1 * std::sin(wave * y), 0, 0}};
                          }),
                 0, 0.2, false);
            rate("layers", solver, across,
                 periodic(solver, across,
                          [](double, double y) {
                              return Vec3d{{y < 0.5 ? 0.1 : -0.1, 0, 0}};
                          }),
                 0.1, 0.3, false);
            rate("vortex", solver, across,
                 periodic(solver, across,
                          [](double x, double y) {
                              return Vec3d{{0.2 * std::sin(wave * x) * std::cos(wave * y),
                                            -0.2 * std::cos(wave * x) * std::sin(wave * y), 0}};
                          }),
                 0, 0.15, true);
            profile("couette", solver, across, false);
            profile("poiseuille", solver, across, true);
        }
    return 0;
}
