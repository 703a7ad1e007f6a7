// Sparse grid data without holes: a VoxelIndex and the values of one or more named channels. Values can be read and
// written in place; which positions exist is fixed at packing.
//
//     position --- VoxelIndex::find ---> place k ---+---> channel "colour"   [ v0  v1  ..  vk  .. ]
//                                                   +---> channel "height"   [ v0  v1  ..  vk  .. ]
//
// VoxelGrid is the untyped form, which files hold; SparseVoxels gives one of its channels a C++ type.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/half.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

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
    [[nodiscard]] static GridTransform uniform(const Vec<D, double>& origin, double voxel_size) {
        GridTransform t;
        t.origin = origin;
        for (std::size_t a = 0; a < D; ++a) t.step[a][static_cast<int>(a)] = voxel_size;
        return t;
    }
    /// Where a point of the grid is in the world.
    [[nodiscard]] Vec<D, double> to_world(const Vec<D, double>& p) const {
        Vec<D, double> out = origin;
        for (std::size_t a = 0; a < D; ++a)
            for (int k = 0; k < D; ++k) out[k] += p[static_cast<int>(a)] * step[a][k];
        return out;
    }
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
    VoxelGrid(VoxelGrid&&) noexcept = default;
    VoxelGrid& operator=(VoxelGrid&&) noexcept = default;

    /// The channel of that name, or null. Valid until a channel is added or removed; its values stay where they are.
    [[nodiscard]] Channel* channel(std::string_view wanted) {
        for (Channel& c : channels)
            if (c.name == wanted) return &c;
        return nullptr;
    }
    [[nodiscard]] const Channel* channel(std::string_view wanted) const {
        return const_cast<VoxelGrid*>(this)->channel(wanted);
    }
    /// The text of a note, or empty if there is none of that key.
    [[nodiscard]] std::string_view note(std::string_view key) const {
        for (const Note& n : notes)
            if (n.key == key) return n.text;
        return {};
    }
    /// Sets a note, or removes it if the text is empty.
    ///
    /// key, text: without zero bytes, or Error{bad_value}; the key is not empty.
    void set_note(std::string key, std::string text);
    /// True if positions that are not stored are told apart, samples of blocks included.
    [[nodiscard]] bool exact() const {
        return index.exact() && (block == 0 || given.size != 0 || index.entries() == 0);
    }
    /// Adds a channel, all zeros, after the others. Invalidates pointers to channels, not to their values. If it
    /// throws, the grid is as it was.
    ///
    /// name: 1 to 23 bytes, or Error{bad_value}; not yet taken, or Error{duplicate}.
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
    /// Bytes of one value of all channels together: what a stored position takes beside the index.
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

