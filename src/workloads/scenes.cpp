#include "workloads/scenes.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace quadrat::workloads {
namespace {

/// x^(1/3) by Newton from above: basic arithmetic, so the same on every machine.
double cube_root(double x) {
    if (!(x > 0)) return 0;
    double y = x > 1 ? x : 1;
    for (;;) {
        const double next = (2 * y + x / (y * y)) / 3;
        if (!(next < y)) return y;
        y = next;
    }
}

template <int D>
double root(double x) {
    return D == 2 ? std::sqrt(x) : cube_root(x);
}

/// A vector in the unit ball, never shorter than 1e-3.
template <int D>
void in_unit_ball(base::SplitMix& random, double (&d)[D], double& length) {
    for (;;) {
        double sum = 0;
        for (double& x : d) {
            x = random.uniform(-1, 1);
            sum += x * x;
        }
        if (sum > 1 || sum < 1e-6) continue;
        length = std::sqrt(sum);
        return;
    }
}

template <int D>
void draw_size(BoxScene scene, base::SplitMix& random, double (&size)[D]) {
    double all = 1;
    if (scene == BoxScene::sizes) all = random.uniform(1, 12);
    if (scene == BoxScene::mix) {
        const double u = random.uniform();
        all = u < 0.10 ? 1024 : u < 0.35 ? 64 : 8;
    }
    std::fill_n(size, D, all);
    if (scene == BoxScene::sticks) size[random.below(D)] = 10;
}

/// The chance that two boxes, uniform in a cube, overlap: 2 d / s - (d / s)^2 per axis with d the mean of the sizes.
template <int D>
double overlap_chance(const double (&a)[D], const double (&b)[D], double side) {
    double chance = 1;
    for (int k = 0; k < D; ++k) {
        const double d = (a[k] + b[k]) / 2 / side;
        chance *= d > 1 ? 1 : 2 * d - d * d;
    }
    return chance;
}

/// Edge of the cube in which n boxes of the scene have about 2 n pairs.
template <int D>
double side_for_two_pairs(BoxScene scene, std::size_t n) {
    if (scene == BoxScene::mix) return 8192;
    constexpr int samples = 2000;
    const auto pairs = [&](double side) {
        base::SplitMix random(777);
        double sum = 0;
        for (int i = 0; i < samples; ++i) {
            double a[D], b[D];
            draw_size(scene, random, a);
            draw_size(scene, random, b);
            const double everywhere = overlap_chance(a, b, side);
            sum += scene == BoxScene::clustered ? 0.25 * overlap_chance(a, b, side * root<D>(0.01)) + 0.75 * everywhere
                                                : everywhere;
        }
        const double count = static_cast<double>(n);
        return sum / samples * 0.5 * count * (count - 1);
    };
    double low = 1, high = 1e8;
    for (int i = 0; i < 60; ++i) {
        const double middle = std::sqrt(low * high);
        (pairs(middle) > 2.0 * static_cast<double>(n) ? low : high) = middle;
    }
    return std::sqrt(low * high);
}

constexpr std::uint64_t spread(std::uint64_t x, int dimensions) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 21; ++bit) result |= (x >> bit & 1) << (bit * dimensions);
    return result;
}

template <int D, class T>
void order_by_z(std::vector<Vec<D, T>>& points, T cell) {
    if (points.empty()) return;
    Vec<D, T> lo = points[0];
    for (const auto& p : points)
        for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], p[k]);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::uint64_t key = 0;
        for (int k = 0; k < D; ++k) key |= spread(static_cast<std::uint64_t>((points[i][k] - lo[k]) / cell), D) << k;
        keys[i] = {key, static_cast<std::uint32_t>(i)};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<Vec<D, T>> sorted(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) sorted[i] = points[keys[i].second];
    points.swap(sorted);
}

}  // namespace

std::optional<BoxScene> box_scene(std::string_view name) {
    if (name.size() != 2 || name[0] != 'B' || name[1] < '1' || name[1] > '6') return {};
    return static_cast<BoxScene>(name[1] - '1');
}

std::optional<PointScene> point_scene(std::string_view name) {
    if (name == "shell") return PointScene::shell;
    if (name == "clustered") return PointScene::clustered;
    if (name.size() != 2 || name[0] != 'W' || name[1] < '1' || name[1] > '4') return {};
    return static_cast<PointScene>(name[1] - '1');
}

template <int D, class T>
MovingBoxes<D, T>::MovingBoxes(BoxScene scene, std::size_t n, std::uint64_t seed)
    : side_(side_for_two_pairs<D>(scene, n)), cluster_side_(side_ * root<D>(0.01)) {
    center_.resize(n);
    half_.resize(n);
    velocity_.resize(n);
    in_cluster_.resize(n);
    boxes_.resize(n);
    base::SplitMix random(seed);
    for (std::size_t i = 0; i < n; ++i) {
        double size[D], direction[D], length, volume = 1;
        draw_size(scene, random, size);
        in_cluster_[i] = scene == BoxScene::clustered && random.uniform() < 0.5;
        in_unit_ball(random, direction, length);
        for (const double s : size) volume *= s;
        const double speed = random.uniform() * (scene == BoxScene::calm ? 0.01 : 0.2) * root<D>(volume) / length;
        for (int k = 0; k < D; ++k) {
            center_[i][k] = static_cast<T>(random.uniform() * (in_cluster_[i] ? cluster_side_ : side_));
            half_[i][k] = static_cast<T>(size[k] / 2);
            velocity_[i][k] = static_cast<T>(direction[k] * speed);
        }
        place(i);
    }
}

