/* SPDX-License-Identifier: MIT */
/* The matrix of samplers with Gaussian auxiliary variables: the Hessian of a quadratic f, with
 * which they never reject, what warm-up learns, and the user's own. */
#include "auxiliary_helpers.h"
#include "run_helpers.h"

#include <math.h>
#include <stdbool.h>

#include "samplers/langevin/auxiliary.h"

/* ---- the Hessian of a quadratic f: block Gibbs, which never rejects */

/* s'Js / 2 + b's with entries of J everywhere, the diagonal and one-hot blocks among them. */
static sal_model *quadratic(const sal_space *space, sal_dtype dtype)
{
    int64_t N = sal_space_width(space);
    double J[MOST * MOST], b[MOST];
    sal_model *model = NULL;
    sal_error err;
    tiny_normals(21, N * N, 0.8, J);
    tiny_normals(22, N, 0.5, b);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), matrix = sal_param(tape, "J", SAL_SHAPE(N, N));
    sal_expr f = sal_add(sal_scale(sal_quad(s, matrix), 0.5),
                         sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

static void check_never_rejects(bench *b, int steps, double tolerance, const char *where)
{
    for (int step = 0; step < steps; step++) {
        sali_engine(b->sampler)->step(b->self, b->chains);
        for (int64_t c = 0; c < b->chains->n; c++) {
            const double log_ratio = b->chains->log_ratio[c]; /* inf: taken unasked */
            ck_assert_msg(log_ratio == INFINITY || fabs(log_ratio) < tolerance, "%s: log ratio %g",
                          where, log_ratio);
        }
    }
}

static void check_block_gibbs(const sal_model *model, double tolerance, const char *where)
{
    static const char *const specifications[] = { "pavg", "pavg:preconditioner=hessian" };
    for (int k = 0; k < 4; k++) {
        const sali_sampler *sampler;
        sali_sampler_settings settings;
        sal_error err;
        ck_ok(sali_sampler_choose(specifications[k % 2], model, k < 2 ? 0.3 : 30, &sampler,
                                  &settings, &err),
              &err);
        bench b =
            bench_open(sampler, model, &settings, k % 2 ? 0.6 : 1, states_count(model->space), 0);
        check_never_rejects(&b, 20, tolerance, where);
        bench_close(&b);
    }
}

START_TEST(hessian_of_a_quadratic_f_never_rejects)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *exact = quadratic(space, SAL_F64), *single = quadratic(space, SAL_F32);
        check_block_gibbs(exact, 1e-10, tiny_spaces[s].name);
        check_block_gibbs(single, 1e-3, tiny_spaces[s].name);
        sal_model_destroy(exact);
        sal_model_destroy(single);
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(ready_made_quadratic_models_never_reject)
{
    static const char *const models[] = { "ising:side=6,theta=0.4,bias=0.3",
                                          "ising-dense:dim=40,scale=0.3" };
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(models[m], SAL_F64, &model, &err), &err);
        sal_run_options options = { .sampler = "pavg", .chains = 20, .warmup = 200, .draws = 200 };
        sal_run *run = NULL;
        sal_run_summary summary;
        ck_ok(sal_sample(model, &options, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &summary, &err), &err);
        ck_assert_double_eq(summary.acceptance_rate, 1);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(hessian_follows_the_parameters)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = quadratic(space, SAL_F64);
    double J[MOST * MOST];
    sal_error err;
    bench b = open_named("pavg", model, NULL, states_count(space));
    tiny_normals(23, space->width * space->width, 1, J);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    sali_engine(b.sampler)->refresh(b.self, b.chains);
    check_never_rejects(&b, 20, 1e-10, "after an update");
    bench_close(&b);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- which f are quadratic */

typedef sal_expr formula(sal_tape *tape, sal_expr s);

static sal_expr f_affine(sal_tape *tape, sal_expr s)
{
    (void)tape;
    return sal_scale(sal_sum(s), 0.3);
}

static sal_expr f_square(sal_tape *tape, sal_expr s)
{
    return sal_square(sal_add(sal_sum(s), sal_scalar(tape, 1)));
}

static sal_expr f_product(sal_tape *tape, sal_expr s)
{
    (void)tape;
    return sal_sum(sal_mul(sal_slice(s, 0, 0, 2), sal_slice(s, 0, 1, 2)));
}

static sal_expr f_pairs(sal_tape *tape, sal_expr s)
{
    static const double T[] = { 0.1, -0.3, 0.7, 1.1 };
    static const int64_t begin[] = { 0, 2 }, scope[] = { 0, 2 };
    (void)s;
    return sal_table(tape, sal_constant(tape, T, SAL_SHAPE(4)), 1, begin, scope);
}

static sal_expr f_triple(sal_tape *tape, sal_expr s)
{
    static const double T[] = { 0.1, -0.3, 0.7, 1.1, 0, 0.2, -0.5, 0.9 };
    static const int64_t begin[] = { 0, 3 }, scope[] = { 0, 1, 2 };
    (void)s;
    return sal_table(tape, sal_constant(tape, T, SAL_SHAPE(8)), 1, begin, scope);
}

static sal_expr f_forbidding(sal_tape *tape, sal_expr s)
{
    static const double T[] = { 0.1, -INFINITY, 0.7, 1.1 };
    static const int64_t begin[] = { 0, 2 }, scope[] = { 0, 2 };
    (void)s;
    return sal_table(tape, sal_constant(tape, T, SAL_SHAPE(4)), 1, begin, scope);
}

static sal_expr f_cubic(sal_tape *tape, sal_expr s)
{
    return sal_mul(f_square(tape, s), sal_sum(s));
}

static sal_expr f_tanh(sal_tape *tape, sal_expr s)
{
    return sal_add(f_square(tape, s), sal_sum(sal_tanh(s)));
}

static sal_expr f_kink(sal_tape *tape, sal_expr s)
{
    (void)tape;
    return sal_sum(sal_relu(s));
}

START_TEST(quadratic_formulas_are_known_by_their_ops)
{
    static const struct {
        formula *make;
        bool is;
    } cases[] = { { f_affine, true }, { f_square, true },  { f_product, true },
                  { f_pairs, true },  { f_triple, false }, { f_forbidding, false },
                  { f_cubic, false }, { f_tanh, false },   { f_kink, false } };
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_from_tape(tape, cases[k].make(tape, sal_state(tape)), &model, &err), &err);
        ck_assert_msg(sali_is_quadratic(model) == cases[k].is, "case %d", (int)k);
        sal_run_options options = { .sampler = "pavg:preconditioner=hessian", .draws = 10 };
        sal_run *run = NULL;
        if (cases[k].is) {
            check_block_gibbs(model, 1e-10, "formula");
        } else {
            ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_UNSUPPORTED, &err,
                     "quadratic");
        }
        sal_model_destroy(model);
        sal_tape_destroy(tape);
    }
    sal_space_destroy(space);
}
END_TEST

