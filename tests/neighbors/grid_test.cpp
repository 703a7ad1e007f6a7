// Sorting again in the order of last time gives what sorting from the beginning gives, byte by byte.
#include "neighbors/grid.hpp"

#include "base/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace quadrat::neighbors {
namespace {

template <int D, class T>
void expect_same(const Grid<D, T>& a, const Grid<D, T>& b) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_TRUE(std::equal(a.ids(), a.ids() + a.size(), b.ids()));
    for (int k = 0; k < D; ++k) EXPECT_TRUE(std::equal(a.axis(k), a.axis(k) + a.size(), b.axis(k)));
    std::size_t cells = 1;
    for (int k = 0; k < D; ++k) cells *= static_cast<std::size_t>(a.geometry().cells[k]);
    EXPECT_TRUE(std::equal(a.starts(), a.starts() + cells + 1, b.starts()));
}

template <int D, class T>
void follow(base::PointScene scene, std::size_t n, double step, Executor* executor) {
    const base::MovingPoints<D, T> world(scene, n);
    std::vector<Vec<D, T>> points(world.points().begin(), world.points().end());
    T lo[D], hi[D];
    for (int k = 0; k < D; ++k) {
        const auto less = [&](const auto& a, const auto& b) { return a[k] < b[k]; };
        lo[k] = (*std::min_element(points.begin(), points.end(), less))[k];
        hi[k] = (*std::max_element(points.begin(), points.end(), less))[k];
    }
    const Geometry<D, T> geometry(lo, hi, n, static_cast<double>(world.radius()), 0);
    ASSERT_TRUE(geometry.dense);
    Grid<D, T> kept, fresh;
    kept.build(geometry, std::span<const Vec<D, T>>(points), executor);
    base::SplitMix random(5);
    for (int turn = 0; turn < 3; ++turn) {
        for (auto& p : points)
            for (int k = 0; k < D; ++k)
                p[k] += static_cast<T>(random.uniform(-step, step) * static_cast<double>(world.radius()));
        ASSERT_TRUE(kept.rebuild(points, executor));
        fresh.build(geometry, std::span<const Vec<D, T>>(points), nullptr);
        expect_same(kept, fresh);
    }
}

TEST(Grid, RebuildingEqualsBuilding) {
    ThreadExecutor pool(3);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)}) {
        // Small steps, large ones, and everything somewhere else; several parts and a single one.
        for (const double step : {0.05, 0.7, 50.0}) {
            follow<3, float>(base::PointScene::lattice, 70000, step, executor);
            follow<2, double>(base::PointScene::uniform, 40000, step, executor);
            follow<3, double>(base::PointScene::uniform, 500, step, executor);
            follow<2, float>(base::PointScene::lattice, 3000, step, executor);
        }
    }
}

TEST(Grid, RebuildingNeedsAPlainDenseBuildOfAsManyPoints) {
    const base::MovingPoints<3, float> world(base::PointScene::lattice, 1000);
    const float lo[3] = {0, 0, 0}, hi[3] = {10, 10, 10};
    const Geometry<3, float> geometry(lo, hi, 1000, static_cast<double>(world.radius()), 0);
    Grid<3, float> grid;
    EXPECT_FALSE(grid.rebuild(world.points(), nullptr));
    grid.build(geometry, world.points(), nullptr);
    EXPECT_FALSE(grid.rebuild(world.points().first(999), nullptr));
    EXPECT_TRUE(grid.rebuild(world.points(), nullptr));
}

}  // namespace
}  // namespace quadrat::neighbors
