// What an index and its copies share.
#pragma once

#include "voxels/index/encodings.hpp"

#include <utility>

namespace quadrat::voxels {

template <int D>
struct IndexState {
    /// The encoding X is a view of the parts and the hash that lie beside it.
    template <class X>
    IndexState(std::in_place_type_t<X> kind, IndexParts<D>&& from, const PerfectHash<D>& over)
        : parts(std::move(from)), hash(over), encoding(kind, hash, parts) {}

    IndexParts<D> parts;
    PerfectHash<D> hash;
    AnyEncoding<D> encoding;
};

}  // namespace quadrat::voxels
