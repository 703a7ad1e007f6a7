// Properties of the certified tests: families of queries full of degeneracy, against the rational oracle and against
// themselves under symmetries that must not change the answer.
#include <quadrat/ccd.hpp>

#include "ccd/exact/exact.hpp"
#include "ccd/oracle.hpp"
#include "support/properties.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace quadrat {
namespace {

struct Query {
    ImpactKind kind = ImpactKind::vertex_face;
    FourPoints start = {}, end = {};
};

void showValue(const Query& q, std::ostream& out) {
    out.precision(17);
    out << (q.kind == ImpactKind::vertex_face ? "vertex-face" : "edge-edge");
    for (const FourPoints* p : {&q.start, &q.end})
        for (const Vec3d& v : *p) out << " (" << v[0] << ", " << v[1] << ", " << v[2] << ")";
}

// Of the whole range from the first case on.
int between(int from, int to) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, to));
}

int small(int span = 3) {
    return between(-span, span + 1);
}

Vec3d small_vector(int span = 3) {
    return {{double(small(span)), double(small(span)), double(small(span))}};
}

Vec3d combine(const Vec3d& a, double s, const Vec3d& b, double t, const Vec3d& c) {
    Vec3d r;
    for (int k = 0; k < 3; ++k) r[k] = a[k] + s * b[k] + t * c[k];
    return r;
}

ImpactKind some_kind() {
    return *rc::gen::element(ImpactKind::vertex_face, ImpactKind::edge_edge);
}

Query integers() {
    Query q{some_kind()};
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p) v = small_vector();
    return q;
}

// Far from the origin, so that differences are rounded nowhere but every product is long.
Query far_away() {
    Query q = integers();
    const double offset = std::ldexp(1.0, between(20, 50));
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p) v = combine(v, offset, {{1, 0, -1}}, 0, {});
    return q;
}

Query scaled(std::initializer_list<int> exponents) {
    Query q = integers();
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p)
            for (double& x : v.v) x = std::ldexp(x, *rc::gen::elementOf(std::vector<int>(exponents)));
    return q;
}

Query mixed_scales() {
    return scaled({-20, -3, 0, 0, 0, 7, 20});
}

// More than the fixed integers of the second stage hold.
Query wide_scales() {
    return scaled({-300, -60, 0, 0, 100});
}

Query noise() {
    Query q = integers();
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p)
            for (double& x : v.v) x += 0x1p-55 * static_cast<double>(*rc::gen::element(-5, 0, 0, 0, 1, 3));
    return q;
}

Query huge_motion() {
    Query q = integers();
    for (Vec3d& v : q.end)
        if (*rc::gen::arbitrary<bool>()) v = combine(v, 1e12, small_vector(1), 0, {});
    return q;
}

// Four points in one plane through the origin, or in one that moves along.
Query planar() {
    Query q{some_kind()};
    const Vec3d a = small_vector(2), b = small_vector(2), shift = small_vector(1);
    for (std::size_t i = 0; i < 4; ++i) {
        q.start[i] = combine({}, small(4), a, small(4), b);
        q.end[i] = combine(shift, small(4), a, small(4), b);
    }
    return q;
}

// Edges of one direction, at every time.
Query parallel_edges() {
    Query q{ImpactKind::edge_edge};
    const Vec3d direction = small_vector(2), sideways = small_vector(1);
    for (FourPoints* p : {&q.start, &q.end}) {
        (*p)[0] = combine({}, small(), direction, small(2), sideways);
        (*p)[1] = combine((*p)[0], small(2), direction, 0, {});
        (*p)[2] = combine({}, small(), direction, small(2), sideways);
        (*p)[3] = combine((*p)[2], small(2), direction, 0, {});
    }
    return q;
}

// The first point passes through the middle of the step at a point of the second feature, which rests.
void aim(Query& q) {
    const Vec3d motion = small_vector();
    const Vec3d target = q.start[static_cast<std::size_t>(between(2, 4))];
    for (std::size_t i = 1; i < 4; ++i) q.end[i] = q.start[i];
    q.start[0] = combine(target, -1, motion, 0, {});
    q.end[0] = combine(target, 1, motion, 0, {});
}

