// Bisection in time, dropping intervals by a fixed direction. The difference vectors of two features move on straight
// lines, so if a direction w has w . x > d |w| for all of them at both ends of an interval, the features stay farther
// apart than d during all of it, whatever w is and however badly it was found. w is taken from the closest points at
// the ends. Intervals that no direction clears are halved, left first. Unlike a cubic with an offset this needs no
// square roots of polynomials and has no degenerate cases; unlike additive CCD it is not early by a share of the gap.
#include "ccd/filter/separation.hpp"

#include <quadrat/ccd/proximity.hpp>

#include "ccd/filter/filter.hpp"
#include "ccd/vector.hpp"

namespace quadrat::ccd {
namespace {

// The features at one time: the vectors from the points of the first to those of the second, and the closest points.
struct State {
    double time;
    Vec3d x[4];
    double distance;
    Vec3d direction;  // from the first feature to the second, of any length
};

class Search {
  public:
    Search(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance, double tolerance)
        : kind_(kind), start_(start), end_(end), distance_(distance), tolerance_(tolerance) {
        const std::size_t first = kind == ImpactKind::vertex_face ? 1 : 2;
        for (std::size_t i = 0; i < first; ++i)
            for (std::size_t j = first; j < 4; ++j, ++count_) {
                from_[count_] = start[j] - start[i];
                to_[count_] = end[j] - end[i];
                for (int k = 0; k < 3; ++k)
                    size_[k] = std::max({size_[k], std::fabs(from_[count_][k]), std::fabs(to_[count_][k])});
            }
    }

    double run() { return interval(at(0), at(1)); }

  private:
    State at(double t) const {
        State s;
        s.time = t;
        for (int i = 0; i < count_; ++i) s.x[i] = lerp(from_[i], to_[i], t);
        FourPoints p;
        for (std::size_t i = 0; i < 4; ++i) p[i] = lerp(start_[i], end_[i], t);
        const Closest c = closest_points(kind_, p);
        s.distance = c.distance;
        s.direction = c.second - c.first;
        return s;
    }

    // docs/reference/ccd.md, "Minimum separation", has the constants.
    [[nodiscard]] bool apart(const Vec3d& w, const State& a, const State& b) const {
        const double error =
            span_error * (std::fabs(w[0]) * size_[0] + std::fabs(w[1]) * size_[1] + std::fabs(w[2]) * size_[2]);
        const double least = distance_ * norm(w) * (1 + 8 * roundoff) + error + separation_floor;
        if (!(least < separation_ceiling)) return false;
        for (int i = 0; i < count_; ++i)
            if (!(dot(w, a.x[i]) > least && dot(w, b.x[i]) > least)) return false;
        return true;
    }

    double interval(const State& s, const State& e) {
        if (s.distance <= distance_) return s.time;
        if (apart(s.direction, s, e) || apart(e.direction, s, e)) return no_impact;
        if (e.distance > 0 && apart((1 / s.distance) * s.direction + (1 / e.distance) * e.direction, s, e))
            return no_impact;
        const double width = e.time - s.time;
        if (e.distance <= distance_ && width <= tolerance_) return s.time;
        if (width < shortest || --budget_ < 0) return s.time;
        const State m = at(0.5 * (s.time + e.time));
        const double t = interval(s, m);
        return t <= 1 ? t : interval(m, e);
    }

    static constexpr double span_error = 10 * roundoff;
    static constexpr double shortest = 1e-9;

    ImpactKind kind_;
    const FourPoints& start_;
    const FourPoints& end_;
    double distance_;
    double tolerance_;
    int count_ = 0;
    Vec3d from_[4];
    Vec3d to_[4];
    Vec3d size_ = {{0, 0, 0}};
    int budget_ = 20000;
};

}  // namespace

double separation_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance,
                       double tolerance) {
    return Search(kind, start, end, distance, tolerance).run();
}

}  // namespace quadrat::ccd
