// Rigid motion: gravity and the fluid's forces, impulses at contacts, and the new poses. Impulses are solved one after
// the other a few times (Mirtich 1996), and what still overlaps is moved apart.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/solids/solids.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat::simulation {

void Solids::push(std::uint32_t i, const Vector& at, const Vector& impulse) {
    if (i == none || bodies_[i].inverse_mass == 0) return;
    const Body& b = bodies_[i];
    BodyPose& p = poses[i];
    p.velocity = plain(vector(p.velocity) + b.inverse_mass * impulse);
    Vector spin = inverse_inertia(i) * (at - b.world_centre(p)).cross(impulse);
    if (dimension_ == 2) spin[0] = spin[1] = p.velocity[2] = 0;
    p.angular_velocity = plain(vector(p.angular_velocity) + spin);
}

double Solids::ease(std::uint32_t i, const Vector& at, const Vector& n) const {
    QUADRAT_ASSERT(std::abs(n.squaredNorm() - 1) < 1e-3);
    if (i == none || bodies_[i].inverse_mass == 0) return 0;
    const Vector arm = (at - bodies_[i].world_centre(poses[i])).cross(n);
    return bodies_[i].inverse_mass + arm.dot(inverse_inertia(i) * arm);
}

Matrix3d Solids::inverse_inertia(std::size_t i) const {
    const Matrix3d r = turn(poses[i]).toRotationMatrix();
    return r * bodies_[i].inverse_inertia * r.transpose();
}

void Solids::solve_contacts(std::vector<Contact>& contacts, double dt) {
    QUADRAT_ASSERT(dt > 0);
    const auto speed = [&](const Contact& c) {
        Vector v = velocity_at(c.a, c.point);
        if (c.b != none) v -= velocity_at(c.b, c.point - c.shift);
        return v;
    };
    std::vector<double> bounce;
    for (const Contact& c : contacts) {
        const double into = speed(c).dot(c.normal), gap = std::max(-c.depth, 0.0);
        // What meets within this step comes back, unless gravity alone gave it its speed in a few steps: it rests. What
        // does not may come as far as the gap.
        const bool meets = -into * dt > gap && -into > 4 * gain_;
        bounce.push_back(meets && c.restitution > 0 ? -c.restitution * into : -gap / dt);
    }
    for (int round = 0; round < 10; ++round)
        for (std::size_t k = 0; k < contacts.size(); ++k) {
            Contact& c = contacts[k];
            const double give = ease(c.a, c.point, c.normal) + ease(c.b, c.point - c.shift, c.normal);
            if (give == 0) continue;
            const double wanted = (bounce[k] - speed(c).dot(c.normal)) / give;
            const double change = std::max(c.sum + wanted, 0.0) - c.sum;
            c.sum += change;
            push(c.a, c.point, change * c.normal);
            push(c.b, c.point - c.shift, -change * c.normal);
            // Friction, at most its share of the pressing impulse.
            const Vector v = speed(c);
            const Vector slide = v - v.dot(c.normal) * c.normal;
            const double sliding = slide.norm();
            if (sliding < 1e-9 || change <= 0) continue;
            const Vector t = slide / sliding;
            const double drag = ease(c.a, c.point, t) + ease(c.b, c.point - c.shift, t);
            const double hold = drag > 0 ? std::min(sliding / drag, 0.5 * c.friction * change) : 0;
            push(c.a, c.point, -hold * t);
            push(c.b, c.point - c.shift, hold * t);
        }
}

// Moves overlapping bodies apart; walls come last, so that no body is left outside. A depth counts less what bodies
// have gone since it was measured: several contacts of one pair must not add up.
void Solids::separate(std::span<const Ground> walls) {
    std::vector<Contact> contacts;
    std::vector<Vector> gone;
    for (int round = 0; round < 4; ++round) {
        find_contacts(0, walls, contacts);
        if (contacts.empty()) return;
        gone.assign(bodies_.size(), Vector::Zero());
        for (const Contact& c : contacts) {
            const bool wall = c.b == none;
            const double wa = bodies_[c.a].inverse_mass, wb = wall ? 0 : bodies_[c.b].inverse_mass;
            const double depth = c.depth - c.normal.dot(wall ? gone[c.a] : Vector(gone[c.a] - gone[c.b]));
            if (wa + wb == 0 || depth <= 0) continue;
            const Vector shift = (wall ? 1.0 : 0.5) * depth / (wa + wb) * c.normal;
            gone[c.a] += wa * shift;
            if (!wall) gone[c.b] -= wb * shift;
        }
        for (std::size_t i = 0; i < bodies_.size(); ++i) poses[i].position = plain(vector(poses[i].position) + gone[i]);
    }
}

void Solids::accelerate(double dt, const Vector& gravity) {
    QUADRAT_ASSERT(dt >= 0);
    gain_ = dt * gravity.norm();
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const Body& b = bodies_[i];
        BodyPose& p = poses[i];
        if (b.dynamic < 0) continue;
        if (leaving_.gone(p.position, p.velocity)) {
            p.velocity = p.angular_velocity = {};
            continue;
        }
        const Wrench& w = load_[static_cast<std::size_t>(b.dynamic)];
        const Matrix3d r = turn(p).toRotationMatrix();
        const Vector spin = vector(p.angular_velocity);
        const Vector torque = w.torque - b.world_centre(p).cross(w.force);  // free rotation is part of the move
        p.velocity = plain(vector(p.velocity) + dt * (gravity + b.inverse_mass * w.force));
        Vector turned = dt * (r * b.inverse_inertia * r.transpose() * torque);
        if (dimension_ == 2) turned[0] = turned[1] = p.velocity[2] = 0;
        p.angular_velocity = plain(spin + turned);
    }
    for (Wrench& w : load_) w = {};
}

