// Sparse samples in blocks with borders (Lefebvre & Hoppe 2006, section 6, "with blocking"): a block of b^D cells holds
// its (b + 1)^D samples side by side, those on its faces once more than needed, so that one lookup serves a whole
// interpolation, and a GPU can filter inside the block by itself. A perfect hash finds the blocks. Small blocks
// replicate more, large ones hold more background: `size = 0` tries the sizes and takes the one with the least memory,
// as in Table 1.
//
//     o---o---o---o---o       two blocks of 2^2 cells, b = 2, beside each other in x; each holds 3^2 samples:
//     |   |   |   |   |
//     o---o---o---o---o       block (0, 0)   samples (0..2, 0..2), in memory  (0,0) (1,0) (2,0) (0,1) .. (2,2)
//     |   |   |   |   |       block (1, 0)   samples (2..4, 0..2)
//     o---o---o---o---o
//             ^               the samples at x = 2 are in both
//
// Which to take: SparseVoxels where positions are asked for one by one, or where memory is short; blocks where values
// between the positions are, since a lookup costs a wait for memory and the samples of a block come with it.
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

/// Whether blocks remember which of their samples were given, with a bit for each.
enum class GivenSamples : std::uint8_t {
    forgotten,   ///< what was not given is background, and cannot be told from what was given as that
    remembered,  ///< find_sample() and sorted_samples() know (VoxelGrid::given)
};

/// How samples are put in blocks. The defaults give exact sampling in the least memory.
struct BlockOptions {
    /// b, cells on each edge. (b + 1)^D times the components of a sample may be at most 4096: numbers allow up to 15 in
    /// three dimensions and up to 63 in two. Default: 0, searches for the one with the least memory.
    std::uint32_t size = 0;
    /// Which blocks are kept. Default: all that a sample can reach.
    BlockRule rule = BlockRule::touched;
    /// Default: nothing is remembered, as in the paper; the bit is not counted in block_costs().
    GivenSamples given = GivenSamples::forgotten;
    /// How the index over the blocks is built; its value_bytes is not looked at. Constrained, it cannot tell blocks
    /// that are not kept: sampling there gives numbers of some other block. Default: as for single voxels.
    VoxelOptions voxels = {};
};

/// The values of one channel before packing: rows of `components` scalars in the order of the positions. Owns nothing;
/// what it views must live during the call that it is given to.
struct ColumnView {
    /// The name of the channel: 1 to 23 bytes, unlike those of the others.
    std::string_view name;
    /// The type of each scalar.
    ValueType type = ValueType::bytes;
    /// Scalars of one sample, at least 1.
    std::uint32_t components = 1;
    /// value_bytes() for each position, without gaps.
    std::span<const std::byte> rows;
    /// One row for what is not stored. Default: empty, zeros.
    std::span<const std::byte> background = {};

    /// Bytes of one row.
    [[nodiscard]] std::size_t value_bytes() const { return size_of(type) * components; }
};

/// What one block size costs, from counts alone: nothing is packed, and no clock is looked at.
struct BlockCost {
    std::uint32_t size = 0;     ///< b
    std::uint64_t blocks = 0;   ///< blocks that are kept, exactly
    std::uint64_t samples = 0;  ///< bytes of their samples, exactly
    std::uint64_t bytes = 0;    ///< all, with empty slots, offsets and tags, which are estimated
};

/// The costs of sizes 1, 2, 3, ... in that order, until four in a row are no better than the best before them, or a
/// block would have more than 4096 samples. Empty for no positions. Sorts the positions once, then each size is one
/// pass over the cells: O(n log n) time, and memory for up to 2^(D + 1) keys of 8 bytes per position.
///
/// positions: no two equal, or Error{duplicate} with the later index. They span at most 2^21 cells on each axis, and
///            one coordinate on each side of them is within 32 bits, or Error{bad_value}.
/// value_bytes: of one sample, all channels together.
/// options: its size is not looked at.
template <int D>
[[nodiscard]] std::vector<BlockCost> block_costs(std::span<const Voxel<D>> positions, std::size_t value_bytes,
                                                 const BlockOptions& options = {});

