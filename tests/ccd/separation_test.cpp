// Minimum separation: never missed, never late, early by at most the tolerance, no hit without the features coming as
// near as promised; one query at a time and through the mesh pipeline.
#include <quadrat/ccd.hpp>

#include "ccd/closest_oracle.hpp"
#include "ccd/filter/separation.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace quadrat::separation_test {
namespace {

constexpr ImpactKind kinds[] = {ImpactKind::vertex_face, ImpactKind::edge_edge};

struct Query {
    ImpactKind kind = ImpactKind::vertex_face;
    FourPoints start = {}, end = {};

    [[nodiscard]] double distance_at(double time) const {
        return test::root(test::squared_distance(kind, test::rational_points(start, end, test::Rational(time))));
    }
    // The same in double, off by some roundings of the size: to look for times by.
    [[nodiscard]] double near_at(double time) const {
        FourPoints p;
        for (std::size_t i = 0; i < 4; ++i)
            for (int k = 0; k < 3; ++k) p[i][k] = (1 - time) * start[i][k] + time * end[i][k];
        return closest_points(kind, p).distance;
    }
    // The largest component of the relative positions.
    [[nodiscard]] double size() const {
        double size = 0;
        const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
        for (const FourPoints* p : {&start, &end})
            for (std::size_t i = 0; i < first; ++i)
                for (std::size_t j = first; j < 4; ++j)
                    for (int k = 0; k < 3; ++k) size = std::max(size, std::fabs((*p)[i][k] - (*p)[j][k]));
        return size;
    }
    [[nodiscard]] double time(double distance, double tolerance = 1e-6) const {
        return impact_time(kind, start, end, {.tolerance = tolerance, .min_distance = distance});
    }
};

Query scaled(Query q, int exponent) {
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p)
            for (double& x : v.v) x = std::ldexp(x, exponent);
    return q;
}

// The least distance in [from, to], looked for by samples and by narrowing around the best one.
double least_distance(const Query& q, double from, double to) {
    constexpr int samples = 64;
    double best = from, least = q.near_at(from);
    const auto take = [&](double t) {
        const double d = q.near_at(t);
        if (d < least) {
            least = d;
            best = t;
        }
    };
    for (int i = 1; i <= samples; ++i) take(from + (to - from) * i / samples);
    for (double width = (to - from) / samples; width > 1e-17; width /= 2) {
        take(std::max(from, best - width / 2));
        take(std::min(to, best + width / 2));
    }
    return q.distance_at(best);
}

// The promises, on a grid of times.
void expect_promises(const Query& q, double distance, double tolerance, const std::string& note) {
    const double t = q.time(distance, tolerance);
    const double reach = distance + 0x1p-44 * q.size();
    const double certain = distance - 0x1p-46 * q.size();  // near_at() below it is near in real arithmetic
    double first = 2;
    for (int i = 0; i <= 256 && first > 1; ++i)
        if (q.near_at(i / 256.0) <= certain) first = i / 256.0;
    if (first <= 1) {  // narrow down to where it begins, as far as the samples tell
        double before = std::max(0.0, first - 1 / 256.0);
        for (int i = 0; i < 45; ++i) {
            const double middle = 0.5 * (before + first);
            (q.near_at(middle) <= certain ? first : before) = middle;
        }
        ASSERT_LE(q.distance_at(first), distance) << note;
        ASSERT_LE(t, first) << note;  // neither missed nor late
    }
    if (t > 1) return;
    ASSERT_GE(t, 0) << note;
    ASSERT_LE(least_distance(q, std::max(0.0, t - tolerance), std::min(1.0, t + tolerance)), reach) << note;
}

double coordinate(std::mt19937_64& random, int character) {
    std::uniform_real_distribution<double> real(-1, 1);
    const double whole = static_cast<double>(static_cast<int>(random() % 9) - 4);
    return character == 0 ? whole : character == 1 ? real(random) : whole + (random() % 3 ? 0.0 : 1e-9 * real(random));
}

