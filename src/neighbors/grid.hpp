// Points sorted by cell: Cell Indexing (Onderik & Durikovic 2008, section 4.2) with the cells of a row side by side, so
// that a range of x is one range of storage. A cell is (slab, row, bin): z and y cells of at least about the radius, x
// bins a quarter of it; in 2D the rows are the y cells. The quantiser of each axis is a clamped monotone function, and
// a search asks it for the cells of a coordinate range: nothing can be missed, however the coordinates round (the
// paper's +-1 cells of exactly h can miss).
//
// Two forms, chosen by counts alone. Dense: one table entry per cell, when that is a few per point. Sorted: only rows
// that hold points, in order, each with a table for its own span of x that has at most two bins per point; one point
// far away or clusters far apart cost nothing. Keys are wide: three numbers of 64 bits, sorted by the bytes that
// differ.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include "base/array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// How coordinates become cells. Axis 0 is x; row() is y in 3D; slab() is the last axis.
template <int D, class T>
struct Geometry {
    static constexpr int row_axis = 1;
    static constexpr int slab_axis = D - 1;

    bool dense = true;
    T lo[D] = {};
    T inverse[D] = {};           ///< 1 / edge
    T edge[D] = {};              ///< x: width of a bin
    std::int64_t cells[D] = {};  ///< dense: how many along each axis
    T last[D] = {};              ///< cells - 1
    T slack = 0;                 ///< more than any rounding error of a cell border

    /// Cell borders for points within lo..hi, of which there are n, and a typical search radius. subdivision: cells per
    /// radius along y and z (the paper's H); 0 chooses.
    Geometry() = default;
    Geometry(const T* bounds_lo, const T* bounds_hi, std::size_t n, double radius, unsigned subdivision);

    /// Monotone in v. Dense: in [0, cells).
    [[nodiscard]] std::uint32_t dense_cell(T v, int axis) const {
        const T q = (v - lo[axis]) * inverse[axis];
        const T low = q > T(0) ? q : T(0);
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(low < last[axis] ? low : last[axis]));
    }
    /// Monotone in v; in [0, 2^62].
    [[nodiscard]] std::int64_t sorted_cell(T v, int axis) const {
        const double q = (static_cast<double>(v) - static_cast<double>(lo[axis])) * static_cast<double>(inverse[axis]);
        if (!(q > 0)) return 0;
        return q < 0x1p62 ? static_cast<std::int64_t>(q) : std::int64_t{1} << 62;
    }
    [[nodiscard]] std::int64_t cell(T v, int axis) const { return dense ? dense_cell(v, axis) : sorted_cell(v, axis); }

    /// No point of cell c lies below this, none above upper(c).
    [[nodiscard]] T lower(std::int64_t c, int axis) const;
    [[nodiscard]] T upper(std::int64_t c, int axis) const;
};

/// A row of the sorted form.
struct SortedRow {
    std::int64_t slab;
    std::int64_t row;
    std::int64_t first_bin;
    std::uint32_t begin;  ///< position of its first point
    std::uint32_t table;  ///< of its first bin in starts()
    std::uint32_t bins;   ///< how many; bin b of the axis is at (b - first_bin) >> shift
    std::uint32_t shift;
};

/// Where the points come from: a plain array, whose positions are the ids, or records.
template <int D, class T>
struct Record {
    T v[D];
    std::uint32_t id;
};

template <int D, class T>
class Grid {
  public:
    /// Sorts the points by (slab, row, bin, order given). All coordinates are finite; their number is below 2^32 - 1.
    void build(const Geometry<D, T>& geometry, std::span<const Vec<D, T>> points, Executor* executor);
    void build(const Geometry<D, T>& geometry, std::span<const Record<D, T>> records, Executor* executor);
    /// The same points, ids 0 to size() - 1, moved: sorted in the cells of last time if they are dense and few points
    /// change theirs. Otherwise false, and build() has to follow.
    [[nodiscard]] bool update(std::span<const Vec<D, T>> points, Executor* executor);

    [[nodiscard]] const Geometry<D, T>& geometry() const { return geometry_; }
    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] const T* axis(int k) const { return c_[k].data(); }
    [[nodiscard]] const std::uint32_t* ids() const { return id_.data(); }
    [[nodiscard]] const std::uint32_t* starts() const { return start_.data(); }
    [[nodiscard]] std::span<const SortedRow> sorted_rows() const { return rows_; }
    [[nodiscard]] std::uint64_t bytes() const;

    /// The first row with points at or after position p, and its end. Dense: rows are numbered slab * rows + row.
    struct Row {
        std::uint32_t number;
        std::uint32_t begin, end;
    };
    [[nodiscard]] Row row_at(std::uint32_t p) const;
    [[nodiscard]] Row next_row(const Row& row) const;

  private:
    template <class Source>
    void build_dense(const Source& source, Executor* executor);
    template <class Source>
    void build_sorted(const Source& source);
    /// The dense form is sorted in parts of 2^shift rows that fit the second-level cache.
    struct Parts {
        std::size_t count = 1, rows = 1, bins = 1;
        unsigned shift = 0;
    };
    [[nodiscard]] Parts make_parts() const;
    void sort_part(const Parts& parts, std::size_t p, std::uint32_t begin, std::span<const Record<D, T>> records);
    void cut_part(const Parts& parts, std::size_t p, std::uint32_t begin, std::span<const Record<D, T>> records);
    void finish();
    [[nodiscard]] bool stays(const Vec<D, T>& v, std::uint32_t position) const;
    [[nodiscard]] std::uint32_t dense_row(const T* v) const;

    Geometry<D, T> geometry_;
    std::uint32_t size_ = 0;
    base::Array<T> c_[D];
    base::Array<std::uint32_t> id_;
    base::Array<std::uint32_t> start_;
    std::vector<SortedRow> rows_;
    base::Array<Record<D, T>> records_;  // scratch of build()
    base::Array<T> next_c_[D];           // scratch of update(); only one of both has memory
    base::Array<std::uint32_t> next_id_;
};

}  // namespace quadrat::neighbors
