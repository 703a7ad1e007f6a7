// Boxes in a world that repeats itself along some axes, as molecular dynamics and the benchmark of HHG have it: all
// overlapping pairs with the image of the second box that the first one meets.
#pragma once

#include <quadrat/broad_phase/options.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quadrat {

/// Two boxes, first < second, of which the first overlaps the second moved by shift[k] periods along each axis k.
template <int D>
struct ImagePair {
    std::uint32_t first;         ///< position among the boxes of the last update
    std::uint32_t second;        ///< another one
    Vec<D, std::int32_t> shift;  ///< whole periods; 0 along axes without one

    friend constexpr bool operator==(const ImagePair&, const ImagePair&) = default;
};

/// What a PeriodicBoxes holds, and what its last find_pairs did.
struct PeriodicBoxesStats {
    /// Boxes that are held once more for the other side of the border.
    std::size_t images = 0;
    /// Box tests made by the last find_pairs; of concurrent calls, of no one in particular.
    std::uint64_t tests = 0;
    /// Memory held, used or not, without results.
    std::size_t bytes = 0;
};

/// A set of boxes in a periodic world. A box that crosses the border of the world is held once more at the other side;
/// nothing else is copied. Compiled for D = 2, 3 and T = float, double.
///
///     quadrat::PeriodicBoxes<3, float> world({.period = {{10, 10, 0}}});   // open along z
///     world.update(boxes);
///     world.find_pairs(pairs);
///     for (const auto& [i, j, shift] : pairs) push_apart(boxes[i], boxes[j], shift);
///
/// Thread safety: const members may be called concurrently with each other, and with no other member. One that was
/// moved from can be assigned to or destroyed.
template <int D, class T>
class PeriodicBoxes {
  public:
    struct Options {
        /// The length of the world along each axis; 0, the default, where it is open. Finite.
        Vec<D, T> period = {};
        /// How pairs are found; max_bytes and watch count, too. See HashGridOptions.
        HashGridOptions grid = {};
    };

    /// An empty world. Throws bad_value naming an option that is out of its range.
    explicit PeriodicBoxes(const Options& options);
    ~PeriodicBoxes();
    PeriodicBoxes(PeriodicBoxes&&) noexcept;
    PeriodicBoxes& operator=(PeriodicBoxes&&) noexcept;

    /// Gives the world new boxes, as many as there are. Cost: linear, some nanoseconds per box more than
    /// HashGridHierarchy::update().
    /// boxes: anywhere, not only inside one period. No NaN, lo <= hi. Along an axis with a period finite, at most 2^29
    /// periods away from 0, and smaller than the period by at least a part in 65536. Otherwise bad_value names the
    /// first bad one, and nothing has changed. Where the watch stops it the world is empty afterwards.
    void update(std::span<const Box<D, T>> boxes);

    /// Refills `out` with every pair of boxes and every shift with which they overlap, each once, in an order that does
    /// not depend on the number of threads. A box and an image of its own are no pair. The comparison is made in
    /// double: lo[first] <= hi[second] + shift * period and lo[second] + shift * period <= hi[first], rounded as
    /// written. Throws too_large beyond max_bytes, stopped, with `out` empty.
    void find_pairs(std::vector<ImagePair<D>>& out) const;

    /// Boxes of the last update, images not counted. O(1).
    [[nodiscard]] std::size_t size() const;
    /// What is held, and what the last search cost. Cost: a few lookups per grid.
    [[nodiscard]] PeriodicBoxesStats stats() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace quadrat
