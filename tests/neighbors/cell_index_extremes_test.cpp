// A CellIndex at its ends: calls that throw, an index that was never built, numbers at the ends of their range,
// rounding at the edge of a skin, very long rows.
#include <quadrat/neighbors.hpp>

#include <quadrat/error.hpp>

#include "base/random.hpp"
#include "neighbors/entries.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace quadrat {
namespace {

using test::entries_of;
using test::random_points;

TEST(Limits, APeriodicIndexIsAsItWasAfterAnyCallThatThrows) {
    const auto box = Periodic<3, float>::orthorhombic({{4, 4, 4}});
    const auto points = random_points<3, float>(200, -2, 6, 40);
    CellIndex<3, float> index({.radius = 1, .skin = 0.1f, .periodic = box, .max_bytes = 1'000'000});
    index.build(points);
    const auto before = entries_of(index);
    const std::vector<std::uint32_t> order(index.order().begin(), index.order().end());
    std::vector<Vec3f> few(5, Vec3f{{1, 1, 1}}), far = points;
    few[4][0] = far[77][1] = 1e20f;
    const std::vector<float> radii(200, 300.0f), wide(few.size(), 1.0f);
    EXPECT_THROW(index.build(few), Error);
    EXPECT_THROW(index.build(few, wide), Error);
    EXPECT_THROW(index.build(points, radii), Error);  // too many images
    EXPECT_THROW(index.update(far), Error);
    EXPECT_THROW(index.insert(few), Error);
    EXPECT_THROW(index.erase(std::vector<std::uint32_t>{1, 2, 1}), Error);
    EXPECT_EQ(index.size(), 200u);
    EXPECT_EQ(entries_of(index), before);
    EXPECT_TRUE(std::equal(order.begin(), order.end(), index.order().begin(), index.order().end()));
    EXPECT_FALSE(index.update(points));
}

TEST(Limits, AnIndexThatWasNeverBuiltIsEmpty) {
    CellIndex<3, float> index({.radius = 0.1f});
    const std::vector<Vec3f> queries = {{{1, 2, 3}}, {{1e30f, 0, 0}}};
    NeighborList list;
    index.find_neighbors(std::span<const Vec3f>(queries), list);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list.entries(), 0u);
    index.find_nearest(std::span<const Vec3f>(queries), 3, list);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list.entries(), 0u);
    index.for_each_neighbor(queries[0], [](std::uint32_t) { FAIL(); });
    EXPECT_EQ(index.count_pairs(), 0u);
    EXPECT_EQ(index.size(), 0u);
}

TEST(Limits, TheListIsEmptyAfterAThrow) {
    CellIndex<3, float> index({.radius = 1});
    index.build(std::vector<Vec3f>{{{0, 0, 0}}, {{0.5f, 0, 0}}});
    const std::vector<std::uint8_t> one_group = {1};
    const std::vector<Vec3f> bad = {{{std::numeric_limits<float>::quiet_NaN(), 0, 0}}};
    NeighborList list;
    const auto expect_empty = [&](auto&& call) {
        index.find_neighbors(list);
        ASSERT_EQ(list.size(), 2u);
        EXPECT_THROW(call(), Error);
        EXPECT_EQ(list.size(), 0u);
        EXPECT_EQ(list.entries(), 0u);
    };
    expect_empty([&] { index.find_neighbors(list, {.groups = one_group}); });
    expect_empty([&] { index.find_neighbors(std::span<const Vec3f>(bad), list); });
    expect_empty([&] { index.find_neighbors(std::span<const Vec3f>(bad).first(0), list, {.half = true}); });
    expect_empty([&] { index.find_nearest(0, list); });
    expect_empty([&] { index.find_nearest(std::span<const Vec3f>(bad), 1, list); });
    expect_empty([&] { index.find_nearest(1, list, -1.0f); });
}

TEST(Limits, RadiiWhoseSumIsNotFinite) {
    EXPECT_THROW((CellIndex<3, float>({.radius = 3e38f, .skin = 3e38f})), Error);
    CellIndex<3, float> sums({.rule = RadiusRule::sum});
    const std::vector<Vec3f> points(3, Vec3f{{0, 0, 0}});
    const std::vector<float> radii(3, 3e38f);
    EXPECT_THROW(sums.build(points, radii), Error);
    CellIndex<3, float> largest({.rule = RadiusRule::max});
    largest.build(points, radii);
    EXPECT_EQ(largest.count_pairs(), 3u);
}

