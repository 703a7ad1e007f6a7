// Every box is moved into [0, period) by whole periods and, where it crosses the upper end, held once more one period
// below, for each set of such axes. Two boxes with a relative shift of -1, 0 or 1 periods then meet as they are or with
// one of them below, but never need both below along the same axis: such pairs are dropped, so that each is named once.
// Boxes in the grid are a few roundings too wide; the predicate decides with the boxes of the caller.
#include <quadrat/broad_phase/periodic_boxes.hpp>

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "broad_phase/query_tests.hpp"
#include "cells/validate.hpp"

#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace quadrat {
namespace {

constexpr double most_periods = 1 << 29;       // differences of two fit 32 bits
constexpr double largest_share = 1 - 0x1p-16;  // of a period

struct Image {
    std::uint32_t owner;
    std::uint32_t below;  ///< a bit per axis along which it is one period below
};

}  // namespace

template <int D, class T>
struct PeriodicBoxes<D, T>::Impl {
    explicit Impl(const Options& o) : options(o), grid(unlimited(o.grid)) {}

    Options options;
    HashGridHierarchy<D, T> grid;                 // of the images
    std::vector<Box<D, T>> boxes;                 // of the caller
    std::vector<Vec<D, std::int32_t>> period_of;  // in which the lower corner is
    std::vector<Image> image;                     // by slot of the grid: the boxes themselves first

    /// max_bytes is for the pairs that are given, not for those among images.
    [[nodiscard]] static HashGridOptions unlimited(HashGridOptions o) {
        o.max_bytes = std::numeric_limits<std::size_t>::max();
        return o;
    }
    void check(std::span<const Box<D, T>> given) const;
    void hold(const std::vector<Box<D, T>>& images);
    [[nodiscard]] bool meet(const ImagePair<D>& pair) const;
    [[nodiscard]] double period(int axis) const { return double(options.period[axis]); }
};

template <int D, class T>
void PeriodicBoxes<D, T>::Impl::check(std::span<const Box<D, T>> given) const {
    cells::check_count(given.size());
    cells::check_boxes(given, options.grid.executor);
    for (std::size_t i = 0; i < given.size(); ++i)
        for (int k = 0; k < D; ++k) {
            if (period(k) == 0) continue;
            const double lo = double(given[i].lo[k]), hi = double(given[i].hi[k]);
            // Not for infinite bounds either.
            if (!(std::max(std::abs(lo), std::abs(hi)) <= most_periods * period(k)))
                throw Error(ErrorKind::bad_value, "too many periods away", {.index = i, .field = "boxes"});
            if (!(hi - lo <= largest_share * period(k)))
                throw Error(ErrorKind::bad_value, "as large as the period", {.index = i, .field = "boxes"});
        }
}

// Slots of the grid are images in their order; those that are too many for this step are erased.
template <int D, class T>
void PeriodicBoxes<D, T>::Impl::hold(const std::vector<Box<D, T>>& images) {
    QUADRAT_ASSERT(images.size() >= boxes.size());  // each is its own first image
    if (grid.size() > images.size()) {
        std::vector<Id> surplus;
        for (std::size_t slot = images.size(); slot < grid.size(); ++slot)
            surplus.push_back(grid.id(static_cast<std::uint32_t>(slot)));
        grid.erase(surplus);
    }
    const std::span<const Box<D, T>> all(images);
    const std::size_t before = grid.size();
    if (before < images.size()) grid.insert(all.subspan(before));
    if (before == 0) return;
    std::vector<Box<D, T>> by_slot = images;
    by_slot.resize(grid.slots());
    grid.update(std::span<const Box<D, T>>(by_slot));
}

template <int D, class T>
bool PeriodicBoxes<D, T>::Impl::meet(const ImagePair<D>& pair) const {
    QUADRAT_ASSERT(pair.first < pair.second && pair.second < boxes.size());
    const Box<D, T>&a = boxes[pair.first], &b = boxes[pair.second];
    for (int k = 0; k < D; ++k) {
        const double by = double(pair.shift[k]) * period(k);
        if (!(double(a.lo[k]) <= double(b.hi[k]) + by && double(b.lo[k]) + by <= double(a.hi[k]))) return false;
    }
    return true;
}

template <int D, class T>
PeriodicBoxes<D, T>::PeriodicBoxes(const Options& options) : impl_(std::make_unique<Impl>(options)) {
    for (int k = 0; k < D; ++k)
        if (!(options.period[k] == 0 || (options.period[k] >= std::numeric_limits<T>::min() &&
                                         options.period[k] <= std::numeric_limits<T>::max())))
            throw Error(ErrorKind::bad_value, "must be 0, or positive and finite", {.field = "period"});
}
template <int D, class T>
PeriodicBoxes<D, T>::~PeriodicBoxes() = default;
template <int D, class T>
PeriodicBoxes<D, T>::PeriodicBoxes(PeriodicBoxes&&) noexcept = default;
template <int D, class T>
PeriodicBoxes<D, T>& PeriodicBoxes<D, T>::operator=(PeriodicBoxes&&) noexcept = default;

