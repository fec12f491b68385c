/* Saving the draws of a run. */
#include <string.h>

#include <saltus/io.h>
#include "core/error.h"
#include "io/npy.h"

sal_status sal_run_save(const sal_run *run, const char *path, sal_error *err)
{
    int bytes = 0;
    int64_t shape[3];
    const void *draws = run ? sal_run_draws(run, &bytes) : NULL;
    size_t length = path ? strlen(path) : 0;
    if (length < 5 || strcmp(path + length - 4, ".npy") != 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: this version saves draws as .npy only",
                         path ? path : "no path");
    }
    if (!draws) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: the run kept no draws; set keep_draws in its options", path);
    }
    sal_run_size(run, &shape[0], &shape[1], &shape[2]);
    if (shape[1] == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: the run was stopped before its first draw",
                         path);
    }
    return sali_npy_write(path, bytes == 1 ? SALI_DTYPE_U8 : SALI_DTYPE_I32, 3, shape, draws, err);
}
