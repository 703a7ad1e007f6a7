// What every way to the rows refuses, and what it says of points that are not there.
#include <quadrat/neighbors.hpp>

#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace quadrat {
namespace {

TEST(Refusals, HalfRowsOfADirectedRule) {
    const workloads::MovingPoints<3, float> points(workloads::PointScene::uniform, 500);
    std::vector<float> radii(points.points().size(), points.radius());
    radii[0] *= 2;
    CellIndex<3, float> index({.rule = RadiusRule::own});
    index.build(points.points(), radii);
    const NeighborOptions half{.half = true};
    NeighborList list;
    const auto is_refused = [](const Error& e) {
        return e.kind() == ErrorKind::unsupported && e.where().field == "half";
    };
    EXPECT_TRUE(is_refused(test::thrown_by([&] { index.find_neighbors(list, half); })));
    EXPECT_TRUE(is_refused(test::thrown_by([&] { index.for_each_row([](const auto&) {}, half); })));
    EXPECT_TRUE(is_refused(test::thrown_by([&] {
        (void)index.sum_rows(
            std::uint64_t{0}, [](std::uint64_t& sum, const auto& row) { sum += row.count; }, half);
    })));
}

TEST(Refusals, GroupsOfAnotherLength) {
    const workloads::MovingPoints<2, double> points(workloads::PointScene::uniform, 300);
    CellIndex<2, double> index({.radius = points.radius()});
    index.build(points.points());
    const std::vector<std::uint8_t> groups(points.points().size() - 1, 1);
    NeighborOptions options;
    options.groups = groups;
    NeighborList list;
    const Error of_list = test::thrown_by([&] { index.find_neighbors(list, options); });
    const Error of_rows = test::thrown_by([&] { index.for_each_row([](const auto&) {}, options); });
    EXPECT_EQ(of_list.where().field, "groups");
    EXPECT_EQ(of_rows.where().field, of_list.where().field);
    EXPECT_EQ(of_rows.kind(), of_list.kind());
}

TEST(Refusals, AGroupThatSearchesDoNotKnow) {
    const workloads::MovingPoints<2, float> points(workloads::PointScene::uniform, 100);
    CellIndex<2, float> index({.radius = points.radius()});
    index.build(points.points());
    const std::vector<std::uint64_t> searches{1u, 3u};
    std::vector<std::uint8_t> groups(100, 1);
    NeighborList list;
    index.find_neighbors(list, {.groups = groups, .searches = searches});
    for (const std::uint8_t unknown : std::vector<std::uint8_t>{2, 3, 31}) {
        groups[40] = unknown;
        const Error e = test::thrown_by([&] { index.find_neighbors(list, {.groups = groups, .searches = searches}); });
        EXPECT_EQ(e.where().field, "groups") << unknown;
    }
}

TEST(Refusals, PointsThatAreGoneHaveNoNeighbours) {
    const workloads::MovingPoints<3, float> points(workloads::PointScene::uniform, 1000);
    CellIndex<3, float> index({.radius = points.radius()});
    index.build(points.points());
    const std::vector<std::uint32_t> gone{0, 17, 999};
    index.erase(gone);
    std::vector<std::uint32_t> counts;
    index.count_neighbors(counts);
    ASSERT_EQ(counts.size(), 1000u);
    NeighborList list;
    index.find_neighbors(list);
    for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(counts[i], list[i].size()) << i;
    for (const std::uint32_t i : gone) EXPECT_EQ(counts[i], 0u);
}

}  // namespace
}  // namespace quadrat
