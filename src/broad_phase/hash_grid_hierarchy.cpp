// The state of a HashGridHierarchy: bulk updates into sorted grids, single edits into the paper's hash grids (HHG 3.3
// to 3.5).
#include "broad_phase/hash_grid_impl.hpp"

#include "base/parallel.hpp"
#include "broad_phase/size_classes.hpp"
#include "cells/validate.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

namespace quadrat {
namespace {

constexpr std::size_t least_sample = 1024, largest_sample = 8192;  // boxes, of which classes are chosen
constexpr std::size_t parallel_above = 16384;
constexpr std::size_t loose_allowance = 1024;
constexpr std::size_t kept_in_cache = std::size_t{6} << 20;  // bytes of records

template <int D, class T>
Box<D, T> box_of(const Sphere<D, T>& sphere) {
    // Wide enough for the rounded distance test of sphere_pairs to be decided by the spheres alone.
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        const T c = sphere.center[k];
        const T margin =
            8 * std::numeric_limits<T>::epsilon() * (std::abs(c) + sphere.radius) + std::numeric_limits<T>::min();
        box.lo[k] = c - sphere.radius - margin;
        box.hi[k] = c + sphere.radius + margin;
    }
    return box;
}

template <int D, class T>
Box<D, T> checked_box_of(const Sphere<D, T>& sphere, std::size_t index) {
    if (!(sphere.radius >= 0 && sphere.radius < std::numeric_limits<T>::infinity()))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.index = index, .field = "radius"});
    for (int k = 0; k < D; ++k)
        if (!std::isfinite(sphere.center[k]))
            throw Error(ErrorKind::bad_value, "must be finite", {.index = index, .field = "center"});
    return box_of(sphere);
}

template <int D, class T>
std::vector<Box<D, T>> boxes_of(std::span<const Sphere<D, T>> spheres) {
    std::vector<Box<D, T>> boxes(spheres.size());
    for (std::size_t i = 0; i < spheres.size(); ++i) boxes[i] = checked_box_of(spheres[i], i);
    return boxes;
}

[[noreturn]] void throw_mixed(const char* field) {
    throw Error(ErrorKind::bad_shape, "spheres and boxes cannot be mixed in one structure", {.field = field});
}

template <class V>
std::size_t held(const V& vector) {
    return vector.capacity() * sizeof(typename V::value_type);
}

