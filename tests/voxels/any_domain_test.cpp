// Any set packs small: floors, strips, poles, rows with outliers, lattices, chunks, clusters and noise, of any size.
#include "support/scale.hpp"
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include "voxels/index/key_code.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>

namespace quadrat {
namespace {

template <int D>
struct VoxelHash {
    std::size_t operator()(const Voxel<D>& p) const {
        std::uint64_t h = 0;
        for (int a = 0; a < D; ++a) h = (h ^ static_cast<std::uint32_t>(p[a])) * 0x9E3779B97F4A7C15u;
        return h ^ h >> 29;
    }
};

// Bits above the payload: tables and the values of empty slots.
template <int D>
double bits_of(const VoxelIndex<D>& x, std::size_t value_bytes) {
    return x.overhead_bits_per_entry(value_bytes) * x.entries();
}

// A list of sorted keys, 6 bits more for each entry, and 1 KB.
template <int D>
double list_bound(const VoxelIndex<D>& x) {
    double log2_cells = 0;
    for (int a = 0; a < D; ++a) log2_cells += std::log2(x.extent()[static_cast<std::size_t>(a)]);
    return x.entries() * (std::ceil(log2_cells - 1e-9) + 6) + 8192;
}

template <int D>
class RandomSets {
  public:
    explicit RandomSets(std::uint64_t seed) : g_(seed) {}

    /// A set of random size, shape and clustering.
    std::vector<Voxel<D>> next(std::size_t largest) {
        const auto n = static_cast<std::size_t>(std::exp(unit() * std::log(static_cast<double>(largest))));
        const double widest = g_() % 2 ? 2.0e6 : D == 2 ? 400 : 70;
        for (int a = 0; a < D; ++a) {
            extent_[a] = 1 + static_cast<std::int32_t>(std::exp(unit() * std::log(widest)));
            if (g_() % 4 == 0) extent_[a] = 1 + static_cast<std::int32_t>(g_() % 4);
            origin_[a] = static_cast<std::int32_t>(g_() % 2000000) - 1000000;
        }
        const auto kind = g_() % 6;
        const double spread = std::exp(unit() * 8) + 1;
        const auto pitch = static_cast<std::int32_t>(1 + g_() % 40);
        std::vector<Voxel<D>> centres(1 + g_() % 6);
        for (auto& c : centres) c = anywhere();
        std::vector<Voxel<D>> out;
        for (std::size_t tries = 0; out.size() < n && tries < 4 * n + 10; ++tries) {
            Voxel<D> p = anywhere();
            if (kind == 1)  // clusters
                for (int a = 0; a < D; ++a)
                    p[a] = inside(centres[g_() % centres.size()][a] + spread * (unit() - 0.5), a);
            if (kind == 2)  // a row, and now and then a far point
                for (int a = 1; a < D && g_() % 100 != 0; ++a) p[a] = centres[0][a];
            if (kind == 3)  // a lattice
                for (int a = 0; a < D; ++a) p[a] = p[a] / pitch * pitch;
            if (kind == 4)  // a floor with a pole
                p[D - 1] = g_() % 8 ? 0 : p[D - 1];
            if (kind == 5)  // filled from the corner on, row after row
                for (std::size_t a = 0, rest = tries; a < D;
                     rest /= static_cast<std::size_t>(extent_[static_cast<int>(a)]), ++a)
                    p[static_cast<int>(a)] =
                        static_cast<std::int32_t>(rest % static_cast<std::size_t>(extent_[static_cast<int>(a)]));
            for (int a = 0; a < D; ++a) p[a] += origin_[a];
            if (seen_.insert({p, true}).second) out.push_back(p);
        }
        seen_.clear();
        return out;
    }

  private:
    double unit() { return static_cast<double>(g_() >> 11) * 0x1p-53; }
    std::int32_t inside(double x, int a) { return static_cast<std::int32_t>(std::clamp(x, 0.0, extent_[a] - 1.0)); }
    Voxel<D> anywhere() {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g_() % static_cast<std::uint64_t>(extent_[a]));
        return p;
    }

