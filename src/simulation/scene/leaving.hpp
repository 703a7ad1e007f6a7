// What leaves by an open side and does not come back. It would fly on for ever, ever faster where it falls, and shorten
// the steps of all that is still there: farther out than a few lengths of the domain a particle is taken out of the
// simulation, and a body stays where it is.
#pragma once

#include <quadrat/simulation/scene.hpp>

#include <algorithm>
#include <limits>

namespace quadrat::simulation {

class Leaving {
  public:
    static constexpr double lengths = 4;

    Leaving() = default;
    explicit Leaving(const Scene& s) {
        double longest = 0;
        for (int k = 0; k < s.dimension; ++k) longest = std::max(longest, s.domain.box.hi[k] - s.domain.box.lo[k]);
        for (int k = 0; k < s.dimension; ++k) {
            const auto side = 2 * static_cast<std::size_t>(k);
            // Gravity, or the pull to the origin, may bring it back.
            const bool stays = s.domain.periodic[side / 2] || s.attraction > 0;
            if (s.domain.open[side] && !stays && s.gravity[k] <= 0)
                bounds_.lo[k] = s.domain.box.lo[k] - lengths * longest;
            if (s.domain.open[side + 1] && !stays && s.gravity[k] >= 0)
                bounds_.hi[k] = s.domain.box.hi[k] + lengths * longest;
        }
    }

    template <class T>
    [[nodiscard]] bool gone(const Vec<3, T>& x, const Vec<3, T>& v) const {
        for (int k = 0; k < 3; ++k)
            if ((double{x[k]} < bounds_.lo[k] && v[k] <= 0) || (double{x[k]} > bounds_.hi[k] && v[k] >= 0)) return true;
        return false;
    }

  private:
    static constexpr double never = std::numeric_limits<double>::infinity();
    Box3d bounds_ = {{{-never, -never, -never}}, {{never, never, never}}};
};

}  // namespace quadrat::simulation
