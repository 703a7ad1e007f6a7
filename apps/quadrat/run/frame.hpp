// One frame of a run as plain arrays: what is written and drawn.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <vector>

#include "io/mesh/mesh.hpp"
#include "scene_io/scene_file.hpp"

namespace quadrat::cli {

using scene_io::SceneFile;
using scene_io::SceneView;

/// The state of one frame as plain arrays, sorted by particle id.
struct Frame {
    std::uint64_t number = 0;
    double time = 0;
    std::vector<Vec3f> positions = {}, velocities = {};
    std::vector<float> densities = {}, pressures = {};
    std::vector<std::uint8_t> phases = {};
    std::vector<std::uint32_t> ids = {};
    io::Mesh solids = {};  ///< bodies, planes and cloths, coloured
};

[[nodiscard]] Frame take_frame(const Simulation& simulation, const SceneView& view, std::uint64_t number, double time);

/// Bodies, cloths, and planes as far as the domain goes, as one mesh with colours.
[[nodiscard]] io::Mesh solid_mesh(const Simulation& simulation, const SceneView& view);

}  // namespace quadrat::cli
