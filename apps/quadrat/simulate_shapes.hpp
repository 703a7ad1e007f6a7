// The things of a simulation as meshes and as a stage for the ray tracer.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <vector>

#include "io/mesh.hpp"
#include "render/ray_tracer.hpp"
#include "scene_file.hpp"

namespace quadrat::cli {

struct Frame;

/// Bodies, cloths, and planes as far as the domain goes, as one mesh with colours.
[[nodiscard]] io::Mesh solid_mesh(const Simulation& simulation, const SceneView& view);

/// Everything that is seen of a frame: the fluid as a clear liquid, or as balls where surfaces are not to be had or not
/// wanted; solids; cloths; planes that face the camera; the floor and the edges of the domain.
[[nodiscard]] render::Stage stage_of(const Simulation& simulation, const Frame& frame, const SceneView& view);

}  // namespace quadrat::cli
