#include "verbs/pack_source.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
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
        case io::ScalarType::i8:
            return ValueType::i8;
        case io::ScalarType::i16:
            return ValueType::i16;
        case io::ScalarType::u16:
            return ValueType::u16;
        case io::ScalarType::f16:
            return ValueType::f16;
        case io::ScalarType::b8:
            return ValueType::boolean;
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

// The numbers of --background, each at most `largest`.
std::vector<unsigned> background_of(const std::string& text, unsigned largest) {
    std::vector<unsigned> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        unsigned value = 0;
        const char* end = text.data() + comma;
        const auto [stop, error] = std::from_chars(text.data() + at, end, value);
        if (error != std::errc{} || stop != end || value > largest)
            throw UsageError("--background: expected numbers 0.." + std::to_string(largest) + " like 255,255,255");
        out.push_back(value);
        at = comma + 1;
    }
    return out;
}

// Channels of 8 or 16 bits: T.
template <class T>
void take_pixels(const io::Image& image, std::span<const unsigned> background, VoxelSource& source) {
    const bool alpha = image.channels == 2 || image.channels == 4;
    std::vector<Voxel<2>> positions;
    SourceColumn pixels{"color", ValueTraits<T>::type, image.channels, {}};
    const auto add = [](std::vector<std::byte>& to, std::span<const T> pixel) {
        const auto bytes = std::as_bytes(pixel);
        to.insert(to.end(), bytes.begin(), bytes.end());
    };
    std::vector<T> empty(background.begin(), background.end());
    if (!empty.empty() && empty.size() < image.channels) empty.push_back(std::numeric_limits<T>::max());  // opaque
    add(pixels.background, empty);
    std::vector<T> pixel(image.channels);
    for (std::uint32_t y = 0; y < image.height; ++y)
        for (std::uint32_t x = 0; x < image.width; ++x) {
            std::memcpy(pixel.data(), image.pixel(x, y), image.pixel_bytes());
            bool keep = background.empty() && alpha && pixel.back() != 0;
            for (std::size_t c = 0; c < background.size(); ++c) keep |= pixel[c] != background[c];
            if (!keep) continue;
            positions.push_back({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)});
            add(pixels.rows, pixel);
        }
    source.positions = std::move(positions);
    source.columns.push_back(std::move(pixels));
}

VoxelSource from_png(const SourceOptions& options) {
    const io::Image image = io::read_png(options.input);
    const std::vector<unsigned> background = background_of(options.background, (1u << image.depth) - 1);
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
    if (image.depth == 16)
        take_pixels<std::uint16_t>(image, background, source);
    else
        take_pixels<std::uint8_t>(image, background, source);
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
    // Cell c covers [origin + c cell, origin + (c + 1) cell], and its sample lies at the centre.
    const double half = surface.cell / 2;
    const Vec3d first{surface.origin[0] + half, surface.origin[1] + half, surface.origin[2] + half};
    source.transform = GridTransform<3>::uniform(first, surface.cell);
    if (!cloud || !mesh.normals.empty()) source.columns.push_back(std::move(normals));
    if (!mesh.colors.empty()) source.columns.push_back(std::move(colors));
    return source;
}

// NAME=FILE, or FILE where a file of the whole name is there and none behind the =.
std::pair<std::string, std::string> name_and_file(const std::string& argument, std::size_t number) {
    const std::size_t equals = argument.find('=');
    std::error_code error;
    const auto there = [&](const std::string& path) { return std::filesystem::exists(path, error); };
    const bool named = equals != std::string::npos && (there(argument.substr(equals + 1)) || !there(argument));
    if (named) return {argument.substr(0, equals), argument.substr(equals + 1)};
    return {number == 0 ? "values" : "values" + std::to_string(number + 1), argument};
}

void add_values(VoxelSource& source, const std::string& argument, std::size_t number) {
    const auto [name, path] = name_and_file(argument, number);
    const io::Table table = io::read_table(path, io::Narrow::kept);
    const std::size_t count = std::visit([](const auto& p) { return p.size(); }, source.positions);
    if (table.rows() != count)
        throw Error(ErrorKind::bad_shape,
                    std::to_string(table.rows()) + " values for " + std::to_string(count) + " positions",
                    {.file = path});
    if (table.columns() < 1 || table.columns() > 4096)
        throw Error(ErrorKind::bad_shape, std::to_string(table.columns()) + " numbers in a value, not 1 to 4096",
                    {.file = path});
    if (table.shape.size() > 5) throw Error(ErrorKind::bad_shape, "values of more than four axes", {.file = path});
    SourceColumn column{name, value_type(table.type), static_cast<std::uint32_t>(table.columns()), {}};
    column.rows.assign(table.bytes.begin(), table.bytes.end());
    for (std::size_t k = 1; k < table.shape.size(); ++k)
        column.shape.push_back(static_cast<std::uint16_t>(table.shape[k]));
    source.columns.push_back(std::move(column));
}

// An option that the input does not look at is a mistake of who gave it.
void check_options(const SourceOptions& options, const std::string& ending) {
    const auto expect = [&](bool fits, const char* option, const char* what) {
        if (!fits) throw UsageError(std::string(option) + " is for " + what + ", not for " + options.input);
    };
    expect(options.background.empty() || ending == ".png", "--background", "pictures (.png)");
    expect(options.resolution == 0 || ending == ".obj" || ending == ".ply", "--resolution",
           "meshes and points (.obj .ply)");
    expect(options.grids.empty() || ending == ".vdb", "--grid", "OpenVDB files (.vdb)");
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
    check_options(options, ending);
    VoxelSource source;
    if (ending == ".png") {
        source = from_png(options);
    } else if (ending == ".obj" || (ending == ".ply" && options.resolution != 0)) {
        source = from_mesh(options);
    } else if (ending == ".vdb") {
#if QUADRAT_HAS_OPENVDB
        source = read_vdb(options.input, options.grids);
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
