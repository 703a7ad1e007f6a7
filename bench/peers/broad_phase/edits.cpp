// quadrat_peers_edits [N] [--json FILE]: single inserts, moves and erasures in a set of N boxes (a million unless
// said), quadrat beside Bullet's dynamic tree, in alternating batches of one run. A move goes up to a fifth of the size
// of a box, as in HHG 4. quadrat's times include the sorting that its edits cause now and then; Bullet's tree moves a
// leaf in two ways, always (update) and only when it left its fat box (update with a margin, as in btDbvtBroadphase).
// At the end the pairs of the edited structure are held against those of a new one.
#include "base/random.hpp"
#include "io/checksum.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <BulletCollision/BroadphaseCollision/btDbvt.h>
#include <nlohmann/json.hpp>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace {

using namespace quadrat;

template <class Fn>
double nanoseconds(Fn&& fn) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

btDbvtVolume volume(const Box3f& b) {
    return btDbvtVolume::FromMM({b.lo[0], b.lo[1], b.lo[2]}, {b.hi[0], b.hi[1], b.hi[2]});
}

// One kind of edit: the time of each batch by each side.
struct Kind {
    const char* name;
    std::vector<double> quadrat, bullet, bullet_fat;
};

// A step in which a share of the boxes moves, one by one, and the pairs are found; the last row moves all in bulk.
nlohmann::json partial_steps(std::size_t n) {
    nlohmann::json report = nlohmann::json::array();
    std::printf("a step in which a share of %zu boxes moves one by one, ms (median of 7)\n", n);
    std::printf("  %10s %10s %12s %10s\n", "moved", "moves", "find_pairs", "loose");
    for (const double share : {0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 1.0}) {
        workloads::MovingBoxes<3, float> world(workloads::BoxScene::equal, n);
        HashGridHierarchy<3, float> grid;
        grid.insert(world.boxes());
        base::SplitMix random(5);
        std::vector<Pair> pairs;
        std::vector<double> move, find;
        const auto count = static_cast<std::size_t>(share * static_cast<double>(n));
        for (int step = 0; step < 9; ++step) {
            world.step();
            const double moving = nanoseconds([&] {
                if (share == 1)
                    grid.update(world.boxes());
                else
                    for (std::size_t k = 0; k < count; ++k) {
                        const auto i = static_cast<std::uint32_t>(random.below(n));
                        grid.move(grid.id(i), world.boxes()[i]);
                    }
            });
            const double finding = nanoseconds([&] { grid.find_pairs(pairs); });
            if (step < 2) continue;
            move.push_back(moving * 1e-6);
            find.push_back(finding * 1e-6);
        }
        std::sort(move.begin(), move.end());
        std::sort(find.begin(), find.end());
        std::printf("  %9.1f%% %10.2f %12.2f %10zu%s\n", 100 * share, move[3], find[3], grid.stats().loose,
                    share == 1 ? "  (in bulk)" : "");
        report.push_back({{"share", share}, {"n", n}, {"move_ms", move[3]}, {"find_pairs_ms", find[3]}});
    }
    return report;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 && argv[1][0] != '-' ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    const std::size_t batch = std::max<std::size_t>(1, n / 20);
    constexpr int rounds = 12;
    // Otherwise a large block that quadrat asks for makes malloc tidy up a million freed nodes of the trees, on
    // quadrat's time.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    workloads::MovingBoxes<3, float> world(workloads::BoxScene::sizes, n);
    std::vector<Box3f> boxes(world.boxes().begin(), world.boxes().end());

    HashGridHierarchy<3, float> grid;
    grid.insert(boxes);
    std::vector<Id> ids(n);
    for (std::uint32_t i = 0; i < n; ++i) ids[i] = grid.id(i);
    btDbvt tree, fat_tree;
    std::vector<btDbvtNode*> leaves(n), fat_leaves(n);
    for (std::size_t i = 0; i < n; ++i) leaves[i] = tree.insert(volume(boxes[i]), nullptr);
    for (std::size_t i = 0; i < n; ++i) fat_leaves[i] = fat_tree.insert(volume(boxes[i]), nullptr);

    base::SplitMix random(99);
    Kind moves{"move", {}, {}, {}}, erasures{"erase", {}, {}, {}}, inserts{"insert", {}, {}, {}};
    std::vector<std::uint32_t> chosen(batch);
    std::vector<btDbvtVolume> volumes(batch);
    const auto choose = [&](bool shift) {  // different boxes, each moved by up to a fifth of its size
        const std::size_t start = random.below(n), stride = 2 * random.below(n / 4) + 1;
        for (std::size_t k = 0; k < batch; ++k) {
            const auto i = static_cast<std::uint32_t>((start + k * stride) % n);
            chosen[k] = i;
            const float size = boxes[i].hi[0] - boxes[i].lo[0];
            for (int a = 0; a < 3 && shift; ++a) {
                const float by = size * static_cast<float>(random.uniform(-0.2, 0.2)) / 1.8f;
                boxes[i].lo[a] += by;
                boxes[i].hi[a] += by;
            }
            volumes[k] = volume(boxes[i]);
        }
    };
    const auto per_edit = [&](double total) { return total / static_cast<double>(batch); };
    for (int round = 0; round < rounds; ++round) {
        choose(true);
        moves.quadrat.push_back(per_edit(nanoseconds([&] {
            for (std::size_t k = 0; k < batch; ++k) grid.move(ids[chosen[k]], boxes[chosen[k]]);
        })));
        moves.bullet.push_back(per_edit(nanoseconds([&] {
            for (std::size_t k = 0; k < batch; ++k) tree.update(leaves[chosen[k]], volumes[k]);
        })));
        moves.bullet_fat.push_back(per_edit(nanoseconds([&] {
            for (std::size_t k = 0; k < batch; ++k) {
                btDbvtVolume v = volumes[k];
                fat_tree.update(fat_leaves[chosen[k]], v, 0.05f);
            }
        })));
        choose(false);
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        chosen.resize(batch, chosen.back());
        const std::size_t count = static_cast<std::size_t>(std::unique(chosen.begin(), chosen.end()) - chosen.begin());
        for (std::size_t k = count; k-- > 1;) std::swap(chosen[k], chosen[random.below(k + 1)]);
        for (std::size_t k = 0; k < count; ++k) volumes[k] = volume(boxes[chosen[k]]);
        const double each = static_cast<double>(count);
        erasures.quadrat.push_back(nanoseconds([&] {
                                       for (std::size_t k = 0; k < count; ++k) grid.erase(ids[chosen[k]]);
                                   }) /
                                   each);
        erasures.bullet.push_back(nanoseconds([&] {
                                      for (std::size_t k = 0; k < count; ++k) tree.remove(leaves[chosen[k]]);
                                  }) /
                                  each);
        inserts.quadrat.push_back(nanoseconds([&] {
                                      for (std::size_t k = 0; k < count; ++k)
                                          ids[chosen[k]] = grid.insert(boxes[chosen[k]]);
                                  }) /
                                  each);
        inserts.bullet.push_back(nanoseconds([&] {
                                     for (std::size_t k = 0; k < count; ++k)
                                         leaves[chosen[k]] = tree.insert(volumes[k], nullptr);
                                 }) /
                                 each);
    }

    // By slot the boxes have been permuted by erasing and inserting; compare in the caller's numbers.
    std::vector<std::uint32_t> number(grid.slots());
    for (std::uint32_t i = 0; i < n; ++i) number[ids[i].slot] = i;
    std::vector<Pair> edited, fresh = find_pairs(boxes);
    grid.find_pairs(edited);
    for (Pair& p : edited) {
        const std::uint32_t a = number[p.first], b = number[p.second];
        p = {std::min(a, b), std::max(a, b)};
    }
    const bool equal = io::checksum(edited) == io::checksum(fresh);

    nlohmann::json report = nlohmann::json::array();
    std::printf("single edits of %zu boxes, ns each (mean of %d batches of %zu)\n", n, rounds, batch);
    std::printf("  %-8s %10s %12s %8s %18s %8s\n", "", "quadrat", "btDbvt", "ratio", "btDbvt, margin", "ratio");
    for (const Kind* kind : {&inserts, &moves, &erasures}) {
        const double a = mean(kind->quadrat), b = mean(kind->bullet), c = mean(kind->bullet_fat);
        std::printf("  %-8s %10.1f %12.1f %8.1f", kind->name, a, b, b / a);
        if (c > 0) std::printf(" %18.1f %8.1f", c, c / a);
        std::printf("\n");
        report.push_back({{"edit", kind->name},
                          {"n", n},
                          {"quadrat_ns", a},
                          {"btDbvt_ns", b},
                          {"btDbvt_margin_ns", c},
                          {"quadrat_batches", kind->quadrat},
                          {"btDbvt_batches", kind->bullet}});
    }
    std::printf("  pairs after the edits: %zu, %s\n", edited.size(), equal ? "those of a new structure" : "WRONG");
    const nlohmann::json steps = partial_steps(n);
    report.insert(report.end(), steps.begin(), steps.end());
    for (int k = 1; k + 1 < argc; ++k)
        if (std::strcmp(argv[k], "--json") == 0) std::ofstream(argv[k + 1]) << report.dump(1) << '\n';
    return equal ? 0 : 1;
}
