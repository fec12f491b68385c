/* SPDX-License-Identifier: MIT */
/* Fresh samples of a model, and its verdict. */
#include "cli/training/fresh.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sheet.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/space.h"
#include "io/file.h"
#include "io/arrays/safetensors.h"
#include "models/structure.h"

/* Chains, and their replicas. Draws are so many swap intervals apart: exact draws of layers are
 * cheap, steps by gradients are not. */
enum {
    LADDER_CHAINS = 100,
    CHAINS = 25,
    REPLICAS = 16,
    DRAWS = 1000,
    APART = 25,
    APART_BY_GRADIENT = 5,
    LONGER = 4 /* once more, if the chains have not mixed */
};
/* Steps in an interval of a sampler that moves all variables at once. */
#define INTERVAL 5

/* Draws of independent chains. */
typedef struct cli_fresh {
    int64_t chains, draws, variables;
    uint8_t *codes;           /* [chains x draws x variables] */
    double rhat, round_trips; /* of f over all states that chains went through; per chain */
    sal_verdict_value log_z;  /* by Bennett's ratio along a ladder; NaN without */
    bool stopped;             /* by Ctrl-C: there are no codes */
} cli_fresh;

/* ---- along the ladder of the training */

static int show_levels(int64_t done, int64_t total, void *data)
{
    cli_progress_show(data, "fresh samples", done, total);
    return cli_interrupted();
}

static sal_status along_ladder(const sal_model *model, const sal_trajectory *ladder,
                               const cli_fresh_options *options, cli_fresh *out, sal_error *err)
{
    const int64_t n = out->chains * out->draws;
    cli_progress progress = cli_progress_begin();
    int32_t *codes = SALI_NEW_ARRAY(int32_t, n * out->variables);
    double *f = SALI_NEW_ARRAY(double, n);
    const sal_trajectory_options o = { .chains = out->chains,
                                       .draws = out->draws,
                                       .seed = options->seed + 1, /* not the training's numbers */
                                       .threads = options->threads,
                                       .progress = show_levels,
                                       .progress_data = &progress };
    sal_trajectory_draws draws;
    sal_diagnostics d;
    sal_status status = codes && f ? sal_trajectory_draw(model, ladder, &o, codes, f, &draws, err)
                                   : sali_fail_memory(err);
    cli_progress_end(&progress);
    if (status == SAL_OK && !draws.stopped) {
        status = sal_stats_diagnose(out->chains, out->draws, f, &d, err);
    }
    if (status == SAL_OK) {
        out->rhat = draws.stopped ? NAN : d.rhat_bulk;
        out->round_trips = NAN;
        out->stopped = draws.stopped;
        out->log_z = (sal_verdict_value){ draws.log_z, draws.log_z_error };
    }
    for (int64_t i = 0; status == SAL_OK && i < n * out->variables; i++) {
        out->codes[i] = (uint8_t)(codes[i] < UINT8_MAX ? codes[i] : UINT8_MAX);
    }
    sali_free(codes);
    sali_free(f);
    return status;
}

/* ---- tempering */

/* Every so many-th draw of a run. */
typedef struct keeper {
    cli_fresh *fresh;
    int64_t apart;
    cli_progress progress;
} keeper;

static int keep_draw(const sal_draw *draw, void *data)
{
    keeper *k = data;
    cli_fresh *f = k->fresh;
    int64_t which = (draw->index + 1) / k->apart - 1;
    if (draw->warmup || (draw->index + 1) % k->apart != 0 || which >= f->draws) {
        return 0;
    }
    for (int64_t c = 0; c < f->chains; c++) {
        const int32_t *codes = draw->codes + c * f->variables;
        uint8_t *to = f->codes + (c * f->draws + which) * f->variables;
        for (int64_t v = 0; v < f->variables; v++) {
            to[v] = (uint8_t)(codes[v] < UINT8_MAX ? codes[v] : UINT8_MAX);
        }
    }
    return 0;
}

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(&((keeper *)data)->progress, "fresh samples", done, total);
    return cli_interrupted();
}

/* Each variable of each chain is that of a random row. */
static int32_t *starts(const sal_data *train, int64_t chains, uint64_t seed)
{
    int64_t V = train->variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, chains * V);
    for (int64_t c = 0; codes && c < chains; c++) {
        sali_stream stream = { seed, 0, (uint32_t)c, SALI_RNG_INIT };
        for (int64_t v = 0; v < V; v++) {
            int64_t row = sali_rng_below(&stream, (uint32_t)v, (uint32_t)train->rows);
            codes[c * V + v] = train->codes[row * V + v];
        }
    }
    return codes;
}

