#include <quadrat/ccd/proximity.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace quadrat {
namespace {

Vec3d mix(const Vec3d& a, const Vec3d& b, double t) {
    return {{a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])}};
}

double length(const Vec3d& a, const Vec3d& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Distances by sampling both features: never below the true one.
double sampled(ImpactKind kind, const FourPoints& p) {
    double best = 1e300;
    constexpr int n = 40;
    for (int i = 0; i <= n; ++i)
        for (int j = 0; j <= n; ++j) {
            const double s = i / double(n), r = j / double(n);
            if (kind == ImpactKind::vertex_face)
                best = std::min(best, length(p[0], mix(mix(p[1], p[2], s), p[3], r)));
            else
                best = std::min(best, length(mix(p[0], p[1], s), mix(p[2], p[3], r)));
        }
    return best;
}

TEST(Proximity, AgreesWithSampling) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> real(-1, 1);
    for (int i = 0; i < 400; ++i) {
        FourPoints p;
        for (Vec3d& v : p)
            for (double& x : v.v) x = i % 3 ? real(random) : std::round(2 * real(random));
        if (i % 5 == 0) p[2] = p[3];
        if (i % 7 == 0) p[1] = p[2];
        for (const ImpactKind kind : {ImpactKind::vertex_face, ImpactKind::edge_edge}) {
            const Closest c = closest_points(kind, p);
            const double rough = sampled(kind, p);
            ASSERT_LE(c.distance, rough + 1e-12) << i;
            ASSERT_GE(c.distance, rough - 0.12) << i;
            ASSERT_NEAR(c.distance, length(c.first, c.second), 1e-12);
            double sum = 0;
            for (const double w : c.barycentric) {
                ASSERT_GE(w, 0);
                sum += w;
            }
            ASSERT_NEAR(sum, 2, 1e-12);
            EXPECT_FALSE(closest_points(kind, p, c.distance * 0.99 - 1e-9));
            EXPECT_TRUE(closest_points(kind, p, c.distance));
        }
    }
}

// The same places in units in which fourth powers of lengths leave the range of double.
TEST(Proximity, UnitsDoNotMatter) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> coordinate(-1, 1);
    for (int i = 0; i < 300; ++i) {
        FourPoints p;
        for (Vec3d& v : p)
            for (int k = 0; k < 3; ++k) v[k] = coordinate(random);
        for (const ImpactKind kind : {ImpactKind::vertex_face, ImpactKind::edge_edge}) {
            const Closest c = closest_points(kind, p);
            for (const double unit : {0x1p-500, 0x1p-260, 0x1p260, 0x1p500}) {
                FourPoints q = p;
                for (Vec3d& v : q)
                    for (int k = 0; k < 3; ++k) v[k] *= unit;
                const Closest d = closest_points(kind, q);
                EXPECT_NEAR(d.distance / unit, c.distance, 1e-12) << unit;
                EXPECT_EQ(d.barycentric, c.barycentric) << unit;
            }
        }
    }
}

TEST(Proximity, Triangles) {
    const std::array<Vec3d, 3> a = {Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}};
    const std::array<Vec3d, 3> above = {Vec3d{{0, 0, 2}}, Vec3d{{1, 0, 2}}, Vec3d{{0, 1, 3}}};
    EXPECT_NEAR(closest_triangles(a, above)->distance, 2, 1e-12);
    EXPECT_FALSE(closest_triangles(a, above, 1.9));
    EXPECT_FALSE(triangles_intersect(a, above));
    const std::array<Vec3d, 3> through = {Vec3d{{0.2, 0.2, -1}}, Vec3d{{0.2, 0.2, 1}}, Vec3d{{5, 5, 1}}};
    EXPECT_TRUE(triangles_intersect(a, through));
    EXPECT_EQ(closest_triangles(a, through)->distance, 0);
    const std::array<Vec3d, 3> touching = {Vec3d{{1, 0, 0}}, Vec3d{{2, 0, 1}}, Vec3d{{2, 1, 0}}};
    EXPECT_TRUE(triangles_intersect(a, touching));
    std::array<Vec3d, 3> inside = {Vec3d{{0.1, 0.1, 0}}, Vec3d{{0.2, 0.1, 0}}, Vec3d{{0.1, 0.2, 0}}};
    EXPECT_TRUE(triangles_intersect(a, inside));
    EXPECT_TRUE(triangles_intersect(inside, a));
    for (Vec3d& v : inside) v[2] = 0x1p-1000;
    EXPECT_FALSE(triangles_intersect(a, inside));
    const std::array<Vec3d, 3> point = {Vec3d{{0.25, 0.25, 0}}, Vec3d{{0.25, 0.25, 0}}, Vec3d{{0.25, 0.25, 0}}};
    EXPECT_TRUE(triangles_intersect(a, point));
    EXPECT_TRUE(triangles_intersect(point, a));
}

}  // namespace
}  // namespace quadrat
