/* SPDX-License-Identifier: MIT */
/* The transport by MPI. */
#include <mpi.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "parallel/comm.h"

typedef struct mpi_handle {
    MPI_Comm comm;
    bool finalises; /* this communicator initialised MPI, and finalises it */
} mpi_handle;

static MPI_Comm comm_of(void *handle)
{
    return ((mpi_handle *)handle)->comm;
}

/* Whether `code` is MPI's success; else writes MPI's message to why [SALI_COMM_WHY]. */
static bool is_success(int code, char *why)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &length);
        snprintf(why, SALI_COMM_WHY, "%s", text);
    }
    return code == MPI_SUCCESS;
}

static bool gather(void *handle, void *all, const int *bytes, const int *begin, char *why)
{
    return is_success(
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, bytes, begin, MPI_BYTE, comm_of(handle)),
        why);
}

static bool send(void *handle, int to, const void *data, int bytes, char *why)
{
    return is_success(MPI_Send(data, bytes, MPI_BYTE, to, 0, comm_of(handle)), why);
}

static bool receive(void *handle, int from, void *data, int bytes, char *why)
{
    return is_success(MPI_Recv(data, bytes, MPI_BYTE, from, 0, comm_of(handle), MPI_STATUS_IGNORE),
                      why);
}

static bool broadcast(void *handle, int root, void *data, int bytes, char *why)
{
    return is_success(MPI_Bcast(data, bytes, MPI_BYTE, root, comm_of(handle)), why);
}

static bool swap(void *handle, int other, const void *mine, void *theirs, int bytes, char *why)
{
    return is_success(MPI_Sendrecv(mine, bytes, MPI_BYTE, other, 0, theirs, bytes, MPI_BYTE, other,
                                   0, comm_of(handle), MPI_STATUS_IGNORE),
                      why);
}

/* Free the communicator and its handle, and finalise MPI if this one initialised it. Does no call
 * of MPI after MPI_Finalize. */
static void close_handle(void *handle)
{
    mpi_handle *h = handle;
    int over = 0;
    MPI_Finalized(&over);
    if (!over && h->comm != MPI_COMM_NULL) {
        MPI_Comm_free(&h->comm);
    }
    if (!over && h->finalises) {
        MPI_Finalize();
    }
    sali_free(h);
}

static const sali_transport transport = {
    .gather = gather,
    .send = send,
    .receive = receive,
    .broadcast = broadcast,
    .swap = swap,
    .close = close_handle,
};

/* ---- making communicators */

/* A communicator over a duplicate of `from`: its errors are returned rather than fatal, and its
 * messages cannot mix with those of the caller. SAL_ERR_IO, SAL_ERR_MEMORY. */
static sal_status open_comm(MPI_Comm from, bool finalises, sal_comm **out, sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    int rank = 0, size = 1;
    mpi_handle *h = SALI_NEW(mpi_handle);
    if (!h) {
        return sali_fail_memory(err);
    }
    *h = (mpi_handle){ .comm = MPI_COMM_NULL, .finalises = finalises };
    bool ok = is_success(MPI_Comm_dup(from, &h->comm), why) &&
              is_success(MPI_Comm_set_errhandler(h->comm, MPI_ERRORS_RETURN), why) &&
              is_success(MPI_Comm_rank(h->comm, &rank), why) &&
              is_success(MPI_Comm_size(h->comm, &size), why);
    if (!ok) {
        close_handle(h);
        return sali_fail(err, SAL_ERR_IO, "MPI: %s", why);
    }
    return sali_comm_create(&transport, h, rank, size, out, err);
}

sal_status sal_comm_world(sal_comm **out, sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    int there = 0, level = 0;
    MPI_Initialized(&there);
    if (!there && !is_success(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), why)) {
        return sali_fail(err, SAL_ERR_IO, "MPI: %s", why);
    }
    return open_comm(MPI_COMM_WORLD, !there, out, err);
}

sal_status sal_comm_open(int32_t fortran_handle, sal_comm **out, sal_error *err)
{
    int there = 0;
    MPI_Initialized(&there);
    if (!there) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_comm_open: MPI is not initialised; call MPI_Init first, or "
                         "sal_comm_world");
    }
    return open_comm(MPI_Comm_f2c(fortran_handle), false, out, err);
}
