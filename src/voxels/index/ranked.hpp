// The encodings whose values follow each other in the order of space, by z, y, x, without empty slots: a place is the
// number of stored positions before. `Bits` is for dense data, `Keys` for the very sparse and the very small.
#pragma once

#include "voxels/index/cells.hpp"
#include "voxels/index/key_code.hpp"

#include <bit>
#include <cstring>
#include <span>

namespace quadrat::voxels {

/// The bits layout: a bit for every position of the domain, and before every 512 of them how many were set.
template <int D>
struct Bits {
    static constexpr Layout layout = Layout::bits;
    static constexpr Encoding encoding = Encoding::domain_bit;
    const std::uint8_t* words;
    const std::uint8_t* ranks;
    LocalOf<D> extent;
    std::uint32_t entries;

    static constexpr std::uint64_t cells_per_rank = 512;  ///< eight words: one line of the cache

    [[nodiscard]] static std::uint64_t rank_bytes(std::uint64_t cells) {
        return (cells + cells_per_rank - 1) / cells_per_rank * 4 + table_padding;
    }

    Bits(const PerfectHash<D>&, const IndexParts<D>& parts)
        : words(parts.tables[Table::bits].data.get()),
          ranks(parts.tables[Table::ranks].data.get()),
          extent(parts.extent),
          entries(parts.entries) {}
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        if (parts.cells() >= std::uint64_t{1} << 40) throw bad_part("domain", "too large for bits");
        size[Table::bits] = domain_bit_bytes(parts.cells());
        size[Table::ranks] = rank_bytes(parts.cells());
    }

    [[nodiscard]] std::uint32_t values() const { return entries; }
    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const {
        const std::uint64_t k = linear<D>(local, extent);
        const std::uint64_t last = word(k >> 6);
        if ((last >> (k & 63) & 1) == 0) return no_place;
        std::uint32_t rank;
        std::memcpy(&rank, ranks + (k >> 9) * 4, 4);
        rank += static_cast<std::uint32_t>(std::popcount(last & ((std::uint64_t{1} << (k & 63)) - 1)));
        for (std::uint64_t w = k >> 9 << 3; w < k >> 6; ++w) rank += static_cast<std::uint32_t>(std::popcount(word(w)));
        return rank < entries ? rank : no_place;
    }
    template <class Give>
    void visit(Give&& give) const {
        std::uint32_t rank = 0;
        for_each_cell<D>(extent, [&](const LocalOf<D>& local, std::uint64_t k) {
            if (words[k >> 3] >> (k & 7) & 1) give(local, rank++);
        });
    }
    /// give(local, place) for the entries of a box, its ends included: row by row.
    template <class Give>
    void visit_box(const LocalOf<D>& low, const LocalOf<D>& high, Give&& give) const {
        for_each_row<D>(low, high, [&](LocalOf<D> at) {
            const std::uint64_t first = linear<D>(at, extent), last = first + high[0] - low[0];
            std::uint32_t rank = rank_of(first);
            for (std::uint64_t w = first >> 6; w <= last >> 6; ++w) {
                std::uint64_t bits = word(w);
                if (w == first >> 6) bits &= ~std::uint64_t{0} << (first & 63);
                if (w == last >> 6) bits &= ~std::uint64_t{0} >> (63 - (last & 63));
                for (; bits != 0; bits &= bits - 1) {
                    const std::uint64_t k = w * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
                    at[0] = low[0] + static_cast<std::uint32_t>(k - first);
                    give(at, rank++);
                }
            }
        });
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& box) const { return {origin, box}; }

  private:
    // Bits that are set before bit k.
    [[nodiscard]] std::uint32_t rank_of(std::uint64_t k) const {
        std::uint32_t rank;
        std::memcpy(&rank, ranks + (k >> 9) * 4, 4);
        for (std::uint64_t w = k >> 9 << 3; w < k >> 6; ++w) rank += static_cast<std::uint32_t>(std::popcount(word(w)));
        return rank + static_cast<std::uint32_t>(std::popcount(word(k >> 6) & ((std::uint64_t{1} << (k & 63)) - 1)));
    }
    [[nodiscard]] std::uint64_t word(std::uint64_t w) const {
        std::uint64_t value;
        std::memcpy(&value, words + w * 8, 8);
        return value;
    }
};

