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
                sorter.sort_with_index(std::span(k), std::span(v));
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
        sorter.sort_with_index(std::span(k), std::span(order));
        EXPECT_EQ(order, expected);
        EXPECT_TRUE(std::is_sorted(k.begin(), k.end()));
        sorter.sort(std::span(keys));
        EXPECT_EQ(keys, k);
    }
}

template <class Float>
void floats_sort_by_value() {
    using Limits = std::numeric_limits<Float>;
    std::vector<Float> keys = {Limits::infinity(), -Limits::infinity(),  Limits::max(), Limits::lowest(),
                               Float(0.0),         Limits::denorm_min(), Limits::min(), -Limits::denorm_min()};
    SplitMix random(8);
    for (int i = 0; i < 5000; ++i)
        keys.push_back(
            static_cast<Float>(std::ldexp(random.uniform(-1, 1), static_cast<int>(random.below(200)) - 100)));
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    RadixSorter sorter;
    auto sorted = keys;
    sorter.sort(std::span(sorted));
    EXPECT_EQ(sorted, expected);
    std::vector<std::uint32_t> order(keys.size());
    sorted = keys;
    sorter.sort_with_index(std::span(sorted), std::span(order));
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[order[i]], expected[i]);
    for (const Float x : keys) EXPECT_EQ(from_ordered(to_ordered(x)), x);
}

TEST(RadixSort, FloatsSortByValue) {
    floats_sort_by_value<float>();
    floats_sort_by_value<double>();
    EXPECT_LT(to_ordered(-0.0f), to_ordered(0.0f));
    EXPECT_LT(to_ordered(1.0), to_ordered(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace quadrat::base
