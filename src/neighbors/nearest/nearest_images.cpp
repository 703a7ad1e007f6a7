// Rounds of growing radius: the box is surrounded by the images within the radius, every home that is still open is
// searched, and homes that find k are done, for nothing within the radius was missed. Where points are crowded, and for
// the homes that two rounds leave, a tree is searched once per image instead, home by home (best_first.hpp). The exact
// distance goes back to the wrapped points and the shift, as in every search, so the order does not depend on where an
// image happens to be stored.
#include "neighbors/nearest/nearest_images.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/neighbor_list_writer.hpp"
#include "cells/predicate.hpp"
#include "neighbors/nearest/best_first.hpp"
#include "neighbors/nearest/nearest.hpp"
#include "neighbors/nearest/tree_on_demand.hpp"
#include "neighbors/search/walk.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quadrat::neighbors {
namespace {

using detail::NeighborListWriter;

constexpr std::size_t homes_at_once = 2048;
constexpr std::uint64_t segment_entries = std::uint64_t{1} << 22;
constexpr std::size_t most_segments = 8192;

template <class T>
struct FoundImage {
    T distance_sq;
    std::uint32_t index;
    Shift shift;
    friend bool operator<(const FoundImage& a, const FoundImage& b) {
        if (a.distance_sq != b.distance_sq) return a.distance_sq < b.distance_sq;
        if (a.index != b.index) return a.index < b.index;
        return std::lexicographical_compare(a.shift.v, a.shift.v + 3, b.shift.v, b.shift.v + 3);
    }
};

/// Where the rows are: row i has room for k entries in segment i / rows_per_segment.
struct Layout {
    std::size_t rows_per_segment;
    std::uint64_t k;
    Layout(std::size_t rows, std::uint64_t width)
        : rows_per_segment(
              std::max<std::size_t>(std::max<std::uint64_t>(1, segment_entries / width), rows / most_segments + 1)),
          k(width) {}
    [[nodiscard]] std::size_t segments(std::size_t rows) const {
        return std::max<std::size_t>(1, base::chunk_count(rows, rows_per_segment));
    }
    [[nodiscard]] std::size_t segment(std::size_t i) const { return i / rows_per_segment; }
    [[nodiscard]] std::uint64_t begin(std::size_t i) const { return i % rows_per_segment * k; }
};

template <int D, class T>
class Rounds {
  public:
    Rounds(const NearestImages<D, T>& job, NeighborList& out)
        : job_(job), rows_(job.homes.wrapped.size()), layout_(rows_, std::max(job.k, 1u)), counts_(rows_, 0) {
        const std::uint64_t entry = sizeof(std::uint32_t) + sizeof(T) + sizeof(Shift);
        const double need = static_cast<double>(rows_) * (static_cast<double>(job.k) * static_cast<double>(entry) + 8);
        if (need > static_cast<double>(job.max_bytes))
            throw Error(ErrorKind::too_large,
                        "the list of nearest points needs " + std::to_string(rows_ * (job.k * entry + 8)) +
                            " bytes, more than max_bytes (" + std::to_string(job.max_bytes) + ")");
        for (std::size_t i = 0; i < job.points.wrapped.size(); ++i)
            if (job.erased.empty() || !job.erased[i]) reals_.push_back(record(job.points.wrapped[i], i));
        for (std::size_t i = 0; i < rows_; ++i)
            if (job.skipped.empty() || !job.skipped[i]) open_.push_back(record(job.homes.wrapped[i], i));
        NeighborListWriter writer(out, rows_, layout_.segments(rows_),
                                  {.distances = DistanceKind::distance, .scalar_bytes = sizeof(T), .shifts = true});
        try {
            run(writer);
        } catch (...) {
            out.clear();
            throw;
        }
    }

    [[nodiscard]] std::uint64_t tests() const { return tests_; }

  private:
    static Record<D, T> record(const Vec<D, T>& v, std::size_t id) {
        Record<D, T> r;
        for (int k = 0; k < D; ++k) r.v[k] = v[k];
        r.id = static_cast<std::uint32_t>(id);
        return r;
    }

