// Where the ways into a HashGridHierarchy meet: single edits and bulk calls, filters, spheres, half-spaces, updates by
// every strategy, ranges, and what is given back when objects go.
#include "base/random.hpp"
#include "cells/segment_test.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

using namespace quadrat;
using test::same_pairs;
using test::same_self_pairs;
using test::thrown_by;

constexpr UpdateStrategy strategies[] = {UpdateStrategy::sorted, UpdateStrategy::individual, UpdateStrategy::reinsert};

template <class S>
std::vector<Pair> pairs_of(const S& structure) {
    std::vector<Pair> pairs;
    structure.find_pairs(pairs);
    return pairs;
}

template <class T>
std::span<const T> view(const std::vector<T>& v) {
    return v;
}

template <class K>
class HashGridStates : public testing::Test {};
TYPED_TEST_SUITE(HashGridStates, test::Kinds);

TEST(HashGridFilters, GrowWithBulkInserts) {
    for (const UpdateStrategy strategy : strategies) {
        HashGridHierarchy<3, float> grid({.update = strategy});
        grid.insert(Box3f{{0, 0, 0}, {1, 1, 1}}, Filter{2, 2});
        const std::vector<Box3f> boxes(300, Box3f{{0, 0, 0}, {1, 1, 1}});
        grid.insert(view(boxes));
        const auto pairs = pairs_of(grid);
        EXPECT_EQ(pairs.size(), 300u * 299 / 2);
        EXPECT_TRUE(std::ranges::none_of(pairs, [](Pair p) { return p.first == 0; }));
    }
}

TEST(HashGridFilters, HoldAtOnceWhereverTheObjectIs) {
    workloads::MovingBoxes<2, float> world(workloads::BoxScene::sizes, 1500);
    base::SplitMix random(3);
    for (const bool filtered_before : {false, true}) {
        HashGridHierarchy<2, float> grid;
        grid.insert(world.boxes());
        std::vector<Filter> filters(1500);
        const auto set = [&](std::uint32_t i, Filter f) {
            filters[i] = f;
            grid.set_filter(grid.id(i), f);
        };
        if (filtered_before) {
            for (std::uint32_t i = 0; i < 1500; ++i) set(i, {4, 0});  // nothing meets
            grid.update(world.boxes());
            EXPECT_TRUE(pairs_of(grid).empty());
        }
        for (std::uint32_t i = 0; i < 1500; i += 10) grid.move(grid.id(i), world.boxes()[i]);  // these are loose
        for (std::uint32_t i = 0; i < 1500; ++i)
            set(i, {1u << random.next() % 3, static_cast<std::uint32_t>(random.next() % 8)});
        std::vector<Pair> expected;
        for (const Pair p : test::oracle_pairs(world.boxes())) {
            const Filter a = filters[p.first], b = filters[p.second];
            if ((a.group & b.mask) && (b.group & a.mask)) expected.push_back(p);
        }
        ASSERT_FALSE(expected.empty());
        EXPECT_TRUE(same_self_pairs(expected, pairs_of(grid)));
        std::vector<Pair> streamed;
        grid.for_each_pair([&](Pair p) { streamed.push_back(p); });
        EXPECT_TRUE(same_self_pairs(expected, streamed));
        grid.update(world.boxes());
        EXPECT_TRUE(same_self_pairs(expected, pairs_of(grid)));
    }
}

TEST(HashGridFilters, HoldAtOnceBetweenTwoSets) {
    const std::vector<Box3f> two(2, Box3f{{0, 0, 0}, {1, 1, 1}}), one(1, two[0]);
    std::vector<Pair> pairs;
    for (const bool late : {false, true}) {
        HashGridHierarchy<3, float> a, b;
        a.insert(view(two));
        if (late) {
            b.insert(view(one));
            b.set_filter(b.id(0), {2, 2});
        } else {
            b.insert(one[0], {2, 2});
            b.update(view(one));
        }
        find_pairs(a, b, pairs);
        EXPECT_TRUE(pairs.empty());
        a.set_filter(a.id(1), {4, 4});
        find_pairs(a, b, pairs);
        EXPECT_TRUE(pairs.empty());
        a.set_filter(a.id(1), {2, 2});
        find_pairs(a, b, pairs);
        EXPECT_TRUE(same_pairs({{1, 0}}, pairs));
        a.update(view(two));
        find_pairs(a, b, pairs);
        EXPECT_TRUE(same_pairs({{1, 0}}, pairs));
        find_pairs(b, a, pairs);
        EXPECT_TRUE(same_pairs({{0, 1}}, pairs));
    }
}

