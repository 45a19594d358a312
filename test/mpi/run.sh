#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh RANKS PROGRAM ARGUMENT...: runs it under mpirun, on this machine alone. Without mpirun, or if
# that can't start anything here, exit code 77 and the reason.
set -u
ranks=$1
shift
mpirun=${MPIRUN:-mpirun}

command -v "$mpirun" >/dev/null || { echo "mpirun is missing (Debian: openmpi-bin)"; exit 77; }
if "$mpirun" --version 2>/dev/null | grep -qE 'Open MPI|OpenRTE'; then
    # More ranks than CPUs, which yield; no network but the loopback; messages are copied twice, as
    # the kernel may forbid one process to read another.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
        OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
        OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_plm=isolated
fi
export WEFT_WORKERS="${WEFT_WORKERS-2}"
said=$(timeout 60 "$mpirun" -n 1 true 2>&1) || { echo "mpirun does not run here: $said"; exit 77; }
exec timeout "${MPI_SECONDS:-120}" "$mpirun" -n "$ranks" "$@"
