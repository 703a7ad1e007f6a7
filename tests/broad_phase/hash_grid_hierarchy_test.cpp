#include "base/simd.hpp"
#include "broad_phase/query_tests.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace {

using namespace quadrat;
using test::same_pairs;
using test::same_self_pairs;

template <class K>
class HashGrid : public testing::Test {};
TYPED_TEST_SUITE(HashGrid, test::Kinds);

template <int D, class T>
std::vector<Pair> brute(std::span<const Box<D, T>> boxes) {
    BruteForce<D, T> oracle;
    oracle.build(boxes);
    std::vector<Pair> pairs;
    oracle.find_pairs(pairs);
    return pairs;
}

template <int D, class T>
std::vector<Pair> by_grid(std::span<const Box<D, T>> boxes, HashGridOptions options = {}) {
    HashGridHierarchy<D, T> grid(options);
    grid.insert(boxes);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    return pairs;
}

const HashGridOptions no_all_pairs{.all_pairs_below = 0};

TYPED_TEST(HashGrid, FindsThePairsOfHostileBoxes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : workloads::hostile_boxes<D, T>()) {
        SCOPED_TRACE(scene.name);
        const std::span<const Box<D, T>> boxes(scene.boxes);
        const auto expected = brute<D, T>(boxes);
        EXPECT_TRUE(same_self_pairs(expected, by_grid<D, T>(boxes)));
        EXPECT_TRUE(same_self_pairs(expected, by_grid<D, T>(boxes, no_all_pairs)));
        EXPECT_TRUE(same_self_pairs(expected, by_grid<D, T>(boxes, {.update = UpdateStrategy::individual})));
        HashGridHierarchy<D, T> one_by_one(no_all_pairs);
        for (const auto& box : boxes) one_by_one.insert(box);
        std::vector<Pair> pairs;
        one_by_one.find_pairs(pairs);
        EXPECT_TRUE(same_self_pairs(expected, pairs));
    }
}

TYPED_TEST(HashGrid, FindsThePairsOfMovingScenes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    using workloads::BoxScene;
    for (const BoxScene scene :
         {BoxScene::equal, BoxScene::sizes, BoxScene::sticks, BoxScene::mix, BoxScene::clustered}) {
        workloads::MovingBoxes<D, T> world(scene, test::scaled(3000, 1000, 500));
        HashGridHierarchy<D, T> grid;
        grid.insert(world.boxes());
        std::vector<Pair> pairs;
        for (int step = 0; step < 3; ++step) {
            grid.find_pairs(pairs);
            EXPECT_TRUE(same_self_pairs(brute<D, T>(world.boxes()), pairs))
                << "scene " << int(scene) << " step " << step;
            world.step();
            grid.update(world.boxes());
        }
    }
}

// Ratios 1 to 1e6, several densities, sizes per axis independent: every number of classes, long and flat boxes.
TYPED_TEST(HashGrid, SweepsSizeRatioAndDensity) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::mt19937 random(5);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const double ratio : {1.0, 3.0, 40.0, 1e3, 1e6})
        for (const double side : {0.0, 2.0, 30.0, 1e4})
            for (const bool cubes : {true, false}) {
                std::vector<Box<D, T>> boxes(test::scaled(700, 250, 150));
                for (auto& box : boxes) {
                    const double common = std::pow(ratio, unit(random)) / std::sqrt(ratio);
                    for (int k = 0; k < D; ++k) {
                        const double size = cubes ? common : std::pow(ratio, unit(random)) / std::sqrt(ratio);
                        box.lo[k] = T((unit(random) - 0.5) * side);
                        box.hi[k] = T(box.lo[k] + T(size));
                    }
                }
                const std::span<const Box<D, T>> span(boxes);
                EXPECT_TRUE(same_self_pairs(brute<D, T>(span), by_grid<D, T>(span, no_all_pairs)))
                    << "ratio " << ratio << " side " << side << " cubes " << cubes;
            }
}

