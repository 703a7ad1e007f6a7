#include "ccd/oracle.hpp"

#include <array>

namespace quadrat::test {
namespace {

using Vector = std::array<Rational, 3>;

void trim(Poly& p) {
    while (!p.empty() && p.back() == 0) p.pop_back();
}

Rational value(const Poly& p, const Rational& t) {
    Rational v = 0;
    for (std::size_t i = p.size(); i-- > 0;) v = v * t + p[i];
    return v;
}

int sign(const Rational& r) {
    return r > 0 ? 1 : r < 0 ? -1 : 0;
}

Poly multiply(const Poly& a, const Poly& b) {
    if (a.empty() || b.empty()) return {};
    Poly r(a.size() + b.size() - 1, Rational(0));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) r[i + j] += a[i] * b[j];
    trim(r);
    return r;
}

Poly remainder(Poly a, const Poly& b) {
    while (a.size() >= b.size()) {
        const Rational q = a.back() / b.back();
        const std::size_t shift = a.size() - b.size();
        for (std::size_t i = 0; i < b.size(); ++i) a[i + shift] -= q * b[i];
        a.pop_back();
        trim(a);
    }
    return a;
}

Poly derivative(const Poly& p) {
    Poly r;
    for (std::size_t i = 1; i < p.size(); ++i) r.push_back(p[i] * Rational(static_cast<int>(i)));
    return r;
}

// The signed remainder sequence of f and g, and its sign changes at t.
std::vector<Poly> sequence(Poly f, Poly g) {
    std::vector<Poly> s = {f, g};
    while (!s.back().empty()) {
        Poly r = remainder(s[s.size() - 2], s.back());
        for (Rational& c : r) c = -c;
        s.push_back(r);
    }
    s.pop_back();
    return s;
}

int changes(const std::vector<Poly>& s, const Rational& t) {
    int count = 0;
    int last = 0;
    for (const Poly& p : s) {
        const int now = sign(value(p, t));
        if (now == 0) continue;
        count += last != 0 && now != last;
        last = now;
    }
    return count;
}

// Sum of sign(g) over the distinct roots of f in (a, b]; f(a) != 0 and f(b) != 0.
int tarski(const Poly& f, const Poly& g, const Rational& a, const Rational& b) {
    Poly h = multiply(derivative(f), g);
    if (h.empty()) return 0;
    const auto s = sequence(f, h);
    return changes(s, a) - changes(s, b);
}

// The polynomial of degree <= n through its values at 0..n.
template <class At>
Poly interpolate(int n, At&& at) {
    Poly sum;
    for (int i = 0; i <= n; ++i) {
        Poly term = {at(Rational(i))};
        trim(term);
        for (int j = 0; j <= n; ++j) {
            if (j == i) continue;
            term = multiply(term, {Rational(-j) / Rational(i - j), Rational(1) / Rational(i - j)});
        }
        if (term.size() > sum.size()) sum.resize(term.size(), Rational(0));
        for (std::size_t k = 0; k < term.size(); ++k) sum[k] += term[k];
    }
    trim(sum);
    return sum;
}

Vector minus(const Vector& a, const Vector& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Rational dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct Scene {
    ImpactKind kind;
    std::array<Vector, 4> start, end;

    std::array<Vector, 4> at(const Rational& t) const {
        std::array<Vector, 4> p;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 3; ++k) p[i][k] = start[i][k] + t * (end[i][k] - start[i][k]);
        return p;
    }
    Rational volume(const Rational& t) const {
        const auto p = at(t);
        return dot(minus(p[1], p[0]), cross(minus(p[2], p[0]), minus(p[3], p[0])));
    }
    // Vertex-face: normals of the three small triangles; edge-edge: normals of the four that an end makes with the
    // other edge, turned so that all agree when the edges cross.
    std::vector<Vector> normals(const Rational& t) const {
        const auto p = at(t);
        const auto n = [&](std::size_t a, std::size_t b, std::size_t c) {
            return cross(minus(p[b], p[a]), minus(p[c], p[a]));
        };
        if (kind == ImpactKind::vertex_face) return {n(0, 1, 2), n(0, 2, 3), n(0, 3, 1)};
        return {n(0, 1, 2), n(1, 0, 3), n(2, 3, 1), n(3, 2, 0)};
    }
    // On a line: <= 0 for one of them means contact.
    std::vector<Rational> overlaps(const Rational& t) const {
        const auto p = at(t);
        const auto d = [&](std::size_t at, std::size_t a, std::size_t b) {
            return dot(minus(p[a], p[at]), minus(p[b], p[at]));
        };
        if (kind == ImpactKind::vertex_face) return {d(0, 1, 2), d(0, 2, 3), d(0, 3, 1)};
        return {d(0, 2, 3), d(1, 2, 3), d(2, 0, 1), d(3, 0, 1)};
    }
};

}  // namespace

