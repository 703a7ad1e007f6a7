#include "neighbors/grid/bounds.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "cells/validate.hpp"
#include "neighbors/grid/keys.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::neighbors {

template <int D, class T>
Bounds<D, T> Bounds<D, T>::nothing() {
    Bounds b;
    std::fill_n(b.lo, D, std::numeric_limits<T>::max());
    std::fill_n(b.hi, D, std::numeric_limits<T>::lowest());
    return b;
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::of(std::span<const Vec<D, T>> points, Executor* executor) {
    return base::parallel_reduce(
        executor, points.size(), std::size_t{1} << 16, nothing(),
        [&](std::size_t begin, std::size_t end) {
            Bounds part;
            part.finite = key_kernels().get<D, T>().bounds(points[begin].v, end - begin, part.lo, part.hi);
            return part;
        },
        [](Bounds a, const Bounds& b) {
            for (int k = 0; k < D; ++k) {
                a.lo[k] = std::min(a.lo[k], b.lo[k]);
                a.hi[k] = std::max(a.hi[k], b.hi[k]);
            }
            a.finite = a.finite && b.finite;
            return a;
        });
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::of(std::span<const Record<D, T>> records) {
    Bounds b = nothing();
    for (const Record<D, T>& r : records)
        for (int k = 0; k < D; ++k) {
            b.lo[k] = std::min(b.lo[k], r.v[k]);
            b.hi[k] = std::max(b.hi[k], r.v[k]);
        }
    return b;
}

template <int D, class T>
Bounds<D, T> Bounds<D, T>::checked(std::span<const Vec<D, T>> points, std::span<const std::uint8_t> erased,
                                   Executor* executor) {
    QUADRAT_ASSERT(erased.empty() || erased.size() == points.size());
    cells::check_count(points.size());
    const Bounds bounds = of(points, executor);
    if (bounds.finite) return bounds;
    if (erased.empty()) cells::check_points(points, executor);
    for (std::size_t i = 0; i < erased.size(); ++i)
        for (int k = 0; k < D && !erased[i]; ++k)
            if (!std::isfinite(points[i][k]))
                throw Error(ErrorKind::bad_value, "the point is not finite",
                            Where{.index = i, .column = static_cast<std::size_t>(k)});
    return bounds;
}

template struct Bounds<2, float>;
template struct Bounds<3, float>;
template struct Bounds<2, double>;
template struct Bounds<3, double>;

}  // namespace quadrat::neighbors
