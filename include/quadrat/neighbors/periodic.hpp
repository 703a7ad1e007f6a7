// Boxes that repeat: per-axis periodic boundaries, orthorhombic or triclinic.
#pragma once

#include <quadrat/geometry.hpp>

namespace quadrat {

/// A box spanned by D vectors from an origin, repeated along each vector that is not zero. Points may be anywhere: they
/// are wrapped. The box may be smaller than twice the radius: then a pair comes once per image that is near.
///
/// Near means ((x_j - x_i) + s)^2 summed over the axes <= r^2, each operation rounded in T: x are the wrapped
/// coordinates and s the sum of whole multiples of the box vectors. Swapping i and j changes only signs, so lists are
/// symmetric.
template <int D, class T>
struct Periodic {
    /// The edges of the box, finite, in the unit of the coordinates, in any direction as long as they span a volume. A
    /// zero vector leaves that direction open. Default: all open.
    Vec<D, T> vectors[D] = {};
    /// The corner that the box starts from, finite. Default: zero.
    Vec<D, T> origin = {};

    /// A box along the axes; length 0 leaves an axis open.
    [[nodiscard]] static constexpr Periodic orthorhombic(const Vec<D, T>& lengths) {
        Periodic box;
        for (int k = 0; k < D; ++k) box.vectors[k][k] = lengths[k];
        return box;
    }
    /// True if any direction repeats.
    [[nodiscard]] constexpr bool active() const {
        for (int k = 0; k < D; ++k)
            for (int c = 0; c < D; ++c)
                if (vectors[k][c] != T(0)) return true;
        return false;
    }
};

/// The image of `point` inside the box, as every search forms it: n is the floor of its coordinates in terms of the box
/// vectors, computed in double; the image is point - (n_0 v_0 + n_1 v_1 + ...) in T. Open directions keep their
/// coordinate. Throws Error{bad_value} if the point is more than 2^30 boxes away or the vectors are flat.
template <int D, class T>
[[nodiscard]] Vec<D, T> wrap(const Periodic<D, T>& box, const Vec<D, T>& point);

}  // namespace quadrat
