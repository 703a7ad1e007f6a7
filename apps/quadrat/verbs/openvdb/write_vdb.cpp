// Sparse voxels as OpenVDB grids. In a file of its own, built only with QUADRAT_WITH_OPENVDB: it takes a minute to
// compile.
#include "verbs/openvdb/write_vdb.hpp"
#include "verbs/openvdb/read_vdb.hpp"

#include <quadrat/error.hpp>

#include <openvdb/openvdb.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

namespace quadrat::cli {
namespace {

using Samples = std::vector<std::pair<Voxel<3>, std::uint64_t>>;

template <class T>
T read(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

std::int64_t signed_of(std::uint64_t v, const std::string& channel) {
    if (v > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw Error(ErrorKind::unsupported, "OpenVDB has no numbers above 2^63 - 1", {.field = channel});
    return static_cast<std::int64_t>(v);
}

// One scalar as the type that OpenVDB has for it.
template <class T>
T scalar(ValueType type, const std::uint8_t* at, const std::string& channel) {
    switch (type) {
        case ValueType::bytes:
        case ValueType::u8:
            return static_cast<T>(*at);
        case ValueType::boolean:
            return static_cast<T>(*at != 0);
        case ValueType::i8:
            return static_cast<T>(read<std::int8_t>(at));
        case ValueType::u16:
            return static_cast<T>(read<std::uint16_t>(at));
        case ValueType::i16:
            return static_cast<T>(read<std::int16_t>(at));
        case ValueType::u32:
            return static_cast<T>(read<std::uint32_t>(at));
        case ValueType::i32:
            return static_cast<T>(read<std::int32_t>(at));
        case ValueType::u64:
            return static_cast<T>(signed_of(read<std::uint64_t>(at), channel));
        case ValueType::i64:
            return static_cast<T>(read<std::int64_t>(at));
        case ValueType::f16:
            return static_cast<T>(static_cast<float>(read<Half>(at)));
        case ValueType::f32:
            return static_cast<T>(read<float>(at));
        case ValueType::f64:
            return static_cast<T>(read<double>(at));
    }
    return T{};
}

template <class Grid>
openvdb::GridBase::Ptr make(const Channel& c, std::uint32_t samples, std::uint32_t first, const Samples& at) {
    using T = typename Grid::ValueType;
    const std::size_t size = size_of(c.type), width = c.value_bytes() / samples;
    const auto value = [&](const std::uint8_t* row) {
        if constexpr (std::is_arithmetic_v<T>) {
            return scalar<T>(c.type, row + first * size, c.name);
        } else {
            T v;
            for (int k = 0; k < 3; ++k)
                v[k] = scalar<typename T::ValueType>(c.type, row + static_cast<std::size_t>(k) * size, c.name);
            return v;
        }
    };
    const std::vector<std::uint8_t> zeros(width);
    const auto grid = Grid::create(value(c.background.size() == width ? c.background.data() : zeros.data()));
    auto out = grid->getAccessor();
    for (const auto& [p, number] : at) out.setValue({p[0], p[1], p[2]}, value(c.buffer.data.get() + number * width));
    grid->setSaveFloatAsHalf(c.type == ValueType::f16);
    if (size < 4 && c.type != ValueType::f16 && c.type != ValueType::boolean)
        grid->insertMeta("quadrat_type", openvdb::StringMetadata(c.type == ValueType::bytes ? "u8" : name(c.type)));
    if (c.type == ValueType::u32 || c.type == ValueType::u64)
        grid->insertMeta("quadrat_type", openvdb::StringMetadata(name(c.type)));
    return grid;
}

openvdb::GridBase::Ptr make_any(const Channel& c, std::uint32_t samples, std::uint32_t first, bool vector,
                                const Samples& at) {
    switch (c.type) {
        case ValueType::f16:
        case ValueType::f32:
            return vector ? make<openvdb::Vec3SGrid>(c, samples, first, at)
                          : make<openvdb::FloatGrid>(c, samples, first, at);
        case ValueType::f64:
            return vector ? make<openvdb::Vec3DGrid>(c, samples, first, at)
                          : make<openvdb::DoubleGrid>(c, samples, first, at);
        case ValueType::boolean:
            return make<openvdb::BoolGrid>(c, samples, first, at);
        case ValueType::u32:
        case ValueType::u64:
        case ValueType::i64:
            return make<openvdb::Int64Grid>(c, samples, first, at);
        default:
            return vector ? make<openvdb::Vec3IGrid>(c, samples, first, at)
                          : make<openvdb::Int32Grid>(c, samples, first, at);
    }
}

// Types that have grids of vectors.
bool has_vectors(ValueType t) {
    return t != ValueType::boolean && t != ValueType::u32 && t != ValueType::u64 && t != ValueType::i64;
}

template <int D>
openvdb::math::Transform::Ptr transform_of(const GridTransform<D>& t) {
    openvdb::Mat4d m = openvdb::Mat4d::identity();
    for (int a = 0; a < D; ++a)
        for (int k = 0; k < D; ++k) {
            m(a, k) = t.step[static_cast<std::size_t>(a)][k];
            m(3, k) = t.origin[k];
        }
    return openvdb::math::Transform::createLinearTransform(m);
}

// Notes on a channel go back to where they came from.
template <int D>
void set_notes(const VoxelGrid<D>& grid, const std::string& channel, openvdb::GridBase& out) {
    const std::string start = channel + ".";
    for (const Note& n : grid.notes) {
        if (!n.key.starts_with(start) || n.key == start + "name") continue;
        const std::string key = n.key.substr(start.size());
        if (key == "class")
            out.setGridClass(openvdb::GridBase::stringToGridClass(n.text));
        else
            out.insertMeta(key, openvdb::StringMetadata(n.text));
    }
}

// Notes on the whole are metadata of the file.
template <int D>
openvdb::MetaMap notes_of(const VoxelGrid<D>& grid) {
    openvdb::MetaMap notes;
    for (const Note& n : grid.notes) {
        const bool of_a_channel = std::any_of(grid.channels.begin(), grid.channels.end(),
                                              [&](const auto& c) { return n.key.starts_with(c.name + "."); });
        if (!of_a_channel) notes.insertMeta(note_prefix + n.key, openvdb::StringMetadata(n.text));
    }
    return notes;
}

}  // namespace

template <int D>
void write_vdb(const VoxelGrid<D>& grid, const std::string& path) try {
    openvdb::initialize();
    Samples at;
    for (const auto& [p, number] : sorted_samples(grid)) {
        Voxel<3> q{};
        for (int a = 0; a < D; ++a) q[a] = p[a];
        at.emplace_back(q, number);
    }
    const auto transform = transform_of<D>(grid.transform);
    const std::uint32_t samples = samples_per_value(grid);
    openvdb::GridPtrVec grids;
    for (const Channel& c : grid.channels) {
        const std::uint32_t components = c.components / samples;
        const bool vector = components == 3 && has_vectors(c.type);
        const std::string full(grid.note(c.name + ".name")), base = full.empty() ? c.name : full;
        for (std::uint32_t k = 0; k < (vector ? 1 : components); ++k) {
            const auto out = make_any(c, samples, k, vector, at);
            out->setName(vector || components == 1 ? base : base + "." + std::to_string(k));
            set_notes(grid, c.name, *out);
            grids.push_back(out);
        }
    }
    if (grids.empty()) {
        const auto mask = openvdb::BoolGrid::create(false);
        auto out = mask->getAccessor();
        for (const auto& [p, number] : at) out.setValue({p[0], p[1], p[2]}, true);
        mask->setName("mask");
        grids.push_back(mask);
    }
    for (const auto& g : grids) g->setTransform(transform->copy());
    const std::string part = path + ".part";
    std::error_code error;
    try {
        openvdb::io::File file(part);
        file.write(grids, notes_of(grid));
        file.close();
        std::filesystem::rename(part, path);
    } catch (const std::exception& e) {
        std::filesystem::remove(part, error);
        throw Error(ErrorKind::cannot_write, "cannot be written", {.file = path});
    }
} catch (const openvdb::Exception& e) {
    throw Error(ErrorKind::cannot_write, e.what(), {.file = path});
}

template void write_vdb<2>(const VoxelGrid<2>&, const std::string&);
template void write_vdb<3>(const VoxelGrid<3>&, const std::string&);

}  // namespace quadrat::cli
