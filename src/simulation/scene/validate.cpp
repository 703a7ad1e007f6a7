// What a scene must be before anything is computed. Each error names its place by a path such as "/bodies/2/radius" and
// says what was expected and what was found. First each field by itself, as its row in the table says
// (scene_fields.hpp); then, below, what must agree with something else.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/scene/check_fields.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/scene/scene_fields.hpp"
#include "simulation/scene/world.hpp"
#include "simulation/solids/shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace quadrat::simulation {
namespace {

constexpr double most_samples = 1e8;  // of a body: more is a mistake in the units

// A step that must be given.
void check_step(const std::string& path, double step, const Scene& s) {
    if (!(step > 0)) fail(path, "expected a positive number, found " + text(step));
    if (s.end_time / step > most_steps)
        fail(path, "expected at least " + text(s.end_time / most_steps) + " (a billion steps until end_time), found " +
                       text(step));
}

void check_box(const std::string& path, const Box3d& box, int dimension) {
    for (int k = 0; k < dimension; ++k)
        if (!(box.lo[k] < box.hi[k]))
            fail(path + "/hi/" + std::to_string(k), "expected more than lo, found " + text(box.hi[k]));
}

// In terms of the distance of particles. Below one a particle has no neighbour, and what cannot be compressed needs
// some that push; 8 is more than 2000 neighbours, and what the kernels are used with here is 2 to 5 (docs/scenes.md).
constexpr double most_support = 8;
double least_support(const Scene& s) {
    return s.solver == SolverKind::incompressible ? 1.2 : 1;
}
void support_range(const Scene& s, const std::string& path, double support, double apart) {
    QUADRAT_ASSERT(apart > 0);
    const double rounding = 1e-9 * apart, least = least_support(s);
    if (!(support >= least * apart - rounding && support <= most_support * apart + rounding))
        fail(path, "expected a support of " + text(least) + " to 8 times the distance of particles, " +
                       text(least * apart) + " to " + text(most_support * apart) + ", found " + text(support));
}

// How far apart the particles of a phase are at rest.
double distance_at_rest(const Scene& s, const Phase& p) {
    return p.particle_mass > 0 ? std::pow(p.particle_mass / p.rest_density, 1.0 / s.dimension) : s.spacing;
}

void check_supports(const Scene& s) {
    QUADRAT_ASSERT(s.spacing > 0);
    const double common = common_support(s);
    if (s.support > 0) support_range(s, "/support", s.support, s.spacing);
    for (std::size_t i = 0; i < s.phases.size(); ++i) {
        const Phase& p = s.phases[i];
        const double apart = distance_at_rest(s, p);
        if (p.particle_mass > 0 && !(common >= least_support(s) * apart && common <= most_support * apart))
            fail(at("phases", i, "particle_mass"), "expected a particle that the support of " + text(common) + " is " +
                                                       text(least_support(s)) + " to 8 times as wide as, found one " +
                                                       text(apart) + " wide");
        if (p.support > 0) support_range(s, at("phases", i, "support"), p.support, std::min(apart, s.spacing));
    }
    for (std::size_t i = 0; i < s.particles.size(); ++i)
        for (std::size_t k = 0; k < s.particles[i].supports.size(); ++k)
            support_range(s, at("particles", i, "supports/") + std::to_string(k), s.particles[i].supports[k],
                          std::min(distance_at_rest(s, s.phases[s.particles[i].phase]), s.spacing));
}

void check_body(const Scene& s, std::size_t i) {
    const RigidBody& b = s.bodies[i];
    const std::string path = "/bodies/" + std::to_string(i);
    check_shape(b, s.dimension, path);
    double norm = 0;
    for (const double q : b.orientation) norm += q * q;
    if (!(std::abs(norm - 1) < 1e-6)) fail(path + "/rotation", "expected a unit quaternion");
    if (s.dimension == 2 && std::hypot(b.orientation[1], b.orientation[2]) > 1e-12)
        fail(path + "/rotation", "expected a turn about z in two dimensions");
    if (const double samples = surface_area(b, s.dimension) / std::pow(s.spacing, s.dimension - 1);
        samples > most_samples)
        fail(path, "expected a smaller body or a larger spacing: its surface would need " + text(samples) + " samples");
}

void check_fluid(const Scene& s) {
    for (std::size_t i = 0; i < s.blocks.size(); ++i)
        check_box("/blocks/" + std::to_string(i), s.blocks[i].box, s.dimension);
    for (std::size_t i = 0; i < s.particles.size(); ++i) {
        const FluidParticles& f = s.particles[i];
        if (!f.velocities.empty() && f.velocities.size() != f.positions.size())
            fail(at("particles", i, "velocities"), "expected one per position");
        if (!f.supports.empty() && f.supports.size() != f.positions.size())
            fail(at("particles", i, "supports"), "expected one per position");
    }
    for (std::size_t i = 0; i < s.emitters.size(); ++i)
        if (const Emitter& e = s.emitters[i]; !(e.end > e.start))
            fail(at("emitters", i, "end"), "expected a time after start, found " + text(e.end));
}

// Along the axes that the scene has.
double shared_depth(const Box3d& a, const Box3d& b, int dimension) {
    QUADRAT_ASSERT(dimension == 2 || dimension == 3);
    double depth = std::numeric_limits<double>::infinity();
    for (int k = 0; k < dimension; ++k)
        depth = std::min(depth, std::min(a.hi[k], b.hi[k]) - std::max(a.lo[k], b.lo[k]));
    return depth;
}

// Where two blocks share a place there would be two fluids in it. What rounding makes of a common face is none.
void check_blocks_apart(const Scene& s) {
    const double rounding = 1e-3 * s.spacing;
    for (std::size_t i = 0; i < s.blocks.size(); ++i)
        for (std::size_t other = 0; other < i; ++other)
            if (const double depth = shared_depth(s.blocks[i].box, s.blocks[other].box, s.dimension); depth > rounding)
                fail("/blocks/" + std::to_string(i),
                     "overlaps /blocks/" + std::to_string(other) + " by " + text(depth) + " m");
}

// What has a name is found by it. Bodies that come from one entry of a file share theirs: the reader looks at those.
template <class T>
void check_names(const char* list, const std::vector<T>& all) {
    std::map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].name.empty()) continue;
        const auto [found, fresh] = first.emplace(all[i].name, i);
        if (!fresh)
            fail(at(list, i, "name"), std::string("expected a name of its own, found that of /") + list + "/" +
                                          std::to_string(found->second));
    }
}

