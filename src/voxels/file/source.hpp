// The bytes of a file, mapped or copied; what is read from it shares its owner.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace quadrat::voxels {

struct Source {
    std::shared_ptr<std::uint8_t> data;
    std::uint64_t size = 0;
};

/// The bytes may be written without changing the file. Throws Error{cannot_read}.
[[nodiscard]] Source map_file(const std::filesystem::path& path);
[[nodiscard]] Source copy_of(std::span<const std::uint8_t> bytes);

}  // namespace quadrat::voxels
