// The contents of a file as memory, without a copy: the system reads the pages that are touched, when they are touched.
// A file must not be shortened by someone else while it is mapped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace quadrat::base {

/// What a file is mapped for.
enum class MapFor {
    /// Read once from front to back; the bytes may not be written. Pipes and other special files are read into memory.
    streaming,
    /// Used as it lies for as long as it is mapped. Bytes may be written, which changes memory and never the file;
    /// nothing is reserved for that, so a file may be larger than the memory. Only regular files.
    use_in_place,
};

class MappedFile {
  public:
    /// Throws cannot_read, with the system's reason and the path.
    explicit MappedFile(const std::string& path, MapFor purpose = MapFor::streaming);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;

    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
    /// Of a file that is mapped to be used in place.
    [[nodiscard]] std::span<std::byte> writable_bytes();

  private:
    /// Reads a file that cannot be mapped, to its end. False if that fails; errno has the reason.
    [[nodiscard]] bool read_all(int file);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    MapFor purpose_;
    bool mapped_ = false;
    std::vector<std::byte> copy_;
};

}  // namespace quadrat::base
