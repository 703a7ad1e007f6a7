// One grid of the hierarchy as sorted arrays: boxes in the order of their cells, x fastest, structure of arrays, with a
// table of where each bin starts. HHG 3.1 gives every cell its own container; here a cell is a range, so that three
// neighbours along x are one contiguous read and nothing is allocated per cell.
//
// It is what queries and pairs between grids read, and made only when they ask
// (docs/decisions/0082-fused-detection.md): each slab of a SlabPartition is counting-sorted by bin in the cache and
// taken apart. The order is stable, so the result does not depend on how many tasks did the work.
#pragma once

#include "base/array.hpp"
#include "broad_phase/sorted/grid_shape.hpp"
#include "broad_phase/sorted/kernels/record_kernel.hpp"
#include "broad_phase/sorted/slab_partition.hpp"

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/executor.hpp>

#include <cstdint>
#include <vector>

namespace quadrat::broad_phase {

/// Group and mask bits of an object; see Filter in the public header.
template <class T>
struct FilterLanes {
    const Lane<T>* group = nullptr;  ///< null: everything may meet everything
    const Lane<T>* mask = nullptr;
};

/// Whether a sorted grid has its boxes as records beside the columns. Who comes for a few of them reads one or two
/// cache lines of records where he reads a line of every column.
enum class Copy { columns, columns_and_records };

/// What the SIMD kernels read of a grid.
template <int D, class T>
struct GridView {
    GridShape<D, T> shape;
    const T* lo[D];
    const T* hi[D];
    const Lane<T>* id;
    const std::uint32_t* start;  ///< of each bin; one past the last bin is the number of boxes
    FilterLanes<T> filter;
    std::size_t size;
    const Record<D, T>* records = nullptr;  ///< the same boxes and ids, each in one place; null: not kept
};

template <int D, class T>
class SortedGrid {
  public:
    /// Takes slabs [first_slab, first_slab + shape.slabs) of the partition, which are this grid's.
    void build(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab, Copy copy,
               Executor* executor);
    /// Gives the view filters; there is one per id.
    void fill_filters(const Filter* filters, Executor* executor);

    [[nodiscard]] GridView<D, T> view() const;
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const;

  private:
    void resize(const GridShape<D, T>& shape, std::size_t size);
    void sort_slab(std::uint32_t slab, std::uint32_t from, const SlabPartition<D, T>& partition, std::size_t first_slab,
                   Record<D, T>* to);
    void take_apart(const Record<D, T>* records, std::size_t from, std::size_t n, SlabPrefetcher<D, T>* ahead);

    GridShape<D, T> shape_;
    std::size_t size_ = 0;
    base::Array<T> lo_[D];
    base::Array<T> hi_[D];
    base::Array<Lane<T>> id_;
    base::Array<Lane<T>> group_;
    base::Array<Lane<T>> mask_;
    base::Array<std::uint32_t> start_;
    base::Array<Record<D, T>> records_;               // empty if they are not kept
    std::vector<base::Array<Record<D, T>>> scratch_;  // of each task: the records of one slab
    bool filtered_ = false;
};

}  // namespace quadrat::broad_phase
