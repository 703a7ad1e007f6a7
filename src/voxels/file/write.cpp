// Writing .qvox. Sections go out one by one, so a file takes no second copy of its values in memory; the header
// follows.
#include "base/assert.hpp"
#include "voxels/file/format.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <vector>

#if QUADRAT_HAS_ZSTD
#include <zstd.h>
#endif

namespace quadrat {
namespace {

using voxels::QvoxSection;

// Where the bytes of a file go: each part at its place, in any order.
struct MemorySink {
    std::vector<std::uint8_t> bytes;

    void put(std::uint64_t at, std::span<const std::uint8_t> part) {
        if (bytes.size() < at + part.size()) bytes.resize(at + part.size());
        std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
};
struct FileSink {
    std::ofstream file;

    void put(std::uint64_t at, std::span<const std::uint8_t> part) {
        file.seekp(static_cast<std::streamoff>(at));
        file.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
    }
};

struct Outgoing {
    QvoxSection row;
    std::span<const std::uint8_t> data;
};

Outgoing outgoing(std::uint32_t kind, std::span<const std::uint8_t> data) {
    Outgoing out;
    out.row.kind = kind;
    out.row.raw = data.size();
    out.data = data;
    return out;
}

Outgoing outgoing(std::uint32_t kind, const Channel& c, std::uint32_t components, std::span<const std::uint8_t> data) {
    QUADRAT_ASSERT(!c.name.empty() && c.name.size() < sizeof(QvoxSection::name));
    Outgoing out = outgoing(kind, data);
    out.row.type = static_cast<std::uint32_t>(c.type);
    out.row.components = components;
    QUADRAT_ASSERT(c.shape.size() <= std::size(out.row.shape));
    std::copy(c.shape.begin(), c.shape.end(), out.row.shape);
    std::copy(c.name.begin(), c.name.end(), out.row.name);
    return out;
}

// key 0 text 0 key 0 text 0 ..
std::vector<std::uint8_t> bytes_of(std::span<const Note> notes) {
    std::vector<std::uint8_t> out;
    for (const Note& n : notes)
        for (const std::string* text : {&n.key, &n.text}) {
            out.insert(out.end(), text->begin(), text->end());
            out.push_back(0);
        }
    return out;
}

template <int D>
std::vector<Outgoing> sections_of(const VoxelGrid<D>& grid, const voxels::IndexParts<D>& parts,
                                  std::span<const std::uint8_t> notes) {
    std::vector<Outgoing> out;
    for (std::size_t t = 0; t < voxels::table_count; ++t)
        if (const Buffer& b = parts.tables[t]; b.size != 0)
            out.push_back(outgoing(voxels::first_table + static_cast<std::uint32_t>(t), {b.data.get(), b.size}));
    for (const Channel& c : grid.channels)
        out.push_back(outgoing(voxels::channel_section, c, c.components, {c.buffer.data.get(), c.buffer.size}));
    for (const Channel& c : grid.channels)
        if (!c.background.empty())
            out.push_back(
                outgoing(voxels::background_section, c, c.components / samples_per_value(grid), c.background));
    if (grid.given.size != 0) out.push_back(outgoing(voxels::given_section, {grid.given.data.get(), grid.given.size}));
    if (!notes.empty()) out.push_back(outgoing(voxels::notes_section, notes));
    if (out.size() > voxels::most_sections)
        throw Error(ErrorKind::too_large, "more than 65,536 sections: too many channels", {.field = "channels"});
    if (notes.size() > voxels::most_notes) throw Error(ErrorKind::too_large, "more than 16 MB", {.field = "notes"});
    return out;
}

template <int D>
voxels::QvoxHeader<D> header_of(const VoxelGrid<D>& grid, const voxels::IndexParts<D>& parts) {
    voxels::QvoxHeader<D> h;
    h.layout = static_cast<std::uint32_t>(parts.layout);
    h.encoding = static_cast<std::uint32_t>(parts.encoding);
    h.entries = parts.entries;
    h.values = grid.index.values();
    h.tag_bits = parts.tag_bits;
    h.channels = static_cast<std::uint32_t>(grid.channels.size());
    h.block = grid.block;
    h.origin = parts.origin;
    h.extent = parts.extent;
    h.shape = parts.shape;
    h.mipmap = grid.mipmap;
    h.transform = grid.transform;
    return h;
}

// The bytes of a section as they are stored; `room` keeps them if they are not the section's own.
std::span<const std::uint8_t> packed(std::span<const std::uint8_t> data, int compression,
                                     [[maybe_unused]] std::vector<std::uint8_t>& room) {
    if (compression <= 0) return data;
#if QUADRAT_HAS_ZSTD
    room.resize(ZSTD_compressBound(data.size()));
    const std::size_t got = ZSTD_compress(room.data(), room.size(), data.data(), data.size(), compression);
    if (ZSTD_isError(got)) throw Error(ErrorKind::cannot_write, ZSTD_getErrorName(got));
    return std::span(room).first(got);
#else
    throw Error(ErrorKind::unsupported, "this build has no zstd", {.field = "compression"});
#endif
}

// Returns the size of the whole: the last section may be empty, and then nothing was put at its end.
template <int D, class Sink>
std::uint64_t write_parts(const VoxelGrid<D>& grid, const QvoxWriteOptions& options, Sink& sink) {
    const voxels::IndexParts<D> parts = voxels::IndexFiles<D>::parts(grid.index);
    const std::vector<std::uint8_t> notes = bytes_of(grid.notes);
    std::vector<Outgoing> sections = sections_of(grid, parts, notes);
    std::vector<std::uint8_t> head(voxels::header_bytes + sections.size() * voxels::section_bytes), room;
    std::uint64_t end = head.size();
    std::uint8_t* row = head.data() + voxels::header_bytes;
    for (Outgoing& s : sections) {
        const std::span<const std::uint8_t> stored = packed(s.data, options.compression, room);
        s.row.at = (end + voxels::section_alignment - 1) / voxels::section_alignment * voxels::section_alignment;
        s.row.stored = stored.size();
        s.row.checksum = qvox_checksum(stored);
        sink.put(s.row.at, stored);
        end = s.row.at + s.row.stored;
        transfer(voxels::FieldWriter{row}, std::as_const(s.row));
        row += voxels::section_bytes;
    }
    voxels::QvoxStart start;
    std::copy_n(voxels::qvox_magic, sizeof(voxels::qvox_magic), start.magic);
    start.version = voxels::qvox_version;
    start.size = voxels::header_bytes;
    start.dimension = D;
    start.flags = options.compression > 0 ? voxels::flag_compressed : 0;
    start.sections = static_cast<std::uint32_t>(sections.size());
    const voxels::QvoxHeader<D> header = header_of(grid, parts);
    voxels::transfer<D>(voxels::FieldWriter{head.data()}, header);
    transfer(voxels::FieldWriter{head.data()}, std::as_const(start));
    start.checksum = qvox_checksum(head);
    transfer(voxels::FieldWriter{head.data()}, std::as_const(start));
    sink.put(0, head);
    return end;
}

}  // namespace

template <int D>
std::vector<std::uint8_t> encode_qvox(const VoxelGrid<D>& grid, const QvoxWriteOptions& options) {
    MemorySink sink;
    sink.bytes.resize(write_parts(grid, options, sink));
    return std::move(sink.bytes);
}

template <int D>
void write_qvox(const VoxelGrid<D>& grid, const std::filesystem::path& path, const QvoxWriteOptions& options) {
    const std::filesystem::path part = path.string() + ".part";
    std::error_code error;
    const auto fail = [&](const char* what) {
        std::filesystem::remove(part, error);
        return Error(ErrorKind::cannot_write, what, {.file = path.string()});
    };
    std::uint64_t size = 0;
    {
        FileSink sink{std::ofstream(part, std::ios::binary | std::ios::trunc)};
        if (!sink.file) throw fail("cannot be created");
        try {
            size = write_parts(grid, options, sink);
        } catch (...) {
            std::filesystem::remove(part, error);
            throw;
        }
        if (!sink.file.flush()) throw fail("cannot be written in full");
    }
    std::filesystem::resize_file(part, size, error);
    if (error) throw fail("cannot be written in full");
    std::filesystem::rename(part, path, error);
    if (error) throw fail("cannot be created");
}

template std::vector<std::uint8_t> encode_qvox<2>(const VoxelGrid<2>&, const QvoxWriteOptions&);
template std::vector<std::uint8_t> encode_qvox<3>(const VoxelGrid<3>&, const QvoxWriteOptions&);
template void write_qvox<2>(const VoxelGrid<2>&, const std::filesystem::path&, const QvoxWriteOptions&);
template void write_qvox<3>(const VoxelGrid<3>&, const std::filesystem::path&, const QvoxWriteOptions&);

}  // namespace quadrat
