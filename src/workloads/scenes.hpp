// The scenes that tests, benchmarks and the bench verb of the command line share: boxes B1-B6, points W1-W4, 2D forms
// of all of them, and hostile inputs. They are a library of their own, which is not installed. Everything is made from
// a seed by basic arithmetic and square roots alone, so that the same bits come out of every compiler and C library.
// The densities are those of Schornbaum 2009 (HHG), section 4: about two pairs per box.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::workloads {

enum class BoxScene {
    equal,      ///< B1: unit cubes, moving up to 20 % of their size per step
    sizes,      ///< B2: cubes of 1..12
    sticks,     ///< B3: 10 x 1 x 1, each along a random axis
    mix,        ///< B4: 65 % of 2^3, 25 % of 2^6, 10 % of 2^10, always in a cube of 2^13
    calm,       ///< B5: unit cubes, moving up to 1 %
    clustered,  ///< B6: unit cubes, half of them in 1 % of the volume
};

/// "B1".."B6", as the command line and the tables call them.
[[nodiscard]] std::optional<BoxScene> box_scene(std::string_view name);

/// Boxes in a cube with a corner at the origin, each with its own velocity; leaving one side they come in at the other.
template <int D, class T>
class MovingBoxes {
  public:
    MovingBoxes(BoxScene scene, std::size_t n, std::uint64_t seed = 12345);

    [[nodiscard]] std::span<const Box<D, T>> boxes() const { return boxes_; }
    /// Edge of the cube that holds the centres, chosen for about two pairs per box (except mix).
    [[nodiscard]] double side() const { return side_; }
    void step();

  private:
    void place(std::size_t i);

    double side_ = 0;
    double cluster_side_ = 0;
    std::vector<Vec<D, T>> center_, half_, velocity_;
    std::vector<std::uint8_t> in_cluster_;
    std::vector<Box<D, T>> boxes_;
};

/// n segments with ends in the cube [0, side)^D (the second end may stick out) and lengths up to max_length: HSH 4.1's
/// moving particles.
template <int D, class T>
[[nodiscard]] std::vector<Segment<D, T>> short_segments(std::size_t n, double side, double max_length,
                                                        std::uint64_t seed = 4242);

enum class PointScene {
    lattice,    ///< W1: unit lattice, jittered by up to 0.1, radius 2 (28 neighbours in 3D)
    uniform,    ///< W2: uniform in a cube of 100, 30 neighbours on average
    sparse,     ///< W3: uniform, 3 neighbours
    moving,     ///< W4: W1, moving up to 0.1 r per step
    shell,      ///< on a thin sphere (circle), 30 neighbours
    clustered,  ///< half of the points in 1 % of the volume, 30 neighbours on average outside of it
};
/// "W1".."W4", "shell", "clustered".
[[nodiscard]] std::optional<PointScene> point_scene(std::string_view name);

enum class PointOrder { shuffled, generated, z_order };

template <int D, class T>
class MovingPoints {
  public:
    MovingPoints(PointScene scene, std::size_t n, PointOrder order = PointOrder::shuffled, std::uint64_t seed = 12345);

    [[nodiscard]] std::span<const Vec<D, T>> points() const { return points_; }
    [[nodiscard]] T radius() const { return radius_; }
    /// Moves every point by up to 0.1 r.
    void step();

  private:
    T radius_ = 0;
    std::uint64_t seed_;
    std::uint64_t steps_ = 0;
    std::vector<Vec<D, T>> points_;
};

template <int D, class T>
struct NamedBoxes {
    std::string name;
    std::vector<Box<D, T>> boxes;
};

/// Legal inputs that break careless code: empty, one, two, identical, zero-size, exactly touching, negative, huge,
/// denormal, sizes over twelve decades, an outlier a billion cells away, cell borders, infinite boxes. A few hundred
/// boxes each.
template <int D, class T>
[[nodiscard]] std::vector<NamedBoxes<D, T>> hostile_boxes(std::uint64_t seed = 1);

template <int D, class T>
struct NamedPoints {
    std::string name;
    std::vector<Vec<D, T>> points;
    T radius;
};

/// The same for points with a radius: coincident, on cell borders, exactly at distance r, radius beyond the extent,
/// 1e-30 and 1e30, denormal, an outlier 1e12 radii away, negative zero.
template <int D, class T>
[[nodiscard]] std::vector<NamedPoints<D, T>> hostile_points(std::uint64_t seed = 1);

}  // namespace quadrat::workloads
