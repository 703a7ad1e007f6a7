// Meshes to contacts, in three steps: number the features and bound their motion by boxes; stream the pairs whose boxes
// overlap (candidates.cpp); decide each pair while its block is in the cache (decide.cpp). Parts and chunks depend on
// the meshes only and are joined in order.
#include <quadrat/ccd/contacts.hpp>

#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "ccd/impact_batch.hpp"
#include "ccd/pipeline/candidates.hpp"
#include "ccd/pipeline/decide.hpp"
#include "ccd/pipeline/features.hpp"
#include "ccd/pipeline/limits.hpp"
#include "ccd/vector.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace quadrat {
namespace {

using namespace ccd;

void add(ImpactStats& sum, const ImpactStats& s) {
    sum.queries += s.queries;
    sum.by_separation += s.by_separation;
    sum.by_cubic += s.by_cubic;
    sum.by_interval += s.by_interval;
    sum.by_exact += s.by_exact;
}

Contact make_contact(const Features& f, ContactKind kind, const Hit& hit) {
    Contact c;
    c.time = hit.time;
    c.kind = kind;
    std::uint32_t v[4] = {};
    corners(f, kind, hit.pair, v);
    FourPoints start;
    FourPoints end;
    const ImpactKind query = query_of(kind);
    const std::size_t first = query == ImpactKind::edge_edge ? 2 : 1;
    for (std::size_t i = 0; i < 4; ++i) {
        start[i] = start_of(f.vertices[v[i]]);
        end[i] = end_of(f.vertices[v[i]]);
    }
    const Description now = describe(query, start, end, hit.time);
    c.barycentric = now.impact.barycentric;
    c.normal = now.impact.normal;
    c.distance = now.distance;
    for (std::size_t i = 0; i < 4; ++i) {
        const Vec3d p = lerp(start[i], end[i], hit.time);
        Vec3d& sum = c.points[i < first ? 0 : 1];
        sum = sum + c.barycentric[i] * p;
    }
    c.meshes = {f.mesh[v[0]], f.mesh[v[3]]};
    for (std::size_t i = 0; i < 4; ++i) c.vertices[i] = v[i] - f.first_vertex[c.meshes[i < first ? 0 : 1]];
    switch (kind) {
        case ContactKind::vertex_face:
            c.features = {c.vertices[0], hit.pair.second - f.first_face[c.meshes[1]]};
            break;
        case ContactKind::edge_edge:
            c.features = {hit.pair.first - f.first_edge[c.meshes[0]], hit.pair.second - f.first_edge[c.meshes[1]]};
            break;
        case ContactKind::vertex_edge:
            c.features = {c.vertices[0], hit.pair.second - f.first_edge[c.meshes[1]]};
            break;
        case ContactKind::vertex_vertex:
            c.features = {c.vertices[0], c.vertices[1]};
            break;
    }
    return c;
}

// What one part of the work found.
struct Found {
    ContactKind kind = ContactKind::vertex_face;
    std::vector<Hit> hits;
    ImpactStats statistics;
};

struct KindHit {
    Hit hit;
    ContactKind kind;
};

// The hits in the order of the list: by time, kind, meshes and features. They are sorted before they are described,
// since a contact is ten times as large.
std::vector<KindHit> in_order(const Features& f, const std::vector<Found>& found) {
    std::size_t count = 0;
    for (const Found& part : found) count += part.hits.size();
    std::vector<KindHit> hits;
    hits.reserve(count);
    for (const Found& part : found)
        for (const Hit& hit : part.hits) hits.push_back({hit, part.kind});
    const auto meshes = [&](const KindHit& h) {
        std::uint32_t v[4] = {};
        corners(f, h.kind, h.hit.pair, v);
        return std::pair(f.mesh[v[0]], f.mesh[v[3]]);
    };
    std::sort(hits.begin(), hits.end(), [&](const KindHit& a, const KindHit& b) {
        if (a.hit.time != b.hit.time) return a.hit.time < b.hit.time;
        if (a.kind != b.kind) return a.kind < b.kind;
        const auto m = meshes(a), n = meshes(b);
        // Inside a mesh the numbers of all features ascend as its own do.
        return m != n ? m < n : a.hit.pair < b.hit.pair;
    });
    return hits;
}

ContactList make_list(const Features& f, std::span<const MovingMesh> meshes, const std::vector<Found>& found,
                      const ContactOptions& options) {
    ContactList list;
    for (const Found& part : found) add(list.stats, part.statistics);
    list.candidates = list.stats.queries;
    const std::vector<KindHit> hits = in_order(f, found);
    list.contacts.resize(hits.size());
    base::parallel_for(options.executor, hits.size(), 1024, [&](std::size_t begin, std::size_t end) {
        base::check_stop(options.watch);
        for (std::size_t i = begin; i < end; ++i) list.contacts[i] = make_contact(f, hits[i].kind, hits[i].hit);
    });
    if (!hits.empty()) list.earliest = hits.front().hit.time;
    for (const MovingMesh& m : meshes)
        list.vertex_times.emplace_back(m.start.size(), std::numeric_limits<double>::infinity());
    for (const Contact& c : list.contacts) {
        const std::size_t first = c.kind == ContactKind::edge_edge ? 2 : 1;
        for (std::size_t i = 0; i < 4; ++i) {
            double& t = list.vertex_times[c.meshes[i < first ? 0 : 1]][c.vertices[i]];
            t = std::min(t, c.time);
        }
    }
    return list;
}

}  // namespace