TEST(Groups, HalfListsNeedGroupsThatSeeEachOther) {
    const auto points = random_points<2, double>(300, 0, 10, 41);
    std::vector<std::uint8_t> groups;
    for (std::size_t i = 0; i < points.size(); ++i) groups.push_back(static_cast<std::uint8_t>(i % 3));
    CellIndex<2, double> index({.radius = 1});
    index.build(points);
    NeighborList list;
    const std::vector<std::uint64_t> mutual = {0b110, 0b001, 0b101}, one_way = {0b010, 0, 0};
    index.find_neighbors(list, {.groups = groups, .searches = mutual});
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected, found;
    for (std::uint32_t i = 0; i < list.size(); ++i)
        for (const std::uint32_t j : list[i]) expected.insert(std::minmax(i, j));
    index.find_neighbors(list, {.half = true, .groups = groups, .searches = mutual});
    EXPECT_EQ(list.entries(), expected.size());
    for (std::uint32_t i = 0; i < list.size(); ++i)
        for (const std::uint32_t j : list[i]) found.insert(std::minmax(i, j));
    EXPECT_EQ(found, expected);
    try {
        index.find_neighbors(list, {.half = true, .groups = groups, .searches = one_way});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    }
}

template <class T>
void expect_skin_at_any_scale(double scale) {
    CellIndex<3, T> index({.radius = static_cast<T>(scale), .skin = static_cast<T>(0.1 * scale)});
    std::vector<Vec<3, T>> points(2, Vec<3, T>{});
    points[1][0] = static_cast<T>(50 * scale);
    index.build(points);
    points[1][0] += static_cast<T>(0.04 * scale);
    EXPECT_FALSE(index.update(points)) << scale;
    points[1][0] = static_cast<T>(0.5 * scale);
    EXPECT_TRUE(index.update(points)) << scale;
    EXPECT_EQ(index.count_pairs(), 1u) << scale;
}

TEST(Skin, AnyScale) {
    for (const double scale : {1.0, 1e-30, 1e30, 1e-42}) expect_skin_at_any_scale<float>(scale);
    for (const double scale : {1.0, 1e-170, 1e170, 1e-300, 1e300}) expect_skin_at_any_scale<double>(scale);
}

/// Pairs just outside radius + skin whose ends go towards each other by almost half of the skin.
template <class T>
void expect_no_loss_by_rounding(double relative_skin) {
    base::SplitMix random(42);
    constexpr double eps = std::numeric_limits<T>::epsilon();
    int tried = 0;
    for (int round = 0; round < test::scaled(60000, 20000); ++round) {
        const T radius = static_cast<T>(random.uniform(0.5, 1.5)), skin = static_cast<T>(relative_skin) * radius;
        const double angle = random.uniform(0, 6.28), c[2] = {std::cos(angle), std::sin(angle)};
        const double apart = static_cast<double>(radius + skin) * (1 + random.uniform(0, 4) * eps);
        const double step = static_cast<double>(skin) * 0.5 * (1 - 18 * eps);
        std::vector<Vec<2, T>> from(2), to(2);
        for (int k = 0; k < 2; ++k) {
            from[0][k] = static_cast<T>(random.uniform(0, 1));
            from[1][k] = static_cast<T>(static_cast<double>(from[0][k]) + apart * c[k]);
            to[0][k] = static_cast<T>(static_cast<double>(from[0][k]) + step * c[k]);
            to[1][k] = static_cast<T>(static_cast<double>(from[1][k]) - step * c[k]);
        }
        const auto near = [](const std::vector<Vec<2, T>>& p, T r) {
            const T x = p[1][0] - p[0][0], y = p[1][1] - p[0][1];
            return x * x + y * y <= r * r;
        };
        if (near(from, radius + skin) || !near(to, radius)) continue;
        ++tried;
        CellIndex<2, T> index({.radius = radius, .skin = skin});
        index.build(from);
        ASSERT_TRUE(index.update(to)) << "radius " << radius << " skin " << skin;
    }
    if (test::kWhole) {  // such pairs are rare
        EXPECT_GT(tried, 0);
    }
}

TEST(Skin, RoundingLosesNobody) {
    for (const double relative : {0.1, 0.01, 0.001}) {
        expect_no_loss_by_rounding<float>(relative);
        expect_no_loss_by_rounding<double>(relative);
    }
}

