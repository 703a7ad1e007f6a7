// The entries of a box: by rows, by bricks, by lookups of all its positions, or by a walk over everything, whichever
// looks at the least.
#include <quadrat/voxels/voxel_index.hpp>

#include "voxels/hash/domain.hpp"
#include "voxels/index/index_state.hpp"

#include <algorithm>

namespace quadrat {
namespace {

template <int D>
using Local = std::array<std::uint32_t, D>;

// The part of a box that lies in the domain; false if there is none.
template <int D>
bool clip(const VoxelIndex<D>& index, const Voxel<D>& low, const Voxel<D>& high, Local<D>& first, Local<D>& last) {
    for (std::size_t a = 0; a < D; ++a) {
        const auto k = static_cast<int>(a);
        const std::int64_t o = index.origin()[k];
        const std::int64_t lo = std::max<std::int64_t>(low[k] - o, 0);
        const std::int64_t hi = std::min<std::int64_t>(high[k] - o, std::int64_t{index.extent()[a]} - 1);
        if (lo > hi) return false;
        first[a] = static_cast<std::uint32_t>(lo);
        last[a] = static_cast<std::uint32_t>(hi);
    }
    return true;
}

}  // namespace

template <int D>
std::vector<typename VoxelIndex<D>::Entry> VoxelIndex<D>::sorted_in(const Voxel<D>& low, const Voxel<D>& high) const {
    if (!exact())
        throw Error(ErrorKind::unsupported, "constrained voxels do not store where they are", {.field = "encoding"});
    std::vector<Entry> out;
    Local first, last;
    if (entries_ == 0 || !clip<D>(*this, low, high, first, last)) return out;
    const auto add = [&](const Local& local, std::uint32_t place) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a)
            p[a] =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(origin_[a]) + local[static_cast<std::size_t>(a)]);
        if (place < values_) out.emplace_back(p, place);
    };
    std::uint64_t cells = 1;
    for (std::size_t a = 0; a < D; ++a) cells *= last[a] - first[a] + std::uint64_t{1};
    std::visit(
        [&](const auto& x) {
            if constexpr (requires { x.bricks_in(first, last); }) {
                if (x.bricks_in(first, last) < x.hash.slots()) return x.visit_box(first, last, add);
            } else if constexpr (requires { x.visit_box(first, last, add); }) {
                return x.visit_box(first, last, add);
            } else if (cells < values_) {
                voxels::for_each_row<D>(first, last, [&](Local at) {
                    for (; at[0] <= last[0]; ++at[0])
                        if (const std::uint32_t k = x.find(at); k != absent) add(at, k);
                });
                return;
            }
            x.visit([&](const Local& local, std::uint32_t place) {
                bool in = true;
                for (std::size_t a = 0; a < D; ++a) in &= local[a] >= first[a] && local[a] <= last[a];
                if (in) add(local, place);
            });
        },
        state_->encoding);
    std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
        return a.first == b.first ? a.second < b.second : voxels::by_z_y_x<D>(a.first, b.first);
    });
    return out;
}

template std::vector<VoxelIndex<2>::Entry> VoxelIndex<2>::sorted_in(const Voxel<2>&, const Voxel<2>&) const;
template std::vector<VoxelIndex<3>::Entry> VoxelIndex<3>::sorted_in(const Voxel<3>&, const Voxel<3>&) const;

}  // namespace quadrat
