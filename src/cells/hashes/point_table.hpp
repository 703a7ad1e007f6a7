// Points in a hash table of cells (Teschner et al. 2003): the table that UniformHash and ExtendedSpatialHash search. A
// slot is a cell, with its coordinates, so that different cells are never mixed up; the points of a cell lie next to
// each other, as columns, instead of in a chain.
#pragma once

#include "base/assert.hpp"
#include "cells/hash.hpp"
#include "cells/match.hpp"
#include "cells/quantiser.hpp"

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::cells {

template <int D, class T>
class PointTable {
  public:
    /// Points are finite, edge is positive.
    void build(std::span<const Vec<D, T>> points, double edge) {
        quantiser_ = Quantiser<D>(edge);
        const std::size_t n = points.size();
        if (n >> 31) throw Error(ErrorKind::too_large, "2^31 points or more", {.field = "points"});  // slots: 32 bits
        bits_ = std::max(4, 65 - std::countl_zero(std::uint64_t{n}));
        slots_.assign(std::size_t{1} << bits_, Slot{});
        slot_of_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (int k = 0; k < D; ++k) QUADRAT_ASSERT(std::isfinite(points[i][k]));
            const Cell<D> cell = quantiser_.cell(points[i]);
            std::size_t s = home(cell);
            while (slots_[s].count != 0 && !(slots_[s].cell == cell)) s = next(s);
            slots_[s].cell = cell;
            ++slots_[s].count;
            slot_of_[i] = static_cast<std::uint32_t>(s);
        }
        std::uint32_t first = 0;
        for (Slot& s : slots_) {  // as places_from_counts(), in a table of more than counters
            s.end = first;
            first += s.count;
        }
        sorted_.resize(n);
        index_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t place = slots_[slot_of_[i]].end++;
            index_[place] = static_cast<std::uint32_t>(i);
            sorted_[place] = points[i];
        }
        to_columns(std::span<const Vec<D, T>>(sorted_), columns_);
    }

    [[nodiscard]] std::size_t size() const { return index_.size(); }
    [[nodiscard]] const Quantiser<D>& quantiser() const { return quantiser_; }
    [[nodiscard]] std::size_t bytes() const {
        return slots_.capacity() * sizeof(Slot) + columns_.capacity() * sizeof(T) +
               sorted_.capacity() * sizeof(Vec<D, T>) +
               (index_.capacity() + slot_of_.capacity()) * sizeof(std::uint32_t);
    }

    /// Calls fn(begin, end), a range of places, for each cell `home` + s, s in `mask`, that holds points.
    template <class Fn>
    void for_each_range(const Cell<D>& home_cell, std::span<const Vec<D, int>> mask, Fn&& fn) const {
        for (const Vec<D, int>& s : mask) {
            Cell<D> cell;
            for (int k = 0; k < D; ++k) cell[k] = home_cell[k] + s[k];
            for (std::size_t at = home(cell); slots_[at].count != 0; at = next(at))
                if (slots_[at].cell == cell) {
                    fn(slots_[at].end - slots_[at].count, slots_[at].end);
                    break;
                }
        }
    }

    /// Appends the indices of the points near `query` in the cells of the mask. Returns the number of distance tests.
    std::uint64_t find(const Vec<D, T>& query, std::span<const Vec<D, int>> mask, const NearTest<T>& near,
                       std::vector<std::uint32_t>& found, std::vector<std::uint32_t>& scratch) const {
        const std::size_t stride = column_stride(size());
        std::uint64_t tests = 0;
        for_each_range(quantiser_.cell(query), mask, [&](std::uint32_t begin, std::uint32_t end) {
            tests += end - begin;
            if (end - begin < 4) {
                for (std::uint32_t p = begin; p < end; ++p)
                    if (near(query, sorted_[p])) found.push_back(index_[p]);
                return;
            }
            if (scratch.size() < end - begin + column_padding) scratch.resize(2 * (end - begin) + column_padding);
            const std::size_t count =
                match_point<D, T>(columns_.data(), stride, begin, end, query, near, scratch.data());
            for (std::size_t k = 0; k < count; ++k) found.push_back(index_[scratch[k]]);
        });
        return tests;
    }

    [[nodiscard]] const Vec<D, T>& point(std::uint32_t place) const { return sorted_[place]; }
    [[nodiscard]] std::uint32_t index(std::uint32_t place) const { return index_[place]; }

  private:
    struct Slot {
        Cell<D> cell{};
        std::uint32_t count = 0;
        std::uint32_t end = 0;  // of its points in sorted_; their begin until they are there
    };
    [[nodiscard]] std::size_t home(const Cell<D>& cell) const {
        return static_cast<std::size_t>(spread_hash(xor_hash(cell), bits_));
    }
    [[nodiscard]] std::size_t next(std::size_t s) const { return (s + 1) & (slots_.size() - 1); }

    Quantiser<D> quantiser_;
    int bits_ = 4;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::vector<std::uint32_t> slot_of_, index_;
    std::vector<Vec<D, T>> sorted_;
    std::vector<T> columns_;
};

}  // namespace quadrat::cells
