// The error bounds and margins of contact, each at the edge of what it is for: a bound that is left out, or a margin
// that is a little too small or too large, fails here.
#include <quadrat/ccd.hpp>

#include "base/simd.hpp"
#include "ccd/closest/nearest.hpp"
#include "ccd/filter/separation.hpp"
#include "ccd/filter/separation_kernel.hpp"
#include "ccd/pipeline/features.hpp"
#include "ccd/pipeline/paths.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace quadrat::bounds_test {
namespace {

// A number of 40 bits in [-1, 1]: sums of a few of them are exact.
double short_number(std::mt19937_64& random) {
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random() % (std::uint64_t{1} << 41))), -40) - 1;
}

Vec3d across(const Vec3d& a, const Vec3d& b) {
    return {{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
}

// All queries of the block are this one: the corners at rest, or on their way to `end`.
ccd::DifferenceBlock block_of(const std::array<Vec3d, 3>& start, const std::array<Vec3d, 3>& end) {
    ccd::DifferenceBlock block{};
    for (std::size_t c = 0; c < 3; ++c)
        for (int k = 0; k < 3; ++k)
            for (std::size_t q = 0; q < ccd::block_size; ++q) {
                block.value[2 * c][k][q] = start[c][k];
                block.value[2 * c + 1][k][q] = end[c][k];
            }
    return block;
}

std::array<Vec3d, 3> scaled(std::array<Vec3d, 3> x, int exponent) {
    for (Vec3d& v : x)
        for (double& c : v.v) c = std::ldexp(c, exponent);
    return x;
}

// The face is at height h above the vertex, around it, and the sum of its corners straight above: the kernel finds the
// direction at once.
TEST(Bounds, KernelKeepsTheGap) {
    base::for_each_simd_target([] {
        for (const double h : {1000.0, 1.0, 0.001, 0x1p200, 0x1p-200}) {
            const std::array<Vec3d, 3> face = {Vec3d{{2e-3 * h, 0, h}}, Vec3d{{-1e-3 * h, 1e-3 * h, h}},
                                               Vec3d{{-1e-3 * h, -1e-3 * h, h}}};
            const ccd::DifferenceBlock block = block_of(face, face);
            EXPECT_EQ(ccd::separated(block, 6, h), 0u) << h;
            EXPECT_EQ(ccd::separated(block, 6, h * (1 - 0x1p-30)), ~std::uint64_t{0}) << h;
        }
    });
}

// A vertex on a face's edge, not in its middle; the sum of the corners is across that edge, so that rounding alone says
// on which side of the vertex its ends lie. In comfort, and where products underflow or overflow: never a gap.
TEST(Bounds, KernelTakesNoContactForAGap) {
    std::mt19937_64 random(71);
    const auto whole = [&](int bits) {
        return static_cast<double>(static_cast<std::int64_t>(random() % (std::uint64_t{2} << bits)) -
                                   (std::int64_t{1} << bits));
    };
    for (int i = 0; i < test::scaled(6000, 6000, 300); ++i) {
        const Vec3d e = {{whole(12), whole(12), whole(12)}};
        const Vec3d f = across(e, {{whole(6), whole(6), whole(6)}});
        const double a = 1 + std::fabs(whole(10)), b = 3 * a + std::fabs(whole(10)), c = 1 + std::fabs(whole(16));
        std::array<Vec3d, 3> face;
        for (int k = 0; k < 3; ++k) {
            face[0][k] = a * e[k];
            face[1][k] = -b * e[k];
            face[2][k] = c * f[k] + (b - a) * e[k];
        }
        for (const int exponent : {0, -563 - i % 12, 476 + i % 12})
            ASSERT_EQ(ccd::separated(block_of(scaled(face, exponent), scaled(face, exponent)), 6, 0), 0u)
                << i << " " << exponent;
    }
}

// Lengths of directions and positions as far off as stay_apart() allows for.
TEST(Bounds, StayApartTakesRoundedDirections) {
    constexpr double u = 0x1p-53;
    for (const double z : {1.0, 1.25, 1.9}) {
        ccd::Positions p{.x = {}, .count = 3};
        for (int i = 0; i < 3; ++i) p.x[i] = {{0, 0, z * (1 + 4 * u)}};
        const Vec3d longer = {{0, 0, 1 + 8 * u}};
        EXPECT_FALSE(ccd::stay_apart(p, p, longer, longer, {{0, 0, z}}, z));
        EXPECT_TRUE(ccd::stay_apart(p, p, longer, longer, {{0, 0, z}}, z * (1 - 0x1p-47)));
    }
    // Three products that are each rounded up to the smallest double: 3 of them, where the length is 1.73.
    constexpr double least = std::numeric_limits<double>::denorm_min();
    ccd::Positions tiny{.x = {}, .count = 3};
    for (int i = 0; i < 3; ++i) tiny.x[i] = {{least, least, least}};
    const double third = std::sqrt(1.0 / 3);
    const Vec3d w = {{third, third, third}};
    EXPECT_FALSE(ccd::stay_apart(tiny, tiny, w, w, {{least, least, least}}, 2 * least));
}

// A vertex sinks through the distance of a face, so slowly that a margin is a part of the step.
TEST(Bounds, HitsAreWithinTheMargin) {
    for (const double d : {1.0, 0.75}) {
        const double size = 2;  // the largest relative coordinate
        for (const int exponent : {-43, -37, -30}) {
            const double slow = std::ldexp(size, exponent);
            const FourPoints start = {Vec3d{{0, 0, d + slow}}, Vec3d{{-1, -1, 0}}, Vec3d{{2, -1, 0}},
                                      Vec3d{{-1, 2, 0}}};
            FourPoints end = start;
            end[0][2] = d - slow;
            const double t = impact_time(ImpactKind::vertex_face, start, end, {.min_distance = d});
            EXPECT_LE(t, 0.5) << exponent;
            EXPECT_GE(t, 0.5 - std::ldexp(size, -44) / (2 * slow) - 1e-6) << exponent;
        }
    }
}

// Coordinates whose differences leave the range: the distance is scaled with them.
TEST(Bounds, DifferencesOfTheLargestDoubles) {
    const double far = 1.7e308;
    const FourPoints start = {Vec3d{{0, 0, far}}, Vec3d{{-1, -1, -far}}, Vec3d{{2, -1, -far}}, Vec3d{{-1, 2, -far}}};
    FourPoints end = start;
    end[0][2] = -1.6e308;
    const double t = impact_time(ImpactKind::vertex_face, start, end, {.min_distance = 0.2e308});
    EXPECT_NEAR(t, 3.2 / 3.3, 2e-6);
}

// Directions of slivers whose square is no normal number: what is computed is finite and right.
TEST(Bounds, SliversNearTheEndOfTheRange) {
    std::mt19937_64 random(73);
    std::uniform_real_distribution<double> real(-1, 1);
    for (int i = 0; i < 2000; ++i) {
        FourPoints p;
        for (Vec3d& v : p)
            for (double& x : v.v) x = std::ldexp(real(random), -196);
        for (int k = 0; k < 3; ++k) p[2][k] = p[1][k] + std::ldexp(real(random), -240 - i % 20);
        p[3][2] = std::ldexp(real(random), -196);
        const ccd::Relative x = {Vec3d{{p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]}},
                                 Vec3d{{p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]}},
                                 Vec3d{{p[3][0] - p[0][0], p[3][1] - p[0][1], p[3][2] - p[0][2]}}};
        for (const ImpactKind kind : {ImpactKind::vertex_face, ImpactKind::edge_edge}) {
            const double exact = closest_points(kind, p).distance;
            EXPECT_NEAR(std::ldexp(ccd::nearest_in_double(kind, x).distance, 196), std::ldexp(exact, 196), 0x1p-44);
        }
    }
}

