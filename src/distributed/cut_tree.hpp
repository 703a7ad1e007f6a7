// The cuts that every rank holds: a tree of axis-aligned cuts whose leaves are the ranks. All questions are answered by
// comparisons of doubles, which float converts to exactly, so that every rank gives the same answer. A point with
// x <= cut goes left, so that each point, infinite ones included, belongs to one leaf. A box goes left if lo <= cut and
// right if hi > cut, so that it reaches the leaves to which its points belong, and no other.
#pragma once

#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/geometry.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "base/assert.hpp"

namespace quadrat::distributed {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

template <int D>
struct CutTree {
    struct Node {
        double cut = infinity;
        std::int32_t axis = 0;
        std::int32_t left = 0, right = 0;  ///< a node, or ~leaf, which is negative
    };
    std::vector<Node> nodes;  ///< the first is the root; without nodes everything belongs to leaf 0

    template <class T>
    [[nodiscard]] int leaf_of(const Vec<D, T>& x) const {
        if (nodes.empty()) return 0;
        std::int32_t at = 0;
        do {
            const Node& n = nodes[static_cast<std::size_t>(at)];
            at = static_cast<double>(x[n.axis]) <= n.cut ? n.left : n.right;
        } while (at >= 0);
        return ~at;
    }

    /// fn(leaf) for each leaf that the box reaches, each once.
    template <class T, class Fn>
    void for_each_leaf(const Box<D, T>& box, Fn&& fn) const {
        nodes.empty() ? fn(0) : descend(0, box, fn);
    }

    [[nodiscard]] Region<D> region(int leaf) const {
        Region<D> r;
        for (int k = 0; k < D; ++k) {
            r.lo[k] = -infinity;
            r.hi[k] = infinity;
        }
        const bool found = nodes.empty() ? leaf == 0 : narrow(0, leaf, r);
        if (!found) r.lo = r.hi = {};  // lo < x <= lo: nothing
        return r;
    }

  private:
    template <class T, class Fn>
    void descend(std::int32_t at, const Box<D, T>& box, Fn& fn) const {
        if (at < 0) return fn(static_cast<int>(~at));
        const Node& n = nodes[static_cast<std::size_t>(at)];
        if (static_cast<double>(box.lo[n.axis]) <= n.cut) descend(n.left, box, fn);
        if (static_cast<double>(box.hi[n.axis]) > n.cut) descend(n.right, box, fn);
    }
    bool narrow(std::int32_t at, int leaf, Region<D>& r) const {
        if (at < 0) return ~at == leaf;
        const Node& n = nodes[static_cast<std::size_t>(at)];
        Region<D> side = r;
        side.hi[n.axis] = std::min(r.hi[n.axis], n.cut);
        if (!narrow(n.left, leaf, side)) {
            side = r;
            side.lo[n.axis] = std::max(r.lo[n.axis], n.cut);
            if (!narrow(n.right, leaf, side)) return false;
        }
        r = side;
        return true;
    }
};

}  // namespace quadrat::distributed
