// The mesh pipeline on two frames: broad phase from the boxes of vertices, faces and edges to a stream of candidates,
// against Embree's rtcCollide from the same boxes to the same candidates in its callback, interleaved; then the narrow
// phase over all candidates. Prints one JSON object.
//   bench_ccd_meshes START END [THREADS] [REPEATS]
#include <quadrat/ccd.hpp>
#include <quadrat/executor.hpp>

#include "base/parallel.hpp"
#include "ccd/pipeline/candidates.hpp"
#include "io/by_ending.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#if QUADRAT_BENCH_EMBREE
#include <embree3/rtcore.h>
#endif

namespace {

using namespace quadrat;

double milliseconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.empty() ? 0 : v[v.size() / 2];
}

#if QUADRAT_BENCH_EMBREE
struct Rival {
    RTCDevice device;

    explicit Rival(int threads) : device(rtcNewDevice(("threads=" + std::to_string(threads)).c_str())) {}

    RTCScene scene(std::span<const Box3f> boxes) const {
        RTCScene scene = rtcNewScene(device);
        rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_LOW);
        RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
        rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(boxes.size()));
        rtcSetGeometryUserData(geometry, const_cast<Box3f*>(boxes.data()));
        rtcSetGeometryBoundsFunction(
            geometry,
            [](const RTCBoundsFunctionArguments* a) {
                const Box3f& b = static_cast<const Box3f*>(a->geometryUserPtr)[a->primID];
                *a->bounds_o = {b.lo[0], b.lo[1], b.lo[2], 0, b.hi[0], b.hi[1], b.hi[2], 0};
            },
            nullptr);
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(scene, geometry);
        rtcReleaseGeometry(geometry);
        rtcCommitScene(scene);
        return scene;
    }

    // The pairs whose boxes overlap and that are not incident, counted; rtcCollide reports leaf pairs, so both are
    // tested in the callback.
    std::uint64_t pairs(const ccd::Features& f, std::span<const Box3f> a, std::span<const Box3f> b, bool self) const {
        struct Context {
            const ccd::Features& f;
            const Box3f* a;
            const Box3f* b;
            bool self;
            std::atomic<std::uint64_t> count;
        } context{f, a.data(), b.data(), self, {}};
        RTCScene sa = scene(a);
        RTCScene sb = self ? sa : scene(b);
        rtcCollide(
            sa, sb,
            [](void* user, RTCCollision* hits, unsigned n) {
                Context& c = *static_cast<Context*>(user);
                std::uint64_t sum = 0;
                for (unsigned i = 0; i < n; ++i) {
                    const unsigned p = hits[i].primID0, q = hits[i].primID1;
                    if ((c.self && p >= q) || !overlap(c.a[p], c.b[q])) continue;
                    sum += c.self ? !ccd::incident_edges(c.f, p, q) : !ccd::incident_face(c.f, p, q);
                }
                c.count += sum;
            },
            &context);
        rtcReleaseScene(sa);
        if (!self) rtcReleaseScene(sb);
        return context.count;
    }
};
#endif

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s START END [THREADS] [REPEATS]\n", argv[0]);
        return 2;
    }
    const io::Mesh start = io::read_mesh(argv[1]);
    const io::Mesh end = io::read_mesh(argv[2]);
    const auto threads = static_cast<unsigned>(argc > 3 ? std::atoi(argv[3]) : 1);
    const int repeats = argc > 4 ? std::atoi(argv[4]) : 5;
    const auto executor = make_executor(threads);
    const MovingMesh mesh{.triangles = start.triangles, .start = start.vertices, .end = end.vertices};

    const ContactOptions options{.executor = executor.get()};
    const ccd::Features features = ccd::make_features({&mesh, 1});
    const ccd::CandidateStream bounds(features, {&mesh, 1}, options);
    const auto vertices = bounds.boxes().vertices.view(), faces = bounds.boxes().faces.view(),
               edges = bounds.boxes().edges.view();

    std::vector<double> ours, theirs, pipeline, all;
    std::uint64_t rival_pairs = 0;
#if QUADRAT_BENCH_EMBREE
    const Rival rival(static_cast<int>(threads));
#endif
    std::size_t candidates = 0, streamed = 0;
    ContactList contacts;
    for (int r = 0; r <= repeats; ++r) {
        ccd::CandidateStream stream(features, {&mesh, 1}, options);
        auto now = std::chrono::steady_clock::now();
        stream.prepare();
        std::vector<std::size_t> counts(stream.parts());
        base::run_tasks(executor.get(), stream.parts(), [&](std::size_t part) {
            stream.run(part, [&](std::span<const Pair> pairs) { counts[part] += pairs.size(); });
        });
        streamed = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
        const double mine = milliseconds(now);
#if QUADRAT_BENCH_EMBREE
        now = std::chrono::steady_clock::now();
        rival_pairs = rival.pairs(features, vertices, faces, false) + rival.pairs(features, edges, edges, true);
        const double other = milliseconds(now);
        if (r > 0) theirs.push_back(other);
#endif
        now = std::chrono::steady_clock::now();
        candidates = find_candidates({&mesh, 1}, options).size();
        const double broad = milliseconds(now);
        now = std::chrono::steady_clock::now();
        contacts = find_contacts(mesh, options);
        const double whole = milliseconds(now);
        if (r > 0) {
            ours.push_back(mine);
            pipeline.push_back(broad);
            all.push_back(whole);
        }
    }
    const double narrow = median(all) - median(ours);
    const ImpactStats& s = contacts.stats;
    std::printf(
        "{\"threads\": %u, \"streamed_candidates\": %zu, \"embree_candidates\": %llu, \"candidates\": %zu, "
        "\"contacts\": %zu, "
        "\"broad_ms\": %.2f, \"embree_ms\": %.2f, \"ratio\": %.3f, \"find_candidates_ms\": %.2f, \"find_contacts_ms\": "
        "%.2f, "
        "\"narrow_millions_per_second\": %.2f, \"by_separation\": %llu, \"by_cubic\": %llu, \"by_interval\": %llu, "
        "\"by_exact\": %llu}\n",
        threads, streamed, static_cast<unsigned long long>(rival_pairs), candidates, contacts.size(), median(ours),
        median(theirs), median(theirs) > 0 ? median(ours) / median(theirs) : 0, median(pipeline), median(all),
        static_cast<double>(candidates) / narrow / 1000, static_cast<unsigned long long>(s.by_separation),
        static_cast<unsigned long long>(s.by_cubic), static_cast<unsigned long long>(s.by_interval),
        static_cast<unsigned long long>(s.by_exact));
}
