// The public class: checks, and what is computed on request.
#include <quadrat/error.hpp>
#include <quadrat/simulation/grains.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "base/parallel.hpp"
#include "simulation/grains/step.hpp"
#include "simulation/grains/world.hpp"

namespace quadrat {
namespace grains = simulation::grains;

struct Grains::Impl {
    explicit Impl(const GrainOptions& options) : stepper(options.executor) { world.options = options; }
    grains::World world;
    grains::Stepper stepper;
};

Grains::Grains(const GrainOptions& options) {
    grains::check(options);
    impl_ = std::make_unique<Impl>(options);
}
Grains::~Grains() = default;
Grains::Grains(Grains&&) noexcept = default;
Grains& Grains::operator=(Grains&&) noexcept = default;

std::uint32_t Grains::add(std::span<const Grain> more) {
    const std::uint32_t first = grains::add_grains(impl_->world, more, false);
    impl_->stepper.pairs.forget();
    return first;
}

std::uint32_t Grains::add(const Grain& grain) {
    const std::uint32_t first = grains::add_grains(impl_->world, {&grain, 1}, true);
    impl_->stepper.pairs.forget();
    return first;
}

std::uint32_t Grains::add(const GrainPlane& plane) {
    const std::uint32_t number = grains::add_plane(impl_->world, plane);
    impl_->stepper.pairs.forget();
    return number;
}

std::uint32_t Grains::add(const GrainWall& wall) {
    const std::uint32_t number = grains::add_wall(impl_->world, wall);
    impl_->stepper.pairs.forget();
    return number;
}

std::uint32_t Grains::add_hull(std::span<const Vec3d> points) {
    return grains::add_hull(impl_->world, points);
}

Vec3d Grains::hull_origin(std::uint32_t hull) const {
    if (hull >= impl_->world.hulls.size())
        throw Error(ErrorKind::stale_id, "there is no hull with this number", {.index = hull, .field = "hull"});
    return impl_->world.hulls[hull].origin;
}

void Grains::move_wall(std::uint32_t wall, const Vec3d& velocity, const Vec3d& angular_velocity) {
    if (wall >= walls())
        throw Error(ErrorKind::stale_id, "there is no wall with this number", {.index = wall, .field = "wall"});
    grains::check_velocities(velocity, angular_velocity, 3);
    impl_->world.walls[wall].velocity = velocity;
    impl_->world.walls[wall].angular_velocity = angular_velocity;
    impl_->stepper.pairs.forget();
}

void Grains::set_velocity(std::uint32_t grain, const Vec3d& velocity, const Vec3d& angular_velocity) {
    if (grain >= size())
        throw Error(ErrorKind::stale_id, "there is no grain with this number", {.index = grain, .field = "grain"});
    grains::check_velocities(velocity, angular_velocity, impl_->world.options.dimension);
    grains::wake(impl_->world, grain);
    impl_->world.velocity[grain] = velocity;
    impl_->world.spin[grain] = angular_velocity;
}

void Grains::step(double dt) {
    if (!(dt > 0) || !std::isfinite(dt))
        throw Error(ErrorKind::bad_value, "expected a finite number above 0", {.field = "dt"});
    impl_->stepper.step(impl_->world, dt);
}

std::size_t Grains::size() const noexcept {
    return impl_->world.size();
}
double Grains::time() const noexcept {
    return impl_->world.time;
}
std::span<const Vec3d> Grains::positions() const noexcept {
    return impl_->world.position;
}
std::span<const std::array<double, 4>> Grains::orientations() const noexcept {
    return impl_->world.orientation;
}
std::span<const Vec3d> Grains::velocities() const noexcept {
    return impl_->world.velocity;
}
std::span<const Vec3d> Grains::angular_velocities() const noexcept {
    return impl_->world.spin;
}
std::span<const double> Grains::masses() const noexcept {
    return impl_->world.mass;
}
std::span<const std::uint8_t> Grains::asleep() const noexcept {
    return impl_->world.asleep;
}
std::size_t Grains::walls() const noexcept {
    return impl_->world.walls.size();
}
const GrainWall& Grains::wall(std::uint32_t number) const {
    return impl_->world.walls.at(number);
}

Grain Grains::grain(std::uint32_t number) const {
    const grains::World& w = impl_->world;
    const grains::Form& f = w.forms[w.form.at(number)];
    return {.shape = f.shape,
            .radius = f.radius,
            .size = f.size,
            .length = f.length,
            .hull = f.hull,
            .density = w.mass[number] / f.volume,
            .position = w.position[number],
            .orientation = w.orientation[number],
            .velocity = w.velocity[number],
            .angular_velocity = w.spin[number],
            .surface = w.surfaces[w.surface[number]]};
}

void Grains::find_contacts(std::vector<GrainContact>& out) const {
    impl_->stepper.find_contacts(impl_->world, out);
}

GrainStats Grains::stats() const {
    using grains::dot, grains::vector;
    const grains::World& w = impl_->world;
    const grains::Stepper& stepper = impl_->stepper;
    GrainStats s{.time = w.time, .steps = w.steps, .grains = w.size()};
    grains::V3d momentum = {0, 0, 0};
    for (std::size_t i = 0; i < w.size(); ++i) {
        const auto v = vector(w.velocity[i]), spin = w.axes(i).back(vector(w.spin[i])), inertia = w.inertia(i);
        const double m = w.mass[i];
        s.asleep += w.asleep[i];
        s.kinetic += 0.5 * m * dot(v, v);
        s.rotational += 0.5 * (inertia.x * spin.x * spin.x + inertia.y * spin.y * spin.y + inertia.z * spin.z * spin.z);
        s.potential -= m * dot(vector(w.options.gravity), vector(w.position[i]));
        momentum += m * v;
        s.max_speed = std::max(s.max_speed, length(v));
    }
    s.momentum = plain(momentum);
    s.pairs = stepper.pairs.list().size();
    s.stages = stepper.pairs.stages();
    s.searches = stepper.pairs.searches();
    s.islands = stepper.islands;
    stepper.count(s);
    s.seconds = stepper.seconds;
    return s;
}

}  // namespace quadrat
