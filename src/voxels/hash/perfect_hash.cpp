// The driver of Lefebvre & Hoppe 2006, section 4.1: asks for sizes of the tables (hash/shape_choice.hpp), sorts the
// positions into the buckets of h1 (hash/trial.hpp), and calls the greedy placement until it succeeds (fast) or until
// no smaller offset table is found (compact).
#include <quadrat/error.hpp>
#include <quadrat/voxels/perfect_hash.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/coherent.hpp"
#include "voxels/hash/placement.hpp"
#include "voxels/hash/shape_choice.hpp"
#include "voxels/hash/trial.hpp"
#include "voxels/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace quadrat {
namespace {

using voxels::HashVariant;
using voxels::Placement;
using voxels::ShapeChoice;
using voxels::Trial;
using voxels::Triple;

// Up to so many positions everything is tried before a set is refused, as attempts are cheap there.
constexpr std::size_t patient_set = 1000;
// Above these, sets are all alike, and other seeds and shapes of the table help the less: fewer of them are tried, and
// a seed that fails says less about the others. Both borders were set where a search takes seconds, not by a
// measurement of their own; what the first of them does is measured in docs/decisions/0041.
constexpr std::size_t medium_set = 400000, large_set = 2000000;
// Below, a third of a percent more cells (hash/sizes.cpp) is seldom another table, so only one is tried.
constexpr std::size_t small_set = 20000;

template <int D, int E>
class Builder {
  public:
    using Hash = PerfectHash<D, E>;
    using Shape = typename Hash::Shape;

    Builder(std::span<const Voxel<D>> positions, const PerfectHashOptions& options, const HashVariant& variant)
        : positions_(positions), options_(options), variant_(variant), choice_(positions, options, variant) {
        QUADRAT_ASSERT(!positions.empty());
    }

    Hash build(PerfectHashReport& report) {
        if (options_.construction == Construction::compact) {
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

    // Tries one shape with up to `seeds` seeds; the smallest seed that works wins, whatever the number of threads. A
    // seed that fails with more than 1 % of the buckets to come ends the attempt, as others would fail as well; not so
    // in large sets, which have few evictions for their size (docs/decisions/0041, measured there).
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
                    hopeless[k] = placement.unplaced() > 0.01 && positions_.size() <= medium_set;
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
    // in a universe of tables: the chance for one of all offsets, if slots were taken at random, is below e^-30, once
    // in 10^13 buckets.
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

    // Fast construction: sigma = 1 / (2 E) as in the paper, then 3 % more until it works, and after 24 times, which
    // double it, 10 %; the table gets another shape every fourth time. Where that
    // does not help, what narrows the choice is given up one by one: short tags, then thin tables for thin domains, and
    // where all positions fall into few buckets (a row in a wide domain) random matrices spread them.
    void grow(PerfectHashReport& report) {
        const double start = std::max(1.0, static_cast<double>(positions_.size()) / (2 * E));
        // What the error says, and for small sets, where it is cheap, much more.
        const double limit = 64.0 * static_cast<double>(positions_.size()) + 1e6;
        const double most = variant_.most_buckets != 0 ? static_cast<double>(variant_.most_buckets) : limit;
        double wanted = start;
        for (unsigned round = 0; wanted < limit; ++round) {
            base::check_in(Watch{options_.watch.stop, {}}, 0, 1);
            const bool patient = !choice_.folded && positions_.size() <= patient_set;
            const bool hopeless = hopeless_ && !patient;
            // The start is what random data needs. What fails with eight times as many is regular; the factor was
            // chosen, not measured.
            const bool stuck = hopeless || wanted > std::min((patient ? 64 : 8) * start + 64, most);
            if (stuck && !choice_.random_matrices) {
                if (choice_.short_tags != 0 && !hopeless) {  // they are what no offset can keep
                    choice_.short_tags = 0;
                    wanted = start;
                } else if (choice_.folded && choice_.has_thin_axes()) {
                    choice_.folded =
                        false;  // few buckets, each of whole columns, are the harder the fuller the domain is
                    wanted = start;
                } else if (variant_.identity_only) {
                    break;
                } else {
                    choice_.random_matrices = true;
                    wanted = std::max(start, static_cast<double>(positions_.size()) / 3);  // fewer are seldom injective
                }
                hopeless_ = false;
            } else if (wanted > most) {
                break;
            }
            const Shape s = choice_.shape_for(static_cast<std::uint64_t>(std::ceil(wanted)), round / 4, false,
                                              options_.seed + round);
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

    // Compact construction: bisection over the number of offsets, down to steps of 0.7 %, 0.02 of 3 bits for each entry
    // (2 % for large sets). Eviction moves the threshold at which greedy placement fails, but cannot beat the entropy
    // of the offsets, log2(e) = 1.44 bits for each entry without slack, so the range is known: down to a third of the 4
    // bits of the fast construction.
    void search(PerfectHashReport& report) {
        grow(report);
        const auto n = static_cast<double>(positions_.size());
        auto high = static_cast<double>(best_->trial->buckets().count());
        double low = high / 3;
        // What the fast construction covers stays covered: tags of buckets are not given up for a few offsets.
        const bool covered = choice_.covers(best_->trial->shape());
        const bool medium = positions_.size() > medium_set, large = positions_.size() > large_set;
        const int seeds = std::min(options_.attempts, large ? 1 : medium ? 2 : options_.attempts);
        const unsigned variants = large || positions_.size() < small_set ? 1 : medium ? 2 : 3;
        // More evictions for small sets cost six times the time for nothing (docs/decisions/0041).
        const auto evictions = std::min<std::uint64_t>(10 + positions_.size() / 100, large ? 300 : 1000);
        for (int step = 0; step < 12 && high - low > std::max(1.0, (large ? 0.02 : 0.007) * high); ++step) {
            base::check_in(options_.watch, static_cast<std::size_t>(step), 12);
            // Starts near what random data reaches: 8 E bits of offset for 6 or 8 entries are 2.7 or 3 bits each.
            const double middle = step == 0 ? std::clamp(n / (E == 2 ? 6.0 : 8.0), low, 0.9 * high) : (low + high) / 2;
            bool done = false;
            for (unsigned variant = 0; variant < variants && !done; ++variant) {
                const Shape s =
                    choice_.shape_for(static_cast<std::uint64_t>(middle), variant, true, options_.seed + variant);
                std::uint64_t cells = 1;
                for (int a = 0; a < E; ++a) cells *= s.offset[a];
                if (static_cast<double>(cells) >= high) break;
                if (covered && !choice_.covers(s)) continue;
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
                    positions_, choice_.shape_for(static_cast<std::uint64_t>((1 + 0.03 * round) * wanted), 0, false,
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
    const HashVariant& variant_;
    ShapeChoice<D, E> choice_;
    std::optional<Found> best_;
    std::uint64_t evictions_ = 0;
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
    if (positions.size() > voxels::most_entries) throw Error(ErrorKind::too_large, "more than 2^27 positions");
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
