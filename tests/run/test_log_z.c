/* SPDX-License-Identifier: MIT */
/* log Z by ladders: right against exact answers, with an error that holds; doubtful where it must
 * be. */
#include "test.h"

#include <math.h>

#include <saltus/log_z.h>
#include "alloc_fail.h"
#include "limit_model.h"
#include "models/clamp.h"
#include "models/make/soften.h"
#include "models/states.h"
#include "run/log_z/log_z.h"
#include "run_helpers.h"

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static double exact_log_z(const sal_model *model)
{
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    return exact.log_z;
}

static sal_log_z_estimate estimate_of(sal_model *model, const sal_log_z_options *options)
{
    sal_log_z_estimate z;
    sal_error err;
    ck_ok(sal_log_z(model, options, &z, &err), &err);
    return z;
}

/* Check an estimate against the truth, to four standard errors, of which one is at most `most`. */
static void check_near(const sal_log_z_estimate *z, double truth, double most, const char *what)
{
    ck_assert_msg(fabs(z->log_z - truth) <= 4 * z->standard_error && z->standard_error <= most,
                  "%s: log Z %.6f +- %.6f; expected %.6f", what, z->log_z, z->standard_error,
                  truth);
    ck_assert_msg(z->doubt == SAL_LOG_Z_TRUSTED, "%s: doubt %d", what, z->doubt);
}

/* The entropy log Z - sum p f over all states, by enumeration. */
static double exact_entropy(const sal_model *model)
{
    const double log_z = exact_log_z(model);
    int32_t *codes = calloc((size_t)model->space->n_variables, sizeof *codes);
    double mean = 0;
    do {
        double f;
        sal_error err;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        mean += f > -INFINITY ? exp(f - log_z) * f : 0;
    } while (sali_states_next(model->space, codes));
    free(codes);
    return log_z - mean;
}

static void check_entropy(const sal_log_z_estimate *z, double truth, double most, const char *what)
{
    ck_assert_msg(fabs(z->entropy - truth) <= 4 * z->entropy_error && z->entropy_error <= most,
                  "%s: entropy %.6f +- %.6f; expected %.6f", what, z->entropy, z->entropy_error,
                  truth);
}

/* ---- networks with forbidden states */

/* A chain of 8 variables of 3 states: neighbours differ, and the last equals the first plus one;
 * all else is forbidden. `weight` of the first variable's states. */
static sal_model *forbidding_network(sal_dtype dtype)
{
    enum { V = 8, F = 9 };
    int32_t states[V];
    int64_t begin[F + 1], scope[2 * F];
    double tables[9 * (F - 1) + 3];
    for (int v = 0; v < V; v++) {
        states[v] = 3;
    }
    for (int m = 0; m < F - 1; m++) {
        begin[m] = 2 * m;
        scope[2 * m] = m;
        scope[2 * m + 1] = (m + 1) % V;
        for (int k = 0; k < 9; k++) {
            const int a = k / 3, b = k % 3;
            const bool allowed = m < V - 1 ? a != b : b == (a + 2) % 3;
            tables[9 * m + k] = allowed ? -100 + 0.3 * (m + a * b) : -INFINITY;
        }
    }
    begin[F - 1] = 2 * (F - 1);
    begin[F] = 2 * F - 1;
    scope[2 * (F - 1)] = 0;
    for (int a = 0; a < 3; a++) {
        tables[9 * (F - 1) + a] = 0.5 * a;
    }
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(V, states, F, begin, scope, tables, dtype, &model, &err), &err);
    return model;
}

/* Check that a softened model has f itself wherever that is finite, and at most `most` elsewhere.
 * *allowed receives the number of states where f is finite. */
