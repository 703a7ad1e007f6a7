// What each module of the library adds to the Python module: one function per file.
#pragma once

#include <pybind11/pybind11.h>

namespace quadrat::python {

void bind_broad_phase(pybind11::module_& module);
void bind_neighbor_list(pybind11::module_& module);
void bind_neighbors(pybind11::module_& module);
void bind_rows(pybind11::module_& module);
void bind_voxels(pybind11::module_& module);
void bind_contacts(pybind11::module_& module);
void bind_features(pybind11::module_& module);
void bind_periodic_boxes(pybind11::module_& module);
void bind_voxel_edits(pybind11::module_& module);
void bind_simulation(pybind11::module_& module);

}  // namespace quadrat::python
