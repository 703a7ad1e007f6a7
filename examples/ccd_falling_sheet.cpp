// A sheet falls on a spike and a floor and never passes through them or itself: implicit steps by projected Newton
// (incremental potential contact). The barrier keeps what is near apart, earliest_time() bounds each Newton step so
// that none goes through, and lagged friction holds the sheet on the floor.
#include <quadrat/ccd.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace quadrat;

constexpr double step_time = 0.02, gravity = 9.81, mass = 0.01;         // s, m/s^2, kg per vertex
constexpr double stiffness = 20, barrier_stiffness = 1e5, near = 0.01;  // N/m; J/m^4; m, where the barrier begins
constexpr double friction = 0.3, slow = 1e-4;                           // coefficient; m per step that still sticks

struct World {
    std::vector<Vec3d> x;
    std::vector<Triangle> triangles;
    std::vector<std::array<std::uint32_t, 2>> springs;
    std::size_t moving = 0;  // the first vertices are the sheet
};

// A term of the energy: up to four vertices and the derivatives by their coordinates.
struct Element {
    std::array<std::uint32_t, 4> vertices;
    Derivatives energy;
};

World make_world(std::uint32_t n) {
    World w;
    for (std::uint32_t i = 0; i <= n; ++i)
        for (std::uint32_t j = 0; j <= n; ++j) {
            w.x.push_back({{i / double(n) - 0.47, j / double(n) - 0.52, 0.35}});
            const std::uint32_t d = i * (n + 1) + j;
            if (i) w.springs.push_back({d, d - n - 1});
            if (j) w.springs.push_back({d, d - 1});
            if (i && j) {
                w.springs.push_back({d - 1, d - n - 1});
                w.triangles.push_back({d, d - 1, d - n - 1});
                w.triangles.push_back({d - 1, d - n - 2, d - n - 1});
            }
        }
    w.moving = w.x.size();
    const auto first = static_cast<std::uint32_t>(w.moving);
    for (const Vec3d& v : {Vec3d{{-2, -2, 0}}, Vec3d{{2, -2, 0}}, Vec3d{{2, 2, 0}}, Vec3d{{-2, 2, 0}},  // the floor
                           Vec3d{{-0.2, -0.2, 0.05}}, Vec3d{{0.2, -0.2, 0.05}}, Vec3d{{0, 0.25, 0.05}},
                           Vec3d{{0.01, 0.02, 0.3}}})  // the spike
        w.x.push_back(v);
    for (const auto& t :
         {Triangle{0, 1, 2}, Triangle{0, 2, 3}, Triangle{4, 5, 7}, Triangle{5, 6, 7}, Triangle{6, 4, 7}})
        w.triangles.push_back({t.a + first, t.b + first, t.c + first});
    return w;
}

// All pairs nearer than the barrier reaches: four vertices each, and which kind of pair they are.
template <class Visit>
void for_each_near_pair(const World& w, const std::vector<Vec3d>& x, Visit&& visit) {
    const MovingMesh mesh{.triangles = w.triangles, .start = x};
    const Candidates c = find_candidates({&mesh, 1}, {.min_distance = near});
    const auto take = [&](ImpactKind kind, const std::array<std::uint32_t, 4>& v) {
        if (v[0] >= w.moving && v[1] >= w.moving && v[2] >= w.moving && v[3] >= w.moving) return;
        visit(kind, v, FourPoints{x[v[0]], x[v[1]], x[v[2]], x[v[3]]});
    };
    for (const Pair& p : c.vertex_face) {
        const Triangle& t = w.triangles[p.second];
        take(ImpactKind::vertex_face, {p.first, t.a, t.b, t.c});
    }
    for (const Pair& p : c.edge_edge) {
        const auto &a = c.edges[p.first], &b = c.edges[p.second];
        take(ImpactKind::edge_edge, {a[0], a[1], b[0], b[1]});
    }
}

Derivatives scaled(double s, Derivatives d) {
    d.value *= s;
    for (double& g : d.gradient) g *= s;
    for (double& h : d.hessian) h *= s;
    return d;
}