// One vertex and one face, or two edges, as the pipeline sees them.
struct Scene {
    std::vector<Vec3d> start;
    std::vector<Triangle> triangles = {};
    std::vector<std::array<std::uint32_t, 2>> segments = {};
    std::vector<std::uint32_t> points = {};

    [[nodiscard]] MovingMesh mesh() const {
        return {.triangles = triangles, .start = start, .segments = segments, .points = points};
    }
    // Whether the first vertex and the first face, or the first two edges, are near by the directions.
    [[nodiscard]] bool near(ccd::Directions directions, double gap) const {
        const MovingMesh m = mesh();
        const ccd::Features f = ccd::make_features({&m, 1});
        const ccd::AllPaths paths = ccd::make_paths(f, gap, nullptr);
        std::vector<Pair> one = {triangles.empty() ? Pair(0, 1) : Pair(0, 0)}, out(1);
        const ccd::Path* const edges = paths.edges.data();
        return (triangles.empty() ? ccd::select_near(directions, edges, edges, paths.gap, one, out.data())
                                  : ccd::select_near(directions, paths.vertices.data(), paths.faces.data(), paths.gap,
                                                     one, out.data())) != 0;
    }
};

constexpr ccd::Directions both_directions[] = {ccd::Directions::centres, ccd::Directions::many};

