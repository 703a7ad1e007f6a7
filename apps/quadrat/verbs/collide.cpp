// quadrat collide: continuous contact of meshes given at the start and the end of a step; files of single queries are
// in collide_queries.cpp.
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/by_ending.hpp"
#include "io/files.hpp"
#include "verb.hpp"
#include "verbs/collide.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* kind_names[] = {"vertex-face", "edge-edge", "vertex-edge", "vertex-vertex"};

// Numbers with commas between them.
template <class Values>
std::string row(const Values& values) {
    std::string text;
    for (const auto& v : values) text += (text.empty() ? "" : ",") + Json(v).dump();
    return text;
}

struct Moving {
    io::Mesh start, end;
};

// Whether the first place where two lists differ is i.
template <class List>
bool differ(const List& a, const List& b, std::size_t i) {
    return i >= a.size() || i >= b.size() || !(a[i] == b[i]);
}

// A file of vertices alone is a cloud of points.
void name_points(io::Mesh& mesh) {
    if (!mesh.triangles.empty() || !mesh.segments.empty() || !mesh.points.empty()) return;
    for (std::uint32_t v = 0; v < mesh.vertices.size(); ++v) mesh.points.push_back(v);
}

Moving read_moving(const std::string& from, const std::string& to) {
    Moving m{io::read_mesh(from), io::read_mesh(to)};
    for (const auto& [mesh, path] : {std::pair{&m.start, &from}, {&m.end, &to}}) {
        if (mesh->vertices.empty()) throw Error(ErrorKind::bad_shape, "the mesh has no vertices", {.file = *path});
        name_points(*mesh);
    }
    if (m.start.vertices.size() != m.end.vertices.size())
        throw Error(ErrorKind::bad_shape,
                    std::to_string(m.end.vertices.size()) + " vertices, but " +
                        std::to_string(m.start.vertices.size()) + " at the start of the step",
                    {.file = to});
    const auto same = [&](const auto& a, const auto& b, const char* what) {
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
            if (differ(a, b, i))
                throw Error(ErrorKind::bad_shape, std::string(what) + " differ from those at the start of the step",
                            {.file = to, .index = i});
    };
    same(m.start.triangles, m.end.triangles, "the triangles");
    same(m.start.segments, m.end.segments, "the segments");
    same(m.start.points, m.end.points, "the points");
    for (const auto& [mesh, path] : {std::pair{&m.start, &from}, {&m.end, &to}})
        for (std::size_t i = 0; i < mesh->vertices.size(); ++i)
            for (const double x : mesh->vertices[i].v)
                if (!std::isfinite(x))
                    throw Error(ErrorKind::bad_value, "a coordinate is not finite", {.file = *path, .index = i});
    return m;
}

Json contact_json(const Contact& c) {
    return {{"time", c.time},
            {"kind", kind_names[static_cast<int>(c.kind)]},
            {"meshes", c.meshes},
            {"features", c.features},
            {"vertices", c.vertices},
            {"barycentric", c.barycentric},
            {"points",
             {{c.points[0][0], c.points[0][1], c.points[0][2]}, {c.points[1][0], c.points[1][1], c.points[1][2]}}},
            {"normal", {c.normal[0], c.normal[1], c.normal[2]}},
            {"distance", c.distance}};
}

void write_contacts(const std::string& path, const ContactList& list) {
    io::AtomicFile file(path);
    if (path.ends_with(".json")) {
        Json all = Json::array();
        for (const Contact& c : list) all.push_back(contact_json(c));
        file.write(all.dump(1) + "\n");
    } else {
        file.write(
            "time,kind,mesh_a,mesh_b,feature_a,feature_b,v0,v1,v2,v3,w0,w1,w2,w3,ax,ay,az,bx,by,bz,nx,ny,nz,"
            "distance\n");
        for (const Contact& c : list)
            file.write(number(c.time) + ',' + kind_names[static_cast<int>(c.kind)] + ',' + row(c.meshes) + ',' +
                       row(c.features) + ',' + row(c.vertices) + ',' + row(c.barycentric) + ',' + row(c.points[0].v) +
                       ',' + row(c.points[1].v) + ',' + row(c.normal.v) + ',' + number(c.distance) + '\n');
    }
    file.commit();
}

// The first contact of each vertex; inf without one.
void write_vertex_times(const std::string& path, const ContactList& list) {
    io::AtomicFile file(path);
    file.write("mesh,vertex,time\n");
    for (std::size_t m = 0; m < list.vertex_times.size(); ++m)
        for (std::size_t v = 0; v < list.vertex_times[m].size(); ++v)
            file.write(std::to_string(m) + ',' + std::to_string(v) + ',' + number(list.vertex_times[m][v]) + '\n');
    file.commit();
}

void print_earliest(const CollideOptions& options, double earliest, double read, double find) {
    if (options.json) {
        const Json json = {{"earliest", earliest <= 1 ? Json(earliest) : Json(nullptr)},
                           {"threads", options.threads},
                           {"seconds", {{"read", read}, {"find", find}}},
                           {"peak_rss_bytes", peak_rss_bytes()}};
        std::printf("%s\n", json.dump(2).c_str());
        return;
    }
    if (earliest <= 1)
        std::printf("the first contact at %.9f of the step\n", earliest);
    else
        std::printf("no contact\n");
    std::printf("read %.3f s, find %.3f s\n", read, find);
}