static void check_softened(const sal_model *model, double price, double most, int64_t *allowed)
{
    const sal_space *space = model->space;
    const int64_t V = space->n_variables;
    sal_model *soft = NULL;
    sal_error err;
    int32_t *codes = calloc((size_t)V, sizeof *codes);
    ck_ok(sali_soften(model, price, &soft, &err), &err);
    ck_assert_ptr_nonnull(soft);
    *allowed = 0;
    do {
        double f, g;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_ok(sal_model_evaluate(soft, 1, codes, &g, NULL, NULL, &err), &err);
        ck_assert_msg(isfinite(g), "%s: f softened is %g", model->name, g);
        *allowed += isfinite(f);
        if (isfinite(f)) {
            ck_assert_double_eq_tol(f, g, model->dtype == SAL_F32 ? 1e-3 : 1e-10);
        } else {
            ck_assert_msg(g <= most, "%s: a forbidden state costs %g", model->name, g);
        }
    } while (sali_states_next(space, codes));
    free(codes);
    sal_model_destroy(soft);
}

START_TEST(forbidden_states_get_a_price)
{
    int64_t allowed = 0;
    sal_model *model = forbidding_network(SAL_F64), *clamped = NULL;
    sal_error err;
    check_softened(model, 7, -790, &allowed);
    ck_assert_int_gt(allowed, 0);
    ck_ok(sal_model_clamp(model, 2, (int64_t[]){ 3, 1 }, (int32_t[]){ 1, 2 }, &clamped, &err),
          &err);
    check_softened(clamped, 7, -790, &allowed);
    ck_assert_int_gt(allowed, 0);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    model = tiny_limited(LIMIT_BY_AT_MOST, SAL_F64);
    check_softened(model, 50, -46, &allowed);
    ck_assert_int_eq(allowed, 11);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_forbids_nothing_known_is_not_softened)
{
    sal_model *models[] = { opened("ising:side=2"), tiny_limited(LIMIT_BY_LOG, SAL_F64) };
    for (int k = 0; k < 2; k++) {
        sal_model *soft = models[k];
        ck_assert_int_eq(sali_soften(models[k], 5, &soft, NULL), SAL_OK);
        ck_assert_ptr_null(soft);
        sal_model_destroy(models[k]);
    }
}
END_TEST

/* ---- right answers */

