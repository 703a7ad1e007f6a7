// HSH figure 6, whole frames: particles of size 2^-6 fall onto 2000 spheres of 2^-4..2^-2 in a box and bounce to its
// bottom. Every frame spheres and walls are hashed again, each particle asks for what the box of its path touches, and
// hits are tested exactly; then particles bounce and move. The paper claims: about 25 % faster than the multilevel
// hash, memory at most 20 % more. It does not say how large the box is or how many particles there are; here 20,000
// particles in a box of 4 x 4 x 4. Usage: paper_hsh_figure6 [JSON file]
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>

#include "base/random.hpp"
#include "common/report.hpp"

#include <cmath>
#include <cstdint>

namespace {

using namespace quadrat;

constexpr float side = 4;
constexpr float radius = 0x1p-7f;
constexpr float step = 0.01f;

struct World {
    std::vector<Sphere<3, float>> spheres;
    std::vector<Box3f> boxes;  // of the spheres, then the walls
    std::vector<Vec3f> position, velocity;
};

World make_world() {
    World w;
    base::SplitMix random(6);
    for (int i = 0; i < 2000; ++i) {
        Sphere<3, float> s;
        for (int k = 0; k < 3; ++k) s.center[k] = static_cast<float>(random.uniform(0, side));
        s.radius = static_cast<float>(random.uniform(0x1p-4, 0x1p-2) / 2);
        w.spheres.push_back(s);
        Box3f b;
        for (int k = 0; k < 3; ++k) {
            b.lo[k] = s.center[k] - s.radius;
            b.hi[k] = s.center[k] + s.radius;
        }
        w.boxes.push_back(b);
    }
    for (int k = 0; k < 3; ++k)
        for (const float at : {-0.25f, side}) {
            Box3f wall = {{-0.25f, -0.25f, -0.25f}, {side + 0.25f, side + 0.25f, side + 0.25f}};
            wall.lo[k] = at;
            wall.hi[k] = at + 0.25f;
            w.boxes.push_back(wall);
        }
    w.position.resize(20000);
    w.velocity.assign(w.position.size(), Vec3f{0, 0, 0});
    for (auto& p : w.position)
        for (int k = 0; k < 3; ++k) p[k] = static_cast<float>(random.uniform(0.1, side - 0.1));
    return w;
}

/// The boxes of the paths that particles would take in this frame.
void paths(const World& w, std::vector<Box3f>& out) {
    out.resize(w.position.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            const float a = w.position[i][k], b = a + step * w.velocity[i][k];
            out[i].lo[k] = std::min(a, b) - radius;
            out[i].hi[k] = std::max(a, b) + radius;
        }
}

/// Hashes the obstacles, finds what each path touches and counts the exact hits of spheres at the path's end.
template <class Structure>
std::uint64_t search(Structure& structure, const World& w, const std::vector<Box3f>& path, std::vector<Pair>& hits) {
    hits.clear();
    structure.build(std::span<const Box3f>(w.boxes));
    std::vector<std::uint32_t> found;
    std::uint64_t candidates = 0;
    for (std::uint32_t i = 0; i < path.size(); ++i) {
        structure.find(path[i], found);
        candidates += found.size();
        for (const std::uint32_t o : found) {
            if (o < w.spheres.size()) {
                float sum = 0;
                for (int k = 0; k < 3; ++k) {
                    const float d = w.position[i][k] + step * w.velocity[i][k] - w.spheres[o].center[k];
                    sum += d * d;
                }
                const float reach = w.spheres[o].radius + radius;
                if (sum > reach * reach) continue;
            }
            hits.push_back({i, o});
        }
    }
    return candidates;
}

void advance(World& w, const std::vector<Pair>& hits) {
    for (const Pair& hit : hits) {
        Vec3f& v = w.velocity[hit.first];
        if (hit.second < w.spheres.size()) {
            const auto& s = w.spheres[hit.second];
            Vec3f normal;
            float length = 0, speed = 0;
            for (int k = 0; k < 3; ++k) {
                normal[k] = w.position[hit.first][k] - s.center[k];
                length += normal[k] * normal[k];
            }
            length = std::sqrt(length) + 1e-9f;
            for (int k = 0; k < 3; ++k) speed += v[k] * normal[k] / length;
            if (speed < 0)
                for (int k = 0; k < 3; ++k) v[k] -= 1.5f * speed * normal[k] / length;
        } else {
            const int axis = static_cast<int>(hit.second - w.spheres.size()) / 2;
            const bool high = (hit.second - w.spheres.size()) % 2;
            if (high == (v[axis] > 0)) v[axis] *= -0.5f;
        }
    }
    for (std::size_t i = 0; i < w.position.size(); ++i) {
        for (int k = 0; k < 3; ++k)
            w.position[i][k] = std::min(std::max(w.position[i][k] + step * w.velocity[i][k], radius), side - radius);
        w.velocity[i][2] -= 9.81f * step;
    }
}

}  // namespace

int main(int argc, char** argv) {
    World world = make_world();
    HierarchicalHash<3, float> hierarchical;
    MultilevelHash<3, float> multilevel;
    papers::Report report({"frame", "hsh_ms", "multilevel_ms", "multi/hsh", "move_ms", "hsh_frame_ms", "multi_frame_ms",
                           "candidates", "hits", "hsh_bytes", "multi_bytes", "memory_ratio"});
    std::vector<Box3f> path;
    std::vector<Pair> hits, other;
    std::vector<double> a, b, moves;
    for (int frame = 0; frame < 1000; ++frame) {
        paths(world, path);
        std::uint64_t candidates = 0, same = 0;
        a.push_back(papers::milliseconds([&] { candidates = search(hierarchical, world, path, hits); }));
        b.push_back(papers::milliseconds([&] { same = search(multilevel, world, path, other); }));
        if (candidates != same || hits.size() != other.size()) {
            std::fprintf(stderr, "different answers in frame %d\n", frame);
            return 1;
        }
        // The order of hits is each structure's own; sorted, the simulation does not depend on it.
        moves.push_back(papers::milliseconds([&] {
            std::sort(hits.begin(), hits.end());
            advance(world, hits);
        }));
        // Fifty frames make one row: their medians.
        if (frame % 50 == 49) {
            const double x = papers::median(a), y = papers::median(b), move = papers::median(moves);
            const double bytes[2] = {static_cast<double>(hierarchical.stats().bytes),
                                     static_cast<double>(multilevel.stats().bytes)};
            report.row({static_cast<double>(frame + 1), x, y, y / x, move, x + move, y + move,
                        static_cast<double>(candidates), static_cast<double>(hits.size()), bytes[0], bytes[1],
                        bytes[0] / bytes[1]});
            a.clear();
            b.clear();
            moves.clear();
        }
    }
    report.write(argc > 1 ? argv[1] : nullptr);
    return 0;
}
