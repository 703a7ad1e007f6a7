// A number as the unevaluated sum of two doubles: about 106 bits, straight-line code. Each operation below has a
// relative error of at most 2^-103 (Joldes, Muller & Popescu 2017 prove 3 u^2 for the sum and less than 8 u^2 for the
// product, u = 2^-53), as long as nothing overflows or underflows. Compiled without fused operations.
#pragma once

#include <cmath>

namespace quadrat::ccd {

struct DoubleDouble {
    double hi;
    double lo;

    DoubleDouble() = default;
    DoubleDouble(double x) : hi(x), lo(0) {}
    DoubleDouble(double h, double l) : hi(h), lo(l) {}

    explicit operator double() const { return hi; }
};

// a + b and a - b as an exact pair.
inline DoubleDouble exact_sum(double a, double b) {
    const double s = a + b;
    const double t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

inline DoubleDouble exact_difference(double a, double b) {
    return exact_sum(a, -b);
}

// The same for |a| >= |b|.
inline DoubleDouble exact_sum_ordered(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}

// a b as an exact pair (Dekker, Veltkamp).
inline DoubleDouble exact_product(double a, double b) {
    constexpr double splitter = 134217729;  // 2^27 + 1
    const double p = a * b;
    const double ca = splitter * a;
    const double cb = splitter * b;
    const double a1 = ca - (ca - a);
    const double b1 = cb - (cb - b);
    const double a2 = a - a1;
    const double b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble s = exact_sum(a.hi, b.hi);
    const DoubleDouble t = exact_sum(a.lo, b.lo);
    const DoubleDouble v = exact_sum_ordered(s.hi, s.lo + t.hi);
    return exact_sum_ordered(v.hi, t.lo + v.lo);
}

inline DoubleDouble operator-(const DoubleDouble& a) {
    return {-a.hi, -a.lo};
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) {
    return a + -b;
}

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble p = exact_product(a.hi, b.hi);
    return exact_sum_ordered(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
inline bool operator>(const DoubleDouble& a, const DoubleDouble& b) {
    return b < a;
}

}  // namespace quadrat::ccd
