// Neighbour lists as compressed rows. A producer that works cell by cell writes each row once, where it is, in one of a
// few segments of memory, and a record of eight bytes says where row i begins and how long it is: no second pass and no
// copy. compact() turns that into the classic pair of arrays, offsets and indices, with the rows in the order of the
// input.
//
//     the form with records, as rows are found             the form with offsets, in input order
//
//     segment 0   e f g h d        segment 1   a b c       offsets   0     3 4       8
//                 ^       ^                    ^           indices   a b c d e f g h
//                 row 2   row 1                row 0                 row 0 1 row 2
#pragma once

#include <quadrat/cells/owned_array.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace quadrat {

namespace detail {

// Fills a list from several threads (src/cells/neighbor_list_writer.hpp).
class NeighborListWriter;

}  // namespace detail

/// What a list stores beside the indices, entry by entry. The type is the scalar of the points.
enum class DistanceKind : std::uint8_t {
    /// Nothing.
    none,
    /// |x_j - x_i|, the square root of the squared distance in the input's type. It holds also where the square leaves
    /// the range of the type: the root is then formed in a wider range.
    distance,
    /// dx*dx + dy*dy + dz*dz in the input's type, without a root: what the squared radius was compared with, as long as
    /// the radius is within [2^-60, 2^60]. Where it leaves the range of the type it is 0 or infinite.
    squared,
};

/// A periodic image: how many times each box vector was added to neighbour j; the third is 0 in 2D. In terms of the
/// coordinates that the caller gave, wrapped or not: x_j + shift[0] v_0 + shift[1] v_1 + shift[2] v_2 is near x_i.
using Shift = Vec<3, std::int32_t>;

/// What a NeighborList holds.
struct NeighborListStats {
    std::size_t rows = 0;       ///< as size()
    std::uint64_t entries = 0;  ///< neighbours in all rows together
    std::uint64_t bytes = 0;    ///< memory held, spare capacity included
};

/// The arrays of a NeighborList in input order, each with an owner of its own: NeighborList::release() gives them.
/// What was not asked for is empty.
template <int D, class T>
struct NeighborArrays {
    /// One more than there are rows: row i is [offsets[i], offsets[i + 1]) of the others.
    OwnedArray<std::int64_t> offsets;
    /// The neighbours, row after row; what follows lies side by side with them.
    OwnedArray<std::uint32_t> indices;
    /// Of the kind that the search was asked for.
    OwnedArray<T> distances;
    /// From the row's point to the neighbour.
    OwnedArray<Vec<D, T>> vectors;
    /// Periodic images, in whole box vectors.
    OwnedArray<Shift> shifts;
};

/// Rows of neighbour indices: row i holds the neighbours of point i or of query i. Searches fill it (CellIndex,
/// ExtendedSpatialHash, UniformHash, HierarchicalHash, BruteForce), and start() and append() fill it by hand.
///
///     quadrat::NeighborList list = quadrat::find_neighbors(points, 0.1f);
///     for (std::size_t i = 0; i < list.size(); ++i)
///         for (const std::uint32_t j : list[i]) use(i, j);
///
/// Holds 4 bytes per entry and 8 per row, and what was asked for beside the indices. Filling a list again keeps its
/// memory, so a list that lives as long as a simulation allocates in its first steps only.
///
/// Threads: const calls may run at the same time; filling, appending, compacting and clearing run alone, and invalidate
/// every span that the list has given. A list can be moved and not copied. One that was moved from may be filled,
/// cleared, assigned to or destroyed, and nothing else.
class NeighborList {
  public:
    /// No rows and no memory.
    NeighborList() = default;
    /// Constant time; spans of the other list stay valid and are of this one.
    NeighborList(NeighborList&&) noexcept = default;
    NeighborList& operator=(NeighborList&&) noexcept = default;

    /// How many rows: one per point, or per query. O(1).
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// True if there is no row; a list of empty rows is not empty. O(1).
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// How many neighbours in all rows together. O(1).
    [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }

