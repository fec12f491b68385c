/* SPDX-License-Identifier: MIT */
/* Changes of single variables: any sequence of tried, kept and taken-back changes leaves the value
 * and gradient of an evaluation from scratch, and taking back restores every bit. */
#define TEST_FORKS 0
#include "test.h"

#include <math.h>

#include <saltus/io.h>
#include <saltus/model.h>

#include "ad/changes.h"
#include "ad/tape.h"
#include "ad/workspace.h"
#include "alloc_fail.h"
#include "core/rng.h"
#include "models/tape_model.h"
#include "models/tracker.h"
#include "op_cases.h"
#include "random_tape.h"
#include "samplers/start.h"

enum { CHAINS = 3, TRIES = 400, OP_TRIES = 60, RANDOM_TAPES = 1200, RANDOM_TRIES = 21 };

/* What is compared, of all chains. */
typedef struct snapshot {
    double f[CHAINS];
    unsigned char *gradient;
    int32_t *codes;
    unsigned char *x;
} snapshot;

static size_t row_bytes(const sal_model *model)
{
    return (size_t)model->space->width * sali_dtype_size(model->dtype);
}

static snapshot take_snapshot(const sal_model *model, const sali_changes *ch)
{
    size_t bytes = row_bytes(model), V = (size_t)model->space->n_variables;
    snapshot s = { .gradient = malloc(CHAINS * bytes),
                   .codes = malloc(CHAINS * V * sizeof(int32_t)),
                   .x = malloc(CHAINS * bytes) };
    for (int64_t c = 0; c < CHAINS; c++) {
        s.f[c] = sali_changes_value(ch, c);
        memcpy(s.gradient + (size_t)c * bytes, sali_changes_gradient(ch, c), bytes);
        memcpy(s.codes + (size_t)c * V, sali_changes_codes(ch, c), V * sizeof(int32_t));
        memcpy(s.x + (size_t)c * bytes, sali_changes_state(ch, c), bytes);
    }
    return s;
}

static void free_snapshot(snapshot *s)
{
    free(s->gradient);
    free(s->codes);
    free(s->x);
}

static void check_same_bits(const sal_model *model, const snapshot *a, const snapshot *b)
{
    size_t bytes = CHAINS * row_bytes(model);
    ck_assert_mem_eq(a->f, b->f, sizeof a->f);
    ck_assert_mem_eq(a->codes, b->codes,
                     CHAINS * (size_t)model->space->n_variables * sizeof(int32_t));
    ck_assert_mem_eq(a->x, b->x, bytes);
    ck_assert_mem_eq(a->gradient, b->gradient, bytes);
}

static double real_of(const sal_model *model, const void *values, int64_t k)
{
    return model->dtype == SAL_F32 ? (double)((const float *)values)[k]
                                   : ((const double *)values)[k];
}

static void check_close(double got, double want, double tolerance, const char *what)
{
    bool same = got == want || fabs(got - want) <= tolerance * (1 + fabs(want));
    ck_assert_msg(same || (isnan(got) && isnan(want)), "%s: %.17g, from scratch %.17g", what, got,
                  want);
}

/* Value and gradient against a start from scratch at the same codes. */
static void check_against_scratch(const sal_model *model, sali_changes *ch, sali_changes *scratch)
{
    double tolerance = model->dtype == SAL_F32 ? 2e-4 : 1e-11;
    int64_t V = model->space->n_variables, N = model->space->width;
    int32_t *codes = malloc((size_t)(CHAINS * V) * sizeof *codes);
    for (int64_t c = 0; c < CHAINS; c++) {
        memcpy(codes + c * V, sali_changes_codes(ch, c), (size_t)V * sizeof *codes);
    }
    sali_changes_start(scratch, CHAINS, codes);
    if (!sali_changes_has_local_gradient(ch)) {
        sali_changes_backward(ch);
    }
    for (int64_t c = 0; c < CHAINS; c++) {
        double f = sali_changes_value(scratch, c);
        check_close(sali_changes_value(ch, c), f, tolerance, "f");
        for (int64_t i = 0; f > -INFINITY && i < N; i++) {
            check_close(real_of(model, sali_changes_gradient(ch, c), i),
                        real_of(model, sali_changes_gradient(scratch, c), i), 10 * tolerance,
                        "gradient");
        }
    }
    free(codes);
}

