// The objects of HSH 4.1: a square of 2^13 with 10 % of average size 2^10, 25 % of 2^6 and the rest of 2^3.
#pragma once

#include "base/random.hpp"

#include <quadrat/geometry.hpp>

#include <vector>

namespace hsh {

using quadrat::Box2f;

inline std::vector<Box2f> objects(std::size_t n) {
    quadrat::base::SplitMix random(2009);
    std::vector<Box2f> boxes(n);
    for (auto& b : boxes) {
        const double u = random.uniform();
        const double average = u < 0.10 ? 1024 : u < 0.35 ? 64 : 8;
        for (int k = 0; k < 2; ++k) {
            const double size = average * random.uniform(0.5, 1.5);
            b.lo[k] = static_cast<float>(random.uniform(0, 8192) - size / 2);
            b.hi[k] = b.lo[k] + static_cast<float>(size);
        }
    }
    return boxes;
}

}  // namespace hsh
