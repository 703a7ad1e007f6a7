// Meshes to contacts, in four steps: number the features and bound their motion by boxes; all overlapping boxes (broad
// phase); drop incident, masked and out-of-scope pairs; decide each pair, the easy ones in blocks by SIMD. Chunks
// depend on counts only and are joined in order.
#include <quadrat/ccd/contacts.hpp>

#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "ccd/box_pairs.hpp"
#include "ccd/features.hpp"
#include "ccd/filter.hpp"
#include "ccd/impact_batch.hpp"
#include "ccd/separation.hpp"
#include "ccd/separation_kernel.hpp"
#include "ccd/vector.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

namespace quadrat {
namespace {

using namespace ccd;

constexpr std::size_t grain = 16384;

void check(const ContactOptions& options) {
    if (!(options.tolerance >= 1e-9 && options.tolerance <= 1))
        throw Error(ErrorKind::bad_value, "must be in [1e-9, 1]", {.field = "tolerance"});
    if (!(options.min_distance >= 0 && std::isfinite(options.min_distance)))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "min_distance"});
}

// Which meshes may meet.
class MeetingRule {
  public:
    MeetingRule(std::span<const MovingMesh> meshes, ContactScope scope)
        : count_(meshes.size()), allowed_(count_ * count_) {
        for (std::size_t i = 0; i < count_; ++i)
            for (std::size_t j = 0; j < count_; ++j) {
                const bool masks = (meshes[i].group & meshes[j].mask) && (meshes[j].group & meshes[i].mask);
                const bool in_scope = scope == ContactScope::all || (scope == ContactScope::within) == (i == j);
                allowed_[i * count_ + j] = masks && in_scope;
                everything_ &= allowed_[i * count_ + j] != 0;
            }
    }

    [[nodiscard]] bool everything() const { return everything_; }
    [[nodiscard]] bool operator()(std::uint32_t a, std::uint32_t b) const { return allowed_[a * count_ + b] != 0; }

  private:
    std::size_t count_;
    std::vector<std::uint8_t> allowed_;
    bool everything_ = true;
};

// Keeps the pairs for which keep(pair) holds, in order, and lets it rewrite them. Chunks compact in place, then close
// up.
template <class Keep>
void filter_pairs(std::vector<Pair>& pairs, Executor* executor, Keep&& keep) {
    const std::size_t chunks = base::chunk_count(pairs.size(), 4 * grain);
    std::vector<std::size_t> kept(chunks);
    base::run_tasks(executor, chunks, [&](std::size_t c) {
        const std::size_t begin = c * 4 * grain;
        const std::size_t end = std::min(pairs.size(), begin + 4 * grain);
        std::size_t out = begin;
        for (std::size_t i = begin; i < end; ++i) {
            Pair p = pairs[i];
            const bool good = keep(p);
            pairs[out] = p;
            out += good;
        }
        kept[c] = out - begin;
    });
    std::size_t out = chunks ? kept[0] : 0;
    for (std::size_t c = 1; c < chunks; ++c) {
        std::copy_n(pairs.begin() + static_cast<std::ptrdiff_t>(c * 4 * grain), kept[c],
                    pairs.begin() + static_cast<std::ptrdiff_t>(out));
        out += kept[c];
    }
    pairs.resize(out);
}

// One kind of query: the vertices of a candidate pair.
struct Corners {
    const Features& f;
    ContactKind kind;

    void operator()(const Pair& p, std::uint32_t (&v)[4]) const {
        switch (kind) {
            case ContactKind::vertex_face: {
                const Triangle& t = f.faces[p.second];
                v[0] = p.first, v[1] = t.a, v[2] = t.b, v[3] = t.c;
                break;
            }
            case ContactKind::edge_edge: {
                const auto& a = f.edges[p.first];
                const auto& b = f.edges[p.second];
                v[0] = a[0], v[1] = a[1], v[2] = b[0], v[3] = b[1];
                break;
            }
            case ContactKind::vertex_edge: {
                const auto& e = f.edges[p.second];
                v[0] = p.first, v[1] = e[0], v[2] = e[1], v[3] = e[1];
                break;
            }
            case ContactKind::vertex_vertex:
                v[0] = p.first, v[1] = v[2] = v[3] = p.second;
                break;
        }
    }
};

