// What outgrows one machine: the two questions of the library, what touches what and what is near what, on the ranks of
// an MPI program. This is a library of its own (quadrat::mpi, libquadrat_mpi); the core knows nothing of MPI.
//
// Space is cut into one leaf per rank. Every body belongs to the rank in whose leaf its centre lies (own), and is also
// known to every rank whose leaf it reaches (a ghost there). docs/reference/distributed.md has the rules and the costs.
//
// Every call that is marked collective must be made by all ranks of the communicator in the same order. The calls need
// MPI_THREAD_FUNNELED: they talk to MPI on the calling thread only. What goes wrong on one rank is thrown on all.
#pragma once

#include <quadrat/distributed/broad_phase.hpp>
#include <quadrat/distributed/communicator.hpp>
#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/distributed/exchange.hpp>
#include <quadrat/distributed/neighbors.hpp>
