#!/usr/bin/env bash
# ranks.sh RANKS COMMAND...: mpirun within a time limit (LIMIT seconds), over shared memory, as root and with more ranks than
# processors where need be.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_orte_abort_print_stack=0 OMPI_MCA_mpi_yield_when_idle=1
ranks=$1
shift
exec timeout -k 5 "${LIMIT:-280}" mpirun --quiet -n "$ranks" "$@"
