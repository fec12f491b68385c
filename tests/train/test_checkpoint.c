/* SPDX-License-Identifier: MIT */
/* Checkpoints: what goes on from one has the bits of what was never stopped; what is damaged or
 * belongs to something else is refused and changes nothing. */
#include "temp_dir.h"

#include <endian.h>
#include <jansson.h>
#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "core/alloc.h"
#include "io/file.h"
#include "io/arrays/safetensors.h"
#include "train/trainer.h"
#include "train/verdict.h"

enum { V = 6, ROWS = 30, ITERATIONS = 24, MOST_LINES = 32 };

static const char specification[] = "rbm:visible=6,hidden=3";

static sal_data some_data(void)
{
    sal_data data = { .rows = ROWS, .variables = V, .codes = SALI_NEW_ARRAY(uint8_t, ROWS * V) };
    for (int i = 0; i < ROWS * V; i++) {
        data.codes[i] = (uint8_t)((i * 13 / 5 + i / V) % 3 == 0);
    }
    return data;
}

static sal_model *new_model(const char *name, const sal_data *data, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(name, dtype, &model, &err), &err);
    ck_ok(sal_model_train_start(model, name, data, 1, &err), &err);
    return model;
}

/* ---- a training, and all that can be seen of it */

typedef struct lines {
    int n;
    double numbers[MOST_LINES][8];
} lines;

static int note(const sal_train_report *r, void *data)
{
    lines *l = data;
    const double numbers[] = { (double)r->iteration, r->log_prob_data, r->log_prob_samples,
                               r->acceptance_rate,   r->mean_jump,     r->step_size,
                               r->gradient_norm,     (double)r->buffer };
    ck_assert_int_lt(l->n, MOST_LINES);
    memcpy(l->numbers[l->n++], numbers, sizeof numbers);
    return 0;
}

typedef struct training {
    sal_model *model;
    sal_trainer *trainer;
} training;

static training begin(const sal_data *data, sal_train_options o, const char *name, lines *l)
{
    sal_error err;
    training t = { .model = new_model(name, data, SAL_F32) };
    o.callbacks.report = note;
    o.callbacks.report_data = l;
    ck_ok(sal_trainer_create(t.model, data, &o, &t.trainer, &err), &err);
    return t;
}

static void end(training *t)
{
    sal_trainer_destroy(t->trainer);
    sal_model_destroy(t->model);
}

static void same_bytes(const char *what, const char *where, const void *a, const void *b,
                       int64_t count, size_t size)
{
    if (count > 0) {
        ck_assert_msg(memcmp(a, b, (size_t)count * size) == 0, "%s: other %s", where, what);
    }
}

static void same_state(const char *where, const sal_trainer *a, const sal_trainer *b)
{
    const int64_t n = a->optimiser.n, slots = a->buffer.slots;
    double pa[64], pb[64];
    ck_assert_int_eq(a->iteration, b->iteration);
    ck_assert_int_eq(a->good_iteration, b->good_iteration);
    ck_assert_int_eq(a->optimiser.updates, b->optimiser.updates);
    same_bytes("sums", where, &a->sums, &b->sums, 1, sizeof a->sums);
    same_bytes("parameters", where, a->values, b->values, n, sizeof(double));
    same_bytes("good parameters", where, a->good, b->good, n, sizeof(double));
    same_bytes("m", where, a->optimiser.m, b->optimiser.m, n, sizeof(double));
    same_bytes("v", where, a->optimiser.v, b->optimiser.v, a->optimiser.kind == SALI_SGD ? 0 : n,
               sizeof(double));
    same_bytes("averages", where, a->averages, b->averages, a->averages ? n : 0, sizeof(double));
    same_bytes("offsets", where, a->centring.offsets, b->centring.offsets, a->centring.n_offsets,
               sizeof(double));
    same_bytes("codes", where, a->buffer.codes, b->buffer.codes, slots * V, sizeof(int32_t));
    same_bytes("lives", where, a->buffer.life, b->buffer.life, slots, sizeof(uint64_t));
    same_bytes("step size", where, a->step_size.log_step, b->step_size.log_step, a->follows,
               sizeof(double));
    sali_params_get(a->tape->params, pa);
    sali_params_get(b->tape->params, pb);
    same_bytes("parameters of the model", where, pa, pb, n, sizeof(double));
}