TEST(HashGridSpheres, AreNotMixedWithBoxes) {
    const std::vector<Sphere<3, float>> spheres{{{0, 0, 0}, 1}, {{1, 0, 0}, 1}, {{9, 0, 0}, 1}};
    const std::vector<Box3f> boxes(3, Box3f{{0, 0, 0}, {1, 1, 1}});
    for (const UpdateStrategy strategy : strategies) {
        HashGridHierarchy<3, float> grid({.update = strategy});
        grid.insert(view(spheres));
        const auto refused = [&](auto&& call) {
            EXPECT_EQ(thrown_by(call).kind(), ErrorKind::bad_shape);
            EXPECT_EQ(grid.slots(), 3u);
            EXPECT_EQ(grid.size(), 3u);
            EXPECT_TRUE(same_self_pairs({{0, 1}}, pairs_of(grid)));
        };
        refused([&] { grid.insert(boxes[0]); });
        refused([&] { grid.insert(HalfSpace<3, float>{{0, 0, 1}, 0}); });
        refused([&] { grid.insert(view(boxes)); });
        refused([&] { grid.move(grid.id(2), boxes[0]); });
        refused([&] { grid.update(view(boxes)); });
        HashGridHierarchy<3, float> other({.update = strategy});
        other.insert(view(boxes));
        EXPECT_EQ(thrown_by([&] { other.insert(view(spheres)); }).kind(), ErrorKind::bad_shape);
        EXPECT_EQ(thrown_by([&] { other.update(view(spheres)); }).kind(), ErrorKind::bad_shape);
        EXPECT_EQ(pairs_of(other).size(), 3u);
        auto bad = spheres;
        bad[2].center[1] = std::numeric_limits<float>::infinity();
        EXPECT_EQ(thrown_by([&] { grid.update(view(bad)); }).where().index, 2u);
        EXPECT_TRUE(same_self_pairs({{0, 1}}, pairs_of(grid)));
    }
}

TYPED_TEST(HashGridStates, SpheresKeepTheirPairsAtEveryScale) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(5);
    const auto unit = [&] { return T(random.next() >> 40) / T(1 << 24); };
    constexpr bool wide = sizeof(T) == 8;
    for (const double scale : {1.0, 1e-30, 1e-37, 1e30, 2e37, wide ? 1e-200 : 1e-20, wide ? 1e250 : 1e20}) {
        std::vector<Sphere<D, T>> spheres(80);
        for (auto& s : spheres) {
            for (int k = 0; k < D; ++k) s.center[k] = T(scale) * 8 * unit();
            s.radius = random.next() % 8 == 0 ? T{0} : T(scale) * 2 * unit();
        }
        spheres[1] = spheres[0];
        spheres[1].radius = spheres[0].radius = 0;
        for (const std::uint32_t all_pairs_below : {0u, 512u}) {
            HashGridHierarchy<D, T> grid({.all_pairs_below = all_pairs_below});
            grid.insert(view(spheres));
            for (int round = 0; round < 2; ++round) {
                std::vector<Pair> expected;
                for (std::uint32_t i = 0; i < spheres.size(); ++i)
                    for (std::uint32_t j = i + 1; j < spheres.size(); ++j) {
                        const T reach = spheres[i].radius + spheres[j].radius;
                        if (reach == 0 ? spheres[i].center == spheres[j].center
                                       : test::oracle_near(spheres[i].center, spheres[j].center, reach))
                            expected.push_back({i, j});
                    }
                EXPECT_TRUE(same_self_pairs(expected, pairs_of(grid))) << scale;
                for (std::uint32_t i = 0; i < spheres.size(); i += 5) {  // one by one
                    spheres[i].center[0] = T(scale) * 8 * unit();
                    grid.move(grid.id(i), spheres[i]);
                }
            }
        }
    }
}

