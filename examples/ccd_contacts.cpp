// A triangle falls through another one: when do they touch, and where?
#include <quadrat/ccd.hpp>

#include <cstdio>
#include <vector>

int main() {
    using quadrat::Vec3d;
    const std::vector<quadrat::Triangle> triangle = {{0, 1, 2}};
    const std::vector<Vec3d> floor = {{{0, 0, 0}}, {{4, 0, 0}}, {{0, 4, 0}}};
    const std::vector<Vec3d> above = {{{1, 1, 1}}, {{2, 1, 2}}, {{1, 2, 3}}};
    const std::vector<Vec3d> below = {{{1, 1, -1}}, {{2, 1, 0.5}}, {{1, 2, 1}}};

    const quadrat::MovingMesh ground{.triangles = triangle, .start = floor};
    const quadrat::MovingMesh falling{.triangles = triangle, .start = above, .end = below};
    const quadrat::ContactList contacts = quadrat::find_contacts(falling, ground);
    for (const quadrat::Contact& c : contacts)
        std::printf("t = %.6f: vertex %u meets face %u at (%.3f, %.3f, %.3f), normal (%g, %g, %g)\n", c.time,
                    c.features[0], c.features[1], c.points[0][0], c.points[0][1], c.points[0][2], c.normal[0],
                    c.normal[1], c.normal[2]);
    return contacts.size() == 1 ? 0 : 1;
}
