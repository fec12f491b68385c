#include "samplers/step_scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/start.h"

#define RANDOM_STATES 64
/* Of the mean of v, so that no d is above 10 times that of a variable of mean slope. */
#define DAMPING 0.01
/* The least weight of a new window in the running mean. */
#define LEAST_WEIGHT 0.05
/* Scales that can be given or loaded. */
#define LEAST_SCALE 1e-30
#define MOST_SCALE 1e30

/* Squared slope of f along a variable. */
static double squared_slope(const sal_model *model, const sali_variable *v, const void *gradient)
{
    double sum = 0, square = 0;
    for (int32_t k = 0; k < v->width; k++) {
        double g = sali_load(model->dtype, gradient, v->offset + k);
        sum += g;
        square += g * g;
    }
    return v->kind == SAL_CATEGORICAL ? 2 * fmax(square - sum * sum / v->width, 0) / v->width
                                      : square;
}

/* Add the squared slopes at the coldest chains where f is a number; the number of these. */
static int64_t add_slopes(sali_step_scale *p, const sali_chains *chains)
{
    const sal_space *space = chains->space;
    double coldest = sali_chains_coldest(chains);
    int64_t rows = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        const void *g = sali_row(chains, chains->gradient, c, space->width);
        bool counts = isfinite(chains->f[c]) && chains->beta[c] == coldest;
        for (int64_t v = 0; counts && v < p->n; v++) {
            double slope = squared_slope(chains->model, &space->variables[v], g);
            p->sum[v] += isfinite(slope) ? slope : 0;
        }
        rows += counts;
    }
    return rows;
}

/* Take the sums over `rows` states into v, and make d of it. */
static void update(sali_step_scale *p, int64_t rows)
{
    double weight = fmax(1.0 / (double)(p->windows > 0 ? p->windows : 1), LEAST_WEIGHT);
    double mean = 0, log_mean = 0;
    for (int64_t v = 0; v < p->n; v++) {
        p->square[v] += weight * (p->sum[v] / (double)rows - p->square[v]);
        mean += p->square[v] / (double)p->n;
    }
    for (int64_t v = 0; v < p->n; v++) {
        double damped = mean > 0 ? p->square[v] + DAMPING * mean : 1;
        p->scale[v] = 1 / sqrt(damped);
        log_mean += log(p->scale[v]) / (double)p->n;
    }
    for (int64_t v = 0; v < p->n; v++) {
        p->scale[v] *= exp(-log_mean);
    }
}

/* A first estimate, from random states. */
static sal_status estimate(sali_step_scale *p, const sal_model *model, sal_error *err)
{
    sali_chains *chains = NULL;
    sal_status status =
        sali_chains_create(model, RANDOM_STATES, SALI_WANT_GRADIENT, 0, &chains, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t c = 0; c < RANDOM_STATES; c++) {
        sali_stream stream = { .chain = (uint32_t)c, .purpose = SALI_RNG_STATISTIC };
        sali_random_codes(model->space, &stream, chains->codes + c * p->n);
    }
    sali_chains_embed(chains);
    sali_chains_start(chains, true);
    int64_t rows = add_slopes(p, chains);
    update(p, rows > 0 ? rows : 1);
    sali_chains_destroy(chains);
    return SAL_OK;
}

sal_status sali_step_scale_create(const sal_model *model, sali_step_scale **out, sal_error *err)
{
    sali_step_scale *p = SALI_NEW(sali_step_scale);
    if (!p) {
        return sali_fail_memory(err);
    }
    p->n = model->space->n_variables;
    p->scale = SALI_NEW_ARRAY(double, p->n);
    p->square = SALI_NEW_ARRAY(double, p->n);
    p->sum = SALI_NEW_ARRAY(double, p->n);
    sal_status status =
        p->scale && p->square && p->sum ? estimate(p, model, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_step_scale_destroy(p);
        return status;
    }
    *out = p;
    return SAL_OK;
}

void sali_step_scale_destroy(void *shared)
{
    sali_step_scale *p = shared;
    if (p) {
        sali_free(p->scale);
        sali_free(p->square);
        sali_free(p->sum);
        sali_free(p);
    }
}

sal_status sali_step_scale_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                                 sal_error *err)
{
    sali_step_scale *p = shared;
    (void)err;
    bool settling = warmup->total != SALI_WARMUP_ENDLESS && 4 * warmup->done > 3 * warmup->total;
    if (!p || settling) {
        return SAL_OK;
    }
    int64_t rows = 0;
    memset(p->sum, 0, (size_t)p->n * sizeof *p->sum);
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        sali_chains *chains = warmup->chains[k];
        sali_chains_start(chains, true);
        rows += add_slopes(p, chains);
    }
    if (rows > 0) {
        p->windows++;
        update(p, rows);
        *changed = true;
    }
    return SAL_OK;
}

int64_t sali_step_scale_tuned(void *shared, sali_tuned *items)
{
    sali_step_scale *p = shared;
    if (!p) {
        return 0;
    }
    items[0] = (sali_tuned){ .name = "preconditioner",
                             .n = p->n,
                             .values = p->scale,
                             .low = LEAST_SCALE,
                             .high = MOST_SCALE };
    return 1;
}

sal_status sali_step_scale_retune(void *shared, sal_error *err)
{
    const sali_step_scale *p = shared;
    for (int64_t v = 0; v < p->n; v++) {
        if (!(p->scale[v] > 0)) {
            return sali_fail(err, SAL_ERR_DATA, "preconditioner: number %lld is %g; expected > 0",
                             (long long)(v + 1), p->scale[v]);
        }
    }
    return SAL_OK;
}

int64_t sali_step_scale_state(void *shared, sali_state_item *items)
{
    sali_step_scale *p = shared;
    if (!p) {
        return 0;
    }
    items[0] = sali_state_f64("scale", p->n, p->scale);
    items[1] = sali_state_f64("square", p->n, p->square);
    items[2] = sali_state_i64("windows", 1, &p->windows);
    return 3;
}

sal_status sali_step_scale_restored(void *shared, const sali_warmup *at, sal_error *err)
{
    const sali_step_scale *p = shared;
    (void)at;
    sal_status status = sali_state_check_f64("scale", p->n, p->scale, LEAST_SCALE, MOST_SCALE, err);
    status = status ? status : sali_state_check_f64("square", p->n, p->square, 0, DBL_MAX, err);
    return status ? status : sali_state_check_i64("windows", 1, &p->windows, 0, INT64_MAX - 1, err);
}
