// The parts of NeighborList that are not on anyone's hot path: starting, compacting, counting bytes.
#include <quadrat/cells/neighbor_list.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "cells/neighbor_list_writer.hpp"

#include <cstring>
#include <utility>

namespace quadrat {
namespace {

void copy_elements(void* to, const void* from, std::size_t count, std::size_t each) {
    std::memcpy(to, from, count * each);
}

}  // namespace

void NeighborList::start_offsets(std::size_t rows) {
    clear();
    if (segments_.empty()) segments_.resize(1);
    offsets_.reserve(rows + 1);
    offsets_.data()[0] = 0;
}

void NeighborList::clear() noexcept {
    size_ = 0;
    entries_ = 0;
    form_ = Form::offsets;
    distance_kind_ = DistanceKind::none;
    has_shifts_ = false;
    scalar_bytes_ = vector_bytes_ = 0;
    wide_.clear();
    if (offsets_.capacity() > 0) offsets_.data()[0] = 0;
}

NeighborListStats NeighborList::stats() const noexcept {
    std::uint64_t sum = offsets_.capacity() * sizeof(std::uint64_t) + wide_.capacity() * sizeof(WideRow);
    for (const Segment& s : segments_)
        sum += s.indices.capacity() * sizeof(std::uint32_t) + s.distances.capacity() + s.vectors.capacity() +
               s.shifts.capacity() * sizeof(Shift);
    return {size_, entries_, sum};
}

void NeighborList::compact(Executor* executor) {
    if (form_ == Form::offsets) return;
    constexpr std::size_t grain = 16384;  // rows
    constexpr std::size_t ahead = 12;     // rows whose first entries are asked for
    std::vector<std::uint64_t> begin(base::chunk_count(size_, grain), 0);
    base::parallel_for(executor, size_, grain, [&](std::size_t from, std::size_t to) {
        std::uint64_t sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += place(i).count;
        begin[from / grain] = sum;
    });
    std::uint64_t total = 0;
    for (std::uint64_t& b : begin) total += std::exchange(b, total);
    QUADRAT_ASSERT(total == entries_);

    detail::Buffer<std::uint64_t> offsets;
    offsets.reserve(size_ + 1);
    offsets.data()[size_] = total;
    const std::size_t room = entries_ ? entries_ : 1;
    const std::size_t scalar = distance_kind_ == DistanceKind::none ? 0 : scalar_bytes_;
    Segment all;
    all.indices.reserve(room);
    if (scalar) all.distances.reserve(room * scalar);
    if (vector_bytes_) all.vectors.reserve(room * vector_bytes_);
    if (has_shifts_) all.shifts.reserve(room);
    base::parallel_for(executor, size_, grain, [&](std::size_t from, std::size_t to) {
        std::uint64_t end = begin[from / grain];
        for (std::size_t i = from; i < to; ++i) {
            if (i + ahead < to) {
                const Place next = place(i + ahead);
                const std::uint32_t* const line = next.segment->indices.data() + next.begin;
                __builtin_prefetch(line);
                __builtin_prefetch(line + 16);
            }
            offsets.data()[i] = end;
            const Place p = place(i);
            if (p.count == 0) continue;
            const Segment& s = *p.segment;
            copy_elements(all.indices.data() + end, s.indices.data() + p.begin, p.count, sizeof(std::uint32_t));
            if (scalar)
                copy_elements(all.distances.data() + end * scalar, s.distances.data() + p.begin * scalar, p.count,
                              scalar);
            if (vector_bytes_)
                copy_elements(all.vectors.data() + end * vector_bytes_, s.vectors.data() + p.begin * vector_bytes_,
                              p.count, vector_bytes_);
            if (has_shifts_) copy_elements(all.shifts.data() + end, s.shifts.data() + p.begin, p.count, sizeof(Shift));
            end += p.count;
        }
    });
    offsets_.swap(offsets);
    segments_.clear();
    segments_.push_back(std::move(all));
    wide_.clear();
    form_ = Form::offsets;
}

namespace detail {

NeighborListWriter::NeighborListWriter(NeighborList& list, std::size_t rows, std::size_t segments, const Extras& extras)
    : list_(list) {
    QUADRAT_ASSERT(segments <= max_segments);
    list.clear();
    list.form_ = NeighborList::Form::records;
    list.size_ = rows;
    list.offsets_.reserve(rows + 1);
    if (list.segments_.size() < segments) list.segments_.resize(segments);
    list.distance_kind_ = extras.distances;
    list.scalar_bytes_ = extras.scalar_bytes;
    list.vector_bytes_ = extras.vector_bytes;
    list.has_shifts_ = extras.shifts;
}

void NeighborListWriter::set_wide(std::size_t row, const WideRow& place) {
    records()[row] = record(0, list_.wide_.size(), NeighborList::wide_count);
    list_.wide_.push_back(place);
}

}  // namespace detail
}  // namespace quadrat
