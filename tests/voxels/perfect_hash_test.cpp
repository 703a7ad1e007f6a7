#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include "support/scale.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/sizes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace quadrat {
namespace {

// Every position has its own slot, and slot and bucket lead back to the position where they must.
template <int D, int E>
void expect_perfect(const PerfectHash<D, E>& hash, const std::vector<Voxel<D>>& points) {
    std::vector<char> seen(hash.slots());
    for (const Voxel<D>& p : points) {
        std::array<std::uint32_t, D> local;
        ASSERT_TRUE(hash.inside(p, local));
        const auto place = hash.place(local);
        ASSERT_LT(place.slot, hash.slots());
        ASSERT_LT(place.bucket, hash.buckets());
        ASSERT_FALSE(seen[place.slot]++) << "two positions in one slot";
        if (hash.unique_tags()) {
            ASSERT_EQ(hash.position(place), local);
        }
    }
}

template <int D, int E = D>
PerfectHash<D, E> build(const std::vector<Voxel<D>>& points, const PerfectHashOptions& options = {},
                        const voxels::HashVariant& variant = {}) {
    auto hash = voxels::HashBuild<D, E>::build(points, options, variant);
    EXPECT_EQ(hash.entries(), points.size());
    expect_perfect<D, E>(hash, points);
    return hash;
}

TEST(PerfectHash, IsPerfectFromOnePositionUp) {
    for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 27u, 64u, 100u, 513u, 2000u}) {
        build<2>(test::random_voxels<2>(n, -50, 200, n));
        build<3>(test::random_voxels<3>(n, -1000, 64, n));
        build<3, 2>(test::random_voxels<3>(n, 7, 64, n));
    }
}

TEST(PerfectHash, IsPerfectOnSurfacesAndGlyphs) {
    const auto sphere = test::sphere_voxels(40);
    build<3>(sphere);
    build<3, 2>(sphere);
    build<2>(test::glyph_voxels(256));
}

TEST(PerfectHash, CoversTheWholeRangeOfCoordinates) {
    const std::int32_t far = (1 << 21) - 1;
    build<3>({{0, 0, 0}, {far, far, far}, {far, 0, 0}, {0, far, 0}, {17, 17, far}});
    build<3>({{-2147483647 - 1, 0, 0}, {-2147483647 - 1 + far, 5, 5}});
    build<2>(test::random_voxels<2>(3000, -(1 << 20), 1 << 21));
    build<3>(test::random_voxels<3>(3000, -(1 << 20), 1 << 21));
}

TEST(PerfectHash, EveryLatticePitchWorks) {
    for (std::int32_t pitch = 1; pitch <= 64; pitch += 3) {
        std::vector<Voxel<3>> points;
        for (std::int32_t i = 0; i < 512; ++i) points.push_back({i % 8 * pitch, i / 8 % 8 * pitch, i / 64 * pitch});
        build<3>(points);
    }
}

TEST(PerfectHash, CompactIsSmallerThanFast) {
    for (int seed = 1; seed <= 3; ++seed) {
        const auto points = test::random_voxels<2>(4000, 0, 512, static_cast<std::uint64_t>(seed));
        const auto fast = build<2>(points);
        const auto compact = build<2>(points, {.construction = Construction::compact});
        EXPECT_LT(compact.offset_bits_per_entry(), fast.offset_bits_per_entry());
        EXPECT_LT(compact.offset_bits_per_entry(), 3.3);
    }
}

TEST(PerfectHash, OtherWidthsOfOffsets) {
    const auto points = test::random_voxels<2>(70000, 0, 1024);
    for (const int bits : {0, 6, 8, 12, 16}) {
        const auto hash = build<2>(points, {.offset_bits = bits});
        if (bits) {
            EXPECT_EQ(hash.offset_bits(), bits);
        }
        for (int a = 0; a < 2; ++a) EXPECT_EQ(std::gcd(hash.scale(a), hash.table_size(a)), 1u);
    }
}

TEST(PerfectHash, RandomMatrices) {
    const auto points = test::random_voxels<3>(5000, 0, 100);
    EXPECT_FALSE(build<3>(points, {}, {.random_matrices = true}).identity());
    build<2>(test::glyph_voxels(100), {}, {.random_matrices = true});
}

