// The compiled half of the Python package. Each file beside this one binds one module of the library; the Python layer
// in quadrat/ converts arguments, has the defaults, and documents.
#include "bind.hpp"
#include "calls.hpp"

#include <quadrat/version.hpp>

PYBIND11_MODULE(_quadrat, module) {
    module.attr("__version__") = QUADRAT_VERSION_STRING;
    quadrat::python::register_errors();
    quadrat::python::bind_broad_phase(module);
    quadrat::python::bind_neighbor_list(module);
    quadrat::python::bind_neighbors(module);
    quadrat::python::bind_rows(module);
    quadrat::python::bind_voxels(module);
    quadrat::python::bind_contacts(module);
    quadrat::python::bind_features(module);
    quadrat::python::bind_periodic_boxes(module);
    quadrat::python::bind_voxel_edits(module);
#if QUADRAT_HAS_SIMULATION
    quadrat::python::bind_simulation(module);
#endif
}
