#include "cells/hashes/classed_hash.hpp"

#include "cells/bounded_pairs.hpp"
#include "cells/hashes/classed_search.hpp"
#include "cells/ordered_rows.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace quadrat::cells {
namespace {

constexpr std::size_t edit_allowance = 64;  // below so many edits nothing is worth a build

/// An object of that cell is put into the slot.
void mark(CellSlot& slot, std::uint32_t mark) {
    if (slot.count == 0 && slot.list == 0)
        slot.mark = mark;
    else if (slot.mark != mark)
        slot.shared = 1;
}

}  // namespace

template <int D, class T, class Scheme>
template <class Fn>
void ClassedHash<D, T, Scheme>::for_each_cell_of(std::uint32_t object, Fn&& fn) const {
    const std::size_t last = levels_.level(object);
    QUADRAT_ASSERT(last < levels_.count());
    const auto& range = levels_.range(object);
    for_each_in<D>(coarser(range.lo, levels_.of(last)), coarser(range.hi, levels_.of(last)), [&](const Cell<D>& cell) {
        // Listing 1: from the largest class down to the object's, adding up.
        std::uint64_t key = 0;
        for (std::size_t level = 0; Scheme::nested && level < last; ++level) {
            const Cell<D> above = coarser(cell, levels_.of(level) - levels_.of(last));
            key += xor_hash(above);
            fn(key, above, level);
        }
        fn(key, cell, last);
    });
}

template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::build(std::span<const Box<D, T>> boxes) {
    check_boxes(boxes, options_.executor);
    objects_.replace(boxes);
    assemble();
}

template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::update(std::span<const Box<D, T>> boxes) {
    objects_.overwrite(boxes, options_.executor);
    assemble();
}

template <int D, class T, class Scheme>
std::uint32_t ClassedHash<D, T, Scheme>::append(std::span<const Box<D, T>> boxes) {
    check_boxes(boxes, options_.executor);
    if (boxes.empty() && objects_.size() != 0) return static_cast<std::uint32_t>(objects_.size());
    const std::uint32_t first = objects_.append(boxes);
    assemble();
    return first;
}

/// Everything but the objects, from the objects.
template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::assemble() {
    const auto n = static_cast<std::uint32_t>(objects_.size());
    objects_.settle();
    lists_.clear();
    to_columns(objects_.boxes(), columns_);
    column_count_ = n;
    levels_.build(objects_, options_.smallest, options_.levels, options_.executor);
    tables_.resize(options_.table_per_class ? std::max<std::size_t>(1, levels_.count()) : 1);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        const bool own = options_.table_per_class && levels_.count() != 0;
        const std::size_t objects = own ? levels_.objects_at(t) : objects_.live();
        const std::size_t length = options_.length != 0
                                       ? options_.length
                                       : std::clamp<std::size_t>(100 * objects, 1, ClassedHashOptions::longest);
        tables_[t].start(options_.fixed_length ? length : 0, objects);
    }
    for (std::uint32_t i = 0; i < n; ++i) insert<true>(i);
    std::uint32_t sum = 0;
    for (auto& t : tables_)
        t.for_each([&](CellSlot& s) {
            s.first = sum;
            sum += s.count;
            s.count = 0;
        });
    item_object_.resize(sum);
    item_box_.resize(sum);
    for (std::uint32_t i = 0; i < n; ++i) insert<false>(i);
    to_columns(std::span<const Box<D, T>>(item_box_), item_columns_);
}

/// Counts the object in its cells and marks the cells above them (counting), or writes it into them.
template <int D, class T, class Scheme>
template <bool counting>
void ClassedHash<D, T, Scheme>::insert(std::uint32_t object) {
    if (levels_.level(object) == levels_.none) return;
    const std::size_t last = levels_.level(object);
    for_each_cell_of(object, [&](std::uint64_t key, const Cell<D>& cell, std::size_t level) {
        if (level < last) {
            if constexpr (counting) table(level).add(key).has_children = 1;
            return;
        }
        key += xor_hash(cell);
        // Several cells of one object may share a slot, which then holds it once. While counting, `first` is the last
        // object plus one.
        if constexpr (counting) {
            CellSlot& s = table(last).add(key);
            mark(s, mark_of(last, cell));
            s.count += s.first != object + 1;
            s.first = object + 1;
        } else {
            CellSlot& s = *table(last).find(key);
            if (s.count != 0 && item_object_[s.first + s.count - 1] == object) return;
            QUADRAT_ASSERT(s.first + s.count < item_object_.size());
            item_object_[s.first + s.count] = object;
            item_box_[s.first + s.count] = objects_.boxes()[object];
            ++s.count;
        }
    });
}

