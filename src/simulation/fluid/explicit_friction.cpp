// How long a step may be where viscosity is a force between particles. Between i and j that force is -c n n (v_i - v_j)
// along n from one to the other, or -c (v_i - v_j) with the paper's Laplacian. A motion u loses the energy of
// sum c (n (u_i - u_j))^2 over the pairs, which is at most twice the sum over i of u_i (sum_j c n n) u_i; on a lattice
// sum_j c n n is the same for every direction, sum_j c / D. So no motion decays faster than 2 sum_j c / (D m), or
// 2 sum_j c / m with the paper's, and a step by explicit forces is stable up to 2 over that. With
// c = V^2 mu 2 (D + 2) |W'| r / (r^2 + 0.01 (h/2)^2) this is a good deal shorter than the 0.125 (h/2)^2 rho / mu of
// Morris et al. 1997, whose sum has not the factor 2 (D + 2).
#include "base/assert.hpp"
#include "simulation/fluid/fluid.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// sum_j c / m (over D) for a viscosity and a density of 1, of particles of a volume and a support.
double lattice_rate(const World& world, const Fluid& fluid, double volume, double support) {
    QUADRAT_ASSERT(volume > 0 && support > 0);
    const int dimension = world.scene.dimension;
    const double edge = std::pow(volume, 1.0 / dimension), soft = 0.0025 * support * support;
    const double scale = volume / std::pow(support, dimension + 2);
    const int reach = static_cast<int>(support / edge) + 1, deep = dimension == 3 ? reach : 0;
    double sum = 0;
    for (int z = -deep; z <= deep; ++z)
        for (int y = -reach; y <= reach; ++y)
            for (int x = -reach; x <= reach; ++x) {
                const double r = edge * std::sqrt(x * x + y * y + z * z);
                const auto q = static_cast<float>(r / support);
                if (r == 0 || q >= 1) continue;
                if (world.scene.kernel == KernelKind::paper)
                    sum += scale * double{fluid.viscosity_kernel.laplacian(q)};
                else
                    sum -= scale * double{fluid.force_kernel.slope(q)} * 2 * (dimension + 2) / dimension * r * r /
                           (r * r + soft);
            }
    return sum;
}

}  // namespace

void find_friction_rates(const World& world, Fluid& fluid) {
    for (const PhaseData& f : fluid.phases)
        fluid.friction_rates.push_back(lattice_rate(world, fluid, double{f.volume}, double{f.support}));
}

double explicit_friction(const World& world, const Fluid& fluid, const PhaseData& phase, double support) {
    QUADRAT_ASSERT(support > 0 && fluid.friction_rates.size() == fluid.phases.size());
    double thickest = 0, damping = 0;
    for (const PhaseData& other : fluid.phases) {
        thickest = std::max(thickest, double{other.viscosity});
        damping = std::max(damping, double{other.artificial} * double{other.sound_speed});
    }
    double viscosity = fluid.implicit_viscosity ? 0 : 0.5 * (double{phase.viscosity} + thickest);
    // Artificial viscosity has alpha c rho h/2 where viscosity has 2 (D + 2) mu, with every kernel.
    viscosity += damping * double{phase.rest_density} * 0.5 * support / (2 * (world.scene.dimension + 2));
    const double wider = support / double{phase.support};
    const double rate = fluid.friction_rates[static_cast<std::size_t>(&phase - fluid.phases.data())];
    return 2 * viscosity / double{phase.rest_density} * rate / (wider * wider);
}

}  // namespace quadrat::simulation
