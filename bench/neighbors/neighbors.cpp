// CellIndex by itself: build, lists, half lists, counts, nearest, moving points; medians of a few runs after a first
// one.
//   quadrat_bench_neighbors [points = 1000000] [threads = 1] [runs = 5]
#include <quadrat/neighbors.hpp>

#include "workloads/scenes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace quadrat;
using Index = CellIndex<3, float>;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Fn>
double median_ms(int runs, Fn&& fn) {
    std::vector<double> times;
    for (int k = 0; k < runs; ++k) {
        const double start = now();
        fn();
        times.push_back(now() - start);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
    const auto executor = make_executor(threads);
    std::printf("%zu points, %u threads, ms\n", n, threads);
    std::printf("%-14s %8s %8s %8s %8s %8s %8s %8s %12s\n", "scene", "first", "build", "list", "total", "half",
                "counts", "input", "entries");
    struct Case {
        const char* name;
        workloads::PointScene scene;
        workloads::PointOrder order;
    };
    for (const Case& c : {Case{"W1 shuffled", workloads::PointScene::lattice, workloads::PointOrder::shuffled},
                          Case{"W1 Z-order", workloads::PointScene::lattice, workloads::PointOrder::z_order},
                          Case{"W2", workloads::PointScene::uniform, workloads::PointOrder::shuffled},
                          Case{"W3", workloads::PointScene::sparse, workloads::PointOrder::shuffled},
                          Case{"shell", workloads::PointScene::shell, workloads::PointOrder::shuffled},
                          Case{"clustered", workloads::PointScene::clustered, workloads::PointOrder::shuffled}}) {
        if (n > 2000000 && c.scene == workloads::PointScene::clustered) continue;
        const workloads::MovingPoints<3, float> scene(c.scene, n, c.order);
        Index index({.radius = scene.radius(), .executor = executor.get()});
        NeighborList list;
        const double start = now();
        index.build(scene.points());
        index.find_neighbors(list);
        const double first = now() - start;
        const double build = median_ms(runs, [&] { index.build(scene.points()); });
        const double full = median_ms(runs, [&] { index.find_neighbors(list); });
        const std::uint64_t entries = list.entries();
        const double half = median_ms(runs, [&] { index.find_neighbors(list, {.half = true}); });
        std::vector<std::uint32_t> counts;
        const double count = median_ms(runs, [&] { index.count_neighbors(counts); });
        const double input = median_ms(1, [&] { index.find_neighbors(list, {.order = RowOrder::input}); });
        std::printf("%-14s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %12llu\n", c.name, first, build, full,
                    build + full, build + half, build + count, build + input, static_cast<unsigned long long>(entries));
    }
    if (n > 2000000) return 0;
    workloads::MovingPoints<3, float> moving(workloads::PointScene::moving, n);
    Index kept({.radius = moving.radius(), .executor = executor.get()});
    NeighborList list;
    kept.build(moving.points());
    kept.find_neighbors(list);
    std::vector<double> steps, fresh;
    for (int step = 0; step < 2 * runs; ++step) {
        moving.step();
        steps.push_back(median_ms(1, [&] {
            kept.update(moving.points());
            kept.find_neighbors(list);
        }));
        fresh.push_back(median_ms(1, [&] {
            Index other({.radius = moving.radius(), .executor = executor.get()});
            other.build(moving.points());
            NeighborList new_list;
            other.find_neighbors(new_list);
        }));
    }
    std::sort(steps.begin(), steps.end());
    std::sort(fresh.begin(), fresh.end());
    std::printf("W4: step %.1f, fresh object %.1f\n", steps[steps.size() / 2], fresh[fresh.size() / 2]);
    const double nearest = median_ms(3, [&] { kept.find_nearest(16, list); });
    std::printf("16 nearest: %.1f\n", nearest);
}
