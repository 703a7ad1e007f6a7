// The plain twin of the vector kernel. It also applies the rule for radii outside [2^-60, 2^60], whose squares leave
// the range of float, which is too rare to be worth vector code.
#include "cells/predicate.hpp"
#include "neighbors/search/kernel.hpp"

#include <algorithm>

namespace quadrat::neighbors {
namespace {

template <int D, class T>
std::size_t copy_all(const Group<T>& g) {
    QUADRAT_ASSERT(g.scratch && (g.range_count == 0 || g.ranges));
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
    QUADRAT_ASSERT(g.size <= max_group && candidates <= g.scratch->capacity);
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

const base::PerKind<Kernel>& scalar_kernels() {
    static constexpr auto table = base::PerKind<Kernel>::from([]<int D, class T>() {
        return Kernel<D, T>{.cull = copy_all<D, T>,
                            .cull_unlabelled = copy_all<D, T>,
                            .full = test<D, T, false, true>,
                            .half = test<D, T, true, true>,
                            .count = test<D, T, false, false>,
                            .count_half = test<D, T, true, false>};
    });
    return table;
}

}  // namespace quadrat::neighbors
