/* SPDX-License-Identifier: MIT */
#include "parallel/comm.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* MPI counts in int: longer messages are sent in pieces of this many bytes. */
#define MOST_BYTES (INT64_C(1) << 30)

sal_status sali_comm_create(const sali_transport *transport, void *handle, int64_t rank,
                            int64_t size, sal_comm **out, sal_error *err)
{
    sal_comm *comm = SALI_NEW(sal_comm);
    if (comm) {
        *comm = (sal_comm){ .transport = transport,
                            .handle = handle,
                            .rank = rank,
                            .size = size,
                            .bytes = SALI_NEW_ARRAY(int, size),
                            .begin = SALI_NEW_ARRAY(int, size),
                            .sizes = SALI_NEW_ARRAY(int64_t, size),
                            .statuses = SALI_NEW_ARRAY(int32_t, size) };
    }
    if (!comm || !comm->bytes || !comm->begin || !comm->sizes || !comm->statuses) {
        if (comm) {
            sal_comm_destroy(comm);
        } else {
            transport->close(handle);
        }
        return sali_fail_memory(err);
    }
    *out = comm;
    return SAL_OK;
}

void sal_comm_destroy(sal_comm *comm)
{
    if (comm) {
        comm->transport->close(comm->handle);
        sali_free(comm->bytes);
        sali_free(comm->begin);
        sali_free(comm->sizes);
        sali_free(comm->statuses);
        sali_free(comm);
    }
}

int64_t sal_comm_rank(const sal_comm *comm)
{
    return comm ? comm->rank : 0;
}

int64_t sal_comm_size(const sal_comm *comm)
{
    return comm ? comm->size : 1;
}

sal_comm_traffic sal_comm_count(const sal_comm *comm)
{
    return comm ? comm->traffic : (sal_comm_traffic){ 0 };
}

/* ---- launched or not */

bool sal_comm_launched(int64_t *rank)
{
    /* Open MPI; Slurm and others by PMIx; MPICH and Slurm by PMI. */
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *text = getenv(names[k]);
        if (text && *text >= '0' && *text <= '9') {
            if (rank) {
                *rank = strtoll(text, NULL, 10);
            }
            return true;
        }
    }
    return false;
}

/* ---- exchanging */

/* Count one call of the transport with the bytes sent and received. Returns SAL_OK if it is `done`,
 * else SAL_ERR_IO with the reason `why`. */
static sal_status finish_call(sal_comm *comm, bool done, int64_t sent, int64_t received,
                              const char *why, sal_error *err)
{
    comm->traffic.calls++;
    comm->traffic.sent += sent;
    comm->traffic.received += received;
    return done ? SAL_OK
                : sali_fail(err, SAL_ERR_IO, "MPI, rank %lld of %lld: %s", (long long)comm->rank,
                            (long long)comm->size, why);
}

static bool is_alone(const sal_comm *comm)
{
    return !comm || comm->size == 1;
}

sal_status sali_comm_broadcast(sal_comm *comm, int64_t root, void *data, int64_t bytes,
                               sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    sal_status status = SAL_OK;
    for (int64_t done = 0, n; !is_alone(comm) && status == SAL_OK && done < bytes; done += n) {
        n = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES;
        bool ok =
            comm->transport->broadcast(comm->handle, (int)root, (char *)data + done, (int)n, why);
        status =
            finish_call(comm, ok, comm->rank == root ? n : 0, comm->rank == root ? 0 : n, why, err);
    }
    return status;
}

sal_status sal_comm_broadcast(sal_comm *comm, void *data, int64_t bytes, sal_error *err)
{
    return sali_comm_broadcast(comm, 0, data, bytes, err);
}

/* The total of bytes [ranks]. If one call can carry it, comm->bytes and comm->begin are filled with
 * the sizes and offsets for that call. */
static int64_t list_parts(sal_comm *comm, const int64_t *bytes)
{
    int64_t total = 0;
    for (int64_t r = 0; r < comm->size; r++) {
        total += bytes[r];
    }
    for (int64_t r = 0, at = 0; total <= MOST_BYTES && r < comm->size; r++) {
        comm->bytes[r] = (int)bytes[r];
        comm->begin[r] = (int)at;
        at += bytes[r];
    }
    return total;
}

