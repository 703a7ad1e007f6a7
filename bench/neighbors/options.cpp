// What each option of a CellIndex costs beside the plain list, for every kind: medians of interleaved runs, build
// included, in milliseconds and as a ratio to the list of the same kind.
//   quadrat_bench_neighbors_options [points = 1000000] [threads = 1] [runs = 5] [2f | 3f | 2d | 3d | all] [option]
#include <quadrat/neighbors.hpp>

#include "base/random.hpp"
#include "workloads/scenes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace quadrat;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Row {
    std::string name;
    std::function<std::uint64_t()> run;  // returns the entries
    std::vector<double> ms = {};
    std::uint64_t entries = 0;
};

/// Each row once to warm up, then all in turn.
void measure(std::vector<Row>& rows, int runs) {
    for (Row& row : rows) row.entries = row.run();
    for (int k = 0; k < runs; ++k)
        for (Row& row : rows) {
            const double start = now();
            row.run();
            row.ms.push_back(now() - start);
        }
    for (Row& row : rows) std::sort(row.ms.begin(), row.ms.end());
}

/// Points that fill a box evenly, about 29 within the radius 1 (18 in 2D).
template <int D, class T>
struct Scene {
    std::vector<Vec<D, T>> points;
    std::vector<T> alike, spread, equal_small;
    std::vector<std::uint8_t> groups;
    T edge = 0;

    explicit Scene(std::size_t n) {
        const double per_point = D == 3 ? 4.18879 / 29 : 3.14159 / 18;
        edge = static_cast<T>(std::pow(per_point * static_cast<double>(n), 1.0 / D));
        base::SplitMix random(1);
        for (std::size_t i = 0; i < n; ++i) {
            Vec<D, T> p;
            for (int k = 0; k < D; ++k) p[k] = static_cast<T>(random.uniform(0, static_cast<double>(edge)));
            points.push_back(p);
            alike.push_back(static_cast<T>(random.uniform(0.5, 1)));
            groups.push_back(static_cast<std::uint8_t>(i % 2));
        }
        // A few grains of 33 times the size: 5 in 100,000.
        equal_small.assign(n, T(0.5));
        spread = equal_small;
        for (std::size_t i = 0; i < n / 20000; ++i) spread[i] = T(0.5 * 33);
    }
    [[nodiscard]] Periodic<D, T> bricks() const {
        Periodic<D, T> box;
        for (int k = 0; k < D; ++k) box.vectors[k][k] = edge;
        return box;
    }
    /// A box whose vectors lean by a third, for points moved along with it.
    [[nodiscard]] Periodic<D, T> leaning() const {
        Periodic<D, T> box = bricks();
        box.vectors[1][0] = edge / 3;
        if constexpr (D == 3) box.vectors[2][0] = edge / 4, box.vectors[2][1] = edge / 3;
        return box;
    }
    [[nodiscard]] std::vector<Vec<D, T>> leant() const {
        std::vector<Vec<D, T>> all;
        const Periodic<D, T> box = leaning();
        for (const Vec<D, T>& p : points) {
            Vec<D, T> q{};
            for (int k = 0; k < D; ++k)
                for (int c = 0; c < D; ++c) q[c] += p[k] / edge * box.vectors[k][c];
            all.push_back(q);
        }
        return all;
    }
};

template <int D, class T>
void rows_of_kind(std::size_t n, Executor* executor, int runs, const std::string& only) {
    using Index = CellIndex<D, T>;
    using Options = typename Index::Options;
    const Scene<D, T> scene(n);
    const auto leant = scene.leant();
    const Options open{.radius = 1, .executor = executor};
    Options bricks = open, leaning = open;
    bricks.periodic = scene.bricks();
    leaning.periodic = scene.leaning();
    const NeighborOptions plain, all{.distances = DistanceKind::distance, .vectors = true, .shifts = true};
    std::vector<Row> rows;
    NeighborList list;
    std::vector<std::uint32_t> counts;
    const auto add = [&](const char* name, const Options& options, const std::vector<Vec<D, T>>& points,
                         const NeighborOptions& what, const std::vector<T>& radii = {}) {
        if (!only.empty() && only != name && rows.size() > 0) return;
        rows.push_back({name, [&list, options, &points, what, radii] {
                            Index index(options);
                            index.build(points, radii);
                            index.find_neighbors(list, what);
                            return list.entries();
                        }});
    };
    add("list", open, scene.points, plain);
    add("half", open, scene.points, {.half = true});
    add("input order", open, scene.points, {.order = RowOrder::input});
    add("distances", open, scene.points, {.distances = DistanceKind::distance});
    add("squared", open, scene.points, {.distances = DistanceKind::squared});
    add("vectors", open, scene.points, {.vectors = true});
    add("all outputs", open, scene.points, all);
    const std::vector<std::uint64_t> searches = {1, 2};
    add("groups", open, scene.points, {.groups = scene.groups, .searches = searches});
    add("periodic", bricks, scene.points, plain);
    add("periodic half", bricks, scene.points, {.half = true});
    add("periodic all", bricks, scene.points, all);
    add("triclinic", leaning, leant, plain);
    for (const RadiusRule rule : all_radius_rules) {
        Options ruled{.rule = rule, .executor = executor};
        add(("alike " + std::string(name_of(rule))).c_str(), ruled, scene.points, plain, scene.alike);
    }
    for (const RadiusRule rule : {RadiusRule::sum, RadiusRule::max}) {
        Options ruled{.rule = rule, .executor = executor};
        add(("small " + std::string(name_of(rule))).c_str(), ruled, scene.points, plain, scene.equal_small);
        add(("spread " + std::string(name_of(rule))).c_str(), ruled, scene.points, plain, scene.spread);
    }
    const auto call = [&](const char* name, auto body) {
        if (!only.empty() && only != name) return;
        rows.push_back({name, [&, body] {
                            Index index(open);
                            index.build(scene.points);
                            return body(index);
                        }});
    };
    call("counts", [&](const Index& index) {
        index.count_neighbors(counts);
        return std::uint64_t{0};
    });
    call("queries", [&](const Index& index) {
        index.find_neighbors(std::span<const Vec<D, T>>(scene.points), list);
        return list.entries();
    });
    call("loop", [&](const Index& index) {
        return index.sum_rows(std::uint64_t{0}, [](std::uint64_t& sum, const auto& row) { sum += row.count; });
    });
    call("nearest 16", [&](const Index& index) {
        index.find_nearest(16, list);
        return list.entries();
    });
    measure(rows, runs);
    for (const Row& row : rows)
        std::printf("%d%c %-14s %9.1f %6.2f %12llu\n", D, sizeof(T) == 4 ? 'f' : 'd', row.name.c_str(),
                    row.ms[row.ms.size() / 2], row.ms[row.ms.size() / 2] / rows[0].ms[rows[0].ms.size() / 2],
                    static_cast<unsigned long long>(row.entries));
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
    const std::string kind = argc > 4 ? argv[4] : "all", only = argc > 5 ? argv[5] : "";
    const auto executor = make_executor(threads);
    std::printf("%zu points, %u threads: kind, option, ms with the build, ratio to the list, entries\n", n, threads);
    if (kind == "all" || kind == "3f") rows_of_kind<3, float>(n, executor.get(), runs, only);
    if (kind == "all" || kind == "3d") rows_of_kind<3, double>(n, executor.get(), runs, only);
    if (kind == "all" || kind == "2f") rows_of_kind<2, float>(n, executor.get(), runs, only);
    if (kind == "all" || kind == "2d") rows_of_kind<2, double>(n, executor.get(), runs, only);
}
