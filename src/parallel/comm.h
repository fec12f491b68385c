/* SPDX-License-Identifier: MIT */
/* What ranks send each other. Everything is collective: all ranks of a communicator make the same
 * calls in the same order. Without a communicator (NULL), or with one rank, nothing is sent. */
#ifndef SALI_COMM_H
#define SALI_COMM_H

#include <saltus/mpi.h>
#include <saltus/program.h>

/* Gather the parts of all ranks, one after the other, in `all` at every rank. Part r has bytes[r]
 * bytes; on entry, each rank's own part is in its place in `all`. Returns: SAL_ERR_IO. */
sal_status sali_comm_gather(sal_comm *comm, void *all, const int64_t *bytes, sal_error *err);

/* Gather at rank 0 only: other ranks send `part` and ignore `all`. At rank 0 its own part is in its
 * place in `all` on entry, and `part` is ignored. Returns: SAL_ERR_IO. */
sal_status sali_comm_collect(sal_comm *comm, const void *part, void *all, const int64_t *bytes,
                             sal_error *err);

/* Copy `data` [bytes] of rank `root` to all ranks. Returns: SAL_ERR_IO. */
sal_status sali_comm_broadcast(sal_comm *comm, int64_t root, void *data, int64_t bytes,
                               sal_error *err);

/* Move `bytes` bytes from one rank to another: the sender names the receiver, and the receiver the
 * sender. Returns: SAL_ERR_IO. */
sal_status sali_comm_send(sal_comm *comm, int64_t to, const void *data, int64_t bytes,
                          sal_error *err);
sal_status sali_comm_receive(sal_comm *comm, int64_t from, void *data, int64_t bytes,
                             sal_error *err);

/* Exchange `bytes` bytes with rank `other`, which makes the same call with this rank. Returns:
 * SAL_ERR_IO. */
sal_status sali_comm_swap(sal_comm *comm, int64_t other, const void *mine, void *theirs,
                          int64_t bytes, sal_error *err);

/* ---- the layer below, by MPI (mpi.c) or refused (no_mpi.c) */

/* Each function is one call of less than 2^31 bytes in all, made at all ranks or at the two ranks
 * concerned. False: the call failed, with a reason in `why` [SALI_COMM_WHY]. */
typedef struct sali_transport {
    bool (*gather)(void *handle, void *all, const int *bytes, const int *begin, char *why);
    bool (*send)(void *handle, int to, const void *data, int bytes, char *why);
    bool (*receive)(void *handle, int from, void *data, int bytes, char *why);
    bool (*broadcast)(void *handle, int root, void *data, int bytes, char *why);
    bool (*swap)(void *handle, int other, const void *mine, void *theirs, int bytes, char *why);
    void (*close)(void *handle);
} sali_transport;

/* Room for a reason. */
#define SALI_COMM_WHY 512

struct sal_comm {
    const sali_transport *transport;
    void *handle;
    int64_t rank, size;
    int *bytes, *begin; /* [size] scratch of gathering */
    int64_t *sizes;     /* [size] scratch of sal_comm_agree */
    int32_t *statuses;  /* [size] scratch of sal_comm_agree */
    sal_comm_traffic traffic;
};

/* A communicator over a transport, which it closes when it is destroyed, or now on failure.
 * SAL_ERR_MEMORY. */
sal_status sali_comm_create(const sali_transport *transport, void *handle, int64_t rank,
                            int64_t size, sal_comm **out, sal_error *err);

#endif
