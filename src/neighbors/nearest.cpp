// The k nearest points. Cells are made for the distance within which k points are expected; a group of homes is
// searched with a radius a little beyond what the group before it needed, and a home that finds fewer than k is asked
// again, alone, with more. Every point within the radius is seen, so k of them are the k nearest. The places of the
// found are counted, each against all, in vector code, which for a few dozen is faster than any sorting; many, equal
// distances at the border of the row, and squares below the range of the type are sorted one by one.
#include <quadrat/neighbors/cell_index.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/neighbor_list_writer.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"
#include "neighbors/nearest_images.hpp"
#include "neighbors/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace quadrat {
namespace {

using detail::NeighborListWriter;
using neighbors::Grid;
using neighbors::Group;
using neighbors::Kernel;
using neighbors::Walk;

constexpr std::size_t nearest_chunk = 4096;

/// Squares that leave the range of T are kept in a wider type, so that they still have an order.
template <class T>
struct Found {
    using Wide = std::conditional_t<sizeof(T) == sizeof(float), double, long double>;
    Wide distance_sq;
    std::uint32_t index;
    friend bool operator<(const Found& a, const Found& b) {
        return a.distance_sq != b.distance_sq ? a.distance_sq < b.distance_sq : a.index < b.index;
    }
};

/// A radius that holds about `count` of n points that fill the box evenly.
template <int D, class T>
T typical_radius(const T* lo, const T* hi, std::size_t n, double count) {
    double volume = 1, longest = 0;
    int dimensions = 0;
    for (int k = 0; k < D; ++k) longest = std::max(longest, static_cast<double>(hi[k]) - static_cast<double>(lo[k]));
    for (int k = 0; k < D; ++k) {
        const double extent = static_cast<double>(hi[k]) - static_cast<double>(lo[k]);
        if (extent > 1e-3 * longest) volume *= extent, ++dimensions;
    }
    const double ball = dimensions == 3 ? 4.18879 : dimensions == 2 ? 3.14159 : 2;
    double radius = longest > 0 ? std::pow(volume * count / (static_cast<double>(n) * ball), 1.0 / dimensions) : 1;
    if (!(radius > 0x1p-50 * longest)) radius = longest > 0 ? 0x1p-50 * longest : 1;
    return static_cast<T>(std::clamp(radius, 0x1p-58, 0x1p58));
}

template <int D, class T, bool kDense>
class NearestSearch {
  public:
    NearestSearch(const Grid<D, T>& homes, const Grid<D, T>& points, bool own, std::uint32_t k, T first, T farthest,
                  double diameter)
        : homes_(homes),
          points_(points),
          own_(own),
          k_(k),
          first_(first),
          farthest_(farthest),
          diameter_(diameter),
          kernel_(neighbors::vector_kernel<D, T>()) {}

