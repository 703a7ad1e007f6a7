// The k nearest where points are crowded: on many scales, at one place, on a lattice with many equal distances; for
// every kind against sorted distances to all, and the same bytes for 1, 2 and 7 threads and every SIMD target.
#include <quadrat/error.hpp>
#include <quadrat/neighbors.hpp>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "neighbors/entries.hpp"
#include "support/kinds.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace quadrat {
namespace {

template <int D, class T>
std::vector<Vec<D, T>> many_scales(std::size_t n, std::uint64_t seed) {
    base::SplitMix random(seed);
    std::vector<Vec<D, T>> points(n);
    for (auto& p : points) {
        const double scale = std::pow(10.0, random.uniform(-5, 0));
        for (int k = 0; k < D; ++k) p[k] = static_cast<T>(scale * random.uniform(-1, 1));
    }
    return points;
}

template <int D, class T>
void expect_rows(const std::vector<Vec<D, T>>& homes, const std::vector<Vec<D, T>>& points, bool own, std::uint32_t k,
                 T limit, const NeighborList& list) {
    ASSERT_EQ(list.size(), homes.size());
    for (std::uint32_t i = 0; i < homes.size(); ++i) {
        std::vector<std::pair<T, std::uint32_t>> all;
        for (std::uint32_t j = 0; j < points.size(); ++j) {
            T sum = 0;
            for (int c = 0; c < D; ++c) {
                const T d = points[j][c] - homes[i][c];
                sum = c == 0 ? d * d : sum + d * d;
            }
            if ((!own || i != j) && (limit == T(0) || sum <= limit * limit)) all.push_back({sum, j});
        }
        const std::size_t kept = std::min<std::size_t>(k, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
        ASSERT_EQ(list[i].size(), kept) << i;
        for (std::size_t e = 0; e < kept; ++e) {
            ASSERT_EQ(list[i][e], all[e].second) << i << " " << e;
            ASSERT_EQ(list.distances<T>(i)[e], std::sqrt(all[e].first)) << i << " " << e;
        }
    }
}

template <int D, class T>
void check(const std::vector<Vec<D, T>>& points, std::uint32_t k, T limit, bool linear = true) {
    SCOPED_TRACE(testing::Message() << D << "D, " << sizeof(T) << " bytes, " << points.size() << " points, k " << k
                                    << ", limit " << limit);
    CellIndex<D, T> index({.radius = 1});
    index.build(points);
    NeighborList list;
    index.find_nearest(k, list, limit);
    expect_rows(points, points, true, k, limit, list);
    if (linear) {
        EXPECT_LT(index.stats().tests, points.size() * (600 + 60 * std::uint64_t{k}));
    }
    std::vector<Vec<D, T>> queries = many_scales<D, T>(60, 77);
    queries.push_back(points[0]);
    index.find_nearest(std::span<const Vec<D, T>>(queries), k, list, limit);
    expect_rows(queries, points, false, k, limit, list);
    index.find_nearest(k, list, limit);
    list.compact();
    const auto same = [&](const CellIndex<D, T>& other) {
        NeighborList found;
        other.find_nearest(k, found, limit);
        found.compact();
        return std::ranges::equal(found.offsets(), list.offsets()) &&
               std::ranges::equal(found.indices(), list.indices()) &&
               std::ranges::equal(found.template distances<T>(), list.template distances<T>());
    };
    for (const unsigned threads : {2u, 7u}) {
        ThreadExecutor executor(threads);
        CellIndex<D, T> other({.radius = 1, .executor = &executor});
        other.build(points);
        EXPECT_TRUE(same(other)) << threads;
    }
    base::for_each_simd_target([&] {
        CellIndex<D, T> other({.radius = 1});
        other.build(points);
        EXPECT_TRUE(same(other));
    });
}

template <class Kind>
class NearestCrowded : public testing::Test {};
TYPED_TEST_SUITE(NearestCrowded, test::Kinds);

TYPED_TEST(NearestCrowded, ManyScalesOfDensity) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const auto points = many_scales<D, T>(test::scaled(3000, 3000, 1500), 1);
    for (const std::uint32_t k : {1u, 16u, 100u}) check<D, T>(points, k, T(0), false);
    check<D, T>(points, 16, T(1e-3), false);
    check<D, T>(many_scales<D, T>(20, 2), 40, T(0), false);
}

// Cells are made for points like these, in a cube, in a sheet and on a line: the first look has to be about right.
TYPED_TEST(NearestCrowded, EvenPointsTakeAFewTestsEach) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (int dimensions = 1; dimensions <= D; ++dimensions)
        for (int first = 0; first < D; ++first)
            for (const std::uint32_t k : {1u, 8u, 30u}) {
                base::SplitMix random(9);
                std::vector<Vec<D, T>> points(5000, Vec<D, T>{});
                for (auto& p : points)
                    for (int c = 0; c < dimensions; ++c) p[(first + c) % D] = static_cast<T>(random.uniform(-300, 500));
                CellIndex<D, T> index({.radius = 1});
                index.build(points);
                NeighborList list;
                index.find_nearest(k, list);
                EXPECT_EQ(list.entries(), points.size() * k);
                EXPECT_LT(index.stats().tests, points.size() * (60 + 12 * std::uint64_t{k}))
                    << dimensions << " " << first << " " << k;
            }
}

TYPED_TEST(NearestCrowded, NeedsTheBytesOfItsRows) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const auto points = many_scales<D, T>(100, 5);
    const std::size_t need = points.size() * (3 * (4 + sizeof(T)) + 8);
    for (const std::size_t less : {0u, 1u}) {
        CellIndex<D, T> index({.radius = 1, .max_bytes = need - less});
        index.build(points);
        NeighborList list;
        if (less == 0)
            EXPECT_NO_THROW(index.find_nearest(3, list));
        else
            EXPECT_THROW(index.find_nearest(3, list), Error);
        EXPECT_EQ(list.entries(), less == 0 ? 300u : 0u);
    }
}

TYPED_TEST(NearestCrowded, PointsAtAFewPlaces) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    auto points = many_scales<D, T>(300, 3);
    // Two thousand at one place, a hundred at another, some in pairs, with indices in no order.
    base::SplitMix random(4);
    points.resize(2400, points[7]);
    for (std::size_t i = 2300; i < 2400; ++i) points[i] = points[150];
    for (std::size_t i = 0; i + 1 < 100; i += 2) points[i] = points[i + 1];
    for (std::size_t i = points.size() - 1; i > 0; --i)
        std::swap(points[i], points[static_cast<std::size_t>(random.uniform(0, static_cast<double>(i)))]);
    for (const std::uint32_t k : {1u, 5u, 30u}) check<D, T>(points, k, T(0));
    check<D, T>(std::vector<Vec<D, T>>(1000, points[0]), 5, T(0));
}

TYPED_TEST(NearestCrowded, EqualDistancesByIndex) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::vector<Vec<D, T>> points;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
            for (int layer = 0; layer < (D == 3 ? 12 : 1); ++layer) {
                Vec<D, T> p{};
                p[0] = T(i), p[1] = T(j);
                if constexpr (D == 3) p[2] = T(layer);
                points.push_back(p);
            }
    Vec<D, T> far{};
    far[0] = T(1e6);
    points.push_back(far);
    for (const std::uint32_t k : {3u, 6u, 20u}) check<D, T>(points, k, T(0), D == 3);
}

}  // namespace
}  // namespace quadrat
