/* SPDX-License-Identifier: MIT */
/* States that cannot be, step sizes that go on, and what training asks of single samplers. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/program.h>
#include "models/tape_model.h"
#include "samplers/langevin/preconditioner.h"
#include "small_training.h"

enum { STEPS = 35 };

static sal_model *ready_made(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

static void go_on(training *t, int64_t windows)
{
    for (int64_t w = 0; w < windows; w++) {
        training_move(t, STEPS);
        training_learn(t, STEPS);
    }
}

/* ---- hostile states */

/* Values of a type that hardly any item can have, and some that do no harm. */
static bool put_odd_value(const sali_state_item *item, int64_t at, int k)
{
    static const double reals[] = { NAN, INFINITY, -INFINITY, -1, 1e300, 0, 0.5, 1e7 };
    static const int64_t whole[] = { INT64_MIN, INT64_MAX, -1, 1000000, 3, 2, 0 };
    static const int32_t small[] = { INT32_MIN, INT32_MAX, -1, 7 };
    switch (item->type) {
    case SALI_DTYPE_F64:
        ((double *)item->data)[at] = reals[k % 8];
        return k < 8;
    case SALI_DTYPE_I32:
        ((int32_t *)item->data)[at] = small[k % 4];
        return k < 4;
    case SALI_DTYPE_I64:
        ((int64_t *)item->data)[at] = whole[k % 7];
        return k < 7;
    default:
        return false;
    }
}

/* It is refused, with a message, or it can be used. */
static void try_state(training *from, const contract_case *k, const struct sal_run_state *own)
{
    training t = training_open(k->sampler, k->model, &k->settings);
    sal_error err = { 0 };
    memcpy(t.buffer, from->buffer, sizeof t.buffer);
    t.done = from->done;
    sal_status status = kept_restore(own, &t, &err);
    ck_assert_msg(status == SAL_OK || status == SAL_ERR_DATA, "%s: %s", k->where, err.message);
    ck_assert_msg(status == SAL_OK || strlen(err.message) > 0, "%s", k->where);
    if (status == SAL_OK) {
        training_move(&t, 3);
        training_learn(&t, 3);
    }
    training_close(&t);
}

static void try_odd_values(training *from, const contract_case *k)
{
    struct sal_run_state own = keep_sampler(from);
    for (int64_t i = 0; i < own.n; i++) {
        sali_state_item *item = &own.items[i];
        size_t bytes = (size_t)item->count * sali_state_bytes(item->type);
        void *good = malloc(bytes);
        memcpy(good, item->data, bytes);
        for (int odd = 0; put_odd_value(item, odd % 2 ? item->count - 1 : 0, odd); odd++) {
            try_state(from, k, &own);
            memcpy(item->data, good, bytes);
        }
        free(good);
    }
    sali_run_state_clear(&own);
}

static void check_hostile(const contract_case *k)
{
    training from = training_open(k->sampler, k->model, &k->settings);
    for (int stage = 0; sali_engine(k->sampler)->state && stage < 2; stage++) {
        go_on(&from, stage ? 4 : 1); /* PAVG ignores steps, then collects */
        try_odd_values(&from, k);
    }
    training_close(&from);
}

