// The vector code of the broad phase: pairs inside one sorted grid, and pairs between two grids.
#pragma once

#include "broad_phase/sorted_grid.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
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
        : target_(&target), size_(size), spill_(spill) {}
    PairBuffer(const PairBuffer&) = delete;
    PairBuffer& operator=(const PairBuffer&) = delete;
    ~PairBuffer() { target_->resize(size_); }

    /// The end of the list, with room for `extra` pairs behind it.
    [[nodiscard]] Pair* reserve(std::size_t extra) {
        if (size_ + extra > target_->size()) [[unlikely]]
            grow(size_ + extra);
        return target_->data() + size_;
    }
    void set_end(const Pair* end) { size_ = static_cast<std::size_t>(end - target_->data()); }
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
        size_ = spill_.take(spill_.context, {target_->data(), size_});
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

/// Appends the overlapping pairs of rows [row_begin, row_end) with themselves and the rows that follow them in the half
/// stencil (HHG 3.6, figure 17), each once with first < second. Returns the number of box tests made.
template <int D, class T>
std::uint64_t pairs_within(const GridView<D, T>& grid, std::uint32_t row_begin, std::uint32_t row_end, PairBuffer& out);

/// Appends the overlapping pairs of the boxes at [begin, end) of `homes` with the boxes of `grid`. ordered: smaller id
/// first, otherwise the home's id first. The two grids hold different objects.
template <int D, class T>
std::uint64_t pairs_between(const GridView<D, T>& homes, std::size_t begin, std::size_t end, const GridView<D, T>& grid,
                            bool ordered, PairBuffer& out);

}  // namespace quadrat::broad_phase
