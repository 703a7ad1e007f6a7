// Validation runs, as CSV on the standard output (docs/results/simulation.md).
//   quadrat_validation dam [weak | incompressible] [particles across the column = 20] [threads = 1]
//   quadrat_validation dam_low ..., dam_square ... (the same of other experiments)
//   quadrat_validation compare [particles across = 20]      both solvers to one simulated second: steps and seconds
//   quadrat_validation hydrostatic [weak | incompressible] [spacings in the support = 2.4]
//   quadrat_validation swing [weak | incompressible] [spacings in the drop's radius = 20]
//   quadrat_validation drop | energy | momentum | layers
// dam: the column of Martin & Moyce 1952 with height 2 a: time in units sqrt(a / (2 g)), front in units a. dam_low:
// theirs with height a, dam_square: that of Lobovsky et al. 2014, as wide as high, with its gate: time in units
// sqrt(a / g).
#include <quadrat/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace quadrat;

constexpr double g = 9.81;

// A column of water at the left end of a tank; lengths in units of its width. Behind a gate it is let go from below:
// the gate rises at a speed in units of sqrt(g height); 0: no gate, it is gone at once.
struct Column {
    double width, height, tank, gate;
};
// The gate of Lobovsky et al. is lifted. How fast is not in our table: 1.5 opens it in 0.67 sqrt(height / g). With 1
// and 2 the error of the finest run is 4.1 % instead of 3.7 (docs/decisions/0088-the-gate-of-a-dam.md).
constexpr Column martin = {0.05715, 2, 6, 0}, martin_low = {0.05715, 1, 6, 0}, lobovsky = {0.6, 1, 1.61 / 0.6, 1.5};

Scene dam(SolverKind solver, const Column& c, double across) {
    const double a = c.width;
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.spacing = a / across;
    s.domain.box = {{{0, 0, 0}}, {{c.tank * a, 2 * c.height * a, 1}}};
    s.gravity = {{0, -g, 0}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{a, c.height * a, 0}}}});
    if (c.gate > 0) {
        // Two spacings thick, so that both sides see it, and off the water by what keeps its first row on the lattice.
        RigidBody gate{.name = "gate", .shape = BodyShape::box, .motion = BodyMotion::moving};
        gate.size = {{2 * s.spacing, 1.2 * c.height * a, 1}};
        gate.position = {{1.002 * a + s.spacing, 0.6 * c.height * a, 0}};
        gate.velocity = {{0, c.gate * std::sqrt(g * c.height * a), 0}};
        gate.boundary = BoundaryKind::field;
        s.bodies.push_back(gate);
        s.domain.open[3] = true;
    }
    return s;
}

// The farthest place that at least three particles have reached: a single one is spray.
double front(const Simulation& s, double width) {
    std::vector<float> x;
    for (const Vec3f& p : s.positions()) x.push_back(p[0]);
    std::nth_element(x.begin(), x.end() - 3, x.end());
    return (double{x[x.size() - 3]} + 0.5 * s.scene().spacing) / width;
}

int run_dam(SolverKind solver, const Column& c, double end, double across, unsigned threads) {
    const auto executor = make_executor(threads);
    Simulation s(dam(solver, c, across), executor.get());
    std::printf("T,Z,steps,energy,density_error\n");
    for (int k = 0; 0.1 * k < end; ++k) {
        s.advance_to(0.1 * k * std::sqrt(c.width / (c.height * g)));
        const SimulationStats t = s.stats();
        std::printf("%.2f,%.4f,%llu,%.6g,%.3g\n", 0.1 * k, front(s, c.width), static_cast<unsigned long long>(t.steps),
                    t.kinetic + t.potential + t.internal, t.average_density_error);
    }
    return 0;
}

int compare(double across) {
    std::printf("solver,particles,steps,seconds,mean_density_error,worst_mean_density_error\n");
    for (const SolverKind solver : {SolverKind::weakly_compressible, SolverKind::incompressible}) {
        Simulation s(dam(solver, {martin.width, martin.height, 4, 0}, across));
        double sum = 0, worst = 0, seconds = 0;
        for (int k = 1; k <= 100; ++k) {
            const auto start = std::chrono::steady_clock::now();
            s.advance_to(0.01 * k);
            seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            const double e = s.stats().average_density_error;
            sum += e / 100;
            worst = std::max(worst, e);
        }
        std::printf("%s,%zu,%llu,%.3f,%.3g,%.3g\n", solver == SolverKind::incompressible ? "incompressible" : "weak",
                    s.positions().size(), static_cast<unsigned long long>(s.stats().steps), seconds, sum, worst);
    }
    return 0;
}

