// Meshes that a scene file makes or names: tori, sheets and files.
#pragma once

#include "base/surfaces.hpp"
#include "scene_io/json.hpp"

namespace quadrat::scene_io {

using base::Surface;

/// A ring about z at the origin; `ring` is above `tube`.
[[nodiscard]] Surface torus(double ring, double tube);

/// A file in `folder`, put upright, centred over its lowest point and scaled to a height where asked: the keys file,
/// y_up, center, height, scale.
[[nodiscard]] Surface read_mesh_file(JsonObject& object, const std::string& folder);

/// "sheet": {"cells": [n, m], "size": [a, b], "center", "rotation", "sag"}: a rectangle, flat at first or, with a sag,
/// hanging between its edges. Vertex (i, k) of the lattice is i (m + 1) + k; cells gets n and m.
[[nodiscard]] Surface read_sheet(const JsonCursor& at, std::array<std::uint32_t, 2>& cells);

}  // namespace quadrat::scene_io
