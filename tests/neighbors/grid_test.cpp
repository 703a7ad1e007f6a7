// The sorted points against a stable sort by cell, with parts that are cut once more because many points share a few
// rows.
#include "neighbors/grid/grid.hpp"

#include "base/random.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace quadrat::neighbors {
namespace {

template <int D, class T>
void expect_sorted(const std::vector<Vec<D, T>>& points, double radius, Executor* executor) {
    T lo[D], hi[D];
    for (int k = 0; k < D; ++k) {
        const auto less = [&](const auto& a, const auto& b) { return a[k] < b[k]; };
        lo[k] = (*std::min_element(points.begin(), points.end(), less))[k];
        hi[k] = (*std::max_element(points.begin(), points.end(), less))[k];
    }
    const Geometry<D, T> geometry(lo, hi, points.size(), radius, 0);
    ASSERT_TRUE(geometry.dense);
    Grid<D, T> grid;
    grid.build(geometry, std::span<const Vec<D, T>>(points), executor);
    const auto cell = [&](std::uint32_t i) {
        std::size_t c = D == 3 ? geometry.dense_cell(points[i][D - 1], D - 1) : 0;
        c = c * static_cast<std::size_t>(geometry.count[1]) + geometry.dense_cell(points[i][1], 1);
        return c * static_cast<std::size_t>(geometry.count[0]) + geometry.dense_cell(points[i][0], 0);
    };
    std::vector<std::uint32_t> order(points.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cell(a) < cell(b); });
    ASSERT_EQ(grid.size(), points.size());
    EXPECT_TRUE(std::equal(order.begin(), order.end(), grid.ids()));
    std::size_t cells = 1, wrong = 0;
    for (int k = 0; k < D; ++k) cells *= static_cast<std::size_t>(geometry.count[k]);
    std::vector<std::uint32_t> starts(cells + 1, 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        ++starts[cell(i) + 1];
        for (int k = 0; k < D; ++k) wrong += grid.axis(k)[i] != points[order[i]][k];
    }
    EXPECT_EQ(wrong, 0u);
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    EXPECT_TRUE(std::equal(starts.begin(), starts.end(), grid.starts()));
}

/// A share of the points in a small part of the box.
template <int D, class T>
std::vector<Vec<D, T>> crowded(std::size_t n, double share) {
    base::SplitMix random(41);
    std::vector<Vec<D, T>> points(n);
    for (auto& p : points) {
        const bool inside = random.uniform() < share;
        for (int k = 0; k < D; ++k) p[k] = static_cast<T>(random.uniform(0, inside && k > 0 ? 6 : 100));
    }
    return points;
}

TEST(Grid, IsAStableSortByCell) {
    ThreadExecutor pool(3);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)})
        for (const double share : {0.0, 0.9}) {
            expect_sorted(crowded<3, float>(test::scaled(300000, 100000, 50000), share), 1.5, executor);
            expect_sorted(crowded<2, double>(test::scaled(200000, 100000, 50000), share), 0.4, executor);
            expect_sorted(crowded<3, double>(500, share), 20, executor);
        }
}

/// Points that move by up to `step` are sorted by update() as by build(), for as long as it takes them.
template <int D, class T>
void expect_updated(std::size_t n, double step, int steps, Executor* executor) {
    auto points = crowded<D, T>(n, 0.5);
    const T lo[3] = {0, 0, 0}, hi[3] = {100, 100, 100};
    const Geometry<D, T> geometry(lo, hi, n, 4, 0);
    Grid<D, T> kept, anew;
    kept.build(geometry, std::span<const Vec<D, T>>(points), executor);
    base::SplitMix random(42);
    int updated = 0;
    for (int s = 0; s < steps; ++s) {
        for (auto& p : points)
            for (int k = 0; k < D; ++k) p[k] += static_cast<T>(random.uniform(-step, step));
        if (s == 1) points[n / 2] = points[n / 3];                      // far from where it was
        if (s == 2) points[7][0] = T(-500), points[8][D - 1] = T(500);  // outside
        const std::span<const Vec<D, T>> now = points;
        if (kept.update(now, executor))
            ++updated;
        else
            kept.build(geometry, now, executor);
        anew.build(geometry, now, nullptr);
        EXPECT_TRUE(std::equal(anew.ids(), anew.ids() + n, kept.ids()));
        for (int k = 0; k < D; ++k) EXPECT_TRUE(std::equal(anew.axis(k), anew.axis(k) + n, kept.axis(k)));
        std::size_t cells = 1;
        for (int k = 0; k < D; ++k) cells *= static_cast<std::size_t>(geometry.count[k]);
        EXPECT_TRUE(std::equal(anew.starts(), anew.starts() + cells + 1, kept.starts()));
    }
    EXPECT_EQ(updated, step > 1 ? 0 : steps) << "step " << step;
}

