/* SPDX-License-Identifier: MIT */
/* Exact differences: every strategy against values of the neighbours, and against each other. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "models/neighbours.h"
#include "tiny_models.h"

#define MOST_CHAINS 70

/* What an evaluator of `strategy` finds, as rows with one entry a state; f [chains]. */
static void differences_by(const sal_model *model, sali_strategy strategy, int64_t room,
                           int64_t chains, const int32_t *codes, double *f, double *rows)
{
    const sal_space *space = sal_model_space(model);
    sali_evaluator *e = NULL;
    sal_error err = { 0 };
    double *x = malloc((size_t)(chains * space->width) * sizeof *x);
    double *slots = malloc((size_t)(chains * space->slots) * sizeof *slots);
    ck_ok(sali_evaluator_create_by(model, room, SALI_WANT_DIFFERENCES, strategy, &e, &err), &err);
    sali_model_embed(model, chains, codes, x);
    sali_differences(e, chains, codes, x, f, slots);
    sali_spread_slots(model, chains, codes, slots, rows);
    sali_evaluator_destroy(e);
    free(x);
    free(slots);
}

/* Random states of finite f. */
static void random_states(const sal_model *model, int64_t chains, int32_t *codes)
{
    const sal_space *space = sal_model_space(model);
    sal_error err = { 0 };
    for (int64_t c = 0; c < chains; c++) {
        double f = -INFINITY;
        for (uint64_t try = 0; f == -INFINITY; try++) {
            sali_stream stream = { .seed = try, .chain = (uint32_t)c, .purpose = SALI_RNG_TEST };
            for (int64_t v = 0; v < space->n_variables; v++) {
                codes[v] = (int32_t)sali_rng_below(&stream, (uint32_t)v,
                                                   (uint32_t)space->variables[v].states);
            }
            ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        }
        codes += space->n_variables;
    }
}

static void check_row(const sal_model *model, const int32_t *codes, double f, const double *row,
                      double tolerance, const char *where)
{
    const sal_space *space = sal_model_space(model);
    int32_t near[TINY_MOST_REALS];
    sal_error err = { 0 };
    memcpy(near, codes, (size_t)space->n_variables * sizeof *near);
    for (int64_t v = 0; v < space->n_variables; v++) {
        for (near[v] = 0; near[v] < space->variables[v].states; near[v]++, row++) {
            double g;
            ck_ok(sal_model_evaluate(model, 1, near, &g, NULL, NULL, &err), &err);
            ck_assert_msg(*row == g - f || fabs(*row - (g - f)) <= tolerance * (1 + fabs(g)),
                          "%s: variable %d to %d: %g, expected %g", where, (int)v, near[v], *row,
                          g - f);
        }
        near[v] = codes[v];
    }
}

static void check_strategies(const sal_model *model, const char *name)
{
    const sal_space *space = sal_model_space(model);
    int32_t codes[MOST_CHAINS * TINY_MOST_REALS];
    double f[MOST_CHAINS], tolerance = sal_model_dtype(model) == SAL_F32 ? 2e-5 : 1e-12;
    double *rows = malloc((size_t)(MOST_CHAINS * space->n_states) * sizeof *rows);
    random_states(model, MOST_CHAINS, codes);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        const int64_t calls[][2] = { { 1, 1 }, { 7, 7 }, { 70, 3 }, { 70, 70 } };
        if (!sali_strategy_applies(model, (sali_strategy)s)) {
            continue;
        }
        for (int k = 0; k < 4; k++) { /* room for chains, chains */
            char where[120];
            snprintf(where, sizeof where, "%s by %s, %d chains of %d", name,
                     sali_strategy_name((sali_strategy)s), (int)calls[k][1], (int)calls[k][0]);
            differences_by(model, (sali_strategy)s, calls[k][0], calls[k][1], codes, f, rows);
            for (int64_t c = 0; c < calls[k][1]; c++) {
                check_row(model, codes + c * space->n_variables, f[c], rows + c * space->n_states,
                          tolerance, where);
            }
        }
    }
    free(rows);
}

