// quadrat_bench_broad_phase [SCENE N THREADS STEPS]...: where the time of a step goes, update and pairs apart, for
// HashGridHierarchy and KeptPairs; smallest and median of the steps, their mean, and peak memory above the input.
// Without arguments it runs a few small cases. SCENE "once": N unit cubes, inserted once, pairs counted and not stored;
// for numbers that leave no room for a moving world.
#include "base/random.hpp"
#include "io/peak_rss.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace quadrat;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peak_bytes() {
    return static_cast<double>(io::peak_rss_bytes());
}

struct Series {
    std::vector<double> ms;
    [[nodiscard]] double mean() const {
        double sum = 0;
        for (const double x : ms) sum += x;
        return sum / static_cast<double>(ms.size());
    }
    [[nodiscard]] double at(double share) {
        std::sort(ms.begin(), ms.end());
        return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
    }
};

template <class Structure>
void measure(const char* name, workloads::BoxScene scene, std::size_t n, unsigned threads, int steps) {
    workloads::MovingBoxes<3, float> world(scene, n);
    const double before = peak_bytes();
    const auto executor = make_executor(threads);
    Structure structure({.executor = executor.get()});
    std::vector<Pair> pairs;
    const double start = now();
    structure.insert(world.boxes());
    structure.find_pairs(pairs);
    const double first = now() - start;
    Series update, find, both;
    for (int s = 0; s < steps; ++s) {
        world.step();
        const double a = now();
        structure.update(world.boxes());
        const double b = now();
        structure.find_pairs(pairs);
        const double c = now();
        update.ms.push_back(b - a);
        find.ms.push_back(c - b);
        both.ms.push_back(c - a);
    }
    std::printf(
        "  %-18s first %9.3f | update %8.3f (least %8.3f)  pairs %8.3f (least %8.3f)  step %8.3f (least %8.3f, mean "
        "%8.3f) ms | "
        "%.1f bytes per box, %zu pairs\n",
        name, first, update.at(0.5), update.at(0), find.at(0.5), find.at(0), both.at(0.5), both.at(0), both.mean(),
        (peak_bytes() - before) / static_cast<double>(n), pairs.size());
}

void measure_once(std::size_t n, unsigned threads) {
    std::vector<Box3f> boxes(n);
    double side = 1;
    while (side * side * side < 2 * static_cast<double>(n)) side *= 1.01;
    base::SplitMix random(12345);
    for (Box3f& box : boxes)
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = static_cast<float>(random.uniform(0, side));
            box.hi[k] = box.lo[k] + 1;
        }
    const double before = peak_bytes();
    const auto executor = make_executor(threads);
    HashGridHierarchy<3, float> grid({.executor = executor.get()});
    const double a = now();
    grid.insert(boxes);
    const double b = now();
    std::size_t pairs = 0;
    grid.for_each_pair([&](const Pair&) { ++pairs; });
    const double c = now();
    grid.update(boxes);
    const double d = now();
    std::size_t again = 0;
    grid.for_each_pair([&](const Pair&) { ++again; });
    const double e = now();
    std::printf(
        "  insert %.0f, pairs %.0f, update %.0f, pairs %.0f ms: %.1f ns per box cold, %.1f warm | %.1f bytes per "
        "box above the input, %.2f GB in all, %zu pairs%s\n",
        b - a, c - b, d - c, e - d, (c - a) * 1e6 / static_cast<double>(n), (e - c) * 1e6 / static_cast<double>(n),
        (peak_bytes() - before) / static_cast<double>(n), peak_bytes() / 1e9, pairs,
        pairs == again ? "" : ", NOT THE SAME AGAIN");
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty()) words = {"B1", "10000", "1", "50", "B1", "100000", "1", "20", "B5", "100000", "1", "20"};
    for (std::size_t i = 0; i + 3 < words.size(); i += 4) {
        const auto scene = workloads::box_scene(words[i]);
        if (!scene && words[i] != "once") {
            std::fprintf(stderr, "usage: %s [B1..B6 N THREADS STEPS]...\n", argv[0]);
            return 2;
        }
        const std::size_t n = std::strtoull(words[i + 1].c_str(), nullptr, 10);
        const auto threads = static_cast<unsigned>(std::atoi(words[i + 2].c_str()));
        const int steps = std::max(1, std::atoi(words[i + 3].c_str()));
        std::printf("%s, %zu boxes, %u thread(s)\n", words[i].c_str(), n, threads);
        if (!scene) {
            measure_once(n, threads);
            continue;
        }
        measure<HashGridHierarchy<3, float>>("HashGridHierarchy", *scene, n, threads, steps);
        if (*scene == workloads::BoxScene::calm) measure<KeptPairs<3, float>>("KeptPairs", *scene, n, threads, steps);
    }
}
