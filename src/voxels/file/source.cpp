#include "voxels/file/source.hpp"

#include <quadrat/error.hpp>

#include "voxels/file/format.hpp"
#include "voxels/memory.hpp"

#include <algorithm>
#include <fstream>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace quadrat::voxels {

Source map_file(const std::filesystem::path& path) {
    const auto cannot = [] { return Error(ErrorKind::cannot_read, "cannot be read"); };
#if defined(__unix__) || defined(__APPLE__)
    // Private: values may be written without changing the file. Nothing is reserved for that: a file may be larger than
    // the memory.
#if defined(MAP_NORESERVE)
    constexpr int mapping = MAP_PRIVATE | MAP_NORESERVE;
#else
    constexpr int mapping = MAP_PRIVATE;
#endif
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw cannot();
    struct stat st {};
    const bool regular = ::fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    const auto size = regular ? static_cast<std::uint64_t>(st.st_size) : 0;
    void* map = size >= header_bytes ? ::mmap(nullptr, size, PROT_READ | PROT_WRITE, mapping, fd, 0) : MAP_FAILED;
    ::close(fd);
    if (regular && size < header_bytes) throw bad_file("header", "the file is shorter than 512 bytes");
    if (map == MAP_FAILED) throw cannot();
    return {{static_cast<std::uint8_t*>(map), [size](std::uint8_t* p) { ::munmap(p, size); }}, size};
#else
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw cannot();
    const auto size = static_cast<std::size_t>(file.tellg());
    Source whole{zeroed(size), size};
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(whole.data.get()), static_cast<std::streamsize>(size))) throw cannot();
    return whole;
#endif
}

Source copy_of(std::span<const std::uint8_t> bytes) {
    Source copy{zeroed(bytes.size()), bytes.size()};
    std::copy(bytes.begin(), bytes.end(), copy.data.get());
    return copy;
}

}  // namespace quadrat::voxels
