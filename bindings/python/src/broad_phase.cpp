// What touches what: pairs for one call, and HashGridHierarchy as `BroadPhase`.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include "base/kinds.hpp"

#include <quadrat/broad_phase.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <variant>

namespace quadrat::python {
namespace {

template <int D, class T>
using Grid = HashGridHierarchy<D, T>;
using AnyGrid = base::AnyOf<Grid>;

HashGridOptions options_of(unsigned threads, std::size_t max_bytes) {
    HashGridOptions options;
    options.executor = executor_of(threads);
    options.max_bytes = max_bytes;
    return options;
}

py::array pairs_array(std::vector<Pair>&& pairs) {
    return taken<std::uint32_t>(std::move(pairs));
}

// The friend of the grids, which is found by its arguments alone.
template <class G>
void pairs_between(const G& a, const G& b, std::vector<Pair>& out) {
    find_pairs(a, b, out);
}

// The boxes of a set and their pairs.
class BroadPhase {
  public:
    BroadPhase(int dimension, bool single, unsigned threads, std::size_t max_bytes)
        : options_(watched(options_of(threads, max_bytes))),
          grid_(base::dispatch(dimension, single ? base::Scalar::f32 : base::Scalar::f64,
                               [&]<int D, class T>() -> AnyGrid { return Grid<D, T>(options_); })) {}

    // fn(grid) with the grid of its kind.
    template <class Fn>
    decltype(auto) visit(Fn&& fn) {
        return std::visit([&](auto& grid) -> decltype(auto) { return fn(grid); }, grid_);
    }

