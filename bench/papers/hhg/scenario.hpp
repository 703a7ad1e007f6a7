// The scenario of HHG 4 (Schornbaum 2009): cuboids spread evenly over a box with periodic borders whose volume is
// chosen so that the average number of pairs per object is the one asked for, each with a random velocity of up to a
// share of its size.
#pragma once

#include "base/random.hpp"

#include <quadrat/geometry.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace hhg {

using quadrat::Box3f;
using quadrat::Pair;
using quadrat::Vec3f;

struct Settings {
    std::size_t n = 1000;
    double largest = 1;           ///< sizes are even in [1, largest]; the paper's mix is 1..12
    double shape[3] = {1, 1, 1};  ///< edges as multiples of the size, along a random axis order
    double pairs = 2;             ///< per object
    double movement = 0.2;        ///< of the size, per step
    double stretch = 1;           ///< how much longer the space is along x than along y and z
    double shrink = 1;            ///< sizes divided by this after the space was chosen (figure 30)
};

class Scenario {
  public:
    explicit Scenario(const Settings& settings, std::uint64_t seed = 2009) : settings_(settings), random_(seed) {
        const std::size_t n = settings.n;
        size_.resize(n);
        at_.resize(n);
        velocity_.resize(n);
        boxes_.resize(n);
        for (Vec3f& s : size_) {
            const double size = random_.uniform(1, settings.largest);
            const std::uint64_t turn = random_.below(3);
            for (std::uint64_t k = 0; k < 3; ++k)
                s[static_cast<int>(k)] = static_cast<float>(size * settings.shape[(k + turn) % 3]);
        }
        // Two boxes overlap with probability prod(a + b) / volume.
        double meet = 0;
        constexpr int samples = 20000;
        for (int i = 0; i < samples; ++i) {
            const Vec3f &a = size_[random_.below(n)], &b = size_[random_.below(n)];
            meet += (double(a[0]) + b[0]) * (double(a[1]) + b[1]) * (double(a[2]) + b[2]) / samples;
        }
        const double volume = static_cast<double>(n) * meet / (2 * settings.pairs);
        const double edge = std::cbrt(volume / settings.stretch);
        side_[0] = edge * settings.stretch;
        side_[1] = side_[2] = edge;
        for (std::size_t i = 0; i < n; ++i) {
            const float longest = std::max({size_[i][0], size_[i][1], size_[i][2]});
            const double speed = random_.uniform() * settings.movement * longest / settings.shrink;
            double direction[3], length = 0;
            do {
                length = 0;
                for (double& d : direction) {
                    d = random_.uniform(-1, 1);
                    length += d * d;
                }
            } while (length > 1 || length < 1e-3);
            for (int k = 0; k < 3; ++k) {
                size_[i][k] /= static_cast<float>(settings.shrink);
                at_[i][k] = static_cast<float>(random_.uniform(0, side_[k]));
                velocity_[i][k] = static_cast<float>(speed * direction[k] / std::sqrt(length));
            }
            place(i);
        }
    }

    [[nodiscard]] std::span<const Box3f> boxes() const { return boxes_; }
    [[nodiscard]] double side(int axis) const { return side_[axis]; }
    void step() {
        for (std::size_t i = 0; i < at_.size(); ++i) {
            for (int k = 0; k < 3; ++k) {
                float x = at_[i][k] + velocity_[i][k];
                const auto side = static_cast<float>(side_[k]);
                if (x < 0) x += side;
                if (x >= side) x -= side;
                at_[i][k] = x;
            }
            place(i);
        }
    }
    /// Puts every object somewhere else: more movement than any simulation has (figure 25).
    void scatter() {
        for (std::size_t i = 0; i < at_.size(); ++i) {
            for (int k = 0; k < 3; ++k) at_[i][k] = static_cast<float>(random_.uniform(0, side_[k]));
            place(i);
        }
    }

  private:
    void place(std::size_t i) {
        for (int k = 0; k < 3; ++k) {
            boxes_[i].lo[k] = at_[i][k];
            boxes_[i].hi[k] = at_[i][k] + size_[i][k];
        }
    }

    Settings settings_;
    quadrat::base::SplitMix random_;
    double side_[3] = {};
    std::vector<Vec3f> size_, at_, velocity_;
    std::vector<Box3f> boxes_;
};

}  // namespace hhg
