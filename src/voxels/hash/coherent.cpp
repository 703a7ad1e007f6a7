#include "voxels/hash/coherent.hpp"

#include "base/parallel.hpp"
#include "voxels/hash/short_tags.hpp"

#include <algorithm>

namespace quadrat::voxels {

namespace {

// Of a bucket without points: its positions must not fall on the points of its partners.
bool keeps_clear(const Buckets& buckets, const ShortTags& tags, std::span<const Triple> offsets, std::uint32_t q,
                 Triple offset) {
    const ShortTags::Side side = tags.side(q);
    for (std::uint64_t k = tags.first_partner(q); k < buckets.count(); k += tags.step()) {
        const auto other = static_cast<std::uint32_t>(k);
        for (const Triple p : buckets.of(other))
            if (tags.reaches(side, buckets.slot(p, offsets[other]), offset)) return false;
    }
    return true;
}

}  // namespace

bool finish_offsets(const Buckets& buckets, std::uint32_t row_length, const ShortTags* tags,
                    std::vector<Triple>& offsets) {
    Triple last{};
    for (std::uint32_t q = 0; q < buckets.count(); ++q) {
        if (buckets.size(q) != 0) {
            last = offsets[q];
            continue;
        }
        offsets[q] = last;
        if (q % row_length == 0)
            for (std::uint32_t next = q + 1; next < q + row_length; ++next)
                if (buckets.size(next) != 0) {
                    offsets[q] = last = offsets[next];
                    break;
                }
        if (!tags) continue;
        Random random(q);
        for (int tries = 0; !keeps_clear(buckets, *tags, offsets, q, offsets[q]); ++tries) {
            if (tries == 1000) return false;
            offsets[q] = Triple::of(random.below(buckets.steps[0]), random.below(buckets.steps[1]),
                                    random.below(buckets.steps[2]));
        }
    }
    return true;
}

namespace {

constexpr std::uint64_t nothing = ~std::uint64_t{0};

class CoherentPlacement {
  public:
    explicit CoherentPlacement(const CoherentInput& input)
        : in_(input),
          placement_(input.buckets, input.tags, input.seed),
          offset_(input.buckets.count()),
          placed_(input.buckets.count()),
          at_(product(input.buckets.table), nothing) {}

    bool run(std::vector<Triple>& offsets) {
        const auto order = Placement::order_by_size(in_.buckets);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % 16384 == 0) base::check_in(Watch{in_.watch.stop, {}}, i, order.size());
            Triple offset;
            if (!choose(order[i], offset) && !placement_.search(order[i], offset)) return false;
            put(order[i], offset);
        }
        offsets = offset_;
        return true;
    }

  private:
    [[nodiscard]] std::size_t index(Triple s) const {
        return (std::size_t{s.z()} * in_.buckets.table[1] + s.y()) * in_.buckets.table[0] + s.x();
    }

    [[nodiscard]] Triple moved(Triple s, int axis, bool forward) const {
        const std::uint32_t m = in_.buckets.table[static_cast<std::size_t>(axis)];
        const std::uint32_t by = in_.step[static_cast<std::size_t>(axis)] % m;
        std::uint32_t c[3] = {s.x(), s.y(), s.z()};
        c[axis] = (c[axis] + (forward ? by : m - by)) % m;
        return Triple::of(c[0], c[1], c[2]);
    }

    void put(std::uint32_t q, Triple offset) {
        placement_.place(q, offset);
        offset_[q] = offset;
        placed_[q] = 1;
        const std::uint32_t first = in_.buckets.start[q];
        for (std::uint32_t i = 0; i < in_.buckets.size(q); ++i)
            at_[index(placement_.slot(in_.buckets.points[first + i], offset))] = in_.positions[first + i];
    }

