// Building and reading a VoxelIndex; the layouts and encodings are explained in its header.
#include <quadrat/voxels/voxel_index.hpp>

#include <quadrat/error.hpp>

#include "voxels/batch.hpp"
#include "voxels/encode.hpp"
#include "voxels/memory.hpp"
#include "voxels/slot_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace quadrat {

using voxels::bits_for;

const char* name(Layout layout) {
    constexpr const char* names[] = {"auto", "voxel", "brick", "bits"};
    return names[static_cast<int>(layout)];
}

const char* name(Encoding encoding) {
    constexpr const char* names[] = {"auto",         "constrained",   "domain-bit",
                                     "position-tag", "position-hash", "bucket-tag"};
    return names[static_cast<int>(encoding)];
}

Buffer Buffer::zeros(std::size_t bytes) {
    return {voxels::zeroed(bytes), bytes};
}

namespace {

template <int D>
std::uint64_t domain_cells(const std::array<std::uint32_t, D>& extent) {
    std::uint64_t cells = 1;
    for (const std::uint32_t e : extent) cells *= e;
    return cells;
}

template <int D>
Layout smallest_layout(std::span<const Voxel<D>> positions, const VoxelOptions& options) {
    const auto bits = voxels::layout_bits<D>(positions, options);
    if (bits.bits <= bits.voxel && bits.bits <= bits.brick) return Layout::bits;
    return bits.brick < bits.voxel ? Layout::brick : Layout::voxel;
}

// Bricks and bits know absence in one way only; another one that was asked for is not dropped in silence.
void check_encoding(Layout layout, Encoding encoding) {
    if (encoding == Encoding::automatic || layout == Layout::automatic || layout == Layout::voxel) return;
    const Encoding own = layout == Layout::brick ? Encoding::bucket_tag : Encoding::domain_bit;
    if (encoding != own)
        throw Error(ErrorKind::unsupported,
                    std::string("the ") + name(layout) + " layout has " + name(own) + " only, not " + name(encoding) +
                        "; take the voxel layout",
                    {.field = "encoding"});
}

}  // namespace

template <int D>
VoxelIndex<D> VoxelIndex<D>::build(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                   PerfectHashReport* report) {
    check_encoding(options.layout, options.encoding);
    VoxelIndex x;
    x.layout_ = options.layout;
    if (positions.empty()) {
        x.layout_ = Layout::voxel;
        x.hash_ = PerfectHash<D>::build({});
        (void)x.encode(positions, Encoding::bucket_tag);
        x.settle();
        return x;
    }
    if (positions.size() > (std::size_t{1} << 27)) throw Error(ErrorKind::too_large, "more than 2^27 positions");
    if (x.layout_ == Layout::automatic)
        x.layout_ = options.encoding == Encoding::automatic ? smallest_layout<D>(positions, options) : Layout::voxel;
    x.entries_ = static_cast<std::uint32_t>(positions.size());
    if (x.layout_ == Layout::bits) {
        x.build_bits(positions);
    } else if (x.layout_ == Layout::brick) {
        try {
            x.build_bricks(positions, options, report);
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::unsupported || options.layout != Layout::automatic) throw;
            VoxelOptions again = options;
            again.layout = Layout::voxel;
            return build(positions, again, report);
        }
    } else {
        PerfectHashOptions h;
        h.construction = options.construction;
        h.coherence = options.coherence;
        h.seed = options.seed;
        h.offset_bits = options.offset_bits;
        h.short_tags = options.encoding == Encoding::automatic || options.encoding == Encoding::bucket_tag;
        h.executor = options.executor;
        h.watch = options.watch;
        do {
            x.hash_ = PerfectHash<D>::build(positions, h, report);
            x.origin_ = x.hash_.origin();
            x.extent_ = x.hash_.extent();
        } while (!x.encode(positions, options.encoding) && std::exchange(h.short_tags, 0) != 0);
    }
    x.settle();
    return x;
}