/// A grid of blocks: its index holds positions of blocks, floor(p / b), and a value of a channel is the (b + 1)^D
/// samples of a block, x fastest. Samples of kept blocks that were not given are the background; with
/// BlockRule::complete, given samples that lie in no kept block are left out. Without positions the grid has channels
/// and no blocks. Take it for several channels or types known at run time, and BlockedVoxels::pack for one of type T.
///
/// Cost: that of block_costs() if the size is searched for, a build of the index over the blocks, and up to 2^D lookups
/// for each position. Throws what VoxelIndex::build throws, for the blocks.
///
/// positions: as for block_costs().
/// columns: a row for each position and one background or none, or Error{bad_shape} with the name of the column; names
///          as for VoxelGrid::add_channel.
/// options: a size that the widest column allows, or Error{bad_value} that names the largest.
/// report: filled in for the hash over the blocks if not null, see VoxelIndex::build.
template <int D>
[[nodiscard]] VoxelGrid<D> pack_blocks(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                                       const BlockOptions& options = {}, PerfectHashReport* report = nullptr);

/// Sparse samples in blocks, for sampling with one lookup instead of 2^D. The numbers are those of sample() in
/// sampling.hpp to the last bit, with BlockRule::touched and a finite background.
///
///     auto blocks = quadrat::BlockedVoxels<float>::pack(coordinates, values, -1.0f);
///     float v = blocks.sample(quadrat::Vec3d{1.5, 2.25, 7});
///     std::uint32_t b = blocks.block_size();
///
/// Thread safety: const calls may run concurrently, with each other alone. Movable, not copyable; one that was moved
/// from can be assigned to or destroyed.
template <class T, int D = 3>
class BlockedVoxels {
  public:
    /// No blocks: T{} everywhere.
    BlockedVoxels() = default;

    /// Packs values[i] at coordinates[i], in any order; everything else is `background`. The channel has the name
    /// "values". Throws what pack_blocks throws.
    ///
    /// coordinates: as for block_costs().
    /// values: one for each position, or Error{bad_shape}.
    /// background: what sampling gives far from all samples, and blends with beside them. Default: T{}.
    /// options: as for pack_blocks(). Default: the size with the least memory, and exact sampling.
    [[nodiscard]] static BlockedVoxels pack(std::span<const Voxel<D>> coordinates, std::span<const T> values,
                                            const T& background = T{}, const BlockOptions& options = {}) {
        if (coordinates.size() != values.size())
            throw Error(ErrorKind::bad_shape, std::to_string(coordinates.size()) + " coordinates and " +
                                                  std::to_string(values.size()) + " values");
        const ColumnView column{"values", ValueTraits<T>::type, ValueTraits<T>::components, std::as_bytes(values),
                                std::as_bytes(std::span<const T>(&background, 1))};
        return BlockedVoxels(pack_blocks<D>(coordinates, {&column, 1}, options));
    }

