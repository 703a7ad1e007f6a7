// Bodies in the pressure solve. A pressure that pushes a particle off a light body pushes the body as well, and what
// the body gives way the particle need not go. A solver that takes bodies as fixed, and moves them afterwards, lets
// each particle push as if the body were heavy; a body that weighs as much as a few particles is then thrown to and
// fro, and throws the fluid (docs/decisions/0080-light-bodies-in-the-pressure-solve.md). Here bodies take part in every
// iteration: the sum over boundary samples of one body near one particle is kept as one row, and the accelerations that
// all pressures give to a body enter the rate of change of each density next to it. Strong coupling in the sense of
// Gissler et al. 2019, "Interlinked SPH pressure solvers for strong fluid-rigid coupling", without its second solver.
#pragma once

#include "simulation/fluid/fluid.hpp"

#include <cstdint>
#include <vector>

namespace quadrat::simulation {

class Coupling {
  public:
    Coupling(const World& world, const Fluid& fluid, const Solids& solids);

    /// Gradient of the share of all solids in the density of particle i. Keeps what it holds of bodies that move.
    /// Particles of different tasks may be gathered at the same time, those of one task in order.
    [[nodiscard]] Vec3f gather(std::size_t task, std::size_t i);
    /// After all are gathered: adds the bodies' part to the diagonal of the system.
    void finish(std::vector<float>& diagonal);

    /// Accelerations of the bodies by pressures k of all particles.
    void accelerate(const std::vector<float>& kappa);
    /// What these accelerations take from the rate of change of particle i.
    [[nodiscard]] float by_accelerations(std::size_t i) const { return by(i, accelerations_); }
    /// What the bodies' present velocities take from it; read_velocities() comes first.
    void read_velocities();
    [[nodiscard]] float by_velocities(std::size_t i) const { return by(i, velocities_); }
    /// Lets the accelerations act for a time.
    void apply(Solids& solids, double dt) const;

  private:
    struct Hold {
        std::uint32_t particle, body;
        Vec3f push, turn;  ///< force and torque on the body for a unit of k, over the particle's volume
    };
    struct Motion {
        Vec3f along = {}, about = {};
    };
    [[nodiscard]] float by(std::size_t i, const std::vector<Motion>& motions) const {
        if (row_.empty()) return 0;
        float sum = 0;
        for (std::size_t e = row_[i]; e < row_[i + 1]; ++e) {
            const Hold& h = holds_[e];
            const Motion& m = motions[h.body];
            for (int k = 0; k < 3; ++k) sum += h.push[k] * m.along[k] + h.turn[k] * m.about[k];
        }
        return sum;
    }

    const World& world_;
    const Fluid& fluid_;
    const Solids& solids_;
    float volume_, slope_scale_;
    bool any_ = false;  // bodies that move
    std::vector<std::vector<Hold>> gathered_;
    std::vector<Hold> holds_;                // by particle
    std::vector<std::size_t> row_;           // of each particle in holds_; empty without holds
    std::vector<std::size_t> column_;        // of each body in by_body_
    std::vector<std::uint32_t> by_body_;     // places in holds_
    std::vector<Matrix3d> inverse_inertia_;  // in the world
    std::vector<Motion> accelerations_, velocities_;
};

}  // namespace quadrat::simulation
