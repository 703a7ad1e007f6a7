// How an object is named in structures in which objects come and go.
#pragma once

#include <cstdint>

namespace quadrat {

/// Names an object of a structure in which objects come and go. Null when zero-initialised. It means nothing to another
/// structure. The id of an object that was erased stays stale when its slot is used again, because the generation is
/// another one: contains() says false and edits throw Error{stale_id}. A structure gives none twice, until the 32 bits
/// of its generations are used up after some 2^32 insertions.
///
///     const quadrat::Id id = grid.insert(box);
///     grid.erase(id);
///     grid.contains(id);   // false from now on
struct Id {
    /// What Pair holds: the number of the object while it is there, used again afterwards. Default: 0.
    std::uint32_t slot = 0;
    /// Which of the objects that had this slot it is. Default: 0, which means null.
    std::uint32_t generation = 0;

    /// The same slot and generation.
    friend constexpr bool operator==(const Id&, const Id&) = default;
};

}  // namespace quadrat
