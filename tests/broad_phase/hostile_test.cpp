// Hostile input for every broad phase alike: the right pairs, memory in proportion to the number of boxes, and errors
// that name what is wrong and change nothing.
#include "base/random.hpp"
#include "support/compare.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>
#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

using namespace quadrat;

template <template <int, class> class S, int D_, class T_>
struct Case {
    static constexpr int D = D_;
    using T = T_;
    using Structure = S<D, T>;
    static_assert(BroadPhase<Structure, D, T>);
};

template <class C>
class Hostile : public testing::Test {};
// clang-format off
using Cases = testing::Types<
    Case<HashGridHierarchy, 2, float>, Case<HashGridHierarchy, 3, float>, Case<HashGridHierarchy, 2, double>, Case<HashGridHierarchy, 3, double>,
    Case<HierarchicalHash, 2, float>, Case<HierarchicalHash, 3, float>, Case<HierarchicalHash, 2, double>, Case<HierarchicalHash, 3, double>,
    Case<MultilevelHash, 2, float>, Case<MultilevelHash, 3, float>, Case<MultilevelHash, 2, double>, Case<MultilevelHash, 3, double>,
    Case<UniformHash, 2, float>, Case<UniformHash, 3, float>, Case<UniformHash, 2, double>, Case<UniformHash, 3, double>,
    Case<GroupHash, 2, float>, Case<GroupHash, 3, float>, Case<GroupHash, 2, double>, Case<GroupHash, 3, double>,
    Case<KeptPairs, 2, float>, Case<KeptPairs, 3, float>, Case<KeptPairs, 2, double>, Case<KeptPairs, 3, double>,
    Case<BruteForce, 2, float>, Case<BruteForce, 3, float>, Case<BruteForce, 2, double>, Case<BruteForce, 3, double>>;
// clang-format on
TYPED_TEST_SUITE(Hostile, Cases);

static_assert(EditableBroadPhase<HashGridHierarchy<2, double>, 2, double>);
static_assert(EditableBroadPhase<HierarchicalHash<3, float>, 3, float>);
static_assert(EditableBroadPhase<MultilevelHash<3, double>, 3, double>);

template <int D, class T>
std::vector<workloads::NamedBoxes<D, T>> scenes() {
    auto all = workloads::hostile_boxes<D, T>();
    base::SplitMix random(41);
    std::vector<Box<D, T>> decades(600), largest(120);
    for (auto& b : decades) {
        const double size = std::pow(10.0, random.uniform(-6, 6)), spread = std::pow(10.0, random.uniform(-2, 6));
        for (int k = 0; k < D; ++k) {
            b.lo[k] = static_cast<T>(random.uniform(-spread, spread));
            b.hi[k] = b.lo[k] + static_cast<T>(size * random.uniform());
        }
    }
    all.push_back({"sizes 1e-6 to 1e6, evenly over the decades", decades});
    // Boxes about as large as the type allows, of which some have a size that is infinite when rounded.
    const double top = static_cast<double>(std::numeric_limits<T>::max());
    for (auto& b : largest)
        for (int k = 0; k < D; ++k) {
            b.lo[k] = static_cast<T>(random.uniform(-0.9, 0.5) * top);
            b.hi[k] = b.lo[k] + static_cast<T>(random.uniform(0, 0.4) * top);
        }
    all.push_back({"near the end of the type", largest});
    return all;
}

TYPED_TEST(Hostile, PairsAreThoseOfTheOracle) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : scenes<D, T>()) {
        SCOPED_TRACE(scene.name);
        const std::span<const Box<D, T>> boxes(scene.boxes);
        const auto expected = test::oracle_pairs(boxes);
        typename TypeParam::Structure structure;
        EXPECT_EQ(structure.insert(boxes.first(boxes.size() / 2)), 0u);
        EXPECT_EQ(structure.insert(boxes.subspan(boxes.size() / 2)), boxes.size() / 2);
        EXPECT_EQ(structure.size(), boxes.size());
        std::vector<Pair> pairs;
        structure.find_pairs(pairs);
        EXPECT_TRUE(test::same_self_pairs(expected, pairs));
        structure.update(boxes);
        structure.find_pairs(pairs);
        EXPECT_TRUE(test::same_self_pairs(expected, pairs));
        find_pairs_if(structure, pairs, [](Pair p) { return p.first % 2 == 0; });
        auto even = expected;
        std::erase_if(even, [](Pair p) { return p.first % 2 != 0; });
        EXPECT_TRUE(test::same_self_pairs(even, pairs));
    }
}

