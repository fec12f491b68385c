/* Gibbs with gradients: one variable moves, chosen by the softmax of half the first-order
 * differences. Grathwohl et al. 2021, algorithm 1; ordinal windows: Rhodes & Gutmann 2022, app. G.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/kernels.h"
#include "samplers/sampler.h"

enum { RADIUS };

static const sali_setting parameters[] = {
    { "radius", 0, 0, INT32_MAX, true,
      "window of ordinal moves in levels, 0: all levels; counts move by 1", NULL },
    { 0 },
};

static const char *const variants[] = { "", "radius=1", "radius=2", NULL };

typedef struct gwg {
    const sali_kernels *kernels;
    int64_t radius;
    sali_move_rows moves;
    int64_t *site; /* [n] proposed: variable (-1: none can move), and the code it had */
    int32_t *old_code;
    double *log_q; /* [n] of the proposal made */
} gwg;

static void gwg_destroy(void *self)
{
    gwg *g = self;
    if (g) {
        sali_move_rows_free(&g->moves);
        sali_free(g->site);
        sali_free(g->old_code);
        sali_free(g->log_q);
        sali_free(g);
    }
}

static sal_status gwg_create(const sali_chains *chains, const sali_sampler_settings *settings,
                             void *shared, void **self, sal_error *err)
{
    gwg *g = SALI_NEW(gwg);
    if (!g) {
        return sali_fail_memory(err);
    }
    g->kernels = sali_kernels_of(chains->model->dtype);
    g->radius = settings->values[RADIUS] > 0 ? (int64_t)settings->values[RADIUS] : INT64_MAX;
    (void)shared;
    g->site = SALI_NEW_ARRAY(int64_t, chains->n);
    g->old_code = SALI_NEW_ARRAY(int32_t, chains->n);
    g->log_q = SALI_NEW_ARRAY(double, chains->n);
    if (!g->site || !g->old_code || !g->log_q ||
        !sali_move_rows_create(chains->space, chains->model->dtype, chains->n, &g->moves)) {
        gwg_destroy(g);
        return sali_fail_memory(err);
    }
    *self = g;
    return SAL_OK;
}

/* Weights of all moves from the state `codes`, at which chains->gradient was taken. */
static void prepare(gwg *g, sali_chains *chains, int64_t c, const int32_t *codes,
                    sali_move_row *row)
{
    const sal_space *space = chains->space;
    sali_taylor_slots(chains->model, 1, codes, sali_row(chains, chains->gradient, c, space->width),
                      row->log_weight);
    g->kernels->single_site_prepare(space, codes, g->radius, row);
}

static void gwg_refresh(void *self, sali_chains *chains)
{
    gwg *g = self;
    sali_chains_start(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        prepare(g, chains, c, chains->codes + c * chains->space->n_variables,
                sali_move_now(&g->moves, c));
    }
}

/* Draw the move of chain c into codes_new and x_new. */
static void draw(gwg *g, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    const sali_move_row *row = sali_move_now(&g->moves, c);
    int32_t *codes = chains->codes + c * space->n_variables;
    int32_t *next = chains->codes_new + c * space->n_variables;
    void *x_next = sali_row(chains, chains->x_new, c, space->width);
    sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
    memcpy(next, codes, (size_t)space->n_variables * sizeof *next);
    memcpy(x_next, sali_row(chains, chains->x, c, space->width),
           (size_t)space->width * chains->element);
    int64_t slot = g->kernels->single_site_pick(space, row, sali_rng_uniform_at(&stream, 0));
    g->site[c] = -1;
    g->log_q[c] = 0;
    if (isnan(row->log_norm)) {
        sali_chains_note_bad(chains, c, chains->codes, NAN);
    }
    if (slot >= 0) {
        int32_t code;
        sali_slot_move(space, codes, slot, &g->site[c], &code);
        g->old_code[c] = codes[g->site[c]];
        g->log_q[c] = sali_single_site_log_q(chains->model->dtype, row, slot);
        next[g->site[c]] = code;
        sali_model_embed_one(chains->model, g->site[c], code, x_next);
    }
}

static void gwg_step(void *self, sali_chains *chains)
{
    gwg *g = self;
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        draw(g, chains, c);
    }
    sali_chains_propose(chains, true);
    for (int64_t c = 0; c < chains->n; c++) {
        sali_move_row *row = sali_move_next(&g->moves, c);
        double log_q_reverse = 0;
        prepare(g, chains, c, chains->codes_new + c * space->n_variables, row);
        if (g->site[c] >= 0) {
            int32_t code = chains->codes_new[c * space->n_variables + g->site[c]];
            log_q_reverse = sali_single_site_log_q(
                chains->model->dtype, row, sali_move_slot(space, g->site[c], code, g->old_code[c]));
        }
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

static void gwg_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q)
{
    gwg *g = self;
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < chains->n; c++) {
        const int32_t *from = chains->codes + c * space->n_variables;
        const int32_t *target = to + c * space->n_variables;
        const sali_move_row *row = sali_move_now(&g->moves, c);
        int64_t site = -1, moved = 0;
        for (int64_t v = 0; v < space->n_variables; v++) {
            if (from[v] != target[v]) {
                site = v;
                moved++;
            }
        }
        bool stuck = row->log_norm == -INFINITY;
        bool far = moved == 1 && space->variables[site].states == 0 &&
                   llabs((long long)target[site] - from[site]) > 1;
        if (moved == 1 && !stuck && !far) {
            int64_t slot = sali_move_slot(space, site, from[site], target[site]);
            log_q[c] = sali_single_site_log_q(chains->model->dtype, row, slot);
        } else {
            log_q[c] = moved == 0 && stuck ? 0 : -INFINITY;
        }
    }
}

const sali_sampler sali_sampler_gwg = {
    .name = "gwg",
    .doc = "Gibbs with gradients: one site by first-order differences, window of radius r",
    .source = "Grathwohl et al. 2021, alg. 1; Rhodes & Gutmann 2022, app. G",
    .flags = SALI_SAMPLER_EXACT | SALI_SAMPLER_GRADIENT | SALI_SAMPLER_REVERSIBLE,
    .kinds = SALI_ALL_KINDS,
    .parameters = parameters,
    .variants = variants,
    .create = gwg_create,
    .destroy = gwg_destroy,
    .refresh = gwg_refresh,
    .step = gwg_step,
    .log_q = gwg_log_q,
};
