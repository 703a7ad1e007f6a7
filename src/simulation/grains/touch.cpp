#include "simulation/grains/touch.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "simulation/grains/shapes/touch_hulls.hpp"

namespace quadrat::simulation::grains {
namespace {

constexpr std::size_t grain = 2048;
constexpr float near_share = 0.01f;  ///< of the smaller radius: a gap in which contacts are kept alive

// One step's look at the pairs of a chunk.
class Toucher {
  public:
    Toucher(const World& world, Pairs& pairs, const Bodies& bodies, double dt, float scale, Rows& rows)
        : world_(world),
          pairs_(pairs),
          bodies_(bodies),
          rows_(rows),
          scale_(scale),
          dt_(dt),
          wake_travel_(static_cast<float>(world.sleep_speed(dt) * dt + gravity_travel(world, dt))) {}

    void look(Pairs::Chunk& chunk, std::vector<std::uint32_t>& wakes) {
        chunk.rows = 0;
        for (std::uint32_t k = chunk.begin; k < chunk.end; ++k) {
            const Pairs::Near pair = pairs_.list()[k];
            const std::uint32_t memory = chunk.first + (k - chunk.begin), row = chunk.first + chunk.rows;
            bool used = false;
            if (chunk.kind == PairKind::balls)
                used = balls(pair, pairs_.ball_memory[memory], row, wakes);
            else if (chunk.kind == PairKind::ball_wall)
                used = wall(pair, pairs_.wall_memory[memory], row, wakes);
            else
                used = hulls(pair, pairs_.hull_memory[memory], row, wakes);
            if (!used) continue;
            rows_.source[static_cast<std::size_t>(chunk.kind)][row] = k;
            ++chunk.rows;
        }
        if (chunk.kind == PairKind::balls) fill_up(chunk);
    }
    static double gravity_travel(const World& world, double dt) {
        return length(vector(world.options.gravity)) * dt * dt;
    }

  private:
    // Lanes behind the last row look at its grains, and what they compute is not stored.
    void fill_up(const Pairs::Chunk& chunk) {
        for (std::uint32_t r = chunk.first + chunk.rows; r % 8 != 0; ++r) {
            rows_.balls[r / 8].set(r % 8, rows_.balls[r / 8].row(0));
            if (world_.rolls) rows_.ball_rolls[r / 8].set(r % 8, {});
        }
    }
    [[nodiscard]] static V3f along(const V3f& v, const V3f& n) { return v - dot(v, n) * n; }

    bool balls(const Pairs::Near& pair, Memory& memory, std::uint32_t row, std::vector<std::uint32_t>& wakes) {
        const std::uint32_t a = pair.a, b = pair.b;
        const float ra = bodies_.radius[a], rb = bodies_.radius[b];
        const V3d way = bodies_.position[b] - bodies_.position[a];
        const double reach = double{ra} + double{rb};
        const double most =
            reach + double{bodies_.travel[a]} + double{bodies_.travel[b]} + double{near_share * std::min(ra, rb)};
        const double far_sq = dot(way, way);
        if (bodies_.asleep[a] && bodies_.asleep[b]) return false;
        if (far_sq > most * most) {
            memory = {};
            return false;
        }
        const double far = std::sqrt(far_sq);
        const V3f n = far > 0 ? single(1 / far * way) : up();
        const auto gap = static_cast<float>(far - reach);
        if (bodies_.asleep[a] != bodies_.asleep[b])
            hit(bodies_.asleep[a] ? a : b, bodies_.asleep[a] ? b : a, gap, wakes);
        const Motion &va = bodies_.velocity[a], &vb = bodies_.velocity[b];
        const Mixed mix = mixed(world_.surfaces[bodies_.surface[a]], world_.surfaces[bodies_.surface[b]]);
        const float light = va.mass + vb.mass;
        rows_.balls[row / 8].set(row % 8,
                                 {.a = a,
                                  .b = b,
                                  .n = n,
                                  .gap = gap,
                                  .ra = ra,
                                  .rb = rb,
                                  .mass_n = light > 0 ? 1 / light : 0,
                                  .mass_t = light > 0 ? 1 / (light + ra * ra * va.turn + rb * rb * vb.turn) : 0,
                                  .friction = mix.friction,
                                  .push = scale_ * memory.push,
                                  .drag = scale_ * along(memory.drag, n),
                                  .bounce = mix.bounce});
        if (world_.rolls) {
            const float turn = va.turn + vb.turn;
            rows_.ball_rolls[row / 8].set(
                row % 8, {mix.rolling * ra * rb / (ra + rb), turn > 0 ? 1 / turn : 0, scale_ * memory.torque});
        }
        return true;
    }

