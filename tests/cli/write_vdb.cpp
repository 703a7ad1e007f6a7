// Writes an OpenVDB file for the tests of `quadrat pack`: lines "x y z value" on standard input become the voxels of a
// grid. Usage: quadrat_write_vdb OUT.vdb float|double|int32|vector [NAME] [TILE: eight cells from here on, on each
// axis]
#include <openvdb/openvdb.h>

#include <iostream>
#include <string>

namespace {

template <class Grid>
void write(const char* const* arguments, int count) {
    const auto grid = Grid::create(typename Grid::ValueType(7));
    grid->setName(count > 3 ? arguments[3] : "");
    auto accessor = grid->getAccessor();
    int x = 0, y = 0, z = 0;
    for (double value = 0; std::cin >> x >> y >> z >> value;)
        accessor.setValue({x, y, z}, typename Grid::ValueType(value));
    if (count > 4) {
        const int at = std::stoi(arguments[4]);
        grid->tree().sparseFill(openvdb::CoordBBox(openvdb::Coord(at), openvdb::Coord(at + 7)),
                                typename Grid::ValueType(3), true);
    }
    openvdb::io::File file(arguments[1]);
    file.write({grid});
    file.close();
}

}  // namespace

int main(int count, char** arguments) {
    openvdb::initialize();
    const std::string type = count > 2 ? arguments[2] : "";
    if (type == "float") write<openvdb::FloatGrid>(arguments, count);
    if (type == "double") write<openvdb::DoubleGrid>(arguments, count);
    if (type == "int32") write<openvdb::Int32Grid>(arguments, count);
    if (type == "vector") write<openvdb::Vec3SGrid>(arguments, count);
}
