// Rigid motion: gravity and the fluid's forces, contacts with walls and each other, and the new poses. Pairs come from
// a HashGridHierarchy. Boxes meet boxes by separating axes; else a contact is a point of one body inside the other's
// distance: a sphere's centre less its radius, a box's corners, the vertices of a mesh, samples of the surface.
// Impulses are solved one after the other a few times (Mirtich 1996), and what still overlaps is moved apart.
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/error.hpp>

#include "simulation/solids/bodies.hpp"
#include "simulation/solids/box_contacts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::simulation {
namespace {

// The deepest few, and of the rest those that lie farthest apart, say all that matters.
template <class Contact>
void keep_few(std::vector<Contact>& out, std::size_t first) {
    constexpr std::size_t most = 12, deepest = 4;
    if (out.size() <= first + most) return;
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [](const Contact& l, const Contact& r) { return l.depth > r.depth; });
    std::vector<double> apart_sq(out.size(), std::numeric_limits<double>::infinity());
    for (std::size_t kept = first; kept < first + most; ++kept) {
        if (kept >= first + deepest) {
            std::size_t far = kept;
            for (std::size_t k = kept + 1; k < out.size(); ++k)
                if (apart_sq[k] > apart_sq[far]) far = k;
            std::swap(out[kept], out[far]);
            std::swap(apart_sq[kept], apart_sq[far]);
        }
        for (std::size_t k = kept + 1; k < out.size(); ++k)
            apart_sq[k] = std::min(apart_sq[k], (out[k].point - out[kept].point).squaredNorm());
    }
    out.resize(first + most);
}

}  // namespace

void Solids::set_points(Body& b, bool any_mesh) const {
    const Shape& shape = b.shape;
    if (shape.kind() == BodyShape::sphere) b.points.push_back(Vector::Zero());
    if (shape.kind() == BodyShape::box)
        for (int c = 0; c < (dimension_ == 2 ? 4 : 8); ++c) {
            const Vector& h = shape.half();
            b.points.emplace_back(c & 1 ? h[0] : -h[0], c & 2 ? h[1] : -h[1],
                                  dimension_ == 2 ? 0
                                  : c & 4         ? h[2]
                                                  : -h[2]);
        }
    if (shape.kind() == BodyShape::mesh) b.points.assign(shape.vertices().begin(), shape.vertices().end());
    b.corner_count = b.points.size();
    // Between a mesh and a mesh or box edges may meet edges: samples fine enough for thin bodies, but not too many.
    if (!any_mesh || dimension_ == 2 || (shape.kind() != BodyShape::box && shape.kind() != BodyShape::mesh)) return;
    const Vector size = vector(shape.bounds().hi) - vector(shape.bounds().lo);
    const double area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    const double apart = std::max(std::min(spacing_, size.minCoeff() / 3), std::sqrt(area / 3000));
    const std::vector<Vector> more = shape.sample_surface(apart);
    b.points.insert(b.points.end(), more.begin(), more.end());
}

// Points of a in b.
void Solids::contacts_of(const Near& pair, double margin, std::vector<Contact>& out) const {
    const std::uint32_t a = pair.a, b = pair.b;
    const Body &of = bodies_[a], &in = bodies_[b];
    const Quaterniond qa = turn(poses[a]), qb = turn(poses[b]);
    const Vector pa = vector(poses[a].position), pb = vector(poses[b].position) + pair.shift;
    const std::size_t first = out.size();
    const double radius = of.shape.kind() == BodyShape::sphere ? of.shape.radius() : 0;
    const bool mesh = of.shape.kind() == BodyShape::mesh || in.shape.kind() == BodyShape::mesh;
    const Box3d& box = in.shape.bounds();
    // Contacts are found long before a point is as deep as this in a mesh.
    const double depth = std::max(spacing_, 0.25 * (vector(box.hi) - vector(box.lo)).minCoeff());
    for (const Vector& p :
         mesh&& in.shape.kind() != BodyShape::plane ? std::span<const Vector>(of.points) : of.corners()) {
        const Vector world = pa + qa * p;
        const Vector local = qb.conjugate() * (world - pb);
        bool near = true;
        for (int k = 0; k < 3; ++k)
            near = near && local[k] >= box.lo[k] - radius - margin && local[k] <= box.hi[k] + radius + margin;
        if (!near) continue;
        const Shape::Distance d = in.shape.distance(local, radius + margin + depth);
        if (!(d.value < radius + margin)) continue;
        const Vector n = qb * d.normal;
        out.push_back({a, b, world - radius * n, n, radius - d.value, std::max(of.restitution, in.restitution),
                       std::min(1.0, of.friction * in.friction), pair.shift});
    }
    keep_few(out, first);
}

