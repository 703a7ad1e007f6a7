// From a scene to particles at time 0. The preset: where the scene names no sound speed, it is ten times the largest
// speed to be expected, which keeps density within about 1 % (Monaghan 1994); the stiffness follows from it, and the
// step from eq. 12 of Onderik & Durikovic 2008. The expected speed is that of a free fall over the height of what may
// fall, or of what the scene sends in.
#include <quadrat/error.hpp>

#include "simulation/step/state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace quadrat::simulation {
namespace {

double norm(const Vec3d& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// A fixed sequence for a seed (SplitMix64), the same on every machine; uniform in [-0.5, 0.5).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    double operator()() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53 - 0.5;
    }

  private:
    std::uint64_t state_;
};

// How high the highest fluid stands above the lowest place of the domain or of the fluid itself, along gravity.
double fall_height(const Scene& s) {
    const double g = norm(s.gravity);
    if (g == 0) return 0;
    double highest = -1e300, lowest = 1e300;
    const auto take = [&](const Vec3d& p, bool top) {
        const double height = -(p[0] * s.gravity[0] + p[1] * s.gravity[1] + p[2] * s.gravity[2]) / g;
        if (top) highest = std::max(highest, height);
        lowest = std::min(lowest, height);
    };
    for (const FluidBlock& b : s.blocks) take(b.box.lo, true), take(b.box.hi, true);
    for (const FluidParticles& f : s.particles)
        for (const Vec3d& p : f.positions) take(p, true);
    for (const Emitter& e : s.emitters) take(e.position, true);
    if (highest < lowest) return 0;
    Vec3d bottom = s.domain.box.lo;  // the corner that lies deepest, where a wall holds the fluid
    bool walled = true;
    for (std::size_t k = 0; k < 3; ++k) {
        const double down = s.gravity[static_cast<int>(k)];
        if (down > 0) bottom[static_cast<int>(k)] = s.domain.box.hi[static_cast<int>(k)];
        if (down != 0 && (s.domain.periodic[k] || s.domain.open[2 * k + (down > 0)])) walled = false;
    }
    if (walled) take(bottom, false);
    return highest - lowest;
}

double given_speed(const Scene& s) {
    double speed = 0;
    for (const FluidBlock& b : s.blocks) speed = std::max(speed, norm(b.velocity));
    for (const FluidParticles& f : s.particles)
        for (const Vec3d& v : f.velocities) speed = std::max(speed, norm(v));
    for (const Emitter& e : s.emitters) speed = std::max(speed, e.speed);
    for (const RigidBody& b : s.bodies)
        if (b.motion != BodyMotion::fixed)
            speed = std::max(speed, norm(b.velocity) + turning_arm(b, s.dimension) * norm(b.angular_velocity));
    return speed;
}

// Radians per step of a body that turns whatever it meets, beside bodies that it may meet.
constexpr double longest_turn = 0.1;

void add_walls(State& s) {
    const Domain& d = s.scene.domain;
    const auto add = [&](const Vec3d& n, double offset, const SurfaceResponse& r) {
        const double length = norm(n);
        s.walls.push_back(
            {{static_cast<float>(n[0] / length), static_cast<float>(n[1] / length), static_cast<float>(n[2] / length)},
             static_cast<float>(offset),
             static_cast<float>(r.restitution),
             static_cast<float>(r.friction)});
    };
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.dimension); ++k) {
        const int axis = static_cast<int>(k);
        if (d.periodic[k]) {
            s.period[k] = static_cast<float>(d.box.hi[axis] - d.box.lo[axis]);
            continue;
        }
        Vec3d n = {};
        n[axis] = 1;
        if (!d.open[2 * k]) add(n, d.box.lo[axis], d.response);
        n[axis] = -1;
        if (!d.open[2 * k + 1]) add(n, -d.box.hi[axis], d.response);
    }
    for (const WallPlane& w : d.planes) add(w.normal, w.offset, w.response);
}

