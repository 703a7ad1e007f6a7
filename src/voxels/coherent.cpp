#include "voxels/coherent.hpp"

namespace quadrat::voxels {

void finish_offsets(const Buckets& buckets, const std::uint32_t* offset_size, int dims, std::vector<Triple>& offsets) {
    (void)dims;
    const std::uint32_t width = offset_size[0];
    Triple last{};
    for (std::uint32_t q = 0; q < buckets.count(); ++q) {
        if (buckets.size(q) != 0) {
            last = offsets[q];
            continue;
        }
        offsets[q] = last;
        if (q % width != 0) continue;
        for (std::uint32_t next = q + 1; next < q + width; ++next)
            if (buckets.size(next) != 0) {
                offsets[q] = last = offsets[next];
                break;
            }
    }
}

}  // namespace quadrat::voxels
