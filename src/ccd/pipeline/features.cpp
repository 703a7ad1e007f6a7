#include "ccd/pipeline/features.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "base/radix_sort.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::ccd {
namespace {

constexpr std::size_t grain = 4096;

[[noreturn]] void bad(std::size_t mesh, std::size_t index, const char* field, const std::string& what, ErrorKind kind) {
    throw Error(kind, "mesh " + std::to_string(mesh) + ": " + what, {.index = index, .field = field});
}

void check_mesh(const MovingMesh& m, std::size_t number) {
    const std::size_t n = m.start.size();
    if (!m.end.empty() && m.end.size() != n)
        bad(number, std::min(n, m.end.size()), "end",
            "the start has " + std::to_string(n) + " vertices and the end " + std::to_string(m.end.size()),
            ErrorKind::bad_shape);
    for (const auto* side : {&m.start, &m.end})
        for (std::size_t i = 0; i < side->size(); ++i)
            for (const double x : (*side)[i].v)
                if (!std::isfinite(x))
                    bad(number, i, side == &m.start ? "start" : "end", "a coordinate is not finite",
                        ErrorKind::bad_value);
    const auto in_range = [&](std::uint32_t v, std::size_t i, const char* field) {
        if (v >= n)
            bad(number, i, field, "vertex " + std::to_string(v) + " of " + std::to_string(n) + " vertices",
                ErrorKind::bad_value);
    };
    for (std::size_t i = 0; i < m.triangles.size(); ++i)
        for (const std::uint32_t v : {m.triangles[i].a, m.triangles[i].b, m.triangles[i].c})
            in_range(v, i, "triangles");
    for (std::size_t i = 0; i < m.segments.size(); ++i)
        for (const std::uint32_t v : m.segments[i]) in_range(v, i, "segments");
    for (std::size_t i = 0; i < m.points.size(); ++i) in_range(m.points[i], i, "points");
}

// The float before f.
float before(float f) {
    if (f == 0) return -std::numeric_limits<float>::denorm_min();
    const auto bits = std::bit_cast<std::int32_t>(f);
    return std::bit_cast<float>(f > 0 ? bits - 1 : bits + 1);
}

// The largest float that is not above x.
float down(double x, bool& exact) {
    const auto f = static_cast<float>(x);
    exact &= static_cast<double>(f) == x;
    return static_cast<double>(f) > x ? before(f) : f;
}

float up(double x, bool& exact) {
    return -down(-x, exact);
}

// `count` boxes, each the union of the boxes of some vertices; corners(i, out) names those of feature i and returns how
// many.
template <class Corners>
FeatureBoxes join(const FeatureBoxes& vertices, std::size_t count, Executor* executor, Corners&& corners) {
    FeatureBoxes out{{}, vertices.exact};
    out.boxes.resize_discard(count);
    base::parallel_for(executor, count, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            std::uint32_t v[3];
            const int n = corners(i, v);
            Box3f box = vertices.boxes[v[0]];
            for (int c = 1; c < n; ++c) {
                const Box3f& b = vertices.boxes[v[c]];
                for (int k = 0; k < 3; ++k) {
                    box.lo[k] = std::min(box.lo[k], b.lo[k]);
                    box.hi[k] = std::max(box.hi[k], b.hi[k]);
                }
            }
            out.boxes[i] = box;
        }
    });
    return out;
}

}  // namespace

Box3d trace_box(const Features& f, const std::uint32_t* vertices, int count, double grow) {
    Box3d box;
    for (int k = 0; k < 3; ++k) {
        const Trace& t = f.vertices[vertices[0]];
        box.lo[k] = std::min(t.start[k], t.end[k]);
        box.hi[k] = std::max(t.start[k], t.end[k]);
    }
    for (int i = 1; i < count; ++i) {
        const Trace& t = f.vertices[vertices[i]];
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = std::min(box.lo[k], std::min(t.start[k], t.end[k]));
            box.hi[k] = std::max(box.hi[k], std::max(t.start[k], t.end[k]));
        }
    }
    // Rounded to nearest: where x + grow >= y - grow holds for real numbers it does so for the rounded ones.
    for (int k = 0; k < 3; ++k) {
        box.lo[k] -= grow;
        box.hi[k] += grow;
    }
    return box;
}

