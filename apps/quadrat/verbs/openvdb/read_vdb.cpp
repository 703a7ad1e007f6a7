// The active voxels of the first grid of scalars in an OpenVDB file, as a source of `quadrat pack`. In a file of its
// own, built only with QUADRAT_WITH_OPENVDB: it takes a minute to compile.
#include "verbs/openvdb/read_vdb.hpp"

#include <quadrat/error.hpp>

#include <openvdb/openvdb.h>

#include <cstring>

namespace quadrat::cli {
namespace {

template <class Grid>
bool take(const openvdb::GridBase::Ptr& base, ValueType type, VoxelSource& source) {
    const auto grid = openvdb::GridBase::grid<Grid>(base);
    if (!grid) return false;
    using T = typename Grid::ValueType;
    std::vector<Voxel<3>> positions;
    SourceColumn column{grid->getName().empty() ? "values" : grid->getName().substr(0, 23), type, 1, {}};
    const auto add = [&](const openvdb::Coord& c, const T& value) {
        positions.push_back({c.x(), c.y(), c.z()});
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        column.rows.insert(column.rows.end(), bytes, bytes + sizeof(T));
    };
    for (auto it = grid->cbeginValueOn(); it; ++it) {
        const openvdb::CoordBBox box = it.getBoundingBox();  // one voxel, or a tile of equal ones
        for (auto c = box.begin(); c; ++c) add(*c, *it);
    }
    const T background = grid->background();
    const auto* bytes = reinterpret_cast<const std::byte*>(&background);
    column.background.assign(bytes, bytes + sizeof(T));
    source.positions = std::move(positions);
    source.columns.push_back(std::move(column));
    return true;
}

}  // namespace

VoxelSource read_vdb(const std::string& path) try {
    openvdb::initialize();
    openvdb::io::File file(path);
    file.open();
    VoxelSource source;
    const auto grids = file.getGrids();  // owns what the loop goes over
    for (const auto& grid : *grids)
        if (take<openvdb::FloatGrid>(grid, ValueType::f32, source) ||
            take<openvdb::DoubleGrid>(grid, ValueType::f64, source) ||
            take<openvdb::Int32Grid>(grid, ValueType::i32, source))
            return source;
    throw Error(ErrorKind::unsupported, "has no grid of float, double or int32", {.file = path});
} catch (const openvdb::Exception& e) {
    throw Error(ErrorKind::cannot_read, e.what(), {.file = path});
}

}  // namespace quadrat::cli
