#include "simulation/grains/shapes/hulls.hpp"

#include <quadrat/error.hpp>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace quadrat::simulation::grains {
namespace {

V3d unit(const V3d& v) {
    return 1 / length(v) * v;
}

// Directions of all edges of the faces, each line once.
void find_edges(Hull& hull) {
    for (const Face& f : hull.faces)
        for (std::size_t k = 0; k < f.corners.size(); ++k) {
            const V3d d = unit(hull.corners[f.corners[(k + 1) % f.corners.size()]] - hull.corners[f.corners[k]]);
            const bool known = std::any_of(hull.edges.begin(), hull.edges.end(),
                                           [&](const V3d& e) { return std::abs(dot(e, d)) > 1 - 1e-9; });
            if (!known) hull.edges.push_back(d);
        }
}

// Triangles of the hull of points, counter-clockwise from outside: points one after the other, each taking away the
// triangles that it sees.
struct Corner3 {
    std::uint32_t v[3];
    V3d normal;
    double offset;
};
class Growing {
  public:
    explicit Growing(std::span<const V3d> points) : points_(points) {
        for (const V3d& p : points) size_ = std::max({size_, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    }
    [[nodiscard]] double slack() const { return 1e-9 * size_; }

    // Four corners that span a volume; false if all points lie in a plane.
    [[nodiscard]] bool begin() {
        const auto farthest = [&](auto&& measure) {
            std::uint32_t best = 0;
            for (std::uint32_t k = 1; k < points_.size(); ++k)
                if (measure(points_[k]) > measure(points_[best])) best = k;
            return best;
        };
        const V3d p0 = points_[0];
        const std::uint32_t a = farthest([&](const V3d& p) { return length(p - p0); });
        const std::uint32_t b = farthest([&](const V3d& p) { return length(p - points_[a]); });
        const V3d ab = points_[b] - points_[a];
        if (length(ab) <= slack()) return false;
        const std::uint32_t c = farthest([&](const V3d& p) { return length(cross(ab, p - points_[a])); });
        const V3d n = cross(ab, points_[c] - points_[a]);
        if (length(n) <= slack() * length(ab)) return false;
        const std::uint32_t d = farthest([&](const V3d& p) { return std::abs(dot(n, p - points_[a])); });
        const double height = dot(n, points_[d] - points_[a]);
        if (std::abs(height) <= 1e3 * slack() * length(n)) return false;
        const std::uint32_t t[4][3] = {{a, b, c}, {a, d, b}, {b, d, c}, {c, d, a}};
        for (const auto& v : t) height < 0 ? add(v[0], v[1], v[2]) : add(v[0], v[2], v[1]);
        return true;
    }
    void take(std::uint32_t k) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> rim;  // of what it sees
        std::vector<Corner3> kept;
        for (const Corner3& t : triangles) {
            if (dot(t.normal, points_[k]) - t.offset <= slack()) {
                kept.push_back(t);
                continue;
            }
            for (int e = 0; e < 3; ++e) rim.emplace(t.v[e], t.v[(e + 1) % 3]);
        }
        if (kept.size() == triangles.size()) return;
        triangles = std::move(kept);
        for (const auto& [p, q] : rim)
            if (!rim.contains({q, p})) add(p, q, k);
    }

    std::vector<Corner3> triangles;

  private:
    void add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        const V3d n = cross(points_[b] - points_[a], points_[c] - points_[a]);
        if (!(length(n) > 0)) return;
        triangles.push_back({{a, b, c}, unit(n), dot(unit(n), points_[a])});
    }

    std::span<const V3d> points_;
    double size_ = 0;
};

// Triangles that lie in one plane become one face, with the corners of their rim in order.
void join_faces(const std::vector<Corner3>& triangles, std::span<const V3d> points, Hull& hull) {
    std::map<std::uint32_t, std::uint32_t> number;
    std::vector<bool> used(triangles.size(), false);
    for (std::size_t f = 0; f < triangles.size(); ++f) {
        if (used[f]) continue;
        std::map<std::uint32_t, std::uint32_t> next;
        std::set<std::pair<std::uint32_t, std::uint32_t>> sides;
        for (std::size_t g = f; g < triangles.size(); ++g) {
            if (used[g] || dot(triangles[g].normal, triangles[f].normal) < 1 - 1e-9) continue;
            used[g] = true;
            for (int e = 0; e < 3; ++e) sides.emplace(triangles[g].v[e], triangles[g].v[(e + 1) % 3]);
        }
        for (const auto& [p, q] : sides)
            if (!sides.contains({q, p})) next[p] = q;
        Face face{triangles[f].normal, triangles[f].offset, {}};
        std::uint32_t at = next.begin()->first;
        for (std::size_t k = 0; k < next.size(); ++k) {
            const auto [found, fresh] = number.emplace(at, static_cast<std::uint32_t>(hull.corners.size()));
            if (fresh) hull.corners.push_back(points[at]);
            face.corners.push_back(found->second);
            at = next[at];
        }
        hull.faces.push_back(std::move(face));
    }
}

}  // namespace

