// Viscosity: the solver of viscosity/ against its own definition, flows whose decay is known, what must stay, and
// liquids so thick that explicit forces exploded.
#include <quadrat/error.hpp>
#include <quadrat/simulation.hpp>

#include "base/simd.hpp"
#include "simulation/scenes.hpp"
#include "simulation/step/integrate.hpp"
#include "simulation/viscosity/viscosity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace {

using namespace quadrat;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::checkpoint;

// A periodic box of one metre, `across` particles wide, with a velocity at each place.
Scene periodic_box(SolverKind solver, int across, double viscosity, const std::function<Vec3d(double, double)>& flow) {
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.gravity = {};
    s.spacing = 1.0 / across;
    s.expected_speed = 1;
    s.domain.periodic = {true, true, false};
    s.phases[0].viscosity = viscosity;
    s.phases[0].artificial_viscosity = 0;
    s.particles.emplace_back();
    for (int y = 0; y < across; ++y)
        for (int x = 0; x < across; ++x) {
            const Vec3d p = {{(x + 0.5) * s.spacing, (y + 0.5) * s.spacing, 0}};
            s.particles[0].positions.push_back(p);
            s.particles[0].velocities.push_back(flow(p[0], p[1]));
        }
    return s;
}

constexpr double wave = 2 * std::numbers::pi;

// How fast the amplitude of v_x ~ sin(k y) falls, over that of the exact solution.
double decay_of_shear(SolverKind solver, KernelKind kernel, int across, double viscosity, double end,
                      double largest_step = 0) {
    Scene scene = periodic_box(solver, across, viscosity, [](double, double y) {
        return Vec3d{{0.1 * std::sin(wave * y), 0, 0}};
    });
    scene.kernel = kernel;
    scene.stepping.largest = largest_step;
    Simulation s(scene);
    const auto amplitude = [&] {
        double sum = 0;
        for (std::size_t i = 0; i < s.positions().size(); ++i)
            sum += double{s.velocities()[i][0]} * std::sin(wave * double{s.positions()[i][1]});
        return sum;
    };
    const double before = amplitude();
    s.advance_to(end);
    // By leap-frog, velocities are half a step behind.
    const double time = s.time() - (solver == SolverKind::incompressible ? 0 : 0.5 * s.stats().time_step);
    return std::log(before / amplitude()) / (viscosity / 1000 * wave * wave * time);
}

// Also where a Courant step is so long that more than half of the wave decays in it.
TEST(Viscosity, AShearWaveDecaysAsItShould) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible})
        for (const KernelKind kernel : {KernelKind::wendland_c2, KernelKind::cubic_spline})
            EXPECT_NEAR(decay_of_shear(solver, kernel, 40, 1000, 0.02), 1, 0.01)
                << static_cast<int>(solver) << " " << static_cast<int>(kernel);
}

TEST(Viscosity, AShearWaveConvergesInSpaceAndInTime) {
    const auto error = [](int across, double step) {
        return std::abs(decay_of_shear(SolverKind::incompressible, KernelKind::wendland_c2, across, 1000, 0.02, step) -
                        1);
    };
    double before = 1;
    for (const int across : {10, 20, 40}) {  // time is resolved
        const double now = error(across, 5e-4);
        EXPECT_LT(now, 0.5 * before) << across;
        before = now;
    }
    before = 1;
    for (const double step : {0.02, 0.005, 0.00125}) {  // space is
        const double now = error(40, step);
        EXPECT_LT(now, 0.5 * before) << step;
        before = now;
    }
}

// With rows that slide along each other, which pairs alone take for 19 % too little.
TEST(Viscosity, SlidingRowsDecayAsWell) {
    EXPECT_NEAR(decay_of_shear(SolverKind::incompressible, KernelKind::wendland_c2, 40, 20, 1), 1, 0.03);
}

TEST(Viscosity, AVortexDecaysAsItShould) {
    const Scene scene = periodic_box(SolverKind::incompressible, 40, 100, [](double x, double y) {
        return Vec3d{
            {0.2 * std::sin(wave * x) * std::cos(wave * y), -0.2 * std::cos(wave * x) * std::sin(wave * y), 0}};
    });
    Simulation s(scene);
    const double before = s.stats().kinetic;
    s.advance_to(0.15);
    const double rate = std::log(before / s.stats().kinetic) / s.time();
    EXPECT_NEAR(rate / (4 * 0.1 * wave * wave), 1, 0.03);
}

