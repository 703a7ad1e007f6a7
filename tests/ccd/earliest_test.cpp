// The first contact alone, and contacts among kept candidates: the same as by the whole search, to the bit.
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include "base/simd.hpp"
#include "ccd/pipeline/paths.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace quadrat::earliest_test {
namespace {

struct World {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> start, end;
    std::vector<std::array<std::uint32_t, 2>> segments;
    std::vector<std::uint32_t> points;

    MovingMesh mesh() const {
        return {.triangles = triangles, .start = start, .end = end, .segments = segments, .points = points};
    }
};

// A grid of triangles with single segments and points above it, all on their way.
World world(std::uint64_t seed, std::uint32_t n, double motion) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    World w;
    const auto add = [&](const Vec3d& p) {
        w.start.push_back(p);
        w.end.push_back({{p[0] + motion * real(random), p[1] + motion * real(random), p[2] + motion * real(random)}});
        return static_cast<std::uint32_t>(w.start.size() - 1);
    };
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j) {
            add({{i / double(n), j / double(n), 0.1 * std::sin(5.0 * i) * std::cos(3.0 * j)}});
            if (i && j) {
                const std::uint32_t a = (i - 1) * n + j - 1, b = a + 1, c = i * n + j - 1, d = c + 1;
                w.triangles.push_back({a, b, c});
                w.triangles.push_back({b, d, c});
            }
        }
    for (std::uint32_t i = 0; i < n; ++i) {
        const Vec3d p = {{0.5 + 0.5 * real(random), 0.5 + 0.5 * real(random), 0.2 + 0.1 * real(random)}};
        const std::uint32_t a = add(p), b = add({{p[0] + 0.1, p[1], p[2]}});
        w.segments.push_back({a, b});
        w.points.push_back(add({{p[0], p[1] + 0.05, p[2] + 0.02}}));
    }
    return w;
}

TEST(Earliest, EqualsTheFirstOfAllContacts) {
    ThreadExecutor threads(3);
    int found = 0, none = 0, late = 0;
    for (std::uint64_t seed = 0; seed < test::scaled(40u, 40u, 4u); ++seed) {
        const double motion = seed % 4 == 0 ? 1e-4 : seed % 4 == 1 ? 0.5 : 0.05;
        const World w = world(seed, 8, motion);
        const MovingMesh m = w.mesh();
        for (const double distance : {0.0, 1e-3}) {
            const ContactOptions options{.min_distance = distance};
            const double first = find_contacts(m, options).earliest;
            ASSERT_EQ(earliest_time(m, 1, options), first) << seed;
            ASSERT_EQ(earliest_time(m, 1, {.min_distance = distance, .executor = &threads}), first);
            const Candidates kept = find_candidates({&m, 1}, options);
            ASSERT_EQ(earliest_time({&m, 1}, kept, 1, options), first);
            for (const double t_max : {0.0, 0.01, 0.3, first, std::nextafter(first, 0.0)}) {
                if (!(t_max <= 1)) continue;
                const double expected = first <= t_max ? first : std::numeric_limits<double>::infinity();
                ASSERT_EQ(earliest_time(m, t_max, options), expected) << seed << " " << t_max;
                ASSERT_EQ(earliest_time({&m, 1}, kept, t_max, options), expected) << seed << " " << t_max;
            }
            found += first <= 1;
            none += first > 1;
            late += first <= 1 && first > 1.0 / 64;
        }
        base::for_each_simd_target([&] { ASSERT_EQ(earliest_time(m), find_contacts(m).earliest); });
    }
    EXPECT_GT(found, test::scaled(10, 10, 1));
    EXPECT_GT(late, test::scaled(3, 3, 0));
    EXPECT_GT(none, test::scaled(3, 3, 0));
}

// Whole steps far from the origin, where the windows' ends are rounded.
TEST(Earliest, FarFromTheOrigin) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        World w = world(seed, 6, 0.1);
        for (auto* side : {&w.start, &w.end})
            for (Vec3d& v : *side)
                for (double& x : v.v) x += 1e9;
        const MovingMesh m = w.mesh();
        EXPECT_EQ(earliest_time(m), find_contacts(m).earliest) << seed;
    }
}

