// Pairs of all ranks against the serial answer: every hostile scene, every start, both kinds of cuts; moving boxes;
// spheres; half-spaces.
#include "world.hpp"

#include <quadrat/broad_phase.hpp>

#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "workloads/scenes.hpp"

#include <cmath>
#include <limits>

namespace quadrat {
namespace {

using test::Share;

template <int D, class T>
std::vector<GlobalPair> serial_pairs(std::span<const Box<D, T>> boxes) {
    std::vector<GlobalPair> pairs;
    for (const Pair& p : test::oracle_pairs<D, T>(boxes)) pairs.push_back({p.first, p.second});
    return pairs;
}

template <int D, class T>
std::vector<workloads::NamedBoxes<D, T>> scenes() {
    auto all = workloads::hostile_boxes<D, T>();
    const T inf = std::numeric_limits<T>::infinity();
    base::SplitMix random(7);
    std::vector<Box<D, T>> lattice, same(300), rods(250), every(120), few;
    for (int i = 0; i < 500; ++i) {  // touching: every cut is a tie
        Box<D, T> b;
        for (int k = 0, q = i; k < D; ++k, q /= 8) {
            b.lo[k] = static_cast<T>(q % 8);
            b.hi[k] = b.lo[k] + 1;
        }
        lattice.push_back(b);
    }
    for (auto& b : same)
        for (int k = 0; k < D; ++k) {
            b.lo[k] = 1;
            b.hi[k] = 2;
        }
    for (std::size_t i = 0; i < rods.size(); ++i)
        for (int k = 0; k < D; ++k) {
            const double c = random.uniform(0, 10), h = static_cast<int>(i % D) == k ? 6 : 0.2;
            rods[i].lo[k] = static_cast<T>(c - h);
            rods[i].hi[k] = static_cast<T>(c + h);
        }
    for (std::size_t i = 0; i < every.size(); ++i)  // infinite along some axes, or all
        for (int k = 0; k < D; ++k) {
            const double c = random.uniform(0, 10);
            every[i].lo[k] = (i >> k & 1) || i % 7 == 0 ? -inf : static_cast<T>(c);
            every[i].hi[k] = (i >> (k + 1) & 1) || i % 7 == 0 ? inf : static_cast<T>(c + 0.5);
        }
    all.push_back({"touching lattice", lattice});
    all.push_back({"all identical", same});
    all.push_back({"rods", rods});
    all.push_back({"infinite along some axes", every});
    for (const std::size_t n : {1, 2, 3, 5}) {
        few.assign(same.begin(), same.begin() + static_cast<std::ptrdiff_t>(n));
        all.push_back({std::to_string(n) + " boxes", few});
    }
    return all;
}

template <class K>
class DistributedPairs : public testing::Test {};
TYPED_TEST_SUITE(DistributedPairs, test::Kinds);

TYPED_TEST(DistributedPairs, HostileScenesFromAnyStart) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    for (const auto& scene : scenes<D, T>()) {
        const auto expected = serial_pairs<D, T>(scene.boxes);
        for (const Share share : test::shares)
            for (const CutSource cuts : {CutSource::automatic, CutSource::sample}) {
                SCOPED_TRACE(scene.name);
                const auto part = test::part_of<Box<D, T>>(scene.boxes, share);
                DistributedBroadPhase<D, T> phase(MPI_COMM_WORLD, {.cuts = cuts});
                Migration m = phase.insert(part.items, part.ids);
                EXPECT_EQ(m.after(), phase.own());
                std::vector<GlobalPair> pairs;
                phase.find_pairs(pairs);
                EXPECT_TRUE(test::same_on_all(expected, pairs));
            }
    }
}

TYPED_TEST(DistributedPairs, OneCall) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const workloads::MovingBoxes<D, T> scene(workloads::BoxScene::sizes, 1500);
    const auto part = test::part_of<Box<D, T>>(scene.boxes(), Share::blocks);  // so that numbers are positions
    EXPECT_TRUE(test::same_on_all(serial_pairs<D, T>(scene.boxes()),
                                  find_pairs<D, T>(MPI_COMM_WORLD, std::span<const Box<D, T>>(part.items))));
}

