// PLY files. The header gives a list of elements with typed properties; the body is read through one of two sources,
// text lines or bytes, that both hand out numbers as double (which holds every PLY type exactly).
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "io/mesh/mesh.hpp"
#include "io/text.hpp"

namespace quadrat::io {
namespace {

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };
constexpr std::size_t type_size[] = {1, 1, 2, 2, 4, 4, 4, 8};

std::optional<Type> type_named(std::string_view name) {
    constexpr std::array<std::string_view, 16> names = {"char",  "uchar",  "short",   "ushort", "int",   "uint",
                                                        "float", "double", "int8",    "uint8",  "int16", "uint16",
                                                        "int32", "uint32", "float32", "float64"};
    for (std::size_t k = 0; k < names.size(); ++k)
        if (names[k] == name) return static_cast<Type>(k % 8);
    return {};
}

// What a property means to us. The first ten are slots in the numbers of one vertex.
enum Role {
    role_x,
    role_y,
    role_z,
    role_nx,
    role_ny,
    role_nz,
    role_red,
    role_green,
    role_blue,
    role_alpha,
    role_indices,
    role_none
};

struct Property {
    std::string name;
    Type type;
    std::optional<Type> count_type;  ///< set for lists
    Role role = role_none;
};

struct Element {
    std::string name;
    std::uint64_t count = 0;
    std::vector<Property> properties;
};

struct Header {
    enum class Format { ascii, little, big } format = Format::ascii;
    std::vector<Element> elements;
    std::string_view body;
    std::uint64_t lines = 0;
    std::size_t body_offset = 0;
};

Role role_of(const Element& element, const Property& property) {
    if (element.name == "vertex" && !property.count_type) {
        constexpr std::array<std::string_view, 10> names = {"x",  "y",   "z",     "nx",   "ny",
                                                            "nz", "red", "green", "blue", "alpha"};
        for (std::size_t k = 0; k < names.size(); ++k)
            if (property.name == names[k]) return static_cast<Role>(k);
    }
    if (element.name == "face" && property.count_type &&
        (property.name == "vertex_indices" || property.name == "vertex_index"))
        return role_indices;
    return role_none;
}

Header parse_header(std::string_view text, std::string_view name) {
    LineReader lines(text);
    const auto fail = [&](const std::string& message) {
        throw Error(ErrorKind::bad_format, message, {.file = std::string(name), .line = lines.number()});
    };
    if (!lines.next() || trimmed(lines.line()) != "ply") fail("not a PLY file");
    Header header;
    bool have_format = false;
    while (lines.next()) {
        std::string_view rest = lines.line();
        const std::string_view keyword = next_word(rest);
        if (keyword == "comment" || keyword == "obj_info" || keyword.empty()) continue;
        if (keyword == "end_header") {
            if (!have_format) fail("no format line");
            header.body = lines.rest();
            header.lines = lines.number();
            header.body_offset = text.size() - header.body.size();
            return header;
        }
        if (keyword == "format") {
            const std::string_view format = next_word(rest);
            if (format == "ascii")
                header.format = Header::Format::ascii;
            else if (format == "binary_little_endian")
                header.format = Header::Format::little;
            else if (format == "binary_big_endian")
                header.format = Header::Format::big;
            else
                fail("unknown format " + quoted(format));
            if (next_word(rest) != "1.0") fail("only PLY 1.0 is known");
            have_format = true;
        } else if (keyword == "element") {
            Element element;
            element.name = next_word(rest);
            const std::int64_t count = integer_or_throw(
                next_word(rest), {.file = std::string(name), .line = lines.number(), .field = "element"});
            if (count < 0) fail("a negative count");
            element.count = static_cast<std::uint64_t>(count);
            for (const Element& e : header.elements)
                if (e.name == element.name) fail("element " + quoted(element.name) + " appears twice");
            header.elements.push_back(std::move(element));
        } else if (keyword == "property") {
            if (header.elements.empty()) fail("a property before the first element");
            Element& element = header.elements.back();
            Property property;
            std::string_view type = next_word(rest);
            if (type == "list") {
                type = next_word(rest);
                property.count_type = type_named(type);
                if (!property.count_type || *property.count_type >= Type::f32)
                    fail("a list is not counted by " + quoted(type));
                type = next_word(rest);
            }
            const std::optional<Type> known = type_named(type);
            if (!known) fail("unknown type " + quoted(type));
            property.type = *known;
            property.name = next_word(rest);
            if (property.name.empty()) fail("a property without a name");
            property.role = role_of(element, property);
            if (property.role != role_none)
                for (const Property& p : element.properties)
                    if (p.role == property.role) fail("property " + quoted(property.name) + " appears twice");
            element.properties.push_back(std::move(property));
        } else {
            fail("unknown keyword " + quoted(keyword));
        }
    }
    fail("the header does not end");
    return header;
}

// Numbers from text: one element is one line.
class TextSource {
  public:
    TextSource(const Header& header, std::string_view name) : lines_(header.body), name_(name), before_(header.lines) {}

