#include "voxels/file/source.hpp"

#include "base/mapped_file.hpp"
#include "voxels/file/format.hpp"
#include "voxels/memory.hpp"

#include <algorithm>

namespace quadrat::voxels {

Source map_file(const std::filesystem::path& path) {
    const auto file = std::make_shared<base::MappedFile>(path.string(), base::MapFor::use_in_place);
    const std::span<std::byte> bytes = file->writable_bytes();
    if (bytes.size() < header_bytes) throw bad_file("header", "the file is shorter than 512 bytes");
    return {{file, reinterpret_cast<std::uint8_t*>(bytes.data())}, bytes.size()};
}

Source copy_of(std::span<const std::uint8_t> bytes) {
    Source copy{zeroed(bytes.size()), bytes.size()};
    std::copy(bytes.begin(), bytes.end(), copy.data.get());
    return copy;
}

}  // namespace quadrat::voxels