// Derives what find() needs from the parts.
template <int D>
void VoxelIndex<D>::settle() {
    tag_mask_ = tag_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << tag_bits_) - 1;
    tags_ = tag_buffer_.data.get();
    bricks_ = brick_buffer_.data.get();
    brick_stride_ = 12 + (tag_bits_ + 7) / 8;
    constexpr std::int32_t low = (1 << brick_shift) - 1;
    for (int a = 0; a < D; ++a) {
        brick_phase_[a] = static_cast<std::uint32_t>(origin_[a] & low);
        axis_bits_[a] = bits_for(std::uint64_t{extent_[a]} + (a == D - 1));
    }
    switch (layout_) {
        case Layout::bits:
            mode_ = Mode::bits;
            break;
        case Layout::brick:
            mode_ = Mode::brick;
            break;
        default:
            switch (encoding_) {
                case Encoding::constrained:
                    mode_ = Mode::constrained;
                    break;
                case Encoding::domain_bit:
                    mode_ = Mode::domain_bit;
                    break;
                case Encoding::position_tag:
                    mode_ = Mode::position_tag;
                    break;
                case Encoding::position_hash:
                    mode_ = Mode::position_hash;
                    break;
                default:
                    mode_ = Mode::bucket_tag;
                    break;
            }
    }
    values_ = layout_ == Layout::voxel ? hash_.slots() : entries_;
    if (entries_ == 0) {
        values_ = 0;
        extent_ = {};
    }
    fast_ = Fast::none;
    if (hash_.tabled() && mode_ == Mode::constrained) fast_ = Fast::constrained;
    if (hash_.tabled() && mode_ == Mode::bucket_tag) fast_ = Fast::bucket_tag;
    if (mode_ == Mode::brick) fast_ = Fast::brick;
    narrow_ = Fast::none;
    if constexpr (D == 3 && NarrowHash::available) {
        if ((mode_ == Mode::constrained || mode_ == Mode::bucket_tag) && NarrowHash::fits(hash_)) {
            narrow_hash_ = NarrowHash(hash_);
            narrow_ = mode_ == Mode::constrained ? Fast::constrained : Fast::bucket_tag;
        }
    }
    Local start{};
    if (fast_ == Fast::brick) start = brick_phase_;
    if (fast_ == Fast::constrained || fast_ == Fast::bucket_tag) start = hash_.table_starts();
    box_ = DomainBox<D>(origin_, extent_, start);
}

// The paths that find() does not inline.
template <int D>
std::uint32_t VoxelIndex<D>::find_local(Local local) const {
    if (mode_ == Mode::constrained) return hash_.place(local).slot;
    if (mode_ == Mode::bucket_tag) {
        const auto place = hash_.place(local);
        return has_tag(place.slot, place.bucket) ? place.slot : absent;
    }
    if (mode_ == Mode::bits) {
        const std::uint64_t k = linear(local);
        const std::uint8_t* words = bit_buffer_.data.get();
        std::uint64_t word;
        std::memcpy(&word, words + (k >> 6) * 8, 8);
        if ((word >> (k & 63) & 1) == 0) return absent;
        std::uint32_t rank;
        std::memcpy(&rank, rank_buffer_.data.get() + (k >> 9) * 4, 4);
        rank += static_cast<std::uint32_t>(std::popcount(word & ((std::uint64_t{1} << (k & 63)) - 1)));
        for (std::uint64_t w = k >> 9 << 3; w < k >> 6; ++w) {
            std::memcpy(&word, words + w * 8, 8);
            rank += static_cast<std::uint32_t>(std::popcount(word));
        }
        return rank < values_ ? rank : absent;
    }
    if (mode_ == Mode::domain_bit) {
        const std::uint64_t k = linear(local);
        return bit_buffer_.data.get()[k >> 3] >> (k & 7) & 1 ? hash_.place(local).slot : absent;
    }
    if (mode_ == Mode::empty) return absent;
    const std::uint32_t slot = hash_.place(local).slot;
    const std::uint64_t tag = tag_at(slot);
    if (mode_ == Mode::position_tag) return tag == position_tag(local) ? slot : absent;
    const std::uint32_t h = voxels::hash_local<D>(local, static_cast<std::uint32_t>(tag & 255));
    return h == tag >> 8 ? slot : absent;
}

