/* SPDX-License-Identifier: MIT */
/* avg and pavg with momentum: each of the three kernels of a step (samplers/langevin/momentum.h)
 * alone, and steps one after the other with the Gaussian integrated. */
#include "auxiliary_helpers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "chi_square.h"
#include "samplers/langevin/auxiliary.h"

/* ---- samplers and models to try */

typedef struct variant {
    const char *specification;
    bool given; /* a matrix, of eigenvalues of both signs */
} variant;

static const variant variants[] = {
    { "avg:momentum=0.6", false },
    { "avg:momentum=0.6,correction=0.5", false },
    { "avg:correction=1", false },
    { "pavg:momentum=0.6", true },
    { "pavg:momentum=0.6,correction=0.5", true },
    { "pavg:momentum=0.6,correction=0.5,preconditioner=none", false },
    { "pavg:correction=1", true },
    { "pavg:momentum=0.6,correction=0.5", false }, /* by the Hessian, or without a matrix */
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

typedef struct momentum_case {
    const sal_model *model;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    double beta;
    const char *where;
} momentum_case;

typedef void momentum_check(const momentum_case *k);

static void for_variants(const sal_model *model, const char *name, momentum_check *check)
{
    double G[MOST * MOST];
    char where[200];
    tiny_normals(31, model->space->width * model->space->width, 0.7, G);
    for (int v = 0; v < N_VARIANTS; v++) {
        momentum_case k = { .model = model, .beta = v % 2 ? 0.6 : 1, .where = where };
        const double step = sali_default_step_size(model->space, v % 3 ? 4 : 0.5);
        sal_error err;
        ck_ok(sali_sampler_choose(variants[v].specification, model, step, &k.sampler, &k.settings,
                                  &err),
              &err);
        k.settings.preconditioner = variants[v].given ? G : NULL;
        snprintf(where, sizeof where, "%s over %s", variants[v].specification, name);
        check(&k);
    }
}

static void for_models(sal_dtype dtype, momentum_check *check)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, dtype);
            char name[100];
            snprintf(name, sizeof name, "%s over %s", tiny_models[m].name, tiny_spaces[s].name);
            if (model) {
                for_variants(model, name, check);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}

/* n chains; those after the first `states` sit at the same states again. */
static bench case_open(const momentum_case *k, int64_t n)
{
    return bench_open(k->sampler, k->model, &k->settings, k->beta, n, 0);
}

/* Brings zeta up to date, as whoever keeps it does. */
static void settle(const bench *b)
{
    sali_state_item items[SALI_MOST_STATE];
    sali_sampler_items(b->sampler, NULL, b->self, SALI_STATE_KEPT, items);
}

/* ---- h, written from the formula, along the eigenvectors of M */

/* out = Q'v, and the root of each coordinate's (gamma lambda + delta). */
static void along(const sali_auxiliary_state *a, int64_t N, const double *v, double *out,
                  double *root)
{
    const sali_preconditioner *p = a->preconditioner;
    for (int64_t k = 0; k < N; k++) {
        out[k] = a->flat ? v[k] : 0;
        root[k] = sqrt(a->delta[0] + (a->flat ? 0 : a->factor[0] * p->lambda[k]));
        for (int64_t i = 0; !a->flat && i < N; i++) {
            out[k] += p->Q[k * N + i] * v[i];
        }
    }
}

/* Q'h of chain c's present state: -R s - phi R^-1 (g - H s). */
static void fill_h(const bench *b, int64_t c, double *h)
{
    const sali_auxiliary_state *a = b->self;
    const sali_chains *chains = b->chains;
    const int64_t N = chains->space->width;
    double s[MOST] = { 0 }, e[MOST] = { 0 }, root[MOST], of_s[MOST], of_e[MOST];
    for (int64_t i = 0; i < N; i++) {
        s[i] = sali_load(chains->model->dtype, chains->x, c * N + i);
        e[i] = sali_load(chains->model->dtype, a->gradient, c * N + i);
        e[i] = isfinite(e[i]) ? e[i] : 0;
    }
    for (int64_t k = 0; k < N * N && !a->flat; k++) {
        e[k / N] -= a->factor[0] * a->preconditioner->M[k] * s[k % N];
    }
    along(a, N, s, of_s, root);
    along(a, N, e, of_e, root);
    for (int64_t k = 0; k < N; k++) {
        h[k] = -root[k] * of_s[k] - a->momentum.phi * of_e[k] / root[k];
    }
}

