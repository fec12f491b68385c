/* SPDX-License-Identifier: MIT */
/* Samples of a model from scratch, for its verdict: along the ladder or denoising chain of its
 * training, else by tempering. Trainings and evaluations draw here. The number of steps is fixed,
 * never a time, so that equal seeds give equal bits. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "io/arrays/safetensors.h"
#include "io/file.h"
#include "io/json_text.h"
#include "models/levels/levels.h"
#include "models/structure.h"
#include "run/trajectory/trajectory.h"
#include "train/verdict.h"

/* Numbers of chains and of replicas. Draws are APART swap intervals apart, because exact draws of
 * layers are cheap, or APART_BY_GRADIENT where steps by gradients are not. */
enum {
    LADDER_CHAINS = 100,
    CHAINS = 25,
    REPLICAS = 16,
    DRAWS = 1000,
    APART = 25,
    APART_BY_GRADIENT = 5,
    LONGER = 4 /* times as far apart in a second run, if the chains have not mixed */
};
/* Steps in an interval of a sampler that moves all variables at once. */
#define INTERVAL 5

static uint8_t byte_of(int32_t code)
{
    return (uint8_t)(code < UINT8_MAX ? code : UINT8_MAX);
}

/* ---- along the ladder of the training */

/* Draw along the training's trajectory into bytes [chains x draws x variables], and set the
 * diagnostics of out. `steps`: as in sal_trajectory_draw. */
static sal_status climb_ladder(const sal_model *model, const sal_trajectory *ladder,
                               const sal_verdict_sampling *s, uint64_t seed, int64_t steps,
                               sali_fresh *out, uint8_t *bytes, sal_error *err)
{
    const int64_t n = out->chains * out->draws;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, n * out->variables);
    double *f = SALI_NEW_ARRAY(double, n);
    const sal_trajectory_options o = { .chains = out->chains,
                                       .draws = out->draws,
                                       .steps = steps,
                                       .seed = seed,
                                       .threads = s->threads,
                                       .progress = s->progress,
                                       .progress_data = s->progress_data };
    sal_trajectory_draws draws;
    sal_diagnostics d;
    sal_status status = codes && f ? sal_trajectory_draw(model, ladder, &o, codes, f, &draws, err)
                                   : sali_fail_memory(err);
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
        bytes[i] = byte_of(codes[i]);
    }
    sali_free(codes);
    sali_free(f);
    return status;
}

/* Steps at a level for the second set of draws down a denoising chain: twice the default. */
#define SLOWER 4
static sal_status along_ladder(const sal_model *model, const sal_trajectory *ladder,
                               const sal_verdict_inputs *options, sali_fresh *out, sal_error *err)
{
    const sal_verdict_sampling *s = &options->sampling;
    const uint64_t seed = s->seed + 1; /* not the training's numbers */
    sal_status status = climb_ladder(model, ladder, s, seed, 0, out, out->codes, err);
    if (status != SAL_OK || out->stopped || !ladder->noise) {
        return status;
    }
    sali_fresh slower = *out;
    out->slower = SALI_NEW_ARRAY(uint8_t, out->chains * out->draws * out->variables);
    status = out->slower
                 ? climb_ladder(model, ladder, s, seed + 1, SLOWER, &slower, out->slower, err)
                 : sali_fail_memory(err);
    out->stopped = slower.stopped;
    return status;
}

/* ---- tempering */

/* Keeps every apart-th draw of a run. */
typedef struct keeper {
    sali_fresh *fresh;
    int64_t apart;
} keeper;

/* The draw callback: copies the draw into the fresh draws if it is one to keep. Never stops the
 * run. */
static int keep_draw(const sal_draw *draw, void *data)
{
    keeper *k = data;
    sali_fresh *f = k->fresh;
    int64_t which = (draw->index + 1) / k->apart - 1;
    if (draw->warmup || (draw->index + 1) % k->apart != 0 || which >= f->draws) {
        return 0;
    }
    for (int64_t c = 0; c < f->chains; c++) {
        const int32_t *codes = draw->codes + c * f->variables;
        uint8_t *to = f->codes + (c * f->draws + which) * f->variables;
        for (int64_t v = 0; v < f->variables; v++) {
            to[v] = byte_of(codes[v]);
        }
    }
    return 0;
}

/* Starting codes [chains x V], each variable of each chain from a random row; NULL: no memory. */
static int32_t *draw_starts(const sal_data *train, int64_t chains, uint64_t seed)
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

/* Set R-hat of f, round trips and `stopped` of out from a run. */
static sal_status diagnose_run(const sal_run *run, sali_fresh *out, sal_error *err)
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

/* Draw by tempering, with `every` swap intervals from draw to draw. The sampler is the first that
 * serves the model: by its structure, then by gradients, then the default of sal_sample. */
