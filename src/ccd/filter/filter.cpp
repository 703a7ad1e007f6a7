// Three tests, each certain when it answers (docs/reference/ccd.md, "The stages"):
//  1. a fixed direction w with w . x > 0 for all difference vectors x of the two features at both ends of the step:
//     they are apart during all of it, because the differences move on straight lines;
//  2. the Bernstein coefficients of the coplanarity cubic, all beyond the error bound on one side;
//  3. the step cut into intervals; each is free of roots by (2), or its side conditions exclude contact, or it brackets
//     a root so narrowly that the side conditions, bounded over the bracket, accept or reject.
// (3) runs with coefficients computed in double and, where that ends in doubt, with coefficients rounded from exact
// integers, whose errors are relative to themselves and not to the terms that cancelled in them.
// Vertex-face and edge-edge differ only in which vectors the cubic and the side conditions are made of.
#include "ccd/filter/filter.hpp"

#include "base/assert.hpp"
#include "ccd/filter/quadratic.hpp"

namespace quadrat::ccd {
namespace {

// A difference vector at both ends of the step.
struct Difference {
    Vec3d p[2];
};

Difference difference(const FourPoints& start, const FourPoints& end, std::size_t i, std::size_t j) {
    return {{start[i] - start[j], end[i] - end[j]}};
}

bool separates(const Vec3d& w, const Difference* x, int count) {
    const double bound = separation_error * (std::fabs(w[0]) + std::fabs(w[1]) + std::fabs(w[2]));
    for (int i = 0; i < count; ++i)
        for (const Vec3d& p : x[i].p) {
            const double error = bound * ccd::largest(p);
            if (!(dot(w, p) > error + separation_floor && error < separation_ceiling)) return false;
        }
    return true;
}

// A coordinate axis along which all vectors point the same way. Exact: the sign of a difference is never rounded away.
bool axis_separates(const Difference* x, int count) {
    for (int k = 0; k < 3; ++k) {
        double lo = x[0].p[0][k];
        double hi = lo;
        for (int i = 0; i < count; ++i)
            for (const Vec3d& p : x[i].p) {
                lo = std::min(lo, p[k]);
                hi = std::max(hi, p[k]);
            }
        if (lo > 0 || hi < 0) return true;
    }
    return false;
}

// Looks for a separating direction by Gilbert's method: w walks towards the point of the hull that is closest to the
// origin.
bool some_direction_separates(const Difference* x, int count) {
    Vec3d w = x[0].p[0];
    for (int i = 0; i < count; ++i) w = w + (x[i].p[0] + x[i].p[1]);
    w = (1.0 / (2 * count + 1)) * w;
    for (int round = 0; round < 6; ++round) {
        const Vec3d* worst = nullptr;
        double least = no_impact;
        for (int i = 0; i < count; ++i)
            for (const Vec3d& p : x[i].p) {
                const double d = dot(w, p);
                if (d < least) {
                    least = d;
                    worst = &p;
                }
            }
        if (!worst) return false;
        if (least > 0 && separates(w, x, count)) return true;
        const Vec3d step = *worst - w;
        const double length = dot(step, step);
        const double lambda = -dot(w, step) / length;
        if (!(lambda > 0x1p-30)) return false;
        w = w + std::min(lambda, 1.0) * step;
    }
    return false;
}

struct Cubic {
    double b[4];

    // x . (y cross z); false if the sizes are out of range. error becomes the bound for any value on [0, 1].
    bool set(const Moving& x, const Moving& y, const Moving& z, double& error) {
        const Vec3d mx = x.sizes(), my = y.sizes(), mz = z.sizes();
        if (!(std::max({ccd::largest(mx), ccd::largest(my), ccd::largest(mz)}) <= largest_size)) return false;
        const double permanent = mx[0] * (my[1] * mz[2] + my[2] * mz[1]) + mx[1] * (my[2] * mz[0] + my[0] * mz[2]) +
                                 mx[2] * (my[0] * mz[1] + my[1] * mz[0]);
        error = cubic_steps * roundoff * permanent + underflow_floor;
        const Vec3d n00 = cross(y.p[0], z.p[0]);
        const Vec3d n01 = cross(y.p[0], z.p[1]) + cross(y.p[1], z.p[0]);
        const Vec3d n11 = cross(y.p[1], z.p[1]);
        constexpr double third = 1.0 / 3.0;
        b[0] = dot(x.p[0], n00);
        b[1] = (dot(x.p[1], n00) + dot(x.p[0], n01)) * third;
        b[2] = (dot(x.p[0], n11) + dot(x.p[1], n01)) * third;
        b[3] = dot(x.p[1], n11);
        return true;
    }

    // 3 times the cubic.
    double set(const ExactCoefficients::CubicForm& f) {
        b[0] = 3 * f.b0.to_double();
        b[1] = f.b1.to_double();
        b[2] = f.b2.to_double();
        b[3] = 3 * f.b3.to_double();
        return exact_cubic_steps * roundoff * size();
    }

