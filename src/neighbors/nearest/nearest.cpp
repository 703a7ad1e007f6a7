// The k nearest points. Cells are made for the distance within which k points are expected, and kept until the points
// change or another distance is asked for. Where these cells turn out to be crowded, a tree takes their place.
#include "neighbors/nearest/nearest.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/neighbor_list_writer.hpp"
#include "cells/validate.hpp"
#include "neighbors/nearest/nearest_images.hpp"
#include "neighbors/nearest/nearest_search.hpp"
#include "neighbors/nearest/tree_on_demand.hpp"
#include "neighbors/nearest/tree_search.hpp"

#include <cstring>
#include <string>

namespace quadrat::neighbors {
namespace {

using detail::NeighborListWriter;

constexpr std::size_t nearest_chunk = 4096;

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
    double radius = longest > 0 ? even_radius(volume, dimensions, n, count) : 1;
    if (!(radius > 0x1p-50 * longest)) radius = longest > 0 ? 0x1p-50 * longest : 1;
    return static_cast<T>(std::clamp(radius, 0x1p-58, 0x1p58));
}

/// The root of a square in T, or of one that T does not hold.
template <class T>
T root(typename Found<T>::Wide square) {
    using Wide = typename Found<T>::Wide;
    const bool in_range = square >= static_cast<Wide>(std::numeric_limits<T>::min()) &&
                          square <= static_cast<Wide>(std::numeric_limits<T>::max());
    return in_range ? std::sqrt(static_cast<T>(square)) : static_cast<T>(std::sqrt(square));
}

/// The sum of the extents of the points, whose bounds these are, and of the queries, if there are any: no distance
/// exceeds it.
template <int D, class T>
double diameter_of(const T* lo, const T* hi, const Grid<D, T>* queries) {
    double diameter = 0;
    for (int axis = 0; axis < D; ++axis) {
        T least = lo[axis], most = hi[axis];
        if (queries && queries->size() > 0) {
            const auto [a, b] = std::minmax_element(queries->axis(axis), queries->axis(axis) + queries->size());
            least = std::min(least, *a), most = std::max(most, *b);
        }
        diameter += 1.01 * (static_cast<double>(most) - static_cast<double>(least));
    }
    return diameter;
}

/// How rows are made: up to `each` entries for each.
struct ListNearest {
    std::size_t rows;
    std::uint64_t each;
    Executor* executor;
    std::uint64_t max_bytes;
    const Watch& watch;
};

/// search(begin, end, row) calls row(place, found) for the homes at [begin, end) and returns the number of distance
/// tests, of which the sum is returned.
template <class T, class SearchHomes>
std::uint64_t list_nearest(const ListNearest& how, std::span<const std::uint32_t> homes, NeighborList& out,
                           SearchHomes&& search) {
    QUADRAT_ASSERT(homes.size() <= how.rows);
    const std::size_t rows = how.rows;
    const std::uint64_t each = how.each, max_bytes = how.max_bytes;
    const std::size_t grain = std::max<std::size_t>(nearest_chunk, homes.size() / 8192 + 1);
    const std::size_t chunks = base::chunk_count(homes.size(), grain);
    const std::uint64_t need = std::uint64_t{rows} * (each * (4 + sizeof(T)) + 8);
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
    base::TaskProgress progress(how.watch, chunks);
    const auto list = [&](std::size_t begin, std::size_t end) {
        const std::size_t c = begin / grain;
        auto& segment = writer.segment(c);
        const std::size_t most = (end - begin) * each;
        segment.indices.reserve(most);
        segment.distances.reserve(most * sizeof(T));
        std::uint64_t used = 0;
        const auto row = [&](std::uint32_t place, std::span<const Found<T>> found) {
            for (std::size_t e = 0; e < found.size(); ++e) {
                segment.indices.data()[used + e] = found[e].index;
                const T distance = root<T>(found[e].distance_sq);
                std::memcpy(segment.distances.data() + (used + e) * sizeof(T), &distance, sizeof(T));
            }
            const std::uint32_t id = homes[place];
            if (NeighborListWriter::fits(used, found.size())) [[likely]]
                records[id] = NeighborListWriter::record(c, used, found.size());
            else
                wide[c].push_back({id, {used, found.size(), static_cast<std::uint32_t>(c)}});
            used += found.size();
        };
        tests += search(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), row);
        entries[c] = used;
        progress.done_one();
    };
    try {
        base::parallel_for(how.executor, homes.size(), grain, list);
        progress.finish();
    } catch (...) {
        out.clear();
        throw;
    }
    for (const auto& rows_of_chunk : wide)
        for (const Wide& w : rows_of_chunk) writer.set_wide(w.row, w.place);
    writer.finish(std::accumulate(entries.begin(), entries.end(), std::uint64_t{0}));
    return tests;
}

