// One step: predict positions under gravity; find all features that could come within the thickness (find_candidates on
// the swept boxes) and measure their distances at the start; solve stretch, bending, contact and friction together
// (implicit.hpp), contacts as linear inequalities along the closest direction; then prove the motion free of contact
// with the exact continuous test. What is not free is shortened, and after a few rounds stopped. Standing still
// is free of contact because the start was, so the loop ends, and by induction no step ever lets a triangle through.
#include <quadrat/simulation/cloth.hpp>

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "ccd/vector.hpp"
#include "simulation/cloth/implicit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace quadrat {
namespace {

using ccd::cross;
using ccd::dot;
using ccd::norm;
using ccd::operator+;
using ccd::operator-;
using ccd::operator*;

using simulation::Spring;
using simulation::Touch;

struct Body {
    std::vector<Triangle> triangles;
    std::vector<Vec3d> now;
    std::vector<Vec3d> next;
};

constexpr double usual_thickness = 0.01;

// Four vertices of world numbering (mesh, vertex), their signed weights, and the direction that keeps them apart.
struct Near {
    std::uint32_t mesh[4];
    std::uint32_t vertex[4];
    double weight[4];
    Vec3d normal;
    int count;
};

double shortest_edge(std::span<const Triangle> triangles, std::span<const Vec3d> positions) {
    double shortest = std::numeric_limits<double>::infinity();
    for (const Triangle& t : triangles) {
        const std::uint32_t corner[3] = {t.a, t.b, t.c};
        for (std::size_t k = 0; k < 3; ++k) {
            if (corner[k] >= positions.size() || corner[(k + 1) % 3] >= positions.size())
                continue;  // refused elsewhere
            shortest = std::min(shortest, norm(positions[corner[k]] - positions[corner[(k + 1) % 3]]));
        }
    }
    return shortest;
}

Eigen::Vector3d vector(const Vec3d& v) {
    return {v[0], v[1], v[2]};
}
Vec3d plain(const Eigen::Vector3d& v) {
    return {{v[0], v[1], v[2]}};
}

}  // namespace

struct Cloth::Impl {
    ClothOptions options;
    std::vector<Body> bodies;  // the cloth, then the obstacles

    [[nodiscard]] Body& obstacle(std::uint32_t number) {
        if (number >= bodies.size() - 1) throw Error(ErrorKind::bad_value, "no such obstacle", {.index = number});
        return bodies[number + 1];
    }

    std::vector<Vec3d> velocity;
    std::vector<double> inverse_mass;
    std::vector<double> ease;  // of this step: the same with the load
    std::vector<Spring> springs;
    double shortest = 0;  // edge
    std::vector<ObstaclePush> pushes;
    ClothStats stats;

    [[nodiscard]] double reach() const { return 1.5 * options.thickness; }

    // All places of a body during the step.
    [[nodiscard]] static Box3d swept(const Body& b) {
        constexpr double inf = std::numeric_limits<double>::infinity();
        Box3d box = {{{inf, inf, inf}}, {{-inf, -inf, -inf}}};
        for (const auto* positions : {&b.now, &b.next})
            for (const Vec3d& v : *positions)
                for (int k = 0; k < 3; ++k) {
                    box.lo[k] = std::min(box.lo[k], v[k]);
                    box.hi[k] = std::max(box.hi[k], v[k]);
                }
        return box;
    }

    // Which bodies take part in this step: the cloth, and the obstacles that it can reach.
    [[nodiscard]] std::vector<std::uint8_t> taking_part() const {
        std::vector<std::uint8_t> part(bodies.size(), 1);
        Box3d cloth = swept(bodies[0]);
        for (int k = 0; k < 3; ++k) {
            cloth.lo[k] -= 2 * reach();
            cloth.hi[k] += 2 * reach();
        }
        for (std::size_t i = 1; i < bodies.size(); ++i) part[i] = overlap(cloth, swept(bodies[i]));
        return part;
    }

