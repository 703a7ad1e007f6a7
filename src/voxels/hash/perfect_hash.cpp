// The driver of Lefebvre & Hoppe 2006, section 4.1: chooses the sizes of the tables, sorts the positions into the
// buckets of h1, and calls the greedy placement until it succeeds (fast) or until no smaller offset table is found
// (compact).
#include <quadrat/voxels/perfect_hash.hpp>

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/coherent.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/hash/placement.hpp"
#include "voxels/hash/short_tags.hpp"
#include "voxels/hash/trial.hpp"
#include "voxels/memory.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace quadrat {
namespace {

using voxels::HashVariant;
using voxels::Placement;
using voxels::Random;
using voxels::Sizes;
using voxels::Trial;
using voxels::Triple;

constexpr std::size_t largest_set = std::size_t{1} << 27;
constexpr std::size_t patient_set = 1000;  // up to so many positions everything is tried before a set is refused

int bits_for(std::uint32_t values) {  // to write 0 .. values - 1
    int bits = 1;
    while ((std::uint64_t{1} << bits) < values) ++bits;
    return bits;
}

template <int D, int E>
class Builder {
  public:
    using Hash = PerfectHash<D, E>;
    using Shape = typename Hash::Shape;

    Builder(std::span<const Voxel<D>> positions, const PerfectHashOptions& options, const HashVariant& variant)
        : positions_(positions), options_(options), variant_(variant), short_tags_(options.short_tags) {
        QUADRAT_ASSERT(!positions.empty());
        base_.entries = static_cast<std::uint32_t>(positions.size());
        const auto domain = voxels::bounding_box<D>(positions);
        base_.origin = domain.origin;
        base_.extent = domain.extent;
        for (std::size_t a = 0; a < E; ++a) {
            if (E == D) extent_[a] = base_.extent[a];
            if (options.unique_tags) reach_[a] = extent_[a];
        }
    }

    Hash build(PerfectHashReport& report) {
        const bool compact = options_.construction == Construction::compact;
        const double slack = options_.slack > 0 ? options_.slack : compact ? 1.025 : 1.01;
        cells_ = std::max<std::uint64_t>(
            positions_.size(), static_cast<std::uint64_t>(std::ceil(slack * static_cast<double>(positions_.size()))));
        if (compact) {
            search(report);
        } else {
            grow(report);
        }
        report.evictions = evictions_;
        if (options_.coherence != Coherence::none) make_coherent(report);
        return finish();
    }

  private:
    struct Found {
        std::unique_ptr<Trial<D, E>> trial;
        std::vector<Triple> offsets;
        std::uint64_t evictions = 0;
    };

    // Sizes for about `offsets` entries of the offset table; `below`: at most.
    Shape shape_for(std::uint64_t offsets, unsigned variant, bool below, std::uint64_t seed) const {
        Shape s = base_;
        // Random matrices turn thin domains into wide ones.
        const Sizes extent = variant_.random_matrices || !folded_ ? Sizes{} : extent_;
        const Sizes table = voxels::table_sizes(E, cells_, variant, extent);
        voxels::Folding fold = voxels::folding(E, cells_, extent);
        for (std::size_t a = 0; a < E; ++a)
            if (fold.thin[a] != table[a]) fold.thin[a] = 0;
        Sizes offset = voxels::offset_sizes(E, offsets, table, fold, reach_, below);
        if (!below) cover(offset, table, std::max<std::uint64_t>(4 * offsets, variant_.covering_buckets));
        std::uint32_t widest = 1;
        for (int a = 0; a < E; ++a) {
            s.table[a] = table[a];
            s.offset[a] = offset[a];
            widest = std::max(widest, table[a]);
        }
        s.bits = options_.offset_bits > 0 ? options_.offset_bits : std::min(16, bits_for(widest));
        for (int a = 0; a < E; ++a) {
            const std::uint32_t values = 1u << s.bits;
            std::uint32_t scale = table[a] <= values ? 1 : (table[a] + values - 1) / values;
            while (std::gcd(scale, table[a]) != 1) ++scale;
            s.scale[a] = scale;
        }
        s.linear = E != D || variant_.random_matrices;
        if (s.linear) random_matrices(s, seed);
        s.tag_bits = tag_bits(s);
        return s;
    }

