// The angle at which grains lie. A block of spheres in a frame that is lifted slumps into a heap. Both frictions, along
// the surface and against rolling, make it steeper (Zhou, Xu, Yu & Zulli, Phys. Rev. E 64, 021301, 2001); without
// friction there is none. The bounds here are wide and our own: they hold the order, no published figure.
#include "simulation/grains/worlds.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace quadrat::test {
namespace {

GrainWall frame(double half, double height) {
    GrainWall w;
    for (int k = 0; k < 4; ++k) {
        const double x = k == 0 || k == 3 ? -half : half, y = k < 2 ? -half : half;
        w.vertices.push_back({{x, y, 0}});
        w.vertices.push_back({{x, y, height}});
    }
    for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t a = 2 * k, b = (2 * k + 2) % 8;
        w.triangles.push_back({a, b, b + 1});
        w.triangles.push_back({a, b + 1, a + 1});
    }
    w.surface.friction = 0;
    return w;
}

// Degrees: the slope of the highest grains over the distance from the axis, between a fifth and four fifths of the top.
double slope_of(const Grains& grains) {
    std::vector<double> top(64, 0);
    double highest = 0;
    for (const Vec3d& p : grains.positions()) {
        const auto ring = static_cast<std::size_t>(std::hypot(p[0], p[1]));
        if (ring < top.size()) top[ring] = std::max(top[ring], p[2] - 0.5);
        highest = std::max(highest, p[2] - 0.5);
    }
    double n = 0, sr = 0, sh = 0, srr = 0, srh = 0;
    for (std::size_t ring = 0; ring < top.size(); ++ring) {
        if (top[ring] < 0.2 * highest || top[ring] > 0.8 * highest) continue;
        const double r = static_cast<double>(ring) + 0.5, h = top[ring];
        n += 1, sr += r, sh += h, srr += r * r, srh += r * h;
    }
    return n < 2 ? 0 : -std::atan((n * srh - sr * sh) / (n * srr - sr * sr)) * 180 / std::numbers::pi;
}

double angle_of_repose(double friction, double rolling) {
    Grains grains;
    const GrainSurface s{.friction = friction, .rolling = rolling};
    grains.add(GrainPlane{.surface = {.friction = 0.9, .rolling = 0.2}});
    base::SplitMix random(4);
    constexpr int n = 12;
    for (int z = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x)
                grains.add(Grain{.radius = 0.5 - 0.04 * random.uniform(),
                                 .position = {{x + 0.5 - 0.5 * n, y + 0.5 - 0.5 * n, 0.5 + z}},
                                 .velocity = {{random.uniform(-1, 1), random.uniform(-1, 1), 0}},
                                 .surface = s});
    const std::uint32_t lid = grains.add(frame(0.5 * n + 0.01, 2 * n));
    for (int k = 0; k < 100; ++k) grains.step(0.02);
    grains.move_wall(lid, {{0, 0, 0.5}}, {});
    for (int k = 0; k < 1300; ++k) grains.step(0.02);
    return slope_of(grains);
}

TEST(GrainHeap, AngleOfRepose) {
    const double smooth = angle_of_repose(0.1, 0), usual = angle_of_repose(0.5, 0.05),
                 rough = angle_of_repose(0.8, 0.2);
    RecordProperty("smooth", std::to_string(smooth));
    RecordProperty("usual", std::to_string(usual));
    RecordProperty("rough", std::to_string(rough));
    std::printf("angles of repose: %.1f %.1f %.1f degrees\n", smooth, usual, rough);
    EXPECT_LT(smooth, 15);
    EXPECT_GT(usual, 12);
    EXPECT_LT(usual, 30);
    EXPECT_GT(rough, usual + 2);
    EXPECT_LT(rough, 45);
}

}  // namespace
}  // namespace quadrat::test
