// A NeighborList whose memory Python's arrays share.
#pragma once

#include <pybind11/pybind11.h>
#include <quadrat/cells/neighbor_list.hpp>

#include <memory>

namespace quadrat::python {

/// What a search fills. Arrays that were handed out keep the list that they look at; filling again takes that memory if
/// none of them lives any more, and a new list otherwise, so that an array never changes under its owner.
struct SharedList {
    std::shared_ptr<NeighborList> list = std::make_shared<NeighborList>();
    int dimension = 3;
    bool single = false;

    /// The list to fill, for points of this kind.
    NeighborList& fresh(int d, bool is_float) {
        if (list.use_count() > 1) list = std::make_shared<NeighborList>();
        dimension = d;
        single = is_float;
        return *list;
    }
    /// (offsets, indices, distances, vectors, shifts); None for what is not stored. The rows are contiguous.
    [[nodiscard]] pybind11::tuple arrays() const;
};

}  // namespace quadrat::python
