// What is near what: all neighbours within a radius, and the nearest ones, in one call. CellIndex is the structure
// behind them, to keep when points move.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat {

/// Row i: every point within `radius` of point i, except i. O(n + entries). Throws Error as CellIndex does.
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(std::span<const Vec<D, T>> points, T radius,
                                          const NeighborOptions& options = {}, Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = radius, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list, options);
    return list;
}
/// Row q: every point within `radius` of query q.
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points,
                                          T radius, const NeighborOptions& options = {}, Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = radius, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(queries, list, options);
    return list;
}

/// Row i: the k nearest points of point i, nearest first, with distances.
template <int D, class T>
[[nodiscard]] NeighborList find_nearest(std::span<const Vec<D, T>> points, std::uint32_t k, T max_distance = 0,
                                        Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = max_distance > 0 ? max_distance : T(1), .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_nearest(k, list, max_distance);
    return list;
}

/// The order of the points along a Z curve with cells of `edge`, equal cells in input order: new array position k takes
/// old point z_order()[k]. Points sorted so are searched with fewer cache misses, and so is everything else you do with
/// them.
template <int D, class T>
[[nodiscard]] std::vector<std::uint32_t> z_order(std::span<const Vec<D, T>> points, T edge);

}  // namespace quadrat