// A vertex in the middle of a face's edge, and an edge that ends in the middle of another one: the line between the
// centres is across that edge, so that rounding alone decides on which side its ends lie.
TEST(Bounds, PathsThatTouchAreNear) {
    std::mt19937_64 random(79);
    for (int i = 0; i < test::scaled(4000, 4000, 400); ++i) {
        const auto whole = [&](int bits) {
            return static_cast<double>(static_cast<std::int64_t>(random() % (std::uint64_t{2} << bits)) -
                                       (std::int64_t{1} << bits));
        };
        // e and f are orthogonal, in whole numbers; everything is.
        const Vec3d e = {{whole(12), whole(12), whole(12)}};
        const Vec3d f = across(e, {{whole(3), whole(3), whole(3)}});
        const Vec3d from = {{whole(30), whole(30), whole(30)}};
        const auto at = [&](double s, double r) {
            return Vec3d{{from[0] + s * e[0] + r * f[0], from[1] + s * e[1] + r * f[1], from[2] + s * e[2] + r * f[2]}};
        };
        const Vec3d far = {{whole(31), whole(31), whole(31)}};  // moves the middle of everything
        const Scene touching[] = {
            {.start = {at(0, 0), at(1, 0), at(-1, 0), at(0, 1), far}, .triangles = {{1, 2, 3}}, .points = {0, 4}},
            {.start = {at(0, 0), at(0, 1), at(1, 0), at(-1, 0), far}, .segments = {{0, 1}, {2, 3}}, .points = {4}}};
        for (const Scene& s : touching)
            for (const ccd::Directions d : both_directions) ASSERT_TRUE(s.near(d, 0)) << i;
    }
}

// The same where products of floats underflow: tiny features in the middle of a large scene.
TEST(Bounds, TinyPathsThatTouchAreNear) {
    std::mt19937_64 random(83);
    for (int i = 0; i < test::scaled(6000, 6000, 600); ++i) {
        const auto whole = [&] { return static_cast<double>(static_cast<int>(random() % 63) - 31); };
        const Vec3d e = {{whole(), whole(), whole()}};
        const Vec3d f = across(e, {{whole(), whole(), whole()}});
        const double unit = std::ldexp(1.0, -74 - i % 10);
        Scene s{.start = {{{0, 0, 0}}, e, e, f, {{-1, -1, -1}}, {{1, 1, 1}}},
                .triangles = {{1, 2, 3}},
                .points = {0, 4, 5}};
        for (int k = 0; k < 3; ++k) {
            s.start[1][k] *= unit;
            s.start[2][k] *= -3 * unit;
            s.start[3][k] = (f[k] + e[k]) * unit;  // which counts twice for the centre
        }
        for (const ccd::Directions d : both_directions) ASSERT_TRUE(s.near(d, 0)) << i;
    }
}

// A face around the place straight above a vertex: near at its height, not so a little below it.
TEST(Bounds, PathsKeepTheGap) {
    for (const double h : {1.0, 0x1.555554p+3, 3e-200, 5e200}) {
        const Scene s{
            .start = {{{0, 0, 0}}, {{2e-3 * h, 0, h}}, {{-1e-3 * h, 1e-3 * h, h}}, {{-1e-3 * h, -1e-3 * h, h}}},
            .triangles = {{1, 2, 3}},
            .points = {0}};
        for (const ccd::Directions d : both_directions) {
            EXPECT_TRUE(s.near(d, h)) << h;
            EXPECT_TRUE(s.near(d, 1e3 * h)) << h;
            EXPECT_FALSE(s.near(d, 0.999 * h)) << h;
            EXPECT_FALSE(s.near(d, 0)) << h;
        }
    }
}

// Boxes are the tightest floats around the doubles.
TEST(Bounds, BoxesAreRoundedOutwards) {
    std::mt19937_64 random(89);
    std::vector<Vec3d> start, end;
    const double special[] = {0,      -0.0,    1,    -1,        0x1p-149, -0x1p-149, 0x1p-160,
                              -1e-50, 3.4e38,  1e39, -1e39,     1e300,    -1e300,    1 + 0x1p-30,
                              -1e-40, 1.5e-45, 0.1,  0x1p-1074, 16777217, -16777219};
    for (int i = 0; i < 3000; ++i)
        for (auto* side : {&start, &end}) {
            Vec3d v;
            for (double& x : v.v)
                x = i < 1000 ? special[random() % std::size(special)]
                             : std::ldexp(short_number(random), static_cast<int>(random() % 300) - 150);
            side->push_back(v);
        }
    const MovingMesh m{.start = start, .end = end};
    const ccd::FeatureBoxes boxes = ccd::vertex_boxes(ccd::make_features({&m, 1}), 0, nullptr);
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < start.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            const double lo = std::min(start[i][k], end[i][k]), hi = std::max(start[i][k], end[i][k]);
            const float l = boxes.boxes[i].lo[k], h = boxes.boxes[i].hi[k];
            ASSERT_LE(l, lo);
            ASSERT_GE(h, hi);
            ASSERT_TRUE(l == inf || double{std::nextafter(l, inf)} > lo) << lo;
            ASSERT_TRUE(h == -inf || double{std::nextafter(h, -inf)} < hi) << hi;
        }
    EXPECT_FALSE(boxes.exact);
}

