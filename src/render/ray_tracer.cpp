// One path per sample: the ray goes through liquids by Snell and Fresnel until it meets something solid, which is lit
// by one ray to the sun's disc and one to the sky. Where the sky ray meets something, that gives back a share of its
// own colour instead of a further bounce. Light reaches what lies under a liquid straight, tinted by it.
#include "render/ray_tracer.hpp"

#include <quadrat/error.hpp>

#include <embree3/rtcore.h>

#include <limits>
#include <memory>
#include <numbers>
#include <string>

#include "base/parallel.hpp"
#include "render/smoothing.hpp"
#include "render/vector.hpp"

namespace quadrat::render {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Color operator*(const Color& a, const Color& b) {
    return {a.r * b.r, a.g * b.g, a.b * b.b};
}
Color exp_of(const Color& a, float s) {
    return {std::exp(-s * a.r), std::exp(-s * a.g), std::exp(-s * a.b)};
}

// Numbers in [0, 1) of one sample of one pixel. The first three pairs are spread evenly over the samples of the pixel
// (the additive sequence of the plastic number, turned by a different amount in every pixel); later ones are hashes.
class Sampler {
  public:
    Sampler(std::uint32_t pixel, std::uint32_t sample) : pixel_(pixel), sample_(sample) {}

    struct Two {
        float u, v;
    };
    Two next() {
        const std::uint32_t d = pair_++;
        if (d >= 3)
            return {unit(mix(pixel_ * 0x9E3779B9u ^ mix(sample_ * 64 + d))),
                    unit(mix(pixel_ + mix(~(sample_ * 64 + d))))};
        const auto n = static_cast<double>(sample_ + 1);
        return {turn(unit(mix(pixel_ * 8 + 2 * d)), n * 0.7548776662466927),
                turn(unit(mix(pixel_ * 8 + 2 * d + 1)), n * 0.5698402909980532)};
    }

  private:
    static std::uint32_t mix(std::uint32_t x) {
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        return x ^ x >> 16;
    }
    static float unit(std::uint32_t x) { return static_cast<float>(x >> 8) * 0x1p-24f; }
    static float turn(float by, double x) {
        const double sum = x + static_cast<double>(by);
        return std::min(static_cast<float>(sum - std::floor(sum)), 0x1.fffffep-1f);
    }

    std::uint32_t pixel_, sample_, pair_ = 0;
};

// Two directions square to n (Duff et al. 2017, "Building an Orthonormal Basis, Revisited").
struct Basis {
    Vec3f u, v;
};
Basis basis(const Vec3f& n) {
    const float sign = std::copysign(1.0f, n[2]), a = -1 / (sign + n[2]), b = n[0] * n[1] * a;
    return {{1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]}, {b, sign + n[1] * n[1] * a, -n[1]}};
}

Vec3f reflected(const Vec3f& d, const Vec3f& n) {
    return along(d, n, -2 * dot(d, n));
}

struct Hit {
    float t = infinity;
    Vec3f point{0, 0, 0};
    Vec3f normal{0, 0, 1};  // smooth, as the surface is oriented
    Vec3f flat{0, 0, 1};    // of the triangle itself
    Color color;
    Finish finish;
    int liquid = -1;
    bool floor = false;
    [[nodiscard]] bool any() const { return t < infinity; }
};

void check(const Shape& shape, const char* what, std::size_t number) {
    const std::size_t n = shape.vertices.size();
    const std::string name = std::string(what) + " " + std::to_string(number);
    if (!shape.normals.empty() && shape.normals.size() != n)
        throw Error(ErrorKind::bad_shape, "normals are not one per vertex", {.field = name});
    if (shape.colors.empty() || (shape.colors.size() > 1 && shape.colors.size() != n))
        throw Error(ErrorKind::bad_shape, "colours are neither one nor one per vertex", {.field = name});
    for (std::size_t i = 0; i < shape.triangles.size(); ++i) {
        const Triangle& t = shape.triangles[i];
        if (std::max({t.a, t.b, t.c}) >= n)
            throw Error(ErrorKind::bad_value, "a triangle names a vertex that does not exist",
                        {.index = i, .field = name});
    }
}

