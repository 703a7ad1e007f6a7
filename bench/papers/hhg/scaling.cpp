// HHG 4.1 and 4.2: how the time of a step and of the setup grows with the number of objects, and what the hierarchy
// factor does.
#include "structures.hpp"

#include <cstdio>
#include <stdexcept>

namespace hhg {
namespace {

void require_equal(std::size_t a, std::size_t b) {
    if (a != b)
        throw std::runtime_error("two structures found " + std::to_string(a) + " and " + std::to_string(b) + " pairs");
}

}  // namespace

void figure20(const char* json) {
    papers::Report report(
        {"objects", "all_pairs_ms", "grids_equal_ms", "grids_1_12_ms", "quadrat_ms", "pairs/object", "grids"});
    for (const std::size_t n : {10, 30, 100, 200, 500, 1000, 2000, 5000, 10000}) {
        Scenario equal({.n = n}), mixed({.n = n, .largest = 12});
        PaperGrids one, several;
        one.setup(equal.boxes());
        several.setup(mixed.boxes());
        const double grids = paper_step(equal, one), grids_mixed = paper_step(mixed, several);
        const double own = quadrat_step(equal);
        std::size_t pairs = 0;
        const double brute = per_step([&] { pairs = all_pairs(equal.boxes()); }, [&] { equal.step(); });
        one.update(equal.boxes());
        require_equal(pairs, one.detect());
        report.row(
            {double(n), brute, grids, grids_mixed, own, double(pairs) / double(n), double(several.grids().grids())});
    }
    report.write(json);
}

void figure21(const char* json) {
    papers::Report report({"objects", "grids_equal_ms", "grids_1_12_ms", "quadrat_bulk_ms", "ns_per_object"});
    for (const std::size_t n : {1000, 3000, 10000, 30000, 100000, 300000, 1000000}) {
        const Scenario equal({.n = n}), mixed({.n = n, .largest = 12});
        const auto setup = [](const Scenario& world) {
            return per_step(
                [&] {
                    PaperGrids grids;
                    grids.setup(world.boxes());
                },
                [] {});
        };
        const double a = setup(equal), b = setup(mixed),
                     own = per_step(
                         [&] {
                             quadrat::HashGridHierarchy<3, float> grid;
                             grid.insert(equal.boxes());
                         },
                         [] {});
        report.row({double(n), a, b, own, a * 1e6 / double(n)});
    }
    report.write(json);
}

void figure22(const char* json) {
    papers::Report report({"objects", "equal_half_ms", "equal_2_ms", "equal_8_ms", "mixed_2_ms", "mixed_8_ms",
                           "quadrat_equal_2_ms", "quadrat_mixed_2_ms", "ns/object equal_2"});
    for (const std::size_t n : {1000, 3000, 10000, 30000, 100000, 300000, 1000000}) {
        std::vector<double> row{double(n)};
        double own[2] = {};
        for (const Settings& s : {Settings{.n = n, .pairs = 0.5}, Settings{.n = n}, Settings{.n = n, .pairs = 8},
                                  Settings{.n = n, .largest = 12}, Settings{.n = n, .largest = 12, .pairs = 8}}) {
            Scenario world(s);
            PaperGrids grids;
            grids.setup(world.boxes());
            row.push_back(paper_step(world, grids));
            if (s.pairs == 2) own[s.largest > 1] = quadrat_step(world);
        }
        row.insert(row.end(), {own[0], own[1], row[2] * 1e6 / double(n)});
        report.row(row);
    }
    report.write(json);
}

void figure23_24(const char* json) {
    papers::Report report({"objects", "largest", "factor", "grids", "step_ms", "tests/object"});
    for (const double largest : {1.0, 12.0})
        for (const std::size_t n : {1000, 10000, 100000})
            for (const double factor : {1.25, 1.5, 2.0, 3.0, 4.0, 8.0}) {
                Scenario world({.n = n, .largest = largest});
                PaperGrids grids({.factor = factor});
                grids.setup(world.boxes());
                const double ms = paper_step(world, grids);
                report.row(
                    {double(n), largest, factor, double(grids.grids().grids()), ms, double(grids.tests()) / double(n)});
            }
    report.write(json);
}

// HHG 3.7: up to how many objects is it faster to test all against all? The threshold of HashGridOptions comes from
// here.
void threshold(const char* json) {
    papers::Report report({"objects", "all_cubes_ms", "grids_cubes_ms", "all_mixed_ms", "grids_mixed_ms", "all_long_ms",
                           "grids_long_ms"});
    for (const std::size_t n : {16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096}) {
        std::vector<double> row{double(n)};
        for (const Settings& s :
             {Settings{.n = n}, Settings{.n = n, .largest = 12}, Settings{.n = n, .shape = {10, 1, 1}}}) {
            Scenario world(s);
            for (const std::uint32_t below : {1u << 20, 0u})
                row.push_back(quadrat_step(world, {.all_pairs_below = below}));
        }
        report.row(row);
    }
    report.write(json);
}

}  // namespace hhg
