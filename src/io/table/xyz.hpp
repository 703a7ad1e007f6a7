// Point files: the atoms of chemistry (a count, a comment, then "element x y z" lines) and plain lists of "x y z".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/files.hpp"
#include "io/table/table.hpp"

namespace quadrat::io {

/// The box of a frame in the extended form.
struct XyzBox {
    double vectors[9] = {};  ///< Lattice="ax ay az bx by bz cx cy cz"; zeros if there is none
    bool repeats[3] = {};    ///< pbc="T T F"; all with a Lattice and no pbc
};

/// (N, 3) positions in double. What a line holds besides the element and the position is not kept. In the extended
/// form, "Properties=" in the comment says where the position stands.
///
/// frame: which one, from 0 on; without it a second frame is an error.
/// box: gets the box of the frame, if it is not null.
[[nodiscard]] Table parse_xyz(std::span<const std::byte> file, std::string_view name,
                              std::optional<std::uint64_t> frame = {}, XyzBox* box = nullptr);
[[nodiscard]] Table read_xyz(const std::string& path, std::optional<std::uint64_t> frame = {}, XyzBox* box = nullptr);

}  // namespace quadrat::io