// Between two plates, of which one moves or a force drives the fluid; the steady flow.
Scene channel(SolverKind solver, int across) {
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.gravity = {};
    s.spacing = 0.1 / across;
    s.domain.box = {{{0, 0, 0}}, {{0.05, 0.1, 1}}};
    s.domain.periodic[0] = true;
    s.expected_speed = 1;
    s.phases[0].viscosity = 100;
    s.phases[0].artificial_viscosity = 0;
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.05, 0.1, 0}}}});
    return s;
}

// Largest difference to a profile, over its largest value.
double off_profile(const Simulation& s, const std::function<double(double)>& profile) {
    double worst = 0, most = 0;
    for (std::size_t i = 0; i < s.positions().size(); ++i) {
        const double exact = profile(double{s.positions()[i][1]});
        worst = std::max(worst, std::abs(double{s.velocities()[i][0]} - exact));
        most = std::max(most, std::abs(exact));
    }
    return worst / most;
}

TEST(Viscosity, PoiseuilleAndCouette) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Scene driven = channel(solver, 20);
        driven.gravity = {{20, 0, 0}};
        driven.expected_speed = 1;
        Simulation a(driven);
        a.advance_to(0.12);  // five times L^2 / (pi^2 nu)
        EXPECT_LT(off_profile(a, [](double y) { return 20 * y * (0.1 - y) / (2 * 0.1); }), 0.03)
            << static_cast<int>(solver);

        Scene drawn = channel(solver, 20);
        drawn.domain.open[3] = true;
        drawn.bodies.push_back({.shape = BodyShape::plane,
                                .motion = BodyMotion::moving,
                                .normal = {{0, -1, 0}},
                                .position = {{0, 0.1, 0}},
                                .velocity = {{0.5, 0, 0}},
                                .boundary = BoundaryKind::field});
        Simulation b(drawn);
        b.advance_to(0.12);
        EXPECT_LT(off_profile(b, [](double y) { return 0.5 * y / 0.1; }), 0.03) << static_cast<int>(solver);
    }
}

TEST(Viscosity, AWallWithoutFrictionLetsTheFluidSlip) {
    Scene s = channel(SolverKind::incompressible, 10);
    s.domain.response.friction = 0;
    s.blocks[0].velocity = {{0.3, 0, 0}};
    Simulation run(s);
    run.advance_to(0.1);
    EXPECT_NEAR(run.stats().momentum[0], 0.3 * run.stats().mass, 1e-3 * run.stats().mass);
}

// L u by the definition in viscosity.hpp, in double, with every pair by itself.
class Definition {
  public:
    explicit Definition(const simulation::Run& run) : run_(run), n_(run.fluid.p.size()) {
        d_ = run.world.scene.dimension;
        for (std::size_t i = 0; i < n_; ++i) {
            Matrix3d m = Matrix3d::Zero();
            for (const std::uint32_t j : run.fluid.near[i])
                m -= volume(j) * slope(i, j) * apart(i, j) * apart(i, j).transpose();
            if (d_ == 2) m(2, 2) = 1;
            second_.push_back(m);
        }
    }
    // Half of the dissipation.
    [[nodiscard]] double half_loss(const std::vector<Vector3d>& u) const {
        double sum = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const simulation::PhaseData& f = run_.fluid.phase_of(i);
            const double v = volume(i), mu = double{f.viscosity}, h = run_.fluid.support;
            Matrix3d b = Matrix3d::Zero();
            for (const std::uint32_t j : run_.fluid.near[i])
                b -= volume(j) * slope(i, j) * (u[i] - u[j]) * apart(i, j).transpose();
            const Matrix3d g = b * second_[i].inverse();
            const Matrix3d e = 0.5 * (g + g.transpose());
            sum += mu * v * e.squaredNorm();
            for (const std::uint32_t j : run_.fluid.near[i]) {
                const Vector3d d = apart(i, j);
                const double off = d.dot(u[i] - u[j]) - d.dot(e * d);
                sum += 0.5 * mu * v * volume(j) * 2 * (d_ + 2) * -slope(i, j) / (d.squaredNorm() + 0.0025 * h * h) *
                       off * off;
            }
        }
        return sum;
    }

  private:
    [[nodiscard]] double volume(std::size_t i) const { return double{run_.fluid.phase_of(i).volume}; }
    [[nodiscard]] Vector3d apart(std::size_t i, std::size_t j) const {
        return simulation::vector(run_.world.apart(run_.fluid.p.x[i], run_.fluid.p.x[j]));
    }
    [[nodiscard]] double slope(std::size_t i, std::size_t j) const {
        const double r = apart(i, j).norm();
        return run_.fluid.calibration * Kernel(KernelFunction::wendland_c2, d_, run_.fluid.support).derivative(r) / r;
    }
    const simulation::Run& run_;
    std::size_t n_;
    int d_;
    std::vector<Matrix3d> second_;
};

