// Promises of a HashGridHierarchy beside its pairs: ids, limits, stopping, chunks, memory of single edits, queries at
// exactly their radius, and const calls side by side.
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <thread>

namespace {

using namespace quadrat;
using test::same_self_pairs;
using test::thrown_by;

template <class T>
std::span<const T> view(const std::vector<T>& v) {
    return v;
}

const Box3f unit{{0, 0, 0}, {1, 1, 1}};

TEST(HashGridIds, StayStaleWhenEverythingIsCleared) {
    HashGridHierarchy<3, float> grid;
    const Id one = grid.insert(unit), gone = grid.insert(unit);
    grid.erase(gone);
    grid.clear();
    EXPECT_EQ(grid.size(), 0u);
    EXPECT_FALSE(grid.contains(one));
    const Id again = grid.insert(unit);
    grid.insert(view(std::vector<Box3f>(20, unit)));
    EXPECT_NE(again, one);
    for (const Id id : {one, gone}) {
        EXPECT_FALSE(grid.contains(id));
        EXPECT_EQ(thrown_by([&] { grid.erase(id); }).kind(), ErrorKind::stale_id);
    }
    EXPECT_EQ(grid.size(), 21u);
}

// Slots at the end that were erased are forgotten by the next bulk insert, while their records are still there.
TEST(HashGridIds, RecordsOfForgottenSlotsDoNotCount) {
    HashGridHierarchy<3, float> grid;
    std::vector<Box3f> boxes(2000, unit);
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (Vec3f* corner : {&boxes[i].lo, &boxes[i].hi}) (*corner)[0] += 0.75f * static_cast<float>(i);
    grid.insert(view(boxes));
    for (std::uint32_t i = 1990; i < 2000; ++i) grid.erase(grid.id(i));
    grid.insert(view(std::vector<Box3f>(3, boxes[1989])));
    EXPECT_EQ(grid.slots(), 1993u);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    std::vector<Box3f> now(boxes.begin(), boxes.begin() + 1990);
    now.insert(now.end(), 3, boxes[1989]);
    EXPECT_TRUE(same_self_pairs(test::oracle_pairs(view(now)), pairs));
    EXPECT_EQ(grid.insert(std::span<const Box3f>()), 1993u);
    EXPECT_EQ(grid.slots(), 1993u);
    grid.erase(grid.id(1992));
    EXPECT_EQ(grid.insert(std::span<const Box3f>()), 1993u);  // nothing is nothing
    EXPECT_EQ(grid.slots(), 1993u);
}

TEST(HashGridLimits, HoldForPredicatesAndTwoSets) {
    const std::vector<Box3f> boxes(100, unit);
    HashGridHierarchy<3, float> small({.max_bytes = 80}), large;
    small.insert(view(boxes));
    large.insert(view(boxes));
    std::vector<Pair> out;
    const auto too_large = [&](auto&& call) {
        const Error e = thrown_by(call);
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
        EXPECT_TRUE(out.empty());
        return e.message();
    };
    const auto all = [](const Pair&) { return true; };
    EXPECT_NE(too_large([&] { small.find_pairs(out, all); }).find("39600"), std::string::npos);
    EXPECT_NE(too_large([&] { find_pairs_if(large, out, all, 80); }).find("39600"), std::string::npos);
    EXPECT_NE(too_large([&] { find_pairs(small, large, out); }).find("80000"), std::string::npos);
    EXPECT_NE(too_large([&] { find_pairs(large, small, out); }).find("80000"), std::string::npos);
    small.find_pairs(out, [](const Pair& p) { return p.first == 0 && p.second < 11; });
    EXPECT_EQ(out.size(), 10u);
}

TEST(HashGridStop, LeavesNothing) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, test::scaled(40'000, 20'000));
    for (const unsigned threads : {1u, 2u, 7u}) {
        StopSource stop;
        ThreadExecutor executor(threads);
        std::size_t reports = 0;
        HashGridHierarchy<3, float> grid(
            {.executor = threads > 1 ? &executor : nullptr, .watch = {.stop = stop, .report = [&](double) {
                                                                          if (++reports == 2) stop.request_stop();
                                                                      }}});
        grid.insert(world.boxes());
        std::vector<Pair> pairs(5);
        EXPECT_EQ(thrown_by([&] { grid.find_pairs(pairs); }).kind(), ErrorKind::stopped);
        EXPECT_TRUE(pairs.empty());
        std::size_t seen = 0;
        EXPECT_EQ(thrown_by([&] { grid.for_each_pair([&](Pair) { ++seen; }); }).kind(), ErrorKind::stopped);
        EXPECT_EQ(thrown_by([&] { find_pairs(grid, grid, pairs); }).kind(), ErrorKind::stopped);
    }
}

