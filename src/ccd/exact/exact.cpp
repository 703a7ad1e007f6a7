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
// If f is identically zero (planar motion, and every degenerate one), the state changes only where one of those vectors
// vanishes, or on a line one of those dot products: the first contact is at 0 or at one of their roots.
#include "ccd/exact/exact.hpp"

#include "ccd/double_parts.hpp"
#include "ccd/exact/coefficients.hpp"
#include "ccd/exact/polynomial.hpp"
#include "ccd/filter/filter.hpp"
#include "ccd/filter/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace quadrat::ccd {
namespace {

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

Linear operator-(const Linear& x, const Linear& y) {
    Linear r;
    for (int k = 0; k < 3; ++k) {
        r.a[k] = x.a[k] - y.a[k];
        r.b[k] = x.b[k] - y.b[k];
    }
    return r;
}

BigInt big(const Int256& x) {
    const std::uint64_t w[4] = {static_cast<std::uint64_t>(x.lo), static_cast<std::uint64_t>(x.lo >> 64),
                                static_cast<std::uint64_t>(x.hi), static_cast<std::uint64_t>(x.hi >> 64)};
    return BigInt::from_words(w, 4);
}

BigInt big(const Int384& x) {
    const std::uint64_t w[6] = {static_cast<std::uint64_t>(x.lo),  static_cast<std::uint64_t>(x.lo >> 64),
                                static_cast<std::uint64_t>(x.mid), static_cast<std::uint64_t>(x.mid >> 64),
                                static_cast<std::uint64_t>(x.hi),  static_cast<std::uint64_t>(x.hi >> 64)};
    return BigInt::from_words(w, 6);
}

class ExactQuery {
  public:
    ExactQuery(ImpactKind kind, const FourPoints& start, const FourPoints& end)
        : faces_(kind == ImpactKind::vertex_face),
          start_(start),
          end_(end),
          exact_(kind, start, end),
          rough_(kind, start, end) {
        if (exact_.fits()) rough_.refine(exact_);
    }

    double first_contact(double tolerance) {
        set_cubic();
        const Ignore outside = {[](void* rough, double s, double e) {
                                    return static_cast<SideConditions*>(rough)->inside(s, e) == Inside::no;
                                },
                                &rough_};
        std::vector<Root> roots;
        if (f_.degree >= 0) {
            roots.reserve(4);
            find_roots(f_, tolerance, outside, roots);
        } else {
            roots.reserve(9);
            Root zero;
            zero.d = 1;
            if (contact_at(zero)) return 0;
            collect_changes(tolerance, outside, roots);
        }
        for (const Root& root : roots)
            if (contact_at(root)) return root.lower;
        return no_impact;
    }

  private:
    [[nodiscard]] int count() const { return faces_ ? 3 : 4; }

    // x, y, z of the cubic: A, B, C or u, v, d.
    const Linear& vector(int i) {
        if (!have_vectors_) {
            have_vectors_ = true;
            int exponent = 1 << 20;
            for (const FourPoints* p : {&start_, &end_})
                for (const Vec3d& v : *p)
                    for (const double x : v.v)
                        if (x != 0) exponent = std::min(exponent, lowest_bit(x));
            for (std::size_t n = 0; n < 3; ++n) {
                const VectorIds& v = query_vectors[faces_ ? 0 : 1].cubic[n];
                for (int k = 0; k < 3; ++k) {
                    BigInt& a = vectors_[n].a[k];
                    BigInt& b = vectors_[n].b[k];
                    a = BigInt::from_double(start_[v.i][k], exponent);
                    a -= BigInt::from_double(start_[v.j][k], exponent);
                    b = BigInt::from_double(end_[v.i][k], exponent);
                    b -= BigInt::from_double(end_[v.j][k], exponent);
                    b -= a;
                }
            }
        }
        return vectors_[i];
    }

