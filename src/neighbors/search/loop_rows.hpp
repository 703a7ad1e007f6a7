// The sink of loops over rows that are never stored: the rows of a group are written to scratch that stays in the
// first-level cache, and handed on from there. Every row begins at a whole vector and is filled up to one with entries
// that add nothing.
#pragma once

#include <quadrat/neighbors/neighbor_row.hpp>

#include "base/array.hpp"
#include "neighbors/search/search.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

template <int D, class T>
class LoopRows {
  public:
    /// sink(context, chunk, rows, how many).
    LoopRows(void* context, detail::LoopSink<D, T>* sink, std::size_t chunk)
        : context_(context), sink_(sink), chunk_(chunk) {}

    void take(const Search<D, T>& search, std::uint32_t first, Group<T>& group) {
        const std::size_t candidates = search.cull(group);
        if (candidates <= most_at_once) return hand_on(search, first, group, candidates);
        // Where very many are near, the rows of a whole group would not fit into the cache: one home at a time.
        Group<T> one = group;
        one.size = 1;
        for (unsigned a = 0; a < group.size; ++a) {
            for (int k = 0; k < D; ++k) one.home[k] = group.home[k] + a;
            one.self = group.self + a;
            one.radius[0] = group.radius[a];
            one.radius_sq[0] = group.radius_sq[a];
            if (group.own_radius) one.own_radius = group.own_radius + a;
            if (group.sees) one.sees = group.sees + a;
            hand_on(search, first + a, one, candidates);
            // In the half form the next home is the first candidate that is left.
            if (search.options().half) ++group.parts[0].begin;
        }
    }

  private:
    static constexpr std::size_t most_at_once = 1024;  // candidates

    void hand_on(const Search<D, T>& search, std::uint32_t first, Group<T>& group, std::size_t candidates) {
        const NeighborOptions& o = search.options();
        const std::size_t room = group.size * (candidates + 2 * max_lanes);
        labels_.resize_discard(room);
        squared_.resize_discard(room);
        RowsOut<T> out{
            .labels = labels_.data(), .squared = squared_.data(), .half = o.half, .self = o.self, .padded = true};
        if (o.vectors)
            for (int k = 0; k < D; ++k) {
                delta_[k].resize_discard(room);
                out.delta[k] = delta_[k].data();
            }
        search.row_kernel().measured(group, out);
        NeighborRow<D, T> rows[max_group];
        std::size_t at = 0;
        for (unsigned a = 0; a < group.size; ++a) {
            NeighborRow<D, T>& row = rows[a];
            row.home = search.homes()[first + a];
            row.count = group.count[a];
            row.padded = (row.count + max_lanes - 1) / max_lanes * max_lanes;
            row.indices = labels_.data() + at;
            row.distances_sq = squared_.data() + at;
            for (int k = 0; k < D; ++k) row.delta[k] = o.vectors ? delta_[k].data() + at : nullptr;
            at += row.padded;
        }
        sink_(context_, chunk_, rows, group.size);
    }

    void* context_;
    detail::LoopSink<D, T>* sink_;
    std::size_t chunk_;
    base::Array<std::uint32_t> labels_;
    base::Array<T> squared_, delta_[D];
};

}  // namespace quadrat::neighbors
