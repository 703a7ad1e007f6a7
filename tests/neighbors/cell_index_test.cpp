// CellIndex against plain loops over all pairs, as sets, for shared scenes and hostile inputs, on every SIMD target.
#include <quadrat/neighbors.hpp>

#include <quadrat/error.hpp>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "neighbors/index_seam.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/properties.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace quadrat {
namespace {

using test::Rows;

Rows rows_of(const NeighborList& list) {
    Rows rows(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) rows[i].assign(list[i].begin(), list[i].end());
    return rows;
}

Rows sorted(Rows rows) {
    for (auto& r : rows) std::sort(r.begin(), r.end());
    return rows;
}

/// Both sides of every pair of a half list.
Rows mirrored(const Rows& half) {
    Rows rows(half.size());
    for (std::uint32_t i = 0; i < half.size(); ++i)
        for (const std::uint32_t j : half[i]) {
            rows[i].push_back(j);
            rows[j].push_back(i);
        }
    return sorted(rows);
}

template <int D, class T>
void expect_exact(std::span<const Vec<D, T>> points, T radius, unsigned subdivision = 0) {
    const Rows expected = test::oracle_neighbors<D, T>(points, radius);
    CellIndex<D, T> index({.radius = radius});
    neighbors::IndexSeam<D, T>::subdivide(index, subdivision);
    index.build(points);
    NeighborList list;
    index.find_neighbors(list);
    const Rows found = rows_of(list);
    EXPECT_EQ(sorted(found), expected);
    // The order of a row is the order of cells.
    std::vector<std::uint32_t> rank(points.size());
    for (std::uint32_t k = 0; k < index.order().size(); ++k) rank[index.order()[k]] = k;
    for (const auto& row : found)
        EXPECT_TRUE(std::is_sorted(row.begin(), row.end(), [&](auto a, auto b) { return rank[a] < rank[b]; }));
    index.find_neighbors(list, {.half = true});
    EXPECT_EQ(mirrored(rows_of(list)), expected);
    std::uint64_t entries = 0;
    std::vector<std::uint32_t> counts;
    index.count_neighbors(counts);
    for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(counts[i], expected[i].size());
        entries += expected[i].size();
    }
    EXPECT_EQ(index.count_pairs(), entries / 2);
    Rows streamed(points.size());
    index.for_each_pair([&](std::uint32_t i, std::uint32_t j) {
        EXPECT_LT(i, j);
        streamed[i].push_back(j);
    });
    EXPECT_EQ(mirrored(streamed), expected);
    index.find_neighbors(points, list);
    EXPECT_EQ(sorted(rows_of(list)), (test::oracle_neighbors<D, T>(points, points, radius)));
}

template <class Type>
class CellIndexTyped : public testing::Test {};
TYPED_TEST_SUITE(CellIndexTyped, test::Kinds);

TYPED_TEST(CellIndexTyped, FindsWhatAllPairsFindInTheSharedScenes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    using workloads::PointScene;
    for (const PointScene scene :
         {PointScene::lattice, PointScene::uniform, PointScene::sparse, PointScene::shell, PointScene::clustered}) {
        const workloads::MovingPoints<D, T> moving(scene, 900);
        base::for_each_simd_target([&] { expect_exact<D, T>(moving.points(), moving.radius()); });
    }
}

TYPED_TEST(CellIndexTyped, FindsWhatAllPairsFindInHostileInput) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : workloads::hostile_points<D, T>()) {
        SCOPED_TRACE(scene.name);
        base::for_each_simd_target([&] { expect_exact<D, T>(scene.points, scene.radius); });
    }
}

TYPED_TEST(CellIndexTyped, SubdividedCellsGiveTheSameSet) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const workloads::MovingPoints<D, T> moving(workloads::PointScene::lattice, 700);
    for (unsigned h : {1u, 2u, 3u, 5u}) expect_exact<D, T>(moving.points(), moving.radius(), h);
}

