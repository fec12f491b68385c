/* SPDX-License-Identifier: MIT */
/* Couplings read off a formula, against values of the model; and what is no such formula. */
#include "test.h"

#include <math.h>
#include <time.h>

#include "alloc_fail.h"
#include "models/structure/couplings.h"
#include "random_tape.h"
#include "tiny_models.h"

#define STATES 24

static sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

/* The couplings of a model's bits, and their values; NULL: there are none. */
typedef struct bits {
    sali_couplings *couplings;
    const sali_coupling_values *values;
} bits;

static bits read_pairs(const sal_model *model)
{
    bits p = { 0 };
    sal_error err;
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &p.couplings, &err), &err);
    p.values = p.couplings ? sali_couplings_values(p.couplings) : NULL;
    return p;
}

static void random_codes(const sal_space *space, uint64_t k, int32_t *codes)
{
    sali_stream stream = { .seed = k, .purpose = SALI_RNG_TEST };
    for (int64_t v = 0; v < space->n_variables; v++) {
        codes[v] =
            (int32_t)sali_rng_below(&stream, (uint32_t)v, (uint32_t)space->variables[v].states);
    }
}

static void check_rows(const sali_coupling_values *p, const char *where)
{
    double scale = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double sum = fabs(p->linear[i]);
        for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
            int64_t j = p->couplings[k].to, back = p->begin[j];
            ck_assert_msg(j != i && p->couplings[k].J != 0, "%s: row %d", where, (int)i);
            ck_assert_msg(k == p->begin[i] || p->couplings[k - 1].to < j, "%s: row %d is unsorted",
                          where, (int)i);
            while (back < p->begin[j + 1] && p->couplings[back].to != i) {
                back++;
            }
            ck_assert_msg(back < p->begin[j + 1] && p->couplings[back].J == p->couplings[k].J,
                          "%s: %d and %d", where, (int)i, (int)j);
            sum += fabs(p->couplings[k].J);
        }
        scale = fmax(scale, sum);
    }
    ck_assert(fabs(p->largest - scale) <= 1e-12 * scale);
}