static sal_status diagnose(const sal_run *run, cli_fresh *out, sal_error *err)
{
    sal_diagnostics f;
    sal_run_summary summary;
    int64_t chains, draws, V;
    sal_run_size(run, &chains, &draws, &V);
    sal_status status = sal_stats_diagnose(chains, draws, sal_run_log_probs(run), &f, err);
    status = status ? status : sal_run_summarise(run, &summary, err);
    if (status == SAL_OK) {
        out->rhat = f.rhat_bulk; /* NaN where f is constant: then nothing disagrees */
        out->round_trips = summary.round_trips;
        out->stopped = summary.stopped;
    }
    return status;
}

/* A draw every so many swap intervals. A sampler that serves the model: its structure, then
 * gradients, then what sal_sample takes. */
static sal_status by_tempering(sal_model *model, const cli_fresh_options *options, int64_t every,
                               cli_fresh *out, sal_error *err)
{
    const int64_t pieces = model->structure ? model->structure->pieces(model) : INTERVAL;
    const int64_t draws = out->draws;
    keeper k = { .fresh = out, .apart = every, .progress = cli_progress_begin() };
    int32_t *init = starts(options->train, out->chains, options->seed);
    sal_run_options run_options = { .sampler = model->structure ? "block-gibbs" : "ncg",
                                    .chains = out->chains,
                                    .warmup = (every * draws / 2 + 1) * pieces,
                                    .draws = every * draws,
                                    .seed = options->seed,
                                    .threads = options->threads,
                                    .tempering.replicas = REPLICAS,
                                    .init = init,
                                    .callbacks = { .draw = keep_draw,
                                                   .draw_data = &k,
                                                   .progress = show_progress,
                                                   .progress_data = &k } };
    sal_run *run = NULL;
    sal_status status = init ? sal_sample(model, &run_options, &run, err) : sali_fail_memory(err);
    if (status == SAL_ERR_UNSUPPORTED) {
        run_options.sampler = NULL;
        status = sal_sample(model, &run_options, &run, err);
    }
    if (status == SAL_ERR_MODEL) { /* the model may forbid where chains start */
        run_options.init = NULL;
        status = sal_sample(model, &run_options, &run, err);
    }
    cli_progress_end(&k.progress);
    status = status ? status : diagnose(run, out, err);
    sal_run_destroy(run);
    sali_free(init);
    return status;
}

static bool mixed(const cli_fresh *fresh)
{
    return !(fresh->rhat > SAL_RHAT_LIMIT) && !(fresh->round_trips < SAL_VERDICT_LEAST_ROUND_TRIPS);
}

/* Once more, longer; what there was stays if that is stopped or fails. */
static void draw_longer(sal_model *model, const cli_fresh_options *options, int64_t every,
                        cli_fresh *fresh)
{
    sal_error err;
    cli_fresh longer = *fresh;
    longer.codes = SALI_NEW_ARRAY(uint8_t, fresh->chains * fresh->draws * fresh->variables);
    if (longer.codes && by_tempering(model, options, every, &longer, &err) == SAL_OK &&
        !longer.stopped) {
        uint8_t *codes = fresh->codes;
        *fresh = longer;
        longer.codes = codes;
    }
    sali_free(longer.codes);
}

static sal_status until_mixed(sal_model *model, const cli_fresh_options *options, cli_fresh *out,
                              sal_error *err)
{
    int64_t every = model->structure ? APART : APART_BY_GRADIENT;
    /* Warm-up is a third of all. */
    while (options->longest > 0 && every > 1 && every * out->draws * 3 / 2 > options->longest) {
        every--;
    }
    sal_status status = by_tempering(model, options, every, out, err);
    if (status == SAL_OK && !out->stopped && !mixed(out)) {
        draw_longer(model, options, LONGER * every, out);
    }
    return status;
}

static sal_status draw_fresh(sal_model *model, const cli_fresh_options *options, cli_fresh *out,
                             sal_error *err)
{
    const int64_t all = options->draws ? options->draws : DRAWS;
    sal_trajectory *ladder = NULL;
    sal_status status = options->directory
                            ? sal_trajectory_open(options->directory, model, &ladder, err)
                            : SAL_ERR_NOT_FOUND;
    if (status != SAL_OK && status != SAL_ERR_NOT_FOUND) {
        return status;
    }
    const int64_t chains = ladder ? LADDER_CHAINS : CHAINS;
    cli_fresh fresh = { .chains = chains,
                        .draws = (all + chains - 1) / chains,
                        .variables = options->train->variables,
                        .log_z = { NAN, NAN } };
    fresh.codes = SALI_NEW_ARRAY(uint8_t, fresh.chains * fresh.draws * fresh.variables);
    status = !fresh.codes ? sali_fail_memory(err)
             : ladder     ? along_ladder(model, ladder, options, &fresh, err)
                          : until_mixed(model, options, &fresh, err);
    sal_trajectory_destroy(ladder);
    if (status != SAL_OK || fresh.stopped) {
        sali_free(fresh.codes);
        fresh.codes = NULL;
    }
    if (status == SAL_OK) {
        *out = fresh;
    }
    return status;
}

