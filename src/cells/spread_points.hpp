// Points that are put one after the other, each only if what is near it agrees: samples of surfaces, and bodies that
// are scattered without touching. Cells in a hash map, as wide as the farthest that is asked for (the plain spatial
// hash of Teschner et al. 2003); for a few thousand points, while a scene is read.
#pragma once

#include "base/assert.hpp"
#include "base/random.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace quadrat::cells {

class SpreadPoints {
  public:
    using Place = std::array<double, 3>;

    /// edge: of a cell, as far as any_near() looks.
    explicit SpreadPoints(double edge) : edge_(edge) { QUADRAT_ASSERT(edge > 0); }
    [[nodiscard]] double edge() const { return edge_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Puts a point, whose number is how many there were.
    void add(const Place& place) { cells_[cell_of(place)].push_back(size_++); }
    /// Whether is(number) is true of a point that may be as near as an edge; some that are farther are asked, too.
    template <class Is>
    [[nodiscard]] bool any_near(const Place& place, Is&& is) const {
        const Cell c = cell_of(place);
        for (std::int64_t x = -1; x <= 1; ++x)
            for (std::int64_t y = -1; y <= 1; ++y)
                for (std::int64_t z = -1; z <= 1; ++z) {
                    const auto found = cells_.find({c[0] + x, c[1] + y, c[2] + z});
                    if (found == cells_.end()) continue;
                    for (const std::size_t number : found->second)
                        if (is(number)) return true;
                }
        return false;
    }

  private:
    using Cell = std::array<std::int64_t, 3>;
    struct Hash {
        std::size_t operator()(const Cell& c) const {
            std::uint64_t h = 0;
            for (const std::int64_t x : c) h = base::scramble(h + static_cast<std::uint64_t>(x));
            return h;
        }
    };
    [[nodiscard]] Cell cell_of(const Place& p) const {
        Cell c;
        for (std::size_t k = 0; k < 3; ++k) c[k] = static_cast<std::int64_t>(std::floor(p[k] / edge_));
        return c;
    }

    double edge_;
    std::size_t size_ = 0;
    std::unordered_map<Cell, std::vector<std::size_t>, Hash> cells_;
};

}  // namespace quadrat::cells
