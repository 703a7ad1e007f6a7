#include "base/radix_sort.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace quadrat::base {
namespace {

constexpr std::size_t line = 64;
constexpr int max_digit_bits = 12;
/// Below this, data and scratch stay in the cache and lines need no gathering.
constexpr std::size_t buffered_from = 1 << 15;
/// Below this, one thread is faster than two.
constexpr std::size_t parallel_from = 1 << 16;
constexpr std::size_t insertion_to = 24;

struct Wide {
    std::uint64_t key;
    std::uint32_t value;
    std::uint32_t unused;
};
/// 63..32 key | 31..0 value
struct Packed {
    std::uint64_t word;
};
std::uint64_t key_of(std::uint64_t r) {
    return r;
}
std::uint64_t key_of(Packed r) {
    return r.word >> 32;
}
std::uint64_t key_of(const Wide& r) {
    return r.key;
}

int bits_for(std::uint64_t x) {
    return 64 - std::countl_zero(x);
}

/// Moves [begin, end) of `from` to the places given by `place`, which ends as the end of each bucket.
template <class Record>
void scatter_direct(const Record* from, Record* to, std::size_t begin, std::size_t end, int shift, std::uint32_t mask,
                    std::uint32_t* place) {
    for (std::size_t i = begin; i < end; ++i) {
        const Record r = from[i];
        to[place[static_cast<std::uint32_t>(key_of(r) >> shift) & mask]++] = r;
    }
}

/// The same, gathering one cache line per bucket before it is written. `buffer` has a line, `start` an entry per
/// bucket.
template <class Record>
void scatter_buffered(const Record* from, Record* to, std::size_t begin, std::size_t end, int shift, std::uint32_t mask,
                      std::uint32_t* place, Record* buffer, std::uint32_t* start) {
    constexpr std::uint32_t per_line = line / sizeof(Record);
    std::copy_n(place, mask + 1, start);
    for (std::size_t i = begin; i < end; ++i) {
        const Record r = from[i];
        const std::uint32_t digit = static_cast<std::uint32_t>(key_of(r) >> shift) & mask;
        const std::uint32_t p = place[digit]++;
        Record* gathered = buffer + digit * per_line;
        gathered[p % per_line] = r;
        // Ask for the line that will be written as soon as the first of its records comes.
        if (p % per_line == 0) __builtin_prefetch(to + p, 1);
        if (p % per_line != per_line - 1) continue;
        const std::uint32_t first = p - (per_line - 1);
        if (first >= start[digit]) [[likely]]
            std::memcpy(static_cast<void*>(to + first), gathered, line);
        else  // the bucket begins inside of this line, whose front belongs to another
            for (std::uint32_t q = start[digit]; q <= p; ++q) to[q] = gathered[q % per_line];
    }
    for (std::uint32_t digit = 0; digit <= mask; ++digit) {
        const std::uint32_t p = place[digit];
        for (std::uint32_t q = std::max(p - p % per_line, start[digit]); q < p; ++q)
            to[q] = buffer[digit * per_line + q % per_line];
    }
}

template <class Record>
void insertion_sort(Record* a, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i) {
        const Record r = a[i];
        const std::uint64_t key = key_of(r);
        std::size_t j = i;
        for (; j > 0 && key_of(a[j - 1]) > key; --j) a[j] = a[j - 1];
        a[j] = r;
    }
}

template <class Record>
class Sorter {
  public:
    Sorter(Executor* executor, Array<unsigned char>& buffers, Array<std::uint32_t>& counts)
        : executor_(executor), buffers_(buffers), counts_(counts) {}

    /// Sorts a[0..n) by the bits `differ` of the keys; all others are known to agree. `b` has room for as many.
    void sort(Record* a, Record* b, std::size_t n, std::uint64_t differ) {
        if (n <= insertion_to) return insertion_sort(a, n);
        if (differ == 0) return;
        const int high = bits_for(differ), low = std::countr_zero(differ);
        int bits = high - low;
        // Two digits sort 24 bits outright. With more, enough of them that few of n keys agree there, in two digits if
        // that can be.
        if (bits > 2 * max_digit_bits) {
            const int enough = bits_for(n - 1);
            bits = std::max(enough, std::min(enough + 2, 2 * max_digit_bits));
        }
        const int passes = (bits + max_digit_bits - 1) / max_digit_bits;
        const int digit_bits = (bits + passes - 1) / passes;
        const int from = std::max(low, high - passes * digit_bits);
        Record* source = a;
        Record* target = b;
        for (int shift = from; shift < high; shift += digit_bits)
            if (pass(source, target, n, shift, std::min(digit_bits, high - shift))) std::swap(source, target);
        if (source != a) std::memcpy(static_cast<void*>(a), source, n * sizeof(Record));
        const std::uint64_t rest = differ & ((std::uint64_t{1} << from) - 1);
        if (rest != 0) finish(a, b, n, from);
    }

