// What a HashGridHierarchy holds, shared by the files that implement it.
#pragma once

#include "broad_phase/dynamic_grids.hpp"
#include "broad_phase/fine_window.hpp"
#include "broad_phase/half_space_tests.hpp"
#include "broad_phase/pair_kernel.hpp"
#include "broad_phase/query_kernel.hpp"
#include "broad_phase/sorted_grid.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace quadrat {

template <int D, class T>
struct HashGridHierarchy<D, T>::Impl {
    using BoxT = Box<D, T>;

    // Where the truth about a slot is. A record of a sorted grid counts only while its slot is `sorted`: an edit
    // changes the place and leaves the record behind, to be ignored until the next bulk update.
    enum class Place : std::uint8_t { free, sorted, loose, unbounded };

    struct Unbounded {
        std::uint32_t slot;
        BoxT box;
        std::optional<broad_phase::ScaledHalfSpace<D>> half_space;
    };

    explicit Impl(const Options& o) : options(o), loose(o) {}

    /// Whether the record of a slot counts. Slots at the end may have gone, and left their records.
    [[nodiscard]] bool is_sorted(std::uint32_t slot) const {
        return slot < place.size() && place[slot] == Place::sorted;
    }

    Options options;
    std::vector<std::uint32_t> generation;  // of every slot there ever was: old ids stay stale
    std::vector<Place> place;               // of every slot there is
    std::vector<std::uint32_t> free_slots;
    std::vector<std::array<std::uint32_t, 2>> filters;  // empty, or one per slot
    std::vector<Sphere<D, T>> spheres;                  // empty, or one per slot
    std::size_t alive = 0;

    // A grid of the last bulk update; its boxes are in the slabs of `partition` from first_slab on.
    struct Grid {
        broad_phase::GridShape<D, T> shape;
        std::size_t first_slab;
        std::size_t size;
        bool fine;  // pairs inside it are found slab by slab (fine_window.hpp), otherwise in its columns
    };
    std::vector<Grid> grids;      // smallest boxes first
    std::size_t sorted = 0;       // records in the grids
    std::size_t stale = 0;        // of them, records that no longer count
    bool grids_filtered = false;  // the records carry the filters of their slots as they are now
    // What the grids are made of, and where the next update puts its boxes, so that bad ones leave everything as it
    // was.
    broad_phase::SlabPartition<D, T> partition, spare;
    base::Array<broad_phase::BlockCells> block_cells;

    // The grids as sorted arrays, made by the bulk update if they are needed for pairs or were looked at since the one
    // before it, otherwise when somebody looks at them.
    mutable std::vector<broad_phase::SortedGrid<D, T>> columns;
    mutable std::atomic<bool> columns_ready{false}, columns_used{false};
    mutable std::mutex columns_mutex;

    broad_phase::DynamicGrids<D, T> loose;
    std::vector<Unbounded> unbounded;
    std::unordered_map<std::uint32_t, std::size_t> unbounded_at;

    mutable std::mutex scratch_mutex;
    mutable std::vector<std::vector<Pair>> scratch;
    mutable std::mutex window_mutex;
    mutable std::vector<std::unique_ptr<broad_phase::FineWindow<D, T>>> windows;  // not in use
    mutable std::size_t window_count = 0;
    mutable std::atomic<std::uint64_t> tests{0};

    // hash_grid_hierarchy.cpp
    /// Sorts everything anew. Without slots boxes[i] is that of slot i, and slots that `places` calls free are skipped;
    /// with slots boxes[i] is that of slots[i], which is not free.
    void load(std::span<const BoxT> boxes, std::span<const Place> places, std::span<const std::uint32_t> slots = {});
    /// All boxes with their slots, in the order in which they are stored.
    struct Gathered {
        std::vector<BoxT> boxes;
        std::vector<std::uint32_t> slots;
    };
    [[nodiscard]] Gathered gather(std::size_t room_for) const;
    void reload(const Gathered& all);
    std::uint32_t new_slot();
    void put(std::uint32_t slot, const BoxT& box);
    void take(std::uint32_t slot);
    void maybe_rebuild();
    void maybe_shrink();
    /// Forgets the free slots behind the last used one; `boxes` are what will be inserted, checked first.
    void trim_slots(std::span<const BoxT> boxes);
    [[nodiscard]] std::uint32_t checked(Id id) const;
    /// A set without objects may become either; otherwise spheres and boxes are not mixed.
    void expect_boxes();
    void expect_spheres();
    Id insert_box(const BoxT& box, Filter filter);
    std::uint32_t insert_boxes(std::span<const BoxT> boxes);
    void move_box(std::uint32_t slot, const BoxT& box);
    void update_boxes(std::span<const BoxT> boxes);
    [[nodiscard]] bool is_half_space(std::uint32_t slot) const {
        return place[slot] == Place::unbounded && unbounded[unbounded_at.at(slot)].half_space.has_value();
    }
    [[nodiscard]] std::size_t bytes() const;
    void make_columns(Executor* executor) const;
    /// The sorted arrays of a grid. May be called by several threads at once.
    [[nodiscard]] broad_phase::GridView<D, T> view(std::size_t grid) const {
        if (!columns_used.load(std::memory_order_relaxed)) columns_used.store(true, std::memory_order_relaxed);
        if (!columns_ready.load(std::memory_order_acquire)) {
            const std::lock_guard lock(columns_mutex);
            // Not on the executor: the caller may be one of its threads, and hold up those that wait here.
            if (!columns_ready.load(std::memory_order_relaxed)) make_columns(nullptr);
        }
        return columns[grid].view();
    }

