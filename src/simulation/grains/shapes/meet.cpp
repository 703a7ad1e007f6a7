#include "simulation/grains/shapes/meet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace quadrat::simulation::grains {
namespace {

constexpr double flat = 1e-3;      ///< a face whose normal differs by less (radians squared / 2) touches with its area
constexpr double parallel = 0.05;  ///< sine of the angle of two capsules that touch along a line

using Points = std::vector<Meeting::Point>;

// The direction along which two bodies that overlap have the shortest way apart.
struct Axis {
    V3d normal = {0, 0, 1};
    double gap = -std::numeric_limits<double>::infinity();
};
Axis best_axis(const Placed& a, const Placed& b) {
    Axis best;
    const auto look = [&](V3d n, double prefer) {
        if (dot(n, b.centre - a.centre) < 0) n = -n;
        const double gap = -b.extent(-n) - a.extent(n);
        if (gap + prefer > best.gap) best = {n, gap + prefer};
    };
    for (const V3d& n : a.normals) look(n, 0);
    for (const V3d& n : b.normals) look(n, 0);
    for (const V3d& ea : a.edges)
        for (const V3d& eb : b.edges) {
            const V3d n = cross(ea, eb);
            const double size = length(n);
            if (size > 1e-6) look(1 / size * n, 0);
        }
    if (std::isfinite(best.gap)) return best;
    // No faces, and edges that are parallel or missing: any direction across.
    const V3d along = !a.edges.empty() ? a.edges[0] : !b.edges.empty() ? b.edges[0] : V3d{1, 0, 0};
    V3d n = b.centre - a.centre;
    n -= dot(n, along) * along;
    if (!(length(n) > 0)) n = cross(along, std::abs(along.z) < 0.9 ? V3d{0, 0, 1} : V3d{1, 0, 0});
    look(1 / length(n) * n, 0);
    return best;
}

// The face whose normal is nearest to the direction, and how near.
std::pair<std::size_t, double> face_along(const Placed& p, const V3d& n) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t f = 0; f < p.normals.size(); ++f)
        if (const double d = dot(p.normals[f], n); d > most) {
            most = d;
            best = f;
        }
    return {best, most};
}

// What of a body lies towards the direction: a face, an edge, a corner.
std::vector<V3d> patch(const Placed& p, const V3d& n) {
    if (p.hull.faces.empty()) return p.corners;
    const auto [f, share] = face_along(p, n);
    std::vector<V3d> corners;
    for (const std::uint32_t c : p.hull.faces[f].corners) corners.push_back(p.corners[c]);
    return corners;
}

// The part of a polygon (or segment) behind a plane.
std::vector<V3d> cut(const std::vector<V3d>& polygon, const V3d& normal, double offset) {
    std::vector<V3d> kept;
    const std::size_t n = polygon.size();
    if (n == 1) return polygon;
    for (std::size_t k = 0; k < n; ++k) {
        const V3d &p = polygon[k], &q = polygon[(k + 1) % n];
        const double dp = dot(normal, p) - offset, dq = dot(normal, q) - offset;
        if (dp <= 0) kept.push_back(p);
        if (((dp < 0) != (dq < 0)) && dp != dq && (n > 2 || k == 0)) kept.push_back(p + (dp / (dp - dq)) * (q - p));
    }
    return kept;
}

// Points of `other` in front of a face: those inside of its sides.
Points on_face(const Placed& face_of, std::size_t f, const Placed& other, double most) {
    const V3d n = face_of.normals[f];
    const auto& loop = face_of.hull.faces[f].corners;
    const double offset = dot(n, face_of.corners[loop[0]]), radii = face_of.hull.radius + other.hull.radius;
    std::vector<V3d> polygon = patch(other, -n);
    for (std::size_t k = 0; k < loop.size() && !polygon.empty(); ++k) {
        const V3d &p = face_of.corners[loop[k]], &q = face_of.corners[loop[(k + 1) % loop.size()]];
        const V3d out = cross(q - p, n);
        polygon = cut(polygon, out, dot(out, p));
    }
    Points points;
    for (const V3d& p : polygon) {
        const double height = dot(n, p) - offset, gap = height - radii;
        if (gap > most) continue;
        // Half way between the face and the surface of the other.
        points.push_back({p - (0.5 * (height + other.hull.radius - face_of.hull.radius)) * n, gap});
    }
    return points;
}

