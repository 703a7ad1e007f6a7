// What is near what: CellIndex of any kind.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"
#include "neighbor_list.hpp"

#include "base/kinds.hpp"

#include <quadrat/neighbors.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace quadrat::python {
namespace {

using AnyIndex = base::AnyOf<CellIndex>;

RadiusRule rule_of(const std::string& wanted) {
    if (const auto rule = radius_rule_named(wanted)) return *rule;
    std::string names;
    for (const RadiusRule rule : all_radius_rules)
        names += (names.empty() ? "" : rule == all_radius_rules.back() ? " or " : ", ") + std::string(name_of(rule));
    throw Error(ErrorKind::bad_value, "must be " + names + ", not " + wanted, {.field = "rule"});
}

struct IndexOptions {
    double radius, skin;
    std::string rule;
    py::object vectors, origin;  // of the box, in double, or None
    std::size_t max_bytes;
    unsigned threads;
};

template <int D, class T>
AnyIndex index_of(const IndexOptions& given) {
    typename CellIndex<D, T>::Options options;
    options.radius = static_cast<T>(given.radius);
    options.skin = static_cast<T>(given.skin);
    options.rule = rule_of(given.rule);
    options.max_bytes = given.max_bytes;
    options.executor = executor_of(given.threads);
    const auto vectors = elements_or_none<double>(given.vectors);
    const auto origin = elements_or_none<double>(given.origin);
    for (int k = 0; k < D && !vectors.empty(); ++k)
        for (int c = 0; c < D; ++c)
            options.periodic.vectors[k][c] = static_cast<T>(vectors[static_cast<std::size_t>(k * D + c)]);
    for (int c = 0; c < D && !origin.empty(); ++c)
        options.periodic.origin[c] = static_cast<T>(origin[static_cast<std::size_t>(c)]);
    return CellIndex<D, T>(options);
}

class Index {
    // fn with what is held, as the kind that it is.
    template <class Fn>
    decltype(auto) visit(Fn&& fn) {
        return std::visit([&](auto& index) -> decltype(auto) { return fn(index); }, index_);
    }

  public:
    Index(int dimension, bool single, const IndexOptions& options)
        : executor_(executor_of(options.threads)),
          periodic_(!options.vectors.is_none()),
          index_(base::dispatch(dimension, single ? base::Scalar::f32 : base::Scalar::f64,
                                [&]<int D, class T>() { return index_of<D, T>(options); })) {}

