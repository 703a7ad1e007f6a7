// Every option of a search in every combination against plain loops: boxes that repeat or not, radii that are the same,
// alike, or of any spread, each rule, groups, half lists, what is stored beside the index, counts and loops; for every
// kind, as sets, and the same bytes for 1, 2 and 7 threads and every SIMD target.
#include <quadrat/neighbors.hpp>

#include "base/random.hpp"
#include "base/simd.hpp"
#include "neighbors/entries.hpp"
#include "support/kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace quadrat {
namespace {

enum class BoxKind { open, bricks, leaning, half_open };
enum class RadiiKind { one, alike, spread };

/// A neighbour and all that can be stored beside it.
template <int D, class T>
struct Found {
    std::uint32_t i, j;
    std::array<int, 3> shift;
    std::array<T, D> vector;
    T squared;
    friend auto operator<=>(const Found&, const Found&) = default;
};

template <int D, class T>
struct World {
    std::vector<Vec<D, T>> points;
    std::vector<T> radii;  // empty: one radius
    std::vector<std::uint8_t> groups;
    std::vector<std::uint64_t> searches;
    typename CellIndex<D, T>::Options options;
    bool reachable_images = false;

    [[nodiscard]] T radius(std::size_t i, std::size_t j) const {
        if (radii.empty()) return options.radius + options.skin;
        return pair_radius(options.rule, radii[i], radii[j]) + options.skin;
    }
};

template <int D, class T>
World<D, T> make_world(BoxKind box, RadiiKind kind, RadiusRule rule, std::uint64_t seed) {
    World<D, T> w;
    base::SplitMix random(seed);
    const std::size_t n = D == 3 ? 180 : 150;
    w.points = test::random_points<D, T>(n, -4, 9, seed);
    for (std::size_t i = 0; i + 1 < n; i += 17) w.points[i + 1] = w.points[i];  // some lie on others
    w.options.radius = T(1.1);
    w.options.rule = rule;
    if (seed % 3 == 0) w.options.skin = T(0.125);
    for (std::size_t i = 0; i < n && kind != RadiiKind::one; ++i)
        w.radii.push_back(static_cast<T>(kind == RadiiKind::alike ? random.uniform(0.6, 1.1)
                                                                  : std::pow(10.0, random.uniform(-1.5, 0.25))));
    for (std::size_t i = 0; i < n; ++i) w.groups.push_back(static_cast<std::uint8_t>(i % 3 == 2 ? 40 : i % 3));
    w.searches.assign(41, 0);
    w.searches[0] = 1 | std::uint64_t{1} << 40;
    w.searches[1] = 2;
    w.searches[40] = 1 | std::uint64_t{1} << 40;
    if (box == BoxKind::open) return w;
    auto& p = w.options.periodic;
    for (int k = 0; k < D; ++k) p.vectors[k][k] = T(7.5) + T(k);
    if (box == BoxKind::half_open) p.vectors[1][1] = 0;
    if (box == BoxKind::leaning) {
        p.vectors[1][0] = T(2.25);
        if constexpr (D == 3) p.vectors[2][0] = T(-1.5), p.vectors[2][1] = T(3);
        p.origin[0] = T(0.3);
    }
    return w;
}

template <int D, class T>
std::array<int, 3> turns_of(const Periodic<D, T>& box, const Vec<D, T>& given, const Vec<D, T>& wrapped) {
    std::array<int, 3> n{};
    Vec<D, T> rest = given;
    for (int k = D - 1; k >= 0; --k) {
        if (box.vectors[k][k] == T(0)) continue;
        n[static_cast<std::size_t>(k)] = static_cast<int>(std::lround((rest[k] - wrapped[k]) / box.vectors[k][k]));
        for (int c = 0; c < D; ++c) rest[c] -= static_cast<T>(n[static_cast<std::size_t>(k)]) * box.vectors[k][c];
    }
    return n;
}

/// All neighbours by trying all points and images, the homes themselves included.
template <int D, class T>
std::vector<Found<D, T>> everything(const World<D, T>& w, const std::vector<Vec<D, T>>& homes, bool own) {
    const Periodic<D, T>& box = w.options.periodic;
    struct Placed {
        Vec<D, T> at;
        std::array<int, 3> turns;
    };
    const auto place = [&](const std::vector<Vec<D, T>>& given) {
        std::vector<Placed> placed;
        for (const Vec<D, T>& p : given) {
            const Vec<D, T> at = box.active() ? wrap(box, p) : p;
            placed.push_back({at, turns_of(box, p, at)});
        }
        return placed;
    };
    const std::vector<Placed> from = place(homes), to = place(w.points);
    std::vector<Found<D, T>> all;
    int most[3] = {0, 0, 0};
    for (int k = 0; k < D; ++k) most[k] = box.vectors[k][k] != T(0) ? 2 : 0;
    for (int c = -most[2]; c <= most[2]; ++c)
        for (int b = -most[1]; b <= most[1]; ++b)
            for (int a = -most[0]; a <= most[0]; ++a) {
                const int s[3] = {a, b, c};
                Vec<D, T> offset{};
                for (int k = 0; k < D; ++k)
                    for (int x = 0; x < D && s[k] != 0; ++x) offset[x] += static_cast<T>(s[k]) * box.vectors[k][x];
                for (std::uint32_t i = 0; i < homes.size(); ++i)
                    for (std::uint32_t j = 0; j < w.points.size(); ++j) {
                        Found<D, T> f{i, j, {}, {}, 0};
                        for (int k = 0; k < D; ++k) {
                            const T d = (to[j].at[k] - from[i].at[k]) + offset[k];
                            f.vector[static_cast<std::size_t>(k)] = d + T(0);
                            f.squared = k == 0 ? d * d : f.squared + d * d;
                        }
                        const T r = own ? w.radius(i, j) : w.options.radius + w.options.skin;
                        if (!(f.squared <= r * r)) continue;
                        for (std::size_t k = 0; k < 3; ++k) f.shift[k] = s[k] + from[i].turns[k] - to[j].turns[k];
                        all.push_back(f);
                    }
            }
    std::sort(all.begin(), all.end());
    return all;
}

template <int D, class T>
std::vector<Found<D, T>> entries(const NeighborList& list, bool roots) {
    std::vector<Found<D, T>> all;
    for (std::uint32_t i = 0; i < list.size(); ++i)
        for (std::size_t e = 0; e < list[i].size(); ++e) {
            Found<D, T> f{i, list[i][e], {}, {}, 0};
            for (std::size_t k = 0; k < 3; ++k) f.shift[k] = list.shifts(i)[e][static_cast<int>(k)];
            T sum = 0;
            for (int k = 0; k < D; ++k) {
                const T d = list.vectors<D, T>(i)[e][k];
                f.vector[static_cast<std::size_t>(k)] = d;
                sum = k == 0 ? d * d : sum + d * d;
            }
            f.squared = list.distances<T>(i)[e];
            if (roots) {
                EXPECT_EQ(f.squared, std::sqrt(sum));
                f.squared = sum;
            }
            all.push_back(f);
        }
    std::sort(all.begin(), all.end());
    return all;
}

template <int D, class T>
bool is_self(const Found<D, T>& f) {
    return f.i == f.j && f.shift == std::array<int, 3>{};
}

template <int D, class T>
std::vector<Found<D, T>> mirrored(const std::vector<Found<D, T>>& half) {
    std::vector<Found<D, T>> all;
    for (Found<D, T> f : half) {
        all.push_back(f);
        if (is_self(f)) continue;
        std::swap(f.i, f.j);
        for (int& s : f.shift) s = -s;
        for (T& d : f.vector) d = -d + T(0);
        all.push_back(f);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// All bytes of a list, in input order.
template <int D, class T>
std::string bytes_of(const CellIndex<D, T>& index, NeighborOptions options) {
    NeighborList list;
    options.order = RowOrder::input;
    index.find_neighbors(list, options);
    std::string all;
    const auto add = [&](auto span) { all.append(reinterpret_cast<const char*>(span.data()), span.size_bytes()); };
    add(list.offsets());
    add(list.indices());
    add(list.distances<T>());
    add(list.vectors<D, T>());
    add(list.shifts());
    return all;
}

const NeighborOptions all_outputs{.distances = DistanceKind::distance, .vectors = true, .shifts = true};

template <int D, class T>
void check_lists(const World<D, T>& w, const CellIndex<D, T>& index, const std::vector<Found<D, T>>& with_self) {
    std::vector<Found<D, T>> expected = with_self, grouped;
    std::erase_if(expected, is_self<D, T>);
    for (const auto& f : expected)
        if (w.searches[w.groups[f.i]] >> w.groups[f.j] & 1) grouped.push_back(f);
    NeighborList list;
    index.find_neighbors(list, all_outputs);
    EXPECT_EQ((entries<D, T>(list, true)), expected);
    NeighborOptions options = all_outputs;
    options.distances = DistanceKind::squared;
    options.self = true;
    index.find_neighbors(list, options);
    EXPECT_EQ((entries<D, T>(list, false)), with_self);
    options.self = false;
    options.groups = w.groups;
    options.searches = w.searches;
    index.find_neighbors(list, options);
    EXPECT_EQ((entries<D, T>(list, false)), grouped);
    // Indices alone, which have kernels of their own.
    index.find_neighbors(list);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs, of_list;
    for (const auto& f : expected) pairs.push_back({f.i, f.j});
    for (std::uint32_t i = 0; i < list.size(); ++i)
        for (const std::uint32_t j : list[i]) of_list.push_back({i, j});
    std::sort(pairs.begin(), pairs.end());
    std::sort(of_list.begin(), of_list.end());
    EXPECT_EQ(of_list, pairs);
    std::vector<std::uint32_t> counts, rows(w.points.size(), 0);
    index.count_neighbors(counts);
    for (const auto& f : expected) ++rows[f.i];
    EXPECT_EQ(counts, rows);
    const bool directed = !w.radii.empty() && !is_symmetric(w.options.rule);
    EXPECT_EQ(index.count_pairs(), directed ? expected.size() : expected.size() / 2);
    if (directed) return;
    options = all_outputs;
    options.distances = DistanceKind::squared;
    options.half = true;
    index.find_neighbors(list, options);
    EXPECT_EQ(list.entries(), expected.size() / 2);
    EXPECT_EQ((mirrored(entries<D, T>(list, false))), expected);
    options.self = true;
    index.find_neighbors(list, options);
    EXPECT_EQ((mirrored(entries<D, T>(list, false))), with_self);
    options.self = false;
    options.groups = w.groups;
    options.searches = w.searches;
    index.find_neighbors(list, options);
    EXPECT_EQ((mirrored(entries<D, T>(list, false))), grouped);
}

/// Rows of a loop, and the same with half of the pairs.
template <int D, class T>
void check_loops(const World<D, T>& w, const CellIndex<D, T>& index, std::vector<Found<D, T>> expected) {
    std::erase_if(expected, is_self<D, T>);
    for (Found<D, T>& f : expected) f.shift = {};
    std::sort(expected.begin(), expected.end());
    const auto collect = [&](bool half) {
        std::mutex mutex;
        std::vector<Found<D, T>> all;
        index.for_each_row(
            [&](const NeighborRow<D, T>& row) {
                const std::lock_guard lock(mutex);
                EXPECT_EQ(row.padded % 16, 0u);
                for (std::uint32_t e = 0; e < row.padded; ++e) {
                    Found<D, T> f{row.home, row.indices[e], {}, {}, row.distances_sq[e]};
                    for (int k = 0; k < D; ++k) f.vector[static_cast<std::size_t>(k)] = row.delta[k][e];
                    if (e < row.count)
                        all.push_back(f);
                    else
                        EXPECT_TRUE(f.j == f.i && std::isinf(f.squared) && f.vector[D - 1] == T(0));
                }
            },
            {.half = half, .vectors = true});
        std::sort(all.begin(), all.end());
        return all;
    };
    EXPECT_EQ(collect(false), expected);
    if (!w.radii.empty() && !is_symmetric(w.options.rule)) return;
    EXPECT_EQ(collect(true).size(), expected.size() / 2);
}

template <int D, class T>
void check_queries(const World<D, T>& w, const CellIndex<D, T>& index) {
    auto queries = test::random_points<D, T>(50, -6, 11, 99);
    queries.push_back(w.points[0]);
    NeighborOptions options = all_outputs;
    options.distances = DistanceKind::squared;
    NeighborList list;
    index.find_neighbors(std::span<const Vec<D, T>>(queries), list, options);
    const auto expected = everything(w, queries, false);
    EXPECT_EQ((entries<D, T>(list, false)), expected);
    options.groups = w.groups;
    options.searches = w.searches;
    index.find_neighbors(std::span<const Vec<D, T>>(queries), list, options);
    std::vector<Found<D, T>> grouped;
    for (const auto& f : expected)
        if (w.searches[0] >> w.groups[f.j] & 1) grouped.push_back(f);
    EXPECT_EQ((entries<D, T>(list, false)), grouped);
}

template <int D, class T>
void check_bytes(const World<D, T>& w, const CellIndex<D, T>& index) {
    NeighborOptions grouped = all_outputs;
    grouped.groups = w.groups;
    grouped.searches = w.searches;
    const NeighborOptions sets[] = {{}, all_outputs, grouped};
    const auto sum = [](const CellIndex<D, T>& of) {
        return of.sum_rows(T(0), [](T& s, const NeighborRow<D, T>& row) {
            for (std::uint32_t e = 0; e < row.count; ++e) s += std::sqrt(row.distances_sq[e]);
        });
    };
    for (const NeighborOptions& options : sets) {
        const std::string reference = bytes_of(index, options);
        for (unsigned threads : {2u, 7u}) {
            ThreadExecutor executor(threads);
            auto other_options = w.options;
            other_options.executor = &executor;
            CellIndex<D, T> other(other_options);
            other.build(w.points, w.radii);
            EXPECT_TRUE(bytes_of(other, options) == reference);
            EXPECT_EQ(sum(other), sum(index));
        }
        base::for_each_simd_target([&] {
            EXPECT_TRUE(bytes_of(index, options) == reference);
            CellIndex<D, T> other(w.options);
            other.build(w.points, w.radii);
            EXPECT_TRUE(bytes_of(other, options) == reference);
        });
    }
}

template <int D, class T>
void check_world(BoxKind box, RadiiKind kind, RadiusRule rule, std::uint64_t seed) {
    SCOPED_TRACE(testing::Message() << D << "D, " << sizeof(T) << " bytes, box " << static_cast<int>(box) << ", radii "
                                    << static_cast<int>(kind) << ", rule " << name_of(rule) << ", seed " << seed);
    const World<D, T> w = make_world<D, T>(box, kind, rule, seed);
    CellIndex<D, T> index(w.options);
    index.build(w.points, w.radii);
    if (kind == RadiiKind::spread) {
        EXPECT_GT(index.stats().levels, 3u);
    }
    const auto expected = everything(w, w.points, true);
    check_lists(w, index, expected);
    check_loops(w, index, expected);
    check_queries(w, index);
    check_bytes(w, index);
}

template <class Kind>
class EveryOption : public testing::Test {};
TYPED_TEST_SUITE(EveryOption, test::Kinds);

TYPED_TEST(EveryOption, EqualsPlainLoops) {
    std::uint64_t seed = 1;
    for (const BoxKind box : {BoxKind::open, BoxKind::bricks, BoxKind::leaning, BoxKind::half_open}) {
        check_world<TypeParam::D, typename TypeParam::T>(box, RadiiKind::one, RadiusRule::own, seed++);
        for (const RadiusRule rule : all_radius_rules)
            for (const RadiiKind kind : {RadiiKind::alike, RadiiKind::spread})
                check_world<TypeParam::D, typename TypeParam::T>(box, kind, rule, seed++);
    }
}

}  // namespace
}  // namespace quadrat
