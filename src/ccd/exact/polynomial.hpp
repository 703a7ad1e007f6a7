// Polynomials of degree <= 3 with integer coefficients, their real roots in [0, 1], and the exact sign of a second
// polynomial of degree <= 2 at such a root. All by integer arithmetic, with a bounded number of operations: no
// refinement "until it separates". The idea for the sign (docs/reference/ccd.md, "The stages"): compare the root with
// the roots of the second polynomial g, by the sign of f at a root of g, which is the sign of the linear remainder f
// mod g there, which is a comparison of two rational numbers.
#pragma once

#include "base/bigint.hpp"

#include <vector>

namespace quadrat::ccd {

using base::BigInt;

/// c[0] + c[1] t + c[2] t^2 + c[3] t^3.
struct Polynomial {
    BigInt c[4];
    int degree = -1;  ///< of the highest coefficient that is not zero; -1 for the zero polynomial

    void set_degree(int at_most) {
        degree = at_most;
        while (degree >= 0 && c[degree].sign() == 0) --degree;
    }
};

/// A number in [0, 1]: n / d, or the only root of `of` in the open interval (left, right) / 2^depth.
struct Root {
    const Polynomial* of = nullptr;  ///< null for a rational number
    BigInt n;                        ///< numerator, or left
    BigInt d;                        ///< denominator > 0, or right
    unsigned depth = 0;
    int before = 0;      ///< sign of `of` just right of left; its opposite just left of right
    bool narrow = true;  ///< the root lies in [lower, lower + 2^-40]
    double lower = 0;    ///< never above the root, and below it by at most the tolerance that was asked for
};

/// Tells that no root in [s, e] is of interest; a cheap test that saves exact work.
struct Ignore {
    bool (*test)(void* context, double s, double e) = nullptr;
    void* context = nullptr;

    bool operator()(double s, double e) const { return test && test(context, s, e); }
};

/// Appends the distinct roots of f in [0, 1] that are of interest, in ascending order. f is not the zero polynomial and
/// must outlive the roots.
void find_roots(const Polynomial& f, double tolerance, const Ignore& ignore, std::vector<Root>& roots);

/// The sign of g at n / d, d > 0.
[[nodiscard]] int sign_at(const Polynomial& g, const BigInt& n, const BigInt& d);

/// The sign of g, of degree <= 2, at the root.
[[nodiscard]] int sign_at(const Polynomial& g, const Root& root);

}  // namespace quadrat::ccd
