// Pictures: PNG through libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::io {

/// Rows from top to bottom, pixels from left to right, 8 or 16 bits a channel.
struct Image {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t channels = 4;             ///< 1 grey, 2 grey + alpha, 3 red green blue, 4 red green blue alpha
    std::vector<std::uint8_t> pixels = {};  ///< width * height * channels * depth / 8
    std::uint32_t depth = 8;                ///< bits a channel, 8 or 16; two bytes in this machine's order

    [[nodiscard]] std::size_t pixel_bytes() const { return std::size_t{channels} * (depth / 8); }
    [[nodiscard]] const std::uint8_t* pixel(std::uint32_t x, std::uint32_t y) const {
        return pixels.data() + (std::size_t{y} * width + x) * pixel_bytes();
    }
};

/// Palettes and depths below 8 bits are expanded to 8; transparency becomes an alpha channel. Throws bad_format.
/// Allocates no more than a PNG of this many bytes can hold.
[[nodiscard]] Image parse_png(std::span<const std::byte> file, std::string_view name);
[[nodiscard]] Image read_png(const std::string& path);
void write_png(const std::string& path, const Image& image);

}  // namespace quadrat::io