/* ---- the training's chains */

/* The persistent chains of a training's checkpoint as codes [rows x V]; no rows if the directory
 * has no checkpoint with chains of that many variables. */
static sal_status read_chains(const char *directory, int64_t variables, sal_data *out,
                              sal_error *err)
{
    char path[SALI_PATH], named[SALI_PATH];
    sali_safetensors *file = NULL;
    sal_status status = sali_path_in(directory, "checkpoint.json", path, err);
    if (status != SAL_OK || access(path, F_OK) != 0) {
        return status;
    }
    json_t *root = json_load_file(path, 0, NULL);
    const char *arrays = json_string_value(json_object_get(root, "arrays"));
    if (arrays && !strchr(arrays, '/')) {
        status = sali_path_in(directory, arrays, named, err);
        status = status ? status : sali_safetensors_open(named, &file, err);
    }
    json_decref(root);
    const sali_tensor *t = file ? sali_safetensors_find(file, "buffer.codes") : NULL;
    if (t && t->count > 0 && t->count % variables == 0) {
        double *values = SALI_NEW_ARRAY(double, t->count);
        out->codes = SALI_NEW_ARRAY(uint8_t, t->count);
        status = values && out->codes ? SAL_OK : sali_fail_memory(err);
        if (status == SAL_OK) {
            sali_tensor_doubles(t, values);
            for (int64_t i = 0; i < t->count; i++) {
                out->codes[i] = (uint8_t)fmin(fmax(values[i], 0), UINT8_MAX);
            }
            out->rows = t->count / variables;
            out->variables = variables;
        }
        sali_free(values);
    }
    sali_safetensors_close(file);
    return status;
}

/* ---- the verdict */

/* Some rows, evenly spaced, as a sheet of pictures of the data's size. */
static sal_status write_sheet(const cli_fresh_options *o, const cli_fresh *fresh, bool *written,
                              sal_error *err)
{
    const sal_data *pictures = o->train;
    if (!o->sheet || pictures->height == 0) {
        return SAL_OK;
    }
    sal_status status = cli_sheet_codes(o->sheet, fresh->chains * fresh->draws, fresh->codes,
                                        pictures->height, pictures->width, err);
    *written = status == SAL_OK;
    return status == SAL_ERR_UNSUPPORTED ? SAL_OK : status;
}

static sal_status judge(sal_model *model, const cli_fresh_options *o, const cli_fresh *fresh,
                        sal_verdict *verdict, sal_error *err)
{
    sal_data chains = { 0 };
    sal_status status = o->directory && !o->no_chains
                            ? read_chains(o->directory, o->train->variables, &chains, err)
                            : SAL_OK;
    const sal_verdict_inputs inputs = { .train = o->train,
                                        .test = o->test,
                                        .chains = fresh->chains,
                                        .draws = fresh->draws,
                                        .fresh = fresh->codes,
                                        .persistent_rows = chains.rows,
                                        .persistent = chains.codes,
                                        .rhat = fresh->rhat,
                                        .round_trips = fresh->round_trips,
                                        .bennett = isnan(fresh->log_z.value) ? NULL : &fresh->log_z,
                                        .forward = o->forward,
                                        .reverse = o->reverse };
    status = status ? status : sal_verdict_judge(model, &inputs, verdict, err);
    sal_data_destroy(&chains);
    return status;
}

sal_status cli_judge(sal_model *model, const cli_fresh_options *options, sal_verdict *verdict,
                     bool *judged, bool *sheet, sal_error *err)
{
    cli_fresh fresh = { 0 };
    sal_status status = draw_fresh(model, options, &fresh, err);
    if (status == SAL_OK && fresh.codes) {
        status = write_sheet(options, &fresh, sheet, err);
        status = status ? status : judge(model, options, &fresh, verdict, err);
        *judged = status == SAL_OK;
    }
    sali_free(fresh.codes);
    if (status == SAL_ERR_UNSUPPORTED || status == SAL_ERR_MODEL || status == SAL_ERR_ARGUMENT) {
        fprintf(stderr, "saltus: no verdict: %s\n", err->message);
        return SAL_OK;
    }
    return status;
}
