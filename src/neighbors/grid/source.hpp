// Where the points of a grid come from, behind one face: a plain array, whose positions are the ids, or records.
#pragma once

#include "neighbors/grid/keys.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace quadrat::neighbors {

template <int D, class T>
struct PointSource {
    static constexpr std::size_t stride = D;
    std::span<const Vec<D, T>> points;
    [[nodiscard]] std::size_t size() const { return points.size(); }
    [[nodiscard]] const T* at(std::size_t i) const { return points[i].v; }
    [[nodiscard]] std::uint32_t id(std::size_t i) const { return static_cast<std::uint32_t>(i); }
};

template <int D, class T>
struct RecordSource {
    static constexpr std::size_t stride = record_stride<D, T>;
    std::span<const Record<D, T>> records;
    [[nodiscard]] std::size_t size() const { return records.size(); }
    [[nodiscard]] const T* at(std::size_t i) const { return records[i].v; }
    [[nodiscard]] std::uint32_t id(std::size_t i) const { return records[i].id; }
};

}  // namespace quadrat::neighbors
