// Neighbour lists as they are written: compressed rows in input order, each row sorted, half lists with every pair in
// the row of the smaller index. Structures may give rows in any order; files must not depend on the structure.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "cells/predicate.hpp"
#include "io/checksum.hpp"

namespace quadrat::cli {

enum class RowSort { by_index, as_given };

/// Arrays that were not asked for are empty. Vectors and shifts have D numbers per entry.
template <class T>
struct NeighborRows {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> indices;
    std::vector<T> distances, vectors;
    std::vector<std::int32_t> shifts;
};

/// The sum over all entries: (i, j) as they are, or the smaller index first in half lists.
[[nodiscard]] inline std::uint64_t neighbor_checksum(const NeighborList& list, bool half) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto a = static_cast<std::uint32_t>(i);
        for (const std::uint32_t j : list[i]) sum += half && j < a ? io::mix_pair(j, a) : io::mix_pair(a, j);
    }
    return sum;
}

namespace detail {

/// An entry of a list: where it stands, and whether it goes to the row of the other point, with its signs turned.
template <class T>
struct PlacedEntry {
    std::uint32_t row, index;
    std::uint32_t at;
    bool turned;
    T distance;
    Shift shift;
};

}  // namespace detail

template <int D, class T>
[[nodiscard]] NeighborRows<T> sorted_rows(const NeighborList& list, bool half, RowSort sort, bool with_distances) {
    using Entry = detail::PlacedEntry<T>;
    const std::size_t n = list.size();
    NeighborRows<T> rows;
    rows.offsets.assign(n + 1, 0);
    const auto owner = [&](std::size_t i, std::uint32_t j) {
        return half && j < i ? j : static_cast<std::uint32_t>(i);
    };
    for (std::size_t i = 0; i < n; ++i)
        for (const std::uint32_t j : list[i]) ++rows.offsets[owner(i, j) + std::size_t{1}];
    for (std::size_t i = 0; i < n; ++i) rows.offsets[i + 1] += rows.offsets[i];
    std::vector<std::int64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
    std::vector<Entry> entries(list.entries());
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::span<const std::uint32_t> row = list[i];
        for (std::uint32_t e = 0; e < row.size(); ++e) {
            const std::uint32_t a = owner(i, row[e]);
            Entry entry{i, a == i ? row[e] : i, e, a != i, T(0), Shift{}};
            if (!list.distances<T>(i).empty()) entry.distance = list.distances<T>(i)[e];
            if (list.has_shifts()) entry.shift = list.shifts(i)[e];
            for (int k = 0; k < 3 && entry.turned; ++k) entry.shift[k] = -entry.shift[k];
            entries[static_cast<std::size_t>(next[a]++)] = entry;
        }
    }
    if (sort == RowSort::by_index)
        for (std::size_t i = 0; i < n; ++i)
            std::sort(entries.begin() + rows.offsets[i], entries.begin() + rows.offsets[i + 1],
                      [](const Entry& a, const Entry& b) {
                          if (a.index != b.index) return a.index < b.index;
                          if (a.distance != b.distance) return a.distance < b.distance;
                          return std::lexicographical_compare(a.shift.v, a.shift.v + 3, b.shift.v, b.shift.v + 3);
                      });
    for (const Entry& entry : entries) {
        rows.indices.push_back(entry.index);
        if (with_distances) rows.distances.push_back(entry.distance);
        for (int k = 0; k < D && list.has_shifts(); ++k) rows.shifts.push_back(entry.shift[k]);
        if (!list.has_vectors()) continue;
        const Vec<D, T> v = list.vectors<D, T>(entry.row)[entry.at];
        for (int k = 0; k < D; ++k) rows.vectors.push_back(entry.turned ? -v[k] + T(0) : v[k]);
    }
    return rows;
}

/// For structures that give no distances: |x_j - x_i|, rounded operation by operation.
template <int D, class T>
void fill_distances(NeighborRows<T>& rows, std::span<const Vec<D, T>> points) {
    rows.distances.resize(rows.indices.size());
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i)
        for (std::int64_t e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
            const Vec<D, T>& other = points[rows.indices[static_cast<std::size_t>(e)]];
            Vec<D, T> d;
            for (int k = 0; k < D; ++k) d[k] = other[k] - points[i][k];
            rows.distances[static_cast<std::size_t>(e)] = cells::length(d);
        }
}

}  // namespace quadrat::cli