START_TEST(hostile_states_are_refused_or_harmless)
{
    static const char *const spaces[] = { "mixed", "spin", "count" };
    for (int s = 0; s < 3; s++) {
        sal_space *space = tiny_space_make(tiny_space_named(spaces[s]));
        sal_model *model = tiny_formula(space, SAL_F64);
        for_every_sampler(model, model, spaces[s], check_hostile);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* A value of a state of a sampler that must be refused, and what is said of it. */
static const struct {
    const char *sampler, *item;
    double value;
    const char *message;
} bad[] = {
    { "gibbs:scan=adaptive", "scan", -0.1, "scan: number 1 is -0.1" },
    { "gibbs:scan=adaptive", "scan", 0.7, "scan: probabilities add up to" },
    { "gibbs:scan=adaptive", "visits", 0, "visits: number 1 is 0; expected 1 to" },
    { "gibbs:scan=adaptive", "steps", -1, "steps: number 1 is -1; expected 0 to 4" },
    { "pas", "length", 2.5, "length: number 1 is 2.5; expected a whole number from 1 to 4" },
    { "pafs", "running", NAN, "running: number 1 is nan; expected 1 to 4" },
    { "mh-uniform", "radius", 5, "radius: number 1 is 5; expected a whole number from 1 to 4" },
    { "mh-uniform", "log_radius", -2, "log_radius: number 1 is -2" },
    { "mh-uniform:radius=search", "radius", 5, "expected a whole number from 1 to 4" },
    { "mh-uniform:radius=search", "candidates", 3, "candidates is 3; expected" },
    { "gwg:radius=search", "stage", 4, "stage: number 1 is 4; expected 0 to 3" },
    { "gwg:radius=search", "jump", -1, "jump: number 1 is -1" },
    { "gwg:hops=adapt", "hops", 2.5, "hops: number 1 is 2.5; expected a whole number from 1 to 4" },
    { "ncg:cycle=3", "beta", 0.4, "beta: number 1 is 0.4; expected 0.5 to 1" },
    { "ncg:cycle=3", "candidates", 3, "candidates is 3; expected" },
    { "ncg:preconditioner=diagonal", "scale", 0, "scale: number 1 is 0" },
    { "ncg:preconditioner=diagonal", "windows", -5, "windows: number 1 is -5" },
    { "lsb1", "theta", INFINITY, "theta: number 1 is inf" },
    { "lsb2", "moment2", -1, "moment2: number 1 is -1; expected 0 to" },
    { "pavg:preconditioner=empirical", "gamma", NAN, "gamma: number 1 is nan" },
    { "pavg:preconditioner=empirical", "phase", 6, "phase: number 1 is 6; expected 0 to 5" },
    { "pavg:preconditioner=empirical", "progress", 1e6, "progress: number 1 is 1000000" },
    { "pavg:preconditioner=empirical", "end", 1e9, "end: number 1 is 1000000000" },
    { "pavg:preconditioner=empirical", "from", 2, "from: 2 is no code of variable 0" },
    { "pavg:preconditioner=empirical", "to", -1, "to: -1 is no code of variable 0" },
};

static void put(const sali_state_item *item, double value)
{
    if (item->type == SALI_DTYPE_F64) {
        *(double *)item->data = value;
    } else if (item->type == SALI_DTYPE_I32) {
        *(int32_t *)item->data = (int32_t)value;
    } else {
        *(int64_t *)item->data = (int64_t)value;
    }
}

START_TEST(bad_values_are_named)
{
    const int i = _i;
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *model = tiny_formula(space, SAL_F64);
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err = { 0 };
    ck_ok(sali_sampler_choose(bad[i].sampler, model, 0, &sampler, &settings, &err), &err);
    training from = training_open(sampler, model, &settings);
    go_on(&from, 5);
    training to = training_open(sampler, model, &settings);
    struct sal_run_state own = keep_sampler(&from);
    bool there = false;
    for (int64_t k = 0; k < own.n; k++) {
        if (strcmp(own.items[k].name, bad[i].item) == 0) {
            put(&own.items[k], bad[i].value);
            there = true;
        }
    }
    ck_assert_msg(there, "%s has no %s", bad[i].sampler, bad[i].item);
    ck_assert_int_eq(kept_restore(&own, &to, &err), SAL_ERR_DATA);
    ck_assert_msg(strstr(err.message, bad[i].message) != NULL, "'%s', expected '%s'", err.message,
                  bad[i].message);
    sali_run_state_clear(&own);
    training_close(&from);
    training_close(&to);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* What the file has not is said by the file. */
START_TEST(a_missing_item_is_an_error)
{
    sal_model *model = ready_made("ising:side=2,theta=0.3", SAL_F64);
    sali_sampler_settings settings;
    const sali_sampler *pas = NULL;
    sal_error err = { 0 };
    ck_ok(sali_sampler_choose("pas", model, 0, &pas, &settings, &err), &err);
    training t = training_open(pas, model, &settings);
    struct sal_run_state none = { 0 };
    ck_assert_int_eq(kept_restore(&none, &t, &err), SAL_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "expected an array 'length'"));
    training_close(&t);
    sal_model_destroy(model);
}
END_TEST

/* ---- step sizes */

/* Groups of two temperatures in two shards; jumps and acceptances that depend on the step size. */
static void pretend(sali_chains *const *chains, int64_t done)
{
    for (int k = 0; k < SHARDS; k++) {
        for (int64_t c = 0; c < chains[k]->n; c++) {
            double eps = chains[k]->step_size[c], wave = sin((double)(done + 3 * c));
            chains[k]->acceptance_sum[c] = 10 / (1 + eps) + 0.1 * wave;
            chains[k]->jump_sum[c] =
                10 * eps / (1 + (c % 2 ? 2 : 1) * eps * eps) + 0.01 * (1 + wave);
        }
    }
}

static void restore_step_sizes(sali_step_sizes *from, sali_step_sizes *to, int64_t done)
{
    sali_state_item items[SALI_MOST_STATE];
    int64_t n = sali_step_sizes_state(from, items);
    struct sal_run_state k = keep(n, items);
    sali_run_state_reader reader = { .state = &k, .prefix = "" };
    sal_error err;
    n = sali_step_sizes_state(to, items);
    ck_ok(sali_run_state_fill(&reader, n, items, &err), &err);
    ck_ok(sali_step_sizes_restored(to, SAL_F64, done, SALI_WARMUP_ENDLESS, &err), &err);
    sali_run_state_clear(&k);
}

static void same_doubles(int64_t n, const double *a, const double *b, const char *what,
                         int64_t done)
{
    ck_assert_msg(memcmp(a, b, (size_t)n * sizeof *a) == 0, "after %d steps: %s", (int)done, what);
}

/* A search, and in every window another one made of its state; the chains keep their own sizes. */
START_TEST(a_search_for_step_sizes_goes_on)
{
    static const int64_t total = 200;
    sal_model *model = ready_made("ising:side=2,theta=0.3", SAL_F64);
    sali_chains *chains[2][SHARDS];
    sali_step_sizes s[2];
    sali_memory memory = { 0 };
    sal_error err;
    for (int k = 0; k < 2 * SHARDS; k++) {
        ck_ok(sali_chains_create(model, k % 2 ? 4 : 6, 0, 1, &chains[k / 2][k % 2], &err), &err);
        for (uint32_t c = 0; c < (k % 2 ? 4 : 6); c++) {
            chains[k / 2][k % 2]->id[c] = (k % 2 ? 6 : 0) + c;
        }
    }
    ck_ok(sali_step_sizes_create(&s[0], &memory, model->space, 2, SAL_STEP_SIZE_SEARCH, 1, NULL,
                                 &err),
          &err);
    sali_step_sizes_set(&s[0], SHARDS, chains[0]);
    for (int64_t done = 0, window; done < total; done += window) {
        ck_ok(sali_step_sizes_create(&s[1], &memory, model->space, 2, SAL_STEP_SIZE_SEARCH, 1, NULL,
                                     &err),
              &err);
        restore_step_sizes(&s[0], &s[1], done);
        window = sali_step_sizes_window(&s[0], done, total, 25);
        ck_assert_int_eq(sali_step_sizes_window(&s[1], done, total, 25), window);
        for (int k = 0; k < SHARDS; k++) {
            memcpy(chains[1][k]->step_size, chains[0][k]->step_size,
                   (size_t)chains[0][k]->n * sizeof(double));
        }
        for (int i = 0; i < 2; i++) {
            pretend(chains[i], done);
            sali_step_sizes_learn(&s[i], SHARDS, chains[i], window, done + window, total);
        }
        same_doubles(2, s[0].value, s[1].value, "values", done);
        same_doubles(6, chains[0][0]->step_size, chains[1][0]->step_size, "step sizes", done);
        same_doubles(4, chains[0][1]->step_size, chains[1][1]->step_size, "step sizes", done);
    }
    ck_assert(s[0].search.begin > 0 && s[0].search.candidates == 0 &&
              s[0].value[0] != s[0].value[1]);
    for (int k = 0; k < 2 * SHARDS; k++) {
        sali_chains_destroy(chains[k / 2][k % 2]);
    }
    sali_memory_free(&memory);
    sal_model_destroy(model);
}
END_TEST

static const struct {
    const char *item;
    double value;
    const char *message;
} bad_sizes[] = {
    { "windows", -1, "windows: number 1 is -1" },
    { "log_step", NAN, "log_step: number 1 is nan" },
    { "value", 0, "value: a step size is 0" },
    { "value", NAN, "value" },
    { "jump", -1, "jump: number 1 is -1" },
    { "begin", 101, "begin: number 1 is 101; expected 0 to 100" },
    { "length", 0, "candidates is 5; expected 0, 5 or 9" },
    { "candidates", 10, "candidates is 10; expected 0, 5 or 9" },
};

/* A search in its first stage, 100 steps of 200 done. */
START_TEST(bad_step_sizes_are_refused)
{
    sal_model *model = ready_made("ising:side=2,theta=0.3", SAL_F64);
    sali_state_item items[SALI_MOST_STATE];
    sali_step_sizes s;
    sali_memory memory = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_step_sizes_create(&s, &memory, model->space, 2, SAL_STEP_SIZE_SEARCH, 1, NULL, &err),
          &err);
    s.search.begin = 50;
    s.search.length = 10;
    s.search.candidates = SALI_MAGNITUDES;
    ck_ok(sali_step_sizes_restored(&s, SAL_F64, 100, SALI_WARMUP_ENDLESS, &err), &err);
    for (int64_t k = 0, n = sali_step_sizes_state(&s, items); k < n; k++) {
        if (strcmp(items[k].name, bad_sizes[_i].item) == 0) {
            put(&items[k], bad_sizes[_i].value);
        }
    }
    sal_status status = sali_state_check_all(sali_step_sizes_state(&s, items), items, &err);
    status =
        status ? status : sali_step_sizes_restored(&s, SAL_F64, 100, SALI_WARMUP_ENDLESS, &err);
    ck_assert_int_eq(status, SAL_ERR_DATA);
    ck_assert_msg(strstr(err.message, bad_sizes[_i].message) != NULL, "%s", err.message);
    sali_memory_free(&memory);
    sal_model_destroy(model);
}
END_TEST

/* ---- PAVG in training */

static void add_noise(const sal_model *model, uint64_t k, double scale)
{
    sali_tape_model *tape = sali_model_tape((sal_model *)model);
    double values[512], noise[512];
    int64_t n = tape->program->parameters_size;
    ck_assert_int_le(n, 512);
    tiny_normals(700 + k, n, scale, noise);
    sali_params_get(tape->params, values);
    for (int64_t i = 0; i < n; i++) {
        values[i] += noise[i];
    }
    sali_params_set(tape->params, values);
}

static training open_training(const char *specification, const sal_model *model, const double *M)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 0, &sampler, &settings, &err), &err);
    settings.preconditioner = M;
    return training_open(sampler, model, &settings);
}

