#include "ccd/oracle.hpp"

#include <algorithm>
#include <array>
#include <optional>

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

// The signed remainder sequence of f and g, each up to a positive factor, and its sign changes at t.
std::vector<Poly> sequence(const Poly& f, const Poly& g) {
    std::vector<Poly> s = {f, g};
    while (!s.back().empty()) {
        Poly r = remainder(s[s.size() - 2], s.back());
        const Rational lead = r.empty() ? Rational(1) : abs(r.back());
        for (Rational& c : r) c /= -lead;
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

struct Contact {
    Rational from, to;
};

// Whether the features touch where f vanishes, by signs of polynomials at its roots.
class Conditions {
  public:
    explicit Conditions(const Scene& scene) : sides_(scene.kind == ImpactKind::vertex_face ? 3 : 4) {
        for (std::size_t i = 0; i < sides_; ++i)
            for (std::size_t j = i; j < sides_; ++j)
                products_.push_back(interpolate(4, [&](const Rational& t) {
                    const auto n = scene.normals(t);
                    return dot(n[i], n[j]);
                }));
        for (std::size_t i = 0; i < sides_; ++i) {
            overlaps_.push_back(interpolate(2, [&](const Rational& t) { return scene.overlaps(t)[i]; }));
            for (std::size_t k = 0; k < 3; ++k)
                components_.push_back(interpolate(2, [&](const Rational& t) { return scene.normals(t)[i][k]; }));
        }
    }

    // The polynomials at whose roots a planar configuration may change.
    [[nodiscard]] std::vector<Poly> all() const {
        std::vector<Poly> r = components_;
        r.insert(r.end(), overlaps_.begin(), overlaps_.end());
        return r;
    }

    // sign_of(p) is the sign of p at the time in question.
    template <class Sign>
    [[nodiscard]] bool contact(Sign&& sign_of) const {
        bool line = true;
        std::size_t k = 0;
        for (std::size_t i = 0; i < sides_; ++i)
            for (std::size_t j = i; j < sides_; ++j, ++k) {
                const int s = sign_of(products_[k]);
                if (s < 0) return false;  // two normals are opposite
                if (i == j && s != 0) line = false;
            }
        if (!line) return true;
        for (const Poly& p : overlaps_)
            if (sign_of(p) <= 0) return true;
        return false;
    }

  private:
    std::size_t sides_;
    std::vector<Poly> products_;  // of pairs of normals; squares: zero if the normal is
    std::vector<Poly> overlaps_;
    std::vector<Poly> components_;
};

// The first root of f in [0, 1] with contact, to within 1e-12.
std::optional<Contact> first_contact(const Poly& f, const Conditions& conditions) {
    const auto roots = sequence(f, derivative(f));
    // A little beyond [0, 1], so that the ends are no roots; roots outside do not count.
    Rational below(-1), above(2);
    while (value(f, below) == 0) below -= 1;
    while (value(f, above) == 0) above += 1;
    std::vector<Contact> stack = {{below, above}};
    const Rational width = Rational(1, 1000000) / 1000000;
    while (!stack.empty()) {
        Contact i = stack.back();
        stack.pop_back();
        const auto middle = [&] {
            Rational m = (i.from + i.to) / 2;
            while (value(f, m) == 0) m = (m + i.to) / 2;
            return m;
        };
        const int count = changes(roots, i.from) - changes(roots, i.to);
        if (count == 0) continue;
        if (count > 1) {
            const Rational m = middle();
            stack.push_back({m, i.to});
            stack.push_back({i.from, m});
            continue;
        }
        const auto sign_of = [&](const Poly& p) { return tarski(f, p, i.from, i.to); };
        if (sign_of({Rational(0), Rational(1)}) < 0 || sign_of({Rational(1), Rational(-1)}) < 0) continue;
        if (!conditions.contact(sign_of)) continue;
        while (i.to - i.from > width) {
            const Rational m = middle();
            const bool crossing = sign(value(f, i.from)) != sign(value(f, i.to));
            const bool left =
                crossing ? sign(value(f, m)) != sign(value(f, i.from)) : changes(roots, i.from) != changes(roots, m);
            (left ? i.to : i.from) = m;
        }
        return i;
    }
    return std::nullopt;
}

}  // namespace

OracleAnswer oracle(ImpactKind kind, const FourPoints& start, const FourPoints& end) {
    // Scaled to whole numbers, which are faster.
    Rational scale = 1;
    for (const FourPoints* p : {&start, &end})
        for (const Vec3d& v : *p)
            for (const double x : v.v) scale = std::max(scale, Rational(denominator(Rational(x))));
    Scene scene{kind, {}, {}};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            scene.start[i][k] = scale * Rational(start[i][static_cast<int>(k)]);
            scene.end[i][k] = scale * Rational(end[i][static_cast<int>(k)]);
        }
    OracleAnswer answer;
    const Poly f = interpolate(3, [&](const Rational& t) { return scene.volume(t); });
    const Conditions conditions(scene);
    answer.planar = f.empty();
    if (!answer.planar) {
        if (const auto c = first_contact(f, conditions)) answer = {false, true, c->from, c->to};
        return answer;
    }
    if (conditions.contact([](const Poly& p) { return p.empty() ? 0 : sign(p[0]); })) {
        answer.hit = true;
        return answer;
    }
    for (const Poly& p : conditions.all()) {
        if (p.size() < 2) continue;
        const auto c = first_contact(p, conditions);
        if (c && (!answer.hit || c->from < answer.from)) answer = {true, true, c->from, c->to};
    }
    return answer;
}

}  // namespace quadrat::test
