// See cloths.hpp. The bodies of the scene and the walls of the domain become obstacles of each sheet.
#include <quadrat/ccd/impact.hpp>
#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/cloth/cloths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace quadrat::simulation {
namespace {

constexpr std::uint32_t none = 0xffffffffu;
constexpr std::size_t grain = 2048;

std::vector<Vec3d> placed(const std::vector<Vec3d>& shape, const BodyPose& pose) {
    std::vector<Vec3d> out;
    for (const Vec3d& v : shape) out.push_back(plain(vector(pose.position) + turn(pose) * vector(v)));
    return out;
}

// Sheets pass through each other, but a scene in which they start so is a mistake. Two as one surface: its own check
// decides.
bool in_contact(const SceneCloth& a, const SceneCloth& b) {
    for (int k = 0; k < 3; ++k) {
        const auto less = [k](const Vec3d& l, const Vec3d& r) { return l[k] < r[k]; };
        const auto ends_a = std::minmax_element(a.positions.begin(), a.positions.end(), less);
        const auto ends_b = std::minmax_element(b.positions.begin(), b.positions.end(), less);
        if ((*ends_a.second)[k] < (*ends_b.first)[k] || (*ends_b.second)[k] < (*ends_a.first)[k]) return false;
    }
    base::Surface both = {a.triangles, a.positions};
    const auto shift = static_cast<std::uint32_t>(a.positions.size());
    for (const Triangle& t : b.triangles) both.triangles.push_back({t.a + shift, t.b + shift, t.c + shift});
    both.vertices.insert(both.vertices.end(), b.positions.begin(), b.positions.end());
    try {
        (void)Cloth(both.triangles, both.vertices);
        return false;
    } catch (const Error&) {
        return true;
    }
}

}  // namespace

void Cloths::set_up(const Scene& scene, const Solids& solids, double spacing, double longest_step, Executor* executor) {
    QUADRAT_ASSERT(sheets_.empty() && spacing > 0 && longest_step > 0);
    executor_ = executor;
    gravity_ = vector(scene.gravity);
    for (std::size_t i = 0; i < scene.cloths.size(); ++i) {
        const SceneCloth& c = scene.cloths[i];
        const std::string path = "/cloths/" + std::to_string(i);
        ClothOptions options = c.options;
        options.gravity = scene.gravity;
        options.time_step = std::min(options.time_step, longest_step);
        options.executor = executor;
        try {
            Sheet s = {.cloth = Cloth(c.triangles, c.positions, options),
                       .step = options.time_step,
                       .restitution = c.response.restitution,
                       .friction = c.response.friction,
                       .skin = 0.05 * spacing,
                       .density = c.density,
                       .mass = std::vector<double>(c.positions.size(), 0.0),
                       .obstacles = {},
                       .obstacle_shapes = {}};
            for (const std::uint32_t v : c.pins) s.cloth.pin(v);
            for (const Triangle& t : c.triangles) {
                const Vector a = vector(c.positions[t.a]);
                const double area = 0.5 * (vector(c.positions[t.b]) - a).cross(vector(c.positions[t.c]) - a).norm();
                for (const std::uint32_t v : {t.a, t.b, t.c}) s.mass[v] += c.density * area / 3;
            }
            for (const std::uint32_t v : c.pins) s.mass[v] = 0;
            const Box3d& d = scene.domain.box;
            const Vector centre = 0.5 * (vector(d.lo) + vector(d.hi));
            const double wide = 2 * (vector(d.hi) - vector(d.lo)).norm();
            for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
                const double reach = wide + 2 * (vector(scene.bodies[b].position) - centre).norm();
                const base::Surface surface =
                    solids.bodies()[b].shape->surface({.rounds = scene.bodies.size() > 30 ? 2 : 3, .reach = reach});
                s.obstacle_shapes.push_back(surface.vertices);
                s.obstacles.push_back(
                    surface.triangles.empty()
                        ? none
                        : s.cloth.add_obstacle(surface.triangles, placed(surface.vertices, solids.poses[b])));
            }
            for (const WallPlane& p : scene.domain.planes) {
                const Vector n = vector(p.normal).normalized();
                const base::Surface wall = square(n, centre + (p.offset - n.dot(centre)) * n, wide);
                s.cloth.add_obstacle(wall.triangles, wall.vertices);
            }
            // The floor and the other walls, as quads a little wider than the domain.
            for (std::size_t k = 0; k < 3; ++k)
                for (std::size_t side = 0; side < 2; ++side) {
                    if (scene.domain.periodic[k] || scene.domain.open[2 * k + side]) continue;
                    const int a = static_cast<int>(k), u = (a + 1) % 3, w = (a + 2) % 3;
                    std::vector<Vec3d> corner;
                    for (int q = 0; q < 4; ++q) {
                        Vec3d p;
                        p[a] = side == 0 ? d.lo[a] : d.hi[a];
                        p[u] = q & 1 ? 2 * d.hi[u] - d.lo[u] : 2 * d.lo[u] - d.hi[u];
                        p[w] = q & 2 ? 2 * d.hi[w] - d.lo[w] : 2 * d.lo[w] - d.hi[w];
                        corner.push_back(p);
                    }
                    s.cloth.add_obstacle(std::vector<Triangle>{{0, 1, 2}, {1, 3, 2}}, corner);
                }
            sheets_.push_back(std::move(s));
        } catch (const Error& e) {
            throw Error(e.kind(), e.message(), {.field = path + "/" + e.where().field});
        }
        for (std::size_t other = 0; other < i; ++other)
            if (in_contact(scene.cloths[other], c))
                throw Error(ErrorKind::bad_value, "starts in contact with cloth " + std::to_string(other),
                            {.field = path});
    }
    build();
}

