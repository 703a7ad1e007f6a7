// Certified decisions in double precision: what nearly every query is answered by. Constants are derived in
// docs/reference/ccd.md. Other rooms use this header, separation.hpp (a positive distance) and separation_kernel.hpp
// (many queries at once); quadratic.hpp serves the exact room, too.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include "ccd/vector.hpp"

#include <limits>

namespace quadrat::ccd {

/// Unit roundoff of double.
inline constexpr double roundoff = 0x1p-53;
/// Any computed value of the coplanarity cubic on [0, 1] is off by at most this many units of roundoff, times the
/// permanent of the largest components of its three vectors (the determinant with every term counted positive).
inline constexpr double cubic_steps = 27;
/// The same for a component of the quadratic side conditions, times the 2 x 2 permanent of its two vectors.
inline constexpr double side_steps = 20;
/// The same with coefficients that were rounded from exact integers, times the largest of them instead.
inline constexpr double exact_cubic_steps = 18;
inline constexpr double exact_side_steps = 12;
/// Added to the first two against underflow of products.
inline constexpr double underflow_floor = 0x1p-800;
/// w . x, given w exactly, is off by at most this times |w|_1 |x|_inf.
inline constexpr double separation_error = 6 * roundoff;
/// Added to that error against underflow; and the error must stay below the ceiling, against overflow.
inline constexpr double separation_floor = 0x1p-1000;
inline constexpr double separation_ceiling = 0x1p900;
/// No component may be larger, or products could overflow and underflow reach beyond the floor.
inline constexpr double largest_size = 0x1p250;

inline constexpr double no_impact = std::numeric_limits<double>::infinity();

enum class Verdict : std::uint8_t {
    separated,  ///< no contact: a direction separates
    cubic,      ///< no contact: the cubic has no root
    miss,       ///< no contact: no root with the features inside each other
    hit,        ///< contact, at the time given
    unknown,    ///< ask the exact stage
};

/// Decides one query if double precision, from exact coefficients where need be, can. On a hit `time` is never late and
/// early by at most the tolerance. `skip_separation` when directions were tried already, by separated()
/// of separation_kernel.hpp.
[[nodiscard]] Verdict filter_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance,
                                    bool skip_separation, double& time);

}  // namespace quadrat::ccd