    std::mt19937_64 g_;
    Voxel<D> extent_ = {}, origin_ = {};
    std::unordered_map<Voxel<D>, bool, VoxelHash<D>> seen_;
};

// Every stored position has a place of its own, and others have none; one by one, many at a time, and as a walk.
template <int D>
void expect_exact_index(const VoxelIndex<D>& x, const std::vector<Voxel<D>>& points, std::mt19937_64& g) {
    std::unordered_map<Voxel<D>, std::uint32_t, VoxelHash<D>> place;
    std::vector<bool> taken(x.values());
    for (const auto& p : points) {
        const std::uint32_t k = x.find(p);
        ASSERT_LT(k, x.values());
        ASSERT_FALSE(taken[k]);
        taken[k] = true;
        place[p] = k;
    }
    std::vector<Voxel<D>> queries = points;
    for (int i = 0; i < 300; ++i) {
        Voxel<D> p = points[g() % points.size()];
        for (int a = 0; a < D; ++a) {
            if (i % 3 == 0) p[a] += static_cast<std::int32_t>(g() % 5) - 2;
            if (i % 3 == 1)
                p[a] = x.origin()[a] + static_cast<std::int32_t>(g() % x.extent()[static_cast<std::size_t>(a)]);
        }
        if (i % 3 == 2) p[static_cast<int>(g() % D)] = x.origin()[0] + static_cast<std::int32_t>(g() % 100000);
        queries.push_back(p);
    }
    std::vector<std::uint32_t> batch(queries.size());
    x.find(queries, batch);
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto it = place.find(queries[i]);
        const std::uint32_t want = it == place.end() ? VoxelIndex<D>::absent : it->second;
        ASSERT_EQ(x.find(queries[i]), want);
        ASSERT_EQ(batch[i], want);
    }
    std::uint64_t cells = 1;
    for (const std::uint32_t e : x.extent()) cells *= e;
    if (x.encoding() != Encoding::position_hash || cells < 1u << 20) {
        std::size_t seen = 0;
        x.for_each([&](const Voxel<D>& p, std::uint32_t k) {
            ++seen;
            ASSERT_EQ(place.at(p), k);
        });
        ASSERT_EQ(seen, points.size());
    }
}

constexpr Layout compared_layouts[] = {Layout::voxel, Layout::brick, Layout::bits};
constexpr Encoding compared_encodings[] = {Encoding::automatic, Encoding::domain_bit, Encoding::position_tag,
                                           Encoding::position_hash, Encoding::bucket_tag};

template <int D>
void sweep_domains(int sets, std::size_t largest, std::size_t compare_every) {
    RandomSets<D> source(static_cast<std::uint64_t>(D));
    std::mt19937_64 queries(7);
    std::map<Layout, int> taken;
    for (int i = 0; i < sets; ++i) {
        const auto points = source.next(largest);
        const std::size_t value_bytes = i % 8 == 0 ? 0 : std::size_t{1} << (i % 8 - 1);
        const Construction construction = i % 3 == 2 ? Construction::compact : Construction::fast;
        SCOPED_TRACE("set " + std::to_string(i) + " of " + std::to_string(points.size()));
        const auto x = VoxelIndex<D>::build(points, {.construction = construction, .value_bytes = value_bytes});
        ++taken[x.layout()];
        const double bits = bits_of(x, value_bytes);
        ASSERT_LE(bits, list_bound(x)) << name(x.layout());
        ASSERT_NO_FATAL_FAILURE(expect_exact_index<D>(x, points, queries));
        const auto small = VoxelIndex<D>::build(
            points, {.optimize = Optimize::size, .construction = construction, .value_bytes = value_bytes});
        const auto keys = VoxelIndex<D>::build(points, {.layout = Layout::keys});
        ASSERT_LE(bits_of(small, value_bytes), bits);
        ASSERT_LE(bits_of(small, value_bytes), bits_of(keys, value_bytes));
        ASSERT_NO_FATAL_FAILURE(expect_exact_index<D>(keys, points, queries));
        if (static_cast<std::size_t>(i) % compare_every != 0 && points.size() > 40) continue;
        std::uint64_t cells = 1;
        for (const std::uint32_t e : x.extent()) cells *= e;
        double least = 0;  // of the voxel layout, which automatic encodings should give
        for (const Layout l : compared_layouts)
            for (const Encoding e : compared_encodings) {
                if (e == Encoding::position_hash && cells > 1u << 20) continue;  // slow
                if ((l == Layout::bits || e == Encoding::domain_bit) && cells > 1u << 23) continue;
                if (l != Layout::voxel && e != Encoding::automatic) continue;
                try {
                    const auto other = VoxelIndex<D>::build(
                        points, {.layout = l, .encoding = e, .construction = construction, .value_bytes = value_bytes});
                    ASSERT_LE(bits, bits_of(other, value_bytes)) << name(l) << " " << name(e);
                    ASSERT_NO_FATAL_FAILURE(expect_exact_index<D>(other, points, queries));
                    if (e == Encoding::automatic) least = bits_of(other, value_bytes);
                    ASSERT_LE(least, bits_of(other, value_bytes)) << name(l) << " " << name(e);
                } catch (const Error& error) {
                    ASSERT_TRUE(error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::too_large);
                    ASSERT_FALSE(l == Layout::voxel && e == Encoding::automatic);
                }
            }
    }
    EXPECT_GE(taken.size(), 3u) << "the sweep should lead to several layouts";
}

