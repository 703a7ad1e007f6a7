// The closest points of two features in whole numbers: what double and twice its precision leave open, which is contact
// itself and distances far below the size of the features.
#pragma once

#include "ccd/closest/nearest.hpp"

namespace quadrat::ccd {

/// The closest pair, decided exactly; distance, weights and direction are rounded from exact fractions, so each has a
/// relative error of at most 2^-49 (and the distance one smallest double). Coordinates are finite. Microseconds; more
/// where they differ by hundreds of powers of ten.
[[nodiscard]] Nearest exact_nearest(ImpactKind kind, const FourPoints& points);

}  // namespace quadrat::ccd
