// The SIMD seam. A file with vector code is compiled once per Highway target and dispatched at run time; this header
// says how such a file reads, and lets tests force a target so that the scalar twin (HWY_SCALAR) of every path is
// tested too.
//
// The header of a kernel declares what it can do for a kind, and one function that gives the table of all kinds:
//
//   template <int D, class T> struct ThingKernel { std::size_t (*count)(const T*, std::size_t); };
//   [[nodiscard]] const base::PerKind<ThingKernel>& thing_kernels();          // of the best target of this processor
//   template <int D, class T> std::size_t count(const T* x, std::size_t n) { return thing_kernels().get<D,
//   T>().count(x, n); }
//
// Its source:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "cells/thing.cpp"     // this file, seen from src/
//   #include <hwy/foreach_target.h>
//   #include <hwy/highway.h>
//   HWY_BEFORE_NAMESPACE();
//   namespace quadrat::cells::HWY_NAMESPACE {
//   namespace hn = hwy::HWY_NAMESPACE;
//   template <int D, class T> std::size_t Count(const T* x, std::size_t n) { ... vector code ... }
//   const base::PerKind<ThingKernel>& ThingKernels() {
//       static constexpr auto table =
//           base::PerKind<ThingKernel>::from([]<int D, class T>() { return ThingKernel<D, T>{Count<D, T>}; });
//       return table;
//   }
//   }
//   HWY_AFTER_NAMESPACE();
//   #if HWY_ONCE
//   namespace quadrat::cells {
//   HWY_EXPORT(ThingKernels);
//   const base::PerKind<ThingKernel>& thing_kernels() { return HWY_DYNAMIC_DISPATCH(ThingKernels)(); }
//   }
//   #endif
//
// cells/match.cpp is the shortest real one. Calls in a loop take the kernel out of it. What is for no kind, or for one
// dimension or one type alone, needs no table: the function itself is exported, and one that calls it stands in its
// header.
//
// Predicates use Mul and Add, never MulAdd: an answer must not depend on the target (docs/concepts.md).
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace quadrat::base {

/// Calls body() once with each SIMD target that this machine supports and this build contains forced, scalar included.
/// For tests: it changes what every later call of the library uses while it runs.
template <class Body>
void for_each_simd_target(Body&& body) {
    const std::int64_t all = hwy::SupportedTargets() & (HWY_TARGETS | HWY_AVX3_DL);
    for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
        hwy::SetSupportedTargetsForTest(rest & -rest);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        body();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace quadrat::base
