// Building the sorted points of CellIndex. Dense form: one pass cuts the points by row into parts that fit the
// second-level cache, then each part is counting-sorted by (row, bin) on its own, with the table of cell starts as its
// counters; parts that are too long are cut once more. All passes are stable, so the order inside a cell is the order
// of the input for any number of threads.
#include "neighbors/grid.hpp"

#include "base/parallel.hpp"
#include "neighbors/keys.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace quadrat::neighbors {
namespace {

constexpr std::size_t part_size = 16384;  // points that one counting sort should see: a quarter of a megabyte
constexpr std::size_t max_parts = 64;     // streams that one pass can write to without losing its caches
constexpr std::size_t row_block = 1024;   // points whose rows are found at once
constexpr double target_per_cell = 6;     // points per cell below which rows get wider than the radius
constexpr double bins_per_radius = 4;
constexpr double min_per_bin = 0.5;

template <int D, class T>
struct PointSource {
    static constexpr std::size_t stride = D;
    std::span<const Vec<D, T>> points;
    [[nodiscard]] std::size_t size() const { return points.size(); }
    [[nodiscard]] const T* at(std::size_t i) const { return points[i].v; }
    [[nodiscard]] std::uint32_t id(std::size_t i) const { return static_cast<std::uint32_t>(i); }
};

template <int D, class T>
struct RecordSource {
    static constexpr std::size_t stride = record_stride<D, T>;
    std::span<const Record<D, T>> records;
    [[nodiscard]] std::size_t size() const { return records.size(); }
    [[nodiscard]] const T* at(std::size_t i) const { return records[i].v; }
    [[nodiscard]] std::uint32_t id(std::size_t i) const { return records[i].id; }
};

}  // namespace

template <int D, class T>
Geometry<D, T>::Geometry(const T* bounds_lo, const T* bounds_hi, std::size_t n, double radius, unsigned subdivision) {
    const double eps = std::numeric_limits<T>::epsilon();
    double extent[D], volume = 1, magnitude = 0;
    for (int k = 0; k < D; ++k) {
        lo[k] = bounds_lo[k];
        extent[k] = static_cast<double>(bounds_hi[k]) - static_cast<double>(bounds_lo[k]);
        magnitude += std::abs(static_cast<double>(bounds_lo[k])) + std::abs(static_cast<double>(bounds_hi[k]));
        volume *= extent[k] / radius + 1;
    }
    slack = static_cast<T>(std::min(32 * eps * magnitude, static_cast<double>(std::numeric_limits<T>::max())));

    // Rows a little wider than the radius, or wide enough for a few points per cell.
    const double per_cell = static_cast<double>(n) / volume;
    double wide = (1 + 16 * eps) / std::max(1u, subdivision);
    if (subdivision == 0 && per_cell < target_per_cell)
        wide = std::max(wide, std::pow(target_per_cell / per_cell, 1.0 / D));
    double bin = 1 / bins_per_radius;
    bin = std::max(bin, min_per_bin / (per_cell * std::pow(wide, D - 1)));
    double count[D];
    const auto count_cells = [&] {
        double total = 1;
        for (int k = 0; k < D; ++k) {
            count[k] = std::floor(extent[k] / (radius * (k == 0 ? bin : wide))) + 1;
            total *= count[k];
        }
        return total;
    };
    const double limit = std::min(4.0 * static_cast<double>(n) + 1024, 0x1p31);
    bool possible = count_cells() <= limit && std::isfinite(volume);
    for (int k = 0; k < D; ++k) possible = possible && count[k] < 0x1p22;
    if (!possible) {
        // Empty space prevails: cells that fit the radius, and rows that exist only where points are.
        dense = false;
        wide = (1 + 16 * eps) / std::max(1u, subdivision);
        bin = 1 / bins_per_radius;
        count_cells();
    }
    for (int k = 0; k < D; ++k) {
        const double width = radius * (k == 0 ? bin : wide);
        const double most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
        inverse[k] = static_cast<T>(std::clamp(1 / width, least, most));
        edge[k] = static_cast<T>(std::clamp(width, least, most));
        cells[k] = dense ? static_cast<std::int64_t>(count[k]) : 0;
        last[k] = dense ? static_cast<T>(cells[k] - 1) : T(0);
    }
}

template <int D, class T>
T Geometry<D, T>::lower(std::int64_t c, int axis) const {
    if (c <= 0) return -std::numeric_limits<T>::infinity();
    return lo[axis] + static_cast<T>(c) * edge[axis] - slack;
}