TEST(HashGridSpheres, ComeAndGoOneByOne) {
    HashGridHierarchy<2, float> grid;
    const Id a = grid.insert(Sphere<2, float>{{0, 0}, 1});
    const Id b = grid.insert(Sphere<2, float>{{1.9f, 1.9f}, 1}, Filter{2, 1});  // their boxes meet
    EXPECT_TRUE(pairs_of(grid).empty());
    grid.move(b, Sphere<2, float>{{1.9f, 0}, 1});
    EXPECT_TRUE(same_self_pairs({{a.slot, b.slot}}, pairs_of(grid)));
    grid.erase(a);
    const Id c = grid.insert(Sphere<2, float>{{1.9f, 2.1f}, 1});
    EXPECT_EQ(c.slot, a.slot);
    EXPECT_TRUE(pairs_of(grid).empty());
    EXPECT_EQ(thrown_by([&] { grid.insert(Sphere<2, float>{{0, 0}, -1}); }).where().field, "radius");
    EXPECT_EQ(thrown_by([&] { grid.move(a, Sphere<2, float>{{0, 0}, 1}); }).kind(), ErrorKind::stale_id);
    EXPECT_EQ(thrown_by([&] { grid.move(c, Sphere<2, float>{{0, NAN}, 1}); }).kind(), ErrorKind::bad_value);
    HashGridHierarchy<2, float> boxes;
    const Id box = boxes.insert(Box2f{{0, 0}, {1, 1}});
    EXPECT_EQ(thrown_by([&] { boxes.insert(Sphere<2, float>{{0, 0}, 1}); }).kind(), ErrorKind::bad_shape);
    EXPECT_EQ(thrown_by([&] { boxes.move(box, Sphere<2, float>{{0, 0}, 1}); }).kind(), ErrorKind::bad_shape);
}

TEST(HashGridSegments, ReachBothEndsAndNoFurther) {
    std::vector<std::uint32_t> found;
    HashGridHierarchy<2, float> grid;
    grid.insert(Box2f{{-4, -1}, {-2, 1}});
    grid.insert(Box2f{{0, -1}, {0.5f, 1}});
    using S = Segment<2, float>;
    const auto slots = [&](const S& s) {
        grid.find(s, found);
        std::sort(found.begin(), found.end());
        return found;
    };
    using Slots = std::vector<std::uint32_t>;
    EXPECT_EQ(slots(S{{1e8f, 0}, {-3, 0}}), (Slots{0, 1}));
    EXPECT_EQ(slots(S{{1e8f, 0}, {1, 0}}), Slots{});
    EXPECT_EQ(slots(S{{-3e38f, 0}, {3e38f, 0}}), (Slots{0, 1}));
    EXPECT_EQ(slots(S{{0.25f, 1}, {0.25f, 1}}), (Slots{1}));
    EXPECT_EQ(thrown_by([&] { slots(S{{0, 0}, {INFINITY, 0}}); }).kind(), ErrorKind::bad_value);
    const std::vector<S> batch{{{0, 0}, {1, 0}}, {{-3e38f, 0}, {3e38f, 0}}};
    std::size_t hits = 0;
    grid.find_each(view(batch), [&](std::uint32_t, std::span<const std::uint32_t> s) { hits += s.size(); });
    EXPECT_EQ(hits, 3u);
}

