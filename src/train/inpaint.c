/* SPDX-License-Identifier: MIT */
/* In-painting: each row has a clamped model of its own, and a run of that model. */
#include <saltus/inpaint.h>

#include <pthread.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/sample.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/option.h"
#include "core/rng.h"
#include "models/model.h"
#include "models/tape_model.h"

typedef struct inpainting {
    sal_model *model;
    int64_t rows;
    const uint8_t *codes, *mask;
    int32_t *out;
    sal_inpaint_options options;
    int run_threads;      /* threads of one row's run */
    sal_error *errors;    /* [rows]; status SAL_OK: none */
    pthread_mutex_t lock; /* guards the members below */
    int64_t done;         /* steps of all rows */
    bool stopped;
} inpainting;

/* A row and the steps that were made of its run. */
typedef struct row_progress {
    inpainting *inpainting;
    int64_t done;
} row_progress;

static const uint8_t *mask_of(const inpainting *p, int64_t row)
{
    return p->mask + (p->options.mask_by_row ? row * p->model->space->n_variables : 0);
}

/* SAL_ERR_ARGUMENT unless the mask of a row is of 0 and 1 with some 1, and its known codes are in
 * range. */
static sal_status check_row(const inpainting *p, int64_t row, sal_error *err)
{
    const sal_space *space = p->model->space;
    const uint8_t *mask = mask_of(p, row), *codes = p->codes + row * space->n_variables;
    int64_t unknown = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (mask[v] > 1) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "inpaint: row %lld: the mask of variable %lld is %d; expected 1 for "
                             "unknown, 0 for known",
                             (long long)row, (long long)v, mask[v]);
        }
        if (!mask[v] && !sali_has_code(&space->variables[v], codes[v])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "inpaint: row %lld, variable %lld: code %d; expected 0 to %d",
                             (long long)row, (long long)v, codes[v],
                             sali_last_code(&space->variables[v]));
        }
        unknown += mask[v];
    }
    return unknown > 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "inpaint: row %lld: its mask leaves nothing unknown", (long long)row);
}

#define INPAINT(member) SALI_FIELD(sal_inpaint_options, member)

static const sali_option entries[] = {
    SALI_OPTION("samples", WHOLE, "N", "samples of each picture", INPAINT(samples), SALI_FROM(1),
                SALI_USUAL(8)),
    SALI_OPTION("steps", WHOLE, "K", "sampler steps for each sample", INPAINT(steps), SALI_FROM(2),
                SALI_USUAL(1000)),
    SALI_OPTION("sampler", TEXT, "NAME", "name, see 'saltus list samplers'", INPAINT(sampler),
                .usual = "as for sample"),
    SALI_OPTION("step-size", REAL, "X", "step size of samplers that have one", INPAINT(step_size),
                SALI_REAL_FROM(0), .range = SALI_ABOVE, .usual = "adapted"),
    SALI_OPTION("seed", SEED, "N", "the same seed gives the same bits", INPAINT(seed), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it",
                INPAINT(threads), .usual = "all", SALI_RANGE(0, 4096)),
};

static const sal_option_table table = { "inpaint: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_inpaint_option_table(void)
{
    return &table;
}

/* Fill in the options, and check sizes and all rows. */
static sal_status resolve_options(inpainting *p, sal_error *err)
{
    sal_inpaint_options *o = &p->options;
    int64_t size;
    sal_status status = sal_option_resolve(&table, o, err);
    if (status == SAL_OK && (p->rows < 1 || p->rows > UINT32_MAX ||
                             __builtin_mul_overflow(p->rows, p->model->space->n_variables, &size) ||
                             __builtin_mul_overflow(size, o->samples, &size) ||
                             __builtin_mul_overflow(p->rows, o->steps, &size))) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "inpaint: %lld rows, samples %lld, steps %lld; expected fewer",
                         (long long)p->rows, (long long)o->samples, (long long)o->steps);
    }
    for (int64_t row = 0; status == SAL_OK && row < p->rows; row++) {
        status = check_row(p, row, err);
    }
    p->run_threads = p->rows > 1 ? 1 : o->threads;
    return status;
}

/* Write the known variables of a row, and their codes, into arrays [V]; returns how many there
 * are. */
static int64_t list_known(const inpainting *p, int64_t row, int64_t *variables, int32_t *codes)
{
    int64_t V = p->model->space->n_variables, n = 0;
    const uint8_t *mask = mask_of(p, row);
    for (int64_t v = 0; v < V; v++) {
        if (!mask[v]) {
            variables[n] = v;
            codes[n++] = p->codes[row * V + v];
        }
    }
    return n;
}

