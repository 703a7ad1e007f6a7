// A set of cells as sorted keys, for counting blocks. A key is the cell's place in a box one wider than the positions
// on each side, x fastest, so that a step along an axis adds a constant and keeps the order: unions and intersections
// with moved copies are merges.
#pragma once

#include "voxels/hash/domain.hpp"

#include <vector>

namespace quadrat::voxels {

template <int D>
class CellSet {
  public:
    /// Sorts the positions; throws Error{duplicate} if two are equal.
    explicit CellSet(std::span<const Voxel<D>> positions);

    /// The cells [c, c + 1] of which at least one corner (`all`: every corner) is in the set.
    void make_cells(bool all);
    /// The blocks of b^D cells that hold a cell of the set, by z, y, x; b divides from 0.
    [[nodiscard]] std::vector<Voxel<D>> blocks(std::uint32_t b) const;

    [[nodiscard]] std::size_t size() const { return keys_.size(); }

  private:
    [[nodiscard]] std::uint64_t key_of(const Voxel<D>& p) const;

    Domain<D> domain_;
    std::array<std::uint64_t, D> stride_ = {};
    std::vector<std::uint64_t> keys_;
};

}  // namespace quadrat::voxels
