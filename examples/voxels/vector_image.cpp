// A tree with sharp edges at any size (PSH 7.1, figures 4 and 5): vector_image.hpp packs the cells that edges pass
// through. The picture shows the whole, a close-up, the same close-up of an ordinary picture of as many pixels, and the
// cells.
#include "vector_image.hpp"
#include "picture.hpp"

#include <random>

using namespace example;

namespace {

struct Tree {
    std::vector<Polygon> polygons;
    std::mt19937 random{12};
    double size;

    double chance(double lo, double hi) { return lo + (hi - lo) * static_cast<double>(random() % 4096) / 4096; }
    void add(std::initializer_list<Vec2d> points) {
        Polygon p;
        for (const Vec2d& q : points) p.push_back({size * (0.49 + 0.86 * q[0]), size * (0.01 + 0.86 * q[1])});
        polygons.push_back(std::move(p));
    }
    void leaf(const Vec2d& p, double angle, double length) {
        const double c = std::cos(angle) * length, s = std::sin(angle) * length, w = 0.3;
        add({{p[0], p[1]},
             {p[0] + 0.3 * c + w * s, p[1] + 0.3 * s - w * c},
             {p[0] + 0.6 * c + w * 0.8 * s, p[1] + 0.6 * s - w * 0.8 * c},
             {p[0] + c, p[1] + s},
             {p[0] + 0.6 * c - w * 0.8 * s, p[1] + 0.6 * s + w * 0.8 * c},
             {p[0] + 0.3 * c - w * s, p[1] + 0.3 * s + w * c}});
    }
    void branch(const Vec2d& p, double angle, double length, double width) {
        const double bend = chance(-0.12, 0.12), end = width * 0.72;
        const Vec2d q = {p[0] + length * std::cos(angle + bend), p[1] + length * std::sin(angle + bend)};
        const double s = std::sin(angle), c = std::cos(angle);
        add({{p[0] + width * s, p[1] - width * c},
             {q[0] + end * s, q[1] - end * c},
             {q[0] + 0.6 * end * c, q[1] + 0.6 * end * s},
             {q[0] - end * s, q[1] + end * c},
             {p[0] - width * s, p[1] + width * c}});
        if (length < 0.03) {
            for (int i = 0; i < 3; ++i) leaf(q, angle + chance(-1.5, 1.5), chance(0.018, 0.032));
            return;
        }
        branch(q, angle + chance(0.15, 0.6), length * chance(0.68, 0.86), end);
        branch(q, angle - chance(0.15, 0.6), length * chance(0.68, 0.86), end);
        if (chance(0, 1) < 0.25) branch(q, angle + chance(-0.3, 0.3), length * 0.6, end * 0.6);
    }
};

/// A window of the image, `zoom` pixels a cell, from the left upper corner (x, y); y runs down.
template <class Coverage>
Canvas window(int width, int height, double x, double y, double zoom, double image_height, const Coverage& coverage) {
    Canvas out(width, height);
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i) {
            const double u = x + (i + 0.5) / zoom, v = y + (j + 0.5) / zoom;
            out.at(i, j) = mix(mix(color(0xFBF7EC), color(0xF3D9B1), v / image_height), color(0x27332B),
                               coverage(u, image_height - v, 1 / zoom));
        }
    return out;
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const int size = arguments.small() ? 128 : 512;
    Tree tree{{}, std::mt19937{12}, static_cast<double>(size)};
    tree.branch({0, 0}, 1.5707963, 0.22, 0.018);
    const VectorImage image(tree.polygons, size, size);
    const auto& hash = image.hashed().index().hash();
    const double cells = static_cast<double>(size) * size;
    std::printf("%zu polygons, %d^2 cells, %u with edges (%.1f %%); table %u x %u, offsets %u x %u\n",
                tree.polygons.size(), size, hash.entries(), 100 * hash.entries() / cells, hash.table_size(0),
                hash.table_size(1), hash.offset_size(0), hash.offset_size(1));
    std::printf(
        "%.1f KB, %.2f bits per cell (all cells as lines: 48); %.2f %% of the samples in edge cells differ from the "
        "polygons\n",
        static_cast<double>(image.bytes()) / 1000, 8 * static_cast<double>(image.bytes()) / cells,
        100 * image.wrong_samples());
    if (!arguments.small()) {
        // The same number of cells as grey pixels, read bilinearly.
        Canvas grey(size, size);
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                double sum = 0;
                for (int s = 0; s < 16; ++s)
                    sum += image.coverage(x + (s % 4 + 0.5) / 4, y + (s / 4 + 0.5) / 4, 0.25) / 16;
                grey.at(x, y) = {sum, sum, sum};
            }
        const auto blurred = [&](double x, double y, double) {
            const double u = std::clamp(x - 0.5, 0.0, size - 1.001), v = std::clamp(y - 0.5, 0.0, size - 1.001);
            const int i = static_cast<int>(u), j = static_cast<int>(v);
            return std::lerp(std::lerp(grey.at(i, j)[0], grey.at(i + 1, j)[0], u - i),
                             std::lerp(grey.at(i, j + 1)[0], grey.at(i + 1, j + 1)[0], u - i), v - j);
        };
        const auto sharp = [&](double x, double y, double pixel) { return image.coverage(x, y, pixel); };
        Canvas out(1290, 850, color(0xFFFFFF));
        out.paste(window(850, 850, 0, 0, 850.0 / size, size, sharp), 0, 0);
        const double zoom = 18, x = 0.672 * size, y = 0.527 * size;
        Canvas close = window(430, 420, x, y, zoom, size, sharp);
        out.paste(window(430, 420, x, y, zoom, size, blurred), 860, 430);
        for (int j = 0; j < 140; ++j)  // the grid of cells, in a corner of the close-up
            for (int i = 0; i < 140; ++i)
                if (std::fmod((i + 0.5) / zoom + x, 1.0) < 1 / zoom || std::fmod((j + 0.5) / zoom + y, 1.0) < 1 / zoom)
                    close.at(i, j) = mix(close.at(i, j), color(0xC23B22), 0.55);
        out.paste(close, 860, 0);
        out.write(arguments.out);
    }
    return image.wrong_samples() < 0.05 ? 0 : 1;
}
