// The mesh pipeline: candidates against brute force over boxes, contacts against all pairs of features, codimensional
// features, masks, threads, SIMD targets, and a public frame with exact answers.
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include "base/simd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

namespace quadrat {
namespace {

struct World {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> start, end;

    MovingMesh mesh() const { return {.triangles = triangles, .start = start, .end = end}; }
};

// A crumpled grid of triangles in a small box, so that it meets itself.
World sheet(std::uint64_t seed, std::uint32_t n, bool floats) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    World w;
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j) {
            Vec3d p = {{i / double(n), j / double(n), 0.2 * real(random)}};
            Vec3d q = {{p[0] + 0.2 * real(random), p[1] + 0.1 * real(random), 0.2 * real(random)}};
            for (int k = 0; k < 3 && floats; ++k) {
                p[k] = static_cast<float>(p[k]);
                q[k] = static_cast<float>(q[k]);
            }
            w.start.push_back(p);
            w.end.push_back(q);
            if (i && j) {
                const std::uint32_t a = (i - 1) * n + j - 1, b = a + 1, c = i * n + j - 1, d = c + 1;
                w.triangles.push_back({a, b, c});
                w.triangles.push_back({b, d, c});
            }
        }
    return w;
}

Box3d box_of(const MovingMesh& m, std::initializer_list<std::uint32_t> vertices) {
    Box3d b = {{{1e300, 1e300, 1e300}}, {{-1e300, -1e300, -1e300}}};
    for (const std::uint32_t v : vertices)
        for (const Vec3d& p : {m.start[v], m.end[v]})
            for (int k = 0; k < 3; ++k) {
                b.lo[k] = std::min(b.lo[k], p[k]);
                b.hi[k] = std::max(b.hi[k], p[k]);
            }
    return b;
}

TEST(Contacts, CandidatesEqualBruteForce) {
    for (const bool floats : {true, false}) {
        const World w = sheet(3, 9, floats);
        const MovingMesh m = w.mesh();
        Candidates c = find_candidates({&m, 1});
        std::set<std::array<std::uint32_t, 2>> edges;
        for (const Triangle& t : w.triangles)
            for (const auto& [a, b] : {std::pair{t.a, t.b}, {t.b, t.c}, {t.c, t.a}})
                edges.insert({std::min(a, b), std::max(a, b)});
        ASSERT_EQ(c.edges.size(), edges.size());
        std::vector<Pair> vf, ee;
        for (std::uint32_t v = 0; v < w.start.size(); ++v)
            for (std::uint32_t f = 0; f < w.triangles.size(); ++f) {
                const Triangle& t = w.triangles[f];
                if (v != t.a && v != t.b && v != t.c && overlap(box_of(m, {v}), box_of(m, {t.a, t.b, t.c})))
                    vf.push_back({v, f});
            }
        for (std::uint32_t i = 0; i < c.edges.size(); ++i)
            for (std::uint32_t j = i + 1; j < c.edges.size(); ++j) {
                const auto &a = c.edges[i], &b = c.edges[j];
                if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) continue;
                if (overlap(box_of(m, {a[0], a[1]}), box_of(m, {b[0], b[1]}))) ee.push_back({i, j});
            }
        std::sort(c.vertex_face.begin(), c.vertex_face.end());
        std::sort(c.edge_edge.begin(), c.edge_edge.end());
        EXPECT_EQ(c.vertex_face, vf);
        EXPECT_EQ(c.edge_edge, ee);
    }
}

TEST(Contacts, EqualAllPairs) {
    const World w = sheet(5, 7, false);
    const MovingMesh m = w.mesh();
    const Candidates c = find_candidates({&m, 1});
    std::size_t expected = 0;
    double earliest = 2;
    for (std::uint32_t v = 0; v < w.start.size(); ++v)
        for (const Triangle& t : w.triangles) {
            if (v == t.a || v == t.b || v == t.c) continue;
            const double time =
                impact_time(ImpactKind::vertex_face, {w.start[v], w.start[t.a], w.start[t.b], w.start[t.c]},
                            {w.end[v], w.end[t.a], w.end[t.b], w.end[t.c]});
            expected += time <= 1;
            earliest = std::min(earliest, time);
        }
    for (std::size_t i = 0; i < c.edges.size(); ++i)
        for (std::size_t j = i + 1; j < c.edges.size(); ++j) {
            const auto &a = c.edges[i], &b = c.edges[j];
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) continue;
            const double time =
                impact_time(ImpactKind::edge_edge, {w.start[a[0]], w.start[a[1]], w.start[b[0]], w.start[b[1]]},
                            {w.end[a[0]], w.end[a[1]], w.end[b[0]], w.end[b[1]]});
            expected += time <= 1;
            earliest = std::min(earliest, time);
        }
    const ContactList list = find_contacts(m);
    EXPECT_GT(expected, 10u);
    EXPECT_EQ(list.size(), expected);
    EXPECT_EQ(list.earliest, earliest);
    EXPECT_EQ(list.candidates, c.size());
    double first = 2;
    for (const double t : list.vertex_times[0]) first = std::min(first, t);
    EXPECT_EQ(first, earliest);
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LE(list.contacts[i - 1].time, list.contacts[i].time);
    for (const Contact& k : list) EXPECT_LT(k.distance, 1e-5);

    // The same list, byte for byte, for any threads and SIMD target.
    const auto same = [&](const ContactList& other) {
        ASSERT_EQ(other.size(), list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            ASSERT_EQ(other.contacts[i].time, list.contacts[i].time);
            ASSERT_EQ(other.contacts[i].features, list.contacts[i].features);
            ASSERT_EQ(other.contacts[i].normal, list.contacts[i].normal);
        }
    };
    ThreadExecutor threads(3);
    same(find_contacts(m, {.executor = &threads}));
    base::for_each_simd_target([&] { same(find_contacts(m)); });
}

