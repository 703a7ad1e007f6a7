// The coarse levels of a mipmap and their places in the flattened domain (Lefebvre & Hoppe 2006, section 6).
#include <quadrat/voxels/mipmaps.hpp>

#include "voxels/hash/domain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quadrat {

template <int D>
MipmapLevels<D>::MipmapLevels(const MipmapShape<D>& shape, std::uint32_t block) {
    const std::int64_t b = std::max(block, 1u);
    std::int64_t column = 0, stacked = 0;
    for (std::uint32_t k = 0; k < shape.levels; ++k) {
        Level l{};
        std::int64_t padded[D];  // with the border before it, in whole blocks
        for (int a = 0; a < D; ++a) {
            const std::int64_t last = std::int64_t{shape.origin[a]} + shape.extent[static_cast<std::size_t>(a)] - 1;
            l.origin[a] = shape.origin[a] >> k;
            l.extent[static_cast<std::size_t>(a)] = static_cast<std::uint32_t>((last >> k) - l.origin[a] + 1);
            padded[a] = (l.extent[static_cast<std::size_t>(a)] + 1 + b - 1) / b * b;
        }
        if (k == 0) {
            column = padded[0];
        } else {
            l.base[0] = static_cast<std::int32_t>(column);
            l.base[1] = static_cast<std::int32_t>(stacked);
            stacked += padded[1];
        }
        levels_.push_back(l);
    }
}

template <int D>
std::uint64_t MipmapLevels<D>::samples(std::uint32_t level) const {
    std::uint64_t n = 1;
    for (const std::uint32_t e : levels_[level].extent) n *= e;
    return n;
}

namespace {

template <class Fn>
void with_type(ValueType type, const std::string& field, Fn&& fn) {
    switch (type) {
        case ValueType::u8:
            return fn(std::uint8_t{});
        case ValueType::i8:
            return fn(std::int8_t{});
        case ValueType::u16:
            return fn(std::uint16_t{});
        case ValueType::i16:
            return fn(std::int16_t{});
        case ValueType::u32:
            return fn(std::uint32_t{});
        case ValueType::i32:
            return fn(std::int32_t{});
        case ValueType::u64:
            return fn(std::uint64_t{});
        case ValueType::i64:
            return fn(std::int64_t{});
        case ValueType::f32:
            return fn(float{});
        case ValueType::f64:
            return fn(double{});
        case ValueType::bytes:
            break;
    }
    throw Error(ErrorKind::unsupported, "bytes have no mean; give the channel a type", {.field = field});
}

// v rounded to T; means of values of T are in range but for rounding.
template <class T>
T rounded(double v) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(v);
    } else {
        v = std::floor(v + 0.5);
        if (v <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
        if (v >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
        return static_cast<T>(v);
    }
}

// The samples of one level: each with the sum of the samples of level 0 below it and their number. Level 0 is in the
// caller's order, the coarser ones by z, y, x.
template <int D>
struct Samples {
    std::vector<Voxel<D>> at;
    std::vector<double> sums;  // all columns, one after another, for each sample
    std::vector<double> count;
};

template <int D>
Samples<D> halved(const Samples<D>& fine, std::size_t width) {
    const auto less = [](const Voxel<D>& a, const Voxel<D>& b) {
        for (int k = D - 1; k >= 0; --k)
            if (a[k] != b[k]) return a[k] < b[k];
        return false;
    };
    std::vector<std::uint32_t> order(fine.at.size());
    std::vector<Voxel<D>> parent(fine.at);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<std::uint32_t>(i);
        for (int a = 0; a < D; ++a) parent[i][a] >>= 1;
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
        // Sums must not depend on the order of the input: children by place.
        if (!(parent[i] == parent[j])) return less(parent[i], parent[j]);
        return less(fine.at[i], fine.at[j]);
    });
    Samples<D> out;
    for (const std::uint32_t i : order) {
        if (out.at.empty() || !(out.at.back() == parent[i])) {
            out.at.push_back(parent[i]);
            out.count.push_back(0);
            out.sums.resize(out.sums.size() + width);
        }
        out.count.back() += fine.count[i];
        for (std::size_t c = 0; c < width; ++c) out.sums[out.sums.size() - width + c] += fine.sums[i * width + c];
    }
    return out;
}

std::uint32_t levels_until_one(std::uint32_t extent) {
    std::uint32_t levels = 1;
    while (extent > 1) {
        extent = (extent + 1) / 2;
        ++levels;
    }
    return levels;
}

}  // namespace

