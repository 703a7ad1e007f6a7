// Densities and forces of any fluid: several phases, supports of their own, interface tension, every kernel. Onderik &
// Durikovic 2008, 3.2. Two loops, since forces need all pressures (Algorithm 1 of the paper uses P_j and V_j before
// they exist). With the paper's kernels the forces are those of eq. 8; otherwise the pressure force is the gradient of
// the energy of compression, -(P_i V_i^2 + P_j V_j^2) grad W, which conserves energy (eq. 8a gives half of the pressure
// gradient: its k must be read so). Where all particles have the same volume and support, densities count neighbours,
// rho_i = m_i sum W (Solenthaler & Pajarola 2008), so that a light phase next to a heavy one keeps its density;
// otherwise they are eq. 7. Likewise interface tension: a force between particles (cohesion.hpp), otherwise eq. 9.
#include "base/parallel.hpp"
#include "simulation/fluid/boundary.hpp"
#include "simulation/fluid/cohesion.hpp"
#include "simulation/step/state.hpp"

#include <cmath>

namespace quadrat::simulation {
namespace {

struct Scaled {
    float q, value, slope;  // for the table: q = r / h; W and W'/r are multiples of these
};

Scaled scaled(const State& s, float r, std::size_t i, std::size_t j) {
    const float h = s.p.h.empty() ? static_cast<float>(s.support) : 0.5f * (s.p.h[i] + s.p.h[j]);
    const float inverse = 1 / h;
    const float volume = s.dimension == 2 ? inverse * inverse : inverse * inverse * inverse;
    return {r * inverse, volume, volume * inverse * inverse};
}

float length(const Vec3f& d) {
    return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

float pressure_of(const State& s, const PhaseData& f, float rho) {
    float p;
    if (s.scene.solver == SolverKind::ideal_gas) {
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

void finish_density(State& s, std::size_t i, float rho) {
    const PhaseData& own = s.phases[s.p.phase[i]];
    if (near_solids(s, i)) {
        rho += own.rest_density * share_of(s, i, s.density_wall).inside;
        for (const Sample& b : s.solids.samples_near(i)) {
            const Scaled k = scaled(s, length(s.apart(s.p.x[i], b.position)), i, i);
            rho += own.rest_density * b.volume * s.density_kernel.value(k.q) * k.value;
        }
    }
    s.p.rho[i] = rho;
    if (s.scene.solver != SolverKind::incompressible) s.p.p[i] = pressure_of(s, own, rho);
}

namespace {

void density_of(State& s, std::size_t i) {
    Particles& p = s.p;
    const PhaseData& own = s.phases[p.phase[i]];
    const Scaled self = scaled(s, 0, i, i);
    float sum = s.density_kernel.value(0) * self.value * (s.number_density ? 1 : own.mass);
    for (const std::uint32_t j : s.near[i]) {
        const Scaled k = scaled(s, length(s.apart(p.x[i], p.x[j])), i, j);
        sum += s.density_kernel.value(k.q) * k.value * (s.number_density ? 1 : s.phases[p.phase[j]].mass);
    }
    finish_density(s, i, s.number_density ? own.mass * sum : sum);
}

}  // namespace

void densities(State& s) {
    const Timer timer(s.seconds.density);
    if (fast_path(s)) return fast_densities(s);
    base::parallel_for(s.executor, s.p.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) density_of(s, i);
    });
}

double internal_energy(const State& s, std::size_t i) {
    const PhaseData& f = s.phases[s.p.phase[i]];
    const double q = static_cast<double>(s.p.rho[i]) / static_cast<double>(f.rest_density);
    if (!f.negative_pressure && q < 1) return 0;
    const double k = f.stiffness, g = f.gamma;
    if (s.scene.solver == SolverKind::ideal_gas) return k * (std::log(q) + 1 / q - 1);
    if (g == 1) return k / static_cast<double>(f.rest_density) * (std::log(q) + 1 / q - 1);
    return k / static_cast<double>(f.rest_density) * (std::pow(q, g - 1) / (g - 1) + 1 / q - g / (g - 1));
}

namespace {

// Of a pair, for artificial viscosity. Between phases it is the harmonic mean: with the mean a light particle beside
// heavy ones would be stopped by a force of their size, many times over in one step.
float shared_density(float a, float b, bool same_phase) {
    return same_phase ? 0.5f * (a + b) : 2 * a * b / (a + b);
}

// Pressure and viscosity between fluid particles, and tension; newtons.
Vec3f pair_forces(const State& s, std::size_t i, bool pressure, const Cohesion& cohesion) {
    const Particles& p = s.p;
    const PhaseData& own = s.phases[p.phase[i]];
    const bool paper = s.scene.kernel == KernelKind::paper;
    const float vi = own.mass / p.rho[i];
    const float term_i = p.p[i] * vi * vi;
    const float dims = static_cast<float>(2 * (s.dimension + 2));
    Vec3f force = {};
    Vec3f normal = {};  // of the colour field of the particle's own phase
    const bool coloured = own.tension > 0 && !s.number_density;
    float curvature = coloured ? vi * s.colour_kernel.laplacian(0) * scaled(s, 0, i, i).slope : 0;
    for (const std::uint32_t j : s.near[i]) {
        const PhaseData& other = s.phases[p.phase[j]];
        const Vec3f d = s.apart(p.x[i], p.x[j]);
        const float r = length(d);
        const Scaled k = scaled(s, r, i, j);
        const float vj = other.mass / p.rho[j];
        const Vec3f dv = {{p.v[i][0] - p.v[j][0], p.v[i][1] - p.v[j][1], p.v[i][2] - p.v[j][2]}};
        const float slope = s.force_kernel.slope(k.q) * k.slope;
        float along = 0;  // times d
        if (pressure) {
            if (paper)
                along -= vi * vj * 0.5f * (p.p[i] + p.p[j]) * slope;
            else if (s.number_density)
                along -= (term_i + p.p[j] * vj * vj) * slope;
            else
                along -=
                    own.mass * other.mass * (p.p[i] / (p.rho[i] * p.rho[i]) + p.p[j] / (p.rho[j] * p.rho[j])) * slope;
        }
        const float viscosity = 0.5f * (own.viscosity + other.viscosity);
        if (paper) {
            const float w = vi * vj * viscosity * s.viscosity_kernel.laplacian(k.q) * k.slope;
            for (int a = 0; a < 3; ++a) force[a] -= w * dv[a];
        }
        const float approach = dv[0] * d[0] + dv[1] * d[1] + dv[2] * d[2];
        const float half = 0.25f * (own.support + other.support);
        const float soft = r * r + 0.01f * half * half;
        float friction = paper ? 0 : viscosity * dims * approach;
        if (approach < 0)
            friction += 0.5f * (own.artificial + other.artificial) * 0.5f * (own.sound_speed + other.sound_speed) *
                        half * shared_density(p.rho[i], p.rho[j], p.phase[i] == p.phase[j]) * approach;
        along += vi * vj * friction / soft * slope;
        if (own.tension > 0 && s.number_density && p.phase[j] == p.phase[i]) along += own.tension * cohesion(k.q);
        for (int a = 0; a < 3; ++a) force[a] += along * d[a];
        if (coloured && p.phase[j] == p.phase[i]) {
            const float w = vj * s.colour_kernel.slope(k.q) * k.slope;
            for (int a = 0; a < 3; ++a) normal[a] += w * d[a];
            curvature += vj * s.colour_kernel.laplacian(k.q) * k.slope;
        }
    }
    // Below the threshold the particle is inside its phase and the normal is noise (eq. 9, Mueller et al. 2003).
    const float steep = length(normal);
    if (coloured && steep * s.support_of(i) > 0.2f)
        for (int a = 0; a < 3; ++a) force[a] -= vi * own.tension * curvature * normal[a] / steep;
    return force;
}

// How much of its weight a particle shares with what is behind a surface: its mass where it is under pressure, 0 in
// spray. Only with the paper's kernels: otherwise pressures balance the weight by themselves, and a force that is no
// gradient would stir the water along the walls.
float hydrostatic(const State& s, std::size_t i) {
    const PhaseData& own = s.phases[s.p.phase[i]];
    const Vec3d& g = s.scene.gravity;
    const float full = 0.25f * s.support_of(i) * own.rest_density *
                       static_cast<float>(std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
    if (!(s.p.p[i] > 0) || full == 0) return 0;
    return own.mass * std::min(1.0f, s.p.p[i] / full);
}

}  // namespace

Vec3f boundary_forces(const State& s, std::size_t i, bool pressure, std::vector<Wrench>& on_bodies, float weighed) {
    const auto react = [&](const auto& on, const Vec3f& force, const auto&... where) {
        s.solids.react(on, where..., {{weighed * force[0], weighed * force[1], weighed * force[2]}}, on_bodies);
    };
    const Particles& p = s.p;
    const PhaseData& own = s.phases[p.phase[i]];
    const bool paper = s.scene.kernel == KernelKind::paper;
    const float vi = own.mass / p.rho[i];
    const float push = !pressure ? 0 : paper ? vi * p.p[i] : p.p[i] * vi * vi / own.volume;
    Vec3f force = {};
    const float weight = paper && s.scene.solver != SolverKind::incompressible ? hydrostatic(s, i) : 0;
    if (push > 0 || weight > 0) {
        const Share share = share_of(s, i, s.force_wall);
        for (int a = 0; a < 3; ++a)
            force[a] -= push * share.gradient[a] +
                        weight * (static_cast<float>(s.scene.gravity[a]) * share.inside - share.across[a]);
        for (const FieldHit& f : s.solids.fields_near(i)) {
            Share alone;
            add_share(alone, s.force_wall, f, s.support_of(i), s.scene.gravity);
            const float rest = alone.inside < 1 ? (1 - share.inside) / (1 - alone.inside) : 0;
            Vec3f part;
            for (int a = 0; a < 3; ++a)
                part[a] = -(push * alone.gradient[a] +
                            weight * (static_cast<float>(s.scene.gravity[a]) * alone.inside - alone.across[a])) *
                          rest;
            react(f, part, p.x[i]);
        }
    }
    const float dims = static_cast<float>(2 * (s.dimension + 2));
    const float half = 0.5f * own.support;
    for (const Sample& b : s.solids.samples_near(i)) {
        const Vec3f d = s.apart(p.x[i], b.position);
        const float r = length(d);
        const Scaled k = scaled(s, r, i, i);
        const float slope = s.force_kernel.slope(k.q) * k.slope;
        const float approach = (p.v[i][0] - b.velocity[0]) * d[0] + (p.v[i][1] - b.velocity[1]) * d[1] +
                               (p.v[i][2] - b.velocity[2]) * d[2];
        float friction = own.viscosity * dims * approach;
        if (approach < 0) friction += own.artificial * own.sound_speed * half * p.rho[i] * approach;
        const float below = -static_cast<float>(s.scene.gravity[0]) * d[0] -
                            static_cast<float>(s.scene.gravity[1]) * d[1] -
                            static_cast<float>(s.scene.gravity[2]) * d[2];
        const float along = (-push - weight * below + vi * friction / (r * r + 0.01f * half * half)) * b.volume * slope;
        Vec3f f;
        for (int a = 0; a < 3; ++a) f[a] = along * d[a], force[a] += f[a];
        react(b, f);
    }
    return force;
}

void forces(State& s, bool pressure, const std::uint8_t* active) {
    const Timer timer(s.seconds.forces);
    const std::size_t chunks = base::chunk_count(s.p.size(), grain);
    std::vector<std::vector<Wrench>> reaction(chunks, std::vector<Wrench>(s.solids.dynamic_count()));
    if (fast_path(s) && !active) {
        fast_forces(s, pressure, reaction);
    } else {
        const Cohesion cohesion(s);
        base::run_tasks(s.executor, chunks, [&](std::size_t c) {
            for (std::size_t i = c * grain; i < std::min(s.p.size(), (c + 1) * grain); ++i) {
                if (active && !active[i]) continue;
                const float inverse = 1 / s.phases[s.p.phase[i]].mass;
                Vec3f f = pair_forces(s, i, pressure, cohesion);
                if (near_solids(s, i)) {
                    const Vec3f b = boundary_forces(s, i, pressure, reaction[c]);
                    for (int a = 0; a < 3; ++a) f[a] += b[a];
                }
                for (int a = 0; a < 3; ++a) s.p.a[i][a] = static_cast<float>(s.scene.gravity[a]) + inverse * f[a];
            }
        });
    }
    if (s.scene.attraction > 0) {
        const auto pull = static_cast<float>(s.scene.attraction * s.scene.attraction);
        base::parallel_for(s.executor, s.p.size(), grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                if (!active || active[i])
                    for (int a = 0; a < 3; ++a) s.p.a[i][a] -= pull * s.p.x[i][a];
        });
    }
    if (!active)
        for (const std::vector<Wrench>& r : reaction) s.solids.add_forces(r);
}

}  // namespace quadrat::simulation
