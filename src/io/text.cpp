#include "io/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace quadrat::io {

NumberError parse_double(std::string_view word, double& value) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+') word.remove_prefix(1);
    const char* end = word.data() + word.size();
    const std::from_chars_result result = std::from_chars(word.data(), end, value);
    if (result.ec == std::errc::invalid_argument || result.ptr != end) return NumberError::not_a_number;
    if (result.ec == std::errc::result_out_of_range) {
        // from_chars does not say which end of the range it was; strtod does, and rounds correctly too.
        const std::string copy(word);
        value = std::strtod(copy.c_str(), nullptr);
        if (std::isinf(value)) return NumberError::out_of_range;
    }
    return NumberError::none;
}

NumberError parse_integer(std::string_view word, std::int64_t& value) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    const char* end = word.data() + word.size();
    const std::from_chars_result result = std::from_chars(word.data(), end, value);
    if (result.ec == std::errc::invalid_argument || result.ptr != end) return NumberError::not_a_number;
    return result.ec == std::errc() ? NumberError::none : NumberError::out_of_range;
}

void throw_number_error(NumberError error, std::string_view word, const Where& where) {
    if (word.empty()) throw Error(ErrorKind::bad_format, "a number is missing", where);
    if (error == NumberError::out_of_range) throw Error(ErrorKind::bad_value, quoted(word) + " is out of range", where);
    throw Error(ErrorKind::bad_format, quoted(word) + " is not a number", where);
}

double double_or_throw(std::string_view word, const Where& where) {
    double value = 0;
    if (const NumberError error = parse_double(word, value); error != NumberError::none)
        throw_number_error(error, word, where);
    return value;
}

std::int64_t integer_or_throw(std::string_view word, const Where& where) {
    std::int64_t value = 0;
    if (const NumberError error = parse_integer(word, value); error != NumberError::none)
        throw_number_error(error, word, where);
    return value;
}

std::string quoted(std::string_view word) {
    constexpr std::size_t longest = 40;
    std::string text = "'";
    for (const char c : word.substr(0, longest)) text += c >= ' ' && c <= '~' ? c : '?';
    return text + (word.size() > longest ? "...'" : "'");
}

}  // namespace quadrat::io