double Cloths::fastest() const {
    double most_sq = 0;
    for (const Sheet& s : sheets_)
        for (const Vec3d& v : s.cloth.velocities()) most_sq = std::max(most_sq, vector(v).squaredNorm());
    return std::sqrt(most_sq);
}

std::vector<std::vector<Vec3d>> Cloths::Sheet::state() const {
    std::vector<std::vector<Vec3d>> out;
    out.emplace_back(cloth.positions().begin(), cloth.positions().end());
    out.emplace_back(cloth.velocities().begin(), cloth.velocities().end());
    for (std::uint32_t o = 0; o < cloth.obstacles(); ++o)
        out.emplace_back(cloth.obstacle(o).begin(), cloth.obstacle(o).end());
    return out;
}

Vector Cloths::Sheet::velocity_at(const ClothTouch& c) const {
    const Triangle& t = cloth.triangles()[c.triangle];
    const std::span<const Vec3d> v = cloth.velocities();
    return c.weight[0] * vector(v[t.a]) + c.weight[1] * vector(v[t.b]) + c.weight[2] * vector(v[t.c]);
}

void Cloths::Sheet::restore(const std::vector<std::vector<Vec3d>>& state) {
    if (state.size() != 2 + cloth.obstacles())
        throw Error(ErrorKind::bad_format, "the checkpoint does not fit its scene", {.field = "/cloths"});
    cloth.restore(state[0], state[1]);
    for (std::uint32_t o = 0; o < cloth.obstacles(); ++o) cloth.restore_obstacle(o, state[o + 2]);
}

void Cloths::build() {
    faces_.clear();
    boxes_.clear();
    if (sheets_.empty()) return;
    for (std::uint32_t s = 0; s < sheets_.size(); ++s) {
        const Cloth& c = sheets_[s].cloth;
        for (std::uint32_t t = 0; t < c.triangles().size(); ++t) {
            faces_.push_back({s, t});
            const FourPoints p = corners(faces_.back(), {});
            const Vector pad = Vector::Constant(2 * sheets_[s].skin);
            const Vector lo = vector(p[1]).cwiseMin(vector(p[2])).cwiseMin(vector(p[3])) - pad;
            const Vector hi = vector(p[1]).cwiseMax(vector(p[2])).cwiseMax(vector(p[3])) + pad;
            boxes_.push_back({plain(lo), plain(hi)});
        }
    }
    bounds_ = boxes_[0];
    for (const Box3d& b : boxes_)
        for (int k = 0; k < 3; ++k) {
            bounds_.lo[k] = std::min(bounds_.lo[k], b.lo[k]);
            bounds_.hi[k] = std::max(bounds_.hi[k], b.hi[k]);
        }
    hash_.build(boxes_);
}

