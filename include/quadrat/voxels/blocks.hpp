// Sparse samples in blocks with borders (Lefebvre & Hoppe 2006, section 6, "with blocking"): a block of b^D cells holds
// its (b + 1)^D samples side by side, those on its faces once more than needed, so that one lookup serves a whole
// interpolation, and a GPU can filter inside the block by itself. A perfect hash finds the blocks. Small blocks
// replicate more, large ones hold more background: `size = 0` tries the sizes and takes the one with the least memory,
// as in Table 1.
#pragma once

#include <quadrat/voxels/sampling.hpp>

#include <limits>
#include <vector>

namespace quadrat {

/// Which cells must be answered for; a block is kept if it has one of them.
enum class BlockRule : std::uint8_t {
    touched,   ///< cells with at least one stored corner: sampling equals sample() of sampling.hpp everywhere
    complete,  ///< cells whose 2^D corners are all stored: for samples made for given cells, as in the paper. Elsewhere
               ///< sampling gives the background, or a blend with it where the block is kept all the same
};

struct BlockOptions {
    std::uint32_t size = 0;  ///< b, cells on each edge; 0 searches for the one with the least memory
    BlockRule rule = BlockRule::touched;
    VoxelOptions voxels = {};  ///< of the index over the blocks
};

/// The values of one channel before packing: rows of `components` scalars in the order of the positions.
struct ColumnView {
    std::string_view name;
    ValueType type = ValueType::bytes;
    std::uint32_t components = 1;
    std::span<const std::byte> rows;
    std::span<const std::byte> background = {};  ///< one row, or empty for zeros

    [[nodiscard]] std::size_t value_bytes() const { return size_of(type) * components; }
};

/// What one block size costs, from counts alone.
struct BlockCost {
    std::uint32_t size = 0;     ///< b
    std::uint64_t blocks = 0;   ///< blocks that are kept
    std::uint64_t samples = 0;  ///< bytes of their samples
    std::uint64_t bytes = 0;    ///< all, with empty slots, offsets and tags
};

/// The costs of sizes 1, 2, 3, ... in that order, until they rise for good or a block would have more than 4096
/// scalars. Throws as VoxelIndex::build does.
template <int D>
[[nodiscard]] std::vector<BlockCost> block_costs(std::span<const Voxel<D>> positions, std::size_t value_bytes,
                                                 const BlockOptions& options = {});

/// A grid of blocks: its index holds positions of blocks, floor(p / b), and a value of a channel is the (b + 1)^D
/// samples of a block, x fastest. Throws Error: `bad_shape` for a column of the wrong length, `bad_value` if a block
/// would have more than 4096 scalars, and as VoxelIndex::build does.
template <int D>
[[nodiscard]] VoxelGrid<D> pack_blocks(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                                       const BlockOptions& options = {}, PerfectHashReport* report = nullptr);

/// Sparse samples in blocks. Const calls may run concurrently.
template <class T, int D = 3>
class BlockedVoxels {
  public:
    BlockedVoxels() = default;

    /// Packs values[i] at coordinates[i]; everything else is `background`. Throws Error{bad_shape} if the spans differ
    /// in length, and as pack_blocks does.
    [[nodiscard]] static BlockedVoxels pack(std::span<const Voxel<D>> coordinates, std::span<const T> values,
                                            const T& background = T{}, const BlockOptions& options = {}) {
        if (coordinates.size() != values.size())
            throw Error(ErrorKind::bad_shape, std::to_string(coordinates.size()) + " coordinates and " +
                                                  std::to_string(values.size()) + " values");
        const ColumnView column{"values", ValueTraits<T>::type, ValueTraits<T>::components, std::as_bytes(values),
                                std::as_bytes(std::span<const T>(&background, 1))};
        return BlockedVoxels(pack_blocks<D>(coordinates, {&column, 1}, options));
    }

    /// Takes a grid of blocks whose first channel (or the named one) holds samples of T. Throws Error{bad_shape} if it
    /// does not.
    explicit BlockedVoxels(VoxelGrid<D> grid, std::string_view channel = {}) : grid_(std::move(grid)) {
        Channel* c =
            channel.empty() ? (grid_.channels.empty() ? nullptr : grid_.channels.data()) : grid_.channel(channel);
        if (!c) throw Error(ErrorKind::bad_shape, "no such channel", {.field = std::string(channel)});
        if (grid_.block == 0) throw Error(ErrorKind::bad_shape, "these voxels are not in blocks", {.field = c->name});
        const std::size_t b1 = grid_.block + std::size_t{1};
        samples_ = D == 3 ? b1 * b1 * b1 : b1 * b1;
        if (c->value_bytes() != sizeof(T) * samples_)
            throw Error(ErrorKind::bad_shape, "the samples of this channel have another size", {.field = c->name});
        values_ = reinterpret_cast<T*>(c->buffer.data.get());
        if (c->background.size() == sizeof(T)) std::memcpy(&background_, c->background.data(), sizeof(T));
        divider_ = Divider(grid_.block);
        for (int a = 0; a < D; ++a) {
            if (std::uint64_t{grid_.index.extent()[static_cast<std::size_t>(a)]} * grid_.block >= 1u << 22)
                throw Error(ErrorKind::bad_shape, "the blocks span too large a domain", {.field = c->name});
            low_[a] = std::int64_t{grid_.index.origin()[a]} * grid_.block;
            size_[a] = std::int64_t{grid_.index.extent()[static_cast<std::size_t>(a)]} * grid_.block;
        }
    }