template <int D, class T>
T Geometry<D, T>::upper(std::int64_t c, int axis) const {
    if (c >= (dense ? cells[axis] - 1 : std::int64_t{1} << 62)) return std::numeric_limits<T>::infinity();
    return lo[axis] + static_cast<T>(c + 1) * edge[axis] + slack;
}

template <int D, class T>
std::uint32_t Grid<D, T>::dense_row(const T* v) const {
    const Geometry<D, T>& g = geometry_;
    if constexpr (D == 2) return g.dense_cell(v[1], 1);
    return g.dense_cell(v[D - 1], D - 1) * static_cast<std::uint32_t>(g.cells[1]) + g.dense_cell(v[1], 1);
}

template <int D, class T>
void Grid<D, T>::build(const Geometry<D, T>& geometry, std::span<const Vec<D, T>> points, Executor* executor) {
    geometry_ = geometry;
    const PointSource<D, T> source{points};
    geometry.dense ? build_dense(source, executor) : build_sorted(source);
}

template <int D, class T>
void Grid<D, T>::build(const Geometry<D, T>& geometry, std::span<const Record<D, T>> records, Executor* executor) {
    geometry_ = geometry;
    const RecordSource<D, T> source{records};
    geometry.dense ? build_dense(source, executor) : build_sorted(source);
}

/// Room past the end that vector code may read.
template <int D, class T>
void Grid<D, T>::finish() {
    constexpr std::size_t pad = 16;
    for (int k = 0; k < D; ++k)
        for (std::size_t q = 0; q < pad; ++q) c_[k][size_ + q] = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t q = 0; q < pad; ++q) id_[size_ + q] = 0;
}

template <int D, class T>
template <class Source>
void Grid<D, T>::build_dense(const Source& source, Executor* executor) {
    const std::size_t n = source.size();
    size_ = static_cast<std::uint32_t>(n);
    const Parts parts = make_parts();
    rows_.clear();
    start_.resize_discard(parts.rows * parts.bins + 1);
    for (int k = 0; k < D; ++k) c_[k].resize_discard(n + 16);
    id_.resize_discard(n + 16);
    for (auto& c : next_c_) c.release();
    next_id_.release();
    records_.resize_discard(n);

    // A count per part and chunk of the input.
    const unsigned shift = parts.shift;
    const std::size_t grain = std::max<std::size_t>(65536, n / 64 + 1);
    const std::size_t chunks = base::chunk_count(n, grain);
    std::vector<std::uint32_t> cursor(chunks * parts.count, 0);
    const auto with_rows = [&](std::size_t begin, std::size_t end, auto&& use) {
        std::uint32_t rows[row_block];
        for (std::size_t i = begin; i < end; i += row_block) {
            const std::size_t count = std::min(row_block, end - i);
            find_rows<D, T>(geometry_, source.at(i), Source::stride, count, rows);
            use(i, count, rows);
        }
    };
    base::parallel_for(executor, n, grain, [&](std::size_t begin, std::size_t end) {
        // Two counters per part, so that points of one part in a row do not wait for each other.
        std::vector<std::uint32_t> other(parts.count, 0);
        std::uint32_t* const even = cursor.data() + begin / grain * parts.count;
        std::uint32_t* const odd = other.data();
        with_rows(begin, end, [&](std::size_t, std::size_t count, const std::uint32_t* rows) {
            std::size_t k = 0;
            for (; k + 1 < count; k += 2) ++even[rows[k] >> shift], ++odd[rows[k + 1] >> shift];
            if (k < count) ++even[rows[k] >> shift];
        });
        for (std::size_t p = 0; p < parts.count; ++p) even[p] += odd[p];
    });
    std::vector<std::uint32_t> part_begin(parts.count + 1);
    std::uint32_t sum = 0;
    for (std::size_t p = 0; p < parts.count; ++p) {
        part_begin[p] = sum;
        for (std::size_t c = 0; c < chunks; ++c) {
            const std::uint32_t count = cursor[c * parts.count + p];
            cursor[c * parts.count + p] = sum;
            sum += count;
        }
    }
    part_begin[parts.count] = sum;
    base::parallel_for(executor, n, grain, [&](std::size_t begin, std::size_t end) {
        std::uint32_t* const at = cursor.data() + begin / grain * parts.count;
        with_rows(begin, end, [&](std::size_t i, std::size_t count, const std::uint32_t* rows) {
            for (std::size_t k = 0; k < count; ++k) {
                Record<D, T>& to = records_[at[rows[k] >> shift]++];
                const T* const v = source.at(i + k);
                for (int axis = 0; axis < D; ++axis) to.v[axis] = v[axis];
                to.id = source.id(i + k);
            }
        });
    });

    start_[0] = 0;
    base::run_tasks(executor, parts.count, [&](std::size_t p) {
        const std::uint32_t begin = part_begin[p], end = part_begin[p + 1];
        sort_part(parts, p, begin, {records_.data() + begin, end - begin});
    });
    finish();
}

