// Periodic boxes. Points are wrapped into the box; a search then looks at the same points once for each image of the
// box that is near (search/walk.hpp). Only the search for the k nearest makes copies of points for their images.
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
    /// From now on all wrapped points are between these coordinates in terms of the box vectors.
    void contain(const double* lo, const double* hi) {
        for (int k = 0; k < D; ++k) least_[k] = lo[k], most_[k] = hi[k];
    }
    /// Images n with from[k] <= n[k] <= to[k]: all that hold a wrapped point within `reach` of a point between lo and
    /// hi, and few others. 0 for open directions. Rounding is allowed for by 10^-4 of a box.
    void images_near(const T* lo, const T* hi, double reach, std::int32_t* from, std::int32_t* to) const;
    /// True if only the box itself is so near.
    [[nodiscard]] bool only_itself_near(const T* lo, const T* hi, double reach) const {
        std::int32_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0};
        images_near(lo, hi, reach, from, to);
        for (int k = 0; k < 3; ++k)
            if (from[k] != 0 || to[k] != 0) return false;
        return true;
    }
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
    double least_[3] = {0, 0, 0}, most_[3] = {1, 1, 1};
};

/// Points wrapped into a box.
template <int D, class T>
struct Wrapped {
    std::vector<Vec<D, T>> points;                ///< empty if all are as they were given
    std::vector<Shift> turns;                     ///< wrapped = point - offset(turns); empty if all are zero
    double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};  ///< where they are, in terms of the box vectors

    /// Erased points (empty: none is) are not looked at. Throws Error{bad_value} for a point that is too far away.
    [[nodiscard]] static Wrapped of(const Lattice<D, T>& lattice, std::span<const Vec<D, T>> given,
                                    std::span<const std::uint8_t> erased, Executor* executor);
    [[nodiscard]] std::span<const Vec<D, T>> or_as(std::span<const Vec<D, T>> given) const {
        return points.empty() ? given : std::span<const Vec<D, T>>(points);
    }
};

/// Points wrapped, and copies for their images. Records of images have ids from real() on.
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
