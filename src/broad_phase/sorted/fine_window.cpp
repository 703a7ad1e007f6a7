#include "broad_phase/sorted/fine_window.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t read_ahead = 64;  // elements that vectors may read behind the last box

}  // namespace

template <int D, class T>
void FineWindow<D, T>::open(const GridShape<D, T>& shape, const SlabPartition<D, T>& partition, std::size_t first_slab,
                            std::size_t objects) {
    shape_ = shape;
    fine_ = FineGrid<D, T>::of(shape, objects);
    partition_ = &partition;
    first_slab_ = first_slab;
    objects_ = objects;
    // The last row of the half stencil is one layer and one row ahead (half_stencil.hpp).
    const std::uint32_t reach = 1 + (D == 3 ? static_cast<std::uint32_t>(shape.axis[1].count) : 0);
    reach_ = std::min(shape.slabs, 1 + (reach + shape.rows_per_slab() - 1) / shape.rows_per_slab());
    ring_.resize(std::bit_ceil(reach_));
    ring_mask_ = ring_.size() - 1;
    sorted_from_ = sorted_to_ = 0;
    ahead_.stop();
}

template <int D, class T>
void FineWindow<D, T>::move_to(std::uint32_t slab) {
    if (slab < sorted_from_ || slab > sorted_to_) sorted_to_ = slab;
    sorted_from_ = slab;
    const std::uint32_t end = std::min(shape_.slabs, slab + reach_);
    for (; sorted_to_ < end; ++sorted_to_) sort(sorted_to_);
    if (!partition_->streamed() || sorted_to_ == shape_.slabs) return;
    ahead_.start(*partition_, first_slab_ + sorted_to_);
    const std::size_t bytes = partition_->size(first_slab_ + sorted_to_) * sizeof(Record<D, T>);
    lines_per_row_ = bytes / 64 / shape_.rows_per_slab() + 1;
}

template <int D, class T>
void FineWindow<D, T>::sort(std::uint32_t number) {
    FineSlab& slab = ring_[number & ring_mask_];
    const std::size_t n = partition_->size(first_slab_ + number);
    const std::uint32_t first_row = number << shape_.slab_shift;
    const std::size_t rows = std::min(shape_.rows_per_slab(), shape_.rows - first_row);
    const std::size_t bins = rows * shape_.bins();
    slab.size = static_cast<std::uint32_t>(n);
    slab.start.resize_discard(bins + 2);
    std::uint32_t* const start = slab.start.data();
    std::memset(start, 0, (bins + 2) * sizeof(std::uint32_t));
    // Not a power of two apart.
    slab.stride = (n + 127) / 64 * 64 + 32;
    slab.columns.resize_discard(2 * D * slab.stride);
    slab.id.resize_discard(n + read_ahead);
    slab.record.resize_discard(n + 8);
    if (n == 0) return;  // what there is may be read all the same
    // Counted two places behind, summed up, and raised by one for each record that finds its place, the table ends as
    // the starts of the bins.
    partition_->for_each_chunk(first_slab_ + number, [&](const Record<D, T>* r, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) ++start[r[i].key + 2];
    });
    sum_up(start, bins + 2);
    partition_->for_each_chunk(first_slab_ + number, [&](const Record<D, T>* r, std::uint32_t count) {
        fine_scatter(fine_, r, count, partition_->place(r), start + 1, slab.record.data());
    });
    fine_columns(slab.record.data(), n, 2 * D, slab.columns.data(), slab.stride, slab.id.data());
}

template <int D, class T>
std::size_t FineWindow<D, T>::bytes() const {
    std::size_t sum = ring_.capacity() * sizeof(FineSlab);
    for (const FineSlab& s : ring_) sum += s.record.bytes() + s.columns.bytes() + s.id.bytes() + s.start.bytes();
    return sum;
}

template class FineWindow<2, float>;
template class FineWindow<3, float>;
template class FineWindow<2, double>;
template class FineWindow<3, double>;

}  // namespace quadrat::broad_phase
