// Rows of all ranks against those of one CellIndex, shifts included: hostile points, open, periodic along some axes,
// triclinic, boxes smaller than the radius, points far outside of the box.
#include "world.hpp"

#include <quadrat/neighbors.hpp>

#include "support/kinds.hpp"
#include "workloads/scenes.hpp"

#include <cmath>
#include <compare>

namespace quadrat {
namespace {

using test::Share;

struct Entry {
    std::uint64_t i, j;
    std::int32_t shift[3];  // of the image of j
    friend auto operator<=>(const Entry&, const Entry&) = default;
};

std::vector<Entry> entries(const NeighborList& list, std::size_t rows, auto&& id) {
    std::vector<Entry> result;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = list[i];
        const auto shifts = list.shifts(i);
        for (std::size_t e = 0; e < row.size(); ++e) {
            Entry entry{id(static_cast<std::uint32_t>(i)), id(row[e]), {0, 0, 0}};
            if (!shifts.empty())
                for (int k = 0; k < 3; ++k) entry.shift[k] = shifts[e][k];
            result.push_back(entry);
        }
    }
    return result;
}

template <int D, class T>
void compare(const std::vector<Vec<D, T>>& points, T radius, const Periodic<D, T>& box, CutSource cuts) {
    CellIndex<D, T> serial({.radius = radius, .periodic = box});
    serial.build(points);
    NeighborList list;
    NeighborOptions options;
    options.shifts = box.active();
    serial.find_neighbors(list, options);
    const auto expected = entries(list, list.size(), [](std::uint32_t i) { return std::uint64_t{i}; });
    for (const Share share : test::shares) {
        const auto part = test::part_of<Vec<D, T>>(points, share);
        DistributedNeighbors<D, T> near(MPI_COMM_WORLD, radius, {.cuts = cuts, .periodic = box});
        near.insert(part.items, part.ids);
        NeighborList mine;
        near.find_neighbors(mine, {.shifts = box.active()});
        EXPECT_EQ(mine.size(), near.held());
        std::size_t ghost_entries = 0;
        for (std::size_t i = near.own(); i < mine.size(); ++i) ghost_entries += mine[i].size();
        EXPECT_EQ(ghost_entries, 0u);
        EXPECT_TRUE(
            test::same_on_all(expected, entries(mine, near.own(), [&](std::uint32_t i) { return near.id(i); })));
    }
}

template <class K>
class DistributedRows : public testing::Test {};
TYPED_TEST_SUITE(DistributedRows, test::Kinds);

TYPED_TEST(DistributedRows, HostilePoints) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : workloads::hostile_points<D, T>())
        for (const CutSource cuts : {CutSource::automatic, CutSource::sample}) {
            SCOPED_TRACE(scene.name);
            compare<D, T>(scene.points, scene.radius, {}, cuts);
        }
}

TYPED_TEST(DistributedRows, PeriodicBoxes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(11);
    std::vector<Vec<D, T>> points(500);
    for (std::size_t i = 0; i < points.size(); ++i)
        for (int k = 0; k < D; ++k) {
            const double wide = i % 9 == 0 ? 200 : 10;  // some are far outside
            points[i][k] = static_cast<T>(i % 5 == 0 ? std::floor(random.uniform(-2, 12)) : random.uniform(0, wide));
        }
    Vec<D, T> whole, some{};
    for (int k = 0; k < D; ++k) whole[k] = T(10);
    some[D - 1] = T(10);
    auto triclinic = Periodic<D, T>::orthorhombic(whole);
    triclinic.vectors[1][0] = T(4);
    if constexpr (D == 3) triclinic.vectors[2][1] = T(-3);
    auto slanted_slab = triclinic;  // the first direction is open, the others are not along the axes
    slanted_slab.vectors[0] = {};
    for (const T radius : {T(1), T(2.5), T(6)}) {
        SCOPED_TRACE(radius);
        const auto fewer = [&] { return std::vector(points.begin(), points.begin() + (radius > 5 ? 60 : 500)); }();
        compare<D, T>(fewer, radius, Periodic<D, T>::orthorhombic(whole), CutSource::automatic);
        compare<D, T>(fewer, radius, Periodic<D, T>::orthorhombic(some), CutSource::automatic);
        compare<D, T>(fewer, radius, triclinic, CutSource::automatic);
        compare<D, T>(fewer, radius, slanted_slab, CutSource::sample);
    }
}

TYPED_TEST(DistributedRows, MovingPointsAndOneCall) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingPoints<D, T> scene(workloads::PointScene::moving, 800);
    DistributedNeighbors<D, T> near(MPI_COMM_WORLD, scene.radius(), {.imbalance = 1.02});
    auto part = test::part_of<Vec<D, T>>(scene.points(), Share::blocks);
    near.insert(part.items);
    for (int step = 0; step < 6; ++step) {
        scene.step();
        part.items.clear();
        for (std::uint32_t i = 0; i < near.own(); ++i) part.items.push_back(scene.points()[near.id(i)]);
        near.update(std::span<const Vec<D, T>>(part.items)).apply(part.items);
        EXPECT_EQ(part.items.size(), near.own());
        CellIndex<D, T> serial({.radius = scene.radius()});
        serial.build(scene.points());
        NeighborList expected, mine;
        serial.find_neighbors(expected);
        near.find_neighbors(mine);
        EXPECT_TRUE(
            test::same_on_all(entries(expected, expected.size(), [](std::uint32_t i) { return std::uint64_t{i}; }),
                              entries(mine, near.own(), [&](std::uint32_t i) { return near.id(i); })));
    }
    const auto again = test::part_of<Vec<D, T>>(scene.points(), Share::blocks);
    const IdRows rows = find_neighbors<D, T>(MPI_COMM_WORLD, again.items, scene.radius());
    CellIndex<D, T> serial({.radius = scene.radius()});
    serial.build(scene.points());
    std::vector<std::uint32_t> counts;
    serial.count_neighbors(counts);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < rows.ids.size(); ++i)
        wrong += counts[rows.ids[i]] != rows.offsets[i + 1] - rows.offsets[i];
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(test::all_of(rows.ids).size(), scene.points().size());
}

}  // namespace
}  // namespace quadrat
