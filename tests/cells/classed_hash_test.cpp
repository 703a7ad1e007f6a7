// What the hashed structures promise beside their pairs: a slot is looked at once in a query, tables are not swept and
// have the size of what they hold, memory is given back, ids are not given twice, and queries are checked.
#include "cells/hashes/classed_hash.hpp"
#include "base/random.hpp"
#include "cells/hashes/key_table.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/thrown.hpp"

#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace quadrat {
namespace {

using cells::ClassedHash;
using cells::HierarchicalScheme;
using cells::MultilevelScheme;

Box3d cube(double lo, double edge) {
    return {{lo, lo, lo}, {lo + edge, lo + edge, lo + edge}};
}

// Cell 0 of every class has the key 0.
TEST(SlotVisits, OncePerQueryThoughAllClassesShareAKey) {
    std::vector<Box3d> boxes;
    for (int k = 0; k < 10; ++k) boxes.push_back(cube(0.01, std::ldexp(0.9, k)));
    for (const bool per_class : {false, true}) {
        ClassedHash<3, double, HierarchicalScheme> hash({.smallest = 1, .table_per_class = per_class});
        hash.build(std::span<const Box3d>(boxes));
        std::vector<std::uint32_t> found;
        EXPECT_EQ(hash.find(cube(0.1, 0), found).tests, 10u);
        EXPECT_EQ(found.size(), 10u);
        found.clear();
        EXPECT_EQ(hash.find(cube(0.4, 0), found).tests, 10u);
    }
}

template <class Scheme>
class SlotVisitsOf : public testing::Test {};
using Schemes = testing::Types<HierarchicalScheme, MultilevelScheme>;
TYPED_TEST_SUITE(SlotVisitsOf, Schemes);

// Eight cells that all share one slot: every object is tested once.
TYPED_TEST(SlotVisitsOf, OncePerQueryThoughCellsShareASlot) {
    {
        ClassedHash<3, double, TypeParam> hash({.smallest = 1, .fixed_length = true, .length = 1});
        std::vector<Box3d> boxes;
        for (int i = 0; i < 10; ++i) boxes.push_back(cube(3.95, 0.1));
        hash.build(std::span<const Box3d>(boxes));
        std::vector<std::uint32_t> found;
        EXPECT_EQ(hash.find(cube(3.9, 0.2), found).tests, 10u);
        EXPECT_EQ(found.size(), 10u);
    }
}

// Whatever shares what: each overlapping object once, and no more tests than objects.
TYPED_TEST(SlotVisitsOf, NoObjectIsTestedTwice) {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> place(-8, 8), size(-3, 3);
    for (int round = 0; round < 60; ++round) {
        const std::size_t lengths[] = {1, 2, 7, 31, 500};
        ClassedHash<3, double, TypeParam> hash({.smallest = round % 2 ? 0.25 : 0,
                                                .fixed_length = round % 4 != 0,
                                                .length = lengths[round % 5],
                                                .table_per_class = round % 7 == 0});
        std::vector<Box3d> boxes;
        for (int i = 0; i < 60; ++i) boxes.push_back(cube(place(random), std::exp2(size(random))));
        hash.build(std::span<const Box3d>(boxes));
        for (int edit = 0; edit < 12; ++edit) {
            boxes[static_cast<std::size_t>(edit * 3)] = cube(place(random), std::exp2(size(random)));
            hash.move(hash.objects().id(static_cast<std::uint32_t>(edit * 3)),
                      boxes[static_cast<std::size_t>(edit * 3)]);
        }
        for (int q = 0; q < 20; ++q) {
            const Box3d query = cube(q == 0 ? 0 : place(random), q % 3);
            std::vector<std::uint32_t> found, expected;
            for (std::uint32_t i = 0; i < boxes.size(); ++i)
                if (overlap(boxes[i], query)) expected.push_back(i);
            const std::uint64_t tests = hash.find(query, found).tests;
            std::sort(found.begin(), found.end());
            EXPECT_EQ(found, expected);
            // An object may be in eight slots, and be kept as it was and as it is.
            EXPECT_LE(tests, 60u * 8 + 12 * 8);
        }
    }
}

// What HSH is for: where nothing small is, nobody looks for it. One large box and, far from it, a cluster of small
// ones: a query beside the large box stops in its class, where the multilevel hash looks into every class.
TEST(Pruning, GoesDownOnlyWhereThereAreChildren) {
    std::vector<Box3d> boxes{cube(0.5, 40)};
    for (int i = 0; i < 500; ++i) boxes.push_back(cube(10000 + 0.7 * (i % 25), 0.9));
    ClassedHash<3, double, HierarchicalScheme> hierarchical({.smallest = 1, .levels = 6});
    ClassedHash<3, double, MultilevelScheme> multilevel({.smallest = 1, .levels = 6});
    hierarchical.build(std::span<const Box3d>(boxes));
    multilevel.build(std::span<const Box3d>(boxes));
    std::vector<std::uint32_t> found;
    // 1.5 to 2.5 lies in one cell of classes 2 to 5 and in eight of classes 0 and 1 each.
    const Box3d query = cube(1.5, 1);
    EXPECT_EQ(hierarchical.find(query, found).cells, 1u);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0}));
    found.clear();
    EXPECT_EQ(multilevel.find(query, found).cells, 4u + 2 * 8);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0}));

    // A small box nearby is found through all classes; of the eight cells of class 1 only its own has children, and of
    // these the query touches one.
    hierarchical.insert(cube(1.2, 0.5));
    found.clear();
    EXPECT_EQ(hierarchical.find(query, found).cells, 4u + 8 + 1);
    EXPECT_EQ(found.size(), 2u);
    found.clear();
    EXPECT_EQ(hierarchical.find(cube(20.5, 0.25), found).cells, 2u);

    std::vector<Pair> pairs;
    std::vector<Box3d> beside;
    for (int i = 1; i < 12; ++i) beside.push_back(cube(1.5 + 3 * i, 1));
    const std::uint64_t all = multilevel.find_pairs(beside, pairs).cells;
    EXPECT_LT(3 * hierarchical.find_pairs(beside, pairs).cells, all);
}