static void same_lines(const char *where, const lines *a, const lines *b)
{
    ck_assert_msg(a->n == b->n, "%s: %d reports and %d", where, a->n, b->n);
    same_bytes("reports", where, a->numbers, b->numbers, a->n, sizeof *a->numbers);
}

/* Stop after `first` iterations, save, forget, go on elsewhere. */
static void try_stop(const char *where, const sal_data *data, sal_train_options o, int64_t first,
                     const char *name)
{
    sal_error err;
    lines whole = { 0 }, parts = { 0 };
    training a = begin(data, o, name, &whole), b = begin(data, o, name, &parts);
    ck_ok(sal_trainer_run(a.trainer, INT64_MAX, &err), &err);
    ck_ok(sal_trainer_run(b.trainer, first, &err), &err);
    ck_assert_int_eq(b.trainer->iteration, first);
    ck_ok(sal_trainer_save(b.trainer, temp_dir, &err), &err);
    ck_assert_int_eq(temp_count(), 2);
    end(&b);
    o.threads = 3 - o.threads;
    b = begin(data, o, name, &parts);
    ck_ok(sal_trainer_load(b.trainer, temp_dir, &err), &err);
    ck_assert_int_eq(b.trainer->iteration, first);
    ck_ok(sal_trainer_run(b.trainer, INT64_MAX, &err), &err);
    same_state(where, a.trainer, b.trainer);
    same_lines(where, &whole, &parts);
    end(&a);
    end(&b);
}

/* PAVG collects states for 1000 steps, after 100. */
static sal_train_options usual(const char *sampler)
{
    return (sal_train_options){ .sampler = sampler,
                                .steps = strncmp(sampler, "pavg", 4) == 0 ? 60 : 7,
                                .iterations = ITERATIONS,
                                .batch = 6,
                                .buffer = { .chains = 9, .restart = 0.05 },
                                .learning_rate = 0.01,
                                .averaging = 0.9,
                                .seed = 4,
                                .report_every = 5,
                                .threads = 1 };
}

static const int64_t stops[] = { 0, 1, 10, 15, 21, 24 };

#define N_STOPS ((int)(sizeof stops / sizeof *stops))

START_TEST(every_sampler_goes_on_with_the_same_bits)
{
    static const char *const more[] = {
        "gibbs:scan=adaptive",         "gibbs:block=2",       "gwg:hops=2",
        "ncg:preconditioner=diagonal", "gibbs:scan=shuffled", "hamming-ball:blocks=random",
        "dula:schedule=polynomial",    "r-hmc:leapfrog=2",    NULL,
    };
    sal_data data = some_data();
    int tried = 0;
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        sal_model *model = new_model(specification, &data, SAL_F32);
        bool serves = sali_sampler_serves(sali_sampler_at(k), model);
        sal_model_destroy(model);
        if (serves) {
            const char *name = sali_sampler_at(k)->name;
            if (!TEST_SANITIZED || k % 3 == _i % 3) { /* there, each sampler at two of the stops */
                try_stop(name, &data, usual(name), stops[_i], specification);
            }
            tried++;
        }
    }
    for (int k = 0; more[k]; k++) {
        try_stop(more[k], &data, usual(more[k]), stops[_i], specification);
    }
    ck_assert_int_ge(tried, 15);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(every_objective_and_optimiser_goes_on_with_the_same_bits)
{
    static const char *const names[] = { "pcd", "cd", "pseudo-likelihood" };
    sal_data data = some_data();
    for (int objective = 0; objective < 3; objective++) {
        for (int optimiser = 0; optimiser < 3; optimiser++) {
            sal_train_options o = usual("ncg");
            o.objective = (sal_objective)objective;
            o.buffer.restart = objective == SAL_PCD ? o.buffer.restart : 0;
            o.buffer.chains = objective == SAL_PCD ? o.buffer.chains : 0;
            o.optimiser.method = (sal_optimiser)optimiser;
            o.optimiser.weight_decay = 0.01;
            o.rate.warmup = 17;
            o.averaging = optimiser == 1 ? 0 : 0.99;
            o.step_size = optimiser == 2 ? 0.3 : 0;
            try_stop(names[objective], &data, o, stops[_i], specification);
        }
    }
    sal_train_options o = usual("gwg");
    o.couplings.l1 = 0.1;
    o.couplings.zero_diagonal = true;
    o.optimiser.clip_norm = 0.2;
    o.centring = SAL_CENTRING_ON;
    try_stop("centred ising", &data, o, stops[_i], "ising-dense:dim=6");
    o.fixed = "b";
    o.centring = SAL_CENTRING_AUTO;
    try_stop("ising", &data, o, stops[_i], "ising-dense:dim=6");
    sal_data_destroy(&data);
}
END_TEST

