#include "ccd/closest_oracle.hpp"

#include <cmath>
#include <optional>

namespace quadrat::test {
namespace {

using Vector = std::array<Rational, 3>;

Vector minus(const Vector& a, const Vector& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

Rational dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The least |gap + s f + r g|^2 over all s and r by the normal equations; nothing if they have no single solution or it
// is not in the triangle (s, r >= 0, s + r <= 1) or the square.
std::optional<Rational> inside(const Vector& gap, const Vector& f, const Vector& g, bool triangle) {
    const Rational ff = dot(f, f), fg = dot(f, g), gg = dot(g, g);
    const Rational determinant = ff * gg - fg * fg;
    if (determinant == 0) return std::nullopt;
    const Rational bf = -dot(gap, f), bg = -dot(gap, g);
    const Rational s = (bf * gg - bg * fg) / determinant, r = (bg * ff - bf * fg) / determinant;
    if (s < 0 || r < 0 || (triangle ? Rational(s + r) > 1 : s > 1 || r > 1)) return std::nullopt;
    Vector at;
    for (std::size_t k = 0; k < 3; ++k) at[k] = gap[k] + s * f[k] + r * g[k];
    return dot(at, at);
}

Rational to_segment(const Vector& p, const Vector& a, const Vector& b) {
    const Vector e = minus(b, a), x = minus(p, a);
    const Rational ee = dot(e, e);
    Rational s = ee == 0 ? Rational(0) : Rational(dot(x, e) / ee);
    if (s < 0) s = 0;
    if (s > 1) s = 1;
    Vector gap;
    for (std::size_t k = 0; k < 3; ++k) gap[k] = x[k] - s * e[k];
    return dot(gap, gap);
}

}  // namespace

RationalPoints rational_points(const FourPoints& start, const FourPoints& end, const Rational& time) {
    RationalPoints p;
    for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) {
            const Rational a(start[i][k]), b(end[i][k]);
            p[i][static_cast<std::size_t>(k)] = a + time * (b - a);
        }
    return p;
}

Rational squared_distance(ImpactKind kind, const RationalPoints& p) {
    const bool faces = kind == ImpactKind::vertex_face;
    const auto best = faces ? inside(minus(p[1], p[0]), minus(p[2], p[1]), minus(p[3], p[1]), true)
                            : inside(minus(p[2], p[0]), minus(p[0], p[1]), minus(p[3], p[2]), false);
    if (best) return *best;
    Rational least;
    bool any = false;
    const auto take = [&](const Rational& d) {
        if (!any || d < least) least = d;
        any = true;
    };
    if (faces) {
        for (std::size_t i = 0; i < 3; ++i) take(to_segment(p[0], p[1 + i], p[1 + (i + 1) % 3]));
    } else {
        take(to_segment(p[0], p[2], p[3]));
        take(to_segment(p[1], p[2], p[3]));
        take(to_segment(p[2], p[0], p[1]));
        take(to_segment(p[3], p[0], p[1]));
    }
    return least;
}

Rational squared_distance(ImpactKind kind, const FourPoints& points) {
    return squared_distance(kind, rational_points(points, points, 0));
}

Rational squared_distance_at(ImpactKind kind, const FourPoints& points, const std::array<double, 4>& weights) {
    const RationalPoints p = rational_points(points, points, 0);
    const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
    Vector gap = {};
    Rational sums[2] = {0, 0};
    for (std::size_t i = 0; i < 4; ++i) sums[i < first ? 0 : 1] += Rational(weights[i]);
    for (std::size_t i = 0; i < 4; ++i) {
        const Rational w = Rational(weights[i]) / sums[i < first ? 0 : 1];
        for (std::size_t k = 0; k < 3; ++k) gap[k] += (i < first ? 1 : -1) * w * p[i][k];
    }
    return dot(gap, gap);
}

double root(const Rational& square) {
    if (square == 0) return 0;
    using boost::multiprecision::cpp_int;
    const cpp_int n = numerator(square), d = denominator(square);
    // Twice 64 bits more than the answer needs, by a whole square root.
    int shift = 2 * ((static_cast<int>(msb(d)) - static_cast<int>(msb(n))) / 2 + 70);
    const cpp_int scaled = shift >= 0 ? cpp_int((n << shift) / d) : cpp_int(n / (d << -shift));
    cpp_int r = sqrt(scaled);
    const int drop = static_cast<int>(msb(r)) - 60;
    r >>= drop;
    return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(r)), drop - shift / 2);
}

}  // namespace quadrat::test
