// Does a segment meet a closed box? The bounding boxes must overlap in the input's type, and the slabs must leave a
// common interval in double. The first part is what a search by cells is exact for.
#pragma once

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>

namespace quadrat::cells {

template <int D, class T>
[[nodiscard]] Box<D, T> bounds(const Segment<D, T>& s) {
    Box<D, T> b;
    for (int k = 0; k < D; ++k) {
        b.lo[k] = std::min(s.a[k], s.b[k]);
        b.hi[k] = std::max(s.a[k], s.b[k]);
    }
    return b;
}

template <int D, class T>
[[nodiscard]] bool meets(const Segment<D, T>& s, const Box<D, T>& box) {
    if (!overlap(bounds(s), box)) return false;
    double first = 0, last = 1;
    for (int k = 0; k < D; ++k) {
        double a = s.a[k], b = s.b[k], lo = box.lo[k], hi = box.hi[k];
        if (sizeof(T) == 8 && std::isinf(b - a))  // the same in smaller units
            for (double* x : {&a, &b, &lo, &hi}) *x /= 4;
        const double d = b - a;
        if (d == 0) continue;  // the bounds have decided
        const double enter = ((d > 0 ? lo : hi) - a) / d;
        const double leave = ((d > 0 ? hi : lo) - a) / d;
        first = std::max(first, enter);
        last = std::min(last, leave);
    }
    return first <= last;
}

}  // namespace quadrat::cells
