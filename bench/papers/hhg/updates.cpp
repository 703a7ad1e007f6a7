// HHG 4.3 (the two update strategies), 4.4 (worst cases), 2.3 (one cell against all overlapped cells) and 2.7
// (rotation).
#include "structures.hpp"

#include <cmath>
#include <stdexcept>

namespace hhg {

void figure25(const char* json) {
    papers::Report report({"objects", "individual_20_ms", "individual_all_ms", "reinsert_ms", "reinsert/indiv.",
                           "changed_%", "changed_all_%", "detect_ms", "update_share_%"});
    for (const std::size_t n : {1000, 10000, 100000, 1000000}) {
        Scenario world({.n = n, .largest = 12});
        PaperGrids grids;
        grids.setup(world.boxes());
        std::size_t changed = 0, changed_all = 0;
        const double individual = per_step([&] { changed = grids.update(world.boxes()); }, [&] { world.step(); });
        const double detect = per_step([&] { grids.detect(); }, [] {});
        const double reinsert = per_step([&] { grids.reinsert(world.boxes()); }, [&] { world.step(); });
        const double all = per_step([&] { changed_all = grids.update(world.boxes()); }, [&] { world.scatter(); });
        report.row({double(n), individual, all, reinsert, reinsert / individual, 100 * double(changed) / double(n),
                    100 * double(changed_all) / double(n), detect, 100 * individual / (individual + detect)});
    }
    report.write(json);
}

void figure26(const char* json) {
    papers::Report report({"objects", "cubes_ms", "long_ms", "flat_ms", "x32_ms", "x1024_ms", "long/cubes",
                           "flat/cubes", "x32/cubes", "x1024/cubes", "q_cubes_ms", "q_long_ms", "q_flat_ms",
                           "q_x1024_ms"});
    for (const std::size_t n : {1000, 10000, 100000, 300000}) {
        const Settings cases[] = {{.n = n},
                                  {.n = n, .shape = {10, 1, 1}},
                                  {.n = n, .shape = {10, 10, 1}},
                                  {.n = n, .stretch = 32},
                                  {.n = n, .stretch = 1024}};
        double paper[5], own[5];
        for (int c = 0; c < 5; ++c) {
            Scenario world(cases[c]);
            PaperGrids grids;
            grids.setup(world.boxes());
            paper[c] = paper_step(world, grids);
            own[c] = quadrat_step(world);
        }
        report.row({double(n), paper[0], paper[1], paper[2], paper[3], paper[4], paper[1] / paper[0],
                    paper[2] / paper[0], paper[3] / paper[0], paper[4] / paper[0], own[0], own[1], own[2], own[4]});
    }
    report.write(json);
}

namespace {

// Strategy 1 of 2.3: an object is in every cell that it overlaps. Cells wrapped by powers of two and lists through
// arrays, as in DynamicGrids, so that only the strategy differs. A pair that shares several cells is met in each of
// them and reported in the one that holds the larger of both lower corners: the "additional treatment" that the paper
// speaks of.
class OverlappedCells {
  public:
    explicit OverlappedCells(double edge) : quantiser_(edge) {}

