#include "simulate_run.hpp"

#include <quadrat/error.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "io/files.hpp"
#include "simulate_film.hpp"
#include "simulate_report.hpp"
#include "simulate_shapes.hpp"

namespace quadrat::cli {
namespace {

// Ctrl-C asks the run to end after the step; a second one ends at once, as everywhere else.
volatile std::sig_atomic_t interrupted = 0;

class Interrupts {
  public:
    explicit Interrupts(StopSource& stop) {
        source_ = &stop;
        for (std::size_t k = 0; k < 2; ++k) {
            before_[k] = std::signal(signals[k], on_signal);
            if (before_[k] == SIG_IGN) std::signal(signals[k], SIG_IGN);  // what the caller ignores stays ignored
        }
    }
    ~Interrupts() {
        for (std::size_t k = 0; k < 2; ++k) std::signal(signals[k], before_[k]);
        source_ = nullptr;
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

  private:
    static void on_signal(int number) {
        if (interrupted) {
            io::remove_unfinished_files();
            std::signal(number, SIG_DFL);
            std::raise(number);
            return;
        }
        interrupted = number;
        source_->request_stop();
    }
    static constexpr int signals[2] = {SIGINT, SIGTERM};
    inline static StopSource* source_ = nullptr;
    void (*before_[2])(int) = {};
};

std::string clock_text(double seconds) {
    char text[32];
    const auto s = static_cast<long>(seconds + 0.5);
    if (s >= 3600)
        std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
    return text;
}

std::string rounded(double x, const char* format = "%.3g") {
    char text[32];
    std::snprintf(text, sizeof text, format, x);
    return text;
}

PhaseSeconds difference(const PhaseSeconds& a, const PhaseSeconds& b) {
    return {a.search - b.search,       a.density - b.density, a.forces - b.forces, a.solve - b.solve,
            a.integrate - b.integrate, a.collide - b.collide, a.cloth - b.cloth};
}

class Run {
  public:
    Run(const SceneFile& file, const SimulateOptions& options)
        : file_(file), options_(options), executor_(make_executor(options.threads)), progress_("preparing") {
        view_ = file.view;
        if (options.width) {
            view_.height = std::max(16u, static_cast<std::uint32_t>(std::lround(static_cast<double>(view_.height) *
                                                                                *options.width / view_.width)) /
                                             2 * 2);
            view_.width = *options.width;
        }
        if (options.samples) view_.samples = *options.samples;
        const Scene& scene = file.scene;
        last_ = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::ceil(scene.end_time / scene.frame_interval - 1e-9)));
        if (options.frames) last_ = std::min(last_, *options.frames);
        checkpoint_.scene = text_hash(file.identity);
    }

    void go() {
        prepare();  // a signal ends it at once: nothing is written yet
        StopSource stop;
        const Interrupts interrupts(stop);
        stop_ = stop;
        start();
        try {
            for (std::uint64_t frame = next_; frame <= last_; ++frame) {
                if (stop_.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
                one_frame(frame);
            }
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::cannot_write) give_up(error);
            save();
            if (error.kind() == ErrorKind::stopped) stopped();
            const Error named = error.kind() == ErrorKind::bad_value ? file_.placed(error, options_.scene) : error;
            throw Error(named.kind(),
                        named.message() + "; the last checkpoint is " +
                            (checkpoint_.next > 0 ? "frame " + std::to_string(checkpoint_.next - 1) : "the start"),
                        named.where());
        }
        if (!checkpoint_.finished) {
            checkpoint_.finished = true;
            saved_ = false;
        }
        save();
        finish();
    }

  private:
    void prepare() {
        if (options_.resume) {
            checkpoint_ = read_checkpoint(options_.output.folder);
            const std::string name = options_.output.folder + "/checkpoint.qsim";
            if (checkpoint_.scene != text_hash(file_.identity))
                throw Error(ErrorKind::bad_value, "this checkpoint is of another scene, or the scene has changed",
                            {.file = name});
            checkpoint_.finished = false;
            try {
                simulation_.emplace(Simulation::load(checkpoint_.state, executor_.get()));
            } catch (const Error& error) {
                throw error.in_file(name);
            }
        } else {
            try {
                simulation_.emplace(file_.scene, executor_.get());
            } catch (const Error& error) {
                throw file_.placed(error, options_.scene);
            }
        }
    }

