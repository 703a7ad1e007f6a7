// Embree: rtcCollide of a scene with itself; low build quality, rebuilt at each step, or refitted: the better of the
// two here is rebuilding. Hits are collected by each thread for itself and put together at the end: a lock per callback
// would be ours, not Embree's.
#include "peer.hpp"

#include <embree3/rtcore.h>

#include <tbb/enumerable_thread_specific.h>

namespace {

using quadrat::Box3f;
using quadrat::Pair;

class Embree : public Peer {
  public:
    explicit Embree(int threads) {
        device_ = rtcNewDevice(("threads=" + std::to_string(threads)).c_str());
        scene_ = rtcNewScene(device_);
        rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_LOW);
        rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_DYNAMIC);
        geometry_ = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
        rtcSetGeometryBuildQuality(geometry_, RTC_BUILD_QUALITY_LOW);
    }
    ~Embree() override {
        rtcReleaseGeometry(geometry_);
        rtcReleaseScene(scene_);
        rtcReleaseDevice(device_);
    }

    void setup(std::span<const Box3f> boxes) override {
        boxes_ = boxes;
        rtcSetGeometryUserPrimitiveCount(geometry_, static_cast<unsigned>(boxes.size()));
        rtcSetGeometryUserData(geometry_, this);
        rtcSetGeometryBoundsFunction(
            geometry_,
            [](const RTCBoundsFunctionArguments* args) {
                const Box3f& b = static_cast<Embree*>(args->geometryUserPtr)->boxes_[args->primID];
                *args->bounds_o = {b.lo[0], b.lo[1], b.lo[2], 0, b.hi[0], b.hi[1], b.hi[2], 0};
            },
            nullptr);
        rtcCommitGeometry(geometry_);
        rtcAttachGeometry(scene_, geometry_);
        rtcCommitScene(scene_);
    }

    void step(std::span<const Box3f> boxes, std::vector<Pair>& pairs) override {
        boxes_ = boxes;
        rtcCommitGeometry(geometry_);
        rtcCommitScene(scene_);
        for (auto& found : found_) found.clear();
        rtcCollide(
            scene_, scene_,
            [](void* self, RTCCollision* hits, unsigned count) {
                auto& e = *static_cast<Embree*>(self);
                std::vector<Pair>& found = e.found_.local();
                for (unsigned k = 0; k < count; ++k) {
                    const unsigned a = hits[k].primID0, b = hits[k].primID1;
                    if (a < b && quadrat::overlap(e.boxes_[a], e.boxes_[b])) found.push_back({a, b});
                }
            },
            this);
        pairs.clear();
        for (const auto& found : found_) pairs.insert(pairs.end(), found.begin(), found.end());
    }

  private:
    RTCDevice device_;
    RTCScene scene_;
    RTCGeometry geometry_;
    std::span<const Box3f> boxes_;
    tbb::enumerable_thread_specific<std::vector<Pair>> found_;
};

}  // namespace

std::unique_ptr<Peer> make_embree(int threads) {
    return std::make_unique<Embree>(threads);
}