    void build(std::span<const Box3f> boxes) {
        boxes_ = boxes;
        entries_.clear();
        lower_.resize(boxes.size());
        int bits = 4;
        while ((std::size_t{1} << (3 * bits)) < 8 * boxes.size()) ++bits;
        bits_ = bits;
        head_.assign(std::size_t{1} << (3 * bits), none);
        occupied_.clear();
        for (std::uint32_t i = 0; i < boxes.size(); ++i) {
            const auto lo = quantiser_.cell(boxes[i].lo), hi = quantiser_.cell(boxes[i].hi);
            lower_[i] = lo;
            auto c = lo;
            for (c[2] = lo[2]; c[2] <= hi[2]; ++c[2])
                for (c[1] = lo[1]; c[1] <= hi[1]; ++c[1])
                    for (c[0] = lo[0]; c[0] <= hi[0]; ++c[0]) {
                        std::uint32_t& head = head_[index(c)];
                        if (head == none) occupied_.push_back(index(c));
                        entries_.push_back({i, head});
                        head = static_cast<std::uint32_t>(entries_.size() - 1);
                    }
        }
    }
    std::size_t detect() {
        std::size_t pairs = 0;
        tests_ = repeated_ = 0;
        for (const std::uint32_t cell : occupied_)
            for (std::uint32_t a = head_[cell]; a != none; a = entries_[a].next)
                for (std::uint32_t b = entries_[a].next; b != none; b = entries_[b].next) {
                    ++tests_;
                    const std::uint32_t p = entries_[a].object, q = entries_[b].object;
                    if (!quadrat::overlap(boxes_[p], boxes_[q])) continue;
                    auto c = lower_[p];
                    for (int k = 0; k < 3; ++k) c[k] = std::max(c[k], lower_[q][k]);
                    index(c) == cell ? ++pairs : ++repeated_;
                }
        return pairs;
    }
    [[nodiscard]] std::size_t entries() const { return entries_.size(); }
    [[nodiscard]] std::uint64_t tests() const { return tests_; }
    [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

  private:
    static constexpr std::uint32_t none = 0xffffffff;
    struct Entry {
        std::uint32_t object, next;
    };
    [[nodiscard]] std::uint32_t index(const quadrat::cells::Cell<3>& c) const {
        const std::int64_t mask = (std::int64_t{1} << bits_) - 1;
        return static_cast<std::uint32_t>((c[0] & mask) | (c[1] & mask) << bits_ | (c[2] & mask) << (2 * bits_));
    }

    quadrat::cells::Quantiser<3> quantiser_;
    std::span<const Box3f> boxes_;
    std::vector<quadrat::cells::Cell<3>> lower_;
    std::vector<std::uint32_t> head_, occupied_;
    std::vector<Entry> entries_;
    int bits_ = 4;
    std::uint64_t tests_ = 0, repeated_ = 0;
};

}  // namespace

void ablation(const char* json) {
    papers::Report report({"largest", "edge", "entries/object", "all_build_ms", "all_detect_ms", "all_tests",
                           "repeated", "one_setup_ms", "one_detect_ms", "one_tests"});
    constexpr std::size_t n = 100000;
    for (const double largest : {1.0, 12.0, 100.0}) {
        const Scenario world({.n = n, .largest = largest});
        PaperGrids one;
        one.setup(world.boxes());
        const double setup = per_step([&] { PaperGrids().setup(world.boxes()); }, [] {});
        std::size_t expected = 0;
        const double detect = per_step([&] { expected = one.detect(); }, [] {});
        for (const double share : {0.25, 0.5, 1.0, 2.0}) {  // of the largest object
            const double edge = share * largest;
            OverlappedCells all(edge);
            const double build = per_step([&] { all.build(world.boxes()); }, [] {});
            std::size_t pairs = 0;
            const double found = per_step([&] { pairs = all.detect(); }, [] {});
            if (pairs != expected) throw std::runtime_error("the two strategies disagree");
            report.row({largest, edge, double(all.entries()) / n, build, found, double(all.tests()) / n,
                        double(all.repeated()) / n, setup, detect, double(one.tests()) / n});
        }
    }
    report.write(json);
}

namespace {

struct Rotation {
    double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    // Turns by `angle` about an axis of length one (Rodrigues).
    void turn(const double (&axis)[3], double angle) {
        const double c = std::cos(angle), s = std::sin(angle), (&u)[3] = axis;
        double r[3][3], next[3][3] = {};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) r[i][j] = (i == j ? c : 0) + (1 - c) * u[i] * u[j];
        r[0][1] -= s * u[2], r[0][2] += s * u[1], r[1][2] -= s * u[0];
        r[1][0] += s * u[2], r[2][0] -= s * u[1], r[2][1] += s * u[0];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 3; ++k) next[i][j] += r[i][k] * m[k][j];
        std::copy_n(&next[0][0], 9, &m[0][0]);
    }
};

}  // namespace

