// What touches what, the production structure: a hierarchy of grids after Schornbaum 2009 (HHG). Objects that come and
// go or move in bulk are kept sorted by cell in one contiguous grid per class of sizes; objects that are edited one by
// one live in the paper's own hash grids until the next bulk update; infinite objects are in a global list.
#pragma once

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/broad_phase/pair_events.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace quadrat {

/// A set of boxes (or spheres) that can be asked for all overlapping pairs. Overlap is closed: boxes that touch
/// overlap. The one to take by default; KeptPairs may be faster for scenes that are nearly at rest, BruteForce for a
/// few dozen boxes. Holds a copy of the boxes, some 100 bytes for each of float in 3D. Compiled for D = 2, 3 and T =
/// float, double.
///
///     HashGridHierarchy<3, float> grid;
///     grid.insert(std::span<const Box3f>(boxes));  // box i is slot i
///     std::vector<Pair> pairs;
///     grid.find_pairs(pairs);
///
/// An object has a slot, which is its number in pairs and in update(), and an Id, which is the slot and a generation:
/// slots of erased objects are used again, ids are not. Slots do not change while an object is there.
///
/// Thread safety: all const members may be called concurrently with each other, and with no other member. Errors leave
/// the structure as it was. One that was moved from can be assigned to or destroyed.
template <int D, class T>
class HashGridHierarchy {
  public:
    using Options = HashGridOptions;

    /// An empty set. Throws bad_value naming an option that is out of its range.
    explicit HashGridHierarchy(const Options& options = {});
    ~HashGridHierarchy();
    HashGridHierarchy(HashGridHierarchy&&) noexcept;
    HashGridHierarchy& operator=(HashGridHierarchy&&) noexcept;

    /// Adds one box and returns its id. Constant time, amortised: when many objects were edited one by one, one edit
    /// sorts everything again.
    /// box: no NaN, lo <= hi, or bad_value is thrown; bounds may be infinite.
    /// filter: whom it may meet. Default: everyone with the default. Throws too_large beyond 2^32 - 2 objects.
    Id insert(const Box<D, T>& box, Filter filter = {});
    /// The same for a half-space; one that is not aligned to an axis overlaps every box that reaches into it. Each
    /// costs a test with every object when pairs are found. Two half-spaces overlap unless their normals are opposite
    /// and there is room between them. Decided in double, by a sum over the axes. half_space: finite, with a normal
    /// that is not zero and of any length, or bad_value is thrown.
    Id insert(const HalfSpace<D, T>& half_space, Filter filter = {});
    /// The same for a sphere, see insert(span of spheres).
    /// sphere: finite, radius >= 0, or bad_value is thrown.
    Id insert(const Sphere<D, T>& sphere, Filter filter = {});

    /// Adds boxes at consecutive slots and returns the first, which follows the last slot in use: in a structure
    /// without objects box i gets slot i. Cost: one bulk update of all objects; where at most a sixteenth as many come
    /// as there are, that of single inserts. boxes: as for one box; the error names the index of the first bad one.
    std::uint32_t insert(std::span<const Box<D, T>> boxes);
    /// The same; refills `ids` with the id of each.
    void insert(std::span<const Box<D, T>> boxes, std::vector<Id>& ids);
    /// Adds bounding spheres: pairs are then those whose spheres overlap, |a - b|^2 <= (ra + rb)^2, also between two
    /// sets of spheres. For everything else (queries, and pairs with a set of boxes) a sphere counts as its box, a few
    /// roundings wider than the sphere. Not mixed with boxes or half-spaces: calls that would mix throw bad_shape.
    std::uint32_t insert(std::span<const Sphere<D, T>> spheres);

    /// Removes one object in constant time (amortised). Its id is stale from now on, its slot may be given to another.
    /// Throws stale_id if it is not there.
    void erase(Id id);
    /// Gives one object a new box in constant time (amortised); a half-space becomes that box. Its id stays. Throws
    /// stale_id if it is not there, and what insert throws.
    void move(Id id, const Box<D, T>& box);
    /// The same for a sphere of a set of spheres; bad_shape in a set of boxes.
    void move(Id id, const Sphere<D, T>& sphere);
    /// Removes many. Cost: of single ones. Throws stale_id, naming the position of the first id that is not there or is
    /// named for the second time, and nothing has changed then.
    void erase(std::span<const Id> ids);
    /// Moves many: of an id that is named more than once the last box counts. Cost: of single moves where they are at
    /// most a sixteenth of what does not rest, otherwise of a bulk update of what does not rest.
    /// ids: as for erase, but for those named twice. boxes: one per id, or bad_shape; bad_value names the first bad
    /// one.
    void move(std::span<const Id> ids, std::span<const Box<D, T>> boxes);

    /// Puts objects to rest, such as walls and bodies that sleep: pairs of two objects at rest are not found any more,
    /// and the next bulk updates pass over them, so that a step costs what the others cost. They are sorted once, when
    /// they are many. Queries and pairs of two sets see them as before. Those that rest already stay so. Half-spaces
    /// and infinite boxes may rest, too. ids: as for erase, but for those named twice. Cost: none until the next bulk
    /// update sorts what has come to rest.
    void rest(std::span<const Id> ids);
    /// Wakes objects where they are. So does move(), for an object whose box is new. Cost: one pass over all that rest
    /// and an insert for each, so wake many at once. ids: as for rest().
    void wake(std::span<const Id> ids);
    /// Whether the object is there and rests.
    [[nodiscard]] bool resting(Id id) const;

    /// Moves everything. Ids stay. Cost: linear, some nanoseconds per object (UpdateStrategy::sorted).
    /// boxes: boxes[i] is the new box of slot i; entries of erased slots, of half-spaces and of what rests, which stay,
    /// are ignored and may be anything. boxes.size() == slots(), or bad_shape is thrown; bad_value names the first bad
    /// box.
    void update(std::span<const Box<D, T>> boxes);
    /// The same for a set of spheres; bad_shape for a set of boxes that is not empty.
    void update(std::span<const Sphere<D, T>> spheres);
    /// Sets the filter of one object, at once. Throws stale_id.
    void set_filter(Id id, Filter filter);
    /// Removes all objects and gives their memory back; their ids are stale. Slots begin at 0 again, and the set may
    /// hold boxes or spheres.
    void clear();

    /// Refills `out` with every overlapping pair of slots whose filters allow it and which do not both rest, each once,
    /// first < second, in an order that depends on the calls made so far and not on the number of threads. Keeps the
    /// capacity of `out`. Linear in objects and pairs for boxes that do not crowd. Throws too_large beyond max_bytes,
    /// with `out` empty.
    void find_pairs(std::vector<Pair>& out) const;
    /// Calls fn(Pair) for each of them on the caller's thread, in the same order, storing one chunk at a time. fn may
    /// throw, which ends the search, and must not change the structure.
    template <class Fn>
    void for_each_pair(Fn&& fn) const {
        visit_pairs(
            [](void* f, std::span<const Pair> pairs) {
                for (const Pair& p : pairs) (*static_cast<std::remove_reference_t<Fn>*>(f))(p);
            },
            const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// Finds the pairs and compares them with those of the time before, in one pass: which began, went on and ended, by
    /// ids. Costs one access to memory per pair more than find_pairs, and a pass over all slots. The pairs are found on
    /// the executor and compared on the caller's thread.
    /// events: of this hierarchy alone, or new. Throws too_large beyond max_bytes, and stopped; it is then as after
    /// clear().
    void find_events(PairEvents& events) const;

    /// The same in chunks, concurrently on the executor: fn(std::span<const Pair>), never with an empty span. Chunks
    /// and their order inside are fixed; which is called when is not. fn is called by several threads at once.
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
    /// The same into `out`; max_bytes counts what is kept.
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

    /// Each refills `out` with slots, each once, in no particular order, whatever their filters. Keeps its capacity.
    /// Cost: the cells that the shape covers, and a test of every object that is unbounded. What is said of boxes holds
    /// for half-spaces in the set, too.
    ///
    /// Boxes that hold the point. Throws bad_value if it is not finite.
    void find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const;
    /// Boxes that overlap the box, which may be infinite. Throws bad_value for NaN or hi < lo.
    void find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const;
    /// Boxes whose nearest point is at most the radius away from the centre. Throws bad_value for a radius below 0 or
    /// NaN, and for a centre that is not finite.
    void find(const Sphere<D, T>& sphere, std::vector<std::uint32_t>& out) const;
    /// Boxes that have a point of the segment, its ends included. Throws bad_value if an end is not finite.
    void find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const;
    /// Boxes that the ray enters within its length, which may be infinite. Throws bad_value for a length below 0 or
    /// NaN, and for an origin or direction that is not finite.
    void find(const Ray<D, T>& ray, std::vector<std::uint32_t>& out) const;

    /// Many queries in one call: fn(i, slots) with what find() gives for query i, once for each, on the caller's
    /// thread. They are taken in the order of their cells, which is about two times faster than an order by chance once
    /// the boxes do not fit the second-level cache. Throws bad_value naming the first bad query before fn is called.
    template <class Fn>
    void find_each(std::span<const Box<D, T>> boxes, Fn&& fn) const {
        visit_hits(boxes, call<Fn>, const_cast<void*>(static_cast<const void*>(&fn)));
    }
    /// The same for segments.
    template <class Fn>
    void find_each(std::span<const Segment<D, T>> segments, Fn&& fn) const {
        visit_hits(segments, call<Fn>, const_cast<void*>(static_cast<const void*>(&fn)));
    }

    /// The same for points, boxes, spheres, segments or rays on the executor's threads: row i of `out` is what find()
    /// gives for query i, in the same order for any number of threads. Throws as find(), naming no index, too_large
    /// if offsets and slots are more than max_bytes, and stopped; `out` is then empty.
    void find_all(std::span<const Vec<D, T>> points, QueryRows& out, const QueryOptions& options = {}) const;
    void find_all(std::span<const Box<D, T>> boxes, QueryRows& out, const QueryOptions& options = {}) const;
    void find_all(std::span<const Sphere<D, T>> spheres, QueryRows& out, const QueryOptions& options = {}) const;
    void find_all(std::span<const Segment<D, T>> segments, QueryRows& out, const QueryOptions& options = {}) const;
    void find_all(std::span<const Ray<D, T>> rays, QueryRows& out, const QueryOptions& options = {}) const;

    /// find() of what the options allow. shape: as for find().
    template <class Shape>
    void find(const Shape& shape, std::vector<std::uint32_t>& out, const QueryOptions& options) const {
        find(shape, out);
        keep_allowed(out, options);
    }
    /// The slot of some object that overlaps the box; nothing if there is none. Ends at the first that it finds, which
    /// is the same one for the same history of calls: for "is this place free?". Throws as find(box).
    [[nodiscard]] std::optional<std::uint32_t> find_any(const Box<D, T>& box, const QueryOptions& options = {}) const;

    /// The one object that a query asks for.
    struct Hit {
        std::uint32_t slot;  ///< of the object
        T distance;          ///< along the ray or the motion in multiples of it; from the point for nearest()
    };
    /// The first box that the ray enters (distance 0 if it starts inside); ties go to the smaller slot. Nothing if it
    /// enters none within its length. The search ends behind the first hit; a ray without an end may look at everything
    /// on its side of the world, so give it the length that you need. Throws as find(ray).
    [[nodiscard]] std::optional<Hit> closest_hit(const Ray<D, T>& ray, const QueryOptions& options = {}) const;
    /// Refills `out` with closest_hit() of each ray, on the executor's threads.
    void closest_hits(std::span<const Ray<D, T>> rays, std::vector<std::optional<Hit>>& out,
                      const QueryOptions& options = {}) const;
    /// The box nearest to the point (distance 0 if it holds it); ties go to the smaller slot. Nothing only without
    /// objects. Throws bad_value if the point is not finite.
    [[nodiscard]] std::optional<Hit> nearest(const Vec<D, T>& point, const QueryOptions& options = {}) const;
    /// Refills `out` with the `count` nearest, by distance and then by slot; fewer only if there are fewer.
    void nearest(const Vec<D, T>& point, std::size_t count, std::vector<Hit>& out,
                 const QueryOptions& options = {}) const;
    /// Refills `out` with nearest() of each point, on the executor's threads.
    void nearest(std::span<const Vec<D, T>> points, std::vector<std::optional<Hit>>& out,
                 const QueryOptions& options = {}) const;

    /// The first box that a box meets on its way (a shape cast, with the time of impact): distance is the share of the
    /// motion, 0 to 1, after which they touch, 0 where they overlap at the start. Ties go to the smaller slot; nothing
    /// if it meets none. Decided in double. Throws bad_value for an infinite box or a motion that is not finite.
    [[nodiscard]] std::optional<Hit> cast(const Box<D, T>& box, const Vec<D, T>& motion,
                                          const QueryOptions& options = {}) const;
    /// The same for a sphere, which meets a box where it is nearest. Throws as find(sphere), too.
    [[nodiscard]] std::optional<Hit> cast(const Sphere<D, T>& sphere, const Vec<D, T>& motion,
                                          const QueryOptions& options = {}) const;

    /// Number of slots, erased ones included: the length of the span that update() wants.
    [[nodiscard]] std::size_t slots() const;
    /// Number of objects.
    [[nodiscard]] std::size_t size() const;
    /// Whether the object is there; false for a stale or null id.
    [[nodiscard]] bool contains(Id id) const;
    /// The id of the object at a slot; null for a slot that is empty or does not exist.
    [[nodiscard]] Id id(std::uint32_t slot) const;
    /// What the structure holds. Cost: a few lookups per grid.
    [[nodiscard]] BroadPhaseStats stats() const;

    /// Refills `out` with every overlapping pair (slot of a, slot of b) whose filters allow it. Throws too_large beyond
    /// the smaller max_bytes of the two. Runs on the executor of a, or of b if a has none, and follows the watch of a;
    /// the order depends on the calls made so far and not on the number of threads. Pairs inside each of the two are
    /// not looked for.
    friend void find_pairs(const HashGridHierarchy& a, const HashGridHierarchy& b, std::vector<Pair>& out) {
        find_between(a, b, out);
    }

  private:
    // The visitors above reach the compiled library as a function pointer and a context.
    struct Impl;
    using PairVisitor = void (*)(void* context, std::span<const Pair> pairs);
    void visit_pairs(PairVisitor visit, void* context) const;
    void visit_chunks(PairVisitor visit, void* context) const;
    static void find_between(const HashGridHierarchy& a, const HashGridHierarchy& b, std::vector<Pair>& out);
    /// Throws too_large, with `out` empty, if so many pairs are more than max_bytes allow.
    void check_size(std::size_t count, std::vector<Pair>& out) const;
    [[nodiscard]] std::size_t most_pairs() const;
    void keep_allowed(std::vector<std::uint32_t>& slots, const QueryOptions& options) const;
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
