// Sparse grid data without holes: a VoxelIndex and the values of one or more named channels. Values can be read and
// written in place; which positions exist is fixed at packing.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

namespace quadrat {

enum class ValueType : std::uint8_t { bytes, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

[[nodiscard]] std::size_t size_of(ValueType type);
[[nodiscard]] const char* name(ValueType type);

/// What a T is in a file: its scalar type and how many of them. Specialise it for your own vectors; otherwise a struct
/// is stored as bytes.
template <class T>
struct ValueTraits {
    static_assert(std::is_trivially_copyable_v<T>);
    static constexpr ValueType type = std::is_same_v<T, double>  ? ValueType::f64
                                      : std::is_same_v<T, float> ? ValueType::f32
                                      : !std::is_integral_v<T>   ? ValueType::bytes
                                      : sizeof(T) == 1           ? (std::is_signed_v<T> ? ValueType::i8 : ValueType::u8)
                                      : sizeof(T) == 2 ? (std::is_signed_v<T> ? ValueType::i16 : ValueType::u16)
                                      : sizeof(T) == 4 ? (std::is_signed_v<T> ? ValueType::i32 : ValueType::u32)
                                                       : (std::is_signed_v<T> ? ValueType::i64 : ValueType::u64);
    static constexpr std::uint32_t components = type == ValueType::bytes ? sizeof(T) : 1;
};
template <int D, class T>
struct ValueTraits<Vec<D, T>> {
    static constexpr ValueType type = ValueTraits<T>::type;
    static constexpr std::uint32_t components = D;
};
template <class T, std::size_t N>
struct ValueTraits<std::array<T, N>> {
    static constexpr ValueType type = ValueTraits<T>::type;
    static constexpr std::uint32_t components = static_cast<std::uint32_t>(N) * ValueTraits<T>::components;
};

/// The values of one channel, in the order of the index.
struct Channel {
    std::string name;
    ValueType type = ValueType::bytes;
    std::uint32_t components = 1;
    Buffer buffer;
    std::vector<std::uint8_t> background = {};  ///< one sample for what is not stored; empty means zero

    [[nodiscard]] std::size_t value_bytes() const { return size_of(type) * components; }
};

/// The box of level 0 of a mipmap (voxels/mipmaps.hpp), from which the places of all levels follow.
template <int D>
struct MipmapShape {
    std::uint32_t levels = 0;  ///< 0: not a mipmap
    Voxel<D> origin = {};
    std::array<std::uint32_t, D> extent = {};
};

/// An index with its channels: what a .qvox file holds. Move-only, as values are mutable.
template <int D>
struct VoxelGrid {
    VoxelIndex<D> index;
    std::vector<Channel> channels;
    std::uint32_t block = 0;  ///< cells on the edge of a block (voxels/blocks.hpp); 0 if there are none
    MipmapShape<D> mipmap = {};

    VoxelGrid() = default;
    VoxelGrid(VoxelGrid&&) noexcept = default;
    VoxelGrid& operator=(VoxelGrid&&) noexcept = default;

    [[nodiscard]] Channel* channel(std::string_view wanted) {
        for (Channel& c : channels)
            if (c.name == wanted) return &c;
        return nullptr;
    }
    [[nodiscard]] const Channel* channel(std::string_view wanted) const {
        return const_cast<VoxelGrid*>(this)->channel(wanted);
    }
    /// Adds a channel, all zeros. Throws Error{duplicate} if the name is taken, Error{bad_value} if it has more than 23
    /// bytes.
    Channel& add_channel(std::string name, ValueType type, std::uint32_t components);
    /// Adds a channel from rows in the order of `positions`, all of which must be stored.
    Channel& add_channel(std::string name, ValueType type, std::uint32_t components,
                         std::span<const Voxel<D>> positions, std::span<const std::byte> rows);
    [[nodiscard]] std::size_t value_bytes() const {
        std::size_t sum = 0;
        for (const Channel& c : channels) sum += c.value_bytes();
        return sum;
    }
};

extern template struct VoxelGrid<2>;
extern template struct VoxelGrid<3>;

/// The values at sparse positions. `T` is trivially copyable. Const calls may run concurrently; so may writes to
/// different positions.
template <class T, int D = 3>
class SparseVoxels {
  public:
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);

