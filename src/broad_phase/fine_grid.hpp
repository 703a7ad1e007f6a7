// Coordinates of 16 bits for the search inside one grid: the position of a corner in fractions of a cell, modulo 2^16.
// Within the neighbourhood of a cell differences of such coordinates are true differences, so six subtractions compare
// two boxes, for sixteen candidates at once where eight floats would fit. Quantisation is monotone: a positive
// difference is certain, a negative one too, and only zero asks for the coordinates of the caller. The answer is
// therefore the exact one, for float and double alike.
#pragma once

#include "broad_phase/grid_shape.hpp"

#include <cstddef>
#include <cstdint>

namespace quadrat::broad_phase {

template <class T>
struct FineAxis {
    T origin = 0;
    T inverse = 1;  ///< units per unit of length
    T limit = 0;    ///< largest coordinate; everything beyond the grid has it

    [[nodiscard]] std::uint16_t operator()(T x) const {
        T t = (x - origin) * inverse;
        t = t > T{0} ? t : T{0};
        t = t < limit ? t : limit;
        return static_cast<std::uint16_t>(static_cast<std::uint32_t>(static_cast<std::int32_t>(t)));
    }
};

template <int D, class T>
struct FineGrid {
    FineAxis<T> axis[D];
    /// Differences along x are true among boxes whose lower corners lie in so many consecutive bins. Beyond, a box that
    /// is far away may look near, but never the other way round.
    std::int32_t longest = 0;
};

/// For a grid of that shape, which is not wrapped, with so many objects.
template <int D, class T>
[[nodiscard]] FineGrid<D, T> make_fine(const GridShape<D, T>& shape, std::size_t objects);

/// Column 2 k is the fine coordinate of lo on axis k, column 2 k + 1 the negative of that of hi. Writes n elements of
/// each.
template <int D, class T>
void fine_columns(const FineGrid<D, T>& fine, const T* const (&lo)[D], const T* const (&hi)[D], std::size_t n,
                  std::uint16_t* const (&column)[2 * D]);

}  // namespace quadrat::broad_phase
