// A thin reader of Wavefront OBJ. Not tinyobjloader, which rounds numbers loosely and takes malformed lines in silence
// (docs/decisions/0020-obj-reader.md).
#include <cmath>
#include <limits>
#include <optional>

#include "io/mesh/mesh.hpp"
#include "io/text.hpp"

namespace quadrat::io {
namespace {

class ObjParser {
  public:
    ObjParser(std::string_view text, std::string_view name) : lines_(text), name_(name) {}

    Mesh parse() {
        while (lines_.next()) {
            std::string_view line = lines_.line();
            if (lines_.number() == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
            first_line_ = lines_.number();
            if (continued(line)) line = joined(line);
            line = line.substr(0, line.find('#'));
            const std::string_view keyword = next_word(line);
            if (keyword == "v")
                vertex(line);
            else if (keyword == "f" || keyword == "fo")
                face(line);
            else if (keyword == "l")
                polyline(line);
            else if (keyword == "p")
                points(line);
        }
        for (const Forward& f : forward_)
            if (f.index >= mesh_.vertices.size()) out_of_range(f.index + 1, f.line);
        if (colored_ > 0 && colored_ < mesh_.vertices.size()) mesh_.colors.clear();
        return std::move(mesh_);
    }

  private:
    // A face may name a vertex that comes later; it is checked at the end.
    struct Forward {
        std::uint64_t index;
        std::uint64_t line;
    };

    [[nodiscard]] Where where(std::optional<std::uint64_t> field = {}) const {
        return {.file = std::string(name_), .column = field, .line = first_line_};
    }
    [[noreturn]] void out_of_range(std::uint64_t number, std::uint64_t line) const {
        throw Error(
            ErrorKind::bad_format,
            "vertex " + std::to_string(number) + " of " + std::to_string(mesh_.vertices.size()) + " does not exist",
            {.file = std::string(name_), .line = line});
    }

    // A backslash at the end of a comment is part of it.
    [[nodiscard]] static bool continued(std::string_view line) {
        return !line.empty() && line.back() == '\\' && line.find('#') == line.npos;
    }
    std::string_view joined(std::string_view line) {
        long_line_.assign(line);
        while (continued(long_line_)) {
            long_line_.back() = ' ';
            if (!lines_.next()) break;
            long_line_ += lines_.line();
        }
        return long_line_;
    }

    void vertex(std::string_view line) {
        Vec3d position{};
        for (int k = 0; k < 3; ++k) {
            position[k] = double_or_throw(next_word(line), where(static_cast<unsigned>(k)));
            if (!std::isfinite(position[k]))
                throw Error(ErrorKind::bad_value, std::isnan(position[k]) ? "NaN" : "infinite coordinate",
                            where(static_cast<unsigned>(k)));
        }
        double more[4] = {};
        int count = 0;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
            if (count == 4) throw Error(ErrorKind::bad_format, "a vertex of more than 7 numbers", where());
            more[count] = double_or_throw(word, where(static_cast<unsigned>(3 + count)));
            ++count;
        }
        mesh_.vertices.push_back(position);
        if (count < 3) return;
        ++colored_;
        if (mesh_.colors.size() + 1 != mesh_.vertices.size()) return;  // colours on some vertices only are dropped
        const double* rgb = more + (count - 3);
        std::array<std::uint8_t, 4> color{0, 0, 0, 255};
        for (std::size_t k = 0; k < 3; ++k) {
            const double level = rgb[k] >= 0 ? std::min(rgb[k], 1.0) : 0.0;
            color[k] = static_cast<std::uint8_t>(std::lround(level * 255));
        }
        mesh_.colors.push_back(color);
    }

    // One corner: v, v/vt, v/vt/vn or v//vn; negative numbers count back from the last vertex so far.
    std::uint32_t corner(std::string_view word, unsigned field) {
        const std::size_t slash = word.find('/');
        const std::int64_t number = integer_or_throw(word.substr(0, slash), where(field));
        for (std::string_view rest = word.substr(std::min(slash, word.size())); !rest.empty();) {
            rest.remove_prefix(1);
            const std::size_t end = std::min(rest.find('/'), rest.size());
            if (end > 0) (void)integer_or_throw(rest.substr(0, end), where(field));
            rest.remove_prefix(end);
        }
        const auto count = static_cast<std::int64_t>(mesh_.vertices.size());
        if (number == 0 || number < -count)
            throw Error(ErrorKind::bad_format, "vertex " + std::to_string(number) + " does not exist", where(field));
        const std::int64_t index = number > 0 ? number - 1 : count + number;
        if (index >= std::numeric_limits<std::uint32_t>::max())
            out_of_range(static_cast<std::uint64_t>(index) + 1, first_line_);
        if (index >= count) forward_.push_back({static_cast<std::uint64_t>(index), first_line_});
        return static_cast<std::uint32_t>(index);
    }

    void face(std::string_view line) {
        std::uint32_t first = 0, last = 0;
        unsigned count = 0;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line), ++count) {
            const std::uint32_t index = corner(word, count);
            if (count == 0) first = index;
            if (count >= 2) mesh_.triangles.push_back({first, last, index});
            last = index;
        }
        if (count < 3) throw Error(ErrorKind::bad_format, "a face of fewer than 3 corners", where());
    }

    void polyline(std::string_view line) {
        std::uint32_t last = 0;
        unsigned count = 0;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line), ++count) {
            const std::uint32_t index = corner(word, count);
            if (count > 0) mesh_.segments.push_back({last, index});
            last = index;
        }
        if (count < 2) throw Error(ErrorKind::bad_format, "a line of fewer than 2 points", where());
    }

    void points(std::string_view line) {
        unsigned count = 0;
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line), ++count)
            mesh_.points.push_back(corner(word, count));
        if (count == 0) throw Error(ErrorKind::bad_format, "a point statement without a point", where());
    }

    LineReader lines_;
    std::string_view name_;
    std::uint64_t first_line_ = 0;
    std::string long_line_;
    std::vector<Forward> forward_;
    std::size_t colored_ = 0;
    Mesh mesh_;
};

}  // namespace

Mesh parse_obj(std::span<const std::byte> file, std::string_view name) {
    return ObjParser(as_text(file), name).parse();
}

Mesh read_obj(const std::string& path) {
    const MappedFile file(path);
    return parse_obj(file.bytes(), path);
}

}  // namespace quadrat::io
