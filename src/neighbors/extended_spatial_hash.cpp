#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include "base/assert.hpp"
#include "cells/bounded_rows.hpp"
#include "cells/hashes/point_table.hpp"
#include "cells/ordered_rows.hpp"
#include "cells/predicate.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace quadrat {
namespace {

/// Masks that reach further than this many cells are larger than they are worth: the point is tested against all.
constexpr int longest_mask = 8;

}  // namespace

template <int D, class T>
struct ExtendedSpatialHash<D, T>::Impl {
    Options options;
    cells::PointTable<D, T> table;
    std::vector<Vec<D, T>> points;
    std::vector<T> radii;  // empty: options.radius for all
    T largest = 0;
    std::vector<Vec<D, int>> masks[longest_mask + 1];  // by reach in cells; made when needed
    mutable std::atomic<std::uint64_t> tests{0};

    void build(std::span<const Vec<D, T>> given, std::span<const T> r) {
        double mean = static_cast<double>(options.radius);
        largest = options.radius;
        if (!r.empty()) {
            mean = 0;
            for (std::size_t i = 0; i < r.size(); ++i)
                mean += (static_cast<double>(r[i]) - mean) / static_cast<double>(i + 1);
            largest = *std::max_element(r.begin(), r.end());
        }
        points.assign(given.begin(), given.end());
        radii.assign(r.begin(), r.end());
        // A hair wider than reach / H, so that H cells cover the reach also after rounding. Denormal numbers are too
        // coarse to be divided.
        const double whole = cells::reach(static_cast<T>(mean));
        const double edge = whole < 0x1p-900 ? whole : whole / options.subdivision * (1 + 0x1p-50);
        table.build(given, edge);
        for (int k = 1; k <= longest_mask; ++k)
            if (masks[k].empty()) masks[k] = cells::h_mask<D>(k);
    }

    /// The mask that covers `radius`, or null if that is too large.
    [[nodiscard]] const std::vector<Vec<D, int>>* mask_for(T radius) const {
        const double edge = table.quantiser().edge(0);
        if (edge > std::numeric_limits<double>::max()) return &masks[1];  // one cell holds everything
        const double ratio = std::ceil(cells::reach(radius) / edge);
        return ratio <= longest_mask ? &masks[std::max(1, static_cast<int>(ratio))] : nullptr;
    }

    /// How far i and j may be apart.
    [[nodiscard]] T radius_of(std::size_t i, std::size_t j) const {
        return pair_radius(options.rule, radii[i], radii[j]);
    }
    /// No pair of point i reaches further: rules never fall when a radius grows.
    [[nodiscard]] T search_radius(std::size_t i) const { return pair_radius(options.rule, radii[i], largest); }

    /// Returns the number of distance tests.
    std::uint64_t row(std::size_t i, std::vector<std::uint32_t>& found) const {
        const auto try_pair = [&](std::uint32_t j) {
            if (j != i && cells::NearTest<T>(radius_of(i, j))(points[i], points[j])) found.push_back(j);
        };
        const auto* mask = mask_for(search_radius(i));
        if (!mask) {
            for (std::uint32_t j = 0; j < points.size(); ++j) try_pair(j);
            return points.size();
        }
        std::uint64_t made = 0;
        table.for_each_range(table.quantiser().cell(points[i]), *mask, [&](std::uint32_t begin, std::uint32_t end) {
            made += end - begin;
            for (std::uint32_t place = begin; place < end; ++place) try_pair(table.index(place));
        });
        return made;
    }
};

