// Three tests, each certain when it answers (docs/ccd.md, "The filter"):
//  1. a fixed direction w with w . x > 0 for all difference vectors x of the two features at both ends of the step: the features
//     are apart during all of it, because the differences move on straight lines;
//  2. the Bernstein coefficients of the coplanarity cubic, all beyond the error bound on one side;
//  3. the step cut into intervals; each is free of roots by (2), or its side conditions exclude contact, or it brackets a root
//     so narrowly that the side conditions, bounded over the bracket, accept or reject.
// Vertex-face and edge-edge differ only in which vectors the cubic and the side conditions are made of.
#include "ccd/filter.hpp"

namespace quadrat::ccd {
namespace {

// A vector at both ends of the step.
struct Moving {
    Vec3d p[2];
};

Moving difference(const FourPoints& start, const FourPoints& end, std::size_t i, std::size_t j) {
    return {{start[i] - start[j], end[i] - end[j]}};
}

double largest(const Moving& x) { return std::max(ccd::largest(x.p[0]), ccd::largest(x.p[1])); }

bool separates(const Vec3d& w, const Moving* x, int count) {
    const double bound = separation_error * (std::fabs(w[0]) + std::fabs(w[1]) + std::fabs(w[2]));
    for (int i = 0; i < count; ++i)
        for (const Vec3d& p : x[i].p) {
            const double error = bound * ccd::largest(p);
            if (!(dot(w, p) > error + separation_floor && error < separation_ceiling)) return false;
        }
    return true;
}

// Bernstein coefficients on [0, 1] of component k of x cross y.
struct Quadratic {
    double q[3];

    void set(const Moving& x, const Moving& y, int i, int j) {
        q[0] = x.p[0][i] * y.p[0][j] - x.p[0][j] * y.p[0][i];
        q[1] = 0.5 * ((x.p[0][i] * y.p[1][j] - x.p[0][j] * y.p[1][i]) + (x.p[1][i] * y.p[0][j] - x.p[1][j] * y.p[0][i]));
        q[2] = x.p[1][i] * y.p[1][j] - x.p[1][j] * y.p[1][i];
    }
    // Bounds over [s, e].
    void range(double s, double e, double& lo, double& hi) const {
        const double s1 = 1 - s;
        const double e1 = 1 - e;
        const double ps = q[0] * s1 + q[1] * s;
        const double qs = q[1] * s1 + q[2] * s;
        const double a = ps * s1 + qs * s;
        const double b = ps * e1 + qs * e;
        const double c = (q[0] * e1 + q[1] * e) * e1 + (q[1] * e1 + q[2] * e) * e;
        lo = std::min({a, b, c});
        hi = std::max({a, b, c});
    }
};

struct Cubic {
    double b[4];

    [[nodiscard]] bool clear(double error) const {
        return std::min(std::min(b[0], b[1]), std::min(b[2], b[3])) > error ||
               std::max(std::max(b[0], b[1]), std::max(b[2], b[3])) < -error;
    }
    // The coefficients on [s, e], by blossoming.
    [[nodiscard]] Cubic part(double s, double e) const {
        const double s1 = 1 - s;
        const double e1 = 1 - e;
        const double as = b[0] * s1 + b[1] * s, bs = b[1] * s1 + b[2] * s, cs = b[2] * s1 + b[3] * s;
        const double ae = b[0] * e1 + b[1] * e, be = b[1] * e1 + b[2] * e, ce = b[2] * e1 + b[3] * e;
        const double ass = as * s1 + bs * s, bss = bs * s1 + cs * s;
        const double aee = ae * e1 + be * e, bee = be * e1 + ce * e;
        return {{ass * s1 + bss * s, ass * e1 + bss * e, aee * s1 + bee * s, aee * e1 + bee * e}};
    }
};

class Filter {
  public:
    Filter(const Moving& x, const Moving& y, const Moving& z, double tolerance)
        : x_(x), y_(y), z_(z), tolerance_(tolerance) {
        const double mx = largest(x), my = largest(y), mz = largest(z);
        usable_ = std::min({mx, my, mz}) >= smallest_size && std::max({mx, my, mz}) <= largest_size;
        error_ = cubic_error * mx * my * mz;
        mx_ = mx;
        my_ = my;
        mz_ = mz;
        const Vec3d n00 = cross(y.p[0], z.p[0]);
        const Vec3d n11 = cross(y.p[1], z.p[1]);
        const Vec3d n01 = cross(y.p[0], z.p[1]) + cross(y.p[1], z.p[0]);
        f_.b[0] = dot(x.p[0], n00);
        f_.b[1] = (dot(x.p[1], n00) + dot(x.p[0], n01)) * (1.0 / 3.0);
        f_.b[2] = (dot(x.p[0], n11) + dot(x.p[1], n01)) * (1.0 / 3.0);
        f_.b[3] = dot(x.p[1], n11);
    }