/* ---- learning the matrix */

START_TEST(gamma_goes_on_while_jumps_grow_and_back_when_they_fall)
{
    static const struct {
        double gamma, direction;
        bool fell;
        double next, turned;
    } cases[] = { { 0.5, 1, false, 0.75, 1 },    { 0.5, 1, true, 0.25, -1 },
                  { 0.1, -1, false, -0.15, -1 }, { 2, 1, false, 2.5, 1 },
                  { 2, 1, true, 1.6, -1 },       { -2, 1, false, -1.6, 1 },
                  { -2, 1, true, -2.5, -1 },     { -2, -1, true, -1.6, 1 },
                  { 0, 1, false, 0.25, 1 },      { 0, -1, false, -0.25, -1 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double direction = cases[k].direction;
        double next = sali_gamma_next(cases[k].gamma, cases[k].fell, &direction, 0.25);
        ck_assert_double_eq_tol(next, cases[k].next, 1e-15);
        ck_assert_double_eq(direction, cases[k].turned);
    }
}
END_TEST

/* A history of 400 pairs of random states over four spins. */
static void fill_history(sali_preconditioner *p, sali_history *h)
{
    enum { PAIRS = 400 };
    double z[8 * PAIRS];
    tiny_normals(41, 8 * PAIRS, 1, z);
    *h = (sali_history){ .n = PAIRS,
                         .from = malloc(4 * PAIRS * sizeof(int32_t)),
                         .to = malloc(4 * PAIRS * sizeof(int32_t)),
                         .y = calloc(PAIRS, sizeof(double)) };
    for (int i = 0; i < 4 * PAIRS; i++) { /* neighbours within a state are correlated */
        h->from[i] = z[i] + (i % 4 ? 0.9 * z[i - 1] : 0) > 0;
        h->to[i] = z[4 * PAIRS + i] > 0;
    }
    p->adaptation.n_shards = 1;
    p->adaptation.shards = h;
}

/* The covariance of the spins left, and its inverse by Gauss and Jordan. */
static void spin_covariance(const sali_history *h, double *C, double *inverse)
{
    double mean[4] = { 0 }, A[16];
    memset(C, 0, 16 * sizeof *C);
    for (int64_t m = 0; m < h->n; m++) {
        for (int i = 0; i < 16; i++) {
            mean[i / 4] += i % 4 == 0 ? (2.0 * h->from[4 * m + i / 4] - 1) / (double)h->n : 0;
            C[i] += (2.0 * h->from[4 * m + i / 4] - 1) * (2.0 * h->from[4 * m + i % 4] - 1) /
                    (double)h->n;
        }
    }
    for (int i = 0; i < 16; i++) {
        A[i] = C[i] -= mean[i / 4] * mean[i % 4];
        inverse[i] = i / 4 == i % 4;
    }
    for (int k = 0; k < 4; k++) {
        double pivot = A[5 * k];
        for (int j = 0; j < 4; j++) {
            A[4 * k + j] /= pivot;
            inverse[4 * k + j] /= pivot;
        }
        for (int i = 0; i < 4; i++) {
            double times = i == k ? 0 : A[4 * i + k];
            for (int j = 0; j < 4; j++) {
                A[4 * i + j] -= times * A[4 * k + j];
                inverse[4 * i + j] -= times * inverse[4 * k + j];
            }
        }
    }
}

/* Where y is an affine function of a candidate's curvature, that candidate wins, with the slope. */
START_TEST(better_candidate_wins_with_the_slope_of_least_squares)
{
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *model = tiny_formula(space, SAL_F64);
    double C[2][16];
    for (int which = 0; which < 2; which++) {
        sali_preconditioner *p = NULL;
        sali_history h;
        sal_error err;
        ck_ok(
            sali_preconditioner_create(model, SALI_PRECONDITIONER_EMPIRICAL, NULL, false, &p, &err),
            &err);
        p->adaptation.candidates = SALI_COVARIANCE | SALI_PRECISION;
        fill_history(p, &h);
        spin_covariance(&h, C[0], C[1]);
        for (int64_t m = 0; m < h.n; m++) {
            h.y[m] = 0.4;
            for (int i = 0; i < 16; i++) {
                double a = 2.0 * (h.to[4 * m + i / 4] - h.from[4 * m + i / 4]);
                double b = 2.0 * (h.to[4 * m + i % 4] - h.from[4 * m + i % 4]);
                h.y[m] += -1.7 * 0.5 * a * b * C[which][i];
            }
        }
        h.y[7] = -INFINITY; /* does not count */
        ck_ok(sali_history_choose(model, p, &err), &err);
        for (int i = 0; i < 16; i++) {
            ck_assert_double_eq_tol(p->M[i], -1.7 * C[which][i], 1e-9);
        }
        p->adaptation.shards = NULL;
        free(h.from);
        free(h.to);
        free(h.y);
        sali_preconditioner_destroy(p);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Warm-up of `total` steps as a run makes it. */
static void warm_up(bench *b, const sal_model *model, int64_t total)
{
    sali_warmup w = {
        .model = model, .n_shards = 1, .chains = &b->chains, .selves = &b->self, .total = total
    };
    while (w.done < total) {
        bool changed = false;
        sal_error err;
        w.window = total - w.done < 25 ? total - w.done : 25;
        w.done += w.window;
        for (int64_t i = 0; i < w.window; i++) {
            sali_engine(b->sampler)->step(b->self, b->chains);
        }
        ck_ok(sali_engine(b->sampler)->adapt(b->shared, &w, &changed, &err), &err);
        if (changed) {
            sali_engine(b->sampler)->refresh(b->self, b->chains);
        }
        sali_chains_take_sums(b->chains);
    }
}

/* What is learned from is f itself, whatever the chains' temperature. */
START_TEST(collected_steps_are_of_the_untempered_f)
{
    enum { V = 16, CHAINS = 5, STEPS = 30 };
    sal_model *model = NULL;
    sali_sampler_settings settings;
    const sali_sampler *pavg;
    sal_error err;
    int moved = 0;
    ck_ok(sal_model_open("ising:side=4,theta=0.3", SAL_F64, &model, &err), &err);
    ck_ok(sali_sampler_choose("pavg:preconditioner=empirical", model, 2, &pavg, &settings, &err),
          &err);
    bench b = bench_open(pavg, model, &settings, 0.4, CHAINS, 0);
    const sali_adaptation_history *a = &((const sali_preconditioner *)b.shared)->adaptation;
    sali_warmup w = { .model = model,
                      .n_shards = 1,
                      .chains = &b.chains,
                      .selves = &b.self,
                      .window = 25,
                      .total = 1000 };
    for (bool changed; !a->shards && w.done < w.total;) {
        w.done += w.window;
        ck_ok(sali_engine(pavg)->adapt(b.shared, &w, &changed, &err), &err);
    }
    for (int i = 0; i < STEPS; i++) {
        sali_engine(pavg)->step(b.self, b.chains);
    }
    const sali_history *h = &a->shards[0];
    ck_assert_int_eq(h->n, CHAINS * STEPS);
    for (int64_t m = 0; m < h->n; m++) {
        double f[2], x[2][V], slope[V];
        ck_ok(sal_model_evaluate(model, 1, h->from + m * V, &f[0], slope, NULL, &err), &err);
        ck_ok(sal_model_evaluate(model, 1, h->to + m * V, &f[1], NULL, NULL, &err), &err);
        ck_ok(sal_space_embed(model->space, 1, h->from + m * V, x[0], &err), &err);
        ck_ok(sal_space_embed(model->space, 1, h->to + m * V, x[1], &err), &err);
        double y = f[1] - f[0];
        for (int i = 0; i < V; i++) {
            y -= slope[i] * (x[1][i] - x[0][i]);
        }
        ck_assert_double_eq_tol(h->y[m], y, 1e-9);
        moved += fabs(y) > 0.1;
    }
    ck_assert_int_gt(moved, 10);
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* A warm-up of the usual length finds a matrix, of the kind asked for, and moves gamma; one of any
 * length leaves nothing behind that collects. */
START_TEST(warm_up_finds_a_matrix)
{
    static const char *const specifications[] = { "pavg:preconditioner=empirical",
                                                  "pavg:preconditioner=covariance",
                                                  "pavg:preconditioner=precision" };
    static const int64_t totals[] = { 1, 10, 24, 60, 260, 1000 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=4,theta=0.1", SAL_F64, &model, &err), &err);
    for (int k = 0; k < 18; k++) {
        int64_t total = totals[k / 3];
        bench b = open_named(specifications[k % 3], model, NULL, 40);
        const sali_preconditioner *p = b.shared;
        warm_up(&b, model, total);
        ck_assert_ptr_null(((const sali_auxiliary_state *)b.self)->history);
        ck_assert_ptr_null(p->adaptation.shards);
        if (total == 1000) { /* neighbours attract: f bends up along them */
            double neighbours = 0, far = 0;
            for (int i = 0; i < 16; i++) {
                neighbours += p->M[16 * i + i / 4 * 4 + (i + 1) % 4];
                far += p->M[16 * i + (i + 10) % 16 / 4 * 4 + (i + 2) % 4];
            }
            ck_assert(!p->zero && p->gamma != 1);
            ck_assert_double_gt(neighbours, 1.5 * fabs(far));
        }
        bench_close(&b);
    }
    sal_model_destroy(model);
}
END_TEST

/* Until M is chosen, but for the first window, all chains have the step size of the setting; then
 * their own. Two benches whose step sizes are so by hand move alike. */
START_TEST(chains_have_another_step_size_while_it_collects)
{
    enum { CHAINS = 6, WINDOW = 20, TOTAL = 400 };
    static const char *const specifications[] = {
        "pavg:preconditioner=empirical,adapt-step-size=0.5", "pavg:preconditioner=empirical"
    };
    static const double steps[] = { 4, 0.5 };
    sal_model *model = NULL;
    bench b[2];
    int collected = 0, learned = 0;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0.2", SAL_F64, &model, &err), &err);
    for (int k = 0; k < 2; k++) {
        const sali_sampler *pavg;
        sali_sampler_settings settings;
        ck_ok(sali_sampler_choose(specifications[k], model, steps[k], &pavg, &settings, &err),
              &err);
        b[k] = bench_open(pavg, model, &settings, 1, CHAINS, 0);
    }
    const sali_auxiliary_state *a = b[0].self;
    ck_assert_double_eq(a->delta[0], 2 / steps[0]);
    for (int64_t done = WINDOW; done <= TOTAL; done += WINDOW) {
        const sali_preconditioner *p = b[0].shared;
        for (int k = 0; k < 2; k++) {
            sali_warmup w = { .model = model,
                              .n_shards = 1,
                              .chains = &b[k].chains,
                              .selves = &b[k].self,
                              .window = WINDOW,
                              .done = done,
                              .total = TOTAL };
            bool changed = false;
            for (int i = 0; done > WINDOW && i < WINDOW; i++) {
                sali_engine(b[k].sampler)->step(b[k].self, b[k].chains);
            }
            ck_ok(sali_engine(b[k].sampler)->adapt(b[k].shared, &w, &changed, &err), &err);
            if (p->adaptation.phase == SALI_PHASE_GAMMA) {
                for (int c = 0; c < CHAINS; c++) {
                    b[k].chains->step_size[c] = steps[0];
                }
            }
            if (changed) {
                sali_engine(b[k].sampler)->refresh(b[k].self, b[k].chains);
            }
            sali_chains_take_sums(b[k].chains);
        }
        collected += p->adaptation.phase == SALI_PHASE_COLLECT;
        learned += p->adaptation.phase == SALI_PHASE_GAMMA && !p->zero;
        double least = p->zero ? 0 : fmin(0, sali_preconditioner_least(p, p->gamma));
        double eps = p->adaptation.phase == SALI_PHASE_GAMMA ? steps[0] : steps[1];
        ck_assert_double_eq(a->delta[CHAINS - 1], 2 / eps - least);
        ck_assert_mem_eq(b[0].chains->codes, b[1].chains->codes,
                         CHAINS * 9 * sizeof *b[0].chains->codes);
    }
    ck_assert(collected > 0 && learned > 0);
    bench_close(&b[0]);
    bench_close(&b[1]);
    sal_model_destroy(model);
}
END_TEST

/* Where nothing is learned the setting means nothing, and is refused where that is plain. */
/* A warm-up that is over before it collects leaves chains with their own step size. */
START_TEST(a_short_warmup_ends_with_the_given_step_size)
{
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_summary s;
    sal_error err;
    const sal_run_options o = {
        .sampler = "pavg:preconditioner=empirical,adapt-step-size=0.001",
        .step_size = 1,
        .warmup = 25,
        .draws = 200,
    };
    ck_ok(sal_model_open("ising-cubic:side=4", SAL_F64, &model, &err), &err);
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_msg(s.mean_jump > 0.1, "mean jump %g", s.mean_jump);
    ck_assert_ptr_nonnull(strstr(s.missed, "too short"));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

START_TEST(another_step_size_needs_something_to_learn)
{
    sal_model *model = NULL;
    sal_error err;
    sal_run_options options = { .sampler = "pavg:preconditioner=none,adapt-step-size=0.1",
                                .step_size = 1,
                                .draws = 10 };
    ck_ok(sal_model_open("ising:side=3", SAL_F64, &model, &err), &err);
    run_refused(model, &options, SAL_ERR_UNSUPPORTED, "learn nothing");
    options.sampler = "pavg:preconditioner=hessian,adapt-step-size=0.1";
    run_refused(model, &options, SAL_ERR_UNSUPPORTED, "learn nothing");
    options.sampler = "pavg:preconditioner=empirical,adapt-step-size=1e-300";
    run_refused(model, &options, SAL_ERR_ARGUMENT, "adapt-step-size");
    options.sampler = "pavg:preconditioner=empirical,adapt-step-size=0.1";
    options.step_size = 0;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "cannot be adapted: give one");
    options.step_size_rule = SAL_STEP_SIZE_SEARCH;
    run_refused(model, &options, SAL_ERR_ARGUMENT, "cannot be adapted: give one");
    sal_model_destroy(model);
}
END_TEST

/* ---- the user's matrix */

START_TEST(given_matrix_is_checked_and_cut_to_free_variables)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = quadratic(space, SAL_F64);
    double G[MOST * MOST], J[MOST * MOST];
    int64_t N = space->width, variables[] = { 0, 3 };
    const int32_t codes[] = { 1, 2 };
    sal_error err;
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_run_options options = { .sampler = "pavg",
                                .preconditioner = G,
                                .warmup = -1,
                                .draws = 50,
                                .clamps = { .n = 2, .variables = variables, .codes = codes } };
    tiny_normals(21, N * N, 0.8, J);
    intended_matrix(space, J, G); /* the Hessian, but for one-hot blocks */
    for (int64_t i = 0; i < N * N; i++) {
        G[i] = sali_space_owner(space, i / N) == sali_space_owner(space, i % N) && i / N != i % N
                   ? 99
                   : G[i];
        J[i] = G[i] == 99 ? 0 : G[i];
    }
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_run_summarise(run, &summary, &err), &err);
    ck_assert_double_eq(summary.acceptance_rate, 1);
    sal_run_destroy(run);
    options.sampler = "pavg:preconditioner=hessian";
    ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_ARGUMENT, &err, "auto");
    options.sampler = "ncg";
    ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_ARGUMENT, &err, "no preconditioner");
    options.sampler = "pavg";
    options.clamps.n = 0;
    G[5] = (double)NAN;
    ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_ARGUMENT, &err, "(0, 5) is nan");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static Suite *preconditioner_suite(void)
{
    Suite *suite = suite_create("preconditioner");
    TCase *tcase = new_case(suite, "hessian");
    tcase_add_test(tcase, hessian_of_a_quadratic_f_never_rejects);
    tcase_add_test(tcase, ready_made_quadratic_models_never_reject);
    tcase_add_test(tcase, hessian_follows_the_parameters);
    tcase_add_test(tcase, quadratic_formulas_are_known_by_their_ops);
    tcase = new_case(suite, "learning");
    tcase_add_test(tcase, gamma_goes_on_while_jumps_grow_and_back_when_they_fall);
    tcase_add_test(tcase, better_candidate_wins_with_the_slope_of_least_squares);
    tcase_add_test(tcase, collected_steps_are_of_the_untempered_f);
    tcase_add_test(tcase, warm_up_finds_a_matrix);
    tcase_add_test(tcase, chains_have_another_step_size_while_it_collects);
    tcase_add_test(tcase, a_short_warmup_ends_with_the_given_step_size);
    tcase_add_test(tcase, another_step_size_needs_something_to_learn);
    tcase_add_test(tcase, given_matrix_is_checked_and_cut_to_free_variables);
    return suite;
}

int main(void)
{
    return test_main(preconditioner_suite());
}
