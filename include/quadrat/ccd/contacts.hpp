// Contact of moving meshes: which vertices hit which faces and which edges hit which edges during a step, and when
// first. Every pair of features is tested once (GSH 3.4 tests 15 pairs per pair of triangles, most of them several
// times); features that share a vertex are never tested against each other.
//
// The calls are functions of their arguments: nothing is kept between them, so that a mesh may change its triangles
// from step to step, and any number of threads may call them at a time. The result is the same for every number of
// threads of the executor and every SIMD level.
#pragma once

#include <quadrat/ccd/impact.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace quadrat {

/// A surface (and, if wanted, single segments and points) at the start and at the end of a step; vertices move in
/// straight lines. Views of the caller's arrays, which are read during a call only.
///
/// Triangles without area, edges without length and vertices that no feature names are legal; the last are not tested.
/// All meshes of a call together have at most 2^32 - 2 vertices and a third as many triangles, or Error{too_large} is
/// thrown.
struct MovingMesh {
    /// Faces, as positions in `start`; their edges are found from them. Default: none.
    std::span<const Triangle> triangles = {};
    /// Where the vertices are at the start of the step (time 0), finite, in any unit of length.
    std::span<const Vec3d> start = {};
    /// Where they are at its end (time 1), finite, as long as `start`. Default: empty, the mesh is at rest.
    std::span<const Vec3d> end = {};
    /// Edges that belong to no triangle (hair, rope), as positions in `start`. One that is also the edge of a triangle
    /// counts as that. Default: none.
    std::span<const std::array<std::uint32_t, 2>> segments = {};
    /// Vertices that belong to no triangle or segment, as positions in `start`. Those that do belong to one are tested
    /// anyway, and are ignored here. Default: none.
    std::span<const std::uint32_t> points = {};
    /// Two meshes meet only if the group bits of each meet the mask bits of the other; a mesh meets itself by the same
    /// rule.
    ///
    ///     cloth: group 0b01, mask 0b11    meets itself and the body
    ///     body:  group 0b10, mask 0b01    meets the cloth alone
    ///
    /// Default: bit 0.
    std::uint32_t group = 1;
    /// Whom it meets, see `group`. Default: all groups.
    std::uint32_t mask = 0xffffffff;
};

/// Which two features touch. Single points and segments also meet faces and the edges of triangles; those contacts are
/// of the first two kinds.
enum class ContactKind : std::uint8_t {
    vertex_face,    ///< any vertex and a triangle
    edge_edge,      ///< two edges, of triangles or single segments
    vertex_edge,    ///< a single point and a single segment
    vertex_vertex,  ///< two single points
};

/// Pairs among which contact is looked for; groups and masks apply besides.
enum class ContactScope : std::uint8_t {
    all,      ///< between meshes and within each
    between,  ///< only between different meshes
    within,   ///< only within each mesh
};

/// How contact is looked for. A value out of its range is Error{bad_value} that names the member.
struct ContactOptions {
    /// Contact is being this close or closer, in the unit of the coordinates; finite and not negative. See
    /// ImpactOptions. Default: 0, touching, which is decided exactly.
    double min_distance = 0;
    /// How much too early a time may be, as a share of the step, in [1e-9, 1]. Default: 1e-6.
    double tolerance = 1e-6;
    /// Which pairs of meshes count; the call for two meshes always takes `between`. Default: all.
    ContactScope scope = ContactScope::all;
    /// Where to run. Default: null, everything on the caller's thread.
    Executor* executor = nullptr;
    /// A step so long that everything crosses everything has as many candidates as pairs of features: more than this is
    /// an error (too_large) and not an hour of work. Default: 300 million.
    std::uint64_t max_candidates = 300'000'000;
    /// Stops a long call, which then throws Error{stopped}, and hears how far it is (executor.hpp); earliest_time(),
    /// which does not know how far it has to look, is stopped only. Default: nobody watches.
    Watch watch = {};
};

/// The first contact of one pair of features. Whether and when is certified; weights, normal, points and distance are
/// computed from that time in floating point, to respond to it.
struct Contact {
    /// In [0, 1]: never late; early by at most the tolerance (with min_distance: docs/reference/ccd.md).
    double time = 0;
    /// What the first and the second feature are.
    ContactKind kind = ContactKind::vertex_face;
    /// The positions of the two features' meshes in the call; that of a vertex before that of a face or edge, and for
    /// two features of one kind the smaller one first.
    std::array<std::uint32_t, 2> meshes = {};
    /// Vertex and face, or two edges, as positions in their meshes (edges: Candidates::edges), the first one in
    /// meshes[0].
    std::array<std::uint32_t, 2> features = {};
    /// The four vertices, the first feature's in meshes[0]; vertex-edge repeats the last one, vertex-vertex twice.
    std::array<std::uint32_t, 4> vertices = {};
    /// Weights of the vertices, as in Impact.
    std::array<double, 4> barycentric = {};
    /// Unit vector from the second feature to the first, as in Impact; zero where no direction exists.
    Vec3d normal = {};
    /// The closest points on the first and second feature at that time.
    std::array<Vec3d, 2> points = {};
    /// Between them, in the unit of the coordinates; with min_distance 0 what rounding and the tolerance of the time
    /// leave of nothing.
    double distance = 0;
};