template <int D>
void VoxelIndex<D>::find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out, const void* values,
                         std::size_t value_bytes) const {
    if (p.size() != out.size())
        throw Error(ErrorKind::bad_shape, "positions and results differ in number: " + std::to_string(p.size()) +
                                              " and " + std::to_string(out.size()));
    using Check = voxels::BatchIndex::Check;
    const bool known = mode_ == Mode::constrained || mode_ == Mode::bucket_tag || mode_ == Mode::brick;
    if (!known || entries_ == 0 || !hash_.identity() || hash_.offset_bits() != 8) {
        for (std::size_t i = 0; i < p.size(); ++i) out[i] = find(p[i]);
        return;
    }
    voxels::BatchIndex x;
    x.check = mode_ == Mode::brick ? Check::bricks : mode_ == Mode::bucket_tag ? Check::tags : Check::none;
    x.brick_shift = mode_ == Mode::brick ? brick_shift : 0;
    for (int a = 0; a < 3; ++a) {
        x.offset_size[a] = a < D ? hash_.offset_size(a) : 1;
        x.table_size[a] = a < D ? hash_.table_size(a) : 1;
        if (a >= D) continue;
        x.origin[a] = static_cast<std::uint32_t>(origin_[a]);
        x.extent[a] = extent_[static_cast<std::size_t>(a)];
        x.phase[a] = mode_ == Mode::brick ? brick_phase_[static_cast<std::size_t>(a)] : 0;
        x.scale[a] = hash_.scale(a);
    }
    x.slots = hash_.slots();
    x.offsets = hash_.offsets().data();
    x.tags = mode_ == Mode::brick ? bricks_ : tags_;
    x.tag_bits = tag_bits_;
    x.tag_mask = tag_mask_;
    x.brick_stride = brick_stride_;
    x.values = values_;
    x.data = static_cast<const std::uint8_t*>(values);
    x.data_bytes = value_bytes;
    voxels::find_batch<D>(x, reinterpret_cast<const std::int32_t*>(p.data()), p.size(), out.data());
}

template <int D>
std::uint64_t VoxelIndex<D>::bytes() const {
    std::uint64_t sum = 0;
    const auto whole = [&](const Buffer& b) { return b.size > 8 ? b.size - 8 : 0; };
    if (layout_ != Layout::bits) sum += whole({nullptr, hash_.offsets().size()});
    return sum + whole(tag_buffer_) + whole(bit_buffer_) + whole(rank_buffer_) + whole(brick_buffer_);
}

template <int D>
double VoxelIndex<D>::overhead_bits_per_entry(std::size_t value_bytes) const {
    if (entries_ == 0) return 0;
    const auto all =
        static_cast<double>(bytes()) + static_cast<double>(values_ - entries_) * static_cast<double>(value_bytes);
    return 8 * all / entries_;
}

template <int D>
template <class Fn>
void VoxelIndex<D>::visit(Fn&& fn) const {
    const auto give = [&](const Local& local, std::uint32_t at) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) {
            if (local[a] >= extent_[a]) return;  // only in a broken file
            p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(origin_[a]) + local[a]);
        }
        if (at < values_) fn(p, at);
    };
    if (entries_ == 0) return;
    if (mode_ == Mode::constrained)
        throw Error(ErrorKind::unsupported, "constrained voxels do not store where they are", {.field = "encoding"});
    std::optional<voxels::SlotReader<D>> reader;
    if (mode_ == Mode::bucket_tag || mode_ == Mode::brick) reader.emplace(hash_, tag_bits_);
    if (mode_ == Mode::bucket_tag) {
        std::uint32_t bucket = 0;
        for (std::uint32_t s = 0; s < hash_.slots(); ++s)
            if (reader->bucket(s, tag_at(s), bucket)) give(hash_.position({s, bucket}), s);
        return;
    }
    if (mode_ == Mode::position_tag) {
        for (std::uint32_t s = 0; s < hash_.slots(); ++s) {
            const std::uint64_t tag = tag_at(s);
            if (tag == tag_mask_) continue;
            Local local;
            std::uint64_t rest = tag;
            for (int a = 0; a < D; ++a) {
                local[a] = static_cast<std::uint32_t>(rest & ((std::uint64_t{1} << axis_bits_[a]) - 1));
                rest >>= axis_bits_[a];
            }
            give(local, s);
        }
        return;
    }
    if (mode_ == Mode::brick) {
        for (std::uint32_t s = 0; s < hash_.slots(); ++s) {
            const std::uint8_t* record = bricks_ + std::size_t{s} * brick_stride_;
            std::uint64_t mask, rest;
            std::memcpy(&mask, record, 8);
            std::memcpy(&rest, record + 8, 8);
            std::uint32_t bucket = 0;
            if (mask == 0 || !reader->bucket(s, rest >> 32 & tag_mask_, bucket)) continue;
            const auto brick = hash_.position({s, bucket});
            auto at = static_cast<std::uint32_t>(rest);
            for (; mask != 0; mask &= mask - 1, ++at) {
                auto bit = static_cast<std::uint32_t>(std::countr_zero(mask));
                Local local;
                for (int a = 0; a < D; ++a) {
                    local[a] = (brick[a] << brick_shift | (bit & ((1u << brick_shift) - 1))) - brick_phase_[a];
                    bit >>= brick_shift;
                }
                give(local, at);
            }
        }
        return;
    }
    // By walking the domain: bits, domain bits (a word at a time), position hashes.
    Local local{};
    const std::uint64_t cells = domain_cells<D>(extent_);
    std::uint32_t rank = 0;
    for (std::uint64_t k = 0; k < cells; ++k) {
        if (mode_ == Mode::position_hash) {
            if (const std::uint32_t s = find_local(local); s != absent) give(local, s);
        } else if (bit_buffer_.data.get()[k >> 3] >> (k & 7) & 1) {
            give(local, mode_ == Mode::bits ? rank++ : hash_.place(local).slot);
        }
        for (int a = 0; a < D && ++local[a] == extent_[a]; ++a)
            if (a + 1 < D) local[a] = 0;
    }
}

