// The room of the sorted points: what the other rooms of neighbors/ use is Geometry, Grid and Images, and the state of
// the index the keys of cells; how a grid is sorted (dense_sort, dense_move, sparse_sort) stays in here.
//
// Points sorted by cell: Cell Indexing (Onderik & Durikovic 2008, section 4.2) with the cells of a row side by side, so
// that a range of x is one range of storage.
//
// Two forms, chosen by counts alone. Dense: one table entry per cell, when that is a few per point. Sparse: only rows
// that hold points, in order, each with a table for its own span of x that has at most two bins per point; one point
// far away or clusters far apart cost nothing. Keys are wide: three numbers of 64 bits, sorted by the bytes that
// differ.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include "base/array.hpp"
#include "neighbors/grid/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// A row of the sparse form.
struct SparseRow {
    std::int64_t layer;
    std::int64_t row;
    std::int64_t first_bin;
    std::uint32_t begin;  ///< position of its first point
    std::uint32_t table;  ///< of its first bin in starts()
    std::uint32_t bins;   ///< how many; bin b of the axis is at (b - first_bin) >> shift
    std::uint32_t shift;
};

/// A point and the id under which it is reported.
template <int D, class T>
struct Record {
    T v[D];
    std::uint32_t id;
};

/// What a grid holds: written by the sorts, read through Grid.
template <int D, class T>
struct GridStore {
    /// Room past the end that vector code may read.
    static constexpr std::size_t pad = 16;

    Geometry<D, T> geometry;
    std::uint32_t size = 0;
    base::Array<T> c[D];               ///< coordinates in the order of cells, `pad` more that are near nobody
    base::Array<std::uint32_t> id;     ///< `pad` more
    base::Array<std::uint32_t> start;  ///< dense: of each cell, and the end; sparse: row by row
    std::vector<SparseRow> rows;       ///< sparse only

    /// Room for n points, whose coordinates are indeterminate.
    void resize_discard(std::size_t n);
    /// Fills what follows the last point.
    void seal();
    /// Dense: layer * rows + row.
    [[nodiscard]] std::uint32_t dense_row(const T* v) const {
        std::uint32_t row = geometry.dense_cell(v[1], 1);
        if constexpr (D == 3) row += geometry.dense_cell(v[2], 2) * static_cast<std::uint32_t>(geometry.count[1]);
        return row;
    }
};

template <int D, class T>
class Grid {
  public:
    /// Sorts the points by (layer, row, bin, order given). All coordinates are finite; their number is below 2^32 - 1.
    /// Ids are the positions in the array, or those of the records.
    void build(const Geometry<D, T>& geometry, std::span<const Vec<D, T>> points, Executor* executor);
    void build(const Geometry<D, T>& geometry, std::span<const Record<D, T>> records, Executor* executor);
    /// The same points, ids 0 to size() - 1, moved: sorted in the cells of last time if they are dense and few points
    /// change theirs. Otherwise false, and build() has to follow.
    [[nodiscard]] bool update(std::span<const Vec<D, T>> points, Executor* executor);

    /// Gives back what only the next build or update would use.
    void release_scratch() {
        records_.release();
        next_ = {};
    }

    [[nodiscard]] const Geometry<D, T>& geometry() const { return store_.geometry; }
    [[nodiscard]] std::uint32_t size() const { return store_.size; }
    [[nodiscard]] const T* axis(int k) const { return store_.c[k].data(); }
    [[nodiscard]] const std::uint32_t* ids() const { return store_.id.data(); }
    [[nodiscard]] const std::uint32_t* starts() const { return store_.start.data(); }
    [[nodiscard]] std::span<const SparseRow> sparse_rows() const { return store_.rows; }
    [[nodiscard]] Vec<D, T> point(std::uint32_t p) const {
        Vec<D, T> v;
        for (int k = 0; k < D; ++k) v[k] = store_.c[k][p];
        return v;
    }
    [[nodiscard]] std::uint64_t bytes() const;
    /// With how many points, itself included, a point shares its bin on average.
    [[nodiscard]] double crowding() const;

    /// The first row with points at or after position p, and its end. Dense: rows are numbered layer * rows + row.
    struct Row {
        std::uint32_t number;
        std::uint32_t begin, end;
    };
    [[nodiscard]] Row row_at(std::uint32_t p) const;
    [[nodiscard]] Row next_row(const Row& row) const { return row_at(row.end); }

  private:
    GridStore<D, T> store_;
    base::Array<Record<D, T>> records_;  // scratch of build()
    GridStore<D, T> next_;               // scratch of update(); only one of both has memory
};

}  // namespace quadrat::neighbors
