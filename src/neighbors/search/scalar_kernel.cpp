// The plain twin of the vector kernel. It also applies the rule for radii outside [2^-60, 2^60], whose squares leave
// the range of float, which is too rare to be worth vector code.
#include "cells/predicate.hpp"
#include "neighbors/search/kernel.hpp"

#include <cmath>
#include <limits>

namespace quadrat::neighbors {
namespace {

template <int D, class T>
std::size_t copy_all(const Group<T>& g, const Part<T>& p, std::size_t at) {
    QUADRAT_ASSERT(g.scratch && (p.range_count == 0 || p.ranges));
    std::size_t n = at;
    for (std::size_t r = 0; r < p.range_count; ++r)
        for (std::uint32_t j = p.ranges[r].begin; j < p.ranges[r].end; ++j, ++n) {
            for (int k = 0; k < D; ++k) g.scratch->c[k][n] = p.storage[k][j];
            g.scratch->label[n] = p.label ? p.label[j] : j;
            if (p.radius) g.scratch->radius[n] = p.radius[j];
            for (int word = 0; word < 2; ++word)
                if (p.hot[word]) g.scratch->hot[word][n] = p.hot[word][j];
        }
    return n - at;
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

/// How far home a and the candidate at place j may be apart.
template <class T>
T reach_of(const Group<T>& g, unsigned a, std::size_t j) {
    return g.own_radius ? pair_radius(g.rule, g.own_radius[a], g.scratch->radius[j]) + g.skin : g.radius[a];
}

template <class T>
bool visible(const Group<T>& g, unsigned a, std::size_t j) {
    if (!g.sees) return true;
    const std::uint64_t high = g.more_groups ? g.scratch->hot[1].data()[j] : 0;
    return (g.sees[a] & (high << 32 | g.scratch->hot[0].data()[j])) != 0;
}

/// Neutral entries up to a multiple of max_lanes.
template <class T>
std::size_t pad_row(const RowsOut<T>& out, std::uint32_t label, std::size_t n) {
    for (; n % max_lanes != 0; ++n) {
        out.labels[n] = label;
        out.squared[n] = std::numeric_limits<T>::infinity();
        for (T* const delta : out.delta)
            if (delta) delta[n] = T(0);
    }
    return n;
}

template <int D, class T>
std::size_t rows(Group<T>& g, const RowsOut<T>& out) {
    QUADRAT_ASSERT(g.size <= max_group && g.part_count > 0 && (!out.squared || out.labels));
    std::size_t n = 0;
    for (unsigned a = 0; a < g.size; ++a) {
        std::uint32_t count = 0;
        for (std::size_t k = 0; k < g.part_count; ++k) {
            const Part<T>& p = g.parts[k];
            const std::uint32_t before = count;
            const std::size_t first = p.own && out.half ? a + (out.self ? 0u : 1u) : 0u;
            for (std::size_t j = p.begin + first; j < p.end; ++j) {
                const auto label = static_cast<std::uint32_t>(g.scratch->label[j]);
                if (p.own && !out.self && label == g.self[a]) continue;
                Vec<D, T> delta, scaled;
                const cells::NearTest<T> near(reach_of(g, a, j));
                for (int axis = 0; axis < D; ++axis) {
                    delta[axis] = ((g.scratch->c[axis][j] - g.home[axis][a]) + p.offset[axis]) + T(0);
                    scaled[axis] = delta[axis];
                    if (near.scaled()) scaled[axis] = scaled[axis] * near.scale(0) * near.scale(1);
                }
                if (!(cells::length_sq(scaled) <= near.radius_sq()) || !visible(g, a, j)) continue;
                if (out.labels) out.labels[n + count] = label;
                if (out.squared) out.squared[n + count] = cells::length_sq(delta);
                for (int axis = 0; axis < D; ++axis)
                    if (out.delta[axis]) out.delta[axis][n + count] = delta[axis];
                ++count;
            }
            if (out.in_part) out.in_part[a * g.part_count + k] = count - before;
        }
        g.count[a] = count;
        n += count;
        if (out.padded) n = pad_row(out, g.self[a], n);
    }
    return n;
}

template <class T>
bool roots(T* values, std::size_t n) {
    bool normal = true;
    for (std::size_t i = 0; i < n; ++i) {
        const bool good = values[i] >= std::numeric_limits<T>::min() && values[i] <= std::numeric_limits<T>::max();
        normal = normal && good;
        if (good) values[i] = std::sqrt(values[i]);
    }
    return normal;
}

template <int D, class T>
void interleave(const T* const* delta, std::size_t n, T* out) {
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < D; ++k) out[D * i + static_cast<std::size_t>(k)] = delta[k][i];
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

const base::PerKind<RowsKernels>& scalar_rows() {
    static constexpr auto table = base::PerKind<RowsKernels>::from([]<int D, class T>() {
        constexpr RowsKernel<T> any{rows<D, T>, rows<D, T>, rows<D, T>};
        return RowsKernels<D, T>{.by_home = any,
                                 .by_pair = any,
                                 .cull_pairs = copy_all<D, T>,
                                 .roots = roots<T>,
                                 .interleave = interleave<D, T>};
    });
    return table;
}

}  // namespace quadrat::neighbors