/* ---- kernel (ii): the sampler's own steps, but that the state proposed is chosen here */

/* The states that chains are made to propose, in their order; and what draws in their place. */
static struct {
    const sali_factorised_kernels *usual;
    const int32_t *to;
    double *log_q; /* of each proposal */
    int64_t next;
    const sal_model *model;
} made;

static double propose_made(const sal_space *space, const int32_t *codes, const sali_factorised *q,
                           const void *uniforms, sali_move_row *row, int32_t *codes_new,
                           void *x_new, double *norm)
{
    (void)uniforms;
    memcpy(codes_new, made.to + made.next * space->n_variables,
           (size_t)space->n_variables * sizeof *codes_new);
    sali_model_embed(made.model, 1, codes_new, x_new);
    double log_q = made.usual->judge(space, codes, q, codes_new, row, norm);
    made.log_q[made.next++] = log_q - log(*norm);
    return log_q;
}

/* A bench whose chain i n + j is at state i, and is made to propose state j, for all pairs. */
typedef struct pairs {
    bench b;
    int64_t n;
    sali_factorised_kernels kernels;
    int32_t *from, *to; /* [n^2 x V] */
    double *log_q;      /* [n^2] of the step made */
    double *h;          /* [n x N] Q'h */
    double *zeta;       /* [n x N] Q'(w0 + h) */
} pairs;

static void pairs_open(const momentum_case *k, pairs *p)
{
    const sal_space *space = k->model->space;
    const int64_t n = states_count(space), N = space->width, V = space->n_variables;
    p->n = n;
    p->b = case_open(k, n * n);
    sali_chains *chains = p->b.chains;
    sali_auxiliary_state *a = p->b.self;
    p->from = malloc((size_t)(n * n * V) * sizeof *p->from);
    p->to = malloc((size_t)(n * n * V) * sizeof *p->to);
    p->log_q = malloc((size_t)(n * n) * sizeof *p->log_q);
    p->h = malloc((size_t)(n * N) * sizeof *p->h);
    p->zeta = malloc((size_t)(n * N) * sizeof *p->zeta);
    for (int64_t c = 0; c < n * n; c++) {
        state_codes(space, c / n, p->from + c * V);
        state_codes(space, c % n, p->to + c * V);
    }
    memcpy(chains->codes, p->from, (size_t)(n * n * V) * sizeof *p->from);
    sali_bench_start(&p->b);
    for (int64_t i = 0; i < n; i++) {
        fill_h(&p->b, i * n, p->h + i * N);
    }
    p->kernels = *a->kernels;
    p->kernels.propose = propose_made;
    made.usual = a->kernels;
    made.to = p->to;
    made.log_q = p->log_q;
    made.model = k->model;
    a->kernels = &p->kernels;
    a->momentum.a = 1; /* kernel (i) does nothing */
}

static void pairs_close(pairs *p)
{
    bench_close(&p->b);
    free(p->from);
    free(p->to);
    free(p->log_q);
    free(p->h);
    free(p->zeta);
}

/* All chains back to where they were, with the u of their states on one orbit: that of state `k` is
 * `lot` of the normals. */
static void pairs_place(pairs *p, int64_t k, uint64_t lot)
{
    const sali_auxiliary_state *a = p->b.self;
    sali_chains *chains = p->b.chains;
    const int64_t n = p->n, N = chains->space->width, V = chains->space->n_variables;
    double u[MOST];
    memcpy(chains->codes, p->from, (size_t)(n * n * V) * sizeof *p->from);
    sali_bench_start(&p->b);
    tiny_normals(lot, N, 1, u);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t r = 0; r < N; r++) {
            p->zeta[i * N + r] = u[r] - p->h[k * N + r] + p->h[i * N + r];
        }
        for (int64_t m = 0; m < n * N; m++) {
            sali_store(chains->model->dtype, a->momentum.zeta, i * n * N + m,
                       p->zeta[i * N + m % N]);
        }
    }
    made.next = 0;
}