TYPED_TEST(HashGridStates, SegmentsAgreeWithTheOtherStructures) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::mix, 700);
    std::vector<Box<D, T>> boxes(world.boxes().begin(), world.boxes().end());
    HashGridHierarchy<D, T> grid({.all_pairs_below = 0});
    grid.insert(view(boxes));
    for (std::uint32_t i = 0; i < 50; ++i) grid.move(grid.id(i * 7), boxes[i * 7]);
    HierarchicalHash<D, T> hash;
    hash.insert(view(boxes));
    base::SplitMix random(9);
    std::vector<std::uint32_t> found, other, expected;
    for (int q = 0; q < 120; ++q) {
        Segment<D, T> s;
        const Box<D, T>&from = boxes[random.next() % 700], &to = boxes[random.next() % 700];
        const T far = std::array{T(1), T(1e4), T(1e9), T(1e30)}[q % 4];
        for (int k = 0; k < D; ++k) {
            s.a[k] = from.lo[k] * far;
            s.b[k] = random.next() % 2 ? to.lo[k] : to.hi[k];  // corners: touched and no more
        }
        if (q % 3 == 0) s.b = s.a, s.b[0] = to.lo[0];  // along an axis
        if (q % 2) std::swap(s.a, s.b);
        expected.clear();
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (cells::meets(s, boxes[i])) expected.push_back(i);
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (overlap(boxes[i], {s.a, s.a}) || overlap(boxes[i], {s.b, s.b})) {
                EXPECT_TRUE(std::binary_search(expected.begin(), expected.end(), i));
            }
        grid.find(s, found);
        hash.find(s, other);
        std::sort(found.begin(), found.end());
        std::sort(other.begin(), other.end());
        EXPECT_EQ(found, expected) << q;
        EXPECT_EQ(other, expected) << q;
    }
}

TYPED_TEST(HashGridStates, HalfSpacesStayThroughUpdates) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const auto box_at = [](T height) {
        Box<D, T> box{};
        for (int k = 0; k < D; ++k) box.hi[k] = 1;
        box.lo[D - 1] = height;
        box.hi[D - 1] = height + 1;
        return box;
    };
    const auto both = [](T lo, T hi) {
        Box<D, T> box;
        for (int k = 0; k < D; ++k) box.lo[k] = lo, box.hi[k] = hi;
        return box;
    };
    for (const UpdateStrategy strategy : strategies) {
        HashGridHierarchy<D, T> grid({.update = strategy});
        HalfSpace<D, T> below{};
        below.normal[D - 1] = 1;
        const Id plane = grid.insert(below);
        grid.insert(box_at(5));
        const Id wall = grid.insert(both(-infinity, infinity));
        EXPECT_TRUE(same_self_pairs({{0, 2}, {1, 2}}, pairs_of(grid)));
        for (const Box<D, T>& placeholder : {both(-infinity, infinity), both(0, 0), both(nan, nan)}) {
            std::vector<Box<D, T>> boxes{placeholder, box_at(5), both(-infinity, infinity)};
            grid.update(view(boxes));
            EXPECT_TRUE(same_self_pairs({{0, 2}, {1, 2}}, pairs_of(grid)));
            boxes[1] = box_at(-5);
            grid.update(view(boxes));
            EXPECT_TRUE(same_self_pairs({{0, 1}, {0, 2}, {1, 2}}, pairs_of(grid)));
        }
        std::vector<Box<D, T>> more(1500, box_at(9));  // bulk and single edits in between
        grid.insert(view(more));
        for (std::uint32_t i = 3; i < 1503; ++i) grid.erase(grid.id(i));
        grid.erase(wall);
        EXPECT_TRUE(same_self_pairs({{0, 1}}, pairs_of(grid)));
        EXPECT_EQ(grid.stats().unbounded, 1u);
        grid.move(plane, box_at(3));  // only this makes it a box
        EXPECT_TRUE(pairs_of(grid).empty());
    }
}

