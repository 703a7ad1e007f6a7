// What an index and its copies share.
#pragma once

#include "voxels/index/encodings.hpp"

namespace quadrat::voxels {

template <int D>
struct IndexState {
    IndexParts<D> parts;
    PerfectHash<D> hash;
    AnyEncoding<D> encoding;
};

}  // namespace quadrat::voxels
