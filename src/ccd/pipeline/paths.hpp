// Where the corners of features are at both ends of the step, in floats that are seen from the middle of all meshes, in
// a unit near their size. Along the line between the centres of two features most candidates are apart: a pair costs
// two or three cache lines and some thirty instructions to see that, a fifth of a look for its own direction in double.
// The error bound is derived in docs/reference/ccd.md.
#pragma once

#include "ccd/pipeline/features.hpp"

namespace quadrat::ccd {

/// A float position along a direction is off by at most this times the direction's sum of components times the sum of
/// both features' sizes.
inline constexpr float path_error = 6 * 0x1p-24f;
/// Added to that against underflow; sizes are near 1 or below.
inline constexpr float path_floor = 0x1p-120f;

/// A vertex or an edge: component k of its first end at the start and at the end of the step, then of its second end.
struct alignas(64) Path {
    float at[3][4];
    float centre[3];
    float size;  ///< no component is larger
};

/// A face: component k of its corners at the start and at the end, the last one twice.
struct alignas(64) FacePath {
    float at[3][8];
    float centre[3];
    float size;
};

/// Paths of the three kinds of features, each as its features are numbered.
struct AllPaths {
    base::Array<Path> vertices, edges;
    base::Array<FacePath> faces;
    float gap = 0;  ///< how far features must be apart, in the unit of the paths
};

/// Of the motion in f.vertices. `gap`: in the unit of the meshes.
[[nodiscard]] AllPaths make_paths(const Features& f, double gap, Executor* executor);

/// What is asked of a pair of paths.
enum class Directions : std::uint8_t {
    centres,  ///< the line between the centres alone
    many,     ///< that line and, by Gilbert's method, directions that suit the pair better, for 64 pairs at a time
};

/// Copies the pairs that are not certainly farther apart than the gap along such a direction, in order; returns how
/// many. a[first] and b[second] are theirs. `out` may be where the pairs are.
std::size_t select_near(Directions directions, const Path* a, const Path* b, float gap, std::span<const Pair> pairs,
                        Pair* out);
std::size_t select_near(Directions directions, const Path* a, const FacePath* b, float gap, std::span<const Pair> pairs,
                        Pair* out);

}  // namespace quadrat::ccd
