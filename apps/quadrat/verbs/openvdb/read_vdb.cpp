// The active voxels of the grids in an OpenVDB file, as a source of `quadrat pack`. In a file of its own, built only
// with QUADRAT_WITH_OPENVDB: it takes a minute to compile.
#include "verbs/openvdb/read_vdb.hpp"

#include <quadrat/error.hpp>

#include <openvdb/openvdb.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

namespace quadrat::cli {
namespace {

constexpr std::uint64_t most_voxels = std::uint64_t{1} << 27;

// One grid on its way: its active positions, and later its values at given ones.
struct Source {
    openvdb::GridBase::Ptr grid;
    std::function<void(std::vector<Voxel<3>>&)> positions;
    std::function<void(std::span<const Voxel<3>>, SourceColumn&)> values;
};

template <class T>
void append(std::vector<std::byte>& rows, const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    rows.insert(rows.end(), bytes, bytes + sizeof(T));
}

// A value of the grid as the file's own type was, before write_vdb() made it wider.
template <class T>
void append_as(std::vector<std::byte>& rows, ValueType type, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        append(rows, static_cast<std::uint8_t>(value));
    } else if constexpr (!std::is_arithmetic_v<T>) {
        for (int k = 0; k < 3; ++k) append_as(rows, type, value[k]);
    } else {
        switch (type) {
            case ValueType::f16:
                return append(rows, Half(static_cast<float>(value)));
            case ValueType::u8:
                return append(rows, static_cast<std::uint8_t>(value));
            case ValueType::i8:
                return append(rows, static_cast<std::int8_t>(value));
            case ValueType::u16:
                return append(rows, static_cast<std::uint16_t>(value));
            case ValueType::i16:
                return append(rows, static_cast<std::int16_t>(value));
            case ValueType::u32:
                return append(rows, static_cast<std::uint32_t>(value));
            case ValueType::u64:
                return append(rows, static_cast<std::uint64_t>(value));
            default:
                return append(rows, value);
        }
    }
}

ValueType type_of(const openvdb::GridBase& grid, ValueType own) {
    if (grid.saveFloatAsHalf() && own == ValueType::f32) return ValueType::f16;
    const auto kept = grid.getMetadata<openvdb::StringMetadata>("quadrat_type");
    if (!kept || (own != ValueType::i32 && own != ValueType::i64)) return own;
    for (const ValueType t :
         {ValueType::u8, ValueType::i8, ValueType::u16, ValueType::i16, ValueType::u32, ValueType::u64})
        if (kept->value() == name(t) && size_of(t) <= size_of(own)) return t;
    return own;
}

template <class Grid>
bool take(const openvdb::GridBase::Ptr& base, ValueType type, std::uint32_t components, std::vector<Source>& sources) {
    const auto grid = openvdb::GridBase::grid<Grid>(base);
    if (!grid) return false;
    Source s{base, {}, {}};
    s.positions = [grid](std::vector<Voxel<3>>& out) {
        for (auto it = grid->cbeginValueOn(); it; ++it) {
            const openvdb::CoordBBox box = it.getBoundingBox();  // one voxel, or a tile of equal ones
            for (auto c = box.begin(); c; ++c) out.push_back({(*c).x(), (*c).y(), (*c).z()});
        }
    };
    s.values = [grid, type, components](std::span<const Voxel<3>> positions, SourceColumn& column) {
        column.type = type_of(*grid, type);
        column.components = components;
        auto in = grid->getConstAccessor();
        for (const Voxel<3>& p : positions) {
            const openvdb::Coord c(p[0], p[1], p[2]);
            if constexpr (std::is_same_v<Grid, openvdb::MaskGrid>)
                append_as(column.rows, column.type, in.isValueOn(c));
            else
                append_as(column.rows, column.type, in.getValue(c));
        }
        if constexpr (!std::is_same_v<Grid, openvdb::MaskGrid>)
            append_as(column.background, column.type, grid->background());
    };
    sources.push_back(std::move(s));
    return true;
}

bool take_any(const openvdb::GridBase::Ptr& g, std::vector<Source>& s) {
    return take<openvdb::FloatGrid>(g, ValueType::f32, 1, s) || take<openvdb::DoubleGrid>(g, ValueType::f64, 1, s) ||
           take<openvdb::Int32Grid>(g, ValueType::i32, 1, s) || take<openvdb::Int64Grid>(g, ValueType::i64, 1, s) ||
           take<openvdb::BoolGrid>(g, ValueType::boolean, 1, s) ||
           take<openvdb::MaskGrid>(g, ValueType::boolean, 1, s) || take<openvdb::Vec3SGrid>(g, ValueType::f32, 3, s) ||
           take<openvdb::Vec3DGrid>(g, ValueType::f64, 3, s) || take<openvdb::Vec3IGrid>(g, ValueType::i32, 3, s);
}

GridTransform<3> transform_of(const openvdb::GridBase& grid, const std::string& path) {
    if (!grid.transform().isLinear())
        throw Error(ErrorKind::unsupported, "grid '" + grid.getName() + "' has a transform that is not linear",
                    {.file = path});
    const openvdb::Mat4d m = grid.transform().baseMap()->getAffineMap()->getMat4();  // of row vectors
    GridTransform<3> t;
    for (int k = 0; k < 3; ++k) {
        t.origin[k] = m(3, k);
        for (int a = 0; a < 3; ++a) t.step[static_cast<std::size_t>(a)][k] = m(a, k);
    }
    return t;
}

// What OpenVDB writes by itself, or what is said in another way.
bool is_own_metadata(const std::string& key) {
    return key.starts_with("file_") || key == "name" || key == "is_saved_as_half_float" || key == "is_local_space" ||
           key == "quadrat_type" || key == "value_type";
}

void take_notes(const openvdb::GridBase& grid, const std::string& channel, VoxelSource& source) {
    for (auto it = grid.beginMeta(); it != grid.endMeta(); ++it) {
        std::string text = it->second->str();
        std::erase(text, '\0');
        if (!is_own_metadata(it->first) && !text.empty() && it->first.find('\0') == std::string::npos)
            source.notes.push_back({channel + "." + it->first, std::move(text)});
    }
}

// Notes on the whole, as write_vdb leaves them.
void take_notes(const openvdb::MetaMap& of_file, VoxelSource& source) {
    for (auto it = of_file.beginMeta(); it != of_file.endMeta(); ++it) {
        const std::string key = it->first;
        if (!key.starts_with(note_prefix) || key.find('\0') != std::string::npos) continue;
        std::string text = it->second->str();
        std::erase(text, '\0');
        source.notes.push_back({key.substr(note_prefix.size()), std::move(text)});
    }
}

// A name of at most 23 bytes that no other channel has.
std::string channel_name(const std::string& full, std::set<std::string>& taken) {
    std::string base = full.empty() ? "values" : full;
    std::string name = base.substr(0, 23);
    for (int k = 2; !taken.insert(name).second; ++k) {
        const std::string end = "_" + std::to_string(k);
        name = base.substr(0, 23 - end.size()) + end;
    }
    return name;
}

std::vector<Source> sources_of(const openvdb::GridPtrVec& grids, const std::vector<std::string>& names,
                               const std::string& path, VoxelSource& source) {
    std::vector<Source> out;
    for (const std::string& n : names)
        if (std::none_of(grids.begin(), grids.end(), [&](const auto& g) { return g->getName() == n; }))
            throw Error(ErrorKind::bad_value, "has no grid '" + n + "'", {.file = path});
    for (const auto& grid : grids) {
        const bool wanted = names.empty() || std::find(names.begin(), names.end(), grid->getName()) != names.end();
        if (wanted && !take_any(grid, out)) source.skipped.push_back(grid->getName() + " (" + grid->valueType() + ")");
    }
    if (out.empty())
        throw Error(ErrorKind::unsupported, "has no grid of float, double, int32, int64, bool or vectors of them",
                    {.file = path});
    for (const Source& s : out)
        if (s.grid->transform() != out[0].grid->transform())
            throw Error(ErrorKind::unsupported,
                        "grids '" + out[0].grid->getName() + "' and '" + s.grid->getName() +
                            "' stand at different places: take one at a time with --grid",
                        {.file = path});
    return out;
}

}  // namespace