TEST(KeyTables, HaveTheSizeOfWhatTheyHold) {
    cells::KeyTable<cells::CellSlot> table;
    for (const std::size_t n : {100000u, 10u}) {
        table.start(0, n);
        for (std::uint64_t key = 0; key < n; ++key) table.add(key * 977);
        std::set<std::uint64_t> keys;
        table.for_each([&](const cells::CellSlot& s) { keys.insert(s.key); });
        EXPECT_EQ(keys.size(), n);
        EXPECT_EQ(table.live(), n);
        EXPECT_LE(table.bytes(), (4 * n + 64) * sizeof(cells::CellSlot));
    }
    table.start(1000, 10);
    table.add(5);
    table.start(900, 10);
    EXPECT_EQ(table.find(5), nullptr);
    EXPECT_EQ(table.live(), 0u);
    table.start(10, 10);
    EXPECT_LE(table.bytes(), 40 * sizeof(cells::CellSlot));
}

TEST(KeyTables, FindWhatWasAddedAndNothingElse) {
    cells::KeyTable<cells::KeySlot> table;
    for (int round = 0; round < 2; ++round) {
        table.start(0, 10);
        for (std::uint32_t k = 0; k < 3000; ++k) {
            EXPECT_EQ(table.find(k * 977u), nullptr) << k;
            table.add(k * 977u).first = k;
            for (std::uint32_t j = k > 5 ? k - 5 : 0; j <= k; ++j) {
                ASSERT_NE(table.find(j * 977u), nullptr) << k << " " << j;
                ASSERT_EQ(table.find(j * 977u)->first, j) << k;
            }
        }
        for (std::uint32_t k = 0; k < 3000; ++k) {
            ASSERT_NE(table.find(k * 977u), nullptr) << k;
            ASSERT_EQ(table.find(k * 977u)->first, k);
            ASSERT_EQ(table.add(k * 977u).first, k);
            ASSERT_EQ(table.find(k * 977u + 1), nullptr);
        }
        EXPECT_EQ(table.live(), 3000u);
    }
    // Of fixed length: keys with the same remainder are one.
    table.start(7, 10);
    table.add(3).first = 30;
    EXPECT_EQ(table.add(10).first, 30u);
    EXPECT_EQ(table.find(17)->first, 30u);
    EXPECT_EQ(table.find(4), nullptr);
    EXPECT_EQ(table.live(), 1u);
}

