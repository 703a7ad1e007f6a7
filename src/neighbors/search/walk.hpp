// The walk over home points that every search shares: cut a stretch of sorted homes into groups of close neighbours in
// one row, find the ranges of storage that the balls around a group can touch, and hand both to the caller. A row of
// cells at a lateral distance g from the group's box can only hold neighbours within sqrt(r^2 - g^2) of it along x: the
// H-mask of Onderik & Durikovic 2008 (eq. 16, in its corrected form) with a continuous x. In a dense grid groups are
// planned in batches (plan.hpp); in a sparse one, and for radii whose squares leave the range of the type, one by one.
#pragma once

#include <quadrat/neighbors/radius_rule.hpp>

#include "neighbors/grid/grid.hpp"
#include "neighbors/search/kernel.hpp"
#include "neighbors/search/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace quadrat::neighbors {

/// What a walk searches for.
template <class T>
struct Reach {
    T radius = 0;                       ///< of every home, or added to its own
    const T* radii = nullptr;           ///< by id of the home; null when all are the same
    RadiusRule rule = RadiusRule::own;  ///< with radii: how a home's own combines with `largest`, the largest of all
    T largest = 0;
    bool plain = true;  ///< all squares of radii are within range (cells/predicate.hpp)

    /// How far a home sees. Rules never fall, so no pair of it reaches farther than the one with the largest radius.
    [[nodiscard]] T of(std::uint32_t id) const {
        return radii ? pair_radius(rule, radii[id], largest) + radius : radius;
    }
};

template <int D, class T, bool kDense>
class Walk {
  public:
    /// homes and points have the same geometry; they may be the same grid.
    Walk(const Grid<D, T>& homes, const Grid<D, T>& points, const Reach<T>& reach)
        : homes_(homes), points_(points), geometry_(points.geometry()), reach_(reach) {
        QUADRAT_ASSERT(kDense == geometry_.dense && kDense == homes.geometry().dense);
        for (int k = 0; k < 3; ++k) group_.storage[k] = k < D ? points.axis(k) : nullptr;
        group_.label = points.ids();
        group_.scratch = &scratch_;
        set_radii(0, reach.radius);
        window_ = geometry_.edge[1] * group_length;
        if (kDense)
            window_bins_ = static_cast<std::uint32_t>(std::clamp(window_ / geometry_.edge[0], T(1), T(1 << 20)));
    }

    /// Report positions of storage instead of ids.
    void report_positions() { group_.label = nullptr; }

    /// Calls visit(first, group) for every group of homes at [begin, end): homes first .. first + group.size. kHalf:
    /// only points of storage from each home on (homes and points are one grid).
    template <bool kHalf, class Visit>
    void run(std::uint32_t begin, std::uint32_t end, Visit&& visit) {
        if (begin >= end) return;
        QUADRAT_ASSERT(end <= homes_.size() && (!kHalf || &homes_ == &points_));
        typename Grid<D, T>::Row row = homes_.row_at(begin);
        for (std::uint32_t h = begin; h < end;) {
            if (h >= row.end) row = homes_.next_row(row);
            if (kDense && reach_.plain) {
                h = run_batch<kHalf>(h, std::min(row.end, end), row.number, visit);
                continue;
            }
            const unsigned size = take(h, std::min(row.end, end));
            find_ranges<kHalf>(h, row.number);
            finish(h, visit);
            h += size;
        }
    }

    /// The first group of homes at [h, end) alone; returns its size.
    template <class Visit>
    unsigned run_group(std::uint32_t h, std::uint32_t end, Visit&& visit) {
        QUADRAT_ASSERT(h < end && end <= homes_.size());
        if (h < row_.begin || h >= row_.end) row_ = homes_.row_at(h);
        const unsigned size = take(h, std::min(row_.end, end));
        find_ranges<false>(h, row_.number);
        finish(h, visit);
        return size;
    }
    /// From now on every home has this radius.
    void set_radius(T radius) { set_radii(0, radius); }

    /// The same for one home that is in no grid. `self` is left out.
    template <class Visit>
    void run_one(const Vec<D, T>& home, T radius, std::uint32_t self, Visit&& visit) {
        for (int k = 0; k < D; ++k) {
            group_.home[k] = &home.v[k];
            group_.lo[k] = group_.hi[k] = home[k];
        }
        group_.size = 1;
        group_.self = &self;
        set_radii(0, radius);
        find_ranges<false>(0, 0);
        finish(0, visit);
    }

  private:
    static constexpr T eps = std::numeric_limits<T>::epsilon();

    template <class Visit>
    void finish(std::uint32_t h, Visit&& visit) {
        QUADRAT_ASSERT(range_count_ <= ranges_.size());
        scratch_.reserve(candidates_, range_count_);
        group_.ranges = ranges_.data();
        group_.range_count = range_count_;
        visit(h, group_);
    }