    void run(NeighborListWriter& writer) {
        for (std::size_t s = 0; s < layout_.segments(rows_); ++s) {
            const std::size_t rows = std::min(layout_.rows_per_segment, rows_ - s * layout_.rows_per_segment);
            writer.segment(s).indices.reserve(rows * job_.k);
            writer.segment(s).distances.reserve(rows * job_.k * sizeof(T));
            writer.segment(s).shifts.reserve(rows * job_.k);
        }
        if (reals_.empty()) open_.clear();
        progress_.emplace(job_.watch, open_.size());
        int round = 0;
        for (double radius = open_.empty() ? 0 : first_radius(); !open_.empty(); radius *= 1.5, ++round) {
            const double limit = job_.farthest > T(0) ? static_cast<double>(job_.farthest) : HUGE_VAL;
            const T now = radius < limit ? static_cast<T>(radius) : job_.farthest;
            if (round == 2) search_alone(now, writer);
            if (!open_.empty()) make_cells(now);
            if (round == 0 && crowded(cells_->points.crowding(), job_.k)) search_alone(now, writer);
            if (!open_.empty()) search(now, !(radius < limit), writer);
        }
        progress_->finish();
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            const std::uint64_t begin = layout_.begin(i), count = counts_[i];
            total += count;
            if (NeighborListWriter::fits(begin, count))
                writer.records()[i] = NeighborListWriter::record(layout_.segment(i), begin, count);
            else
                writer.set_wide(i, {begin, count, static_cast<std::uint32_t>(layout_.segment(i))});
        }
        writer.finish(total);
    }

