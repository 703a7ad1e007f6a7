// Reading JSON so that every mistake is named: a cursor knows the path of its value in the file ("/bodies/2/radius"),
// what was expected and what was found, and an object refuses the keys that nobody asked for.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/geometry.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/scene/fields.hpp"

namespace quadrat::scene_io {

using Json = nlohmann::ordered_json;

using simulation::Range;

/// One value and its path. The dimension of the scene goes from a value to those inside it.
class JsonCursor {
  public:
    JsonCursor(const Json& value, std::string path, int dimension = 3)
        : value_(&value), path_(std::move(path)), dimension_(dimension) {}
    [[nodiscard]] JsonCursor in_dimension(int dimension) const { return {*value_, path_, dimension}; }
    /// An element or member that is there.
    [[nodiscard]] JsonCursor inside(const Json& value, const std::string& name) const {
        return {value, path_ + "/" + name, dimension_};
    }

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const Json& value() const { return *value_; }
    [[nodiscard]] int dimension() const { return dimension_; }
    /// "expected <what>, found <the value>".
    [[noreturn]] void expected(const std::string& what) const;
    [[noreturn]] void fail(const std::string& message) const;

    [[nodiscard]] double number(Range range = Range::any) const;
    [[nodiscard]] std::uint64_t count(std::uint64_t least = 0, std::uint64_t most = UINT32_MAX) const;
    [[nodiscard]] bool yes() const;
    [[nodiscard]] std::string text() const;
    /// Three numbers; in two dimensions z may be left out and is then 0.
    [[nodiscard]] Vec3d vector(Range range = Range::any) const;
    /// One of the names, at least one of which there must be; gives its position.
    [[nodiscard]] std::size_t choice(std::span<const char* const> names) const;
    /// The elements of an array.
    [[nodiscard]] std::vector<JsonCursor> list() const;

  private:
    const Json* value_;
    std::string path_;
    int dimension_;
};

/// The keys of an object, each asked for at most once. end() refuses what is left.
class JsonObject {
  public:
    explicit JsonObject(const JsonCursor& at);

    /// The value under a key, or nothing.
    [[nodiscard]] std::optional<JsonCursor> find(const char* key);
    /// Throws when it is missing.
    [[nodiscard]] JsonCursor need(const char* key);

    /// Throws for the first key that nothing asked for.
    void end() const;

    [[nodiscard]] const JsonCursor& at() const { return at_; }

  private:
    JsonCursor at_;
    std::vector<std::string> known_;
};

/// A key as a part of a path (RFC 6901), short and free of control characters.
[[nodiscard]] std::string token(const std::string& key);

/// The value that a text holds, read once. Comments are allowed. Throws bad_format with the line, bad_value with the
/// path of a number that no double holds, and duplicate with that of a key that an object has twice; all name the file.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& file);

}  // namespace quadrat::scene_io
