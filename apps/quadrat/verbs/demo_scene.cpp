#include "verbs/demo_scene.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "io/png.hpp"
#include "render/picture.hpp"

namespace quadrat::cli {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;
constexpr double ring_inner = 1.32, ring_outer = 2.75;

// Smooth noise in 0..1: random values at whole numbers, blended.
double lattice_value(std::int64_t x, std::int64_t y, std::int64_t z, std::uint64_t seed) {
    base::SplitMix random(seed ^ static_cast<std::uint64_t>(x * 73856093 ^ y * 19349663 ^ z * 83492791));
    return random.uniform();
}

double noise(double x, double y, double z, std::uint64_t seed) {
    const double f[3] = {std::floor(x), std::floor(y), std::floor(z)};
    double w[3] = {x - f[0], y - f[1], z - f[2]};
    for (double& t : w) t = t * t * (3 - 2 * t);
    double sum = 0;
    for (int k = 0; k < 8; ++k) {
        const int dx = k & 1, dy = k >> 1 & 1, dz = k >> 2;
        sum += (dx ? w[0] : 1 - w[0]) * (dy ? w[1] : 1 - w[1]) * (dz ? w[2] : 1 - w[2]) *
               lattice_value(static_cast<std::int64_t>(f[0]) + dx, static_cast<std::int64_t>(f[1]) + dy,
                             static_cast<std::int64_t>(f[2]) + dz, seed);
    }
    return sum;
}

double cloud(double x, double y, double z, std::uint64_t seed) {
    return (noise(x, y, z, seed) + 0.5 * noise(2 * x, 2 * y, 2 * z, seed + 1) +
            0.25 * noise(4 * x, 4 * y, 4 * z, seed + 2)) /
           1.75;
}

// How many boxes a ring at this radius has, 0..1: ringlets, and a wide gap.
double ring_density(double r, std::uint64_t seed) {
    const double u = (r - ring_inner) / (ring_outer - ring_inner);
    if (u < 0 || u > 1) return 0;
    const double ringlets = 0.35 + 0.9 * noise(u * 9, 0.5, 0.5, seed) * noise(u * 40, 1.5, 0.5, seed);
    const double cassini = std::abs(u - 0.60) < 0.035 ? 0.02 : 1.0;
    const double encke = std::abs(u - 0.86) < 0.010 ? 0.03 : 1.0;
    const double edges = std::min({1.0, u / 0.05, (1 - u) / 0.03});
    return std::clamp(ringlets * cassini * encke * edges, 0.0, 1.0);
}

}  // namespace

DemoScene::DemoScene(std::size_t n, std::uint64_t seed) : seed_(seed), boxes_(n), points_(n) {
    make_rings(n);
    make_planet(n);
    move_to(0);
}

void DemoScene::make_rings(std::size_t n) {
    base::SplitMix random(seed_);
    const double scale = std::cbrt(200000.0 / static_cast<double>(std::max<std::size_t>(n, 1)));
    orbits_.reserve(n);
    while (orbits_.size() < n) {
        const double r = std::sqrt(random.uniform(ring_inner * ring_inner, ring_outer * ring_outer));
        const double angle = random.uniform(0, two_pi);
        // Spiral waves: the boxes crowd along arms that wind with the radius.
        const double wave = 0.52 + 0.48 * std::cos(3 * angle + 9 * r +
                                                   4 * noise(r * 3, std::cos(angle) * 2, std::sin(angle) * 2, seed_));
        if (random.uniform() > ring_density(r, seed_) * wave) continue;
        // Many small and few large: sizes fall with the inverse cube.
        const double size = std::min(0.040, 0.0044 / std::sqrt(1 - 0.985 * random.uniform())) * scale;
        Orbit orbit{};
        orbit.radius = static_cast<float>(r);
        orbit.angle = static_cast<float>(angle);
        orbit.speed = static_cast<float>(std::pow(r, -1.5));
        orbit.height = static_cast<float>(0.016 * (random.uniform() + random.uniform() + random.uniform() - 1.5) * 1.4);
        orbit.phase = static_cast<float>(random.uniform(0, two_pi));
        for (float& half : orbit.half) half = static_cast<float>(size * random.uniform(0.35, 0.65));
        orbits_.push_back(orbit);
    }
}

void DemoScene::make_planet(std::size_t n) {
    base::SplitMix random(seed_ + 1);
    radius_ = static_cast<float>(0.022 * std::sqrt(200000.0 / static_cast<double>(std::max<std::size_t>(n, 1))));
    spots_.reserve(n);
    while (spots_.size() < n) {
        const double sine = random.uniform(-1, 1), longitude = random.uniform(0, two_pi);
        const double cosine = std::sqrt(1 - sine * sine);
        const double x = cosine * std::cos(longitude), y = cosine * std::sin(longitude);
        // Bands that wave and fold: the latitude is shifted by noise before it chooses the density.
        const double fold = cloud(2.2 * x + 5, 2.2 * y + 5, 5 * sine + 5, seed_) - 0.5;
        const double eddies = cloud(5 * x + 9, 5 * y + 9, 13 * sine + 9, seed_ + 5) - 0.5;
        const double band = 0.5 + 0.5 * std::sin(15 * (sine + 0.17 * fold) + 2.6 * eddies);
        const double dx = longitude - 4.35, dy = (sine + 0.33) * 2.1;
        const double storm = std::exp(-(dx * dx + dy * dy) * 26);
        const double density = std::clamp(0.16 + 0.84 * band * (0.45 + 1.1 * (eddies + 0.5)) + 0.9 * storm, 0.0, 1.0);
        if (random.uniform() > density) continue;
        spots_.push_back({static_cast<float>(longitude), static_cast<float>(sine),
                          static_cast<float>(random.uniform(0.994, 1.0)),
                          static_cast<float>(0.25 + 0.06 * std::cos(9 * sine))});
    }
}