    void set_cubic() {
        if (exact_.fits()) {  // from b0, 3 b1, 3 b2, b3 to powers of t
            const ExactCoefficients::CubicForm f = exact_.cubic();
            f_.c[0] = big(f.b0);
            f_.c[1] = big(f.b1 - f.b0 - f.b0 - f.b0);
            f_.c[2] = big(f.b2 - f.b1 - f.b1 + f.b0 + f.b0 + f.b0);
            f_.c[3] = big(f.b3 - f.b2 + f.b1 - f.b0);
        } else {
            for (int k = 0; k < 3; ++k) {
                Polynomial n;
                cross(vector(1), vector(2), k, n);
                for (int i = 0; i < 3; ++i) {
                    f_.c[i].add_product(n.c[i], vector(0).a[k]);
                    f_.c[i + 1].add_product(n.c[i], vector(0).b[k]);
                }
            }
        }
        f_.set_degree(3);
    }

    // When f is zero all the time: the times at which the state may change, in order. The parallel vectors are
    // multiples of one direction, and a multiple changes its sign only where its vector vanishes, so the roots of one
    // component of each, any that is not zero all the time, are enough. The dot products count only if all vectors
    // vanish all the time: if they do so at moments, those are among the roots.
    void collect_changes(double tolerance, const Ignore& outside, std::vector<Root>& roots) {
        bool line = true;
        for (int i = 0; i < count(); ++i) {
            int k = 0;
            while (k < 3 && side(k, i).degree < 0) ++k;
            if (k == 3) continue;
            line = false;
            for (int other = k + 1; other < 3 && side(k, i).degree > 0; ++other)
                if (side(other, i).degree >= 0 && side(other, i).degree < side(k, i).degree) k = other;
            if (side(k, i).degree > 0) find_roots(side(k, i), tolerance, outside, roots);
        }
        for (int i = 0; line && i < count(); ++i)
            if (overlap(i).degree > 0) find_roots(overlap(i), tolerance, outside, roots);
        std::stable_sort(roots.begin(), roots.end(), [](const Root& a, const Root& b) { return a.lower < b.lower; });
    }

    // Component k of the i-th parallel vector.
    const Polynomial& side(int k, int i) {
        std::optional<Polynomial>& g = side_[k][i];
        if (g) return *g;
        g.emplace();
        if (exact_.fits()) {
            const ExactCoefficients::QuadraticForm q = exact_.side(k, i);
            g->c[0] = big(q.q0);
            g->c[1] = big(q.q1 - q.q0 - q.q0);
            g->c[2] = big(q.q2 - q.q1 + q.q0);
            g->set_degree(2);
        } else if (faces_) {
            cross(vector((i + 1) % 3), vector((i + 2) % 3), k, *g);
        } else if (i % 2 == 0) {  // u = x, v = y, d = z
            cross(vector(2), vector(i == 0 ? 1 : 0), k, *g);
        } else {  // u x v minus the one before
            cross(vector(0), vector(1), k, *g);
            const Polynomial& one = side(k, i == 1 ? 0 : 2);
            for (int j = 0; j < 3; ++j) g->c[j] -= one.c[j];
            g->set_degree(2);
        }
        return *g;
    }

    const Polynomial& overlap(int i) {
        std::optional<Polynomial>& g = overlap_[i];
        if (g) return *g;
        g.emplace();
        if (faces_) {
            dot(vector(i), vector((i + 1) % 3), *g);
            return *g;
        }
        const Linear& u = vector(0);
        const Linear& v = vector(1);
        const Linear& d = vector(2);
        const Linear back = d - u;
        // (d, d + v), (d - u, d + v - u), (d, d - u), (d + v, d + v - u)
        dot(i == 0 || i == 2 ? d : i == 1 ? back : d + v, i == 0 ? d + v : i == 2 ? back : back + v, *g);
        return *g;
    }

    int side_sign(int k, int i, const Root& root) {
        const double upper = std::min(1.0, root.lower + 0x1p-40);
        const int s = root.narrow ? rough_.sign(k, i, root.lower, upper) : 0;
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
    const FourPoints& start_;
    const FourPoints& end_;
    ExactCoefficients exact_;
    SideConditions rough_;
    bool have_vectors_ = false;
    Linear vectors_[3];
    Polynomial f_;
    std::optional<Polynomial> side_[3][4];
    std::optional<Polynomial> overlap_[4];
};

}  // namespace

double exact_impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance) {
    return ExactQuery(kind, start, end).first_contact(tolerance);
}

}  // namespace quadrat::ccd