/* Where a training that writes checkpoints by itself is stopped does not matter. */
START_TEST(resume_takes_up_what_is_there)
{
    sal_error err;
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    sal_model *whole = new_model(specification, &data, SAL_F64);
    sal_model *parts = new_model(specification, &data, SAL_F64);
    int64_t n = sal_model_parameters_size(whole);
    double a[64], b[64];
    ck_ok(sal_train(whole, &data, &o, &err), &err);
    o.checkpoint.directory = temp_dir;
    o.checkpoint.every = 4;
    o.checkpoint.resume = true; /* also the first time, when there is nothing */
    for (o.iterations = 3; o.iterations <= ITERATIONS; o.iterations += 7) {
        sal_model_destroy(parts);
        parts = new_model(specification, &data, SAL_F64);
        ck_ok(sal_train(parts, &data, &o, &err), &err);
    }
    ck_ok(sal_model_get_params(whole, NULL, a, &err), &err);
    ck_ok(sal_model_get_params(parts, NULL, b, &err), &err);
    same_bytes("parameters", "resume", a, b, n, sizeof *a);
    o.iterations = 2; /* nothing is left to do */
    ck_ok(sal_train(parts, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(parts, NULL, b, &err), &err);
    same_bytes("parameters", "resume", a, b, n, sizeof *a);
    sal_model_destroy(whole);
    sal_model_destroy(parts);
    sal_data_destroy(&data);
}
END_TEST

/* ---- what is refused */

/* The trainer must be as if the attempt had never been made: it goes on like `whole`. */
static void refused(const sal_data *data, sal_train_options o, sal_status status, const char *text)
{
    sal_error err;
    lines l = { 0 };
    training untouched = begin(data, o, specification, &l), t = begin(data, o, specification, &l);
    ck_ok(sal_trainer_run(untouched.trainer, 7, &err), &err);
    ck_ok(sal_trainer_run(t.trainer, 7, &err), &err);
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), status, &err, text);
    same_state(text, t.trainer, untouched.trainer);
    ck_ok(sal_trainer_run(untouched.trainer, 2, &err), &err);
    ck_ok(sal_trainer_run(t.trainer, 2, &err), &err);
    same_state(text, t.trainer, untouched.trainer);
    end(&t);
    end(&untouched);
}

static void save_one(const sal_data *data, sal_train_options o)
{
    sal_error err;
    lines l = { 0 };
    training t = begin(data, o, specification, &l);
    ck_ok(sal_trainer_run(t.trainer, 12, &err), &err);
    ck_ok(sal_trainer_save(t.trainer, temp_dir, &err), &err);
    end(&t);
}

