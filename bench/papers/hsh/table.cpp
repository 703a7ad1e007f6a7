// HSH 4.3: a table of fixed length n instead of one that grows. Cells whose keys have the same remainder share a slot,
// so a query looks at objects of other cells: false candidates, which cost time and never change an answer. The paper
// takes n = 100 x objects. A sweep of n on the objects and segments of figure 4, 2000 objects. Usage: paper_hsh_table
// [JSON file]
#include <quadrat/cells/hierarchical_hash.hpp>

#include "cells/segment_test.hpp"
#include "common/report.hpp"
#include "scene.hpp"
#include "workloads/scenes.hpp"

#include <cstdint>

int main(int argc, char** argv) {
    using namespace quadrat;
    constexpr std::size_t objects = 2000;
    const auto boxes = hsh::objects(objects);
    std::vector<Box2f> queries;
    for (const auto& s : workloads::short_segments<2, float>(200000, 8192, 16)) queries.push_back(cells::bounds(s));
    papers::Report report(
        {"length/objects", "candidates/query", "hits/query", "false/query", "query_ms", "build_ms", "bytes"});
    std::size_t expected = 0;
    double unavoidable = 0;
    for (const std::size_t times : {0, 1, 2, 5, 10, 20, 50, 100, 200, 500}) {  // 0: a table that grows
        HierarchicalHash<2, float> hash(
            {.table = times ? HierarchicalHashOptions::Table::fixed : HierarchicalHashOptions::Table::unbounded,
             .length = times * objects});
        std::vector<double> build, query;
        std::vector<Pair> found;
        for (int round = 0; round < 3; ++round) {
            build.push_back(papers::milliseconds([&] { hash.build(std::span<const Box2f>(boxes)); }));
            query.push_back(papers::milliseconds([&] { hash.find_pairs(std::span<const Box2f>(queries), found); }));
        }
        const double per_query = double(hash.stats().tests) / double(queries.size());
        if (times == 0) {
            expected = found.size();
            unavoidable = per_query;
        }
        if (found.size() != expected) {
            std::fprintf(stderr, "different answers with a table of %zu x objects\n", times);
            return 1;
        }
        report.row({double(times), per_query, double(found.size()) / double(queries.size()), per_query - unavoidable,
                    papers::median(query), papers::median(build), double(hash.stats().bytes)});
    }
    report.write(argc > 1 ? argv[1] : nullptr);
    return 0;
}
