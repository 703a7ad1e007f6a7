// Meshes to contacts, in three steps: number the features and bound their motion by boxes; stream the pairs whose boxes
// overlap (candidates.cpp); decide each pair while its block is in the cache, the easy ones by SIMD. Parts and chunks
// depend on the meshes only and are joined in order.
#include <quadrat/ccd/contacts.hpp>

#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>

#include "base/parallel.hpp"
#include "ccd/filter/filter.hpp"
#include "ccd/filter/separation.hpp"
#include "ccd/filter/separation_kernel.hpp"
#include "ccd/impact_batch.hpp"
#include "ccd/pipeline/candidates.hpp"
#include "ccd/pipeline/features.hpp"
#include "ccd/vector.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <string>
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

// Ends a search that became hopeless. Which part notices depends on the threads; that one does, and what it says, does
// not.
class CandidateLimit {
  public:
    explicit CandidateLimit(std::uint64_t limit) : limit_(limit) {}
    [[nodiscard]] bool reached() const { return sum_.load(std::memory_order_relaxed) > limit_; }
    void add(std::size_t candidates) {
        if (sum_.fetch_add(candidates, std::memory_order_relaxed) + candidates > limit_)
            throw Error(ErrorKind::too_large,
                        "more than " + std::to_string(limit_) +
                            " candidates: features move far against their size; shorten the step or raise this limit",
                        {.field = "max_candidates"});
    }

  private:
    std::uint64_t limit_;
    std::atomic<std::uint64_t> sum_{0};
};

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

void add(ImpactStatistics& sum, const ImpactStatistics& s) {
    sum.queries += s.queries;
    sum.by_separation += s.by_separation;
    sum.by_cubic += s.by_cubic;
    sum.by_interval += s.by_interval;
    sum.by_exact += s.by_exact;
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
        add(statistics, counted[c]);
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
    CandidateStream stream(f, meshes, options);
    stream.prepare();
    Candidates out;
    out.edges = f.edges;
    std::vector<Pair>* const lists[] = {&out.vertex_face, &out.edge_edge, &out.vertex_edge, &out.vertex_vertex};
    const auto list = [&](std::size_t part) -> std::vector<Pair>& {
        return *lists[static_cast<std::size_t>(stream.kind(part))];
    };
    CandidateLimit limit(options.max_candidates);
    // On one thread straight into the lists; otherwise each part on its own, joined in order.
    std::vector<std::vector<Pair>> own(base::thread_count(options.executor) > 1 ? stream.parts() : 0);
    base::run_tasks(options.executor, stream.parts(), [&](std::size_t part) {
        if (limit.reached()) return;
        std::vector<Pair>& to = own.empty() ? list(part) : own[part];
        stream.run(part, [&](std::span<const Pair> pairs) {
            limit.add(pairs.size());
            to.insert(to.end(), pairs.begin(), pairs.end());
        });
    });
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
    stream.prepare();
    ContactList list;
    CandidateLimit limit(options.max_candidates);
    std::vector<std::vector<Hit>> hits(stream.parts());
    std::vector<ImpactStatistics> statistics(stream.parts());
    base::run_tasks(options.executor, stream.parts(), [&](std::size_t part) {
        if (limit.reached()) return;
        stream.run(part, [&](std::span<const Pair> pairs) {
            limit.add(pairs.size());
            decide(f, stream.kind(part), pairs, options, hits[part], statistics[part]);
        });
    });
    for (std::size_t part = 0; part < stream.parts(); ++part) {
        add(list.statistics, statistics[part]);
        const std::size_t first = list.contacts.size();
        list.contacts.resize(first + hits[part].size());
        base::parallel_for(options.executor, hits[part].size(), 1024, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                list.contacts[first + i] = make_contact(f, stream.kind(part), hits[part][i]);
        });
    }
    list.candidates = list.statistics.queries;
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