START_TEST(other_trainings_are_refused)
{
    sal_data data = some_data(), other = some_data();
    sal_train_options o = usual("gwg"), changed;
    save_one(&data, o);
    const struct {
        const char *text;
        sal_train_options o;
    } cases[] = {
        { "seed", { .seed = 5 } },
        { "batch 6 and is to go on with 7", { .batch = 7 } },
        { "buffer", { .buffer.chains = 10 } },
        { "restart", { .buffer.restart = 0.1 } },
        { "averaging", { .averaging = 0.8 } },
        { "optimiser", { .optimiser.method = SAL_SGD } },
        { "rate_warmup", { .rate.warmup = 3 } },
        { "rate_cooldown", { .rate.cooldown = 0.5 } },
        { "rate_schedule", { .rate.schedule = SAL_RATE_COSINE } },
        { "weight_decay", { .optimiser.weight_decay = 0.1 } },
        { "objective", { .objective = SAL_CD } },
        { "fixed null and is to go on with \"b\"", { .fixed = "b" } },
        { "buffer_start", { .buffer.start = SAL_BUFFER_DATA } },
        { "buffer_order", { .buffer.order = SAL_BUFFER_PASSES } },
        { "momentum", { .optimiser.momentum = 0.8 } },
        { "beta2", { .optimiser.beta2 = 0.8 } },
        { "epsilon", { .optimiser.epsilon = 0.1 } },
        { "magnitude_penalty", { .magnitude_penalty = 0.1 } },
        { "centring \"auto\" and is to go on with \"off\"", { .centring = SAL_CENTRING_OFF } },
        { "clip", { .optimiser.clip_norm = 0.1 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sal_train_options *c = &cases[k].o;
        changed = o;
        changed.seed = c->seed ? c->seed : o.seed;
        changed.batch = c->batch ? c->batch : o.batch;
        changed.buffer.chains = c->buffer.chains ? c->buffer.chains : o.buffer.chains;
        changed.buffer.restart = c->buffer.restart > 0 ? c->buffer.restart : o.buffer.restart;
        changed.averaging = c->averaging > 0 ? c->averaging : o.averaging;
        changed.optimiser.method = c->optimiser.method;
        changed.rate.warmup = c->rate.warmup;
        changed.rate.cooldown = c->rate.cooldown;
        changed.rate.schedule = c->rate.schedule;
        changed.optimiser.weight_decay = c->optimiser.weight_decay;
        if (c->objective != SAL_PCD) {
            changed.objective = c->objective;
            changed.buffer.chains = 0;
            changed.buffer.restart = 0;
        }
        changed.fixed = c->fixed;
        changed.buffer.start = c->buffer.start;
        changed.buffer.order = c->buffer.order;
        changed.optimiser.momentum = c->optimiser.momentum;
        changed.optimiser.beta2 = c->optimiser.beta2;
        changed.optimiser.epsilon = c->optimiser.epsilon;
        changed.magnitude_penalty = c->magnitude_penalty;
        changed.centring = c->centring;
        changed.optimiser.clip_norm = c->optimiser.clip_norm;
        refused(&data, changed, SAL_ERR_DATA, cases[k].text);
    }
    other.codes[17] ^= 1;
    refused(&other, o, SAL_ERR_DATA, "data");
    sal_data_destroy(&data);
    sal_data_destroy(&other);
}
END_TEST

/* The same number of parameters in another model. */
/* What the advice after a divergence asks for. Parameters, chains and moments are those of the
 * checkpoint; what another sampler adapted is not. */
START_TEST(rate_steps_and_sampler_may_change)
{
    static const struct {
        const char *before;
        sal_train_options o;
        const char *with;
    } cases[] = {
        { "gwg", { .learning_rate = 0.002 }, "learning rate 0.002 instead of 0.01" },
        { "gwg", { .steps = 9 }, "steps 9 instead of 7" },
        { "gwg", { .sampler = "ncg" }, "sampler \"ncg\" instead of \"gwg\"" },
        { "ncg:preconditioner=diagonal",
          { .sampler = "gibbs:scan=adaptive" },
          "sampler \"gibbs:scan=adaptive\" instead of \"ncg:preconditioner=diagonal\"" },
        { "pavg", { .sampler = "ncg" }, "sampler \"ncg\" instead of \"pavg\"" },
        { "ncg", { .step_size = 0.5 }, "step size 0.5 instead of 0.0" },
        { "ncg",
          { .learning_rate = 0.05, .sampler = "pavg", .steps = 60 },
          "learning rate 0.05 instead of 0.01, steps 60 instead of 7, sampler \"pavg\" instead of "
          "\"ncg\"" },
    };
    sal_data data = some_data();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err;
        const sal_train_options *c = &cases[k].o;
        sal_train_options o = usual(cases[k].before), changed = o;
        lines l = { 0 };
        changed.sampler = c->sampler ? c->sampler : o.sampler;
        changed.steps = c->steps ? c->steps : o.steps;
        changed.step_size = c->step_size;
        changed.learning_rate = c->learning_rate > 0 ? c->learning_rate : o.learning_rate;
        remove(temp_path("checkpoint.json"));
        save_one(&data, o);
        training same = begin(&data, o, specification, &l);
        training t = begin(&data, changed, specification, &l);
        const double step_size = t.trainer->follows ? t.trainer->step_size.log_step[0] : 0;
        ck_ok(sal_trainer_load(same.trainer, temp_dir, &err), &err);
        ck_assert_str_eq(same.trainer->resumed_with, "");
        ck_ok(sal_trainer_load(t.trainer, temp_dir, &err), &err);
        ck_assert_str_eq(t.trainer->resumed_with, cases[k].with);
        ck_assert(t.trainer->optimiser.learning_rate == changed.learning_rate);
        same_bytes("codes", "changed", t.trainer->buffer.codes, same.trainer->buffer.codes,
                   (int64_t)o.buffer.chains * V, sizeof(int32_t));
        same_bytes("parameters", "changed", t.trainer->values, same.trainer->values,
                   t.trainer->optimiser.n, sizeof(double));
        if (t.trainer->follows && c->sampler) {
            ck_assert(t.trainer->step_size.log_step[0] == step_size);
        }
        ck_ok(sal_trainer_run(t.trainer, 3, &err), &err);
        /* From now on this is how it is trained, and the checkpoint tells both. */
        ck_ok(sal_trainer_save(t.trainer, temp_dir, &err), &err);
        training again = begin(&data, changed, specification, &l);
        ck_ok(sal_trainer_load(again.trainer, temp_dir, &err), &err);
        ck_assert_str_eq(again.trainer->resumed_with, "");
        same_state("again", again.trainer, t.trainer);
        ck_assert_uint_eq(json_array_size(again.trainer->resumes), 1);
        const json_t *record = json_array_get(again.trainer->resumes, 0);
        ck_assert_int_eq(json_integer_value(json_object_get(record, "iteration")), 12);
        ck_assert_uint_eq(json_object_size(record), 1 + (k == 6 ? 3 : 1));
        end(&same);
        end(&t);
        end(&again);
    }
    sal_data_destroy(&data);
}
END_TEST

START_TEST(other_models_are_refused)
{
    sal_error err;
    sal_data data = some_data();
    lines l = { 0 };
    save_one(&data, usual("gwg"));
    training t = begin(&data, usual("gwg"), "rbm:visible=6,hidden=4", &l);
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err, "model");
    end(&t);
    sal_model *model = new_model(specification, &data, SAL_F64);
    sal_train_options o = usual("gwg");
    sal_trainer *trainer = NULL;
    ck_ok(sal_trainer_create(model, &data, &o, &trainer, &err), &err);
    ck_fails(sal_trainer_load(trainer, temp_dir, &err), SAL_ERR_DATA, &err,
             "dtype \"f32\" and is to go on with \"f64\"");
    sal_trainer_destroy(trainer);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

/* Copy the file of arrays with one element of one array changed. */
static void change_array(const char *name, int64_t at, const void *value)
{
    sali_safetensors *file = NULL;
    sali_tensor tensors[64];
    char path[512];
    sal_error err;
    snprintf(path, sizeof path, "%s", temp_path("checkpoint-a.safetensors"));
    ck_ok(sali_safetensors_open(path, &file, &err), &err);
    int64_t n = sali_safetensors_count(file), bytes = 0;
    unsigned char *changed = NULL;
    for (int64_t k = 0; k < n; k++) {
        tensors[k] = *sali_safetensors_at(file, k);
        if (strcmp(tensors[k].name, name) == 0) {
            int size = sali_dtype_bytes(tensors[k].dtype);
            bytes = tensors[k].count * size;
            changed = malloc((size_t)bytes);
            memcpy(changed, tensors[k].data, (size_t)bytes);
            memcpy(changed + at * size, value, (size_t)size);
            tensors[k].data = changed;
        }
    }
    ck_assert_msg(bytes > 0, "no array %s", name);
    ck_ok(sali_safetensors_write(path, tensors, n, &err), &err);
    free(changed);
    sali_safetensors_close(file);
}

START_TEST(impossible_numbers_are_refused)
{
    const double nan = NAN, negative = -1, huge = 1e300, infinite = INFINITY;
    const int64_t minus = -1, many = INT64_MAX, later = 13;
    const int32_t code = 2, minus_code = -1;
    const struct {
        const char *array;
        int64_t at;
        const void *value;
        const char *text;
    } cases[] = {
        { "parameters", 3, &nan, "parameters: number 4 is" },
        { "parameters", 3, &huge, "parameters: number 4 is" }, /* no float */
        { "parameters.good", 0, &infinite, "parameters.good: number 1" },
        { "averages", 1, &nan, "averages: number 2" },
        { "centring.offsets", 2, &nan, "centring.offsets: number 3" },
        { "optimiser.m", 0, &nan, "optimiser.m: number 1" },
        { "optimiser.v", 0, &negative, "optimiser.v: number 1" },
        { "sums", 2, &nan, "sums: number 3" },
        { "log_step_size", 0, &huge, "log_step_size: number 1" },
        { "iteration", 0, &minus, "iteration -1" },
        { "iteration", 0, &many, "numbers that go together" },
        { "iteration.good", 0, &later, "good iteration 13" },
        { "optimiser.updates", 0, &later, "13 updates" },
        { "buffer.codes", 20, &code, "buffer.codes: 2 is no code of variable 2" },
        { "buffer.codes", 0, &minus_code, "buffer.codes: -1 is no code of variable 0" },
        { "sampler.scale", 2, &nan, "scale: number 3" },
    };
    sal_data data = some_data();
    sal_train_options o = usual("ncg:preconditioner=diagonal");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        remove(temp_path("checkpoint.json"));
        save_one(&data, o);
        change_array(cases[k].array, cases[k].at, cases[k].value);
        refused(&data, o, SAL_ERR_DATA, cases[k].text);
        refused(&data, o, SAL_ERR_DATA, "checkpoint-a.safetensors: ");
    }
    sal_data_destroy(&data);
}
END_TEST