    [[nodiscard]] double size() const {
        return std::max({std::fabs(b[0]), std::fabs(b[1]), std::fabs(b[2]), std::fabs(b[3])});
    }

    [[nodiscard]] bool clear(double error) const {
        return (b[0] > error && b[1] > error && b[2] > error && b[3] > error) ||
               (b[0] < -error && b[1] < -error && b[2] < -error && b[3] < -error);
    }

    // The value at t, by de Casteljau.
    [[nodiscard]] double at(double t) const {
        const double t1 = 1 - t;
        const double p = b[0] * t1 + b[1] * t, q = b[1] * t1 + b[2] * t, r = b[2] * t1 + b[3] * t;
        return (p * t1 + q * t) * t1 + (q * t1 + r * t) * t;
    }

    // 1 or -1 if the polynomial certainly rises or falls all the way.
    [[nodiscard]] int monotone(double error) const {
        const double d[3] = {b[1] - b[0], b[2] - b[1], b[3] - b[2]};
        const double e = 2 * error;
        if (d[0] > e && d[1] > e && d[2] > e) return 1;
        if (d[0] < -e && d[1] < -e && d[2] < -e) return -1;
        return 0;
    }

    // The coefficients on [s, e], by blossoming.
    [[nodiscard]] Cubic part(double s, double e) const {
        QUADRAT_ASSERT(0 <= s && s <= e && e <= 1);
        const double s1 = 1 - s;
        const double e1 = 1 - e;
        const double as = b[0] * s1 + b[1] * s, bs = b[1] * s1 + b[2] * s, cs = b[2] * s1 + b[3] * s;
        const double ae = b[0] * e1 + b[1] * e, be = b[1] * e1 + b[2] * e, ce = b[2] * e1 + b[3] * e;
        const double ass = as * s1 + bs * s, bss = bs * s1 + cs * s;
        const double aee = ae * e1 + be * e, bee = be * e1 + ce * e;
        return {{ass * s1 + bss * s, ass * e1 + bss * e, aee * s1 + bee * s, aee * e1 + bee * e}};
    }
};

int sign(double x, double error) {
    return x > error ? 1 : x < -error ? -1 : 0;
}

// The first contact of the step, by cutting it. f has values within the error.
class Search {
  public:
    Search(const Cubic& f, double error, SideConditions& sides, double tolerance)
        : f_(f), error_(error), sides_(sides), tolerance_(tolerance) {}

    // The signs at 0 and 1, where they are certain.
    Verdict run(int start, int end, double& time) {
        // A cubic that vanishes within its error cannot be decided by cutting: only the side conditions could exclude
        // contact.
        if (f_.size() <= error_) return sides_.inside(0, 1) == Inside::no ? Verdict::miss : Verdict::unknown;
        return interval(0, 1, start, end, f_, time);
    }

  private:
    // All of [s, e]; f holds the cubic's coefficients there.
    Verdict interval(double s, double e, int start, int end, const Cubic& f, double& time) {
        if (f.clear(error_)) return Verdict::miss;
        if (start * end < 0 && budget_ > 0) {  // a root for certain: around it the side conditions decide most often
            --budget_;
            const Verdict v = bracket(s, e, f, time);
            if (v != Verdict::unknown) return v;
            if (sides_.inside(s, e) == Inside::no) return Verdict::miss;
        } else {
            if (sides_.inside(s, e) == Inside::no) return Verdict::miss;
            if (--budget_ < 0) return Verdict::unknown;
        }
        if (e - s < 0x1p-6) return Verdict::unknown;
        const double m = 0.5 * (s + e);
        const Cubic left = f_.part(s, m);
        const int middle = sign(left.b[3], error_);
        const Verdict v = interval(s, m, start, middle, left, time);
        return v == Verdict::miss ? interval(m, e, middle, end, f_.part(m, e), time) : v;
    }

