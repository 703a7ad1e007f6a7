// Numbers of twice the precision of double: a pair hi + lo of doubles that do not overlap, by the error-free sums and
// products of Dekker and Knuth. Without a fused multiply-add, so that every machine gives the same bits.
// Sizes must stay between 2^-900 and 2^900, where nothing here overflows; what underflows below is lost.
#pragma once

#include <cmath>

namespace quadrat::ccd {

struct DoubleDouble {
    double hi = 0;
    double lo = 0;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double h) : hi(h) {}
    constexpr DoubleDouble(double h, double l) : hi(h), lo(l) {}

    /// a + b without any error.
    static DoubleDouble sum(double a, double b) {
        const double s = a + b;
        const double c = s - a;
        return {s, (a - (s - c)) + (b - c)};
    }
    /// The same where |a| >= |b|.
    static DoubleDouble ordered_sum(double a, double b) {
        const double s = a + b;
        return {s, b - (s - a)};
    }
    /// a b without any error but underflow.
    static DoubleDouble product(double a, double b) {
        const double p = a * b;
        const DoubleDouble x = halves(a);
        const DoubleDouble y = halves(b);
        return {p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
    }

    friend DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
        DoubleDouble s = sum(a.hi, b.hi);
        const DoubleDouble t = sum(a.lo, b.lo);
        s = ordered_sum(s.hi, s.lo + t.hi);
        return ordered_sum(s.hi, s.lo + t.lo);
    }
    friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
    friend DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
    friend DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
        const DoubleDouble p = product(a.hi, b.hi);
        return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
    }
    friend DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
        const double q = a.hi / b.hi;
        const DoubleDouble rest = a - b * DoubleDouble(q);
        return ordered_sum(q, rest.hi / b.hi);
    }
    friend bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
        return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
    }
    friend bool operator>(const DoubleDouble& a, const DoubleDouble& b) { return b < a; }

  private:
    // Two numbers of 26 bits.
    static DoubleDouble halves(double a) {
        const double t = 0x1.0000002p27 * a;
        const double h = t - (t - a);
        return {h, a - h};
    }
};

/// The square root of a number that is not negative.
inline DoubleDouble root(const DoubleDouble& a) {
    if (!(a.hi > 0)) return {};
    const double r = std::sqrt(a.hi);
    const DoubleDouble rest = a - DoubleDouble::product(r, r);
    return DoubleDouble::ordered_sum(r, rest.hi / (2 * r));
}
inline double root(double a) {
    return std::sqrt(a);
}

inline double to_double(const DoubleDouble& a) {
    return a.hi;
}
inline double to_double(double a) {
    return a;
}

}  // namespace quadrat::ccd
