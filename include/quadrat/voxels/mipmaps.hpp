// Sparse samples at several resolutions (Lefebvre & Hoppe 2006, section 6, "mipmapping"): the levels lie side by side
// in one flattened domain, and one hash serves them all. Level k + 1 has half the resolution of level k; sample q of
// level k stands for the 2^k samples per axis from q 2^k on, and lies at their centre. The flattened domain:
//
//     +---------------+-------+
//     |               |   1   |      level 0 at the origin, the others in a column beside it, in x;
//     |       0       +---+---+      one empty sample between levels, and with blocks each level
//     |               | 2 |          begins at the corner of a block, so that no block has two levels.
//     +---------------+---+
//
// Along one axis, with the samples of level 1 between those that they are the means of:
//
//     level 0    0     1     2     3     4     5        sample q of level k lies at 2^k (q + 1/2) - 1/2 of level 0
//     level 1       0           1           2
//     level 2             0                       1
#pragma once

#include <quadrat/voxels/blocks.hpp>

#include <algorithm>

namespace quadrat {

/// What a coarse sample is the mean of.
enum class MipmapMean : std::uint8_t {
    stored,      ///< the stored samples below it: colours of a surface do not fade into the background
    background,  ///< all samples below it, those not stored counted as background
};

/// How levels are made and stored.
struct MipmapOptions {
    /// How many levels, the finest included; those beyond the default are not made. Default: 0, as many as halve the
    /// longest extent to 1. The last one then has one sample, or two on an axis where the positions cross a multiple of
    /// 2^(levels - 1), as those around 0 do.
    std::uint32_t levels = 0;
    /// What a coarse sample is the mean of. Default: the stored samples.
    MipmapMean mean = MipmapMean::stored;
    /// In blocks with borders: one lookup for each level that is sampled instead of 2^D. Default: one entry per sample.
    bool blocked = false;
    /// `blocks.voxels` says how the index is built, blocked or not; size and rule are those of the blocks. Size 0 takes
    /// the one with the least memory for the finest level.
    BlockOptions blocks = {};
};

/// Where the levels are in the flattened domain. For programs that read grids of mipmaps by themselves; MipmapVoxels
/// has one of its own. Const calls may run concurrently.
template <int D>
class MipmapLevels {
  public:
    /// No levels.
    MipmapLevels() = default;
    /// The levels of a grid: VoxelGrid::mipmap and VoxelGrid::block of it.
    ///
    /// shape: of a mipmap as pack_mipmap makes it or read_qvox gives it.
    /// block: cells on the edge of a block, 0 if there are none.
    MipmapLevels(const MipmapShape<D>& shape, std::uint32_t block);

    /// How many levels there are, the finest included.
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(levels_.size()); }
    /// Where cell or sample p of a level is. False if it is neither of that level nor of the border of one sample
    /// before it, whose cells touch the first samples of the level. O(1).
    ///
    /// level: below count(); this is not checked.
    /// p: any position, in samples of that level: floor of a position of level 0 divided by 2^level.
    /// flat: written in any case; of use only if the result is true.
    [[nodiscard]] bool flatten(std::uint32_t level, const Voxel<D>& p, Voxel<D>& flat) const {
        const Level& l = levels_[level];
        bool in = true;
        for (int a = 0; a < D; ++a) {
            // 0 is the border, and the level itself begins at 1.
            const std::int64_t local = std::int64_t{p[a]} - l.origin[a] + 1;
            in &= local >= 0 && local <= std::int64_t{l.extent[static_cast<std::size_t>(a)]};
            flat[a] = static_cast<std::int32_t>(l.base[a] + local);
        }
        return in;
    }
    /// Positions in the bounding box of a level, stored or not.
    ///
    /// level: below count(); this is not checked.
    [[nodiscard]] std::uint64_t samples(std::uint32_t level) const;
    /// The first coordinate of the flattened domain behind a level, on one axis.
    ///
    /// level: below count(); axis: below D; this is not checked.
    [[nodiscard]] std::int64_t end(std::uint32_t level, int axis) const {
        const Level& l = levels_[level];
        return l.base[axis] + 1 + std::int64_t{l.extent[static_cast<std::size_t>(axis)]};
    }