    /// Plans and visits the groups of a batch of homes from h on, all of one row; returns where it ends.
    template <bool kHalf, class Visit>
    std::uint32_t run_batch(std::uint32_t h, std::uint32_t end, std::uint32_t home_row, Visit&& visit) {
        const auto bins = static_cast<std::uint32_t>(geometry_.count[0]);
        const std::uint32_t* const home_start = homes_.starts() + std::size_t{home_row} * bins;
        T farthest = 0;
        unsigned count = 0;
        for (; h < end && count < Batch<T>::most; ++count) {
            const std::uint32_t past = geometry_.dense_cell(homes_.axis(0)[h], 0) + window_bins_;
            const std::uint32_t limit = std::min(end, past < bins ? home_start[past] : end);
            batch_.first[count] = h;
            h += std::min<std::uint32_t>(planner_.most_homes, limit - h);
            batch_.longest[count] = reach_.radii ? set_own_radii(batch_.first[count], h) : longest_;
            farthest = std::max(farthest, batch_.longest[count]);
        }
        batch_.first[count] = h;
        batch_.count = count;
        QUADRAT_ASSERT(count > 0);
        const T* axes[3] = {homes_.axis(0), homes_.axis(1), homes_.axis(D - 1)};
        planner_.boxes(batch_, axes);

        T lo[D], hi[D];
        for (int k = 1; k < D; ++k) {
            lo[k] = *std::min_element(batch_.lo[k], batch_.lo[k] + count);
            hi[k] = *std::max_element(batch_.hi[k], batch_.hi[k] + count);
        }
        find_rows(lo, hi, farthest);
        // Rows are in the order of storage: the half form starts with the homes' own.
        std::size_t skipped = 0;
        if (kHalf)
            while (rows_[skipped].number < home_row) ++skipped;
        const std::size_t rows = rows_.size() - skipped;
        planner_.ranges(batch_, geometry_, rows_.data() + skipped, rows, bin_ranges_.data());
        for (unsigned g = 0; g < count; ++g) {
            const std::uint32_t first = batch_.first[g];
            if (reach_.radii) set_own_radii(first, batch_.first[g + 1]);
            for (int k = 0; k < D; ++k) {
                group_.home[k] = axes[k] + first;
                group_.lo[k] = batch_.lo[k][g];
                group_.hi[k] = batch_.hi[k][g];
            }
            group_.size = batch_.first[g + 1] - first;
            group_.self = homes_.ids() + first;
            list_ranges<kHalf>(g, first, skipped, rows);
            finish(first, visit);
        }
        return h;
    }

    /// The ranges of storage of group g of the batch.
    template <bool kHalf>
    void list_ranges(unsigned g, std::uint32_t first, std::size_t skipped, std::size_t rows) {
        const std::uint32_t* const start = points_.starts();
        std::size_t n = 0, candidates = 0;
        bool open = true;
        for (std::size_t r = 0; r < rows; ++r) {
            const std::uint32_t b = kHalf && r == 0 ? first : start[bin_ranges_[r].from[g]];
            const std::uint32_t e = start[bin_ranges_[r].to[g]];
            ranges_[n] = {b, e};
            n += b < e;
            candidates += e - b;
            const std::uint32_t read = b + (e - b + max_lanes - 1) / max_lanes * max_lanes;
            open = open && (b >= e || read <= rows_[skipped + r].end);
        }
        range_count_ = n;
        candidates_ = candidates;
        group_.open_ended = open;
    }

    void set_radii(unsigned a, T radius) {
        QUADRAT_ASSERT(radius >= T(0));
        for (; a < max_group; ++a) group_.radius[a] = radius, group_.radius_sq[a] = radius * radius;
        group_.cull_sq = radius * radius;
        longest_ = radius * (1 + 64 * eps) + std::numeric_limits<T>::min();
        longest_sq_ = longest_ * longest_;
    }

    /// Makes the group of homes from h on that lie within a window of x, and its box.
    unsigned take(std::uint32_t h, std::uint32_t end) {
        const unsigned most = std::min<std::uint32_t>(planner_.most_homes, end - h);
        const T* c[D];
        for (int k = 0; k < D; ++k) {
            c[k] = homes_.axis(k) + h;
            group_.home[k] = c[k];
            group_.lo[k] = group_.hi[k] = c[k][0];
        }
        unsigned size = 1;
        for (; size < most; ++size) {
            const T x = c[0][size];
            const T lo = std::min(group_.lo[0], x), hi = std::max(group_.hi[0], x);
            if (!(hi - lo <= window_)) break;
            group_.lo[0] = lo, group_.hi[0] = hi;
            for (int k = 1; k < D; ++k) {
                group_.lo[k] = std::min(group_.lo[k], c[k][size]);
                group_.hi[k] = std::max(group_.hi[k], c[k][size]);
            }
        }
        group_.size = size;
        group_.self = homes_.ids() + h;
        group_.open_ended = false;
        if (reach_.radii) set_own_radii(h, h + size);
        return size;
    }

    /// The radii of the homes at [h, end), which are a group; returns how far the longest reaches.
    T set_own_radii(std::uint32_t h, std::uint32_t end) {
        T largest = 0;
        for (std::uint32_t p = h; p < end; ++p) largest = std::max(largest, reach_.of(homes_.ids()[p]));
        set_radii(end - h, largest);
        for (std::uint32_t p = h; p < end; ++p) {
            const T r = reach_.of(homes_.ids()[p]);
            group_.radius[p - h] = r;
            group_.radius_sq[p - h] = r * r;
        }
        return longest_;
    }

