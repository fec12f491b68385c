/* The norm-constrained gradient sampler: all variables move at once and independently, by
 * exp(g'(s' - s)/2 - |s' - s|^2 / (2 eps)). Rhodes & Gutmann 2022, eq. 8, algorithm B.1, appendix A
 * for one-hot variables; the same as DMALA, Zhang et al. 2022. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/kernels.h"
#include "samplers/sampler.h"

typedef struct ncg {
    const sali_kernels *kernels;
    sali_move_rows moves;
    double *log_q; /* [n] of the proposal made */
} ncg;

static void ncg_destroy(void *self)
{
    ncg *g = self;
    if (g) {
        sali_move_rows_free(&g->moves);
        sali_free(g->log_q);
        sali_free(g);
    }
}

static sal_status ncg_create(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, void **self, sal_error *err)
{
    ncg *g = SALI_NEW(ncg);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->kernels = sali_kernels_of(chains->model->dtype);
    (void)settings;
    (void)shared;
    g->log_q = SALI_NEW_ARRAY(double, chains->n);
    if (!g->log_q ||
        !sali_move_rows_create(chains->space, chains->model->dtype, chains->n, &g->moves)) {
        ncg_destroy(g);
        return sali_fail_memory(err);
    }
    *self = g;
    return SAL_OK;
}

/* The proposal from (codes, x), at which chains->gradient was taken:
 * a = g/2 + x/eps, b = -1/(2 eps). */
static void prepare(ncg *g, sali_chains *chains, int64_t c, const int32_t *codes, void *x,
                    sali_move_row *row)
{
    const sal_space *space = chains->space;
    double eps = chains->step_size[c];
    g->kernels->factorised_prepare(space, codes + c * space->n_variables, 0.5,
                                   sali_row(chains, chains->gradient, c, space->width), 1 / eps,
                                   sali_row(chains, x, c, space->width), -0.5 / eps, row,
                                   g->moves.buffer);
}

static void ncg_refresh(void *self, sali_chains *chains)
{
    ncg *g = self;
    sali_chains_start(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        prepare(g, chains, c, chains->codes, chains->x, sali_move_now(&g->moves, c));
    }
}

static void ncg_step(void *self, sali_chains *chains)
{
    ncg *g = self;
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        g->kernels->uniforms(&stream, space->n_variables, g->moves.buffer);
        g->log_q[c] = g->kernels->factorised_draw(space, chains->codes + c * space->n_variables,
                                                  g->moves.buffer, sali_move_now(&g->moves, c),
                                                  chains->codes_new + c * space->n_variables,
                                                  sali_row(chains, chains->x_new, c, space->width));
    }
    sali_chains_propose(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_move_row *row = sali_move_next(&g->moves, c);
        prepare(g, chains, c, chains->codes_new, chains->x_new, row);
        double log_q_reverse =
            g->kernels->factorised_log_q(space, chains->codes_new + c * space->n_variables,
                                         chains->codes + c * space->n_variables, row);
        chains->log_ratio[c] = sali_chains_log_ratio(chains, c, g->log_q[c], log_q_reverse);
    }
    sali_chains_decide(chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->accepted[c]) {
            sali_move_flip(&g->moves, c);
        }
    }
    sali_chains_tick(chains);
}

static void ncg_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    ncg *g = self;
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        log_q[c] = g->kernels->factorised_log_q(chains->space, chains->codes + c * V, to + c * V,
                                                sali_move_now(&g->moves, c));
    }
}

const sali_sampler sali_sampler_ncg = {
    .name = "ncg",
    .doc = "norm-constrained gradient (DMALA): all sites at once, step size eps",
    .source = "Rhodes & Gutmann 2022, eq. 8, alg. B.1; Zhang et al. 2022",
    .flags = SALI_SAMPLER_EXACT | SALI_SAMPLER_GRADIENT | SALI_SAMPLER_REVERSIBLE |
             SALI_SAMPLER_STEP_SIZE,
    .kinds = SALI_FINITE_KINDS,
    .create = ncg_create,
    .destroy = ncg_destroy,
    .refresh = ncg_refresh,
    .step = ncg_step,
    .log_q = ncg_log_q,
};