TEST(Viscosity, IsTheGradientOfItsDissipation) {
    for (const int dimension : {2, 3}) {
        simulation::Run run;
        Scene& scene = run.world.scene;
        scene = test::drop(dimension, 0.045, 0.01);
        scene.jitter = 0;
        scene.phases = {Phase{.viscosity = 3}, Phase{.rest_density = 700, .viscosity = 40}};
        for (std::size_t i = 0; i < scene.particles[0].positions.size(); ++i) {
            Vec3d& x = scene.particles[0].positions[i];
            for (int k = 0; k < dimension; ++k) x[k] += 0.003 * std::sin(37.0 * static_cast<double>(i) + 11 * k);
        }
        scene.particles.push_back(scene.particles[0]);
        scene.particles[1].phase = 1;
        for (Vec3d& x : scene.particles[1].positions) x[0] += 0.09;
        simulation::set_up(run);
        simulation::look_around(run);
        const std::size_t n = run.fluid.p.size();
        std::vector<Vector3d> u;
        std::vector<Vec3f> v;
        for (std::size_t i = 0; i < n; ++i) {
            const double t = static_cast<double>(i);
            u.push_back({std::sin(t), std::cos(3 * t), dimension == 3 ? std::sin(5 * t + 1) : 0});
            v.push_back(simulation::plain_float(u.back()));
            u.back() = simulation::vector(v.back());
        }
        const Definition definition(run);
        const double dt = 1e-6;  // one explicit round
        simulation::Viscosity viscosity(run.world, run.fluid, run.solids, run.behind);
        const std::vector<Vec3f> none(n);
        EXPECT_EQ(viscosity.act(v, none, run.solids.poses, dt), 1u);
        double worst = 0, most = 0;
        for (std::size_t i = 0; i < n; i += 7)
            for (int k = 0; k < dimension; ++k) {
                // The loss is a quadratic function: differences over two are exact but for rounding.
                std::vector<Vector3d> more = u, less = u;
                more[i][k] += 0.5, less[i][k] -= 0.5;
                const double force = -(definition.half_loss(more) - definition.half_loss(less));
                const double mass = double{run.fluid.phase_of(i).mass};
                worst = std::max(worst, std::abs(double{run.fluid.p.drag[i][k]} * mass - force));
                most = std::max(most, std::abs(force));
            }
        EXPECT_LT(worst, 1e-4 * most) << dimension;
    }
}

TEST(Viscosity, MomentumAndAngularMomentumStayAndASpinIsFree) {
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Scene scene = test::drop(2, 0.1, 0.01);
        scene.solver = solver;
        scene.phases[0].viscosity = 200;
        scene.phases[0].artificial_viscosity = 0;
        for (const Vec3d& x : scene.particles[0].positions)
            scene.particles[0].velocities.push_back({{1 - 5 * x[1], 5 * x[0], 0}});
        test::expect_momentum_stays(scene);
        Simulation s(scene);
        const auto spin = [&] {
            double sum = 0, centre[2] = {}, speed[2] = {};
            const auto n = static_cast<double>(s.positions().size());
            for (std::size_t i = 0; i < s.positions().size(); ++i)
                for (int k = 0; k < 2; ++k)
                    centre[k] += double{s.positions()[i][k]} / n, speed[k] += double{s.velocities()[i][k]} / n;
            for (std::size_t i = 0; i < s.positions().size(); ++i) {
                const Vec3f &x = s.positions()[i], &v = s.velocities()[i];
                sum += (double{x[0]} - centre[0]) * (double{v[1]} - speed[1]) -
                       (double{x[1]} - centre[1]) * (double{v[0]} - speed[0]);
            }
            return sum;
        };
        const double before = spin();
        s.advance_to(0.1);
        EXPECT_NEAR(spin(), before, 0.01 * before) << static_cast<int>(solver);
    }
}