static uint32_t draw(uint32_t step, uint32_t k, uint32_t bound)
{
    sali_stream stream = { .seed = 11, .step = step, .purpose = SALI_RNG_TEST };
    return sali_rng_below(&stream, k, bound);
}

/* Distinct random variables and codes; their number. */
static int64_t random_change(const sal_space *space, uint32_t step, int64_t most, int64_t *sites,
                             int32_t *codes)
{
    int64_t n =
        1 + draw(step, 1, (uint32_t)(most < space->n_variables ? most : space->n_variables));
    uint32_t work[4096], chosen[4096];
    sali_stream stream = { .seed = 12, .step = step, .purpose = SALI_RNG_TEST };
    sali_rng_choose(&stream, (uint32_t)space->n_variables, (uint32_t)n, work, chosen);
    for (int64_t k = 0; k < n; k++) {
        sites[k] = chosen[k];
        codes[k] =
            (int32_t)draw(step, 10 + (uint32_t)k, (uint32_t)space->variables[chosen[k]].states);
    }
    return n;
}

static void check_tries(const sal_model *model, uint32_t tries)
{
    const sali_tape_model *tape = sali_model_tape(model);
    sal_error err = { 0 };
    sali_changes *ch = NULL, *scratch = NULL;
    int64_t V = model->space->n_variables;
    int64_t *sites = malloc((size_t)V * sizeof *sites);
    int32_t *codes = malloc((size_t)(CHAINS * V) * sizeof *codes);
    ck_ok(sali_changes_create(tape->program, tape->params, CHAINS, SALI_WANT_STATE_GRADIENT, &ch,
                              &err),
          &err);
    ck_ok(sali_changes_create(tape->program, tape->params, CHAINS, SALI_WANT_STATE_GRADIENT,
                              &scratch, &err),
          &err);
    for (int64_t c = 0; c < CHAINS; c++) {
        sali_stream stream = { .seed = 3, .chain = (uint32_t)c, .purpose = SALI_RNG_TEST };
        sali_random_codes(model->space, &stream, codes + c * V);
    }
    sali_changes_start(ch, CHAINS, codes);
    sali_changes_start(scratch, CHAINS, codes); /* the first start takes memory for journals */
    int64_t allocations = alloc_count();
    for (uint32_t step = 0; step < tries; step++) {
        int64_t c = draw(step, 0, CHAINS);
        snapshot before = take_snapshot(model, ch), after;
        int64_t n = random_change(model->space, step, step % 10 ? 3 : V, sites, codes);
        double f = sali_changes_try(ch, c, n, sites, codes);
        check_close(f, sali_changes_value(ch, c), 0, "f returned");
        if (step % 7 == 0) {
            check_against_scratch(model, ch, scratch);
        }
        if (draw(step, 5, 2)) {
            sali_changes_keep(ch, c);
        } else {
            sali_changes_undo(ch, c);
            if (sali_changes_has_local_gradient(ch)) {
                after = take_snapshot(model, ch);
                check_same_bits(model, &before, &after);
                free_snapshot(&after);
            } else {
                f = sali_changes_value(ch, c);
                ck_assert_mem_eq(&f, &before.f[c], sizeof f);
            }
        }
        free_snapshot(&before);
    }
    check_against_scratch(model, ch, scratch);
    ck_assert_int_eq(alloc_count(), allocations); /* replay allocates nothing */
    sali_changes_destroy(ch);
    sali_changes_destroy(scratch);
    free(sites);
    free(codes);
}

static void check_model(const sal_model *model)
{
    check_tries(model, TRIES);
}

