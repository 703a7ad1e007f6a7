// Neighbour lists as compressed rows. A producer that works cell by cell writes each row once, where it is, in one of a
// few segments of memory, and a record of eight bytes says where row i begins and how long it is: no second pass and no
// copy. compact() turns that into the classic pair of arrays, offsets and indices, with the rows in the order of the
// input.
#pragma once

#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quadrat {

namespace detail {

/// Memory for trivial elements: never filled with zeros, and moved by the system rather than copied when it grows.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    /// At least so many elements; keeps those that were there.
    void reserve(std::size_t count) {
        if (count <= capacity_) return;
        if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        void* grown = std::realloc(static_cast<void*>(data_), count * sizeof(T));
        if (!grown) throw std::bad_alloc();
        data_ = static_cast<T*>(grown);
        capacity_ = count;
    }
    /// reserve(count), or half as much again as now where that is more.
    void grow(std::size_t count) {
        if (count > capacity_) reserve(count > capacity_ + capacity_ / 2 ? count : capacity_ + capacity_ / 2);
    }
    void release() noexcept {
        std::free(std::exchange(data_, nullptr));
        capacity_ = 0;
    }
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
    }
    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  private:
    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

class NeighborListWriter;

}  // namespace detail

/// What a list stores beside the indices, entry by entry.
enum class DistanceKind : std::uint8_t {
    none,      ///< nothing
    distance,  ///< |x_j - x_i|, the square root of the squared distance in the input's type
    squared,   ///< the squared distance that was compared with the squared radius
};

/// A periodic image: how many times each box vector was added to neighbour j; the third is 0 in 2D.
using Shift = Vec<3, std::int32_t>;

/// Rows of neighbour indices. Reading is const and may go on from many threads. Filling a list again keeps its memory.
class NeighborList {
  public:
    NeighborList() = default;
    NeighborList(NeighborList&&) noexcept = default;
    NeighborList& operator=(NeighborList&&) noexcept = default;

    /// How many rows: one per point, or per query.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// How many neighbours in all rows together.
    [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }

    /// The neighbours of point i, in the order that the producer documents. Valid until the list is filled or
    /// compacted.
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const noexcept {
        const Place p = place(i);
        return {p.segment->indices.data() + p.begin, p.count};
    }

    /// What distances() holds.
    [[nodiscard]] DistanceKind distance_kind() const noexcept { return distance_kind_; }
    [[nodiscard]] bool has_vectors() const noexcept { return vector_bytes_ != 0; }
    [[nodiscard]] bool has_shifts() const noexcept { return has_shifts_; }

    /// Distances of row i, entry by entry; T is the scalar of the points. Empty where none were asked for.
    template <class T>
    [[nodiscard]] std::span<const T> distances(std::size_t i) const noexcept {
        if (distance_kind_ == DistanceKind::none || sizeof(T) != scalar_bytes_) return {};
        const Place p = place(i);
        return {reinterpret_cast<const T*>(p.segment->distances.data()) + p.begin, p.count};
    }
    /// x_j + shift - x_i of row i, entry by entry; D and T are those of the points. Empty where none were asked for.
    template <int D, class T>
    [[nodiscard]] std::span<const Vec<D, T>> vectors(std::size_t i) const noexcept {
        if (sizeof(Vec<D, T>) != vector_bytes_) return {};
        const Place p = place(i);
        return {reinterpret_cast<const Vec<D, T>*>(p.segment->vectors.data()) + p.begin, p.count};
    }
    /// Periodic images of row i, entry by entry. Empty where none were asked for.
    [[nodiscard]] std::span<const Shift> shifts(std::size_t i) const noexcept {
        if (!has_shifts_) return {};
        const Place p = place(i);
        return {p.segment->shifts.data() + p.begin, p.count};
    }