/* Probabilities of the states on this orbit: of pi(s) N(w0 + h(s)). */
static void orbit_probabilities(const pairs *p, const double *pi, double *on_orbit)
{
    const int64_t N = p->b.chains->space->width;
    double log_p[TINY_MOST_STATES], largest = -INFINITY, total = 0;
    for (int64_t i = 0; i < p->n; i++) {
        log_p[i] = log(pi[i]);
        for (int64_t r = 0; r < N; r++) {
            log_p[i] -= 0.5 * p->zeta[i * N + r] * p->zeta[i * N + r];
        }
        largest = fmax(largest, log_p[i]);
    }
    for (int64_t i = 0; i < p->n; i++) {
        on_orbit[i] = exp(log_p[i] - largest);
        total += on_orbit[i];
    }
    for (int64_t i = 0; i < p->n; i++) {
        on_orbit[i] /= total;
    }
}

/* After the step: u is that of the state the chain is at, on the same orbit, with its sign changed.
 */
static void check_signs(const momentum_case *k, const pairs *p, double tolerance)
{
    const sali_auxiliary_state *a = p->b.self;
    const sali_chains *chains = p->b.chains;
    const int64_t n = p->n, N = chains->space->width, V = chains->space->n_variables;
    bool accepted = false, rejected = false;
    settle(&p->b);
    for (int64_t c = 0; c < n * n; c++) {
        int64_t at = chains->accepted[c] ? c % n : c / n;
        ck_assert_int_eq(state_of(chains->space, chains->codes + c * V), at);
        accepted |= chains->accepted[c];
        rejected |= !chains->accepted[c];
        for (int64_t r = 0; r < N; r++) {
            double want = -p->zeta[at * N + r],
                   got = sali_load(chains->model->dtype, a->momentum.zeta, c * N + r);
            ck_assert_msg(fabs(want - got) < tolerance * (1 + fabs(want)),
                          "%s: %s to state %d: u is %.15g, not %.15g", k->where,
                          chains->accepted[c] ? "moved" : "stayed", (int)at, got, want);
        }
    }
    ck_assert(accepted && (rejected || a->exact));
}

/* The matrix of kernel (ii) on the orbit. */
static void fill_matrix(const momentum_case *k, const pairs *p, const double *pi, double *P)
{
    const int64_t n = p->n;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, stays = 0;
        for (int64_t j = 0; j < n; j++) {
            double ratio = p->b.chains->log_ratio[i * n + j], q = exp(p->log_q[i * n + j]);
            ck_assert_msg(pi[i] == 0 || q == 0 || !isnan(ratio), "%s: a ratio is NaN", k->where);
            P[i * n + j] = q > 0 ? q * (ratio < 0 ? exp(ratio) : 1) : 0;
            sum += q;
            stays += q - P[i * n + j];
        }
        P[i * n + i] += stays;
        ck_assert_msg(pi[i] == 0 || fabs(sum - 1) < 1e-10, "%s: q sums to %.15g", k->where, sum);
    }
}

static void check_orbit(const momentum_case *k)
{
    pairs p;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], on_orbit[TINY_MOST_STATES];
    pairs_open(k, &p);
    double *P = malloc((size_t)(p.n * p.n) * sizeof *P);
    states_probabilities(k->model, k->beta, f, pi);
    for (int64_t lot = 0; lot < (TEST_SANITIZED ? 1 : 3); lot++) {
        int64_t state = 5 * lot % p.n;
        while (pi[state] == 0) {
            state = (state + 1) % p.n;
        }
        pairs_place(&p, state, 900 + (uint64_t)lot);
        orbit_probabilities(&p, pi, on_orbit);
        sali_engine(k->sampler)->step(p.b.self, p.b.chains);
        check_signs(k, &p, 1e-9);
        fill_matrix(k, &p, pi, P);
        double balance = balance_breach(p.n, on_orbit, P);
        double invariance = invariance_breach(p.n, on_orbit, P);
        ck_assert_msg(balance < 1e-12, "%s: detailed balance is off by %g", k->where, balance);
        ck_assert_msg(invariance < 1e-12, "%s: pi P is off by %g", k->where, invariance);
    }
    free(P);
    pairs_close(&p);
}