// A grid of one cell: everything is tested against everything (HHG 3.7).
template <int D, class T>
broad_phase::GridShape<D, T> single_cell() {
    return {};
}

}  // namespace

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::load(std::span<const BoxT> boxes, std::span<const Place> places,
                                         std::span<const std::uint32_t> slots) {
    using broad_phase::GridShape;
    const std::size_t n = boxes.size(), slot_count = slots.empty() ? n : place.size();
    const auto is_free = [&](std::size_t i) { return i < places.size() && places[i] == Place::free; };
    const auto slot_of = [&](std::size_t i) { return slots.empty() ? static_cast<std::uint32_t>(i) : slots[i]; };
    std::size_t live = n - static_cast<std::size_t>(std::count(places.begin(), places.end(), Place::free));

    std::vector<BoxT> sample;
    const auto draw = [&](std::size_t wanted) {
        sample.clear();
        // One of each run of `stride` boxes, by chance: any fixed place in them may be that of one kind only.
        const std::size_t stride = std::max<std::size_t>(1, n / wanted);
        for (std::size_t run = 0; run < n; run += stride) {
            const std::size_t i = run + (((run + 1) * 0x9e3779b97f4a7c15u) >> 32) * stride / (std::uint64_t{1} << 32);
            if (i < n && !is_free(i) && broad_phase::regular(boxes[i])) sample.push_back(boxes[i]);
        }
    };

    const std::size_t tasks = n < parallel_above ? 1 : base::thread_count(options.executor);
    const std::size_t share = (n + tasks - 1) / tasks;
    struct Rest {
        std::vector<std::uint32_t> misfits, unbounded;
    };
    std::vector<Rest> rest(tasks);
    std::vector<GridShape<D, T>> shapes;
    std::vector<std::uint32_t> first_slab;
    // Bad boxes must leave everything as it was. A large set is put beside the old one; a small set is checked before
    // the first box is put away, since memory that is used in every step stays in the cache.
    const std::size_t blocks_per_task = (share + broad_phase::cell_block - 1) / broad_phase::cell_block;
    const bool checked_first = !grids.empty() && n * sizeof(broad_phase::Record<D, T>) <= kept_in_cache;
    broad_phase::SlabPartition<D, T>& target = grids.empty() || checked_first ? partition : spare;
    if (checked_first) block_cells.resize_discard(tasks * blocks_per_task);
    const auto distribute = [&] {
        first_slab.assign(1, 0);
        for (const auto& shape : shapes) first_slab.push_back(first_slab.back() + shape.slabs);
        const bool holes = live != n;
        // Calls visit(boxes, first, count, block) for the blocks of a task.
        const auto for_each_block = [&](std::size_t t, auto&& visit) {
            const std::size_t end = std::min(n, (t + 1) * share);
            std::array<BoxT, broad_phase::cell_block> tail;
            std::size_t number = t * blocks_per_task;
            for (std::size_t first = t * share; first < end; first += broad_phase::cell_block, ++number) {
                const std::size_t count = std::min(end - first, broad_phase::cell_block);
                const BoxT* block = boxes.data() + first;
                // The many lists that are written to keep the processor from seeing that boxes are read in sequence.
                for (std::size_t line = 0; line < broad_phase::cell_block * sizeof(BoxT); line += 64)
                    hwy::Prefetch(reinterpret_cast<const char*>(block + 2 * broad_phase::cell_block) + line);
                if (count < broad_phase::cell_block) {
                    std::copy_n(block, count, tail.begin());
                    std::fill(tail.begin() + static_cast<std::ptrdiff_t>(count), tail.end(), BoxT{});
                    block = tail.data();
                }
                visit(block, first, count, number);
            }
        };
        const auto assign = [&](const BoxT* block, std::size_t first, std::size_t count, broad_phase::BlockCells& to) {
            std::fill_n(to.slab, broad_phase::cell_block, broad_phase::no_slab);
            for (std::size_t c = 0; c < shapes.size(); ++c)
                if (broad_phase::assign_cells(shapes[c], first_slab[c], block, to) == 0) return;
            for (std::size_t k = 0; k < count; ++k)
                if (to.slab[k] == broad_phase::no_slab && !(holes && is_free(first + k)))
                    quadrat::cells::check_box(block[k], first + k);
        };
        if (checked_first)
            base::run_tasks(options.executor, tasks, [&](std::size_t t) {
                for_each_block(t, [&](const BoxT* block, std::size_t first, std::size_t count, std::size_t number) {
                    assign(block, first, count, block_cells[number]);
                });
            });
        target.start(tasks, share, std::max(1u, first_slab.back()));
        base::run_tasks(options.executor, tasks, [&](std::size_t t) {
            Rest& mine = rest[t];
            mine.misfits.clear();
            mine.unbounded.clear();
            auto& lists = target.task(t);
            broad_phase::BlockCells own;
            for_each_block(t, [&](const BoxT* block, std::size_t first, std::size_t count, std::size_t number) {
                if (!checked_first) assign(block, first, count, own);
                const broad_phase::BlockCells& cells = checked_first ? block_cells[number] : own;
                const auto add_all = [&](auto&& add) {
                    for (std::size_t k = 0; k < count; ++k) {
                        const std::size_t i = first + k;
                        if (holes && is_free(i)) continue;
                        if (cells.slab[k] != broad_phase::no_slab) [[likely]]
                            add(cells.slab[k], block[k], slot_of(i), cells.key[k]);
                        else if (broad_phase::regular(block[k]))
                            mine.misfits.push_back(static_cast<std::uint32_t>(i));
                        else
                            mine.unbounded.push_back(static_cast<std::uint32_t>(i));
                    }
                };
                if (target.streamed())
                    add_all([&](const auto&... record) { target.add_streamed(lists, record...); });
                else
                    add_all([&](const auto&... record) { target.add(lists, record...); });
            });
            target.finish(lists);
        });
    };
    const auto misfits = [&] {
        std::size_t sum = 0;
        for (const Rest& r : rest) sum += r.misfits.size();
        return sum;
    };
    if (live <= options.all_pairs_below) {
        shapes.assign(1, single_cell<D, T>());
        distribute();
    } else {
        draw(std::clamp(n / 32, least_sample, largest_sample));
        shapes = broad_phase::choose_grids<D, T>(sample, live);
        distribute();
        if (misfits() > live / 16 && sample.size() < live) {  // the sample was not representative
            draw(n);
            shapes = broad_phase::choose_grids<D, T>(sample, live);
            distribute();
        }
    }

    // Nothing below throws but for want of memory.
    if (&target == &spare) std::swap(partition, spare);
    filters.resize(filters.empty() ? 0 : slot_count, {Filter{}.group, Filter{}.mask});
    grids_filtered = !filters.empty();
    grids.clear();
    sorted = 0;
    bool need_columns = shapes.size() > 1;
    for (std::size_t c = 0; c < shapes.size(); ++c) {
        std::size_t size = 0;
        for (std::uint32_t s = 0; s < shapes[c].slabs; ++s) size += partition.size(first_slab[c] + s);
        // A single cell has no neighbourhood, rows of a wrapped grid hold boxes from all over the world, and filters
        // are tested beside coordinates of their own width.
        const bool fine = !grids_filtered && !shapes[c].wrapped() && shapes[c].cells() > 1;
        need_columns = need_columns || !fine;
        grids.push_back({shapes[c], first_slab[c], size, fine});
        sorted += size;
    }
    columns_ready = false;
    if (columns_used.exchange(false) || need_columns) make_columns(options.executor);
    if (stale + loose.size() + unbounded.size() != 0)
        for (Place& p : place)
            if (p != Place::free) p = Place::sorted;
    place.resize(slot_count, Place::sorted);
    stale = 0;
    loose.clear();
    unbounded.clear();
    unbounded_at.clear();
    for (const Rest& r : rest) {
        for (const std::uint32_t i : r.misfits) {
            loose.reserve_slots(slot_count);
            loose.insert(slot_of(i), boxes[i]);
            place[slot_of(i)] = Place::loose;
        }
        for (const std::uint32_t i : r.unbounded) {
            unbounded_at[slot_of(i)] = unbounded.size();
            unbounded.push_back({slot_of(i), boxes[i], {}});
            place[slot_of(i)] = Place::unbounded;
        }
    }
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::make_columns(Executor* executor) const {
    if (columns.size() < grids.size()) columns.resize(grids.size());
    const auto* rows = grids_filtered ? reinterpret_cast<const std::uint32_t(*)[2]>(filters.data()) : nullptr;
    for (std::size_t g = 0; g < grids.size(); ++g)
        columns[g].build(grids[g].shape, partition, grids[g].first_slab, rows, executor);
    columns_ready.store(true, std::memory_order_release);
}

template <int D, class T>
auto HashGridHierarchy<D, T>::Impl::gather(std::size_t room_for) const -> Gathered {
    Gathered all;
    all.boxes.reserve(room_for);
    all.slots.reserve(room_for);
    const auto add = [&](std::uint32_t slot, const BoxT& box) {
        all.boxes.push_back(box);
        all.slots.push_back(slot);
    };
    for_each_sorted(add);
    loose.for_each([&](std::uint32_t slot) { add(slot, loose.box(slot)); });
    for (const Unbounded& u : unbounded) add(u.slot, u.box);
    return all;
}

// Neighbours in the old order are neighbours in the new one: sorting them again is cheaper than sorting by slot.
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::reload(const Gathered& all) {
    if (all.slots.empty()) return;  // nothing alive: what is stored does not count
    const std::vector<Unbounded> keep = unbounded;
    load(all.boxes, {}, all.slots);
    for (const Unbounded& u : keep)
        if (u.half_space) unbounded[unbounded_at[u.slot]].half_space = u.half_space;
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::Impl::new_slot() {
    if (!free_slots.empty()) {
        const std::uint32_t slot = free_slots.back();
        free_slots.pop_back();
        return slot;
    }
    cells::check_count(place.size() + 1);
    const auto slot = static_cast<std::uint32_t>(place.size());
    place.push_back(Place::free);
    if (generation.size() < place.size()) generation.push_back(1);
    if (!filters.empty()) filters.push_back({Filter{}.group, Filter{}.mask});
    if (!spheres.empty()) spheres.push_back({});
    return slot;
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::put(std::uint32_t slot, const BoxT& box) {
    if (broad_phase::regular(box)) {
        loose.reserve_slots(place.size());
        loose.insert(slot, box);
        place[slot] = Place::loose;
    } else {
        unbounded_at[slot] = unbounded.size();
        unbounded.push_back({slot, box, {}});
        place[slot] = Place::unbounded;
    }
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::take(std::uint32_t slot) {
    switch (place[slot]) {
        case Place::sorted:
            ++stale;
            break;
        case Place::loose:
            loose.erase(slot);
            break;
        case Place::unbounded: {
            const std::size_t at = unbounded_at[slot];
            unbounded_at.erase(slot);
            if (at + 1 != unbounded.size()) {
                unbounded[at] = unbounded.back();
                unbounded_at[unbounded[at].slot] = at;
            }
            unbounded.pop_back();
            break;
        }
        case Place::free:
            break;
    }
    place[slot] = Place::free;
}

// Loose objects cost more to search: when they are many, everything is sorted again, at a constant price per edit.
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::maybe_rebuild() {
    if (options.update != UpdateStrategy::sorted || loose.size() + stale <= alive / 4 + loose_allowance) return;
    if (unbounded.size() > alive / 2) return;
    reload(gather(alive));
}

// Records of what is gone are searched too: when they are more than what is left, that is sorted by itself, in memory
// of its own size. At least as many objects have gone since as are sorted now, so the price per object is constant.
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::maybe_shrink() {
    if (alive == 0) {
        grids.clear();
        sorted = stale = 0;
        loose = broad_phase::DynamicGrids<D, T>(options);
        place.clear();
        free_slots.clear();
        filters.clear();
        spheres.clear();
    } else if (stale > alive + loose_allowance) {
        const Gathered all = gather(alive);
        columns.clear();
        partition = {};
        spare = {};
        grids.clear();
        reload(all);
    }
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::trim_slots(std::span<const BoxT> boxes) {
    std::size_t used = place.size();
    while (used != 0 && place[used - 1] == Place::free) --used;
    if (used == place.size()) return;
    cells::check_boxes(boxes, options.executor);
    place.resize(used);
    if (!filters.empty()) filters.resize(used);
    if (!spheres.empty()) spheres.resize(used);
    std::erase_if(free_slots, [&](std::uint32_t slot) { return slot >= used; });
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::expect_boxes() {
    if (!spheres.empty() && alive != 0) throw_mixed("boxes");
    spheres.clear();
}
template <int D, class T>
void HashGridHierarchy<D, T>::Impl::expect_spheres() {
    if (spheres.empty() && alive != 0) throw_mixed("spheres");
    spheres.resize(place.size());
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::Impl::checked(Id id) const {
    if (id.slot >= place.size() || id.generation != generation[id.slot] || place[id.slot] == Place::free)
        throw Error(ErrorKind::stale_id, "no such object", {.index = id.slot, .field = "id"});
    return id.slot;
}

template <int D, class T>
HashGridHierarchy<D, T>::HashGridHierarchy(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    const auto bad = [](const char* field, const char* why) {
        throw Error(ErrorKind::bad_value, why, {.field = field});
    };
    if (!(options.factor >= 1.01 && options.factor <= 1e6)) bad("factor", "must be 1.01 to 1e6");
    constexpr std::uint32_t most = D == 2 ? 256 : 64;
    const auto power = [](std::uint32_t n) { return n >= 4 && n <= most && (n & (n - 1)) == 0; };
    constexpr const char* wanted = D == 2 ? "must be a power of two, 4 to 256" : "must be a power of two, 4 to 64";
    if (!power(options.initial_cells)) bad("initial_cells", wanted);
    if (!power(options.min_cells)) bad("min_cells", wanted);
    if (options.cells_per_object < 1 || options.cells_per_object > 256) bad("cells_per_object", "must be 1 to 256");
}
template <int D, class T>
HashGridHierarchy<D, T>::~HashGridHierarchy() = default;
template <int D, class T>
HashGridHierarchy<D, T>::HashGridHierarchy(HashGridHierarchy&&) noexcept = default;
template <int D, class T>
HashGridHierarchy<D, T>& HashGridHierarchy<D, T>::operator=(HashGridHierarchy&&) noexcept = default;

template <int D, class T>
Id HashGridHierarchy<D, T>::Impl::insert_box(const BoxT& box, Filter filter) {
    const std::uint32_t slot = new_slot();
    if (filter != Filter{} || !filters.empty()) {
        filters.resize(place.size(), {Filter{}.group, Filter{}.mask});
        filters[slot] = {filter.group, filter.mask};
    }
    put(slot, box);
    ++alive;
    maybe_rebuild();
    return {slot, generation[slot]};
}

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const Box<D, T>& box, Filter filter) {
    Impl& s = *impl_;
    s.expect_boxes();
    cells::check_box(box, s.place.size());
    return s.insert_box(box, filter);
}

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const HalfSpace<D, T>& half_space, Filter filter) {
    Impl& s = *impl_;
    s.expect_boxes();
    bool zero = true;
    for (int k = 0; k < D; ++k) {
        if (!std::isfinite(half_space.normal[k]))
            throw Error(ErrorKind::bad_value, "must be finite", {.field = "normal"});
        zero = zero && half_space.normal[k] == 0;
    }
    if (zero) throw Error(ErrorKind::bad_value, "must not be zero", {.field = "normal"});
    if (!std::isfinite(half_space.offset)) throw Error(ErrorKind::bad_value, "must be finite", {.field = "offset"});
    Box<D, T> everything;
    for (int k = 0; k < D; ++k) {
        everything.lo[k] = -std::numeric_limits<T>::infinity();
        everything.hi[k] = std::numeric_limits<T>::infinity();
    }
    const Id id = s.insert_box(everything, filter);
    s.unbounded[s.unbounded_at[id.slot]].half_space.emplace(half_space);
    return id;
}

template <int D, class T>
Id HashGridHierarchy<D, T>::insert(const Sphere<D, T>& sphere, Filter filter) {
    Impl& s = *impl_;
    s.expect_spheres();
    const Box<D, T> box = checked_box_of(sphere, s.place.size());
    const Id id = s.insert_box(box, filter);
    s.spheres.resize(s.place.size());
    s.spheres[id.slot] = sphere;
    return id;
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::Impl::insert_boxes(std::span<const BoxT> boxes) {
    if (boxes.empty()) return static_cast<std::uint32_t>(place.size());
    trim_slots(boxes);
    const std::size_t before = place.size();
    cells::check_count(before + boxes.size());
    if (options.update != UpdateStrategy::sorted) {
        cells::check_boxes(boxes);
        if (!filters.empty()) filters.resize(before + boxes.size(), {Filter{}.group, Filter{}.mask});
        place.resize(before + boxes.size(), Place::free);
        for (std::size_t i = 0; i < boxes.size(); ++i) put(static_cast<std::uint32_t>(before + i), boxes[i]);
    } else if (before == 0) {
        load(boxes, {});
    } else {
        cells::check_boxes(boxes, options.executor);
        Gathered all = gather(alive + boxes.size());
        all.boxes.insert(all.boxes.end(), boxes.begin(), boxes.end());
        for (std::size_t i = 0; i < boxes.size(); ++i) all.slots.push_back(static_cast<std::uint32_t>(before + i));
        place.resize(before + boxes.size(), Place::sorted);
        reload(all);
    }
    generation.resize(std::max(generation.size(), place.size()), 1);
    alive += boxes.size();
    return static_cast<std::uint32_t>(before);
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::insert(std::span<const Box<D, T>> boxes) {
    impl_->expect_boxes();
    return impl_->insert_boxes(boxes);
}

template <int D, class T>
std::uint32_t HashGridHierarchy<D, T>::insert(std::span<const Sphere<D, T>> spheres) {
    Impl& s = *impl_;
    s.expect_spheres();
    const std::uint32_t first = s.insert_boxes(boxes_of(spheres));
    s.spheres.insert(s.spheres.end(), spheres.begin(), spheres.end());
    return first;
}

template <int D, class T>
void HashGridHierarchy<D, T>::erase(Id id) {
    Impl& s = *impl_;
    const std::uint32_t slot = s.checked(id);
    s.take(slot);
    ++s.generation[slot];
    s.free_slots.push_back(slot);
    --s.alive;
    s.maybe_shrink();
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::move_box(std::uint32_t slot, const BoxT& box) {
    if (place[slot] == Place::loose && broad_phase::regular(box)) {
        loose.move(slot, box);
        return;
    }
    take(slot);
    put(slot, box);
    maybe_rebuild();
}

template <int D, class T>
void HashGridHierarchy<D, T>::move(Id id, const Box<D, T>& box) {
    Impl& s = *impl_;
    const std::uint32_t slot = s.checked(id);
    s.expect_boxes();
    cells::check_box(box, slot);
    s.move_box(slot, box);
}

template <int D, class T>
void HashGridHierarchy<D, T>::move(Id id, const Sphere<D, T>& sphere) {
    Impl& s = *impl_;
    const std::uint32_t slot = s.checked(id);
    s.expect_spheres();
    s.move_box(slot, checked_box_of(sphere, slot));
    s.spheres[slot] = sphere;
}

template <int D, class T>
void HashGridHierarchy<D, T>::Impl::update_boxes(std::span<const BoxT> boxes) {
    cells::check_slots(boxes.size(), place.size());
    std::vector<Unbounded> keep;
    for (const Unbounded& u : unbounded)
        if (u.half_space) keep.push_back(u);
    if (options.update == UpdateStrategy::sorted) {
        if (free_slots.empty() && keep.empty()) return load(boxes, {});
        std::vector<Place> places(place);
        for (const Unbounded& u : keep) places[u.slot] = Place::free;  // passed over
        load(boxes, places);
        for (const Unbounded& u : keep) {
            place[u.slot] = Place::unbounded;
            unbounded_at[u.slot] = unbounded.size();
            unbounded.push_back(u);
        }
        return;
    }
    const auto for_each_box = [&](auto&& visit) {
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (place[i] != Place::free && !is_half_space(i)) visit(i);
    };
    for_each_box([&](std::uint32_t i) { cells::check_box(boxes[i], i); });
    if (options.update == UpdateStrategy::individual) {
        for_each_box([&](std::uint32_t i) { move_box(i, boxes[i]); });
        return;
    }
    loose.clear();
    unbounded.swap(keep);
    unbounded_at.clear();
    for (std::size_t k = 0; k < unbounded.size(); ++k) unbounded_at[unbounded[k].slot] = k;
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        if (place[i] != Place::free && !unbounded_at.contains(i)) put(i, boxes[i]);
}

template <int D, class T>
void HashGridHierarchy<D, T>::update(std::span<const Box<D, T>> boxes) {
    impl_->expect_boxes();
    impl_->update_boxes(boxes);
}

template <int D, class T>
void HashGridHierarchy<D, T>::update(std::span<const Sphere<D, T>> spheres) {
    Impl& s = *impl_;
    s.expect_spheres();
    cells::check_slots(spheres.size(), s.place.size());
    std::vector<Box<D, T>> boxes(spheres.size());
    for (std::size_t i = 0; i < spheres.size(); ++i)
        if (s.place[i] != Impl::Place::free) boxes[i] = checked_box_of(spheres[i], i);
    s.update_boxes(boxes);
    s.spheres.assign(spheres.begin(), spheres.end());
}

template <int D, class T>
void HashGridHierarchy<D, T>::set_filter(Id id, Filter filter) {
    Impl& s = *impl_;
    const std::uint32_t slot = s.checked(id);
    s.filters.resize(s.place.size(), {Filter{}.group, Filter{}.mask});
    s.filters[slot] = {filter.group, filter.mask};
    if (s.place[slot] == Impl::Place::sorted) s.grids_filtered = false;
}

template <int D, class T>
void HashGridHierarchy<D, T>::clear() {
    auto empty = std::make_unique<Impl>(Options(impl_->options));
    // Ids of what was there stay stale.
    empty->generation = std::move(impl_->generation);
    for (std::size_t slot = 0; slot < impl_->place.size(); ++slot)
        if (impl_->place[slot] != Impl::Place::free) ++empty->generation[slot];
    impl_ = std::move(empty);
}

template <int D, class T>
std::size_t HashGridHierarchy<D, T>::slots() const {
    return impl_->place.size();
}
template <int D, class T>
std::size_t HashGridHierarchy<D, T>::size() const {
    return impl_->alive;
}
template <int D, class T>
bool HashGridHierarchy<D, T>::contains(Id id) const {
    return id.slot < impl_->place.size() && id.generation == impl_->generation[id.slot] &&
           impl_->place[id.slot] != Impl::Place::free;
}
template <int D, class T>
Id HashGridHierarchy<D, T>::id(std::uint32_t slot) const {
    if (slot >= impl_->place.size() || impl_->place[slot] == Impl::Place::free) return {};
    return {slot, impl_->generation[slot]};
}

template <int D, class T>
BroadPhaseStats HashGridHierarchy<D, T>::stats() const {
    const Impl& s = *impl_;
    return {s.tests.load(), s.grids.size(), s.loose.size(), s.unbounded.size(), s.bytes()};
}

template <int D, class T>
std::size_t HashGridHierarchy<D, T>::Impl::bytes() const {
    std::size_t sum = partition.bytes() + spare.bytes() + block_cells.bytes() + loose.bytes() + held(generation) +
                      held(place) + held(free_slots) + held(filters) + held(spheres) + held(grids) + held(unbounded) +
                      unbounded_at.size() * (sizeof(*unbounded_at.begin()) + 2 * sizeof(void*)) +
                      unbounded_at.bucket_count() * sizeof(void*) + sizeof(*this);
    {
        const std::lock_guard lock(columns_mutex);
        for (const auto& grid : columns) sum += grid.bytes();
        sum += held(columns);
    }
    {
        const std::lock_guard lock(window_mutex);
        for (const auto& window : windows) sum += sizeof(*window) + window->bytes();
        sum += held(windows);
    }
    const std::lock_guard lock(scratch_mutex);
    for (const auto& part : scratch) sum += held(part);
    return sum + held(scratch);
}

template class HashGridHierarchy<2, float>;
template class HashGridHierarchy<3, float>;
template class HashGridHierarchy<2, double>;
template class HashGridHierarchy<3, double>;

}  // namespace quadrat
