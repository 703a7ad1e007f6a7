// Plain aggregates for what the library reads and gives: vectors, boxes, spheres, segments, rays, half-spaces, pairs.
// No invariants and no constructors, so that an array of the caller's own floats can be viewed as one of these. What is
// legal is checked by the calls that take them, which throw Error{bad_value}; all lengths are in one unit, the
// caller's.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <type_traits>

namespace quadrat {

/// A point or vector of D coordinates. Contiguous and without padding: an (N, D) array of T is an array of N of these.
///
///     const quadrat::Vec3f p{{1, 2, 3}};
///     const std::span points(reinterpret_cast<const quadrat::Vec3f*>(floats.data()), floats.size() / 3);
///
/// D: 2 or 3. T: any arithmetic type; the structures of the library take float and double.
template <int D, class T>
struct Vec {
    static_assert(D == 2 || D == 3);
    static_assert(std::is_floating_point_v<T> || std::is_integral_v<T>);

    /// x, y and, in 3D, z.
    T v[D];

    /// The coordinate along an axis. axis: 0 to D - 1, which is not checked.
    constexpr T& operator[](int axis) { return v[axis]; }
    constexpr const T& operator[](int axis) const { return v[axis]; }
    /// Equal in all coordinates, as numbers: -0 equals 0, and what holds a NaN equals nothing.
    friend constexpr bool operator==(const Vec& a, const Vec& b) {
        for (int k = 0; k < D; ++k)
            if (!(a.v[k] == b.v[k])) return false;
        return true;
    }
};

// The kinds that the structures are compiled for.
using Vec2f = Vec<2, float>;
using Vec3f = Vec<3, float>;
using Vec2d = Vec<2, double>;
using Vec3d = Vec<3, double>;

/// A closed axis-aligned box: lo[k] <= x[k] <= hi[k]. An (N, 2 D) array of lo.. hi.. is an array of N of these.
///
/// Legal, where a contract asks for a box without NaN and with lo <= hi: a box without extent (lo == hi), which is a
/// point that can be touched; lo = -infinity and hi = +infinity on any axis (half-spaces along an axis, slabs,
/// everything). Not legal: lo = +infinity or hi = -infinity, which is a box of no point.
template <int D, class T>
struct Box {
    /// The corner with the smallest coordinates, which belongs to the box.
    Vec<D, T> lo;
    /// The corner with the largest coordinates, which belongs to the box.
    Vec<D, T> hi;

    /// The same corners; see Vec.
    friend constexpr bool operator==(const Box&, const Box&) = default;
};

using Box2f = Box<2, float>;
using Box3f = Box<3, float>;
using Box2d = Box<2, double>;
using Box3d = Box<3, double>;

/// True if the closed boxes share a point; boxes that only touch overlap. This comparison, in the input's own type, is
/// the contract of every broad phase in the library (docs/concepts.md): nothing is rounded, so there is no tolerance.
/// Symmetric. False if any bound is NaN; infinite bounds are compared like others.
///
///     overlap(quadrat::Box2f{{{0, 0}}, {{1, 1}}}, quadrat::Box2f{{{1, 1}}, {{2, 2}}})   // true: they share (1, 1)
template <int D, class T>
[[nodiscard]] constexpr bool overlap(const Box<D, T>& a, const Box<D, T>& b) {
    for (int k = 0; k < D; ++k)
        if (!(a.lo[k] <= b.hi[k] && b.lo[k] <= a.hi[k])) return false;
    return true;
}

/// A closed ball: the points at most `radius` away from the centre.
template <int D, class T>
struct Sphere {
    /// Finite.
    Vec<D, T> center;
    /// At least 0, in the unit of the coordinates; a sphere of radius 0 is a point.
    T radius;
};

/// The points a + t (b - a), 0 <= t <= 1. Zero length is legal.
template <int D, class T>
struct Segment {
    /// One end, which belongs to it. Finite.
    Vec<D, T> a;
    /// The other end, the same.
    Vec<D, T> b;
};

/// The points origin + t direction, 0 <= t <= length.
template <int D, class T>
struct Ray {
    /// Where it starts. Finite.
    Vec<D, T> origin;
    /// Where it goes. Finite; need not be normalised.
    Vec<D, T> direction;
    /// Where it ends, in multiples of direction: not negative; infinite, the default, is a ray without end. A query
    /// with an end can stop there.
    T length = std::numeric_limits<T>::infinity();
};

/// The points x with dot(normal, x) <= offset: a plane and all that lies behind it.
///
///     const quadrat::HalfSpace<3, float> ground{{{0, 0, 1}}, 0};   // z <= 0
template <int D, class T>
struct HalfSpace {
    /// Points out of it. Finite and not zero, of any length.
    Vec<D, T> normal;
    /// Where the border is, in units of length times those of the normal. Finite.
    T offset;
};

/// Two positions in the caller's arrays (or two slots). Within one set first < second; between two sets first is from
/// the first set and second from the second. The one type here with constructors: the empty one leaves the members
/// indeterminate, so that a std::vector<Pair> can be resized for millions of results without being filled with zeros
/// first. Eight bytes: an (N, 2) array of 32-bit numbers.
struct Pair {
    std::uint32_t first;   ///< the smaller one, or that of the first set
    std::uint32_t second;  ///< the larger one, or that of the second set

    /// Leaves both members indeterminate, also in Pair{}.
    Pair() noexcept {}
    /// As given: nothing is swapped.
    constexpr Pair(std::uint32_t a, std::uint32_t b) noexcept : first(a), second(b) {}

    friend constexpr bool operator==(const Pair&, const Pair&) = default;
    /// By first, then by second, as one comparison of 64 bits:
    ///
    ///     63        32 31         0
    ///     |   first   |  second   |
    friend constexpr auto operator<=>(const Pair& a, const Pair& b) {
        return (std::uint64_t{a.first} << 32 | a.second) <=> (std::uint64_t{b.first} << 32 | b.second);
    }
};

/// Three vertex positions of a mesh: indices into the caller's array of vertices. An (N, 3) array of 32-bit numbers is
/// an array of N of these. Equal are those with the same vertices in the same places.
struct Triangle {
    std::uint32_t a;  ///< any of the three; the winding is a, b, c
    std::uint32_t b;  ///< the next one
    std::uint32_t c;  ///< the last one

    friend constexpr bool operator==(const Triangle&, const Triangle&) = default;
};

namespace detail {

/// The dimension and scalar of an element; nothing for a type that has none.
template <class Element>
struct Kind {};
template <int D, class T>
struct Kind<Vec<D, T>> {
    static constexpr int dimension = D;
    using Point = Vec<D, T>;
    using Scalar = T;
};
template <int D, class T>
struct Kind<Box<D, T>> {
    static constexpr int dimension = D;
    using Box = quadrat::Box<D, T>;
    using Scalar = T;
};
template <class Array>
using KindOf = Kind<std::ranges::range_value_t<Array>>;

}  // namespace detail

/// An array of points in one piece of memory: std::vector, std::array, std::span, ... of Vec. The calls for one use
/// take it, so that D and T follow from the argument; the structures take std::span, to which it converts.
template <class A>
concept PointArray = std::ranges::contiguous_range<const A> && requires {
    typename detail::KindOf<A>::Point;
};
/// The same for boxes.
template <class A>
concept BoxArray = std::ranges::contiguous_range<const A> && requires {
    typename detail::KindOf<A>::Box;
};
/// The T of an array of Vec<D, T> or Box<D, T>.
template <class A>
using ScalarOf = typename detail::KindOf<A>::Scalar;

}  // namespace quadrat
