#include <quadrat/ccd/impact.hpp>

#include <quadrat/ccd/proximity.hpp>
#include <quadrat/error.hpp>

#include "ccd/exact/exact.hpp"
#include "ccd/filter/filter.hpp"
#include "ccd/filter/separation.hpp"
#include "ccd/filter/separation_kernel.hpp"
#include "ccd/impact_batch.hpp"
#include "ccd/vector.hpp"

#include <string>

namespace quadrat {
namespace {

using namespace ccd;

void check(const ImpactOptions& options) {
    if (!(options.tolerance >= 1e-9 && options.tolerance <= 1))
        throw Error(ErrorKind::bad_value, "the tolerance of an impact time must be in [1e-9, 1]",
                    {.field = "tolerance"});
    if (!(options.min_distance >= 0 && std::isfinite(options.min_distance)))
        throw Error(ErrorKind::bad_value, "must be finite and not negative", {.field = "min_distance"});
}

[[noreturn]] void not_finite(const FourPoints& start, const FourPoints& end) {
    for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k)
            if (!std::isfinite(start[i][k]) || !std::isfinite(end[i][k]))
                throw Error(ErrorKind::bad_value, "a coordinate is not finite",
                            {.index = i, .column = static_cast<std::uint64_t>(k)});
    throw Error(ErrorKind::bad_value, "a coordinate is not finite");
}

bool finite(const FourPoints& start, const FourPoints& end) {
    double sum = 0;  // x - x is 0 for finite x and NaN otherwise
    for (std::size_t i = 0; i < 4; ++i)
        for (int k = 0; k < 3; ++k) sum += (start[i][k] - start[i][k]) + (end[i][k] - end[i][k]);
    return sum == 0;
}

}  // namespace

namespace ccd {

double settle(ImpactKind kind, const FourPoints& start, const FourPoints& end, double tolerance, bool skip_separation,
              ImpactStats& statistics) {
    double time = no_impact;
    switch (filter_impact(kind, start, end, tolerance, skip_separation, time)) {
        case Verdict::separated:
            ++statistics.by_separation;
            return no_impact;
        case Verdict::cubic:
            ++statistics.by_cubic;
            return no_impact;
        case Verdict::miss:
            ++statistics.by_interval;
            return no_impact;
        case Verdict::hit:
            ++statistics.by_interval;
            return time;
        case Verdict::unknown:
            break;
    }
    ++statistics.by_exact;
    return exact_impact_time(kind, start, end, tolerance);
}

}  // namespace ccd

double impact_time(ImpactKind kind, const FourPoints& start, const FourPoints& end, const ImpactOptions& options) {
    check(options);
    if (!finite(start, end)) not_finite(start, end);
    ImpactStats statistics;
    if (options.min_distance > 0) return separation_time(kind, start, end, options.min_distance, options.tolerance);
    return settle(kind, start, end, options.tolerance, false, statistics);
}

std::optional<Impact> find_impact(ImpactKind kind, const FourPoints& start, const FourPoints& end,
                                  const ImpactOptions& options) {
    const double time = impact_time(kind, start, end, options);
    if (!(time <= 1)) return std::nullopt;
    return describe(kind, start, end, time).impact;
}

ImpactStats impact_times(ImpactKind kind, std::span<const FourPoints> start, std::span<const FourPoints> end,
                         std::span<double> times, const ImpactOptions& options) {
    check(options);
    if (start.size() != end.size() || start.size() != times.size())
        throw Error(ErrorKind::bad_shape, "start, end and times differ in length",
                    {.index = std::min(start.size(), end.size())});
    for (std::size_t i = 0; i < start.size(); ++i)
        if (!finite(start[i], end[i])) throw Error(ErrorKind::bad_value, "a coordinate is not finite", {.index = i});
    ImpactStats statistics;
    statistics.queries = start.size();
    if (options.min_distance > 0) {
        for (std::size_t i = 0; i < start.size(); ++i)
            times[i] = separation_time(kind, start[i], end[i], options.min_distance, options.tolerance);
        return statistics;
    }
    // Blocks of queries through the SIMD separation test first; what it leaves is settled one by one.
    const bool faces = kind == ImpactKind::vertex_face;
    const std::size_t first = faces ? 1 : 2;
    DifferenceBlock block;
    for (std::size_t begin = 0; begin < start.size(); begin += block_size) {
        const std::size_t n = std::min(block_size, start.size() - begin);
        for (std::size_t q = 0; q < block_size; ++q) {
            const std::size_t i = begin + (q < n ? q : 0);
            int vector = 0;
            for (std::size_t a = 0; a < first; ++a)
                for (std::size_t b = first; b < 4; ++b, vector += 2)
                    for (int k = 0; k < 3; ++k) {
                        block.value[vector][k][q] = start[i][b][k] - start[i][a][k];
                        block.value[vector + 1][k][q] = end[i][b][k] - end[i][a][k];
                    }
        }
        const std::uint64_t apart = separated(block, faces ? 6 : 8, 0);
        for (std::size_t q = 0; q < n; ++q) {
            if (apart >> q & 1) {
                ++statistics.by_separation;
                times[begin + q] = no_impact;
            } else {
                times[begin + q] = settle(kind, start[begin + q], end[begin + q], options.tolerance, true, statistics);
            }
        }
    }
    return statistics;
}

}  // namespace quadrat
