// Shapes made of triangles. Near triangles come from a HierarchicalHash; the sign of a distance comes from the
// angle-weighted normal of the nearest feature (Baerentzen & Aanaes 2005), which is right at any depth if the surface
// is closed, has no triangle without an area, and is the nearest one for certain. So meshes are checked first, and
// vertices in one place are taken for one.
#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/scene/complain.hpp"
#include "simulation/solids/mesh_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace quadrat::simulation {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Welded {
    std::vector<Vector> vertices;  // those that triangles use
    std::vector<Triangle> triangles;
};

Welded weld(const base::Surface& surface) {
    Welded out;
    std::map<std::array<double, 3>, std::uint32_t> places;
    const auto number = [&](std::uint32_t v) {
        const Vec3d& p = surface.vertices[v];
        const auto [it, fresh] =  // + 0.0: the two zeros are one place
            places.try_emplace({p[0] + 0.0, p[1] + 0.0, p[2] + 0.0}, static_cast<std::uint32_t>(out.vertices.size()));
        if (fresh) out.vertices.push_back(vector(p));
        return it->second;
    };
    for (const Triangle& t : surface.triangles) {
        const std::uint32_t a = number(t.a), b = number(t.b), c = number(t.c);
        out.triangles.push_back({a, b, c});
    }
    return out;
}

// Six times the volume inside, measured from the first vertex.
double six_volumes(const Welded& m) {
    double sum = 0;
    const Vector o = m.vertices[0];
    for (const Triangle& t : m.triangles)
        sum += (m.vertices[t.a] - o).dot((m.vertices[t.b] - o).cross(m.vertices[t.c] - o));
    return sum;
}

double arm_of(const base::Surface& surface) {
    if (surface.vertices.empty()) return 0;
    Vector lo = vector(surface.vertices[0]), hi = lo;
    double arm = 0;
    for (const Vec3d& v : surface.vertices) {
        lo = lo.cwiseMin(vector(v));
        hi = hi.cwiseMax(vector(v));
        arm = std::max(arm, vector(v).norm());
    }
    return std::max(arm, (hi - lo).norm());
}

// Throws Error unless the triangles close the mesh. Vertices in one place count as one; all triangles may face in.
void check_closed(const RigidBody& body, const std::string& path) {
    const Welded m = weld({body.triangles, body.vertices});
    const auto refuse = [&](const std::string& where, const std::string& what) { fail(path + where, what); };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> edges;  // directed, and whose it is
    for (std::size_t i = 0; i < m.triangles.size(); ++i) {
        const Triangle& t = m.triangles[i];
        const Vector e = m.vertices[t.b] - m.vertices[t.a], f = m.vertices[t.c] - m.vertices[t.a];
        const double longest = std::max({e.norm(), f.norm(), (e - f).norm()});
        if (!((e / longest).cross(f / longest).norm() > 1e-12))
            refuse("/triangles/" + std::to_string(i),
                   "expected a triangle with an area, found its corners on one line");
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        for (std::size_t k = 0; k < 3; ++k) {
            const auto [it, fresh] = edges.try_emplace({v[k], v[(k + 1) % 3]}, i);
            if (!fresh)
                refuse("/triangles/" + std::to_string(i),
                       "expected edges of two triangles that run opposite ways, found one that "
                       "triangle " +
                           std::to_string(it->second) + " has the same way");
        }
    }
    for (const auto& [edge, triangle] : edges)
        if (!edges.contains({edge.second, edge.first}))
            refuse("/triangles/" + std::to_string(triangle),
                   "expected a closed mesh, found an edge without a second triangle");
    Vector lo = m.vertices[0], hi = lo;
    for (const Vector& v : m.vertices) lo = lo.cwiseMin(v), hi = hi.cwiseMax(v);
    const double size = (hi - lo).norm();
    if (!(std::abs(six_volumes(m)) > 1e-9 * size * size * size))
        refuse("/triangles", "expected a mesh with a volume inside, found none");
}

}  // namespace

