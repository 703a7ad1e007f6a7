#include "voxels/index/batch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "voxels/index/batch.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quadrat::voxels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

constexpr std::size_t block = 32;  // lookups per stage; a multiple of every vector's lanes
constexpr std::uint32_t absent = no_place;
using U = hn::ScalableTag<std::uint32_t>;
using Lanes = hn::Vec<U>;

struct Block {
    alignas(64) std::uint32_t local[3][block], bucket[block], slot[block], inside[block], word[block];
    std::size_t begin, count;
};

// x mod d for x < 2^22: the quotient by a float reciprocal is off by at most one.
struct Modulus {
    std::uint32_t divisor;
    float reciprocal;

    explicit Modulus(std::uint32_t d) : divisor(d), reciprocal(1.0f / static_cast<float>(d)) {}
    HWY_INLINE Lanes operator()(Lanes x) const {
        const U u;
        const hn::RebindToSigned<U> i;
        const hn::RebindToFloat<U> f;
        const auto quotient = hn::ConvertTo(i, hn::Mul(hn::ConvertTo(f, hn::BitCast(i, x)), hn::Set(f, reciprocal)));
        const auto d = hn::Set(u, divisor);
        auto rest = hn::Sub(x, hn::Mul(hn::BitCast(u, quotient), d));
        rest = hn::Min(rest, hn::Add(rest, d));
        return hn::Min(rest, hn::Sub(rest, d));
    }
};

template <int D>
HWY_INLINE void load(const std::int32_t* p, Lanes (&c)[D]) {
    const U u;
    const auto* q = reinterpret_cast<const std::uint32_t*>(p);
    if constexpr (D == 2)
        hn::LoadInterleaved2(u, q, c[0], c[1]);
    else
        hn::LoadInterleaved3(u, q, c[0], c[1], c[2]);
}

// Stage 1: positions to buckets.
template <int D>
HWY_INLINE void to_buckets(const BatchIndex& x, const Modulus (&r)[3], const std::int32_t* p, Block& b) {
    const U u;
    std::int32_t padded[block * D];
    const std::int32_t* source = p + b.begin * D;
    if (b.count < block) {
        std::fill_n(padded, block * D, 0);
        std::copy_n(source, b.count * D, padded);
        source = padded;
    }
    for (std::size_t i = 0; i < block; i += hn::Lanes(u)) {
        Lanes c[D];
        load<D>(source + i * D, c);
        auto in = hn::Eq(hn::Zero(u), hn::Zero(u));
        for (int a = 0; a < D; ++a) {
            c[a] = hn::Sub(c[a], hn::Set(u, x.origin[a]));
            in = hn::And(in, hn::Lt(c[a], hn::Set(u, x.extent[a])));
        }
        Lanes bucket = hn::Zero(u);
        for (int a = D - 1; a >= 0; --a) {
            c[a] = hn::IfThenElseZero(in, c[a]);
            hn::Store(c[a], u, b.local[a] + i);
            if (x.brick_shift != 0)
                c[a] = hn::ShiftRightSame(hn::Add(c[a], hn::Set(u, x.phase[a])), static_cast<int>(x.brick_shift));
            bucket = hn::Add(hn::Mul(bucket, hn::Set(u, x.offset_size[a])), r[a](c[a]));
        }
        hn::Store(bucket, u, b.bucket + i);
        hn::Store(hn::VecFromMask(u, in), u, b.inside + i);
    }
    for (std::size_t i = 0; i < b.count; ++i) __builtin_prefetch(x.offsets + std::size_t{b.bucket[i]} * D);
}

