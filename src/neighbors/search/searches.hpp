// The room of the searches: all that is within a radius. CellIndex uses Searches, nearest/ uses the walk and the
// kernel; the rest is for this room alone. From the bottom up: kernel (vector code for a group of homes), plan and walk
// (which ranges of storage a group can touch), refine (what vector code does not decide), search (one search with its
// sinks), searches (whole lists, counts and streams).
#pragma once

#include "neighbors/state.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// What CellIndex promises of these is in its header.
template <int D, class T>
struct Searches {
    static void find(const IndexState<D, T>& state, const NeighborOptions& options, NeighborList& out);
    static void find(const IndexState<D, T>& state, std::span<const Vec<D, T>> queries, const NeighborOptions& options,
                     NeighborList& out);
    static void count_each(const IndexState<D, T>& state, std::vector<std::uint32_t>& out, const Watch& watch);
    [[nodiscard]] static std::uint64_t count_pairs(const IndexState<D, T>& state, const Watch& watch);
    static void stream(const IndexState<D, T>& state, Executor* executor, void* context, detail::RowSink* sink);
    static void stream_rows(const IndexState<D, T>& state, const NeighborOptions& options, void* context,
                            detail::LoopSink<D, T>* sink);
    /// The row of point i.
    static void find_row(const IndexState<D, T>& state, std::uint32_t i, std::vector<std::uint32_t>& row);
};

}  // namespace quadrat::neighbors