// Two capsules side by side: the ends of the part that they share.
Points along_line(const Placed& a, const Placed& b, const V3d& n, double most) {
    const V3d along = a.edges[0];
    const auto ends = [&](const Placed& p) {
        const double s = dot(along, p.corners[0]), t = dot(along, p.corners[1]);
        return std::pair(std::min(s, t), std::max(s, t));
    };
    const auto [a0, a1] = ends(a);
    const auto [b0, b1] = ends(b);
    const double from = std::max(a0, b0), to = std::min(a1, b1);
    Points points;
    if (!(from < to)) return points;
    for (const double s : {from, to}) {
        const auto at = [&](const Placed& p) {
            const V3d& e = p.edges[0];
            return p.corners[0] + ((s - dot(along, p.corners[0])) / dot(along, e)) * e;
        };
        const V3d pa = at(a) + a.hull.radius * n, pb = at(b) - b.hull.radius * n;
        const double gap = dot(n, pb - pa);
        if (gap <= most) points.push_back({0.5 * (pa + pb), gap});
    }
    return points;
}

// The four that span most: the deepest, the farthest from it, and the farthest on both sides of their line.
void keep_four(Points points, const V3d& n, Meeting& out) {
    out.count = 0;
    const auto take = [&](auto&& score) {
        double most = 0;
        std::size_t best = points.size();
        for (std::size_t k = 0; k < points.size(); ++k)
            if (const double s = score(points[k]); best == points.size() || s > most) {
                most = s;
                best = k;
            }
        out.points[out.count++] = points[best];
        points.erase(points.begin() + static_cast<std::ptrdiff_t>(best));
    };
    if (points.size() <= 4) {
        for (const auto& p : points) out.points[out.count++] = p;
        return;
    }
    take([&](const auto& p) { return -p.gap; });
    const V3d a = out.points[0].at;
    take([&](const auto& p) { return dot(p.at - a, p.at - a); });
    const V3d side = cross(n, out.points[1].at - a);
    take([&](const auto& p) { return dot(side, p.at - a); });
    take([&](const auto& p) { return -dot(side, p.at - a); });
}

}  // namespace

bool meet(const Placed& a, const Placed& b, double most, Meeting& out) {
    const double radii = a.hull.radius + b.hull.radius;
    Gap gap = gap_between(a, b);
    if (gap.distance > radii + most) return false;
    V3d n;
    if (gap.distance > 1e-9 * (1 + length(b.centre - a.centre))) {
        n = 1 / gap.distance * (gap.b - gap.a);
    } else {
        const Axis axis = best_axis(a, b);
        n = axis.normal;
        // Apart along the axis the nearest points are those that touch.
        Placed moved = b;
        const V3d away = (1e-3 * (1 + std::abs(axis.gap)) - axis.gap) * n;
        for (V3d& c : moved.corners) c += away;
        moved.centre += away;
        gap = gap_between(a, moved);
        gap.b -= away;
        gap.distance = axis.gap;
    }
    out.normal = n;
    Points points;
    const auto [fa, along_a] = face_along(a, n);
    const auto [fb, along_b] = face_along(b, -n);
    if (along_a >= along_b && along_a > 1 - flat) {
        out.normal = a.normals[fa];
        points = on_face(a, fa, b, most);
    } else if (along_b > 1 - flat) {
        out.normal = -b.normals[fb];
        points = on_face(b, fb, a, most);
    } else if (a.corners.size() == 2 && b.corners.size() == 2 && length(cross(a.edges[0], b.edges[0])) < parallel) {
        points = along_line(a, b, n, most);
    }
    if (points.empty()) {
        out.normal = n;
        const V3d middle = 0.5 * (gap.a + a.hull.radius * n + gap.b - b.hull.radius * n);
        points.push_back({middle, gap.distance - radii});
    }
    keep_four(std::move(points), out.normal, out);
    return true;
}

bool meet_plane(const Placed& a, const V3d& normal, double offset, double most, Meeting& out) {
    Points points;
    for (const V3d& c : a.corners) {
        const double height = dot(normal, c) - offset, gap = height - a.hull.radius;
        if (gap <= most) points.push_back({c - (0.5 * (height + a.hull.radius)) * normal, gap});
    }
    out.normal = -normal;
    if (points.empty()) return false;
    keep_four(std::move(points), normal, out);
    return true;
}

}  // namespace quadrat::simulation::grains
