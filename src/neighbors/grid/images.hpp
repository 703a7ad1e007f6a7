// Periodic images as extra points: every point is wrapped into the box, and a copy of it stands wherever an image of it
// lies within the reach of the box. The search then knows nothing of periodicity; the exact test of a copy goes back to
// the wrapped point and the shift (refine.hpp).
#pragma once

#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/neighbors/periodic.hpp>

#include "neighbors/grid/grid.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::neighbors {

/// A box with its inverse. Directions that are open get a vector that completes the basis.
template <int D, class T>
class Lattice {
  public:
    Lattice() = default;
    /// Throws Error{bad_value} if the vectors are not finite or span no volume.
    explicit Lattice(const Periodic<D, T>& box);

    [[nodiscard]] bool active() const { return active_; }
    /// How many times each box vector fits below the point: 0 for open directions.
    [[nodiscard]] Shift turns(const Vec<D, T>& point, std::size_t index) const;
    /// n_0 v_0 + n_1 v_1 + ..., in T. offset(-n) = -offset(n).
    [[nodiscard]] Vec<D, T> offset(const Shift& n) const;
    /// The coordinates of a point in terms of the box vectors.
    void fractions(const Vec<D, T>& point, double* f) const;
    /// Distance between the two faces that vector k joins.
    [[nodiscard]] double height(int k) const { return height_[k]; }
    [[nodiscard]] bool repeats(int k) const { return repeats_[k]; }
    /// More than any coordinate of a wrapped point or its images out to `reach`, open directions aside.
    [[nodiscard]] double magnitude() const { return magnitude_; }
    /// More than any number that comes up when a point whose coordinates are at most so large is wrapped.
    [[nodiscard]] double magnitude_at(double coordinate) const;

  private:
    Periodic<D, T> box_;
    bool active_ = false;
    bool repeats_[D] = {};
    double inverse_[D][D] = {};
    double height_[D] = {};
    double magnitude_ = 0;
};

/// Points wrapped, and their images. Records of images have ids from real() on.
template <int D, class T>
struct Images {
    std::vector<Vec<D, T>> wrapped;     ///< by index
    std::vector<Shift> turns;           ///< by index: wrapped = point - offset(turns)
    std::vector<std::uint32_t> source;  ///< of image id - real()
    std::vector<Shift> shift;           ///< of image id - real()

    [[nodiscard]] std::size_t real() const { return wrapped.size(); }

    /// Erased points (empty: none is) are not looked at. Throws Error{bad_value} for a point that is too far away.
    void wrap(const Lattice<D, T>& lattice, std::span<const Vec<D, T>> points,
              std::span<const std::uint8_t> erased = {});
    /// Records of all images within reach of the box of the points that are not `erased` (empty: none is), without the
    /// points themselves. Throws Error{too_large} if they need more than max_bytes.
    void make(const Lattice<D, T>& lattice, double reach, std::span<const std::uint8_t> erased, std::uint64_t max_bytes,
              std::vector<Record<D, T>>& records);
};

}  // namespace quadrat::neighbors
