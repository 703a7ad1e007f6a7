// See box_contacts.hpp. Separating axes: the normals of both boxes and the products of their edges (Gottschalk et al.
// 1996, "OBBTree"). Along a normal the face that looks at it is cut by the sides of the face that has it; along a
// product the two edges meet at one point.
#include "simulation/solids/box_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"

namespace quadrat::simulation {
namespace {

double gap_along(const PlacedBox& a, const PlacedBox& b, const Vector& n) {
    return std::abs(n.dot(a.centre - b.centre)) - (a.axes.transpose() * n).cwiseAbs().dot(a.half) -
           (b.axes.transpose() * n).cwiseAbs().dot(b.half);
}

struct Axis {
    double gap = -std::numeric_limits<double>::infinity();
    Vector normal = Vector::UnitX();
    int first = -1, second = -1;  // edges of a and b; a face has only one of them
};

Axis best_face(const PlacedBox& a, const PlacedBox& b, int dimension) {
    Axis best;
    for (int k = 0; k < dimension; ++k) {
        // A little better must it be, so that one of two that are equal stays chosen.
        const double of_a = gap_along(a, b, a.axes.col(k)), of_b = gap_along(a, b, b.axes.col(k));
        if (of_a > best.gap) best = {of_a, a.axes.col(k), k, -1};
        if (of_b > best.gap + 1e-6 * b.half[k]) best = {of_b, b.axes.col(k), -1, k};
    }
    return best;
}

Axis best_edges(const PlacedBox& a, const PlacedBox& b) {
    Axis best;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Vector n = a.axes.col(i).cross(b.axes.col(j));
            const double length = n.norm();
            if (length < 1e-3) continue;  // parallel: a face does better
            const double gap = gap_along(a, b, n / length);
            if (gap > best.gap) best = {gap, n / length, i, j};
        }
    return best;
}

// Cuts a polygon to dot(n, x) <= offset.
void cut(std::vector<Vector>& polygon, const Vector& n, double offset) {
    std::vector<Vector> kept;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
        const Vector &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
        const double from = n.dot(p) - offset, to = n.dot(q) - offset;
        if (from <= 0) kept.push_back(p);
        if ((from < 0 && to > 0) || (from > 0 && to < 0)) kept.push_back(p + from / (from - to) * (q - p));
    }
    polygon.swap(kept);
}

// `out` of box a's face `axis` looks at b; calls fn(point of b, gap).
template <class Fn>
void face_points(const PlacedBox& a, int axis, const Vector& out, const PlacedBox& b, Fn&& fn) {
    QUADRAT_ASSERT(axis >= 0 && axis < 3);
    int facing = 0;
    (b.axes.transpose() * out).cwiseAbs().maxCoeff(&facing);
    const Vector towards = b.axes.col(facing).dot(out) > 0 ? Vector(-b.axes.col(facing)) : Vector(b.axes.col(facing));
    const int u = (facing + 1) % 3, v = (facing + 2) % 3;
    const Vector middle = b.centre + b.half[facing] * towards;
    const Vector eu = b.half[u] * b.axes.col(u), ev = b.half[v] * b.axes.col(v);
    std::vector<Vector> polygon = {middle + eu + ev, middle - eu + ev, middle - eu - ev, middle + eu - ev};
    for (const int side : {(axis + 1) % 3, (axis + 2) % 3}) {
        const Vector n = a.axes.col(side);
        cut(polygon, n, n.dot(a.centre) + a.half[side]);
        cut(polygon, -n, -n.dot(a.centre) + a.half[side]);
    }
    for (const Vector& p : polygon) fn(p, out.dot(p - a.centre) - a.half[axis]);
}

// The middle between two edges that cross seen along n, if they do.
bool edge_point(const PlacedBox& a, const PlacedBox& b, const Axis& axis, const Vector& n, Vector& point) {
    QUADRAT_ASSERT(axis.first >= 0 && axis.second >= 0);
    Vector p = a.centre, q = b.centre;
    for (int k = 0; k < 3; ++k) {
        if (k != axis.first) p -= (n.dot(a.axes.col(k)) > 0 ? 1 : -1) * a.half[k] * a.axes.col(k);
        if (k != axis.second) q += (n.dot(b.axes.col(k)) > 0 ? 1 : -1) * b.half[k] * b.axes.col(k);
    }
    const Vector u = a.axes.col(axis.first), v = b.axes.col(axis.second), w = p - q;
    const double c = u.dot(v), det = 1 - c * c;
    QUADRAT_ASSERT(det > 0);  // best_edges() leaves out those that are parallel
    const double s = (c * v.dot(w) - u.dot(w)) / det, t = (v.dot(w) - c * u.dot(w)) / det;
    if (std::abs(s) > a.half[axis.first] || std::abs(t) > b.half[axis.second]) return false;
    point = 0.5 * (p + s * u + q + t * v);
    return true;
}

}  // namespace

double box_gap(const PlacedBox& a, const PlacedBox& b, int dimension) {
    const double faces = best_face(a, b, dimension).gap;
    return dimension == 2 ? faces : std::max(faces, best_edges(a, b).gap);
}

void box_touches(const PlacedBox& a, const PlacedBox& b, double margin, std::vector<BoxTouch>& out) {
    const Axis face = best_face(a, b, 3), edge = best_edges(a, b);
    if (std::max(face.gap, edge.gap) >= margin) return;
    const auto from_b_to_a = [&](const Vector& n) { return Vector(n.dot(a.centre - b.centre) < 0 ? -n : n); };
    // Faces hold better; an edge must be clearly farther.
    if (edge.gap > face.gap + 1e-2 * std::min(a.half.minCoeff(), b.half.minCoeff())) {
        const Vector n = from_b_to_a(edge.normal);
        Vector point;
        if (edge_point(a, b, edge, n, point)) {
            out.push_back({point, n, -edge.gap});
            return;
        }
        if (edge.gap > 0) return;  // they pass each other
    }
    const Vector n = from_b_to_a(face.normal);
    const auto take = [&](const Vector& point, double gap) {
        if (gap < margin) out.push_back({point, n, -gap});
    };
    if (face.first >= 0)
        face_points(a, face.first, -n, b, take);
    else
        face_points(b, face.second, n, a, take);
}

}  // namespace quadrat::simulation
