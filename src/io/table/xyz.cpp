#include "io/table/xyz.hpp"

#include <cstdint>
#include <string>

#include "io/text.hpp"

namespace quadrat::io {
namespace {

// Field of the position in the extended form: Properties=species:S:1:pos:R:3:... is a list of name, type, count.
std::size_t position_field(std::string_view comment, const Where& where) {
    const std::string_view key = "Properties=";
    const std::size_t found = comment.find(key);
    if (found == comment.npos) return 1;
    std::string_view list = comment.substr(found + key.size());
    const bool in_quotes = !list.empty() && list[0] == '"';
    if (in_quotes) list.remove_prefix(1);
    list = list.substr(0, list.find_first_of(in_quotes ? "\"" : " \t\""));
    const auto part = [&] {
        const std::size_t end = list.find(':');
        const std::string_view text = list.substr(0, end);
        list.remove_prefix(end == list.npos ? list.size() : end + 1);
        return text;
    };
    std::size_t field = 0;
    while (!list.empty()) {
        const std::string_view property = part();
        (void)part();
        const std::int64_t count = integer_or_throw(part(), where);
        if (count < 1 || count > 1000) break;
        if (property == "pos" && count == 3) return field;
        field += static_cast<std::size_t>(count);
    }
    throw Error(ErrorKind::bad_format, "Properties without pos:R:3", where);
}

/// What stands behind key= in the comment, without quotes; empty if it is not there.
std::string_view value_of(std::string_view comment, std::string_view key) {
    for (std::size_t at = comment.find(key); at != comment.npos; at = comment.find(key, at + 1)) {
        const bool begins = at == 0 || comment[at - 1] == ' ' || comment[at - 1] == '\t';
        std::string_view rest = comment.substr(at + key.size());
        if (!begins || rest.empty() || rest[0] != '=') continue;
        rest.remove_prefix(1);
        if (!rest.empty() && rest[0] == '"') return rest.substr(1, rest.substr(1).find('"'));
        return rest.substr(0, rest.find_first_of(" \t"));
    }
    return {};
}

void read_box(std::string_view comment, const Where& where, XyzBox& box) {
    std::string_view lattice = value_of(comment, "Lattice"), pbc = value_of(comment, "pbc");
    if (lattice.empty()) return;
    for (double& number : box.vectors) {
        const std::string_view word = next_word(lattice);
        if (const NumberError error = parse_double(word, number); error != NumberError::none)
            throw Error(ErrorKind::bad_format, "Lattice is not nine numbers", where);
    }
    for (bool& repeats : box.repeats) {
        const std::string_view word = next_word(pbc);
        if (!word.empty() && word != "T" && word != "F" && word != "1" && word != "0")
            throw Error(ErrorKind::bad_format, "pbc is not three of T and F", where);
        repeats = word.empty() || word == "T" || word == "1";
    }
}

/// Reads past so many frames.
void skip_frames(LineReader& lines, std::uint64_t count, std::string_view name) {
    const auto where = [&] { return Where{.file = std::string(name), .line = lines.number()}; };
    for (std::uint64_t frame = 0; frame < count; ++frame) {
        std::string_view content;
        const auto next_content = [&] {
            do {
                if (!lines.next())
                    throw Error(ErrorKind::bad_value, "the file has only " + std::to_string(frame) + " whole frames",
                                where());
                content = trimmed(lines.line());
                if (lines.number() == 1 && content.substr(0, 3) == "\xEF\xBB\xBF") content.remove_prefix(3);
            } while (content.empty() || content[0] == '#');
        };
        next_content();
        const std::int64_t atoms = integer_or_throw(content, where());
        if (atoms < 0) throw Error(ErrorKind::bad_format, "the number of points is negative", where());
        (void)lines.next();
        for (std::int64_t k = 0; k < atoms; ++k) next_content();
    }
}

}  // namespace

Table parse_xyz(std::span<const std::byte> file, std::string_view name, std::optional<std::uint64_t> frame,
                XyzBox* box) {
    LineReader lines(as_text(file));
    if (frame) skip_frames(lines, *frame, name);
    Table table;
    table.names = {"x", "y", "z"};
    std::optional<std::uint64_t> expected;
    std::optional<std::size_t> skipped;
    std::uint64_t rows = 0;
    const auto where = [&] { return Where{.file = std::string(name), .line = lines.number()}; };

    while (lines.next()) {
        std::string_view rest = lines.line();
        if (lines.number() == 1 && rest.substr(0, 3) == "\xEF\xBB\xBF") rest.remove_prefix(3);
        const std::string_view content = trimmed(rest);
        if (content.empty() || content[0] == '#') continue;
        if (!skipped && !expected && content.find_first_of(" \t") == content.npos) {
            const std::int64_t count = integer_or_throw(content, where());
            if (count < 0) throw Error(ErrorKind::bad_format, "the number of points is negative", where());
            expected = static_cast<std::uint64_t>(count);
            // Five characters are the shortest line: an absurd count fails here and not after an allocation.
            if (*expected > lines.rest().size() / 5 + 1)
                throw Error(ErrorKind::bad_format, "more points than the file can hold", where());
            if (lines.next()) {
                skipped = position_field(lines.line(), where());
                if (box) read_box(lines.line(), where(), *box);
            }
            continue;
        }
        if (expected && rows == *expected) {
            if (frame) break;
            throw Error(ErrorKind::unsupported,
                        "more lines than the count says: of a file with several frames one has to be chosen", where());
        }
        if (!skipped) {
            std::string_view line = content;
            double value = 0;
            skipped = parse_double(next_word(line), value) == NumberError::not_a_number ? 1u : 0u;
        }
        rest = content;
        for (std::size_t k = 0; k < *skipped; ++k) (void)next_word(rest);
        if (table.bytes.size() < (rows + 1) * 3 * sizeof(double))
            table.bytes.resize_keep((rows + rows / 2 + 1) * 3 * sizeof(double));
        double* out = reinterpret_cast<double*>(table.bytes.data()) + rows * 3;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::string_view word = next_word(rest);
            if (const NumberError error = parse_double(word, out[k]); error != NumberError::none) {
                Where place = where();
                place.index = rows;
                place.column = k;
                throw_number_error(error, word, place);
            }
        }
        if (table.segments.empty() || table.segments.back().line + (rows - table.segments.back().row) != lines.number())
            table.segments.push_back({rows, lines.number()});
        ++rows;
    }
    if (frame && !expected) throw Error(ErrorKind::bad_value, "there is no frame " + std::to_string(*frame), where());
    if (expected && rows < *expected)
        throw Error(ErrorKind::bad_format,
                    "truncated: " + std::to_string(rows) + " of " + std::to_string(*expected) + " points", where());
    table.shape = {rows, 3};
    table.bytes.resize_keep(rows * 3 * sizeof(double));
    return table;
}

Table read_xyz(const std::string& path, std::optional<std::uint64_t> frame, XyzBox* box) {
    const MappedFile file(path);
    return parse_xyz(file.bytes(), path, frame, box);
}

}  // namespace quadrat::io