// Water at rest after 3 s. Pressure at fixed depths on the centre line: the mean of the particles around, weighted by
// the kernel (Shepard's interpolation) and over half a second, step by step. Beside it what single rows of particles
// have. Rows alternate: the sum over neighbours lacks half of them at the surface, the first row has no pressure, the
// second carries both, and so on down.
int hydrostatic(SolverKind solver, double supports) {
    Scene s;
    s.dimension = 2;
    s.solver = solver;
    s.spacing = 0.01;
    s.support = supports * s.spacing;
    s.gravity = {{0, -g, 0}};
    s.domain.box = {{{0, 0, 0}}, {{0.2, 0.3, 1}}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.2, 0.2, 0}}}});
    if (solver != SolverKind::incompressible) s.phases[0].viscosity = 2, s.phases[0].artificial_viscosity = 1;
    Simulation run(s);
    run.advance_to(3);
    constexpr int rows = 20;
    double sum[rows] = {}, weight[rows] = {}, row[rows] = {}, height[rows] = {}, count[rows] = {};
    const Kernel kernel(KernelFunction::wendland_c2, 2, s.support);
    while (run.time() < 3.5) {
        run.step();
        const double dt = run.stats().time_step;
        for (std::size_t i = 0; i < run.positions().size(); ++i) {
            const double x = double{run.positions()[i][0]} - 0.1, y = run.positions()[i][1];
            const double p = run.pressures()[i];
            for (int r = 0; r < rows; ++r) {
                const double w = kernel.value(std::hypot(x, y - 0.01 * (r + 0.5)));
                sum[r] += dt * w * p;
                weight[r] += dt * w;
            }
            const int r = std::clamp(static_cast<int>(y / 0.01), 0, rows - 1);
            row[r] += dt * p;
            height[r] += dt * y;
            count[r] += dt;
        }
    }
    std::printf("depth,pressure,expected,row_depth,row_pressure,row_expected\n");
    for (int r = rows - 1; r >= 0; --r) {
        if (count[r] == 0) continue;
        const double depth = 0.2 - 0.01 * (r + 0.5), row_depth = 0.2 - height[r] / count[r];
        std::printf("%.4f,%.1f,%.1f,%.4f,%.1f,%.1f\n", depth, sum[r] / weight[r], 1000 * g * depth, row_depth,
                    row[r] / count[r], 1000 * g * row_depth);
    }
    return 0;
}

Scene disc(double radius, double spacing) {
    Scene s;
    s.dimension = 2;
    s.spacing = spacing;
    s.gravity = {};
    s.domain.box = {{{-1, -1, -1}}, {{1, 1, 1}}};
    s.domain.open = {true, true, true, true, true, true};
    s.particles.emplace_back();
    const int n = static_cast<int>(radius / spacing) + 1;
    for (int y = -n; y <= n; ++y)
        for (int x = -n; x <= n; ++x)
            if (std::hypot(x, y) * spacing <= radius)
                s.particles[0].positions.push_back({{x * spacing, y * spacing, 0}});
    return s;
}

// A drop stretched along x and squeezed along y: its half-axes obey Monaghan's equations for an incompressible ellipse
// (1994), a'' = a (A^2 terms); here the product of the axes and the energy are what is compared.
int drop() {
    Scene s = disc(0.1, 0.0025);
    for (const Vec3d& x : s.particles[0].positions) s.particles[0].velocities.push_back({{2 * x[0], -2 * x[1], 0}});
    s.phases[0].artificial_viscosity = 0.01;
    s.expected_speed = 0.3;
    Simulation run(s);
    // The exact ellipse: dA/dt = A^2 (w^2 - b^2) / (w^2 + b^2) for the strain rate A, db/dt = A b, b w = R^2.
    double b = 0.1, rate = 2, t = 0;
    std::printf("t,half_axis,exact,energy\n");
    for (int k = 0; k <= 20; ++k) {
        const double to = 0.025 * k;
        run.advance_to(to);
        while (t < to - 1e-12) {
            const double dt = 1e-5, w = 0.01 / b;
            rate += dt * rate * rate * (w * w - b * b) / (w * w + b * b);
            b += dt * rate * b;
            t += dt;
        }
        double far = 0;
        for (const Vec3f& x : run.positions()) far = std::max(far, double{std::abs(x[0])});
        const SimulationStats e = run.stats();
        std::printf("%.3f,%.5f,%.5f,%.6g\n", to, far, b, e.kinetic + e.internal);
    }
    return 0;
}