TYPED_TEST(HashGrid, StaysRightThroughRandomEdits) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::mt19937 random(17);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto some_box = [&] {
        Box<D, T> box;
        const double size = std::pow(10.0, 2 * unit(random) - 1);
        for (int k = 0; k < D; ++k) {
            box.lo[k] = T(40 * unit(random) - 20);
            box.hi[k] = box.lo[k] + T(size * unit(random));
            if (unit(random) < 0.002) box.hi[k] = std::numeric_limits<T>::infinity();
        }
        return box;
    };
    HashGridHierarchy<D, T> grid(no_all_pairs);
    std::map<std::uint32_t, std::pair<Id, Box<D, T>>> live;
    std::vector<Pair> pairs;
    for (int round = 0; round < test::scaled(12, 12, 4); ++round) {
        for (int op = 0; op < 1500; ++op) {
            const double what = unit(random);
            if (live.size() < 20 || what < 0.4) {
                const auto box = some_box();
                const Id id = grid.insert(box);
                ASSERT_TRUE(live.emplace(id.slot, std::pair(id, box)).second);
            } else {
                auto it = std::next(live.begin(), static_cast<long>(random() % live.size()));
                if (what < 0.7) {
                    it->second.second = some_box();
                    grid.move(it->second.first, it->second.second);
                } else {
                    grid.erase(it->second.first);
                    EXPECT_FALSE(grid.contains(it->second.first));
                    EXPECT_THROW(grid.erase(it->second.first), Error);
                    live.erase(it);
                }
            }
        }
        if (round % 3 == 2) {  // a bulk update in between; erased slots are skipped, whatever stands there
            std::vector<Box<D, T>> all(grid.slots());
            for (auto& box : all) box.lo[0] = std::numeric_limits<T>::quiet_NaN();
            for (auto& [slot, entry] : live) all[slot] = entry.second = some_box();
            grid.update(all);
        }
        std::vector<Box<D, T>> boxes;
        std::vector<std::uint32_t> slot_of;
        for (const auto& [slot, entry] : live) {
            slot_of.push_back(slot);
            boxes.push_back(entry.second);
        }
        auto expected = brute<D, T>(boxes);
        for (Pair& p : expected) p = {slot_of[p.first], slot_of[p.second]};
        grid.find_pairs(pairs);
        ASSERT_TRUE(same_self_pairs(expected, pairs)) << "round " << round;
        ASSERT_EQ(grid.size(), live.size());
        std::vector<Pair> streamed;
        grid.for_each_pair([&](Pair p) { streamed.push_back(p); });
        ASSERT_TRUE(same_self_pairs(expected, streamed));
    }
}

