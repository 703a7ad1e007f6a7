// The rules of two radii: what each says, what follows from it, and that every structure takes all of them the same
// way.
#include <quadrat/neighbors/radius_rule.hpp>

#include <quadrat/neighbors/cell_index.hpp>
#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace quadrat {
namespace {

TEST(RadiusRule, WhatEachSays) {
    EXPECT_EQ(pair_radius(RadiusRule::own, 1.f, 2.f), 1.f);
    EXPECT_EQ(pair_radius(RadiusRule::max, 1.f, 2.f), 2.f);
    EXPECT_EQ(pair_radius(RadiusRule::min, 1.f, 2.f), 1.f);
    EXPECT_EQ(pair_radius(RadiusRule::sum, 1.f, 2.f), 3.f);
    EXPECT_EQ(pair_radius(RadiusRule::own, 2.f, 1.f), 2.f);
    EXPECT_EQ(pair_radius(RadiusRule::max, 2.f, 1.f), 2.f);
    EXPECT_EQ(pair_radius(RadiusRule::min, 2.f, 1.f), 1.f);
}

TEST(RadiusRule, WhatFollows) {
    EXPECT_FALSE(is_symmetric(RadiusRule::own));
    EXPECT_FALSE(uses_other(RadiusRule::own));
    for (const RadiusRule rule : {RadiusRule::max, RadiusRule::min, RadiusRule::sum}) {
        EXPECT_TRUE(is_symmetric(rule));
        EXPECT_TRUE(uses_other(rule));
    }
}

TEST(RadiusRule, Names) {
    ASSERT_GE(all_radius_rules.size(), 4u);
    for (const RadiusRule rule : all_radius_rules) EXPECT_EQ(radius_rule_named(name_of(rule)), rule);
    EXPECT_EQ(radius_rule_named("sum"), RadiusRule::sum);
    EXPECT_FALSE(radius_rule_named("").has_value());
    EXPECT_FALSE(radius_rule_named("wide").has_value());
}

/// Rows by the definition, over radii that differ by a factor of a hundred.
TEST(RadiusRule, EveryStructureTakesEveryRule) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(0, 1), exponent(-2.5f, -0.5f);
    std::vector<Vec<3, float>> points(400);
    std::vector<float> radii(points.size());
    for (auto& p : points) p = {{place(random), place(random), place(random)}};
    for (float& r : radii) r = std::pow(10.f, exponent(random));
    for (const RadiusRule rule : all_radius_rules) {
        CellIndex<3, float> index({.rule = rule});
        ExtendedSpatialHash<3, float> hash({.rule = rule});
        index.build(points, radii);
        hash.build(points, radii);
        NeighborList found, hashed;
        index.find_neighbors(found);
        hash.find_neighbors(hashed);
        std::uint64_t entries = 0;
        for (std::uint32_t i = 0; i < points.size(); ++i) {
            std::vector<std::uint32_t> expected;
            for (std::uint32_t j = 0; j < points.size(); ++j) {
                const float r = pair_radius(rule, radii[i], radii[j]);
                float sum = 0;
                for (int k = 0; k < 3; ++k) sum += (points[j][k] - points[i][k]) * (points[j][k] - points[i][k]);
                if (i != j && sum <= r * r) expected.push_back(j);
            }
            for (const NeighborList* list : {&found, &hashed}) {
                std::vector<std::uint32_t> row((*list)[i].begin(), (*list)[i].end());
                std::sort(row.begin(), row.end());
                ASSERT_EQ(row, expected) << name_of(rule) << ", row " << i;
            }
            entries += expected.size();
        }
        EXPECT_EQ(index.count_pairs(), is_symmetric(rule) ? entries / 2 : entries);
    }
}

/// r_i + R must bound r_i + r_j also after rounding: the sum is formed as the pair's is, skin last.
TEST(RadiusRule, ASumThatRoundsUpIsStillReached) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> radius(0.01f, 1), skin(0.01f, 1);
    for (int round = 0; round < 2000; ++round) {
        const std::vector<float> radii = {radius(random), radius(random)};
        const float s = skin(random), r = radii[0] + radii[1] + s;
        const std::vector<Vec<2, float>> points = {{{0, 0}}, {{r, 0}}};
        CellIndex<2, float> index({.rule = RadiusRule::sum, .skin = s});
        index.build(points, radii);
        ASSERT_EQ(index.count_pairs(), 1u) << radii[0] << ' ' << radii[1] << ' ' << s;
    }
}

}  // namespace
}  // namespace quadrat