TEST(PerfectHash, IsAFunctionOfTheSeedAndNotOfThreads) {
    const auto points = test::random_voxels<3>(test::scaled(20000, 8000, 3000), 0, 200);
    const auto bytes = [](const auto& hash) {
        return std::vector<std::uint8_t>(hash.offsets().begin(), hash.offsets().end());
    };
    const PerfectHashOptions one{.construction = Construction::compact, .seed = 5};
    auto threads = make_executor(3);
    PerfectHashOptions three = one;
    three.executor = threads.get();
    const auto a = bytes(build<3>(points, one));
    EXPECT_EQ(a, bytes(build<3>(points, three)));
    EXPECT_NE(a, bytes(build<3>(points, {.construction = Construction::compact, .seed = 6})));
}

TEST(PerfectHash, CoherenceIsRaisedAndReported) {
    const auto measure = [](const auto& points, Coherence c) {
        constexpr int D = sizeof(points[0]) / 4;
        PerfectHashReport report;
        const auto hash = PerfectHash<D>::build(points, {.coherence = c}, &report);
        expect_perfect<D, D>(hash, points);
        return report.coherence;
    };
    const auto sphere = test::sphere_voxels(30);
    const auto glyphs = test::glyph_voxels(400);  // more than 256 slots on an axis: offsets are scaled
    EXPECT_LT(measure(sphere, Coherence::none), 0.03);
    EXPECT_GT(measure(sphere, Coherence::defined), 0.145);  // 0.139 where each bucket chooses only once
    EXPECT_GT(measure(sphere, Coherence::domain), 0.04);
    EXPECT_GT(measure(glyphs, Coherence::defined), measure(glyphs, Coherence::none) + 0.03);
    build<3, 2>(sphere, {.coherence = Coherence::defined});
}

// Letters on a grid leave no room for coherence everywhere: the report says how far it went.
TEST(PerfectHash, CoherenceOfRepeatingPatterns) {
    std::vector<Voxel<2>> letters;
    for (std::int32_t y = 0; y < 160; ++y)
        for (std::int32_t x = 0; x < 160; ++x)
            if ((x % 16 > 2 && x % 16 < 6) || (y % 16 > 4 && y % 16 < 7 && x % 16 < 13)) letters.push_back({x, y});
    PerfectHashReport report;
    const auto plain = PerfectHash<2>::build(letters, {}, &report);
    EXPECT_EQ(report.coherent_share, 0);
    const double before = report.coherence;
    const auto coherent = PerfectHash<2>::build(letters, {.coherence = Coherence::defined}, &report);
    expect_perfect<2, 2>(coherent, letters);
    EXPECT_GT(report.coherent_share, 0);
    EXPECT_GT(report.coherence, before + 0.02);
    EXPECT_LE(coherent.buckets(), plain.buckets() * 1.1);
}

TEST(PerfectHash, StatsAreThoseOfAnIndexWithoutTags) {
    const auto points = test::random_voxels<3>(5000, 0, 100);
    for (const int bits : {8, 11}) {
        const auto hash = PerfectHash<3>::build(points, {.offset_bits = bits, .unique_tags = false});
        const VoxelStats s = hash.stats();
        EXPECT_EQ(s.entries, points.size());
        EXPECT_EQ(s.values, hash.slots());
        EXPECT_EQ(s.index_bytes, hash.offsets().size() - 8);
        EXPECT_EQ(s.bytes(), s.index_bytes);
        const auto index = VoxelIndex<3>::build(
            points, {.layout = Layout::voxel, .encoding = Encoding::constrained, .offset_bits = bits});
        EXPECT_EQ(index.stats().index_bytes, index.hash().stats().index_bytes);
        EXPECT_EQ(index.stats().values, index.hash().stats().values);
    }
    EXPECT_EQ(PerfectHash<3>().stats().bytes(), 0u);
}

TEST(PerfectHash, EmptySet) {
    const auto hash = PerfectHash<3>::build({});
    std::array<std::uint32_t, 3> local;
    EXPECT_FALSE(hash.inside({0, 0, 0}, local));
    EXPECT_EQ(hash.entries(), 0u);
}

TEST(PerfectHash, DuplicatesAreNamed) {
    auto points = test::random_voxels<3>(1000, -5, 100);
    points.push_back(points[17]);
    try {
        (void)PerfectHash<3>::build(points);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::duplicate);
        EXPECT_EQ(e.where().index, 1000u);
        EXPECT_NE(e.message().find("row 17"), std::string::npos) << e.what();
    }
    points.assign(100000, {1, 2, 3});
    EXPECT_THROW((void)PerfectHash<3>::build(points), Error);
}