    // Whether two positions on one slot are in different buckets, as tags of buckets want it.
    [[nodiscard]] bool covers(const Shape& s) const {
        for (std::size_t a = 0; a < E; ++a)
            if (std::uint64_t{s.table[a]} * s.offset[a] < reach_[a]) return false;
        return true;
    }

    // Bits of short tags (voxels/hash/short_tags.hpp); 0 if they are not wanted, not possible or no shorter.
    int tag_bits(const Shape& s) const {
        if (short_tags_ == 0 || s.linear) return 0;
        double buckets = 1, share = 1;
        for (int a = 0; a < E; ++a) {
            const std::uint64_t period = std::uint64_t{s.table[a]} * s.offset[a];
            if (std::gcd(s.table[a], s.offset[a]) != 1 || period < s.extent[a]) return 0;
            buckets *= s.offset[a];
            share *= static_cast<double>(s.extent[a]) / static_cast<double>(period);
        }
        const int whole = bits_for(static_cast<std::uint32_t>(buckets) + 1);
        const int bits = voxels::short_tag_bits(buckets, static_cast<double>(positions_.size()) / buckets, share,
                                                short_tags_, options_.construction == Construction::compact);
        return bits < whole ? bits : 0;
    }

    // Widens the offset table until its product with the table covers the domain on every axis, if `limit` entries
    // allow it.
    void cover(Sizes& offset, const Sizes& table, std::uint64_t limit) const {
        Sizes wide = offset;
        for (int a = 0; a < E; ++a)
            while (std::uint64_t{table[a]} * wide[a] < reach_[a] || std::gcd(table[a], wide[a]) != 1) {
                const std::uint32_t enough = (reach_[a] + table[a] - 1) / table[a];
                wide[a] = std::max(wide[a] + 1, enough);
                if (wide[a] > std::min<std::uint64_t>(limit, voxels::largest_size)) return;
            }
        if (voxels::product(wide) <= limit) offset = wide;
    }

    // Random coefficients below 2^16, coprime to the sizes; for 3D -> 2D only the last column (section 7.2), with
    // different constants for h0 and h1: with shared ones (x, y, z) and (x - c1, y - c2, z + 1) would always collide.
    void random_matrices(Shape& s, std::uint64_t seed) const {
        Random random(seed ^ 0x6D617472u);
        const auto coefficient = [&](std::uint32_t size) {
            std::uint32_t c = 0;
            do c = 1 + random.below(65534);
            while (std::gcd(c, size) != 1);
            return c;
        };
        for (int a = 0; a < E; ++a)
            for (int b = 0; b < D; ++b) {
                const bool free = variant_.random_matrices || b >= E;
                s.m0[a][b] = free ? coefficient(s.table[a]) : a == b;
                s.m1[a][b] = free ? coefficient(s.offset[a]) : a == b;
            }
    }

    // Tries one shape with up to `seeds` seeds; the smallest seed that works wins, whatever the number of threads. A
    // seed that fails far from the end ends the attempt, as others would fail as well; not so in large sets, which have
    // few evictions for their size.
    std::optional<Found> attempt(const Shape& shape, int seeds, std::uint64_t max_evictions,
                                 PerfectHashReport& report) {
        auto trial = std::make_unique<Trial<D, E>>(positions_, shape);
        if (!trial->injective()) return std::nullopt;
        const unsigned threads = base::thread_count(options_.executor);
        for (int first = 0; first < seeds;) {
            const int wave = std::min<int>(static_cast<int>(threads), seeds - first);
            std::vector<std::optional<Found>> found(static_cast<std::size_t>(wave));
            std::vector<std::uint8_t> hopeless(static_cast<std::size_t>(wave));
            base::run_tasks(options_.executor, static_cast<std::size_t>(wave), [&](std::size_t k) {
                Placement placement(trial->buckets(), trial->tags(),
                                    options_.seed + 0x51ED27u * (static_cast<std::size_t>(first) + k));
                if (!placement.run(max_evictions, options_.watch)) {
                    hopeless[k] = placement.unplaced() > 0.01 && positions_.size() <= 400000;
                    return;
                }
                Found now{nullptr, {placement.offsets().begin(), placement.offsets().end()}, placement.evictions()};
                if (complete(*trial, now.offsets)) found[k] = std::move(now);
            });
            for (std::size_t k = 0; k < found.size(); ++k) {
                ++report.attempts;
                hopeless_ = !found[k] && crowded(trial->buckets());
                if (hopeless[k]) return std::nullopt;
                if (!found[k]) continue;
                found[k]->trial = std::move(trial);
                return std::move(found[k]);
            }
            first += wave;
        }
        return std::nullopt;
    }

