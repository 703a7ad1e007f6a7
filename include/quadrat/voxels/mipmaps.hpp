// Sparse samples at several resolutions (Lefebvre & Hoppe 2006, section 6, "mipmapping"): the levels lie side by side
// in one flattened domain, and one hash serves them all. Level k + 1 has half the resolution of level k; sample q of
// level k stands for the 2^k samples per axis from q 2^k on, and lies at their centre. The flattened domain:
//
//     +---------------+-------+
//     |               |   1   |      level 0 at the origin, the others in a column beside it, in x;
//     |       0       +---+---+      one empty sample between levels, and with blocks each level
//     |               | 2 |          begins at the corner of a block, so that no block has two levels.
//     +---------------+---+
#pragma once

#include <quadrat/voxels/blocks.hpp>

#include <algorithm>

namespace quadrat {

/// What a coarse sample is the mean of.
enum class MipmapMean : std::uint8_t {
    stored,      ///< the stored samples below it: colours of a surface do not fade into the background
    background,  ///< all samples below it, those not stored counted as background
};

struct MipmapOptions {
    std::uint32_t levels = 0;  ///< 0: until one sample is left
    MipmapMean mean = MipmapMean::stored;
    bool blocked = false;  ///< in blocks with borders, chosen by `blocks`; otherwise one entry per sample
    BlockOptions blocks = {};
};

/// Where the levels are in the flattened domain.
template <int D>
class MipmapLevels {
  public:
    MipmapLevels() = default;
    MipmapLevels(const MipmapShape<D>& shape, std::uint32_t block);

    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(levels_.size()); }
    /// Where cell or sample p of a level is. False if it is neither of that level nor of the border of one sample
    /// before it.
    [[nodiscard]] bool flatten(std::uint32_t level, const Voxel<D>& p, Voxel<D>& flat) const {
        const Level& l = levels_[level];
        bool in = true;
        for (int a = 0; a < D; ++a) {
            const std::int64_t local = std::int64_t{p[a]} - l.origin[a] + 1;  // 0 is the border
            in &= local >= 0 && local <= std::int64_t{l.extent[static_cast<std::size_t>(a)]};
            flat[a] = static_cast<std::int32_t>(l.base[a] + local);
        }
        return in;
    }
    [[nodiscard]] std::uint64_t samples(std::uint32_t level) const;  ///< of the bounding box of a level

  private:
    struct Level {
        Voxel<D> origin, base;
        std::array<std::uint32_t, D> extent;
    };
    std::vector<Level> levels_;
};

/// All levels as one grid, in blocks or not. The means of integers are rounded to the nearest. Throws
/// Error{unsupported} for columns of bytes, which have no mean, Error{bad_value} if the flattened domain exceeds 2^21
/// on an axis, and as pack_blocks does.
template <int D>
[[nodiscard]] VoxelGrid<D> pack_mipmap(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                                       const MipmapOptions& options = {});

/// Sparse samples at several resolutions.
template <class T, int D = 3>
class MipmapVoxels {
  public:
    MipmapVoxels() = default;

    [[nodiscard]] static MipmapVoxels pack(std::span<const Voxel<D>> coordinates, std::span<const T> values,
                                           const T& background = T{}, const MipmapOptions& options = {}) {
        if (coordinates.size() != values.size())
            throw Error(ErrorKind::bad_shape, std::to_string(coordinates.size()) + " coordinates and " +
                                                  std::to_string(values.size()) + " values");
        const ColumnView column{"values", ValueTraits<T>::type, ValueTraits<T>::components, std::as_bytes(values),
                                std::as_bytes(std::span<const T>(&background, 1))};
        return MipmapVoxels(pack_mipmap<D>(coordinates, {&column, 1}, options));
    }

    /// Takes a grid that pack_mipmap made. Throws Error{bad_shape} if it is not one of T.
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

    [[nodiscard]] std::uint32_t levels() const { return levels_.count(); }
    [[nodiscard]] const T& background() const { return background_; }
    [[nodiscard]] const VoxelGrid<D>& grid() const { return blocked_ ? blocks_.grid() : voxels_.grid(); }

    /// Sample q of a level, or the background.
    [[nodiscard]] T at(std::uint32_t level, const Voxel<D>& q) const {
        Voxel<D> flat;
        if (level >= levels() || !levels_.flatten(level, q, flat)) return background_;
        return blocked_ ? blocks_.at(flat) : voxels_.at(flat, background_);
    }
    /// One level, interpolated at the point x of level 0.
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
    /// The blend of the two levels nearest to `lod`: 0 is full resolution, each 1 halves it. Clamped to the levels.
    [[nodiscard]] Blended<T> sample(const Vec<D, double>& x, double lod) const {
        const double last = std::max(levels(), 1u) - 1.0;
        const double l = lod > 0 ? std::min(lod, last) : 0.0;  // NaN is 0
        const double low = std::floor(l);
        const Blended<T> fine = sample_level(x, static_cast<std::uint32_t>(low));
        if (l == low) return fine;
        return Blend<T>::mix(fine, sample_level(x, static_cast<std::uint32_t>(low) + 1),
                             static_cast<typename Blend<T>::Weight>(l - low));
    }

  private:
    MipmapLevels<D> levels_;
    SparseVoxels<T, D> voxels_;
    BlockedVoxels<T, D> blocks_;
    T background_ = {};
    bool blocked_ = false;
};

}  // namespace quadrat
