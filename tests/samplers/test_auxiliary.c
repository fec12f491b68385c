/* SPDX-License-Identifier: MIT */
/* Samplers with Gaussian auxiliary variables: what they compute against the text, for the z that
 * they drew; the chain with z integrated out; invariance. */
#include "auxiliary_helpers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "chi_square.h"
#include "samplers/langevin/auxiliary.h"

/* ---- the text, eq. 13 and 40, for one chain: written from the formulas, with H = gamma M and the
 * symmetric root R of H + delta I */

typedef struct text {
    int64_t N;
    double H[MOST * MOST], R[MOST * MOST], delta;
} text;

/* log N(z; R s, I) without its constant. */
static double log_normal(const text *t, const double *z, const double *s)
{
    double sum = 0;
    for (int64_t i = 0; i < t->N; i++) {
        double mean = 0;
        for (int64_t j = 0; j < t->N; j++) {
            mean += t->R[i * t->N + j] * s[j];
        }
        sum -= 0.5 * (z[i] - mean) * (z[i] - mean);
    }
    return sum;
}

/* a = g - H s + R z. */
static void linear_term(const text *t, const double *g, const double *s, const double *z, double *a)
{
    for (int64_t i = 0; i < t->N; i++) {
        a[i] = g[i];
        for (int64_t j = 0; j < t->N; j++) {
            a[i] += t->R[i * t->N + j] * z[j] - t->H[i * t->N + j] * s[j];
        }
    }
}

/* a's - delta |s|^2 / 2 over the reals of variable v at `code`. */
static double log_weight(const text *t, const sal_space *space, int64_t v, int32_t code,
                         const double *a)
{
    const sali_variable *variable = &space->variables[v];
    if (variable->kind == SAL_CATEGORICAL) {
        return a[variable->offset + code] - 0.5 * t->delta;
    }
    double x = variable->levels[code];
    return a[variable->offset] * x - 0.5 * t->delta * x * x;
}

/* log q(to | z, s) of which `a` is made. */
static double log_proposal(const text *t, const sal_space *space, const double *a,
                           const int32_t *to)
{
    double sum = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        double total = 0;
        for (int32_t k = 0; k < space->variables[v].states; k++) {
            total += exp(log_weight(t, space, v, k, a) - log_weight(t, space, v, to[v], a));
        }
        sum -= log(total);
    }
    return sum;
}

/* log of N(z; R s, I) q(to | z, s). */
static double log_joint(const text *t, const sal_space *space, const double *g, const double *s,
                        const double *z, const int32_t *to)
{
    double a[MOST];
    linear_term(t, g, s, z, a);
    return log_normal(t, z, s) + log_proposal(t, space, a, to);
}

/* ---- matrices */

/* Random, not symmetric, with eigenvalues of both signs. */
static void random_matrix(int64_t N, uint64_t lot, double *G)
{
    tiny_normals(lot, N * N, 0.7, G);
}

/* The text of chain c. The root is taken from the library's eigenvectors, and R R = H + delta I,
 * with -delta + 2/eps the least eigenvalue of H if that is negative, is checked. */
static text text_of(const bench *b, const double *M, int64_t c)
{
    const sali_auxiliary_state *a = b->self;
    const sali_preconditioner *p = a->preconditioner;
    text t = { .N = b->chains->space->width, .delta = 2 / b->chains->step_size[c] };
    double factor = (p ? p->gamma : 0) * b->chains->beta[c], least = 0;
    int64_t N = t.N;
    if (p && p->kind == SALI_PRECONDITIONER_HESSIAN) { /* itself compared elsewhere */
        M = p->M;
    }
    for (int64_t k = 0; p && !p->zero && k < N; k++) {
        least = fmin(least, factor * p->lambda[k]);
    }
    t.delta -= least;
    for (int64_t i = 0; i < N * N; i++) {
        t.H[i] = p && !p->zero ? factor * M[i] : 0;
        t.R[i] = !p || p->zero ? (i / N == i % N ? sqrt(t.delta) : 0) : 0;
        for (int64_t k = 0; p && !p->zero && k < N; k++) {
            t.R[i] +=
                sqrt(factor * p->lambda[k] + t.delta) * p->Q[k * N + i / N] * p->Q[k * N + i % N];
        }
    }
    for (int64_t i = 0; i < N * N; i++) {
        double square = 0;
        for (int64_t k = 0; k < N; k++) {
            square += t.R[i / N * N + k] * t.R[k * N + i % N];
        }
        ck_assert_double_eq_tol(square, t.H[i] + (i / N == i % N ? t.delta : 0), 1e-10);
    }
    return t;
}

