// The coordinates are scaled to integers; all that follows is polynomials in t with integer coefficients.
//
// Vertex-face: with A, B, C the corners seen from the vertex, contact means 0 in the hull of A, B, C. It needs
// f = det(A, B, C) = 0. At a root of f the vectors B x C, C x A, A x B are parallel; if they are not all zero, there is
// contact if and only if no two of them are opposite, and any component in which one of them is not zero shows it. If
// all are zero, the four points are on a line, and there is contact if and only if one of A.B, B.C, C.A is <= 0.
//
// Edge-edge: with u, v the edges and d from the start of the first to the start of the second, f = det(u, v, d); the
// parallel vectors are d x v, (u - d) x v, d x u, u x (v + d) (the sides on which the ends of each edge lie of the
// other), and on a line one end must be inside the other edge: one of four dot products <= 0.
//
// If f is identically zero (planar motion, and every degenerate one), the state changes only at roots of those
// quadratics: the first contact is at 0 or at one of them.
#include "ccd/exact.hpp"

#include "ccd/filter.hpp"
#include "ccd/polynomial.hpp"
#include "ccd/quadratic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace quadrat::ccd {
namespace {

// The exponent of the lowest bit of x != 0.
int lowest_bit(double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    const int e = static_cast<int>(bits >> 52 & 0x7ff);
    std::uint64_t m = bits & 0xfffffffffffffull;
    if (e != 0) m |= 0x10000000000000ull;
    return std::max(e, 1) - 1075 + std::countr_zero(m);
}

// a + t b, per component.
struct Linear {
    BigInt a[3];
    BigInt b[3];
};

void dot(const Linear& x, const Linear& y, Polynomial& r) {
    for (int k = 0; k < 3; ++k) {
        r.c[0].add_product(x.a[k], y.a[k]);
        r.c[1].add_product(x.a[k], y.b[k]);
        r.c[1].add_product(x.b[k], y.a[k]);
        r.c[2].add_product(x.b[k], y.b[k]);
    }
    r.set_degree(2);
}

void cross(const Linear& x, const Linear& y, int k, Polynomial& r) {
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    r.c[0].add_product(x.a[i], y.a[j]);
    r.c[0].subtract_product(x.a[j], y.a[i]);
    r.c[1].add_product(x.a[i], y.b[j]);
    r.c[1].add_product(x.b[i], y.a[j]);
    r.c[1].subtract_product(x.a[j], y.b[i]);
    r.c[1].subtract_product(x.b[j], y.a[i]);
    r.c[2].add_product(x.b[i], y.b[j]);
    r.c[2].subtract_product(x.b[j], y.b[i]);
    r.set_degree(2);
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
    ExactQuery(ImpactKind kind, const FourPoints& start, const FourPoints& end)
        : faces_(kind == ImpactKind::vertex_face), rough_(kind, start, end) {
        int exponent = 1 << 20;
        for (const FourPoints* p : {&start, &end})
            for (const Vec3d& v : *p)
                for (const double x : v.v)
                    if (x != 0) exponent = std::min(exponent, lowest_bit(x));
        const auto difference = [&](Linear& r, std::size_t i, std::size_t j) {
            for (int k = 0; k < 3; ++k) {
                r.a[k] = BigInt::from_double(start[i][k], exponent);
                r.a[k] -= BigInt::from_double(start[j][k], exponent);
                r.b[k] = BigInt::from_double(end[i][k], exponent);
                r.b[k] -= BigInt::from_double(end[j][k], exponent);
                r.b[k] -= r.a[k];
            }
        };
        difference(x_, 1, 0);
        difference(y_, faces_ ? 2 : 3, faces_ ? 0 : 2);
        difference(z_, faces_ ? 3 : 2, 0);
    }

    double first_contact(double tolerance) {
        for (int k = 0; k < 3; ++k) {
            Polynomial n;
            cross(y_, z_, k, n);
            for (int i = 0; i < 3; ++i) {
                f_.c[i].add_product(n.c[i], x_.a[k]);
                f_.c[i + 1].add_product(n.c[i], x_.b[k]);
            }
        }
        f_.set_degree(3);
        const Ignore outside = {[](void* rough, double s, double e) {
                                    return static_cast<SideConditions*>(rough)->inside(s, e, false) == Inside::no;
                                },
                                &rough_};
        std::vector<Root> roots;
        if (f_.degree >= 0) {
            roots.reserve(4);
            find_roots(f_, tolerance, outside, roots);
        } else {
            roots.reserve(40);
            Root zero;
            zero.d = 1;
            if (contact_at(zero)) return 0;
            for (int k = 0; k < 3; ++k)
                for (int i = 0; i < count(); ++i)
                    if (side(k, i).degree > 0) find_roots(side(k, i), tolerance, outside, roots);
            for (int i = 0; i < count(); ++i)
                if (overlap(i).degree > 0) find_roots(overlap(i), tolerance, outside, roots);
            std::stable_sort(roots.begin(), roots.end(),
                             [](const Root& a, const Root& b) { return a.lower < b.lower; });
        }
        for (const Root& root : roots)
            if (contact_at(root)) return root.lower;
        return no_impact;
    }

  private:
    [[nodiscard]] int count() const { return faces_ ? 3 : 4; }

    // Component k of the i-th parallel vector.
    const Polynomial& side(int k, int i) {
        Polynomial& g = side_[k][i];
        if (have_side_[k][i]) return g;
        have_side_[k][i] = true;
        if (faces_) {
            const Linear* v[3] = {&x_, &y_, &z_};
            cross(*v[(i + 1) % 3], *v[(i + 2) % 3], k, g);
        } else if (i % 2 == 0) {  // u = x, v = y, d = z
            cross(z_, i == 0 ? y_ : x_, k, g);
        } else {  // u x v minus the one before
            cross(x_, y_, k, g);
            const Polynomial& one = side(k, i == 1 ? 0 : 2);
            for (int j = 0; j < 3; ++j) g.c[j] -= one.c[j];
            g.set_degree(2);
        }
        return g;
    }

    const Polynomial& overlap(int i) {
        Polynomial& g = overlap_[i];
        if (have_overlap_[i]) return g;
        have_overlap_[i] = true;
        if (faces_) {
            const Linear* v[3] = {&x_, &y_, &z_};
            dot(*v[i], *v[(i + 1) % 3], g);
            return g;
        }
        Linear back;  // d - u
        for (int k = 0; k < 3; ++k) {
            back.a[k] = z_.a[k] - x_.a[k];
            back.b[k] = z_.b[k] - x_.b[k];
        }
        // (d, d + v), (d - u, d + v - u), (d, d - u), (d + v, d + v - u)
        dot(i == 0 || i == 2 ? z_ : i == 1 ? back : z_ + y_, i == 0 ? z_ + y_ : i == 2 ? back : back + y_, g);
        return g;
    }

    int side_sign(int k, int i, const Root& root) {
        const double upper = std::min(1.0, root.lower + 0x1p-40);
        const int s = root.narrow ? rough_.sign(k, i, root.lower, upper, true) : 0;
        return s != 0 ? s : sign_at(side(k, i), root);
    }

    // Given that f vanishes at the root.
    bool contact_at(const Root& root) {
        for (int k = 0; k < 3; ++k) {
            int seen = 0;
            for (int i = 0; i < count(); ++i) {
                const int s = side_sign(k, i, root);
                if (s != 0 && seen == -s) return false;
                if (s != 0) seen = s;
            }
            if (seen != 0) return true;
        }
        for (int i = 0; i < count(); ++i)
            if (sign_at(overlap(i), root) <= 0) return true;
        return false;
    }

    bool faces_;
    SideConditions rough_;
    Linear x_, y_, z_;
    Polynomial f_;
    Polynomial side_[3][4];
    Polynomial overlap_[4];
    bool have_side_[3][4] = {};
    bool have_overlap_[4] = {};
};

}  // namespace

double exact_impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance) {
    return ExactQuery(kind, start, end).first_contact(tolerance);
}

}  // namespace quadrat::ccd
