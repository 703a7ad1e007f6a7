// What users ask for beside the plain list: periodic boxes, radii per point, groups, a skin, edits, limits, errors.
#include <quadrat/neighbors.hpp>

#include <quadrat/error.hpp>

#include "base/random.hpp"
#include "neighbors/entries.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace quadrat {
namespace {

using test::entries_of;
using test::Entry;
using test::random_points;

/// Every image within r by trying all shifts up to `span`, on wrapped coordinates, reported for the given ones.
template <int D, class T>
std::multiset<Entry> oracle_images(const std::vector<Vec<D, T>>& points, const Periodic<D, T>& box, T radius,
                                   int span) {
    std::multiset<Entry> all;
    std::vector<Vec<D, T>> wrapped;
    for (const auto& p : points) wrapped.push_back(wrap(box, p));
    // n from the wrapped and the given coordinates, in the box's own terms: the vectors of these tests are triangular.
    const auto turns = [&](std::size_t i) {
        std::array<int, 3> n{};
        Vec<D, T> rest = points[i];
        for (int k = D - 1; k >= 0; --k) {
            if (box.vectors[k][k] == T(0)) continue;
            n[static_cast<std::size_t>(k)] =
                static_cast<int>(std::lround((rest[k] - wrapped[i][k]) / box.vectors[k][k]));
            for (int c = 0; c < D; ++c) rest[c] -= static_cast<T>(n[static_cast<std::size_t>(k)]) * box.vectors[k][c];
        }
        return n;
    };
    std::array<int, 3> s{};
    int most[3] = {0, 0, 0};
    for (int k = 0; k < D; ++k) most[k] = box.vectors[k][k] != T(0) ? span : 0;
    for (s[2] = -most[2]; s[2] <= most[2]; ++s[2])
        for (s[1] = -most[1]; s[1] <= most[1]; ++s[1])
            for (s[0] = -most[0]; s[0] <= most[0]; ++s[0]) {
                Vec<D, T> offset{};
                for (int k = 0; k < D; ++k)
                    for (int c = 0; c < D; ++c)
                        if (s[static_cast<std::size_t>(k)])
                            offset[c] += static_cast<T>(s[static_cast<std::size_t>(k)]) * box.vectors[k][c];
                for (std::uint32_t i = 0; i < points.size(); ++i)
                    for (std::uint32_t j = 0; j < points.size(); ++j) {
                        if (i == j && s == std::array<int, 3>{}) continue;
                        T sum = 0;
                        for (int k = 0; k < D; ++k) {
                            const T d = (wrapped[j][k] - wrapped[i][k]) + offset[k];
                            sum = k == 0 ? d * d : sum + d * d;
                        }
                        if (!(sum <= radius * radius)) continue;
                        const auto a = turns(i), b = turns(j);
                        all.insert({i, j, s[0] + a[0] - b[0], s[1] + a[1] - b[1], s[2] + a[2] - b[2]});
                    }
            }
    return all;
}

template <int D, class T>
void expect_images(const std::vector<Vec<D, T>>& points, const Periodic<D, T>& box, T radius, int span) {
    CellIndex<D, T> index({.radius = radius, .periodic = box});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list, {.shifts = true});
    const auto expected = oracle_images(points, box, radius, span);
    const auto found = entries_of(list);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(found, expected);
    // The half list has one of (i, j, s) and (j, i, -s).
    index.find_neighbors(list, {.half = true, .shifts = true});
    std::multiset<Entry> both;
    for (const auto& [i, j, a, b, c] : entries_of(list)) {
        both.insert({i, j, a, b, c});
        both.insert({j, i, -a, -b, -c});
    }
    EXPECT_EQ(both, expected);
    EXPECT_EQ(index.count_pairs(), expected.size() / 2);
    std::uint64_t streamed = 0;
    index.for_each_pair([&](std::uint32_t, std::uint32_t) { ++streamed; });
    EXPECT_EQ(streamed, expected.size() / 2);
}

