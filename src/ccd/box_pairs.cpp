#include "ccd/box_pairs.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

namespace quadrat::ccd {

void find_box_pairs(std::span<const Box3f> boxes, Executor* executor, std::vector<Pair>& out) {
    HashGridHierarchy<3, float> grid({.executor = executor});
    grid.insert(boxes);
    grid.find_pairs(out);
}

void find_box_pairs(std::span<const Box3f> a, std::span<const Box3f> b, Executor* executor, std::vector<Pair>& out) {
    HashGridHierarchy<3, float> first({.executor = executor});
    HashGridHierarchy<3, float> second({.executor = executor});
    first.insert(a);
    second.insert(b);
    find_pairs(first, second, out);
}

}  // namespace quadrat::ccd
