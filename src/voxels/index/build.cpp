// VoxelIndex::build: which layout, then its builder.
#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include "voxels/index/build.hpp"
#include "voxels/index/estimates.hpp"

#include <string>

namespace quadrat {
namespace {

constexpr std::size_t largest_set = std::size_t{1} << 27;  // as PerfectHash::build

template <int D>
Layout smallest_layout(std::span<const Voxel<D>> positions, const VoxelOptions& options) {
    const auto bits = voxels::layout_bits<D>(positions, options);
    if (bits.bits <= bits.voxel && bits.bits <= bits.brick) return Layout::bits;
    return bits.brick < bits.voxel ? Layout::brick : Layout::voxel;
}

// Bricks and bits know absence in one way only; another one that was asked for is not dropped in silence.
void check_encoding(Layout layout, Encoding encoding) {
    if (encoding == Encoding::automatic || layout == Layout::automatic || layout == Layout::voxel) return;
    const Encoding own = layout == Layout::brick ? Encoding::bucket_tag : Encoding::domain_bit;
    if (encoding != own)
        throw Error(ErrorKind::unsupported,
                    std::string("the ") + name(layout) + " layout has " + name(own) + " only, not " + name(encoding) +
                        "; take the voxel layout",
                    {.field = "encoding"});
}

template <int D>
voxels::Draft<D> draft_of(std::span<const Voxel<D>> positions, const VoxelOptions& options, PerfectHashReport* report) {
    using Build = voxels::Builders<D>;
    Layout layout = options.layout;
    if (positions.empty()) return Build::voxels(positions, {.encoding = Encoding::bucket_tag}, nullptr);
    if (layout == Layout::automatic)
        layout = options.encoding == Encoding::automatic ? smallest_layout<D>(positions, options) : Layout::voxel;
    if (layout == Layout::bits) return Build::bits(positions);
    if (layout == Layout::voxel) return Build::voxels(positions, options, report);
    try {
        return Build::bricks(positions, options, report);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::unsupported || options.layout != Layout::automatic) throw;
    }
    return Build::voxels(positions, options, report);
}

}  // namespace

template <int D>
VoxelIndex<D> VoxelIndex<D>::build(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                   PerfectHashReport* report) {
    check_encoding(options.layout, options.encoding);
    if (positions.size() > largest_set) throw Error(ErrorKind::too_large, "more than 2^27 positions");
    voxels::Draft<D> draft = draft_of<D>(positions, options, report);
    draft.parts.entries = static_cast<std::uint32_t>(positions.size());
    return voxels::IndexFiles<D>::from_built(std::move(draft.parts), draft.hash);
}

template VoxelIndex<2> VoxelIndex<2>::build(std::span<const Voxel<2>>, const VoxelOptions&, PerfectHashReport*);
template VoxelIndex<3> VoxelIndex<3>::build(std::span<const Voxel<3>>, const VoxelOptions&, PerfectHashReport*);

}  // namespace quadrat