TYPED_TEST(CellIndexTyped, AnyPointsProperty) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    test::check("lists equal all pairs", [] {
        const auto points = *test::points<D, T>(3);
        const T radius = static_cast<T>(*rc::gen::element(0.25, 0.5, 1.0, 2.5, 1000.0, 0.001));
        CellIndex<D, T> index({.radius = radius});
        index.build(points);
        NeighborList list;
        index.find_neighbors(list);
        RC_ASSERT(sorted(rows_of(list)) == (test::oracle_neighbors<D, T>(points, radius)));
    });
}

TYPED_TEST(CellIndexTyped, UpdateFollowsMovingPoints) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingPoints<D, T> moving(workloads::PointScene::moving, 800);
    CellIndex<D, T> index({.radius = moving.radius()});
    index.build(moving.points());
    NeighborList list;
    for (int step = 0; step < 12; ++step) {
        moving.step();
        EXPECT_TRUE(index.update(moving.points()));
        index.find_neighbors(list);
        ASSERT_EQ(sorted(rows_of(list)), (test::oracle_neighbors<D, T>(moving.points(), moving.radius())));
    }
    // Everything somewhere else.
    std::vector<Vec<D, T>> far(moving.points().begin(), moving.points().end());
    for (auto& p : far) p[0] = p[0] * 3 + 1000;
    index.update(far);
    index.find_neighbors(list);
    EXPECT_EQ(sorted(rows_of(list)), (test::oracle_neighbors<D, T>(far, moving.radius())));
}

TYPED_TEST(CellIndexTyped, NearestAreTheNearest) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto scene :
         {workloads::PointScene::uniform, workloads::PointScene::clustered, workloads::PointScene::shell}) {
        const workloads::MovingPoints<D, T> moving(scene, test::scaled(500, 400, 150));
        const auto points = moving.points();
        CellIndex<D, T> index({.radius = moving.radius()});
        index.build(points);
        for (const std::uint32_t k : {1u, 7u, 16u, 600u})
            for (const T limit : {T(0), moving.radius()}) {
                NeighborList list;
                index.find_nearest(k, list, limit);
                ASSERT_EQ(list.size(), points.size());
                for (std::uint32_t i = 0; i < points.size(); ++i) {
                    std::vector<std::pair<T, std::uint32_t>> all;
                    for (std::uint32_t j = 0; j < points.size(); ++j) {
                        T sum = 0;
                        for (int c = 0; c < D; ++c) {
                            const T d = points[j][c] - points[i][c];
                            sum = c == 0 ? d * d : sum + d * d;
                        }
                        if (j != i && (limit == T(0) || sum <= limit * limit)) all.push_back({sum, j});
                    }
                    std::sort(all.begin(), all.end());
                    all.resize(std::min<std::size_t>(all.size(), k));
                    ASSERT_EQ(list[i].size(), all.size());
                    for (std::size_t e = 0; e < all.size(); ++e) {
                        EXPECT_EQ(list[i][e], all[e].second);
                        EXPECT_EQ(list.template distances<T>(i)[e], std::sqrt(all[e].first));
                    }
                }
            }
    }
}

/// Rows by sorting all distances, in long double; limit 0: none.
template <int D, class T>
void expect_nearest(std::span<const Vec<D, T>> points, std::uint32_t k, T limit) {
    CellIndex<D, T> index({.radius = 1});
    index.build(points);
    NeighborList list;
    index.find_nearest(k, list, limit);
    for (std::uint32_t i = 0; i < points.size(); ++i) {
        std::vector<std::pair<long double, std::uint32_t>> all;
        for (std::uint32_t j = 0; j < points.size(); ++j) {
            long double sum = 0;
            for (int c = 0; c < D; ++c) {
                const T d = points[j][c] - points[i][c];
                sum += static_cast<long double>(d) * static_cast<long double>(d);
            }
            if (j != i && (limit == T(0) || test::oracle_near(points[i], points[j], limit))) all.push_back({sum, j});
        }
        std::sort(all.begin(), all.end());
        all.resize(std::min<std::size_t>(all.size(), k));
        ASSERT_EQ(list[i].size(), all.size());
        for (std::size_t e = 0; e < all.size(); ++e) ASSERT_EQ(list[i][e], all[e].second) << i << " " << e;
    }
}

