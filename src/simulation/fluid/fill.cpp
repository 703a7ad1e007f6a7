// From a scene to particles at time 0. The preset: where the scene names no sound speed, it is ten times the largest
// speed to be expected, which keeps density within about 1 % (Monaghan 1994), and the stiffness follows from it.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "simulation/fluid/fluid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace quadrat::simulation {
namespace {

void derive_phases(const World& world, Fluid& fluid) {
    const Scene& c = world.scene;
    const double volume = std::pow(world.scene.spacing, world.scene.dimension);
    double longest = 0, first_volume = 0;
    for (const Phase& p : c.phases) {
        PhaseData d = {};
        const double mass = p.particle_mass > 0 ? p.particle_mass : p.rest_density * volume;
        double speed = p.sound_speed > 0 ? p.sound_speed : 10 * world.expected_speed;
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
        const double support = p.support > 0 ? p.support : fluid.support;
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
        fluid.phases.push_back(d);
        fluid.sound_speed = std::max(fluid.sound_speed, speed);
        longest = std::max(longest, support);
        fluid.tension = fluid.tension || p.tension > 0;
        if (first_volume == 0) first_volume = mass / p.rest_density;
        fluid.number_density =
            fluid.number_density && std::abs(mass / p.rest_density - first_volume) < 1e-6 * first_volume;
        fluid.same_support = fluid.same_support && support == fluid.support;
    }
    for (std::size_t i = 0; i < c.particles.size(); ++i)
        for (const double h : c.particles[i].supports) {
            longest = std::max(longest, h);
            fluid.same_support = fluid.same_support && h == fluid.support;
        }
    if (!fluid.same_support || c.kernel == KernelKind::paper) fluid.number_density = false;
    for (const Phase& p : c.phases)
        fluid.implicit_viscosity =
            fluid.implicit_viscosity || (p.viscosity > 0 && fluid.same_support && c.kernel != KernelKind::paper &&
                                         c.stepping.kind != StepKind::per_particle);
    fluid.largest_support = static_cast<float>(longest);
    if (!fluid.number_density && c.solver == SolverKind::incompressible)
        throw Error(ErrorKind::unsupported,
                    "the incompressible solver needs one support and one particle volume for all, and not the paper's "
                    "kernels",
                    {.field = c.kernel == KernelKind::paper ? "/kernel" : "/phases"});
}

// With a few dozen neighbours the sum over a lattice at rest is not quite the integral: what to multiply W by so that
// it has the rest density and the fluid starts without pressure.
double calibrate(const Kernel& kernel, int dimension, const Fluid& fluid) {
    const double edge = std::pow(double{fluid.phases[0].volume}, 1.0 / dimension);
    const int reach = static_cast<int>(fluid.support / edge) + 1;
    double sum = 0;
    for (int z = dimension == 3 ? -reach : 0; z <= (dimension == 3 ? reach : 0); ++z)
        for (int y = -reach; y <= reach; ++y)
            for (int x = -reach; x <= reach; ++x) sum += kernel.value(edge * std::sqrt(x * x + y * y + z * z));
    return 1 / (sum * double{fluid.phases[0].volume});
}

// The lattice of a block: how many points along each axis, and where they are.
struct Lattice {
    const FluidBlock& block;
    std::array<std::uint64_t, 3> count = {1, 1, 1};

