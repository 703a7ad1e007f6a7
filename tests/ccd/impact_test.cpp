// Certified continuous collision: against the oracle over hostile inputs, against constructed answers (planar and
// degenerate cases included), and on the public query files.
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include "ccd/exact/exact.hpp"
#include "ccd/filter/filter.hpp"
#include "ccd/oracle.hpp"
#include "io/query_file.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

namespace quadrat {
namespace {

constexpr ImpactKind kinds[] = {ImpactKind::vertex_face, ImpactKind::edge_edge};

struct RandomQuery {
    ImpactKind kind;
    FourPoints start, end;
};

// Points of several characters: small integers (full of degeneracy), noise around them, floats, mixed magnitudes.
RandomQuery random_query(std::mt19937_64& random, int character) {
    RandomQuery q;
    q.kind = kinds[random() % 2];
    const auto coordinate = [&]() -> double {
        std::uniform_real_distribution<double> real(-1, 1);
        switch (character) {
            case 0:
                return static_cast<double>(static_cast<int>(random() % 5) - 2);
            case 1:
                return static_cast<double>(static_cast<int>(random() % 3) - 1) +
                       (random() % 3 ? 0.0 : real(random) * 1e-15);
            case 2:
                return real(random);
            case 3:
                return static_cast<float>(real(random));
            case 4:
                return std::ldexp(static_cast<double>(static_cast<int>(random() % 7) - 3),
                                  static_cast<int>(random() % 40) - 20);
            default:
                return real(random) * std::pow(10.0, static_cast<int>(random() % 12) - 6);
        }
    };
    for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) {
            q.start[i][k] = coordinate();
            q.end[i][k] = random() % 4 == 0 ? q.start[i][k] : coordinate();
        }
    return q;
}

void expect_oracle(const RandomQuery& q, const std::string& note) {
    const test::OracleAnswer truth = test::oracle(q.kind, q.start, q.end);
    for (const bool exact : {false, true}) {
        const double t =
            exact ? ccd::exact_impact_time(q.kind, q.start, q.end, 1e-6) : impact_time(q.kind, q.start, q.end);
        ASSERT_EQ(t <= 1, truth.hit) << note << " exact " << exact;
        if (!truth.hit) continue;
        ASSERT_GE(t, 0) << note;
        ASSERT_LE(test::Rational(t), truth.to) << note;
        ASSERT_GE(test::Rational(t), truth.from - test::Rational(1, 1000000)) << note;
    }
}

TEST(Impact, AgreesWithOracle) {
    std::mt19937_64 random(7);
    for (int character = 0; character < 6; ++character)
        for (int i = 0; i < test::scaled(18, 18, 2); ++i)
            expect_oracle(random_query(random, character),
                          "character " + std::to_string(character) + " query " + std::to_string(i));
}

TEST(Impact, HugeAndTinyCoordinates) {
    std::mt19937_64 random(11);
    for (const double scale : {1e300, 1e150, 1e-150, 1e-300, 0x1p-1060})
        for (int i = 0; i < test::scaled(6, 6, 1); ++i) {
            RandomQuery q = random_query(random, i % 2 ? 0 : 4);
            for (FourPoints* p : {&q.start, &q.end})
                for (Vec3d& v : *p)
                    for (double& x : v.v) x = static_cast<double>(x) * scale;
            expect_oracle(q, "scale " + std::to_string(std::log10(scale)) + " query " + std::to_string(i));
        }
}

// Contact at a dyadic time and dyadic place, with exact coordinates; and the same shifted apart along a direction that
// separates.
TEST(Impact, ConstructedContact) {
    std::mt19937_64 random(3);
    const auto small = [&](int range) {
        return static_cast<double>(static_cast<int>(random() % (2u * static_cast<unsigned>(range) + 1)) - range);
    };
    for (int i = 0; i < 3000; ++i) {
        const ImpactKind kind = kinds[i % 2];
        const bool planar = i % 3 == 0;  // all in the plane z = 0
        const double t = static_cast<double>(random() % 17) / 16;
        FourPoints at, velocity;
        for (std::size_t p = 0; p < 4; ++p)
            for (int k = 0; k < 3; ++k) {
                at[p][k] = planar && k == 2 ? 0 : 4 * small(3);
                velocity[p][k] = planar && k == 2 ? 0 : 16 * small(2);
            }
        // Put the first point where the features meet at time t.
        const double s = static_cast<double>(random() % 5) / 4;
        const double r = (1 - s) * static_cast<double>(random() % 5) / 4;
        for (int k = 0; k < 3; ++k) {
            if (kind == ImpactKind::vertex_face) {
                at[0][k] = (1 - s - r) * at[1][k] + s * at[2][k] + r * at[3][k];
            } else {  // the first edge passes through a point of the second: at0 + (at1 - at0) / 2 = at2 + s (at3 -
                      // at2)
                at[1][k] = 2 * (at[2][k] + s * (at[3][k] - at[2][k])) - at[0][k];
            }
        }
        FourPoints start, end;
        for (std::size_t p = 0; p < 4; ++p)
            for (int k = 0; k < 3; ++k) {
                start[p][k] = at[p][k] - t * velocity[p][k];
                end[p][k] = at[p][k] + (1 - t) * velocity[p][k];
            }
        const double found = impact_time(kind, start, end);
        ASSERT_LE(found, t) << i;  // contact exists; an earlier one is possible
        ASSERT_LE(ccd::exact_impact_time(kind, start, end, 1e-6), t) << i;
        if (planar) {  // lift one feature out of the plane: never any contact
            for (FourPoints* p : {&start, &end})
                for (std::size_t j = 0; j < (kind == ImpactKind::vertex_face ? 1u : 2u); ++j) (*p)[j][2] = 0x1p-300;
            ASSERT_GT(impact_time(kind, start, end), 1) << i;
            ASSERT_GT(ccd::exact_impact_time(kind, start, end, 1e-6), 1) << i;
        }
    }
}

// Planar motion against dense sampling: a sampled contact must be found, and not later.
TEST(Impact, PlanarMotion) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 400; ++i) {
        RandomQuery q;
        q.kind = kinds[i % 2];
        for (std::size_t p = 0; p < 4; ++p)
            for (int k = 0; k < 3; ++k) {
                q.start[p][k] = k == 2 ? 0.0 : static_cast<double>(static_cast<int>(random() % 9) - 4);
                q.end[p][k] = k == 2 ? 0.0 : static_cast<double>(static_cast<int>(random() % 9) - 4);
            }
        const double t = impact_time(q.kind, q.start, q.end);
        double sampled = 2;
        double closest = 1e9;
        for (int n = 0; n <= 256 && sampled > 1; ++n) {
            FourPoints p;
            const double time = n / 256.0;
            for (std::size_t j = 0; j < 4; ++j)
                for (int k = 0; k < 3; ++k) p[j][k] = q.start[j][k] + time * (q.end[j][k] - q.start[j][k]);
            const FourPoints still = p;
            if (impact_time(q.kind, p, still) <= 1) sampled = time;
            closest = std::min(closest, closest_points(q.kind, p).distance);
        }
        if (sampled <= 1) {
            ASSERT_LE(t, sampled) << i;
        }
        if (t > 1) {
            ASSERT_GT(closest, 0) << i;
        }
    }
}

