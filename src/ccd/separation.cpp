// Bisection in time with a Lipschitz bound. The distance D(t) of two convex features changes no faster than L, the
// largest relative displacement of a pair of their corners, so over [s, e] it is at least (D(s) + D(e) - L (e - s))
// / 2. Intervals whose bound is above the distance are dropped, the others are halved, left first. Unlike a cubic with
// an offset this needs no square roots of polynomials and has no degenerate cases; unlike additive CCD it is not early
// by a share of the gap.
#include "ccd/separation.hpp"

#include <quadrat/ccd/proximity.hpp>

#include "ccd/filter.hpp"
#include "ccd/vector.hpp"

namespace quadrat::ccd {
namespace {

struct Search {
    ImpactKind kind;
    const FourPoints& start;
    const FourPoints& end;
    double distance;
    double tolerance;
    double speed = 0;
    double slack = 0;
    int budget = 20000;

    double at(double t) const {
        FourPoints p;
        for (std::size_t i = 0; i < 4; ++i) p[i] = lerp(start[i], end[i], t);
        return closest_points(kind, p).distance - slack;
    }

    double interval(double s, double ds, double e, double de) {
        if (ds <= distance) return s;
        const double width = e - s;
        if (0.5 * (ds + de - speed * width) > distance) return no_impact;
        if (de <= distance && width <= tolerance) return s;
        if (width < 1e-9 || --budget < 0) return s;
        const double m = 0.5 * (s + e);
        const double dm = at(m);
        const double t = interval(s, ds, m, dm);
        return t <= 1 ? t : interval(m, dm, e, de);
    }
};

}  // namespace

double separation_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance,
                       double tolerance) {
    Search search{kind, start, end, distance, tolerance};
    const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
    double size = 0;
    for (std::size_t i = 0; i < first; ++i)
        for (std::size_t j = first; j < 4; ++j)
            search.speed = std::max(search.speed, norm((end[i] - start[i]) - (end[j] - start[j])) * (1 + 0x1p-40));
    for (std::size_t i = 0; i < 4; ++i) size = std::max({size, largest(start[i]), largest(end[i])});
    search.slack = 64 * roundoff * size;
    return search.interval(0, search.at(0), 1, search.at(1));
}

}  // namespace quadrat::ccd
