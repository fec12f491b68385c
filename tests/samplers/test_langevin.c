/* SPDX-License-Identifier: MIT */
/* What the Langevin-like samplers have of their own: Newton's slopes, schedules of the step size,
 * diagonal preconditioning, and no automatic step size without acceptance. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/object.h"
#include "samplers/langevin/cap.h"
#include "samplers/langevin/schedule.h"
#include "transition.h"

#define TOLERANCE 1e-12

static sali_sampler_settings settings_of(const sali_sampler *sampler, const char *specification,
                                         double step_size)
{
    sali_sampler_settings settings = { .step_size = step_size };
    sal_error err;
    ck_ok(sali_specification_values(specification, sampler->settings, settings.values, &err), &err);
    return settings;
}

static transition matrix(const char *specification, const sal_model *model, double step_size,
                         double beta, uint64_t step)
{
    const sali_sampler *sampler = sali_sampler_find(specification);
    sali_sampler_settings settings = settings_of(sampler, specification, step_size);
    return transition_make(sampler, model, &settings, beta, step);
}

/* Where pi > 0, log q is the same. */
static void same_proposals(const transition *a, const transition *b, const char *what)
{
    for (int64_t k = 0; k < a->n * a->n; k++) {
        ck_assert_msg(a->pi[k / a->n] == 0 || a->log_q[k] == b->log_q[k] ||
                          fabs(a->log_q[k] - b->log_q[k]) < TOLERANCE,
                      "%s: log q %.15g and %.15g", what, a->log_q[k], b->log_q[k]);
    }
}

static void check_balance(const transition *t, const char *what)
{
    double breach = balance_breach(t->n, t->pi, t->P);
    ck_assert_msg(breach < TOLERANCE, "%s: detailed balance is off by %g", what, breach);
}

/* ---- Newton's slopes */

/* b's + s'Js without products of coordinates of one variable: multilinear over every kind. */
static sal_model *multilinear(const sal_space *space)
{
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    int64_t N = space->width;
    sal_model *model = NULL;
    sal_error err;
    tiny_normals(31, N * N, 0.3, J);
    tiny_normals(32, N, 0.6, b);
    for (int64_t k = 0; k < N * N; k++) {
        J[k] = sali_space_owner(space, k / N) == sali_space_owner(space, k % N) ? 0 : J[k];
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s),
                         sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N))));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

START_TEST(mana_proposes_as_dmala_where_f_is_multilinear)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *model = multilinear(space);
        for (int beta = 0; beta < 2; beta++) {
            transition newton = matrix("mana", model, 0.7, beta ? 0.6 : 1, 0);
            transition gradient =
                matrix("dmala:preconditioner=none", model, 0.7, beta ? 0.6 : 1, 0);
            same_proposals(&newton, &gradient, tiny_spaces[s].name);
            transition_free(&newton);
            transition_free(&gradient);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* Two labels of 2 cost what binary variables cost, with K - 1 reals. */
START_TEST(label_of_two_without_its_first_real_is_a_binary_variable)
{
    sal_space *labels = sal_space_create(), *bits = sal_space_create();
    sal_model *of_labels, *of_bits;
    const double T[] = { 0.1, -0.7, 0.4, 1.1 };
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    sal_error err;
    for (int k = 0; k < 2; k++) {
        sal_space *space = k ? bits : labels;
        sal_block block = {
            .name = "x", .kind = k ? SAL_BINARY : SAL_CATEGORICAL, .count = 2, .states = 2
        };
        ck_ok(sal_space_add(space, &block, &err), &err);
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_expr f = sal_table(tape, sal_constant(tape, T, SAL_SHAPE(4)), 1, begin, scope);
        ck_ok(sal_model_from_tape(tape, f, k ? &of_bits : &of_labels, &err), &err);
        sal_tape_destroy(tape);
    }
    transition a = matrix("mana:categorical=2", of_labels, 0.7, 1, 0);
    transition b = matrix("mana", of_bits, 0.7, 1, 0);
    same_proposals(&a, &b, "label of two");
    transition_free(&a);
    transition_free(&b);
    sal_model_destroy(of_labels);
    sal_model_destroy(of_bits);
    sal_space_destroy(labels);
    sal_space_destroy(bits);
}
END_TEST

/* Two variables of 5 levels with forbidden states, f counted. */
typedef struct counted {
    int64_t calls;
    bool holes;
} counted;

static double with_holes(const double *x, double *gradient, void *data)
{
    counted *c = data;
    bool hole = (x[0] == 2 && x[1] != 1) || (x[0] == 3 && x[1] == 4) || (x[0] == 1 && x[1] == 3);
    (void)gradient;
    c->calls++;
    return c->holes && hole ? -INFINITY : 0.3 * x[0] * x[0] - 0.9 * x[1] + 0.2 * x[0] * x[1];
}

static sal_model *holes_model(counted *count, int64_t variables)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    static const double levels[] = { 0, 1, 2, 3, 4 };
    sal_block block = {
        .name = "x", .kind = SAL_ORDINAL, .count = variables, .states = 5, .levels = levels
    };
    sal_callback callback = { .f = with_holes, .data = count };
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

/* log q(from -> to) up to a constant, for slopes given. */
static double log_weight(const double *slope, const int32_t *from, const int32_t *to, double eps)
{
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        double d = to[i] - from[i];
        sum += slope[i] * d / 2 - d * d / (2 * eps);
    }
    return sum;
}