TEST(Periodic, OrthorhombicOpenAndSmallBoxes) {
    using P = Periodic<3, float>;
    const auto points = random_points<3, float>(300, -3, 14, 1);
    expect_images(points, P::orthorhombic({{10, 11, 12}}), 2.0f, 2);
    expect_images(points, P::orthorhombic({{10, 0, 12}}), 2.0f, 2);
    expect_images(points, P::orthorhombic({{0, 0, 5}}), 2.0f, 2);
    // Smaller than twice the radius: all images, a point's own too.
    const auto few = random_points<3, float>(12, 0, 3, 2);
    expect_images(few, P::orthorhombic({{3, 2.5f, 2}}), 3.5f, 4);
}

TEST(Periodic, TriclinicBoxes) {
    Periodic<3, double> box;
    box.vectors[0] = {{9, 0, 0}};
    box.vectors[1] = {{3, 8, 0}};
    box.vectors[2] = {{-2, 1.5, 7}};
    box.origin = {{1, -2, 0.5}};
    expect_images(random_points<3, double>(300, -8, 17, 3), box, 2.0, 3);
    expect_images(random_points<3, double>(10, -8, 17, 4), box, 9.0, 6);
    Periodic<2, float> flat;
    flat.vectors[0] = {{6, 0}};
    flat.vectors[1] = {{2, 5}};
    expect_images(random_points<2, float>(200, -8, 17, 5), flat, 1.5f, 3);
}

TEST(Periodic, PointsOnTheBorderAndQueries) {
    const auto box = Periodic<2, double>::orthorhombic({{4, 4}});
    const std::vector<Vec2d> points = {{{0, 0}}, {{4, 4}}, {{-1e-17, 2}}, {{4, 0}}, {{3.5, 2}}, {{1e6, -1e6}}};
    expect_images(points, box, 1.0, 2);
    CellIndex<2, double> index({.radius = 1.0, .periodic = box});
    index.build(points);
    NeighborList list;
    const std::vector<Vec2d> queries = {{{8.1, 0}}};
    index.find_neighbors(std::span<const Vec2d>(queries), list, {.vectors = true, .shifts = true});
    ASSERT_EQ(list[0].size(), 4u);
    for (std::size_t e = 0; e < 4; ++e) {
        const Vec2d v = list.vectors<2, double>(0)[e], p = points[list[0][e]];
        for (int k = 0; k < 2; ++k) EXPECT_NEAR(v[k], p[k] + 4 * list.shifts(0)[e][k] - queries[0][k], 1e-9);
    }
}

/// The k nearest images of every point, from all shifts up to `span`.
template <int D, class T>
void expect_nearest_images(const std::vector<Vec<D, T>>& points, const Periodic<D, T>& box, std::uint32_t k, T limit,
                           int span) {
    // The oracle's entries carry no distance: it is formed again from the shift between wrapped points.
    const auto all = oracle_images(points, box, T(1e15), span);
    std::vector<Vec<D, T>> wrapped;
    for (const auto& p : points) wrapped.push_back(wrap(box, p));
    using Image = std::tuple<T, std::uint32_t, int, int, int>;
    std::vector<std::vector<Image>> expected(points.size());
    for (const auto& [i, j, a, b, c] : all) {
        const auto turns = [&](std::uint32_t p) {
            std::array<int, 3> n{};
            Vec<D, T> rest = points[p];
            for (int q = D - 1; q >= 0; --q) {
                if (box.vectors[q][q] == T(0)) continue;
                const auto at = static_cast<std::size_t>(q);
                n[at] = static_cast<int>(std::lround((rest[q] - wrapped[p][q]) / box.vectors[q][q]));
                for (int x = 0; x < D; ++x) rest[x] -= static_cast<T>(n[at]) * box.vectors[q][x];
            }
            return n;
        };
        const auto from = turns(i), to = turns(j);
        const int given[3] = {a, b, c};
        Vec<D, T> offset{};
        for (int q = 0; q < D; ++q) {
            const auto at = static_cast<std::size_t>(q);
            const int s = given[q] - from[at] + to[at];
            for (int x = 0; x < D; ++x)
                if (s != 0) offset[x] += static_cast<T>(s) * box.vectors[q][x];
        }
        T sum = 0;
        for (int q = 0; q < D; ++q) {
            const T d = (wrapped[j][q] - wrapped[i][q]) + offset[q];
            sum = q == 0 ? d * d : sum + d * d;
        }
        if (limit == T(0) || sum <= limit * limit) expected[i].push_back({sum, j, a, b, c});
    }
    for (auto& row : expected) {
        std::sort(row.begin(), row.end());
        if (row.size() > k) row.resize(k);
    }
    ThreadExecutor executor(2);
    for (Executor* threads : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&executor)}) {
        CellIndex<D, T> index({.radius = 1, .periodic = box, .executor = threads});
        index.build(points);
        NeighborList list;
        index.find_nearest(k, list, limit);
        ASSERT_EQ(list.size(), points.size());
        std::uint64_t entries = 0;
        for (std::uint32_t i = 0; i < points.size(); ++i) {
            ASSERT_EQ(list[i].size(), expected[i].size()) << i;
            entries += list[i].size();
            for (std::size_t e = 0; e < expected[i].size(); ++e) {
                const Shift s = list.shifts(i)[e];
                ASSERT_EQ((std::tuple(list[i][e], s[0], s[1], s[2])),
                          (std::tuple(std::get<1>(expected[i][e]), std::get<2>(expected[i][e]),
                                      std::get<3>(expected[i][e]), std::get<4>(expected[i][e]))));
                EXPECT_EQ(list.distances<T>(i)[e], std::sqrt(std::get<0>(expected[i][e])));
            }
        }
        EXPECT_EQ(list.entries(), entries);
    }
}