    /// Holds about k images if the points fill the box evenly.
    [[nodiscard]] double first_radius() const {
        double lo[D], hi[D], longest = 0, shortest = HUGE_VAL;
        std::fill_n(lo, D, HUGE_VAL);
        std::fill_n(hi, D, -HUGE_VAL);
        for (const Record<D, T>& r : reals_) {
            Vec<D, T> p;
            std::copy_n(r.v, D, p.v);
            double f[D];
            job_.lattice.fractions(p, f);
            for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], f[k]), hi[k] = std::max(hi[k], f[k]);
        }
        // Open directions have a unit vector: their fractions are lengths.
        double extent[D];
        for (int k = 0; k < D; ++k) {
            extent[k] = job_.lattice.repeats(k) ? job_.lattice.height(k) : hi[k] - lo[k];
            longest = std::max(longest, extent[k]);
            if (!job_.lattice.repeats(k)) continue;
            Shift one{};
            one[k] = 1;
            const Vec<D, T> v = job_.lattice.offset(one);
            double length = 0;
            for (int c = 0; c < D; ++c) length = std::hypot(length, static_cast<double>(v[c]));
            shortest = std::min(shortest, length);
        }
        double volume = 1;
        int dimensions = 0;
        for (int k = 0; k < D; ++k)
            if (job_.lattice.repeats(k) || extent[k] > 1e-3 * longest) volume *= extent[k], ++dimensions;
        const double even = even_radius(volume, dimensions, reals_.size(), expected_count(job_.k));
        // So far away k images of the home itself are found.
        const double certain = (0.5 * static_cast<double>(job_.k) + 1) * shortest;
        return std::min(even, certain);
    }

    /// What can be within `radius` of a home. Homes that lie beyond all of it, in an open direction, are in cells of
    /// its border.
    [[nodiscard]] ImageCells<D, T> cells_within(T radius) const {
        ImageCells<D, T> cells;
        cells.images.wrapped = job_.points.wrapped;
        std::vector<Record<D, T>> all = reals_;
        cells.images.make(job_.lattice, static_cast<double>(radius) * (1 + 1e-5), job_.erased, job_.max_bytes, all);
        T lo[D], hi[D];
        std::copy_n(all[0].v, D, lo);
        std::copy_n(all[0].v, D, hi);
        for (const Record<D, T>& r : all)
            for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], r.v[k]), hi[k] = std::max(hi[k], r.v[k]);
        const Geometry<D, T> geometry(lo, hi, all.size(), static_cast<double>(radius), 0);
        cells.points.build(geometry, std::span<const Record<D, T>>(all), job_.executor);
        cells.points.release_scratch();
        return cells;
    }

    void make_cells(T radius) {
        // Later rounds are for the few that are left.
        cells_ = cells_ ? std::make_shared<const ImageCells<D, T>>(cells_within(radius))
                        : job_.first_round.get(radius, [&] { return cells_within(radius); });
    }

    /// Homes that are still open, one by one. Those for which that is no way stay open.
    void search_alone(T reach, NeighborListWriter& writer) {
        if (job_.farthest > T(0) && !cells::plain_radius(job_.farthest)) return;
        const PointTree<D, T>& tree = job_.tree.get();
        const std::uint32_t* const ids = tree.candidates().ids;
        std::vector<std::uint8_t> done(rows_, 0);
        base::parallel_for(job_.executor, open_.size(), homes_at_once, [&](std::size_t begin, std::size_t end) {
            base::check_stop(job_.watch);
            BestFirst<D, T> best(tree, job_.lattice, job_.farthest, static_cast<double>(reach));
            std::vector<FoundImage<T>> found;
            for (std::size_t h = begin; h < end; ++h) {
                const std::uint32_t i = open_[h].id;
                found.clear();
                for (const auto& hit : best.search(job_.homes.wrapped[i], job_.own ? i : no_self, job_.k))
                    found.push_back({hit.distance_sq, ids[hit.position], best.shift(hit.image)});
                if (!best.complete()) continue;
                keep_nearest(i, found, writer);
                done[i] = 1;
            }
            tests_ += best.tests();
            progress_->done(static_cast<std::size_t>(std::count_if(
                open_.begin() + static_cast<std::ptrdiff_t>(begin), open_.begin() + static_cast<std::ptrdiff_t>(end),
                [&](const Record<D, T>& r) { return done[r.id] != 0; })));
        });
        std::erase_if(open_, [&](const Record<D, T>& r) { return done[r.id] != 0; });
    }

    /// One round; `last`: there is nothing to be found farther away.
    void search(T radius, bool last, NeighborListWriter& writer) {
        const Grid<D, T>& points = cells_->points;
        Grid<D, T> homes;
        homes.build(points.geometry(), std::span<const Record<D, T>>(open_), job_.executor);
        std::vector<std::uint8_t> done(rows_, 0);
        base::parallel_for(job_.executor, homes.size(), homes_at_once, [&](std::size_t begin, std::size_t end) {
            base::check_stop(job_.watch);
            const auto b = static_cast<std::uint32_t>(begin), e = static_cast<std::uint32_t>(end);
            search_chunk(homes, points, b, e, radius, last, writer, done);
            progress_->done(static_cast<std::size_t>(
                std::count_if(homes.ids() + b, homes.ids() + e, [&](std::uint32_t i) { return done[i] != 0; })));
        });
        std::erase_if(open_, [&](const Record<D, T>& r) { return done[r.id] != 0; });
    }

    void search_chunk(const Grid<D, T>& homes, const Grid<D, T>& points, std::uint32_t begin, std::uint32_t end,
                      T radius, bool last, NeighborListWriter& writer, std::vector<std::uint8_t>& done) {
        // Images are stored at rounded places; the exact test decides.
        const T slack = points.geometry().slack + 128 * std::numeric_limits<T>::epsilon() * radius;
        const bool plain = cells::plain_radius(radius) && cells::plain_radius(2 * (radius + slack));
        const Kernel<D, T> kernel = kernel_for<D, T>(plain);
        Walk<D, T> walk(homes, points, Reach<T>{.radius = radius + slack, .plain = plain});
        walk.report_positions();
        const cells::NearTest<T> near(radius);
        std::vector<FoundImage<T>> found;
        base::Array<std::uint32_t> positions;
        std::uint64_t tests = 0;
        walk.template run<false>(begin, end, [&](std::uint32_t first, Group<T>& group) {
            group.self = nobody.data();
            const std::size_t candidates = kernel.cull(group, group.parts[0], 0);
            positions.resize_discard(group.size * (candidates + max_lanes));
            kernel.full(group, candidates, positions.data());
            tests += group.size * candidates;
            const std::uint32_t* entry = positions.data();
            for (unsigned a = 0; a < group.size; ++a) {
                const std::uint32_t i = homes.ids()[first + a];
                gather(i, points, entry, group.count[a], near, found);
                entry += group.count[a];
                if (found.size() < job_.k && !last) continue;
                keep_nearest(i, found, writer);
                done[i] = 1;
            }
        });
        tests_ += tests;
    }

    void gather(std::uint32_t i, const Grid<D, T>& points, const std::uint32_t* positions, std::uint32_t count,
                const cells::NearTest<T>& near, std::vector<FoundImage<T>>& found) const {
        found.clear();
        const Images<D, T>& images = cells_->images;
        const auto real = static_cast<std::uint32_t>(images.wrapped.size());
        const Vec<D, T>& home = job_.homes.wrapped[i];
        for (std::uint32_t e = 0; e < count; ++e) {
            std::uint32_t j = points.ids()[positions[e]];
            Shift shift{};
            if (j >= real) {
                shift = images.shift[j - real];
                j = images.source[j - real];
            } else if (job_.own && j == i) {
                continue;
            }
            const Vec<D, T> offset = job_.lattice.offset(shift);
            T sum = 0;
            for (int k = 0; k < D; ++k) {
                T d = (images.wrapped[j][k] - home[k]) + offset[k];
                if (near.scaled()) d = d * near.scale(0) * near.scale(1);
                sum = k == 0 ? d * d : sum + d * d;
            }
            if (sum <= near.radius_sq()) found.push_back({sum, j, shift});
        }
    }

    void keep_nearest(std::uint32_t i, std::vector<FoundImage<T>>& found, NeighborListWriter& writer) {
        const std::size_t kept = std::min<std::size_t>(job_.k, found.size());
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end());
        store(i, found.data(), kept, writer.segment(layout_.segment(i)));
    }

    void store(std::uint32_t i, const FoundImage<T>* found, std::size_t count, NeighborListWriter::Segment& to) {
        const std::uint64_t begin = layout_.begin(i);
        for (std::size_t e = 0; e < count; ++e) {
            Shift shift = found[e].shift;
            const Vec<D, T> offset = job_.lattice.offset(shift);
            Vec<D, T> d;
            for (int k = 0; k < D; ++k)
                d[k] = (job_.points.wrapped[found[e].index][k] - job_.homes.wrapped[i][k]) + offset[k];
            const T distance = cells::length(d);
            for (int k = 0; k < D; ++k) shift[k] += job_.homes.turns[i][k] - job_.points.turns[found[e].index][k];
            to.indices.data()[begin + e] = found[e].index;
            std::memcpy(to.distances.data() + (begin + e) * sizeof(T), &distance, sizeof(T));
            to.shifts.data()[begin + e] = shift;
        }
        counts_[i] = static_cast<std::uint32_t>(count);
    }

    const NearestImages<D, T>& job_;
    std::size_t rows_;
    Layout layout_;
    std::vector<std::uint32_t> counts_;
    std::vector<Record<D, T>> reals_, open_;
    std::shared_ptr<const ImageCells<D, T>> cells_;  // of this round
    std::atomic<std::uint64_t> tests_{0};
    std::optional<base::TaskProgress> progress_;  // in rows
};

}  // namespace

template <int D, class T>
std::uint64_t ImageRounds<D, T>::list(const NearestImages<D, T>& job, NeighborList& out) {
    QUADRAT_ASSERT(job.k > 0 && job.lattice.active());
    QUADRAT_ASSERT(job.erased.empty() || job.erased.size() == job.points.wrapped.size());
    QUADRAT_ASSERT(job.skipped.empty() || job.skipped.size() == job.homes.wrapped.size());
    return Rounds<D, T>(job, out).tests();
}

template struct ImageRounds<2, float>;
template struct ImageRounds<3, float>;
template struct ImageRounds<2, double>;
template struct ImageRounds<3, double>;

}  // namespace quadrat::neighbors
