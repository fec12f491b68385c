/* SPDX-License-Identifier: MIT */
/* Whether a model's own samples are like the data. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/levels/levels.h"
#include "stats/mmd.h"
#include "train/data.h"
#include "train/verdict.h"

/* The largest shortfall of a figure (see sal_verdict_judge) at which samples still count as like
 * the data. */
#define MEANS_MARGIN 0.05
#define COVARIANCES_MARGIN 0.15
#define MMD_MARGIN 0.02
#define NEIGHBOURS_MARGIN 0.25
/* A correlation is judged only if training rows reach this, minus three errors. */
#define LEAST_CORRELATION 0.5
/* The least reliability of the training rows' numbers: mere noise can correlate by chance. */
#define LEAST_RELIABILITY 0.8
#define LEAST_CHAINS 4
/* Fewer held-out rows are too few to judge by. */
#define LEAST_ROWS 20

static const sal_verdict_value unknown = { NAN, NAN };

/* ---- input */

static sal_status check_data(const sal_model *model, const sal_verdict_inputs *in, sal_error *err)
{
    const sal_space *space = sal_model_space(model);
    sal_status status = sali_data_check("sal_verdict_judge: training", in->train, space, err);
    return status ? status : sali_data_check("sal_verdict_judge: held out", in->test, space, err);
}

/* SAL_ERR_ARGUMENT unless the pointers, numbers and codes of the inputs are usable. */
static sal_status check_inputs(const sal_model *model, const sal_verdict_inputs *in,
                               const sal_verdict *verdict, sal_error *err)
{
    if (!model || !in || !verdict || !in->fresh || in->chains < LEAST_CHAINS || in->draws < 1 ||
        in->draws > INT32_MAX / in->chains || in->persistent_rows < 0 ||
        (in->persistent_rows > 0 && !in->persistent)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_verdict_judge: %lld fresh chains of %lld draws and %lld persistent "
                         "ones; expected at least %d chains of 1 draw, and pointers that are not "
                         "NULL",
                         (long long)(in ? in->chains : 0), (long long)(in ? in->draws : 0),
                         (long long)(in ? in->persistent_rows : 0), LEAST_CHAINS);
    }
    static const char who[] = "sal_verdict_judge";
    const sal_space *space = sal_model_space(model);
    sal_status status = check_data(model, in, err);
    status = status ? status
                    : sali_codes_fit(who, "draw", in->chains * in->draws, in->fresh, space, err);
    return status ? status
                  : sali_codes_fit(who, "persistent chain", in->persistent_rows, in->persistent,
                                   space, err);
}

/* ---- figures */

/* m receives the figures of one set of rows, by sal_verdict_kind; for the MMD its square. */
static sal_status measure_figures(const sal_model *model, const sali_reference *reference,
                                  const sali_grouped *rows, sali_jackknifed m[SAL_VERDICT_KINDS],
                                  sal_error *err)
{
    sal_status status = sali_mean_f(model, rows, &m[SAL_VERDICT_F], err);
    status = status ? status
                    : sali_compare_moments(reference, rows, &m[SAL_VERDICT_MEANS],
                                           &m[SAL_VERDICT_COVARIANCES], err);
    status = status ? status : sali_compare_kernel(reference, rows, &m[SAL_VERDICT_MMD], err);
    return status ? status
                  : sali_compare_neighbours(reference, rows, &m[SAL_VERDICT_NEIGHBOURS], err);
}

/* m receives the figures of at most `most` random rows of data, and *rows how many these are. */
static sal_status measure_rows(const sal_model *model, const sali_reference *reference,
                               const sal_data *data, int64_t most,
                               sali_jackknifed m[SAL_VERDICT_KINDS], int64_t *rows, sal_error *err)
{
    sali_grouped grouped = { 0 };
    sal_status status = sali_grouped_rows(data, most, &grouped, err);
    status = status ? status : measure_figures(model, reference, &grouped, m, err);
    *rows = grouped.rows.rows;
    sal_data_destroy(&grouped.rows);
    return status;
}

