// quadrat simulate for scenes of grains: frames, pictures, a film and statistics. In this room:
//   grain_run      frame after frame; what the verb uses
//   grain_stage    a frame for the ray tracer
#pragma once

#include "render/ray_tracer.hpp"
#include "run/run.hpp"
#include "scene_io/grain_file.hpp"

namespace quadrat::cli {

/// Throws Error; unsupported for what these runs do not have: --resume and --vtp. A run that is stopped leaves the
/// frames that are whole.
void run_grains(const scene_io::GrainFile& file, const SimulateOptions& options);

/// Grains and walls as they are now.
[[nodiscard]] render::Stage grain_stage(const Grains& grains, const scene_io::GrainFile& file,
                                        const scene_io::SceneView& view);

}  // namespace quadrat::cli
