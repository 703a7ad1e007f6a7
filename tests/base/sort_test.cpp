#include "base/radix_sort.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace quadrat::base {
namespace {

struct Shape {
    const char* name;
    std::function<std::uint64_t(SplitMix&)> draw;
};

std::vector<Shape> shapes() {
    return {
        {"uniform", [](SplitMix& r) { return r.next(); }},
        {"all equal", [](SplitMix&) { return std::uint64_t{42}; }},
        {"two values", [](SplitMix& r) { return r.next() & 1 ? std::uint64_t{7} : ~std::uint64_t{0}; }},
        {"low byte", [](SplitMix& r) { return r.below(256); }},
        {"24 bits in the middle", [](SplitMix& r) { return r.below(1 << 24) << 20 | std::uint64_t{1} << 60; }},
        {"32 bits high", [](SplitMix& r) { return r.next() << 32; }},
        {"skewed", [](SplitMix& r) { return r.next() >> r.below(64); }},
        {"long runs", [](SplitMix& r) { return r.below(3) << 60 | r.below(5) << 40 | r.below(1 << 20); }},
        {"high and low bits", [](SplitMix& r) { return r.below(2) << 63 | r.below(1000); }},
    };
}

TEST(RadixSort, EqualsStableSortForEveryShapeAndSize) {
    for (const Shape& shape : shapes())
        for (const std::size_t n : {0, 1, 2, 3, 24, 25, 100, 1000, 40000, 70000}) {
            SplitMix random(n + 1);
            std::vector<std::uint64_t> keys(n);
            for (auto& k : keys) k = shape.draw(random);
            std::vector<std::uint32_t> values(n), order(n);
            for (auto& v : values) v = static_cast<std::uint32_t>(random.next());
            std::iota(order.begin(), order.end(), 0u);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
            std::vector<std::uint64_t> expected_keys;
            std::vector<std::uint32_t> expected_values;
            for (const auto i : order) {
                expected_keys.push_back(keys[i]);
                expected_values.push_back(values[i]);
            }
            ThreadExecutor pool(3);
            for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)}) {
                RadixSorter sorter(executor);
                auto k = keys;
                auto v = values;
                sorter.sort(std::span(k), std::span(v));
                ASSERT_EQ(k, expected_keys) << shape.name << " " << n;
                ASSERT_EQ(v, expected_values) << shape.name << " " << n;
                k = keys;
                sorter.sort(std::span(k));
                ASSERT_EQ(k, expected_keys) << shape.name << " " << n;
                k = keys;
                std::iota(v.begin(), v.end(), 0u);
                sorter.sort(std::span(k), std::span(v));
                ASSERT_EQ(v, order) << shape.name << " " << n;
            }
        }
}

TEST(RadixSort, ThirtyTwoBitKeys) {
    for (const std::size_t n : {10, 1000, 100000}) {
        SplitMix random(5);
        std::vector<std::uint32_t> keys(n), order(n), expected(n);
        for (auto& k : keys) k = static_cast<std::uint32_t>(random.next() >> 32 >> random.below(20));
        std::iota(expected.begin(), expected.end(), 0u);
        std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
        RadixSorter sorter;
        auto k = keys;
        std::iota(order.begin(), order.end(), 0u);
        sorter.sort(std::span(k), std::span(order));
        EXPECT_EQ(order, expected);
        EXPECT_TRUE(std::is_sorted(k.begin(), k.end()));
        sorter.sort(std::span(keys));
        EXPECT_EQ(keys, k);
    }
}

}  // namespace
}  // namespace quadrat::base
