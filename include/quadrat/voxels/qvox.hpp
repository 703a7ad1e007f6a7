// Sparse voxels in files: .qvox, described byte by byte in docs/reference/qvox.md.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

#include <filesystem>
#include <limits>
#include <span>
#include <variant>

namespace quadrat {

struct QvoxWriteOptions {
    /// 0 (the default): sections as they are in memory, for mapping; 1..19: compressed with zstd, for storage.
    int compression = 0;
};

struct QvoxReadOptions {
    /// Check the checksum of every section, which reads the whole file; default no. That of the header is always
    /// checked, and so are compressed sections.
    bool verify = false;
    /// Bytes that compressed sections may take in memory before Error{too_large} is thrown; default no limit. What is
    /// not compressed is mapped and takes none.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// The bytes of a file. Throws Error{unsupported} if compression is asked for in a build without zstd.
template <int D>
[[nodiscard]] std::vector<std::uint8_t> encode_qvox(const VoxelGrid<D>& grid, const QvoxWriteOptions& options = {});

/// Writes to a temporary file beside `path` and renames it, so that a file is never half written.
template <int D>
void write_qvox(const VoxelGrid<D>& grid, const std::filesystem::path& path, const QvoxWriteOptions& options = {});

using AnyVoxelGrid = std::variant<VoxelGrid<2>, VoxelGrid<3>>;

/// Maps the file: opening takes no longer for large ones. Values may be changed; the file is not. Throws
/// Error{bad_format} with the field for a file that is truncated, damaged or hostile; whatever it holds, lookups stay
/// in bounds.
[[nodiscard]] AnyVoxelGrid read_qvox(const std::filesystem::path& path, const QvoxReadOptions& options = {});
/// The same from memory, which is copied.
[[nodiscard]] AnyVoxelGrid decode_qvox(std::span<const std::uint8_t> bytes, const QvoxReadOptions& options = {});

/// The checksum of .qvox.
[[nodiscard]] std::uint64_t qvox_checksum(std::span<const std::uint8_t> bytes);

// The samples of a grid of any kind, one by one: plain voxels, blocks with borders, mipmaps (level 0). For tools that
// read files; programs that know their type use SparseVoxels, BlockedVoxels and MipmapVoxels.

/// Samples of one value of a channel: 1, or (b + 1)^D in blocks.
template <int D>
[[nodiscard]] std::uint32_t samples_per_value(const VoxelGrid<D>& grid) {
    if (grid.block == 0) return 1;
    const std::uint32_t b1 = grid.block + 1;
    return D == 3 ? b1 * b1 * b1 : b1 * b1;
}

inline constexpr std::uint64_t no_sample = ~std::uint64_t{0};

/// The number of the sample at p in the channels of the grid, counted in samples, or no_sample. In blocks, samples that
/// were not stored may be found as well: they hold the background.
template <int D>
[[nodiscard]] std::uint64_t find_sample(const VoxelGrid<D>& grid, const Voxel<D>& p);

/// Every stored sample with its number, by z, y, x. In blocks, samples that equal the background in all channels are
/// left out. Throws Error{unsupported} if the encoding is constrained.
template <int D>
[[nodiscard]] std::vector<std::pair<Voxel<D>, std::uint64_t>> sorted_samples(const VoxelGrid<D>& grid);

}  // namespace quadrat
