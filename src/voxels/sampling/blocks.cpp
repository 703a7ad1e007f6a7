// Packing samples into blocks with borders, and the search for the block size (Lefebvre & Hoppe 2006, section 6).
#include <quadrat/voxels/blocks.hpp>

#include "voxels/index/estimates.hpp"
#include "voxels/sampling/cell_set.hpp"
#include "voxels/sampling/columns.hpp"

#include <algorithm>

namespace quadrat {
namespace {

constexpr std::uint32_t most_scalars = 4096;  // of a channel's value, as VoxelGrid::add_channel allows
constexpr std::uint32_t largest_block = 64;

template <int D>
std::uint64_t samples_of(std::uint64_t b) {
    return D == 3 ? (b + 1) * (b + 1) * (b + 1) : (b + 1) * (b + 1);
}

template <int D>
BlockCost cost_of(const voxels::CellSet<D>& cells, std::uint32_t b, std::size_t value_bytes,
                  const VoxelOptions& options) {
    const auto blocks = cells.blocks(b);
    VoxelOptions o = options;
    o.value_bytes = value_bytes * samples_of<D>(b);
    const std::uint64_t samples = blocks.size() * o.value_bytes;
    return {b, blocks.size(), samples, samples + voxels::estimate_bytes<D>(blocks, o)};
}

template <int D>
std::vector<BlockCost> costs(const voxels::CellSet<D>& cells, std::size_t value_bytes, std::uint32_t limit,
                             const VoxelOptions& options) {
    std::vector<BlockCost> out;
    std::uint64_t least = ~std::uint64_t{0};
    int worse = 0;
    for (std::uint32_t b = 1; b <= limit && worse < 4; ++b) {
        out.push_back(cost_of<D>(cells, b, value_bytes, options));
        worse = out.back().bytes < least ? 0 : worse + 1;
        least = std::min(least, out.back().bytes);
    }
    return out;
}

// The largest b for which a value of the widest column still has 4096 scalars.
template <int D>
std::uint32_t block_limit(std::uint64_t components) {
    std::uint32_t b = 0;
    while (b < largest_block && samples_of<D>(b + 1) * components <= most_scalars) ++b;
    return b;
}

// Channels of `samples` values each, all of them the background.
template <int D>
void add_channels(VoxelGrid<D>& grid, std::span<const ColumnView> columns, std::uint32_t samples) {
    for (const ColumnView& c : columns) {
        Channel& channel = grid.add_channel(std::string(c.name), c.type, c.components * samples);
        const std::size_t width = c.value_bytes();
        if (c.background.empty()) continue;
        const auto* row = reinterpret_cast<const std::uint8_t*>(c.background.data());
        channel.background.assign(row, row + width);
        for (std::size_t at = 0; at < channel.buffer.size; at += width)
            std::memcpy(channel.buffer.data.get() + at, row, width);
    }
}

// Calls fn(block, place of the sample in it) for every block of edge b that the sample at p belongs to: its own, and
// those before it where it lies on their faces.
template <int D, class Fn>
void for_each_block_of(const Voxel<D>& p, std::uint32_t b, Fn&& fn) {
    std::uint32_t inner[D];
    Voxel<D> home;
    for (int a = 0; a < D; ++a) {
        home[a] = voxels::floor_divide(p[a], b);
        inner[a] = static_cast<std::uint32_t>(p[a] - std::int64_t{home[a]} * b);
    }
    for (int k = 0; k < 1 << D; ++k) {
        Voxel<D> block = home;
        bool in = true;
        std::size_t at = 0;
        for (int a = D - 1; a >= 0; --a) {
            const bool before = k >> a & 1;
            in &= !before || inner[a] == 0;
            block[a] -= before;
            at = at * (b + std::size_t{1}) + (before ? b : inner[a]);
        }
        if (in) fn(block, at);
    }
}

}  // namespace

void voxels::check_columns(std::span<const ColumnView> columns, std::size_t positions) {
    for (const ColumnView& c : columns) {
        if (c.rows.size() != positions * c.value_bytes())
            throw Error(ErrorKind::bad_shape, "positions and values differ in number", {.field = std::string(c.name)});
        if (!c.background.empty() && c.background.size() != c.value_bytes())
            throw Error(ErrorKind::bad_shape, "the background is not one value", {.field = std::string(c.name)});
    }
}

template <int D>
std::vector<BlockCost> block_costs(std::span<const Voxel<D>> positions, std::size_t value_bytes,
                                   const BlockOptions& options) {
    if (positions.empty()) return {};
    voxels::CellSet<D> cells(positions);
    cells.make_cells(options.rule == BlockRule::complete);
    return costs<D>(cells, value_bytes, block_limit<D>(1), options.voxels);
}

template <int D>
VoxelGrid<D> pack_blocks(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                         const BlockOptions& options, PerfectHashReport* report) {
    voxels::check_columns(columns, positions.size());
    std::uint32_t widest = 1;
    std::size_t value_bytes = 0;
    for (const ColumnView& c : columns) {
        widest = std::max(widest, c.components);
        value_bytes += c.value_bytes();
    }
    const std::uint32_t limit = block_limit<D>(widest);
    if (options.size > limit || limit == 0)
        throw Error(ErrorKind::bad_value,
                    "with these channels the block size may be at most " + std::to_string(limit) + ", not " +
                        std::to_string(options.size),
                    {.field = "block"});
    VoxelGrid<D> grid;
    grid.block = std::max(options.size, 1u);
    std::vector<Voxel<D>> blocks;
    if (!positions.empty()) {
        voxels::CellSet<D> cells(positions);
        cells.make_cells(options.rule == BlockRule::complete);
        if (options.size == 0) {
            const auto all = costs<D>(cells, value_bytes, limit, options.voxels);
            grid.block = std::min_element(all.begin(), all.end(), [](const BlockCost& a, const BlockCost& b) {
                             return a.bytes < b.bytes;
                         })->size;
        }
        blocks = cells.blocks(grid.block);
    }
    const auto samples = static_cast<std::uint32_t>(samples_of<D>(grid.block));
    VoxelOptions o = options.voxels;
    o.value_bytes = value_bytes * samples;
    grid.index = VoxelIndex<D>::build(blocks, o, report);
    add_channels(grid, columns, samples);
    const bool remember = options.given == GivenSamples::remembered && grid.index.values() != 0;
    if (remember) grid.given = Buffer::zeros((std::size_t{grid.index.values()} * samples + 7) / 8);
    for (std::size_t i = 0; i < positions.size(); ++i)
        for_each_block_of<D>(positions[i], grid.block, [&](const Voxel<D>& block, std::size_t at) {
            if (!grid.index.exact() && !std::binary_search(blocks.begin(), blocks.end(), block, voxels::by_z_y_x<D>))
                return;
            const std::uint32_t place = grid.index.find(block);
            if (place == VoxelIndex<D>::absent) return;
            if (remember) {
                const std::size_t k = std::size_t{place} * samples + at;
                std::uint8_t& byte = grid.given.data.get()[k >> 3];
                byte = static_cast<std::uint8_t>(byte | 1u << (k & 7));
            }
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const std::size_t width = columns[c].value_bytes();
                std::memcpy(grid.channels[c].buffer.data.get() + (std::size_t{place} * samples + at) * width,
                            columns[c].rows.data() + i * width, width);
            }
        });
    return grid;
}

template std::vector<BlockCost> block_costs<2>(std::span<const Voxel<2>>, std::size_t, const BlockOptions&);
template VoxelGrid<2> pack_blocks<2>(std::span<const Voxel<2>>, std::span<const ColumnView>, const BlockOptions&,
                                     PerfectHashReport*);
template std::vector<BlockCost> block_costs<3>(std::span<const Voxel<3>>, std::size_t, const BlockOptions&);
template VoxelGrid<3> pack_blocks<3>(std::span<const Voxel<3>>, std::span<const ColumnView>, const BlockOptions&,
                                     PerfectHashReport*);

}  // namespace quadrat
