// Text as sprites (PSH 7.1, figure 6): two perfect hashes, one inside the other. The page is a grid of cells, each with
// up to two sprites that touch it: which letter, how turned, and where its corner lies. The letters are a vector image,
// hashed itself. So a pixel costs two lookups, however large the page or its magnification.
#include "picture.hpp"
#include "stroke_font.hpp"

using namespace example;

namespace {

constexpr double unit = 4, box_width = 40, box_height = 48;  // of a letter in the vector image, in its cells
constexpr int per_row = 7;
constexpr const char* text =
    "what is at this cell. a page of letters is mostly paper, so only the cells that ink may reach are kept, and a "
    "perfect hash finds "
    "them without a miss. each one names two sprites at most, with a turn and a place, and the letters themselves are "
    "lines in a "
    "second hash, sharp at every size. ";

/// A letter on the page. Where a page point p lies in the letter's box: turned(p - origin) * units per cell.
struct Sprite {
    std::uint8_t letter = 255;
    std::uint8_t turn = 0;      ///< 256 to the circle
    std::uint16_t scale = 0;    ///< 1 / 256 letter cells per page cell
    std::int16_t x = 0, y = 0;  ///< the corner, relative to the page's cell, in 1 / 64 page cells

    [[nodiscard]] double coverage(const VectorImage& font, double px, double py, double pixel) const {
        if (letter == 255) return 0;
        const double a = turn * 3.14159265358979323846 / 128, s = scale / 256.0;
        const double dx = px - x / 64.0, dy = py - y / 64.0;
        const double u = s * (std::cos(a) * dx + std::sin(a) * dy), v = s * (std::cos(a) * dy - std::sin(a) * dx);
        if (u < 0 || v < 0 || u >= box_width || v >= box_height) return 0;
        return font.coverage(u + box_width * (letter % per_row), v + box_height * (letter / per_row), pixel * s);
    }
};

struct Placed {
    Sprite sprite;  // relative to cell (0, 0): x and y are unused
    double x, y;
};

/// The text on a spiral, from the outside in, smaller and smaller.
std::vector<Placed> place(double size) {
    std::vector<Placed> out;
    double angle = 2.4, radius = size * 0.44;
    for (std::size_t i = 0; radius > size * 0.045; i = text[i + 1] ? i + 1 : 0) {
        const double height = 5 + 10 * radius / size;  // of the letters' grid, in page cells
        const double cells = height / 9, step = advance(text[i]) * cells / radius;
        if (text[i] != ' ') {
            const double a = angle - 0.5 * step, scale = unit / cells;
            Placed p;
            p.sprite.letter = static_cast<std::uint8_t>(letters.find(text[i]));
            p.sprite.scale = static_cast<std::uint16_t>(std::lround(256 * scale));
            const int turn = static_cast<int>(std::lround((a - 1.5707963) * 128 / 3.14159265358979323846));
            p.sprite.turn = static_cast<std::uint8_t>(turn & 255);
            const double t = p.sprite.turn * 3.14159265358979323846 / 128;
            const double ox = -6 / scale - 0.5 * advance(text[i]) * cells,
                         oy = -(6 + 2 * unit) / scale;  // left, below the baseline
            p.x = size / 2 + radius * std::cos(a) + std::cos(t) * ox - std::sin(t) * oy;
            p.y = size / 2 + radius * std::sin(a) + std::sin(t) * ox + std::cos(t) * oy;
            out.push_back(p);
        }
        angle -= step;
        radius -= step * height * 1.35 / 6.2831853;
    }
    return out;
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const int size = arguments.small() ? 128 : 512;
    std::vector<Polygon> outlines;
    for (std::size_t i = 0; i < letters.size(); ++i)
        write_letter(
            letters[i],
            {box_width * static_cast<double>(i % per_row) + 6, box_height * static_cast<double>(i / per_row) + 6}, unit,
            0.42, outlines);
    const VectorImage font(outlines, static_cast<int>(box_width) * per_row, static_cast<int>(box_height) * 4);

    // Which sprites have ink in which cell.
    const std::vector<Placed> placed = place(size);
    std::vector<std::array<Sprite, 2>> page(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    int overflow = 0;
    for (const Placed& p : placed) {
        const double reach = 256 * (box_width + box_height) / p.sprite.scale;
        for (int y = std::max(0, static_cast<int>(p.y - reach)); y < std::min(size * 1.0, p.y + reach); ++y)
            for (int x = std::max(0, static_cast<int>(p.x - reach)); x < std::min(size * 1.0, p.x + reach); ++x) {
                Sprite s = p.sprite;
                if (std::fabs(p.x - x) >= 500 || std::fabs(p.y - y) >= 500) continue;
                s.x = static_cast<std::int16_t>(std::lround(64 * (p.x - x)));
                s.y = static_cast<std::int16_t>(std::lround(64 * (p.y - y)));
                bool ink = false;
                for (int k = 0; k < 49 && !ink; ++k) ink = s.coverage(font, (k % 7) / 6.0, (k / 7) / 6.0, 0.3) > 0;
                if (!ink) continue;
                auto& cell =
                    page[static_cast<std::size_t>(y) * static_cast<std::size_t>(size) + static_cast<std::size_t>(x)];
                if (cell[0].letter == 255)
                    cell[0] = s;
                else if (cell[1].letter == 255)
                    cell[1] = s;
                else
                    ++overflow;
            }
    }
    std::vector<quadrat::Voxel<2>> cells;
    std::vector<std::array<Sprite, 2>> sprites;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x)
            if (const auto& c =
                    page[static_cast<std::size_t>(y) * static_cast<std::size_t>(size) + static_cast<std::size_t>(x)];
                c[0].letter != 255) {
                cells.push_back({x, y});
                sprites.push_back(c);
            }
    const auto map =
        quadrat::SparseVoxels<std::array<Sprite, 2>, 2>::pack(cells, sprites,
                                                              {.layout = quadrat::Layout::voxel,
                                                               .encoding = quadrat::Encoding::domain_bit,
                                                               .construction = quadrat::Construction::compact});
    const auto ink = [&](double x, double y, double pixel) {
        const int cx = static_cast<int>(std::floor(x)), cy = static_cast<int>(std::floor(y));
        const auto* found = map.find({cx, cy});
        if (!found) return 0.0;
        return std::max((*found)[0].coverage(font, x - cx, y - cy, pixel),
                        (*found)[1].coverage(font, x - cx, y - cy, pixel));
    };
    const double bytes =
        static_cast<double>(map.index().bytes() + map.values().size() * sizeof(Sprite) * 2 + font.bytes());
    std::printf("%zu letters, %d^2 cells, %zu with ink (%.1f %%), %d with more than two sprites\n", placed.size(), size,
                map.size(), 100.0 * static_cast<double>(map.size()) / size / size, overflow);
    std::printf("sprite map: %.2f bits of offsets per entry; font: %u cells with edges; together %.1f KB\n",
                map.index().hash().offset_bits_per_entry(), font.hashed().index().entries(), bytes / 1000);

    // Every pixel again, from all letters: what the nested hashes must give.
    int wrong = overflow;
    for (int k = 0; k < 4000; ++k) {
        const double x = size * std::fmod(k * 0.7548776662, 1.0), y = size * std::fmod(k * 0.5698402910, 1.0);
        double all = 0;
        for (const Placed& p : placed) {
            Sprite s = p.sprite;
            if (std::fabs(p.x - x) > 100 || std::fabs(p.y - y) > 100) continue;
            const double cx = std::floor(x), cy = std::floor(y);
            s.x = static_cast<std::int16_t>(std::lround(64 * (p.x - cx)));
            s.y = static_cast<std::int16_t>(std::lround(64 * (p.y - cy)));
            all = std::max(all, s.coverage(font, x - cx, y - cy, 0.05));
        }
        wrong += std::fabs(all - ink(x, y, 0.05)) > 0.02;
    }
    std::printf("%d of 4000 points differ from all letters drawn one by one\n", wrong);

    if (!arguments.small()) {
        const auto window = [&](int width, int height, double left, double top, double zoom) {
            Canvas out(width, height);
            for (int j = 0; j < height; ++j)
                for (int i = 0; i < width; ++i) {
                    double sum = 0;
                    for (int k = 0; k < 4; ++k)
                        sum += ink(left + (i + 0.25 + 0.5 * (k % 2)) / zoom,
                                   size - top - (j + 0.25 + 0.5 * (k / 2)) / zoom, 0.6 / zoom) /
                               4;
                    out.at(i, j) = mix(color(0xFDFBF4), color(0x1F2A44), sum);
                }
            return out;
        };
        Canvas out(1290, 850, color(0xFFFFFF));
        out.paste(window(850, 850, 0, 0, 850.0 / size), 0, 0);
        out.paste(window(430, 420, 0.40 * size, 0.42 * size, 5), 860, 0);
        out.paste(window(430, 420, 0.445 * size, 0.405 * size, 24), 860, 430);
        out.write(arguments.out);
    }
    return wrong == 0 ? 0 : 1;
}
