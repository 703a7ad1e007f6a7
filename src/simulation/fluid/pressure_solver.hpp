// DFSPH: constant density and divergence-free velocity by two iterations per step (Bender & Koschier 2015,
// "Divergence-free smoothed particle hydrodynamics"). Where the paper has masses and densities this works with rest
// volumes, so that phases of different density may touch: s_i = sum_j V_j W_ij is 1 at rest, and the force between two
// particles is -V_i V_j (k_i + k_j) grad W, opposite on the two. Solids enter by the same shares of walls and fields,
// and samples, as in fluid.cpp, with the particle's k alone: then pressures are what keeps densities from growing and
// do no work of their own, and still water comes to rest (docs/decisions/0081-still-water.md). Bodies that can move do
// so in every iteration (coupling.hpp). Both iterations start from the last step's answer.
//
// The system is D M^-1 D^T k = source: D takes velocities to rates of s, M are the densities. A light particle between
// heavy ones ties all of them together, since it gives way to any of their pressures: Jacobi must then take shorter
// steps there (docs/decisions/0085-phases-of-any-density.md).
#pragma once

#include "simulation/fluid/coupling.hpp"
#include "simulation/fluid/fluid.hpp"
#include "simulation/fluid/pair_loops.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

/// Whether phases differ in density.
[[nodiscard]] bool mixed(const Fluid& fluid);

// The move itself adds to the error: the densities that it leaves are what the bound is for. Iterations end, and steps
// become shorter, at this part of it.
inline constexpr double aim = 0.75;

/// The solver of one step. prepare() comes before everything else.
class PressureSolver {
  public:
    /// Neighbours and densities are those of the present positions.
    PressureSolver(const World& world, Fluid& fluid, Solids& solids);

    /// What depends on positions alone.
    void prepare();
    /// Makes velocities divergence-free where s is at least about 1.
    void make_divergence_free(double dt);
    /// Finds what the last step's pressures do at the present positions, and adds it to accelerations of particles.
    void expect(std::span<Vec3f> by);
    /// Lets what was found act for dt; a negative dt takes it back.
    void act(double dt);
    void act_on_bodies(double dt);
    /// After friction: what pressure lacked while it held, by the squeezing that friction alone slowed down. The next
    /// make_density_constant() adds it to what it leaves for the step after.
    void learn_from_friction();
    /// Makes s at most 1 after the next move. `usual_step` is the longest that the expected speed allows.
    void make_density_constant(double dt, double usual_step);
    /// So far, of both.
    [[nodiscard]] std::uint32_t iterations() const { return iterations_; }

  private:
    template <class Fn>
    void for_all(Fn&& fn);
    void add_neighbours();
    [[nodiscard]] bool crowded(std::size_t i) const;
    /// Rates of change of s by the present velocities.
    void rates();
    template <class Fn>
    void divergence(Fn&& by_bodies);
    void accelerations(const std::vector<float>& kappa);
    [[nodiscard]] double missing(const float* kappa, std::size_t begin, std::size_t end);
    void solve(std::vector<float>& kappa, double dt, double bound, std::uint32_t least);

    const World& world_;
    Fluid& fluid_;
    Solids& solids_;
    std::size_t n_;
    PairLoop loop_;
    float volume_ = 0, slope_ = 0, relaxation_ = 0;
    std::uint32_t iterations_ = 0;
    bool mixed_ = false;  // phases differ in density
    std::vector<std::uint64_t> block_begin_;
    std::vector<float> diagonal_, inverse_, inverse_density_, source_, rate_, last_;
    std::vector<float> lacking_;   // Pa; empty without friction
    std::vector<float> boundary_;  // four per particle, as records are
    Coupling coupling_;
};

}  // namespace quadrat::simulation
