// Files as the readers and writers use them. A file is read through a mapping (base/mapped_file.hpp), so that a large
// one is streamed by the system and never copied; it is written under a temporary name in the same directory and
// renamed when complete, so that nobody ever sees half of it.
#pragma once

#include "base/mapped_file.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::io {

using base::MappedFile;

/// An output that appears under its name only when commit() returns. Without commit, the destructor removes the
/// temporary file; a signal handler can do the same for all of them with remove_unfinished_files().
class AtomicFile {
  public:
    /// Creates the temporary file. Throws cannot_write.
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(AtomicFile&& other) noexcept;
    AtomicFile& operator=(AtomicFile&&) = delete;

    void write(const void* data, std::size_t size);
    void write(std::string_view text) { write(text.data(), text.size()); }

    /// Writes everything to disk and gives the file its name, in place of any older file.
    void commit();

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    [[noreturn]] void fail() const;
    void flush(const char* data, std::size_t size);
    void discard() noexcept;

    std::string path_;
    std::string target_;
    std::string temporary_;  ///< empty for a device or pipe, which is written directly
    int file_ = -1;
    int slot_ = -1;
    std::vector<char> buffer_;
};

/// Removes the temporary files of every AtomicFile that is not committed. Safe in a signal handler that ends the
/// process.
void remove_unfinished_files() noexcept;

/// The ending of a file name in lower case, with its dot: ".npy". Empty when there is none.
[[nodiscard]] std::string ending(std::string_view path);

}  // namespace quadrat::io