    // Obstacles out of reach are empty meshes, so that numbers stay.
    [[nodiscard]] std::vector<MovingMesh> meshes() const {
        std::vector<MovingMesh> m;
        const std::vector<std::uint8_t> part = taking_part();
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            const Body& b = bodies[i];
            if (!part[i]) {
                m.push_back({.group = 2u, .mask = 1u});
                continue;
            }
            // Obstacles do not meet each other.
            m.push_back({.triangles = b.triangles,
                         .start = b.now,
                         .end = b.next,
                         .group = i == 0 ? 1u : 2u,
                         .mask = i == 0 ? 3u : 1u});
        }
        return m;
    }

    // True if triangles without a common vertex cross, in the positions of now: among the cloth and between cloth and
    // obstacles.
    [[nodiscard]] bool crossed() const {
        struct Corner {
            std::array<Vec3d, 3> p;
            Triangle t;
            bool cloth;
        };
        std::vector<Corner> all;
        std::vector<Box3d> boxes;
        const std::vector<std::uint8_t> part = taking_part();
        for (const Body& b : bodies) {
            if (!part[static_cast<std::size_t>(&b - bodies.data())]) continue;
            for (const Triangle& t : b.triangles) {
                const Corner c{{b.now[t.a], b.now[t.b], b.now[t.c]}, t, &b == &bodies[0]};
                Box3d box = {c.p[0], c.p[0]};
                for (const Vec3d& v : c.p)
                    for (int k = 0; k < 3; ++k) {
                        box.lo[k] = std::min(box.lo[k], v[k]);
                        box.hi[k] = std::max(box.hi[k], v[k]);
                    }
                all.push_back(c);
                boxes.push_back(box);
            }
        }
        HashGridHierarchy<3, double> grid({.executor = options.executor});
        grid.insert(std::span<const Box3d>(boxes));
        std::vector<Pair> pairs;
        grid.find_pairs(pairs);
        for (const Pair& q : pairs) {
            const Corner& a = all[q.first];
            const Corner& b = all[q.second];
            if (!a.cloth && !b.cloth) continue;
            bool share = false;
            for (const std::uint32_t i : {a.t.a, a.t.b, a.t.c})
                for (const std::uint32_t j : {b.t.a, b.t.b, b.t.c}) share |= a.cloth == b.cloth && i == j;
            if (!share && triangles_intersect(a.p, b.p)) return true;
        }
        return false;
    }

    std::vector<Near> find_near() {
        const std::vector<MovingMesh> world = meshes();
        const Candidates c = find_candidates(world, {.min_distance = reach(), .executor = options.executor});
        stats.candidates = c.size();
        std::vector<std::uint32_t> first_vertex, first_face;
        std::vector<std::uint32_t> mesh_of;
        std::uint32_t vertices = 0, faces = 0;
        for (std::uint32_t m = 0; m < world.size(); ++m) {
            first_vertex.push_back(vertices);
            first_face.push_back(faces);
            vertices += static_cast<std::uint32_t>(world[m].start.size());
            faces += static_cast<std::uint32_t>(world[m].triangles.size());
            mesh_of.resize(vertices, m);
        }
        std::vector<Near> all;
        const auto consider = [&](ImpactKind kind, const std::uint32_t(&v)[4]) {
            FourPoints p;
            Near n;
            const std::size_t first = kind == ImpactKind::edge_edge ? 2 : 1;
            for (std::size_t i = 0; i < 4; ++i) {
                n.mesh[i] = mesh_of[v[i]];
                n.vertex[i] = v[i] - first_vertex[n.mesh[i]];
                p[i] = bodies[n.mesh[i]].now[n.vertex[i]];
            }
            const Closest close = closest_points(kind, p);
            // What moves fast may come from farther away.
            double motion = 0;
            for (std::size_t i = 0; i < 4; ++i)
                motion = std::max(motion, norm(bodies[n.mesh[i]].next[n.vertex[i]] - p[i]));
            if (!(close.distance <= reach() + 2 * motion) || !(close.distance > 0)) return;
            n.normal = (1 / close.distance) * (close.first - close.second);
            n.count = 4;
            for (std::size_t i = 0; i < 4; ++i) n.weight[i] = (i < first ? 1.0 : -1.0) * close.barycentric[i];
            all.push_back(n);
        };
        for (const Pair& q : c.vertex_face) {
            const std::uint32_t mesh =
                static_cast<std::uint32_t>(std::upper_bound(first_face.begin(), first_face.end(), q.second) -
                                           first_face.begin()) -
                1;
            const Triangle& t = bodies[mesh].triangles[q.second - first_face[mesh]];
            const std::uint32_t base = first_vertex[mesh];
            consider(ImpactKind::vertex_face, {q.first, t.a + base, t.b + base, t.c + base});
        }
        for (const Pair& q : c.edge_edge)
            consider(ImpactKind::edge_edge,
                     {c.edges[q.first][0], c.edges[q.first][1], c.edges[q.second][0], c.edges[q.second][1]});
        stats.near = all.size();
        return all;
    }

    [[nodiscard]] Touch touch_of(const Near& n) const {
        QUADRAT_ASSERT(n.count <= 4);
        Touch t;
        t.normal = vector(n.normal);
        t.slid.setZero();
        for (int i = 0; i < n.count; ++i) {
            const Body& b = bodies[n.mesh[i]];
            const Eigen::Vector3d now = vector(b.now[n.vertex[i]]);
            if (n.mesh[i] == 0) {
                t.vertex[t.count] = n.vertex[i];
                t.weight[t.count++] = n.weight[i];
                t.slid -= n.weight[i] * now;
            } else {
                const Eigen::Vector3d next = vector(b.next[n.vertex[i]]);
                t.slid += n.weight[i] * (next - now);
                t.fixed += n.weight[i] * t.normal.dot(next);
            }
        }
        return t;
    }

    void solve(const std::vector<Near>& near) {
        std::vector<Vec3d>& next = bodies[0].next;
        QUADRAT_ASSERT(ease.size() == next.size());
        std::vector<Touch> touches;
        for (const Near& n : near) touches.push_back(touch_of(n));
        std::vector<Eigen::Vector3d> flying, x;
        std::vector<double> mass;
        for (std::size_t v = 0; v < next.size(); ++v) {
            flying.push_back(vector(next[v]));
            x.push_back(vector(bodies[0].now[v]));
            mass.push_back(ease[v] > 0 ? 1 / ease[v] : 0);
        }
        simulation::ImplicitStep step(springs, touches, mass, flying,
                                      {.step = options.time_step,
                                       .thickness = options.thickness,
                                       .friction = options.friction,
                                       .rounds = options.iterations,
                                       .enough = 1e-3 * shortest});
        stats.forces = step.solve(x);
        for (std::size_t v = 0; v < next.size(); ++v) next[v] = plain(x[v]);
        note_pushes(near, touches, step, x);
    }

    void note_pushes(const std::vector<Near>& near, const std::vector<Touch>& touches,
                     const simulation::ImplicitStep& step, const std::vector<Eigen::Vector3d>& x) {
        QUADRAT_ASSERT(near.size() == touches.size());
        std::vector<double> strength(bodies.size() - 1, 0.0);
        pushes.assign(bodies.size() - 1, {});
        for (std::size_t k = 0; k < near.size(); ++k) {
            const Near& n = near[k];
            const Touch& t = touches[k];
            if (!(t.push > 0)) continue;
            const Vec3d push = plain(step.push(t, x));
            for (int i = 0; i < n.count; ++i)
                if (n.mesh[i] != 0)
                    note_push(n.mesh[i] - 1, n.weight[i] * push, bodies[n.mesh[i]].now[n.vertex[i]], strength);
        }
        for (std::size_t o = 0; o < pushes.size(); ++o)
            if (strength[o] > 0) pushes[o].point = (1 / strength[o]) * pushes[o].point;
    }

    // As much as the cloth got, the other way round.
    void note_push(std::size_t obstacle, const Vec3d& push, const Vec3d& at, std::vector<double>& strength) {
        QUADRAT_ASSERT(obstacle < pushes.size() && strength.size() == pushes.size());
        const double size = norm(push);
        pushes[obstacle].impulse = pushes[obstacle].impulse + (1 / options.time_step) * push;
        pushes[obstacle].point = pushes[obstacle].point + size * at;
        strength[obstacle] += size;
    }

    // Shortens the motion until the exact test finds no contact.
    void make_free() {
        stats.impacts = stats.rounds = 0;
        std::vector<std::uint8_t> held(bodies[0].now.size(), 0);
        for (;;) {
            ++stats.rounds;
            const ContactList list = find_contacts(meshes(), {.executor = options.executor});
            if (list.empty()) break;
            if (stats.rounds == 1) stats.impacts = list.size();
            for (std::size_t b = 0; b < bodies.size(); ++b) {
                Body& body = bodies[b];
                bool touched = false;
                for (std::size_t v = 0; v < list.vertex_times[b].size(); ++v) {
                    const double t = list.vertex_times[b][v];
                    if (!(t <= 1)) continue;
                    touched = true;
                    if (b > 0) break;
                    const bool hold = stats.rounds > 4 || t == 0;
                    held[v] = hold;
                    body.next[v] = hold ? body.now[v] : ccd::lerp(body.now[v], body.next[v], 0.5 * t);
                }
                if (b > 0 && touched) body.next = body.now;
            }
            if (stats.rounds > 12) {  // spread: hold whatever is connected to what is held
                std::vector<std::uint8_t> wider = held;
                for (const Spring& s : springs)
                    if (held[s.a] || held[s.b]) wider[s.a] = wider[s.b] = 1;
                held = wider;
                for (std::size_t v = 0; v < held.size(); ++v)
                    if (held[v]) bodies[0].next[v] = bodies[0].now[v];
            }
            if (stats.rounds > 40)
                for (Body& b : bodies) b.next = b.now;
        }
        stats.stopped = static_cast<std::size_t>(std::count(held.begin(), held.end(), 1));
    }
};

