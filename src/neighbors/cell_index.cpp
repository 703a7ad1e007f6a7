// The face of the index: checks what the caller gives, and hands it to the rooms.
#include <quadrat/neighbors/cell_index.hpp>

#include <quadrat/error.hpp>

#include "cells/validate.hpp"
#include "neighbors/index_seam.hpp"
#include "neighbors/nearest/nearest.hpp"
#include "neighbors/search/searches.hpp"
#include "neighbors/state.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat {

using neighbors::Bounds;

template <int D, class T>
CellIndex<D, T>::CellIndex(const Options& options) {
    if (options.radius != T(0)) cells::check_radius(options.radius);
    if (options.skin != T(0)) cells::check_radius(options.skin, "skin");
    if (!std::isfinite(options.radius + options.skin))
        throw Error(ErrorKind::bad_value, "radius and skin together are not finite", Where{.field = "skin"});
    state_ = std::make_unique<neighbors::IndexState<D, T>>(options);
    build({});
}
template <int D, class T>
CellIndex<D, T>::CellIndex(CellIndex&&) noexcept = default;
template <int D, class T>
CellIndex<D, T>& CellIndex<D, T>::operator=(CellIndex&&) noexcept = default;
template <int D, class T>
CellIndex<D, T>::~CellIndex() = default;

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points) {
    build(points, {});
}

template <int D, class T>
void CellIndex<D, T>::build(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    const Bounds<D, T> bounds = Bounds<D, T>::checked(points, {}, state_->options.executor);
    typename neighbors::IndexState<D, T>::Change change{.support = state_->make_support(radii, points.size()),
                                                        .erased = std::vector<std::uint8_t>()};
    state_->sort(points, bounds, false, std::move(change));
}

template <int D, class T>
bool CellIndex<D, T>::update(std::span<const Vec<D, T>> points) {
    neighbors::IndexState<D, T>& s = *state_;
    if (points.size() != s.slots)
        throw Error(ErrorKind::bad_shape, "update takes as many points as the index has: " + std::to_string(s.slots) +
                                              ", not " + std::to_string(points.size()));
    if (s.lists_hold(points)) return false;
    s.sort(points, Bounds<D, T>::checked(points, s.erased, s.options.executor), true, {});
    return true;
}

template <int D, class T>
std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>> points) {
    return insert(points, {});
}

template <int D, class T>
std::uint32_t CellIndex<D, T>::insert(std::span<const Vec<D, T>> points, std::span<const T> radii) {
    neighbors::IndexState<D, T>& s = *state_;
    const auto first = static_cast<std::uint32_t>(s.slots);
    if (points.empty()) return first;
    cells::check_count(s.slots + points.size());
    cells::check_points(points);
    if (s.slots > 0 && s.support.radii.empty() != radii.empty())
        throw Error(ErrorKind::bad_shape, "either all points have their own radius or none has",
                    Where{.field = "radii"});
    std::vector<T> all_radii = s.support.radii;
    if (!radii.empty()) {
        cells::check_radii(radii, points.size());
        all_radii.insert(all_radii.end(), radii.begin(), radii.end());
    }
    std::vector<Vec<D, T>> all = s.unsorted();
    all.insert(all.end(), points.begin(), points.end());
    typename neighbors::IndexState<D, T>::Change change{.support = s.make_support(all_radii, all.size()),
                                                        .erased = s.erased};
    if (!s.erased.empty()) change.erased->resize(all.size(), 0);
    s.sort_wrapped(all, std::move(change));
    return first;
}

template <int D, class T>
void CellIndex<D, T>::erase(std::span<const std::uint32_t> indices) {
    neighbors::IndexState<D, T>& s = *state_;
    std::vector<std::uint8_t> erased = s.erased;
    erased.resize(s.slots, 0);
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (indices[k] >= s.slots || erased[indices[k]])
            throw Error(ErrorKind::stale_id, "there is no point " + std::to_string(indices[k]) + " to erase",
                        Where{.index = k});
        erased[indices[k]] = 1;
    }
    if (indices.empty()) return;
    s.sort_wrapped(s.unsorted(), {.support = {}, .erased = std::move(erased)});
}

