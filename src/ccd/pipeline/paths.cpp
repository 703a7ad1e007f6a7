#include "ccd/pipeline/paths.hpp"

#include <hwy/cache_control.h>

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccd/pipeline/paths.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace quadrat::ccd::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
using Four = hn::CappedTag<float, 1>;
#else
using Four = hn::FixedTag<float, 4>;
#endif
using V = hn::Vec<Four>;

// The direction between the centres, and what all positions along it must exceed.
struct Line {
    V w[3];
    V least;

    template <class Second>
    Line(const Path& a, const Second& b, float gap) {
        const float x = b.centre[0] - a.centre[0], y = b.centre[1] - a.centre[1], z = b.centre[2] - a.centre[2];
        const float sum = std::fabs(x) + std::fabs(y) + std::fabs(z);
        const float error = path_error * sum * (a.size + b.size) + path_floor;
        const Four d;
        w[0] = hn::Set(d, x);
        w[1] = hn::Set(d, y);
        w[2] = hn::Set(d, z);
        least = hn::Set(d, gap > 0 ? error + gap * std::sqrt(x * x + y * y + z * z) : error);
    }

    // NaN, of coordinates at the end of the range, is not apart.
    [[nodiscard]] hn::Mask<Four> beyond(V x, V y, V z) const {
        return hn::Gt(hn::Add(hn::Add(hn::Mul(w[0], x), hn::Mul(w[1], y)), hn::Mul(w[2], z)), least);
    }
};

#if HWY_TARGET == HWY_SCALAR
template <class Second>
bool Apart(const Path& a, const Second& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    constexpr int count = sizeof b.at[0] / sizeof(float);
    for (int i = 0; i < 4; ++i)
        for (int j = i % 2; j < count; j += 2)
            if (!hn::AllTrue(d, line.beyond(hn::Set(d, b.at[0][j] - a.at[0][i]), hn::Set(d, b.at[1][j] - a.at[1][i]),
                                            hn::Set(d, b.at[2][j] - a.at[2][i]))))
                return false;
    return true;
}
#else
bool Apart(const Path& a, const Path& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    V low[3], high[3];  // of all of b, as seen from the first and the second end of a
    for (int k = 0; k < 3; ++k) {
        const V ends = hn::Load(d, a.at[k]), all = hn::Load(d, b.at[k]);
        low[k] = hn::Sub(all, hn::ConcatLowerLower(d, ends, ends));
        high[k] = hn::Sub(all, hn::ConcatUpperUpper(d, ends, ends));
    }
    return hn::AllTrue(d, hn::And(line.beyond(low[0], low[1], low[2]), line.beyond(high[0], high[1], high[2])));
}

// a is a vertex: both of its ends are the same.
bool Apart(const Path& a, const FacePath& b, float gap) {
    const Four d;
    const Line line(a, b, gap);
    V low[3], high[3];  // the corners as seen from a
    for (int k = 0; k < 3; ++k) {
        const V from = hn::Load(d, a.at[k]);
        low[k] = hn::Sub(hn::Load(d, b.at[k]), from);
        high[k] = hn::Sub(hn::Load(d, b.at[k] + 4), from);
    }
    return hn::AllTrue(d, hn::And(line.beyond(low[0], low[1], low[2]), line.beyond(high[0], high[1], high[2])));
}
#endif

template <class Second>
std::size_t SelectNear(const Path* a, const Second* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    constexpr std::size_t ahead = 8;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i + ahead < n) {
            hwy::Prefetch(a + pairs[i + ahead].first);
            hwy::Prefetch(b + pairs[i + ahead].second);
        }
        const Pair p = pairs[i];
        out[kept] = p;
        kept += Apart(a[p.first], b[p.second], gap) ? 0 : 1;
    }
    return kept;
}

std::size_t SelectNearPaths(const Path* a, const Path* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectNear(a, b, gap, pairs, n, out);
}
std::size_t SelectNearFaces(const Path* a, const FacePath* b, float gap, const Pair* pairs, std::size_t n, Pair* out) {
    return SelectNear(a, b, gap, pairs, n, out);
}

}  // namespace
}  // namespace quadrat::ccd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::ccd {
namespace {

HWY_EXPORT(SelectNearPaths);
HWY_EXPORT(SelectNearFaces);

constexpr std::size_t grain = 4096;

// From the coordinates of the meshes to those of the paths.
struct Frame {
    double origin[3] = {0, 0, 0};
    double scale = 1;