/* The value and error that are reported: the MMD instead of its square. */
static sal_verdict_value shown_figure(sal_verdict_kind kind, const sali_jackknifed *j)
{
    if (kind != SAL_VERDICT_MMD) {
        return (sal_verdict_value){ j->value, j->error };
    }
    double mmd = sali_mmd_of(j->value);
    return (sal_verdict_value){ mmd, mmd > 0 ? j->error / (2 * mmd) : NAN };
}

/* (b - a) / unit of two independent figures, with its error. */
static sal_verdict_value figure_difference(const sali_jackknifed *a, const sali_jackknifed *b,
                                           double unit)
{
    return (sal_verdict_value){ (b->value - a->value) / unit, hypot(a->error, b->error) / unit };
}

static bool is_distinct(const sal_verdict_figure *f)
{
    return f->shortfall.value > SAL_VERDICT_DISTINCT * f->shortfall.standard_error;
}

static bool is_beyond(const sal_verdict_figure *f)
{
    return f->judged && f->shortfall.value - 2 * f->shortfall.standard_error > f->margin;
}

/* A figure whose values are all unknown, and that is not judged. */
static sal_verdict_figure no_figure(void)
{
    return (sal_verdict_figure){ .fresh = unknown,
                                 .persistent = unknown,
                                 .train = unknown,
                                 .test = unknown,
                                 .shortfall = unknown,
                                 .margin = NAN };
}

/* Fill *f from the figures of fresh draws and of training rows: the shortfall, its margin, and
 * whether it is judged. `spread` is the unit of MMD^2. */
static void set_figure(sal_verdict_figure *f, sal_verdict_kind kind, const sali_jackknifed *fresh,
                       const sali_jackknifed *train, double spread)
{
    *f = no_figure();
    f->fresh = shown_figure(kind, fresh);
    f->train = shown_figure(kind, train);
    if (kind == SAL_VERDICT_MMD || kind == SAL_VERDICT_NEIGHBOURS) {
        f->margin = kind == SAL_VERDICT_MMD ? MMD_MARGIN : NEIGHBOURS_MARGIN;
        f->shortfall = figure_difference(train, fresh, kind == SAL_VERDICT_MMD ? spread : 1);
        f->judged = isfinite(f->shortfall.value) && isfinite(f->shortfall.standard_error);
    } else if (kind != SAL_VERDICT_F) {
        double best = train->corrected;
        f->margin = kind == SAL_VERDICT_MEANS ? MEANS_MARGIN : COVARIANCES_MARGIN;
        f->judged =
            best - 3 * train->error >= LEAST_CORRELATION && train->reliability >= LEAST_RELIABILITY;
        /* Samples without any variation correlate with nothing. */
        double own = isfinite(fresh->corrected) ? fresh->corrected : 0;
        double error = isfinite(fresh->error) ? fresh->error : 0;
        f->shortfall =
            (sal_verdict_value){ 1 - own / best,
                                 hypot(error / best, own * train->error / (best * best)) };
    }
}

/* ---- the answer */

static sal_verdict_value given(const sal_verdict_value *value)
{
    return value ? *value : unknown;
}

/* Whether log Z a is above b by more than errors explain. */
static bool far_above(sal_verdict_value a, sal_verdict_value b)
{
    double error = hypot(isnan(a.standard_error) ? 0 : a.standard_error,
                         isnan(b.standard_error) ? 0 : b.standard_error);
    return a.value - b.value > SAL_VERDICT_APART_ERRORS * error &&
           a.value - b.value > SAL_VERDICT_APART_NATS;
}

/* Set v->worst to the judged figure with the largest shortfall in units of its margin; false: no
 * figure is judged. */
static bool find_worst(sal_verdict *v)
{
    double most = -INFINITY;
    bool any = false;
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        const sal_verdict_figure *f = &v->figures[k];
        if (f->judged && f->shortfall.value / f->margin > most) {
            most = f->shortfall.value / f->margin;
            v->worst = (sal_verdict_kind)k;
            any = true;
        }
    }
    return any;
}

/* Whether figure k can show that samples are like the data: it is judged, and as many training rows
 * in place of the fresh draws would be precise enough, with half as much to spare. */
