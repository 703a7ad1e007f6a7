#include "io/table/npy.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "io/text.hpp"

namespace quadrat::io {
namespace {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

constexpr std::size_t most_dimensions = 32;  // NumPy's own limit

// The header is a Python literal: a dict with the keys descr, fortran_order and shape, in any order.
struct Header {
    char byte_order = '<';
    char kind = 'f';
    std::size_t item_size = 8;
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
};

class HeaderParser {
  public:
    HeaderParser(std::string_view text, std::size_t offset, std::string_view name)
        : text_(text), offset_(offset), name_(name) {}

    Header parse() {
        Header header;
        bool have_descr = false, have_order = false, have_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = string();
            expect(':');
            if (key == "descr" && !have_descr) {
                descr(header);
                have_descr = true;
            } else if (key == "fortran_order" && !have_order) {
                header.fortran_order = boolean();
                have_order = true;
            } else if (key == "shape" && !have_shape) {
                shape(header);
                have_shape = true;
            } else {
                fail("unexpected key " + quoted(key));
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip();
        if (at_ != text_.size()) fail("text after the header");
        if (!have_descr || !have_order || !have_shape) fail("descr, fortran_order or shape is missing");
        return header;
    }

  private:
    [[noreturn]] void fail(const std::string& message, ErrorKind kind = ErrorKind::bad_format) const {
        throw Error(kind, message, {.file = std::string(name_), .byte = offset_ + at_, .field = "header"});
    }
    void skip() {
        while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
    }
    bool accept(char c) {
        skip();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) fail(std::string("expected '") + c + "'");
    }
    std::string_view string() {
        skip();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') fail("expected a string");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == text_.npos) fail("a string does not end");
        const std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return result;
    }
    bool boolean() {
        skip();
        for (const bool value : {false, true}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.substr(at_, word.size()) == word) {
                at_ += word.size();
                return value;
            }
        }
        fail("fortran_order is neither True nor False");
    }
    void shape(Header& header) {
        expect('(');
        while (!accept(')')) {
            skip();
            std::uint64_t value = 0;
            const std::size_t begin = at_;
            for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
                const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
                if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) fail("shape is too large");
                value = value * 10 + digit;
            }
            if (at_ == begin) fail("shape is not a tuple of numbers");
            if (header.shape.size() == most_dimensions) fail("more than 32 dimensions");
            header.shape.push_back(value);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
    }
    void descr(Header& header) {
        skip();
        if (at_ < text_.size() && text_[at_] == '[') fail("record arrays are not handled", ErrorKind::unsupported);
        const std::string_view text = string();
        const auto unsupported = [&] { fail("type " + quoted(text) + " is not handled", ErrorKind::unsupported); };
        if (text.size() != 3) unsupported();
        header.byte_order = text[0];
        header.kind = text[1];
        header.item_size = static_cast<std::size_t>(text[2] - '0');
        if (std::string_view("<>|=").find(text[0]) == std::string_view::npos) unsupported();
        const std::string_view sizes = text[1] == 'f' ? "248" : text[1] == 'b' ? "1" : "1248";
        if (std::string_view("fiub").find(text[1]) == std::string_view::npos || sizes.find(text[2]) == sizes.npos)
            unsupported();
    }

    std::string_view text_;
    std::size_t offset_;
    std::string_view name_;
    std::size_t at_ = 0;
};

template <std::size_t Size>
void swap_bytes(std::byte* data, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, data += Size)
        for (std::size_t k = 0; k < Size / 2; ++k) std::swap(data[k], data[Size - 1 - k]);
}

// Fortran order to C order: walks the output in order and keeps the position in the input as one sum of strides.
template <std::size_t Size>
void to_c_order(const std::byte* in, std::byte* out, const std::vector<std::uint64_t>& shape, std::size_t count) {
    std::vector<std::size_t> stride(shape.size(), Size);
    for (std::size_t k = 1; k < shape.size(); ++k) stride[k] = stride[k - 1] * static_cast<std::size_t>(shape[k - 1]);
    std::vector<std::uint64_t> index(shape.size(), 0);
    std::size_t from = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(out + i * Size, in + from, Size);
        for (std::size_t k = shape.size(); k-- > 0;) {
            from += stride[k];
            if (++index[k] < shape[k]) break;
            from -= stride[k] * static_cast<std::size_t>(shape[k]);
            index[k] = 0;
        }
    }
}

template <class Fn>
void with_size(std::size_t size, Fn&& fn) {
    switch (size) {
        case 1:
            return fn(std::integral_constant<std::size_t, 1>{});
        case 2:
            return fn(std::integral_constant<std::size_t, 2>{});
        case 4:
            return fn(std::integral_constant<std::size_t, 4>{});
        default:
            return fn(std::integral_constant<std::size_t, 8>{});
    }
}

ScalarType type_in_file(const Header& header) {
    const std::size_t size = header.item_size;
    switch (header.kind) {
        case 'f':
            return size == 8 ? ScalarType::f64 : size == 4 ? ScalarType::f32 : ScalarType::f16;
        case 'i':
            return size == 8   ? ScalarType::i64
                   : size == 4 ? ScalarType::i32
                   : size == 2 ? ScalarType::i16
                               : ScalarType::i8;
        case 'b':
            return ScalarType::b8;
        default:
            return size == 8   ? ScalarType::u64
                   : size == 4 ? ScalarType::u32
                   : size == 2 ? ScalarType::u16
                               : ScalarType::u8;
    }
}

