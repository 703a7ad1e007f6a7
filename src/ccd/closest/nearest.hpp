// The closest points of two features, with a proof: a pair of points bounds the distance from above, and a direction w
// bounds it from below, because the features are apart by at least the least w . x / |w| over the difference vectors x
// of their corners, whatever w is. Where the two bounds agree the answer is right, however it was found; where they do
// not, the same formulas are computed again in twice the precision, and then in whole numbers (exact_nearest.hpp).
// Errors are derived in docs/reference/ccd.md, "Proximity". Other rooms use this header alone.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include "ccd/vector.hpp"

namespace quadrat::ccd {

/// The computed bounds are within this share of the size of the true ones: 32 roundoffs. The size is the largest
/// component of the points seen from the first one.
inline constexpr double nearest_error = 0x1p-48;

/// The closest points of two features. Lengths are in the unit of what was asked.
struct Nearest {
    /// Of the four points, as in Impact.
    std::array<double, 4> weights = {};
    /// Unit vector from the second feature to the first; zero where there is none.
    Vec3d direction = {{0, 0, 0}};
    /// Between the points with these weights.
    double distance = 0;
};

/// The points 1, 2, 3 of a query as seen from point 0.
using Relative = std::array<Vec3d, 3>;

/// In double, and in twice the precision where that is not within 2^-46 of the size. Sizes are below 2^200 and, if not
/// 0, above 2^-200.
[[nodiscard]] Nearest nearest_in_double(ImpactKind kind, const Relative& points);

/// For any finite coordinates: the distance is within 2^-46 of the size and within 2^-30 of itself (or the smallest
/// double), and 0 only if the features touch or are as near as that.
[[nodiscard]] Nearest nearest(ImpactKind kind, const FourPoints& points);

/// A power of two, as an exponent: size 2^-unit_exponent(size) is in [1, 2) for a positive finite size.
[[nodiscard]] int unit_exponent(double size);

}  // namespace quadrat::ccd
