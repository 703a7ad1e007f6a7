#include "run/end/summary.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "run/end/film.hpp"
#include "run/end/report_page.hpp"

namespace quadrat::cli {

std::string rounded(double x, const char* format) {
    char text[32];
    std::snprintf(text, sizeof text, format, x);
    return text;
}

namespace {

std::string solver_words(SolverKind solver) {
    switch (solver) {
        case SolverKind::weakly_compressible:
            return "weakly compressible";
        case SolverKind::ideal_gas:
            return "ideal gas";
        case SolverKind::incompressible:
            break;
    }
    return "incompressible";
}

// "water 1000 kg/m3, honey 1400 kg/m3 10 Pa s"
std::string phase_words(const Scene& scene) {
    std::string words;
    for (const Phase& p : scene.phases) {
        if (!words.empty()) words += ", ";
        if (!p.name.empty()) words += p.name + " ";
        words += rounded(p.rest_density, "%.4g kg/m3");
        if (p.viscosity > 0) words += rounded(p.viscosity, " %.4g Pa s");
        if (p.tension > 0) words += rounded(p.tension, " %.4g N/m");
    }
    return words;
}

ReportFacts facts_of(const Summary& summary, const Scene& scene, const Simulation& simulation) {
    const SimulationStats& s = summary.statistics;
    const auto preset = simulation.preset();
    ReportFacts facts{.title = summary.scene, .film = summary.film};
    facts.facts = {{"particles", grouped(s.particles)},
                   {"bodies", grouped(summary.bodies)},
                   {"cloths", grouped(scene.cloths.size())},
                   {"simulated", rounded(s.time, "%.3g s")},
                   {"steps", grouped(s.steps)},
                   {"spacing", rounded(preset.spacing, "%.3g m")},
                   {"solver", solver_words(scene.solver)},
                   {"phases", phase_words(scene)},
                   {"sound speed", rounded(preset.sound_speed, "%.3g m/s")},
                   {"last step", rounded(s.time_step, "%.3g s")},
                   {"neighbours", rounded(s.neighbors, "%.1f")},
                   {"computed in", rounded(summary.seconds, "%.1f s")},
                   {"pictures in", rounded(summary.seconds_of_pictures, "%.1f s")},
                   {"threads", std::to_string(summary.threads)}};
    if (s.left > 0) facts.facts.push_back({"left by open sides", grouped(s.left)});
    return facts;
}

}  // namespace

Summary summarize(const Scene& scene, const Simulation& simulation, const Output& output,
                  const SimulateOptions& options, std::uint64_t frames, unsigned threads, const StopToken& stop) {
    Summary summary{.scene = scene.name,
                    .frames = frames,
                    .bodies = scene.bodies.size(),
                    .statistics = simulation.stats(),
                    .threads = threads,
                    .report = output.path("report.html")};
    // The scene in real time, but neither slower than 12 pictures a second nor faster than 60.
    const double rate = std::clamp(1 / scene.frame_interval, 12.0, 60.0);
    std::vector<std::string> drawn;
    if (options.output.pictures)
        for (const auto& row : output.rows())  // an earlier part of the run may have been without
            if (std::filesystem::exists(output.picture_path(row.frame)))
                drawn.push_back(output.picture_path(row.frame));
    if (options.output.pictures && options.film && make_film(drawn, output.path("film.mp4"), rate, stop))
        summary.film = output.path("film.mp4");
    for (const auto& row : output.rows())
        for (std::size_t k = 0; k < row.times.size(); ++k)
            (k + 1 < row.times.size() ? summary.seconds : summary.seconds_of_pictures) += row.times[k];
    ReportFacts facts = facts_of(summary, scene, simulation);
    facts.frames_per_second = rate;
    facts.pictures = std::move(drawn);
    write_report(summary.report, facts, output.rows());
    return summary;
}

void Summary::print(bool json) const {
    const SimulationStats& s = statistics;
    if (json) {
        const Json object = {{"scene", scene},
                             {"frames", frames},
                             {"time", s.time},
                             {"steps", s.steps},
                             {"particles", s.particles},
                             {"left", s.left},
                             {"bodies", bodies},
                             {"average_density_error", s.average_density_error},
                             {"mass", s.mass},
                             {"threads", threads},
                             {"seconds", {{"simulation", seconds}, {"pictures", seconds_of_pictures}}},
                             {"peak_rss_bytes", peak_rss_bytes()},
                             {"film", film},
                             {"report", report}};
        std::printf("%s\n", object.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
        return;
    }
    std::printf("%s: %s particles, %zu bodies, %s steps to %.3g s in %.1f s, pictures %.1f s\n", scene.c_str(),
                grouped(s.particles).c_str(), bodies, grouped(s.steps).c_str(), s.time, seconds, seconds_of_pictures);
    if (s.left > 0) std::printf("%s particles left by open sides\n", grouped(s.left).c_str());
    std::printf("%sopen %s\n", film.empty() ? "" : ("the film is " + film + "; ").c_str(), report.c_str());
}

}  // namespace quadrat::cli