template <int D, class T, class Scheme>
Id ClassedHash<D, T, Scheme>::insert(const Box<D, T>& box) {
    check_box(box, objects_.size());
    const Id id = objects_.add(box);
    link(id.slot);
    rebuild_if_worn();
    return id;
}

template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::erase(Id id) {
    const std::uint32_t slot = objects_.checked(id);
    unlink(slot);
    objects_.release(slot);
    give_back();
}

template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::move(Id id, const Box<D, T>& box) {
    const std::uint32_t slot = objects_.checked(id);
    check_box(box, slot);
    unlink(slot);
    objects_.put_back(slot, box);
    link(slot);
    rebuild_if_worn();
}

/// Puts a loose object into the lists of its cells.
template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::link(std::uint32_t slot) {
    QUADRAT_ASSERT(objects_.loose(slot));
    levels_.place(slot, objects_.boxes()[slot]);
    if (levels_.level(slot) == levels_.none) return;
    const std::size_t level = levels_.level(slot);
    for_each_cell_of(slot, [&](std::uint64_t parent_key, const Cell<D>& cell, std::size_t above) {
        if (above < level) {
            table(above).add(parent_key).has_children = 1;
            return;
        }
        CellSlot& s = table(level).add(parent_key + xor_hash(cell));
        mark(s, mark_of(level, cell));
        lists_.push(s, slot);
    });
}

/// Takes an object out of its cells; in the runs it only no longer counts.
template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::unlink(std::uint32_t slot) {
    const bool listed = objects_.loose(slot);
    objects_.take_out(slot);
    levels_.leave(slot);
    if (!listed || levels_.level(slot) == levels_.none) return;
    const std::size_t level = levels_.level(slot);
    for_each_cell_of(slot, [&](std::uint64_t parent_key, const Cell<D>& cell, std::size_t above) {
        if (above == level) lists_.remove(*table(level).find(parent_key + xor_hash(cell)), slot);
    });
}

template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::rebuild_if_worn() {
    if (objects_.edits() > objects_.live() / 4 + edit_allowance || lists_.full()) assemble();
}

// When more have gone since the last build than are left, these are built by themselves, in memory of their own size.
template <int D, class T, class Scheme>
void ClassedHash<D, T, Scheme>::give_back() {
    const std::size_t left = objects_.live();
    if (objects_.edits() <= 2 * left + edit_allowance && (left != 0 || objects_.capacity() <= edit_allowance)) return;
    objects_.trim();
    assemble();
    objects_.shrink();
    levels_.shrink();
    lists_.shrink();
    const auto fit = [](auto&... vectors) { (vectors.shrink_to_fit(), ...); };
    fit(item_object_, item_box_, item_columns_, columns_);
}

/// Against all boxes.
template <int D, class T, class Scheme>
SearchWork ClassedHash<D, T, Scheme>::linear(const Box<D, T>& query, std::vector<std::uint32_t>& found) const {
    const std::size_t before = found.size();
    found.resize(before + column_count_ + column_padding);
    found.resize(before + match_box<D, T>(columns_.data(), column_stride(column_count_), 0, column_count_, query,
                                          found.data() + before));
    if (objects_.edits() == 0) return {.tests = column_count_};
    found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                               [&](std::uint32_t o) { return !objects_.built(o); }),
                found.end());
    for (const std::uint32_t o : objects_.loose())
        if (overlap(objects_.boxes()[o], query)) found.push_back(o);
    return {.tests = column_count_ + objects_.loose().size()};
}

template <int D, class T, class Scheme>
SearchWork ClassedHash<D, T, Scheme>::find(const Box<D, T>& query, std::vector<std::uint32_t>& found) const {
    if (objects_.size() == 0) return {};
    const auto range = levels_.range(query);
    // A query that touches more cells than a scan of all boxes is worth.
    std::uint64_t cells = 0;
    const std::uint64_t limit = 64 + objects_.size() / 16;
    for (const int k : levels_.classes()) {
        const std::uint64_t count = cell_count(coarser(range.lo, k), coarser(range.hi, k));
        if (count > limit || (cells += count) > limit) return linear(query, found);
    }
    const std::size_t last = levels_.count() == 0 ? 0 : levels_.count() - 1;
    SearchWork work = ClassedSearch<D, T, Scheme>(*this, query, range, last, ~std::uint32_t{0}, found).run();
    for (const std::uint32_t o : levels_.oversize())
        if (overlap(objects_.boxes()[o], query)) found.push_back(o);
    work.tests += levels_.oversize().size();
    return work;
}

