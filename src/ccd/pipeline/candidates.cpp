#include "ccd/pipeline/candidates.hpp"

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"

#include <iterator>
#include <utility>

namespace quadrat::ccd {

MeetingRule::MeetingRule(std::span<const MovingMesh> meshes, ContactScope scope)
    : count_(meshes.size()), allowed_(count_ * count_) {
    for (std::size_t i = 0; i < count_; ++i)
        for (std::size_t j = 0; j < count_; ++j) {
            const bool masks = (meshes[i].group & meshes[j].mask) && (meshes[j].group & meshes[i].mask);
            const bool in_scope = scope == ContactScope::all || (scope == ContactScope::within) == (i == j);
            allowed_[i * count_ + j] = masks && in_scope;
            everything_ &= allowed_[i * count_ + j] != 0;
        }
}

class CandidateStream::Scratch {
  public:
    explicit Scratch(const CandidateStream& owner) : owner_(owner) {
        const std::lock_guard lock(owner.mutex_);
        if (owner.free_.empty()) return;
        pairs.swap(owner.free_.back());
        owner.free_.pop_back();
    }
    ~Scratch() {
        pairs.clear();
        const std::lock_guard lock(owner_.mutex_);
        owner_.free_.push_back(std::move(pairs));
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::vector<Pair> pairs;

  private:
    const CandidateStream& owner_;
};

namespace {

// Keeps the pairs for which keep(pair) holds, in order; keep may rewrite them.
template <class Keep>
void filter(std::vector<Pair>& pairs, Keep&& keep) {
    std::size_t out = 0;
    for (Pair p : pairs) {
        const bool good = keep(p);
        pairs[out] = p;
        out += good;
    }
    pairs.resize(out);
}

}  // namespace

CandidateStream::CandidateStream(const Features& f, std::span<const MovingMesh> meshes, const ContactOptions& options,
                                 double grow)
    : f_(f), meet_(meshes, options.scope), grow_(grow), executor_(options.executor) {
    const FeatureBoxes all = vertex_boxes(f, grow_, executor_);
    if (!f.faces.empty()) {
        boxes_.vertices = boxes_of(all, f.used, executor_);
        boxes_.faces = face_boxes(f, all, executor_);
    }
    boxes_.edges = edge_boxes(f, all, executor_);
    if (f.free_points.empty()) return;
    boxes_.points = boxes_of(all, f.free_points, executor_);
    boxes_.segments = edge_boxes(f, f.free_edges, all, executor_);
}

void CandidateStream::prepare() {
    QUADRAT_ASSERT(parts_.empty());
    const std::pair<BoxGrids*, const FeatureBoxes*> sets[] = {{&edges_, &boxes_.edges},
                                                              {&faces_, &boxes_.faces},
                                                              {&vertices_, &boxes_.vertices},
                                                              {&points_, &boxes_.points},
                                                              {&segments_, &boxes_.segments}};
    base::run_tasks(executor_, std::size(sets),
                    [&](std::size_t i) { sets[i].first->build(sets[i].second->view(), executor_); });
    const auto add = [&](ContactKind kind, const std::vector<PairJob>& jobs) {
        for (const PairJob& j : jobs) parts_.push_back({kind, j});
    };
    add(ContactKind::vertex_face, jobs_between(vertices_, faces_));
    add(ContactKind::edge_edge, jobs_within(edges_));
    add(ContactKind::vertex_edge, jobs_between(points_, segments_));
    add(ContactKind::vertex_vertex, jobs_within(points_));
}

void CandidateStream::run(std::size_t part, const std::function<void(std::span<const Pair>)>& visit) const {
    QUADRAT_ASSERT(part < parts_.size());
    const Features& f = f_;
    const bool free_rule = meet_.everything();
    // Boxes in double decide where rounding to float made them larger.
    const auto apart_in_double = [&](const std::uint32_t(&v)[4], int first, int count) {
        return exact_ && !overlap(trace_box(f, v, first, grow_), trace_box(f, v + first, count - first, grow_));
    };
    Scratch scratch(*this);
    std::vector<Pair>& pairs = scratch.pairs;
    const PairJob& job = parts_[part].job;
    switch (parts_[part].kind) {
        case ContactKind::vertex_face: {
            const bool exact = !exact_ || (boxes_.vertices.exact && boxes_.faces.exact);
            find_pairs_between(vertices_, faces_, job, pairs);
            filter(pairs, [&](Pair& p) {
                bool good = !incident_face(f, p.first, p.second);
                p.first = f.used[p.first];
                const Triangle& t = f.faces[p.second];
                if (!free_rule) good = good && meet_(f.mesh[p.first], f.mesh[t.a]);
                if (!exact && good) good = !apart_in_double({p.first, t.a, t.b, t.c}, 1, 4);
                return good;
            });
            break;
        }
        case ContactKind::edge_edge:
            find_pairs_within(edges_, job, pairs);
            filter(pairs, [&](const Pair& p) {
                bool good = !incident_edges(f, p.first, p.second);
                const auto& a = f.edges[p.first];
                const auto& b = f.edges[p.second];
                if (!free_rule) good = good && meet_(f.mesh[a[0]], f.mesh[b[0]]);
                if (exact_ && !boxes_.edges.exact && good) good = !apart_in_double({a[0], a[1], b[0], b[1]}, 2, 4);
                return good;
            });
            break;
        case ContactKind::vertex_edge:
            find_pairs_between(points_, segments_, job, pairs);
            filter(pairs, [&](Pair& p) {
                p = {f.free_points[p.first], f.free_edges[p.second]};
                const auto& e = f.edges[p.second];
                return p.first != e[0] && p.first != e[1] && meet_(f.mesh[p.first], f.mesh[e[0]]) &&
                       !apart_in_double({p.first, e[0], e[1], 0}, 1, 3);
            });
            break;
        case ContactKind::vertex_vertex:
            find_pairs_within(points_, job, pairs);
            filter(pairs, [&](Pair& p) {
                p = {f.free_points[p.first], f.free_points[p.second]};
                return meet_(f.mesh[p.first], f.mesh[p.second]) && !apart_in_double({p.first, p.second, 0, 0}, 1, 2);
            });
            break;
    }
    if (!pairs.empty()) visit(pairs);
}

CandidateParts::CandidateParts(const Features& f, const Candidates& candidates) {
    constexpr std::size_t part_size = 16384;
    if (candidates.edges != f.edges)
        throw Error(ErrorKind::bad_value, "the candidates were found among other meshes", {.field = "candidates"});
    const auto add = [&](ContactKind kind, std::span<const Pair> pairs, std::size_t firsts, std::size_t seconds) {
        for (std::size_t i = 0; i < pairs.size(); ++i)
            if (pairs[i].first >= firsts || pairs[i].second >= seconds)
                throw Error(ErrorKind::bad_value, "a candidate names a feature that there is not",
                            {.index = i, .field = "candidates"});
        for (std::size_t i = 0; i < pairs.size(); i += part_size)
            parts_.push_back({kind, pairs.subspan(i, std::min(part_size, pairs.size() - i))});
    };
    add(ContactKind::vertex_face, candidates.vertex_face, f.vertices.size(), f.faces.size());
    add(ContactKind::edge_edge, candidates.edge_edge, f.edges.size(), f.edges.size());
    add(ContactKind::vertex_edge, candidates.vertex_edge, f.vertices.size(), f.edges.size());
    add(ContactKind::vertex_vertex, candidates.vertex_vertex, f.vertices.size(), f.vertices.size());
}

}  // namespace quadrat::ccd