TYPED_TEST(HashGrid, QueriesAgreeWithTheirPredicates) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::mix, 1500);
    std::vector<Box<D, T>> boxes(world.boxes().begin(), world.boxes().end());
    Box<D, T> slab = boxes[3];
    slab.lo[1] = -std::numeric_limits<T>::infinity();
    boxes[3] = slab;
    HashGridHierarchy<D, T> grid;
    grid.insert(std::span<const Box<D, T>>(boxes));
    for (std::uint32_t i = 0; i < 100; ++i) grid.move(grid.id(i * 7), boxes[i * 7]);  // some loose ones
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(0, 1);
    const auto point = [&] {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = T(unit(random) * world.side() * 1.1 - 100);
        return p;
    };
    const auto check = [&](std::vector<std::uint32_t> found, auto&& predicate) {
        std::sort(found.begin(), found.end());
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < boxes.size(); ++i)
            if (predicate(boxes[i])) expected.push_back(i);
        EXPECT_EQ(found, expected);
    };
    std::vector<std::uint32_t> found;
    for (int q = 0; q < 60; ++q) {
        const Vec<D, T> p = point(), o = point();
        grid.find(p, found);
        check(found, [&](const Box<D, T>& b) { return overlap(b, Box<D, T>{p, p}); });
        Box<D, T> box;
        for (int k = 0; k < D; ++k) {
            box.lo[k] = std::min(p[k], o[k]);
            box.hi[k] = std::max(p[k], o[k]);
        }
        grid.find(box, found);
        check(found, [&](const Box<D, T>& b) { return overlap(b, box); });
        const Sphere<D, T> sphere{p, T(unit(random) * 800)};
        grid.find(sphere, found);
        check(found, [&](const Box<D, T>& b) {
            return broad_phase::distance_sq(p, b) <= double(sphere.radius) * double(sphere.radius);
        });
        Ray<D, T> ray{p, {}, T(0.001 + unit(random))};
        for (int k = 0; k < D; ++k) ray.direction[k] = o[k] - p[k];
        if (q % 5 == 0) ray.direction[0] = 0;
        if (q % 7 == 0) ray.length = std::numeric_limits<T>::infinity();
        grid.find(ray, found);
        check(found, [&](const Box<D, T>& b) { return broad_phase::entry(ray, b).has_value(); });
        const auto hit = grid.closest_hit(ray);
        double first = std::numeric_limits<double>::infinity();
        for (const auto& b : boxes) first = std::min(first, broad_phase::entry(ray, b).value_or(first));
        ASSERT_EQ(hit.has_value(), first < std::numeric_limits<double>::infinity());
        if (hit) {
            EXPECT_EQ(hit->distance, T(first));
        }
        const auto near = grid.nearest(p);
        double least = std::numeric_limits<double>::infinity();
        for (const auto& b : boxes) least = std::min(least, broad_phase::distance_sq(p, b));
        ASSERT_TRUE(near.has_value());
        EXPECT_EQ(near->distance, T(std::sqrt(least)));
    }
}

TYPED_TEST(HashGrid, FindsPairsOfTwoSets) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> large(workloads::BoxScene::mix, 1200, 1), small(workloads::BoxScene::mix, 900, 2);
    std::vector<Box<D, T>> a(large.boxes().begin(), large.boxes().end()), b(small.boxes().begin(), small.boxes().end());
    a[5].hi[0] = std::numeric_limits<T>::infinity();
    b[6].lo[0] = -std::numeric_limits<T>::infinity();
    HashGridHierarchy<D, T> first, second;
    first.insert(std::span<const Box<D, T>>(a));
    second.insert(std::span<const Box<D, T>>(b));
    second.move(second.id(8), b[8]);
    first.move(first.id(9), a[9]);
    std::vector<Pair> expected, pairs;
    BruteForce<D, T>().find_pairs(a, b, expected);
    find_pairs(first, second, pairs);
    EXPECT_TRUE(same_pairs(expected, pairs));
}

TYPED_TEST(HashGrid, GivesTheSameBytesForAnyThreadCountAndTarget) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::mix, test::scaled(40'000, 20'000, 18'000));
    const auto expected = by_grid<D, T>(world.boxes());
    for (const unsigned threads : {1u, 2u, 7u}) {
        const auto executor = make_executor(threads);
        EXPECT_TRUE((by_grid<D, T>(world.boxes(), {.executor = executor.get()}) == expected)) << threads;
    }
    base::for_each_simd_target([&] { EXPECT_TRUE((by_grid<D, T>(world.boxes()) == expected)); });
}

