/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/pairwise_scan.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/object.h"
#include "samplers/blocks/multispin.h"
#include "samplers/shared.h"

/* The largest sum of couplings for floats: it leaves an error of 2^-12 in the log-odds. */
#define MOST_SCALE_F32 4096.0

/* The distance that a flip of a variable moves, for jump_sum. */
typedef struct reach {
    double span;   /* L1 distance of the variable's two states; 0: it has one state only */
    int64_t alike; /* end of the run of variables, from this one on, that have the same span */
} reach;

struct sali_pairwise_scan {
    const sal_model *model;
    sali_couplings *couplings;
    const sali_coupling_values *pairs; /* NULL: not read yet */
    uint64_t version;                  /* version of the model's parameters when they were read */
    sali_multispin *spins;             /* NULL: the couplings are not suited */
    bool by_spins;                     /* since the last refresh steps use `spins`, else `tile` */
    int64_t n;                         /* chains */
    size_t element;                    /* bytes of a real */
    sali_scan_tile tile;
    reach *reaches;     /* [V] */
    void *h, *J, *beta; /* h: NULL until the tile needs the couplings */
    int32_t *neighbour;
    uint32_t *id;    /* [lanes]; NULL: the tile has no arrays yet */
    uint32_t *words; /* [SALI_SCAN_CHUNK x lanes x 1 or 2] */
    uint64_t chunk;  /* 1 + the number of the chunk of steps that `thresholds` belong to; 0: none */
};

/* Free the couplings in the model's type. */
static void free_pairs(sali_pairwise_scan *s)
{
    sali_free(s->h);
    sali_free(s->J);
    sali_free(s->neighbour);
    s->h = s->J = NULL;
    s->neighbour = NULL;
}

/* Free the tile's arrays. */
static void free_arrays(sali_pairwise_scan *s)
{
    sali_free(s->reaches);
    sali_free(s->id);
    sali_free(s->words);
    sali_free(s->beta);
    sali_free(s->tile.bits);
    sali_free(s->tile.thresholds);
    sali_free(s->tile.flips);
    sali_free(s->tile.f);
    s->reaches = NULL;
    s->id = s->words = NULL;
    s->beta = NULL;
    s->tile.bits = s->tile.thresholds = s->tile.flips = NULL;
    s->tile.f = NULL;
}

/* Free all that does not belong to the object. */
static void free_scan(void *scan)
{
    sali_pairwise_scan *s = scan;
    sali_multispin_destroy(s->spins);
    free_pairs(s);
    free_arrays(s);
}

/* Fill reaches [V], from the last variable to the first. */
static void fill_reaches(const sal_space *space, reach *reaches)
{
    for (int64_t v = space->n_variables - 1; v >= 0; v--) {
        const sali_variable *variable = &space->variables[v];
        reach *r = &reaches[v];
        bool one_hot = variable->kind == SAL_CATEGORICAL;
        if (variable->states == 2) {
            r->span = one_hot ? 2 : fabs(variable->levels[1] - variable->levels[0]);
        }
        bool runs_on = v + 1 < space->n_variables && r[1].span == r->span;
        r->alike = runs_on ? r[1].alike : v + 1;
    }
}

/* Convert the couplings to the model's type, unless they are; false: no memory. */
static bool have_pairs(sali_pairwise_scan *s)
{
    const sali_coupling_values *pairs = s->pairs;
    sal_dtype dtype = s->model->dtype;
    int64_t entries = pairs->begin[pairs->n];
    if (s->h) {
        return true;
    }
    s->tile.h = s->h = sali_alloc(pairs->n, s->element);
    s->tile.J = s->J = sali_alloc(entries, s->element);
    s->tile.neighbour = s->neighbour = SALI_NEW_ARRAY(int32_t, entries);
    s->tile.begin = pairs->begin;
    if (!s->h || !s->J || !s->neighbour) {
        free_pairs(s);
        return false;
    }
    for (int64_t i = 0; i < pairs->n; i++) {
        sali_store(dtype, s->h, i, pairs->linear[i]);
    }
    for (int64_t k = 0; k < entries; k++) {
        sali_store(dtype, s->J, k, pairs->couplings[k].J);
        s->neighbour[k] = pairs->couplings[k].to;
    }
    return true;
}

/* Allocate the tile's arrays, unless they are there; false: no memory. */
static bool have_arrays(sali_pairwise_scan *s)
{
    int64_t lanes = s->tile.lanes, V = s->model->space->n_variables;
    if (s->id) {
        return true;
    }
    s->id = SALI_NEW_ARRAY(uint32_t, lanes);
    s->reaches = SALI_NEW_ARRAY(reach, V);
    s->words = SALI_NEW_ARRAY(uint32_t, 2 * SALI_SCAN_CHUNK * lanes);
    s->tile.beta = s->beta = sali_alloc(lanes, s->element);
    s->tile.bits = sali_alloc(V * lanes, s->element);
    s->tile.thresholds = sali_alloc(SALI_SCAN_CHUNK * lanes, s->element);
    s->tile.flips = sali_alloc(lanes, s->element);
    s->tile.f = SALI_NEW_ARRAY(double, lanes);
    if (!s->id || !s->reaches || !s->words || !s->beta || !s->tile.bits || !s->tile.thresholds ||
        !s->tile.flips || !s->tile.f) {
        free_arrays(s);
        return false;
    }
    fill_reaches(s->model->space, s->reaches);
    return true;
}