TYPED_TEST(DistributedPairs, MovingBoxesWithThreads) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    ThreadExecutor pool(2);
    workloads::MovingBoxes<D, T> scene(workloads::BoxScene::clustered, 1200);
    DistributedBroadPhase<D, T> phase(MPI_COMM_WORLD, {.executor = &pool, .imbalance = 1.05});
    auto part = test::part_of<Box<D, T>>(scene.boxes(), Share::strided);
    phase.insert(part.items, part.ids).apply(part.items);
    for (int step = 0; step < 12; ++step) {
        for (int k = 0; k < 5; ++k) scene.step();
        part.items.clear();
        for (std::uint32_t i = 0; i < phase.own(); ++i) part.items.push_back(scene.boxes()[phase.id(i)]);
        phase.update(std::span<const Box<D, T>>(part.items)).apply(part.items);
        std::size_t wrong = 0;
        for (std::uint32_t i = 0; i < phase.own(); ++i) wrong += part.items[i] != scene.boxes()[phase.id(i)];
        EXPECT_EQ(wrong, 0u);
        std::vector<GlobalPair> pairs;
        phase.find_pairs(pairs);
        EXPECT_TRUE(test::same_on_all(serial_pairs<D, T>(scene.boxes()), pairs));
    }
    if (test::ranks() > 1) {
        EXPECT_GE(phase.stats().cuts, 1u);
    }
}

TYPED_TEST(DistributedPairs, Spheres) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    base::SplitMix random(3);
    std::vector<Sphere<D, T>> all(900);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (int k = 0; k < D; ++k) all[i].center[k] = static_cast<T>(std::floor(random.uniform(0, 40)) / 4);
        all[i].radius = static_cast<T>(i % 50 == 0 ? 3 : std::floor(random.uniform(0, 4)) / 8);
    }
    HashGridHierarchy<D, T> serial;
    serial.insert(std::span<const Sphere<D, T>>(all));
    std::vector<Pair> found;
    serial.find_pairs(found);
    std::vector<GlobalPair> expected;
    for (const Pair& p : found) expected.push_back({p.first, p.second});
    EXPECT_GT(expected.size(), 100u);
    DistributedBroadPhase<D, T> phase(MPI_COMM_WORLD);
    auto part = test::part_of<Sphere<D, T>>(all, Share::last_rank);
    phase.insert(part.items, part.ids).apply(part.items);
    for (int step = 0; step < 2; ++step) {
        std::vector<GlobalPair> pairs;
        phase.find_pairs(pairs);
        EXPECT_TRUE(test::same_on_all(expected, pairs));
        phase.update(std::span<const Sphere<D, T>>(part.items)).apply(part.items);
    }
}

TYPED_TEST(DistributedPairs, HalfSpaces) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const workloads::MovingBoxes<D, T> scene(workloads::BoxScene::sizes, 700);
    std::vector<HalfSpace<D, T>> walls(3);
    for (int k = 0; k < D; ++k) {
        walls[0].normal[k] = T(1);
        walls[1].normal[k] = k == 0 ? T(-1) : T(0);
        walls[2].normal[k] = k == 0 ? T(1) : T(0);
    }
    walls[0].offset = static_cast<T>(scene.side() / 2);
    walls[1].offset = static_cast<T>(-scene.side() * 0.9);
    walls[2].offset = static_cast<T>(scene.side() * 0.1);
    HashGridHierarchy<D, T> serial;
    serial.insert(scene.boxes());
    for (const auto& w : walls) serial.insert(w);
    std::vector<Pair> found;
    serial.find_pairs(found);
    std::vector<GlobalPair> expected;
    for (const Pair& p : found) expected.push_back({p.first, p.second});

    DistributedBroadPhase<D, T> phase(MPI_COMM_WORLD);
    const auto part = test::part_of<Box<D, T>>(scene.boxes(), Share::strided);
    auto own_walls = test::part_of<HalfSpace<D, T>>(walls, Share::strided);
    for (auto& id : own_walls.ids) id += scene.boxes().size();
    phase.set_half_spaces(own_walls.items, own_walls.ids);
    phase.insert(part.items, part.ids);
    std::vector<GlobalPair> pairs;
    phase.find_pairs(pairs);
    EXPECT_TRUE(test::same_on_all(expected, pairs));
    EXPECT_EQ(phase.size(), phase.held() + 3);
}

TEST(DistributedPairsMemory, LargeBoxesAreHeldWhereTheyReach) {
    // 20 boxes of half the domain among 4000: what a rank holds is its share and what reaches it.
    workloads::MovingBoxes<3, float> scene(workloads::BoxScene::equal, 4000);
    std::vector<Box3f> boxes(scene.boxes().begin(), scene.boxes().end());
    const float side = static_cast<float>(scene.side());
    for (std::size_t i = 0; i < 20; ++i)
        for (int k = 0; k < 3; ++k) boxes[i * 100].hi[k] = boxes[i * 100].lo[k] + side / 2;
    const auto part = test::part_of<Box3f>(boxes, Share::strided);
    DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD);
    phase.insert(part.items, part.ids);
    std::size_t reach = 0;
    for (const Box3f& b : boxes) {
        Region<3> r = phase.decomposition().region();
        bool meets = true;
        for (int k = 0; k < 3; ++k) meets = meets && b.hi[k] > r.lo[k] && b.lo[k] <= r.hi[k];
        reach += meets;
    }
    EXPECT_EQ(phase.held(), reach);
}

}  // namespace
}  // namespace quadrat
