// One step of leap-frog for one coordinate.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>

namespace quadrat::simulation {

/// v is that of half a step (dt_old / 2) ago and becomes that of half a step (dt / 2) from now; x moves by dt. Second
/// order also when the steps differ. dt_old = 0 starts from a velocity of the same time as x.
template <class T>
inline void leap_frog(T& x, T& v, T a, T dt_old, T dt) {
    v += T(0.5) * (dt_old + dt) * a;
    x += dt * v;
}

/// A step that ends at the rest or leaves room for one of at least half of its length.
[[nodiscard]] inline double cut(double dt, double rest) {
    if (dt >= rest) return rest;
    return 2 * dt > rest ? 0.5 * rest : dt;
}

struct State;
[[nodiscard]] float courant_limit(const State& s, std::size_t i);
/// The largest step that viscosity and tension allow (Morris et al. 1997; Brackbill et al. 1992).
[[nodiscard]] double force_limit(const State& s);
void move_particles(State& s, double dt);
/// The same without a change of velocity.
void drift_particles(State& s, double dt);
/// Puts particles [begin, end) back in front of the walls; returns how many were behind.
std::uint64_t meet_walls(State& s, std::size_t begin, std::size_t end, double dt);
/// Into the periodic box.
void wrap(const State& s, Vec3f& x);

}  // namespace quadrat::simulation