/* (ii) is reversible with respect to pi(s) N(u) on each orbit, and (iii) follows it whatever was
 * decided; with both, generalised detailed balance holds. */
START_TEST(moves_have_detailed_balance_on_every_orbit)
{
    for_models(SAL_F64, check_orbit);
}
END_TEST

/* ---- kernel (i), and (iii) alone: all chains are made to stay */

static void check_refreshment(const momentum_case *k)
{
    pairs p;
    pairs_open(k, &p);
    sali_auxiliary_state *a = p.b.self;
    sali_chains *chains = p.b.chains;
    const int64_t N = chains->space->width;
    const bool single = chains->model->dtype == SAL_F32;
    made.to = p.from;
    for (int fresh = 0; fresh < 2; fresh++) {
        a->momentum.a = 1;
        pairs_place(&p, 0, 77);
        a->momentum.a = sali_sampler_value(k->sampler, &k->settings, "momentum");
        if (fresh) {
            sali_sampler_forget(k->sampler, a);
        }
        const double keep = fresh ? 0 : a->momentum.a, part = sqrt(1 - keep * keep);
        ck_assert(fresh == 1 || keep < 1);
        for (int64_t c = 0; c < chains->n; c++) {
            chains->step[c] = 5;
        }
        sali_engine(k->sampler)->step(a, chains);
        settle(&p.b);
        for (int64_t c = 0; c < chains->n; c++) {
            double xi[MOST];
            float xi_f32[MOST];
            sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_AUXILIARY);
            stream.step = 5;
            sali_rng_normal(&stream, N, xi);
            sali_rng_normal_f32(&stream, N, xi_f32);
            for (int64_t r = 0; r < N; r++) {
                double z = single ? (double)xi_f32[r] : xi[r];
                double want = -(keep * p.zeta[c / p.n * N + r] + part * z);
                double got = sali_load(chains->model->dtype, a->momentum.zeta, c * N + r);
                ck_assert_msg(fabs(want - got) < (single ? 1e-5 : 1e-12) * (1 + fabs(want)),
                              "%s: u is %.15g, not %.15g", k->where, got, want);
            }
        }
    }
    pairs_close(&p);
}

START_TEST(auxiliary_variables_are_kept_in_part_and_turned_f64)
{
    for_models(SAL_F64, check_refreshment);
}
END_TEST

START_TEST(auxiliary_variables_are_kept_in_part_and_turned_f32)
{
    for_models(SAL_F32, check_refreshment);
}
END_TEST

/* ---- the whole */

/* The states of chains, and their probabilities. */
static void check_counts(const momentum_case *k, const sali_chains *chains, int64_t n,
                         const double *p, const char *what)
{
    double counts[TINY_MOST_STATES] = { 0 }, expected[TINY_MOST_STATES];
    for (int64_t c = 0; c < chains->n; c++) {
        counts[state_of(chains->space, chains->codes + c * chains->space->n_variables)]++;
    }
    for (int64_t i = 0; i < n; i++) {
        expected[i] = p[i] * (double)chains->n;
    }
    double chance = chi_square_p((int)n, counts, expected);
    ck_assert_msg(chance > 1e-6, "%s: %s: p = %g", k->where, what, chance);
}

