// libFuzzer target: edits of a broad phase, held against brute force.
#include "fuzz/bodies/edits.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)quadrat::fuzz::edits({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
