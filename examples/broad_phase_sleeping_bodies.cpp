// A pile at rest and one body that falls on it: what rests costs nothing per step, events come by id, a shape cast
// tells when the body will land; and the same boxes in a world that repeats itself.
#include <quadrat/broad_phase.hpp>

#include <cstdio>
#include <vector>

int main() {
    std::vector<quadrat::Box3f> boxes;
    for (int i = 0; i < 400; ++i) {
        const float x = 1.5f * float(i % 20), y = 1.5f * float(i / 20);
        boxes.push_back({{x, y, 0}, {x + 1, y + 1, 1}});
    }
    quadrat::HashGridHierarchy<3, float> grid;
    std::vector<quadrat::Id> ids;
    grid.insert(boxes, ids);
    grid.rest(ids);  // pairs of two that rest are not looked for

    quadrat::Box3f body{{3.2f, 3.2f, 5}, {4.2f, 4.2f, 6}};
    const quadrat::Vec3f fall{{0, 0, -8}};
    const auto landing = grid.cast(body, fall);  // before it is in the world itself
    const quadrat::Id id = grid.insert(body);
    quadrat::PairEvents events;
    int landed_in = -1;
    for (int step = 0; step < 60 && landed_in < 0; ++step) {
        grid.find_events(events);
        for (const auto& [a, b] : events.begun())
            std::printf("step %d: %u meets %u\n", step, (a == id ? b : a).slot, id.slot), landed_in = step;
        body.lo[2] -= 0.125f;
        body.hi[2] -= 0.125f;
        grid.move(id, body);
    }
    std::printf("%zu boxes rest, landed after %.2f of the fall\n", grid.stats().resting, landing->distance);

    // 30 units along x and y, and then all over again: a box across the border meets neighbours on both sides.
    quadrat::PeriodicBoxes<3, float> world({.period = {{30, 30, 0}}});
    boxes.push_back({{29.5f, 0, 0}, {30.5f, 1, 1}});
    world.update(boxes);
    std::vector<quadrat::ImagePair<3>> pairs;
    world.find_pairs(pairs);
    for (const auto& [i, j, shift] : pairs) std::printf("%u meets %u moved by %d periods\n", i, j, int(shift[0]));
    const bool right = landing && landing->distance == 0.5f && landed_in == 32 && grid.stats().resting == 400;
    return right && pairs.size() == 2 ? 0 : 1;
}
