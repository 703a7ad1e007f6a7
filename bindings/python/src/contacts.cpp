// Contact of moving meshes: contacts as a structured array, candidates that are kept, the time until the first one.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include <quadrat/ccd.hpp>

#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace quadrat::python {
namespace {

// A contact as a record of an array; quadrat/_contacts.py documents the fields.
struct Row {
    double time, distance;
    std::array<double, 4> barycentric;
    std::array<double, 3> normal, first, second;
    std::array<std::uint32_t, 2> meshes, features;
    std::array<std::uint32_t, 4> vertices;
    std::uint8_t kind;
};

std::array<double, 3> numbers(const Vec3d& v) {
    return {v[0], v[1], v[2]};
}

Row row_of(const Contact& c) {
    Row row = {};
    row.time = c.time;
    row.distance = c.distance;
    row.barycentric = c.barycentric;
    row.normal = numbers(c.normal);
    row.first = numbers(c.points[0]);
    row.second = numbers(c.points[1]);
    row.meshes = c.meshes;
    row.features = c.features;
    row.vertices = c.vertices;
    row.kind = static_cast<std::uint8_t>(c.kind);
    return row;
}

using Edge = std::array<std::uint32_t, 2>;

// (triangles, start, end, segments, points, group, mask), arrays or None.
MovingMesh mesh_of(const py::tuple& given) {
    MovingMesh mesh;
    const auto part = [&](std::size_t k) { return given[k].cast<py::object>(); };
    if (!part(0).is_none()) mesh.triangles = rows<Triangle, std::uint32_t>(part(0).cast<py::array>());
    mesh.start = points_of<3, double>(part(1).cast<py::array>());
    if (!part(2).is_none()) mesh.end = points_of<3, double>(part(2).cast<py::array>());
    if (!part(3).is_none()) mesh.segments = rows<Edge, std::uint32_t>(part(3).cast<py::array>());
    if (!part(4).is_none()) mesh.points = elements<std::uint32_t>(part(4).cast<py::array>());
    mesh.group = part(5).cast<std::uint32_t>();
    mesh.mask = part(6).cast<std::uint32_t>();
    return mesh;
}

std::vector<MovingMesh> meshes_of(const std::vector<py::tuple>& given) {
    std::vector<MovingMesh> meshes;
    for (const py::tuple& mesh : given) meshes.push_back(mesh_of(mesh));
    return meshes;
}

ContactOptions options_of(double min_distance, double tolerance, const std::string& scope, std::uint64_t max_candidates,
                          unsigned threads) {
    ContactOptions options;
    options.min_distance = min_distance;
    options.tolerance = tolerance;
    options.max_candidates = max_candidates;
    options.executor = executor_of(threads);
    if (scope == "between")
        options.scope = ContactScope::between;
    else if (scope == "within")
        options.scope = ContactScope::within;
    else if (scope != "all")
        throw Error(ErrorKind::bad_value, "must be all, between or within, not " + scope, {.field = "scope"});
    return options;
}

// fn(meshes, options) without the GIL, so that Ctrl-C ends it.
template <class Fn>
void watched(const std::vector<py::tuple>& given, ContactOptions options, Fn&& fn) {
    const std::vector<MovingMesh> meshes = meshes_of(given);
    std::size_t vertices = 0;
    for (const MovingMesh& mesh : meshes) vertices += mesh.start.size();
    Call call(py::none(), vertices > 2'000 ? Call::Work::aside : Call::Work::here);
    options.watch = call.watch();
    call.run([&] { fn(std::span<const MovingMesh>(meshes), options); });
}

// Candidates that stay, and whose memory arrays share.
struct Kept {
    std::shared_ptr<const Candidates> pairs;
};

// (contacts, earliest, [vertex times of each mesh], number of candidates)
// kept: candidates of before, or null.
py::tuple contacts_of(const std::vector<py::tuple>& given, const Kept* kept, double min_distance, double tolerance,
                      const std::string& scope, std::uint64_t max_candidates, unsigned threads) {
    ContactList list;
    watched(given, options_of(min_distance, tolerance, scope, max_candidates, threads),
            [&](std::span<const MovingMesh> meshes, const ContactOptions& options) {
                list = kept ? quadrat::find_contacts(meshes, *kept->pairs, options)
                            : quadrat::find_contacts(meshes, options);
            });
    py::array_t<Row> contacts(static_cast<py::ssize_t>(list.size()));
    Row* to = contacts.mutable_data();
    for (const Contact& c : list) *to++ = row_of(c);
    py::list times;
    for (std::vector<double>& of_mesh : list.vertex_times) times.append(taken<double>(std::move(of_mesh)));
    return py::make_tuple(contacts, list.earliest, times, list.candidates);
}

double earliest_of(const std::vector<py::tuple>& given, const Kept* kept, double t_max, double min_distance,
                   double tolerance, const std::string& scope, std::uint64_t max_candidates, unsigned threads) {
    double time = 0;
    watched(given, options_of(min_distance, tolerance, scope, max_candidates, threads),
            [&](std::span<const MovingMesh> meshes, const ContactOptions& options) {
                time =
                    kept ? earliest_time(meshes, *kept->pairs, t_max, options) : earliest_time(meshes, t_max, options);
            });
    return time;
}

Kept candidates_of(const std::vector<py::tuple>& given, double min_distance, const std::string& scope,
                   std::uint64_t max_candidates, unsigned threads) {
    const auto found = std::make_shared<Candidates>();
    watched(given, options_of(min_distance, 1e-6, scope, max_candidates, threads),
            [&](std::span<const MovingMesh> meshes, const ContactOptions& options) {
                *found = quadrat::find_candidates(meshes, options);
            });
    return {found};
}

// Pairs of numbers on the memory of the candidates.
template <class E>
py::array pairs_view(const std::vector<E>& pairs, const std::shared_ptr<const Candidates>& owner) {
    static_assert(sizeof(E) == 8);
    if (pairs.empty()) return py::array_t<std::uint32_t>(Shape{0, 2});
    auto array =
        view(reinterpret_cast<const std::uint32_t*>(pairs.data()), {static_cast<py::ssize_t>(pairs.size()), 2}, owner);
    array.attr("flags").attr("writeable") = false;  // a line search may look at them at any time
    return array;
}

py::dict arrays_of(const Kept& kept) {
    const auto& c = kept.pairs;
    return py::dict("edges"_a = pairs_view(c->edges, c), "vertex_face"_a = pairs_view(c->vertex_face, c),
                    "edge_edge"_a = pairs_view(c->edge_edge, c), "vertex_edge"_a = pairs_view(c->vertex_edge, c),
                    "vertex_vertex"_a = pairs_view(c->vertex_vertex, c));
}

std::vector<Pair> pairs_from(const py::array& given) {
    const auto all = rows<Pair, std::uint32_t>(given);
    return {all.begin(), all.end()};
}

// The candidates of arrays as arrays_of() gives them.
Kept kept_from(const py::array& edges, const py::array& vertex_face, const py::array& edge_edge,
               const py::array& vertex_edge, const py::array& vertex_vertex) {
    const auto found = std::make_shared<Candidates>();
    const auto all_edges = rows<Edge, std::uint32_t>(edges);
    found->edges.assign(all_edges.begin(), all_edges.end());
    found->vertex_face = pairs_from(vertex_face);
    found->edge_edge = pairs_from(edge_edge);
    found->vertex_edge = pairs_from(vertex_edge);
    found->vertex_vertex = pairs_from(vertex_vertex);
    return {found};
}

}  // namespace

void bind_contacts(py::module_& module) {
    PYBIND11_NUMPY_DTYPE(Row, time, distance, barycentric, normal, first, second, meshes, features, vertices, kind);
    py::class_<Kept>(module, "Candidates")
        .def(py::init(&kept_from), "edges"_a, "vertex_face"_a, "edge_edge"_a, "vertex_edge"_a, "vertex_vertex"_a)
        .def("arrays", arrays_of)
        .def("size", [](const Kept& kept) { return kept.pairs->size(); });
    module.def("find_contacts", contacts_of, "meshes"_a, "candidates"_a, "min_distance"_a, "tolerance"_a, "scope"_a,
               "max_candidates"_a, "threads"_a);
    module.def("earliest_time", earliest_of, "meshes"_a, "candidates"_a, "t_max"_a, "min_distance"_a, "tolerance"_a,
               "scope"_a, "max_candidates"_a, "threads"_a);
    module.def("find_candidates", candidates_of, "meshes"_a, "min_distance"_a, "scope"_a, "max_candidates"_a,
               "threads"_a);
}

}  // namespace quadrat::python
