// What is at this cell: sparse grids packed by perfect hashing.
#pragma once

#include <quadrat/voxels/blocks.hpp>
#include <quadrat/voxels/editable_voxels.hpp>
#include <quadrat/voxels/glsl.hpp>
#include <quadrat/voxels/half.hpp>
#include <quadrat/voxels/hidden_bit.hpp>
#include <quadrat/voxels/mipmaps.hpp>
#include <quadrat/voxels/perfect_hash.hpp>
#include <quadrat/voxels/qvox.hpp>
#include <quadrat/voxels/rays.hpp>
#include <quadrat/voxels/sampling.hpp>
#include <quadrat/voxels/sparse_voxels.hpp>
#include <quadrat/voxels/voxel_grid.hpp>
#include <quadrat/voxels/voxel_index.hpp>
#include <quadrat/voxels/voxelise.hpp>
