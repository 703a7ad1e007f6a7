// The plain twin of the vector kernel. It also applies the rule for radii outside [2^-60, 2^60], whose squares leave
// the range of float, which is too rare to be worth vector code.
#include "cells/predicate.hpp"
#include "neighbors/kernel.hpp"

#include <algorithm>

namespace quadrat::neighbors {
namespace {

template <int D, class T>
std::size_t copy_all(const Group<T>& g) {
    std::size_t n = 0;
    for (std::size_t r = 0; r < g.range_count; ++r)
        for (std::uint32_t j = g.ranges[r].begin; j < g.ranges[r].end; ++j, ++n) {
            for (int k = 0; k < D; ++k) g.scratch->c[k][n] = g.storage[k][j];
            g.scratch->label[n] = g.label ? g.label[j] : j;
        }
    return n;
}

template <int D, class T, bool kHalf, bool kStore>
void test(Group<T>& g, std::size_t candidates, std::uint32_t* out) {
    for (unsigned a = 0; a < g.size; ++a) {
        const cells::NearTest<T> near(g.radius[a]);
        Vec<D, T> home, other;
        for (int k = 0; k < D; ++k) home[k] = g.home[k][a];
        std::uint32_t count = 0;
        for (std::size_t j = kHalf ? a + 1 : 0; j < candidates; ++j) {
            const auto label = static_cast<std::uint32_t>(g.scratch->label[j]);
            for (int k = 0; k < D; ++k) other[k] = g.scratch->c[k][j];
            if ((kStore && !kHalf && label == g.self[a]) || !near(home, other)) continue;
            if constexpr (kStore) out[count] = label;
            ++count;
        }
        g.count[a] = count;
        if constexpr (kStore) out += count;
    }
}

}  // namespace

template <int D, class T>
Kernel<T> scalar_kernel() {
    return {copy_all<D, T>,         copy_all<D, T>,           test<D, T, false, true>,
            test<D, T, true, true>, test<D, T, false, false>, test<D, T, true, false>};
}

template Kernel<float> scalar_kernel<2, float>();
template Kernel<float> scalar_kernel<3, float>();
template Kernel<double> scalar_kernel<2, double>();
template Kernel<double> scalar_kernel<3, double>();

}  // namespace quadrat::neighbors
