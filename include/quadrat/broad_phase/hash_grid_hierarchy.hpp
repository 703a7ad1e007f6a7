// What touches what, the production structure: a hierarchy of grids after Schornbaum 2009 (HHG). Objects that come and
// go or move in bulk are kept sorted by cell in one contiguous grid per class of sizes; objects that are edited one by
// one live in the paper's own hash grids until the next bulk update; infinite objects are in a global list.
#pragma once

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/geometry.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace quadrat {

/// A set of boxes (or spheres) that can be asked for all overlapping pairs. All const members may be called
/// concurrently. Errors leave the structure as it was. One that was moved from can be assigned to or destroyed.
template <int D, class T>
class HashGridHierarchy {
  public:
    using Options = HashGridOptions;

    explicit HashGridHierarchy(const Options& options = {});
    ~HashGridHierarchy();
    HashGridHierarchy(HashGridHierarchy&&) noexcept;
    HashGridHierarchy& operator=(HashGridHierarchy&&) noexcept;

    /// Adds one box in constant time (amortised). Throws bad_value for NaN or hi < lo; infinite bounds are legal.
    Id insert(const Box<D, T>& box, Filter filter = {});
    /// The same for a half-space; one that is not aligned to an axis overlaps every box that reaches into it.
    Id insert(const HalfSpace<D, T>& half_space, Filter filter = {});
    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure
    /// without objects box i gets slot i. Throws bad_value naming the first bad box. Cost: one bulk update.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// Adds bounding spheres: pairs are then those whose spheres overlap, |a - b|^2 <= (ra + rb)^2, also between two
    /// sets of spheres. For everything else (queries, and pairs with a set of boxes) a sphere counts as its box, a few
    /// roundings wider than the sphere. Not mixed with boxes or half-spaces: calls that would mix throw bad_shape.
    std::uint32_t insert(std::span<const Sphere<D, T>> spheres);
    Id insert(const Sphere<D, T>& sphere, Filter filter = {});

    /// Removes one object in constant time (amortised). Throws stale_id if it is not there.
    void erase(Id id);
    /// Gives one object a new box in constant time (amortised); a half-space becomes that box. Throws stale_id.
    void move(Id id, const Box<D, T>& box);
    void move(Id id, const Sphere<D, T>& sphere);

    /// Moves everything: boxes[i] is the new box of slot i; entries of erased slots and of half-spaces, which stay, are
    /// ignored. boxes.size() == slots().
    void update(std::span<const Box<D, T>> boxes);
    void update(std::span<const Sphere<D, T>> spheres);
    /// Sets the filter of one object, at once. Until the next bulk insert or update pairs are then looked at one by
    /// one, which costs a few nanoseconds each.
    void set_filter(Id id, Filter filter);
    void clear();

    /// Refills `out` with every overlapping pair of slots, each once, first < second, in an order that depends on the
    /// calls made so far and not on the number of threads. Keeps the capacity of `out`.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each of them on the caller's thread, in the same order, storing one chunk at a time.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        visit_pairs(
            [](void* f, std::span<const Pair> pairs) {
                for (const Pair& p : pairs) (*static_cast<std::remove_reference_t<Fn>*>(f))(p);
            },
            const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// The same in chunks, concurrently on the executor: fn(std::span<const Pair>). Chunks and their order inside are
    /// fixed; which is called when is not.
    template <class Fn>
    void for_each_chunk(Fn&& fn) const {
        visit_chunks(
            [](void* f, std::span<const Pair> pairs) { (*static_cast<std::remove_reference_t<Fn>*>(f))(pairs); },
            const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// Only the pairs that the caller wants: keep(Pair) -> bool is called on the caller's thread, and what it refuses
    /// is not stored. Group and mask bits (Filter) are tested earlier and cost less.
    template <class Fn, class Keep>
    void for_each_pair(Fn&& fn, Keep&& keep) const {
        for_each_pair([&](const Pair& p) {
            if (keep(p)) fn(p);
        });
    }
    template <class Keep>
    void find_pairs(std::vector<Pair>& out, Keep&& keep) const {
        out.clear();
        std::size_t count = 0;
        const std::size_t most = most_pairs();
        for_each_pair(
            [&](const Pair& p) {
                if (++count <= most) out.push_back(p);
            },
            keep);
        check_size(count, out);
    }

    /// Refills `out` with the slots whose box holds the point / overlaps the box / is nearer to the centre than the
    /// radius / meets the segment or ray. In no particular order, each once.
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    void find(const Sphere<D, T>& sphere, std::vector<std::uint32_t>& out) const;
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;
    void find(const Ray<D, T>& ray, std::vector<std::uint32_t>& out) const;

    /// Many queries in one call: fn(i, slots) with what find() gives for query i, once for each, on the caller's
    /// thread. They are taken in the order of their cells, which is about two times faster than an order by chance once
    /// the boxes do not fit the second-level cache. Throws bad_value naming the first bad query before fn is called.
    template <class Fn>
    void find_each(std::span<const Box<D, T>> boxes, Fn&& fn) const {
        visit_hits(boxes, call<Fn>, const_cast<void*>(static_cast<const void*>(&fn)));
    }
    template <class Fn>
    void find_each(std::span<const Segment<D, T>> segments, Fn&& fn) const {
        visit_hits(segments, call<Fn>, const_cast<void*>(static_cast<const void*>(&fn)));
    }

    struct Hit {
        std::uint32_t slot;
        T distance;  ///< along the ray in multiples of its direction; from the point for nearest()
    };
    /// The first box that the ray enters (distance 0 if it starts inside); ties go to the smaller slot.
    [[nodiscard]] std::optional<Hit> closest_hit(const Ray<D, T>& ray) const;
    /// The box nearest to the point; ties go to the smaller slot. Empty only without objects.
    [[nodiscard]] std::optional<Hit> nearest(const Vec<D, T>& point) const;

    /// Number of slots, erased ones included: the length of the span that update() wants.
    [[nodiscard]] std::size_t slots() const;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool contains(Id id) const;
    [[nodiscard]] Id id(std::uint32_t slot) const;
    [[nodiscard]] BroadPhaseStats stats() const;

    /// Refills `out` with every overlapping pair (slot of a, slot of b).
    friend void find_pairs(const HashGridHierarchy& a, const HashGridHierarchy& b, std::vector<Pair>& out) {
        find_between(a, b, out);
    }

  private:
    struct Impl;
    using PairVisitor = void (*)(void* context, std::span<const Pair> pairs);
    void visit_pairs(PairVisitor visit, void* context) const;
    void visit_chunks(PairVisitor visit, void* context) const;
    static void find_between(const HashGridHierarchy& a, const HashGridHierarchy& b, std::vector<Pair>& out);
    /// Throws too_large, with `out` empty, if so many pairs are more than max_bytes allow.
    void check_size(std::size_t count, std::vector<Pair>& out) const;
    [[nodiscard]] std::size_t most_pairs() const;
    using HitVisitor = void (*)(void*, std::uint32_t, std::span<const std::uint32_t>);
    void visit_hits(std::span<const Box<D, T>> boxes, HitVisitor visit, void* context) const;
    void visit_hits(std::span<const Segment<D, T>> segments, HitVisitor visit, void* context) const;
    template <class Fn>
    static void call(void* fn, std::uint32_t query, std::span<const std::uint32_t> slots) {
        (*static_cast<std::remove_reference_t<Fn>*>(fn))(query, slots);
    }
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
