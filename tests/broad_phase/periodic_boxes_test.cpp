// Boxes in periodic worlds beside all pairs and shifts tried one by one.
#include "base/random.hpp"
#include "support/kinds.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::periodic_test {
namespace {

template <int D>
bool before(const ImagePair<D>& a, const ImagePair<D>& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return std::lexicographical_compare(a.shift.v, a.shift.v + D, b.shift.v, b.shift.v + D);
}

/// Every shift that could bring the second box near the first is tried.
template <int D, class T>
std::vector<ImagePair<D>> oracle(const std::vector<Box<D, T>>& boxes, const Vec<D, T>& period) {
    std::vector<ImagePair<D>> pairs;
    for (std::uint32_t i = 0; i < boxes.size(); ++i)
        for (std::uint32_t j = i + 1; j < boxes.size(); ++j) {
            std::vector<std::int32_t> shifts[D];
            for (int k = 0; k < D; ++k) {
                const double L = period[k];
                const int about = L == 0 ? 0 : int(std::lround((double(boxes[i].lo[k]) - double(boxes[j].lo[k])) / L));
                for (int s = L == 0 ? 0 : about - 3; s <= (L == 0 ? 0 : about + 3); ++s) {
                    const double by = s * L;
                    if (double(boxes[i].lo[k]) <= double(boxes[j].hi[k]) + by &&
                        double(boxes[j].lo[k]) + by <= double(boxes[i].hi[k]))
                        shifts[k].push_back(s);
                }
            }
            for (const std::int32_t x : shifts[0])
                for (const std::int32_t y : shifts[1]) {
                    if constexpr (D == 2) pairs.push_back({i, j, {{x, y}}});
                    if constexpr (D == 3)
                        for (const std::int32_t z : shifts[2]) pairs.push_back({i, j, {{x, y, z}}});
                }
        }
    std::sort(pairs.begin(), pairs.end(), before<D>);
    return pairs;
}

template <class K>
class Periodic : public testing::Test {};
TYPED_TEST_SUITE(Periodic, test::Kinds);

TYPED_TEST(Periodic, IsAllShiftsTriedOneByOne) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(900, 500, 250);
    base::SplitMix random(77);
    std::size_t shifted = 0;
    // Sizes up to a hundredth, a quarter and nearly the whole of the period; one axis open; boxes far away; on a
    // lattice whose faces touch across the border.
    for (const double size : {0.05, 0.25, 0.99})
        for (const bool open : {false, true})
            for (const double away : {0.0, 3.0, 1e5}) {
                Vec<D, T> period;
                for (int k = 0; k < D; ++k) period[k] = open && k == 1 ? T(0) : T(10 + k);
                PeriodicBoxes<D, T> world({.period = period, .grid = {.all_pairs_below = 0}});
                for (int step = 0; step < 3; ++step) {
                    std::vector<Box<D, T>> boxes(size > 0.5 ? n / 8 : n - 40 * step);
                    for (auto& box : boxes)
                        for (int k = 0; k < D; ++k) {
                            const double L = 10 + k;
                            double at = random.uniform(-away * L, (away + 1) * L), wide = random.uniform(0, size * L);
                            if (step == 2) {
                                at = std::floor(at * 2) / 2;
                                wide = std::floor(wide * 2) / 2;
                            }
                            box.lo[k] = T(at);
                            box.hi[k] = T(at + std::min(wide, 0.98 * L));
                        }
                    world.update(boxes);
                    EXPECT_EQ(world.size(), boxes.size());
                    std::vector<ImagePair<D>> pairs;
                    world.find_pairs(pairs);
                    std::sort(pairs.begin(), pairs.end(), before<D>);
                    const auto expected = oracle(boxes, period);
                    EXPECT_TRUE(pairs == expected) << pairs.size() << " of " << expected.size() << ", size " << size
                                                   << ", away " << away << ", step " << step;
                    shifted +=
                        static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(), [](const auto& p) {
                            return !(p.shift == Vec<D, std::int32_t>{});
                        }));
                }
            }
    EXPECT_GT(shifted, 1000u);
}

TYPED_TEST(Periodic, OpenEverywhereIsTheHierarchy) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(5);
    std::vector<Box<D, T>> boxes(2000);
    for (auto& box : boxes)
        for (int k = 0; k < D; ++k) {
            box.lo[k] = T(random.uniform(-20, 20));
            box.hi[k] = box.lo[k] + T(random.uniform(0, 3));
        }
    boxes[3].hi[0] = std::numeric_limits<T>::infinity();
    PeriodicBoxes<D, T> world({});
    world.update(boxes);
    std::vector<ImagePair<D>> pairs;
    world.find_pairs(pairs);
    std::vector<Pair> found, expected = find_pairs(boxes);
    for (const auto& p : pairs) {
        EXPECT_EQ(p.shift, (Vec<D, std::int32_t>{}));
        found.push_back({p.first, p.second});
    }
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_TRUE(found == expected);
    EXPECT_EQ(world.stats().images, 0u);
}

TEST(PeriodicRules, TheSameBytesForAnyNumberOfThreads) {
    const std::size_t n = test::scaled(60'000, 20'000, 17'000);
    base::SplitMix random(9);
    std::vector<Box3f> boxes(n);
    for (auto& box : boxes)
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = static_cast<float>(random.uniform(0, 40));
            box.hi[k] = box.lo[k] + 1;
        }
    std::vector<ImagePair<3>> first;
    for (const unsigned threads : {1u, 2u, 7u}) {
        const auto executor = make_executor(threads);
        PeriodicBoxes<3, float> world({.period = {{40, 40, 40}}, .grid = {.executor = executor.get()}});
        world.update(boxes);
        std::vector<ImagePair<3>> pairs;
        world.find_pairs(pairs);
        if (first.empty()) first = pairs;
        EXPECT_FALSE(pairs.empty());
        EXPECT_TRUE(pairs == first) << threads;
    }
}

TEST(PeriodicRules, RefusesWhatItCannotHold) {
    const auto kind = [](auto&& call) { return test::thrown_by(call).where().field; };
    for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan(""), 1e-310})
        EXPECT_EQ(kind([&] { PeriodicBoxes<2, double> w({.period = {{bad, 1}}}); }), "period");
    PeriodicBoxes<2, double> world({.period = {{1, 0}}, .grid = {.max_bytes = 16}});
    const std::vector<Box2d> good{{{{0.9, 0}}, {{1.2, 1}}}, {{{0.1, 0}}, {{0.15, 1}}}};
    world.update(good);
    for (const Box2d& bad :
         {Box2d{{{0, 0}}, {{1, 1}}}, Box2d{{{1e10, 0}}, {{1e10 + 0.5, 1}}},
          Box2d{{{0, 0}}, {{std::numeric_limits<double>::infinity(), 1}}}, Box2d{{{0, 2}}, {{0.5, 1}}}}) {
        const Error e = test::thrown_by([&] { world.update(std::vector<Box2d>{good[0], bad}); });
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().index, 1u);
    }
    std::vector<ImagePair<2>> pairs;
    world.find_pairs(pairs);
    EXPECT_EQ(pairs, (std::vector<ImagePair<2>>{{0, 1, {{1, 0}}}}));
    world.update(std::vector<Box2d>(3, good[0]));
    EXPECT_EQ(test::thrown_by([&] { world.find_pairs(pairs); }).kind(), ErrorKind::too_large);
    EXPECT_TRUE(pairs.empty());
    world.update(std::vector<Box2d>{});
    world.find_pairs(pairs);
    EXPECT_EQ(world.size(), 0u);
}

}  // namespace
}  // namespace quadrat::periodic_test