TYPED_TEST(HashGrid, BatchesOfQueriesAreTheQueries) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    workloads::MovingBoxes<D, T> world(workloads::BoxScene::mix, 2000);
    HashGridHierarchy<D, T> grid;
    grid.insert(world.boxes());
    const auto segments = workloads::short_segments<D, T>(500, world.side(), 200);
    std::vector<Box<D, T>> queries;
    for (const auto& s : segments) {
        Box<D, T>& box = queries.emplace_back();
        for (int k = 0; k < D; ++k) {
            box.lo[k] = std::min(s.a[k], s.b[k]);
            box.hi[k] = std::max(s.a[k], s.b[k]);
        }
    }
    queries[3].lo[0] = -std::numeric_limits<T>::infinity();
    queries[4].hi[D - 1] = std::numeric_limits<T>::infinity();
    const auto check = [&](const auto& batch) {
        using Query = typename std::decay_t<decltype(batch)>::value_type;
        std::vector<int> seen(batch.size(), 0);
        std::size_t hits = 0;
        std::vector<std::uint32_t> expected;
        grid.find_each(std::span<const Query>(batch), [&](std::uint32_t i, std::span<const std::uint32_t> slots) {
            ++seen.at(i);
            grid.find(batch[i], expected);
            EXPECT_TRUE(std::ranges::equal(slots, expected)) << i;
            hits += slots.size();
        });
        EXPECT_EQ(seen, std::vector<int>(batch.size(), 1));
        EXPECT_GT(hits, 0u);
        // Nothing is asked if one of them is bad, and none is fine.
        auto bad = batch;
        reinterpret_cast<T*>(&bad[77])[0] = std::numeric_limits<T>::quiet_NaN();
        try {
            grid.find_each(std::span<const Query>(bad), [&](std::uint32_t, auto) { FAIL(); });
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_value);
            EXPECT_EQ(e.where().index, 77u);
        }
        grid.find_each(std::span<const Query>(), [&](std::uint32_t, auto) { FAIL(); });
    };
    check(queries);
    check(segments);
}

TEST(HashGridFilters, GroupsMeetOnlyTheirMasks) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::sizes, 2000);
    HashGridHierarchy<3, float> grid;
    grid.insert(world.boxes());
    const auto filter = [](std::uint32_t i) { return Filter{1u << (i % 3), i % 3 == 0 ? 0b010u : 0b111u}; };
    for (std::uint32_t i = 0; i < 2000; ++i) grid.set_filter(grid.id(i), filter(i));
    grid.update(world.boxes());
    std::vector<Pair> expected, pairs;
    for (const Pair p : brute<3, float>(world.boxes())) {
        const Filter a = filter(p.first), b = filter(p.second);
        if ((a.group & b.mask) && (b.group & a.mask)) expected.push_back(p);
    }
    grid.find_pairs(pairs);
    EXPECT_TRUE(same_self_pairs(expected, pairs));
    ASSERT_FALSE(expected.empty());
}

TEST(HashGridSpheres, PairsAreThoseOfTheSpheres) {
    std::mt19937 random(8);
    std::uniform_real_distribution<float> unit(0, 1);
    std::vector<Sphere<3, float>> spheres(3000);
    for (auto& s : spheres) s = {{unit(random) * 20, unit(random) * 20, unit(random) * 20}, unit(random)};
    HashGridHierarchy<3, float> grid;
    grid.insert(std::span<const Sphere<3, float>>(spheres));
    std::vector<Pair> expected, pairs;
    for (std::uint32_t i = 0; i < spheres.size(); ++i)
        for (std::uint32_t j = i + 1; j < spheres.size(); ++j) {
            float sum = 0;
            for (int k = 0; k < 3; ++k) {
                const float d = spheres[i].center[k] - spheres[j].center[k];
                sum += d * d;
            }
            const float reach = spheres[i].radius + spheres[j].radius;
            if (sum <= reach * reach) expected.push_back({i, j});
        }
    grid.find_pairs(pairs);
    EXPECT_TRUE(same_self_pairs(expected, pairs));
}

