// The domain bit hidden in the lowest bit of a channel that exists anyway (Lefebvre & Hoppe 2006, section 5): where an
// image covers the whole domain, one bit of each of its pixels can say whether sparse data belongs to it, at no cost in
// memory. The sparse data itself is then packed with the constrained encoding, which needs no tags.
//
//     bit   7 6 5 4 3 2 1 0        one byte of the channel
//           v v v v v v v s        v: what the image shows;  s: 1 if sparse data is stored at this position
//
//     const quadrat::VoxelOptions options{.encoding = quadrat::Encoding::constrained};
//     auto voxels = quadrat::SparseVoxels<float, 2>::pack(positions, values, options);
//     quadrat::DenseChannel<2> blue{image.data() + 2, 4, {0, 0}, {width, height}};  // of RGBA
//     quadrat::hide_domain_bits<2>(blue, positions);
//     const float* v = quadrat::find_hidden(voxels, blue, {12, 7});
#pragma once

#include <quadrat/voxels/sparse_voxels.hpp>

namespace quadrat {

/// One 8-bit channel of a dense image over a box of positions. Rows follow each other without gaps, x fastest. A view:
/// it owns nothing, and the caller's bytes must outlive it.
template <int D>
struct DenseChannel {
    /// The channel of the first position, origin. Null only if the image is empty.
    std::uint8_t* bytes = nullptr;
    /// Bytes from one position to the next, for example 4 in RGBA. Default: 1, nothing between them.
    std::size_t stride = 1;
    /// The position of the first pixel. Default: 0 on all axes.
    Voxel<D> origin = {};
    /// Pixels on each axis. Default: 0, an empty image.
    std::array<std::uint32_t, D> extent = {};

    /// The byte of p, or null outside the image. O(1).
    [[nodiscard]] std::uint8_t* at(const Voxel<D>& p) const {
        std::size_t k = 0;
        for (int a = D - 1; a >= 0; --a) {
            // Modulo 2^32: what lies before the origin becomes large.
            const std::uint32_t local = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin[a]);
            if (local >= extent[static_cast<std::size_t>(a)]) return nullptr;
            k = k * extent[static_cast<std::size_t>(a)] + local;
        }
        return bytes + k * stride;
    }
};

/// Sets the lowest bit of every byte of the channel: 1 at the positions, 0 elsewhere. The other seven bits and the
/// other channels stay. What the lowest bit was is lost, and the image must afterwards not pass through anything that
/// rounds it, such as lossy compression or filtering. O(pixels + positions), no memory.
///
/// positions: those of the sparse data, in any order; equal ones do no harm. Error{bad_value} with the index of one
///            outside the image; nothing is changed then.
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

/// Where the sparse value of p is, or null: the bit first, then the hash. Exact whatever the encoding of `voxels`, if
/// the bits are those of its positions. One read where nothing is stored; O(1). May run concurrently with itself, and
/// with nothing that writes to the image. The pointer stays valid as long as `voxels`.
///
/// p: any position; null outside the image.
template <class T, int D>
[[nodiscard]] const T* find_hidden(const SparseVoxels<T, D>& voxels, const DenseChannel<D>& channel,
                                   const Voxel<D>& p) {
    const std::uint8_t* byte = channel.at(p);
    return byte && (*byte & 1) ? voxels.find(p) : nullptr;
}

}  // namespace quadrat
