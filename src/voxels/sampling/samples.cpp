// The samples of a grid of any kind, for tools that read files.
#include <quadrat/voxels/mipmaps.hpp>
#include <quadrat/voxels/qvox.hpp>

#include "voxels/sampling/columns.hpp"

#include <algorithm>
#include <limits>

namespace quadrat {
namespace {

template <int D>
bool equals_background(const VoxelGrid<D>& grid, std::uint64_t sample) {
    for (const Channel& c : grid.channels) {
        const std::size_t width = c.value_bytes() / samples_per_value(grid);
        const std::uint8_t* value = c.buffer.data.get() + sample * width;
        const auto same = [&](std::size_t i) { return value[i] == (i < c.background.size() ? c.background[i] : 0); };
        for (std::size_t i = 0; i < width; ++i)
            if (!same(i)) return false;
    }
    return true;
}

// Whether a sample of a block was stored, as far as the grid knows.
template <int D>
bool was_given(const VoxelGrid<D>& grid, std::uint64_t sample) {
    return grid.given.size == 0 || (grid.given.data.get()[sample >> 3] >> (sample & 7) & 1) != 0;
}

// p is of the grid's own domain: flattened, if it is a mipmap.
template <int D>
std::uint64_t find_in_blocks(const VoxelGrid<D>& grid, const Voxel<D>& p) {
    const std::int64_t b = grid.block;
    for (int k = 0; k < 1 << D; ++k) {  // its own block, then those before it on whose faces it lies
        Voxel<D> block;
        std::uint64_t inner = 0;
        bool in = true;
        for (int a = D - 1; a >= 0; --a) {
            const std::int64_t home = voxels::floor_divide(p[a], b), before = k >> a & 1,
                               at = p[a] - (home - before) * b;
            in &= at <= b && home - before >= std::numeric_limits<std::int32_t>::min();
            block[a] = static_cast<std::int32_t>(home - before);
            inner = inner * static_cast<std::uint64_t>(b + 1) + static_cast<std::uint64_t>(at);
        }
        const std::uint32_t at = in ? grid.index.find(block) : VoxelIndex<D>::absent;
        if (at == VoxelIndex<D>::absent) continue;
        const std::uint64_t sample = at * std::uint64_t{samples_per_value(grid)} + inner;
        // All copies of a sample were given or none.
        return was_given(grid, sample) ? sample : no_sample;
    }
    return no_sample;
}

}  // namespace

template <int D>
void find_samples(const VoxelGrid<D>& grid, std::span<const Voxel<D>> p, std::span<std::uint64_t> out) {
    if (p.size() != out.size()) throw Error(ErrorKind::bad_shape, "positions and results differ in number");
    const MipmapLevels<D> levels(grid.mipmap, grid.block);
    constexpr std::size_t most = 256;
    Voxel<D> flat[most];
    std::uint32_t places[most];
    for (std::size_t begin = 0; begin < p.size(); begin += most) {
        const std::size_t count = std::min(most, p.size() - begin);
        bool inside[most];
        for (std::size_t i = 0; i < count; ++i) {
            flat[i] = p[begin + i];
            inside[i] = levels.count() == 0 || levels.flatten(0, p[begin + i], flat[i]);
        }
        if (grid.block == 0) grid.index.find(std::span<const Voxel<D>>(flat, count), std::span(places, count));
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t& to = out[begin + i] = no_sample;
            if (!inside[i]) continue;
            if (grid.block != 0)
                to = find_in_blocks(grid, flat[i]);
            else if (places[i] != VoxelIndex<D>::absent)
                to = places[i];
        }
    }
}

template <int D>
std::uint64_t find_sample(const VoxelGrid<D>& grid, const Voxel<D>& position) {
    std::uint64_t out = no_sample;
    find_samples<D>(grid, {&position, 1}, {&out, 1});
    return out;
}

template <int D>
std::vector<std::pair<Voxel<D>, std::uint64_t>> sorted_samples(const VoxelGrid<D>& grid) {
    std::vector<std::pair<Voxel<D>, std::uint64_t>> out;
    const std::uint64_t samples = samples_per_value(grid);
    const auto add = [&](Voxel<D> p, std::uint64_t sample) {
        if (grid.mipmap.levels)
            for (int a = 0; a < D; ++a) {  // level 0 begins at 1 in the flattened domain
                if (p[a] < 1 || static_cast<std::uint32_t>(p[a]) > grid.mipmap.extent[static_cast<std::size_t>(a)])
                    return;
                p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[a] - 1) +
                                                 static_cast<std::uint32_t>(grid.mipmap.origin[a]));
            }
        out.emplace_back(p, sample);
    };
    for (const auto& [at, place] : grid.index.sorted()) {
        if (grid.block == 0) {
            add(at, place);
            continue;
        }
        for (std::uint64_t k = 0; k < samples; ++k) {
            const std::uint64_t sample = place * samples + k;
            if (grid.given.size != 0 ? !was_given(grid, sample) : equals_background(grid, sample)) continue;
            std::uint64_t rest = k;
            Voxel<D> p;
            for (int a = 0; a < D; ++a, rest /= grid.block + 1)
                p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(at[a]) * grid.block +
                                                 static_cast<std::uint32_t>(rest % (grid.block + 1)));
            add(p, sample);
        }
    }
    std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) {
        for (int k = D - 1; k >= 0; --k)
            if (x.first[k] != y.first[k]) return x.first[k] < y.first[k];
        return x.second < y.second;
    });
    out.erase(std::unique(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.first == y.first; }),
              out.end());
    return out;
}

template void find_samples<2>(const VoxelGrid<2>&, std::span<const Voxel<2>>, std::span<std::uint64_t>);
template std::uint64_t find_sample<2>(const VoxelGrid<2>&, const Voxel<2>&);
template std::vector<std::pair<Voxel<2>, std::uint64_t>> sorted_samples<2>(const VoxelGrid<2>&);
template void find_samples<3>(const VoxelGrid<3>&, std::span<const Voxel<3>>, std::span<std::uint64_t>);
template std::uint64_t find_sample<3>(const VoxelGrid<3>&, const Voxel<3>&);
template std::vector<std::pair<Voxel<3>, std::uint64_t>> sorted_samples<3>(const VoxelGrid<3>&);

}  // namespace quadrat
