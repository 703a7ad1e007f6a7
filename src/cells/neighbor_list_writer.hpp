// How a parallel producer fills a NeighborList: it asks for segments, one per chunk of its work, writes rows into them
// and their records into rows(), and calls finish(). Each chunk touches its own segment only.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>

#include "base/assert.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::detail {

class NeighborListWriter {
  public:
    /// What is stored beside the indices.
    struct Extras {
        DistanceKind distances = DistanceKind::none;
        std::uint8_t scalar_bytes = 0;  ///< of distances
        std::uint8_t vector_bytes = 0;  ///< of one vector; 0 for none
        bool shifts = false;
    };
    using Segment = NeighborList::Segment;
    using WideRow = NeighborList::WideRow;
    static constexpr std::size_t max_segments = std::size_t{1} << NeighborList::segment_bits;

    /// Begins to fill `list` with `rows` rows in `segments` (at most max_segments) segments. The records are
    /// indeterminate.
    NeighborListWriter(NeighborList& list, std::size_t rows, std::size_t segments, const Extras& extras);

    [[nodiscard]] Segment& segment(std::size_t s) {
        QUADRAT_ASSERT(s < list_.segments_.size());
        return list_.segments_[s];
    }
    [[nodiscard]] std::uint64_t* records() { return list_.offsets_.data(); }

    /// The record of a row, if it fits() in one.
    [[nodiscard]] static std::uint64_t record(std::uint64_t segment, std::uint64_t begin, std::uint64_t count) {
        return segment << (NeighborList::count_bits + NeighborList::begin_bits) | begin << NeighborList::count_bits |
               count;
    }
    [[nodiscard]] static bool fits(std::uint64_t begin, std::uint64_t count) {
        return count < NeighborList::wide_count && begin < std::uint64_t{1} << NeighborList::begin_bits;
    }
    /// Gives row `row` a record for a place that does not fit. Not for use by several threads at once.
    void set_wide(std::size_t row, const WideRow& place);
    /// The list is complete.
    void finish(std::uint64_t entries) { list_.entries_ = entries; }

  private:
    NeighborList& list_;
};

}  // namespace quadrat::detail
