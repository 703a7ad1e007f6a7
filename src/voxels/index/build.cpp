// VoxelIndex::build: which layout, then its builder. The automatic layout is the smallest of those that were built, not
// of estimates: what cannot be smaller, by a bound that always holds, is not built.
#include <quadrat/error.hpp>
#include <quadrat/voxels/voxel_index.hpp>

#include "voxels/hash/domain.hpp"
#include "voxels/index/build.hpp"
#include "voxels/index/estimates.hpp"
#include "voxels/index/key_code.hpp"
#include "voxels/index/ranked.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace quadrat {
namespace {

// Entries up to which every layout is built as if it were asked for: no bound says beforehand what a few entries take,
// and a limit changes which hashes are tried.
constexpr std::size_t small_set = 1024;

// Bricks, bits and keys know absence in one way only; another one that was asked for is not dropped in silence.
void check_encoding(Layout layout, Encoding encoding) {
    if (encoding == Encoding::automatic || layout == Layout::automatic || layout == Layout::voxel) return;
    const Encoding own = layout == Layout::brick  ? Encoding::bucket_tag
                         : layout == Layout::bits ? Encoding::domain_bit
                                                  : Encoding::position_tag;
    if (encoding != own)
        throw Error(ErrorKind::unsupported,
                    std::string("the ") + name(layout) + " layout has " + name(own) + " only, not " + name(encoding) +
                        "; take the voxel layout",
                    {.field = "encoding"});
}

// Builds layouts one after another, and keeps the smallest.
template <int D>
class Smallest {
  public:
    Smallest(std::span<const Voxel<D>> positions, const VoxelOptions& options, PerfectHashReport* report)
        : positions_(positions),
          options_(options),
          report_(report),
          n_(positions.size()),
          domain_(voxels::bounding_box<D>(positions)) {}

    voxels::Draft<D> build() {
        const std::uint64_t cells = domain_.cells();
        const std::uint64_t keys = voxels::KeyShape::smallest(cells, static_cast<std::uint32_t>(n_)).bits();
        // A hash that takes more than a list of sorted numbers is not worth its reads.
        const std::uint64_t list = n_ * static_cast<std::uint64_t>(voxels::bits_for(cells));
        most_ = options_.optimize == Optimize::size ? keys - 1 : std::max(list, keys);
        if (cells < std::uint64_t{1} << 36) {
            const std::uint64_t bytes = voxels::domain_bit_bytes(cells) + voxels::Bits<D>::rank_bytes(cells);
            const std::uint64_t bits = 8 * (bytes - 2 * voxels::table_padding);
            if (bits <= most_) keep(Build::bits(positions_));
        }
        const auto estimates = voxels::layout_bits<D>(positions_, options_);
        const bool bricks_first = estimates.brick < estimates.voxel;
        if (bricks_first) try_bricks(estimates.bricks);
        try_voxels();
        if (!bricks_first) try_bricks(estimates.bricks);
        if (best_) return std::move(*best_);
        return Build::keys(positions_);
    }

  private:
    using Build = voxels::Builders<D>;

    void keep(voxels::Draft<D>&& draft) {
        const std::uint64_t bits = voxels::overhead_bits(draft, n_, options_.value_bytes);
        if (bits > most_) return;
        best_ = std::move(draft);
        most_ = bits == 0 ? 0 : bits - 1;
        if (report_) *report_ = now_;
    }
    void try_bricks(std::uint64_t bricks) {
        // There is a record for every brick, however many offsets it takes to tell them apart.
        const std::uint64_t records = bricks * 8 * voxels::BrickRecords::stride_for(1);
        const std::uint64_t offsets = small() ? 0 : voxels::least_offset_bits(bricks, options_);
        if (offsets + records > most_) return;
        attempt([&] { return Build::bricks(positions_, options_, limit(), report_ ? &now_ : nullptr); });
    }
    void try_voxels() {
        // A table of buckets has one for 16 entries or more, and at most 16 of them share a tag (hash/short_tags.cpp).
        const std::uint64_t tag = voxels::bits_for(n_ / 256 + 1);
        const std::uint64_t least = std::min(n_ * tag, voxels::least_plain_bits<D>(domain_, n_));
        if (!small() && voxels::least_offset_bits(n_, options_) + least > most_) return;
        const auto spread = small() ? voxels::Spread::allowed : voxels::Spread::never;
        attempt([&] { return Build::voxels(positions_, options_, limit(), spread, report_ ? &now_ : nullptr); });
    }
    [[nodiscard]] bool small() const { return n_ <= small_set; }
    [[nodiscard]] std::uint64_t limit() const { return small() ? voxels::any_size : most_; }
    // What is not possible, or too large, is left out.
    template <class Make>
    void attempt(Make&& make) {
        try {
            keep(make());
        } catch (const Error& e) {
            if (e.kind() != ErrorKind::unsupported && e.kind() != ErrorKind::too_large) throw;
        }
    }

    std::span<const Voxel<D>> positions_;
    const VoxelOptions& options_;
    PerfectHashReport* report_;
    PerfectHashReport now_ = {};
    std::uint64_t n_;
    voxels::Domain<D> domain_;
    std::uint64_t most_ = 0;  // bits that the next one may take
    std::optional<voxels::Draft<D>> best_;
};

template <int D>
voxels::Draft<D> draft_of(std::span<const Voxel<D>> positions, const VoxelOptions& options, PerfectHashReport* report) {
    using Build = voxels::Builders<D>;
    if (positions.empty())
        return Build::voxels(positions, {.encoding = Encoding::bucket_tag}, voxels::any_size, voxels::Spread::never,
                             nullptr);
    switch (options.layout) {
        case Layout::bits:
            return Build::bits(positions);
        case Layout::keys:
            return Build::keys(positions);
        case Layout::brick:
            return Build::bricks(positions, options, voxels::any_size, report);
        case Layout::voxel:
            break;
        case Layout::automatic:
            if (options.encoding == Encoding::automatic) return Smallest<D>(positions, options, report).build();
            break;
    }
    return Build::voxels(positions, options, voxels::any_size, voxels::Spread::allowed, report);
}

}  // namespace

template <int D>
VoxelIndex<D> VoxelIndex<D>::build(std::span<const Voxel<D>> positions, const VoxelOptions& options,
                                   PerfectHashReport* report) {
    check_encoding(options.layout, options.encoding);
    if (positions.size() > voxels::most_entries) throw Error(ErrorKind::too_large, "more than 2^27 positions");
    voxels::Draft<D> draft = draft_of<D>(positions, options, report);
    draft.parts.entries = static_cast<std::uint32_t>(positions.size());
    return voxels::IndexFiles<D>::from_built(std::move(draft.parts), draft.hash);
}

template VoxelIndex<2> VoxelIndex<2>::build(std::span<const Voxel<2>>, const VoxelOptions&, PerfectHashReport*);
template VoxelIndex<3> VoxelIndex<3>::build(std::span<const Voxel<3>>, const VoxelOptions&, PerfectHashReport*);

}  // namespace quadrat