// Stage 2: buckets to slots.
template <int D>
HWY_INLINE void to_slots(const BatchIndex& x, const Modulus (&m)[3], Block& b) {
    const U u;
    for (std::size_t i = 0; i < block; ++i) std::memcpy(b.word + i, x.offsets + std::size_t{b.bucket[i]} * D, 4);
    for (std::size_t i = 0; i < block; i += hn::Lanes(u)) {
        const auto word = hn::Load(u, b.word + i);
        Lanes slot = hn::Zero(u);
        for (int a = D - 1; a >= 0; --a) {
            auto c = hn::Load(u, b.local[a] + i);
            if (x.brick_shift != 0)
                c = hn::ShiftRightSame(hn::Add(c, hn::Set(u, x.phase[a])), static_cast<int>(x.brick_shift));
            const auto phi = hn::And(hn::ShiftRightSame(word, 8 * a), hn::Set(u, 255));
            const auto moved = hn::Add(c, hn::Mul(phi, hn::Set(u, x.scale[a])));
            slot = hn::Add(hn::Mul(slot, hn::Set(u, x.table_size[a])), m[a](moved));
        }
        hn::Store(slot, u, b.slot + i);
    }
    if (x.check == BatchIndex::Check::bricks) {
        for (std::size_t i = 0; i < b.count; ++i)
            __builtin_prefetch(x.bricks.bytes + std::size_t{b.slot[i]} * x.bricks.stride);
        return;
    }
    if (x.check == BatchIndex::Check::tags)
        for (std::size_t i = 0; i < b.count; ++i)
            __builtin_prefetch(x.tags.bytes + (std::uint64_t{b.slot[i]} * x.tags.bits >> 3));
    if (x.data)
        for (std::size_t i = 0; i < b.count; ++i) __builtin_prefetch(x.data + b.slot[i] * x.data_bytes);
}

// Stage 3: what is really there.
template <int D>
HWY_INLINE void to_places(const BatchIndex& x, const Block& b, std::uint32_t* out) {
    out += b.begin;
    if (x.check == BatchIndex::Check::none) {
        for (std::size_t i = 0; i < b.count; ++i) out[i] = b.slot[i] | ~b.inside[i];
        return;
    }
    if (x.check == BatchIndex::Check::tags) {
        for (std::size_t i = 0; i < b.count; ++i)
            out[i] = (x.tags.same(b.slot[i], b.bucket[i]) ? b.slot[i] : absent) | ~b.inside[i];
        return;
    }
    const std::uint32_t low = (1u << x.brick_shift) - 1;
    for (std::size_t i = 0; i < b.count; ++i) {
        std::uint32_t bit = 0;
        for (int a = D - 1; a >= 0; --a) bit = bit << x.brick_shift | ((b.local[a][i] + x.phase[a]) & low);
        out[i] = x.bricks.find(b.slot[i], b.bucket[i], bit) | ~b.inside[i];
        if (x.data && out[i] != absent) __builtin_prefetch(x.data + out[i] * x.data_bytes);
    }
}

template <int D>
HWY_INLINE void find_all(const BatchIndex& x, const std::int32_t* p, std::size_t n, std::uint32_t* out) {
    const Modulus r[3] = {Modulus(x.offset_size[0]), Modulus(x.offset_size[1]), Modulus(x.offset_size[2])};
    const Modulus m[3] = {Modulus(x.table_size[0]), Modulus(x.table_size[1]), Modulus(x.table_size[2])};
    Block ring[3];
    const std::size_t blocks = (n + block - 1) / block;
    for (std::size_t step = 0; step < blocks + 2; ++step) {
        if (step < blocks) {
            Block& b = ring[step % 3];
            b.begin = step * block;
            b.count = std::min(block, n - b.begin);
            to_buckets<D>(x, r, p, b);
        }
        if (step >= 1 && step - 1 < blocks) to_slots<D>(x, m, ring[(step - 1) % 3]);
        if (step >= 2) to_places<D>(x, ring[(step - 2) % 3], out);
    }
}

}  // namespace

void find_batch_2(const BatchIndex& x, const std::int32_t* p, std::size_t n, std::uint32_t* out) {
    find_all<2>(x, p, n, out);
}
void find_batch_3(const BatchIndex& x, const std::int32_t* p, std::size_t n, std::uint32_t* out) {
    find_all<3>(x, p, n, out);
}

}  // namespace quadrat::voxels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::voxels {

HWY_EXPORT(find_batch_2);
HWY_EXPORT(find_batch_3);

template <>
void find_batch<2>(const BatchIndex& index, const std::int32_t* p, std::size_t n, std::uint32_t* out) {
    HWY_DYNAMIC_DISPATCH(find_batch_2)(index, p, n, out);
}
template <>
void find_batch<3>(const BatchIndex& index, const std::int32_t* p, std::size_t n, std::uint32_t* out) {
    HWY_DYNAMIC_DISPATCH(find_batch_3)(index, p, n, out);
}

}  // namespace quadrat::voxels
#endif
