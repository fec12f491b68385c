/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/field_scan.h"

#include <math.h>
#include <string.h>

#include "core/object.h"

struct sali_field_scan {
    sali_couplings *couplings;
    sali_field_tile tile;
    size_t element; /* bytes of a real */
    uint32_t *id;   /* [lanes] */
};

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Allocate the tile's arrays; `object` owns them and records a failed allocation. */
static void allocate_tile(sali_field_scan *s, void *object)
{
    sali_field_tile *t = &s->tile;
    int64_t lanes = t->lanes, states = t->space->max_states;
    s->id = SALI_OBJECT_ARRAY(object, uint32_t, lanes);
    t->square = sali_object_array(object, t->space->width, s->element);
    t->h = sali_object_array(object, t->n * t->stride, s->element);
    t->beta = sali_object_array(object, lanes, s->element);
    t->weights = sali_object_array(object, states * lanes, s->element);
    t->own = sali_object_array(object, states, s->element);
    t->largest = sali_object_array(object, lanes, s->element);
    t->words = SALI_OBJECT_ARRAY(object, uint32_t, 4 * lanes);
    t->u = SALI_OBJECT_ARRAY(object, double, lanes);
    t->total = SALI_OBJECT_ARRAY(object, double, lanes);
    t->site = SALI_OBJECT_ARRAY(object, int64_t, lanes);
    t->code = SALI_OBJECT_ARRAY(object, int32_t, lanes);
}

sali_field_scan *sali_field_scan_open(void *object, const sali_chains *chains,
                                      sali_couplings *couplings)
{
    sali_field_scan *s = sali_object_array(object, 1, sizeof *s);
    if (s) {
        s->couplings = couplings;
        s->element = chains->element;
        s->tile.space = chains->space;
        s->tile.n = chains->n;
        s->tile.lanes = round_up(chains->n, SALI_FIELD_LANES);
        s->tile.stride = round_up(chains->space->width, 64 / (int64_t)chains->element);
        allocate_tile(s, object);
    }
    return s;
}

/* Recompute fields and f of `count` chains from `first` on. */
static void recompute_fields(sali_field_scan *s, sali_chains *chains, int64_t first, int64_t count)
{
    (chains->model->dtype == SAL_F32 ? sali_field_start_f32 : sali_field_start_f64)(
        &s->tile, first, count, chains->codes, chains->f);
    sali_chains_check_f(chains, first, count, chains->codes, chains->f);
}

bool sali_field_scan_refresh(sali_field_scan *s, sali_chains *chains)
{
    const sali_coupling_values *values = sali_couplings_values(s->couplings);
    if (!values) {
        return false;
    }
    s->tile.J = values->J;
    s->tile.scale = values->scale;
    s->tile.constant = values->constant;
    s->tile.linear = values->linear;
    for (int64_t c = 0; c < chains->n; c++) {
        s->id[c] = chains->id[c];
        sali_store(chains->model->dtype, s->tile.beta, c, chains->beta[c]);
    }
    (chains->model->dtype == SAL_F32 ? sali_field_square_f32 : sali_field_square_f64)(&s->tile);
    recompute_fields(s, chains, 0, chains->n);
    return true;
}

/* ---- steps */

/* Fill tile.words with a block of random numbers for each chain. */
static void make_words(sali_field_scan *s, const sali_chains *chains)
{
    sali_stream stream = sali_chains_stream(chains, 0, SALI_RNG_PROPOSAL);
    if (sali_chains_together(chains)) {
        sali_rng_words_by_chain(&stream, 0, s->tile.lanes, s->id, s->tile.words);
        return;
    }
    for (int64_t c = 0; c < chains->n; c++) {
        uint32_t words[4];
        stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        sali_rng_words(&stream, 0, 4, words);
        for (int w = 0; w < 4; w++) {
            s->tile.words[w * s->tile.lanes + c] = words[w];
        }
    }
}

/* Add 1 - p(present state | rest) of chain c's chosen variable to `wishes`, and count the visit. */
static void note_wish(const sali_field_scan *s, const sali_chains *chains,
                      const sali_scan_wishes *wishes, int64_t c)
{
    int64_t site = s->tile.site[c];
    int32_t now = chains->codes[c * chains->space->n_variables + site];
    double weight = sali_load(chains->model->dtype, s->tile.weights, now * s->tile.lanes + c);
    wishes->wishes[site] += 1 - weight / s->tile.total[c];
    wishes->visits[site] += 1;
}

/* Set chain c's chosen variable to the drawn code, with f, fields, x and jump_sum. */
static void take_code(sali_field_scan *s, sali_chains *chains, int64_t c)
{
    const sal_space *space = chains->space;
    int64_t site = s->tile.site[c];
    const sali_variable *v = &space->variables[site];
    int32_t *now = &chains->codes[c * space->n_variables + site], code = s->tile.code[c];
    if (code == *now) {
        return;
    }
    void *x = sali_row(chains, chains->x, c, space->width);
    chains->f[c] += (chains->model->dtype == SAL_F32 ? sali_field_move_f32 : sali_field_move_f64)(
        &s->tile, c, site, *now, code, x);
    chains->jump_sum[c] +=
        v->kind == SAL_CATEGORICAL ? 2 : fabs(sali_level(v, code) - sali_level(v, *now));
    *now = code;
}

/* One step of every chain: choose variables, draw codes by their fields, and move. */
static void step_chains(sali_field_scan *s, sali_chains *chains, const sali_site_choice *how,
                        const sali_scan_wishes *wishes)
{
    sali_field_tile *t = &s->tile;
    make_words(s, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        if (chains->step[c] % SALI_RENEWAL_STEPS == 0) {
            recompute_fields(s, chains, c, 1);
        }
        t->site[c] = sali_choose_site(how, c, chains->step[c], t->words[2 * t->lanes + c],
                                      t->words[3 * t->lanes + c]);
    }
    (chains->model->dtype == SAL_F32 ? sali_field_draw_f32 : sali_field_draw_f64)(t);
    for (int64_t c = 0; c < chains->n; c++) {
        if (t->code[c] < 0) {
            sali_chains_note_bad(chains, c, chains->codes, NAN);
            continue;
        }
        if (wishes && chains->beta[c] == wishes->coldest) {
            note_wish(s, chains, wishes, c);
        }
        take_code(s, chains, c);
        chains->acceptance_sum[c] += 1;
        chains->accepted_sum[c] += 1;
    }
    sali_chains_tick(chains);
}

void sali_field_scan_steps(sali_field_scan *s, sali_chains *chains, const sali_site_choice *how,
                           const sali_scan_wishes *wishes, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        step_chains(s, chains, how, wishes);
    }
}

/* ---- for tests */

const void *sali_field_scan_row(const sali_field_scan *s, int64_t c)
{
    return (const char *)s->tile.h + (size_t)(c * s->tile.stride) * s->element;
}