FourPoints Cloths::corners(const Face& f, const Vec3d& x) const {
    QUADRAT_ASSERT(f.sheet < sheets_.size());
    const Cloth& c = sheets_[f.sheet].cloth;
    const Triangle& t = c.triangles()[f.triangle];
    return {x, c.positions()[t.a], c.positions()[t.b], c.positions()[t.c]};
}

void Cloths::stop(std::uint32_t i, const Vec3f& from, Vec3f& x, std::vector<ClothTouch>& touches,
                  std::vector<std::uint32_t>& near) const {
    for (int k = 0; k < 3; ++k)
        if (double{std::max(from[k], x[k])} < bounds_.lo[k] || double{std::min(from[k], x[k])} > bounds_.hi[k]) return;
    const Vec3d a = plain(vector(from));
    const auto first_hit = [&](const Vec3f& to) {
        const Vec3d b = plain(vector(to));
        hash_.find(Segment<3, double>{a, b}, near);
        std::sort(near.begin(), near.end());
        std::pair<std::uint32_t, Impact> first = {none, {.time = 2}};
        for (const std::uint32_t f : near)
            if (const auto hit = find_impact(ImpactKind::vertex_face, corners(faces_[f], a), corners(faces_[f], b)))
                if (hit->time < first.second.time) first = {f, *hit};
        return first;
    };
    const auto [face, hit] = first_hit(x);
    if (face == none) {
        // What rests on a sheet is within the skin; it touches without passing.
        Closest closest;
        std::uint32_t nearest = none;
        for (const std::uint32_t f : near) {
            const auto c = closest_points(ImpactKind::vertex_face, corners(faces_[f], plain(vector(x))),
                                          sheets_[faces_[f].sheet].skin);
            if (c && c->distance > 0 && (nearest == none || c->distance < closest.distance)) {
                closest = *c;
                nearest = f;
            }
        }
        if (nearest == none) return;
        const Vector n = (vector(closest.first) - vector(closest.second)) / closest.distance;
        const auto& w = closest.barycentric;
        touches.push_back({i, faces_[nearest].sheet, faces_[nearest].triangle, {w[1], w[2], w[3]}, n});
        return;
    }
    const Sheet& s = sheets_[faces_[face].sheet];
    const Vector n = vector(hit.normal);
    const auto& w = hit.barycentric;
    touches.push_back({i, faces_[face].sheet, faces_[face].triangle, {w[1], w[2], w[3]}, n});
    // Slides along the sheet in front of it; what would still pass stays where it was.
    const Vector start = vector(from), end = vector(x);
    const Vector at = start + hit.time * (end - start);
    const Vector rest = end - at;
    const Vec3f slid = plain_float(at + s.skin * n + (rest - rest.dot(n) * n));
    x = first_hit(slid).first == none ? slid : from;
}

void Cloths::respond(const std::vector<ClothTouch>& touches, std::span<Vec3f> v, std::span<const float> mass,
                     double dt) {
    QUADRAT_ASSERT(v.size() == mass.size() && dt >= 0);
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round)
        for (const ClothTouch& c : touches) {
            Sheet& s = sheets_[c.sheet];
            const Triangle& t = s.cloth.triangles()[c.triangle];
            const std::uint32_t corner[3] = {t.a, t.b, t.c};
            const double m = double{mass[c.particle]};
            double ease = 1 / m;
            for (std::size_t k = 0; k < 3; ++k)
                if (s.mass[corner[k]] > 0) ease += c.weight[k] * c.weight[k] / s.mass[corner[k]];
            const Vector relative = vector(v[c.particle]) - s.velocity_at(c);
            const double into = relative.dot(c.normal);
            if (into >= 0) continue;
            Vector impulse = (round == 0 ? 1 + s.restitution : 1) * -into / ease * c.normal;
            if (round == 0) impulse += (std::exp(-s.friction * dt) - 1) / ease * (relative - into * c.normal);
            v[c.particle] = plain_float(vector(v[c.particle]) + impulse / m);
            for (std::size_t k = 0; k < 3; ++k)
                if (s.mass[corner[k]] > 0) s.cloth.push(corner[k], plain(-c.weight[k] / s.mass[corner[k]] * impulse));
        }
}