TEST(Periodic, NearestOfAllImages) {
    using P = Periodic<3, double>;
    const auto points = random_points<3, double>(120, -3, 14, 21);
    expect_nearest_images(points, P::orthorhombic({{10, 11, 12}}), 5, 0.0, 1);
    expect_nearest_images(points, P::orthorhombic({{10, 11, 12}}), 20, 2.5, 1);
    expect_nearest_images(points, P::orthorhombic({{0, 11, 0}}), 7, 0.0, 2);
    expect_nearest_images(random_points<3, float>(80, 0, 9, 22), Periodic<3, float>::orthorhombic({{9, 9, 9}}), 12,
                          0.0f, 1);
    P box;
    box.vectors[0] = {{9, 0, 0}};
    box.vectors[1] = {{3, 8, 0}};
    box.vectors[2] = {{-2, 1.5, 7}};
    box.origin = {{1, -2, 0.5}};
    expect_nearest_images(random_points<3, double>(60, -8, 17, 23), box, 9, 0.0, 3);
    Periodic<2, float> flat;
    flat.vectors[0] = {{6, 0}};
    flat.vectors[1] = {{2, 5}};
    expect_nearest_images(random_points<2, float>(90, -8, 17, 24), flat, 6, 0.0f, 3);
}

TEST(Periodic, NearestWithFewerPointsThanK) {
    // One and two points: their own images fill the rows. Clusters: some rows need many rounds.
    using P = Periodic<3, double>;
    expect_nearest_images(random_points<3, double>(1, 0, 1, 25), P::orthorhombic({{1, 1.25, 1.5}}), 10, 0.0, 3);
    expect_nearest_images(random_points<3, double>(2, 0, 1, 26), P::orthorhombic({{1, 0, 0}}), 9, 0.0, 8);
    auto clusters = random_points<3, double>(40, 0, 0.1, 27);
    clusters.push_back({{5, 5, 5}});
    expect_nearest_images(clusters, P::orthorhombic({{10, 10, 10}}), 11, 0.0, 1);
    // Coincident points: equal distances by index.
    expect_nearest_images(std::vector<Vec3d>(6, Vec3d{{1, 1, 1}}), P::orthorhombic({{4, 4, 4}}), 9, 0.0, 1);
}