static void for_all_models(void (*check)(const sal_model *model, const char *name))
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int k = 0; k < 2 * N_TINY_MODELS; k++) {
            char name[80];
            sal_model *model = tiny_models[k / 2].make(space, k % 2 ? SAL_F32 : SAL_F64);
            snprintf(name, sizeof name, "%s over %s", tiny_models[k / 2].name, tiny_spaces[s].name);
            if (model) {
                check(model, name);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}

START_TEST(all_strategies_give_the_differences_of_values)
{
    for_all_models(check_strategies);
}
END_TEST

/* Every variable in turn, another one in each chain, against the rows of all differences. */
static void check_sites(const sal_model *model, const char *name)
{
    enum { CHAINS = 5 };
    const sal_space *space = sal_model_space(model);
    int64_t V = space->n_variables, K = space->max_states;
    int32_t codes[CHAINS * TINY_MOST_REALS];
    double x[CHAINS * TINY_MOST_REALS], f[CHAINS], delta[CHAINS * 8], rows[CHAINS * 64];
    double tolerance = sal_model_dtype(model) == SAL_F32 ? 2e-5 : 1e-12;
    sal_error err = { 0 };
    ck_assert_int_le(K, 8);
    random_states(model, CHAINS, codes);
    sali_model_embed(model, CHAINS, codes, x);
    differences_by(model, SALI_BY_NEIGHBOURS, CHAINS, CHAINS, codes, f, rows);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_evaluator *e = NULL;
        if (!sali_strategy_applies(model, (sali_strategy)s)) {
            ck_fails(sali_evaluator_create_by(model, CHAINS, SALI_WANT_DIFFERENCES,
                                              (sali_strategy)s, &e, &err),
                     SAL_ERR_UNSUPPORTED, &err, "differences");
            continue;
        }
        ck_ok(sali_evaluator_create_by(model, CHAINS, SALI_WANT_DIFFERENCES, (sali_strategy)s, &e,
                                       &err),
              &err);
        for (int64_t shift = 0; shift < V; shift++) {
            int64_t sites[CHAINS];
            for (int64_t c = 0; c < CHAINS; c++) {
                sites[c] = (c + shift) % V;
            }
            sali_differences_at(e, CHAINS, codes, x, sites, f, delta);
            for (int64_t c = 0; c < CHAINS; c++) {
                const double *row = rows + c * space->n_states;
                for (int64_t v = 0; v < sites[c]; v++) {
                    row += space->variables[v].states;
                }
                for (int32_t k = 0; k < space->variables[sites[c]].states; k++) {
                    double found = delta[c * K + k];
                    ck_assert_msg(found == row[k] ||
                                      fabs(found - row[k]) <= tolerance * (1 + fabs(row[k])),
                                  "%s: chain %d: %g, expected %g", name, (int)c, found, row[k]);
                }
            }
        }
        sali_evaluator_destroy(e);
    }
}

START_TEST(differences_of_one_variable_are_those_of_all)
{
    for_all_models(check_sites);
}
END_TEST