template <int D, class T>
ExtendedSpatialHash<D, T>::ExtendedSpatialHash(const Options& options) : impl_(std::make_unique<Impl>()) {
    if (options.radius != T(0)) cells::check_radius(options.radius);
    if (options.subdivision < 1 || options.subdivision > longest_mask) {
        Where where;
        where.field = "subdivision";
        throw Error(ErrorKind::bad_value, "must be 1..8", where);
    }
    impl_->options = options;
}
template <int D, class T>
ExtendedSpatialHash<D, T>::~ExtendedSpatialHash() = default;
template <int D, class T>
ExtendedSpatialHash<D, T>::ExtendedSpatialHash(ExtendedSpatialHash&&) noexcept = default;
template <int D, class T>
ExtendedSpatialHash<D, T>& ExtendedSpatialHash<D, T>::operator=(ExtendedSpatialHash&&) noexcept = default;

template <int D, class T>
void ExtendedSpatialHash<D, T>::build(std::span<const Vec<D, T>> points) {
    cells::check_radius(impl_->options.radius);
    cells::check_points(points, impl_->options.executor);
    impl_->build(points, {});
}

template <int D, class T>
void ExtendedSpatialHash<D, T>::build(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    cells::check_points(points, impl_->options.executor);
    cells::check_radii(radii, points.size());
    const T largest = radii.empty() ? T(0) : *std::max_element(radii.begin(), radii.end());
    if (!std::isfinite(pair_radius(impl_->options.rule, largest, largest)))
        throw Error(ErrorKind::bad_value, "the sum of the largest radii is not finite", Where{.field = "radii"});
    impl_->build(points, radii);
}

template <int D, class T>
std::size_t ExtendedSpatialHash<D, T>::size() const {
    return impl_->points.size();
}

template <int D, class T>
void ExtendedSpatialHash<D, T>::find_neighbors(NeighborList& out) const {
    if (impl_->radii.empty() && !impl_->points.empty()) {
        const cells::NearTest<T> near(impl_->options.radius);
        const auto& mask = *impl_->mask_for(impl_->options.radius);
        cells::BoundedRows rows(out, impl_->options.max_bytes);
        impl_->tests = cells::in_order(
            impl_->options.executor, size(), [] { return std::vector<std::uint32_t>(); },
            [&](std::size_t i, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
                const auto before = static_cast<std::ptrdiff_t>(found.size());
                const std::uint64_t made = impl_->table.find(impl_->points[i], mask, near, found, scratch);
                found.erase(std::find(found.begin() + before, found.end(), static_cast<std::uint32_t>(i)));
                return made;
            },
            [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
        rows.finish();
        return;
    }
    cells::BoundedRows rows(out, impl_->options.max_bytes);
    impl_->tests = cells::in_order(
        impl_->options.executor, size(), [] { return 0; },
        [&](std::size_t i, std::vector<std::uint32_t>& found, int) { return impl_->row(i, found); },
        [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
    rows.finish();
}

template <int D, class T>
void ExtendedSpatialHash<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const {
    out.clear();
    if (!impl_->radii.empty())
        throw Error(ErrorKind::unsupported, "queries need one radius for all points", {.field = "radii"});
    cells::check_radius(impl_->options.radius);
    cells::check_points(queries, impl_->options.executor);
    const cells::NearTest<T> near(impl_->options.radius);
    cells::BoundedRows rows(out, impl_->options.max_bytes);
    impl_->tests = cells::in_order(
        impl_->options.executor, queries.size(), [] { return std::vector<std::uint32_t>(); },
        [&](std::size_t q, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
            if (size() == 0) return std::uint64_t{0};
            return impl_->table.find(queries[q], *impl_->mask_for(impl_->options.radius), near, found, scratch);
        },
        [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
    rows.finish();
}

template <int D, class T>
ExtendedSpatialHashStats ExtendedSpatialHash<D, T>::stats() const {
    return {.tests = impl_->tests,
            .bytes = impl_->table.bytes() + impl_->points.capacity() * sizeof(Vec<D, T>) +
                     impl_->radii.capacity() * sizeof(T)};
}

template class ExtendedSpatialHash<2, float>;
template class ExtendedSpatialHash<3, float>;
template class ExtendedSpatialHash<2, double>;
template class ExtendedSpatialHash<3, double>;

}  // namespace quadrat
