// Bullet: the dynamic tree (pairs deferred and kept in its hash cache) and the sweep along three axes.
#include "peer.hpp"

#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>

namespace {

using quadrat::Box3f;
using quadrat::Pair;

class Bullet : public Peer {
  public:
    explicit Bullet(bool sweep) : sweep_(sweep) {}

    void setup(std::span<const Box3f> boxes) override {
        if (sweep_) {
            btVector3 lo(1e30f, 1e30f, 1e30f), hi(-1e30f, -1e30f, -1e30f);
            for (const Box3f& b : boxes) {
                lo.setMin(btVector3(b.lo[0], b.lo[1], b.lo[2]));
                hi.setMax(btVector3(b.hi[0], b.hi[1], b.hi[2]));
            }
            const btVector3 rim = (hi - lo) * 0.05f;
            world_ = std::make_unique<bt32BitAxisSweep3>(lo - rim, hi + rim, static_cast<unsigned>(boxes.size() + 2));
        } else {
            auto tree = std::make_unique<btDbvtBroadphase>();
            tree->m_deferedcollide = true;
            world_ = std::move(tree);
        }
        for (std::size_t i = 0; i < boxes.size(); ++i)
            proxies_.push_back(
                world_->createProxy(lo(boxes[i]), hi(boxes[i]), 0, reinterpret_cast<void*>(i), 1, 1, nullptr));
    }

    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            world_->setAabb(proxies_[i], lo(boxes[i]), hi(boxes[i]), nullptr);
        world_->calculateOverlappingPairs(nullptr);
        btBroadphasePairArray& found = world_->getOverlappingPairCache()->getOverlappingPairArray();
        pairs.clear();
        for (int k = 0; k < found.size(); ++k) {
            const auto a =
                static_cast<std::uint32_t>(reinterpret_cast<std::size_t>(found[k].m_pProxy0->m_clientObject));
            const auto b =
                static_cast<std::uint32_t>(reinterpret_cast<std::size_t>(found[k].m_pProxy1->m_clientObject));
            if (quadrat::overlap(boxes[a], boxes[b])) pairs.push_back({std::min(a, b), std::max(a, b)});
        }
    }

    long query(std::span<const Box3f> queries) override {
        struct Count : btBroadphaseAabbCallback {
            const Box3f* box;
            long hits = 0;
            bool process(const btBroadphaseProxy* p) override {
                const btVector3 &a = p->m_aabbMin, &b = p->m_aabbMax;
                bool hit = true;
                for (int k = 0; k < 3; ++k) hit = hit && a[k] <= box->hi[k] && box->lo[k] <= b[k];
                hits += hit;
                return true;
            }
        } count;
        if (sweep_) return -1;
        for (const Box3f& q : queries) {
            count.box = &q;
            world_->aabbTest(lo(q), hi(q), count);
        }
        return count.hits;
    }

  private:
    static btVector3 lo(const Box3f& b) { return {b.lo[0], b.lo[1], b.lo[2]}; }
    static btVector3 hi(const Box3f& b) { return {b.hi[0], b.hi[1], b.hi[2]}; }

    bool sweep_;
    std::unique_ptr<btBroadphaseInterface> world_;
    std::vector<btBroadphaseProxy*> proxies_;
};

}  // namespace

std::unique_ptr<Peer> make_bullet_dbvt() {
    return std::make_unique<Bullet>(false);
}
std::unique_ptr<Peer> make_bullet_sap() {
    return std::make_unique<Bullet>(true);
}
