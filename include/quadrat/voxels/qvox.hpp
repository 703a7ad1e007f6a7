// Sparse voxels in files: .qvox, described byte by byte in docs/reference/qvox.md.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

#include <filesystem>
#include <span>
#include <variant>

namespace quadrat {

struct QvoxWriteOptions {
    int compression = 0;  ///< 0: sections as they are in memory, for mapping; 1..19: compressed with zstd, for storage
};

struct QvoxReadOptions {
    bool verify =
        false;  ///< check every section's checksum; the header's is always checked, and so are compressed sections
    std::uint64_t max_bytes = std::uint64_t{1}
                              << 40;  ///< memory that compressed sections may need before Error{too_large}
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

}  // namespace quadrat