TYPED_TEST(CellIndexTyped, NearestWithManyEqualDistances) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    // Small whole numbers: squares are exact, most distances come several times.
    std::vector<Vec<D, T>> points;
    base::SplitMix random(31);
    for (int i = 0; i < 400; ++i) {
        Vec<D, T> p;
        for (int c = 0; c < D; ++c) p[c] = static_cast<T>(random.below(D == 2 ? 20 : 8));
        points.push_back(p);
    }
    base::for_each_simd_target([&] {
        for (const std::uint32_t k : {1u, 6u, 16u, 200u}) {
            expect_nearest<D, T>(points, k, T(0));
            expect_nearest<D, T>(points, k, T(2));
        }
    });
}

TEST(CellIndex, NearestWhereSquaresLeaveTheRangeOfFloat) {
    for (const double scale : {1e-30, 1e-22, 1e25, 1e30}) {
        base::SplitMix random(32);
        std::vector<Vec3f> points(120);
        for (auto& p : points)
            for (int c = 0; c < 3; ++c) p[c] = static_cast<float>(scale * random.uniform(-1, 1));
        expect_nearest<3, float>(points, 7, 0.0f);
        expect_nearest<3, float>(points, 40, static_cast<float>(0.7 * scale));
    }
}

TEST(CellIndex, NearestOfFewFarAndCoincidentPoints) {
    std::vector<Vec3f> points(20, Vec3f{{1, 2, 3}});
    points.push_back(Vec3f{{1e30f, 0, 0}});
    points.push_back(Vec3f{{-1e-30f, 0, 0}});
    const NeighborList list = find_nearest(points, 3);
    for (std::uint32_t i = 0; i < points.size(); ++i) EXPECT_EQ(list[i].size(), 3u);
    EXPECT_EQ(list[0][0], 1u);
    EXPECT_EQ(list[5][0], 0u);
    EXPECT_EQ(list[5][2], 2u);
}

TEST(CellIndex, SameBytesForAnyNumberOfThreadsAndAnyTarget) {
    const workloads::MovingPoints<3, float> moving(workloads::PointScene::uniform, test::scaled(30000, 15000, 9000));
    const auto run = [&](Executor* executor) {
        CellIndex<3, float> index({.radius = moving.radius(), .executor = executor});
        index.build(moving.points());
        NeighborList list;
        index.find_neighbors(list, {.order = RowOrder::input});
        return std::pair(std::vector(list.offsets().begin(), list.offsets().end()),
                         std::vector(list.indices().begin(), list.indices().end()));
    };
    const auto reference = run(nullptr);
    for (unsigned threads : {2u, 3u, 7u}) {
        ThreadExecutor executor(threads);
        EXPECT_EQ(run(&executor), reference);
    }
    base::for_each_simd_target([&] { EXPECT_EQ(run(nullptr), reference); });
}

TEST(CellIndex, SmallStepsOfManyPointsGiveTheListsOfANewIndex) {
    base::SplitMix random(5);
    const workloads::MovingPoints<3, float> scene(workloads::PointScene::uniform, 6000);
    std::vector<Vec3f> points(scene.points().begin(), scene.points().end());
    CellIndex<3, float> kept({.radius = scene.radius()});
    kept.build(points);
    NeighborList list, expected;
    for (int step = 0; step < 6; ++step) {
        for (auto& p : points)
            for (int k = 0; k < 3; ++k) p[k] += static_cast<float>(random.uniform(-0.002, 0.002)) * scene.radius();
        EXPECT_TRUE(kept.update(points));
        kept.find_neighbors(list);
        CellIndex<3, float> anew({.radius = scene.radius()});
        anew.build(points);
        anew.find_neighbors(expected);
        EXPECT_EQ(sorted(rows_of(list)), sorted(rows_of(expected))) << step;
        if (step == 3) {
            kept.erase(std::vector<std::uint32_t>{5});
            kept.build(points);
        }
    }
}

