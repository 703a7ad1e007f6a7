// The public calls on top of closest/, and triangles as their 15 pairs of features (GSH 3.4).
#include <quadrat/ccd/proximity.hpp>

#include "ccd/closest/nearest.hpp"
#include "ccd/vector.hpp"

namespace quadrat {
namespace {

using namespace ccd;

Vec3d weighted(const Vec3d& a, double wa, const Vec3d& b, double wb) {
    return wa * a + wb * b;
}

}  // namespace

Closest closest_points(ImpactKind kind, const FourPoints& points) {
    const Nearest n = nearest(kind, points);
    const std::array<double, 4>& w = n.weights;
    Closest c{.distance = n.distance, .direction = n.direction, .barycentric = w};
    if (kind == ImpactKind::vertex_face) {
        c.first = points[0];
        c.second = weighted(points[1], w[1], points[2], w[2]) + w[3] * points[3];
    } else {
        c.first = weighted(points[0], w[0], points[1], w[1]);
        c.second = weighted(points[2], w[2], points[3], w[3]);
    }
    return c;
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
        const Closest c = closest_points(ImpactKind::vertex_face, {a[i], b[0], b[1], b[2]});
        take(c.distance, c.first, c.second, corner, {c.barycentric[1], c.barycentric[2], c.barycentric[3]});
        const Closest e = closest_points(ImpactKind::vertex_face, {b[i], a[0], a[1], a[2]});
        take(e.distance, e.second, e.first, {e.barycentric[1], e.barycentric[2], e.barycentric[3]}, corner);
        for (std::size_t j = 0; j < 3; ++j) {
            const Closest f = closest_points(ImpactKind::edge_edge, {a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]});
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
