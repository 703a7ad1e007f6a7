#include "grains/grain_run.hpp"

#include <quadrat/error.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "io/mesh/points.hpp"
#include "io/png.hpp"
#include "io/table/npy.hpp"
#include "run/end/film.hpp"
#include "run/end/summary.hpp"
#include "run/folder.hpp"
#include "run/interrupts.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* table_name = "grains.csv";

template <class T>
io::TableView column(const std::vector<T>& values) {
    return io::view(std::span<const T>(values), {values.size()});
}
io::TableView vectors(const std::vector<Vec3f>& values) {
    return {io::ScalarType::f32, {values.size(), 3}, values.data()};
}

class GrainRun {
  public:
    GrainRun(const scene_io::GrainFile& file, const SimulateOptions& options)
        : file_(file),
          options_(options),
          view_(file.view),
          executor_(make_executor(options.threads)),
          progress_("preparing"),
          grains_(scene_io::world_of(file, executor_.get())) {
        if (options.width) {
            view_.height = std::max(16u, view_.height * *options.width / view_.width / 2 * 2);
            view_.width = *options.width;
        }
        if (options.samples) view_.samples = *options.samples;
        last_ = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::ceil(file.end_time / file.frame_interval - 1e-9)));
        if (options.frames) last_ = std::min(last_, *options.frames);
    }

    void go() {
        prepare_folder();
        StopSource stop;
        const Interrupts interrupts(stop);
        stop_ = stop;
        std::string rows =
            "frame,time,steps,grains,asleep,contacts,touching,kinetic,rotational,potential,max_speed,max_overlap\n";
        for (std::uint64_t frame = 0; frame <= last_; ++frame) {
            advance_to(static_cast<double>(frame) * file_.frame_interval);
            write(frame);
            rows += row(frame);
            io::AtomicFile table(path(table_name));
            table.write(rows);
            table.commit();
            progress_.at(static_cast<double>(frame) / static_cast<double>(last_));
            progress_.now("frame " + std::to_string(frame) + " of " + std::to_string(last_) + "   " +
                          grouped(grains_.size()) + " grains");
        }
        finish();
    }

  private:
    [[nodiscard]] std::string path(const std::string& name) const { return options_.output.folder + "/" + name; }

    // A folder with our table is one of ours and may be written over.
    void prepare_folder() {
        std::error_code failed;
        const std::string& folder = options_.output.folder;
        if (std::filesystem::exists(path(table_name), failed)) {
            std::filesystem::remove(path(table_name), failed);
            remove_frames(folder, 0);
        } else {
            make_way(folder, options_.output.overwrite);
        }
        for (const char* part : {"", "/frames", "/pictures"}) {
            std::filesystem::create_directories(folder + part, failed);
            if (failed)
                throw Error(ErrorKind::cannot_write, "cannot write: " + failed.message(), {.file = folder + part});
        }
    }

    // The last step before a frame is cut so that the frame is on time.
    void advance_to(double time) {
        Timer timer;
        while (time - grains_.time() > 1e-9 * file_.time_step) {
            if (stop_.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
            const double rest = time - grains_.time();
            const double parts = std::ceil(rest / file_.time_step - 1e-6);
            grains_.step(rest / std::max(1.0, parts));
        }
        seconds_ += timer.lap();
    }

    void write(std::uint64_t frame) {
        std::vector<Vec3f> positions, velocities;
        std::vector<float> radii;
        std::vector<std::uint32_t> ids;
        for (std::size_t i = 0; i < grains_.size(); ++i) {
            const auto narrow = [](const Vec3d& v) {
                return Vec3f{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
            };
            positions.push_back(narrow(grains_.positions()[i]));
            velocities.push_back(narrow(grains_.velocities()[i]));
            radii.push_back(static_cast<float>(file_.grains[i].radius));
            ids.push_back(static_cast<std::uint32_t>(i));
        }
        const std::string name = path("frames/solids_" + digits(frame));
        if (options_.output.ply)
            io::write_points_ply(
                name + ".ply", positions,
                std::vector<io::PointField>{
                    {"velocity", vectors(velocities)}, {"radius", column(radii)}, {"id", column(ids)}});
        if (options_.output.npy) {
            io::write_npy(name + ".positions.npy", vectors(positions));
            io::write_npy(name + ".velocities.npy", vectors(velocities));
        }
        if (!options_.output.pictures) return;
        Timer timer;
        const std::vector<std::uint8_t> pixels =
            render::trace(grain_stage(grains_, file_, view_), {.width = view_.width,
                                                               .height = view_.height,
                                                               .samples = view_.samples,
                                                               .exposure = static_cast<float>(view_.exposure),
                                                               .executor = executor_.get(),
                                                               .watch = {.stop = stop_, .report = {}}});
        pictures_.push_back(path("pictures/" + digits(frame) + ".png"));
        io::write_png(pictures_.back(),
                      {.width = view_.width, .height = view_.height, .channels = 3, .pixels = pixels});
        seconds_of_pictures_ += timer.lap();
    }

    [[nodiscard]] std::string row(std::uint64_t frame) const {
        const GrainStats s = grains_.stats();
        char text[320];
        std::snprintf(text, sizeof text, "%llu,%.9g,%llu,%llu,%llu,%llu,%llu,%.9g,%.9g,%.9g,%.9g,%.9g\n",
                      static_cast<unsigned long long>(frame), s.time, static_cast<unsigned long long>(s.steps),
                      static_cast<unsigned long long>(s.grains), static_cast<unsigned long long>(s.asleep),
                      static_cast<unsigned long long>(s.contacts), static_cast<unsigned long long>(s.touching),
                      s.kinetic, s.rotational, s.potential, s.max_speed, s.max_overlap);
        return text;
    }

    void finish() {
        std::string film;
        if (options_.film && pictures_.size() > 1) {
            progress_.now("making the film");
            if (make_film(pictures_, path("film.mp4"), 1 / file_.frame_interval, stop_)) film = path("film.mp4");
        }
        progress_.end();
        const GrainStats s = grains_.stats();
        const double rate = seconds_ > 0 ? static_cast<double>(s.grains * s.steps) / seconds_ : 0;
        if (options_.json) {
            const Json object = {{"scene", file_.name},
                                 {"frames", last_ + 1},
                                 {"grains", s.grains},
                                 {"steps", s.steps},
                                 {"time", s.time},
                                 {"seconds", seconds_},
                                 {"seconds_of_pictures", seconds_of_pictures_},
                                 {"grain_steps_per_second", rate},
                                 {"contacts", s.contacts},
                                 {"asleep", s.asleep},
                                 {"max_overlap", s.max_overlap},
                                 {"film", film}};
            std::printf("%s\n", object.dump().c_str());
            return;
        }
        std::printf("%s: %s grains, %s steps, %s simulated in %s (%s million grain-steps per second)\n",
                    file_.name.c_str(), grouped(s.grains).c_str(), grouped(s.steps).c_str(),
                    rounded(s.time, "%.3g s").c_str(), rounded(seconds_, "%.3g s").c_str(),
                    rounded(rate * 1e-6, "%.3g").c_str());
        std::printf("%s frames in %s%s\n", grouped(last_ + 1).c_str(), options_.output.folder.c_str(),
                    film.empty() ? "" : (", film " + film).c_str());
    }

    const scene_io::GrainFile& file_;
    const SimulateOptions& options_;
    scene_io::SceneView view_;
    std::unique_ptr<Executor> executor_;
    Progress progress_;
    Grains grains_;
    StopToken stop_;
    std::vector<std::string> pictures_;
    std::uint64_t last_ = 0;
    double seconds_ = 0, seconds_of_pictures_ = 0;
};

}  // namespace

void run_grains(const scene_io::GrainFile& file, const SimulateOptions& options) {
    if (options.resume || options.output.vtp)
        throw Error(
            ErrorKind::unsupported,
            options.resume ? "runs of grains cannot be continued" : "runs of grains are not written for ParaView",
            {.file = options.scene});
    interrupted = 0;
    try {
        GrainRun(file, options).go();
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::stopped && interrupted) {
            std::fprintf(stderr, "%s\n", error.what());
            std::signal(interrupted, SIG_DFL);
            std::raise(interrupted);
        }
        throw error.in_file(options.scene);
    }
}

}  // namespace quadrat::cli
