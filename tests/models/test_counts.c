/* SPDX-License-Identifier: MIT */
/* Counts, above all those without a cap, whose states cannot be listed: everywhere that other kinds
 * are tested by listing them. */
#include "count_helpers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <saltus/train.h>

#include "alloc_fail.h"
#include "transition.h"

/* ---- the space */

START_TEST(sizes_and_codes_of_counts)
{
    sal_space *space = mixed(), *copy = sali_space_clone(space);
    sal_error err;
    ck_assert_int_eq(sal_space_width(space), 7);
    ck_assert_int_eq(space->slots, 2 + 3 * 2 + 2 * 5);
    ck_assert_int_eq(space->bins, 2 + 3 * SAL_COUNT_LEVELS + 2 * 5);
    ck_assert_int_eq(sal_space_states(space, 2), 0);
    ck_assert_int_eq(sal_space_states(space, 5), 5);
    ck_assert_int_eq(sal_space_block(copy, 2)->cap, 4);
    ck_assert_int_eq(sal_space_block(copy, 2)->states, 5);
    ck_assert_ptr_null(sal_space_block(copy, 2)->levels);
    const int32_t codes[] = { 1, 0, 0, 7, SAL_COUNT_MOST, 4, 0 };
    const double want[] = { 1, 0, 0, 7, SAL_COUNT_MOST, 4, 0 };
    double x[7], one[7] = { 0 };
    float x32[7];
    ck_ok(sal_space_embed(copy, 1, codes, x, &err), &err);
    sali_embed_f32(copy, 1, codes, x32);
    for (int64_t v = 0; v < 7; v++) {
        sali_embed_one_f64(copy, v, codes[v], one);
        ck_assert_double_eq(x[v], want[v]);
        ck_assert_double_eq((double)x32[v], want[v]);
        ck_assert_double_eq(one[v], want[v]);
    }
    const int32_t other[] = { 1, 1, 3, 5, SAL_COUNT_MOST, 1, 0 };
    ck_assert_double_eq(sali_distance(space, codes, other), 1 + 3 + 2 + 3);
    sal_space_destroy(space);
    sal_space_destroy(copy);
}
END_TEST

START_TEST(codes_out_of_range_are_refused)
{
    sal_space *space = mixed();
    sal_error err;
    double x[7];
    const int32_t negative[] = { 0, 0, 0, -1, 0, 0, 0 }, capped[] = { 0, 0, 0, 0, 0, 0, 5 };
    const int32_t large[] = { 0, 0, SAL_COUNT_MOST + 1, 0, 0, 0, 0 };
    ck_fails(sal_space_embed(space, 1, negative, x, &err), SAL_ERR_ARGUMENT, &err, "variable 3");
    ck_fails(sal_space_embed(space, 1, large, x, &err), SAL_ERR_ARGUMENT, &err, "0 to 16777216");
    ck_fails(sal_space_embed(space, 1, capped, x, &err), SAL_ERR_ARGUMENT, &err, "0 to 4");
    sal_space_destroy(space);
}
END_TEST

START_TEST(bad_blocks_of_counts_are_refused)
{
    const double levels[] = { 0, 1 };
    const struct {
        sal_block block;
        const char *text;
    } cases[] = {
        { { .name = "x", .kind = SAL_COUNT, .count = 1, .cap = -1 }, "cap -1" },
        { { .name = "x", .kind = SAL_COUNT, .count = 1, .cap = 1 << 20 }, "cap 1048576" },
        { { .name = "x", .kind = SAL_COUNT, .count = 1, .states = 3 }, "3 states" },
        { { .name = "x", .kind = SAL_COUNT, .count = 1, .cap = 3, .states = 3 }, "3 states" },
        { { .name = "x", .kind = SAL_COUNT, .count = 1, .cap = 1, .levels = levels }, "levels" },
        { { .name = "x", .kind = SAL_ORDINAL, .count = 1, .states = 3, .cap = 2 }, "cap" },
        { { .name = "x", .kind = SAL_BINARY, .count = 1, .cap = 1 }, "cap" },
    };
    sal_space *space = mixed();
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_space_add(space, &cases[k].block, &err), SAL_ERR_ARGUMENT, &err,
                 cases[k].text);
    }
    ck_assert_int_eq(sal_space_variables(space), 7);
    sal_block again = *sal_space_block(space, 2); /* what a space tells of a block makes another */
    again.name = "again";
    ck_ok(sal_space_add(space, &again, &err), &err);
    sal_space_destroy(space);
}
END_TEST

static sal_status add_counts(sal_space *space)
{
    sal_block block = capped_block;
    char name[16];
    snprintf(name, sizeof name, "x%d", (int)space->n_blocks);
    block.name = name;
    return sal_space_add(space, &block, NULL);
}

START_TEST(running_out_of_memory_leaves_the_space_alone)
{
    sal_space *space = mixed();
    int64_t before = space->n_blocks;
    ck_alloc_sweep(add_counts(space), (void)0);
    ck_assert_int_eq(space->n_blocks, before + 1);
    sal_space_destroy(space);
}
END_TEST