static bool can_agree(const sal_verdict *v, int k)
{
    const sal_verdict_figure *f = &v->figures[k];
    const double unit = k == SAL_VERDICT_NEIGHBOURS ? 1 : f->train.value;
    double error = 1.5 * sqrt(2) * f->train.standard_error / unit;
    return f->judged && (k == SAL_VERDICT_MMD || 3 * error <= f->margin);
}

/* Whether figure k is a correlation that the data are too few to judge by, but that is nevertheless
 * lower, beyond all errors and the margin, than that of as many training rows. */
static bool falls_short_plainly(const sal_verdict *v, int k)
{
    const sal_verdict_figure *f = &v->figures[k];
    bool correlation = k == SAL_VERDICT_MEANS || k == SAL_VERDICT_COVARIANCES;
    return correlation && !f->judged &&
           f->fresh.value + 3 * f->fresh.standard_error <
               f->train.value - 3 * f->train.standard_error - f->margin;
}

/* The reason of the answer, from the figures and diagnostics of v: the first one below that
 * applies. May set v->worst. */
static sal_verdict_reason find_reason(sal_verdict *v)
{
    bool beyond = false, differs = false, within = find_worst(v) && v->test_rows >= LEAST_ROWS;
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        const sal_verdict_figure *f = &v->figures[k];
        differs |= f->differs;
        beyond = beyond || is_beyond(f);
        if (falls_short_plainly(v, k)) {
            beyond = true;
            v->worst = (sal_verdict_kind)k;
        }
        within = within && (!can_agree(v, k) || (f->shortfall.value <= f->margin &&
                                                 3 * f->shortfall.standard_error <= f->margin));
    }
    if (v->rhat > SAL_RHAT_LIMIT) {
        return SAL_VERDICT_CHAINS_DISAGREE;
    }
    if (v->round_trips < SAL_VERDICT_LEAST_ROUND_TRIPS) {
        return SAL_VERDICT_NO_ROUND_TRIPS;
    }
    if (is_beyond(&v->steps)) {
        return SAL_VERDICT_STEPS_MATTER;
    }
    if (beyond) {
        return SAL_VERDICT_BEYOND_MARGIN;
    }
    if (far_above(v->forward, v->reverse)) {
        return SAL_VERDICT_WRONG_WAY;
    }
    if (isnan(v->round_trips) && far_above(v->reverse, v->forward)) {
        return SAL_VERDICT_LOG_Z_APART;
    }
    return !within   ? SAL_VERDICT_IMPRECISE
           : differs ? SAL_VERDICT_DISTINGUISHABLE
                     : SAL_VERDICT_WITHIN_MARGINS;
}

static sal_verdict_answer answer_of(sal_verdict_reason reason)
{
    return reason == SAL_VERDICT_WITHIN_MARGINS    ? SAL_VERDICT_LIKE
           : reason == SAL_VERDICT_DISTINGUISHABLE ? SAL_VERDICT_CLOSE
           : reason == SAL_VERDICT_BEYOND_MARGIN   ? SAL_VERDICT_UNLIKE
                                                   : SAL_VERDICT_UNKNOWN;
}

/* ---- the whole */

/* Fill the figures of v: fresh draws, training rows, persistent chains, and f of the held-out
 * rows. */
