// Queries as engines have them, beside plain loops: filters, any hit, the nearest few, boxes and spheres that move, and
// many at once on threads.
#include "base/random.hpp"
#include "support/kinds.hpp"
#include "support/oracle.hpp"
#include "support/scale.hpp"
#include "support/thrown.hpp"
#include "workloads/scenes.hpp"

#include <quadrat/broad_phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quadrat::engine_test {
namespace {

template <class K>
class EngineQueries : public testing::Test {
  protected:
    static constexpr int kD = K::D;
    using Scalar = typename K::T;
    using Grid = HashGridHierarchy<kD, Scalar>;

    EngineQueries() : world(workloads::BoxScene::mix, test::scaled(1200, 600, 300)) {
        world_boxes.assign(world.boxes().begin(), world.boxes().end());
        world_grid.insert(world_boxes, ids);
        for (std::uint32_t i = 0; i < world_boxes.size(); ++i) {
            filters.push_back(i % 3 == 0 ? Filter{.group = 2, .mask = 5} : Filter{});
            world_grid.set_filter(ids[i], filters[i]);
        }
        for (std::uint32_t i = 0; i < 40; ++i) world_grid.move(ids[7 * i], world_boxes[7 * i]);  // some of them loose
        std::vector<Id> still;
        for (std::uint32_t i = 0; i < ids.size(); i += 2) still.push_back(ids[i]);
        world_grid.rest(still);
        world_grid.update(std::span<const Box<kD, Scalar>>(world_boxes));
        for (std::uint32_t i = 0; i < 30; ++i) world_grid.move(ids[5 * i], world_boxes[5 * i]);
    }

    [[nodiscard]] bool allowed(std::uint32_t i, const QueryOptions& options) const {
        return !options.filter ||
               ((filters[i].group & options.filter->mask) != 0 && (filters[i].mask & options.filter->group) != 0);
    }
    [[nodiscard]] Vec<kD, Scalar> any_point(double side) {
        Vec<kD, Scalar> p;
        for (int k = 0; k < kD; ++k) p[k] = Scalar(random.uniform(0, side));
        return p;
    }
    [[nodiscard]] Box<kD, Scalar> any_box(double size) {
        Box<kD, Scalar> box{any_point(world.side()), {}};
        for (int k = 0; k < kD; ++k) box.hi[k] = box.lo[k] + Scalar(random.uniform(0, size));
        return box;
    }

    base::SplitMix random{3};
    workloads::MovingBoxes<kD, Scalar> world;
    std::vector<Box<kD, Scalar>> world_boxes;
    std::vector<Id> ids;
    std::vector<Filter> filters;
    Grid world_grid;
    const QueryOptions some{.filter = Filter{.group = 4, .mask = 2}}, all{};
};
TYPED_TEST_SUITE(EngineQueries, test::Kinds);

TYPED_TEST(EngineQueries, FiltersAndAnyHit) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::vector<std::uint32_t> found, expected;
    std::size_t empty = 0;
    for (int q = 0; q < 200; ++q) {
        Box<D, T> box = this->any_box(q % 2 ? 3000 : 30);
        if (q % 17 == 0) box.hi[0] = std::numeric_limits<T>::infinity();
        for (const QueryOptions& options : {this->some, this->all}) {
            expected.clear();
            for (std::uint32_t i = 0; i < this->world_boxes.size(); ++i)
                if (test::oracle_overlap(box, this->world_boxes[i]) && this->allowed(i, options)) expected.push_back(i);
            this->world_grid.find(box, found, options);
            std::sort(found.begin(), found.end());
            EXPECT_EQ(found, expected);
            const auto any = this->world_grid.find_any(box, options);
            EXPECT_EQ(any.has_value(), !expected.empty());
            if (any) {
                EXPECT_TRUE(std::binary_search(expected.begin(), expected.end(), *any));
            }
            empty += expected.empty();
        }
    }
    EXPECT_GT(empty, 0u);
    EXPECT_LT(empty, 390u);
}