/* ---- differences */

/* f linear in every variable, 0.3 n0 n1 - 0.2 n2 c0 + b0 c1; with `factorials` less the sum of
 * lgamma(1 + x / 2). */
static sal_model *edges_model(const sal_space *space, sal_dtype dtype, bool factorials)
{
    static const int64_t pairs[] = { 2, 3, 4, 5, 0, 6 };
    static const double weights[] = { 0.3, -0.2, 1 };
    sal_error err;
    sal_model *model = NULL;
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr f = sal_edges(sal_state(tape), sal_constant(tape, weights, SAL_SHAPE(3)), 3, pairs);
    if (factorials) {
        sal_expr half = sal_scale(sal_state(tape), 0.5);
        f = sal_sub(f, sal_sum(sal_lgamma(sal_add(half, sal_scalar(tape, 1)))));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

static sal_model *multilinear(const sal_space *space, sal_dtype dtype)
{
    return edges_model(space, dtype, false);
}

static sal_model *with_factorials(const sal_space *space, sal_dtype dtype)
{
    return edges_model(space, dtype, true);
}

/* The entry of variable v that stands for `code`, against values of f. */
static void check_entry(const sal_model *model, const int32_t *codes, double f, int64_t v,
                        int32_t code, double found, const char *where)
{
    int32_t near[7];
    double g = -INFINITY, tolerance = sal_model_dtype(model) == SAL_F32 ? 1e-4 : 1e-11;
    sal_error err;
    memcpy(near, codes, sizeof near);
    near[v] = code;
    if (code >= 0 && (v >= 5 ? code <= 4 : code <= SAL_COUNT_MOST)) {
        ck_ok(sal_model_evaluate(model, 1, near, &g, NULL, NULL, &err), &err);
    }
    ck_assert_msg(found == g - f || fabs(found - (g - f)) <= tolerance * (1 + fabs(g)),
                  "%s: variable %d to %d: %g, expected %g", where, (int)v, code, found, g - f);
}

static void check_differences(const sal_model *model, sali_strategy strategy, const int32_t *codes)
{
    double x[7], f, slots[18], rows[20], delta[5];
    sal_error err;
    sali_evaluator *e = NULL;
    const char *where = sali_strategy_name(strategy);
    ck_ok(sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, strategy, &e, &err), &err);
    sali_model_embed(model, 1, codes, x);
    sali_differences(e, 1, codes, x, &f, slots);
    sali_spread_slots(model, 1, codes, slots, rows);
    const double *row = rows;
    for (int64_t v = 0; v < 7; v++) {
        bool unbounded = v >= 2 && v < 5;
        int entries = v < 2 ? 2 : unbounded ? 2 : 5;
        sali_differences_at(e, 1, codes, x, &v, &f, delta);
        for (int k = 0; k < entries; k++, row++) {
            int32_t code = unbounded ? codes[v] + (k ? 1 : -1) : k;
            check_entry(model, codes, f, v, code, *row, where);
            check_entry(model, codes, f, v, code, delta[k], where);
        }
    }
    ck_assert_int_eq(row - rows, model->space->n_states);
    sali_evaluator_destroy(e);
}

START_TEST(differences_of_counts_go_down_and_up)
{
    static const int32_t codes[][7] = { { 0, 1, 0, 3, 5, 4, 0 },
                                        { 1, 1, 2, 0, 0, 1, 3 },
                                        { 1, 0, SAL_COUNT_MOST, 1, 0, 0, 2 } };
    const struct {
        sal_model *(*make)(const sal_space *space, sal_dtype dtype);
        int strategies, states; /* near 2^24 what is not linear has no digits left */
    } models[] = { { multilinear, 3, 3 }, { with_factorials, 2, 2 }, { tiny_formula, 1, 2 } };
    sal_space *space = mixed();
    for (int which = 0; which < 6; which++) {
        sal_model *model = models[which / 2].make(space, which % 2 ? SAL_F32 : SAL_F64);
        int strategies = 0;
        for (int s = 0; s < SALI_STRATEGIES; s++) {
            bool applies = sali_strategy_applies(model, (sali_strategy)s);
            for (int k = 0; applies && k < models[which / 2].states; k++) {
                check_differences(model, (sali_strategy)s, codes[k]);
            }
            strategies += applies;
        }
        ck_assert_int_eq(strategies, models[which / 2].strategies);
        sal_model_destroy(model);
    }
    sal_space_destroy(space);
}
END_TEST

/* The differences that users see have the same layout. */
START_TEST(users_see_differences_down_and_up)
{
    sal_model *model = builtin("poisson:dim=2,rate=3", SAL_F64);
    const int32_t codes[] = { 0, 4 };
    double f, rows[4];
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, rows, &err), &err);
    ck_assert_double_eq(rows[0], -INFINITY);
    ck_assert_double_eq_tol(rows[1], log(3.0), 1e-14);
    ck_assert_double_eq_tol(rows[2], log(4.0 / 3), 1e-14);
    ck_assert_double_eq_tol(rows[3], log(3.0 / 5), 1e-14);
    sal_model_destroy(model);
}
END_TEST