static sal_status fill_figures(const sal_model *model, const sali_reference *reference,
                               const sal_verdict_inputs *in, sal_verdict *v, sal_error *err)
{
    const int64_t n = in->chains * in->draws, V = in->train->variables;
    const sal_data persistent = { .rows = in->persistent_rows,
                                  .variables = V,
                                  .codes = (uint8_t *)(uintptr_t)in->persistent };
    const sal_data draws = { .rows = n, .variables = V, .codes = (uint8_t *)(uintptr_t)in->fresh };
    const sali_grouped grouped = sali_grouped_chains(in->chains, in->draws, &draws);
    sali_jackknifed fresh[SAL_VERDICT_KINDS], train[SAL_VERDICT_KINDS], chains[SAL_VERDICT_KINDS],
        test_f;
    sal_status status = measure_figures(model, reference, &grouped, fresh, err);
    status =
        status ? status : measure_rows(model, reference, in->train, n, train, &v->train_rows, err);
    if (status == SAL_OK && in->persistent_rows > 0) {
        status = measure_rows(model, reference, &persistent, n, chains, &v->persistent_rows, err);
    }
    sali_grouped held_out = { 0 };
    status = status ? status : sali_grouped_rows(in->test, in->test->rows, &held_out, err);
    status = status ? status : sali_mean_f(model, &held_out, &test_f, err);
    sal_data_destroy(&held_out.rows);
    for (int k = 0; status == SAL_OK && k < SAL_VERDICT_KINDS; k++) {
        sal_verdict_figure *f = &v->figures[k];
        set_figure(f, (sal_verdict_kind)k, &fresh[k], &train[k], sali_reference_spread(reference));
        f->persistent =
            in->persistent_rows > 0 ? shown_figure((sal_verdict_kind)k, &chains[k]) : unknown;
    }
    if (status == SAL_OK) {
        sal_verdict_figure *f = &v->figures[SAL_VERDICT_F];
        f->test = shown_figure(SAL_VERDICT_F, &test_f);
        f->shortfall = figure_difference(&fresh[SAL_VERDICT_F], &test_f, 1);
        f->shortfall.value = fabs(f->shortfall.value);
    }
    for (int k = 0; status == SAL_OK && k < SAL_VERDICT_KINDS; k++) {
        sal_verdict_figure *f = &v->figures[k];
        f->differs = (f->judged || k == SAL_VERDICT_F) && is_distinct(f);
    }
    return status;
}

/* *f receives whether other draws of the model differ from the fresh ones: MMD^2, with the
 * jackknife's errors of both sides. */
static sal_status compare_draws(const sal_space *space, const sal_verdict_inputs *in,
                                const uint8_t *other, double spread, sal_verdict_figure *f,
                                sal_error *err)
{
    sali_jackknifed mmd2[2] = { { 0 } };
    sal_data draws[2];
    sal_status status = SAL_OK;
    for (int k = 0; k < 2; k++) {
        draws[k] = (sal_data){ .rows = in->chains * in->draws,
                               .variables = space->n_variables,
                               .codes = (uint8_t *)(uintptr_t)(k ? other : in->fresh) };
    }
    for (int k = 0; status == SAL_OK && k < 2; k++) {
        const sali_grouped rows = sali_grouped_chains(in->chains, in->draws, &draws[k]);
        sali_reference *reference = NULL;
        status = sali_reference_create(space, &draws[1 - k], in->sampling.threads, &reference, err);
        status = status ? status : sali_compare_kernel(reference, &rows, &mmd2[k], err);
        sali_reference_destroy(reference);
    }
    mmd2[0].error = hypot(mmd2[0].error, mmd2[1].error);
    set_figure(f, SAL_VERDICT_MMD, &mmd2[0], &(sali_jackknifed){ 0 }, spread);
    f->train = unknown;
    f->differs = f->judged && is_distinct(f);
    return status;
}

/* *verdict receives the verdict on the fresh draws of `inputs`; `slower`: draws with twice the
 * steps, or NULL. */
