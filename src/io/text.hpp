// Lines, words and numbers of text files. Numbers are correctly rounded (std::from_chars) and errors name the line.
#pragma once

#include <quadrat/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quadrat::io {

[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Walks over the lines of a text; "\n", "\r\n" and a missing last line end are accepted.
class LineReader {
  public:
    explicit LineReader(std::string_view text) : rest_(text) {}

    /// Moves to the next line; false at the end.
    [[nodiscard]] bool next() {
        if (rest_.empty()) return false;
        const std::size_t end = rest_.find('\n');
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
        if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
        ++number_;
        return true;
    }

    [[nodiscard]] std::string_view line() const { return line_; }
    /// The number of the current line, from 1.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
    std::string_view line_;
    std::uint64_t number_ = 0;
};

[[nodiscard]] constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/// Takes the next word off the front of a line; empty at its end.
[[nodiscard]] inline std::string_view next_word(std::string_view& line) {
    std::size_t begin = 0;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

enum class NumberError { none, not_a_number, out_of_range };

/// The double nearest to a decimal number, "inf" or "nan"; the whole word must be one. Too small is 0 or denormal, as
/// it should be; too large is out_of_range.
[[nodiscard]] NumberError parse_double(std::string_view word, double& value);
[[nodiscard]] NumberError parse_integer(std::string_view word, std::int64_t& value);

/// The same, with an Error{bad_format} at `where` that quotes the word.
[[nodiscard]] double double_or_throw(std::string_view word, const Where& where);
[[nodiscard]] std::int64_t integer_or_throw(std::string_view word, const Where& where);
[[noreturn]] void throw_number_error(NumberError error, std::string_view word, const Where& where);

/// A word as an error message may show it: one line, printable, short.
[[nodiscard]] std::string quoted(std::string_view word);

}  // namespace quadrat::io
