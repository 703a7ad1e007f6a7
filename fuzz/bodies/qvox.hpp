// What the fuzzer of .qvox runs, shared with the test that replays its corpus: arbitrary bytes go to the reader, once
// as they are and once with the checksum of the header put right, since no mutation would find it. The reader must
// throw quadrat::Error or give a grid whose lookups, samples and walks stay in bounds.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace quadrat::fuzz {

// A blend lies between the smallest and the largest value of the channel and its background: samples that were read
// from elsewhere, or weights that do not add up to one, may leave that range.
template <class T, int D, class Sample>
void expect_within_range(const VoxelGrid<D>& grid, T background, std::span<const Voxel<D>> p, Sample&& sample) {
    const Channel& c = grid.channels[0];
    double least = background, most = background;
    for (std::size_t at = 0; at + sizeof(T) <= c.buffer.size; at += sizeof(T)) {
        T value;
        std::memcpy(&value, c.buffer.data.get() + at, sizeof(T));
        least = std::min(least, static_cast<double>(value));
        most = std::max(most, static_cast<double>(value));
    }
    for (const Voxel<D>& q : p) {
        Vec<D, double> point;
        for (int a = 0; a < D; ++a) point[a] = q[a] + 0.25;
        const double value = sample(point), rounding = 1e-6 * most;
        if (!(value >= least - rounding && value <= most + rounding)) std::abort();
    }
}

template <int D>
void use_grid(VoxelGrid<D> grid) {
    const auto need = [](bool condition) {
        if (!condition) std::abort();
    };
    const VoxelIndex<D>& x = grid.index;
    std::vector<Voxel<D>> p(1);
    p[0] = x.origin();
    for (std::uint32_t k = 0; k < 64; ++k) {
        Voxel<D> q;
        for (int a = 0; a < D; ++a)
            q[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(x.origin()[a]) - 2 +
                                             k * 2654435761u % (x.extent()[static_cast<std::size_t>(a)] + 4));
        p.push_back(q);
    }
    std::vector<std::uint32_t> places(p.size());
    x.find(p, places);
    for (std::size_t i = 0; i < p.size(); ++i) {
        need(places[i] == VoxelIndex<D>::absent || places[i] < x.values());
        const std::uint32_t one = x.find(p[i]);
        need(one == VoxelIndex<D>::absent || one < x.values());
        const std::uint64_t sample = find_sample(grid, p[i]);
        need(sample == no_sample || sample < std::uint64_t{x.values()} * samples_per_value(grid));
    }
    if (x.exact()) x.for_each([&](const Voxel<D>&, std::uint32_t at) { need(at < x.values()); });
    if (x.exact() && grid.block == 0)
        for (const auto& [q, sample] : sorted_samples(grid)) need(sample < x.values());
    if (grid.channels.empty()) return;
    try {
        if (grid.mipmap.levels) {
            const MipmapVoxels<std::uint8_t, D> v(std::move(grid));
            expect_within_range<std::uint8_t, D>(v.grid(), v.background(), p,
                                                 [&](const Vec<D, double>& q) { return v.sample(q, 0.5); });
        } else if (grid.block) {
            const BlockedVoxels<std::uint8_t, D> v(std::move(grid));
            expect_within_range<std::uint8_t, D>(v.grid(), v.background(), p,
                                                 [&](const Vec<D, double>& q) { return v.sample(q); });
        } else {
            const SparseVoxels<std::uint32_t, D> v(std::move(grid));
            expect_within_range<std::uint32_t, D>(v.grid(), 0u, p,
                                                  [&](const Vec<D, double>& q) { return sample(v, q); });
        }
    } catch (const Error&) {  // values of another size
    }
}

inline bool try_qvox(std::span<const std::uint8_t> file) {
    try {
        AnyVoxelGrid grid = decode_qvox(file, {.max_bytes = 1 << 24});
        std::visit([](auto& g) { use_grid(std::move(g)); }, grid);
        return true;
    } catch (const Error& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
        return false;
    }
}

/// True if the reader accepted the bytes, as they are or with the right checksum.
inline bool qvox(std::span<const std::byte> bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::vector<std::uint8_t> file(data, data + bytes.size());
    const bool plain = try_qvox(file);
    if (file.size() < 512) return plain;
    std::uint32_t sections;
    std::memcpy(&sections, file.data() + 56, 4);
    const std::uint64_t head = 512 + 80 * std::uint64_t{sections};
    if (head > file.size()) return plain;
    std::memset(file.data() + 504, 0, 8);
    const std::uint64_t sum = qvox_checksum(std::span(file).first(head));
    std::memcpy(file.data() + 504, &sum, 8);
    return try_qvox(file) || plain;
}

}  // namespace quadrat::fuzz