// A drop that is pulled to the origin with -B^2 x and set off as the one above: the half-axes swing. With strain rate A
// and half-axes b, w: dA/dt = (A^2 + B^2) (w^2 - b^2) / (w^2 + b^2), db/dt = A b, dw/dt = -A w, exactly.
int swing(SolverKind solver, double across) {
    constexpr double pull = 5;
    Scene s = disc(0.1, 0.1 / across);
    s.solver = solver;
    s.attraction = pull;
    for (const Vec3d& x : s.particles[0].positions)
        s.particles[0].velocities.push_back({{pull * x[0], -pull * x[1], 0}});
    s.expected_speed = 0.7;
    Simulation run(s);
    double b = 0.1, w = 0.1, rate = pull, t = 0;
    std::printf("t,ratio,exact,energy\n");
    for (int k = 0; k <= 110; ++k) {
        const double to = 0.01 * k;
        run.advance_to(to);
        while (t < to - 1e-12) {
            const double dt = 1e-6;
            rate += dt * (rate * rate + pull * pull) * (w * w - b * b) / (w * w + b * b);
            b += dt * rate * b;
            w -= dt * rate * w;
            t += dt;
        }
        double x_sq = 0, y_sq = 0;
        for (const Vec3f& x : run.positions()) x_sq += double{x[0]} * double{x[0]}, y_sq += double{x[1]} * double{x[1]};
        const SimulationStats e = run.stats();
        std::printf("%.3f,%.5f,%.5f,%.6g\n", to, std::sqrt(x_sq / y_sq), b / w, e.kinetic + e.potential + e.internal);
    }
    return 0;
}

int energy() {
    Scene s = disc(0.1, 0.0025);
    for (const Vec3d& x : s.particles[0].positions) s.particles[0].velocities.push_back({{5 * x[0], -5 * x[1], 0}});
    s.phases[0].artificial_viscosity = 0;
    Simulation run(s);
    std::printf("t,energy,momentum_x,momentum_y,mass\n");
    for (int k = 0; k <= 20; ++k) {
        run.advance_to(0.01 * k);
        const SimulationStats e = run.stats();
        std::printf("%.3f,%.8g,%.3g,%.3g,%.10g\n", 0.01 * k, e.kinetic + e.internal, e.momentum[0], e.momentum[1],
                    e.mass);
    }
    return 0;
}

int layers() {
    Scene s;
    s.dimension = 2;
    s.spacing = 0.0125;
    s.gravity = {{0, -g, 0}};
    s.domain.box = {{{0, 0, 0}}, {{0.2, 0.3, 1}}};
    s.phases = {Phase{.name = "oil", .rest_density = 500}, Phase{.name = "water", .rest_density = 1000}};
    for (Phase& p : s.phases) p.viscosity = 0.5, p.artificial_viscosity = 0.1;
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.1, 0.2, 0}}}, .phase = 0});
    s.blocks.push_back({.box = {{{0.1, 0, 0}}, {{0.2, 0.2, 0}}}, .phase = 1});
    Simulation run(s);
    std::printf("t,oil_height,water_height\n");
    for (int k = 0; k <= 20; ++k) {
        run.advance_to(0.1 * k);
        double height[2] = {}, count[2] = {};
        for (std::size_t i = 0; i < run.positions().size(); ++i)
            height[run.phases()[i]] += double{run.positions()[i][1]}, ++count[run.phases()[i]];
        std::printf("%.1f,%.4f,%.4f\n", 0.1 * k, height[0] / count[0], height[1] / count[1]);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "dam" || what == "dam_low" || what == "dam_square") {
        const bool weak = argc < 3 || std::strcmp(argv[2], "incompressible") != 0, square = what == "dam_square";
        return run_dam(weak ? SolverKind::weakly_compressible : SolverKind::incompressible,
                       square          ? lobovsky
                       : what == "dam" ? martin
                                       : martin_low,
                       square ? 1.65 : 3.75, argc > 3 ? std::atof(argv[3]) : 20,
                       argc > 4 ? static_cast<unsigned>(std::atoi(argv[4])) : 1);
    }
    if (what == "compare") return compare(argc > 2 ? std::atof(argv[2]) : 20);
    const SolverKind solver = argc > 2 && std::strcmp(argv[2], "incompressible") == 0 ? SolverKind::incompressible
                                                                                      : SolverKind::weakly_compressible;
    if (what == "hydrostatic") return hydrostatic(solver, argc > 3 ? std::atof(argv[3]) : 2.4);
    if (what == "drop") return drop();
    if (what == "swing") return swing(solver, argc > 3 ? std::atof(argv[3]) : 20);
    if (what == "energy" || what == "momentum") return energy();
    if (what == "layers") return layers();
    std::fprintf(stderr,
                 "quadrat_validation: dam, dam_low, dam_square, compare, hydrostatic, drop, swing, energy, momentum or "
                 "layers\n");
    return 2;
}