template <int D, class T>
void MovingBoxes<D, T>::place(std::size_t i) {
    for (int k = 0; k < D; ++k) {
        boxes_[i].lo[k] = center_[i][k] - half_[i][k];
        boxes_[i].hi[k] = center_[i][k] + half_[i][k];
    }
}

template <int D, class T>
void MovingBoxes<D, T>::step() {
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const T side = static_cast<T>(in_cluster_[i] ? cluster_side_ : side_);
        for (int k = 0; k < D; ++k) {
            T x = center_[i][k] + velocity_[i][k];
            if (x < 0) x += side;
            if (x >= side) x -= side;
            center_[i][k] = x;
        }
        place(i);
    }
}

template <int D, class T>
std::vector<Segment<D, T>> short_segments(std::size_t n, double side, double max_length, std::uint64_t seed) {
    base::SplitMix random(seed);
    std::vector<Segment<D, T>> segments(n);
    for (auto& s : segments) {
        double direction[D], length;
        in_unit_ball(random, direction, length);
        const double scale = random.uniform() * max_length / length;
        for (int k = 0; k < D; ++k) {
            const double start = random.uniform() * side;
            s.a[k] = static_cast<T>(start);
            s.b[k] = static_cast<T>(start + direction[k] * scale);
        }
    }
    return segments;
}

template <int D, class T>
MovingPoints<D, T>::MovingPoints(PointScene scene, std::size_t n, PointOrder order, std::uint64_t seed) : seed_(seed) {
    constexpr double pi = 3.14159265358979323846;
    base::SplitMix random(seed);
    points_.resize(n);
    const double count = static_cast<double>(std::max<std::size_t>(n, 1));
    double radius = 2;
    if (scene == PointScene::lattice || scene == PointScene::moving) {
        std::size_t edge = 1;
        while ((D == 2 ? edge * edge : edge * edge * edge) < n) ++edge;
        for (std::size_t i = 0; i < n; ++i) {
            std::size_t rest = i;
            for (int k = 0; k < D; ++k, rest /= edge)
                points_[i][k] = static_cast<T>(static_cast<double>(rest % edge) + random.uniform(-0.1, 0.1));
        }
    } else if (scene == PointScene::shell) {
        // Density of the surface: n / (4 pi 50^2) in 3D, n / (2 pi 50) in 2D.
        radius = D == 2 ? 30 * 2 * pi * 50 / (2 * count) : std::sqrt(30 * 4 * 50 * 50 / count);
        for (auto& p : points_) {
            double direction[D], length;
            in_unit_ball(random, direction, length);
            const double distance = 50 + random.uniform() * 1e-3 * radius;
            for (int k = 0; k < D; ++k) p[k] = static_cast<T>(direction[k] / length * distance);
        }
    } else {
        const double mean = scene == PointScene::sparse ? 3 : 30;
        const double side = 100, cluster = side * root<D>(0.01);
        const double outside = scene == PointScene::clustered ? count / 2 : count;
        radius = D == 2 ? std::sqrt(mean * side * side / outside / pi)
                        : cube_root(mean * side * side * side / outside / (4.0 / 3.0 * pi));
        for (auto& p : points_) {
            const double edge = scene == PointScene::clustered && random.uniform() < 0.5 ? cluster : side;
            for (int k = 0; k < D; ++k) p[k] = static_cast<T>(random.uniform() * edge);
        }
    }
    radius_ = static_cast<T>(radius);
    if (order == PointOrder::shuffled)
        for (std::size_t i = n; i > 1; --i) std::swap(points_[i - 1], points_[random.below(i)]);
    if (order == PointOrder::z_order) order_by_z(points_, radius_);
}

template <int D, class T>
void MovingPoints<D, T>::step() {
    base::SplitMix random(seed_ + 0x51ED270B * ++steps_);
    const double most = 0.1 * static_cast<double>(radius_) / std::sqrt(static_cast<double>(D));
    for (auto& p : points_)
        for (int k = 0; k < D; ++k) p[k] += static_cast<T>(random.uniform(-most, most));
}

template class MovingBoxes<2, float>;
template class MovingBoxes<3, float>;
template class MovingBoxes<2, double>;
template class MovingBoxes<3, double>;
template class MovingPoints<2, float>;
template class MovingPoints<3, float>;
template class MovingPoints<2, double>;
template class MovingPoints<3, double>;
template std::vector<Segment<2, float>> short_segments(std::size_t, double, double, std::uint64_t);
template std::vector<Segment<3, float>> short_segments(std::size_t, double, double, std::uint64_t);
template std::vector<Segment<2, double>> short_segments(std::size_t, double, double, std::uint64_t);
template std::vector<Segment<3, double>> short_segments(std::size_t, double, double, std::uint64_t);

}  // namespace quadrat::workloads
