// One search: what it needs is chosen once, when it is made (dense or sparse cells, vector or plain kernel, rows that
// are final or that need refining), and run() takes any stretch of homes through it. What happens to a row is the
// policy of the sink: StoreRows writes it, CountRows counts it; a stream is rows that are stored and handed on
// (sinks.hpp).
//
// A sink has three functions, the first two one per lane of the search:
//
//     take(job, kernel, first, group)                 the kernel's rows are final: homes first, first + 1, ...
//     take_row(refiner, place, positions, count)      they are positions that the refiner still has to judge
//     tested(homes, candidates)                       after the rows of a group: what was compared with what
#pragma once

#include "base/array.hpp"
#include "neighbors/search/refine.hpp"
#include "neighbors/search/walk.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

template <int D, class T>
class Search {
  public:
    /// The rows of the points of the index.
    Search(const IndexState<D, T>& state, const NeighborOptions& options)
        : job_{.state = state,
               .homes = state.homes(),
               .options = options,
               .own = true,
               .home_images = &state.images,
               .refined =
                   needs_refining(state, options) || (!state.support.radii.empty() && uses_other(state.options.rule)),
               .reach = state.reach()},
          kernel_(kernel_for<D, T>(job_.reach.plain)) {}

    /// The rows of queries, sorted in the cells of the index; `images`: how they were wrapped.
    Search(const IndexState<D, T>& state, const NeighborOptions& options, const Grid<D, T>& queries,
           const Images<D, T>& images)
        : job_{.state = state,
               .homes = queries,
               .options = options,
               .own = false,
               .home_images = &images,
               .refined = needs_refining(state, options) || !state.support.radii.empty(),
               .reach = query_reach(state)},
          kernel_(kernel_for<D, T>(job_.reach.plain)) {}

    [[nodiscard]] const Job<D, T>& job() const { return job_; }

    /// Gives the rows of the homes at [begin, end) to the sink, one after the other.
    template <class Sink>
    void run(std::size_t begin, std::size_t end, Sink& sink) const {
        QUADRAT_ASSERT(begin <= end && end <= job_.homes.size());
        const auto first = static_cast<std::uint32_t>(begin), last = static_cast<std::uint32_t>(end);
        with_form(job_.state.points, [&]<bool kDense>() {
            Walk<D, T, kDense> walk(job_.homes, job_.state.points, job_.reach);
            const auto take = [&](std::uint32_t h, Group<T>& group) { sink.take(job_, kernel_, h, group); };
            if (job_.refined)
                refine(walk, first, last, sink);
            else if (job_.options.half)
                walk.template run<true>(first, last, take);
            else
                walk.template run<false>(first, last, take);
        });
    }

  private:
    /// True if the kernel's rows are not final, whoever the homes are.
    static bool needs_refining(const IndexState<D, T>& s, const NeighborOptions& o) {
        return s.periodic() || o.distances != DistanceKind::none || o.vectors || o.shifts || !o.searches.empty() ||
               (o.half && o.self);
    }

    static Reach<T> query_reach(const IndexState<D, T>& s) {
        Reach<T> reach = s.reach();
        const T radius = s.options.radius + s.options.skin;
        reach.radii = nullptr;
        reach.plain = cells::plain_radius(radius);
        if (!s.support.radii.empty()) reach.radius = radius + s.points.geometry().slack;
        return reach;
    }

    template <class W, class Sink>
    void refine(W& walk, std::uint32_t first, std::uint32_t last, Sink& sink) const {
        Refiner<D, T> refiner(job_);
        base::Array<std::uint32_t> positions;
        walk.report_positions();
        walk.template run<false>(first, last, [&](std::uint32_t h, Group<T>& group) {
            group.self = nobody.data();
            const std::size_t candidates = kernel_.cull(group);
            positions.resize_discard(group.size * (candidates + max_lanes));
            kernel_.full(group, candidates, positions.data());
            const std::uint32_t* row = positions.data();
            for (unsigned a = 0; a < group.size; ++a) {
                sink.take_row(refiner, h + a, row, group.count[a]);
                row += group.count[a];
            }
            sink.tested(group.size, candidates);
        });
    }

    Job<D, T> job_;
    Kernel<D, T> kernel_;
};

}  // namespace quadrat::neighbors
