// The first contact of all. The step is searched in windows that grow: the boxes over a short window overlap far less
// than those over the whole step, and a contact in it ends the search. What is decided is always the query over the
// whole step, so that the time is the same as that of find_contacts(), to the bit.
#include <quadrat/ccd/earliest.hpp>

#include "base/parallel.hpp"
#include "ccd/pipeline/candidates.hpp"
#include "ccd/pipeline/decide.hpp"
#include "ccd/pipeline/limits.hpp"

#include <limits>

namespace quadrat {
namespace {

using namespace ccd;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double first_window = 1.0 / 64;  // of the time that is asked about
constexpr double growth = 8;               // of the next one

void check_until(double t_max) {
    if (!(t_max >= 0 && t_max <= 1)) throw Error(ErrorKind::bad_value, "must be in [0, 1]", {.field = "t_max"});
}

// Where the vertices are from one time to another. Returns the largest coordinate.
double make_window(const base::Array<Trace>& step, double from, double to, base::Array<Trace>& window) {
    window.resize_discard(step.size());
    double size = 0;
    for (std::size_t i = 0; i < step.size(); ++i)
        for (int k = 0; k < 3; ++k) {
            const double a = step[i].start[k];
            const double b = step[i].end[k];
            window[i].start[k] = from > 0 ? (1 - from) * a + from * b : a;
            window[i].end[k] = to < 1 ? (1 - to) * a + to * b : b;
            size = std::max({size, std::fabs(a), std::fabs(b)});
        }
    return size;
}

// Calls search(margin, earliest) for windows of the step that grow until they hold the first contact; f.vertices has
// the motion in the window then, and boxes are to grow by the margin.
template <class Search>
double by_windows(Features& f, double t_max, const ContactOptions& options, Search&& search) {
    base::Array<Trace> step;
    step.swap(f.vertices);
    std::atomic<double> earliest = infinity;
    double from = 0;
    double to = f.moves ? first_window * t_max : t_max;
    while (true) {
        // A time is told early by up to the tolerance: what begins just behind the window may be told to lie in it.
        const double end = std::min(1.0, to + options.tolerance);
        const double size = make_window(step, from, end, f.vertices);
        // Rounding of the window's ends, and how far beyond a distance features may count as near (separation.hpp).
        const double share = options.min_distance > 0 ? 0x1p-42 : 0x1p-50;
        const double margin = half(options.min_distance) + share * size + 0x1p-1070;
        const Decider decider(f, step, 2 * margin, options);
        search(decider, margin, earliest);
        if (earliest <= to || to >= t_max) break;
        from = to;
        to = std::min(growth * to, t_max);
    }
    return earliest <= t_max ? earliest.load() : infinity;
}

}  // namespace

double earliest_time(std::span<const MovingMesh> meshes, double t_max, const ContactOptions& options) {
    check(options);
    check_until(t_max);
    Features f = make_features(meshes);
    return by_windows(f, t_max, options, [&](const Decider& decider, double margin, std::atomic<double>& earliest) {
        CandidateStream stream(f, meshes, options, margin);
        base::check_stop(options.watch);
        stream.prepare();
        base::check_stop(options.watch);
        CandidateLimit limit(options.max_candidates);
        base::run_tasks(options.executor, stream.parts(), [&](std::size_t part) {
            if (limit.reached()) return;
            stream.run(part, [&](std::span<const Pair> pairs) {
                base::check_stop(options.watch);
                limit.add(pairs.size());
                decider.lower(stream.kind(part), pairs, earliest);
            });
        });
    });
}

double earliest_time(std::span<const MovingMesh> meshes, const Candidates& candidates, double t_max,
                     const ContactOptions& options) {
    check(options);
    check_until(t_max);
    Features f = make_features(meshes);
    const CandidateParts parts(f, candidates);
    return by_windows(f, t_max, options, [&](const Decider& decider, double, std::atomic<double>& earliest) {
        base::run_tasks(options.executor, parts.size(), [&](std::size_t part) {
            base::check_stop(options.watch);
            decider.lower(parts.kind(part), parts.pairs(part), earliest);
        });
    });
}

double earliest_time(const MovingMesh& mesh, double t_max, const ContactOptions& options) {
    return earliest_time(std::span<const MovingMesh>(&mesh, 1), t_max, options);
}

}  // namespace quadrat
