// Where the kernels write pairs: a list that grows ahead of them, and shows itself when it becomes too long.
#pragma once

#include "base/assert.hpp"

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::broad_phase {

/// Who looks at the pairs of a buffer when there are more than `above`, and says how many of them, moved to the front,
/// stay.
struct Spill {
    std::size_t above = SIZE_MAX;
    std::size_t (*take)(const void* context, std::span<Pair> pairs) = nullptr;
    const void* context = nullptr;
};
template <class Take>
[[nodiscard]] Spill spill_to(std::size_t above, const Take& take) {
    return {above,
            [](const void* context, std::span<Pair> pairs) { return (*static_cast<const Take*>(context))(pairs); },
            &take};
}

/// A growing list of pairs on top of the caller's vector. Room is asked for before it is written; what the vector held
/// before is written over without being cleared first.
class PairBuffer {
  public:
    /// Appends to what `target` holds.
    explicit PairBuffer(std::vector<Pair>& target) : PairBuffer(target, target.size()) {}
    /// Keeps the first `size` pairs of `target`.
    PairBuffer(std::vector<Pair>& target, std::size_t size, const Spill& spill = {})
        : target_(&target), size_(size), spill_(spill) {
        QUADRAT_ASSERT(size <= target.size());
    }
    PairBuffer(const PairBuffer&) = delete;
    PairBuffer& operator=(const PairBuffer&) = delete;
    ~PairBuffer() { target_->resize(size_); }

    /// The end of the list, with room for `extra` pairs behind it.
    [[nodiscard]] Pair* reserve(std::size_t extra) {
        if (size_ + extra > target_->size()) [[unlikely]]
            grow(size_ + extra);
        return target_->data() + size_;
    }
    void set_end(const Pair* end) {
        QUADRAT_ASSERT(end >= target_->data() && end <= target_->data() + target_->size());
        size_ = static_cast<std::size_t>(end - target_->data());
    }
    [[nodiscard]] Pair* data() { return target_->data(); }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Room for so many pairs in all, to be touched when they are written: growing step by step would copy.
    void expect(std::size_t size) {
        if (size > target_->capacity()) target_->reserve(size);
    }
    void add(Pair p) {
        *reserve(1) = p;
        ++size_;
        settle();
    }
    /// Shows the pairs if there are too many. Called where nobody counts on their places.
    void settle() {
        if (size_ <= spill_.above) [[likely]]
            return;
        const std::size_t stay = spill_.take(spill_.context, {target_->data(), size_});
        QUADRAT_ASSERT(stay <= size_);
        size_ = stay;
        ++spills_;
    }
    /// How often pairs were shown.
    [[nodiscard]] std::size_t spills() const { return spills_; }

  private:
    // Not to all of the capacity: the elements of a vector are filled when it grows.
    void grow(std::size_t size) { target_->resize(size + size / 16 + 4096); }

    std::vector<Pair>* target_;
    std::size_t size_;
    Spill spill_;
    std::size_t spills_ = 0;
};

/// Calls take(span of pairs) for what fill(buffer) writes, a block of about 2^16 pairs at a time: as many as stay in
/// the second-level cache. `block` is scratch.
template <class Fill, class Take>
void in_blocks(std::vector<Pair>& block, Fill&& fill, const Take& take) {
    constexpr std::size_t pairs_per_block = 1 << 16;
    const auto hand_on = [&](std::span<Pair> pairs) {
        take(pairs);
        return std::size_t{0};
    };
    {
        PairBuffer buffer(block, 0, spill_to(pairs_per_block, hand_on));
        fill(buffer);
    }
    if (!block.empty()) take(std::span<Pair>(block));
}

}  // namespace quadrat::broad_phase
