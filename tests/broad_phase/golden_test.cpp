// The bytes that find_pairs writes, in their order: the same for any number of threads, for scalar and vector code, and
// for every compiler, since the constants below are.
#include "base/simd.hpp"
#include "support/scale.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace {

using namespace quadrat;

std::uint64_t fnv(std::uint64_t hash, std::span<const Pair> pairs) {
    for (const Pair& p : pairs)
        for (const std::uint32_t word : {p.first, p.second})
            for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (word >> shift & 0xff)) * 0x100000001b3u;
    return hash;
}

// Two steps of every scene, one of them large enough for all structures to use their threads.
template <class Structure, int D, class T>
std::uint64_t bytes_of(Executor* executor, std::uint64_t hash) {
    for (const char* name : {"B1", "B2", "B3", "B4", "B5", "B6"}) {
        workloads::MovingBoxes<D, T> world(*workloads::box_scene(name), name[1] == '2' ? 18'000 : 2500);
        typename Structure::Options options;
        options.executor = executor;
        Structure structure(options);
        structure.insert(world.boxes());
        std::vector<Pair> pairs;
        structure.find_pairs(pairs);
        hash = fnv(hash, pairs);
        world.step();
        structure.update(world.boxes());
        if constexpr (EditableBroadPhase<Structure, D, T>)
            for (std::uint32_t i = 0; i < 700; ++i) structure.move(structure.id(i * 3), world.boxes()[i]);
        structure.find_pairs(pairs);
        hash = fnv(hash, pairs);
    }
    return hash;
}

template <template <int, class> class Structure>
std::uint64_t all_kinds(Executor* executor = nullptr) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    hash = bytes_of<Structure<2, float>, 2, float>(executor, hash);
    hash = bytes_of<Structure<3, float>, 3, float>(executor, hash);
    hash = bytes_of<Structure<2, double>, 2, double>(executor, hash);
    return bytes_of<Structure<3, double>, 3, double>(executor, hash);
}

template <template <int, class> class Structure>
void check(std::uint64_t golden) {
    if (test::kRaces) {  // the constant is that of all kinds
        using One = Structure<3, float>;
        ThreadExecutor seven(7);
        EXPECT_EQ((bytes_of<One, 3, float>(&seven, 0)), (bytes_of<One, 3, float>(nullptr, 0))) << "7 threads";
        return;
    }
    if (test::kWhole) {
        EXPECT_EQ(all_kinds<Structure>(), golden)
            << "if the order was changed on purpose, put this value into the test";
    }
    ThreadExecutor seven(7);
    EXPECT_EQ(all_kinds<Structure>(&seven), golden) << "7 threads";
}

template <template <int, class> class Structure>
void check_targets(std::uint64_t golden) {
    check<Structure>(golden);
    if (!test::kWhole) return;
    ThreadExecutor two(2);
    EXPECT_EQ(all_kinds<Structure>(&two), golden) << "2 threads";
    base::for_each_simd_target([&] { EXPECT_EQ(all_kinds<Structure>(), golden) << "SIMD target"; });
}

// Regenerate when the order of pairs is changed on purpose: the failing test prints the new value.
// Last time: few homes are taken one by one (docs/decisions/0112-what-rests.md).
TEST(GoldenBytes, HashGridHierarchy) {
    check_targets<HashGridHierarchy>(0x14468e13e89cebf1u);
}
TEST(GoldenBytes, HierarchicalHash) {
    check_targets<HierarchicalHash>(0x5ca4e9da44ec2425u);
}
TEST(GoldenBytes, MultilevelHash) {
    check<MultilevelHash>(0x972e2ee9d9347385u);
}
// Last time: it can be edited, so that its boxes are moved here, too (docs/decisions/0068-edits-of-hashed-cells.md).
TEST(GoldenBytes, UniformHash) {
    check<UniformHash>(0x73cc5666cfcdff19u);
}
TEST(GoldenBytes, GroupHash) {
    check<GroupHash>(0x3637e0396de9f9ddu);
}

}  // namespace