MeshShape::MeshShape(base::Surface surface)
    : Shape(BodyShape::mesh, 3, arm_of(surface), 0, {}), given_(std::move(surface)) {
    QUADRAT_ASSERT(!given_.triangles.empty());
    Welded m = weld(given_);
    if (six_volumes(m) < 0)
        for (Triangle& t : m.triangles) std::swap(t.b, t.c);
    triangles_ = std::move(m.triangles);
    vertices_ = std::move(m.vertices);
    Vector lo = Vector::Constant(infinity), hi = -lo;
    for (const Vector& v : vertices_) lo = lo.cwiseMin(v), hi = hi.cwiseMax(v);
    bounds_ = plain_box(lo, hi);
    find_normals();
}

MeshShape::MeshShape(const RigidBody& body, int dimension) : MeshShape({body.triangles, body.vertices}) {
    dimension_ = dimension;
}

void MeshShape::find_normals() {
    vertex_normals_.assign(vertices_.size(), Vector::Zero());
    std::map<std::pair<std::uint32_t, std::uint32_t>, Vector> edges;
    std::vector<Box3d> boxes;
    for (const Triangle& t : triangles_) {
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        const Vector n = (vertices_[t.b] - vertices_[t.a]).cross(vertices_[t.c] - vertices_[t.a]).stableNormalized();
        face_normals_.push_back(n);
        for (std::size_t k = 0; k < 3; ++k) {
            const Vector e = (vertices_[v[(k + 1) % 3]] - vertices_[v[k]]).stableNormalized();
            const Vector f = (vertices_[v[(k + 2) % 3]] - vertices_[v[k]]).stableNormalized();
            vertex_normals_[v[k]] += std::acos(std::clamp(e.dot(f), -1.0, 1.0)) * n;
            const auto key = std::minmax(v[(k + 1) % 3], v[(k + 2) % 3]);
            const auto found = edges.try_emplace({key.first, key.second}, Vector::Zero()).first;
            found->second += n;
        }
        const Vector low = vertices_[t.a].cwiseMin(vertices_[t.b]).cwiseMin(vertices_[t.c]);
        const Vector high = vertices_[t.a].cwiseMax(vertices_[t.b]).cwiseMax(vertices_[t.c]);
        boxes.push_back(plain_box(low, high));
    }
    for (const Triangle& t : triangles_) {
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        std::array<Vector, 3> n;
        for (std::size_t k = 0; k < 3; ++k) {
            const auto key = std::minmax(v[(k + 1) % 3], v[(k + 2) % 3]);
            n[k] = edges[{key.first, key.second}];
        }
        edge_normals_.push_back(n);
    }
    faces_.build(boxes);
}

Shape::Distance MeshShape::distance(const Vector& x, double reach) const {
    QUADRAT_ASSERT(reach >= 0);
    Distance best = {infinity, Vector::UnitX()};
    for (int k = 0; k < 3; ++k)
        if (x[k] < bounds_.lo[k] - reach || x[k] > bounds_.hi[k] + reach) return best;
    std::vector<std::uint32_t> near;
    faces_.find(plain_box(x - Vector::Constant(reach), x + Vector::Constant(reach)), near);
    std::sort(near.begin(), near.end());
    for (const std::uint32_t f : near) {
        const Triangle& t = triangles_[f];
        const Closest c = closest_points(
            ImpactKind::vertex_face, {plain(x), plain(vertices_[t.a]), plain(vertices_[t.b]), plain(vertices_[t.c])});
        // Beyond the reach a triangle that was not found may be nearer.
        if (!(c.distance < std::abs(best.value) && c.distance <= reach)) continue;
        Vector n = face_normals_[f];
        int zeros = 0;
        std::size_t zero = 0, full = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            if (c.barycentric[k + 1] <= 0)
                ++zeros, zero = k;
            else
                full = k;
        }
        if (zeros == 1) n = edge_normals_[f][zero];
        if (zeros == 2) n = vertex_normals_[full == 0 ? t.a : full == 1 ? t.b : t.c];
        const Vector away = x - vector(c.second);
        const bool inside = away.dot(n) < 0;
        Vector normal = n.stableNormalized();
        if (c.distance > 1e-12) normal = away / (inside ? -c.distance : c.distance);
        best = {inside ? -c.distance : c.distance, normal};
    }
    return best;
}