TYPED_TEST(HashGridStates, WhatWasErasedCostsNothing) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::vector<Box<D, T>> same(6000), apart(6000);
    for (std::size_t i = 0; i < same.size(); ++i)
        for (int k = 0; k < D; ++k) {
            same[i].lo[k] = 0, same[i].hi[k] = 1;
            apart[i].lo[k] = k == 0 ? T(i) : T(0), apart[i].hi[k] = apart[i].lo[k] + 1;
        }
    for (const auto& boxes : {same, apart}) {
        HashGridHierarchy<D, T> grid;
        grid.insert(view(boxes));
        const std::size_t bytes = grid.stats().bytes;
        for (std::uint32_t i = 0; i < 5990; ++i) grid.erase(grid.id(i));
        EXPECT_TRUE(same_self_pairs(
            [&] {
                auto expected = test::oracle_pairs(view(boxes).last(10));
                for (Pair& p : expected) p = {p.first + 5990, p.second + 5990};
                return expected;
            }(),
            pairs_of(grid)));
        EXPECT_LT(grid.stats().tests, 1000u * 1000);
        EXPECT_LT(grid.stats().bytes, bytes);
        for (std::uint32_t i = 5990; i < 6000; ++i) grid.erase(grid.id(i));
        EXPECT_TRUE(pairs_of(grid).empty());
        EXPECT_EQ(grid.stats().tests, 0u);
        EXPECT_FALSE(grid.nearest(Vec<D, T>{}).has_value());
        EXPECT_EQ(grid.slots(), 0u);
        EXPECT_EQ(grid.insert(boxes[0]).slot, 0u);  // a set that was emptied begins again
        EXPECT_TRUE(pairs_of(grid).empty());
    }
}

TEST(HashGridQueries, HoldFarBeyondTheRangeOfSquares) {
    std::vector<std::uint32_t> found;
    for (const double scale : {1.0, 1e-170, 1e-300, 1e170, 1e300}) {
        HashGridHierarchy<2, double> grid;
        grid.insert(Box2d{{3 * scale, 0}, {4 * scale, scale}});
        grid.insert(Box2d{{scale, 0}, {2 * scale, scale}});
        const auto hit = grid.nearest({0, 0});
        ASSERT_TRUE(hit.has_value());
        EXPECT_EQ(hit->slot, 1u) << scale;
        EXPECT_EQ(hit->distance, scale);
        grid.find(Sphere<2, double>{{0, 0}, scale / 2}, found);
        EXPECT_TRUE(found.empty()) << scale;
        grid.find(Sphere<2, double>{{0, 0}, scale}, found);
        EXPECT_EQ(found, std::vector<std::uint32_t>{1}) << scale;
    }
    // A segment longer than any number: along y = x, past a box beside it.
    const double far = 0.9 * std::numeric_limits<double>::max();
    const Segment<2, double> diagonal{{-far, -far}, {far, far}};
    for (const double x : {0.0, 0.5}) {
        const Box2d box{{x * far, 0}, {x * far + far / 10, far / 10}};
        EXPECT_EQ(cells::meets(diagonal, box), x == 0);
        HashGridHierarchy<2, double> grid;
        grid.insert(box);
        grid.find(diagonal, found);
        EXPECT_EQ(found.size(), x == 0 ? 1u : 0u);
    }
}

template <class S>
class BulkInserts : public testing::Test {};
using Editable = testing::Types<HashGridHierarchy<2, float>, HierarchicalHash<2, float>, MultilevelHash<2, float>>;
TYPED_TEST_SUITE(BulkInserts, Editable);

