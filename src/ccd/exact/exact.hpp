// The last word: the time of the first contact of one query by exact integer arithmetic, whatever its degeneracy.
// Other rooms use this header, and coefficients.hpp where they need exact signs; integers and polynomials are for this
// room alone.
#pragma once

#include <quadrat/ccd/impact.hpp>

namespace quadrat::ccd {

/// The time of the first contact, never late, early by at most the tolerance; infinity if there is none. Coordinates
/// are finite. Handles everything, in some microseconds for usual coordinates.
[[nodiscard]] double exact_impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                       double tolerance);

}  // namespace quadrat::ccd
