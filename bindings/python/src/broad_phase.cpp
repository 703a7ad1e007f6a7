// What touches what: pairs for one call, and the edits and pairs of a BoxSet.
#include "broad_phase.hpp"

#include "bind.hpp"

#include <algorithm>
#include <optional>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace quadrat::python {
namespace {

// The friend of the grids, which is found by its arguments alone.
template <class G>
void pairs_between(const G& a, const G& b, std::vector<Pair>& out) {
    find_pairs(a, b, out);
}

// The ids of slots that must not be empty.
template <class G>
std::vector<Id> ids_of(const G& grid, std::span<const std::uint32_t> slots) {
    std::vector<Id> ids(slots.size());
    for (std::size_t k = 0; k < slots.size(); ++k) {
        ids[k] = grid.id(slots[k]);
        if (!grid.contains(ids[k]))
            throw Error(ErrorKind::stale_id, "there is no box in slot " + std::to_string(slots[k]),
                        {.index = k, .field = "slots"});
    }
    return ids;
}

void refuse_twice(std::span<const std::uint32_t> slots) {
    std::vector<std::uint32_t> sorted(slots.begin(), slots.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        throw Error(ErrorKind::duplicate, "slot " + std::to_string(*twice) + " is named twice", {.field = "slots"});
}

const char* argument(bool spheres) {
    return spheres ? "spheres" : "boxes";
}

void refuse_another_number(std::size_t given, std::size_t wanted, const char* field) {
    if (given != wanted)
        throw Error(ErrorKind::bad_shape, "expected " + std::to_string(wanted) + " rows, got " + std::to_string(given),
                    {.field = field});
}

std::vector<Pair> slots_of(std::span<const IdPair> pairs) {
    std::vector<Pair> out;
    out.reserve(pairs.size());
    for (const auto& [a, b] : pairs) out.emplace_back(a.slot, b.slot);
    return out;
}

py::array find_pairs_once(const py::array& boxes, int dimension, unsigned threads, std::size_t max_bytes, bool sorted,
                          py::object progress) {
    return base::dispatch(dimension, scalar_of(boxes), [&]<int D, class T>() {
        const auto given = boxes_of<D, T>(boxes);
        HashGridOptions options = grid_options(threads, max_bytes);
        Call call(std::move(progress),
                  worth_a_thread(options.executor, given.size()) ? Call::Work::aside : Call::Work::here);
        options.watch = call.watch();
        std::vector<Pair> pairs;
        naming("boxes", [&] {
            call.run([&] {
                pairs = quadrat::find_pairs(given, options);
                if (sorted) std::sort(pairs.begin(), pairs.end());
            });
        });
        return pairs_array(std::move(pairs));
    });
}

}  // namespace

HashGridOptions grid_options(unsigned threads, std::size_t max_bytes) {
    HashGridOptions options;
    options.executor = executor_of(threads);
    options.max_bytes = max_bytes;
    return options;
}

py::array pairs_array(std::vector<Pair>&& pairs) {
    return taken<std::uint32_t>(std::move(pairs));
}

BoxSet::BoxSet(int dimension, bool single, unsigned threads, std::size_t max_bytes)
    : options_(watched(grid_options(threads, max_bytes))),
      grid_(base::dispatch(dimension, single ? base::Scalar::f32 : base::Scalar::f64,
                           [&]<int D, class T>() -> AnyGrid { return Grid<D, T>(options_); })) {}

HashGridOptions BoxSet::watched(HashGridOptions options) {
    options.watch.report = [this](double fraction) {
        if (Call* const call = under_way_) call->look_or_throw(fraction);
    };
    return options;
}

std::uint32_t BoxSet::insert(const py::array& rows, bool spheres, const py::object& groups, const py::object& masks) {
    const auto group = elements_or_none<std::uint32_t>(groups), mask = elements_or_none<std::uint32_t>(masks);
    return visit_rows(rows, spheres, [&](auto& grid, const auto given) {
        if (!groups.is_none()) refuse_another_number(group.size(), given.size(), "group");
        refuse_another_number(mask.size(), group.size(), "mask");
        std::uint32_t first = 0;
        naming(argument(spheres), [&] {
            Call().write(lock_, [&] {
                first = grid.insert(given);
                for (std::uint32_t k = 0; k < group.size(); ++k)
                    grid.set_filter(grid.id(first + k), {group[k], mask[k]});
                recount(grid);
            });
        });
        return first;
    });
}

py::array BoxSet::insert_half_spaces(const py::array& given, std::uint32_t group, std::uint32_t mask) {
    return visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto planes = rows<HalfSpace<D, T>, T>(given);
        std::vector<std::uint32_t> slots;
        Call().write(lock_, [&] {
            // A set of its own refuses what the real one would refuse, with the row.
            Grid<D, T> trial;
            for (std::size_t k = 0; k < planes.size(); ++k) {
                try {
                    (void)trial.insert(planes[k]);
                } catch (const Error& e) {
                    throw Error(e.kind(), e.message(), {.index = k, .field = "normals"});
                }
            }
            for (const auto& plane : planes) slots.push_back(grid.insert(plane, {group, mask}).slot);
            recount(grid);
        });
        return taken<std::uint32_t>(std::move(slots));
    });
}