/* z of chain c's next step: R s + xi, with xi the normals along M's eigenvectors. */
static void drawn_z(const bench *b, const text *t, int64_t c, double *z)
{
    const sali_auxiliary_state *a = b->self;
    const double *s = (const double *)b->chains->x + c * t->N;
    double zeta[MOST];
    sali_stream stream = sali_chains_stream(b->chains, c, SALI_RNG_AUXILIARY);
    sali_rng_normal(&stream, t->N, zeta);
    for (int64_t i = 0; i < t->N; i++) {
        z[i] = a->flat ? zeta[i] : 0;
        for (int64_t k = 0; k < t->N; k++) {
            z[i] += t->R[i * t->N + k] * s[k];
            z[i] += a->flat ? 0 : zeta[k] * a->preconditioner->Q[k * t->N + i];
        }
    }
}

/* ---- loops over samplers, spaces, models */

typedef void auxiliary_check(const contract_case *k, const double *M);

/* One sampler over one model: small and large steps, cold and hot; pavg with a matrix and without.
 */
static void check_settings(const sali_sampler *sampler, const sal_model *model,
                           const sal_model *exact, const char *name, auxiliary_check *check)
{
    double G[MOST * MOST], M[MOST * MOST];
    char where[160];
    random_matrix(model->space->width, 31, G);
    intended_matrix(model->space, G, M);
    for (int trial = 0; trial < 4; trial++) {
        bool with = sali_engine(sampler)->preconditioned && trial != 3;
        contract_case k = { .sampler = sampler,
                            .model = model,
                            .exact = exact,
                            .settings = { .step_size = sali_default_step_size(
                                              model->space, trial % 2 ? 0.5 : 4.0),
                                          .preconditioner = with ? G : NULL },
                            .beta = trial < 2 ? 1 : 0.6,
                            .where = where };
        snprintf(where, sizeof where, "%s over %s, trial %d", sampler->name, name, trial);
        check(&k, M);
    }
}

static void for_auxiliary_samplers(const sal_model *model, const sal_model *exact, const char *name,
                                   auxiliary_check *check)
{
    const sali_sampler *sampler;
    for (int64_t i = 0; (sampler = sali_sampler_at(i)) != NULL; i++) {
        if (!sampler->unadjusted && !has_matrix(sampler)) {
            check_settings(sampler, model, exact, name, check);
        }
    }
}

static void for_auxiliary_cases(sal_dtype dtype, auxiliary_check *check)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = TEST_SANITIZED ? s % 3 : 0; m < N_TINY_MODELS; m += TEST_SANITIZED ? 3 : 1) {
            sal_model *model = tiny_models[m].make(space, dtype);
            sal_model *exact = tiny_models[m].make(space, SAL_F64);
            char name[80];
            snprintf(name, sizeof name, "%s over %s", tiny_models[m].name, tiny_spaces[s].name);
            if (model) {
                for_auxiliary_samplers(model, exact, name, check);
            }
            sal_model_destroy(model);
            sal_model_destroy(exact);
        }
        sal_space_destroy(space);
    }
}

/* ---- one step, given the z it drew */

/* beta f and beta times the gradient at codes; -inf where the gradient is infinite, next to
 * forbidden states: the text's formulas do not apply there. */
static double evaluate(const contract_case *k, const int32_t *codes, double *g)
{
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(k->model, 1, codes, &f, g, NULL, &err), &err);
    for (int64_t i = 0; i < k->model->space->width; i++) {
        g[i] *= k->beta;
        f = isfinite(g[i]) ? f : -INFINITY;
    }
    return k->beta * f;
}

