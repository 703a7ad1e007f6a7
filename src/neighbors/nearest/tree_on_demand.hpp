// The tree of all points of an index, made when the first home asks for it, and kept like everything that find_nearest
// makes (kept.hpp). Its making asks no executor, so that tasks may wait for it.
#pragma once

#include "neighbors/nearest/tree.hpp"
#include "neighbors/state.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace quadrat::neighbors {

template <int D, class T>
class TreeOnDemand {
  public:
    TreeOnDemand(const IndexState<D, T>& state, std::uint32_t k) : state_(state), k_(k) {}

    /// May be called from many threads at once.
    [[nodiscard]] const PointTree<D, T>& get() const {
        std::call_once(made_, [&] {
            tree_ =
                state_.nearest_tree.get(k_, [&] { return PointTree<D, T>(state_.all_records(), k_ + std::size_t{1}); });
        });
        return *tree_;
    }

  private:
    const IndexState<D, T>& state_;
    std::uint32_t k_;
    mutable std::once_flag made_;
    mutable std::shared_ptr<const PointTree<D, T>> tree_;
};

}  // namespace quadrat::neighbors
