// The parts of a VoxelIndex that are made once: tags, bricks, bits.
#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include "base/array.hpp"
#include "voxels/domain.hpp"
#include "voxels/encode.hpp"
#include "voxels/slot_reader.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat {

using voxels::bits_for;
using voxels::throw_duplicate;

namespace {

// Writes one field of a table of `bits`-bit fields.
void put_field(std::uint8_t* bytes, std::uint64_t slot, std::uint32_t bits, std::uint64_t value) {
    const std::uint64_t at = slot * bits;
    const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    std::uint64_t word;
    std::memcpy(&word, bytes + (at >> 3), 8);
    word = (word & ~(mask << (at & 7))) | value << (at & 7);
    std::memcpy(bytes + (at >> 3), &word, 8);
}

// Bricks in the order z, y, x: 3 x 21 bits relative to the smallest, each with its position's number.
template <int D>
std::uint64_t brick_key(const Voxel<D>& p) {
    std::uint64_t key = 0;
    for (int a = D - 1; a >= 0; --a)
        key = key << 21 | (static_cast<std::uint32_t>(p[a] >> VoxelIndex<D>::brick_shift) & 0x1fffff);
    return key;
}

}  // namespace

template <int D>
std::uint64_t voxels::count_bricks(std::span<const Voxel<D>> positions) {
    std::vector<std::uint64_t> keys(positions.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = brick_key<D>(positions[i]);
    std::sort(keys.begin(), keys.end());
    return static_cast<std::uint64_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
}

double voxels::position_hash_chance(double cells, double slots) {
    const double mean = cells / slots, sigma = std::sqrt(mean);
    double sum = 0;
    for (int i = -600; i <= 600; ++i) {
        const double x = mean + i * 0.01 * sigma;
        if (x < 1) continue;
        const double fail_one = 1 - std::pow(1 - 1.0 / 256, x - 1);
        const double t = (x - mean) / sigma;
        sum += 0.01 * std::exp(-t * t / 2) / std::sqrt(2 * 3.14159265358979323846) * std::pow(fail_one, 256);
    }
    return std::exp(-sum * slots);
}

template <int D>
bool VoxelIndex<D>::encode(std::span<const Voxel<D>> positions, Encoding wanted) {
    const std::uint64_t slots = hash_.slots();
    std::uint64_t cells = 1;
    std::uint32_t position_bits = 0;
    for (int a = 0; a < D; ++a) {
        cells *= extent_[a];
        axis_bits_[a] = bits_for(std::uint64_t{extent_[a]} + (a == D - 1));
        position_bits += static_cast<std::uint32_t>(axis_bits_[a]);
    }
    if (position_bits > 56) position_bits = 64;
    const auto bucket_bits = static_cast<std::uint32_t>(hash_.tag_bits());
    const bool by_bucket = hash_.unique_tags() || entries_ == 0;
    // The sweeps over the domain that position hashes need are only worth it where they are short and sure to succeed.
    const bool by_hash = cells <= std::uint64_t{1} << 22 &&
                         voxels::position_hash_chance(static_cast<double>(cells), static_cast<double>(slots)) > 0.999;
    if (wanted == Encoding::automatic) {
        std::uint64_t least = slots * position_bits;
        wanted = Encoding::position_tag;
        const auto offer = [&](Encoding e, std::uint64_t bits, bool possible) {
            if (!possible || bits >= least) return;
            least = bits;
            wanted = e;
        };
        offer(Encoding::bucket_tag, slots * bucket_bits, by_bucket);
        offer(Encoding::domain_bit, cells, cells < std::uint64_t{1} << 40);
        offer(Encoding::position_hash, slots * 16, by_hash);
    }
    encoding_ = wanted;
    if (wanted == Encoding::constrained) return true;
    if (wanted == Encoding::position_hash) {
        if (cells > std::uint64_t{1} << 33)
            throw Error(ErrorKind::unsupported, "the domain is too large for position hashes", {.field = "encoding"});
        encode_position_hash(positions);
        return true;
    }
    if (wanted == Encoding::domain_bit) {
        if (cells >= std::uint64_t{1} << 40)
            throw Error(ErrorKind::unsupported, "the domain is too large for domain bits", {.field = "encoding"});
        bit_buffer_ = Buffer::zeros((cells + 63) / 64 * 8 + 8);
        for (const Voxel<D>& p : positions) {
            Local local;
            (void)hash_.inside(p, local);
            const std::uint64_t k = linear(local);
            bit_buffer_.data.get()[k >> 3] = static_cast<std::uint8_t>(bit_buffer_.data.get()[k >> 3] | 1u << (k & 7));
        }
        return true;
    }
    if (wanted == Encoding::bucket_tag && !by_bucket)
        throw Error(ErrorKind::unsupported, "the domain is too large for bucket tags; take position tags",
                    {.field = "encoding"});
    tag_bits_ = wanted == Encoding::bucket_tag ? bucket_bits : position_bits;
    tag_buffer_ = Buffer::zeros((slots * tag_bits_ + 7) / 8 + 8);
    std::fill_n(tag_buffer_.data.get(), tag_buffer_.size, std::uint8_t{0xff});
    const std::uint64_t mask = (std::uint64_t{1} << std::min(tag_bits_, 63u)) - 1;
    std::vector<bool> taken(slots);
    for (const Voxel<D>& p : positions) {
        Local local;
        (void)hash_.inside(p, local);
        const auto place = hash_.place(local);
        put_field(tag_buffer_.data.get(), place.slot, tag_bits_,
                  wanted == Encoding::bucket_tag ? place.bucket & mask : position_tag(local));
        taken[place.slot] = true;
    }
    if (wanted != Encoding::bucket_tag) return true;
    if (std::uint64_t{hash_.buckets()} >> tag_bits_ == 0) return true;  // all ones are nobody's tag
    // An empty slot gets a tag of which no bucket has a position of the domain there.
    const voxels::SlotReader<D> reader(hash_, tag_bits_);
    std::uint32_t bucket = 0;
    for (std::uint32_t s = 0; s < slots; ++s) {
        if (taken[s]) continue;
        std::uint64_t tag = mask;
        while (tag > 0 && reader.bucket(s, tag, bucket)) --tag;
        if (tag == 0) return false;
        put_field(tag_buffer_.data.get(), s, tag_bits_, tag);
    }
    return true;
}

// Two sweeps over the domain as in section 5. An empty slot gets a (k, v) that no position of the domain has there.
template <int D>
void VoxelIndex<D>::encode_position_hash(std::span<const Voxel<D>> positions) {
    const std::uint32_t slots = hash_.slots();
    constexpr std::uint32_t none = 0xffffffffu;
    const auto too_sparse = [](const std::string& why) {
        return Error(ErrorKind::unsupported, why + "the data is too sparse for position hashes", {.field = "encoding"});
    };
    // 256 functions of 256 values cannot tell one position from so many.
    constexpr std::uint64_t most_per_slot = 1u << 14;
    std::uint64_t cells = 1;
    for (const std::uint32_t e : extent_) cells *= e;
    if (cells / std::max(slots, 1u) > most_per_slot)
        throw too_sparse(std::to_string(cells / std::max(slots, 1u)) + " positions of the domain share a slot: ");
    tag_bits_ = 16;
    tag_buffer_ = Buffer::zeros(std::size_t{slots} * 2 + 8);
    std::uint8_t* tags = tag_buffer_.data.get();
    std::vector<std::uint32_t> owner(slots, none);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        Local local;
        (void)hash_.inside(positions[i], local);
        const std::uint32_t s = hash_.place(local).slot;
        owner[s] = static_cast<std::uint32_t>(i);
        tags[2 * std::size_t{s} + 1] = static_cast<std::uint8_t>(voxels::hash_local<D>(local, 0));
    }
    const auto is_owner = [&](std::uint32_t s, const Local& local) {
        Local mine;
        return owner[s] != none && hash_.inside(positions[owner[s]], mine) && mine == local;
    };
    const auto sweep = [&](auto&& visit) {
        Local local{};
        for (std::uint64_t k = 0; k < cells; ++k) {
            visit(local, hash_.place(local).slot);
            for (int a = 0; a < D && ++local[a] == extent_[a]; ++a)
                if (a + 1 < D) local[a] = 0;
        }
    };
    std::vector<std::uint8_t> conflict(slots);
    sweep([&](const Local& local, std::uint32_t s) {
        if (voxels::hash_local<D>(local, 0) == tags[2 * std::size_t{s} + 1] && !is_owner(s, local)) conflict[s] = 1;
    });
    std::vector<std::uint64_t> others(slots);
    sweep([&](const Local&, std::uint32_t s) { others[s] += conflict[s]; });
    // Slots in parts whose positions fit some memory; each part is one more sweep.
    constexpr std::uint64_t room = std::uint64_t{1} << 25;
    std::vector<Local> members;
    std::vector<std::uint64_t> first, fill;
    for (std::uint32_t begin = 0, end = 0; begin < slots; begin = end) {
        first.assign(1, 0);
        for (; end < slots && (end == begin || first.back() + others[end] <= room); ++end)
            first.push_back(first.back() + others[end]);
        if (first.back() == 0) continue;
        members.resize(first.back());
        fill.assign(first.begin(), first.end() - 1);
        sweep([&](const Local& local, std::uint32_t s) {
            if (s >= begin && s < end && conflict[s] && !is_owner(s, local)) members[fill[s - begin]++] = local;
        });
        for (std::uint32_t s = begin; s < end; ++s) {
            if (!conflict[s]) continue;
            const std::span<const Local> here(members.data() + first[s - begin], members.data() + fill[s - begin]);
            bool done = false;
            for (std::uint32_t k = 0; k < 256 && !done; ++k) {
                bool used[256] = {};
                for (const Local& m : here) used[voxels::hash_local<D>(m, k)] = true;
                std::uint32_t v = 0;
                if (owner[s] == none) {
                    while (v < 256 && used[v]) ++v;
                } else {
                    Local mine;
                    (void)hash_.inside(positions[owner[s]], mine);
                    v = voxels::hash_local<D>(mine, k);
                }
                if (v >= 256 || used[v]) continue;
                tags[2 * std::size_t{s}] = static_cast<std::uint8_t>(k);
                tags[2 * std::size_t{s} + 1] = static_cast<std::uint8_t>(v);
                done = true;
            }
            if (!done)
                throw too_sparse("slot " + std::to_string(s) + " has no parameter that tells its position from the " +
                                 std::to_string(here.size()) + " others: ");
        }
    }
}

