/* SPDX-License-Identifier: MIT */
#include "look.h"

#include <errno.h>

enum { WINDOW = 256 };

int weft__mpi_errno(int code)
{
    int class = code;
    if (code == MPI_SUCCESS)
        return 0;
    MPI_Error_class(code, &class);
    switch (class) {
    case MPI_ERR_TRUNCATE:
        return -EMSGSIZE;
    case MPI_ERR_NO_MEM:
        return -ENOMEM;
    case MPI_ERR_REQUEST:
    case MPI_ERR_ARG:
    case MPI_ERR_COUNT:
    case MPI_ERR_COMM:
    case MPI_ERR_TYPE:
    case MPI_ERR_TAG:
    case MPI_ERR_RANK:
    case MPI_ERR_BUFFER:
        return -EINVAL;
    default:
        return -EIO;
    }
}

/* Those before it have ended, and those after it may go on. */
static void note_failure(struct weft__mpi_wait *wait, int n)
{
    if (wait->statuses == MPI_STATUSES_IGNORE || wait->result != MPI_ERR_IN_STATUS)
        return;
    for (int i = 0; i < wait->first; i++)
        wait->statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (int i = wait->first + n; i < wait->n; i++)
        wait->statuses[i].MPI_ERROR = MPI_ERR_PENDING;
}

/* Without statuses MPI does not say which message failed, and how. */
static int test_all(int n, MPI_Request *requests, int *is_over)
{
    MPI_Status statuses[WINDOW];
    int result = MPI_Testall(n, requests, is_over, statuses);
    for (int i = 0; i < n && result == MPI_ERR_IN_STATUS; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            result = statuses[i].MPI_ERROR;
    return result;
}

/* Looks at a WINDOW of them at a time. So what moves can be seen before all have ended, and a look
 * does not get longer with the square of their number. A call of MPI takes in a few messages only:
 * so if the first ones are not there yet, it looks once more for each WINDOW that follows. */
static bool look_at_set(struct weft__mpi_wait *wait)
{
    int is_over = 0, before = wait->first, looks = (wait->n - before) / WINDOW;
    if (looks > WINDOW)
        looks = WINDOW;
    do {
        int left = wait->n - wait->first, n = left < WINDOW ? left : WINDOW;
        MPI_Request *requests = wait->requests + wait->first;
        wait->result = wait->statuses == MPI_STATUSES_IGNORE
                           ? test_all(n, requests, &is_over)
                           : MPI_Testall(n, requests, &is_over, wait->statuses + wait->first);
        if (wait->result != MPI_SUCCESS) {
            note_failure(wait, n);
            return true;
        }
        wait->first += is_over ? n : 0;
    } while (wait->first < wait->n && (is_over || looks-- > 0));
    wait->moves = wait->first > before;
    return wait->first == wait->n;
}

bool weft__mpi_look(struct weft__mpi_wait *wait)
{
    int is_over = 0;
    if (wait->kind == WEFT__MPI_ALL)
        return look_at_set(wait);
    if (wait->kind == WEFT__MPI_ONE)
        wait->result = MPI_Test(wait->requests, &is_over, wait->statuses);
    else
        wait->result = MPI_Testany(wait->n, wait->requests, &wait->index, &is_over, wait->statuses);
    return is_over || wait->result != MPI_SUCCESS;
}
