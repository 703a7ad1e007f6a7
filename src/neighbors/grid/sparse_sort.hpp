// The sort of the sparse form: by whole keys, least significant digit first, then a table of bins per row.
#pragma once

#include "neighbors/grid/grid.hpp"

#include <span>

namespace quadrat::neighbors {

template <int D, class T>
class SparseSort {
  public:
    /// Fills `to`, whose geometry is set and not dense.
    explicit SparseSort(GridStore<D, T>& to) : to_(to) {}

    void sort(std::span<const Vec<D, T>> points);
    void sort(std::span<const Record<D, T>> records);

  private:
    template <class Source>
    void sort_source(const Source& source);
    /// The positions of the source in the order of (layer, row, bin, position).
    template <class Source>
    [[nodiscard]] base::Array<std::uint32_t> order_of(const Source& source) const;
    void size_tables();
    void fill_tables();
    [[nodiscard]] std::uint32_t end_of(std::size_t row) const {
        return row + 1 < to_.rows.size() ? to_.rows[row + 1].begin : to_.size;
    }

    GridStore<D, T>& to_;
};

}  // namespace quadrat::neighbors
