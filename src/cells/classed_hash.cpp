#include "cells/classed_hash.hpp"

#include "cells/bounded_pairs.hpp"
#include "cells/ordered_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace quadrat::cells {
namespace {

/// Runs of fewer candidates are tested one by one.
constexpr std::uint32_t vector_from = 8;
/// One box in so many may be smaller than the cells of the smallest class.
constexpr std::size_t smaller_than_smallest = 64;

template <int D>
std::uint64_t cell_count(const Cell<D>& lo, const Cell<D>& hi) {
    std::uint64_t count = 1;
    for (int k = 0; k < D; ++k) {
        const std::uint64_t length = static_cast<std::uint64_t>(hi[k]) - static_cast<std::uint64_t>(lo[k]) + 1;
        if (length > (std::uint64_t{1} << 31) || count > (std::uint64_t{1} << 31)) return ~std::uint64_t{0};
        count *= length;
    }
    return count;
}

/// The longest finite edge of a box.
template <int D, class T>
double finite_extent(const Box<D, T>& b) {
    double longest = 0;
    for (int k = 0; k < D; ++k) {
        const double e = static_cast<double>(b.hi[k]) - static_cast<double>(b.lo[k]);
        if (e <= std::numeric_limits<double>::max()) longest = std::max(longest, e);
    }
    return longest;
}

/// Of the corners, along any axis, as far as it is finite.
template <int D, class T>
double distance_from_origin(const Box<D, T>& b) {
    double most = 0;
    for (int k = 0; k < D; ++k)
        for (const T x : {b.lo[k], b.hi[k]})
            if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
    return most;
}

/// The number that `rank` others do not exceed.
double ranked(std::vector<double>& numbers, std::size_t rank) {
    const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(numbers.begin(), at, numbers.end());
    return *at;
}

double power_of_two_below(double x) {
    return std::ldexp(1.0, std::max(-1070, std::ilogb(x)));
}

}  // namespace

/// One search: for the partners of an object, or for whatever overlaps a box.
template <int D, class T>
struct ClassedHash<D, T>::Visit {
    Box<D, T> box;
    Range range;
    std::size_t last_level;
    std::uint32_t self;  // partners: only smaller ids at last_level; otherwise all ones
    std::vector<std::uint32_t>& found;
    std::uint64_t tests = 0;
    std::vector<const CellSlot*> seen{};  // shared slots that were looked at
};

template <int D, class T>
void ClassedHash<D, T>::choose_classes() {
    double edge = options_.smallest;
    if (!(edge > 0)) {
        double mean = 0;
        std::vector<double> sizes, places;
        for (const auto& b : boxes_) {
            const double e = finite_extent(b);
            if (!(e > 0)) continue;
            sizes.push_back(e);
            places.push_back(distance_from_origin(b));
            mean += (e - mean) / static_cast<double>(sizes.size());
        }
        if (sizes.empty())
            edge = 1;
        else if (scheme_ == Scheme::uniform)
            edge = std::min(2 * mean, 1e300);
        else
            // A few may be smaller than the smallest class, which takes them too. Cells must be numbers of 62 bits
            // where most boxes are.
            edge = power_of_two_below(std::max(ranked(sizes, sizes.size() / smaller_than_smallest),
                                               0x1p-52 * ranked(places, places.size() / 2)));
    }
    quantiser_ = Quantiser<D>(edge);
}

template <int D, class T>
void ClassedHash<D, T>::build(std::span<const Box<D, T>> boxes) {
    check_boxes(boxes, options_.executor);
    boxes_.assign(boxes.begin(), boxes.end());
    state_.clear();
    free_.clear();
    generation_.clear();
    first_generation_ = ++last_generation_;
    assemble();
}

template <int D, class T>
void ClassedHash<D, T>::update(std::span<const Box<D, T>> boxes) {
    check_slots(boxes.size(), slots());
    if (free_.empty()) {
        check_boxes(boxes, options_.executor);
        boxes_.assign(boxes.begin(), boxes.end());
    } else {
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (!gone(i)) check_box(boxes[i], i);
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (!gone(i)) boxes_[i] = boxes[i];
    }
    assemble();
}

template <int D, class T>
std::uint32_t ClassedHash<D, T>::append(std::span<const Box<D, T>> boxes) {
    check_boxes(boxes, options_.executor);
    if (boxes.empty() && slots() != 0) return static_cast<std::uint32_t>(slots());
    const std::size_t all = slots();
    trim();
    const std::size_t before = slots();
    const bool again = before != all;
    check_count(before + boxes.size());
    boxes_.insert(boxes_.end(), boxes.begin(), boxes.end());
    if (!state_.empty()) state_.resize(slots(), State::built);
    if (again || !generation_.empty() || (before != 0 && !boxes.empty())) {
        generation_.resize(before, first_generation_);
        generation_.resize(slots(), last_generation_ + 1);
        ++last_generation_;
    }
    assemble();
    return static_cast<std::uint32_t>(before);
}

