// NumPy arrays as spans, and results as NumPy arrays, neither copied. The Python layer has converted what it was given
// (quadrat/_arrays.py); here an array that is not what it should be is a TypeError, so that nothing can be misread.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <quadrat/geometry.hpp>

#include "base/kinds.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quadrat::python {

namespace py = pybind11;

using Shape = std::vector<py::ssize_t>;

/// All elements of an array of T in C order.
template <class T>
[[nodiscard]] std::span<const T> elements(const py::array& array) {
    if (!py::isinstance<py::array_t<T, py::array::c_style>>(array))
        throw py::type_error("an array of another type or order");
    return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

/// The rows of an (N, columns) array, each an E of `columns` elements of T.
template <class E, class T>
[[nodiscard]] std::span<const E> rows(const py::array& array) {
    constexpr std::size_t columns = sizeof(E) / sizeof(T);
    if (array.ndim() != 2 || static_cast<std::size_t>(array.shape(1)) != columns)
        throw py::type_error("an array of another shape");
    const std::span<const T> all = elements<T>(array);
    return {reinterpret_cast<const E*>(all.data()), all.size() / columns};
}

template <int D, class T>
[[nodiscard]] std::span<const Vec<D, T>> points_of(const py::array& array) {
    return rows<Vec<D, T>, T>(array);
}
template <int D, class T>
[[nodiscard]] std::span<const Box<D, T>> boxes_of(const py::array& array) {
    return rows<Box<D, T>, T>(array);
}
/// The same for None, which has no elements.
template <class T>
[[nodiscard]] std::span<const T> elements_or_none(const py::object& object) {
    return object.is_none() ? std::span<const T>() : elements<T>(object.cast<py::array>());
}

/// Which scalar: of 4 bytes or of 8.
[[nodiscard]] inline base::Scalar scalar_of(const py::array& array) {
    return array.itemsize() == 4 ? base::Scalar::f32 : base::Scalar::f64;
}

/// An array on memory that `owner` keeps alive.
template <class T, class Owner>
[[nodiscard]] py::array view(const T* data, Shape shape, const std::shared_ptr<Owner>& owner) {
    using Held = std::shared_ptr<Owner>;
    const py::capsule base(new Held(owner), [](void* held) { delete static_cast<Held*>(held); });
    return py::array(py::dtype::of<T>(), std::move(shape), data, base);
}

/// An array that takes over a vector, whose elements are `columns` scalars T each.
template <class T, class E>
[[nodiscard]] py::array taken(std::vector<E>&& values) {
    constexpr auto columns = static_cast<py::ssize_t>(sizeof(E) / sizeof(T));
    const auto owner = std::make_shared<std::vector<E>>(std::move(values));
    const auto count = static_cast<py::ssize_t>(owner->size());
    Shape shape{count};
    if (columns > 1) shape.push_back(columns);
    return view(reinterpret_cast<const T*>(owner->data()), std::move(shape), owner);
}

}  // namespace quadrat::python
