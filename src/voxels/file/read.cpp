// Reading .qvox. The reader trusts nothing: sizes are derived from the header, compared with the sections and with the
// file before anything is allocated.
#include "base/assert.hpp"
#include "voxels/file/format.hpp"
#include "voxels/file/source.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#if QUADRAT_HAS_ZSTD
#include <zstd.h>
#endif

namespace quadrat {
namespace {

using voxels::bad_file;
using voxels::FieldReader;
using voxels::QvoxSection;
using voxels::Source;

// A row of the table of sections, checked against the file.
struct Section {
    std::uint32_t kind = 0;
    ValueType type = ValueType::bytes;
    std::uint32_t components = 0;
    std::string name;
    std::uint64_t at = 0, stored = 0, raw = 0, checksum = 0;
    std::vector<std::uint16_t> shape;

    [[nodiscard]] bool is_table() const { return kind < voxels::channel_section; }
    [[nodiscard]] std::size_t table() const { return kind - voxels::first_table; }
};

// `first` is where sections may begin.
Section section_of(const QvoxSection& row, bool compressed, std::uint64_t first, std::uint64_t file_size) {
    if (row.type > static_cast<std::uint32_t>(ValueType::boolean)) throw bad_file("type", "unknown");
    if (row.components > 4096) throw bad_file("components", "more than 4096");
    if (row.at % voxels::section_alignment != 0 || row.at < first || row.at > file_size ||
        row.stored > file_size - row.at)
        throw bad_file("section", "it does not lie within the file, which may be truncated");
    // zstd cannot shrink by more than this, so a small file cannot ask for much memory.
    if (compressed ? row.raw / 65536 > row.stored : row.raw != row.stored)
        throw bad_file("section", "its two sizes do not fit");
    const std::string_view name(row.name, sizeof(row.name) - 1);
    std::vector<std::uint16_t> shape(std::begin(row.shape),
                                     std::find(std::begin(row.shape), std::end(row.shape), std::uint16_t{0}));
    return {row.kind,        static_cast<ValueType>(row.type),
            row.components,  std::string(name.substr(0, name.find('\0'))),
            row.at,          row.stored,
            row.raw,         row.checksum,
            std::move(shape)};
}

// The file of one grid, on its way into memory.
template <int D>
class Reading {
  public:
    Reading(const Source& file, const std::vector<Section>& sections, bool compressed, const QvoxReadOptions& options)
        : file_(file), sections_(sections), compressed_(compressed), options_(options) {
        voxels::transfer<D>(FieldReader{file.data.get()}, header_);
    }

    VoxelGrid<D> grid() {
        voxels::IndexParts<D> parts = parts_without_tables();
        check_sections(voxels::IndexFiles<D>::table_sizes(parts));
        for (const Section& s : sections_)
            if (s.is_table()) parts.tables[s.table()] = load(s);
        VoxelGrid<D> grid;
        grid.index = voxels::IndexFiles<D>::from_parts(std::move(parts));
        if (grid.index.values() != header_.values) throw bad_file("values", "not as many as the index has");
        take_sampling(grid);
        load_channels(grid);
        load_backgrounds(grid);
        load_extras(grid);
        return grid;
    }

  private:
    voxels::IndexParts<D> parts_without_tables() const {
        if (header_.layout < 1 || header_.layout > 4) throw bad_file("layout", "unknown");
        if (header_.encoding < 1 || header_.encoding > 5) throw bad_file("encoding", "unknown");
        if (header_.entries > std::uint64_t{1} << 27) throw bad_file("entries", "more than 2^27");
        if (header_.values > std::uint64_t{1} << 32) throw bad_file("values", "more than 2^32");
        voxels::IndexParts<D> p;
        p.layout = static_cast<Layout>(header_.layout);
        p.encoding = static_cast<Encoding>(header_.encoding);
        p.entries = static_cast<std::uint32_t>(header_.entries);
        p.tag_bits = header_.tag_bits;
        p.origin = header_.origin;
        p.extent = header_.extent;
        p.shape = header_.shape;
        return p;
    }

    // Bytes that a section must have in memory.
    std::uint64_t wanted(const Section& s, const voxels::PerTable<std::uint64_t>& table_sizes) const {
        const std::uint64_t value = size_of(s.type) * std::uint64_t{s.components};
        if (s.kind == voxels::channel_section) return header_.values * value;
        if (s.kind == voxels::background_section) return value;
        if (s.kind == voxels::given_section) return given_bytes();
        if (s.kind == voxels::notes_section) return std::min<std::uint64_t>(s.raw, voxels::most_notes);
        if (s.kind < voxels::first_table || s.table() >= voxels::table_count)
            throw bad_file("section", "of unknown kind " + std::to_string(s.kind));
        return table_sizes[s.table()];
    }