  private:
    // `origin` and `extent` are in samples of the level; `base` is where its border begins in the flattened domain.
    struct Level {
        Voxel<D> origin, base;
        std::array<std::uint32_t, D> extent;
    };
    std::vector<Level> levels_;
};

/// All levels as one grid, in blocks or not; its member `mipmap` says where level 0 was. Level 0 holds the values as
/// they were given. Coarser samples are means over level 0, summed in double, not means of means, and do not depend on
/// the order of the positions; those of integers are rounded to the nearest, halves upwards, and beyond 2^53 only as
/// exact as a double. Without positions there is one level and nothing in it. O(n log n) time for each level, and
/// memory for a double per scalar and a copy of the rows beside the result.
///
/// positions: no two equal, or Error{duplicate} with the later index. The flattened domain spans at most 2^21 on each
///            axis, or Error{bad_value}: level 0 may have some two thirds of that in x.
/// columns: as for pack_blocks, and numbers: bytes and booleans have no mean, which is
///          Error{unsupported}.
/// options: see there. Throws what pack_blocks or VoxelIndex::build throw for them.
/// report: filled in for the one hash if not null, see VoxelIndex::build.
template <int D>
[[nodiscard]] VoxelGrid<D> pack_mipmap(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                                       const MipmapOptions& options = {}, PerfectHashReport* report = nullptr);

/// Sparse samples at several resolutions, for rendering and for averages over regions without reading all of them. Take
/// BlockedVoxels or SparseVoxels if one resolution is enough: the coarse levels of a surface take some third of the
/// memory of level 0. T is a number, or an array or Vec of them.
///
///     auto levels = quadrat::MipmapVoxels<float>::pack(coordinates, values, 0.0f, {.blocked = true});
///     float v = levels.sample({1.5, 2.25, 7}, 1.3);  // blends levels 1 and 2
///
/// Thread safety: const calls may run concurrently. Movable, not copyable; one that was moved from can be assigned to
/// or destroyed.
template <class T, int D = 3>
class MipmapVoxels {
  public:
    /// No levels: T{} everywhere.
    MipmapVoxels() = default;

    /// Packs values[i] at coordinates[i], in any order, and their coarser levels; everything else is `background`. The
    /// channel has the name "values". Throws what pack_mipmap throws.
    ///
    /// coordinates: as for pack_mipmap.
    /// values: one for each position, or Error{bad_shape}.
    /// background: finite, as sampling blends with it, see sample() in sampling.hpp. Default: T{}.
    [[nodiscard]] static MipmapVoxels pack(std::span<const Voxel<D>> coordinates, std::span<const T> values,
                                           const T& background = T{}, const MipmapOptions& options = {}) {
        if (coordinates.size() != values.size())
            throw Error(ErrorKind::bad_shape, std::to_string(coordinates.size()) + " coordinates and " +
                                                  std::to_string(values.size()) + " values");
        const ColumnView column{"values", ValueTraits<T>::type, ValueTraits<T>::components, std::as_bytes(values),
                                std::as_bytes(std::span<const T>(&background, 1))};
        return MipmapVoxels(pack_mipmap<D>(coordinates, {&column, 1}, options));
    }