Cloth::Cloth(std::span<const Triangle> triangles, std::span<const Vec3d> positions, const ClothOptions& options)
    : impl_(std::make_unique<Impl>()) {
    if (!(options.time_step > 0 && std::isfinite(options.time_step)))
        throw Error(ErrorKind::bad_value, "must be positive", {.field = "time_step"});
    if (!(options.thickness >= 0 && std::isfinite(options.thickness)))
        throw Error(ErrorKind::bad_value, "must be at least 0", {.field = "thickness"});
    Impl& m = *impl_;
    m.options = options;
    m.shortest = shortest_edge(triangles, positions);
    if (options.thickness == 0) m.options.thickness = std::min(usual_thickness, 0.5 * m.shortest);
    if (!(m.options.thickness > 0)) throw Error(ErrorKind::bad_value, "an edge has no length", {.field = "positions"});
    Body cloth;
    cloth.triangles.assign(triangles.begin(), triangles.end());
    cloth.now.assign(positions.begin(), positions.end());
    cloth.next = cloth.now;
    m.bodies.push_back(std::move(cloth));
    if (!find_contacts(m.meshes()).empty() || m.crossed())
        throw Error(ErrorKind::bad_value, "the surface starts in contact with itself", {.field = "positions"});
    m.velocity.assign(positions.size(), Vec3d{{0, 0, 0}});
    std::vector<double> mass(positions.size(), 0.0);
    std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>>
        opposite;  // edge to the far corners of its triangles
    for (const Triangle& t : triangles) {
        const double area = 0.5 * norm(cross(positions[t.b] - positions[t.a], positions[t.c] - positions[t.a]));
        const std::uint32_t v[3] = {t.a, t.b, t.c};
        for (int i = 0; i < 3; ++i) {
            mass[v[i]] += area / 3;
            const std::uint32_t a = v[(i + 1) % 3], b = v[(i + 2) % 3];
            opposite[{std::min(a, b), std::max(a, b)}].push_back(v[i]);
        }
    }
    for (const double w : mass) m.inverse_mass.push_back(w > 0 ? 1 / w : 0);
    for (const auto& [edge, corners] : opposite) {
        add_spring(edge[0], edge[1], options.stretch_compliance);
        if (corners.size() == 2 && corners[0] != corners[1])
            add_spring(corners[0], corners[1], options.bend_compliance);
    }
}