TEST(Periodic, NearestOfQueriesAndAfterErasing) {
    const auto box = Periodic<2, double>::orthorhombic({{4, 4}});
    const std::vector<Vec2d> points = {{{0.5, 0.5}}, {{3.5, 3.5}}, {{2, 2}}};
    CellIndex<2, double> index({.radius = 1.0, .periodic = box});
    index.build(points);
    const std::vector<Vec2d> queries = {{{4, 4.25}}};
    NeighborList list;
    index.find_nearest(std::span<const Vec2d>(queries), 2, list);
    ASSERT_EQ(list[0].size(), 2u);
    EXPECT_EQ(list[0][0], 0u);
    EXPECT_EQ(list.distances<double>(0)[0], std::sqrt(0.5 * 0.5 + 0.25 * 0.25));
    EXPECT_EQ(list.shifts(0)[0], (Shift{{1, 1, 0}}));
    EXPECT_EQ(list[0][1], 1u);
    EXPECT_EQ(list.shifts(0)[1], (Shift{{0, 0, 0}}));
    const std::vector<std::uint32_t> gone = {0};
    index.erase(gone);
    index.find_nearest(1, list);
    EXPECT_EQ(list[0].size(), 0u);
    ASSERT_EQ(list[1].size(), 1u);
    EXPECT_EQ(list[1][0], 2u);
    const std::vector<std::uint32_t> rest = {1, 2};
    index.erase(rest);
    index.find_nearest(3, list);
    EXPECT_EQ(list.entries(), 0u);
}

TEST(Periodic, ImpossibleBoxesAreRefused) {
    Periodic<3, float> flat;
    flat.vectors[0] = {{1, 0, 0}};
    flat.vectors[1] = {{2, 0, 0}};
    EXPECT_THROW((CellIndex<3, float>({.radius = 1, .periodic = flat})), Error);
    CellIndex<3, float> index({.radius = 1000, .periodic = Periodic<3, float>::orthorhombic({{1e-3f, 1e-3f, 1e-3f}})});
    const std::vector<Vec3f> one = {{{0, 0, 0}}};
    try {
        index.build(one);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
    }
}

TEST(Radii, EveryRuleEqualsAllPairs) {
    const auto points = random_points<3, float>(400, 0, 10, 7);
    base::SplitMix random(8);
    std::vector<float> radii;
    for (std::size_t i = 0; i < points.size(); ++i)
        radii.push_back(static_cast<float>(random.uniform(0.05, i % 40 == 0 ? 3.0 : 0.8)));
    for (const RadiusRule rule : {RadiusRule::own, RadiusRule::max, RadiusRule::min, RadiusRule::sum}) {
        test::Rows expected(points.size());
        std::uint64_t entries = 0;
        for (std::uint32_t i = 0; i < points.size(); ++i)
            for (std::uint32_t j = 0; j < points.size(); ++j) {
                const float a = radii[i], b = radii[j];
                const float r = rule == RadiusRule::own   ? a
                                : rule == RadiusRule::max ? std::max(a, b)
                                : rule == RadiusRule::min ? std::min(a, b)
                                                          : a + b;
                if (i != j && test::oracle_near(points[i], points[j], r)) expected[i].push_back(j), ++entries;
            }
        CellIndex<3, float> index({.rule = rule});
        index.build(points, radii);
        NeighborList list;
        index.find_neighbors(list);
        for (std::uint32_t i = 0; i < points.size(); ++i) {
            std::vector<std::uint32_t> row(list[i].begin(), list[i].end());
            std::sort(row.begin(), row.end());
            EXPECT_EQ(row, expected[i]);
        }
        if (rule == RadiusRule::own) {
            EXPECT_THROW(index.find_neighbors(list, {.half = true}), Error);
            EXPECT_EQ(index.count_pairs(), entries);
        } else {
            index.find_neighbors(list, {.half = true});
            EXPECT_EQ(list.entries(), entries / 2);
            EXPECT_EQ(index.count_pairs(), entries / 2);
        }
    }
}

