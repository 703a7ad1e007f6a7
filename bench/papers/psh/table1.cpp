// Table 1 of PSH: the memory of a blocked texture against the size of its blocks, with an indirection table (2 bytes a
// block in two dimensions, 3 in three, as the print implies) and with a perfect hash. Two dimensions: a mask with soft
// edges, one byte a sample, two domain bits a block. Three dimensions: colours of a surface, three bytes a sample, only
// the surface is read. Both are stand-ins with about the paper's numbers of samples. Usage: paper_psh_table1 [OUT.json]
#include <quadrat/voxels.hpp>

#include "data.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

using namespace quadrat;

namespace {

std::string json;

struct PaperRow {
    double n, indirection, hash;  ///< KB = 1000 bytes; 0: not in the print
};

void row(int dims, int b, double n, double density, double samples, double indirection, double hash, double offsets,
         double bits, const PaperRow& paper) {
    std::printf("%10s %10.0f %8.2f %% %10.1f %12.1f %12.1f %10.1f %10.1f   (PSH n %.0f: %.1f, %.1f)\n",
                b ? (std::to_string(b) + "^" + std::to_string(dims)).c_str() : "unblocked", n, 100 * density, samples,
                indirection, hash, offsets, bits, paper.n, paper.indirection, paper.hash);
    char line[512];
    std::snprintf(line, sizeof line,
                  "  {\"dims\": %d, \"block\": %d, \"blocks\": %.0f, \"samples_kb\": %.1f, \"indirection_kb\": %.1f, "
                  "\"hash_kb\": %.1f, "
                  "\"offsets_kb\": %.2f, \"bits_kb\": %.1f, \"paper_blocks\": %.0f, \"paper_indirection_kb\": %.1f, "
                  "\"paper_hash_kb\": %.1f}",
                  dims, b, n, samples, indirection, hash, offsets, bits, paper.n, paper.indirection, paper.hash);
    json += (json.empty() ? "" : ",\n") + std::string(line);
}

/// The blocks of b^D cells that hold one of the cells, by z, y, x.
template <int D>
std::vector<Voxel<D>> blocks_of(const std::vector<Voxel<D>>& cells, std::int32_t b) {
    std::vector<Voxel<D>> out = cells;
    for (Voxel<D>& p : out)
        for (int a = 0; a < D; ++a) p[a] /= b;
    bench::sort_in_space<D>(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

/// `cells` must be answered for; `samples` are their corners (unblocked).
template <int D>
void table(const std::vector<Voxel<D>>& cells, const std::vector<Voxel<D>>& samples, std::int32_t side,
           double sample_bytes, double pointer_bytes, double domain_bits, std::span<const PaperRow> paper) {
    std::printf("%10s %10s %10s %10s %12s %12s %10s %10s\n", "block", "blocks", "density", "data KB", "indirection",
                "hash KB", "offsets", "absence");
    const auto options = [](std::size_t n) {
        return PerfectHashOptions{.construction = n < 1000000 ? Construction::compact : Construction::fast,
                                  .slack = 1.01,
                                  .unique_tags = false};
    };
    {
        const double n = static_cast<double>(samples.size()), u = std::pow(side, D);
        // In two dimensions any pixel may be asked for: the smallest exact encoding; in three only the surface is.
        const auto index =
            VoxelIndex<D>::build(samples, {.layout = Layout::voxel,
                                           .encoding = domain_bits > 0 ? Encoding::automatic : Encoding::constrained,
                                           .construction = options(samples.size()).construction,
                                           .value_bytes = static_cast<std::size_t>(sample_bytes)});
        const double offsets = static_cast<double>(index.hash().offsets().size()),
                     tags = static_cast<double>(index.bytes()) - offsets;
        row(D, 0, n, n / u, n * sample_bytes / 1000, 0,
            (index.values() * sample_bytes + static_cast<double>(index.bytes())) / 1000, offsets / 1000,
            std::max(0.0, tags) / 1000, paper[0]);
    }
    for (std::int32_t b = 1; b < static_cast<std::int32_t>(paper.size()); ++b) {
        const auto blocks = blocks_of<D>(cells, b);
        const double u = std::pow(std::ceil(static_cast<double>(side) / b), D), n = static_cast<double>(blocks.size());
        const double block_bytes = std::pow(b + 1, D) * sample_bytes;
        const auto hash = PerfectHash<D>::build(blocks, options(blocks.size()));
        const double offsets = static_cast<double>(hash.offsets().size()), bits = domain_bits * u / 8;
        row(D, b, n, n / u, n * block_bytes / 1000, (n * block_bytes + pointer_bytes * u) / 1000,
            (hash.slots() * block_bytes + offsets + bits) / 1000, offsets / 1000, bits / 1000,
            paper[static_cast<std::size_t>(b)]);
    }
}

template <int D>
std::vector<Voxel<D>> corners_of(const std::vector<Voxel<D>>& cells) {
    std::vector<Voxel<D>> out;
    for (const Voxel<D>& p : cells)
        for (int k = 0; k < 1 << D; ++k) {
            Voxel<D> q = p;
            for (int a = 0; a < D; ++a) q[a] += k >> a & 1;
            out.push_back(q);
        }
    bench::sort_in_space<D>(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

/// The cells that the surface of a bumpy ball meets.
std::vector<Voxel<3>> ball(std::uint32_t resolution) {
    constexpr int rings = 300, spokes = 600;
    constexpr double pi = 3.14159265358979323846;
    std::vector<Vec3d> vertices;
    std::vector<Triangle> triangles;
    for (int i = 0; i <= rings; ++i)
        for (int j = 0; j < spokes; ++j) {
            const double a = pi * i / rings, b = 2 * pi * j / spokes,
                         r = 1 + 0.12 * std::sin(5 * a) * std::sin(a) * std::cos(6 * b);
            vertices.push_back({r * std::sin(a) * std::cos(b), r * std::sin(a) * std::sin(b), r * std::cos(a)});
        }
    const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(i * spokes + j % spokes); };
    for (int i = 0; i < rings; ++i)
        for (int j = 0; j < spokes; ++j) {
            triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
            triangles.push_back({at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)});
        }
    return voxelise(vertices, triangles, resolution).voxels;
}

}  // namespace

int main(int count, char** arguments) {
    constexpr PaperRow paper2[] = {{11868, 0, 42.6},   {8891, 676.3, 120.1}, {2930, 186.5, 48.0}, {1658, 98.0, 36.7},
                                   {1107, 68.0, 33.4}, {817, 55.4, 33.2},    {655, 50.1, 34.8},   {532, 47.2, 36.1},
                                   {460, 47.3, 38.8},  {392, 47.1, 40.5},    {339, 47.5, 42.1}};
    constexpr PaperRow paper3[] = {{4500000, 0, 15698},     {2266000, 3275622, 55382}, {563000, 448249, 45869},
                                   {250000, 167958, 48104}, {140000, 102892, 52650},   {89000, 83797, 58005},
                                   {62000, 78874, 63910},   {46000, 79485, 69983}};
    // A band of cells along outlines: as many as the print has at block size 1.
    std::vector<Voxel<2>> line = psh::outlines(567, 2300, 60, 170, 6), band;
    for (const auto& p : line)
        for (std::int32_t k = 0; k < 25; ++k)
            if (const Voxel<2> q = {p[0] + k % 5 - 2, p[1] + k / 5 - 2};
                q[0] >= 0 && q[1] >= 0 && q[0] < 566 && q[1] < 566)
                band.push_back(q);
    bench::sort_in_space<2>(band);
    band.erase(std::unique(band.begin(), band.end()), band.end());
    std::printf("Two dimensions, 567^2 pixels (stand-in: a band along outlines)\n");
    table<2>(band, corners_of<2>(band), 567, 1, 2, 2, paper2);
    std::printf("Three dimensions, 1024^3 (stand-in: a bumpy ball)\n");
    const double wanted = 2266000, half = static_cast<double>(ball(512).size());
    const auto shell = ball(static_cast<std::uint32_t>(512 * std::sqrt(wanted / half)));
    table<3>(shell, corners_of<3>(shell), 1024, 3, 3, 0, paper3);
    if (count > 1) std::ofstream(arguments[1]) << "[\n" << json << "\n]\n";
}