TEST(HashGridErrors, BadBoxesAreNamedAndChangeNothing) {
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, 500);
    HashGridHierarchy<3, float> grid;
    grid.insert(world.boxes());
    std::vector<Pair> before, after;
    grid.find_pairs(before);
    std::vector<Box3f> bad(world.boxes().begin(), world.boxes().end());
    bad[321].hi[1] = std::numeric_limits<float>::quiet_NaN();
    try {
        grid.update(bad);
        FAIL() << "NaN was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().index, 321u);
    }
    bad[321].hi[1] = bad[321].lo[1] - 1;
    EXPECT_THROW(grid.update(bad), Error);
    EXPECT_THROW(grid.insert(bad[321]), Error);
    EXPECT_THROW(grid.update(std::span<const Box3f>(bad).first(10)), Error);
    EXPECT_THROW(grid.erase(Id{}), Error);
    EXPECT_THROW(grid.move(Id{9999, 1}, bad[0]), Error);
    grid.find_pairs(after);
    EXPECT_EQ(before, after);
}

// Exact, and never held: of one set and between two, with edited boxes, half-spaces and threads.
TEST(HashGridErrors, MaxBytesNamesTheSize) {
    const std::vector<Box3f> same(2000, Box3f{{0, 0, 0}, {1, 1, 1}});
    const std::size_t limit = 1 << 20;
    const auto expect_size = [&](std::size_t pairs, auto&& find) {
        std::vector<Pair> out;
        const Error e = test::thrown_by([&] { find(out); });
        EXPECT_EQ(e.kind(), ErrorKind::too_large);
        EXPECT_NE(std::string(e.what()).find(" " + std::to_string(pairs * 8) + " bytes"), std::string::npos)
            << e.what();
        EXPECT_LE(out.capacity(), 4 * limit / sizeof(Pair));
    };
    HashGridHierarchy<3, float> grid({.max_bytes = limit});
    grid.insert(std::span<const Box3f>(same));
    const auto find = [&](std::vector<Pair>& out) { grid.find_pairs(out); };
    expect_size(1999 * 1000, find);
    expect_size(2000 * 2000, [&](std::vector<Pair>& out) { find_pairs(grid, grid, out); });
    for (std::uint32_t i = 0; i < 300; ++i) grid.erase(grid.id(i));
    for (std::uint32_t i = 0; i < 400; ++i) grid.insert(Box3f{{0.5f, 0, 0}, {1, 1, 1}});
    for (int i = 0; i < 100; ++i) grid.insert(Box3f{{-INFINITY, 0, 0}, {INFINITY, 1, 1}});
    expect_size(2200 * 2199 / 2, find);
    std::size_t visited = 0;
    grid.for_each_pair([&](const Pair&) { ++visited; });
    EXPECT_EQ(visited, 2200u * 2199 / 2);
    expect_size(2200 * 2200, [&](std::vector<Pair>& out) { find_pairs(grid, grid, out); });
}

// Records of a grid that were erased since, and pairs that filters forbid, do not count, however near the limit is.
TEST(HashGridErrors, MaxBytesCountsTruePairsOnly) {
    const auto executor = make_executor(2);
    for (Executor* const threads : {static_cast<Executor*>(nullptr), executor.get()})
        for (const bool spread : {false, true})
            for (const bool erase : {false, true}) {
                std::vector<Box3f> boxes;  // in one place, or 20 in each of many
                for (int i = 0; i < (spread ? 20000 : 400); ++i) {
                    const float x = spread ? 3 * float(i / 20) : 0;
                    boxes.push_back({{x, 0, 0}, {x + 1, 1, 1}});
                }
                for (int i = 0; !spread && threads && i < 20000; ++i)  // enough for threads to be used
                    boxes.push_back({{3 * float(i) + 9, 0, 0}, {3 * float(i) + 10, 1, 1}});
                std::size_t expected = 0;
                for (int round = 0; round < 4; ++round) {
                    const std::size_t limit =
                        expected + static_cast<std::size_t>(std::max(round - 1, 0)) * expected / 8;
                    HashGridHierarchy<3, float> grid(
                        {.executor = threads,
                         .max_bytes = round == 0 ? SIZE_MAX : (limit - (round == 3 ? expected / 4 + 1 : 0)) * 8});
                    grid.insert(std::span<const Box3f>(boxes));
                    for (std::uint32_t i = 0; i < boxes.size(); i += 3)
                        if (erase)
                            grid.erase(grid.id(i));
                        else
                            grid.set_filter(grid.id(i), {.group = 2, .mask = 2});
                    std::vector<Pair> pairs;
                    if (round == 3) {
                        EXPECT_EQ(test::thrown_by([&] { grid.find_pairs(pairs); }).kind(), ErrorKind::too_large);
                        continue;
                    }
                    grid.find_pairs(pairs);
                    for (const Pair& p : pairs) ASSERT_EQ(p.first % 3 == 0, p.second % 3 == 0);
                    std::sort(pairs.begin(), pairs.end());
                    EXPECT_TRUE(std::adjacent_find(pairs.begin(), pairs.end()) == pairs.end());
                    if (round == 0) expected = pairs.size();
                    EXPECT_EQ(pairs.size(), expected) << spread << erase << round;
                }
            }
}

