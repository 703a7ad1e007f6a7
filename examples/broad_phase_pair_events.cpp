// Which pairs begin and end, in a calm scene whose pairs are kept between steps; and groups that do not meet.
#include <quadrat/broad_phase.hpp>

#include <cstdio>
#include <vector>

int main() {
    // A row of boxes one unit apart; a runner goes along it.
    std::vector<quadrat::Box2d> boxes;
    for (int i = 0; i < 20; ++i) boxes.push_back({{2.0 * i, 0.0}, {2.0 * i + 1, 1.0}});
    const std::uint32_t runner = 20;
    boxes.push_back({{-1.0, 0.25}, {-0.5, 0.75}});

    // Fat boxes: most steps only test the pairs of the last ones again.
    quadrat::KeptPairs<2, double> kept({.least = 2});
    kept.insert(boxes);
    quadrat::PairTracker tracker;
    std::vector<quadrat::Pair> pairs;
    int begun = 0, ended = 0;
    for (int step = 0; step < 340; ++step) {
        boxes[runner].lo[0] += 0.125;
        boxes[runner].hi[0] += 0.125;
        kept.update(boxes);
        kept.find_pairs(pairs);
        tracker.update(pairs);
        for (const auto [a, b] : tracker.begun()) std::printf("step %d: %u meets %u\n", step, b, a), ++begun;
        ended += static_cast<int>(tracker.ended().size());
    }
    std::printf("%d began, %d ended, fat pairs found %zu times in 340 steps\n", begun, ended, kept.stats().rebuilds);

    // Walls (group 1) and bodies (group 2): bodies meet everything, walls meet bodies only.
    quadrat::HashGridHierarchy<2, double> grid;
    const quadrat::Id body = grid.insert({{0, 0}, {4, 4}}, {.group = 2, .mask = 1 | 2});
    grid.insert({{1, 1}, {2, 2}}, {.group = 1, .mask = 2});
    grid.insert({{1, 1}, {3, 3}}, {.group = 1, .mask = 2});
    grid.find_pairs(pairs);  // the two walls overlap, but do not meet
    const bool right = pairs.size() == 2 && pairs[0].first == body.slot && pairs[1].first == body.slot;
    // A predicate of your own, for what bits cannot say.
    grid.find_pairs(pairs, [](quadrat::Pair p) { return p.second == 2; });
    return begun == 20 && ended == 20 && right && pairs.size() == 1 ? 0 : 1;
}
