// The side conditions of a query, bounded over intervals of time: which side of each other's planes the features lie
// on. They are the components of the parallel vectors of exact.cpp, in double and, where that leaves the sign open, in
// double-double, with the error bounds of docs/ccd.md.
#pragma once

#include "ccd/double_double.hpp"
#include "ccd/filter.hpp"
#include "ccd/vector.hpp"

#include <algorithm>

namespace quadrat::ccd {

template <class T>
struct Arithmetic;
template <>
struct Arithmetic<double> {
    static constexpr double unit = roundoff;
    static double difference(double a, double b) { return a - b; }
    static double third() { return 1.0 / 3.0; }
};
template <>
struct Arithmetic<DoubleDouble> {
    static constexpr double unit = 0x1p-103;
    static DoubleDouble difference(double a, double b) { return exact_difference(a, b); }
    static DoubleDouble third() { return {1.0 / 3.0, 0x1.5555555555555p-56}; }
};

/// A vector at both ends of the step.
template <class T>
struct Moving {
    T p[2][3];

    static Moving difference(const FourPoints& start, const FourPoints& end, std::size_t i, std::size_t j) {
        Moving r;
        for (int k = 0; k < 3; ++k) {
            r.p[0][k] = Arithmetic<T>::difference(start[i][k], start[j][k]);
            r.p[1][k] = Arithmetic<T>::difference(end[i][k], end[j][k]);
        }
        return r;
    }

    [[nodiscard]] double largest() const {
        double m = 0;
        for (const auto& v : p)
            for (const T& x : v) m = std::max(m, std::fabs(static_cast<double>(x)));
        return m;
    }
};

/// Bernstein coefficients on [0, 1] of a component of x cross y.
template <class T>
struct Quadratic {
    T q[3];

    void set(const Moving<T>& x, const Moving<T>& y, int i, int j) {
        q[0] = x.p[0][i] * y.p[0][j] - x.p[0][j] * y.p[0][i];
        q[1] = T(0.5) *
               ((x.p[0][i] * y.p[1][j] - x.p[0][j] * y.p[1][i]) + (x.p[1][i] * y.p[0][j] - x.p[1][j] * y.p[0][i]));
        q[2] = x.p[1][i] * y.p[1][j] - x.p[1][j] * y.p[1][i];
    }

    /// 1 or -1 if all values over [s, e] are beyond the error on that side, otherwise 0.
    [[nodiscard]] int sign(double s, double e, double error) const {
        const T ts = s;
        const T te = e;
        const T s1 = Arithmetic<T>::difference(1, s);
        const T e1 = Arithmetic<T>::difference(1, e);
        const T ps = q[0] * s1 + q[1] * ts;
        const T qs = q[1] * s1 + q[2] * ts;
        const T a = ps * s1 + qs * ts;
        const T b = ps * e1 + qs * te;
        const T c = (q[0] * e1 + q[1] * te) * e1 + (q[1] * e1 + q[2] * te) * te;
        if (a > T(error) && b > T(error) && c > T(error)) return 1;
        if (a < T(-error) && b < T(-error) && c < T(-error)) return -1;
        return 0;
    }
};

enum class Inside : std::uint8_t { no, yes, perhaps };

class SideConditions {
  public:
    SideConditions(ImpactKind kind, const FourPoints& start, const FourPoints& end)
        : start_(start), end_(end), count_(kind == ImpactKind::vertex_face ? 3 : 4) {
        for (int i = 0; i < count_; ++i) {
            const Moving<double> x = vector<double>(i, 0);
            const Moving<double> y = vector<double>(i, 1);
            const double mx = x.largest();
            const double my = y.largest();
            const bool usable = std::min(mx, my) >= smallest_size && std::max(mx, my) <= largest_size;
            size_[i] = usable ? side_steps * mx * my : no_impact;
            for (int k = 0; k < 3; ++k) g_[k][i].set(x, y, (k + 1) % 3, (k + 2) % 3);
        }
    }

    [[nodiscard]] int count() const { return count_; }

    /// The sign of component k of the i-th condition if it is certain over all of [s, e], otherwise 0. `fine` looks
    /// closer, in double-double, where double does not decide.
    [[nodiscard]] int sign(int k, int i, double s, double e, bool fine) {
        const int rough = g_[k][i].sign(s, e, roundoff * size_[i]);
        if (rough != 0 || !fine || !(size_[i] < no_impact)) return rough;
        if (!have_[k][i]) {
            have_[k][i] = true;
            h_[k][i].set(vector<DoubleDouble>(i, 0), vector<DoubleDouble>(i, 1), (k + 1) % 3, (k + 2) % 3);
        }
        return h_[k][i].sign(s, e, Arithmetic<DoubleDouble>::unit * size_[i]);
    }

    /// Whether the features are inside each other, given that they are coplanar, at every time of [s, e]; no: at none.
    [[nodiscard]] Inside inside(double s, double e, bool fine) {
        for (int k = 0; k < 3; ++k) {
            int positive = 0;
            int negative = 0;
            for (int i = 0; i < count_; ++i) {
                const int at = sign(k, i, s, e, fine);
                positive += at > 0;
                negative += at < 0;
                if (positive && negative) return Inside::no;
            }
            if (positive + negative == count_) return Inside::yes;  // one component decides (exact.cpp)
        }
        return Inside::perhaps;
    }

  private:
    // The factors of the i-th vector product: (B, C), (C, A), (A, B) or (d, v), (u - d, v), (d, u), (u, v + d).
    template <class T>
    [[nodiscard]] Moving<T> vector(int i, int side) const {
        static constexpr std::uint8_t face[3][2][2] = {{{2, 0}, {3, 0}}, {{3, 0}, {1, 0}}, {{1, 0}, {2, 0}}};
        static constexpr std::uint8_t edge[4][2][2] = {
            {{2, 0}, {3, 2}}, {{1, 2}, {3, 2}}, {{2, 0}, {1, 0}}, {{1, 0}, {3, 0}}};
        const auto& f = count_ == 3 ? face[i][side] : edge[i][side];
        return Moving<T>::difference(start_, end_, f[0], f[1]);
    }

    const FourPoints& start_;
    const FourPoints& end_;
    int count_;
    double size_[4];
    bool have_[3][4] = {};
    Quadratic<double> g_[3][4];
    Quadratic<DoubleDouble> h_[3][4];
};

}  // namespace quadrat::ccd