    /// True if the rows lie one after the other in input order, so that offsets() and the flat arrays may be used.
    [[nodiscard]] bool contiguous() const noexcept { return form_ == Form::offsets; }
    /// Moves the rows into input order, one after the other. Cost: one copy of the list, which for a moment exists
    /// twice.
    void compact();
    /// size() + 1 positions: row i is [offsets()[i], offsets()[i + 1]). Empty unless contiguous().
    [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept {
        return contiguous() ? std::span(offsets_.data(), size_ + 1) : std::span<const std::uint64_t>();
    }
    /// All entries, row after row. Empty unless contiguous().
    [[nodiscard]] std::span<const std::uint32_t> indices() const noexcept {
        return contiguous() && entries_ ? std::span(segments_[0].indices.data(), entries_)
                                        : std::span<const std::uint32_t>();
    }
    /// distances() of all rows, as indices(). Empty unless contiguous().
    template <class T>
    [[nodiscard]] std::span<const T> distances() const noexcept {
        if (!contiguous() || !entries_ || distance_kind_ == DistanceKind::none || sizeof(T) != scalar_bytes_) return {};
        return {reinterpret_cast<const T*>(segments_[0].distances.data()), entries_};
    }

    /// Bytes of memory that the list holds, spare capacity included.
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    /// No rows; keeps the memory.
    void clear() noexcept;

    /// Filling by hand: start(), then append() for row 0, 1, 2, ... The rows are contiguous.
    void start() { start_offsets(0); }
    void append(std::span<const std::uint32_t> row) {
        detail::Buffer<std::uint32_t>& to = segments_[0].indices;
        to.grow(entries_ + row.size());
        if (!row.empty()) std::memcpy(to.data() + entries_, row.data(), row.size_bytes());
        entries_ += row.size();
        offsets_.grow(++size_ + 1);
        offsets_.data()[size_] = entries_;
    }

  private:
    friend class detail::NeighborListWriter;

    struct Segment {
        detail::Buffer<std::uint32_t> indices;
        detail::Buffer<unsigned char> distances;
        detail::Buffer<unsigned char> vectors;
        detail::Buffer<Shift> shifts;
    };
    struct Place {
        const Segment* segment;
        std::uint64_t begin;
        std::size_t count;
    };
    struct WideRow {
        std::uint64_t begin;
        std::uint64_t count;
        std::uint32_t segment;
    };
    enum class Form : std::uint8_t { offsets, records };

    // A record:  63..50 segment | 49..22 begin | 21..0 count.  A row that does not fit has the largest count and its
    // number in wide_ as begin.
    static constexpr int count_bits = 22;
    static constexpr int begin_bits = 28;
    static constexpr int segment_bits = 14;
    static constexpr std::uint64_t wide_count = (std::uint64_t{1} << count_bits) - 1;

    [[nodiscard]] Place place(std::size_t i) const noexcept {
        if (form_ == Form::offsets) {
            const std::uint64_t* o = offsets_.data() + i;
            return {segments_.data(), o[0], static_cast<std::size_t>(o[1] - o[0])};
        }
        const std::uint64_t record = offsets_.data()[i];
        const std::uint64_t count = record & wide_count;
        const std::uint64_t begin = record >> count_bits & ((std::uint64_t{1} << begin_bits) - 1);
        if (count == wide_count) {
            const WideRow& w = wide_[begin];
            return {&segments_[w.segment], w.begin, static_cast<std::size_t>(w.count)};
        }
        return {&segments_[record >> (count_bits + begin_bits)], begin, static_cast<std::size_t>(count)};
    }
    void start_offsets(std::size_t rows);

    std::size_t size_ = 0;
    std::uint64_t entries_ = 0;
    Form form_ = Form::offsets;
    DistanceKind distance_kind_ = DistanceKind::none;
    bool has_shifts_ = false;
    std::uint8_t scalar_bytes_ = 0;
    std::uint8_t vector_bytes_ = 0;
    detail::Buffer<std::uint64_t> offsets_;  // size_ + 1 offsets, or size_ records
    std::vector<Segment> segments_;          // one in the form with offsets
    std::vector<WideRow> wide_;
};

}  // namespace quadrat
