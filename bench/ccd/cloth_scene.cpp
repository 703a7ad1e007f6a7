// Runs a cloth scene (scenes/contact), tests every frame for triangles that cross with a test
// that shares nothing with the library's continuous one, and draws pictures of chosen frames.
//   bench_cloth_scene SCENE.json DATA_DIR OUT_DIR [SECONDS] [FRAME...]
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/simulation/cloth.hpp>

#include "io/by_ending.hpp"
#include "io/png.hpp"
#include "render/picture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

using namespace quadrat;
using Json = nlohmann::json;

struct Surface {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> vertices;
};

Surface sheet(const Json& j) {
    const auto n = j.at("cells").get<std::uint32_t>();
    const double size = j.at("size"), tilt = j.value("tilt", 0.0);
    const auto c = j.at("center").get<std::vector<double>>();
    Surface s;
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t k = 0; k <= n; ++k) {
            const double u = (i / double(n) - 0.5) * size, v = (k / double(n) - 0.5) * size;
            s.vertices.push_back(
                {{c[0] + u, c[1] + v * std::cos(tilt), c[2] + v * std::sin(tilt) + 0.01 * std::sin(7 * u + 3 * v)}});
            if (i && k) {
                const std::uint32_t d = i * (n + 1) + k, b = d - 1, r = d - (n + 1), a = r - 1;
                if ((i + k) % 2) {
                    s.triangles.push_back({a, b, d});
                    s.triangles.push_back({a, d, r});
                } else {
                    s.triangles.push_back({a, b, r});
                    s.triangles.push_back({b, d, r});
                }
            }
        }
    return s;
}

Surface sphere(const Json& j) {
    const auto c = j.at("center").get<std::vector<double>>();
    const double radius = j.at("radius");
    Surface s;
    for (const int sign : {1, -1})
        for (int k = 0; k < 3; ++k) {
            Vec3d v = {{0, 0, 0}};
            v[k] = sign;
            s.vertices.push_back(v);
        }
    s.triangles = {{0, 1, 2}, {1, 3, 2}, {3, 4, 2}, {4, 0, 2}, {1, 0, 5}, {3, 1, 5}, {4, 3, 5}, {0, 4, 5}};
    for (int d = 0; d < j.value("subdivisions", 3); ++d) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middle;
        std::vector<Triangle> finer;
        const auto half = [&](std::uint32_t a, std::uint32_t b) {
            const auto [it, fresh] =
                middle.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<std::uint32_t>(s.vertices.size()));
            if (fresh) {
                Vec3d m;
                for (int k = 0; k < 3; ++k) m[k] = s.vertices[a][k] + s.vertices[b][k];
                const double l = std::hypot(m[0], m[1], m[2]);
                for (int k = 0; k < 3; ++k) m[k] /= l;
                s.vertices.push_back(m);
            }
            return it->second;
        };
        for (const Triangle& t : s.triangles) {
            const std::uint32_t ab = half(t.a, t.b), bc = half(t.b, t.c), ca = half(t.c, t.a);
            finer.insert(finer.end(), {{t.a, ab, ca}, {ab, t.b, bc}, {ca, bc, t.c}, {ab, bc, ca}});
        }
        s.triangles = finer;
    }
    for (Vec3d& v : s.vertices)
        for (int k = 0; k < 3; ++k) v[k] = c[static_cast<std::size_t>(k)] + radius * v[k];
    return s;
}

Surface plate(double x, double y, double z, double half) {
    return {
        {{0, 1, 2}, {0, 2, 3}},
        {{{x - half, y - half, z}}, {{x + half, y - half, z}}, {{x + half, y + half, z}}, {{x - half, y + half, z}}}};
}

