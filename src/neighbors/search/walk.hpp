// The walk over home points that every search shares: cut a stretch of sorted homes into groups of close neighbours in
// one row, find the ranges of storage that the balls around a group can touch (ranges.hpp), and hand both to the
// caller. In a dense grid groups are planned in batches (plan.hpp); in a sparse one, and for radii whose squares leave
// the range of the type, one by one.
//
// Where there are several size classes of radii, or a periodic box, a group gets a part for each class and each image
// of the box that it can reach. Nothing is copied for an image: its part is the same grid, seen from the place of the
// homes less the offset of the image.
#pragma once

#include <quadrat/neighbors/radius_rule.hpp>

#include "neighbors/grid/images.hpp"
#include "neighbors/grid/level.hpp"
#include "neighbors/search/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// What a walk searches for.
template <class T>
struct Reach {
    T radius = 0;                       ///< of every home, or added to its own
    const T* radii = nullptr;           ///< by position of the home; null when all are the same
    RadiusRule rule = RadiusRule::own;  ///< with radii: how the home's combines with the largest of a level
    T largest = 0;                      ///< of the level of the homes
    bool plain = true;                  ///< all squares of radii are within range (cells/predicate.hpp)

    /// How far a radius sees. Rules never fall, so no pair of it reaches farther than the one with the largest radius.
    [[nodiscard]] T of(T own, T farthest) const { return radii ? pair_radius(rule, own, farthest) + radius : radius; }
};

/// What may hold neighbours beside the grid of the homes.
template <int D, class T>
struct Around {
    std::span<const Level<D, T>> levels;        ///< all, that of the homes included
    std::size_t own = 0;                        ///< the level whose grid has the cells of the homes
    const Lattice<D, T>* lattice = nullptr;     ///< null in an open world
    bool half = false;                          ///< each pair once
    const std::uint32_t* const* hot = nullptr;  ///< two arrays per level, as Part::hot; null where groups do not matter
};

template <int D, class T>
class Walk {
  public:
    /// homes and points have the same geometry; they may be the same grid. `around` outlives the walk.
    Walk(const Grid<D, T>& homes, const Grid<D, T>& points, const Reach<T>& reach, const Around<D, T>* around = nullptr)
        : homes_(homes), points_(points), geometry_(points.geometry()), reach_(reach), finder_(points) {
        QUADRAT_ASSERT(geometry_.dense == homes.geometry().dense);
        QUADRAT_ASSERT(!around || around->own < around->levels.size());
        parts_.resize(1);
        parts_[0] = part_of(points);
        parts_[0].own = &homes == &points;
        if (around && (around->levels.size() > 1 || around->lattice)) {
            around_ = around;
            for (const Level<D, T>& level : around->levels) finders_.emplace_back(level.grid);
        }
        if (around && reach.radii) parts_[0].radius = around->levels[around->own].radii.data();
        if (around && around->hot) std::copy_n(around->hot + 2 * around->own, 2, parts_[0].hot);
        group_.scratch = &scratch_;
        group_.rule = reach.rule;
        group_.skin = reach.radii ? reach.radius : T(0);
        set_radii(0, reach.radius);
        window_ = geometry_.edge[1] * group_length;
        if (geometry_.dense)
            window_bins_ = static_cast<std::uint32_t>(std::clamp(window_ / geometry_.edge[0], T(1), T(1 << 20)));
    }

    /// Report positions of storage instead of ids.
    void report_positions() { parts_[0].label = nullptr; }

