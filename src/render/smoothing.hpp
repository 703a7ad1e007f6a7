// Removes the grain of few samples per pixel: an edge-avoiding wavelet filter (Dammertz et al. 2010, "Edge-Avoiding
// A-Trous Wavelet Transform for fast Global Illumination Filtering"). Neighbours count by how alike their surfaces are:
// direction, distance and colour of the first hit. It works on light alone, divided by the surface's own colour, so
// that patterns stay sharp.
#pragma once

#include <quadrat/executor.hpp>

#include <cstdint>
#include <vector>

#include "render/picture.hpp"

namespace quadrat::render {

/// What one pixel saw first, averaged over its samples.
struct Guide {
    Vec3f normal{0, 0, 0};
    float depth = 0;
    Color albedo{1, 1, 1};
    float clear = 0;  ///< share of samples that saw a liquid or nothing: those are filtered less
};

/// light is filtered in place; both have width * height entries.
void smooth_light(std::vector<Color>& light, const std::vector<Guide>& guides, std::uint32_t width,
                  std::uint32_t height, Executor* executor);

}  // namespace quadrat::render