Cloth::~Cloth() = default;
Cloth::Cloth(Cloth&&) noexcept = default;
Cloth& Cloth::operator=(Cloth&&) noexcept = default;

void Cloth::pin(std::uint32_t vertex) {
    if (vertex >= impl_->inverse_mass.size()) throw Error(ErrorKind::bad_value, "no such vertex", {.index = vertex});
    impl_->inverse_mass[vertex] = 0;
}

void Cloth::add_spring(std::uint32_t a, std::uint32_t b, double compliance) {
    const std::vector<Vec3d>& x = impl_->bodies[0].now;
    if (std::max(a, b) >= x.size()) throw Error(ErrorKind::bad_value, "no such vertex", {.index = std::max(a, b)});
    impl_->springs.push_back({a, b, norm(x[a] - x[b]), compliance});
}

std::uint32_t Cloth::add_obstacle(std::span<const Triangle> triangles, std::span<const Vec3d> positions) {
    Body b;
    b.triangles.assign(triangles.begin(), triangles.end());
    b.now.assign(positions.begin(), positions.end());
    b.next = b.now;
    impl_->bodies.push_back(std::move(b));
    try {
        if (!find_contacts(impl_->meshes()).empty() || impl_->crossed())
            throw Error(ErrorKind::bad_value, "the obstacle starts in contact with the cloth", {.field = "positions"});
    } catch (...) {
        impl_->bodies.pop_back();
        throw;
    }
    return static_cast<std::uint32_t>(impl_->bodies.size() - 2);
}

