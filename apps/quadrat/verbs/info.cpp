// quadrat info: what a .qvox file holds, and the shader function that reads it.
#include <quadrat/error.hpp>
#include <quadrat/voxels.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

#include "verb.hpp"
#include "voxel_report.hpp"

namespace quadrat::cli {

void add_info(CLI::App& app) {
    struct Options {
        std::string input;
        bool json = false, glsl = false, verify = false;
    };
    CLI::App* verb = add_verb(app, "info", "What a .qvox file holds", "  quadrat info voxels.qvox --json");
    const auto options = std::make_shared<Options>();
    verb->add_option("input", options->input, "a .qvox file")->required();
    verb->add_flag(
        "--glsl", options->glsl,
        "print a GLSL ES 3.0 function that looks a position up, or samples the first channel of blocks and mipmaps");
    verb->add_flag("--verify", options->verify, "check the checksum of every section");
    verb->add_flag("--json", options->json, "print one JSON object");
    verb->callback([options] {
        const AnyVoxelGrid any = read_qvox(options->input, {.verify = options->verify});
        std::visit(
            [&](const auto& grid) {
                try {
                    if (options->glsl) {
                        const bool plain = grid.block == 0 && grid.mipmap.levels == 0;
                        std::printf("%s", (plain ? glsl_find(grid.index) : glsl_sample(grid)).c_str());
                        return;
                    }
                    const Json json = voxel_json(grid);
                    std::printf("%s\n", (options->json ? json_text(json) : voxel_text(json)).c_str());
                } catch (const Error& e) {
                    throw e.in_file(options->input);
                }
            },
            any);
    });
}

}  // namespace quadrat::cli
