#include "verbs/pack_source.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "io/by_ending.hpp"
#include "io/files.hpp"
#include "io/png.hpp"
#include "verb.hpp"

#if QUADRAT_HAS_OPENVDB
#include "verbs/openvdb/read_vdb.hpp"
#endif

namespace quadrat::cli {
namespace {

ValueType value_type(io::ScalarType type) {
    switch (type) {
        case io::ScalarType::f32:
            return ValueType::f32;
        case io::ScalarType::f64:
            return ValueType::f64;
        case io::ScalarType::i32:
            return ValueType::i32;
        case io::ScalarType::i64:
            return ValueType::i64;
        case io::ScalarType::u8:
            return ValueType::u8;
        case io::ScalarType::u32:
            return ValueType::u32;
        case io::ScalarType::u64:
            return ValueType::u64;
    }
    return ValueType::bytes;
}

template <int D>
std::vector<Voxel<D>> positions_of(const io::Table& table, const std::string& path) {
    std::vector<Voxel<D>> out(table.rows());
    io::with_scalar(table.type, [&](auto zero) {
        using T = decltype(zero);
        const auto values = table.values<T>();
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto row = i / D, column = i % D;
            const auto wide = static_cast<long double>(values[i]);
            if (!(wide >= std::numeric_limits<std::int32_t>::min() &&
                  wide <= std::numeric_limits<std::int32_t>::max()) ||
                wide != std::floor(wide))
                throw Error(ErrorKind::bad_value, "not an integer of 32 bits", table.place(path, row, column));
            out[row][static_cast<int>(column)] = static_cast<std::int32_t>(values[i]);
        }
    });
    return out;
}

VoxelSource from_png(const SourceOptions& options) {
    const io::Image image = io::read_png(options.input);
    std::vector<int> background;
    for (std::size_t at = 0; at < options.background.size();) {
        const std::size_t comma = std::min(options.background.find(',', at), options.background.size());
        int value = -1;
        const char* end = options.background.data() + comma;
        const auto [stop, error] = std::from_chars(options.background.data() + at, end, value);
        if (error != std::errc{} || stop != end || value < 0 || value > 255)
            throw UsageError("--background: expected numbers 0..255 like 255,255,255");
        background.push_back(value);
        at = comma + 1;
    }
    const bool alpha = image.channels == 2 || image.channels == 4;
    if (background.empty() && !alpha)
        throw Error(ErrorKind::unsupported, "has no alpha channel: say with --background which pixels are empty",
                    {.file = options.input});
    // Without its alpha the colour alone counts.
    const std::size_t colors = image.channels - (alpha ? 1u : 0u);
    if (!background.empty() && background.size() != image.channels && background.size() != colors)
        throw UsageError("--background: expected " + std::to_string(colors) + " numbers" +
                         (alpha ? ", or one more for alpha" : "") + ", as the picture has");
    VoxelSource source;
    std::vector<Voxel<2>> positions;
    SourceColumn pixels{"color", ValueType::u8, image.channels, {}};
    for (const int value : background) pixels.background.push_back(static_cast<std::byte>(value));
    if (alpha && background.size() == colors) pixels.background.push_back(std::byte{255});
    for (std::uint32_t y = 0; y < image.height; ++y)
        for (std::uint32_t x = 0; x < image.width; ++x) {
            const std::uint8_t* p = image.pixel(x, y);
            bool keep = background.empty() && p[image.channels - 1] != 0;
            for (std::size_t c = 0; c < background.size(); ++c) keep |= p[c] != background[c];
            if (!keep) continue;
            positions.push_back({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)});
            const auto* bytes = reinterpret_cast<const std::byte*>(p);
            pixels.rows.insert(pixels.rows.end(), bytes, bytes + image.channels);
        }
    source.positions = std::move(positions);
    source.columns.push_back(std::move(pixels));
    return source;
}

// The corner of a triangle that is nearest to a voxel's centre.
std::uint32_t nearest_corner(const io::Mesh& mesh, const Triangle& t, const VoxelisedSurface& surface,
                             const Voxel<3>& voxel) {
    std::uint32_t best = t.a;
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t corner : {t.a, t.b, t.c}) {
        double d = 0;
        for (int k = 0; k < 3; ++k) {
            const double x = surface.origin[k] + (voxel[k] + 0.5) * surface.cell - mesh.vertices[corner][k];
            d += x * x;
        }
        if (d >= least) continue;
        least = d;
        best = corner;
    }
    return best;
}