  private:
    /// One digit, from source to target; false if all keys have the same digit, so that nothing was moved.
    bool pass(const Record* source, Record* target, std::size_t n, int shift, int bits) {
        const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
        const std::size_t buckets = std::size_t{mask} + 1;
        const std::size_t chunks = n < parallel_from ? 1 : thread_count(executor_);
        const std::size_t grain = (n + chunks - 1) / chunks;
        // Per chunk: a counter per bucket, and room for the starts of scatter_buffered.
        counts_.resize_discard(chunks * buckets * 2);
        const bool buffered = n >= buffered_from;
        if (buffered) buffers_.resize_discard(chunks * buckets * line);
        const auto counts = [&](std::size_t chunk) { return counts_.data() + chunk * buckets * 2; };
        run_tasks(executor_, chunks, [&](std::size_t chunk) {
            std::uint32_t* count = counts(chunk);
            std::fill_n(count, buckets, 0u);
            for (std::size_t i = chunk * grain; i < std::min(n, (chunk + 1) * grain); ++i)
                ++count[static_cast<std::uint32_t>(key_of(source[i]) >> shift) & mask];
        });
        std::uint32_t sum = 0;
        for (std::size_t digit = 0; digit < buckets; ++digit) {
            const std::uint32_t before = sum;
            for (std::size_t chunk = 0; chunk < chunks; ++chunk) sum += std::exchange(counts(chunk)[digit], sum);
            if (sum - before == n) return false;
        }
        run_tasks(executor_, chunks, [&](std::size_t chunk) {
            const std::size_t begin = std::min(n, chunk * grain), end = std::min(n, begin + grain);
            std::uint32_t* place = counts(chunk);
            if (buffered)
                scatter_buffered(source, target, begin, end, shift, mask, place,
                                 reinterpret_cast<Record*>(buffers_.data() + chunk * buckets * line), place + buckets);
            else
                scatter_direct(source, target, begin, end, shift, mask, place);
        });
        return true;
    }

    /// Puts in order the keys that agree above bit `from`: by insertion, which meets few of them, or run by run where
    /// they are many.
    void finish(Record* a, Record* b, std::size_t n, int from) {
        std::uint64_t last = key_of(a[0]);
        for (std::size_t i = 1; i < n; ++i) {
            const Record r = a[i];
            const std::uint64_t key = key_of(r);
            if (key >= last) [[likely]] {
                last = key;
                continue;
            }
            std::size_t j = i;
            const std::size_t nearest = i > insertion_to ? i - insertion_to : 0;
            for (; j > nearest && key_of(a[j - 1]) > key; --j) a[j] = a[j - 1];
            a[j] = r;
            if (j == nearest && j > 0 && key_of(a[j - 1]) > key) i = finish_run(a, b, n, from, i);
            last = key_of(a[i]);
        }
    }

    /// Sorts the whole run around position i, which is in order up to i but for one key on its way down; returns the
    /// run's last position. Moving a key down past larger ones keeps equal keys in order, so the run can be sorted from
    /// there.
    std::size_t finish_run(Record* a, Record* b, std::size_t n, int from, std::size_t i) {
        const std::uint64_t prefix = key_of(a[i]) >> from;
        std::size_t begin = i, end = i + 1;
        while (begin > 0 && key_of(a[begin - 1]) >> from == prefix) --begin;
        while (end < n && key_of(a[end]) >> from == prefix) ++end;
        std::uint64_t differ = 0;
        for (std::size_t k = begin; k < end; ++k) differ |= key_of(a[begin]) ^ key_of(a[k]);
        sort(a + begin, b + begin, end - begin, differ);
        return end - 1;
    }

    Executor* executor_;
    Array<unsigned char>& buffers_;
    Array<std::uint32_t>& counts_;
};

