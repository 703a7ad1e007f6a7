// quadrat simulate: runs a scene of fluid, solids and cloth, or one of grains; leaves frames, pictures, a film,
// statistics and a report.
#include "run/run.hpp"

#include <CLI/CLI.hpp>

#include "grains/grain_run.hpp"
#include "scene_io/grain_file.hpp"

namespace quadrat::cli {

void add_simulate_options(CLI::App& verb, SimulateOptions& options) {
    verb.add_option("-o,--out", options.output.folder, "folder for everything that is written")
        ->check([](const std::string& name) { return std::string(name.empty() ? "expected a folder" : ""); })
        ->type_name("DIR")
        ->capture_default_str();
    whole_number(verb.add_option("--frames", options.frames, "stop after frame N; frame 0 is the start"), 0, 1000000000)
        ->type_name("N");
    verb.add_flag("!--no-ply", options.output.ply, "no PLY frames");
    verb.add_flag("--vtp", options.output.vtp, "also frames for ParaView, with the index series.pvd");
    verb.add_flag("--npy", options.output.npy, "also frames as NumPy arrays");
    verb.add_flag("!--no-pictures", options.output.pictures, "no pictures, and no film");
    verb.add_flag("!--no-film", options.film, "no film, even if ffmpeg is installed");
    whole_number(verb.add_option("--width", options.width, "of the pictures, in pixels"), 16, 16384)->type_name("N");
    whole_number(verb.add_option("--samples", options.samples, "of the pictures, per pixel"), 1, 4096)->type_name("N");
    whole_number(verb.add_option("--threads", options.threads, "how many threads; 0: one per processor"), 0, 1024)
        ->type_name("N")
        ->capture_default_str();
    CLI::Option* resume = verb.add_flag("--resume", options.resume, "continue from the folder's checkpoint");
    verb.add_flag("--overwrite", options.output.overwrite, "replace a run that was stopped")->excludes(resume);
    verb.add_flag("--json", options.json, "print one JSON object");
}

void add_simulate(CLI::App& app) {
    auto options = std::make_shared<SimulateOptions>();
    CLI::App* verb =
        add_verb(app, "simulate", "fluid, solids, cloth or grains: run a scene, with pictures and a report",
                 "  quadrat simulate scenes/fountain.json -o out/fountain");
    verb->add_option("scene", options->scene, "scene file (.json)")->required()->type_name("SCENE");
    verb->add_option("--variant", options->variant, "one of the scene's variants")->type_name("NAME");
    add_simulate_options(*verb, *options);
    verb->callback([options] {
        try {
            if (scene_io::is_grain_scene(options->scene))
                run_grains(scene_io::read_grain_scene(options->scene, options->variant), *options);
            else
                run_simulation(scene_io::read_scene(options->scene, options->variant), *options);
        } catch (const scene_io::UnknownVariant& error) {
            throw UsageError(std::string("--variant: ") + error.what());
        }
    });
}

}  // namespace quadrat::cli