    Frame(const base::Array<Trace>& traces, Executor* executor) {
        struct Range {
            double lo[3], hi[3];
        };
        constexpr double inf = std::numeric_limits<double>::infinity();
        const Range all = base::parallel_reduce(
            executor, traces.size(), grain, Range{{inf, inf, inf}, {-inf, -inf, -inf}},
            [&](std::size_t begin, std::size_t end) {
                Range r{{inf, inf, inf}, {-inf, -inf, -inf}};
                for (std::size_t i = begin; i < end; ++i)
                    for (int k = 0; k < 3; ++k) {
                        r.lo[k] = std::min({r.lo[k], traces[i].start[k], traces[i].end[k]});
                        r.hi[k] = std::max({r.hi[k], traces[i].start[k], traces[i].end[k]});
                    }
                return r;
            },
            [](Range a, const Range& b) {
                for (int k = 0; k < 3; ++k) {
                    a.lo[k] = std::min(a.lo[k], b.lo[k]);
                    a.hi[k] = std::max(a.hi[k], b.hi[k]);
                }
                return a;
            });
        double size = 0;
        for (int k = 0; k < 3; ++k) {
            origin[k] = 0.5 * all.lo[k] + 0.5 * all.hi[k];
            size = std::max(size, 0.5 * all.hi[k] - 0.5 * all.lo[k]);
        }
        if (size > 0 && std::isfinite(size)) scale = std::ldexp(1.0, std::clamp(-std::ilogb(size), -1000, 1000));
    }

    [[nodiscard]] float operator()(double x, int k) const { return static_cast<float>((x - origin[k]) * scale); }
};

// Centre and size from the positions.
template <class AnyPath>
void finish(AnyPath& p) {
    constexpr int count = sizeof p.at[0] / sizeof(float);
    p.size = 0;
    for (int k = 0; k < 3; ++k) {
        float sum = 0;
        for (int i = 0; i < count; ++i) {
            sum += p.at[k][i];
            p.size = std::max(p.size, std::fabs(p.at[k][i]));
        }
        p.centre[k] = sum * (1.0f / count);
    }
}

// The float above.
float above(double x) {
    const auto f = static_cast<float>(x);
    return f + std::fabs(f) * 0x1p-23f + 0x1p-148f;
}

}  // namespace

AllPaths make_paths(const Features& f, double gap, Executor* executor) {
    AllPaths all;
    const Frame frame(f.vertices, executor);
    // A unit vector of floats may be longer than 1 by some roundings, and so may what it is compared with.
    all.gap = gap > 0 ? above(gap * frame.scale * (1 + 0x1p-20)) : 0;
    all.vertices.resize_discard(f.vertices.size());
    base::parallel_for(executor, f.vertices.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Path& p = all.vertices[i];
            for (int k = 0; k < 3; ++k) {
                p.at[k][0] = p.at[k][2] = frame(f.vertices[i].start[k], k);
                p.at[k][1] = p.at[k][3] = frame(f.vertices[i].end[k], k);
            }
            finish(p);
        }
    });
    all.edges.resize_discard(f.edges.size());
    base::parallel_for(executor, f.edges.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Path& p = all.edges[i];
            for (int k = 0; k < 3; ++k)
                for (std::size_t n = 0; n < 2; ++n) std::copy_n(all.vertices[f.edges[i][n]].at[k], 2, p.at[k] + 2 * n);
            finish(p);
        }
    });
    all.faces.resize_discard(f.faces.size());
    base::parallel_for(executor, f.faces.size(), grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            FacePath& p = all.faces[i];
            const Triangle& t = f.faces[i];
            const std::uint32_t corners[4] = {t.a, t.b, t.c, t.c};
            for (int k = 0; k < 3; ++k)
                for (std::size_t n = 0; n < 4; ++n) std::copy_n(all.vertices[corners[n]].at[k], 2, p.at[k] + 2 * n);
            finish(p);
        }
    });
    return all;
}

std::size_t select_near(const Path* a, const Path* b, float gap, std::span<const Pair> pairs, Pair* out) {
    return HWY_DYNAMIC_DISPATCH(SelectNearPaths)(a, b, gap, pairs.data(), pairs.size(), out);
}

std::size_t select_near(const Path* a, const FacePath* b, float gap, std::span<const Pair> pairs, Pair* out) {
    return HWY_DYNAMIC_DISPATCH(SelectNearFaces)(a, b, gap, pairs.data(), pairs.size(), out);
}

}  // namespace quadrat::ccd
#endif