/* Chains that start with probabilities pi have them after many steps. */
static void check_invariance(const momentum_case *k)
{
    enum { CHAINS = TEST_CHAINS(6000), STEPS = 12 };
    const sal_space *space = k->model->space;
    const int64_t n = states_count(space), V = space->n_variables;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], u[CHAINS];
    states_probabilities(k->model, k->beta, f, pi);
    bench b = case_open(k, CHAINS);
    sali_stream stream = { .seed = 5, .purpose = SALI_RNG_TEST };
    sali_rng_uniform_f64(&stream, CHAINS, u);
    for (int64_t c = 0; c < CHAINS; c++) {
        int64_t state = 0;
        for (double left = u[c] - pi[0]; left > 0 && state < n - 1; left -= pi[state]) {
            state++;
        }
        state_codes(space, pi[state] > 0 ? state : 0, b.chains->codes + c * V);
    }
    sali_bench_start(&b);
    for (int step = 0; step < STEPS; step++) {
        sali_engine(k->sampler)->step(b.self, b.chains);
    }
    ck_assert_int_eq(b.chains->bad_chain, -1);
    check_counts(k, b.chains, n, pi, "the target is not kept");
    bench_close(&b);
}

START_TEST(target_is_invariant_f64)
{
    for_models(SAL_F64, check_invariance);
}
END_TEST

START_TEST(target_is_invariant_f32)
{
    for_models(SAL_F32, check_invariance);
}
END_TEST

/* One variable of one real: two steps with u integrated, against steps made. */
enum { POINTS = 241 };
static const double reach = 7.5;

typedef struct line {
    int64_t n;
    double x[4], g[4], f[4], H, root, delta, phi;
} line;

/* log q(j | z, i), z = R s_i + u. */
static double line_log_q(const line *l, double u, int64_t i, int64_t j)
{
    double a = l->g[i] + l->delta * l->x[i] + l->root * u, total = 0;
    double here = a * l->x[j] - 0.5 * l->delta * l->x[j] * l->x[j];
    for (int64_t k = 0; k < l->n; k++) {
        total += exp(a * l->x[k] - 0.5 * l->delta * l->x[k] * l->x[k] - here);
    }
    return -log(total);
}

/* u after an accepted move from i to j. */
static double line_moved(const line *l, double u, int64_t i, int64_t j)
{
    double e_i = l->g[i] - l->H * l->x[i], e_j = l->g[j] - l->H * l->x[j];
    return u - l->root * (l->x[j] - l->x[i]) - l->phi * (e_j - e_i) / l->root;
}

/* Calls to add(weight, state, u) for what a step (ii)(iii) may lead to. */
typedef void line_add(void *context, double weight, int64_t state, double u);

static void line_step(const line *l, double weight, int64_t i, double u, line_add *add,
                      void *context)
{
    double stays = 1;
    for (int64_t j = 0; j < l->n; j++) {
        double moved = line_moved(l, u, i, j), there = line_log_q(l, u, i, j);
        double ratio =
            l->f[j] - l->f[i] + 0.5 * (u * u - moved * moved) - there + line_log_q(l, moved, j, i);
        double p = 0.75 * exp(there + fmin(0, ratio)); /* 1 / (4 V) of the steps stay */
        add(context, weight * p, j, -moved);
        stays -= p;
    }
    add(context, weight * stays, i, -u);
}

typedef struct line_walk {
    const line *l;
    double a, *reached; /* [n] */
} line_walk;

static void line_arrive(void *context, double weight, int64_t state, double u)
{
    (void)u;
    ((double *)context)[state] += weight;
}

/* The second step: kernel (i) integrated. */
static void line_again(void *context, double weight, int64_t state, double u)
{
    const line_walk *w = context;
    const double h = 2 * reach / (POINTS - 1);
    for (int t = 0; weight > 1e-14 && t < POINTS; t++) {
        double xi = t * h - reach, part = sqrt(1 - w->a * w->a);
        double density = exp(-0.5 * xi * xi) * h / sqrt(2 * acos(-1.0));
        line_step(w->l, weight * density, state, w->a * u + part * xi, line_arrive, w->reached);
    }
}

