// The first time at which two features are within a positive distance of each other.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include "ccd/filter/filter.hpp"

namespace quadrat::ccd {

/// A relative position on its way, as computed, times a direction w given exactly: off by at most this times the sum of
/// |w_k| m_k, m_k the largest component k at both ends of the step. Derived in docs/reference/ccd.md.
inline constexpr double span_error = 10 * roundoff;
/// A distance counts as reached when the features are nearer than it and this share of the size of the relative
/// positions more: room for the rounding of what proves that they are not.
inline constexpr double reach = 0x1p-45;

/// Relative positions of two features, the corners of the second as seen from those of the first: three for vertex and
/// face, four for two edges.
struct Positions {
    Vec3d x[4];
    int count;
};

/// Whether positions that move on straight lines from a to b certainly stay farther than `distance` along a direction
/// that turns from v to w (unit vectors up to 8 roundoffs). size: of the components at both ends of the whole step.
[[nodiscard]] bool stay_apart(const Positions& a, const Positions& b, const Vec3d& v, const Vec3d& w, const Vec3d& size,
                              double distance);

/// With T(x) the first time in real arithmetic at which the features are within x, and L the largest component of the
/// relative positions at both ends of the step: never later than T(distance), and never earlier than T(distance + 2^-44
/// L) by more than the tolerance. Infinity if T(distance + 2^-44 L) is; never if T(distance) is not.
[[nodiscard]] double separation_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance,
                                     double tolerance);

}  // namespace quadrat::ccd
