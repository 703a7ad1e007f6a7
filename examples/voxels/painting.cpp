// Painting on a surface without unwrapping it (PSH 7.2, figure 9). The voxels that the surface touches are hashed from
// three dimensions into a table of two: a picture of colours, with the position of each pixel's voxel beside it. A
// brush is a function of position, so a stroke is one pass over that picture, whatever the brush looks like and however
// large it is.
#include <quadrat/voxels.hpp>

#include "picture.hpp"
#include "stroke_font.hpp"

#include <chrono>

using namespace example;

namespace {

using Tag = std::array<std::uint16_t, 3>;  // all ones: an empty slot
using Rgb = std::array<std::uint8_t, 3>;

struct PaintedSurface {
    quadrat::VoxelisedSurface surface;
    quadrat::PerfectHash<3, 2> hash;
    std::vector<Tag> tags;
    std::vector<Rgb> colors;

    explicit PaintedSurface(const Mesh& mesh, std::uint32_t resolution)
        : surface(quadrat::voxelise(mesh.vertices, mesh.triangles, resolution)),
          hash(quadrat::PerfectHash<3, 2>::build(surface.voxels)),
          tags(hash.slots(), Tag{0xffff, 0xffff, 0xffff}),
          colors(hash.slots(), Rgb{255, 255, 255}) {
        for (const auto& v : surface.voxels)
            tags[slot(v)] = {static_cast<std::uint16_t>(v[0]), static_cast<std::uint16_t>(v[1]),
                             static_cast<std::uint16_t>(v[2])};
    }
    [[nodiscard]] std::uint32_t slot(const quadrat::Voxel<3>& v) const {
        std::array<std::uint32_t, 3> local;
        return hash.inside(v, local) ? hash.place(local).slot : 0;
    }
    /// brush(position) gives a colour and how much of it, 0..1.
    template <class Brush>
    void stroke(const Brush& brush) {
        for (std::size_t s = 0; s < tags.size(); ++s) {
            if (tags[s][0] == 0xffff) continue;
            const Vec3d p = {surface.origin[0] + surface.cell * (tags[s][0] + 0.5),
                             surface.origin[1] + surface.cell * (tags[s][1] + 0.5),
                             surface.origin[2] + surface.cell * (tags[s][2] + 0.5)};
            const auto [paint, much] = brush(p);
            if (much <= 0) continue;
            for (int c = 0; c < 3; ++c) {
                std::uint8_t& channel = colors[s][static_cast<std::size_t>(c)];
                channel = static_cast<std::uint8_t>(channel + much * (255 * std::sqrt(paint[c]) - channel) + 0.5);
            }
        }
    }
    /// Voxels that a stroke must have given its colour, and how many of them have another one.
    template <class Brush>
    [[nodiscard]] std::pair<std::size_t, std::size_t> covered_and_wrong(const Brush& brush) const {
        std::size_t covered = 0, wrong = 0;
        for (const auto& v : surface.voxels) {
            const auto [paint, much] = brush(surface.origin + surface.cell * Vec3d{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5});
            if (much < 1) continue;
            bool same = true;
            for (int c = 0; c < 3; ++c)
                same &= std::fabs(colors[slot(v)][static_cast<std::size_t>(c)] - 255 * std::sqrt(paint[c])) <= 1;
            ++covered;
            wrong += !same;
        }
        return {covered, wrong};
    }
    /// The colour at a point of the surface; rounding may have moved it out of its voxel, then a neighbour answers.
    [[nodiscard]] Vec3d color_at(const Vec3d& p) const {
        quadrat::Voxel<3> v;
        for (int a = 0; a < 3; ++a)
            v[a] = static_cast<std::int32_t>(std::floor((p[a] - surface.origin[a]) / surface.cell));
        for (const std::int32_t d : {0, 1, -1})
            for (int a = 0; a < 3; ++a) {
                quadrat::Voxel<3> q = v;
                q[a] += d;
                const std::uint32_t s = slot(q);
                if (tags[s][0] != q[0] || tags[s][1] != q[1] || tags[s][2] != q[2]) continue;
                const auto linear = [&](std::size_t c) { return colors[s][c] * colors[s][c] / 65025.0; };
                return {linear(0), linear(1), linear(2)};
            }
        return {1, 0, 1};
    }
};

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const Mesh mesh = arguments.read_mesh();
    const auto clock = [start = std::chrono::steady_clock::now()] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    PaintedSurface painted(mesh, arguments.cells(256, 2048));
    const double built = clock();
    const auto& hash = painted.hash;
    std::printf("%zu voxels, table %u x %u, offsets %u x %u: %.2f bits per voxel; voxelised and hashed in %.2f s\n",
                painted.surface.voxels.size(), hash.table_size(0), hash.table_size(1), hash.offset_size(0),
                hash.offset_size(1), hash.offset_bits_per_entry(), built);
    const double megabytes = static_cast<double>(hash.slots()) * 1e-6;
    std::printf("colours %.1f MB, tags %.1f MB, offsets %.1f MB\n", 3 * megabytes, 6 * megabytes,
                1e-6 * static_cast<double>(hash.offsets().size()));