/// The points of the index in cells of about this radius.
template <int D, class T>
Grid<D, T> grid_for(const IndexState<D, T>& s, T radius) {
    const std::vector<Record<D, T>> records = s.all_records();
    const Geometry<D, T> geometry(s.bounds_lo, s.bounds_hi, std::max<std::size_t>(1, records.size()),
                                  static_cast<double>(radius), 0);
    Grid<D, T> grid;
    grid.build(geometry, std::span<const Record<D, T>>(records), s.options.executor);
    grid.release_scratch();
    return grid;
}

template <int D, class T>
std::vector<Record<D, T>> records_of(std::span<const Vec<D, T>> points) {
    std::vector<Record<D, T>> records(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::copy_n(points[i].v, D, records[i].v);
        records[i].id = static_cast<std::uint32_t>(i);
    }
    return records;
}

/// In a periodic box, where every image of a point counts.
template <int D, class T>
void find_images(const IndexState<D, T>& s, const std::span<const Vec<D, T>>* queries, std::uint32_t k, T max_distance,
                 NeighborList& out, const Watch& watch) {
    Images<D, T> own, others;
    own.wrapped = s.unsorted();
    own.turns = s.turns;
    own.turns.resize(s.slots, Shift{});
    if (queries) others.wrap(s.lattice, *queries);
    const std::span<const std::uint8_t> erased = s.erased;
    const TreeOnDemand<D, T> tree(s, k);
    s.tests = ImageRounds<D, T>::list({.lattice = s.lattice,
                                       .points = own,
                                       .erased = erased,
                                       .homes = queries ? others : own,
                                       .skipped = queries ? std::span<const std::uint8_t>() : erased,
                                       .own = !queries,
                                       .k = k,
                                       .farthest = max_distance,
                                       .executor = s.options.executor,
                                       .max_bytes = s.options.max_bytes,
                                       .first_round = s.nearest_images,
                                       .tree = tree,
                                       .watch = watch},
                                      out);
}

}  // namespace

template <int D, class T>
void Nearest<D, T>::find(const IndexState<D, T>& s, const std::span<const Vec<D, T>>* queries, std::uint32_t k,
                         T max_distance, NeighborList& out, const Watch& watch) {
    out.clear();
    if (queries) {
        cells::check_count(queries->size());
        cells::check_points(*queries, s.options.executor);
    }
    if (k == 0) throw Error(ErrorKind::bad_value, "k is at least 1", Where{.field = "k"});
    if (max_distance != T(0)) cells::check_radius(max_distance, "max_distance");
    if (s.periodic()) return find_images(s, queries, k, max_distance, out, watch);
    const T typical =
        typical_radius<D, T>(s.bounds_lo, s.bounds_hi, std::max<std::size_t>(1, s.count()), expected_count(k));
    const T first = max_distance > T(0) ? std::min(typical, max_distance) : typical;
    const std::shared_ptr<const Grid<D, T>> grid = s.nearest.get(first, [&] { return grid_for(s, first); });
    QUADRAT_ASSERT(grid->size() == s.count());
    const ListNearest how{.rows = queries ? queries->size() : s.slots,
                          .each = std::min<std::uint64_t>(k, s.count()),
                          .executor = s.options.executor,
                          .max_bytes = s.options.max_bytes,
                          .watch = watch};
    const TreeOnDemand<D, T> tree(s, k);
    const bool plain = max_distance == T(0) || cells::plain_radius(max_distance);
    if (plain && crowded(grid->crowding(), k)) {
        const PointTree<D, T> others(queries ? records_of(*queries) : std::vector<Record<D, T>>(), 0);
        const PointTree<D, T>& homes = queries ? others : tree.get();
        s.tests = list_nearest<T>(how, homes.ids(), out, [&](std::uint32_t begin, std::uint32_t end, auto& row) {
            return TreeSearch<D, T>(homes, tree.get(), !queries, k, max_distance).run(begin, end, row);
        });
        return;
    }
    Grid<D, T> others;
    if (queries) others.build(grid->geometry(), *queries, s.options.executor);
    const Grid<D, T>& homes = queries ? others : *grid;
    const NearestJob<D, T> job{.homes = homes,
                               .points = *grid,
                               .own = !queries,
                               .k = k,
                               .first = first,
                               .farthest = max_distance,
                               .diameter = diameter_of<D, T>(s.bounds_lo, s.bounds_hi, queries ? &others : nullptr),
                               .tree = plain ? &tree : nullptr};
    s.tests = list_nearest<T>(how, std::span(homes.ids(), homes.size()), out,
                              [&](std::uint32_t begin, std::uint32_t end, auto& row) {
                                  return NearestSearch<D, T>(job).run(begin, end, row);
                              });
}

template struct Nearest<2, float>;
template struct Nearest<3, float>;
template struct Nearest<2, double>;
template struct Nearest<3, double>;

}  // namespace quadrat::neighbors
