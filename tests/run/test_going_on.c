/* SPDX-License-Identifier: MIT */
/* Chains that go on (saltus/chains.h): the same bits as a run, in any pieces and from any state;
 * and what the caller sets between steps. */
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/chains.h>
#include <saltus/io.h>
#include "own_samplers.h"
#include "run_helpers.h"
#include "temp_dir.h"

static sal_model *opened(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

static sal_chains *created(sal_model *model, const sal_run_options *options, bool apart)
{
    sal_chains *chains = NULL;
    sal_error err;
    ck_ok(sal_chains_create(model, options, apart, &chains, &err), &err);
    return chains;
}

static void step(sal_chains *chains, int64_t n)
{
    sal_error err;
    ck_ok(sal_chains_step(chains, n, &err), &err);
}

static sal_chains_info described(const sal_chains *chains)
{
    sal_chains_info info;
    sal_chains_describe(chains, &info);
    return info;
}

/* ---- the same bits as a run */

enum { WARMUP = 107, DRAWS = 900, MOST_CHAINS = 64, MOST_CODES = 1024 };

/* Present codes and f are those of draw number `draw` of the run, bit by bit. */
static void same_as_draw(sal_chains *chains, const sal_run *run, int64_t draw, const char *where)
{
    const sal_chains_info info = described(chains);
    const int64_t V = info.variables;
    int32_t codes[MOST_CODES];
    double f[MOST_CHAINS];
    sal_error err;
    int width;
    const uint8_t *draws = sal_run_draws(run, &width);
    ck_assert_int_eq(width, 1);
    ck_assert(info.chains <= MOST_CHAINS && info.chains * V <= MOST_CODES);
    sal_chains_codes(chains, codes);
    ck_ok(sal_chains_log_prob(chains, f, &err), &err);
    for (int64_t c = 0; c < info.chains; c++) {
        const int64_t row = c * run->draws_made + draw;
        /* a step between shards, at which f is computed anew, comes after the draw */
        const double was = sal_run_log_probs(run)[row], d = sali_run_has_seams(run) ? 1e-12 : 0;
        ck_assert_msg(fabs(f[c] - was) <= d * fabs(was), "%s, draw %d: f is %.17g, not %.17g",
                      where, (int)draw, f[c], was);
        for (int64_t v = 0; v < V; v++) {
            ck_assert_msg(codes[c * V + v] == draws[row * V + v], "%s, draw %d", where, (int)draw);
        }
    }
}

/* Make the steps of a run in pieces of many sizes, and compare at the end of each. */
static void compare_with_run(sal_model *model, sal_run_options options, const char *where)
{
    static const int64_t pieces[] = { 1, 1, 3, 20, 1, 60, 7, 25, 256, 1, 255, 100, 13 };
    options.thin = 1;
    options.draws = DRAWS;
    options.record.draws = true;
    sal_run *run = run_it(model, &options);
    options.draws = options.thin = 0;
    options.record.draws = false;
    sal_chains *chains = created(model, &options, false);
    const int64_t warmup = run->options.warmup;
    int64_t made = 0;
    for (size_t k = 0; made + pieces[k % 13] <= warmup + DRAWS; k++) {
        step(chains, pieces[k % 13]);
        made += pieces[k % 13];
        ck_assert_int_eq(described(chains).steps, made);
        if (made > warmup) {
            same_as_draw(chains, run, made - warmup - 1, where);
        }
    }
    ck_assert_int_gt(made, warmup + 600);
    sal_chains_destroy(chains);
    sal_run_destroy(run);
}

START_TEST(each_sampler_has_the_bits_of_a_run)
{
    static const char *const models[] = { "ising:side=4,theta=0.3", "rbm:visible=9,hidden=5",
                                          "potts:side=3,states=3,theta=0.6" };
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        sal_model *model = opened(models[_i], SAL_F32);
        if (sal_sampler_find(info.name, model, 0, NULL, NULL) == SAL_OK) {
            const sal_run_options options = {
                .sampler = info.name, .chains = 3, .warmup = WARMUP, .seed = 5, .threads = 1
            };
            compare_with_run(model, options, info.name);
        }
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(options_have_the_bits_of_a_run)
{
    static const int64_t variables[] = { 3, 0 };
    static const int32_t codes[] = { 1, 0 };
    static const double temperatures[] = { 1, 1.7, 3 };
    int32_t init[3 * 16] = { 1, 0, 1 };
    const struct {
        const char *where;
        sal_run_options options;
    } cases[] = {
        { "tempering", { .tempering.replicas = 3, .warmup = 500 } },
        { "temperatures", { .tempering = { 3, temperatures, 4 } } },
        { "one chain over shards", { .tempering.replicas = 4, .chains = 1, .warmup = 300 } },
        { "no warm-up", { .sampler = "ncg", .warmup = -1 } },
        { "a step size", { .sampler = "ncg", .step_size = 0.7 } },
        { "a search for one",
          { .sampler = "dlmc", .step_size_rule = SAL_STEP_SIZE_SEARCH, .warmup = 800 } },
        { "clamped", { .clamps = { 2, variables, codes } } },
        { "starts", { .init = init } },
        { "twice as many chains as fit a shard", { .chains = 64, .warmup = 30 } },
    };
    sal_model *model = opened("ising:side=4,theta=0.35", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_run_options options = cases[k].options;
        options.chains = options.chains ? options.chains : 3;
        options.warmup = options.warmup ? options.warmup : WARMUP;
        compare_with_run(model, options, cases[k].where);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- saving */

/* Both must have the same states and f, now and for some steps. */
static void go_on_alike(sal_chains *a, sal_chains *b, const char *where)
{
    const int64_t n = described(a).chains * described(a).variables;
    int32_t one[1024], other[1024];
    double f[16], g[16];
    sal_error err;
    ck_assert_int_eq(described(b).steps, described(a).steps);
    ck_assert_int_eq(described(b).adapting, described(a).adapting);
    for (int k = 0; k < 9; k++) {
        sal_chains_codes(a, one);
        sal_chains_codes(b, other);
        ck_ok(sal_chains_log_prob(a, f, &err), &err);
        ck_ok(sal_chains_log_prob(b, g, &err), &err);
        ck_assert_msg(memcmp(one, other, (size_t)n * sizeof *one) == 0, "%s: %d", where, k);
        ck_assert_msg(memcmp(f, g, (size_t)described(a).chains * sizeof *f) == 0, "%s: f", where);
        step(a, 1 + 13 * k);
        step(b, 1 + 13 * k);
    }
}

/* Chains from the state of others, by way of a file or not. */
static sal_chains *from_state_of(sal_chains *chains, sal_model *model, const char *path,
                                 const sal_sampler_descriptor *const *own)
{
    const sal_run_state *state;
    sal_run_state *read = NULL;
    sal_run_options options;
    sal_error err;
    ck_ok(sal_chains_state(chains, &state, &err), &err);
    if (path) {
        ck_ok(sal_run_state_save(state, path, &err), &err);
        ck_ok(sal_run_state_open(path, &read, &err), &err);
        state = read;
    }
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    options.own_samplers = own;
    sal_chains *made = created(model, &options, false);
    sal_run_state_destroy(read);
    return made;
}

START_TEST(saved_chains_have_the_same_bits)
{
    static const int64_t at[] = { 60, WARMUP, 700 };
    const char *path = temp_path("state.safetensors");
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        sal_model *model = opened("ising:side=4,theta=0.3", SAL_F32);
        if (sal_sampler_find(info.name, model, 0, NULL, NULL) == SAL_OK) {
            const sal_run_options options = {
                .sampler = info.name, .chains = 3, .warmup = WARMUP, .threads = 1
            };
            sal_chains *a = created(model, &options, false),
                       *whole = created(model, &options, false);
            step(a, at[_i]);
            step(whole, at[_i]);
            sal_chains *b = from_state_of(a, model, k % 2 ? path : NULL, NULL);
            go_on_alike(a, b, info.name);
            sal_chains *c = from_state_of(b, model, NULL, NULL);
            go_on_alike(b, c, info.name);
            step(whole, described(a).steps - at[_i]);
            go_on_alike(a, whole, info.name);
            sal_chains_destroy(a);
            sal_chains_destroy(b);
            sal_chains_destroy(c);
            sal_chains_destroy(whole);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* After what the caller set, the chains that go on and those from their state have the same bits.
 */
START_TEST(what_was_set_is_saved)
{
    sal_model *model = opened("rbm:visible=9,hidden=5", SAL_F32);
    const int64_t W = 9 * 5;
    double values[45];
    int32_t codes[42];
    sal_error err;
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (sal_sampler_find(info.name, model, 0, NULL, NULL) != SAL_OK) {
            continue;
        }
        const sal_run_options options = {
            .sampler = info.name, .chains = 3, .warmup = _i == 3 ? -1 : 40, .threads = 1
        };
        sal_chains *a = created(model, &options, false);
        step(a, 33 + 50 * _i);
        for (int64_t i = 0; i < W; i++) {
            values[i] = sin((double)(i + k));
        }
        ck_ok(sal_model_set_params(model, "W", values, &err), &err);
        step(a, 3);
        sal_chains_codes(a, codes);
        codes[1] = 1 - codes[1];
        ck_ok(sal_chains_set_codes(a, codes, &err), &err);
        step(a, _i);
        sal_chains *b = from_state_of(a, model, NULL, NULL);
        go_on_alike(a, b, info.name);
        sal_chains_destroy(a);
        sal_chains_destroy(b);
    }
    sal_model_destroy(model);
}
END_TEST

/* Resuming makes the steps after the state whatever the caller's progress says. */
static int always_stop(int64_t done, int64_t total, void *data)
{
    (void)total;
    (void)data;
    return done > 0;
}

START_TEST(progress_does_not_stop_resuming)
{
    sal_model *model = opened("ising:side=10,theta=0.1", SAL_F64);
    const sal_run_state *state;
    sal_run_options options;
    sal_error err;
    sal_chains *a = created(model, &(sal_run_options){ .sampler = "gibbs", .warmup = -1 }, false);
    step(a, 1636);
    ck_ok(sal_chains_state(a, &state, &err), &err);
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    options.callbacks.progress = always_stop;
    sal_chains *b = created(model, &options, false);
    ck_assert_int_eq(described(b).steps, 1636);
    sal_chains_destroy(a);
    sal_chains_destroy(b);
    sal_model_destroy(model);
}
END_TEST

static void refused_state(sal_model *model, struct sal_run_state *state, const char *name,
                          int64_t value, sal_status status, const char *text)
{
    sal_run_options options;
    sal_chains *chains = NULL;
    sal_error err;
    sali_state_item *item = sali_run_state_find(state, name);
    const int64_t was = *(int64_t *)item->data;
    *(int64_t *)item->data = value;
    ck_ok(sal_run_state_options(state, &options, &err), &err);
    ck_fails(sal_chains_create(model, &options, false, &chains, &err), status, &err, text);
    ck_assert_ptr_null(chains);
    *(int64_t *)item->data = was;
}

START_TEST(states_that_cannot_be_are_refused)
{
    const char *path = temp_path("damaged.safetensors");
    sal_model *model = opened("ising:side=4,theta=0.3", 0);
    const sal_run_options options = { .warmup = 50, .draws = 60, .record.draws = true };
    const sal_run_state *state;
    sal_run_state *damaged = NULL;
    sal_run_options rest;
    sal_error err;
    sal_chains *chains = created(model, &(sal_run_options){ .warmup = 50 }, false);
    step(chains, 70);
    ck_ok(sal_chains_state(chains, &state, &err), &err);
    ck_ok(sal_run_state_save(state, path, &err), &err);
    ck_fails(sal_run_state_save(state, "state.nc", &err), SAL_ERR_ARGUMENT, &err,
             "NAME.safetensors");
    ck_ok(sal_run_state_options(state, &rest, &err), &err);
    run_refused(model, &rest, SAL_ERR_ARGUMENT, "of chains that go on");
    ck_ok(sal_run_state_open(path, &damaged, &err), &err);
    refused_state(model, damaged, "ahead", INT64_MAX, SAL_ERR_DATA, "damaged.safetensors: 9223");
    refused_state(model, damaged, "ahead", -1, SAL_ERR_ARGUMENT, "of a run");
    refused_state(model, damaged, "earlier", -2, SAL_ERR_DATA, "and -2 before");
    refused_state(model, damaged, "earlier", INT64_MAX, SAL_ERR_DATA, "before");
    refused_state(model, damaged, "steps", INT64_MAX, SAL_ERR_DATA, "do not go together");
    refused_state(model, damaged, "warmup_done", 51, SAL_ERR_DATA, "do not go together");
    sal_run_state_destroy(damaged);

    sal_run *run = run_it(model, &options);
    ck_ok(sal_run_state_options(sal_run_last_state(run), &rest, &err), &err);
    ck_fails(sal_chains_create(model, &rest, false, &chains, &err), SAL_ERR_ARGUMENT, &err,
             "of a run, and not of chains");
    sal_run_destroy(run);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

/* ---- what the caller sets */

/* f = b sum_i s_i, and three spins. */
static sal_model *field_model(void)
{
    return opened("formula:x: spin[3]; b = 0.5; b sum(i: x[i])", SAL_F64);
}

static void set_b(sal_model *model, double b)
{
    sal_error err;
    ck_ok(sal_model_set_params(model, "b", &b, &err), &err);
}

/* Parameters set before the first step are those of chains created with them. The preconditioner of
 * pavg is made of the parameters at creation. */
START_TEST(samplers_see_new_parameters)
{
    sal_sampler_info info;
    int seen = 0;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        sal_model *a = opened("ising:side=4,theta=0.3", SAL_F64);
        sal_model *b = opened("ising:side=4,theta=0.3", SAL_F64);
        double theta = 0.1;
        sal_error err;
        if (sal_sampler_find(info.name, a, 0, NULL, NULL) == SAL_OK &&
            strcmp(info.name, "pavg") != 0) {
            const sal_run_options options = {
                .sampler = info.name, .chains = 3, .warmup = 40, .threads = 1
            };
            sal_chains *late = created(a, &options, false);
            ck_ok(sal_model_set_params(a, "theta", &theta, &err), &err);
            ck_ok(sal_model_set_params(b, "theta", &theta, &err), &err);
            sal_chains *early = created(b, &options, false);
            go_on_alike(late, early, info.name);
            sal_chains_destroy(late);
            sal_chains_destroy(early);
            seen++;
        }
        sal_model_destroy(a);
        sal_model_destroy(b);
    }
    ck_assert_int_gt(seen, 8);
}
END_TEST

/* Within a larger Gibbs sampler: b is drawn given s, and s given b, from two values of b; the share
 * of each pair of b and the sum of s is the exact one. */
START_TEST(blocked_gibbs_has_the_joint_distribution)
{
    static const double values[] = { -0.4, 0.9 };
    static const char *const samplers[] = { "gibbs", "ncg", "lb", "gwg" };
    enum { N = 40000 };
    sal_model *model = field_model();
    const sal_run_options options = { .sampler = samplers[_i],
                                      .chains = 1,
                                      .warmup = -1,
                                      .seed = 3,
                                      .step_size = _i == 1 ? 2.0 : 0 };
    sal_chains *chains = created(model, &options, false);
    double counts[2][4] = { { 0 } }, expected[2][4], Z = 0, difference = 0;
    static const double ways[] = { 1, 3, 3, 1 };
    uint64_t random = 88172645463325252u;
    for (int64_t t = 0; t < N; t++) {
        int32_t codes[3];
        step(chains, 2);
        sal_chains_codes(chains, codes);
        const int ones = codes[0] + codes[1] + codes[2];
        const double sum = 2.0 * ones - 3;
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const double u = (double)(random >> 11) * 0x1p-53;
        const double odds = exp((values[1] - values[0]) * sum);
        const int b = u < odds / (1 + odds);
        set_b(model, values[b]);
        counts[b][ones]++;
    }
    for (int k = 0; k < 8; k++) {
        expected[k / 4][k % 4] = ways[k % 4] * exp(values[k / 4] * (2.0 * (k % 4) - 3));
        Z += expected[k / 4][k % 4];
    }
    for (int k = 0; k < 8; k++) {
        difference += fabs(counts[k / 4][k % 4] / N - expected[k / 4][k % 4] / Z) / 2;
    }
    ck_assert_msg(difference < 0.02, "%s: distance %g", samplers[_i], difference);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

typedef struct own_fields {
    sal_model *model;
    int64_t calls, fail_at;
} own_fields;

static sal_status set_own_field(int64_t chain, void *data, sal_error *err)
{
    own_fields *own = data;
    const double b = chain == 1 ? -1 : 0.5;
    if (own->calls++ == own->fail_at) {
        snprintf(err->message, sizeof err->message, "enough");
        return SAL_ERR_ARGUMENT;
    }
    return sal_model_set_params(own->model, "b", &b, err);
}

START_TEST(each_chain_sees_its_own_parameters)
{
    enum { N = 20000 };
    sal_model *model = field_model();
    const sal_run_options options = { .sampler = _i ? "ncg" : "gibbs", .chains = 3, .warmup = 60 };
    sal_chains *chains = created(model, &options, true),
               *together = created(model, &options, false);
    own_fields own = { model, 0, -1 };
    double sum[3] = { 0 };
    sal_error err;
    for (int64_t t = 0; t < N; t++) {
        int32_t codes[9];
        ck_ok(sal_chains_step_each(chains, 3, set_own_field, &own, &err), &err);
        sal_chains_codes(chains, codes);
        for (int k = 0; k < 9; k++) {
            sum[k / 3] += (2.0 * codes[k] - 1) / (3.0 * N);
        }
    }
    ck_assert_int_ge(own.calls, 3 * N);
    ck_assert_int_le(own.calls, 3 * N + 3 * (N / 20)); /* more where a window ends */
    for (int c = 0; c < 3; c++) {
        ck_assert_double_eq_tol(sum[c], tanh(c == 1 ? -1 : 0.5), 0.02);
    }
    double f[3], expected[3];
    int32_t codes[9];
    sal_chains_codes(chains, codes);
    ck_ok(sal_chains_log_prob(chains, f, &err), &err);
    ck_ok(sal_model_evaluate(model, 3, codes, expected, NULL, NULL, &err), &err);
    ck_assert_mem_eq(f, expected, sizeof f);
    own.fail_at = own.calls;
    ck_fails(sal_chains_step_each(chains, 3, set_own_field, &own, &err), SAL_ERR_ARGUMENT, &err,
             "enough");
    ck_ok(sal_chains_step_each(chains, 3, set_own_field, &own, &err), &err);
    own.fail_at = own.calls + 1;
    ck_fails(sal_chains_step_each(chains, 3, set_own_field, &own, &err), SAL_ERR_ARGUMENT, &err,
             "enough");
    ck_fails(sal_chains_step(chains, 1, &err), SAL_ERR_ARGUMENT, &err, "different numbers");
    ck_fails(sal_chains_step_each(together, 3, set_own_field, &own, &err), SAL_ERR_ARGUMENT, &err,
             "create them apart");
    sal_chains_destroy(chains);
    sal_chains_destroy(together);
    sal_model_destroy(model);
}
END_TEST

START_TEST(states_are_set_or_left)
{
    static const int64_t variables[] = { 2 };
    static const int32_t fixed[] = { 1 };
    sal_model *model = opened("ising:side=3,theta=0.2", SAL_F64);
    const sal_run_options options = {
        .sampler = "gibbs", .chains = 2, .warmup = 20, .clamps = { 1, variables, fixed }
    };
    sal_chains *chains = created(model, &options, false);
    int32_t codes[18], now[18];
    double f[2], g[2];
    sal_error err;
    step(chains, 31);
    for (int k = 0; k < 18; k++) {
        codes[k] = k % 9 == 2 || k % 4 == 0;
    }
    ck_ok(sal_chains_set_codes(chains, codes, &err), &err);
    sal_chains_codes(chains, now);
    ck_assert_mem_eq(now, codes, sizeof codes);
    ck_ok(sal_chains_log_prob(chains, f, &err), &err);
    ck_ok(sal_model_evaluate(model, 2, codes, g, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f[0], g[0], 1e-12);
    ck_assert_double_eq_tol(f[1], g[1], 1e-12);
    step(chains, 1);

    sal_chains_codes(chains, now);
    codes[11] = 0;
    ck_fails(sal_chains_set_codes(chains, codes, &err), SAL_ERR_ARGUMENT, &err,
             "chain 1: variable 2 is clamped to code 1, not 0");
    codes[11] = 7;
    ck_fails(sal_chains_set_codes(chains, codes, &err), SAL_ERR_ARGUMENT, &err, "7");
    sal_chains_codes(chains, codes);
    ck_assert_mem_eq(now, codes, sizeof codes);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

static double nan_at_ones(const double *x, double *gradient, void *data)
{
    (void)gradient;
    (void)data;
    return x[0] == 1 && x[1] == 1 && x[2] == 1 ? NAN : x[0] - 2 * x[1];
}

/* A state or a parameter for which f is NaN is refused; once there are others, chains go on. */
/* Infinite where the steps lead to sooner or later. */
static double bad_at_zeros(const double *x, double *gradient, void *data)
{
    (void)gradient;
    return *(const bool *)data && x[0] + x[1] + x[2] == 0 ? NAN : x[0] - x[1];
}

/* Steps made until NaN was met count, and saved states of the chains that go on are right. */
START_TEST(steps_before_a_bad_value_count)
{
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = 3 };
    bool bad = false;
    const sal_callback callback = { .f = bad_at_zeros, .data = &bad };
    const int32_t ones[] = { 1, 1, 1, 1, 1, 1 };
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    const sal_run_options options = {
        .sampler = "gibbs", .chains = 2, .warmup = _i ? 600 : -1, .init = ones
    };
    sal_chains *chains = created(model, &options, false);
    step(chains, 300);
    bad = true;
    int64_t made = described(chains).steps;
    for (int k = 0; k < 5; k++) {
        ck_fails(sal_chains_step(chains, 1000, &err), SAL_ERR_MODEL, &err, "NaN");
        ck_assert_int_ge(described(chains).steps, made);
        made = described(chains).steps;
    }
    bad = false;
    ck_ok(sal_chains_set_codes(chains, ones, &err), &err);
    step(chains, 700);
    ck_assert_int_eq(described(chains).steps, made + 700);
    sal_chains *b = from_state_of(chains, model, NULL, NULL);
    go_on_alike(chains, b, "after NaN");
    sal_chains_destroy(b);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* -inf, from states and from parameters. */
START_TEST(states_that_become_impossible_are_named)
{
    sal_model *model =
        opened("formula:x: binary[2]; b = 1; log(b x[0] + x[1]) + 0 sum(i: x[i])", SAL_F64);
    const int32_t good[] = { 1, 0 }, none[] = { 0, 0 };
    const double zero = 0, one = 1;
    const sal_run_options options = { .sampler = "gibbs", .chains = 1, .warmup = -1, .init = good };
    sal_chains *chains = created(model, &options, false);
    sal_error err;
    ck_fails(sal_chains_set_codes(chains, none, &err), SAL_ERR_MODEL, &err, "f is -inf");
    ck_ok(sal_model_set_params(model, "b", &zero, &err), &err);
    ck_fails(sal_chains_step(chains, 1, &err), SAL_ERR_MODEL, &err, "chain 0: f is -inf");
    ck_fails(sal_chains_adapt(chains, 9, &err), SAL_ERR_MODEL, &err, "chain 0: f is -inf");
    ck_ok(sal_model_set_params(model, "b", &one, &err), &err);
    step(chains, 10);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

START_TEST(chains_outlive_bad_values)
{
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = 3 };
    const sal_callback callback = { .f = nan_at_ones };
    const int32_t ones[] = { 1, 1, 1 }, start[] = { 0, 0, 0 };
    int32_t now[3];
    double f;
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    const sal_run_options options = {
        .sampler = "mh-uniform", .chains = 1, .warmup = -1, .init = start
    };
    sal_chains *chains = created(model, &options, false);
    ck_fails(sal_chains_set_codes(chains, ones, &err), SAL_ERR_MODEL, &err, "NaN");
    sal_chains_codes(chains, now);
    ck_assert_mem_eq(now, start, sizeof start);
    ck_ok(sal_chains_log_prob(chains, &f, &err), &err);
    ck_assert_double_eq(f, 0);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
    sal_space_destroy(space);

    model = field_model();
    chains = created(model, &(sal_run_options){ .sampler = "gibbs", .warmup = -1 }, false);
    set_b(model, NAN);
    ck_fails(sal_chains_step(chains, 5, &err), SAL_ERR_MODEL, &err, "NaN");
    ck_fails(sal_chains_step(chains, 5, &err), SAL_ERR_MODEL, &err, "NaN");
    set_b(model, 0.5);
    step(chains, 5);
    ck_assert_int_eq(described(chains).steps, 5);
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

/* ---- adaptation */

START_TEST(adaptation_begins_and_ends)
{
    sal_model *model = opened("ising:side=5,theta=0.2", SAL_F64);
    const sal_run_options options = { .sampler = "ncg", .chains = 4, .warmup = -1, .step_size = 0 };
    sal_chains *chains = created(model, &options, false);
    sal_tuning *tuning = NULL;
    sal_error err;
    ck_assert_int_eq(described(chains).adapting, 0);
    const double first = described(chains).step_size;
    step(chains, 200);
    ck_assert_double_eq(described(chains).step_size, first);
    ck_ok(sal_chains_adapt(chains, 400, &err), &err);
    ck_assert_int_eq(described(chains).steps, 200);
    ck_assert_int_eq(described(chains).adapting, 400);
    ck_fails(sal_chains_tuning(chains, &tuning, &err), SAL_ERR_ARGUMENT, &err, "still adapt");
    step(chains, 230);
    ck_assert_int_eq(described(chains).adapting, 170);
    ck_ok(sal_chains_adapt(chains, 0, &err), &err);
    ck_assert_int_eq(described(chains).adapting, 0);
    ck_assert(isnan(described(chains).acceptance_rate));
    const double found = described(chains).step_size;
    ck_assert_double_ne(found, first);
    step(chains, 500);
    ck_assert_double_eq(described(chains).step_size, found);
    ck_assert_int_eq(described(chains).steps, 930);
    ck_assert_double_eq_tol(described(chains).acceptance_rate, 0.574, 0.12);
    ck_assert_double_gt(described(chains).mean_jump, 0);
    ck_ok(sal_chains_tuning(chains, &tuning, &err), &err);
    sal_chains *b = from_state_of(chains, model, NULL, NULL);
    go_on_alike(chains, b, "after adaptation");
    sal_chains_destroy(b);
    sal_tuning_destroy(tuning);

    ck_ok(sal_chains_adapt(chains, 50, &err), &err); /* the window is over: one step more */
    step(chains, 25);
    ck_ok(sal_chains_adapt(chains, 0, &err), &err);
    ck_assert_int_eq(described(chains).adapting, 1);
    step(chains, 1);
    ck_assert_int_eq(described(chains).adapting, 0);
    ck_fails(sal_chains_adapt(chains, -1, &err), SAL_ERR_ARGUMENT, &err, "0 or more");
    ck_fails(sal_chains_step(chains, -1, &err), SAL_ERR_ARGUMENT, &err, "0 or more");
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

/* At any step, the search for a step size too: it leaves no chain with a candidate. */
START_TEST(adaptation_ends_at_any_step)
{
    static const char *const samplers[] = { "ncg", "dlmc", "pavg" };
    static const int64_t at[] = { 0, 1, 5, 25, 100, 199, 200, 201, 250, 399, 400, 401, 500, 799 };
    sal_model *model = opened("ising:side=4,theta=0.1", SAL_F64);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const sal_run_options options = { .sampler = samplers[_i],
                                          .warmup = 800,
                                          .threads = 1,
                                          .step_size_rule = SAL_STEP_SIZE_SEARCH };
        sal_chains *chains = created(model, &options, false);
        sal_error err;
        step(chains, at[k]);
        ck_ok(sal_chains_adapt(chains, 0, &err), &err);
        step(chains, 3);
        const sal_run *run = *(sal_run *const *)chains; /* its first member */
        ck_assert_int_eq(described(chains).adapting, 0);
        for (int64_t s = 0; s < run->n_shards; s++) {
            for (int64_t c = 0; c < run->shards[s].chains->n; c++) {
                ck_assert_double_eq(run->shards[s].chains->step_size[c],
                                    described(chains).step_size);
            }
        }
        sal_chains *b = from_state_of(chains, model, NULL, NULL);
        go_on_alike(chains, b, samplers[_i]);
        sal_chains_destroy(b);
        sal_chains_destroy(chains);
    }
    sal_model_destroy(model);
}
END_TEST

/* Two spins come back to the same states often: what adapts anew must not repeat the numbers. */
START_TEST(random_numbers_go_on)
{
    sal_model *model = opened("formula:x: spin[1]; 0 sum(i: x[i])", SAL_F64);
    const sal_run_options options = { .sampler = "gibbs", .chains = 1, .warmup = -1 };
    sal_chains *chains = created(model, &options, false);
    sal_error err;
    int kinds[4] = { 0 };
    for (int k = 0; k < 200; k++) {
        int32_t code, next;
        ck_ok(sal_chains_adapt(chains, 1, &err), &err);
        sal_chains_codes(chains, &code);
        step(chains, 1);
        sal_chains_codes(chains, &next);
        kinds[2 * code + next]++;
    }
    for (int k = 0; k < 4; k++) { /* repeated numbers: two of them are 0 */
        ck_assert_int_gt(kinds[k], 25);
    }
    sal_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

/* ---- what is refused */

START_TEST(options_of_runs_are_refused)
{
    const sal_run_options cases[] = {
        { .draws = 10 },          { .thin = 2 },
        { .until = "ess=100" },   { .seconds = 1 },
        { .annealing.on = true }, { .steps_per_level = 2 },
        { .record.best = 1 },     { .tempering = { .replicas = 2, .houdayer = true } },
    };
    static const char *const names[] = { "draws",           "thin",   "until",   "time", "anneal",
                                         "steps_per_level", "record", "houdayer" };
    sal_model *model = field_model();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_chains *chains = NULL;
        sal_error err;
        ck_fails(sal_chains_create(model, &cases[k], false, &chains, &err), SAL_ERR_ARGUMENT, &err,
                 names[k]);
        ck_assert_ptr_null(chains);
    }
    sal_error err;
    sal_chains *chains = NULL;
    ck_fails(sal_chains_create(NULL, NULL, false, &chains, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(
        sal_chains_create(model, &(sal_run_options){ .sampler = "gipps" }, false, &chains, &err),
        SAL_ERR_ARGUMENT, &err, "gipps");
    sal_model_destroy(model);
}
END_TEST

/* Parameters cannot change under a run, neither from its callbacks nor from another thread. */
static int set_in_callback(int64_t done, int64_t total, void *data)
{
    const double b = 1;
    sal_error err;
    (void)done;
    (void)total;
    ck_fails(sal_model_set_params(data, "b", &b, &err), SAL_ERR_ARGUMENT, &err, "is being sampled");
    return 0;
}

typedef struct attempt {
    sal_model *model;
    _Atomic bool running, over;
    _Atomic int refused, accepted;
} attempt;

static void *set_all_the_time(void *data)
{
    attempt *a = data;
    const double b = 0.5;
    while (!a->over) {
        const bool running = a->running;
        const sal_status status = sal_model_set_params(a->model, "b", &b, NULL);
        if (status != SAL_OK) {
            a->refused++;
        } else if (running && a->running) {
            a->accepted++;
        }
    }
    return NULL;
}

static int note_running(int64_t done, int64_t total, void *data)
{
    ((attempt *)data)->running = done < total;
    return 0;
}

START_TEST(parameters_do_not_change_under_a_run)
{
    sal_model *model = field_model();
    attempt a = { .model = model };
    pthread_t thread;
    sal_run_options options = { .chains = 1,
                                .draws = 1000,
                                .callbacks.progress = set_in_callback,
                                .callbacks.progress_data = model };
    sal_run_destroy(run_it(model, &options));
    set_b(model, 0.7);
    options.draws = 300000;
    options.callbacks.progress = note_running;
    options.callbacks.progress_data = &a;
    ck_assert_int_eq(pthread_create(&thread, NULL, set_all_the_time, &a), 0);
    sal_run_destroy(run_it(model, &options));
    a.over = true;
    pthread_join(thread, NULL);
    ck_assert_int_gt(a.refused, 0);
    ck_assert_int_eq(a.accepted, 0);
    set_b(model, 0.7);
    sal_model_destroy(model);
}
END_TEST

/* Calls from callbacks, which would pull the run from under the steps. */
static int call_back(int64_t done, int64_t total, void *data)
{
    sal_chains *chains = *(sal_chains **)data;
    const sal_run_state *state;
    int32_t codes[3] = { 0 };
    double f[1];
    sal_error err;
    (void)total;
    if (!chains || done == 0) {
        return 0;
    }
    ck_fails(sal_chains_step(chains, 1, &err), SAL_ERR_ARGUMENT, &err, "are making steps");
    ck_fails(sal_chains_adapt(chains, 9, &err), SAL_ERR_ARGUMENT, &err, "are making steps");
    ck_fails(sal_chains_set_codes(chains, codes, &err), SAL_ERR_ARGUMENT, &err, "are making steps");
    ck_fails(sal_chains_log_prob(chains, f, &err), SAL_ERR_ARGUMENT, &err, "are making steps");
    ck_fails(sal_chains_state(chains, &state, &err), SAL_ERR_ARGUMENT, &err, "are making steps");
    return 0;
}

START_TEST(callbacks_cannot_change_the_chains)
{
    sal_model *model = field_model();
    sal_chains *chains = NULL;
    const sal_run_options options = { .sampler = "gibbs",
                                      .chains = 1,
                                      .warmup = -1,
                                      .callbacks.progress = call_back,
                                      .callbacks.progress_data = &chains };
    chains = created(model, &options, false);
    step(chains, 1000);
    ck_assert_int_eq(described(chains).steps, 1000);
    sal_chains_destroy(chains);
    chains = NULL;
    sal_error err;
    ck_fails(
        sal_chains_create(model, &(sal_run_options){ .sampler = "d-svgd" }, true, &chains, &err),
        SAL_ERR_UNSUPPORTED, &err, "cannot be apart");
    sal_model_destroy(model);
}
END_TEST

static int stop_at_once(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done > *(const int64_t *)data;
}

START_TEST(progress_ends_a_call)
{
    sal_model *model = field_model();
    int64_t limit = 600;
    const sal_run_options options = { .sampler = "gibbs",
                                      .chains = 1,
                                      .warmup = -1,
                                      .callbacks.progress = stop_at_once,
                                      .callbacks.progress_data = &limit };
    sal_chains *chains = created(model, &options, false);
    step(chains, 1000000);
    ck_assert_int_eq(described(chains).steps, 768);
    limit = INT64_MAX;
    step(chains, 1000);
    ck_assert_int_eq(described(chains).steps, 1768);
    sal_chains_destroy(chains);
    sal_chains_destroy(NULL);
    sal_model_destroy(model);
}
END_TEST

static Suite *going_on_suite(void)
{
    Suite *suite = suite_create("going_on");
    TCase *bits = tcase_create("bits");
    tcase_set_timeout(bits, 60);
    tcase_add_loop_test(bits, each_sampler_has_the_bits_of_a_run, 0, 3);
    tcase_add_test(bits, options_have_the_bits_of_a_run);
    suite_add_tcase(suite, bits);

    TCase *saving = tcase_create("saving");
    tcase_set_timeout(saving, 60);
    tcase_add_checked_fixture(saving, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(saving, saved_chains_have_the_same_bits, 0, 3);
    tcase_add_loop_test(saving, what_was_set_is_saved, 0, 4);
    tcase_add_test(saving, progress_does_not_stop_resuming);
    tcase_add_test(saving, states_that_cannot_be_are_refused);
    suite_add_tcase(suite, saving);

    TCase *setting = tcase_create("setting");
    tcase_add_test(setting, samplers_see_new_parameters);
    tcase_add_loop_test(setting, blocked_gibbs_has_the_joint_distribution, 0, 4);
    tcase_add_loop_test(setting, each_chain_sees_its_own_parameters, 0, 2);
    tcase_add_test(setting, states_are_set_or_left);
    tcase_add_test(setting, chains_outlive_bad_values);
    tcase_add_loop_test(setting, steps_before_a_bad_value_count, 0, 2);
    tcase_add_test(setting, states_that_become_impossible_are_named);
    suite_add_tcase(suite, setting);

    TCase *adaptation = tcase_create("adaptation");
    tcase_add_test(adaptation, adaptation_begins_and_ends);
    tcase_add_loop_test(adaptation, adaptation_ends_at_any_step, 0, 3);
    tcase_add_test(adaptation, random_numbers_go_on);
    suite_add_tcase(suite, adaptation);

    TCase *calls = tcase_create("calls");
    tcase_add_test(calls, options_of_runs_are_refused);
    tcase_add_test(calls, parameters_do_not_change_under_a_run);
    tcase_add_test(calls, progress_ends_a_call);
    tcase_add_test(calls, callbacks_cannot_change_the_chains);
    suite_add_tcase(suite, calls);
    return suite;
}

int main(void)
{
    return test_main(going_on_suite());
}
