/* SPDX-License-Identifier: MIT */
/* Several processes that work together, on one machine or on many, by MPI.
 *
 * Every process (rank) calls the same functions with the same arguments, and a communicator in the
 * options. Chains are divided among the ranks; results, files and callbacks are those of rank 0,
 * and have the same bits for any number of ranks. Saltus does not ask for <mpi.h>: communicators
 * come as MPI's handles for Fortran, MPI_Comm_c2f(comm) in C, comm.py2f() of mpi4py. */
#ifndef SALTUS_MPI_H
#define SALTUS_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator. */
typedef struct sal_comm sal_comm;

/* Whether the library was built with MPI. */
SAL_API bool sal_comm_available(void);

/* Whether mpirun, srun or the like started this process, by the variables that they set; and as
 * which rank (NULL is fine). MPI is not initialised for this. */
SAL_API bool sal_comm_launched(int64_t *rank);

/* All processes of the program. Initialises MPI, unless that was done already;
 * sal_comm_destroy then finalises it, so this can be called once.
 * Returns: SAL_ERR_UNSUPPORTED (built without MPI); SAL_ERR_IO (MPI failed); SAL_ERR_MEMORY.
 * Cost:    that of MPI_Init, about 0.2 s; once for a program.
 * Threads: the thread that calls it is the one that MPI is called from. */
SAL_API sal_status sal_comm_world(sal_comm **out, sal_error *err);

/* A duplicate of a communicator, by its handle for Fortran; MPI is initialised by you.
 * Every rank of it calls this.
 * Returns: as sal_comm_world; SAL_ERR_ARGUMENT (MPI is not initialised).
 * Cost:    an exchange among all ranks.
 * Threads: that of MPI. */
SAL_API sal_status sal_comm_open(int32_t fortran_handle, sal_comm **out, sal_error *err);

/* Give a communicator back. Every rank calls this. NULL is fine. */
SAL_API void sal_comm_destroy(sal_comm *comm);

/* This process's number, from 0; 0 of NULL. */
SAL_API int64_t sal_comm_rank(const sal_comm *comm);

/* How many processes there are; 1 of NULL. */
SAL_API int64_t sal_comm_size(const sal_comm *comm);

/* Make the failure of any rank the failure of all: each gives its status, and *err with a message
 * where it is not SAL_OK; all get those of the first rank that failed. Call it before work that all
 * ranks share, so that none waits for one that gave up. NULL: `status` itself.
 * Returns: SAL_OK if all gave it; else the first other status; SAL_ERR_IO.
 * Cost:    an exchange of 4 bytes with all ranks; of a failure, one of its message.
 * Threads: that of MPI. */
SAL_API sal_status sal_comm_agree(sal_comm *comm, sal_status status, sal_error *err);

/* Give rank 0's data to all ranks: what it decided, or what only it knows. NULL: nothing to do.
 * Returns: SAL_ERR_IO.
 * Cost:    an exchange of so many bytes.
 * Threads: that of MPI. */
SAL_API sal_status sal_comm_broadcast(sal_comm *comm, void *data, int64_t bytes, sal_error *err);

/* What a communicator was used for, since it was made: calls of MPI that exchange something, and
 * bytes that this rank sent and received. */
typedef struct sal_comm_traffic {
    int64_t calls;    /* number of calls */
    int64_t sent;     /* bytes that this rank sent */
    int64_t received; /* bytes that it received */
} sal_comm_traffic;

/* The same of a communicator; zeros of NULL. */
SAL_API sal_comm_traffic sal_comm_count(const sal_comm *comm);

#ifdef __cplusplus
}
#endif
#endif
