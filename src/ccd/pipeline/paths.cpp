#include "ccd/pipeline/paths.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat::ccd {
namespace {

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

}  // namespace quadrat::ccd
