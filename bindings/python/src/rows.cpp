// Sums over the rows of a list, and the row of each entry: what NumPy does in several passes over arrays as long as the
// list. Each row is summed in its order, so that the result does not depend on the number of threads.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace quadrat::python {
namespace {

constexpr std::size_t rows_per_task = 4096;

// Arrays that came out of the library may have been written to since: nothing of them is taken on trust.
void check_offsets(std::span<const std::int64_t> offsets, std::size_t entries) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(entries))
        throw Error(ErrorKind::bad_shape, "do not begin at 0 and end with the last entry", {.field = "offsets"});
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
        if (offsets[row] > offsets[row + 1])
            throw Error(ErrorKind::bad_value, "fall", {.index = row, .field = "offsets"});
}

template <class Index>
py::array homes_as(const py::array& given, std::size_t entries, unsigned threads) {
    const auto offsets = elements<std::int64_t>(given);
    py::array_t<Index> result(static_cast<py::ssize_t>(entries));
    Index* const out = result.mutable_data();
    Call().run([&] {
        check_offsets(offsets, entries);
        base::parallel_for(executor_of(threads), offsets.size() - 1, rows_per_task,
                           [&](std::size_t begin, std::size_t end) {
                               for (std::size_t row = begin; row < end; ++row)
                                   std::fill(out + offsets[row], out + offsets[row + 1], static_cast<Index>(row));
                           });
    });
    return result;
}

py::array homes(const py::array& offsets, std::size_t entries, bool wide, unsigned threads) {
    return wide ? homes_as<std::int64_t>(offsets, entries, threads) : homes_as<std::int32_t>(offsets, entries, threads);
}

// sum over e of weight[e] * values[index[e]] for the columns of one row, in double.
template <class T>
struct Sums {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> indices;
    std::span<const T> values, weights;
    std::size_t columns;
    T* out;

    void rows(std::size_t begin, std::size_t end) const {
        std::vector<double> sums(columns);
        const std::size_t points = columns ? values.size() / columns : 0;
        for (std::size_t row = begin; row < end; ++row) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (auto e = static_cast<std::size_t>(offsets[row]); e < static_cast<std::size_t>(offsets[row + 1]); ++e) {
                if (indices[e] >= points && columns)
                    throw Error(ErrorKind::bad_value, std::to_string(indices[e]) + " is not a point",
                                {.index = e, .field = "indices"});
                const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[e]);
                const T* value = values.data() + indices[e] * columns;
                for (std::size_t k = 0; k < columns; ++k) sums[k] += weight * static_cast<double>(value[k]);
            }
            for (std::size_t k = 0; k < columns; ++k) out[row * columns + k] = static_cast<T>(sums[k]);
        }
    }
};

template <class T>
py::array sums_as(const py::array& offsets, const py::array& indices, const py::array& values,
                  const py::object& weights, unsigned threads) {
    if (values.ndim() != 2) throw py::type_error("an array of another shape");
    Sums<T> sums{elements<std::int64_t>(offsets), elements<std::uint32_t>(indices),          elements<T>(values),
                 elements_or_none<T>(weights),    static_cast<std::size_t>(values.shape(1)), nullptr};
    if (!weights.is_none() && sums.weights.size() != sums.indices.size())
        throw py::type_error("an array of another length");
    py::array_t<T> result(Shape{offsets.size() - 1, values.shape(1)});
    sums.out = result.mutable_data();
    Call().run([&] {
        check_offsets(sums.offsets, sums.indices.size());
        base::parallel_for(executor_of(threads), sums.offsets.size() - 1, rows_per_task,
                           [&](std::size_t begin, std::size_t end) { sums.rows(begin, end); });
    });
    return result;
}

py::array row_sums(const py::array& offsets, const py::array& indices, const py::array& values,
                   const py::object& weights, unsigned threads) {
    return values.itemsize() == 4 ? sums_as<float>(offsets, indices, values, weights, threads)
                                  : sums_as<double>(offsets, indices, values, weights, threads);
}

// An array of Python's lists, one per row. Each number is made once, however many rows it is in: a list then costs a
// look at memory per entry and no allocation.
py::array row_lists(const py::array& given, const py::array& columns, bool sorted) {
    const auto offsets = elements<std::int64_t>(given);
    const auto indices = elements<std::uint32_t>(columns);
    std::vector<std::uint32_t> order(indices.begin(), indices.end());
    Call().run([&] {
        check_offsets(offsets, order.size());
        if (!sorted) return;
        for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
            std::sort(order.begin() + offsets[row], order.begin() + offsets[row + 1]);
    });
    const std::size_t most = order.empty() ? 0 : *std::max_element(order.begin(), order.end());
    std::vector<py::object> numbers(most < 4 * order.size() ? most + 1 : 0);  // few entries of many points: one by one
    const auto number = [&](std::uint32_t k) {
        if (numbers.empty()) return PyLong_FromUnsignedLong(k);
        if (!numbers[k]) numbers[k] = py::reinterpret_steal<py::object>(PyLong_FromUnsignedLong(k));
        return py::object(numbers[k]).release().ptr();
    };
    const std::size_t rows = offsets.size() - 1;
    py::array result(py::dtype("O"), static_cast<py::ssize_t>(rows));
    auto* const to = static_cast<PyObject**>(result.mutable_data());
    for (std::size_t row = 0; row < rows; ++row) {
        py::list list(static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
        for (auto e = static_cast<std::size_t>(offsets[row]), k = std::size_t{0}; k < list.size(); ++e, ++k) {
            PyObject* const made = number(order[e]);
            if (!made) throw py::error_already_set();
            PyList_SET_ITEM(list.ptr(), static_cast<py::ssize_t>(k), made);
        }
        Py_XSETREF(to[row], list.release().ptr());
    }
    return result;
}

}  // namespace

void bind_rows(py::module_& module) {
    module.def("homes", homes, "offsets"_a, "entries"_a, "wide"_a, "threads"_a);
    module.def("row_lists", row_lists, "offsets"_a, "indices"_a, "sorted"_a);
    module.def("row_sums", row_sums, "offsets"_a, "indices"_a, "values"_a, "weights"_a, "threads"_a);
}

}  // namespace quadrat::python
