#include <quadrat/cells/hierarchical_hash.hpp>

#include "cells/classed_hash.hpp"
#include "cells/on_the_fly.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <atomic>
#include <string>

namespace quadrat {
namespace {

cells::ClassedHashOptions classed(const HierarchicalHashOptions& o) {
    return {.executor = o.executor,
            .smallest = o.smallest,
            .levels = o.levels,
            .fixed_length = o.table == HierarchicalHashOptions::Table::fixed,
            .length = o.length,
            .table_per_class = o.table_per_class,
            .max_bytes = o.max_bytes};
}

}  // namespace

template <int D, class T>
struct HierarchicalHash<D, T>::Impl {
    explicit Impl(const Options& o) : options(o), boxes(cells::Scheme::hierarchical, classed(o)) {}

    Options options;
    cells::ClassedHash<D, T> boxes;
    cells::OnTheFly<D, T> points;
    mutable std::atomic<std::uint64_t> tests{0};
};

template <int D, class T>
HierarchicalHash<D, T>::HierarchicalHash(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    const auto out_of_range = [](const char* field, const char* range) {
        Where where;
        where.field = field;
        throw Error(ErrorKind::bad_value, range, where);
    };
    if (options.smallest != 0) cells::check_radius(options.smallest, "smallest");
    if (options.levels < 0 || options.levels > 62) out_of_range("levels", "must be 0..62");
    if (options.length > std::size_t{1} << 40) out_of_range("length", "must be 0..2^40");
    if (options.particle_levels < 1 || options.particle_levels > 16) out_of_range("particle_levels", "must be 1..16");
}
template <int D, class T>
HierarchicalHash<D, T>::~HierarchicalHash() = default;
template <int D, class T>
HierarchicalHash<D, T>::HierarchicalHash(HierarchicalHash&&) noexcept = default;
template <int D, class T>
HierarchicalHash<D, T>& HierarchicalHash<D, T>::operator=(HierarchicalHash&&) noexcept = default;

template <int D, class T>
void HierarchicalHash<D, T>::build(std::span<const Box<D, T>> boxes) {
    impl_->boxes.build(boxes);
}

template <int D, class T>
void HierarchicalHash<D, T>::build(std::span<const Box<D, T>> start, std::span<const Box<D, T>> end) {
    if (start.size() != end.size())
        throw Error(ErrorKind::bad_shape, std::to_string(start.size()) + " boxes at the start, " +
                                              std::to_string(end.size()) + " at the end");
    cells::check_boxes(start, impl_->options.executor);
    cells::check_boxes(end, impl_->options.executor);
    std::vector<Box<D, T>> path(start.begin(), start.end());
    for (std::size_t i = 0; i < path.size(); ++i)
        for (int k = 0; k < D; ++k) {
            path[i].lo[k] = std::min(path[i].lo[k], end[i].lo[k]);
            path[i].hi[k] = std::max(path[i].hi[k], end[i].hi[k]);
        }
    impl_->boxes.build(path);
}

template <int D, class T>
std::uint32_t HierarchicalHash<D, T>::insert(std::span<const Box<D, T>> boxes) {
    return impl_->boxes.append(boxes);
}
template <int D, class T>
void HierarchicalHash<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->boxes.update(boxes);
}
template <int D, class T>
Id HierarchicalHash<D, T>::insert(const Box<D, T>& box) {
    return impl_->boxes.insert(box);
}
template <int D, class T>
void HierarchicalHash<D, T>::erase(Id id) {
    impl_->boxes.erase(id);
}
template <int D, class T>
void HierarchicalHash<D, T>::move(Id id, const Box<D, T>& box) {
    impl_->boxes.move(id, box);
}
template <int D, class T>
bool HierarchicalHash<D, T>::contains(Id id) const {
    return impl_->boxes.contains(id);
}
template <int D, class T>
Id HierarchicalHash<D, T>::id(std::uint32_t slot) const {
    return impl_->boxes.id(slot);
}
template <int D, class T>
std::size_t HierarchicalHash<D, T>::slots() const {
    return impl_->boxes.slots();
}
template <int D, class T>
std::size_t HierarchicalHash<D, T>::size() const {
    return impl_->boxes.size();
}

template <int D, class T>
void HierarchicalHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(out);
}

template <int D, class T>
void HierarchicalHash<D, T>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(queries, out);
}

template <int D, class T>
void HierarchicalHash<D, T>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    impl_->boxes.partners(q, found);
}

template <int D, class T>
void HierarchicalHash<D, T>::find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const {
    find(Box<D, T>{point, point}, out);
}

template <int D, class T>
void HierarchicalHash<D, T>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    cells::check_box(box, 0);
    out.clear();
    impl_->boxes.find(box, out);
}

template <int D, class T>
void HierarchicalHash<D, T>::find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const {
    cells::check_point(segment.a);
    cells::check_point(segment.b);
    out.clear();
    impl_->boxes.find(cells::bounds(segment), out);
    const auto boxes = impl_->boxes.boxes();
    out.erase(std::remove_if(out.begin(), out.end(), [&](std::uint32_t o) { return !cells::meets(segment, boxes[o]); }),
              out.end());
}

template <int D, class T>
void HierarchicalHash<D, T>::find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out) {
    cells::check_radius(radius);
    cells::check_points(points, impl_->options.executor);
    impl_->tests = impl_->points.find(points, radius, impl_->options.particle_levels, impl_->options.executor, out);
}

template <int D, class T>
std::vector<HashCell> HierarchicalHash<D, T>::cells() const {
    std::vector<HashCell> result;
    impl_->boxes.for_each_cell([&](const cells::CellSlot& s) {
        HashCell cell{s.key, s.has_children != 0, {}};
        impl_->boxes.for_each_object(s, [&](std::uint32_t o) { cell.objects.push_back(o); });
        result.push_back(std::move(cell));
    });
    std::sort(result.begin(), result.end(), [](const HashCell& a, const HashCell& b) { return a.key < b.key; });
    return result;
}

template <int D, class T>
std::uint64_t HierarchicalHash<D, T>::tests() const {
    return impl_->tests;
}

template <int D, class T>
std::size_t HierarchicalHash<D, T>::bytes() const {
    return impl_->boxes.bytes() + impl_->points.bytes();
}

template class HierarchicalHash<2, float>;
template class HierarchicalHash<2, double>;
template class HierarchicalHash<3, float>;
template class HierarchicalHash<3, double>;

}  // namespace quadrat
