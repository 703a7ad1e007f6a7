// The vector code of the neighbour search: cull candidates against the box of a group of homes, compare, pack. Every
// loop is free of branches but its own end; packing is a compressing permute followed by a full store that the next one
// overwrites. The order of a row is the order of storage, whatever the width of a vector.
#include "neighbors/search/kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/search/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "neighbors/search/labels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int D, class T, bool kLabels>
std::size_t cull(const Group<T>& g, const Part<T>& p, std::size_t at) {
    QUADRAT_ASSERT(g.scratch && (p.range_count == 0 || p.ranges));
    const Tag<T> d;
    const LabelTag<T> du;
    const std::size_t lanes = hn::Lanes(d);
    const T* const x = p.storage[0];
    const T* const y = p.storage[1];
    const T* const z = D == 3 ? p.storage[2] : nullptr;
    T* const to_x = g.scratch->c[0] + at;
    T* const to_y = g.scratch->c[1] + at;
    T* const to_z = g.scratch->c[2] + at;
    auto* const to_label = g.scratch->label.data() + at;
    const auto x_lo = hn::Set(d, p.lo[0]), x_hi = hn::Set(d, p.hi[0]);
    const auto y_lo = hn::Set(d, p.lo[1]), y_hi = hn::Set(d, p.hi[1]);
    const auto z_lo = hn::Set(d, D == 3 ? p.lo[2] : T(0)), z_hi = hn::Set(d, D == 3 ? p.hi[2] : T(0));
    const auto limit = hn::Set(d, p.cull_sq);
    // One loop over all blocks is easier to predict than nine short ones. Most ranges are one or two blocks long.
    Range* const blocks = g.scratch->blocks.data();
    std::size_t block_count = 0;
    const auto width = static_cast<std::uint32_t>(lanes);
    for (std::size_t k = 0; k < p.range_count; ++k) {
        const std::uint32_t begin = p.ranges[k].begin, end = p.ranges[k].end;
        blocks[block_count] = {begin, end};
        blocks[block_count + 1] = {begin + width, end};
        blocks[block_count + 2] = {begin + 2 * width, end};
        const std::uint32_t count = (end - begin + width - 1) / width;
        if (HWY_UNLIKELY(count > 3))
            for (std::uint32_t b = 3; b < count; ++b) blocks[block_count + b] = {begin + b * width, end};
        block_count += count;
    }
    std::size_t n = 0;
    const auto keep = [&](std::size_t j, auto&& limited) HWY_ATTR {
        const auto px = hn::LoadU(d, x + j);
        const auto py = hn::LoadU(d, y + j);
        const auto dx = hn::Sub(px, hn::Min(hn::Max(px, x_lo), x_hi));
        const auto dy = hn::Sub(py, hn::Min(hn::Max(py, y_lo), y_hi));
        auto sum = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
        auto pz = px;
        if constexpr (D == 3) {
            pz = hn::LoadU(d, z + j);
            const auto dz = hn::Sub(pz, hn::Min(hn::Max(pz, z_lo), z_hi));
            sum = hn::Add(sum, hn::Mul(dz, dz));
        }
        const auto near = limited(hn::Le(sum, limit));
        const Packer<T> pack(near);
        hn::StoreU(pack(d, px), d, to_x + n);
        hn::StoreU(pack(d, py), d, to_y + n);
        if constexpr (D == 3) hn::StoreU(pack(d, pz), d, to_z + n);
        if constexpr (kLabels) hn::StoreU(pack(du, labels_at<T>(p.label, j)), du, to_label + n);
        n += hn::CountTrue(d, near);
    };
    if (HWY_LIKELY(p.open_ended)) {
        for (std::size_t b = 0; b < block_count; ++b) keep(blocks[b].begin, [](auto near) HWY_ATTR { return near; });
    } else {
        for (std::size_t b = 0; b < block_count; ++b) {
            const auto inside = hn::FirstN(d, blocks[b].end - blocks[b].begin);
            keep(blocks[b].begin, [&](auto near) HWY_ATTR { return hn::And(near, inside); });
        }
    }
    // What a vector reads past the last candidate is near nobody.
    hn::StoreU(hn::NaN(d), d, to_x + n);
    return n;
}