START_TEST(estimates_are_exact_within_their_errors)
{
    static const struct {
        const char *model, *sampler;
        double most;
    } cases[] = {
        { "ising:side=4,theta=0.4", NULL, 0.15 },
        { "ising:side=4,theta=0.4", "ncg", 0.15 },
        { "ising-dense:dim=12,scale=0.3", "gwg", 0.3 },
        { "potts:side=3,states=3,theta=0.8", NULL, 0.15 },
        { "rbm:visible=12,hidden=6,scale=1", NULL, 0.06 },
        { "ordinal-poly2:dim=4,levels=5", NULL, 0.15 },
        { "poisson:dim=4,cap=20", NULL, 0.15 },
        { "categorical:dim=6,states=4", NULL, 0.06 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sal_log_z_options options = {
            .sampler = cases[k].sampler, .sweeps = 200, .warmup = 128, .seed = 3
        };
        sal_model *model = opened(cases[k].model);
        const sal_log_z_estimate z = estimate_of(model, &options);
        check_near(&z, exact_log_z(model), cases[k].most, cases[k].model);
        if (strncmp(cases[k].model, "poisson", 7) != 0) { /* of 194481 states */
            check_entropy(&z, exact_entropy(model), 0.3, cases[k].model);
        }
        ck_assert_double_eq(z.allowed, 1);
        ck_assert(!z.softened && !z.stopped);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(clamped_and_single_precision_models_are_exact_too)
{
    sal_model *model = opened("ising:side=4,theta=0.4,bias=0.3"), *clamped = NULL, *f32 = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 2, (int64_t[]){ 5, 9 }, (int32_t[]){ 0, 1 }, &clamped, &err),
          &err);
    sal_log_z_estimate z = estimate_of(clamped, NULL);
    check_near(&z, exact_log_z(clamped), 0.05, "clamped");
    ck_ok(sal_model_open("ising:side=4,theta=0.4,bias=0.3", SAL_F32, &f32, &err), &err);
    z = estimate_of(f32, NULL);
    check_near(&z, exact_log_z(model), 0.05, "f32");
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    sal_model_destroy(f32);
}
END_TEST

START_TEST(networks_that_forbid_states_are_exact)
{
    for (int k = 0; k < 2; k++) {
        sal_model *model =
            k == 0 ? forbidding_network(SAL_F64) : tiny_limited(LIMIT_BY_AT_MOST, SAL_F64);
        const sal_log_z_estimate z = estimate_of(model, NULL);
        check_near(&z, exact_log_z(model), 0.05, model->name);
        check_entropy(&z, exact_entropy(model), 0.1, model->name);
        ck_assert(z.softened);
        ck_assert_double_gt(z.allowed, 0.9);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(states_that_are_forbidden_without_tables_are_left_out)
{
    sal_model *model = tiny_limited(LIMIT_BY_LOG, SAL_F64);
    const sal_log_z_estimate z = estimate_of(model, NULL);
    check_near(&z, exact_log_z(model), 0.05, "limited by a logarithm");
    ck_assert(!z.softened);
    ck_assert_double_eq_tol(z.forward, z.reverse, 0.1);
    sal_model_destroy(model);
}
END_TEST

/* A model by a function, with linear terms of its own. */
static double linear_callback(const double *x, double *gradient, void *data)
{
    double f = 0;
    (void)data;
    for (int i = 0; i < 6; i++) {
        f += (0.5 * i - 1) * x[i];
        if (gradient) {
            gradient[i] = 0.5 * i - 1;
        }
    }
    return f;
}

START_TEST(a_model_by_a_function_is_exact)
{
    const sal_callback callback = { .f = linear_callback, .has_gradient = true };
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = 6 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    const sal_log_z_estimate z = estimate_of(model, NULL);
    check_near(&z, exact_log_z(model), 0.05, "callback");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Poisson counts with rate r have log Z = r each. */
START_TEST(counts_without_a_cap_are_exact)
{
    sal_model *model = opened("poisson:dim=3,rate=4");
    sal_log_z_estimate z = estimate_of(model, NULL);
    check_near(&z, 12, 0.1, "poisson");
    double base[6];
    for (int v = 0; v < 3; v++) { /* geometric with mean 2 */
        base[2 * v] = log(1. / 3);
        base[2 * v + 1] = log(2. / 3);
    }
    z = estimate_of(model, &(sal_log_z_options){ .log_base = base });
    check_near(&z, 12, 0.1, "poisson from a base");
    /* of one: 4 (1 - log 4) + sum p_k log k!, with log Z and f of counts without their constant */
    double entropy = 4 * (1 - log(4));
    for (int k = 0; k < 60; k++) {
        entropy += exp(k * log(4) - 4 - lgamma(k + 1)) * lgamma(k + 1);
    }
    check_entropy(&z, 3 * entropy, 0.2, "poisson from a base");
    sal_model_destroy(model);
}
END_TEST

/* With f = log p_0 every level is p_0, and so log Z is 0 without any error. */
START_TEST(the_base_itself_has_no_error)
{
    sal_model *model = opened("bernoulli:dim=5,scale=0");
    const double half[] = { log(.5), log(.5), log(.5), log(.5), log(.5),
                            log(.5), log(.5), log(.5), log(.5), log(.5) };
    const sal_log_z_estimate z = estimate_of(model, &(sal_log_z_options){ .log_base = half });
    ck_assert_double_eq_tol(z.log_z, 5 * log(2), 1e-12);
    ck_assert_double_lt(z.standard_error, 1e-12);
    ck_assert_int_eq(z.doubt, SAL_LOG_Z_SAME);
    sal_model_destroy(model);
}
END_TEST

/* ---- errors that hold */

START_TEST(errors_hold_in_a_hundred_runs)
{
    static const struct {
        const char *model;
        int64_t chains;
    } cases[] = { { "ising:side=3,theta=0.4,bias=0.1", 0 },
                  { "potts:side=2,states=3,theta=1", 0 },
                  { "rbm:visible=6,hidden=4,scale=1.5", 4 } };

    int one = 0, two = 0, one_entropy = 0, two_entropy = 0, runs = 0;
    for (int k = 0; k < 3; k++) {
        sal_model *model = opened(cases[k].model);
        const double truth = exact_log_z(model), entropy = exact_entropy(model);
        for (int s = 0; s < 100; s++, runs++) {
            const sal_log_z_options options = { .chains = cases[k].chains,
                                                .sweeps = 60,
                                                .warmup = 64,
                                                .threads = 1,
                                                .seed = (uint64_t)s };
            const sal_log_z_estimate z = estimate_of(model, &options);
            const double off = fabs(z.log_z - truth);
            one += off <= z.standard_error;
            two += off <= 2 * z.standard_error;
            one_entropy += fabs(z.entropy - entropy) <= z.entropy_error;
            two_entropy += fabs(z.entropy - entropy) <= 2 * z.entropy_error;
        }
        sal_model_destroy(model);
    }
    ck_assert_msg(one >= .60 * runs && one <= .76 * runs, "%d of %d within one error", one, runs);
    ck_assert_msg(two >= .90 * runs && two <= .99 * runs, "%d of %d within two errors", two, runs);
    ck_assert_msg(one_entropy >= .60 * runs && one_entropy <= .76 * runs,
                  "%d of %d entropies within one error", one_entropy, runs);
    ck_assert_msg(two_entropy >= .90 * runs && two_entropy <= .99 * runs,
                  "%d of %d entropies within two errors", two_entropy, runs);
}
END_TEST

/* ---- from energies to an estimate */

/* A record of two levels whose energies are normal: N(0, 1) at p_0, so that log Z = 1/2, and N(1,
 * 1) at the model. */
static void fill_record(int64_t sweeps, int64_t n, double shift, double *energy)
{
    for (int64_t t = 0; t < sweeps; t++) {
        const sali_stream stream = { .step = (uint64_t)t, .purpose = SALI_RNG_TEST };
        sali_rng_normal(&stream, 2 * n, energy + t * 2 * n);
        for (int64_t c = 0; c < n; c++) {
            energy[t * 2 * n + n + c] += shift;
        }
    }
}

START_TEST(energies_give_log_z)
{
    enum { N = 16, T = 400 };
    static double energy[T * 2 * N], gap[T * N], f[T * N];
    const double beta[] = { 0, 1 };
    sali_log_z_record record = { .n = N, .L = 2, .sweeps = T, .beta = beta, .energy = energy };
    sal_log_z_estimate z = { .least_swaps = 0.5, .arrivals = 10 };
    sal_error err;
    fill_record(T, N, 1, energy);
    ck_ok(sali_log_z_estimate(&record, &z, &err), &err);
    ck_assert_double_eq_tol(z.log_z, 0.5, 4 * z.standard_error);
    /* Bennett's error for two unit normals a standard deviation apart, 2 N T states. */
    ck_assert_double_eq_tol(z.standard_error, 0.0073, 0.004);
    ck_assert_double_eq_tol(z.forward, 0.5, 0.1);
    ck_assert_double_eq_tol(z.reverse, 0.5, 0.1);
    ck_assert_int_eq(z.doubt, SAL_LOG_Z_TRUSTED);
    const double whole = z.log_z;
    ck_assert(isnan(z.entropy) && isnan(z.entropy_error)); /* f is not known */
    for (int i = 0; i < T * N; i++) {
        gap[i] = i % 4 == 0 ? -INFINITY : 0;
        f[i] = i % 4 == 0 ? 100 : 2;
    }
    record.f = f;
    ck_ok(sali_log_z_estimate(&record, &z, &err), &err);
    ck_assert_double_eq_tol(z.entropy, whole - 26.5, 1e-9);
    record.gap = gap;
    ck_ok(sali_log_z_estimate(&record, &z, &err), &err);
    ck_assert_double_eq_tol(z.allowed, 0.75, 1e-12);
    ck_assert_double_eq_tol(z.log_z, whole + log(0.75), 1e-12);
    ck_assert_double_eq_tol(z.entropy, z.log_z - 2, 1e-12); /* of the states that are allowed */
    ck_assert_double_eq_tol(z.entropy_error, z.standard_error, 1e-12);
    /* Every fourth ladder forbids all: sqrt(16 / 15 (12 / 48^2 + 4 / 16^2)). */
    ck_assert_double_eq_tol(z.standard_error, 0.149, 0.005);
    for (int i = 0; i < T * N; i++) {
        gap[i] = -INFINITY;
    }
    ck_assert_int_eq(sali_log_z_estimate(&record, &z, &err), SAL_ERR_MODEL);
    ck_assert_ptr_nonnull(strstr(err.message, "none of the 6400 states"));
}
END_TEST

/* ---- doubts */

/* The doubt about a record, which the sentence must explain. */
static sal_log_z_doubt doubt_about(const sali_log_z_record *record, double swaps, double arrivals)
{
    sal_log_z_estimate z = { .least_swaps = swaps, .arrivals = arrivals };
    char text[512];
    sal_error err;
    ck_ok(sali_log_z_estimate(record, &z, &err), &err);
    sal_log_z_sentence(&z, text, sizeof text);
    ck_assert_int_eq(z.doubt == SAL_LOG_Z_TRUSTED, text[0] == 0);
    ck_assert_uint_lt(strlen(text), sizeof text - 1);
    return z.doubt;
}

START_TEST(each_reason_for_doubt_is_found)
{
    enum { N = 16, T = 400 };
    static double energy[T * 2 * N], gap[T * N];
    const double beta[] = { 0, 1 };
    sali_log_z_record record = { .n = N, .L = 2, .sweeps = T, .beta = beta, .energy = energy };
    fill_record(T, N, 1, energy);
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_TRUSTED);
    ck_assert_int_eq(doubt_about(&record, 0.01, 10), SAL_LOG_Z_GAP);
    ck_assert_int_eq(doubt_about(&record, NAN, 10), SAL_LOG_Z_GAP);
    ck_assert_int_eq(doubt_about(&record, 0.5, 0.5), SAL_LOG_Z_NO_ARRIVALS);
    record.gap = gap;
    for (int i = 0; i < T * N; i++) {
        gap[i] = i < 40 ? 0 : -INFINITY;
    }
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_FEW_ALLOWED);
    record.gap = NULL;
    for (int t = 0; t < T; t++) { /* ladder 0 is elsewhere */
        energy[t * 2 * N + N] += 8;
    }
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_LADDERS_APART);
    fill_record(T, N, 1, energy);
    for (int i = 0; i < T * N; i++) { /* all ladders drift */
        energy[(i / N) * 2 * N + N + i % N] += i < T * N / 2 ? 0 : 0.3;
    }
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_HALVES_APART);
    for (int i = 0; i < T * 2 * N; i++) {
        energy[i] = 1;
    }
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_SAME);
    fill_record(T, N, 2, energy); /* no such model: 1/2 up, and 3/2 down */
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_ENDS_APART);
    for (int i = 0; i < T * N; i++) { /* p_0 never draws a state that is allowed */
        energy[(i / N) * 2 * N + i % N] = -INFINITY;
    }
    ck_assert_int_eq(doubt_about(&record, 0.5, 10), SAL_LOG_Z_GAP);
}
END_TEST

