// Half-spaces in a HashGridHierarchy, normals and offsets of any length, and distances at the end of the range of
// double.
#include "support/compare.hpp"
#include "support/kinds.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace {

using namespace quadrat;
using test::same_self_pairs;

TEST(HalfSpaces, MeetWhatReachesIntoThem) {
    HashGridHierarchy<2, double> grid;
    const Id below = grid.insert(HalfSpace<2, double>{{1, 1}, 0});  // x + y <= 0
    const Id touching = grid.insert(Box2d{{0, 0}, {1, 1}});
    grid.insert(Box2d{{0.5, 0.5}, {1, 1}});
    const Id above = grid.insert(HalfSpace<2, double>{{-2, -2}, -1});  // x + y >= 0.5: disjoint from the first
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    EXPECT_TRUE(
        same_self_pairs({{below.slot, touching.slot}, {touching.slot, above.slot}, {2, above.slot}, {1, 2}}, pairs));
}

TEST(HalfSpaces, MeetSpheresByDistance) {
    std::vector<std::uint32_t> found;
    HashGridHierarchy<2, float> grid;
    grid.insert(HalfSpace<2, float>{{1, 1}, 0});
    const auto count = [&](float x, float y, float r) {
        grid.find(Sphere<2, float>{{x, y}, r}, found);
        return found.size();
    };
    EXPECT_EQ(count(1, 1, 1), 0u);  // sqrt(2) away
    EXPECT_EQ(count(1, 1, 1.4142f), 0u);
    EXPECT_EQ(count(1, 1, 1.4143f), 1u);
    EXPECT_EQ(count(3, 4, 5), 1u);
    EXPECT_EQ(count(-3, 1, 0), 1u);
    EXPECT_EQ(count(-1, 1, 0), 1u);
    EXPECT_EQ(count(9, 9, std::numeric_limits<float>::infinity()), 1u);
}

// The same plane whatever the length of its normal: scaled by a power of two, nothing may change.
template <class K>
class HalfSpaceScales : public testing::Test {};
TYPED_TEST_SUITE(HalfSpaceScales, test::Kinds);

TYPED_TEST(HalfSpaceScales, ChangeNoAnswer) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::mt19937 random(5);
    std::uniform_real_distribution<T> uniform(-1, 1);
    constexpr int range = sizeof(T) == 4 ? 100 : 1000;
    for (int round = 0; round < 20; ++round) {
        HalfSpace<D, T> plane{}, opposite{};
        for (int k = 0; k < D; ++k) {
            plane.normal[k] = T(std::round(64 * uniform(random)));
            opposite.normal[k] = -3 * plane.normal[k];
        }
        plane.normal[round % D] += 65;  // never zero
        opposite.normal[round % D] -= 195;
        plane.offset = T(round - 10) / 4;
        opposite.offset = -3 * plane.offset + T(round % 3 - 1);  // apart, touching, overlapping
        std::vector<Box<D, T>> boxes(40);
        for (Box<D, T>& box : boxes)
            for (int k = 0; k < D; ++k) {
                box.lo[k] = uniform(random) / 32;
                box.hi[k] = box.lo[k] + T(0.01);
            }
        Vec<D, T> point{};
        for (int k = 0; k < D; ++k) point[k] = 3 + uniform(random);
        Ray<D, T> ray{.origin = point, .direction = {}, .length = 8};
        for (int k = 0; k < D; ++k) ray.direction[k] = -1 + uniform(random) / 4;
        std::vector<std::vector<Pair>> pairs;
        std::vector<std::uint32_t> by_segment, by_sphere;
        std::vector<T> at, away;
        std::vector<int> powers{0, -range, -range / 2, 1, range / 2, range - 20};
        for (const int power : powers) {
            HashGridHierarchy<D, T> grid;
            const auto scaled = [&](HalfSpace<D, T> h) {
                for (int k = 0; k < D; ++k) h.normal[k] = std::ldexp(h.normal[k], power);
                h.offset = std::ldexp(h.offset, power);
                return h;
            };
            grid.insert(scaled(plane));
            grid.insert(opposite);  // the other one keeps its length
            std::vector<std::uint32_t> found;
            grid.find(Segment<D, T>{point, {}}, found);
            by_segment.push_back(static_cast<std::uint32_t>(found.size()));
            grid.find(Sphere<D, T>{point, 2}, found);
            by_sphere.push_back(static_cast<std::uint32_t>(found.size()));
            const auto hit = grid.closest_hit(ray), near = grid.nearest(point);
            at.push_back(hit ? hit->distance : -1);
            away.push_back(near->distance);
            for (const Box<D, T>& box : boxes) grid.insert(box);
            pairs.emplace_back();
            grid.find_pairs(pairs.back());
        }
        const bool apart = round % 3 == 0;
        EXPECT_EQ(std::ranges::count(pairs[0], Pair{0, 1}), apart ? 0 : 1) << round;
        for (std::size_t i = 1; i < powers.size(); ++i) {
            EXPECT_TRUE(same_self_pairs(pairs[0], pairs[i])) << round << ", 2^" << powers[i];
            EXPECT_EQ(by_segment[0], by_segment[i]);
            EXPECT_EQ(by_sphere[0], by_sphere[i]);
            EXPECT_EQ(at[0], at[i]);
            EXPECT_EQ(away[0], away[i]);
        }
    }
}

TEST(HalfSpaces, HoldAtTheEndsOfTheRange) {
    constexpr double huge = 1e308, tiny = 1e-308;
    HashGridHierarchy<2, double> grid;
    const std::uint32_t all = grid.insert(HalfSpace<2, double>{{tiny, 0}, huge}).slot;    // x <= 1e616
    const std::uint32_t none = grid.insert(HalfSpace<2, double>{{tiny, 0}, -huge}).slot;  // x <= -1e616
    const std::uint32_t left = grid.insert(HalfSpace<2, double>{{huge, huge}, 0}).slot;   // x + y <= 0
    const std::uint32_t far = grid.insert(Box2d{{huge, -huge}, {huge, huge}}).slot;
    const std::uint32_t near = grid.insert(Box2d{{tiny, 0}, {1, 1}}).slot;
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    // Planes whose normals are parallel and not opposite always meet.
    EXPECT_TRUE(same_self_pairs({{all, none}, {all, left}, {none, left}, {all, far}, {left, far}, {all, near}}, pairs));
}

// Differences of coordinates leave the range of double: the nearer and the first one are found all the same.
TEST(HugeCoordinates, NearestAndFirstOfDoubles) {
    HashGridHierarchy<2, double> grid;
    const auto at = [](double x, double y) { return Box2d{{x, y}, {x, y}}; };
    grid.insert(at(1.7e308, 1e308));
    grid.insert(at(1.5e308, 1e308));
    grid.insert(at(1.6e308, 1e308));
    EXPECT_EQ(grid.nearest({-1.5e308, -1e308})->slot, 1u);
    HashGridHierarchy<2, double> row;
    row.insert(at(1.7e308, 0));
    row.insert(at(1e308, 0));
    row.insert(at(1.5e308, 0));
    const auto hit = row.closest_hit({.origin = {-1e308, 0}, .direction = {1e308, 0}, .length = 3});
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->slot, 1u);
    EXPECT_DOUBLE_EQ(hit->distance, 2);
    std::vector<std::uint32_t> found;
    row.find(Ray<2, double>{.origin = {-1e308, 0}, .direction = {1e308, 0}, .length = 2.6}, found);
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{1, 2}));
}

}  // namespace