TEST(Impact, DegenerateFeatures) {
    const Vec3d o{{0, 0, 0}}, x{{1, 0, 0}}, y{{0, 1, 0}}, z{{0, 0, 1}};
    // A face without area, at rest, and a vertex on it, beside it, and passing through.
    const FourPoints on = {o, x, x, Vec3d{{-1, 0, 0}}};
    EXPECT_EQ(impact_time(ImpactKind::vertex_face, on, on), 0);
    const FourPoints beside = {y, x, x, Vec3d{{-1, 0, 0}}};
    EXPECT_GT(impact_time(ImpactKind::vertex_face, beside, beside), 1);
    const FourPoints below = {Vec3d{{0, -1, 0}}, x, x, Vec3d{{-1, 0, 0}}};
    EXPECT_NEAR(impact_time(ImpactKind::vertex_face, beside, below), 0.5, 1e-6);
    // Parallel edges that slide along their line, cross over, and coincide.
    const FourPoints apart = {o, x, Vec3d{{2, 0, 0}}, Vec3d{{3, 0, 0}}};
    const FourPoints meet = {o, x, Vec3d{{0, 0, 0}}, x};
    EXPECT_NEAR(impact_time(ImpactKind::edge_edge, apart, meet), 0.5, 1e-6);
    EXPECT_EQ(impact_time(ImpactKind::edge_edge, meet, meet), 0);
    EXPECT_GT(impact_time(ImpactKind::edge_edge, apart, apart), 1);
    // Edges without length: two points that meet, and that pass each other.
    EXPECT_EQ(impact_time(ImpactKind::edge_edge, {o, o, x, x}, {x, x, x, x}), 1);
    EXPECT_NEAR(impact_time(ImpactKind::edge_edge, {o, o, x, x}, {x, x, o, o}), 0.5, 1e-6);
    EXPECT_GT(impact_time(ImpactKind::edge_edge, {o, o, x, x}, {z, z, y, y}), 1);
    // No motion, touching at a corner.
    EXPECT_EQ(impact_time(ImpactKind::vertex_face, {x, x, y, z}, {x, x, y, z}), 0);
}

