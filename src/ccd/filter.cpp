// Three tests, each certain when it answers (docs/ccd.md, "The filter"):
//  1. a fixed direction w with w . x > 0 for all difference vectors x of the two features at both ends of the step: the
//  features
//     are apart during all of it, because the differences move on straight lines;
//  2. the Bernstein coefficients of the coplanarity cubic, all beyond the error bound on one side;
//  3. the step cut into intervals; each is free of roots by (2), or its side conditions exclude contact, or it brackets
//  a root
//     so narrowly that the side conditions, bounded over the bracket, accept or reject.
// Vertex-face and edge-edge differ only in which vectors the cubic and the side conditions are made of.
#include "ccd/filter.hpp"

#include "ccd/quadratic.hpp"

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

template <class T>
struct Cubic {
    T b[4];

    // x . (y cross z); false if the sizes are out of range. error becomes the bound for any value on [0, 1].
    bool set(const Moving<T>& x, const Moving<T>& y, const Moving<T>& z, double& error) {
        const double mx = x.largest(), my = y.largest(), mz = z.largest();
        if (!(std::min({mx, my, mz}) >= smallest_size && std::max({mx, my, mz}) <= largest_size)) return false;
        error = cubic_steps * Arithmetic<T>::unit * mx * my * mz;
        T n00[3], n01[3], n11[3];
        for (int k = 0; k < 3; ++k) {
            const int i = (k + 1) % 3;
            const int j = (k + 2) % 3;
            n00[k] = y.p[0][i] * z.p[0][j] - y.p[0][j] * z.p[0][i];
            n01[k] = (y.p[0][i] * z.p[1][j] - y.p[0][j] * z.p[1][i]) + (y.p[1][i] * z.p[0][j] - y.p[1][j] * z.p[0][i]);
            n11[k] = y.p[1][i] * z.p[1][j] - y.p[1][j] * z.p[1][i];
        }
        const auto along = [](const T(&v)[3], const T(&n)[3]) { return v[0] * n[0] + v[1] * n[1] + v[2] * n[2]; };
        const T third = Arithmetic<T>::third();
        b[0] = along(x.p[0], n00);
        b[1] = (along(x.p[1], n00) + along(x.p[0], n01)) * third;
        b[2] = (along(x.p[0], n11) + along(x.p[1], n01)) * third;
        b[3] = along(x.p[1], n11);
        return true;
    }

    [[nodiscard]] bool clear(double error) const {
        const T e = error;
        const T m = -error;
        return (b[0] > e && b[1] > e && b[2] > e && b[3] > e) || (b[0] < m && b[1] < m && b[2] < m && b[3] < m);
    }

    // The value at t, by de Casteljau.
    [[nodiscard]] T at(double t) const {
        const T tt = t;
        const T t1 = Arithmetic<T>::difference(1, t);
        const T p = b[0] * t1 + b[1] * tt, q = b[1] * t1 + b[2] * tt, r = b[2] * t1 + b[3] * tt;
        return (p * t1 + q * tt) * t1 + (q * t1 + r * tt) * tt;
    }

    // 1 or -1 if the polynomial certainly rises or falls all the way.
    [[nodiscard]] int monotone(double error) const {
        const T e = 2 * error;
        const T m = -2 * error;
        const T d[3] = {b[1] - b[0], b[2] - b[1], b[3] - b[2]};
        if (d[0] > e && d[1] > e && d[2] > e) return 1;
        if (d[0] < m && d[1] < m && d[2] < m) return -1;
        return 0;
    }

    // The coefficients on [s, e], by blossoming.
    [[nodiscard]] Cubic part(double s, double e) const {
        const T ts = s;
        const T te = e;
        const T s1 = Arithmetic<T>::difference(1, s);
        const T e1 = Arithmetic<T>::difference(1, e);
        const T as = b[0] * s1 + b[1] * ts, bs = b[1] * s1 + b[2] * ts, cs = b[2] * s1 + b[3] * ts;
        const T ae = b[0] * e1 + b[1] * te, be = b[1] * e1 + b[2] * te, ce = b[2] * e1 + b[3] * te;
        const T ass = as * s1 + bs * ts, bss = bs * s1 + cs * ts;
        const T aee = ae * e1 + be * te, bee = be * e1 + ce * te;
        return {{ass * s1 + bss * ts, ass * e1 + bss * te, aee * s1 + bee * ts, aee * e1 + bee * te}};
    }
};

template <class T>
class Search {
  public:
    Search(const Cubic<T>& f, double error, SideConditions& sides, double tolerance)
        : f_(f), error_(error), sides_(sides), tolerance_(tolerance) {}

