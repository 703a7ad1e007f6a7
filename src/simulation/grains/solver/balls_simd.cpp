#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simulation/grains/solver/balls_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "simulation/fluid/pack-inl.hpp"
#include "simulation/grains/solver/balls_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace quadrat::simulation::HWY_NAMESPACE {

struct Triple {
    Pack x, y, z;
};
HWY_INLINE Triple operator+(const Triple& a, const Triple& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
HWY_INLINE Triple operator-(const Triple& a, const Triple& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
HWY_INLINE Triple operator*(const Pack& s, const Triple& a) {
    return {s * a.x, s * a.y, s * a.z};
}
HWY_INLINE Pack dot(const Triple& a, const Triple& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
HWY_INLINE Triple cross(const Triple& a, const Triple& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// The inverse of gather8, for the first `count` of eight records.
HWY_INLINE void scatter8(float* records, const std::uint32_t* index, const Pack* in, std::size_t count) {
#if HWY_MAX_BYTES >= 32
    const hn::Repartition<double, Tag> wide;
    hn::Vec<Tag> lo[4], hi[4];  // fields 0 to 3, and 4 to 7, of records k and k + 4
    for (int side = 0; side < 2; ++side) {
        hn::Vec<Tag>* const to = side == 0 ? lo : hi;
        const Pack* const f = in + 4 * side;
        const auto a = hn::BitCast(wide, hn::InterleaveLower(tag, f[0].v[0], f[1].v[0]));
        const auto b = hn::BitCast(wide, hn::InterleaveUpper(tag, f[0].v[0], f[1].v[0]));
        const auto c = hn::BitCast(wide, hn::InterleaveLower(tag, f[2].v[0], f[3].v[0]));
        const auto d = hn::BitCast(wide, hn::InterleaveUpper(tag, f[2].v[0], f[3].v[0]));
        to[0] = hn::BitCast(tag, hn::InterleaveLower(wide, a, c));
        to[1] = hn::BitCast(tag, hn::InterleaveUpper(wide, a, c));
        to[2] = hn::BitCast(tag, hn::InterleaveLower(wide, b, d));
        to[3] = hn::BitCast(tag, hn::InterleaveUpper(wide, b, d));
    }
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t r = k % 4;
        const auto record = k < 4 ? hn::ConcatLowerLower(tag, hi[r], lo[r]) : hn::ConcatUpperUpper(tag, hi[r], lo[r]);
        hn::Store(record, tag, records + 8 * std::size_t{index[k]});
    }
#else
    HWY_ALIGN float turned[8][8];
    for (std::size_t f = 0; f < 8; ++f) store(in[f], turned[f]);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t f = 0; f < 8; ++f) records[8 * std::size_t{index[k]} + f] = turned[f][k];
#endif
}

// Cuts `next` to the radius; gives how much that is more than before.
HWY_INLINE Triple more_within(Triple& before, const Triple& next, const Pack& radius) {
    const Pack size_sq = dot(next, next);
    const Pack share = if_less(radius * radius, size_sq, radius / sqrt(size_sq), set(1.0f));
    const Triple now = share * next;
    const Triple more = now - before;
    before = now;
    return more;
}

HWY_INLINE Triple load3(const float (&x)[8], const float (&y)[8], const float (&z)[8]) {
    return {load(x), load(y), load(z)};
}

template <bool kSoft>
HWY_INLINE void block(grains::BallRows& r, grains::RollRows* rolls, std::size_t count, float* velocity,
                      const float* moved, const grains::SubStep& step) {
    const Pack zero = set(0.0f);
    Pack a[8], b[8];
    const Triple n = load3(r.nx, r.ny, r.nz);
    Pack gap;
    if constexpr (kSoft) {
        gather8(moved, r.a, a);
        gather8(moved, r.b, b);
        gap = load(r.gap) + dot(n, Triple{b[0] - a[0], b[1] - a[1], b[2] - a[2]});
        store(gap, r.now);
    } else {
        gap = load(r.now);
    }
    gather8(velocity, r.a, a);
    gather8(velocity, r.b, b);
    Triple va = {a[0], a[1], a[2]}, vb = {b[0], b[1], b[2]}, wa = {a[4], a[5], a[6]}, wb = {b[4], b[5], b[6]};
    const Pack ra = load(r.ra), rb = load(r.rb), mass = load(r.mass_n), before = load(r.push);
    // Along the normal; see target() in solve.cpp.
    const Pack speed = dot(n, vb - va);
    Pack push;
    if constexpr (kSoft) {
        const Pack pull = set(step.pair.rate) * gap, fastest = set(-step.fastest_push) * if_less(rb, ra, rb, ra);
        const Pack overlap = if_less(pull, fastest, fastest, pull);
        const Pack deep = before - mass * set(step.pair.mass) * (speed + overlap) - set(step.pair.impulse) * before;
        const Pack far = before - mass * (speed + gap * set(step.per_dt));
        push = if_less(zero, gap, far, deep);
    } else {
        push = before - mass * (speed + if_less(zero, gap, gap * set(step.per_dt), zero));
    }
    push = if_less(zero, push, push, zero);
    const Pack more = push - before;
    va = va - (a[3] * more) * n;
    vb = vb + (b[3] * more) * n;
    // Along the surface.
    const Triple slip = vb - va - cross(ra * wa + rb * wb, n);
    const Triple along = slip - dot(slip, n) * n;
    Triple drag = load3(r.dx, r.dy, r.dz);
    const Triple drawn = more_within(drag, drag - load(r.mass_t) * along, load(r.friction) * push);
    const Triple torque = cross(n, drawn);
    va = va - a[3] * drawn;
    vb = vb + b[3] * drawn;
    wa = wa - (ra * a[7]) * torque;
    wb = wb - (rb * b[7]) * torque;
    if (rolls) {
        Triple turned = load3(rolls->tx, rolls->ty, rolls->tz);
        const Triple extra = more_within(turned, turned - load(rolls->mass) * (wb - wa), load(rolls->limit) * push);
        wa = wa - a[7] * extra;
        wb = wb + b[7] * extra;
        store(turned.x, rolls->tx), store(turned.y, rolls->ty), store(turned.z, rolls->tz);
    }
    store(push, r.push);
    store(drag.x, r.dx), store(drag.y, r.dy), store(drag.z, r.dz);
    const Pack out_a[8] = {va.x, va.y, va.z, a[3], wa.x, wa.y, wa.z, a[7]};
    const Pack out_b[8] = {vb.x, vb.y, vb.z, b[3], wb.x, wb.y, wb.z, b[7]};
    scatter8(velocity, r.a, out_a, count);
    scatter8(velocity, r.b, out_b, count);
}

template <bool kSoft>
void Balls(grains::BallRows* rows, grains::RollRows* rolls, std::size_t count, float* velocity, const float* moved,
           const grains::SubStep& step) {
    for (std::size_t k = 0; 8 * k < count; ++k)
        block<kSoft>(rows[k], rolls ? rolls + k : nullptr, count - 8 * k < 8 ? count - 8 * k : 8, velocity, moved,
                     step);
}

const BallLoops& BallLoopsHere() {
    static constexpr BallLoops loops = {Balls<true>, Balls<false>};
    return loops;
}

}  // namespace quadrat::simulation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::simulation {

HWY_EXPORT(BallLoopsHere);

const BallLoops& ball_loops() {
    return HWY_DYNAMIC_DISPATCH(BallLoopsHere)();
}

}  // namespace quadrat::simulation
#endif