/* Gather parts that are too large for one call: each rank in turn broadcasts its part of `all`. */
static sal_status broadcast_parts(sal_comm *comm, char *all, const int64_t *bytes, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < comm->size; all += bytes[r++]) {
        status = sali_comm_broadcast(comm, r, all, bytes[r], err);
    }
    return status;
}

sal_status sali_comm_gather(sal_comm *comm, void *all, const int64_t *bytes, sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    if (is_alone(comm)) {
        return SAL_OK;
    }
    const int64_t total = list_parts(comm, bytes);
    if (total > MOST_BYTES) {
        return broadcast_parts(comm, all, bytes, err);
    }
    if (total == 0) {
        return SAL_OK;
    }
    bool ok = comm->transport->gather(comm->handle, all, comm->bytes, comm->begin, why);
    return finish_call(comm, ok, bytes[comm->rank], total - bytes[comm->rank], why, err);
}

/* Send `data` to rank `other`, or receive it from there, in pieces of at most MOST_BYTES. */
static sal_status carry_pieces(sal_comm *comm, bool sends, int64_t other, void *data, int64_t bytes,
                               sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    sal_status status = SAL_OK;
    for (int64_t done = 0, n; status == SAL_OK && done < bytes; done += n) {
        char *at = (char *)data + done;
        n = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES;
        bool ok = sends ? comm->transport->send(comm->handle, (int)other, at, (int)n, why)
                        : comm->transport->receive(comm->handle, (int)other, at, (int)n, why);
        status = finish_call(comm, ok, sends ? n : 0, sends ? 0 : n, why, err);
    }
    return status;
}

sal_status sali_comm_send(sal_comm *comm, int64_t to, const void *data, int64_t bytes,
                          sal_error *err)
{
    return carry_pieces(comm, true, to, (void *)data, bytes, err);
}

sal_status sali_comm_receive(sal_comm *comm, int64_t from, void *data, int64_t bytes,
                             sal_error *err)
{
    return carry_pieces(comm, false, from, data, bytes, err);
}

sal_status sali_comm_collect(sal_comm *comm, const void *part, void *all, const int64_t *bytes,
                             sal_error *err)
{
    sal_status status = SAL_OK;
    if (is_alone(comm)) {
        return SAL_OK;
    }
    if (comm->rank > 0) {
        return carry_pieces(comm, true, 0, (void *)part, bytes[comm->rank], err);
    }
    char *at = (char *)all + bytes[0];
    for (int64_t r = 1; status == SAL_OK && r < comm->size; at += bytes[r++]) {
        status = carry_pieces(comm, false, r, at, bytes[r], err);
    }
    return status;
}

sal_status sali_comm_swap(sal_comm *comm, int64_t other, const void *mine, void *theirs,
                          int64_t bytes, sal_error *err)
{
    char why[SALI_COMM_WHY] = "";
    sal_status status = SAL_OK;
    for (int64_t done = 0, n; status == SAL_OK && done < bytes; done += n) {
        n = bytes - done < MOST_BYTES ? bytes - done : MOST_BYTES;
        bool ok = comm->transport->swap(comm->handle, (int)other, (const char *)mine + done,
                                        (char *)theirs + done, (int)n, why);
        status = finish_call(comm, ok, n, n, why, err);
    }
    return status;
}

/* ---- failures */

sal_status sal_comm_agree(sal_comm *comm, sal_status status, sal_error *err)
{
    sal_error all = { 0 };
    if (is_alone(comm)) {
        return status;
    }
    int64_t first = 0;
    for (int64_t r = 0; r < comm->size; r++) {
        comm->sizes[r] = sizeof *comm->statuses;
    }
    comm->statuses[comm->rank] = status;
    sal_status done = sali_comm_gather(comm, comm->statuses, comm->sizes, err);
    while (done == SAL_OK && first < comm->size && comm->statuses[first] == SAL_OK) {
        first++;
    }
    if (done != SAL_OK || first == comm->size) {
        return done;
    }
    if (first == comm->rank && err) {
        all = *err;
    }
    all.status = comm->statuses[first];
    done = sali_comm_broadcast(comm, first, &all, sizeof all, err);
    if (done == SAL_OK && err) {
        *err = all;
    }
    return done ? done : all.status;
}