/// The values of type T at a fixed set of positions, found with two or three reads of memory, for 2D and 3D grids. Take
/// it for values that are asked for position by position; BlockedVoxels for values between the positions, MipmapVoxels
/// for several resolutions, and a hash map if positions come and go.
///
///     auto voxels = quadrat::SparseVoxels<float>::pack(coordinates, values);
///     if (const float* v = voxels.find({12, -3, 40})) use(*v);
///     voxels.for_each([](const quadrat::Voxel<3>& p, float& v) { v += p[2]; });
///     quadrat::write_qvox(voxels.grid(), "voxels.qvox");
///
/// T: trivially copyable, of at most 4096 bytes (or 4096 scalars, where ValueTraits<T> names them).
///
/// Thread safety: const calls may run concurrently; so may writes to the values of different positions. Moving it
/// leaves values where they are; one that was moved from can be assigned to or destroyed.
template <class T, int D = 3>
class SparseVoxels {
  public:
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);

    /// No positions: whatever is looked up is not there.
    SparseVoxels() = default;

    /// Packs values[i] at coordinates[i], in any order, in one channel with the name "values". O(n) memory, and some
    /// 0.1 s per million positions with fast construction. No positions are legal. The same input and options give
    /// the same bytes on any machine and for any number of threads.
    ///
    /// coordinates: as for VoxelIndex::build, which throws Error: `duplicate` with the later index of two equal ones,
    ///              `bad_value` if they span more than 2^21 cells on an axis, `too_large` above 2^27.
    /// values: one for each position, or Error{bad_shape}.
    /// options: how the index is built; its value_bytes is not looked at.
    /// report: filled in if not null, see VoxelIndex::build.
    [[nodiscard]] static SparseVoxels pack(std::span<const Voxel<D>> coordinates, std::span<const T> values,
                                           VoxelOptions options = {}, PerfectHashReport* report = nullptr) {
        if (coordinates.size() != values.size())
            throw Error(ErrorKind::bad_shape, std::to_string(coordinates.size()) + " coordinates and " +
                                                  std::to_string(values.size()) + " values");
        options.value_bytes = sizeof(T);
        VoxelGrid<D> grid;
        grid.index = VoxelIndex<D>::build(coordinates, options, report);
        grid.add_channel("values", ValueTraits<T>::type, ValueTraits<T>::components, coordinates,
                         std::as_bytes(values));
        return SparseVoxels(std::move(grid));
    }

    /// Takes a grid, for example from a file, whose first channel or the named one holds T. Nothing is copied: O(1).
    ///
    ///     quadrat::SparseVoxels<float> voxels(std::get<quadrat::VoxelGrid<3>>(quadrat::read_qvox("voxels.qvox")));
    ///
    /// grid: its values have the size of T, or Error{bad_shape}. Their type is not compared: four bytes of any kind
    ///       pass for a float.
    /// channel: a name; empty, the default, for the first one. Error{bad_shape} if there is no such channel.
    explicit SparseVoxels(VoxelGrid<D> grid, std::string_view channel = {}) : grid_(std::move(grid)) {
        Channel* c =
            channel.empty() ? (grid_.channels.empty() ? nullptr : grid_.channels.data()) : grid_.channel(channel);
        if (!c) throw Error(ErrorKind::bad_shape, "no such channel", {.field = std::string(channel)});
        if (c->value_bytes() != sizeof(T))
            throw Error(
                ErrorKind::bad_shape,
                "values of " + std::to_string(c->value_bytes()) + " bytes, asked for as " + std::to_string(sizeof(T)),
                {.field = c->name});
        values_ = reinterpret_cast<T*>(c->buffer.data.get());
    }

    /// The value at p, or null. A pointer stays valid as long as this object or the one it was moved to; writing
    /// through it changes the value and nothing else. O(1).
    ///
    /// p: any position; with the constrained encoding one that is stored, or any value is given.
    [[nodiscard]] const T* find(const Voxel<D>& p) const { return pointer(grid_.index.find(p)); }
    [[nodiscard]] T* find(const Voxel<D>& p) { return pointer(grid_.index.find(p)); }
    /// A copy of the value at p, or `background` if nothing is stored there.
    [[nodiscard]] T at(const Voxel<D>& p, const T& background = T{}) const {
        const std::uint32_t k = grid_.index.find(p);
        return k == VoxelIndex<D>::absent ? background : values_[k];
    }
    /// out[i] = at(p[i], background), many at a time: two to three times as fast as one by one where the data exceeds
    /// the caches, since dozens of reads are under way at once. Throws Error{bad_shape} if the spans differ in length,
    /// with nothing written.
    void at(std::span<const Voxel<D>> p, std::span<T> out, const T& background = T{}) const {
        if (p.size() != out.size()) throw Error(ErrorKind::bad_shape, "positions and results differ in number");
        // Places go through a small array, so that a call of any length allocates nothing.
        constexpr std::size_t block = 256;
        std::uint32_t places[block];
        for (std::size_t begin = 0; begin < p.size(); begin += block) {
            const std::size_t count = std::min(block, p.size() - begin);
            grid_.index.find(p.subspan(begin, count), std::span(places, count), values_, sizeof(T));
            for (std::size_t i = 0; i < count; ++i)
                out[begin + i] = places[i] == VoxelIndex<D>::absent ? background : values_[places[i]];
        }
    }

    /// All values in storage order, index().values() of them: value k belongs to the position that index().find() gives
    /// k for. In the voxel layout some belong to nobody, one or two in a hundred; they were zero when packed. Valid as
    /// find()'s pointers are.
    [[nodiscard]] std::span<T> values() { return {values_, grid_.index.values()}; }
    [[nodiscard]] std::span<const T> values() const { return {values_, grid_.index.values()}; }
    /// Stored positions; values() may be longer.
    [[nodiscard]] std::size_t size() const { return grid_.index.entries(); }
    /// What is held and what it takes, other channels included.
    [[nodiscard]] VoxelStats stats() const { return grid_.stats(); }
    /// Which place belongs to which position: layout, encoding, bytes.
    [[nodiscard]] const VoxelIndex<D>& index() const { return grid_.index; }
    /// The grid with all channels, to be written to a file or to be given channels. The channel of T and the index must
    /// not be replaced, as this object points into them.
    [[nodiscard]] VoxelGrid<D>& grid() { return grid_; }
    [[nodiscard]] const VoxelGrid<D>& grid() const { return grid_; }

    /// fn(position, value&) for every entry once, in the order of VoxelIndex::for_each, which is the cheap one; values
    /// may be written. Throws Error{unsupported} if the encoding is constrained, and what fn throws.
    template <class Fn>
    void for_each(Fn&& fn) {
        grid_.index.for_each([&](const Voxel<D>& p, std::uint32_t k) { fn(p, values_[k]); });
    }
    /// The same by z, y, x: O(n log n), and an array of all positions.
    template <class Fn>
    void for_each_in_space(Fn&& fn) {
        for (const auto& [p, k] : grid_.index.sorted()) fn(p, values_[k]);
    }

    /// fn(position, value&) for every entry of a box, by z, y, x. Costs and throws as VoxelIndex::sorted_in.
    ///
    /// low, high: the corners, both in the box.
    template <class Fn>
    void for_each_in(const Voxel<D>& low, const Voxel<D>& high, Fn&& fn) {
        for (const auto& [p, k] : grid_.index.sorted_in(low, high)) fn(p, values_[k]);
    }
    /// The values of a box as a dense array, x fastest, then y: high - low + 1 of them on each axis. What is not stored
    /// is `background`. Throws as for_each_in, and Error{too_large} for 2^36 values or more.
    ///
    /// low, high: the corners, both in the box; high is not below low, or Error{bad_value}.
    [[nodiscard]] std::vector<T> dense(const Voxel<D>& low, const Voxel<D>& high, const T& background = T{}) const {
        std::uint64_t cells = 1;
        for (int a = 0; a < D; ++a) {
            const std::int64_t size = std::int64_t{high[a]} - low[a] + 1;
            if (size < 1)
                throw Error(ErrorKind::bad_value, "high is below low", {.column = static_cast<std::uint64_t>(a)});
            if (static_cast<std::uint64_t>(size) >= (std::uint64_t{1} << 36) / cells)
                throw Error(ErrorKind::too_large, "a box of 2^36 values or more");
            cells *= static_cast<std::uint64_t>(size);
        }
        std::vector<T> out(cells, background);
        for (const auto& [p, k] : grid_.index.sorted_in(low, high)) {
            std::uint64_t at = 0;
            for (int a = D - 1; a >= 0; --a)
                at = at * static_cast<std::uint64_t>(std::int64_t{high[a]} - low[a] + 1) +
                     static_cast<std::uint64_t>(std::int64_t{p[a]} - low[a]);
            out[at] = values_[k];
        }
        return out;
    }
    /// The dense slice at coordinate k of an axis, over the bounding box on the others: the values of dense() for that
    /// box, so that the lower of the other axes is fastest. Empty without entries. Throws as dense().
    ///
    /// axis: 0 to D - 1, or Error{bad_value}. k: any coordinate; outside of the bounding box all is background.
    [[nodiscard]] std::vector<T> slice(int axis, std::int32_t k, const T& background = T{}) const {
        if (axis < 0 || axis >= D) throw Error(ErrorKind::bad_value, "no such axis", {.field = "axis"});
        if (size() == 0) return {};
        Voxel<D> low = grid_.index.origin(), high = low;
        for (int a = 0; a < D; ++a)
            high[a] += static_cast<std::int32_t>(grid_.index.extent()[static_cast<std::size_t>(a)] - 1);
        low[axis] = high[axis] = k;
        return dense(low, high, background);
    }

    /// Another channel of the same positions, in the order of values(): entry k belongs to the same position. Valid as
    /// find()'s pointers are. Throws Error{bad_shape} if there is none of that name whose values have the size of U;
    /// types are not compared.
    template <class U>
    [[nodiscard]] std::span<U> channel(std::string_view wanted) {
        Channel* c = grid_.channel(wanted);
        if (!c || c->value_bytes() != sizeof(U))
            throw Error(ErrorKind::bad_shape, "no channel of that name and size", {.field = std::string(wanted)});
        return {reinterpret_cast<U*>(c->buffer.data.get()), grid_.index.values()};
    }
    /// Adds a channel of zeros and gives its values, as channel() does. Pointers to values of other channels stay.
    ///
    ///     auto heights = voxels.add_channel<float>("height");
    ///     heights[voxels.index().find({12, -3, 40})] = 1.5f;  // of a stored position
    ///
    /// name: 1 to 23 bytes, or Error{bad_value}; not yet taken, or Error{duplicate}.
    template <class U>
    std::span<U> add_channel(std::string name) {
        Channel& c = grid_.add_channel(std::move(name), ValueTraits<U>::type, ValueTraits<U>::components);
        return {reinterpret_cast<U*>(c.buffer.data.get()), grid_.index.values()};
    }

  private:
    [[nodiscard]] T* pointer(std::uint32_t at) const {
        if (at == VoxelIndex<D>::absent) return nullptr;
        T* value = values_ + at;
        // So that the caller's test for null costs nothing here.
        if (!value) __builtin_unreachable();
        return value;
    }

    VoxelGrid<D> grid_;
    // In the buffer of one of the grid's channels.
    T* values_ = nullptr;
};

}  // namespace quadrat
