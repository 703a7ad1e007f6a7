// An independent answer to "how far are they apart": the squared distance of two features as a rational number, by the
// conditions of Karush, Kuhn and Tucker over all faces of the two features. Slow, and sharing nothing with src/ccd.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include "ccd/oracle.hpp"

#include <array>

namespace quadrat::test {

using RationalPoints = std::array<std::array<Rational, 3>, 4>;

/// The points at a time between the start (0) and the end (1) of a step.
[[nodiscard]] RationalPoints rational_points(const FourPoints& start, const FourPoints& end, const Rational& time);

/// The squared distance of the two features.
[[nodiscard]] Rational squared_distance(ImpactKind kind, const RationalPoints& points);
[[nodiscard]] Rational squared_distance(ImpactKind kind, const FourPoints& points);

/// The squared distance of the points that the weights name, divided by their sums, so that they lie on the features.
[[nodiscard]] Rational squared_distance_at(ImpactKind kind, const FourPoints& points,
                                           const std::array<double, 4>& weights);

/// The square root of a rational number, rounded to a double with a relative error below 1e-15.
[[nodiscard]] double root(const Rational& square);

}  // namespace quadrat::test
