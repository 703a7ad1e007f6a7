// Two boxes: how far apart along the best of the axes that can separate them, and where they touch.
#pragma once

#include "simulation/solids/solids.hpp"

#include <vector>

namespace quadrat::simulation {

struct PlacedBox {
    Vector centre, half;
    Matrix3d axes;  ///< columns
};

[[nodiscard]] PlacedBox placed_box(const Body& b, const BodyPose& p);

/// The gap between two boxes along the axis where it is largest; negative: they overlap, by at least that much on every
/// axis. In two dimensions boxes are as deep as it takes.
[[nodiscard]] double box_gap(const PlacedBox& a, const PlacedBox& b, int dimension);

struct BoxTouch {
    Vector point, normal;  ///< normal from b to a
    double depth;          ///< negative: a gap
};
/// Where two boxes in space that are nearer than `margin` touch: up to eight corners of a face cut by another, or one
/// point between two edges.
void box_touches(const PlacedBox& a, const PlacedBox& b, double margin, std::vector<BoxTouch>& out);

}  // namespace quadrat::simulation