    void build(const py::array& points, const py::object& radii) {
        visit([&]<int D, class T>(CellIndex<D, T>& index) {
            const auto given = points_of<D, T>(points);
            const auto reach = elements_or_none<T>(radii);
            const bool plain = radii.is_none();
            naming("points", [&] {
                Call().write(lock_, [&] {
                    if (plain)
                        index.build(given);
                    else
                        index.build(given, reach);
                    size_ = index.size();
                });
            });
        });
    }
    bool update(const py::array& points) {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            const auto given = points_of<D, T>(points);
            bool sorted = false;
            naming("points", [&] { Call().write(lock_, [&] { sorted = index.update(given); }); });
            return sorted;
        });
    }
    std::uint32_t insert(const py::array& points, const py::object& radii) {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            const auto given = points_of<D, T>(points);
            const auto reach = elements_or_none<T>(radii);
            std::uint32_t first = 0;
            const bool plain = radii.is_none();
            naming("points", [&] {
                Call().write(lock_, [&] {
                    first = plain ? index.insert(given) : index.insert(given, reach);
                    size_ = index.size();
                });
            });
            return first;
        });
    }
    void erase(const py::array& indices) {
        visit([&]<int D, class T>(CellIndex<D, T>& index) {
            const auto given = elements<std::uint32_t>(indices);
            Call().write(lock_, [&] { index.erase(given); });
        });
    }
    void find_neighbors(SharedList& out, const py::object& queries, bool half, bool include_self, int distances,
                        bool vectors, bool shifts, const py::object& groups, const py::object& searches,
                        py::object progress) {
        naming("queries", [&] {
            visit([&]<int D, class T>(CellIndex<D, T>& index) {
                NeighborOptions options;
                options.half = half;
                options.self = include_self;
                options.order = RowOrder::input;
                options.distances = static_cast<DistanceKind>(distances);
                options.vectors = vectors;
                options.shifts = shifts;
                options.groups = elements_or_none<std::uint8_t>(groups);
                options.searches = elements_or_none<std::uint64_t>(searches);
                const auto asked = asked_points<D, T>(queries);
                Call call(std::move(progress), work_on(asked ? asked->size() : size_.load()));
                options.watch = call.watch();
                const SharedList::Filling only_one(out);
                NeighborList& list = out.fresh(D, sizeof(T) == 4);
                call.read(lock_, [&] {
                    if (asked)
                        index.find_neighbors(*asked, list, options);
                    else
                        index.find_neighbors(list, options);
                    list.compact(executor_);
                });
            });
        });
    }
    void find_nearest(SharedList& out, std::uint32_t k, const py::object& queries, double max_distance,
                      py::object progress) {
        naming("queries", [&] {
            visit([&]<int D, class T>(CellIndex<D, T>& index) {
                const auto asked = asked_points<D, T>(queries);
                // Searches of images listen and say nothing, so that somebody else has to look.
                const std::size_t rows = asked ? asked->size() : size_.load();
                Call call(std::move(progress), periodic_ && rows >= 20'000 ? Call::Work::aside : work_on(rows));
                const Watch watch = call.watch();
                const SharedList::Filling only_one(out);
                NeighborList& list = out.fresh(D, sizeof(T) == 4);
                call.read(lock_, [&] {
                    if (asked)
                        index.find_nearest(*asked, k, list, static_cast<T>(max_distance), watch);
                    else
                        index.find_nearest(k, list, static_cast<T>(max_distance), watch);
                    list.compact(executor_);
                });
            });
        });
    }
    py::array count_neighbors(py::object progress) {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            std::vector<std::uint32_t> counts;
            Call call(std::move(progress), work_on(size_));
            call.read(lock_, [&, watch = call.watch()] { index.count_neighbors(counts, watch); });
            return taken<std::uint32_t>(std::move(counts));
        });
    }
    std::uint64_t count_pairs(py::object progress) {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            std::uint64_t pairs = 0;
            Call call(std::move(progress), work_on(size_));
            call.read(lock_, [&, watch = call.watch()] { pairs = index.count_pairs(watch); });
            return pairs;
        });
    }
    py::array order() {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            std::vector<std::uint32_t> order;
            Call().read(lock_, [&] { order.assign(index.order().begin(), index.order().end()); });
            return taken<std::uint32_t>(std::move(order));
        });
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    py::dict stats() {
        return visit([&]<int D, class T>(CellIndex<D, T>& index) {
            CellIndexStats s;
            Call().read(lock_, [&] { s = index.stats(); });
            return py::dict("tests"_a = s.tests, "bytes"_a = s.bytes, "points"_a = s.points);
        });
    }

  private:
    template <int D, class T>
    static std::optional<std::span<const Vec<D, T>>> asked_points(const py::object& queries) {
        if (queries.is_none()) return std::nullopt;
        return points_of<D, T>(queries.cast<py::array>());
    }

    [[nodiscard]] Call::Work work_on(std::size_t rows) const {
        return worth_a_thread(executor_, rows) ? Call::Work::aside : Call::Work::here;
    }

    Executor* executor_;
    bool periodic_;
    std::atomic<std::size_t> size_ = 0;  // of the index, for those who do not wait for a change
    AnyIndex index_;
    ObjectLock lock_;
};

py::array z_order_of(const py::array& points, int dimension, double edge) {
    return base::dispatch(dimension, scalar_of(points), [&]<int D, class T>() {
        const auto given = points_of<D, T>(points);
        std::vector<std::uint32_t> order;
        naming("points", [&] { Call().run([&] { order = z_order(given, static_cast<T>(edge)); }); });
        return taken<std::uint32_t>(std::move(order));
    });
}

}  // namespace

void bind_neighbors(py::module_& module) {
    py::class_<Index>(module, "CellIndex")
        .def(py::init([](int dimension, bool single, double radius, const std::string& rule, double skin,
                         py::object vectors, py::object origin, std::size_t max_bytes, unsigned threads) {
                 return std::make_unique<Index>(
                     dimension, single,
                     IndexOptions{radius, skin, rule, std::move(vectors), std::move(origin), max_bytes, threads});
             }),
             "dimension"_a, "single"_a, "radius"_a, "rule"_a, "skin"_a, "vectors"_a, "origin"_a, "max_bytes"_a,
             "threads"_a)
        .def("build", &Index::build, "points"_a, "radii"_a)
        .def("update", &Index::update, "points"_a)
        .def("insert", &Index::insert, "points"_a, "radii"_a)
        .def("erase", &Index::erase, "indices"_a)
        .def("find_neighbors", &Index::find_neighbors, "out"_a, "queries"_a, "half"_a, "include_self"_a, "distances"_a,
             "vectors"_a, "shifts"_a, "groups"_a, "searches"_a, "progress"_a)
        .def("find_nearest", &Index::find_nearest, "out"_a, "k"_a, "queries"_a, "max_distance"_a, "progress"_a)
        .def("count_neighbors", &Index::count_neighbors, "progress"_a)
        .def("count_pairs", &Index::count_pairs, "progress"_a)
        .def("order", &Index::order)
        .def("size", &Index::size)
        .def("stats", &Index::stats);
    module.def("z_order", z_order_of, "points"_a, "dimension"_a, "edge"_a);
}

}  // namespace quadrat::python