void derive_phases(State& s) {
    const Scene& c = s.scene;
    const double volume = std::pow(s.spacing, s.dimension);
    double longest = 0, first_volume = 0;
    s.sound_speed = 0;
    for (const Phase& p : c.phases) {
        PhaseData d = {};
        const double mass = p.particle_mass > 0 ? p.particle_mass : p.rest_density * volume;
        double speed = p.sound_speed > 0 ? p.sound_speed : 10 * s.expected_speed;
        double stiffness = p.stiffness;
        if (c.solver == SolverKind::ideal_gas) {  // c^2 = k
            if (stiffness > 0)
                speed = std::sqrt(stiffness);
            else
                stiffness = speed * speed;
        } else {  // c^2 = gamma k / rho0
            if (stiffness > 0)
                speed = std::sqrt(p.gamma * stiffness / p.rest_density);
            else
                stiffness = speed * speed * p.rest_density / p.gamma;
        }
        const double support = p.support > 0 ? p.support : s.support;
        d.mass = static_cast<float>(mass);
        d.rest_density = static_cast<float>(p.rest_density);
        d.volume = static_cast<float>(mass / p.rest_density);
        d.stiffness = static_cast<float>(stiffness);
        d.gamma = static_cast<float>(p.gamma);
        d.sound_speed = static_cast<float>(speed);
        d.viscosity = static_cast<float>(p.viscosity);
        d.artificial = static_cast<float>(p.artificial_viscosity);
        d.tension = static_cast<float>(p.tension);
        d.support = static_cast<float>(support);
        d.negative_pressure = p.negative_pressure;
        s.phases.push_back(d);
        s.sound_speed = std::max(s.sound_speed, speed);
        longest = std::max(longest, support);
        s.tension = s.tension || p.tension > 0;
        if (first_volume == 0) first_volume = mass / p.rest_density;
        s.number_density = s.number_density && std::abs(mass / p.rest_density - first_volume) < 1e-6 * first_volume;
        s.same_support = s.same_support && support == s.support;
    }
    for (std::size_t i = 0; i < c.particles.size(); ++i)
        for (const double h : c.particles[i].supports) {
            longest = std::max(longest, h);
            s.same_support = s.same_support && h == s.support;
        }
    if (!s.same_support || c.kernel == KernelKind::paper) s.number_density = false;
    s.largest_support = static_cast<float>(longest);
    if (!s.number_density && c.solver == SolverKind::incompressible)
        throw Error(ErrorKind::unsupported,
                    "the incompressible solver needs one support and one particle volume for all, and not the paper's "
                    "kernels",
                    {.field = c.kernel == KernelKind::paper ? "/kernel" : "/phases"});
}

// With a few dozen neighbours the sum over a lattice at rest is not quite the integral: what to multiply W by so that
// it has the rest density and the fluid starts without pressure.
double calibrate(const Kernel& kernel, const State& s) {
    const double edge = std::pow(double{s.phases[0].volume}, 1.0 / s.dimension);
    const int reach = static_cast<int>(s.support / edge) + 1;
    double sum = 0;
    for (int z = s.dimension == 3 ? -reach : 0; z <= (s.dimension == 3 ? reach : 0); ++z)
        for (int y = -reach; y <= reach; ++y)
            for (int x = -reach; x <= reach; ++x) sum += kernel.value(edge * std::sqrt(x * x + y * y + z * z));
    return 1 / (sum * double{s.phases[0].volume});
}

KernelFunction density_function(const Scene& c) {
    switch (c.kernel) {
        case KernelKind::wendland_c2:
            return KernelFunction::wendland_c2;
        case KernelKind::cubic_spline:
            return KernelFunction::cubic_spline;
        case KernelKind::paper:
            break;
    }
    return KernelFunction::poly6;
}

// The lattice of a block: how many points along each axis, and where they are.
struct Lattice {
    const FluidBlock& block;
    std::array<std::uint64_t, 3> count = {1, 1, 1};

