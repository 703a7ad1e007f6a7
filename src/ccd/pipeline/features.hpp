// The features of all meshes in one numbering, and their boxes over the step.
#pragma once

#include <quadrat/ccd/contacts.hpp>

#include "base/array.hpp"

namespace quadrat::ccd {

/// A vertex at both ends of the step, in one cache line.
struct alignas(64) Trace {
    double start[3];
    double end[3];
    double unused[2];
};

struct Features {
    base::Array<Trace> vertices;              ///< of all meshes
    std::vector<std::uint32_t> mesh;          ///< of each vertex
    std::vector<std::uint32_t> first_vertex;  ///< of each mesh
    std::vector<std::uint32_t> first_face;    ///< of each mesh
    std::vector<std::uint32_t> first_edge;    ///< of each mesh
    std::vector<std::uint32_t> used;          ///< vertices of triangles, segments and points, ascending
    std::vector<Triangle> faces;
    std::vector<std::array<std::uint32_t, 2>> edges;  ///< of triangles and segments
    std::vector<std::uint32_t> free_points;           ///< vertices that are only points
    std::vector<std::uint32_t> free_edges;            ///< edges that are only segments
    bool moves = false;
};

/// Whether a vertex (as a position in `used`) belongs to a face, and whether two edges share a vertex.
[[nodiscard]] inline bool incident_face(const Features& f, std::uint32_t used, std::uint32_t face) {
    const std::uint32_t v = f.used[used];
    const Triangle& t = f.faces[face];
    return (v == t.a) + (v == t.b) + (v == t.c) != 0;  // no branches
}
[[nodiscard]] inline bool incident_edges(const Features& f, std::uint32_t a, std::uint32_t b) {
    const auto& e = f.edges[a];
    const auto& g = f.edges[b];
    return (e[0] == g[0]) + (e[0] == g[1]) + (e[1] == g[0]) + (e[1] == g[1]) != 0;
}

/// Checks the meshes and numbers their features.
[[nodiscard]] Features make_features(std::span<const MovingMesh> meshes);

/// Boxes of features over the step, grown by `grow` on all sides, rounded outwards to float. `exact` if nothing was
/// rounded.
struct FeatureBoxes {
    base::Array<Box3f> boxes;
    bool exact = true;

    [[nodiscard]] std::span<const Box3f> view() const { return {boxes.data(), boxes.size()}; }
};
/// Of every vertex, whether a feature names it or not.
[[nodiscard]] FeatureBoxes vertex_boxes(const Features& f, double grow, Executor* executor);
/// Of these vertices, all faces, all edges and these edges, from the boxes of all vertices: rounding outwards and the
/// smallest of a few may change places.
[[nodiscard]] FeatureBoxes boxes_of(const FeatureBoxes& vertices, std::span<const std::uint32_t> chosen,
                                    Executor* executor);
[[nodiscard]] FeatureBoxes face_boxes(const Features& f, const FeatureBoxes& vertices, Executor* executor);
[[nodiscard]] FeatureBoxes edge_boxes(const Features& f, const FeatureBoxes& vertices, Executor* executor);
[[nodiscard]] FeatureBoxes edge_boxes(const Features& f, std::span<const std::uint32_t> edges,
                                      const FeatureBoxes& vertices, Executor* executor);

/// The box of up to four vertices over the step, in double.
[[nodiscard]] Box3d trace_box(const Features& f, const std::uint32_t* vertices, int count, double grow);

}  // namespace quadrat::ccd
