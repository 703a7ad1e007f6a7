// A way into a CellIndex for those who compare: tests, benchmarks and `quadrat neighbors --subdivision`. What is set
// here changes how fast an answer comes, never the answer, and so it is no option of the public class.
#pragma once

#include <quadrat/neighbors/cell_index.hpp>

namespace quadrat::neighbors {

template <int D, class T>
struct IndexSeam {
    /// Cells per radius along y and z, the H of Onderik & Durikovic 2008, from the next build() on; 0, as at first:
    /// chosen by density.
    ///
    /// index: without points.
    static void subdivide(CellIndex<D, T>& index, unsigned cells_per_radius);
};

}  // namespace quadrat::neighbors
