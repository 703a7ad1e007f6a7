// The coarse levels of a mipmap and their places in the flattened domain (Lefebvre & Hoppe 2006, section 6).
#include <quadrat/voxels/mipmaps.hpp>

#include "voxels/hash/domain.hpp"
#include "voxels/sampling/columns.hpp"

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
        case ValueType::f16:
            return fn(Half{});
        case ValueType::bytes:
        case ValueType::boolean:
            break;
    }
    throw Error(ErrorKind::unsupported, std::string(name(type)) + " has no mean; give the channel another type",
                {.field = field});
}

// v rounded to T; means of values of T are in range but for rounding.
template <class T>
T rounded(double v) {
    if constexpr (std::is_same_v<T, Half>) {
        return Half(static_cast<float>(v));
    } else if constexpr (std::is_floating_point_v<T>) {
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
    std::vector<std::uint32_t> order(fine.at.size());
    std::vector<Voxel<D>> parent(fine.at);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<std::uint32_t>(i);
        for (int a = 0; a < D; ++a) parent[i][a] >>= 1;
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
        // Sums must not depend on the order of the input: children by place.
        if (!(parent[i] == parent[j])) return voxels::by_z_y_x<D>(parent[i], parent[j]);
        return voxels::by_z_y_x<D>(fine.at[i], fine.at[j]);
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

template <class T>
double as_double(T value) {
    if constexpr (std::is_same_v<T, Half>)
        return static_cast<float>(value);
    else
        return static_cast<double>(value);
}

// fn(k, scalar k as double) for all scalars of a column's type in `bytes`, whole values.
template <class Fn>
void for_each_scalar(const ColumnView& column, std::span<const std::byte> bytes, Fn&& fn) {
    QUADRAT_ASSERT(bytes.size() % size_of(column.type) == 0);
    with_type(column.type, std::string(column.name), [&](auto value) {
        for (std::size_t k = 0; k < bytes.size() / sizeof value; ++k) {
            std::memcpy(&value, bytes.data() + k * sizeof value, sizeof value);
            fn(k, as_double(value));
        }
    });
}

// The samples of the finest level, with 1 as their number.
template <int D>
Samples<D> finest(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns, std::size_t width) {
    Samples<D> level;
    level.at.assign(positions.begin(), positions.end());
    level.count.assign(positions.size(), 1.0);
    level.sums.resize(positions.size() * width);
    std::size_t first = 0;
    for (const ColumnView& c : columns) {
        const std::size_t n = c.components;
        for_each_scalar(c, c.rows, [&](std::size_t i, double x) { level.sums[i / n * width + first + i % n] = x; });
        first += n;
    }
    return level;
}

// The background of all columns, one after another; zero where there is none.
std::vector<double> backgrounds(std::span<const ColumnView> columns, std::size_t width) {
    std::vector<double> out(width);
    std::size_t first = 0;
    for (const ColumnView& c : columns) {
        for_each_scalar(c, c.background, [&](std::size_t i, double x) { out[first + i] = x; });
        first += c.components;
    }
    return out;
}

// Appends mean(sample, k) for the components k of one column, all samples of a level, in the column's type.
template <class Mean>
void append_means(const ColumnView& column, std::size_t samples, std::vector<std::byte>& rows, Mean&& mean) {
    with_type(column.type, std::string(column.name), [&](auto zero) {
        using T = decltype(zero);
        std::size_t end = rows.size();
        rows.resize(end + samples * column.components * sizeof(T));
        for (std::size_t i = 0; i < samples; ++i)
            for (std::size_t k = 0; k < column.components; ++k, end += sizeof(T)) {
                const T value = rounded<T>(mean(i, k));
                std::memcpy(rows.data() + end, &value, sizeof(T));
            }
    });
}

// The smallest by count of bytes for the finest level, among those that the widest column allows.
template <int D>
std::uint32_t block_size(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                         std::size_t value_bytes, const BlockOptions& options) {
    std::uint32_t widest = 1, best = 0;
    for (const ColumnView& c : columns) widest = std::max(widest, c.components);
    std::uint64_t least = ~std::uint64_t{0};
    for (const BlockCost& c : block_costs<D>(positions, value_bytes, options)) {
        const std::uint64_t b1 = c.size + 1, samples = D == 3 ? b1 * b1 * b1 : b1 * b1;
        if (c.bytes >= least || samples * widest > 4096) continue;
        least = c.bytes;
        best = c.size;
    }
    return best;
}

// Errors of the flat domain would name rows and coordinates that nobody gave, so they are found before.
template <int D>
void check_positions(std::span<const Voxel<D>> positions, const MipmapShape<D>& shape, std::uint32_t block) {
    std::vector<std::uint32_t> order(positions.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
        return positions[i] == positions[j] ? i < j : voxels::by_z_y_x<D>(positions[i], positions[j]);
    });
    std::uint64_t later = positions.size();
    for (std::size_t k = 1; k < order.size(); ++k)
        if (positions[order[k]] == positions[order[k - 1]]) later = std::min<std::uint64_t>(later, order[k]);
    if (later != positions.size()) voxels::throw_duplicate<D>(positions, later);
    const MipmapLevels<D> levels(shape, block);
    for (int a = 0; a < D; ++a) {
        std::int64_t reach = 0;
        for (std::uint32_t k = 0; k < levels.count(); ++k) reach = std::max(reach, levels.end(k, a));
        if (reach > voxels::largest_extent - 64)
            throw Error(ErrorKind::bad_value,
                        "positions span " + std::to_string(shape.extent[static_cast<std::size_t>(a)]) +
                            " cells; with all levels of a mipmap beside each other that is more than 2^21",
                        {.column = static_cast<std::uint64_t>(a)});
    }
}

// The flat grid of all levels without blocks.
template <int D>
VoxelGrid<D> pack_flat(std::span<const Voxel<D>> flat, std::span<const ColumnView> columns, const VoxelOptions& options,
                       PerfectHashReport* report) {
    VoxelGrid<D> grid;
    grid.index = VoxelIndex<D>::build(flat, options, report);
    for (const ColumnView& c : columns) {
        Channel& channel = grid.add_channel(std::string(c.name), c.type, c.components, flat, c.rows);
        const auto* row = reinterpret_cast<const std::uint8_t*>(c.background.data());
        channel.background.assign(row, row + c.background.size());
    }
    return grid;
}

}  // namespace