    // True if the positions crowd into few buckets, so many in each that a random offset would not fit for one of them
    // in a universe of tables: the chance, if slots were taken at random, is below e^-30.
    static bool crowded(const voxels::Buckets& buckets) {
        double choices = 0, taken = 0;
        for (const std::uint32_t s : buckets.steps) choices += std::log(static_cast<double>(s));
        const auto slots = static_cast<double>(voxels::product(buckets.table));
        for (const std::uint32_t q : Placement::order_by_size(buckets)) {
            const double size = buckets.size(q);
            if (size * std::log1p(-taken / slots) + choices < -30) return true;
            taken += size;
        }
        return false;
    }

    // Fast construction: sigma = 1 / (2 E), then 3 % more until it works; the table gets another shape every fourth
    // time. Where that does not help, what narrows the choice is given up one by one: short tags, then thin tables for
    // thin domains, and where all positions fall into few buckets (a row in a wide domain) random matrices spread them.
    void grow(PerfectHashReport& report) {
        const double start = std::max(1.0, static_cast<double>(positions_.size()) / (2 * E));
        const double limit = 64.0 * static_cast<double>(positions_.size()) + 1e6;
        const double most = variant_.most_buckets != 0 ? static_cast<double>(variant_.most_buckets) : limit;
        double wanted = start;
        for (unsigned round = 0; wanted < limit; ++round) {
            base::check_in(Watch{options_.watch.stop, {}}, 0, 1);
            const bool patient = !folded_ && positions_.size() <= patient_set;
            const bool hopeless = hopeless_ && !patient;
            const bool stuck = hopeless || wanted > std::min((patient ? 64 : 8) * start + 64, most);
            if (stuck && !variant_.random_matrices) {
                if (short_tags_ != 0 && !hopeless) {  // they are what no offset can keep
                    short_tags_ = 0;
                    wanted = start;
                } else if (folded_ && voxels::folding(E, cells_, extent_).wide < E) {
                    folded_ = false;  // few buckets, each of whole columns, are the harder the fuller the domain is
                    wanted = start;
                } else if (variant_.identity_only) {
                    break;
                } else {
                    variant_.random_matrices = true;
                    wanted = std::max(start, static_cast<double>(positions_.size()) / 3);  // fewer are seldom injective
                }
                hopeless_ = false;
            } else if (wanted > most) {
                break;
            }
            const Shape s =
                shape_for(static_cast<std::uint64_t>(std::ceil(wanted)), round / 4, false, options_.seed + round);
            double buckets = 1;
            for (const std::uint32_t r : s.offset) buckets *= r;
            // Small tables may be larger than wanted, and the next ones smaller again.
            if (buckets <= most || variant_.most_buckets == 0)
                if (auto found = attempt(s, 1, patient ? positions_.size() : positions_.size() / 200, report))
                    return keep(std::move(*found));
            wanted = std::max(wanted + 1, wanted * (round < 24 ? 1.03 : 1.1));
        }
        throw Error(ErrorKind::too_large,
                    variant_.most_buckets != 0 || variant_.identity_only
                        ? "no perfect hash with so few offsets"
                        : "no perfect hash with 64 offsets per entry: the positions are too regular");
    }