void run_meshes(const CollideOptions& options) {
    if (!options.out.empty() && !options.out.ends_with(".csv") && !options.out.ends_with(".json"))
        throw Error(ErrorKind::unsupported, "unknown ending: expected .csv or .json", {.file = options.out});
    Progress progress("reading");
    Timer timer;
    std::vector<Moving> files;
    files.push_back(read_moving(options.meshes[0], options.meshes[1]));
    for (std::size_t i = 0; i + 1 < options.with.size(); i += 2)
        files.push_back(read_moving(options.with[i], options.with[i + 1]));
    std::vector<MovingMesh> meshes;
    for (const Moving& m : files)
        meshes.push_back({.triangles = m.start.triangles,
                          .start = m.start.vertices,
                          .end = m.end.vertices,
                          .segments = m.start.segments,
                          .points = m.start.points});
    const double read = timer.lap();
    progress.now("colliding");
    const auto executor = options.threads == 1 ? nullptr : make_executor(options.threads);
    const ContactOptions contact{.min_distance = options.distance,
                                 .tolerance = options.tolerance,
                                 .scope = options.no_self ? ContactScope::between : ContactScope::all,
                                 .executor = executor.get(),
                                 .max_candidates = options.max_candidates};
    if (options.earliest) {
        const double earliest = earliest_time(meshes, 1, contact);
        print_earliest(options, earliest, read, timer.lap());
        return;
    }
    const ContactList list = find_contacts(meshes, contact);
    const double find = timer.lap();
    if (!options.out.empty()) write_contacts(options.out, list);
    if (!options.vertex_times.empty()) write_vertex_times(options.vertex_times, list);
    if (options.json) {
        Json json = {{"contacts", list.size()},
                     {"candidates", list.candidates},
                     {"earliest", list.empty() ? Json(nullptr) : Json(list.earliest)},
                     {"threads", options.threads},
                     {"seconds", {{"read", read}, {"find", find}}},
                     {"decided_by",
                      {{"separation", list.stats.by_separation},
                       {"cubic", list.stats.by_cubic},
                       {"interval", list.stats.by_interval},
                       {"exact", list.stats.by_exact}}},
                     {"peak_rss_bytes", peak_rss_bytes()}};
        std::printf("%s\n", json.dump(2).c_str());
    } else {
        std::printf("%s contacts among %s candidate pairs of features\n", grouped(list.size()).c_str(),
                    grouped(list.candidates).c_str());
        if (!list.empty()) std::printf("the first at %.9f of the step\n", list.earliest);
        std::printf("read %.3f s, find %.3f s\n", read, find);
    }
}

}  // namespace

void add_collide(CLI::App& app) {
    CLI::App* verb =
        add_verb(app, "collide", "Continuous contact of meshes between the start and the end of a step",
                 "  quadrat collide a0.obj a1.obj --with b0.obj b1.obj --distance 0.001 --out contacts.csv");
    const auto options = std::make_shared<CollideOptions>();
    verb->add_option("meshes", options->meshes,
                     "mesh (segments, points) at the start and at the end of the step (.obj .ply)")
        ->expected(0, 2);
    verb->add_option("--with", options->with, "another mesh at the start and at the end; may come more than once")
        ->type_size(2)
        ->allow_extra_args(false);
    verb->add_option("--queries", options->queries, "files of single queries with exact answers (.csv)");
    verb->add_option("--kind", options->kind,
                     "of the queries: vertex-face, edge-edge, or auto: by the path, or by the answers");
    verb->add_option("--distance", options->distance, "contact is being this close or closer (default 0: touching)");
    verb->add_option("--tolerance", options->tolerance, "of the times, as a share of the step (default 1e-6)");
    verb->add_flag("--no-self", options->no_self, "only between different meshes");
    verb->add_flag("--earliest", options->earliest, "only the time of the first contact, which is much faster");
    whole_number(verb->add_option("--threads", options->threads, "0: one per processor (default 1)"), 0, 1024);
    whole_number(verb->add_option("--max-candidates", options->max_candidates,
                                  "refuse steps with more candidate pairs than this"),
                 1, ~std::uint64_t{0})
        ->type_name("N")
        ->capture_default_str();
    verb->add_option("-o,--out", options->out, "contacts, .csv or .json");
    verb->add_option("--vertex-times", options->vertex_times, "the first contact of each vertex, .csv");
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] {
        if (!(options->distance >= 0 && std::isfinite(options->distance)))
            throw UsageError("--distance: must be finite and not negative");
        if (!(options->tolerance >= 1e-9 && options->tolerance <= 1))
            throw UsageError("--tolerance: must be between 1e-9 and 1");
        if (options->kind != "auto" && options->kind != "vertex-face" && options->kind != "edge-edge")
            throw UsageError("--kind: expected vertex-face, edge-edge or auto");
        if (!options->queries.empty()) {
            if (!options->meshes.empty()) throw UsageError("--queries takes no meshes");
            if (!options->with.empty() || options->no_self || options->earliest || !options->vertex_times.empty())
                throw UsageError("--queries takes no --with, --no-self, --earliest or --vertex-times");
            run_queries(*options);
            return;
        }
        if (options->meshes.size() != 2)
            throw UsageError("two meshes are needed: at the start and at the end of the step");
        if (options->with.size() % 2 != 0)
            throw UsageError("--with: each mesh at the start and at the end of the step");
        if (options->earliest && (!options->out.empty() || !options->vertex_times.empty()))
            throw UsageError("--earliest writes no --out or --vertex-times");
        run_meshes(*options);
    });
}

}  // namespace quadrat::cli
