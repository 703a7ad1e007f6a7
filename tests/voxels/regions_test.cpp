// Boxes, slices and rays against looking at every position.
#include "support/scale.hpp"
#include "voxels/data.hpp"

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace quadrat {
namespace {

struct RegionKind {
    Layout layout;
    Encoding encoding = Encoding::automatic;
};
constexpr RegionKind region_kinds[] = {{Layout::voxel, Encoding::bucket_tag},
                                       {Layout::voxel, Encoding::position_tag},
                                       {Layout::voxel, Encoding::domain_bit},
                                       {Layout::voxel, Encoding::position_hash},
                                       {Layout::brick},
                                       {Layout::bits},
                                       {Layout::keys}};

// An index without entries where an encoding cannot tell so few positions from so many.
template <int D>
VoxelIndex<D> build_kind(const std::vector<Voxel<D>>& points, const RegionKind& kind) {
    try {
        return VoxelIndex<D>::build(points, {.layout = kind.layout, .encoding = kind.encoding});
    } catch (const Error& e) {
        EXPECT_TRUE(e.kind() == ErrorKind::unsupported && kind.layout == Layout::voxel) << e.what();
    }
    return {};
}

template <int D>
std::vector<Voxel<D>> some_set(int number) {
    if constexpr (D == 3)
        return number == 0 ? test::sphere_voxels(14) : test::random_voxels<3>(number == 1 ? 900 : 40, -30, 45);
    else
        return number == 0 ? test::glyph_voxels(70) : test::random_voxels<2>(number == 1 ? 900 : 40, -30, 45);
}

template <int D>
void boxes(const RegionKind& kind) {
    std::mt19937_64 g(4);
    for (int number = 0; number < 3; ++number) {
        auto points = some_set<D>(number);
        std::sort(points.begin(), points.end(), test::VoxelLess<D>());
        const auto index = build_kind<D>(points, kind);
        if (index.entries() == 0) continue;
        for (int round = 0; round < test::scaled(200, 60, 20); ++round) {
            Voxel<D> low, high;
            for (int a = 0; a < D; ++a) {
                low[a] = static_cast<std::int32_t>(g() % 100) - 50;
                high[a] = low[a] + static_cast<std::int32_t>(g() % (round % 3 == 0 ? 6 : 60)) - (round % 17 == 0);
                if (round % 5 == 0 && a == round % D) {
                    low[a] = std::numeric_limits<std::int32_t>::min();
                    high[a] = std::numeric_limits<std::int32_t>::max();
                }
            }
            std::vector<Voxel<D>> want, got;
            for (const auto& p : points) {
                bool in = true;
                for (int a = 0; a < D; ++a) in &= p[a] >= low[a] && p[a] <= high[a];
                if (in) want.push_back(p);
            }
            for (const auto& [p, k] : index.sorted_in(low, high)) {
                got.push_back(p);
                ASSERT_EQ(index.find(p), k);
            }
            ASSERT_EQ(got, want);
        }
    }
}

TEST(Regions, AreWhatLiesInTheBox) {
    for (const RegionKind& kind : region_kinds) {
        SCOPED_TRACE(std::string(name(kind.layout)) + " " + name(kind.encoding));
        boxes<2>(kind);
        boxes<3>(kind);
    }
}

TEST(Regions, SlicesAreDense) {
    const auto points = test::sphere_voxels(9);
    std::vector<int> values(points.size());
    std::iota(values.begin(), values.end(), 1);
    auto v = SparseVoxels<int>::pack(points, values);
    const Voxel<3> low = v.index().origin();
    const auto extent = v.index().extent();
    for (int axis = 0; axis < 3; ++axis)
        for (const std::int32_t k : {-100, -10, -3, 0, 9, 10}) {
            const auto slice = v.slice(axis, k, -7);
            std::size_t at = 0;
            const int u = axis == 0 ? 1 : 0, w = axis == 2 ? 1 : 2;
            for (std::uint32_t j = 0; j < extent[static_cast<std::size_t>(w)]; ++j)
                for (std::uint32_t i = 0; i < extent[static_cast<std::size_t>(u)]; ++i) {
                    Voxel<3> p;
                    p[axis] = k;
                    p[u] = low[u] + static_cast<std::int32_t>(i);
                    p[w] = low[w] + static_cast<std::int32_t>(j);
                    ASSERT_EQ(slice[at++], v.at(p, -7));
                }
            ASSERT_EQ(slice.size(), at);
        }
    EXPECT_EQ(v.dense({0, 0, 9}, {0, 0, 9}, -1), std::vector<int>{v.at({0, 0, 9}, -1)});
    EXPECT_THROW((void)v.slice(3, 0), Error);
    EXPECT_THROW((void)v.dense({0, 0, 0}, {0, -1, 0}), Error);
    EXPECT_THROW((void)v.dense({0, 0, 0}, {1 << 20, 1 << 20, 1 << 20}), Error);
    int sum = 0;
    v.for_each_in({-2, -2, -20}, {2, 2, 0}, [&](const Voxel<3>&, int& value) { sum += value; });
    EXPECT_GT(sum, 0);
    EXPECT_TRUE(SparseVoxels<int>().slice(0, 0).empty());
}

// The part of a ray within a cube, by slabs.
template <int D>
bool cut(const VoxelRay<D>& ray, const Voxel<D>& p, double half, double& begin, double& end) {
    begin = 0;
    end = ray.t_end;
    for (int a = 0; a < D; ++a) {
        const double lo = p[a] - half - ray.origin[a], hi = p[a] + half - ray.origin[a], d = ray.direction[a];
        if (d == 0) {
            if (lo > 0 || hi < 0) return false;
            continue;
        }
        begin = std::max(begin, std::min(lo / d, hi / d));
        end = std::min(end, std::max(lo / d, hi / d));
    }
    return begin <= end;
}

// Every cube that the ray passes for more than rounding is visited, none that it misses by more, in order and once.
template <int D>
void march_all(const RegionKind& kind) {
    std::mt19937_64 g(8);
    const auto unit = [&] { return static_cast<double>(g() >> 11) * 0x1p-53; };
    for (int number = 0; number < 3; ++number) {
        const auto points = some_set<D>(number);
        const auto index = build_kind<D>(points, kind);
        if (index.entries() == 0) continue;
        const VoxelRays<D> rays(index);
        EXPECT_LE(rays.bytes() * 8, 2 * points.size() + 128);
        for (int round = 0; round < test::scaled(300, 80, 20); ++round) {
            VoxelRay<D> ray;
            for (int a = 0; a < D; ++a) {
                ray.origin[a] =
                    round % 4 == 0 ? std::floor(unit() * 60 - 30) + 0.5 * (round % 8 == 0) : unit() * 120 - 60;
                ray.direction[a] = round % 3 == 0 ? std::floor(unit() * 3) - 1 : unit() * 2 - 1;
            }
            if (round % 3 == 0) ray.direction[round % D] = 1;
            if (round % 7 == 0) ray.t_end = unit() * 50;
            std::map<Voxel<D>, RayHit<D>, test::VoxelLess<D>> seen;
            double before = 0;
            rays.march(ray, [&](const RayHit<D>& hit) {
                ASSERT_EQ(index.find(hit.p), hit.place);
                ASSERT_GE(hit.enter, before);
                ASSERT_GE(hit.leave, hit.enter);
                before = hit.enter;
                ASSERT_TRUE(seen.emplace(hit.p, hit).second);
                double begin = 0, end = 0;
                ASSERT_TRUE(cut(ray, hit.p, 0.5 + 1e-9, begin, end));
                ASSERT_NEAR(hit.enter, begin, 1e-6);
                ASSERT_NEAR(hit.leave, end, 1e-6);
            });
            double nearest = std::numeric_limits<double>::infinity();
            for (const auto& p : points) {
                double begin = 0, end = 0;
                if (!cut(ray, p, 0.5 - 1e-9, begin, end) || end - begin < 1e-9) continue;
                ASSERT_TRUE(seen.count(p)) << round;
                nearest = std::min(nearest, begin);
            }
            RayHit<D> hit;
            ASSERT_EQ(rays.first(ray, hit), !seen.empty());
            if (nearest < 1e300) {
                ASSERT_LE(hit.enter, nearest + 1e-6);
            }
        }
    }
}

TEST(Rays, PassWhatTheyMeet) {
    for (const RegionKind& kind : region_kinds) {
        SCOPED_TRACE(std::string(name(kind.layout)) + " " + name(kind.encoding));
        march_all<2>(kind);
        march_all<3>(kind);
    }
}

TEST(Rays, LongOnesAndBadOnes) {
    const std::vector<Voxel<3>> far{{-1000000, 0, 0}, {1000000, 0, 0}, {0, 0, 0}};
    const VoxelRays<3> rays(VoxelIndex<3>::build(far));
    std::vector<Voxel<3>> seen;
    rays.march({{-2e6, 0.1, -0.2}, {1, 0, 0}}, [&](const RayHit<3>& hit) { seen.push_back(hit.p); });
    EXPECT_EQ(seen, (std::vector<Voxel<3>>{far[0], far[2], far[1]}));
    EXPECT_THROW(rays.march({{0, 0, 0}, {0, 0, 0}}, [](const RayHit<3>&) {}), Error);
    EXPECT_THROW(rays.march({{0, 0, 0}, {0, std::nan(""), 0}}, [](const RayHit<3>&) {}), Error);
    RayHit<3> hit;
    EXPECT_FALSE(VoxelRays<3>().first({{0, 0, 0}, {1, 0, 0}}, hit));
    EXPECT_THROW(VoxelRays<3>(VoxelIndex<3>::build(far, {.encoding = Encoding::constrained})), Error);
}

}  // namespace
}  // namespace quadrat