// Two equal ones with another between them that is in their bucket for some of the steps.
TEST(PerfectHash, DuplicatesAreFoundWhereverTheyStand) {
    for (int axis = 0; axis < 3; ++axis)
        for (std::int32_t step = 1; step <= 40; ++step) {
            Voxel<3> other{5, 5, 5};
            other[axis] += step;
            try {
                (void)PerfectHash<3>::build(std::vector<Voxel<3>>{{5, 5, 5}, other, {5, 5, 5}});
                FAIL();
            } catch (const Error& e) {
                ASSERT_EQ(e.kind(), ErrorKind::duplicate) << "axis " << axis << ", step " << step;
                ASSERT_EQ(e.where().index, 2u);
            }
        }
}

TEST(PerfectHash, TooWideADomainIsNamed) {
    try {
        (void)PerfectHash<2>::build(std::vector<Voxel<2>>{{0, 0}, {3, 1 << 21}});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().index, 1u);
        EXPECT_EQ(e.where().column, 1u);
    }
}

TEST(PerfectHash, BadOptionsAndStop) {
    const auto points = test::random_voxels<2>(10, 0, 10);
    EXPECT_THROW((void)PerfectHash<2>::build(points, {.offset_bits = 17}), Error);
    EXPECT_THROW((void)PerfectHash<2>::build(points, {.slack = 0.5}), Error);
    EXPECT_THROW((void)PerfectHash<2>::build(points, {.attempts = 0}), Error);
    StopSource stop;
    stop.request_stop();
    PerfectHashOptions options;
    options.watch.stop = stop;
    EXPECT_THROW((void)PerfectHash<2>::build(points, options), Error);
}

TEST(PerfectHash, PartsAreChecked) {
    const auto hash = PerfectHash<2>::build(test::random_voxels<2>(100, 0, 30));
    const auto good = hash.shape();
    const std::size_t bytes = PerfectHash<2>::offsets_size(good);
    const std::shared_ptr<const std::uint8_t> table(new std::uint8_t[bytes](), std::default_delete<std::uint8_t[]>());
    EXPECT_NO_THROW((void)PerfectHash<2>::from_parts(good, table, bytes));
    EXPECT_THROW((void)PerfectHash<2>::from_parts(good, table, bytes - 1), Error);
    const auto broken = [&](auto&& change) {
        auto s = good;
        change(s);
        EXPECT_THROW((void)PerfectHash<2>::from_parts(s, table, bytes), Error);
    };
    broken([](auto& s) { s.table[0] = 0; });
    broken([](auto& s) { s.table[1] = 70000; });
    broken([](auto& s) { s.offset[0] = 60000; });
    broken([](auto& s) { s.offset[0] = 0; });
    broken([](auto& s) { s.scale[0] = 0; });
    broken([](auto& s) { s.scale[1] = 100000; });
    broken([](auto& s) { s.bits = 17; });
    broken([](auto& s) { s.extent[0] = (1u << 21) + 1; });
    broken([](auto& s) { s.entries = 1u << 30; });
    broken([](auto& s) { s.linear = 2; });
}

TEST(Sizes, AreCoprimeAndLargeEnough) {
    for (std::uint64_t cells = 1; cells < 400000; cells += 1 + cells / 3)
        for (int dims = 2; dims <= 3; ++dims)
            for (const voxels::Sizes& domain : {voxels::Sizes{}, {700, 700, 700}, {5000, 300, 1}, {2, 100000, 7}}) {
                if (domain[0] != 0 && voxels::product(domain) / (dims == 2 ? domain[2] : 1) < cells) continue;
                const auto m = voxels::table_sizes(dims, cells, 0, domain);
                const voxels::Folding fold = voxels::folding(dims, cells, domain);
                EXPECT_GE(voxels::product(m), cells);
                EXPECT_LE(static_cast<double>(voxels::product(m)),
                          1.03 * static_cast<double>(cells) + 60 + 3 * fold.cells());
                const auto r = voxels::offset_sizes(dims, cells / 4 + 1, m, fold, {100, 100, 100}, false);
                EXPECT_GE(voxels::product(r), cells / 4 + 1);
                for (std::size_t a = 0; a < 3; ++a) {
                    EXPECT_EQ(std::gcd(m[a], r[a]), 1u);
                    if (fold.thin[a] == 0) continue;
                    EXPECT_EQ(m[a], domain[a]);
                    EXPECT_EQ(r[a], 1u);
                }
            }
}