template <int D, class T>
void PeriodicBoxes<D, T>::update(std::span<const Box<D, T>> boxes) {
    Impl& w = *impl_;
    w.check(boxes);
    const std::size_t n = boxes.size();
    double furthest[D] = {};
    w.boxes.assign(boxes.begin(), boxes.end());
    w.period_of.assign(n, {});
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < D; ++k) {
            if (w.period(k) == 0) continue;
            const double whole = std::floor(double(boxes[i].lo[k]) / w.period(k));
            w.period_of[i][k] = static_cast<std::int32_t>(whole);
            furthest[k] = std::max(furthest[k], std::abs(whole));
        }
    // What a product with a number of periods, a sum and the quotient above lose by rounding, for both boxes of a pair.
    double margin[D];
    for (int k = 0; k < D; ++k) margin[k] = 0x1p-48 * (furthest[k] + 2) * w.period(k);
    std::vector<Box<D, T>> images(n);
    w.image.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        double lo[D], hi[D];
        std::uint32_t crossed = 0;
        for (int k = 0; k < D; ++k) {
            const double back = w.period(k) == 0 ? 0 : double(w.period_of[i][k]) * w.period(k);
            lo[k] = double(boxes[i].lo[k]) - back - margin[k];
            hi[k] = double(boxes[i].hi[k]) - back + margin[k];
            if (w.period(k) != 0 && hi[k] >= w.period(k) - margin[k]) crossed |= 1u << k;
        }
        // Every subset of the axes that are crossed, the empty one first.
        for (std::uint32_t below = 0;; below = (below - crossed) & crossed) {
            Box<D, T> box;
            for (int k = 0; k < D; ++k) {
                const double by = (below >> k & 1) != 0 ? w.period(k) : 0;
                box.lo[k] = broad_phase::below<T>(lo[k] - by);
                box.hi[k] = broad_phase::above<T>(hi[k] - by);
            }
            if (below == 0) {
                images[i] = box;
                w.image[i] = {i, 0};
            } else {
                images.push_back(box);
                w.image.push_back({i, below});
            }
            if (below == crossed) break;
        }
    }
    try {
        w.hold(images);
    } catch (...) {
        impl_ = std::make_unique<Impl>(Options(w.options));
        throw;
    }
}

template <int D, class T>
void PeriodicBoxes<D, T>::find_pairs(std::vector<ImagePair<D>>& out) const {
    const Impl& w = *impl_;
    out.clear();
    std::size_t count = 0;
    const std::size_t most = w.options.grid.max_bytes / sizeof(ImagePair<D>);
    const auto take = [&](const Pair& p) {
        Image a = w.image[p.first], b = w.image[p.second];
        if ((a.below & b.below) != 0 || a.owner == b.owner) return;
        if (a.owner > b.owner) std::swap(a, b);
        ImagePair<D> pair{a.owner, b.owner, {}};
        for (int k = 0; k < D; ++k)
            pair.shift[k] = w.period_of[a.owner][k] - w.period_of[b.owner][k] +
                            static_cast<std::int32_t>(a.below >> k & 1) - static_cast<std::int32_t>(b.below >> k & 1);
        if (w.meet(pair) && ++count <= most) out.push_back(pair);
    };
    try {
        if (base::thread_count(w.options.grid.executor) == 1) {
            w.grid.for_each_pair(take);
        } else {
            std::vector<Pair> pairs;
            w.grid.find_pairs(pairs);
            std::for_each(pairs.begin(), pairs.end(), take);
        }
    } catch (...) {
        out.clear();
        throw;
    }
    if (count <= most) return;
    out.clear();
    throw Error(ErrorKind::too_large,
                std::to_string(count) + " pairs need " + std::to_string(count * sizeof(ImagePair<D>)) +
                    " bytes, more than max_bytes = " + std::to_string(w.options.grid.max_bytes),
                {.field = "max_bytes"});
}

template <int D, class T>
std::size_t PeriodicBoxes<D, T>::size() const {
    return impl_->boxes.size();
}
template <int D, class T>
PeriodicBoxesStats PeriodicBoxes<D, T>::stats() const {
    const BroadPhaseStats of_grid = impl_->grid.stats();
    const std::size_t own = impl_->boxes.capacity() * sizeof(impl_->boxes[0]) +
                            impl_->period_of.capacity() * sizeof(impl_->period_of[0]) +
                            impl_->image.capacity() * sizeof(Image);
    return {impl_->image.size() - impl_->boxes.size(), of_grid.tests, of_grid.bytes + own};
}

template class PeriodicBoxes<2, float>;
template class PeriodicBoxes<3, float>;
template class PeriodicBoxes<2, double>;
template class PeriodicBoxes<3, double>;

}  // namespace quadrat
