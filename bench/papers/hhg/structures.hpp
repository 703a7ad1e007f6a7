// What is measured: the paper's hierarchy of hash grids as this library has it for single edits
// (src/broad_phase/dynamic_grids), the all-pairs test that the paper starts from, and quadrat's own structure. Each
// takes the boxes of a step and counts pairs.
#pragma once

#include "broad_phase/loose/dynamic_grids.hpp"
#include "common/report.hpp"
#include "scenario.hpp"

#include <quadrat/broad_phase.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace hhg {

using quadrat::HashGridOptions;
using quadrat::broad_phase::DynamicGrids;

/// HHG's own grids, with both update strategies of 2.6.
class PaperGrids {
  public:
    explicit PaperGrids(const HashGridOptions& options = {}) : grids_(options) {}

    void setup(std::span<const Box3f> boxes) {
        grids_.reserve_slots(boxes.size());
        for (std::uint32_t i = 0; i < boxes.size(); ++i) grids_.insert(i, boxes[i]);
    }
    /// Objects that changed their cell.
    std::size_t update(std::span<const Box3f> boxes) {
        std::size_t changed = 0;
        for (std::uint32_t i = 0; i < boxes.size(); ++i) changed += grids_.move(i, boxes[i]);
        return changed;
    }
    void reinsert(std::span<const Box3f> boxes) {
        grids_.clear();
        for (std::uint32_t i = 0; i < boxes.size(); ++i) grids_.insert(i, boxes[i]);
    }
    std::size_t detect() {
        std::size_t pairs = 0;
        tests_ = 0;
        grids_.for_each_pair(tests_, [&](std::uint32_t, std::uint32_t) { ++pairs; });
        return pairs;
    }
    [[nodiscard]] std::uint64_t tests() const { return tests_; }
    [[nodiscard]] const DynamicGrids<3, float>& grids() const { return grids_; }

  private:
    DynamicGrids<3, float> grids_;
    std::uint64_t tests_ = 0;
};

/// Code snippet 3: every object against every other.
inline std::size_t all_pairs(std::span<const Box3f> boxes) {
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        for (std::size_t j = i + 1; j < boxes.size(); ++j) pairs += quadrat::overlap(boxes[i], boxes[j]);
    return pairs;
}

/// Median milliseconds of fn over so many steps that small sets are measured for at least 20 ms; `between` is not
/// measured.
template <class Fn, class Between>
double per_step(Fn&& fn, Between&& between) {
    std::vector<double> times;
    double sum = 0;
    while (times.size() < 3 || (sum < 20 && times.size() < 2000)) {
        between();
        times.push_back(papers::milliseconds(fn));
        sum += times.back();
    }
    return papers::median(times);
}

/// One step of the paper's structure: update and detection.
inline double paper_step(Scenario& world, PaperGrids& grids) {
    return per_step(
        [&] {
            grids.update(world.boxes());
            grids.detect();
        },
        [&] { world.step(); });
}

inline double quadrat_step(Scenario& world, const HashGridOptions& options = {}) {
    quadrat::HashGridHierarchy<3, float> grid(options);
    grid.insert(world.boxes());
    std::vector<Pair> pairs;
    return per_step(
        [&] {
            grid.update(world.boxes());
            grid.find_pairs(pairs);
        },
        [&] { world.step(); });
}

// One function per part of section 4; each prints its table and writes JSON.
void figure20(const char* json);
void figure21(const char* json);
void figure22(const char* json);
void figure23_24(const char* json);
void threshold(const char* json);
void figure25(const char* json);
void figure26(const char* json);
void figure27_30(const char* json);
void ablation(const char* json);
void rotation(const char* json);
void memory(const char* json);

}  // namespace hhg