// Turns a body by dt. Without torque its angular momentum stays, in the axes of the world, while its angular velocity
// follows the inertia that turns with it; each part of the step uses the velocity in its middle, found by iteration.
// That is of second order and reversible, and cannot gain energy without end: I^-1 L is bounded.
void Solids::rotate(std::size_t i, double dt) {
    QUADRAT_ASSERT(i < bodies_.size());
    const Body& b = bodies_[i];
    BodyPose& p = poses[i];
    Vector spin = vector(p.angular_velocity);
    Quaterniond q = turn(p);
    const auto turned = [](const Quaterniond& from, const Vector& by) {
        const double angle = by.norm();
        return angle > 0 ? Quaterniond(Eigen::AngleAxisd(angle, by / angle)) * from : from;
    };
    if (b.dynamic < 0 || b.shape->round() || dimension_ == 2) {
        q = turned(q, dt * spin);
    } else {
        const auto spin_at = [&](const Quaterniond& at, const Vector& momentum) {
            return Vector(at * (b.inverse_inertia * (at.conjugate() * momentum)));
        };
        const Vector momentum = q * (b.inertia * (q.conjugate() * spin));
        constexpr double longest = 0.1;  // radians of a part
        const double parts = std::ceil(spin.norm() * dt / longest);
        const int n = parts >= 1 && parts < 128 ? static_cast<int>(parts) : parts >= 128 ? 128 : 1;
        for (int part = 0; part < n; ++part) {
            Vector middle = spin;
            for (int round = 0; round < 4; ++round) middle = spin_at(turned(q, 0.5 * dt / n * middle), momentum);
            q = turned(q, dt / n * middle);
            spin = spin_at(q, momentum);
        }
        p.angular_velocity = plain(spin);
    }
    q.normalize();
    p.orientation = {q.w(), q.x(), q.y(), q.z()};
}

void Solids::check(double dt, double time) const {
    for (std::size_t i = 0; i < poses.size(); ++i) {
        if (bodies_[i].motion == BodyMotion::fixed) continue;
        const BodyPose& p = poses[i];
        bool right = std::isfinite(vector(p.angular_velocity).norm()) && std::isfinite(turn(p).norm());
        for (int k = 0; k < 3; ++k)
            right = right && std::abs(p.position[k]) <= far_ && std::abs(dt * p.velocity[k]) <= far_;
        if (right) continue;
        throw Error(ErrorKind::bad_value,
                    "the simulation blew up: at " + std::to_string(time) +
                        " s this body is not finite or beyond all bounds; try a smaller step",
                    {.field = "/bodies/" + std::to_string(i)});
    }
}

// The speed that no point of a body exceeds.
double Solids::fastest() const {
    double most = 0;
    for (std::size_t i = 0; i < poses.size(); ++i)
        most = std::max(most, vector(poses[i].velocity).norm() +
                                  bodies_[i].shape->arm() * vector(poses[i].angular_velocity).norm());
    return most;
}

// What moves whatever it meets does so for ever; beyond all that is there to meet it stays.
void Solids::stop_far_away(BodyPose& p) const {
    for (int k = 0; k < 3; ++k)
        if (std::abs(p.position[k]) > 0.1 * far_ && p.position[k] * p.velocity[k] > 0)
            p.velocity = p.angular_velocity = {};
}

std::uint64_t Solids::move(double dt, double time, std::span<const Ground> walls) {
    if (bodies_.empty()) return 0;
    check(dt, time);
    const bool any_dynamic = !load_.empty();
    for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i].before = poses[i];
    std::uint64_t count = 0;
    if (any_dynamic) {
        std::vector<Contact> contacts;
        find_contacts(2 * dt * fastest(), walls, contacts);
        count = contacts.size();
        solve_contacts(contacts, dt);
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const Body& b = bodies_[i];
        BodyPose& p = poses[i];
        if (b.motion == BodyMotion::fixed) continue;
        if (b.motion == BodyMotion::moving) stop_far_away(p);
        const Vector centre = b.world_centre(p) + dt * vector(p.velocity);
        rotate(i, dt);
        p.position = plain(centre - turn(p) * b.centre);
        if (dimension_ == 2) p.position[2] = 0;
    }
    check(dt, time);
    if (any_dynamic) separate(walls);
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        if (bodies_[i].motion != BodyMotion::fixed) wrap(i);
    index_paths();
    return count;
}

// Where bodies have been during the move, for particles that look for what they meet.
void Solids::index_paths() {
    std::vector<Box3d> start, end;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        start.push_back(world_box(i, bodies_[i].before, 0.05 * spacing_));
        end.push_back(world_box(i, poses[i], 0.05 * spacing_));
    }
    std::vector<Box3d> path = start;
    for (std::size_t i = 0; i < path.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            path[i].lo[k] = std::min(start[i].lo[k], end[i].lo[k]);
            path[i].hi[k] = std::max(start[i].hi[k], end[i].hi[k]);
        }
    path_images_ = images(path, reach_);
    std::vector<Box3d> from, to;
    for (const Image& m : path_images_) {
        from.push_back({plain(vector(start[m.body].lo) + m.shift), plain(vector(start[m.body].hi) + m.shift)});
        to.push_back({plain(vector(end[m.body].lo) + m.shift), plain(vector(end[m.body].hi) + m.shift)});
    }
    path_hash_.build(from, to);
}

}  // namespace quadrat::simulation