static line line_of(const bench *b)
{
    const sali_auxiliary_state *a = b->self;
    const sali_chains *chains = b->chains;
    line l = { .n = states_count(chains->space), .delta = a->delta[0], .phi = a->momentum.phi };
    l.H = a->flat ? 0 : a->factor[0] * a->preconditioner->M[0];
    l.root = sqrt(l.H + l.delta);
    for (int64_t i = 0; i < l.n; i++) {
        l.x[i] = ((const double *)chains->x)[i];
        l.g[i] = ((const double *)a->gradient)[i];
        l.f[i] = chains->beta[0] * chains->f[i];
    }
    return l;
}

static void check_two_steps(const momentum_case *k)
{
    enum { CHAINS = TEST_CHAINS(60000) };
    bench b = case_open(k, CHAINS);
    const line l = line_of(&b);
    double f[4], pi[4], P[16] = { 0 }, after[4] = { 0 }, sum = 0;
    const double h = 2 * reach / (POINTS - 1);
    states_probabilities(k->model, k->beta, f, pi);
    for (int64_t i = 0; i < l.n; i++) {
        line_walk w = { &l, sali_sampler_value(k->sampler, &k->settings, "momentum"), P + 4 * i };
        for (int t = 0; t < POINTS; t++) {
            double u = t * h - reach;
            line_step(&l, exp(-0.5 * u * u) * h / sqrt(2 * acos(-1.0)), i, u, line_again, &w);
        }
        sum = 0;
        for (int64_t j = 0; j < l.n; j++) {
            after[j] += pi[i] * P[4 * i + j];
            sum += P[4 * i + j];
        }
        ck_assert_msg(fabs(sum - 1) < 1e-9, "%s: P sums to %.15g", k->where, sum);
    }
    for (int64_t j = 0; j < l.n; j++) {
        ck_assert_msg(fabs(after[j] - pi[j]) < 2e-4, "%s: pi P is off by %g", k->where,
                      after[j] - pi[j]);
    }
    sali_engine(k->sampler)->step(b.self, b.chains);
    sali_engine(k->sampler)->step(b.self, b.chains);
    double counts[16] = { 0 }, expected[4];
    for (int64_t c = 0; c < CHAINS; c++) {
        counts[4 * (c % l.n) + b.chains->codes[c]]++;
    }
    for (int64_t i = 0; i < l.n; i++) {
        for (int64_t j = 0; j < l.n; j++) {
            expected[j] = P[4 * i + j] * CHAINS / (double)l.n;
        }
        double p = chi_square_p((int)l.n, counts + 4 * i, expected);
        ck_assert_msg(p > 1e-6, "%s: from state %d: p = %g", k->where, (int)i, p);
    }
    bench_close(&b);
}

