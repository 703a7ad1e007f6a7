// Fluid, solids and cloth: a Simulation of a scene in JSON. Arrays are copies of what the last step left, so that they
// stay what they are when the run goes on.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include <quadrat/simulation.hpp>

#include "scene_io/scene_file.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace quadrat::python {
namespace {

class Run {
  public:
    Run(const std::string& text, const std::string& path, const std::string& variant, bool from_file,
        unsigned threads) {
        Call().run([&] {
            const scene_io::SceneFile file =
                from_file ? scene_io::read_scene(path, variant) : scene_io::parse_scene(text, path, variant);
            try {
                run_.emplace(file.scene, executor_of(threads));
            } catch (const Error& e) {
                throw file.placed(e, path);
            }
            identity_ = file.identity;
        });
    }
    Run(const py::bytes& saved, unsigned threads) {
        const std::string_view bytes = saved;
        Call().run([&] {
            run_.emplace(Simulation::load(std::as_bytes(std::span(bytes.data(), bytes.size())), executor_of(threads)));
        });
    }

    void step() {
        Call().write(lock_, [&] { run_->step(); });
    }
    void advance_to(double time, py::object progress) {
        if (!std::isfinite(time)) throw Error(ErrorKind::bad_value, "must be finite", {.field = "time"});
        const bool told = !progress.is_none();
        Call call(std::move(progress), Call::Work::aside);
        const Watch watch = call.watch();
        call.write(lock_, [&] {
            const double begin = run_->time();
            if (!told) return run_->advance_to(time, call.stop());
            // Where nothing is reported, the run is stopped between two steps and asked again with the same end, which
            // changes nothing in it.
            while (run_->time() < time) {
                if (call.failed()) throw Error(ErrorKind::stopped, "stopped on request");
                watch.report((run_->time() - begin) / (time - begin));
                advance_a_while(time);
            }
        });
    }
    py::bytes save() { return saved({}); }
    // A checkpoint as `quadrat simulate --resume` wants it, whose next frame is the first: it draws what is now.
    py::bytes save_as_start() {
        std::uint64_t hash = 0xcbf29ce484222325u;  // as apps/quadrat/run/checkpoint.cpp hashes the scene: FNV-1a
        for (const char c : identity_) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        const std::array<std::uint64_t, 3> note{0, hash, 0};
        return saved(std::as_bytes(std::span(note)));
    }
    double time() {
        double now = 0;
        Call().read(lock_, [&] { now = run_->time(); });
        return now;
    }
    double end_time() { return run_->scene().end_time; }
    int dimension() { return run_->scene().dimension; }

    // Of the particles: positions, velocities, densities, pressures, phases or ids.
    py::array particles(const std::string& field) {
        if (field == "positions") return copy<float, Vec3f>([&] { return run_->positions(); });
        if (field == "velocities") return copy<float, Vec3f>([&] { return run_->velocities(); });
        if (field == "densities") return copy<float, float>([&] { return run_->densities(); });
        if (field == "pressures") return copy<float, float>([&] { return run_->pressures(); });
        if (field == "phases") return copy<std::uint8_t, std::uint8_t>([&] { return run_->phases(); });
        if (field == "ids") return copy<std::uint32_t, std::uint32_t>([&] { return run_->ids(); });
        throw py::key_error(field);
    }
    // (bodies, 13): position, orientation w x y z, velocity, angular velocity.
    py::array bodies() {
        return copy<double, BodyPose>([&] { return run_->bodies(); });
    }
    py::tuple cloth(std::size_t number) {
        std::vector<Triangle> triangles;
        std::vector<Vec3d> positions;
        Call().read(lock_, [&] {
            const ClothSurface surface = run_->cloth(number);
            triangles.assign(surface.triangles.begin(), surface.triangles.end());
            positions.assign(surface.positions.begin(), surface.positions.end());
        });
        return py::make_tuple(taken<std::uint32_t>(std::move(triangles)), taken<double>(std::move(positions)));
    }
    std::size_t cloths() { return run_->scene().cloths.size(); }
    py::dict stats() {
        SimulationStats s;
        Call().read(lock_, [&] { s = run_->stats(); });
        return py::dict(
            "time"_a = s.time, "time_step"_a = s.time_step, "steps"_a = s.steps, "particles"_a = s.particles,
            "mass"_a = s.mass, "kinetic"_a = s.kinetic, "potential"_a = s.potential, "internal"_a = s.internal,
            "average_density_error"_a = s.average_density_error, "max_density_error"_a = s.max_density_error,
            "neighbors"_a = s.neighbors, "pairs"_a = s.pairs, "contacts"_a = s.contacts, "max_speed"_a = s.max_speed,
            "iterations"_a = s.iterations, "left"_a = s.left, "seconds"_a = s.seconds.total());
    }
    py::dict preset() {
        const Simulation::Preset p = run_->preset();
        return py::dict("support"_a = p.support, "spacing"_a = p.spacing, "expected_speed"_a = p.expected_speed,
                        "sound_speed"_a = p.sound_speed, "first_step"_a = p.first_step);
    }

  private:
    py::bytes saved(std::span<const std::byte> note) {
        std::vector<std::byte> bytes;
        Call().read(lock_, [&] { run_->save(bytes, note); });
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    // Until the time is reached, or some hundredths of a second have gone by.
    void advance_a_while(double time) {
        StopSource enough;
        std::mutex mutex;
        std::condition_variable ended;
        bool done = false;
        std::thread clock([&] {
            std::unique_lock lock(mutex);
            if (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) enough.request_stop();
        });
        const auto finish = [&] {
            {
                const std::lock_guard lock(mutex);
                done = true;
            }
            ended.notify_one();
            clock.join();
        };
        try {
            run_->advance_to(time, enough);
        } catch (const Error& e) {
            finish();
            if (e.kind() != ErrorKind::stopped) throw;
            return;
        } catch (...) {
            finish();
            throw;
        }
        finish();
    }

    template <class T, class E, class Get>
    py::array copy(Get&& get) {
        std::vector<E> values;
        Call().read(lock_, [&] {
            const std::span<const E> now = get();
            values.assign(now.begin(), now.end());
        });
        return taken<T>(std::move(values));
    }

    std::string identity_;  // of the scene, empty for a run that was loaded
    std::optional<Simulation> run_;
    ObjectLock lock_;
};

}  // namespace

void bind_simulation(py::module_& module) {
    py::class_<Run>(module, "Simulation")
        .def(py::init<const std::string&, const std::string&, const std::string&, bool, unsigned>(), "text"_a, "path"_a,
             "variant"_a, "from_file"_a, "threads"_a)
        .def_static(
            "load", [](const py::bytes& saved, unsigned threads) { return std::make_unique<Run>(saved, threads); },
            "saved"_a, "threads"_a)
        .def("step", &Run::step)
        .def("advance_to", &Run::advance_to, "time"_a, "progress"_a)
        .def("save", &Run::save)
        .def("save_as_start", &Run::save_as_start)
        .def("time", &Run::time)
        .def("end_time", &Run::end_time)
        .def("dimension", &Run::dimension)
        .def("particles", &Run::particles, "field"_a)
        .def("bodies", &Run::bodies)
        .def("cloth", &Run::cloth, "number"_a)
        .def("cloths", &Run::cloths)
        .def("stats", &Run::stats)
        .def("preset", &Run::preset);
}

}  // namespace quadrat::python
