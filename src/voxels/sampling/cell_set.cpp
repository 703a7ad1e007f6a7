#include "voxels/sampling/cell_set.hpp"

#include <quadrat/error.hpp>

#include "voxels/sampling/columns.hpp"

#include <iterator>
#include <limits>
#include <utility>

namespace quadrat::voxels {
template <int D>
CellSet<D>::CellSet(std::span<const Voxel<D>> positions) : domain_(bounding_box<D>(positions)) {
    for (int a = 0; a < D; ++a) {
        const std::int64_t lo = domain_.origin[a], hi = lo + domain_.extent[static_cast<std::size_t>(a)] - 1;
        if (lo == std::numeric_limits<std::int32_t>::min() || hi == std::numeric_limits<std::int32_t>::max())
            throw Error(ErrorKind::bad_value, "blocks need a free coordinate on each side, within 32 bits",
                        {.column = static_cast<std::size_t>(a)});
    }
    std::uint64_t stride = 1;  // (2^21 + 2)^3 is below 2^64
    for (int a = 0; a < D; ++a) {
        stride_[static_cast<std::size_t>(a)] = stride;
        stride *= std::uint64_t{domain_.extent[static_cast<std::size_t>(a)]} + 2;
    }
    keys_.reserve(positions.size());
    for (const Voxel<D>& p : positions) keys_.push_back(key_of(p));
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return;
    bool seen = false;
    for (std::size_t i = 0; i < positions.size(); ++i)
        if (key_of(positions[i]) == *twice && std::exchange(seen, true)) throw_duplicate<D>(positions, i);
}

template <int D>
std::uint64_t CellSet<D>::key_of(const Voxel<D>& p) const {
    const auto local = domain_.local(p);
    std::uint64_t key = 0;
    for (std::size_t a = 0; a < D; ++a) key += (std::uint64_t{local[a]} + 1) * stride_[a];
    return key;
}

template <int D>
void CellSet<D>::make_cells(bool all) {
    std::vector<std::uint64_t> moved, out;
    for (int a = 0; a < D; ++a) {
        moved = keys_;
        for (std::uint64_t& k : moved) k -= stride_[static_cast<std::size_t>(a)];
        out.clear();
        if (all)
            std::set_intersection(keys_.begin(), keys_.end(), moved.begin(), moved.end(), std::back_inserter(out));
        else
            std::set_union(keys_.begin(), keys_.end(), moved.begin(), moved.end(), std::back_inserter(out));
        keys_.swap(out);
    }
}

template <int D>
std::vector<Voxel<D>> CellSet<D>::blocks(std::uint32_t b) const {
    // Keys of blocks, 22 bits for each axis but the last, relative to the block of the first possible cell.
    Voxel<D> first;
    for (int a = 0; a < D; ++a) first[a] = floor_divide(std::int64_t{domain_.origin[a]} - 1, b);
    std::vector<std::uint64_t> found;
    for (const std::uint64_t key : keys_) {
        std::uint64_t rest = key, block = 0;
        for (int a = D - 1; a >= 0; --a) {
            const std::uint64_t at = rest / stride_[static_cast<std::size_t>(a)];
            rest -= at * stride_[static_cast<std::size_t>(a)];
            const std::int64_t cell = std::int64_t{domain_.origin[a]} - 1 + static_cast<std::int64_t>(at);
            block = block * ((std::uint64_t{1} << 21) + 2) +
                    static_cast<std::uint64_t>(std::int64_t{floor_divide(cell, b)} - first[a]);
        }
        if (found.empty() || found.back() != block) found.push_back(block);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<Voxel<D>> out(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::uint64_t rest = found[i];
        for (int a = 0; a < D; ++a, rest /= (std::uint64_t{1} << 21) + 2)
            out[i][a] = first[a] + static_cast<std::int32_t>(rest % ((std::uint64_t{1} << 21) + 2));
    }
    return out;
}

template class CellSet<2>;
template class CellSet<3>;

}  // namespace quadrat::voxels