static double value_at(const sal_model *model, const int32_t *codes)
{
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* f and all rises of a model in double. */
static void check_values(const sal_model *model, const sali_coupling_values *p, const char *where)
{
    const sal_space *space = model->space;
    int32_t *codes = malloc((size_t)space->n_variables * sizeof *codes);
    check_rows(p, where);
    for (uint64_t k = 0; k < STATES; k++) {
        random_codes(space, k, codes);
        double f = value_at(model, codes), got = sali_couplings_value(p, codes);
        ck_assert_msg(fabs(f - got) < 1e-11 * (1 + fabs(f)), "%s: f %.15g, expected %.15g", where,
                      got, f);
        int64_t v = (int64_t)(k * 7919 % (uint64_t)space->n_variables);
        double rise = sali_couplings_rise(p, codes, v), at[2];
        for (int32_t b = 0; b < 2; b++) {
            codes[v] = b < space->variables[v].states ? b : 0;
            at[b] = value_at(model, codes);
        }
        ck_assert_msg(fabs(at[1] - at[0] - rise) < 1e-11 * (1 + fabs(f)),
                      "%s: rise of %d %.15g, expected %.15g", where, (int)v, rise, at[1] - at[0]);
    }
    free(codes);
}

START_TEST(ready_made_models_are_reconstructed)
{
    static const char *const names[] = { "ising:side=5,theta=0.3,bias=0.2",
                                         "ising:side=2,theta=-0.3", "ising:side=4,cyclic=0",
                                         "ising-dense:dim=23,scale=0.5" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_model *model = builtin(names[k], SAL_F64);
        bits p = read_pairs(model);
        ck_assert_msg(p.values != NULL, "%s is pairwise", names[k]);
        check_values(model, p.values, names[k]);
        sali_couplings_destroy(p.couplings);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(random_quadratic_formulas_are_reconstructed_or_refused)
{
    int made = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        char where[40];
        sal_expr f;
        sal_model *model = NULL;
        sal_error err;
        sal_tape *tape = random_tape(seed, RANDOM_QUADRATIC, SAL_F64, &f);
        snprintf(where, sizeof where, "random tape %d", (int)seed);
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        bits p = read_pairs(model);
        ck_assert(!p.values || model->space->max_states <= 2);
        if (p.values) {
            check_values(model, p.values, where);
            made++;
        }
        sali_couplings_destroy(p.couplings);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
    ck_assert_int_ge(made, 20);
}
END_TEST

/* A formula with every op that is known, over two-state variables of all kinds. */
static sal_model *all_ops(void)
{
    static const double levels[] = { -0.5, 2 };
    static const double table[] = { 0.3, -1, 2, 0.1, 0.7, 0.2, -3, 1, 0.5, 4, 1.5, -0.25 };
    static const int64_t begin[] = { 0, 2, 4, 6, 7 }, scope[] = { 0, 5, 6, 3, 7, 4, 6 };
    double J[16], w[3] = { 0.4, -1.2, 0.9 }, A[8];
    static const int64_t pairs[] = { 0, 1, 2, 2, 3, 0 }, chosen[] = { 7, 0, 5, 6 };
    const sal_block blocks[] = {
        { .name = "a", .kind = SAL_BINARY, .count = 2, .states = 2 },
        { .name = "b", .kind = SAL_SPIN, .count = 2, .states = 2 },
        { .name = "c", .kind = SAL_ORDINAL, .count = 2, .states = 2, .levels = levels },
        { .name = "d", .kind = SAL_CATEGORICAL, .count = 1, .states = 2 },
        { .name = "e", .kind = SAL_CATEGORICAL, .count = 1, .states = 1 },
    };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    tiny_normals(31, 16, 1, J);
    tiny_normals(32, 8, 1, A);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), x = sal_slice(s, 0, 2, 4);
    sal_expr y = sal_sub(sal_scale(x, 0.7), sal_constant(tape, w, SAL_SCALAR));
    sal_expr g = sal_gather(s, 0, 4, chosen);
    sal_expr h = sal_matvec(sal_constant(tape, A, SAL_SHAPE(2, 4)), g);
    sal_expr terms[] = {
        sal_quad(y, sal_constant(tape, J, SAL_SHAPE(4, 4))),
        sal_edges(x, sal_constant(tape, w, SAL_SHAPE(3)), 3, pairs),
        sal_table(tape, sal_constant(tape, table, SAL_SHAPE(12)), 4, begin, scope),
        sal_mean(sal_mul(g, y)),
        sal_scale(sal_dot(x, g), -0.3),
        sal_dot(sal_constant(tape, A, SAL_SHAPE(4)), y),
        sal_sum(sal_square(y)),
        sal_sum(sal_mul(sal_reshape(h, SAL_SHAPE(2, 1)), sal_constant(tape, w, SAL_SHAPE(3)))),
    };
    sal_expr f = sal_scalar(tape, 0.75);
    for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) {
        f = k % 2 ? sal_sub(f, terms[k]) : sal_add(terms[k], f);
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(every_known_op_is_reconstructed)
{
    sal_model *model = all_ops();
    bits p = read_pairs(model);
    ck_assert_ptr_nonnull(p.values);
    check_values(model, p.values, "all ops");
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
}
END_TEST

/* Written with a matrix that is mostly zeros, as people do. */
START_TEST(a_sparse_form_by_products_is_reconstructed)
{
    enum { N = 32 };
    sal_error err = { 0 };
    sal_model *model = NULL;
    double A[N * N] = { 0 };
    for (int64_t i = 0; i < N; i++) {
        A[i * N + (i + 1) % N] = A[(i + 1) % N * N + i] = 0.25 * (double)(i % 3);
    }
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = N }, NULL);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), J = sal_constant(tape, A, SAL_SHAPE(N, N));
    sal_expr f = sal_scale(sal_dot(s, sal_matvec(J, s)), 0.5);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    bits p = read_pairs(model);
    ck_assert_msg(p.values != NULL, "it is pairwise");
    check_values(model, p.values, "a ring");
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(clamped_variables_become_constants)
{
    static const int64_t variables[] = { 6, 1, 4 };
    static const int32_t codes[] = { 1, 1, 0 };
    sal_model *whole = all_ops(), *model = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(whole, 3, variables, codes, &model, &err), &err);
    bits p = read_pairs(model);
    ck_assert_ptr_nonnull(p.values);
    ck_assert_int_eq(p.values->n, 5);
    check_values(model, p.values, "clamped");
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
    sal_model_destroy(whole);
}
END_TEST

