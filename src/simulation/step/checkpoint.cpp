// A run as bytes: the scene, then what the run has made of it. One function names the members of each struct; it writes
// or reads depending on the archive it is given. Little-endian, as the machines that this runs on; a checkpoint is for
// the same build of the same program, and its head says so; a checksum of all of it at the end tells damage apart.
#include <quadrat/error.hpp>

#include "simulation/step/state.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace quadrat::simulation {
namespace {

constexpr char magic[16] = "quadrat-run-02";
constexpr char magic_before[16] = "quadrat-run-01";  ///< without a checksum

// 64 bits over all bytes and their number: each word is mixed in by steps that lose nothing, so a change of one word
// always shows.
std::uint64_t checksum(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0x9E3779B97F4A7C15u ^ bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        sum = (sum ^ word) * 0xBF58476D1CE4E5B9u;
        sum ^= sum >> 29;
    }
    return sum;
}

class Writer {
  public:
    explicit Writer(std::vector<std::byte>& to) : to_(to) {}
    static constexpr bool reading = false;
    void bytes(const void* data, std::size_t size) {
        if (size == 0) return;
        const auto* p = static_cast<const std::byte*>(data);
        to_.insert(to_.end(), p, p + size);
    }

  private:
    std::vector<std::byte>& to_;
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> from) : from_(from) {}
    static constexpr bool reading = true;
    void bytes(void* data, std::size_t size) {
        if (size > rest()) throw Error(ErrorKind::bad_format, "the checkpoint is truncated", {.byte = at_});
        if (size > 0) std::memcpy(data, from_.data() + at_, size);
        at_ += size;
    }
    [[nodiscard]] std::size_t rest() const { return from_.size() - at_; }
    [[nodiscard]] std::size_t at() const { return at_; }

  private:
    std::span<const std::byte> from_;
    std::size_t at_ = 0;
};

template <class A, class T>
void put(A& a, T& v);

template <class A, class T>
void put_list(A& a, T& list) {
    std::uint64_t n = list.size();
    put(a, n);
    if constexpr (A::reading) {
        // Each element takes at least a byte: a hostile length cannot make us allocate more than a few times the file.
        if (n > a.rest()) throw Error(ErrorKind::bad_format, "the checkpoint is truncated", {.byte = a.at()});
        list.resize(n);
    }
    using E = typename T::value_type;
    if constexpr (std::is_trivially_copyable_v<E> && !std::is_same_v<E, Emitter>) {
        a.bytes(list.data(), n * sizeof(E));
    } else {
        for (E& e : list) put(a, e);
    }
}

template <class A, class... T>
void all(A& a, T&... v) {
    (put(a, v), ...);
}