template <auto Release>
struct Releaser {
    template <class T>
    void operator()(T* handle) const {
        Release(handle);
    }
};
using Device = std::unique_ptr<RTCDeviceTy, Releaser<rtcReleaseDevice>>;
using SceneHandle = std::unique_ptr<RTCSceneTy, Releaser<rtcReleaseScene>>;

class World {
  public:
    World(const Stage& stage, Executor* executor) : stage_(stage) {
        device_.reset(rtcNewDevice(("threads=" + std::to_string(base::thread_count(executor))).c_str()));
        if (!device_) throw Error(ErrorKind::unsupported, "Embree gives no device");
        solids_.reset(new_scene());
        liquids_.reset(new_scene());
        for (std::size_t i = 0; i < stage.balls.size(); ++i) attach(stage.balls[i], i);
        for (std::size_t i = 0; i < stage.shapes.size(); ++i) {
            check(stage.shapes[i], "shape", i);
            if (attach(stage.shapes[i], solids_.get())) places_.push_back({i, false});
        }
        for (std::size_t i = 0; i < stage.liquids.size(); ++i) {
            check(stage.liquids[i].shape, "liquid", i);
            if (attach(stage.liquids[i].shape, liquids_.get())) liquid_places_.push_back(i);
        }
        rtcCommitScene(solids_.get());
        rtcCommitScene(liquids_.get());
        if (rtcGetDeviceError(device_.get()) != RTC_ERROR_NONE)
            throw Error(ErrorKind::too_large, "Embree cannot hold the scene");
        float size = 1e-3f;
        for (RTCScene scene : {solids_.get(), liquids_.get()}) {
            RTCBounds b;
            rtcGetSceneBounds(scene, &b);
            if (b.lower_x <= b.upper_x)
                size = std::max({size, b.upper_x - b.lower_x, b.upper_y - b.lower_y, b.upper_z - b.lower_z});
        }
        near_ = 1e-4f * size;
        sun_ = normalized(stage.sun.direction);
        sun_basis_ = basis(sun_);
    }

    // One sample. guide gets what the ray saw first.
    Color sample(const Vec3f& eye, const Vec3f& direction, Sampler& random, Guide& guide) const {
        return path(eye, direction, random, -1, 0, &guide);
    }

  private:
    struct Place {
        std::size_t index;
        bool ball;
    };

    RTCScene new_scene() {
        RTCScene scene = rtcNewScene(device_.get());
        rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
        return scene;
    }