/// The contacts of a step, sorted by time, kind, meshes and features, so that a loop over the list takes them as they
/// happen.
struct ContactList {
    /// Each pair of features at most once, with its first contact.
    std::vector<Contact> contacts;
    /// The first time of all; infinity without contact. A step cut short before it is free of contact.
    double earliest = std::numeric_limits<double>::infinity();
    /// Per mesh and vertex: the first contact whose features it is a corner of, or infinity.
    std::vector<std::vector<double>> vertex_times;
    /// Pairs whose boxes overlap, the number of queries that were decided.
    std::uint64_t candidates = 0;
    /// How they were decided; with a min_distance only `queries` and `by_separation` are counted.
    ImpactStats stats;

    /// The list is a range of its contacts.
    [[nodiscard]] auto begin() const { return contacts.begin(); }
    [[nodiscard]] auto end() const { return contacts.end(); }
    [[nodiscard]] std::size_t size() const { return contacts.size(); }
    [[nodiscard]] bool empty() const { return contacts.empty(); }
};

/// All contacts of a mesh with itself during the step, and when each begins. Exact for min_distance = 0 (find_impact):
/// no pair of features that touches in real arithmetic on these doubles is missed and none is invented, touching at the
/// start included. Features that share a vertex of their mesh never count; different vertices at the same place do.
/// Without features the list is empty.
///
///     const MovingMesh cloth{.triangles = triangles, .start = before, .end = after};
///     for (const Contact& c : find_contacts(cloth, body, {.min_distance = 1e-4})) respond(c);
///
/// Time: O(features + candidates) for features of like size and motion, some tenths of a microsecond per candidate
/// (docs/results/ccd.md). Memory: O(features + contacts); candidates are decided as they come and not stored.
///
/// Throws Error{bad_value} for an index out of range, a coordinate that is not finite or an option, and
/// Error{bad_shape} for spans that differ in length, naming the mesh, the field and the index; Error{too_large} beyond
/// max_candidates.
[[nodiscard]] ContactList find_contacts(const MovingMesh& mesh, const ContactOptions& options = {});
/// Between two meshes, not within them, whatever options.scope says; a is mesh 0 of the contacts and b is mesh 1.
[[nodiscard]] ContactList find_contacts(const MovingMesh& a, const MovingMesh& b, const ContactOptions& options = {});
/// Among many meshes, as options.scope, groups and masks say. Takes a byte for each pair of meshes.
[[nodiscard]] ContactList find_contacts(std::span<const MovingMesh> meshes, const ContactOptions& options = {});

/// Pairs of features whose boxes over the step, each grown by half of min_distance, overlap; incident pairs are left
/// out. Features are numbered through all meshes: vertices and faces as the meshes have them, edges as listed. In no
/// particular order, but the same one for every number of threads.
struct Candidates {
    /// The edges of triangles and segments, mesh after mesh: unique, smaller vertex first, sorted by (larger, smaller)
    /// per mesh. Vertices are numbered through all meshes here, too.
    std::vector<std::array<std::uint32_t, 2>> edges;
    /// A vertex and a face that it is no corner of.
    std::vector<Pair> vertex_face;
    /// Two edges without a common vertex, first < second.
    std::vector<Pair> edge_edge;
    /// A single point and a single segment, which is a position in `edges`.
    std::vector<Pair> vertex_edge;
    /// Two single points, first < second.
    std::vector<Pair> vertex_vertex;

    /// Pairs of all kinds together.
    [[nodiscard]] std::size_t size() const {
        return vertex_face.size() + edge_edge.size() + vertex_edge.size() + vertex_vertex.size();
    }
};
/// The broad phase alone, for who decides the pairs otherwise; find_contacts() does both without storing the pairs.
/// Closed: boxes that touch give a candidate, as decided in double. Throws what find_contacts() throws. Eight bytes per
/// candidate; O(features + candidates) time for features of like size and motion.
[[nodiscard]] Candidates find_candidates(std::span<const MovingMesh> meshes, const ContactOptions& options = {});

/// All contacts among pairs that were found before: candidates of one call serve every motion in which each vertex
/// stays in the box of its motion then, as all the shorter steps of a line search do. For motions that leave these
/// boxes by up to r, find the candidates with a min_distance that is larger by 2 r. The list is that of find_contacts()
/// without candidates if none is missing among them; `scope`, groups and masks were applied when they were found.
///
/// candidates: of meshes with the same triangles, segments and points, or Error{bad_value}, as far as that shows.
[[nodiscard]] ContactList find_contacts(std::span<const MovingMesh> meshes, const Candidates& candidates,
                                        const ContactOptions& options = {});

}  // namespace quadrat