template <class A, class T>
void put(A& a, T& v) {
    if constexpr (requires { v.push_back(typename T::value_type()); }) {
        put_list(a, v);
    } else if constexpr (std::is_same_v<T, RigidBody>) {
        all(a, v.name, v.shape, v.motion, v.radius, v.size, v.normal, v.triangles, v.vertices, v.density, v.position,
            v.orientation, v.velocity, v.angular_velocity, v.boundary, v.response);
    } else if constexpr (std::is_same_v<T, Phase>) {
        all(a, v.name, v.rest_density, v.viscosity, v.artificial_viscosity, v.sound_speed, v.stiffness, v.gamma,
            v.tension, v.negative_pressure, v.particle_mass, v.support);
    } else if constexpr (std::is_same_v<T, FluidParticles>) {
        all(a, v.phase, v.positions, v.velocities, v.supports);
    } else if constexpr (std::is_same_v<T, ClothOptions>) {
        all(a, v.time_step, v.gravity, v.thickness, v.friction, v.damping, v.stretch_compliance, v.bend_compliance,
            v.iterations);
    } else if constexpr (std::is_same_v<T, SceneCloth>) {
        all(a, v.name, v.triangles, v.positions, v.pins, v.options, v.density, v.response);
    } else if constexpr (std::is_same_v<T, Domain>) {
        all(a, v.box, v.periodic, v.open, v.response, v.planes, v.ghosts);
    } else if constexpr (std::is_same_v<T, Emitter>) {  // this and the next two member by member: no padding is written
        all(a, v.phase, v.position, v.direction, v.radius, v.speed, v.start, v.end, v.max_particles);
    } else if constexpr (std::is_same_v<T, Stepping>) {
        all(a, v.kind, v.fixed, v.courant, v.largest);
    } else if constexpr (std::is_same_v<T, IncompressibleOptions>) {
        all(a, v.density_error, v.divergence_error, v.max_iterations);
    } else if constexpr (std::is_same_v<T, EmitterState>) {
        all(a, v.layers, v.particles, v.disc);
    } else if constexpr (std::is_same_v<T, Scene>) {
        all(a, v.name, v.dimension, v.domain, v.gravity, v.attraction, v.spacing, v.support, v.kernel, v.solver,
            v.expected_speed, v.stepping, v.incompressible, v.phases, v.blocks, v.particles, v.emitters, v.bodies,
            v.cloths, v.general_loops, v.jitter, v.seed, v.end_time, v.frame_interval);
    } else {
        static_assert(std::is_trivially_copyable_v<T>);
        a.bytes(&v, sizeof v);
    }
}

template <class A>
void put_run(A& a, State& s) {
    all(a, s.time, s.last_step, s.steps, s.next_id, s.emitters, s.pairs, s.contacts, s.iterations);
    Particles& p = s.p;
    all(a, p.x, p.v, p.a, p.rho, p.p, p.h, p.phase, p.id, p.kappa, p.kappa_v, p.level, p.dt);
    s.solids.archive([&](auto&... v) { all(a, v...); });
    s.cloths.archive([&](auto&... v) { all(a, v...); });
}

}  // namespace

void save(const State& s, std::vector<std::byte>& out) {
    const std::size_t start = out.size();
    Writer w(out);
    w.bytes(magic, sizeof magic);
    // The archive reads members only, but the same function serves both directions.
    put(w, const_cast<Scene&>(s.scene));
    put_run(w, const_cast<State&>(s));
    const std::uint64_t sum = checksum(std::span<const std::byte>(out).subspan(start));
    w.bytes(&sum, sizeof sum);
}

void load(State& s, std::span<const std::byte> bytes) {
    const auto starts_with = [&](const char* head) {
        return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), head, sizeof magic) == 0;
    };
    if (starts_with(magic_before))
        throw Error(ErrorKind::bad_format, "a checkpoint of an older version: run the scene again", {.byte = 0});
    if (!starts_with(magic)) throw Error(ErrorKind::bad_format, "not a checkpoint of this version", {.byte = 0});
    std::uint64_t sum = 0;
    const std::size_t end = bytes.size() - std::min(bytes.size(), sizeof sum);
    std::memcpy(&sum, bytes.data() + end, sizeof sum);
    if (sum != checksum(bytes.first(end)))
        throw Error(ErrorKind::bad_format, "the checkpoint is truncated or damaged", {.byte = end});
    Reader r(bytes.first(end));
    char head[sizeof magic];
    r.bytes(head, sizeof head);
    try {
        put(r, s.scene);
        validate(s.scene);
        set_up(s);
        put_run(r, s);
    } catch (const Error& e) {  // bytes that were made, not damaged
        throw Error(ErrorKind::bad_format, std::string("the checkpoint does not fit this program: ") + e.what());
    }
    const std::size_t n = s.p.size();
    bool whole = r.rest() == 0;
    s.p.each([&](auto& array) { whole = whole && array.size() == n; });
    for (const std::uint8_t phase : s.p.phase) whole = whole && phase < s.phases.size();
    if (!whole) throw Error(ErrorKind::bad_format, "the checkpoint does not fit its scene", {.byte = r.at()});
}

}  // namespace quadrat::simulation
