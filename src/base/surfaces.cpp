#include "base/surfaces.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace quadrat::base {

Surface box_surface(const Box3d& box) {
    Surface s;
    s.triangles.assign(box_triangles.begin(), box_triangles.end());
    for (std::uint32_t c = 0; c < 8; ++c) s.vertices.push_back(box_corner(box, c));
    return s;
}

Surface ball_surface(int rounds) {
    QUADRAT_ASSERT(rounds >= 0 && rounds < 12);  // 4^12 triangles are more than anybody wants
    Surface s;
    s.vertices = {{{1, 0, 0}}, {{-1, 0, 0}}, {{0, 1, 0}}, {{0, -1, 0}}, {{0, 0, 1}}, {{0, 0, -1}}};
    s.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (int r = 0; r < rounds; ++r) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
        const auto middle = [&](std::uint32_t a, std::uint32_t b) {
            const auto [it, fresh] =
                middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(s.vertices.size()));
            if (fresh) {
                Vec3d m;
                for (int k = 0; k < 3; ++k) m[k] = s.vertices[a][k] + s.vertices[b][k];
                const double length = std::sqrt(m[0] * m[0] + (m[1] * m[1] + m[2] * m[2]));
                for (int k = 0; k < 3; ++k) m[k] /= length;
                s.vertices.push_back(m);
            }
            return it->second;
        };
        std::vector<Triangle> finer;
        for (const Triangle& t : s.triangles) {
            const std::uint32_t ab = middle(t.a, t.b), bc = middle(t.b, t.c), ca = middle(t.c, t.a);
            finer.insert(finer.end(), {{t.a, ab, ca}, {ab, t.b, bc}, {ca, bc, t.c}, {ab, bc, ca}});
        }
        s.triangles = std::move(finer);
    }
    return s;
}

}  // namespace quadrat::base
