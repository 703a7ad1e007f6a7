// Packing of lanes against a loop, for every mask and every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/compress_simd_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/compress-inl.hpp"
#include "base/simd.hpp"

#include <gtest/gtest.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace quadrat::base::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void CheckAll() {}  // one lane: nobody packs
#else
template <class T>
void Check() {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (unsigned bits = 0; bits<1u << lanes; bits += lanes> 8 ? 37 : 1) {
        HWY_ALIGN T on[HWY_MAX_BYTES / sizeof(T)], from[HWY_MAX_BYTES / sizeof(T)], to[HWY_MAX_BYTES / sizeof(T)];
        for (std::size_t k = 0; k < lanes; ++k) on[k] = T(bits >> k & 1), from[k] = static_cast<T>(100 + k);
        const auto mask = hn::Eq(hn::Load(d, on), hn::Set(d, T(1)));
        const Packer<decltype(d)> packer(mask);
        for (const auto packed : {packer(d, hn::Load(d, from)), compress(d, hn::Load(d, from), mask)}) {
            hn::Store(packed, d, to);
            std::size_t count = 0;
            for (std::size_t k = 0; k < lanes; ++k)
                if (bits >> k & 1) ASSERT_EQ(to[count++], from[k]) << hwy::TargetName(HWY_TARGET) << " " << bits;
        }
    }
}
void CheckAll() {
    Check<std::uint32_t>();
    Check<float>();
    Check<std::uint64_t>();
    Check<double>();
}
#endif

}  // namespace
}  // namespace quadrat::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::base {
namespace {

HWY_EXPORT(CheckAll);

TEST(Compress, PacksLikeALoopOnEveryTarget) {
    for_each_simd_target([] { HWY_DYNAMIC_DISPATCH(CheckAll)(); });
}

}  // namespace
}  // namespace quadrat::base
#endif