/* With the Hessian of f as it is, PAVG is block Gibbs: nothing is ever rejected. */
START_TEST(model_specific_pavg_follows_the_model)
{
    sal_model *model = ready_made("ising:side=3,theta=0.3,bias=0.2", SAL_F64);
    training t = open_training("pavg", model, NULL);
    for (uint64_t w = 0; w < 12; w++) {
        training_move(&t, 20);
        for (int k = 0; k < SHARDS; k++) {
            for (int64_t c = 0; c < t.chains[k]->n; c++) {
                ck_assert_double_eq_tol(t.chains[k]->acceptance_sum[c], 20, 1e-8);
            }
            sali_chains_take_sums(t.chains[k]);
        }
        add_noise(model, w, 0.2);
    }
    training_close(&t);
    sal_model_destroy(model);
}
END_TEST

/* With a given matrix gamma moves from the first block of 100 steps on, and never stops. */
START_TEST(gamma_of_a_given_matrix_moves_as_long_as_training_goes_on)
{
    double M[81] = { 0 }, before = 1;
    sal_model *model = ready_made("ising:side=3,theta=0.3,bias=0.2", SAL_F64);
    for (int i = 0; i < 9; i++) {
        M[10 * i] = 0.4;
        M[9 * i + (i + 1) % 9] = M[(i + 1) % 9 * 9 + i] = 0.1;
    }
    training t = open_training("pavg", model, M);
    const sali_preconditioner *p = t.shared;
    for (int block = 0; block < 40; block++) {
        for (int w = 0; w < 10; w++) {
            ck_assert_double_eq(p->gamma, before);
            training_move(&t, 10);
            training_learn(&t, 10);
        }
        ck_assert_double_ne(p->gamma, before);
        ck_assert_double_lt(fabs(p->gamma - before), 0.26 * (1 + fabs(before)));
        before = p->gamma;
    }
    training_close(&t);
    sal_model_destroy(model);
}
END_TEST

