// What a grid is between sorts: which sort it takes, its rows, its memory.
#include "neighbors/grid/grid.hpp"

#include "neighbors/grid/dense_move.hpp"
#include "neighbors/grid/dense_sort.hpp"
#include "neighbors/grid/sparse_sort.hpp"

#include <algorithm>
#include <limits>

namespace quadrat::neighbors {

template <int D, class T>
void GridStore<D, T>::resize_discard(std::size_t n) {
    QUADRAT_ASSERT(n < std::numeric_limits<std::uint32_t>::max());
    size = static_cast<std::uint32_t>(n);
    for (int k = 0; k < D; ++k) c[k].resize_discard(n + pad);
    id.resize_discard(n + pad);
}

template <int D, class T>
void GridStore<D, T>::seal() {
    QUADRAT_ASSERT(id.size() == size + pad);
    for (int k = 0; k < D; ++k)
        for (std::size_t q = 0; q < pad; ++q) c[k][size + q] = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t q = 0; q < pad; ++q) id[size + q] = 0;
}

template <int D, class T>
void Grid<D, T>::build(const Geometry<D, T>& geometry, std::span<const Vec<D, T>> points, Executor* executor) {
    store_.geometry = geometry;
    next_ = {};
    if (geometry.dense)
        DenseSort<D, T>(store_, records_, executor).sort(points);
    else
        SparseSort<D, T>(store_).sort(points);
}

template <int D, class T>
void Grid<D, T>::build(const Geometry<D, T>& geometry, std::span<const Record<D, T>> records, Executor* executor) {
    store_.geometry = geometry;
    next_ = {};
    if (geometry.dense)
        DenseSort<D, T>(store_, records_, executor).sort(records);
    else
        SparseSort<D, T>(store_).sort(records);
}

template <int D, class T>
bool Grid<D, T>::update(std::span<const Vec<D, T>> points, Executor* executor) {
    if (!DenseMove<D, T>::worthwhile(store_, points)) return false;
    DenseMove<D, T> move(store_, points, executor);
    if (move.nobody_left()) return true;
    if (move.too_many()) return false;
    records_.release();
    move.merge(next_);
    return true;
}

template <int D, class T>
typename Grid<D, T>::Row Grid<D, T>::row_at(std::uint32_t p) const {
    if (p >= store_.size) return {0, store_.size, store_.size};
    if (!store_.geometry.dense) {
        const auto it = std::upper_bound(store_.rows.begin(), store_.rows.end(), p,
                                         [](std::uint32_t at, const SparseRow& row) { return at < row.begin; });
        const std::uint32_t number = static_cast<std::uint32_t>(it - store_.rows.begin()) - 1;
        return {number, store_.rows[number].begin, it == store_.rows.end() ? store_.size : it->begin};
    }
    const std::uint32_t number = store_.dense_row(point(p).v);
    const std::size_t bins = static_cast<std::size_t>(store_.geometry.count[0]);
    return {number, store_.start[number * bins], store_.start[(number + std::size_t{1}) * bins]};
}

template <int D, class T>
double Grid<D, T>::crowding() const {
    double pairs = 0;
    for (std::size_t b = 1; b < store_.start.size(); ++b) {
        const double n = store_.start[b] - store_.start[b - 1];
        pairs += n * n;
    }
    return store_.size > 0 ? pairs / store_.size : 0;
}

template <int D, class T>
std::uint64_t Grid<D, T>::bytes() const {
    std::uint64_t sum = records_.bytes();
    for (const GridStore<D, T>* store : {&store_, &next_}) {
        sum += store->id.bytes() + store->start.bytes() + store->rows.capacity() * sizeof(SparseRow);
        for (const auto& c : store->c) sum += c.bytes();
    }
    return sum;
}

template struct GridStore<2, float>;
template struct GridStore<3, float>;
template struct GridStore<2, double>;
template struct GridStore<3, double>;
template class Grid<2, float>;
template class Grid<3, float>;
template class Grid<2, double>;
template class Grid<3, double>;

}  // namespace quadrat::neighbors
