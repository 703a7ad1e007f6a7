// One box or point against columns of many: the SIMD kernels that BruteForce is made of, and that other structures use
// on contiguous runs of candidates.
#pragma once

#include "cells/predicate.hpp"

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::cells {

/// Columns are padded to a multiple of this with NaN, which no test accepts.
inline constexpr std::size_t column_padding = 16;
[[nodiscard]] constexpr std::size_t column_stride(std::size_t n) {
    return (n + column_padding - 1) / column_padding * column_padding + column_padding;
}

/// 2 D columns of column_stride(n) values each: lo of axis 0, 1, .., hi of axis 0, 1, ...
template <int D, class T>
void to_columns(std::span<const Box<D, T>> boxes, std::vector<T>& columns);
/// D columns.
template <int D, class T>
void to_columns(std::span<const Vec<D, T>> points, std::vector<T>& columns);

/// Writes the positions j in [begin, size of the columns) whose box overlaps `query`, ascending; returns how many.
/// `out` has room for all.
template <int D, class T>
std::size_t match_box(const T* columns, std::size_t stride, std::size_t begin, std::size_t end, const Box<D, T>& query,
                      std::uint32_t* out);
/// The same for points near `query`.
template <int D, class T>
std::size_t match_point(const T* columns, std::size_t stride, std::size_t begin, std::size_t end,
                        const Vec<D, T>& query, const NearTest<T>& near, std::uint32_t* out);

}  // namespace quadrat::cells
