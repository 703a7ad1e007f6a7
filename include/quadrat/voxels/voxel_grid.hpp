// The untyped form of sparse grid data: a VoxelIndex and the values of one or more named channels, whose types are
// known at run time. It is what .qvox files hold, and what SparseVoxels, BlockedVoxels and MipmapVoxels are made from.
//
//     position --- VoxelIndex::find ---> place k ---+---> channel "colour"   [ v0  v1  ..  vk  .. ]
//                                                   +---> channel "height"   [ v0  v1  ..  vk  .. ]
//
// An index is compact because positions do not change (Lefebvre & Hoppe 2006); values may at any time, and so may the
// list of channels.
#pragma once

#include <quadrat/voxels/half.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quadrat {

/// The type of one scalar of a channel: unsigned and signed integers and floating-point numbers by their bits, and
/// `bytes` for what is none of these; f16 is a Half, and boolean a byte that is 0 or 1. Their numbers stand in files
/// and do not change.
enum class ValueType : std::uint8_t { bytes, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, f16, boolean };

/// Bytes of one scalar, 1 to 8; 1 for `bytes` and `boolean`.
[[nodiscard]] std::size_t size_of(ValueType type);
/// The name as it is spelled above ("f32"). The text lives as long as the program.
[[nodiscard]] const char* name(ValueType type);

/// What a T is in a file: its scalar type and how many of them. Numbers, Vec and std::array of them are known. Any
/// other type is stored as sizeof(T) bytes, padding included, which has no mean (mipmaps.hpp) and which other programs
/// cannot read as numbers; specialise it for your own vectors:
///
///     template <>
///     struct quadrat::ValueTraits<Rgba> {
///         static constexpr ValueType type = ValueType::u8;
///         static constexpr std::uint32_t components = 4;
///     };
///
/// size_of(type) * components must be sizeof(T), or the values are refused.
template <class T>
struct ValueTraits {
    static_assert(std::is_trivially_copyable_v<T>);
    /// By size and sign; an enumeration is bytes.
    static constexpr ValueType type = std::is_same_v<T, double>  ? ValueType::f64
                                      : std::is_same_v<T, float> ? ValueType::f32
                                      : std::is_same_v<T, Half>  ? ValueType::f16
                                      : std::is_same_v<T, bool>  ? ValueType::boolean
                                      : !std::is_integral_v<T>   ? ValueType::bytes
                                      : sizeof(T) == 1           ? (std::is_signed_v<T> ? ValueType::i8 : ValueType::u8)
                                      : sizeof(T) == 2 ? (std::is_signed_v<T> ? ValueType::i16 : ValueType::u16)
                                      : sizeof(T) == 4 ? (std::is_signed_v<T> ? ValueType::i32 : ValueType::u32)
                                                       : (std::is_signed_v<T> ? ValueType::i64 : ValueType::u64);
    /// Scalars in one T: 1 for a number. A channel has at most 4096.
    static constexpr std::uint32_t components = type == ValueType::bytes ? sizeof(T) : 1;
};
/// D scalars, x first.
template <int D, class T>
struct ValueTraits<Vec<D, T>> {
    static constexpr ValueType type = ValueTraits<T>::type;
    static constexpr std::uint32_t components = D * ValueTraits<T>::components;
};
/// The scalars of its elements, one after another; arrays of arrays and of Vec are legal.
template <class T, std::size_t N>
struct ValueTraits<std::array<T, N>> {
    static constexpr ValueType type = ValueTraits<T>::type;
    static constexpr std::uint32_t components = static_cast<std::uint32_t>(N) * ValueTraits<T>::components;
};