void Cloth::move_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions) {
    Body& b = impl_->obstacle(obstacle);
    if (positions.size() != b.now.size())
        throw Error(ErrorKind::bad_shape, "one position per vertex", {.index = positions.size()});
    b.next.assign(positions.begin(), positions.end());
}

void Cloth::push(std::uint32_t vertex, const Vec3d& velocity_change) {
    if (vertex >= impl_->velocity.size()) throw Error(ErrorKind::bad_value, "no such vertex", {.index = vertex});
    if (impl_->inverse_mass[vertex] > 0) impl_->velocity[vertex] = impl_->velocity[vertex] + velocity_change;
}

void Cloth::restore(std::span<const Vec3d> positions, std::span<const Vec3d> velocities) {
    Body& cloth = impl_->bodies[0];
    if (positions.size() != cloth.now.size() || velocities.size() != cloth.now.size())
        throw Error(ErrorKind::bad_shape, "one position and velocity per vertex", {.index = positions.size()});
    cloth.now.assign(positions.begin(), positions.end());
    cloth.next = cloth.now;
    impl_->velocity.assign(velocities.begin(), velocities.end());
}

void Cloth::restore_obstacle(std::uint32_t obstacle, std::span<const Vec3d> positions) {
    move_obstacle(obstacle, positions);
    Body& b = impl_->obstacle(obstacle);
    b.now = b.next;
}

void Cloth::step(std::span<const double> load) {
    Impl& m = *impl_;
    Body& cloth = m.bodies[0];
    if (!load.empty() && load.size() != cloth.now.size())
        throw Error(ErrorKind::bad_shape, "one load per vertex", {.index = load.size()});
    m.ease = m.inverse_mass;
    for (std::size_t v = 0; v < load.size(); ++v) m.ease[v] /= 1 + load[v];
    const double h = m.options.time_step;
    const double keep = std::exp(-m.options.damping * h);
    for (std::size_t v = 0; v < cloth.now.size(); ++v) {
        if (m.inverse_mass[v] == 0) {
            cloth.next[v] = cloth.now[v];
            continue;
        }
        m.velocity[v] = keep * (m.velocity[v] + h * m.options.gravity);
        cloth.next[v] = cloth.now[v] + h * m.velocity[v];
    }
    m.solve(m.find_near());
    m.make_free();
    for (std::size_t v = 0; v < cloth.now.size(); ++v) m.velocity[v] = (1 / h) * (cloth.next[v] - cloth.now[v]);
    for (Body& b : m.bodies) b.now = b.next;
}

std::span<const Triangle> Cloth::triangles() const {
    return impl_->bodies[0].triangles;
}
std::span<const Vec3d> Cloth::positions() const {
    return impl_->bodies[0].now;
}
std::span<const Vec3d> Cloth::velocities() const {
    return impl_->velocity;
}
std::uint32_t Cloth::obstacles() const {
    return static_cast<std::uint32_t>(impl_->bodies.size() - 1);
}
std::span<const Vec3d> Cloth::obstacle(std::uint32_t number) const {
    return impl_->obstacle(number).now;
}
std::span<const ObstaclePush> Cloth::pushes() const {
    return impl_->pushes;
}
const ClothStats& Cloth::stats() const {
    return impl_->stats;
}

}  // namespace quadrat
