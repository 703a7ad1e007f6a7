#include "run/run.hpp"

#include <quadrat/error.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>

#include "base/random.hpp"
#include "run/checkpoint.hpp"
#include "run/end/summary.hpp"
#include "run/interrupts.hpp"
#include "run/stage.hpp"

namespace quadrat::cli {
namespace {

std::string clock_text(double seconds) {
    char text[32];
    const auto s = static_cast<long>(seconds + 0.5);
    if (s >= 3600)
        std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
    return text;
}

StepSeconds difference(const StepSeconds& a, const StepSeconds& b) {
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
        checkpoint_.note.scene = base::fnv1a(file.identity);
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
            Where where = error.where();
            where.index.reset();  // of a particle, which the message names: files have rows
            const Error alone(error.kind(), error.message(), where);
            const Error named = error.kind() == ErrorKind::bad_value ? file_.placed(alone, options_.scene) : alone;
            throw Error(
                named.kind(),
                named.message() + "; the last checkpoint is " +
                    (checkpoint_.note.next > 0 ? "frame " + std::to_string(checkpoint_.note.next - 1) : "the start"),
                named.where());
        }
        if (!checkpoint_.note.finished) {
            checkpoint_.note.finished = 1;
            checkpoint_.take(*simulation_);
            saved_ = false;
        }
        save();
        finish();
    }

  private:
    void prepare() {
        if (options_.resume) {
            checkpoint_ = read_checkpoint(options_.output.folder);
            const std::string name = options_.output.folder + "/" + checkpoint_name;
            if (checkpoint_.note.scene != base::fnv1a(file_.identity))
                throw Error(ErrorKind::bad_value, "this checkpoint is of another scene, or the scene has changed",
                            {.file = name});
            checkpoint_.note.finished = 0;
            try {
                simulation_.emplace(Simulation::load(checkpoint_.bytes, executor_.get()));
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
        output_.emplace(options_.output, !options_.resume, checkpoint_.note.next);
        if (!options_.resume) {
            checkpoint_.take(*simulation_);
            write_checkpoint(options_.output.folder, checkpoint_);
        }
        output_->write_statistics();
        next_ = checkpoint_.note.next;
        spent_ = simulation_->stats().seconds;
        first_ = next_;
    }

    // Whatever the end: a run that is continued to a later one has the frames of a run that was never stopped.
    double time_of(std::uint64_t frame) const { return static_cast<double>(frame) * file_.scene.frame_interval; }

    void one_frame(std::uint64_t frame) {
        if (frame > 0) simulation_->advance_to(time_of(frame), stop_);
        const SimulationStats statistics = simulation_->stats();
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
        checkpoint_.note.next = frame + 1;
        checkpoint_.take(*simulation_);
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

    void show(std::uint64_t frame, const SimulationStats& s) {
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
        write_checkpoint(options_.output.folder, checkpoint_);
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
                    (checkpoint_.note.next > 0 ? "stopped after frame " + std::to_string(checkpoint_.note.next - 1) +
                                                     " of " + std::to_string(last_)
                                               : "stopped before frame 0 was whole") +
                        "; continue with --resume",
                    {.file = options_.output.folder});
    }

    void finish() {
        progress_.now(options_.output.pictures && options_.film ? "making the film" : "writing the report");
        const Summary summary = summarize(file_.scene, *simulation_, *output_, options_, checkpoint_.note.next,
                                          executor_->threads(), stop_);
        progress_.end();
        summary.print(options_.json);
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
    StepSeconds spent_;
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