template <int D>
VoxelGrid<D> pack_mipmap(std::span<const Voxel<D>> positions, std::span<const ColumnView> columns,
                         const MipmapOptions& options, PerfectHashReport* report) {
    voxels::check_columns(columns, positions.size());
    std::size_t width = 0, value_bytes = 0;
    for (const ColumnView& c : columns) {
        width += c.components;
        value_bytes += c.value_bytes();
    }
    MipmapShape<D> shape{1, {}, {}};
    shape.extent.fill(1);
    BlockOptions blocks = options.blocks;
    if (!positions.empty()) {
        const auto domain = voxels::bounding_box<D>(positions);
        shape.origin = domain.origin;
        shape.extent = domain.extent;
        shape.levels = std::min(options.levels ? options.levels : 32u,
                                levels_until_one(*std::max_element(domain.extent.begin(), domain.extent.end())));
        if (options.blocked && blocks.size == 0) blocks.size = block_size<D>(positions, columns, value_bytes, blocks);
    }
    check_positions<D>(positions, shape, options.blocked ? blocks.size : 0);
    const MipmapLevels<D> levels(shape, options.blocked ? blocks.size : 0);
    Samples<D> level = finest<D>(positions, columns, width);
    const std::vector<double> background = backgrounds(columns, width);
    std::vector<Voxel<D>> flat;
    std::vector<std::vector<std::byte>> rows(columns.size());
    for (std::uint32_t k = 0; k < shape.levels; ++k) {
        if (k > 0) level = halved<D>(level, width);
        for (const Voxel<D>& p : level.at) (void)levels.flatten(k, p, flat.emplace_back());
        const double below = std::ldexp(1.0, static_cast<int>(k) * D);  // positions of the finest level in a sample
        std::size_t first = 0;
        for (std::size_t c = 0; c < columns.size(); first += columns[c++].components) {
            if (k == 0) {  // as given, not through double
                rows[c].assign(columns[c].rows.begin(), columns[c].rows.end());
                continue;
            }
            append_means(columns[c], level.at.size(), rows[c], [&](std::size_t i, std::size_t component) {
                const double sum = level.sums[i * width + first + component], count = level.count[i];
                return options.mean == MipmapMean::stored
                           ? sum / count
                           : (sum + (below - count) * background[first + component]) / below;
            });
        }
    }
    std::vector<ColumnView> flat_columns(columns.begin(), columns.end());
    for (std::size_t c = 0; c < columns.size(); ++c) flat_columns[c].rows = rows[c];
    blocks.voxels.value_bytes = value_bytes;  // pack_blocks sets its own
    VoxelGrid<D> grid = options.blocked ? pack_blocks<D>(flat, flat_columns, blocks, report)
                                        : pack_flat<D>(flat, flat_columns, blocks.voxels, report);
    grid.mipmap = shape;
    return grid;
}

template class MipmapLevels<2>;
template VoxelGrid<2> pack_mipmap<2>(std::span<const Voxel<2>>, std::span<const ColumnView>, const MipmapOptions&,
                                     PerfectHashReport*);
template class MipmapLevels<3>;
template VoxelGrid<3> pack_mipmap<3>(std::span<const Voxel<3>>, std::span<const ColumnView>, const MipmapOptions&,
                                     PerfectHashReport*);

}  // namespace quadrat