TEST(CellIndex, FlatArraysAreTheRowsAndCanBeTakenAway) {
    const workloads::MovingPoints<3, double> moving(workloads::PointScene::uniform, 40000);
    ThreadExecutor executor(3);
    CellIndex<3, double> index({.radius = moving.radius(), .executor = &executor});
    index.build(moving.points());
    NeighborList rows, flat;
    index.find_neighbors(rows, {.distances = DistanceKind::distance, .vectors = true, .shifts = true});
    EXPECT_TRUE((rows.vectors<3, double>().empty()));
    EXPECT_TRUE(rows.shifts().empty());
    index.find_neighbors(
        flat, {.order = RowOrder::input, .distances = DistanceKind::distance, .vectors = true, .shifts = true});
    ASSERT_EQ((flat.vectors<3, double>().size()), rows.entries());
    EXPECT_TRUE((flat.vectors<3, float>().empty()));
    const double* const before = flat.distances<double>().data();
    NeighborArrays<3, double> arrays = flat.release<3, double>();
    // The memory of the list, cut to its size where it is; a sanitizer moves what is cut.
    if (test::kWhole) {
        EXPECT_EQ(arrays.distances.data(), before);
    }
    EXPECT_EQ(flat.size(), 0u);
    EXPECT_EQ(flat.stats().bytes, 0u);
    ASSERT_EQ(arrays.offsets.size(), rows.size() + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto begin = arrays.offsets[i], end = arrays.offsets[i + 1];
        const auto same = [&](auto row, const auto& all) {
            return std::equal(row.begin(), row.end(), all.begin() + begin, all.begin() + end);
        };
        ASSERT_TRUE(same(rows[i], arrays.indices)) << i;
        ASSERT_TRUE(same(rows.distances<double>(i), arrays.distances)) << i;
        ASSERT_TRUE((same(rows.vectors<3, double>(i), arrays.vectors))) << i;
        ASSERT_TRUE(same(rows.shifts(i), arrays.shifts)) << i;
    }
    arrays.distances = {};
    EXPECT_TRUE(arrays.distances.empty());
    std::uint32_t* const mine = arrays.indices.release();
    EXPECT_EQ(arrays.indices.size(), 0u);
    std::free(mine);
    // Memory of a released list is its holder's; the list can be filled again.
    index.find_neighbors(flat, {.order = RowOrder::input});
    EXPECT_EQ(flat.entries(), rows.entries());
    EXPECT_EQ((NeighborList().release<3, double>().offsets.size()), 1u);
    EXPECT_TRUE((flat.release<2, float>().vectors.empty()));
}

TEST(CellIndex, ListsInInputOrderAreTheSameRows) {
    const workloads::MovingPoints<2, float> moving(workloads::PointScene::uniform, 5000);
    CellIndex<2, float> index({.radius = moving.radius()});
    index.build(moving.points());
    NeighborList a, b;
    index.find_neighbors(a, {.distances = DistanceKind::squared, .vectors = true, .shifts = true});
    index.find_neighbors(b, {.distances = DistanceKind::squared, .vectors = true, .shifts = true});
    b.compact();
    ASSERT_TRUE(b.contiguous());
    EXPECT_EQ(rows_of(a), rows_of(b));
    EXPECT_EQ(a.entries(), b.indices().size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto da = a.distances<float>(i), db = b.distances<float>(i);
        ASSERT_TRUE(std::equal(da.begin(), da.end(), db.begin(), db.end()));
        const auto va = a.vectors<2, float>(i), vb = b.vectors<2, float>(i);
        ASSERT_TRUE(std::equal(va.begin(), va.end(), vb.begin(), vb.end()));
        for (std::size_t e = 0; e < da.size(); ++e) {
            const Vec2f p = moving.points()[i], q = moving.points()[a[i][e]];
            EXPECT_EQ(va[e][0], q[0] - p[0]);
            EXPECT_EQ(da[e], va[e][0] * va[e][0] + va[e][1] * va[e][1]);
            EXPECT_EQ(a.shifts(i)[e], Shift{});
        }
    }
}