/* Runs of rows share no random numbers. */
static uint64_t seed_of(const inpainting *p, int64_t row)
{
    sali_stream stream = { .seed = p->options.seed,
                           .chain = (uint32_t)row,
                           .purpose = SALI_RNG_INPAINT };
    uint32_t words[2];
    sali_rng_words(&stream, 0, 2, words);
    return (uint64_t)words[1] << 32 | words[0];
}

/* The progress callback of one row's run: adds its steps to those of all rows. Returns whether to
 * stop. */
static int note_progress(int64_t done, int64_t total, void *data)
{
    row_progress *row = data;
    inpainting *p = row->inpainting;
    (void)total;
    pthread_mutex_lock(&p->lock);
    p->done += done - row->done;
    row->done = done;
    if (p->options.progress && !p->stopped) {
        p->stopped =
            p->options.progress(p->done, p->rows * p->options.steps, p->options.progress_data) != 0;
    }
    bool stopped = p->stopped;
    pthread_mutex_unlock(&p->lock);
    return stopped;
}

static bool is_stopped(inpainting *p)
{
    pthread_mutex_lock(&p->lock);
    bool stopped = p->stopped;
    pthread_mutex_unlock(&p->lock);
    return stopped;
}

/* Draw the samples of a row by a run that clamps its known variables; -1 in all codes if the run
 * was stopped or failed. */
static sal_status draw_row(inpainting *p, int64_t row, sal_error *err)
{
    const sal_inpaint_options *o = &p->options;
    int64_t V = p->model->space->n_variables, size = o->samples * V;
    int32_t *out = p->out + row * size;
    row_progress at = { .inpainting = p };
    int64_t *variables = SALI_NEW_ARRAY(int64_t, V);
    int32_t *codes = SALI_NEW_ARRAY(int32_t, V);
    sal_run *run = NULL;
    sal_status status = variables && codes ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        sal_run_options options = {
            .sampler = o->sampler,
            .own_samplers = o->own_samplers,
            .step_size = o->step_size,
            .chains = o->samples,
            .warmup = o->steps / 2, /* adaptation takes the first half */
            .draws = 1,
            .thin = o->steps - o->steps / 2,
            .seed = seed_of(p, row),
            .threads = p->run_threads,
            .clamps = { .n = list_known(p, row, variables, codes),
                        .variables = variables,
                        .codes = codes },
            .callbacks = { .progress = note_progress, .progress_data = &at },
        };
        status = sal_sample(p->model, &options, &run, err);
    }
    if (status == SAL_OK && at.done == o->steps) {
        status = sal_run_last(run, out, err);
    } else {
        memset(out, -1, (size_t)size * sizeof *out); /* not finished */
    }
    sal_run_destroy(run);
    sali_free(variables);
    sali_free(codes);
    return status;
}

/* Draw the samples of a row, unless the caller has stopped. */
static void inpaint_row(void *context, int64_t row)
{
    inpainting *p = context;
    int64_t size = p->options.samples * p->model->space->n_variables;
    if (is_stopped(p)) {
        memset(p->out + row * size, -1, (size_t)size * sizeof *p->out);
    } else {
        p->errors[row].status = draw_row(p, row, &p->errors[row]);
    }
}

sal_status sal_inpaint(sal_model *model, int64_t rows, const uint8_t *codes, const uint8_t *mask,
                       const sal_inpaint_options *options, int32_t *out, sal_error *err)
{
    if (!model || !codes || !mask || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_inpaint: the model, the codes, the mask or the output are NULL");
    }
    inpainting p = { .model = model,
                     .rows = rows,
                     .codes = codes,
                     .mask = mask,
                     .out = out,
                     .options = options ? *options : (sal_inpaint_options){ 0 } };
    sal_status status = sali_model_check_joint(model, err);
    status = status ? status : sali_space_check_free(model->space, model->name, "in-painting", err);
    status = status ? status : resolve_options(&p, err);
    if (status != SAL_OK) {
        return status;
    }
    p.errors = SALI_NEW_ARRAY(sal_error, rows);
    if (!p.errors) {
        return sali_fail_memory(err);
    }
    pthread_mutex_init(&p.lock, NULL);
    sali_model_use(model);
    sal_threads_run(rows, rows > 1 ? p.options.threads : 1, inpaint_row, &p);
    sali_model_release(model);
    for (int64_t row = 0; status == SAL_OK && row < rows; row++) {
        if (p.errors[row].status != SAL_OK) {
            status = sali_fail(err, p.errors[row].status, "inpaint: row %lld: %s", (long long)row,
                               p.errors[row].message);
        }
    }
    pthread_mutex_destroy(&p.lock);
    sali_free(p.errors);
    return status;
}