    /// Calls visit(first, group) for every group of homes at [begin, end): homes first .. first + group.size. kHalf:
    /// only points of storage from each home on (homes and points are one grid).
    template <bool kHalf, class Visit>
    void run(std::uint32_t begin, std::uint32_t end, Visit&& visit) {
        if (begin >= end) return;
        QUADRAT_ASSERT(end <= homes_.size() && (!kHalf || &homes_ == &points_));
        typename Grid<D, T>::Row row = homes_.row_at(begin);
        for (std::uint32_t h = begin; h < end;) {
            if (h >= row.end) row = homes_.next_row(row);
            if (geometry_.dense && reach_.plain) {
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
            parts_[0].lo[k] = parts_[0].hi[k] = home[k];
        }
        group_.size = 1;
        group_.self = &self;
        set_radii(0, radius);
        find_ranges<false>(0, 0);
        finish(0, visit);
    }

  private:
    static constexpr T eps = std::numeric_limits<T>::epsilon();
    static constexpr T group_length = 2;  // cells

    static Part<T> part_of(const Grid<D, T>& points) {
        Part<T> p{};
        for (int k = 0; k < D; ++k) p.storage[k] = points.axis(k);
        p.label = points.ids();
        return p;
    }

    template <class Visit>
    void finish(std::uint32_t h, Visit&& visit) {
        parts_[0].range_count = ranges_.used;
        parts_.resize(1);
        if (around_ && !alone_) add_parts();
        // The list of ranges may have moved while it grew.
        const Range* next = ranges_.all.data();
        for (Part<T>& p : parts_) {
            p.ranges = next;
            next += p.range_count;
        }
        scratch_.reserve(candidates_, ranges_.used, parts_.size());
        group_.parts = parts_.data();
        group_.part_count = parts_.size();
        visit(h, group_);
    }

    /// The other levels, and the images of all.
    void add_parts() {
        const Around<D, T>& all = *around_;
        add_images(all.own);
        for (std::size_t level = all.half ? all.own + 1 : 0; level < all.levels.size(); ++level)
            if (level != all.own) add_images(level);
    }

    /// The parts of one level. Of the own one in the half form every second image: each pair is seen from one of its
    /// ends.
    void add_images(std::size_t level) {
        const Around<D, T>& all = *around_;
        if (all.levels[level].grid.size() == 0) return;
        const T radius = reach_.of(group_.largest_own, all.levels[level].largest), longest = lengthened(radius);
        std::int32_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
        if (all.lattice) all.lattice->images_near(parts_[0].lo, parts_[0].hi, static_cast<double>(longest), from, to);
        Shift n{};
        for (n[2] = from[2]; n[2] <= to[2]; ++n[2])
            for (n[1] = from[1]; n[1] <= to[1]; ++n[1])
                for (n[0] = from[0]; n[0] <= to[0]; ++n[0]) {
                    const bool own = level == all.own;
                    const int sign = sign_of(n);
                    if (own && (sign == 0 || (all.half && sign < 0))) continue;
                    add_part(level, n, radius, longest);
                }
    }

    /// Of the last component that is not zero.
    static int sign_of(const Shift& n) {
        for (int k = 2; k >= 0; --k)
            if (n[k] != 0) return n[k] > 0 ? 1 : -1;
        return 0;
    }

    void add_part(std::size_t level, const Shift& n, T radius, T longest) {
        const Around<D, T>& all = *around_;
        Part<T> p = part_of(all.levels[level].grid);
        if (reach_.radii) p.radius = all.levels[level].radii.data();
        if (all.hot) std::copy_n(all.hot + 2 * level, 2, p.hot);
        std::copy_n(n.v, 3, p.n);
        p.cull_sq = radius * radius;
        p.shifted = sign_of(n) != 0;
        T margin = 0;
        if (p.shifted) {
            const Vec<D, T> offset = all.lattice->offset(n);
            std::copy_n(offset.v, D, p.offset);
            // The predicate rounds the difference of the coordinates and then the offset, here it is the other way.
            for (int k = 0; k < D; ++k)
                margin += 32 * eps * (std::abs(offset[k]) + std::abs(parts_[0].lo[k]) + std::abs(parts_[0].hi[k]));
        }
        for (int k = 0; k < D; ++k) {
            p.lo[k] = (parts_[0].lo[k] - p.offset[k]) - margin;
            p.hi[k] = (parts_[0].hi[k] - p.offset[k]) + margin;
        }
        const std::size_t before = ranges_.used;
        candidates_ += finders_[level].template find<false>(p.lo, p.hi, longest, reach_.plain, ranges_);
        p.range_count = ranges_.used - before;
        if (p.range_count > 0) parts_.push_back(p);
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
        for (int k = 0; k < D; ++k) {
            lo[k] = *std::min_element(batch_.lo[k], batch_.lo[k] + count);
            hi[k] = *std::max_element(batch_.hi[k], batch_.hi[k] + count);
        }
        // Most batches lie away from the faces of a periodic box, and are done with it here.
        alone_ = around_ && around_->levels.size() == 1 &&
                 around_->lattice->only_itself_near(lo, hi, static_cast<double>(farthest));
        const std::vector<RowOfCells<T>>& near = finder_.rows(lo, hi, farthest);
        bin_ranges_.resize(near.size());
        // Rows are in the order of storage: the half form starts with the homes' own.
        std::size_t skipped = 0;
        if (kHalf)
            while (near[skipped].number < home_row) ++skipped;
        const std::size_t rows = near.size() - skipped;
        planner_.ranges(batch_, geometry_, near.data() + skipped, rows, bin_ranges_.data());
        for (unsigned g = 0; g < count; ++g) {
            const std::uint32_t first = batch_.first[g];
            if (reach_.radii) set_own_radii(first, batch_.first[g + 1]);
            for (int k = 0; k < D; ++k) {
                group_.home[k] = axes[k] + first;
                parts_[0].lo[k] = batch_.lo[k][g];
                parts_[0].hi[k] = batch_.hi[k][g];
            }
            group_.size = batch_.first[g + 1] - first;
            group_.self = homes_.ids() + first;
            list_ranges<kHalf>(g, first, near.data() + skipped, rows);
            finish(first, visit);
        }
        return h;
    }

    /// The ranges of storage of group g of the batch.
    template <bool kHalf>
    void list_ranges(unsigned g, std::uint32_t first, const RowOfCells<T>* near, std::size_t rows) {
        const std::uint32_t* const start = points_.starts();
        ranges_.used = 0;
        Range* const to = ranges_.room(rows + 1);
        std::size_t n = 0, candidates = 0;
        bool open = true;
        for (std::size_t r = 0; r < rows; ++r) {
            const std::uint32_t b = kHalf && r == 0 ? first : start[bin_ranges_[r].from[g]];
            const std::uint32_t e = start[bin_ranges_[r].to[g]];
            to[n] = {b, e};
            n += b < e;
            candidates += e - b;
            const std::uint32_t read = b + (e - b + max_lanes - 1) / max_lanes * max_lanes;
            open = open && (b >= e || read <= near[r].end);
        }
        ranges_.used = n;
        candidates_ = candidates;
        parts_[0].open_ended = open;
    }

    [[nodiscard]] static T lengthened(T radius) { return radius * (1 + 64 * eps) + std::numeric_limits<T>::min(); }

    void set_radii(unsigned a, T radius) {
        QUADRAT_ASSERT(radius >= T(0));
        for (; a < max_group; ++a) group_.radius[a] = radius, group_.radius_sq[a] = radius * radius;
        parts_[0].cull_sq = radius * radius;
        longest_ = lengthened(radius);
    }

    /// Makes the group of homes from h on that lie within a window of x, and its box.
    unsigned take(std::uint32_t h, std::uint32_t end) {
        Part<T>& own = parts_[0];
        const unsigned most = std::min<std::uint32_t>(planner_.most_homes, end - h);
        const T* c[D];
        for (int k = 0; k < D; ++k) {
            c[k] = homes_.axis(k) + h;
            group_.home[k] = c[k];
            own.lo[k] = own.hi[k] = c[k][0];
        }
        unsigned size = 1;
        for (; size < most; ++size) {
            const T x = c[0][size];
            const T lo = std::min(own.lo[0], x), hi = std::max(own.hi[0], x);
            if (!(hi - lo <= window_)) break;
            own.lo[0] = lo, own.hi[0] = hi;
            for (int k = 1; k < D; ++k) {
                own.lo[k] = std::min(own.lo[k], c[k][size]);
                own.hi[k] = std::max(own.hi[k], c[k][size]);
            }
        }
        group_.size = size;
        group_.self = homes_.ids() + h;
        if (reach_.radii) set_own_radii(h, h + size);
        return size;
    }

    /// The radii of the homes at [h, end), which are a group; returns how far the longest reaches.
    T set_own_radii(std::uint32_t h, std::uint32_t end) {
        QUADRAT_ASSERT(reach_.radii && h < end && end - h <= max_group);
        const T largest = *std::max_element(reach_.radii + h, reach_.radii + end);
        set_radii(end - h, reach_.of(largest, reach_.largest));
        for (std::uint32_t p = h; p < end; ++p) {
            const T r = reach_.of(reach_.radii[p], reach_.largest);
            group_.radius[p - h] = r;
            group_.radius_sq[p - h] = r * r;
        }
        group_.largest_own = largest;
        group_.own_radius = uses_other(reach_.rule) ? reach_.radii + h : nullptr;
        return longest_;
    }

    template <bool kHalf>
    void find_ranges(std::uint32_t h, std::uint32_t home_row) {
        ranges_.used = 0;
        alone_ = false;
        parts_[0].open_ended = false;
        candidates_ =
            finder_.template find<kHalf>(parts_[0].lo, parts_[0].hi, longest_, reach_.plain, ranges_, h, home_row);
    }

    const Grid<D, T>& homes_;
    const Grid<D, T>& points_;
    const Geometry<D, T>& geometry_;
    Reach<T> reach_;
    const Around<D, T>* around_ = nullptr;  // null where the points are all there is
    RangeFinder<D, T> finder_;
    std::vector<RangeFinder<D, T>> finders_;  // by level
    typename Grid<D, T>::Row row_{0, 0, 0};
    Scratch<T> scratch_;
    Group<T> group_{};
    std::vector<Part<T>> parts_;
    const Planner<D, T> planner_ = vector_planners().template get<D, T>();
    Batch<T> batch_{};
    RangeList ranges_;
    std::vector<BinRanges> bin_ranges_;
    std::size_t candidates_ = 0;
    T longest_ = 0, window_ = 0;
    std::uint32_t window_bins_ = 1;
    bool alone_ = false;  // no image and no other level can reach the group
};

}  // namespace quadrat::neighbors