Shape::Distance MeshShape::deep_distance(const Vector& x, double reach) const {
    Distance d = distance(x, reach);
    if (d.value < infinity) return d;
    for (int k = 0; k < 3; ++k)
        if (!(x[k] > bounds_.lo[k] && x[k] < bounds_.hi[k])) return d;
    // Between the bounds the surface is not farther than they are.
    for (reach = std::max(2 * reach, 1e-3 * (vector(bounds_.hi) - vector(bounds_.lo)).norm()); d.value == infinity;
         reach *= 2)
        d = distance(x, reach);
    return d;
}

// Where the segment passes the plane of a triangle, if it does so inside, with a margin, so that nothing slips between
// neighbours.
bool MeshShape::passes(std::uint32_t f, const Vector& a, const Vector& b, double from, double to, double& time) const {
    QUADRAT_ASSERT(f < triangles_.size() && from != to);
    const Triangle& t = triangles_[f];
    time = from / (from - to);
    const Vector p = a + time * (b - a);
    const double slack = 1e-7 * (vertices_[t.b] - vertices_[t.a]).norm() * (vertices_[t.c] - vertices_[t.a]).norm();
    const Vector* v[3] = {&vertices_[t.a], &vertices_[t.b], &vertices_[t.c]};
    bool inside = true;
    for (std::size_t k = 0; k < 3; ++k)
        inside = inside && (*v[(k + 1) % 3] - *v[k]).cross(p - *v[k]).dot(face_normals_[f]) >= -slack;
    return inside;
}

std::optional<Shape::Hit> MeshShape::entry(const Vector& a, const Vector& b) const {
    std::vector<std::uint32_t> near;
    faces_.find(Segment<3, double>{plain(a), plain(b)}, near);
    std::sort(near.begin(), near.end());
    std::optional<Hit> first;
    for (const std::uint32_t f : near) {
        const Vector &n = face_normals_[f], &on = vertices_[triangles_[f].a];
        const double from = n.dot(a - on), to = n.dot(b - on);
        double time = 0;
        if (!(from >= 0 && to < 0) || !passes(f, a, b, from, to, time)) continue;
        if (!first || time < first->time) first = Hit{time, n};
    }
    return first;
}

std::vector<double> MeshShape::crossings(const Vector& a, const Vector& b) const {
    std::vector<std::uint32_t> near;
    faces_.find(Segment<3, double>{plain(a), plain(b)}, near);
    std::vector<double> times;
    for (const std::uint32_t f : near) {
        const Vector &n = face_normals_[f], &on = vertices_[triangles_[f].a];
        const double from = n.dot(a - on), to = n.dot(b - on);
        double time = 0;
        if (from != to && (from <= 0) != (to <= 0) && passes(f, a, b, from, to, time)) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return times;
}

// Signed tetrahedra from the origin.
Shape::Mass MeshShape::mass(double density) const {
    Mass m;
    Matrix3d second = Matrix3d::Zero();
    double volume = 0;
    Vector first = Vector::Zero();
    for (const Triangle& t : triangles_) {
        const Vector &a = vertices_[t.a], &b = vertices_[t.b], &c = vertices_[t.c];
        const double v = a.dot(b.cross(c)) / 6;
        const Vector s = a + b + c;
        volume += v;
        first += v / 4 * s;
        second += v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    }
    m.mass = density * volume;
    if (volume > 0) {
        m.centre = first / volume;
        second -= volume * m.centre * m.centre.transpose();
        m.inertia = density * (second.trace() * Matrix3d::Identity() - second);
    }
    return m;
}

const ShapeRow mesh_row = {[](const RigidBody& body, int dimension) -> std::unique_ptr<Shape> {
                               return std::make_unique<MeshShape>(body, dimension);
                           },
                           [](const RigidBody& body, int) {
                               return arm_of({body.triangles, body.vertices});
                           },
                           [](const RigidBody& body, int) {
                               double sum = 0;
                               for (const Triangle& t : body.triangles) {
                                   const Vector a = vector(body.vertices[t.a]);
                                   sum += 0.5 *
                                          (vector(body.vertices[t.b]) - a).cross(vector(body.vertices[t.c]) - a).norm();
                               }
                               return sum;
                           },
                           [](const RigidBody& body, int dimension, const std::string& path) {
                               if (dimension == 2) fail(path + "/shape", "a mesh needs three dimensions");
                               check_triangles(path, body.triangles, body.vertices.size());
                               check_closed(body, path);
                           }};

}  // namespace quadrat::simulation