/* Moves asked for: none, one or all by variable; others keep what was there, or are exact. */
static void check_some(const sal_model *model, const char *name)
{
    enum { CHAINS = 5 };
    const sal_space *space = sal_model_space(model);
    int64_t V = space->n_variables, S = space->slots;
    int32_t codes[CHAINS * TINY_MOST_REALS], to[CHAINS * TINY_MOST_REALS];
    double x[CHAINS * TINY_MOST_REALS], f[CHAINS], all[CHAINS * 64], some[CHAINS * 64];
    double tolerance = sal_model_dtype(model) == SAL_F32 ? 2e-5 : 1e-12;
    random_states(model, CHAINS, codes);
    sali_model_embed(model, CHAINS, codes, x);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_evaluator *e = NULL;
        sal_error err = { 0 };
        if (!sali_strategy_applies(model, (sali_strategy)s)) {
            continue;
        }
        ck_ok(sali_evaluator_create_by(model, CHAINS, SALI_WANT_DIFFERENCES, (sali_strategy)s, &e,
                                       &err),
              &err);
        for (int64_t k = 0; k < CHAINS * V; k++) {
            to[k] = (int32_t)(k % (space->variables[k % V].states + 1)) - 1;
        }
        for (int64_t k = 0; k < CHAINS * S; k++) {
            sali_store(model->dtype, some, k, 777);
        }
        sali_differences(e, CHAINS, codes, x, f, all);
        sali_differences_to(e, CHAINS, codes, x, to, f, some);
        for (int64_t k = 0; k < CHAINS * V; k++) {
            const sali_variable *v = &space->variables[k % V];
            for (int32_t code = 0; code < v->states; code++) {
                int64_t slot = k / V * S + v->slot + (sali_is_two_level(v) ? 0 : code);
                double found = sali_load(model->dtype, some, slot);
                double exact = sali_load(model->dtype, all, slot);
                bool asked = code != codes[k] && (to[k] == -1 || to[k] == code);
                bool close = fabs(found - exact) <= tolerance * (1 + fabs(exact));
                ck_assert_msg(found == exact || close || (!asked && found == 777),
                              "%s: %g, expected %g", name, found, exact);
            }
        }
        sali_evaluator_destroy(e);
    }
}

START_TEST(differences_of_some_moves_are_those_of_all)
{
    for_all_models(check_some);
}
END_TEST

/* By values and by changes: those of the formula without its limit, from all states. */
START_TEST(without_limits_differences_are_those_of_the_rest_of_f)
{
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_model *limited = tiny_limited(LIMIT_BY_AT_MOST, dtype);
        sal_model *open = tiny_limited(LIMIT_NONE, dtype);
        const double tolerance = dtype == SAL_F32 ? 1e-6 : 1e-13;
        sal_error err;
        ck_assert(limited->limited && !open->limited);
        for (sali_strategy by = SALI_BY_CHANGES; by <= SALI_BY_NEIGHBOURS; by++) {
            sali_evaluator *e = NULL;
            ck_ok(sali_evaluator_create_by(limited, 1, SALI_WANT_DIFFERENCES | SALI_WANT_NO_LIMITS,
                                           by, &e, &err),
                  &err);
            for (int set = 0; set < 16; set++) {
                int32_t codes[] = { set & 1, set >> 1 & 1, set >> 2 & 1, set >> 3 & 1 };
                double x[4], slots[4], delta[8], f, want;
                sali_model_embed(limited, 1, codes, x);
                sali_differences(e, 1, codes, x, &f, slots);
                ck_ok(sal_model_evaluate(open, 1, codes, &want, NULL, delta, &err), &err);
                ck_assert_double_eq_tol(f, want, tolerance);
                for (int v = 0; v < 4; v++) {
                    ck_assert_double_eq_tol(sali_load(dtype, slots, v), delta[2 * v + !codes[v]],
                                            tolerance);
                }
            }
            sali_evaluator_destroy(e);
        }
        sal_model_destroy(limited);
        sal_model_destroy(open);
    }
}
END_TEST

/* max(a, b) of neighbours on a ring, the neighbours by indices, and by two slices end to end. */
START_TEST(elements_by_index_and_inputs_end_to_end_are_followed)
{
    enum { N = 6 };
    const int64_t next[2 * N] = { 1, 2, 3, 4, 5, 0, 3, 3, 0, 5, 1, 3 }; /* the latter: any order */
    sal_error err = { 0 };
    for (int k = 0; k < 6; k++) {
        sal_space *space = sal_space_create();
        ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = N }, &err),
              &err);
        sal_model *model = NULL;
        sal_tape *tape = sal_tape_create(space, k < 3 ? SAL_F32 : SAL_F64);
        sal_expr s = sal_state(tape);
        sal_expr ends[2] = { sal_slice(s, 0, 1, N - 1), sal_slice(s, 0, 0, 1) };
        sal_expr other = k % 3 < 2 ? sal_gather(s, 0, N, next + k % 3 * N) : sal_concat(ends, 2, 0);
        sal_expr f = sal_sum(sal_maximum(sal_scale(s, 1.5), sal_scale(other, -0.7)));
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        ck_assert(sali_strategy_best(model) == SALI_BY_CHANGES);
        check_strategies(model, k % 3 < 2 ? "gather" : "concat");
        check_sites(model, k % 3 < 2 ? "gather" : "concat");
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