TEST(HashGridErrors, MaxBytesWithThreads) {
    std::vector<Box3f> columns;  // 32 of 600 boxes each
    for (int i = 0; i < 32 * 600; ++i) {
        const float x = 4 * float(i % 32);
        columns.push_back({{x, 0, 0}, {x + 1, 1, 1}});
    }
    const auto executor = make_executor(2);
    HashGridHierarchy<3, float> grid({.executor = executor.get(), .max_bytes = 1 << 20});
    grid.insert(std::span<const Box3f>(columns));
    std::vector<Pair> pairs;
    const Error e = test::thrown_by([&] { grid.find_pairs(pairs); });
    EXPECT_NE(std::string(e.what()).find(std::to_string(32 * 600 * 599 / 2 * 8)), std::string::npos) << e.what();
}

TEST(HashGridWatch, ReportsAndStops) {
    std::vector<Box3f> boxes;
    for (int i = 0; i < 64 * 64 * 48; ++i) {  // columns of touching cubes
        const float x = 2 * float(i % 64), y = 2 * float(i / 64 % 64), z = float(i / 4096);
        boxes.push_back({{x, y, z}, {x + 1, y + 1, z + 1}});
    }
    for (const unsigned threads : {1u, 2u}) {
        const auto executor = make_executor(threads);
        StopSource source;
        double last = 0;
        bool fell = false;
        int calls = 0;
        HashGridHierarchy<3, float> grid({.executor = executor.get(), .watch = {source, [&](double part) {
                                                                                    fell = fell || part < last;
                                                                                    last = part;
                                                                                    ++calls;
                                                                                }}});
        grid.insert(std::span<const Box3f>(boxes));
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        EXPECT_EQ(pairs.size(), 64u * 64 * 47);
        EXPECT_GT(calls, 1);
        EXPECT_EQ(last, 1.0);
        EXPECT_FALSE(fell);
        source.request_stop();
        try {
            grid.find_pairs(pairs);
            FAIL() << "went on";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::stopped);
        }
    }
}

// Memory stays linear in the number of boxes whatever the extent or ratio of sizes.
TEST(HashGridMemory, IsLinear) {
    std::vector<Box3f> boxes;
    std::mt19937 random(2);
    std::uniform_real_distribution<float> unit(0, 1);
    for (int i = 0; i < 20'000; ++i) {
        const float size = std::pow(10.0f, 12 * unit(random) - 6), scale = std::pow(10.0f, 18 * unit(random) - 9);
        Box3f box;
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = scale * (unit(random) - 0.5f);
            box.hi[k] = box.lo[k] + size;
        }
        boxes.push_back(box);
    }
    HashGridHierarchy<3, float> grid;
    grid.insert(std::span<const Box3f>(boxes));
    EXPECT_LT(grid.stats().bytes, boxes.size() * 400);
}

}  // namespace
