// Values between the positions: linear, bilinear and trilinear interpolation of sparse samples (Lefebvre & Hoppe 2006,
// section 6, "without blocking"): the 2^D nearest samples are looked up one by one and blended. The value stored at p
// is the sample at the point p; positions that are not stored count as a background value. BlockedVoxels gives the same
// numbers from one lookup, for more memory.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

#include <array>
#include <cmath>
#include <type_traits>

namespace quadrat {

/// How values of T are blended. `Sum` is what a blend gives: float for 8 and 16 bits and for float, else double.
/// Specialise it for your own types with the same four members.
template <class T>
struct Blend {
    static_assert(std::is_arithmetic_v<T>, "specialise quadrat::Blend for this type");
    using Sum = std::conditional_t<std::is_same_v<T, float> || sizeof(T) <= 2, float, double>;
    using Weight = Sum;
    [[nodiscard]] static Sum widen(const T& value) { return static_cast<Sum>(value); }
    /// a at t = 0, b at t = 1.
    [[nodiscard]] static Sum mix(const Sum& a, const Sum& b, Weight t) { return a + t * (b - a); }
};
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

/// What sampling values of T gives.
template <class T>
using Blended = typename Blend<T>::Sum;

/// The cell [corner, corner + 1] that holds a point, and how far along each axis the point lies.
template <int D, class Weight>
struct SampleCell {
    Voxel<D> corner = {};
    Weight t[D] = {};
};

/// False, and `cell` unchanged, for points with a coordinate that is NaN or outside (-2^31, 2^31 - 1).
template <int D, class Real, class Weight>
[[nodiscard]] bool locate(const Vec<D, Real>& x, SampleCell<D, Weight>& cell) {
    static_assert(std::is_floating_point_v<Real>);
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

/// Blends the corners of a cell along x, then y, then z. corner(k) gives the widened sample of corner k: bit a of k is
/// set for the upper one on axis a.
template <class T, int D, class Corner>
[[nodiscard]] Blended<T> interpolate(const SampleCell<D, typename Blend<T>::Weight>& cell, Corner&& corner) {
    Blended<T> c[1 << D];
    for (int k = 0; k < 1 << D; ++k) c[k] = corner(k);
    for (int a = 0; a < D; ++a)
        for (int k = 0; k < 1 << (D - 1 - a); ++k) c[k] = Blend<T>::mix(c[2 * k], c[2 * k + 1], cell.t[a]);
    return c[0];
}

/// The blend of the samples around x; where none is stored, the background. 2^D lookups. With the constrained encoding
/// all 2^D positions must be stored.
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

/// out[i] = sample(voxels, x[i], background), with many lookups under way at once.
template <class T, int D, class Real>
void sample(const SparseVoxels<T, D>& voxels, std::span<const Vec<D, Real>> x, std::span<Blended<T>> out,
            const T& background = T{}) {
    if (x.size() != out.size()) throw Error(ErrorKind::bad_shape, "points and results differ in number");
    constexpr std::size_t block = 32, corners = std::size_t{1} << D;
    Voxel<D> p[block * corners];
    T values[block * corners];
    SampleCell<D, typename Blend<T>::Weight> cells[block];
    bool inside[block];
    for (std::size_t begin = 0; begin < x.size(); begin += block) {
        const std::size_t count = std::min(block, x.size() - begin);
        for (std::size_t i = 0; i < count; ++i) {
            inside[i] = locate(x[begin + i], cells[i]);
            if (!inside[i]) cells[i].corner = {};  // looked up in vain
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
