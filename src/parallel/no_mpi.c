/* SPDX-License-Identifier: MIT */
/* In place of mpi.c where the library is built without MPI. */
#include "core/error.h"
#include "parallel/comm.h"

static sal_status refuse_mpi(sal_error *err)
{
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "this library was built without MPI: install libopenmpi-dev and build it with "
                     "-Dmpi=enabled");
}

sal_status sal_comm_world(sal_comm **out, sal_error *err)
{
    (void)out;
    return refuse_mpi(err);
}

sal_status sal_comm_open(int32_t fortran_handle, sal_comm **out, sal_error *err)
{
    (void)fortran_handle;
    (void)out;
    return refuse_mpi(err);
}