/* Chains are read from a whole checkpoint; a directory without one has none. */
START_TEST(chains_of_a_damaged_checkpoint_are_refused)
{
    static const struct {
        const char *json, *text;
    } cases[] = { { "{", "checkpoint.json: expected a checkpoint" },
                  { "{}", "checkpoint.json: expected a checkpoint" },
                  { "{\"arrays\": \"../x.safetensors\"}",
                    "checkpoint.json: expected a checkpoint" },
                  { "{\"arrays\": \"x.safetensors\"}", "x.safetensors, is not there" } };
    sal_data chains = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_checkpoint_chains(temp_dir, 4, &chains, &err), &err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        temp_write("checkpoint.json", cases[k].json, strlen(cases[k].json));
        ck_fails(sali_checkpoint_chains(temp_dir, 4, &chains, &err), SAL_ERR_DATA, &err,
                 cases[k].text);
    }
    ck_assert(chains.rows == 0 && !chains.codes);
}
END_TEST

/* Both files, cut anywhere, and other texts for the JSON. */
START_TEST(damaged_files_are_refused)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        "{\"saltus_checkpoint\": 2}",
        "{\"saltus_checkpoint\": 3, \"arrays\": \"checkpoint-a.safetensors\", \"options\": {}}",
        "{\"saltus_checkpoint\": 2, \"arrays\": \"../x.safetensors\", \"options\": {}}",
        "{\"saltus_checkpoint\": 2, \"arrays\": 7, \"options\": {}}",
        "{\"saltus_checkpoint\": 2, \"arrays\": \"checkpoint-a.safetensors\", \"options\": []}",
    };
    sal_error err;
    sali_bytes json, arrays;
    lines l = { 0 };
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    save_one(&data, o);
    ck_ok(sali_file_read(temp_path("checkpoint.json"), &json, &err), &err);
    ck_ok(sali_file_read(temp_path("checkpoint-a.safetensors"), &arrays, &err), &err);
    training t = begin(&data, o, specification, &l), untouched = begin(&data, o, specification, &l);
    for (int64_t size = 0; size < arrays.size; size += size < 1200 ? 1 : 37) {
        temp_write("checkpoint-a.safetensors", arrays.data, (size_t)size);
        ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err, "-a.safetensors");
    }
    /* One bit of each byte of the numbers, each of which would be another training. */
    uint64_t header;
    memcpy(&header, arrays.data, sizeof header);
    for (int64_t at = 8 + (int64_t)le64toh(header); at < arrays.size; at++) {
        char *byte = (char *)arrays.data + at;
        *byte = (char)(*byte ^ 1 << at % 8);
        temp_write("checkpoint-a.safetensors", arrays.data, (size_t)arrays.size);
        *byte = (char)(*byte ^ 1 << at % 8);
        ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err,
                 "checkpoint-a.safetensors: the file is damaged");
    }
    remove(temp_path("checkpoint-a.safetensors"));
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err, "cannot be opened");
    temp_write("checkpoint-a.safetensors", arrays.data, (size_t)arrays.size);
    for (int64_t size = 0; size < json.size - 1; size++) {
        temp_write("checkpoint.json", json.data, (size_t)size);
        ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err,
                 "checkpoint.json: expected a checkpoint");
    }
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        temp_write("checkpoint.json", texts[k], strlen(texts[k]));
        ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err,
                 "expected a checkpoint");
    }
    const char old[] =
        "{\"saltus_checkpoint\": 1, \"arrays\": \"checkpoint-a.safetensors\", \"options\": {}}";
    temp_write("checkpoint.json", old, sizeof old - 1);
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err,
             "a checkpoint of version 0.1.0; this program reads those of 0.2.0");
    const char bare[] =
        "{\"saltus_checkpoint\": 2, \"arrays\": \"checkpoint-a.safetensors\", \"options\": {}}";
    temp_write("checkpoint.json", bare, sizeof bare - 1);
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_DATA, &err, "batch (none)");
    same_state("damaged", t.trainer, untouched.trainer);
    ck_ok(sal_trainer_save(t.trainer, temp_dir, &err), &err); /* over what is damaged */
    ck_ok(sal_trainer_load(t.trainer, temp_dir, &err), &err);
    end(&t);
    end(&untouched);
    sali_bytes_free(&json);
    sali_bytes_free(&arrays);
    sal_data_destroy(&data);
}
END_TEST

