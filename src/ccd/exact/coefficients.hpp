// The coplanarity cubic and the side conditions of one query with exact integer coefficients, in Bernstein form on [0,
// 1]. Rounded to double they have relative errors, however much cancelled in them, which decides nearly all that the
// filter leaves open (filter/quadratic.hpp); the rest goes on from the same integers to exact.cpp.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include "ccd/exact/fixed_int.hpp"

namespace quadrat::ccd {

/// Which points make the vectors: {i, j} is point i minus point j.
struct VectorIds {
    std::uint8_t i, j;
};

/// The three vectors of the cubic x . (y cross z), and the two factors of each side condition: (B, C), (C, A), (A, B)
/// of a vertex and a face, (d, v), (u - d, v), (d, u), (u, v + d) of two edges.
struct QueryVectors {
    VectorIds cubic[3];
    VectorIds side[4][2];
};
inline constexpr QueryVectors query_vectors[2] = {
    {{{1, 0}, {2, 0}, {3, 0}}, {{{2, 0}, {3, 0}}, {{3, 0}, {1, 0}}, {{1, 0}, {2, 0}}, {}}},
    {{{1, 0}, {3, 2}, {2, 0}}, {{{2, 0}, {3, 2}}, {{1, 2}, {3, 2}}, {{2, 0}, {1, 0}}, {{1, 0}, {3, 0}}}},
};

class ExactCoefficients {
  public:
    /// Coordinates are finite.
    ExactCoefficients(ImpactKind kind, const FourPoints& start, const FourPoints& end);

    /// False if the exponents differ by more than the integers can hold; then nothing else may be called.
    [[nodiscard]] bool fits() const { return fits_; }

    /// b0, 3 b1, 3 b2, b3 of the cubic, in units of 2^(3 exponent) of the coordinates.
    struct CubicForm {
        Int384 b0, b1, b2, b3;
    };
    [[nodiscard]] CubicForm cubic() const;

    /// q0, 2 q1, q2 of component k of the i-th side condition.
    struct QuadraticForm {
        Int256 q0, q1, q2;
    };
    [[nodiscard]] QuadraticForm side(int k, int i) const;

  private:
    struct Ends {
        Int128 at[2];
    };
    [[nodiscard]] Ends component(const VectorIds& v, int k) const {
        return {{p_[0][v.i][k] - p_[0][v.j][k], p_[1][v.i][k] - p_[1][v.j][k]}};
    }
    static QuadraticForm minor(const Ends& xi, const Ends& xj, const Ends& yi, const Ends& yj);

    const QueryVectors& vectors_;
    bool fits_;
    Int128 p_[2][4][3];
};

}  // namespace quadrat::ccd
