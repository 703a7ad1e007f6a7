// The cells of find_nearest, which are made for the distance of the k nearest and not for the radius of the index, kept
// from one call to the next.
#pragma once

#include "neighbors/grid/grid.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace quadrat::neighbors {

/// One grid that was made for a radius, or none. Any number of threads may ask at the same time. Who asks keeps what he
/// got, also when another radius takes its place. A grid is made outside of the lock, for its threads may themselves
/// ask: two that ask at once may then both make one, and the first that is ready stays.
template <int D, class T>
class KeptGrid {
  public:
    /// The kept grid if it was made for `radius`; otherwise make(), which is kept instead.
    template <class Make>
    [[nodiscard]] std::shared_ptr<const Grid<D, T>> get(T radius, Make&& make) {
        if (auto kept = find(radius)) return kept;
        auto made = std::make_shared<const Grid<D, T>>(make());
        const std::lock_guard lock(mutex_);
        if (!grid_ || radius_ != radius) grid_ = std::move(made), radius_ = radius;
        return grid_;
    }
    /// Forgets the grid: the points have changed. Not at the same time as get().
    void drop() {
        const std::lock_guard lock(mutex_);
        grid_.reset();
    }
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return grid_ ? grid_->bytes() : 0;
    }

  private:
    [[nodiscard]] std::shared_ptr<const Grid<D, T>> find(T radius) const {
        const std::lock_guard lock(mutex_);
        return grid_ && radius_ == radius ? grid_ : nullptr;
    }

    mutable std::mutex mutex_;
    std::shared_ptr<const Grid<D, T>> grid_;
    T radius_ = 0;
};

}  // namespace quadrat::neighbors