    // Compact construction: bisection over the number of offsets, down to steps of 0.7 % (2 % for large sets). Eviction
    // moves the threshold at which greedy placement fails, but cannot beat the entropy of the offsets, so the range is
    // known.
    void search(PerfectHashReport& report) {
        grow(report);
        const auto n = static_cast<double>(positions_.size());
        auto high = static_cast<double>(best_->trial->buckets().count());
        double low = high / 3;
        // What the fast construction covers stays covered: tags of buckets are not given up for a few offsets.
        const bool covered = covers(best_->trial->shape());
        // Large sets are all alike: seeds and shapes of the table matter for small ones.
        const bool medium = positions_.size() > 400000, large = positions_.size() > 2000000;
        const int seeds = std::min(options_.attempts, large ? 1 : medium ? 2 : options_.attempts);
        const unsigned variants = large || positions_.size() < 20000 ? 1 : medium ? 2 : 3;
        const auto evictions = std::min<std::uint64_t>(10 + positions_.size() / 100, large ? 300 : 1000);
        for (int step = 0; step < 12 && high - low > std::max(1.0, (large ? 0.02 : 0.007) * high); ++step) {
            base::check_in(options_.watch, static_cast<std::size_t>(step), 12);
            // Starts near what random data reaches.
            const double middle = step == 0 ? std::clamp(n / (E == 2 ? 6.0 : 8.0), low, 0.9 * high) : (low + high) / 2;
            bool done = false;
            for (unsigned variant = 0; variant < variants && !done; ++variant) {
                const Shape s = shape_for(static_cast<std::uint64_t>(middle), variant, true, options_.seed + variant);
                std::uint64_t cells = 1;
                for (int a = 0; a < E; ++a) cells *= s.offset[a];
                if (static_cast<double>(cells) >= high) break;
                if (covered && !covers(s)) continue;
                if (auto found = attempt(s, seeds, evictions, report)) {
                    keep(std::move(*found));
                    high = static_cast<double>(cells);
                    done = true;
                }
            }
            if (!done) low = middle;
        }
    }

    // Places everything again, with an eye to coherence, if need be for a part of the points or with 3 and 6 % more
    // offsets. Where even a quarter of the points finds no coherent place the plain result stays, and the report says
    // so.
    void make_coherent(PerfectHashReport& report) {
        const auto wanted = static_cast<double>(best_->trial->buckets().count());
        std::unique_ptr<Trial<D, E>> larger;
        for (unsigned round = 0; round < 3; ++round) {
            if (round != 0)
                larger = std::make_unique<Trial<D, E>>(
                    positions_, shape_for(static_cast<std::uint64_t>((1 + 0.03 * round) * wanted), 0, false,
                                          options_.seed + round));
            Trial<D, E>& trial = larger ? *larger : *best_->trial;
            if (larger && !trial.injective()) continue;
            voxels::CoherentInput input = trial.coherent_input(options_);
            for (const double share : {1.0, 0.75, 0.5, 0.25})
                for (const int choices : {12, 1}) {
                    std::vector<Triple> offsets;
                    input.share = share;
                    input.choices = choices;  // what chose again may leave less room
                    if (!voxels::place_coherently(input, offsets) || !complete(trial, offsets)) continue;
                    Found found;
                    found.offsets = std::move(offsets);
                    found.trial = larger ? std::move(larger) : std::move(best_->trial);
                    report.coherent_share = share;
                    return keep(std::move(found));
                }
        }
    }

    // Offsets for buckets without points.
    static bool complete(const Trial<D, E>& trial, std::vector<Triple>& offsets) {
        return voxels::finish_offsets(trial.buckets(), trial.shape().offset[0], trial.tags(), offsets);
    }

    void keep(Found&& found) {
        evictions_ = found.evictions;
        best_ = std::move(found);
    }

