// Where bodies touch each other and walls. Pairs come from a HashGridHierarchy, the rule of a pair from meetings.hpp:
// boxes meet boxes by separating axes; else a contact is a point of one body inside the other's distance (a sphere's
// centre less its radius, a box's corners, the vertices of a mesh, samples of the surface).
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "simulation/solids/box_contacts.hpp"
#include "simulation/solids/meetings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::simulation {
namespace {

// Three points hold a body, and a box that lies on a face has at most eight. Of the many that meshes have, the deepest
// four, and eight of the rest that lie farthest apart, say what matters; each costs an impulse in every round.
template <class Contact>
void keep_few(std::vector<Contact>& out, std::size_t first) {
    QUADRAT_ASSERT(first <= out.size());
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

// Samples of one body for contacts, about: in every step each is looked for in every body that is near.
constexpr double most_points = 3000;

void Solids::set_points(Body& b, bool edges_meet) const {
    const Shape& shape = *b.shape;
    b.points = shape.corners();
    b.corner_count = b.points.size();
    // Where edges may meet edges, between a mesh and what has edges too: samples fine enough for thin bodies, but not
    // too many.
    if (!edges_meet || dimension_ == 2 || b.corner_count < 2) return;
    const Vector size = vector(shape.bounds().hi) - vector(shape.bounds().lo);
    const double area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    const double apart = std::max(std::min(spacing_, size.minCoeff() / 3), std::sqrt(area / most_points));
    const std::vector<Vector> more = shape.sample_surface(apart, 0);
    b.points.insert(b.points.end(), more.begin(), more.end());
}

// Points of a in b.
void Solids::contacts_of(const Near& pair, double margin, std::vector<Contact>& out) const {
    QUADRAT_ASSERT(pair.a != pair.b && margin >= 0);
    const std::uint32_t a = pair.a, b = pair.b;
    const Body &of = bodies_[a], &in = bodies_[b];
    const Quaterniond qa = turn(poses[a]), qb = turn(poses[b]);
    const Vector pa = vector(poses[a].position), pb = vector(poses[b].position) + pair.shift;
    const std::size_t first = out.size();
    const double radius = of.shape->radius();
    const bool hollows = (!of.shape->convex() || !in.shape->convex()) && !in.shape->unbounded();
    const Box3d& box = in.shape->bounds();
    // Contacts are found long before a point is as deep as this in a mesh.
    const double depth = std::max(spacing_, 0.25 * (vector(box.hi) - vector(box.lo)).minCoeff());
    for (const Vector& p : hollows ? std::span<const Vector>(of.points) : of.corners()) {
        const Vector world = pa + qa * p;
        const Vector local = qb.conjugate() * (world - pb);
        bool near = true;
        for (int k = 0; k < 3; ++k)
            near = near && local[k] >= box.lo[k] - radius - margin && local[k] <= box.hi[k] + radius + margin;
        if (!near) continue;
        const Shape::Distance d = in.shape->distance(local, radius + margin + depth);
        if (!(d.value < radius + margin)) continue;
        const Vector n = qb * d.normal;
        out.push_back({a, b, world - radius * n, n, radius - d.value, std::max(of.restitution, in.restitution),
                       std::min(1.0, of.friction * in.friction), pair.shift});
    }
    keep_few(out, first);
}

void Solids::contacts_of_boxes(const Near& pair, double margin, std::vector<Contact>& out) const {
    const auto& [a, b, shift] = pair;
    const Body &first = bodies_[a], &second = bodies_[b];
    std::vector<BoxTouch> touches;
    PlacedBox other = placed_box(second, poses[b]);
    other.centre += shift;
    box_touches(placed_box(first, poses[a]), other, margin, touches);
    for (const BoxTouch& t : touches)
        out.push_back({a, b, t.point, t.normal, t.depth, std::max(first.restitution, second.restitution),
                       std::min(1.0, first.friction * second.friction), shift});
}

void Solids::contacts_between(const Near& pair, double margin, std::vector<Contact>& out) const {
    const Near reverse = {pair.b, pair.a, -pair.shift};
    ContactRule rule = meeting(bodies_[pair.a].shape->kind(), bodies_[pair.b].shape->kind()).contacts;
    if (rule == ContactRule::boxes && dimension_ == 2) rule = ContactRule::each_in_other;
    switch (rule) {
        case ContactRule::first_in_second:
            return contacts_of(pair, margin, out);
        case ContactRule::second_in_first:
            return contacts_of(reverse, margin, out);
        case ContactRule::each_in_other:
            contacts_of(pair, margin, out);
            return contacts_of(reverse, margin, out);
        case ContactRule::boxes:
            return contacts_of_boxes(pair, margin, out);
        case ContactRule::never:
        case ContactRule::missing:
            break;
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
        const double radius = bodies_[i].shape->radius();
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

}  // namespace quadrat::simulation
