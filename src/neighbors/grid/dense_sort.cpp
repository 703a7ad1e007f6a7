#include "neighbors/grid/dense_sort.hpp"

#include "base/parallel.hpp"
#include "cells/counting_sort.hpp"
#include "neighbors/grid/source.hpp"

#include <algorithm>

namespace quadrat::neighbors {
namespace {

constexpr std::size_t row_block = 1024;  // points whose rows are found at once

}  // namespace

template <int D, class T>
void DenseSort<D, T>::sort(std::span<const Vec<D, T>> points) {
    sort_source(PointSource<D, T>{points});
}

template <int D, class T>
void DenseSort<D, T>::sort(std::span<const Record<D, T>> records) {
    sort_source(RecordSource<D, T>{records});
}

template <int D, class T>
template <class Source>
void DenseSort<D, T>::sort_source(const Source& source) {
    QUADRAT_ASSERT(to_.geometry.dense);
    to_.resize_discard(source.size());
    to_.rows.clear();
    const Parts parts = Parts::of(to_);
    to_.start.resize_discard(parts.rows * parts.bins + 1);
    const std::vector<std::uint32_t> part_begin = cut(source, parts);
    to_.start[0] = 0;
    base::run_tasks(executor_, parts.count, [&](std::size_t p) {
        const std::uint32_t begin = part_begin[p], end = part_begin[p + 1];
        sort_part(parts, p, begin, {records_.data() + begin, end - begin});
    });
    to_.seal();
}

template <int D, class T>
template <class Source>
std::vector<std::uint32_t> DenseSort<D, T>::cut(const Source& source, const Parts& parts) {
    // A count per part and chunk of the input.
    const KeyKernel<D, T> kernel = key_kernels().get<D, T>();
    const std::size_t n = source.size();
    records_.resize_discard(n);
    const unsigned shift = parts.shift;
    const std::size_t grain = std::max<std::size_t>(65536, n / 64 + 1);
    const std::size_t chunks = base::chunk_count(n, grain);
    std::vector<std::uint32_t> cursor(chunks * parts.count, 0);
    const auto with_rows = [&](std::size_t begin, std::size_t end, auto&& use) {
        std::uint32_t rows[row_block];
        for (std::size_t i = begin; i < end; i += row_block) {
            const std::size_t count = std::min(row_block, end - i);
            kernel.rows(to_.geometry, source.at(i), Source::stride, count, rows);
            use(i, count, rows);
        }
    };
    base::parallel_for(executor_, n, grain, [&](std::size_t begin, std::size_t end) {
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
    QUADRAT_ASSERT(sum == n);
    base::parallel_for(executor_, n, grain, [&](std::size_t begin, std::size_t end) {
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
    return part_begin;
}

/// Sorts the records of part p to positions from `begin` on.
template <int D, class T>
void DenseSort<D, T>::sort_part(const Parts& parts, std::size_t p, std::uint32_t begin,
                                std::span<const Record<D, T>> records) {
    if (records.size() > 4 * part_size && parts.shift > 0) {
        cut_part(parts, p, begin, records);
        return;
    }
    const auto count = static_cast<std::uint32_t>(records.size());
    const std::uint32_t end = begin + count;
    const std::size_t first = parts.first_cell(p), last = parts.first_cell(p + 1);
    QUADRAT_ASSERT(first < last && end <= to_.size);
    base::Array<std::uint32_t> cell(count);
    if (count > 0) key_kernels().get<D, T>().cells(to_.geometry, records.data(), count, cell.data());
    std::uint32_t* const order = to_.id.data();
    cells::counting_sort(
        {to_.start.data() + 1 + first, last - first}, begin, count, [&](std::uint32_t i) { return cell[i] - first; },
        [&](std::uint32_t i, std::uint32_t place) { order[place] = i; });
    for (std::uint32_t i = begin; i < end; ++i) {
        const Record<D, T>& r = records[order[i]];
        for (int k = 0; k < D; ++k) to_.c[k][i] = r.v[k];
        order[i] = r.id;
    }
}

/// A part that is too long for the cache, cut once more.
template <int D, class T>
void DenseSort<D, T>::cut_part(const Parts& parts, std::size_t p, std::uint32_t begin,
                               std::span<const Record<D, T>> records) {
    Parts finer = parts;
    while (finer.shift > 0 && records.size() >> (parts.shift - finer.shift) > part_size &&
           std::size_t{1} << (parts.shift - finer.shift) < max_parts)
        --finer.shift;
    const unsigned down = parts.shift - finer.shift;
    const std::size_t pieces = std::size_t{1} << down;
    QUADRAT_ASSERT(pieces <= max_parts && !records.empty());
    base::Array<std::uint32_t> rows(records.size());
    key_kernels().get<D, T>().rows(to_.geometry, records[0].v, record_stride<D, T>, records.size(), rows.data());
    base::Array<Record<D, T>> cut(records.size());
    std::uint32_t first[max_parts + 1] = {};
    cells::counting_sort(
        {first + 1, pieces}, 0, static_cast<std::uint32_t>(records.size()),
        [&](std::uint32_t i) { return (rows[i] >> finer.shift) & static_cast<std::uint32_t>(pieces - 1); },
        [&](std::uint32_t i, std::uint32_t place) { cut[place] = records[i]; });
    for (std::size_t k = 0; k < pieces && ((p << down) + k) << finer.shift < parts.rows; ++k)
        sort_part(finer, (p << down) + k, begin + first[k], {cut.data() + first[k], first[k + 1] - first[k]});
}

template class DenseSort<2, float>;
template class DenseSort<3, float>;
template class DenseSort<2, double>;
template class DenseSort<3, double>;

}  // namespace quadrat::neighbors
