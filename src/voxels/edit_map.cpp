// The hash table of edits: linear probing, and removal by closing the gap (Knuth, The Art of Computer Programming 3,
// section 6.4, algorithm R), so that no marks of removed positions pile up.
#include <quadrat/voxels/detail/edit_map.hpp>

#include "base/assert.hpp"

#include <algorithm>

namespace quadrat::voxels {

template <int D>
void EditMap<D>::add(const Voxel<D>& p) {
    QUADRAT_ASSERT(find(p) == none);
    positions_.push_back(p);
    if (positions_.size() * 2 > slots_.size()) return grow();
    std::size_t s = home(p);
    while (slots_[s] != none) s = (s + 1) & mask_;
    slots_[s] = static_cast<std::uint32_t>(positions_.size() - 1);
}

template <int D>
void EditMap<D>::grow() {
    slots_.assign(std::max<std::size_t>(16, slots_.size() * 2), none);
    mask_ = slots_.size() - 1;
    for (std::uint32_t k = 0; k < positions_.size(); ++k) {
        std::size_t s = home(positions_[k]);
        while (slots_[s] != none) s = (s + 1) & mask_;
        slots_[s] = k;
    }
}

template <int D>
void EditMap<D>::remove(std::uint32_t k) {
    QUADRAT_ASSERT(k < positions_.size());
    const auto last = static_cast<std::uint32_t>(positions_.size() - 1);
    std::size_t hole = slot_of(k);
    if (k != last) {
        slots_[slot_of(last)] = k;
        // The number now stands twice until the hole is closed; that of the removed position is the hole.
        std::swap(positions_[k], positions_[last]);
    }
    positions_.pop_back();
    slots_[hole] = none;
    // What follows moves up if it may: if its home is not between the hole and itself.
    for (std::size_t s = (hole + 1) & mask_; slots_[s] != none; s = (s + 1) & mask_) {
        const std::size_t from_home = (s - home(positions_[slots_[s]])) & mask_, from_hole = (s - hole) & mask_;
        if (from_home < from_hole) continue;
        slots_[hole] = slots_[s];
        slots_[s] = none;
        hole = s;
    }
}

template <int D>
void EditMap<D>::clear() {
    positions_.clear();
    slots_.clear();
    mask_ = 0;
}

template class EditMap<2>;
template class EditMap<3>;

}  // namespace quadrat::voxels
