// Bodies, cloths and planes of a simulation as triangles, for the frames and for the pictures.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <vector>

#include "base/surfaces.hpp"
#include "render/picture.hpp"
#include "run/frame.hpp"

namespace quadrat::cli {

/// From a body's frame into the world.
class Placement {
  public:
    explicit Placement(const BodyPose& pose) : at_(pose.position) {
        const auto [w, x, y, z] = pose.orientation;
        const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) m_[i][k] = m[i][k];
    }
    [[nodiscard]] Vec3d operator()(const Vec3d& v) const {
        Vec3d r = at_;
        for (int i = 0; i < 3; ++i) r[i] += m_[i][0] * v[0] + m_[i][1] * v[1] + m_[i][2] * v[2];
        return r;
    }

  private:
    Vec3d at_;
    double m_[3][3];
};

using Solid = base::Surface;
/// Of anything but a plane, in the body's frame.
[[nodiscard]] Solid solid_of(const RigidBody& body);

/// A plane as far as the domain goes: dot(normal, x) = offset, and its back a little behind it.
struct Wall {
    Vec3d normal;  ///< unit length
    double offset;
    render::Color color;
};
/// The planes of the domain and the bodies that are planes.
[[nodiscard]] std::vector<Wall> walls_of(const Simulation& simulation, const SceneView& view);

/// What is seen of a plane, as a plate behind it: a large square cut by the sides of the domain and by the other
/// planes. Empty if nothing is left. size: the domain's longest side.
[[nodiscard]] Solid plate_of(const Wall& wall, const std::vector<Wall>& all, const Simulation& simulation, double size);

/// The colour with that number, or a default where there is none.
[[nodiscard]] render::Color color_of(const std::vector<std::uint32_t>& colors, std::size_t i, std::uint32_t otherwise);

}  // namespace quadrat::cli