START_TEST(two_steps_agree_with_quadrature)
{
    static const tiny_space spaces[] = { { "a spin", 1, { TINY_SPIN(1) } },
                                         { "a grid", 1, { TINY_GRID(1) } } };
    for (int s = 0; s < 2; s++) {
        sal_space *space = tiny_space_make(&spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        for_variants(model, spaces[s].name, check_two_steps);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- what momentum leaves as it was */

/* Where M is the Hessian every proposal is taken, with any correction. */
START_TEST(block_gibbs_with_momentum_never_rejects)
{
    static const char *const models[] = { "ising-dense:dim=6,scale=0.5,seed=2",
                                          "potts:side=2,states=3,theta=0.4" };
    for (int m = 0; m < 4; m++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(models[m / 2], SAL_F64, &model, &err), &err);
        bench b = open_named(m % 2 ? "pavg:momentum=0.8" : "pavg:momentum=0.8,correction=0.5",
                             model, NULL, 50);
        for (int step = 0; step < 40; step++) {
            sali_engine(b.sampler)->step(b.self, b.chains);
        }
        for (int64_t c = 0; c < 50; c++) {
            ck_assert(b.chains->accepted_sum[c] == 40 && b.chains->acceptance_sum[c] == 40);
        }
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

/* A momentum that is carried as w is the one that is kept as zeta: it makes no difference whether
 * it is asked for, or all is refreshed, at every step. */
START_TEST(carried_momentum_is_the_one_that_is_kept)
{
    static const char *const models[] = { "ising-dense:dim=6,scale=0.5,seed=2",
                                          "potts:side=2,states=3,theta=0.4" };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(models[_i], SAL_F64, &model, &err), &err);
    const int64_t N = model->space->width, V = model->space->n_variables;
    bench a = open_named("pavg:momentum=0.9", model, NULL, 50);
    bench b = open_named("pavg:momentum=0.9", model, NULL, 50);
    for (int step = 0; step < 40; step++) {
        sali_engine(a.sampler)->step(a.self, a.chains);
        sali_engine(b.sampler)->step(b.self, b.chains);
        settle(&b);
        if (step % 2) {
            sali_engine(b.sampler)->refresh(b.self, b.chains);
        }
        ck_assert_mem_eq(a.chains->codes, b.chains->codes, (size_t)(50 * V) * sizeof(int32_t));
    }
    settle(&a);
    const double *one = ((sali_auxiliary_state *)a.self)->momentum.zeta,
                 *two = ((sali_auxiliary_state *)b.self)->momentum.zeta;
    for (int64_t k = 0; k < 50 * N; k++) {
        ck_assert_double_eq_tol(one[k], two[k], 1e-10);
    }
    bench_close(&a);
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* At another Hessian R has other eigenvectors: nothing is kept. */
START_TEST(momentum_is_dropped_with_another_hessian)
{
    sal_model *model = NULL;
    sal_error err;
    double J[36];
    ck_ok(sal_model_open("ising-dense:dim=6,scale=0.5,seed=2", SAL_F64, &model, &err), &err);
    bench b = open_named("pavg:momentum=0.9", model, NULL, 50);
    const double *zeta = ((sali_auxiliary_state *)b.self)->momentum.zeta;
    sali_engine(b.sampler)->step(b.self, b.chains);
    settle(&b);
    ck_assert(zeta[0] != 0 && zeta[299] != 0);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    for (int k = 0; k < 36; k++) {
        J[k] = k % 7 == 0 ? 0 : -2 * J[k] + 0.1;
    }
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    sali_engine(b.sampler)->refresh(b.self, b.chains);
    for (int k = 0; k < 300; k++) {
        ck_assert(zeta[k] == 0);
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* Nothing is kept without momentum. */
START_TEST(only_momentum_is_a_state)
{
    static const struct {
        const char *sampler;
        int64_t items;
    } cases[] = { { "avg", 0 },
                  { "avg:correction=0.5", 0 },
                  { "avg:momentum=0.5", 1 },
                  { "pavg", 0 },
                  { "pavg:momentum=0.5", 1 } };
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *model = tiny_formula(space, SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sali_state_item items[SALI_MOST_STATE];
        bench b = open_named(cases[k].sampler, model, NULL, 3);
        ck_assert_int_eq(sali_sampler_items(b.sampler, NULL, b.self, SALI_STATE_KEPT, items),
                         cases[k].items);
        bench_close(&b);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static Suite *momentum_suite(void)
{
    Suite *suite = suite_create("momentum");
    TCase *tcase = new_case(suite, "kernels");
    tcase_add_test(tcase, moves_have_detailed_balance_on_every_orbit);
    tcase_add_test(tcase, auxiliary_variables_are_kept_in_part_and_turned_f64);
    tcase_add_test(tcase, auxiliary_variables_are_kept_in_part_and_turned_f32);
    tcase = new_case(suite, "whole");
    tcase_add_test(tcase, target_is_invariant_f64);
    tcase_add_test(tcase, target_is_invariant_f32);
    tcase_add_test(tcase, two_steps_agree_with_quadrature);
    tcase_add_test(tcase, block_gibbs_with_momentum_never_rejects);
    tcase_add_loop_test(tcase, carried_momentum_is_the_one_that_is_kept, 0, 2);
    tcase_add_test(tcase, only_momentum_is_a_state);
    tcase_add_test(tcase, momentum_is_dropped_with_another_hessian);
    return suite;
}

int main(void)
{
    return test_main(momentum_suite());
}
