// Bits: coordinates below 2^122, differences below 2^123. A side condition's 2 q1 has four products, below 2^248; the
// cubic's 3 b1 has 18, below 2^374. With the sums that turn them into powers of t everything stays below 2^255 and
// 2^383.
#include "ccd/exact/coefficients.hpp"

#include "base/assert.hpp"
#include "ccd/double_parts.hpp"

#include <algorithm>

namespace quadrat::ccd {
namespace {

constexpr int coordinate_bits = 122;
constexpr int mantissa_bits = 53;

}  // namespace

ExactCoefficients::ExactCoefficients(ImpactKind kind, const FourPoints& start, const FourPoints& end)
    : vectors_(query_vectors[kind == ImpactKind::vertex_face ? 0 : 1]) {
    int least = 1 << 20;
    int most = 0;
    const FourPoints* const ends[2] = {&start, &end};
    for (const FourPoints* p : ends)
        for (const Vec3d& v : *p)
            for (const double x : v.v) {
                if (x == 0) continue;
                const int e = split(x).exponent;
                least = std::min(least, e);
                most = std::max(most, e);
            }
    fits_ = most - least <= coordinate_bits - mantissa_bits;
    if (!fits_) return;
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = 0; i < 4; ++i)
            for (int k = 0; k < 3; ++k) {
                const double x = (*ends[s])[i][k];
                const DoubleParts parts = split(x);
                p_[s][i][k] = x == 0 ? 0 : Int128{parts.mantissa} * (Int128{1} << (parts.exponent - least));
            }
}

ExactCoefficients::QuadraticForm ExactCoefficients::minor(const Ends& xi, const Ends& xj, const Ends& yi,
                                                          const Ends& yj) {
    const auto determinant = [&](int s, int t) { return product(xi.at[s], yj.at[t]) - product(xj.at[s], yi.at[t]); };
    return {determinant(0, 0), determinant(0, 1) + determinant(1, 0), determinant(1, 1)};
}

ExactCoefficients::QuadraticForm ExactCoefficients::side(int k, int i) const {
    QUADRAT_ASSERT(fits_);
    const VectorIds& x = vectors_.side[i][0];
    const VectorIds& y = vectors_.side[i][1];
    const int a = (k + 1) % 3;
    const int b = (k + 2) % 3;
    return minor(component(x, a), component(x, b), component(y, a), component(y, b));
}

ExactCoefficients::CubicForm ExactCoefficients::cubic() const {
    QUADRAT_ASSERT(fits_);
    const VectorIds& y = vectors_.cubic[1];
    const VectorIds& z = vectors_.cubic[2];
    const Ends ys[3] = {component(y, 0), component(y, 1), component(y, 2)};
    const Ends zs[3] = {component(z, 0), component(z, 1), component(z, 2)};
    CubicForm f;
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3;
        const int j = (k + 2) % 3;
        const QuadraticForm n = minor(ys[i], ys[j], zs[i], zs[j]);
        const Ends x = component(vectors_.cubic[0], k);
        f.b0 = f.b0 + product(n.q0, x.at[0]);
        f.b1 = f.b1 + product(n.q0, x.at[1]) + product(n.q1, x.at[0]);
        f.b2 = f.b2 + product(n.q1, x.at[1]) + product(n.q2, x.at[0]);
        f.b3 = f.b3 + product(n.q2, x.at[1]);
    }
    return f;
}

}  // namespace quadrat::ccd
