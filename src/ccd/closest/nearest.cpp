// Candidates for the closest pair in one precision: projections on the face, on lines and on ends, in closed form. No
// region tree that a degenerate triangle could lead astray: the bounds decide.
#include "ccd/closest/nearest.hpp"

#include "base/assert.hpp"
#include "ccd/closest/double_double.hpp"
#include "ccd/closest/exact_nearest.hpp"

#include <limits>

namespace quadrat::ccd {
namespace {

constexpr double largest_slack = 0x1p-46;   // of the size
constexpr double relative_slack = 0x1p-30;  // of the distance
constexpr double fine_error = 0x1p-96;      // of the size, as nearest_error in twice the precision
constexpr int comfortable = 200;            // sizes between 2^-200 and 2^200 need no scaling
constexpr double least_square = 0x1p-900;   // of a normal: below it, its square has lost digits

template <class T>
struct Vector {
    T v[3];

    friend Vector operator+(const Vector& a, const Vector& b) {
        return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}};
    }
    friend Vector operator-(const Vector& a, const Vector& b) {
        return {{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2]}};
    }
    friend Vector operator*(const T& s, const Vector& a) { return {{s * a.v[0], s * a.v[1], s * a.v[2]}}; }
    friend T dot(const Vector& a, const Vector& b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }
    friend Vector cross(const Vector& a, const Vector& b) {
        return {
            {a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
    }
};

// A pair of points: weights of the four, the gap from the second to the first, and a direction for the lower bound.
template <class T>
struct Guess {
    T weights[4];
    Vector<T> gap;
    Vector<T> direction;
};

// The origin against the segment from a to a + e: s is the share of e.
template <class T>
T project(const Vector<T>& a, const Vector<T>& e, Vector<T>& gap) {
    const T zero(0.0);
    const T ee = dot(e, e);
    T s = zero - dot(a, e);
    if (!(s > zero)) {
        gap = T(-1.0) * a;
        return zero;
    }
    if (!(s < ee)) {
        gap = T(-1.0) * (a + e);
        return T(1.0);
    }
    s = s / ee;
    gap = T(-1.0) * (a + s * e);
    gap = gap - (dot(gap, e) / ee) * e;  // what rounding left along e would turn a short gap
    return s;
}

// The vertex is the origin.
template <class T>
Guess<T> guess_vertex_face(const Vector<T>& a, const Vector<T>& b, const Vector<T>& c) {
    const T zero(0.0), one(1.0);
    const Vector<T> e = b - a;
    const Vector<T> f = c - a;
    const Vector<T> n = cross(e, f);
    const T nn = dot(n, n);
    const Vector<T> d = T(-1.0) * a;
    const T w2 = dot(cross(d, f), n);
    const T w3 = dot(cross(e, d), n);
    const T w1 = nn - w2 - w3;
    if (nn > T(least_square) && !(w1 < zero) && !(w2 < zero) && !(w3 < zero)) {
        const T inverse = one / nn;
        const T s = inverse * w2;
        const T r = inverse * w3;
        return {{one, inverse * w1, s, r}, d - (s * e + r * f), dot(d, n) < zero ? T(-1.0) * n : n};
    }
    Guess<T> best{};
    T least(0.0);
    const Vector<T>* const corners[3] = {&a, &b, &c};
    for (int i = 0; i < 3; ++i) {
        const Vector<T>& p = *corners[i];
        Vector<T> gap;
        const T s = project(p, *corners[(i + 1) % 3] - p, gap);
        const T size = dot(gap, gap);
        if (i > 0 && !(size < least)) continue;
        least = size;
        best.gap = best.direction = gap;
        best.weights[0] = one;
        best.weights[1 + i] = one - s;
        best.weights[1 + (i + 1) % 3] = s;
        best.weights[1 + (i + 2) % 3] = zero;
    }
    return best;
}

// The first edge from the origin to u, the second from a to b.
template <class T>
Guess<T> guess_edge_edge(const Vector<T>& u, const Vector<T>& a, const Vector<T>& b) {
    const T zero(0.0), one(1.0);
    const Vector<T> v = b - a;
    const Vector<T> n = cross(u, v);
    const T nn = dot(n, n);
    const T sn = dot(cross(a, v), n);
    const T rn = dot(cross(a, u), n);
    if (nn > T(least_square) && !(sn < zero) && !(nn < sn) && !(rn < zero) && !(nn < rn)) {
        const T s = sn / nn;
        const T r = rn / nn;
        return {{one - s, s, one - r, r}, s * u - (a + r * v), dot(a, n) > zero ? T(-1.0) * n : n};
    }
    Guess<T> best{};
    T least(0.0);
    for (int i = 0; i < 4; ++i) {  // an end of the first edge against the second one, then the other way
        Vector<T> gap;
        T s(0.0), r(0.0);
        if (i < 2) {
            s = i == 0 ? zero : one;
            r = project(i == 0 ? a : a - u, v, gap);
        } else {
            r = i == 2 ? zero : one;
            s = project(T(-1.0) * (i == 2 ? a : b), u, gap);
            gap = T(-1.0) * gap;
        }
        const T size = dot(gap, gap);
        if (i > 0 && !(size < least)) continue;
        least = size;
        best = {{one - s, s, one - r, r}, gap, gap};
    }
    return best;
}

// How far the features are apart along the direction.
template <class T>
T separation(ImpactKind kind, const Vector<T> (&p)[3], const Vector<T>& w) {
    T first(0.0);  // the least of the first feature and the largest of the second
    T second = dot(p[2], w);
    const auto include = [&](const Vector<T>& x) {
        const T h = dot(x, w);
        if (h > second) second = h;
    };
    include(p[1]);
    if (kind == ImpactKind::vertex_face) {
        include(p[0]);
    } else {
        const T h = dot(p[0], w);
        if (h < first) first = h;
    }
    return (first - second) / root(dot(w, w));
}

// Fills `out`; returns by how much the two bounds differ, NaN if something was out of range.
template <class T>
double bounds(ImpactKind kind, const Vector<T> (&p)[3], Nearest& out) {
    const Guess<T> g =
        kind == ImpactKind::vertex_face ? guess_vertex_face(p[0], p[1], p[2]) : guess_edge_edge(p[0], p[1], p[2]);
    for (std::size_t i = 0; i < 4; ++i) out.weights[i] = std::clamp(to_double(g.weights[i]), 0.0, 1.0);
    const T above = root(dot(g.gap, g.gap));
    out.distance = to_double(above);
    const Vec3d w = {{to_double(g.direction.v[0]), to_double(g.direction.v[1]), to_double(g.direction.v[2])}};
    const double length = norm(w);
    out.direction = length > 0 ? (1 / length) * w : Vec3d{{0, 0, 0}};
    if (!(length > 0)) return out.distance;
    return to_double(above - separation(kind, p, g.direction));
}

double size_of(const Relative& x) {
    return std::max({largest(x[0]), largest(x[1]), largest(x[2])});
}

double bounds_in_double(ImpactKind kind, const Relative& x, Nearest& out) {
    Vector<double> p[3];
    for (std::size_t i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) p[i].v[k] = x[i][k];
    return bounds(kind, p, out);
}

// 2^exponent x, also where 2^exponent is out of range.
double scaled(double x, int exponent) {
    return std::ldexp(x, exponent);
}

}  // namespace

