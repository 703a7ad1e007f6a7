// Queries against a Hierarchy: what holds a point, what overlaps a box or sphere, what a segment or ray meets, what it
// meets first, and what is nearest. Everything goes through Hierarchy::for_each_near(), which visits all stores.
#pragma once

#include "broad_phase/hierarchy.hpp"

namespace quadrat::broad_phase {

template <int D, class T>
class Queries {
  public:
    using Slots = std::vector<std::uint32_t>;
    /// An object, and how far away it is in multiples of the direction, or as a length.
    struct Nearest {
        std::uint32_t slot;
        double distance;
    };

    explicit Queries(const Hierarchy<D, T>& hierarchy) : h_(hierarchy) {}

    /// Each refills `out` with the slots of what meets the shape, each once. Throws bad_value for a bad shape.
    void find(const Box<D, T>& box, Slots& out) const;
    void find(const Sphere<D, T>& sphere, Slots& out) const;
    void find(const Segment<D, T>& segment, Slots& out) const;
    void find(const Ray<D, T>& ray, Slots& out) const;

    /// Ties go to the smaller slot.
    [[nodiscard]] std::optional<Nearest> closest_hit(const Ray<D, T>& ray) const;
    [[nodiscard]] std::optional<Nearest> nearest(const Vec<D, T>& point) const;

  private:
    [[nodiscard]] int piece_count(const double (&extent)[D]) const;
    [[nodiscard]] int piece_count(const Ray<D, T>& ray) const;

    const Hierarchy<D, T>& h_;
};

}  // namespace quadrat::broad_phase
