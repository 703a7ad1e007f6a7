// Densities and forces of any fluid: several phases, supports of their own, interface tension, every kernel. Onderik &
// Durikovic 2008, 3.2. Two loops, since forces need all pressures (Algorithm 1 of the paper uses P_j and V_j before
// they exist). With the paper's kernels the forces are those of eq. 8; otherwise the pressure force is the gradient of
// the energy of compression, -(P_i V_i^2 + P_j V_j^2) grad W, which conserves energy (eq. 8a gives half of the pressure
// gradient: its k must be read so). Where all particles have the same volume and support, densities count neighbours,
// rho_i = m_i sum W (Solenthaler & Pajarola 2008), so that a light phase next to a heavy one keeps its density;
// otherwise they are eq. 7. Likewise interface tension: a force between particles (cohesion.hpp), otherwise eq. 9.
#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/fluid/boundary.hpp"
#include "simulation/fluid/cohesion.hpp"

#include <cmath>

namespace quadrat::simulation {
namespace {

struct Scaled {
    float q, value, slope;  // for the table: q = r / h; W and W'/r are multiples of these
};

Scaled scaled(const World& world, const Fluid& fluid, float r, std::size_t i, std::size_t j) {
    const float h = fluid.p.h.empty() ? static_cast<float>(fluid.support) : 0.5f * (fluid.p.h[i] + fluid.p.h[j]);
    const float inverse = 1 / h;
    const float volume = world.scene.dimension == 2 ? inverse * inverse : inverse * inverse * inverse;
    return {r * inverse, volume, volume * inverse * inverse};
}

float pressure_of(const World& world, const PhaseData& f, float rho) {
    float p;
    if (world.scene.solver == SolverKind::ideal_gas) {
        p = f.stiffness * (rho - f.rest_density);
    } else {
        const float q = rho / f.rest_density;
        float power;
        if (f.gamma == 7) {
            const float cube = q * q * q;
            power = cube * cube * q;
        } else {
            power = std::pow(q, f.gamma);
        }
        p = f.stiffness * (power - 1);
    }
    return f.negative_pressure || p > 0 ? p : 0;
}

}  // namespace

void finish_density(const World& world, Fluid& fluid, const Solids& solids, std::size_t i, float rho) {
    QUADRAT_ASSERT(i < fluid.p.size() && rho > 0);
    const PhaseData& own = fluid.phase_of(i);
    if (near_solids(world, fluid, solids, i)) {
        rho += own.rest_density * share_of(world, fluid, solids, i, fluid.density_wall).inside;
        for (const Sample& b : solids.samples_near(i)) {
            const Scaled k = scaled(world, fluid, norm(world.apart(fluid.p.x[i], b.position)), i, i);
            rho += own.rest_density * b.volume * fluid.density_kernel.value(k.q) * k.value;
        }
    }
    fluid.p.rho[i] = rho;
    if (world.scene.solver != SolverKind::incompressible) fluid.p.p[i] = pressure_of(world, own, rho);
}

namespace {

void density_of(const World& world, Fluid& fluid, const Solids& solids, std::size_t i) {
    Particles& p = fluid.p;
    const PhaseData& own = fluid.phases[p.phase[i]];
    const Scaled self = scaled(world, fluid, 0, i, i);
    float sum = fluid.density_kernel.value(0) * self.value * (fluid.number_density ? 1 : own.mass);
    for (const std::uint32_t j : fluid.near[i]) {
        const Scaled k = scaled(world, fluid, norm(world.apart(p.x[i], p.x[j])), i, j);
        sum += fluid.density_kernel.value(k.q) * k.value * (fluid.number_density ? 1 : fluid.phases[p.phase[j]].mass);
    }
    finish_density(world, fluid, solids, i, fluid.number_density ? own.mass * sum : sum);
}

}  // namespace

void densities(const World& world, Fluid& fluid, const Solids& solids) {
    QUADRAT_ASSERT(fluid.near.size() == fluid.p.size());  // search() was before
    if (fast_path(world, fluid)) return fast_densities(world, fluid, solids);
    base::parallel_for(world.executor, fluid.p.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) density_of(world, fluid, solids, i);
    });
}

double internal_energy(const World& world, const Fluid& fluid, std::size_t i) {
    const PhaseData& f = fluid.phase_of(i);
    const double q = static_cast<double>(fluid.p.rho[i]) / static_cast<double>(f.rest_density);
    if (!f.negative_pressure && q < 1) return 0;
    const double k = f.stiffness, g = f.gamma;
    if (world.scene.solver == SolverKind::ideal_gas) return k * (std::log(q) + 1 / q - 1);
    if (g == 1) return k / static_cast<double>(f.rest_density) * (std::log(q) + 1 / q - 1);
    return k / static_cast<double>(f.rest_density) * (std::pow(q, g - 1) / (g - 1) + 1 / q - g / (g - 1));
}

