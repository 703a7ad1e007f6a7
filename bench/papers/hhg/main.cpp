// paper_hhg PART [JSON file]: one part of the reproduction of HHG (Schornbaum 2009): 20, 21, 22, 23 (and 24), 25, 26,
// 27 (to 30), ablation, rotation, memory or threshold.
#include "structures.hpp"

#include "workloads/memory_model.hpp"

#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace hhg {

// The example of 3.1 beside what these grids take for the same objects and cells.
void memory(const char* json) {
    namespace model = quadrat::workloads;
    papers::Report report(
        {"cells/axis", "objects", "outer_cells", "outer_%", "paper_bytes", "paper_worst_bytes", "ours_bytes"});
    for (const std::uint32_t axis : {16u, 32u, 64u, 128u}) {
        const std::size_t cells = std::size_t{axis} * axis * axis;
        const std::size_t objects = axis == 128 ? 100000 : cells / 8;  // the paper's example at 128
        PaperGrids grids({.initial_cells = axis});
        const Scenario world({.n = objects});
        grids.setup(world.boxes());
        report.row({double(axis), double(objects), double(model::outer_cells(axis, axis, axis)),
                    100 * double(model::outer_cells(axis, axis, axis)) / double(cells),
                    double(model::paper_bytes(axis, axis, axis, objects / 4, 256)),
                    double(model::paper_bytes(axis, axis, axis, objects, 256)), double(grids.grids().bytes())});
    }
    report.write(json);
}

}  // namespace hhg

int main(int argc, char** argv) {
    const std::map<std::string, void (*)(const char*)> parts{
        {"20", hhg::figure20},       {"21", hhg::figure21},   {"22", hhg::figure22},        {"23", hhg::figure23_24},
        {"25", hhg::figure25},       {"26", hhg::figure26},   {"27", hhg::figure27_30},     {"ablation", hhg::ablation},
        {"rotation", hhg::rotation}, {"memory", hhg::memory}, {"threshold", hhg::threshold}};
    const auto part = argc > 1 ? parts.find(argv[1]) : parts.end();
    if (part == parts.end()) {
        std::fprintf(stderr, "usage: %s 20|21|22|23|25|26|27|ablation|rotation|memory|threshold [JSON file]\n",
                     argv[0]);
        return 2;
    }
    try {
        part->second(argc > 2 ? argv[2] : nullptr);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