    // The ends of [s, e] have certain, opposite signs: finds the root in double, then proves where it is.
    Verdict bracket(double s, double e, const Cubic& f, double& time) {
        const auto& b = f.b;
        QUADRAT_ASSERT(s < e && (b[0] < 0) != (b[3] < 0));
        const double rounding = 4 * roundoff * f.size();
        double lo = 0;
        double hi = 1;
        double x = b[0] / (b[0] - b[3]);
        double slope = 0;
        for (int i = 0; i < 24; ++i) {
            const double y = 1 - x;
            const double p = b[0] * y + b[1] * x, q = b[1] * y + b[2] * x, r = b[2] * y + b[3] * x;
            const double pp = p * y + q * x, qq = q * y + r * x;
            const double value = pp * y + qq * x;
            slope = 3 * (qq - pp);
            ((value < 0) == (b[0] < 0) ? lo : hi) = x;
            if (std::fabs(value) <= rounding) break;
            const double next = x - value / slope;
            const double step = std::fabs(next - x);
            x = next > lo && next < hi ? next : 0.5 * (lo + hi);
            if (step < 0x1p-50) break;
        }
        const double width = e - s;
        const double delta = std::max(4 * (error_ + rounding) / std::fabs(slope) * width, 0x1p-48);
        if (!(2 * delta <= tolerance_)) return Verdict::unknown;
        const double t = s + x * width;
        const double l = std::max(s, t - delta);
        const double r = std::min(e, t + delta);
        // Free of roots before l and after r, with opposite signs: exactly the roots in [l, r] are left, and there is
        // one.
        const Inside inside = sides_.inside(l, r);
        if (inside == Inside::perhaps) {
            budget_ = 0;  // cutting will not help: the contact is on a border, as far as double can tell
            return Verdict::unknown;
        }
        if (const int direction = f.monotone(error_)) {  // then the values at l and r are enough
            if (l > s && sign(f_.at(l), error_) != -direction) return Verdict::unknown;
            if (r < e && sign(f_.at(r), error_) != direction) return Verdict::unknown;
        } else {
            if (l > s && !f_.part(s, l).clear(error_)) return Verdict::unknown;
            if (r < e && !f_.part(r, e).clear(error_)) return Verdict::unknown;
        }
        if (inside == Inside::no) return Verdict::miss;
        time = l;
        return Verdict::hit;
    }

    const Cubic& f_;
    double error_;
    SideConditions& sides_;
    double tolerance_;
    int budget_ = 4;
};

// Again, with coefficients whose signs are certain and whose values have a relative error. The ends of the step are
// decided exactly; a root there is divided out, which is exact on the coefficients, so that it cannot hide its
// neighbours.
Verdict refine(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance, SideConditions& sides,
               double& time) {
    const ExactCoefficients exact(kind, start, end);
    if (!exact.fits()) return Verdict::unknown;
    ExactCoefficients::CubicForm form = exact.cubic();
    Cubic f;
    double error = f.set(form);
    if (f.size() == 0) return Verdict::unknown;  // always coplanar
    sides.refine(exact);
    const bool at_start = f.b[0] == 0;
    const bool at_end = f.b[3] == 0;
    if (at_start) {
        const Inside inside = sides.inside_at(0);
        if (inside == Inside::yes) time = 0;
        if (inside != Inside::no) return inside == Inside::yes ? Verdict::hit : Verdict::unknown;
    }
    for (; f.b[0] == 0; error = f.set(form)) form = {form.b1, form.b1 + form.b2, form.b2 + form.b3, form.b3};
    for (; f.b[3] == 0; error = f.set(form)) form = {form.b0, form.b0 + form.b1, form.b1 + form.b2, form.b2};
    const auto [least, most] = std::minmax({f.b[0], f.b[1], f.b[2], f.b[3]});
    const bool no_root = least >= 0 || most <= 0;  // the first and the last are not 0
    const Verdict verdict =
        no_root ? Verdict::miss : Search(f, error, sides, tolerance).run(sign(f.b[0], 0), sign(f.b[3], 0), time);
    if (verdict != Verdict::miss || !at_end) return verdict;
    const Inside inside = sides.inside_at(1);
    if (inside == Inside::yes) time = 1;
    return inside == Inside::yes ? Verdict::hit : inside == Inside::no ? Verdict::miss : Verdict::unknown;
}

}  // namespace

Verdict filter_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance,
                      bool skip_separation, double& time) {
    QUADRAT_ASSERT(tolerance > 0);
    Difference d[4];
    int count = 0;
    const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
    if (!skip_separation) {
        for (std::size_t i = 0; i < first; ++i)
            for (std::size_t j = first; j < 4; ++j) d[count++] = difference(start, end, j, i);
        Vec3d w = d[0].p[0] + d[0].p[1];
        for (int i = 1; i < count; ++i) w = w + (d[i].p[0] + d[i].p[1]);
        if (separates(w, d, count) || axis_separates(d, count)) return Verdict::separated;
    }
    const auto& vectors = query_vectors[first - 1].cubic;
    Cubic f;
    double error = 0;
    if (!f.set(Moving::difference(start, end, vectors[0]), Moving::difference(start, end, vectors[1]),
               Moving::difference(start, end, vectors[2]), error))
        return Verdict::unknown;
    if (f.clear(error)) return Verdict::cubic;
    if (!skip_separation && some_direction_separates(d, count)) return Verdict::separated;
    SideConditions sides(kind, start, end);
    const Verdict verdict = Search(f, error, sides, tolerance).run(sign(f.b[0], error), sign(f.b[3], error), time);
    return verdict != Verdict::unknown ? verdict : refine(kind, start, end, tolerance, sides, time);
}

}  // namespace quadrat::ccd