/* Slopes from a state of f with f of a move of variable i to a level, by the rule in words. */
static void slopes_by_words(const transition *t, const sal_space *space, const int32_t *from,
                            double *slope)
{
    for (int i = 0; i < 2; i++) {
        int32_t up[2] = { from[0], from[1] }, down[2] = { from[0], from[1] };
        double f = t->f[state_of(space, from)];
        up[i]++;
        down[i]--;
        double above = up[i] < 5 ? t->f[state_of(space, up)] : -INFINITY;
        double below = down[i] >= 0 ? t->f[state_of(space, down)] : -INFINITY;
        slope[i] = above > -INFINITY ? above - f : below > -INFINITY ? f - below : 0;
    }
}

START_TEST(forbidden_next_level_leaves_the_one_below)
{
    counted count = { .holes = true };
    sal_model *model = holes_model(&count, 2);
    transition t = matrix("mana", model, 1.5, 1, 0);
    int32_t from[2], to[2];
    double slope[2];
    check_balance(&t, "holes");
    for (int64_t k = 0; k < t.n * t.n; k++) {
        int64_t i = k / t.n;
        state_codes(model->space, i, from);
        state_codes(model->space, k % t.n, to);
        slopes_by_words(&t, model->space, from, slope);
        double ratio = log_weight(slope, from, to, 1.5);
        ck_assert_msg(t.pi[i] == 0 || fabs(t.log_q[k] - t.log_q[i * t.n + i] - ratio) < TOLERANCE,
                      "%d%d to %d%d: %.15g, by the words %.15g", from[0], from[1], to[0], to[1],
                      t.log_q[k] - t.log_q[i * t.n + i], ratio);
    }
    transition_free(&t);
    sal_model_destroy(model);
}
END_TEST

