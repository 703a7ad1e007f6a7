// One choice of table sizes for a set of positions, and the positions sorted into its buckets (Lefebvre & Hoppe 2006,
// section 4.2). The test for injectivity of (h0, h1), which the paper leaves out, is made here: it is what finds equal
// positions, too.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>

#include "base/array.hpp"
#include "base/assert.hpp"
#include "cells/counting_sort.hpp"
#include "voxels/hash/coherent.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/hash/placement.hpp"
#include "voxels/hash/short_tags.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace quadrat::voxels {

// One choice of sizes with its sorted points.
template <int D, int E>
class Trial {
  public:
    using Shape = typename PerfectHash<D, E>::Shape;

    Trial(std::span<const Voxel<D>> positions, const Shape& shape) : positions_(positions), shape_(shape) {
        for (int a = 0; a < E; ++a) {
            buckets_.table[a] = shape.table[a];
            buckets_.steps[a] = std::min<std::uint32_t>(shape.table[a], 1u << shape.bits);
            QUADRAT_ASSERT(shape.table[a] >= 1 && shape.offset[a] >= 1);
        }
        sort();
        buckets_.start = start_;
        buckets_.points = std::span<const Triple>(points_.data(), points_.size());
        if (shape.tag_bits > 0) {
            Sizes offset{1, 1, 1}, extent{1, 1, 1}, unit{1, 1, 1};
            for (std::size_t a = 0; a < E; ++a) {
                offset[a] = shape.offset[a];
                extent[a] = shape.extent[a];
                unit[a] = shape.scale[a];
            }
            tags_.emplace(shape.tag_bits, buckets_.table, offset, extent, unit);
        }
    }

    [[nodiscard]] const Buckets& buckets() const { return buckets_; }
    [[nodiscard]] const Shape& shape() const { return shape_; }
    /// The rule that offsets must keep, or null.
    [[nodiscard]] const ShortTags* tags() const { return tags_ ? &*tags_ : nullptr; }
    [[nodiscard]] std::span<const Voxel<D>> positions() const { return positions_; }

    /// False if two different positions share h0 and h1, so that no offsets can help. Throws if two positions are
    /// equal.
    [[nodiscard]] bool injective() const {
        std::vector<std::uint64_t> seen;
        for (std::uint32_t q = 0; q < buckets_.count(); ++q) {
            const auto points = buckets_.of(q);
            bool twice = false;
            if (points.size() <= 16) {
                for (std::size_t i = 1; i < points.size(); ++i)
                    for (std::size_t j = 0; j < i; ++j) twice |= points[i].bits == points[j].bits;
            } else {
                seen.resize(points.size());
                for (std::size_t i = 0; i < points.size(); ++i) seen[i] = points[i].bits;
                std::sort(seen.begin(), seen.end());
                twice = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
            }
            if (twice) {
                throw_if_equal(q);
                return false;
            }
        }
        return true;
    }