template <int D>
void VoxelIndex<D>::walk(void (*part)(std::span<const Entry>, void*), void* to) const {
    std::vector<Entry> some;
    some.reserve(256);
    visit([&](const Voxel<D>& p, std::uint32_t at) {
        some.emplace_back(p, at);
        if (some.size() < some.capacity()) return;
        part(some, to);
        some.clear();
    });
    part(some, to);
}

template <int D>
std::vector<typename VoxelIndex<D>::Entry> VoxelIndex<D>::sorted() const {
    std::vector<Entry> out;
    visit([&](const Voxel<D>& p, std::uint32_t at) { out.emplace_back(p, at); });
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
        for (int k = D - 1; k >= 0; --k)
            if (a.first[k] != b.first[k]) return a.first[k] < b.first[k];
        return a.second < b.second;
    });
    return out;
}

template <int D>
typename VoxelIndex<D>::Parts VoxelIndex<D>::parts() const {
    Parts p;
    p.layout = layout_;
    p.encoding = encoding_;
    p.entries = entries_;
    p.tag_bits = tag_bits_;
    p.origin = origin_;
    p.extent = extent_;
    p.shape = hash_.shape();
    p.offsets = {std::const_pointer_cast<std::uint8_t>(std::shared_ptr<const std::uint8_t>(hash_.owner())),
                 layout_ == Layout::bits ? 0 : hash_.offsets().size()};
    p.tags = tag_buffer_;
    p.bits = bit_buffer_;
    p.ranks = rank_buffer_;
    p.bricks = brick_buffer_;
    return p;
}