/* ---- shards that refresh at the same time */

enum { MANY = 8, SIDE = 6, WIDE = SIDE * SIDE };

typedef struct crowd {
    const sali_sampler *sampler;
    sali_chains *chains[MANY];
    void *shared, *selves[MANY];
} crowd;

static void crowd_work(void *context, int64_t k)
{
    crowd *w = context;
    sali_engine(w->sampler)->refresh(w->selves[k], w->chains[k]);
    sali_sampler_steps(w->sampler, w->selves[k], w->chains[k], 10);
}

/* The codes after some rounds of new parameters and steps. */
static void run_crowd(const char *specification, int threads, int32_t *codes)
{
    sal_model *model = ready_made("ising:side=6,theta=0.2,bias=0.2", SAL_F64);
    crowd w = { 0 };
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 0, &w.sampler, &settings, &err), &err);
    ck_ok(sali_sampler_share(w.sampler, model, &settings, &w.shared, &err), &err);
    for (int k = 0; k < MANY; k++) {
        ck_ok(sali_chains_create(model, 3, sali_sampler_wants(w.sampler), 5, &w.chains[k], &err),
              &err);
        ck_ok(sali_sampler_open(w.sampler, &settings, w.shared, w.chains[k], &w.selves[k], &err),
              &err);
        for (uint32_t c = 0; c < 3; c++) {
            w.chains[k]->id[c] = 3 * (uint32_t)k + c;
        }
        sali_chains_embed(w.chains[k]);
    }
    for (uint64_t round = 0; round < 10; round++) {
        sal_threads_run(MANY, threads, crowd_work, &w);
        add_noise(model, round, 0.1);
    }
    for (int k = 0; k < MANY; k++) {
        memcpy(codes + k * 3 * WIDE, w.chains[k]->codes, 3 * WIDE * sizeof *codes);
        sali_engine(w.sampler)->destroy(w.selves[k]);
        sali_chains_destroy(w.chains[k]);
    }
    sali_sampler_unshare(w.sampler, w.shared);
    sal_model_destroy(model);
}

