// Spheres in a structure of boxes: the box that stands for a sphere in the grids, and the test that decides.
#pragma once

#include "cells/predicate.hpp"

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <cmath>
#include <cstddef>
#include <limits>

namespace quadrat::broad_phase {

/// Wide enough for the rounded distance test of spheres_overlap to be decided by the spheres alone.
template <int D, class T>
[[nodiscard]] Box<D, T> box_of(const Sphere<D, T>& sphere) {
    Box<D, T> box;
    for (int k = 0; k < D; ++k) {
        const T c = sphere.center[k];
        // The test rounds differences, squares and sums of up to three axes: less than eight half units in the last
        // place of the coordinates.
        const T margin =
            8 * std::numeric_limits<T>::epsilon() * (std::abs(c) + sphere.radius) + std::numeric_limits<T>::min();
        box.lo[k] = c - sphere.radius - margin;
        box.hi[k] = c + sphere.radius + margin;
    }
    return box;
}

/// The same; throws bad_value, naming the index, if the sphere is not finite or its radius negative.
template <int D, class T>
[[nodiscard]] Box<D, T> checked_box_of(const Sphere<D, T>& sphere, std::size_t index) {
    if (!(sphere.radius >= 0 && sphere.radius < std::numeric_limits<T>::infinity()))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.index = index, .field = "radius"});
    for (int k = 0; k < D; ++k)
        if (!std::isfinite(sphere.center[k]))
            throw Error(ErrorKind::bad_value, "must be finite", {.index = index, .field = "center"});
    return box_of(sphere);
}

/// |a - b|^2 <= (ra + rb)^2; where the sum of the radii overflows, of spheres of half the size.
template <int D, class T>
[[nodiscard]] bool spheres_overlap(const Sphere<D, T>& a, const Sphere<D, T>& b) {
    const T reach = a.radius + b.radius;
    if (reach == 0) return a.center == b.center;
    if (reach < std::numeric_limits<T>::infinity()) return cells::NearTest<T>(reach)(a.center, b.center);
    const auto halved = [](const Sphere<D, T>& s) {
        Sphere<D, T> half{s.center, s.radius / 2};
        for (int k = 0; k < D; ++k) half.center[k] /= 2;
        return half;
    };
    return spheres_overlap(halved(a), halved(b));
}

}  // namespace quadrat::broad_phase
