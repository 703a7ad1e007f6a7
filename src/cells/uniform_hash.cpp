#include <quadrat/cells/uniform_hash.hpp>

#include "cells/classed_hash.hpp"
#include "cells/ordered_rows.hpp"
#include "cells/point_table.hpp"
#include "cells/validate.hpp"

namespace quadrat {

template <int D, class T>
struct UniformHash<D, T>::Impl {
    explicit Impl(const Options& o)
        : options(o), boxes(cells::Scheme::uniform, {.executor = o.executor, .smallest = o.cell_size}) {}

    Options options;
    cells::ClassedHash<D, T> boxes;
    cells::PointTable<D, T> points;
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
std::size_t UniformHash<D, T>::size() const {
    return impl_->boxes.size();
}

template <int D, class T>
void UniformHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->boxes.find_pairs(out);
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
void UniformHash<D, T>::find_pairs(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) {
    cells::check_boxes(a, impl_->options.executor);
    impl_->boxes.build(b);
    out.clear();
    cells::in_order(
        impl_->options.executor, a.size(), [] { return 0; },
        [&](std::size_t i, std::vector<std::uint32_t>& found, int) { impl_->boxes.find(a[i], found); },
        [&](std::size_t i, std::span<const std::uint32_t> row) {
            for (const std::uint32_t j : row) out.push_back({static_cast<std::uint32_t>(i), j});
        });
}

template <int D, class T>
void UniformHash<D, T>::find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out) {
    cells::check_radius(radius);
    cells::check_points(points, impl_->options.executor);
    impl_->points.build(points, cells::reach(radius));
    const cells::NearTest<T> near(radius);
    const auto mask = cells::h_mask<D>(1.0);
    out.start();
    cells::in_order(
        impl_->options.executor, points.size(), [] { return std::vector<std::uint32_t>(); },
        [&](std::size_t i, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
            const std::size_t before = found.size();
            impl_->points.find(points[i], mask, near, found, scratch);
            const auto self = std::find(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                                        static_cast<std::uint32_t>(i));
            if (self != found.end()) found.erase(self);
        },
        [&](std::size_t, std::span<const std::uint32_t> row) { out.append(row); });
}

template <int D, class T>
void UniformHash<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, std::span<const Vec<D, T>> points, T radius,
                                       NeighborList& out) {
    cells::check_radius(radius);
    cells::check_points(queries, impl_->options.executor);
    cells::check_points(points, impl_->options.executor);
    impl_->points.build(points, cells::reach(radius));
    const cells::NearTest<T> near(radius);
    const auto mask = cells::h_mask<D>(1.0);
    out.start();
    cells::in_order(
        impl_->options.executor, queries.size(), [] { return std::vector<std::uint32_t>(); },
        [&](std::size_t q, std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) {
            impl_->points.find(queries[q], mask, near, found, scratch);
        },
        [&](std::size_t, std::span<const std::uint32_t> row) { out.append(row); });
}

template <int D, class T>
std::size_t UniformHash<D, T>::bytes() const {
    return impl_->boxes.bytes() + impl_->points.bytes();
}

template class UniformHash<2, float>;
template class UniformHash<2, double>;
template class UniformHash<3, float>;
template class UniformHash<3, double>;

}  // namespace quadrat