/* Take the couplings of the present parameters: many spins a word if they are suited, else as
 * numbers. Returns: SAL_ERR_MEMORY. */
static sal_status take_pairs(sali_pairwise_scan *s, const sali_coupling_values *pairs)
{
    s->pairs = NULL;
    sali_multispin_destroy(s->spins);
    s->spins = NULL;
    free_pairs(s);
    sal_status status =
        sali_multispin_create(s->model->space, pairs, s->n, SALI_SPIN_FILL, &s->spins);
    if (status == SAL_OK) {
        s->pairs = pairs;
        s->version = sali_model_version(s->model);
    }
    if (status == SAL_OK && !s->spins && !(have_arrays(s) && have_pairs(s))) {
        status = SAL_ERR_MEMORY;
    }
    return status;
}

static bool fine_enough(const sali_coupling_values *pairs, sal_dtype dtype)
{
    return dtype == SAL_F64 || pairs->largest <= MOST_SCALE_F32;
}

sal_status sali_pairwise_scan_open(void *object, const sali_chains *chains,
                                   sali_pairwise_scan **out, sal_error *err)
{
    sali_couplings *couplings = NULL;
    sal_status status =
        sali_own_couplings(object, chains->model, SALI_BIT_COUPLINGS, &couplings, err);
    sali_pairwise_scan *s = couplings ? sali_object_array(object, 1, sizeof *s) : NULL;
    *out = s;
    if (!s) {
        return status;
    }
    s->model = chains->model;
    s->couplings = couplings;
    s->n = chains->n;
    s->element = chains->element;
    s->tile.lanes = (chains->n + SALI_SCAN_LANES - 1) / SALI_SCAN_LANES * SALI_SCAN_LANES;
    status = sali_object_own(object, s, free_scan, err);
    const sali_coupling_values *pairs = sali_couplings_values(couplings);
    return status == SAL_OK && pairs && take_pairs(s, pairs) != SAL_OK ? sali_fail_memory(err)
                                                                       : status;
}

/* Copy ids, f, temperatures and codes of the chains to the tile. */
static void load_states(sali_pairwise_scan *s, const sali_chains *chains)
{
    int64_t V = chains->space->n_variables, lanes = s->tile.lanes;
    for (int64_t c = 0; c < s->n; c++) {
        s->id[c] = chains->id[c];
        s->tile.f[c] = chains->f[c];
        sali_store(s->model->dtype, s->beta, c, chains->beta[c]);
        for (int64_t v = 0; v < V; v++) {
            sali_store(s->model->dtype, s->tile.bits, v * lanes + c, chains->codes[c * V + v]);
        }
    }
}

bool sali_pairwise_scan_refresh(sali_pairwise_scan *s, sali_chains *chains)
{
    const sali_coupling_values *pairs = sali_couplings_values(s->couplings);
    const bool stale = !s->pairs || s->version != sali_model_version(s->model);
    if (!sali_chains_together(chains) || !pairs || (stale && take_pairs(s, pairs) != SAL_OK)) {
        return false;
    }
    s->by_spins = s->spins && sali_multispin_start(s->spins, chains);
    if (!s->by_spins && !(fine_enough(pairs, s->model->dtype) && have_arrays(s) && have_pairs(s))) {
        return false;
    }
    sali_chains_start(chains, false);
    if (!s->by_spins) {
        s->chunk = 0;
        load_states(s, chains);
    }
    return true;
}

static int64_t smaller_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- random numbers */

/* Make the thresholds of the chunk that step t belongs to, unless they are there. */
static void make_thresholds(sali_pairwise_scan *s, const sali_chains *chains, uint64_t t)
{
    uint64_t chunk = t / SALI_SCAN_CHUNK;
    int64_t lanes = s->tile.lanes, blocks = s->model->dtype == SAL_F32 ? 1 : 2;
    uint32_t *words = s->words;
    if (s->chunk == chunk + 1) {
        return;
    }
    sali_stream stream = { .seed = chains->seed, .purpose = SALI_RNG_SCAN };
    for (int64_t four = 0; four < SALI_SCAN_CHUNK / 4; four++) {
        stream.step = chunk * (SALI_SCAN_CHUNK / 4) + (uint64_t)four;
        for (int64_t b = 0; b < blocks; b++, words += 4 * lanes) {
            sali_rng_words_by_chain(&stream, (uint32_t)b, lanes, s->id, words);
        }
    }
    if (s->model->dtype == SAL_F32) {
        sali_scan_thresholds_f32(SALI_SCAN_CHUNK * lanes, s->words, s->tile.thresholds);
    } else {
        sali_scan_thresholds_f64(SALI_SCAN_CHUNK * lanes, lanes, s->words, s->tile.thresholds);
    }
    s->chunk = chunk + 1;
}

