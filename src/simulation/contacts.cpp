// Rigid motion: gravity and the fluid's forces, contacts with walls and each other, and the new poses. Pairs come from
// a HashGridHierarchy; a contact is a point of one body inside the other's distance: a sphere's centre less its radius,
// a box's corners, samples of the surface. Impulses are solved one after the other a few times (Mirtich 1996), and what
// still overlaps is moved apart.
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include "simulation/bodies.hpp"

#include <algorithm>
#include <cmath>

namespace quadrat::simulation {
namespace {

// Points of a body that stand for its surface, each with a radius.
template <class Fn>
void for_points(const Body& b, int dimension, Fn&& fn) {
    if (b.shape.kind() == BodyShape::sphere) return fn(Vector(Vector::Zero()), b.shape.radius());
    if (b.shape.kind() == BodyShape::box)
        for (int c = 0; c < (dimension == 2 ? 4 : 8); ++c) {
            const Vector& h = b.shape.half();
            fn(Vector(c & 1 ? h[0] : -h[0], c & 2 ? h[1] : -h[1], dimension == 2 ? 0 : c & 4 ? h[2] : -h[2]), 0.0);
        }
    if (b.boundary == BoundaryKind::particles)
        for (const Vector& p : b.samples) fn(p, 0.0);
}

}  // namespace

void Solids::contacts_of(std::uint32_t a, std::uint32_t b, double margin, std::vector<Contact>& out) const {
    const Body &of = bodies_[a], &in = bodies_[b];
    if (of.shape.kind() == BodyShape::plane) return;
    const Quaterniond qa = turn(poses[a]), qb = turn(poses[b]);
    const Vector pa = vector(poses[a].position), pb = vector(poses[b].position);
    const std::size_t first = out.size();
    for_points(of, dimension_, [&](const Vector& p, double radius) {
        const Vector world = pa + qa * p;
        const Vector local = qb.conjugate() * (world - pb);
        const Box3d& box = in.shape.bounds();
        for (int k = 0; k < 3; ++k)
            if (local[k] < box.lo[k] - radius - margin || local[k] > box.hi[k] + radius + margin) return;
        const Shape::Distance d = in.shape.distance(local, radius + margin + spacing_);
        if (!(d.value < radius + margin)) return;
        const Vector n = qb * d.normal;
        out.push_back({a, b, world - radius * n, n, radius - d.value, std::max(of.restitution, in.restitution),
                       std::min(1.0, of.friction * in.friction)});
    });
    // The deepest few say all that matters.
    constexpr std::size_t most = 12;
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [](const Contact& l, const Contact& r) { return l.depth > r.depth; });
    if (out.size() > first + most) out.resize(first + most);
}

void Solids::find_contacts(double margin, std::span<const Ground> walls, std::vector<Contact>& out) const {
    out.clear();
    if (bodies_.empty()) return;
    std::vector<Box3d> boxes;
    for (std::size_t i = 0; i < bodies_.size(); ++i) boxes.push_back(world_box(i, poses[i], margin));
    HashGridHierarchy<3, double> grid;
    grid.insert(boxes);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    std::sort(pairs.begin(), pairs.end());
    for (const Pair& q : pairs) {
        const bool run = poses[q.first].velocity != Vec3d{} || poses[q.second].velocity != Vec3d{};
        if (bodies_[q.first].inverse_mass == 0 && bodies_[q.second].inverse_mass == 0 && (run || !walls.empty()))
            continue;  // nothing to solve; at the start it is checked all the same
        const std::size_t before = out.size();
        contacts_of(q.first, q.second, margin, out);
        const bool round = bodies_[q.first].shape.kind() == BodyShape::sphere && out.size() > before;
        if (!round) contacts_of(q.second, q.first, margin, out);
    }
    for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
        if (bodies_[i].inverse_mass == 0) continue;
        const Quaterniond q = turn(poses[i]);
        for (const Ground& w : walls) {
            const std::size_t first = out.size();
            for_points(bodies_[i], dimension_, [&](const Vector& p, double radius) {
                const Vector world = vector(poses[i].position) + q * p;
                const double depth = radius - (w.normal.dot(world) - w.offset);
                if (depth > -margin)
                    out.push_back({i, none, world - radius * w.normal, w.normal, depth,
                                   std::max(bodies_[i].restitution, w.restitution),
                                   std::min(1.0, bodies_[i].friction * w.friction)});
            });
            std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                             [](const Contact& l, const Contact& r) { return l.depth > r.depth; });
            if (out.size() > first + 12) out.resize(first + 12);
        }
    }
}

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
    if (i == none || bodies_[i].inverse_mass == 0) return 0;
    const Vector arm = (at - bodies_[i].world_centre(poses[i])).cross(n);
    return bodies_[i].inverse_mass + arm.dot(inverse_inertia(i) * arm);
}

Matrix3d Solids::inverse_inertia(std::size_t i) const {
    const Matrix3d r = turn(poses[i]).toRotationMatrix();
    return r * bodies_[i].inverse_inertia * r.transpose();
}

