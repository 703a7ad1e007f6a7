// libFuzzer target of the .qvox reader.
#include "fuzz/bodies/qvox.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)quadrat::fuzz::qvox({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
