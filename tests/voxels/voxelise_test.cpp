#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include "voxels/data.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace quadrat {
namespace {

TEST(Voxelise, AxisAlignedSquareTouchesBothSides) {
    // A square of 4 x 4 cells in the plane z = 0, lowest face of the grid.
    const std::vector<Vec3d> v{{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}};
    const std::vector<Triangle> t{{0, 1, 2}, {0, 2, 3}};
    const auto s = voxelise(v, t, 4);
    EXPECT_EQ(s.voxels.size(), 16u);
    EXPECT_DOUBLE_EQ(s.cell, 1.0);
}

// Against dense sampling: every sampled point's voxel is there, and every voxel is within half a diagonal of the
// triangle's plane.
TEST(Voxelise, HoldsEveryPointOfRandomTriangles) {
    std::mt19937_64 g(4);
    std::uniform_real_distribution<double> u(-3, 5);
    for (int round = 0; round < 30; ++round) {
        const std::vector<Vec3d> v{{u(g), u(g), u(g)}, {u(g), u(g), u(g)}, {u(g), u(g), u(g)}};
        const std::vector<Triangle> t{{0, 1, 2}};
        const std::uint32_t resolution = 1 + static_cast<std::uint32_t>(g() % 40);
        const auto s = voxelise(v, t, resolution);
        std::set<Voxel<3>, test::VoxelLess<3>> have(s.voxels.begin(), s.voxels.end());
        ASSERT_EQ(have.size(), s.voxels.size());
        for (int i = 0; i <= 60; ++i)
            for (int j = 0; i + j <= 60; ++j) {
                Voxel<3> p;
                for (int a = 0; a < 3; ++a) {
                    const double x = v[0][a] + (v[1][a] - v[0][a]) * i / 60.0 + (v[2][a] - v[0][a]) * j / 60.0;
                    p[a] = std::min(static_cast<std::int32_t>(resolution) - 1,
                                    static_cast<std::int32_t>((x - s.origin[a]) / s.cell + 1e-9));
                }
                // Rounding may put a sample one cell further; then the true cell is a neighbour that is there, too.
                bool near = have.count(p) != 0;
                for (int a = 0; a < 3 && !near; ++a) {
                    Voxel<3> q = p;
                    --q[a];
                    near = have.count(q) != 0;
                }
                ASSERT_TRUE(near);
            }
        Vec3d n{};
        for (int a = 0; a < 3; ++a) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            n[a] = (v[1][b] - v[0][b]) * (v[2][c] - v[0][c]) - (v[1][c] - v[0][c]) * (v[2][b] - v[0][b]);
        }
        const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (const auto& p : s.voxels) {
            double d = 0;
            for (int a = 0; a < 3; ++a) d += n[a] * (s.origin[a] + (p[a] + 0.5) * s.cell - v[0][a]);
            ASSERT_LE(std::fabs(d) / length, s.cell * 0.8661);
        }
    }
}

TEST(Voxelise, PointsAndBadInput) {
    const std::vector<Vec3d> v{{0, 0, 0}, {0.1, 0, 0}, {1, 1, 1}};
    const auto s = voxelise(v, 4);
    EXPECT_EQ(s.voxels, (std::vector<Voxel<3>>{{0, 0, 0}, {3, 3, 3}}));
    EXPECT_EQ(s.source, (std::vector<std::uint32_t>{0, 2}));
    const std::vector<Triangle> bad{{0, 1, 3}};
    EXPECT_THROW((void)voxelise(v, bad, 4), Error);
    EXPECT_THROW((void)voxelise(v, 0u), Error);
    const std::vector<Vec3d> nan{{0, 0, 0}, {0, std::numeric_limits<double>::quiet_NaN(), 0}};
    try {
        (void)voxelise(nan, 4);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().index, 1u);
        EXPECT_EQ(e.where().column, 1u);
    }
    EXPECT_TRUE(voxelise({}, std::span<const Triangle>(), 4).voxels.empty());
}

}  // namespace
}  // namespace quadrat
