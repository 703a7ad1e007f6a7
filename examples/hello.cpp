// The first program: what touches what, and what is near what, while everything moves.
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/neighbors/cell_index.hpp>

#include <cstdio>
#include <vector>

int main() {
    // 1000 boxes and as many points on a line; every second one moves to the right.
    std::vector<quadrat::Box3f> boxes;
    std::vector<quadrat::Vec3f> points;
    for (int i = 0; i < 1000; ++i) {
        const float x = 2.0f * static_cast<float>(i);
        boxes.push_back({{x, 0, 0}, {x + 1, 1, 1}});
        points.push_back({x, 0, 0});
    }
    quadrat::HashGridHierarchy<3, float> grid;
    grid.insert(boxes);  // box i keeps index i
    quadrat::CellIndex<3, float> cells({.radius = 1.25f});
    cells.build(points);

    std::vector<quadrat::Pair> pairs;  // yours; its memory is used again
    quadrat::NeighborList near;
    for (int step = 0; step < 5; ++step) {
        grid.find_pairs(pairs);  // each pair once, first < second
        cells.find_neighbors(near);
        std::printf("step %d: %zu pairs, %zu neighbours\n", step, pairs.size(),
                    static_cast<std::size_t>(near.entries()));
        for (std::size_t i = 0; i < boxes.size(); i += 2) {
            boxes[i].lo[0] += 0.25f;
            boxes[i].hi[0] += 0.25f;
            points[i][0] += 0.25f;
        }
        grid.update(boxes);
        cells.update(points);
    }
    return pairs.size() == 500 && near.entries() == 1000 ? 0 : 1;
}