    /// Rows of the homes at [begin, end): up to k sorted entries each, row(place, found, count). Returns the number of
    /// distance tests.
    template <class Row>
    std::uint64_t run(std::uint32_t begin, std::uint32_t end, Row&& row) {
        T radius = first_;
        std::vector<Found<T>> found;
        Walk<D, T, kDense> walk(homes_, points_, neighbors::Reach<T>{.radius = limited(radius)});
        walk.report_positions();
        Walk<D, T, kDense> wider(homes_, points_, neighbors::Reach<T>{.radius = limited(radius)});
        wider.report_positions();
        const std::uint32_t wanted = std::min(k_, points_.size() - (own_ ? 1u : 0u));
        found.resize(ranked_at_most);
        for (std::uint32_t h = begin; h < end;) {
            T next = 0;
            // One group at a time: the radius follows the density.
            walk.set_radius(limited(radius));
            const auto visit = [&](std::uint32_t first, Group<T>& group) {
                std::uint32_t self[neighbors::max_group];
                for (unsigned a = 0; a < group.size; ++a) self[a] = own_ ? first + a : neighbors::no_self;
                group.self = self;
                const std::size_t candidates = kernel_.cull(group);
                const std::size_t room = group.size * (candidates + neighbors::max_lanes);
                distances_.resize_discard(room);
                positions_.resize_discard(room);
                kernel_.measure(group, candidates, distances_.data(), positions_.data());
                tests_ += group.size * candidates;
                std::size_t at = 0;
                for (unsigned a = 0; a < group.size; ++a) {
                    const std::uint32_t count = group.count[a];
                    std::size_t kept = rank(distances_.data() + at, positions_.data() + at, count, wanted, found);
                    if (kept == 0) {
                        gather(first + a, positions_.data() + at, count, found);
                        if (found.size() < wanted && limited(radius) < limit())
                            widen(wider, first + a, radius, wanted, found);
                        kept = std::min<std::size_t>(k_, found.size());
                        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept),
                                          found.end());
                    }
                    at += count;
                    row(first + a, found.data(), static_cast<std::uint32_t>(kept));
                    if (kept == wanted && kept > 0) next = std::max(next, static_cast<T>(found[kept - 1].distance_sq));
                    if (found.size() < ranked_at_most) found.resize(ranked_at_most);
                }
            };
            h += walk.run_group(h, end, visit);
            if (next > T(0)) radius = std::sqrt(next) * T(1.1);
        }
        return tests_;
    }

  private:
    static constexpr std::uint32_t ranked_at_most = 160;

    [[nodiscard]] T limit() const { return farthest_ > T(0) ? farthest_ : std::numeric_limits<T>::infinity(); }
    [[nodiscard]] T limited(T radius) const {
        const T most = static_cast<T>(std::min(2 * diameter_ + 1, 0x1p59));
        return std::max(std::min(std::min(radius, limit()), most), T(0x1p-58));
    }

    /// The `wanted` nearest of so many, sorted; 0 if that is better left to gather().
    std::size_t rank(const T* distances_sq, const std::uint32_t* positions, std::uint32_t count, std::uint32_t wanted,
                     std::vector<Found<T>>& found) {
        if (count < wanted || count > ranked_at_most || wanted == 0 || limit() < T(0x1p-58)) return 0;
        std::copy_n(distances_sq, count, values_);
        kernel_.rank(values_, count, ranks_);
        // Equals share a rank: they take the places after it.
        std::uint32_t within = 0;
        std::uint64_t taken[ranked_at_most / 64 + 1] = {};
        bool equal = false;
        for (std::uint32_t e = 0; e < count; ++e) {
            std::uint32_t place = ranks_[e];
            if (place >= wanted) continue;
            if (++within > wanted || values_[e] < std::numeric_limits<T>::min()) return 0;
            while (taken[place / 64] >> (place % 64) & 1) ++place, equal = true;
            taken[place / 64] |= std::uint64_t{1} << (place % 64);
            found[place] = {static_cast<typename Found<T>::Wide>(values_[e]), points_.ids()[positions[e]]};
        }
        if (equal) std::sort(found.begin(), found.begin() + wanted);
        return wanted;
    }

    void gather(std::uint32_t place, const std::uint32_t* positions, std::uint32_t count,
                std::vector<Found<T>>& found) const {
        found.clear();
        const std::uint32_t self = own_ ? homes_.ids()[place] : neighbors::no_self;
        const cells::NearTest<T> near(farthest_ > T(0) ? farthest_ : T(1));
        Vec<D, T> home, other;
        for (int k = 0; k < D; ++k) home[k] = homes_.axis(k)[place];
        for (std::uint32_t e = 0; e < count; ++e) {
            const std::uint32_t p = positions[e], j = points_.ids()[p];
            if (j == self) continue;
            T sum = 0;
            typename Found<T>::Wide wide = 0;
            for (int k = 0; k < D; ++k) {
                other[k] = points_.axis(k)[p];
                const T d = other[k] - home[k];
                sum = k == 0 ? d * d : sum + d * d;
                wide += static_cast<decltype(wide)>(d) * static_cast<decltype(wide)>(d);
            }
            if (farthest_ > T(0) && !near(other, home)) continue;
            const bool in_range = sum >= std::numeric_limits<T>::min() && sum <= std::numeric_limits<T>::max();
            found.push_back({in_range ? static_cast<decltype(wide)>(sum) : wide, j});
        }
    }

    /// Asks again for one home with growing radii; in the end every point is looked at.
    void widen(Walk<D, T, kDense>& walk, std::uint32_t place, T radius, std::size_t wanted,
               std::vector<Found<T>>& found) {
        base::Array<std::uint32_t> positions;
        Vec<D, T> home;
        for (int k = 0; k < D; ++k) home[k] = homes_.axis(k)[place];
        for (double r = static_cast<double>(radius) * 1.25;; r *= 1.4) {
            if (r > diameter_ || r > 0x1p58) {
                if (farthest_ > T(0) && static_cast<double>(farthest_) < r)
                    r = static_cast<double>(farthest_);
                else {
                    positions.resize_discard(points_.size());
                    std::iota(positions.begin(), positions.end(), 0u);
                    gather(place, positions.data(), points_.size(), found);
                    tests_ += points_.size();
                    return;
                }
            }
            const T now = limited(static_cast<T>(r));
            walk.run_one(home, now, neighbors::no_self, [&](std::uint32_t, Group<T>& group) {
                const std::size_t candidates = kernel_.cull(group);
                positions.resize_discard(candidates + neighbors::max_lanes);
                kernel_.full(group, candidates, positions.data());
                tests_ += candidates;
                gather(place, positions.data(), group.count[0], found);
            });
            if (found.size() >= wanted || static_cast<T>(r) >= limit()) return;
        }
    }

    const Grid<D, T>& homes_;
    const Grid<D, T>& points_;
    bool own_;
    std::uint32_t k_;
    T first_, farthest_;
    double diameter_;
    Kernel<T> kernel_;
    std::uint64_t tests_ = 0;
    base::Array<T> distances_;
    base::Array<std::uint32_t> positions_;
    T values_[ranked_at_most + neighbors::max_lanes];
    std::uint32_t ranks_[ranked_at_most + neighbors::max_lanes];
};

