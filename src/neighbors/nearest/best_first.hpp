// The k nearest of one home by itself: the boxes of a tree of points (tree.hpp) are opened nearest first, until the
// next one is farther than the k-th point that was seen. What this costs follows k and not the number of points,
// wherever the home lies: far outside of all points, in a hole between them, beside a crowd. It is several times slower
// per home than asking a whole group with a radius that fits, so it is for the homes for which there is no such radius.
//
// In a periodic box the boxes of the tree are there once for each image within a reach that grows, image by image in
// the same queue. Nothing is copied.
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/geometry.hpp>

#include "neighbors/grid/images.hpp"
#include "neighbors/nearest/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

template <int D, class T>
class BestFirst {
  public:
    /// A candidate of the tree that was seen in one image of the box.
    struct Hit {
        T distance_sq;  ///< the left side of the predicate (cells/predicate.hpp), without scaling
        std::uint32_t position;
        std::uint32_t image;
    };

    /// farthest: nothing beyond it is of interest; a plain radius (cells/predicate.hpp), or 0 for no limit.
    BestFirst(const PointTree<D, T>& tree, T farthest);
    /// In a periodic box. Both have to outlive this. reach: how far around a home images are looked at to begin with,
    /// positive; a good one holds about k points.
    BestFirst(const PointTree<D, T>& tree, const Lattice<D, T>& lattice, T farthest, double reach);

    /// All that can be among the `wanted` nearest of a home, equal distances included, and others, in no order. Valid
    /// until the next call.
    ///
    /// self: the index that is no neighbour of the home at its own place, or no_self.
    [[nodiscard]] std::span<const Hit> search(const Vec<D, T>& home, std::uint32_t self, std::uint32_t wanted);

    /// False if the last search ended early: it left the range in which squares are what they should be, or would have
    /// looked at very many images.
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] const Shift& shift(std::uint32_t image) const { return shifts_[image]; }
    /// Distance tests of all searches together.
    [[nodiscard]] std::uint64_t tests() const { return tests_; }

  private:
    struct Box {
        T gap_sq;
        std::uint32_t node, image;
        bool operator<(const Box& other) const { return gap_sq > other.gap_sq; }  // the nearest is on top of a heap
    };

    [[nodiscard]] T farthest_of_wanted() const;
    [[nodiscard]] T gap_sq(std::uint32_t node, std::uint32_t image) const;
    /// Those that are within reach and not there yet. False, and none, if there are too many.
    [[nodiscard]] bool add_images(double reach);
    void add(std::uint32_t node, std::uint32_t image);
    /// Opens all boxes that are no farther than `reach_sq` and may hold one of the wanted.
    void open(T reach_sq);
    void test_leaf(const Box& box);

    const PointTree<D, T>& tree_;
    const Candidates<D, T> candidates_;
    const Lattice<D, T>* lattice_ = nullptr;
    T most_sq_;
    double first_reach_ = 0;
    Vec<D, T> home_{};
    std::uint32_t self_ = no_self, wanted_ = 0;
    bool complete_ = true;
    std::uint64_t tests_ = 0;
    std::vector<Box> boxes_;  // a heap
    std::vector<T> nearest_;  // the `wanted` smallest squares so far: a heap, the largest on top
    std::vector<Hit> hits_;
    std::vector<Shift> shifts_;  // by image
    std::vector<Vec<D, T>> offsets_;
    std::int32_t from_[3] = {}, to_[3] = {};  // the block of images that are there
};

}  // namespace quadrat::neighbors