template <int D, class T>
void ClassedHash<D, T>::trim() {
    std::size_t used = slots();
    while (used != 0 && gone(static_cast<std::uint32_t>(used - 1))) --used;
    if (used == slots()) return;
    boxes_.resize(used);
    state_.resize(used);
    std::erase_if(free_, [&](std::uint32_t slot) { return slot >= used; });
    if (generation_.empty()) generation_.push_back(first_generation_);  // those who take these slots have their own
}

/// Everything but the boxes, from the boxes.
template <int D, class T>
void ClassedHash<D, T>::assemble() {
    const std::size_t n = boxes_.size();
    edits_ = 0;
    loose_.clear();
    list_.clear();
    free_entry_ = 0;
    if (free_.empty()) {
        state_.clear();
    } else {
        for (State& s : state_)
            if (s == State::loose) s = State::built;
        loose_at_.resize(n);
    }
    to_columns(std::span<const Box<D, T>>(boxes_), columns_);
    column_count_ = n;
    choose_classes();
    range_.resize(n);
    level_.assign(n, 0);
    oversize_.clear();
    const int fixed_levels = scheme_ == Scheme::uniform ? 1 : options_.levels;
    std::size_t used[63] = {};  // objects of each class
    for (int round = 0;; ++round) {
        base::parallel_for(options_.executor, n, 1 << 14, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                if (gone(static_cast<std::uint32_t>(i))) {
                    range_[i] = {};
                    continue;
                }
                range_[i] = {quantiser_.cell(boxes_[i].lo), quantiser_.cell(boxes_[i].hi)};
                int k = size_class(range_[i].lo, range_[i].hi);
                if (fixed_levels > 0) k = std::min(k, fixed_levels - 1);
                level_[i] = static_cast<std::uint8_t>(k);
            }
        });
        // With one class the edge is a compromise: take a larger one while it leaves more than a sixty-fourth of the
        // boxes over.
        if (scheme_ != Scheme::uniform || options_.smallest > 0 || round == 20) break;
        std::size_t over = 0;
        for (std::size_t i = 0; i < n; ++i) over += cell_count(range_[i].lo, range_[i].hi) > max_cells_per_box;
        if (over <= n / 64) break;
        if (!(quantiser_.edge(0) < 1e300)) break;
        quantiser_ = Quantiser<D>(quantiser_.edge(0) * 2);
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        if (gone(i)) continue;
        const int k = level_[i];
        if (cells_at(i, k) > max_cells_per_box) {
            level_[i] = no_level;
            oversize_.push_back(i);
        } else {
            ++used[k];
        }
    }
    classes_.clear();
    for (int k = 62; k >= 0; --k)
        if (used[k] != 0 || k < fixed_levels) classes_.push_back(k);
    std::uint8_t level_of_class[63] = {};
    for (std::size_t l = 0; l < classes_.size(); ++l) level_of_class[classes_[l]] = static_cast<std::uint8_t>(l);
    for (std::uint32_t i = 0; i < n; ++i)
        if (gone(i))
            level_[i] = no_level;
        else if (level_[i] != no_level)
            level_[i] = level_of_class[level_[i]];

    tables_.resize(options_.table_per_class ? std::max<std::size_t>(1, classes_.size()) : 1);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
        const std::size_t objects = options_.table_per_class && !classes_.empty() ? used[classes_[t]] : size();
        const std::size_t length = options_.length != 0 ? options_.length : std::max<std::size_t>(1, 100 * objects);
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
template <int D, class T>
template <bool counting>
void ClassedHash<D, T>::insert(std::uint32_t object) {
    if (level_[object] == no_level) return;
    const std::size_t last = level_[object];
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
            item_object_[s.first + s.count] = object;
            item_box_[s.first + s.count] = boxes_[object];
            ++s.count;
        }
    });
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::cells_at(std::uint32_t object, int k) const {
    return cell_count<D>(coarser(range_[object].lo, k), coarser(range_[object].hi, k));
}

template <int D, class T>
const CellSlot* ClassedHash<D, T>::slot_of(std::size_t level, const Cell<D>& cell) const {
    std::uint64_t key = 0;
    for (std::size_t l = scheme_ == Scheme::hierarchical ? 0 : level; l < level; ++l)
        key += xor_hash(coarser(cell, classes_[l] - classes_[level]));
    return table(level).find(key + xor_hash(cell));
}

