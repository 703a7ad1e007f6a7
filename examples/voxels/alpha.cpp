// A soft mask in little memory (PSH 7.1, figure 7). Nearly all alpha values are 0 or 1; only blocks of 3 x 3 cells with
// something in between are kept, each with its 4 x 4 samples, so that one lookup serves a bilinear filter. Two ways to
// know the rest:
//   one bit per pixel: "opaque"; black is reserved for "transparent" (so it sits in the colours of an R5G5B5A1 image);
//   two bits per block: transparent, opaque or hashed.
// Both give the same alpha as the full 8-bit mask, filtered, at every point; the program checks it.
#include <quadrat/voxels.hpp>

#include "picture.hpp"

using namespace example;
using quadrat::Vec2d;
using quadrat::Voxel;

namespace {

struct Mask {
    int size;
    std::vector<std::uint8_t> alpha;
    [[nodiscard]] std::uint8_t at(int x, int y) const {
        return alpha[static_cast<std::size_t>(std::min(y, size - 1)) * static_cast<std::size_t>(size) +
                     static_cast<std::size_t>(std::min(x, size - 1))];
    }
    /// Bilinear; samples lie at whole coordinates.
    [[nodiscard]] float filtered(double x, double y) const {
        const int i = static_cast<int>(x), j = static_cast<int>(y);
        const auto u = static_cast<float>(x - i), v = static_cast<float>(y - j);
        const auto mixed = [](float a, float b, float t) { return a + t * (b - a); };
        return mixed(mixed(at(i, j), at(i + 1, j), u), mixed(at(i, j + 1), at(i + 1, j + 1), u), v);
    }
    /// 0 or 255 if all samples of the cells [x, x + cells] are, otherwise -1.
    [[nodiscard]] int constant(int x, int y, int cells) const {
        for (int j = 0; j <= cells; ++j)
            for (int i = 0; i <= cells; ++i)
                if (at(x + i, y + j) != at(x, y) || (at(x, y) != 0 && at(x, y) != 255)) return -1;
        return at(x, y);
    }
};

class PackedMask {
  public:
    PackedMask(const Mask& mask, int block) : size_(mask.size), block_(block), blocks_((size_ + block - 1) / block) {
        std::vector<Voxel<2>> samples;
        std::vector<std::uint8_t> values;
        std::vector<bool> taken(static_cast<std::size_t>(size_ + 4) * static_cast<std::size_t>(size_ + 4));
        for (int y = 0; y < blocks_; ++y)
            for (int x = 0; x < blocks_; ++x) {
                coarse_.push_back(static_cast<std::int16_t>(mask.constant(block * x, block * y, block)));
                if (coarse_.back() >= 0) continue;
                ++hashed_;
                for (int k = 0; k < (block + 1) * (block + 1); ++k) {
                    const int i = block * x + k % (block + 1), j = block * y + k / (block + 1);
                    const std::size_t at =
                        static_cast<std::size_t>(j) * static_cast<std::size_t>(size_ + 4) + static_cast<std::size_t>(i);
                    if (taken[at]) continue;
                    taken[at] = true;
                    samples.push_back({i, j});
                    values.push_back(mask.at(i, j));
                }
            }
        for (int y = 0; y < size_; ++y)
            for (int x = 0; x < size_; ++x) {
                opaque_.push_back(mask.at(x, y) == 255);
                black_.push_back(mask.at(x, y) == 0);
            }
        hash_ =
            quadrat::BlockedVoxels<std::uint8_t, 2>::pack(samples, values, 0,
                                                          {.size = static_cast<std::uint32_t>(block),
                                                           .rule = quadrat::BlockRule::complete,
                                                           .voxels = {.layout = quadrat::Layout::voxel,
                                                                      .encoding = quadrat::Encoding::constrained,
                                                                      .construction = quadrat::Construction::compact}});
    }
    /// With the bit of each pixel, and black: a filtered read is 1 (or black) only if all four pixels are.
    [[nodiscard]] float fine(double x, double y) const {
        const int i = static_cast<int>(x), j = static_cast<int>(y);
        bool ones = true, zeros = true;
        for (int k = 0; k < 4; ++k) {
            const std::size_t at =
                static_cast<std::size_t>(std::min(j + k / 2, size_ - 1)) * static_cast<std::size_t>(size_) +
                static_cast<std::size_t>(std::min(i + k % 2, size_ - 1));
            ones = ones && opaque_[at];
            zeros = zeros && black_[at];
        }
        return ones ? 255.0f : zeros ? 0.0f : hash_.sample(Vec2d{x, y});
    }
    /// With two bits of each block.
    [[nodiscard]] float coarse(double x, double y) const {
        const int here = coarse_[block_of(x, y)];
        return here >= 0 ? static_cast<float>(here) : hash_.sample(Vec2d{x, y});
    }
    [[nodiscard]] bool is_hashed(double x, double y) const { return coarse_[block_of(x, y)] < 0; }
    [[nodiscard]] double pixels() const { return static_cast<double>(size_) * size_; }
    [[nodiscard]] double fine_bits() const { return 1 + 8 * static_cast<double>(hash_.stats().bytes()) / pixels(); }
    [[nodiscard]] double coarse_bits() const {
        return (2.0 * blocks_ * blocks_ + 8 * static_cast<double>(hash_.stats().bytes())) / pixels();
    }
    [[nodiscard]] int hashed() const { return hashed_; }
    [[nodiscard]] int blocks() const { return blocks_; }
    [[nodiscard]] const quadrat::BlockedVoxels<std::uint8_t, 2>& hash() const { return hash_; }

