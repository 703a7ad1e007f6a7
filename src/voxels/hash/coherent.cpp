#include "voxels/hash/coherent.hpp"

#include "base/assert.hpp"
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
    QUADRAT_ASSERT(offsets.size() == buckets.count());
    QUADRAT_ASSERT(row_length != 0 && buckets.count() % row_length == 0);
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
            offsets[q] = random_offset(random, buckets.steps);
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
        const auto points = static_cast<double>(in_.buckets.points.size());
        double placed = 0;
        int rounds = 0;
        for (std::size_t i = 0; i < order.size() && placed < in_.share * points; ++i) {
            if (i % 4096 == 0) base::check_in(Watch{in_.watch.stop, {}}, i, order.size());
            Triple offset;
            if (!choose(order[i], offset) && !placement_.search(order[i], offset)) break;
            put(order[i], offset);
            placed += in_.buckets.size(order[i]);
            // The first ones had no neighbours to look at: they choose again when some are there.
            if (rounds + 1 < in_.choices && placed > points * (1 + rounds) / in_.choices) {
                ++rounds;
                for (std::size_t k = 0; k <= i; ++k) choose_again(order[k]);
            }
        }
        if (!placement_.run(in_.buckets.points.size() / 200, in_.watch)) return false;
        offsets.assign(placement_.offsets().begin(), placement_.offsets().end());
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

    void choose_again(std::uint32_t q) {
        const Triple old = offset_[q];
        const std::uint32_t first = in_.buckets.start[q];
        for (std::uint32_t i = 0; i < in_.buckets.size(q); ++i)
            at_[index(placement_.slot(in_.buckets.points[first + i], old))] = nothing;
        placement_.take_back(q);
        placed_[q] = 0;
        candidates_.push_back(old.bits);
        add_neighbours(q);
        if (in_.mode != Coherence::domain) add_beside_neighbours(q);
        int best = -1;
        Triple offset = old;
        choose_from_candidates(q, best, offset);
        put(q, offset);
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

    // Rule 1: the buckets around, across the edges of the offset table.
    void add_neighbours(std::uint32_t q) {
        const Sizes& r = in_.offset_size;
        const std::uint32_t at[3] = {q % r[0], q / r[0] % r[1], q / r[0] / r[1]};
        for (int k = 0; k < 27; ++k) {
            const int d[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            std::uint32_t n[3];
            bool inside = k != 13;
            for (std::size_t a = 0; a < 3; ++a) {
                inside &= d[a] == 0 || r[a] > 1;
                n[a] = (at[a] + r[a] + static_cast<std::uint32_t>(d[a])) % r[a];
            }
            const std::uint32_t other = n[0] + r[0] * (n[1] + r[1] * n[2]);
            if (inside && placed_[other]) candidates_.push_back(offset_[other].bits);
        }
    }
    // Rule 2: offsets that put one of the bucket's points on a free slot beside a neighbour of it.
    void add_beside_neighbours(std::uint32_t q) {
        const Sizes& m = in_.buckets.table;
        const std::uint32_t first = in_.buckets.start[q];
        for (std::uint32_t i = 0; i < std::min(in_.buckets.size(q), most_points); ++i)
            for (int axis = 0; axis < in_.domain_dims; ++axis)
                for (const bool forward : {false, true}) {
                    const std::uint64_t p = in_.positions[first + i], field = p >> (21 * axis) & 0x1fffff;
                    if (forward ? field == 0x1fffff : field == 0) continue;
                    const std::uint64_t one = std::uint64_t{1} << (21 * axis);
                    Triple slot;
                    if (!slot_of(forward ? p + one : p - one, slot)) continue;
                    const Triple h0 = in_.buckets.points[first + i];
                    for (int side = 0; side < 6; ++side) {
                        if (m[static_cast<std::size_t>(side / 2)] < 2) continue;
                        const Triple want = moved(slot, side / 2, side % 2 != 0);
                        if (at_[index(want)] != nothing) continue;
                        candidates_.push_back(Triple::of((want.x() + m[0] - h0.x()) % m[0],
                                                         (want.y() + m[1] - h0.y()) % m[1],
                                                         (want.z() + m[2] - h0.z()) % m[2])
                                                  .bits);
                    }
                }
    }
    // The best of the candidates so far, if it is better than `best`.
    void choose_from_candidates(std::uint32_t q, int& best, Triple& offset) {
        std::sort(candidates_.begin(), candidates_.end());
        candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
        for (const std::uint64_t bits : candidates_) {
            const Triple o{bits};
            if (o.x() >= in_.buckets.steps[0] || o.y() >= in_.buckets.steps[1] || o.z() >= in_.buckets.steps[2] ||
                !placement_.fits(q, o))
                continue;
            const int pairs = score(q, o);
            if (pairs <= best) continue;
            best = pairs;
            offset = o;
        }
        candidates_.clear();
    }
    bool choose(std::uint32_t q, Triple& offset) {
        int best = -1;
        add_neighbours(q);
        // Queries all over the domain want a locally constant offset table: rule 1 first.
        if (in_.mode == Coherence::domain) choose_from_candidates(q, best, offset);
        if (best >= 0) return true;
        add_beside_neighbours(q);
        choose_from_candidates(q, best, offset);
        return best >= 0;
    }

    static constexpr std::uint32_t most_points = 8;  // of a bucket that rule 2 looks at

    const CoherentInput& in_;
    Placement placement_;
    std::vector<Triple> offset_;
    std::vector<std::uint8_t> placed_;
    std::vector<std::uint64_t> at_;          // slot -> position
    std::vector<std::uint64_t> candidates_;  // bits of offsets
};

}  // namespace

bool place_coherently(const CoherentInput& input, std::vector<Triple>& offsets) {
    QUADRAT_ASSERT(input.positions.size() == input.buckets.points.size());
    QUADRAT_ASSERT(input.share > 0 && input.share <= 1 && input.choices >= 1);
    return CoherentPlacement(input).run(offsets);
}

}  // namespace quadrat::voxels
