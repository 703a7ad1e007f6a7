// Bisection in time, dropping intervals by a direction. The relative positions x of two features move on straight
// lines; let a direction w(t) turn on a straight line, too. Then w . x is a quadratic in t, and if its three Bernstein
// coefficients are above d times the longer one of the two ends of w for all x, the features stay farther apart than d
// during all of the interval, whatever w is and however badly it was found. Taken between the closest points at both
// ends, it loses only the square of what the features turn in the interval, so that near misses end after a few
// cuts. Intervals that no direction clears are halved, left first. Unlike a cubic with an offset this needs no square
// roots of polynomials and has no degenerate cases; unlike additive CCD it is not early by a share of the gap.
#include "ccd/filter/separation.hpp"

#include "base/assert.hpp"
#include "ccd/closest/nearest.hpp"
#include "ccd/vector.hpp"

namespace quadrat::ccd {
namespace {

// The features at one time, the distance of two of their points and the direction between them.
struct State {
    double time;
    Positions positions;
    double distance;
    Vec3d direction;  // from the first feature to the second, of length 1, or zero
};

class Search {
  public:
    Search(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance, double tolerance)
        : kind_(kind), distance_(distance), tolerance_(tolerance) {
        if (!take(start, end, 1)) {  // differences of the largest doubles
            take(start, end, 0.25);
            distance_ *= 0.25;
        }
        const double size = largest(size_);
        if (size > 0) {
            const int e = unit_exponent(size);
            if (e < -200 || e > 200) scale(-e);
        }
        reach_ = distance_ + reach * largest(size_);
    }

    double run() {
        if (one_direction()) return no_impact;
        const State s = at(0);
        return s.distance <= distance_ ? 0 : interval(s, at(1));
    }

  private:
    bool take(const FourPoints& start, const FourPoints& end, double by) {
        const std::size_t first = kind_ == ImpactKind::vertex_face ? 1 : 2;
        from_.count = to_.count = 0;
        size_ = {{0, 0, 0}};
        for (std::size_t i = 0; i < first; ++i)
            for (std::size_t j = first; j < 4; ++j) {
                Vec3d& a = from_.x[from_.count++];
                Vec3d& b = to_.x[to_.count++];
                a = by < 1 ? by * start[j] - by * start[i] : start[j] - start[i];
                b = by < 1 ? by * end[j] - by * end[i] : end[j] - end[i];
                for (int k = 0; k < 3; ++k) size_[k] = std::max({size_[k], std::fabs(a[k]), std::fabs(b[k])});
            }
        return std::isfinite(largest(size_));
    }

    void scale(int exponent) {
        for (Positions* p : {&from_, &to_})
            for (int i = 0; i < p->count; ++i)
                for (double& x : p->x[i].v) x = std::ldexp(x, exponent);
        for (double& x : size_.v) x = std::ldexp(x, exponent);
        distance_ = std::ldexp(distance_, exponent);
    }

    // The sum of all positions separates most pairs that a broad phase gives, without a look at the closest points.
    [[nodiscard]] bool one_direction() const {
        Vec3d w = from_.x[0] + to_.x[0];
        for (int i = 1; i < from_.count; ++i) w = w + (from_.x[i] + to_.x[i]);
        const double length = norm(w);
        if (!(length > 0)) return false;
        w = (1 / length) * w;
        return stay_apart(from_, to_, w, w, size_, distance_);
    }

    State at(double t) const {
        State s;
        s.time = t;
        s.positions.count = from_.count;
        for (int i = 0; i < from_.count; ++i) s.positions.x[i] = lerp(from_.x[i], to_.x[i], t);
        const Vec3d* x = s.positions.x;
        const Nearest n = nearest_in_double(
            kind_, kind_ == ImpactKind::vertex_face ? Relative{x[0], x[1], x[2]} : Relative{x[0] - x[2], x[0], x[1]});
        s.distance = n.distance;
        s.direction = -1.0 * n.direction;
        return s;
    }

    [[nodiscard]] bool clear(const State& s, const State& e) const {
        const auto along = [&](const Vec3d& v, const Vec3d& w) {
            return stay_apart(s.positions, e.positions, v, w, size_, distance_);
        };
        return along(s.direction, e.direction) || along(s.direction, s.direction) || along(e.direction, e.direction);
    }

    // All of the time from s to e.
    double interval(const State& s, const State& e) {
        if (clear(s, e)) return no_impact;
        if (s.distance <= reach_) return s.time;
        const double width = e.time - s.time;
        if (e.distance <= reach_ && width <= tolerance_) return s.time;
        if (width < shortest || --budget_ < 0) return s.time;
        const State m = at(0.5 * (s.time + e.time));
        const double t = interval(s, m);
        return t <= 1 ? t : interval(m, e);
    }

    // Never reached: over so short a time the direction at one end clears what is out of reach there.
    static constexpr double shortest = 0x1p-52;

    ImpactKind kind_;
    double distance_;
    double reach_ = 0;
    double tolerance_;
    Positions from_{};
    Positions to_{};
    Vec3d size_ = {{0, 0, 0}};
    int budget_ = 1 << 20;
};

}  // namespace

bool stay_apart(const Positions& a, const Positions& b, const Vec3d& v, const Vec3d& w, const Vec3d& size,
                double distance) {
    QUADRAT_ASSERT(a.count == b.count && (a.count == 3 || a.count == 4) && distance >= 0);
    double error = 0;
    for (int k = 0; k < 3; ++k) error += std::max(std::fabs(v[k]), std::fabs(w[k])) * size[k];
    const double least = distance * (1 + 16 * roundoff) + span_error * error + separation_floor;
    for (int i = 0; i < a.count; ++i) {
        if (!(dot(v, a.x[i]) > least && dot(w, b.x[i]) > least)) return false;
        if (!(0.5 * (dot(v, b.x[i]) + dot(w, a.x[i])) > least)) return false;
    }
    return true;
}

double separation_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, double distance,
                       double tolerance) {
    QUADRAT_ASSERT(distance > 0 && std::isfinite(distance) && tolerance > 0);
    return Search(kind, start, end, distance, tolerance).run();
}

}  // namespace quadrat::ccd