START_TEST(what_does_not_mix_is_said)
{
    sal_model *model = opened("ising:side=12,theta=0.6");
    const sal_log_z_options options = { .sweeps = 20, .warmup = 32, .steps = 1 };
    const sal_log_z_estimate z = estimate_of(model, &options);
    ck_assert_int_ne(z.doubt, SAL_LOG_Z_TRUSTED);
    sal_model_destroy(model);
}
END_TEST

/* ---- a run of it */

static void check_same(const sal_log_z_estimate *a, const sal_log_z_estimate *b)
{
    ck_assert_double_eq(a->log_z, b->log_z);
    ck_assert_double_eq(a->standard_error, b->standard_error);
    ck_assert_double_eq(a->rhat, b->rhat);
    ck_assert_int_eq(a->levels, b->levels);
}

START_TEST(estimates_do_not_depend_on_threads)
{
    sal_model *model = opened("ising:side=4,theta=0.4");
    sal_log_z_options options = { .sweeps = 50, .warmup = 64, .threads = 1, .seed = 5 };
    const sal_log_z_estimate one = estimate_of(model, &options);
    options.threads = 2;
    const sal_log_z_estimate two = estimate_of(model, &options);
    check_same(&one, &two);
    options.seed = 6;
    const sal_log_z_estimate other = estimate_of(model, &options);
    ck_assert_double_ne(one.log_z, other.log_z);
    sal_model_destroy(model);
}
END_TEST

