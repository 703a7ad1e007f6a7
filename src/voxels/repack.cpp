// Repacking edited voxels: positions that are left, then those that were added, go through the builder of the index,
// and rows of bytes follow them, channel by channel, so that one copy of this serves every type of value.
#include <quadrat/voxels/detail/repack.hpp>

#include "base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace quadrat::voxels {
namespace {

// The rows of a channel for the places `kept` and then `added` more positions.
std::vector<std::byte> rows_of(const Channel& channel, std::span<const std::uint32_t> kept, std::size_t added,
                               std::span<const std::byte> edited) {
    const std::size_t width = channel.value_bytes();
    QUADRAT_ASSERT(edited.empty() || edited.size() == added * width);
    std::vector<std::byte> rows((kept.size() + added) * width);
    std::byte* to = rows.data();
    for (const std::uint32_t place : kept) {
        std::memcpy(to, channel.buffer.data.get() + place * width, width);
        to += width;
    }
    if (!edited.empty()) {
        std::memcpy(to, edited.data(), edited.size());
    } else if (channel.background.size() == width) {
        for (std::size_t i = 0; i < added; ++i) std::memcpy(to + i * width, channel.background.data(), width);
    }
    return rows;
}

}  // namespace

template <int D>
Repacked<D> repacked(const VoxelGrid<D>& packed, const Edits<D>& edits, VoxelOptions options) {
    const std::size_t width = edits.value_bytes;
    QUADRAT_ASSERT(edits.rows.size() == edits.added.size() * width);
    QUADRAT_ASSERT(!packed.channels.empty() || packed.index.entries() == 0);
    QUADRAT_ASSERT(edits.erased.empty() || edits.erased.size() * 64 >= packed.index.values());
    std::vector<Voxel<D>> positions;
    std::vector<std::uint32_t> kept;  // places in the packed grid
    positions.reserve(packed.index.entries() + edits.added.size());
    kept.reserve(packed.index.entries());
    packed.index.for_each([&](const Voxel<D>& p, std::uint32_t k) {
        if (!edits.erased.empty() && (edits.erased[k >> 6] >> (k & 63) & 1) != 0) return;
        positions.push_back(p);
        kept.push_back(k);
    });
    positions.insert(positions.end(), edits.added.begin(), edits.added.end());

    options.value_bytes = std::max(packed.value_bytes(), width);
    Repacked<D> out{{}, "values"};
    out.grid.index = VoxelIndex<D>::build(positions, options);
    if (packed.channels.empty()) out.grid.add_channel("values", edits.type, edits.components, positions, edits.rows);
    bool found = false;
    for (const Channel& c : packed.channels) {
        const bool mine = !found && c.buffer.data.get() == edits.edited && c.value_bytes() == width;
        found |= mine;
        if (mine) out.channel = c.name;
        const auto rows = rows_of(c, kept, edits.added.size(), mine ? edits.rows : std::span<const std::byte>());
        Channel& to = out.grid.add_channel(c.name, c.type, c.components, positions, rows);
        to.background = c.background;
        to.shape = c.shape;
    }
    out.grid.transform = packed.transform;
    out.grid.notes = packed.notes;
    return out;
}

template Repacked<2> repacked<2>(const VoxelGrid<2>&, const Edits<2>&, VoxelOptions);
template Repacked<3> repacked<3>(const VoxelGrid<3>&, const Edits<3>&, VoxelOptions);

}  // namespace quadrat::voxels