// Sanitizers have allocators of their own.
#if defined(__GLIBC__) && !defined(QUADRAT_SANITIZED)
std::size_t held() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// One box a billion cells away, planes, and sizes over twelve decades, in sets that are large enough for the grids to
// matter: what the structure holds after its pairs were found, by the allocator.
TYPED_TEST(Hostile, MemoryIsLinear) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const auto bytes_per_box = [](std::size_t n) {
        base::SplitMix random(7);
        std::vector<Box<D, T>> boxes(n);
        const double side = 30 * std::pow(static_cast<double>(n), 1.0 / D);
        for (std::size_t i = 0; i < n; ++i) {
            const double size = i % 3 ? 1 : std::pow(10.0, random.uniform(-6, i % 300 ? 1 : 6));
            for (int k = 0; k < D; ++k) {
                boxes[i].lo[k] = static_cast<T>(random.uniform(-side, side));
                boxes[i].hi[k] = boxes[i].lo[k] + static_cast<T>(size * random.uniform(0.5, 1));
            }
        }
        for (int k = 0; k < D; ++k) boxes[1].lo[k] = boxes[1].hi[k] = T(1e9);
        boxes[2].lo[0] = -std::numeric_limits<T>::infinity();
        boxes[4].hi[D - 1] = std::numeric_limits<T>::infinity();
        const std::size_t before = held();
        typename TypeParam::Structure structure;
        structure.insert(std::span<const Box<D, T>>(boxes));
        structure.for_each_pair([](Pair) {});
        const std::size_t after = held();
        EXPECT_GT(after, before + n * sizeof(Box<D, T>));  // the boxes at least
        return static_cast<double>(after - before) / static_cast<double>(n);
    };
    const double few = bytes_per_box(3000), many = bytes_per_box(12000);
    EXPECT_LT(many, 2600);  // the hierarchical hash marks the cells above an object in twenty classes
    EXPECT_LT(many, 1.5 * few);
}
#endif

// What a set of n boxes is like; each box by its number, in any order.
template <int D, class T>
struct Uneven {
    const char* name;
    Box<D, T> (*box)(std::size_t i, double side, base::SplitMix& random);
};

template <int D, class T>
Box<D, T> cube_at(double from, double side, double size, base::SplitMix& random) {
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        box.lo[k] = static_cast<T>(from + random.uniform(0, side));
        box.hi[k] = box.lo[k] + static_cast<T>(size);
    }
    return box;
}

// HHG 3.8: boxes that lie unevenly must not ruin the hierarchy. Its tests per box stay what they are in an even world,
// within a small factor, and do not grow with the number of boxes.
template <class K>
class UnevenWorlds : public testing::Test {};
TYPED_TEST_SUITE(UnevenWorlds, test::Kinds);

TYPED_TEST(UnevenWorlds, AreSearchedLikeEvenOnes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const Uneven<D, T> worlds[] = {
        {"two groups in turn",
         [](std::size_t i, double side, base::SplitMix& r) { return cube_at<D, T>(i % 2 ? 100 : 0, side, 1, r); }},
        {"two groups far apart",
         [](std::size_t i, double side, base::SplitMix& r) { return cube_at<D, T>(i % 2 ? 1e7 : 0, side, 1, r); }},
        {"one a billion cells away, the first",
         [](std::size_t i, double side, base::SplitMix& r) { return cube_at<D, T>(i ? 0 : 1e9, side, 1, r); }},
        {"half in a cluster",
         [](std::size_t i, double side, base::SplitMix& r) { return cube_at<D, T>(0, i % 2 ? 1e7 : side, 1, r); }},
        {"denser towards the middle",
         [](std::size_t, double, base::SplitMix& r) {
             const double away = std::pow(10.0, r.uniform(-3, 3));
             Box<D, T> box = cube_at<D, T>(-1, 2, 0, r);
             for (int k = 0; k < D; ++k) {
                 box.lo[k] *= static_cast<T>(away);
                 box.hi[k] = box.lo[k] + static_cast<T>(0.03 * away);
             }
             return box;
         }},
    };
    for (const Uneven<D, T>& world : worlds)
        for (const std::size_t n : {5000, 20000}) {
            base::SplitMix random(11);
            std::vector<Box<D, T>> boxes(n);
            const double side = std::pow(static_cast<double>(n) / 2, 1.0 / D) * (D == 2 ? 2 : 1.5);
            for (std::size_t i = 0; i < n; ++i) boxes[i] = world.box(i, side, random);
            HashGridHierarchy<D, T> grid;
            grid.insert(std::span<const Box<D, T>>(boxes));
            std::vector<Pair> pairs;
            grid.find_pairs(pairs);
            EXPECT_LT(static_cast<double>(grid.stats().tests) / static_cast<double>(n), 250) << world.name << ' ' << n;
            if (n == 5000) {
                EXPECT_TRUE(test::same_self_pairs(test::oracle_pairs<D, T>(boxes), pairs)) << world.name;
            }
        }
}

