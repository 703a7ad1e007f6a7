// The pair loops of one fluid with one support, eight neighbours at a time: densities gather a record of four floats
// per neighbour, forces one of eight. The formulas are those of fluid.cpp; a test holds both against each other, and
// all SIMD targets against one another.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simulation/fluid/fluid_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simulation/fluid/pack-inl.hpp"
#include "simulation/fluid/pair_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

template <class Kernel, bool kPeriodic>
void density_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    const Pack inverse = set(1 / p.support);
    for (std::size_t i = begin; i < end; ++i) {
        const float* const own = p.records + 4 * i;
        const Pack x = set(own[0]), y = set(own[1]), z = set(own[2]);
        Pack total = set(0.0f);
        const std::span<const std::uint32_t> row = (*p.near)[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            Pack other[4];
            gather4(p.records, index, other);
            Pack dx = x - other[0], dy = y - other[1], dz = z - other[2];
            if constexpr (kPeriodic) {
                dx = nearest_image(dx, p.period[0]);
                dy = nearest_image(dy, p.period[1]);
                dz = nearest_image(dz, p.period[2]);
            }
            total = total + Kernel::value(sqrt(dx * dx + dy * dy + dz * dz) * inverse);
        });
        // The lanes that filled up the last block each counted the particle itself once, W(0) = 1.
        const auto filled = static_cast<float>((8 - row.size() % 8) % 8);
        p.out[i] = sum(total) - filled + 1;
    }
}

// Of a pair whose phases may differ: the factor of artificial viscosity, and cohesion along d.
struct Nature {
    Pack damping, cohesion;
};

HWY_INLINE Nature nature_of(const PairLoop& p, const float* own, const Pack& q, const std::uint32_t* index) {
    Pack other[4];
    gather4(p.natures, index, other);
    const Pack density = set(own[1]), one = set(1.0f), zero = set(0.0f);
    const Pack damping = set(p.damping) * (set(own[0]) + other[0]) * (density * other[1]) / (density + other[1]);
    const Pack rest = max(one - q, zero);
    const Pack hold = set(p.cohesion * own[3]) * (rest * rest) * (set(p.cohesion_turn) - q);
    const Pack apart = other[2] - set(own[2]);
    return {damping, if_less(apart * apart, set(0.25f), hold, zero)};
}

template <class Kernel, bool kPeriodic, bool kMixed>
void force_rows(const PairLoop& p, std::size_t begin, std::size_t end) {
    const Pack inverse = set(1 / p.support), soft = set(p.soft), damping = set(p.damping);
    const Pack zero = set(0.0f);
    for (std::size_t i = begin; i < end; ++i) {
        const float* const own = p.records + 8 * i;
        Pack home[8];
        for (int f = 0; f < 8; ++f) home[f] = set(own[f]);
        Pack fx = zero, fy = zero, fz = zero;
        const std::span<const std::uint32_t> row = (*p.near)[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            Pack other[8];
            gather8(p.records, index, other);
            Pack dx = home[0] - other[0], dy = home[1] - other[1], dz = home[2] - other[2];
            if constexpr (kPeriodic) {
                dx = nearest_image(dx, p.period[0]);
                dy = nearest_image(dy, p.period[1]);
                dz = nearest_image(dz, p.period[2]);
            }
            const Pack r_sq = dx * dx + dy * dy + dz * dz;
            const Pack q = sqrt(r_sq) * inverse;
            const Pack slope = Kernel::slope(q);
            const Pack approach = (home[3] - other[3]) * dx + (home[4] - other[4]) * dy + (home[5] - other[5]) * dz;
            Pack along;
            if constexpr (kMixed) {
                const Nature n = nature_of(p, p.natures + 4 * i, q, index);
                const Pack friction = n.damping * min(approach, zero) * (home[7] * other[7]) / (r_sq + soft);
                along = (friction - (home[6] + other[6])) * slope + n.cohesion;
            } else {
                const Pack friction = damping * min(approach, zero) * (home[7] * other[7]) / (r_sq + soft);
                along = (friction - (home[6] + other[6])) * slope;
            }
            fx = fx + along * dx;
            fy = fy + along * dy;
            fz = fz + along * dz;
        });
        p.out[3 * i] = sum(fx);
        p.out[3 * i + 1] = sum(fy);
        p.out[3 * i + 2] = sum(fz);
    }
}

template <class Kernel, bool kPeriodic>
void force_rows_of(const PairLoop& p, std::size_t begin, std::size_t end) {
    if (p.natures)
        force_rows<Kernel, kPeriodic, true>(p, begin, end);
    else
        force_rows<Kernel, kPeriodic, false>(p, begin, end);
}

template <class Kernel, bool kPeriodic>
constexpr DensityLoops loops_of_density = {density_rows<Kernel, kPeriodic>, force_rows_of<Kernel, kPeriodic>};

const DensityLoops& DensityLoopsOf(bool cubic, bool periodic) {
    return for_kernel(cubic, periodic, []<class Kernel, bool kPeriodic>() -> const DensityLoops& {
        return loops_of_density<Kernel, kPeriodic>;
    });
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::simulation {

HWY_EXPORT(DensityLoopsOf);

const DensityLoops& density_loops(bool cubic, bool periodic) {
    return HWY_DYNAMIC_DISPATCH(DensityLoopsOf)(cubic, periodic);
}

}  // namespace quadrat::simulation
#endif