template <int D, class T>
typename Grid<D, T>::Parts Grid<D, T>::make_parts() const {
    Parts parts;
    parts.bins = static_cast<std::size_t>(geometry_.cells[0]);
    for (int k = 1; k < D; ++k) parts.rows *= static_cast<std::size_t>(geometry_.cells[k]);
    const std::size_t wanted = std::clamp<std::size_t>(size_ / part_size, 1, max_parts);
    while ((parts.rows - 1) >> parts.shift >= wanted) ++parts.shift;
    parts.count = ((parts.rows - 1) >> parts.shift) + 1;
    return parts;
}

/// Sorts the records of part p to positions from `begin` on.
template <int D, class T>
void Grid<D, T>::sort_part(const Parts& parts, std::size_t p, std::uint32_t begin,
                           std::span<const Record<D, T>> records) {
    if (records.size() > 4 * part_size && parts.shift > 0) {
        cut_part(parts, p, begin, records);
        return;
    }
    // Counters of cell c live in start_[c + 1]: begin of c while scattering, end of c, which is begin of c + 1,
    // afterwards.
    const auto count = static_cast<std::uint32_t>(records.size());
    const std::uint32_t end = begin + count;
    const std::size_t first = (p << parts.shift) * parts.bins;
    const std::size_t last = std::min(parts.rows, (p + 1) << parts.shift) * parts.bins;
    std::uint32_t* const counter = start_.data() + 1;
    std::fill(counter + first, counter + last, 0u);
    base::Array<std::uint32_t> cell(count);
    if (count > 0) find_cells<D, T>(geometry_, records.data(), count, cell.data());
    for (std::uint32_t i = 0; i < count; ++i) ++counter[cell[i]];
    std::uint32_t position = begin;
    for (std::size_t c = first; c < last; ++c) {
        const std::uint32_t in_cell = counter[c];
        counter[c] = position;
        position += in_cell;
    }
    std::uint32_t* const order = id_.data();
    for (std::uint32_t i = 0; i < count; ++i) order[counter[cell[i]]++] = i;
    for (std::uint32_t i = begin; i < end; ++i) {
        const Record<D, T>& r = records[order[i]];
        for (int k = 0; k < D; ++k) c_[k][i] = r.v[k];
        order[i] = r.id;
    }
}

/// A part that is too long for the cache, cut once more.
template <int D, class T>
void Grid<D, T>::cut_part(const Parts& parts, std::size_t p, std::uint32_t begin,
                          std::span<const Record<D, T>> records) {
    Parts finer = parts;
    while (finer.shift > 0 && records.size() >> (parts.shift - finer.shift) > part_size &&
           std::size_t{1} << (parts.shift - finer.shift) < max_parts)
        --finer.shift;
    const unsigned down = parts.shift - finer.shift;
    const std::size_t pieces = std::size_t{1} << down;
    std::uint32_t at[max_parts + 1] = {};
    base::Array<std::uint32_t> rows(records.size());
    find_rows<D, T>(geometry_, records[0].v, record_stride<D, T>, records.size(), rows.data());
    for (std::size_t i = 0; i < records.size(); ++i) {
        rows[i] = (rows[i] >> finer.shift) & static_cast<std::uint32_t>(pieces - 1);
        ++at[rows[i] + 1];
    }
    std::uint32_t first[max_parts + 1];
    std::partial_sum(at, at + pieces + 1, first);
    std::copy_n(first, pieces, at);
    base::Array<Record<D, T>> cut(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) cut[at[rows[i]]++] = records[i];
    for (std::size_t k = 0; k < pieces && ((p << down) + k) << finer.shift < parts.rows; ++k)
        sort_part(finer, (p << down) + k, begin + first[k], {cut.data() + first[k], first[k + 1] - first[k]});
}