    void begin_element() {
        do {
            if (!lines_.next()) {
                ++before_;
                fail("the file is truncated");
            }
            line_ = trimmed(lines_.line());
        } while (line_.empty());
    }
    void end_element() {
        if (!next_word(line_).empty()) fail("more numbers than properties");
    }
    double number(Type type, const Property& property) {
        const std::string_view word = next_word(line_);
        double value = 0;
        if (const NumberError error = parse_double(word, value); error != NumberError::none) {
            Where place = where();
            place.field = property.name.substr(0, 40);
            throw_number_error(error, word, place);
        }
        if (type < Type::f32 && !(value == std::floor(value) && std::abs(value) < 4294967296.0)) fail("not an integer");
        return value;
    }
    // At least a digit and a line end for each.
    [[nodiscard]] bool can_hold(const Element& element) const { return element.count <= lines_.rest().size() / 2 + 1; }
    void end() {
        while (lines_.next())
            if (!trimmed(lines_.line()).empty()) fail("more lines than the header says");
    }
    [[nodiscard]] Where where() const { return {.file = std::string(name_), .line = before_ + lines_.number()}; }
    [[noreturn]] void fail(const std::string& message) const { throw Error(ErrorKind::bad_format, message, where()); }

  private:
    LineReader lines_;
    std::string_view name_;
    std::uint64_t before_;
    std::string_view line_;
};

class ByteSource {
  public:
    ByteSource(const Header& header, std::string_view name)
        : body_(header.body),
          name_(name),
          offset_(header.body_offset),
          swapped_((header.format == Header::Format::big) == (std::endian::native == std::endian::little)) {}

    void begin_element() {}
    void end_element() {}
    double number(Type type, const Property&) {
        switch (type) {
            case Type::i8:
                return take<std::int8_t>();
            case Type::u8:
                return take<std::uint8_t>();
            case Type::i16:
                return take<std::int16_t>();
            case Type::u16:
                return take<std::uint16_t>();
            case Type::i32:
                return take<std::int32_t>();
            case Type::u32:
                return take<std::uint32_t>();
            case Type::f32:
                return static_cast<double>(take<float>());
            case Type::f64:
                break;
        }
        return take<double>();
    }
    [[nodiscard]] bool can_hold(const Element& element) const {
        std::size_t least = 0;
        for (const Property& p : element.properties)
            least += type_size[static_cast<int>(p.count_type.value_or(p.type))];
        return element.count <= (body_.size() - at_) / least;
    }
    void end() {
        const std::string_view rest = body_.substr(at_);  // a last line end is common
        if (!rest.empty() && rest != "\n" && rest != "\r\n") fail("bytes after the last element");
    }
    [[nodiscard]] Where where() const { return {.file = std::string(name_), .byte = offset_ + at_}; }
    [[noreturn]] void fail(const std::string& message) const { throw Error(ErrorKind::bad_format, message, where()); }

  private:
    template <class T>
    T take() {
        if (body_.size() - at_ < sizeof(T)) fail("the file is truncated");
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, body_.data() + at_, sizeof(T));
        if (swapped_)
            for (std::size_t k = 0; k < sizeof(T) / 2; ++k) std::swap(bytes[k], bytes[sizeof(T) - 1 - k]);
        T value;
        std::memcpy(&value, bytes, sizeof(T));
        at_ += sizeof(T);
        return value;
    }

    std::string_view body_;
    std::string_view name_;
    std::size_t offset_;
    bool swapped_;
    std::size_t at_ = 0;
};

std::uint8_t color_level(double value, Type type) {
    const double scale = type >= Type::f32 ? 255.0 : type == Type::u16 ? 1 / 257.0 : 1.0;
    const double level = value * scale;
    return static_cast<std::uint8_t>(level >= 0 ? std::lround(std::min(level, 255.0)) : 0);
}