namespace {

// Of a pair, for artificial viscosity, at rest. Between phases it is the harmonic mean: with the mean a light particle
// beside heavy ones would be stopped by a force of their size, many times over in one step.
float shared_density(const PhaseData& a, const PhaseData& b) {
    return 2 * a.rest_density * b.rest_density / (a.rest_density + b.rest_density);
}

// Pressure and viscosity between fluid particles, and tension; newtons.
Vec3f pair_forces(const World& world, const Fluid& fluid, std::size_t i, bool pressure, const Cohesion& cohesion) {
    const Particles& p = fluid.p;
    const PhaseData& own = fluid.phases[p.phase[i]];
    const bool paper = world.scene.kernel == KernelKind::paper;
    const float vi = own.mass / p.rho[i];
    const float term_i = p.p[i] * vi * vi;
    const float dims = static_cast<float>(2 * (world.scene.dimension + 2));
    Vec3f force = {};
    Vec3f normal = {};  // of the colour field of the particle's own phase
    const bool coloured = own.tension > 0 && !fluid.number_density;
    float curvature = coloured ? vi * fluid.colour_kernel.laplacian(0) * scaled(world, fluid, 0, i, i).slope : 0;
    for (const std::uint32_t j : fluid.near[i]) {
        const PhaseData& other = fluid.phases[p.phase[j]];
        const Vec3f d = world.apart(p.x[i], p.x[j]);
        const float r = norm(d);
        const Scaled k = scaled(world, fluid, r, i, j);
        const float vj = other.mass / p.rho[j];
        const Vec3f dv = {{p.v[i][0] - p.v[j][0], p.v[i][1] - p.v[j][1], p.v[i][2] - p.v[j][2]}};
        const float slope = fluid.force_kernel.slope(k.q) * k.slope;
        float along = 0;  // times d
        if (pressure) {
            if (paper)
                along -= vi * vj * 0.5f * (p.p[i] + p.p[j]) * slope;
            else if (fluid.number_density)
                along -= (term_i + p.p[j] * vj * vj) * slope;
            else
                along -=
                    own.mass * other.mass * (p.p[i] / (p.rho[i] * p.rho[i]) + p.p[j] / (p.rho[j] * p.rho[j])) * slope;
        }
        const float viscosity = fluid.implicit_viscosity ? 0 : 0.5f * (own.viscosity + other.viscosity);
        if (paper) {
            const float w = vi * vj * viscosity * fluid.viscosity_kernel.laplacian(k.q) * k.slope;
            for (int a = 0; a < 3; ++a) force[a] -= w * dv[a];
        }
        const float approach = dv[0] * d[0] + dv[1] * d[1] + dv[2] * d[2];
        const float half = 0.25f * (own.support + other.support);
        const float soft = r * r + 0.01f * half * half;
        float friction = paper ? 0 : viscosity * dims * approach;
        if (approach < 0)
            friction += 0.5f * (own.artificial * own.sound_speed + other.artificial * other.sound_speed) * half *
                        shared_density(own, other) * approach;
        along += vi * vj * friction / soft * slope;
        if (own.tension > 0 && fluid.number_density && p.phase[j] == p.phase[i]) along += own.tension * cohesion(k.q);
        for (int a = 0; a < 3; ++a) force[a] += along * d[a];
        if (coloured && p.phase[j] == p.phase[i]) {
            const float w = vj * fluid.colour_kernel.slope(k.q) * k.slope;
            for (int a = 0; a < 3; ++a) normal[a] += w * d[a];
            curvature += vj * fluid.colour_kernel.laplacian(k.q) * k.slope;
        }
    }
    // Below the threshold the particle is inside its phase and the normal is noise (eq. 9, Mueller et al. 2003).
    const float steep = norm(normal);
    if (coloured && steep * fluid.support_of(i) > 0.2f)
        for (int a = 0; a < 3; ++a) force[a] -= vi * own.tension * curvature * normal[a] / steep;
    return force;
}

// How much of its weight a particle shares with what is behind a surface: its mass where it is under pressure, 0 in
// spray. Only with the paper's kernels: otherwise pressures balance the weight by themselves, and a force that is no
// gradient would stir the water along the walls.
float hydrostatic(const World& world, const Fluid& fluid, std::size_t i) {
    const PhaseData& own = fluid.phase_of(i);
    const Vec3d& g = world.scene.gravity;
    const float full = 0.25f * fluid.support_of(i) * own.rest_density *
                       static_cast<float>(std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
    if (!(fluid.p.p[i] > 0) || full == 0) return 0;
    return own.mass * std::min(1.0f, fluid.p.p[i] / full);
}

}  // namespace

Vec3f boundary_forces(const World& world, const Fluid& fluid, const Solids& solids, std::size_t i, bool pressure,
                      std::vector<Wrench>& on_bodies, float weighed) {
    const auto react = [&](const auto& on, const Vec3f& force, const auto&... where) {
        solids.react(on, where..., {{weighed * force[0], weighed * force[1], weighed * force[2]}}, on_bodies);
    };
    const Particles& p = fluid.p;
    const PhaseData& own = fluid.phases[p.phase[i]];
    const bool paper = world.scene.kernel == KernelKind::paper;
    const float vi = own.mass / p.rho[i];
    const float push = !pressure ? 0 : paper ? vi * p.p[i] : p.p[i] * vi * vi / own.volume;
    Vec3f force = {};
    const float weight = paper && world.scene.solver != SolverKind::incompressible ? hydrostatic(world, fluid, i) : 0;
    if (push > 0 || weight > 0) {
        const Share share = share_of(world, fluid, solids, i, fluid.force_wall);
        for (int a = 0; a < 3; ++a)
            force[a] -= push * share.gradient[a] +
                        weight * (static_cast<float>(world.scene.gravity[a]) * share.inside - share.across[a]);
        for (const FieldHit& f : solids.fields_near(i)) {
            Share alone;
            add_share(alone, fluid.force_wall, f, fluid.support_of(i), world.scene.gravity);
            const float rest = alone.inside < 1 ? (1 - share.inside) / (1 - alone.inside) : 0;
            Vec3f part;
            for (int a = 0; a < 3; ++a)
                part[a] = -(push * alone.gradient[a] +
                            weight * (static_cast<float>(world.scene.gravity[a]) * alone.inside - alone.across[a])) *
                          rest;
            react(f, part, p.x[i]);
        }
    }
    const float dims = static_cast<float>(2 * (world.scene.dimension + 2));
    const float half = 0.5f * own.support;
    for (const Sample& b : solids.samples_near(i)) {
        const Vec3f d = world.apart(p.x[i], b.position);
        const float r = norm(d);
        const Scaled k = scaled(world, fluid, r, i, i);
        const float slope = fluid.force_kernel.slope(k.q) * k.slope;
        const float approach = (p.v[i][0] - b.velocity[0]) * d[0] + (p.v[i][1] - b.velocity[1]) * d[1] +
                               (p.v[i][2] - b.velocity[2]) * d[2];
        float friction = fluid.implicit_viscosity ? 0 : own.viscosity * dims * approach;
        if (approach < 0) friction += own.artificial * own.sound_speed * half * p.rho[i] * approach;
        const float below = -static_cast<float>(world.scene.gravity[0]) * d[0] -
                            static_cast<float>(world.scene.gravity[1]) * d[1] -
                            static_cast<float>(world.scene.gravity[2]) * d[2];
        const float along = (-push - weight * below + vi * friction / (r * r + 0.01f * half * half)) * b.volume * slope;
        Vec3f f;
        for (int a = 0; a < 3; ++a) f[a] = along * d[a], force[a] += f[a];
        react(b, f);
    }
    return force;
}

void forces(const World& world, Fluid& fluid, Solids& solids, bool pressure, const std::uint8_t* active) {
    QUADRAT_ASSERT(fluid.near.size() == fluid.p.size());  // search() was before
    const std::size_t chunks = base::chunk_count(fluid.p.size(), grain);
    std::vector<std::vector<Wrench>> reaction(chunks, std::vector<Wrench>(solids.dynamic_count()));
    if (fast_path(world, fluid) && !active) {
        fast_forces(world, fluid, solids, pressure, reaction);
    } else {
        const Cohesion cohesion(fluid.phases[0].volume, fluid.support, world.scene.dimension);
        base::run_tasks(world.executor, chunks, [&](std::size_t c) {
            for (std::size_t i = c * grain; i < std::min(fluid.p.size(), (c + 1) * grain); ++i) {
                if (active && !active[i]) continue;
                const float inverse = 1 / fluid.phase_of(i).mass;
                Vec3f f = pair_forces(world, fluid, i, pressure, cohesion);
                if (near_solids(world, fluid, solids, i)) {
                    const Vec3f b = boundary_forces(world, fluid, solids, i, pressure, reaction[c]);
                    for (int a = 0; a < 3; ++a) f[a] += b[a];
                }
                for (int a = 0; a < 3; ++a)
                    fluid.p.a[i][a] = static_cast<float>(world.scene.gravity[a]) + inverse * f[a];
            }
        });
    }
    if (world.scene.attraction > 0) {
        const auto pull = static_cast<float>(world.scene.attraction * world.scene.attraction);
        base::parallel_for(world.executor, fluid.p.size(), grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                if (!active || active[i])
                    for (int a = 0; a < 3; ++a) fluid.p.a[i][a] -= pull * fluid.p.x[i][a];
        });
    }
    if (!active)
        for (const std::vector<Wrench>& r : reaction) solids.add_forces(r);
}

}  // namespace quadrat::simulation
