#include "cells/validate.hpp"

#include "base/parallel.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace quadrat::cells {
namespace {

constexpr std::size_t grain = 1 << 16;

template <int D, class T>
bool good(const Box<D, T>& b) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    bool result = true;
    // Not short-circuited, so that the loop over boxes vectorises.
    for (int k = 0; k < D; ++k) result &= (b.lo[k] <= b.hi[k]) & (b.lo[k] < infinity) & (b.hi[k] > -infinity);
    return result;
}

template <class T>
bool finite(T x) {
    return std::abs(x) <= std::numeric_limits<T>::max();
}

[[noreturn]] void fail(const char* what, std::size_t index, int column) {
    Where where;
    where.index = index;
    where.column = static_cast<std::uint64_t>(column);
    throw Error(ErrorKind::bad_value, what, where);
}

template <int D, class T>
[[noreturn]] void explain(const Box<D, T>& b, std::size_t index) {
    for (int k = 0; k < D; ++k) {
        if (std::isnan(b.lo[k])) fail("NaN", index, k);
        if (std::isnan(b.hi[k])) fail("NaN", index, D + k);
    }
    for (int k = 0; k < D; ++k) {
        if (b.lo[k] > std::numeric_limits<T>::max()) fail("lo is +infinity", index, k);
        if (b.hi[k] < std::numeric_limits<T>::lowest()) fail("hi is -infinity", index, D + k);
        if (b.hi[k] < b.lo[k]) fail("hi is less than lo", index, D + k);
    }
    fail("bad box", index, 0);
}

}  // namespace

template <int D, class T>
void check_box(const Box<D, T>& box, std::size_t index) {
    if (!good(box)) explain(box, index);
}

template <int D, class T>
void check_boxes(std::span<const Box<D, T>> boxes, Executor* executor) {
    check_count(boxes.size());
    base::parallel_for(executor, boxes.size(), grain, [&](std::size_t begin, std::size_t end) {
        bool ok = true;
        for (std::size_t i = begin; i < end; ++i) ok &= good(boxes[i]);
        if (ok) return;
        for (std::size_t i = begin; i < end; ++i) check_box(boxes[i], i);
    });
}

template <int D, class T>
void check_points(std::span<const Vec<D, T>> points, Executor* executor) {
    check_count(points.size());
    base::parallel_for(executor, points.size(), grain, [&](std::size_t begin, std::size_t end) {
        bool ok = true;
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < D; ++k) ok &= finite(points[i][k]);
        if (ok) return;
        for (std::size_t i = begin; i < end; ++i)
            for (int k = 0; k < D; ++k)
                if (!finite(points[i][k])) fail(std::isnan(points[i][k]) ? "NaN" : "infinite coordinate", i, k);
    });
}

template <class T>
void check_radius(T radius, const char* field) {
    if (radius > 0 && finite(radius)) return;
    Where where;
    where.field = field;
    throw Error(ErrorKind::bad_value, std::isnan(radius) ? "NaN" : "must be positive and finite", where);
}

template <class T>
void check_radii(std::span<const T> radii, std::size_t points) {
    if (radii.size() != points) {
        Where where;
        where.field = "radii";
        throw Error(ErrorKind::bad_shape,
                    std::to_string(radii.size()) + " radii for " + std::to_string(points) + " points", where);
    }
    for (std::size_t i = 0; i < radii.size(); ++i) {
        if (radii[i] > 0 && finite(radii[i])) continue;
        Where where;
        where.index = i;
        where.field = "radii";
        throw Error(ErrorKind::bad_value, std::isnan(radii[i]) ? "NaN" : "must be positive and finite", where);
    }
}

void check_slots(std::size_t given, std::size_t slots) {
    if (given != slots)
        throw Error(ErrorKind::bad_shape,
                    "expected " + std::to_string(slots) + " boxes, one per slot, found " + std::to_string(given),
                    {.field = "boxes"});
}

void throw_too_large(std::size_t pairs, std::size_t max_bytes) {
    throw Error(ErrorKind::too_large,
                std::to_string(pairs) + " pairs need " + std::to_string(pairs * sizeof(Pair)) +
                    " bytes, more than max_bytes = " + std::to_string(max_bytes),
                {.field = "max_bytes"});
}

void check_count(std::size_t count) {
    if (count < 0xFFFFFFFFu) return;
    throw Error(ErrorKind::too_large, std::to_string(count) + " objects; indices of 32 bits hold 4294967294");
}

#define QUADRAT_INSTANTIATE(D, T)                                      \
    template void check_boxes(std::span<const Box<D, T>>, Executor*);  \
    template void check_points(std::span<const Vec<D, T>>, Executor*); \
    template void check_box(const Box<D, T>&, std::size_t);
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE
template void check_radius(float, const char*);
template void check_radius(double, const char*);
template void check_radii(std::span<const float>, std::size_t);
template void check_radii(std::span<const double>, std::size_t);

}  // namespace quadrat::cells