    Lattice(const State& s, const FluidBlock& b, const std::string& path) : block(b) {
        double all = 1;
        for (std::size_t k = 0; k < static_cast<std::size_t>(s.dimension); ++k) {
            const int axis = static_cast<int>(k);
            double n = b.count[k];
            if (n == 0)  // never denser than at rest, or the block would burst
                n = std::max(1.0, std::floor((b.box.hi[axis] - b.box.lo[axis]) / s.spacing + 1e-3));
            all *= n;
            if (all + static_cast<double>(s.p.size()) > 4e9)  // ids are 32 bits
                throw Error(ErrorKind::too_large, "expected at most 4e9 particles", {.field = path});
            count[k] = static_cast<std::uint64_t>(n);
        }
    }
    [[nodiscard]] std::size_t size() const { return count[0] * count[1] * count[2]; }
    [[nodiscard]] Vec3d point(const std::array<std::uint64_t, 3>& at, int dimension) const {
        Vec3d p = {};
        for (int k = 0; k < dimension; ++k) {
            const auto axis = static_cast<std::size_t>(k);
            const double share = (static_cast<double>(at[axis]) + 0.5) / static_cast<double>(count[axis]);
            p[k] = block.box.lo[k] + share * (block.box.hi[k] - block.box.lo[k]);
        }
        return p;
    }
};

// The path of particle `number` among those that the scene lists.
std::string listed(const Scene& s, std::size_t number) {
    std::size_t list = 0;
    for (; number >= s.particles[list].positions.size(); ++list) number -= s.particles[list].positions.size();
    return "/particles/" + std::to_string(list) + "/positions/" + std::to_string(number);
}

// Lattice points nearer than half a spacing to a body are not part of a block; a single particle inside one, and a
// block of which nothing is left, is an error. `block_ends`: where the particles of each block end.
void remove_inside_bodies(State& s, std::vector<std::size_t>& block_ends) {
    if (s.solids.empty()) return;
    const std::vector<std::size_t> ends = block_ends;
    const std::size_t from_blocks = block_ends.empty() ? 0 : block_ends.back();
    std::size_t kept = 0, block = 0;
    std::vector<bool> left(block_ends.size());
    const std::size_t n = s.p.size();
    const std::vector<Image> images = s.solids.images(s.spacing);
    for (std::size_t i = 0; i < n; ++i) {
        double distance = s.spacing;
        for (const Image& m : images) distance = std::min(distance, s.solids.distance(m, vector(s.p.x[i]), s.spacing));
        if (distance < (i < from_blocks ? 0.5 * s.spacing : 0)) {
            if (i < from_blocks) continue;
            throw Error(ErrorKind::bad_value, "a particle starts inside a body",
                        {.field = listed(s.scene, i - from_blocks)});
        }
        if (i < from_blocks) {
            while (i >= ends[block]) block_ends[block++] = kept;
            left[block] = true;
        }
        s.p.each([&](auto& array) { array[kept] = array[i]; });
        ++kept;
    }
    for (std::size_t b = 0; b < left.size(); ++b)
        if (!left[b])
            throw Error(ErrorKind::bad_value, "expected some fluid, found none: all of it is inside a body",
                        {.field = "/blocks/" + std::to_string(b)});
    for (; block < ends.size(); ++block) block_ends[block] = kept - (n - from_blocks);
    s.p.resize(kept);
    for (std::size_t i = 0; i < kept; ++i) s.p.id[i] = static_cast<std::uint32_t>(i);
    s.next_id = static_cast<std::uint32_t>(kept);
}

// Particles in one place have no direction in which to push each other apart.
void refuse_coincident(State& s, const std::vector<std::size_t>& block_ends) {
    const auto least = static_cast<float>(1e-3 * s.spacing);
    for (std::size_t i = 0; i < s.p.size(); ++i)
        for (const std::uint32_t j : s.near[i]) {
            const Vec3f d = s.apart(s.p.x[i], s.p.x[j]);
            if (j > i || d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > least * least) continue;
            const auto block = std::upper_bound(block_ends.begin(), block_ends.end(), i);
            const bool in_list = block == block_ends.end();
            throw Error(ErrorKind::bad_value, "expected fluid beside fluid, found two particles in one place",
                        {.field = in_list ? listed(s.scene, i - (block_ends.empty() ? 0 : block_ends.back()))
                                          : "/blocks/" + std::to_string(block - block_ends.begin())});
        }
}

}  // namespace