void BoxSet::update(const py::array& rows, bool spheres) {
    visit_rows(rows, spheres, [&](auto& grid, const auto given) {
        naming(argument(spheres), [&] { Call().write(lock_, [&] { grid.update(given); }); });
    });
}

void BoxSet::move(const py::array& slots, const py::array& rows, bool spheres) {
    const auto places = elements<std::uint32_t>(slots);
    visit_rows(rows, spheres, [&]<int D, class T, class Shape>(Grid<D, T>& grid, std::span<const Shape> given) {
        refuse_another_number(given.size(), places.size(), argument(spheres));
        naming(argument(spheres), [&] {
            Call().write(lock_, [&] {
                const std::vector<Id> ids = ids_of(grid, places);
                if constexpr (std::is_same_v<Shape, Box<D, T>>) {
                    grid.move(ids, given);
                } else {
                    Grid<D, T>().insert(given);  // refuses what the real one would refuse, with the row
                    for (std::size_t k = 0; k < ids.size(); ++k) grid.move(ids[k], given[k]);
                }
            });
        });
    });
}

void BoxSet::erase(const py::array& slots) {
    const auto given = elements<std::uint32_t>(slots);
    visit([&](auto& grid) {
        Call().write(lock_, [&] {
            const std::vector<Id> ids = ids_of(grid, given);
            refuse_twice(given);
            grid.erase(ids);
            recount(grid);
        });
    });
}

void BoxSet::set_filters(const py::array& slots, const py::array& groups, const py::array& masks) {
    const auto given = elements<std::uint32_t>(slots), group = elements<std::uint32_t>(groups),
               mask = elements<std::uint32_t>(masks);
    refuse_another_number(group.size(), given.size(), "group");
    refuse_another_number(mask.size(), given.size(), "mask");
    visit([&](auto& grid) {
        Call().write(lock_, [&] {
            const std::vector<Id> ids = ids_of(grid, given);
            for (std::size_t k = 0; k < ids.size(); ++k) grid.set_filter(ids[k], {group[k], mask[k]});
        });
    });
}

void BoxSet::rest(const py::array& slots, bool asleep) {
    const auto given = elements<std::uint32_t>(slots);
    visit([&](auto& grid) {
        Call().write(lock_, [&] {
            const std::vector<Id> ids = ids_of(grid, given);
            if (asleep)
                grid.rest(ids);
            else
                grid.wake(ids);
        });
    });
}

void BoxSet::clear() {
    visit([&](auto& grid) {
        Call().write(lock_, [&] {
            grid.clear();
            recount(grid);
        });
    });
}

py::array BoxSet::find_pairs(bool sorted, py::object progress) {
    std::vector<Pair> pairs;
    finding_.renew();
    visit([&](auto& grid) {
        Call call(std::move(progress), work_on(size_));
        call.read(lock_, [&] {
            const UnderWay now(*this, call);
            grid.find_pairs(pairs);
            if (sorted) std::sort(pairs.begin(), pairs.end());
        });
    });
    return pairs_array(std::move(pairs));
}