/* Factors over variables with these numbers of states. */
static sal_model *factors(int64_t n, const int32_t *states, int64_t n_factors, const int64_t *begin,
                          const int64_t *scope, const double *tables)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(n, states, n_factors, begin, scope, tables, SAL_F64, &model, &err),
          &err);
    return model;
}

static bool is_pairwise(const sal_model *model)
{
    bits p = read_pairs(model);
    bool made = p.values != NULL;
    if (p.values) {
        check_values(model, p.values, model->name);
    }
    sali_couplings_destroy(p.couplings);
    return made;
}

START_TEST(factors_count_their_free_two_state_variables)
{
    static const int64_t begin[] = { 0, 3 }, scope[] = { 2, 0, 1 };
    static const int64_t variable = 1;
    static const int32_t pair[] = { 2, 2, 2 }, wide[] = { 2, 3, 2 }, one = 1;
    double tables[12];
    sal_error err;
    tiny_normals(41, 12, 1, tables);
    sal_model *third = factors(3, pair, 1, begin, scope, tables), *clamped = NULL;
    sal_model *three = factors(3, wide, 1, begin, scope, tables);
    ck_assert(!is_pairwise(third));
    ck_assert(!is_pairwise(three));
    ck_ok(sal_model_clamp(third, 1, &variable, &one, &clamped, &err), &err);
    ck_assert(is_pairwise(clamped));
    sal_model_destroy(clamped);
    ck_ok(sal_model_clamp(three, 1, &variable, &one, &clamped, &err), &err);
    ck_assert(is_pairwise(clamped));
    sal_model_destroy(clamped);
    sal_model_destroy(three);
    sal_model_destroy(third);
}
END_TEST

START_TEST(forbidden_entries_are_refused)
{
    static const int64_t begin[] = { 0, 2, 3 }, scope[] = { 0, 1, 0 };
    static const int32_t states[] = { 2, 2 };
    for (int k = -1; k < 6; k++) {
        double tables[] = { 0.5, 1, -2, 0.25, 1, 0 };
        if (k >= 0) {
            tables[k] = -INFINITY;
        }
        sal_model *model = factors(2, states, 2, begin, scope, tables);
        ck_assert_msg(is_pairwise(model) == (k < 0), "entry %d", k);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(other_formulas_are_refused)
{
    static const char *const names[] = { "rbm:visible=12,hidden=5", "ordinal-poly2",
                                         "usps-conv:quadratic=1" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_model *model = builtin(names[k], 0);
        ck_assert_msg(!is_pairwise(model), "%s", names[k]);
        sal_model_destroy(model);
    }
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *formula = tiny_formula(space, SAL_F64), *callback = tiny_callback(space, SAL_F64);
    ck_assert(!is_pairwise(formula));
    ck_assert(!is_pairwise(callback));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_model *cubic = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_sum(sal_mul(s, sal_square(sal_sum(s)))), &cubic, &err),
          &err);
    ck_assert(!is_pairwise(cubic));
    sal_tape_destroy(tape);
    sal_model_destroy(cubic);
    sal_model_destroy(formula);
    sal_model_destroy(callback);
    sal_space_destroy(space);
}
END_TEST