TYPED_TEST(BulkInserts, TakeTheFreeSlotsAtTheEndAgain) {
    TypeParam grid;
    std::vector<Box2f> boxes(100);
    for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i] = {{float(i), 0}, {float(i) + 1, 1}};
    std::vector<Id> old;
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(grid.insert(view(boxes)), 0u);
        ASSERT_EQ(grid.slots(), 100u);
        EXPECT_EQ(pairs_of(grid).size(), 99u);
        for (const Id id : old) ASSERT_FALSE(grid.contains(id));
        old.clear();
        for (std::uint32_t i = 0; i < 100; ++i) {
            old.push_back(grid.id(i));
            grid.erase(old.back());
        }
        EXPECT_EQ(grid.size(), 0u);
        if (round % 2) grid.insert(view(boxes).first(0));  // changes nothing
    }
    EXPECT_EQ(thrown_by([&] { grid.erase(old[5]); }).kind(), ErrorKind::stale_id);
    // Slots 0, 2 and 50 stay: what is free behind 50 is taken, and the holes are left for single inserts.
    grid.insert(view(boxes));
    for (std::uint32_t i = 0; i < 100; ++i)
        if (i != 0 && i != 2 && i != 50) {
            old[i] = grid.id(i);
            grid.erase(old[i]);
        }
    EXPECT_EQ(grid.slots(), 100u);
    EXPECT_EQ(grid.insert(view(boxes).first(3)), 51u);
    EXPECT_EQ(grid.slots(), 54u);
    EXPECT_EQ(grid.size(), 6u);
    EXPECT_FALSE(grid.contains(old[51]));
    EXPECT_EQ(thrown_by([&] { grid.move(old[99], boxes[0]); }).kind(), ErrorKind::stale_id);
    EXPECT_TRUE(same_self_pairs({{51, 52}, {52, 53}, {0, 51}, {0, 52}, {2, 52}, {2, 53}}, pairs_of(grid)));
    for (int i = 0; i < 48; ++i) EXPECT_LT(grid.insert(Box2f{{-9, -9}, {-8, -8}}).slot, 50u);
    EXPECT_EQ(grid.insert(Box2f{{-9, -9}, {-8, -8}}).slot, 54u);
    EXPECT_FALSE(grid.contains(old[54]));
}

TEST(HashGridErrors, OptionsThatCannotWorkAreNamed) {
    const auto field = [](const HashGridOptions& options) {
        return thrown_by([&] { HashGridHierarchy<3, float> grid(options); }).where().field;
    };
    EXPECT_EQ(field({.factor = 1}), "factor");
    EXPECT_EQ(field({.factor = std::nextafter(1.0, 2.0)}), "factor");
    EXPECT_EQ(field({.factor = NAN}), "factor");
    EXPECT_EQ(field({.initial_cells = 0}), "initial_cells");
    EXPECT_EQ(field({.min_cells = 3'000'000'000u}), "min_cells");
    EXPECT_EQ(field({.min_cells = 100'000}), "min_cells");
    EXPECT_EQ(field({.cells_per_object = 0}), "cells_per_object");
    EXPECT_EQ(field({.cells_per_object = 1'000'000}), "cells_per_object");
    HashGridHierarchy<2, float> grid({.factor = 1.01, .min_cells = 256, .cells_per_object = 256});  // the ends
    grid.insert(Box2f{{0, 0}, {1, 1}});
    grid.insert(Box2f{{0, 0}, {1e30f, 1e30f}});
    grid.insert(Box2f{{0, 0}, {1e-30f, 1e-30f}});
    EXPECT_EQ(pairs_of(grid).size(), 3u);
}

// What malloc says is held; sanitizers have allocators of their own.
#if defined(__GLIBC__) && defined(NDEBUG) && !defined(QUADRAT_SANITIZED)
TEST(HashGridMemory, IsWhatWasAllocated) {
    const auto allocated = [] {
        const struct mallinfo2 info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    const workloads::MovingBoxes<3, float> world(workloads::BoxScene::mix, 50'000);
    const auto boxes = world.boxes();
    const std::size_t before = allocated();
    HashGridHierarchy<3, float> grid;
    const auto check = [&] {
        const auto held = double(allocated() - before), told = double(grid.stats().bytes);
        EXPECT_GT(told, 0.97 * held);
        EXPECT_LT(told, 1.03 * held);
    };
    grid.insert(boxes);
    check();
    base::SplitMix random(1);
    for (int i = 0; i < 30'000; ++i)
        grid.move(grid.id(static_cast<std::uint32_t>(random.next() % 50'000)), boxes[random.next() % 50'000]);
    check();
    for (std::uint32_t i = 0; i < 40'000; ++i) grid.erase(grid.id(i));
    check();
    grid.set_filter(grid.id(45'000), {2, 2});
    grid.insert(boxes.first(1000));
    check();
}
#endif

}  // namespace
