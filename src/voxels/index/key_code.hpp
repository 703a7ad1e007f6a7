// The keys layout: the sorted numbers of the stored positions (x fastest), coded after Elias and Fano, but cut into
// buckets of equal ranges of keys, so that a lookup reads two places: a count and one record. A key is split in three:
//
//     bucket           head        low
//     ..............   6 bits      `low` bits
//
// The table of ranks has the number of entries before each bucket, so that two fields side by side say where its
// entries begin and end. As every entry takes `low` + 1 bits and every bucket 64 more, that is also where its record
// lies:
//
//     heads: for each of the 64 a 1 for each entry with it, then a 0     lows: `low` bits for each entry
//     1 1 0   0   1 0   0   0 ..                                         .... .... ....
//     head 0  1   2     3   4
//
// In all 2 + log2(cells / entries) bits per entry and some: `low` is the one for which a bucket has 40 to 80 entries.
// Clusters may put thousands of entries into one bucket. Where the 64 sums of their counts fit the room of the ones and
// zeros, they stand there instead, so that no lookup reads more than a dozen words to find its head, and then a binary
// search finds the low part.
//
// This is the answer to "exact membership of random sets in two reads": docs/decisions/0120.
#pragma once

#include "base/assert.hpp"
#include "voxels/index/estimates.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace quadrat::voxels {

/// Sizes of the two tables, from the number of positions in the domain and of entries.
struct KeyShape {
    static constexpr std::uint32_t head_bits = 6, heads = 1u << head_bits;
    static constexpr std::uint32_t most_low_bits = 56;  // read as a part of one word

    std::uint64_t cells = 1;
    std::uint32_t entries = 0;
    std::uint32_t low = 0;

    /// The shape with the least bits.
    [[nodiscard]] static KeyShape smallest(std::uint64_t cells, std::uint32_t entries) {
        KeyShape best{cells, entries, 0};
        for (std::uint32_t low = 1; low <= most_low_bits; ++low)
            if (const KeyShape next{cells, entries, low}; next.bits() < best.bits()) best = next;
        return best;
    }
    [[nodiscard]] std::uint64_t buckets() const { return cells == 0 ? 0 : ((cells - 1) >> (low + head_bits)) + 1; }
    /// Of a field of the table of ranks, which has one more than there are buckets: two of them are read as one word.
    [[nodiscard]] std::uint32_t rank_bits() const {
        return static_cast<std::uint32_t>(bits_for(std::uint64_t{entries} + 1));
    }
    /// In bits, the most that fits 64 bits where there are more. Entries are at most 2^27.
    [[nodiscard]] std::uint64_t rank_table() const { return times(buckets() + 1, rank_bits()); }
    [[nodiscard]] std::uint64_t records() const {
        const std::uint64_t a = times(buckets(), heads), b = std::uint64_t{entries} * (low + 1);
        return a > ~std::uint64_t{0} - b ? ~std::uint64_t{0} : a + b;
    }
    /// Of both tables, each in whole bytes.
    [[nodiscard]] std::uint64_t bits() const {
        const auto whole = [](std::uint64_t n) {
            return n > ~std::uint64_t{7} ? ~std::uint64_t{7} : (n + 7) & ~std::uint64_t{7};
        };
        const std::uint64_t a = whole(rank_table()), b = whole(records());
        return a > ~std::uint64_t{0} - b ? ~std::uint64_t{0} : a + b;
    }
    /// Where the record of a bucket begins.
    [[nodiscard]] std::uint64_t record(std::uint64_t bucket, std::uint32_t rank) const {
        return bucket * heads + std::uint64_t{rank} * (low + 1);
    }

  private:
    [[nodiscard]] static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
        return a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
    }
};

/// `count` bits from bit `at` on, at most 56; eight bytes from there must be readable.
[[nodiscard]] inline std::uint64_t read_bits(const std::uint8_t* bytes, std::uint64_t at, std::uint32_t count) {
    QUADRAT_ASSERT(count <= 56);
    std::uint64_t w;
    std::memcpy(&w, bytes + (at >> 3), 8);
    return w >> (at & 7) & ((std::uint64_t{1} << count) - 1);
}
/// Writes to bits that are zero.
inline void write_bits(std::uint8_t* bytes, std::uint64_t at, std::uint64_t value) {
    QUADRAT_ASSERT(value >> 56 == 0);
    std::uint64_t w;
    std::memcpy(&w, bytes + (at >> 3), 8);
    w |= value << (at & 7);
    std::memcpy(bytes + (at >> 3), &w, 8);
}

