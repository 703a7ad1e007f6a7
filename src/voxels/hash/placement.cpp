#include "voxels/hash/placement.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/counting_sort.hpp"
#include "voxels/hash/short_tags.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace quadrat::voxels {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

std::uint32_t wrap(std::uint32_t v, std::uint32_t m) {
    return v >= m ? v - m : v;
}

std::uint64_t load(const std::uint8_t* p) {
    std::uint64_t w;
    std::memcpy(&w, p, 8);
    return w;
}

}  // namespace

Placement::Placement(const Buckets& buckets, const ShortTags* tags, std::uint64_t seed)
    : buckets_(buckets),
      tags_(tags),
      random_(seed),
      taken_(buckets.table),
      offsets_(buckets.count()),
      placed_(buckets.count()) {
    for (std::size_t a = 0; a < 3; ++a) QUADRAT_ASSERT(buckets.steps[a] >= 1 && buckets.steps[a] <= buckets.table[a]);
    QUADRAT_ASSERT(buckets.points.size() == buckets.start.back());
}

std::vector<std::uint32_t> Placement::order_by_size(const Buckets& buckets) {
    std::uint32_t largest = 0;
    for (std::uint32_t q = 0; q < buckets.count(); ++q) largest = std::max(largest, buckets.size(q));
    std::vector<std::uint32_t> ends(std::size_t{largest} + 1);  // ends[s]: of those of size largest - s
    std::vector<std::uint32_t> order(buckets.count());
    cells::counting_sort(
        ends, 0, buckets.count(), [&](std::uint32_t q) { return largest - buckets.size(q); },
        [&](std::uint32_t q, std::uint32_t place) { order[place] = q; });
    order.resize(largest == 0 ? 0 : ends[largest - 1]);  // the empty ones are last
    return order;
}

bool Placement::fits(std::uint32_t q, Triple offset) {
    for (const Triple p : buckets_.of(q)) {
        const Triple s = slot(p, offset);
        if (taken_.taken(s.x(), s.y(), s.z())) return false;
    }
    return clear_of_partners(q, offset);
}

bool Placement::clear_of_partners(std::uint32_t q, Triple offset) {
    if (!tags_) return true;
    slots_.clear();
    for (const Triple p : buckets_.of(q)) slots_.push_back(slot(p, offset));
    const ShortTags::Side mine = tags_->side(q);
    const std::uint32_t first = tags_->first_partner(q);
    ShortTags::Side side = tags_->side(first);
    for (std::uint64_t k = first; k < buckets_.count(); k += tags_->step(), tags_->advance(side)) {
        const auto other = static_cast<std::uint32_t>(k);
        if (other == q || !placed_[other]) continue;
        const Triple theirs = offsets_[other];
        for (const Triple s : slots_)
            if (tags_->reaches(side, s, theirs)) return false;
        for (const Triple p : buckets_.of(other))
            if (tags_->reaches(mine, slot(p, theirs), offset)) return false;
    }
    return true;
}

void Placement::place(std::uint32_t q, Triple offset) {
    QUADRAT_ASSERT(q < buckets_.count() && !placed_[q]);
    QUADRAT_ASSERT(offset.x() < buckets_.steps[0] && offset.y() < buckets_.steps[1] && offset.z() < buckets_.steps[2]);
    for (const Triple p : buckets_.of(q)) {
        const Triple s = slot(p, offset);
        taken_.set(s.x(), s.y(), s.z());
        if (!owner_.empty()) owner_[index(s)] = q;
    }
    offsets_[q] = offset;
    placed_[q] = 1;
}

void Placement::take_back(std::uint32_t q) {
    QUADRAT_ASSERT(q < buckets_.count() && placed_[q]);
    for (const Triple p : buckets_.of(q)) {
        const Triple s = slot(p, offsets_[q]);
        taken_.clear(s.x(), s.y(), s.z());
        if (!owner_.empty()) owner_[index(s)] = nobody;
    }
    placed_[q] = 0;
}

