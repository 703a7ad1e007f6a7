// The list of verbs, and of what bench measures. Each function adds one to the command line; it is defined in
// verbs/<name>.cpp, or bench/<name>.cpp. To add a verb: write its file, declare it here and put it into the list.
#pragma once

namespace CLI {
class App;
}

namespace quadrat::cli {

using AddVerb = void(CLI::App& app);

AddVerb add_pairs, add_neighbors, add_pack, add_unpack, add_lookup, add_info, add_collide, add_simulate, add_bench,
    add_demo;
/// In the order of --help.
inline constexpr AddVerb* verbs[] = {add_pairs, add_neighbors, add_pack,     add_unpack, add_lookup,
                                     add_info,  add_collide,   add_simulate, add_bench,  add_demo};

AddVerb add_bench_broad_phase, add_bench_ccd, add_bench_neighbors, add_bench_voxels, add_bench_simulation;
/// In the order of bench --help.
inline constexpr AddVerb* bench_verbs[] = {add_bench_broad_phase, add_bench_ccd, add_bench_neighbors, add_bench_voxels,
                                           add_bench_simulation};

}  // namespace quadrat::cli