TYPED_TEST(Hostile, BadBoxesAreNamedAndChangeNothing) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const workloads::MovingBoxes<D, T> world(workloads::BoxScene::sizes, 300);
    typename TypeParam::Structure structure;
    structure.insert(world.boxes());
    std::vector<Pair> before, after;
    structure.find_pairs(before);
    std::vector<Box<D, T>> bad(world.boxes().begin(), world.boxes().end());
    const auto expect_error = [&](auto&& call, ErrorKind kind, std::optional<std::size_t> index) {
        try {
            call();
            FAIL() << "accepted";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), kind);
            if (index) {
                EXPECT_EQ(e.where().index, *index);
            }
        }
        EXPECT_EQ(structure.size(), 300u);
        structure.find_pairs(after);
        EXPECT_EQ(before, after);
    };
    const std::span<const Box<D, T>> span(bad);
    bad[123].hi[D - 1] = std::numeric_limits<T>::quiet_NaN();
    expect_error([&] { structure.update(span); }, ErrorKind::bad_value, 123);
    expect_error([&] { structure.insert(span); }, ErrorKind::bad_value, 123);
    bad[123].hi[D - 1] = bad[123].lo[D - 1] - 1;
    expect_error([&] { structure.update(span); }, ErrorKind::bad_value, 123);
    expect_error([&] { structure.insert(span.subspan(120)); }, ErrorKind::bad_value, 3);
    expect_error([&] { structure.update(world.boxes().first(299)); }, ErrorKind::bad_shape, std::nullopt);
    if constexpr (EditableBroadPhase<typename TypeParam::Structure, D, T>) {
        expect_error([&] { structure.insert(bad[123]); }, ErrorKind::bad_value, std::nullopt);
        expect_error([&] { structure.move(structure.id(5), bad[123]); }, ErrorKind::bad_value, 5);
        expect_error([&] { structure.erase(Id{}); }, ErrorKind::stale_id, std::nullopt);
        expect_error([&] { structure.erase(Id{999, 1}); }, ErrorKind::stale_id, 999);
        const Id twice = structure.insert(Box<D, T>{});
        structure.erase(twice);
        expect_error([&] { structure.erase(twice); }, ErrorKind::stale_id, twice.slot);
        expect_error([&] { structure.move(twice, Box<D, T>{}); }, ErrorKind::stale_id, twice.slot);
    }
}

TYPED_TEST(Hostile, MaxBytesNamesTheSize) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    using Structure = typename TypeParam::Structure;
    if constexpr (requires(typename Structure::Options o) { o.max_bytes; }) {
        typename Structure::Options options;
        options.max_bytes = 1000;
        Structure structure(options);
        Box<D, T> unit{};
        for (int k = 0; k < D; ++k) unit.hi[k] = 1;
        const std::vector<Box<D, T>> same(60, unit);
        structure.insert(std::span<const Box<D, T>>(same).first(15));
        std::vector<Pair> pairs;
        structure.find_pairs(pairs);
        EXPECT_EQ(pairs.size(), 105u);
        constexpr bool keeps = std::same_as<Structure, KeptPairs<D, T>>;  // pairs: it refuses to hold them
        pairs = {};
        try {
            structure.insert(std::span<const Box<D, T>>(same).subspan(15));
            EXPECT_FALSE(keeps);
            structure.find_pairs(pairs);
            FAIL() << "too many pairs were stored";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::too_large);
            EXPECT_NE(std::string(e.what()).find(std::to_string(60 * 59 / 2 * sizeof(Pair))), std::string::npos)
                << e.what();
        }
        if (keeps) {
            EXPECT_EQ(structure.size(), 15u);
            structure.find_pairs(pairs);
            EXPECT_EQ(pairs.size(), 105u);
            return;
        }
        // Streams hold nothing, and have no limit.
        std::size_t streamed = 0;
        structure.for_each_pair([&](Pair) { ++streamed; });
        EXPECT_EQ(streamed, 1770u);
        // The pairs beyond it were counted, not held.
        EXPECT_LE(pairs.capacity(), 8192u);
    }
}

}  // namespace
