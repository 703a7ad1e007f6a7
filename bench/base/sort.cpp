// The radix sort against std::sort, std::stable_sort and Highway's VQSort, on uniform 64-bit keys, bare and with a
// 32-bit payload (VQSort's form with a payload, K64V64, carries 64 bits and is not stable). Every timed run sorts a
// fresh copy; the copy is not timed. docs/decisions/0010-sort.md discusses the figures.
#include "base/radix_sort.hpp"
#include "base/random.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

namespace {

using namespace quadrat;

struct KeyValue {
    std::uint64_t value, key;  // the order of hwy::K64V64
};

const std::vector<std::uint64_t>& uniform_keys(std::size_t n) {
    static std::vector<std::uint64_t> keys;
    if (keys.size() != n) {
        base::SplitMix random(1);
        keys.resize(n);
        for (auto& k : keys) k = random.next();
    }
    return keys;
}

/// Cell numbers of a million-cell grid: what the library sorts most.
std::vector<std::uint64_t> cell_keys(std::size_t n) {
    base::SplitMix random(2);
    std::vector<std::uint64_t> keys(n);
    for (auto& k : keys) k = random.below(std::uint64_t{1} << 22);
    return keys;
}

template <class Prepare, class Sort>
void timed(benchmark::State& state, Prepare&& prepare, Sort&& sort) {
    for (auto _ : state) {
        state.PauseTiming();
        prepare();
        state.ResumeTiming();
        sort();
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void std_sort(benchmark::State& state) {
    const auto& keys = uniform_keys(static_cast<std::size_t>(state.range(0)));
    auto copy = keys;
    timed(
        state, [&] { copy = keys; }, [&] { std::sort(copy.begin(), copy.end()); });
}

void vqsort(benchmark::State& state) {
    const auto& keys = uniform_keys(static_cast<std::size_t>(state.range(0)));
    auto copy = keys;
    hwy::Sorter sorter;
    timed(
        state, [&] { copy = keys; }, [&] { sorter(copy.data(), copy.size(), hwy::SortAscending()); });
}

void radix(benchmark::State& state) {
    const auto& keys = uniform_keys(static_cast<std::size_t>(state.range(0)));
    auto copy = keys;
    const auto executor = make_executor(static_cast<unsigned>(state.range(1)));
    base::RadixSorter sorter(executor.get());
    timed(
        state, [&] { copy = keys; }, [&] { sorter.sort(std::span(copy)); });
}

void vqsort_payload(benchmark::State& state) {
    const auto& keys = uniform_keys(static_cast<std::size_t>(state.range(0)));
    std::vector<hwy::K64V64> pairs(keys.size());
    hwy::Sorter sorter;
    timed(
        state,
        [&] {
            for (std::size_t i = 0; i < keys.size(); ++i) pairs[i] = {i, keys[i]};
        },
        [&] { sorter(pairs.data(), pairs.size(), hwy::SortAscending()); });
}

void radix_payload_of(benchmark::State& state, const std::vector<std::uint64_t>& keys) {
    auto copy = keys;
    std::vector<std::uint32_t> values(keys.size());
    const auto executor = make_executor(static_cast<unsigned>(state.range(1)));
    base::RadixSorter sorter(executor.get());
    timed(
        state,
        [&] {
            copy = keys;
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
        },
        [&] { sorter.sort(std::span(copy), std::span(values)); });
}

void radix_payload(benchmark::State& state) {
    radix_payload_of(state, uniform_keys(static_cast<std::size_t>(state.range(0))));
}

void radix_payload_cells(benchmark::State& state) {
    radix_payload_of(state, cell_keys(static_cast<std::size_t>(state.range(0))));
}

void stable_sort_payload(benchmark::State& state) {
    const auto& keys = uniform_keys(static_cast<std::size_t>(state.range(0)));
    std::vector<KeyValue> pairs(keys.size());
    timed(
        state,
        [&] {
            for (std::size_t i = 0; i < keys.size(); ++i) pairs[i] = {i, keys[i]};
        },
        [&] { std::stable_sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.key < b.key; }); });
}

constexpr int million = 1000000;
BENCHMARK(vqsort)->Arg(million)->Arg(10 * million)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(radix)
    ->ArgsProduct({{million, 10 * million}, {1, 2}})
    ->ArgNames({"n", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(std_sort)->Arg(million)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(vqsort_payload)->Arg(million)->Arg(10 * million)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(radix_payload)
    ->ArgsProduct({{million, 10 * million}, {1, 2}})
    ->ArgNames({"n", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(radix_payload_cells)
    ->ArgsProduct({{million, 10 * million}, {1, 2}})
    ->ArgNames({"n", "threads"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(stable_sort_payload)->Arg(million)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
