// The side conditions of a query, bounded over intervals of time: which side of each other's planes the features lie
// on. They are the components of the parallel vectors of exact.cpp, in double with the error bounds of
// docs/reference/ccd.md and, where that leaves the sign open, from exact coefficients.
#pragma once

#include "base/assert.hpp"
#include "ccd/exact/coefficients.hpp"
#include "ccd/filter/filter.hpp"
#include "ccd/vector.hpp"

#include <algorithm>

namespace quadrat::ccd {

/// A vector at both ends of the step.
struct Moving {
    Vec3d p[2];

    static Moving difference(const FourPoints& start, const FourPoints& end, const VectorIds& v) {
        return {{start[v.i] - start[v.j], end[v.i] - end[v.j]}};
    }

    /// The larger size of each component at the two ends.
    [[nodiscard]] Vec3d sizes() const {
        Vec3d m;
        for (int k = 0; k < 3; ++k) m[k] = std::max(std::fabs(p[0][k]), std::fabs(p[1][k]));
        return m;
    }
};

/// Bernstein coefficients on [0, 1] of a quadratic, with the error of any value that is computed from them.
struct Quadratic {
    double q[3];
    double error;

    /// 1 or -1 if all values over [s, e] are beyond the error on that side, otherwise 0.
    [[nodiscard]] int sign(double s, double e) const {
        QUADRAT_ASSERT(0 <= s && s <= e && e <= 1);
        const double s1 = 1 - s;
        const double e1 = 1 - e;
        const double ps = q[0] * s1 + q[1] * s;
        const double qs = q[1] * s1 + q[2] * s;
        const double a = ps * s1 + qs * s;
        const double b = ps * e1 + qs * e;
        const double c = (q[0] * e1 + q[1] * e) * e1 + (q[1] * e1 + q[2] * e) * e;
        if (a > error && b > error && c > error) return 1;
        if (a < -error && b < -error && c < -error) return -1;
        return 0;
    }
};

enum class Inside : std::uint8_t { no, yes, perhaps };

class SideConditions {
  public:
    SideConditions(ImpactKind kind, const FourPoints& start, const FourPoints& end)
        : count_(kind == ImpactKind::vertex_face ? 3 : 4) {
        const QueryVectors& vectors = query_vectors[count_ == 3 ? 0 : 1];
        for (int i = 0; i < count_; ++i) {
            x_[i] = Moving::difference(start, end, vectors.side[i][0]);
            y_[i] = Moving::difference(start, end, vectors.side[i][1]);
        }
        // The component in which the features show most of themselves is the likeliest to decide.
        const Vec3d n = count_ == 3 ? cross(start[2] - start[1], start[3] - start[1])
                                    : cross(start[1] - start[0], start[3] - start[2]);
        for (int k = 1; k < 3; ++k)
            if (std::fabs(n[k]) > std::fabs(n[first_])) first_ = k;
    }

    /// From now on, what double leaves open is looked at with these coefficients, which must outlive this object.
    void refine(const ExactCoefficients& exact) { exact_ = &exact; }

    [[nodiscard]] int count() const { return count_; }

    /// The sign of component k of the i-th condition if it is certain over all of [s, e], otherwise 0.
    [[nodiscard]] int sign(int k, int i, double s, double e) {
        QUADRAT_ASSERT(k >= 0 && k < 3 && i >= 0 && i < count_);
        const int rough = rough_of(k, i).sign(s, e);
        return rough != 0 || !exact_ ? rough : fine(k, i).sign(s, e);
    }

    /// Whether the features are inside each other, given that they are coplanar, at every time of [s, e]; no: at none.
    [[nodiscard]] Inside inside(double s, double e) {
        for (int n = 0; n < 3; ++n) {
            const int k = (first_ + n) % 3;
            int positive = 0;
            int negative = 0;
            int zero = 0;
            for (int i = 0; i < count_; ++i) {
                const int at = sign(k, i, s, e);
                positive += at > 0;
                negative += at < 0;
                if (positive && negative) return Inside::no;
                zero += at == 0 && exact_ && fine(k, i).error == 0;
            }
            // One component decides (exact.cpp).
            if (positive + negative > 0 && positive + negative + zero == count_) return Inside::yes;
        }
        return Inside::perhaps;
    }

    /// The same at the start (end = 0) or at the end (1) of the step, exactly. Needs refine(). Perhaps: on one line.
    [[nodiscard]] Inside inside_at(int end) {
        QUADRAT_ASSERT(end == 0 || end == 1);
        for (int k = 0; k < 3; ++k) {
            int seen = 0;
            for (int i = 0; i < count_; ++i) {
                const double g = fine(k, i).q[2 * end];
                if (g * seen < 0) return Inside::no;
                if (g != 0) seen = g < 0 ? -1 : 1;
            }
            if (seen != 0) return Inside::yes;
        }
        return Inside::perhaps;
    }

  private:
    const Quadratic& rough_of(int k, int i) {
        Quadratic& g = rough_[k][i];
        if (rough_known_[k][i]) return g;
        rough_known_[k][i] = true;
        const Moving& x = x_[i];
        const Moving& y = y_[i];
        const int a = (k + 1) % 3;
        const int b = (k + 2) % 3;
        for (int s = 0; s < 2; ++s) g.q[2 * s] = x.p[s][a] * y.p[s][b] - x.p[s][b] * y.p[s][a];
        g.q[1] =
            0.5 * ((x.p[0][a] * y.p[1][b] - x.p[0][b] * y.p[1][a]) + (x.p[1][a] * y.p[0][b] - x.p[1][b] * y.p[0][a]));
        const Vec3d mx = x.sizes();
        const Vec3d my = y.sizes();
        const bool usable = std::max(ccd::largest(mx), ccd::largest(my)) <= largest_size;
        g.error = usable ? side_steps * roundoff * (mx[a] * my[b] + mx[b] * my[a]) + underflow_floor : no_impact;
        return g;
    }

    // With an error of 0 where the condition is zero all the time.
    const Quadratic& fine(int k, int i) {
        QUADRAT_ASSERT(exact_);
        Quadratic& g = fine_[k][i];
        if (have_[k][i]) return g;
        have_[k][i] = true;
        const ExactCoefficients::QuadraticForm form = exact_->side(k, i);
        g.q[0] = form.q0.to_double();
        g.q[1] = 0.5 * form.q1.to_double();
        g.q[2] = form.q2.to_double();
        g.error = exact_side_steps * roundoff * std::max({std::fabs(g.q[0]), std::fabs(g.q[1]), std::fabs(g.q[2])});
        return g;
    }

    int count_;
    const ExactCoefficients* exact_ = nullptr;
    int first_ = 0;
    Moving x_[4];
    Moving y_[4];
    bool rough_known_[3][4] = {};
    Quadratic rough_[3][4];
    bool have_[3][4] = {};
    Quadratic fine_[3][4];
};

}  // namespace quadrat::ccd
