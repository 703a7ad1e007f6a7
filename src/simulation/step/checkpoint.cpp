// A run as bytes. Little-endian, as the machines that this runs on; a checkpoint is for the same version of the
// program, and its head says so.
//
//     magic and version   16 bytes
//     note                length (8 bytes) and the caller's own bytes, for example which frame this is
//     scene               member by member, as the tables of scene_fields.hpp list them
//     run                 particles, bodies, cloths, emitters
//     checksum            8 bytes over all before: tells damage apart
//
// One function serves both directions: it writes or reads depending on the archive that it is given.
#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "simulation/scene/scene_fields.hpp"
#include "simulation/step/run.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace quadrat::simulation {
namespace {

constexpr char magic[16] = "quadrat-run-05";

// A number that follows from the names and sizes of all members of a scene, in the order in which they are written.
template <class M>
constexpr std::uint64_t layout(std::uint64_t before) {
    std::uint64_t sum = before * base::fnv_prime;
    if constexpr (Described<M>) {
        for_each_field<M>([&](const auto& row) {
            sum = base::fnv1a(row.name, sum);
            sum = layout<typename std::remove_cvref_t<decltype(row)>::Member>(sum);
        });
    } else if constexpr (requires { typename M::allocator_type; }) {
        sum = layout<typename M::value_type>(sum);
    } else if constexpr (!std::is_pointer_v<M>) {
        sum += sizeof(M);
    }
    return sum;
}
static_assert(layout<Scene>(0) == 838617995649864484u,
              "a scene has other members: raise the number in `magic`, and give layout's here");

// 64 bits over all bytes and their number: each word is mixed in by steps that lose nothing, so a change of one word
// always shows. The multipliers are those of SplitMix64, as in voxels/file/checksum.cpp.
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
        const auto from = take(size);
        if (size > 0) std::memcpy(data, from.data(), size);
    }
    /// The next bytes, where they are.
    [[nodiscard]] std::span<const std::byte> take(std::uint64_t size) {
        if (size > rest()) throw Error(ErrorKind::bad_format, "the checkpoint is truncated", {.byte = at_});
        const auto taken = from_.subspan(at_, size);
        at_ += taken.size();
        return taken;
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
    if constexpr (std::is_trivially_copyable_v<E> && !Described<E>) {
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
    } else if constexpr (Described<T>) {  // member by member: no padding is written
        for_each_field<T>([&](const auto& row) {
            if (row.use != Use::run_time) put(a, v.*row.member);
        });
    } else if constexpr (std::is_same_v<T, EmitterState>) {
        all(a, v.layers, v.particles, v.disc);
    } else {
        static_assert(std::is_trivially_copyable_v<T>);
        a.bytes(&v, sizeof v);
    }
}

template <class A>
void put_run(A& a, Run& run) {
    Fluid& fluid = run.fluid;
    Solids& solids = run.solids;
    Cloths& cloths = run.cloths;
    Clock& clock = run.clock;
    Tally& tally = run.tally;
    all(a, clock.time, clock.last_step, clock.steps, fluid.next_id, fluid.emitters, fluid.pairs, tally.contacts,
        tally.iterations, tally.friction_rounds);
    Budget& budget = run.budget;
    all(a, budget.given, budget.work, budget.solid_speed, budget.solid_energy);
    Particles& p = fluid.p;
    all(a, p.x, p.v, p.a, p.rho, p.p, p.h, p.phase, p.id, p.kappa, p.kappa_v, p.level, p.dt, p.drag);
    solids.archive([&](auto&... v) { all(a, v...); });
    cloths.archive([&](auto&... v) { all(a, v...); });
}

// The bytes between the head and the checksum, once both are found good.
Reader open(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0;
    if (bytes.size() < sizeof magic + sizeof sum || std::memcmp(bytes.data(), magic, sizeof magic) != 0)
        throw Error(ErrorKind::bad_format, "not a checkpoint of this version: run the scene again", {.byte = 0});
    const std::size_t end = bytes.size() - sizeof sum;
    std::memcpy(&sum, bytes.data() + end, sizeof sum);
    if (sum != checksum(bytes.first(end)))
        throw Error(ErrorKind::bad_format, "the checkpoint is truncated or damaged", {.byte = end});
    Reader r(bytes.first(end));
    (void)r.take(sizeof magic);
    return r;
}

std::span<const std::byte> take_note(Reader& r) {
    std::uint64_t size = 0;
    put(r, size);
    return r.take(size);
}

}  // namespace

void save(const Run& run, std::span<const std::byte> note, std::vector<std::byte>& out) {
    const std::size_t start = out.size();
    Writer w(out);
    w.bytes(magic, sizeof magic);
    std::uint64_t size = note.size();
    put(w, size);
    w.bytes(note.data(), note.size());
    // The archive reads members only, but the same function serves both directions.
    put(w, const_cast<Scene&>(run.world.scene));
    put_run(w, const_cast<Run&>(run));
    const std::uint64_t sum = checksum(std::span<const std::byte>(out).subspan(start));
    w.bytes(&sum, sizeof sum);
    QUADRAT_ASSERT(out.size() - start >= sizeof magic + sizeof size + note.size() + sizeof sum);
}

std::span<const std::byte> note_of(std::span<const std::byte> bytes) {
    Reader r = open(bytes);
    return take_note(r);
}

void load(Run& run, std::span<const std::byte> bytes) {
    Reader r = open(bytes);
    (void)take_note(r);
    try {
        put(r, run.world.scene);
        validate(run.world.scene);
        set_up(run);
        put_run(r, run);
    } catch (const Error& e) {  // bytes that were made, not damaged
        throw Error(ErrorKind::bad_format, std::string("the checkpoint does not fit this program: ") + e.what());
    }
    Fluid& fluid = run.fluid;
    const std::size_t n = fluid.p.size();
    bool whole = r.rest() == 0;
    fluid.p.each([&](auto& array) { whole = whole && array.size() == n; });
    for (const std::uint8_t phase : fluid.p.phase) whole = whole && phase < fluid.phases.size();
    if (!whole) throw Error(ErrorKind::bad_format, "the checkpoint does not fit its scene", {.byte = r.at()});
}

}  // namespace quadrat::simulation