START_TEST(slopes_cost_one_value_a_variable)
{
    counted count = { 0 };
    sal_model *model = holes_model(&count, 7);
    const sali_sampler *sampler = sali_sampler_find("mana");
    sali_sampler_settings settings = settings_of(sampler, "mana", 1);
    bench b = bench_open(sampler, model, &settings, 1, 3, 0);
    count.calls = 0;
    sali_engine(sampler)->step(b.self, b.chains);
    ck_assert_int_eq(count.calls, 3 * (1 + 7));
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* ---- hard limits */

static int chosen(const int32_t *codes)
{
    return codes[0] + codes[1] + codes[2] + codes[3];
}

/* Slopes are those of f without the limit, so that proposals are too; acceptance is by f. */
static void check_limits(const char *sampler, double beta)
{
    char kept[64];
    sal_model *model = tiny_limited(LIMIT_BY_AT_MOST, SAL_F64);
    sal_model *open = tiny_limited(LIMIT_NONE, SAL_F64);
    snprintf(kept, sizeof kept, "%s,limits=kept", sampler);
    transition ignoring = matrix(sampler, model, 0.8, beta, 0);
    transition keeping = matrix(kept, model, 0.8, beta, 0);
    transition free = matrix(sampler, open, 0.8, beta, 0);
    same_proposals(&ignoring, &free, sampler);
    check_balance(&ignoring, sampler);
    check_balance(&keeping, kept);
    int swaps = 0;
    int64_t site;
    for (int64_t k = 0; k < ignoring.n * ignoring.n; k++) {
        int32_t from[4], to[4];
        state_codes(model->space, k / ignoring.n, from);
        state_codes(model->space, k % ignoring.n, to);
        if (chosen(from) == 2 && chosen(to) == 2 &&
            sali_sites_moved(model->space, from, to, &site) == 2) {
            ck_assert_double_gt(ignoring.P[k], 1e-4);
            ck_assert_double_eq(keeping.P[k], 0);
            swaps++;
        }
    }
    ck_assert_int_eq(swaps, 6 * 4);
    transition_free(&ignoring);
    transition_free(&keeping);
    transition_free(&free);
    sal_model_destroy(model);
    sal_model_destroy(open);
}

START_TEST(mana_swaps_at_a_full_limit)
{
    check_limits("mana:most=4", 1);
    check_limits("mana:most=2", 0.6);
}
END_TEST

/* A clamped variable leaves the limit to be left out. */
START_TEST(limits_are_left_out_of_clamped_models)
{
    sal_model *models[2], *clamped[2];
    sal_error err;
    transition t[2];
    for (int k = 0; k < 2; k++) {
        models[k] = tiny_limited(k ? LIMIT_NONE : LIMIT_BY_AT_MOST, SAL_F32);
        ck_ok(sal_model_clamp(models[k], 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }, &clamped[k], &err),
              &err);
        t[k] = matrix("mana", clamped[k], 0.8, 1, 0);
    }
    for (int64_t k = 0; k < t[0].n * t[0].n; k++) {
        ck_assert(t[0].pi[k / t[0].n] == 0 || fabs(t[0].log_q[k] - t[1].log_q[k]) < 1e-6);
    }
    for (int k = 0; k < 2; k++) {
        transition_free(&t[k]);
        sal_model_destroy(clamped[k]);
        sal_model_destroy(models[k]);
    }
}
END_TEST

/* ---- a cap on the variables that a step changes */

/* The capped proposal is the other one given that it changes `most` variables or fewer. */
static void check_capped(const char *sampler, int most, const sal_model *model, double eps)
{
    char text[96];
    int64_t site;
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    snprintf(text, sizeof text, "%s,most=%d", sampler, most);
    transition whole = matrix(sampler, model, eps, 1, 0), capped = matrix(text, model, eps, 1, 0);
    for (int64_t i = 0; i < whole.n; i++) {
        double kept = 0;
        state_codes(model->space, i, from);
        for (int64_t j = 0; j < whole.n; j++) {
            state_codes(model->space, j, to);
            bool few = sali_sites_moved(model->space, from, to, &site) <= most;
            kept += few ? exp(whole.log_q[i * whole.n + j]) : 0;
        }
        for (int64_t j = 0; whole.pi[i] > 0 && j < whole.n; j++) {
            state_codes(model->space, j, to);
            bool few = sali_sites_moved(model->space, from, to, &site) <= most;
            double want = whole.log_q[i * whole.n + j] - log(kept);
            double got = capped.log_q[i * whole.n + j];
            ck_assert_msg(few ? fabs(got - want) < TOLERANCE : got == -INFINITY,
                          "%s: log q %.15g, not %.15g", text, got, few ? want : -INFINITY);
        }
    }
    check_balance(&capped, text);
    transition_free(&whole);
    transition_free(&capped);
}