// Four walls and a floor, open above.
Surface box(const Json& j) {
    const double h = j.at("half"), f = j.at("floor"), top = 6;
    Surface s;
    s.vertices = {{{-h, -h, f}},   {{h, -h, f}},   {{h, h, f}},   {{-h, h, f}},
                  {{-h, -h, top}}, {{h, -h, top}}, {{h, h, top}}, {{-h, h, top}}};
    s.triangles = {{0, 1, 2}, {0, 2, 3}, {0, 1, 5}, {0, 5, 4}, {1, 2, 6},
                   {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};
    return s;
}

Surface mesh(const Json& j, const std::string& data) {
    const io::Mesh m = io::read_mesh(data + "/" + j.at("file").get<std::string>());
    Surface s{m.triangles, m.vertices};
    if (j.value("y_up", false))
        for (Vec3d& v : s.vertices) v = {{v[0], -v[2], v[1]}};
    Box3d b = {s.vertices[0], s.vertices[0]};
    for (const Vec3d& v : s.vertices)
        for (int k = 0; k < 3; ++k) {
            b.lo[k] = std::min(b.lo[k], v[k]);
            b.hi[k] = std::max(b.hi[k], v[k]);
        }
    const double scale = j.at("height").get<double>() / (b.hi[2] - b.lo[2]);
    for (Vec3d& v : s.vertices)
        v = {{(v[0] - (b.lo[0] + b.hi[0]) / 2) * scale, (v[1] - (b.lo[1] + b.hi[1]) / 2) * scale,
              (v[2] - b.lo[2]) * scale + j.at("bottom").get<double>()}};
    if (j.contains("cluster")) {  // fewer triangles: vertices of one grid cell become one
        const double cell = j["cluster"];
        std::map<std::array<long, 3>, std::uint32_t> place;
        std::vector<std::uint32_t> to;
        Surface coarse;
        for (const Vec3d& v : s.vertices) {
            const std::array<long, 3> key = {std::lround(v[0] / cell), std::lround(v[1] / cell),
                                             std::lround(v[2] / cell)};
            const auto [it, fresh] = place.try_emplace(key, static_cast<std::uint32_t>(coarse.vertices.size()));
            if (fresh) coarse.vertices.push_back(v);
            to.push_back(it->second);
        }
        std::set<std::array<std::uint32_t, 3>> seen;
        for (const Triangle& t : s.triangles) {
            std::array<std::uint32_t, 3> v = {to[t.a], to[t.b], to[t.c]};
            const Triangle kept = {v[0], v[1], v[2]};
            std::sort(v.begin(), v.end());
            if (v[0] != v[1] && v[1] != v[2] && seen.insert(v).second) coarse.triangles.push_back(kept);
        }
        return coarse;
    }
    return s;
}

Surface tori(const Json& j) {
    Surface s;
    const auto rings = j.at("rings").get<std::uint32_t>(), sides = j.at("sides").get<std::uint32_t>();
    const double radius = j.at("radius"), tube = j.at("tube"), gap = j.at("gap");
    for (std::uint32_t n = 0; n < j.at("count").get<std::uint32_t>(); ++n) {
        const auto base = static_cast<std::uint32_t>(s.vertices.size());
        const double lean = 0.25 * std::sin(2.0 * n);
        for (std::uint32_t i = 0; i < rings; ++i)
            for (std::uint32_t k = 0; k < sides; ++k) {
                const double a = 2 * M_PI * i / rings, b = 2 * M_PI * k / sides;
                const double r = radius + tube * std::cos(b);
                const double x = r * std::cos(a), y = r * std::sin(a), z = tube * std::sin(b);
                s.vertices.push_back({{x * std::cos(lean) - z * std::sin(lean) + 0.02 * std::sin(5.0 * n), y,
                                       x * std::sin(lean) + z * std::cos(lean) + 0.1 + n * (2 * tube + gap + 0.12)}});
                const auto at = [&](std::uint32_t p, std::uint32_t q) {
                    return base + (p % rings) * sides + q % sides;
                };
                s.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
                s.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
            }
    }
    return s;
}

// The independent test: an edge of one triangle through the other, by orientation signs in quadruple precision.
__extension__ using Quad = __float128;

int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
    Quad m[3][3];
    Quad size = 1;
    for (int k = 0; k < 3; ++k) {
        m[0][k] = Quad(a[k]) - d[k];
        m[1][k] = Quad(b[k]) - d[k];
        m[2][k] = Quad(c[k]) - d[k];
    }
    for (const auto& row : m) {
        Quad largest = 0;
        for (const Quad x : row) largest = std::max<Quad>(largest, x < 0 ? -x : x);
        size *= largest;
    }
    const Quad det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                     m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                     m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return det > size * 1e-30 ? 1 : det < -size * 1e-30 ? -1 : 0;
}

