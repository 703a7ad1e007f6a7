// The box around points.
#pragma once

#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>

#include "neighbors/grid/grid.hpp"

#include <cstdint>
#include <span>

namespace quadrat::neighbors {

/// The smallest and the largest coordinate of each axis.
template <int D, class T>
struct Bounds {
    T lo[D], hi[D];
    bool finite = true;

    /// Of no points.
    [[nodiscard]] static Bounds nothing();
    /// Of these points, on the executor's threads.
    [[nodiscard]] static Bounds of(std::span<const Vec<D, T>> points, Executor* executor);
    [[nodiscard]] static Bounds of(std::span<const Record<D, T>> records);
    /// Of points that must be finite, but for erased ones; throws Error{bad_value} with the index of one that is not.
    [[nodiscard]] static Bounds checked(std::span<const Vec<D, T>> points, std::span<const std::uint8_t> erased,
                                        Executor* executor);
};

}  // namespace quadrat::neighbors