Scene honey(SolverKind solver, double viscosity) {
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.spacing = 0.005;
    s.domain.box = {{{0, 0, 0}}, {{0.3, 0.2, 1}}};
    s.gravity = {{0, -9.81, 0}};
    s.phases = {Phase{.name = "honey", .rest_density = 1400, .viscosity = viscosity}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.1, 0.15, 0}}}});
    return s;
}

// 10 Pa s reached 12.7 m/s in 0.04 s once, 200 Pa s seven times its energy.
TEST(Viscosity, HoneyAndLavaCreep) {
    for (const SolverKind solver : {SolverKind::incompressible, SolverKind::weakly_compressible})
        for (const double viscosity : {1.0, 10.0, 200.0, 10000.0}) {
            Simulation s(honey(solver, viscosity));
            double energy = 1e300;
            const auto now = [&] {
                const SimulationStats t = s.stats();
                return t.kinetic + t.potential + t.internal;
            };
            const double start = now();
            s.advance_to(0.02);
            energy = now();
            EXPECT_LT(energy, 1.001 * start) << viscosity;
            // Inertia, then creep: at most about rho g H^2 / (10 mu).
            double most = std::min(0.6, 40 / viscosity);
            // What can be squeezed gives way under its own weight first: rho g H^2 / (2 mu) at the top, against the
            // friction of being squeezed, until the springs of mu / (rho c^2) hold it.
            if (solver == SolverKind::weakly_compressible) {
                const double c = s.preset().sound_speed;
                most += 1400 * 9.81 * 0.15 * 0.15 / (2 * viscosity) * std::exp(-0.02 * 1400 * c * c / viscosity);
            }
            EXPECT_LT(s.stats().max_speed, most) << viscosity;
            // The Courant step, not that of viscosity.
            EXPECT_GT(s.stats().time_step, 0.2 * s.preset().first_step) << viscosity;
        }
}

// Pressure is found after friction. Where that has not its part in it, lava sinks 1.7 times as fast at the Courant step
// as at a tenth of it.
TEST(Viscosity, CreepDoesNotDependOnTheStep) {
    for (const double viscosity : {50.0, 200.0, 10000.0}) {
        Scene scene = honey(SolverKind::incompressible, viscosity);
        scene.spacing = 0.01;
        scene.incompressible.density_error = 1e-4;  // 0.1 % of the height is more than lava sinks
        double sunk[2];
        for (const int k : {0, 1}) {
            scene.stepping.largest = k == 0 ? 0 : 4e-4;
            Simulation s(scene);
            s.advance_to(0.02);  // what it falls until friction holds it is of first order in the step
            const double before = s.stats().potential;
            s.advance_to(0.06);
            sunk[k] = before - s.stats().potential;
        }
        EXPECT_NEAR(sunk[0] / sunk[1], 1, 0.05) << viscosity;
    }
}

// A ball that weighs as little as a few particles is an unknown of the same system: it rises, no faster than what
// carries it allows.
TEST(Viscosity, ALightBallInHoneyRisesSlowly) {
    Scene s = honey(SolverKind::incompressible, 100);
    s.blocks[0].box.hi[0] = 0.3;
    s.bodies.push_back({.motion = BodyMotion::dynamic, .radius = 0.02, .density = 20, .position = {{0.15, 0.06, 0}}});
    Simulation run(s);
    double fastest = 0;
    for (int k = 1; k <= 25; ++k) {
        run.advance_to(0.002 * k);
        fastest = std::max(fastest, std::hypot(run.bodies()[0].velocity[0], run.bodies()[0].velocity[1]));
    }
    EXPECT_LT(fastest, 0.1);  // (rho - 20) g r^2 / mu is 0.05 m/s
    EXPECT_GT(run.bodies()[0].velocity[1], 0.001);
}

