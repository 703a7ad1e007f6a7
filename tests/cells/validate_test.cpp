#include "cells/validate.hpp"

#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace quadrat::cells {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

using test::thrown_by;

TEST(Validate, NamesTheFirstBadBox) {
    std::vector<Box3f> boxes(200000, Box3f{{0, 0, 0}, {1, 1, 1}});
    EXPECT_NO_THROW(check_boxes<3>(std::span<const Box3f>(boxes)));
    boxes[170001].hi[1] = nan;
    boxes[170017].lo[0] = nan;
    for (Executor* executor : {static_cast<Executor*>(nullptr), make_executor(3).release()}) {
        const std::unique_ptr<Executor> owner(executor);
        const Error e = thrown_by([&] { check_boxes<3>(std::span<const Box3f>(boxes), executor); });
        EXPECT_EQ(e.kind(), ErrorKind::bad_value);
        EXPECT_EQ(e.where().index, 170001u);
        EXPECT_EQ(e.where().column, 4u);
        EXPECT_EQ(e.message(), "NaN");
    }
}

TEST(Validate, InfiniteBoxesAreLegalInsideOut) {
    const auto fails = [](Box2f b) {
        try {
            check_boxes<2>(std::span<const Box2f>(&b, 1));
            return false;
        } catch (const Error&) {
            return true;
        }
    };
    EXPECT_FALSE(fails({{-inf, 0}, {inf, 0}}));
    EXPECT_FALSE(fails({{-inf, -inf}, {inf, inf}}));
    EXPECT_TRUE(fails({{inf, 0}, {inf, 0}}));
    EXPECT_TRUE(fails({{-inf, 0}, {-inf, 0}}));
    EXPECT_TRUE(fails({{1, 0}, {0, 0}}));
    EXPECT_TRUE(fails({{nan, 0}, {0, 0}}));
    EXPECT_TRUE(fails({{0, 0}, {0, nan}}));
}

TEST(Validate, PointsAreFinite) {
    std::vector<Vec2d> points(10, Vec2d{0, 0});
    EXPECT_NO_THROW(check_points<2>(std::span<const Vec2d>(points)));
    points[7][1] = -std::numeric_limits<double>::infinity();
    const Error e = thrown_by([&] { check_points<2>(std::span<const Vec2d>(points)); });
    EXPECT_EQ(e.where().index, 7u);
    EXPECT_EQ(e.where().column, 1u);
}

TEST(Validate, RadiiArePositive) {
    EXPECT_NO_THROW(check_radius(1e-40f));
    for (const float bad : {0.f, -1.f, nan, inf}) EXPECT_THROW(check_radius(bad), Error);
    EXPECT_EQ(thrown_by([] { check_radius(-1.0, "skin"); }).where().field, "skin");
    const std::vector<float> radii = {1, 2, 0};
    EXPECT_EQ(thrown_by([&] { check_radii(std::span<const float>(radii), 3); }).where().index, 2u);
    EXPECT_EQ(thrown_by([&] { check_radii(std::span<const float>(radii), 4); }).kind(), ErrorKind::bad_shape);
}

TEST(Validate, CountsFitIndices) {
    EXPECT_NO_THROW(check_count(0xFFFFFFFEu));
    EXPECT_EQ(thrown_by([] { check_count(0xFFFFFFFFu); }).kind(), ErrorKind::too_large);
}

}  // namespace
}  // namespace quadrat::cells
