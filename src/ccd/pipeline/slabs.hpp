// Features between pairs of parallel planes (a discrete oriented polytope): where each lies over the step along eight
// fixed directions that are no axis, since along the axes their boxes overlap. A pair that is apart along one of them
// never meets, and costs two cache lines and four vector comparisons to see, a tenth of a look for its own direction:
// most candidates of cloth end here.
#pragma once

#include "ccd/pipeline/features.hpp"

namespace quadrat::ccd {

/// Eight intervals, in a quarter of the unit of length, rounded outwards.
struct alignas(64) Slabs {
    float lo[8];
    float hi[8];
};

/// Slabs of the three kinds of features, each as its features are numbered.
struct AllSlabs {
    base::Array<Slabs> vertices, faces, edges;
};

/// Of the motion in f.vertices; features grow by `grow` on all sides.
[[nodiscard]] AllSlabs make_slabs(const Features& f, double grow, Executor* executor);

/// Copies the pairs whose slabs all overlap, in order; returns how many. a[first] and b[second] are theirs.
std::size_t select_overlapping(const Slabs* a, const Slabs* b, std::span<const Pair> pairs, Pair* out);

}  // namespace quadrat::ccd