    /// The neighbours of point i, in the order that the producer documents; an empty span for a point that has none.
    /// Valid until the list is filled, appended to, compacted or cleared. O(1).
    ///
    /// i: below size(), which is not checked.
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t i) const noexcept {
        const Place p = place(i);
        return {p.segment->indices.data() + p.begin, p.count};
    }

    /// What distances() holds.
    [[nodiscard]] DistanceKind distance_kind() const noexcept { return distance_kind_; }
    /// Whether vectors() holds anything.
    [[nodiscard]] bool has_vectors() const noexcept { return vector_bytes_ != 0; }
    /// Whether shifts() holds anything.
    [[nodiscard]] bool has_shifts() const noexcept { return has_shifts_; }

    /// Distances of row i: entry e is that of neighbour (*this)[i][e], in the unit of the coordinates or its square, as
    /// distance_kind() says. Empty where none were asked for. Valid as long as the row is. O(1).
    ///
    /// T: the scalar of the points; for one of another size the span is empty.
    /// i: below size(), which is not checked.
    template <class T>
    [[nodiscard]] std::span<const T> distances(std::size_t i) const noexcept {
        if (distance_kind_ == DistanceKind::none || sizeof(T) != scalar_bytes_) return {};
        const Place p = place(i);
        return {reinterpret_cast<const T*>(p.segment->distances.data()) + p.begin, p.count};
    }
    /// Vectors from point i to its neighbours: x_j + shift - x_i, entry by entry, in the unit of the coordinates. Empty
    /// where none were asked for. Valid as long as the row is. O(1).
    ///
    /// D, T: those of the points; for a vector of another size the span is empty.
    /// i: below size(), which is not checked.
    template <int D, class T>
    [[nodiscard]] std::span<const Vec<D, T>> vectors(std::size_t i) const noexcept {
        if (sizeof(Vec<D, T>) != vector_bytes_) return {};
        const Place p = place(i);
        return {reinterpret_cast<const Vec<D, T>*>(p.segment->vectors.data()) + p.begin, p.count};
    }
    /// Periodic images of row i, entry by entry, in whole box vectors. Empty where none were asked for. Valid as long
    /// as the row is. O(1).
    ///
    /// i: below size(), which is not checked.
    [[nodiscard]] std::span<const Shift> shifts(std::size_t i) const noexcept {
        if (!has_shifts_) return {};
        const Place p = place(i);
        return {p.segment->shifts.data() + p.begin, p.count};
    }

    /// True if the rows lie one after the other in input order, so that offsets() and the flat arrays may be used:
    /// after compact(), after start(), and for a list without rows.
    [[nodiscard]] bool contiguous() const noexcept { return form_ == Form::offsets; }
    /// Moves the rows, and all that is stored beside them, into input order, one after the other. Row i reads the same
    /// before and after. Does nothing if contiguous(). Cost: one copy of the list, which for a moment exists twice.
    /// Throws std::bad_alloc and is then as it was.
    ///
    /// executor: where to run; null, the default, is the calling thread. The bytes are the same for any.
    void compact(Executor* executor = nullptr);
    /// size() + 1 positions: row i is [offsets()[i], offsets()[i + 1]) of indices(). Empty unless contiguous(),
    /// and for a list that was never filled or started. What other libraries call CSR is
    ///
    ///     list.compact();
    ///     const auto row_starts = list.offsets();   // signed, 64 bits, as NumPy and SciPy have them
    ///     const auto columns = list.indices();      // 32 bits
    [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept {
        // The signed twin of a type may read what the type has written; entries are below 2^63.
        return contiguous() && offsets_.capacity()
                   ? std::span(reinterpret_cast<const std::int64_t*>(offsets_.data()), size_ + 1)
                   : std::span<const std::int64_t>();
    }
    /// All entries, row after row: entries() of them. Empty unless contiguous().
    [[nodiscard]] std::span<const std::uint32_t> indices() const noexcept {
        return contiguous() && entries_ ? std::span(segments_[0].indices.data(), entries_)
                                        : std::span<const std::uint32_t>();
    }
    /// distances() of all rows, side by side with indices(). Empty unless contiguous(), where none were asked for, and
    /// for a T that has not the size of the points' scalar.
    template <class T>
    [[nodiscard]] std::span<const T> distances() const noexcept {
        if (!contiguous() || !entries_ || distance_kind_ == DistanceKind::none || sizeof(T) != scalar_bytes_) return {};
        return {reinterpret_cast<const T*>(segments_[0].distances.data()), entries_};
    }
    /// vectors() of all rows, side by side with indices(). Empty unless contiguous(), where none were asked for, and
    /// for a vector that has not the size of the points'.
    template <int D, class T>
    [[nodiscard]] std::span<const Vec<D, T>> vectors() const noexcept {
        if (!contiguous() || !entries_ || sizeof(Vec<D, T>) != vector_bytes_) return {};
        return {reinterpret_cast<const Vec<D, T>*>(segments_[0].vectors.data()), entries_};
    }
    /// shifts() of all rows, side by side with indices(). Empty unless contiguous(), and where none were asked for.
    [[nodiscard]] std::span<const Shift> shifts() const noexcept {
        return contiguous() && entries_ && has_shifts_ ? std::span(segments_[0].shifts.data(), entries_)
                                                       : std::span<const Shift>();
    }
    /// Hands out the flat arrays themselves, for who keeps them without the list: nothing is copied but what compact()
    /// copies, and each array is given back on its own. The list has no rows and no memory afterwards.
    ///
    ///     quadrat::NeighborArrays<3, float> arrays = list.release<3, float>();
    ///     arrays.distances = {};                    // gives this one back
    ///     std::uint32_t* mine = arrays.indices.release();   // now std::free(mine) does
    ///
    /// D, T: those of the points; arrays of vectors and distances of another size stay empty.
    /// executor: as for compact().
    template <int D, class T>
    [[nodiscard]] NeighborArrays<D, T> release(Executor* executor = nullptr);

    /// What the list holds. Linear in the segments, of which there are at most 2^14.
    [[nodiscard]] NeighborListStats stats() const noexcept;
    /// No rows, nothing beside them; keeps the memory. To give it back, assign NeighborList().
    void clear() noexcept;

    /// Begins to fill the list by hand, with indices alone. What it held is gone; its memory is used again. The rows
    /// are contiguous.
    ///
    ///     list.start();
    ///     for (const std::vector<std::uint32_t>& row : rows) list.append(row);
    void start() { start_offsets(0); }
    /// Adds the next row: 0, 1, 2, ... Linear in its length, amortised. Only after start(), and nothing in between.
    ///
    /// row: copied; may be empty, and must not be a row of this list.
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

    // Rows as one chunk of a search wrote them. Entry e of every array that is stored belongs together; the scalars of
    // distances and vectors are known by their size in bytes only, so that one list serves all types of points.
    struct Segment {
        detail::Buffer<std::uint32_t> indices;
        detail::Buffer<unsigned char> distances;
        detail::Buffer<unsigned char> vectors;
        detail::Buffer<Shift> shifts;
    };
    // Where a row is: entries [begin, begin + count) of the segment.
    struct Place {
        const Segment* segment;
        std::uint64_t begin;
        std::size_t count;
    };
    // The place of a row that is too long, or begins too far out, for a record.
    struct WideRow {
        std::uint64_t begin;
        std::uint64_t count;
        std::uint32_t segment;
    };
    // How offsets_ is to be read: offsets while the rows lie in input order in segment 0, records while each row is
    // where its producer left it.
    enum class Form : std::uint8_t { offsets, records };

    // A record:
    //
    //     63        50 49                          22 21                      0
    //     |  segment  |            begin             |          count          |
    //        14 bits               28 bits                     22 bits
    //
    // So there are at most 16,384 segments, and a row in a record has at most 2^22 - 2 entries with fewer than 2^28
    // entries before it in its segment. A row that does not fit has the largest count (all ones) and its number in
    // wide_ as begin.
    static constexpr int count_bits = 22;
    static constexpr int begin_bits = 28;
    static constexpr int segment_bits = 14;
    static constexpr std::uint64_t wide_count = (std::uint64_t{1} << count_bits) - 1;

    // Where row i is, in either form. A row costs one read of eight bytes; only a wide one costs a second.
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
    // An empty list in the form with offsets, with room for so many rows.
    void start_offsets(std::size_t rows);

    // Rows, and entries of all rows.
    std::size_t size_ = 0;
    std::uint64_t entries_ = 0;
    // What the rows are made of. The sizes, of a distance and of a vector, tell a T or D that does not fit the points;
    // vector_bytes_ is 0 if no vectors are stored.
    Form form_ = Form::offsets;
    DistanceKind distance_kind_ = DistanceKind::none;
    bool has_shifts_ = false;
    std::uint8_t scalar_bytes_ = 0;
    std::uint8_t vector_bytes_ = 0;
    // size_ + 1 offsets, or size_ records.
    detail::Buffer<std::uint64_t> offsets_;
    // In the form with offsets only the first one counts. What a smaller list does not need stays, for its memory.
    std::vector<Segment> segments_;
    // Rows whose record only names them.
    std::vector<WideRow> wide_;
};

template <int D, class T>
NeighborArrays<D, T> NeighborList::release(Executor* executor) {
    compact(executor);
    if (offsets_.capacity() == 0) start_offsets(0);
    NeighborArrays<D, T> arrays;
    const std::size_t n = entries_;
    const bool distances = distance_kind_ != DistanceKind::none && scalar_bytes_ == sizeof(T);
    const bool vectors = vector_bytes_ == sizeof(Vec<D, T>), shifts = has_shifts_;
    Segment& all = segments_[0];
    arrays.offsets = detail::owned<std::int64_t>(offsets_, size_ + 1);
    arrays.indices = detail::owned<std::uint32_t>(all.indices, n);
    if (distances) arrays.distances = detail::owned<T>(all.distances, n);
    if (vectors) arrays.vectors = detail::owned<Vec<D, T>>(all.vectors, n);
    if (shifts) arrays.shifts = detail::owned<Shift>(all.shifts, n);
    *this = NeighborList();
    return arrays;
}

}  // namespace quadrat