/* Terms of a pair that add up to 0 leave no neighbours behind. */
START_TEST(terms_that_cancel_are_dropped)
{
    static const int64_t pairs[] = { 0, 1, 1, 2, 1, 0 };
    static const double J[] = { 0.7, 0.5, -0.7 };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sal_error err;
    sal_expr f = sal_edges(sal_state(tape), sal_constant(tape, J, SAL_SHAPE(3)), 3, pairs);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    bits p = read_pairs(model);
    ck_assert_int_eq(p.values->begin[4], 2);
    ck_assert_int_eq(p.values->begin[1], 0);
    ck_assert_int_eq(p.values->couplings[0].to, 2);
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(new_parameters_are_read_anew)
{
    sal_model *model = builtin("ising:side=3", SAL_F64);
    bits p = read_pairs(model);
    double theta = -0.7;
    sal_error err;
    check_values(model, p.values, "old theta");
    ck_ok(sal_model_set_params(model, "theta", &theta, &err), &err);
    p.values = sali_couplings_values(p.couplings);
    check_values(model, p.values, "new theta");
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_large_lattice_takes_well_below_a_second)
{
    struct timespec before, after;
    sal_model *model = builtin("ising:side=320", 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    bits p = read_pairs(model);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double seconds =
        (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    ck_assert_int_eq(p.values->begin[p.values->n], 4 * 320 * 320);
    ck_assert_msg(seconds < 0.9, "%g s", seconds);
    sali_couplings_destroy(p.couplings);
    sal_model_destroy(model);
}
END_TEST

START_TEST(memory_running_out_is_an_error)
{
    sal_model *model = all_ops();
    sali_couplings *c = NULL;
    sal_error err;
    ck_alloc_sweep(sali_couplings_create(model, SALI_BIT_COUPLINGS, &c, &err),
                   sali_couplings_destroy(c));
    sal_model_destroy(model);
}
END_TEST

/* Of bits there is one object as long as somebody has it, which follows the parameters. */
START_TEST(couplings_of_bits_are_shared)
{
    sal_model *model = NULL;
    sali_couplings *a = NULL, *b = NULL, *reals = NULL;
    double theta = 0.7;
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0.1", SAL_F64, &model, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &a, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &b, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_ANY_COUPLINGS, &reals, &err), &err);
    ck_assert(a && a == b && reals && reals != a);
    sali_couplings_destroy(reals);
    ck_assert(model->couplings == a);
    sali_couplings_destroy(a);
    double before = sali_couplings_values(b)->couplings[0].J;
    ck_ok(sal_model_set_params(model, "theta", &theta, &err), &err);
    ck_assert_double_eq_tol(sali_couplings_values(b)->couplings[0].J, 7 * before, 1e-12);
    sali_couplings_destroy(b);
    ck_assert_ptr_null(model->couplings);
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &a, &err), &err);
    ck_assert_double_eq_tol(sali_couplings_values(a)->couplings[0].J, 7 * before, 1e-12);
    sali_couplings_destroy(a);
    sal_model_destroy(model);
}
END_TEST

/* Terms that are NaN are refused, whichever variable has them. */
START_TEST(terms_that_are_nan_are_refused)
{
    for (int k = 0; k < 3; k++) {
        double theta[3] = { 0.5, -1, 2 };
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open("bernoulli:dim=3", SAL_F64, &model, &err), &err);
        theta[k] = NAN;
        ck_ok(sal_model_set_params(model, "theta", theta, &err), &err);
        bits p = read_pairs(model);
        ck_assert_msg(p.couplings && !p.values, "variable %d", k);
        sali_couplings_destroy(p.couplings);
        sal_model_destroy(model);
    }
}
END_TEST

static Suite *pairwise_suite(void)
{
    Suite *suite = suite_create("pairwise");
    TCase *tcase = tcase_create("pairwise");
    tcase_add_test(tcase, ready_made_models_are_reconstructed);
    tcase_add_test(tcase, random_quadratic_formulas_are_reconstructed_or_refused);
    tcase_add_test(tcase, every_known_op_is_reconstructed);
    tcase_add_test(tcase, a_sparse_form_by_products_is_reconstructed);
    tcase_add_test(tcase, clamped_variables_become_constants);
    tcase_add_test(tcase, factors_count_their_free_two_state_variables);
    tcase_add_test(tcase, forbidden_entries_are_refused);
    tcase_add_test(tcase, other_formulas_are_refused);
    tcase_add_test(tcase, new_parameters_are_read_anew);
    tcase_add_test(tcase, terms_that_cancel_are_dropped);
    tcase_add_test(tcase, a_large_lattice_takes_well_below_a_second);
    tcase_add_test(tcase, memory_running_out_is_an_error);
    tcase_add_test(tcase, couplings_of_bits_are_shared);
    tcase_add_test(tcase, terms_that_are_nan_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(pairwise_suite());
}
