// The pair loops of the incompressible solver, eight neighbours at a time. All particles have one volume and one
// support.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simulation/fluid/incompressible_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simulation/fluid/pack-inl.hpp"
#include "simulation/fluid/pair_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

/// Floats of a block of gradients.
template <bool kFlat>
inline constexpr std::size_t block_floats = kFlat ? 16 : 24;

template <class Kernel, bool kFlat>
void gradient_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    const Pack inverse = set(1 / p.support);
    for (std::size_t i = begin; i < end; ++i) {
        const float* const home = p.records + 4 * i;
        Pack x = set(0.0f), y = x, z = x, squares = x;
        const std::span<const std::uint32_t> row = (*p.near)[i];
        std::size_t block = p.block_begin[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            Pack other[4];
            gather4(p.records, index, other);
            Pack dx = set(home[0]) - other[0], dy = set(home[1]) - other[1], dz = set(home[2]) - other[2];
            if (p.periodic) {
                dx = nearest_image(dx, p.period[0]);
                dy = nearest_image(dy, p.period[1]);
                dz = nearest_image(dz, p.period[2]);
            }
            const Pack r_sq = dx * dx + dy * dy + dz * dz;
            const Pack slope = Kernel::slope(sqrt(r_sq) * inverse);
            const Pack gx = slope * dx, gy = slope * dy, gz = slope * dz;
            float* const to = p.block_gradient + block_floats<kFlat> * block;
            store(gx, to), store(gy, to + 8);
            if constexpr (!kFlat) store(gz, to + 16);
            for (std::size_t k = 0; k < 8; ++k) p.block_index[8 * block + k] = index[k];
            ++block;
            x = x + gx;
            y = y + gy;
            z = z + gz;
            squares = squares + slope * slope * r_sq;
        });
        store_sums(x, y, z, p.out + 4 * i);
        p.out[4 * i + 3] = sum(squares);
    }
}

template <bool kFlat>
void push_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    const Pack zero = set(0.0f);
    for (std::size_t i = begin; i < end; ++i) {
        const Pack own = set(p.records[i]);
        Pack x = zero, y = zero, z = zero;
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            const Pack both = own + gather1(p.records, p.block_index + 8 * block);
            const float* const g = p.block_gradient + block_floats<kFlat> * block;
            x = x + both * load(g);
            y = y + both * load(g + 8);
            if constexpr (!kFlat) z = z + both * load(g + 16);
        }
        store_sums(x, y, z, p.out + 4 * i);
    }
}

template <bool kFlat>
void divergence_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const float* const home = p.records + 4 * i;
        const Pack u = set(home[0]), v = set(home[1]), w = set(home[2]);
        Pack rate = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            Pack other[4];
            gather4(p.records, p.block_index + 8 * block, other);
            const float* const g = p.block_gradient + block_floats<kFlat> * block;
            Pack all = (u - other[0]) * load(g) + (v - other[1]) * load(g + 8);
            if constexpr (!kFlat) all = all + (w - other[2]) * load(g + 16);
            rate = rate + all;
        }
        p.out[i] = sum(rate);
    }
}

/// Squared lengths of a block of gradients.
template <bool kFlat>
HWY_INLINE Pack squares(const float* g) {
    const Pack x = load(g), y = load(g + 8);
    Pack all = x * x + y * y;
    if constexpr (!kFlat) {
        const Pack z = load(g + 16);
        all = all + z * z;
    }
    return all;
}

template <bool kFlat>
void length_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        Pack lengths = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block)
            lengths = lengths + sqrt(squares<kFlat>(p.block_gradient + block_floats<kFlat> * block));
        p.out[i] = sum(lengths);
    }
}

template <bool kFlat>
void tie_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const Pack own = set(p.records[4 * i]);
        Pack all = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            Pack other[4];
            gather4(p.records, p.block_index + 8 * block, other);
            const Pack g_sq = squares<kFlat>(p.block_gradient + block_floats<kFlat> * block);
            const Pack lighter = max(other[0] - own, set(0.0f));
            all = all + (other[0] * g_sq + lighter * other[1] * sqrt(g_sq));
        }
        p.out[i] = sum(all);
    }
}

template <bool kFlat>
void gradient_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    p.cubic ? gradient_rows<CubicSpline, kFlat>(p, begin, end) : gradient_rows<Wendland, kFlat>(p, begin, end);
}

template <bool kFlat>
constexpr BlockLoops loops = {gradient_rows<kFlat>, push_rows<kFlat>, divergence_rows<kFlat>, length_rows<kFlat>,
                              tie_rows<kFlat>};

const BlockLoops& BlockLoopsOf(bool flat) {
    return flat ? loops<true> : loops<false>;
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::simulation {

HWY_EXPORT(BlockLoopsOf);

const BlockLoops& block_loops(bool flat) {
    return HWY_DYNAMIC_DISPATCH(BlockLoopsOf)(flat);
}

}  // namespace quadrat::simulation
#endif