template <int D, class T, bool kHalf, bool kStore>
void test(Group<T>& g, std::size_t candidates, std::uint32_t* out) {
    QUADRAT_ASSERT(g.size <= max_group && candidates <= g.scratch->capacity && (!kStore || out));
    const Tag<T> d;
    const LabelTag<T> du;
    using Label = hn::TFromD<LabelTag<T>>;
    const std::size_t lanes = hn::Lanes(d);
    const T* const x = g.scratch->c[0];
    const T* const y = g.scratch->c[1];
    const T* const z = g.scratch->c[2];
    const auto* const label = g.scratch->label.data();
    for (unsigned a = 0; a < g.size; ++a) {
        const auto hx = hn::Set(d, g.home[0][a]);
        const auto hy = hn::Set(d, g.home[1][a]);
        const auto hz = hn::Set(d, D == 3 ? g.home[2][a] : T(0));
        const auto limit = hn::Set(d, g.radius_sq[a]);
        const auto self = hn::Set(du, static_cast<Label>(g.self[a]));
        const auto near_at = [&](std::size_t j) HWY_ATTR {
            const auto dx = hn::Sub(hx, hn::LoadU(d, x + j));
            const auto dy = hn::Sub(hy, hn::LoadU(d, y + j));
            auto sum = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
            if constexpr (D == 3) {
                const auto dz = hn::Sub(hz, hn::LoadU(d, z + j));
                sum = hn::Add(sum, hn::Mul(dz, dz));
            }
            return hn::Le(sum, limit);
        };
        std::uint32_t* const begin = out;
        std::size_t count = 0;
        if constexpr (kStore) {
            __builtin_prefetch(out + write_ahead, 1);
            __builtin_prefetch(out + write_ahead + 16, 1);
        }
        const auto emit = [&](std::size_t j, auto near) HWY_ATTR {
            if constexpr (kStore) {
                store_labels<T>(Packer<T>(near)(du, hn::LoadU(du, label + j)), out);
                out += hn::CountTrue(d, near);
            } else {
                count += hn::CountTrue(d, near);
            }
        };
        if constexpr (kHalf) {
            // The homes are the first candidates: leave out those up to and including this one.
            std::size_t j = (a + 1) / lanes * lanes;
            if (j < candidates) {
                emit(j, hn::AndNot(hn::FirstN(d, a + 1 - j), near_at(j)));
                for (j += lanes; j < candidates; j += lanes) emit(j, near_at(j));
            }
        } else if constexpr (!kStore) {
            for (std::size_t j = 0; j < candidates; j += lanes) emit(j, near_at(j));
        } else {
            for (std::size_t j = 0; j < candidates; j += lanes)
                emit(j, hn::And(near_at(j), hn::RebindMask(d, hn::Ne(hn::LoadU(du, label + j), self))));
        }
        g.count[a] = static_cast<std::uint32_t>(kStore ? static_cast<std::size_t>(out - begin) : count);
    }
}

template <int D, class T>
void measure(Group<T>& g, std::size_t candidates, T* distances_sq, std::uint32_t* labels) {
    QUADRAT_ASSERT(g.size <= max_group && candidates <= g.scratch->capacity);
    const Tag<T> d;
    const LabelTag<T> du;
    using Label = hn::TFromD<LabelTag<T>>;
    const std::size_t lanes = hn::Lanes(d);
    const auto* const label = g.scratch->label.data();
    for (unsigned a = 0; a < g.size; ++a) {
        const auto hx = hn::Set(d, g.home[0][a]);
        const auto hy = hn::Set(d, g.home[1][a]);
        const auto hz = hn::Set(d, D == 3 ? g.home[2][a] : T(0));
        const auto limit = hn::Set(d, g.radius_sq[a]);
        const auto self = hn::Set(du, static_cast<Label>(g.self[a]));
        std::uint32_t count = 0;
        for (std::size_t j = 0; j < candidates; j += lanes) {
            const auto dx = hn::Sub(hx, hn::LoadU(d, g.scratch->c[0] + j));
            const auto dy = hn::Sub(hy, hn::LoadU(d, g.scratch->c[1] + j));
            auto sum = hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy));
            if constexpr (D == 3) {
                const auto dz = hn::Sub(hz, hn::LoadU(d, g.scratch->c[2] + j));
                sum = hn::Add(sum, hn::Mul(dz, dz));
            }
            const auto other = hn::LoadU(du, label + j);
            const auto near = hn::And(hn::Le(sum, limit), hn::RebindMask(d, hn::Ne(other, self)));
            const Packer<T> pack(near);
            hn::StoreU(pack(d, sum), d, distances_sq);
            store_labels<T>(pack(du, other), labels);
            const std::size_t n = hn::CountTrue(d, near);
            distances_sq += n, labels += n, count += static_cast<std::uint32_t>(n);
        }
        g.count[a] = count;
    }
}

template <class T>
void rank(T* values, std::size_t n, std::uint32_t* ranks) {
    const Tag<T> d;
    const LabelTag<T> du;
    const std::size_t lanes = hn::Lanes(d);
    hn::StoreU(hn::Inf(d), d, values + n);
    for (std::size_t i = 0; i < n; i += lanes) {
        const auto mine = hn::LoadU(d, values + i);
        auto smaller = hn::Zero(du);
        for (std::size_t j = 0; j < n; ++j)
            smaller = hn::Sub(smaller, hn::VecFromMask(du, hn::RebindMask(du, hn::Lt(hn::Set(d, values[j]), mine))));
        store_labels<T>(smaller, ranks + i);
    }
}

const base::PerKind<Kernel>& VectorKernels() {
    static constexpr auto table = base::PerKind<Kernel>::from([]<int D, class T>() {
        return Kernel<D, T>{.cull = cull<D, T, true>,
                            .cull_unlabelled = cull<D, T, false>,
                            .full = test<D, T, false, true>,
                            .half = test<D, T, true, true>,
                            .count = test<D, T, false, false>,
                            .count_half = test<D, T, true, false>,
                            .measure = measure<D, T>,
                            .rank = rank<T>};
    });
    return table;
}

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::neighbors {

HWY_EXPORT(VectorKernels);

const base::PerKind<Kernel>& vector_kernels() {
    return HWY_DYNAMIC_DISPATCH(VectorKernels)();
}

}  // namespace quadrat::neighbors
#endif