OracleAnswer oracle(ImpactKind kind, const FourPoints& start, const FourPoints& end) {
    Scene scene{kind, {}, {}};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            scene.start[i][k] = Rational(start[i][static_cast<int>(k)]);
            scene.end[i][k] = Rational(end[i][static_cast<int>(k)]);
        }
    OracleAnswer answer;
    const Poly f = interpolate(3, [&](const Rational& t) { return scene.volume(t); });
    if (f.empty()) {
        answer.planar = true;
        return answer;
    }
    const std::size_t sides = kind == ImpactKind::vertex_face ? 3 : 4;
    std::vector<Poly> products;  // of pairs of normals: none may be negative; squares: all zero on a line
    for (std::size_t i = 0; i < sides; ++i)
        for (std::size_t j = i; j < sides; ++j)
            products.push_back(interpolate(4, [&](const Rational& t) {
                const auto n = scene.normals(t);
                return dot(n[i], n[j]);
            }));
    std::vector<Poly> overlaps;
    for (std::size_t i = 0; i < sides; ++i)
        overlaps.push_back(interpolate(2, [&](const Rational& t) { return scene.overlaps(t)[i]; }));

    const auto roots = sequence(f, derivative(f));
    // The only root of f in (a, b], neither end a root: its contact.
    const auto contact = [&](const Rational& a, const Rational& b) {
        bool line = true;
        std::size_t k = 0;
        for (std::size_t i = 0; i < sides; ++i)
            for (std::size_t j = i; j < sides; ++j, ++k) {
                const int s = tarski(f, products[k], a, b);
                if (s < 0) return false;
                if (i == j && s != 0) line = false;
            }
        if (!line) return true;
        for (const Poly& p : overlaps)
            if (tarski(f, p, a, b) <= 0) return true;
        return false;
    };
    // Everything in [0, 1], a little beyond so that the ends are no roots; roots outside do not count.
    struct Interval {
        Rational a, b;
        bool single = false;
    };
    Rational below(-1), above(2);
    while (value(f, below) == 0) below -= 1;
    while (value(f, above) == 0) above += 1;
    std::vector<Interval> stack = {{below, above}};
    const Rational width = Rational(1, 1000000) / 1000000;
    while (!stack.empty()) {
        const Interval i = stack.back();
        stack.pop_back();
        const int count = i.single ? 1 : changes(roots, i.a) - changes(roots, i.b);
        if (count == 0) continue;
        if (count == 1 && i.b - i.a > width &&
            sign(value(f, i.a)) != sign(value(f, i.b))) {  // plain bisection from here on
            Rational m = (i.a + i.b) / 2;
            while (value(f, m) == 0) m = (m + i.b) / 2;
            const bool left = sign(value(f, m)) != sign(value(f, i.a));
            stack.push_back({left ? i.a : m, left ? m : i.b, true});
            continue;
        }
        if (count > 1 || i.b - i.a > width) {
            Rational m = (i.a + i.b) / 2;
            while (value(f, m) == 0) m = (m + i.b) / 2;
            stack.push_back({m, i.b});
            stack.push_back({i.a, m});
            continue;
        }
        // In [0, 1]? t and 1 - t at the root.
        if (tarski(f, {Rational(0), Rational(1)}, i.a, i.b) < 0 || tarski(f, {Rational(1), Rational(-1)}, i.a, i.b) < 0)
            continue;
        if (!contact(i.a, i.b)) continue;
        answer.hit = true;
        answer.from = i.a;
        answer.to = i.b;
        return answer;
    }
    return answer;
}

}  // namespace quadrat::test
