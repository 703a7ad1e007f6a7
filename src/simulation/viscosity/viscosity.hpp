// The room of viscosity, as the others see it: what it takes from the velocities in a time, implicitly, so that honey
// and lava run at the Courant step. The step room uses Viscosity, and holds the Behind of holds.hpp from one step to
// the next; the rest is for this room alone.
//
// What friction dissipates is the sum over the particles of
//
//     2 mu V |E|^2 + sum_j (2 (D + 2) mu V V_j |W'| / r) / (r^2 + 0.01 (h/2)^2) (d du - d E d)^2,
//
// with d = x_i - x_j, du = u_i - u_j, and E the strain rate by the gradient that is exact where velocities are linear
// (Randles & Libersky 1996). The first part is the viscous energy itself. The second is what the neighbours' velocities
// differ from the linear ones by; it leaves no motion without friction, as nested gradients have them, and goes to 0
// with the square of the spacing, from above where the first comes from below: its factor of 2 cancels the leading
// error. The force is minus half of the gradient by the velocities, so that momentum and angular momentum stay, the
// surface is free, and the system M u + dt L u = M v is symmetric and positive: conjugate gradients without a matrix,
// from the last step's answer, after Weiler et al. 2018, "A physically consistent implicit viscosity solver for SPH
// fluids". In time it is second order, by two implicit stages, several times in
// a step that takes much. Pressure, gravity and the rest act within them. Departures: theirs has the pairs alone, du
// instead of the difference from the linear field, which is up to 26 % too little friction along the rows of a lattice
// and as much too much across them (docs/decisions/0170-viscosity-by-strain-and-ties.md); and bodies are unknowns of
// the same system, so that a light body in honey takes part.
#pragma once

#include "base/parallel.hpp"
#include "simulation/viscosity/holds.hpp"
#include "simulation/viscosity/strain_loops.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

/// The viscosity of one step, at the present positions, neighbours and poses; where Fluid::implicit_viscosity is set.
class Viscosity {
  public:
    Viscosity(const World& world, Fluid& fluid, Solids& solids, const Behind& behind);

    /// Velocities after dt of friction and other accelerations together, and those of the bodies. Returns how often
    /// forces were computed.
    ///
    /// v: m / s, one per particle, before and after. a: of the others, m / s^2.
    /// before: the bodies before the others acted on them; the solids' own poses have what these did.
    std::uint32_t act(std::span<Vec3f> v, std::span<const Vec3f> a, std::span<const BodyPose> before, double dt);

  private:
    struct Motion {
        Vector along = Vector::Zero(), about = Vector::Zero();
    };
    /// Velocities, or forces, of everything that moves. Those of particles are forces per volume.
    struct State {
        std::vector<Vec3f> fluid;
        std::vector<Motion> bodies;
    };
    enum class Given : bool { no, yes };

    template <class Fn>
    void for_all(Fn&& fn) {
        base::parallel_for(world_.executor, n_, grain, fn);
    }
    void arrange(std::size_t begin, std::size_t end, std::vector<Hold>& holds);
    void join_holds(std::vector<std::vector<Hold>>& found);
    void set_scales();
    [[nodiscard]] Vector3f speed_of(const Hold& h, const State& u, Given given) const;
    void strain(const State& u, Given given, std::size_t begin, std::size_t end);
    /// friction = L u; with the given speeds of walls and bodies, or as if they were at rest.
    void find_friction(const State& u, Given given, State& friction);
    /// to = M u + dt friction.
    void add_mass(const State& u, double dt, State& to) const;
    [[nodiscard]] double dot(const State& a, const State& b) const;
    /// to = from over the diagonal.
    void ease(const State& from, double dt, State& to) const;
    /// to = a + s b
    void combine(const State& a, double s, const State& b, State& to) const;
    /// The part of its velocity that friction may take from a particle or body in a second.
    [[nodiscard]] double largest_rate() const;
    /// The root of twice the kinetic energy.
    [[nodiscard]] double size(const State& u) const;
    [[nodiscard]] std::uint32_t parts(const State& start, const State& others, const State& friction, double dt) const;
    /// to = s to
    void scale(double s, State& to) const;
    std::uint32_t advance(State& u, const State& others, State& drag, double dt);
    std::uint32_t implicit(const State& v, State& u, double dt);
    std::uint32_t solve(State& u, State& residual, double enough, double dt);

    const World& world_;
    Fluid& fluid_;
    Solids& solids_;
    const Behind& behind_;
    std::size_t n_;
    StrainLoop loop_;
    std::vector<Moments> moments_;
    std::vector<Matrix3f> inverse_;  // of the second moments; 0 where too few neighbours are around
    base::Array<float> flow_, strain_, stress_;
    std::vector<Hold> holds_;  // by particle
    std::vector<std::size_t> row_;
    std::vector<Vector3f> held_;       // force of each hold, over the particle's volume
    std::vector<std::size_t> bodies_;  // numbers of the dynamic ones
    std::vector<double> mass_;
    std::vector<Matrix3d> inertia_;
    std::vector<float> scale_;           // of a particle's diagonal, per volume
    std::vector<double> along_, about_;  // what the fluid adds to the diagonals of bodies
};

}  // namespace quadrat::simulation