// The sizes decide the bytes of every hash. Other numbers mean that the same data gets other files: write them here
// only together with a line in CHANGELOG.md.
TEST(Sizes, AreThese) {
    using voxels::Sizes;
    struct Row {
        int dims;
        std::uint64_t cells;
        unsigned variant;
        Sizes extent, table, offset, below, thin;
    };
    const Row rows[] = {
        {3, 1, 0, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}},
        {2, 1, 0, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}},
        {3, 2, 0, {0, 0, 0}, {1, 1, 2}, {1, 1, 1}, {1, 1, 1}, {}},
        {3, 1000, 0, {0, 0, 0}, {10, 10, 10}, {3, 7, 9}, {3, 7, 7}, {}},
        {3, 1000, 1, {0, 0, 0}, {7, 12, 12}, {5, 5, 7}, {5, 5, 5}, {}},
        {3, 101000, 0, {0, 0, 0}, {39, 49, 53}, {25, 27, 25}, {23, 29, 25}, {}},
        {3, 101000, 2, {0, 0, 0}, {41, 47, 53}, {25, 27, 25}, {27, 27, 23}, {}},
        {2, 101000, 0, {0, 0, 0}, {307, 329, 1}, {123, 137, 1}, {121, 139, 1}, {}},
        {3, 101000, 0, {20000, 20000, 4}, {155, 163, 4}, {137, 123, 1}, {131, 127, 1}, {0, 0, 4}},
        {3, 5000, 0, {10, 6000, 1}, {10, 501, 1}, {1, 839, 1}, {1, 833, 1}, {10, 0, 1}},
        {2, 3000, 0, {3000, 4, 0}, {751, 4, 1}, {501, 1, 1}, {501, 1, 1}, {0, 4, 0}},
        {3, 20000, 0, {100000, 2, 2}, {5001, 2, 2}, {3335, 1, 1}, {3331, 1, 1}, {0, 2, 2}},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::to_string(row.dims) + "D, " + std::to_string(row.cells) + " cells");
        const Sizes table = voxels::table_sizes(row.dims, row.cells, row.variant, row.extent);
        const voxels::Folding fold = voxels::folding(row.dims, row.cells, row.extent);
        EXPECT_EQ(table, row.table);
        EXPECT_EQ(fold.thin, row.thin);
        EXPECT_EQ(fold.wide, row.dims - (row.thin[0] != 0) - (row.thin[1] != 0) - (row.thin[2] != 0));
        const std::uint64_t offsets = row.cells / 6 + 1;
        EXPECT_EQ(voxels::offset_sizes(row.dims, offsets, table, fold, row.extent, false), row.offset);
        EXPECT_EQ(voxels::offset_sizes(row.dims, offsets, table, fold, row.extent, true), row.below);
    }
}

TEST(Divider, IsExactOverItsRange) {
    for (const std::uint32_t d : {1u, 2u, 3u, 7u, 255u, 256u, 641u, 4095u, 65521u, 65535u, 65536u})
        for (std::uint32_t x = 0; x < 1u << 22; x += (x % d == d - 1 || x % d == 0) ? 1 : std::max(1u, d - 1 - x % d))
            ASSERT_EQ(voxels::Divider(d).remainder(x), x % d) << x << " mod " << d;
}

RC_GTEST_PROP(PerfectHash, AnySetOfPositions, ()) {
    const auto n = *rc::gen::inRange<std::size_t>(1, 300);
    const auto side = *rc::gen::inRange<std::int32_t>(20, 3000);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto points = test::random_voxels<3>(n, -side / 2, side, seed);
    const auto hash = PerfectHash<3>::build(points, {.seed = seed});
    std::set<std::uint32_t> slots;
    for (const auto& p : points) {
        std::array<std::uint32_t, 3> local;
        RC_ASSERT(hash.inside(p, local));
        RC_ASSERT(slots.insert(hash.place(local).slot).second);
    }
}

}  // namespace
}  // namespace quadrat
