// What holds a viscous fluid: solids that it does not slip along. Each place of a solid near a particle is a neighbour
// whose velocity is the solid's. A wall, and a body that is a distance field, stands for the ghost particles of its
// lattice behind the surface, whose velocities go on in a straight line through that of the surface (Morris et al.
// 1997, "Modeling low Reynolds number incompressible flows using SPH", 3.3), summed beforehand by the distance. A solid
// without friction lets the fluid slip.
#pragma once

#include "simulation/fluid/fluid.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <vector>

namespace quadrat::simulation {

using Vector3f = Eigen::Vector3f;
using Matrix3f = Eigen::Matrix3f;

/// The ghosts behind a plane at distance d: -sum V (W'/r) z^2 across it and -sum V (W'/r) x^2 along it.
class Behind {
  public:
    Behind() = default;
    Behind(const Fluid& fluid, int dimension);
    struct Sums {
        float across, along;
    };
    [[nodiscard]] Sums operator()(float d) const;

  private:
    static constexpr int bins = 256;
    float support_ = 0;
    std::vector<Sums> at_;
};

/// One place that holds one particle.
struct Hold {
    std::uint32_t particle;
    int body;        ///< number among the dynamic ones; -1: the speed is given
    Vector3f pull;   ///< V (W'/r) d, as of a neighbour
    Vector3f speed;  ///< of the place, given or now
    Vector3f arm;    ///< from the centre of a dynamic body
};

/// Adds what holds particle i to a list, and the solids' part of its second moment.
void find_holds(const World& world, const Fluid& fluid, const Solids& solids, const Behind& behind, std::size_t i,
                std::vector<Hold>& holds, Matrix3f& second);

}  // namespace quadrat::simulation