  private:
    [[nodiscard]] std::size_t block_of(double x, double y) const {
        return static_cast<std::size_t>(y / block_) * static_cast<std::size_t>(blocks_) +
               static_cast<std::size_t>(x / block_);
    }
    int size_, block_, blocks_, hashed_ = 0;
    std::vector<std::int16_t> coarse_;
    std::vector<bool> opaque_, black_;
    quadrat::BlockedVoxels<std::uint8_t, 2> hash_;
};

/// A surface in front of nothing, its outline out of focus by some pixels.
Mask draw_mask(const Mesh& mesh, int size, Canvas& paint) {
    constexpr int fine = 4, soft = 2;
    const Camera camera{{0.3, 0.5, 2.0}, {0.02, 0, 0}, {0, 1, 0}, 0.62};
    std::vector<Seen> seen;
    draw(mesh, camera, fine * size, fine * size, seen);
    std::vector<double> cover(static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            Vec3d sum{0, 0, 0};
            double hits = 0;
            for (int k = 0; k < fine * fine; ++k) {
                const Seen& s =
                    seen[static_cast<std::size_t>(fine * y + k / fine) * static_cast<std::size_t>(fine * size) +
                         static_cast<std::size_t>(fine * x + k % fine)];
                if (s.triangle < 0) continue;
                hits += 1;
                sum = sum +
                      lit(mix(color(0xD98E4A), color(0x8C3B2E), 0.5 + 0.5 * std::sin(20 * s.position[1])), s, camera);
            }
            cover[static_cast<std::size_t>(y) * static_cast<std::size_t>(size) + static_cast<std::size_t>(x)] =
                hits / (fine * fine);
            paint.at(x, y) = hits > 0 ? (1 / hits) * sum : color(0x8C3B2E);
        }
    Mask mask{size, {}};
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            double sum = 0, all = 0;
            for (int j = -soft; j <= soft; ++j)
                for (int i = -soft; i <= soft; ++i) {
                    const int u = std::clamp(x + i, 0, size - 1), v = std::clamp(y + j, 0, size - 1);
                    if (i * i + j * j > soft * soft) continue;
                    all += 1;
                    sum += cover[static_cast<std::size_t>(v) * static_cast<std::size_t>(size) +
                                 static_cast<std::size_t>(u)];
                }
            mask.alpha.push_back(static_cast<std::uint8_t>(255 * std::pow(sum / all, 1.5) + 0.5));
        }
    return mask;
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const int size = static_cast<int>(arguments.cells(189, 567));
    Canvas paint(size, size);
    const Mask mask = draw_mask(arguments.read_mesh(), size, paint);
    const PackedMask packed(mask, 3);
    const auto& index = packed.hash().grid().index;
    int fractional = 0;
    for (const std::uint8_t a : mask.alpha) fractional += a != 0 && a != 255;
    std::printf(
        "%d^2 pixels, %d fractional (%.1f %%); %d of %d^2 blocks hashed (%.1f %%), table %u x %u, offsets %u x %u\n",
        size, fractional, 100 * fractional / packed.pixels(), packed.hashed(), packed.blocks(),
        100.0 * packed.hashed() / packed.blocks() / packed.blocks(), index.hash().table_size(0),
        index.hash().table_size(1), index.hash().offset_size(0), index.hash().offset_size(1));
    std::printf(
        "alpha in bits per pixel: 8 as it is, %.2f with a bit per pixel (PSH: 1.7), %.2f with two per block (PSH: "
        "0.83)\n",
        packed.fine_bits(), packed.coarse_bits());
    for (const int b : {4, 5, 6})
        std::printf("blocks of %d^2: %.2f and %.2f\n", b, PackedMask(mask, b).fine_bits(),
                    PackedMask(mask, b).coarse_bits());
    double worst = 0;
    for (int k = 0; k < 200000; ++k) {
        const double x = (size - 1) * std::fmod(k * 0.7548776662, 1.0),
                     y = (size - 1) * std::fmod(k * 0.5698402910, 1.0);
        const float wanted = mask.filtered(x, y);
        worst = std::max<double>(
            worst, std::max(std::fabs(packed.fine(x, y) - wanted), std::fabs(packed.coarse(x, y) - wanted)));
    }
    std::printf("largest difference from the full mask, of 255: %g\n", worst);
    if (!arguments.small()) {
        const auto window = [&](int width, int height, double left, double top, double zoom, bool show_blocks) {
            Canvas out(width, height);
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    const double u = std::clamp(left + (x + 0.5) / zoom - 0.5, 0.0, size - 1.001),
                                 v = std::clamp(top + (y + 0.5) / zoom - 0.5, 0.0, size - 1.001);
                    const double a = packed.coarse(u, v) / 255.0;
                    const bool dark = (static_cast<int>(u / 24) + static_cast<int>(v / 24)) % 2 == 0;
                    const Vec3d behind = dark ? color(0x9FB8AD) : color(0xCEDCD3);
                    out.at(x, y) = mix(behind, paint.at(static_cast<int>(u + 0.5), static_cast<int>(v + 0.5)), a);
                    if (show_blocks)
                        out.at(x, y) = packed.is_hashed(u, v) ? mix(color(0xD7263D), {a, a, a}, 0.55)
                                                              : Vec3d{0.9 * a + 0.05, 0.9 * a + 0.05, 0.9 * a + 0.05};
                }
            return out;
        };
        Canvas out(1290, 850, color(0xFFFFFF));
        out.paste(window(850, 850, 0, 0, 850.0 / size, false), 0, 0);
        out.paste(window(430, 420, 0, 0, 430.0 / size, true), 860, 0);
        out.paste(window(430, 420, 0.40 * size, 0.06 * size, 5, false), 860, 430);
        out.write(arguments.out);
    }
    return worst < 0.01 ? 0 : 1;
}