template <int D, class T>
std::size_t CellIndex<D, T>::size() const noexcept {
    return state_->slots;
}

template <int D, class T>
std::span<const std::uint32_t> CellIndex<D, T>::order() const noexcept {
    return state_->order();
}

template <int D, class T>
CellIndexStats CellIndex<D, T>::stats() const {
    const neighbors::IndexState<D, T>& s = *state_;
    return {.tests = s.tests,
            .bytes = s.bytes(),
            .points = s.count(),
            .levels = s.levels.size(),
            .dense = s.geometry().dense};
}

template <int D, class T>
void CellIndex<D, T>::find_neighbors(NeighborList& out, const NeighborOptions& options) const {
    neighbors::Searches<D, T>::find(*state_, options, out);
}

template <int D, class T>
void CellIndex<D, T>::find_neighbors(std::span<const Vec<D, T>> queries, NeighborList& out,
                                     const NeighborOptions& options) const {
    neighbors::Searches<D, T>::find(*state_, queries, options, out);
}

template <int D, class T>
void CellIndex<D, T>::count_neighbors(std::vector<std::uint32_t>& out, const Watch& watch) const {
    neighbors::Searches<D, T>::count_each(*state_, out, watch);
}

template <int D, class T>
std::uint64_t CellIndex<D, T>::count_pairs(const Watch& watch) const {
    return neighbors::Searches<D, T>::count_pairs(*state_, watch);
}

template <int D, class T>
void CellIndex<D, T>::find_nearest(std::uint32_t k, NeighborList& out, T max_distance, const Watch& watch) const {
    neighbors::Nearest<D, T>::find(*state_, nullptr, k, max_distance, out, watch);
}

template <int D, class T>
void CellIndex<D, T>::find_nearest(std::span<const Vec<D, T>> queries, std::uint32_t k, NeighborList& out,
                                   T max_distance, const Watch& watch) const {
    neighbors::Nearest<D, T>::find(*state_, &queries, k, max_distance, out, watch);
}

template <int D, class T>
void CellIndex<D, T>::stream(void* context, detail::RowSink* sink, Threads threads) const {
    neighbors::Searches<D, T>::stream(*state_, threads == Threads::executor ? state_->options.executor : nullptr,
                                      context, sink);
}

template <int D, class T>
void CellIndex<D, T>::stream_rows(void* context, detail::LoopSink<D, T>* sink, const NeighborOptions& options) const {
    neighbors::Searches<D, T>::stream_rows(*state_, options, context, sink);
}

template <int D, class T>
void CellIndex<D, T>::find_row(std::uint32_t i, std::vector<std::uint32_t>& row) const {
    neighbors::Searches<D, T>::find_row(*state_, i, row);
}

template <int D, class T>
void CellIndex<D, T>::find_row(const Vec<D, T>& position, std::vector<std::uint32_t>& row) const {
    NeighborList list_of_one;
    find_neighbors(std::span(&position, 1), list_of_one);
    row.assign(list_of_one[0].begin(), list_of_one[0].end());
}

template class CellIndex<2, float>;
template class CellIndex<3, float>;
template class CellIndex<2, double>;
template class CellIndex<3, double>;

namespace neighbors {

template <int D, class T>
void IndexSeam<D, T>::subdivide(CellIndex<D, T>& index, unsigned cells_per_radius) {
    QUADRAT_ASSERT(index.size() == 0);
    index.state_->subdivision = cells_per_radius;
}

template struct IndexSeam<2, float>;
template struct IndexSeam<3, float>;
template struct IndexSeam<2, double>;
template struct IndexSeam<3, double>;

}  // namespace neighbors

}  // namespace quadrat
