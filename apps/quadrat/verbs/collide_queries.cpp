// quadrat collide --queries: files of single queries with their exact answers, and how long each takes.
#include <quadrat/ccd.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "io/files.hpp"
#include "io/query_file.hpp"
#include "verbs/collide.hpp"

namespace quadrat::cli {
namespace {

// Of a file of queries: as told, or by its full path, or the kind that fits its answers better.
ImpactKind kind_of(const CollideOptions& options, const std::string& file, const std::vector<io::FileQuery>& queries) {
    if (options.kind == "edge-edge") return ImpactKind::edge_edge;
    if (options.kind == "vertex-face") return ImpactKind::vertex_face;
    const std::string path = std::filesystem::absolute(file).string();
    const std::size_t edges = path.rfind("edge-edge");
    const std::size_t faces = path.rfind("vertex-face");
    if (edges != faces)
        return faces == std::string::npos || (edges != std::string::npos && edges > faces) ? ImpactKind::edge_edge
                                                                                           : ImpactKind::vertex_face;
    std::size_t wrong[2] = {};
    for (const io::FileQuery& q : queries) {
        wrong[0] += (impact_time(ImpactKind::vertex_face, q.start, q.end) <= 1) != q.truth;
        wrong[1] += (impact_time(ImpactKind::edge_edge, q.start, q.end) <= 1) != q.truth;
    }
    if (wrong[0] == wrong[1] && !queries.empty())
        throw UsageError("--queries: nothing tells whether " + file + " is vertex-face or edge-edge; add --kind");
    return wrong[1] < wrong[0] ? ImpactKind::edge_edge : ImpactKind::vertex_face;
}

}  // namespace

// The time of each query is the median of several runs over all of them.
void run_queries(const CollideOptions& options) {
    struct Entry {
        ImpactKind kind;
        io::FileQuery query;
    };
    std::vector<Entry> entries;
    std::size_t rounded = 0;
    for (const std::string& file : options.queries) {
        const std::vector<io::FileQuery> queries = io::read_query_file(file);
        const ImpactKind kind = kind_of(options, file, queries);
        for (const io::FileQuery& q : queries) {
            entries.push_back({kind, q});
            rounded += q.rounded;
        }
    }
    const ImpactOptions impact{.tolerance = options.tolerance, .min_distance = options.distance};
    constexpr std::size_t runs = 5;
    std::vector<std::array<double, runs>> nanoseconds(entries.size());
    std::vector<double> times(entries.size());
    for (std::size_t r = 0; r <= runs; ++r) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const auto begin = std::chrono::steady_clock::now();
            times[i] = impact_time(entries[i].kind, entries[i].query.start, entries[i].query.end, impact);
            const auto end = std::chrono::steady_clock::now();
            if (r > 0) nanoseconds[i][r - 1] = std::chrono::duration<double, std::nano>(end - begin).count();
        }
    }
    std::size_t truth = 0, reported = 0, false_positive = 0, false_negative = 0;
    std::vector<double> each;
    double sum = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const bool hit = times[i] <= 1;
        truth += entries[i].query.truth;
        reported += hit;
        false_positive += hit && !entries[i].query.truth;
        false_negative += !hit && entries[i].query.truth;
        std::sort(nanoseconds[i].begin(), nanoseconds[i].end());
        each.push_back(nanoseconds[i][runs / 2]);
        sum += each.back();
    }
    std::sort(each.begin(), each.end());
    const auto at = [&](double share) {
        return each.empty() ? 0.0
                            : each[std::min(each.size() - 1,
                                            static_cast<std::size_t>(share * static_cast<double>(each.size())))];
    };
    const double mean = each.empty() ? 0 : sum / static_cast<double>(each.size());
    if (!options.out.empty()) {
        io::AtomicFile file(options.out);
        file.write("query,truth,time\n");
        for (std::size_t i = 0; i < entries.size(); ++i)
            file.write(std::to_string(i) + (entries[i].query.truth ? ",1," : ",0,") + number(times[i]) + "\n");
        file.commit();
    }
    if (options.json) {
        const Json json = {{"queries", entries.size()},
                           {"truth_positive", truth},
                           {"reported_positive", reported},
                           {"false_positive", false_positive},
                           {"false_negative", false_negative},
                           {"ns_per_query", mean},
                           {"ns_median", at(0.5)},
                           {"ns_p999", at(0.999)},
                           {"rounded", rounded}};
        std::printf("%s\n", json.dump(2).c_str());
    } else {
        std::printf("%s queries: %s contacts in truth, %s reported, %s false positives, %s false negatives\n",
                    grouped(entries.size()).c_str(), grouped(truth).c_str(), grouped(reported).c_str(),
                    grouped(false_positive).c_str(), grouped(false_negative).c_str());
        std::printf("%.0f ns per query (median %.0f, 99.9 %% %.0f)\n", mean, at(0.5), at(0.999));
        if (rounded)
            std::printf("%s queries have coordinates that are no doubles and were rounded\n", grouped(rounded).c_str());
    }
}

}  // namespace quadrat::cli
