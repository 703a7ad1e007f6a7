#include "neighbors/grid/level.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::neighbors {

template <int D, class T>
std::vector<std::vector<Record<D, T>>> by_size(std::span<const Record<D, T>> records, std::span<const T> radii,
                                               T smallest, T largest) {
    // Class c holds radii from R / 2^(c w) down to, and without, R / 2^((c + 1) w); w is the whole number for which
    // there are at most most_levels.
    const int octaves = std::ilogb(largest) - std::ilogb(smallest) + 1;
    const int wide = (octaves + static_cast<int>(most_levels)) / static_cast<int>(most_levels);
    std::vector<std::vector<Record<D, T>>> classes;
    std::vector<T> least;
    for (T border = std::ldexp(largest, -wide); least.size() < most_levels; border = std::ldexp(border, -wide))
        least.push_back(border);
    least.back() = 0;
    classes.resize(most_levels);
    for (const Record<D, T>& r : records) {
        std::size_t c = 0;
        while (radii[r.id] <= least[c]) ++c;
        classes[c].push_back(r);
    }
    std::erase_if(classes, [](const auto& c) { return c.empty(); });
    return classes;
}

template std::vector<std::vector<Record<2, float>>> by_size(std::span<const Record<2, float>>, std::span<const float>,
                                                            float, float);
template std::vector<std::vector<Record<3, float>>> by_size(std::span<const Record<3, float>>, std::span<const float>,
                                                            float, float);
template std::vector<std::vector<Record<2, double>>> by_size(std::span<const Record<2, double>>,
                                                             std::span<const double>, double, double);
template std::vector<std::vector<Record<3, double>>> by_size(std::span<const Record<3, double>>,
                                                             std::span<const double>, double, double);

}  // namespace quadrat::neighbors