template <int D, class T>
void ClassedHash<D, T>::test(Visit& visit, std::size_t level, const Cell<D>& cell, const CellSlot& slot) const {
    if (slot.shared) [[unlikely]]
        return test_shared(visit, slot);
    if (slot.mark != mark_of(level, cell)) return;  // it holds the objects of another cell
    test_objects(visit, slot, [&](std::uint32_t o) {
        if (level_[o] != level) return;
        for (int k = 0; k < D; ++k)
            if (std::max(coarser(range_[o].lo[k], classes_[level]), coarser(visit.range.lo[k], classes_[level])) !=
                cell[k])
                return;
        if (level == visit.last_level && o >= visit.self) return;
        visit.found.push_back(o);
    });
}

/// Objects of several cells: each is reported if the cell that reports it and the query is one of them.
template <int D, class T>
void ClassedHash<D, T>::test_shared(Visit& visit, const CellSlot& slot) const {
    if (std::find(visit.seen.begin(), visit.seen.end(), &slot) != visit.seen.end()) return;
    visit.seen.push_back(&slot);
    test_objects(visit, slot, [&](std::uint32_t o) {
        const std::size_t level = level_[o];
        if (level > visit.last_level) return;
        Cell<D> meeting;
        for (int k = 0; k < D; ++k)
            meeting[k] =
                std::max(coarser(range_[o].lo[k], classes_[level]), coarser(visit.range.lo[k], classes_[level]));
        if (slot_of(level, meeting) != &slot || (level == visit.last_level && o >= visit.self)) return;
        visit.found.push_back(o);
    });
}

/// take(o) for each object of the slot whose box overlaps that of the search.
template <int D, class T>
template <class Take>
void ClassedHash<D, T>::test_objects(Visit& visit, const CellSlot& slot, Take&& take) const {
    const auto hit = [&](std::uint32_t item) {
        if (built(item_object_[item])) take(item_object_[item]);
    };
    for (std::uint32_t e = slot.list; e != 0; e = list_[e].next) {
        ++visit.tests;
        if (overlap(boxes_[list_[e].object], visit.box)) take(list_[e].object);
    }
    const std::uint32_t begin = slot.first, end = slot.first + slot.count;
    visit.tests += slot.count;
    if (slot.count < vector_from) {
        for (std::uint32_t item = begin; item < end; ++item)
            if (overlap(item_box_[item], visit.box)) hit(item);
        return;
    }
    constexpr std::uint32_t block = 240;
    std::uint32_t matches[block + column_padding];  // a kernel may write a vector's worth more than it reports
    for (std::uint32_t from = begin; from < end; from += block) {
        const std::size_t count = match_box<D, T>(item_columns_.data(), column_stride(item_box_.size()), from,
                                                  std::min(end, from + block), visit.box, matches);
        for (std::size_t k = 0; k < count; ++k) hit(matches[k]);
    }
}

template <int D, class T>
void ClassedHash<D, T>::walk(Visit& visit, std::size_t level, const Cell<D>& lo, const Cell<D>& hi,
                             std::uint64_t parent_key) const {
    for_each_in<D>(lo, hi, [&](const Cell<D>& cell) { descend(visit, level, cell, parent_key); });
}

/// Looks into one cell and, where it has children, into those that the search touches.
template <int D, class T>
void ClassedHash<D, T>::descend(Visit& visit, std::size_t level, const Cell<D>& cell, std::uint64_t parent_key) const {
    const std::uint64_t key = parent_key + xor_hash(cell);
    const CellSlot* slot = table(level).find(key);
    if (!slot) return;
    if (slot->count != 0 || slot->list != 0) test(visit, level, cell, *slot);
    if (!slot->has_children || level == visit.last_level) return;
    const int below = classes_[level + 1], ratio = classes_[level] - below;
    Cell<D> lo, hi;
    for (int k = 0; k < D; ++k) {
        const std::int64_t first = cell[k] << ratio;
        lo[k] = std::max(first, coarser(visit.range.lo[k], below));
        hi[k] = std::min(first + ((std::int64_t{1} << ratio) - 1), coarser(visit.range.hi[k], below));
    }
    walk(visit, level + 1, lo, hi, key);
}

