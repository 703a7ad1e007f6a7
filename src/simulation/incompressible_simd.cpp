// The pair loops of the incompressible solver, eight neighbours at a time. All particles have one volume and one
// support.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simulation/incompressible_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simulation/pack-inl.hpp"
#include "simulation/pair_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

template <class Kernel>
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
            float* const to = p.block_gradient + 24 * block;
            store(gx, to), store(gy, to + 8), store(gz, to + 16);
            for (std::size_t k = 0; k < 8; ++k) p.block_index[8 * block + k] = index[k];
            ++block;
            x = x + gx;
            y = y + gy;
            z = z + gz;
            squares = squares + slope * slope * r_sq;
        });
        float* const out = p.out + 4 * i;
        out[0] = sum(x), out[1] = sum(y), out[2] = sum(z), out[3] = sum(squares);
    }
}

/// Squared lengths of a block of gradients.
HWY_INLINE Pack squares(const float* g) {
    const Pack x = load(g), y = load(g + 8), z = load(g + 16);
    return x * x + y * y + z * z;
}

void PushRows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const Pack own = set(p.records[i]);
        Pack x = set(0.0f), y = x, z = x;
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            const Pack both = own + gather1(p.records, p.block_index + 8 * block);
            const float* const g = p.block_gradient + 24 * block;
            x = x + both * load(g);
            y = y + both * load(g + 8);
            z = z + both * load(g + 16);
        }
        float* const out = p.out + 3 * i;
        out[0] = sum(x), out[1] = sum(y), out[2] = sum(z);
    }
}

void DivergenceRows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const float* const home = p.records + 4 * i;
        const Pack u = set(home[0]), v = set(home[1]), w = set(home[2]);
        Pack rate = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            Pack other[4];
            gather4(p.records, p.block_index + 8 * block, other);
            const float* const g = p.block_gradient + 24 * block;
            rate = rate + ((u - other[0]) * load(g) + (v - other[1]) * load(g + 8) + (w - other[2]) * load(g + 16));
        }
        p.out[i] = sum(rate);
    }
}

void LengthRows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        Pack lengths = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block)
            lengths = lengths + sqrt(squares(p.block_gradient + 24 * block));
        p.out[i] = sum(lengths);
    }
}

void TieRows(const PairLoop& p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const Pack own = set(p.records[4 * i]);
        Pack all = set(0.0f);
        for (std::size_t block = p.block_begin[i]; block < p.block_begin[i + 1]; ++block) {
            Pack other[4];
            gather4(p.records, p.block_index + 8 * block, other);
            const Pack g_sq = squares(p.block_gradient + 24 * block);
            const Pack lighter = max(other[0] - own, set(0.0f));
            all = all + (other[0] * g_sq + lighter * other[1] * sqrt(g_sq));
        }
        p.out[i] = sum(all);
    }
}

void GradientRows(const PairLoop& p, std::size_t begin, std::size_t end) {
    p.cubic ? gradient_rows<CubicSpline>(p, begin, end) : gradient_rows<Wendland>(p, begin, end);
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::simulation {

HWY_EXPORT(GradientRows);
HWY_EXPORT(PushRows);
HWY_EXPORT(DivergenceRows);
HWY_EXPORT(LengthRows);
HWY_EXPORT(TieRows);

void gradient_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(GradientRows)(p, begin, end);
}
void push_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(PushRows)(p, begin, end);
}
void divergence_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(DivergenceRows)(p, begin, end);
}
void length_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(LengthRows)(p, begin, end);
}
void tie_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    HWY_DYNAMIC_DISPATCH(TieRows)(p, begin, end);
}

}  // namespace quadrat::simulation
#endif