void Solids::solve_contacts(std::vector<Contact>& contacts, double dt) {
    const auto speed = [&](const Contact& c) {
        Vector v = velocity_at(c.a, c.point);
        if (c.b != none) v -= velocity_at(c.b, c.point);
        return v;
    };
    std::vector<double> bounce;
    for (const Contact& c : contacts) {
        const double into = speed(c).dot(c.normal);
        // What is not touching yet may come as far as the gap in this step.
        bounce.push_back(c.depth > 0 ? (into < 0 ? -c.restitution * into : 0.0) : c.depth / dt);
    }
    for (int round = 0; round < 10; ++round)
        for (std::size_t k = 0; k < contacts.size(); ++k) {
            Contact& c = contacts[k];
            const double give = ease(c.a, c.point, c.normal) + ease(c.b, c.point, c.normal);
            if (give == 0) continue;
            const double wanted = (bounce[k] - speed(c).dot(c.normal)) / give;
            const double change = std::max(c.sum + wanted, 0.0) - c.sum;
            c.sum += change;
            push(c.a, c.point, change * c.normal);
            push(c.b, c.point, -change * c.normal);
            // Friction, at most its share of the pressing impulse.
            const Vector v = speed(c);
            const Vector slide = v - v.dot(c.normal) * c.normal;
            const double sliding = slide.norm();
            if (sliding < 1e-9 || change <= 0) continue;
            const Vector t = slide / sliding;
            const double drag = ease(c.a, c.point, t) + ease(c.b, c.point, t);
            const double hold = drag > 0 ? std::min(sliding / drag, 0.5 * c.friction * change) : 0;
            push(c.a, c.point, -hold * t);
            push(c.b, c.point, hold * t);
        }
}

// Moves overlapping bodies apart; walls come last, so that no body is left outside.
void Solids::separate(std::span<const Ground> walls) {
    std::vector<Contact> contacts;
    for (int round = 0; round < 4; ++round) {
        find_contacts(0, walls, contacts);
        if (contacts.empty()) return;
        for (const Contact& c : contacts) {
            const double wa = bodies_[c.a].inverse_mass, wb = c.b == none ? 0 : bodies_[c.b].inverse_mass;
            if (wa + wb == 0 || c.depth <= 0) continue;
            const bool wall = c.b == none;
            if (wall) {
                // The depth was measured before other contacts moved the body: measure again for spheres' sake.
                const double share = 1.0;
                poses[c.a].position = plain(vector(poses[c.a].position) + share * c.depth * c.normal);
                continue;
            }
            const Vector shift = 0.5 * c.depth / (wa + wb) * c.normal;
            poses[c.a].position = plain(vector(poses[c.a].position) + wa * shift);
            poses[c.b].position = plain(vector(poses[c.b].position) - wb * shift);
        }
    }
}

void Solids::accelerate(double dt, const Vector& gravity) {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const Body& b = bodies_[i];
        BodyPose& p = poses[i];
        if (b.dynamic < 0) continue;
        const Wrench& w = load_[static_cast<std::size_t>(b.dynamic)];
        const Matrix3d r = turn(p).toRotationMatrix();
        const Vector spin = vector(p.angular_velocity);
        const Vector torque =
            w.torque - b.world_centre(p).cross(w.force) - spin.cross(r * b.inertia * r.transpose() * spin);
        p.velocity = plain(vector(p.velocity) + dt * (gravity + b.inverse_mass * w.force));
        Vector turned = dt * (r * b.inverse_inertia * r.transpose() * torque);
        if (dimension_ == 2) turned[0] = turned[1] = p.velocity[2] = 0;
        p.angular_velocity = plain(spin + turned);
    }
    for (Wrench& w : load_) w = {};
}

std::uint64_t Solids::move(double dt, std::span<const Ground> walls) {
    if (bodies_.empty()) return 0;
    const bool any_dynamic = !load_.empty();
    for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i].before = poses[i];
    std::uint64_t count = 0;
    if (any_dynamic) {
        std::vector<Contact> contacts;
        double fastest = 0;
        for (const BodyPose& p : poses) fastest = std::max(fastest, vector(p.velocity).norm());
        find_contacts(2 * dt * fastest, walls, contacts);
        count = contacts.size();
        solve_contacts(contacts, dt);
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        const Body& b = bodies_[i];
        BodyPose& p = poses[i];
        if (b.motion == BodyMotion::fixed) continue;
        const Vector centre = b.world_centre(p) + dt * vector(p.velocity);
        const Vector spin = vector(p.angular_velocity);
        const double angle = spin.norm() * dt;
        Quaterniond q = turn(p);
        if (angle > 0) q = Quaterniond(Eigen::AngleAxisd(angle, spin.normalized())) * q;
        q.normalize();
        p.orientation = {q.w(), q.x(), q.y(), q.z()};
        p.position = plain(centre - q * b.centre);
        if (dimension_ == 2) p.position[2] = 0;
    }
    if (any_dynamic) separate(walls);
    std::vector<Box3d> start, end;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        start.push_back(world_box(i, bodies_[i].before, 0.05 * spacing_));
        end.push_back(world_box(i, poses[i], 0.05 * spacing_));
    }
    path_hash_.build(start, end);
    return count;
}

}  // namespace quadrat::simulation
