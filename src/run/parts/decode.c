/* SPDX-License-Identifier: MIT */
/* Decoding: states made feasible by their model's rule (models/decoding.h), or without one raised
 * to a local maximum; and the best decoded state of a run. */
#include "run/parts/decode.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/decoding.h"
#include "models/statistic.h"
#include "run/ascent.h"
#include "run/parts/best.h"

/* What decoding needs: the model with the rule, and which of its variables are free. */
typedef struct sali_decoder {
    const sal_model *rule;
    int64_t n;                 /* free variables */
    int64_t *place;            /* [n] where the free variables are among all */
    int32_t *full;             /* [all] a state; fixed variables keep theirs */
    bool *fixed;               /* [all] */
    int32_t *codes;            /* [n] */
    sali_decoding_item *items; /* [all] */
    bool feasible;             /* of the last decoded state; the same for all states of a run */
} sali_decoder;

/* ---- one state */

/* Allocate d for decoding states of a model [V], which is `rule` or a clamped form of it; the
 * arrays are of `memory`. */
static sal_status take_room(const sal_model *rule, int64_t V, sali_memory *memory, sali_decoder *d,
                            sal_error *err)
{
    const int64_t all = rule->space->n_variables;
    d->rule = rule;
    d->n = V;
    d->place = SALI_TAKE(memory, int64_t, V);
    d->full = SALI_TAKE(memory, int32_t, all);
    d->fixed = SALI_TAKE(memory, bool, all);
    d->items = SALI_TAKE(memory, sali_decoding_item, all);
    return sali_memory_status(memory, err);
}

/* Mark all variables of the rule's model as fixed except those that `place` names. */
static void mark_fixed(sali_decoder *d)
{
    for (int64_t v = 0; v < d->rule->space->n_variables; v++) {
        d->fixed[v] = true;
    }
    for (int64_t v = 0; v < d->n; v++) {
        d->fixed[d->place[v]] = false;
    }
}

/* Decode codes [V] in place. Returns the rule's statistic there. */
static double decode_codes(sali_decoder *d, int32_t *codes)
{
    for (int64_t v = 0; v < d->n; v++) {
        d->full[d->place[v]] = codes[v];
    }
    d->feasible = d->rule->decoding->decode(d->rule, d->fixed, d->full, d->items);
    for (int64_t v = 0; v < d->n; v++) {
        codes[v] = d->full[d->place[v]];
    }
    return d->rule->statistic->of(d->rule, d->full);
}

/* Decode one state in place, by the rule of the model or of the model that it clamps. */
static sal_status decode_once(const sal_model *model, int32_t *codes, sal_error *err)
{
    const sal_model *rule = sali_clamp_inner(model);
    sali_memory memory = { 0 };
    sali_decoder d = { 0 };
    sal_status status = take_room(rule, model->space->n_variables, &memory, &d, err);
    if (status == SAL_OK) {
        sali_clamp_variables(model, d.place);
        sali_clamp_expand(model, 1, codes, d.full);
        mark_fixed(&d);
        decode_codes(&d, codes);
    }
    sali_memory_free(&memory);
    return status;
}

sal_status sal_model_decode(sal_model *model, int32_t *codes, double *log_prob, sal_error *err)
{
    if (!model || !codes) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_decode: the %s NULL",
                         model ? "codes are" : "model is");
    }
    const int64_t V = model->space->n_variables;
    double f = -INFINITY;
    sali_sizes_seen seen;
    int32_t *made = sali_memdup(codes, V, sizeof *codes);
    sal_status status = made ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_model_evaluate(model, 1, made, &f, NULL, NULL, err);
    if (status == SAL_OK && sali_clamp_inner(model)->decoding) {
        status = decode_once(model, made, err);
    } else if (status == SAL_OK && f > -INFINITY && !model->space->unbounded) {
        status = sali_ascend(model, 1, made, 0, &seen, err);
    }
    status = status ? status : sal_model_evaluate(model, 1, made, &f, NULL, NULL, err);
    if (status == SAL_OK) {
        memcpy(codes, made, (size_t)V * sizeof *codes);
    }
    if (status == SAL_OK && log_prob) {
        *log_prob = f;
    }
    sali_free(made);
    return status;
}

/* ---- decoded states of a run */

typedef struct decoded_states {
    sal_run *run;
    sali_best *of;         /* [n_shards] by the rule's statistic */
    sali_decoder *decoder; /* [n_shards] */
} decoded_states;

/* The model with the rule: the one inside, if the one given is clamped. */
static const sal_model *rule_model(const sal_run *run)
{
    return sali_clamp_inner(run->base);
}

/* Set where the run's free variables are in the rule's model, and the codes of its fixed variables,
 * from any state `codes`; `full` is scratch. */
static sal_status place_variables(const sal_run *run, sali_decoder *d, const int32_t *codes,
                                  int32_t *full, sal_error *err)
{
    int64_t *in = SALI_NEW_ARRAY(int64_t, run->base->space->n_variables);
    if (!in) {
        return sali_fail_memory(err);
    }
    sali_clamp_variables(run->base, in);
    sali_run_variables(run, d->place);
    for (int64_t v = 0; v < d->n; v++) {
        d->place[v] = in[d->place[v]];
    }
    sali_run_expand(run, 1, codes, full);
    sali_clamp_expand(run->base, 1, full, d->full);
    mark_fixed(d);
    sali_free(in);
    return SAL_OK;
}

