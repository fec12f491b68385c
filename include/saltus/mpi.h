/* SPDX-License-Identifier: MIT */
/* Several processes that work together, on one machine or on many, by MPI.
 *
 * Every process (rank) calls the same functions with the same arguments, and a communicator in the
 * options. Chains are divided among the ranks; results, files and callbacks are those of rank 0,
 * and have the same bits for any number of ranks. Saltus does not ask for <mpi.h>: communicators
 * come as MPI's handles for Fortran, MPI_Comm_c2f(comm) in C, comm.py2f() of mpi4py. */
#ifndef SALTUS_MPI_H
#define SALTUS_MPI_H

#include <stdint.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A communicator. */
typedef struct sal_comm sal_comm;

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

#ifdef __cplusplus
}
#endif
#endif
