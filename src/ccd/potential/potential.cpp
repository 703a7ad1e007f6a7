// Barrier, mollifier and friction on top of the distances.
#include <quadrat/ccd/potential.hpp>

#include <quadrat/ccd/proximity.hpp>

#include "base/assert.hpp"
#include "ccd/potential/matrices.hpp"

#include <cmath>
#include <limits>

namespace quadrat {

using namespace ccd;

namespace {

// The points of a stencil in its own order.
FourPoints chosen(const ActiveStencil& s, const FourPoints& points) {
    return {points[s.points[0]], points[s.points[1]], points[s.points[2]], points[s.points[3]]};
}

constexpr int point_count(StencilKind kind) {
    return kind == StencilKind::point_point ? 2 : kind == StencilKind::point_edge ? 3 : 4;
}

// From the order of the stencil to that of the four points.
Derivatives spread(const ActiveStencil& s, const Derivatives& d) {
    Derivatives r;
    r.value = d.value;
    const int n = point_count(s.kind);
    for (int i = 0; i < n; ++i) {
        const int to = 3 * s.points[static_cast<std::size_t>(i)];
        gradient(r).segment<3>(to) = gradient(d).segment<3>(3 * i);
        for (int j = 0; j < n; ++j)
            hessian(r).block<3, 3>(to, 3 * s.points[static_cast<std::size_t>(j)]) =
                hessian(d).block<3, 3>(3 * i, 3 * j);
    }
    return r;
}

Derivatives product(const Derivatives& a, const Derivatives& b) {
    Derivatives r;
    r.value = a.value * b.value;
    gradient(r) = a.value * gradient(b) + b.value * gradient(a);
    const Matrix12 mixed = gradient(a) * gradient(b).transpose();
    hessian(r) = (a.value * hessian(b) + b.value * hessian(a)) + (mixed + mixed.transpose());
    return r;
}

// Turns the axes i and j so that a(i, j) becomes 0.
void rotate(Matrix12& a, Matrix12& vectors, int i, int j) {
    QUADRAT_ASSERT(i != j);
    if (a(i, j) == 0) return;
    const double theta = (a(j, j) - a(i, i)) / (2 * a(i, j));
    const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(t * t + 1);
    const double s = t * c;
    for (int k = 0; k < 12; ++k) {
        const double x = a(k, i), y = a(k, j);
        a(k, i) = c * x - s * y;
        a(k, j) = s * x + c * y;
    }
    for (int k = 0; k < 12; ++k) {
        const double x = a(i, k), y = a(j, k);
        a(i, k) = c * x - s * y;
        a(j, k) = s * x + c * y;
    }
    for (int k = 0; k < 12; ++k) {
        const double x = vectors(k, i), y = vectors(k, j);
        vectors(k, i) = c * x - s * y;
        vectors(k, j) = s * x + c * y;
    }
}

}  // namespace

ActiveStencil stencil_of(ImpactKind kind, const FourPoints& points) {
    const Closest c = closest_points(kind, points);
    const auto& w = c.barycentric;
    ActiveStencil s;
    std::uint8_t used[2][3] = {};
    int count[2] = {};
    const std::uint8_t first = kind == ImpactKind::vertex_face ? 1 : 2;
    for (std::uint8_t i = 0; i < 4; ++i) {
        const int side = i < first ? 0 : 1;
        if (w[i] > 0) used[side][count[side]++] = i;
    }
    if (count[0] + count[1] == 4) {
        s.kind = kind == ImpactKind::vertex_face ? StencilKind::point_triangle : StencilKind::edge_edge;
        return s;
    }
    QUADRAT_ASSERT(count[0] > 0 && count[1] > 0);
    const int longer = count[1] > count[0] ? 1 : 0;  // the edge, if there is one, comes second
    const std::uint8_t point = used[1 - longer][0];
    if (count[longer] == 2) {
        s.kind = StencilKind::point_edge;
        s.points = {point, used[longer][0], used[longer][1], used[longer][1]};
    } else {
        s.kind = StencilKind::point_point;
        s.points = {used[0][0], used[1][0], used[1][0], used[1][0]};
    }
    return s;
}

ScalarDerivatives log_barrier(double s, double r) {
    QUADRAT_ASSERT(r > 0);
    if (!(s < r)) return {};
    if (!(s > 0)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return {infinity, -infinity, infinity};
    }
    const double gap = s - r;
    const double log = std::log(s / r);
    return {-gap * gap * log, -gap * (2 * log + gap / s), -2 * log - 4 * gap / s + gap * gap / (s * s)};
}

Derivatives compose(const ScalarDerivatives& outer, const Derivatives& inner) {
    Derivatives r;
    r.value = outer.value;
    gradient(r) = outer.first * gradient(inner);
    hessian(r) = outer.second * gradient(inner) * gradient(inner).transpose() + outer.first * hessian(inner);
    return r;
}

Derivatives edge_mollifier(const FourPoints& p, double threshold) {
    const int ends[2][2] = {{1, 0}, {3, 2}};
    const Derivatives c = by_points(cross_square(vector(p[1]) - vector(p[0]), vector(p[3]) - vector(p[2])), ends);
    if (!(c.value < threshold)) return {.value = 1};
    const double x = c.value / threshold;
    return compose({x * (2 - x), (2 - 2 * x) / threshold, -2 / (threshold * threshold)}, c);
}

Derivatives contact_barrier(ImpactKind kind, const FourPoints& points, double activation_sq, double threshold) {
    QUADRAT_ASSERT(activation_sq > 0);
    const ActiveStencil s = stencil_of(kind, points);
    const FourPoints p = chosen(s, points);
    if (!(distance_sq(s.kind, p) < activation_sq)) return {};
    const Derivatives d = derive_distance_sq(s.kind, p);
    const Derivatives barrier = spread(s, compose(log_barrier(d.value, activation_sq), d));
    if (kind == ImpactKind::vertex_face || !(threshold > 0)) return barrier;
    return product(edge_mollifier(points, threshold), barrier);
}

FrictionContact friction_contact(ImpactKind kind, const FourPoints& points, double force) {
    const Closest c = closest_points(kind, points);
    const auto& w = c.barycentric;
    FrictionContact f{.weights = w, .normal = c.direction, .force = force};
    for (std::size_t i = kind == ImpactKind::vertex_face ? 1 : 2; i < 4; ++i) f.weights[i] = -w[i];
    return f;
}

// With e the threshold: f(x) = x for x >= e, and -x^3 / (3 e^2) + x^2 / e + e / 3 below, so that f' = x (2 e - x) / e^2
// goes from 0 to 1.
Derivatives friction_potential(const FrictionContact& contact, const FourPoints& displacement, double mu,
                               double threshold) {
    QUADRAT_ASSERT(mu >= 0 && threshold > 0);
    const Vector3 n = vector(contact.normal);
    const Matrix3 across = Matrix3::Identity() - n * n.transpose();
    Vector3 motion = Vector3::Zero();
    for (std::size_t i = 0; i < 4; ++i) motion += contact.weights[i] * vector(displacement[i]);
    const Vector3 slip = across * motion;
    const double x = slip.norm();
    const double e = threshold;
    const bool slides = x >= e;
    const double scale = mu * contact.force;
    const double value = slides ? x : x * x * (1 / e - x / (3 * e * e)) + e / 3;
    const double first_over_x = slides ? 1 / x : (2 - x / e) / e;
    // f'' = (2 e - 2 x) / e^2 below; the Hessian is f'/x on the plane, and f'' along the slip.
    const double second = slides ? 0 : (2 - 2 * x / e) / e;
    Matrix3 curve = first_over_x * across;
    if (x > 0) curve += (second - first_over_x) / (x * x) * slip * slip.transpose();
    Derivatives r;
    r.value = scale * value;
    for (int i = 0; i < 4; ++i) {
        const double wi = contact.weights[static_cast<std::size_t>(i)];
        gradient(r).segment<3>(3 * i) = scale * wi * first_over_x * slip;
        for (int j = 0; j < 4; ++j)
            hessian(r).block<3, 3>(3 * i, 3 * j) = scale * wi * contact.weights[static_cast<std::size_t>(j)] * curve;
    }
    return r;
}

// Jacobi's method: rotations of two axes at a time until the matrix is diagonal, then what is negative there is left
// out of the sum of value times vector times vector.
Derivatives project_positive(const Derivatives& d) {
    Matrix12 a = hessian(d);
    Matrix12 vectors = Matrix12::Identity();
    const double enough = 0x1p-104 * a.squaredNorm();
    for (int sweep = 0; sweep < 32; ++sweep) {
        double beside = 0;
        for (int i = 0; i < 12; ++i)
            for (int j = 0; j < i; ++j) beside += a(i, j) * a(i, j);
        if (!(beside > enough)) break;
        for (int i = 1; i < 12; ++i)
            for (int j = 0; j < i; ++j) rotate(a, vectors, i, j);
    }
    Derivatives r = d;
    Matrix12 sum = Matrix12::Zero();
    for (int i = 0; i < 12; ++i)
        if (a(i, i) > 0) sum += a(i, i) * vectors.col(i) * vectors.col(i).transpose();
    hessian(r) = sum;
    return r;
}

}  // namespace quadrat