template <int D>
void VoxelIndex<D>::build_bricks(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                 PerfectHashReport* report) {
    const auto domain = voxels::bounding_box<D>(positions);
    const Voxel<D> lo = domain.origin;
    struct Item {
        std::uint64_t key;
        std::uint32_t index;
    };
    base::Array<Item> items(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        Voxel<D> p = positions[i];
        for (int a = 0; a < D; ++a)  // bricks count from the first, so that keys sort by position
            p[a] = static_cast<std::int32_t>((static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(lo[a])) +
                                             (static_cast<std::uint32_t>(lo[a]) & ((1u << brick_shift) - 1)));
        items[i] = {brick_key<D>(p), static_cast<std::uint32_t>(i)};
    }
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; });
    std::vector<Voxel<D>> bricks;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i && items[i].key == items[i - 1].key) continue;
        Voxel<D> b;
        for (int a = 0; a < D; ++a) b[a] = positions[items[i].index][a] >> brick_shift;
        bricks.push_back(b);
    }
    PerfectHashOptions h;
    h.construction = options.construction;
    h.coherence = options.coherence;
    h.seed = options.seed;
    h.offset_bits = options.offset_bits;
    h.short_tags = 8;  // records are whole bytes
    h.executor = options.executor;
    h.watch = options.watch;
    hash_ = PerfectHash<D>::build(bricks, h, report);
    if (!hash_.unique_tags())
        throw Error(ErrorKind::unsupported, "too few bricks for so large a domain; take the voxel layout",
                    {.field = "layout"});
    encoding_ = Encoding::bucket_tag;
    origin_ = lo;
    extent_ = domain.extent;
    tag_bits_ = static_cast<std::uint32_t>(hash_.tag_bits());
    const std::size_t stride = 12 + (tag_bits_ + 7) / 8;
    brick_buffer_ = Buffer::zeros(std::size_t{hash_.slots()} * stride + 8);
    std::uint8_t* records = brick_buffer_.data.get();
    const auto empty = static_cast<std::uint32_t>((std::uint64_t{1} << tag_bits_) - 1);
    for (std::uint32_t s = 0; s < hash_.slots(); ++s) std::memcpy(records + s * stride + 12, &empty, stride - 12);
    std::size_t next = 0;
    for (const Voxel<D>& b : bricks) {
        Local local;
        (void)hash_.inside(b, local);
        const auto place = hash_.place(local);
        const auto base = static_cast<std::uint32_t>(next);
        std::uint64_t mask = 0;
        for (const std::uint64_t key = items[next].key; next < items.size() && items[next].key == key; ++next) {
            const Voxel<D>& p = positions[items[next].index];
            std::uint32_t bit = 0;
            for (int a = D - 1; a >= 0; --a)
                bit = bit << brick_shift | (static_cast<std::uint32_t>(p[a]) & ((1u << brick_shift) - 1));
            if (mask >> bit & 1) throw_duplicate<D>(positions, items[next].index);
            mask |= std::uint64_t{1} << bit;
        }
        std::uint8_t* record = records + place.slot * stride;
        std::memcpy(record, &mask, 8);
        std::memcpy(record + 8, &base, 4);
        std::memcpy(record + 12, &place.bucket, stride - 12);  // the low bytes
    }
}

