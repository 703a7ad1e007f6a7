// HHG 4.5: against sweep and prune, with much movement (28), little (29) and none that matters (30), and the setup
// (27). Bullet's sweep along three axes is beside ours where it is installed.
#include "structures.hpp"
#include "sweep.hpp"

#if HAVE_BULLET
#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#endif

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

namespace hhg {
namespace {

#if HAVE_BULLET
class BulletSweep {
  public:
    explicit BulletSweep(const Scenario& world, std::size_t n) {
        const auto rim = [&](int k) { return static_cast<float>(world.side(k) * 0.05 + 100); };
        const btVector3 lo(-rim(0), -rim(1), -rim(2));
        const btVector3 hi(float(world.side(0)) + rim(0), float(world.side(1)) + rim(1), float(world.side(2)) + rim(2));
        world_ = std::make_unique<bt32BitAxisSweep3>(lo, hi, static_cast<unsigned>(n + 2));
    }
    void insert(const Box3f& b) {
        proxies_.push_back(
            world_->createProxy({b.lo[0], b.lo[1], b.lo[2]}, {b.hi[0], b.hi[1], b.hi[2]}, 0, nullptr, 1, 1, nullptr));
    }
    void update(std::span<const Box3f> boxes) {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            world_->setAabb(proxies_[i], {boxes[i].lo[0], boxes[i].lo[1], boxes[i].lo[2]},
                            {boxes[i].hi[0], boxes[i].hi[1], boxes[i].hi[2]}, nullptr);
        world_->calculateOverlappingPairs(nullptr);
    }

  private:
    std::unique_ptr<bt32BitAxisSweep3> world_;
    std::vector<btBroadphaseProxy*> proxies_;
};
#endif

}  // namespace

void figure27_30(const char* json) {
    papers::Report report({"figure", "objects", "all_pairs_ms", "grids_ms", "sweep_ms", "bullet_sweep_ms", "quadrat_ms",
                           "grids_setup_ms", "sweep_setup_ms", "bullet_setup_ms"});
    struct Case {
        int figure;
        double movement, shrink;
    };
    for (const Case c : {Case{28, 0.2, 1}, Case{29, 0.01, 1}, Case{30, 0.01, 1e5}})
        for (const std::size_t n : {100, 300, 1000, 3000, 10000}) {
            Scenario world({.n = n, .movement = c.movement, .shrink = c.shrink});
            PaperGrids grids;
            SweepAndPrune sweep;
            const double grids_setup = papers::milliseconds([&] { grids.setup(world.boxes()); });
            const double sweep_setup = papers::milliseconds([&] {
                for (std::uint32_t i = 0; i < n; ++i) sweep.insert(i, world.boxes()[i]);
            });
            double bullet = 0, bullet_setup = 0;
            const double paper = paper_step(world, grids);
            const double swept = per_step([&] { sweep.update(world.boxes()); }, [&] { world.step(); });
#if HAVE_BULLET
            BulletSweep rival(world, n);
            bullet_setup = papers::milliseconds([&] {
                for (const Box3f& b : world.boxes()) rival.insert(b);
            });
            bullet = per_step([&] { rival.update(world.boxes()); }, [&] { world.step(); });
#endif
            const double own = quadrat_step(world);
            std::size_t pairs = 0;
            const double brute = per_step([&] { pairs = all_pairs(world.boxes()); }, [&] { world.step(); });
            grids.update(world.boxes());
            sweep.update(world.boxes());
            if (grids.detect() != pairs || sweep.pairs() != pairs)
                throw std::runtime_error("pairs differ at N = " + std::to_string(n));
            report.row({double(c.figure), double(n), brute, paper, swept, bullet, own, grids_setup, sweep_setup,
                        bullet_setup});
        }
    report.write(json);
}

}  // namespace hhg
