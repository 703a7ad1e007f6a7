// FCL: the dynamic tree of boxes.
#include "peer.hpp"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/box.h>

namespace {

using quadrat::Box3f;
using quadrat::Pair;

class Fcl : public Peer {
  public:
    void setup(std::span<const Box3f> boxes) override {
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            auto shape = std::make_shared<fcl::Boxf>(1.f, 1.f, 1.f);
            objects_.push_back(std::make_unique<fcl::CollisionObjectf>(shape));
            objects_.back()->setUserData(reinterpret_cast<void*>(i));
            place(i, boxes[i]);
            manager_.registerObject(objects_.back().get());
        }
        manager_.setup();
    }

    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        for (std::size_t i = 0; i < boxes.size(); ++i) place(i, boxes[i]);
        manager_.update();
        pairs.clear();
        struct State {
            std::span<const Box3f> boxes;
            std::vector<Pair>* pairs;
        } state{boxes, &pairs};
        manager_.collide(&state, [](fcl::CollisionObjectf* x, fcl::CollisionObjectf* y, void* data) {
            State& s = *static_cast<State*>(data);
            const auto a = static_cast<std::uint32_t>(reinterpret_cast<std::size_t>(x->getUserData()));
            const auto b = static_cast<std::uint32_t>(reinterpret_cast<std::size_t>(y->getUserData()));
            if (quadrat::overlap(s.boxes[a], s.boxes[b])) s.pairs->push_back({std::min(a, b), std::max(a, b)});
            return false;
        });
    }

  private:
    // The box is put into the object directly: a user would keep it up to date the same way.
    void place(std::size_t i, const Box3f& b) {
        auto& box = const_cast<fcl::AABBf&>(objects_[i]->getAABB());
        box.min_ = {b.lo[0], b.lo[1], b.lo[2]};
        box.max_ = {b.hi[0], b.hi[1], b.hi[2]};
    }

    std::vector<std::unique_ptr<fcl::CollisionObjectf>> objects_;
    fcl::DynamicAABBTreeCollisionManagerf manager_;
};

}  // namespace

std::unique_ptr<Peer> make_fcl() {
    return std::make_unique<Fcl>();
}