    [[nodiscard]] std::int64_t cell(T v, int axis) const {
        if constexpr (kDense) return geometry_.dense_cell(v, axis);
        return geometry_.sparse_cell(v, axis);
    }

    template <bool kHalf>
    void find_ranges(std::uint32_t h, std::uint32_t home_row) {
        find_rows(group_.lo, group_.hi, longest_);
        const std::uint32_t* const start = points_.starts();
        const bool trim = reach_.plain;
        std::size_t n = 0;
        for (const RowOfCells<T>& row : rows_) {
            if (kHalf && row.number < home_row) continue;
            T across = 0;
            for (int k = 1; k < D; ++k) {
                const T gap = std::max(std::max(row.lo[k - 1] - group_.hi[k], group_.lo[k] - row.hi[k - 1]), T(0));
                across += gap * gap;
            }
            T along = longest_;
            if (trim) {
                const T rest = longest_sq_ - across;
                if (!(rest >= T(0))) continue;
                along = std::sqrt(rest);
            }
            along += geometry_.slack;
            std::int64_t from = cell(group_.lo[0] - along, 0), to = cell(group_.hi[0] + along, 0) + 1;
            if constexpr (!kDense) {
                if (to <= row.first_bin) continue;
                from = std::min<std::int64_t>(std::max<std::int64_t>(from - row.first_bin, 0) >> row.shift, row.bins);
                to = std::min<std::int64_t>(((to - 1 - row.first_bin) >> row.shift) + 1, row.bins);
            }
            const std::uint32_t* const table = start + row.table;
            const std::uint32_t b = kHalf && row.number == home_row ? h : table[from], e = table[to];
            ranges_[n] = {b, e};
            n += b < e;
        }
        range_count_ = n;
        candidates_ = 0;
        for (std::size_t k = 0; k < n; ++k) candidates_ += ranges_[k].end - ranges_[k].begin;
    }

    /// The rows of cells within reach of what lies between lo and hi.
    void find_rows(const T* lo, const T* hi, T reach) {
        const T far = reach + geometry_.slack;
        std::int64_t low[2] = {0, 0}, high[2] = {0, 0};
        for (int k = 1; k < D; ++k) {
            low[k - 1] = cell(lo[k] - far, k);
            high[k - 1] = cell(hi[k] + far, k);
        }
        if (!std::equal(low, low + 2, low_) || !std::equal(high, high + 2, high_)) list_rows(low, high);
    }

    /// The rows of cells within [low, high], in the order of storage.
    void list_rows(const std::int64_t* low, const std::int64_t* high) {
        std::copy(low, low + 2, low_);
        std::copy(high, high + 2, high_);
        rows_.clear();
        if constexpr (kDense) {
            const std::int64_t per_layer = geometry_.count[1];
            for (std::int64_t layer = low[1]; layer <= high[1]; ++layer)
                for (std::int64_t row = low[0]; row <= high[0]; ++row) {
                    const std::int64_t number = layer * per_layer + row;
                    add_row(layer, row, number, static_cast<std::size_t>(number * geometry_.count[0]), 0, 0, 0);
                }
        } else {
            const std::span<const SparseRow> all = points_.sparse_rows();
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
        ranges_.resize(rows_.size() + 1);
        if (kDense) bin_ranges_.resize(rows_.size());
    }

    void add_row(std::int64_t layer, std::int64_t row, std::int64_t number, std::size_t table, std::int64_t first_bin,
                 std::uint32_t bins, std::uint32_t shift) {
        RowOfCells<T> r{};
        r.lo[0] = geometry_.lower(row, 1), r.hi[0] = geometry_.upper(row, 1);
        if constexpr (D == 3) r.lo[1] = geometry_.lower(layer, 2), r.hi[1] = geometry_.upper(layer, 2);
        r.number = static_cast<std::uint32_t>(number);
        r.table = table, r.first_bin = first_bin, r.bins = bins, r.shift = shift;
        if (kDense) r.end = points_.starts()[table + static_cast<std::size_t>(geometry_.count[0])];
        rows_.push_back(r);
    }

    static constexpr T group_length = 2;  // cells

    const Grid<D, T>& homes_;
    const Grid<D, T>& points_;
    const Geometry<D, T>& geometry_;
    Reach<T> reach_;
    typename Grid<D, T>::Row row_{0, 0, 0};
    Scratch<T> scratch_;
    Group<T> group_{};
    const Planner<D, T> planner_ = vector_planners().template get<D, T>();
    Batch<T> batch_;
    std::vector<Range> ranges_;  // one more than rows_
    std::vector<BinRanges> bin_ranges_;
    std::size_t range_count_ = 0, candidates_ = 0;
    std::vector<RowOfCells<T>> rows_;
    std::int64_t low_[2] = {-1, -1}, high_[2] = {-1, -1};
    T longest_ = 0, longest_sq_ = 0, window_ = 0;
    std::uint32_t window_bins_ = 1;
};

}  // namespace quadrat::neighbors
