#include "render/ray_tracer.hpp"

#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.hpp"
#include "base/surfaces.hpp"
#include "render/vector.hpp"

namespace quadrat::render {
namespace {

std::array<int, 3> pixel(const std::vector<std::uint8_t>& pixels, std::uint32_t width, std::uint32_t x,
                         std::uint32_t y) {
    const std::size_t at = 3 * (std::size_t{y} * width + x);
    return {pixels[at], pixels[at + 1], pixels[at + 2]};
}

Stage red_ball() {
    Stage stage;
    stage.balls.push_back({.balls = {{{0, 0, 1}, 1}}, .colors = {{0.8f, 0.02f, 0.02f}}, .finish = {.coat = 0}});
    stage.floor = Floor{.height = 0, .fade = 100};
    stage.camera = {.eye = {0, -8, 2}, .target = {0, 0, 1}, .field_of_view = 0.7f};
    stage.sun.direction = {1, 0, 1};  // from the right: the shadow falls to the left
    return stage;
}

Shape box_shape(const Box3f& box, const Color& color) {
    Shape shape;
    for (std::uint32_t c = 0; c < 8; ++c) shape.vertices.push_back(base::box_corner(box, c));
    shape.triangles.assign(base::box_triangles.begin(), base::box_triangles.end());
    shape.colors = {color};
    return shape;
}

// Balls, a smooth mesh and a liquid: every branch of the tracer.
Stage everything(std::size_t balls) {
    Stage stage = red_ball();
    base::SplitMix random(3);
    Balls many;
    for (std::size_t i = 0; i < balls; ++i) {
        many.balls.push_back({{static_cast<float>(random.uniform(-3, 3)), static_cast<float>(random.uniform(-3, 3)),
                               static_cast<float>(random.uniform(0, 3))},
                              static_cast<float>(random.uniform(0.01, 0.1))});
        many.colors.push_back({static_cast<float>(random.uniform()), 0.5f, 0.2f});
    }
    stage.balls.push_back(many);
    Shape box = box_shape({{1.2f, -2, 0}, {2, -1, 1}}, {0.2f, 0.6f, 0.3f});
    box.normals = smooth_normals(box.vertices, box.triangles);
    stage.shapes.push_back(box);
    stage.shapes.push_back(frame_shape({{-3, -3, 0}, {3, 3, 3}}, 0.05f, {0.3f, 0.3f, 0.3f}));
    stage.liquids.push_back({.shape = box_shape({{-2, -3, 0.01f}, {0, -2, 1}}, {}),
                             .absorption = {1, 0.3f, 0.1f},
                             .scatter = {0.1f, 0.3f, 0.5f},
                             .haze = 0.2f});
    return stage;
}

// A block of liquid cut in two, apart by a little or one into the other, looks as if it were whole.
TEST(RayTracer, LiquidsThatTouchHaveNoSurfaceBetweenThem) {
    const auto picture = [](const std::vector<Box3f>& parts, float gap) {
        Stage stage = red_ball();
        for (const Box3f& part : parts)
            stage.liquids.push_back(
                {.shape = box_shape(part, {}), .absorption = {0.3f, 0.1f, 0.05f}, .scatter = {0.1f, 0.3f, 0.5f}});
        stage.gap = gap;
        return trace(stage, {.width = 80, .height = 60, .samples = 16});
    };
    const auto difference = [](const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(double(a[i]) - double(b[i]));
        return sum / static_cast<double>(a.size());
    };
    const auto whole = picture({{{-2, -4, 0.01f}, {2, -2, 2}}}, 0);
    const std::vector<Box3f> apart = {{{-2, -4, 0.01f}, {2, -3.05f, 2}}, {{-2, -2.95f, 0.01f}, {2, -2, 2}}},
                             across = {{{-2, -4, 0.01f}, {2, -2.95f, 2}}, {{-2, -3.05f, 0.01f}, {2, -2, 2}}};
    EXPECT_LT(difference(whole, picture(apart, 0.2f)), 0.6 * difference(whole, picture(apart, 0)));
    EXPECT_LT(difference(whole, picture(across, 0.2f)), 0.6 * difference(whole, picture(apart, 0)));
}

TEST(RayTracer, ShowsWhatIsThere) {
    const auto pixels = trace(red_ball(), {.width = 160, .height = 120, .samples = 4});
    ASSERT_EQ(pixels.size(), 160u * 120 * 3);
    const auto ball = pixel(pixels, 160, 88, 55), sky = pixel(pixels, 160, 5, 5);
    EXPECT_GT(ball[0], 2 * ball[1]);
    EXPECT_GE(sky[2] + 30, sky[0]);
    // On the floor to the left lies the shadow, to the right the sun.
    const auto shadow = pixel(pixels, 160, 45, 81), light = pixel(pixels, 160, 130, 81);
    EXPECT_LT(shadow[0] + 30, light[0]);
}

TEST(RayTracer, SeesFromStraightAboveAndBelow) {
    Stage stage = red_ball();
    stage.floor.reset();
    for (const float height : {8.0f, -6.0f}) {
        stage.camera = {.eye = {0, 0, height}, .target = {0, 0, 1}, .field_of_view = 0.7f};
        const auto pixels = trace(stage, {.width = 80, .height = 60, .samples = 2});
        const auto ball = pixel(pixels, 80, 40, 30), beside = pixel(pixels, 80, 3, 3);
        EXPECT_GT(ball[0], 2 * ball[1]);
        EXPECT_LT(beside[0], 2 * beside[1]);
    }
}

TEST(RayTracer, SameBytesForAnyThreads) {
    const Stage stage = everything(2000);
    const TraceOptions options{.width = 96, .height = 64, .samples = 3};
    const auto serial = trace(stage, options);
    for (const unsigned threads : {1u, 2u, 3u}) {
        const auto executor = make_executor(threads);
        TraceOptions parallel = options;
        parallel.executor = executor.get();
        EXPECT_EQ(serial, trace(stage, parallel)) << threads;
    }
}

TEST(RayTracer, AnEmptyStageIsSky) {
    const auto pixels = trace({}, {.width = 8, .height = 8, .samples = 1});
    for (const std::uint8_t p : pixels) EXPECT_GT(p, 100);
    Stage only_empty;
    only_empty.balls.push_back({});
    only_empty.shapes.push_back({.colors = {{1, 1, 1}}});
    EXPECT_EQ(trace(only_empty, {.width = 8, .height = 8, .samples = 1}), pixels);
}

TEST(RayTracer, RefusesWhatDoesNotFit) {
    Stage stage;
    stage.shapes.push_back({.vertices = {{0, 0, 0}}, .triangles = {{0, 0, 1}}, .colors = {{1, 1, 1}}});
    EXPECT_THROW((void)trace(stage), Error);
    stage.shapes[0] = {.vertices = {{0, 0, 0}}, .triangles = {{0, 0, 0}}};
    EXPECT_THROW((void)trace(stage), Error);
    stage.shapes[0] = {.vertices = {{0, 0, 0}}, .normals = {{0, 0, 1}, {0, 0, 1}}, .colors = {{1, 1, 1}}};
    EXPECT_THROW((void)trace(stage), Error);
    stage = {};
    stage.balls.push_back({.balls = {{{0, 0, 0}, 1}, {{0, 0, 0}, 1}}, .colors = {}});
    EXPECT_THROW((void)trace(stage), Error);
}

TEST(RayTracer, StopsWhenAsked) {
    StopSource stop;
    stop.request_stop();
    try {
        (void)trace(red_ball(), {.watch = {.stop = stop, .report = {}}});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::stopped);
    }
}

TEST(RayTracer, TheCameraHoldsTheBox) {
    base::SplitMix random(9);
    for (int round = 0; round < 100; ++round) {
        Box3f box;
        for (int k = 0; k < 3; ++k) {
            box.lo[k] = static_cast<float>(random.uniform(-10, 10));
            box.hi[k] = box.lo[k] + static_cast<float>(std::exp2(random.uniform(-6, 6)));
        }
        if (round % 10 == 0) box.hi[2] = box.lo[2] = 0;
        const float aspect = 16.0f / 9;
        const Camera c = camera_for(box, aspect);
        const Vec3f forward = normalized(sub(c.target, c.eye)), right = normalized(cross(forward, c.up));
        const Vec3f up = cross(right, forward);
        const float half = std::tan(c.field_of_view / 2);
        for (int k = 0; k < 8; ++k) {
            const Vec3f d = sub(
                {k & 1 ? box.hi[0] : box.lo[0], k & 2 ? box.hi[1] : box.lo[1], k & 4 ? box.hi[2] : box.lo[2]}, c.eye);
            const float depth = dot(d, forward);
            EXPECT_GT(depth, 0);
            EXPECT_LE(std::abs(dot(d, up)), half * depth * 1.001f);
            EXPECT_LE(std::abs(dot(d, right)), aspect * half * depth * 1.001f);
        }
    }
}

TEST(RayTracer, BarsOfAFrameAreClosedAndFaceOut) {
    const Shape frame = frame_shape({{-1, -2, -3}, {3, 2, 1}}, 0.5f, {});
    double volume = 0;
    for (const Triangle& t : frame.triangles)
        volume += static_cast<double>(dot(frame.vertices[t.a], cross(frame.vertices[t.b], frame.vertices[t.c]))) / 6;
    // Twelve bars of 4 + 0.5, which cross at the corners.
    EXPECT_NEAR(volume, 12 * 4.5 * 0.25, 1e-3);
}

}  // namespace
}  // namespace quadrat::render