static sal_status by_tempering(sal_model *model, const sal_verdict_inputs *options, int64_t every,
                               sali_fresh *out, sal_error *err)
{
    const bool whole = sali_structure_is_whole(model);
    const int64_t pieces = whole ? model->structure->pieces(model) : INTERVAL;
    const int64_t draws = out->draws;
    const sal_verdict_sampling *s = &options->sampling;
    keeper k = { .fresh = out, .apart = every };
    int32_t *init = draw_starts(options->train, out->chains, s->seed);
    sal_run_options run_options = { .sampler = whole ? "block-gibbs" : "ncg",
                                    .chains = out->chains,
                                    .warmup = (every * draws / 2 + 1) * pieces,
                                    .draws = every * draws,
                                    .seed = s->seed,
                                    .threads = s->threads,
                                    .tempering.replicas = REPLICAS,
                                    .init = init,
                                    .callbacks = { .draw = keep_draw,
                                                   .draw_data = &k,
                                                   .progress = s->progress,
                                                   .progress_data = s->progress_data } };
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
    status = status ? status : diagnose_run(run, out, err);
    sal_run_destroy(run);
    sali_free(init);
    return status;
}

static bool has_mixed(const sali_fresh *fresh)
{
    return !(fresh->rhat > SAL_RHAT_LIMIT) && !(fresh->round_trips < SAL_VERDICT_LEAST_ROUND_TRIPS);
}

/* Draw again, with longer intervals; keep the earlier draws if this is stopped or fails. */
static void draw_longer(sal_model *model, const sal_verdict_inputs *options, int64_t every,
                        sali_fresh *fresh)
{
    sal_error err;
    sali_fresh longer = *fresh;
    longer.codes = SALI_NEW_ARRAY(uint8_t, fresh->chains * fresh->draws * fresh->variables);
    if (longer.codes && by_tempering(model, options, every, &longer, &err) == SAL_OK &&
        !longer.stopped) {
        uint8_t *codes = fresh->codes;
        *fresh = longer;
        longer.codes = codes;
    }
    sali_free(longer.codes);
}

/* Draw by tempering, and once more with longer intervals if the chains have not mixed. */
static sal_status until_mixed(sal_model *model, const sal_verdict_inputs *options, sali_fresh *out,
                              sal_error *err)
{
    int64_t every = sali_structure_is_whole(model) ? APART : APART_BY_GRADIENT;
    /* Warm-up is a third of all. */
    const int64_t longest = options->sampling.longest;
    while (longest > 0 && every > 1 && every * out->draws * 3 / 2 > longest) {
        every--;
    }
    sal_status status = by_tempering(model, options, every, out, err);
    if (status == SAL_OK && !out->stopped && !has_mixed(out)) {
        draw_longer(model, options, LONGER * every, out);
    }
    return status;
}

sal_status sali_fresh_draw(sal_model *model, const sal_verdict_inputs *options, sali_fresh *out,
                           sal_error *err)
{
    const char *directory = options->sampling.directory;
    const int64_t all = options->sampling.draws ? options->sampling.draws : DRAWS;
    sal_trajectory *ladder = NULL;
    sal_status status =
        directory ? sal_trajectory_open(directory, model, &ladder, err) : SAL_ERR_NOT_FOUND;
    if (status != SAL_OK && status != SAL_ERR_NOT_FOUND) {
        return status;
    }
    if (!ladder && sal_model_levels(model) > 0 &&
        options->train->variables == model->space->n_variables - 1) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s is a conditional energy f(x, t); samples want the noise of its "
                         "training, in the training's directory",
                         model->name);
    }
    const int64_t chains = ladder ? LADDER_CHAINS : CHAINS;
    sali_fresh fresh = { .chains = chains,
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
        sali_free(fresh.slower);
        fresh.codes = fresh.slower = NULL;
    }
    if (status == SAL_OK) {
        *out = fresh;
    }
    return status;
}

/* ---- the training's chains */

/* Open the file of arrays, in the directory, that the checkpoint's JSON at `path` names. */
static sal_status open_arrays(const char *directory, const char *path, sali_safetensors **file,
                              sal_error *err)
{
    char named[SALI_PATH];
    json_t *root = NULL;
    sal_status status = sali_json_read(path, &root, err);
    const char *arrays = json_string_value(json_object_get(root, "arrays"));
    if (status == SAL_OK && (!arrays || strchr(arrays, '/'))) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: expected a checkpoint of a training", path);
    }
    status = status ? status : sali_path_in(directory, arrays, named, err);
    status = status ? status : sali_safetensors_open(named, file, err);
    if (status == SAL_ERR_NOT_FOUND) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: its file of arrays, %s, is not there", path,
                           arrays ? named : "arrays");
    }
    json_decref(root);
    return status;
}

sal_status sali_checkpoint_chains(const char *directory, int64_t variables, sal_data *out,
                                  sal_error *err)
{
    char path[SALI_PATH];
    sali_safetensors *file = NULL;
    sal_status status = sali_path_in(directory, "checkpoint.json", path, err);
    if (status != SAL_OK || access(path, F_OK) != 0) {
        return status;
    }
    status = open_arrays(directory, path, &file, err);
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