    bool wall(const Pairs::Near& pair, Memory& memory, std::uint32_t row, std::vector<std::uint32_t>& wakes) {
        const std::uint32_t a = pair.a;
        const auto number = static_cast<std::uint32_t>(pair.b - bodies_.position.size());
        const float ra = bodies_.radius[a];
        const V3d x = bodies_.position[a];
        V3d n, v = {0, 0, 0};
        double gap = 0;
        const GrainSurface* surface = nullptr;
        if (number < world_.planes.size()) {
            const GrainPlane& plane = world_.planes[number];
            n = -vector(plane.normal);
            gap = -dot(n, x) - plane.offset - double{ra};
            surface = &plane.surface;
        } else {
            const WallTriangle& triangle = world_.triangles[number - world_.planes.size()];
            const GrainWall& body = world_.walls[triangle.wall];
            const Turn turned = turn(body.orientation);
            const V3d at = turned.back(x - vector(body.position));
            Nearest found;
            if (!nearest(triangle, at, found)) {
                memory = {};
                return false;
            }
            const V3d way = found.point - at;
            const double far = length(way);
            n = turned(far > 0 ? 1 / far * way : -found.normal);
            gap = far - double{ra};
            v = vector(body.velocity) + cross(vector(body.angular_velocity), turned(found.point));
            surface = &body.surface;
        }
        const double wall_travel = length(v) * dt_;
        if (bodies_.asleep[a]) {
            if (gap <= double{near_share * ra} && wall_travel > double{wake_travel_}) wakes.push_back(pairs_.ids()[a]);
            return false;
        }
        if (gap > double{bodies_.travel[a]} + double{near_share * ra} + wall_travel) {
            memory = {};
            return false;
        }
        const Motion& va = bodies_.velocity[a];
        const V3f nf = single(n);
        const Mixed mix = mixed(world_.surfaces[bodies_.surface[a]], *surface);
        rows_.walls[row] = {.a = a,
                            .n = nf,
                            .gap = static_cast<float>(gap),
                            .ra = ra,
                            .mass_n = 1 / va.mass,
                            .mass_t = 1 / (va.mass + ra * ra * va.turn),
                            .friction = mix.friction,
                            .push = scale_ * memory.push,
                            .drag = scale_ * along(memory.drag, nf),
                            .wall = single(v),
                            .now = 0};
        if (world_.bounces) rows_.wall_bounce[row] = mix.bounce;
        if (world_.rolls) rows_.wall_rolls[row] = {mix.rolling * ra, 1 / va.turn, scale_ * memory.torque};
        return true;
    }

    bool hulls(const Pairs::Near& pair, HullMemory& memory, std::uint32_t row, std::vector<std::uint32_t>& wakes) {
        const std::uint32_t a = pair.a, b = pair.b;
        const bool grains = b < bodies_.position.size();
        if (grains && bodies_.asleep[a] && bodies_.asleep[b]) return false;
        double speed = 0;
        if (!touch_hulls(world_, pair, pairs_.ids(), bodies_, dt_, scale_, memory, rows_.hulls[row], speed)) {
            if (!bodies_.asleep[a]) memory.count = 0;
            return false;
        }
        float gap = rows_.hulls[row].points[0].gap;
        for (std::uint32_t k = 1; k < rows_.hulls[row].count; ++k) gap = std::min(gap, rows_.hulls[row].points[k].gap);
        if (grains) {
            if (bodies_.asleep[a] != bodies_.asleep[b])
                hit(bodies_.asleep[a] ? a : b, bodies_.asleep[a] ? b : a, gap, wakes);
            return true;
        }
        if (!bodies_.asleep[a]) return true;
        if (gap <= near_share * bodies_.radius[a] && speed * dt_ > double{wake_travel_})
            wakes.push_back(pairs_.ids()[a]);
        return false;
    }

    void hit(std::uint32_t sleeper, std::uint32_t other, float gap, std::vector<std::uint32_t>& wakes) const {
        if (gap <= near_share * bodies_.radius[sleeper] && bodies_.travel[other] > wake_travel_)
            wakes.push_back(pairs_.ids()[sleeper]);
    }
    [[nodiscard]] V3f up() const { return world_.options.dimension == 3 ? V3f{0, 0, 1} : V3f{0, 1, 0}; }

