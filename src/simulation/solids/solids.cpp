// Solids near the fluid: placing samples, finding what is near each particle through a HierarchicalHash of the bodies
// (Pouchol et al. 2009, 4.2) and a CellIndex of their samples, and taking the fluid's reaction. Sample volumes are
// 1 / sum W over the samples of the same body (Akinci et al. 2012), so that uneven sampling does no harm.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "simulation/solids/solids.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat::simulation {
namespace {

constexpr std::size_t chunk = 2048;

// Samples lie below the surface, by this part of the support. Fluid keeps about a spacing away from them, which is then
// half a spacing off the surface, as beside a wall: a body displaces its volume, and a lattice that starts there is not
// too dense (docs/decisions/0084-samples-inside-the-surface.md).
constexpr double sample_depth = 0.25;
// All samples of a body have this part of its volume at most: one layer stands for what is behind it, but behind the
// samples of a thin plate is the fluid on the other side.
constexpr double largest_part = 1.25;

}  // namespace

Body Solids::make_body(const RigidBody& given, const std::string& path, const Kernel& kernel, double calibration) {
    Body body = {.shape = make_shape(given, dimension_),
                 .motion = given.motion,
                 .boundary = given.boundary,
                 .restitution = given.response.restitution,
                 .friction = given.response.friction,
                 .samples = {},
                 .volumes = {},
                 .points = {},
                 .before = {}};
    if (body.shape->unbounded()) body.boundary = BoundaryKind::field;
    if (given.motion == BodyMotion::dynamic) {
        const Shape::Mass m = body.shape->mass(given.density);
        if (!(m.mass > 0 && std::isfinite(1 / m.mass)))
            throw Error(ErrorKind::bad_value, "expected a body with a mass, found none", {.field = path + "/density"});
        body.inverse_mass = 1 / m.mass;
        body.centre = m.centre;
        body.inertia = m.inertia;
        body.inverse_inertia = m.inertia.inverse();
        body.dynamic = static_cast<int>(load_.size());
        load_.emplace_back();
    }
    if (body.boundary == BoundaryKind::particles) {
        take_samples(body, kernel, calibration);
    } else if (body.boundary == BoundaryKind::ghosts) {
        body.samples = body.shape->sample_inside(spacing_, reach_);
        body.volumes.assign(body.samples.size(), static_cast<float>(std::pow(spacing_, dimension_)));
    }
    return body;
}

void Solids::take_samples(Body& body, const Kernel& kernel, double calibration) const {
    body.samples = body.shape->sample_surface(spacing_, sample_depth * kernel.support());
    std::vector<Vec3f> x;
    for (const Vector& p : body.samples) x.push_back(plain_float(p));
    CellIndex<3, float> index({.radius = static_cast<float>(kernel.support())});
    index.build(x);
    NeighborList near;
    index.find_neighbors(near, {.distances = DistanceKind::distance});
    for (std::size_t k = 0; k < x.size(); ++k) {
        double sum = kernel.value(0);
        for (const float r : near.distances<float>(k)) sum += kernel.value(double{r});
        body.volumes.push_back(static_cast<float>(1 / (calibration * sum)));
    }
    double all = 0;
    for (const float v : body.volumes) all += double{v};
    const double most = largest_part * body.shape->mass(1).mass;
    if (all > most)
        for (float& v : body.volumes) v *= static_cast<float>(most / all);
}

void Solids::set_up(const Scene& scene, const Kernel& kernel, double reach, double calibration, Executor* executor) {
    QUADRAT_ASSERT(bodies_.empty() && reach > 0 && calibration > 0);
    dimension_ = scene.dimension;
    reach_ = reach;
    domain_ = scene.domain.box;
    leaving_ = Leaving(scene);
    for (int k = 0; k < dimension_; ++k)
        if (scene.domain.periodic[static_cast<std::size_t>(k)]) period_[k] = domain_.hi[k] - domain_.lo[k];
    spacing_ = scene.spacing;
    executor_ = executor;
    for (int k = 0; k < dimension_; ++k)
        far_ = std::max({far_, 1e4 * std::abs(scene.domain.box.lo[k]), 1e4 * std::abs(scene.domain.box.hi[k])});
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const RigidBody& b = scene.bodies[i];
        Body body = make_body(b, "/bodies/" + std::to_string(i), kernel, calibration);
        BodyPose pose = {b.position, b.orientation, b.velocity, b.angular_velocity};
        if (b.motion == BodyMotion::fixed) pose.velocity = pose.angular_velocity = {};
        body.before = pose;
        poses.push_back(pose);
        bodies_.push_back(std::move(body));
    }
    const bool edges_meet =
        std::any_of(bodies_.begin(), bodies_.end(), [](const Body& b) { return !b.shape->convex(); });
    for (Body& body : bodies_) set_points(body, edges_meet);
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
        wrap(i);
        const Box3d box = world_box(i, poses[i], 0);
        for (int k = 0; k < 3; ++k)
            if (period_[k] > 0 && std::isfinite(box.hi[k]) && box.hi[k] - box.lo[k] > period_[k] * (1 + 1e-9))
                throw Error(ErrorKind::bad_value, "is longer than the period of axis " + std::to_string(k),
                            {.field = "/bodies/" + std::to_string(i)});
    }
    refuse_overlap();
    moved_ = true;
}