/// The place of the zero bit with number `k` of a word; 64 if it has not as many. Zeros are counted in all bytes side
/// by side, in pairs of bits, then fours, then eights; one multiplication adds the bytes up from below:
///
///     zeros of byte     c7 ...  c2          c1       c0
///     s                 c7+..   c2+c1+c0    c1+c0    c0      the first byte whose sum is above k holds the place
[[nodiscard]] inline std::uint32_t select_zero(std::uint64_t word, std::uint32_t k) {
    const std::uint64_t x = ~word;
    std::uint64_t s = x - (x >> 1 & 0x5555555555555555u);
    s = (s & 0x3333333333333333u) + (s >> 2 & 0x3333333333333333u);
    s = ((s + (s >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u;  // byte b: zeros of bytes 0 .. b
    if (k >= s >> 56) return 64;
    // The top bit of (128 | sum) - (k + 1) is set in bytes whose sum is above k, as both are below 128.
    const std::uint64_t more = ((s | 0x8080808080808080u) - (k + 1) * 0x0101010101010101u) & 0x8080808080808080u;
    const auto at = static_cast<std::uint32_t>(std::countr_zero(more)) & ~7u;
    std::uint32_t left = k - (at ? static_cast<std::uint32_t>(s >> (at - 8) & 255) : 0);
    auto byte = static_cast<std::uint32_t>(x >> at & 255);
    for (; left != 0; --left) byte &= byte - 1;
    return at + static_cast<std::uint32_t>(std::countr_zero(byte));
}

/// Both tables, to look up in. Whatever they hold, every read is within them and every place below `entries`.
class KeyCode {
  public:
    KeyCode() = default;
    /// Tables of the sizes that `shape` says, with 8 bytes of padding each.
    KeyCode(const KeyShape& shape, const std::uint8_t* ranks, const std::uint8_t* records)
        : shape_(shape), rank_bits_(shape.rank_bits()), ranks_(ranks), records_(records) {}

    [[nodiscard]] const KeyShape& shape() const { return shape_; }
    /// The number of the key among all of them, or no_place. Keys are below shape().cells.
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
        QUADRAT_ASSERT(key < shape_.cells);
        const std::uint64_t bucket = key >> (shape_.low + KeyShape::head_bits);
        const Entries in = entries(bucket);
        if (in.begin == in.end) return no_place;
        const auto head = static_cast<std::uint32_t>(key >> shape_.low) & (KeyShape::heads - 1);
        const std::uint64_t record = shape_.record(bucket, in.begin);
        const Entries run = with_head(record, in.count(), head);
        if (run.begin == run.end) return no_place;
        const std::uint32_t at =
            find_low(record + KeyShape::heads + in.count(), run, key & ((std::uint64_t{1} << shape_.low) - 1));
        return at == no_place ? no_place : in.begin + at;
    }
    /// Starts loading what find(key) reads first, and what it reads next once the first is there.
    void load_rank(std::uint64_t key) const {
        const std::uint64_t bucket = key >> (shape_.low + KeyShape::head_bits);
        __builtin_prefetch(ranks_ + (bucket * rank_bits_ >> 3));
    }
    void load_record(std::uint64_t key) const {
        const std::uint64_t bucket = key >> (shape_.low + KeyShape::head_bits);
        const std::uint8_t* at = records_ + (shape_.record(bucket, entries(bucket).begin) >> 3);
        __builtin_prefetch(at);
        __builtin_prefetch(at + 64);
    }
    /// give(key, number) for all keys from `first` on and below `last`, in order; `last` is at most shape().cells.
    template <class Give>
    void visit(std::uint64_t first, std::uint64_t last, Give&& give) const {
        QUADRAT_ASSERT(last <= shape_.cells);
        if (first >= last || shape_.entries == 0) return;
        const std::uint32_t shift = shape_.low + KeyShape::head_bits;
        for (std::uint64_t bucket = first >> shift; bucket <= (last - 1) >> shift; ++bucket) {
            const Entries in = entries(bucket);
            if (in.begin == in.end) continue;
            const std::uint64_t record = shape_.record(bucket, in.begin), lows = record + KeyShape::heads + in.count();
            const auto any = [&](std::uint32_t head, const Entries& run) {
                for (std::uint32_t i = run.begin; i < run.end; ++i) {
                    const std::uint64_t key = bucket << shift | std::uint64_t{head} << shape_.low |
                                              read_bits(records_, lows + std::uint64_t{i} * shape_.low, shape_.low);
                    if (key >= first && key < last) give(key, in.begin + i);
                }
            };
            std::uint32_t at = 0;
            for (std::uint32_t head = 0; head < KeyShape::heads; ++head) {
                if (summed(in.count())) {
                    any(head, with_head(record, in.count(), head));
                    continue;
                }
                Entries run{at, at};
                while (run.end < in.count() && read_bits(records_, record + head + run.end, 1) != 0) ++run.end;
                any(head, run);
                at = run.end;
            }
        }
    }
    /// True if the heads of a bucket of so many entries are 64 sums.
    [[nodiscard]] static bool summed(std::uint32_t count) {
        return sum_bits(count) * KeyShape::heads <= KeyShape::heads + count;
    }
    /// Bits of each of them.
    [[nodiscard]] static std::uint32_t sum_bits(std::uint32_t count) {
        return static_cast<std::uint32_t>(std::bit_width(count));
    }

  private:
    struct Entries {
        std::uint32_t begin, end;
        [[nodiscard]] std::uint32_t count() const { return end - begin; }
    };

    [[nodiscard]] Entries entries(std::uint64_t bucket) const {
        const std::uint64_t both = read_bits(ranks_, bucket * rank_bits_, 2 * rank_bits_);
        const auto mask = (std::uint64_t{1} << rank_bits_) - 1;
        // A broken table may hold anything.
        const auto begin = std::min(static_cast<std::uint32_t>(both & mask), shape_.entries);
        return {begin, std::clamp(static_cast<std::uint32_t>(both >> rank_bits_), begin, shape_.entries)};
    }
    // The entries of a bucket, counted from its first, that have a head.
    [[nodiscard]] Entries with_head(std::uint64_t record, std::uint32_t count, std::uint32_t head) const {
        if (summed(count)) {
            const std::uint32_t width = sum_bits(count);
            const auto sum = [&](std::uint32_t h) {
                return std::min(
                    static_cast<std::uint32_t>(read_bits(records_, record + std::uint64_t{h} * width, width)), count);
            };
            const std::uint32_t begin = head ? sum(head - 1) : 0;
            return {begin, std::max(begin, sum(head))};
        }
        // Bits that were passed: `head` zeros and the ones between them.
        std::uint32_t bit = 0;
        const std::uint32_t room = KeyShape::heads + count;
        for (std::uint32_t left = head; left != 0;) {
            // The top eight bits are not there; ones are not counted.
            const std::uint64_t word = read_bits(records_, record + bit, 56) | std::uint64_t{255} << 56;
            const std::uint32_t at = select_zero(word, left - 1);
            if (at < 64) {
                bit += at + 1;
                break;
            }
            left -= 64 - static_cast<std::uint32_t>(std::popcount(word));
            bit += 56;
            if (bit >= room) return {0, 0};
        }
        if (bit >= room || bit - head > count) return {0, 0};
        const std::uint32_t begin = bit - head;
        std::uint32_t end = begin;
        for (;;) {
            const auto ones = static_cast<std::uint32_t>(std::countr_one(read_bits(records_, record + head + end, 56)));
            end += ones;
            if (ones < 56 || end >= count) break;
        }
        return {begin, std::min(end, count)};
    }
    // Low parts of a run rise.
    [[nodiscard]] std::uint32_t find_low(std::uint64_t lows, Entries run, std::uint64_t wanted) const {
        const auto low = [&](std::uint32_t i) {
            return read_bits(records_, lows + std::uint64_t{i} * shape_.low, shape_.low);
        };
        while (run.count() > 8) {
            const std::uint32_t middle = run.begin + run.count() / 2;
            if (low(middle) <= wanted)
                run.begin = middle;
            else
                run.end = middle;
        }
        for (std::uint32_t i = run.begin; i < run.end; ++i)
            if (low(i) == wanted) return i;
        return no_place;
    }

    static constexpr std::uint32_t no_place = 0xffffffffu;

    KeyShape shape_;
    std::uint32_t rank_bits_ = 1;
    const std::uint8_t* ranks_ = nullptr;
    const std::uint8_t* records_ = nullptr;
};

}  // namespace quadrat::voxels
