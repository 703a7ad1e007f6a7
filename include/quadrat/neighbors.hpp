// What is near what: all neighbours within a radius, and the nearest ones, in one call. CellIndex is the structure
// behind them, to keep when points move.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat {

/// Row i: every point within `radius` of point i, except i, in cell order. O(n + entries) time; nothing is kept. Throws
/// Error as CellIndex does. May be called from many threads at once.
///
/// points: finite; at most 2^32 - 2.
/// radius: positive and finite, in the unit of the coordinates.
/// options: what is stored; see NeighborOptions.
/// executor: where to run; null is the calling thread.
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(std::span<const Vec<D, T>> points, std::type_identity_t<T> radius,
                                          const NeighborOptions& options = {}, Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = radius, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list, options);
    return list;
}
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(const std::vector<Vec<D, T>>& points, std::type_identity_t<T> radius,
                                          const NeighborOptions& options = {}, Executor* executor = nullptr) {
    return find_neighbors(std::span<const Vec<D, T>>(points), radius, options, executor);
}
/// Row q: every point within `radius` of query q, a point at its very place included.
///
/// queries: finite, anywhere.
/// The other arguments are those of the call above; half lists are Error{unsupported}.
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points,
                                          std::type_identity_t<T> radius, const NeighborOptions& options = {},
                                          Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = radius, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(queries, list, options);
    return list;
}
template <int D, class T>
[[nodiscard]] NeighborList find_neighbors(const std::vector<Vec<D, T>>& queries, const std::vector<Vec<D, T>>& points,
                                          std::type_identity_t<T> radius, const NeighborOptions& options = {},
                                          Executor* executor = nullptr) {
    return find_neighbors(std::span<const Vec<D, T>>(queries), std::span<const Vec<D, T>>(points), radius, options,
                          executor);
}

/// Row i: the k nearest points of point i, nearest first, equal distances by index, with distances. O(n k) time for
/// points of about even density; nothing is kept.
///
/// k: at least 1; rows are shorter where there are fewer points.
/// max_distance: positive and finite, in the unit of the coordinates; 0, the default: no limit.
/// executor: where to run; null is the calling thread.
template <int D, class T>
[[nodiscard]] NeighborList find_nearest(std::span<const Vec<D, T>> points, std::uint32_t k,
                                        std::type_identity_t<T> max_distance = 0, Executor* executor = nullptr) {
    CellIndex<D, T> index({.radius = max_distance > 0 ? max_distance : T(1), .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_nearest(k, list, max_distance);
    return list;
}
template <int D, class T>
[[nodiscard]] NeighborList find_nearest(const std::vector<Vec<D, T>>& points, std::uint32_t k,
                                        std::type_identity_t<T> max_distance = 0, Executor* executor = nullptr) {
    return find_nearest(std::span<const Vec<D, T>>(points), k, max_distance, executor);
}

/// The order of the points along a Z curve, equal cells in input order: new array position k takes old point
/// z_order()[k]. Points sorted so are searched with fewer cache misses, and so is everything else you do with them.
/// O(n) time and memory. Throws Error{bad_value} with the index of a point that is not finite.
///
/// edge: of the cells, positive and finite, in the unit of the coordinates; about the radius that will be searched.
/// Cells get larger where the extent has more than 2^31 (2D) or 2^21 (3D) of them along an axis.
template <int D, class T>
[[nodiscard]] std::vector<std::uint32_t> z_order(std::span<const Vec<D, T>> points, T edge);
template <int D, class T>
[[nodiscard]] std::vector<std::uint32_t> z_order(const std::vector<Vec<D, T>>& points, std::type_identity_t<T> edge) {
    return z_order(std::span<const Vec<D, T>>(points), edge);
}

}  // namespace quadrat