static sal_status judge_draws(const sal_model *model, const sal_verdict_inputs *inputs,
                              const uint8_t *slower, sal_verdict *verdict, sal_error *err)
{
    sali_reference *reference = NULL;
    sal_status status = check_inputs(model, inputs, verdict, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_verdict v = { .forward = given(inputs->forward),
                      .reverse = given(inputs->reverse),
                      .bennett = given(inputs->bennett),
                      .steps = no_figure(),
                      .rhat = inputs->rhat,
                      .round_trips = inputs->round_trips,
                      .chains = inputs->chains,
                      .draws = inputs->draws,
                      .test_rows = inputs->test->rows,
                      .levels = sali_model_levels(model) ? sali_model_levels(model)->n : 0 };
    status = sali_reference_create(sal_model_space(model), inputs->test, inputs->sampling.threads,
                                   &reference, err);
    status = status ? status : fill_figures(model, reference, inputs, &v, err);
    if (status == SAL_OK && slower) {
        status = compare_draws(sal_model_space(model), inputs, slower,
                               sali_reference_spread(reference), &v.steps, err);
    }
    sali_reference_destroy(reference);
    if (status == SAL_OK) {
        v.reason = find_reason(&v);
        v.answer = answer_of(v.reason);
        *verdict = v;
    }
    return status;
}

/* Fill in the inputs that the caller left out: persistent chains from the checkpoint, and fresh
 * draws. */
static sal_status complete_inputs(sal_model *model, const sal_model *rows, sal_verdict_inputs *in,
                                  sali_fresh *fresh, sal_data *chains, sal_error *err)
{
    const bool levels = sali_model_levels(rows); /* chains of all levels are no samples */
    sal_status status = check_data(rows, in, err);
    if (status == SAL_OK && !levels && in->sampling.directory && in->persistent_rows == 0) {
        status = sali_checkpoint_chains(in->sampling.directory, in->train->variables, chains, err);
        in->persistent_rows = chains->rows;
        in->persistent = chains->codes;
    }
    status = status ? status : sali_fresh_draw(model, in, fresh, err);
    in->persistent_rows = in->persistent_rows > 0 ? in->persistent_rows : 0;
    in->chains = fresh->chains;
    in->draws = fresh->draws;
    in->fresh = fresh->codes;
    in->rhat = fresh->rhat;
    in->round_trips = fresh->round_trips;
    in->bennett = isnan(fresh->log_z.value) ? NULL : &fresh->log_z;
    return status;
}

sal_status sal_verdict_judge(sal_model *model, const sal_verdict_inputs *inputs,
                             sal_verdict *verdict, uint8_t **samples, sal_error *err)
{
    sali_fresh fresh = { 0 };
    sal_data chains = { 0 };
    sal_model *rows = NULL; /* the model that rows are of */
    if (!model || !inputs || !verdict || !inputs->train || inputs->train->variables < 1) {
        return judge_draws(model, inputs, NULL, verdict, err);
    }
    sal_verdict_inputs in = *inputs;
    sal_status status = sali_levels_for_rows(model, in.train->variables, &rows, err);
    if (status == SAL_OK && !in.fresh) {
        status = complete_inputs(model, rows, &in, &fresh, &chains, err);
    }
    if (status == SAL_OK && fresh.stopped) {
        *verdict = (sal_verdict){ .stopped = true };
    } else if (status == SAL_OK) {
        status = judge_draws(rows, &in, fresh.slower, verdict, err);
    }
    if (status == SAL_OK && samples && !inputs->fresh) {
        *samples = fresh.codes;
        fresh.codes = NULL;
    }
    sal_model_destroy(rows);
    sal_data_destroy(&chains);
    sali_free(fresh.slower);
    sali_free(fresh.codes);
    return status;
}

/* ---- in one sentence */

/* Format a correlation; with three digits if it is almost 1. */
static void format_correlation(double value, char out[16])
{
    snprintf(out, 16, value >= 0.995 && value < 1 ? "%.3f" : "%.2f", value);
}

/* Write how the samples differ from the data in figure k. */
static void describe_figure(const sal_verdict *v, int k, char *text, size_t room)
{
    const sal_verdict_figure *f = &v->figures[k];
    char fresh[SALI_MMD_TEXT], train[SALI_MMD_TEXT];
    if (k == SAL_VERDICT_F) {
        snprintf(text, room, "their mean f%s is %.3g %s that of held-out rows",
                 v->levels > 0 ? " of level 0" : "", f->shortfall.value,
                 f->fresh.value < f->test.value ? "below" : "above");
    } else if (k == SAL_VERDICT_MMD) {
        sali_mmd_text(f->fresh.value, fresh);
        sali_mmd_text(f->train.value, train);
        snprintf(text, room, "their MMD is %s, that of as many training rows %s", fresh, train);
    } else if (k == SAL_VERDICT_NEIGHBOURS) {
        snprintf(text, room,
                 "the nearest neighbour tells %.0f%% of them from held-out rows, of "
                 "training rows %.0f%%",
                 100 * f->fresh.value, 100 * f->train.value);
    } else {
        format_correlation(isnan(f->fresh.value) ? 0 : f->fresh.value, fresh);
        format_correlation(f->train.value, train);
        snprintf(text, room, "their %s correlate %s with the data's, those of training rows %s",
                 k == SAL_VERDICT_MEANS ? "means" : "covariances", fresh, train);
    }
}

/* Write the sentence that the samples are unlike the data, with what to do about it. */
static void write_unlike(const sal_verdict *v, char *text, size_t room)
{
    static const char mix[] = "let the chains mix in training (--sampler block-gibbs or ncg, "
                              "more --steps, a lower --learning-rate)",
                      ladder[] = "train longer, or with a larger --batch, which the reservoir of "
                                 "states grows with",
                      chain[] = "train longer, or with more --steps or levels";
    char what[160];
    describe_figure(v, v->worst, what, sizeof what);
    snprintf(text, room, "The model's own samples are NOT like the data: %s; %s.", what,
             v->levels > 0             ? chain
             : isnan(v->bennett.value) ? mix
                                       : ladder);
}

/* Write the sentence that the samples are close to the data, with all figures that differ. */
static void write_close(const sal_verdict *v, char *text, size_t room)
{
    char what[160];
    const char *between = ": ";
    int n = snprintf(text, room,
                     "The model's own samples are close to the data, but can be told "
                     "from them");
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        if (v->figures[k].differs && n >= 0 && (size_t)n < room) {
            describe_figure(v, k, what, sizeof what);
            n += snprintf(text + n, room - (size_t)n, "%s%s", between, what);
            between = "; ";
        }
    }
    if (n >= 0 && (size_t)n < room) {
        snprintf(text + n, room - (size_t)n, ".");
    }
}