Box3d Solids::world_box(std::size_t i, const BodyPose& pose, double margin) const {
    QUADRAT_ASSERT(i < bodies_.size() && margin >= 0);
    const Box3d& b = bodies_[i].shape->bounds();
    if (std::isinf(b.hi[0])) return b;
    const Vector lo = vector(b.lo), hi = vector(b.hi);
    const Vector middle = vector(pose.position) + turn(pose) * Vector(0.5 * (lo + hi));
    const Matrix3d r = turn(pose).toRotationMatrix();
    const Vector half = r.cwiseAbs() * Vector(0.5 * (hi - lo)) + Vector::Constant(margin);
    return {plain(middle - half), plain(middle + half)};
}

std::vector<Image> Solids::images(std::span<const Box3d> boxes, double margin) const {
    std::vector<Image> out;
    for (std::uint32_t i = 0; i < boxes.size(); ++i) {
        out.push_back({i, Vector::Zero()});
        if (period_.isZero() || std::isinf(boxes[i].hi[0])) continue;  // planes have none
        for (int c = 0; c < 27; ++c) {
            const int step[3] = {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1};
            Vector shift;
            bool near = c != 13;
            for (int k = 0; k < 3; ++k) {
                shift[k] = step[k] * period_[k];
                near =
                    near && (step[k] == 0 || (period_[k] > 0 && boxes[i].hi[k] + shift[k] >= domain_.lo[k] - margin &&
                                              boxes[i].lo[k] + shift[k] <= domain_.hi[k] + margin));
            }
            if (near) out.push_back({i, shift});
        }
    }
    return out;
}

std::vector<Image> Solids::images(double margin) const {
    std::vector<Box3d> boxes;
    for (std::size_t i = 0; i < bodies_.size(); ++i) boxes.push_back(world_box(i, poses[i], 0));
    return images(boxes, margin);
}

double Solids::distance(const Image& image, const Vector& x, double reach) const {
    return bodies_[image.body].shape->deep_distance(in_frame(poses[image.body], x - image.shift), reach).value;
}

bool Solids::between(const Image& image, const Vector& a, const Vector& b) const {
    const BodyPose& pose = poses[image.body];
    return bodies_[image.body]
        .shape->entry(in_frame(pose, a - image.shift), in_frame(pose, b - image.shift))
        .has_value();
}

// Brings the centre of a body back into the domain along periodic axes.
void Solids::wrap(std::size_t i) {
    if (period_.isZero() || bodies_[i].shape->unbounded()) return;
    const Vector centre = bodies_[i].world_centre(poses[i]);
    for (int k = 0; k < 3; ++k) {
        if (period_[k] == 0) continue;
        const double shift = period_[k] * std::floor((centre[k] - domain_.lo[k]) / period_[k]);
        poses[i].position[k] -= shift;
        bodies_[i].before.position[k] -= shift;
    }
}

Vector Solids::velocity_at(std::uint32_t i, const Vector& point) const {
    const BodyPose& p = poses[i];
    return vector(p.velocity) + vector(p.angular_velocity).cross(point - bodies_[i].world_centre(p));
}

void Solids::place_samples() {
    samples_.clear();
    sample_x_.clear();
    for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
        const Quaterniond q = turn(poses[i]);
        for (std::size_t k = 0; k < bodies_[i].samples.size(); ++k) {
            const Vector x = vector(poses[i].position) + q * bodies_[i].samples[k];
            samples_.push_back({plain_float(x), plain_float(velocity_at(i, x)), bodies_[i].volumes[k], i});
            sample_x_.push_back(samples_.back().position);
        }
    }
}

// Hashes of the bodies' images and of their samples, at the present poses.
void Solids::index_near(double reach) {
    place_samples();
    std::vector<Box3d> boxes;
    for (std::size_t i = 0; i < bodies_.size(); ++i) boxes.push_back(world_box(i, poses[i], reach));
    near_images_ = images(boxes, 0);
    std::vector<Box3d> placed;
    for (const Image& m : near_images_)
        placed.push_back({plain(vector(boxes[m.body].lo) + m.shift), plain(vector(boxes[m.body].hi) + m.shift)});
    near_hash_.build(placed);
    moved_ = false;
    if (samples_.empty()) return;
    if (!sample_index_) {
        CellIndex<3, float>::Options options;
        options.radius = static_cast<float>(reach);
        options.executor = executor_;
        if (!period_.isZero()) {
            options.periodic = Periodic<3, float>::orthorhombic(plain_float(period_));
            options.periodic.origin = plain_float(vector(domain_.lo));
        }
        sample_index_.emplace(options);
    }
    sample_index_->build(sample_x_);
}

