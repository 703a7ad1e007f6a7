#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/error.hpp>

#include "base/random.hpp"
#include "cells/segment_test.hpp"
#include "support/oracle.hpp"
#include "workloads/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace quadrat {
namespace {

template <int D, class T>
void check_hostile_boxes() {
    base::SplitMix random(3);
    for (const auto& options : {MultilevelHashOptions{}, MultilevelHashOptions{.table_per_class = false},
                                MultilevelHashOptions{.smallest = 0.5, .levels = 3}}) {
        MultilevelHash<D, T> hash(options);
        for (const auto& scene : workloads::hostile_boxes<D, T>()) {
            const std::span<const Box<D, T>> boxes(scene.boxes);
            hash.build(boxes);
            std::vector<Pair> pairs, streamed;
            hash.find_pairs(pairs);
            hash.for_each_pair([&](Pair p) { streamed.push_back(p); });
            EXPECT_EQ(pairs, streamed);
            EXPECT_TRUE(test::same_self_pairs(test::oracle_pairs(boxes), pairs)) << scene.name;
            for (int i = 0; i < 20; ++i) {
                Segment<D, T> s;
                for (int k = 0; k < D; ++k) {
                    s.a[k] = static_cast<T>(random.uniform(-3, 12));
                    s.b[k] = s.a[k] + static_cast<T>(random.uniform(-3, 3));
                }
                std::vector<std::uint32_t> expected, found;
                for (std::uint32_t o = 0; o < boxes.size(); ++o)
                    if (cells::meets(s, boxes[o])) expected.push_back(o);
                hash.find(s, found);
                std::sort(found.begin(), found.end());
                EXPECT_EQ(found, expected) << scene.name;
            }
        }
    }
}

TEST(MultilevelHash, HostileBoxes2f) {
    check_hostile_boxes<2, float>();
}
TEST(MultilevelHash, HostileBoxes2d) {
    check_hostile_boxes<2, double>();
}
TEST(MultilevelHash, HostileBoxes3f) {
    check_hostile_boxes<3, float>();
}
TEST(MultilevelHash, HostileBoxes3d) {
    check_hostile_boxes<3, double>();
}

TEST(MultilevelHash, SharedScenesOnAnyNumberOfThreads) {
    for (const char* name : {"B1", "B2", "B3", "B4", "B6"}) {
        const workloads::MovingBoxes<3, float> world(*workloads::box_scene(name), 2000);
        MultilevelHash<3, float> serial;
        serial.build(world.boxes());
        std::vector<Pair> pairs, threaded;
        serial.find_pairs(pairs);
        EXPECT_TRUE(test::same_self_pairs(test::oracle_pairs(world.boxes()), pairs)) << name;
        ThreadExecutor pool(3);
        MultilevelHash<3, float> parallel({.executor = &pool});
        parallel.build(world.boxes());
        parallel.find_pairs(threaded);
        EXPECT_EQ(pairs, threaded) << name;
    }
}

TEST(MultilevelHash, BadInput) {
    MultilevelHash<2, float> hash;
    const std::vector<Box2f> bad = {{{0, 0}, {1, 1}}, {{1, 1}, {0, 2}}};
    EXPECT_THROW(hash.build(std::span<const Box2f>(bad)), Error);
    EXPECT_THROW((MultilevelHash<2, float>({.levels = -1})), Error);
}

}  // namespace
}  // namespace quadrat