    const Camera camera{{-0.4, 0.3, 2.1}, {0, -0.01, 0}, {0, 1, 0}, 0.52};
    int strokes = 0, empty = 0, missed = 0;
    std::size_t wrong = 0;
    double painting = 0;
    // must_cover: one that covers nothing is a mistake. The outermost stripes end beside the surface, and single dabs
    // may fall into a hole of it: every tenth is looked at.
    const auto stroke = [&](const auto& brush, bool must_cover = true) {
        const double before = clock();
        painted.stroke(brush);
        painting += clock() - before;
        const auto [covered, other] = painted.covered_and_wrong(brush);
        ++strokes;
        empty += covered == 0;
        missed += covered == 0 && must_cover;
        wrong += other;
    };
    const Vec3d cream = color(0xF2EBDD), ink = color(0x20242B), white = color(0xFFFFFF);
    const Vec3d red = color(0xE4572E), yellow = color(0xF3A712);
    stroke([&](const Vec3d&) { return std::pair(cream, 1.0); });
    for (int k = 0; k < 20; ++k)  // stripes: wavy sheets, thin where they end
        stroke(
            [&](const Vec3d& p) {
                const double at = p[0] + 0.04 * std::sin(9 * p[1] + 0.3 * k) + 0.3 * p[1] * p[1],
                             to = std::fabs(at + 0.52 - 0.055 * k);
                const double width = 0.013 * (0.75 + 0.35 * std::sin(5 * p[1] + 2.1 * k));
                return std::pair(ink, to < 0.02 ? 1 - smooth(width - 0.002, width, to) : 0.0);
            },
            k > 3 && k < 16);
    const auto ribbon = [](double x) { return 0.075 + 0.03 * std::sin(14 * x); };  // the height of its middle
    for (int k = 0; k < 60; ++k) {  // a ribbon of round dabs, as a mouse would leave them
        const double x = -0.27 + 0.58 * k / 59, y = ribbon(x);
        const Vec3d paint = mix(red, yellow, k / 59.0);
        stroke(
            [&](const Vec3d& p) {
                const double d = (p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y);
                return std::pair(paint, p[2] > 0 && d < 0.0025 ? 1 - smooth(0.042, 0.045, std::sqrt(d)) : 0.0);
            },
            k % 10 == 5);
    }
    std::vector<Polygon> outlines;  // a stamp: a picture as the brush, thrown onto one side
    double pen = 0;
    for (const char letter : std::string("quadrat")) {
        write_letter(letter, {4 + 6 * pen, 4}, 6, 0.55, outlines);
        pen += advance(letter);
    }
    const VectorImage stamp(outlines, static_cast<int>(6 * pen) + 8, 66);
    stroke([&](const Vec3d& p) {
        const double u = (p[0] + 0.225) * 530, v = (p[1] - ribbon(p[0])) * 530 + 29;
        return std::pair(white, p[2] > 0 ? stamp.coverage(u, v, 0.3) : 0.0);
    });
    std::printf("%d strokes of any size: %.1f ms each, %.0f per second\n", strokes, 1000 * painting / strokes,
                strokes / painting);
    std::printf("%zu voxels without the colour of a stroke that covered them, %d strokes beside the surface\n", wrong,
                empty);

    int width = arguments.small() ? 200 : 2000, height = arguments.small() ? 150 : 1500;
    std::vector<Seen> seen;
    draw(mesh, camera, width, height, seen);
    Canvas picture(width, height);
    int lost = 0, shown = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const Seen& s =
                seen[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
            picture.at(x, y) = backdrop(static_cast<double>(x) / width, static_cast<double>(y) / height);
            if (s.triangle < 0) continue;
            const Vec3d paint = painted.color_at(s.position);
            lost += paint == Vec3d{1, 0, 1};
            ++shown;
            picture.at(x, y) = lit(paint, s, camera);
        }
    std::printf("%d pixels, %d without a voxel\n", shown, lost);
    if (!arguments.small()) picture.reduced(2).write(arguments.out);
    return lost == 0 && shown > 1000 && wrong == 0 && missed == 0 ? 0 : 1;
}
