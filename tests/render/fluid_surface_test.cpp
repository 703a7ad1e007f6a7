#include "render/fluid_surface.hpp"

#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "render/vector.hpp"

namespace quadrat::render {
namespace {

std::vector<Vec3f> block(int n, float spacing, float at = 0) {
    std::vector<Vec3f> points;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k)
                points.push_back({at + static_cast<float>(i) * spacing, static_cast<float>(j) * spacing,
                                  static_cast<float>(k) * spacing});
    return points;
}

double volume(const FluidSurface& s) {
    double sum = 0;
    for (const Triangle& t : s.triangles)
        sum += static_cast<double>(dot(s.vertices[t.a], cross(s.vertices[t.b], s.vertices[t.c]))) / 6;
    return sum;
}

TEST(FluidSurface, HoldsTheParticlesInAClosedSurface) {
    if (!has_fluid_surface()) GTEST_SKIP() << "built without OpenVDB";
    const float spacing = 0.1f;
    const auto surface = fluid_surface(block(10, spacing), {.spacing = spacing});
    ASSERT_TRUE(surface);
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
    for (const Triangle& t : surface->triangles)
        for (const auto& [a, b] : {std::pair{t.a, t.b}, std::pair{t.b, t.c}, std::pair{t.c, t.a}}) {
            ++edges[{a, b}];
            --edges[{b, a}];
        }
    for (const auto& [edge, count] : edges) EXPECT_EQ(count, 0);
    // Between the hull of the centres and the hull of the balls around them.
    EXPECT_GT(volume(*surface), 0.9 * 0.9 * 0.9);
    EXPECT_LT(volume(*surface), 1.1 * 1.1 * 1.1);
    ASSERT_EQ(surface->normals.size(), surface->vertices.size());
}

TEST(FluidSurface, IsTheSameEveryTime) {
    if (!has_fluid_surface()) GTEST_SKIP() << "built without OpenVDB";
    auto points = block(12, 0.1f);
    const auto more = block(3, 0.13f, 4);
    points.insert(points.end(), more.begin(), more.end());
    const auto first = fluid_surface(points, {.spacing = 0.1f});
    for (int round = 0; round < 5; ++round) {
        const auto again = fluid_surface(points, {.spacing = 0.1f});
        EXPECT_EQ(first->vertices, again->vertices);
        EXPECT_EQ(first->triangles, again->triangles);
    }
}

TEST(FluidSurface, RefusesBadSpacing) {
    EXPECT_FALSE(fluid_surface({}, {}));
    for (const float bad :
         {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
        EXPECT_THROW((void)fluid_surface(block(2, 1), {.spacing = bad}), Error) << bad;
}

}  // namespace
}  // namespace quadrat::render
