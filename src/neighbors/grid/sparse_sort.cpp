#include "neighbors/grid/sparse_sort.hpp"

#include "cells/counting_sort.hpp"
#include "neighbors/grid/source.hpp"

#include <numeric>

namespace quadrat::neighbors {

template <int D, class T>
void SparseSort<D, T>::sort(std::span<const Vec<D, T>> points) {
    sort_source(PointSource<D, T>{points});
}

template <int D, class T>
void SparseSort<D, T>::sort(std::span<const Record<D, T>> records) {
    sort_source(RecordSource<D, T>{records});
}

template <int D, class T>
template <class Source>
void SparseSort<D, T>::sort_source(const Source& source) {
    const Geometry<D, T>& geometry = to_.geometry;
    QUADRAT_ASSERT(!geometry.dense);
    const std::size_t n = source.size();
    to_.resize_discard(n);
    const base::Array<std::uint32_t> order = order_of(source);
    to_.rows.clear();
    for (std::size_t i = 0; i < n; ++i) {
        const T* const v = source.at(order[i]);
        const std::int64_t layer = D == 3 ? geometry.sparse_cell(v[D - 1], D - 1) : 0;
        const std::int64_t row = geometry.sparse_cell(v[1], 1);
        if (to_.rows.empty() || to_.rows.back().layer != layer || to_.rows.back().row != row)
            to_.rows.push_back({layer, row, geometry.sparse_cell(v[0], 0), static_cast<std::uint32_t>(i), 0, 0, 0});
        for (int k = 0; k < D; ++k) to_.c[k][i] = v[k];
        to_.id[i] = source.id(order[i]);
    }
    to_.seal();
    size_tables();
    fill_tables();
}

template <int D, class T>
template <class Source>
base::Array<std::uint32_t> SparseSort<D, T>::order_of(const Source& source) const {
    const std::size_t n = source.size();
    // Least significant digit first over x, y, z; digits that are the same everywhere are passed over.
    base::Array<std::int64_t> key(n);
    base::Array<std::uint32_t> order(n), other(n);
    std::iota(order.begin(), order.end(), 0u);
    for (int axis = 0; axis < D; ++axis) {
        std::int64_t varying = 0;
        for (std::size_t i = 0; i < n; ++i) {
            key[i] = to_.geometry.sparse_cell(source.at(i)[axis], axis);
            varying |= key[i] ^ key[0];
        }
        constexpr unsigned digit_bits = 11;  // six digits of a key of 63 bits; the counters fit the first-level cache
        for (unsigned digit = 0; digit < 63; digit += digit_bits) {
            constexpr std::int64_t mask = (1 << digit_bits) - 1;
            if ((varying >> digit & mask) == 0) continue;
            std::uint32_t at[mask + 1] = {};
            for (std::size_t i = 0; i < n; ++i) ++at[key[i] >> digit & mask];
            cells::places_from_counts(at, 0);
            for (std::size_t i = 0; i < n; ++i) other[at[key[order[i]] >> digit & mask]++] = order[i];
            order.swap(other);
        }
    }
    return order;
}

/// The bins of a row: coarser by a power of two where its points are few for its length.
template <int D, class T>
void SparseSort<D, T>::size_tables() {
    std::uint32_t table = 0;
    for (std::size_t r = 0; r < to_.rows.size(); ++r) {
        SparseRow& row = to_.rows[r];
        const std::uint32_t end = end_of(r);
        QUADRAT_ASSERT(row.begin < end);
        const std::int64_t span = to_.geometry.sparse_cell(to_.c[0][end - 1], 0) - row.first_bin;
        QUADRAT_ASSERT(span >= 0);
        while (span >> row.shift > 2 * static_cast<std::int64_t>(end - row.begin)) ++row.shift;
        row.bins = static_cast<std::uint32_t>(span >> row.shift) + 1;
        row.table = table;
        table += row.bins + 1;
    }
    to_.start.resize_discard(table + 1);
}

template <int D, class T>
void SparseSort<D, T>::fill_tables() {
    for (std::size_t r = 0; r < to_.rows.size(); ++r) {
        const SparseRow& row = to_.rows[r];
        const std::uint32_t end = end_of(r);
        std::uint32_t bin = 0;
        for (std::uint32_t i = row.begin; i < end; ++i) {
            const auto b =
                static_cast<std::uint32_t>((to_.geometry.sparse_cell(to_.c[0][i], 0) - row.first_bin) >> row.shift);
            QUADRAT_ASSERT(b < row.bins);
            while (bin <= b) to_.start[row.table + bin++] = i;
        }
        while (bin <= row.bins) to_.start[row.table + bin++] = end;
    }
}

template class SparseSort<2, float>;
template class SparseSort<3, float>;
template class SparseSort<2, double>;
template class SparseSort<3, double>;

}  // namespace quadrat::neighbors
