// Solids: shapes, their samples near the fluid, and rigid motion.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <span>
#include <vector>

namespace quadrat::simulation {

/// A boundary particle near a fluid particle, in the world.
struct Sample {
    Vec3f position, velocity;
    float volume;
    std::uint32_t body;
};

/// The nearest place of a body that is a distance field.
struct FieldHit {
    double distance;  ///< negative inside
    Vec3d normal;     ///< out of the body
    std::uint32_t body;
};

/// A force and its torque about the origin of the world.
struct Wrench {
    Vec3d force = {}, torque = {};
};

struct Solids {
    std::vector<BodyPose> poses;
    template <class Fn>
    void archive(Fn&&) {}
    [[nodiscard]] bool empty() const { return poses.empty(); }
    [[nodiscard]] std::span<const Sample> samples_near(std::size_t) const { return {}; }
    [[nodiscard]] std::span<const FieldHit> fields_near(std::size_t) const { return {}; }
    void react(const Sample&, const Vec3f&, std::vector<Wrench>&) const {}
    void react(const FieldHit&, const Vec3f&, const Vec3f&, std::vector<Wrench>&) const {}
    [[nodiscard]] std::size_t dynamic_count() const { return 0; }
    void add_forces(const std::vector<Wrench>&) {}
};

}  // namespace quadrat::simulation
