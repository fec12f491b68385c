/* SPDX-License-Identifier: MIT */
/* Models: values against independent formulas, differences, clamping, parameters, specifications.
 */
#include "test.h"

#include <math.h>

#include <saltus/io.h>
#include <saltus/model.h>

#include "alloc_fail.h"
#include "core/rng.h"
#include "models/zoo/making.h"
#include "models/clamp.h"
#include "models/tape_model.h"
#include "samplers/start.h"

#define CLOSE(a, b, tolerance)                                                                  \
    ck_assert_msg(fabs((a) - (b)) <= (tolerance) * (1 + fabs(b)), "%s = %.17g, %s = %.17g", #a, \
                  (double)(a), #b, (double)(b))

static void random_state(const sal_model *model, uint32_t k, int32_t *codes)
{
    sali_stream stream = { .seed = 7, .chain = k, .purpose = SALI_RNG_TEST };
    sali_random_codes(sal_model_space(model), &stream, codes);
}

/* ---- formulas */

/* theta s'As + bias sum s over the neighbours of a torus, each unordered pair once. */
static double lattice(int side, int cyclic, double theta, double bias, const int32_t *codes)
{
    double f = 0;
    for (int i = 0; i < side * side; i++) {
        double si = 2 * codes[i] - 1;
        f += bias * si;
        for (int j = 0; j < i; j++) {
            int dr = abs(i / side - j / side), dc = abs(i % side - j % side);
            if (cyclic) {
                dr = dr < side - dr ? dr : side - dr;
                dc = dc < side - dc ? dc : side - dc;
            }
            f += dr + dc == 1 ? 2 * theta * si * (2 * codes[j] - 1) : 0;
        }
    }
    return f;
}

START_TEST(ising_lattice_counts_each_pair_once)
{
    sal_error err = { 0 };
    for (int side = 1; side <= 5; side++) {
        for (int cyclic = 0; cyclic <= 1; cyclic++) {
            char spec[80];
            sal_model *model = NULL;
            int32_t codes[25];
            double f;
            snprintf(spec, sizeof spec, "ising:side=%d,theta=0.3,bias=0.7,cyclic=%d", side, cyclic);
            ck_ok(sal_model_open(spec, SAL_F64, &model, &err), &err);
            for (uint32_t k = 0; k < 5; k++) {
                random_state(model, k, codes);
                ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
                CLOSE(f, lattice(side, cyclic, 0.3, 0.7, codes), 1e-13);
            }
            ck_assert(sal_model_is_multilinear(model));
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* theta s'As of labels: 2 theta for each pair of equal neighbours, borders cyclic or free. */
static double potts(int side, int cyclic, double theta, const int32_t *codes)
{
    double f = 0;
    for (int i = 0; i < side * side; i++) {
        for (int j = 0; j < i; j++) {
            int dr = abs(i / side - j / side), dc = abs(i % side - j % side);
            dr = cyclic && dr == side - 1 ? (dr > 0) : dr;
            dc = cyclic && dc == side - 1 ? (dc > 0) : dc;
            f += dr + dc == 1 && codes[i] == codes[j] ? 2 * theta : 0;
        }
    }
    return f;
}

START_TEST(potts_lattice_counts_each_pair_of_equal_neighbours_once)
{
    sal_error err = { 0 };
    for (int side = 1; side <= 5; side++) {
        for (int cyclic = 0; cyclic <= 1; cyclic++) {
            char spec[80];
            sal_model *model = NULL;
            int32_t codes[25];
            double f;
            snprintf(spec, sizeof spec, "potts:side=%d,states=3,theta=0.3,cyclic=%d", side, cyclic);
            ck_ok(sal_model_open(spec, SAL_F64, &model, &err), &err);
            for (uint32_t k = 0; k < 5; k++) {
                random_state(model, k, codes);
                ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
                CLOSE(f, potts(side, cyclic, 0.3, codes), 1e-13);
            }
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(dense_potts_is_half_the_quadratic_form_of_the_one_hot)
{
    enum { DIM = 4, K = 3, N = DIM * K };
    sal_model *model = NULL;
    sal_error err = { 0 };
    double J[N * N], h[N], f;
    int32_t codes[DIM];
    ck_ok(sal_model_open("potts-dense:dim=4,states=3,scale=0.5", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    ck_ok(sal_model_get_params(model, "h", h, &err), &err);
    for (uint32_t k = 0; k < 5; k++) {
        double want = 0;
        random_state(model, k, codes);
        for (int i = 0; i < DIM; i++) {
            want += h[i * K + codes[i]];
            for (int j = 0; j < DIM; j++) {
                want += J[(i * K + codes[i]) * N + j * K + codes[j]] / 2;
            }
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        CLOSE(f, want, 1e-12);
    }
    sal_model_destroy(model);
    ck_fails(sal_model_open("potts-dense:dim=20000,states=2", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "20000");
    ck_fails(sal_model_open("potts:states=0", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "states");
}
END_TEST

START_TEST(rbm_equals_the_sum_over_hidden_units)
{
    enum { D = 5, H = 3 };
    sal_error err = { 0 };
    sal_model *model = NULL;
    double W[H * D], b[D], c[H], f, logs[1 << H];
    int32_t codes[D];
    ck_ok(sal_model_open("rbm:visible=5,hidden=3", SAL_F64, &model, &err), &err);
    sali_stream stream = { .seed = 3, .purpose = SALI_RNG_TEST };
    double values[H * D + D + H];
    sali_rng_normal(&stream, H * D + D + H, values);
    memcpy(W, values, sizeof W);
    memcpy(b, values + H * D, sizeof b);
    memcpy(c, values + H * D + D, sizeof c);
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    random_state(model, 1, codes);
    for (int h = 0; h < 1 << H; h++) { /* log sum over h of exp(h'(Ws + c) + b's) */
        logs[h] = 0;
        for (int i = 0; i < D; i++) {
            logs[h] += b[i] * codes[i];
        }
        for (int j = 0; j < H; j++) {
            double input = c[j];
            for (int i = 0; i < D; i++) {
                input += W[j * D + i] * codes[i];
            }
            logs[h] += (h >> j & 1) * input;
        }
    }
    double sum = 0;
    for (int h = 0; h < 1 << H; h++) {
        sum += exp(logs[h]);
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    CLOSE(f, log(sum), 1e-13);
    sal_model_destroy(model);
}
END_TEST

START_TEST(ordinal_mixtures_follow_their_formula)
{
    enum { D = 3, K = 50 };
    for (int order = 2; order <= 4; order += 2) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        char spec[64];
        int32_t codes[D];
        double f, sum = 0;
        snprintf(spec, sizeof spec, "ordinal-poly%d:dim=3", order);
        ck_ok(sal_model_open(spec, SAL_F64, &model, &err), &err);
        random_state(model, 2, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        for (int k = 1; k <= K; k++) {
            double term = 0;
            for (int i = 0; i < D; i++) {
                double u = -1.5 + 4.5 * codes[i] / 49;
                double t = order == 2 ? u + k / 25.0 : 2 * u - 1 + 3 * k / 50.0;
                term += order == 2 ? 1.5 - 2 * t - 6 * t * t : -t + t * t - pow(t, 3) - pow(t, 4);
            }
            sum += exp(term);
        }
        CLOSE(f, log(sum), 1e-12);
        sal_model_destroy(model);
    }
}
END_TEST

/* Differences from differences of values, against those that the model gives. */
static void check_differences(const sal_model *model, uint32_t states, double tolerance)
{
    const sal_space *space = sal_model_space(model);
    int64_t V = space->n_variables, row = 0;
    sal_error err = { 0 };
    for (int64_t v = 0; v < V; v++) {
        row += space->variables[v].states;
    }
    int32_t *codes = malloc((size_t)V * sizeof *codes);
    double *delta = malloc((size_t)row * sizeof *delta), f, g;
    for (uint32_t k = 0; k < states; k++) {
        int64_t at = 0;
        random_state(model, k, codes);
        if (model->ops
                ->feasibility) { /* networks with forbidden states: start from one that is not */
            sali_chains *chains = NULL;
            sal_model *guide = NULL;
            ck_ok(model->ops->feasibility(model, &guide, &err), &err);
            ck_ok(sali_chains_create(model, 1, 0, 5 + k, &chains, &err), &err);
            ck_ok(sali_start(chains, codes, guide, &err), &err);
            memcpy(codes, chains->codes, (size_t)V * sizeof *codes);
            sali_chains_destroy(chains);
            sal_model_destroy(guide);
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, delta, &err), &err);
        ck_assert(isfinite(f));
        for (int64_t v = 0; v < V; v++) {
            int32_t now = codes[v];
            for (int32_t c = 0; c < space->variables[v].states; c++, at++) {
                codes[v] = c;
                ck_ok(sal_model_evaluate(model, 1, codes, &g, NULL, NULL, &err), &err);
                if (g == -INFINITY) {
                    ck_assert_double_eq(delta[at], -INFINITY);
                } else {
                    CLOSE(delta[at], g - f, tolerance);
                }
            }
            codes[v] = now;
        }
    }
    free(codes);
    free(delta);
}

/* f multilinear in each one-hot: differences are made from the gradient, checked against values. */
START_TEST(network_gradients_are_exact_differences)
{
    const char *names[] = { "BN_1", "CSP_12", "ObjectDetection_12", "DBN_11", "Segmentation_11" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char relative[64];
        snprintf(relative, sizeof relative, "data/uai/%s.uai", names[k]);
        const char *path = test_data(relative);
        if (path) {
            sal_error err = { 0 };
            sal_model *model = NULL;
            ck_ok(sal_model_open(path, SAL_F64, &model, &err), &err);
            ck_assert(sal_model_is_multilinear(model));
            check_differences(model, 1, 1e-11);
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(differences_are_exact_for_models_of_both_ways)
{
    const char *specs[] = { "ising:side=4,bias=0.2", "rbm:visible=9,hidden=4", "ising-dense:dim=9",
                            "poisson:dim=3,interaction=0.2,cap=6" };
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        ck_ok(sal_model_open(specs[k], SAL_F64, &model, &err), &err);
        check_differences(model, 4, 1e-11);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- clamping */

START_TEST(a_clamped_model_is_the_model_with_variables_fixed)
{
    sal_error err = { 0 };
    sal_model *model = NULL, *clamped = NULL;
    const int64_t variables[] = { 2, 7, 2 };
    const int32_t values[] = { 1, 0, 1 };
    int32_t codes[14], full[16], back[14];
    double f, g, gradient[14], whole[16];
    ck_ok(sal_model_open("ising:side=4,bias=0.3", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_clamp(model, 3, variables, values, &clamped, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(clamped)), 14);
    random_state(clamped, 1, codes);
    sali_clamp_expand(clamped, 1, codes, full);
    ck_assert_int_eq(full[2], 1);
    ck_assert_int_eq(full[7], 0);
    sali_clamp_restrict(clamped, 1, full, back);
    ck_assert_mem_eq(back, codes, sizeof back);
    ck_ok(sal_model_evaluate(clamped, 1, codes, &f, gradient, NULL, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, full, &g, whole, NULL, &err), &err);
    ck_assert_double_eq(f, g);
    for (int v = 0, k = 0; v < 16; v++) {
        if (v != 2 && v != 7) {
            ck_assert_double_eq(gradient[k++], whole[v]);
        }
    }
    sal_model_destroy(model); /* the clamped one holds it */
    ck_ok(sal_model_evaluate(clamped, 1, codes, &g, NULL, NULL, &err), &err);
    ck_assert_double_eq(f, g);
    sal_model_destroy(clamped);
}
END_TEST

START_TEST(bad_clamps_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL, *clamped = NULL;
    ck_ok(sal_model_open("ising:side=1", SAL_F64, &model, &err), &err);
    ck_fails(sal_model_clamp(model, 1, (int64_t[]){ 1 }, (int32_t[]){ 0 }, &clamped, &err),
             SAL_ERR_ARGUMENT, &err, "variable 1");
    ck_fails(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 2 }, &clamped, &err),
             SAL_ERR_ARGUMENT, &err, "code 2");
    ck_fails(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 1 }, &clamped, &err),
             SAL_ERR_ARGUMENT, &err, "every variable");
    ck_fails(sal_model_clamp(model, 2, (int64_t[]){ 0, 0 }, (int32_t[]){ 1, 0 }, &clamped, &err),
             SAL_ERR_ARGUMENT, &err, "both");
    ck_assert_ptr_null(clamped);
    sal_model_destroy(model);
}
END_TEST

/* ---- parameters and specifications */

START_TEST(parameters_are_set_read_and_named)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_shape shape;
    double b[4] = { 1, 2, 3, 4 }, all[4 + 12 + 3], again[4];
    ck_ok(sal_model_open("rbm:visible=4,hidden=3", SAL_F64, &model, &err), &err);
    ck_assert_ptr_nonnull(sal_model_parameter(model, 2, NULL));
    ck_assert_ptr_null(sal_model_parameter(model, 3, NULL));
    ck_assert_int_eq(sal_model_parameters_size(model), 19);
    ck_assert_str_eq(sal_model_parameter(model, 0, &shape), "W");
    ck_assert_int_eq(shape.dim[0], 3);
    ck_assert_int_eq(shape.dim[1], 4);
    ck_assert_ptr_null(sal_model_parameter(model, 3, NULL));
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, all, &err), &err);
    ck_assert_double_eq(all[12 + 1], 2);
    ck_ok(sal_model_get_params(model, "b", again, &err), &err);
    ck_assert_mem_eq(again, b, sizeof b);
    ck_fails(sal_model_set_params(model, "w", b, &err), SAL_ERR_NOT_FOUND, &err, "W, b, c");
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_specifications_say_what_is_accepted)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("isng", 0, &model, &err), SAL_ERR_NOT_FOUND, &err, "isng");
    ck_fails(sal_model_open("ising:sides=3", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "ising has no setting 'sides'; did you mean 'side'?");
    ck_fails(sal_model_open("ising:neighbours=3", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "ising has no setting 'neighbours'; it has side=");
    ck_fails(sal_model_open("ising:side=3.5", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "integer");
    ck_fails(sal_model_open("ising:side=-1", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "from 1");
    ck_fails(sal_model_open("ising:side", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "key=value");
    ck_fails(sal_model_open("ising:theta=nan", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "number");
    ck_fails(sal_model_open("ising:side=2,,", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "key");
    ck_fails(sal_model_open("ising:side=2,side=3", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "twice");
    ck_assert_ptr_null(model);
}
END_TEST

static sal_status too_many(sali_making *m, sal_expr *f)
{
    *f = sal_sum(sali_making_state(m, "s", SAL_BINARY, INT64_C(1) << 26, 0));
    return SAL_OK;
}

START_TEST(what_the_space_says_of_variables_is_passed_on)
{
    static const sali_builtin record = { .name = "large", .formula = too_many };
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_fails(sali_making_make(&record, "large", NULL, NULL, SAL_F64, &model, &err),
             SAL_ERR_ARGUMENT, &err, "block 's': 67108864 variables; a space has 1 to");
}
END_TEST

/* ---- callbacks and tapes */

static double nan_above(const double *x, double *gradient, void *data)
{
    (void)gradient;
    return x[0] > *(const double *)data ? NAN : x[0];
}

START_TEST(values_that_are_no_numbers_name_the_state)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    double limit = 0.5, f[2], gradient[2];
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    ck_ok(sal_model_from_callback(space, &(sal_callback){ .f = nan_above, .data = &limit }, &model,
                                  &err),
          &err);
    ck_fails(sal_model_evaluate(model, 2, (int32_t[]){ 0, 1 }, f, NULL, NULL, &err), SAL_ERR_MODEL,
             &err, "state 1");
    ck_fails(sal_model_evaluate(model, 1, (int32_t[]){ 0 }, f, gradient, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "gradient");
    ck_fails(sal_model_from_callback(space, &(sal_callback){ 0 }, &model, &err), SAL_ERR_ARGUMENT,
             &err, "function");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(a_mistake_in_a_formula_is_reported_once_with_its_place)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 3 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F32), *other = sal_tape_create(space, SAL_F32);
    sal_expr s = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(2, 4));
    int line = __LINE__ + 1;
    sal_expr f = sal_sum(sal_exp(sal_matvec(W, s))); /* [2, 4] times [3] */
    f = sal_add(f, sal_state(other));                /* a second mistake is not reported */
    char place[64];
    snprintf(place, sizeof place, "test_models.c:%d", line);
    ck_fails(sal_model_from_tape(tape, f, &model, &err), SAL_ERR_SHAPE, &err, place);
    ck_assert_ptr_nonnull(strstr(err.message, "matvec"));
    ck_assert_ptr_nonnull(strstr(err.message, "[2, 4]"));
    ck_assert_ptr_nonnull(strstr(err.message, "[3]"));
    ck_assert_int_eq(sal_expr_shape(f).rank, -1);
    ck_fails(sal_model_from_tape(other, sal_state(other), &model, &err), SAL_ERR_SHAPE, &err,
             "scalar");
    ck_fails(sal_model_from_tape(other, s, &model, &err), SAL_ERR_ARGUMENT, &err, "tape");
    ck_fails(sal_model_from_tape(NULL, s, &model, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_assert_ptr_null(model);
    sal_tape_destroy(tape);
    sal_tape_destroy(other);
    sal_tape_destroy(NULL);
    sal_space_destroy(space);
}
END_TEST

/* A setting that would do nothing beside a file is a mistake; with its default it is none. */
START_TEST(settings_that_mean_nothing_for_a_table_are_refused)
{
    static const struct {
        const char *specification, *key;
    } cases[] = {
        { "facility-location:facilities=7", "facilities" },
        { "facility-location:customers=7", "customers" },
        { "facility-location:components=7", "components" },
        { "facility-location:spread=7", "spread" },
        { "facility-location:seed=7", "seed" },
        { "regression:dim=7", "dim" },
        { "regression:rows=7", "rows" },
        { "regression:seed=7", "seed" },
    };
    double values[] = { 1, 0, 2, 0, 1, 3, 1, 1, 2 };
    sali_content table = { .kind = SALI_CONTENT_ARRAY,
                           .array = {
                               .ndim = 2, .shape = { 3, 3 }, .count = 9, .values = values } };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = NULL;
        char text[96];
        snprintf(text, sizeof text, "%s means nothing for this file", cases[k].key);
        ck_fails(sali_builtin_make(cases[k].specification, &table, SAL_F64, &model, &err),
                 SAL_ERR_ARGUMENT, &err, text);
        ck_ok(sali_builtin_make(cases[k].specification, NULL, SAL_F64, &model, &err), &err);
        sal_model_destroy(model);
    }
    const char *fine[] = { "facility-location:seed=0,lambda=1", "regression" };
    for (size_t k = 0; k < sizeof fine / sizeof *fine; k++) {
        sal_model *model = NULL;
        ck_ok(sali_builtin_make(fine[k], &table, SAL_F64, &model, &err), &err);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(parameter_only_work_is_done_once_an_update)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    double f, one[] = { 1, 2 }, two[] = { 3, 5 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr w = sal_param(tape, "w", SAL_SHAPE(2));
    ck_ok(sal_model_from_tape(tape, sal_dot(sal_reshape(sal_exp(w), SAL_SHAPE(2)), sal_state(tape)),
                              &model, &err),
          &err);
    uint64_t version = sali_model_version(model);
    ck_ok(sal_model_set_params(model, "w", one, &err), &err);
    ck_assert_uint_gt(sali_model_version(model), version);
    ck_ok(sal_model_evaluate(model, 1, (int32_t[]){ 1, 1 }, &f, NULL, NULL, &err), &err);
    CLOSE(f, exp(1) + exp(2), 1e-15);
    ck_ok(sal_model_set_params(model, NULL, two, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, (int32_t[]){ 0, 1 }, &f, NULL, NULL, &err), &err);
    CLOSE(f, exp(5), 1e-15);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

static const char *const small_models[] = {
    "ising:side=3",
    "ising-er:nodes=5,degree=2",
    "ising-dense:dim=3",
    "ising-cubic:side=2,triples=2",
    "segmentation:side=3",
    "potts:side=2",
    "potts-dense:dim=2,states=3",
    "cellular-potts:side=2,states=2",
    "max-cut:nodes=5,degree=2",
    "independent-set:nodes=5,degree=2",
    "clique:nodes=5",
    "rbm:visible=3,hidden=2",
    "ordinal-poly2:dim=2,components=2,levels=3",
    "ordinal-poly4:dim=2,components=2,levels=3,shift=minus,normalised=1",
    "bernoulli:dim=3",
    "categorical:dim=2,states=3",
    "poisson:dim=3,interaction=0.1",
    "regression:dim=5,rows=6,irrelevant=2",
    "usps-conv:channels=1,states=3,base=1,quadratic=1",
    "conv:height=8,width=9,channels=1,states=3,project=2",
    "resnet:height=8,width=9,channels=1,kind=ordinal,states=3",
    "mlp:visible=3,hidden=2,layers=1",
    "hmm:length=3,states=2",
    "fhmm:length=3,factors=2",
    "crf:tokens=3,labels=2,features=2",
    "mixture:dim=2,states=2,components=2",
    "facility-location:facilities=3,customers=2",
};
#define SMALL_MODELS ((int)(sizeof small_models / sizeof *small_models))

START_TEST(memory_may_lack_at_any_step_of_making)
{
    sal_model *model = NULL;
    ck_alloc_sweep(sal_model_open(small_models[_i], 0, &model, NULL), sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("models");
    TCase *tcase = tcase_create("models");
    tcase_add_test(tcase, ising_lattice_counts_each_pair_once);
    tcase_add_test(tcase, potts_lattice_counts_each_pair_of_equal_neighbours_once);
    tcase_add_test(tcase, dense_potts_is_half_the_quadratic_form_of_the_one_hot);
    tcase_add_test(tcase, rbm_equals_the_sum_over_hidden_units);
    tcase_add_test(tcase, ordinal_mixtures_follow_their_formula);
    tcase_add_test(tcase, network_gradients_are_exact_differences);
    tcase_add_test(tcase, differences_are_exact_for_models_of_both_ways);
    tcase_add_test(tcase, a_clamped_model_is_the_model_with_variables_fixed);
    tcase_add_test(tcase, bad_clamps_are_refused);
    tcase_add_test(tcase, parameters_are_set_read_and_named);
    tcase_add_test(tcase, bad_specifications_say_what_is_accepted);
    tcase_add_test(tcase, what_the_space_says_of_variables_is_passed_on);
    tcase_add_test(tcase, values_that_are_no_numbers_name_the_state);
    tcase_add_test(tcase, a_mistake_in_a_formula_is_reported_once_with_its_place);
    tcase_add_test(tcase, settings_that_mean_nothing_for_a_table_are_refused);
    tcase_add_test(tcase, parameter_only_work_is_done_once_an_update);
    tcase_add_loop_test(tcase, memory_may_lack_at_any_step_of_making, 0, SMALL_MODELS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