// What the last step of a sheet did to bodies that can move.
void Cloths::bear(std::uint32_t number, Solids& solids) const {
    const Sheet& s = sheets_[number];
    QUADRAT_ASSERT(s.obstacles.size() == solids.bodies().size());
    for (std::uint32_t b = 0; b < s.obstacles.size(); ++b) {
        if (s.obstacles[b] == none || solids.bodies()[b].inverse_mass == 0) continue;
        const ObstaclePush& push = s.cloth.pushes()[s.obstacles[b]];
        const Vector impulse = s.density * vector(push.impulse), at = vector(push.point);
        const double size = impulse.norm();
        if (!(size > 0)) continue;
        const Vector along = impulse / size;
        const double speed = solids.velocity_at(b, at).dot(along);
        const double most = (std::max(0.0, -speed) + s.step * gravity_.norm()) / solids.ease(b, at, along);
        solids.push(b, at, std::min(size, most) * along);
    }
}

// One step of a sheet with what lies on it.
void Cloths::move_sheet(std::uint32_t number, const Solids& solids, const std::vector<ClothTouch>& touches,
                        std::span<Vec3f> v, std::span<const float> mass) {
    Sheet& s = sheets_[number];
    for (std::size_t b = 0; b < s.obstacles.size(); ++b)
        if (s.obstacles[b] != none && solids.bodies()[b].motion != BodyMotion::fixed)
            s.cloth.move_obstacle(s.obstacles[b], placed(s.obstacle_shapes[b], solids.poses[b]));
    // What leaves within the step is no load.
    std::vector<ClothTouch> carried;
    std::vector<double> load(s.mass.size(), 0.0);
    for (const ClothTouch& c : touches) {
        if (c.sheet != number) continue;
        if ((vector(v[c.particle]) - s.velocity_at(c)).dot(c.normal) * s.step > s.skin) continue;
        carried.push_back(c);
        const Triangle& t = s.cloth.triangles()[c.triangle];
        const std::uint32_t corner[3] = {t.a, t.b, t.c};
        for (std::size_t k = 0; k < 3; ++k)
            if (s.mass[corner[k]] > 0) load[corner[k]] += c.weight[k] * double{mass[c.particle]} / s.mass[corner[k]];
    }
    std::vector<Vec3d> change(s.cloth.velocities().begin(), s.cloth.velocities().end());
    s.cloth.step(load);
    s.time += s.step;
    for (std::size_t k = 0; k < change.size(); ++k)
        change[k] = plain(vector(s.cloth.velocities()[k]) - vector(change[k]) - s.step * gravity_);
    // What tension and obstacles did to the sheet they did to its load, but they throw nothing ahead of the sheet.
    for (const ClothTouch& c : carried) {
        const Triangle& t = s.cloth.triangles()[c.triangle];
        const Vector given =
            c.weight[0] * vector(change[t.a]) + c.weight[1] * vector(change[t.b]) + c.weight[2] * vector(change[t.c]);
        const double behind = (s.velocity_at(c) - vector(v[c.particle])).dot(c.normal);
        const double away = std::min(given.dot(c.normal), behind);
        if (away > 0) v[c.particle] = plain_float(vector(v[c.particle]) + away * c.normal);
    }
}

