#include "cells/validate.hpp"

#include "base/parallel.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace quadrat::cells {
namespace {

constexpr std::size_t grain = 1 << 16;

template <int D, class T>
bool good(const Box<D, T>& b) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    // Counted, not short-circuited, so that the loop over boxes vectorises.
    int holds = 0;
    for (int k = 0; k < D; ++k) holds += int{b.lo[k] <= b.hi[k]} + int{b.lo[k] < infinity} + int{b.hi[k] > -infinity};
    return holds == 3 * D;
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
void Checks<D, T>::box(const Box<D, T>& box, std::size_t index) {
    if (!good(box)) explain(box, index);
}

template <int D, class T>
void Checks<D, T>::boxes(std::span<const Box<D, T>> boxes, Executor* executor) {
    check_count(boxes.size());
    base::parallel_for(executor, boxes.size(), grain, [&](std::size_t begin, std::size_t end) {
        bool ok = true;
        for (std::size_t i = begin; i < end; ++i) ok &= good(boxes[i]);
        if (ok) return;
        for (std::size_t i = begin; i < end; ++i) box(boxes[i], i);
    });
}

template <int D, class T>
void Checks<D, T>::points(std::span<const Vec<D, T>> points, Executor* executor) {
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

void check_radius(double radius, const char* field, Where where) {
    if (radius > 0 && finite(radius)) return;
    where.field = field;
    throw Error(ErrorKind::bad_value, std::isnan(radius) ? "NaN" : "must be positive and finite", std::move(where));
}

void check_slots(std::size_t given, std::size_t slots) {
    if (given != slots)
        throw Error(ErrorKind::bad_shape,
                    "expected " + std::to_string(slots) + " boxes, one per slot, found " + std::to_string(given),
                    {.field = "boxes"});
}

void throw_too_large(std::size_t pairs, std::size_t max_bytes) {
    throw_too_large(pairs, pairs * sizeof(Pair), "pairs", max_bytes);
}

void throw_too_large(std::uint64_t count, std::uint64_t bytes, const char* what, std::size_t max_bytes) {
    throw Error(ErrorKind::too_large,
                std::to_string(count) + " " + what + " need " + std::to_string(bytes) +
                    " bytes, more than max_bytes = " + std::to_string(max_bytes),
                {.field = "max_bytes"});
}

void check_count(std::size_t count) {
    if (count < 0xFFFFFFFFu) return;
    throw Error(ErrorKind::too_large, std::to_string(count) + " objects; indices of 32 bits hold 4294967294");
}

template struct Checks<2, float>;
template struct Checks<3, float>;
template struct Checks<2, double>;
template struct Checks<3, double>;

}  // namespace quadrat::cells