TEST(Groups, RowsHoldOnlyWhatTheirGroupSearches) {
    const auto points = random_points<2, double>(500, 0, 10, 9);
    std::vector<std::uint8_t> groups;
    for (std::size_t i = 0; i < points.size(); ++i) groups.push_back(static_cast<std::uint8_t>(i % 3));
    const std::vector<std::uint64_t> searches = {0b110, 0b001, 0};  // 0 sees 1 and 2, 1 sees 0, 2 sees nobody
    CellIndex<2, double> index({.radius = 1});
    index.build(points);
    NeighborList all, list;
    index.find_neighbors(all);
    index.find_neighbors(list, {.groups = groups, .searches = searches});
    for (std::uint32_t i = 0; i < points.size(); ++i) {
        std::vector<std::uint32_t> expected;
        for (const std::uint32_t j : all[i])
            if (searches[groups[i]] >> groups[j] & 1) expected.push_back(j);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), list[i].begin(), list[i].end()));
    }
    groups[3] = 9;
    try {
        index.find_neighbors(list, {.groups = groups, .searches = searches});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().index, 3u);
    }
}

TEST(Skin, ListsStayCompleteUntilUpdateRebuilds) {
    auto points = random_points<3, float>(600, 0, 10, 10);
    CellIndex<3, float> index({.radius = 1, .skin = 0.3f});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list);
    base::SplitMix random(11);
    int rebuilt = 0, kept = 0;
    for (int step = 0; step < 20; ++step) {
        for (auto& p : points)
            for (int k = 0; k < 3; ++k) p[k] += static_cast<float>(random.uniform(-0.03, 0.03));
        if (index.update(points)) {
            ++rebuilt;
            index.find_neighbors(list);
        } else {
            ++kept;
        }
        const test::Rows near = test::oracle_neighbors<3, float>(points, 1.0f);
        for (std::uint32_t i = 0; i < points.size(); ++i)
            for (const std::uint32_t j : near[i])
                ASSERT_NE(std::find(list[i].begin(), list[i].end(), j), list[i].end()) << step;
    }
    EXPECT_GT(rebuilt, 0);
    EXPECT_GT(kept, rebuilt);
}

TEST(Edits, InsertAndEraseBetweenBuilds) {
    auto points = random_points<3, float>(300, 0, 6, 12);
    const auto more = random_points<3, float>(50, 0, 6, 13);
    CellIndex<3, float> index({.radius = 1});
    index.build(points);
    EXPECT_EQ(index.insert(more), 300u);
    points.insert(points.end(), more.begin(), more.end());
    const std::vector<std::uint32_t> gone = {0, 17, 299, 310};
    index.erase(gone);
    EXPECT_THROW(index.erase(std::span(gone).first(1)), Error);
    const auto expect_rows = [&] {
        NeighborList list;
        index.find_neighbors(list);
        ASSERT_EQ(list.size(), 350u);
        const test::Rows all = test::oracle_neighbors<3, float>(points, 1.0f);
        for (std::uint32_t i = 0; i < 350; ++i) {
            std::vector<std::uint32_t> expected;
            const auto is_gone = [&](std::uint32_t x) { return std::find(gone.begin(), gone.end(), x) != gone.end(); };
            for (const std::uint32_t j : all[i])
                if (!is_gone(i) && !is_gone(j)) expected.push_back(j);
            std::vector<std::uint32_t> row(list[i].begin(), list[i].end());
            std::sort(row.begin(), row.end());
            ASSERT_EQ(row, expected);
        }
    };
    expect_rows();
    for (auto& p : points) p[0] += 0.5f * p[1];
    index.update(points);
    expect_rows();
}

TEST(Limits, CoincidentPointsAreCountedButNotStored) {
    if (!test::kWhole) GTEST_SKIP() << "quadratic: minutes under a sanitizer";
    const std::vector<Vec3f> points(20000, Vec3f{{1, 2, 3}});
    CellIndex<3, float> index({.radius = 0.1f, .max_bytes = 100'000'000});
    index.build(points);
    EXPECT_EQ(index.count_pairs(), 20000ull * 19999 / 2);
    NeighborList list;
    try {
        index.find_neighbors(list);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
        EXPECT_NE(std::string(e.what()).find(std::to_string(20000ull * 19999 * 4 + 20000 * 8)), std::string::npos)
            << e.what();
    }
    EXPECT_EQ(list.size(), 0u);
}