template <int D, class T>
void ClassedHash<D, T>::walk_all(Visit& visit) const {
    if (classes_.empty()) return;
    const std::size_t last = scheme_ == Scheme::hierarchical ? 0 : visit.last_level;
    for (std::size_t level = 0; level <= last; ++level)
        walk(visit, level, coarser(visit.range.lo, classes_[level]), coarser(visit.range.hi, classes_[level]), 0);
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::linear(const Box<D, T>& query, std::vector<std::uint32_t>& found) const {
    const std::size_t before = found.size();
    found.resize(before + column_count_ + column_padding);
    found.resize(before + match_box<D, T>(columns_.data(), column_stride(column_count_), 0, column_count_, query,
                                          found.data() + before));
    if (edits_ == 0) return column_count_;
    found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                               [&](std::uint32_t o) { return !built(o); }),
                found.end());
    for (const std::uint32_t o : loose_)
        if (overlap(boxes_[o], query)) found.push_back(o);
    return column_count_ + loose_.size();
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::find(const Box<D, T>& query, std::vector<std::uint32_t>& found) const {
    if (boxes_.empty()) return 0;
    Visit visit{query,
                {quantiser_.cell(query.lo), quantiser_.cell(query.hi)},
                classes_.empty() ? 0 : classes_.size() - 1,
                ~std::uint32_t{0},
                found};
    // A query that touches more cells than a scan of all boxes is worth.
    std::uint64_t cells = 0;
    const std::uint64_t limit = 64 + boxes_.size() / 16;
    for (const int k : classes_) {
        const std::uint64_t count = cell_count(coarser(visit.range.lo, k), coarser(visit.range.hi, k));
        if (count > limit || (cells += count) > limit) return linear(query, found);
    }
    walk_all(visit);
    for (const std::uint32_t o : oversize_)
        if (overlap(boxes_[o], query)) found.push_back(o);
    return visit.tests + oversize_.size();
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    if (gone(q)) return 0;
    if (level_[q] == no_level) {
        // Against everything; of two oversize boxes the later one reports.
        const std::size_t before = found.size();
        const std::uint64_t tests = linear(boxes_[q], found);
        const auto keep = [&](std::uint32_t o) { return level_[o] != no_level || o < q; };
        found.erase(std::remove_if(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                                   [&](std::uint32_t o) { return !keep(o) || o == q; }),
                    found.end());
        return tests;
    }
    Visit visit{boxes_[q], range_[q], level_[q], q, found};
    walk_all(visit);
    return visit.tests;
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::find_pairs(std::vector<Pair>& out) const {
    constexpr std::size_t grain = 4096;
    const std::size_t chunks = base::chunk_count(boxes_.size(), grain);
    std::vector<std::vector<Pair>> parts(chunks);
    std::vector<std::uint64_t> tests(chunks, 0);
    const std::size_t limit = options_.max_bytes / sizeof(Pair);
    std::atomic<std::size_t> count{0};
    base::run_tasks(options_.executor, chunks, [&](std::size_t chunk) {
        std::vector<std::uint32_t> found;
        BoundedPairs part(parts[chunk], options_.max_bytes);
        for (std::size_t i = chunk * grain; i < std::min(boxes_.size(), (chunk + 1) * grain); ++i) {
            const auto q = static_cast<std::uint32_t>(i);
            found.clear();
            tests[chunk] += partners(q, found);
            for (const std::uint32_t o : found) part.add(o, q);
        }
        if ((count += part.count()) > limit) std::vector<Pair>().swap(parts[chunk]);
    });
    out.clear();
    if (count > limit) throw_too_large(count, options_.max_bytes);
    out.reserve(count);
    for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
    return std::accumulate(tests.begin(), tests.end(), std::uint64_t{0});
}

template <int D, class T>
std::uint64_t ClassedHash<D, T>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    check_boxes(queries, options_.executor);
    BoundedPairs pairs(out, options_.max_bytes);
    const std::uint64_t tests = in_order(
        options_.executor, queries.size(), [] { return 0; },
        [&](std::size_t i, std::vector<std::uint32_t>& found, int) { return find(queries[i], found); },
        [&](std::size_t i, std::span<const std::uint32_t> row) {
            for (const std::uint32_t j : row) pairs.push({static_cast<std::uint32_t>(i), j});
        });
    pairs.finish();
    return tests;
}

template <int D, class T>
std::size_t ClassedHash<D, T>::bytes() const {
    std::size_t sum = boxes_.capacity() * sizeof(Box<D, T>) + range_.capacity() * sizeof(Range) + level_.capacity() +
                      (oversize_.capacity() + item_object_.capacity() + loose_.capacity() + loose_at_.capacity() +
                       free_.capacity() + generation_.capacity()) *
                          sizeof(std::uint32_t) +
                      state_.capacity() + list_.capacity() * sizeof(Entry) + item_box_.capacity() * sizeof(Box<D, T>) +
                      (item_columns_.capacity() + columns_.capacity()) * sizeof(T);
    for (const auto& t : tables_) sum += t.bytes();
    return sum;
}

template class ClassedHash<2, float>;
template class ClassedHash<2, double>;
template class ClassedHash<3, float>;
template class ClassedHash<3, double>;

}  // namespace quadrat::cells
