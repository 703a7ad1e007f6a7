// The public face of a GroupHash; group_map.hpp does the work.
#include <quadrat/broad_phase/group_hash.hpp>

#include "broad_phase/hashes/group_map.hpp"

namespace quadrat {

template <int D, class T>
struct GroupHash<D, T>::Impl : broad_phase::GroupMap<D, T> {
    using broad_phase::GroupMap<D, T>::GroupMap;
};

template <int D, class T>
GroupHash<D, T>::GroupHash(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
template <int D, class T>
GroupHash<D, T>::~GroupHash() = default;
template <int D, class T>
GroupHash<D, T>::GroupHash(GroupHash&&) noexcept = default;
template <int D, class T>
GroupHash<D, T>& GroupHash<D, T>::operator=(GroupHash&&) noexcept = default;

template <int D, class T>
std::uint32_t GroupHash<D, T>::insert(std::span<const Box<D, T>> boxes) {
    return impl_->insert(boxes);
}
template <int D, class T>
std::uint32_t GroupHash<D, T>::insert_static(std::span<const Box<D, T>> boxes) {
    return impl_->insert_static(boxes);
}
template <int D, class T>
void GroupHash<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->update(boxes);
}
template <int D, class T>
void GroupHash<D, T>::clear() {
    impl_ = std::make_unique<Impl>(Options(impl_->options()));
}

template <int D, class T>
void GroupHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->find_pairs(out);
}
template <int D, class T>
void GroupHash<D, T>::visit_pairs(void (*visit)(void*, std::span<const Pair>), void* context) const {
    impl_->visit_pairs(visit, context);
}

template <int D, class T>
std::size_t GroupHash<D, T>::slots() const {
    return impl_->slots();
}
template <int D, class T>
GroupHashStats GroupHash<D, T>::stats() const {
    return impl_->stats();
}
template <int D, class T>
std::vector<std::uint32_t> GroupHash<D, T>::voxel_loads() const {
    return impl_->voxel_loads();
}

template class GroupHash<2, float>;
template class GroupHash<3, float>;
template class GroupHash<2, double>;
template class GroupHash<3, double>;

}  // namespace quadrat
