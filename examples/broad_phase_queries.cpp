// Objects that come and go one by one, and questions to the set: what is here, what does this ray hit first, what is
// nearest?
#include <quadrat/broad_phase.hpp>

#include <cstdio>
#include <vector>

int main() {
    quadrat::HashGridHierarchy<3, float> grid;
    std::vector<quadrat::Id> ids;
    for (int i = 0; i < 1000; ++i) {
        const float x = static_cast<float>(i % 10), y = static_cast<float>(i / 10 % 10),
                    z = static_cast<float>(i / 100);
        ids.push_back(grid.insert({{3 * x, 3 * y, 3 * z}, {3 * x + 1, 3 * y + 1, 3 * z + 1}}));
    }
    grid.insert(quadrat::HalfSpace<3, float>{{0, 0, 1}, -5});  // the ground: everything with z <= -5
    grid.move(ids[7], {{0, 0, -7}, {1, 1, -4}});               // constant time; falls into the ground
    grid.erase(ids[8]);                                        // an id is never given twice: using it again throws

    std::vector<std::uint32_t> found;  // slots
    grid.find(quadrat::Box3f{{0, 0, 0}, {4, 4, 4}}, found);
    std::printf("%zu objects overlap the box\n", found.size());
    const bool eight = found.size() == 8;
    grid.find(quadrat::Sphere<3, float>{{0.5f, 0.5f, 0.5f}, 2.6f}, found);
    std::printf("%zu objects are nearer than 2.6\n", found.size());
    grid.find(quadrat::Segment<3, float>{{-1, 0.5f, 0.5f}, {40, 0.5f, 0.5f}}, found);
    std::printf("%zu objects on the segment\n", found.size());

    const auto hit = grid.closest_hit({.origin = {20, 0.5f, 0.5f}, .direction = {1, 0, 0}, .length = 100});
    if (hit) std::printf("the ray enters slot %u after %.1f\n", hit->slot, static_cast<double>(hit->distance));
    const auto near = grid.nearest({15.5f, 15.5f, 50});
    if (near) std::printf("slot %u is nearest, %.1f away\n", near->slot, static_cast<double>(near->distance));
    std::vector<quadrat::Pair> pairs;
    grid.find_pairs(pairs);
    std::printf("%zu pair: slot %u is in the ground\n", pairs.size(), pairs.empty() ? 0 : pairs[0].first);
    return eight && hit && near && pairs.size() == 1 && pairs[0].first == ids[7].slot ? 0 : 1;
}
