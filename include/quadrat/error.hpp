// What bad data gets. Every failure that the caller's data can cause is one exception type that says what is wrong and
// where: the position in the array, or the file with its line or byte, and the field. Programmers' mistakes are
// assertions instead, live in every build type but Release.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadrat {

/// What went wrong, for a program to decide on. The contracts of the library name them as Error{bad_value} or, where
/// it is clear, as bad_value alone.
enum class ErrorKind {
    /// NaN, infinity where it makes no sense, hi < lo, a radius that is not positive, an option out of its range.
    bad_value,
    /// A wrong number of columns, mixed dimensions, arrays of different length.
    bad_shape,
    /// A file that is truncated, malformed or hostile.
    bad_format,
    /// A file or request that is legal but not handled.
    unsupported,
    /// A missing or unreadable file.
    cannot_read,
    /// An output that cannot be created or written in full.
    cannot_write,
    /// An id or index of something that was erased or never there.
    stale_id,
    /// An entry that must be unique appears twice.
    duplicate,
    /// A result or structure that would exceed max_bytes or what an index can address.
    too_large,
    /// The caller's stop token asked to end (Watch).
    stopped,
};

/// Where in the caller's data the error is. Rows and columns of arrays count from 0, lines of text files from 1, bytes
/// from 0. What is not known, or makes no sense, is empty.
struct Where {
    /// The name of the file as it was given. Default: empty, the data came from memory.
    std::string file = {};
    /// Position in an array, or the row of a file.
    std::optional<std::uint64_t> index = {};
    /// Column of an array or field number of a text line. Boxes are rows of 2 D columns: lo of each axis, then hi.
    std::optional<std::uint64_t> column = {};
    /// Line of a text file.
    std::optional<std::uint64_t> line = {};
    /// Offset in a binary file.
    std::optional<std::uint64_t> byte = {};
    /// Name of an option, argument, header entry or property. Default: empty.
    std::string field = {};
};

/// The one exception of the library. Calls that throw it leave structures as they were, unless their contract says
/// otherwise.
///
///     try {
///         hash.build(boxes);
///     } catch (const quadrat::Error& e) {
///         if (e.kind() == quadrat::ErrorKind::bad_value && e.where().index) drop(*e.where().index);
///     }
class Error : public std::runtime_error {
  public:
    /// what() becomes "place: message", or the message alone where the place is empty.
    Error(ErrorKind kind, std::string message, Where where = {});

    /// What went wrong.
    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    /// Where it is.
    [[nodiscard]] const Where& where() const noexcept { return where_; }
    /// What is wrong, without the place; what() is "place: message", for example "boxes.npy: row 17, column 3: NaN".
    /// For people: the words may change.
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

    /// The same error, placed in a file, for readers that see memory only; keeps the file it already has.
    [[nodiscard]] Error in_file(std::string_view file) const;

  private:
    ErrorKind kind_;
    std::string message_;
    Where where_;
};

}  // namespace quadrat
