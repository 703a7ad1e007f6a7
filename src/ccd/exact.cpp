// The coordinates are scaled to integers; all that follows is polynomials in t with integer coefficients.
//
// Vertex-face: with A, B, C the corners seen from the vertex, contact means 0 in the hull of A, B, C. It needs
// f = det(A, B, C) = 0. At a root of f the vectors B x C, C x A, A x B are parallel; if they are not all zero, there is contact if
// and only if no two of them are opposite, and any component in which one of them is not zero shows it. If all are zero, the
// four points are on a line, and there is contact if and only if one of A.B, B.C, C.A is <= 0.
//
// Edge-edge: with u, v the edges and d from the start of the first to the start of the second, f = det(u, v, d); the parallel vectors
// are d x v, (u - d) x v, d x u, u x (v + d) (the sides on which the ends of each edge lie of the other), and on a line one end
// must be inside the other edge: one of four dot products <= 0.
//
// If f is identically zero (planar motion, and every degenerate one), the state changes only at roots of those quadratics: the first
// contact is at 0 or at one of them.
#include "ccd/exact.hpp"

#include "ccd/polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace quadrat::ccd {
namespace {

constexpr double no_impact = std::numeric_limits<double>::infinity();

// The exponent of the lowest bit of x != 0.
int lowest_bit(double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    const int e = static_cast<int>(bits >> 52 & 0x7ff);
    std::uint64_t m = bits & 0xfffffffffffffull;
    if (e != 0) m |= 0x10000000000000ull;
    int zeros = 0;
    while ((m & 1) == 0) {
        m >>= 1;
        ++zeros;
    }
    return std::max(e, 1) - 1075 + zeros;
}

// a + t b, per component.
struct Linear {
    BigInt a[3];
    BigInt b[3];
};

Polynomial product(const Linear& x, int i, const Linear& y, int j) {
    Polynomial r;
    r.c[0] = x.a[i] * y.a[j];
    r.c[1] = x.a[i] * y.b[j];
    r.c[1].add_product(x.b[i], y.a[j]);
    r.c[2] = x.b[i] * y.b[j];
    return r;
}

Polynomial dot(const Linear& x, const Linear& y) {
    Polynomial r;
    for (int k = 0; k < 3; ++k) {
        const Polynomial p = product(x, k, y, k);
        for (int i = 0; i < 3; ++i) r.c[i] += p.c[i];
    }
    r.set_degree(2);
    return r;
}

Polynomial cross(const Linear& x, const Linear& y, int k) {
    Polynomial r = product(x, (k + 1) % 3, y, (k + 2) % 3);
    const Polynomial s = product(x, (k + 2) % 3, y, (k + 1) % 3);
    for (int i = 0; i < 3; ++i) r.c[i] -= s.c[i];
    r.set_degree(2);
    return r;
}

Linear operator+(const Linear& x, const Linear& y) {
    Linear r;
    for (int k = 0; k < 3; ++k) {
        r.a[k] = x.a[k] + y.a[k];
        r.b[k] = x.b[k] + y.b[k];
    }
    return r;
}

class ExactQuery {
  public:
    ExactQuery(ImpactKind kind, const FourPoints& start, const FourPoints& end) : faces_(kind == ImpactKind::vertex_face) {
        int exponent = 1 << 20;
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < 3; ++k)
                for (const double x : {start[i][k], end[i][k]})
                    if (x != 0) exponent = std::min(exponent, lowest_bit(x));
        const auto difference = [&](Linear& r, std::size_t i, std::size_t j) {
            for (int k = 0; k < 3; ++k) {
                r.a[k] = BigInt::from_double(start[i][k], exponent) - BigInt::from_double(start[j][k], exponent);
                r.b[k] = BigInt::from_double(end[i][k], exponent) - BigInt::from_double(end[j][k], exponent) - r.a[k];
            }
        };
        difference(x_, 1, 0);
        difference(y_, faces_ ? 2 : 3, faces_ ? 0 : 2);
        difference(z_, faces_ ? 3 : 2, 0);
    }

    double first_contact(double tolerance) {
        Polynomial f;
        for (int k = 0; k < 3; ++k) {
            const Polynomial n = cross(y_, z_, k);
            for (int i = 0; i < 3; ++i) {
                if (n.c[i].sign() == 0) continue;
                f.c[i].add_product(n.c[i], x_.a[k]);
                f.c[i + 1].add_product(n.c[i], x_.b[k]);
            }
        }
        f.set_degree(3);
        std::vector<Root> roots;
        if (f.degree >= 0) {
            find_roots(f, tolerance, roots);
        } else {
            roots.reserve(40);
            Root zero;
            zero.d = 1;
            if (contact_at(zero)) return 0;
            for (int k = 0; k < 3; ++k)
                for (const Polynomial& g : sides(k))
                    if (g.degree > 0) find_roots(g, tolerance, roots);
            for (const Polynomial& g : overlaps())
                if (g.degree > 0) find_roots(g, tolerance, roots);
            std::stable_sort(roots.begin(), roots.end(), [](const Root& a, const Root& b) { return a.lower < b.lower; });
        }
        for (const Root& root : roots)
            if (contact_at(root)) return root.lower;
        return no_impact;
    }

  private:
    // Component k of the parallel vectors.
    const std::vector<Polynomial>& sides(int k) {
        auto& g = sides_[k];
        if (!g.empty()) return g;
        if (faces_) {
            g.push_back(cross(y_, z_, k));
            g.push_back(cross(z_, x_, k));
            g.push_back(cross(x_, y_, k));
        } else {  // u = x, v = y, d = z; the second and fourth are u x v minus the first and third
            const Polynomial w = cross(x_, y_, k);
            for (int i = 0; i < 2; ++i) {
                g.push_back(cross(z_, i == 0 ? y_ : x_, k));
                Polynomial rest = w;
                for (int j = 0; j < 3; ++j) rest.c[j] -= g.back().c[j];
                rest.set_degree(2);
                g.push_back(std::move(rest));
            }
        }
        return g;
    }

    const std::vector<Polynomial>& overlaps() {
        if (!overlaps_.empty()) return overlaps_;
        if (faces_) {
            overlaps_.push_back(dot(x_, y_));
            overlaps_.push_back(dot(y_, z_));
            overlaps_.push_back(dot(z_, x_));
        } else {
            Linear back = x_;  // d - u
            for (int k = 0; k < 3; ++k) {
                back.a[k] = z_.a[k] - x_.a[k];
                back.b[k] = z_.b[k] - x_.b[k];
            }
            const Linear far = z_ + y_;     // d + v
            const Linear both = back + y_;  // d + v - u
            overlaps_.push_back(dot(z_, far));
            overlaps_.push_back(dot(back, both));
            overlaps_.push_back(dot(z_, back));
            overlaps_.push_back(dot(far, both));
        }
        return overlaps_;
    }

    // Given that f vanishes at the root.
    bool contact_at(const Root& root) {
        for (int k = 0; k < 3; ++k) {
            int seen = 0;
            for (const Polynomial& g : sides(k)) {
                const int s = sign_at(g, root);
                if (s != 0 && seen == -s) return false;
                if (s != 0) seen = s;
            }
            if (seen != 0) return true;
        }
        for (const Polynomial& g : overlaps())
            if (sign_at(g, root) <= 0) return true;
        return false;
    }

    bool faces_;
    Linear x_, y_, z_;
    std::vector<Polynomial> sides_[3];
    std::vector<Polynomial> overlaps_;
};

}  // namespace

double exact_impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance) {
    return ExactQuery(kind, start, end).first_contact(tolerance);
}

}  // namespace quadrat::ccd