// Fields that reach a particle, and whether a body with samples may.
void Solids::look_near(std::uint32_t particle, const Vector& x, double reach, std::vector<std::uint32_t>& scratch,
                       Found& found) const {
    near_hash_.find(plain(x), scratch);
    std::sort(scratch.begin(), scratch.end());
    bool sampled = false;
    const std::size_t first = found.fields.size();
    for (const std::uint32_t number : scratch) {
        const auto& [b, shift] = near_images_[number];
        if (bodies_[b].boundary != BoundaryKind::field) {
            sampled = true;
            continue;
        }
        const Quaterniond q = turn(poses[b]);
        const Shape::Distance d =
            bodies_[b].shape->distance(q.conjugate() * (x - shift - vector(poses[b].position)), reach);
        if (d.value < reach) found.fields.push_back({d.value, plain(q * d.normal), b, plain(shift)});
    }
    if (sampled) found.particles.push_back(particle);
    if (found.fields.size() > first) {
        found.field_particles.push_back(particle);
        found.field_ends.push_back(found.fields.size());
    }
}

// Copies the samples near each query beside each other.
void Solids::gather_samples(std::span<const Vec3f> queries) {
    QUADRAT_ASSERT(sample_index_ && sample_begin_.size() == 1);
    sample_index_->find_neighbors(queries, rows_);
    for (std::size_t k = 0; k < queries.size(); ++k) sample_begin_.push_back(sample_begin_.back() + rows_[k].size());
    near_samples_.resize(sample_begin_.back());
    base::parallel_for(executor_, queries.size(), chunk, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            Sample* to = near_samples_.data() + sample_begin_[k];
            for (const std::uint32_t b : rows_[k]) *to++ = samples_[b];
        }
    });
}

void Solids::find_near(std::span<const Vec3f> x, double reach) {
    QUADRAT_ASSERT(reach > 0);
    if (bodies_.empty()) return;
    if (moved_ ||
        std::any_of(bodies_.begin(), bodies_.end(), [](const Body& b) { return b.motion != BodyMotion::fixed; }))
        index_near(reach);
    const std::size_t chunks = base::chunk_count(x.size(), chunk);
    std::vector<Found> found(chunks);
    base::run_tasks(executor_, chunks, [&](std::size_t c) {
        std::vector<std::uint32_t> near;
        for (std::size_t i = c * chunk; i < std::min(x.size(), (c + 1) * chunk); ++i)
            look_near(static_cast<std::uint32_t>(i), vector(x[i]), reach, near, found[c]);
    });
    row_.assign(x.size(), 0);
    field_row_.assign(x.size(), 0);
    field_begin_.assign(1, 0);
    near_fields_.clear();
    near_samples_.clear();
    sample_begin_.assign(1, 0);
    std::vector<Vec3f> queries;
    std::uint32_t field_rows = 0;
    for (const Found& f : found) {
        if (sample_index_)
            for (const std::uint32_t i : f.particles) {
                queries.push_back(x[i]);
                row_[i] = static_cast<std::uint32_t>(queries.size());
            }
        const std::size_t base = near_fields_.size();
        for (std::size_t k = 0; k < f.field_particles.size(); ++k) {
            field_row_[f.field_particles[k]] = ++field_rows;
            field_begin_.push_back(base + f.field_ends[k]);
        }
        near_fields_.insert(near_fields_.end(), f.fields.begin(), f.fields.end());
    }
    if (!queries.empty()) gather_samples(queries);
}

void Solids::react(const Sample& b, const Vec3f& force, std::vector<Wrench>& to) const {
    QUADRAT_ASSERT(to.size() == load_.size());
    const int d = bodies_[b.body].dynamic;
    if (d >= 0) to[static_cast<std::size_t>(d)].add(vector(b.position), -vector(force));
}

void Solids::react(const FieldHit& f, const Vec3f& x, const Vec3f& force, std::vector<Wrench>& to) const {
    QUADRAT_ASSERT(to.size() == load_.size());
    const int d = bodies_[f.body].dynamic;
    if (d >= 0) to[static_cast<std::size_t>(d)].add(f.foot(x), -vector(force));
}

void Solids::add_forces(const std::vector<Wrench>& part) {
    QUADRAT_ASSERT(part.size() == load_.size());
    for (std::size_t k = 0; k < load_.size(); ++k) load_[k].force += part[k].force, load_[k].torque += part[k].torque;
}

void Solids::candidates(const Vector& from, const Vector& to, std::vector<std::uint32_t>& out) const {
    path_hash_.find(Segment<3, double>{plain(from), plain(to)}, out);
    std::sort(out.begin(), out.end());
}

}  // namespace quadrat::simulation