START_TEST(until_ends_at_the_error_or_at_the_sweeps)
{
    sal_model *model = opened("ising:side=3,theta=0.3");
    sal_log_z_estimate z = estimate_of(model, &(sal_log_z_options){ .until = "error=.05" });
    ck_assert_double_le(z.standard_error, 0.05);
    ck_assert_int_eq(z.sweeps, 100);
    z = estimate_of(model, &(sal_log_z_options){ .until = "error=.01" });
    ck_assert_double_le(z.standard_error, 0.01);
    ck_assert_int_gt(z.sweeps, 100);
    z = estimate_of(model, &(sal_log_z_options){ .until = "error=1e-9", .sweeps = 150 });
    ck_assert_int_eq(z.sweeps, 150);
    char text[512];
    sal_log_z_sentence(&z, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "above the 1e-09 that was asked for"));
    sal_model_destroy(model);
}
END_TEST

/* Progress that stops at *data. */
static int stop_at(int64_t done, int64_t total, void *data)
{
    ck_assert_int_eq(total, 64 + 100);
    return done >= *(int64_t *)data;
}

START_TEST(progress_can_stop_it)
{
    sal_model *model = opened("ising:side=3,theta=0.3");
    int64_t at = 64 + 40;
    const sal_log_z_options options = {
        .sweeps = 100, .warmup = 64, .progress = stop_at, .progress_data = &at
    };
    sal_log_z_estimate z = estimate_of(model, &options);
    ck_assert(z.stopped && isfinite(z.log_z));
    ck_assert_int_eq(z.sweeps, 40);
    at = 30;
    z = estimate_of(model, &options);
    ck_assert(z.stopped && isnan(z.log_z) && isnan(z.standard_error));
    ck_assert_int_eq(z.sweeps, 0);
    z = estimate_of(model, &(sal_log_z_options){ .seconds = 1e-9, .warmup = 64 });
    ck_assert(z.stopped && isnan(z.log_z));
    sal_model_destroy(model);
}
END_TEST