    void attach(const Balls& balls, std::size_t number) {
        if (balls.balls.empty()) return;
        if (balls.colors.empty() || (balls.colors.size() > 1 && balls.colors.size() != balls.balls.size()))
            throw Error(ErrorKind::bad_shape, "colours are neither one nor one per ball",
                        {.field = "balls " + std::to_string(number)});
        static_assert(sizeof(Sphere<3, float>) == 16);
        RTCGeometry g = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
        rtcSetSharedGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT4, balls.balls.data(), 0, 16,
                                   balls.balls.size());
        rtcCommitGeometry(g);
        rtcAttachGeometry(solids_.get(), g);
        rtcReleaseGeometry(g);
        places_.push_back({number, true});
    }

    bool attach(const Shape& shape, RTCScene scene) {
        if (shape.triangles.empty()) return false;
        RTCGeometry g = rtcNewGeometry(device_.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
        void* vertices = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, sizeof(Vec3f),
                                                 shape.vertices.size());
        void* triangles = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, sizeof(Triangle),
                                                  shape.triangles.size());
        if (!vertices || !triangles) throw std::bad_alloc();
        std::copy(shape.vertices.begin(), shape.vertices.end(), static_cast<Vec3f*>(vertices));
        std::copy(shape.triangles.begin(), shape.triangles.end(), static_cast<Triangle*>(triangles));
        rtcCommitGeometry(g);
        rtcAttachGeometry(scene, g);
        rtcReleaseGeometry(g);
        return true;
    }

    static RTCRayHit make_ray(const Vec3f& o, const Vec3f& d, float tnear, float tfar) {
        RTCRayHit r{};
        r.ray = {o[0], o[1], o[2], tnear, d[0], d[1], d[2], 0, tfar, 0xffffffffu, 0, 0};
        r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        return r;
    }

    static void shape_hit(const Shape& s, const RTCHit& h, Hit& hit) {
        const Triangle& t = s.triangles[h.primID];
        const float w = 1 - h.u - h.v;
        const auto blend = [&](const auto& values) { return w * values[t.a] + h.u * values[t.b] + h.v * values[t.c]; };
        hit.flat = normalized({h.Ng_x, h.Ng_y, h.Ng_z});
        hit.normal = hit.flat;
        if (!s.normals.empty())
            hit.normal = normalized(along(along(scaled(s.normals[t.a], w), s.normals[t.b], h.u), s.normals[t.c], h.v));
        hit.color = s.colors.size() == 1 ? s.colors[0] : blend(s.colors);
        hit.finish = s.finish;
    }

    Hit nearest(const Vec3f& o, const Vec3f& d, bool with_liquids, float tnear) const {
        RTCRayHit r = make_ray(o, d, tnear, infinity);
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        rtcIntersect1(solids_.get(), &context, &r);
        Hit hit;
        if (r.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
            hit.t = r.ray.tfar;
            const Place& place = places_[r.hit.geomID];
            if (place.ball) {
                const Balls& b = stage_.balls[place.index];
                hit.normal = hit.flat = normalized({r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z});
                hit.color = b.colors[b.colors.size() == 1 ? 0 : r.hit.primID];
                hit.finish = b.finish;
            } else {
                shape_hit(stage_.shapes[place.index], r.hit, hit);
            }
        }
        if (with_liquids && !liquid_places_.empty()) {
            r.hit.geomID = RTC_INVALID_GEOMETRY_ID;
            rtcInitIntersectContext(&context);
            rtcIntersect1(liquids_.get(), &context, &r);
            if (r.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
                hit.t = r.ray.tfar;
                hit.liquid = static_cast<int>(liquid_places_[r.hit.geomID]);
                shape_hit(stage_.liquids[static_cast<std::size_t>(hit.liquid)].shape, r.hit, hit);
            }
        }
        if (stage_.floor && d[2] < 0) {
            const float t = (stage_.floor->height - o[2]) / d[2];
            if (t > tnear && t < hit.t) {
                hit = Hit{};
                hit.t = t;
                hit.color = stage_.floor->color;
                hit.finish = {.coat = 0};
                hit.floor = true;
            }
        }
        if (hit.any()) hit.point = along(o, d, hit.t);
        return hit;
    }

    bool blocked(RTCScene scene, const Vec3f& o, const Vec3f& d) const {
        RTCRayHit r = make_ray(o, d, near_, infinity);
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        rtcOccluded1(scene, &context, &r.ray);
        return r.ray.tfar < 0;
    }

    Color sky(const Vec3f& d) const {
        const float t = std::clamp(d[2], 0.0f, 1.0f);
        return lerp(stage_.sky.horizon, stage_.sky.zenith, t * (2 - t));
    }

    // The sky as a mirror shows it: with a soft disc of the sun.
    Color bright_sky(const Vec3f& d) const {
        const float off = 1 - dot(d, sun_), size = 2 * stage_.sun.angle * stage_.sun.angle;
        return sky(d) + (3 * std::exp(-off / size)) * stage_.sun.color;
    }

    Color floor_fade(const Hit& hit, const Vec3f& d, const Color& lit) const {
        const Vec3f to = sub(hit.point, stage_.camera.target);
        const float q = std::sqrt(to[0] * to[0] + to[1] * to[1]) / stage_.floor->fade;
        return lerp(sky({d[0], d[1], 0}), lit, 1 / (1 + q * q * q));
    }

    Color lit(const Hit& hit, const Vec3f& n, Sampler& random) const {
        const Vec3f from = along(hit.point, hit.flat, dot(hit.flat, n) >= 0 ? near_ : -near_);
        const Sampler::Two s = random.next();
        Color light;
        const float r = stage_.sun.angle * std::sqrt(s.u), a = 2 * std::numbers::pi_v<float> * s.v;
        const Vec3f to = normalized(along(along(sun_, sun_basis_.u, r * std::cos(a)), sun_basis_.v, r * std::sin(a)));
        const float facing = dot(n, to);
        if (facing > 0 && !blocked(solids_.get(), from, to)) {
            Color sun = facing * stage_.sun.color;
            if (!liquid_places_.empty() && blocked(liquids_.get(), from, to)) sun = Color{0.66f, 0.74f, 0.78f} * sun;
            light = light + sun;
        }
        const Sampler::Two c = random.next();
        const float radius = std::sqrt(c.u), angle = 2 * std::numbers::pi_v<float> * c.v;
        const Basis b = basis(n);
        const Vec3f up =
            normalized(along(along(scaled(n, std::sqrt(std::max(0.0f, 1 - c.u))), b.u, radius * std::cos(angle)), b.v,
                             radius * std::sin(angle)));
        const Hit around = nearest(from, up, false, near_);
        return light + (around.any() ? 0.55f * around.color * average_sky() : sky(up));
    }

    Color average_sky() const { return 0.5f * (stage_.sky.zenith + stage_.sky.horizon); }

    Color solid(const Hit& hit, const Vec3f& d, Sampler& random, int depth) const {
        Vec3f n = hit.normal;
        if (dot(hit.flat, d) > 0 && (hit.finish.two_sided || dot(n, d) > 0)) n = scaled(n, -1);
        Color light = hit.color * lit(hit, n, random) + hit.finish.emission * hit.color;
        if (hit.floor) return floor_fade(hit, d, light);
        if (hit.finish.coat > 0) {
            const float grazing = 1 - std::clamp(-dot(d, n), 0.0f, 1.0f);
            const float share =
                hit.finish.coat + (1 - hit.finish.coat) * grazing * grazing * grazing * grazing * grazing;
            const Vec3f mirror = reflected(d, n);
            Color seen = bright_sky(mirror);
            if (depth == 0) {
                const Hit other = nearest(along(hit.point, hit.flat, near_), mirror, false, near_);
                if (other.any()) seen = 0.7f * other.color * average_sky();
            }
            light = lerp(light, seen, std::min(share, 0.6f));
        }
        return light;
    }

    // liquid: the one that the ray is in, or -1.
    Color path(Vec3f o, Vec3f d, Sampler& random, int liquid, int depth, Guide* guide) const {
        Color through{1, 1, 1}, light;
        float tnear = depth == 0 ? 0 : near_;
        for (; depth < 10; ++depth, tnear = near_, guide = nullptr) {
            const Hit hit = nearest(o, d, true, tnear);
            if (liquid >= 0) {
                const Liquid& in = stage_.liquids[static_cast<std::size_t>(liquid)];
                const float length = hit.any() ? hit.t : 0;
                const float body = 1 - std::exp(-in.haze * length);
                light = light + body * through * in.scatter * average_sky();
                through = (1 - body) * through * exp_of(in.absorption, length);
            }
            if (guide) {
                guide->depth += hit.any() ? hit.t : 0;
                guide->normal = add(guide->normal, hit.any() ? hit.normal : Vec3f{0, 0, 1});
                const bool solid = hit.any() && hit.liquid < 0;
                guide->albedo = guide->albedo + (solid && !hit.floor ? hit.color : Color{0.6f, 0.6f, 0.6f});
                guide->clear += solid ? 0.0f : 1.0f;
            }
            if (!hit.any()) return light + through * (depth == 0 ? sky(d) : bright_sky(d));
            if (hit.liquid < 0) return light + through * solid(hit, d, random, depth);

            const bool leaving = dot(hit.flat, d) > 0;
            // From liquid to liquid, whose surfaces overlap a little or leave a little room, the ray goes straight on.
            if (liquid >= 0 && liquid != hit.liquid) {
                o = hit.point;
                if (!leaving) liquid = hit.liquid;
                continue;
            }
            if (leaving && stage_.gap > 0) {
                const Hit next = nearest(hit.point, d, true, near_);
                if (next.any() && next.liquid >= 0 && next.liquid != liquid && next.t < stage_.gap &&
                    dot(next.flat, d) < 0) {
                    o = next.point;
                    liquid = next.liquid;
                    continue;
                }
            }
            Vec3f n = leaving ? scaled(hit.normal, -1) : hit.normal;
            if (dot(n, d) > -1e-3f) n = leaving ? scaled(hit.flat, -1) : hit.flat;
            const float index = stage_.liquids[static_cast<std::size_t>(hit.liquid)].index;
            const float eta = leaving ? index : 1 / index, c = -dot(d, n);
            const float k = 1 - eta * eta * (1 - c * c);
            float mirror = 1;
            if (k > 0) {  // Fresnel, both polarisations
                const float ct = std::sqrt(k), s = (eta * c - ct) / (eta * c + ct), p = (c - eta * ct) / (c + eta * ct);
                mirror = std::min(1.0f, (s * s + p * p) / 2);
            }
            const Vec3f bounced = reflected(d, n);
            const Vec3f bent = k > 0 ? normalized(along(scaled(d, eta), n, eta * c - std::sqrt(k))) : bounced;
            o = hit.point;
            const int beyond = leaving ? -1 : hit.liquid;
            if (depth == 0 && mirror < 1) {  // what the eye sees first is followed both ways
                if (mirror > 0.003f) {
                    Sampler again = random;
                    light = light + mirror * through * path(o, bounced, again, liquid, 6, nullptr);
                }
                through = (1 - mirror) * through;
                d = bent;
                liquid = beyond;
            } else if (random.next().u < mirror) {
                d = bounced;
            } else {
                d = bent;
                liquid = beyond;
            }
        }
        return light + through * average_sky();
    }

    const Stage& stage_;
    Device device_;
    SceneHandle solids_, liquids_;
    std::vector<Place> places_;
    std::vector<std::size_t> liquid_places_;
    float near_ = 1e-4f;
    Vec3f sun_{0, 0, 1};
    Basis sun_basis_{};
};

