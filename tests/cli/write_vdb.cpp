// Writes an OpenVDB file for the tests of `quadrat pack`: lines "x y z value" on standard input become the voxels of a
// grid. Usage: quadrat_write_vdb OUT.vdb float|double|int32|points|two [NAME] [TILE: eight cells from here on, on each
// axis]
#include <openvdb/openvdb.h>
#include <openvdb/points/PointDataGrid.h>

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

// Two grids of one transform: the second has -1 at the same voxels, 4 elsewhere, and one voxel of its own is in the
// third, which is of points.
void write_two(const char* const* arguments) {
    const auto first = openvdb::FloatGrid::create(7);
    const auto second = openvdb::Int32Grid::create(4);
    const auto third = openvdb::points::PointDataGrid::create();
    auto a = first->getAccessor();
    auto b = second->getAccessor();
    int x = 0, y = 0, z = 0;
    for (double value = 0; std::cin >> x >> y >> z >> value;) {
        a.setValue({x, y, z}, static_cast<float>(value));
        b.setValue({x, y, z}, -1);
    }
    b.setValue({1000, 1000, 1000}, 4);
    first->setName(arguments[3]);
    second->setName("other");
    third->setName("cloud");
    first->setGridClass(openvdb::GRID_FOG_VOLUME);
    const auto transform = openvdb::math::Transform::createLinearTransform(0.5);
    transform->postTranslate({10, 20, 30});
    for (const openvdb::GridBase::Ptr& g : openvdb::GridPtrVec{first, second, third})
        g->setTransform(transform->copy());
    openvdb::io::File file(arguments[1]);
    file.write({first, second, third});
    file.close();
}

}  // namespace

int main(int count, char** arguments) {
    openvdb::initialize();
    const std::string type = count > 2 ? arguments[2] : "";
    if (type == "float") write<openvdb::FloatGrid>(arguments, count);
    if (type == "double") write<openvdb::DoubleGrid>(arguments, count);
    if (type == "int32") write<openvdb::Int32Grid>(arguments, count);
    if (type == "points") {
        openvdb::io::File file(arguments[1]);
        file.write({openvdb::points::PointDataGrid::create()});
        file.close();
    }
    if (type == "two") write_two(arguments);
}
