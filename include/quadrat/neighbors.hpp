// What is near what: all neighbours within a radius, and the nearest ones, in one call. CellIndex is the structure
// behind them, to keep when points move, and for what a single call does not offer: radii per point, periodic boxes,
// counts, pairs that are not stored. The functions are compiled for D = 2, 3 and T = float, double,
// keep nothing, and may be called from many threads at once; results are the same bytes for any number of threads.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <vector>

namespace quadrat {

namespace detail {

/// The index of an array of points.
template <class Points>
using IndexOf = CellIndex<KindOf<Points>::dimension, ScalarOf<Points>>;

template <int D, class T>
[[nodiscard]] std::vector<std::uint32_t> z_order(std::span<const Vec<D, T>> points, T edge);

}  // namespace detail

/// Row i: every point within `radius` of point i, except i, in cell order: by z cell, y cell, x bin, index. Near means
/// dx*dx + dy*dy + dz*dz <= r*r, each operation rounded in T; distance `radius` counts, and so do other points at the
/// very place of i. No points give a list without rows. O(n + entries) time and memory.
///
///     std::vector<quadrat::Vec3f> points = {{{0, 0, 0}}, {{0.05f, 0, 0}}, {{1, 1, 1}}};
///     const quadrat::NeighborList list = quadrat::find_neighbors(points, 0.1f);
///     for (const std::uint32_t j : list[0]) use(j);
///
/// Throws Error{stopped} if options.watch asks for it, and otherwise for the arguments only.
///
/// points: std::vector, std::span, ... of Vec; finite, or Error{bad_value} names the index of one that is not; at most
/// 2^32 - 2, or Error{too_large}.
/// radius: positive and finite, in the unit of the coordinates, or Error{bad_value}.
/// options: what is stored; see NeighborOptions. Rows are contiguous() with RowOrder::input only.
/// executor: where to run; null, the default, is the calling thread.
/// max_bytes: the most bytes of the result, or Error{too_large} with the bytes it needs. Default: no limit.
template <PointArray Points>
[[nodiscard]] NeighborList find_neighbors(const Points& points, ScalarOf<Points> radius,
                                          const NeighborOptions& options = {}, Executor* executor = nullptr,
                                          std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) {
    detail::IndexOf<Points> index({.radius = radius, .max_bytes = max_bytes, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list, options);
    return list;
}
/// Row q: every point within `radius` of query q, a point at its very place included, in cell order of the points. For
/// two sets: who of the second is near whom of the first. O(n_queries + n_points + entries) time and memory.
///
/// queries: finite, anywhere, or Error{bad_value}; at most 2^32 - 2, or Error{too_large}.
/// options: half is Error{unsupported}; self changes nothing; groups are those of the points.
/// The other arguments are those of the call above.
template <PointArray Queries, PointArray Points>
[[nodiscard]] NeighborList find_neighbors(const Queries& queries, const Points& points, ScalarOf<Points> radius,
                                          const NeighborOptions& options = {}, Executor* executor = nullptr,
                                          std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) {
    detail::IndexOf<Points> index({.radius = radius, .max_bytes = max_bytes, .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_neighbors(queries, list, options);
    return list;
}

/// Row i: the k nearest points of point i, without i, nearest first, equal distances by index, with distances
/// (DistanceKind::distance). Rows are shorter where there are fewer points, or fewer within max_distance. O(n k) time
/// for points of about even density.
///
///     const auto list = quadrat::find_nearest(points, 8);
///     const float farthest = list.distances<float>(0).back();
///
/// points: as for find_neighbors.
/// k: at least 1, or Error{bad_value}.
/// max_distance: positive and finite, in the unit of the coordinates, or Error{bad_value}; 0, the default: no limit. A
/// point at this very distance counts.
/// executor: where to run; null, the default, is the calling thread.
/// max_bytes: as for find_neighbors.
template <PointArray Points>
[[nodiscard]] NeighborList find_nearest(const Points& points, std::uint32_t k, ScalarOf<Points> max_distance = 0,
                                        Executor* executor = nullptr,
                                        std::size_t max_bytes = std::numeric_limits<std::size_t>::max()) {
    detail::IndexOf<Points> index({.radius = max_distance > 0 ? max_distance : ScalarOf<Points>(1),
                                   .max_bytes = max_bytes,
                                   .executor = executor});
    index.build(points);
    NeighborList list;
    index.find_nearest(k, list, max_distance);
    return list;
}

/// The order of the points along a Z curve, equal cells in input order: new array position k takes old point
/// z_order()[k]. Points sorted so are searched with fewer cache misses, and so is everything else you do with them.
/// A permutation of 0 to n - 1. O(n) time and memory, on the calling thread.
///
///     const auto order = quadrat::z_order(points, 0.1f);
///     std::vector<quadrat::Vec3f> sorted;
///     for (const std::uint32_t i : order) sorted.push_back(points[i]);
///
/// points: finite, or Error{bad_value} names the index of the first that is not; at most 2^32 - 2, or Error{too_large}.
/// edge: of the cells, positive and finite, in the unit of the coordinates, or Error{bad_value}; about the radius that
/// will be searched. Cells are counted from the smallest coordinates, and get larger where the extent has more than
/// 2^31 (2D) or 2^21 (3D) of them along an axis. The number of a cell has its bits interleaved, x lowest:
///
///     3D   ... z1 y1 x1 z0 y0 x0         2D   ... y1 x1 y0 x0
template <PointArray Points>
[[nodiscard]] std::vector<std::uint32_t> z_order(const Points& points, ScalarOf<Points> edge) {
    return detail::z_order(std::span<const std::ranges::range_value_t<Points>>(points), edge);
}

}  // namespace quadrat
