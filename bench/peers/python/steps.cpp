// The steps that rivals.py makes from Python, made by a program: for every word on standard input the milliseconds of
// that step on standard output, of time and of the processor, so that both can take turns. In between it waits, which
// costs no time.
//
//     steps POINTS COUNT RADIUS THREADS      POINTS: a file of COUNT * 3 doubles, between 0 and 1
//
// list: update and list; half, distances, everything, periodic: the same with these; nearest: 16 each; pairs: update
// and overlapping boxes as large as half the radius; peak: the most memory so far, in kilobytes, without a step.
#include <quadrat/quadrat.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using Point = quadrat::Vec3d;

std::vector<Point> read(const char* path, std::size_t count) {
    std::vector<Point> points(count);
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(points.data()), static_cast<std::streamsize>(count * sizeof(Point)));
    if (!file) {
        std::fprintf(stderr, "%s: cannot be read\n", path);
        std::exit(1);
    }
    return points;
}

long peak_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::strtol(line.c_str() + 6, nullptr, 10);
    return 0;
}

class Steps {
  public:
    Steps(std::vector<Point> points, double radius, unsigned threads)
        : points_(std::move(points)),
          executor_(threads > 1 ? std::make_unique<quadrat::ThreadExecutor>(threads) : nullptr),
          open_({.radius = radius, .executor = executor_.get()}),
          periodic_({.radius = radius,
                     .periodic = quadrat::Periodic<3, double>::orthorhombic({{1, 1, 1}}),
                     .executor = executor_.get()}),
          grid_({.executor = executor_.get()}) {
        for (const Point& p : points_) {
            const double h = 0.25 * radius;
            boxes_.push_back({{{p[0] - h, p[1] - h, p[2] - h}}, {{p[0] + h, p[1] + h, p[2] + h}}});
        }
    }

    void list(quadrat::CellIndex<3, double>& index, quadrat::NeighborOptions options) {
        options.order = quadrat::RowOrder::input;
        build_once(index);
        index.update(points_);
        index.find_neighbors(list_, options);
    }
    void nearest() {
        build_once(open_);
        open_.update(points_);
        open_.find_nearest(16, list_);
        list_.compact(executor_.get());
    }
    void pairs() {
        if (grid_.size() == 0) grid_.insert(boxes_);
        grid_.update(boxes_);
        grid_.find_pairs(pairs_);
    }
    quadrat::CellIndex<3, double>& open() { return open_; }
    quadrat::CellIndex<3, double>& periodic() { return periodic_; }

  private:
    void build_once(quadrat::CellIndex<3, double>& index) {
        if (index.size() == 0) index.build(points_);
    }

    std::vector<Point> points_;
    std::vector<quadrat::Box3d> boxes_;
    std::unique_ptr<quadrat::Executor> executor_;
    quadrat::CellIndex<3, double> open_, periodic_;
    quadrat::HashGridHierarchy<3, double> grid_;
    quadrat::NeighborList list_;
    std::vector<quadrat::Pair> pairs_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: steps POINTS COUNT RADIUS THREADS\n");
        return 2;
    }
    Steps steps(read(argv[1], std::strtoull(argv[2], nullptr, 10)), std::strtod(argv[3], nullptr),
                static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)));
    const auto distance = quadrat::DistanceKind::distance;
    const std::map<std::string, std::function<void()>> known = {
        {"list", [&] { steps.list(steps.open(), {}); }},
        {"half", [&] { steps.list(steps.open(), {.half = true}); }},
        {"distances", [&] { steps.list(steps.open(), {.distances = distance}); }},
        {"everything", [&] { steps.list(steps.periodic(), {.distances = distance, .vectors = true, .shifts = true}); }},
        {"periodic", [&] { steps.list(steps.periodic(), {}); }},
        {"nearest", [&] { steps.nearest(); }},
        {"pairs", [&] { steps.pairs(); }},
    };
    for (std::string word; std::cin >> word;) {
        if (word == "peak") {
            std::printf("%ld\n", peak_kilobytes());
        } else if (const auto step = known.find(word); step != known.end()) {
            const auto begin = std::chrono::steady_clock::now();
            const std::clock_t worked = std::clock();
            step->second();
            const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
            std::printf("%.6f %.6f\n", spent.count(),
                        1e3 * static_cast<double>(std::clock() - worked) / double{CLOCKS_PER_SEC});
        } else {
            std::fprintf(stderr, "there is no step %s\n", word.c_str());
            return 2;
        }
        std::fflush(stdout);
    }
}
