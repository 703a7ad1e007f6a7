// What solvers with a contact barrier need (incremental potential contact, projective dynamics, cloth): squared
// distances of points, edges and triangles with their derivatives, the mollifier of nearly parallel edges, the
// logarithmic barrier and lagged friction (Li et al., Incremental Potential Contact, SIGGRAPH 2020, sections 4 and 5;
// here written down from one formula for all kinds, in the notation of src/ccd/potential/distance.cpp).
//
// Functions of their arguments: any number of threads may call them at a time. The same bytes on every machine.
#pragma once

#include <quadrat/ccd/impact.hpp>

#include <array>

namespace quadrat {

/// A value and its derivatives by the coordinates of four points: three of point 0, three of point 1, and so on.
struct Derivatives {
    double value = 0;
    std::array<double, 12> gradient = {};
    /// Symmetric, row after row.
    std::array<double, 144> hessian = {};
};

/// A function of one number, and its first two derivatives.
struct ScalarDerivatives {
    double value = 0;
    double first = 0;
    double second = 0;
};

/// Whose distance: of two points, of a point and the line of an edge, of a point and the plane of a triangle, of the
/// lines of two edges.
enum class StencilKind : std::uint8_t {
    point_point,     ///< points 0 and 1; the others do not count
    point_edge,      ///< point 0 and the line through 1 and 2
    point_triangle,  ///< point 0 and the plane through 1, 2 and 3
    edge_edge,       ///< the lines through 0 and 1 and through 2 and 3
};

/// The squared distance, without regard to where edges and triangles end; stencil_of() says which kind is right for two
/// features. Infinite or NaN for an edge without length, a triangle without area or parallel edges: those are the
/// features of which stencil_of() gives another kind.
///
/// The relative error is some 10 roundoffs times (L / h)^2, L the length of the edges and h the distance or, where that
/// is smaller, the height of the triangle or the distance of the ends of one edge from the line of the other.
[[nodiscard]] double distance_sq(StencilKind kind, const FourPoints& points);
/// The same with gradient and Hessian.
[[nodiscard]] Derivatives derive_distance_sq(StencilKind kind, const FourPoints& points);

/// How two features are closest: the kind of distance that equals theirs, and which of the four points make it up, in
/// the order of that kind (the last ones repeat for kinds of fewer points).
struct ActiveStencil {
    StencilKind kind = StencilKind::point_triangle;
    std::array<std::uint8_t, 4> points = {0, 1, 2, 3};
};
/// From the closest points of the features, see closest_points(): a weight of zero drops its point.
[[nodiscard]] ActiveStencil stencil_of(ImpactKind kind, const FourPoints& points);

/// b(s) = -(s - r)^2 ln(s / r) for 0 < s < r, and 0 from r on: infinite at contact, with two continuous derivatives at
/// r. For squared distances give squares.
///
/// s: positive, or the value is infinite.
/// r: where the barrier begins; positive.
[[nodiscard]] ScalarDerivatives log_barrier(double s, double r);

/// outer(inner(x)) by the chain rule; `outer` was taken at inner.value.
[[nodiscard]] Derivatives compose(const ScalarDerivatives& outer, const Derivatives& inner);

/// Between 0 and 1: -(c / e)^2 + 2 c / e where c = |u x v|^2 of the edges u and v is smaller than e, 1 beyond. It takes
/// the barrier of nearly parallel edges away, whose distance has no second derivative; point and edge pairs keep them
/// apart.
///
/// threshold: e, in the unit of length to the fourth power; 1e-3 |u|^2 |v|^2 of the edges at rest is usual.
[[nodiscard]] Derivatives edge_mollifier(const FourPoints& points, double threshold);

/// The barrier of two features with squared distance below `activation_sq`: log_barrier of the squared distance of
/// their stencil, for edges times their mollifier. By the coordinates of all four points.
///
/// activation_sq: positive.
/// threshold: of the mollifier, for two edges. Default: 0, none.
[[nodiscard]] Derivatives contact_barrier(ImpactKind kind, const FourPoints& points, double activation_sq,
                                          double threshold = 0);

/// What friction at one contact needs and what stays fixed while a step is solved ("lagged").
struct FrictionContact {
    /// Weights of the relative motion of the first feature against the second: 1, -w1, -w2, -w3 for a vertex and a
    /// face, 1 - s, s, -(1 - r), -r for two edges; see friction_contact().
    std::array<double, 4> weights = {};
    /// Unit vector across the contact.
    Vec3d normal = {};
    /// The size of the normal force (times the square of the time step, as the barrier's gradient is).
    double force = 0;
};
/// The weights and the normal at the closest points; `force` is the length of the barrier's gradient on the first
/// feature.
[[nodiscard]] FrictionContact friction_contact(ImpactKind kind, const FourPoints& points, double force);

/// mu force f(|slip|), slip the relative displacement across the normal since the start of the step: f is |slip| beyond
/// the threshold and a cubic with f' from 0 to 1 below it, so that rest is smooth. Its negative gradient is the
/// friction force, never longer than mu force.
///
/// displacement: of the four points since the start of the step.
/// mu: the coefficient of friction, not negative.
/// threshold: the slip below which friction is static, in the unit of length; positive.
[[nodiscard]] Derivatives friction_potential(const FrictionContact& contact, const FourPoints& displacement, double mu,
                                             double threshold);

/// The same with the Hessian's negative eigenvalues set to zero, for Newton steps that must go downhill.
[[nodiscard]] Derivatives project_positive(const Derivatives& d);

}  // namespace quadrat
