// The k nearest of a stretch of homes in an open world whose points are spread about evenly. A group of homes is
// searched with a radius a little beyond what the group before it needed, and a home that finds fewer than k is asked
// again, alone, with more. Every point within the radius is seen, so k of them are the k nearest. A home that still
// lacks some lies outside of the points or in a hole between them: there a tree takes over (alone.hpp).
#pragma once

#include "base/array.hpp"
#include "neighbors/nearest/alone.hpp"
#include "neighbors/nearest/rank.hpp"
#include "neighbors/nearest/tree_on_demand.hpp"
#include "neighbors/search/walk.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace quadrat::neighbors {

/// What is asked of whom.
template <int D, class T>
struct NearestJob {
    const Grid<D, T>& homes;
    const Grid<D, T>& points;                  ///< in the same cells; the same grid if `own`
    bool own;                                  ///< homes are the points: a home is not its own neighbour
    std::uint32_t k;                           ///< at least 1
    T first;                                   ///< a radius that holds about k points
    T farthest;                                ///< 0: no limit
    double diameter;                           ///< nothing is farther from anything
    const TreeOnDemand<D, T>* tree = nullptr;  ///< of the same points; null if squares of `farthest` leave the range
};

template <int D, class T>
class NearestSearch {
  public:
    explicit NearestSearch(const NearestJob<D, T>& job)
        : homes_(job.homes),
          points_(job.points),
          own_(job.own),
          k_(job.k),
          first_(job.first),
          farthest_(job.farthest),
          diameter_(job.diameter),
          tree_(job.tree),
          kernel_(vector_kernels().template get<D, T>()),
          ranking_(candidates_of(job.points), job.farthest) {
        QUADRAT_ASSERT(k_ > 0 && first_ > T(0));
    }

    /// Rows of the homes at [begin, end): up to k sorted entries each, row(place, found). Returns the number of
    /// distance tests.
    template <class Row>
    std::uint64_t run(std::uint32_t begin, std::uint32_t end, Row&& row) {
        T radius = first_;
        Walk<D, T> walk(homes_, points_, Reach<T>{.radius = limited(radius)});
        walk.report_positions();
        Walk<D, T> wider(homes_, points_, Reach<T>{.radius = limited(radius)});
        wider.report_positions();
        const std::uint32_t wanted = std::min(k_, points_.size() - (own_ ? 1u : 0u));
        for (std::uint32_t h = begin; h < end;) {
            T next = 0;
            // One group at a time: the radius follows the density.
            walk.set_radius(limited(radius));
            h += walk.run_group(h, end, [&](std::uint32_t first, Group<T>& group) {
                measure(first, group);
                std::size_t at = 0;
                for (unsigned a = 0; a < group.size; ++a) {
                    const std::uint32_t count = group.count[a];
                    bool typical = true;
                    std::span<const Found<T>> found =
                        ranking_.rank(distances_.data() + at, positions_.data() + at, count, wanted);
                    if (found.empty()) {
                        gather(first + a, positions_.data() + at, count);
                        found = ranking_.gathered() < wanted && limited(radius) < limit()
                                    ? widen(wider, first + a, radius, wanted, typical)
                                    : ranking_.nearest(k_);
                    }
                    at += count;
                    row(first + a, found);
                    if (typical && found.size() == wanted && wanted > 0)
                        next = std::max(next, static_cast<T>(found.back().distance_sq));
                }
            });
            if (next > T(0)) radius = std::sqrt(next) * beyond_last;
        }
        return tests_ + (alone_ ? alone_->tests() : 0);
    }

  private:
    // How the radius follows the density; none of it decides what is found. A third more room in 3D, a fifth in 2D,
    // than the farthest neighbour of the group before needed: density changes little from group to group.
    static constexpr T beyond_last = T(1.1);
    // A home that found too few lacks a few: twice the room in 3D. From then on about twice the room each time (2D; 2.7
    // times in 3D), so that all tries in vain together cost about as much as the last one.
    static constexpr double wider_once = 1.25, wider_again = 1.4;

