// Rays through sparse voxels, without a look at most of the empty space: one bit for each block of the bounding box
// says whether anything is stored there, and empty blocks are passed in one step. Blocks are so large that their bits
// are few beside the index: two for each entry, whatever the domain.
//
// Steps go from face to face (Amanatides & Woo, A fast voxel traversal algorithm for ray tracing, 1987), first over
// blocks, then over the cells of those that hold something. Where a face is met is computed from its number each time,
// not by adding steps up, so that long rays do not drift.
#pragma once

#include <quadrat/voxels/voxel_index.hpp>

#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace quadrat {

/// A half line through a grid: the points origin + t * direction with t from 0 on, in the unit of the grid.
template <int D>
struct VoxelRay {
    /// Where it begins. Finite.
    Vec<D, double> origin = {};
    /// Where it goes, of any length but 0. Finite.
    Vec<D, double> direction = {};
    /// It ends there, in units of `direction`. Default: no end.
    double t_end = std::numeric_limits<double>::infinity();
};

/// A stored voxel on a ray: the cube of edge 1 around the position p.
template <int D>
struct RayHit {
    /// The position, and the place of its value as VoxelIndex::find gives it.
    Voxel<D> p = {};
    std::uint32_t place = VoxelIndex<D>::absent;
    /// Where the ray enters the cube and leaves it, in units of `direction`; enter is at least 0, and leave at most
    /// t_end.
    double enter = 0, leave = 0;
};

/// Marches rays through an index. Take it for many rays: making it is one walk over the index.
///
///     const quadrat::VoxelRays<3> rays(voxels.index());
///     quadrat::RayHit<3> hit;
///     if (rays.first({eye, direction}, hit)) shade(voxels.values()[hit.place]);
///
/// Thread safety: it does not change after it was made, and all calls may run concurrently. Shares the tables of the
/// index.
template <int D>
class VoxelRays {
  public:
    /// Hits nothing.
    VoxelRays() = default;
    /// Makes the bits by one walk over the index: O(n) time for keys, bricks and the voxel layout with tags, and the
    /// number of positions in the bounding box for the others; two bits of memory for each entry.
    ///
    /// index: a copy is kept, which shares its tables; values are not needed. Not constrained, or Error{unsupported}.
    explicit VoxelRays(VoxelIndex<D> index);

    /// Calls fn(hit) for every stored voxel whose cube the ray passes, in the order in which it enters them, until fn
    /// returns false. A ray along a face or an edge passes one of the cubes there. On the calling thread; O(cells of
    /// blocks that hold something, and blocks), of those that the ray passes within the bounding box.
    ///
    /// ray: finite and with a direction, or Error{bad_value}. Its t_end may be infinite; one below 0 hits nothing.
    /// fn: gives bool, or nothing. What it throws ends the march.
    template <class Fn>
    void march(const VoxelRay<D>& ray, Fn&& fn) const {
        run(
            ray,
            [](const RayHit<D>& hit, void* to) {
                auto& call = *static_cast<std::remove_reference_t<Fn>*>(to);
                if constexpr (std::is_void_v<decltype(call(hit))>) {
                    call(hit);
                    return true;
                } else {
                    return static_cast<bool>(call(hit));
                }
            },
            const_cast<void*>(static_cast<const void*>(std::addressof(fn))));
    }
    /// The first voxel on the ray: true, and `hit` is it. False, and `hit` unchanged, if there is none. Costs what
    /// march() does up to there.
    ///
    /// ray: as for march().
    [[nodiscard]] bool first(const VoxelRay<D>& ray, RayHit<D>& hit) const {
        bool found = false;
        march(ray, [&](const RayHit<D>& h) {
            hit = h;
            found = true;
            return false;
        });
        return found;
    }
    /// Cells on the edge of a block: a power of two from 4 on, the smallest that asks for no more than two bits for
    /// each entry and 64. Without entries 1.
    [[nodiscard]] std::uint32_t block() const { return 1u << shift_; }
    /// Bytes of the bits that say which blocks hold something; the index, which is shared, is not counted.
    [[nodiscard]] std::size_t bytes() const { return bits_.size() * 8; }

  private:
    void run(const VoxelRay<D>& ray, bool (*visit)(const RayHit<D>&, void*), void* to) const;
    [[nodiscard]] bool holds_any(const std::array<std::int64_t, D>& block) const {
        std::uint64_t k = 0;
        for (std::size_t a = D; a-- > 0;) k = k * blocks_[a] + static_cast<std::uint64_t>(block[a]);
        return (bits_[k >> 6] >> (k & 63) & 1) != 0;
    }

    VoxelIndex<D> index_;
    std::uint32_t shift_ = 0;
    std::array<std::uint64_t, D> blocks_ = {};
    std::vector<std::uint64_t> bits_;
};

extern template class VoxelRays<2>;
extern template class VoxelRays<3>;

}  // namespace quadrat