template <int D, class T, class Scheme>
SearchWork ClassedHash<D, T, Scheme>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    QUADRAT_ASSERT(q < objects_.size());
    if (objects_.gone(q)) return {};
    const Box<D, T>& box = objects_.boxes()[q];
    if (levels_.level(q) != levels_.none)
        return ClassedSearch<D, T, Scheme>(*this, box, levels_.range(q), levels_.level(q), q, found).run();
    // Against everything; of two oversize boxes the later one reports.
    const std::size_t before = found.size();
    const SearchWork work = linear(box, found);
    const auto keep = [&](std::uint32_t o) { return o != q && (levels_.level(o) != levels_.none || o < q); };
    found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                               [&](std::uint32_t o) { return !keep(o); }),
                found.end());
    return work;
}

template <int D, class T, class Scheme>
SearchWork ClassedHash<D, T, Scheme>::find_pairs(std::vector<Pair>& out) const {
    constexpr std::size_t grain = 4096;
    const std::size_t n = objects_.size(), chunks = base::chunk_count(n, grain);
    std::vector<std::vector<Pair>> parts(chunks);
    std::vector<SearchWork> work(chunks);
    const std::size_t limit = options_.max_bytes / sizeof(Pair);
    std::atomic<std::size_t> count{0};
    base::run_tasks(options_.executor, chunks, [&](std::size_t chunk) {
        std::vector<std::uint32_t> found;
        BoundedPairs part(parts[chunk], options_.max_bytes);
        for (std::size_t i = chunk * grain; i < std::min(n, (chunk + 1) * grain); ++i) {
            const auto q = static_cast<std::uint32_t>(i);
            found.clear();
            work[chunk] += partners(q, found);
            for (const std::uint32_t o : found) part.add(o, q);
        }
        if ((count += part.count()) > limit) std::vector<Pair>().swap(parts[chunk]);
    });
    out.clear();
    if (count > limit) throw_too_large(count, options_.max_bytes);
    out.reserve(count);
    for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
    SearchWork sum;
    for (const SearchWork& w : work) sum += w;
    return sum;
}

template <int D, class T, class Scheme>
SearchWork ClassedHash<D, T, Scheme>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    check_boxes(queries, options_.executor);
    BoundedPairs pairs(out, options_.max_bytes);
    const SearchWork work = in_order<SearchWork>(
        options_.executor, queries.size(), [] { return 0; },
        [&](std::size_t i, std::vector<std::uint32_t>& found, int) { return find(queries[i], found); },
        [&](std::size_t i, std::span<const std::uint32_t> row) {
            for (const std::uint32_t j : row) pairs.push({static_cast<std::uint32_t>(i), j});
        });
    pairs.finish();
    return work;
}

template <int D, class T, class Scheme>
std::size_t ClassedHash<D, T, Scheme>::bytes() const {
    std::size_t sum = objects_.bytes() + levels_.bytes() + lists_.bytes() +
                      item_object_.capacity() * sizeof(std::uint32_t) + item_box_.capacity() * sizeof(Box<D, T>) +
                      (item_columns_.capacity() + columns_.capacity()) * sizeof(T);
    for (const auto& t : tables_) sum += t.bytes();
    return sum;
}

template class ClassedHash<2, float, UniformScheme>;
template class ClassedHash<3, float, UniformScheme>;
template class ClassedHash<2, double, UniformScheme>;
template class ClassedHash<3, double, UniformScheme>;
template class ClassedHash<2, float, MultilevelScheme>;
template class ClassedHash<3, float, MultilevelScheme>;
template class ClassedHash<2, double, MultilevelScheme>;
template class ClassedHash<3, double, MultilevelScheme>;
template class ClassedHash<2, float, HierarchicalScheme>;
template class ClassedHash<3, float, HierarchicalScheme>;
template class ClassedHash<2, double, HierarchicalScheme>;
template class ClassedHash<3, double, HierarchicalScheme>;

}  // namespace quadrat::cells