Query no_area() {
    Query q{ImpactKind::vertex_face};
    for (FourPoints* p : {&q.start, &q.end}) {
        const Vec3d direction = small_vector(2);
        (*p)[0] = small_vector();
        (*p)[1] = small_vector();
        (*p)[2] = combine((*p)[1], small(2), direction, 0, {});
        (*p)[3] = combine((*p)[1], small(2), direction, 0, {});
    }
    if (*rc::gen::arbitrary<bool>()) aim(q);
    return q;
}

Query no_length() {
    Query q = integers();
    q.kind = ImpactKind::edge_edge;
    if (*rc::gen::arbitrary<bool>()) aim(q);
    for (FourPoints* p : {&q.start, &q.end}) (*p)[1] = (*p)[0];
    if (*rc::gen::arbitrary<bool>()) {
        q.start[3] = q.start[2];
        q.end[3] = q.end[2];
    }
    return q;
}

Query on_a_line() {
    Query q{some_kind()};
    const Vec3d direction = small_vector(2);
    for (FourPoints* p : {&q.start, &q.end})
        for (Vec3d& v : *p) v = combine({}, small(5), direction, 0, {});
    return q;
}

// The first point starts on the second feature.
Query touching_at_the_start() {
    Query q = integers();
    const double s = 0.25 * between(0, 5);
    const double t = 0.25 * between(0, static_cast<int>(4 * (1 - s)) + 1);
    const auto& p = q.start;
    const bool faces = q.kind == ImpactKind::vertex_face;
    const Vec3d &a = p[faces ? 1 : 2], &b = p[faces ? 2 : 3], &c = p[3];
    for (int k = 0; k < 3; ++k) q.start[0][k] = a[k] + s * (b[k] - a[k]) + (faces ? t * (c[k] - a[k]) : 0.0);
    return q;
}

Query no_motion() {
    Query q = integers();
    q.end = q.start;
    return q;
}

void agrees_with_oracle(const std::string& family, const std::function<Query()>& make) {
    test::check(family + ": the oracle's answer, never late, early by at most 1e-6", [&] {
        const Query q = make();
        RC_LOG() << rc::toString(q) << "\n";
        const test::OracleAnswer truth = test::oracle(q.kind, q.start, q.end);
        RC_CLASSIFY(truth.planar, "always coplanar");
        RC_CLASSIFY(truth.hit, "contact");
        for (const double t :
             {impact_time(q.kind, q.start, q.end), ccd::exact_impact_time(q.kind, q.start, q.end, 1e-6)}) {
            RC_ASSERT((t <= 1) == truth.hit);
            if (!truth.hit) continue;
            RC_ASSERT(t >= 0);
            RC_ASSERT(test::Rational(t) <= truth.to);
            RC_ASSERT(test::Rational(t) >= truth.from - test::Rational(1, 1000000));
        }
    });
}

TEST(ImpactProperty, Integers) {
    agrees_with_oracle("small integers", integers);
    agrees_with_oracle("noise of 2^-55", noise);
}
TEST(ImpactProperty, Scales) {
    agrees_with_oracle("far from the origin", far_away);
    agrees_with_oracle("mixed scales", mixed_scales);
    agrees_with_oracle("motion of 1e12", huge_motion);
}
TEST(ImpactProperty, AlwaysCoplanar) {
    agrees_with_oracle("planar", planar);
    agrees_with_oracle("on a line", on_a_line);
}
TEST(ImpactProperty, DegenerateFeatures) {
    agrees_with_oracle("parallel edges", parallel_edges);
    agrees_with_oracle("faces without area", no_area);
    agrees_with_oracle("edges without length", no_length);
}
TEST(ImpactProperty, StartAndRest) {
    agrees_with_oracle("no motion", no_motion);
    test::check("contact at the start has time 0", [] {
        const Query q = touching_at_the_start();
        RC_LOG() << rc::toString(q) << "\n";
        RC_ASSERT(impact_time(q.kind, q.start, q.end) == 0);
        RC_ASSERT(ccd::exact_impact_time(q.kind, q.start, q.end, 1e-6) == 0);
    });
}

