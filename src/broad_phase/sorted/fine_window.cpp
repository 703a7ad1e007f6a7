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
                            std::size_t objects, const FilterTable* filters, bool changed) {
    QUADRAT_ASSERT(!shape.wrapped());  // rows of the half stencil are ahead
    shape_ = shape;
    fine_ = FineGrid<D, T>::of(shape, objects);
    partition_ = &partition;
    first_slab_ = first_slab;
    objects_ = objects;
    filters_ = filters;
    filters_changed_ = changed;
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
    QUADRAT_ASSERT(partition_ && slab < shape_.slabs);
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
    slab.filtered = filters_ && (filters_changed_ || partition_->filtered(first_slab_ + number));
    slab.start.resize_discard(bins + 2);
    std::uint32_t* const start = slab.start.data();
    std::memset(start, 0, (bins + 2) * sizeof(std::uint32_t));
    // Not a power of two apart.
    slab.stride = (n + 127) / 64 * 64 + 32;
    slab.columns.resize_discard((2 * D + std::size_t{filters_ != nullptr}) * slab.stride);
    slab.id.resize_discard(n + read_ahead);
    slab.record.resize_discard(n + 8);
    slab.size = 0;
    if (n == 0) return;  // what there is may be read all the same
    // Counted two places behind, summed up, and raised by one for each record that finds its place, the table ends as
    // the starts of the bins.
    for_each_run(first_slab_ + number, slab.filtered, [&](const Record<D, T>* r, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) ++start[r[i].key + 2];
    });
    sum_up(start, bins + 2);
    for_each_run(first_slab_ + number, slab.filtered, [&](const Record<D, T>* r, std::uint32_t count) {
        fine_scatter(fine_, r, count, partition_->place(r), start + 1, slab.record.data());
    });
    const std::size_t live = start[bins];  // of the last bin, one place further once everything has its place
    slab.size = static_cast<std::uint32_t>(live);
    fine_columns(slab.record.data(), live, 2 * D, slab.columns.data(), slab.stride, slab.id.data());
    if (!filters_) return;
    std::uint16_t* const bit = slab.columns.data() + 2 * D * slab.stride;
    if (!slab.filtered) return static_cast<void>(std::fill_n(bit, live, std::uint16_t{1} << FilterTable::plain));
    for (std::size_t i = 0; i < live; ++i) bit[i] = static_cast<std::uint16_t>(1u << filters_->kind(slab.id[i]));
}

template <int D, class T>
template <class Visit>
void FineWindow<D, T>::for_each_run(std::size_t slab, bool filtered, Visit&& visit) const {
    if (!filtered) return partition_->for_each_chunk(slab, visit);
    const auto live = [&](const Record<D, T>& r) { return filters_->meets(filters_->kind(r.id)) != 0; };
    partition_->for_each_chunk(slab, [&](const Record<D, T>* r, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count;) {
            while (i < count && !live(r[i])) ++i;
            const std::uint32_t from = i;
            while (i < count && live(r[i])) ++i;
            if (i != from) visit(r + from, i - from);
        }
    });
}

template <int D, class T>
const FilterTable* FineWindow<D, T>::filters() const {
    bool any = false;
    for (std::uint32_t slab = sorted_from_; slab < sorted_to_; ++slab) any |= ring_[slab & ring_mask_].filtered;
    return any ? filters_ : nullptr;
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
