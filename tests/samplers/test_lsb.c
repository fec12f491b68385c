/* SPDX-License-Identifier: MIT */
/* Locally self-balancing proposals: learned functions are balanced whatever was learned, and
 * learning follows the objective. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "alloc_fail.h"
#include "core/alloc.h"
#include "samplers/local/lsb.h"
#include "run/run.h"
#include "transition.h"

enum { BLOCKS = 3, UNITS = 4, MOST_THETA = 2 * BLOCKS * UNITS };

/* Test k is of LSB 1 for even k, of LSB 2 for odd k: with lines in log t, then in t / (1 + t). */
static sali_lsb_function *function_of(int k)
{
    sali_lsb_function *g = SALI_NEW(sali_lsb_function);
    sal_error err;
    sali_lsb_shape shape = { 0 };
    if (k % 2 == 1) {
        shape = (sali_lsb_shape){ BLOCKS, UNITS, k / 2 % 2 ? SALI_LINES_SHARE : SALI_LINES_LOG };
    }
    ck_ok(sali_lsb_open(g, shape, &err), &err);
    ck_assert_int_le(g->n, MOST_THETA);
    return g;
}

static void function_free(sali_lsb_function *g)
{
    sali_lsb_close(g);
    sali_free(g);
}

/* Any theta: the `k`-th lot of random ones. */
static void randomise(sali_lsb_function *g, int k)
{
    double theta[MOST_THETA];
    tiny_normals((uint64_t)(100 + k), g->n, 1.0, theta);
    sali_lsb_set(g, theta);
}

static double log_g(const sali_lsb_function *g, sal_dtype dtype, double log_t)
{
    double in[1], out[1];
    sali_balance balance = sali_lsb_balance(g, dtype);
    sali_store(dtype, in, 0, log_t);
    balance.log_g(balance.context, 1, in, out);
    return sali_load(dtype, out, 0);
}

/* ---- the functions */

START_TEST(learned_functions_are_balanced_for_any_parameters)
{
    static const double log_t[] = { 0, 1e-6, 0.3, 1, 2.71, 10, 31.99, 32, 40, 250, 1e3, 1e4 };
    sali_lsb_function *g = function_of(_i);
    for (int lot = 0; lot < 20; lot++) {
        randomise(g, lot);
        for (int d = 0; d < 2; d++) {
            sal_dtype dtype = d ? SAL_F32 : SAL_F64;
            double tolerance = d ? 2e-5 : 1e-12;
            for (size_t k = 0; k < sizeof log_t / sizeof *log_t; k++) {
                double t = d ? (float)log_t[k] : log_t[k];
                double up = log_g(g, dtype, t), down = log_g(g, dtype, -t);
                ck_assert_msg(fabs(up - down - t) <= tolerance * fmax(1, t / 100),
                              "log t = %g: log g(t) = %.17g, log g(1/t) = %.17g", t, up, down);
            }
            ck_assert(log_g(g, dtype, -INFINITY) == -INFINITY);
            ck_assert(isnan(log_g(g, dtype, NAN)));
        }
    }
    function_free(g);
}
END_TEST

/* Sansone 2022, sec. 3.1, first parametrisation. */
START_TEST(lsb1_mixes_the_four_functions_by_softmax)
{
    sali_lsb_function *g = function_of(0);
    for (int lot = 0; lot < 5; lot++) {
        randomise(g, lot);
        for (double u = -20; u <= 20; u += 0.37) {
            double t = exp(u), sum = 0, total = 0;
            double each[] = { sqrt(t), t / (1 + t), fmin(1, t), fmax(1, t) };
            for (int k = 0; k < 4; k++) {
                sum += exp(g->theta[k]) * each[k];
                total += exp(g->theta[k]);
            }
            ck_assert_double_eq_tol(log_g(g, SAL_F64, u), log(sum / total), 1e-12);
        }
    }
    function_free(g);
}
END_TEST

/* The network written out: Sill 1997, with softplus of its output. */
static double log_h_by_hand(const sali_lsb_function *g, double u)
{
    const double *theta = g->theta;
    double least = INFINITY, at = g->shape.lines == SALI_LINES_SHARE ? 1 / (1 + exp(-u)) - 0.5 : u;
    for (int b = 0; b < BLOCKS; b++) {
        double largest = -INFINITY;
        for (int k = b * UNITS; k < (b + 1) * UNITS; k++) {
            largest = fmax(largest, exp(theta[k]) * at + theta[BLOCKS * UNITS + k]);
        }
        least = fmin(least, largest);
    }
    return log(log1p(exp(least)));
}