/* Progress that stops within a sweep of many steps: when it is called again for the same one. */
static int stop_within(int64_t done, int64_t total, void *data)
{
    int64_t *last = data;
    const bool again = done == *last;
    (void)total;
    *last = done;
    return again;
}

START_TEST(progress_can_stop_it_within_a_sweep)
{
    sal_model *model = opened("ising:side=3,theta=0.3");
    int64_t last = -1;
    const sal_log_z_estimate z = estimate_of(model, &(sal_log_z_options){ .steps = INT64_C(1) << 40,
                                                                          .progress = stop_within,
                                                                          .progress_data = &last });
    ck_assert(z.stopped && isnan(z.log_z));
    sal_model_destroy(model);
}
END_TEST

/* ---- mistakes */

START_TEST(bad_calls_are_refused)
{
    static const double half[] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    static const struct {
        sal_log_z_options options;
        sal_status status;
        const char *message;
    } cases[] = {
        { { .chains = 1 }, SAL_ERR_ARGUMENT, "chains" },
        { { .sweeps = 19 }, SAL_ERR_ARGUMENT, "sweeps" },
        { { .warmup = 31 }, SAL_ERR_ARGUMENT, "warmup" },
        { { .until = "ess=5" }, SAL_ERR_ARGUMENT, "ess" },
        { { .until = "error=0" }, SAL_ERR_ARGUMENT, "E above 0" },
        { { .sampler = "dula" }, SAL_ERR_UNSUPPORTED, "dula" },
        { { .sampler = "no-such" }, SAL_ERR_ARGUMENT, "no-such" },
        { { .log_base = half }, SAL_ERR_ARGUMENT, "sum to" },
    };
    sal_model *model = opened("ising:side=2");
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_log_z_estimate z = { .levels = -7 };
        ck_assert_int_eq(sal_log_z(model, &cases[k].options, &z, &err), cases[k].status);
        ck_assert_msg(strstr(err.message, cases[k].message) != NULL, "%s", err.message);
        ck_assert_int_eq(z.levels, -7);
    }
    ck_assert_int_eq(sal_log_z(NULL, NULL, &(sal_log_z_estimate){ 0 }, &err), SAL_ERR_ARGUMENT);
    ck_assert_int_eq(sal_log_z(model, NULL, NULL, &err), SAL_ERR_ARGUMENT);
    sal_model_destroy(model);
}
END_TEST

