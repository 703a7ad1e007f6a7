// Values between the positions: linear, bilinear and trilinear interpolation of sparse samples (Lefebvre & Hoppe 2006,
// section 6, "without blocking"): the 2^D nearest samples are looked up one by one and blended. The value stored at p
// is the sample at the point p; positions that are not stored count as a background value. BlockedVoxels gives the same
// numbers from one lookup, for more memory.
//
//     (0,1)          (1,1)        the cell with corner (0, 0) and its four samples; x lies at t = (0.75, 0.25) in it:
//       o--------------o
//       |              |          along x first:   lower = (0,0) + 0.75 ((1,0) - (0,0))
//       |         x    |                           upper = (0,1) + 0.75 ((1,1) - (0,1))
//       o--------------o          then along y:    value = lower + 0.25 (upper - lower)
//     (0,0)          (1,0)
//
// Nothing here keeps state, and every function only reads the voxels: calls may run at the same time on one structure,
// as long as nobody writes to it.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

#include <array>
#include <cmath>
#include <type_traits>

namespace quadrat {

/// How values of T are blended. Numbers, arrays and vectors of numbers are here; specialise it for your own types with
/// the same four members:
///
///     template <>
///     struct quadrat::Blend<Rgba> {
///         using Sum = std::array<float, 4>;
///         using Weight = float;
///         static Sum widen(const Rgba& c) { return {c.r * 1.0f, c.g * 1.0f, c.b * 1.0f, c.a * 1.0f}; }
///         static Sum mix(const Sum& a, const Sum& b, float t) { return Blend<Sum>::mix(a, b, t); }
///     };
template <class T>
struct Blend {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, Half>, "specialise quadrat::Blend for this type");
    /// What a blend gives: float for numbers of 8 and 16 bits and for float, which it holds exactly; double for all
    /// others, which rounds integers beyond 2^53.
    using Sum = std::conditional_t<std::is_same_v<T, float> || sizeof(T) <= 2, float, double>;
    /// The type of t in mix(), a floating-point number.
    using Weight = Sum;
    /// The value in the type of sums; every sample goes through it once, before it is blended.
    [[nodiscard]] static Sum widen(const T& value) { return static_cast<Sum>(value); }
    /// a at t = 0, and b at t = 1 but for rounding. If either is infinite or NaN, so is the result, whatever its
    /// weight.
    ///
    /// t: 0 to 1, both included.
    [[nodiscard]] static Sum mix(const Sum& a, const Sum& b, Weight t) { return a + t * (b - a); }
};
/// Arrays are blended component by component, each as Blend<T> does.
template <class T, std::size_t N>
struct Blend<std::array<T, N>> {
    using Sum = std::array<typename Blend<T>::Sum, N>;
    using Weight = typename Blend<T>::Weight;
    [[nodiscard]] static Sum widen(const std::array<T, N>& value) {
        Sum s;
        for (std::size_t i = 0; i < N; ++i) s[i] = Blend<T>::widen(value[i]);
        return s;
    }
    [[nodiscard]] static Sum mix(const Sum& a, const Sum& b, Weight t) {
        Sum s;
        for (std::size_t i = 0; i < N; ++i) s[i] = Blend<T>::mix(a[i], b[i], t);
        return s;
    }
};
/// Vectors are blended component by component and give a vector: a Vec<3, std::int32_t> becomes a Vec<3, double>.
/// Directions come out shorter than they were where they differ.
template <int N, class T>
struct Blend<Vec<N, T>> {
    using Sum = Vec<N, typename Blend<T>::Sum>;
    using Weight = typename Blend<T>::Weight;
    [[nodiscard]] static Sum widen(const Vec<N, T>& value) {
        Sum s;
        for (int i = 0; i < N; ++i) s[i] = Blend<T>::widen(value[i]);
        return s;
    }
    [[nodiscard]] static Sum mix(const Sum& a, const Sum& b, Weight t) {
        Sum s;
        for (int i = 0; i < N; ++i) s[i] = Blend<T>::mix(a[i], b[i], t);
        return s;
    }
};

/// What sampling values of T gives: float for std::uint8_t, std::array<float, 4> for std::array<std::uint8_t, 4>.
template <class T>
using Blended = typename Blend<T>::Sum;

/// The cell [corner, corner + 1] that holds a point, and how far along each axis the point lies.
template <int D, class Weight>
struct SampleCell {
    /// The corner with the smallest coordinates. On each axis corner + 1 is within 32 bits, too.
    Voxel<D> corner = {};
    /// The way from corner to corner + 1 on each axis, 0 to 1. Points on a common face belong to the cell above it,
    /// where t is 0; t is 1 only by rounding, for a point that lies less than a rounding below the face.
    Weight t[D] = {};
};

