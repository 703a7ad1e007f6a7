// The scene of the demo: a planet of points whose bands turn at different speeds, and rings of boxes of many sizes on
// Kepler orbits. Everything moves; where things crowd, they touch or come near.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quadrat::cli {

class DemoScene {
  public:
    explicit DemoScene(std::size_t n, std::uint64_t seed = 7);

    /// Moves everything to a time.
    void move_to(double time);
    [[nodiscard]] std::span<const Box3f> boxes() const { return boxes_; }
    [[nodiscard]] std::span<const Vec3f> points() const { return points_; }
    /// How near two points of the planet are neighbours.
    [[nodiscard]] float radius() const { return radius_; }

    /// A picture of the scene as it is now, coloured by the contacts of every box and the neighbours of every point.
    void write_picture(const std::string& path, std::span<const std::uint32_t> contacts,
                       std::span<const std::uint32_t> neighbors, std::uint32_t width, std::uint32_t height) const;

  private:
    struct Orbit {
        float radius, angle, speed, height, phase, half[3];
    };
    struct Spot {
        float longitude, sine, radius, speed;
    };
    void make_rings(std::size_t n);
    void make_planet(std::size_t n);

    std::uint64_t seed_;
    float radius_ = 0;
    std::vector<Orbit> orbits_;
    std::vector<Spot> spots_;
    std::vector<Box3f> boxes_;
    std::vector<Vec3f> points_;
};

}  // namespace quadrat::cli
