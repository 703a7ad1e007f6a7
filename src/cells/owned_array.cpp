// What the arrays of results ask of the system.
#include <quadrat/cells/owned_array.hpp>

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace quadrat::detail {

void ask_for_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // A hint for a part of a mapping would cut it in two, and what is in two cannot be moved when it grows.
    //
    //     |hd|  data ...              bytes |..|     hd: malloc's own, 16 bytes; |: borders of pages
    //     ^ from                               ^ to
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t from = begin / page * page, to = (begin + bytes + page - 1) / page * page;
    ::madvise(static_cast<char*>(data) - (begin - from), to - from, MADV_HUGEPAGE);
#endif
}

}  // namespace quadrat::detail
