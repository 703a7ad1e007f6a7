// The public face of the hierarchy: what callers give is checked here and handed to the Hierarchy, which keeps it, and
// to the classes that search it.
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include "broad_phase/events/event_table.hpp"
#include "broad_phase/hierarchy.hpp"
#include "broad_phase/outside_pairs.hpp"
#include "broad_phase/pair_search.hpp"
#include "broad_phase/queries.hpp"
#include "broad_phase/query_order.hpp"
#include "broad_phase/spheres.hpp"
#include "cells/validate.hpp"

#include <quadrat/error.hpp>

#include <cmath>
#include <utility>

namespace quadrat {

template <int D, class T>
struct HashGridHierarchy<D, T>::Impl : broad_phase::Hierarchy<D, T> {
    using broad_phase::Hierarchy<D, T>::Hierarchy;
};

namespace {

[[noreturn]] void bad(const char* field, const char* why) {
    throw Error(ErrorKind::bad_value, why, {.field = field});
}

template <int D>
void check_options(const HashGridOptions& options) {
    if (!(options.factor >= 1.01 && options.factor <= 1e6)) bad("factor", "must be 1.01 to 1e6");
    constexpr std::uint32_t most = D == 2 ? 256 : 64;
    const auto power = [](std::uint32_t n) { return n >= 4 && n <= most && (n & (n - 1)) == 0; };
    constexpr const char* wanted = D == 2 ? "must be a power of two, 4 to 256" : "must be a power of two, 4 to 64";
    if (!power(options.initial_cells)) bad("initial_cells", wanted);
    if (!power(options.min_cells)) bad("min_cells", wanted);
    if (options.cells_per_object < 1 || options.cells_per_object > 256) bad("cells_per_object", "must be 1 to 256");
}

template <int D, class T>
void check_half_space(const HalfSpace<D, T>& half_space) {
    bool zero = true;
    for (int k = 0; k < D; ++k) {
        if (!std::isfinite(half_space.normal[k])) bad("normal", "must be finite");
        zero = zero && half_space.normal[k] == 0;
    }
    if (zero) bad("normal", "must not be zero");
    if (!std::isfinite(half_space.offset)) bad("offset", "must be finite");
}

/// The slots of ids that are all there, or stale_id names the position of the first that is not.
template <int D, class T>
std::vector<std::uint32_t> checked_slots(const broad_phase::SlotTable<D, T>& slots, std::span<const Id> ids) {
    std::vector<std::uint32_t> some(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (!slots.contains(ids[i])) throw Error(ErrorKind::stale_id, "no such object", {.index = i, .field = "ids"});
        some[i] = ids[i].slot;
    }
    return some;
}

}  // namespace

template <int D, class T>
HashGridHierarchy<D, T>::HashGridHierarchy(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    check_options<D>(options);
}
template <int D, class T>
HashGridHierarchy<D, T>::~HashGridHierarchy() = default;
template <int D, class T>
HashGridHierarchy<D, T>::HashGridHierarchy(HashGridHierarchy&&) noexcept = default;
template <int D, class T>
HashGridHierarchy<D, T>& HashGridHierarchy<D, T>::operator=(HashGridHierarchy&&) noexcept = default;

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const Box<D, T>& box, Filter filter) {
    impl_->slots.expect_boxes();
    cells::check_box(box, impl_->slots.size());
    return impl_->insert(box, filter);
}

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const HalfSpace<D, T>& half_space, Filter filter) {
    impl_->slots.expect_boxes();
    check_half_space(half_space);
    return impl_->insert(half_space, filter);
}

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const Sphere<D, T>& sphere, Filter filter) {
    auto& slots = impl_->slots;
    slots.expect_spheres();
    const Id id = impl_->insert(broad_phase::checked_box_of(sphere, slots.size()), filter);
    slots.set_sphere(id.slot, sphere);
    return id;
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::insert(std::span<const Box<D, T>> boxes) {
    impl_->slots.expect_boxes();
    return impl_->insert(boxes);
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::insert(std::span<const Sphere<D, T>> spheres) {
    auto& slots = impl_->slots;
    slots.expect_spheres();
    std::vector<Box<D, T>> boxes(spheres.size());
    for (std::size_t i = 0; i < spheres.size(); ++i) boxes[i] = broad_phase::checked_box_of(spheres[i], i);
    const std::uint32_t first = impl_->insert(std::span<const Box<D, T>>(boxes));
    for (std::uint32_t i = 0; i < spheres.size(); ++i) slots.set_sphere(first + i, spheres[i]);
    return first;
}

template <int D, class T>
void HashGridHierarchy<D, T>::erase(Id id) {
    impl_->erase(impl_->slots.checked(id));
}

template <int D, class T>
void HashGridHierarchy<D, T>::move(Id id, const Box<D, T>& box) {
    const std::uint32_t slot = impl_->slots.checked(id);
    impl_->slots.expect_boxes();
    cells::check_box(box, slot);
    impl_->move(slot, box);
}

template <int D, class T>
void HashGridHierarchy<D, T>::move(Id id, const Sphere<D, T>& sphere) {
    const std::uint32_t slot = impl_->slots.checked(id);
    impl_->slots.expect_spheres();
    impl_->move(slot, broad_phase::checked_box_of(sphere, slot));
    impl_->slots.set_sphere(slot, sphere);
}

template <int D, class T>
void HashGridHierarchy<D, T>::insert(std::span<const Box<D, T>> boxes, std::vector<Id>& ids) {
    const std::uint32_t first = insert(boxes);
    ids.resize(boxes.size());
    for (std::uint32_t i = 0; i < ids.size(); ++i) ids[i] = impl_->slots.id(first + i);
}

template <int D, class T>
void HashGridHierarchy<D, T>::erase(std::span<const Id> ids) {
    std::vector<std::uint32_t> some = checked_slots(impl_->slots, ids);
    std::vector<std::uint8_t> named(impl_->slots.size(), 0);
    for (std::size_t i = 0; i < some.size(); ++i)
        if (std::exchange(named[some[i]], std::uint8_t{1}) != 0)
            throw Error(ErrorKind::stale_id, "named twice", {.index = i, .field = "ids"});
    impl_->erase(std::span<const std::uint32_t>(some));
}

template <int D, class T>
void HashGridHierarchy<D, T>::move(std::span<const Id> ids, std::span<const Box<D, T>> boxes) {
    if (ids.size() != boxes.size()) throw Error(ErrorKind::bad_shape, "expected one box per id", {.field = "boxes"});
    impl_->slots.expect_boxes();
    const std::vector<std::uint32_t> some = checked_slots(impl_->slots, ids);
    cells::check_boxes(boxes, impl_->options.executor);
    impl_->move(some, boxes);
}

template <int D, class T>
void HashGridHierarchy<D, T>::rest(std::span<const Id> ids) {
    impl_->rest(checked_slots(impl_->slots, ids));
}
template <int D, class T>
void HashGridHierarchy<D, T>::wake(std::span<const Id> ids) {
    impl_->wake(checked_slots(impl_->slots, ids));
}
template <int D, class T>
bool HashGridHierarchy<D, T>::resting(Id id) const {
    return impl_->slots.contains(id) && impl_->slots.asleep(id.slot);
}

template <int D, class T>
void HashGridHierarchy<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->slots.expect_boxes();
    impl_->update(boxes);
}

template <int D, class T>
void HashGridHierarchy<D, T>::update(std::span<const Sphere<D, T>> spheres) {
    auto& slots = impl_->slots;
    slots.expect_spheres();
    cells::check_slots(spheres.size(), slots.size());
    std::vector<Box<D, T>> boxes(spheres.size());
    for (std::uint32_t i = 0; i < spheres.size(); ++i)
        if (!slots.is_free(i) && !slots.asleep(i)) boxes[i] = broad_phase::checked_box_of(spheres[i], i);
    impl_->update(boxes);
    for (std::uint32_t i = 0; i < spheres.size(); ++i)
        if (!slots.asleep(i)) slots.set_sphere(i, spheres[i]);
}

template <int D, class T>
void HashGridHierarchy<D, T>::set_filter(Id id, Filter filter) {
    impl_->set_filter(impl_->slots.checked(id), filter);
}

template <int D, class T>
void HashGridHierarchy<D, T>::clear() {
    auto empty = std::make_unique<Impl>(Options(impl_->options));
    impl_->slots.clear();
    empty->slots = std::move(impl_->slots);
    impl_ = std::move(empty);
}

template <int D, class T>
void HashGridHierarchy<D, T>::find_pairs(std::vector<Pair>& out) const {
    broad_phase::PairSearch<D, T>(*impl_).find(out);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_events(PairEvents& events) const {
    broad_phase::EventTable& table = *events.table_;
    try {
        table.begin(impl_->slots.generations(), most_pairs());
        broad_phase::PairSearch<D, T>(*impl_).visit_in_order(
            [](void* context, std::span<const Pair> pairs) {
                static_cast<broad_phase::EventTable*>(context)->take(pairs);
            },
            &table);
    } catch (...) {
        table.clear();
        throw;
    }
    if (const std::size_t count = table.end(); count > most_pairs())
        cells::throw_too_large(count, impl_->options.max_bytes);
}
template <int D, class T>
void HashGridHierarchy<D, T>::visit_pairs(PairVisitor visit, void* context) const {
    broad_phase::PairSearch<D, T>(*impl_).visit_in_turn(visit, context);
}
template <int D, class T>
void HashGridHierarchy<D, T>::visit_chunks(PairVisitor visit, void* context) const {
    broad_phase::PairSearch<D, T>(*impl_).visit_chunks(visit, context);
}
template <int D, class T>
void HashGridHierarchy<D, T>::find_between(const HashGridHierarchy& a, const HashGridHierarchy& b,
                                           std::vector<Pair>& out) {
    broad_phase::OutsidePairs<D, T>::find_between(*a.impl_, *b.impl_, out);
}

template <int D, class T>
std::size_t HashGridHierarchy<D, T>::most_pairs() const {
    return impl_->options.max_bytes / sizeof(Pair);
}
template <int D, class T>
void HashGridHierarchy<D, T>::check_size(std::size_t count, std::vector<Pair>& out) const {
    if (count <= most_pairs()) return;
    out.clear();
    cells::throw_too_large(count, impl_->options.max_bytes);
}

template <int D, class T>
std::size_t HashGridHierarchy<D, T>::slots() const {
    return impl_->slots.size();
}
template <int D, class T>
std::size_t HashGridHierarchy<D, T>::size() const {
    return impl_->slots.alive();
}
template <int D, class T>
bool HashGridHierarchy<D, T>::contains(Id id) const {
    return impl_->slots.contains(id);
}
template <int D, class T>
Id HashGridHierarchy<D, T>::id(std::uint32_t slot) const {
    return impl_->slots.id(slot);
}
template <int D, class T>
BroadPhaseStats HashGridHierarchy<D, T>::stats() const {
    return {impl_->tests.load(),     impl_->sorted.grids().size() + impl_->resting.grids().size(),
            impl_->slots.sleepers(), impl_->loose.size(),
            impl_->unbounded.size(), impl_->bytes()};
}

}  // namespace quadrat

#include "broad_phase/hash_grid_queries-inl.hpp"

namespace quadrat {

template class HashGridHierarchy<2, float>;
template class HashGridHierarchy<3, float>;
template class HashGridHierarchy<2, double>;
template class HashGridHierarchy<3, double>;

}  // namespace quadrat
