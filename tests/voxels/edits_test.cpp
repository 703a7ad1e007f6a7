// Voxels with an overlay against a map, over long random sequences of edits.
#include "support/scale.hpp"
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace quadrat {
namespace {

template <int D>
using EditOracle = std::map<Voxel<D>, std::uint32_t, test::VoxelLess<D>>;

template <int D>
void expect_same_entries(const EditableVoxels<std::uint32_t, D>& v, const EditOracle<D>& oracle,
                         const std::vector<Voxel<D>>& queries) {
    ASSERT_EQ(v.size(), oracle.size());
    std::vector<std::uint32_t> batch(queries.size());
    v.at(queries, batch, 7u);
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto it = oracle.find(queries[i]);
        const std::uint32_t want = it == oracle.end() ? 7u : it->second;
        ASSERT_EQ(v.at(queries[i], 7u), want);
        ASSERT_EQ(batch[i], want);
        ASSERT_EQ(v.find(queries[i]) != nullptr, it != oracle.end());
    }
    EditOracle<D> seen;
    v.for_each([&](const Voxel<D>& p, const std::uint32_t& value) { ASSERT_TRUE(seen.emplace(p, value).second); });
    ASSERT_EQ(seen, oracle);
}

template <int D>
void sweep_edits(const VoxelOptions& options, std::size_t packed, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    const auto points = test::random_voxels<D>(packed, -12, 24, seed);
    std::vector<std::uint32_t> values(points.size());
    std::iota(values.begin(), values.end(), 100u);
    EditOracle<D> oracle;
    for (std::size_t i = 0; i < points.size(); ++i) oracle[points[i]] = values[i];
    EditableVoxels<std::uint32_t, D> v(SparseVoxels<std::uint32_t, D>::pack(points, values, options), options);
    const auto anywhere = [&] {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g() % 40) - 20;
        return p;
    };
    for (int round = 0; round < test::scaled(3000, 1200, 400); ++round) {
        const Voxel<D> p = anywhere();
        const auto value = static_cast<std::uint32_t>(g() % 1000 + 10);
        if (g() % 2) {
            ASSERT_EQ(v.insert(p, value), oracle.insert_or_assign(p, value).second);
        } else {
            ASSERT_EQ(v.erase(p), oracle.erase(p) == 1);
        }
        if (std::uint32_t* at = v.find(p)) *at = oracle[p] = value + 1;
        if (round % 500 == 499 && v.should_repack()) {
            v.repack();
            ASSERT_EQ(v.inserted() + v.erased(), 0u);
            ASSERT_EQ(v.packed().size(), oracle.size());
        }
        if (round % 250 != 0) continue;
        std::vector<Voxel<D>> queries(points);
        for (int k = 0; k < 300; ++k) queries.push_back(anywhere());
        ASSERT_NO_FATAL_FAILURE(expect_same_entries(v, oracle, queries));
    }
    v.repack();
    ASSERT_NO_FATAL_FAILURE(expect_same_entries(v, oracle, points));
    while (!oracle.empty()) {
        ASSERT_TRUE(v.erase(oracle.begin()->first));
        oracle.erase(oracle.begin());
    }
    ASSERT_EQ(v.size(), 0u);
    v.repack();
    ASSERT_NO_FATAL_FAILURE(expect_same_entries(v, oracle, points));
    ASSERT_TRUE(v.insert(anywhere(), 1));
}

TEST(EditableVoxels, AreAMap) {
    for (const Layout l : {Layout::automatic, Layout::voxel, Layout::brick, Layout::bits, Layout::keys}) {
        SCOPED_TRACE(name(l));
        sweep_edits<2>({.layout = l}, 200, 3);
        sweep_edits<3>({.layout = l}, 900, 4);
    }
    sweep_edits<3>({}, 0, 5);
}

TEST(EditableVoxels, RepackKeepsWhatTheGridHas) {
    const std::vector<Voxel<3>> points{{0, 0, 0}, {1, 0, 0}, {5, 5, 5}};
    auto packed = SparseVoxels<float>::pack(points, std::vector<float>{1, 2, 3});
    auto other = packed.add_channel<std::uint16_t>("other");
    for (std::size_t i = 0; i < points.size(); ++i)
        other[packed.index().find(points[i])] = static_cast<std::uint16_t>(40 + i);
    packed.grid().channel("other")->background = {9, 0};
    packed.grid().transform = GridTransform<3>::uniform({1, 2, 3}, 0.5);
    packed.grid().set_note("unit", "m");
    EditableVoxels<float> v(std::move(packed));
    v.erase({1, 0, 0});
    v.insert({7, 7, 7}, 4);
    v.repack();
    const VoxelGrid<3>& grid = v.packed().grid();
    EXPECT_EQ(grid.transform, GridTransform<3>::uniform({1, 2, 3}, 0.5));
    EXPECT_EQ(grid.note("unit"), "m");
    ASSERT_EQ(grid.channels.size(), 2u);
    const auto at = [&](const Voxel<3>& p) {
        std::uint16_t value;
        std::memcpy(&value, grid.channel("other")->buffer.data.get() + 2 * grid.index.find(p), 2);
        return value;
    };
    EXPECT_EQ(at({0, 0, 0}), 40);
    EXPECT_EQ(at({5, 5, 5}), 42);
    EXPECT_EQ(at({7, 7, 7}), 9);
    EXPECT_EQ(v.at({7, 7, 7}), 4);
    EXPECT_EQ(v.find({1, 0, 0}), nullptr);
}

TEST(EditableVoxels, WhatCannotBePackedIsRefused) {
    EditableVoxels<float> v;
    EXPECT_TRUE(v.insert({0, 0, 0}, 1));
    EXPECT_TRUE(v.insert({2097151, 0, -5}, 2));
    try {
        v.insert({-1, 0, 0}, 3);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().column, 0u);
    }
    EXPECT_EQ(v.size(), 2u);
    v.repack();
    EXPECT_EQ(v.at({2097151, 0, -5}), 2);
    const std::vector<Voxel<3>> one{{0, 0, 0}};
    EXPECT_THROW(EditableVoxels<float>(
                     SparseVoxels<float>::pack(one, std::vector<float>{1}, {.encoding = Encoding::constrained})),
                 Error);
}

}  // namespace
}  // namespace quadrat