    // A fresh run leaves a checkpoint before the first frame is drawn, which may take a while.
    void start() {
        output_.emplace(options_.output, !options_.resume, checkpoint_.next);
        if (!options_.resume) {
            simulation_->save(checkpoint_.state);
            output_->write_checkpoint(checkpoint_);
        }
        output_->write_statistics();
        next_ = checkpoint_.next;
        spent_ = simulation_->statistics().seconds;
        first_ = next_;
    }

    // Whatever the end: a run that is continued to a later one has the frames of a run that was never stopped.
    double time_of(std::uint64_t frame) const { return static_cast<double>(frame) * file_.scene.frame_interval; }

    void one_frame(std::uint64_t frame) {
        if (frame > 0) simulation_->advance_to(time_of(frame), stop_);
        const Statistics statistics = simulation_->statistics();
        const Frame now = take_frame(*simulation_, view_, frame, time_of(frame));
        output_->write(now);
        double pictures = 0;
        if (options_.output.pictures) {
            Timer timer;
            const render::Stage stage = stage_of(*simulation_, now, view_);
            output_->write_picture(frame,
                                   render::trace(stage, {.width = view_.width,
                                                         .height = view_.height,
                                                         .samples = view_.samples,
                                                         .exposure = static_cast<float>(view_.exposure),
                                                         .executor = executor_.get(),
                                                         .watch = {.stop = stop_, .report = {}}}),
                                   view_.width, view_.height);
            pictures = timer.lap();
        }
        output_->add_statistics(frame, statistics, difference(statistics.seconds, spent_), pictures);
        spent_ = statistics.seconds;
        checkpoint_.next = frame + 1;
        checkpoint_.state.clear();
        simulation_->save(checkpoint_.state);
        saved_ = false;
        since_checkpoint_ += timer_.lap();
        elapsed_ += last_lap_ = since_checkpoint_ - before_;
        before_ = since_checkpoint_;
        if (since_checkpoint_ > 10) {
            save();
            since_checkpoint_ = before_ = 0;
        }
        show(frame, statistics);
    }

    void show(std::uint64_t frame, const Statistics& s) {
        const double done = static_cast<double>(frame + 1 - first_), all = static_cast<double>(last_ + 1 - first_);
        progress_.at(static_cast<double>(frame) / static_cast<double>(last_));
        const double steps = static_cast<double>(s.steps - std::exchange(steps_, s.steps));
        progress_.now("frame " + std::to_string(frame) + " of " + std::to_string(last_) + "   " +
                      clock_text(elapsed_ / done * (all - done)) + " left   " +
                      rounded(steps / std::max(1e-9, last_lap_), "%.0f") + " steps/s   " + grouped(s.particles) +
                      " particles");
    }

    void save() {
        if (saved_ || !output_) return;
        output_->write_checkpoint(checkpoint_);
        saved_ = true;
    }

    // The disk is full or gone. What is there is whole; a checkpoint takes the room that is left, if it can.
    [[noreturn]] void give_up(const Error& error) {
        try {
            save();
        } catch (const Error&) {
        }
        throw Error(error.kind(),
                    error.message() + "; the last good checkpoint is kept: make room or mend the disk, then --resume",
                    error.where());
    }

    [[noreturn]] void stopped() {
        throw Error(ErrorKind::stopped,
                    (checkpoint_.next > 0 ? "stopped after frame " + std::to_string(checkpoint_.next - 1) + " of " +
                                                std::to_string(last_)
                                          : "stopped before frame 0 was whole") +
                        "; continue with --resume",
                    {.file = options_.output.folder});
    }