TEST(Separation, KeepsItsPromises) {
    std::mt19937_64 random(51);
    for (int i = 0; i < test::scaled(1500, 500, 100); ++i) {
        Query q{.kind = kinds[random() % 2]};
        for (FourPoints* p : {&q.start, &q.end})
            for (Vec3d& v : *p)
                for (double& x : v.v) x = coordinate(random, i % 3);
        if (i % 5 == 0)
            for (std::size_t j = 1; j < 4; ++j) q.end[j] = q.start[j];  // the second feature rests
        if (i % 7 == 0)
            for (FourPoints* p : {&q.start, &q.end})
                for (Vec3d& v : *p) v[2] = 0;  // in one plane
        const double distances[] = {1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1, 2};
        const double distance = distances[random() % 7];
        const double tolerances[] = {1e-9, 1e-6, 1e-3};
        expect_promises(q, distance, tolerances[random() % 3], "query " + std::to_string(i));
    }
}

// A vertex that passes a face or an edge an edge at a known distance: seen just above, not just below.
TEST(Separation, NearMissesAreMisses) {
    std::mt19937_64 random(53);
    std::uniform_real_distribution<double> real(-1, 1);
    int hits = 0, misses = 0;
    for (int i = 0; i < test::scaled(300, 300, 30); ++i) {
        Query q{.kind = kinds[i % 2]};
        for (FourPoints* p : {&q.start, &q.end})
            for (Vec3d& v : *p)
                for (double& x : v.v) x = (i % 3 == 2 ? 1e-4 : 1.0) * real(random);
        // Aim: the first point goes through a place near the second feature at the middle of the step.
        const double away = i % 3 == 2 ? 1e-7 : 5e-9;
        for (int k = 0; k < 3; ++k) {
            const double target = 0.25 * (q.start[2][k] + q.start[3][k] + q.end[2][k] + q.end[3][k]);
            const double motion = real(random);
            q.start[0][k] = target + motion + away * real(random);
            q.end[0][k] = target - motion + away * real(random);
        }
        const double least = least_distance(q, 0, 1);
        if (!(least > 1e-12 && least < 1e-3)) continue;
        const double margin = 0x1p-43 * q.size();
        EXPECT_LE(q.time(least * 1.001 + margin), 1) << i;
        if (least * 0.9 > margin) {
            // The search for the least distance may have missed a deeper dip: then a hit is right.
            const double t = q.time(least * 0.9 - margin);
            if (t <= 1) {
                EXPECT_LE(least_distance(q, std::max(0.0, t - 1e-6), std::min(1.0, t + 1e-6)), least) << i;
            }
            misses += t > 1;
        }
        ++hits;
    }
    EXPECT_GT(hits, test::scaled(100, 100, 5));
    EXPECT_GT(misses, test::scaled(80, 80, 3));
}

TEST(Separation, ClosestApproachOf283Nanometres) {
    const Query miss{ImpactKind::vertex_face,
                     {Vec3d{{-0.1944479403187221, -0.7225034717768704, -0.47432778522778696}},
                      Vec3d{{-0.42017684241553244, -0.94925674274069, 0.4248941865577556}},
                      Vec3d{{-0.10319181847917497, -1.2484714773445438, -0.4751008340929213}},
                      Vec3d{{-0.2616846805682886, -1.0988589642966755, -0.025105157851173517}}},
                     {}};
    Query q = miss;
    q.end = q.start;
    q.end[0] = Vec3d{{-0.13048773316348533, -1.6625300272155374, -0.1392767936298306}};
    for (const int exponent : {0, 300, -300, 900, -900}) {
        const Query s = scaled(q, exponent);
        EXPECT_GT(s.time(std::ldexp(1e-12, exponent)), 1) << exponent;
        EXPECT_GT(s.time(std::ldexp(2.7e-7, exponent)), 1) << exponent;
        EXPECT_LE(s.time(std::ldexp(2.9e-7, exponent)), 0.6) << exponent;
    }
}

TEST(Separation, CollapsingFaceIsOnTime) {
    const Query q{ImpactKind::vertex_face,
                  {Vec3d{{3, -3, 4}}, Vec3d{{-1, 1, -4}}, Vec3d{{3, -3, 3}}, Vec3d{{2, -2, 4}}},
                  {Vec3d{{0, -3, 4}}, Vec3d{{0, 1, 4}}, Vec3d{{0, -3, 4}}, Vec3d{{0, -2, 4}}}};
    const double t = q.time(1e-6);
    EXPECT_LE(t, 0.999999 + 1e-12);
    EXPECT_GE(t, 0.999998);
}