    // C of the paper: pairs of neighbours in the table that are neighbours in space.
    [[nodiscard]] int score(std::uint32_t q, Triple offset) const {
        int pairs = 0;
        const std::uint32_t first = in_.buckets.start[q];
        for (std::uint32_t i = 0; i < in_.buckets.size(q); ++i) {
            const Triple s = placement_.slot(in_.buckets.points[first + i], offset);
            const std::uint64_t p = in_.positions[first + i];
            for (int axis = 0; axis < 3; ++axis) {
                if (in_.buckets.table[static_cast<std::size_t>(axis)] < 2) continue;
                for (const bool forward : {false, true}) {
                    const std::uint64_t other = at_[index(moved(s, axis, forward))];
                    if (other == nothing) continue;
                    const std::uint64_t d = other > p ? other - p : p - other;
                    pairs += d == 1 || d == std::uint64_t{1} << 21 || d == std::uint64_t{1} << 42;
                }
            }
        }
        return pairs;
    }

    // The slot of a stored and placed position, if there is one.
    [[nodiscard]] bool slot_of(std::uint64_t position, Triple& slot) const {
        const auto [q, place] = in_.locate(position);
        if (!placed_[q]) return false;
        const std::uint32_t first = in_.buckets.start[q];
        for (std::uint32_t i = 0; i < in_.buckets.size(q); ++i)
            if (in_.positions[first + i] == position) {
                slot = placement_.slot(place, offset_[q]);
                return true;
            }
        return false;
    }

    bool choose(std::uint32_t q, Triple& offset) {
        candidates_.clear();
        const auto add = [&](Triple o) {
            if (o.x() >= in_.buckets.steps[0] || o.y() >= in_.buckets.steps[1] || o.z() >= in_.buckets.steps[2]) return;
            for (const Triple c : candidates_)
                if (c.bits == o.bits) return;
            candidates_.push_back(o);
        };
        // Rule 1: the buckets around, across the edges of the offset table.
        const Sizes& r = in_.offset_size;
        const std::uint32_t at[3] = {q % r[0], q / r[0] % r[1], q / r[0] / r[1]};
        for (std::uint32_t axis = 0; axis < 3; ++axis) {
            if (r[axis] < 2) continue;
            for (const std::uint32_t by : {1u, r[axis] - 1}) {
                std::uint32_t n[3] = {at[0], at[1], at[2]};
                n[axis] = (n[axis] + by) % r[axis];
                const std::uint32_t other = n[0] + r[0] * (n[1] + r[1] * n[2]);
                if (placed_[other]) add(offset_[other]);
            }
        }
        const std::size_t first_rule = candidates_.size();
        // Rule 2.
        const std::uint32_t first = in_.buckets.start[q];
        const std::uint32_t count = std::min(in_.buckets.size(q), 8u);
        for (std::uint32_t i = 0; i < count; ++i)
            for (int axis = 0; axis < in_.domain_dims; ++axis)
                for (const bool forward : {false, true}) {
                    const std::uint64_t p = in_.positions[first + i], field = p >> (21 * axis) & 0x1fffff;
                    if (forward ? field == 0x1fffff : field == 0) continue;
                    const std::uint64_t one = std::uint64_t{1} << (21 * axis);
                    Triple slot;
                    if (!slot_of(forward ? p + one : p - one, slot)) continue;
                    if (in_.buckets.table[static_cast<std::size_t>(axis)] < 2) continue;
                    const Triple want = moved(slot, axis, !forward), h0 = in_.buckets.points[first + i];
                    const Sizes& m = in_.buckets.table;
                    add(Triple::of((want.x() + m[0] - h0.x()) % m[0], (want.y() + m[1] - h0.y()) % m[1],
                                   (want.z() + m[2] - h0.z()) % m[2]));
                }
        int best = -1;
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            // Queries all over the domain want a locally constant offset table: rule 1 first.
            if (c == first_rule && best >= 0 && in_.mode == Coherence::domain) break;
            if (!placement_.fits(q, candidates_[c])) continue;
            const int pairs = score(q, candidates_[c]);
            if (pairs <= best) continue;
            best = pairs;
            offset = candidates_[c];
        }
        return best >= 0;
    }

    const CoherentInput& in_;
    Placement placement_;
    std::vector<Triple> offset_;
    std::vector<std::uint8_t> placed_;
    std::vector<std::uint64_t> at_;  // slot -> position
    std::vector<Triple> candidates_;
};

}  // namespace

bool place_coherently(const CoherentInput& input, std::vector<Triple>& offsets) {
    return CoherentPlacement(input).run(offsets);
}

}  // namespace quadrat::voxels
