// Every candidate for the closest pair is computed (projections on faces, lines and ends) and the best one wins: no
// region tree that a degenerate triangle could lead astray. Based on the usual closed forms; nothing from GSH but the
// list of 15 tests.
#include <quadrat/ccd/proximity.hpp>

#include "ccd/exact/exact.hpp"
#include "ccd/vector.hpp"

#include <cmath>

namespace quadrat {
namespace {

using namespace ccd;

double clamp01(double x) {
    return x > 0 ? (x < 1 ? x : 1.0) : 0.0;
}  // NaN becomes 0

// A power of two that brings lengths of this size near 1 where their fourth powers would leave the range of double; 1
// elsewhere. Ratios of products of the same degree stay the same bits.
double tame(double size) {
    if ((size > 1e-60 && size < 1e60) || !(size > 0) || !std::isfinite(size)) [[likely]]
        return 1;
    return std::ldexp(1.0, -std::max(std::ilogb(size), -1022));
}

// The parameter on a + s (b - a) that is closest to p.
double project(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
    const double scale = tame(largest(b - a));
    const Vec3d e = scale * (b - a);
    return clamp01(dot(scale * (p - a), e) / dot(e, e));
}

void consider(Closest& best, const Vec3d& first, const Vec3d& second, std::array<double, 4> weights) {
    const Vec3d d = first - second;
    const double size = largest(d);
    const double distance = size > 0 ? size * norm((1 / size) * d) : 0.0;  // no overflow, no underflow
    if (distance < best.distance) best = {distance, first, second, weights};
}

Closest vertex_face(const FourPoints& p) {
    Closest best;
    const Vec3d& v = p[0];
    for (int i = 0; i < 3; ++i) {
        const Vec3d& a = p[static_cast<std::size_t>(1 + i)];
        const Vec3d& b = p[static_cast<std::size_t>(1 + (i + 1) % 3)];
        const double s = project(v, a, b);
        std::array<double, 4> w = {1, 0, 0, 0};
        w[static_cast<std::size_t>(1 + i)] = 1 - s;
        w[static_cast<std::size_t>(1 + (i + 1) % 3)] = s;
        consider(best, v, lerp(a, b, s), w);
    }
    const double scale = tame(std::max(largest(p[2] - p[1]), largest(p[3] - p[1])));
    const Vec3d e1 = scale * (p[2] - p[1]);
    const Vec3d e2 = scale * (p[3] - p[1]);
    const Vec3d n = cross(e1, e2);
    const Vec3d d = scale * (v - p[1]);
    const double nn = dot(n, n);
    const double w2 = dot(cross(d, e2), n) / nn;
    const double w3 = dot(cross(e1, d), n) / nn;
    const double w1 = 1 - w2 - w3;
    if (w1 >= 0 && w2 >= 0 && w3 >= 0)
        consider(best, v, p[1] + (w2 * (p[2] - p[1]) + w3 * (p[3] - p[1])), {1, w1, w2, w3});
    return best;
}

Closest edge_edge(const FourPoints& p) {
    Closest best;
    const auto at = [&](double s, double r) {
        consider(best, lerp(p[0], p[1], s), lerp(p[2], p[3], r), {1 - s, s, 1 - r, r});
    };
    at(0, project(p[0], p[2], p[3]));
    at(1, project(p[1], p[2], p[3]));
    at(project(p[2], p[0], p[1]), 0);
    at(project(p[3], p[0], p[1]), 1);
    const double scale = tame(std::max(largest(p[1] - p[0]), largest(p[3] - p[2])));
    const Vec3d u = scale * (p[1] - p[0]);
    const Vec3d v = scale * (p[3] - p[2]);
    const Vec3d d = scale * (p[2] - p[0]);
    const Vec3d n = cross(u, v);
    const double nn = dot(n, n);
    double s = dot(cross(d, v), n) / nn;
    if (s > 0 && s < 1) {
        for (int i = 0; i < 3; ++i) {  // near-parallel edges: polish by projecting to and fro
            const double r = project(lerp(p[0], p[1], s), p[2], p[3]);
            at(s, r);
            s = project(lerp(p[2], p[3], r), p[0], p[1]);
        }
    }
    return best;
}

}  // namespace

Closest closest_points(ImpactKind kind, const FourPoints& points) {
    return kind == ImpactKind::vertex_face ? vertex_face(points) : edge_edge(points);
}

std::optional<Closest> closest_points(ImpactKind kind, const FourPoints& points, double max_distance) {
    const Closest c = closest_points(kind, points);
    if (c.distance <= max_distance) return c;
    return std::nullopt;
}

bool triangles_intersect(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b) {
    for (int k = 0; k < 3; ++k) {
        if (std::max({a[0][k], a[1][k], a[2][k]}) < std::min({b[0][k], b[1][k], b[2][k]})) return false;
        if (std::max({b[0][k], b[1][k], b[2][k]}) < std::min({a[0][k], a[1][k], a[2][k]})) return false;
    }
    // They share a point if and only if an edge of one meets the other: a moving point on that edge against a face at
    // rest.
    for (int side = 0; side < 2; ++side) {
        const auto& t = side == 0 ? a : b;
        const auto& o = side == 0 ? b : a;
        for (std::size_t i = 0; i < 3; ++i) {
            const FourPoints start = {t[i], o[0], o[1], o[2]};
            const FourPoints end = {t[(i + 1) % 3], o[0], o[1], o[2]};
            if (impact_time(ImpactKind::vertex_face, start, end) <= 1) return true;
        }
    }
    return false;
}

std::optional<ClosestTriangles> closest_triangles(const std::array<Vec3d, 3>& a, const std::array<Vec3d, 3>& b,
                                                  double max_distance) {
    ClosestTriangles best;
    const auto take = [&](double distance, const Vec3d& x, const Vec3d& y, std::array<double, 3> wa,
                          std::array<double, 3> wb) {
        if (distance < best.distance) best = {distance, x, y, wa, wb};
    };
    for (std::size_t i = 0; i < 3; ++i) {
        std::array<double, 3> corner = {0, 0, 0};
        corner[i] = 1;
        const Closest c = vertex_face({a[i], b[0], b[1], b[2]});
        take(c.distance, c.first, c.second, corner, {c.barycentric[1], c.barycentric[2], c.barycentric[3]});
        const Closest e = vertex_face({b[i], a[0], a[1], a[2]});
        take(e.distance, e.second, e.first, {e.barycentric[1], e.barycentric[2], e.barycentric[3]}, corner);
        for (std::size_t j = 0; j < 3; ++j) {
            const Closest f = edge_edge({a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]});
            std::array<double, 3> wa = {0, 0, 0};
            std::array<double, 3> wb = {0, 0, 0};
            wa[i] = f.barycentric[0];
            wa[(i + 1) % 3] = f.barycentric[1];
            wb[j] = f.barycentric[2];
            wb[(j + 1) % 3] = f.barycentric[3];
            take(f.distance, f.first, f.second, wa, wb);
        }
    }
    if (best.distance > 0 && triangles_intersect(a, b)) {
        // A piercing edge: the point where it meets the other triangle.
        for (int side = 0; side < 2 && best.distance > 0; ++side) {
            const auto& t = side == 0 ? a : b;
            const auto& o = side == 0 ? b : a;
            for (std::size_t i = 0; i < 3 && best.distance > 0; ++i) {
                const FourPoints start = {t[i], o[0], o[1], o[2]};
                const FourPoints end = {t[(i + 1) % 3], o[0], o[1], o[2]};
                const std::optional<Impact> hit = find_impact(ImpactKind::vertex_face, start, end, {.tolerance = 1e-9});
                if (!hit) continue;
                std::array<double, 3> w = {0, 0, 0};
                w[i] = 1 - hit->time;
                w[(i + 1) % 3] = hit->time;
                const Vec3d x = lerp(t[i], t[(i + 1) % 3], hit->time);
                const std::array<double, 3> v = {hit->barycentric[1], hit->barycentric[2], hit->barycentric[3]};
                best = side == 0 ? ClosestTriangles{0, x, x, w, v} : ClosestTriangles{0, x, x, v, w};
            }
        }
    }
    if (!(best.distance <= max_distance)) return std::nullopt;
    return best;
}

}  // namespace quadrat