/// The root of a square in T, or of one that T does not hold.
template <class T>
T root(typename Found<T>::Wide square) {
    using Wide = typename Found<T>::Wide;
    const bool in_range = square >= static_cast<Wide>(std::numeric_limits<T>::min()) &&
                          square <= static_cast<Wide>(std::numeric_limits<T>::max());
    return in_range ? std::sqrt(static_cast<T>(square)) : static_cast<T>(std::sqrt(square));
}

/// Returns the number of distance tests.
template <int D, class T>
std::uint64_t list_nearest(const Grid<D, T>& homes, const Grid<D, T>& points, bool own, std::size_t rows,
                           std::uint32_t k, T first, T farthest, Executor* executor, std::uint64_t max_bytes,
                           NeighborList& out) {
    const std::size_t grain = std::max<std::size_t>(nearest_chunk, homes.size() / 8192 + 1);
    const std::size_t chunks = base::chunk_count(homes.size(), grain);
    const std::uint64_t need = std::uint64_t{rows} * (std::uint64_t{std::min(k, points.size())} * (4 + sizeof(T)) + 8);
    if (need > max_bytes)
        throw Error(ErrorKind::too_large, "the list of nearest points needs " + std::to_string(need) +
                                              " bytes, more than max_bytes (" + std::to_string(max_bytes) + ")");
    NeighborListWriter writer(out, rows, std::max<std::size_t>(chunks, 1),
                              {.distances = DistanceKind::distance, .scalar_bytes = sizeof(T)});
    std::uint64_t* const records = writer.records();
    if (homes.size() < rows) std::fill_n(records, rows, NeighborListWriter::record(0, 0, 0));
    std::vector<std::uint64_t> entries(chunks, 0);
    struct Wide {
        std::uint32_t row;
        NeighborListWriter::WideRow place;
    };
    std::vector<std::vector<Wide>> wide(chunks);
    std::atomic<std::uint64_t> tests{0};
    double diameter = 0;
    for (int axis = 0; axis < D && homes.size() > 0 && points.size() > 0; ++axis) {
        const auto [lo, hi] = std::minmax_element(points.axis(axis), points.axis(axis) + points.size());
        const auto [a, b] = std::minmax_element(homes.axis(axis), homes.axis(axis) + homes.size());
        diameter += 1.01 * (static_cast<double>(std::max(*hi, *b)) - static_cast<double>(std::min(*lo, *a)));
    }
    base::parallel_for(executor, homes.size(), grain, [&](std::size_t begin, std::size_t end) {
        const std::size_t c = begin / grain;
        auto& segment = writer.segment(c);
        const std::size_t most = (end - begin) * std::min<std::size_t>(k, points.size());
        segment.indices.reserve(most);
        segment.distances.reserve(most * sizeof(T));
        std::uint64_t used = 0;
        const auto row = [&](std::uint32_t place, const Found<T>* found, std::uint32_t count) {
            for (std::uint32_t e = 0; e < count; ++e) {
                segment.indices.data()[used + e] = found[e].index;
                const T distance = root<T>(found[e].distance_sq);
                std::memcpy(segment.distances.data() + (used + e) * sizeof(T), &distance, sizeof(T));
            }
            const std::uint32_t id = homes.ids()[place];
            if (NeighborListWriter::fits(used, count)) [[likely]]
                records[id] = NeighborListWriter::record(c, used, count);
            else
                wide[c].push_back({id, {used, count, static_cast<std::uint32_t>(c)}});
            used += count;
        };
        const auto b = static_cast<std::uint32_t>(begin), e = static_cast<std::uint32_t>(end);
        if (points.geometry().dense)
            tests += NearestSearch<D, T, true>(homes, points, own, k, first, farthest, diameter).run(b, e, row);
        else
            tests += NearestSearch<D, T, false>(homes, points, own, k, first, farthest, diameter).run(b, e, row);
        entries[c] = used;
    });
    for (const auto& rows_of_chunk : wide)
        for (const Wide& w : rows_of_chunk) writer.set_wide(w.row, w.place);
    writer.finish(std::accumulate(entries.begin(), entries.end(), std::uint64_t{0}));
    return tests;
}

}  // namespace

