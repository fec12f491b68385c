/* The covariance of data in a model's embedding. */
#include "core/alloc.h"
#include "core/error.h"
#include "stats/covariance.h"
#include "train/data.h"
#include "train/trainer.h"

sal_status sal_data_covariance(const sal_data *data, const sal_model *model, double *out,
                               sal_error *err)
{
    if (!data || !model || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_data_covariance: the data, the model or the result are NULL");
    }
    sal_status status = sali_data_check("sal_data_covariance", data, model->space, err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_space *space = model->space;
    const int64_t N = space->width, V = space->n_variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, V);
    double *x = SALI_NEW_ARRAY(double, N), *sums = SALI_NEW_ARRAY(double, N);
    bool ok = codes && x && sums;
    double total = 0;
    for (int64_t i = 0; ok && i < N * N; i++) {
        out[i] = 0;
    }
    for (int64_t r = 0; ok && r < data->rows; r++) {
        /* with greys, one drawing of each row */
        sali_data_binarise(data, r, 0, 0, codes);
        sali_embed_f64(space, 1, codes, x);
        double weight = data->weight ? data->weight[r] : 1;
        sali_covariance_add(N, weight, x, sums, out);
        total += weight;
    }
    if (ok) {
        sali_covariance_finish(N, total, sums, out);
    }
    sali_free(codes);
    sali_free(x);
    sali_free(sums);
    return ok ? SAL_OK : sali_fail_memory(err);
}
