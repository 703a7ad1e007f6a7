// The tables that both questions share, what touches what and what is near what: the oracle, the list of neighbours,
// and the two hashes that serve boxes and points alike.
//
//     BruteForce         everything against everything: an oracle, or a few hundred objects
//     UniformHash        cells of one size: boxes of like size, points with one radius
//     HierarchicalHash   cells of all sizes: boxes of all sizes
//
// All give the same pairs and neighbours, in an order of their own. For speed over all inputs take HashGridHierarchy
// (broad_phase.hpp) and CellIndex (neighbors.hpp).
#pragma once

#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/cells/owned_array.hpp>
#include <quadrat/cells/uniform_hash.hpp>
