// A frame of a simulation as a stage for the ray tracer.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include "render/ray_tracer.hpp"
#include "run/frame.hpp"

namespace quadrat::cli {

/// Everything that is seen of a frame: the fluid as a clear liquid, or as balls where surfaces are not to be had or not
/// wanted; solids; cloths; planes that face the camera; the floor and the edges of the domain.
[[nodiscard]] render::Stage stage_of(const Simulation& simulation, const Frame& frame, const SceneView& view);

}  // namespace quadrat::cli