// Cuboids that turn in place by up to 0.1 rad per step: how often does an object change its cell and its grid, and by
// which factor does the size of its box change? The volume varies by size so that no size is special.
void rotation(const char* json) {
    papers::Report report({"length", "width", "height", "cells/step_%", "grids/step_%", "ever_other_grid_%",
                           "scale_seen", "paper_scale"});
    constexpr std::size_t n = 4000;
    constexpr int steps = 200;
    const double shapes[][3] = {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}, {4, 1, 1}, {10, 1, 1}, {10, 10, 1}};
    for (const auto& shape : shapes) {
        quadrat::base::SplitMix random(27);
        std::vector<Rotation> pose(n);
        std::vector<double> scale(n), speed(n), least(n, 1e30), most(n, 0);
        std::vector<std::array<double, 3>> axis(n), at(n);
        for (std::size_t i = 0; i < n; ++i) {
            scale[i] = std::pow(2.0, random.uniform(0, 4));
            speed[i] = random.uniform(0, 0.1);
            for (double& x : at[i]) x = random.uniform(0, 400);
        }
        const auto new_axis = [&](std::size_t i) {
            double length = 0;
            do {
                length = 0;
                for (double& x : axis[i]) {
                    x = random.uniform(-1, 1);
                    length += x * x;
                }
            } while (length > 1 || length < 1e-3);
            for (double& x : axis[i]) x /= std::sqrt(length);
        };
        std::vector<Box3f> boxes(n);
        const auto place = [&](std::size_t i) {
            double longest = 0;
            for (int k = 0; k < 3; ++k) {
                double half = 0;
                for (int j = 0; j < 3; ++j) half += std::abs(pose[i].m[k][j]) * shape[j] * scale[i] / 2;
                boxes[i].lo[k] = static_cast<float>(at[i][static_cast<std::size_t>(k)] - half);
                boxes[i].hi[k] = static_cast<float>(at[i][static_cast<std::size_t>(k)] + half);
                longest = std::max(longest, 2 * half);
            }
            least[i] = std::min(least[i], longest);
            most[i] = std::max(most[i], longest);
        };
        for (std::size_t i = 0; i < n; ++i) place(i);
        DynamicGrids<3, float> grids{HashGridOptions{}};
        grids.reserve_slots(n);
        for (std::uint32_t i = 0; i < n; ++i) grids.insert(i, boxes[i]);
        std::size_t cells = 0, changes = 0, wanderers = 0;
        std::vector<bool> moved(n);
        for (int s = 0; s < steps; ++s)
            for (std::uint32_t i = 0; i < n; ++i) {
                if (s % 40 == 0) new_axis(i);
                const double direction[3] = {axis[i][0], axis[i][1], axis[i][2]};
                pose[i].turn(direction, speed[i]);
                place(i);
                const std::int32_t before = grids.level(i);
                cells += grids.move(i, boxes[i]);
                if (grids.level(i) != before) {
                    ++changes;
                    moved[i] = true;
                }
            }
        double seen = 0;
        for (std::size_t i = 0; i < n; ++i) {
            wanderers += moved[i];
            seen = std::max(seen, most[i] / least[i]);
        }
        const double longest = std::max({shape[0], shape[1], shape[2]});
        const double diagonal = std::sqrt(shape[0] * shape[0] + shape[1] * shape[1] + shape[2] * shape[2]);
        const double total = double(n) * steps;
        report.row({shape[0], shape[1], shape[2], 100 * double(cells) / total, 100 * double(changes) / total,
                    100 * double(wanderers) / double(n), seen, diagonal / longest});
    }
    report.write(json);
}

}  // namespace hhg