void Particles::resize(std::size_t n) {
    each([n](auto& array) { array.resize(n); });
}

void derive_constants(State& s) {
    const Scene& c = s.scene;
    s.dimension = c.dimension;
    s.spacing = c.spacing;
    s.support = c.support > 0 ? c.support : default_support(c);
    s.expected_speed = c.expected_speed;
    if (s.expected_speed == 0) s.expected_speed = std::sqrt(2 * norm(c.gravity) * fall_height(c)) + given_speed(c);
    if (s.expected_speed == 0) s.expected_speed = 1;
    // Tension presses a phase together with some 8 sigma / h (measured).
    if (c.expected_speed == 0)
        for (const Phase& p : c.phases)
            s.expected_speed = std::max(s.expected_speed, std::sqrt(16 * p.tension / (p.rest_density * s.support)));
    s.courant = c.stepping.courant > 0 ? c.stepping.courant : c.solver == SolverKind::incompressible ? 0.7 : 0.25;
    s.largest_step = c.stepping.largest > 0 ? c.stepping.largest : c.frame_interval;
    s.number_density = s.same_support = true;
    s.tension = false;
    derive_phases(s);
    check_steps(s);
    add_walls(s);
    const float reach = std::max(s.largest_support, static_cast<float>(s.spacing));
    for (int k = 0; k < 3; ++k) {
        const bool loose = k >= s.dimension || c.domain.periodic[static_cast<std::size_t>(k)];
        s.inner.lo[k] = loose ? -3e38f : static_cast<float>(c.domain.box.lo[k]) + reach;
        s.inner.hi[k] = loose ? 3e38f : static_cast<float>(c.domain.box.hi[k]) - reach;
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (s.period[k] > 0 && s.period[k] < 2 * s.largest_support)
            throw Error(ErrorKind::bad_value, "a periodic axis must be longer than twice the support",
                        {.field = "/domain"});
    const KernelFunction density = density_function(c);
    const KernelFunction force = c.kernel == KernelKind::paper ? KernelFunction::spiky : density;
    s.calibration = s.number_density ? calibrate(Kernel(density, s.dimension, s.support), s) : 1;
    s.density_kernel = KernelTable(density, s.dimension, s.calibration);
    s.force_kernel = KernelTable(force, s.dimension, s.calibration);
    s.viscosity_kernel = KernelTable(KernelFunction::viscosity, s.dimension, 1);
    s.colour_kernel = KernelTable(KernelFunction::poly6, s.dimension, 1);
    const double edge = std::pow(double{s.phases[0].volume}, 1.0 / s.dimension) / s.support;
    s.density_wall = WallTable(density, s.dimension, edge, s.calibration);
    s.force_wall = WallTable(force, s.dimension, edge, s.calibration);
}

void add_particle(State& s, const Vec3d& x, const Vec3d& v, std::uint32_t phase, double support) {
    Particles& p = s.p;
    p.x.push_back({{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])}});
    p.v.push_back({{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}});
    p.a.push_back({});
    p.rho.push_back(s.phases[phase].rest_density);
    p.p.push_back(0);
    if (!s.same_support) p.h.push_back(static_cast<float>(support));
    p.phase.push_back(static_cast<std::uint8_t>(phase));
    p.id.push_back(s.next_id++);
    p.kappa.push_back(0);
    p.kappa_v.push_back(0);
    p.level.push_back(0);
    p.dt.push_back(0);
}

