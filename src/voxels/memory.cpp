#include "voxels/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace quadrat::voxels {

std::shared_ptr<std::uint8_t> zeroed(std::size_t bytes) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t alignment = bytes >= huge ? huge : 64;
    void* data = nullptr;
    if (::posix_memalign(&data, alignment, bytes + (bytes == 0)) != 0) throw std::bad_alloc();
    std::shared_ptr<std::uint8_t> owner(static_cast<std::uint8_t*>(data), [](std::uint8_t* p) { std::free(p); });
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (alignment == huge) ::madvise(data, bytes / huge * huge, MADV_HUGEPAGE);
#endif
    std::memset(data, 0, bytes);
    return owner;
}

}  // namespace quadrat::voxels
