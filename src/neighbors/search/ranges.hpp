// Which ranges of storage can hold neighbours of what lies in a box. A row of cells at a lateral distance g from the
// box can only hold neighbours within sqrt(r^2 - g^2) of it along x: the H-mask of Onderik & Durikovic 2008 (eq. 16, in
// its corrected form) with a continuous x.
#pragma once

#include "neighbors/grid/grid.hpp"
#include "neighbors/search/kernel.hpp"
#include "neighbors/search/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quadrat::neighbors {

/// Ranges are written into a vector that only grows, so that nothing is filled with zeros twice.
struct RangeList {
    std::vector<Range> all;
    std::size_t used = 0;

    /// Room for so many more behind those in use.
    Range* room(std::size_t more) {
        if (used + more > all.size()) all.resize((used + more) * 2 + 16);
        return all.data() + used;
    }
};

template <int D, class T>
class RangeFinder {
  public:
    explicit RangeFinder(const Grid<D, T>& points) : points_(&points), geometry_(&points.geometry()) {}

    /// The rows of cells within reach of what lies between lo and hi, in the order of storage.
    const std::vector<RowOfCells<T>>& rows(const T* lo, const T* hi, T reach) {
        QUADRAT_ASSERT(reach >= T(0));
        const T far = reach + geometry_->slack;
        std::int64_t low[2] = {0, 0}, high[2] = {0, 0};
        for (int k = 1; k < D; ++k) {
            low[k - 1] = geometry_->cell(lo[k] - far, k);
            high[k - 1] = geometry_->cell(hi[k] + far, k);
        }
        if (!std::equal(low, low + 2, low_) || !std::equal(high, high + 2, high_)) list_rows(low, high);
        return rows_;
    }

    /// Appends the ranges within reach of the box; returns how many points they hold. trim: squares of the reach are
    /// within range. kHalf: only from position `first` on, which lies in row `first_row`.
    template <bool kHalf>
    std::size_t find(const T* lo, const T* hi, T reach, bool trim, RangeList& out, std::uint32_t first = 0,
                     std::uint32_t first_row = 0) {
        rows(lo, hi, reach);
        Range* const to = out.room(rows_.size() + 1);
        const std::uint32_t* const start = points_->starts();
        const T reach_sq = reach * reach;
        std::size_t n = 0, candidates = 0;
        for (const RowOfCells<T>& row : rows_) {
            if (kHalf && row.number < first_row) continue;
            T across = 0;
            for (int k = 1; k < D; ++k) {
                const T gap = std::max(std::max(row.lo[k - 1] - hi[k], lo[k] - row.hi[k - 1]), T(0));
                across += gap * gap;
            }
            T along = reach;
            if (trim) {
                const T rest = reach_sq - across;
                if (!(rest >= T(0))) continue;
                along = std::sqrt(rest);
            }
            along += geometry_->slack;
            std::int64_t from = geometry_->cell(lo[0] - along, 0), past = geometry_->cell(hi[0] + along, 0) + 1;
            if (!geometry_->dense) {
                if (past <= row.first_bin) continue;
                from = std::min<std::int64_t>(std::max<std::int64_t>(from - row.first_bin, 0) >> row.shift, row.bins);
                past = std::min<std::int64_t>(((past - 1 - row.first_bin) >> row.shift) + 1, row.bins);
            }
            const std::uint32_t* const table = start + row.table;
            const std::uint32_t b = kHalf && row.number == first_row ? first : table[from], e = table[past];
            to[n] = {b, e};
            if (b >= e) continue;
            ++n;
            candidates += e - b;
        }
        out.used += n;
        return candidates;
    }

  private:
    /// The rows of cells within [low, high].
    void list_rows(const std::int64_t* low, const std::int64_t* high) {
        std::copy(low, low + 2, low_);
        std::copy(high, high + 2, high_);
        rows_.clear();
        if (geometry_->dense) {
            const std::int64_t per_layer = geometry_->count[1];
            for (std::int64_t layer = low[1]; layer <= high[1]; ++layer)
                for (std::int64_t row = low[0]; row <= high[0]; ++row) {
                    const std::int64_t number = layer * per_layer + row;
                    add_row(layer, row, number, static_cast<std::size_t>(number * geometry_->count[0]), 0, 0, 0);
                }
            return;
        }
        const std::span<const SparseRow> all = points_->sparse_rows();
        const auto before = [](const SparseRow& a, std::pair<std::int64_t, std::int64_t> b) {
            return a.layer != b.first ? a.layer < b.first : a.row < b.second;
        };
        auto it = std::lower_bound(all.begin(), all.end(), std::pair(low[1], low[0]), before);
        while (it != all.end() && it->layer <= high[1]) {
            if (it->row < low[0]) {
                it = std::lower_bound(it, all.end(), std::pair(it->layer, low[0]), before);
            } else if (it->row > high[0]) {
                it = std::lower_bound(it, all.end(), std::pair(it->layer + 1, low[0]), before);
            } else {
                add_row(it->layer, it->row, it - all.begin(), it->table, it->first_bin, it->bins, it->shift);
                ++it;
            }
        }
    }

    void add_row(std::int64_t layer, std::int64_t row, std::int64_t number, std::size_t table, std::int64_t first_bin,
                 std::uint32_t bins, std::uint32_t shift) {
        RowOfCells<T> r{};
        r.lo[0] = geometry_->lower(row, 1), r.hi[0] = geometry_->upper(row, 1);
        if constexpr (D == 3) r.lo[1] = geometry_->lower(layer, 2), r.hi[1] = geometry_->upper(layer, 2);
        r.number = static_cast<std::uint32_t>(number);
        r.table = table, r.first_bin = first_bin, r.bins = bins, r.shift = shift;
        if (geometry_->dense) r.end = points_->starts()[table + static_cast<std::size_t>(geometry_->count[0])];
        rows_.push_back(r);
    }

    const Grid<D, T>* points_;
    const Geometry<D, T>* geometry_;
    std::vector<RowOfCells<T>> rows_;
    std::int64_t low_[2] = {-1, -1}, high_[2] = {-1, -1};
};

}  // namespace quadrat::neighbors