void check_stepping(const Scene& s) {
    if (s.stepping.kind == StepKind::fixed) check_step("/stepping/fixed", s.stepping.fixed, s);
    if (s.stepping.largest != 0) check_step("/stepping/largest", s.stepping.largest, s);
    if (s.solver == SolverKind::incompressible && s.stepping.kind == StepKind::per_particle)
        fail("/stepping/kind", "the incompressible solver needs one step for all");
}

void check_domain(const Scene& s) {
    check_box("/domain", s.domain.box, s.dimension);
    for (std::size_t k = 0; k < 6; ++k)
        if (s.domain.open[k] && s.domain.periodic[k / 2])
            fail("/domain/open", std::string("expected a side that is not periodic, found ") + side_names[k]);
    // A sheet would meet a body that comes back on the other side on all its way there.
    const bool periodic = s.domain.periodic[0] || s.domain.periodic[1] || s.domain.periodic[2];
    for (std::size_t i = 0; i < s.bodies.size() && periodic && !s.cloths.empty(); ++i)
        if (s.bodies[i].motion != BodyMotion::fixed)
            throw Error(ErrorKind::unsupported, "beside cloth a body that moves needs a domain without periodic axes",
                        {.field = at("bodies", i, "motion")});
}

// Features of one sheet are kept apart by its thickness: edges that are shorter would be torn at from the first step.
void check_thickness(const SceneCloth& c, const std::string& path) {
    double shortest = std::numeric_limits<double>::infinity();
    for (const Triangle& t : c.triangles)
        for (const auto& [a, b] : {std::pair(t.a, t.b), std::pair(t.b, t.c), std::pair(t.c, t.a)}) {
            const Vec3d &p = c.positions[a], &q = c.positions[b];
            shortest = std::min(shortest, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
        }
    if (c.options.thickness >= shortest)
        fail(path,
             "expected less than the shortest edge, " + text(shortest) + " m, found " + text(c.options.thickness));
}

void check_cloth(const Scene& s, std::size_t i) {
    const SceneCloth& c = s.cloths[i];
    if (s.dimension == 2) fail("/cloths", "cloth needs three dimensions");
    check_triangles("/cloths/" + std::to_string(i), c.triangles, c.positions.size());
    check_step(at("cloths", i, "time_step"), c.options.time_step, s);
    check_thickness(c, at("cloths", i, "thickness"));
    for (std::size_t k = 0; k < c.pins.size(); ++k)
        if (c.pins[k] >= c.positions.size())
            fail(at("cloths", i, "pins/") + std::to_string(k),
                 "expected a vertex below " + std::to_string(c.positions.size()));
}

}  // namespace

void validate(const Scene& s) {
    check_fields(s, {.dimension = s.dimension, .phases = s.phases.size()}, Path());
    check_stepping(s);
    check_fluid(s);
    check_blocks_apart(s);
    check_names("phases", s.phases);
    check_names("cloths", s.cloths);
    check_supports(s);
    for (std::size_t i = 0; i < s.bodies.size(); ++i) check_body(s, i);
    check_domain(s);
    for (std::size_t i = 0; i < s.cloths.size(); ++i) check_cloth(s, i);
}

}  // namespace quadrat::simulation
