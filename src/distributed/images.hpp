// Where the images of points in a periodic box may lie, as far as sending them needs it: all arithmetic is in double
// and generous, because the local search decides.
#pragma once

#include <quadrat/geometry.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "cells/predicate.hpp"

namespace quadrat::distributed {

/// How far apart two points can be, in the real numbers, and be near by the rounded test. In a periodic box the
/// differences that are rounded are as long as the box.
template <int D, class T>
[[nodiscard]] double reach(T radius, const Periodic<D, T>& box) {
    double extent = 0;
    for (const Vec<D, T>& v : box.vectors)
        for (int c = 0; c < D; ++c) extent += std::abs(static_cast<double>(v[c]));
    const double margin = std::numeric_limits<T>::digits <= 24 ? 0x1p-20 : 0x1p-49;
    return cells::reach(radius) + extent * margin;
}

/// Distance between the two faces that vector k joins; infinite for an open direction.
template <int D, class T>
[[nodiscard]] double face_distance(const Periodic<D, T>& box, int k) {
    const auto at = [&](int vector, int c) { return static_cast<double>(box.vectors[vector % D][c]); };
    double length = 0, normal[D], area = 0, along = 0;
    for (int c = 0; c < D; ++c) length = std::hypot(length, at(k, c));
    if (length == 0) return std::numeric_limits<double>::infinity();
    if constexpr (D == 2) {
        normal[0] = at(k + 1, 1);
        normal[1] = -at(k + 1, 0);
    } else {
        for (int c = 0; c < 3; ++c) {
            const int d = (c + 1) % 3, e = (c + 2) % 3;
            normal[c] = at(k + 1, d) * at(k + 2, e) - at(k + 1, e) * at(k + 2, d);
        }
    }
    for (int c = 0; c < D; ++c) {
        area = std::hypot(area, normal[c]);
        along += normal[c] * at(k, c);
    }
    // With an open direction beside it there is no face; the component that the other closed one leaves is a bound.
    if (area > 0) return std::abs(along) / area;
    for (int other = 0; other < D; ++other) {
        double size = 0, dot = 0;
        for (int c = 0; c < D; ++c) size = std::hypot(size, at(other, c)), dot += at(other, c) * at(k, c);
        if (other != k && size > 0) length = std::sqrt(std::max(0.0, length * length - dot / size * (dot / size)));
    }
    return length;
}

/// The sums of whole multiples of the box vectors by which a point inside the box can come within `far` of another one
/// inside, the zero sum first.
template <int D, class T>
[[nodiscard]] std::vector<Vec<D, double>> image_offsets(const Periodic<D, T>& box, double far) {
    int most[3] = {0, 0, 0};
    for (int k = 0; k < D; ++k) {
        const double height = face_distance(box, k);
        if (height < std::numeric_limits<double>::infinity()) most[k] = 1 + static_cast<int>(std::ceil(far / height));
    }
    std::vector<Vec<D, double>> offsets(1, Vec<D, double>{});
    for (int i = -most[0]; i <= most[0]; ++i)
        for (int j = -most[1]; j <= most[1]; ++j)
            for (int l = -most[2]; l <= most[2]; ++l) {
                if (i == 0 && j == 0 && l == 0) continue;
                const int n[3] = {i, j, l};
                Vec<D, double> sum{};
                for (int k = 0; k < D; ++k)
                    for (int c = 0; c < D; ++c) sum[c] += n[k] * static_cast<double>(box.vectors[k][c]);
                offsets.push_back(sum);
            }
    return offsets;
}

}  // namespace quadrat::distributed
