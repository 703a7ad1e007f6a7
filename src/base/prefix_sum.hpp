// Exclusive prefix sums of counts, in place: {3, 1, 2} becomes {0, 3, 4} and 6 is returned. Integers, so the result
// does not depend on how the work is cut.
#pragma once

#include "base/parallel.hpp"

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat::base {

/// Sums wrap around like any unsigned arithmetic: choose T wide enough for the total.
template <class T>
T exclusive_prefix_sum(std::span<T> counts, Executor* executor = nullptr) {
    static_assert(std::is_unsigned_v<T>);
    constexpr std::size_t grain = 1 << 16;
    const auto scan = [&](std::size_t begin, std::size_t end, T sum) {
        for (std::size_t i = begin; i < end; ++i) {
            const T count = counts[i];
            counts[i] = sum;
            sum = static_cast<T>(sum + count);
        }
        return sum;
    };
    if (thread_count(executor) == 1 || counts.size() <= 2 * grain) return scan(0, counts.size(), 0);
    std::vector<T> part(chunk_count(counts.size(), grain));
    parallel_for(executor, counts.size(), grain, [&](std::size_t begin, std::size_t end) {
        T sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum = static_cast<T>(sum + counts[i]);
        part[begin / grain] = sum;
    });
    const T total = exclusive_prefix_sum(std::span(part));
    parallel_for(executor, counts.size(), grain,
                 [&](std::size_t begin, std::size_t end) { scan(begin, end, part[begin / grain]); });
    return total;
}

}  // namespace quadrat::base
