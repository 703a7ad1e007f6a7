// Rays through voxels, first from block to block and then from cell to cell (Amanatides & Woo 1987; the head of the
// public header says where this departs from it).
#include <quadrat/error.hpp>
#include <quadrat/voxels/rays.hpp>

#include "base/assert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace quadrat {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// A walk over the cells of a box of cells with edges of `size`, from where a ray enters it. Cell c covers
// [c size, (c + 1) size], coordinates counted from the corner of the domain.
template <int D>
class CellWalk {
  public:
    /// From `t` on, within cells [first, last].
    CellWalk(const VoxelRay<D>& ray, double size, double t, const std::array<std::int64_t, D>& first,
             const std::array<std::int64_t, D>& last)
        : ray_(ray), size_(size), t_(t), first_(first), last_(last) {
        for (std::size_t a = 0; a < D; ++a) {
            QUADRAT_ASSERT(first[a] <= last[a]);
            const double x = at(a, t) / size;
            // On a face that it leaves downwards, the cell below is the one that it passes. Rounding may put a point
            // just beyond the box.
            const double low = std::floor(x) - (x == std::floor(x) && direction(a) < 0);
            cell_[a] =
                static_cast<std::int64_t>(std::clamp(low, static_cast<double>(first[a]), static_cast<double>(last[a])));
            next_[a] = face(a);
        }
    }

    [[nodiscard]] const std::array<std::int64_t, D>& cell() const { return cell_; }
    [[nodiscard]] double enter() const { return t_; }
    [[nodiscard]] double leave() const { return std::max(t_, *std::min_element(next_.begin(), next_.end())); }
    /// To the next cell; false if that is outside.
    [[nodiscard]] bool step() {
        const auto a = static_cast<std::size_t>(std::min_element(next_.begin(), next_.end()) - next_.begin());
        if (next_[a] == never) return false;
        t_ = std::max(t_, next_[a]);
        cell_[a] += direction(a) > 0 ? 1 : -1;
        next_[a] = face(a);
        return cell_[a] >= first_[a] && cell_[a] <= last_[a];
    }

  private:
    [[nodiscard]] double direction(std::size_t a) const { return ray_.direction[static_cast<int>(a)]; }
    [[nodiscard]] double at(std::size_t a, double t) const {
        return ray_.origin[static_cast<int>(a)] + t * direction(a);
    }
    // Where the ray leaves the cell on an axis.
    [[nodiscard]] double face(std::size_t a) const {
        if (direction(a) == 0) return never;
        const double x = static_cast<double>(cell_[a] + (direction(a) > 0)) * size_;
        return (x - ray_.origin[static_cast<int>(a)]) / direction(a);
    }

    const VoxelRay<D>& ray_;
    double size_, t_;
    std::array<std::int64_t, D> first_, last_, cell_;
    std::array<double, D> next_;
};

template <int D>
void check(const VoxelRay<D>& ray) {
    bool finite = !std::isnan(ray.t_end), moves = false;
    for (int a = 0; a < D; ++a) {
        finite &= std::isfinite(ray.origin[a]) && std::isfinite(ray.direction[a]);
        moves |= ray.direction[a] != 0;
    }
    if (!finite || !moves)
        throw Error(ErrorKind::bad_value, finite ? "a ray without a direction" : "a ray that is not finite",
                    {.field = "ray"});
}

// The part of the ray within [0, size] on each axis; false if there is none.
template <int D>
bool clip(const VoxelRay<D>& ray, const std::array<double, D>& size, double& begin, double& end) {
    for (std::size_t a = 0; a < D; ++a) {
        const double o = ray.origin[static_cast<int>(a)], d = ray.direction[static_cast<int>(a)];
        if (d == 0) {
            if (!(o >= 0 && o <= size[a])) return false;
            continue;
        }
        const double t0 = (0 - o) / d, t1 = (size[a] - o) / d;
        begin = std::max(begin, std::min(t0, t1));
        end = std::min(end, std::max(t0, t1));
    }
    return begin <= end;
}

}  // namespace

template <int D>
VoxelRays<D>::VoxelRays(VoxelIndex<D> index) : index_(std::move(index)) {
    if (index_.entries() == 0) return;
    const std::uint64_t most = 2 * std::uint64_t{index_.entries()} + 64;
    std::uint64_t cells = most + 1;
    for (shift_ = 1; cells > most;) {
        ++shift_;
        cells = 1;
        for (std::size_t a = 0; a < D; ++a) {
            blocks_[a] = ((index_.extent()[a] - 1) >> shift_) + 1;
            cells *= blocks_[a];
        }
    }
    bits_.assign((cells + 63) / 64, 0);
    index_.for_each([&](const Voxel<D>& p, std::uint32_t) {
        std::uint64_t k = 0;
        for (std::size_t a = D; a-- > 0;) {
            const auto x = static_cast<std::uint32_t>(p[static_cast<int>(a)]) -
                           static_cast<std::uint32_t>(index_.origin()[static_cast<int>(a)]);
            k = k * blocks_[a] + (x >> shift_);
        }
        bits_[k >> 6] |= std::uint64_t{1} << (k & 63);
    });
}

template <int D>
void VoxelRays<D>::run(const VoxelRay<D>& given, bool (*visit)(const RayHit<D>&, void*), void* to) const {
    check(given);
    if (index_.entries() == 0) return;
    // From the lower corner of the first voxel's cube.
    VoxelRay<D> ray = given;
    std::array<double, D> size;
    std::array<std::int64_t, D> none{}, last_block;
    for (std::size_t a = 0; a < D; ++a) {
        const auto k = static_cast<int>(a);
        ray.origin[k] -= static_cast<double>(index_.origin()[k]) - 0.5;
        size[a] = index_.extent()[a];
        last_block[a] = static_cast<std::int64_t>(blocks_[a]) - 1;
    }
    double begin = 0, end = given.t_end;
    if (!clip<D>(ray, size, begin, end)) return;
    CellWalk<D> blocks(ray, static_cast<double>(block()), begin, none, last_block);
    do {
        if (blocks.enter() > end) return;
        if (!holds_any(blocks.cell())) continue;
        std::array<std::int64_t, D> first, last;
        for (std::size_t a = 0; a < D; ++a) {
            first[a] = blocks.cell()[a] << shift_;
            last[a] = std::min<std::int64_t>(first[a] + block(), index_.extent()[a]) - 1;
        }
        CellWalk<D> cells(ray, 1, blocks.enter(), first, last);
        do {
            if (cells.enter() > end) return;
            Voxel<D> p;
            for (int a = 0; a < D; ++a)
                p[a] = static_cast<std::int32_t>(index_.origin()[a] + cells.cell()[static_cast<std::size_t>(a)]);
            const std::uint32_t place = index_.find(p);
            if (place == VoxelIndex<D>::absent) continue;
            if (!visit({p, place, cells.enter(), std::min(cells.leave(), end)}, to)) return;
        } while (cells.step());
    } while (blocks.step());
}

template class VoxelRays<2>;
template class VoxelRays<3>;

}  // namespace quadrat