TEST(Limits, ARefusalNamesTheSizeOfAnyKindOfList) {
    constexpr std::uint64_t n = 400;
    const std::vector<Vec3f> points(n, Vec3f{{1, 2, 3}});
    CellIndex<3, float> index({.radius = 0.1f, .max_bytes = 100'000});
    index.build(points);
    NeighborList list;
    const auto expect_entries = [&](std::uint64_t entries, auto&& find) {
        try {
            find();
            ADD_FAILURE() << entries;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::too_large);
            EXPECT_NE(std::string(e.what()).find("for " + std::to_string(entries) + " entries"), std::string::npos)
                << e.what();
        }
    };
    expect_entries(n * (n - 1), [&] { index.find_neighbors(list); });
    expect_entries(n * n, [&] { index.find_neighbors(list, {.self = true}); });
    expect_entries(n * (n - 1) / 2, [&] { index.find_neighbors(list, {.half = true}); });
    expect_entries(n * (n + 1) / 2, [&] { index.find_neighbors(list, {.half = true, .self = true}); });
    expect_entries(n * (n - 1), [&] { index.find_neighbors(list, {.vectors = true}); });
    expect_entries(n * n, [&] { index.find_neighbors(std::span<const Vec3f>(points), list); });
}

TEST(Limits, AHundredThousandPointsAtOnePlace) {
    if (!test::kWhole) GTEST_SKIP() << "quadratic: minutes under a sanitizer";
    // The list would take 40 GB. Counts and streams work; storing is refused after a small part of what is allowed.
    constexpr std::uint64_t n = 100'000;
    const std::vector<Vec3f> points(n, Vec3f{{1, 2, 3}});
    CellIndex<3, float> index({.radius = 0.1f, .max_bytes = 1'000'000'000});
    index.build(points);
    EXPECT_EQ(index.count_pairs(), n * (n - 1) / 2);
    std::vector<std::uint32_t> counts;
    index.count_neighbors(counts);
    EXPECT_EQ(std::count(counts.begin(), counts.end(), n - 1), static_cast<std::ptrdiff_t>(n));
    std::uint64_t pairs = 0, sum = 0;
    index.for_each_pair([&](std::uint32_t i, std::uint32_t j) { ++pairs, sum += j - i; });
    EXPECT_EQ(pairs, n * (n - 1) / 2);
    EXPECT_EQ(sum, (n - 1) * n * (n + 1) / 6);
    std::uint64_t row = 0;
    index.for_each_neighbor(77u, [&](std::uint32_t j) { row += j; });
    EXPECT_EQ(row, n * (n - 1) / 2 - 77);
    NeighborList list;
    try {
        index.find_neighbors(list);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
        EXPECT_NE(std::string(e.what()).find(std::to_string(n * (n - 1) * 4 + n * 8)), std::string::npos) << e.what();
    }
    EXPECT_LT(list.stats().bytes, 100'000'000u);
    // Moved a little, they still share cells: the order inside a cell stays that of the indices.
    index.update(std::vector<Vec3f>(n, Vec3f{{1.01f, 2, 3}}));
    EXPECT_TRUE(std::is_sorted(index.order().begin(), index.order().end()));
    // The nearest of so many equals are the smallest indices.
    index.build(std::span(points).first(2000));
    index.find_nearest(3, list);
    EXPECT_EQ((std::vector(list[1000].begin(), list[1000].end())), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Limits, AWrongForecastStillGivesTheList) {
    // The first points in cell order are a dense cluster; the others have no neighbours.
    std::vector<Vec3f> points(3000, Vec3f{{0, 0, 0}});
    base::SplitMix random(33);
    for (int i = 0; i < 60000; ++i)
        points.push_back({{static_cast<float>(random.uniform(5, 100)), static_cast<float>(random.uniform(5, 100)),
                           static_cast<float>(random.uniform(5, 100))}});
    CellIndex<3, float> index({.radius = 0.01f, .max_bytes = 3000ull * 2999 * 4 + 63000 * 8 + 4000});
    index.build(points);
    NeighborList list;
    index.find_neighbors(list);
    for (std::uint32_t i = 0; i < 3000; i += 100) EXPECT_EQ(list[i].size(), 2999u);
    EXPECT_LT(list.entries(), 3000ull * 2999 + 1000);
}

TEST(Limits, BadDataNamesThePlaceAndChangesNothing) {
    std::vector<Vec3f> points = random_points<3, float>(100, 0, 3, 14);
    CellIndex<3, float> index({.radius = 1});
    index.build(points);
    NeighborList before, after;
    index.find_neighbors(before);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        auto broken = points;
        broken[57][1] = bad;
        for (const bool update : {false, true}) {
            try {
                update ? static_cast<void>(index.update(broken)) : index.build(broken);
                FAIL();
            } catch (const Error& e) {
                EXPECT_EQ(e.where().index, 57u);
            }
        }
        EXPECT_THROW(index.find_neighbors(std::span<const Vec3f>(broken), after), Error);
    }
    index.find_neighbors(after);
    EXPECT_EQ(before.entries(), after.entries());
    EXPECT_THROW((CellIndex<3, float>({.radius = -1})), Error);
    EXPECT_THROW((CellIndex<3, float>({.radius = std::numeric_limits<float>::quiet_NaN()})), Error);
    EXPECT_THROW((CellIndex<3, float>({}).build(points)), Error);
    EXPECT_THROW(index.update(std::span(points).first(3)), Error);
    const std::vector<float> radii(99, 1.0f);
    EXPECT_THROW(index.build(points, radii), Error);
}

TEST(Limits, NothingAndOne) {
    CellIndex<3, double> index({.radius = 1});
    NeighborList list;
    index.find_neighbors(list);
    EXPECT_EQ(list.size(), 0u);
    index.build({});
    index.find_neighbors(list, {.order = RowOrder::input});
    EXPECT_EQ(list.offsets().size(), 1u);
    const std::vector<Vec3d> one = {{{-0.0, 0, 5}}};
    index.find_neighbors(std::span<const Vec3d>(one), list);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].size(), 0u);
    index.build(one);
    index.find_neighbors(list);
    EXPECT_EQ(list[0].size(), 0u);
    index.find_nearest(3, list);
    EXPECT_EQ(list[0].size(), 0u);
}

TEST(Limits, StopAndProgress) {
    const auto points = random_points<3, float>(30000, 0, 20, 15);
    CellIndex<3, float> index({.radius = 1});
    index.build(points);
    NeighborList list;
    StopSource stop;
    stop.request_stop();
    try {
        index.find_neighbors(list, {.watch = {.stop = stop, .report = {}}});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::stopped);
    }
    EXPECT_EQ(list.size(), 0u);
    double last = 0;
    index.find_neighbors(list, {.watch = {.stop = {}, .report = [&](double f) {
                                              EXPECT_GE(f, last);
                                              last = f;
                                          }}});
    EXPECT_EQ(last, 1.0);
}