START_TEST(lsb2_is_the_smaller_of_h_and_its_mirror_image)
{
    sali_lsb_function *g = function_of(2 * _i + 1);
    for (int lot = 0; lot < 5; lot++) {
        randomise(g, lot);
        for (double u = -20; u <= 20; u += 0.37) {
            double node = round(u * SALI_TABLE_RATE) / SALI_TABLE_RATE;
            double at_node = fmin(log_h_by_hand(g, node), node + log_h_by_hand(g, -node));
            double between = fmin(log_h_by_hand(g, u), u + log_h_by_hand(g, -u));
            ck_assert_double_eq_tol(log_g(g, SAL_F64, node), at_node, 1e-12 * fmax(1, -at_node));
            ck_assert_double_eq_tol(log_g(g, SAL_F64, u), between, 0.1);
        }
    }
    function_free(g);
}
END_TEST

START_TEST(h_of_lsb2_increases_for_any_parameters)
{
    sali_lsb_function *g = function_of(2 * _i + 1);
    for (int lot = 0; lot < 20; lot++) {
        randomise(g, lot);
        for (int k = 1; k < SALI_TABLE_NODES; k++) {
            ck_assert_double_ge(g->table.log_h[k], g->table.log_h[k - 1]);
        }
        ck_assert_double_gt(g->table.log_h[SALI_TABLE_NODES - 1], g->table.log_h[0]);
    }
    function_free(g);
}
END_TEST

/* 3 x 4 lines come near to each function. In t / (1 + t), which is bounded, less so. */
START_TEST(lsb2_is_fitted_to_a_ready_made_function)
{
    for (int balance = 0; balance < SALI_BALANCES; balance++) {
        sali_lsb_function *g = function_of(2 * _i + 1);
        double squares = 0, points = 0;
        sal_error err;
        ck_ok(sali_lsb_fit(g, balance, &err), &err);
        for (double u = -4; u <= 4; u += 0.25, points++) {
            double want;
            sali_log_balance_f64[balance](NULL, 1, &u, &want);
            squares += pow(log_g(g, SAL_F64, u) - want, 2);
        }
        double off = sqrt(squares / points);
        ck_assert_msg(off < (_i ? 0.15 : 0.05), "%s: off by %g", sali_balance_names[balance], off);
        function_free(g);
    }
}
END_TEST

/* ---- exactness */

