// Fluid, solids and cloth: the scene, the run, and what they are made of.
//
//     scene.hpp        Scene: what a run starts from, as plain structs
//     simulation.hpp   Simulation: the run itself
//     cloth.hpp        Cloth: one cloth alone, with obstacles
//     grains.hpp       Grains: rigid bodies by the million, with friction
//     kernels.hpp      Kernel: smoothing functions
//
// docs/guides/simulation.md shows how, docs/reference/simulation.md has the equations.
#pragma once

#include <quadrat/simulation/cloth.hpp>
#include <quadrat/simulation/grains.hpp>
#include <quadrat/simulation/kernels.hpp>
#include <quadrat/simulation/scene.hpp>
#include <quadrat/simulation/simulation.hpp>