/// The keys layout: the sorted numbers of the positions, coded (index/key_code.hpp). The width of a low part stands
/// where other layouts have the width of a tag.
template <int D>
struct Keys {
    static constexpr Layout layout = Layout::keys;
    static constexpr Encoding encoding = Encoding::position_tag;
    KeyCode code;
    LocalOf<D> extent;

    Keys(const PerfectHash<D>&, const IndexParts<D>& parts)
        : code(shape_of(parts), parts.tables[Table::ranks].data.get(), parts.tables[Table::keys].data.get()),
          extent(parts.extent) {}
    [[nodiscard]] static KeyShape shape_of(const IndexParts<D>& parts) {
        return {parts.cells(), parts.entries, parts.tag_bits};
    }
    static void sizes(const IndexParts<D>& parts, PerTable<std::uint64_t>& size) {
        if (parts.tag_bits > KeyShape::most_low_bits) throw bad_part("tag bits", "more than 56");
        const KeyShape shape = shape_of(parts);
        if (shape.bits() >> 60 != 0) throw bad_part("tag bits", "too few for the domain");
        size[Table::ranks] = (shape.rank_table() + 7) / 8 + table_padding;
        size[Table::keys] = (shape.records() + 7) / 8 + table_padding;
    }

    [[nodiscard]] std::uint32_t values() const { return code.shape().entries; }
    [[nodiscard]] std::uint32_t find(const LocalOf<D>& local) const { return code.find(linear<D>(local, extent)); }
    /// Counts are read for all of them first, then records.
    void find_many(std::span<const LocalOf<D>> local, std::uint32_t* out) const {
        constexpr std::size_t most = 64;
        std::uint64_t keys[most];
        for (std::size_t begin = 0; begin < local.size(); begin += most) {
            const std::size_t count = std::min(most, local.size() - begin);
            for (std::size_t i = 0; i < count; ++i) code.load_rank(keys[i] = linear<D>(local[begin + i], extent));
            for (std::size_t i = 0; i < count; ++i) code.load_record(keys[i]);
            for (std::size_t i = 0; i < count; ++i) out[begin + i] = code.find(keys[i]);
        }
    }
    template <class Give>
    void visit(Give&& give) const {
        code.visit(0, code.shape().cells, [&](std::uint64_t key, std::uint32_t at) { give(position(key), at); });
    }
    /// As Bits::visit_box(): row by row, or all keys between the corners where rows are many.
    template <class Give>
    void visit_box(const LocalOf<D>& low, const LocalOf<D>& high, Give&& give) const {
        std::uint64_t rows = 1;
        for (std::size_t a = 1; a < D; ++a) rows *= high[a] - low[a] + std::uint64_t{1};
        if (rows < code.shape().entries / 32 + 16) {
            for_each_row<D>(low, high, [&](const LocalOf<D>& at) {
                const std::uint64_t first = linear<D>(at, extent);
                code.visit(first, first + high[0] - low[0] + 1,
                           [&](std::uint64_t key, std::uint32_t k) { give(position(key), k); });
            });
            return;
        }
        code.visit(linear<D>(low, extent), linear<D>(high, extent) + 1, [&](std::uint64_t key, std::uint32_t at) {
            const LocalOf<D> local = position(key);
            bool in = true;
            for (std::size_t a = 0; a < D; ++a) in &= local[a] >= low[a] && local[a] <= high[a];
            if (in) give(local, at);
        });
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& box) const { return {origin, box}; }

  private:
    [[nodiscard]] LocalOf<D> position(std::uint64_t key) const {
        LocalOf<D> local;
        for (std::size_t a = 0; a < D; ++a, key /= extent[a - 1])
            local[a] = static_cast<std::uint32_t>(key % extent[a]);
        return local;
    }
};

}  // namespace quadrat::voxels