START_TEST(capped_proposals_are_conditional_ones)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        for (int most = 1; most <= 3; most++) {
            check_capped("mana:categorical=2", most, model, 1.3);
            check_capped("ncg:preconditioner=none", most, model, 0.6);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* Draws come as often as their probability says, which is what the draw returns, and x is their
 * embedding. With 5 deviations of chi-square a right draw fails once in 10^6 cases. */
START_TEST(capped_draws_have_their_probabilities)
{
    enum { DRAWS = 40000 };
    sal_space *space = tiny_space_make(tiny_space_named("factors"));
    sal_model *model = tiny_formula(space, SAL_F64);
    int32_t from[TINY_MOST_REALS] = { 0 }, to[TINY_MOST_REALS];
    double weights[64], x[TINY_MOST_REALS], y[TINY_MOST_REALS], z[TINY_MOST_REALS];
    static double p[TINY_MOST_STATES], count[TINY_MOST_STATES];
    int64_t states = states_count(space), site, cells = 0;
    double chi_square = 0;
    void *object = sali_object(1);
    sali_cap cap;
    sali_move_row row = { .log_weight = weights };
    tiny_normals(41, space->slots, 1, weights);
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (!sali_is_two_level(&space->variables[v])) {
            weights[space->variables[v].slot] = 0; /* staying */
        }
    }
    sali_cap_create(object, space, 2, &cap);
    sali_cap_prepare(&cap, model, from, &row);
    sali_model_embed(model, 1, from, x);
    for (int64_t j = 0; j < states; j++) {
        double log_p = -row.log_norm;
        state_codes(space, j, to);
        for (int64_t v = 0; v < space->n_variables; v++) {
            log_p += to[v] != from[v] ? weights[sali_move_slot(space, v, from[v], to[v])] : 0;
        }
        p[j] = sali_sites_moved(space, from, to, &site) <= 2 ? exp(log_p) : 0;
        count[j] = 0;
    }
    for (uint64_t d = 0; d < DRAWS; d++) {
        sali_stream stream = { .seed = 77, .step = d, .purpose = SALI_RNG_TEST };
        double log_q = sali_cap_draw(&cap, model, &stream, from, x, &row, to, y);
        int64_t j = state_of(space, to);
        count[j]++;
        ck_assert_double_eq_tol(exp(log_q), p[j], 1e-12);
        sali_model_embed(model, 1, to, z);
        ck_assert_mem_eq(y, z, (size_t)space->width * sizeof *y);
    }
    for (int64_t j = 0; j < states; j++) {
        double expected = DRAWS * p[j];
        cells += p[j] > 0;
        chi_square += p[j] > 0 ? (count[j] - expected) * (count[j] - expected) / expected : 0;
    }
    ck_assert_msg(chi_square < (double)cells + 5 * sqrt(2 * (double)cells), "%g for %d cells",
                  chi_square, (int)cells);
    sali_object_free(object);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Of 900 variables nearly all want to move: R_i[j] spans more than the doubles do. */
START_TEST(a_cap_holds_where_nearly_all_would_change)
{
    enum { V = 900, MOST = 150, DRAWS = 40 };
    sal_model *model = NULL;
    sal_error err;
    int64_t largest = 0;
    int bytes;
    ck_ok(sal_model_open("ising:side=30,theta=0", SAL_F32, &model, &err), &err);
    sal_run_options o = { .sampler = "ncg:most=150",
                          .step_size = 1e4,
                          .chains = 1,
                          .warmup = -1,
                          .draws = DRAWS,
                          .record.draws = true };
    sal_run *run = NULL;
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    const uint8_t *draws = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 1);
    for (int64_t d = 1; d < DRAWS; d++) {
        int64_t n = 0;
        for (int64_t v = 0; v < V; v++) {
            n += draws[d * V + v] != draws[(d - 1) * V + v];
        }
        ck_assert_int_le(n, MOST);
        largest = n > largest ? n : largest;
    }
    ck_assert_int_ge(largest, MOST - 2); /* far below half of them: the cap binds */
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- schedules */

START_TEST(schedules_scale_the_step_size_by_the_step_number)
{
    static const struct {
        const char *specification;
        uint64_t step;
        double factor;
    } cases[] = {
        { "schedule=polynomial,decay=0.5,horizon=10", 0, 1 },
        { "schedule=polynomial,decay=0.5,horizon=10", 30, 0.5 },
        { "schedule=polynomial,decay=1,horizon=10", 90, 0.1 },
        { "schedule=exponential,decay=2,horizon=10", 0, 1 },
        { "schedule=exponential,decay=2,horizon=10", 5, 0.36787944117144233 },
        { "schedule=constant,decay=2,horizon=10", 5, 1 },
    };
    static const char *const samplers[] = { "una", "dula", "mana", "ncg" };
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    for (int s = 0; s < 4; s++) {
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            char text[96];
            snprintf(text, sizeof text, "%s:%s", samplers[s], cases[k].specification);
            transition a = matrix(text, model, 3, 1, cases[k].step);
            transition b = matrix(samplers[s], model, 3 * cases[k].factor, 1, 0);
            same_proposals(&a, &b, text);
            transition_free(&a);
            transition_free(&b);
        }
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Robbins & Monro: the sum of the steps grows without bound, that of their squares does not. */
START_TEST(polynomial_schedule_meets_the_conditions_of_robbins_and_monro)
{
    sali_schedule s = { .form = SALI_EPS_POLYNOMIAL, .decay = 0.6, .horizon = 1 };
    double sum[2] = { 0 }, square[2] = { 0 };
    for (int far = 0; far < 2; far++) {
        for (uint64_t t = 0; t < (far ? 1000000u : 10000u); t++) {
            double eps = sali_schedule_at(&s, t);
            sum[far] += eps;
            square[far] += eps * eps;
        }
    }
    ck_assert_double_gt(sum[1], 5 * sum[0]);
    ck_assert_double_lt(square[1], 6); /* zeta(1.2) = 5.59 */
    ck_assert_double_ge(
        sali_schedule_at(&(sali_schedule){ .form = SALI_EPS_EXPONENTIAL, .decay = 1, .horizon = 1 },
                         1u << 30),
        1e-7);
}
END_TEST

/* ---- preconditioning */

/* log q(from -> to) of the text, up to a constant: step sizes eps scale[v]. */
static double weighted_log_q(const sal_model *model, const double *scale, double eps,
                             const double *gradient, const double *x, const double *x_to)
{
    double sum = 0;
    for (int64_t k = 0; k < model->space->width; k++) {
        double d = x_to[k] - x[k];
        sum += gradient[k] * d / 2 - d * d / (2 * eps * scale[sali_space_owner(model->space, k)]);
    }
    return sum;
}

static void check_weighted(const sal_model *model, const transition *t, const double *scale,
                           double eps, double beta, const char *what)
{
    int64_t N = model->space->width;
    double *x = malloc((size_t)(t->n * N) * sizeof *x), f;
    double *gradient = malloc((size_t)N * sizeof *gradient);
    int32_t codes[TINY_MOST_REALS];
    sal_error err;
    for (int64_t i = 0; i < t->n; i++) {
        state_codes(model->space, i, codes);
        sali_model_embed(model, 1, codes, x + i * N);
    }
    for (int64_t i = 0; i < t->n; i++) {
        state_codes(model->space, i, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, gradient, NULL, &err), &err);
        for (int64_t k = 0; k < N; k++) {
            gradient[k] *= beta;
        }
        for (int64_t j = 0; j < t->n; j++) {
            double text = weighted_log_q(model, scale, eps, gradient, x + i * N, x + j * N);
            double q = t->log_q[i * t->n + j] - t->log_q[i * t->n + i];
            ck_assert_msg(fabs(q - text) < 1e-11, "%s: log q %.15g, by the text %.15g", what, q,
                          text);
        }
    }
    free(x);
    free(gradient);
}

START_TEST(preconditioner_scales_the_step_size_of_each_variable)
{
    const sali_sampler *sampler = sali_sampler_find("dmala");
    sali_sampler_settings settings = settings_of(sampler, "dmala:preconditioner=diagonal", 0.8);
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        bench b = bench_open(sampler, model, &settings, 0.6, states_count(space), 0);
        double *d;
        ck_assert_int_eq(tuned_values(sampler, b.shared, &d), space->n_variables);
        for (int64_t v = 0; v < space->n_variables; v++) {
            d[v] = 0.4 + 0.3 * (double)v;
        }
        sali_engine(sampler)->refresh(b.self, b.chains);
        transition t = transition_of(&b);
        check_weighted(model, &t, d, 0.8, 0.6, tiny_spaces[s].name);
        check_balance(&t, tiny_spaces[s].name);
        transition_free(&t);
        bench_close(&b);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* f = 8 (s_0 - s_1) + 0.1 (s_2 + s_3) has slopes 8, 8, 0.1, 0.1 everywhere. */
static sal_model *steep(void)
{
    const double b[] = { 8, -8, 0.1, 0.1 };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = NULL;
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_dot(sal_constant(tape, b, SAL_SHAPE(4)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(steep_variables_take_small_steps_and_the_mean_is_kept)
{
    const sali_sampler *sampler = sali_sampler_find("ncg");
    sali_sampler_settings settings = settings_of(sampler, "ncg:preconditioner=diagonal", 0.8);
    sal_model *model = steep();
    bench b = bench_open(sampler, model, &settings, 1, 16, 0);
    double *d;
    ck_assert_int_eq(tuned_values(sampler, b.shared, &d), 4);
    double mean = 32.005; /* of 64, 64, 0.01, 0.01 */
    double steep_scale = 1 / sqrt(64 + 0.01 * mean), flat = 1 / sqrt(0.01 + 0.01 * mean);
    double geometric = sqrt(steep_scale * flat);
    for (int window = 0; window < 5; window++) {
        sali_warmup warmup = { .model = model,
                               .n_shards = 1,
                               .chains = &b.chains,
                               .selves = &b.self,
                               .window = 25,
                               .done = 25 * (window + 1),
                               .total = 125 };
        bool changed = false;
        ck_assert_double_eq_tol(d[0], steep_scale / geometric, 1e-12);
        ck_assert_double_eq_tol(d[3], flat / geometric, 1e-12);
        ck_ok(sali_engine(sampler)->adapt(b.shared, &warmup, &changed, NULL), &(sal_error){ 0 });
        ck_assert_int_eq(changed, window < 3); /* frozen after three quarters */
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* Two counts k up to 40, Poisson(5 exp(z)), beside two grids of 1001 levels of z, N(0, 0.1^2),
 * from -unit / 2 to unit / 2 times 1 / unit. */
static sal_model *mixed_units(double unit)
{
    enum { LEVELS = 1001 };
    static double levels[LEVELS];
    for (int k = 0; k < LEVELS; k++) {
        levels[k] = unit * (k - 500) / 1000.0;
    }
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    const sal_block blocks[] = {
        { .name = "k", .kind = SAL_COUNT, .count = 2, .cap = 40 },
        { .name = "z", .kind = SAL_ORDINAL, .count = 2, .states = LEVELS, .levels = levels }
    };
    ck_ok(sal_space_add(space, &blocks[0], &err), &err);
    ck_ok(sal_space_add(space, &blocks[1], &err), &err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr k = sal_state_block(t, "k"), z = sal_scale(sal_state_block(t, "z"), 1 / unit);
    sal_expr log_rate = sal_add(z, sal_scalar(t, log(5)));
    sal_expr poisson = sal_sub(sal_sub(sal_mul(k, log_rate), sal_exp(log_rate)),
                               sal_lgamma(sal_add(k, sal_scalar(t, 1))));
    sal_expr f = sal_sum(sal_sub(poisson, sal_scale(sal_square(z), 50)));
    ck_ok(sal_model_from_tape(t, f, &model, &err), &err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

START_TEST(change_of_units_changes_the_scale_by_its_square)
{
    const sali_sampler *sampler = sali_sampler_find("ncg");
    double ratio[2];
    for (int k = 0; k < 2; k++) {
        sali_sampler_settings settings = settings_of(sampler, "ncg", 1);
        sal_model *model = mixed_units(k == 0 ? 1 : 1024);
        bench b = bench_open(sampler, model, &settings, 1, 8, 0);
        double *d;
        tuned_values(sampler, b.shared, &d);
        ratio[k] = d[3] / d[0];
        bench_close(&b);
        sal_model_destroy(model);
    }
    ck_assert_double_eq_tol(ratio[1] / ratio[0] / (1024 * 1024.0), 1, 1e-9);
}
END_TEST

/* One step size for all would be right for the grids and freeze the counts. */
START_TEST(counts_move_beside_a_fine_grid)
{
    sal_model *model = mixed_units(1);
    const sal_run_options options = { .sampler = "ncg", .chains = 8, .draws = 4000, .seed = 1 };
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_error err;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &summary, &err), &err);
    ck_assert_double_lt(summary.rhat_max, 1.05);
    ck_assert_double_gt(summary.ess_min, 100);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(preconditioned_run_does_not_depend_on_threads)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double *log_probs[2];
    for (int k = 0; k < 2; k++) {
        sal_run_options options = { .sampler = "dmala:preconditioner=diagonal",
                                    .chains = 70,
                                    .warmup = 120,
                                    .draws = 50,
                                    .seed = 5,
                                    .threads = 1 + k };
        sal_run *run = NULL;
        sal_run_summary summary;
        sal_error err;
        ck_ok(sal_sample(model, &options, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &summary, &err), &err);
        ck_assert_str_eq(summary.sampler, "dmala"); /* as it was asked for */
        log_probs[k] = malloc(70 * 50 * sizeof(double));
        memcpy(log_probs[k], sal_run_log_probs(run), 70 * 50 * sizeof(double));
        sal_run_destroy(run);
    }
    ck_assert_mem_eq(log_probs[0], log_probs[1], 70 * 50 * sizeof(double));
    free(log_probs[0]);
    free(log_probs[1]);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- names and step sizes */

START_TEST(dmala_is_another_name_of_ncg)
{
    ck_assert_ptr_nonnull(sali_sampler_find("dmala:schedule=constant"));
    ck_assert_ptr_eq(sali_sampler_find("dmala:schedule=constant"), sali_sampler_find("ncg"));
    ck_assert_ptr_null(sali_sampler_find("dmal"));
    ck_assert_str_eq(sali_engine(sali_sampler_find("ncg"))->alias, "dmala");
}
END_TEST

START_TEST(step_size_is_adapted_only_where_there_is_an_acceptance)
{
    sal_model *model = steep();
    sal_error err;
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        sali_sampler_settings settings;
        const sali_sampler *chosen;
        if (!sampler->has_step_size) {
            continue;
        }
        bool exact = !sampler->unadjusted;
        ck_ok(sali_sampler_choose(sampler->name, model, 0, &chosen, &settings, &err), &err);
        ck_assert_int_eq(sali_sampler_adapts(sampler), exact);
        ck_assert_double_eq(settings.step_size, 0.2);
        ck_ok(sali_sampler_choose(sampler->name, model, 0.7, &chosen, &settings, &err), &err);
        ck_assert_double_eq(settings.step_size, 0.7);
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *langevin_suite(void)
{
    Suite *suite = suite_create("langevin");
    TCase *tcase = tcase_create("langevin");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, mana_proposes_as_dmala_where_f_is_multilinear);
    tcase_add_test(tcase, label_of_two_without_its_first_real_is_a_binary_variable);
    tcase_add_test(tcase, forbidden_next_level_leaves_the_one_below);
    tcase_add_test(tcase, slopes_cost_one_value_a_variable);
    tcase_add_test(tcase, mana_swaps_at_a_full_limit);
    tcase_add_test(tcase, limits_are_left_out_of_clamped_models);
    tcase_add_test(tcase, capped_proposals_are_conditional_ones);
    tcase_add_test(tcase, capped_draws_have_their_probabilities);
    tcase_add_test(tcase, a_cap_holds_where_nearly_all_would_change);
    tcase_add_test(tcase, schedules_scale_the_step_size_by_the_step_number);
    tcase_add_test(tcase, polynomial_schedule_meets_the_conditions_of_robbins_and_monro);
    tcase_add_test(tcase, preconditioner_scales_the_step_size_of_each_variable);
    tcase_add_test(tcase, steep_variables_take_small_steps_and_the_mean_is_kept);
    tcase_add_test(tcase, change_of_units_changes_the_scale_by_its_square);
    tcase_add_test(tcase, counts_move_beside_a_fine_grid);
    tcase_add_test(tcase, preconditioned_run_does_not_depend_on_threads);
    tcase_add_test(tcase, dmala_is_another_name_of_ncg);
    tcase_add_test(tcase, step_size_is_adapted_only_where_there_is_an_acceptance);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(langevin_suite());
}