template <int D, class T>
template <class Source>
void Grid<D, T>::build_sorted(const Source& source) {
    const std::size_t n = source.size();
    size_ = static_cast<std::uint32_t>(n);
    for (int k = 0; k < D; ++k) c_[k].resize_discard(n + 16);
    id_.resize_discard(n + 16);
    // Least significant digit first over x, y, z; digits that are the same everywhere are passed over.
    base::Array<std::int64_t> key(n);
    base::Array<std::uint32_t> order(n), other(n);
    std::iota(order.begin(), order.end(), 0u);
    for (int axis = 0; axis < D; ++axis) {
        std::int64_t varying = 0;
        for (std::size_t i = 0; i < n; ++i) {
            key[i] = geometry_.sorted_cell(source.at(i)[axis], axis);
            varying |= key[i] ^ key[0];
        }
        constexpr unsigned digit_bits = 11;
        for (unsigned digit = 0; digit < 63; digit += digit_bits) {
            constexpr std::int64_t mask = (1 << digit_bits) - 1;
            if ((varying >> digit & mask) == 0) continue;
            std::uint32_t at[mask + 1] = {};
            for (std::size_t i = 0; i < n; ++i) ++at[key[i] >> digit & mask];
            std::uint32_t sum = 0;
            for (std::uint32_t& a : at) sum += std::exchange(a, sum);
            for (std::size_t i = 0; i < n; ++i) other[at[key[order[i]] >> digit & mask]++] = order[i];
            order.swap(other);
        }
    }
    rows_.clear();
    for (std::size_t i = 0; i < n; ++i) {
        const T* const v = source.at(order[i]);
        const std::int64_t slab = D == 3 ? geometry_.sorted_cell(v[D - 1], D - 1) : 0;
        const std::int64_t row = geometry_.sorted_cell(v[1], 1);
        if (rows_.empty() || rows_.back().slab != slab || rows_.back().row != row)
            rows_.push_back({slab, row, geometry_.sorted_cell(v[0], 0), static_cast<std::uint32_t>(i), 0, 0, 0});
        for (int k = 0; k < D; ++k) c_[k][i] = v[k];
        id_[i] = source.id(order[i]);
    }
    finish();
    // The bins of a row: coarser by a power of two where its points are few for its length.
    std::uint32_t table = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        SortedRow& row = rows_[r];
        const std::uint32_t end = r + 1 < rows_.size() ? rows_[r + 1].begin : size_;
        const std::int64_t span = geometry_.sorted_cell(c_[0][end - 1], 0) - row.first_bin;
        while (span >> row.shift > 2 * static_cast<std::int64_t>(end - row.begin)) ++row.shift;
        row.bins = static_cast<std::uint32_t>(span >> row.shift) + 1;
        row.table = table;
        table += row.bins + 1;
    }
    start_.resize_discard(table + 1);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        const SortedRow& row = rows_[r];
        const std::uint32_t end = r + 1 < rows_.size() ? rows_[r + 1].begin : size_;
        std::uint32_t bin = 0;
        for (std::uint32_t i = row.begin; i < end; ++i) {
            const auto b =
                static_cast<std::uint32_t>((geometry_.sorted_cell(c_[0][i], 0) - row.first_bin) >> row.shift);
            while (bin <= b) start_[row.table + bin++] = i;
        }
        while (bin <= row.bins) start_[row.table + bin++] = end;
    }
}

template <int D, class T>
typename Grid<D, T>::Row Grid<D, T>::row_at(std::uint32_t p) const {
    if (p >= size_) return {0, size_, size_};
    if (!geometry_.dense) {
        const auto it = std::upper_bound(rows_.begin(), rows_.end(), p,
                                         [](std::uint32_t at, const SortedRow& row) { return at < row.begin; });
        const std::uint32_t number = static_cast<std::uint32_t>(it - rows_.begin()) - 1;
        return {number, rows_[number].begin, it == rows_.end() ? size_ : it->begin};
    }
    T v[D];
    for (int k = 0; k < D; ++k) v[k] = c_[k][p];
    const std::uint32_t number = dense_row(v);
    const std::size_t bins = static_cast<std::size_t>(geometry_.cells[0]);
    return {number, start_[number * bins], start_[(number + std::size_t{1}) * bins]};
}

template <int D, class T>
typename Grid<D, T>::Row Grid<D, T>::next_row(const Row& row) const {
    return row_at(row.end);
}

template <int D, class T>
std::uint64_t Grid<D, T>::bytes() const {
    std::uint64_t sum =
        id_.bytes() + next_id_.bytes() + start_.bytes() + records_.bytes() + rows_.capacity() * sizeof(SortedRow);
    for (const auto& c : c_) sum += c.bytes();
    for (const auto& c : next_c_) sum += c.bytes();
    return sum;
}

template struct Geometry<2, float>;
template struct Geometry<3, float>;
template struct Geometry<2, double>;
template struct Geometry<3, double>;
template class Grid<2, float>;
template class Grid<3, float>;
template class Grid<2, double>;
template class Grid<3, double>;

}  // namespace quadrat::neighbors
