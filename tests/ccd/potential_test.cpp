// Distances and their derivatives against exact arithmetic (Taylor series of rational functions) and, for what has
// logarithms and roots in it, against differences.
#include <quadrat/ccd.hpp>

#include "ccd/closest_oracle.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace quadrat::potential_test {
namespace {

using test::Rational;

// a + b t + c t^2, exactly.
struct Series {
    Rational a = 0, b = 0, c = 0;

    friend Series operator+(const Series& x, const Series& y) { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
    friend Series operator-(const Series& x, const Series& y) { return {x.a - y.a, x.b - y.b, x.c - y.c}; }
    friend Series operator*(const Series& x, const Series& y) {
        return {x.a * y.a, x.a * y.b + x.b * y.a, x.a * y.c + x.b * y.b + x.c * y.a};
    }
    friend Series operator/(const Series& x, const Series& y) {
        Series q;
        q.a = x.a / y.a;
        q.b = (x.b - q.a * y.b) / y.a;
        q.c = (x.c - q.a * y.c - q.b * y.b) / y.a;
        return q;
    }
};
using SeriesVector = std::array<Series, 3>;

SeriesVector minus(const SeriesVector& a, const SeriesVector& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Series dot(const SeriesVector& a, const SeriesVector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
SeriesVector cross(const SeriesVector& a, const SeriesVector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The squared distance along a direction of the twelve coordinates.
Series exact(StencilKind kind, const FourPoints& points, const std::array<int, 12>& direction) {
    std::array<SeriesVector, 4> p;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 3; ++k)
            p[i][k] = {Rational(points[i][static_cast<int>(k)]), Rational(direction[3 * i + k]), 0};
    switch (kind) {
        case StencilKind::point_point: {
            const SeriesVector d = minus(p[0], p[1]);
            return dot(d, d);
        }
        case StencilKind::point_edge: {
            const SeriesVector e = minus(p[2], p[1]), c = cross(minus(p[0], p[1]), e);
            return dot(c, c) / dot(e, e);
        }
        case StencilKind::point_triangle: {
            const SeriesVector n = cross(minus(p[2], p[1]), minus(p[3], p[1]));
            const Series h = dot(minus(p[0], p[1]), n);
            return h * h / dot(n, n);
        }
        default: {
            const SeriesVector n = cross(minus(p[1], p[0]), minus(p[3], p[2]));
            const Series h = dot(minus(p[2], p[0]), n);
            return h * h / dot(n, n);
        }
    }
}

double approximate(const Rational& r) {
    return static_cast<double>(r);
}

FourPoints some_points(std::mt19937_64& random) {
    std::uniform_real_distribution<double> real(-1, 1);
    FourPoints p;
    for (Vec3d& v : p)
        for (double& x : v.v) x = real(random);
    return p;
}

constexpr StencilKind all_kinds[] = {StencilKind::point_point, StencilKind::point_edge, StencilKind::point_triangle,
                                     StencilKind::edge_edge};

TEST(Potential, DistancesAgreeWithExactArithmetic) {
    std::mt19937_64 random(71);
    for (const StencilKind kind : all_kinds)
        for (int i = 0; i < test::scaled(6, 6, 1); ++i) {
            const FourPoints p = some_points(random);
            const Derivatives d = derive_distance_sq(kind, p);
            std::array<int, 12> along = {};
            const Series value = exact(kind, p, along);
            ASSERT_NEAR(d.value, approximate(value.a), 1e-13 * (1 + approximate(value.a)));
            ASSERT_NEAR(distance_sq(kind, p), d.value, 1e-13 * (1 + d.value));
            double largest[2] = {1e-300, 1e-300};
            for (const double g : d.gradient) largest[0] = std::max(largest[0], std::fabs(g));
            for (const double h : d.hessian) largest[1] = std::max(largest[1], std::fabs(h));
            std::array<Rational, 12> own;
            for (std::size_t a = 0; a < 12; ++a) {
                along = {};
                along[a] = 1;
                const Series s = exact(kind, p, along);
                own[a] = 2 * s.c;
                ASSERT_NEAR(d.gradient[a], approximate(s.b), 1e-11 * largest[0]) << a;
                ASSERT_NEAR(d.hessian[13 * a], approximate(own[a]), 1e-10 * largest[1]) << a;
            }
            for (std::size_t a = 0; a < 12; ++a)
                for (std::size_t b = 0; b < a; ++b) {
                    along = {};
                    along[a] = along[b] = 1;
                    const Rational mixed = exact(kind, p, along).c - (own[a] + own[b]) / 2;
                    ASSERT_NEAR(d.hessian[12 * a + b], approximate(mixed), 1e-10 * largest[1]) << a << " " << b;
                    ASSERT_EQ(d.hessian[12 * a + b], d.hessian[12 * b + a]);
                }
        }
}

// Central differences of a value and of a gradient.
void expect_derivatives(const FourPoints& at, const std::function<Derivatives(const FourPoints&)>& f,
                        const std::string& note) {
    const Derivatives d = f(at);
    const double h = 1e-6;
    double size = 1e-9;
    for (const double x : d.hessian) size = std::max(size, std::fabs(x));
    for (std::size_t a = 0; a < 12; ++a) {
        FourPoints up = at, down = at;
        up[a / 3][static_cast<int>(a % 3)] += h;
        down[a / 3][static_cast<int>(a % 3)] -= h;
        const Derivatives u = f(up), l = f(down);
        EXPECT_NEAR(d.gradient[a], (u.value - l.value) / (2 * h), 1e-5 * size) << note << " " << a;
        for (std::size_t b = 0; b < 12; ++b)
            EXPECT_NEAR(d.hessian[12 * a + b], (u.gradient[b] - l.gradient[b]) / (2 * h), 1e-4 * size)
                << note << " " << a << " " << b;
    }
}

TEST(Potential, BarrierMollifierAndFrictionAgreeWithDifferences) {
    std::mt19937_64 random(73);
    std::uniform_real_distribution<double> real(-1, 1);
    for (int i = 0; i < test::scaled(20, 20, 2); ++i) {
        const FourPoints p = some_points(random);
        expect_derivatives(
            p, [](const FourPoints& q) { return edge_mollifier(q, 3.0); }, "mollifier");
        for (const ImpactKind kind : {ImpactKind::vertex_face, ImpactKind::edge_edge})
            expect_derivatives(
                p, [&](const FourPoints& q) { return contact_barrier(kind, q, 4.0, 2.0); }, "barrier");
        const FrictionContact contact = friction_contact(ImpactKind::vertex_face, p, 2.5);
        for (const double size : {1e-2, 1.0}) {
            FourPoints displacement;
            for (Vec3d& v : displacement)
                for (double& x : v.v) x = size * real(random);
            expect_derivatives(
                displacement, [&](const FourPoints& q) { return friction_potential(contact, q, 0.5, 0.1); },
                "friction");
            const Derivatives f = friction_potential(contact, displacement, 0.5, 0.1);
            EXPECT_LE(std::hypot(f.gradient[0], f.gradient[1], f.gradient[2]), 0.5 * 2.5 * (1 + 1e-12));
        }
    }
    // Scalars: the barrier and its derivatives, and where it ends.
    for (const double s : {0.01, 0.5, 0.99}) {
        const double h = 1e-6 * s;
        const ScalarDerivatives b = log_barrier(s, 1), up = log_barrier(s + h, 1), down = log_barrier(s - h, 1);
        EXPECT_GT(b.value, 0);
        EXPECT_NEAR(b.first, (up.value - down.value) / (2 * h), 1e-6 * (1 + std::fabs(b.first)));
        EXPECT_NEAR(b.second, (up.first - down.first) / (2 * h), 1e-6 * (1 + std::fabs(b.second)));
    }
    EXPECT_EQ(log_barrier(1, 1).value, 0);
    EXPECT_EQ(log_barrier(2, 1).first, 0);
    EXPECT_EQ(log_barrier(0, 1).value, std::numeric_limits<double>::infinity());
}

// Which kind of distance is the distance of the features.
TEST(Potential, StencilsAreTheDistanceOfTheFeatures) {
    std::mt19937_64 random(79);
    int seen[4] = {};
    for (int i = 0; i < 2000; ++i) {
        const FourPoints p = some_points(random);
        for (const ImpactKind kind : {ImpactKind::vertex_face, ImpactKind::edge_edge}) {
            const ActiveStencil s = stencil_of(kind, p);
            const FourPoints q = {p[s.points[0]], p[s.points[1]], p[s.points[2]], p[s.points[3]]};
            const double d = closest_points(kind, p).distance;
            ASSERT_NEAR(distance_sq(s.kind, q), d * d, 1e-12) << i;
            ++seen[static_cast<int>(s.kind)];
        }
    }
    for (const int n : seen) EXPECT_GT(n, 20);
    // Parallel edges: the ends decide, and the mollifier takes the barrier away.
    const FourPoints parallel = {Vec3d{{0, 0, 0}}, Vec3d{{1, 0, 0}}, Vec3d{{0.5, 0, 0.1}}, Vec3d{{1.5, 0, 0.1}}};
    EXPECT_NE(stencil_of(ImpactKind::edge_edge, parallel).kind, StencilKind::edge_edge);
    EXPECT_EQ(contact_barrier(ImpactKind::edge_edge, parallel, 1, 1e-3).value, 0);
    EXPECT_GT(contact_barrier(ImpactKind::edge_edge, parallel, 1).value, 0);
}

TEST(Potential, ProjectedHessiansGoDownhill) {
    std::mt19937_64 random(83);
    std::uniform_real_distribution<double> real(-1, 1);
    for (int i = 0; i < 20; ++i) {
        const Derivatives d = derive_distance_sq(StencilKind::point_triangle, some_points(random));
        const Derivatives p = project_positive(d);
        EXPECT_EQ(p.gradient, d.gradient);
        for (int n = 0; n < 20; ++n) {
            double x[12], product = 0;
            for (double& v : x) v = real(random);
            for (std::size_t a = 0; a < 12; ++a)
                for (std::size_t b = 0; b < 12; ++b) product += x[a] * x[b] * p.hessian[12 * a + b];
            EXPECT_GE(product, -1e-9);
        }
    }
}

}  // namespace
}  // namespace quadrat::potential_test