// Colours of the nearest corner of the first triangle, and its normal.
VoxelSource from_mesh(const SourceOptions& options) {
    if (options.resolution == 0) throw UsageError("--resolution is needed for a mesh or point cloud");
    const io::Mesh mesh = io::read_mesh(options.input);
    const bool cloud = mesh.triangles.empty();
    VoxelisedSurface surface = cloud ? voxelise(mesh.vertices, options.resolution)
                                     : voxelise(mesh.vertices, mesh.triangles, options.resolution);
    SourceColumn normals{"normal", ValueType::f32, 3, {}}, colors{"color", ValueType::u8, 4, {}};
    for (std::size_t i = 0; i < surface.voxels.size(); ++i) {
        std::uint32_t vertex = surface.source[i];
        float n[3] = {};
        if (!cloud) {
            const Triangle& t = mesh.triangles[surface.source[i]];
            const Vec3d &a = mesh.vertices[t.a], &b = mesh.vertices[t.b], &c = mesh.vertices[t.c];
            double v[3], length = 0;
            for (int k = 0; k < 3; ++k) {
                const int p = (k + 1) % 3, q = (k + 2) % 3;
                v[k] = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
                length += v[k] * v[k];
            }
            length = std::sqrt(length);
            for (int k = 0; k < 3; ++k) n[k] = length > 0 ? static_cast<float>(v[k] / length) : 0.0f;
            vertex = nearest_corner(mesh, t, surface, surface.voxels[i]);
        } else if (!mesh.normals.empty()) {
            for (int k = 0; k < 3; ++k) n[k] = mesh.normals[vertex][k];
        }
        const auto* bytes = reinterpret_cast<const std::byte*>(n);
        normals.rows.insert(normals.rows.end(), bytes, bytes + sizeof n);
        if (!mesh.colors.empty()) {
            const auto* color = reinterpret_cast<const std::byte*>(mesh.colors[vertex].data());
            colors.rows.insert(colors.rows.end(), color, color + 4);
        }
    }
    VoxelSource source;
    source.positions = std::move(surface.voxels);
    if (!cloud || !mesh.normals.empty()) source.columns.push_back(std::move(normals));
    if (!mesh.colors.empty()) source.columns.push_back(std::move(colors));
    return source;
}

void add_values(VoxelSource& source, const std::string& argument, std::size_t number) {
    const std::size_t equals = argument.find('=');
    const std::string path = equals == std::string::npos ? argument : argument.substr(equals + 1);
    const std::string name = equals != std::string::npos ? argument.substr(0, equals)
                             : number == 0               ? "values"
                                                         : "values" + std::to_string(number + 1);
    const io::Table table = io::read_table(path);
    const std::size_t count = std::visit([](const auto& p) { return p.size(); }, source.positions);
    if (table.rows() != count)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(table.rows()) + " values for " + std::to_string(count) + " positions",
                    {.file = path});
    SourceColumn column{name, value_type(table.type), static_cast<std::uint32_t>(table.columns()), {}};
    column.rows.assign(table.bytes.begin(), table.bytes.end());
    source.columns.push_back(std::move(column));
}

}  // namespace

std::variant<std::vector<Voxel<2>>, std::vector<Voxel<3>>> read_positions(const std::string& path) {
    const io::Table table = io::read_table(path);
    if (table.shape.size() != 2 || (table.shape[1] != 2 && table.shape[1] != 3))
        throw Error(ErrorKind::bad_shape, "positions are rows of 2 or 3 integers", {.file = path});
    if (table.shape[1] == 2) return positions_of<2>(table, path);
    return positions_of<3>(table, path);
}

VoxelSource read_voxel_source(const SourceOptions& options) {
    const std::string ending = io::ending(options.input);
    VoxelSource source;
    if (ending == ".png") {
        source = from_png(options);
    } else if (ending == ".obj" || (ending == ".ply" && options.resolution != 0)) {
        source = from_mesh(options);
    } else if (ending == ".vdb") {
#if QUADRAT_HAS_OPENVDB
        source = read_vdb(options.input);
#else
        throw Error(ErrorKind::unsupported, "this build cannot read OpenVDB files (QUADRAT_WITH_OPENVDB)",
                    {.file = options.input});
#endif
    } else if (ending == ".ply") {
        throw UsageError("--resolution is needed for a mesh or point cloud");
    } else if (ending == ".npy" || ending == ".csv" || ending == ".txt" || ending == ".tsv" || ending == ".xyz") {
        source.positions = read_positions(options.input);
    } else {
        throw Error(ErrorKind::unsupported, "unknown ending: expected .npy, .csv, .xyz, .png, .obj, .ply or .vdb",
                    {.file = options.input});
    }
    for (std::size_t i = 0; i < options.values.size(); ++i) add_values(source, options.values[i], i);
    return source;
}

}  // namespace quadrat::cli
