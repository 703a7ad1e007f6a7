// Boxes or spheres that move, come and go: HashGridHierarchy of any kind, as `BroadPhase` of Python.
#pragma once

#include "arrays.hpp"
#include "calls.hpp"

#include "base/kinds.hpp"

#include <quadrat/broad_phase.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <variant>
#include <vector>

namespace quadrat::python {

template <int D, class T>
using Grid = HashGridHierarchy<D, T>;
using AnyGrid = base::AnyOf<Grid>;

[[nodiscard]] HashGridOptions grid_options(unsigned threads, std::size_t max_bytes);
[[nodiscard]] py::array pairs_array(std::vector<Pair>&& pairs);

/// The set and its pairs are in broad_phase.cpp, what is asked about places in broad_phase_queries.cpp. Rows of objects
/// are boxes, or spheres (centre, radius) where `spheres` says so.
class BoxSet {
  public:
    BoxSet(int dimension, bool single, unsigned threads, std::size_t max_bytes);

    /// groups, masks: one per row, or both None.
    std::uint32_t insert(const py::array& rows, bool spheres, const py::object& groups, const py::object& masks);
    /// rows: normal, offset. Gives the slots.
    py::array insert_half_spaces(const py::array& rows, std::uint32_t group, std::uint32_t mask);
    void update(const py::array& rows, bool spheres);
    /// These are all or nothing: slots and rows are looked at before the first is changed.
    void move(const py::array& slots, const py::array& rows, bool spheres);
    void erase(const py::array& slots);
    void set_filters(const py::array& slots, const py::array& groups, const py::array& masks);
    void rest(const py::array& slots, bool asleep);
    void clear();

    py::array find_pairs(bool sorted, py::object progress);
    py::array find_pairs_with(BoxSet& other, bool sorted, py::object progress);
    /// (begun, persisting, ended) since the last call.
    py::tuple find_events(py::object progress);

    /// (offsets, slots) of what each query meets, slots ascending. shape: 0 points, 1 boxes, 2 spheres, 3 segments, 4
    /// rays. filter: None, or (group, mask), here and below.
    py::tuple find(int shape, const py::array& rows, const py::object& filter, py::object progress);
    /// A slot per box, -1 where the place is free.
    py::array find_any(const py::array& boxes, const py::object& filter);
    /// (slots, distances), -1 and infinity where there is none.
    py::tuple nearest(const py::array& points, const py::object& filter);
    py::tuple closest_hits(const py::array& rays, const py::object& filter);
    py::tuple casts(const py::array& rows, bool spheres, const py::array& motions, const py::object& filter);
    /// The same with k columns.
    py::tuple k_nearest(const py::array& points, std::uint32_t k, const py::object& filter);

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t slots() const { return slots_; }
    /// Of bool, one per slot.
    py::array resting();
    py::array occupied();
    py::dict stats();

  private:
    /// The call that finds pairs, one at a time: the watch of a HashGridHierarchy is given when it is made, so that it
    /// asks here whom to tell.
    class UnderWay {
      public:
        UnderWay(BoxSet& set, Call& call) : set_(set), only_one_(set.finding_.get()) { set_.under_way_ = &call; }
        ~UnderWay() { set_.under_way_ = nullptr; }
        UnderWay(const UnderWay&) = delete;
        UnderWay& operator=(const UnderWay&) = delete;

      private:
        BoxSet& set_;
        std::lock_guard<std::mutex> only_one_;
    };

    /// fn(grid) with the grid of its kind.
    template <class Fn>
    decltype(auto) visit(Fn&& fn) {
        return std::visit([&](auto& grid) -> decltype(auto) { return fn(grid); }, grid_);
    }
    /// fn(grid, rows) with rows of the kind that they are.
    template <class Fn>
    decltype(auto) visit_rows(const py::array& given, bool spheres, Fn&& fn) {
        return visit([&]<int D, class T>(Grid<D, T>& grid) -> decltype(auto) {
            return spheres ? fn(grid, rows<Sphere<D, T>, T>(given)) : fn(grid, boxes_of<D, T>(given));
        });
    }
    /// one(grid, id) of each slot.
    template <class One>
    py::array flags(One&& one) {
        py::array_t<bool> out(static_cast<py::ssize_t>(slots_.load()));
        visit([&](auto& grid) {
            Call().read(lock_, [&, to = out.mutable_data(), room = static_cast<std::size_t>(out.size())] {
                const std::size_t count = std::min(room, grid.slots());  // another thread may have changed it
                std::fill_n(to, room, false);
                for (std::uint32_t k = 0; k < count; ++k) to[k] = one(grid, grid.id(k));
            });
        });
        return out;
    }
    [[nodiscard]] HashGridOptions watched(HashGridOptions options);
    [[nodiscard]] Call::Work work_on(std::size_t things) const {
        return worth_a_thread(options_.executor, things) ? Call::Work::aside : Call::Work::here;
    }
    template <class G>
    void recount(const G& grid) {
        size_ = grid.size();
        slots_ = grid.slots();
    }

    std::atomic<std::size_t> size_ = 0, slots_ = 0;  // of the grid, for those who do not wait for a change
    ForkSafe<std::mutex> finding_;
    std::atomic<Call*> under_way_ = nullptr;
    PairEvents events_;  // guarded by finding_
    HashGridOptions options_;
    AnyGrid grid_;
    ObjectLock lock_;
};

}  // namespace quadrat::python
