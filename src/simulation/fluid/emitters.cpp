// Emitters: discs of particles, one layer after the other. Under water there is no room for them: a particle put where
// others are is pressed out again at many times the jet's speed. So a place that is taken gives its speed to the
// particle that is there, as a pump would, and sends out a new one only where the density allows it. Nothing comes out
// in or behind a body.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/fluid/fluid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace quadrat::simulation {
namespace {

// With a new particle, in units of the rest density. A jet into air has about 0.7: half of its surroundings.
constexpr float fullest = 1.02f;

Vec3f single(const Vec3d& v) {
    return {{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}};
}

float distance(const World& world, const Vec3f& a, const Vec3f& b) {
    const Vec3f d = world.apart(a, b);
    return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

struct Place {
    float density;        // with a new particle there, over the rest density
    std::size_t nearest;  // of the particles there
    float distance;
};

Place look_at(const World& world, const Fluid& fluid, const Vec3f& x, const PhaseData& f,
              const std::vector<std::size_t>& around) {
    QUADRAT_ASSERT(f.support > 0);
    float sum = fluid.density_kernel.value(0);
    Place place = {0, 0, 1e30f};
    for (const std::size_t i : around) {
        const float r = distance(world, x, fluid.p.x[i]);
        sum += fluid.density_kernel.value(r / f.support);
        if (r < place.distance) place.distance = r, place.nearest = i;
    }
    place.density = f.volume * sum / std::pow(f.support, static_cast<float>(world.scene.dimension));
    return place;
}

// When emitter i sends out its next layer.
double next_layer(const World& world, const Fluid& fluid, std::size_t i) {
    QUADRAT_ASSERT(fluid.emitters.size() == world.scene.emitters.size());
    const Emitter& e = world.scene.emitters[i];
    const EmitterState& state = fluid.emitters[i];
    const double due = e.start + static_cast<double>(state.layers) * world.scene.spacing / e.speed;
    const bool empty = due >= e.end || state.particles + state.disc.size() > e.max_particles;
    return empty ? std::numeric_limits<double>::infinity() : due;
}

// Whether a new particle would be inside a body, nearer to it than fluid that starts beside it, or behind it as seen
// from the emitter.
bool blocked(const World& world, const Solids& solids, std::span<const Image> images, const Vec3d& from,
             const Vec3d& x) {
    return std::any_of(images.begin(), images.end(), [&](const Image& m) {
        return solids.distance(m, vector(x), world.scene.spacing) < 0.5 * world.scene.spacing ||
               solids.between(m, vector(from), vector(x));
    });
}

// Nothing comes out inside a body that is there when the emitter starts.
void check_outside(const World& world, const Solids& solids, std::span<const Image> images, const Emitter& e,
                   const Vec3d& x, const std::string& path) {
    for (const Image& m : images) {
        if (solids.bodies()[m.body].motion != BodyMotion::fixed && e.start > 0) continue;
        if (solids.distance(m, vector(x), world.scene.spacing) < -1e-3 * world.scene.spacing)
            throw OverlapError(path, m.body);
    }
}

}  // namespace

void set_up_emitters(const World& world, Fluid& fluid, const Solids& solids) {
    fluid.emitters.clear();
    const std::vector<Image> images = solids.images(world.scene.spacing);
    for (std::size_t i = 0; i < world.scene.emitters.size(); ++i) {
        const Emitter& e = world.scene.emitters[i];
        const std::string path = "/emitters/" + std::to_string(i);
        EmitterState state;
        const double length = norm(e.direction);
        QUADRAT_ASSERT(length > 0 && e.phase < fluid.phases.size());
        const Vec3d d = {{e.direction[0] / length, e.direction[1] / length, e.direction[2] / length}};
        // Two directions across; in 2D the second is z and gets one row only.
        Vec3d u = {{-d[1], d[0], 0}};
        if (norm(u) < 0.1) u = {{1, 0, 0}};
        const double along = u[0] * d[0] + u[1] * d[1] + u[2] * d[2];
        for (int k = 0; k < 3; ++k) u[k] -= along * d[k];
        const double un = norm(u);
        for (int k = 0; k < 3; ++k) u[k] /= un;
        const Vec3d w = {{d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0]}};
        const double across = std::floor(e.radius / world.scene.spacing);
        const auto check_room = [&](double particles) {
            if (particles > static_cast<double>(e.max_particles))
                throw Error(ErrorKind::bad_value,
                            "expected room for one disc of particles, found " + std::to_string(e.max_particles),
                            {.field = path + "/max_particles"});
        };
        check_room(world.scene.dimension == 2 ? 2 * across : 3 * across * across);  // no more than there will be
        const int reach = static_cast<int>(across);
        for (int a = -reach; a <= reach; ++a)
            for (int b = world.scene.dimension == 2 ? 0 : -reach; b <= (world.scene.dimension == 2 ? 0 : reach); ++b) {
                if (std::hypot(a, b) * world.scene.spacing > e.radius) continue;
                Vec3d offset;
                for (int k = 0; k < 3; ++k) offset[k] = world.scene.spacing * (a * u[k] + b * w[k]);
                state.disc.push_back(offset);
                Vec3d x = e.position;
                for (int k = 0; k < 3; ++k) x[k] += offset[k];
                check_place(world, x, path + "/position");
                check_outside(world, solids, images, e, x, path + "/position");
            }
        check_room(static_cast<double>(state.disc.size()));
        fluid.emitters.push_back(state);
    }
}

double next_emission(const World& world, const Fluid& fluid, double time) {
    double first = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < fluid.emitters.size(); ++i)
        if (const double due = next_layer(world, fluid, i); due > time) first = std::min(first, due);
    return first;
}

bool emission_due(const World& world, const Fluid& fluid, double time) {
    for (std::size_t i = 0; i < fluid.emitters.size(); ++i)
        if (next_layer(world, fluid, i) <= time) return true;
    return false;
}

void emit(const World& world, Fluid& fluid, const Solids& solids, double time) {
    for (std::size_t i = 0; i < fluid.emitters.size(); ++i) {
        const Emitter& e = world.scene.emitters[i];
        EmitterState& state = fluid.emitters[i];
        const PhaseData& phase = fluid.phases[e.phase];
        const double length = norm(e.direction);
        for (;;) {
            const double due = next_layer(world, fluid, i);
            if (due > time) break;
            ++state.layers;
            Vec3d centre, v;
            for (int k = 0; k < 3; ++k) {
                v[k] = e.speed * e.direction[k] / length;
                centre[k] = e.position[k] + (time - due) * v[k];
            }
            const std::vector<Image> images = solids.images(world.scene.spacing);
            std::vector<std::size_t> around;
            for (std::size_t p = 0; p < fluid.p.size(); ++p)
                if (distance(world, single(centre), fluid.p.x[p]) < static_cast<float>(e.radius) + phase.support)
                    around.push_back(p);
            for (const Vec3d& offset : state.disc) {
                const Vec3d x = {{centre[0] + offset[0], centre[1] + offset[1], centre[2] + offset[2]}};
                const Vec3d& p = e.position;
                if (blocked(world, solids, images, {{p[0] + offset[0], p[1] + offset[1], p[2] + offset[2]}}, x))
                    continue;
                const Place place = look_at(world, fluid, single(x), phase, around);
                if (place.density <= fullest) {
                    add_particle(fluid, x, v, e.phase, fluid.phases[e.phase].support);
                    ++state.particles;
                } else if (place.distance < static_cast<float>(world.scene.spacing)) {
                    fluid.p.v[place.nearest] = single(v);
                }
            }
        }
    }
}

}  // namespace quadrat::simulation