/* ---- states */

/* Copy the bits of categorical variables first .. end - 1, of two states, to codes and x. */
static void store_one_hot(const sali_pairwise_scan *s, sali_chains *chains, int64_t first,
                          int64_t end)
{
    const sal_space *space = chains->space;
    for (int64_t c = 0; c < s->n; c++) {
        void *x = sali_row(chains, chains->x, c, space->width);
        for (int64_t v = first; v < end; v++) {
            double bit = sali_load(s->model->dtype, s->tile.bits, v * s->tile.lanes + c);
            chains->codes[c * space->n_variables + v] = (int32_t)bit;
            sali_store(s->model->dtype, x, space->variables[v].offset, 1 - bit);
            sali_store(s->model->dtype, x, space->variables[v].offset + 1, bit);
        }
    }
}

/* Copy the bits of variables first .. end - 1 to codes and x of all chains. */
static void store_states(const sali_pairwise_scan *s, sali_chains *chains, int64_t first,
                         int64_t end)
{
    const sal_space *space = chains->space;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *stretch = &space->stretches[b];
        int64_t from = larger_of(first, stretch->first);
        int64_t to = smaller_of(end, stretch->first + stretch->count);
        if (from >= to || stretch->states < 2) {
            continue;
        }
        if (stretch->kind == SAL_CATEGORICAL) {
            store_one_hot(s, chains, from, to);
            continue;
        }
        (s->model->dtype == SAL_F32 ? sali_scan_store_f32 : sali_scan_store_f64)(
            &s->tile, s->n, from, to - from, stretch->levels, chains->codes + from,
            space->n_variables,
            (char *)chains->x + (size_t)(stretch->offset + from - stretch->first) * chains->element,
            space->width);
    }
}

/* After n steps, the last of which set variable `end` - 1: update codes, x and f of the variables
 * set, sums and step counters. */
static void store_steps(const sali_pairwise_scan *s, sali_chains *chains, int64_t end, int64_t n)
{
    int64_t V = chains->space->n_variables;
    if (n <= end) {
        store_states(s, chains, end - n, end);
    } else {
        store_states(s, chains, 0, end);
        store_states(s, chains, larger_of(end, V - (n - end)), V);
    }
    for (int64_t c = 0; c < s->n; c++) {
        chains->f[c] = s->tile.f[c];
        chains->acceptance_sum[c] += (double)n;
        chains->accepted_sum[c] += (double)n;
        chains->step[c] += (uint64_t)n;
    }
}

/* ---- steps */

/* n steps of all chains from step t, in runs that stay within one chunk and have one span. */
static void scan_together(sali_pairwise_scan *s, sali_chains *chains, uint64_t t, int64_t n)
{
    int64_t V = chains->space->n_variables, site = (int64_t)(t % (uint64_t)V);
    for (int64_t left = n; left > 0;) {
        const reach *r = &s->reaches[site];
        int64_t row = (int64_t)(t % SALI_SCAN_CHUNK);
        int64_t run = smaller_of(smaller_of(left, r->alike - site), SALI_SCAN_CHUNK - row);
        make_thresholds(s, chains, t);
        if (r->span > 0) {
            memset(s->tile.flips, 0, (size_t)s->tile.lanes * s->element);
            (s->model->dtype == SAL_F32 ? sali_scan_sites_f32 : sali_scan_sites_f64)(&s->tile, site,
                                                                                     run, row);
            for (int64_t c = 0; c < s->n; c++) {
                chains->jump_sum[c] += r->span * sali_load(s->model->dtype, s->tile.flips, c);
            }
        }
        left -= run;
        t += (uint64_t)run;
        site = site + run == V ? 0 : site + run;
    }
    store_steps(s, chains, site == 0 ? V : site, n);
}

/* Recompute f of the present states by the model. */
static void recompute_f(sali_pairwise_scan *s, sali_chains *chains)
{
    sali_chains_start(chains, false);
    memcpy(s->tile.f, chains->f, (size_t)s->n * sizeof *chains->f);
}

void sali_pairwise_scan_steps(sali_pairwise_scan *s, sali_chains *chains, int64_t n)
{
    if (s->by_spins) {
        sali_multispin_steps(s->spins, chains, n);
        return;
    }
    while (n > 0) {
        uint64_t t = chains->step[0], before = SALI_RENEWAL_STEPS - t % SALI_RENEWAL_STEPS;
        int64_t run = (uint64_t)n < before ? n : (int64_t)before;
        if (before == SALI_RENEWAL_STEPS) {
            recompute_f(s, chains);
        }
        scan_together(s, chains, t, run);
        n -= run;
    }
}
