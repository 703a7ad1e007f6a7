#include "broad_phase/hashes/group_map.hpp"

#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace quadrat {
namespace {

template <int D, class T>
std::vector<Box<D, T>> random_boxes(std::mt19937_64& random, std::size_t n, int character) {
    std::uniform_real_distribution<double> real(-1, 1);
    std::vector<Box<D, T>> boxes(n);
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < D; ++k) {
            double size = 0.2, place = real(random);
            if (character == 1) size = std::pow(10.0, -3 + 3 * std::abs(real(random)));
            if (character == 2) size = 0, place = std::floor(place * 4);
            if (character == 3) size = i % 50 == 0 ? 1e3 : 0.01;
            if (character == 4) size *= 1e20, place *= 1e20;
            if (character == 5 && i == 0) place = 1e9;
            boxes[i].lo[k] = static_cast<T>(place);
            boxes[i].hi[k] = static_cast<T>(place + size * std::abs(real(random)));
            if (character == 6 && i % 40 == 0) boxes[i].hi[k] = std::numeric_limits<T>::infinity();
        }
    return boxes;
}

template <int D, class T>
void compare(const GroupHash<D, T>& hash, const std::vector<Box<D, T>>& boxes) {
    std::vector<Pair> found, truth;
    hash.find_pairs(found);
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        for (std::uint32_t j = i + 1; j < boxes.size(); ++j)
            if (overlap(boxes[i], boxes[j])) truth.push_back({i, j});
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, truth);
    std::size_t visited = 0;
    hash.for_each_pair([&](Pair) { ++visited; });
    ASSERT_EQ(visited, truth.size());
}

// All objects of a voxel meet: the same pairs and tests, but more is looked at.
template <int D, class T>
void compare_as_in_the_paper(const broad_phase::GroupMap<D, T>& mixed, const GroupHash<D, T>& hash) {
    std::vector<Pair> found, by_cell;
    mixed.find_pairs(found);
    hash.find_pairs(by_cell);
    std::sort(found.begin(), found.end());
    std::sort(by_cell.begin(), by_cell.end());
    ASSERT_EQ(found, by_cell);
    EXPECT_EQ(mixed.stats().tests, hash.stats().tests);
    EXPECT_GE(mixed.compared(), mixed.stats().tests);
}

template <int D, class T>
void sweep() {
    std::mt19937_64 random(D * 10 + sizeof(T));
    for (int character = 0; character < 7; ++character)
        for (const std::uint32_t group : {1u, 3u, 8u})
            for (int repeat = 0; repeat < 2; ++repeat) {
                GroupHash<D, T> hash({.group_size = group});
                broad_phase::GroupMap<D, T> mixed({.group_size = group}, broad_phase::VoxelOrder::mixed);
                const auto boxes = random_boxes<D, T>(random, 120, character);
                EXPECT_EQ(hash.insert(boxes), 0u);
                EXPECT_EQ(mixed.insert(boxes), 0u);
                compare(hash, boxes);
                compare_as_in_the_paper(mixed, hash);
                auto moved = random_boxes<D, T>(random, 120, (character + 1) % 7);
                hash.update(moved);
                mixed.update(moved);
                compare(hash, moved);
                compare_as_in_the_paper(mixed, hash);
            }
}

TEST(GroupHash, EqualsBruteForce) {
    sweep<2, float>();
    sweep<3, float>();
    sweep<2, double>();
    sweep<3, double>();
}

TEST(GroupHash, StaticObjectsStay) {
    std::mt19937_64 random(3);
    GroupHash<3, float> hash;
    auto still = random_boxes<3, float>(random, 80, 0);
    const auto moving = random_boxes<3, float>(random, 60, 0);
    hash.insert_static(still);
    EXPECT_EQ(hash.insert(moving), 80u);
    auto all = still;
    for (int step = 0; step < 3; ++step) {
        const auto next = random_boxes<3, float>(random, 60, 0);
        all.resize(80);
        all.insert(all.end(), next.begin(), next.end());
        auto given = all;
        given[3].lo[0] += 100;  // ignored: slot 3 is static
        given[3].hi[0] += 100;
        hash.update(given);
        compare(hash, all);
    }
}

TEST(GroupHash, LoadsAndGroupMapping) {
    std::mt19937_64 random(5);
    const auto boxes = random_boxes<3, float>(random, 4000, 0);
    std::uint32_t largest[2] = {};
    for (int g = 0; g < 2; ++g) {
        GroupHash<3, float> hash({.group_size = g == 0 ? 1u : 4u});
        hash.insert(boxes);
        const auto loads = hash.voxel_loads();
        EXPECT_EQ(loads.size(), hash.stats().voxels);
        EXPECT_EQ(loads.size(), 800u);  // n / 5
        EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), std::size_t{0}), hash.stats().entries);
        largest[g] = *std::max_element(loads.begin(), loads.end());
    }
    EXPECT_LE(largest[1], largest[0]);
}

TEST(GroupHash, SameOrderForAnyThreads) {
    std::mt19937_64 random(9);
    const auto boxes = random_boxes<3, double>(random, 3000, 1);
    std::vector<Pair> one, two;
    GroupHash<3, double> serial;
    serial.insert(boxes);
    serial.find_pairs(one);
    ThreadExecutor threads(3);
    GroupHash<3, double> parallel({.executor = &threads});
    parallel.insert(boxes);
    parallel.find_pairs(two);
    EXPECT_EQ(one, two);
}

TEST(GroupHash, BadInput) {
    GroupHash<3, float> hash;
    std::vector<Box3f> boxes(3, Box3f{{{0, 0, 0}}, {{1, 1, 1}}});
    boxes[2].lo[1] = std::numeric_limits<float>::quiet_NaN();
    try {
        hash.insert(boxes);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().index, 2u);
    }
    EXPECT_EQ(hash.slots(), 0u);
    std::vector<Pair> out(5);
    hash.find_pairs(out);
    EXPECT_TRUE(out.empty());
    EXPECT_THROW((GroupHash<3, float>({.group_size = 0})), Error);
    EXPECT_THROW(hash.update(std::span(boxes).first(1)), Error);
    boxes[2] = boxes[0];
    GroupHash<3, float> small({.max_bytes = 8});
    small.insert(boxes);
    EXPECT_THROW(small.find_pairs(out), Error);
}

}  // namespace
// An insert of nothing says nothing about sizes: cells are chosen by the first boxes.
TEST(GroupHash, AnEmptyInsertChoosesNoCells) {
    std::vector<Box3f> boxes;
    for (int i = 0; i < 500; ++i) {
        const float x = 1500.f * static_cast<float>(i);
        boxes.push_back({{x, 0, 0}, {x + 1000, 1000, 1000}});
    }
    GroupHash<3, float> hash;
    hash.insert(std::span<const Box3f>());
    hash.insert(std::span<const Box3f>(boxes));
    std::vector<Pair> pairs;
    hash.find_pairs(pairs);
    EXPECT_TRUE(pairs.empty());
    EXPECT_LT(hash.stats().tests, 10 * boxes.size());
    EXPECT_GT(hash.stats().cell_edge, 999);
}

}  // namespace quadrat