Hull box_hull(const Vec3d& size) {
    Hull h;
    for (int k = 0; k < 8; ++k)
        h.corners.push_back(
            {(k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1], (k & 4 ? 0.5 : -0.5) * size[2]});
    h.faces = {{{-1, 0, 0}, 0.5 * size[0], {0, 4, 6, 2}}, {{1, 0, 0}, 0.5 * size[0], {1, 3, 7, 5}},
               {{0, -1, 0}, 0.5 * size[1], {0, 1, 5, 4}}, {{0, 1, 0}, 0.5 * size[1], {2, 6, 7, 3}},
               {{0, 0, -1}, 0.5 * size[2], {0, 2, 3, 1}}, {{0, 0, 1}, 0.5 * size[2], {4, 5, 7, 6}}};
    find_edges(h);
    return h;
}

Hull capsule_hull(double radius, double length) {
    return {.corners = {{0, 0, -0.5 * length}, {0, 0, 0.5 * length}}, .edges = {{0, 0, 1}}, .radius = radius};
}

Hull sphere_hull(double radius) {
    return {.corners = {{0, 0, 0}}, .radius = radius};
}

Hull triangle_hull(const V3d (&c)[3]) {
    Hull h;
    h.corners = {c[0], c[1], c[2]};
    const V3d n = unit(cross(c[1] - c[0], c[2] - c[0]));
    h.faces = {{n, dot(n, c[0]), {0, 1, 2}}, {-n, -dot(n, c[0]), {0, 2, 1}}};
    h.edges = {unit(c[1] - c[0]), unit(c[2] - c[1]), unit(c[0] - c[2])};
    return h;
}

Hull convex_hull(std::span<const Vec3d> given) {
    std::vector<V3d> points;
    for (std::size_t k = 0; k < given.size(); ++k) {
        points.push_back(vector(given[k]));
        if (!finite(points[k]))
            throw Error(ErrorKind::bad_value, "expected finite numbers", {.index = k, .field = "points"});
    }
    Growing growing(points);
    if (points.size() < 4 || !growing.begin())
        throw Error(ErrorKind::bad_value, "expected points that do not lie in a plane", {.field = "points"});
    for (std::uint32_t k = 0; k < points.size(); ++k) growing.take(k);
    Hull hull;
    join_faces(growing.triangles, points, hull);
    if (hull.corners.size() > most_corners)
        throw Error(ErrorKind::bad_value,
                    "expected a hull of at most 64 corners, found " + std::to_string(hull.corners.size()),
                    {.field = "points"});
    find_edges(hull);
    return hull;
}

Solid solid_of(const Hull& hull) {
    // Tetrahedra from one corner to the triangles of the faces.
    const V3d o = hull.corners[0];
    double volume = 0, second[3][3] = {};
    V3d first = {0, 0, 0};
    for (const Face& f : hull.faces)
        for (std::size_t k = 1; k + 1 < f.corners.size(); ++k) {
            const V3d a = hull.corners[f.corners[0]] - o, b = hull.corners[f.corners[k]] - o,
                      c = hull.corners[f.corners[k + 1]] - o;
            const double v = dot(a, cross(b, c)) / 6;
            const V3d sum = a + b + c;
            volume += v;
            first += v / 4 * sum;
            const double x[4][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}, {sum.x, sum.y, sum.z}};
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    for (const auto& p : x) second[i][j] += v / 20 * p[i] * p[j];
        }
    const V3d centre = 1 / volume * first;
    const double c[3] = {centre.x, centre.y, centre.z};
    Solid solid{volume, o + centre, {}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) second[i][j] -= volume * c[i] * c[j];
    const double trace = second[0][0] + second[1][1] + second[2][2];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) solid.inertia[i][j] = (i == j ? trace : 0) - second[i][j];
    return solid;
}

std::uint32_t add_hull(World& world, std::span<const Vec3d> points) {
    Form f;
    f.shape = GrainShape::convex;
    f.body = convex_hull(points);
    const Solid solid = solid_of(f.body);
    f.volume = solid.volume;
    for (V3d& c : f.body.corners) {
        c -= solid.centre;
        f.reach = std::max(f.reach, length(c));
    }
    for (Face& face : f.body.faces) face.offset -= dot(face.normal, solid.centre);
    Eigen::Matrix3d inertia;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) inertia(i, j) = solid.inertia[i][j];
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(inertia);
    Eigen::Matrix3d axes = eigen.eigenvectors();
    if (axes.determinant() < 0) axes.col(2) = -axes.col(2);
    const Eigen::Quaterniond q(axes);
    f.axes = {q.w(), q.x(), q.y(), q.z()};
    f.inertia = {eigen.eigenvalues()[0], eigen.eigenvalues()[1], eigen.eigenvalues()[2]};
    world.hulls.push_back({f, plain(-solid.centre)});
    return static_cast<std::uint32_t>(world.hulls.size() - 1);
}

}  // namespace quadrat::simulation::grains
