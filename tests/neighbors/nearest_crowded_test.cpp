// The k nearest where no radius fits: points on many scales, at one place, on a lattice with many equal distances,
// queries far outside of all points, each in an open and in a periodic box; for every kind against sorted distances to
// all, and the same bytes for 1, 2 and 7 threads and every SIMD target. The number of tests is bounded.
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
#include <tuple>
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

// The points of the box [0, 1)^D, or of one that is sheared, with all images that can count.
template <int D, class T>
void expect_periodic_rows(const std::vector<Vec<D, T>>& homes, const std::vector<Vec<D, T>>& points, bool own,
                          std::uint32_t k, T limit, const Periodic<D, T>& box, const NeighborList& list) {
    struct Entry {
        T sum;
        std::uint32_t j;
        Shift shift;
        auto key() const { return std::tuple(sum, j, shift[0], shift[1], shift[2]); }
    };
    ASSERT_EQ(list.size(), homes.size());
    // Every home of a few, some of many.
    for (std::uint32_t i = 0; i<homes.size(); i += homes.size()> 100 ? 17 : 1) {
        std::vector<Entry> all;
        for (int x = -2; x <= 2; ++x)
            for (int y = -2; y <= 2; ++y)
                for (int z = D == 3 ? -2 : 0; z <= (D == 3 ? 2 : 0); ++z) {
                    const Shift n{{x, y, z}};
                    Vec<D, T> offset{};
                    for (int v = 0; v < D; ++v)
                        for (int c = 0; c < D; ++c) offset[c] += static_cast<T>(n[v]) * box.vectors[v][c];
                    for (std::uint32_t j = 0; j < points.size(); ++j) {
                        if (own && i == j && n == Shift{}) continue;
                        T sum = 0;
                        for (int c = 0; c < D; ++c) {
                            const T d = (points[j][c] - homes[i][c]) + offset[c];
                            sum = c == 0 ? d * d : sum + d * d;
                        }
                        if (limit == T(0) || sum <= limit * limit) all.push_back({sum, j, n});
                    }
                }
        const std::size_t kept = std::min<std::size_t>(k, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                          [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
        ASSERT_EQ(list[i].size(), kept) << i;
        for (std::size_t e = 0; e < kept; ++e) {
            ASSERT_EQ(list[i][e], all[e].j) << i << " " << e;
            ASSERT_TRUE(list.shifts(i)[e] == all[e].shift) << i << " " << e;
            ASSERT_EQ(list.distances<T>(i)[e], std::sqrt(all[e].sum)) << i << " " << e;
        }
    }
}

template <int D, class T>
void check_periodic(const std::vector<Vec<D, T>>& points, const Periodic<D, T>& box, std::uint32_t k, T limit,
                    std::uint64_t tests_per_point) {
    SCOPED_TRACE(testing::Message() << D << "D, " << sizeof(T) << " bytes, " << points.size() << " points, k " << k
                                    << ", limit " << limit);
    ThreadExecutor seven(7);
    for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&seven)}) {
        CellIndex<D, T> index({.radius = T(0.1), .periodic = box, .executor = executor});
        index.build(points);
        NeighborList list;
        index.find_nearest(k, list, limit);
        expect_periodic_rows(points, points, true, k, limit, box, list);
        EXPECT_LT(index.stats().tests, points.size() * tests_per_point);
        const std::vector<Vec<D, T>> queries(points.begin(), points.begin() + 40);
        index.find_nearest(std::span<const Vec<D, T>>(queries), k, list, limit);
        expect_periodic_rows(queries, points, false, k, limit, box, list);
    }
}

// In the middle of the box and small against it, so that all are where they were put.
template <int D, class T>
std::vector<Vec<D, T>> inside(std::vector<Vec<D, T>> points) {
    for (auto& p : points)
        for (int k = 0; k < D; ++k) p[k] = T(0.5) + p[k] * T(0.25);
    return points;
}

template <int D, class T>
Periodic<D, T> sheared() {
    Periodic<D, T> box;
    for (int k = 0; k < D; ++k) box.vectors[k][k] = 1;
    box.vectors[1][0] = T(0.25);
    return box;
}

TYPED_TEST(NearestCrowded, InAPeriodicBox) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    Vec<D, T> ones;
    for (int k = 0; k < D; ++k) ones[k] = 1;
    const auto cube = Periodic<D, T>::orthorhombic(ones);
    const auto scales = inside(many_scales<D, T>(test::scaled(700, 300, 150), 11));
    for (const auto& box : {cube, sheared<D, T>()}) {
        for (const std::uint32_t k : {1u, 16u}) check_periodic<D, T>(scales, box, k, T(0), 650);
        check_periodic<D, T>(scales, box, 16, T(1e-3), 650);
        auto crowd = inside(many_scales<D, T>(100, 12));
        crowd.resize(test::scaled(800, 400, 200), crowd[7]);
        for (const std::uint32_t k : {1u, 5u}) check_periodic<D, T>(crowd, box, k, T(0), 300);
        // Images of one point, over and over.
        check_periodic<D, T>(std::vector<Vec<D, T>>(40, crowd[3]), box, 45, T(0), 1000);
    }
}

TYPED_TEST(NearestCrowded, QueriesFarFromAllPoints) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(21);
    const auto spread = [&](std::size_t n, double lo, double hi) {
        std::vector<Vec<D, T>> points(n);
        for (auto& p : points)
            for (int k = 0; k < D; ++k) p[k] = static_cast<T>(random.uniform(lo, hi));
        return points;
    };
    const auto points = spread(test::scaled(8000, 8000, 2000), 0, 1);
    // Around them, in a wide field, and so far away that all points have nearly the same distance.
    for (const double size : {3.0, 30.0, 1e4}) {
        const auto queries = spread(300, -size, size);
        for (const std::uint32_t k : {1u, 16u}) {
            SCOPED_TRACE(testing::Message() << size << ", k " << k);
            CellIndex<D, T> index({.radius = T(0.1)});
            index.build(points);
            NeighborList list;
            index.find_nearest(std::span<const Vec<D, T>>(queries), k, list);
            expect_rows(queries, points, false, k, T(0), list);
            // Squares of what is very far away are equal for many.
            if (size < 1e3) {
                EXPECT_LT(index.stats().tests, queries.size() * 1200);
            }
            index.find_nearest(std::span<const Vec<D, T>>(queries), k, list, T(2));
            expect_rows(queries, points, false, k, T(2), list);
        }
    }
    // Two clouds with nothing between them, and a hole in a shell.
    auto clouds = spread(3000, 0, 1);
    for (std::size_t i = 0; i < 1500; ++i) clouds[i][0] += T(50);
    check<D, T>(clouds, 16, T(0), false);
    CellIndex<D, T> index({.radius = T(0.1)});
    index.build(clouds);
    const auto between = spread(200, 20, 30);
    NeighborList list;
    index.find_nearest(std::span<const Vec<D, T>>(between), 5, list);
    expect_rows(between, clouds, false, 5, T(0), list);
}

}  // namespace
}  // namespace quadrat
