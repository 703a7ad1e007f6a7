// A NeighborList whose memory Python's arrays share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <quadrat/cells/neighbor_list.hpp>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quadrat::python {

/// What a search fills. Arrays that were handed out keep the list that they look at; filling again takes that memory if
/// none of them lives any more, and a new list otherwise, so that an array never changes under its owner.
struct SharedList {
    std::shared_ptr<NeighborList> list = std::make_shared<NeighborList>();
    std::shared_ptr<NeighborList> before;  // in whose place `list` was made for the call that fills it
    int dimension = 3;
    bool single = false;
    bool filling = false;  // read and written with the GIL

    /// While a call fills the list; another thread that wants the same one meanwhile gets a RuntimeError. Made and
    /// destroyed with the GIL.
    class Filling {
      public:
        explicit Filling(SharedList& shared) : shared_(shared) {
            if (shared_.filling) throw std::runtime_error("another thread is filling this result");
            shared_.filling = true;
        }
        ~Filling() { shared_.filling = false; }
        Filling(const Filling&) = delete;
        Filling& operator=(const Filling&) = delete;

      private:
        SharedList& shared_;
    };

    /// The list to fill, for points of this kind.
    NeighborList& fresh(int d, bool is_float) {
        before.reset();
        if (list.use_count() > 1) before = std::exchange(list, std::make_shared<NeighborList>());
        dimension = d;
        single = is_float;
        return *list;
    }
    /// (offsets, indices, distances, vectors, shifts); None for what is not stored. The rows are contiguous.
    [[nodiscard]] pybind11::tuple arrays();
    /// After a call that refused its arguments, which it looks at before it writes a byte: an array as it was.
    /// Restoring the first undoes fresh().
    ///
    /// address, shape, dtype: of an array of before, that had the list's memory.
    [[nodiscard]] pybind11::object restored(std::size_t address, const std::vector<pybind11::ssize_t>& shape,
                                            const pybind11::dtype& dtype);
};

}  // namespace quadrat::python
