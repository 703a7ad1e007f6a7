// Neighbours found while points are inserted (HSH 3.3.2, Listing 3). Points lie in cells of the radius; above them are
// coarser classes, by factors of 8, whose cells say whether there is anything below. A point looks for the cells around
// it from the top down, tests the points that came before it, and is then inserted itself, so that each pair is met
// once. Departures: cells +-1 instead of hashing p +- r, which loses rounded neighbours; results are taken after the
// descent, not in it; a hit counts only in its true cell, so that cells with equal keys do not give it twice.
#pragma once

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/bounded_rows.hpp"
#include "cells/counting_sort.hpp"
#include "cells/hashes/key_table.hpp"
#include "cells/predicate.hpp"
#include "cells/quantiser.hpp"

#include <quadrat/cells/neighbor_list.hpp>

#include <span>
#include <vector>

namespace quadrat::cells {

template <int D, class T>
class OnTheFly {
  public:
    /// Returns the number of distance tests. With several threads all points are inserted first, and then each looks at
    /// those before it: the same pairs in the same order.
    std::uint64_t find(std::span<const Vec<D, T>> points, T radius, int levels, Executor* executor,
                       std::size_t max_bytes, NeighborList& out) {
        QUADRAT_ASSERT(levels >= 1 && (levels - 1) * step < 64);
        quantiser_ = Quantiser<D>(reach(radius));
        levels_ = levels;
        table_.start(0, points.size());
        next_.resize(points.size());
        cell_.resize(points.size());
        const NearTest<T> near(radius);
        const std::size_t n = points.size();
        std::vector<Search> parts;
        if (base::thread_count(executor) == 1 || n <= grain) {
            parts.push_back({points, near});
            for (std::uint32_t i = 0; i < n; ++i) {
                cell_[i] = quantiser_.cell(points[i]);
                look_around(parts[0], i);
                insert(i);
            }
        } else {
            for (std::uint32_t i = 0; i < n; ++i) {
                cell_[i] = quantiser_.cell(points[i]);
                insert(i);
            }
            parts.assign(base::chunk_count(n, grain), Search{points, near});
            base::run_tasks(executor, parts.size(), [&](std::size_t k) {
                for (std::size_t i = k * grain; i < std::min(n, (k + 1) * grain); ++i)
                    look_around(parts[k], static_cast<std::uint32_t>(i));
            });
        }
        fill_rows(n, parts, max_bytes, out);
        std::uint64_t tests = 0;
        for (const Search& part : parts) tests += part.tests;
        return tests;
    }

    [[nodiscard]] std::size_t bytes() const {
        return table_.bytes() + next_.capacity() * sizeof(std::uint32_t) + cell_.capacity() * sizeof(Cell<D>);
    }

  private:
    static constexpr int step = 3;  // log2 of the ratio of two classes

    static constexpr std::size_t grain = 8192;  // points per task

    struct Search {
        std::span<const Vec<D, T>> points;
        NearTest<T> near;
        std::vector<Pair> pairs{};
        std::uint64_t tests = 0;
    };

    void look_around(Search& search, std::uint32_t i) const {
        Cell<D> lo, hi;
        for (int k = 0; k < D; ++k) {
            lo[k] = cell_[i][k] - 1;
            hi[k] = cell_[i][k] + 1;
        }
        descend(search, i, lo, hi, levels_ - 1, lo, hi, 0);
    }

    /// Looks into the cells of class `level` within from..to, which are base cells, for those that meet lo..hi.
    void descend(Search& search, std::uint32_t i, const Cell<D>& lo, const Cell<D>& hi, int level, const Cell<D>& from,
                 const Cell<D>& to, std::uint64_t parent_key) const {
        const int shift = level * step;
        const Cell<D> first = coarser(from, shift), last = coarser(to, shift);
        Cell<D> c = first;
        for (;;) {
            const std::uint64_t key = parent_key + xor_hash(c);
            if (const KeySlot* slot = table_.find(key)) {
                if (level == 0) {
                    for (std::uint32_t j = slot->count ? slot->first : none; j != none; j = next_[j]) {
                        if (j >= i) continue;
                        ++search.tests;
                        if (search.near(search.points[i], search.points[j]) && cell_[j] == c)
                            search.pairs.push_back({i, j});
                    }
                } else if (slot->has_children) {
                    Cell<D> low, high;
                    for (int k = 0; k < D; ++k) {
                        const std::int64_t begin = c[k] << shift;
                        low[k] = std::max(lo[k], begin);
                        high[k] = std::min(hi[k], begin + ((std::int64_t{1} << shift) - 1));
                    }
                    descend(search, i, lo, hi, level - 1, low, high, key);
                }
            }
            int k = 0;
            for (; k < D; ++k) {
                if (c[k] < last[k]) {
                    ++c[k];
                    break;
                }
                c[k] = first[k];
            }
            if (k == D) return;
        }
    }

    void insert(std::uint32_t i) {
        std::uint64_t key = 0;
        for (int level = levels_ - 1; level > 0; --level) {
            key += xor_hash(coarser(cell_[i], level * step));
            table_.add(key).has_children = 1;
        }
        KeySlot& slot = table_.add(key + xor_hash(cell_[i]));
        next_[i] = slot.count ? slot.first : none;
        slot.first = i;
        ++slot.count;
    }

    static void fill_rows(std::size_t n, std::span<const Search> parts, std::size_t max_bytes, NeighborList& out) {
        out.clear();
        std::size_t count = 0;
        for (const Search& part : parts) count += part.pairs.size();
        if (list_bytes(n, 2 * count) > max_bytes)
            throw_too_large(2 * count, list_bytes(n, 2 * count), "neighbours", max_bytes);
        std::vector<std::uint64_t> begin(n + 1, 0);
        const std::span<std::uint64_t> next = std::span(begin).subspan(1);
        for (const Search& part : parts)
            for (const Pair& p : part.pairs) ++next[p.first], ++next[p.second];
        places_from_counts(next, 0);
        std::vector<std::uint32_t> entries(2 * count);
        for (const Search& part : parts)
            for (const Pair& p : part.pairs) {
                entries[next[p.first]++] = p.second;
                entries[next[p.second]++] = p.first;
            }
        out.start();
        for (std::size_t i = 0; i < n; ++i)
            out.append(std::span<const std::uint32_t>(entries).subspan(begin[i], begin[i + 1] - begin[i]));
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    Quantiser<D> quantiser_;
    int levels_ = 1;
    KeyTable<KeySlot> table_;
    std::vector<std::uint32_t> next_;
    std::vector<Cell<D>> cell_;
};

}  // namespace quadrat::cells
