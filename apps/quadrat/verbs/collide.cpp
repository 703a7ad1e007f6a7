// quadrat collide: continuous contact of meshes given at the start and the end of a step, and files of single queries
// with their exact answers.
#include <quadrat/ccd.hpp>
#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "io/by_ending.hpp"
#include "io/files.hpp"
#include "io/query_file.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

struct CollideOptions {
    std::vector<std::string> meshes;
    std::vector<std::string> with;
    std::vector<std::string> queries;
    std::string kind = "auto";
    std::string out;
    std::string vertex_times;
    double distance = 0;
    double tolerance = 1e-6;
    unsigned threads = 1;
    std::uint64_t max_candidates = ContactOptions{}.max_candidates;
    bool no_self = false;
    bool earliest = false;
    bool json = false;
};

constexpr const char* kind_names[] = {"vertex-face", "edge-edge", "vertex-edge", "vertex-vertex"};

// The shortest text that reads back as the same number.
std::string number(double x) {
    return std::isfinite(x) ? Json(x).dump() : "inf";
}

// Numbers with commas between them.
template <class Values>
std::string row(const Values& values) {
    std::string text;
    for (const auto& v : values) text += (text.empty() ? "" : ",") + Json(v).dump();
    return text;
}

// Of a file of queries: as told, or by its full path, or the kind that fits its answers better.
ImpactKind kind_of(const CollideOptions& options, const std::string& file, const std::vector<io::FileQuery>& queries) {
    if (options.kind == "edge-edge") return ImpactKind::edge_edge;
    if (options.kind == "vertex-face") return ImpactKind::vertex_face;
    const std::string path = std::filesystem::absolute(file).string();
    const std::size_t edges = path.rfind("edge-edge");
    const std::size_t faces = path.rfind("vertex-face");
    if (edges != faces)
        return faces == std::string::npos || (edges != std::string::npos && edges > faces) ? ImpactKind::edge_edge
                                                                                           : ImpactKind::vertex_face;
    std::size_t wrong[2] = {};
    for (const io::FileQuery& q : queries) {
        wrong[0] += (impact_time(ImpactKind::vertex_face, q.start, q.end) <= 1) != q.truth;
        wrong[1] += (impact_time(ImpactKind::edge_edge, q.start, q.end) <= 1) != q.truth;
    }
    if (wrong[0] == wrong[1] && !queries.empty())
        throw UsageError("--queries: nothing tells whether " + file + " is vertex-face or edge-edge; add --kind");
    return wrong[1] < wrong[0] ? ImpactKind::edge_edge : ImpactKind::vertex_face;
}

// The time of each query is the median of several runs over all of them.
void run_queries(const CollideOptions& options) {
    struct Entry {
        ImpactKind kind;
        io::FileQuery query;
    };
    std::vector<Entry> entries;
    std::size_t rounded = 0;
    for (const std::string& file : options.queries) {
        const std::vector<io::FileQuery> queries = io::read_query_file(file);
        const ImpactKind kind = kind_of(options, file, queries);
        for (const io::FileQuery& q : queries) {
            entries.push_back({kind, q});
            rounded += q.rounded;
        }
    }
    const ImpactOptions impact{.tolerance = options.tolerance, .min_distance = options.distance};
    constexpr std::size_t runs = 5;
    std::vector<std::array<double, runs>> nanoseconds(entries.size());
    std::vector<double> times(entries.size());
    for (std::size_t r = 0; r <= runs; ++r) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto begin = std::chrono::steady_clock::now();
            times[i] = impact_time(entries[i].kind, entries[i].query.start, entries[i].query.end, impact);
            const auto end = std::chrono::steady_clock::now();
            if (r > 0) nanoseconds[i][r - 1] = std::chrono::duration<double, std::nano>(end - begin).count();
        }
    }
    std::size_t truth = 0, reported = 0, false_positive = 0, false_negative = 0;
    std::vector<double> each;
    double sum = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool hit = times[i] <= 1;
        truth += entries[i].query.truth;
        reported += hit;
        false_positive += hit && !entries[i].query.truth;
        false_negative += !hit && entries[i].query.truth;
        std::sort(nanoseconds[i].begin(), nanoseconds[i].end());
        each.push_back(nanoseconds[i][runs / 2]);
        sum += each.back();
    }
    std::sort(each.begin(), each.end());
    const auto at = [&](double share) {
        return each.empty() ? 0.0
                            : each[std::min(each.size() - 1,
                                            static_cast<std::size_t>(share * static_cast<double>(each.size())))];
    };
    const double mean = each.empty() ? 0 : sum / static_cast<double>(each.size());
    if (!options.out.empty()) {
        io::AtomicFile file(options.out);
        file.write("query,truth,time\n");
        for (std::size_t i = 0; i < entries.size(); ++i)
            file.write(std::to_string(i) + (entries[i].query.truth ? ",1," : ",0,") + number(times[i]) + "\n");
        file.commit();
    }
    if (options.json) {
        const Json json = {{"queries", entries.size()},
                           {"truth_positive", truth},
                           {"reported_positive", reported},
                           {"false_positive", false_positive},
                           {"false_negative", false_negative},
                           {"ns_per_query", mean},
                           {"ns_median", at(0.5)},
                           {"ns_p999", at(0.999)},
                           {"rounded", rounded}};
        std::printf("%s\n", json.dump(2).c_str());
    } else {
        std::printf("%s queries: %s contacts in truth, %s reported, %s false positives, %s false negatives\n",
                    grouped(entries.size()).c_str(), grouped(truth).c_str(), grouped(reported).c_str(),
                    grouped(false_positive).c_str(), grouped(false_negative).c_str());
        std::printf("%.0f ns per query (median %.0f, 99.9 %% %.0f)\n", mean, at(0.5), at(0.999));
        if (rounded)
            std::printf("%s queries have coordinates that are no doubles and were rounded\n", grouped(rounded).c_str());
    }
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
                      {{"separation", list.statistics.by_separation},
                       {"cubic", list.statistics.by_cubic},
                       {"interval", list.statistics.by_interval},
                       {"exact", list.statistics.by_exact}}},
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
    verb->add_option("--with", options->with, "more meshes, each at the start and at the end")->expected(2, 256);
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
