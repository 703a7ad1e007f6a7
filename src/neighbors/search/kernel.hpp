// What the vector code of the neighbour search is asked: a group of up to `max_group` home points that lie close
// together, and the ranges of storage that may hold their neighbours. The kernel copies the candidates that are near
// the bounding box of the group into scratch memory, then compares each home with all of them and packs what passes.
// Rounding is monotone, so a squared distance to the box, formed like the predicate's, never exceeds the predicate's
// own: culling needs no margin.
//
// Candidates come in parts: one for the grid that the homes are in, and one more for each periodic image and each size
// class of radii that reaches them. Most groups have a single part and are asked for indices alone; for them there are
// kernels that know nothing of parts.
#pragma once

#include <quadrat/neighbors/radius_rule.hpp>

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
    T* radius = nullptr;                ///< of pairs only
    base::Array<std::uint32_t> hot[2];  ///< of pairs with groups only
    std::size_t capacity = 0;

    /// Room for so many candidates out of so many ranges in so many parts.
    void reserve(std::size_t count, std::size_t ranges, std::size_t parts = 1) {
        count += 4 * ranges + 2 * max_lanes * parts;
        if (count <= capacity) return;
        capacity = count + count / 2 + 1024;
        // Rows of scratch a whole number of pages apart would fall into the same cache sets.
        const std::size_t stride = (capacity + max_lanes) / 64 * 64 + 64 + 16;
        coordinates.resize_discard(4 * stride);
        label.resize_discard(capacity + 2 * max_lanes);
        blocks.resize_discard(capacity);
        for (auto& h : hot) h.resize_discard(capacity + 2 * max_lanes);
        for (std::size_t k = 0; k < 3; ++k) c[k] = coordinates.data() + k * stride;
        radius = coordinates.data() + 3 * stride;
    }
};

/// Candidates of one grid and one periodic image.
template <class T>
struct Part {
    const T* storage[3];          ///< coordinates of the points to search in
    const std::uint32_t* label;   ///< what to report for each position of storage; null reports the position
    const T* radius;              ///< of each point, where the rule needs it; null otherwise
    const std::uint32_t* hot[2];  ///< the bit of each point's group, 0 to 31 and 32 to 63, where groups filter
    const Range* ranges;          ///< ascending and disjoint
    std::size_t range_count;
    bool open_ended;    ///< what follows a range, up to a whole number of vectors, is in none and near nobody
    bool own;           ///< the homes are among the points; in the half form the first range starts with them
    T lo[3], hi[3];     ///< bounding box of the homes, as the points see it
    T cull_sq;          ///< the largest squared radius of the homes
    bool shifted;       ///< the image is not that of the homes
    T offset[3];        ///< of the image: points are compared as if they lay so much farther on
    std::int32_t n[3];  ///< the image, in box vectors
    std::size_t begin = 0, end = 0;  ///< result of culling: place in the scratch
};

/// One group and what is to be done with it.
template <class T>
struct Group {
    Part<T>* parts;  ///< the first is that of the grid of the homes, without an offset
    std::size_t part_count;
    const T* home[3];           ///< `size` coordinates each
    const std::uint32_t* self;  ///< labels that are left out, one per home; no_self for none
    unsigned size;
    T radius_sq[max_group];
    T radius[max_group];             ///< for the scalar kernel only
    Scratch<T>* scratch;             ///< holds the parts' total and 2 max_lanes more for each
    std::uint32_t count[max_group];  ///< result: neighbours of each home
    // For pairs only.
    const T* own_radius = nullptr;  ///< of each home; null where radius_sq decides
    RadiusRule rule = RadiusRule::own;
    T largest_own = 0, skin = 0;
    const std::uint64_t* sees = nullptr;  ///< groups that each home sees; null where all see all
    bool more_groups = false;             ///< there are groups above 31
};
inline constexpr std::uint32_t no_self = 0xffffffffu;
/// Group::self of a search that leaves nobody out.
inline constexpr auto nobody = [] {
    std::array<std::uint32_t, max_group> all{};
    all.fill(no_self);
    return all;
}();

/// Where rows of a group go, one after the other, each array with room for max_lanes entries more than can pass.
template <class T>
struct RowsOut {
    std::uint32_t* labels = nullptr;
    T* squared = nullptr;              ///< distances
    T* delta[3] = {};                  ///< x_j + offset - x_i by axis; null: not wanted
    std::uint32_t* in_part = nullptr;  ///< entries of each home in each part, home by home; null: not wanted
    bool half = false, self = false;   ///< as in NeighborOptions, for the part of the homes
    bool padded = false;               ///< every row begins at a multiple of max_lanes and ends with neutral entries
};

/// Appends the candidates of a part to scratch from place `at` on, with NaN behind them; returns how many.
template <class T>
using CullFunction = std::size_t (*)(const Group<T>&, const Part<T>&, std::size_t at);
/// Compares homes with the candidates, which are a single part at place 0. Writes rows one after the other to `out`,
/// which has room for size * (candidates + max_lanes) entries (null to count only), and the counts into the group.
/// Counts of the full form include the home.
template <class T>
using TestFunction = void (*)(Group<T>&, std::size_t candidates, std::uint32_t* out);
/// The same for any number of parts that have been culled, and whatever RowsOut asks for. Counts are those of the rows,
/// the home left out where it has to be. Returns the entries written, padding included.
template <class T>
using RowsFunction = std::size_t (*)(Group<T>&, const RowsOut<T>&);

/// The full form with squared distances beside the labels, each array with the room of a row's.
template <class T>
using MeasureFunction = void (*)(Group<T>&, std::size_t candidates, T* distances_sq, std::uint32_t* labels);
/// How many of the n values are smaller than each: its place among them, shared by equals. Both arrays have room for
/// max_lanes more, which are written.
template <class T>
using RankFunction = void (*)(T* values, std::size_t n, std::uint32_t* ranks);

/// What the search asks of its vector code where a group has one part and is asked for indices alone.
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

/// Any number of parts, and all that RowsOut offers.
template <class T>
struct RowsKernel {
    RowsFunction<T> count;     ///< nothing is written but the counts
    RowsFunction<T> labels;    ///< labels alone
    RowsFunction<T> measured;  ///< labels and squared distances, and differences where they are wanted
};

/// What every search beyond plain indices asks of its vector code.
template <int D, class T>
struct RowsKernels {
    RowsKernel<T> by_home;       ///< the radius of the home decides
    RowsKernel<T> by_pair;       ///< the radii and the groups of both decide
    CullFunction<T> cull_pairs;  ///< keeps radii and groups beside the candidates, and culls by their radii
    /// Roots in place, up to max_lanes values past the end included. False if a value is not a normal number, where the
    /// root is not good enough.
    bool (*roots)(T* values, std::size_t n);
    /// Vectors out of their components.
    void (*interleave)(const T* const* delta, std::size_t n, T* out);
};
[[nodiscard]] const base::PerKind<RowsKernels>& vector_rows();
[[nodiscard]] const base::PerKind<RowsKernels>& scalar_rows();

/// The one for radii that are all `plain`, or not (cells/predicate.hpp).
template <int D, class T>
[[nodiscard]] Kernel<D, T> kernel_for(bool plain) {
    return (plain ? vector_kernels() : scalar_kernels()).template get<D, T>();
}

template <int D, class T>
[[nodiscard]] RowsKernels<D, T> rows_for(bool plain) {
    return (plain ? vector_rows() : scalar_rows()).template get<D, T>();
}

}  // namespace quadrat::neighbors
