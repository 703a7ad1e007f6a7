#include "simulation/grains/step.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "base/parallel.hpp"
#include "simulation/grains/solver/solve.hpp"
#include "simulation/grains/solver/springs.hpp"
#include "simulation/grains/touch.hpp"

namespace quadrat::simulation::grains {
namespace {

constexpr std::size_t grain = 2048;
constexpr int most_collisions = 32;  ///< passes of one sub-step: as many grains of a chain pass a blow on

class Lap {
  public:
    /// Adds the seconds since the last call.
    void to(double& sum) {
        const auto now = std::chrono::steady_clock::now();
        sum += std::chrono::duration<double>(now - std::exchange(last_, now)).count();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

// Stages one after the other, the tasks of each on the executor's threads.
template <class Work>
void Stepper::in_stages(const World& world, Work&& work) {
    for (std::size_t stage = 0; stage < pairs.stages(); ++stage)
        base::run_tasks(world.options.executor, pairs.tasks(stage), [&](std::size_t k) {
            for (const Pairs::Chunk& chunk : pairs.task(stage, k))
                if (chunk.rows > 0) work(chunk);
        });
}

void Stepper::step(World& world, double dt) {
    base::check_stop(world.options.watch);
    Lap lap;
    if (!pairs.cover(world, dt)) pairs.search(world, dt);
    lap.to(seconds.search);
    const bool soft = world.options.contacts != GrainContacts::hard;
    const std::uint32_t parts = soft ? spring_parts(world, dt) : world.options.substeps;
    look(world, dt, dt / parts);
    lap.to(seconds.contacts);
    soft ? spring(world, dt, parts) : solve(world, dt, parts);
    remember(pairs, rows_, world);
    lap.to(seconds.solve);
    finish(world, dt);
    fall_asleep(world, dt);
    lap.to(seconds.move);
}

// Rows of this step. Grains that are hit in their sleep wake with their islands, and then all is looked at again.
void Stepper::look(World& world, double dt, double sub_step) {
    const float scale = last_sub_step_ > 0 ? static_cast<float>(sub_step / last_sub_step_) : 0;
    last_sub_step_ = sub_step;
    do {
        for (const std::uint32_t id : wakes_) wake(world, id);
        gather(world, pairs, dt, bodies_);
        touch(world, pairs, bodies_, dt, scale, rows_, wakes_);
    } while (!wakes_.empty());
}

void Stepper::solve(const World& world, double dt, std::uint32_t parts) {
    const double h = dt / parts;
    const SubStep sub = {.dt = static_cast<float>(h),
                         .per_dt = static_cast<float>(1 / h),
                         .pair = softness(h, 8, 10),
                         .wall = softness(h, 4, 10),
                         .fastest_push = static_cast<float>(0.02 / h),
                         .bounce_speed = static_cast<float>(world.bounce_speed(h)),
                         .fall = static_cast<float>(length(vector(world.options.gravity)) * h * h)};
    for (std::uint32_t part = 0; part < parts; ++part) {
        const double since = part * h;
        if (world.bounces) collide(world, sub, since);
        begin(world, sub, part == 0);
        if (part == 0)
            in_stages(world, [&](const Pairs::Chunk& c) {
                if (c.kind == PairKind::balls)
                    warm_start(balls_of(c), ball_rolls_of(world, c), c.rows, bodies_.velocity.data());
                else if (c.kind == PairKind::ball_wall)
                    warm_start(rows_of(rows_.walls, c), rolls_of(world, rows_.wall_rolls, c), bodies_.velocity.data());
                else
                    warm_start(rows_of(rows_.hulls, c), bodies_.velocity.data(), bodies_.inverse_inertia.data());
            });
        const auto pass = [&](Pass which, double at) {
            in_stages(world, [&](const Pairs::Chunk& c) {
                if (c.kind == PairKind::balls)
                    grains::solve(balls_of(c), ball_rolls_of(world, c), c.rows, bodies_.velocity.data(),
                                  bodies_.moved.data(), sub, which);
                else if (c.kind == PairKind::ball_wall)
                    grains::solve(rows_of(rows_.walls, c), rolls_of(world, rows_.wall_rolls, c),
                                  bodies_.velocity.data(), bodies_.moved.data(), sub, at, which);
                else
                    grains::solve(rows_of(rows_.hulls, c), bodies_.velocity.data(), bodies_.moved.data(),
                                  bodies_.inverse_inertia.data(), sub, at, which);
            });
        };
        pass(Pass::soft, since);
        move(world, sub);
        pass(Pass::relax, since + h);
        keep(world);
    }
}

void Stepper::spring(const World& world, double dt, std::uint32_t parts) {
    const double h = dt / parts;
    const SubStep sub = {.dt = static_cast<float>(h),
                         .per_dt = 0,
                         .pair = {},
                         .wall = {},
                         .fastest_push = 0,
                         .bounce_speed = 0,
                         .fall = 0};
    const Springs springs(world, h);
    for (std::uint32_t part = 0; part < parts; ++part) {
        begin(world, sub, true);
        in_stages(world, [&](const Pairs::Chunk& c) {
            if (c.kind == PairKind::balls)
                grains::spring(balls_of(c), ball_rolls_of(world, c), c.rows, bodies_.velocity.data(),
                               bodies_.start.data(), bodies_.moved.data(), springs);
            else
                grains::spring(rows_of(rows_.walls, c), rolls_of(world, rows_.wall_rolls, c),
                               world.bounces ? rows_of(rows_.wall_bounce, c) : std::span<float>(),
                               bodies_.velocity.data(), bodies_.start.data(), bodies_.moved.data(), springs, part * h);
        });
        move(world, sub);
        keep(world);
    }
}

// Meetings that bounce, until none is left.
void Stepper::collide(const World& world, const SubStep& sub, double since) {
    for (int sweep = 0; sweep < most_collisions; ++sweep) {
        std::atomic<bool> any = false;
        in_stages(world, [&](const Pairs::Chunk& c) {
            bool here = false;
            if (c.kind == PairKind::balls)
                here = grains::collide(balls_of(c), c.rows, bodies_.velocity.data(), bodies_.moved.data(),
                                       bodies_.start.data(), sub);
            else if (c.kind == PairKind::ball_wall)
                here = grains::collide(rows_of(rows_.walls, c), rows_of(rows_.wall_bounce, c), bodies_.velocity.data(),
                                       bodies_.moved.data(), bodies_.start.data(), sub, since);
            else
                here = grains::collide(rows_of(rows_.hulls, c), bodies_.velocity.data(), bodies_.moved.data(),
                                       bodies_.start.data(), bodies_.inverse_inertia.data(), sub, since);
            if (here) any.store(true, std::memory_order_relaxed);
        });
        if (!any) return;
    }
}

// Gravity, and what contacts did in the sub-step before, which is the best guess for this one.
void Stepper::begin(const World& world, const SubStep& sub, bool first) {
    const V3f fall = sub.dt * single(vector(world.options.gravity));
    base::parallel_for(world.options.executor, world.size(), grain, [&](std::size_t from, std::size_t to) {
        for (std::size_t p = from; p < to; ++p) {
            Motion &v = bodies_.velocity[p], &s = bodies_.start[p];
            if (v.mass == 0) continue;
            const V3f dv = s.v, dw = s.w;
            s.v = v.v + fall;
            s.w = v.w;
            v.v = first ? s.v : s.v + dv;
            v.w = first ? s.w : s.w + dw;
        }
    });
}

// The way of the sub-step. Who met nothing flies on a parabola, of which v dt is half a g dt^2 short.
void Stepper::move(const World& world, const SubStep& sub) {
    const V3f short_of = (0.5f * sub.dt * sub.dt) * single(vector(world.options.gravity));
    base::parallel_for(world.options.executor, world.size(), grain, [&](std::size_t from, std::size_t to) {
        for (std::size_t p = from; p < to; ++p) {
            const Motion &v = bodies_.velocity[p], &s = bodies_.start[p];
            if (v.mass == 0) continue;
            Motion& m = bodies_.moved[p];
            m.v += sub.dt * v.v;
            m.w += sub.dt * v.w;
            if (v.v == s.v) m.v -= short_of;
        }
    });
}

// What contacts did to each grain in the sub-step; a mark of those that met something.
void Stepper::keep(const World& world) {
    base::parallel_for(world.options.executor, world.size(), grain, [&](std::size_t from, std::size_t to) {
        for (std::size_t p = from; p < to; ++p) {
            const Motion& v = bodies_.velocity[p];
            Motion& s = bodies_.start[p];
            if (!(v.v == s.v && v.w == s.w)) s.mass = 1;
            s.v = v.v - s.v;
            s.w = v.w - s.w;
        }
    });
}

// The angular velocity of a body without torque after dt, in the frame of its principal axes: one implicit step of
// Euler's equations by Newton's method (E. Catto, "Numerical Methods", GDC 2015), then never more energy than before.
V3d without_torque(const V3d& w, const V3d& i, double dt) {
    const V3d l = {i.x * w.x, i.y * w.y, i.z * w.z}, f = dt * cross(w, l);
    // Columns of I + dt ([w] I - [I w]).
    const V3d c0 = {i.x, dt * (w.z * i.x - l.z), dt * (l.y - w.y * i.x)};
    const V3d c1 = {dt * (l.z - w.z * i.y), i.y, dt * (w.x * i.y - l.x)};
    const V3d c2 = {dt * (w.y * i.z - l.y), dt * (l.x - w.x * i.z), i.z};
    const double det = dot(c0, cross(c1, c2));
    if (!(det != 0)) return w;
    const V3d next = w - 1 / det * V3d{dot(f, cross(c1, c2)), dot(c0, cross(f, c2)), dot(c0, cross(c1, f))};
    const auto energy = [&](const V3d& v) { return i.x * v.x * v.x + i.y * v.y * v.y + i.z * v.z * v.z; };
    const double before = energy(w), after = energy(next);
    return after > 0 ? std::sqrt(before / after) * next : next;
}

// Back to the state, in double. Who met nothing in the whole step falls exactly.
void Stepper::finish(World& world, double dt) {
    const V3d g = vector(world.options.gravity);
    std::atomic<std::size_t> broken = SIZE_MAX;
    base::parallel_for(world.options.executor, world.size(), grain, [&](std::size_t from, std::size_t to) {
        for (std::size_t p = from; p < to; ++p) {
            const std::uint32_t id = pairs.ids()[p];
            if (world.asleep[id]) continue;
            const Motion& v = bodies_.velocity[p];
            V3d x = vector(world.position[id]);
            if (bodies_.start[p].mass == 0) {
                const V3d before = vector(world.velocity[id]);
                x += dt * before + (0.5 * dt * dt) * g;
                world.velocity[id] = plain(before + dt * g);
                world.orientation[id] = turned(world.orientation[id], dt * vector(world.spin[id]));
            } else {
                x += twice(bodies_.moved[p].v);
                world.velocity[id] = plain(twice(v.v));
                world.spin[id] = plain(twice(v.w));
                world.orientation[id] = turned(world.orientation[id], twice(bodies_.moved[p].w));
            }
            if (!world.all_spheres && !world.is_sphere(id)) {
                const Turn axes = world.axes(id);
                world.spin[id] = plain(axes(without_torque(axes.back(vector(world.spin[id])), world.inertia(id), dt)));
            }
            world.position[id] = plain(x);
            if (finite(x) && finite(vector(world.velocity[id])) && finite(vector(world.spin[id]))) continue;
            std::size_t least = broken;
            while (id < least && !broken.compare_exchange_weak(least, id)) {
            }
        }
    });
    for (GrainWall& wall : world.walls) {
        wall.position = plain(vector(wall.position) + dt * vector(wall.velocity));
        wall.orientation = turned(wall.orientation, dt * vector(wall.angular_velocity));
    }
    world.time += dt;
    world.last_dt = dt;
    ++world.steps;
    if (broken != SIZE_MAX)
        throw Error(ErrorKind::bad_value, "a grain's state is no longer finite", {.index = broken.load()});
}

void Stepper::count(GrainStats& stats) const {
    const auto one = [&](float gap, float push) {
        ++stats.contacts;
        stats.touching += push > 0;
        stats.max_overlap = std::max(stats.max_overlap, -double{gap});
    };
    for (const Pairs::Chunk& c : pairs.chunks())
        for (std::uint32_t r = c.first; r < c.first + c.rows; ++r) {
            if (c.kind == PairKind::balls) one(rows_.ball(r).gap, rows_.ball(r).push);
            if (c.kind == PairKind::ball_wall) one(rows_.walls[r].gap, rows_.walls[r].push);
            if (c.kind == PairKind::hulls) {
                const HullRow& row = rows_.hulls[r];
                float gap = row.points[0].gap, push = 0;
                for (std::uint32_t k = 0; k < row.count; ++k) {
                    gap = std::min(gap, row.points[k].gap);
                    push += row.points[k].push;
                }
                one(gap, push);
            }
        }
}

// What the second of a pair is, and its number.
std::pair<GrainContact::With, std::uint32_t> Stepper::second(const World& world, std::uint32_t b) const {
    using With = GrainContact::With;
    const std::size_t n = pairs.ids().size(), planes = world.planes.size();
    if (b < n) return {With::grain, pairs.ids()[b]};
    if (b < n + planes) return {With::plane, static_cast<std::uint32_t>(b - n)};
    return {With::wall, world.triangles[b - n - planes].wall};
}

void Stepper::find_contacts(const World& world, std::vector<GrainContact>& out) const {
    out.clear();
    if (world.steps == 0) return;
    const double per_h = 1 / last_sub_step_;
    const auto one = [&](std::uint32_t a, std::uint32_t pair, const V3d& n, const V3d& from_a, double gap,
                         const V3d& impulse) {
        const auto [with, number] = second(world, pairs.list()[pair].b);
        out.push_back(
            {pairs.ids()[a], number, with, plain(bodies_.position[a] + from_a), plain(n), gap, plain(per_h * impulse)});
    };
    for (const Pairs::Chunk& c : pairs.chunks())
        for (std::uint32_t r = c.first; r < c.first + c.rows; ++r) {
            const std::uint32_t pair = rows_.source[static_cast<std::size_t>(c.kind)][r];
            if (c.kind == PairKind::hulls) {
                const HullRow& row = rows_.hulls[r];
                for (std::uint32_t k = 0; k < row.count; ++k) {
                    const HullRow::Point& p = row.points[k];
                    one(row.a, pair, twice(row.n), twice(p.ra), double{p.gap},
                        twice(p.push * row.n + p.drag_1 * row.t1 + p.drag_2 * row.t2));
                }
                continue;
            }
            const auto ball = [&](const auto& row) {
                const V3d n = twice(row.n);
                one(row.a, pair, n, (double{row.ra} + 0.5 * double{row.gap}) * n, double{row.gap},
                    double{row.push} * n + twice(row.drag));
            };
            if (c.kind == PairKind::balls)
                ball(rows_.ball(r));
            else
                ball(rows_.walls[r]);
        }
}

}  // namespace quadrat::simulation::grains