    // A bit for each sample of each value; whether blocks have a legal size is checked later.
    std::uint64_t given_bytes() const {
        const std::uint64_t b1 = std::min(header_.block, 64u) + 1;
        return (header_.values * (D == 3 ? b1 * b1 * b1 : b1 * b1) + 7) / 8;
    }

    // Sizes first, then memory.
    void check_sections(const voxels::PerTable<std::uint64_t>& table_sizes) const {
        std::uint64_t needed = 0;
        std::uint32_t channels = 0;
        voxels::PerTable<bool> seen{};
        for (const Section& s : sections_) {
            const std::uint64_t want = wanted(s, table_sizes);
            if (s.is_table() && std::exchange(seen[s.table()], true)) throw bad_file("section", "appears twice");
            if (s.raw != want)
                throw bad_file("section", "its size is " + std::to_string(s.raw) + ", not " + std::to_string(want));
            channels += s.kind == voxels::channel_section;
            needed += compressed_ ? s.raw : 0;
        }
        if (needed > options_.max_bytes)
            throw Error(ErrorKind::too_large, "needs " + std::to_string(needed) + " bytes of memory",
                        {.field = "max_bytes"});
        if (channels != header_.channels) throw bad_file("channels", "not as many as the header says");
    }

    // Blocks and mipmap of a grid whose index is read.
    void take_sampling(VoxelGrid<D>& grid) const {
        grid.block = header_.block;
        if (grid.block > 64) throw bad_file("block", "larger than 64");
        for (const std::uint32_t e : grid.index.extent())
            if (std::uint64_t{e} * grid.block >= std::uint64_t{1} << 22)
                throw bad_file("block", "too large for the domain");
        if (header_.mipmap.levels > 32) throw bad_file("mipmap", "more than 32 levels");
        if (header_.mipmap.levels == 0) return;
        for (const std::uint32_t e : header_.mipmap.extent)
            if (e < 1 || e > 1u << 21) throw bad_file("mipmap", "its extent is out of range");
        grid.mipmap = header_.mipmap;
    }

    void load_channels(VoxelGrid<D>& grid) {
        const std::uint32_t samples = samples_per_value(grid);
        for (const Section& s : sections_) {
            if (s.kind != voxels::channel_section) continue;
            if (s.name.empty() || !number_.emplace(s.name, grid.channels.size()).second)
                throw bad_file("channel", "without a name of its own");
            if (s.components < 1 || s.components % samples != 0) throw bad_file("channel", "not in whole samples");
            std::uint64_t scalars = 1;
            for (const std::uint16_t e : s.shape) scalars *= e;
            if (!s.shape.empty() && scalars != s.components / samples) throw bad_file("shape", "not that of a sample");
            grid.channels.push_back({s.name, s.type, s.components, load(s), {}, s.shape});
        }
    }

    void load_backgrounds(VoxelGrid<D>& grid) const {
        const std::uint32_t samples = samples_per_value(grid);
        for (const Section& s : sections_) {
            if (s.kind != voxels::background_section) continue;
            const auto found = number_.find(s.name);
            Channel* c = found == number_.end() ? nullptr : &grid.channels[found->second];
            if (!c || !c->background.empty() || s.raw * samples != c->value_bytes())
                throw bad_file("background", "not of a channel of this file");
            const Buffer b = load(s);
            c->background.assign(b.data.get(), b.data.get() + s.raw);
        }
    }

    // The transform, which samples were given, and notes.
    void load_extras(VoxelGrid<D>& grid) const {
        bool finite = true;
        for (int k = 0; k < D; ++k) {
            finite &= std::isfinite(header_.transform.origin[k]);
            for (const auto& step : header_.transform.step) finite &= std::isfinite(step[k]);
        }
        if (!finite) throw bad_file("transform", "not finite");
        grid.transform = header_.transform;
        for (const Section& s : sections_) {
            if (s.kind == voxels::given_section) {
                if (grid.block == 0 || grid.given.size != 0)
                    throw bad_file("section", "of samples without blocks, or twice");
                grid.given = load(s);
            }
            if (s.kind == voxels::notes_section) load_notes(s, grid);
        }
    }