class Step {
  public:
    Step(const World& w, std::vector<double> rest, const std::vector<Vec3d>& velocity)
        : w_(w), rest_(std::move(rest)), start_(w.x), target_(w.x) {
        for (std::size_t i = 0; i < w.moving; ++i) {
            for (int k = 0; k < 3; ++k) target_[i][k] += step_time * velocity[i][k];
            target_[i][2] -= step_time * step_time * gravity;
        }
        for_each_near_pair(w, w.x, [&](ImpactKind kind, const auto& v, const FourPoints& p) {
            const Derivatives b = contact_barrier(kind, p, near * near, threshold(v));
            double force = 0;
            for (int k = 0; k < 3; ++k) {
                double sum = b.gradient[static_cast<std::size_t>(k)];
                if (kind == ImpactKind::edge_edge) sum += b.gradient[static_cast<std::size_t>(3 + k)];
                force += sum * sum;
            }
            if (force > 0) slips_.push_back({v, friction_contact(kind, p, barrier_stiffness * std::sqrt(force))});
        });
    }

    // The energy and, if wanted, its terms with derivatives.
    double energy(const std::vector<Vec3d>& x, std::vector<Element>* elements) const {
        double sum = 0;
        const auto add = [&](const std::array<std::uint32_t, 4>& v, const Derivatives& d) {
            sum += d.value;
            if (elements) elements->push_back({v, project_positive(d)});
        };
        for (std::size_t i = 0; i < w_.moving; ++i)
            for (int k = 0; k < 3; ++k) sum += 0.5 * mass * std::pow(x[i][k] - target_[i][k], 2);
        for (std::size_t i = 0; i < w_.springs.size(); ++i) {
            const auto& e = w_.springs[i];
            const Derivatives s = derive_distance_sq(StencilKind::point_point, {x[e[0]], x[e[1]], x[e[1]], x[e[1]]});
            const double l = rest_[i], c = step_time * step_time * stiffness / (4 * l);  // c (s - l)^2 of the squares
            add({e[0], e[1], e[1], e[1]},
                compose({c * (s.value - l) * (s.value - l), 2 * c * (s.value - l), 2 * c}, s));
        }
        for_each_near_pair(w_, x, [&](ImpactKind kind, const auto& v, const FourPoints& p) {
            const Derivatives b = contact_barrier(kind, p, near * near, threshold(v));
            if (b.value > 0) add(v, scaled(barrier_stiffness, b));
        });
        for (const Slip& s : slips_) {
            FourPoints moved;
            for (std::size_t i = 0; i < 4; ++i)
                for (int k = 0; k < 3; ++k) moved[i][k] = x[s.vertices[i]][k] - start_[s.vertices[i]][k];
            add(s.vertices, friction_potential(s.contact, moved, friction, slow));
        }
        return sum;
    }

    // A Newton direction by conjugate gradients; vertices that rest get none.
    std::vector<double> direction(const std::vector<Vec3d>& x, const std::vector<Element>& elements) const {
        const std::size_t n = 3 * w_.moving;
        std::vector<double> residual(n), d(n, 0.0), diagonal(n, mass);
        for (std::size_t i = 0; i < n; ++i)
            residual[i] = -mass * (x[i / 3][static_cast<int>(i % 3)] - target_[i / 3][static_cast<int>(i % 3)]);
        for (const Element& e : elements)
            for (std::size_t a = 0; a < 12; ++a)
                if (const std::size_t i = 3 * e.vertices[a / 3] + a % 3; i < n) {
                    residual[i] -= e.energy.gradient[a];
                    diagonal[i] += e.energy.hessian[13 * a];
                }
        std::vector<double> p(n), z(n);
        double rz = 0;
        for (std::size_t i = 0; i < n; ++i) rz += residual[i] * (p[i] = z[i] = residual[i] / diagonal[i]);
        const double enough = 1e-12 * rz;
        for (int iteration = 0; iteration < 400 && rz > enough; ++iteration) {
            const std::vector<double> hp = times(elements, p);
            double php = 0;
            for (std::size_t i = 0; i < n; ++i) php += p[i] * hp[i];
            const double alpha = rz / php;
            double next = 0;
            for (std::size_t i = 0; i < n; ++i) {
                d[i] += alpha * p[i];
                residual[i] -= alpha * hp[i];
                z[i] = residual[i] / diagonal[i];
                next += residual[i] * z[i];
            }
            for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + next / rz * p[i];
            rz = next;
        }
        return d;
    }

