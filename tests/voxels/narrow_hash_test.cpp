// Lanes of 16 bits give the places that divisions give, for every kind of position, or say that they do not fit.
#include "voxels/data.hpp"

#include <quadrat/voxels.hpp>

#include "voxels/hash/build.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace quadrat {
namespace {

using voxels::NarrowHash;

// Compares with h(p) = (p + Phi[p mod r]) mod m, computed one axis at a time.
void expect_same(const PerfectHash<3>& hash, const std::vector<Voxel<3>>& stored, const char* what) {
    ASSERT_TRUE(NarrowHash::fits(hash)) << what;
    if constexpr (!NarrowHash::available) GTEST_SKIP() << "no lanes";
    const NarrowHash narrow(hash);
    std::mt19937_64 g(3);
    std::vector<Voxel<3>> asked = stored;
    constexpr std::int32_t extremes[] = {std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max(), -65536, 65536, 0};
    for (int i = 0; i < 40000; ++i) {
        Voxel<3> p;
        for (int a = 0; a < 3; ++a) {
            const auto extent = static_cast<std::int32_t>(hash.extent()[static_cast<std::size_t>(a)]);
            const std::int32_t near[] = {-1, 0, extent - 1, extent, 32767, 32768, -32768};
            p[a] = hash.origin()[a] + static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(extent));
            if (g() % 8 == 0)  // wraps at the ends of 32 bits
                p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(hash.origin()[a]) +
                                                 static_cast<std::uint32_t>(near[g() % 7]));
            if (g() % 32 == 0) p[a] = extremes[g() % 5];
        }
        asked.push_back(p);
    }
    std::uint64_t wrong = 0, outside = 0;
    for (const auto& p : asked) {
        bool in = true;
        std::uint32_t slot = 0, bucket = 0;
        for (int a = 2; a >= 0; --a) {
            const std::int64_t local = std::int64_t{p[a]} - hash.origin()[a];
            in = in && local >= 0 && local < hash.extent()[static_cast<std::size_t>(a)];
            bucket = bucket * hash.offset_size(a) + static_cast<std::uint32_t>(in ? local % hash.offset_size(a) : 0);
        }
        for (int a = 2; in && a >= 0; --a) {
            const std::uint64_t moved =
                static_cast<std::uint64_t>(std::int64_t{p[a]} - hash.origin()[a]) + hash.stored_offset(bucket, a);
            slot = slot * hash.table_size(a) + static_cast<std::uint32_t>(moved % hash.table_size(a));
        }
        PerfectHash<3>::Place place{};
        const bool found = narrow.place(p, place);
        wrong += found != in || (in && (place.slot != slot || place.bucket != bucket));
        outside += !in;
    }
    EXPECT_EQ(wrong, 0u) << what;
    EXPECT_GT(outside, 1000u) << what;
}

TEST(NarrowHash, gives_the_same_places) {
    const auto some = test::random_voxels<3>(20000, -70, 150);
    expect_same(PerfectHash<3>::build(some), some, "random");
    const auto wide = test::random_voxels<3>(5000, -16000, 32767);
    expect_same(PerfectHash<3>::build(wide), wide, "wide");
    const auto sphere = test::sphere_voxels(60);
    expect_same(PerfectHash<3>::build(sphere, {.construction = Construction::compact}), sphere, "sphere");
    const std::vector<Voxel<3>> one{{-5, 7, std::numeric_limits<std::int32_t>::max()}};
    const PerfectHash<3> of_two = PerfectHash<3>::build(one);
    ASSERT_TRUE(of_two.offset_size(2) == 2 || of_two.table_size(2) == 2);
    expect_same(of_two, one, "one, with a side of two");
    const auto few = test::random_voxels<3>(600, std::numeric_limits<std::int32_t>::max() - 12, 12);
    expect_same(PerfectHash<3>::build(few), few, "few, at the end of 32 bits");
}

TEST(NarrowHash, says_what_does_not_fit) {
    const auto some = test::random_voxels<3>(3000, 0, 40000);
    EXPECT_FALSE(NarrowHash::fits(PerfectHash<3>::build(some))) << "extent";
    const auto few = test::random_voxels<3>(3000, 0, 1000);
    EXPECT_FALSE(NarrowHash::fits(PerfectHash<3>::build(few, {.offset_bits = 9})));
    EXPECT_FALSE(NarrowHash::fits(voxels::HashBuild<3>::build(few, {}, {.random_matrices = true})));
    EXPECT_FALSE(NarrowHash::fits(PerfectHash<3>::build({})));
}

// A table that was changed: no offset is refused by place(), so the slot must stay in the table, whatever is there.
TEST(NarrowHash, stays_in_the_table) {
    const auto some = test::random_voxels<3>(3000, 0, 100);
    const auto hash = PerfectHash<3>::build(some);
    ASSERT_TRUE(NarrowHash::fits(hash));
    const auto bytes = hash.offsets();
    std::shared_ptr<std::uint8_t> broken(new std::uint8_t[bytes.size()], std::default_delete<std::uint8_t[]>());
    std::fill_n(broken.get(), bytes.size(), std::uint8_t{255});
    const auto changed = PerfectHash<3>::from_parts(hash.shape(), broken, bytes.size());
    EXPECT_FALSE(NarrowHash::fits(changed));
    if constexpr (!NarrowHash::available) return;
    const NarrowHash narrow(changed);
    for (const auto& p : some) {
        PerfectHash<3>::Place place{};
        ASSERT_TRUE(narrow.place(p, place));
        ASSERT_LT(place.slot, hash.slots());
    }
}

// find() takes this path on its own; every position of the domain is asked for.
TEST(NarrowHash, finds_what_was_stored) {
    const auto some = test::random_voxels<3>(30000, -20, 64);
    std::vector<std::uint32_t> values(some.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i) + 1;
    for (const Encoding e : {Encoding::constrained, Encoding::bucket_tag}) {
        const auto v = SparseVoxels<std::uint32_t>::pack(some, values, {.layout = Layout::voxel, .encoding = e});
        ASSERT_TRUE(NarrowHash::fits(v.index().hash()));
        std::size_t right = 0, found = 0;
        for (std::size_t i = 0; i < some.size(); ++i) right += v.at(some[i]) == values[i];
        EXPECT_EQ(right, some.size());
        for (std::int32_t z = -22; z < 46; ++z)
            for (std::int32_t y = -22; y < 46; ++y)
                for (std::int32_t x = -22; x < 46; ++x) found += v.find({x, y, z}) != nullptr;
        if (e == Encoding::bucket_tag) {
            EXPECT_EQ(found, some.size());
        }
    }
}

}  // namespace
}  // namespace quadrat