template <int D, class T>
void CellIndex<D, T>::find_nearest(std::uint32_t k, NeighborList& out, T max_distance) const {
    find_nearest_in(nullptr, k, out, max_distance);
}

template <int D, class T>
void CellIndex<D, T>::find_nearest(std::span<const Vec<D, T>> queries, std::uint32_t k, NeighborList& out,
                                   T max_distance) const {
    out.clear();
    cells::check_count(queries.size());
    cells::check_points(queries, state_->options.executor);
    find_nearest_in(&queries, k, out, max_distance);
}

template <int D, class T>
void CellIndex<D, T>::find_nearest_in(const std::span<const Vec<D, T>>* queries, std::uint32_t k, NeighborList& out,
                                      T max_distance) const {
    const State& s = *state_;
    out.clear();
    if (k == 0) throw Error(ErrorKind::bad_value, "k is at least 1", Where{.field = "k"});
    if (max_distance != T(0)) cells::check_radius(max_distance, "max_distance");
    if (s.periodic()) {
        neighbors::Images<D, T> others;
        if (queries) others.wrap(s.lattice, *queries);
        const std::span<const std::uint8_t> erased = s.erased;
        s.tests = neighbors::list_nearest_images<D, T>({.lattice = s.lattice,
                                                        .points = s.images,
                                                        .erased = erased,
                                                        .homes = queries ? others : s.images,
                                                        .skipped = queries ? std::span<const std::uint8_t>() : erased,
                                                        .own = !queries,
                                                        .k = k,
                                                        .farthest = max_distance,
                                                        .executor = s.options.executor,
                                                        .max_bytes = s.max_bytes()},
                                                       out);
        return;
    }
    const std::size_t rows = queries ? queries->size() : s.slots;
    // Cells of the size that this question needs.
    std::vector<neighbors::Record<D, T>> records(s.points.size());
    for (std::uint32_t p = 0; p < s.points.size(); ++p) {
        for (int axis = 0; axis < D; ++axis) records[p].v[axis] = s.points.axis(axis)[p];
        records[p].id = s.points.ids()[p];
    }
    const T typical = typical_radius<D, T>(s.bounds_lo, s.bounds_hi, std::max<std::size_t>(1, records.size()),
                                           1.3 * static_cast<double>(k) + 1);
    const T first = max_distance > T(0) ? std::min(typical, max_distance) : typical;
    neighbors::Grid<D, T> grid, others;
    const neighbors::Geometry<D, T> geometry(s.bounds_lo, s.bounds_hi, std::max<std::size_t>(1, records.size()),
                                             static_cast<double>(first), 0);
    grid.build(geometry, std::span<const neighbors::Record<D, T>>(records), s.options.executor);
    if (queries) others.build(geometry, *queries, s.options.executor);
    s.tests = list_nearest(queries ? others : grid, grid, !queries, rows, k, first, max_distance, s.options.executor,
                           s.max_bytes(), out);
}

#define QUADRAT_CELL_INDEX(D, T)                                                                                       \
    template void CellIndex<D, T>::find_nearest(std::uint32_t, NeighborList&, T) const;                                \
    template void CellIndex<D, T>::find_nearest(std::span<const Vec<D, T>>, std::uint32_t, NeighborList&, T) const;    \
    template void CellIndex<D, T>::find_nearest_in(const std::span<const Vec<D, T>>*, std::uint32_t, NeighborList&, T) \
        const;
QUADRAT_CELL_INDEX(2, float)
QUADRAT_CELL_INDEX(3, float)
QUADRAT_CELL_INDEX(2, double)
QUADRAT_CELL_INDEX(3, double)
#undef QUADRAT_CELL_INDEX

}  // namespace quadrat