Candidates find_candidates(std::span<const MovingMesh> meshes, const ContactOptions& options) {
    check(options);
    const Features f = make_features(meshes);
    CandidateStream stream(f, meshes, options);
    base::check_stop(options.watch);
    stream.prepare();
    base::check_stop(options.watch);
    Candidates out;
    out.edges = f.edges;
    std::vector<Pair>* const lists[] = {&out.vertex_face, &out.edge_edge, &out.vertex_edge, &out.vertex_vertex};
    const auto list = [&](std::size_t part) -> std::vector<Pair>& {
        return *lists[static_cast<std::size_t>(stream.kind(part))];
    };
    CandidateLimit limit(options.max_candidates);
    // On one thread straight into the lists; otherwise each part on its own, joined in order.
    std::vector<std::vector<Pair>> own(base::thread_count(options.executor) > 1 ? stream.parts() : 0);
    base::TaskProgress progress(options.watch, stream.parts());
    base::run_tasks(options.executor, stream.parts(), [&](std::size_t part) {
        if (limit.reached()) return;
        std::vector<Pair>& to = own.empty() ? list(part) : own[part];
        stream.run(part, [&](std::span<const Pair> pairs) {
            base::check_stop(options.watch);
            limit.add(pairs.size());
            to.insert(to.end(), pairs.begin(), pairs.end());
        });
        progress.done_one();
    });
    progress.finish();
    for (std::size_t part = 0; part < own.size(); ++part) {
        std::vector<Pair>& to = list(part);
        if (to.empty())
            to.swap(own[part]);
        else
            to.insert(to.end(), own[part].begin(), own[part].end());
    }
    return out;
}

ContactList find_contacts(std::span<const MovingMesh> meshes, const ContactOptions& options) {
    check(options);
    const Features f = make_features(meshes);
    CandidateStream stream(f, meshes, options);
    base::check_stop(options.watch);
    stream.prepare();
    base::check_stop(options.watch);
    const Decider decider(f, f.vertices, options.min_distance, options);
    CandidateLimit limit(options.max_candidates);
    std::vector<Found> found(stream.parts());
    base::TaskProgress progress(options.watch, stream.parts());
    base::run_tasks(options.executor, stream.parts(), [&](std::size_t part) {
        if (limit.reached()) return;
        found[part].kind = stream.kind(part);
        stream.run(part, [&](std::span<const Pair> pairs) {
            base::check_stop(options.watch);
            limit.add(pairs.size());
            decider.decide(found[part].kind, pairs, found[part].hits, found[part].statistics);
        });
        progress.done_one();
    });
    progress.finish();
    return make_list(f, meshes, found, options);
}

ContactList find_contacts(std::span<const MovingMesh> meshes, const Candidates& candidates,
                          const ContactOptions& options) {
    check(options);
    const Features f = make_features(meshes);
    const CandidateParts parts(f, candidates);
    const Decider decider(f, f.vertices, options.min_distance, options);
    std::vector<Found> found(parts.size());
    base::TaskProgress progress(options.watch, parts.size());
    base::run_tasks(options.executor, parts.size(), [&](std::size_t part) {
        found[part].kind = parts.kind(part);
        decider.decide(parts.kind(part), parts.pairs(part), found[part].hits, found[part].statistics);
        progress.done_one();
    });
    progress.finish();
    return make_list(f, meshes, found, options);
}

ContactList find_contacts(const MovingMesh& mesh, const ContactOptions& options) {
    return find_contacts(std::span<const MovingMesh>(&mesh, 1), options);
}

ContactList find_contacts(const MovingMesh& a, const MovingMesh& b, const ContactOptions& options) {
    const MovingMesh both[2] = {a, b};
    ContactOptions between = options;
    between.scope = ContactScope::between;
    return find_contacts(both, between);
}

}  // namespace quadrat