Features make_features(std::span<const MovingMesh> meshes) {
    Features f;
    std::size_t vertices = 0;
    std::size_t faces = 0;
    for (std::size_t m = 0; m < meshes.size(); ++m) {
        check_mesh(meshes[m], m);
        vertices += meshes[m].start.size();
        faces += meshes[m].triangles.size();
    }
    if (vertices > 0xfffffffe || 3 * faces > 0xfffffffe)
        throw Error(ErrorKind::too_large, "more features than 32-bit indices can number");
    f.vertices.resize_discard(vertices);
    f.mesh.resize(vertices);
    f.faces.reserve(faces);
    std::vector<std::uint8_t> role(vertices, 0);  // 1: in a triangle or segment, 2: a point
    base::RadixSorter sorter;
    std::uint32_t base = 0;
    for (std::uint32_t m = 0; m < meshes.size(); ++m) {
        const MovingMesh& mesh = meshes[m];
        f.first_vertex.push_back(base);
        f.first_face.push_back(static_cast<std::uint32_t>(f.faces.size()));
        f.first_edge.push_back(static_cast<std::uint32_t>(f.edges.size()));
        for (std::size_t i = 0; i < mesh.start.size(); ++i) {
            const Vec3d& a = mesh.start[i];
            const Vec3d& b = mesh.end.empty() ? a : mesh.end[i];
            f.vertices[base + i] = {{a[0], a[1], a[2]}, {b[0], b[1], b[2]}, {0, 0}};
            f.mesh[base + i] = m;
        }
        std::vector<std::uint64_t> keys;  // larger vertex, smaller vertex
        keys.reserve(3 * mesh.triangles.size() + mesh.segments.size());
        const auto edge = [&](std::uint32_t a, std::uint32_t b) {
            keys.push_back(std::uint64_t{std::max(a, b) + base} << 32 | (std::min(a, b) + base));
            role[a + base] |= 1;
            role[b + base] |= 1;
        };
        for (const Triangle& t : mesh.triangles) {
            f.faces.push_back({t.a + base, t.b + base, t.c + base});
            edge(t.a, t.b);
            edge(t.b, t.c);
            edge(t.c, t.a);
        }
        sorter.sort(keys);
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        std::vector<std::uint64_t> free;
        if (!mesh.segments.empty()) {
            const std::vector<std::uint64_t> of_faces = keys;
            for (const auto& s : mesh.segments) edge(s[0], s[1]);
            std::sort(keys.begin(), keys.end());
            keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
            std::set_difference(keys.begin(), keys.end(), of_faces.begin(), of_faces.end(), std::back_inserter(free));
        }
        f.edges.reserve(f.edges.size() + keys.size());
        for (const std::uint64_t k : keys) {
            if (!free.empty() && std::binary_search(free.begin(), free.end(), k))
                f.free_edges.push_back(static_cast<std::uint32_t>(f.edges.size()));
            f.edges.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)});
        }
        for (const std::uint32_t p : mesh.points) role[p + base] |= 2;
        f.moves |= !mesh.end.empty();
        base += static_cast<std::uint32_t>(mesh.start.size());
    }
    for (std::uint32_t v = 0; v < vertices; ++v) {
        if (role[v]) f.used.push_back(v);
        if (role[v] == 2) f.free_points.push_back(v);
    }
    return f;
}

FeatureBoxes vertex_boxes(const Features& f, double grow, Executor* executor) {
    FeatureBoxes out;
    out.boxes.resize_discard(f.vertices.size());
    out.exact = base::parallel_reduce(
                    executor, f.vertices.size(), grain, 1,
                    [&](std::size_t begin, std::size_t end) {
                        bool exact = true;
                        for (std::size_t i = begin; i < end; ++i) {
                            const auto v = static_cast<std::uint32_t>(i);
                            const Box3d box = trace_box(f, &v, 1, grow);
                            for (int k = 0; k < 3; ++k) {
                                out.boxes[i].lo[k] = down(box.lo[k], exact);
                                out.boxes[i].hi[k] = up(box.hi[k], exact);
                            }
                        }
                        return exact ? 1 : 0;
                    },
                    [](int a, int b) { return a & b; }) != 0;
    return out;
}

FeatureBoxes boxes_of(const FeatureBoxes& vertices, std::span<const std::uint32_t> chosen, Executor* executor) {
    return join(vertices, chosen.size(), executor, [&](std::size_t i, std::uint32_t* v) {
        v[0] = chosen[i];
        return 1;
    });
}

FeatureBoxes face_boxes(const Features& f, const FeatureBoxes& vertices, Executor* executor) {
    return join(vertices, f.faces.size(), executor, [&](std::size_t i, std::uint32_t* v) {
        v[0] = f.faces[i].a;
        v[1] = f.faces[i].b;
        v[2] = f.faces[i].c;
        return 3;
    });
}

FeatureBoxes edge_boxes(const Features& f, std::span<const std::uint32_t> edges, const FeatureBoxes& vertices,
                        Executor* executor) {
    return join(vertices, edges.size(), executor, [&](std::size_t i, std::uint32_t* v) {
        v[0] = f.edges[edges[i]][0];
        v[1] = f.edges[edges[i]][1];
        return 2;
    });
}

FeatureBoxes edge_boxes(const Features& f, const FeatureBoxes& vertices, Executor* executor) {
    return join(vertices, f.edges.size(), executor, [&](std::size_t i, std::uint32_t* v) {
        v[0] = f.edges[i][0];
        v[1] = f.edges[i][1];
        return 2;
    });
}

}  // namespace quadrat::ccd