/// The bits in which the keys are not all the same; 0 if they are also in order already or n < 2.
template <class Key>
std::uint64_t differing_bits(std::span<const Key> keys, Executor* executor) {
    struct Part {
        std::uint64_t differ;
        bool sorted;
    };
    if (keys.size() < 2) return 0;
    const Part all = parallel_reduce(
        executor, keys.size(), 1 << 16, Part{0, true},
        [&](std::size_t begin, std::size_t end) {
            std::uint64_t differ = 0;
            bool sorted = true;
            for (std::size_t i = begin; i < end; ++i) differ |= keys[i] ^ keys[0];
            for (std::size_t i = std::max<std::size_t>(begin, 1); i < end && sorted; ++i)
                sorted = keys[i - 1] <= keys[i];
            return Part{differ, sorted};
        },
        [](Part a, Part b) {
            return Part{a.differ | b.differ, a.sorted && b.sorted};
        });
    return all.sorted ? 0 : all.differ;
}

template <class Record>
Record* records_in(Array<unsigned char>& memory, std::size_t n) {
    memory.resize_discard(n * sizeof(Record));
    return reinterpret_cast<Record*>(memory.data());
}

constexpr std::size_t copy_grain = 1 << 16;

}  // namespace

void RadixSorter::sort(std::span<std::uint64_t> keys) {
    const std::uint64_t differ = differing_bits<std::uint64_t>(keys, executor_);
    if (differ == 0) return;
    Sorter<std::uint64_t>(executor_, buffers_, counts_)
        .sort(keys.data(), records_in<std::uint64_t>(scratch_, keys.size()), keys.size(), differ);
}

void RadixSorter::sort(std::span<std::uint32_t> keys) {
    const std::uint64_t differ = differing_bits<std::uint32_t>(keys, executor_);
    if (differ == 0) return;
    auto* wide = records_in<std::uint64_t>(records_, keys.size());
    std::copy(keys.begin(), keys.end(), wide);
    Sorter<std::uint64_t>(executor_, buffers_, counts_)
        .sort(wide, records_in<std::uint64_t>(scratch_, keys.size()), keys.size(), differ);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(wide[i]);
}

/// Keys that differ in at most 32 neighbouring bits travel with their value in one word.
template <class Key>
void RadixSorter::sort_packed(std::span<Key> keys, std::span<std::uint32_t> values, std::uint64_t differ, int low) {
    const std::size_t n = keys.size();
    auto* packed = records_in<Packed>(records_, n);
    const std::uint64_t mask = (std::uint64_t{1} << bits_for(differ >> low)) - 1;
    const std::uint64_t common = keys[0] & ~(mask << low);
    parallel_for(executor_, n, copy_grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            packed[i].word = (static_cast<std::uint64_t>(keys[i]) >> low & mask) << 32 | values[i];
    });
    Sorter<Packed>(executor_, buffers_, counts_).sort(packed, records_in<Packed>(scratch_, n), n, differ >> low);
    parallel_for(executor_, n, copy_grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            keys[i] = static_cast<Key>(common | packed[i].word >> 32 << low);
            values[i] = static_cast<std::uint32_t>(packed[i].word);
        }
    });
}

void RadixSorter::sort(std::span<std::uint32_t> keys, std::span<std::uint32_t> values) {
    QUADRAT_ASSERT(keys.size() == values.size());
    const std::uint64_t differ = differing_bits<std::uint32_t>(keys, executor_);
    if (differ != 0) sort_packed(keys, values, differ, std::countr_zero(differ));
}

void RadixSorter::sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values) {
    QUADRAT_ASSERT(keys.size() == values.size());
    const std::uint64_t differ = differing_bits<std::uint64_t>(keys, executor_);
    if (differ == 0) return;
    const int low = std::countr_zero(differ);
    if (bits_for(differ >> low) <= 32) return sort_packed(keys, values, differ, low);
    const std::size_t n = keys.size();
    auto* wide = records_in<Wide>(records_, n);
    parallel_for(executor_, n, copy_grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) wide[i] = {keys[i], values[i], 0};
    });
    Sorter<Wide>(executor_, buffers_, counts_).sort(wide, records_in<Wide>(scratch_, n), n, differ);
    parallel_for(executor_, n, copy_grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            keys[i] = wide[i].key;
            values[i] = wide[i].value;
        }
    });
}

}  // namespace quadrat::base