VoxelSource read_vdb(const std::string& path, const std::vector<std::string>& names) try {
    openvdb::initialize();
    openvdb::io::File file(path);
    file.open();
    VoxelSource source;
    const auto grids = file.getGrids();
    const std::vector<Source> sources = sources_of(*grids, names, path, source);
    take_notes(*file.getMetadata(), source);
    source.transform = transform_of(*sources[0].grid, path);
    std::uint64_t count = 0;
    for (const Source& s : sources) count += s.grid->activeVoxelCount();
    if (count > most_voxels)
        throw Error(ErrorKind::too_large, std::to_string(count) + " active voxels, more than 2^27", {.file = path});
    std::vector<Voxel<3>> positions;
    for (const Source& s : sources) s.positions(positions);
    const auto before = [](const Voxel<3>& a, const Voxel<3>& b) {
        return std::tuple(a[2], a[1], a[0]) < std::tuple(b[2], b[1], b[0]);
    };
    std::sort(positions.begin(), positions.end(), before);
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    std::set<std::string> taken;
    for (const Source& s : sources) {
        SourceColumn column;
        column.name = channel_name(s.grid->getName(), taken);
        if (!s.grid->getName().empty() && column.name != s.grid->getName())
            source.notes.push_back({column.name + ".name", s.grid->getName()});
        s.values(positions, column);
        take_notes(*s.grid, column.name, source);
        source.columns.push_back(std::move(column));
    }
    source.positions = std::move(positions);
    return source;
} catch (const openvdb::Exception& e) {
    throw Error(ErrorKind::cannot_read, e.what(), {.file = path});
}

}  // namespace quadrat::cli
