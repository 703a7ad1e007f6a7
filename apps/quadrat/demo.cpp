// quadrat demo: a planet of moving points in rings of moving boxes. Each step finds all overlapping boxes and all
// neighbours of the points; the last one is drawn.
#include <cstdio>
#include <filesystem>

#include <quadrat/error.hpp>

#include "demo_scene.hpp"
#include "neighbor_methods.hpp"
#include "pair_methods.hpp"
#include "verb.hpp"

namespace quadrat::cli {
namespace {

struct DemoOptions {
    std::size_t n = 200000;
    unsigned steps = 30;
    unsigned threads = 0;
    std::string out = "out/demo";
    bool json = false;
};

void run_demo(const DemoOptions& options) {
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
    CLI::App* verb = add_verb(app, "demo", "200,000 moving boxes and 200,000 moving points, and a picture of them",
                              "  quadrat demo");
    verb->add_option("--n", options->n, "how many boxes, and how many points")
        ->type_name("N")
        ->check(CLI::Range(1, 50000000))
        ->capture_default_str();
    verb->add_option("--steps", options->steps, "how many steps")->type_name("S")->capture_default_str();
    verb->add_option("--threads", options->threads, "how many threads; 0: one per processor")
        ->type_name("N")
        ->capture_default_str();
    verb->add_option("-o,--out", options->out, "folder for the picture")->type_name("DIR")->capture_default_str();
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] { run_demo(*options); });
}

}  // namespace quadrat::cli