void DemoScene::move_to(double time) {
    const auto t = static_cast<float>(time);
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const Orbit& o = orbits_[i];
        const float angle = o.angle + o.speed * t;
        const float center[3] = {o.radius * std::cos(angle), o.radius * std::sin(angle),
                                 o.height * std::cos(o.phase + o.speed * t)};
        for (int k = 0; k < 3; ++k) {
            boxes_[i].lo[k] = center[k] - o.half[k];
            boxes_[i].hi[k] = center[k] + o.half[k];
        }
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const Spot& s = spots_[i];
        const float longitude = s.longitude + s.speed * t;
        const float cosine = s.radius * std::sqrt(1 - s.sine * s.sine);
        points_[i] = {cosine * std::cos(longitude), cosine * std::sin(longitude), s.radius * s.sine};
    }
}

void DemoScene::write_picture(const std::string& path, std::span<const std::uint32_t> contacts,
                              std::span<const std::uint32_t> neighbors, std::uint32_t width,
                              std::uint32_t height) const {
    const render::Camera camera{
        .eye = {0.55f, -4.05f, 1.02f}, .target = {0.12f, 0, -0.10f}, .up = {0.20f, 0.0f, 1}, .field_of_view = 0.66f};
    const render::Light light{.direction = {-0.80f, -0.52f, 0.42f}, .ambient = 0.035f, .sky = 0.03f};
    render::Picture picture(width, height, 3, camera, light);
    const float length = std::sqrt(0.80f * 0.80f + 0.52f * 0.52f + 0.42f * 0.42f);
    const Vec3f sun{-0.80f / length, -0.52f / length, 0.42f / length};
    const auto dot = [](const Vec3f& a, const Vec3f& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };

    // The planet's body hides its far side; its shadow falls on the rings.
    picture.draw(Sphere<3, float>{{0, 0, 0}, 0.985f}, {.color = render::from_hex(0x0b1020)});
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const float crowd = static_cast<float>(neighbors[i]) / 42.0f;
        const render::Color color =
            render::gradient({0x10224f, 0x1d4f86, 0x3f93a8, 0xd8c9a4, 0xf2a65a, 0xe4572e, 0xb3202c}, crowd);
        // Light reaches the ball by its place on the planet, and less where the rings stand between it and the sun.
        const Vec3f& p = points_[i];
        float lit = std::clamp(dot(p, sun) * 1.25f + 0.02f, 0.0f, 1.0f);
        if (p[2] * sun[2] < 0) {
            const float t = -p[2] / sun[2];
            const float x = p[0] + t * sun[0], y = p[1] + t * sun[1];
            lit *= 1 - 0.75f * static_cast<float>(ring_density(std::sqrt(x * x + y * y), seed_));
        }
        picture.draw(Sphere<3, float>{p, 0.0046f}, {.color = color, .lit = lit * 0.35f, .emission = lit * 0.95f});
    }
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
        const Box3f& b = boxes_[i];
        const Vec3f c{(b.lo[0] + b.hi[0]) / 2, (b.lo[1] + b.hi[1]) / 2, (b.lo[2] + b.hi[2]) / 2};
        const float along = dot(c, sun);
        float lit = 1;
        if (along < 0) {
            const float off = std::sqrt(std::max(0.0f, dot(c, c) - along * along));
            lit = std::clamp((off - 0.97f) / 0.05f, 0.0f, 1.0f);
        }
        const float touch = std::log2(1.0f + static_cast<float>(contacts[i])) / 5.0f;
        const render::Color color =
            render::gradient({0x3b4a6b, 0x5d7fa3, 0x9ec5c9, 0xf4e3b2, 0xf7b267, 0xf4845f, 0xe8505b}, touch);
        picture.draw(b, {.color = color, .lit = lit, .emission = 0.10f * lit});
    }

    const render::Picture::Seen planet = picture.seen({0, 0, 0});
    const float aspect = static_cast<float>(width) / static_cast<float>(height);
    picture.background([&](float x, float y) {
        const render::Color top = render::from_hex(0x05070f), bottom = render::from_hex(0x0c1224);
        render::Color color = render::lerp(top, bottom, y);
        const float dx = (x - planet.x) * aspect, dy = y - planet.y;
        const float distance = std::sqrt(dx * dx + dy * dy) / planet.scale;
        const float towards =
            std::clamp(-(dx * 0.8f + dy * 0.45f) / (distance * planet.scale + 1e-6f) * 0.5f + 0.5f, 0.0f, 1.0f);
        color =
            color + (0.30f * towards * std::exp(-7.0f * std::max(0.0f, distance - 1.0f))) * render::from_hex(0x3f6fb5);
        // Stars: few and faint, one in some of the squares of a fine grid.
        const auto cell_x = static_cast<std::int64_t>(x * aspect * 90), cell_y = static_cast<std::int64_t>(y * 90);
        base::SplitMix random(seed_ ^ static_cast<std::uint64_t>(cell_x * 1000003 + cell_y * 7919));
        if (random.uniform() < 0.07) {
            const auto sx = static_cast<float>((static_cast<double>(cell_x) + random.uniform()) / 90);
            const auto sy = static_cast<float>((static_cast<double>(cell_y) + random.uniform()) / 90);
            const float brightness = static_cast<float>(std::pow(random.uniform(), 4.0));
            const float off = std::hypot(x * aspect - sx, y - sy) * 1100;
            if (off < 1) color = color + (brightness * (1 - off)) * render::from_hex(0xcfe0ff);
        }
        return color;
    });
    io::write_png(path, {.width = width, .height = height, .channels = 3, .pixels = picture.finish(0.35f)});
}

}  // namespace quadrat::cli
