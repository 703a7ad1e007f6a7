// Cloth as a part of the scene: sheets that advance by their own fixed step, that the fluid cannot pass and pushes, and
// that drape over the bodies. Between its steps a sheet stands still for the fluid; when it moves, the particles stand
// still. Both are decided by the exact continuous test of ccd, so that no particle passes in either.
//
// Bodies that can move get back what they gave the sheet in its step, at most so much that they stop and then rise no
// faster than they would fall: a sheet carries them, and throws none.
//
// A sheet may be much lighter than the fluid on it (docs/decisions/0079-light-cloth-in-water.md). Impulses are
// therefore exchanged one after the other, each with the velocities that the last one left: each takes energy away,
// however many particles share a vertex. And the fluid that touches a sheet takes part in its step as added mass, and
// gets the change of velocity that tension gave.
//
// The room of cloth: the step and the checkpoint use Cloths through this header and nothing else of the room.
#pragma once

#include <quadrat/ccd/impact.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/simulation/cloth.hpp>
#include <quadrat/simulation/simulation.hpp>

#include "simulation/solids/solids.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

/// A particle that touches a sheet.
struct ClothTouch {
    std::uint32_t particle, sheet, triangle;
    std::array<double, 3> weight;  ///< of the corners
    Vector normal;                 ///< to the particle's side
};

class Cloths {
  public:
    /// No step of a sheet is longer than `longest_step`.
    void set_up(const Scene& scene, const Solids& solids, double spacing, double longest_step, Executor* executor);
    [[nodiscard]] bool empty() const { return sheets_.empty(); }
    [[nodiscard]] ClothSurface surface(std::size_t number) const {
        return {sheets_.at(number).cloth.triangles(), sheets_.at(number).cloth.positions()};
    }

    /// The largest speed of a vertex, m / s.
    [[nodiscard]] double fastest() const;

    /// Keeps the path of particle i on its side and notes what it touches.
    void stop(std::uint32_t i, const Vec3f& from, Vec3f& x, std::vector<ClothTouch>& touches,
              std::vector<std::uint32_t>& scratch) const;
    /// Exchanges impulses where particles and sheets approach. `mass` is that of each particle.
    void respond(const std::vector<ClothTouch>& touches, std::span<Vec3f> v, std::span<const float> mass, double dt);
    /// Makes the steps that are due until `time`, with the fluid that touches as a load, and takes particles along that
    /// a sheet would pass. Returns how many those were.
    std::uint64_t advance(double time, Solids& solids, const std::vector<ClothTouch>& touches, std::span<Vec3f> x,
                          std::span<Vec3f> v, std::span<const float> mass);

    template <class Fn>
    void archive(Fn&& fn) {
        for (Sheet& s : sheets_) {
            std::vector<std::vector<Vec3d>> state = s.state();
            fn(s.time, state);
            s.restore(state);
        }
        build();
    }

  private:
    struct Sheet {
        Cloth cloth;
        double step, time = 0;
        double restitution, friction, skin;
        double density;  // kg / m^2
        std::vector<double> mass;
        std::vector<std::uint32_t> obstacles;  // of each body; none: has no surface
        std::vector<std::vector<Vec3d>> obstacle_shapes;

        [[nodiscard]] Vector velocity_at(const ClothTouch& c) const;
        [[nodiscard]] std::vector<std::vector<Vec3d>> state() const;
        void restore(const std::vector<std::vector<Vec3d>>& state);
    };
    struct Face {
        std::uint32_t sheet, triangle;
    };
    void build();
    [[nodiscard]] FourPoints corners(const Face& f, const Vec3d& x) const;
    void bear(std::uint32_t number, Solids& solids) const;
    void move_sheet(std::uint32_t number, const Solids& solids, const std::vector<ClothTouch>& touches,
                    std::span<Vec3f> v, std::span<const float> mass);
    std::vector<ClothTouch> sweep(std::uint32_t number, std::span<const Vec3d> before, std::span<Vec3f> x) const;

    std::vector<Sheet> sheets_;
    std::vector<Face> faces_;
    std::vector<Box3d> boxes_;
    Box3d bounds_ = {};  // of all of them
    Vector gravity_ = Vector::Zero();
    Executor* executor_ = nullptr;
    HierarchicalHash<3, double> hash_;
};

}  // namespace quadrat::simulation