    /// The blend of the 2^D samples around x, from one lookup; the background where no block is kept.
    template <class Real>
    [[nodiscard]] Blended<T> sample(const Vec<D, Real>& x) const {
        SampleCell<D, typename Blend<T>::Weight> cell;
        if (!locate(x, cell)) return Blend<T>::widen(background_);
        return sample(cell);
    }
    /// The same for a cell that locate() gave.
    [[nodiscard]] Blended<T> sample(const SampleCell<D, typename Blend<T>::Weight>& cell) const {
        std::size_t at = 0;
        const T* block = find_block(cell.corner, at);
        if (!block) return Blend<T>::widen(background_);
        const std::size_t b1 = grid_.block + std::size_t{1};
        return interpolate<T, D>(cell, [&](int k) {
            std::size_t step = static_cast<std::size_t>(k & 1) + static_cast<std::size_t>(k >> 1 & 1) * b1;
            if constexpr (D == 3) step += static_cast<std::size_t>(k >> 2) * b1 * b1;
            return Blend<T>::widen(block[at + step]);
        });
    }

    /// The sample at p, or the background.
    [[nodiscard]] T at(const Voxel<D>& p) const {
        T value = background_;
        for_each_copy(p, [&](std::size_t k) { value = values_[k]; });
        return value;
    }
    /// Writes every copy of the sample at p; false if no block holds it.
    bool set(const Voxel<D>& p, const T& value) {
        bool any = false;
        for_each_copy(p, [&](std::size_t k) {
            values_[k] = value;
            any = true;
        });
        return any;
    }

    [[nodiscard]] std::uint32_t block_size() const { return grid_.block; }
    [[nodiscard]] const T& background() const { return background_; }
    [[nodiscard]] VoxelGrid<D>& grid() { return grid_; }
    [[nodiscard]] const VoxelGrid<D>& grid() const { return grid_; }
    /// Index and samples, empty slots included.
    [[nodiscard]] std::uint64_t bytes() const {
        return grid_.index.bytes() + std::uint64_t{grid_.index.values()} * samples_ * sizeof(T);
    }

  private:
    // The samples of the block of cell p, and where p is among them; null if it is not kept.
    [[nodiscard]] const T* find_block(const Voxel<D>& p, std::size_t& at) const {
        Voxel<D> block;
        std::uint32_t inner[D];
        for (int a = 0; a < D; ++a) {
            const std::int64_t local = p[a] - low_[a];
            if (local < 0 || local >= size_[a]) return nullptr;
            const std::uint32_t q = divider_.quotient(static_cast<std::uint32_t>(local));
            inner[a] = static_cast<std::uint32_t>(local) - q * grid_.block;
            block[a] = grid_.index.origin()[a] + static_cast<std::int32_t>(q);
        }
        const std::uint32_t place = grid_.index.find(block);
        if (place == VoxelIndex<D>::absent) return nullptr;
        at = inner[D - 1];
        for (int a = D - 2; a >= 0; --a) at = at * (grid_.block + std::size_t{1}) + inner[a];
        return values_ + place * samples_;
    }
    // fn(index in values_) for each of the up to 2^D blocks that hold p: those of the cells below it.
    template <class Fn>
    void for_each_copy(const Voxel<D>& p, Fn&& fn) const {
        for (int k = (1 << D) - 1; k >= 0; --k) {
            Voxel<D> corner = p;
            std::size_t b1 = 1, step = 0;
            bool face = true;
            for (int a = 0; a < D; ++a, b1 *= grid_.block + std::size_t{1}) {
                if (!(k >> a & 1)) continue;
                // Only a sample on the lower face belongs to the block before as well.
                const std::int64_t local = p[a] - low_[a];
                face = face && p[a] > std::numeric_limits<std::int32_t>::min() && local > 0 && local <= size_[a] &&
                       local % grid_.block == 0;
                if (!face) break;
                corner[a] -= 1;
                step += b1;
            }
            std::size_t at = 0;
            if (!face) continue;
            if (const T* block = find_block(corner, at)) fn(static_cast<std::size_t>(block - values_) + at + step);
        }
    }

    VoxelGrid<D> grid_;
    T* values_ = nullptr;
    T background_ = {};
    std::size_t samples_ = 0;
    Divider divider_;
    std::int64_t low_[D] = {}, size_[D] = {};
};

}  // namespace quadrat
