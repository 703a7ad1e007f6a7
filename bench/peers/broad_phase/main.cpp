// quadrat_peers_broad_phase SCENE N THREADS STEPS [--json FILE]: quadrat and its rivals on the same moving boxes, one
// after the other at every step of one run. All must agree on the pairs of the last step.
#include "peer.hpp"

#include "base/scenes.hpp"
#include "io/checksum.hpp"

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
    std::uint64_t checksum = 0;
    std::size_t pairs = 0;
    double query_ms = -1;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: %s B1..B6 N THREADS STEPS [--json FILE]\n", argv[0]);
        return 2;
    }
    const auto scene = base::box_scene(argv[1]);
    if (!scene) return 2;
    const std::size_t n = std::strtoull(argv[2], nullptr, 10);
    const int threads = std::atoi(argv[3]), steps = std::atoi(argv[4]);
    base::MovingBoxes<3, float> world(*scene, n);
    const auto executor = make_executor(static_cast<unsigned>(threads));
    std::vector<Row> rows;
    rows.push_back({"quadrat", std::make_unique<Quadrat>(executor.get()), 0, {}, 0, 0, -1});
    if (*scene == base::BoxScene::calm)
        rows.push_back({"quadrat, kept pairs", std::make_unique<Kept>(executor.get()), 0, {}, 0, 0, -1});
    rows.push_back({"Embree rtcCollide", make_embree(threads), 0, {}, 0, 0, -1});
    if (threads == 1) {
        rows.push_back({"Boost rtree", make_boost(), 0, {}, 0, 0, -1});
        rows.push_back({"CGAL box_self_intersection", make_cgal(), 0, {}, 0, 0, -1});
        if (n <= 200'000) {
            if (*scene != base::BoxScene::mix)  // minutes per step on boxes of such different sizes
                rows.push_back({"FCL dynamic tree", make_fcl(), 0, {}, 0, 0, -1});
            rows.push_back({"Bullet btDbvt", make_bullet_dbvt(), 0, {}, 0, 0, -1});
        }
        if (n <= 10'000) rows.push_back({"Bullet bt32BitAxisSweep3", make_bullet_sap(), 0, {}, 0, 0, -1});
    }
    std::vector<Pair> pairs;
    for (Row& row : rows) {
        const double t = now();
        row.peer->setup(world.boxes());
        row.setup = now() - t;
    }
    for (int s = 0; s < steps + 2; ++s) {
        world.step();
        for (Row& row : rows) {
            const double t = now();
            row.peer->step(world.boxes(), pairs);
            if (s >= 2) row.steps.push_back(now() - t);  // two to warm up
            row.checksum = io::checksum(pairs);
            row.pairs = pairs.size();
        }
    }
    long hits = -1;
    if (*scene == base::BoxScene::mix) {
        std::vector<Box3f> queries;
        for (const auto& s : base::short_segments<3, float>(1'000'000, world.side(), 16)) {
            Box3f box;
            for (int k = 0; k < 3; ++k) {
                box.lo[k] = std::min(s.a[k], s.b[k]);
                box.hi[k] = std::max(s.a[k], s.b[k]);
            }
            queries.push_back(box);
        }
        for (Row& row : rows) {
            const double t = now();
            const long found = row.peer->query(queries);
            if (found < 0) continue;
            row.query_ms = now() - t;
            if (hits < 0) hits = found;
            if (found != hits) {
                std::fprintf(stderr, "%s: %ld hits, expected %ld\n", row.name.c_str(), found, hits);
                if (row.name != "Bullet btDbvt") return 1;  // fat boxes: its query reports more
            }
        }
    }
    nlohmann::json report = nlohmann::json::array();
    bool equal = true;
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
                threads, rows[0].pairs, steps);
    for (const Row& row : rows) {
        equal = equal && row.checksum == rows[0].checksum;
        const double ms = median(row.steps);
        std::printf("  %-28s %10.2f  %6.1fx  mean %9.2f  setup %9.1f", row.name.c_str(), ms, ms / ours, mean(row.steps),
                    row.setup);
        if (row.query_ms >= 0) std::printf("  1 M queries %9.1f", row.query_ms);
        std::printf("%s\n", row.checksum == rows[0].checksum ? "" : "  PAIRS DIFFER");
        report.push_back({{"scenario", argv[1]},
                          {"n", n},
                          {"threads", threads},
                          {"name", row.name},
                          {"ms_per_step", ms},
                          {"mean_ms_per_step", mean(row.steps)},
                          {"setup_ms", row.setup},
                          {"pairs", row.pairs},
                          {"query_ms", row.query_ms}});
    }
    if (argc >= 7 && std::strcmp(argv[5], "--json") == 0) std::ofstream(argv[6]) << report.dump(1) << '\n';
    return equal ? 0 : 1;
}
