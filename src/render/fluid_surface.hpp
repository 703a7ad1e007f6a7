// The surface of a fluid from its particles.
#pragma once

#include <quadrat/geometry.hpp>

#include <optional>
#include <span>
#include <vector>

namespace quadrat::render {

struct FluidSurface {
    std::vector<Vec3f> vertices = {};
    std::vector<Triangle> triangles = {};  ///< counter-clockwise from outside
    std::vector<Vec3f> normals = {};
};

struct FluidSurfaceOptions {
    float spacing = 0.1f;  ///< of the particles; everything else is in multiples of it
    float radius = 0.95f;  ///< of the ball that a particle stands for
    float voxel = 0.6f;    ///< of the grid
    int smoothing = 12;    ///< rounds that even out the bumps of single particles
};

/// Whether this build can make surfaces (it was configured with OpenVDB).
[[nodiscard]] bool has_fluid_surface();

/// The particles as a level set (Museth's OpenVDB), meshed by its dual contouring, evened out by Taubin's filter
/// (1995). Nothing without OpenVDB or without particles. Throws bad_value for a spacing that is not positive.
[[nodiscard]] std::optional<FluidSurface> fluid_surface(std::span<const Vec3f> particles,
                                                        const FluidSurfaceOptions& options);

}  // namespace quadrat::render
