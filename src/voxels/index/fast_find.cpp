#include <quadrat/voxels/detail/fast_find.hpp>

#include "base/assert.hpp"

namespace quadrat::voxels {

template <int D>
FastFind<D> FastFind<D>::slots(const PerfectHash<D>& hash, const PackedTags& tags) {
    FastFind f(hash.origin(), hash.extent());
    f.tags_ = tags;
    f.hash_ = hash;
    if (hash.tabled()) {
        f.way_ = Way::tables;
        f.box_ = DomainBox<D>(hash.origin(), hash.extent(), hash.table_starts());
    }
    if constexpr (D == 3 && NarrowHash::available)
        if (NarrowHash::fits(hash)) {
            f.way_ = Way::lanes;
            f.narrow_ = NarrowHash(hash);
        }
    return f;
}

template <int D>
FastFind<D> FastFind<D>::bricks(const Voxel<D>& origin, const Local& extent, const Local& phase,
                                const PerfectHash<D>& hash, const BrickRecords& records) {
    QUADRAT_ASSERT(records.bytes != nullptr && records.stride > BrickRecords::fixed_bytes);
    FastFind f;
    f.way_ = Way::bricks;
    f.box_ = DomainBox<D>(origin, extent, phase);
    f.bricks_ = records;
    f.hash_ = hash;
    return f;
}

template class FastFind<2>;
template class FastFind<3>;

}  // namespace quadrat::voxels
