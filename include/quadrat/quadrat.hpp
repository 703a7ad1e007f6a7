// The whole public API.
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
