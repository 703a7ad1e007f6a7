// Filters in every kernel: any number of different ones, in one grid and in several, wrapped and plain, set before and
// after the bulk update, for every SIMD target and number of threads; and what filters leave out costs no tests.
#include "base/simd.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <random>

namespace quadrat::filter_test {
namespace {

using test::same_self_pairs;

bool oracle_meet(const Filter& a, const Filter& b) {
    return (a.group & b.mask) != 0 && (b.group & a.mask) != 0;
}

template <int D, class T>
std::vector<Pair> expected_pairs(std::span<const Box<D, T>> boxes, const std::vector<Filter>& filters) {
    std::vector<Pair> pairs = test::oracle_pairs(boxes);
    std::erase_if(pairs, [&](const Pair& p) { return !oracle_meet(filters[p.first], filters[p.second]); });
    return pairs;
}

template <class K>
class Filters : public testing::Test {};
TYPED_TEST_SUITE(Filters, test::Kinds);

/// `kinds` different filters, the first of them the default.
std::vector<Filter> some_filters(std::size_t n, std::uint32_t kinds, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Filter> all{Filter{}}, some(n);
    while (all.size() < kinds)
        all.push_back(
            {static_cast<std::uint32_t>(random() & random() & random()), static_cast<std::uint32_t>(random())});
    for (Filter& f : some) f = all[random() % kinds];
    return some;
}

TYPED_TEST(Filters, AreThoseOfBruteForceForAnyNumberOfThem) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto scene : {workloads::BoxScene::equal, workloads::BoxScene::mix, workloads::BoxScene::clustered})
        for (const std::uint32_t kinds : {2u, 15u, 16u, 40u}) {
            const std::size_t n = test::scaled(3000, 1500, 700);
            workloads::MovingBoxes<D, T> world(scene, n);
            const std::vector<Filter> filters = some_filters(n, kinds, kinds);
            const std::vector<Pair> expected = expected_pairs(world.boxes(), filters);
            HashGridHierarchy<D, T> grid;
            grid.insert(world.boxes());
            std::vector<Pair> pairs;
            grid.find_pairs(pairs);
            for (std::uint32_t i = 0; i < n; ++i) grid.set_filter(grid.id(i), filters[i]);
            grid.find_pairs(pairs);
            EXPECT_TRUE(same_self_pairs(expected, pairs)) << "set after the update, " << kinds;
            grid.update(world.boxes());
            base::for_each_simd_target([&] {
                grid.find_pairs(pairs);
                EXPECT_TRUE(same_self_pairs(expected, pairs)) << "set before the update, " << kinds;
            });
        }
}

TYPED_TEST(Filters, GiveTheSameBytesForAnyNumberOfThreads) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(40'000, 20'000, 18'000);
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::equal, n);
    for (const std::uint32_t kinds : {3u, 20u}) {
        std::vector<std::vector<Pair>> found;
        const std::vector<Filter> filters = some_filters(n, kinds, 5);
        for (const unsigned threads : {1u, 2u, 7u}) {
            const auto executor = make_executor(threads);
            HashGridHierarchy<D, T> grid({.executor = executor.get()});
            grid.insert(world.boxes());
            for (std::uint32_t i = 0; i < n; i += 1 + i % 7) grid.set_filter(grid.id(i), filters[i]);
            grid.update(world.boxes());
            grid.find_pairs(found.emplace_back());
            base::for_each_simd_target([&] {
                std::vector<Pair> again;
                grid.find_pairs(again);
                EXPECT_TRUE(again == found[0]);
            });
        }
        EXPECT_FALSE(found[0].empty());
    }
}

// One object with a filter, wherever it is: its neighbours are in other slabs, too.
TEST(FilterRules, OfOneObjectAreNotLost) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, test::scaled(20'000, 6000));
    const std::vector<Pair> all = test::oracle_pairs(world.boxes());
    HashGridHierarchy<3, float> grid;
    grid.insert(world.boxes());
    std::vector<Pair> pairs;
    for (std::uint32_t i = 7; i < world.boxes().size(); i += 499) {
        grid.set_filter(grid.id(i), {.group = 0});
        grid.update(world.boxes());
        grid.find_pairs(pairs);
        std::vector<Pair> expected = all;
        std::erase_if(expected, [&](const Pair& p) { return p.first == i || p.second == i; });
        EXPECT_TRUE(same_self_pairs(expected, pairs)) << i;
        grid.set_filter(grid.id(i), {});
    }
    grid.find_pairs(pairs);
    EXPECT_TRUE(same_self_pairs(all, pairs));
}

TEST(FilterRules, LeaveOutWhatMeetsNothing) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 20'000);
    HashGridHierarchy<3, float> grid;
    grid.insert(world.boxes());
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    const std::uint64_t plain = grid.stats().tests;
    for (std::uint32_t i = 0; i < world.boxes().size(); ++i)
        if (i % 10 != 0) grid.set_filter(grid.id(i), {.group = 4, .mask = 8});
    grid.update(world.boxes());
    grid.find_pairs(pairs);
    EXPECT_LT(grid.stats().tests * 3, plain);
    EXPECT_GT(pairs.size(), 50u);
    // They are still there for queries.
    std::vector<std::uint32_t> found;
    grid.find(world.boxes()[1], found);
    EXPECT_NE(std::find(found.begin(), found.end(), 1u), found.end());
}

}  // namespace
}  // namespace quadrat::filter_test