TEST(HashGridChunks, AreThePairs) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::sizes, test::scaled(30'000, 8000));
    ThreadExecutor three(3);
    HashGridHierarchy<3, float> grid({.executor = &three});
    grid.insert(world.boxes());
    for (std::uint32_t i = 0; i < 500; ++i) grid.move(grid.id(7 * i), world.boxes()[i]);  // some of them loose
    std::vector<Pair> expected, chunked;
    grid.find_pairs(expected);
    std::mutex mutex;
    grid.for_each_chunk([&](std::span<const Pair> pairs) {
        EXPECT_FALSE(pairs.empty());
        const std::lock_guard lock(mutex);
        chunked.insert(chunked.end(), pairs.begin(), pairs.end());
    });
    EXPECT_TRUE(same_self_pairs(expected, chunked));
}

// Coordinates that are denormal, or near it, have cells of their own.
template <class K>
class HashGridDenormals : public testing::Test {};
TYPED_TEST_SUITE(HashGridDenormals, test::Kinds);
TYPED_TEST(HashGridDenormals, AreNotTestedAllAgainstAll) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const workloads::MovingBoxes<D, T> world(workloads::BoxScene::equal, 4000);
    for (const double edge : {0x1p13, 0x1p20, 0x1p30}) {  // of the smallest number
        std::vector<Box<D, T>> boxes(world.boxes().begin(), world.boxes().end());
        for (Box<D, T>& box : boxes)
            for (int k = 0; k < D; ++k) {
                box.lo[k] = static_cast<T>(double(box.lo[k]) * edge) * std::numeric_limits<T>::denorm_min();
                box.hi[k] = box.lo[k] + static_cast<T>(edge) * std::numeric_limits<T>::denorm_min();
            }
        HashGridHierarchy<D, T> grid;
        grid.insert(view(boxes));
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        EXPECT_TRUE(same_self_pairs(test::oracle_pairs(view(boxes)), pairs));
        EXPECT_LT(grid.stats().tests, 1'000'000u);
    }
}

TEST(HashGridMemory, EmptyGridsGo) {
    HashGridHierarchy<2, double> grid({.factor = 1.01});
    const Id id = grid.insert(Box2d{{0, 0}, {1, 1}});
    const std::size_t before = grid.stats().bytes;
    for (int i = 0; i < 600; ++i) {
        const double size = std::pow(1.03, i);
        grid.move(id, {{0, 0}, {size, size}});
    }
    EXPECT_LT(grid.stats().bytes, before + 4 * 16 * 16 * 8 + 4096);
    grid.erase(id);
    EXPECT_LT(grid.stats().bytes, 8192u);
}

TEST(HashGridOptions, AreChecked) {
    const auto refused = [](const HashGridOptions& options, const char* field) {
        EXPECT_EQ(thrown_by([&] { HashGridHierarchy<3, float>{options}; }).where().field, field);
    };
    refused({.initial_cells = 17}, "initial_cells");
    refused({.initial_cells = 128}, "initial_cells");
    refused({.min_cells = 2}, "min_cells");
    refused({.factor = 1}, "factor");
    refused({.cells_per_object = 0}, "cells_per_object");
    EXPECT_NO_THROW((HashGridHierarchy<2, float>({.initial_cells = 256, .min_cells = 8, .row_reserve = 5})));
}

