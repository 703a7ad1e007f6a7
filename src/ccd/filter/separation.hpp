// The first time at which two features are within a positive distance of each other.
#pragma once

#include <quadrat/ccd/impact.hpp>

namespace quadrat::ccd {

/// Never late, and never infinity if the distance is reached in real arithmetic. Early by at most the tolerance when
/// the distance is clearly reached; a closest approach within distance + 1e-9 of the relative motion may count as
/// reached.
[[nodiscard]] double separation_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance,
                                     double tolerance);

}  // namespace quadrat::ccd