TEST(AnyDomain, PacksSmall2D) {
    sweep_domains<2>(test::scaled(1000, 150, 20), test::scaled<std::size_t>(2500, 1000, 300), 11);
}

TEST(AnyDomain, PacksSmall3D) {
    sweep_domains<3>(test::scaled(1000, 150, 20), test::scaled<std::size_t>(2500, 1000, 300), 11);
}

template <int D>
std::vector<Voxel<D>> scattered(std::size_t n, const Voxel<D>& extent, std::uint64_t seed) {
    std::mt19937_64 g(seed);
    std::set<Voxel<D>, test::VoxelLess<D>> seen;
    while (seen.size() < n) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(extent[a]));
        seen.insert(p);
    }
    return {seen.begin(), seen.end()};
}

// RandomSets that were refused as too regular, or took up to 9,472 bits an entry.
TEST(AnyDomain, FloorsStripsPolesAndChunks) {
    std::mt19937_64 g(1);
    const auto expect_small = [&](const std::vector<Voxel<3>>& points, double most) {
        const auto x = VoxelIndex<3>::build(points);
        EXPECT_LE(x.overhead_bits_per_entry(4), most) << name(x.layout()) << " " << name(x.encoding());
        EXPECT_LE(bits_of(x, 4), list_bound(x));
        expect_exact_index<3>(x, points, g);
    };
    const auto expect_hashed = [&](const std::vector<Voxel<3>>& points) {
        expect_exact_index<3>(VoxelIndex<3>::build(points, {.layout = Layout::voxel}), points, g);
    };
    const std::size_t many = test::scaled<std::size_t>(100000, 20000, 2000);
    expect_hashed(scattered<3>(many, {20000, 20000, 1}, 3));
    expect_hashed(scattered<3>(5000, {10, 6000, 1}, 3));
    expect_hashed(scattered<3>(2000, {100000, 4, 4}, 3));
    expect_small(scattered<3>(many, {20000, 20000, 1}, 3), 24);
    expect_small(scattered<3>(many, {20000, 20000, 4}, 3), 26);
    expect_small(scattered<3>(5000, {10, 6000, 1}, 3), 13.4);
    expect_small(scattered<3>(100, {64, 64, 64}, 3), 20);
    expect_small(scattered<3>(400, {100, 100, 100}, 3), 20);
    expect_small(scattered<3>(2000, {100000, 4, 4}, 3), 22);
    std::vector<Voxel<3>> row;
    for (std::int32_t x = 0; x < static_cast<std::int32_t>(3 * many); ++x) row.push_back({x, 0, 0});
    expect_small(row, 1.2);
    row.push_back({7, 1000000, 0});
    expect_small(row, 27);
    row.push_back({7, 1000000, 2000000});
    expect_small(row, 48);
    // Nothing but random matrices spreads this one.
    row.erase(row.begin() + 3000, row.end() - 2);
    expect_hashed(row);
    EXPECT_FALSE(PerfectHash<3>::build(row).identity());
}

// Small sets have tags of buckets, in both constructions and both layouts that know them, however full their domain is.
template <int D>
void expect_bucket_tags(std::int32_t widest) {
    std::mt19937_64 g(static_cast<std::uint64_t>(widest) + D);
    for (int i = 0; i < test::scaled(60, 40, 5); ++i) {
        Voxel<D> extent;
        std::size_t cells = 1;
        for (int a = 0; a < D; ++a) {
            extent[a] = 1 + static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(widest));
            cells *= static_cast<std::size_t>(extent[a]);
        }
        const std::size_t most = std::min<std::size_t>(400, cells);
        const auto points = scattered<D>(1 + g() % most, extent, g());
        for (const Construction c : {Construction::fast, Construction::compact})
            for (const Layout l : {Layout::voxel, Layout::brick}) {
                SCOPED_TRACE(std::to_string(points.size()) + " " + name(l) +
                             (c == Construction::fast ? "" : " compact"));
                const auto x =
                    VoxelIndex<D>::build(points, {.layout = l, .encoding = Encoding::bucket_tag, .construction = c});
                ASSERT_EQ(x.encoding(), Encoding::bucket_tag);
                ASSERT_NO_FATAL_FAILURE(expect_exact_index<D>(x, points, g));
            }
    }
}

