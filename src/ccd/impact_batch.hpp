// What the single query and the batches of the mesh pipeline share.
#pragma once

#include <quadrat/ccd/impact.hpp>

namespace quadrat::ccd {

/// The time of the first contact by filter and, where that does not decide, exactly; counts how it was decided.
[[nodiscard]] double settle(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance,
                            bool skip_separation, ImpactStats& statistics);

/// A contact and the distance of its two points.
struct Description {
    Impact impact;
    double distance = 0;
};

/// Weights, normal and distance of a contact at this time.
[[nodiscard]] Description describe(ImpactKind kind, const FourPoints& start, const FourPoints& end, double time);

}  // namespace quadrat::ccd