// Visits the words of 57 offsets in the order plane, group, row from a random start. accept(rows, at, mask, base) looks
// at the points' words, which lie `at` bytes after rows[i].word, and returns true to end the scan.
template <class Accept>
bool Placement::scan(std::uint32_t q, Accept&& accept) {
    const auto points = buckets_.of(q);
    const Sizes& m = buckets_.table;
    const std::uint32_t groups = (buckets_.steps[0] + Occupancy::group - 1) / Occupancy::group;
    const std::uint32_t columns = groups * buckets_.steps[2];
    const std::uint32_t first_column = random_.below(columns);
    const std::uint32_t first_row = random_.below(buckets_.steps[1]);
    const std::size_t stride = taken_.stride();
    const std::size_t plane = stride * m[1];
    if (rows_.size() < points.size()) rows_.resize(points.size());
    for (std::uint32_t c = 0; c <= columns; ++c) {
        const std::uint32_t column = wrap(first_column + c, columns);
        const std::uint32_t oz = column / groups;
        const std::uint32_t ox = (column - oz * groups) * Occupancy::group;
        const std::uint32_t width = std::min(Occupancy::group, buckets_.steps[0] - ox);
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        std::uint32_t oy = c == 0 ? first_row : 0;
        const std::uint32_t end = c == columns ? first_row : buckets_.steps[1];
        if (oy >= end) continue;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::uint32_t x = wrap(points[i].x() + ox, m[0]);
            const std::uint32_t y = wrap(points[i].y() + oy, m[1]);
            rows_[i] = {taken_.row(y, wrap(points[i].z() + oz, m[2])) + (x >> 3), x & 7, m[1] - y};
        }
        while (oy < end) {
            // Until the next point wraps, only the common displacement grows.
            std::uint32_t run = end - oy;
            for (std::size_t i = 0; i < points.size(); ++i) run = std::min(run, rows_[i].left);
            for (std::uint32_t t = 0; t < run; ++t)
                if (accept(rows_.data(), t * stride, mask, Triple::of(ox, oy + t, oz))) return true;
            oy += run;
            for (std::size_t i = 0; i < points.size(); ++i) {
                rows_[i].word += run * stride;
                rows_[i].left -= run;
                if (rows_[i].left == 0) {
                    rows_[i].word -= plane;
                    rows_[i].left = m[1];
                }
            }
        }
    }
    return false;
}

bool Placement::search(std::uint32_t q, Triple& offset) {
    const std::uint32_t k = buckets_.size(q);
    QUADRAT_ASSERT(k != 0 && !placed_[q]);
    const auto turn = static_cast<std::uint32_t>(random_.next() >> 58) % Occupancy::group;
    // The first free offset at or after a random bit, so that no column of a group is preferred.
    const auto choose = [&](std::uint64_t open, Triple base) {
        const std::uint64_t late = open >> turn << turn;
        for (std::uint64_t part : {late, open ^ late})
            for (; part != 0; part &= part - 1) {
                offset = Triple::of(base.x() + static_cast<std::uint32_t>(std::countr_zero(part)), base.y(), base.z());
                if (clear_of_partners(q, offset)) return true;
            }
        return false;
    };
    const auto fixed = [&]<int N>() {
        return scan(q, [&](const Row* rows, std::size_t at, std::uint64_t mask, Triple base) {
            std::uint64_t taken = 0;
            for (int i = 0; i < N; ++i) taken |= load(rows[i].word + at) >> rows[i].shift;
            const std::uint64_t open = ~taken & mask;
            return open != 0 && choose(open, base);
        });
    };
    switch (k) {
        case 1:
            return fixed.template operator()<1>();
        case 2:
            return fixed.template operator()<2>();
        case 3:
            return fixed.template operator()<3>();
        case 4:
            return fixed.template operator()<4>();
        case 5:
            return fixed.template operator()<5>();
        default:
            break;
    }
    return scan(q, [&](const Row* rows, std::size_t at, std::uint64_t mask, Triple base) {
        std::uint64_t taken = 0;
        for (std::uint32_t i = 0; i < 4; ++i) taken |= load(rows[i].word + at) >> rows[i].shift;
        if ((~taken & mask) == 0) return false;
        for (std::uint32_t i = 4; i < k; ++i) {
            taken |= load(rows[i].word + at) >> rows[i].shift;
            if ((~taken & mask) == 0) return false;
        }
        return choose(~taken & mask, base);
    });
}

void Placement::remember_owners() {
    owner_.assign(product(buckets_.table), nobody);
    evicted_.assign(buckets_.count(), 0);
    for (std::uint32_t q = 0; q < buckets_.count(); ++q) {
        if (!placed_[q]) continue;
        for (const Triple p : buckets_.of(q)) owner_[index(slot(p, offsets_[q]))] = q;
    }
}

