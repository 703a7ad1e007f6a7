// What bad data gets. Every failure that the caller's data can cause is one exception type that says what is wrong and
// where: the position in the array, or the file with its line or byte, and the field. Programmers' mistakes are
// assertions instead.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quadrat {

enum class ErrorKind {
    bad_value,     ///< NaN, infinity where it makes no sense, hi < lo, a radius that is not positive
    bad_shape,     ///< wrong number of columns, mixed dimensions, arrays of different length
    bad_format,    ///< a file that is truncated, malformed or hostile
    unsupported,   ///< a file or request that is legal but not handled
    cannot_read,   ///< a missing or unreadable file
    cannot_write,  ///< an output that cannot be created or written in full
    stale_id,      ///< an id that was erased or never given
    duplicate,     ///< an entry that must be unique appears twice
    too_large,     ///< a result or structure that would exceed max_bytes or what an index can address
    stopped,       ///< the caller's stop token asked to end
};

/// Where in the caller's data the error is. Rows and columns of arrays count from 0, lines of text files from 1, bytes
/// from 0.
struct Where {
    std::string file = {};                     ///< empty when the data came from memory
    std::optional<std::uint64_t> index = {};   ///< position in an array; the row of a file
    std::optional<std::uint64_t> column = {};  ///< column of an array or field number of a text line
    std::optional<std::uint64_t> line = {};    ///< line of a text file
    std::optional<std::uint64_t> byte = {};    ///< offset in a binary file
    std::string field = {};                    ///< name of an option, header entry or property
};

class Error : public std::runtime_error {
  public:
    Error(ErrorKind kind, std::string message, Where where = {});

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const Where& where() const noexcept { return where_; }
    /// What is wrong, without the place; what() is "place: message", for example "boxes.npy: row 17, column 3: NaN".
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

    /// The same error, placed in a file; keeps the file it already has.
    [[nodiscard]] Error in_file(std::string_view file) const;

  private:
    ErrorKind kind_;
    std::string message_;
    Where where_;
};

}  // namespace quadrat
