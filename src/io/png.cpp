// libpng reports errors by longjmp. Each function that calls it keeps everything with a destructor in its caller's
// frame, so that a jump skips none, and turns the message into an Error afterwards.
#include "io/png.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <png.h>

#include "io/files.hpp"
#include "io/text.hpp"

namespace quadrat::io {
namespace {

// Deflate expands by at most 1032 to 1.
constexpr std::uint64_t most_expansion = 1032;

struct Input {
    const std::byte* data;
    std::size_t size;
    std::size_t at = 0;
    char message[120] = "";
};

template <class State>
void on_error(png_structp png, png_const_charp text) {
    auto* state = static_cast<State*>(png_get_error_ptr(png));
    std::strncpy(state->message, text, sizeof state->message - 1);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, std::size_t count) {
    auto* input = static_cast<Input*>(png_get_io_ptr(png));
    if (count > input->size - input->at) png_error(png, "the file is truncated");
    std::memcpy(out, input->data + input->at, count);
    input->at += count;
}

struct Reader {
    png_structp png = nullptr;
    png_infop info = nullptr;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

enum class Outcome { done, failed, too_large };

Outcome read_header(Reader& reader, Input& input, Image& image) {
    if (setjmp(png_jmpbuf(reader.png))) return Outcome::failed;
    png_set_read_fn(reader.png, &input, on_read);
    png_set_user_limits(reader.png, 0x7fffffff, 0x7fffffff);
    png_set_chunk_malloc_max(reader.png, std::max<std::size_t>(1u << 16, input.size * 4));
    png_read_info(reader.png, reader.info);
    const std::uint64_t rows = png_get_image_height(reader.png, reader.info);
    if (png_get_rowbytes(reader.png, reader.info) > input.size * most_expansion / rows) return Outcome::too_large;
    png_set_expand(reader.png);
    if (std::endian::native == std::endian::little) png_set_swap(reader.png);  // of 16 bits; files are big-endian
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    image.width = png_get_image_width(reader.png, reader.info);
    image.height = png_get_image_height(reader.png, reader.info);
    image.channels = png_get_channels(reader.png, reader.info);
    image.depth = png_get_bit_depth(reader.png, reader.info) == 16 ? 16 : 8;
    return Outcome::done;
}

Outcome read_pixels(Reader& reader, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reader.png))) return Outcome::failed;
    png_read_image(reader.png, rows);
    png_read_end(reader.png, nullptr);
    return Outcome::done;
}

struct Output {
    AtomicFile* file;
    char message[120] = "";
    bool failed = false;
    Error error{ErrorKind::cannot_write, ""};
};

void on_write(png_structp png, png_bytep data, std::size_t count) {
    auto* output = static_cast<Output*>(png_get_io_ptr(png));
    try {
        output->file->write(data, count);
    } catch (const Error& e) {
        output->failed = true;
        output->error = e;
    }
    if (output->failed) png_error(png, "cannot write");
}

struct Writer {
    png_structp png = nullptr;
    png_infop info = nullptr;
    ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool write_pixels(Writer& writer, Output& output, const Image& image, png_bytepp rows) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    constexpr int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(writer.png, &output, on_write, nullptr);
    png_set_IHDR(writer.png, writer.info, image.width, image.height, static_cast<int>(image.depth),
                 types[image.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer.png, writer.info);
    if (std::endian::native == std::endian::little) png_set_swap(writer.png);
    png_write_image(writer.png, rows);
    png_write_end(writer.png, nullptr);
    return true;
}

std::vector<png_bytep> row_pointers(std::uint8_t* pixels, const Image& image) {
    std::vector<png_bytep> rows(image.height);
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = pixels + y * image.width * image.pixel_bytes();
    return rows;
}

}  // namespace

Image parse_png(std::span<const std::byte> file, std::string_view name) {
    Input input{file.data(), file.size()};
    Reader reader;
    reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input, on_error<Input>, on_warning);
    if (!reader.png || !(reader.info = png_create_info_struct(reader.png))) throw std::bad_alloc();
    const auto check = [&](Outcome outcome) {
        const Where where{.file = std::string(name), .byte = input.at};
        if (outcome == Outcome::failed) throw Error(ErrorKind::bad_format, input.message, where);
        if (outcome == Outcome::too_large)
            throw Error(ErrorKind::bad_format, "a picture larger than the file can hold", where);
    };
    Image image;
    check(read_header(reader, input, image));
    image.pixels.resize(std::size_t{image.width} * image.height * image.pixel_bytes());
    std::vector<png_bytep> rows = row_pointers(image.pixels.data(), image);
    check(read_pixels(reader, rows.data()));
    return image;
}

Image read_png(const std::string& path) {
    const MappedFile file(path);
    return parse_png(file.bytes(), path);
}

void write_png(const std::string& path, const Image& image) {
    if (image.width == 0 || image.height == 0 || image.channels < 1 || image.channels > 4 ||
        (image.depth != 8 && image.depth != 16) ||
        image.pixels.size() != std::size_t{image.width} * image.height * image.pixel_bytes())
        throw Error(ErrorKind::bad_shape, "the pixels do not fit width, height, channels and depth", {.file = path});
    AtomicFile file(path);
    Output output{&file};
    Writer writer;
    writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &output, on_error<Output>, on_warning);
    if (!writer.png || !(writer.info = png_create_info_struct(writer.png))) throw std::bad_alloc();
    // libpng takes rows that it promises not to change, by non-const pointers.
    std::vector<png_bytep> rows = row_pointers(const_cast<std::uint8_t*>(image.pixels.data()), image);
    if (!write_pixels(writer, output, image, rows.data())) {
        if (output.failed) throw output.error;
        throw Error(ErrorKind::cannot_write, output.message, {.file = path});
    }
    file.commit();
}

}  // namespace quadrat::io