  private:
    struct Slip {
        std::array<std::uint32_t, 4> vertices;
        FrictionContact contact;
    };

    // Of the mollifier, from where the edges were at the start of the step.
    [[nodiscard]] double threshold(const std::array<std::uint32_t, 4>& v) const {
        const double a = distance_sq(StencilKind::point_point, {start_[v[0]], start_[v[1]], {}, {}});
        const double b = distance_sq(StencilKind::point_point, {start_[v[2]], start_[v[3]], {}, {}});
        return 1e-3 * a * b;
    }

    [[nodiscard]] std::vector<double> times(const std::vector<Element>& elements, const std::vector<double>& p) const {
        std::vector<double> r(p.size());
        for (std::size_t i = 0; i < p.size(); ++i) r[i] = mass * p[i];
        for (const Element& e : elements)
            for (std::size_t a = 0; a < 12; ++a)
                if (const std::size_t i = 3 * e.vertices[a / 3] + a % 3; i < p.size())
                    for (std::size_t b = 0; b < 12; ++b)
                        if (const std::size_t j = 3 * e.vertices[b / 3] + b % 3; j < p.size())
                            r[i] += e.energy.hessian[12 * a + b] * p[j];
        return r;
    }

    const World& w_;
    std::vector<double> rest_;
    std::vector<Vec3d> start_, target_;
    std::vector<Slip> slips_;
};

std::vector<Vec3d> moved(const std::vector<Vec3d>& x, const std::vector<double>& direction, double share) {
    std::vector<Vec3d> r = x;
    for (std::size_t i = 0; i < direction.size(); ++i) r[i / 3][static_cast<int>(i % 3)] += share * direction[i];
    return r;
}

// Triangles without a common vertex that intersect.
int crossings(const World& w) {
    const auto of = [&](const Triangle& t) { return std::array<Vec3d, 3>{w.x[t.a], w.x[t.b], w.x[t.c]}; };
    int count = 0;
    for (std::size_t i = 0; i < w.triangles.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const Triangle &s = w.triangles[i], &t = w.triangles[j];
            bool common = s.a >= w.moving && t.a >= w.moving;
            for (const std::uint32_t v : {s.a, s.b, s.c}) common |= v == t.a || v == t.b || v == t.c;
            if (!common) count += triangles_intersect(of(s), of(t));
        }
    return count;
}

}  // namespace

int main() {
    World w = make_world(6);
    std::vector<double> rest;
    for (const auto& e : w.springs)
        rest.push_back(distance_sq(StencilKind::point_point, {w.x[e[0]], w.x[e[1]], {}, {}}));
    std::vector<Vec3d> velocity(w.moving, Vec3d{{0, 0, 0}});
    int shortened = 0, crossed = 0;
    for (int n = 0; n < 30; ++n) {
        const std::vector<Vec3d> before = w.x;
        const Step step(w, rest, velocity);
        for (int iteration = 0; iteration < 12; ++iteration) {
            std::vector<Element> elements;
            const double energy = step.energy(w.x, &elements);
            const std::vector<double> d = step.direction(w.x, elements);
            double largest = 0;
            for (const double c : d) largest = std::max(largest, std::fabs(c));
            if (largest < 1e-6) break;
            const std::vector<Vec3d> wanted = moved(w.x, d, 1);
            const double free = earliest_time({.triangles = w.triangles, .start = w.x, .end = wanted});
            shortened += free <= 1;
            double share = std::min(1.0, 0.9 * free);
            while (step.energy(moved(w.x, d, share), nullptr) > energy && share > 1e-9) share *= 0.5;
            w.x = moved(w.x, d, share);
        }
        for (std::size_t i = 0; i < w.moving; ++i)
            for (int k = 0; k < 3; ++k) velocity[i][k] = (w.x[i][k] - before[i][k]) / step_time;
        crossed += crossings(w);
    }
    double low = 1;
    for (std::size_t i = 0; i < w.moving; ++i) low = std::min(low, w.x[i][2]);
    std::printf("the sheet came down to %.4f; %d Newton steps were shortened, %d triangles crossed\n", low, shortened,
                crossed);
    return crossed == 0 && shortened > 0 && low > 0 && low < 0.2 ? 0 : 1;
}