void set_up(State& s) {
    const Scene& c = s.scene;
    derive_constants(s);
    s.solids.set_up(c, Kernel(density_function(c), s.dimension, s.support), s.reach(), s.calibration, s.executor);
    Random random(c.seed);
    std::vector<std::size_t> block_ends;
    for (std::size_t i = 0; i < c.blocks.size(); ++i) {
        const FluidBlock& b = c.blocks[i];
        const std::string path = "/blocks/" + std::to_string(i);
        const Lattice lattice(s, b, path);
        const auto& n = lattice.count;
        for (const std::uint64_t z : {std::uint64_t{0}, n[2] - 1})  // the domain is convex: corners are enough
            for (const std::uint64_t y : {std::uint64_t{0}, n[1] - 1})
                for (const std::uint64_t x : {std::uint64_t{0}, n[0] - 1})
                    check_place(s, lattice.point({x, y, z}, s.dimension), path);
        s.p.each([&](auto& array) { array.reserve(array.size() + lattice.size()); });
        for (std::uint64_t z = 0; z < n[2]; ++z)
            for (std::uint64_t y = 0; y < n[1]; ++y)
                for (std::uint64_t x = 0; x < n[0]; ++x) {
                    Vec3d p = lattice.point({x, y, z}, s.dimension);
                    if (c.jitter > 0)
                        for (int k = 0; k < s.dimension; ++k) p[k] += c.jitter * s.spacing * random();
                    add_particle(s, p, b.velocity, b.phase, s.phases[b.phase].support);
                }
        block_ends.push_back(s.p.size());
    }
    for (std::size_t i = 0; i < c.particles.size(); ++i) {
        const FluidParticles& f = c.particles[i];
        for (std::size_t k = 0; k < f.positions.size(); ++k) {
            check_place(s, f.positions[k], "/particles/" + std::to_string(i) + "/positions/" + std::to_string(k));
            add_particle(s, f.positions[k], f.velocities.empty() ? Vec3d{} : f.velocities[k], f.phase,
                         f.supports.empty() ? static_cast<double>(s.phases[f.phase].support) : f.supports[k]);
        }
    }
    for (std::size_t i = 0; i < c.bodies.size(); ++i)
        if (c.bodies[i].motion == BodyMotion::dynamic) check_body(s, i);
    for (std::size_t i = 0; i < c.cloths.size(); ++i)
        for (std::size_t k = 0; k < c.cloths[i].positions.size(); ++k)
            check_place(s, c.cloths[i].positions[k],
                        "/cloths/" + std::to_string(i) + "/positions/" + std::to_string(k));
    if (s.p.size() == 0 && s.scene.emitters.empty() && s.scene.bodies.empty() && s.scene.cloths.empty())
        throw Error(ErrorKind::bad_value, "expected some fluid, a body or a cloth, found none", {.field = "/blocks"});
    for (std::size_t i = 0; i < c.blocks.size() + c.particles.size(); ++i) {
        const bool block = i < c.blocks.size();
        if (!block && c.particles[i - c.blocks.size()].positions.empty())
            throw Error(ErrorKind::bad_value, "expected at least one particle, found none",
                        {.field = "/particles/" + std::to_string(i - c.blocks.size()) + "/positions"});
    }
    remove_inside_bodies(s, block_ends);
    search(s);
    refuse_coincident(s, block_ends);
    // Between its steps a sheet stands still for the fluid. It must not go far in one, or the fluid runs into it as
    // into a wall: a tenth of a spacing at the expected speed.
    double longest = c.frame_interval;
    if ((s.p.size() > 0 || !c.emitters.empty()) && s.expected_speed > 0) longest = 0.1 * s.spacing / s.expected_speed;
    s.cloths.set_up(c, s.solids, s.spacing, longest, s.executor);
    // Bodies that fall and meet need steps of some milliseconds whatever the fluid allows.
    if (s.solids.dynamic_count() > 0) {
        s.largest_step = std::min(s.largest_step, 1.0 / 240);
        for (const RigidBody& b : c.bodies)
            if (const double spin = norm(b.angular_velocity); b.motion == BodyMotion::moving && spin > 0)
                s.largest_step = std::min(s.largest_step, longest_turn / spin);
    }
    set_up_emitters(s);
}

}  // namespace quadrat::simulation
