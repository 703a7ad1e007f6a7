#include <quadrat/cells/uniform_hash.hpp>

#include "cells/classed_hash.hpp"
#include "cells/ordered_rows.hpp"
#include "cells/point_table.hpp"
#include "cells/validate.hpp"

#include <atomic>

namespace quadrat {

template <int D, class T>
struct UniformHash<D, T>::Impl {
    explicit Impl(const Options& o)
        : options(o),
          boxes(cells::Scheme::uniform, {.executor = o.executor, .smallest = o.cell_size, .max_bytes = o.max_bytes}) {}

    Options options;
    cells::ClassedHash<D, T> boxes;
    cells::PointTable<D, T> points;
    T radius = 0;
    std::vector<Vec<D, T>> own;  // the points in input order
    mutable std::atomic<std::uint64_t> tests{0};

    /// Row q of `out`: the points near queries[q], without point q itself where the queries are the points.
    void rows(std::span<const Vec<D, T>> queries, bool leave_self, NeighborList& out) const {
        const cells::NearTest<T> near(radius);
        const auto mask = cells::h_mask<D>(1.0);
        out.start();
        tests = cells::in_order(
            options.executor, queries.size(), [] { return std::vector<std::uint32_t>(); },
            [&](std::size_t q, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
                const auto before = static_cast<std::ptrdiff_t>(found.size());
                const std::uint64_t made = points.find(queries[q], mask, near, found, scratch);
                if (leave_self)
                    found.erase(std::find(found.begin() + before, found.end(), static_cast<std::uint32_t>(q)));
                return made;
            },
            [&](std::size_t, std::span<const std::uint32_t> row) { out.append(row); });
    }
};

template <int D, class T>
UniformHash<D, T>::UniformHash(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    if (options.cell_size != 0) cells::check_radius(options.cell_size, "cell_size");
}
template <int D, class T>
UniformHash<D, T>::~UniformHash() = default;
template <int D, class T>
UniformHash<D, T>::UniformHash(UniformHash&&) noexcept = default;
template <int D, class T>
UniformHash<D, T>& UniformHash<D, T>::operator=(UniformHash&&) noexcept = default;

template <int D, class T>
void UniformHash<D, T>::build(std::span<const Box<D, T>> boxes) {
    impl_->boxes.build(boxes);
}

template <int D, class T>
std::uint32_t UniformHash<D, T>::insert(std::span<const Box<D, T>> boxes) {
    return impl_->boxes.append(boxes);
}
template <int D, class T>
void UniformHash<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->boxes.update(boxes);
}
template <int D, class T>
std::size_t UniformHash<D, T>::size() const {
    return impl_->boxes.size();
}

template <int D, class T>
void UniformHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(out);
}

template <int D, class T>
void UniformHash<D, T>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    impl_->boxes.partners(q, found);
}

template <int D, class T>
void UniformHash<D, T>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    cells::check_box(box, 0);
    out.clear();
    impl_->boxes.find(box, out);
}

template <int D, class T>
void UniformHash<D, T>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(queries, out);
}

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
    impl_->rows(impl_->own, true, out);
}

template <int D, class T>
void UniformHash<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out) const {
    cells::check_points(queries, impl_->options.executor);
    impl_->rows(queries, false, out);
}

template <int D, class T>
std::uint64_t UniformHash<D, T>::tests() const {
    return impl_->tests;
}

template <int D, class T>
std::size_t UniformHash<D, T>::bytes() const {
    return impl_->boxes.bytes() + impl_->points.bytes() + impl_->own.capacity() * sizeof(Vec<D, T>);
}

template class UniformHash<2, float>;
template class UniformHash<2, double>;
template class UniformHash<3, float>;
template class UniformHash<3, double>;

}  // namespace quadrat
