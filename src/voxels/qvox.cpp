// Reading and writing .qvox (docs/reference/qvox.md). A header of 512 bytes, a table of sections of 80 bytes each, then
// the sections, each at a multiple of 64 so that a mapped file can be used in place. The reader trusts nothing: sizes
// are derived from the header, compared with the sections and with the file before anything is allocated.
#include <quadrat/voxels/qvox.hpp>
#include <quadrat/voxels/samples.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>
#include <utility>

#if QUADRAT_HAS_ZSTD
#include <zstd.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define QUADRAT_HAS_MMAP 1
#endif

namespace quadrat {
namespace {

constexpr std::uint8_t magic[8] = {0x89, 'Q', 'V', 'O', 'X', 0x0d, 0x0a, 0x1a};
constexpr std::size_t header_bytes = 512, section_bytes = 80, checksum_at = 504, alignment = 64;
constexpr std::uint32_t version = 1, flag_compressed = 1;
enum Kind : std::uint32_t { offsets = 1, tags = 2, bits = 3, ranks = 4, bricks = 5, channel = 16, background = 17 };

#if QUADRAT_HAS_MMAP
// Private: values may be written without changing the file. Nothing is reserved for that: a file may be larger than the
// memory.
#if defined(MAP_NORESERVE)
constexpr int mapping = MAP_PRIVATE | MAP_NORESERVE;
#else
constexpr int mapping = MAP_PRIVATE;
#endif
#endif

Error bad(std::string field, std::string what) {
    return Error(ErrorKind::bad_format, std::move(what), {.field = std::move(field)});
}

// Little-endian numbers at fixed places; memcpy on the machines we build for.
template <class T>
void put(std::uint8_t* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}
template <class T>
T get(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

struct Section {
    std::uint32_t kind = 0;
    ValueType type = ValueType::bytes;
    std::uint32_t components = 0;
    std::string name;
    std::uint64_t at = 0, stored = 0, raw = 0, checksum = 0;
    const std::uint8_t* data = nullptr;  // when writing
};

template <int D>
void put_header(std::uint8_t* h, const VoxelGrid<D>& grid, std::uint32_t flags, std::uint32_t sections) {
    const auto p = grid.index.parts();
    std::copy_n(magic, 8, h);
    put<std::uint32_t>(h + 8, version);
    put<std::uint32_t>(h + 12, header_bytes);
    put<std::uint32_t>(h + 16, D);
    put<std::uint32_t>(h + 20, static_cast<std::uint32_t>(p.layout));
    put<std::uint32_t>(h + 24, static_cast<std::uint32_t>(p.encoding));
    put<std::uint32_t>(h + 28, flags);
    put<std::uint64_t>(h + 32, p.entries);
    put<std::uint64_t>(h + 40, grid.index.values());
    put<std::uint32_t>(h + 48, p.tag_bits);
    put<std::uint32_t>(h + 52, static_cast<std::uint32_t>(grid.channels.size()));
    put<std::uint32_t>(h + 56, sections);
    for (int a = 0; a < D; ++a) {
        put<std::int32_t>(h + 64 + 4 * a, p.origin[a]);
        put<std::uint32_t>(h + 76 + 4 * a, p.extent[a]);
        put<std::int32_t>(h + 88 + 4 * a, p.shape.origin[a]);
        put<std::uint32_t>(h + 100 + 4 * a, p.shape.extent[a]);
        put<std::uint32_t>(h + 112 + 4 * a, p.shape.table[a]);
        put<std::uint32_t>(h + 124 + 4 * a, p.shape.offset[a]);
        put<std::uint32_t>(h + 136 + 4 * a, p.shape.scale[a]);
        for (int b = 0; b < D; ++b) {
            put<std::uint32_t>(h + 160 + 4 * (3 * a + b), p.shape.m0[a][b]);
            put<std::uint32_t>(h + 196 + 4 * (3 * a + b), p.shape.m1[a][b]);
        }
    }
    put<std::uint32_t>(h + 148, p.shape.entries);
    put<std::int32_t>(h + 152, p.shape.bits);
    put<std::uint32_t>(h + 156, p.shape.linear);
    put<std::uint32_t>(h + 60, grid.block);
    put<std::uint32_t>(h + 232, grid.mipmap.levels);
    for (int a = 0; a < D; ++a) {
        put<std::int32_t>(h + 236 + 4 * a, grid.mipmap.origin[a]);
        put<std::uint32_t>(h + 248 + 4 * a, grid.mipmap.extent[static_cast<std::size_t>(a)]);
    }
}

void put_section(std::uint8_t* s, const Section& section) {
    put<std::uint32_t>(s, section.kind);
    put<std::uint32_t>(s + 4, static_cast<std::uint32_t>(section.type));
    put<std::uint32_t>(s + 8, section.components);
    std::copy(section.name.begin(), section.name.end(), s + 16);
    put<std::uint64_t>(s + 40, section.at);
    put<std::uint64_t>(s + 48, section.stored);
    put<std::uint64_t>(s + 56, section.raw);
    put<std::uint64_t>(s + 64, section.checksum);
}

// A file in memory or mapped; sections share its owner.
struct Source {
    std::shared_ptr<std::uint8_t> data;
    std::uint64_t size = 0;
};

Buffer load(const Source& file, const Section& s, bool compressed, const QvoxReadOptions& options) {
    const std::uint8_t* at = file.data.get() + s.at;
    if ((options.verify || compressed) && qvox_checksum({at, static_cast<std::size_t>(s.stored)}) != s.checksum)
        throw bad(s.name.empty() ? "section " + std::to_string(s.kind) : s.name,
                  "its checksum is wrong: the file is damaged");
    if (!compressed)
        return {std::shared_ptr<std::uint8_t>(file.data, file.data.get() + s.at), static_cast<std::size_t>(s.raw)};
#if QUADRAT_HAS_ZSTD
    if (ZSTD_getFrameContentSize(at, s.stored) != s.raw)
        throw bad("section", "its compressed size is not what it says");
    Buffer out = Buffer::zeros(s.raw);
    if (ZSTD_decompress(out.data.get(), s.raw, at, s.stored) != s.raw) throw bad("section", "cannot be decompressed");
    return out;
#else
    throw Error(ErrorKind::unsupported, "compressed, and this build has no zstd");
#endif
}

// Blocks and mipmap of a grid whose index is read.
template <int D>
void get_sampling(const std::uint8_t* h, VoxelGrid<D>& grid) {
    grid.block = get<std::uint32_t>(h + 60);
    if (grid.block > 64) throw bad("block", "larger than 64");
    for (const std::uint32_t e : grid.index.extent())
        if (std::uint64_t{e} * grid.block >= std::uint64_t{1} << 22) throw bad("block", "too large for the domain");
    grid.mipmap.levels = get<std::uint32_t>(h + 232);
    if (grid.mipmap.levels > 32) throw bad("mipmap", "more than 32 levels");
    for (int a = 0; a < D && grid.mipmap.levels; ++a) {
        grid.mipmap.origin[a] = get<std::int32_t>(h + 236 + 4 * a);
        auto& extent = grid.mipmap.extent[static_cast<std::size_t>(a)];
        extent = get<std::uint32_t>(h + 248 + 4 * a);
        if (extent < 1 || extent > 1u << 21) throw bad("mipmap", "its extent is out of range");
    }
}

template <int D>
VoxelGrid<D> decode(const Source& file, const std::vector<Section>& sections, const QvoxReadOptions& options) {
    const std::uint8_t* h = file.data.get();
    typename VoxelIndex<D>::Parts p;
    const auto layout = get<std::uint32_t>(h + 20), encoding = get<std::uint32_t>(h + 24);
    if (layout < 1 || layout > 3) throw bad("layout", "unknown");
    if (encoding < 1 || encoding > 5) throw bad("encoding", "unknown");
    p.layout = static_cast<Layout>(layout);
    p.encoding = static_cast<Encoding>(encoding);
    const auto entries = get<std::uint64_t>(h + 32);
    if (entries > std::uint64_t{1} << 27) throw bad("entries", "more than 2^27");
    p.entries = static_cast<std::uint32_t>(entries);
    p.tag_bits = get<std::uint32_t>(h + 48);
    for (int a = 0; a < D; ++a) {
        p.origin[a] = get<std::int32_t>(h + 64 + 4 * a);
        p.extent[a] = get<std::uint32_t>(h + 76 + 4 * a);
        p.shape.origin[a] = get<std::int32_t>(h + 88 + 4 * a);
        p.shape.extent[a] = get<std::uint32_t>(h + 100 + 4 * a);
        p.shape.table[a] = get<std::uint32_t>(h + 112 + 4 * a);
        p.shape.offset[a] = get<std::uint32_t>(h + 124 + 4 * a);
        p.shape.scale[a] = get<std::uint32_t>(h + 136 + 4 * a);
        for (int b = 0; b < D; ++b) {
            p.shape.m0[a][b] = get<std::uint32_t>(h + 160 + 4 * (3 * a + b));
            p.shape.m1[a][b] = get<std::uint32_t>(h + 196 + 4 * (3 * a + b));
        }
    }
    p.shape.entries = get<std::uint32_t>(h + 148);
    p.shape.bits = get<std::int32_t>(h + 152);
    p.shape.linear = get<std::uint32_t>(h + 156);
    const auto values = get<std::uint64_t>(h + 40);
    const bool compressed = get<std::uint32_t>(h + 28) & flag_compressed;

    // Sizes first, then memory.
    const auto sizes = VoxelIndex<D>::part_sizes(p);
    std::uint64_t needed = 0;
    std::uint32_t channels = 0;
    bool seen[6] = {};
    for (const Section& s : sections) {
        std::uint64_t want = 0;
        switch (s.kind) {
            case offsets:
                want = sizes.offsets;
                break;
            case tags:
                want = sizes.tags;
                break;
            case bits:
                want = sizes.bits;
                break;
            case ranks:
                want = sizes.ranks;
                break;
            case bricks:
                want = sizes.bricks;
                break;
            case channel: {
                if (values > std::uint64_t{1} << 32) throw bad("values", "more than 2^32");
                want = values * (size_of(s.type) * s.components);
                ++channels;
                break;
            }
            case background:
                want = size_of(s.type) * s.components;
                break;
            default:
                throw bad("section", "of unknown kind " + std::to_string(s.kind));
        }
        if (s.kind < 6 && std::exchange(seen[s.kind], true)) throw bad("section", "appears twice");
        if (s.raw != want)
            throw bad("section", "its size is " + std::to_string(s.raw) + ", not " + std::to_string(want));
        needed += compressed ? s.raw : 0;
    }
    if (needed > options.max_bytes)
        throw Error(ErrorKind::too_large, "needs " + std::to_string(needed) + " bytes of memory",
                    {.field = "max_bytes"});
    if (channels != get<std::uint32_t>(h + 52)) throw bad("channels", "not as many as the header says");
    VoxelGrid<D> grid;
    for (const Section& s : sections) {
        if (s.kind >= channel) continue;
        Buffer b = load(file, s, compressed, options);
        switch (s.kind) {
            case offsets:
                p.offsets = std::move(b);
                break;
            case tags:
                p.tags = std::move(b);
                break;
            case bits:
                p.bits = std::move(b);
                break;
            case ranks:
                p.ranks = std::move(b);
                break;
            default:
                p.bricks = std::move(b);
                break;
        }
    }
    grid.index = VoxelIndex<D>::from_parts(std::move(p));
    if (grid.index.values() != values) throw bad("values", "not as many as the index has");
    get_sampling<D>(h, grid);
    const std::uint32_t samples = samples_per_value(grid);
    for (const Section& s : sections) {
        if (s.kind != channel) continue;
        if (s.name.empty() || grid.channel(s.name)) throw bad("channel", "without a name of its own");
        if (s.components < 1 || s.components % samples != 0) throw bad("channel", "not in whole samples");
        grid.channels.push_back({s.name, s.type, s.components, load(file, s, compressed, options)});
    }
    for (const Section& s : sections) {
        if (s.kind != background) continue;
        Channel* c = grid.channel(s.name);
        if (!c || !c->background.empty() || s.raw * samples != c->value_bytes())
            throw bad("background", "not of a channel of this file");
        const Buffer b = load(file, s, compressed, options);
        c->background.assign(b.data.get(), b.data.get() + s.raw);
    }
    return grid;
}

AnyVoxelGrid decode_source(const Source& file, const QvoxReadOptions& options) {
    if (file.size < header_bytes) throw bad("header", "the file is shorter than 512 bytes");
    const std::uint8_t* h = file.data.get();
    if (!std::equal(magic, magic + 8, h)) throw bad("magic", "not a .qvox file");
    if (get<std::uint32_t>(h + 8) != version)
        throw Error(ErrorKind::unsupported, "version " + std::to_string(get<std::uint32_t>(h + 8)),
                    {.field = "version"});
    if (get<std::uint32_t>(h + 12) != header_bytes) throw bad("header", "its size is not 512");
    const auto count = get<std::uint32_t>(h + 56);
    if (count > 1024) throw bad("sections", "more than 1024");
    const std::uint64_t end = header_bytes + std::uint64_t{count} * section_bytes;
    if (end > file.size) throw bad("sections", "the file ends inside the table of sections");
    std::vector<std::uint8_t> head(h, h + end);
    std::fill_n(head.begin() + checksum_at, 8, std::uint8_t{0});
    if (qvox_checksum(head) != get<std::uint64_t>(h + checksum_at))
        throw bad("header", "its checksum is wrong: the file is damaged");
    const auto flags = get<std::uint32_t>(h + 28);
    if (flags > flag_compressed) throw Error(ErrorKind::unsupported, "unknown flags", {.field = "flags"});
    std::vector<Section> sections(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint8_t* at = h + header_bytes + i * section_bytes;
        Section& s = sections[i];
        s.kind = get<std::uint32_t>(at);
        if (get<std::uint32_t>(at + 4) > static_cast<std::uint32_t>(ValueType::f64)) throw bad("type", "unknown");
        s.type = static_cast<ValueType>(get<std::uint32_t>(at + 4));
        s.components = get<std::uint32_t>(at + 8);
        if (s.components > 4096) throw bad("components", "more than 4096");
        s.name.assign(reinterpret_cast<const char*>(at + 16), 24);
        s.name.resize(std::min<std::size_t>(23, s.name.find('\0') == std::string::npos ? 23 : s.name.find('\0')));
        s.at = get<std::uint64_t>(at + 40);
        s.stored = get<std::uint64_t>(at + 48);
        s.raw = get<std::uint64_t>(at + 56);
        s.checksum = get<std::uint64_t>(at + 64);
        if (s.at % alignment != 0 || s.at < end || s.at > file.size || s.stored > file.size - s.at)
            throw bad("section", "it does not lie within the file, which may be truncated");
        // zstd cannot shrink by more than this, so a small file cannot ask for much memory.
        if (flags & flag_compressed ? s.raw / 65536 > s.stored : s.raw != s.stored)
            throw bad("section", "its two sizes do not fit");
    }
    switch (get<std::uint32_t>(h + 16)) {
        case 2:
            return decode<2>(file, sections, options);
        case 3:
            return decode<3>(file, sections, options);
        default:
            throw bad("dimension", "neither 2 nor 3");
    }
}

}  // namespace

std::uint64_t qvox_checksum(std::span<const std::uint8_t> bytes) {
    constexpr std::uint64_t prime = 0x9E3779B97F4A7C15u;
    std::uint64_t lane[4] = {prime, prime ^ 1, prime ^ 2, prime ^ 3};
    const auto mix = [](std::uint64_t h, std::uint64_t w) {
        h = (h ^ w) * 0xBF58476D1CE4E5B9u;
        return h ^ h >> 29;
    };
    std::size_t i = 0;
    for (; i + 32 <= bytes.size(); i += 32)
        for (std::size_t k = 0; k < 4; ++k) lane[k] = mix(lane[k], get<std::uint64_t>(bytes.data() + i + 8 * k));
    std::uint64_t h = mix(mix(mix(lane[0], lane[1]), lane[2]), lane[3]);
    for (; i < bytes.size(); ++i) h = mix(h, bytes[i]);
    return mix(h, bytes.size());
}

namespace {

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

template <int D>
std::vector<Section> sections_of(const VoxelGrid<D>& grid) {
    const auto p = grid.index.parts();
    std::vector<Section> sections;
    const auto add = [&](Kind kind, const Buffer& b) {
        if (b.size != 0) sections.push_back({kind, ValueType::bytes, 0, {}, 0, b.size, b.size, 0, b.data.get()});
    };
    if (p.layout != Layout::bits) add(offsets, p.offsets);
    add(tags, p.tags);
    add(bits, p.bits);
    add(ranks, p.ranks);
    add(bricks, p.bricks);
    for (const Channel& c : grid.channels)
        sections.push_back(
            {channel, c.type, c.components, c.name, 0, c.buffer.size, c.buffer.size, 0, c.buffer.data.get()});
    for (const Channel& c : grid.channels)
        if (!c.background.empty())
            sections.push_back({background, c.type, c.components / samples_per_value(grid), c.name, 0,
                                c.background.size(), c.background.size(), 0, c.background.data()});
    return sections;
}

// Sections go out one by one, so a file takes no second copy of its values in memory; the header follows.
template <int D, class Sink>
void write_parts(const VoxelGrid<D>& grid, const QvoxWriteOptions& options, Sink& sink) {
    std::vector<Section> sections = sections_of(grid);
    std::vector<std::uint8_t> head(header_bytes + sections.size() * section_bytes), packed;
    std::uint64_t end = head.size();
    for (Section& s : sections) {
        s.at = (end + alignment - 1) / alignment * alignment;
        std::span<const std::uint8_t> stored(s.data, static_cast<std::size_t>(s.raw));
        if (options.compression > 0) {
#if QUADRAT_HAS_ZSTD
            packed.resize(ZSTD_compressBound(stored.size()));
            const std::size_t got =
                ZSTD_compress(packed.data(), packed.size(), stored.data(), stored.size(), options.compression);
            if (ZSTD_isError(got)) throw Error(ErrorKind::cannot_write, ZSTD_getErrorName(got));
            stored = std::span(packed).first(got);
#else
            throw Error(ErrorKind::unsupported, "this build has no zstd", {.field = "compression"});
#endif
        }
        s.stored = stored.size();
        s.checksum = qvox_checksum(stored);
        sink.put(s.at, stored);
        end = s.at + s.stored;
    }
    put_header<D>(head.data(), grid, options.compression > 0 ? flag_compressed : 0,
                  static_cast<std::uint32_t>(sections.size()));
    for (std::size_t i = 0; i < sections.size(); ++i)
        put_section(head.data() + header_bytes + i * section_bytes, sections[i]);
    put<std::uint64_t>(head.data() + checksum_at, qvox_checksum(head));
    sink.put(0, head);
}

}  // namespace

template <int D>
std::vector<std::uint8_t> encode_qvox(const VoxelGrid<D>& grid, const QvoxWriteOptions& options) {
    MemorySink sink;
    write_parts(grid, options, sink);
    return std::move(sink.bytes);
}

template <int D>
void write_qvox(const VoxelGrid<D>& grid, const std::filesystem::path& path, const QvoxWriteOptions& options) {
    const std::filesystem::path part = path.string() + ".part";
    const auto fail = [&](const char* what) {
        std::error_code ignored;
        std::filesystem::remove(part, ignored);
        return Error(ErrorKind::cannot_write, what, {.file = path.string()});
    };
    {
        FileSink sink{std::ofstream(part, std::ios::binary | std::ios::trunc)};
        if (!sink.file) throw fail("cannot be created");
        try {
            write_parts(grid, options, sink);
        } catch (...) {
            std::error_code ignored;
            std::filesystem::remove(part, ignored);
            throw;
        }
        if (!sink.file.flush()) throw fail("cannot be written in full");
    }
    std::error_code error;
    std::filesystem::rename(part, path, error);
    if (error) throw fail("cannot be created");
}

AnyVoxelGrid decode_qvox(std::span<const std::uint8_t> bytes, const QvoxReadOptions& options) {
    Buffer copy = Buffer::zeros(bytes.size() + 8);
    std::copy(bytes.begin(), bytes.end(), copy.data.get());
    return decode_source({copy.data, bytes.size()}, options);
}

AnyVoxelGrid read_qvox(const std::filesystem::path& path, const QvoxReadOptions& options) try {
    const auto cannot = [] { return Error(ErrorKind::cannot_read, "cannot be read"); };
#if QUADRAT_HAS_MMAP
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw cannot();
    struct stat st {};
    if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        ::close(fd);
        throw cannot();
    }
    const auto size = static_cast<std::uint64_t>(st.st_size);
    if (size < header_bytes) {
        ::close(fd);
        throw bad("header", "the file is shorter than 512 bytes");
    }
    void* map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, mapping, fd, 0);
    ::close(fd);
    if (map == MAP_FAILED) throw cannot();
    const std::shared_ptr<std::uint8_t> data(static_cast<std::uint8_t*>(map),
                                             [size](std::uint8_t* p) { ::munmap(p, size); });
    return decode_source({data, size}, options);
#else
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw cannot();
    Buffer whole = Buffer::zeros(static_cast<std::size_t>(file.tellg()) + 8);
    file.seekg(0);
    if (!file.read(reinterpret_cast<char*>(whole.data.get()), static_cast<std::streamsize>(whole.size - 8)))
        throw cannot();
    return decode_source({whole.data, whole.size - 8}, options);
#endif
} catch (const Error& e) {
    throw e.in_file(path.string());
}

template std::vector<std::uint8_t> encode_qvox<2>(const VoxelGrid<2>&, const QvoxWriteOptions&);
template std::vector<std::uint8_t> encode_qvox<3>(const VoxelGrid<3>&, const QvoxWriteOptions&);
template void write_qvox<2>(const VoxelGrid<2>&, const std::filesystem::path&, const QvoxWriteOptions&);
template void write_qvox<3>(const VoxelGrid<3>&, const std::filesystem::path&, const QvoxWriteOptions&);

}  // namespace quadrat