template <int D>
typename VoxelIndex<D>::PartSizes VoxelIndex<D>::part_sizes(const Parts& p) {
    const auto bad = [](const char* field, const char* what) {
        return Error(ErrorKind::bad_format, what, {.field = field});
    };
    std::uint64_t cells = 1, slots = 1;
    for (int a = 0; a < D; ++a) {
        if (p.extent[a] > (1u << 21)) throw bad("domain", "its extent is out of range");
        if ((p.extent[a] == 0) != (p.entries == 0)) throw bad("domain", "empty with entries, or the other way round");
        cells *= p.extent[a];
        if (p.shape.table[a] > 65536) throw bad("table", "its size is out of range");
        slots *= p.shape.table[a];
    }
    if (p.entries > cells) throw bad("entries", "more than the domain has positions");
    if (p.tag_bits > 64) throw bad("tag bits", "more than 64");
    PartSizes s;
    if (p.layout == Layout::bits) {
        if (cells >= std::uint64_t{1} << 40) throw bad("domain", "too large for bits");
        s.bits = (cells + 63) / 64 * 8 + 8;
        s.ranks = (cells + 511) / 512 * 4 + 8;
        return s;
    }
    s.offsets = PerfectHash<D>::offsets_size(p.shape);
    if (s.offsets == 0) throw bad("offset table", "its size or its bits per coordinate are out of range");
    if (p.layout == Layout::brick) {
        if (p.tag_bits < 1 || p.tag_bits > 32) throw bad("tag bits", "not in 1..32");
        s.bricks = slots * (12 + (p.tag_bits + 7) / 8) + 8;
        return s;
    }
    if (p.layout != Layout::voxel) throw bad("layout", "unknown");
    switch (p.encoding) {
        case Encoding::constrained:
            break;
        case Encoding::domain_bit:
            if (cells >= std::uint64_t{1} << 40) throw bad("domain", "too large for domain bits");
            s.bits = (cells + 63) / 64 * 8 + 8;
            break;
        case Encoding::position_hash:
            if (p.tag_bits != 16) throw bad("tag bits", "not 16");
            s.tags = slots * 2 + 8;
            break;
        case Encoding::position_tag:
        case Encoding::bucket_tag:
            if (p.tag_bits < 1 || (p.tag_bits > 56 && p.tag_bits != 64)) throw bad("tag bits", "not in 1..56 or 64");
            s.tags = (slots * p.tag_bits + 7) / 8 + 8;
            break;
        default:
            throw bad("encoding", "unknown");
    }
    return s;
}

template <int D>
VoxelIndex<D> VoxelIndex<D>::from_parts(Parts p) {
    const auto bad = [](const char* field, const char* what) {
        return Error(ErrorKind::bad_format, what, {.field = field});
    };
    const PartSizes sizes = part_sizes(p);
    const auto check = [&](const Buffer& b, std::uint64_t want, const char* field) {
        if (b.size < want) throw bad(field, "shorter than the header says");
    };
    check(p.offsets, sizes.offsets, "offset table");
    check(p.tags, sizes.tags, "tags");
    check(p.bits, sizes.bits, "bits");
    check(p.ranks, sizes.ranks, "ranks");
    check(p.bricks, sizes.bricks, "bricks");
    VoxelIndex x;
    if (p.layout != Layout::bits) {
        x.hash_ = PerfectHash<D>::from_parts(p.shape, p.offsets.data, p.offsets.size);
        for (int a = 0; a < D; ++a) {
            const std::uint64_t phase = static_cast<std::uint32_t>(p.origin[a]) & ((1u << brick_shift) - 1);
            const std::uint64_t reach = p.layout == Layout::brick
                                            ? (p.extent[a] + phase + (1u << brick_shift) - 1) >> brick_shift
                                            : p.extent[a];
            const std::int32_t first = p.layout == Layout::brick ? p.origin[a] >> brick_shift : p.origin[a];
            if (p.entries != 0 && (p.shape.extent[a] != reach || p.shape.origin[a] != first))
                throw bad("domain", "not that of the hash");
        }
        const bool tags_by_bucket = p.layout == Layout::brick || p.encoding == Encoding::bucket_tag;
        if (tags_by_bucket && p.entries != 0 && !x.hash_.unique_tags())
            throw bad("table", "its sizes give no unique tags");
        // A walk tries all buckets that agree with a tag.
        if (tags_by_bucket && p.tag_bits < 32 && x.hash_.buckets() >> p.tag_bits > 256)
            throw bad("tag bits", "too few for so many buckets");
        if (p.layout == Layout::voxel && p.entries > x.hash_.slots()) throw bad("entries", "more than slots");
    }
    x.layout_ = p.layout;
    x.encoding_ = p.encoding;
    x.entries_ = p.entries;
    x.tag_bits_ = p.tag_bits;
    x.origin_ = p.origin;
    x.extent_ = p.extent;
    x.tag_buffer_ = std::move(p.tags);
    x.bit_buffer_ = std::move(p.bits);
    x.rank_buffer_ = std::move(p.ranks);
    x.brick_buffer_ = std::move(p.bricks);
    x.settle();
    std::uint64_t tag = 0;
    for (int a = 0; a < D; ++a) tag += static_cast<std::uint64_t>(x.axis_bits_[a]);
    if (x.mode_ == Mode::position_tag && p.tag_bits < tag) throw bad("tag bits", "too few for the domain");
    return x;
}

template class VoxelIndex<2>;
template class VoxelIndex<3>;
}  // namespace quadrat
