#include <quadrat/cells/brute_force.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/bounded_pairs.hpp"
#include "cells/bounded_rows.hpp"
#include "cells/match.hpp"
#include "cells/ordered_rows.hpp"
#include "cells/validate.hpp"

#include <algorithm>

namespace quadrat {
namespace {

/// Calls row(i, scratch) -> span for every i in [0, rows) and hands the rows to append(i, span) in ascending order.
template <class Row, class Append>
void in_order(Executor* executor, std::size_t rows, std::size_t longest, Row&& row, Append&& append) {
    cells::in_order(
        executor, rows, [&] { return std::vector<std::uint32_t>(longest); },
        [&](std::size_t i, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
            const std::span<const std::uint32_t> hits = row(i, std::span(scratch));
            found.insert(found.end(), hits.begin(), hits.end());
            return std::uint64_t{hits.size()};
        },
        append);
}

template <int D, class T>
Box<D, T> box_at(const std::vector<T>& columns, std::size_t n, std::size_t i) {
    const std::size_t stride = cells::column_stride(n);
    Box<D, T> b;
    for (int k = 0; k < D; ++k) {
        b.lo[k] = columns[static_cast<std::size_t>(k) * stride + i];
        b.hi[k] = columns[static_cast<std::size_t>(D + k) * stride + i];
    }
    return b;
}

}  // namespace

template <int D, class T>
void BruteForce<D, T>::build(std::span<const Box<D, T>> boxes) {
    cells::check_boxes(boxes, options_.executor);
    cells::to_columns(boxes, columns_);
    size_ = boxes.size();
    holds_boxes_ = true;
}

template <int D, class T>
std::uint32_t BruteForce<D, T>::insert(std::span<const Box<D, T>> boxes) {
    cells::check_boxes(boxes, options_.executor);
    const std::size_t before = holds_boxes_ ? size_ : 0;
    std::vector<Box<D, T>> all;
    for (std::size_t i = 0; i < before; ++i) all.push_back(box_at<D, T>(columns_, size_, i));
    all.insert(all.end(), boxes.begin(), boxes.end());
    build(std::span<const Box<D, T>>(all));
    return static_cast<std::uint32_t>(before);
}

template <int D, class T>
void BruteForce<D, T>::update(std::span<const Box<D, T>> boxes) {
    cells::check_slots(boxes.size(), size_);
    build(boxes);
}

template <int D, class T>
void BruteForce<D, T>::build(std::span<const Vec<D, T>> points) {
    cells::check_points(points, options_.executor);
    cells::to_columns(points, columns_);
    size_ = points.size();
    holds_boxes_ = false;
}

template <int D, class T>
void BruteForce<D, T>::check_boxes_held() const {
    if (!holds_boxes_ && size_ != 0) throw Error(ErrorKind::bad_shape, "it holds points, and pairs are of boxes");
}

template <int D, class T>
std::span<const std::uint32_t> BruteForce<D, T>::overlaps_after(std::uint32_t i,
                                                                std::span<std::uint32_t> scratch) const {
    QUADRAT_ASSERT(holds_boxes_);
    const std::size_t count = cells::match_box<D, T>(columns_.data(), cells::column_stride(size_), i + 1, size_,
                                                     box_at<D>(columns_, size_, i), scratch.data());
    return scratch.first(count);
}

template <int D, class T>
void BruteForce<D, T>::find_pairs(std::vector<Pair>& out) const {
    check_boxes_held();
    cells::BoundedPairs pairs(out, options_.max_bytes);
    in_order(
        options_.executor, size_, size_,
        [&](std::size_t i, std::span<std::uint32_t> scratch) {
            return overlaps_after(static_cast<std::uint32_t>(i), scratch);
        },
        [&](std::size_t i, std::span<const std::uint32_t> row) {
            for (const std::uint32_t j : row) pairs.push({static_cast<std::uint32_t>(i), j});
        });
    pairs.finish();
}

template <int D, class T>
void BruteForce<D, T>::find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b,
                                  std::vector<Pair>& out) const {
    cells::check_boxes(a, options_.executor);
    cells::check_boxes(b, options_.executor);
    cells::BoundedPairs pairs(out, options_.max_bytes);
    std::vector<T> columns;
    cells::to_columns(b, columns);
    in_order(
        options_.executor, a.size(), b.size(),
        [&](std::size_t i, std::span<std::uint32_t> scratch) -> std::span<const std::uint32_t> {
            return scratch.first(cells::match_box<D, T>(columns.data(), cells::column_stride(b.size()), 0, b.size(),
                                                        a[i], scratch.data()));
        },
        [&](std::size_t i, std::span<const std::uint32_t> row) {
            for (const std::uint32_t j : row) pairs.push({static_cast<std::uint32_t>(i), j});
        });
    pairs.finish();
}

template <int D, class T>
void BruteForce<D, T>::find_neighbors(T radius, NeighborList& out) const {
    cells::check_radius(radius);
    if (holds_boxes_ && size_ != 0) throw Error(ErrorKind::bad_shape, "it holds boxes, and neighbours are of points");
    const cells::NearTest<T> near(radius);
    const std::size_t stride = cells::column_stride(size_);
    cells::BoundedRows rows(out, options_.max_bytes);
    in_order(
        options_.executor, size_, size_,
        [&](std::size_t i, std::span<std::uint32_t> scratch) -> std::span<const std::uint32_t> {
            Vec<D, T> p;
            for (int k = 0; k < D; ++k) p[k] = columns_[static_cast<std::size_t>(k) * stride + i];
            // Around i, so that it is not found itself.
            std::size_t count = cells::match_point<D, T>(columns_.data(), stride, 0, i, p, near, scratch.data());
            count += cells::match_point<D, T>(columns_.data(), stride, i + 1, size_, p, near, scratch.data() + count);
            return scratch.first(count);
        },
        [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
    rows.finish();
}

template <int D, class T>
void BruteForce<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                                      NeighborList& out) const {
    cells::check_radius(radius);
    cells::check_points(queries, options_.executor);
    cells::check_points(points, options_.executor);
    const cells::NearTest<T> near(radius);
    std::vector<T> columns;
    cells::to_columns(points, columns);
    cells::BoundedRows rows(out, options_.max_bytes);
    in_order(
        options_.executor, queries.size(), points.size(),
        [&](std::size_t q, std::span<std::uint32_t> scratch) -> std::span<const std::uint32_t> {
            return scratch.first(cells::match_point<D, T>(columns.data(), cells::column_stride(points.size()), 0,
                                                          points.size(), queries[q], near, scratch.data()));
        },
        [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
    rows.finish();
}

template class BruteForce<2, float>;
template class BruteForce<2, double>;
template class BruteForce<3, float>;
template class BruteForce<3, double>;

}  // namespace quadrat
