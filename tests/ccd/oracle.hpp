// An independent answer to "do they meet, and when": rational numbers, the cubic by interpolation, roots by Sturm
// sequences, signs at roots by Sturm-Tarski queries, inside conditions by products of normals. Slow, and sharing
// nothing with src/ccd. Not for motion that stays coplanar all the time: `planar` tells.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include <boost/multiprecision/cpp_int.hpp>

#include <vector>

namespace quadrat::test {

using Rational = boost::multiprecision::cpp_rational;
using Poly = std::vector<Rational>;  ///< coefficients, lowest first; no zeros at the end

struct OracleAnswer {
    bool planar = false;  ///< not decided
    bool hit = false;
    Rational from, to;  ///< the first contact is in [from, to], narrower than 1e-12
};

[[nodiscard]] OracleAnswer oracle(ImpactKind kind, const FourPoints& start, const FourPoints& end);

}  // namespace quadrat::test
