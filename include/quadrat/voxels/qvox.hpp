// Sparse voxels in files: .qvox, described byte by byte in docs/reference/qvox.md.
//
//     quadrat::write_qvox(voxels.grid(), "voxels.qvox");
//     auto grid = std::get<quadrat::VoxelGrid<3>>(quadrat::read_qvox("voxels.qvox"));
//     quadrat::SparseVoxels<float> again(std::move(grid));
//
// Nothing here keeps state: calls may run at the same time, on one grid if nobody writes to its values.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

#include <filesystem>
#include <limits>
#include <span>
#include <variant>

namespace quadrat {

/// How a file is written.
struct QvoxWriteOptions {
    /// 0: sections as they are in memory, for mapping; 1 to 19: compressed with zstd, for storage, where larger numbers
    /// take longer for smaller files. Default: 0.
    int compression = 0;
};

/// How a file is read.
struct QvoxReadOptions {
    /// Checks the checksum of every section, which reads the whole file. That of the header is always checked, and so
    /// are compressed sections. Default: no.
    bool verify = false;
    /// Bytes that compressed sections may take in memory before Error{too_large} is thrown, for files that are not
    /// trusted. What is not compressed is mapped and takes none. Default: no limit.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
};

/// The bytes of a file: index, channels, their backgrounds, and the shapes of blocks and mipmaps. The same grid gives
/// the same bytes, compressed ones with the same zstd. Throws Error{unsupported} if compression is asked for in a build
/// without zstd. O(size), and memory for all of it.
///
/// grid: one whose index was built or read, be it of no positions.
template <int D>
[[nodiscard]] std::vector<std::uint8_t> encode_qvox(const VoxelGrid<D>& grid, const QvoxWriteOptions& options = {});

/// Writes the same bytes to a temporary file beside `path`, which has .part after its name, and renames it, so that a
/// file is never half written and one that is there stays if this fails. Sections go out one by one: a second copy of
/// the values is never made, and with compression there is room for one section. Throws Error{cannot_write} with the
/// path if it cannot be created or written in full, and as encode_qvox.
template <int D>
void write_qvox(const VoxelGrid<D>& grid, const std::filesystem::path& path, const QvoxWriteOptions& options = {});

/// What a file holds: its header says how many dimensions it has.
using AnyVoxelGrid = std::variant<VoxelGrid<2>, VoxelGrid<3>>;

/// Maps the file, where the system can: beside its header only an offset table of up to 4 MB is read, so that opening
/// takes no longer for large ones; compressed sections are read and unpacked. Values may be changed in memory; the file
/// is not, and it must not be changed by others while the grid lives. Whatever a file holds, lookups stay in bounds.
///
/// Throws Error with the path: `cannot_read` if it is missing or not a file; `bad_format` with the field if it is
/// truncated, damaged or hostile; `unsupported` for another version, or compression in a build without zstd;
/// `too_large` beyond max_bytes.
[[nodiscard]] AnyVoxelGrid read_qvox(const std::filesystem::path& path, const QvoxReadOptions& options = {});
/// The same from memory, which is copied, so that `bytes` need not outlive the call nor be aligned.
[[nodiscard]] AnyVoxelGrid decode_qvox(std::span<const std::uint8_t> bytes, const QvoxReadOptions& options = {});

/// The checksum of .qvox, 64 bits that find damage and no intent; defined in docs/reference/qvox.md. O(size).
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

/// What find_sample() gives where there is no sample.
inline constexpr std::uint64_t no_sample = ~std::uint64_t{0};

/// The number of the sample at p in the channels of the grid, counted in samples, or no_sample: sample k of a channel
/// is at byte k * value_bytes() / samples_per_value(grid) of its buffer. In blocks, samples that were not stored are
/// absent where the grid knows which were given (VoxelGrid::given), and otherwise found as well: they hold the
/// background. Of several copies one is given. One lookup, up to 2^D in blocks.
///
/// p: any position, of level 0 in a mipmap; with the constrained encoding one that is stored.
template <int D>
[[nodiscard]] std::uint64_t find_sample(const VoxelGrid<D>& grid, const Voxel<D>& p);
/// The same for many positions, several times faster: out[i] is what find_sample() gives for p[i]. Throws
/// Error{bad_shape} if the spans differ in length, with nothing written.
template <int D>
void find_samples(const VoxelGrid<D>& grid, std::span<const Voxel<D>> p, std::span<std::uint64_t> out);

/// Every stored sample once with its number, by z, y, x; of a mipmap those of level 0. In blocks that do not know which
/// of their samples were given, those whose bytes equal the background in all channels are left out. O(n log n), n
/// being all samples of the grid. Throws Error{unsupported} if the encoding is constrained.
template <int D>
[[nodiscard]] std::vector<std::pair<Voxel<D>, std::uint64_t>> sorted_samples(const VoxelGrid<D>& grid);

}  // namespace quadrat
