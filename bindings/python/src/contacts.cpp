// Contact of moving meshes: find_contacts as a structured array, find_candidates, and times of single queries.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include <quadrat/ccd.hpp>

#include <pybind11/stl.h>

#include <array>
#include <cstdint>
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

// (contacts, earliest, [vertex times of each mesh], number of candidates)
py::tuple contacts_of(const std::vector<py::tuple>& given, double min_distance, double tolerance,
                      const std::string& scope, std::uint64_t max_candidates, unsigned threads) {
    const std::vector<MovingMesh> meshes = meshes_of(given);
    const ContactOptions options = options_of(min_distance, tolerance, scope, max_candidates, threads);
    ContactList list;
    Call().run([&] { list = quadrat::find_contacts(std::span<const MovingMesh>(meshes), options); });
    py::array_t<Row> contacts(static_cast<py::ssize_t>(list.size()));
    Row* to = contacts.mutable_data();
    for (const Contact& c : list) *to++ = row_of(c);
    py::list times;
    for (std::vector<double>& of_mesh : list.vertex_times) times.append(taken<double>(std::move(of_mesh)));
    return py::make_tuple(contacts, list.earliest, times, list.candidates);
}

py::dict candidates_of(const std::vector<py::tuple>& given, double min_distance, const std::string& scope,
                       std::uint64_t max_candidates, unsigned threads) {
    const std::vector<MovingMesh> meshes = meshes_of(given);
    const ContactOptions options = options_of(min_distance, 1e-6, scope, max_candidates, threads);
    Candidates found;
    Call().run([&] { found = quadrat::find_candidates(meshes, options); });
    return py::dict("edges"_a = taken<std::uint32_t>(std::move(found.edges)),
                    "vertex_face"_a = taken<std::uint32_t>(std::move(found.vertex_face)),
                    "edge_edge"_a = taken<std::uint32_t>(std::move(found.edge_edge)),
                    "vertex_edge"_a = taken<std::uint32_t>(std::move(found.vertex_edge)),
                    "vertex_vertex"_a = taken<std::uint32_t>(std::move(found.vertex_vertex)));
}

// start, end: (N, 12), four points each.
py::array times_of(bool edges, const py::array& start, const py::array& end, double min_distance, double tolerance) {
    const auto from = rows<FourPoints, double>(start);
    const auto to = rows<FourPoints, double>(end);
    std::vector<double> times(from.size());
    Call().run([&] {
        impact_times(edges ? ImpactKind::edge_edge : ImpactKind::vertex_face, from, to, times,
                     {.tolerance = tolerance, .min_distance = min_distance});
    });
    return taken<double>(std::move(times));
}

}  // namespace

void bind_contacts(py::module_& module) {
    PYBIND11_NUMPY_DTYPE(Row, time, distance, barycentric, normal, first, second, meshes, features, vertices, kind);
    module.def("find_contacts", contacts_of, "meshes"_a, "min_distance"_a, "tolerance"_a, "scope"_a, "max_candidates"_a,
               "threads"_a);
    module.def("find_candidates", candidates_of, "meshes"_a, "min_distance"_a, "scope"_a, "max_candidates"_a,
               "threads"_a);
    module.def("impact_times", times_of, "edges"_a, "start"_a, "end"_a, "min_distance"_a, "tolerance"_a);
}

}  // namespace quadrat::python
