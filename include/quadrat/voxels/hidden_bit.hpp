// The domain bit hidden in the lowest bit of a channel that exists anyway (Lefebvre & Hoppe 2006, section 5): where an
// image covers the whole domain, one bit of each of its pixels can say whether sparse data belongs to it, at no cost in
// memory. The sparse data itself is then packed with the constrained encoding.
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

namespace quadrat {

/// One 8-bit channel of a dense image over a box of positions. Rows follow each other without gaps, x fastest.
template <int D>
struct DenseChannel {
    std::uint8_t* bytes = nullptr;  ///< the channel of the first position
    std::size_t stride = 1;         ///< bytes from one position to the next, for example 4 in RGBA
    Voxel<D> origin = {};
    std::array<std::uint32_t, D> extent = {};

    /// The byte of p, or null outside the image.
    [[nodiscard]] std::uint8_t* at(const Voxel<D>& p) const {
        std::size_t k = 0;
        for (int a = D - 1; a >= 0; --a) {
            const std::uint32_t local = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin[a]);
            if (local >= extent[static_cast<std::size_t>(a)]) return nullptr;
            k = k * extent[static_cast<std::size_t>(a)] + local;
        }
        return bytes + k * stride;
    }
};

/// Sets the lowest bit of every byte of the channel: 1 at the positions, 0 elsewhere. Throws Error{bad_value} with the
/// index of a position outside the image; nothing is changed then.
template <int D>
void hide_domain_bits(const DenseChannel<D>& channel, std::span<const Voxel<D>> positions) {
    for (std::size_t i = 0; i < positions.size(); ++i)
        if (!channel.at(positions[i]))
            throw Error(ErrorKind::bad_value, "this position is outside the image", {.index = i});
    std::size_t cells = 1;
    for (const std::uint32_t e : channel.extent) cells *= e;
    for (std::size_t k = 0; k < cells; ++k) channel.bytes[k * channel.stride] &= 0xfe;
    for (const Voxel<D>& p : positions) *channel.at(p) |= 1;
}

/// Where the sparse value of p is, or null: the bit first, then the hash. Exact whatever the encoding of `voxels`.
template <class T, int D>
[[nodiscard]] const T* find_hidden(const SparseVoxels<T, D>& voxels, const DenseChannel<D>& channel,
                                   const Voxel<D>& p) {
    const std::uint8_t* byte = channel.at(p);
    return byte && (*byte & 1) ? voxels.find(p) : nullptr;
}

}  // namespace quadrat
