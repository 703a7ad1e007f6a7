// Candidate pairs to contacts: what two features of a pair are, and when they first meet. Cheap certain tests first
// (the line between the centres, then a direction for 64 pairs at once), so that few pairs are looked at one by one.
#pragma once

#include "ccd/pipeline/paths.hpp"

#include <atomic>

namespace quadrat::ccd {

struct Hit {
    double time;
    Pair pair;
};

class Decider {
  public:
    /// Of features whose motion over the whole step is `step`; both must outlive this object. Features that stay
    /// farther apart than `gap` in the motion that f.vertices has (of the step or of a part of it) are not looked at.
    Decider(const Features& f, const base::Array<Trace>& step, double gap, const ContactOptions& options)
        : f_(f),
          step_(step),
          gap_(gap),
          min_distance_(options.min_distance),
          tolerance_(options.tolerance),
          paths_(make_paths(f, gap, options.executor)) {}

    /// Decides pairs of one kind on the calling thread; appends the hits in the order of the pairs.
    void decide(ContactKind kind, std::span<const Pair> pairs, std::vector<Hit>& hits, ImpactStats& statistics) const;

    /// Lowers `earliest` to the first time of these pairs.
    void lower(ContactKind kind, std::span<const Pair> pairs, std::atomic<double>& earliest) const;

  private:
    std::size_t select(ContactKind kind, std::span<const Pair> pairs, std::vector<Pair>& kept) const;
    [[nodiscard]] double time_of(ContactKind kind, const Pair& pair, ImpactStats& statistics) const;

    const Features& f_;
    const base::Array<Trace>& step_;
    double gap_;
    double min_distance_;
    double tolerance_;
    AllPaths paths_;
};

/// The four vertices of a pair, as ContactKind says.
inline void corners(const Features& f, ContactKind kind, const Pair& p, std::uint32_t (&v)[4]) {
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

/// Which of the two queries a kind of contact is.
[[nodiscard]] inline ImpactKind query_of(ContactKind kind) {
    return kind == ContactKind::edge_edge ? ImpactKind::edge_edge : ImpactKind::vertex_face;
}

/// The ends of a vertex's motion as a point.
[[nodiscard]] inline Vec3d start_of(const Trace& t) {
    return {{t.start[0], t.start[1], t.start[2]}};
}
[[nodiscard]] inline Vec3d end_of(const Trace& t) {
    return {{t.end[0], t.end[1], t.end[2]}};
}

}  // namespace quadrat::ccd
