// The room of the solids, as the others see it: bodies, their samples near the fluid (Akinci et al. 2012, "Versatile
// rigid-fluid coupling for incompressible SPH"), and rigid motion with contacts. What a body looks like is in
// shape.hpp.
#pragma once

#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/simulation/kernels.hpp>
#include <quadrat/simulation/scene.hpp>

#include "base/assert.hpp"
#include "simulation/scene/leaving.hpp"
#include "simulation/solids/frames.hpp"
#include "simulation/solids/shape.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quadrat::simulation {

/// A boundary particle near a fluid particle, in the world.
struct Sample {
    Vec3f position, velocity;
    float volume;
    std::uint32_t body;
};

/// The nearest place of a body that is a distance field.
struct FieldHit {
    double distance;  ///< negative inside
    Vec3d normal;     ///< out of the body
    std::uint32_t body;
    Vec3d shift;  ///< of the image that is near: the body itself is this much less far along periodic axes
    /// The place on the body itself.
    [[nodiscard]] Vector foot(const Vec3f& x) const { return vector(x) - vector(shift) - distance * vector(normal); }
};

/// A body, or what a periodic axis makes of it.
struct Image {
    std::uint32_t body;
    Vector shift;  ///< what to add to its place; multiples of the periods
};

/// A force and its torque about the origin of the world.
struct Wrench {
    Vector force = Vector::Zero(), torque = Vector::Zero();
    void add(const Vector& at, const Vector& f) { force += f, torque += at.cross(f); }
};

struct Body {
    std::unique_ptr<const Shape> shape;
    BodyMotion motion;
    BoundaryKind boundary;
    double restitution, friction;
    double inverse_mass = 0;
    Vector centre = Vector::Zero();  ///< of mass, in the frame
    Matrix3d inertia = Matrix3d::Zero(), inverse_inertia = Matrix3d::Zero();
    std::vector<Vector> samples;  ///< for the fluid
    std::vector<float> volumes;
    std::vector<Vector> points;  ///< that stand for the surface in contacts: corners first
    std::size_t corner_count = 0;
    int dynamic = -1;  ///< number among the dynamic ones
    BodyPose before;

    /// The centre of a sphere, the corners of a box, the vertices of a mesh, in the frame.
    [[nodiscard]] std::span<const Vector> corners() const { return {points.data(), corner_count}; }
    [[nodiscard]] Vector world_centre(const BodyPose& p) const { return vector(p.position) + turn(p) * centre; }
};

/// Whether two bodies share a place deeper than `tolerance`. Planes do not overlap planes.
[[nodiscard]] bool overlap(const Body& a, const BodyPose& pa, const Body& b, const BodyPose& pb, double tolerance,
                           int dimension);

class Solids {
  public:
    std::vector<BodyPose> poses;  ///< now

    /// `reach` is the largest support of a particle. Throws Error if bodies overlap.
    void set_up(const Scene& scene, const Kernel& kernel, double reach, double calibration, Executor* executor);
    [[nodiscard]] bool empty() const { return bodies_.empty(); }
    [[nodiscard]] const std::vector<Body>& bodies() const { return bodies_; }
    [[nodiscard]] std::size_t dynamic_count() const { return load_.size(); }

    /// Finds what is nearer than `reach` to each particle, at the present poses.
    void find_near(std::span<const Vec3f> x, double reach);
    [[nodiscard]] std::span<const Sample> samples_near(std::size_t i) const {
        QUADRAT_ASSERT(row_.empty() || i < row_.size());
        if (row_.empty() || row_[i] == 0) return {};
        return {near_samples_.data() + sample_begin_[row_[i] - 1], sample_begin_[row_[i]] - sample_begin_[row_[i] - 1]};
    }
    [[nodiscard]] std::span<const FieldHit> fields_near(std::size_t i) const {
        QUADRAT_ASSERT(field_row_.empty() || i < field_row_.size());
        if (field_row_.empty() || field_row_[i] == 0) return {};
        return {near_fields_.data() + field_begin_[field_row_[i] - 1],
                field_begin_[field_row_[i]] - field_begin_[field_row_[i] - 1]};
    }
    /// The reaction to a force on a particle.
    void react(const Sample& b, const Vec3f& force, std::vector<Wrench>& to) const;
    void react(const FieldHit& f, const Vec3f& x, const Vec3f& force, std::vector<Wrench>& to) const;
    void add_forces(const std::vector<Wrench>& part);
    /// An impulse acts at once.
    void push(std::uint32_t body, const Vector& at, const Vector& impulse);
    /// The speed along n that a unit impulse along n at a point gives there.
    [[nodiscard]] double ease(std::uint32_t body, const Vector& at, const Vector& n) const;
    /// About the centre, in the axes of the world.
    [[nodiscard]] Matrix3d inverse_inertia(std::size_t body) const;

