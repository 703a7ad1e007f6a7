#include "io/peak_rss.hpp"

#include <sys/resource.h>

#include <cstdio>

namespace quadrat::io {

std::uint64_t peak_rss_bytes() {
    if (std::FILE* const file = std::fopen("/proc/self/status", "re")) {
        char line[256];
        unsigned long long kilobytes = 0;
        bool found = false;
        while (!found && std::fgets(line, sizeof line, file)) found = std::sscanf(line, "VmHWM: %llu", &kilobytes) == 1;
        static_cast<void>(std::fclose(file));
        if (found) return kilobytes * 1024;
    }
    rusage usage{};
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace quadrat::io
