#include "ccd/pipeline/slabs.hpp"

#include <hwy/cache_control.h>

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccd/pipeline/slabs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quadrat::ccd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

std::size_t SelectOverlapping(const Slabs* a, const Slabs* b, const Pair* pairs, std::size_t n, Pair* out) {
#if HWY_TARGET == HWY_SCALAR
    const hn::CappedTag<float, 1> d;
#else
    const hn::CappedTag<float, 8> d;
#endif
    const std::size_t lanes = hn::Lanes(d);
    constexpr std::size_t ahead = 8;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + ahead < n) {
            hwy::Prefetch(a + pairs[i + ahead].first);
            hwy::Prefetch(b + pairs[i + ahead].second);
        }
        const Pair p = pairs[i];
        const Slabs& x = a[p.first];
        const Slabs& y = b[p.second];
        // NaN, of coordinates at the end of the range, is not apart.
        auto apart = hn::Lt(hn::Zero(d), hn::Zero(d));
        for (std::size_t k = 0; k < 8; k += lanes)
            apart = hn::Or(apart, hn::Or(hn::Gt(hn::Load(d, x.lo + k), hn::Load(d, y.hi + k)),
                                         hn::Gt(hn::Load(d, y.lo + k), hn::Load(d, x.hi + k))));
        out[kept] = p;
        kept += hn::AllFalse(d, apart) ? 1 : 0;
    }
    return kept;
}

}  // namespace
}  // namespace quadrat::ccd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::ccd {
namespace {

HWY_EXPORT(SelectOverlapping);

constexpr int directions[8][3] = {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1},
                                  {0, 1, 1}, {0, 1, -1}, {1, 1, 1}, {1, -1, 1}};
constexpr double rounding = 0x1p-49;  // of the sum of the coordinates' sizes: 8 roundoffs or more

// Intervals of one vertex: min, max, and how far rounding may have moved them.
struct Wide {
    double lo[8], hi[8], slack[8];
};

Wide project(const Trace& t) {
    Wide w;
    for (int i = 0; i < 8; ++i) {
        double value[2] = {0, 0};
        double size = 0;
        for (int k = 0; k < 3; ++k) {
            const double a = 0.25 * t.start[k] * directions[i][k];  // a quarter, so that no sum overflows
            const double b = 0.25 * t.end[k] * directions[i][k];
            value[0] += a;
            value[1] += b;
            size += std::max(std::fabs(a), std::fabs(b));
        }
        w.lo[i] = std::min(value[0], value[1]);
        w.hi[i] = std::max(value[0], value[1]);
        w.slack[i] = size;
    }
    return w;
}

// Certainly below x: a float is off by less than 2^-23 of itself or its smallest step.
float below(double x) {
    const auto f = static_cast<float>(x);
    return f - std::fabs(f) * 0x1p-23f - 0x1p-148f;
}

Slabs enclose(const Wide* corners, int count, double grow) {
    Slabs s;
    for (int i = 0; i < 8; ++i) {
        double lo = corners[0].lo[i], hi = corners[0].hi[i], slack = corners[0].slack[i];
        for (int c = 1; c < count; ++c) {
            lo = std::min(lo, corners[c].lo[i]);
            hi = std::max(hi, corners[c].hi[i]);
            slack = std::max(slack, corners[c].slack[i]);
        }
        const double more = slack * rounding + grow;
        s.lo[i] = below(lo - more);
        s.hi[i] = -below(-hi - more);
    }
    return s;
}

}  // namespace

AllSlabs make_slabs(const Features& f, double margin, Executor* executor) {
    constexpr std::size_t grain = 2048;
    const base::Array<Trace>& traces = f.vertices;
    const double grow = 0.5 * margin;  // times the length of the longest direction, the square root of 3, over 4
    AllSlabs all;
    base::Array<Wide> wide(traces.size());
    all.vertices.resize_discard(traces.size());
    base::parallel_for(executor, traces.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            wide[i] = project(traces[i]);
            all.vertices[i] = enclose(&wide[i], 1, grow);
        }
    });
    all.faces.resize_discard(f.faces.size());
    base::parallel_for(executor, f.faces.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Wide corners[3] = {wide[f.faces[i].a], wide[f.faces[i].b], wide[f.faces[i].c]};
            all.faces[i] = enclose(corners, 3, grow);
        }
    });
    all.edges.resize_discard(f.edges.size());
    base::parallel_for(executor, f.edges.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Wide corners[2] = {wide[f.edges[i][0]], wide[f.edges[i][1]]};
            all.edges[i] = enclose(corners, 2, grow);
        }
    });
    return all;
}

std::size_t select_overlapping(const Slabs* a, const Slabs* b, std::span<const Pair> pairs, Pair* out) {
    return HWY_DYNAMIC_DISPATCH(SelectOverlapping)(a, b, pairs.data(), pairs.size(), out);
}

}  // namespace quadrat::ccd
#endif