START_TEST(shards_may_refresh_at_the_same_time)
{
    static const char *const samplers[] = { "pavg", "gwg:hops=2", "gwg", "gibbs" };
    static int32_t one[3 * MANY * WIDE], four[3 * MANY * WIDE];
    run_crowd(samplers[_i], 1, one);
    for (int i = 0; i < 3; i++) {
        run_crowd(samplers[_i], 4, four);
        ck_assert_int_eq(memcmp(one, four, sizeof one), 0);
    }
}
END_TEST

/* ---- models that become pairwise or quadratic only by their parameters */

/* A table with a forbidden entry, which a change of parameters allows. */
static sal_model *forbidding(double entry)
{
    static const int64_t begin[] = { 0, 2, 4, 6 }, scope[] = { 0, 1, 1, 2, 2, 3 };
    double T[12];
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr table = sal_param(tape, "T", SAL_SHAPE(12));
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_table(tape, table, 3, begin, scope), &model, &err), &err);
    tiny_normals(31, 12, 0.8, T);
    T[7] = entry;
    ck_ok(sal_model_set_params(model, "T", T, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(samplers_find_out_what_a_model_has_become)
{
    static const char *const samplers[] = { "gibbs", "lb", "gwg", "gwg:hops=2", "mh-uniform" };
    sal_model *model = forbidding(-INFINITY);
    double T[12];
    sal_error err;
    training used = open_training(samplers[_i], model, NULL);
    training_move(&used, STEPS);
    for (int k = 0; k < SHARDS; k++) {
        sali_chains_take_sums(used.chains[k]);
    }
    tiny_normals(31, 12, 0.8, T);
    ck_ok(sal_model_set_params(model, "T", T, &err), &err);
    training fresh = open_training(samplers[_i], model, NULL);
    memcpy(fresh.buffer, used.buffer, sizeof fresh.buffer);
    memcpy(fresh.life, used.life, sizeof fresh.life);
    fresh.windows = used.windows = 2; /* chains in step, which scans need */
    fresh.done = used.done = 2 * STEPS;
    training_move(&used, STEPS);
    training_move(&fresh, STEPS);
    for (int k = 0; k < SHARDS; k++) {
        size_t doubles = (size_t)used.chains[k]->n * sizeof(double);
        ck_assert_int_eq(memcmp(used.buffer, fresh.buffer, sizeof used.buffer), 0);
        ck_assert_int_eq(memcmp(used.chains[k]->f, fresh.chains[k]->f, doubles), 0);
        ck_assert_int_eq(
            memcmp(used.chains[k]->acceptance_sum, fresh.chains[k]->acceptance_sum, doubles), 0);
    }
    training_close(&used);
    training_close(&fresh);
    sal_model_destroy(model);
}
END_TEST

static Suite *restore_suite(void)
{
    Suite *suite = suite_create("sampler_restore");
    TCase *tcase = tcase_create("restore");
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, hostile_states_are_refused_or_harmless);
    tcase_add_loop_test(tcase, bad_values_are_named, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tcase, a_missing_item_is_an_error);
    tcase_add_test(tcase, a_search_for_step_sizes_goes_on);
    tcase_add_loop_test(tcase, bad_step_sizes_are_refused, 0, sizeof bad_sizes / sizeof *bad_sizes);
    tcase_add_test(tcase, model_specific_pavg_follows_the_model);
    tcase_add_test(tcase, gamma_of_a_given_matrix_moves_as_long_as_training_goes_on);
    tcase_add_loop_test(tcase, shards_may_refresh_at_the_same_time, 0, 4);
    tcase_add_loop_test(tcase, samplers_find_out_what_a_model_has_become, 0, 5);
    return suite;
}

int main(void)
{
    return test_main(restore_suite());
}
