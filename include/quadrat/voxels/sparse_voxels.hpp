// Sparse grid data without holes: a VoxelIndex, and values that one read finds. Values can be read and written in
// place; which positions exist is fixed at packing (EditableVoxels changes them).
//
//     position --- VoxelIndex::find ---> place k ------> values   [ v0  v1  ..  vk  .. ]
//
// VoxelGrid is the untyped form with any number of channels; SparseVoxels gives one of its channels a C++ type.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_grid.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace quadrat {

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
    /// The same, to be written.
    [[nodiscard]] T* find(const Voxel<D>& p) { return pointer(grid_.index.find(p)); }
    /// A copy of the value at p, or `background` if nothing is stored there. O(1).
    ///
    /// p: as for find().
    /// background: any value; the channel's own background is not looked at. Default: T{}.
    [[nodiscard]] T at(const Voxel<D>& p, const T& background = T{}) const {
        const std::uint32_t k = grid_.index.find(p);
        return k == VoxelIndex<D>::absent ? background : values_[k];
    }
    /// out[i] = at(p[i], background), many at a time: two to three times as fast as one by one where the data exceeds
    /// the caches, since dozens of reads are under way at once. Allocates nothing, and runs on the calling thread.
    ///
    /// p: as for find().
    /// out: as long as p, or Error{bad_shape} with nothing written.
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
    /// The same, to be read.
    [[nodiscard]] std::span<const T> values() const { return {values_, grid_.index.values()}; }
    /// Stored positions; values() may be longer.
    [[nodiscard]] std::size_t size() const { return grid_.index.entries(); }
    /// What is held and what it takes, other channels included. O(channels).
    [[nodiscard]] VoxelStats stats() const { return grid_.stats(); }
    /// Which place belongs to which position: layout, encoding, bytes. A copy shares its tables, and outlives this.
    [[nodiscard]] const VoxelIndex<D>& index() const { return grid_.index; }
    /// The grid with all channels, to be written to a file or to be given channels. The channel of T and the index must
    /// not be replaced, as this object points into them.
    [[nodiscard]] VoxelGrid<D>& grid() { return grid_; }
    /// The same, to be read.
    [[nodiscard]] const VoxelGrid<D>& grid() const { return grid_; }

    /// fn(position, value&) for every entry once, in the order of VoxelIndex::for_each, which is the cheap one; values
    /// may be written, channels neither added nor removed meanwhile. O(n), and the number of positions in the bounding
    /// box for some encodings, as it says there. Throws Error{unsupported} if the encoding is constrained, and what fn
    /// throws.
    template <class Fn>
    void for_each(Fn&& fn) {
        grid_.index.for_each([&](const Voxel<D>& p, std::uint32_t k) { fn(p, values_[k]); });
    }
    /// The same by z, y, x: O(n log n), and an array of all positions. Throws as for_each() does.
    template <class Fn>
    void for_each_in_space(Fn&& fn) {
        for (const auto& [p, k] : grid_.index.sorted()) fn(p, values_[k]);
    }

    /// fn(position, value&) for every entry of a box, by z, y, x. Costs and throws as VoxelIndex::sorted_in.
    ///
    /// low, high: the corners, both in the box; any positions. A box of which high is below low is empty.
    template <class Fn>
    void for_each_in(const Voxel<D>& low, const Voxel<D>& high, Fn&& fn) {
        for (const auto& [p, k] : grid_.index.sorted_in(low, high)) fn(p, values_[k]);
    }
    /// The values of a box as a dense array, x fastest, then y: high - low + 1 of them on each axis. What is not stored
    /// is `background`. Throws as for_each_in, and Error{too_large} for 2^36 values or more.
    ///
    /// low, high: the corners, both in the box; high is not below low, or Error{bad_value} with the axis.
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
    /// find()'s pointers are. O(channels).
    ///
    /// U: its size is that of the channel's values; types are not compared.
    /// wanted: the name of a channel whose values have the size of U, or Error{bad_shape} with the name.
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
