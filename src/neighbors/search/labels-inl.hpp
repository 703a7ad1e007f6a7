// Labels in vector code, for files that are compiled once per Highway target (base/simd.hpp): include it after
// hwy/highway.h and before HWY_BEFORE_NAMESPACE. A label is an index of 32 bits in memory, and as wide as a coordinate
// in a register and in scratch.
#include "base/compress-inl.hpp"

#if defined(QUADRAT_NEIGHBORS_LABELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef QUADRAT_NEIGHBORS_LABELS_INL
#undef QUADRAT_NEIGHBORS_LABELS_INL
#else
#define QUADRAT_NEIGHBORS_LABELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::neighbors::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using LabelTag = hn::RebindToUnsigned<Tag<T>>;

template <class T>
using Packer = base::HWY_NAMESPACE::Packer<Tag<T>>;

/// Labels of positions j.. as wide as T.
template <class T>
HWY_INLINE hn::Vec<LabelTag<T>> labels_at(const std::uint32_t* label, std::size_t j) {
    const LabelTag<T> du;
    if constexpr (sizeof(T) == 4) {
        return label ? hn::LoadU(du, label + j) : hn::Iota(du, static_cast<std::uint32_t>(j));
    } else {
        const hn::Rebind<std::uint32_t, Tag<T>> d32;
        return label ? hn::PromoteTo(du, hn::LoadU(d32, label + j)) : hn::Iota(du, static_cast<std::uint64_t>(j));
    }
}

template <class T>
HWY_INLINE void store_labels(hn::Vec<LabelTag<T>> v, std::uint32_t* out) {
    const LabelTag<T> du;
    if constexpr (sizeof(T) == 4) {
        hn::StoreU(v, du, out);
    } else {
        const hn::Rebind<std::uint32_t, Tag<T>> d32;
        hn::StoreU(hn::TruncateTo(d32, v), d32, out);
    }
}

}  // namespace quadrat::neighbors::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
