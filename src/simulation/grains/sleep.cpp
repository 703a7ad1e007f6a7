// Islands: grains that touch each other, directly or through others, are one (union-find over contacts with a force).
// When all of one have been slow for long enough, it falls asleep; a hit wakes all of it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "simulation/grains/step.hpp"

namespace quadrat::simulation::grains {
namespace {

constexpr std::uint32_t every = 8;  ///< steps between looks

std::uint32_t find_root(std::vector<std::uint32_t>& root, std::uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

}  // namespace

double World::sleep_speed(double dt) const {
    return options.sleep_speed > 0 ? options.sleep_speed : 0.2 * length(vector(options.gravity)) * dt;
}

double World::bounce_speed(double sub_step) const {
    return options.bounce_speed > 0 ? options.bounce_speed : 4 * length(vector(options.gravity)) * sub_step;
}

void wake(World& world, std::uint32_t grain) {
    if (!world.asleep[grain]) return;
    std::uint32_t i = grain;
    do {
        world.asleep[i] = 0;
        world.still[i] = 0;
        i = std::exchange(world.next_asleep[i], i);
    } while (i != grain);
}

void Stepper::fall_asleep(World& world, double dt) {
    if (!std::isfinite(world.options.sleep_time)) return;
    const double slow = world.sleep_speed(dt);
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.asleep[i]) continue;
        const double speed = length(vector(world.velocity[i])) + world.reach(i) * length(vector(world.spin[i]));
        world.still[i] = speed <= slow ? world.still[i] + dt : 0;
    }
    if (world.steps % every != 0) return;
    root_.resize(world.size());
    std::iota(root_.begin(), root_.end(), 0u);
    const auto unite = [&](std::uint32_t a, std::uint32_t b) {
        if (world.asleep[a] || world.asleep[b]) return;
        a = find_root(root_, a);
        b = find_root(root_, b);
        root_[std::max(a, b)] = std::min(a, b);
    };
    // Those on walls that move stay awake.
    std::vector<double> rest(world.size(), std::numeric_limits<double>::infinity());
    for (const Pairs::Chunk& c : pairs.chunks())
        for (std::uint32_t r = c.first; r < c.first + c.rows; ++r) {
            if (c.kind == PairKind::balls && rows_.ball(r).push > 0)
                unite(pairs.ids()[rows_.ball(r).a], pairs.ids()[rows_.ball(r).b]);
            if (c.kind == PairKind::hulls) {
                const HullRow& row = rows_.hulls[r];
                for (std::uint32_t k = 0; k < row.count; ++k) {
                    if (!(row.points[k].push > 0)) continue;
                    if (row.b != HullRow::nothing)
                        unite(pairs.ids()[row.a], pairs.ids()[row.b]);
                    else if (double{length(row.points[k].wall)} > slow)
                        rest[pairs.ids()[row.a]] = 0;
                }
            }
            if (c.kind == PairKind::ball_wall && rows_.walls[r].push > 0 && double{length(rows_.walls[r].wall)} > slow)
                rest[pairs.ids()[rows_.walls[r].a]] = 0;
        }
    islands = 0;
    for (std::uint32_t i = 0; i < world.size(); ++i) {
        if (world.asleep[i]) continue;
        const std::uint32_t r = find_root(root_, i);
        islands += r == i;
        rest[r] = std::min({rest[r], rest[i], world.still[i]});
    }
    for (std::uint32_t i = 0; i < world.size(); ++i) {
        const std::uint32_t r = root_[i] == i ? i : find_root(root_, i);
        if (world.asleep[i] || rest[r] < world.options.sleep_time) continue;
        if (i != r) world.next_asleep[i] = std::exchange(world.next_asleep[r], i);
        world.velocity[i] = {};
        world.spin[i] = {};
    }
    for (std::uint32_t i = 0; i < world.size(); ++i)
        if (!world.asleep[i] && rest[find_root(root_, i)] >= world.options.sleep_time) world.asleep[i] = 1;
}

}  // namespace quadrat::simulation::grains