TEST(Viscosity, SameBytesOnEverySimdTargetForAnyThreadsAndAfterARestart) {
    for (const int dimension : {2, 3}) {
        Scene scene = test::small_dam(dimension, 0.02);
        scene.jitter = 0.2;
        scene.phases = {Phase{.viscosity = 50}, Phase{.rest_density = 800, .viscosity = 2}};
        scene.blocks.push_back({.box = {{{0.16, 0, 0}}, {{0.3, 0.2, 0.12}}}, .phase = 1});
        scene.bodies.push_back(
            {.motion = BodyMotion::dynamic, .radius = 0.05, .position = {{0.2, 0.28, dimension == 3 ? 0.06 : 0}}});
        std::vector<std::vector<std::byte>> all;
        base::for_each_simd_target([&] {
            Simulation s(scene);
            for (int k = 0; k < 4; ++k) s.step();
            all.push_back(checkpoint(s));
        });
        const auto threads = make_executor(7);
        Simulation many(scene, threads.get());
        for (int k = 0; k < 2; ++k) many.step();
        Simulation again = Simulation::load(checkpoint(many), threads.get());
        for (int k = 0; k < 2; ++k) again.step();
        all.push_back(checkpoint(again));
        for (const auto& bytes : all) EXPECT_TRUE(bytes == all[0]);
    }
}

// Explicit forces: the fastest decay that a lattice has, by power iteration, against the step that they are given.
TEST(Viscosity, TheStepOfExplicitForcesIsStableAndNotWasteful) {
    for (const KernelKind kernel : {KernelKind::paper, KernelKind::wendland_c2})
        for (const int dimension : {2, 3}) {
            simulation::Run run;
            Scene& s = run.world.scene;
            s.dimension = dimension;
            s.kernel = kernel;
            s.gravity = {};
            s.spacing = 0.1;
            s.expected_speed = 1;
            s.domain.periodic = {true, true, dimension == 3};
            s.stepping.kind = StepKind::per_particle;
            s.phases[0].viscosity = 1000;
            s.phases[0].artificial_viscosity = 0;
            s.particles.emplace_back();
            const int deep = dimension == 3 ? 10 : 1;
            for (int z = 0; z < deep; ++z)
                for (int y = 0; y < 10; ++y)
                    for (int x = 0; x < 10; ++x) {
                        s.particles[0].positions.push_back(
                            {{0.1 * x + 0.05, 0.1 * y + 0.05, dimension == 3 ? 0.1 * z + 0.05 : 0}});
                        const double v = std::sin(1.0 + 37 * x + 11 * y * y + 5 * z * x);
                        s.particles[0].velocities.push_back({{v, std::cos(3 * v), 0}});
                    }
            simulation::set_up(run);
            simulation::look_around(run);
            std::vector<Vec3f>& v = run.fluid.p.v;
            double rate = 0;
            for (int k = 0; k < 100; ++k) {
                simulation::find_forces(run, false);
                double sq = 0, was = 0;
                for (std::size_t i = 0; i < v.size(); ++i)
                    for (int a = 0; a < 3; ++a) {
                        sq += double{run.fluid.p.a[i][a]} * double{run.fluid.p.a[i][a]};
                        was += double{v[i][a]} * double{v[i][a]};
                    }
                rate = std::sqrt(sq / was);
                for (std::size_t i = 0; i < v.size(); ++i)
                    for (int a = 0; a < 3; ++a)
                        v[i][a] = static_cast<float>(double{run.fluid.p.a[i][a]} / std::sqrt(sq));
            }
            const double step = simulation::force_limit(run.world, run.fluid);
            EXPECT_LT(step * rate, 2) << static_cast<int>(kernel) << dimension;
            EXPECT_GT(step * rate, 0.4) << static_cast<int>(kernel) << dimension;
        }
}

}  // namespace
