// The 16-bit coordinates of a grid: monotone, the same on every target, and never more than a filter, since what they
// leave open the boxes decide. Scenes are those in which they decide least: faces that touch exactly or miss by one
// rounding, rows that are longer than differences reach, boxes beyond the border of the grid.
#include "broad_phase/sorted/fine_grid.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace quadrat;
using broad_phase::FineGrid;

template <class K>
class FineCoordinates : public testing::Test {};
TYPED_TEST_SUITE(FineCoordinates, test::Kinds);

template <int D, class T>
void expect_right(const std::vector<Box<D, T>>& boxes, const char* what) {
    const std::span<const Box<D, T>> span(boxes);
    BruteForce<D, T> oracle;
    oracle.build(span);
    std::vector<Pair> expected, pairs;
    oracle.find_pairs(expected);
    ASSERT_FALSE(expected.empty()) << what;
    base::for_each_simd_target([&] {
        HashGridHierarchy<D, T> grid({.all_pairs_below = 0});
        grid.insert(span);
        grid.find_pairs(pairs);
        EXPECT_TRUE(test::same_self_pairs(expected, pairs)) << what;
    });
}

TYPED_TEST(FineCoordinates, AreMonotoneAndTheSameOnEveryTarget) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    broad_phase::GridDemand<D, T> demand;
    demand.objects = 1000;
    for (int k = 0; k < D; ++k) {
        demand.first_corner[k] = T(-3);
        demand.last_corner[k] = T(40);
        demand.largest[k] = T(1.25);
    }
    const auto shape = broad_phase::GridShape<D, T>::fitting(demand, broad_phase::Overflow::enlarge);
    const FineGrid<D, T> fine = FineGrid<D, T>::of(shape, 1000);
    EXPECT_GT(fine.longest, 2 * shape.axis[0].reach);
    base::SplitMix random(3);
    std::vector<T> x(1003);
    for (T& v : x) v = static_cast<T>(random.uniform(-10, 50));
    std::sort(x.begin(), x.end());
    std::vector<broad_phase::Record<D, T>> records(x.size() + 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (int k = 0; k < D; ++k) records[i].box.lo[k] = records[i].box.hi[k] = x[i];
        records[i].id = static_cast<std::uint32_t>(7 * i);
        records[i].key = i < 500 ? 1 : 0;  // the first five hundred go behind the others
    }
    const auto n = static_cast<std::uint32_t>(x.size());
    constexpr std::size_t stride = 1100;
    base::for_each_simd_target([&] {
        std::vector<broad_phase::FineRecord> fine_records(n + 8);
        std::vector<std::uint32_t> next{0, n - 500}, id(n);
        broad_phase::fine_scatter<D, T>(fine, records.data(), n, 3, next.data(), fine_records.data());
        EXPECT_EQ(next, (std::vector<std::uint32_t>{n - 500, n}));
        std::vector<std::uint16_t> columns(2 * D * stride, 4711);
        broad_phase::fine_columns(fine_records.data(), n, 2 * D, columns.data(), stride, id.data());
        for (std::uint32_t at = 0; at < n; ++at) {
            const std::uint32_t i = at < n - 500 ? at + 500 : at - (n - 500);
            ASSERT_EQ(id[at], 7 * i);
            ASSERT_EQ(fine_records[at].id, 7 * i);
            ASSERT_EQ(fine_records[at].bin, i < 500 ? 1u : 0u);
            ASSERT_EQ(fine_records[at].from, i + 3);
            for (int k = 0; k < D; ++k) {
                const auto lo = columns[static_cast<std::size_t>(k) * stride + at];
                ASSERT_EQ(lo, static_cast<std::uint16_t>(fine.axis[k](x[i]) - 1));
                ASSERT_EQ(columns[static_cast<std::size_t>(k + D) * stride + at], static_cast<std::uint16_t>(-lo - 2));
                // Near each other, as differences modulo 2^16 are used.
                if (at > 0 && i > 0 && x[i] >= x[i - 1] && x[i] - x[i - 1] < 1 && i != 500) {
                    const auto before = columns[static_cast<std::size_t>(k) * stride + at - 1];
                    ASSERT_GE(static_cast<std::int16_t>(lo - before), 0);
                }
            }
        }
        EXPECT_EQ(columns[n + 7], 4711) << "wrote too far";
    });
}

// A wall of bricks: every face touches another one exactly, or misses it by one rounding.
TYPED_TEST(FineCoordinates, LeaveTouchingFacesToTheBoxes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const double edge : {1.0, 0.1, 1.0 / 3}) {
        base::SplitMix random(9);
        const int per_axis = D == 2 ? 32 : 10;
        std::vector<Box<D, T>> boxes;
        for (int i = 0; i < (D == 2 ? 1024 : 1000); ++i) {
            Box<D, T> box;
            int rest = i;
            for (int k = 0; k < D; ++k, rest /= per_axis) {
                box.lo[k] = static_cast<T>(edge * (rest % per_axis - 5));
                box.hi[k] = static_cast<T>(edge * (rest % per_axis - 4));
                const auto choice = random.below(4);
                if (choice == 0) box.hi[k] = std::nextafter(box.hi[k], std::numeric_limits<T>::lowest());
                if (choice == 1) box.lo[k] = std::nextafter(box.lo[k], std::numeric_limits<T>::max());
            }
            boxes.push_back(box);
        }
        expect_right<D, T>(boxes, "bricks");
    }
}

TYPED_TEST(FineCoordinates, RowsMayBeLongAndEmpty) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(11);
    std::vector<Box<D, T>> boxes(1500);
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (int k = 0; k < D; ++k) {
            // Some near the one before, so that there are pairs.
            const double at = i % 3 == 1 ? double(boxes[i - 1].lo[k]) + random.uniform(-0.5, 0.5)
                                         : random.uniform(0, k == 0 ? 3e6 : 5);
            boxes[i].lo[k] = static_cast<T>(at);
            boxes[i].hi[k] = boxes[i].lo[k] + static_cast<T>(random.uniform(0.2, 1));
        }
    expect_right<D, T>(boxes, "along x");
    for (auto& box : boxes) {
        std::swap(box.lo[0], box.lo[D - 1]);
        std::swap(box.hi[0], box.hi[D - 1]);
    }
    expect_right<D, T>(boxes, "across");
}

// The sample that grids are made for sees every sixteenth box or so: the others lie far outside, on all sides.
TYPED_TEST(FineCoordinates, BoxesBeyondTheBorderAreComparedExactly) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::equal, test::scaled(20'000, 3000));
    std::vector<Box<D, T>> boxes(world.boxes().begin(), world.boxes().end());
    base::SplitMix random(13);
    for (std::size_t i = 1; i < boxes.size(); i += 64)
        for (int k = 0; k < D; ++k) {
            const T by =
                static_cast<T>((random.below(3) == 0 ? 1000.0 : 0.0) * (random.below(2) ? 1 : -1) * random.uniform());
            for (std::size_t j = i; j < i + 3 && j < boxes.size(); ++j) {
                boxes[j].lo[k] = boxes[i].lo[k] + by + static_cast<T>(random.uniform());
                boxes[j].hi[k] = boxes[j].lo[k] + 1;
            }
        }
    const std::span<const Box<D, T>> span(boxes);
    BruteForce<D, T> oracle;
    oracle.build(span);
    std::vector<Pair> expected, pairs;
    oracle.find_pairs(expected);
    HashGridHierarchy<D, T> grid;
    grid.insert(span);
    grid.find_pairs(pairs);
    EXPECT_TRUE(test::same_self_pairs(expected, pairs));
}

}  // namespace