Query any() {
    return (*rc::gen::element(integers, far_away, mixed_scales, wide_scales, noise, huge_motion, planar, parallel_edges,
                              no_area, no_length, on_a_line, touching_at_the_start, no_motion))();
}

FourPoints permuted(const FourPoints& p, const std::array<std::size_t, 4>& order) {
    return {p[order[0]], p[order[1]], p[order[2]], p[order[3]]};
}

TEST(ImpactProperty, OrderOfVerticesDoesNotMatter) {
    test::check("same contact, times within the tolerance", [] {
        const Query q = any();
        RC_LOG() << rc::toString(q) << "\n";
        const double t = impact_time(q.kind, q.start, q.end);
        std::array<std::size_t, 4> order = {0, 1, 2, 3};
        do {
            const bool legal = q.kind == ImpactKind::vertex_face
                                   ? order[0] == 0
                                   : order[0] / 2 == order[1] / 2 && order[2] / 2 == order[3] / 2;
            if (!legal) continue;
            const double other = impact_time(q.kind, permuted(q.start, order), permuted(q.end, order));
            RC_ASSERT((other <= 1) == (t <= 1));
            if (t <= 1) RC_ASSERT(std::fabs(other - t) <= 1e-6);
        } while (std::next_permutation(order.begin(), order.end()));
    });
}

TEST(ImpactProperty, BackwardsIsContactToo) {
    test::check("mirrored, with axes exchanged, and backwards in time", [] {
        const Query q = any();
        RC_LOG() << rc::toString(q) << "\n";
        const double t = impact_time(q.kind, q.start, q.end);
        Query mirrored = q;
        for (FourPoints* p : {&mirrored.start, &mirrored.end})
            for (Vec3d& v : *p) v = {{v[1], -v[2], v[0]}};
        const double other = impact_time(q.kind, mirrored.start, mirrored.end);
        RC_ASSERT((other <= 1) == (t <= 1));
        if (t <= 1) RC_ASSERT(std::fabs(other - t) <= 1e-6);
        const double back = impact_time(q.kind, q.end, q.start);
        RC_ASSERT((back <= 1) == (t <= 1));
        if (t <= 1) RC_ASSERT(t + back <= 1 + 1e-6);  // the first from behind is not before the first
    });
}

TEST(ImpactProperty, MinimumSeparation) {
    test::check("reached if a sample is that close, not later; and close indeed where it is reported", [] {
        Query q = *rc::gen::arbitrary<bool>() ? integers() : planar();
        const double distance = 0.125 * between(1, 12);
        RC_LOG() << rc::toString(q) << " distance " << distance << "\n";
        const double t = impact_time(q.kind, q.start, q.end, {.min_distance = distance});
        const auto at = [&](double time) {
            FourPoints p;
            for (std::size_t i = 0; i < 4; ++i) p[i] = combine({}, 1 - time, q.start[i], time, q.end[i]);
            return closest_points(q.kind, p).distance;
        };
        double speed = 0;
        for (std::size_t i = 0; i < 4; ++i)
            for (int k = 0; k < 3; ++k) speed += 2 * std::fabs(q.end[i][k] - q.start[i][k]);
        for (int i = 0; i <= 64; ++i)
            if (at(i / 64.0) < distance) RC_ASSERT(t <= i / 64.0);
        if (t <= 1) RC_ASSERT(at(t) <= distance + 1e-6 * speed + 1e-12);
        const double touch = impact_time(q.kind, q.start, q.end);
        RC_ASSERT(t <= touch);  // never after contact
        if (touch <= 1) RC_ASSERT(t <= 1);
    });
}

}  // namespace
}  // namespace quadrat
