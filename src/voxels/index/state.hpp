// The room of the index: an index as its parts, the way they stand in files. Other rooms (file, sampling, glsl)
// use this header and index/estimates.hpp; encodings, builders and batches are for this room alone.
//
// An index is a set of tables and a few numbers (IndexParts). A builder fills them in, or a file brings them; the
// encoding (index/encodings.hpp) is a view of them that knows how to look up and to walk.
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include <array>
#include <cstdint>

namespace quadrat::voxels {

/// The tables of an index in the order of the sections of a file; no encoding has all of them.
enum class Table : std::uint8_t { offsets, tags, bits, ranks, bricks, keys };
inline constexpr std::size_t table_count = 6;
inline constexpr const char* table_names[table_count] = {"offsets", "tags", "bits", "ranks", "bricks", "keys"};

/// A T for each table.
template <class T>
struct PerTable : std::array<T, table_count> {
    using std::array<T, table_count>::operator[];
    [[nodiscard]] T& operator[](Table t) { return (*this)[static_cast<std::size_t>(t)]; }
    [[nodiscard]] const T& operator[](Table t) const { return (*this)[static_cast<std::size_t>(t)]; }
};

/// Bytes behind each table, so that its last field can be read as a word of 64 bits.
inline constexpr std::size_t table_padding = 8;

template <int D>
struct IndexParts {
    Layout layout = Layout::voxel;
    Encoding encoding = Encoding::bucket_tag;
    std::uint32_t entries = 0;
    std::uint32_t tag_bits = 0;
    Voxel<D> origin = {};
    std::array<std::uint32_t, D> extent = {};
    typename PerfectHash<D>::Shape shape = {};
    PerTable<Buffer> tables = {};

    [[nodiscard]] std::uint64_t cells() const {
        std::uint64_t n = 1;
        for (const std::uint32_t e : extent) n *= e;
        return n;
    }
};

/// True for the layouts that have a perfect hash, over positions or bricks.
[[nodiscard]] inline bool is_hashed(Layout layout) {
    return layout == Layout::voxel || layout == Layout::brick;
}

/// The way between an index and its parts.
template <int D>
struct IndexFiles {
    [[nodiscard]] static IndexParts<D> parts(const VoxelIndex<D>& index);
    /// Throws Error{bad_format} if the parts do not fit together. Their contents may be anything: lookups stay in
    /// bounds.
    [[nodiscard]] static VoxelIndex<D> from_parts(IndexParts<D> parts);
    /// Bytes that each table must have, padding included. Throws Error{bad_format} for numbers out of range.
    [[nodiscard]] static PerTable<std::uint64_t> table_sizes(const IndexParts<D>& parts);
    /// From parts that were just built, and their hash.
    [[nodiscard]] static VoxelIndex<D> from_built(IndexParts<D> parts, const PerfectHash<D>& hash);
};

extern template struct IndexFiles<2>;
extern template struct IndexFiles<3>;

}  // namespace quadrat::voxels
