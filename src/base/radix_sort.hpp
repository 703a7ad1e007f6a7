// A stable sort of 32- and 64-bit keys in linear time, with or without a 32-bit payload. It is the sort of
// Cell Indexing (Onderik & Durikovic 2008, section 4.2) made for today's caches: least significant digit first, but
// only over as many of the leading bits that differ as it takes to tell n keys apart (about log2 n); the few keys that
// still agree there are put in order in the closing pass, by insertion or, for long runs, by the same sort on the bits
// below. Digits of up to 12 bits are scattered through one cache line per bucket. Measured choices:
// docs/decisions/0010-sort.md.
//
// A stable order is unique, so the result is the same bytes for any number of threads.
#pragma once

#include "base/array.hpp"

#include <quadrat/executor.hpp>

#include <cstdint>
#include <span>

namespace quadrat::base {

/// Keeps its scratch memory between calls: 8 bytes per 32-bit key or bare 64-bit key, up to 32 per 64-bit key with
/// payload. Up to 2^32 - 1 elements. One call at a time.
class RadixSorter {
  public:
    explicit RadixSorter(Executor* executor = nullptr) : executor_(executor) {}

    void sort(std::span<std::uint32_t> keys);
    void sort(std::span<std::uint64_t> keys);

    /// Sorts by key; values[i] moves with keys[i]; values of equal keys keep their order.
    void sort(std::span<std::uint32_t> keys, std::span<std::uint32_t> values);
    void sort(std::span<std::uint64_t> keys, std::span<std::uint32_t> values);

  private:
    template <class Key>
    void sort_packed(std::span<Key> keys, std::span<std::uint32_t> values, std::uint64_t differ, int low);

    Executor* executor_;
    Array<unsigned char> records_, scratch_, buffers_;
    Array<std::uint32_t> counts_;
};

}  // namespace quadrat::base