TEST(Contacts, MeshesMasksAndScope) {
    World a = sheet(7, 5, true);
    World b = sheet(8, 5, true);
    MovingMesh ma = a.mesh(), mb = b.mesh();
    const std::size_t within = find_contacts(ma).size() + find_contacts(mb).size();
    const ContactList between = find_contacts(ma, mb);
    EXPECT_GT(between.size(), 0u);
    for (const Contact& c : between) EXPECT_NE(c.meshes[0], c.meshes[1]);
    const MovingMesh both[] = {ma, mb};
    EXPECT_EQ(find_contacts(both).size(), within + between.size());
    EXPECT_EQ(find_contacts(both, {.scope = ContactScope::within}).size(), within);
    mb.group = 2;
    ma.mask = 1;
    EXPECT_EQ(find_contacts(ma, mb).size(), 0u);
}

TEST(Contacts, PointsAndSegments) {
    const std::vector<Vec3d> start = {{{0, 0, 1}},  {{0.2, 0.1, 1}}, {{0, 1, 1}},
                                      {{-1, 0, 0}}, {{1, 0, 0}},     {{0, 5, 0}}};
    std::vector<Vec3d> end = start;
    for (std::size_t i = 0; i < 3; ++i) end[i][2] = -1;
    const std::vector<std::array<std::uint32_t, 2>> segments = {{1, 2}, {3, 4}};
    const std::vector<std::uint32_t> points = {0, 5};
    const ContactList list =
        find_contacts(MovingMesh{.start = start, .end = end, .segments = segments, .points = points});
    ASSERT_EQ(list.size(), 1u);  // the point falls on the segment; the other segment passes beside it
    EXPECT_EQ(list.contacts[0].kind, ContactKind::vertex_edge);
    EXPECT_NEAR(list.contacts[0].time, 0.5, 1e-6);
    const ContactList near = find_contacts(
        MovingMesh{.start = start, .end = end, .segments = segments, .points = points}, {.min_distance = 0.15});
    EXPECT_EQ(near.size(), 2u);
}

// Every call ends when it is asked to, before it begins and while it reports; progress never falls and ends at 1.
TEST(Contacts, AreStoppedAndReported) {
    const World w = sheet(11, 60, true);
    const MovingMesh mesh = w.mesh();
    const std::span<const MovingMesh> one(&mesh, 1);
    const Candidates kept = find_candidates(one);
    for (const unsigned threads : {1u, 3u}) {
        ThreadExecutor executor(threads);
        ContactOptions options{.executor = &executor};
        const auto calls = std::to_array<std::function<void()>>({
            [&] { (void)find_contacts(one, options); },
            [&] { (void)find_contacts(one, kept, options); },
            [&] { (void)find_candidates(one, options); },
            [&] { (void)earliest_time(one, 1, options); },
            [&] { (void)earliest_time(one, kept, 1, options); },
        });
        for (std::size_t c = 0; c < calls.size(); ++c) {
            SCOPED_TRACE(c);
            double last = 0;
            int reports = 0;
            StopSource stop;
            options.watch = {.stop = {}, .report = [&](double part) {
                                 EXPECT_GE(part, last);
                                 last = part;
                                 if (++reports == 2) stop.request_stop();
                             }};
            EXPECT_NO_THROW(calls[c]());
            const bool reported = c < 3;
            EXPECT_EQ(last, reported ? 1 : 0);
            const auto expect_stopped = [&] {
                try {
                    calls[c]();
                    FAIL();
                } catch (const Error& e) {
                    EXPECT_EQ(e.kind(), ErrorKind::stopped);
                }
            };
            if (reported && reports > 2) {
                last = 0, reports = 0, stop = StopSource();
                options.watch.stop = stop;
                expect_stopped();
            }
            StopSource before;
            before.request_stop();
            options.watch = {.stop = before, .report = {}};
            expect_stopped();
        }
    }
}

TEST(Contacts, BadInput) {
    World w = sheet(1, 3, true);
    w.triangles[2].b = 99;
    EXPECT_THROW((void)find_contacts(w.mesh()), Error);
    w = sheet(1, 3, true);
    w.end.pop_back();
    EXPECT_THROW((void)find_contacts(w.mesh()), Error);
    w = sheet(1, 3, true);
    w.start[4][1] = std::numeric_limits<double>::infinity();
    try {
        (void)find_contacts(w.mesh());
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where().index, 4u);
    }
    EXPECT_TRUE(find_contacts(MovingMesh{}).empty());
    // Motion of 1e12 and coordinates of 1e300: answers, not hangs.
    w = sheet(1, 4, true);
    for (Vec3d& p : w.end) p[2] *= 1e12;
    EXPECT_NO_THROW((void)find_contacts(w.mesh()));
    for (Vec3d& p : w.start) p[0] *= 1e300;
    for (Vec3d& p : w.end) p[0] *= 1e300;
    EXPECT_NO_THROW((void)find_contacts(w.mesh()));
}

}  // namespace
}  // namespace quadrat