START_TEST(samplers_are_exact_whatever_was_learned)
{
    const sali_sampler *sampler = sali_sampler_find(_i ? "lsb2" : "lsb1");
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            for (int lot = 0; model && lot < 4; lot++) {
                sali_sampler_settings settings = { 0 };
                sal_error err;
                ck_ok(sali_specification_values(_i ? "lsb2:blocks=3,units=4" : "lsb1",
                                                sampler->settings, settings.values, &err),
                      &err);
                bench b = bench_open(sampler, model, &settings, lot % 2 ? 0.6 : 1,
                                     states_count(space), 0);
                randomise(&((sali_lsb *)b.shared)->g, 50 + lot);
                sali_engine(sampler)->refresh(b.self, b.chains);
                transition t = transition_of(&b);
                double breach = larger_breach(balance_breach(t.n, t.pi, t.P),
                                              invariance_breach(t.n, t.pi, t.P));
                ck_assert_msg(breach < 1e-12, "%s over %s, lot %d: %g", tiny_models[m].name,
                              tiny_spaces[s].name, lot, breach);
                transition_free(&t);
                bench_close(&b);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- the objective */

/* The posterior of an image under Ising couplings, Sansone 2022, eq. 7: a disc on a lattice of
 * `side`, pixels of mean mu and deviation sigma = 3. */
static sal_model *image_model(int side, double lambda, double mu)
{
    sal_block block = { .name = "x", .kind = SAL_SPIN, .count = (int64_t)side * side };
    double alpha[4096], w[8192];
    int64_t pairs[16384], n = 0;
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    tiny_normals(77, block.count, 3, alpha);
    for (int i = 0; i < side; i++) {
        for (int j = 0; j < side; j++) {
            double r = hypot(i - (side - 1) / 2.0, j - (side - 1) / 2.0);
            double y = alpha[i * side + j] + (r < side / 3.0 ? mu : -mu);
            alpha[i * side + j] = y * mu / 9;
            for (int k = 0; k < 2; k++) {
                if ((k ? j : i) + 1 < side) {
                    pairs[2 * n] = i * side + j;
                    pairs[2 * n + 1] = i * side + j + (k ? 1 : side);
                    w[n++] = lambda;
                }
            }
        }
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_dot(sal_constant(tape, alpha, SAL_SHAPE(block.count)), s);
    f = sal_add(f, sal_edges(s, sal_constant(tape, w, SAL_SHAPE(n)), n, pairs));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* A batch from chains at states of a random start. */
typedef struct rig {
    sal_model *model;
    sali_chains *chains;
    sali_lsb_function *g;
    sali_lsb_batch *batch;
    sali_warmup warmup;
    int k;
} rig;

static void rig_open(rig *r, sal_model *model, int k, int lot)
{
    enum { CHAINS = 8 };
    sal_error err;
    *r = (rig){ .model = model, .g = function_of(k), .k = k };
    randomise(r->g, lot);
    ck_ok(sali_chains_create(model, CHAINS, SALI_WANT_VALUE, 5, &r->chains, &err), &err);
    for (int c = 0; c < CHAINS; c++) {
        r->chains->beta[c] = c % 2 ? 0.6 : 0.9;
        for (int64_t v = 0; v < model->space->n_variables; v++) {
            r->chains->codes[c * model->space->n_variables + v] = (int32_t)((v * c + c / 3) % 2);
        }
    }
    ck_ok(sali_lsb_batch_open(model, 2 * CHAINS, 0, &r->batch, &err), &err);
    r->warmup = (sali_warmup){ .model = model,
                               .seed = 5,
                               .n_shards = 1,
                               .chains = &r->chains,
                               .window = 25,
                               .done = 25,
                               .total = 100 };
    ck_ok(sali_lsb_batch_draw(r->batch, r->g, &r->warmup, 3, &err), &err);
}

static void rig_close(rig *r)
{
    sali_lsb_batch_close(r->batch);
    sali_chains_destroy(r->chains);
    function_free(r->g);
    sal_model_destroy(r->model);
}

/* Eq. 5 and the regulariser of eq. 10 in plain numbers, from what was drawn. */
static double objective_by_hand(const rig *r, const double *theta_before)
{
    const sali_lsb_batch *b = r->batch;
    sali_lsb_function *before = function_of(r->k);
    double sum = 0;
    sali_lsb_set(before, theta_before);
    for (int64_t i = 0; i < b->rows; i++) {
        const double *log_t = b->log_t[0] + i * b->S, *log_t_new = b->log_t[1] + i * b->S;
        double Z = 0, Z_new = 0, Z_before = 0, t = exp(log_t[b->move[i]]);
        for (int64_t k = 0; k < b->S; k++) {
            Z += exp(log_g(r->g, SAL_F64, log_t[k]));
            Z_new += exp(log_g(r->g, SAL_F64, log_t_new[k]));
            Z_before += exp(log_g(before, SAL_F64, log_t[k]));
        }
        double Q = exp(log_g(r->g, SAL_F64, log(t))) / Z;
        double Q_before = exp(log_g(before, SAL_F64, log(t))) / Z_before;
        double A = fmin(1, Z / Z_new);
        double log_p = log(t) + (b->density ? b->pool->beta[i] * b->pool->f[i] : 0);
        sum += 2.0 / (double)b->rows * Q / Q_before * A * (log(A * Q) - log_p);
    }
    for (int64_t i = 0; r->g->network && i < b->rows; i++) {
        double t = b->t[i], epsilon = 1e-3;
        double fall = (t * exp(log_h_by_hand(r->g, -log(t))) -
                       (t + epsilon) * exp(log_h_by_hand(r->g, -log(t + epsilon)))) /
                      epsilon;
        sum += fmax(fall, 0) / (double)b->rows;
    }
    function_free(before);
    return sum;
}

/* At the theta that drew the proposals and elsewhere. */
START_TEST(the_objective_is_that_of_the_paper)
{
    rig r;
    double before[MOST_THETA], gradient[MOST_THETA];
    rig_open(&r, image_model(5, 0.3, 1), _i, _i / 2);
    memcpy(before, r.g->theta, (size_t)r.g->n * sizeof *before);
    for (int lot = 0; lot < 6; lot++) {
        r.batch->density = lot >= 3;
        double J = sali_lsb_objective(r.batch, r.g, gradient);
        ck_assert_double_eq_tol(J, objective_by_hand(&r, before), 1e-9 * fmax(1, fabs(J)));
        randomise(r.g, 30 + lot);
    }
    for (int64_t i = 0; i < r.batch->rows; i++) {
        ck_assert_int_ge(r.batch->move[i], 0);
    }
    rig_close(&r);
}
END_TEST

START_TEST(the_gradient_is_that_of_the_objective)
{
    rig r;
    double theta[MOST_THETA], gradient[MOST_THETA], unused[MOST_THETA];
    rig_open(&r, image_model(5, 0.3, 1), _i, 10 + _i / 2);
    randomise(r.g, 20 + _i / 2);
    r.batch->density = _i >= 4;
    sali_lsb_objective(r.batch, r.g, gradient);
    memcpy(theta, r.g->theta, (size_t)r.g->n * sizeof *theta);
    double largest = 0;
    for (int64_t k = 0; k < r.g->n; k++) {
        double value[2], kept = theta[k], h = 1e-6;
        for (int side = 0; side < 2; side++) {
            theta[k] = kept + (side ? h : -h);
            sali_lsb_set(r.g, theta);
            value[side] = sali_lsb_objective(r.batch, r.g, unused);
        }
        theta[k] = kept;
        double slope = (value[1] - value[0]) / (2 * h);
        ck_assert_msg(fabs(slope - gradient[k]) < 1e-6 * fmax(1, fabs(slope)),
                      "parameter %d: slope %g, gradient %g", (int)k, slope, gradient[k]);
        largest = fmax(largest, fabs(slope));
    }
    ck_assert_double_gt(largest, 1e-3);
    rig_close(&r);
}
END_TEST

/* Descending with the same states and random numbers. */
START_TEST(learning_lowers_the_objective)
{
    rig r;
    double first = 0, last = 0, gradient[MOST_THETA], theta[MOST_THETA];
    sali_optimiser adam = sali_optimiser_usual(SALI_ADAM, 0.03);
    rig_open(&r, image_model(8, _i < 2 ? 0 : 0.3, 1), _i, _i / 2);
    ck_assert(sali_optimiser_create(&adam, r.g->n));
    for (int k = 0; k < 60; k++) {
        last = sali_lsb_objective(r.batch, r.g, gradient);
        first = k == 0 ? last : first;
        for (int64_t j = 0; j < r.g->n; j++) {
            gradient[j] = -gradient[j];
            theta[j] = r.g->theta[j];
        }
        sali_optimiser_update(&adam, 1, gradient, theta);
        sali_lsb_set(r.g, theta);
    }
    ck_assert_msg(last < first - 0.02, "J from %g to %g", first, last);
    sali_optimiser_free(&adam);
    rig_close(&r);
}
END_TEST

/* ---- runs */

static sal_run *run_it(sal_model *model, const char *sampler, int threads)
{
    sal_run_options options = { .sampler = sampler,
                                .chains = 40,
                                .warmup = 500,
                                .draws = 3000,
                                .seed = 11,
                                .threads = threads };
    sal_run *run = NULL;
    sal_error err;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    return run;
}

static const sali_lsb *learned(const sal_run *run)
{
    return run->shared;
}

static double ess_of(const sal_run *run)
{
    sal_run_summary summary;
    sal_error err;
    ck_ok(sal_run_summarise(run, &summary, &err), &err);
    return summary.ess_total;
}

static const char *const specifications[] = {
    "lsb1", "lsb2:blocks=3,units=4", "lsb1:optimiser=sgd,rate=0.01",
    "lsb2:blocks=3,units=4,lines=share,start=max,optimiser=sgd,rate=0.01,objective=density"
};

START_TEST(learning_depends_on_the_seed_and_not_on_threads)
{
    sal_model *model = image_model(6, 0.2, 1);
    sal_run *one = run_it(model, specifications[_i], 1),
            *two = run_it(model, specifications[_i], 2);
    sali_lsb_function *start = function_of(_i);
    double moved = 0;
    for (int64_t k = 0; k < start->n; k++) {
        ck_assert(learned(one)->g.theta[k] == learned(two)->g.theta[k]);
        moved = fmax(moved, fabs(learned(one)->g.theta[k] - start->theta[k]));
    }
    ck_assert_double_gt(moved, 0.03);
    ck_assert_int_eq((int)learned(one)->made, 200);
    ck_assert_int_eq(learned(one)->optimiser.kind, _i < 2 ? SALI_ADAM : SALI_SGD);
    ck_assert_int_eq(learned(one)->density, _i == 3);
    ck_assert(ess_of(one) == ess_of(two));
    function_free(start);
    sal_run_destroy(one);
    sal_run_destroy(two);
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_rate_of_0_learns_nothing)
{
    sal_model *model = image_model(4, 0.2, 1);
    sal_run *run = run_it(model, "lsb1:rate=0", 1);
    for (int k = 0; k < SALI_BALANCES; k++) {
        ck_assert(learned(run)->g.theta[k] == 0);
    }
    ck_assert_int_eq((int)learned(run)->made, 0);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(running_out_of_memory_is_reported)
{
    sal_model *model = image_model(3, 0.2, 1);
    sal_run_options options = { .sampler = _i ? "lsb2:blocks=2,units=2" : "lsb1",
                                .chains = 2,
                                .warmup = 30,
                                .draws = 2,
                                .threads = 1 };
    sal_run *run = NULL;
    sal_error err;
    ck_alloc_sweep(sal_sample(model, &options, &run, &err), sal_run_destroy(run));
    sal_model_destroy(model);
    sali_lsb_function *g = function_of(1);
    ck_alloc_sweep(sali_lsb_fit(g, SALI_BALANCE_MAX, &err), (void)0);
    function_free(g);
}
END_TEST

/* The four cases of Sansone 2022, table 2, on a smaller lattice: independent and dependent, noisy
 * and clean. The worst ready-made function there is max(1, t); in the first case they hardly
 * differ. */
static const struct {
    double lambda, mu, margin;
} cases[] = { { 0, 1, 0.95 }, { 0, 3, 1.15 }, { 1, 1, 1.15 }, { 1, 3, 1.15 } };

START_TEST(what_is_learned_beats_the_worst_ready_made_function)
{
    sal_model *model = image_model(8, cases[_i].lambda, cases[_i].mu);
    sal_run *worst = run_it(model, "lb:balance=max", 1);
    for (int k = 0; k < 2; k++) {
        sal_run *run = run_it(model, specifications[k], 1);
        ck_assert_msg(ess_of(run) > cases[_i].margin * ess_of(worst),
                      "case %d, %s: ESS %g, max(1, t): %g", _i + 1, specifications[k], ess_of(run),
                      ess_of(worst));
        sal_run_destroy(run);
    }
    sal_run_destroy(worst);
    sal_model_destroy(model);
}
END_TEST

static Suite *lsb_suite(void)
{
    Suite *suite = suite_create("lsb");
    TCase *tcase = tcase_create("lsb");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, learned_functions_are_balanced_for_any_parameters, 0, 4);
    tcase_add_test(tcase, lsb1_mixes_the_four_functions_by_softmax);
    tcase_add_loop_test(tcase, lsb2_is_the_smaller_of_h_and_its_mirror_image, 0, 2);
    tcase_add_loop_test(tcase, h_of_lsb2_increases_for_any_parameters, 0, 2);
    tcase_add_loop_test(tcase, lsb2_is_fitted_to_a_ready_made_function, 0, 2);
    tcase_add_loop_test(tcase, samplers_are_exact_whatever_was_learned, 0, 2);
    tcase_add_loop_test(tcase, the_objective_is_that_of_the_paper, 0, 4);
    tcase_add_loop_test(tcase, the_gradient_is_that_of_the_objective, 0, 6);
    tcase_add_loop_test(tcase, learning_lowers_the_objective, 0, 4);
    tcase_add_loop_test(tcase, learning_depends_on_the_seed_and_not_on_threads, 0, 4);
    tcase_add_test(tcase, a_rate_of_0_learns_nothing);
    tcase_add_loop_test(tcase, running_out_of_memory_is_reported, 0, 2);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("efficiency");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_is_learned_beats_the_worst_ready_made_function, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(lsb_suite());
}
