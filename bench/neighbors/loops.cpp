// Loops over neighbours that store nothing, beside the list and the loop over it: a Lennard-Jones force, a density and
// a histogram of distances, medians of interleaved runs, build included.
//   quadrat_bench_neighbors_loops [points = 1000000] [threads = 1] [runs = 5]
#include <quadrat/neighbors.hpp>

#include "workloads/scenes.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace quadrat;

double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int bins = 128;
struct Histogram {
    std::array<std::uint32_t, bins> count{};
    friend Histogram operator+(Histogram a, const Histogram& b) {
        for (int k = 0; k < bins; ++k) a.count[k] += b.count[k];
        return a;
    }
};

template <class T>
class Loops {
  public:
    Loops(std::size_t n, Executor* executor)
        : scene_(workloads::PointScene::lattice, n, workloads::PointOrder::shuffled),
          points_(scene_.points().begin(), scene_.points().end()),
          radius_(scene_.radius()),
          index_({.radius = radius_, .executor = executor}),
          force_(n),
          density_(n) {}

    void run(const char* name, int runs) {
        compare(
            name, "Lennard-Jones", runs, [&] { list_force(); }, [&] { loop_force(); });
        compare(
            name, "density", runs, [&] { list_density(); }, [&] { loop_density(); });
        compare(
            name, "histogram", runs, [&] { list_histogram(); }, [&] { loop_histogram(); });
    }

  private:
    template <class A, class B>
    static void compare(const char* kind, const char* name, int runs, A&& list, B&& loop) {
        std::vector<double> a, b;
        for (int k = 0; k <= runs; ++k) {
            const double start = now();
            list();
            const double middle = now();
            loop();
            const double end = now();
            if (k == 0) continue;
            a.push_back(middle - start), b.push_back(end - middle);
        }
        std::sort(a.begin(), a.end());
        std::sort(b.begin(), b.end());
        const double x = a[a.size() / 2], y = b[b.size() / 2];
        std::printf("%s %-14s list and loop %8.1f   loop alone %8.1f   %5.2f times\n", kind, name, x, y, x / y);
    }

    void list_force() {
        index_.build(points_);
        index_.find_neighbors(list_);
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            Vec<3, T> f{};
            const Vec<3, T> home = points_[i];
            for (const std::uint32_t j : list_[i]) {
                const Vec<3, T> other = points_[j];
                T d[3], sq = 0;
                for (int k = 0; k < 3; ++k) d[k] = other[k] - home[k], sq += d[k] * d[k];
                const T s = 1 / sq, s3 = s * s * s, w = (s3 - 2 * s3 * s3) * s;
                for (int k = 0; k < 3; ++k) f[k] += w * d[k];
            }
            force_[i] = f;
        }
    }
    void loop_force() {
        index_.build(points_);
        index_.for_each_row(
            [&](const NeighborRow<3, T>& row) {
                T sum[3][16] = {};
                for (std::uint32_t b = 0; b < row.padded; b += 16)
                    for (std::uint32_t e = 0; e < 16; ++e) {
                        const T s = 1 / row.distances_sq[b + e], s3 = s * s * s, w = (s3 - 2 * s3 * s3) * s;
                        for (int k = 0; k < 3; ++k) sum[k][e] += w * row.delta[k][b + e];
                    }
                Vec<3, T> f{};
                for (int k = 0; k < 3; ++k)
                    for (int e = 0; e < 16; ++e) f[k] += sum[k][e];
                force_[row.home] = f;
            },
            {.vectors = true});
    }
    void list_density() {
        index_.build(points_);
        index_.find_neighbors(list_);
        const T inverse = 1 / (radius_ * radius_);
        for (std::uint32_t i = 0; i < list_.size(); ++i) {
            T sum = 1;
            const Vec<3, T> home = points_[i];
            for (const std::uint32_t j : list_[i]) {
                T sq = 0;
                for (int k = 0; k < 3; ++k) sq += (points_[j][k] - home[k]) * (points_[j][k] - home[k]);
                const T w = 1 - sq * inverse;
                sum += w * w * w;
            }
            density_[i] = sum;
        }
    }
    void loop_density() {
        index_.build(points_);
        const T inverse = 1 / (radius_ * radius_);
        index_.for_each_row([&](const NeighborRow<3, T>& row) {
            T sum[16] = {};
            for (std::uint32_t b = 0; b < row.padded; b += 16)
                for (std::uint32_t e = 0; e < 16; ++e) {
                    const T u = 1 - row.distances_sq[b + e] * inverse, w = u > 0 ? u : 0;
                    sum[e] += w * w * w;
                }
            T all = 1;
            for (const T s : sum) all += s;
            density_[row.home] = all;
        });
    }
    void list_histogram() {
        index_.build(points_);
        index_.find_neighbors(list_, {.half = true});
        Histogram all;
        const T scale = bins / radius_;
        for (std::uint32_t i = 0; i < list_.size(); ++i)
            for (const std::uint32_t j : list_[i]) {
                T sq = 0;
                for (int k = 0; k < 3; ++k) sq += (points_[j][k] - points_[i][k]) * (points_[j][k] - points_[i][k]);
                ++all.count[std::min(bins - 1, static_cast<int>(std::sqrt(sq) * scale))];
            }
        histogram_ = all;
    }
    void loop_histogram() {
        index_.build(points_);
        const T scale = bins / radius_;
        histogram_ = index_.sum_rows(Histogram{},
                                     [&](Histogram& sum, const NeighborRow<3, T>& row) {
                                         int bin[16];
                                         for (std::uint32_t b = 0; b < row.count; b += 16) {
                                             for (std::uint32_t e = 0; e < 16; ++e) {
                                                 const T place = std::sqrt(row.distances_sq[b + e]) * scale;
                                                 bin[e] = static_cast<int>(place < bins - 1 ? place : bins - 1);
                                             }
                                             const std::uint32_t end = std::min(16u, row.count - b);
                                             for (std::uint32_t e = 0; e < end; ++e) ++sum.count[bin[e]];
                                         }
                                     },
                                     {.half = true});
    }

    workloads::MovingPoints<3, T> scene_;
    std::vector<Vec<3, T>> points_;
    T radius_;
    CellIndex<3, T> index_;
    NeighborList list_;
    std::vector<Vec<3, T>> force_;
    std::vector<T> density_;
    Histogram histogram_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
    const auto executor = make_executor(threads);
    std::printf("%zu points, %u threads, ms with the build\n", n, threads);
    Loops<float>(n, executor.get()).run("3f", runs);
    Loops<double>(n, executor.get()).run("3d", runs);
}
