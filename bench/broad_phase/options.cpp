// quadrat_bench_broad_phase_options [N THREADS ROUNDS]: what each option of a HashGridHierarchy costs beside a plain
// step of equal cubes (update and pairs, B1), all of them in turn in one run, so that only ratios count. Medians.
// Without arguments: 100000 1 15.
//
//   one filter      one object has a filter of its own
//   nine of ten     90 % of the objects are in no group: they meet nothing
//   debris          90 % meet the others but not each other
//   events          pairs with begin and end by ids (find_events), and the older PairTracker
//   one per cent    1 % moves among what rests, by move(ids, boxes)
//   two sets        pairs between two sets of half the objects; both are updated
//   edits           one box inserted in bulk and erased again, among N, without finding pairs
#include "base/random.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace quadrat;
using Grid = HashGridHierarchy<3, float>;
using World = workloads::MovingBoxes<3, float>;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One row of the table: a step that is timed, and how many pairs it gave.
struct Row {
    std::string name;
    std::function<std::size_t()> step;
    std::vector<double> ms = {};
    std::size_t pairs = 0;

    void run() {
        const double start = now();
        pairs = step();
        ms.push_back(now() - start);
    }
    [[nodiscard]] double median() {
        std::sort(ms.begin(), ms.end());
        return ms[ms.size() / 2];
    }
};

/// A world whose grid has the filter on every object but each tenth.
Grid filtered(const World& world, Executor* executor, Filter filter) {
    Grid grid({.executor = executor});
    grid.insert(world.boxes());
    for (std::uint32_t i = 0; i < world.boxes().size(); ++i)
        if (i % 10 != 0) grid.set_filter(grid.id(i), filter);
    return grid;
}

void measure(std::size_t n, unsigned threads, int rounds) {
    World world(workloads::BoxScene::equal, n);
    const auto executor = make_executor(threads);
    const Grid::Options options{.executor = executor.get()};
    std::vector<Pair> pairs;
    std::vector<Row> rows;
    const auto step = [&](Grid& grid) {
        grid.update(world.boxes());
        grid.find_pairs(pairs);
        return pairs.size();
    };

    Grid plain(options), one(options), tracked(options), timed(options);
    for (Grid* grid : {&plain, &one, &tracked, &timed}) grid->insert(world.boxes());
    one.set_filter(one.id(static_cast<std::uint32_t>(n / 2)), {.group = 2, .mask = 1});
    Grid masked = filtered(world, executor.get(), {.group = 0, .mask = 0});
    Grid debris = filtered(world, executor.get(), {.group = 2, .mask = 1});
    PairEvents events;
    PairTracker tracker;
    rows.push_back({"plain", [&] { return step(plain); }});
    rows.push_back({"one filter", [&] { return step(one); }});
    rows.push_back({"nine of ten masked", [&] { return step(masked); }});
    rows.push_back({"debris", [&] { return step(debris); }});
    rows.push_back({"events", [&] {
                        timed.update(world.boxes());
                        timed.find_events(events);
                        return events.begun().size() + events.persisting().size();
                    }});
    rows.push_back({"events, PairTracker", [&] {
                        step(tracked);
                        tracker.update(pairs);
                        return pairs.size();
                    }});

    Grid still(options);
    std::vector<Id> ids, resting, moving;
    still.insert(world.boxes(), ids);
    for (std::size_t i = 0; i < n; ++i) (i % 100 == 0 ? moving : resting).push_back(ids[i]);
    still.rest(resting);
    std::vector<Box3f> moved(moving.size());
    rows.push_back({"one per cent moves", [&] {
                        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = world.boxes()[moving[i].slot];
                        still.move(moving, moved);
                        still.find_pairs(pairs);
                        return pairs.size();
                    }});

    Grid a(options), b(options);
    const auto halves = [&](Grid& first, Grid& second, bool insert) {
        const auto lower = world.boxes().first(n / 2), upper = world.boxes().last(n / 2);
        insert ? static_cast<void>(first.insert(lower)) : first.update(lower);
        insert ? static_cast<void>(second.insert(upper)) : second.update(upper);
    };
    halves(a, b, true);
    rows.push_back({"two sets", [&] {
                        halves(a, b, false);
                        find_pairs(a, b, pairs);
                        return pairs.size();
                    }});
    rows.push_back({"two sets, pairs only", [&] {
                        find_pairs(a, b, pairs);
                        return pairs.size();
                    }});

    Grid edited(options);
    edited.insert(world.boxes());
    std::vector<Id> come;
    rows.push_back({"one box in bulk", [&] {
                        edited.insert(world.boxes().first(1), come);
                        edited.erase(come);
                        return edited.size();
                    }});

    for (int round = -2; round < rounds; ++round) {
        world.step();
        for (Row& row : rows) {
            row.run();
            if (round < 0) row.ms.clear();
        }
    }
    std::printf("%zu equal cubes, %u thread(s), %d rounds\n", n, threads, rounds);
    const double base = rows[0].median();
    for (Row& row : rows)
        std::printf("  %-22s %10.4f ms  %6.3f of plain  %zu\n", row.name.c_str(), row.median(), row.median() / base,
                    row.pairs);
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i, long otherwise) { return argc > i ? std::atol(argv[i]) : otherwise; };
    measure(static_cast<std::size_t>(std::max(100L, number(1, 100000))),
            static_cast<unsigned>(std::max(1L, number(2, 1))), static_cast<int>(std::max(1L, number(3, 15))));
}
