// From how many offsets are wanted to the numbers of a hash (Lefebvre & Hoppe 2006, section 4.1): sizes of both tables,
// bits and scale of offsets, matrices and the width of short tags. The paper takes cubes and the identity; here tables
// are folded over thin domains, the product of the two sizes covers the domain where tags of buckets want it, and what
// narrows the choice can be given up.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include "base/assert.hpp"
#include "voxels/hash/build.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/hash/placement.hpp"
#include "voxels/hash/short_tags.hpp"
#include "voxels/hash/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace quadrat::voxels {

template <int D, int E>
class ShapeChoice {
  public:
    using Shape = typename PerfectHash<D, E>::Shape;

    /// For at least one position; throws as bounding_box() does. Keeps references to the options.
    ShapeChoice(std::span<const Voxel<D>> positions, const PerfectHashOptions& options, const HashVariant& variant)
        : random_matrices(variant.random_matrices),
          short_tags(options.short_tags),
          options_(options),
          covering_buckets_(variant.covering_buckets) {
        QUADRAT_ASSERT(!positions.empty() && positions.size() <= most_entries);
        base_.entries = static_cast<std::uint32_t>(positions.size());
        const auto domain = bounding_box<D>(positions);
        base_.origin = domain.origin;
        base_.extent = domain.extent;
        for (std::size_t a = 0; a < E; ++a) {
            if (E == D) extent_[a] = base_.extent[a];
            if (options.unique_tags) reach_[a] = extent_[a];
        }
        const double slack = options.slack > 0 ? options.slack : slots_per_entry(options.construction);
        const auto n = static_cast<double>(positions.size());
        cells_ = std::max<std::uint64_t>(positions.size(), static_cast<std::uint64_t>(std::ceil(slack * n)));
    }

    bool random_matrices;  ///< instead of the identity: (section 3) no coherence, but crowded positions are spread
    bool folded = true;    ///< thin axes of the domain are thin in the tables (hash/sizes.hpp)
    int short_tags;        ///< as in PerfectHashOptions

    /// Sizes for about `offsets` entries of the offset table; `below`: at most. `variant` > 0 gives other tables.
    [[nodiscard]] Shape shape_for(std::uint64_t offsets, unsigned variant, bool below, std::uint64_t seed) const {
        Shape s = base_;
        // Random matrices turn thin domains into wide ones.
        const Sizes extent = random_matrices || !folded ? Sizes{} : extent_;
        const Sizes table = table_sizes(E, cells_, variant, extent);
        Folding fold = folding(E, cells_, extent);
        for (std::size_t a = 0; a < E; ++a)
            if (fold.thin[a] != table[a]) fold.thin[a] = 0;
        Sizes offset = offset_sizes(E, offsets, table, fold, reach_, below);
        if (!below) cover(offset, table, std::max<std::uint64_t>(4 * offsets, covering_buckets_));
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
        s.linear = E != D || random_matrices;
        if (s.linear) set_matrices(s, seed);
        s.tag_bits = tag_bits(s);
        return s;
    }

    /// Whether two positions on one slot are in different buckets, as tags of buckets want it.
    [[nodiscard]] bool covers(const Shape& s) const {
        for (std::size_t a = 0; a < E; ++a)
            if (std::uint64_t{s.table[a]} * s.offset[a] < reach_[a]) return false;
        return true;
    }

    /// Whether `folded` makes a difference.
    [[nodiscard]] bool has_thin_axes() const { return folding(E, cells_, extent_).wide < E; }

  private:
    // Bits of short tags (hash/short_tags.hpp); 0 if they are not wanted, not possible or no shorter.
    [[nodiscard]] int tag_bits(const Shape& s) const {
        if (short_tags == 0 || s.linear) return 0;
        double buckets = 1, share = 1;
        for (int a = 0; a < E; ++a) {
            const std::uint64_t period = std::uint64_t{s.table[a]} * s.offset[a];
            if (std::gcd(s.table[a], s.offset[a]) != 1 || period < s.extent[a]) return 0;
            buckets *= s.offset[a];
            share *= static_cast<double>(s.extent[a]) / static_cast<double>(period);
        }
        const int whole = bits_for(static_cast<std::uint64_t>(buckets) + 1);
        const int bits = short_tag_bits(buckets, static_cast<double>(s.entries) / buckets, share, short_tags,
                                        options_.construction == Construction::compact);
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
                if (wide[a] > std::min<std::uint64_t>(limit, largest_size)) return;
            }
        if (product(wide) <= limit) offset = wide;
    }

    // Random coefficients below 2^16, coprime to the sizes; for 3D -> 2D only the last column (section 7.2), with
    // different constants for h0 and h1: with shared ones (x, y, z) and (x - c1, y - c2, z + 1) would always collide.
    void set_matrices(Shape& s, std::uint64_t seed) const {
        Random random(seed ^ 0x6D617472u);  // "matr": numbers apart from those of the placement with the same seed
        const auto coefficient = [&](std::uint32_t size) {
            std::uint32_t c = 0;
            do c = 1 + random.below(65534);
            while (std::gcd(c, size) != 1);
            return c;
        };
        for (int a = 0; a < E; ++a)
            for (int b = 0; b < D; ++b) {
                const bool free = random_matrices || b >= E;
                s.m0[a][b] = free ? coefficient(s.table[a]) : a == b;
                s.m1[a][b] = free ? coefficient(s.offset[a]) : a == b;
            }
    }

    const PerfectHashOptions& options_;
    std::uint64_t covering_buckets_;
    Shape base_;                // what does not depend on sizes
    Sizes extent_{}, reach_{};  // of the domain; what the product of the tables should cover
    std::uint64_t cells_ = 0;   // slots wanted
};

}  // namespace quadrat::voxels
