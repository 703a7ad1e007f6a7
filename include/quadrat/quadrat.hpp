// The whole public API but for two headers that are asked for by name: <quadrat/distributed.hpp>, which is
// quadrat::mpi, and <quadrat/neighbors/extended_spatial_hash.hpp>, a structure to compare with. A program that uses one
// part compiles faster with the header of that part:
//
//     broad_phase.hpp   what touches what: boxes, spheres, half-spaces
//     neighbors.hpp     what is near what: points within a radius, the k nearest
//     voxels.hpp        what is at this cell: sparse grids
//     ccd.hpp           contact of deforming surfaces
//     simulation.hpp    fluid, solids and cloth
//     cells.hpp         the tables and the oracle that the first two share
#pragma once

#include <quadrat/broad_phase.hpp>
#include <quadrat/ccd.hpp>
#include <quadrat/cells.hpp>
#include <quadrat/error.hpp>
#include <quadrat/executor.hpp>
#include <quadrat/geometry.hpp>
#include <quadrat/neighbors.hpp>
#include <quadrat/simulation.hpp>
#include <quadrat/version.hpp>
#include <quadrat/voxels.hpp>
