// Fluid, solids and cloth: the scene, the run, and what they are made of.
#pragma once

#include <quadrat/simulation/cloth.hpp>
#include <quadrat/simulation/kernels.hpp>
#include <quadrat/simulation/scene.hpp>
#include <quadrat/simulation/simulation.hpp>