    [[nodiscard]] bool usable() const { return usable_; }
    [[nodiscard]] bool no_root() const { return f_.clear(error_); }

    Verdict run(bool faces, const Moving* sides, double& time) {
        // Side conditions, four per component at most; a comparison error is per family.
        count_ = faces ? 3 : 4;
        for (int k = 0; k < 3; ++k) {
            const int i = (k + 1) % 3;
            const int j = (k + 2) % 3;
            if (faces) {
                g_[k][0].set(y_, z_, i, j);
                g_[k][1].set(z_, x_, i, j);
                g_[k][2].set(x_, y_, i, j);
            } else {
                g_[k][0].set(z_, y_, i, j);
                g_[k][1].set(sides[0], y_, i, j);
                g_[k][2].set(z_, x_, i, j);
                g_[k][3].set(x_, sides[1], i, j);
            }
        }
        if (faces) {
            g_error_[0] = side_error * my_ * mz_;
            g_error_[1] = side_error * mz_ * mx_;
            g_error_[2] = side_error * mx_ * my_;
            g_error_[3] = 0;
        } else {
            g_error_[0] = side_error * mz_ * my_;
            g_error_[1] = side_error * largest(sides[0]) * my_;
            g_error_[2] = side_error * mz_ * mx_;
            g_error_[3] = side_error * mx_ * largest(sides[1]);
        }
        budget_ = 40;
        return interval(0, 1, f_, time);
    }

  private:
    enum class Inside { no, yes, perhaps };

    Inside inside(double s, double e) const {
        bool sure = false;
        for (int k = 0; k < 3; ++k) {
            bool positive = false;
            bool negative = false;
            int certain = 0;
            for (int i = 0; i < count_; ++i) {
                double lo = 0;
                double hi = 0;
                g_[k][i].range(s, e, lo, hi);
                const bool p = lo > g_error_[i];
                const bool n = hi < -g_error_[i];
                positive |= p;
                negative |= n;
                certain += p || n;
            }
            if (positive && negative) return Inside::no;
            sure |= certain == count_;
        }
        return sure ? Inside::yes : Inside::perhaps;
    }

    // All of [s, e]; f holds the cubic's coefficients there.
    Verdict interval(double s, double e, const Cubic& f, double& time) {
        if (f.clear(error_)) return Verdict::miss;
        if (inside(s, e) == Inside::no) return Verdict::miss;
        if (--budget_ < 0) return Verdict::unknown;
        const double b0 = f.b[0];
        const double b3 = f.b[3];
        if ((b0 < -error_ && b3 > error_) || (b0 > error_ && b3 < -error_)) {
            const Verdict v = bracket(s, e, f, time);
            if (v != Verdict::unknown) return v;
        }
        if (e - s < 0x1p-9) return Verdict::unknown;
        const double m = 0.5 * (s + e);
        const Verdict v = interval(s, m, f_.part(s, m), time);
        return v == Verdict::miss ? interval(m, e, f_.part(m, e), time) : v;
    }

