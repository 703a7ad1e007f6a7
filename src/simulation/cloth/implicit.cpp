// See implicit.hpp.
#include "simulation/cloth/implicit.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"

namespace quadrat::simulation {
namespace {

// m / N. Springs of 0 are as stiff as double precision can tell from rigid; contacts give way by a hair.
constexpr double least_compliance = 1e-10;
constexpr double contact_compliance = 1e-5;
// Of the thickness, per step: what slides slower than this is held by springs instead of by friction.
constexpr double creep = 1e-3;
// Of the forces, that each round of Newton leaves.
constexpr double rest = 0.05;
constexpr std::uint32_t most_directions = 3000;

// How far it slid.
Eigen::Vector3d slide(const Touch& t, std::span<const Eigen::Vector3d> x) {
    Eigen::Vector3d sum = t.slid;
    for (int k = 0; k < t.count; ++k) sum += t.weight[k] * x[t.vertex[k]];
    return sum - sum.dot(t.normal) * t.normal;
}

}  // namespace

Eigen::Vector3d ImplicitStep::friction(const Touch& t, const Eigen::Vector3d& along) const {
    return t.rub / std::max(along.norm(), creep * options_.thickness) * along;
}

Eigen::Vector3d ImplicitStep::push(const Touch& t, const std::vector<Vector>& x) const {
    return t.push * t.normal - friction(t, slide(t, x));
}

ImplicitStep::ImplicitStep(std::span<const Spring> springs, std::vector<Touch>& touches, std::span<const double> mass,
                           std::span<const Eigen::Vector3d> flying, const Options& options)
    : springs_(springs), touches_(touches), mass_(mass), flying_(flying), options_(options) {
    QUADRAT_ASSERT(options.step > 0 && options.thickness > 0);
    QUADRAT_ASSERT(mass.size() == flying.size());
    QUADRAT_ASSERT(std::all_of(springs.begin(), springs.end(),
                               [&](const Spring& s) { return s.a < mass.size() && s.b < mass.size(); }));
    QUADRAT_ASSERT(std::all_of(touches.begin(), touches.end(), [&](const Touch& t) {
        return std::all_of(t.vertex, t.vertex + t.count, [&](std::uint32_t v) { return v < mass.size(); });
    }));
    stiff_.resize(springs.size());
    pressed_.resize(touches.size());
    ease_.resize(mass.size());
    force_.resize(mass.size());
}

double ImplicitStep::gap(const Touch& t, const std::vector<Vector>& x) const {
    double sum = t.fixed;
    for (int k = 0; k < t.count; ++k) sum += t.weight[k] * t.normal.dot(x[t.vertex[k]]);
    return sum;
}

double ImplicitStep::energy(const std::vector<Vector>& x) const {
    const double h_sq = options_.step * options_.step;
    double sum = 0;
    for (std::size_t v = 0; v < x.size(); ++v) sum += 0.5 * mass_[v] * (x[v] - flying_[v]).squaredNorm();
    for (const Spring& s : springs_) {
        const double off = (x[s.a] - x[s.b]).norm() - s.length;
        sum += 0.5 * h_sq / std::max(s.compliance, least_compliance) * off * off;
    }
    for (const Touch& t : touches_) {
        const double missing = std::max(options_.thickness - gap(t, x), 0.0);
        sum += 0.5 * h_sq / contact_compliance * missing * missing;
        if (t.rub > 0) {
            const double far = slide(t, x).norm(), held = creep * options_.thickness;
            sum += t.rub * (far > held ? far - 0.5 * held : 0.5 * far * far / held);
        }
    }
    return sum;
}

void ImplicitStep::linearize(const std::vector<Vector>& x) {
    const double h_sq = options_.step * options_.step;
    for (std::size_t v = 0; v < x.size(); ++v) {
        force_[v] = mass_[v] * (flying_[v] - x[v]);
        ease_[v] = mass_[v] * Matrix::Identity();
    }
    for (std::size_t i = 0; i < springs_.size(); ++i) {
        const Spring& s = springs_[i];
        const double k = h_sq / std::max(s.compliance, least_compliance);
        const Vector d = x[s.a] - x[s.b];
        const double length = d.norm();
        if (!(length > 0)) {
            stiff_[i].setZero();
            continue;
        }
        const Vector u = d / length;
        // Across itself a spring that is pressed would give way: left out, so that the system is positive.
        const double across = std::max(0.0, 1 - s.length / length);
        stiff_[i] = k * ((1 - across) * u * u.transpose() + across * Matrix::Identity());
        const Vector pull = k * (length - s.length) * u;
        force_[s.a] -= pull;
        force_[s.b] += pull;
        ease_[s.a] += stiff_[i];
        ease_[s.b] += stiff_[i];
    }
    for (std::size_t i = 0; i < touches_.size(); ++i) {
        Touch& t = touches_[i];
        const double missing = options_.thickness - gap(t, x);
        pressed_[i].setZero();
        t.push = t.rub = 0;
        if (!(missing > 0)) continue;
        t.push = h_sq / contact_compliance * missing;
        t.rub = options_.friction * t.push;
        const Vector along = slide(t, x), force = t.push * t.normal - friction(t, along);
        const double far = along.norm(), held = creep * options_.thickness;
        // What slides is not held any more along its way, only across it.
        Matrix across = Matrix::Identity() - t.normal * t.normal.transpose();
        if (far > held) across -= along * along.transpose() / (far * far);
        pressed_[i] =
            h_sq / contact_compliance * t.normal * t.normal.transpose() + t.rub / std::max(far, held) * across;
        for (int k = 0; k < t.count; ++k) {
            force_[t.vertex[k]] += t.weight[k] * force;
            ease_[t.vertex[k]] += t.weight[k] * t.weight[k] * pressed_[i];
        }
    }
    for (std::size_t v = 0; v < x.size(); ++v) {
        if (mass_[v] > 0) {
            ease_[v] = ease_[v].inverse().eval();
        } else {
            force_[v].setZero();
            ease_[v].setZero();
        }
    }
}

void ImplicitStep::multiply(const std::vector<Vector>& p, std::vector<Vector>& out) const {
    QUADRAT_ASSERT(p.size() == mass_.size() && out.size() == p.size());
    for (std::size_t v = 0; v < p.size(); ++v) out[v] = mass_[v] * p[v];
    for (std::size_t i = 0; i < springs_.size(); ++i) {
        const Spring& s = springs_[i];
        const Vector f = stiff_[i] * (p[s.a] - p[s.b]);
        out[s.a] += f;
        out[s.b] -= f;
    }
    for (std::size_t i = 0; i < touches_.size(); ++i) {
        const Touch& t = touches_[i];
        if (!(t.push > 0)) continue;
        Vector moved = Vector::Zero();
        for (int k = 0; k < t.count; ++k) moved += t.weight[k] * p[t.vertex[k]];
        const Vector f = pressed_[i] * moved;
        for (int k = 0; k < t.count; ++k) out[t.vertex[k]] += t.weight[k] * f;
    }
    for (std::size_t v = 0; v < p.size(); ++v)
        if (!(mass_[v] > 0)) out[v].setZero();
}

// Conjugate gradients from 0.
std::uint32_t ImplicitStep::direction(std::vector<Vector>& d) {
    const std::size_t n = mass_.size();
    const auto dot = [n](const std::vector<Vector>& a, const std::vector<Vector>& b) {
        double sum = 0;
        for (std::size_t v = 0; v < n; ++v) sum += a[v].dot(b[v]);
        return sum;
    };
    std::vector<Vector> r = force_, z(n), p(n), a(n);
    for (std::size_t v = 0; v < n; ++v) d[v].setZero(), z[v] = ease_[v] * r[v];
    p = z;
    double now = dot(r, z);
    const double enough = rest * rest * now;
    std::uint32_t rounds = 0;
    for (; now > enough && rounds < most_directions; ++rounds) {
        multiply(p, a);
        const double steep = dot(p, a);
        if (!(steep > 0)) break;
        const double far = now / steep;
        for (std::size_t v = 0; v < n; ++v) {
            d[v] += far * p[v];
            r[v] -= far * a[v];
            z[v] = ease_[v] * r[v];
        }
        const double next = dot(r, z);
        for (std::size_t v = 0; v < n; ++v) p[v] = z[v] + next / now * p[v];
        now = next;
    }
    return rounds;
}

std::uint32_t ImplicitStep::solve(std::vector<Vector>& x) {
    QUADRAT_ASSERT(x.size() == mass_.size());
    const std::vector<Vector> flown(flying_.begin(), flying_.end());
    for (Touch& t : touches_) t.rub = 0;
    if (energy(flown) < energy(x)) x = flown;
    std::vector<Vector> d(x.size()), to(x.size());
    std::uint32_t count = 0;
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
        linearize(x);
        count += 1 + direction(d);
        double slope = 0, farthest = 0;
        for (std::size_t v = 0; v < x.size(); ++v) {
            slope += force_[v].dot(d[v]);
            farthest = std::max(farthest, d[v].norm());
        }
        const double before = energy(x);
        double part = 1;
        for (;; part *= 0.5) {
            for (std::size_t v = 0; v < x.size(); ++v) to[v] = x[v] + part * d[v];
            if (energy(to) <= before - 1e-4 * part * slope || part < 0.01) break;
        }
        std::swap(x, to);
        // What sticks shows only in the second round that it slides, and moves in the third.
        const bool pressed = std::any_of(touches_.begin(), touches_.end(), [](const Touch& t) { return t.push > 0; });
        if (part == 1 && farthest <= options_.enough && (round >= 2 || !pressed)) break;
    }
    linearize(x);  // pushes at the end
    return count;
}

}  // namespace quadrat::simulation