template <int D>
void VoxelIndex<D>::build_bits(std::span<const Voxel<D>> positions) {
    const auto domain = voxels::bounding_box<D>(positions);
    const std::uint64_t cells = domain.cells();
    extent_ = domain.extent;
    if (cells >= std::uint64_t{1} << 36)
        throw Error(ErrorKind::too_large, "the bounding box has more than 2^36 positions; take another layout",
                    {.field = "layout"});
    origin_ = domain.origin;
    encoding_ = Encoding::domain_bit;
    bit_buffer_ = Buffer::zeros((cells + 63) / 64 * 8 + 8);
    rank_buffer_ = Buffer::zeros((cells + 511) / 512 * 4 + 8);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::uint64_t k = linear(domain.local(positions[i]));
        std::uint8_t& byte = bit_buffer_.data.get()[k >> 3];
        if (byte >> (k & 7) & 1) throw_duplicate<D>(positions, i);
        byte = static_cast<std::uint8_t>(byte | 1u << (k & 7));
    }
    std::uint32_t rank = 0;
    for (std::uint64_t w = 0; w < (cells + 63) / 64; ++w) {
        if (w % 8 == 0) std::memcpy(rank_buffer_.data.get() + w / 8 * 4, &rank, 4);
        std::uint64_t word;
        std::memcpy(&word, bit_buffer_.data.get() + w * 8, 8);
        rank += static_cast<std::uint32_t>(std::popcount(word));
    }
}

#define QUADRAT_INSTANTIATE(D)                                                                                     \
    template std::uint64_t voxels::count_bricks<D>(std::span<const Voxel<D>>);                                     \
    template bool VoxelIndex<D>::encode(std::span<const Voxel<D>>, Encoding);                                      \
    template void VoxelIndex<D>::encode_position_hash(std::span<const Voxel<D>>);                                  \
    template void VoxelIndex<D>::build_bricks(std::span<const Voxel<D>>, const VoxelOptions&, PerfectHashReport*); \
    template void VoxelIndex<D>::build_bits(std::span<const Voxel<D>>)
QUADRAT_INSTANTIATE(2);
QUADRAT_INSTANTIATE(3);
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat
