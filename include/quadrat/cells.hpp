// The tables that both questions share, what touches what and what is near what: the oracle, and the list of
// neighbours.
#pragma once

#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/neighbor_list.hpp>
#include <quadrat/cells/uniform_hash.hpp>
