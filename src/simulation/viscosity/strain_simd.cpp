// The pair loops of viscosity, eight neighbours at a time: what they sum is in strain_loops.hpp, what it is for in
// viscosity.hpp. The lanes that fill up the last block are the particle itself, whose d is 0.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simulation/viscosity/strain_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simulation/fluid/pack-inl.hpp"
#include "simulation/viscosity/strain_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

// A neighbour block as seen from a particle.
struct Seen {
    Pack d[3], flow[8], pull, tie;  // pull: V s; tie: w
};

template <class Kernel, bool kPeriodic>
HWY_INLINE Seen look(const StrainLoop& p, const float* own, const std::uint32_t* index) {
    Seen s;
    gather8(p.flow, index, s.flow);
    for (std::size_t k = 0; k < 3; ++k) {
        s.d[k] = set(own[k]) - s.flow[k];
        if constexpr (kPeriodic) s.d[k] = nearest_image(s.d[k], p.period[k]);
    }
    const Pack r_sq = s.d[0] * s.d[0] + s.d[1] * s.d[1] + s.d[2] * s.d[2];
    s.pull = s.flow[6] * (set(p.slope_scale) * Kernel::slope(sqrt(r_sq) * set(1 / p.support)));
    s.tie = set(-p.weight) * s.pull / (r_sq + set(p.soft));
    return s;
}

// d E d
HWY_INLINE Pack along(const Seen& s, const Pack* e) {
    const Pack two = set(2.0f);
    return s.d[0] * s.d[0] * e[0] + s.d[1] * s.d[1] * e[1] + s.d[2] * s.d[2] * e[2] +
           two * (s.d[0] * s.d[1] * e[3] + s.d[0] * s.d[2] * e[4] + s.d[1] * s.d[2] * e[5]);
}

template <class Kernel, bool kPeriodic>
void moment_loop(const StrainLoop& p, Moments* out, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const float* const own = p.flow + 8 * i;
        Pack sums[26];
        for (Pack& s : sums) s = set(0.0f);
        const std::span<const std::uint32_t> row = (*p.near)[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            const Seen s = look<Kernel, kPeriodic>(p, own, index);
            const Pack *d = s.d, xx = d[0] * d[0], yy = d[1] * d[1], zz = d[2] * d[2], xy = d[0] * d[1],
                       xz = d[0] * d[2], yz = d[1] * d[2];
            const Pack squares[6] = {xx, yy, zz, xy, xz, yz};
            for (int k = 0; k < 6; ++k) sums[k] = sums[k] - s.pull * squares[k];
            for (int k = 0; k < 3; ++k) sums[6 + k] = sums[6 + k] + s.pull * d[k];
            const Pack fourth[15] = {xx * xx, yy * yy, zz * zz, xx * yy, xx * zz, yy * zz, xx * xy, xx * xz,
                                     yy * xy, yy * yz, zz * xz, zz * yz, xx * yz, yy * xz, zz * xy};
            for (int k = 0; k < 15; ++k) sums[9 + k] = sums[9 + k] + s.tie * fourth[k];
            const Pack r_sq = xx + yy + zz;
            sums[24] = sums[24] + s.tie * r_sq;
            sums[25] = sums[25] + s.pull * s.pull * r_sq / max(s.flow[6], set(1e-37f));
        });
        for (int k = 0; k < 26; ++k) out[i - begin].sum[k] = sum(sums[k]);
    }
}

template <class Kernel, bool kPeriodic>
void strain_loop(const StrainLoop& p, Strains* out, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const float* const own = p.flow + 8 * i;
        Pack sums[15];
        for (Pack& s : sums) s = set(0.0f);
        const std::span<const std::uint32_t> row = (*p.near)[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            const Seen s = look<Kernel, kPeriodic>(p, own, index);
            const Pack* const d = s.d;
            const Pack du[3] = {set(own[3]) - s.flow[3], set(own[4]) - s.flow[4], set(own[5]) - s.flow[5]};
            for (int a = 0; a < 3; ++a) {
                const Pack part = s.pull * du[a];
                for (int b = 0; b < 3; ++b) sums[3 * a + b] = sums[3 * a + b] - part * d[b];
            }
            const Pack drawn = s.tie * (d[0] * du[0] + d[1] * du[1] + d[2] * du[2]);
            const Pack x = drawn * d[0], y = drawn * d[1], z = drawn * d[2];
            sums[9] = sums[9] + x * d[0];
            sums[10] = sums[10] + y * d[1];
            sums[11] = sums[11] + z * d[2];
            sums[12] = sums[12] + x * d[1];
            sums[13] = sums[13] + x * d[2];
            sums[14] = sums[14] + y * d[2];
        });
        for (int k = 0; k < 15; ++k) out[i - begin].sum[k] = sum(sums[k]);
    }
}

template <class Kernel, bool kPeriodic>
void friction_loop(const StrainLoop& p, float* out, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        const float* const own = p.flow + 8 * i;
        Pack home[6], f[3] = {set(0.0f), set(0.0f), set(0.0f)};
        for (std::size_t k = 0; k < 6; ++k) home[k] = set(p.strain[8 * i + k]);
        const Pack thick = set(own[7]);
        const std::span<const std::uint32_t> row = (*p.near)[i];
        for_blocks(row.data(), row.size(), static_cast<std::uint32_t>(i), [&](const std::uint32_t* index) HWY_ATTR {
            const Seen s = look<Kernel, kPeriodic>(p, own, index);
            Pack e[8], q[8];
            gather8(p.strain, index, e);
            gather8(p.stress, index, q);
            const Pack* const d = s.d;
            const Pack drawn =
                d[0] * (set(own[3]) - s.flow[3]) + d[1] * (set(own[4]) - s.flow[4]) + d[2] * (set(own[5]) - s.flow[5]);
            const Pack tied = s.tie * (thick * (drawn - along(s, home)) + s.flow[7] * (drawn - along(s, e)));
            const Pack x = e[6] * d[0] + e[7] * d[1] + q[0] * d[2], y = q[1] * d[0] + q[2] * d[1] + q[3] * d[2],
                       z = q[4] * d[0] + q[5] * d[1] + q[6] * d[2];
            f[0] = f[0] + (tied * d[0] - s.pull * x);
            f[1] = f[1] + (tied * d[1] - s.pull * y);
            f[2] = f[2] + (tied * d[2] - s.pull * z);
        });
        store_sums(f[0], f[1], f[2], out + 4 * (i - begin));
    }
}

template <class Kernel, bool kPeriodic>
constexpr StrainLoops loops_of_strain = {moment_loop<Kernel, kPeriodic>, strain_loop<Kernel, kPeriodic>,
                                         friction_loop<Kernel, kPeriodic>};

const StrainLoops& StrainLoopsOf(bool cubic, bool periodic) {
    return for_kernel(cubic, periodic, []<class Kernel, bool kPeriodic>() -> const StrainLoops& {
        return loops_of_strain<Kernel, kPeriodic>;
    });
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::simulation {

HWY_EXPORT(StrainLoopsOf);

const StrainLoops& strain_loops(bool cubic, bool periodic) {
    return HWY_DYNAMIC_DISPATCH(StrainLoopsOf)(cubic, periodic);
}

}  // namespace quadrat::simulation
#endif