TEST(Grid, MovedPointsAreSortedAsByBuild) {
    ThreadExecutor pool(3);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)})
        for (const double step : {0.0, 0.001, 0.005, 30.0}) {
            expect_updated<3, float>(test::scaled(40000, 20000), step, 5, executor);
            expect_updated<2, float>(test::scaled(20000, 8000), step, 5, executor);
            expect_updated<3, double>(test::scaled(20000, 8000), step, 5, executor);
            expect_updated<2, double>(5000, step, 5, executor);
        }
}

TEST(Grid, CrowdingIsTheMeanOfWhatSharesABin) {
    const float lo[3] = {0, 0, 0}, hi[3] = {9, 9, 9};
    std::vector<Vec3f> points(6, Vec3f{{1, 1, 1}});
    points.push_back({{8, 8, 8}});
    points.push_back({{8, 8, 8}});
    Grid<3, float> grid;
    EXPECT_EQ(grid.crowding(), 0);
    grid.build(Geometry<3, float>(lo, hi, points.size(), 1, 0), std::span<const Vec3f>(points), nullptr);
    EXPECT_EQ(grid.crowding(), (36.0 + 4.0) / 8.0);
}

TEST(Grid, HasTheScratchOfTheLastSortOnly) {
    const std::size_t n = 30000;
    auto points = crowded<3, float>(n, 0);
    std::vector<Record<3, float>> records(n);
    const float lo[3] = {0, 0, 0}, hi[3] = {100, 100, 100};
    const Geometry<3, float> geometry(lo, hi, n, 4, 0);
    for (const bool from_records : {false, true}) {
        for (std::uint32_t i = 0; i < n; ++i) records[i] = {{points[i][0], points[i][1], points[i][2]}, i};
        const auto build = [&](Grid<3, float>& grid) {
            if (from_records)
                grid.build(geometry, std::span<const Record<3, float>>(records), nullptr);
            else
                grid.build(geometry, std::span<const Vec3f>(points), nullptr);
        };
        Grid<3, float> fresh, used;
        build(fresh);
        build(used);
        EXPECT_EQ(used.bytes(), fresh.bytes());
        for (std::size_t i = 0; i < n; i += 100) points[i][0] = 100 - points[i][0];
        ASSERT_TRUE(used.update(points, nullptr));
        build(used);
        EXPECT_EQ(used.bytes(), fresh.bytes());
        used.release_scratch();
        EXPECT_LT(used.bytes(), fresh.bytes());
    }
}

TEST(Grid, AnUpdateThatTheSampleDidNotForeseeIsRefused) {
    // Every point but those that the sample looks at goes elsewhere.
    const std::size_t n = 8192;
    auto points = crowded<3, float>(n, 0);
    const float lo[3] = {0, 0, 0}, hi[3] = {100, 100, 100};
    const Geometry<3, float> geometry(lo, hi, n, 4, 0);
    Grid<3, float> kept, anew;
    kept.build(geometry, std::span<const Vec3f>(points), nullptr);
    for (std::size_t p = 0; p < n; ++p)
        if (p % 8) points[kept.ids()[p]] = {{50, 50, 50}};
    EXPECT_FALSE(kept.update(points, nullptr));
    kept.build(geometry, std::span<const Vec3f>(points), nullptr);
    anew.build(geometry, std::span<const Vec3f>(points), nullptr);
    EXPECT_TRUE(std::equal(anew.ids(), anew.ids() + n, kept.ids()));
}

}  // namespace
}  // namespace quadrat::neighbors
