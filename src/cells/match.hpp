// One box or point against columns of many: the SIMD kernels that BruteForce is made of, and that other structures use
// on contiguous runs of candidates.
#pragma once

#include "base/assert.hpp"
#include "base/kinds.hpp"
#include "cells/predicate.hpp"

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::cells {

/// Columns are padded to a multiple of this with NaN, which no test accepts.
inline constexpr std::size_t column_padding = 16;
[[nodiscard]] constexpr std::size_t column_stride(std::size_t n) {
    return (n + column_padding - 1) / column_padding * column_padding + column_padding;
}

namespace detail {

template <std::size_t columns_per, class T, class Item>
void fill_columns(std::span<const Item> items, std::vector<T>& columns) {
    static_assert(sizeof(Item) == columns_per * sizeof(T));
    const std::size_t stride = column_stride(items.size());
    columns.assign(columns_per * stride, std::numeric_limits<T>::quiet_NaN());
    const T* from = items.empty() ? nullptr : reinterpret_cast<const T*>(items.data());
    for (std::size_t i = 0; i < items.size(); ++i)
        for (std::size_t c = 0; c < columns_per; ++c) columns[c * stride + i] = from[i * columns_per + c];
}

}  // namespace detail

/// 2 D columns of column_stride(n) values each: lo of axis 0, 1, .., hi of axis 0, 1, ...
template <int D, class T>
void to_columns(std::span<const Box<D, T>> boxes, std::vector<T>& columns) {
    detail::fill_columns<2 * D>(boxes, columns);
}
/// D columns.
template <int D, class T>
void to_columns(std::span<const Vec<D, T>> points, std::vector<T>& columns) {
    detail::fill_columns<D>(points, columns);
}

/// The vector code of match.cpp for one kind.
template <int D, class T>
struct MatchKernel {
    /// Writes the positions j in [begin, end) whose box overlaps `query`, ascending; returns how many. `out` has room
    /// for end - begin and one vector more.
    std::size_t (*box)(const T* columns, std::size_t stride, std::size_t begin, std::size_t end, const Box<D, T>& query,
                       std::uint32_t* out);
    /// The same for points near `query`.
    std::size_t (*point)(const T* columns, std::size_t stride, std::size_t begin, std::size_t end,
                         const Vec<D, T>& query, const NearTest<T>& near, std::uint32_t* out);
};
[[nodiscard]] const base::PerKind<MatchKernel>& match_kernels();

template <int D, class T>
std::size_t match_box(const T* columns, std::size_t stride, std::size_t begin, std::size_t end, const Box<D, T>& query,
                      std::uint32_t* out) {
    QUADRAT_ASSERT(begin <= end && end <= stride);
    return match_kernels().get<D, T>().box(columns, stride, begin, end, query, out);
}
template <int D, class T>
std::size_t match_point(const T* columns, std::size_t stride, std::size_t begin, std::size_t end,
                        const Vec<D, T>& query, const NearTest<T>& near, std::uint32_t* out) {
    QUADRAT_ASSERT(begin <= end && end <= stride);
    return match_kernels().get<D, T>().point(columns, stride, begin, end, query, near, out);
}

}  // namespace quadrat::cells