    void finish() {
        const auto& rows = output_->rows();
        const Statistics s = simulation_->statistics();
        std::string film;
        // The scene in real time, but neither slower than 12 pictures a second nor faster than 60.
        const double rate = std::clamp(1 / file_.scene.frame_interval, 12.0, 60.0);
        std::vector<std::string> drawn;
        if (options_.output.pictures)
            for (const auto& row : rows)  // an earlier part of the run may have been without
                if (std::filesystem::exists(output_->picture_path(row.frame)))
                    drawn.push_back(output_->picture_path(row.frame));
        if (options_.output.pictures && options_.film) {
            progress_.now("making the film");
            if (make_film(drawn, output_->path("film.mp4"), rate, stop_)) film = output_->path("film.mp4");
        }
        double computed = 0, pictures = 0;
        for (const auto& row : rows)
            for (std::size_t k = 0; k < row.times.size(); ++k)
                (k + 1 < row.times.size() ? computed : pictures) += row.times[k];
        const auto preset = simulation_->preset();
        ReportFacts facts{.title = file_.scene.name, .film = film, .frames_per_second = rate};
        facts.facts = {{"particles", grouped(s.particles)},
                       {"bodies", grouped(file_.scene.bodies.size())},
                       {"cloths", grouped(file_.scene.cloths.size())},
                       {"simulated", rounded(s.time, "%.3g s")},
                       {"steps", grouped(s.steps)},
                       {"spacing", rounded(preset.spacing, "%.3g m")},
                       {"sound speed", rounded(preset.sound_speed, "%.3g m/s")},
                       {"last step", rounded(s.time_step, "%.3g s")},
                       {"neighbours", rounded(s.neighbors, "%.1f")},
                       {"computed in", rounded(computed, "%.1f s")},
                       {"pictures in", rounded(pictures, "%.1f s")},
                       {"threads", std::to_string(executor_->threads())}};
        if (s.left > 0) facts.facts.push_back({"left by open sides", grouped(s.left)});
        facts.pictures = std::move(drawn);
        write_report(output_->path("report.html"), facts, rows);
        progress_.end();
        if (options_.json) {
            const Json object = {{"scene", file_.scene.name},
                                 {"frames", checkpoint_.next},
                                 {"time", s.time},
                                 {"steps", s.steps},
                                 {"particles", s.particles},
                                 {"left", s.left},
                                 {"bodies", file_.scene.bodies.size()},
                                 {"average_density_error", s.average_density_error},
                                 {"mass", s.mass},
                                 {"threads", executor_->threads()},
                                 {"seconds", {{"simulation", computed}, {"pictures", pictures}}},
                                 {"peak_rss_bytes", peak_rss_bytes()},
                                 {"film", film},
                                 {"report", output_->path("report.html")}};
            std::printf("%s\n", object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
            return;
        }
        std::printf("%s: %s particles, %zu bodies, %s steps to %.3g s in %.1f s, pictures %.1f s\n",
                    file_.scene.name.c_str(), grouped(s.particles).c_str(), file_.scene.bodies.size(),
                    grouped(s.steps).c_str(), s.time, computed, pictures);
        if (s.left > 0) std::printf("%s particles left by open sides\n", grouped(s.left).c_str());
        std::printf("%sopen %s\n", film.empty() ? "" : ("the film is " + film + "; ").c_str(),
                    output_->path("report.html").c_str());
    }

    const SceneFile& file_;
    const SimulateOptions& options_;
    std::unique_ptr<Executor> executor_;
    Progress progress_;
    SceneView view_;
    StopToken stop_;
    std::optional<Simulation> simulation_;
    std::optional<Output> output_;
    Checkpoint checkpoint_;
    bool saved_ = true;
    std::uint64_t first_ = 0, next_ = 0, last_ = 0, steps_ = 0;
    PhaseSeconds spent_;
    Timer timer_;
    double since_checkpoint_ = 0, before_ = 0, elapsed_ = 0, last_lap_ = 0;
};

}  // namespace

void run_simulation(const SceneFile& file, const SimulateOptions& options) {
    interrupted = 0;
    try {
        Run(file, options).go();
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::too_large, "the scene does not fit into memory; expected a larger spacing",
                    {.file = options.scene, .field = "/spacing"});
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::stopped && interrupted) {
            std::fprintf(stderr, "%s\n", error.what());
            std::signal(interrupted, SIG_DFL);  // end as the signal says, so that scripts see it
            std::raise(interrupted);
        }
        throw;
    }
}

}  // namespace quadrat::cli