    static Candidates<D, T> candidates_of(const Grid<D, T>& points) {
        Candidates<D, T> c;
        for (int k = 0; k < D; ++k) c.axes[k] = points.axis(k);
        c.ids = points.ids();
        return c;
    }
    [[nodiscard]] T limit() const { return farthest_ > T(0) ? farthest_ : std::numeric_limits<T>::infinity(); }
    [[nodiscard]] T limited(T radius) const {
        const T most = static_cast<T>(std::min(2 * diameter_ + 1, 0x1p59));
        return std::max(std::min(std::min(radius, limit()), most), T(0x1p-58));
    }

    /// Squared distances and positions of all that a group has within its radius.
    void measure(std::uint32_t first, Group<T>& group) {
        std::uint32_t self[max_group];
        for (unsigned a = 0; a < group.size; ++a) self[a] = own_ ? first + a : no_self;
        group.self = self;
        const std::size_t candidates = kernel_.cull(group, group.parts[0], 0);
        const std::size_t room = group.size * (candidates + max_lanes);
        distances_.resize_discard(room);
        positions_.resize_discard(room);
        kernel_.measure(group, candidates, distances_.data(), positions_.data());
        tests_ += group.size * candidates;
    }

    void gather(std::uint32_t place, const std::uint32_t* positions, std::uint32_t count) {
        ranking_.gather(homes_.point(place), own_ ? homes_.ids()[place] : no_self, positions, count);
    }

    /// Asks again for one home with growing radii; in the end every point is looked at, where there is no tree.
    /// typical: set to false if no radius that is typical of the points found enough.
    std::span<const Found<T>> widen(Walk<D, T>& walk, std::uint32_t place, T radius, std::size_t wanted,
                                    bool& typical) {
        base::Array<std::uint32_t> positions;
        const Vec<D, T> home = homes_.point(place);
        int round = 0;
        for (double r = static_cast<double>(radius) * wider_once;; r *= wider_again) {
            if (round++ == rounds_by_radius && tree_) {
                typical = false;
                if (!alone_) alone_.emplace(tree_->get(), farthest_);
                return alone_->row(home, own_ ? homes_.ids()[place] : no_self, k_);
            }
            if (r > diameter_ || r > 0x1p58) {
                if (farthest_ > T(0) && static_cast<double>(farthest_) < r)
                    r = static_cast<double>(farthest_);
                else {
                    positions.resize_discard(points_.size());
                    std::iota(positions.begin(), positions.end(), 0u);
                    gather(place, positions.data(), points_.size());
                    tests_ += points_.size();
                    return ranking_.nearest(k_);
                }
            }
            const T now = limited(static_cast<T>(r));
            walk.run_one(home, now, no_self, [&](std::uint32_t, Group<T>& group) {
                const std::size_t candidates = kernel_.cull(group, group.parts[0], 0);
                positions.resize_discard(candidates + max_lanes);
                kernel_.full(group, candidates, positions.data());
                tests_ += candidates;
                gather(place, positions.data(), group.count[0]);
            });
            if (ranking_.gathered() >= wanted || static_cast<T>(r) >= limit()) return ranking_.nearest(k_);
        }
    }

    // At the border of the points a home has half a ball of them: twice the volume finds k.
    static constexpr int rounds_by_radius = 2;

    const Grid<D, T>& homes_;
    const Grid<D, T>& points_;
    bool own_;
    std::uint32_t k_;
    T first_, farthest_;
    double diameter_;
    const TreeOnDemand<D, T>* tree_;
    std::optional<AloneSearch<D, T>> alone_;  // once a home needs it
    Kernel<D, T> kernel_;
    std::uint64_t tests_ = 0;
    base::Array<T> distances_;
    base::Array<std::uint32_t> positions_;
    Ranking<D, T> ranking_;
};

}  // namespace quadrat::neighbors
