// The checksum of .qvox: it tells damage apart, and is no protection against intent. Bytes are mixed in order by a step
// that loses nothing, so that a change of one word always shows; docs/reference/qvox.md has it for other readers, and a
// file of version 1 has these bytes for ever. Checkpoints of the simulator have another one, of one lane, in their own
// code: their bytes follow other rules.
#include <quadrat/voxels/qvox.hpp>

#include <cstring>

namespace quadrat {

// Four lanes of 8 bytes each, so that the multiplications of one do not wait for those of another; then the rest, byte
// by byte. The multipliers are those of splitmix64.
std::uint64_t qvox_checksum(std::span<const std::uint8_t> bytes) {
    constexpr std::uint64_t prime = 0x9E3779B97F4A7C15u;
    std::uint64_t lane[4] = {prime, prime ^ 1, prime ^ 2, prime ^ 3};
    const auto mix = [](std::uint64_t h, std::uint64_t w) {
        h = (h ^ w) * 0xBF58476D1CE4E5B9u;
        return h ^ h >> 29;
    };
    std::size_t i = 0;
    for (; i + 32 <= bytes.size(); i += 32)
        for (std::size_t k = 0; k < 4; ++k) {
            std::uint64_t word;
            std::memcpy(&word, bytes.data() + i + 8 * k, 8);
            lane[k] = mix(lane[k], word);
        }
    std::uint64_t h = mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
    for (; i < bytes.size(); ++i) h = mix(h, bytes[i]);
    return mix(h, bytes.size());
}

}  // namespace quadrat
