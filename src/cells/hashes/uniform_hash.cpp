#include <quadrat/cells/uniform_hash.hpp>

#include "cells/bounded_rows.hpp"
#include "cells/hashes/classed_hash.hpp"
#include "cells/hashes/point_table.hpp"
#include "cells/ordered_rows.hpp"
#include "cells/validate.hpp"

#include <algorithm>

namespace quadrat {
namespace {

cells::ClassedHashOptions classed(const UniformHashOptions& o) {
    if (o.cell_size != 0) cells::check_radius(o.cell_size, "cell_size");
    return {.executor = o.executor, .smallest = o.cell_size, .max_bytes = o.max_bytes};
}

}  // namespace

template <int D, class T>
struct UniformHash<D, T>::Impl {
    explicit Impl(const Options& o) : options(o) {}

    Options options;
    cells::PointTable<D, T> points;
    T radius = 0;
    std::vector<Vec<D, T>> own;  // the points in input order

    /// Row q of `out`: the points near queries[q], without point q itself where the queries are the points.
    std::uint64_t rows(std::span<const Vec<D, T>> queries, bool leave_self, NeighborList& out) const {
        cells::BoundedRows rows(out, options.max_bytes);
        if (points.size() == 0) {  // and perhaps no radius
            for (std::size_t q = 0; q < queries.size(); ++q) rows.append({});
            rows.finish();
            return 0;
        }
        const cells::NearTest<T> near(radius);
        const auto mask = cells::h_mask<D>(1.0);
        const std::uint64_t tests = cells::in_order(
            options.executor, queries.size(), [] { return std::vector<std::uint32_t>(); },
            [&](std::size_t q, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
                const auto before = static_cast<std::ptrdiff_t>(found.size());
                const std::uint64_t made = points.find(queries[q], mask, near, found, scratch);
                if (leave_self)
                    found.erase(std::find(found.begin() + before, found.end(), static_cast<std::uint32_t>(q)));
                return made;
            },
            [&](std::size_t, std::span<const std::uint32_t> row) { rows.append(row); });
        rows.finish();
        return tests;
    }
};

template <int D, class T>
UniformHash<D, T>::UniformHash(const Options& options)
    : Base(classed(options)), impl_(std::make_unique<Impl>(options)) {}
template <int D, class T>
UniformHash<D, T>::~UniformHash() = default;
template <int D, class T>
UniformHash<D, T>::UniformHash(UniformHash&&) noexcept = default;
template <int D, class T>
UniformHash<D, T>& UniformHash<D, T>::operator=(UniformHash&&) noexcept = default;

template <int D, class T>
void UniformHash<D, T>::build(std::span<const Vec<D, T>> points, T radius) {
    cells::check_radius(radius);
    cells::check_points(points, impl_->options.executor);
    impl_->points.build(points, cells::reach(radius));
    impl_->own.assign(points.begin(), points.end());
    impl_->radius = radius;
}

template <int D, class T>
void UniformHash<D, T>::find_neighbors(NeighborList& out) const {
    this->count_tests(impl_->rows(impl_->own, true, out));
}

template <int D, class T>
void UniformHash<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const {
    cells::check_points(queries, impl_->options.executor);
    this->count_tests(impl_->rows(queries, false, out));
}

template <int D, class T>
HashStats UniformHash<D, T>::stats() const {
    HashStats result = Base::stats();
    result.bytes += impl_->points.bytes() + impl_->own.capacity() * sizeof(Vec<D, T>);
    return result;
}

template class UniformHash<2, float>;
template class UniformHash<3, float>;
template class UniformHash<2, double>;
template class UniformHash<3, double>;

}  // namespace quadrat
