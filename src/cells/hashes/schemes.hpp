// What the three hashed structures for boxes differ in, and nothing else: the policies of ClassedHash. Classes are
// edge * 2^k; an object lies in the cells of one class that it touches.
//
//   UniformScheme       Teschner et al. 2003: one class
//   MultilevelScheme    Eitz & Lixu 2007, in HSH 2.2: the class is the first at which a box touches at most two cells
//                       per axis; a query looks into every cell that it touches in every class
//   HierarchicalScheme  Pouchol et al. 2009 (HSH): also marks the cells above an object's cells as having children;
//                       keys are the sums of the hashes from the top (eq. 4), and a query goes down only where there
//                       are children
//
// A scheme says: `nested`, whether classes hang together by marks and sums of keys; `levels(asked)`, how many classes
// there are whether used or not (0: those that are used); `edge(sizes, places)`, the edge of class 0 for boxes of these
// longest edges and distances from the origin, neither list empty; `too_small(n, count_over)`, whether to try twice the
// edge for n boxes, of which count_over() touch more cells than a box may.
#pragma once

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace quadrat::cells {

struct UniformScheme {
    static constexpr bool nested = false;
    static int levels(int) { return 1; }
    /// Twice the mean, summed up so that it cannot overflow.
    static double edge(const std::vector<double>& sizes, const std::vector<double>&) {
        double mean = 0, count = 0;
        for (const double e : sizes) mean += (e - mean) / ++count;
        return std::min(2 * mean, 1e300);
    }
    /// With one class the edge is a compromise: no more than a sixty-fourth of the boxes is left over.
    template <class Count>
    static bool too_small(std::size_t n, Count&& count_over) {
        return count_over() > n / 64;
    }
};

struct MultilevelScheme {
    static constexpr bool nested = false;
    static int levels(int asked) { return asked; }
    /// The power of two below the size of all but one box in 64: a few tiny boxes lie in the smallest class too, and do
    /// not make all cells tiny. Cells must be numbers of 62 bits where most boxes are.
    static double edge(std::vector<double>& sizes, std::vector<double>& places) {
        QUADRAT_ASSERT(!sizes.empty() && sizes.size() == places.size());
        const double least = std::max(ranked(sizes, sizes.size() / 64), 0x1p-52 * ranked(places, places.size() / 2));
        return std::ldexp(1.0, std::max(-1070, std::ilogb(least)));
    }
    template <class Count>
    static bool too_small(std::size_t, Count&&) {
        return false;
    }

  private:
    /// The number that `rank` others do not exceed.
    static double ranked(std::vector<double>& numbers, std::size_t rank) {
        const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
        std::nth_element(numbers.begin(), at, numbers.end());
        return *at;
    }
};

struct HierarchicalScheme : MultilevelScheme {
    static constexpr bool nested = true;
};

}  // namespace quadrat::cells
