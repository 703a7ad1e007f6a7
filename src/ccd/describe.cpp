// Where and across which plane two features touch at a time that was found before. The relative positions are
// interpolated, not the coordinates, and brought near 1 by a power of two where they leave the range in which products
// of four of them can be computed.
#include "ccd/closest/nearest.hpp"
#include "ccd/impact_batch.hpp"
#include "ccd/vector.hpp"

namespace quadrat::ccd {
namespace {

constexpr double flat = 0x1p-40;   // of |u| |v|: below it, u x v is no direction
constexpr double apart = 0x1p-30;  // of the size: beyond it there is room between the features

// The points 1, 2, 3 as seen from point 0 at both ends of the step, times 2^-exponent.
struct Motion {
    Relative start, end;
    double size = 0;
    int exponent = 0;

    Motion(const FourPoints& from, const FourPoints& to) {
        take(from, to, 1);
        if (!std::isfinite(size)) take(from, to, 0.25);  // differences of the largest doubles
        if (!(size > 0)) return;
        const int e = unit_exponent(size);
        if (e > -200 && e < 200) return;
        exponent += e;
        for (Relative* r : {&start, &end})
            for (Vec3d& v : *r)
                for (double& x : v.v) x = std::ldexp(x, -e);
    }

    [[nodiscard]] Relative at(double t) const {
        return {lerp(start[0], end[0], t), lerp(start[1], end[1], t), lerp(start[2], end[2], t)};
    }

  private:
    void take(const FourPoints& from, const FourPoints& to, double scale) {
        size = 0;
        exponent = scale < 1 ? 2 : 0;
        for (std::size_t i = 0; i < 3; ++i) {
            start[i] = scale * from[i + 1] - scale * from[0];
            end[i] = scale * to[i + 1] - scale * to[0];
            size = std::max({size, largest(start[i]), largest(end[i])});
        }
    }
};

Vec3d unit(const Vec3d& v) {
    const double size = largest(v);
    if (!(size > 0)) return {{0, 0, 0}};
    const int e = -unit_exponent(size);
    const Vec3d w = {{std::ldexp(v[0], e), std::ldexp(v[1], e), std::ldexp(v[2], e)}};
    return (1 / norm(w)) * w;
}

// What of v is across the edge e.
Vec3d across(const Vec3d& v, const Vec3d& e) {
    const double ee = dot(e, e);
    return ee > 0 ? v - (dot(v, e) / ee) * e : v;
}

// The two edges whose plane the contact lies in.
struct Plane {
    Vec3d u, v;

    Plane(ImpactKind kind, const Relative& x)
        : u(kind == ImpactKind::vertex_face ? x[1] - x[0] : x[0]),
          v(kind == ImpactKind::vertex_face ? x[2] - x[0] : x[2] - x[1]) {}

    // Zero where the two are parallel, as far as double can tell.
    [[nodiscard]] Vec3d normal() const {
        const Vec3d a = unit(u);
        const Vec3d b = unit(v);
        const Vec3d n = cross(a, b);
        return largest(n) > flat ? unit(n) : Vec3d{{0, 0, 0}};
    }
    [[nodiscard]] const Vec3d& longer() const { return largest(u) > largest(v) ? u : v; }
};

// From the second point of the contact to the first.
Vec3d gap(ImpactKind kind, const Relative& x, const std::array<double, 4>& w) {
    if (kind == ImpactKind::vertex_face) return -1.0 * (w[1] * x[0] + w[2] * x[1] + w[3] * x[2]);
    return w[1] * x[0] - (w[2] * x[1] + w[3] * x[2]);
}

}  // namespace

Description describe(ImpactKind kind, const FourPoints& start, const FourPoints& end, double time) {
    const Motion motion(start, end);
    const Relative x = motion.at(time);
    const Nearest now = nearest_in_double(kind, x);
    Description r;
    r.impact.time = time;
    r.impact.barycentric = now.weights;
    r.distance = std::ldexp(now.distance, motion.exponent);
    if (now.distance > apart * motion.size) {
        r.impact.normal = now.direction;
        return r;
    }
    // In contact: the plane's normal, on the side of the first feature at the start, or against its motion if it
    // started in the plane. Without a plane: across the longer edge, the way the first one came.
    const Vec3d before = gap(kind, motion.start, now.weights);
    const Vec3d change = gap(kind, motion.end, now.weights) - before;
    const Plane plane(kind, x);
    Vec3d n = plane.normal();
    if (largest(n) == 0) {
        const Vec3d came = largest(before) > apart * motion.size ? before : -1.0 * change;
        const Vec3d beside = across(came, plane.longer());
        r.impact.normal = unit(largest(beside) > flat * largest(came) ? beside : came);
        return r;
    }
    double side = dot(n, before);
    if (std::fabs(side) <= 4 * nearest_error * motion.size) side = -dot(n, change);
    r.impact.normal = side < 0 ? -1.0 * n : n;
    return r;
}

}  // namespace quadrat::ccd