TEST(Earliest, KeptCandidatesServeShorterSteps) {
    const World w = world(3, 10, 0.2);
    const MovingMesh m = w.mesh();
    const Candidates kept = find_candidates({&m, 1});
    const auto same = [](const ContactList& a, const ContactList& b) {
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a.contacts[i].time, b.contacts[i].time);
            ASSERT_EQ(a.contacts[i].features, b.contacts[i].features);
            ASSERT_EQ(a.contacts[i].barycentric, b.contacts[i].barycentric);
        }
        ASSERT_EQ(a.vertex_times, b.vertex_times);
    };
    const ContactList whole = find_contacts(m);
    EXPECT_GT(whole.size(), 20u);
    same(find_contacts({&m, 1}, kept), whole);
    ThreadExecutor threads(2);
    same(find_contacts({&m, 1}, kept, {.executor = &threads}), whole);
    for (const double share : {0.5, 0.125}) {
        World s = w;
        for (std::size_t i = 0; i < s.end.size(); ++i)
            for (int k = 0; k < 3; ++k) s.end[i][k] = s.start[i][k] + share * (s.end[i][k] - s.start[i][k]);
        const MovingMesh shorter = s.mesh();
        same(find_contacts({&shorter, 1}, kept), find_contacts(shorter));
    }
    // Other meshes are noticed.
    const World other = world(4, 9, 0.2);
    const MovingMesh o = other.mesh();
    EXPECT_THROW((void)find_contacts({&o, 1}, kept), Error);
    Candidates broken = kept;
    broken.vertex_face.at(0).second = 100000;
    EXPECT_THROW((void)find_contacts({&m, 1}, broken), Error);
    EXPECT_THROW((void)earliest_time({&m, 1}, broken), Error);
    EXPECT_THROW((void)earliest_time(m, 1.5), Error);
    EXPECT_THROW((void)earliest_time(m, -0.1), Error);
}

// What the paths leave out never meets; what they let through is a fraction.
TEST(Earliest, PathsLeaveOutOnlyWhatIsApart) {
    for (const double unit : {1.0, 1e-300, 1e300, 1e30}) {
        World w = world(7, 7, 0.4);
        for (auto* side : {&w.start, &w.end})
            for (Vec3d& v : *side)
                for (double& x : v.v) x *= unit;
        const MovingMesh m = w.mesh();
        const ccd::Features f = ccd::make_features({&m, 1});
        const double distance = 0.02 * unit;
        const ccd::AllPaths paths = ccd::make_paths(f, distance, nullptr);
        std::vector<Pair> pairs, kept;
        for (std::uint32_t v = 0; v < f.vertices.size(); ++v)
            for (std::uint32_t t = 0; t < f.faces.size(); ++t) pairs.emplace_back(v, t);
        const auto select = [&](std::vector<Pair>& out) {
            return ccd::select_near(ccd::Directions::centres, paths.vertices.data(), paths.faces.data(), paths.gap,
                                    pairs, out.data());
        };
        kept.resize(pairs.size());
        kept.resize(select(kept));
        if (unit == 1) {
            EXPECT_LT(kept.size(), pairs.size() * 4 / 5);
        }
        base::for_each_simd_target([&] {
            std::vector<Pair> again(pairs.size());
            again.resize(select(again));
            EXPECT_EQ(again, kept);
        });
        std::size_t next = 0;
        for (const Pair& p : pairs) {
            if (next < kept.size() && kept[next] == p) {
                ++next;
                continue;
            }
            const Triangle& t = f.faces[p.second];
            const FourPoints start = {w.start[p.first], w.start[t.a], w.start[t.b], w.start[t.c]};
            const FourPoints end = {w.end[p.first], w.end[t.a], w.end[t.b], w.end[t.c]};
            ASSERT_GT(impact_time(ImpactKind::vertex_face, start, end, {.min_distance = distance}), 1);
        }
        EXPECT_EQ(next, kept.size());
    }
}

}  // namespace
}  // namespace quadrat::earliest_test
