// An independent answer to "do they meet, and when": rational numbers, the cubic by interpolation, roots by Sturm
// sequences, signs at roots by Sturm-Tarski queries, inside conditions by products of normals. Motion that stays
// coplanar is asked at the roots of every component of every normal. Slow, and sharing nothing with src/ccd.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include <boost/multiprecision/cpp_int.hpp>

#include <vector>

namespace quadrat::test {

using Rational = boost::multiprecision::cpp_rational;
using Poly = std::vector<Rational>;  ///< coefficients, lowest first; no zeros at the end

struct OracleAnswer {
    bool planar = false;  ///< the four points are coplanar all the time
    bool hit = false;
    Rational from, to;  ///< the first contact is in [from, to], narrower than 1e-12
};

[[nodiscard]] OracleAnswer oracle(ImpactKind kind, const FourPoints& start, const FourPoints& end);

}  // namespace quadrat::test
