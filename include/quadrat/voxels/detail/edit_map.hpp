// The positions that were added to packed voxels, with a number for each: a small hash table with open addressing.
// Machinery of EditableVoxels.
//
//     slots    [ - ] [ 7 ] [ 2 ] [ - ] [ 0 ] ..      numbers; a position is looked for from its own slot on until a
//                                                    free one, and what is taken out is closed up
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <cstdint>
#include <vector>

namespace quadrat::voxels {

/// Positions with numbers 0, 1, 2, ... in the order of their adding; a removed one gives its number to the last. Const
/// calls may run concurrently.
template <int D>
class EditMap {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// The number of p, or none. O(1).
    [[nodiscard]] std::uint32_t find(const Voxel<D>& p) const {
        if (positions_.empty()) return none;
        for (std::size_t s = home(p);; s = (s + 1) & mask_) {
            const std::uint32_t k = slots_[s];
            if (k == none || positions_[k] == p) return k;
        }
    }
    /// Adds a position that is not there; its number is size() before the call. Amortised O(1).
    void add(const Voxel<D>& p);
    /// Removes number k; the last position takes it. O(1).
    void remove(std::uint32_t k);
    void clear();

    [[nodiscard]] const std::vector<Voxel<D>>& positions() const { return positions_; }
    [[nodiscard]] std::size_t size() const { return positions_.size(); }
    [[nodiscard]] std::size_t bytes() const { return slots_.size() * 4 + positions_.size() * sizeof(Voxel<D>); }

  private:
    [[nodiscard]] std::size_t home(const Voxel<D>& p) const {
        std::uint64_t h = 0;
        for (int a = 0; a < D; ++a) h = (h ^ static_cast<std::uint32_t>(p[a])) * 0x9E3779B97F4A7C15u;
        return static_cast<std::size_t>(h >> 32) & mask_;
    }
    [[nodiscard]] std::size_t slot_of(std::uint32_t k) const {
        std::size_t s = home(positions_[k]);
        while (slots_[s] != k) s = (s + 1) & mask_;
        return s;
    }
    void grow();

    std::vector<Voxel<D>> positions_;
    std::vector<std::uint32_t> slots_;  // a power of two, at most half of them taken
    std::size_t mask_ = 0;
};

extern template class EditMap<2>;
extern template class EditMap<3>;

}  // namespace quadrat::voxels
