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

    [[nodiscard]] static std::uint64_t rank_bytes(std::uint64_t cells) {
        return (cells + 511) / 512 * 4 + table_padding;
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
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& box) const { return {origin, box}; }

  private:
    [[nodiscard]] std::uint64_t word(std::uint64_t w) const {
        std::uint64_t value;
        std::memcpy(&value, words + w * 8, 8);
        return value;
    }
};

/// The keys layout: the sorted numbers of the positions, coded (index/key_code.hpp). The width of a low part stands where
/// other layouts have the width of a tag.
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
        code.visit(0, code.shape().cells, [&](std::uint64_t key, std::uint32_t at) {
            LocalOf<D> local;
            for (std::size_t a = 0; a < D; ++a) {
                local[a] = static_cast<std::uint32_t>(key % extent[a]);
                key /= extent[a];
            }
            give(local, at);
        });
    }
    [[nodiscard]] FastFind<D> fast(const Voxel<D>& origin, const LocalOf<D>& box) const { return {origin, box}; }
};

}  // namespace quadrat::voxels
