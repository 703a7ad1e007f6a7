// Boxes that move every step: insert once, update and find pairs in a loop, on all cores.
#include <quadrat/broad_phase.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    std::vector<quadrat::Box3f> boxes;
    for (int i = 0; i < 20000; ++i) {
        const float t = static_cast<float>(i), size = 0.5f + 0.5f * std::fmod(t * 0.618f, 1.0f);
        const quadrat::Vec3f lo{std::fmod(t * 7.31f, 40.0f), std::fmod(t * 3.17f, 40.0f), std::fmod(t * 1.73f, 40.0f)};
        boxes.push_back({lo, {lo[0] + size, lo[1] + size, lo[2] + size}});
    }
    const auto pool = quadrat::make_executor();  // one thread per processor; without it, the caller's thread alone
    quadrat::HashGridHierarchy<3, float> grid({.executor = pool.get()});
    grid.insert(boxes);  // box i is slot i

    std::vector<quadrat::Pair> pairs;  // yours; its memory is used again
    for (int step = 0; step < 5; ++step) {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const float by = i % 2 ? 0.1f : -0.1f;
            boxes[i].lo[0] += by;
            boxes[i].hi[0] += by;
        }
        grid.update(boxes);      // the whole array, whether much of it moved or little
        grid.find_pairs(pairs);  // each pair once, first < second
        std::printf("step %d: %zu pairs, %llu box tests\n", step, pairs.size(),
                    static_cast<unsigned long long>(grid.stats().tests));
    }
    // The same pairs by testing everything against everything.
    quadrat::BruteForce<3, float> oracle;
    oracle.build(boxes);
    std::vector<quadrat::Pair> truth;
    oracle.find_pairs(truth);
    return pairs.size() == truth.size() ? 0 : 1;
}