// What is apart says so by a margin: on flat features that touch, whatever the direction, rounding must not.
TEST(Separation, RoundingSeparatesNothing) {
    std::mt19937_64 random(57);
    std::uniform_real_distribution<double> real(-1, 1);
    const auto short_number = [&] { return std::ldexp(std::round(std::ldexp(real(random), 50)), -50); };
    int close = 0;
    for (int i = 0; i < 20000; ++i) {
        // Three corners around the vertex, in a plane, whose sum is zero: the vertex is in the middle of the face.
        ccd::Positions p{.x = {}, .count = 3};
        Vec3d size;
        for (int k = 0; k < 3; ++k) {
            p.x[0][k] = short_number();
            p.x[1][k] = short_number();
            p.x[2][k] = -(p.x[0][k] + p.x[1][k]);
            size[k] = std::max({std::fabs(p.x[0][k]), std::fabs(p.x[1][k]), std::fabs(p.x[2][k])});
        }
        Vec3d n;
        for (int k = 0; k < 3; ++k) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            n[k] = p.x[0][a] * p.x[1][b] - p.x[0][b] * p.x[1][a];
        }
        const double length = std::hypot(n[0], n[1], n[2]);
        for (double& x : n.v) x /= length;
        double least = 1;
        for (const Vec3d& x : {p.x[0], p.x[1], p.x[2]})
            least = std::min(least, n[0] * x[0] + n[1] * x[1] + n[2] * x[2]);
        close += least > 0;
        ASSERT_FALSE(ccd::stay_apart(p, p, n, n, size, 0x1p-600)) << i;
    }
    EXPECT_GT(close, 20);  // without the bound these would have been separated
}

// The same through the public calls: contact at the start, with a direction along which rounding shows a gap.
TEST(Separation, RoundingSeparatesNoContact) {
    std::mt19937_64 random(59);
    std::uniform_real_distribution<double> real(-1, 1);
    const auto short_number = [&] { return std::ldexp(std::round(std::ldexp(real(random), 50)), -50); };
    for (int i = 0; i < test::scaled(3000, 3000, 300); ++i) {
        std::vector<Vec3d> face(3), vertex(1, Vec3d{{0, 0, 0}});
        for (int k = 0; k < 3; ++k) {
            face[0][k] = short_number();
            face[1][k] = short_number();
            face[2][k] = -(face[0][k] + face[1][k]);
        }
        Vec3d n;
        for (int k = 0; k < 3; ++k) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            n[k] = face[0][a] * face[1][b] - face[0][b] * face[1][a];
        }
        const std::vector<Vec3d> lifted(1, n);
        const std::vector<Triangle> one = {{0, 1, 2}};
        const std::vector<std::uint32_t> point = {0};
        const FourPoints start = {vertex[0], face[0], face[1], face[2]}, end = {n, face[0], face[1], face[2]};
        const MovingMesh moving{.start = vertex, .end = lifted, .points = point};
        const MovingMesh still{.triangles = one, .start = face};
        for (const double distance : {0.0, 1e-300}) {
            ASSERT_EQ(impact_time(ImpactKind::vertex_face, start, end, {.min_distance = distance}), 0) << i;
            const ContactList list = find_contacts(moving, still, {.min_distance = distance});
            ASSERT_EQ(list.size(), 1u) << i;
            ASSERT_EQ(list.earliest, 0) << i;
        }
    }
}

struct Sheet {
    std::vector<Vec3d> vertices;
    std::vector<Triangle> triangles;
};

// A flat sheet at a height along the third of three axes.
Sheet sheet(const Vec3d (&axes)[3], std::uint32_t n, double height, double shift) {
    Sheet s;
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t j = 0; j <= n; ++j) {
            Vec3d p;
            for (int k = 0; k < 3; ++k)
                p[k] = (i + shift) * axes[0][k] + (j + shift) * axes[1][k] + height * axes[2][k];
            s.vertices.push_back(p);
            if (i && j) {
                const std::uint32_t d = i * (n + 1) + j;
                s.triangles.push_back({d, d - 1, d - n - 1});
                s.triangles.push_back({d - 1, d - n - 2, d - n - 1});
            }
        }
    return s;
}

