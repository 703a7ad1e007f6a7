#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/stream_copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include "base/stream_copy.hpp"

#include "base/assert.hpp"

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace quadrat::base::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void StreamedCopy(void* to, const void* from, std::size_t bytes) {
#if HWY_TARGET == HWY_SCALAR
    std::memcpy(to, from, bytes);
#else
    const hn::ScalableTag<std::uint64_t> d;
    auto* t = static_cast<std::uint64_t*>(to);
    const auto* f = static_cast<const std::uint64_t*>(from);
    for (std::size_t i = 0; i < bytes / 8; i += hn::Lanes(d)) hn::Stream(hn::Load(d, f + i), d, t + i);
#endif
}

}  // namespace quadrat::base::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::base {

HWY_EXPORT(StreamedCopy);

void stream_copy(void* to, const void* from, std::size_t bytes) {
    QUADRAT_ASSERT(bytes % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0);
    HWY_DYNAMIC_DISPATCH(StreamedCopy)(to, from, bytes);
}
void stream_fence() {
    hwy::FlushStream();
}

}  // namespace quadrat::base
#endif