/// The values of one channel, in the order of the index: value k is at buffer.data + k * value_bytes(). Copies share
/// the values.
struct Channel {
    /// 1 to 23 bytes, unlike those of the other channels of a grid.
    std::string name;
    /// The type of each scalar.
    ValueType type = ValueType::bytes;
    /// Scalars of one value, 1 to 4096. In blocks those of a whole block: (b + 1)^D times those of a sample.
    std::uint32_t components = 1;
    /// index.values() times value_bytes() bytes, aligned to 64.
    Buffer buffer;
    /// One sample for what is not stored, as bytes of `type`; of one sample also in blocks. Empty means zero. Blocks
    /// and mipmaps use it; SparseVoxels takes a background with each call instead.
    std::vector<std::uint8_t> background = {};
    /// The shape of one sample, for arrays that were read from elsewhere: up to four extents, whose product is the
    /// scalars of a sample, last axis fastest. Default: empty, one scalar or a row of them. Nothing computes with it.
    std::vector<std::uint16_t> shape = {};

    /// Bytes of one value.
    [[nodiscard]] std::size_t value_bytes() const { return size_of(type) * components; }
};

/// The box of level 0 of a mipmap (voxels/mipmaps.hpp), from which the places of all levels follow.
template <int D>
struct MipmapShape {
    /// How many levels there are, the finest included; at most 32. Default: 0, not a mipmap.
    std::uint32_t levels = 0;
    /// The smallest coordinate of the stored positions on each axis.
    Voxel<D> origin = {};
    /// Positions from there on, on each axis: 1 to 2^21.
    std::array<std::uint32_t, D> extent = {};
};

/// Where a grid stands in the world: the sample at position p lies at origin + the sum of p[a] * step[a]. It is carried
/// along, through files too, and nothing of the library looks at it.
///
///     grid.transform = quadrat::GridTransform<3>::uniform({1, 2, 3}, 0.05);  // voxels of 5 cm
template <int D>
struct GridTransform {
    /// Of the point 0 of the grid. Default: 0.
    Vec<D, double> origin = {};
    /// From one position to the next on each axis. Default: 1 along the axis of the same number.
    std::array<Vec<D, double>, D> step = unit();

    /// Cubic voxels along the axes of the world.
    ///
    /// origin: where the point 0 of the grid is.
    /// voxel_size: the edge of a voxel in units of the world; any number, as nothing is checked.
    [[nodiscard]] static GridTransform uniform(const Vec<D, double>& origin, double voxel_size) {
        GridTransform t;
        t.origin = origin;
        for (std::size_t a = 0; a < D; ++a) t.step[a][static_cast<int>(a)] = voxel_size;
        return t;
    }
    /// Where a point of the grid is in the world. O(1).
    ///
    /// p: in positions, and any point between them.
    [[nodiscard]] Vec<D, double> to_world(const Vec<D, double>& p) const {
        Vec<D, double> out = origin;
        for (std::size_t a = 0; a < D; ++a)
            for (int k = 0; k < D; ++k) out[k] += p[static_cast<int>(a)] * step[a][k];
        return out;
    }
    /// By numbers: one with a NaN equals none, not even itself.
    [[nodiscard]] friend bool operator==(const GridTransform&, const GridTransform&) = default;

  private:
    static constexpr std::array<Vec<D, double>, D> unit() {
        std::array<Vec<D, double>, D> s{};
        for (std::size_t a = 0; a < D; ++a) s[a].v[a] = 1;
        return s;
    }
};

/// A note on a grid: a key and what it says, both text without zero bytes. Keys that mean something to tools:
///
///     name           of the grid               CHANNEL.unit   what a channel is measured in, for example "K"
///     unit           of the world, "m"         CHANNEL.name   its whole name, where that does not fit 23 bytes
struct Note {
    std::string key, text;
};

