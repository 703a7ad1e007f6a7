// Queries against predicates that are written a second time, another way and in long double: a segment by its
// separating axes instead of slabs, a sphere by the nearest point, a ray by where it crosses faces. What is decided by
// less than rounding is left out; almost nothing is.
#include "support/kinds.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>

namespace {

using namespace quadrat;
using Real = long double;

// How far two things are from each other: negative if they meet. An answer within `rounding` of 0 is open.
constexpr Real rounding = 1e-9L;

template <int D, class T>
Real gap(const Segment<D, T>& s, const Box<D, T>& box) {
    std::array<Real, 3> c{}, e{}, m{}, h{};  // box centre and half edges; segment middle and half length, in three axes
    for (int k = 0; k < D; ++k) {
        const auto at = static_cast<std::size_t>(k);
        c[at] = (Real(box.lo[k]) + Real(box.hi[k])) / 2;
        e[at] = (Real(box.hi[k]) - Real(box.lo[k])) / 2;
        m[at] = (Real(s.a[k]) + Real(s.b[k])) / 2 - c[at];
        h[at] = (Real(s.b[k]) - Real(s.a[k])) / 2;
    }
    if (D == 2) e[2] = 1;
    Real worst = -1e30L;
    const auto separate = [&](Real x, Real y, Real z) {
        const Real length = std::sqrt(x * x + y * y + z * z);
        if (length < 1e-15L) return;
        const Real distance = std::abs(m[0] * x + m[1] * y + m[2] * z);
        const Real reach =
            std::abs(e[0] * x) + std::abs(e[1] * y) + std::abs(e[2] * z) + std::abs(h[0] * x + h[1] * y + h[2] * z);
        worst = std::max(worst, (distance - reach) / length);
    };
    for (std::size_t k = 0; k < D; ++k) separate(k == 0, k == 1, k == 2);
    if (D == 2) {
        separate(-h[1], h[0], 0);
    } else {
        separate(0, -h[2], h[1]);
        separate(h[2], 0, -h[0]);
        separate(-h[1], h[0], 0);
    }
    return worst;
}

template <int D, class T>
Real distance(const Vec<D, T>& p, const Box<D, T>& box) {
    Real sum = 0;
    for (int k = 0; k < D; ++k) {
        const Real x = p[k], nearest = std::min(std::max(x, Real(box.lo[k])), Real(box.hi[k]));
        sum += (x - nearest) * (x - nearest);
    }
    return std::sqrt(sum);
}

// Where the ray first touches the box, looking at its origin and at every face that it crosses.
template <int D, class T>
std::optional<Real> first_touch(const Ray<D, T>& ray, const Box<D, T>& box) {
    if (distance(ray.origin, box) == 0) return Real(0);
    std::optional<Real> first;
    for (int k = 0; k < D; ++k)
        for (const Real face : {Real(box.lo[k]), Real(box.hi[k])}) {
            if (ray.direction[k] == 0) continue;
            const Real t = (face - Real(ray.origin[k])) / Real(ray.direction[k]);
            if (t < 0) continue;
            bool on = true;
            for (int j = 0; j < D; ++j) {
                const Real x = Real(ray.origin[j]) + t * Real(ray.direction[j]);
                on = on && (j == k || (x >= Real(box.lo[j]) - rounding && x <= Real(box.hi[j]) + rounding));
            }
            if (on && (!first || t < *first)) first = t;
        }
    return first;
}

template <class K>
class QueryOracle : public testing::Test {};
TYPED_TEST_SUITE(QueryOracle, test::Kinds);

TYPED_TEST(QueryOracle, FindsTheSame) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::mt19937_64 random(23);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto point = [&](double scale) {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = static_cast<T>(scale * uniform(random));
        return p;
    };
    std::vector<Box<D, T>> boxes(900);
    for (Box<D, T>& box : boxes) {
        box.lo = point(20);
        for (int k = 0; k < D; ++k) box.hi[k] = box.lo[k] + static_cast<T>(std::exp2(3 * uniform(random)));
    }
    HashGridHierarchy<D, T> grid;
    HierarchicalHash<D, T> hash;
    MultilevelHash<D, T> levels;
    grid.insert(std::span<const Box<D, T>>(boxes).first(800));
    for (std::size_t i = 800; i < boxes.size(); ++i) grid.insert(boxes[i]);  // some in the hash grids
    hash.insert(std::span<const Box<D, T>>(boxes));
    levels.insert(std::span<const Box<D, T>>(boxes));
    std::size_t open = 0, met = 0;
    std::vector<std::uint32_t> found;
    // gap(i) tells for box i; `found` must name those whose gap is negative.
    const auto expect = [&](auto&& gap_to, const char* what) {
        std::vector<char> there(boxes.size(), 0);
        for (const std::uint32_t i : found) {
            EXPECT_FALSE(there[i]) << what << ": twice";
            there[i] = 1;
        }
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const Real g = gap_to(i);
            if (std::abs(g) < rounding) {
                ++open;
                continue;
            }
            met += g < 0;
            EXPECT_EQ(there[i] != 0, g < 0) << what << " " << i << " " << static_cast<double>(g);
        }
    };
    for (int q = 0; q < 150; ++q) {
        Segment<D, T> s{point(22), point(22)};
        if (q % 3 == 0)
            for (int k = 0; k < D; ++k) s.b[k] = s.a[k] + static_cast<T>(uniform(random));
        const auto to_segment = [&](std::size_t i) { return gap(s, boxes[i]); };
        grid.find(s, found);
        expect(to_segment, "segment, grid");
        hash.find(s, found);
        expect(to_segment, "segment, hash");
        levels.find(s, found);
        expect(to_segment, "segment, levels");

        const Sphere<D, T> sphere{point(22), static_cast<T>(4 * std::abs(uniform(random)))};
        grid.find(sphere, found);
        expect([&](std::size_t i) { return distance(sphere.center, boxes[i]) - Real(sphere.radius); }, "sphere");

        Ray<D, T> ray{
            .origin = point(22), .direction = point(1), .length = static_cast<T>(20 * std::abs(uniform(random)))};
        if (q % 5 == 0) ray.direction[q % D] = 0;
        const auto to_ray = [&](std::size_t i) {
            const auto t = first_touch(ray, boxes[i]);
            return t ? *t - Real(ray.length) : Real(1);
        };
        grid.find(ray, found);
        expect(to_ray, "ray");
        const auto hit = grid.closest_hit(ray);
        Real first = 1e30L;
        for (std::size_t i = 0; i < boxes.size(); ++i)
            if (const auto t = first_touch(ray, boxes[i]); t && *t <= Real(ray.length)) first = std::min(first, *t);
        EXPECT_EQ(hit.has_value(), first < 1e30L) << q;
        if (hit) {
            EXPECT_NEAR(static_cast<double>(hit->distance), static_cast<double>(first), 2e-5) << q;
        }

        const Vec<D, T> p = point(25);
        const auto near = grid.nearest(p);
        Real least = 1e30L;
        for (const Box<D, T>& box : boxes) least = std::min(least, distance(p, box));
        ASSERT_TRUE(near.has_value());
        EXPECT_NEAR(static_cast<double>(near->distance), static_cast<double>(least),
                    2e-5 * (1 + static_cast<double>(least)));
        EXPECT_NEAR(static_cast<double>(distance(p, boxes[near->slot])), static_cast<double>(least), 1e-9);
    }
    EXPECT_GT(met, 1000u);
    EXPECT_LT(open, 20u);
}

// Parameters beyond the range of double decide as those of a longer direction do.
TEST(QueryOracle, RaysWithTinyDirections) {
    HashGridHierarchy<2, double> grid;
    grid.insert(Box2d{{1e10, 5e10}, {2e10, 6e10}});
    grid.insert(Box2d{{1e10, 1e10}, {2e10, 2e10}});
    std::vector<std::uint32_t> found;
    for (const double d : {1.0, 1e-100, 1e-300, 1e-308}) {
        const Ray<2, double> ray{{0, 0}, {d, d}};
        grid.find(ray, found);
        EXPECT_EQ(found, std::vector<std::uint32_t>{1}) << d;
        ASSERT_TRUE(grid.closest_hit(ray)) << d;
        EXPECT_EQ(grid.closest_hit(ray)->slot, 1u) << d;
    }
}

}  // namespace
