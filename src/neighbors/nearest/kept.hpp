// What find_nearest searches in, which is made for its k and not for the radius of the index, kept from one call to the
// next: cells, or a tree where points are crowded.
#pragma once

#include "neighbors/grid/grid.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace quadrat::neighbors {

/// One thing that was made for a key, or none. Any number of threads may ask at the same time. Who asks keeps what he
/// got, also when that of another key takes its place. It is made outside of the lock, for its threads may themselves
/// ask: two that ask at once may then both make one, and the first that is ready stays.
template <class Value, class Key>
class Kept {
  public:
    /// What is kept if it was made for `key`; otherwise make(), which is kept instead.
    template <class Make>
    [[nodiscard]] std::shared_ptr<const Value> get(const Key& key, Make&& make) {
        if (auto kept = find(key)) return kept;
        auto made = std::make_shared<const Value>(make());
        const std::lock_guard lock(mutex_);
        if (!value_ || key_ != key) value_ = std::move(made), key_ = key;
        return value_;
    }
    /// Forgets it: the points have changed. Not at the same time as get().
    void drop() {
        const std::lock_guard lock(mutex_);
        value_.reset();
    }
    [[nodiscard]] std::uint64_t bytes() const {
        const std::lock_guard lock(mutex_);
        return value_ ? value_->bytes() : 0;
    }

  private:
    [[nodiscard]] std::shared_ptr<const Value> find(const Key& key) const {
        const std::lock_guard lock(mutex_);
        return value_ && key_ == key ? value_ : nullptr;
    }

    mutable std::mutex mutex_;
    std::shared_ptr<const Value> value_;
    Key key_{};
};

}  // namespace quadrat::neighbors