/// Finds the cell of a point: corner = floor(x), t = x - floor(x), rounded to Weight. True if it was found. False, and
/// `cell` unchanged, for points with a coordinate that is NaN or outside (-2^31, 2^31 - 1). O(1).
///
/// x: in the unit of the grid; position p of the grid is the point p. May be float or double: a float beyond 2^23 has
///    no fraction left.
template <int D, class Real, class Weight>
[[nodiscard]] bool locate(const Vec<D, Real>& x, SampleCell<D, Weight>& cell) {
    static_assert(std::is_floating_point_v<Real>);
    // A float cannot hold 2^31 - 1: the bound is then 2^31, and the largest float below it 2^31 - 128. NaN fails both.
    bool in = true;
    for (int a = 0; a < D; ++a) in &= x[a] > static_cast<Real>(-0x1p31) && x[a] < static_cast<Real>(0x1p31) - Real{1};
    if (!in) return false;
    for (int a = 0; a < D; ++a) {
        const Real low = std::floor(x[a]);
        cell.corner[a] = static_cast<std::int32_t>(low);
        cell.t[a] = static_cast<Weight>(x[a] - low);
    }
    return true;
}

/// Blends the corners of a cell along x, then y, then z. All kinds of voxels blend by this function, so that their
/// numbers are equal where their samples are. 2^D - 1 calls of Blend<T>::mix.
///
/// corner: corner(k) gives the widened sample of corner k, and is called once for each k in [0, 2^D), in that order.
///         Bit a of k is set for the upper corner on axis a:
///
///     k   zyx
///     5 = 101   is the corner at (x + 1, y, z + 1)
template <class T, int D, class Corner>
[[nodiscard]] Blended<T> interpolate(const SampleCell<D, typename Blend<T>::Weight>& cell, Corner&& corner) {
    // The two ends of an edge along axis a lie side by side when its turn comes, and each round halves what is left.
    Blended<T> c[1 << D];
    for (int k = 0; k < 1 << D; ++k) c[k] = corner(k);
    for (int a = 0; a < D; ++a)
        for (int k = 0; k < 1 << (D - 1 - a); ++k) c[k] = Blend<T>::mix(c[2 * k], c[2 * k + 1], cell.t[a]);
    return c[0];
}

/// The blend of the 2^D samples around x; those that are not stored count as the background. At a stored position it is
/// the value there, if the values around it are finite and so are their differences. Gives the background itself where
/// none is stored, and for a point that is NaN, infinite or beyond 32 bits. Does not throw. 2^D lookups.
///
///     auto voxels = quadrat::SparseVoxels<float>::pack(coordinates, values);
///     float v = quadrat::sample(voxels, quadrat::Vec3d{1.5, 2.25, 7}, -1.0f);
///
/// voxels: with the constrained encoding all 2^D positions must be stored, or any stored values are blended.
/// x: in the unit of the grid; position p of the grid is the point p.
/// background: of type T itself, as T is deduced from it, too; T{} by default. Finite, as the blend of two infinite
///             values is NaN; a large number serves for distances. That of the channel is not looked at.
template <class T, int D, class Real>
[[nodiscard]] Blended<T> sample(const SparseVoxels<T, D>& voxels, const Vec<D, Real>& x, const T& background = T{}) {
    SampleCell<D, typename Blend<T>::Weight> cell;
    if (!locate(x, cell)) return Blend<T>::widen(background);
    return interpolate<T, D>(cell, [&](int k) {
        Voxel<D> p = cell.corner;
        for (int a = 0; a < D; ++a) p[a] += k >> a & 1;
        const T* value = voxels.find(p);
        return Blend<T>::widen(value ? *value : background);
    });
}

/// out[i] = sample(voxels, x[i], background) for all points, with many lookups under way at once: faster than one by
/// one where the voxels exceed the caches. Allocates nothing; 32 * 2^D values of T lie on the stack. Throws
/// Error{bad_shape} if the spans differ in length, with nothing written.
///
///
///     std::vector<float> v(points.size());
///     quadrat::sample(voxels, std::span<const quadrat::Vec3d>(points), v);
///
/// x: a span itself, as its type is deduced; any points, in any order.
/// out: one result for each point.
/// background: as for one point.
template <class T, int D, class Real>
void sample(const SparseVoxels<T, D>& voxels, std::span<const Vec<D, Real>> x, std::span<Blended<T>> out,
            const T& background = T{}) {
    if (x.size() != out.size()) throw Error(ErrorKind::bad_shape, "points and results differ in number");
    // The corners of 32 points are 256 lookups in three dimensions: one batch of SparseVoxels::at.
    constexpr std::size_t block = 32, corners = std::size_t{1} << D;
    Voxel<D> p[block * corners];
    T values[block * corners];
    SampleCell<D, typename Blend<T>::Weight> cells[block];
    bool inside[block];
    for (std::size_t begin = 0; begin < x.size(); begin += block) {
        const std::size_t count = std::min(block, x.size() - begin);
        for (std::size_t i = 0; i < count; ++i) {
            inside[i] = locate(x[begin + i], cells[i]);
            // Looked up in vain, so that the batch has no gaps.
            if (!inside[i]) cells[i].corner = {};
            for (std::size_t k = 0; k < corners; ++k)
                for (int a = 0; a < D; ++a)
                    p[i * corners + k][a] = cells[i].corner[a] + static_cast<std::int32_t>(k >> a & 1);
        }
        voxels.at(std::span<const Voxel<D>>(p, count * corners), std::span<T>(values, count * corners), background);
        for (std::size_t i = 0; i < count; ++i)
            out[begin + i] = !inside[i] ? Blend<T>::widen(background) : interpolate<T, D>(cells[i], [&](int k) {
                return Blend<T>::widen(values[i * corners + static_cast<std::size_t>(k)]);
            });
    }
}

}  // namespace quadrat
