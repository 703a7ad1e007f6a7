// Single features, many at a time: when they meet, how near they are, and the potentials that keep them apart. Four
// points each, (N, 12) of double: a vertex and the corners of a face, or the ends of two edges.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include "base/parallel.hpp"

#include <quadrat/ccd.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace quadrat::python {
namespace {

constexpr std::size_t features_per_task = 256;

ImpactKind kind_of(bool edges) {
    return edges ? ImpactKind::edge_edge : ImpactKind::vertex_face;
}

// one(k) for k in [0, count), on threads, so that Ctrl-C ends it.
template <class One>
void for_each_of(std::size_t count, unsigned threads, One&& one) {
    Executor* const pool = executor_of(threads);
    Call call(py::none(), count > 20'000 ? Call::Work::aside : Call::Work::here);
    StoppingExecutor executor(call, pool);
    call.run([&] {
        base::parallel_for(&executor, count, features_per_task, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) one(k);
        });
    });
}

py::array times_of(bool edges, const py::array& start, const py::array& end, double min_distance, double tolerance,
                   unsigned threads) {
    const auto from = rows<FourPoints, double>(start), to = rows<FourPoints, double>(end);
    std::vector<double> times(from.size());
    const ImpactOptions options{.tolerance = tolerance, .min_distance = min_distance};
    // All are looked at before the first is decided, so that the error names the row.
    Call call(py::none(), from.size() > 20'000 ? Call::Work::aside : Call::Work::here);
    StoppingExecutor executor(call, executor_of(threads));
    constexpr std::size_t part = 1024;
    call.run([&] {
        base::parallel_for(&executor, std::max<std::size_t>(1, from.size()), part, [&](std::size_t first, std::size_t) {
            const std::size_t count = std::min(part, from.size() - first);
            try {
                impact_times(kind_of(edges), from.subspan(first, count), to.subspan(first, count),
                             std::span(times).subspan(first, count), options);
            } catch (const Error& e) {
                Where where = e.where();
                if (where.index) *where.index += first;
                throw Error(e.kind(), e.message(), where);
            }
        });
    });
    return taken<double>(std::move(times));
}

// (distance, first, second, direction, barycentric)
py::tuple closest_of(bool edges, const py::array& points, unsigned threads) {
    const auto given = rows<FourPoints, double>(points);
    const std::size_t n = given.size();
    std::vector<double> distance(n);
    std::vector<Vec3d> first(n), second(n), direction(n);
    std::vector<std::array<double, 4>> barycentric(n);
    for_each_of(n, threads, [&](std::size_t k) {
        const Closest c = closest_points(kind_of(edges), given[k]);
        distance[k] = c.distance;
        first[k] = c.first;
        second[k] = c.second;
        direction[k] = c.direction;
        barycentric[k] = c.barycentric;
    });
    return py::make_tuple(taken<double>(std::move(distance)), taken<double>(std::move(first)),
                          taken<double>(std::move(second)), taken<double>(std::move(direction)),
                          taken<double>(std::move(barycentric)));
}

using Corners = std::array<Vec3d, 3>;

// (distance, first, second)
py::tuple closest_triangles_of(const py::array& a, const py::array& b, unsigned threads) {
    const auto here = rows<Corners, double>(a), there = rows<Corners, double>(b);
    std::vector<double> distance(here.size());
    std::vector<Vec3d> first(here.size()), second(here.size());
    for_each_of(here.size(), threads, [&](std::size_t k) {
        const auto c = closest_triangles(here[k], there[k]);
        distance[k] = c->distance;
        first[k] = c->first;
        second[k] = c->second;
    });
    return py::make_tuple(taken<double>(std::move(distance)), taken<double>(std::move(first)),
                          taken<double>(std::move(second)));
}

py::array intersecting(const py::array& a, const py::array& b, unsigned threads) {
    const auto here = rows<Corners, double>(a), there = rows<Corners, double>(b);
    py::array_t<bool> out(static_cast<py::ssize_t>(here.size()));
    bool* const to = out.mutable_data();
    for_each_of(here.size(), threads, [&](std::size_t k) { to[k] = triangles_intersect(here[k], there[k]); });
    return out;
}

// (value, gradient, hessian) of one(k); the Hessians are None unless wanted, and have no negative eigenvalue if
// `positive`.
template <class One>
py::tuple derivatives(std::size_t n, bool hessian, bool positive, unsigned threads, One&& one) {
    std::vector<double> value(n);
    std::vector<std::array<double, 12>> gradient(n);
    std::vector<std::array<double, 144>> second(hessian ? n : 0);
    for_each_of(n, threads, [&](std::size_t k) {
        Derivatives d = one(k);
        if (hessian && positive) d = project_positive(d);
        value[k] = d.value;
        gradient[k] = d.gradient;
        if (hessian) second[k] = d.hessian;
    });
    return py::make_tuple(taken<double>(std::move(value)), taken<double>(std::move(gradient)),
                          hessian ? py::object(taken<double>(std::move(second))) : py::object(py::none()));
}

// The squared distance of the stencil that is right for the features, by the coordinates of all four points.
Derivatives active_distance(ImpactKind kind, const FourPoints& points) {
    const ActiveStencil active = stencil_of(kind, points);
    FourPoints chosen;
    for (std::size_t k = 0; k < 4; ++k) chosen[k] = points[active.points[k]];
    const Derivatives d = derive_distance_sq(active.kind, chosen);
    const std::size_t used = active.kind == StencilKind::point_point  ? 2
                             : active.kind == StencilKind::point_edge ? 3
                                                                      : 4;
    Derivatives out;
    out.value = d.value;
    for (std::size_t a = 0; a < 3 * used; ++a) {
        const std::size_t row = 3u * active.points[a / 3] + a % 3;
        out.gradient[row] += d.gradient[a];
        for (std::size_t b = 0; b < 3 * used; ++b)
            out.hessian[12 * row + 3u * active.points[b / 3] + b % 3] += d.hessian[12 * a + b];
    }
    return out;
}

py::tuple squared_distances(bool edges, const py::array& points, bool hessian, bool positive, unsigned threads) {
    const auto given = rows<FourPoints, double>(points);
    return derivatives(given.size(), hessian, positive, threads,
                       [&](std::size_t k) { return active_distance(kind_of(edges), given[k]); });
}

// thresholds: one per row.
py::tuple barriers(bool edges, const py::array& points, double activation_sq, const py::array& thresholds, bool hessian,
                   bool positive, unsigned threads) {
    const auto given = rows<FourPoints, double>(points);
    const auto threshold = elements<double>(thresholds);
    return derivatives(given.size(), hessian, positive, threads, [&](std::size_t k) {
        return contact_barrier(kind_of(edges), given[k], activation_sq, threshold[k]);
    });
}

// forces: one per row.
py::tuple frictions(bool edges, const py::array& points, const py::array& displacements, const py::array& forces,
                    double mu, double threshold, bool hessian, bool positive, unsigned threads) {
    const auto given = rows<FourPoints, double>(points), moved = rows<FourPoints, double>(displacements);
    const auto force = elements<double>(forces);
    return derivatives(given.size(), hessian, positive, threads, [&](std::size_t k) {
        return friction_potential(friction_contact(kind_of(edges), given[k], force[k]), moved[k], mu, threshold);
    });
}

}  // namespace

void bind_features(py::module_& module) {
    module.def("impact_times", times_of, "edges"_a, "start"_a, "end"_a, "min_distance"_a, "tolerance"_a, "threads"_a);
    module.def("closest_points", closest_of, "edges"_a, "points"_a, "threads"_a);
    module.def("closest_triangles", closest_triangles_of, "a"_a, "b"_a, "threads"_a);
    module.def("triangles_intersect", intersecting, "a"_a, "b"_a, "threads"_a);
    module.def("squared_distances", squared_distances, "edges"_a, "points"_a, "hessian"_a, "positive"_a, "threads"_a);
    module.def("contact_barriers", barriers, "edges"_a, "points"_a, "activation_sq"_a, "thresholds"_a, "hessian"_a,
               "positive"_a, "threads"_a);
    module.def("friction_potentials", frictions, "edges"_a, "points"_a, "displacements"_a, "forces"_a, "mu"_a,
               "threshold"_a, "hessian"_a, "positive"_a, "threads"_a);
}

}  // namespace quadrat::python
