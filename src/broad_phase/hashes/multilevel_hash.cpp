#include <quadrat/broad_phase/multilevel_hash.hpp>

#include "cells/classed_hash.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <atomic>

namespace quadrat {

template <int D, class T>
struct MultilevelHash<D, T>::Impl {
    explicit Impl(const Options& o)
        : boxes(cells::Scheme::multilevel, {.executor = o.executor,
                                            .smallest = o.smallest,
                                            .levels = o.levels,
                                            .table_per_class = o.table_per_class,
                                            .max_bytes = o.max_bytes}) {}

    cells::ClassedHash<D, T> boxes;
    mutable std::atomic<std::uint64_t> tests{0};
};

template <int D, class T>
MultilevelHash<D, T>::MultilevelHash(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    if (options.smallest != 0) cells::check_radius(options.smallest, "smallest");
    if (options.levels < 0 || options.levels > 62) {
        Where where;
        where.field = "levels";
        throw Error(ErrorKind::bad_value, "must be 0..62", where);
    }
}
template <int D, class T>
MultilevelHash<D, T>::~MultilevelHash() = default;
template <int D, class T>
MultilevelHash<D, T>::MultilevelHash(MultilevelHash&&) noexcept = default;
template <int D, class T>
MultilevelHash<D, T>& MultilevelHash<D, T>::operator=(MultilevelHash&&) noexcept = default;

template <int D, class T>
void MultilevelHash<D, T>::build(std::span<const Box<D, T>> boxes) {
    impl_->boxes.build(boxes);
}
template <int D, class T>
std::uint32_t MultilevelHash<D, T>::insert(std::span<const Box<D, T>> boxes) {
    return impl_->boxes.append(boxes);
}
template <int D, class T>
void MultilevelHash<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->boxes.update(boxes);
}
template <int D, class T>
Id MultilevelHash<D, T>::insert(const Box<D, T>& box) {
    return impl_->boxes.insert(box);
}
template <int D, class T>
void MultilevelHash<D, T>::erase(Id id) {
    impl_->boxes.erase(id);
}
template <int D, class T>
void MultilevelHash<D, T>::move(Id id, const Box<D, T>& box) {
    impl_->boxes.move(id, box);
}
template <int D, class T>
bool MultilevelHash<D, T>::contains(Id id) const {
    return impl_->boxes.contains(id);
}
template <int D, class T>
Id MultilevelHash<D, T>::id(std::uint32_t slot) const {
    return impl_->boxes.id(slot);
}
template <int D, class T>
std::size_t MultilevelHash<D, T>::slots() const {
    return impl_->boxes.slots();
}
template <int D, class T>
std::size_t MultilevelHash<D, T>::size() const {
    return impl_->boxes.size();
}
template <int D, class T>
void MultilevelHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(out);
}
template <int D, class T>
void MultilevelHash<D, T>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    impl_->tests = impl_->boxes.find_pairs(queries, out);
}

template <int D, class T>
void MultilevelHash<D, T>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    impl_->boxes.partners(q, found);
}
template <int D, class T>
void MultilevelHash<D, T>::find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const {
    find(Box<D, T>{point, point}, out);
}
template <int D, class T>
void MultilevelHash<D, T>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    cells::check_box(box, 0);
    out.clear();
    impl_->boxes.find(box, out);
}
template <int D, class T>
void MultilevelHash<D, T>::find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const {
    cells::check_point(segment.a);
    cells::check_point(segment.b);
    out.clear();
    impl_->boxes.find(cells::bounds(segment), out);
    const auto boxes = impl_->boxes.boxes();
    out.erase(std::remove_if(out.begin(), out.end(), [&](std::uint32_t o) { return !cells::meets(segment, boxes[o]); }),
              out.end());
}
template <int D, class T>
std::uint64_t MultilevelHash<D, T>::tests() const {
    return impl_->tests;
}

template <int D, class T>
std::size_t MultilevelHash<D, T>::bytes() const {
    return impl_->boxes.bytes();
}

template class MultilevelHash<2, float>;
template class MultilevelHash<2, double>;
template class MultilevelHash<3, float>;
template class MultilevelHash<3, double>;

}  // namespace quadrat