    Verdict run(double& time) {
        // A cubic that vanishes within its error cannot be decided by cutting: only the side conditions could exclude
        // contact.
        const T plus = error_;
        const T minus = -error_;
        bool flat = true;
        for (const T& b : f_.b) flat &= !(b > plus) && !(b < minus);
        if (flat) return sides_.inside(0, 1, false) == Inside::no ? Verdict::miss : Verdict::unknown;
        return interval(0, 1, f_, time);
    }

  private:
    // All of [s, e]; f holds the cubic's coefficients there.
    Verdict interval(double s, double e, const Cubic<T>& f, double& time) {
        if (f.clear(error_)) return Verdict::miss;
        if (sides_.inside(s, e, false) == Inside::no) return Verdict::miss;
        if (--budget_ < 0) return Verdict::unknown;
        const T plus = error_;
        const T minus = -error_;
        if ((f.b[0] < minus && f.b[3] > plus) || (f.b[0] > plus && f.b[3] < minus)) {
            const Verdict v = bracket(s, e, f, time);
            if (v != Verdict::unknown) return v;
        }
        if (e - s < 0x1p-6) return Verdict::unknown;
        const double m = 0.5 * (s + e);
        const Verdict v = interval(s, m, f_.part(s, m), time);
        return v == Verdict::miss ? interval(m, e, f_.part(m, e), time) : v;
    }

    // The ends of [s, e] have certain, opposite signs: finds the root in double, then proves where it is.
    Verdict bracket(double s, double e, const Cubic<T>& f, double& time) {
        const double b[4] = {static_cast<double>(f.b[0]), static_cast<double>(f.b[1]), static_cast<double>(f.b[2]),
                             static_cast<double>(f.b[3])};
        const double rounding =
            4 * roundoff * std::max({std::fabs(b[0]), std::fabs(b[1]), std::fabs(b[2]), std::fabs(b[3])});
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
        const Inside inside = sides_.inside(l, r, sizeof(T) > sizeof(double));
        if (inside == Inside::perhaps) {
            budget_ = 0;  // cutting will not help: the contact is on a border, as far as T can tell
            return Verdict::unknown;
        }
        if (const int direction = f.monotone(error_)) {  // then the values at l and r are enough
            const T up = error_;
            const T down = -error_;
            const T at_l = f_.at(l);
            const T at_r = f_.at(r);
            if (l > s && !(direction > 0 ? at_l < down : at_l > up)) return Verdict::unknown;
            if (r < e && !(direction > 0 ? at_r > up : at_r < down)) return Verdict::unknown;
        } else {
            if (l > s && !f_.part(s, l).clear(error_)) return Verdict::unknown;
            if (r < e && !f_.part(r, e).clear(error_)) return Verdict::unknown;
        }
        if (inside == Inside::no) return Verdict::miss;
        time = l;
        return Verdict::hit;
    }

    const Cubic<T>& f_;
    double error_;
    SideConditions& sides_;
    double tolerance_;
    int budget_ = sizeof(T) > sizeof(double) ? 6 : 4;
};

// The vectors of the cubic.
template <class T>
bool set_cubic(ImpactKind kind, const FourPoints& start, const FourPoints& end, Cubic<T>& f, double& error) {
    const bool faces = kind == ImpactKind::vertex_face;
    return f.set(Moving<T>::difference(start, end, 1, 0),
                 Moving<T>::difference(start, end, faces ? 2 : 3, faces ? 0 : 2),
                 Moving<T>::difference(start, end, faces ? 3 : 2, 0), error);
}

}  // namespace

Verdict filter_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance,
                      bool skip_separation, double& time) {
    Difference d[4];
    int count = 0;
    const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
    for (std::size_t i = 0; i < first; ++i)
        for (std::size_t j = first; j < 4; ++j) d[count++] = difference(start, end, j, i);
    if (!skip_separation) {
        Vec3d w = d[0].p[0] + d[0].p[1];
        for (int i = 1; i < count; ++i) w = w + (d[i].p[0] + d[i].p[1]);
        if (separates(w, d, count) || axis_separates(d, count)) return Verdict::separated;
    }
    Cubic<double> f;
    double error = 0;
    if (!set_cubic(kind, start, end, f, error)) return Verdict::unknown;
    if (f.clear(error)) return Verdict::cubic;
    if (some_direction_separates(d, count)) return Verdict::separated;
    SideConditions sides(kind, start, end);
    const Verdict verdict = Search<double>(f, error, sides, tolerance).run(time);
    if (verdict != Verdict::unknown) return verdict;
    Cubic<DoubleDouble> fine;
    if (!set_cubic(kind, start, end, fine, error)) return Verdict::unknown;
    return Search<DoubleDouble>(fine, error, sides, tolerance).run(time);
}

}  // namespace quadrat::ccd
