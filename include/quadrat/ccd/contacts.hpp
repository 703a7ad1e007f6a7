// Contact of moving meshes: which vertices hit which faces and which edges hit which edges during a step, and when
// first. Every pair of features is tested once (GSH 3.4 tests 15 pairs per pair of triangles, most of them several
// times); features that share a vertex are never tested against each other.
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
/// straight lines. Views of the caller's arrays.
struct MovingMesh {
    std::span<const Triangle> triangles = {};
    std::span<const Vec3d> start = {};
    std::span<const Vec3d> end = {};                              ///< as long as `start`, or empty: at rest
    std::span<const std::array<std::uint32_t, 2>> segments = {};  ///< edges that belong to no triangle (hair, rope)
    std::span<const std::uint32_t> points = {};                   ///< vertices that belong to no triangle or segment
    /// Two meshes meet only if the group bits of each meet the mask bits of the other; a mesh meets itself by the same
    /// rule.
    std::uint32_t group = 1;
    std::uint32_t mask = 0xffffffff;
};

enum class ContactKind : std::uint8_t {
    vertex_face,
    edge_edge,
    vertex_edge,    ///< a single point and a single segment
    vertex_vertex,  ///< two single points
};

/// Pairs among which contact is looked for.
enum class ContactScope : std::uint8_t {
    all,      ///< between meshes and within each
    between,  ///< only between different meshes
    within,   ///< only within each mesh
};

struct ContactOptions {
    double min_distance = 0;  ///< contact is being this close or closer; see ImpactOptions
    double tolerance = 1e-6;  ///< of the times, as a share of the step
    ContactScope scope = ContactScope::all;
    Executor* executor = nullptr;  ///< null: everything on the caller's thread
    /// A step so long that everything crosses everything has as many candidates as pairs of features: more than this is
    /// an error (too_large) and not an hour of work.
    std::uint64_t max_candidates = 300'000'000;
};

struct Contact {
    /// In [0, 1]: never late; early by at most the tolerance (with min_distance: docs/reference/ccd.md).
    double time = 0;
    ContactKind kind = ContactKind::vertex_face;
    std::array<std::uint32_t, 2> meshes = {};
    /// Vertex and face, or two edges, as positions in their meshes (edges: Candidates::edges), the first one in
    /// meshes[0].
    std::array<std::uint32_t, 2> features = {};
    /// The four vertices, the first feature's in meshes[0]; vertex-edge repeats the last one, vertex-vertex twice.
    std::array<std::uint32_t, 4> vertices = {};
    std::array<double, 4> barycentric = {};  ///< weights of the vertices, as in Impact
    Vec3d normal = {};                       ///< from the second feature to the first
    std::array<Vec3d, 2> points = {};        ///< on the first and second feature at that time
    double distance = 0;                     ///< between them
};

/// The contacts of a step, sorted by time, kind, meshes and features.
struct ContactList {
    std::vector<Contact> contacts;
    double earliest = std::numeric_limits<double>::infinity();  ///< the first time of all; infinity without contact
    std::vector<std::vector<double>> vertex_times;  ///< per mesh and vertex: the first contact it takes part in
    std::uint64_t candidates = 0;                   ///< pairs whose boxes overlap
    ImpactStatistics statistics;

    [[nodiscard]] auto begin() const { return contacts.begin(); }
    [[nodiscard]] auto end() const { return contacts.end(); }
    [[nodiscard]] std::size_t size() const { return contacts.size(); }
    [[nodiscard]] bool empty() const { return contacts.empty(); }
};

/// All contacts of a mesh with itself during the step. Exact for min_distance = 0 (find_impact). Throws Error for
/// indices out of range, coordinates that are not finite and spans that differ in length, naming the mesh and index.
[[nodiscard]] ContactList find_contacts(const MovingMesh& mesh, const ContactOptions& options = {});
/// Between two meshes, not within them.
[[nodiscard]] ContactList find_contacts(const MovingMesh& a, const MovingMesh& b, const ContactOptions& options = {});
/// Among many meshes, as options.scope says.
[[nodiscard]] ContactList find_contacts(std::span<const MovingMesh> meshes, const ContactOptions& options = {});

/// Pairs of features whose boxes over the step, each grown by half of min_distance, overlap; incident pairs are left
/// out. Features are numbered through all meshes: vertices and faces as the meshes have them, edges as listed.
struct Candidates {
    std::vector<std::array<std::uint32_t, 2>>
        edges;  ///< unique, smaller vertex first, sorted by (larger, smaller) per mesh
    std::vector<Pair> vertex_face;
    std::vector<Pair> edge_edge;  ///< first < second
    std::vector<Pair> vertex_edge;
    std::vector<Pair> vertex_vertex;

    [[nodiscard]] std::size_t size() const {
        return vertex_face.size() + edge_edge.size() + vertex_edge.size() + vertex_vertex.size();
    }
};
[[nodiscard]] Candidates find_candidates(std::span<const MovingMesh> meshes, const ContactOptions& options = {});

}  // namespace quadrat
