// The members of EditableVoxels that are more than a line. The public header includes this one at its end.
#pragma once

#include <quadrat/error.hpp>
#include <quadrat/voxels/detail/repack.hpp>
#include <quadrat/voxels/editable_voxels.hpp>

#include <algorithm>

namespace quadrat {

template <class T, int D>
void EditableVoxels<T, D>::at(std::span<const Voxel<D>> p, std::span<T> out, const T& background) const {
    if (p.size() != out.size()) throw Error(ErrorKind::bad_shape, "positions and results differ in number");
    // Places go through a small array, so that a call of any length allocates nothing.
    constexpr std::size_t block = 256;
    std::uint32_t places[block];
    for (std::size_t begin = 0; begin < p.size(); begin += block) {
        const std::size_t count = std::min(block, p.size() - begin);
        packed_.index().find(p.subspan(begin, count), std::span(places, count), packed_.values().data(), sizeof(T));
        for (std::size_t i = 0; i < count; ++i) {
            if (places[i] != VoxelIndex<D>::absent && !is_erased(places[i])) {
                out[begin + i] = packed_.values()[places[i]];
                continue;
            }
            const std::uint32_t k = added_.find(p[begin + i]);
            out[begin + i] = k == voxels::EditMap<D>::none ? background : values_[k];
        }
    }
}

template <class T, int D>
bool EditableVoxels<T, D>::insert(const Voxel<D>& p, const T& value) {
    if (T* v = find(p)) {
        *v = value;
        return false;
    }
    if (size() >= std::size_t{1} << 27) throw Error(ErrorKind::too_large, "more than 2^27 positions");
    const std::uint32_t k = packed_.index().find(p);
    if (k != VoxelIndex<D>::absent) {  // it was erased
        erased_[k >> 6] &= ~(std::uint64_t{1} << (k & 63));
        --erased_count_;
        packed_.values()[k] = value;
        return true;
    }
    widen(p);
    values_.push_back(value);
    try {
        added_.add(p);
    } catch (...) {
        values_.pop_back();
        throw;
    }
    return true;
}

template <class T, int D>
bool EditableVoxels<T, D>::erase(const Voxel<D>& p) {
    const std::uint32_t k = packed_.index().find(p);
    if (k != VoxelIndex<D>::absent) {
        if (is_erased(k)) return false;
        if (erased_.empty()) erased_.resize((std::size_t{packed_.index().values()} + 63) / 64);
        erased_[k >> 6] |= std::uint64_t{1} << (k & 63);
        ++erased_count_;
        return true;
    }
    const std::uint32_t added = added_.find(p);
    if (added == voxels::EditMap<D>::none) return false;
    added_.remove(added);
    values_[added] = values_.back();
    values_.pop_back();
    return true;
}

template <class T, int D>
VoxelStats EditableVoxels<T, D>::stats() const {
    VoxelStats s = packed_.stats();
    s.entries = size();
    s.values += values_.size();
    s.value_bytes += values_.size() * sizeof(T);
    s.index_bytes += added_.bytes() + erased_.size() * 8;
    return s;
}

template <class T, int D>
void EditableVoxels<T, D>::repack() {
    voxels::Edits<D> edits;
    edits.erased = erased_count_ != 0 ? std::span<const std::uint64_t>(erased_) : std::span<const std::uint64_t>();
    edits.added = added_.positions();
    edits.rows = std::as_bytes(std::span<const T>(values_));
    edits.edited = packed_.values().data();
    edits.value_bytes = sizeof(T);
    edits.type = ValueTraits<T>::type;
    edits.components = ValueTraits<T>::components;
    auto [grid, channel] = voxels::repacked<D>(packed_.grid(), edits, options_);
    *this = EditableVoxels(SparseVoxels<T, D>(std::move(grid), channel), options_);
}

template <class T, int D>
void EditableVoxels<T, D>::widen(const Voxel<D>& p) {
    const bool first = size() == 0 && packed_.size() == 0;
    Voxel<D> low = first ? p : low_, high = first ? p : high_;
    for (int a = 0; a < D; ++a) {
        low[a] = std::min(low[a], p[a]);
        high[a] = std::max(high[a], p[a]);
        if (std::int64_t{high[a]} - low[a] >= std::int64_t{1} << 21)
            throw Error(ErrorKind::bad_value, "positions may span at most 2^21 cells on an axis",
                        {.column = static_cast<std::uint64_t>(a)});
    }
    low_ = low;
    high_ = high;
}

}  // namespace quadrat