    const World& world_;
    Pairs& pairs_;
    const Bodies& bodies_;
    Rows& rows_;
    float scale_;
    double dt_;
    float wake_travel_;
};

}  // namespace

bool nearest(const WallTriangle& t, const V3d& p, Nearest& out) {
    // Ericson, Real-Time Collision Detection, 5.1.5, by the signs of barycentric coordinates.
    const V3d &a = t.corners[0], &b = t.corners[1], &c = t.corners[2];
    const V3d ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
                 d6 = dot(ac, cp);
    out.normal = t.normal;
    // A corner is nearest if the point lies behind it along every edge that leaves it.
    const auto corner = [&](int k) {
        out.point = t.corners[k];
        if (!t.owns_corner[k]) return false;
        const V3d way = p - t.corners[k];
        const double slack = 1e-9 * length(way);
        return std::all_of(t.from_corner[k].begin(), t.from_corner[k].end(),
                           [&](const V3d& edge) { return dot(way, edge) <= slack; });
    };
    const auto edge = [&](int k, double share) {
        const V3d &from = t.corners[k], &to = t.corners[(k + 1) % 3];
        out.point = from + share * (to - from);
        if (!t.owns_edge[k]) return false;
        const V3d way = p - out.point;
        const double slack = 1e-9 * length(way);
        return std::all_of(t.across_edge[k].begin(), t.across_edge[k].end(),
                           [&](const V3d& into) { return dot(way, into) <= slack; });
    };
    if (d1 <= 0 && d2 <= 0) return corner(0);
    if (d3 >= 0 && d4 <= d3) return corner(1);
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return edge(0, d1 / (d1 - d3));
    if (d6 >= 0 && d5 <= d6) return corner(2);
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return edge(2, d6 / (d6 - d2));
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return edge(1, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    const double scale = 1 / (va + vb + vc);
    out.point = a + (vb * scale) * ab + (vc * scale) * ac;
    return true;
}

void gather(const World& world, const Pairs& pairs, double dt, Bodies& bodies) {
    const std::size_t n = world.size();
    bodies.position.resize_discard(n);
    bodies.radius.resize_discard(n);
    bodies.travel.resize_discard(n);
    bodies.asleep.resize_discard(n);
    bodies.surface.resize_discard(n);
    bodies.velocity.resize_discard(n);
    bodies.moved.resize_discard(n);
    bodies.start.resize_discard(n);
    if (!world.all_spheres) bodies.inverse_inertia.resize_discard(n);
    const double fall = Toucher::gravity_travel(world, dt);
    base::parallel_for(world.options.executor, n, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            const std::uint32_t id = pairs.ids()[p];
            const Form& form = world.forms[world.form[id]];
            const bool asleep = world.asleep[id] != 0;
            bodies.position[p] = vector(world.position[id]);
            bodies.radius[p] = static_cast<float>(form.reach);
            bodies.asleep[p] = world.asleep[id];
            bodies.surface[p] = world.surface[id];
            const V3f v = single(vector(world.velocity[id])), w = single(vector(world.spin[id]));
            const double m = world.mass[id];
            bodies.velocity[p] = {v, asleep ? 0 : static_cast<float>(1 / m), w,
                                  asleep ? 0 : static_cast<float>(form.volume / (m * form.inertia.z))};
            bodies.moved[p] = {};
            bodies.start[p] = {};
            double speed = double{length(v)};
            if (form.shape != GrainShape::sphere) speed += double{length(w)} * form.reach;
            bodies.travel[p] = asleep ? 0 : static_cast<float>(speed * dt + fall);
            if (!world.all_spheres) {
                const V3d i = world.inertia(id);
                bodies.inverse_inertia[p] =
                    asleep ? Symmetric{} : in_world(world.axes(id), {1 / i.x, 1 / i.y, 1 / i.z});
            }
        }
    });
}

void touch(const World& world, Pairs& pairs, const Bodies& bodies, double dt, float scale, Rows& rows,
           std::vector<std::uint32_t>& wakes) {
    rows.balls.resize_discard(pairs.room(PairKind::balls) / 8);
    rows.walls.resize_discard(pairs.room(PairKind::ball_wall));
    if (world.bounces) rows.wall_bounce.resize_discard(rows.walls.size());
    if (world.rolls) {
        rows.ball_rolls.resize_discard(rows.balls.size());
        rows.wall_rolls.resize_discard(rows.walls.size());
    }
    rows.hulls.resize_discard(pairs.room(PairKind::hulls));
    for (const PairKind kind : {PairKind::balls, PairKind::ball_wall, PairKind::hulls})
        rows.source[static_cast<std::size_t>(kind)].resize_discard(pairs.room(kind));
    std::vector<std::vector<std::uint32_t>> hit(pairs.chunks().size());
    Toucher toucher(world, pairs, bodies, dt, scale, rows);
    base::run_tasks(world.options.executor, hit.size(),
                    [&](std::size_t c) { toucher.look(pairs.chunks()[c], hit[c]); });
    wakes.clear();
    for (const auto& one : hit) wakes.insert(wakes.end(), one.begin(), one.end());
}

void remember(Pairs& pairs, const Rows& rows, const World& world) {
    base::run_tasks(world.options.executor, pairs.chunks().size(), [&](std::size_t c) {
        const Pairs::Chunk& chunk = pairs.chunks()[c];
        for (std::uint32_t r = chunk.first; r < chunk.first + chunk.rows; ++r) {
            if (chunk.kind == PairKind::balls) {
                Memory& m = pairs.ball_memory[chunk.first + (rows.source[0][r] - chunk.begin)];
                const BallRow row = rows.ball(r);
                m = {row.push, row.drag, world.rolls ? rows.ball_rolls[r / 8].row(r % 8).torque : V3f{0, 0, 0}};
            } else if (chunk.kind == PairKind::ball_wall) {
                Memory& m = pairs.wall_memory[chunk.first + (rows.source[1][r] - chunk.begin)];
                m = {rows.walls[r].push, rows.walls[r].drag, world.rolls ? rows.wall_rolls[r].torque : V3f{0, 0, 0}};
            } else {
                const HullRow& row = rows.hulls[r];
                pairs.hull_memory[chunk.first + (rows.source[2][r] - chunk.begin)] =
                    memory_of(row, world.orientation[pairs.ids()[row.a]]);
            }
        }
    });
}

}  // namespace quadrat::simulation::grains