typedef struct place {
    int32_t codes[MOST];
    double x[MOST];
} place;

static place place_of(const sal_space *space, const int32_t *codes)
{
    place at;
    sal_error err;
    memcpy(at.codes, codes, (size_t)space->n_variables * sizeof *codes);
    ck_ok(sal_space_embed(space, 1, codes, at.x, &err), &err);
    return at;
}

/* The flow exp(f) N(z) q there and back: what the sampler takes for its acceptance must be their
 * ratio, by the text. Proposals that are taken unasked must have the ratio 1. */
static void check_ratio(const contract_case *k, const bench *b, const text *t, int64_t c,
                        const place *from, const double *z)
{
    const sal_space *space = k->model->space;
    double g[2][MOST];
    place to = place_of(space, b->chains->codes_new + c * space->n_variables);
    double f = evaluate(k, from->codes, g[0]), f_new = evaluate(k, to.codes, g[1]);
    if (f == -INFINITY || f_new == -INFINITY) {
        return;
    }
    double there = log_joint(t, space, g[0], from->x, z, to.codes);
    double back = log_joint(t, space, g[1], to.x, z, from->codes);
    double ratio = f_new - f + back - there, got = b->chains->log_ratio[c];
    got = got == INFINITY ? 0 : got;
    ck_assert_msg(ratio == got || fabs(ratio - got) < 1e-8 * (1 + fabs(ratio)),
                  "%s: log ratio %.15g, by the text %.15g", k->where, got, ratio);
}

static void check_step(const contract_case *k, const double *M)
{
    const sal_space *space = k->model->space;
    int64_t n = states_count(space), V = space->n_variables;
    place *from = malloc((size_t)n * sizeof *from);
    double *z = malloc((size_t)(n * MOST) * sizeof *z);
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 0);
    text t = text_of(&b, M, 0);
    for (int step = 0; step < 5; step++) {
        for (int64_t c = 0; c < n; c++) {
            from[c] = place_of(space, b.chains->codes + c * V);
            drawn_z(&b, &t, c, z + c * MOST);
        }
        sali_engine(k->sampler)->step(b.self, b.chains);
        for (int64_t c = 0; c < n; c++) {
            check_ratio(k, &b, &t, c, &from[c], z + c * MOST);
        }
    }
    bench_close(&b);
    free(from);
    free(z);
}

START_TEST(acceptance_is_the_joint_ratio_of_the_z_drawn)
{
    for_auxiliary_cases(SAL_F64, check_step);
}
END_TEST

/* log_q(z, to) is N(z; R s, I) q(to | z, s), and detailed balance holds given z: with the ratio
 * that it gives, flows there and back are equal; over `to` the proposal sums to 1. */
static void check_log_q(const contract_case *k, const double *M)
{
    const sal_space *space = k->model->space;
    const double constant = 0.5 * (double)space->width * log(2 * acos(-1.0));
    int64_t n = states_count(space), V = space->n_variables;
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n, 0);
    text t = text_of(&b, M, 0);
    double *got = malloc((size_t)n * sizeof *got), *sum = calloc((size_t)n, sizeof *sum);
    int32_t *to = malloc((size_t)(n * V) * sizeof *to);
    double z[MOST], g[MOST];
    tiny_normals(77, space->width, 2, z);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t c = 0; c < n; c++) {
            state_codes(space, j, to + c * V);
        }
        joint_log_q(&b, z, to, got);
        for (int64_t c = 0; c < n; c++) {
            place from = place_of(space, b.chains->codes + c * V);
            if (evaluate(k, from.codes, g) > -INFINITY) {
                double want = log_joint(&t, space, g, from.x, z, to) - constant;
                ck_assert_msg(want == got[c] || fabs(want - got[c]) < 1e-9 * (1 + fabs(want)),
                              "%s: log q %.15g, by the text %.15g", k->where, got[c], want);
                sum[c] += exp(got[c] - log_normal(&t, z, from.x) + constant);
                ck_assert_msg(j < n - 1 || fabs(sum[c] - 1) < 1e-10, "%s: q sums to %.15g",
                              k->where, sum[c]);
            }
        }
    }
    bench_close(&b);
    free(got);
    free(sum);
    free(to);
}

