// A stable sort of 32- and 64-bit keys and floats in linear time, with or without a 32-bit payload. It is the sort of
// Cell Indexing (Onderik & Durikovic 2008, section 4.2) made for today's caches: least significant digit first, but
// only over as many of the leading bits that differ as it takes to tell n keys apart (about log2 n); the few keys that
// still agree there are put in order in the closing pass, by insertion or, for long runs, by the same sort on the bits
// below. Digits of up to 12 bits are scattered through one cache line per bucket. Floats are mapped to unsigned
// integers of the same order by flipping the sign bit, or all bits of negative numbers. Measured choices:
// docs/decisions/0010-sort.md.
//
// A stable order is unique, so the result is the same bytes for any number of threads.
#pragma once

#include "base/array.hpp"

#include <quadrat/executor.hpp>

#include <cstdint>
#include <cstring>
#include <span>

namespace quadrat::base {

/// Unsigned integers in the order of the floats: -NaN < -inf < ... < -0 < +0 < ... < inf < NaN.
[[nodiscard]] inline std::uint32_t to_ordered(float x) {
    std::uint32_t b;
    std::memcpy(&b, &x, sizeof b);
    return b ^ (b >> 31 ? 0xFFFFFFFFu : 0x80000000u);
}
[[nodiscard]] inline std::uint64_t to_ordered(double x) {
    std::uint64_t b;
    std::memcpy(&b, &x, sizeof b);
    return b ^ (b >> 63 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}
[[nodiscard]] inline float from_ordered(std::uint32_t u) {
    u ^= u >> 31 ? 0x80000000u : 0xFFFFFFFFu;
    float x;
    std::memcpy(&x, &u, sizeof x);
    return x;
}
[[nodiscard]] inline double from_ordered(std::uint64_t u) {
    u ^= u >> 63 ? std::uint64_t{1} << 63 : ~std::uint64_t{0};
    double x;
    std::memcpy(&x, &u, sizeof x);
    return x;
}

/// Keeps its scratch memory between calls: 8 bytes per 32-bit key or bare 64-bit key, up to 32 per 64-bit key with
/// payload. Up to 2^32 - 1 elements. One call at a time.
class RadixSorter {
  public:
    explicit RadixSorter(Executor* executor = nullptr) : executor_(executor) {}

    void sort(std::span<std::uint32_t> keys);
    void sort(std::span<std::uint64_t> keys);
    void sort(std::span<float> keys);
    void sort(std::span<double> keys);

    /// Sorts by key; values[i] moves with keys[i]; values of equal keys keep their order.
    void sort(std::span<std::uint32_t> keys, std::span<std::uint32_t> values);
    void sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values);
    void sort(std::span<float> keys, std::span<std::uint32_t> values);
    void sort(std::span<double> keys, std::span<std::uint32_t> values);

    /// As above with values 0, 1, 2, ...: order[k] is where the k-th smallest key was.
    template <class Key>
    void sort_with_index(std::span<Key> keys, std::span<std::uint32_t> order) {
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
        sort(keys, order);
    }

  private:
    template <class Key>
    void sort_packed(std::span<Key> keys, std::span<std::uint32_t> values, std::uint64_t differ, int low);

    Executor* executor_;
    Array<unsigned char> records_, scratch_, buffers_;
    Array<std::uint32_t> counts_;
};

}  // namespace quadrat::base
