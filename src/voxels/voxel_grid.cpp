// Channels and notes of a grid: what may be added, under which names, and how values given by position find their
// places.
#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_grid.hpp>

#include "base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace quadrat {

std::size_t size_of(ValueType type) {
    constexpr std::size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 1};
    QUADRAT_ASSERT(static_cast<std::size_t>(type) < std::size(sizes));
    return sizes[static_cast<std::size_t>(type)];
}

const char* name(ValueType type) {
    constexpr const char* names[] = {"bytes", "u8",  "i8",  "u16", "i16", "u32", "i32",
                                     "u64",   "i64", "f32", "f64", "f16", "bool"};
    QUADRAT_ASSERT(static_cast<std::size_t>(type) < std::size(names));
    return names[static_cast<std::size_t>(type)];
}

template <int D>
void VoxelGrid<D>::set_note(std::string key, std::string text) {
    if (key.empty() || (key + text).find('\0') != std::string::npos)
        throw Error(ErrorKind::bad_value, "a note without a key, or with a zero byte", {.field = "note"});
    const auto at = std::find_if(notes.begin(), notes.end(), [&](const Note& n) { return n.key == key; });
    if (text.empty()) {
        if (at != notes.end()) notes.erase(at);
    } else if (at != notes.end()) {
        at->text = std::move(text);
    } else {
        notes.push_back({std::move(key), std::move(text)});
    }
}

template <int D>
Channel& VoxelGrid<D>::add_channel(std::string name, ValueType type, std::uint32_t components) {
    if (channel(name)) throw Error(ErrorKind::duplicate, "a channel of this name exists", {.field = name});
    if (name.empty() || name.size() > 23)
        throw Error(ErrorKind::bad_value, "names of channels have 1 to 23 bytes", {.field = name});
    if (components < 1 || components > 4096)
        throw Error(ErrorKind::bad_value, "a channel has 1 to 4096 components", {.field = name});
    Channel c{std::move(name), type, components, {}};
    c.buffer = Buffer::zeros(index.values() * c.value_bytes());
    return channels.emplace_back(std::move(c));
}

template <int D>
Channel& VoxelGrid<D>::add_channel(std::string name, ValueType type, std::uint32_t components,
                                   std::span<const Voxel<D>> positions, std::span<const std::byte> rows) {
    const std::size_t width = size_of(type) * components;
    if (rows.size() != positions.size() * width)
        throw Error(ErrorKind::bad_shape, "positions and values differ in number", {.field = name});
    Channel& c = add_channel(std::move(name), type, components);
    constexpr std::size_t batch = 256;
    std::uint32_t places[batch];
    for (std::size_t begin = 0; begin < positions.size(); begin += batch) {
        const std::size_t count = std::min(batch, positions.size() - begin);
        index.find(positions.subspan(begin, count), std::span(places, count));
        for (std::size_t i = 0; i < count; ++i) {
            if (places[i] == VoxelIndex<D>::absent) {
                channels.pop_back();
                throw Error(ErrorKind::bad_value, "this position is not stored", {.index = begin + i});
            }
            std::memcpy(c.buffer.data.get() + places[i] * width, rows.data() + (begin + i) * width, width);
        }
    }
    return c;
}

template struct VoxelGrid<2>;
template struct VoxelGrid<3>;

}  // namespace quadrat