START_TEST(proposals_given_z_are_those_of_the_paper)
{
    for_auxiliary_cases(SAL_F64, check_log_q);
}
END_TEST

/* ---- the marginal chain, by quadrature over z */

#define MOST_STATES 8

/* Add the flows pi(i) N(z; R s_i, I) q(j | z, s_i) min(1, ratio) of one z, times its weight; 1 / (4
 * V) of the steps stay. */
static void add_flows(const text *t, const sal_space *space, int64_t n, const place *states,
                      const double (*g)[MOST], const double *f, const double *z, double weight,
                      double *flow)
{
    const double moves = 1 - 1 / (4 * (double)space->n_variables);
    double log_flow[MOST_STATES * MOST_STATES];
    for (int64_t i = 0; i < n; i++) {
        double a[MOST];
        linear_term(t, g[i], states[i].x, z, a);
        double here = f[i] + log_normal(t, z, states[i].x);
        for (int64_t j = 0; j < n; j++) {
            log_flow[i * n + j] = here + log_proposal(t, space, a, states[j].codes);
        }
    }
    for (int64_t k = 0; k < n * n; k++) {
        double there = log_flow[k], back = log_flow[k % n * n + k / n];
        flow[k] += weight * moves * exp(fmin(there, back));
        flow[k / n * n + k / n] += weight * (exp(there) - moves * exp(fmin(there, back)));
    }
}

/* P by the trapezoidal rule over z, whose error is of the order of exp(-(2 pi / h)^2 / 2) where the
 * integrand is smooth (row sums), and of h^2 where the acceptance has its kink. */
static void quadrature(const contract_case *k, const text *t, int64_t n, const double *f, double *P)
{
    const sal_space *space = k->model->space;
    const double h = 0.08, reach = 8;
    place states[MOST_STATES];
    double g[MOST_STATES][MOST], low[2] = { 1e9, 1e9 }, high[2] = { -1e9, -1e9 };
    for (int64_t i = 0; i < n; i++) {
        int32_t codes[MOST];
        state_codes(space, i, codes);
        states[i] = place_of(space, codes);
        evaluate(k, codes, g[i]);
        for (int64_t r = 0; r < t->N; r++) {
            double mean = 0;
            for (int64_t j = 0; j < t->N; j++) {
                mean += t->R[r * t->N + j] * states[i].x[j];
            }
            low[r] = fmin(low[r], mean - reach);
            high[r] = fmax(high[r], mean + reach);
        }
    }
    low[1] = t->N == 2 ? low[1] : 0;
    high[1] = t->N == 2 ? high[1] : 0;
    double weight = pow(h / sqrt(2 * acos(-1.0)), (double)t->N), z[2];
    memset(P, 0, (size_t)(n * n) * sizeof *P);
    for (z[0] = low[0]; z[0] <= high[0]; z[0] += h) {
        for (z[1] = low[1]; z[1] <= high[1]; z[1] += h) {
            add_flows(t, space, n, states, (const double(*)[MOST])g, f, z, weight, P);
        }
    }
    for (int64_t i = 0; i < n * n; i++) { /* flows carry exp(f) instead of pi */
        P[i] /= exp(f[i / n]);
    }
}

static void check_balance(const contract_case *k, int64_t n, const double *pi, const double *P)
{
    double balance = balance_breach(n, pi, P), invariance = invariance_breach(n, pi, P);
    ck_assert_msg(balance < 1e-12, "%s: detailed balance is off by %g", k->where, balance);
    ck_assert_msg(invariance < 1e-10, "%s: pi P is off by %g", k->where, invariance);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += P[i * n + j];
        }
        ck_assert_msg(fabs(sum - 1) < 1e-10, "%s: P sums to %.15g", k->where, sum);
    }
}

