// Boxes that repeat: per-axis periodic boundaries, orthorhombic or triclinic.
#pragma once

#include <quadrat/geometry.hpp>

namespace quadrat {

/// A box spanned by D vectors from an origin, repeated along each vector that is not zero. Points may be anywhere: they
/// are wrapped. The box may be smaller than twice the radius: then a pair comes once per image that is near, and a
/// point may be a neighbour of its own images. A box much smaller than the radius means many images, up to max_bytes of
/// the CellIndex.
///
///     const auto box = quadrat::Periodic<3, float>::orthorhombic({{10, 10, 0}});   // open along z
///     quadrat::CellIndex<3, float> index({.radius = 1, .periodic = box});
///
/// Near means ((x_j - x_i) + s)^2 summed over the axes <= r^2, each operation rounded in T: x are the wrapped
/// coordinates and s the sum of whole multiples of the box vectors. Swapping i and j changes only signs, so lists are
/// symmetric.
///
/// A plain aggregate: what is legal is checked by whoever takes it, CellIndex when it is made and wrap(). They throw
/// Error{bad_value} for a box that repeats and is not finite, or is flat: its volume is not more than 10^-12 of the
/// product of its edges, open directions counted as perpendicular to the others.
template <int D, class T>
struct Periodic {
    /// The edges of the box, finite, in the unit of the coordinates, in any direction as long as they span a volume. A
    /// zero vector leaves that direction open: along it nothing repeats and nothing is wrapped. Default: all open.
    Vec<D, T> vectors[D] = {};
    /// The corner that the box starts from, finite, in the unit of the coordinates. It decides where points are wrapped
    /// to, and so how coordinates round, and nothing else. Default: zero.
    Vec<D, T> origin = {};

    /// A box along the axes, from the origin 0.
    ///
    /// lengths: of the edges, finite, in the unit of the coordinates; 0 leaves an axis open.
    [[nodiscard]] static constexpr Periodic orthorhombic(const Vec<D, T>& lengths) {
        Periodic box;
        for (int k = 0; k < D; ++k) box.vectors[k][k] = lengths[k];
        return box;
    }
    /// True if any direction repeats: a box for which this is false is no box at all, and costs nothing.
    [[nodiscard]] constexpr bool active() const {
        for (int k = 0; k < D; ++k)
            for (int c = 0; c < D; ++c)
                if (vectors[k][c] != T(0)) return true;
        return false;
    }
};

/// The image of `point` inside the box, as every search forms it: n is the floor of its coordinates in terms of the box
/// vectors, computed in double; the image is point - (n_0 v_0 + n_1 v_1 + ...) in T. Open directions keep their
/// coordinate. By rounding the image may lie on the far face, or outside by a few units in the last place of the point.
/// Constant time, but the box is inverted in every call. May be called from many threads at once.
///
/// box: see Periodic. One that is not active() gives the point as it is, finite or not.
/// point: at most 2^30 boxes away along each vector and finite, or Error{bad_value} is thrown.
template <int D, class T>
[[nodiscard]] Vec<D, T> wrap(const Periodic<D, T>& box, const Vec<D, T>& point);

}  // namespace quadrat