    void load_notes(const Section& s, VoxelGrid<D>& grid) const {
        const Buffer b = load(s);
        const std::string_view all(reinterpret_cast<const char*>(b.data.get()), b.size);
        std::set<std::string_view> keys;
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t key = all.find('\0', at), text = key == all.npos ? key : all.find('\0', key + 1);
            if (text == all.npos || key == at || !keys.insert(all.substr(at, key - at)).second ||
                !grid.notes.empty() != (at > 0))
                throw bad_file("notes", "not keys of their own with texts");
            grid.notes.push_back(
                {std::string(all.substr(at, key - at)), std::string(all.substr(key + 1, text - key - 1))});
            at = text + 1;
        }
    }

    // A part of the mapped file, or what was compressed there.
    Buffer load(const Section& s) const {
        QUADRAT_ASSERT(s.at + s.stored <= file_.size);
        std::uint8_t* at = file_.data.get() + s.at;
        if ((options_.verify || compressed_) && qvox_checksum({at, static_cast<std::size_t>(s.stored)}) != s.checksum)
            throw bad_file(s.name.empty() ? "section " + std::to_string(s.kind) : s.name,
                           "its checksum is wrong: the file is damaged");
        if (!compressed_) return {std::shared_ptr<std::uint8_t>(file_.data, at), static_cast<std::size_t>(s.raw)};
#if QUADRAT_HAS_ZSTD
        if (ZSTD_getFrameContentSize(at, s.stored) != s.raw)
            throw bad_file("section", "its compressed size is not what it says");
        Buffer out = Buffer::zeros(s.raw);
        if (ZSTD_decompress(out.data.get(), s.raw, at, s.stored) != s.raw)
            throw bad_file("section", "cannot be decompressed");
        return out;
#else
        throw Error(ErrorKind::unsupported, "compressed, and this build has no zstd");
#endif
    }

    const Source& file_;
    const std::vector<Section>& sections_;
    bool compressed_;
    const QvoxReadOptions& options_;
    voxels::QvoxHeader<D> header_;
    std::map<std::string, std::size_t> number_;  // of a channel by its name
};

// The start of the file, with magic, version and checksum checked.
voxels::QvoxStart start_of(const Source& file) {
    if (file.size < voxels::header_bytes) throw bad_file("header", "the file is shorter than 512 bytes");
    voxels::QvoxStart start;
    transfer(FieldReader{file.data.get()}, start);
    if (!std::equal(std::begin(start.magic), std::end(start.magic), voxels::qvox_magic))
        throw bad_file("magic", "not a .qvox file");
    if (start.version != voxels::qvox_version)
        throw Error(ErrorKind::unsupported, "version " + std::to_string(start.version), {.field = "version"});
    if (start.size != voxels::header_bytes) throw bad_file("header", "its size is not 512");
    if (start.sections > voxels::most_sections) throw bad_file("sections", "more than 65,536");
    const std::uint64_t end = voxels::header_bytes + std::uint64_t{start.sections} * voxels::section_bytes;
    if (end > file.size) throw bad_file("sections", "the file ends inside the table of sections");
    std::vector<std::uint8_t> head(file.data.get(), file.data.get() + end);
    std::fill_n(head.begin() + voxels::checksum_at, 8, std::uint8_t{0});
    if (qvox_checksum(head) != start.checksum) throw bad_file("header", "its checksum is wrong: the file is damaged");
    if (start.flags > voxels::flag_compressed) throw Error(ErrorKind::unsupported, "unknown flags", {.field = "flags"});
    return start;
}

AnyVoxelGrid decode_source(const Source& file, const QvoxReadOptions& options) {
    const voxels::QvoxStart start = start_of(file);
    const bool compressed = start.flags & voxels::flag_compressed;
    const std::uint64_t end = voxels::header_bytes + std::uint64_t{start.sections} * voxels::section_bytes;
    std::vector<Section> sections;
    for (std::uint64_t at = voxels::header_bytes; at < end; at += voxels::section_bytes) {
        QvoxSection row;
        transfer(FieldReader{file.data.get() + at}, row);
        sections.push_back(section_of(row, compressed, end, file.size));
    }
    if (start.dimension == 2) return Reading<2>(file, sections, compressed, options).grid();
    if (start.dimension == 3) return Reading<3>(file, sections, compressed, options).grid();
    throw bad_file("dimension", "neither 2 nor 3");
}

}  // namespace

AnyVoxelGrid decode_qvox(std::span<const std::uint8_t> bytes, const QvoxReadOptions& options) {
    return decode_source(voxels::copy_of(bytes), options);
}

AnyVoxelGrid read_qvox(const std::filesystem::path& path, const QvoxReadOptions& options) try {
    return decode_source(voxels::map_file(path), options);
} catch (const Error& e) {
    throw e.in_file(path.string());
}

}  // namespace quadrat