/* A bit of each byte of the JSON: refused, or the same training, as it was white space. */
START_TEST(damage_of_the_json_is_noticed)
{
    sal_error err;
    sali_bytes json;
    lines l = { 0 };
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    save_one(&data, o);
    ck_ok(sali_file_read(temp_path("checkpoint.json"), &json, &err), &err);
    training t = begin(&data, o, specification, &l), whole = begin(&data, o, specification, &l);
    ck_ok(sal_trainer_load(whole.trainer, temp_dir, &err), &err);
    int64_t refused = 0;
    for (int64_t at = 0; at < json.size; at++) {
        char *byte = (char *)json.data + at;
        *byte = (char)(*byte ^ 1 << at % 7);
        temp_write("checkpoint.json", json.data, (size_t)json.size);
        *byte = (char)(*byte ^ 1 << at % 7);
        sal_status status = sal_trainer_load(t.trainer, temp_dir, &err);
        if (status == SAL_OK) {
            same_state("damaged JSON", t.trainer, whole.trainer);
        } else {
            ck_assert_int_eq(status, SAL_ERR_DATA);
            ck_assert_ptr_nonnull(strstr(err.message, "checkpoint.json: "));
            refused++;
        }
    }
    ck_assert_int_gt(refused, json.size / 2);
    end(&t);
    end(&whole);
    sali_bytes_free(&json);
    sal_data_destroy(&data);
}
END_TEST