    /// Lets gravity and the forces added act for dt.
    void accelerate(double dt, const Vector& gravity);
    /// Moves bodies by dt in contact with walls and each other, from `time`. Returns the number of contacts. Throws
    /// Error that names a body if it is not finite or beyond all bounds.
    struct Ground {
        Vector normal;
        double offset, restitution, friction;
    };
    std::uint64_t move(double dt, double time, std::span<const Ground> walls);

    /// The images that the path of a particle may meet during the last move: numbers for path_image.
    void candidates(const Vector& from, const Vector& to, std::vector<std::uint32_t>& out) const;
    [[nodiscard]] const Image& path_image(std::uint32_t number) const { return path_images_[number]; }
    /// Every body, followed by its images that come nearer than `margin` to the domain.
    [[nodiscard]] std::vector<Image> images(double margin) const;
    /// How far a point is from an image of a body: negative inside, at any depth; exact up to `reach`.
    [[nodiscard]] double distance(const Image& image, const Vector& x, double reach) const;
    /// Whether the way from a to b, both outside, leads through an image of a body.
    [[nodiscard]] bool between(const Image& image, const Vector& a, const Vector& b) const;
    [[nodiscard]] Vector velocity_at(std::uint32_t body, const Vector& point) const;

    template <class Fn>
    void archive(Fn&& fn) {
        fn(poses);
        moved_ = true;
    }

  private:
    struct Contact {
        std::uint32_t a, b;    ///< b == none: a wall
        Vector point, normal;  ///< normal from b to a
        double depth, restitution, friction;
        Vector shift;  ///< the point is where a is; for b itself it is this much less far
        double sum = 0;
    };
    struct Near {
        std::uint32_t a, b;
        Vector shift;  ///< of b
    };
    static constexpr std::uint32_t none = 0xffffffffu;

    struct Found {  // of the particles of one task
        std::vector<std::uint32_t> particles, field_particles;
        std::vector<FieldHit> fields;
        std::vector<std::size_t> field_ends;
    };
    void place_samples();
    void index_near(double reach);
    void look_near(std::uint32_t particle, const Vector& x, double reach, std::vector<std::uint32_t>& scratch,
                   Found& found) const;
    void gather_samples(std::span<const Vec3f> queries);
    [[nodiscard]] Body make_body(const RigidBody& given, const std::string& path, const Kernel& kernel,
                                 double calibration);
    void take_samples(Body& body, const Kernel& kernel, double calibration) const;
    [[nodiscard]] Box3d world_box(std::size_t body, const BodyPose& pose, double margin) const;
    void set_points(Body& body, bool edges_meet) const;
    void refuse_overlap() const;
    [[nodiscard]] std::vector<Image> images(std::span<const Box3d> boxes, double margin) const;
    void wrap(std::size_t body);
    [[nodiscard]] std::vector<Near> near_pairs(double margin) const;
    void find_contacts(double margin, std::span<const Ground> walls, std::vector<Contact>& out) const;
    void contacts_of(const Near& pair, double margin, std::vector<Contact>& out) const;
    void contacts_of_boxes(const Near& pair, double margin, std::vector<Contact>& out) const;
    void contacts_between(const Near& pair, double margin, std::vector<Contact>& out) const;
    void solve_contacts(std::vector<Contact>& contacts, double dt);
    void index_paths();
    void rotate(std::size_t body, double dt);
    void check(double dt, double time) const;
    void separate(std::span<const Ground> walls);
    [[nodiscard]] double fastest() const;
    void stop_far_away(BodyPose& pose) const;

    int dimension_ = 3;
    double spacing_ = 0, far_ = 0, reach_ = 0;
    Box3d domain_ = {};
    Vector period_ = Vector::Zero();  // 0: not periodic
    Leaving leaving_;
    double gain_ = 0;  // of speed by gravity in this step
    Executor* executor_ = nullptr;
    std::vector<Body> bodies_;
    std::vector<Wrench> load_;
    bool moved_ = true;

    std::vector<Sample> samples_;  // of all bodies, in the world
    std::vector<Vec3f> sample_x_;
    std::optional<CellIndex<3, float>> sample_index_;
    HierarchicalHash<3, double> near_hash_, path_hash_;
    std::vector<Image> near_images_, path_images_;  // what the hashes hold
    NeighborList rows_;
    std::vector<std::uint32_t> row_, field_row_;  // by particle; 0: none
    std::vector<std::size_t> sample_begin_, field_begin_;
    std::vector<Sample> near_samples_;
    std::vector<FieldHit> near_fields_;
};

}  // namespace quadrat::simulation