TEST(Skin, AfterInsertingAndErasingTheNextUpdateBuilds) {
    std::vector<Vec3f> points = {{{0, 0, 0}}, {{0.5f, 0, 0}}};
    CellIndex<3, float> index({.radius = 1, .skin = 0.2f});
    index.build(points);
    points.push_back({{0.2f, 0, 0}});
    index.insert(std::span(points).last(1));
    EXPECT_TRUE(index.update(points));
    EXPECT_FALSE(index.update(points));
    index.erase(std::vector<std::uint32_t>{1});
    EXPECT_TRUE(index.update(points));
    EXPECT_FALSE(index.update(points));
    EXPECT_EQ(index.count_pairs(), 1u);
}

TEST(Edits, WhatIsGivenForErasedPointsIsIgnored) {
    for (const bool periodic : {false, true}) {
        CellIndex<3, float> index(
            {.radius = 1, .periodic = periodic ? Periodic<3, float>::orthorhombic({{4, 4, 4}}) : Periodic<3, float>{}});
        std::vector<Vec3f> points = {{{0, 0, 0}}, {{0.5f, 0, 0}}, {{0.2f, 0, 0}}};
        index.build(points);
        index.erase(std::vector<std::uint32_t>{1});
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
            points[1] = {{bad, bad, bad}};
            points[2][0] += 0.1f;
            EXPECT_TRUE(index.update(points));
            EXPECT_EQ(index.count_pairs(), 1u);
            NeighborList list;
            index.find_nearest(1, list, 2.0f);
            EXPECT_EQ(list[0].size(), 1u);
            EXPECT_EQ(list[1].size(), 0u);
        }
        points[2][1] = std::numeric_limits<float>::quiet_NaN();
        try {
            index.update(points);
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.where().index, 2u);
        }
    }
}

template <class T>
void expect_distance(T radius, T distance) {
    CellIndex<2, T> index({.radius = radius});
    const std::vector<Vec<2, T>> points = {{{0, 0}}, {{distance * T(0.6), distance * T(0.8)}}};
    index.build(points);
    NeighborList list;
    const auto expect_near = [&](T found, T expected, const char* what) {
        EXPECT_LE(std::abs(found / expected - 1), 8 * std::numeric_limits<T>::epsilon()) << what << ' ' << distance;
    };
    index.find_neighbors(list, {.distances = DistanceKind::distance});
    ASSERT_EQ(list.entries(), 2u) << distance;
    expect_near(list.distances<T>(1)[0], distance, "distance");
    index.find_neighbors(list, {.distances = DistanceKind::squared});
    const T squared = points[1][0] * points[1][0] + points[1][1] * points[1][1];
    EXPECT_EQ(list.distances<T>(0)[0], squared) << distance;
    index.find_nearest(1, list);
    expect_near(list.distances<T>(1)[0], distance, "nearest");
    if (radius < T(1e-35) || radius > T(1e35)) return;  // boxes of such volumes are refused
    CellIndex<2, T> images({.radius = radius, .periodic = Periodic<2, T>::orthorhombic({{4 * radius, 4 * radius}})});
    images.build(points);
    images.find_neighbors(list, {.distances = DistanceKind::distance});
    ASSERT_EQ(list.entries(), 2u) << distance;
    expect_near(list.distances<T>(1)[0], distance, "periodic distance");
}

TEST(Limits, DistancesWhoseSquaresLeaveTheRange) {
    expect_distance<float>(1e25f, 1.0f);
    expect_distance<float>(1e25f, 1e24f);
    expect_distance<float>(1.0f, 1e-31f);
    expect_distance<float>(1e-30f, 1e-31f);
    expect_distance<double>(1e170, 1.0);
    expect_distance<double>(1.0, 1e-170);
    expect_distance<double>(1e-169, 1e-170);
}

TEST(Limits, RowsOfMoreThanFourMillion) {
    if (!test::kWhole) GTEST_SKIP() << "four million points";
    constexpr std::uint32_t n = (1u << 22) + 5;
    std::vector<Vec2f> points(n);
    for (std::uint32_t i = 0; i < n; ++i) points[i] = {{static_cast<float>(i & 2047), static_cast<float>(i >> 11)}};
    CellIndex<2, float> index({.radius = 1});
    index.build(points);
    const std::vector<Vec2f> queries = {{{5, 5}}};
    NeighborList list;
    index.find_nearest(std::span<const Vec2f>(queries), n, list);
    EXPECT_EQ(list.entries(), n);
    ASSERT_EQ(list[0].size(), n);
    EXPECT_TRUE(std::is_sorted(list.distances<float>(0).begin(), list.distances<float>(0).end()));
    EXPECT_EQ(list[0][0], 5u * 2048 + 5);
}

}  // namespace
}  // namespace quadrat