/* ---- formulas */

/* s^2 is s for a cap of 1 only. */
START_TEST(the_canonical_form_leaves_powers_of_counts_alone)
{
    const int64_t caps[] = { 0, 1, 3 };
    for (int k = 0; k < 3; k++) {
        sal_space *space = sal_space_create();
        sal_model *model = NULL;
        sal_error err;
        sal_block block = { .name = "n", .kind = SAL_COUNT, .count = 1, .cap = caps[k] };
        ck_ok(sal_space_add(space, &block, &err), &err);
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_tape_set_passes(tape, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL);
        sal_expr f = sal_sum(sal_square(sal_state(tape)));
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        ck_assert(sal_model_is_multilinear(model) == (caps[k] == 1));
        for (int32_t x = 0; x <= (caps[k] == 0 ? 5 : caps[k]); x++) {
            double value;
            ck_ok(sal_model_evaluate(model, 1, &x, &value, NULL, NULL, &err), &err);
            ck_assert_double_eq(value, x * x);
        }
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(tables_are_not_for_counts)
{
    sal_space *space = mixed();
    const double T[8] = { 0 };
    sal_error err;
    for (int64_t v = 2; v <= 5; v += 3) { /* without a cap, and with one */
        sal_model *model = NULL;
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_expr f =
            sal_table(tape, sal_constant(tape, T, SAL_SHAPE(5)), 1, ((int64_t[]){ 0, 1 }), &v);
        ck_fails(sal_model_from_tape(tape, f, &model, &err), SAL_ERR_SHAPE, &err, "a count");
        sal_tape_destroy(tape);
    }
    sal_space_destroy(space);
}
END_TEST

START_TEST(clamped_counts_keep_their_codes)
{
    sal_space *space = mixed();
    sal_model *model = multilinear(space, SAL_F64), *clamped = NULL;
    const int64_t variables[] = { 3, 5 };
    const int32_t codes[] = { 1000, 4 }, bad[] = { 1000, 5 }, free_codes[] = { 1, 0, 2, 3, 2 };
    double f;
    sal_error err;
    ck_fails(sal_model_clamp(model, 2, variables, bad, &clamped, &err), SAL_ERR_ARGUMENT, &err,
             "codes 0 to 4");
    ck_ok(sal_model_clamp(model, 2, variables, codes, &clamped, &err), &err);
    ck_assert(clamped->space->unbounded);
    ck_ok(sal_model_evaluate(clamped, 1, free_codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f, 0.3 * 2 * 1000 - 0.2 * 3 * 4 + 1 * 2, 1e-12);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* The likelihood of independent Poisson counts is largest where the rates are the data's means. */
START_TEST(rates_are_learned_from_counts)
{
    const uint8_t rows[] = { 4, 0, 6, 1, 2, 0, 8, 3, 5, 0, 5, 2 };
    uint8_t *codes = malloc(sizeof rows);
    memcpy(codes, rows, sizeof rows);
    sal_data data = { .rows = 6, .variables = 2, .codes = codes };
    sal_model *model = builtin("poisson:dim=2,rate=2", SAL_F64);
    sal_train_options options = { .steps = 20,
                                  .iterations = 1500,
                                  .batch = 6,
                                  .buffer.chains = 200,
                                  .learning_rate = 0.01,
                                  .seed = 1,
                                  .threads = 1 };
    double log_rate[2];
    sal_error err;
    ck_ok(sal_train(model, &data, &options, &err), &err);
    ck_ok(sal_model_get_params(model, "log_rate", log_rate, &err), &err);
    ck_assert_double_eq_tol(exp(log_rate[0]), 5, 0.8);
    ck_assert_double_eq_tol(exp(log_rate[1]), 1, 0.4);
    sal_model_destroy(model);
    model = builtin("poisson:dim=2,cap=7", SAL_F64);
    ck_fails(sal_train(model, &data, &options, &err), SAL_ERR_ARGUMENT, &err,
             "row 3, variable 0: code 8; expected 0 to 7");
    sal_model_destroy(model);
    free(codes);
}
END_TEST

static Suite *counts_suite(void)
{
    Suite *suite = suite_create("counts");
    TCase *tcase = tcase_create("counts");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, sizes_and_codes_of_counts);
    tcase_add_test(tcase, codes_out_of_range_are_refused);
    tcase_add_test(tcase, bad_blocks_of_counts_are_refused);
    tcase_add_test(tcase, running_out_of_memory_leaves_the_space_alone);
    tcase_add_test(tcase, differences_of_counts_go_down_and_up);
    tcase_add_test(tcase, users_see_differences_down_and_up);
    tcase_add_test(tcase, the_canonical_form_leaves_powers_of_counts_alone);
    tcase_add_test(tcase, tables_are_not_for_counts);
    tcase_add_test(tcase, clamped_counts_keep_their_codes);
    tcase_add_test(tcase, rates_are_learned_from_counts);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(counts_suite());
}
