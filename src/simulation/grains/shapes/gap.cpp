// The distance of two convex bodies by walking on their difference (Gilbert, Johnson & Keerthi 1988). The nearest point
// of a simplex to the origin is found face by face, as in Ericson, Real-Time Collision Detection, chapters 5 and 9.
#include <algorithm>
#include <cmath>
#include <limits>

#include "simulation/grains/shapes/meet.hpp"

namespace quadrat::simulation::grains {
namespace {

struct Vertex {
    V3d at;                ///< corner of b less that of a
    std::uint32_t ia, ib;  ///< the corners
};

struct Simplex {
    Vertex v[4];
    double share[4];  ///< of the nearest point
    int size = 0;

    [[nodiscard]] V3d nearest() const {
        V3d p = {0, 0, 0};
        for (int k = 0; k < size; ++k) p += share[k] * v[k].at;
        return p;
    }
};

Simplex point(const Vertex& a) {
    return {{a}, {1}, 1};
}

Simplex of_segment(const Vertex& a, const Vertex& b) {
    const V3d ab = b.at - a.at;
    const double t = -dot(a.at, ab), all = dot(ab, ab);
    if (t <= 0) return point(a);
    if (t >= all) return point(b);
    return {{a, b}, {1 - t / all, t / all}, 2};
}

Simplex of_triangle(const Vertex& a, const Vertex& b, const Vertex& c) {
    const V3d ab = b.at - a.at, ac = c.at - a.at;
    const double d1 = -dot(ab, a.at), d2 = -dot(ac, a.at), d3 = -dot(ab, b.at), d4 = -dot(ac, b.at),
                 d5 = -dot(ab, c.at), d6 = -dot(ac, c.at);
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (va > 0 && vb > 0 && vc > 0) {
        const double all = va + vb + vc;
        return {{a, b, c}, {va / all, vb / all, vc / all}, 3};
    }
    Simplex best = of_segment(a, b);
    for (const Simplex& other : {of_segment(b, c), of_segment(a, c)})
        if (dot(other.nearest(), other.nearest()) < dot(best.nearest(), best.nearest())) best = other;
    return best;
}

// Size 4 where the origin lies inside.
Simplex of_tetrahedron(const Vertex (&v)[4]) {
    constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    Simplex best;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& f : faces) {
        const V3d n = cross(v[f[1]].at - v[f[0]].at, v[f[2]].at - v[f[0]].at);
        const double other = dot(n, v[f[3]].at - v[f[0]].at), origin = -dot(n, v[f[0]].at);
        if (other * origin > 0) continue;  // on the side of the fourth corner
        const Simplex s = of_triangle(v[f[0]], v[f[1]], v[f[2]]);
        const double d = dot(s.nearest(), s.nearest());
        if (d < least) {
            least = d;
            best = s;
        }
    }
    if (best.size == 0) best = {{v[0], v[1], v[2], v[3]}, {0.25, 0.25, 0.25, 0.25}, 4};
    return best;
}

}  // namespace

Placed::Placed(const Hull& what, const V3d& where, const Turn& turn) : hull(what), centre(where) {
    corners.reserve(what.corners.size());
    for (const V3d& c : what.corners) corners.push_back(where + turn(c));
    for (const Face& f : what.faces) normals.push_back(turn(f.normal));
    for (const V3d& e : what.edges) edges.push_back(turn(e));
}

std::uint32_t Placed::farthest(const V3d& direction) const {
    std::uint32_t best = 0;
    double most = dot(direction, corners[0]);
    for (std::uint32_t k = 1; k < corners.size(); ++k)
        if (const double d = dot(direction, corners[k]); d > most) {
            most = d;
            best = k;
        }
    return best;
}

Gap gap_between(const Placed& a, const Placed& b) {
    const auto support = [&](const V3d& d) {
        const std::uint32_t ia = a.farthest(-d), ib = b.farthest(d);
        return Vertex{b.corners[ib] - a.corners[ia], ia, ib};
    };
    Simplex s = point(support(a.centre - b.centre));
    V3d nearest = s.nearest();
    double scale = dot(nearest, nearest);
    for (int round = 0; round < 64; ++round) {
        const double d = dot(nearest, nearest);
        if (s.size == 4 || d <= 1e-24 * scale) return {{}, {}, 0};
        const Vertex next = support(-nearest);
        scale = std::max(scale, dot(next.at, next.at));
        if (d - dot(nearest, next.at) <= 1e-12 * d) break;  // nothing is nearer
        if (std::any_of(s.v, s.v + s.size, [&](const Vertex& v) { return v.ia == next.ia && v.ib == next.ib; })) break;
        Simplex more;
        if (s.size == 1) more = of_segment(s.v[0], next);
        if (s.size == 2) more = of_triangle(s.v[0], s.v[1], next);
        if (s.size == 3) {
            const Vertex four[4] = {s.v[0], s.v[1], s.v[2], next};
            more = of_tetrahedron(four);
        }
        const V3d better = more.nearest();
        if (more.size < 4 && dot(better, better) >= d) break;  // roundings
        s = more;
        nearest = better;
    }
    if (s.size == 4) return {{}, {}, 0};
    Gap gap{{0, 0, 0}, {0, 0, 0}, length(nearest)};
    for (int k = 0; k < s.size; ++k) {
        gap.a += s.share[k] * a.corners[s.v[k].ia];
        gap.b += s.share[k] * b.corners[s.v[k].ib];
    }
    return gap;
}

}  // namespace quadrat::simulation::grains
