// CGAL's box intersection on the feature boxes of two frames, and FCL's continuous collision of two rigid meshes,
// beside quadrat's answers to the same questions, interleaved. Prints one JSON object.
//   quadrat_peers_ccd START END BODY [REPEATS]
#include <quadrat/ccd.hpp>

#include "ccd/box_pairs.hpp"
#include "ccd/features.hpp"
#include "io/mesh.hpp"

#include <CGAL/box_intersection_d.h>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/continuous_collision.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace quadrat;
using CgalBox = CGAL::Box_intersection_d::Box_d<float, 3, CGAL::Box_intersection_d::ID_EXPLICIT>;

double milliseconds(std::chrono::steady_clock::time_point since) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.empty() ? 0 : v[v.size() / 2];
}

std::vector<CgalBox> cgal(std::span<const Box3f> boxes) {
    std::vector<CgalBox> out;
    for (Box3f b : boxes) out.emplace_back(b.lo.v, b.hi.v);  // CGAL takes pointers to non-const
    return out;
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
    ccd::FeatureBoxes vertices, faces, edges;
    ccd::vertex_boxes(features, features.used, 0, nullptr, vertices);
    ccd::face_boxes(features, 0, nullptr, faces);
    ccd::edge_boxes(features, {}, 0, nullptr, edges);

    // Two copies of the body, one moving through the other by a translation.
    double extent = 0;
    for (const Vec3d& v : body.vertices) extent = std::max(extent, std::abs(v[0]));
    const double from = 3 * extent;
    std::vector<Vec3d> away = body.vertices;
    for (Vec3d& v : away) v[0] += from;
    using Model = fcl::BVHModel<fcl::OBBRSSd>;
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

    std::vector<double> ours, theirs, rigid_ours, rigid_theirs;
    std::size_t our_pairs = 0, their_pairs = 0;
    double our_time = 0, their_time = 0;
    for (int r = 0; r < repeats; ++r) {
        std::vector<Pair> vf, ee;
        auto now = std::chrono::steady_clock::now();
        ccd::find_box_pairs(vertices.view(), faces.view(), nullptr, vf);
        ccd::find_box_pairs(edges.view(), nullptr, ee);
        ours.push_back(milliseconds(now));
        our_pairs = vf.size() + ee.size();

        now = std::chrono::steady_clock::now();
        their_pairs = 0;
        const auto count = [&](const CgalBox&, const CgalBox&) { ++their_pairs; };
        auto a = cgal(vertices.view()), b = cgal(faces.view()), c = cgal(edges.view());
        CGAL::box_intersection_d(a.begin(), a.end(), b.begin(), b.end(), count);
        CGAL::box_self_intersection_d(c.begin(), c.end(), count);
        theirs.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        const MovingMesh still{.triangles = body.triangles, .start = body.vertices};
        const MovingMesh moving{.triangles = body.triangles, .start = away, .end = body.vertices};
        our_time = find_contacts(still, moving).earliest;
        rigid_ours.push_back(milliseconds(now));

        now = std::chrono::steady_clock::now();
        fcl::ContinuousCollisionRequestd request;
        request.ccd_motion_type = fcl::CCDM_TRANS;
        request.ccd_solver_type = fcl::CCDC_CONSERVATIVE_ADVANCEMENT;
        request.gjk_solver_type = fcl::GST_LIBCCD;
        fcl::ContinuousCollisionResultd result;
        fcl::continuousCollide(model.get(), here, here, model.get(), there, here, request, result);
        their_time = result.is_collide ? result.time_of_contact : 2;
        rigid_theirs.push_back(milliseconds(now));
    }
    std::printf(
        "{\"box_pairs\": %zu, \"cgal_box_pairs\": %zu, \"quadrat_ms\": %.1f, \"cgal_ms\": %.1f, \"rigid_time\": %.9f, "
        "\"fcl_time\": %.9f, \"rigid_ms\": %.1f, \"fcl_ms\": %.1f}\n",
        our_pairs, their_pairs, median(ours), median(theirs), our_time, their_time, median(rigid_ours),
        median(rigid_theirs));
}
