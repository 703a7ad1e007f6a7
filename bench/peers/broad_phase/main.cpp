// quadrat_peers_broad_phase SCENE N THREADS STEPS [--json FILE]: quadrat and its rivals on the same moving boxes, in
// turns of a few steps in one run: each moves its world and finds its pairs, as a simulation does, and the first step
// of a turn finds the caches as the others left them. All must agree on the pairs of each turn.
#include "peer.hpp"

#include "cells/segment_test.hpp"
#include "io/checksum.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace {

using namespace quadrat;

class Quadrat : public Peer {
  public:
    explicit Quadrat(Executor* executor) : grid_({.executor = executor}) {}
    void setup(std::span<const Box3f> boxes) override { grid_.insert(boxes); }
    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        grid_.update(boxes);
        grid_.find_pairs(pairs);
    }
    long query(std::span<const Box3f> queries) override {
        long hits = 0;
        grid_.find_each(queries, [&](std::uint32_t, std::span<const std::uint32_t> found) {
            hits += static_cast<long>(found.size());
        });
        return hits;
    }
    long query(std::span<const Segment3f> segments) override {
        long hits = 0;
        grid_.find_each(segments, [&](std::uint32_t, std::span<const std::uint32_t> found) {
            hits += static_cast<long>(found.size());
        });
        return hits;
    }

  private:
    HashGridHierarchy<3, float> grid_;
};

class Kept : public Peer {
  public:
    explicit Kept(Executor* executor) : kept_({.executor = executor}) {}
    void setup(std::span<const Box3f> boxes) override { kept_.insert(boxes); }
    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        kept_.update(boxes);
        kept_.find_pairs(pairs);
    }

  private:
    KeptPairs<3, float> kept_;
};

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Row {
    std::string name;
    std::unique_ptr<Peer> peer;
    double setup = 0;
    std::vector<double> steps;
    std::vector<Pair> pairs = {};
    bool equal = true;
    double query_ms = -1, segments_ms = -1;
};

constexpr int steps_in_turn = 4;

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: %s B1..B6 N THREADS STEPS [--json FILE]\n", argv[0]);
        return 2;
    }
    const auto scene = workloads::box_scene(argv[1]);
    if (!scene) return 2;
    const std::size_t n = std::strtoull(argv[2], nullptr, 10);
    const int threads = std::atoi(argv[3]), steps = std::atoi(argv[4]);
    workloads::MovingBoxes<3, float> world(*scene, n);
    const auto executor = make_executor(static_cast<unsigned>(threads));
    std::vector<Row> rows;
    rows.push_back({"quadrat", std::make_unique<Quadrat>(executor.get())});
    if (*scene == workloads::BoxScene::calm)
        rows.push_back({"quadrat, kept pairs", std::make_unique<Kept>(executor.get())});
    rows.push_back({"Embree rtcCollide", make_embree(threads)});
    if (threads == 1) {
        rows.push_back({"Boost rtree", make_boost()});
        rows.push_back({"CGAL box_self_intersection", make_cgal()});
        if (n <= 200'000) {
            if (*scene != workloads::BoxScene::mix)  // minutes per step on boxes of such different sizes
                rows.push_back({"FCL dynamic tree", make_fcl()});
            rows.push_back({"Bullet btDbvt", make_bullet_dbvt()});
        }
        if (n <= 10'000) rows.push_back({"Bullet bt32BitAxisSweep3", make_bullet_sap()});
    }
    for (Row& row : rows) {
        const double t = now();
        row.peer->setup(world.boxes());
        row.setup = now() - t;
    }
    bool equal = true;
    for (int done = -steps_in_turn; done < steps; done += steps_in_turn) {  // one turn to warm up
        const workloads::MovingBoxes<3, float> start = world;
        std::uint64_t expected = 0;
        for (Row& row : rows) {
            world = start;
            for (int s = 0; s < steps_in_turn; ++s) {
                world.step();
                const double t = now();
                row.peer->step(world.boxes(), row.pairs);
                if (done >= 0) row.steps.push_back(now() - t);
            }
            const std::uint64_t checksum = io::checksum(row.pairs);
            if (&row == &rows[0]) expected = checksum;
            row.equal = row.equal && checksum == expected;
            equal = equal && row.equal;
        }
    }
    if (*scene == workloads::BoxScene::mix) {
        // Segments, and the boxes around them.
        const std::vector<Segment3f> segments = workloads::short_segments<3, float>(1'000'000, world.side(), 16);
        std::vector<Box3f> around;
        for (const Segment3f& s : segments) around.push_back(cells::bounds(s));
        const auto ask = [&](const auto& queries, double Row::*ms) {
            long hits = -1;
            for (Row& row : rows) {
                const double t = now();
                const long found = row.peer->query(std::span(queries));
                if (found < 0) continue;
                row.*ms = now() - t;
                if (hits < 0) hits = found;
                if (found == hits) continue;
                std::fprintf(stderr, "%s: %ld hits, expected %ld\n", row.name.c_str(), found, hits);
                // Bullet's boxes are fat: its query reports more.
                equal = equal && row.name == "Bullet btDbvt";
            }
        };
        ask(around, &Row::query_ms);
        ask(segments, &Row::segments_ms);
    }
    nlohmann::json report = nlohmann::json::array();
    const auto median = [](std::vector<double> v) {
        std::sort(v.begin(), v.end());
        return v[v.size() / 2];
    };
    // Beside the median: steps of kept pairs differ, most are cheap and some find everything anew.
    const auto mean = [](const std::vector<double>& v) {
        double sum = 0;
        for (const double x : v) sum += x;
        return sum / static_cast<double>(v.size());
    };
    const double ours = median(rows[0].steps);
    std::printf("%s, %zu boxes, %d thread(s), %zu pairs; ms per step (median of %d), times quadrat, mean\n", argv[1], n,
                threads, rows[0].pairs.size(), steps);
    for (const Row& row : rows) {
        const double ms = median(row.steps);
        std::printf("  %-28s %10.2f  %6.1fx  mean %9.2f  setup %9.1f", row.name.c_str(), ms, ms / ours, mean(row.steps),
                    row.setup);
        if (row.query_ms >= 0) std::printf("  1 M boxes %9.1f", row.query_ms);
        if (row.segments_ms >= 0) std::printf("  1 M segments %9.1f", row.segments_ms);
        std::printf("%s\n", row.equal ? "" : "  PAIRS DIFFER");
        report.push_back({{"scenario", argv[1]},
                          {"n", n},
                          {"threads", threads},
                          {"name", row.name},
                          {"ms_per_step", ms},
                          {"mean_ms_per_step", mean(row.steps)},
                          {"setup_ms", row.setup},
                          {"pairs", row.pairs.size()},
                          {"query_ms", row.query_ms},
                          {"segments_ms", row.segments_ms}});
    }
    if (argc >= 7 && std::strcmp(argv[5], "--json") == 0) std::ofstream(argv[6]) << report.dump(1) << '\n';
    return equal ? 0 : 1;
}
