// Cloth as a part of the scene: sheets that advance by their own fixed step, that the fluid cannot pass and pushes, and
// that drape over the bodies. Between its steps a sheet stands still for the fluid; when it moves, the particles stand
// still. Both are decided by the exact continuous test of ccd, so that no particle passes in either.
#pragma once

#include <quadrat/ccd/impact.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/simulation/cloth.hpp>
#include <quadrat/simulation/simulation.hpp>

#include "simulation/bodies.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::simulation {

/// An impulse on a vertex of a sheet.
struct ClothPush {
    std::uint32_t sheet, vertex;
    Vector impulse;
};

class Cloths {
  public:
    void set_up(const Scene& scene, const Solids& solids, double spacing, Executor* executor);
    [[nodiscard]] bool empty() const { return sheets_.empty(); }
    [[nodiscard]] ClothSurface surface(std::size_t number) const {
        return {sheets_.at(number).cloth.triangles(), sheets_.at(number).cloth.positions()};
    }

    /// Keeps the path of a particle on its side; returns whether it met a sheet.
    bool stop(const Vec3f& from, Vec3f& x, Vec3f& v, double mass, double dt, std::vector<ClothPush>& pushes,
              std::vector<std::uint32_t>& scratch) const;
    void push(const std::vector<ClothPush>& pushes);
    /// Makes the steps that are due until `time`, and takes particles along that a sheet would pass.
    std::uint64_t advance(double time, const Solids& solids, std::span<Vec3f> x, std::span<Vec3f> v);

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
        std::vector<double> mass;
        std::vector<std::uint32_t> obstacles;  // of each body; none: has no surface
        std::vector<std::vector<Vec3d>> obstacle_shapes;

        [[nodiscard]] std::vector<std::vector<Vec3d>> state() const;
        void restore(const std::vector<std::vector<Vec3d>>& state);
    };
    struct Face {
        std::uint32_t sheet, triangle;
    };
    void build();
    [[nodiscard]] FourPoints corners(const Face& f, const Vec3d& x) const;

    std::vector<Sheet> sheets_;
    std::vector<Face> faces_;
    std::vector<Box3d> boxes_;
    HierarchicalHash<3, double> hash_;
};

}  // namespace quadrat::simulation
