#include <quadrat/error.hpp>

#include <utility>

namespace quadrat {
namespace {

void append_part(std::string& text, std::string_view separator, std::string_view name, std::uint64_t value) {
    if (!text.empty()) text += separator;
    text += name;
    text += ' ';
    text += std::to_string(value);
}

std::string describe(const std::string& message, const Where& where) {
    std::string place;
    if (where.line) append_part(place, ", ", "line", *where.line);
    if (where.index) append_part(place, ", ", where.file.empty() ? "index" : "row", *where.index);
    if (where.column) append_part(place, ", ", "column", *where.column);
    if (where.byte) append_part(place, ", ", "byte", *where.byte);
    if (!where.field.empty()) {
        if (!place.empty()) place += ", ";
        place += where.field;
    }
    std::string text = where.file;
    if (!place.empty()) text += (text.empty() ? "" : ": ") + place;
    return text.empty() ? message : text + ": " + message;
}

}  // namespace

Error::Error(ErrorKind kind, std::string message, Where where)
    : std::runtime_error(describe(message, where)),
      kind_(kind),
      message_(std::move(message)),
      where_(std::move(where)) {}

Error Error::in_file(std::string_view file) const {
    Where where = where_;
    if (where.file.empty()) where.file = file;
    return Error(kind_, message_, std::move(where));
}

}  // namespace quadrat
