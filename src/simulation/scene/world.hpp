// The room of the scene, as the others see it: the scene itself and what follows from it alone. A World is made once,
// by derive(), and the other rooms only read it. What a scene may hold is in scene_fields.hpp, what is refused in
// validate.cpp (before anything is computed) and validate_placed.cpp (once something has its place).
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/simulation/scene.hpp>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace quadrat::simulation {

/// Particles per task; sums are formed per task and combined in order.
inline constexpr std::size_t grain = 2048;

/// dot(normal, x) >= offset holds the fluid.
struct Wall {
    std::array<float, 3> normal;
    float offset;
    float restitution, friction;
};

struct World {
    Scene scene;
    Executor* executor = nullptr;

    double expected_speed = 0;
    std::vector<Wall> walls;
    std::array<float, 3> period = {0, 0, 0};  ///< 0: not periodic

    [[nodiscard]] bool periodic() const { return period[0] > 0 || period[1] > 0 || period[2] > 0; }
    /// x_i - x_j, by way of the nearest image.
    [[nodiscard]] Vec3f apart(const Vec3f& a, const Vec3f& b) const {
        Vec3f d = {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
        for (int k = 0; k < 3; ++k) {
            const float l = period[static_cast<std::size_t>(k)];
            if (l > 0) {
                if (d[k] > 0.5f * l) d[k] -= l;
                if (d[k] < -0.5f * l) d[k] += l;
            }
        }
        return d;
    }
    /// Brings x into the periodic box.
    void wrap(Vec3f& x) const;
};

template <class T>
[[nodiscard]] T norm(const Vec<3, T>& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/// Throws Error for what a scene must not hold.
void validate(const Scene& scene);
/// Fills in what follows from world.scene, which is valid.
void derive(World& world);
/// Throws if a point is behind a wall or outside of a periodic axis.
void check_place(const World& world, const Vec3d& x, const std::string& path);
/// Throws if a ball of a radius around one of the corners is behind a wall.
void check_extent(const World& world, std::span<const Vec3d> corners, double radius, const std::string& path);

/// Of all particles that have none of their own.
[[nodiscard]] inline double common_support(const Scene& scene) {
    return scene.support > 0 ? scene.support : (scene.dimension == 2 ? 2.4 : 2.0) * scene.spacing;
}

}  // namespace quadrat::simulation
