// Where the parts of a cloth are after a step: the least of
//
//     sum m |x - where it would fly|^2 / 2 + h^2 (springs (|d| - length)^2 / (2 compliance) + contacts),
//
// which is one implicit step of Euler (Martin et al. 2011, "Example-based elastic materials", section 4). By Newton's
// method with conjugate gradients for all vertices at once: sweeps over springs one by one, as of position based
// dynamics, carry a force a few edges far, so that a sheet of many cells stretches like rubber, whatever its
// compliance.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

struct Spring {
    std::uint32_t a, b;
    double length, compliance;
};

/// Up to four vertices of the cloth that something keeps on one side: the gap is
/// fixed + sum of weight (normal x), and what slides is slid + sum of weight x, less its part along the normal.
struct Touch {
    std::uint32_t vertex[4];
    double weight[4];
    int count = 0;
    Eigen::Vector3d normal, slid;
    double fixed = 0;
    double push = 0;  ///< found: along the normal, kg m
    double rub = 0;   ///< found: the most along the plane, kg m
};

/// One step of one cloth.
class ImplicitStep {
  public:
    struct Options {
        double step = 0, thickness = 0, friction = 0;
        std::uint32_t rounds = 0;  ///< of Newton, at most
        double enough = 0;         ///< metres: a round that moves nothing farther is the last
    };
    /// flying: where each vertex would be without forces. mass: kg; 0 where it is held.
    ImplicitStep(std::span<const Spring> springs, std::vector<Touch>& touches, std::span<const double> mass,
                 std::span<const Eigen::Vector3d> flying, const Options& options);

    /// From where it is, or would fly, whichever is nearer to the solution. Returns how often forces were computed.
    std::uint32_t solve(std::vector<Eigen::Vector3d>& x);
    /// What a touch gave the cloth by then, kg m.
    [[nodiscard]] Eigen::Vector3d push(const Touch& t, const std::vector<Eigen::Vector3d>& x) const;

  private:
    using Vector = Eigen::Vector3d;
    using Matrix = Eigen::Matrix3d;

    [[nodiscard]] double gap(const Touch& t, const std::vector<Vector>& x) const;
    [[nodiscard]] Vector friction(const Touch& t, const Vector& along) const;
    [[nodiscard]] double energy(const std::vector<Vector>& x) const;
    /// Forces and stiffness at x.
    void linearize(const std::vector<Vector>& x);
    void multiply(const std::vector<Vector>& p, std::vector<Vector>& out) const;
    std::uint32_t direction(std::vector<Vector>& d);

    std::span<const Spring> springs_;
    std::vector<Touch>& touches_;
    std::span<const double> mass_;
    std::span<const Vector> flying_;
    Options options_;
    std::vector<Matrix> stiff_, pressed_;  // of springs and touches
    std::vector<Matrix> ease_;             // of each vertex alone
    std::vector<Vector> force_;
};

}  // namespace quadrat::simulation