// What nearest() calls the distance is a radius that finds the object.
template <class K>
class NearestAndSpheres : public testing::Test {};
TYPED_TEST_SUITE(NearestAndSpheres, test::Kinds);
TYPED_TEST(NearestAndSpheres, AgreeOnTheDistance) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < 4000; ++i) {
        HashGridHierarchy<D, T> grid;
        Box<D, T> box;
        Vec<D, T> point;
        const double scale = std::exp2(20 * uniform(random));
        for (int k = 0; k < D; ++k) {
            box.lo[k] = static_cast<T>(scale * uniform(random));
            box.hi[k] = box.lo[k] + static_cast<T>(0.2 * scale);
            // Often along one axis only, where nothing is lost in a root.
            point[k] =
                k == i % D ? static_cast<T>(3 * scale * uniform(random)) : box.lo[k] + static_cast<T>(0.1 * scale);
        }
        if (i % 2 == 0)
            grid.insert(box);
        else
            grid.insert(std::span<const Box<D, T>>(&box, 1));
        const auto hit = grid.nearest(point);
        ASSERT_TRUE(hit.has_value());
        if (sizeof(T) == 4 && static_cast<double>(hit->distance) < 0) continue;
        std::vector<std::uint32_t> found;
        // In float the distance is rounded from double.
        const T radius = sizeof(T) == 4 ? std::nextafter(hit->distance, std::numeric_limits<T>::max()) : hit->distance;
        grid.find(Sphere<D, T>{point, radius}, found);
        EXPECT_EQ(found.size(), 1u) << i;
    }
}

// Everything that is const, at the same time: the arrays that queries need are made by whoever comes first.
TEST(HashGridConcurrency, ConstCallsSideBySide) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::sizes, 4000);
    HashGridHierarchy<3, float> grid, other;
    other.insert(world.boxes());
    for (int round = 0; round < 6; ++round) {
        if (round == 0)
            grid.insert(world.boxes());
        else {
            world.step();
            grid.update(world.boxes());
            for (std::uint32_t i = 0; i < 40; ++i) grid.move(grid.id(i * 50), world.boxes()[i]);
        }
        std::vector<Pair> expected;
        std::vector<std::vector<std::uint32_t>> rows;
        const auto ask = [&](const HashGridHierarchy<3, float>& g, auto&& row) {
            std::vector<std::uint32_t> found;
            for (std::size_t q = 0; q < 200; ++q) {
                g.find(world.boxes()[q * 7], found);
                std::sort(found.begin(), found.end());
                row(q, found);
            }
        };
        std::atomic<int> wrong{0}, waiting{4};
        std::vector<std::vector<Pair>> pairs(4);
        std::vector<std::vector<std::vector<std::uint32_t>>> all(4);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                --waiting;
                while (waiting != 0) std::this_thread::yield();
                const auto mine = static_cast<std::size_t>(t);
                if (t % 2 == 0) grid.find_pairs(pairs[mine]);
                ask(grid, [&](std::size_t, const std::vector<std::uint32_t>& found) { all[mine].push_back(found); });
                if (t % 2 == 1) grid.find_pairs(pairs[mine]);
                std::vector<Pair> between;
                find_pairs(grid, other, between);
                wrong += between.empty();
                wrong += !grid.nearest(world.boxes()[0].lo);
                wrong += !grid.closest_hit({.origin = world.boxes()[0].lo, .direction = {1, 0, 0}});
                wrong += grid.stats().bytes == 0;
            });
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(wrong, 0);
        for (std::size_t t = 1; t < 4; ++t) {
            EXPECT_EQ(pairs[0], pairs[t]);
            EXPECT_EQ(all[0], all[t]);
        }
    }
}

}  // namespace
