// The members of PerfectHash that lookups share with files: checking its parts, going back from slot to position, and
// the paths that are too rare to be inlined.
#include <quadrat/error.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include "base/assert.hpp"
#include "voxels/hash/sizes.hpp"

#include <numeric>

namespace quadrat {

template <int D, int E>
typename PerfectHash<D, E>::Place PerfectHash<D, E>::place_linear(const std::array<std::uint32_t, D>& local) const {
    std::uint32_t bucket = 0;
    for (int a = E - 1; a >= 0; --a) {
        std::uint64_t sum = 0;
        for (int b = 0; b < D; ++b) sum += std::uint64_t{m1_[a][b]} * local[b];
        bucket = bucket * offset_[a].divisor + static_cast<std::uint32_t>(sum % offset_[a].divisor);
    }
    const std::uint64_t phi = offset_at(bucket);
    std::uint32_t slot = 0;
    for (int a = E - 1; a >= 0; --a) {
        std::uint64_t sum = shift(phi, static_cast<std::size_t>(a));
        for (int b = 0; b < D; ++b) sum += std::uint64_t{m0_[a][b]} * local[b];
        slot = slot * table_[a].divisor + static_cast<std::uint32_t>(sum % table_[a].divisor);
    }
    return {slot, bucket};
}

template <int D, int E>
bool PerfectHash<D, E>::unique_tags() const {
    if (linear_) return false;
    bool unique = true;
    for (int a = 0; a < E; ++a)
        unique = unique && std::gcd(table_[a].divisor, offset_[a].divisor) == 1 &&
                 std::uint64_t{table_[a].divisor} * offset_[a].divisor >= extent_[a];
    return unique;
}

template <int D, int E>
std::array<std::uint32_t, D> PerfectHash<D, E>::position(const Place& place) const {
    QUADRAT_ASSERT(unique_tags() && place.slot < slots_ && place.bucket < buckets_);
    std::array<std::uint32_t, D> p{};
    if constexpr (D == E) {
        const std::uint64_t phi = offset_at(place.bucket);
        std::uint32_t slot = place.slot, bucket = place.bucket;
        for (int a = 0; a < E; ++a) {
            const std::uint64_t m = table_[a].divisor, r = offset_[a].divisor;
            const std::uint64_t s = slot % m, q = bucket % r;
            slot = static_cast<std::uint32_t>(slot / m);
            bucket = static_cast<std::uint32_t>(bucket / r);
            const std::uint64_t h0 = (s + m - shift(phi, static_cast<std::size_t>(a)) % m) % m;
            // p = q + r t with r t = h0 - q modulo m
            const std::uint64_t inv = voxels::inverse(static_cast<std::uint32_t>(r % m), static_cast<std::uint32_t>(m));
            p[a] = static_cast<std::uint32_t>(q + r * ((h0 + m - q % m) % m * inv % m));
        }
    }
    return p;
}

template <int D, int E>
typename PerfectHash<D, E>::Shape PerfectHash<D, E>::shape() const {
    Shape s;
    s.origin = origin_;
    s.extent = extent_;
    s.entries = entries_;
    s.bits = bits_;
    s.linear = linear_;
    s.tag_bits = tag_bits_;
    s.scale = scale_;
    for (int a = 0; a < E; ++a) {
        s.table[a] = table_[a].divisor;
        s.offset[a] = offset_[a].divisor;
        for (int b = 0; b < D; ++b) {
            s.m0[a][b] = m0_[a][b];
            s.m1[a][b] = m1_[a][b];
        }
    }
    return s;
}

template <int D, int E>
std::size_t PerfectHash<D, E>::offsets_size(const Shape& shape) {
    if (shape.bits < 1 || shape.bits > 16) return 0;
    std::uint64_t buckets = 1;
    for (int a = 0; a < E; ++a) {
        if (shape.offset[a] < 1 || shape.offset[a] > 65536) return 0;
        buckets *= shape.offset[a];
    }
    if (buckets >= std::uint64_t{1} << 32) return 0;
    return (buckets * static_cast<std::uint64_t>(shape.bits * E) + 7) / 8 + 8;
}

template <int D, int E>
PerfectHash<D, E> PerfectHash<D, E>::from_parts(const Shape& shape,
                                                std::shared_ptr<const std::uint8_t> offsets,  // NOLINT: moved below
                                                std::size_t offsets_bytes) {
    const auto bad = [](const char* field, const char* what) {
        return Error(ErrorKind::bad_format, what, {.field = field});
    };
    const std::size_t wanted = offsets_size(shape);
    if (wanted == 0) throw bad("offset table", "its size or its bits per coordinate are out of range");
    if (offsets_bytes < wanted) throw bad("offset table", "shorter than its size says");
    std::uint64_t slots = 1;
    for (int a = 0; a < E; ++a) {
        if (shape.table[a] < 1 || shape.table[a] > 65536) throw bad("table", "its size is out of range");
        if (shape.scale[a] < 1 || shape.scale[a] > shape.table[a]) throw bad("scale", "out of range");
        // place() adds the shift to a position before it reduces both, within the range of Divider.
        if (std::uint64_t{shape.scale[a]} * ((1u << shape.bits) - 1) >= (1u << 21)) throw bad("scale", "too large");
        slots *= shape.table[a];
    }
    if (slots >= std::uint64_t{1} << 32) throw bad("table", "more than 2^32 slots");
    if (shape.entries > slots) throw bad("entries", "more than the table has slots");
    if (shape.linear > 1 || (E != D && shape.linear != 1)) throw bad("matrices", "neither 0 nor 1");
    for (int a = 0; a < D; ++a)
        if (shape.extent[a] > (1u << 21) || (shape.extent[a] == 0) != (shape.entries == 0))
            throw bad("domain", "its extent is out of range");
    PerfectHash h;
    for (int a = 0; a < E; ++a) {
        h.table_[a] = voxels::Divider(shape.table[a]);
        h.offset_[a] = voxels::Divider(shape.offset[a]);
        for (int b = 0; b < D; ++b) {
            if (shape.m0[a][b] > 65535 || shape.m1[a][b] > 65535) throw bad("matrices", "a coefficient above 65535");
            h.m0_[a][b] = shape.m0[a][b];
            h.m1_[a][b] = shape.m1[a][b];
        }
    }
    h.scale_ = shape.scale;
    h.origin_ = shape.origin;
    h.extent_ = shape.extent;
    h.entries_ = shape.entries;
    h.bits_ = shape.bits;
    h.mask_ = (1u << shape.bits) - 1;
    h.entry_bits_ = static_cast<std::uint32_t>(shape.bits * E);
    h.linear_ = shape.linear != 0;
    h.tag_bits_ = shape.tag_bits;
    h.slots_ = static_cast<std::uint32_t>(slots);
    h.buckets_ = 1;
    for (int a = 0; a < E; ++a) h.buckets_ *= shape.offset[a];
    h.offsets_ = std::move(offsets);
    h.offsets_bytes_ = offsets_bytes;
    if (h.tag_bits_ <= 0)
        for (h.tag_bits_ = 1; std::uint64_t{h.buckets_} >> h.tag_bits_ != 0;) ++h.tag_bits_;
    h.make_axis_tables();
    return h;
}

template <int D, int E>
void PerfectHash<D, E>::make_axis_tables() {
    if (linear_ || bits_ != 8) return;
    std::size_t shares = 0, sums = 0;
    for (int a = 0; a < E; ++a) {
        if (scale_[a] != 1) return;
        shares += extent_[a];
        sums += table_[a].divisor + 255;
    }
    if (shares == 0 || shares * 8 + sums * 4 > offsets_bytes_) return;
    std::shared_ptr<std::uint64_t> tables(new std::uint64_t[shares + (sums + 1) / 2],
                                          std::default_delete<std::uint64_t[]>());
    std::uint64_t* share = tables.get();
    auto* slot = reinterpret_cast<std::uint32_t*>(share + shares);
    std::uint32_t bucket_stride = 1, slot_stride = 1, first = 0, next = 0;
    axis_.shares = share;
    axis_.slots = reinterpret_cast<const std::uint8_t*>(slot);
    for (int a = 0; a < E; ++a) {
        axis_.start[a] = next;
        for (std::uint32_t x = 0; x < extent_[a]; ++x)
            share[next++] = std::uint64_t{offset_[a].remainder(x)} * bucket_stride |
                            (std::uint64_t{first} + table_[a].remainder(x)) << 34;
        for (std::uint32_t t = 0; t < table_[a].divisor + 255; ++t)
            slot[first + t] = t % table_[a].divisor * slot_stride;
        first += table_[a].divisor + 255;
        bucket_stride *= offset_[a].divisor;
        slot_stride *= table_[a].divisor;
    }
    axis_.owner = std::move(tables);
    tabled_ = true;
}

template <int D, int E>
double coherence(const PerfectHash<D, E>& hash, std::span<const Voxel<D>> positions) {
    std::vector<std::uint32_t> at(hash.slots(), 0xffffffffu);
    std::array<std::uint32_t, D> local;
    const auto slot_of = [&](const Voxel<D>& p) { return hash.inside(p, local) ? hash.place(local).slot : 0u; };
    for (std::size_t i = 0; i < positions.size(); ++i) at[slot_of(positions[i])] = static_cast<std::uint32_t>(i);
    std::uint64_t pairs = 0, kept = 0;
    for (const Voxel<D>& p : positions) {
        const std::uint32_t mine = slot_of(p);
        for (int a = 0; a < D; ++a) {
            Voxel<D> n = p;
            ++n[a];
            if (!hash.inside(n, local)) continue;
            const std::uint32_t theirs = hash.place(local).slot;
            const std::uint32_t i = at[theirs];
            if (i == 0xffffffffu || !(positions[i] == n)) continue;
            ++pairs;
            // One step apart on one axis of the table, around its edge or not.
            std::uint32_t s = mine, t = theirs;
            int steps = 0, same = 0;
            for (int e = 0; e < E; ++e) {
                const std::uint32_t m = hash.table_size(e);
                const std::uint32_t d = (s % m + m - t % m) % m;
                same += d == 0;
                steps += d == 1 || d + 1 == m;
                s /= m;
                t /= m;
            }
            kept += same == E - 1 && steps == 1;
        }
    }
    return pairs ? static_cast<double>(kept) / static_cast<double>(pairs) : 1.0;
}

template class PerfectHash<2, 2>;
template class PerfectHash<3, 3>;
template class PerfectHash<3, 2>;
template double coherence<2, 2>(const PerfectHash<2, 2>&, std::span<const Voxel<2>>);
template double coherence<3, 3>(const PerfectHash<3, 3>&, std::span<const Voxel<3>>);
template double coherence<3, 2>(const PerfectHash<3, 2>&, std::span<const Voxel<3>>);

}  // namespace quadrat