TYPED_TEST(EngineQueries, TheNearestFew) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::vector<typename HashGridHierarchy<D, T>::Hit> found;
    for (int q = 0; q < 60; ++q) {
        const Vec<D, T> p = this->any_point(q % 3 == 0 ? 20'000 : this->world.side());
        for (const QueryOptions& options : {this->some, this->all}) {
            std::vector<std::pair<double, std::uint32_t>> order;
            for (std::uint32_t i = 0; i < this->world_boxes.size(); ++i) {
                double sum = 0;
                for (int k = 0; k < D; ++k) {
                    const double below = double(this->world_boxes[i].lo[k]) - double(p[k]);
                    const double d = std::max({below, 0.0, double(p[k]) - double(this->world_boxes[i].hi[k])});
                    sum += d * d;
                }
                if (this->allowed(i, options)) order.push_back({sum, i});
            }
            std::sort(order.begin(), order.end());
            for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{9}, order.size() + 5}) {
                this->world_grid.nearest(p, count, found, options);
                ASSERT_EQ(found.size(), std::min(count, order.size()));
                for (std::size_t i = 0; i < found.size(); ++i) {
                    EXPECT_EQ(found[i].slot, order[i].second);
                    EXPECT_NEAR(double(found[i].distance), std::sqrt(order[i].first), 1e-5 * (1 + found[i].distance));
                }
            }
            const auto one = this->world_grid.nearest(p, options);
            ASSERT_TRUE(one);
            EXPECT_EQ(one->slot, order[0].second);
        }
    }
}

// The time of impact by bisection: the squared distance along the way is convex.
template <class Apart>
double first_contact(Apart&& apart) {
    double from = 0, to = 1;  // where it is least: by golden section
    for (int i = 0; i < 200; ++i) {
        const double a = from + (to - from) / 3, b = to - (to - from) / 3;
        (apart(a) <= apart(b) ? to : from) = apart(a) <= apart(b) ? b : a;
    }
    double contact = apart(1) < apart(from) ? 1 : from;
    if (apart(0) <= 0) return 0;
    if (apart(contact) > 0) return 2;
    double before = 0;
    for (int i = 0; i < 100; ++i) {
        const double middle = (before + contact) / 2;
        (apart(middle) <= 0 ? contact : before) = middle;
    }
    return contact;
}

TYPED_TEST(EngineQueries, CastsStopAtTheFirstContact) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::size_t hits = 0, misses = 0;
    const auto compare = [&](const auto& hit, const std::vector<double>& times) {
        const double first = *std::min_element(times.begin(), times.end());
        if (!hit) {
            EXPECT_GT(first, 1 - 1e-5);
            ++misses;
            return;
        }
        EXPECT_NEAR(double(hit->distance), first, 2e-5);
        EXPECT_NEAR(times[hit->slot], first, 2e-5);
        ++hits;
    };
    for (int q = 0; q < 40; ++q) {
        Box<D, T> box = this->any_box(q % 2 ? 100 : 3);
        Vec<D, T> motion;
        for (int k = 0; k < D; ++k) motion[k] = q % 5 == k ? T(0) : T(this->random.uniform(-900, 900));
        const Sphere<D, T> sphere{box.lo, T(this->random.uniform(0, 60))};
        std::vector<double> of_box, of_sphere;
        for (std::uint32_t i = 0; i < this->world_boxes.size(); ++i) {
            const Box<D, T>& other = this->world_boxes[i];
            const auto gap = [&](const auto& lo, const auto& hi, double radius, double t) {
                double sum = 0, largest = -1e300;
                for (int k = 0; k < D; ++k) {
                    const double by = t * double(motion[k]);
                    const double d =
                        std::max(double(other.lo[k]) - (double(hi[k]) + by), double(lo[k]) + by - double(other.hi[k]));
                    largest = std::max(largest, d);
                    sum += d > 0 ? d * d : 0;
                }
                return radius < 0 ? largest : std::sqrt(sum) - radius;
            };
            of_box.push_back(first_contact([&](double t) { return gap(box.lo, box.hi, -1, t); }));
            of_sphere.push_back(first_contact([&](double t) { return gap(box.lo, box.lo, double(sphere.radius), t); }));
            for (std::vector<double>* times : {&of_box, &of_sphere})
                if (!this->allowed(i, this->some)) times->back() = 3;
        }
        compare(this->world_grid.cast(box, motion, this->some), of_box);
        compare(this->world_grid.cast(sphere, motion, this->some), of_sphere);
    }
    EXPECT_GT(hits, test::scaled(5u, 5u, 1u));
    EXPECT_GT(misses, 2u);
    EXPECT_EQ(test::thrown_by([&] {
                  Vec<D, T> bad{};
                  bad[1] = std::numeric_limits<T>::infinity();
                  (void)this->world_grid.cast(this->world_boxes[0], bad);
              }).kind(),
              ErrorKind::bad_value);
}

TYPED_TEST(EngineQueries, ManyAtOnceAreTheSameAsOneByOne) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    const std::size_t n = test::scaled(1500, 1500, 600);
    std::vector<Vec<D, T>> points;
    std::vector<Box<D, T>> boxes;
    std::vector<Sphere<D, T>> spheres;
    std::vector<Ray<D, T>> rays;
    const auto segments = workloads::short_segments<D, T>(n, this->world.side(), 300);
    for (std::size_t i = 0; i < n; ++i) {
        points.push_back(this->any_point(this->world.side()));
        boxes.push_back(this->any_box(300));
        spheres.push_back({points.back(), T(50)});
        rays.push_back({points.back(), boxes.back().lo, T(0.01)});
    }
    for (const unsigned threads : {1u, 2u, 7u}) {
        const auto executor = make_executor(threads);
        HashGridHierarchy<D, T> grid({.executor = executor.get()});
        grid.insert(std::span<const Box<D, T>>(this->world_boxes));
        for (std::uint32_t i = 0; i < this->world_boxes.size(); ++i) grid.set_filter(grid.id(i), this->filters[i]);
        const auto check = [&](const auto& queries) {
            using Query = typename std::decay_t<decltype(queries)>::value_type;
            QueryRows rows;
            std::vector<std::uint32_t> expected;
            grid.find_all(std::span<const Query>(queries), rows, this->some);
            ASSERT_EQ(rows.size(), queries.size());
            for (std::size_t i = 0; i < queries.size(); ++i) {
                grid.find(queries[i], expected, this->some);
                EXPECT_TRUE(std::ranges::equal(rows[i], expected)) << i;
            }
            EXPECT_GT(rows.slots.size(), 0u);
            grid.find_all(std::span<const Query>(), rows);
            EXPECT_EQ(rows.size(), 0u);
            auto bad = queries;
            reinterpret_cast<T*>(&bad[77])[0] = std::numeric_limits<T>::quiet_NaN();
            EXPECT_EQ(test::thrown_by([&] { grid.find_all(std::span<const Query>(bad), rows); }).kind(),
                      ErrorKind::bad_value);
            EXPECT_EQ(rows.size(), 0u);
        };
        check(points);
        check(boxes);
        check(spheres);
        check(segments);
        check(rays);
        std::vector<std::optional<typename HashGridHierarchy<D, T>::Hit>> found;
        const auto same = [](const auto& a, const auto& b) {
            return a.has_value() == b.has_value() && (!a || (a->slot == b->slot && a->distance == b->distance));
        };
        grid.closest_hits(rays, found, this->some);
        for (std::size_t i = 0; i < n; ++i) EXPECT_TRUE(same(found[i], grid.closest_hit(rays[i], this->some)));
        grid.nearest(points, found, this->some);
        for (std::size_t i = 0; i < n; ++i) EXPECT_TRUE(same(found[i], grid.nearest(points[i], this->some)));
    }
}

TYPED_TEST(EngineQueries, ManyAtOnceKeepToTheirBytes) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    std::vector<Box<D, T>> boxes;
    for (std::size_t i = 0; i < 1300; ++i) boxes.push_back(this->any_box(300));
    QueryRows rows;
    this->world_grid.find_all(std::span<const Box<D, T>>(boxes), rows);
    const std::size_t exactly = rows.offsets.size() * 8 + rows.slots.size() * 4;
    for (const unsigned threads : {1u, 3u}) {
        const auto executor = make_executor(threads);
        // Less by one byte; so little that no share of the queries fits; not even the offsets.
        for (const std::size_t max_bytes : {exactly, exactly - 1, rows.offsets.size() * 8 + 4, std::size_t{8}}) {
            HashGridHierarchy<D, T> grid({.executor = executor.get(), .max_bytes = max_bytes});
            grid.insert(std::span<const Box<D, T>>(this->world_boxes));
            QueryRows found = rows;
            if (max_bytes == exactly) {
                grid.find_all(std::span<const Box<D, T>>(boxes), found);
                EXPECT_EQ(found.offsets, rows.offsets);
                continue;
            }
            const Error error = test::thrown_by([&] { grid.find_all(std::span<const Box<D, T>>(boxes), found); });
            EXPECT_EQ(error.kind(), ErrorKind::too_large);
            EXPECT_NE(std::string(error.what()).find(std::to_string(exactly)), std::string::npos) << error.what();
            EXPECT_EQ(found.size(), 0u);
            EXPECT_TRUE(found.offsets.empty() && found.slots.empty());
        }
    }
}

}  // namespace
}  // namespace quadrat::engine_test