    /// Takes a grid that pack_mipmap made, for example from a file. Nothing is copied. The background is that of the
    /// channel, or T{}.
    ///
    /// grid: a mipmap whose samples have the size of T, in blocks or not, or Error{bad_shape}. Their type is not
    ///       compared.
    /// channel: a name; empty, the default, for the first one. Error{bad_shape} if there is no such channel.
    explicit MipmapVoxels(VoxelGrid<D> grid, std::string_view channel = {}) {
        if (grid.mipmap.levels == 0) throw Error(ErrorKind::bad_shape, "these voxels are not a mipmap");
        levels_ = MipmapLevels<D>(grid.mipmap, grid.block);
        blocked_ = grid.block != 0;
        if (blocked_) {
            blocks_ = BlockedVoxels<T, D>(std::move(grid), channel);
            background_ = blocks_.background();
        } else {
            voxels_ = SparseVoxels<T, D>(std::move(grid), channel);
            const Channel* c = channel.empty() ? voxels_.grid().channels.data() : voxels_.grid().channel(channel);
            if (c->background.size() == sizeof(T)) std::memcpy(&background_, c->background.data(), sizeof(T));
        }
    }

    /// How many levels there are, the finest included.
    [[nodiscard]] std::uint32_t levels() const { return levels_.count(); }
    /// What is given where nothing is stored, at all levels.
    [[nodiscard]] const T& background() const { return background_; }
    /// The grid of the flattened domain with all channels, for files.
    [[nodiscard]] const VoxelGrid<D>& grid() const { return blocked_ ? blocks_.grid() : voxels_.grid(); }
    /// What is held and what it takes, all levels and channels together.
    [[nodiscard]] VoxelStats stats() const { return grid().stats(); }

    /// Sample q of a level, or the background if it is not stored or there is no such level. One lookup, or up to 2^D
    /// in blocks.
    ///
    /// q: in samples of that level: floor of a position of level 0 divided by 2^level.
    [[nodiscard]] T at(std::uint32_t level, const Voxel<D>& q) const {
        Voxel<D> flat;
        if (level >= levels() || !levels_.flatten(level, q, flat)) return background_;
        return blocked_ ? blocks_.at(flat) : voxels_.at(flat, background_);
    }
    /// One level, interpolated at the point x of level 0; the background if x is NaN or infinite or there is no such
    /// level. 2^D lookups, or one in blocks.
    ///
    /// x: in the unit of level 0, whatever the level: the picture at the head of this file says where samples lie.
    [[nodiscard]] Blended<T> sample_level(Vec<D, double> x, std::uint32_t level) const {
        const double scale = std::ldexp(1.0, -static_cast<int>(level));
        for (int a = 0; a < D; ++a) x[a] = (x[a] + 0.5) * scale - 0.5;
        SampleCell<D, typename Blend<T>::Weight> cell;
        Voxel<D> flat;
        if (level >= levels() || !locate(x, cell) || !levels_.flatten(level, cell.corner, flat))
            return Blend<T>::widen(background_);
        cell.corner = flat;
        if (blocked_) return blocks_.sample(cell);
        return interpolate<T, D>(cell, [&](int k) {
            Voxel<D> p = flat;
            for (int a = 0; a < D; ++a) p[a] += k >> a & 1;
            return Blend<T>::widen(voxels_.at(p, background_));
        });
    }
    /// The blend of the two levels nearest to `lod`, which changes continuously with it. Costs two sample_level(), or
    /// one where lod is a whole number.
    ///
    /// lod: 0 is full resolution, each 1 halves it. Clamped to the levels; NaN counts as 0.
    [[nodiscard]] Blended<T> sample(const Vec<D, double>& x, double lod) const {
        const double last = std::max(levels(), 1u) - 1.0;
        // Written so that NaN is 0.
        const double l = lod > 0 ? std::min(lod, last) : 0.0;
        const double low = std::floor(l);
        const Blended<T> fine = sample_level(x, static_cast<std::uint32_t>(low));
        if (l == low) return fine;
        return Blend<T>::mix(fine, sample_level(x, static_cast<std::uint32_t>(low) + 1),
                             static_cast<typename Blend<T>::Weight>(l - low));
    }

  private:
    MipmapLevels<D> levels_;
    // One of the two holds the samples, as `blocked_` says; the other is empty.
    SparseVoxels<T, D> voxels_;
    BlockedVoxels<T, D> blocks_;
    T background_ = {};
    bool blocked_ = false;
};

}  // namespace quadrat
