// The bits layout: a bit for every position of the bounding box, and a count before every 512 of them.
#include <quadrat/error.hpp>

#include "voxels/hash/domain.hpp"
#include "voxels/index/build.hpp"
#include "voxels/index/encodings.hpp"

#include <bit>

namespace quadrat::voxels {

template <int D>
Draft<D> Builders<D>::bits(std::span<const Voxel<D>> positions) {
    const Domain<D> domain = bounding_box<D>(positions);
    const std::uint64_t cells = domain.cells();
    if (cells >= std::uint64_t{1} << 36)
        throw Error(ErrorKind::too_large, "the bounding box has more than 2^36 positions; take another layout",
                    {.field = "layout"});
    Draft<D> draft;
    draft.parts.layout = Layout::bits;
    draft.parts.encoding = Encoding::domain_bit;
    draft.parts.origin = domain.origin;
    draft.parts.extent = domain.extent;
    const Buffer bits = Buffer::zeros(domain_bit_bytes(cells)), ranks = Buffer::zeros(Bits<D>::rank_bytes(cells));
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::uint64_t k = linear<D>(domain.local(positions[i]), domain.extent);
        std::uint8_t& byte = bits.data.get()[k >> 3];
        if (byte >> (k & 7) & 1) throw_duplicate<D>(positions, i);
        byte = static_cast<std::uint8_t>(byte | 1u << (k & 7));
    }
    std::uint32_t rank = 0;
    for (std::uint64_t w = 0; w < (cells + 63) / 64; ++w) {
        if (w % 8 == 0) std::memcpy(ranks.data.get() + w / 8 * 4, &rank, 4);
        std::uint64_t word;
        std::memcpy(&word, bits.data.get() + w * 8, 8);
        rank += static_cast<std::uint32_t>(std::popcount(word));
    }
    QUADRAT_ASSERT(rank == positions.size());
    draft.parts.tables[Table::bits] = bits;
    draft.parts.tables[Table::ranks] = ranks;
    return draft;
}

template Draft<2> Builders<2>::bits(std::span<const Voxel<2>>);
template Draft<3> Builders<3>::bits(std::span<const Voxel<3>>);

}  // namespace quadrat::voxels