static void check_marginal(const contract_case *k, const double *M)
{
    const sal_space *space = k->model->space;
    enum { CHAINS = TEST_CHAINS(24000) };
    int64_t n = states_count(space), replicas = CHAINS / n;
    double f[MOST_STATES], pi[MOST_STATES], P[MOST_STATES * MOST_STATES];
    double counts[MOST_STATES * MOST_STATES] = { 0 }, expected[MOST_STATES];
    states_probabilities(k->model, k->beta, f, pi);
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, n * replicas, 3);
    text t = text_of(&b, M, 0);
    quadrature(k, &t, n, f, P);
    check_balance(k, n, pi, P);
    sali_engine(k->sampler)->step(b.self, b.chains);
    for (int64_t c = 0; c < n * replicas; c++) {
        counts[c % n * n + state_of(space, b.chains->codes + c * space->n_variables)]++;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            expected[j] = P[i * n + j] * (double)replicas;
        }
        double p = chi_square_p((int)n, counts + i * n, expected);
        ck_assert_msg(p > 1e-6, "%s: from state %d: p = %g", k->where, (int)i, p);
    }
    bench_close(&b);
}

START_TEST(marginal_chain_agrees_with_quadrature)
{
    static const tiny_space spaces[] = {
        { "a spin", 1, { TINY_SPIN(1) } },
        { "a grid", 1, { TINY_GRID(1) } },
        { "two bits", 1, { TINY_BINARY(2) } },
        { "spin and grid", 2, { TINY_SPIN(1), TINY_GRID(1) } },
        { "a coin", 1, { { .name = "coin", .kind = SAL_CATEGORICAL, .count = 1, .states = 2 } } },
    };
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        sal_space *space = tiny_space_make(&spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        for_auxiliary_samplers(model, model, spaces[s].name, check_marginal);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- one model in three codings */

/* f of one two-state variable b in {0, 1}, from the reals of a coding. */
static sal_model *coded_model(sal_kind kind)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_block block = { .name = "x", .kind = kind, .count = 1, .states = 2 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr b = sal_state(tape);
    if (kind == SAL_SPIN) {
        b = sal_scale(sal_add(b, sal_scalar(tape, 1)), 0.5);
    } else if (kind == SAL_CATEGORICAL) {
        b = sal_reshape(sal_slice(sal_state_block(tape, "x"), 1, 1, 1), SAL_SHAPE(1));
    }
    sal_expr bent = sal_tanh(sal_add(sal_scale(b, 1.5), sal_scalar(tape, -0.4)));
    sal_expr f = sal_sum(sal_add(sal_scale(bent, 2), sal_scale(b, 0.3)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* P of the binary form at eps is that of spins at 4 eps and of one-hot labels at 2 eps. */
START_TEST(codings_of_one_model_give_the_same_chain)
{
    static const sal_kind kinds[] = { SAL_BINARY, SAL_SPIN, SAL_CATEGORICAL };
    static const double scale[] = { 1, 4, 2 };
    enum { CHAINS = TEST_CHAINS(40000) };
    double f[2], pi[2], P[4];
    for (int coding = 0; coding < 3; coding++) {
        sal_model *model = coded_model(kinds[coding]);
        contract_case k = { .sampler = sali_sampler_find("avg"),
                            .model = model,
                            .settings = { .step_size = 1.1 * scale[coding] },
                            .beta = 1,
                            .where = "one variable" };
        bench b = bench_open(k.sampler, model, &k.settings, 1, CHAINS, 3);
        if (coding == 0) {
            text t = text_of(&b, NULL, 0);
            states_probabilities(model, 1, f, pi);
            quadrature(&k, &t, 2, f, P);
        }
        double counts[4] = { 0 };
        sali_engine(b.sampler)->step(b.self, b.chains);
        for (int64_t c = 0; c < CHAINS; c++) {
            counts[c % 2 * 2 + b.chains->codes[c]]++;
        }
        for (int i = 0; i < 2; i++) {
            double expected[] = { P[2 * i] * CHAINS / 2, P[2 * i + 1] * CHAINS / 2 };
            double p = chi_square_p(2, counts + 2 * i, expected);
            ck_assert_msg(p > 1e-6, "coding %d, from state %d: p = %g", coding, i, p);
        }
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- invariance */

/* Chains that start with probabilities pi have them after three steps. */
static void check_invariance(const contract_case *k, const double *M)
{
    const sal_space *space = k->model->space;
    enum { CHAINS = TEST_CHAINS(10000) };
    int64_t n = states_count(space), V = space->n_variables;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], u[CHAINS];
    double counts[TINY_MOST_STATES] = { 0 }, expected[TINY_MOST_STATES];
    (void)M;
    states_probabilities(k->exact, k->beta, f, pi);
    bench b = bench_open(k->sampler, k->model, &k->settings, k->beta, CHAINS, 0);
    sali_stream stream = { .seed = 5, .purpose = SALI_RNG_TEST };
    sali_rng_uniform_f64(&stream, CHAINS, u);
    for (int64_t c = 0; c < CHAINS; c++) {
        int64_t state = 0;
        for (double left = u[c] - pi[0]; left > 0 && state < n - 1; left -= pi[state]) {
            state++;
        }
        state_codes(space, pi[state] > 0 ? state : 0, b.chains->codes + c * V);
    }
    sali_chains_embed(b.chains);
    sali_engine(k->sampler)->refresh(b.self, b.chains);
    for (int step = 0; step < 3; step++) {
        sali_engine(k->sampler)->step(b.self, b.chains);
    }
    ck_assert_int_eq(b.chains->bad_chain, -1);
    for (int64_t c = 0; c < CHAINS; c++) {
        counts[state_of(space, b.chains->codes + c * V)]++;
    }
    for (int64_t i = 0; i < n; i++) {
        expected[i] = pi[i] * CHAINS;
    }
    double p = chi_square_p((int)n, counts, expected);
    ck_assert_msg(p > 1e-6, "%s: p = %g", k->where, p);
    bench_close(&b);
}

START_TEST(target_is_invariant_f64)
{
    for_auxiliary_cases(SAL_F64, check_invariance);
}
END_TEST

START_TEST(target_is_invariant_f32)
{
    for_auxiliary_cases(SAL_F32, check_invariance);
}
END_TEST

/* ---- avg is pavg with M = 0 */

START_TEST(avg_is_pavg_without_a_matrix)
{
    const double zero[MOST * MOST] = { 0 };
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        int64_t n = states_count(space);
        size_t bytes = (size_t)(n * space->n_variables) * sizeof(int32_t);
        bench a = open_named("avg", model, NULL, n);
        bench b = open_named("pavg", model, zero, n);
        bench c = open_named("pavg:preconditioner=none", model, NULL, n);
        for (int step = 0; step < 40; step++) {
            sali_engine(a.sampler)->step(a.self, a.chains);
            sali_engine(b.sampler)->step(b.self, b.chains);
            sali_engine(c.sampler)->step(c.self, c.chains);
            ck_assert_mem_eq(a.chains->codes, b.chains->codes, bytes);
            ck_assert_mem_eq(a.chains->codes, c.chains->codes, bytes);
        }
        bench_close(&a);
        bench_close(&b);
        bench_close(&c);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

static Suite *auxiliary_suite(void)
{
    Suite *suite = suite_create("auxiliary");
    TCase *tcase = new_case(suite, "text");
    tcase_add_test(tcase, acceptance_is_the_joint_ratio_of_the_z_drawn);
    tcase_add_test(tcase, proposals_given_z_are_those_of_the_paper);
    tcase_add_test(tcase, avg_is_pavg_without_a_matrix);
    tcase = new_case(suite, "marginal");
    tcase_add_test(tcase, marginal_chain_agrees_with_quadrature);
    tcase_add_test(tcase, codings_of_one_model_give_the_same_chain);
    tcase = new_case(suite, "invariance");
    tcase_add_test(tcase, target_is_invariant_f64);
    tcase_add_test(tcase, target_is_invariant_f32);
    return suite;
}

int main(void)
{
    return test_main(auxiliary_suite());
}