TEST(HierarchicalHash, FixedTablesPerClassShareTheLength) {
    std::vector<Box3f> boxes;
    for (int i = 0; i < 3000; ++i) {
        const auto edge = static_cast<float>(std::exp2(i % 30 - 15));
        boxes.push_back({{float(i), 0, 0}, {float(i) + edge, edge, edge}});
    }
    HierarchicalHash<3, float> one({.table = HierarchicalHashOptions::Table::fixed}),
        each({.table = HierarchicalHashOptions::Table::fixed, .table_per_class = true});
    one.build(std::span<const Box3f>(boxes));
    each.build(std::span<const Box3f>(boxes));
    EXPECT_LT(each.stats().bytes, 2 * one.stats().bytes);
}

TEST(HierarchicalHash, GivesMemoryBackAndNoIdTwice) {
    HierarchicalHash<3, float> hash;
    std::vector<Box3f> boxes;
    for (int i = 0; i < 20000; ++i) boxes.push_back({{float(i), 0, 0}, {float(i) + 1.5f, 1, 1}});
    hash.insert(std::span<const Box3f>(boxes));
    const std::size_t full = hash.stats().bytes;
    std::vector<Id> old;
    for (std::uint32_t i = 0; i < boxes.size(); ++i) old.push_back(hash.id(i));
    for (std::size_t i = boxes.size(); i-- > 100;) hash.erase(old[i]);
    EXPECT_LT(hash.stats().bytes, full / 20);
    std::vector<Pair> pairs;
    hash.find_pairs(pairs);
    EXPECT_EQ(pairs.size(), 99u);
    for (std::uint32_t i = 0; i < 100; ++i) hash.erase(old[i]);
    EXPECT_LT(hash.stats().bytes, full / 100);
    EXPECT_EQ(hash.size(), 0u);
    const Id first = hash.insert(boxes[0]);
    hash.insert(std::span<const Box3f>(boxes));
    for (const Id id : old) {
        EXPECT_FALSE(hash.contains(id));
        EXPECT_NE(id, first);
    }
    EXPECT_TRUE(hash.contains(first));
}

TEST(HierarchicalHash, SegmentsAreFinite) {
    HierarchicalHash<3, float> hash;
    hash.insert(Box3f{{0, 0, 0}, {1, 1, 1}});
    std::vector<std::uint32_t> found;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const float bad : {nan, infinity, -infinity})
        for (int end = 0; end < 2; ++end) {
            Segment<3, float> s{{0.1f, 0.1f, 0.1f}, {0.2f, 0.2f, 0.2f}};
            (end == 0 ? s.a : s.b)[1] = bad;
            EXPECT_EQ(test::thrown_by([&] { hash.find(s, found); }).kind(), ErrorKind::bad_value);
        }
}

}  // namespace
// Cells of 1e-20 would not fit into 62 bits where the others are.
TEST(HierarchicalHash, OneTinyBoxDoesNotChooseTheClasses) {
    base::SplitMix random(3);
    std::vector<Box3d> boxes(2000);
    for (Box3d& b : boxes)
        for (int k = 0; k < 3; ++k) {
            b.lo[k] = random.uniform(0, 16);
            b.hi[k] = b.lo[k] + 1;
        }
    boxes[7] = {{0, 0, 0}, {1e-20, 1e-20, 1e-20}};
    HierarchicalHash<3, double> hash;
    hash.insert(std::span<const Box3d>(boxes));
    std::vector<Pair> pairs;
    hash.find_pairs(pairs);
    EXPECT_TRUE(test::same_self_pairs(test::oracle_pairs<3, double>(boxes), pairs));
    EXPECT_LT(hash.stats().tests, 100 * boxes.size());
}

TEST(HierarchicalHash, TablesOfAbsurdLengthAreRefused) {
    HierarchicalHashOptions options;
    options.table = HierarchicalHashOptions::Table::fixed;
    options.length = std::size_t{1} << 60;
    try {
        HierarchicalHash<3, float> hash(options);
        FAIL() << "accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.where().field, "length");
    }
}

}  // namespace quadrat