// Two contacts near the end of the first window. One lasts, and is told early by much of the tolerance, so that though
// it begins behind the window it is told to be the first; a short one is told as it is.
TEST(Bounds, ToldEarlyAcrossTheEndOfAWindow) {
    constexpr double tolerance = 0.01, distance = 0.1, until = 0.9;
    constexpr double window = until / 64;  // its end is in the cell [1, 2] / 128 of times that are tried
    std::mt19937_64 random(97);
    std::uniform_real_distribution<double> real(0, 1);
    int early = 0;
    for (int i = 0; i < 200; ++i) {
        const double brief = window - 0.003 * real(random) - 0.001;
        const double lasting = window + 0.001 * real(random) + 0.0001;
        // Past a small face at nine tenths of the distance, and down on a large one.
        const std::vector<Vec3d> start = {
            {{-170 * brief, 0, 0.09}},          {{-1e-3, -1e-3, 0}}, {{1e-3, 0, 0}}, {{-1e-3, 1e-3, 0}},
            {{500, 0, distance + 3 * lasting}}, {{499, -1, 0}},      {{502, -1, 0}}, {{499, 2, 0}}};
        std::vector<Vec3d> end = start;
        end[0][0] += 170;
        end[4][2] -= 3;
        const std::vector<Triangle> faces = {{1, 2, 3}, {5, 6, 7}};
        const std::vector<std::uint32_t> points = {0, 4};
        const MovingMesh m{.triangles = faces, .start = start, .end = end, .points = points};
        const ContactOptions options{.min_distance = distance, .tolerance = tolerance};
        const ContactList all = find_contacts(m, options);
        ASSERT_EQ(earliest_time(m, until, options), all.earliest) << i;
        early += all.contacts.at(0).vertices[0] == 4;
    }
    EXPECT_GT(early, 10);
}

// A contact of two edges that is looked at when that of a vertex and a face is known already: nearer than the distance
// by little, or told early by much of the tolerance, it is the first all the same.
TEST(Bounds, KnownContactsHideNoEarlierOne) {
    constexpr double distance = 0.1;
    int edges_first = 0;
    const auto expect_same = [&](double x, double vertex_speed, double height, double edge_speed, double tolerance) {
        // A vertex passes a small face at nine tenths of the distance; an edge comes down across another one.
        const std::vector<Vec3d> start = {{{-x, 0, 0.09}},   {{-1e-3, -1e-3, 0}}, {{1e-3, 0, 0}}, {{-1e-3, 1e-3, 0}},
                                          {{49, 0, height}}, {{51, 0, height}},   {{50, -1, 0}},  {{50, 1, 0}}};
        std::vector<Vec3d> end = start;
        end[0][0] += vertex_speed;
        for (const std::size_t i : {4u, 5u}) end[i][2] -= edge_speed;
        const std::vector<Triangle> faces = {{1, 2, 3}};
        const std::vector<std::uint32_t> points = {0};
        const std::vector<std::array<std::uint32_t, 2>> segments = {{4, 5}, {6, 7}};
        const MovingMesh m{.triangles = faces, .start = start, .end = end, .segments = segments, .points = points};
        const ContactOptions options{.min_distance = distance, .tolerance = tolerance};
        const ContactList all = find_contacts(m, options);
        ASSERT_EQ(earliest_time(m, 1, options), all.earliest);
        edges_first += all.contacts.at(0).kind == ContactKind::edge_edge;
    };
    for (int i = 0; i < 20; ++i) {
        const double late = 0.011 + 1e-4 * i;
        expect_same(170 * late, 170, distance * 1.0005, distance * 0.05, 1e-6);  // at the distance at 0.01
        expect_same(170 * late, 170, distance + 3 * (late + 2e-4), 3, 0.01);     // a little later, told earlier
    }
    EXPECT_GE(edges_first, 30);
}

}  // namespace
}  // namespace quadrat::bounds_test
