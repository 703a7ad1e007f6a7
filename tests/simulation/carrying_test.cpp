// Sheets and bodies that can move.
#include <quadrat/simulation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace quadrat;

// A sheet held at its corners, 0.5 m above the floor, and a ball above it.
Scene ball_over_sheet(double density, std::uint32_t n = 12) {
    Scene s;
    s.domain.box = {{{0, 0, 0}}, {{1, 1, 1}}};
    s.bodies.push_back(
        {.motion = BodyMotion::dynamic, .radius = 0.1, .density = density, .position = {{0.5, 0.5, 0.65}}});
    SceneCloth sheet;
    const auto at = [n](std::uint32_t i, std::uint32_t j) { return j * (n + 1) + i; };
    for (std::uint32_t j = 0; j <= n; ++j)
        for (std::uint32_t i = 0; i <= n; ++i) sheet.positions.push_back({{0.2 + 0.6 * i / n, 0.2 + 0.6 * j / n, 0.5}});
    for (std::uint32_t j = 0; j < n; ++j)
        for (std::uint32_t i = 0; i < n; ++i) {
            sheet.triangles.push_back({at(i, j), at(i + 1, j), at(i, j + 1)});
            sheet.triangles.push_back({at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    sheet.pins = {at(0, 0), at(n, 0), at(0, n), at(n, n)};
    s.cloths.push_back(sheet);
    return s;
}

TEST(Carrying, ASheetThatIsHeldCarriesABall) {
    for (const double density : {100.0, 500.0}) {
        Simulation run(ball_over_sheet(density));
        double highest = 0;
        for (int k = 1; k <= 20; ++k) {
            run.advance_to(0.05 * k);
            const BodyPose ball = run.bodies()[0];
            double clear = 1;
            for (const Vec3d& p : run.cloth(0).positions)
                clear = std::min(
                    clear, std::hypot(p[0] - ball.position[0], p[1] - ball.position[1], p[2] - ball.position[2]) - 0.1);
            EXPECT_GT(clear, 0) << density << ' ' << k;
            if (k >= 10) highest = std::max(highest, ball.velocity[2]);
        }
        EXPECT_GT(run.bodies()[0].position[2], 0.25) << density;  // 0.1 on the floor
        EXPECT_LT(highest, 0.5) << "thrown";
    }
}

// Once a sheet of 24 cells let the ball fall to the floor, and one of 48 stretched fourteen-fold.
TEST(Carrying, AFinerSheetCarriesItAsHigh) {
    double height[2];
    for (const std::uint32_t k : {0u, 1u}) {
        Simulation run(ball_over_sheet(300, 12 << k));
        run.advance_to(0.8);
        height[k] = run.bodies()[0].position[2];
    }
    EXPECT_GT(height[0], 0.45);
    EXPECT_NEAR(height[1] / height[0], 1, 0.05);
}

// Nothing to hold it: sheet and ball fall together.
TEST(Carrying, ALooseSheetFallsWithTheBall) {
    Scene scene = ball_over_sheet(500);
    scene.cloths[0].pins.clear();
    Simulation run(scene);
    run.advance_to(0.6);
    EXPECT_LT(run.bodies()[0].position[2], 0.15);
}

}  // namespace