    // The ends of [s, e] have certain, opposite signs.
    Verdict bracket(double s, double e, const Cubic& f, double& time) {
        double lo = 0;
        double hi = 1;
        double x = f.b[0] / (f.b[0] - f.b[3]);
        double slope = 0;
        for (int i = 0; i < 24; ++i) {
            const double y = 1 - x;
            const double p = f.b[0] * y + f.b[1] * x, q = f.b[1] * y + f.b[2] * x, r = f.b[2] * y + f.b[3] * x;
            const double pp = p * y + q * x, qq = q * y + r * x;
            const double value = pp * y + qq * x;
            slope = 3 * (qq - pp);
            ((value < 0) == (f.b[0] < 0) ? lo : hi) = x;
            if (std::fabs(value) <= error_) break;
            const double next = x - value / slope;
            const double step = std::fabs(next - x);
            x = next > lo && next < hi ? next : 0.5 * (lo + hi);
            if (step < 0x1p-50) break;
        }
        const double width = e - s;
        const double delta = std::max(4 * error_ / std::fabs(slope) * width, 0x1p-48);
        if (!(2 * delta <= tolerance_)) return Verdict::unknown;
        const double t = s + x * width;
        const double l = std::max(s, t - delta);
        const double r = std::min(e, t + delta);
        if (l > s && !f_.part(s, l).clear(error_)) return Verdict::unknown;
        // Before a hit only what is earlier matters; after a miss the rest must be free of roots too.
        switch (inside(l, r)) {
            case Inside::yes: {
                // a sign change over [l, r] is certain: [s, l] and e have certain signs, or the cubic is checked at r
                if (r < e && !f_.part(r, e).clear(error_)) return Verdict::unknown;
                time = l;
                return Verdict::hit;
            }
            case Inside::no:
                return r < e && !f_.part(r, e).clear(error_) ? Verdict::unknown : Verdict::miss;
            default:
                return Verdict::unknown;
        }
    }

    const Moving &x_, &y_, &z_;
    double tolerance_;
    double mx_ = 0, my_ = 0, mz_ = 0;
    double error_ = 0;
    double g_error_[4];
    Quadratic g_[3][4];
    Cubic f_;
    int count_ = 3;
    int budget_ = 0;
    bool usable_ = false;
};

}  // namespace

Verdict filter_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance,
                      bool skip_separation, double& time) {
    if (kind == ImpactKind::vertex_face) {
        const Moving x[3] = {difference(start, end, 1, 0), difference(start, end, 2, 0), difference(start, end, 3, 0)};
        if (!skip_separation) {
            const Vec3d w = (x[0].p[0] + x[1].p[0] + x[2].p[0]) + (x[0].p[1] + x[1].p[1] + x[2].p[1]);
            if (separates(w, x, 3)) return Verdict::separated;
        }
        Filter filter(x[0], x[1], x[2], tolerance);
        if (!filter.usable()) return Verdict::unknown;
        if (filter.no_root()) return Verdict::cubic;
        return filter.run(true, nullptr, time);
    }
    const Moving c[4] = {difference(start, end, 2, 0), difference(start, end, 3, 0), difference(start, end, 2, 1),
                         difference(start, end, 3, 1)};
    if (!skip_separation) {
        const Vec3d w = (c[0].p[0] + c[1].p[0] + c[2].p[0] + c[3].p[0]) + (c[0].p[1] + c[1].p[1] + c[2].p[1] + c[3].p[1]);
        if (separates(w, c, 4)) return Verdict::separated;
    }
    const Moving u = difference(start, end, 1, 0);
    const Moving v = difference(start, end, 3, 2);
    Filter filter(u, v, c[0], tolerance);
    if (!filter.usable()) return Verdict::unknown;
    if (filter.no_root()) return Verdict::cubic;
    const Moving sides[2] = {difference(start, end, 1, 2), c[1]};  // u - d, v + d
    return filter.run(false, sides, time);
}

}  // namespace quadrat::ccd
