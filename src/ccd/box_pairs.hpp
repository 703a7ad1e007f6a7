// The broad phase of the mesh pipeline, behind two functions: boxes of one set against each other, and of one set
// against another.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <span>
#include <vector>

namespace quadrat::ccd {

/// Refills `out` with the overlapping pairs, each once, first < second.
void find_box_pairs(std::span<const Box3f> boxes, Executor* executor, std::vector<Pair>& out);
/// Refills `out` with the overlapping pairs (position in a, position in b).
void find_box_pairs(std::span<const Box3f> a, std::span<const Box3f> b, Executor* executor, std::vector<Pair>& out);

}  // namespace quadrat::ccd