void sal_verdict_sentence(const sal_verdict *v, char *text, size_t room)
{
    static const char more[] = "draw longer chains (evaluate with a larger --fresh)";
    const double gap = v->forward.value - v->reverse.value;
    switch (v->reason) {
    case SAL_VERDICT_WITHIN_MARGINS:
        snprintf(text, room,
                 "The model's own samples are like the data: %lld of them cannot be told from it.",
                 (long long)(v->chains * v->draws));
        break;
    case SAL_VERDICT_DISTINGUISHABLE:
        write_close(v, text, room);
        break;
    case SAL_VERDICT_BEYOND_MARGIN:
        write_unlike(v, text, room);
        break;
    case SAL_VERDICT_CHAINS_DISAGREE:
        snprintf(text, room, "Cannot tell: the fresh chains disagree (R-hat of f %.2f); %s.",
                 v->rhat, more);
        break;
    case SAL_VERDICT_NO_ROUND_TRIPS:
        snprintf(text, room,
                 "Cannot tell: the fresh chains made %.1f round trips each between the coldest and "
                 "the hottest temperature; %s.",
                 v->round_trips, more);
        break;
    case SAL_VERDICT_STEPS_MATTER:
        snprintf(
            text, room,
            "Cannot tell: samples with twice the steps at each level are others (their MMD to "
            "these is %.4f); train with more --steps, or sample with --steps-per-level 4 or more.",
            v->steps.fresh.value);
        break;
    case SAL_VERDICT_IMPRECISE:
        snprintf(text, room,
                 "Cannot tell: the figures are too imprecise; draw more samples (evaluate with a "
                 "larger --fresh), or hold out more rows.");
        break;
    case SAL_VERDICT_WRONG_WAY:
        snprintf(text, room,
                 "Cannot tell: log Z forward is %.1f above reverse, so where the reverse paths "
                 "start are no draws of the model; evaluate with more --temperatures.",
                 gap);
        break;
    case SAL_VERDICT_LOG_Z_APART:
        snprintf(text, room,
                 "Cannot tell: log Z forward is %.1f below reverse; evaluate with more "
                 "--temperatures.",
                 -gap);
        break;
    }
}