    Lattice(const World& world, const Fluid& fluid, const FluidBlock& b, const std::string& path) : block(b) {
        double all = 1;
        for (std::size_t k = 0; k < static_cast<std::size_t>(world.scene.dimension); ++k) {
            const int axis = static_cast<int>(k);
            double n = b.count[k];
            if (n == 0)  // never denser than at rest, or the block would burst
                n = std::max(1.0, std::floor((b.box.hi[axis] - b.box.lo[axis]) / world.scene.spacing + 1e-3));
            all *= n;
            if (all + static_cast<double>(fluid.p.size()) > 4e9)  // ids are 32 bits
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

void place_block(const World& world, Fluid& fluid, std::size_t number, base::SplitMix& random) {
    const FluidBlock& b = world.scene.blocks[number];
    const int dimension = world.scene.dimension;
    const std::string path = "/blocks/" + std::to_string(number);
    const Lattice lattice(world, fluid, b, path);
    const auto& n = lattice.count;
    for (const std::uint64_t z : {std::uint64_t{0}, n[2] - 1})  // the domain is convex: corners are enough
        for (const std::uint64_t y : {std::uint64_t{0}, n[1] - 1})
            for (const std::uint64_t x : {std::uint64_t{0}, n[0] - 1})
                check_place(world, lattice.point({x, y, z}, dimension), path);
    fluid.p.each([&](auto& array) { array.reserve(array.size() + lattice.size()); });
    for (std::uint64_t z = 0; z < n[2]; ++z)
        for (std::uint64_t y = 0; y < n[1]; ++y)
            for (std::uint64_t x = 0; x < n[0]; ++x) {
                Vec3d p = lattice.point({x, y, z}, dimension);
                if (world.scene.jitter > 0)
                    for (int k = 0; k < dimension; ++k)
                        p[k] += world.scene.jitter * world.scene.spacing * random.uniform(-0.5, 0.5);
                add_particle(fluid, p, b.velocity, b.phase, fluid.phases[b.phase].support);
            }
}

// The path of particle `number` among those that the scene lists.
std::string listed(const Scene& s, std::size_t number) {
    std::size_t list = 0;
    for (; number >= s.particles[list].positions.size(); ++list) number -= s.particles[list].positions.size();
    return "/particles/" + std::to_string(list) + "/positions/" + std::to_string(number);
}

}  // namespace

KernelFunction density_function(KernelKind kind) {
    switch (kind) {
        case KernelKind::wendland_c2:
            return KernelFunction::wendland_c2;
        case KernelKind::cubic_spline:
            return KernelFunction::cubic_spline;
        case KernelKind::paper:
            break;
    }
    return KernelFunction::poly6;
}

void derive(const World& world, Fluid& fluid) {
    const Scene& c = world.scene;
    QUADRAT_ASSERT(fluid.phases.empty() && world.expected_speed > 0);
    fluid.support = common_support(c);
    derive_phases(world, fluid);
    const float reach = std::max(fluid.largest_support, static_cast<float>(c.spacing));
    for (int k = 0; k < 3; ++k) {
        const bool loose = k >= c.dimension || c.domain.periodic[static_cast<std::size_t>(k)];
        fluid.inner.lo[k] = loose ? -3e38f : static_cast<float>(c.domain.box.lo[k]) + reach;
        fluid.inner.hi[k] = loose ? 3e38f : static_cast<float>(c.domain.box.hi[k]) - reach;
    }
    const KernelFunction density = density_function(c.kernel);
    const KernelFunction force = c.kernel == KernelKind::paper ? KernelFunction::spiky : density;
    if (fluid.number_density)
        fluid.calibration = calibrate(Kernel(density, c.dimension, fluid.support), c.dimension, fluid);
    fluid.density_kernel = KernelTable(density, c.dimension, fluid.calibration);
    fluid.force_kernel = KernelTable(force, c.dimension, fluid.calibration);
    fluid.viscosity_kernel = KernelTable(KernelFunction::viscosity, c.dimension, 1);
    fluid.colour_kernel = KernelTable(KernelFunction::poly6, c.dimension, 1);
    const double edge = std::pow(double{fluid.phases[0].volume}, 1.0 / c.dimension) / fluid.support;
    find_friction_rates(world, fluid);
    fluid.density_wall = WallTable(density, c.dimension, edge, fluid.calibration);
    fluid.force_wall = WallTable(force, c.dimension, edge, fluid.calibration);
}

void add_particle(Fluid& fluid, const Vec3d& x, const Vec3d& v, std::uint32_t phase, double support) {
    QUADRAT_ASSERT(phase < fluid.phases.size() && support > 0);
    Particles& p = fluid.p;
    p.x.push_back({{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])}});
    p.v.push_back({{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}});
    p.a.push_back({});
    p.rho.push_back(fluid.phases[phase].rest_density);
    p.p.push_back(0);
    if (!fluid.same_support) p.h.push_back(static_cast<float>(support));
    p.phase.push_back(static_cast<std::uint8_t>(phase));
    p.id.push_back(fluid.next_id++);
    p.kappa.push_back(0);
    p.kappa_v.push_back(0);
    p.level.push_back(0);
    p.dt.push_back(0);
    p.drag.push_back({});
}

std::vector<std::size_t> place_particles(const World& world, Fluid& fluid) {
    const Scene& c = world.scene;
    base::SplitMix random(c.seed);
    std::vector<std::size_t> block_ends;
    for (std::size_t i = 0; i < c.blocks.size(); ++i) {
        place_block(world, fluid, i, random);
        block_ends.push_back(fluid.p.size());
    }
    for (std::size_t i = 0; i < c.particles.size(); ++i) {
        const FluidParticles& f = c.particles[i];
        for (std::size_t k = 0; k < f.positions.size(); ++k) {
            check_place(world, f.positions[k], "/particles/" + std::to_string(i) + "/positions/" + std::to_string(k));
            add_particle(fluid, f.positions[k], f.velocities.empty() ? Vec3d{} : f.velocities[k], f.phase,
                         f.supports.empty() ? static_cast<double>(fluid.phases[f.phase].support) : f.supports[k]);
        }
    }
    return block_ends;
}

void remove_inside_bodies(const World& world, Fluid& fluid, const Solids& solids,
                          std::vector<std::size_t>& block_ends) {
    if (solids.empty()) return;
    QUADRAT_ASSERT(std::is_sorted(block_ends.begin(), block_ends.end()));
    const std::vector<std::size_t> ends = block_ends;
    const std::size_t from_blocks = block_ends.empty() ? 0 : block_ends.back();
    std::size_t kept = 0, block = 0;
    std::vector<bool> left(block_ends.size());
    const std::size_t n = fluid.p.size();
    const std::vector<Image> images = solids.images(world.scene.spacing);
    for (std::size_t i = 0; i < n; ++i) {
        double distance = world.scene.spacing;
        for (const Image& m : images)
            distance = std::min(distance, solids.distance(m, vector(fluid.p.x[i]), world.scene.spacing));
        if (distance < (i < from_blocks ? 0.5 * world.scene.spacing : 0)) {
            if (i < from_blocks) continue;
            throw Error(ErrorKind::bad_value, "a particle starts inside a body",
                        {.field = listed(world.scene, i - from_blocks)});
        }
        if (i < from_blocks) {
            while (i >= ends[block]) block_ends[block++] = kept;
            left[block] = true;
        }
        fluid.p.each([&](auto& array) { array[kept] = array[i]; });
        ++kept;
    }
    for (std::size_t b = 0; b < left.size(); ++b)
        if (!left[b])
            throw Error(ErrorKind::bad_value, "expected some fluid, found none: all of it is inside a body",
                        {.field = "/blocks/" + std::to_string(b)});
    for (; block < ends.size(); ++block) block_ends[block] = kept - (n - from_blocks);
    fluid.p.resize(kept);
    for (std::size_t i = 0; i < kept; ++i) fluid.p.id[i] = static_cast<std::uint32_t>(i);
    fluid.next_id = static_cast<std::uint32_t>(kept);
}

void refuse_coincident(const World& world, const Fluid& fluid, const std::vector<std::size_t>& block_ends) {
    QUADRAT_ASSERT(fluid.near.size() == fluid.p.size());  // search() was before
    const auto least = static_cast<float>(1e-3 * world.scene.spacing);
    for (std::size_t i = 0; i < fluid.p.size(); ++i)
        for (const std::uint32_t j : fluid.near[i]) {
            const Vec3f d = world.apart(fluid.p.x[i], fluid.p.x[j]);
            if (j > i || d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > least * least) continue;
            const auto block = std::upper_bound(block_ends.begin(), block_ends.end(), i);
            const bool in_list = block == block_ends.end();
            throw Error(ErrorKind::bad_value, "expected fluid beside fluid, found two particles in one place",
                        {.field = in_list ? listed(world.scene, i - (block_ends.empty() ? 0 : block_ends.back()))
                                          : "/blocks/" + std::to_string(block - block_ends.begin())});
        }
}

void Particles::resize(std::size_t n) {
    each([n](auto& array) { array.resize(n); });
}

}  // namespace quadrat::simulation
