#include "render/smoothing.hpp"

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "render/vector.hpp"

namespace quadrat::render {
namespace {

float brightness(const Color& c) {
    return 0.3f * c.r + 0.6f * c.g + 0.1f * c.b;
}

}  // namespace

void smooth_light(std::vector<Color>& light, const std::vector<Guide>& guides, std::uint32_t width,
                  std::uint32_t height, Executor* executor) {
    QUADRAT_ASSERT(light.size() == std::size_t{width} * height && guides.size() == light.size());
    constexpr float kernel[3] = {3.0f / 8, 1.0f / 4, 1.0f / 16};
    const int w = static_cast<int>(width), h = static_cast<int>(height);
    std::vector<Color> next(light.size());
    for (int level = 0; level < 3; ++level) {
        const int step = 1 << level;
        // Rougher differences of light are kept from one level to the next, as the picture gets smoother.
        const float tolerance = 0.6f / static_cast<float>(step);
        base::parallel_for(executor, height, 8, [&](std::size_t begin, std::size_t end) {
            for (int y = static_cast<int>(begin); y < static_cast<int>(end); ++y)
                for (int x = 0; x < w; ++x) {
                    const auto at = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
                    const Guide& g = guides[at];
                    const float here = brightness(light[at]);
                    if (g.clear > 0.999f && level > 0) {
                        next[at] = light[at];
                        continue;
                    }
                    Color sum;
                    float weights = 0;
                    for (int dy = -2; dy <= 2; ++dy)
                        for (int dx = -2; dx <= 2; ++dx) {
                            const int qx = x + dx * step, qy = y + dy * step;
                            if (qx < 0 || qy < 0 || qx >= w || qy >= h) continue;
                            const auto to = static_cast<std::size_t>(qy) * width + static_cast<std::size_t>(qx);
                            const Guide& q = guides[to];
                            const float turn = std::max(0.0f, dot(g.normal, q.normal));
                            const float turn_sq = turn * turn, turn_8 = turn_sq * turn_sq * turn_sq * turn_sq;
                            const float gap = std::abs(g.depth - q.depth) / (1e-6f + 0.02f * g.depth);
                            const float paint = std::abs(g.albedo.r - q.albedo.r) + std::abs(g.albedo.g - q.albedo.g) +
                                                std::abs(g.albedo.b - q.albedo.b);
                            const float contrast = std::abs(here - brightness(light[to])) / (tolerance * (0.2f + here));
                            const float clear = std::abs(g.clear - q.clear) * 6;
                            const float weight = kernel[std::abs(dx)] * kernel[std::abs(dy)] * turn_8 * turn_8 *
                                                 std::exp(-gap - 6 * paint - contrast * contrast - clear);
                            sum = sum + weight * light[to];
                            weights += weight;
                        }
                    next[at] = weights > 0 ? (1 / weights) * sum : light[at];
                }
        });
        light.swap(next);
    }
}

}  // namespace quadrat::render
