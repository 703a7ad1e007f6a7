// Small scenes that several tests start from.
#pragma once

#include <quadrat/simulation.hpp>
#include "base/surfaces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace quadrat::test {

/// A column of water in the left half of a closed tank.
inline Scene small_dam(int dimension, double spacing) {
    Scene s;
    s.dimension = dimension;
    s.spacing = spacing;
    s.domain.box = {{{0, 0, 0}}, {{0.4, 0.4, dimension == 3 ? 0.12 : 1.0}}};
    s.gravity = {{0, -9.81, 0}};
    s.blocks.push_back({.box = {{{0, 0, 0}}, {{0.16, 0.2, 0.12}}}});
    return s;
}

/// Velocities in the plane that change nothing but the shape, and its place.
inline Vec3d stretch_and_turn(const Vec3d& x) {
    return {{1 + 3 * x[0] - 5 * x[1], 5 * x[0] - 3 * x[1], 0}};
}

/// For scenes in 2D without walls.
inline void expect_momentum_stays(const Scene& scene) {
    Simulation s(scene);
    const SimulationStats before = s.stats();
    s.advance_to(0.1);
    const SimulationStats after = s.stats();
    for (int k = 0; k < 2; ++k)
        EXPECT_NEAR(after.momentum[k], before.momentum[k], 1e-5 * before.mass * before.max_speed);
}

/// A ball or disc of fluid in empty space, without gravity.
inline Scene drop(int dimension, double radius, double spacing) {
    Scene s;
    s.dimension = dimension;
    s.spacing = spacing;
    s.gravity = {};
    s.domain.box = {{{-1, -1, -1}}, {{1, 1, 1}}};
    s.domain.open = {true, true, true, true, true, true};
    FluidParticles f;
    const int n = static_cast<int>(radius / spacing) + 1;
    for (int z = dimension == 3 ? -n : 0; z <= (dimension == 3 ? n : 0); ++z)
        for (int y = -n; y <= n; ++y)
            for (int x = -n; x <= n; ++x) {
                const Vec3d p = {{x * spacing, y * spacing, z * spacing}};
                if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] <= radius * radius) f.positions.push_back(p);
            }
    s.particles.push_back(f);
    return s;
}

/// A cube made of triangles.
inline RigidBody cube_mesh(double edge) {
    RigidBody b;
    b.shape = BodyShape::mesh;
    const double h = edge / 2;
    base::Surface cube = base::box_surface({{{-h, -h, -h}}, {{h, h, h}}});
    b.vertices = std::move(cube.vertices);
    b.triangles = std::move(cube.triangles);
    return b;
}

inline std::vector<std::byte> checkpoint(const Simulation& s) {
    std::vector<std::byte> bytes;
    s.save(bytes);
    return bytes;
}

}  // namespace quadrat::test