    Hash finish() {
        Found& found = *best_;
        const Shape& s = found.trial->shape();
        const std::size_t bytes = Hash::offsets_size(s);
        std::shared_ptr<std::uint8_t> packed = voxels::zeroed(bytes);
        const int width = s.bits * E;
        for (std::size_t q = 0; q < found.offsets.size(); ++q) {
            const Triple o = found.offsets[q];
            const std::uint32_t axis[3] = {o.x(), o.y(), o.z()};
            std::uint64_t value = 0;
            for (int a = 0; a < E; ++a) value |= std::uint64_t{axis[a]} << (a * s.bits);
            const std::uint64_t bit = q * static_cast<std::uint64_t>(width);
            std::uint64_t word;
            std::memcpy(&word, packed.get() + (bit >> 3), 8);
            word |= value << (bit & 7);
            std::memcpy(packed.get() + (bit >> 3), &word, 8);
        }
        return Hash::from_parts(s, std::move(packed), bytes);
    }

    std::span<const Voxel<D>> positions_;
    const PerfectHashOptions& options_;
    HashVariant variant_;
    int short_tags_ = 0;
    Shape base_;
    Sizes extent_{}, reach_{};  // of the domain; what the product of the tables should cover
    std::uint64_t cells_ = 0;
    std::optional<Found> best_;
    std::uint64_t evictions_ = 0;
    bool folded_ = true;     // thin axes of the domain are thin in the tables (hash/sizes.hpp)
    bool hopeless_ = false;  // the last attempt failed, and others with identity matrices will
};

void check(const PerfectHashOptions& options) {
    if (options.offset_bits < 0 || options.offset_bits > 16)
        throw Error(ErrorKind::bad_value, "offset bits must be 0 (automatic) to 16", {.field = "offset_bits"});
    if (!(options.slack == 0 || (options.slack >= 1 && options.slack <= 16)))
        throw Error(ErrorKind::bad_value, "slack must be 0 (automatic) or in [1, 16]", {.field = "slack"});
    if (options.short_tags < 0 || options.short_tags > 32)
        throw Error(ErrorKind::bad_value, "short tags must be 0 (none) to 32", {.field = "short_tags"});
    if (options.attempts < 1)
        throw Error(ErrorKind::bad_value, "at least one attempt is needed", {.field = "attempts"});
}

template <int D, int E>
PerfectHash<D, E> empty_hash() {
    typename PerfectHash<D, E>::Shape s;
    s.table.fill(1);
    s.offset.fill(1);
    s.scale.fill(1);
    if (E != D)
        for (int a = 0; a < E; ++a) s.m0[a][a] = s.m1[a][a] = s.linear = 1;
    const std::size_t bytes = PerfectHash<D, E>::offsets_size(s);
    return PerfectHash<D, E>::from_parts(s, voxels::zeroed(bytes), bytes);
}

}  // namespace

template <int D, int E>
PerfectHash<D, E> voxels::HashBuild<D, E>::build(std::span<const Voxel<D>> positions, const PerfectHashOptions& options,
                                                 const HashVariant& variant, PerfectHashReport* report) {
    check(options);
    if (report) *report = {};
    if (positions.size() > largest_set) throw Error(ErrorKind::too_large, "more than 2^27 positions");
    if (positions.empty()) return empty_hash<D, E>();
    PerfectHashReport unused;
    PerfectHashReport& out = report ? *report : unused;
    PerfectHash<D, E> hash = Builder<D, E>(positions, options, variant).build(out);
    if (report) out.coherence = coherence<D, E>(hash, positions);
    return hash;
}

template <int D, int E>
PerfectHash<D, E> PerfectHash<D, E>::build(std::span<const Voxel<D>> positions, const PerfectHashOptions& options,
                                           PerfectHashReport* report) {
    return voxels::HashBuild<D, E>::build(positions, options, {}, report);
}

template struct voxels::HashBuild<2, 2>;
template struct voxels::HashBuild<3, 3>;
template struct voxels::HashBuild<3, 2>;
template PerfectHash<2> PerfectHash<2>::build(std::span<const Voxel<2>>, const PerfectHashOptions&, PerfectHashReport*);
template PerfectHash<3> PerfectHash<3>::build(std::span<const Voxel<3>>, const PerfectHashOptions&, PerfectHashReport*);
template PerfectHash<3, 2> PerfectHash<3, 2>::build(std::span<const Voxel<3>>, const PerfectHashOptions&,
                                                    PerfectHashReport*);

}  // namespace quadrat
