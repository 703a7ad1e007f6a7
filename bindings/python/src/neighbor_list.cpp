#include "neighbor_list.hpp"

#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include <pybind11/stl.h>

#include <cstdint>
#include <limits>

namespace quadrat::python {
namespace {

// Entries of the list from row 0 on, which is where a contiguous list begins.
template <int D, class T>
const T* vectors_of(const NeighborList& list) {
    return reinterpret_cast<const T*>(list.vectors<D, T>(0).data());
}

py::object vectors_array(const SharedList& shared) {
    const NeighborList& list = *shared.list;
    const auto entries = static_cast<py::ssize_t>(list.entries());
    return base::dispatch(shared.dimension, shared.single ? base::Scalar::f32 : base::Scalar::f64,
                          [&]<int D, class T>() -> py::object {
                              if (entries == 0) return py::array_t<T>(Shape{0, D});
                              return view(vectors_of<D, T>(list), {entries, D}, shared.list);
                          });
}

}  // namespace

py::object SharedList::restored(std::size_t address, const std::vector<py::ssize_t>& shape, const py::dtype& dtype) {
    if (before) list = std::exchange(before, nullptr);
    const py::capsule base(new std::shared_ptr<NeighborList>(list),
                           [](void* held) { delete static_cast<std::shared_ptr<NeighborList>*>(held); });
    return py::array(dtype, shape, reinterpret_cast<const void*>(address), base);
}

py::tuple SharedList::arrays() {
    if (filling) throw std::runtime_error("another thread is filling this result");
    before.reset();
    const auto entries = static_cast<py::ssize_t>(list->entries());
    const auto positions = list->offsets();
    py::object offsets, indices, distances = py::none(), vectors = py::none(), shifts = py::none();
    if (positions.empty())
        offsets = py::array_t<std::int64_t>(std::vector<py::ssize_t>{1});
    else
        offsets = view(reinterpret_cast<const std::int64_t*>(positions.data()),
                       {static_cast<py::ssize_t>(positions.size())}, list);
    if (positions.empty()) *static_cast<std::int64_t*>(offsets.cast<py::array>().mutable_data()) = 0;
    if (entries == 0)
        indices = py::array_t<std::int32_t>(Shape{0});
    else
        indices = view(reinterpret_cast<const std::int32_t*>(list->indices().data()), {entries}, list);
    if (list->distance_kind() != DistanceKind::none) {
        if (entries == 0)
            distances = single ? py::object(py::array_t<float>(Shape{0})) : py::object(py::array_t<double>(Shape{0}));
        else if (single)
            distances = view(list->distances<float>().data(), {entries}, list);
        else
            distances = view(list->distances<double>().data(), {entries}, list);
    }
    if (list->has_vectors()) vectors = vectors_array(*this);
    if (list->has_shifts()) {
        if (entries == 0)
            shifts = py::array_t<std::int32_t>(Shape{0, 3});
        else
            shifts = view(reinterpret_cast<const std::int32_t*>(list->shifts(0).data()), {entries, 3}, list);
    }
    return py::make_tuple(offsets, indices, distances, vectors, shifts);
}

void bind_neighbor_list(py::module_& module) {
    py::class_<SharedList>(module, "NeighborList")
        .def(py::init<>())
        .def("arrays", &SharedList::arrays)
        .def("restored", &SharedList::restored, "address"_a, "shape"_a, "dtype"_a)
        .def("nbytes", [](const SharedList& shared) { return shared.list->stats().bytes; });
}

}  // namespace quadrat::python
