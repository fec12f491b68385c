/* Saving the draws of a run. */
#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/draws/draw_writer.h"
#include "io/arrays/npy.h"

/* Draw number d of all chains: codes [chains x V] and f [chains]. */
static void gather(const sal_run *run, int64_t chains, int64_t draws, int64_t V, int64_t d,
                   int32_t *codes, double *log_prob)
{
    int bytes = 0;
    const void *all = sal_run_draws(run, &bytes);
    for (int64_t c = 0; c < chains; c++) {
        int64_t at = c * draws + d;
        log_prob[c] = sal_run_log_probs(run)[at];
        for (int64_t v = 0; v < V; v++) {
            codes[c * V + v] = bytes == 1 ? ((const uint8_t *)all)[at * V + v]
                                          : ((const int32_t *)all)[at * V + v];
        }
    }
}

/* Into a writer, which keeps what goes wrong; codes [chains x V] and log_prob [chains] are room. */
static void add_draws(const sal_run *run, sal_draw_writer *writer, int32_t *codes, double *log_prob)
{
    int64_t chains, draws, V;
    int failed = 0;
    sal_run_size(run, &chains, &draws, &V);
    for (int64_t d = 0; !failed && d < draws; d++) {
        sal_draw draw = {
            .index = d, .chains = chains, .variables = V, .codes = codes, .log_prob = log_prob
        };
        gather(run, chains, draws, V, d, codes, log_prob);
        failed = sal_draw_writer_add(&draw, writer);
    }
}

static sal_status save_netcdf(const sal_run *run, const char *path, sal_error *err)
{
    sal_run_summary s;
    sal_draw_writer *writer = NULL;
    sal_status status = sal_run_summarise(run, &s, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_run_options options = { .sampler = s.sampler,
                                .chains = s.chains,
                                .warmup = s.warmup > 0 ? s.warmup : -1,
                                .draws = s.draws,
                                .thin = s.thin,
                                .seed = s.seed,
                                .anneal = s.annealed };
    int32_t *codes = SALI_NEW_ARRAY(int32_t, s.chains * s.variables);
    double *log_prob = SALI_NEW_ARRAY(double, s.chains);
    status = codes && log_prob
                 ? sali_draw_writer_open(path, sal_run_model(run), &options, NULL, 1, &writer, err)
                 : sali_fail_memory(err);
    if (status == SAL_OK) {
        add_draws(run, writer, codes, log_prob);
        status = sal_draw_writer_close(writer, run, err);
    }
    sali_free(codes);
    sali_free(log_prob);
    return status;
}

sal_status sal_run_save(const sal_run *run, const char *path, sal_error *err)
{
    int bytes = 0;
    int64_t shape[3];
    const void *draws = run ? sal_run_draws(run, &bytes) : NULL;
    bool netcdf = sali_has_suffix(path, ".nc");
    if (!netcdf && !sali_has_suffix(path, ".npy")) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "%s: draws are saved as NAME.npy or NAME.nc",
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
    return netcdf ? save_netcdf(run, path, err)
                  : sali_npy_write(path, bytes == 1 ? SALI_DTYPE_U8 : SALI_DTYPE_I32, 3, shape,
                                   draws, err);
}