// Two sheets that slide past each other a little nearer, or farther, than the distance: through the pipeline, in every
// orientation, nothing is lost and nothing is added.
TEST(Separation, SheetsAtAlmostTheDistance) {
    std::mt19937_64 random(61);
    std::uniform_real_distribution<double> real(-1, 1);
    const Vec3d normals[] = {{{0, 0, 1}}, {{1, 1, 0}},  {{1, -1, 0}}, {{1, 0, 1}},  {{1, 0, -1}},
                             {{0, 1, 1}}, {{0, 1, -1}}, {{1, 1, 1}},  {{1, -1, 1}}, {{1, 1, -1}}};
    for (int i = 0; i < 14; ++i) {
        Vec3d axes[3];
        axes[2] = i < 10 ? normals[i] : Vec3d{{real(random), real(random), real(random)}};
        const Vec3d other = {{0.3, -0.5, 0.8}};
        const auto normalise = [](Vec3d& v) {
            const double length = std::hypot(v[0], v[1], v[2]);
            for (double& x : v.v) x /= length;
        };
        const auto across = [](const Vec3d& a, const Vec3d& b) {
            return Vec3d{{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]}};
        };
        normalise(axes[2]);
        axes[0] = across(axes[2], other);
        normalise(axes[0]);
        axes[1] = across(axes[2], axes[0]);
        const double distance = i % 2 ? 0.7 : 0.01;
        for (const double share : {0.98, 1.02}) {
            const Sheet low = sheet(axes, 4, 0, 0), high = sheet(axes, 4, share * distance, 0.3),
                        moved = sheet(axes, 4, share * distance, 0.4);
            const MovingMesh a{.triangles = low.triangles, .start = low.vertices};
            const MovingMesh b{.triangles = high.triangles, .start = high.vertices, .end = moved.vertices};
            const ContactList list = find_contacts(a, b, {.min_distance = distance});
            if (share > 1) {
                EXPECT_TRUE(list.empty()) << i;
                continue;
            }
            EXPECT_EQ(list.earliest, 0);
            for (const Contact& c : list) EXPECT_NEAR(c.distance, share * distance, 0.03 * distance);
            std::size_t expected = 0;
            for (const Triangle& t : high.triangles)
                for (std::size_t v = 0; v < low.vertices.size(); ++v)
                    expected +=
                        impact_time(ImpactKind::vertex_face,
                                    {low.vertices[v], high.vertices[t.a], high.vertices[t.b], high.vertices[t.c]},
                                    {low.vertices[v], moved.vertices[t.a], moved.vertices[t.b], moved.vertices[t.c]},
                                    {.min_distance = distance}) <= 1;
            std::size_t found = 0;
            for (const Contact& c : list) found += c.kind == ContactKind::vertex_face && c.meshes[0] == 0;
            EXPECT_GT(expected, 10u);
            EXPECT_EQ(found, expected) << i;
        }
    }
}

TEST(Separation, AtBothEndsOfTheRange) {
    const Query q{ImpactKind::vertex_face,
                  {Vec3d{{0.25, 0.25, 1}}, Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}},
                  {Vec3d{{0.25, 0.25, -1}}, Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}}};
    for (const int exponent : {-1060, -1000, 0, 500, 1000, 1022}) {
        const double t = scaled(q, exponent).time(std::ldexp(0.5, exponent));
        EXPECT_LE(t, 0.25) << exponent;
        EXPECT_GE(t, 0.25 - 1e-6) << exponent;
        EXPECT_EQ(scaled(q, exponent).time(std::ldexp(1.0, exponent)), 0) << exponent;
    }
    EXPECT_EQ(scaled(q, -1000).time(1e300), 0);
    EXPECT_LE(scaled(q, 1000).time(0x1p-1074), 0.5);
    // A gap of one smallest double, between boxes that the half of it does not make overlap.
    const std::vector<Triangle> one = {{0, 1, 2}};
    const std::vector<Vec3d> floor = {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}};
    const std::vector<Vec3d> above = {{{0.25, 0.25, 0x1p-1074}}};
    const std::vector<std::uint32_t> point = {0};
    EXPECT_EQ(find_contacts({.triangles = one, .start = floor}, {.start = above, .points = point},
                            {.min_distance = 0x1p-1074})
                  .size(),
              1u);
}

}  // namespace
}  // namespace quadrat::separation_test