TEST(CellIndex, SelfIsInItsRowWhenAskedFor) {
    const workloads::MovingPoints<3, double> moving(workloads::PointScene::sparse, 300);
    CellIndex<3, double> index({.radius = moving.radius()});
    index.build(moving.points());
    for (const bool half : {false, true}) {
        NeighborList with, without;
        index.find_neighbors(with, {.half = half, .self = true});
        index.find_neighbors(without, {.half = half});
        EXPECT_EQ(with.entries(), without.entries() + 300);
        for (std::uint32_t i = 0; i < 300; ++i) EXPECT_EQ(std::count(with[i].begin(), with[i].end(), i), 1);
    }
}

TEST(CellIndex, OneNeighbourhoodAtATime) {
    const workloads::MovingPoints<3, float> moving(workloads::PointScene::uniform, 400);
    CellIndex<3, float> index({.radius = moving.radius()});
    index.build(moving.points());
    const Rows expected = test::oracle_neighbors<3, float>(moving.points(), moving.radius());
    for (std::uint32_t i = 0; i < 400; ++i) {
        std::vector<std::uint32_t> row;
        index.for_each_neighbor(i, [&](std::uint32_t j) { row.push_back(j); });
        std::sort(row.begin(), row.end());
        EXPECT_EQ(row, expected[i]);
        std::size_t count = 0;
        index.for_each_neighbor(moving.points()[i], [&](std::uint32_t) { ++count; });
        EXPECT_EQ(count, row.size() + 1);
    }
    EXPECT_THROW(index.for_each_neighbor(400u, [](std::uint32_t) {}), Error);
}

TEST(CellIndex, ChunksHoldEveryPairOnce) {
    const workloads::MovingPoints<3, float> moving(workloads::PointScene::uniform, 6000);
    ThreadExecutor executor(3);
    CellIndex<3, float> index({.radius = moving.radius(), .executor = &executor});
    index.build(moving.points());
    std::vector<Pair> streamed, chunked;
    index.for_each_pair([&](std::uint32_t i, std::uint32_t j) { streamed.push_back({i, j}); });
    std::mutex mutex;
    index.for_each_chunk([&](std::span<const Pair> pairs) {
        const std::lock_guard lock(mutex);
        chunked.insert(chunked.end(), pairs.begin(), pairs.end());
    });
    std::sort(streamed.begin(), streamed.end());
    std::sort(chunked.begin(), chunked.end());
    EXPECT_EQ(streamed, chunked);
    EXPECT_EQ(std::adjacent_find(streamed.begin(), streamed.end()), streamed.end());
}

TEST(CellIndex, ZOrderIsAPermutationThatKeepsCellsTogether) {
    const workloads::MovingPoints<3, float> moving(workloads::PointScene::uniform, 2000);
    std::vector<std::uint32_t> order = z_order(moving.points(), moving.radius());
    double jumps = 0, plain = 0;
    for (std::size_t k = 1; k < order.size(); ++k)
        for (int c = 0; c < 3; ++c) {
            jumps += std::abs(moving.points()[order[k]][c] - moving.points()[order[k - 1]][c]);
            plain += std::abs(moving.points()[k][c] - moving.points()[k - 1][c]);
        }
    EXPECT_LT(jumps, plain / 3);
    std::sort(order.begin(), order.end());
    for (std::uint32_t k = 0; k < order.size(); ++k) EXPECT_EQ(order[k], k);
}

}  // namespace
}  // namespace quadrat
