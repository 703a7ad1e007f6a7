// The bytes of .qvox (docs/reference/qvox.md): a header of 512 bytes, a table of sections of 80 bytes each, then the
// sections, each at a multiple of 64 so that a mapped file can be used in place. Every field is listed once, in
// transfer(), for reading and writing alike.
//
// The room of files: other rooms use <quadrat/voxels/qvox.hpp> and nothing of this folder.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/qvox.hpp>

#include "voxels/index/state.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace quadrat::voxels {

inline constexpr std::uint8_t qvox_magic[8] = {0x89, 'Q', 'V', 'O', 'X', 0x0d, 0x0a, 0x1a};
inline constexpr std::uint32_t header_bytes = 512, section_bytes = 80, checksum_at = 504, section_alignment = 64;
inline constexpr std::uint32_t qvox_version = 1, flag_compressed = 1;

/// What a section holds: a table of the index (1 + its number), the values of a channel, its background, a bit for each
/// sample that was given, or notes.
inline constexpr std::uint32_t first_table = 1, channel_section = 16, background_section = 17, given_section = 18,
                               notes_section = 19;
/// Sections of one file, and bytes of its notes.
inline constexpr std::uint32_t most_sections = 1u << 16, most_notes = 1u << 24;

[[nodiscard]] inline Error bad_file(std::string field, std::string what) {
    return Error(ErrorKind::bad_format, std::move(what), {.field = std::move(field)});
}

/// What transfer() fills from bytes. Numbers are little-endian; memcpy on the machines we build for.
struct FieldReader {
    const std::uint8_t* bytes;

    template <class T>
    void operator()(std::size_t at, T& value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(&value, bytes + at, sizeof(T));
    }
};
/// What transfer() writes to bytes, which were zero.
struct FieldWriter {
    std::uint8_t* bytes;

    template <class T>
    void operator()(std::size_t at, const T& value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        std::memcpy(bytes + at, &value, sizeof(T));
    }
};

/// The fields that say how to read the others.
struct QvoxStart {
    std::uint8_t magic[8] = {};
    std::uint32_t version = 0, size = 0, dimension = 0, flags = 0, sections = 0;
    std::uint64_t checksum = 0;  ///< of header and table of sections, with this field zero
};

/// The fields of D dimensions, as they stand in the file: not checked.
template <int D>
struct QvoxHeader {
    std::uint32_t layout = 0, encoding = 0, tag_bits = 0, channels = 0, block = 0;
    std::uint64_t entries = 0, values = 0;
    Voxel<D> origin = {};
    std::array<std::uint32_t, D> extent = {};
    typename PerfectHash<D>::Shape shape = {};
    MipmapShape<D> mipmap = {};
    GridTransform<D> transform = {};
};

/// One row of the table of sections.
struct QvoxSection {
    std::uint32_t kind = 0, type = 0, components = 0;
    char name[24] = {};                         ///< ends with a zero byte; of channels and their backgrounds
    std::uint64_t at = 0, stored = 0, raw = 0;  ///< place and bytes in the file, and bytes in memory
    std::uint64_t checksum = 0;                 ///< of the stored bytes
    std::uint16_t shape[4] = {};                ///< of a sample, ended by 0
};

/// `field(at, value)` for every field; `start` may be const.
template <class Field, class Start>
requires std::is_same_v<std::remove_const_t<Start>, QvoxStart>
void transfer(const Field& field, Start& start) {
    field(0, start.magic);
    field(8, start.version);
    field(12, start.size);
    field(16, start.dimension);
    field(28, start.flags);
    field(56, start.sections);
    field(checksum_at, start.checksum);
}

/// Tables of axes have room for three.
template <int D, class Field, class Header>
requires std::is_same_v<std::remove_const_t<Header>, QvoxHeader<D>>
void transfer(const Field& field, Header& h) {
    field(20, h.layout);
    field(24, h.encoding);
    field(32, h.entries);
    field(40, h.values);
    field(48, h.tag_bits);
    field(52, h.channels);
    field(60, h.block);
    field(64, h.origin);
    field(76, h.extent);
    field(88, h.shape.origin);
    field(100, h.shape.extent);
    field(112, h.shape.table);
    field(124, h.shape.offset);
    field(136, h.shape.scale);
    field(148, h.shape.entries);
    field(152, h.shape.bits);
    field(156, h.shape.linear);
    for (std::size_t a = 0; a < D; ++a) {
        field(160 + 12 * a, h.shape.m0[a]);
        field(196 + 12 * a, h.shape.m1[a]);
    }
    field(232, h.mipmap.levels);
    field(236, h.mipmap.origin);
    field(248, h.mipmap.extent);
    field(264, h.transform.origin);
    for (std::size_t a = 0; a < D; ++a) field(288 + 24 * a, h.transform.step[a]);
}

template <class Field, class Section>
requires std::is_same_v<std::remove_const_t<Section>, QvoxSection>
void transfer(const Field& field, Section& s) {
    field(0, s.kind);
    field(4, s.type);
    field(8, s.components);
    field(16, s.name);
    field(40, s.at);
    field(48, s.stored);
    field(56, s.raw);
    field(64, s.checksum);
    field(72, s.shape);
}

}  // namespace quadrat::voxels
