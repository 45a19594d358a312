/* SPDX-License-Identifier: MIT */
#include "os/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

static const struct {
    const char *rank, *size, *bound;
} known[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_orte_bound_at_launch"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL}, /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", NULL},
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", NULL}, /* srun; "4(x2),3": the first of them */
};

static bool read_number(const char *name, unsigned *number)
{
    const char *text = name ? getenv(name) : NULL;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long value = strtoul(text, NULL, 10);
    *number = (unsigned)value;
    return errno == 0 && value <= INT_MAX;
}

bool weft__launcher_get(struct weft__launcher *launcher)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        unsigned bound = 0;
        if (!read_number(known[i].rank, &launcher->rank) ||
            !read_number(known[i].size, &launcher->size) || launcher->rank >= launcher->size)
            continue;
        launcher->bound = read_number(known[i].bound, &bound) && bound > 0;
        return true;
    }
    return false;
}

unsigned weft__launcher_share(const struct weft__launcher *launcher, unsigned cpus, unsigned all)
{
    if (all < cpus || (all == cpus && launcher->bound))
        return cpus;
    unsigned share = all / launcher->size + (launcher->rank < all % launcher->size);
    if (share == 0)
        share = 1;
    return share < cpus ? share : cpus;
}