/// An index with its channels: what a .qvox file holds. Take it where types are known only at run time; otherwise
/// SparseVoxels, BlockedVoxels or MipmapVoxels, which are made from one and give it back by grid(). Move-only, as
/// values are mutable; one that was moved from can be assigned to or destroyed. Const calls may run at the same time.
template <int D>
struct VoxelGrid {
    /// Which value belongs to which position. Replace it only together with all channels.
    VoxelIndex<D> index;
    /// In the order in which they were added, which is also that of the file.
    std::vector<Channel> channels;
    /// Cells on the edge of a block (voxels/blocks.hpp): the index then holds positions of blocks. Default: 0, none.
    std::uint32_t block = 0;
    /// The levels, if positions are those of a flattened domain (voxels/mipmaps.hpp). Default: no mipmap.
    MipmapShape<D> mipmap = {};
    /// In blocks, which samples were given: bit k of place p is bit p * samples_per_value() + k, the lowest of a byte
    /// first. Default: empty, it is not known (BlockOptions::given).
    Buffer given = {};
    /// Where the grid stands in the world; of a mipmap its level 0. Default: position p is the point p.
    GridTransform<D> transform = {};
    /// What else is to be known about it, in any order, each key once. Default: nothing.
    std::vector<Note> notes = {};

    /// No positions and no channels.
    VoxelGrid() = default;
    /// Takes everything; values stay where they are.
    VoxelGrid(VoxelGrid&&) noexcept = default;
    VoxelGrid& operator=(VoxelGrid&&) noexcept = default;

    /// The channel of that name, or null. O(channels). The pointer is valid until a channel is added or removed; the
    /// values of the channel stay where they are even then.
    ///
    /// wanted: any text; names are compared byte by byte.
    [[nodiscard]] Channel* channel(std::string_view wanted) {
        for (Channel& c : channels)
            if (c.name == wanted) return &c;
        return nullptr;
    }
    /// The same, to be read.
    [[nodiscard]] const Channel* channel(std::string_view wanted) const {
        return const_cast<VoxelGrid*>(this)->channel(wanted);
    }
    /// The text of a note, or empty if there is none of that key. O(notes). Valid until notes are changed.
    [[nodiscard]] std::string_view note(std::string_view key) const {
        for (const Note& n : notes)
            if (n.key == key) return n.text;
        return {};
    }
    /// Sets a note, or removes it if the text is empty. O(notes). Invalidates texts that note() gave. If it throws, the
    /// notes are as they were.
    ///
    /// key: not empty and without zero bytes, or Error{bad_value}.
    /// text: without zero bytes, or Error{bad_value}.
    void set_note(std::string key, std::string text);
    /// True if positions that are not stored are told apart, samples of blocks included. O(1).
    [[nodiscard]] bool exact() const {
        return index.exact() && (block == 0 || given.size != 0 || index.entries() == 0);
    }
    /// Adds a channel, all zeros, after the others. Invalidates pointers to channels, not to their values. If it
    /// throws, the grid is as it was.
    ///
    /// name: 1 to 23 bytes, or Error{bad_value}; not yet taken, or Error{duplicate}.
    /// type: of each scalar. No bits set is 0 in all of them.
    /// components: scalars of one value, 1 to 4096, or Error{bad_value}.
    Channel& add_channel(std::string name, ValueType type, std::uint32_t components);
    /// The same, with row i as the value at positions[i]; positions that are not mentioned stay zero, and of equal ones
    /// the last counts. One batch of lookups, O(positions).
    ///
    /// positions: stored ones, in any order, or Error{bad_value} with the index of one that is not. With the
    ///            constrained encoding one inside the bounding box goes unnoticed, and another value is overwritten.
    /// rows: one value for each position, of size_of(type) * components bytes, or Error{bad_shape}.
    Channel& add_channel(std::string name, ValueType type, std::uint32_t components,
                         std::span<const Voxel<D>> positions, std::span<const std::byte> rows);
    /// Bytes of one value of all channels together: what a stored position takes beside the index. O(channels).
    [[nodiscard]] std::size_t value_bytes() const {
        std::size_t sum = 0;
        for (const Channel& c : channels) sum += c.value_bytes();
        return sum;
    }
    /// What the grid holds and takes, all channels counted. O(channels).
    [[nodiscard]] VoxelStats stats() const {
        VoxelStats s = index.stats();
        s.value_bytes = s.values * value_bytes();
        s.index_bytes += given.size;
        return s;
    }
};

extern template struct VoxelGrid<2>;
extern template struct VoxelGrid<3>;

}  // namespace quadrat
