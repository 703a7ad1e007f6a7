#include "scene_io/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace quadrat::scene_io {
namespace {

// A value as an error shows it: short, on one line.
std::string shown(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array of " + std::to_string(value.size());
    std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

// How many letters two names differ by, for "did you mean".
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

// A key as a part of a path (RFC 6901), free of control characters.
std::string token(const std::string& key) {
    std::string text;
    for (const char c : key) {
        if (c == '~')
            text += "~0";
        else if (c == '/')
            text += "~1";
        else
            text += c < 32 || c > 126 ? '?' : c;
    }
    return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

void JsonCursor::fail(const std::string& message) const {
    throw Error(ErrorKind::bad_value, message, {.field = path_.empty() ? "/" : path_});
}

void JsonCursor::expected(const std::string& what) const {
    fail("expected " + what + ", found " + shown(*value_));
}

double JsonCursor::number(Range range) const {
    const double x = value_->is_number() ? value_->get<double>() : std::nan("");
    if (const char* what = simulation::expected_instead(x, range, simulation::Given::by_file)) expected(what);
    return x;
}

std::uint64_t JsonCursor::count(std::uint64_t least, std::uint64_t most) const {
    const bool fits =
        value_->is_number_unsigned() && value_->get<std::uint64_t>() >= least && value_->get<std::uint64_t>() <= most;
    if (!fits) expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return value_->get<std::uint64_t>();
}

bool JsonCursor::yes() const {
    if (!value_->is_boolean()) expected("true or false");
    return value_->get<bool>();
}

std::string JsonCursor::text() const {
    if (!value_->is_string()) expected("a text");
    return value_->get<std::string>();
}

Vec3d JsonCursor::vector(Range range) const {
    const std::size_t size = value_->is_array() ? value_->size() : 0;
    if (size != 3 && !(dimension_ == 2 && size == 2))
        expected(dimension_ == 2 ? "an array of 2 numbers" : "an array of 3 numbers");
    Vec3d v = {{0, 0, 0}};
    for (std::size_t k = 0; k < size; ++k)
        v[static_cast<int>(k)] =
            inside((*value_)[k], std::to_string(k)).number(k == 2 && dimension_ == 2 ? Range::any : range);
    if (dimension_ == 2 && v[2] != 0) inside((*value_)[2], "2").expected("0 in two dimensions");
    return v;
}

std::size_t JsonCursor::choice(std::span<const char* const> names) const {
    QUADRAT_ASSERT(!names.empty());
    std::string all;
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (value_->is_string() && value_->get<std::string>() == names[k]) return k;
        all += std::string(k == 0 ? "" : k + 1 == names.size() ? " or " : ", ") + names[k];
    }
    expected(all);
}

std::vector<JsonCursor> JsonCursor::list() const {
    if (!value_->is_array()) expected("an array");
    std::vector<JsonCursor> result;
    for (std::size_t k = 0; k < value_->size(); ++k) result.push_back(inside((*value_)[k], std::to_string(k)));
    return result;
}

JsonObject::JsonObject(const JsonCursor& at) : at_(at) {
    if (!at.value().is_object()) at.expected("an object");
}

std::optional<JsonCursor> JsonObject::find(const char* key) {
    known_.emplace_back(key);
    const auto found = at_.value().find(key);
    if (found == at_.value().end()) return std::nullopt;
    return at_.inside(*found, key);
}

JsonCursor JsonObject::need(const char* key) {
    if (auto found = find(key)) return *found;
    throw Error(ErrorKind::bad_value, "missing", {.field = at_.path() + "/" + key});
}

void JsonObject::end() const {
    for (const auto& [key, value] : at_.value().items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        std::string all;
        const std::string* nearest = nullptr;
        for (const std::string& name : known_) {
            all += (all.empty() ? "" : ", ") + name;
            if (distance(key, name) <= 2 && (!nearest || distance(key, name) < distance(key, *nearest)))
                nearest = &name;
        }
        throw Error(ErrorKind::bad_value,
                    nearest ? "unknown key; did you mean " + *nearest + "?" : "unknown key; expected one of " + all,
                    {.field = at_.path() + "/" + token(key)});
    }
}

}  // namespace quadrat::scene_io
