// What every structure checks before it starts: bad data gives a quadrat::Error that names the index (and the column of
// the value in an (N, D) or (N, 2 D) array) before anything has changed. One pass of plain comparisons, fast enough to
// be always on.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace quadrat::cells {

/// The checks of one kind; the functions below are their names.
template <int D, class T>
struct Checks {
    static void box(const Box<D, T>& box, std::size_t index);
    static void boxes(std::span<const Box<D, T>> boxes, Executor* executor);
    static void points(std::span<const Vec<D, T>> points, Executor* executor);
};

/// No NaN, lo <= hi, lo < +infinity, hi > -infinity. lo = -infinity and hi = +infinity are legal.
template <int D, class T>
void check_boxes(std::span<const Box<D, T>> boxes, Executor* executor = nullptr) {
    Checks<D, T>::boxes(boxes, executor);
}
/// check_boxes for one box at position `index`.
template <int D, class T>
void check_box(const Box<D, T>& box, std::size_t index) {
    Checks<D, T>::box(box, index);
}

/// All coordinates finite.
template <int D, class T>
void check_points(std::span<const Vec<D, T>> points, Executor* executor = nullptr) {
    Checks<D, T>::points(points, executor);
}
/// One point; inline, for queries.
template <int D, class T>
void check_point(const Vec<D, T>& point) {
    bool finite = true;
    for (int k = 0; k < D; ++k) finite &= std::abs(point[k]) <= std::numeric_limits<T>::max();
    if (!finite) Checks<D, T>::points(std::span(&point, 1), nullptr);
}

/// Positive and finite; the error names `field`, and `where` if there is more to say. A double holds every float.
void check_radius(double radius, const char* field = "radius", Where where = {});

/// One radius per point, each positive and finite; the error names the index.
template <class T>
void check_radii(std::span<const T> radii, std::size_t points) {
    if (radii.size() != points)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(radii.size()) + " radii for " + std::to_string(points) + " points",
                    {.field = "radii"});
    for (std::size_t i = 0; i < radii.size(); ++i)
        if (!(radii[i] > 0 && radii[i] <= std::numeric_limits<T>::max())) check_radius(radii[i], "radii", {.index = i});
}

/// Indices are 32 bits wide: at most 2^32 - 2 objects.
void check_count(std::size_t count);

/// An update gives one box per slot.
void check_slots(std::size_t given, std::size_t slots);

/// What find_pairs throws when its result would need more than max_bytes.
[[noreturn]] void throw_too_large(std::size_t pairs, std::size_t max_bytes);
/// The same for `count` of anything that need so many bytes.
[[noreturn]] void throw_too_large(std::uint64_t count, std::uint64_t bytes, const char* what, std::size_t max_bytes);

}  // namespace quadrat::cells