// Puts q where it meets the fewest and smallest other buckets, which become pending. Offsets with one taken slot are
// found 57 at a time with a two-bit counter; only if there is none are random offsets tried.
bool Placement::evict_for(std::uint32_t q, std::vector<std::uint32_t>& pending) {
    if (owner_.empty()) remember_owners();
    const auto points = buckets_.of(q);
    std::uint64_t best_cost = std::numeric_limits<std::uint64_t>::max();
    Triple best{};
    std::vector<std::uint32_t> victims;
    const auto consider = [&](Triple offset) {
        victims.clear();
        std::uint64_t cost = 0;
        for (const Triple p : points) {
            const std::uint32_t w = owner_[index(slot(p, offset))];
            if (w == nobody || std::find(victims.begin(), victims.end(), w) != victims.end()) continue;
            victims.push_back(w);
            const std::uint64_t size = buckets_.size(w) + std::uint64_t{2} * evicted_[w];
            cost += size * size * size;
            if (cost >= best_cost) return;
        }
        if (!clear_of_partners(q, offset)) return;
        best_cost = cost;
        best = offset;
    };
    constexpr int enough = 256;  // candidates with one victim
    int seen = 0;
    scan(q, [&](const Row* rows, std::size_t at, std::uint64_t mask, Triple base) {
        std::uint64_t once = 0, twice = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::uint64_t w = load(rows[i].word + at) >> rows[i].shift;
            twice |= once & w;
            once |= w;
            if ((~twice & mask) == 0) return false;
        }
        for (std::uint64_t rest = once & ~twice & mask; rest != 0; rest &= rest - 1) {
            consider(Triple::of(base.x() + static_cast<std::uint32_t>(std::countr_zero(rest)), base.y(), base.z()));
            if (++seen == enough) return true;
        }
        return false;
    });
    if (seen < 16)
        for (int t = 0; t < 200; ++t) consider(random_offset(random_, buckets_.steps));
    if (best_cost == std::numeric_limits<std::uint64_t>::max()) return false;
    best_cost = std::numeric_limits<std::uint64_t>::max();
    consider(best);  // gives the victims again
    evictions_ += victims.size();
    if (evictions_ > max_evictions_) return false;
    std::sort(victims.begin(), victims.end(), [&](std::uint32_t a, std::uint32_t b) {
        return buckets_.size(a) != buckets_.size(b) ? buckets_.size(a) < buckets_.size(b) : a < b;
    });
    for (const std::uint32_t w : victims) {
        take_back(w);
        if (evicted_[w] < 255) ++evicted_[w];
        pending.push_back(w);  // the largest is placed first
    }
    place(q, best);
    return true;
}

// Asks for what the test against partners will read: of `later` where the points are, of `sooner` the points.
void Placement::expect(std::uint32_t later, std::uint32_t sooner) const {
    for (std::uint64_t k = tags_->first_partner(later); k < buckets_.count(); k += tags_->step()) {
        __builtin_prefetch(&buckets_.start[k]);
        __builtin_prefetch(&offsets_[k]);
    }
    for (std::uint64_t k = tags_->first_partner(sooner); k < buckets_.count(); k += tags_->step())
        if (placed_[k]) __builtin_prefetch(&buckets_.points[buckets_.start[k]]);
}

bool Placement::run(std::uint64_t max_evictions, const Watch& watch) {
    max_evictions_ = max_evictions;
    const std::vector<std::uint32_t> order = order_by_size(buckets_);
    std::vector<std::uint32_t> pending;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i % 65536 == 0) base::check_in(Watch{watch.stop, {}}, i, order.size());
        if (i + 4 < order.size()) __builtin_prefetch(&buckets_.points[buckets_.start[order[i + 4]]]);
        if (tags_ && i + 6 < order.size()) expect(order[i + 6], order[i + 3]);
        if (placed_[order[i]]) continue;  // before this call
        pending.push_back(order[i]);
        while (!pending.empty()) {
            const std::uint32_t q = pending.back();
            pending.pop_back();
            Triple offset;
            if (search(q, offset)) {
                place(q, offset);
            } else if (max_evictions == 0 || !evict_for(q, pending)) {
                unplaced_ = static_cast<double>(order.size() - i) / static_cast<double>(order.size());
                return false;
            }
        }
    }
    return true;
}

}  // namespace quadrat::voxels