TEST(AnyDomain, BucketTagsForSmallSets) {
    for (const std::int32_t widest : {5, 20, 100}) {
        expect_bucket_tags<2>(widest);
        expect_bucket_tags<3>(widest);
    }
    expect_bucket_tags<2>(3000);
}

TEST(AnyDomain, ThinAxesAreFolded) {
    const auto floor = PerfectHash<3>::build(scattered<3>(20000, {4500, 4500, 3}, 5));
    EXPECT_TRUE(floor.identity());
    EXPECT_TRUE(floor.unique_tags());
    EXPECT_EQ(floor.table_size(2), 3u);
    EXPECT_EQ(floor.offset_size(2), 1u);
    EXPECT_LT(floor.offset_bits_per_entry(), 6.5);
    const auto pole = PerfectHash<3>::build(scattered<3>(2000, {3, 2, 40000}, 5));
    EXPECT_EQ(pole.table_size(0) * pole.table_size(1), 6u);
    EXPECT_LT(pole.offset_bits_per_entry(), 20);
}

// The number of a zero bit, against counting them one by one.
TEST(KeyCode, SelectsZeros) {
    std::mt19937_64 g(2);
    for (int round = 0; round < 5000; ++round) {
        std::uint64_t w = g();
        if (round % 3 == 1) w |= g() | g();
        if (round % 3 == 2) w &= g() & g();
        if (round < 3) w = round == 0 ? 0 : round == 1 ? ~std::uint64_t{0} : 1;
        std::uint32_t k = 0;
        for (std::uint32_t bit = 0; bit < 64; ++bit) {
            if (w >> bit & 1) continue;
            ASSERT_EQ(voxels::select_zero(w, k++), bit);
        }
        ASSERT_EQ(voxels::select_zero(w, k), 64u);
    }
}

// Clusters of thousands in one bucket, whose heads are sums, beside buckets of ones and zeros; the largest domain.
TEST(KeyCode, BucketsOfEveryKind) {
    std::mt19937_64 g(3);
    for (const std::size_t dense : {0u, 30u, 600u, 700u, 5000u, 40000u}) {
        std::vector<Voxel<3>> points{{0, 0, 0}, {2097151, 2097151, 2097151}};
        for (std::size_t i = 0; i < dense; ++i)
            points.push_back({1000 + static_cast<std::int32_t>(i * 3), static_cast<std::int32_t>(dense % 7), 1000000});
        for (const auto& p : scattered<3>(500, {2097152, 2097152, 2097152}, dense + 1)) points.push_back(p);
        const auto x = VoxelIndex<3>::build(points, {.layout = Layout::keys});
        expect_exact_index<3>(x, points, g);
        EXPECT_LE(bits_of(x, 4), list_bound(x));
    }
    const auto one = VoxelIndex<2>::build(std::vector<Voxel<2>>{{5, 5}}, {.layout = Layout::keys});
    EXPECT_EQ(one.find({5, 5}), 0u);
    EXPECT_EQ(one.find({5, 6}), VoxelIndex<2>::absent);
    EXPECT_EQ(one.exact(), true);
}

// Scattered positions at the price of 2 + log2(cells / entries), of which a hash takes twice as much.
TEST(KeyCode, TakesLittle) {
    const auto points = scattered<3>(test::scaled<std::size_t>(200000, 20000, 5000), {512, 512, 512}, 9);
    const auto x = VoxelIndex<3>::build(points, {.optimize = Optimize::size});
    EXPECT_EQ(x.layout(), Layout::keys);
    EXPECT_EQ(x.encoding(), Encoding::position_tag);
    EXPECT_LT(x.overhead_bits_per_entry(4), 2.6 + std::log2(0x1p27 / static_cast<double>(points.size())));
}

}  // namespace
}  // namespace quadrat
