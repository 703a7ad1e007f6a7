// Migration and halo of the caller's own arrays, balance, errors that all ranks agree on, and limits of memory.
#include "world.hpp"

#include <quadrat/error.hpp>

#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace quadrat {
namespace {

using test::Share;
using VecT = Vec3d;

std::vector<VecT> uniform(std::size_t n, double side, std::uint64_t seed) {
    base::SplitMix random(seed);
    std::vector<VecT> points(n);
    for (auto& p : points)
        for (int k = 0; k < 3; ++k) p[k] = random.uniform(0, side);
    return points;
}

TEST(Decomposition, EveryArrayFollowsItsBodies) {
    const auto all = uniform(2000, 10, 1);
    Decomposition<3, double> cuts(MPI_COMM_WORLD);
    auto part = test::part_of<VecT>(all, Share::last_rank);
    std::vector<float> halves(part.ids.begin(), part.ids.end());
    const Migration m = cuts.update(std::span<const VecT>(part.items));
    m.apply(part.items);
    m.apply(part.ids);
    m.apply(halves);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < part.ids.size(); ++i)
        wrong += part.items[i] != all[part.ids[i]] || halves[i] != static_cast<float>(part.ids[i]) ||
                 cuts.home(part.items[i]) != test::rank() || !cuts.region().holds(part.items[i]);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(test::all_of(part.ids).size(), all.size());
    EXPECT_LT(static_cast<double>(part.ids.size()), 1.1 * 2000 / test::ranks() + 1);
    // Nothing moves when nothing has moved, and the order stays.
    const Migration none = cuts.update(std::span<const VecT>(part.items));
    EXPECT_EQ(none.leaving(), 0u);
    auto same = part.ids;
    none.apply(same);
    EXPECT_EQ(same, part.ids);
}

TEST(Decomposition, HaloSendsAndAddsBack) {
    const auto all = uniform(1500, 10, 2);
    Decomposition<3, double> cuts(MPI_COMM_WORLD);
    auto part = test::part_of<VecT>(all, Share::strided);
    const Migration m = cuts.update(std::span<const VecT>(part.items));
    m.apply(part.items);
    m.apply(part.ids);
    const Halo halo = cuts.halo(std::span<const VecT>(part.items), 1.0);
    auto ids = part.ids;
    halo.send(ids);
    EXPECT_EQ(ids.size(), halo.held());
    EXPECT_EQ(halo.held(), halo.own() + halo.ghosts());
    auto points = part.items;
    halo.send(points);
    halo.send(points);  // again, over the ghosts that are there
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) wrong += points[i] != all[ids[i]];
    EXPECT_EQ(wrong, 0u);
    // Everyone who knows a body adds one: the owner gets the number of ranks that know it.
    std::vector<std::uint32_t> known(halo.held(), 1);
    halo.add_back(known);
    std::vector<Vec<2, float>> vectors(halo.held(), Vec<2, float>{1, 2});
    halo.add_back(vectors);
    const auto everywhere = test::all_of(ids);
    std::vector<std::uint32_t> count(all.size(), 0);
    for (const auto id : everywhere) ++count[id];
    wrong = 0;
    for (std::size_t i = 0; i < halo.own(); ++i)
        wrong += known[i] != count[ids[i]] || vectors[i][1] != 2 * static_cast<float>(count[ids[i]]);
    EXPECT_EQ(wrong, 0u);
}

TEST(Decomposition, BalanceFollowsTheBodies) {
    // A cloud that gathers in a corner: the first cuts become useless.
    auto all = uniform(4000, 10, 3);
    Decomposition<3, double> cuts(MPI_COMM_WORLD, {.imbalance = 1.2}), fixed(MPI_COMM_WORLD, {.imbalance = INFINITY});
    for (auto* d : {&cuts, &fixed}) {
        auto part = test::part_of<VecT>(all, Share::strided);
        for (int step = 0; step < 6; ++step) {
            d->update(std::span<const VecT>(part.items)).apply(part.items);
            for (auto& p : part.items)
                for (int k = 0; k < 3; ++k) p[k] *= p[k] / 10;
        }
    }
    if (test::ranks() > 1) {
        EXPECT_LT(cuts.stats().imbalance, 1.25);
        EXPECT_GT(cuts.stats().cuts, 1u);
        EXPECT_EQ(fixed.stats().cuts, 1u);
        EXPECT_GT(fixed.stats().imbalance, 1.25);
    }
}

TEST(Decomposition, WhatCutsCannotMendIsNotCutAgain) {
    std::vector<VecT> same(200, VecT{1, 2, 3});
    Decomposition<3, double> cuts(MPI_COMM_WORLD);
    auto part = test::part_of<VecT>(same, Share::strided);
    for (int step = 0; step < 10; ++step) cuts.update(std::span<const VecT>(part.items)).apply(part.items);
    EXPECT_LE(cuts.stats().cuts, 2u);
    EXPECT_EQ(test::all_of(part.items).size(), 200u);
}

std::size_t resident() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    file >> pages >> pages;
    return pages * 4096;
}