template <class Source>
class BodyReader {
  public:
    BodyReader(const Header& header, std::string_view name) : header_(header), source_(header, name) {
        for (const Element& e : header.elements)
            if (e.name == "vertex") vertices_ = e.count;
    }

    Mesh read() {
        for (const Element& element : header_.elements) {
            if (element.count == 0) continue;
            if (element.properties.empty()) source_.fail("element " + quoted(element.name) + " has no properties");
            if (!source_.can_hold(element))
                source_.fail("element " + quoted(element.name) + " does not fit in the file");
            if (element.name == "vertex")
                read_vertices(element);
            else
                read_others(element);
        }
        source_.end();
        return std::move(mesh_);
    }

  private:
    void read_vertices(const Element& element) {
        std::array<std::optional<Type>, 10> types;
        for (const Property& p : element.properties)
            if (p.role < role_indices) types[p.role] = p.type;
        for (const Role role : {role_x, role_y, role_z})
            if (!types[role]) source_.fail("the vertices lack x, y or z");
        const auto fits_float = [&](Role r) { return *types[r] < Type::i32 || *types[r] == Type::f32; };
        if (fits_float(role_x) && fits_float(role_y) && fits_float(role_z)) mesh_.vertex_type = ScalarType::f32;
        const bool normals = types[role_nx] && types[role_ny] && types[role_nz];
        const bool colors = types[role_red] && types[role_green] && types[role_blue];
        if (element.count > std::numeric_limits<std::uint32_t>::max()) source_.fail("more than 2^32 - 1 vertices");

        const auto count = static_cast<std::size_t>(element.count);
        mesh_.vertices.reserve(count);
        if (normals) mesh_.normals.reserve(count);
        if (colors) mesh_.colors.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            double slot[role_none + 1] = {};
            source_.begin_element();
            for (const Property& p : element.properties) {
                if (p.count_type)
                    skip_list(p);
                else
                    slot[p.role] = source_.number(p.type, p);
            }
            source_.end_element();
            mesh_.vertices.push_back({slot[role_x], slot[role_y], slot[role_z]});
            if (normals)
                mesh_.normals.push_back({static_cast<float>(slot[role_nx]), static_cast<float>(slot[role_ny]),
                                         static_cast<float>(slot[role_nz])});
            if (colors) {
                std::array<std::uint8_t, 4> color{0, 0, 0, 255};
                for (std::size_t k = 0; k < 4; ++k)
                    if (types[role_red + k]) color[k] = color_level(slot[role_red + k], *types[role_red + k]);
                mesh_.colors.push_back(color);
            }
        }
    }

    void read_others(const Element& element) {
        for (std::uint64_t i = 0; i < element.count; ++i) {
            source_.begin_element();
            for (const Property& p : element.properties) {
                if (p.role == role_indices)
                    read_face(p);
                else if (p.count_type)
                    skip_list(p);
                else
                    (void)source_.number(p.type, p);
            }
            source_.end_element();
        }
    }

    std::uint64_t list_count(const Property& p) {
        const double count = source_.number(*p.count_type, p);
        if (count < 0) source_.fail("a list of negative length");
        return static_cast<std::uint64_t>(count);
    }

    void skip_list(const Property& p) {
        for (std::uint64_t n = list_count(p); n > 0; --n) (void)source_.number(p.type, p);
    }

    void read_face(const Property& p) {
        const std::uint64_t count = list_count(p);
        if (count < 3) source_.fail("a face of fewer than 3 corners");
        std::uint32_t first = 0, last = 0;
        for (std::uint64_t k = 0; k < count; ++k) {
            const double value = source_.number(p.type, p);
            if (!(value >= 0 && value < static_cast<double>(vertices_) && value == std::floor(value)))
                source_.fail("a corner that is no vertex; there are " + std::to_string(vertices_));
            const auto index = static_cast<std::uint32_t>(value);
            if (k == 0) first = index;
            if (k >= 2) mesh_.triangles.push_back({first, last, index});
            last = index;
        }
    }

    const Header& header_;
    Source source_;
    std::uint64_t vertices_ = 0;
    Mesh mesh_;
};

}  // namespace

Mesh parse_ply(std::span<const std::byte> file, std::string_view name) {
    const Header header = parse_header(as_text(file), name);
    if (header.format == Header::Format::ascii) return BodyReader<TextSource>(header, name).read();
    return BodyReader<ByteSource>(header, name).read();
}

Mesh read_ply(const std::string& path) {
    const MappedFile file(path);
    return parse_ply(file.bytes(), path);
}

}  // namespace quadrat::io