/* NaN where the first variable is 1. */
static double nan_callback(const double *x, double *gradient, void *data)
{
    (void)data;
    (void)gradient;
    return x[0] > 0 ? NAN : 0;
}

START_TEST(a_value_that_is_no_number_is_an_error)
{
    const sal_callback callback = { .f = nan_callback };
    const sal_block block = { .name = "x", .kind = SAL_BINARY, .count = 3 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_log_z_estimate z;
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    ck_assert_int_eq(sal_log_z(model, NULL, &z, &err), SAL_ERR_MODEL);
    ck_assert_msg(strstr(err.message, "nan") || strstr(err.message, "NaN"), "%s", err.message);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static sal_status whole(sal_model *model)
{
    const sal_log_z_options options = {
        .chains = 2, .sweeps = 20, .warmup = 32, .steps = 1, .threads = 1
    };
    sal_log_z_estimate z;
    return sal_log_z(model, &options, &z, NULL);
}

START_TEST(allocation_failures_are_errors)
{
    sal_model *model = tiny_limited(LIMIT_BY_AT_MOST, SAL_F64), *soft = NULL;
    ck_alloc_sweep(sali_soften(model, 5, &soft, NULL), sal_model_destroy(soft));
    sal_model_destroy(model);
    model = opened("poisson:dim=1");
    bool failed = true;
    for (int64_t n = 1; failed; n += 29) { /* there are thousands, at every level the same ones */
        alloc_fail_at(n);
        const sal_status status = whole(model);
        failed = alloc_failed();
        alloc_fail_at(0);
        ck_assert_int_eq(status, failed ? SAL_ERR_MEMORY : SAL_OK);
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("log_z");
    TCase *tc = tcase_create("log_z");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, forbidden_states_get_a_price);
    tcase_add_test(tc, what_forbids_nothing_known_is_not_softened);
    tcase_add_test(tc, estimates_are_exact_within_their_errors);
    tcase_add_test(tc, clamped_and_single_precision_models_are_exact_too);
    tcase_add_test(tc, networks_that_forbid_states_are_exact);
    tcase_add_test(tc, states_that_are_forbidden_without_tables_are_left_out);
    tcase_add_test(tc, a_model_by_a_function_is_exact);
    tcase_add_test(tc, counts_without_a_cap_are_exact);
    tcase_add_test(tc, the_base_itself_has_no_error);
    tcase_add_test(tc, errors_hold_in_a_hundred_runs);
    tcase_add_test(tc, energies_give_log_z);
    tcase_add_test(tc, each_reason_for_doubt_is_found);
    tcase_add_test(tc, what_does_not_mix_is_said);
    tcase_add_test(tc, estimates_do_not_depend_on_threads);
    tcase_add_test(tc, until_ends_at_the_error_or_at_the_sweeps);
    tcase_add_test(tc, progress_can_stop_it);
    tcase_add_test(tc, progress_can_stop_it_within_a_sweep);
    tcase_add_test(tc, bad_calls_are_refused);
    tcase_add_test(tc, a_value_that_is_no_number_is_an_error);
    tcase_add_test(tc, allocation_failures_are_errors);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