    // hash_grid_pairs.cpp
    struct Job {
        std::size_t home;
        std::size_t grid;        // == home: inside one grid
        std::size_t begin, end;  // slabs of a fine grid, rows of another one, boxes for two grids
    };
    class Window;
    /// Where work is cut decides the order of the pairs between two grids, so that is the same for any number of
    /// threads; a fine grid is cut into at most so many pieces.
    [[nodiscard]] std::vector<Job> jobs(std::size_t pieces) const;
    void run(const Job& job, Window& window, broad_phase::PairBuffer& out) const;
    std::size_t true_pairs(std::span<Pair> pairs) const;
    class Within;
    void loose_pairs(broad_phase::PairBuffer& out) const;
    void loose_pairs_by_sorting(broad_phase::PairBuffer& out) const;
    /// Calls take(pairs), a block at a time, for the overlapping pairs (slot of s, slot of t) of their sorted grids.
    /// Filters are tested where both have some.
    template <class Take>
    static std::uint64_t pairs_of_grids(const Impl& s, const Impl& t, Take&& take);
    [[nodiscard]] bool may_meet(std::uint32_t a, std::uint32_t b) const;
    /// A grid as the search for pairs sees it: filters that have changed since are left to may_meet.
    [[nodiscard]] broad_phase::GridView<D, T> view_for_pairs(std::size_t grid) const {
        broad_phase::GridView<D, T> v = view(grid);
        if (!grids_filtered) v.filter = {};
        return v;
    }

    /// Calls visit(slot, box) for every object that overlaps `box`, wherever it is kept. `found` is scratch.
    /// Returns the number of tests.
    template <class Visit>
    std::uint64_t for_each_overlap(const BoxT& box, broad_phase::Found& found, Visit&& visit) const {
        std::uint64_t count = for_each_sorted_overlap(box, found, visit);
        count += loose.for_each_overlap(box, [&](std::uint32_t slot) { visit(slot, loose.box(slot)); });
        for (const Unbounded& u : unbounded)
            if (reaches(u, box)) visit(u.slot, u.box);
        return count + unbounded.size();
    }

    /// The same for the objects in sorted grids alone. Returns the number of tests.
    template <class Visit>
    std::uint64_t for_each_sorted_overlap(const BoxT& box, broad_phase::Found& found, Visit&& visit) const {
        std::uint64_t count = 0;
        for (std::size_t g = 0; g < grids.size(); ++g) {
            const auto view = this->view(g);
            found.count = 0;
            count += broad_phase::overlapping(view, box, broad_phase::Entry::position, found);
            for (std::size_t h = 0; h < found.count; ++h) {
                const std::uint32_t i = found.entries[h];
                const auto slot = static_cast<std::uint32_t>(view.id[i]);
                if (stale == 0 || is_sorted(slot)) visit(slot, box_at(view, i));
            }
        }
        return count;
    }

    [[nodiscard]] static BoxT box_at(const broad_phase::GridView<D, T>& view, std::size_t i) {
        BoxT box;
        for (int k = 0; k < D; ++k) {
            box.lo[k] = view.lo[k][i];
            box.hi[k] = view.hi[k][i];
        }
        return box;
    }

    /// Calls visit(slot, box) for every object of the sorted grids, slab by slab.
    template <class Visit>
    void for_each_sorted(Visit&& visit) const {
        for (const Grid& grid : grids)
            for (std::size_t slab = grid.first_slab; slab < grid.first_slab + grid.shape.slabs; ++slab)
                partition.for_each_chunk(slab, [&](const broad_phase::Record<D, T>* records, std::uint32_t n) {
                    for (std::uint32_t i = 0; i < n; ++i)
                        if (stale == 0 || is_sorted(records[i].id)) visit(records[i].id, records[i].box);
                });
    }

    [[nodiscard]] static bool reaches(const Unbounded& object, const BoxT& box) {
        return object.half_space ? broad_phase::meets(*object.half_space, box) : overlap(object.box, box);
    }
    [[nodiscard]] static bool meet(const Unbounded& a, const Unbounded& b) {
        if (!a.half_space) return reaches(b, a.box);
        return b.half_space ? broad_phase::meets(*a.half_space, *b.half_space) : reaches(a, b.box);
    }
};

}  // namespace quadrat