    SparseVoxels() = default;

    /// Packs values[i] at coordinates[i], in any order. Throws Error: `bad_shape` if the spans differ in length, and as
    /// PerfectHash::build does (`duplicate` with the later index).
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

    /// Takes a grid whose first channel (or the named one) holds T. Throws Error{bad_shape} if its values have another
    /// size.
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

    /// The value at p, or null. A pointer stays valid as long as this object; writing through it keeps the structure.
    [[nodiscard]] const T* find(const Voxel<D>& p) const { return pointer(grid_.index.find(p)); }
    [[nodiscard]] T* find(const Voxel<D>& p) { return pointer(grid_.index.find(p)); }
    /// The value at p, or `background`.
    [[nodiscard]] T at(const Voxel<D>& p, const T& background = T{}) const {
        const std::uint32_t k = grid_.index.find(p);
        return k == VoxelIndex<D>::absent ? background : values_[k];
    }
    /// out[i] = at(p[i], background), many at a time.
    void at(std::span<const Voxel<D>> p, std::span<T> out, const T& background = T{}) const {
        if (p.size() != out.size()) throw Error(ErrorKind::bad_shape, "positions and results differ in number");
        constexpr std::size_t block = 256;
        std::uint32_t places[block];
        for (std::size_t begin = 0; begin < p.size(); begin += block) {
            const std::size_t count = std::min(block, p.size() - begin);
            grid_.index.find(p.subspan(begin, count), std::span(places, count), values_, sizeof(T));
            for (std::size_t i = 0; i < count; ++i)
                out[begin + i] = places[i] == VoxelIndex<D>::absent ? background : values_[places[i]];
        }
    }

    /// All values in storage order; those of empty slots are zero.
    [[nodiscard]] std::span<T> values() { return {values_, grid_.index.values()}; }
    [[nodiscard]] std::span<const T> values() const { return {values_, grid_.index.values()}; }
    [[nodiscard]] std::size_t size() const { return grid_.index.entries(); }
    [[nodiscard]] const VoxelIndex<D>& index() const { return grid_.index; }
    [[nodiscard]] VoxelGrid<D>& grid() { return grid_; }
    [[nodiscard]] const VoxelGrid<D>& grid() const { return grid_; }

    /// fn(position, value&) for every entry, in storage order.
    template <class Fn>
    void for_each(Fn&& fn) {
        grid_.index.for_each([&](const Voxel<D>& p, std::uint32_t k) { fn(p, values_[k]); });
    }
    /// fn(position, value&) for every entry by z, y, x.
    template <class Fn>
    void for_each_in_space(Fn&& fn) {
        for (const auto& [p, k] : grid_.index.sorted()) fn(p, values_[k]);
    }

    /// Another channel of the same positions, in the order of values().
    template <class U>
    [[nodiscard]] std::span<U> channel(std::string_view wanted) {
        Channel* c = grid_.channel(wanted);
        if (!c || c->value_bytes() != sizeof(U))
            throw Error(ErrorKind::bad_shape, "no channel of that name and size", {.field = std::string(wanted)});
        return {reinterpret_cast<U*>(c->buffer.data.get()), grid_.index.values()};
    }
    template <class U>
    std::span<U> add_channel(std::string name) {
        Channel& c = grid_.add_channel(std::move(name), ValueTraits<U>::type, ValueTraits<U>::components);
        return {reinterpret_cast<U*>(c.buffer.data.get()), grid_.index.values()};
    }

  private:
    [[nodiscard]] T* pointer(std::uint32_t at) const {
        if (at == VoxelIndex<D>::absent) return nullptr;
        T* value = values_ + at;
        if (!value) __builtin_unreachable();  // so that the caller's test for null costs nothing here
        return value;
    }

    VoxelGrid<D> grid_;
    T* values_ = nullptr;
};

}  // namespace quadrat
