// quadrat demo: the flagship scene, simulated and drawn. With --boxes, a planet of moving points in rings of moving
// boxes: each step finds all overlapping boxes and all neighbours of the points; the last one is drawn.
#include <cstdio>
#include <filesystem>

#include <quadrat/error.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "neighbor_methods.hpp"
#include "pair_methods.hpp"
#include "run/run.hpp"
#include "verb.hpp"
#include "verbs/demo_scene.hpp"

namespace quadrat::cli {

extern const char* const flagship_scene;

namespace {

struct DemoOptions {
    bool boxes = false;
    std::size_t n = 200000;
    unsigned steps = 30;
    unsigned threads = 0;
    std::string out = "out/demo";
    bool json = false;
};

void run_boxes(const DemoOptions& options) {
    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
    if (failed) throw Error(ErrorKind::cannot_write, "cannot create: " + failed.message(), {.file = options.out});
    const std::string path = options.out + "/demo.png";

    Progress progress("making the scene");
    DemoScene scene(options.n);
    const auto executor = make_executor(options.threads);
    const auto boxes = make_pair_finder<3, float>(resolve_pair_method("auto"), {.executor = executor.get()});
    const auto points = make_neighbor_finder<3, float>(resolve_neighbor_method("auto"),
                                                       {.executor = executor.get(), .radius = scene.radius()});
    std::vector<Pair> pairs;
    NeighborList near;
    std::vector<double> pair_seconds, near_seconds;
    Timer timer;
    for (unsigned step = 0; step <= options.steps; ++step) {
        progress.at(static_cast<double>(step) / (options.steps + 1));
        progress.now("step " + std::to_string(step) + " of " + std::to_string(options.steps));
        scene.move_to(0.02 * step);
        (void)timer.lap();
        boxes->build(scene.boxes());
        boxes->find(pairs);
        const double pair_time = timer.lap();
        if (step == 0)
            points->build(scene.points());
        else
            points->update(scene.points());
        points->find(near);
        const double near_time = timer.lap();
        if (step == 0 && options.steps > 0) continue;  // the first step sets up
        pair_seconds.push_back(pair_time);
        near_seconds.push_back(near_time);
    }
    progress.now("drawing");
    std::vector<std::uint32_t> contacts(options.n, 0), neighbors(options.n, 0);
    for (const Pair& pair : pairs) {
        ++contacts[pair.first];
        ++contacts[pair.second];
    }
    for (std::size_t i = 0; i < near.size(); ++i) neighbors[i] = static_cast<std::uint32_t>(near[i].size());
    scene.write_picture(path, contacts, neighbors, 1600, 900);

    progress.end();
    const double pair_ms = median(pair_seconds) * 1e3, near_ms = median(near_seconds) * 1e3;
    if (options.json) {
        const Json object = {{"boxes", options.n},     {"points", options.n},
                             {"steps", options.steps}, {"threads", executor->threads()},
                             {"pairs", pairs.size()},  {"neighbors", near.entries()},
                             {"pairs_ms", pair_ms},    {"neighbors_ms", near_ms},
                             {"picture", path}};
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%s moving boxes   %12s pairs       %8.2f ms per step\n", grouped(options.n).c_str(),
                grouped(pairs.size()).c_str(), pair_ms);
    std::printf("%s moving points  %12s neighbours  %8.2f ms per step\n", grouped(options.n).c_str(),
                grouped(near.entries()).c_str(), near_ms);
    std::printf("%u steps, %u thread%s; the picture is %s\n", options.steps, executor->threads(),
                executor->threads() == 1 ? "" : "s", path.c_str());
}

}  // namespace

void add_demo(CLI::App& app) {
    auto options = std::make_shared<DemoOptions>();
    auto run = std::make_shared<SimulateOptions>();
    run->output.folder = "out/demo";
    run->output.ply = false;
    run->output.overwrite = true;
    CLI::App* verb = add_verb(app, "demo", "water, balls and a cloth: the flagship scene, with a film and a report",
                              "  quadrat demo");
    add_simulate_options(*verb, *run);
    CLI::Option* boxes =
        verb->add_flag("--boxes", options->boxes, "instead, moving boxes and points, and a picture of them");
    whole_number(verb->add_option("--n", options->n, "with --boxes: how many boxes, and how many points"), 1, 50000000)
        ->type_name("N")
        ->needs(boxes)
        ->capture_default_str();
    whole_number(verb->add_option("--steps", options->steps, "with --boxes: how many steps"), 0, 1000000)
        ->type_name("S")
        ->needs(boxes)
        ->capture_default_str();
    verb->callback([options, run] {
        if (options->boxes) {
            options->threads = run->threads;
            options->out = run->output.folder;
            options->json = run->json;
            run_boxes(*options);
            return;
        }
        run->scene = "flagship.json";
        run_simulation(scene_io::parse_scene(flagship_scene, run->scene), *run);
    });
}

}  // namespace quadrat::cli