/* Pairs of gathered elements are products of different variables only if none is gathered twice. */
START_TEST(elements_gathered_once_each_keep_the_degree_of_coordinates)
{
    const struct {
        int64_t index[4];
        bool distinct;
    } cases[] = { { { 1, 2, 4, 5 }, true },  { { 4, 5, 0, 1 }, true },  { { 4, 5, 0, 4 }, false },
                  { { 1, 2, 2, 3 }, false }, { { 4, 0, 5, 1 }, false }, { { 2, 3, 4, 2 }, false } };
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 6 }, &err),
          &err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = NULL;
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_expr part = sal_gather(sal_state(tape), 0, 4, cases[k].index);
        sal_expr weights = sal_constant(tape, ((const double[]){ 1, 2, 3 }), SAL_SHAPE(3));
        const int64_t pairs[] = { 0, 1, 1, 2, 0, 3 };
        ck_ok(sal_model_from_tape(tape, sal_edges(part, weights, 3, pairs), &model, &err), &err);
        ck_assert_int_eq(model->multilinear, cases[k].distinct);
        check_strategies(model, "edges of gathered spins");
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
    sal_space_destroy(space);
}
END_TEST

/* With f NULL the list gives values, whatever their order, their number and who asks. */
START_TEST(lists_of_neighbours_give_values_in_the_places_asked_for)
{
    sal_error err = { 0 };
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    sali_neighbours *nb = NULL;
    int32_t codes[3 * TINY_MOST_REALS];
    double x[3 * TINY_MOST_REALS], out[1000], f;
    random_states(model, 3, codes);
    sali_model_embed(model, 3, codes, x);
    ck_ok(sali_neighbours_create(model, 1, SALI_WANT_VALUE, NULL, &nb, &err), &err);
    for (int n = 0; n <= 130; n += n < 3 ? 1 : 61) {
        sali_neighbours_begin(nb, codes, x, NULL, SAL_F64, out);
        for (int k = 0; k < n; k++) {
            sali_neighbours_add(nb, k % 3, k % 4, k / 4 % 2, 999 - k);
        }
        sali_neighbours_end(nb);
        for (int k = 0; k < n; k++) {
            int32_t near[TINY_MOST_REALS];
            memcpy(near, codes + k % 3 * space->n_variables,
                   (size_t)space->n_variables * sizeof *near);
            near[k % 4] = k / 4 % 2;
            ck_ok(sal_model_evaluate(model, 1, near, &f, NULL, NULL, &err), &err);
            ck_assert_double_eq_tol(out[999 - k], f, 1e-12);
        }
    }
    sali_neighbours_destroy(nb);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_error err = { 0 };
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_tables(space, SAL_F64);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_evaluator *e = NULL;
        ck_alloc_sweep(
            sali_evaluator_create_by(model, 3, SALI_WANT_DIFFERENCES, (sali_strategy)s, &e, &err),
            sali_evaluator_destroy(e));
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("differences");
    TCase *tcase = tcase_create("differences");
    tcase_add_test(tcase, all_strategies_give_the_differences_of_values);
    tcase_add_test(tcase, differences_of_one_variable_are_those_of_all);
    tcase_add_test(tcase, differences_of_some_moves_are_those_of_all);
    tcase_add_test(tcase, without_limits_differences_are_those_of_the_rest_of_f);
    tcase_add_test(tcase, elements_by_index_and_inputs_end_to_end_are_followed);
    tcase_add_test(tcase, elements_gathered_once_each_keep_the_degree_of_coordinates);
    tcase_add_test(tcase, lists_of_neighbours_give_values_in_the_places_asked_for);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