void find_candidates(const Features& f, std::span<const MovingMesh> meshes, const ContactOptions& options,
                     Candidates& out) {
    Executor* executor = options.executor;
    const double grow = options.min_distance / 2;
    const MeetingRule meet(meshes, options.scope);
    const bool free_rule = meet.everything();

    // Boxes in double decide where rounding to float made them larger.
    const auto apart_in_double = [&](const std::uint32_t(&v)[4], int first, int count) {
        return !overlap(trace_box(f, v, first, grow), trace_box(f, v + first, count - first, grow));
    };
    FeatureBoxes vertices;
    FeatureBoxes faces;
    FeatureBoxes edges;
    if (!f.faces.empty()) {
        vertex_boxes(f, f.used, grow, executor, vertices);
        face_boxes(f, grow, executor, faces);
        find_box_pairs(vertices.view(), faces.view(), executor, out.vertex_face);
        const bool exact = vertices.exact && faces.exact;
        filter_pairs(out.vertex_face, executor, [&](Pair& p) {
            p.first = f.used[p.first];
            const Triangle& t = f.faces[p.second];
            bool good = (p.first != t.a) & (p.first != t.b) & (p.first != t.c);
            if (!free_rule) good = good && meet(f.mesh[p.first], f.mesh[t.a]);
            if (!exact && good) good = !apart_in_double({p.first, t.a, t.b, t.c}, 1, 4);
            return good;
        });
    }
    if (!f.edges.empty()) {
        edge_boxes(f, {}, grow, executor, edges);
        find_box_pairs(edges.view(), executor, out.edge_edge);
        filter_pairs(out.edge_edge, executor, [&](Pair& p) {
            const auto& a = f.edges[p.first];
            const auto& b = f.edges[p.second];
            bool good = (a[0] != b[0]) & (a[0] != b[1]) & (a[1] != b[0]) & (a[1] != b[1]);
            if (!free_rule) good = good && meet(f.mesh[a[0]], f.mesh[b[0]]);
            if (!edges.exact && good) good = !apart_in_double({a[0], a[1], b[0], b[1]}, 2, 4);
            return good;
        });
    }
    if (!f.free_points.empty()) {
        vertex_boxes(f, f.free_points, grow, executor, vertices);
        find_box_pairs(vertices.view(), executor, out.vertex_vertex);
        filter_pairs(out.vertex_vertex, executor, [&](Pair& p) {
            p = {f.free_points[p.first], f.free_points[p.second]};
            return meet(f.mesh[p.first], f.mesh[p.second]) && !apart_in_double({p.first, p.second, 0, 0}, 1, 2);
        });
        if (!f.free_edges.empty()) {
            edge_boxes(f, f.free_edges, grow, executor, edges);
            find_box_pairs(vertices.view(), edges.view(), executor, out.vertex_edge);
            filter_pairs(out.vertex_edge, executor, [&](Pair& p) {
                p = {f.free_points[p.first], f.free_edges[p.second]};
                const auto& e = f.edges[p.second];
                return p.first != e[0] && p.first != e[1] && meet(f.mesh[p.first], f.mesh[e[0]]) &&
                       !apart_in_double({p.first, e[0], e[1], 0}, 1, 3);
            });
        }
    }
}

void fill(DifferenceBlock& block, std::size_t q, const Features& f, const std::uint32_t (&v)[4], bool edges) {
    const auto put = [&](int vector, std::uint32_t a, std::uint32_t b) {
        const Trace& s = f.vertices[a];
        const Trace& t = f.vertices[b];
        for (int k = 0; k < 3; ++k) {
            block.value[vector][k][q] = s.start[k] - t.start[k];
            block.value[vector + 1][k][q] = s.end[k] - t.end[k];
        }
    };
    if (edges) {
        put(0, v[2], v[0]);
        put(2, v[3], v[0]);
        put(4, v[2], v[1]);
        put(6, v[3], v[1]);
    } else {
        put(0, v[1], v[0]);
        put(2, v[2], v[0]);
        put(4, v[3], v[0]);
    }
}

struct Hit {
    double time;
    Pair pair;
};

