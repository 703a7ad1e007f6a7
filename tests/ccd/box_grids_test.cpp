// The jobs of the mesh broad phase together give the pairs of a HashGridHierarchy.
#include "ccd/pipeline/box_grids.hpp"
#include "support/scale.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace quadrat {
namespace {

std::vector<Box3f> boxes(std::size_t n, unsigned seed, bool with_giants) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> place(-10, 10), size(0, 0.3f);
    std::vector<Box3f> all(n);
    for (Box3f& b : all)
        for (int k = 0; k < 3; ++k) {
            b.lo[k] = place(random) * (k == 1 ? 3.0f : 1.0f);
            b.hi[k] = b.lo[k] + size(random);
        }
    if (with_giants)
        for (std::size_t i = 0; i < n; i += n / 3 + 1) all[i] = {{{-50, -50, -50}}, {{50, 50, 50}}};
    return all;
}

// All jobs together, sorted; a pair that came twice stays twice.
template <class Jobs, class Find>
std::vector<Pair> all(const Jobs& jobs, Find&& find) {
    std::vector<Pair> pairs;
    for (const ccd::PairJob& job : jobs) find(job, pairs);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

TEST(BoxGrids, EqualHierarchy) {
    for (const std::size_t n : {0u, 1u, 700u, test::scaled(40000u, 40000u, 9000u)})
        for (const bool giants : {false, true})
            for (const bool infinite : {false, true}) {
                std::vector<Box3f> a = boxes(n / 2, 1, giants), b = boxes(n, 2, giants);
                if (infinite && n > 10) {
                    const float inf = std::numeric_limits<float>::infinity();
                    a[3] = b[5] = {{{-inf, 0, 0}}, {{inf, 1, 1}}};
                    b[7] = {{{0, -inf, -inf}}, {{0, inf, inf}}};
                }
                HashGridHierarchy<3, float> first, second;
                first.insert(a);
                second.insert(b);
                std::vector<Pair> within, between;
                second.find_pairs(within);
                find_pairs(first, second, between);
                std::sort(within.begin(), within.end());
                std::sort(between.begin(), between.end());
                ThreadExecutor threads(2);
                std::vector<std::vector<Pair>> by_threads;
                for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&threads)}) {
                    ccd::BoxGrids u, v;
                    u.build(a, executor);
                    v.build(b, executor);
                    EXPECT_EQ(all(jobs_within(v), [&](auto& job, auto& out) { find_pairs_within(v, job, out); }),
                              within);
                    EXPECT_EQ(
                        all(jobs_between(u, v), [&](auto& job, auto& out) { find_pairs_between(u, v, job, out); }),
                        between);
                    std::vector<Pair> unsorted;
                    for (const ccd::PairJob& job : jobs_within(v)) find_pairs_within(v, job, unsorted);
                    by_threads.push_back(unsorted);
                }
                EXPECT_EQ(by_threads[0], by_threads[1]);
            }
}

// One grid for most boxes and one for a tail that is not too long, along whichever axis it is.
TEST(BoxGrids, ATailGetsAGridOfItsOwn) {
    for (int axis = 0; axis < 3; ++axis) {
        std::vector<Box3f> set = boxes(5000, 5, false);
        for (Box3f& box : set)
            for (int k = 0; k < 3; ++k) box.hi[k] = box.lo[k] + 0.3f;
        for (std::size_t i = 0; i < set.size(); i += 40) set[i].hi[axis] = set[i].lo[axis] + 2.4f;
        ccd::BoxGrids grids;
        grids.build(set, nullptr);
        EXPECT_EQ(grids.misfits().size(), 0u) << axis;
        ASSERT_EQ(grids.grids().grids().size(), 2u) << axis;
        EXPECT_GT(grids.grids().grids()[0].shape.cells(), set.size() / 4) << axis;
        EXPECT_GT(grids.grids().grids()[0].size, set.size() * 9 / 10) << axis;
    }
}

}  // namespace
}  // namespace quadrat
