// Tags of fewer bits than a bucket's number: every position of the domain is asked for, stored or not.
#include "voxels/hash/short_tags.hpp"
#include "support/scale.hpp"
#include "voxels/data.hpp"

#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <set>

namespace quadrat {
namespace {

template <int D>
int whole_bits(const VoxelIndex<D>& x) {
    int bits = 1;
    while (std::uint64_t{x.hash().buckets()} >> bits != 0) ++bits;
    return bits;
}

// The answers of an index to every position of its domain, one by one, in a batch, and by walking.
template <int D>
void expect_exact(const VoxelIndex<D>& x, const std::vector<Voxel<D>>& stored, const std::string& what) {
    const auto key = [&](const Voxel<D>& p) {
        std::uint64_t k = 0;
        for (int a = D - 1; a >= 0; --a)
            k = k * x.extent()[static_cast<std::size_t>(a)] + static_cast<std::uint32_t>(p[a] - x.origin()[a]);
        return k;
    };
    std::uint64_t cells = 1;
    for (const std::uint32_t e : x.extent()) cells *= e;
    std::vector<bool> there(cells);
    for (const auto& p : stored) there[key(p)] = true;
    std::vector<bool> used(x.values());
    std::vector<Voxel<D>> row;
    std::vector<std::uint32_t> places;
    std::uint64_t wrong = 0;
    for (std::uint64_t k = 0; k < cells; ++k) {
        Voxel<D> p;
        std::uint64_t rest = k;
        for (int a = 0; a < D; ++a) {
            const std::uint32_t e = x.extent()[static_cast<std::size_t>(a)];
            p[a] = x.origin()[a] + static_cast<std::int32_t>(rest % e);
            rest /= e;
        }
        const std::uint32_t place = x.find(p);
        wrong += (place != VoxelIndex<D>::absent) != there[k];
        if (place != VoxelIndex<D>::absent) {
            wrong += used[place];  // two positions never share a value
            used[place] = true;
        }
        row.push_back(p);
        if (row.size() == 1000 || k + 1 == cells) {
            places.resize(row.size());
            x.find(row, places);
            for (std::size_t i = 0; i < row.size(); ++i) wrong += places[i] != x.find(row[i]);
            row.clear();
        }
    }
    EXPECT_EQ(wrong, 0u) << what;
    std::uint64_t walked = 0;
    x.for_each([&](const Voxel<D>& p, std::uint32_t at) {
        ++walked;
        wrong += !there[key(p)] || x.find(p) != at;
    });
    EXPECT_EQ(walked, stored.size()) << what;
    EXPECT_EQ(wrong, 0u) << what;
}

TEST(ShortTags, EveryPositionOfTheDomain) {
    if (test::kRaces) GTEST_SKIP() << "one thread only";
    const auto check = [](const auto& points, const VoxelOptions& options, bool short_ones, const std::string& what) {
        constexpr int D = sizeof(points[0]) / 4;
        const auto x = VoxelIndex<D>::build(points, options);
        if (short_ones) {
            EXPECT_LT(x.tag_bits(), whole_bits(x)) << what;
        }
        expect_exact<D>(x, points, what);
    };
    VoxelOptions tag{.layout = Layout::voxel, .encoding = Encoding::bucket_tag};
    check(test::random_voxels<3>(20000, -40, 60), tag, true, "random, 3D");
    check(test::random_voxels<2>(5000, -300, 300), tag, true, "random, 2D");
    check(test::random_voxels<2>(90000, -350, 700), tag, true, "offsets in steps of two");
    check(test::sphere_voxels(40), tag, true, "a shell, with many empty buckets");
    check(test::random_voxels<3>(3, -40, 60), tag, false, "three");
    tag.coherence = Coherence::defined;
    check(test::sphere_voxels(30), tag, true, "coherent");
    tag.coherence = Coherence::domain;
    check(test::random_voxels<2>(5000, -300, 300), tag, true, "coherent over the domain");
    tag.coherence = Coherence::none;
    tag.construction = Construction::compact;
    check(test::random_voxels<3>(20000, -40, 60), tag, true, "compact");
    tag.construction = Construction::fast;
    tag.offset_bits = 5;
    check(test::random_voxels<2>(9000, -300, 300), tag, false, "offsets of five bits");
    tag.offset_bits = 12;
    check(test::random_voxels<2>(90000, -350, 700), tag, true, "offsets of twelve bits");
    check(test::sphere_voxels(60), {.layout = Layout::brick}, true, "bricks");
    check(test::random_voxels<2>(5000, -300, 300), {.layout = Layout::brick}, true, "bricks, 2D");
}

// The test by tables against the definition: walk a bucket's positions, see where they fall.
TEST(ShortTags, ReachesWhatTheDefinitionReaches) {
    const voxels::Sizes table{7, 9, 5}, offset{5, 4, 3}, extent{31, 20, 14};
    const voxels::ShortTags tags(4, table, offset, extent, {1, 1, 1});
    std::uint64_t wrong = 0, reached = 0;
    for (std::uint32_t q = 0; q < 60; ++q) {
        const voxels::Triple moved = voxels::Triple::of(q % 7, q % 9, q % 5);
        std::set<std::uint64_t> slots;
        for (std::uint32_t z = q / 20; z < extent[2]; z += 3)
            for (std::uint32_t y = q / 5 % 4; y < extent[1]; y += 4)
                for (std::uint32_t x = q % 5; x < extent[0]; x += 5)
                    slots.insert(
                        voxels::Triple::of((x + moved.x()) % 7, (y + moved.y()) % 9, (z + moved.z()) % 5).bits);
        for (std::uint32_t z = 0; z < 5; ++z)
            for (std::uint32_t y = 0; y < 9; ++y)
                for (std::uint32_t x = 0; x < 7; ++x) {
                    const auto slot = voxels::Triple::of(x, y, z);
                    const bool reaches = tags.reaches(tags.side(q), slot, moved);
                    reached += reaches;
                    wrong += reaches != slots.contains(slot.bits);
                }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(reached, 100u);
}

}  // namespace
}  // namespace quadrat