void Solids::contacts_between(const Near& pair, double margin, std::vector<Contact>& out) const {
    const auto& [a, b, shift] = pair;
    const Near reverse = {b, a, -shift};
    const Body &first = bodies_[a], &second = bodies_[b];
    const BodyShape ka = first.shape.kind(), kb = second.shape.kind();
    const auto convex = [](BodyShape k) { return k == BodyShape::box || k == BodyShape::plane; };
    if (kb == BodyShape::plane || (ka == BodyShape::sphere && (kb == BodyShape::sphere || convex(kb)))) {
        if (ka != BodyShape::plane) contacts_of(pair, margin, out);
    } else if (ka == BodyShape::plane || (kb == BodyShape::sphere && convex(ka))) {
        contacts_of(reverse, margin, out);
    } else if (ka == BodyShape::box && kb == BodyShape::box && dimension_ == 3) {
        std::vector<BoxTouch> touches;
        PlacedBox other = placed_box(second, poses[b]);
        other.centre += shift;
        box_touches(placed_box(first, poses[a]), other, margin, touches);
        for (const BoxTouch& t : touches)
            out.push_back({a, b, t.point, t.normal, t.depth, std::max(first.restitution, second.restitution),
                           std::min(1.0, first.friction * second.friction), shift});
    } else {
        contacts_of(pair, margin, out);
        contacts_of(reverse, margin, out);
    }
}

std::vector<Solids::Near> Solids::near_pairs(double margin) const {
    std::vector<Box3d> boxes;
    for (std::size_t i = 0; i < bodies_.size(); ++i) boxes.push_back(world_box(i, poses[i], margin));
    std::vector<Image> shifted;
    if (!period_.isZero())
        for (const Image& m : images(boxes, 0))
            if (!m.shift.isZero()) shifted.push_back(m);
    for (const Image& m : shifted)
        boxes.push_back({plain(vector(boxes[m.body].lo) + m.shift), plain(vector(boxes[m.body].hi) + m.shift)});
    HashGridHierarchy<3, double> grid;
    grid.insert(boxes);
    std::vector<Pair> pairs;
    grid.find_pairs(pairs);
    std::sort(pairs.begin(), pairs.end());
    std::vector<Near> out;
    for (const Pair& q : pairs) {
        if (q.first >= bodies_.size()) break;
        if (q.second < bodies_.size()) {
            out.push_back({q.first, q.second, Vector::Zero()});
            continue;
        }
        const Image& m = shifted[q.second - bodies_.size()];
        if (m.body == q.first) continue;
        // Most pairs over a seam come twice: a beside the image of b, and b beside that of a.
        const Near near = m.body > q.first ? Near{q.first, m.body, m.shift} : Near{m.body, q.first, -m.shift};
        if (std::none_of(out.begin(), out.end(),
                         [&](const Near& o) { return o.a == near.a && o.b == near.b && o.shift == near.shift; }))
            out.push_back(near);
    }
    return out;
}

void Solids::refuse_overlap() const {
    if (bodies_.empty()) return;
    for (const auto& [a, b, shift] : near_pairs(0)) {
        BodyPose other = poses[b];
        other.position = plain(vector(other.position) + shift);
        if (overlap(bodies_[a], poses[a], bodies_[b], other, 1e-3 * spacing_, dimension_))
            throw OverlapError("/bodies/" + std::to_string(b), a);
    }
}

void Solids::find_contacts(double margin, std::span<const Ground> walls, std::vector<Contact>& out) const {
    out.clear();
    if (bodies_.empty()) return;
    for (const Near& q : near_pairs(margin))
        if (bodies_[q.a].inverse_mass > 0 || bodies_[q.b].inverse_mass > 0) contacts_between(q, margin, out);
    for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
        if (bodies_[i].inverse_mass == 0) continue;
        const Quaterniond q = turn(poses[i]);
        const Box3d box = world_box(i, poses[i], margin);
        const Vector middle = 0.5 * (vector(box.lo) + vector(box.hi)), half = 0.5 * (vector(box.hi) - vector(box.lo));
        const double radius = bodies_[i].shape.kind() == BodyShape::sphere ? bodies_[i].shape.radius() : 0;
        for (const Ground& w : walls) {
            if (w.normal.dot(middle) - w.normal.cwiseAbs().dot(half) > w.offset) continue;
            const std::size_t first = out.size();
            for (const Vector& p : bodies_[i].corners()) {
                const Vector world = vector(poses[i].position) + q * p;
                const double depth = radius - (w.normal.dot(world) - w.offset);
                if (depth > -margin)
                    out.push_back({i, none, world - radius * w.normal, w.normal, depth,
                                   std::max(bodies_[i].restitution, w.restitution),
                                   std::min(1.0, bodies_[i].friction * w.friction), Vector::Zero()});
            }
            keep_few(out, first);
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
    const Body& b = bodies_[i];
    BodyPose& p = poses[i];
    Vector spin = vector(p.angular_velocity);
    Quaterniond q = turn(p);
    const auto turned = [](const Quaterniond& from, const Vector& by) {
        const double angle = by.norm();
        return angle > 0 ? Quaterniond(Eigen::AngleAxisd(angle, by / angle)) * from : from;
    };
    if (b.dynamic < 0 || b.shape.kind() == BodyShape::sphere || dimension_ == 2) {
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
        most = std::max(
            most, vector(poses[i].velocity).norm() + bodies_[i].shape.arm() * vector(poses[i].angular_velocity).norm());
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
    return count;
}

}  // namespace quadrat::simulation