// Decides all candidates of one kind; appends the hits in the order of the candidates.
void decide(const Features& f, ContactKind kind, std::span<const Pair> pairs, const ContactOptions& options,
            std::vector<Hit>& hits, ImpactStatistics& statistics) {
    const bool edges = kind == ContactKind::edge_edge;
    const ImpactKind query = edges ? ImpactKind::edge_edge : ImpactKind::vertex_face;
    const Corners corners{f, kind};
    const std::size_t chunks = base::chunk_count(pairs.size(), grain);
    std::vector<std::vector<Hit>> found(chunks);
    std::vector<ImpactStatistics> counted(chunks);
    base::run_tasks(options.executor, chunks, [&](std::size_t c) {
        DifferenceBlock block;
        const std::size_t end = std::min(pairs.size(), (c + 1) * grain);
        for (std::size_t begin = c * grain; begin < end; begin += block_size) {
            const std::size_t n = std::min(block_size, end - begin);
            std::uint32_t v[block_size][4];
            for (std::size_t q = 0; q < n; ++q) {
                corners(pairs[begin + q], v[q]);
                fill(block, q, f, v[q], edges);
            }
            for (std::size_t q = n; q < block_size; ++q)  // the rest of the last block repeats its first query
                fill(block, q, f, v[0], edges);
            std::uint64_t left = ~separated(block, edges ? 8 : 6, options.min_distance);
            if (n < block_size) left &= (std::uint64_t{1} << n) - 1;
            counted[c].queries += n;
            counted[c].by_separation += n - static_cast<std::size_t>(std::popcount(left));
            for (; left; left &= left - 1) {
                const auto q = static_cast<std::size_t>(std::countr_zero(left));
                FourPoints start;
                FourPoints finish;
                for (std::size_t i = 0; i < 4; ++i) {
                    const Trace& t = f.vertices[v[q][i]];
                    start[i] = {{t.start[0], t.start[1], t.start[2]}};
                    finish[i] = {{t.end[0], t.end[1], t.end[2]}};
                }
                const double time = options.min_distance > 0
                                        ? separation_time(query, start, finish, options.min_distance, options.tolerance)
                                        : settle(query, start, finish, options.tolerance, false, counted[c]);
                if (time <= 1) found[c].push_back({time, pairs[begin + q]});
            }
        }
    });
    for (std::size_t c = 0; c < chunks; ++c) {
        hits.insert(hits.end(), found[c].begin(), found[c].end());
        statistics.queries += counted[c].queries;
        statistics.by_separation += counted[c].by_separation;
        statistics.by_cubic += counted[c].by_cubic;
        statistics.by_interval += counted[c].by_interval;
        statistics.by_exact += counted[c].by_exact;
    }
}

Contact make_contact(const Features& f, ContactKind kind, const Hit& hit) {
    Contact c;
    c.time = hit.time;
    c.kind = kind;
    std::uint32_t v[4] = {};
    Corners{f, kind}(hit.pair, v);
    FourPoints start;
    FourPoints end;
    const ImpactKind query = kind == ContactKind::edge_edge ? ImpactKind::edge_edge : ImpactKind::vertex_face;
    const std::size_t first = query == ImpactKind::edge_edge ? 2 : 1;
    for (std::size_t i = 0; i < 4; ++i) {
        const Trace& t = f.vertices[v[i]];
        start[i] = {{t.start[0], t.start[1], t.start[2]}};
        end[i] = {{t.end[0], t.end[1], t.end[2]}};
    }
    const Impact impact = describe(query, start, end, hit.time);
    c.barycentric = impact.barycentric;
    c.normal = impact.normal;
    for (std::size_t i = 0; i < 4; ++i) {
        const Vec3d p = lerp(start[i], end[i], hit.time);
        Vec3d& sum = c.points[i < first ? 0 : 1];
        sum = sum + c.barycentric[i] * p;
    }
    c.distance = norm(c.points[0] - c.points[1]);
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

}  // namespace

Candidates find_candidates(std::span<const MovingMesh> meshes, const ContactOptions& options) {
    check(options);
    const Features f = make_features(meshes);
    Candidates out;
    find_candidates(f, meshes, options, out);
    out.edges = f.edges;
    return out;
}

ContactList find_contacts(std::span<const MovingMesh> meshes, const ContactOptions& options) {
    check(options);
    const Features f = make_features(meshes);
    Candidates candidates;
    find_candidates(f, meshes, options, candidates);
    ContactList list;
    list.candidates = candidates.size();
    const std::pair<ContactKind, const std::vector<Pair>*> kinds[] = {
        {ContactKind::vertex_face, &candidates.vertex_face},
        {ContactKind::edge_edge, &candidates.edge_edge},
        {ContactKind::vertex_edge, &candidates.vertex_edge},
        {ContactKind::vertex_vertex, &candidates.vertex_vertex},
    };
    for (const auto& [kind, pairs] : kinds) {
        std::vector<Hit> hits;
        decide(f, kind, *pairs, options, hits, list.statistics);
        for (const Hit& hit : hits) list.contacts.push_back(make_contact(f, kind, hit));
    }
    const auto key = [](const Contact& c) { return std::tie(c.time, c.kind, c.meshes, c.features); };
    std::sort(list.contacts.begin(), list.contacts.end(),
              [&](const Contact& a, const Contact& b) { return key(a) < key(b); });
    if (!list.contacts.empty()) list.earliest = list.contacts.front().time;
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