TEST(Decomposition, AThousandCutsDoNotGrow) {
    Communicator comm(MPI_COMM_WORLD);
    std::size_t before = 0;
    const auto all = uniform(300, 10, 5);
    const auto part = test::part_of<VecT>(all, Share::strided);
    for (int k = 0; k < 1000; ++k) {
        if (k == 200) before = resident();
        Decomposition<3, double> cuts(MPI_COMM_WORLD);
        auto items = part.items;
        cuts.update(std::span<const VecT>(items)).apply(items);
    }
    EXPECT_LT(resident(), before + (std::size_t{4} << 20));
}

TEST(Together, OneErrorOnAllRanks) {
    const Communicator comm(MPI_COMM_WORLD);
    const int guilty = comm.size() - 1;
    const std::string suffix = comm.size() > 1 ? " (on rank " + std::to_string(guilty) + ")" : "";
    const Error e = test::thrown_by([&] {
        together(comm, [&] {
            if (comm.rank() == guilty)
                throw Error(ErrorKind::bad_value, "NaN", {.file = "boxes.npy", .index = 17, .column = 2});
        });
    });
    EXPECT_EQ(e.kind(), ErrorKind::bad_value);
    EXPECT_EQ(e.message(), "NaN" + suffix);
    EXPECT_EQ(e.where().file, "boxes.npy");
    EXPECT_EQ(e.where().index, 17u);
    EXPECT_EQ(e.where().column, 2u);
    EXPECT_FALSE(e.where().line);
    const Error memory = test::thrown_by([&] {
        together(comm, [&] {
            if (comm.rank() == guilty) throw std::bad_alloc();
        });
    });
    EXPECT_EQ(memory.kind(), ErrorKind::too_large);
    EXPECT_THROW(together(comm,
                          [&] {
                              if (comm.rank() == guilty) throw 7;
                          }),
                 std::runtime_error);
    // Of several, the lowest rank's.
    const Error lowest = test::thrown_by(
        [&] { together(comm, [&] { throw Error(ErrorKind::bad_shape, std::to_string(comm.rank())); }); });
    EXPECT_EQ(lowest.message().substr(0, 1), "0");
    EXPECT_NO_THROW(together(comm, [] {}));
}

TEST(Errors, BadValuesAreNamedOnAllRanksAndChangeNothing) {
    workloads::MovingBoxes<3, float> scene(workloads::BoxScene::equal, 600);
    DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD);
    auto part = test::part_of<Box3f>(scene.boxes(), Share::blocks);
    phase.insert(part.items, part.ids).apply(part.items);
    std::vector<GlobalPair> before, after;
    phase.find_pairs(before);
    auto bad = part.items;
    if (test::rank() == test::ranks() - 1) bad.at(3).lo[1] = std::nanf("");
    const Error e = test::thrown_by([&] { phase.update(std::span<const Box3f>(bad)); });
    EXPECT_EQ(e.kind(), ErrorKind::bad_value);
    EXPECT_EQ(e.where().index, 3u);
    if (test::ranks() > 1) {
        EXPECT_NE(e.message().find("rank " + std::to_string(test::ranks() - 1)), std::string::npos);
    }
    bad.resize(bad.size() - (test::rank() == 0));
    EXPECT_EQ(test::thrown_by([&] { phase.update(std::span<const Box3f>(bad)); }).kind(), ErrorKind::bad_shape);
    const std::vector<Sphere<3, float>> spheres(part.items.size());
    EXPECT_EQ(test::thrown_by([&] { phase.update(std::span<const Sphere<3, float>>(spheres)); }).kind(),
              ErrorKind::bad_shape);
    phase.find_pairs(after);
    EXPECT_EQ(before, after);
    const std::vector<Vec3f> points = {Vec3f{0, INFINITY, 0}};
    EXPECT_EQ(test::thrown_by([&] {
                  DistributedNeighbors<3, float> near(MPI_COMM_WORLD, 1.f);
                  near.insert(std::span<const Vec3f>(points));
              }).kind(),
              ErrorKind::bad_value);
    EXPECT_EQ(test::thrown_by([&] { DistributedNeighbors<3, float>(MPI_COMM_WORLD, 0.f); }).kind(),
              ErrorKind::bad_value);
}

TEST(Errors, MemoryIsCheckedBeforeItIsTaken) {
    workloads::MovingBoxes<3, float> scene(workloads::BoxScene::equal, 3000);
    const auto part = test::part_of<Box3f>(scene.boxes(), Share::last_rank);
    DistributedBroadPhase<3, float> phase(MPI_COMM_WORLD, {.max_bytes = 4096});
    const auto call = [&] {
        phase.insert(std::span<const Box3f>(part.items));
        std::vector<Pair> pairs;
        phase.find_pairs(pairs);
    };
    const Error e = test::thrown_by(call);
    EXPECT_EQ(e.kind(), ErrorKind::too_large);
    EXPECT_NE(std::string(e.what()).find("max_bytes"), std::string::npos);
}

TEST(Communicator, IsADuplicate) {
    const Communicator comm(MPI_COMM_WORLD);
    int result = 0;
    MPI_Comm_compare(comm.handle(), MPI_COMM_WORLD, &result);
    EXPECT_EQ(result, MPI_CONGRUENT);
    EXPECT_EQ(comm.sum(2), 2u * static_cast<unsigned>(comm.size()));
    EXPECT_EQ(comm.sum_before(1), static_cast<std::uint64_t>(comm.rank()));
}

}  // namespace
}  // namespace quadrat
