// Plain aggregates for what the library reads and gives: vectors, boxes, spheres, segments, rays, half-spaces, pairs.
// No invariants and no constructors, so that an array of the caller's own floats can be viewed as one of these.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace quadrat {

/// A point or vector of D coordinates. Contiguous: an (N, D) array of T is an array of N of these.
template <int D, class T>
struct Vec {
    static_assert(D == 2 || D == 3);
    static_assert(std::is_floating_point_v<T> || std::is_integral_v<T>);

    T v[D];

    constexpr T& operator[](int axis) { return v[axis]; }
    constexpr const T& operator[](int axis) const { return v[axis]; }
    friend constexpr bool operator==(const Vec& a, const Vec& b) {
        for (int k = 0; k < D; ++k)
            if (!(a.v[k] == b.v[k])) return false;
        return true;
    }
};

using Vec2f = Vec<2, float>;
using Vec3f = Vec<3, float>;
using Vec2d = Vec<2, double>;
using Vec3d = Vec<3, double>;

/// A closed axis-aligned box: lo[k] <= x[k] <= hi[k]. An (N, 2 D) array of lo.. hi.. is an array of N of these.
/// lo may be -infinity and hi +infinity on any axis (half-spaces, planes, slabs).
template <int D, class T>
struct Box {
    Vec<D, T> lo;
    Vec<D, T> hi;

    friend constexpr bool operator==(const Box&, const Box&) = default;
};

using Box2f = Box<2, float>;
using Box3f = Box<3, float>;
using Box2d = Box<2, double>;
using Box3d = Box<3, double>;

/// True if the closed boxes share a point; boxes that only touch overlap. This comparison, in the input's own type, is
/// the contract of every broad phase in the library (docs/concepts.md).
template <int D, class T>
[[nodiscard]] constexpr bool overlap(const Box<D, T>& a, const Box<D, T>& b) {
    for (int k = 0; k < D; ++k)
        if (!(a.lo[k] <= b.hi[k] && b.lo[k] <= a.hi[k])) return false;
    return true;
}

/// A closed ball; radius >= 0.
template <int D, class T>
struct Sphere {
    Vec<D, T> center;
    T radius;
};

/// The points a + t (b - a), 0 <= t <= 1. Zero length is legal.
template <int D, class T>
struct Segment {
    Vec<D, T> a;
    Vec<D, T> b;
};

/// The points origin + t direction, 0 <= t <= length (in multiples of direction, which need not be normalised).
template <int D, class T>
struct Ray {
    Vec<D, T> origin;
    Vec<D, T> direction;
    T length = std::numeric_limits<T>::infinity();
};

/// The points x with dot(normal, x) <= offset.
template <int D, class T>
struct HalfSpace {
    Vec<D, T> normal;
    T offset;
};

/// Two positions in the caller's arrays (or two slots). Within one set first < second; between two sets first is from
/// the first set and second from the second. The one type here with constructors: the empty one leaves the members
/// indeterminate, so that a std::vector<Pair> can be resized for millions of results without being filled with zeros
/// first.
struct Pair {
    std::uint32_t first;
    std::uint32_t second;

    Pair() noexcept {}
    constexpr Pair(std::uint32_t a, std::uint32_t b) noexcept : first(a), second(b) {}

    friend constexpr bool operator==(const Pair&, const Pair&) = default;
    friend constexpr auto operator<=>(const Pair& a, const Pair& b) {
        return (std::uint64_t{a.first} << 32 | a.second) <=> (std::uint64_t{b.first} << 32 | b.second);
    }
};

/// Three vertex positions of a mesh.
struct Triangle {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t c;

    friend constexpr bool operator==(const Triangle&, const Triangle&) = default;
};

}  // namespace quadrat