int unit_exponent(double size) {
    QUADRAT_ASSERT(size > 0 && std::isfinite(size));
    return std::ilogb(size);
}

Nearest nearest_in_double(ImpactKind kind, const Relative& points) {
    Nearest r;
    const double size = size_of(points);
    if (bounds_in_double(kind, points, r) <= largest_slack * size) [[likely]]
        return r;
    Vector<DoubleDouble> p[3];
    for (std::size_t i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) p[i].v[k] = points[i][k];
    bounds(kind, p, r);
    return r;
}

Nearest nearest(ImpactKind kind, const FourPoints& points) {
    Relative x;
    for (std::size_t i = 0; i < 3; ++i) x[i] = points[i + 1] - points[0];
    double size = size_of(x);
    if (!std::isfinite(size) || !(size > 0)) return exact_nearest(kind, points);
    const int exponent = unit_exponent(size);
    const bool scale = exponent < -comfortable || exponent > comfortable;
    if (scale) {
        for (Vec3d& v : x)
            for (double& c : v.v) c = scaled(c, -exponent);
        size = size_of(x);
    }
    Nearest r;
    double slack = bounds_in_double(kind, x, r) + 2 * nearest_error * size;
    if (slack <= largest_slack * size && slack <= relative_slack * r.distance) [[likely]] {
        if (scale) r.distance = scaled(r.distance, exponent);
        return r;
    }
    Vector<DoubleDouble> p[3];
    for (std::size_t i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            const DoubleDouble d = DoubleDouble::sum(points[i + 1][k], -points[0][k]);
            p[i].v[k] = DoubleDouble::ordered_sum(scaled(d.hi, -exponent), scaled(d.lo, -exponent));
        }
    slack = bounds(kind, p, r) + 2 * fine_error * scaled(size, scale ? 0 : -exponent);
    if (slack <= relative_slack * r.distance && slack <= largest_slack) {
        r.distance = scaled(r.distance, exponent);
        return r;
    }
    return exact_nearest(kind, points);
}

}  // namespace quadrat::ccd