    /// What place_coherently needs; valid as long as this.
    [[nodiscard]] CoherentInput coherent_input(const PerfectHashOptions& options) const {
        sorted_positions_.resize(positions_.size());
        std::vector<std::uint32_t> fill(start_.begin(), start_.end() - 1);
        for (const Voxel<D>& p : positions_) {
            std::uint64_t key = 0;
            for (int a = D - 1; a >= 0; --a)
                key = key << 21 | (static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(shape_.origin[a]));
            sorted_positions_[fill[locate(p).first]++] = key;
        }
        CoherentInput in;
        in.buckets = buckets_;
        in.tags = tags();
        in.positions = sorted_positions_;
        for (int a = 0; a < E; ++a) {
            in.offset_size[static_cast<std::size_t>(a)] = shape_.offset[static_cast<std::size_t>(a)];
            in.step[static_cast<std::size_t>(a)] = map_.inv[a];
        }
        in.domain_dims = E;  // for 3D -> 2D, coherence is kept along the first two axes
        in.locate = [this](std::uint64_t key) {
            Voxel<D> p;
            for (int a = 0; a < D; ++a)
                p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(shape_.origin[a]) +
                                                 static_cast<std::uint32_t>(key >> (21 * a) & 0x1fffff));
            return map_(p);
        };
        in.mode = options.coherence;
        in.seed = options.seed;
        in.watch = options.watch;
        return in;
    }

    /// The bucket and the place in the unscaled table of one position.
    [[nodiscard]] std::pair<std::uint32_t, Triple> locate(const Voxel<D>& p) const { return map_(p); }

  private:
    // p -> (bucket, h0 / scale), with everything that depends on the sizes computed once.
    struct Map {
        bool linear;
        Voxel<D> origin;
        Divider table[E], offset[E];
        std::uint32_t inv[E];
        std::uint32_t m0[E][D], m1[E][D];

        std::pair<std::uint32_t, Triple> operator()(const Voxel<D>& p) const {
            std::uint32_t local[3] = {};
            for (int a = 0; a < D; ++a)
                local[a] = static_cast<std::uint32_t>(p[a]) - static_cast<std::uint32_t>(origin[a]);
            std::uint32_t h[3] = {}, bucket = 0;
            for (int a = E - 1; a >= 0; --a) {
                if (linear) {
                    std::uint64_t sum0 = 0, sum1 = 0;
                    for (int b = 0; b < D; ++b) {
                        sum0 += std::uint64_t{m0[a][b]} * local[b];
                        sum1 += std::uint64_t{m1[a][b]} * local[b];
                    }
                    h[a] = static_cast<std::uint32_t>(sum0 % table[a].divisor);
                    bucket = bucket * offset[a].divisor + static_cast<std::uint32_t>(sum1 % offset[a].divisor);
                } else {
                    h[a] = table[a].remainder(local[a]);
                    bucket = bucket * offset[a].divisor + offset[a].remainder(local[a]);
                }
                if (inv[a] == 1) continue;
                const std::uint64_t product = std::uint64_t{h[a]} * inv[a];
                h[a] = table[a].divisor <= 2048  // then the product is below 2^22
                           ? table[a].remainder(static_cast<std::uint32_t>(product))
                           : static_cast<std::uint32_t>(product % table[a].divisor);
            }
            return {bucket, Triple::of(h[0], h[1], h[2])};
        }
    };

    void sort() {
        map_.linear = shape_.linear != 0;
        map_.origin = shape_.origin;
        std::uint64_t count = 1;
        for (int a = 0; a < E; ++a) {
            map_.table[a] = Divider(shape_.table[a]);
            map_.offset[a] = Divider(shape_.offset[a]);
            map_.inv[a] = shape_.scale[a] == 1 ? 1 : inverse(shape_.scale[a], shape_.table[a]);
            count *= shape_.offset[a];
            for (int b = 0; b < D; ++b) {
                map_.m0[a][b] = shape_.m0[a][b];
                map_.m1[a][b] = shape_.m1[a][b];
            }
        }
        start_.resize(count + 1);
        base::Array<std::uint32_t> bucket(positions_.size());
        base::Array<Triple> place(positions_.size());
        for (std::size_t i = 0; i < positions_.size(); ++i) {
            const auto [q, h] = map_(positions_[i]);
            bucket[i] = q;
            place[i] = h;
        }
        points_.resize_discard(positions_.size());
        cells::counting_sort(
            std::span(start_).subspan(1), 0, static_cast<std::uint32_t>(positions_.size()),
            [&](std::uint32_t i) { return bucket[i]; },
            [&](std::uint32_t i, std::uint32_t to) { points_[to] = place[i]; });
    }

    void throw_if_equal(std::uint32_t q) const {
        std::vector<std::size_t> mine;
        for (std::size_t i = 0; i < positions_.size(); ++i)
            if (locate(positions_[i]).first == q) mine.push_back(i);
        const auto less = [&](std::size_t i, std::size_t j) {
            for (int a = D - 1; a >= 0; --a)
                if (positions_[i][a] != positions_[j][a]) return positions_[i][a] < positions_[j][a];
            return i < j;
        };
        std::sort(mine.begin(), mine.end(), less);
        for (std::size_t k = 1; k < mine.size(); ++k)
            if (positions_[mine[k]] == positions_[mine[k - 1]]) throw_duplicate<D>(positions_, mine[k]);
    }

    std::span<const Voxel<D>> positions_;
    Shape shape_;
    Map map_ = {};
    Buckets buckets_;
    std::optional<ShortTags> tags_;
    std::vector<std::uint32_t> start_;
    base::Array<Triple> points_;
    mutable std::vector<std::uint64_t> sorted_positions_;
};

}  // namespace quadrat::voxels
