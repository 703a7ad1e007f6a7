// From coordinates to cells: floor(x / edge) as a 64-bit integer, for any finite float or double and any positive edge,
// per axis. Exact (the floor of the real quotient) while it is below 2^62 in magnitude, clamped to +-(2^62 - 1) beyond,
// so it is monotone everywhere, cells +-1 never overflow, and the difference of two cells always fits. No cast of an
// out-of-range floating point number is ever made. Cells of edge * 2^k are the base cells shifted right by k: they nest
// exactly, which HSH (Pouchol et al. 2009, eq. 4) needs and sizes alone do not give. The class of a box comes from its
// quantised corners, never from its size (docs/concepts.md): the first k at which it touches at most two cells per
// axis.
#pragma once

#include "base/assert.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quadrat::cells {

inline constexpr std::int64_t max_cell = (std::int64_t{1} << 62) - 1;

template <int D>
using Cell = Vec<D, std::int64_t>;

/// One axis. Everything is computed in double, which holds every float.
class AxisQuantiser {
  public:
    AxisQuantiser() = default;
    /// edge is positive. With an infinite edge everything is in cell 0.
    explicit AxisQuantiser(double edge) : edge_(edge), inverse_(1 / edge) {
        QUADRAT_ASSERT(edge > 0);
        // 1 / edge overflows for denormal edges; such axes always take the exact way.
        if (!(inverse_ <= std::numeric_limits<double>::max())) inverse_ = std::numeric_limits<double>::quiet_NaN();
    }

    [[nodiscard]] double edge() const { return edge_; }

    [[nodiscard]] std::int64_t operator()(double x) const {
        // The product is within 2 ulp of the quotient: unless it is that close to an integer, its floor is the
        // quotient's.
        const double q = x * inverse_;
        if (std::abs(q) < 0x1p48) [[likely]] {
            const std::int64_t truncated = static_cast<std::int64_t>(q);
            const double fraction = q - static_cast<double>(truncated);  // exact, has the sign of q
            const double distance = std::abs(fraction);
            const double doubt = std::abs(q) * 0x1p-49;
            if (distance > doubt && distance < 1 - doubt) return truncated - (fraction < 0);
        }
        return exact(x);
    }

  private:
    /// The quotient is near an integer, huge, or not a number.
    [[nodiscard]] std::int64_t exact(double x) const {
        if (edge_ > std::numeric_limits<double>::max()) return 0;
        const double q = x / edge_;
        if (q >= 0x1p62) return max_cell;
        if (!(q > -0x1p62)) return -max_cell;
        // For |q| >= 2^53 q is a whole number whose remainder x - q edge is exact and worth a few hundred edges at
        // most; below, the sign of one fused remainder (rounding never changes a sign) tells on which side of the
        // floor's border x lies.
        double whole = std::floor(q);
        const double rest = std::fma(-whole, edge_, x);
        std::int64_t cell = static_cast<std::int64_t>(whole);
        if (std::abs(q) >= 0x1p53) {
            const double more = std::floor(rest / edge_);
            cell += static_cast<std::int64_t>(more);
            if (std::fma(-more, edge_, rest) < 0) --cell;
        } else if (rest < 0) {
            --cell;
        } else if (std::fma(-(whole + 1), edge_, x) >= 0) {
            ++cell;
        }
        return std::clamp(cell, -max_cell, max_cell);
    }

    double edge_ = 1;
    double inverse_ = 1;
};

template <int D>
class Quantiser {
  public:
    Quantiser() = default;
    explicit Quantiser(double edge) {
        for (AxisQuantiser& a : axis_) a = AxisQuantiser(edge);
    }
    explicit Quantiser(const Vec<D, double>& edge) {
        for (int k = 0; k < D; ++k) axis_[k] = AxisQuantiser(edge[k]);
    }

    [[nodiscard]] double edge(int axis) const { return axis_[axis].edge(); }
    [[nodiscard]] std::int64_t cell(double x, int axis) const { return axis_[axis](x); }

    template <class T>
    [[nodiscard]] Cell<D> cell(const Vec<D, T>& p) const {
        Cell<D> c;
        for (int k = 0; k < D; ++k) c[k] = axis_[k](static_cast<double>(p[k]));
        return c;
    }

  private:
    AxisQuantiser axis_[D];
};

/// The cell at class k (edge * 2^k) that holds base cell c.
[[nodiscard]] constexpr std::int64_t coarser(std::int64_t c, int k) {
    QUADRAT_ASSERT(k >= 0 && k < 64);
    return c >> k;
}
template <int D>
[[nodiscard]] constexpr Cell<D> coarser(Cell<D> c, int k) {
    for (int axis = 0; axis < D; ++axis) c[axis] = coarser(c[axis], k);
    return c;
}

/// The first class k in [0, 62] at which base cells lo..hi (lo <= hi) are at most one cell apart.
[[nodiscard]] inline int size_class(std::int64_t lo, std::int64_t hi) {
    QUADRAT_ASSERT(lo <= hi);
    // At class k the distance is at least (hi - lo) / 2^k - 1 + 2^-k, so a k with more than 2 in the quotient cannot
    // do.
    int k = 0;
    for (std::int64_t distance = hi - lo; distance > 3; distance >>= 1) ++k;
    while (coarser(hi, k) - coarser(lo, k) > 1) ++k;
    return k;
}
template <int D>
[[nodiscard]] int size_class(const Cell<D>& lo, const Cell<D>& hi) {
    int k = 0;
    for (int axis = 0; axis < D; ++axis) k = std::max(k, size_class(lo[axis], hi[axis]));
    return k;
}

}  // namespace quadrat::cells