    /// Takes a grid of blocks, for example from a file, whose first channel or the named one holds samples of T.
    /// Nothing is copied: O(1). The background is that of the channel, or T{}.
    ///
    /// grid: in blocks whose samples have the size of T, and of less than 2^22 cells on each axis, or Error{bad_shape}.
    ///       The type of the samples is not compared.
    /// channel: a name; empty, the default, for the first one. Error{bad_shape} if there is no such channel.
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
        divider_ = voxels::Divider(grid_.block);
        for (int a = 0; a < D; ++a) {
            if (std::uint64_t{grid_.index.extent()[static_cast<std::size_t>(a)]} * grid_.block >= 1u << 22)
                throw Error(ErrorKind::bad_shape, "the blocks span too large a domain", {.field = c->name});
            low_[a] = std::int64_t{grid_.index.origin()[a]} * grid_.block;
            size_[a] = std::int64_t{grid_.index.extent()[static_cast<std::size_t>(a)]} * grid_.block;
        }
    }

    /// The blend of the 2^D samples around x, from one lookup; the background where no block is kept, and for a point
    /// that is NaN, infinite or beyond 32 bits. O(1), and does not throw.
    ///
    /// x: in the unit of the grid; position p of the grid is the point p. In float or double: float has 24 bits, so far
    ///    from 0 double is nearer.
    template <class Real>
    [[nodiscard]] Blended<T> sample(const Vec<D, Real>& x) const {
        SampleCell<D, typename Blend<T>::Weight> cell;
        if (!locate(x, cell)) return Blend<T>::widen(background_);
        return sample(cell);
    }
    /// The same for a cell of 2^D samples, without a test of its numbers. O(1), and does not throw.
    ///
    /// cell: from locate(), or made by hand: its corner any position, its t from 0 to 1.
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

    /// The sample at p, or the background if no block holds it. A sample inside a block is one lookup, one on its lower
    /// faces up to 2^D. SparseVoxels::at is faster where this is all that is asked.
    ///
    /// p: any position.
    [[nodiscard]] T at(const Voxel<D>& p) const {
        T value = background_;
        for_each_copy(p, [&](std::size_t k) { value = values_[k]; });
        return value;
    }
    /// Writes every copy of the sample at p; false, with nothing written, if no block holds it. Samples of kept blocks
    /// may be set, too, that were background; cells of blocks that are not kept stay as they are. Up to 2^D lookups.
    /// No other call may run at the same time, as neighbours share the blocks.
    ///
    /// p: any position; with a constrained index one that was packed by BlockRule::touched, or other samples are lost.
    /// value: is copied; any.
    bool set(const Voxel<D>& p, const T& value) {
        bool any = false;
        for_each_copy(p, [&](std::size_t k) {
            values_[k] = value;
            if (grid_.given.size != 0) {
                std::uint8_t& byte = grid_.given.data.get()[k >> 3];
                byte = static_cast<std::uint8_t>(byte | 1u << (k & 7));
            }
            any = true;
        });
        return any;
    }

    /// b, cells on each edge of a block: what was asked for, or what was found to take the least memory. 0 for voxels
    /// that were never packed.
    [[nodiscard]] std::uint32_t block_size() const { return grid_.block; }
    /// What is given where nothing is stored; T{} if nothing else was asked for.
    [[nodiscard]] const T& background() const { return background_; }
    /// The grid with all channels, for files. Its index, block and channel of T must not be replaced, as this object
    /// points into them.
    [[nodiscard]] VoxelGrid<D>& grid() { return grid_; }
    /// The same, to be read.
    [[nodiscard]] const VoxelGrid<D>& grid() const { return grid_; }
    /// What is held and what it takes, other channels included: entries are blocks, and a value is all samples of one.
    /// O(channels).
    [[nodiscard]] VoxelStats stats() const { return grid_.stats(); }

  private:
    // The samples of the block of cell p, and where p is among them; null if it is not kept. p is moved to the corner
    // of the first block first, where no coordinate is negative and one multiplication divides by b.
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
    // fn(index in values_) for each of the up to 2^D blocks that hold p: those of the cells below it. Bit a of k is set
    // for the block before on axis a, of which p is on the upper face; p's own block, k = 0, is the last.
    template <class Fn>
    void for_each_copy(const Voxel<D>& p, Fn&& fn) const {
        for (int k = (1 << D) - 1; k >= 0; --k) {
            Voxel<D> corner = p;
            std::size_t b1 = 1, step = 0;
            bool face = true;
            for (int a = 0; a < D; ++a, b1 *= grid_.block + std::size_t{1}) {
                if (!(k >> a & 1)) continue;
                // Only a sample on the lower face belongs to the block before as well; local == size_ is the upper face
                // of the last block.
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
    // In the buffer of one of the grid's channels.
    T* values_ = nullptr;
    T background_ = {};
    // (b + 1)^D.
    std::size_t samples_ = 0;
    // By b.
    voxels::Divider divider_;
    // The first cell of the first block, and how many cells the blocks span from there on: less than 2^22, as Divider
    // asks.
    std::int64_t low_[D] = {}, size_[D] = {};
};

}  // namespace quadrat
