// Small closed surfaces that the simulator, the pictures and the tests share: the twelve triangles of a box and a ball
// made of an octahedron. Triangles are counter-clockwise from outside.
#pragma once

#include <quadrat/geometry.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace quadrat::base {

struct Surface {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> vertices;
};

/// Corner c of a box: bit k of c is set where the corner is at the upper end of axis k.
///
///       6-------7        bits of the number:  2 1 0
///      /|      /|                             z y x
///     2-------3 |
///     | 4-----|-5
///     |/      |/
///     0-------1
template <class T>
[[nodiscard]] constexpr Vec<3, T> box_corner(const Box<3, T>& box, std::uint32_t c) {
    return {{c & 1 ? box.hi[0] : box.lo[0], c & 2 ? box.hi[1] : box.lo[1], c & 4 ? box.hi[2] : box.lo[2]}};
}

inline constexpr std::array<Triangle, 12> box_triangles = {{{0, 2, 1},
                                                            {1, 2, 3},
                                                            {4, 5, 6},
                                                            {5, 7, 6},
                                                            {0, 1, 4},
                                                            {1, 5, 4},
                                                            {2, 6, 3},
                                                            {3, 6, 7},
                                                            {0, 4, 2},
                                                            {2, 4, 6},
                                                            {1, 3, 5},
                                                            {3, 7, 5}}};

[[nodiscard]] Surface box_surface(const Box3d& box);

/// The unit sphere: an octahedron whose triangles are cut in four `rounds` times, every vertex moved out to distance 1.
/// Its faces lie inside the sphere.
[[nodiscard]] Surface ball_surface(int rounds);

}  // namespace quadrat::base
