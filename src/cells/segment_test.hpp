// Does a segment meet a closed box? The bounding boxes must overlap in the input's type, and the slabs must leave a
// common interval in double. The first part is what a search by cells is exact for.
#pragma once

#include <quadrat/geometry.hpp>

#include <algorithm>

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
        const double a = s.a[k], d = static_cast<double>(s.b[k]) - a;
        if (d == 0) continue;  // the bounds have decided
        const double enter = (static_cast<double>(d > 0 ? box.lo[k] : box.hi[k]) - a) / d;
        const double leave = (static_cast<double>(d > 0 ? box.hi[k] : box.lo[k]) - a) / d;
        first = std::max(first, enter);
        last = std::min(last, leave);
    }
    return first <= last;
}

}  // namespace quadrat::cells
