#include "io/table/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "io/text.hpp"

namespace quadrat::io {
namespace {

char separator_of(std::string_view line) {
    for (const char c : {',', ';', '\t'})
        if (line.find(c) != line.npos) return c;
    return ' ';
}

std::string_view unquoted(std::string_view field) {
    field = trimmed(field);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    return trimmed(field);
}

// Where the next separator outside quotes is.
std::size_t end_of_field(std::string_view line, char separator) {
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == separator && !quoted) return i;
    }
    return line.npos;
}

// Looks like a value, or like a missing one, and not like the name of a column.
bool like_a_value(std::string_view field) {
    if (field.empty() || std::string_view("0123456789+-.").find(field[0]) != field.npos) return true;
    std::string word(field);
    for (char& c : word)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return word == "na" || word == "n/a" || word == "nan" || word == "null" || word == "none" || word == "inf" ||
           word == "infinity";
}

// Fields as the separator cuts them; runs of blanks count as one separator when it is a space.
std::vector<std::string_view> split(std::string_view line, char separator) {
    std::vector<std::string_view> fields;
    if (separator == ' ') {
        for (std::string_view word = next_word(line); !word.empty(); word = next_word(line))
            fields.push_back(unquoted(word));
        return fields;
    }
    for (;;) {
        const std::size_t end = end_of_field(line, separator);
        fields.push_back(unquoted(line.substr(0, end)));
        if (end == line.npos) return fields;
        line.remove_prefix(end + 1);
    }
}

class CsvParser {
  public:
    CsvParser(std::string_view text, std::string_view name) : lines_(text), name_(name) {}

    Table parse() {
        while (lines_.next()) {
            std::string_view line = lines_.line();
            if (lines_.number() == 1 && line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
            const std::string_view content = trimmed(line);
            if (content.empty() || content[0] == '#') continue;
            if (columns_ == 0 && first_line(content)) continue;
            row(separator_ == '\t' ? line : content);
        }
        table_.shape = {rows_, columns_};
        table_.bytes.resize_keep(values_ * sizeof(double));
        return std::move(table_);
    }

  private:
    // Fixes separator and column count; true if the line is a header.
    bool first_line(std::string_view line) {
        separator_ = separator_of(line);
        const std::vector<std::string_view> fields = split(line, separator_);
        columns_ = fields.size();
        if (std::all_of(fields.begin(), fields.end(), like_a_value)) return false;
        double value = 0;
        for (const std::string_view field : fields)
            if (parse_double(field, value) != NumberError::not_a_number) return false;
        table_.names.assign(fields.begin(), fields.end());
        return true;
    }

    void row(std::string_view line) {
        if (table_.bytes.size() < (values_ + columns_) * sizeof(double))
            table_.bytes.resize_keep((values_ * 3 / 2 + columns_) * sizeof(double));
        double* out = reinterpret_cast<double*>(table_.bytes.data()) + values_;
        if (!fast_row(line, out)) slow_row(line, out);
        if (table_.segments.empty() ||
            table_.segments.back().line + (rows_ - table_.segments.back().row) != lines_.number())
            table_.segments.push_back({rows_, lines_.number()});
        ++rows_;
        values_ += columns_;
    }

    // The common case in one pass: plain numbers, the right count. False means: look closer.
    bool fast_row(std::string_view line, double* out) const {
        const char* at = line.data();
        const char* const end = at + line.size();
        for (std::size_t k = 0; k < columns_; ++k) {
            while (at < end && *at == ' ') ++at;
            const std::from_chars_result result = std::from_chars(at, end, out[k]);
            if (result.ec != std::errc()) return false;
            at = result.ptr;
            if (k + 1 == columns_) return at == end;
            if (at == end || (*at != separator_ && *at != ' ')) return false;
            while (separator_ != ' ' && at < end && *at == ' ') ++at;
            if (at == end || *at != separator_) return false;
            ++at;
        }
        return false;
    }

    void slow_row(std::string_view line, double* out) const {
        const std::vector<std::string_view> fields = split(line, separator_);
        Where where{.file = std::string(name_), .index = rows_, .line = lines_.number()};
        for (std::size_t k = 0; k < columns_ && k < fields.size(); ++k) {
            where.column = k;
            out[k] = double_or_throw(fields[k], where);
        }
        if (fields.size() != columns_) {
            where.column.reset();
            throw Error(
                ErrorKind::bad_shape,
                std::to_string(fields.size()) + " columns, but the lines before have " + std::to_string(columns_),
                where);
        }
    }

    LineReader lines_;
    std::string_view name_;
    Table table_;
    char separator_ = ',';
    std::size_t columns_ = 0;
    std::size_t rows_ = 0;
    std::size_t values_ = 0;
};

}  // namespace

Table parse_csv(std::span<const std::byte> file, std::string_view name) {
    return CsvParser(as_text(file), name).parse();
}

Table read_csv(const std::string& path) {
    const MappedFile file(path);
    return parse_csv(file.bytes(), path);
}

void write_csv(AtomicFile& file, const TableView& table) {
    if (is_narrow(table.type)) return write_csv(file, widened(table).view());
    const std::uint64_t rows = table.shape.empty() ? 1 : table.shape[0];
    const std::uint64_t columns = rows ? table.size() / rows : 0;
    with_scalar(table.type, [&]<class T>(T) {
        const T* value = static_cast<const T*>(table.data);
        char text[40];
        for (std::uint64_t r = 0; r < rows; ++r)
            for (std::uint64_t c = 0; c < columns; ++c) {
                char* end = std::to_chars(text, text + sizeof text - 1, *value++).ptr;
                *end++ = c + 1 < columns ? ',' : '\n';
                file.write(text, static_cast<std::size_t>(end - text));
            }
    });
}

void write_csv(const std::string& path, const TableView& table) {
    AtomicFile file(path);
    write_csv(file, table);
    file.commit();
}

}  // namespace quadrat::io