static bool is_wanted(const sal_run *run)
{
    return sali_run_part_of(run, SALI_PART_best) && rule_model(run)->decoding;
}

/* Make the best states of all shards, and a decoder for each shard of this rank. */
static sal_status open(void *self, sal_error *err)
{
    decoded_states *s = self;
    sal_run *run = s->run;
    const int64_t V = run->model->space->n_variables;
    s->of = sali_best_create(run);
    s->decoder = SALI_TAKE(&run->memory, sali_decoder, run->n_shards);
    sal_status status = sali_memory_status(&run->memory, err);
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        const sali_run_shard *shard = &run->shards[k];
        sali_decoder *d = &s->decoder[k];
        d->codes = SALI_TAKE(&run->memory, int32_t, V);
        status = take_room(rule_model(run), V, &run->memory, d, err);
        status = status ? status : place_variables(run, d, shard->chains->codes, shard->full, err);
    }
    return status;
}

/* Decode a copy of codes, and keep the result if it is the best of chain c. */
static void note_decoded(const decoded_states *s, const sali_run_shard *shard, int64_t c,
                         const int32_t *codes)
{
    const int64_t V = s->run->model->space->n_variables;
    const size_t bytes = (size_t)V * sizeof *codes;
    const sali_best *best = &s->of[shard->k];
    sali_decoder *d = &s->decoder[shard->k];
    memcpy(d->codes, codes, bytes);
    double worth = decode_codes(d, d->codes);
    if (worth > best->worth[c]) {
        best->worth[c] = worth;
        memcpy(best->codes + c * V, d->codes, bytes);
    }
}

/* Decode the present states of all slots of the shard, not only of the recorded ones. */
static void draw(void *self, sali_run_shard *shard, int64_t draw)
{
    const decoded_states *s = self;
    const int64_t V = s->run->model->space->n_variables;
    (void)draw;
    for (int64_t c = 0; c < shard->chains->n; c++) {
        note_decoded(s, shard, c, shard->chains->codes + c * V);
    }
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    const decoded_states *s = self;
    return shard
               ? sali_best_items(s->run, shard, &s->of[shard->k], "decoded", "decoded_codes", items)
               : 0;
}

/* Decode the best states by f as well, which need not be draws. */
static sal_status finish(void *self, sal_error *err)
{
    const decoded_states *s = self;
    const sal_run *run = s->run;
    const int64_t V = run->model->space->n_variables;
    (void)err;
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        const sali_run_shard *shard = &run->shards[k];
        const sali_best *best = &sali_run_best(run)[k];
        for (int64_t c = 0; c < shard->chains->n; c++) {
            if (best->worth[c] > -INFINITY) {
                note_decoded(s, shard, c, best->codes + c * V);
            }
        }
    }
    return SAL_OK;
}

static sal_status summarise(const void *self, sal_run_summary *summary, sal_error *err)
{
    const decoded_states *s = self;
    const sali_decoding *rule = rule_model(s->run)->decoding;
    (void)err;
    if (sal_run_decoded(s->run, NULL, &summary->decoded_log_prob, NULL) == SAL_OK) {
        summary->decoded = s->decoder[0].feasible ? rule->name : rule->otherwise;
    }
    return SAL_OK;
}

const sali_run_part sali_part_decode = {
    .name = "decode",
    .wanted = is_wanted,
    .size = sizeof(decoded_states),
    .open = open,
    .draw = draw,
    .items = items,
    .finish = finish,
    .summarise = summarise,
};

/* The best decoded states of a run [n_shards], by the model's statistic; NULL: it decodes none. */
static const sali_best *decoded_of(const sal_run *run)
{
    const decoded_states *s = run->selves[SALI_PART_decode];
    return s ? s->of : NULL;
}

double sali_best_worth(const sal_run *run)
{
    const sali_best *decoded = decoded_of(run);
    double worth;
    int64_t c;
    sali_best_of_all(run, decoded ? decoded : sali_run_best(run), &c, &worth);
    return worth;
}

sal_status sal_run_decoded(const sal_run *run, int32_t *codes, double *log_prob, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_decoded", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const int64_t V = run->base->space->n_variables;
    double f; /* at first the statistic */
    int64_t c;
    const sali_best *best = decoded_of(run);
    const int64_t k = sali_best_of_all(run, best, &c, &f);
    if (k < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run decoded no state: it needs annealing or record.best, a step "
                         "after warm-up, and a model with a rule for decoding");
    }
    int32_t *full = SALI_NEW_ARRAY(int32_t, V);
    sal_status status = full ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        sali_run_expand(run, 1, best[k].codes + c * run->model->space->n_variables, full);
        status = sal_model_evaluate(run->base, 1, full, &f, NULL, NULL, err);
    }
    if (status == SAL_OK && codes) {
        memcpy(codes, full, (size_t)V * sizeof *codes);
    }
    if (status == SAL_OK && log_prob) {
        *log_prob = f;
    }
    sali_free(full);
    return status;
}
