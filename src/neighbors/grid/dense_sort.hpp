// The sort of the dense form. One pass cuts the points by row into parts that fit the second-level cache, then each
// part is counting-sorted by (row, bin) on its own, with the table of cell starts as its counters; parts that are too
// long are cut once more. All passes are stable, so the order inside a cell is the order of the input for any number of
// threads.
#pragma once

#include "neighbors/grid/grid.hpp"

#include <span>
#include <vector>

namespace quadrat::neighbors {

inline constexpr std::size_t part_size = 16384;  ///< points that one counting sort should see: a quarter of a megabyte
inline constexpr std::size_t max_parts = 64;     ///< streams that one pass can write to without losing its caches

/// The dense form is sorted in parts of 2^shift rows.
struct GridParts {
    std::size_t count = 1, rows = 1, bins = 1;
    unsigned shift = 0;

    template <int D, class T>
    [[nodiscard]] static GridParts of(const GridStore<D, T>& store);
    /// The first cell of part p; of part `count`, the number of cells.
    [[nodiscard]] std::size_t first_cell(std::size_t p) const {
        const std::size_t row = p << shift;
        return (row < rows ? row : rows) * bins;
    }
};

template <int D, class T>
class DenseSort {
  public:
    /// Fills `to`, whose geometry is set and dense. `scratch` is kept by the caller for the next time.
    DenseSort(GridStore<D, T>& to, base::Array<Record<D, T>>& scratch, Executor* executor)
        : to_(to), records_(scratch), executor_(executor) {}

    void sort(std::span<const Vec<D, T>> points);
    void sort(std::span<const Record<D, T>> records);

  private:
    using Parts = GridParts;
    template <class Source>
    void sort_source(const Source& source);
    /// Cuts the source into records_ by part; returns where each part begins, and the end.
    template <class Source>
    [[nodiscard]] std::vector<std::uint32_t> cut(const Source& source, const Parts& parts);
    void sort_part(const Parts& parts, std::size_t p, std::uint32_t begin, std::span<const Record<D, T>> records);
    void cut_part(const Parts& parts, std::size_t p, std::uint32_t begin, std::span<const Record<D, T>> records);

    GridStore<D, T>& to_;
    base::Array<Record<D, T>>& records_;
    Executor* executor_;
};

template <int D, class T>
GridParts GridParts::of(const GridStore<D, T>& store) {
    GridParts parts;
    parts.bins = static_cast<std::size_t>(store.geometry.count[0]);
    for (int k = 1; k < D; ++k) parts.rows *= static_cast<std::size_t>(store.geometry.count[k]);
    const std::size_t most = store.size / part_size;
    const std::size_t wanted = most < 1 ? 1 : most > max_parts ? max_parts : most;
    while ((parts.rows - 1) >> parts.shift >= wanted) ++parts.shift;
    parts.count = ((parts.rows - 1) >> parts.shift) + 1;
    return parts;
}

}  // namespace quadrat::neighbors
