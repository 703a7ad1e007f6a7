// What the paper compares with: an octree (a quadtree in two dimensions) over the positions, with a byte of children
// for each node and no pointers but the number of the first child. A lookup descends one level for each bit of the
// coordinates. Children of a level lie in the order of their parents, so that the number of a leaf is the place of its
// value.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace psh {

using quadrat::Voxel;

template <int D>
class Octree {
  public:
    /// Positions are not negative.
    explicit Octree(std::span<const Voxel<D>> positions) {
        std::uint32_t widest = 1;
        for (const auto& p : positions)
            for (int a = 0; a < D; ++a) widest = std::max(widest, static_cast<std::uint32_t>(p[a]) + 1);
        levels_ = static_cast<std::uint32_t>(std::bit_width(widest - 1));
        std::vector<std::uint64_t> codes;
        for (const auto& p : positions) codes.push_back(code(p));
        std::sort(codes.begin(), codes.end());
        nodes_.resize(levels_);
        for (std::uint32_t level = 0; level < levels_; ++level) {
            const std::uint32_t shift = D * (levels_ - level);
            std::uint32_t children = 0;
            std::uint64_t last = ~std::uint64_t{0}, last_child = last;
            for (const std::uint64_t c : codes) {
                if (c >> shift != last) nodes_[level].push_back({children, 0});
                last = c >> shift;
                if (c >> (shift - D) != last_child) ++children;
                last_child = c >> (shift - D);
                nodes_[level].back().mask =
                    static_cast<std::uint8_t>(nodes_[level].back().mask | 1u << (last_child & ((1u << D) - 1)));
            }
        }
    }

    /// The place of p's value, or ~0.
    [[nodiscard]] std::uint32_t find(const Voxel<D>& p) const {
        std::uint32_t node = 0;
        for (std::uint32_t level = 0; level < levels_; ++level) {
            std::uint32_t child = 0;
            for (int a = 0; a < D; ++a) child |= (static_cast<std::uint32_t>(p[a]) >> (levels_ - 1 - level) & 1) << a;
            const Node& n = nodes_[level][node];
            if ((n.mask >> child & 1) == 0) return ~0u;
            node = n.first + static_cast<std::uint32_t>(std::popcount(n.mask & ((1u << child) - 1)));
        }
        return node;
    }
    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t n = 0;
        for (const auto& level : nodes_) n += level.size();
        return n * 5;  // a number and a mask
    }

  private:
    struct Node {
        std::uint32_t first;
        std::uint8_t mask;
    };
    [[nodiscard]] std::uint64_t code(const Voxel<D>& p) const {
        std::uint64_t c = 0;
        for (std::uint32_t bit = levels_; bit-- > 0;)
            for (int a = D - 1; a >= 0; --a) c = c << 1 | (static_cast<std::uint32_t>(p[a]) >> bit & 1);
        return c;
    }

    std::uint32_t levels_ = 0;
    std::vector<std::vector<Node>> nodes_;
};

}  // namespace psh
