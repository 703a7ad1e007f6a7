// What is at this cell: sparse grids packed by perfect hashing.
#pragma once

#include <quadrat/voxels/perfect_hash.hpp>