static void check_builtin(const char *spec, bool local)
{
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        sali_changes *ch = NULL;
        ck_ok(sal_model_open(spec, dtype, &model, &err), &err);
        check_model(model);
        const sali_tape_model *tape = sali_model_tape(model);
        ck_ok(sali_changes_create(tape->program, tape->params, 1, SALI_WANT_STATE_GRADIENT, &ch,
                                  &err),
              &err);
        ck_assert_int_eq(sali_changes_has_local_gradient(ch), local);
        sali_changes_destroy(ch);
        sal_model_destroy(model);
    }
}

/* The same with fewer tries, for models that are slow. */
static void check_tried(const char *spec, uint32_t tries)
{
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        ck_ok(sal_model_open(spec, dtype, &model, &err), &err);
        check_tries(model, tries);
        sal_model_destroy(model);
    }
}

START_TEST(lattices_follow_changes)
{
    check_builtin("ising:side=7,bias=0.3", true);
    check_builtin("ising:side=2", true);
}
END_TEST

START_TEST(dense_couplings_follow_changes)
{
    check_builtin("ising-dense:dim=23", true);
}
END_TEST

START_TEST(hidden_units_follow_changes)
{
    check_builtin("rbm:visible=30,hidden=17", false);
}
END_TEST

START_TEST(counts_follow_changes)
{
    check_builtin("poisson:dim=9,interaction=0.1,cap=5", false);
    check_builtin("poisson:dim=1,cap=1", false);
}
END_TEST

/* Terms of very unlike size, which come and go: sums must not keep their rounding errors; and sums
 * that pass through -inf must come back. */
START_TEST(large_terms_leave_nothing_behind)
{
    for (int k = 0; k < 4; k++) {
        sal_error err = { 0 };
        sal_space *space = sal_space_create();
        sal_model *model = NULL;
        ck_ok(
            sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 9 }, &err),
            &err);
        const double A[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 4, 6, 8, 1, 3, 5, 7, 9 };
        sal_tape *tape = sal_tape_create(space, k % 2 ? SAL_F32 : SAL_F64);
        sal_expr s = sal_state(tape), f;
        if (k / 2) {
            f = sal_sum(sal_matvec(sal_constant(tape, A, SAL_SHAPE(2, 9)), sal_log(s)));
        } else {
            f = sal_log(sal_mean(sal_exp(sal_scale(s, k % 2 ? 25 : 60))));
        }
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        check_model(model);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(convolutions_follow_changes)
{
    check_tried("usps-conv:channels=2,quadratic=1", 40);
    check_tried("mnist-resnet:channels=2", 20);
}
END_TEST

