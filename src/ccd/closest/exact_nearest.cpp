// Coordinates become integers; squared distances are fractions that are compared by cross products. The closest pair of
// a vertex and a face is the projection on the plane, if it falls on the face, or the best of three segments; that of
// two edges the crossing of their lines, if it falls on both, or the best of four ends against the other edge.
#include "ccd/closest/exact_nearest.hpp"

#include "base/bigint.hpp"
#include "ccd/double_parts.hpp"

#include <climits>

namespace quadrat::ccd {
namespace {

using base::BigInt;

struct Whole {
    BigInt v[3];

    friend Whole operator-(const Whole& a, const Whole& b) {
        return {{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}};
    }
};

BigInt dot(const Whole& a, const Whole& b) {
    BigInt r = a.v[0] * b.v[0];
    r.add_product(a.v[1], b.v[1]);
    r.add_product(a.v[2], b.v[2]);
    return r;
}

Whole cross(const Whole& a, const Whole& b) {
    Whole r;
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3;
        const int j = (k + 2) % 3;
        r.v[k] = a.v[i] * b.v[j];
        r.v[k].subtract_product(a.v[j], b.v[i]);
    }
    return r;
}

// n / d for d > 0, as a double in [0.5, 2) or 0 and a power of two.
double quotient(const BigInt& n, const BigInt& d, int& exponent) {
    const int bn = n.bits();
    const int bd = d.bits();
    exponent = bn - bd;
    return n.to_double(bn) / d.to_double(bd);
}

double share(const BigInt& n, const BigInt& d) {
    int exponent = 0;
    const double q = quotient(n, d, exponent);
    return std::ldexp(q, exponent);
}

Vec3d unit(const Whole& w) {
    const int bits = std::max({w.v[0].bits(), w.v[1].bits(), w.v[2].bits()});
    if (bits == 0) return {{0, 0, 0}};
    const Vec3d d = {{w.v[0].to_double(bits), w.v[1].to_double(bits), w.v[2].to_double(bits)}};
    return (1 / norm(d)) * d;
}

// The squared distance n / d of a pair of points, d > 0, and a vector from the second to the first of any length.
struct Pairing {
    BigInt n, d;
    Whole gap;
    std::array<double, 4> weights = {};

    [[nodiscard]] bool closer_than(const Pairing& other) const { return (n * other.d - other.n * d).sign() < 0; }
};

// The point at `from` against the segment from a along e. Its share goes to `share_of_e`; `sign` is -1 if the point
// belongs to the second feature.
Pairing end_against_segment(const Whole& from, const Whole& a, const Whole& e, int sign, double& share_of_e) {
    const Whole x = from - a;
    const BigInt ee = dot(e, e);
    const BigInt num = dot(x, e);
    Pairing p;
    if (ee.sign() == 0 || num.sign() <= 0 || (num - ee).sign() >= 0) {
        const bool start = ee.sign() == 0 || num.sign() <= 0;
        p.gap = start ? x : x - e;
        p.n = dot(p.gap, p.gap);
        p.d = BigInt(1);
        share_of_e = start ? 0 : 1;
    } else {
        const Whole c = cross(x, e);
        p.n = dot(c, c);
        p.d = ee;
        for (int k = 0; k < 3; ++k) p.gap.v[k] = x.v[k] * ee - e.v[k] * num;
        share_of_e = share(num, ee);
    }
    if (sign < 0)
        for (BigInt& g : p.gap.v) g.negate();
    return p;
}

// The pair on the common perpendicular of a plane or of two lines, with d from the first feature's start to the
// second's and n the normal.
Pairing across(const Whole& n, const BigInt& nn, const Whole& d) {
    Pairing p;
    const BigInt height = dot(d, n);
    p.n = height * height;
    p.d = nn;
    p.gap = n;
    if (height.sign() > 0)
        for (BigInt& g : p.gap.v) g.negate();
    return p;
}

Pairing vertex_face(const Whole& vertex, const Whole (&corner)[3]) {
    const Whole e = corner[1] - corner[0];
    const Whole f = corner[2] - corner[0];
    const Whole d = vertex - corner[0];
    const Whole n = cross(e, f);
    const BigInt nn = dot(n, n);
    if (nn.sign() > 0) {
        const BigInt w2 = dot(cross(d, f), n);
        const BigInt w3 = dot(cross(e, d), n);
        const BigInt w1 = nn - w2 - w3;
        if (w1.sign() >= 0 && w2.sign() >= 0 && w3.sign() >= 0) {
            Pairing p = across(n, nn, corner[0] - vertex);
            p.weights = {1, share(w1, nn), share(w2, nn), share(w3, nn)};
            return p;
        }
    }
    Pairing best;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        double s = 0;
        Pairing p = end_against_segment(vertex, corner[i], corner[j] - corner[i], 1, s);
        p.weights[0] = 1;
        p.weights[1 + i] = 1 - s;
        p.weights[1 + j] = s;
        if (i == 0 || p.closer_than(best)) best = std::move(p);
    }
    return best;
}

Pairing edge_edge(const Whole (&p)[4]) {
    const Whole u = p[1] - p[0];
    const Whole v = p[3] - p[2];
    const Whole d = p[2] - p[0];
    const Whole n = cross(u, v);
    const BigInt nn = dot(n, n);
    if (nn.sign() > 0) {
        const BigInt s = dot(cross(d, v), n);
        const BigInt r = dot(cross(d, u), n);
        if (s.sign() >= 0 && r.sign() >= 0 && (nn - s).sign() >= 0 && (nn - r).sign() >= 0) {
            Pairing best = across(n, nn, d);
            best.weights = {share(nn - s, nn), share(s, nn), share(nn - r, nn), share(r, nn)};
            return best;
        }
    }
    Pairing best;
    for (std::size_t i = 0; i < 4; ++i) {
        const bool of_first = i < 2;
        double s = 0;
        Pairing x = end_against_segment(p[i], of_first ? p[2] : p[0], of_first ? v : u, of_first ? 1 : -1, s);
        const std::size_t other = of_first ? 2 : 0;
        x.weights[i] = 1;
        x.weights[other] = 1 - s;
        x.weights[other + 1] = s;
        if (i == 0 || x.closer_than(best)) best = std::move(x);
    }
    return best;
}

}  // namespace

Nearest exact_nearest(ImpactKind kind, const FourPoints& points) {
    int least = INT_MAX;
    for (const Vec3d& v : points)
        for (const double x : v.v)
            if (x != 0) least = std::min(least, lowest_bit(x));
    if (least == INT_MAX) least = 0;
    Whole p[4];
    for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) p[i].v[k] = BigInt::from_double(points[i][k], least);
    const Pairing best = kind == ImpactKind::vertex_face ? vertex_face(p[0], {p[1], p[2], p[3]}) : edge_edge(p);
    Nearest r;
    r.weights = best.weights;
    if (best.n.sign() == 0) return r;
    r.direction = unit(best.gap);
    int exponent = 0;
    double q = quotient(best.n, best.d, exponent);
    if (exponent % 2 != 0) {
        q *= 2;
        --exponent;
    }
    r.distance = std::ldexp(std::sqrt(q), exponent / 2 + least);
    return r;
}

}  // namespace quadrat::ccd