// Counts and the nearest, in all three ways of finding these: in cells, in a tree, and through images.
TEST(Limits, EveryLongCallIsStoppedAndReported) {
    const std::size_t n = test::scaled(30000, 30000, 12000);
    const auto points = random_points<3, float>(n, 0, 20, 15);
    auto crowd = points;
    for (std::size_t i = 0; i < n / 3 * 2; ++i) crowd[i] = {{1 + 1e-5f * static_cast<float>(i % 100), 1, 1}};
    CellIndex<3, float> open({.radius = 1}), crowded({.radius = 0.01f});
    CellIndex<3, float> periodic({.radius = 1, .periodic = Periodic<3, float>::orthorhombic({{20, 20, 20}})});
    open.build(points);
    crowded.build(crowd);
    periodic.build(points);
    NeighborList list;
    std::vector<std::uint32_t> counts;
    StopSource stop;
    stop.request_stop();
    const Watch stopped{.stop = stop, .report = {}};
    const auto expect_stopped = [](auto&& call) {
        try {
            call();
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::stopped);
        }
    };
    for (const auto* index : {&open, &crowded, &periodic}) {
        expect_stopped([&] { index->find_nearest(4, list, 0, stopped); });
        expect_stopped([&] { index->find_nearest(points, 4, list, 0, stopped); });
        expect_stopped([&] { index->count_neighbors(counts, stopped); });
        expect_stopped([&] { (void)index->count_pairs(stopped); });
        EXPECT_EQ(list.size(), 0u);
        EXPECT_TRUE(counts.empty());
    }
    double last = 0;
    const Watch watch{.stop = {}, .report = [&](double f) {
                          EXPECT_GE(f, last);
                          last = f;
                      }};
    for (const auto* index : {&open, &crowded, &periodic}) {
        last = 0;
        index->find_nearest(4, list, 0, watch);
        EXPECT_EQ(last, 1.0);
        last = 0;
        index->count_neighbors(counts, watch);
        EXPECT_EQ(last, 1.0);
        last = 0;
        EXPECT_GT(index->count_pairs(watch), 0u);
        EXPECT_EQ(last, 1.0);
    }
}