/* Rows and columns of images, and of windows, are not to be mistaken for each other. */
static sal_model *oblong_model(sal_dtype dtype, const int64_t sides[4], int64_t stride)
{
    const int64_t H = sides[0], W = sides[1], h = sides[2], w = sides[3];
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    double weights[3 * 2 * 6], bias[3] = { 0.5, -0.25, 0.125 };
    for (int64_t k = 0; k < 6 * h * w; k++) {
        weights[k] = cos((double)(3 * k + 1));
    }
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 2 * H * W },
                        &err),
          &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr image = sal_reshape(sal_state(tape), SAL_SHAPE(2, H, W));
    sal_expr out = sal_conv2d(image, sal_constant(tape, weights, SAL_SHAPE(3, 2, h, w)),
                              sal_constant(tape, bias, SAL_SHAPE(3)), stride, 1);
    ck_ok(sal_model_from_tape(tape, sal_sum(sal_tanh(out)), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(convolutions_of_oblong_images_follow_changes)
{
    static const int64_t sides[][4] = { { 7, 12, 2, 3 }, { 12, 7, 2, 3 }, { 7, 12, 3, 2 } };
    for (int k = 0; k < 12; k++) {
        sal_model *model = oblong_model(k % 2 ? SAL_F32 : SAL_F64, sides[k / 4], 1 + k / 2 % 2);
        check_tries(model, 60);
        sal_model_destroy(model);
    }
}
END_TEST

/* Factors over categorical and binary variables, some entries forbidden; with `other`, another term
 * reads the state too. */
static sal_model *network(sal_dtype dtype, bool forbidden, bool other)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    ck_ok(sal_space_add(
              space, &(sal_block){ .name = "c", .kind = SAL_CATEGORICAL, .count = 5, .states = 3 },
              &err),
          &err);
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 4 }, &err),
          &err);
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 2 }, &err),
          &err);
    const int64_t begin[] = { 0, 2, 4, 7, 8, 10, 12, 14 };
    const int64_t scope[] = { 0, 1, 1, 2, 3, 5, 9, 4, 4, 6, 7, 8, 10, 0 };
    double T[9 + 9 + 12 + 3 + 6 + 4 + 6];
    sali_stream stream = { .seed = 9, .purpose = SALI_RNG_TEST };
    sali_rng_normal(&stream, 49, T);
    for (int k = 0; forbidden && k < 49; k += 5) {
        T[k] = -INFINITY;
    }
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr f = sal_table(tape, sal_constant(tape, T, SAL_SHAPE(49)), 7, begin, scope);
    if (other) {
        sal_expr s = sal_state_block(tape, "s");
        f = sal_add(sal_scale(f, 0.5), sal_dot(s, sal_constant(tape, T + 1, SAL_SHAPE(2))));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(factor_graphs_follow_changes)
{
    for (int k = 0; k < 8; k++) {
        sal_model *model = network(k & 1 ? SAL_F32 : SAL_F64, k & 2, k & 4);
        check_model(model);
        sal_model_destroy(model);
    }
}
END_TEST

/* Ops with rules and without, shared inputs, constants, slices. */
START_TEST(mixed_tapes_follow_changes)
{
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_error err = { 0 };
        sal_space *space = sal_space_create();
        sal_model *model = NULL;
        const double levels[] = { -1, 0.5, 2, 2.5 };
        ck_ok(
            sal_space_add(
                space,
                &(sal_block){
                    .name = "o", .kind = SAL_ORDINAL, .count = 12, .states = 4, .levels = levels },
                &err),
            &err);
        sal_tape *tape = sal_tape_create(space, dtype);
        sal_expr s = sal_state(tape), half = sal_slice(s, 0, 3, 6);
        sal_expr a = sal_tanh(sal_mul(half, sal_scalar(tape, 0.5)));
        sal_expr b = sal_sigmoid(sal_slice(s, 0, 6, 6));
        sal_expr m = sal_reshape(sal_square(s), SAL_SHAPE(3, 4));
        sal_expr f = sal_add(sal_sum(sal_mul(a, b)), sal_mean(sal_sub(a, b)));
        f = sal_add(f, sal_scale(sal_sum(sal_logsumexp_axis(m, 1)), -0.1));
        f = sal_add(f, sal_div(sal_dot(s, s), sal_scalar(tape, 10)));
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        check_model(model);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

/* The contract of rules, and of ops without one. */
START_TEST(every_op_follows_changes)
{
    const op_case *test = &op_cases[_i];
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_error err = { 0 };
        sal_space *space = op_space();
        sal_tape *tape = sal_tape_create(space, dtype);
        sal_model *model = NULL;
        ck_ok(sal_model_from_tape(tape, op_record(tape, test), &model, &err), &err);
        int64_t n = sal_model_parameters_size(model);
        double *values = calloc((size_t)(n + 1), sizeof *values);
        for (int64_t k = 0; k < n; k++) {
            values[k] =
                op_number(k, sali_op_f64(test->op)->test_low, sali_op_f64(test->op)->test_high);
        }
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        if (sali_model_tape(model)->program->state >= 0) {
            check_tries(model, OP_TRIES);
        }
        free(values);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- products with constants */

enum { CELLS = 16, LABELS = 3 };

/* One entry in 16, or all; rows of a sparse matrix overlap. */
static sal_expr product_matrix(sal_tape *tape, bool sparse, int64_t m, int64_t n)
{
    double values[48 * 48] = { 0 };
    for (int64_t i = 0; i < m; i++) {
        for (int64_t t = 0; t < (sparse ? n / 16 : n); t++) {
            values[i * n + (i + t) % n] = (double)((i + 3 * t) % 5) - 1.75;
        }
    }
    return sal_constant(tape, values, SAL_SHAPE(m, n));
}

/* Sums of squares and more of A s, A S, S A, where S [16, 3] are the labels. */
static sal_model *product_model(sal_dtype dtype, bool sparse)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(
        space,
        &(sal_block){ .name = "s", .kind = SAL_CATEGORICAL, .count = CELLS, .states = LABELS },
        NULL);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), S = sal_reshape(s, SAL_SHAPE(CELLS, LABELS));
    sal_expr St = sal_reshape(s, SAL_SHAPE(LABELS, CELLS)), one = sal_scalar(tape, 1);
    sal_expr left = sal_matmul(product_matrix(tape, sparse, 32, CELLS), S);
    sal_expr right = sal_matmul(St, product_matrix(tape, sparse, CELLS, 32));
    sal_expr whole = sal_matvec(product_matrix(tape, sparse, 48, 48), s);
    sal_expr f = sal_sum(sal_square(sal_sub(left, one)));
    f = sal_add(f, sal_sum(sal_tanh(sal_add(right, one))));
    f = sal_scale(sal_add(f, sal_sum(sal_square(sal_sub(whole, one)))), -0.125);
    f = sal_add(f, sal_sum(whole)); /* which adds rises up */
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(products_with_constants_follow_changes)
{
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        for (int sparse = 0; sparse < 2; sparse++) {
            sal_model *model = product_model(dtype, sparse);
            const sali_program *program = sali_model_tape(model)->program;
            for (int32_t i = 0; i < program->n_nodes; i++) {
                sali_op_id op = program->nodes[i].op;
                ck_assert((op != SALI_OP_matvec && op != SALI_OP_matmul) ||
                          (program->steps[i].plan != NULL) == sparse);
            }
            check_model(model);
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* Few elements change by a sparse product, so a second one still follows them; not so a dense one.
 */
START_TEST(sparse_products_pay)
{
    for (int sparse = 0; sparse < 2; sparse++) {
        sal_error err = { 0 };
        sali_program *program = NULL;
        bool pays = !sparse;
        sal_space *space = sal_space_create();
        sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 48 }, NULL);
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_expr A = product_matrix(tape, sparse, 48, 48);
        sal_expr y = sal_matvec(A, sal_tanh(sal_matvec(A, sal_state(tape))));
        ck_ok(sali_program_create(tape, sal_sum(sal_tanh(y)), &program, &err), &err);
        ck_ok(sali_program_is_trackable(program, &pays, &err), &err);
        ck_assert_int_eq(pays, sparse);
        sali_program_destroy(program);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

/* Moves a variable of chain 0 to code 1; the coordinates [N] whose gradient is another then. */
static int64_t gradients_changed(sali_changes *ch, int64_t N, int64_t site, int64_t *where)
{
    double *before = calloc((size_t)N, sizeof *before);
    int64_t n = 0;
    memcpy(before, sali_changes_gradient(ch, 0), (size_t)N * sizeof *before);
    sali_changes_try(ch, 0, 1, &site, &(int32_t){ 1 });
    const double *after = sali_changes_gradient(ch, 0);
    for (int64_t k = 0; k < N; k++) {
        if (before[k] != after[k]) {
            where[n++] = k;
        }
    }
    free(before);
    return n;
}

/* The form of a matrix becomes edges, whose gradient follows a change at the neighbours only. */
START_TEST(a_change_of_a_sparse_form_reaches_its_neighbours)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sali_changes *ch = NULL;
    double ring[32 * 32] = { 0 };
    for (int64_t i = 0; i < 32; i++) {
        ring[i * 32 + (i + 1) % 32] = 0.5;
    }
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 32 }, NULL);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), A = sal_constant(tape, ring, SAL_SHAPE(32, 32));
    ck_ok(sal_model_from_tape(tape, sal_dot(s, sal_matvec(A, s)), &model, &err), &err);
    const sali_tape_model *content = sali_model_tape(model);
    int32_t codes[32] = { 0 };
    int64_t where[32];
    ck_ok(sali_changes_create(content->program, content->params, 1, SALI_WANT_STATE_GRADIENT, &ch,
                              &err),
          &err);
    ck_assert(sali_changes_has_local_gradient(ch));
    sali_changes_start(ch, 1, codes);
    ck_assert_int_eq(gradients_changed(ch, 32, 7, where), 2);
    ck_assert_int_eq(where[0], 6);
    ck_assert_int_eq(where[1], 8);
    sali_changes_destroy(ch);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(real_networks_follow_changes)
{
    const char *names[] = { "data/uai/BN_1.uai", "data/uai/ObjectDetection_12.uai" };
    for (int k = 0; k < 2; k++) {
        const char *path = test_data(names[k]);
        if (path) {
            sal_error err = { 0 };
            sal_model *model = NULL;
            ck_ok(sal_model_open(path, 0, &model, &err), &err);
            check_model(model);
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* Expression trees over all smooth ops, and quadratic ones whose gradient follows by rules. */
START_TEST(random_tapes_follow_changes)
{
    for (uint64_t seed = 0; seed < RANDOM_TAPES; seed++) {
        sal_dtype dtype = seed % 2 ? SAL_F32 : SAL_F64;
        sal_error err = { 0 };
        sal_model *model = NULL;
        sal_expr f;
        sal_tape *tape = random_tape(seed, seed % 3 ? RANDOM_SMOOTH : RANDOM_QUADRATIC, dtype, &f);
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        int64_t n = sal_model_parameters_size(model);
        double *values = malloc((size_t)(n + 1) * sizeof *values);
        random_numbers(seed, 1, n, -1, 1, values);
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        if (sali_model_tape(model)->program->state >= 0) {
            check_tries(model, RANDOM_TRIES);
        }
        free(values);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
}
END_TEST

START_TEST(a_change_on_a_lattice_reaches_its_neighbours)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sali_changes *ch = NULL;
    ck_ok(sal_model_open("ising:side=40", SAL_F64, &model, &err), &err);
    const sali_tape_model *tape = sali_model_tape(model);
    int32_t *codes = calloc(1600, sizeof *codes);
    const int64_t neighbours[] = { 805 - 40, 804, 806, 805 + 40 };
    int64_t where[1600];
    ck_ok(sali_changes_create(tape->program, tape->params, 1, SALI_WANT_STATE_GRADIENT, &ch, &err),
          &err);
    ck_assert(sali_changes_has_local_gradient(ch));
    sali_changes_start(ch, 1, codes);
    ck_assert_int_eq(gradients_changed(ch, 1600, 805, where), 4);
    for (int64_t k = 0; k < 4; k++) {
        ck_assert_int_eq(where[k], neighbours[k]);
    }
    sali_changes_destroy(ch);
    sal_model_destroy(model);
    free(codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changes");
    TCase *tcase = tcase_create("changes");
    tcase_add_test(tcase, lattices_follow_changes);
    tcase_add_test(tcase, dense_couplings_follow_changes);
    tcase_add_test(tcase, hidden_units_follow_changes);
    tcase_add_test(tcase, counts_follow_changes);
    tcase_add_test(tcase, convolutions_follow_changes);
    tcase_add_test(tcase, convolutions_of_oblong_images_follow_changes);
    tcase_add_test(tcase, large_terms_leave_nothing_behind);
    tcase_add_test(tcase, factor_graphs_follow_changes);
    tcase_add_test(tcase, mixed_tapes_follow_changes);
    tcase_add_loop_test(tcase, every_op_follows_changes, 0, OP_CASES);
    tcase_add_test(tcase, products_with_constants_follow_changes);
    tcase_add_test(tcase, sparse_products_pay);
    tcase_add_test(tcase, a_change_of_a_sparse_form_reaches_its_neighbours);
    tcase_add_test(tcase, real_networks_follow_changes);
    tcase_add_test(tcase, random_tapes_follow_changes);
    tcase_add_test(tcase, a_change_on_a_lattice_reaches_its_neighbours);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
