#include <quadrat/error.hpp>
#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include "base/random.hpp"
#include "support/oracle.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace quadrat {
namespace {

template <int D, class T>
void check_hostile_points() {
    for (const auto& scene : workloads::hostile_points<D, T>()) {
        const std::span<const Vec<D, T>> points(scene.points);
        const auto expected = test::oracle_neighbors(points, scene.radius);
        const auto half = points.size() / 2;
        const auto between = test::oracle_neighbors(points.first(half), points.subspan(half), scene.radius);
        for (const unsigned parts : {1u, 2u, 3u, 8u}) {
            ExtendedSpatialHash<D, T> hash({.radius = scene.radius, .subdivision = parts});
            NeighborList list;
            hash.build(points);
            hash.find_neighbors(list);
            EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << scene.name << ", H = " << parts;
            hash.build(points.subspan(half));
            hash.find_neighbors(points.first(half), list);
            EXPECT_TRUE(test::same_rows(between, test::to_rows(list))) << scene.name << ", H = " << parts;
        }
    }
}

TEST(ExtendedSpatialHash, HostilePoints2f) {
    check_hostile_points<2, float>();
}
TEST(ExtendedSpatialHash, HostilePoints2d) {
    check_hostile_points<2, double>();
}
TEST(ExtendedSpatialHash, HostilePoints3f) {
    check_hostile_points<3, float>();
}
TEST(ExtendedSpatialHash, HostilePoints3d) {
    check_hostile_points<3, double>();
}

TEST(ExtendedSpatialHash, RadiusPerPointByEveryRule) {
    const workloads::MovingPoints<3, float> world(workloads::PointScene::uniform, 800);
    base::SplitMix random(4);
    for (const double ratio : {2.0, 30.0}) {  // the second exceeds the largest mask
        std::vector<float> radii(world.points().size());
        for (auto& r : radii)
            r = world.radius() * static_cast<float>(random.uniform() < 0.02 ? ratio : random.uniform(0.1, 1));
        for (const RadiusRule rule : {RadiusRule::own, RadiusRule::max, RadiusRule::min, RadiusRule::sum}) {
            test::Rows expected(radii.size());
            for (std::uint32_t i = 0; i < radii.size(); ++i)
                for (std::uint32_t j = 0; j < radii.size(); ++j) {
                    const float a = radii[i], b = radii[j];
                    const float r = rule == RadiusRule::own   ? a
                                    : rule == RadiusRule::max ? std::max(a, b)
                                    : rule == RadiusRule::min ? std::min(a, b)
                                                              : a + b;
                    if (i != j && test::oracle_near(world.points()[i], world.points()[j], r)) expected[i].push_back(j);
                }
            for (const unsigned parts : {1u, 3u}) {
                ExtendedSpatialHash<3, float> hash({.rule = rule, .subdivision = parts});
                hash.build(world.points(), radii);
                NeighborList list;
                hash.find_neighbors(list);
                EXPECT_TRUE(test::same_rows(expected, test::to_rows(list))) << static_cast<int>(rule) << " " << parts;
            }
        }
    }
}

TEST(ExtendedSpatialHash, SameForAnyNumberOfThreads) {
    const workloads::MovingPoints<2, double> world(workloads::PointScene::clustered, 3000);
    ExtendedSpatialHash<2, double> serial({.radius = world.radius(), .subdivision = 2});
    serial.build(world.points());
    NeighborList expected, list;
    serial.find_neighbors(expected);
    ThreadExecutor pool(3);
    ExtendedSpatialHash<2, double> parallel({.radius = world.radius(), .subdivision = 2, .executor = &pool});
    parallel.build(world.points());
    parallel.find_neighbors(list);
    EXPECT_EQ(test::to_rows(list), test::to_rows(expected));
}

TEST(ExtendedSpatialHash, BadInput) {
    EXPECT_THROW((ExtendedSpatialHash<2, float>({.radius = -1})), Error);
    EXPECT_THROW((ExtendedSpatialHash<2, float>({.radius = 1, .subdivision = 0})), Error);
    ExtendedSpatialHash<2, float> hash({.radius = 1});
    const std::vector<Vec2f> bad = {{0, 0}, {std::numeric_limits<float>::quiet_NaN(), 0}};
    EXPECT_THROW(hash.build(std::span<const Vec2f>(bad)), Error);
    ExtendedSpatialHash<2, float> none({});
    EXPECT_THROW(none.build(std::span<const Vec2f>(bad).first(1)), Error);
    ExtendedSpatialHash<2, float> sums({.rule = RadiusRule::sum});
    const std::vector<float> huge = {3e38f};
    EXPECT_THROW(sums.build(std::span<const Vec2f>(bad).first(1), huge), Error);
}

TEST(ExtendedSpatialHash, NoPointsWithRadiiChangeNothing) {
    const std::vector<Vec2f> points = {{{0, 0}}, {{0.5f, 0}}};
    const std::vector<float> radii = {1, 1};
    ExtendedSpatialHash<2, float> hash({.radius = 0.1f});
    hash.build(std::span<const Vec2f>(), std::span<const float>());
    hash.build(std::span<const Vec2f>(points));
    NeighborList list;
    hash.find_neighbors(list);
    EXPECT_EQ(list.entries(), 0u);
    hash.build(std::span<const Vec2f>(points), std::span<const float>(radii));
    EXPECT_THROW(hash.find_neighbors(std::span<const Vec2f>(points), list), Error);
}

}  // namespace
}  // namespace quadrat