// What reports may ask anything that is const, with the threads of the same executor, which may be handed a task of the
// search that reports.
TEST(Limits, ReportMayAskTheIndex) {
    const auto points = random_points<3, float>(test::scaled(60000, 30000, 30000), 0, 20, 16);
    for (const bool own : {false, true})
        for (const unsigned threads : {1u, 2u, 7u}) {
            const std::unique_ptr<Executor> executor =
                own ? std::make_unique<ThreadExecutor>(threads) : make_executor(threads);
            CellIndex<3, float> index({.radius = 1, .executor = executor.get()});
            index.build(points);
            const std::uint64_t pairs = index.count_pairs();
            int depth = 0, asked = 0;
            double last = 0;
            const Watch watch{.stop = {}, .report = [&](double part) {
                                  if (depth != 0 || asked > 20) return;
                                  depth = 1;
                                  EXPECT_LE(last, part);
                                  last = part;
                                  EXPECT_EQ(index.count_pairs(), pairs);
                                  ++asked;
                                  depth = 0;
                              }};
            NeighborList list;
            index.find_neighbors(list, {.watch = watch});
            EXPECT_EQ(list.entries(), 2 * pairs);
            std::atomic<std::uint64_t> entries{0};
            asked = 0, last = 0;
            index.for_each_row([&](const NeighborRow<3, float>& row) { entries += row.count; }, {.watch = watch});
            EXPECT_EQ(entries, 2 * pairs);
            std::vector<std::uint32_t> counts;
            asked = 0, last = 0;
            index.count_neighbors(counts, watch);
            last = 0;
            index.find_nearest(4, list, 0, watch);
            EXPECT_GT(asked, 0);
        }
}

// Their squared length leaves the range of double: such a box was taken for an open one.
TEST(CellIndexOptions, VectorsTooShortOrTooLongAreRefused) {
    for (const double edge : {1e-170, 1e170}) {
        Periodic<3, double> box;
        for (int k = 0; k < 3; ++k) box.vectors[k][k] = edge;
        EXPECT_THROW((CellIndex<3, double>({.radius = 1, .periodic = box})), Error) << edge;
    }
}

TEST(FindNeighbors, TakesAnyArrayAndALimit) {
    const std::array<Vec2f, 3> points = {{{{0, 0}}, {{0.5f, 0}}, {{3, 0}}}};
    EXPECT_EQ(find_neighbors(points, 1).entries(), 2u);
    EXPECT_EQ(find_neighbors(std::span<const Vec2f>(points), std::vector<Vec2f>{{{3, 0.5f}}}, 1).size(), 3u);
    EXPECT_EQ(find_nearest(std::vector<Vec2f>(points.begin(), points.end()), 1).entries(), 3u);
    EXPECT_THROW((void)find_neighbors(points, 1, {}, nullptr, 1), Error);
    EXPECT_THROW((void)find_nearest(points, 1, 0, nullptr, 1), Error);
}

}  // namespace
}  // namespace quadrat
