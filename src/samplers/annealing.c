/* Annealing: a geometric schedule of temperatures (Kirkpatrick, Gelatt & Vecchi 1983). */
#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/run.h"

/* Single moves whose differences set the range. */
#define MOVES 400
/* The first temperature is so many times the mean size of a difference other than 0, the last this
 * share of a small one. */
#define FROM_MEAN 2.0
#define TO_SMALL 0.2
#define SMALL_QUANTILE 0.05
/* Where f does not vary. */
#define FLAT_FROM 1.0
#define LEAST_RANGE 10.0

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sizes of finite differences other than 0, of random moves from the chains' states; their number,
 * at most `room`. `delta` and `site` are work space for all chains. */
static int64_t move_sizes(const sali_chains *chains, sali_evaluator *evaluator, double *delta,
                          int64_t *site, double *sizes, int64_t room)
{
    const sal_space *space = chains->space;
    int64_t n = 0, rounds = room / chains->n + 1;
    for (int64_t k = 0; k < rounds; k++) {
        for (int64_t c = 0; c < chains->n; c++) {
            sali_stream stream = { .seed = chains->seed,
                                   .step = (uint64_t)k,
                                   .chain = chains->id[c],
                                   .purpose = SALI_RNG_ANNEAL };
            site[c] = sali_rng_below(&stream, 0, (uint32_t)space->n_variables);
        }
        sali_differences_at(evaluator, chains->n, chains->codes, chains->x, site, chains->f, delta);
        for (int64_t c = 0; c < chains->n; c++) {
            for (int32_t v = 0; v < sali_entries(space->variables[site[c]].states) && n < room;
                 v++) {
                double size = fabs(delta[c * space->max_states + v]);
                if (isfinite(size) && size > 0) {
                    sizes[n++] = size;
                }
            }
        }
    }
    return n;
}

/* The usual range, from n sizes of differences. */
static void usual_range(double *sizes, int64_t n, double *from, double *to)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += sizes[k];
    }
    qsort(sizes, (size_t)n, sizeof *sizes, ascending);
    *from = n > 0 ? FROM_MEAN * sum / (double)n : FLAT_FROM;
    *to = n > 0 ? TO_SMALL * sizes[(int64_t)(SMALL_QUANTILE * (double)n)] : 0;
    *to = n > 0 && *to < *from / LEAST_RANGE ? *to : *from / LEAST_RANGE;
}

static sal_status find_range(sal_run *run, double *from, double *to, sal_error *err)
{
    const sali_chains *chains = run->shards[0].chains;
    sali_evaluator *evaluator = NULL;
    double *sizes = SALI_NEW_ARRAY(double, MOVES);
    double *delta = SALI_NEW_ARRAY(double, chains->n * chains->space->max_states);
    int64_t *site = SALI_NEW_ARRAY(int64_t, chains->n);
    sal_status status =
        sizes && delta && site
            ? sali_evaluator_create(run->model, chains->n, SALI_WANT_DIFFERENCES, &evaluator, err)
            : sali_fail_memory(err);
    if (status == SAL_OK) {
        usual_range(sizes, move_sizes(chains, evaluator, delta, site, sizes, MOVES), from, to);
    }
    sali_evaluator_destroy(evaluator);
    sali_free(sizes);
    sali_free(delta);
    sali_free(site);
    return status;
}

sal_status sali_anneal_range(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    double from = o->anneal_from, to = o->anneal_to;
    if (from == 0 || to == 0) {
        sal_status status = find_range(run, &from, &to, err);
        if (status != SAL_OK) {
            return status;
        }
    }
    run->anneal_from = o->anneal_from > 0 ? o->anneal_from : from;
    run->anneal_to = o->anneal_to > 0        ? o->anneal_to
                     : to < run->anneal_from ? to
                                             : run->anneal_from / LEAST_RANGE;
    if (run->anneal_to > run->anneal_from) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "annealing from temperature %g to %g; expected it to fall",
                         run->anneal_from, run->anneal_to);
    }
    return SAL_OK;
}

double sali_anneal_temperature(const sal_run *run, double share)
{
    return run->anneal_from * pow(run->anneal_to / run->anneal_from, share);
}

void sali_set_temperature(sali_chains *chains, double temperature)
{
    for (int64_t c = 0; c < chains->n; c++) {
        chains->beta[c] = 1 / temperature;
    }
}