ScalarType wide_type(ScalarType type) {
    switch (type) {
        case ScalarType::i8:
        case ScalarType::i16:
            return ScalarType::i32;
        case ScalarType::u16:
            return ScalarType::u32;
        case ScalarType::f16:
            return ScalarType::f32;
        case ScalarType::b8:
            return ScalarType::u8;
        default:
            return type;
    }
}

struct Placed {
    Header header;
    std::size_t begin;  // of the values
    std::size_t count;  // of values
};

// The header of a file of so many bytes, of which `text` is the beginning or all; the size is what the header says.
Placed placed_header(std::string_view text, std::uint64_t file_size, std::string_view name) {
    const auto fail = [&](const std::string& message, std::uint64_t byte) {
        throw Error(ErrorKind::bad_format, message, {.file = std::string(name), .byte = byte});
    };
    if (text.substr(0, 6) != "\x93NUMPY") fail("not an NPY file", 0);
    if (text.size() < 10) fail("the header is truncated", text.size());
    const unsigned version = static_cast<unsigned char>(text[6]);
    if (version < 1 || version > 3) fail("unknown NPY version " + std::to_string(version), 6);
    const std::size_t length_size = version == 1 ? 2 : 4;
    if (text.size() < 8 + length_size) fail("the header is truncated", text.size());
    std::size_t length = 0;
    for (std::size_t k = length_size; k-- > 0;) length = length << 8 | static_cast<unsigned char>(text[8 + k]);
    const std::size_t start = 8 + length_size;
    if (length > text.size() - start) fail("the header is truncated", text.size());
    Header header = HeaderParser(text.substr(start, length), start, name).parse();

    const std::uint64_t present = file_size - start - length;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : header.shape)
        if (extent == 0) count = 0;
    for (const std::uint64_t extent : header.shape) {
        if (count == 0) break;
        if (extent > present / header.item_size / count)
            fail("the shape needs more bytes than the file has", file_size);
        count *= extent;
    }
    const std::uint64_t needed = count * header.item_size;
    if (needed > present) fail("the shape needs more bytes than the file has", file_size);
    if (needed < present) fail("bytes after the end of the array", start + length + needed);
    return {std::move(header), start + length, static_cast<std::size_t>(count)};
}

}  // namespace

NpyLayout npy_layout(std::span<const std::byte> head, std::uint64_t file_size, std::string_view name) {
    const Placed placed = placed_header(as_text(head), file_size, name);
    const Header& header = placed.header;
    const bool little = std::endian::native == std::endian::little;
    const ScalarType type = wide_type(type_in_file(header));
    return {.type = type,
            .shape = header.shape,
            .begin = placed.begin,
            .as_in_memory = header.item_size == scalar_size(type) &&
                            !(header.fortran_order && header.shape.size() > 1) &&
                            header.byte_order != (little ? '>' : '<')};
}

Table parse_npy(std::span<const std::byte> file, std::string_view name, Narrow narrow) {
    const Placed placed = placed_header(as_text(file), file.size(), name);
    const Header& header = placed.header;
    const std::size_t begin = placed.begin, count = placed.count;
    const std::size_t needed = count * header.item_size;

    Table table;
    table.shape = header.shape;
    table.type = type_in_file(header);
    table.bytes.resize_discard(needed);
    const std::byte* data = file.data() + begin;
    with_size(header.item_size, [&](auto size) {
        if (header.fortran_order && header.shape.size() > 1)
            to_c_order<size>(data, table.bytes.data(), header.shape, count);
        else if (needed > 0)
            std::memcpy(table.bytes.data(), data, needed);
        const bool little = std::endian::native == std::endian::little;
        if (header.byte_order == (little ? '>' : '<')) swap_bytes<size>(table.bytes.data(), count);
    });
    if (narrow == Narrow::widened && is_narrow(table.type)) return widened(table.view());
    return table;
}

Table read_npy(const std::string& path, Narrow narrow) {
    const MappedFile file(path);
    return parse_npy(file.bytes(), path, narrow);
}

std::string npy_header(ScalarType type, const std::vector<std::uint64_t>& shape) {
    const char* types[] = {"f4", "f8", "i4", "i8", "u1", "u4", "u8", "i1", "i2", "u2", "f2", "b1"};
    const bool little = std::endian::native == std::endian::little;
    std::string header = "{'descr': '";
    header += scalar_size(type) == 1 ? '|' : little ? '<' : '>';
    header += types[static_cast<int>(type)];
    header += "', 'fortran_order': False, 'shape': (";
    for (const std::uint64_t extent : shape) header += std::to_string(extent) + ",";
    if (shape.size() > 1) header.pop_back();
    header += "), }";
    header.append(63 - (10 + header.size()) % 64, ' ');  // the data start at a multiple of 64
    header += '\n';
    std::string start = "\x93NUMPY\x01";
    start += '\0';
    start += static_cast<char>(header.size() & 255);
    start += static_cast<char>(header.size() >> 8);
    return start + header;
}

void write_npy(AtomicFile& file, const TableView& table) {
    file.write(npy_header(table.type, table.shape));
    file.write(table.data, static_cast<std::size_t>(table.size()) * scalar_size(table.type));
}

void write_npy(const std::string& path, const TableView& table) {
    AtomicFile file(path);
    write_npy(file, table);
    file.commit();
}

}  // namespace quadrat::io
