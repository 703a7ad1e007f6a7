// What is checked while the run is set up, when walls are known: that everything lies inside the domain.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/scene/leaving.hpp"
#include "simulation/scene/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::simulation {
namespace {

// Walls are single precision.
double rounding(const World& world, const Wall& w) {
    return 1e-3 * world.scene.spacing + 2 * double{std::numeric_limits<float>::epsilon()} * std::abs(double{w.offset});
}

// Distance from a wall into the domain.
double above(const Wall& w, const Vec3d& x) {
    double d = -double{w.offset};
    for (int a = 0; a < 3; ++a) d += double{w.normal[static_cast<std::size_t>(a)]} * x[a];
    return d;
}

// The wall k, as the scene calls it.
std::string wall_name(const World& world, std::size_t k) {
    const std::size_t sides = world.walls.size() - world.scene.domain.planes.size();
    if (k >= sides) return "/domain/planes/" + std::to_string(k - sides);
    for (std::size_t a = 0; a < 3; ++a)
        if (world.walls[k].normal[a] != 0)
            return std::string("the wall ") + (world.walls[k].normal[a] > 0 ? '-' : '+') + "xyz"[a];
    return "a wall";
}

}  // namespace

void check_place(const World& world, const Vec3d& x, const std::string& path) {
    std::string beyond;
    for (std::size_t k = 0; k < world.walls.size(); ++k)
        if (!(above(world.walls[k], x) >= -rounding(world, world.walls[k]))) beyond = wall_name(world, k);
    const Box3d& box = world.scene.domain.box;
    const double rounding_of_ends = 1e-3 * world.scene.spacing;
    for (int k = 0; k < world.scene.dimension; ++k)
        if (world.period[static_cast<std::size_t>(k)] > 0 &&
            !(x[k] >= box.lo[k] - rounding_of_ends && x[k] <= box.hi[k] + rounding_of_ends))
            beyond = "the end of a periodic axis";
    if (Leaving(world.scene).gone(x, Vec3d{})) beyond = "an open side by more than four of its longest edges";
    if (!beyond.empty())
        fail(path, "expected a place inside the domain, found " + text(x[0]) + ", " + text(x[1]) +
                       (world.scene.dimension == 3 ? ", " + text(x[2]) : "") + " beyond " + beyond);
}

void check_extent(const World& world, std::span<const Vec3d> corners, double radius, const std::string& path) {
    QUADRAT_ASSERT(radius >= 0);
    for (std::size_t k = 0; k < world.walls.size(); ++k) {
        double least = 0;
        for (const Vec3d& p : corners) least = std::min(least, above(world.walls[k], p) - radius);
        if (least < -rounding(world, world.walls[k]))
            fail(path, "expected a body inside the domain, found one that reaches " + text(-least) + " m beyond " +
                           wall_name(world, k));
    }
}

}  // namespace quadrat::simulation
