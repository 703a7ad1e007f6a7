// What the vector code of the neighbour search is asked: a group of up to `max_group` home points that lie close
// together, and the ranges of storage that may hold their neighbours. The kernel copies the candidates that are near
// the bounding box of the group into scratch memory, then compares each home with all of them and packs what passes.
// Rounding is monotone, so a squared distance to the box, formed like the predicate's, never exceeds the predicate's
// own: culling needs no margin.
#pragma once

#include "base/array.hpp"
#include "base/assert.hpp"
#include "base/kinds.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace quadrat::neighbors {

inline constexpr unsigned max_group = 16;
/// Vector code may read so many elements past the end of storage and write as many past the end of its output.
inline constexpr std::uint32_t max_lanes = 16;
/// Entries between what is written and the lines that are asked for; two lines per row keep up with 32 neighbours.
inline constexpr std::size_t write_ahead = 128;

/// Positions [begin, end) of storage.
struct Range {
    std::uint32_t begin;
    std::uint32_t end;
};

/// Candidates that passed the culling. Labels are as wide as coordinates, so that one mask serves both.
template <class T>
struct Scratch {
    using Label = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    base::Array<T> coordinates;
    base::Array<Label> label;
    base::Array<Range> blocks;
    T* c[3] = {};
    std::size_t capacity = 0;

    /// Room for so many candidates out of so many ranges.
    void reserve(std::size_t count, std::size_t ranges) {
        count += 4 * ranges + 2 * max_lanes;
        if (count <= capacity) return;
        capacity = count + count / 2 + 1024;
        // Rows of scratch a whole number of pages apart would fall into the same cache sets.
        const std::size_t stride = (capacity + max_lanes) / 64 * 64 + 64 + 16;
        coordinates.resize_discard(3 * stride);
        label.resize_discard(capacity + 2 * max_lanes);
        blocks.resize_discard(capacity);
        for (std::size_t k = 0; k < 3; ++k) c[k] = coordinates.data() + k * stride;
    }
};

/// One group and what is to be done with it.
template <class T>
struct Group {
    const T* storage[3];         ///< coordinates of the points to search in
    const std::uint32_t* label;  ///< what to report for each position of storage; null reports the position
    const Range* ranges;         ///< ascending and disjoint
    std::size_t range_count;
    bool open_ended;            ///< what follows a range, up to a whole number of vectors, is in none and near nobody
    T lo[3], hi[3];             ///< bounding box of the homes
    T cull_sq;                  ///< the largest radius_sq
    const T* home[3];           ///< `size` coordinates each; in the half form the first range starts with the homes
    const std::uint32_t* self;  ///< labels that are left out, one per home; no_self for none
    unsigned size;
    T radius_sq[max_group];
    T radius[max_group];             ///< for the scalar kernel only
    Scratch<T>* scratch;             ///< holds the ranges' total and 2 max_lanes more
    std::uint32_t count[max_group];  ///< result: neighbours of each home
};
inline constexpr std::uint32_t no_self = 0xffffffffu;
/// Group::self of a search that leaves nobody out.
inline constexpr auto nobody = [] {
    std::array<std::uint32_t, max_group> all{};
    all.fill(no_self);
    return all;
}();

/// Fills scratch with the candidates; returns how many.
template <class T>
using CullFunction = std::size_t (*)(const Group<T>&);
/// Compares homes with the candidates. Writes rows one after the other to `out`, which has room for size * (candidates
/// + max_lanes) entries (null to count only), and the counts into the group. Counts of the full form include the home.
template <class T>
using TestFunction = void (*)(Group<T>&, std::size_t candidates, std::uint32_t* out);

/// The full form with squared distances beside the labels, each array with the room of a row's.
template <class T>
using MeasureFunction = void (*)(Group<T>&, std::size_t candidates, T* distances_sq, std::uint32_t* labels);
/// How many of the n values are smaller than each: its place among them, shared by equals. Both arrays have room for
/// max_lanes more, which are written.
template <class T>
using RankFunction = void (*)(T* values, std::size_t n, std::uint32_t* ranks);

/// What the search asks of its vector code. A variant of the search (distances beside the labels, images, another rule)
/// is one more member here, chosen once by Search, not a branch inside one of these.
template <int D, class T>
struct Kernel {
    CullFunction<T> cull;
    CullFunction<T> cull_unlabelled;  ///< for the counts
    TestFunction<T> full, half, count, count_half;
    MeasureFunction<T> measure = nullptr;  ///< vector kernel only, as rank
    RankFunction<T> rank = nullptr;
};

/// The best for this processor.
[[nodiscard]] const base::PerKind<Kernel>& vector_kernels();
/// Plain code that applies the rule for radii whose square leaves the range of the type (cells/predicate.hpp).
[[nodiscard]] const base::PerKind<Kernel>& scalar_kernels();

/// The one for radii that are all `plain`, or not (cells/predicate.hpp).
template <int D, class T>
[[nodiscard]] Kernel<D, T> kernel_for(bool plain) {
    return (plain ? vector_kernels() : scalar_kernels()).template get<D, T>();
}

}  // namespace quadrat::neighbors
