#include "workloads/scenes.hpp"

#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace quadrat {
namespace {

template <class T>
std::uint64_t bits_sum(const T* data, std::size_t bytes) {
    std::uint64_t sum = 1469598103934665603u;
    for (std::size_t i = 0; i < bytes; ++i) {
        unsigned char byte;
        std::memcpy(&byte, reinterpret_cast<const char*>(data) + i, 1);
        sum = (sum ^ byte) * 1099511628211u;
    }
    return sum;
}

TEST(Scenes, BoxesHaveAboutTwoPairsEach) {
    for (const char* name : {"B1", "B2", "B3", "B5", "B6"}) {
        const workloads::MovingBoxes<3, float> flat(*workloads::box_scene(name), 2000);
        const workloads::MovingBoxes<2, double> plane(*workloads::box_scene(name), 2000);
        const double in_space = static_cast<double>(test::oracle_pairs(flat.boxes()).size()) / 2000;
        const double in_plane = static_cast<double>(test::oracle_pairs(plane.boxes()).size()) / 2000;
        EXPECT_NEAR(in_space, 2.0, 0.3) << name;
        EXPECT_NEAR(in_plane, 2.0, 0.3) << name;
    }
}

TEST(Scenes, MixHasThreeSizes) {
    const workloads::MovingBoxes<3, float> world(workloads::BoxScene::mix, 10000);
    int count[3] = {};
    for (const Box3f& b : world.boxes()) {
        const float size = b.hi[0] - b.lo[0];
        ++count[size > 500 ? 2 : size > 30 ? 1 : 0];
    }
    EXPECT_NEAR(count[0], 6500, 300);
    EXPECT_NEAR(count[1], 2500, 300);
    EXPECT_NEAR(count[2], 1000, 200);
    EXPECT_EQ(world.side(), 8192);
}

TEST(Scenes, BoxesMoveUpToAFifthOfTheirSize) {
    workloads::MovingBoxes<3, double> world(workloads::BoxScene::sizes, 1000);
    const std::vector<Box3d> before(world.boxes().begin(), world.boxes().end());
    world.step();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double size = before[i].hi[0] - before[i].lo[0];
        for (int k = 0; k < 3; ++k) {
            const double way = std::abs(world.boxes()[i].lo[k] - before[i].lo[k]);
            EXPECT_TRUE(way <= 0.2 * size + 1e-9 || way > world.side() / 2);
            moved += way > 0;
        }
    }
    EXPECT_GT(moved, 2900u);
}

TEST(Scenes, PointsHaveTheirNeighbours) {
    const auto mean = [](workloads::PointScene scene) {
        const workloads::MovingPoints<3, float> world(scene, 3000);
        double sum = 0;
        for (const auto& row : test::oracle_neighbors(world.points(), world.radius()))
            sum += static_cast<double>(row.size());
        return sum / 3000;
    };
    EXPECT_NEAR(mean(workloads::PointScene::lattice), 25, 6);  // 28 away from the borders
    EXPECT_NEAR(mean(workloads::PointScene::uniform), 25, 5);
    EXPECT_NEAR(mean(workloads::PointScene::sparse), 2.8, 0.4);
    EXPECT_NEAR(mean(workloads::PointScene::shell), 30, 3);
}

TEST(Scenes, OrdersHoldTheSamePoints) {
    const auto sorted = [](workloads::PointOrder order) {
        const workloads::MovingPoints<2, float> world(workloads::PointScene::uniform, 500, order);
        std::vector<std::pair<float, float>> points;
        for (const Vec2f& p : world.points()) points.emplace_back(p[0], p[1]);
        std::sort(points.begin(), points.end());
        return points;
    };
    EXPECT_EQ(sorted(workloads::PointOrder::shuffled), sorted(workloads::PointOrder::generated));
    EXPECT_EQ(sorted(workloads::PointOrder::shuffled), sorted(workloads::PointOrder::z_order));
}

// Regenerate only when a scene is changed on purpose; a difference between compilers is a bug.
TEST(Scenes, Golden) {
    workloads::MovingBoxes<3, float> boxes(workloads::BoxScene::sizes, 1000);
    boxes.step();
    workloads::MovingPoints<3, double> points(workloads::PointScene::uniform, 1000);
    points.step();
    EXPECT_EQ(bits_sum(boxes.boxes().data(), boxes.boxes().size_bytes()), 12646961632805100021u);
    EXPECT_EQ(bits_sum(points.points().data(), points.points().size_bytes()), 13828949823144974433u);
}

}  // namespace
}  // namespace quadrat
