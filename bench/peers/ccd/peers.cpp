// CGAL's box intersection on the feature boxes of two frames (non-incident pairs), and FCL's continuous collision of
// two rigid meshes, beside quadrat's answers to the same questions, interleaved. Prints one JSON object.
//   quadrat_peers_ccd START END BODY [REPEATS]
#include <quadrat/ccd.hpp>

#include "ccd/pipeline/candidates.hpp"
#include "io/by_ending.hpp"

#include <CGAL/box_intersection_d.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/continuous_collision.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace quadrat;
using CgalBox = CGAL::Box_intersection_d::Box_with_info_d<float, 3, std::uint32_t>;

double milliseconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.empty() ? 0 : v[v.size() / 2];
}

// With their positions.
std::vector<CgalBox> cgal(std::span<const Box3f> boxes) {
    std::vector<CgalBox> out;
    out.reserve(boxes.size());
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
        Box3f b = boxes[i];  // CGAL takes pointers to non-const
        out.emplace_back(b.lo.v, b.hi.v, i);
    }
    return out;
}

using Model = fcl::BVHModel<fcl::OBBRSSd>;

// The time at which a copy that moves from `there` to `here` first meets the one that rests; 2 if FCL sees no contact.
double fcl_time(const Model& model, const fcl::Transform3d& here, const fcl::Transform3d& there,
                fcl::CCDSolverType solver) {
    fcl::ContinuousCollisionRequestd request;
    request.num_max_iterations = 1000;          // the naive solver tests so many poses
    request.ccd_motion_type = fcl::CCDM_TRANS;  // CCDM_LINEAR divides by an angle, here none
    request.ccd_solver_type = solver;
    request.gjk_solver_type = fcl::GST_LIBCCD;
    fcl::ContinuousCollisionResultd result;
    fcl::continuousCollide(&model, here, here, &model, there, here, request, result);
    return result.is_collide ? result.time_of_contact : 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s START END BODY [REPEATS]\n", argv[0]);
        return 2;
    }
    const io::Mesh start = io::read_mesh(argv[1]);
    const io::Mesh end = io::read_mesh(argv[2]);
    const io::Mesh body = io::read_mesh(argv[3]);
    const int repeats = argc > 4 ? std::atoi(argv[4]) : 3;
    const MovingMesh mesh{.triangles = start.triangles, .start = start.vertices, .end = end.vertices};
    const ccd::Features features = ccd::make_features({&mesh, 1});
    const ccd::CandidateStream bounds(features, {&mesh, 1}, {});
    const auto vertices = bounds.boxes().vertices.view(), faces = bounds.boxes().faces.view(),
               edges = bounds.boxes().edges.view();

    // Two copies of the body, one moving through the other by a translation.
    double extent = 0;
    for (const Vec3d& v : body.vertices) extent = std::max(extent, std::abs(v[0]));
    const double from = 3 * extent;
    std::vector<Vec3d> away = body.vertices;
    for (Vec3d& v : away) v[0] += from;
    auto model = std::make_shared<Model>();
    {
        std::vector<fcl::Vector3d> points;
        std::vector<fcl::Triangle> triangles;
        for (const Vec3d& v : body.vertices) points.emplace_back(v[0], v[1], v[2]);
        for (const Triangle& t : body.triangles) triangles.emplace_back(t.a, t.b, t.c);
        model->beginModel();
        model->addSubModel(points, triangles);
        model->endModel();
    }
    fcl::Transform3d here = fcl::Transform3d::Identity(), there = here;
    there.translation() = fcl::Vector3d(from, 0, 0);

    std::vector<double> ours, theirs, rigid_ours, rigid_theirs, rigid_naive;
    std::size_t our_pairs = 0, their_pairs = 0;
    double our_time = 0, their_time = 0, naive_time = 0;
    for (int r = 0; r < repeats; ++r) {
        ccd::CandidateStream stream(features, {&mesh, 1}, {});
        auto now = std::chrono::steady_clock::now();
        stream.prepare();
        our_pairs = 0;
        for (std::size_t part = 0; part < stream.parts(); ++part)
            stream.run(part, [&](std::span<const Pair> pairs) { our_pairs += pairs.size(); });
        ours.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        their_pairs = 0;
        auto a = cgal(vertices), b = cgal(faces), c = cgal(edges);
        CGAL::box_intersection_d(a.begin(), a.end(), b.begin(), b.end(), [&](const CgalBox& v, const CgalBox& w) {
            their_pairs += !ccd::incident_face(features, v.info(), w.info());
        });
        CGAL::box_self_intersection_d(c.begin(), c.end(), [&](const CgalBox& v, const CgalBox& w) {
            their_pairs += !ccd::incident_edges(features, v.info(), w.info());
        });
        theirs.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        const MovingMesh still{.triangles = body.triangles, .start = body.vertices};
        const MovingMesh moving{.triangles = body.triangles, .start = away, .end = body.vertices};
        our_time = find_contacts(still, moving).earliest;
        rigid_ours.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        their_time = fcl_time(*model, here, there, fcl::CCDC_CONSERVATIVE_ADVANCEMENT);
        rigid_theirs.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        naive_time = fcl_time(*model, here, there, fcl::CCDC_NAIVE);
        rigid_naive.push_back(milliseconds(now));
    }
    std::printf(
        "{\"candidates\": %zu, \"cgal_candidates\": %zu, \"quadrat_ms\": %.1f, \"cgal_ms\": %.1f, \"rigid_time\": "
        "%.9f, "
        "\"fcl_time\": %.9f, \"fcl_naive_time\": %.9f, \"rigid_ms\": %.1f, \"fcl_ms\": %.1f, \"fcl_naive_ms\": %.1f}\n",
        our_pairs, their_pairs, median(ours), median(theirs), our_time, their_time, naive_time, median(rigid_ours),
        median(rigid_theirs), median(rigid_naive));
}