bool pierces(const Vec3d& p, const Vec3d& q, const std::array<Vec3d, 3>& t) {
    if (orientation(t[0], t[1], t[2], p) * orientation(t[0], t[1], t[2], q) >= 0) return false;
    const int a = orientation(p, q, t[0], t[1]), b = orientation(p, q, t[1], t[2]), c = orientation(p, q, t[2], t[0]);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

std::size_t crossings(const std::vector<Triangle>& triangles, const std::vector<Vec3d>& x,
                      std::size_t cloth_triangles) {
    std::vector<Box3d> boxes;
    for (const Triangle& t : triangles) {
        Box3d b = {x[t.a], x[t.a]};
        for (const std::uint32_t v : {t.b, t.c})
            for (int k = 0; k < 3; ++k) {
                b.lo[k] = std::min(b.lo[k], x[v][k]);
                b.hi[k] = std::max(b.hi[k], x[v][k]);
            }
        boxes.push_back(b);
    }
    HashGridHierarchy<3, double> grid;
    grid.insert(std::span<const Box3d>(boxes));
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    std::size_t count = 0;
    for (const Pair& p : pairs) {
        if (p.first >= cloth_triangles) continue;  // both are obstacles
        const Triangle &s = triangles[p.first], &t = triangles[p.second];
        const std::set<std::uint32_t> v = {s.a, s.b, s.c, t.a, t.b, t.c};
        if (v.size() < 5)
            continue;  // triangles with a common edge only touch; an edge that ends at the other pierces nothing
        const std::array<Vec3d, 3> a = {x[s.a], x[s.b], x[s.c]}, b = {x[t.a], x[t.b], x[t.c]};
        bool crossed = false;
        for (std::size_t i = 0; i < 3; ++i)
            crossed |= pierces(a[i], a[(i + 1) % 3], b) || pierces(b[i], b[(i + 1) % 3], a);
        count += crossed;
    }
    return count;
}

void draw(const std::string& path, const Json& scene, const Cloth& cloth, const std::vector<Surface>& obstacles,
          std::size_t press) {
    const auto eye = scene.at("camera").at("eye").get<std::vector<float>>();
    const auto target = scene.at("camera").at("target").get<std::vector<float>>();
    render::Picture picture(
        720, 480, 3,
        {.eye = {{eye[0], eye[1], eye[2]}}, .target = {{target[0], target[1], target[2]}}, .field_of_view = 0.5f},
        {.direction = {{0.3f, -0.6f, 0.9f}}, .ambient = 0.25f, .sky = 0.2f});
    picture.background(
        [](float, float y) { return render::lerp(render::from_hex(0xdfe7ee), render::from_hex(0xffffff), y); });
    const auto point = [](const Vec3d& v) {
        return Vec3f{{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])}};
    };
    for (std::uint32_t o = 0; o < obstacles.size(); ++o) {
        if (o == press) continue;
        const auto x = cloth.obstacle(o);
        for (std::size_t i = 0; i < obstacles[o].triangles.size(); ++i) {
            if (obstacles[o].triangles.size() == 10 && i >= 2) break;  // of a box only the floor
            const Triangle& t = obstacles[o].triangles[i];
            picture.draw(point(x[t.a]), point(x[t.b]), point(x[t.c]), {.color = render::from_hex(0xb8b2a6)});
        }
    }
    const auto x = cloth.positions();
    const auto tri = cloth.triangles();
    const std::size_t per_body = scene.contains("tori") ? 2 * scene["tori"]["rings"].get<std::size_t>() *
                                                              scene["tori"]["sides"].get<std::size_t>()
                                                        : tri.size();
    for (std::size_t i = 0; i < tri.size(); ++i) {
        const float hue =
            static_cast<float>(i / per_body) / static_cast<float>(std::max<std::size_t>(1, tri.size() / per_body));
        picture.draw(point(x[tri[i].a]), point(x[tri[i].b]), point(x[tri[i].c]),
                     {.color = render::gradient({0xc8452d, 0xe8a33d, 0x4b8f6b, 0x2f6690, 0x7a4b94}, hue)});
    }
    const std::vector<std::uint8_t> pixels = picture.finish();
    io::write_png(path, {.width = 720, .height = 480, .channels = 3, .pixels = pixels});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s SCENE.json DATA_DIR OUT_DIR [SECONDS] [FRAME...]\n", argv[0]);
        return 2;
    }
    const Json scene = Json::parse(std::ifstream(argv[1]));
    const std::string out = argv[3];
    const double seconds = argc > 4 && std::atof(argv[4]) > 0 ? std::atof(argv[4]) : scene.at("seconds").get<double>();
    std::set<int> wanted;
    for (int i = 5; i < argc; ++i) wanted.insert(std::atoi(argv[i]));
    const bool rings = scene.contains("tori");
    const Surface cloth_surface = rings ? tori(scene["tori"]) : sheet(scene.at("sheet"));
    const double step = scene.at("time_step");
    Cloth cloth(cloth_surface.triangles, cloth_surface.vertices,
                {.time_step = step, .thickness = scene.at("thickness"), .bend_compliance = rings ? 1e-5 : 1e-2});
    if (rings) {  // keep the tubes round: springs across them
        const auto sides = scene["tori"]["sides"].get<std::uint32_t>();
        for (std::uint32_t v = 0; v < cloth_surface.vertices.size(); ++v) {
            const std::uint32_t ring = v / sides, side = v % sides;
            if (side < sides / 2) cloth.add_spring(v, ring * sides + side + sides / 2, 1e-4);
        }
    }
    std::vector<Surface> obstacles;
    for (const Json& o : scene.at("obstacles")) {
        const std::string kind = o.at("kind");
        obstacles.push_back(kind == "sphere" ? sphere(o)
                            : kind == "mesh" ? mesh(o, argv[2])
                            : kind == "box"  ? box(o)
                                             : plate(0, 0, o.at("height"), o.at("size").get<double>() / 2));
    }
    std::size_t press = obstacles.size();
    if (scene.contains("press")) obstacles.push_back(plate(0, 0, scene["press"]["from"], 0.6));
    for (const Surface& o : obstacles) cloth.add_obstacle(o.triangles, o.vertices);

    const double rate = scene.at("frames_per_second");
    std::size_t bad = 0, impacts = 0, stopped = 0, frames = 0;
    double time = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int frame = 0; frame <= static_cast<int>(seconds * rate + 0.5); ++frame) {
        while (time < frame / rate - 1e-9) {
            time += step;
            if (press < obstacles.size()) {
                const Json& p = scene["press"];
                const double s = std::clamp(
                    (time - p["begin"].get<double>()) / (p["end"].get<double>() - p["begin"].get<double>()), 0.0, 1.0);
                std::vector<Vec3d> at(cloth.obstacle(static_cast<std::uint32_t>(press)).begin(),
                                      cloth.obstacle(static_cast<std::uint32_t>(press)).end());
                for (Vec3d& v : at)
                    v[2] = std::max(v[2] - 0.02, (1 - s) * p["from"].get<double>() + s * p["to"].get<double>());
                cloth.move_obstacle(static_cast<std::uint32_t>(press), at);
            }
            cloth.step();
            impacts += cloth.stats().impacts;
            stopped += cloth.stats().stopped;
        }
        std::vector<Triangle> all(cloth.triangles().begin(), cloth.triangles().end());
        std::vector<Vec3d> x(cloth.positions().begin(), cloth.positions().end());
        for (std::uint32_t o = 0; o < obstacles.size(); ++o) {
            const auto base = static_cast<std::uint32_t>(x.size());
            for (const Triangle& t : obstacles[o].triangles) all.push_back({t.a + base, t.b + base, t.c + base});
            x.insert(x.end(), cloth.obstacle(o).begin(), cloth.obstacle(o).end());
        }
        bad += crossings(all, x, cloth.triangles().size());
        ++frames;
        if (wanted.count(frame))
            draw(out + "/" + scene.at("name").get<std::string>() + "_" + std::to_string(frame) + ".png", scene, cloth,
                 obstacles, press);
        if (rings && wanted.count(frame)) {
            io::Mesh m;
            m.vertices.assign(cloth.positions().begin(), cloth.positions().end());
            m.triangles.assign(cloth.triangles().begin(), cloth.triangles().end());
            io::write_ply(out + "/" + scene.at("name").get<std::string>() + "_" + std::to_string(frame) + ".ply", m);
        }
    }
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf(
        "{\"scene\": \"%s\", \"seconds\": %.2f, \"frames\": %zu, \"crossing_triangles\": %zu, \"impacts\": %zu, "
        "\"stopped\": %zu, "
        "\"triangles\": %zu, \"wall_seconds\": %.1f}\n",
        scene.at("name").get<std::string>().c_str(), seconds, frames, bad, impacts, stopped, cloth.triangles().size(),
        took);
    return bad == 0 ? 0 : 1;
}