template <int D>
VoxelGrid<D> pack_mipmap(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                         const MipmapOptions& options) {
    std::size_t width = 0, value_bytes = 0;
    for (const ColumnView& c : columns) {
        if (c.rows.size() != positions.size() * c.value_bytes())
            throw Error(ErrorKind::bad_shape, "positions and values differ in number", {.field = std::string(c.name)});
        if (!c.background.empty() && c.background.size() != c.value_bytes())
            throw Error(ErrorKind::bad_shape, "the background is not one value", {.field = std::string(c.name)});
        width += c.components;
        value_bytes += c.value_bytes();
    }
    MipmapShape<D> shape{1, {}, {}};
    BlockOptions blocks = options.blocks;
    Samples<D> level;
    if (positions.empty()) {
        shape.extent.fill(1);
    } else {
        const auto domain = voxels::bounding_box<D>(positions);
        shape.origin = domain.origin;
        shape.extent = domain.extent;
        shape.levels = std::min(options.levels ? options.levels : 32u,
                                levels_until_one(*std::max_element(domain.extent.begin(), domain.extent.end())));
        if (options.blocked && blocks.size == 0) {
            const auto costs = block_costs<D>(positions, value_bytes, blocks);
            std::uint32_t widest = 1;
            for (const ColumnView& c : columns) widest = std::max(widest, c.components);
            std::uint64_t least = ~std::uint64_t{0};
            for (const BlockCost& c : costs) {
                const std::uint64_t b1 = c.size + 1, samples = D == 3 ? b1 * b1 * b1 : b1 * b1;
                if (c.bytes >= least || samples * widest > 4096) continue;
                least = c.bytes;
                blocks.size = c.size;
            }
        }
        level.at.assign(positions.begin(), positions.end());
        level.count.assign(positions.size(), 1.0);
        level.sums.resize(positions.size() * width);
    }
    const MipmapLevels<D> levels(shape, options.blocked ? blocks.size : 0);
    std::vector<Voxel<D>> flat;
    std::vector<std::vector<std::byte>> rows(columns.size());
    std::vector<double> background(width);
    std::size_t first = 0;
    for (std::size_t c = 0; c < columns.size(); first += columns[c++].components)
        with_type(columns[c].type, std::string(columns[c].name), [&](auto zero) {
            using T = decltype(zero);
            const std::size_t n = columns[c].components;
            T value;
            for (std::size_t i = 0; i < positions.size() * n; ++i) {
                std::memcpy(&value, columns[c].rows.data() + i * sizeof(T), sizeof(T));
                level.sums[i / n * width + first + i % n] = static_cast<double>(value);
            }
            for (std::size_t k = 0; k < n && !columns[c].background.empty(); ++k) {
                std::memcpy(&value, columns[c].background.data() + k * sizeof(T), sizeof(T));
                background[first + k] = static_cast<double>(value);
            }
        });
    for (std::uint32_t k = 0; k < shape.levels; ++k) {
        if (k > 0) level = halved<D>(level, width);
        for (const Voxel<D>& p : level.at) (void)levels.flatten(k, p, flat.emplace_back());
        const double below = std::ldexp(1.0, static_cast<int>(k) * D);
        first = 0;
        for (std::size_t c = 0; c < columns.size(); first += columns[c++].components) {
            if (k == 0) {  // as given, not through double
                rows[c].assign(columns[c].rows.begin(), columns[c].rows.end());
                continue;
            }
            with_type(columns[c].type, std::string(columns[c].name), [&](auto zero) {
                using T = decltype(zero);
                const std::size_t n = columns[c].components;
                std::size_t end = rows[c].size();
                rows[c].resize(end + level.at.size() * n * sizeof(T));
                for (std::size_t i = 0; i < level.at.size(); ++i)
                    for (std::size_t j = 0; j < n; ++j, end += sizeof(T)) {
                        const double sum = level.sums[i * width + first + j], count = level.count[i];
                        const double mean = options.mean == MipmapMean::stored
                                                ? sum / count
                                                : (sum + (below - count) * background[first + j]) / below;
                        const T value = rounded<T>(mean);
                        std::memcpy(rows[c].data() + end, &value, sizeof(T));
                    }
            });
        }
    }
    std::vector<ColumnView> flat_columns(columns.begin(), columns.end());
    for (std::size_t c = 0; c < columns.size(); ++c) flat_columns[c].rows = rows[c];
    VoxelGrid<D> grid;
    if (options.blocked) {
        grid = pack_blocks<D>(flat, flat_columns, blocks);
    } else {
        VoxelOptions o = blocks.voxels;
        o.value_bytes = value_bytes;
        try {
            grid.index = VoxelIndex<D>::build(flat, o);
        } catch (const Error& e) {
            // The finest level comes first, in the order given.
            if (e.kind() == ErrorKind::duplicate && e.where().index && *e.where().index < positions.size())
                voxels::throw_duplicate<D>(positions, *e.where().index);
            throw;
        }
        for (const ColumnView& c : flat_columns) {
            Channel& channel = grid.add_channel(std::string(c.name), c.type, c.components, flat, c.rows);
            const auto* row = reinterpret_cast<const std::uint8_t*>(c.background.data());
            channel.background.assign(row, row + c.background.size());
        }
    }
    grid.mipmap = shape;
    return grid;
}

template class MipmapLevels<2>;
template VoxelGrid<2> pack_mipmap<2>(std::span<const Voxel<2>>, std::span<const ColumnView>, const MipmapOptions&);
template class MipmapLevels<3>;
template VoxelGrid<3> pack_mipmap<3>(std::span<const Voxel<3>>, std::span<const ColumnView>, const MipmapOptions&);

}  // namespace quadrat