    std::uint32_t insert(const py::array& boxes) {
        return visit([&]<int D, class T>(Grid<D, T>& grid) {
            const auto given = boxes_of<D, T>(boxes);
            std::uint32_t first = 0;
            Call().write(lock_, [&] {
                first = grid.insert(given);
                recount(grid);
            });
            return first;
        });
    }
    void update(const py::array& boxes) {
        visit([&]<int D, class T>(Grid<D, T>& grid) {
            const auto given = boxes_of<D, T>(boxes);
            Call().write(lock_, [&] { grid.update(given); });
        });
    }
    // All or nothing: slots are looked at before the first is changed.
    void erase(const py::array& slots) {
        visit([&](auto& grid) {
            const auto given = elements<std::uint32_t>(slots);
            Call().write(lock_, [&] {
                std::vector<std::uint32_t> sorted(given.begin(), given.end());
                check_slots(grid, given);
                std::sort(sorted.begin(), sorted.end());
                const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
                if (twice != sorted.end())
                    throw Error(ErrorKind::duplicate, "slot " + std::to_string(*twice) + " is named twice",
                                {.field = "slots"});
                for (const std::uint32_t slot : given) grid.erase(grid.id(slot));
                recount(grid);
            });
        });
    }
    void move(const py::array& slots, const py::array& boxes) {
        visit([&]<int D, class T>(Grid<D, T>& grid) {
            const auto given = elements<std::uint32_t>(slots);
            const auto places = boxes_of<D, T>(boxes);
            if (given.size() != places.size())
                throw Error(ErrorKind::bad_shape, "as many boxes as slots are needed", {.field = "boxes"});
            Call().write(lock_, [&] {
                check_slots(grid, given);
                // A set of its own refuses what the real one would refuse, with the row.
                Grid<D, T>().insert(places);
                for (std::size_t k = 0; k < given.size(); ++k) grid.move(grid.id(given[k]), places[k]);
            });
        });
    }
    py::array find_pairs(bool sorted, py::object progress) {
        std::vector<Pair> pairs;
        visit([&](auto& grid) {
            Call call(std::move(progress), work_on());
            call.read(lock_, [&] {
                const UnderWay now(*this, call);
                grid.find_pairs(pairs);
                if (sorted) std::sort(pairs.begin(), pairs.end());
            });
        });
        return pairs_array(std::move(pairs));
    }
    py::array find_pairs_with(BroadPhase& other, bool sorted) {
        std::vector<Pair> pairs;
        Call call;
        visit([&](auto& grid) {
            using G = std::decay_t<decltype(grid)>;
            auto* const second = std::get_if<G>(&other.grid_);
            if (!second)
                throw Error(ErrorKind::bad_shape, "the two sets have different dimensions or types",
                            {.field = "other"});
            call.read(lock_, [&] {
                const UnderWay now(*this, call);
                std::shared_lock there(other.lock_.mutex, std::defer_lock);
                if (&other != this) there.lock();
                pairs_between(grid, *second, pairs);
                if (sorted) std::sort(pairs.begin(), pairs.end());
            });
        });
        return pairs_array(std::move(pairs));
    }
    // Offsets and slots of the boxes that overlap each query, slots ascending.
    py::tuple find_boxes(const py::array& boxes) {
        std::vector<std::int64_t> offsets;
        std::vector<std::uint32_t> slots;
        visit([&]<int D, class T>(Grid<D, T>& grid) {
            const auto given = boxes_of<D, T>(boxes);
            Call().read(lock_, [&] {
                std::vector<std::vector<std::uint32_t>> found(given.size());
                grid.find_each(given, [&](std::uint32_t query, std::span<const std::uint32_t> hits) {
                    found[query].assign(hits.begin(), hits.end());
                });
                offsets.assign(1, 0);
                for (auto& row : found) {
                    std::sort(row.begin(), row.end());
                    slots.insert(slots.end(), row.begin(), row.end());
                    offsets.push_back(static_cast<std::int64_t>(slots.size()));
                }
            });
        });
        return py::make_tuple(taken<std::int64_t>(std::move(offsets)), taken<std::int32_t>(std::move(slots)));
    }
    py::tuple nearest(const py::array& points) {
        return visit([&]<int D, class T>(Grid<D, T>& grid) {
            return hits<T>(points_of<D, T>(points).size(),
                           [&, given = points_of<D, T>(points)](std::size_t k) { return grid.nearest(given[k]); });
        });
    }
    py::tuple closest_hits(const py::array& origins, const py::array& directions, const py::array& lengths) {
        return visit([&]<int D, class T>(Grid<D, T>& grid) {
            const auto from = points_of<D, T>(origins);
            const auto along = points_of<D, T>(directions);
            const auto until = elements<T>(lengths);
            if (along.size() != from.size() || until.size() != from.size())
                throw Error(ErrorKind::bad_shape, "as many origins as directions and lengths are needed");
            return hits<T>(from.size(), [&](std::size_t k) { return grid.closest_hit({from[k], along[k], until[k]}); });
        });
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t slots() const { return slots_; }
    py::dict stats() {
        return visit([&](auto& grid) {
            BroadPhaseStats s;
            Call().read(lock_, [&] { s = grid.stats(); });
            return py::dict("tests"_a = s.tests, "grids"_a = s.grids, "bytes"_a = s.bytes);
        });
    }

  private:
    // The call that finds pairs, one at a time: the watch of a HashGridHierarchy is given when it is made, so that it
    // asks here whom to tell.
    class UnderWay {
      public:
        UnderWay(BroadPhase& set, Call& call) : set_(set), only_one_(set.finding_) { set_.under_way_ = &call; }
        ~UnderWay() { set_.under_way_ = nullptr; }
        UnderWay(const UnderWay&) = delete;
        UnderWay& operator=(const UnderWay&) = delete;

      private:
        BroadPhase& set_;
        std::lock_guard<std::mutex> only_one_;
    };
    HashGridOptions watched(HashGridOptions options) {
        options.watch.report = [this](double fraction) {
            if (Call* const call = under_way_) call->look_or_throw(fraction);
        };
        return options;
    }
    [[nodiscard]] Call::Work work_on() const {
        return worth_a_thread(options_.executor, size_) ? Call::Work::aside : Call::Work::here;
    }
    template <class G>
    void recount(const G& grid) {
        size_ = grid.size();
        slots_ = grid.slots();
    }
    template <class G>
    static void check_slots(const G& grid, std::span<const std::uint32_t> slots) {
        for (std::size_t k = 0; k < slots.size(); ++k)
            if (!grid.contains(grid.id(slots[k])))
                throw Error(ErrorKind::stale_id, "there is no box in slot " + std::to_string(slots[k]),
                            {.index = k, .field = "slots"});
    }
    // Slots and distances of one answer per query; -1 and infinity where there is none.
    template <class T, class Ask>
    py::tuple hits(std::size_t count, Ask&& ask) {
        std::vector<std::int64_t> slots(count, -1);
        std::vector<T> distances(count, std::numeric_limits<T>::infinity());
        Call().read(lock_, [&] {
            for (std::size_t k = 0; k < count; ++k) {
                try {
                    if (const auto hit = ask(k)) {
                        slots[k] = hit->slot;
                        distances[k] = hit->distance;
                    }
                } catch (const Error& e) {
                    Where where = e.where();
                    where.column = where.index && !where.column ? where.index : where.column;
                    where.index = k;
                    throw Error(e.kind(), e.message(), where);
                }
            }
        });
        return py::make_tuple(taken<std::int64_t>(std::move(slots)), taken<T>(std::move(distances)));
    }

    std::atomic<std::size_t> size_ = 0, slots_ = 0;  // of the grid, for those who do not wait for a change
    std::mutex finding_;
    std::atomic<Call*> under_way_ = nullptr;
    HashGridOptions options_;
    AnyGrid grid_;
    ObjectLock lock_;
};

py::array find_pairs(const py::array& boxes, int dimension, unsigned threads, std::size_t max_bytes, bool sorted,
                     py::object progress) {
    return base::dispatch(dimension, scalar_of(boxes), [&]<int D, class T>() {
        const auto given = boxes_of<D, T>(boxes);
        HashGridOptions options = options_of(threads, max_bytes);
        Call call(std::move(progress),
                  worth_a_thread(options.executor, given.size()) ? Call::Work::aside : Call::Work::here);
        options.watch = call.watch();
        std::vector<Pair> pairs;
        call.run([&] {
            pairs = quadrat::find_pairs(given, options);
            if (sorted) std::sort(pairs.begin(), pairs.end());
        });
        return pairs_array(std::move(pairs));
    });
}

}  // namespace

void bind_broad_phase(py::module_& module) {
    module.def("find_pairs", find_pairs, "boxes"_a, "dimension"_a, "threads"_a, "max_bytes"_a, "sorted"_a,
               "progress"_a);
    py::class_<BroadPhase>(module, "BroadPhase")
        .def(py::init<int, bool, unsigned, std::size_t>(), "dimension"_a, "single"_a, "threads"_a, "max_bytes"_a)
        .def("insert", &BroadPhase::insert, "boxes"_a)
        .def("update", &BroadPhase::update, "boxes"_a)
        .def("erase", &BroadPhase::erase, "slots"_a)
        .def("move", &BroadPhase::move, "slots"_a, "boxes"_a)
        .def("find_pairs", &BroadPhase::find_pairs, "sorted"_a, "progress"_a)
        .def("find_pairs_with", &BroadPhase::find_pairs_with, "other"_a, "sorted"_a)
        .def("find_boxes", &BroadPhase::find_boxes, "boxes"_a)
        .def("nearest", &BroadPhase::nearest, "points"_a)
        .def("closest_hits", &BroadPhase::closest_hits, "origins"_a, "directions"_a, "lengths"_a)
        .def("size", &BroadPhase::size)
        .def("slots", &BroadPhase::slots)
        .def("stats", &BroadPhase::stats);
}

}  // namespace quadrat::python
