#include "run/frame.hpp"

#include <algorithm>
#include <numeric>

#include "base/assert.hpp"

namespace quadrat::cli {
namespace {

template <class T>
std::vector<T> in_order(std::span<const T> values, const std::vector<std::uint32_t>& order) {
    QUADRAT_ASSERT(values.size() == order.size());
    std::vector<T> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t i : order) sorted.push_back(values[i]);
    return sorted;
}

}  // namespace

Frame take_frame(const Simulation& simulation, const SceneView& view, std::uint64_t number, double time) {
    Frame frame{.number = number, .time = time};
    const auto ids = simulation.ids();
    std::vector<std::uint32_t> order(ids.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
    frame.positions = in_order(simulation.positions(), order);
    frame.velocities = in_order(simulation.velocities(), order);
    frame.densities = in_order(simulation.densities(), order);
    frame.pressures = in_order(simulation.pressures(), order);
    frame.phases = in_order(simulation.phases(), order);
    frame.ids = in_order(ids, order);
    frame.solids = solid_mesh(simulation, view);
    return frame;
}

}  // namespace quadrat::cli
