// What large blocks of results ask of the system, read from what it says of the mapping.
#include <quadrat/cells/owned_array.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace quadrat::detail {
namespace {

struct Mapping {
    std::uintptr_t begin = 0, end = 0;
    std::string flags;
};

// The mapping that holds an address; of no extent where the system does not say.
Mapping mapping_of(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/smaps");
    Mapping found;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        Mapping here;
        char dash = 0;
        if (words >> std::hex >> here.begin >> dash >> here.end && dash == '-') found = here;
        if (line.starts_with("VmFlags:") && found.begin <= wanted && wanted < found.end) {
            found.flags = line + " ";
            return found;
        }
    }
    return {};
}

TEST(Buffer, AsksForHugePagesInOneMappingThatGrows) {
    if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "the system has no huge pages";
    Buffer<std::uint32_t> buffer;
    for (std::size_t count = std::size_t{16} << 20; count <= std::size_t{64} << 20; count *= 2) {
        buffer.reserve(count);
        buffer.data()[count / 2 - 1] = static_cast<std::uint32_t>(count);
        if (count > std::size_t{16} << 20) {
            EXPECT_EQ(buffer.data()[count / 4 - 1], count / 2) << "growing keeps it";
        }
        const Mapping mapping = mapping_of(buffer.data());
        if (mapping.end == 0) GTEST_SKIP() << "the system does not tell of its mappings";
        EXPECT_NE(mapping.flags.find(" hg "), std::string::npos) << mapping.flags;
        EXPECT_LE(reinterpret_cast<std::uintptr_t>(buffer.data() + count), mapping.end) << "cut in two";
    }
}

TEST(Buffer, AsksForNothingWhereItIsSmall) {
    Buffer<std::uint64_t> buffer;
    buffer.reserve(huge_block / sizeof(std::uint64_t) - 1);
    EXPECT_EQ(mapping_of(buffer.data()).flags.find(" hg "), std::string::npos);
}

}  // namespace
}  // namespace quadrat::detail
