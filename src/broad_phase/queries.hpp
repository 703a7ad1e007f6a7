// Queries against a Hierarchy: what holds a point, what overlaps a box or sphere, what a segment or ray meets, what it
// meets first, what a moving box or sphere meets first, and what is nearest. Everything goes through
// Hierarchy::for_each_near(), which visits all stores.
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

    /// filter: whom the queries for one object may find; null: everything. Those for all objects do not look at it.
    explicit Queries(const Hierarchy<D, T>& hierarchy, const Filter* filter = nullptr)
        : h_(hierarchy), filter_(filter) {}

    /// Each refills `out` with the slots of what meets the shape, each once. Throws bad_value for a bad shape.
    void find(const Box<D, T>& box, Slots& out) const;
    void find(const Sphere<D, T>& sphere, Slots& out) const;
    void find(const Segment<D, T>& segment, Slots& out) const;
    void find(const Ray<D, T>& ray, Slots& out) const;

    /// Ties go to the smaller slot.
    [[nodiscard]] std::optional<Nearest> closest_hit(const Ray<D, T>& ray) const;
    [[nodiscard]] std::optional<Nearest> nearest(const Vec<D, T>& point) const;
    /// The k nearest, by distance and then slot. Refills `out`.
    void nearest(const Vec<D, T>& point, std::size_t k, std::vector<Nearest>& out) const;
    /// What a box or sphere that moves meets first. The shape was checked.
    template <class Shape>
    [[nodiscard]] std::optional<Nearest> cast(const Shape& shape, const Box<D, T>& bounds,
                                              const Vec<D, T>& motion) const;
    /// Any object that overlaps the box, the first that is found.
    [[nodiscard]] std::optional<std::uint32_t> any(const Box<D, T>& box) const;
    /// Takes out what the filter does not allow.
    void keep_allowed(Slots& slots) const;

  private:
    [[nodiscard]] int piece_count(const double (&extent)[D]) const;
    [[nodiscard]] int piece_count(const Ray<D, T>& ray) const;
    [[nodiscard]] bool allows(std::uint32_t slot) const {
        return !filter_ || may_meet(h_.slots.filters()[slot], *filter_);
    }
    template <class Reached, class Offer>
    void search_around(const Vec<D, T>& point, Reached&& reached, Offer&& offer) const;

    const Hierarchy<D, T>& h_;
    const Filter* filter_;
};

}  // namespace quadrat::broad_phase