py::array BoxSet::find_pairs_with(BoxSet& other, bool sorted, py::object progress) {
    std::vector<Pair> pairs;
    finding_.renew();
    Call call(std::move(progress), work_on(size_ + other.size_));
    std::optional<ObjectLock::Use> use_other;
    if (&other != this) use_other.emplace(other.lock_);
    visit([&](auto& grid) {
        auto* const second = std::get_if<std::decay_t<decltype(grid)>>(&other.grid_);
        if (!second)
            throw Error(ErrorKind::bad_shape, "the two sets have different dimensions or types", {.field = "other"});
        call.read(lock_, [&] {
            const UnderWay now(*this, call);
            auto there = other.lock_.to_read_later();
            if (&other != this) there.lock();
            pairs_between(grid, *second, pairs);
            if (sorted) std::sort(pairs.begin(), pairs.end());
        });
    });
    return pairs_array(std::move(pairs));
}

py::tuple BoxSet::find_events(py::object progress) {
    std::vector<Pair> begun, persisting, ended;
    finding_.renew();
    visit([&](auto& grid) {
        Call call(std::move(progress), work_on(size_));
        call.read(lock_, [&] {
            const UnderWay now(*this, call);
            grid.find_events(events_);
            begun = slots_of(events_.begun());
            persisting.assign(events_.persisting().begin(), events_.persisting().end());
            ended = slots_of(events_.ended());
        });
    });
    return py::make_tuple(pairs_array(std::move(begun)), pairs_array(std::move(persisting)),
                          pairs_array(std::move(ended)));
}

py::array BoxSet::resting() {
    return flags([](const auto& grid, Id id) { return grid.resting(id); });
}

py::array BoxSet::occupied() {
    return flags([](const auto& grid, Id id) { return grid.contains(id); });
}

py::dict BoxSet::stats() {
    return visit([&](auto& grid) {
        BroadPhaseStats s;
        Call().read(lock_, [&] { s = grid.stats(); });
        return py::dict("tests"_a = s.tests, "grids"_a = s.grids, "resting"_a = s.resting, "loose"_a = s.loose,
                        "unbounded"_a = s.unbounded, "bytes"_a = s.bytes);
    });
}

void bind_broad_phase(py::module_& module) {
    module.def("find_pairs", find_pairs_once, "boxes"_a, "dimension"_a, "threads"_a, "max_bytes"_a, "sorted"_a,
               "progress"_a);
    py::class_<BoxSet>(module, "BroadPhase")
        .def(py::init<int, bool, unsigned, std::size_t>(), "dimension"_a, "single"_a, "threads"_a, "max_bytes"_a)
        .def("insert", &BoxSet::insert, "rows"_a, "spheres"_a, "groups"_a, "masks"_a)
        .def("insert_half_spaces", &BoxSet::insert_half_spaces, "rows"_a, "group"_a, "mask"_a)
        .def("update", &BoxSet::update, "rows"_a, "spheres"_a)
        .def("move", &BoxSet::move, "slots"_a, "rows"_a, "spheres"_a)
        .def("erase", &BoxSet::erase, "slots"_a)
        .def("set_filters", &BoxSet::set_filters, "slots"_a, "groups"_a, "masks"_a)
        .def("rest", &BoxSet::rest, "slots"_a, "asleep"_a)
        .def("clear", &BoxSet::clear)
        .def("find_pairs", &BoxSet::find_pairs, "sorted"_a, "progress"_a)
        .def("find_pairs_with", &BoxSet::find_pairs_with, "other"_a, "sorted"_a, "progress"_a)
        .def("find_events", &BoxSet::find_events, "progress"_a)
        .def("find", &BoxSet::find, "shape"_a, "rows"_a, "filter"_a, "progress"_a)
        .def("find_any", &BoxSet::find_any, "boxes"_a, "filter"_a)
        .def("nearest", &BoxSet::nearest, "points"_a, "filter"_a)
        .def("k_nearest", &BoxSet::k_nearest, "points"_a, "k"_a, "filter"_a)
        .def("closest_hits", &BoxSet::closest_hits, "rays"_a, "filter"_a)
        .def("casts", &BoxSet::casts, "rows"_a, "spheres"_a, "motions"_a, "filter"_a)
        .def("size", &BoxSet::size)
        .def("slots", &BoxSet::slots)
        .def("resting", &BoxSet::resting)
        .def("occupied", &BoxSet::occupied)
        .def("stats", &BoxSet::stats);
}

}  // namespace quadrat::python