// The curve of Narkowicz 2015, "ACES Filmic Tone Mapping Curve": soft shoulders instead of clipped whites.
float filmic(float x) {
    return x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
}

}  // namespace

std::vector<std::uint8_t> trace(const Stage& stage, const TraceOptions& options) {
    const World world(stage, options.executor);
    const std::uint32_t width = options.width, height = options.height, samples = std::max(1u, options.samples);
    const Camera& camera = stage.camera;
    const Vec3f forward = normalized(sub(camera.target, camera.eye));
    const Vec3f right = right_of(forward, camera.up), up = cross(right, forward);
    const float half = std::tan(camera.field_of_view / 2), pixel = 2 * half / static_cast<float>(height);

    const std::size_t count = std::size_t{width} * height;
    std::vector<Color> light(count);
    std::vector<Guide> guides(count);
    const float share = 1 / static_cast<float>(samples);
    base::run_tasks(options.executor, height, [&](std::size_t row) {
        if (options.watch.stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
        for (std::uint32_t column = 0; column < width; ++column) {
            const std::size_t at = row * width + column;
            Color sum;
            Guide guide;
            guide.albedo = {0, 0, 0};
            for (std::uint32_t s = 0; s < samples; ++s) {
                Sampler random(static_cast<std::uint32_t>(at), s);
                const Sampler::Two j = random.next();
                const float x = (static_cast<float>(column) + j.u - 0.5f * static_cast<float>(width)) * pixel;
                const float y = (0.5f * static_cast<float>(height) - static_cast<float>(row) - j.v) * pixel;
                const Color c =
                    world.sample(camera.eye, normalized(along(along(forward, right, x), up, y)), random, guide);
                sum = sum + Color{std::min(c.r, 6.0f), std::min(c.g, 6.0f), std::min(c.b, 6.0f)};
            }
            guide.depth *= share;
            guide.clear *= share;
            guide.normal = normalized(guide.normal);
            guide.albedo = share * guide.albedo;
            light[at] = share * sum;
            guides[at] = guide;
        }
    });
    if (options.smooth) {
        const auto paint = [](float c) { return std::max(c, 0.02f); };
        for (std::size_t i = 0; i < count; ++i) {
            const Color& a = guides[i].albedo;
            light[i] = {light[i].r / paint(a.r), light[i].g / paint(a.g), light[i].b / paint(a.b)};
        }
        smooth_light(light, guides, width, height, options.executor);
        for (std::size_t i = 0; i < count; ++i) {
            const Color& a = guides[i].albedo;
            light[i] = {light[i].r * paint(a.r), light[i].g * paint(a.g), light[i].b * paint(a.b)};
        }
    }
    std::vector<std::uint8_t> pixels(count * 3);
    base::parallel_for(options.executor, count, 1 << 15, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            pixels[3 * i] = encode(filmic(options.exposure * light[i].r));
            pixels[3 * i + 1] = encode(filmic(options.exposure * light[i].g));
            pixels[3 * i + 2] = encode(filmic(options.exposure * light[i].b));
        }
    });
    return pixels;
}

}  // namespace quadrat::render