/* Arrays that are too many, or of another sampler's. */
START_TEST(arrays_are_neither_missing_nor_left_over)
{
    sal_error err;
    sali_safetensors *file = NULL;
    sali_tensor tensors[64];
    char path[512];
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    save_one(&data, o);
    snprintf(path, sizeof path, "%s", temp_path("checkpoint-a.safetensors"));
    ck_ok(sali_safetensors_open(path, &file, &err), &err);
    int64_t n = sali_safetensors_count(file);
    for (int64_t k = 0; k < n; k++) {
        tensors[k] = *sali_safetensors_at(file, k);
    }
    tensors[n] = tensors[0];
    tensors[n].name = "sampler.more";
    ck_ok(sali_safetensors_write(path, tensors, n + 1, &err), &err);
    refused(&data, o, SAL_ERR_DATA, "arrays; expected");
    ck_ok(sali_safetensors_write(path, tensors + 1, n - 1, &err), &err);
    refused(&data, o, SAL_ERR_DATA, "expected an array");
    sali_safetensors_close(file);
    sal_data_destroy(&data);
}
END_TEST

/* ---- directories */

START_TEST(directories_must_be_there_and_writable)
{
    sal_error err;
    lines l = { 0 };
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    sal_model *model = new_model(specification, &data, SAL_F32);
    o.checkpoint.directory = temp_path("none");
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_IO, &err, "none: No such file");
    o.checkpoint.directory = temp_write("file", "x", 1);
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_IO, &err, "expected a directory");
    o.checkpoint.directory = NULL;
    o.checkpoint.resume = true;
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "resume needs");
    o.checkpoint.resume = false;
    training t = begin(&data, o, specification, &l);
    ck_fails(sal_trainer_save(t.trainer, temp_path("none"), &err), SAL_ERR_IO, &err, "none/");
    ck_fails(sal_trainer_save(t.trainer, temp_path("file"), &err), SAL_ERR_IO, &err, "file/");
    ck_ok(sal_trainer_load(t.trainer, temp_dir, &err), &err); /* nothing there: nothing happens */
    ck_assert_int_eq(mkdir(temp_path("checkpoint.json"), 0777), 0);
    ck_fails(sal_trainer_load(t.trainer, temp_dir, &err), SAL_ERR_IO, &err, "is a directory");
    ck_fails(sal_trainer_save(t.trainer, temp_dir, &err), SAL_ERR_IO, &err, "is a directory");
    rmdir(temp_path("checkpoint.json"));
    ck_assert_int_eq(mkdir(temp_path("checkpoint-a.safetensors"), 0777), 0);
    ck_fails(sal_trainer_save(t.trainer, temp_dir, &err), SAL_ERR_IO, &err, "is a directory");
    rmdir(temp_path("checkpoint-a.safetensors"));
    char deep[5000];
    memset(deep, 'd', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    ck_fails(sal_trainer_save(t.trainer, deep, &err), SAL_ERR_ARGUMENT, &err, "too long");
    end(&t);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

/* A save that fails leaves the checkpoint of before. */
START_TEST(what_cannot_be_saved_leaves_the_last_checkpoint)
{
    sal_error err;
    lines l = { 0 };
    sal_data data = some_data();
    sal_train_options o = usual("gwg");
    training t = begin(&data, o, specification, &l);
    ck_ok(sal_trainer_run(t.trainer, 5, &err), &err);
    ck_ok(sal_trainer_save(t.trainer, temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t.trainer, 5, &err), &err);
    ck_assert_int_eq(mkdir(temp_path("checkpoint-b.safetensors"), 0777), 0);
    ck_fails(sal_trainer_save(t.trainer, temp_dir, &err), SAL_ERR_IO, &err, "is a directory");
    rmdir(temp_path("checkpoint-b.safetensors"));
    ck_assert_int_eq(mkdir(temp_path("checkpoint.json.tmp"), 0777), 0);
    ck_fails(sal_trainer_save(t.trainer, temp_dir, &err), SAL_ERR_IO, &err, "json.tmp");
    rmdir(temp_path("checkpoint.json.tmp"));
    ck_ok(sal_trainer_load(t.trainer, temp_dir, &err), &err);
    ck_assert_int_eq(t.trainer->iteration, 5);
    end(&t);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    static const char *const samplers[] = { "pavg", "ncg:preconditioner=diagonal", "r-mala" };
    sal_error err;
    sal_data data = some_data();
    sal_model *model = new_model(specification, &data, SAL_F32);
    sal_train_options o = usual(samplers[_i]);
    sal_trainer *t = NULL;
    o.optimiser.weight_decay = 0.1;
    o.fixed = "b";
    o.checkpoint.directory = temp_dir;
    ck_alloc_sweep(sal_trainer_create(model, &data, &o, &t, &err), sal_trainer_destroy(t));
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 12, &err), &err);
    ck_alloc_sweep(sal_trainer_save(t, temp_dir, &err), (void)0);
    ck_alloc_sweep(sal_trainer_load(t, temp_dir, &err), (void)0);
    o.sampler = "gwg";
    sal_trainer *other = NULL;
    ck_ok(sal_trainer_create(model, &data, &o, &other, &err), &err);
    ck_alloc_sweep(sal_trainer_load(other, temp_dir, &err), (void)0);
    sal_trainer_destroy(other);
    ck_ok(sal_trainer_run(t, 12, &err), &err);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    sal_data_destroy(&data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tcase = tcase_create("checkpoint");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(tcase, every_sampler_goes_on_with_the_same_bits, 0, N_STOPS);
    tcase_add_loop_test(tcase, every_objective_and_optimiser_goes_on_with_the_same_bits, 0,
                        N_STOPS);
    tcase_add_test(tcase, resume_takes_up_what_is_there);
    tcase_add_test(tcase, other_trainings_are_refused);
    tcase_add_test(tcase, rate_steps_and_sampler_may_change);
    tcase_add_test(tcase, other_models_are_refused);
    tcase_add_test(tcase, impossible_numbers_are_refused);
    tcase_add_test(tcase, damaged_files_are_refused);
    tcase_add_test(tcase, damage_of_the_json_is_noticed);
    tcase_add_test(tcase, chains_of_a_damaged_checkpoint_are_refused);
    tcase_add_test(tcase, arrays_are_neither_missing_nor_left_over);
    tcase_add_test(tcase, directories_must_be_there_and_writable);
    tcase_add_test(tcase, what_cannot_be_saved_leaves_the_last_checkpoint);
    tcase_add_loop_test(tcase, every_failed_allocation_is_reported, 0, 3);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
