/* SPDX-License-Identifier: MIT */
/* Linear terms of single chains: what samplers do with one is what they do on a model that has it
 * in its formula. */
#include <math.h>

#include "models/tape_model.h"
#include "transition.h"
#include "models/make/tape_copy.h"

#define TOLERANCE 1e-12

static int64_t checked;

/* Numbers of both fields. */
static void fill(int64_t n, double *field, double phase)
{
    for (int64_t i = 0; i < n; i++) {
        field[i] = 0.7 * sin(1.3 * (double)i + phase);
    }
}

/* The model with field's in its formula. */
static sal_model *with_term(const sal_model *of, const double *field)
{
    const sali_tape_model *content = sali_model_tape(of);
    const int64_t n = content->program->parameters_size;
    sal_tape *tape = sali_tape_reopen(content->program);
    sal_expr f = { .tape = tape, .node = content->program->output };
    sal_expr term =
        sal_dot(sal_constant(tape, field, SAL_SHAPE(of->space->width)), sal_state(tape));
    sal_model *made = NULL;
    double *flat = calloc((size_t)n + 1, sizeof *flat);
    sal_error err;
    ck_ok(sal_model_from_tape(tape, sal_add(f, term), &made, &err), &err);
    sali_params_get(content->params, flat);
    sali_params_set(sali_model_tape(made)->params, flat);
    sal_tape_destroy(tape);
    free(flat);
    return made;
}

/* Chains at all states, chain c with field c mod 2, against models that have these fields. */
static void check_fields(const contract_case *k)
{
    const int64_t n = states_count(k->model->space), N = k->model->space->width;
    const sali_sampler_settings settings = k->settings;
    sal_model *open = NULL; /* the same, whose couplings are not all of f */
    sal_error err;
    double *field = calloc((size_t)(n * N), sizeof *field), alone[2][TINY_MOST_REALS];
    /* a matrix that is made of f is another one for another f */
    const bool serves =
        k->sampler->needs_gradient && has_matrix(k->sampler) && !strstr(k->where, "preconditioner");
    if (!serves || !sali_model_tape(k->model) || sali_sampler_directions(k->sampler) > 1 ||
        pieces_of(k->sampler, k->model, &settings) > 1) {
        free(field);
        return;
    }
    for (int64_t c = 0; c < n; c++) {
        fill(N, field + c * N, (double)(c % 2));
    }
    ck_ok(sali_tape_model_copy(k->model, &open, &err), &err);
    open->fields = true;
    bench b = bench_open(k->sampler, open, &settings, k->beta, n, 0);
    sali_evaluator_set_field(b.chains->evaluator, field);
    sali_bench_start(&b);
    transition got = transition_of(&b);
    for (int64_t which = 0; which < 2; which++) {
        fill(N, alone[which], (double)which);
        sal_model *whole = with_term(k->model, alone[which]);
        transition want = transition_make(k->sampler, whole, &settings, k->beta, 0);
        for (int64_t i = which; i < n; i += 2) {
            const double now = k->beta * b.chains->f[i];
            for (int64_t j = 0; want.pi[i] > 0 && j < n; j++) {
                const double forward = got.log_q[i * n + j], expected = want.log_q[i * n + j];
                ck_assert_msg(forward == expected || fabs(forward - expected) < TOLERANCE,
                              "%s: log q(%d -> %d) = %.15g, expected %.15g", k->where, (int)i,
                              (int)j, forward, expected);
            }
            ck_assert_msg(now == want.f[i] || fabs(now - want.f[i]) < TOLERANCE,
                          "%s: f(%d) = %.15g, expected %.15g", k->where, (int)i, now, want.f[i]);
        }
        transition_free(&want);
        sal_model_destroy(whole);
    }
    transition_free(&got);
    bench_close(&b);
    sal_model_destroy(open);
    free(field);
    checked++;
}

START_TEST(samplers_obey_linear_terms_of_chains)
{
    for_every_case(SAL_F64, check_fields);
    ck_assert_int_gt(checked, 500);
}
END_TEST

/* Exact differences, by all three strategies, of all moves and of one variable. */
static void check_differences(const sal_model *model, sali_strategy strategy)
{
    const sal_space *space = model->space;
    const int64_t n = states_count(space), N = space->width, V = space->n_variables;
    const int64_t S = space->slots, R = space->max_states;
    double *field = calloc((size_t)(n * N), sizeof *field), *x = calloc((size_t)(n * N), sizeof *x);
    double *f = calloc((size_t)n, sizeof *f), *slots = calloc((size_t)(n * S), sizeof *slots);
    double *at = calloc((size_t)(n * R), sizeof *at), *want = calloc((size_t)S, sizeof *want);
    int32_t *codes = calloc((size_t)(n * V), sizeof *codes);
    int64_t *site = calloc((size_t)n, sizeof *site);
    sali_evaluator *e = NULL;
    sal_error err;
    for (int64_t c = 0; c < n; c++) {
        state_codes(space, c, codes + c * V);
        fill(N, field + c * N, (double)c);
        site[c] = c % V;
    }
    sali_model_embed(model, n, codes, x);
    ck_ok(sali_evaluator_create_by(model, n, SALI_WANT_DIFFERENCES, strategy, &e, &err), &err);
    sali_evaluator_set_field(e, field);
    sali_differences(e, n, codes, x, f, slots);
    sali_differences_at(e, n, codes, x, site, f, at);
    sali_evaluator_destroy(e);
    for (int64_t c = 0; c < n; c++) {
        double f_whole, one[64];
        sal_model *whole = with_term(model, field + c * N);
        sali_evaluator *plain = NULL;
        ck_ok(sali_evaluator_create(whole, 1, SALI_WANT_DIFFERENCES, &plain, &err), &err);
        sali_differences(plain, 1, codes + c * V, x + c * N, &f_whole, want);
        sali_differences_at(plain, 1, codes + c * V, x + c * N, &site[c], &f_whole, one);
        ck_assert_double_eq_tol(f[c], f_whole, TOLERANCE);
        for (int64_t k = 0; k < S; k++) {
            ck_assert_double_eq_tol(slots[c * S + k], want[k], TOLERANCE);
        }
        for (int64_t k = 0; k < space->variables[site[c]].states; k++) {
            ck_assert_double_eq_tol(at[c * R + k], one[k], TOLERANCE);
        }
        sali_evaluator_destroy(plain);
        sal_model_destroy(whole);
    }
    free(field);
    free(x);
    free(f);
    free(slots);
    free(at);
    free(want);
    free(codes);
    free(site);
}

START_TEST(differences_have_the_linear_terms)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *models[] = { tiny_formula(space, SAL_F64), tiny_pairwise(space, SAL_F64) };
        for (int m = 0; m < 2; m++) {
            for (int way = 0; models[m] && way < SALI_STRATEGIES; way++) {
                if (sali_strategy_applies(models[m], (sali_strategy)way)) {
                    check_differences(models[m], (sali_strategy)way);
                }
            }
            sal_model_destroy(models[m]);
        }
        sal_space_destroy(space);
    }
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("fields");
    TCase *tests = tcase_create("fields");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, samplers_obey_linear_terms_of_chains);
    tcase_add_test(tests, differences_have_the_linear_terms);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_main(make());
}
