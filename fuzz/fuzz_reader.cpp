// One libFuzzer target per reader: QUADRAT_FUZZ_BODY is the name of the body.
#include "fuzz/bodies/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)quadrat::fuzz::QUADRAT_FUZZ_BODY({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
