/* Samplers with Gaussian auxiliary variables: what they compute against the text, for the z that
 * they drew; the chain with z integrated out; invariance. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "chi_square.h"
#include "samplers/auxiliary.h"
#include "transition.h"

#define MOST TINY_MOST_REALS

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

/* What the library makes of G: symmetric, zeros between states of one categorical variable. */
static void intended_matrix(const sal_space *space, const double *G, double *M)
{
    int64_t N = space->width;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < N; j++) {
            bool apart = i == j || sali_space_owner(space, i) != sali_space_owner(space, j);
            M[i * N + j] = apart ? (G[i * N + j] + G[j * N + i]) / 2 : 0;
        }
    }
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
        bool with = sampler->flags & SALI_SAMPLER_PRECONDITIONED && trial != 3;
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
        if (sampler->auxiliary && sampler->auxiliary->gaussian) {
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
 * ratio, by the text. */
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
        k->sampler->step(b.self, b.chains);
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
        k->sampler->auxiliary->log_q(b.self, b.chains, z, to, got);
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

/* Add the flows pi(i) N(z; R s_i, I) q(j | z, s_i) min(1, ratio) of one z, times its weight. */
static void add_flows(const text *t, const sal_space *space, int64_t n, const place *states,
                      const double (*g)[MOST], const double *f, const double *z, double weight,
                      double *flow)
{
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
        flow[k] += weight * exp(fmin(there, back));
        flow[k / n * n + k / n] += weight * (exp(there) - exp(fmin(there, back)));
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
    for (int64_t j = 0; j < n; j++) {
        double sum = 0, arrives = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += P[j * n + i];
            arrives += pi[i] * P[i * n + j];
            ck_assert_msg(fabs(pi[i] * P[i * n + j] - pi[j] * P[j * n + i]) < 1e-12,
                          "%s: no balance", k->where);
        }
        ck_assert_msg(fabs(sum - 1) < 1e-10, "%s: P sums to %.15g", k->where, sum);
        ck_assert_msg(fabs(arrives - pi[j]) < 1e-10, "%s: pi P %.15g, pi %.15g", k->where, arrives,
                      pi[j]);
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
    k->sampler->step(b.self, b.chains);
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
        b.sampler->step(b.self, b.chains);
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
    k->sampler->refresh(b.self, b.chains);
    for (int step = 0; step < 3; step++) {
        k->sampler->step(b.self, b.chains);
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

static bench open_named(const char *specification, const sal_model *model, const double *given,
                        int64_t n)
{
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 1, &sampler, &settings, &err), &err);
    settings.preconditioner = given;
    return bench_open(sampler, model, &settings, 1, n, 0);
}

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
            a.sampler->step(a.self, a.chains);
            b.sampler->step(b.self, b.chains);
            c.sampler->step(c.self, c.chains);
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
        b->sampler->step(b->self, b->chains);
        for (int64_t c = 0; c < b->chains->n; c++) {
            ck_assert_msg(fabs(b->chains->log_ratio[c]) < tolerance, "%s: log ratio %g", where,
                          b->chains->log_ratio[c]);
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
        ck_ok(sal_model_builtin(models[m], SAL_F64, &model, &err), &err);
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
    b.sampler->refresh(b.self, b.chains);
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
        ck_assert_msg(sali_has_constant_hessian(model) == cases[k].is, "case %d", (int)k);
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
        ck_ok(sali_preconditioner_create(model, SALI_PRECONDITIONER_EMPIRICAL, NULL, &p, &err),
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
            b->sampler->step(b->self, b->chains);
        }
        ck_ok(b->sampler->adapt(b->shared, &w, &changed, &err), &err);
        if (changed) {
            b->sampler->refresh(b->self, b->chains);
        }
        sali_chains_take_sums(b->chains);
    }
}

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
    ck_ok(sal_model_builtin("ising:side=4,theta=0.1", SAL_F64, &model, &err), &err);
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
                                .clamped = 2,
                                .clamp_variables = variables,
                                .clamp_codes = codes };
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
    options.clamped = 0;
    G[5] = (double)NAN;
    ck_fails(sal_sample(model, &options, &run, &err), SAL_ERR_ARGUMENT, &err, "(0, 5) is nan");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    return tcase;
}

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
    tcase = new_case(suite, "hessian");
    tcase_add_test(tcase, hessian_of_a_quadratic_f_never_rejects);
    tcase_add_test(tcase, ready_made_quadratic_models_never_reject);
    tcase_add_test(tcase, hessian_follows_the_parameters);
    tcase_add_test(tcase, quadratic_formulas_are_known_by_their_ops);
    tcase = new_case(suite, "learning");
    tcase_add_test(tcase, gamma_goes_on_while_jumps_grow_and_back_when_they_fall);
    tcase_add_test(tcase, better_candidate_wins_with_the_slope_of_least_squares);
    tcase_add_test(tcase, warm_up_finds_a_matrix);
    tcase_add_test(tcase, given_matrix_is_checked_and_cut_to_free_variables);
    return suite;
}

int main(void)
{
    return test_main(auxiliary_suite());
}
