// A texture on a surface without coordinates (PSH 7.2, figure 8): colours are samples of a grid, kept only where cells
// meet the surface, in blocks with borders for trilinear filtering and with a mipmap in the same hash. A pixel asks for
// its position in space and its footprint. The picture shows the whole, a close-up without and with the filter, and the
// surface far away without and with the mipmap.
#include <quadrat/voxels.hpp>

#include "picture.hpp"

#include <random>

using namespace example;
using quadrat::Voxel;

namespace {

using Rgb = std::array<std::uint8_t, 3>;
using Rgba = std::array<std::uint8_t, 4>;

/// Porcelain: blue lines on white, gold between.
Vec3d glaze(const Vec3d& p) {
    const double a = 42, b = 150;
    const auto gyroid = [](const Vec3d& q, double k) {
        return std::sin(k * q[0]) * std::cos(k * q[1]) + std::sin(k * q[1]) * std::cos(k * q[2]) +
               std::sin(k * q[2]) * std::cos(k * q[0]);
    };
    const double large = gyroid(p, a), fine = gyroid(p + Vec3d{0.1, 0.2, 0.3}, b);
    Vec3d c = mix(color(0xF7F5EE), color(0x2F5DA8), 1 - smooth(0.10, 0.16, std::fabs(large)));
    c = mix(c, color(0x1D3F7A), large > 0.45 ? smooth(0.2, 0.4, fine) : 0.0);
    return mix(c, color(0xD9A441), 1 - smooth(0.02, 0.05, std::fabs(large + 0.75)));
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const Mesh mesh = arguments.read_mesh();
    const auto surface = quadrat::voxelise(mesh.vertices, mesh.triangles, arguments.cells(96, 512));
    // Samples are the corners of the cells that the surface meets.
    std::vector<Voxel<3>> corners;
    for (const auto& v : surface.voxels)
        for (int k = 0; k < 8; ++k) corners.push_back({v[0] + (k & 1), v[1] + (k >> 1 & 1), v[2] + (k >> 2)});
    const auto order = [](const Voxel<3>& a, const Voxel<3>& b) {
        return a[2] != b[2] ? a[2] < b[2] : a[1] != b[1] ? a[1] < b[1] : a[0] < b[0];
    };
    std::sort(corners.begin(), corners.end(), order);
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    std::vector<Rgb> colors;
    for (const auto& p : corners) {
        const Vec3d c = glaze(surface.origin + surface.cell * Vec3d{p[0] + 0.0, p[1] + 0.0, p[2] + 0.0});
        colors.push_back({static_cast<std::uint8_t>(255 * std::sqrt(c[0])),
                          static_cast<std::uint8_t>(255 * std::sqrt(c[1])),
                          static_cast<std::uint8_t>(255 * std::sqrt(c[2]))});
    }
    // Only points of the surface are asked for: nothing is stored about absence.
    const quadrat::BlockOptions blocks{
        .size = 2,
        .rule = quadrat::BlockRule::complete,
        .voxels = {.layout = quadrat::Layout::voxel, .encoding = quadrat::Encoding::constrained}};
    const auto plain = quadrat::SparseVoxels<Rgb>::pack(corners, colors, blocks.voxels);
    const auto blocked = quadrat::BlockedVoxels<Rgb>::pack(corners, colors, {}, blocks);
    // Coarse cells reach beyond the surface: a fourth channel says how much of a blend was stored, and the rest is
    // divided out.
    std::vector<Rgba> covered;
    for (const Rgb& c : colors) covered.push_back({c[0], c[1], c[2], 255});
    const auto levels =
        quadrat::MipmapVoxels<Rgba>::pack(corners, covered, {}, {.blocked = true, .blocks = {.size = 2}});
    const auto mipmapped = [&](const Vec3d& x, double lod) {
        const auto c = levels.sample(x, lod);
        const float whole = 255 / std::max(c[3], 1.0f);
        return quadrat::Blended<Rgb>{whole * c[0], whole * c[1], whole * c[2]};
    };
    const double mega = 1e-6;
    std::printf(
        "%zu cells, %zu samples; unblocked %.1f MB; blocks of 2^3: %u, %.1f MB; with %u levels of mipmap %.1f MB\n",
        surface.voxels.size(), corners.size(),
        mega * static_cast<double>(plain.index().bytes() + 3 * plain.values().size()), blocked.grid().index.entries(),
        mega * static_cast<double>(blocked.stats().bytes()), levels.levels(),
        mega * (static_cast<double>(levels.grid().index.bytes()) + 108.0 * levels.grid().index.values()));

    // Filtering inside a block equals eight lookups.
    std::mt19937 random(3);
    double worst = 0;
    for (int k = 0; k < 20000; ++k) {
        const auto& v = surface.voxels[random() % surface.voxels.size()];
        const Vec3d x = {v[0] + static_cast<double>(random() % 1000) / 1000,
                         v[1] + static_cast<double>(random() % 1000) / 1000,
                         v[2] + static_cast<double>(random() % 1000) / 1000};
        const auto one = blocked.sample(x), eight = quadrat::sample(plain, x), level = mipmapped(x, 0.0);
        for (std::size_t c = 0; c < 3; ++c)
            worst = std::max<double>(worst, std::max(std::fabs(one[c] - eight[c]), std::fabs(level[c] - eight[c])));
    }
    std::printf("largest difference between one lookup and eight: %g of 255\n", worst);

    if (!arguments.small()) {
        enum class Filter { nearest, linear, mipmap };
        const auto frame = [&](const Camera& camera, int width, int height, int reduce, Filter filter) {
            std::vector<Seen> seen;
            draw(mesh, camera, width * reduce, height * reduce, seen);
            Canvas out(width * reduce, height * reduce);
            for (int y = 0; y < out.height; ++y)
                for (int x = 0; x < out.width; ++x) {
                    const Seen& s = seen[static_cast<std::size_t>(y) * static_cast<std::size_t>(out.width) +
                                         static_cast<std::size_t>(x)];
                    out.at(x, y) = backdrop(static_cast<double>(x) / out.width, static_cast<double>(y) / out.height);
                    if (s.triangle < 0) continue;
                    Vec3d q = (1 / surface.cell) * (s.position - surface.origin);
                    quadrat::Blended<Rgb> c;
                    if (filter == Filter::nearest) {
                        for (int a = 0; a < 3; ++a) q[a] = std::floor(q[a]);
                        c = blocked.sample(q);
                    } else if (filter == Filter::linear) {
                        c = blocked.sample(q);
                    } else {
                        const double view = std::fabs(dot(s.normal, normalised(camera.eye - s.position)));
                        const double pixel =
                            s.depth * camera.view / out.height / surface.cell / std::sqrt(std::max(view, 0.1));
                        c = mipmapped(q, std::log2(std::max(pixel, 1e-9)));
                    }
                    const auto linear = [&](std::size_t k) { return static_cast<double>(c[k] * c[k]) / 65025; };
                    out.at(x, y) = lit({linear(0), linear(1), linear(2)}, s, camera);
                }
            return out.reduced(reduce);
        };
        const Camera near{{0.3, 0.5, 2.0}, {0.02, 0, 0}, {0, 1, 0}, 0.6};
        const Camera close{{0.3, 0.5, 2.0}, {-0.22, 0.12, 0.2}, {0, 1, 0}, 0.030};
        const Camera far{{1.2, 2.0, 8.0}, {0.02, 0, 0}, {0, 1, 0}, 0.15};
        Canvas out(1290, 850, color(0xFFFFFF));
        out.paste(frame(near, 850, 850, 2, Filter::linear), 0, 0);
        out.paste(frame(close, 210, 420, 1, Filter::nearest), 860, 0);
        out.paste(frame(close, 210, 420, 1, Filter::linear), 1080, 0);
        const auto enlarged = [](const Canvas& small, int k) {
            Canvas big(small.width * k, small.height * k);
            for (int y = 0; y < big.height; ++y)
                for (int x = 0; x < big.width; ++x) big.at(x, y) = small.at(x / k, y / k);
            return big;
        };
        out.paste(enlarged(frame(far, 70, 140, 1, Filter::linear), 3), 860, 430);
        out.paste(enlarged(frame(far, 70, 140, 1, Filter::mipmap), 3), 1080, 430);
        out.write(arguments.out);
    }
    return worst < 0.01 ? 0 : 1;
}