TEST(Impact, WeightsAndNormal) {
    const FourPoints start = {Vec3d{{0.25, 0.25, 1}}, Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0, 1, 0}}};
    FourPoints end = start;
    end[0][2] = -1;
    const auto hit = find_impact(ImpactKind::vertex_face, start, end);
    ASSERT_TRUE(hit);
    EXPECT_NEAR(hit->time, 0.5, 1e-6);
    EXPECT_LE(hit->time, 0.5);
    EXPECT_NEAR(hit->barycentric[1], 0.5, 1e-6);
    EXPECT_NEAR(hit->barycentric[2], 0.25, 1e-6);
    EXPECT_NEAR(hit->normal[2], 1, 1e-12);
    const auto early = find_impact(ImpactKind::vertex_face, start, end, {.min_distance = 0.5});
    ASSERT_TRUE(early);
    EXPECT_LE(early->time, 0.25);
    EXPECT_GE(early->time, 0.25 - 2e-6);
}

TEST(Impact, MinDistanceAgainstSampling) {
    std::mt19937_64 random(17);
    for (int i = 0; i < 150; ++i) {
        const RandomQuery q = random_query(random, 2);
        const double distance = 0.05 + 0.1 * static_cast<double>(random() % 4);
        const double t = impact_time(q.kind, q.start, q.end, {.min_distance = distance});
        double first = 2;
        for (int n = 0; n <= 2000 && first > 1; ++n) {
            FourPoints p;
            for (std::size_t j = 0; j < 4; ++j)
                for (int k = 0; k < 3; ++k) p[j][k] = q.start[j][k] + n / 2000.0 * (q.end[j][k] - q.start[j][k]);
            if (closest_points(q.kind, p).distance < distance) first = n / 2000.0;
        }
        if (first <= 1) {
            ASSERT_LE(t, first) << i;
            ASSERT_GE(t, first - 1 / 2000.0 - 1e-5) << i;
        }
    }
}

TEST(Impact, BatchEqualsSingle) {
    std::mt19937_64 random(23);
    for (const ImpactKind kind : kinds) {
        std::vector<FourPoints> start, end;
        for (int i = 0; i < 500; ++i) {
            const RandomQuery q = random_query(random, i % 6);
            start.push_back(q.start);
            end.push_back(q.end);
        }
        std::vector<double> times(start.size());
        const ImpactStats s = impact_times(kind, start, end, times);
        EXPECT_EQ(s.queries, start.size());
        EXPECT_EQ(s.by_separation + s.by_cubic + s.by_interval + s.by_exact, start.size());
        for (std::size_t i = 0; i < start.size(); ++i) ASSERT_EQ(times[i], impact_time(kind, start[i], end[i])) << i;
    }
}

TEST(Impact, BadInput) {
    FourPoints p = {};
    FourPoints bad = p;
    bad[2][1] = std::numeric_limits<double>::quiet_NaN();
    try {
        (void)impact_time(ImpactKind::edge_edge, p, bad);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().index, 2u);
    }
    EXPECT_THROW((void)impact_time(ImpactKind::edge_edge, p, p, {.tolerance = 0}), Error);
    EXPECT_THROW((void)impact_time(ImpactKind::edge_edge, p, p, {.min_distance = -1}), Error);
    std::vector<double> times(2);
    EXPECT_THROW(impact_times(ImpactKind::edge_edge, std::span(&p, 1), std::span(&p, 1), times), Error);
}

// All queries of the files under a folder against their exact answers; returns how many there are.
std::size_t expect_answers(const std::filesystem::path& root) {
    std::size_t queries = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
        if (file.path().extension() != ".csv") continue;
        const ImpactKind kind = file.path().string().find("edge-edge") != std::string::npos ? ImpactKind::edge_edge
                                                                                            : ImpactKind::vertex_face;
        for (const io::FileQuery& q : io::read_query_file(file.path().string())) {
            const double t = impact_time(kind, q.start, q.end);
            EXPECT_EQ(t <= 1, q.truth) << file.path() << " line " << q.line;
            const double exact = ccd::exact_impact_time(kind, q.start, q.end, 1e-9);
            EXPECT_EQ(exact <= 1, q.truth) << file.path() << " line " << q.line;
            // A distance of next to nothing is contact, or so near that it may count.
            const double near = impact_time(kind, q.start, q.end, {.min_distance = 1e-300});
            if (q.truth) {
                EXPECT_LE(t, exact + 1e-9);
                EXPECT_GE(t, exact - 1e-6);
                EXPECT_LE(near, exact + 1e-9) << file.path() << " line " << q.line;
            }
            ++queries;
        }
    }
    return queries;
}

TEST(Impact, PublicQueries) {
    EXPECT_EQ(expect_answers(std::string(QUADRAT_SOURCE_DIR) + "/tests/data/ccd/queries"), 438u);
    const std::filesystem::path all = std::string(QUADRAT_SHARED_DATA) + "/ccd/queries";
    if (std::filesystem::exists(all)) {
        EXPECT_GT(expect_answers(all), 2000u);
    }
}

}  // namespace
}  // namespace quadrat