// Puts particles that the sheet passed on its way from `before` back on their side.
std::vector<ClothTouch> Cloths::sweep(std::uint32_t number, std::span<const Vec3d> before, std::span<Vec3f> x) const {
    const Sheet& s = sheets_[number];
    const std::span<const Vec3d> p = s.cloth.positions();
    QUADRAT_ASSERT(before.size() == p.size() && !before.empty());
    std::vector<Box3d> start, end;
    Box3d all = {before[0], before[0]};
    const auto box = [&](std::span<const Vec3d> q, const Triangle& t) {
        const Vector pad = Vector::Constant(2 * s.skin);
        const Box3d b = {plain(vector(q[t.a]).cwiseMin(vector(q[t.b])).cwiseMin(vector(q[t.c])) - pad),
                         plain(vector(q[t.a]).cwiseMax(vector(q[t.b])).cwiseMax(vector(q[t.c])) + pad)};
        for (int k = 0; k < 3; ++k) {
            all.lo[k] = std::min(all.lo[k], b.lo[k]);
            all.hi[k] = std::max(all.hi[k], b.hi[k]);
        }
        return b;
    };
    for (const Triangle& t : s.cloth.triangles()) {
        start.push_back(box(before, t));
        end.push_back(box(p, t));
    }
    HierarchicalHash<3, double> swept;
    swept.build(start, end);
    const std::size_t chunks = base::chunk_count(x.size(), grain);
    std::vector<std::vector<ClothTouch>> found(chunks);
    base::run_tasks(executor_, chunks, [&](std::size_t chunk) {
        std::vector<std::uint32_t> near;
        for (std::size_t i = chunk * grain; i < std::min(x.size(), (chunk + 1) * grain); ++i) {
            bool outside = false;
            for (int k = 0; k < 3; ++k) outside = outside || double{x[i][k]} < all.lo[k] || double{x[i][k]} > all.hi[k];
            if (outside) continue;
            const Vec3d at = plain(vector(x[i]));
            swept.find(at, near);
            std::sort(near.begin(), near.end());
            const auto first = [&](const Vec3f& to) {
                std::pair<std::uint32_t, Impact> best = {none, {.time = 2}};
                for (const std::uint32_t f : near) {
                    const Triangle& t = s.cloth.triangles()[f];
                    const auto hit = find_impact(ImpactKind::vertex_face, {at, before[t.a], before[t.b], before[t.c]},
                                                 {plain(vector(to)), p[t.a], p[t.b], p[t.c]});
                    if (hit && hit->time < best.second.time) best = {f, *hit};
                }
                return best;
            };
            const auto [face, hit] = first(x[i]);
            if (face == none) continue;
            const Triangle& t = s.cloth.triangles()[face];
            const auto& w = hit.barycentric;
            const Vector on = w[1] * vector(p[t.a]) + w[2] * vector(p[t.b]) + w[3] * vector(p[t.c]);
            Vector n = (vector(p[t.b]) - vector(p[t.a])).cross(vector(p[t.c]) - vector(p[t.a])).stableNormalized();
            if (n.dot(vector(hit.normal)) < 0) n = -n;
            Vec3f to = plain_float(on + s.skin * n);
            for (double more = 2; more < 64 && first(to).first != none; more *= 2)
                to = plain_float(on + more * s.skin * n);
            x[i] = to;
            found[chunk].push_back({static_cast<std::uint32_t>(i), number, face, {w[1], w[2], w[3]}, n});
        }
    });
    std::vector<ClothTouch> touches;
    for (const std::vector<ClothTouch>& f : found) touches.insert(touches.end(), f.begin(), f.end());
    return touches;
}

std::uint64_t Cloths::advance(double time, Solids& solids, const std::vector<ClothTouch>& touches, std::span<Vec3f> x,
                              std::span<Vec3f> v, std::span<const float> mass) {
    QUADRAT_ASSERT(x.size() == v.size() && v.size() == mass.size());
    std::uint64_t met = 0;
    bool moved = false;
    for (std::uint32_t number = 0; number < sheets_.size(); ++number) {
        Sheet& s = sheets_[number];
        while (s.time + s.step <= time * (1 + 1e-12)) {
            const std::vector<Vec3d> before(s.cloth.positions().begin(), s.cloth.positions().end());
            move_sheet(number, solids, touches, v, mass);
            bear(number, solids);
            moved = true;
            if (x.empty()) continue;
            const std::vector<ClothTouch> passed = sweep(number, before, x);
            respond(passed, v, mass, 0);
            met += passed.size();
        }
    }
    if (moved) build();
    return met;
}

}  // namespace quadrat::simulation
