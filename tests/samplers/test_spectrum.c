/* SPDX-License-Identifier: MIT */
/* What every exact sampler's matrix must forget. pi P = pi alone allows a chain that sees half of
 * the states at even steps and the other half at odd ones: its matrix has the eigenvalue -1. The
 * loops go over the table of samplers, with all their variants. */
#include "test.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/vector/lapack.h"
#include "run/parts/tempering.h"
#include "run_helpers.h"
#include "samplers/local/path_length.h"

/* Rounding in eigenvalues of matrices of at most 256 rows. */
#define ROUNDING 1e-10

/* An eigenvalue whose size is within this of 1 stands for what is never forgotten. */
#define NEVER_FORGOTTEN 1e-9

/* Eigenvalues wr + i wi of a general matrix (LAPACK). */
void dgeev_(const char *left, const char *right, const int *n, double *A, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t left_length, size_t right_length);

/* ---- eigenvalues */

/* Those of P [n x n] that has detailed balance with pi > 0, ascending. */
static void reversible_eigenvalues(int n, const double *pi, const double *P, double *lambda)
{
    const int lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    double *A = malloc((size_t)(n * n) * sizeof *A), *work = malloc((size_t)lwork * sizeof *work);
    int *iwork = malloc((size_t)liwork * sizeof *iwork), info = -1;
    for (int k = 0; k < n * n; k++) {
        A[k] = P[k] * sqrt(pi[k / n] / pi[k % n]);
    }
    dsyevd_("N", "U", &n, A, &n, lambda, work, &lwork, iwork, &liwork, &info, 1, 1);
    ck_assert_int_eq(info, 0);
    free(A);
    free(work);
    free(iwork);
}

/* Those of any matrix K [n x n]. */
static void eigenvalues(int n, const double *K, double complex *lambda)
{
    const int lwork = 8 * n, one = 1;
    double *A = malloc((size_t)(n * n) * sizeof *A), *work = malloc((size_t)lwork * sizeof *work);
    double *re = malloc((size_t)n * sizeof *re), *im = malloc((size_t)n * sizeof *im);
    int info = -1;
    memcpy(A, K, (size_t)(n * n) * sizeof *A);
    dgeev_("N", "N", &n, A, &n, re, im, NULL, &one, NULL, &one, work, &lwork, &info, 1, 1);
    ck_assert_int_eq(info, 0);
    for (int k = 0; k < n; k++) {
        lambda[k] = re[k] + I * im[k];
    }
    free(A);
    free(work);
    free(re);
    free(im);
}

/* K <- K P, both [n x n]. */
static void multiply(int64_t n, double *K, const double *P)
{
    double *row = malloc((size_t)n * sizeof *row);
    for (int64_t i = 0; i < n; i++) {
        memset(row, 0, (size_t)n * sizeof *row);
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = 0; k < n; k++) {
                row[k] += K[i * n + j] * P[j * n + k];
            }
        }
        memcpy(K + i * n, row, (size_t)n * sizeof *row);
    }
    free(row);
}

static double *identity(int64_t n)
{
    double *K = calloc((size_t)(n * n), sizeof *K);
    for (int64_t i = 0; i < n; i++) {
        K[i * n + i] = 1;
    }
    return K;
}

/* ---- the law */

/* The least eigenvalue that is allowed on V variables that can move. */
static double least_allowed(const sal_space *space)
{
    int64_t movable = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        movable += space->variables[v].states > 1;
    }
    return -1 + 1 / (2 * (double)movable);
}

/* The number of states that some number of steps by K [n x n] reaches from state 0, or that reach
 * it
 * (`back`). */
static int64_t reached(int64_t n, const double *K, bool back)
{
    bool seen[TINY_MOST_STATES] = { true };
    int64_t queue[TINY_MOST_STATES] = { 0 }, count = 1;
    for (int64_t at = 0; at < count; at++) {
        for (int64_t j = 0; j < n; j++) {
            const double p = back ? K[j * n + queue[at]] : K[queue[at] * n + j];
            if (p > 0 && !seen[j]) {
                seen[j] = true;
                queue[count++] = j;
            }
        }
    }
    return count;
}

/* All steps of a period, one by one and as one matrix K. No step has an eigenvalue near -1. K joins
 * all states, so that its eigenvalue 1 is simple (Perron and Frobenius), and no other eigenvalue of
 * K but slow ones near 1 itself has nearly the size 1. */
static void check_spectrum(const contract_case *k)
{
    if (!has_matrix(k->sampler) || k->sampler->unadjusted) {
        return;
    }
    const char *cycle = sali_engine(k->sampler)->cycle;
    const int64_t steps = cycle ? (int64_t)sali_sampler_value(k->sampler, &k->settings, cycle) : 0;
    const int64_t pieces = pieces_of(k->sampler, k->model, &k->settings);
    const int64_t period = pieces > 1 ? pieces : steps > 1 ? steps : 1;
    const int n = (int)states_count(k->model->space);
    double lambda[TINY_MOST_STATES], *K = identity(n);
    double complex whole[TINY_MOST_STATES];
    for (int64_t step = 0; step < period; step++) {
        transition t = transition_make(k->sampler, k->model, &k->settings, k->beta, (uint64_t)step);
        reversible_eigenvalues(n, t.pi, t.P, lambda);
        ck_assert_msg(lambda[0] >= least_allowed(k->model->space) - ROUNDING,
                      "%s: least eigenvalue %.12g at step %d", k->where, lambda[0], (int)step);
        multiply(n, K, t.P);
        transition_free(&t);
    }
    ck_assert_msg(reached(n, K, false) == n && reached(n, K, true) == n,
                  "%s: some states are never left, or never reached", k->where);
    if (period > 1) { /* else there were no others than those above */
        eigenvalues(n, K, whole);
    }
    for (int i = 0; period > 1 && i < n; i++) {
        ck_assert_msg(cabs(whole[i]) < 1 - NEVER_FORGOTTEN ||
                          cabs(whole[i] - 1) < 10 * NEVER_FORGOTTEN,
                      "%s: eigenvalue %.12g + %.12g i of a period", k->where, creal(whole[i]),
                      cimag(whole[i]));
    }
    free(K);
}

/* ---- two replicas: steps of both, then a swap; states (i, j) are numbered i n + j */

/* K <- K (P x Q), K [n^2 x n^2], P and Q [n x n]. */
static void step_both(int64_t n, double *K, const double *P, const double *Q)
{
    double *both = malloc((size_t)(n * n * n * n) * sizeof *both);
    for (int64_t k = 0; k < n * n * n * n; k++) {
        const int64_t from = k / (n * n), to = k % (n * n);
        both[k] = P[from / n * n + to / n] * Q[from % n * n + to % n];
    }
    multiply(n * n, K, both);
    free(both);
}

/* K <- K S, S the swap of the two states; f at temperature 1. */
static void swap_both(const sal_space *space, int64_t n, const double *f, double beta, double *K)
{
    double *S = calloc((size_t)(n * n * n * n), sizeof *S);
    for (int64_t at = 0; at < n * n; at++) {
        const int64_t i = at / n, j = at % n;
        const double log_ratio = sali_swap_log_ratio(1, beta, f[i], f[j]);
        const double p = sali_swap_probability(space, log_ratio);
        S[at * n * n + j * n + i] += p;
        S[at * n * n + at] += 1 - p;
    }
    multiply(n * n, K, S);
    free(S);
}

/* A period of a run with two temperatures and `every` steps between the turns of swaps; with two
 * replicas every other turn has a pair to swap. */
static void check_replicas(const contract_case *k, int64_t every)
{
    const double hot = 0.5;
    const int64_t n = states_count(k->model->space);
    const int64_t pieces = pieces_of(k->sampler, k->model, &k->settings);
    const int64_t period = pieces % (2 * every) == 0 ? pieces : 2 * every * pieces;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], pi_hot[TINY_MOST_STATES];
    double *K = identity(n * n), *joint = malloc((size_t)(n * n) * sizeof *joint);
    double complex lambda[TINY_MOST_STATES];
    states_probabilities(k->model, hot, f, pi_hot);
    states_probabilities(k->model, 1, f, pi);
    for (int64_t step = 0; step < period; step++) {
        transition t = transition_make(k->sampler, k->model, &k->settings, 1, (uint64_t)step);
        transition u = transition_make(k->sampler, k->model, &k->settings, hot, (uint64_t)step);
        step_both(n, K, t.P, u.P);
        transition_free(&t);
        transition_free(&u);
        if ((step + 1) % (2 * every) == 0) {
            swap_both(k->model->space, n, f, hot, K);
        }
    }
    for (int64_t at = 0; at < n * n; at++) {
        joint[at] = pi[at / n] * pi_hot[at % n];
    }
    const double breach = invariance_breach(n * n, joint, K);
    ck_assert_msg(breach < 1e-12, "%s: pi K - pi = %g", k->where, breach);
    ck_assert_msg(reached(n * n, K, false) == n * n && reached(n * n, K, true) == n * n,
                  "%s, every %d: some pairs of states are never left, or never reached", k->where,
                  (int)every);
    eigenvalues((int)(n * n), K, lambda);
    for (int64_t i = 0; i < n * n; i++) {
        ck_assert_msg(creal(lambda[i]) >= least_allowed(k->model->space) - ROUNDING,
                      "%s, every %d: eigenvalue %.12g + %.12g i", k->where, (int)every,
                      creal(lambda[i]), cimag(lambda[i]));
    }
    free(K);
    free(joint);
}

static void check_tempered(const contract_case *k)
{
    if (has_matrix(k->sampler) && can_be_tempered(k->sampler)) {
        check_replicas(k, 1);
        check_replicas(k, 2);
    }
}

/* ---- targets: f = b's + s'Js scaled to a range, or b's that leaves two states of each variable */

typedef struct target {
    const char *name;
    double range; /* largest f less least f */
    bool two;
} target;

static const target targets[] = {
    { "flat", 0, false },   { "nearly flat", 0.01, false },    { "uneven", 2, false },
    { "steep", 12, false }, { "two of the labels", 12, true },
};

static const tiny_space small_spaces[] = {
    { "one bit", 1, { TINY_BINARY(1) } },
    { "one label", 1, { TINY_LABEL(1) } },
    { "one level", 2, { TINY_GRID(1), TINY_SINGLE } },
    { "two spins", 1, { TINY_SPIN(2) } },
    { "six bits", 1, { TINY_BINARY(6) } },
};
#define N_SMALL_SPACES ((int)(sizeof small_spaces / sizeof *small_spaces))

static sal_model *quadratic(const sal_space *space, double scale, const double *b, const double *J)
{
    const int64_t N = sal_space_width(space);
    sal_model *model = NULL;
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s),
                         sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N))));
    ck_ok(sal_model_from_tape(tape, sal_scale(f, scale), &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

static sal_model *target_model(const sal_space *space, const target *t)
{
    const int64_t N = sal_space_width(space), n = states_count(space);
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES], least = INFINITY, most = -INFINITY;
    tiny_normals(21, N * N, t->two ? 0 : 0.4, J);
    tiny_normals(22, N, t->two ? 0 : 0.4, b);
    for (int64_t v = 0; t->two && v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        if (variable->kind == SAL_CATEGORICAL && variable->states > 2) {
            b[variable->offset + variable->states - 1] = -1;
        }
    }
    sal_model *model = quadratic(space, 1, b, J);
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, f[i]);
        most = fmax(most, f[i]);
    }
    sal_model_destroy(model);
    return quadratic(space, most > least ? t->range / (most - least) : 0, b, J);
}

static void check_space(const tiny_space *tiny)
{
    sal_space *space = tiny_space_make(tiny);
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        sal_model *model = target_model(space, &targets[k]);
        char name[80];
        snprintf(name, sizeof name, "%s over %s", targets[k].name, tiny->name);
        for_every_sampler(model, model, name, check_spectrum);
        sal_model_destroy(model);
    }
    sal_space_destroy(space);
}

START_TEST(exact_samplers_forget_where_they_were)
{
    check_space(&tiny_spaces[_i]);
}
END_TEST

START_TEST(exact_samplers_of_one_or_two_variables_forget)
{
    check_space(&small_spaces[_i]);
}
END_TEST

/* Models of which samplers know the structure, where steps take other ways. */
START_TEST(exact_samplers_of_ready_models_forget)
{
    static const char *const models[] = {
        "bernoulli:dim=5,scale=0",
        "ising:side=2,theta=0",
        "ising:side=2,theta=0.01",
        "ising:side=2,theta=1.2",
        "ising-er:nodes=6,degree=2,theta=0.001",
        "rbm:visible=4,hidden=3,scale=0",
        "rbm:visible=4,hidden=3,scale=0.9",
        "mlp:visible=4,hidden=3,layers=1,units=2",
        "potts:side=2,states=3,theta=1",
        "hmm:length=2,states=3,sigma=0.7,p=0.6",
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(models[k], SAL_F64, &model, &err), &err);
        for_every_sampler(model, model, models[k], check_spectrum);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(tempered_runs_forget_where_they_were)
{
    static const tiny_space spaces[] = {
        { "three spins", 1, { TINY_SPIN(3) } },
        { "label and bit", 2, { TINY_LABEL(1), TINY_BINARY(1) } }
    };
    sal_space *space = tiny_space_make(&spaces[_i]);
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        sal_model *model = target_model(space, &targets[k]);
        for_every_sampler(model, model, targets[k].name, check_tempered);
        sal_model_destroy(model);
    }
    sal_space_destroy(space);
}
END_TEST

/* ---- paths */

/* Four bits of which two are given, by tables that forbid or by a steep f. */
static sal_model *half_given(bool forbidden)
{
    static const int32_t states[] = { 2, 2, 2, 2 };
    static const int64_t begin[] = { 0, 1, 2, 3, 4 }, scope[] = { 0, 1, 2, 3 };
    const double never = forbidden ? -INFINITY : -30;
    const double tables[] = { 0, never, never, 0, 0, 0, 0.3, 0 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(4, states, 4, begin, scope, tables, SAL_F64, &model, &err), &err);
    return model;
}

/* Keep the states that f allows only. */
static void drop_forbidden(transition *t)
{
    int64_t kept = 0, at[TINY_MOST_STATES];
    for (int64_t i = 0; i < t->n; i++) {
        if (t->pi[i] > 0) {
            at[kept++] = i;
        }
    }
    for (int64_t i = 0; i < kept; i++) {
        t->pi[i] = t->pi[at[i]];
        for (int64_t j = 0; j < kept; j++) {
            t->P[i * kept + j] = t->P[at[i] * t->n + at[j]];
        }
    }
    t->n = kept;
}

/* Paths of as many moves as there are variables would move both free ones in each step that is
 * taken, so that they would be equal, or unequal, for ever. */
START_TEST(paths_move_less_than_is_free_now_and_then)
{
    static const char *const samplers[] = { "pas", "pafs" };
    const sali_sampler *sampler = sali_sampler_find(samplers[_i / 2]);
    const double slowest = _i == 3 ? 0.5 : 1 - SALI_PATH_ANY / 4; /* pafs counts who can move */
    double lambda[TINY_MOST_STATES];
    sal_model *model = half_given(_i % 2);
    sali_sampler_settings settings = { 0 };
    sal_error err;
    ck_ok(sali_specification_values("pas:length=4", sampler->settings, settings.values, &err),
          &err);
    transition t = transition_make(sampler, model, &settings, 1, 0);
    drop_forbidden(&t);
    const double breach = invariance_breach(t.n, t.pi, t.P);
    ck_assert_msg(breach < 1e-12, "%s: pi P - pi = %g", sampler->name, breach);
    reversible_eigenvalues((int)t.n, t.pi, t.P, lambda);
    ck_assert_msg(lambda[t.n - 2] < slowest, "%s: %.12g", sampler->name, lambda[t.n - 2]);
    transition_free(&t);
    sal_model_destroy(model);
}
END_TEST

START_TEST(lengths_of_paths_have_their_probabilities)
{
    enum { UNIFORMS = 1 << 16, MOST = 7 };
    for (int64_t k = 0; k < MOST * MOST; k++) {
        const sali_path_length path = { .length = (double)(1 + k / MOST) };
        const int64_t most = k % MOST ? k % MOST : SALI_PATH_REVISITS;
        int64_t times[MOST + 1] = { 0 };
        double sum = 0;
        for (int64_t n = 0; n < UNIFORMS; n++) {
            const int64_t moves = sali_path_length_draw(&path, most, (double)n / UNIFORMS);
            ck_assert(moves >= 1 && moves <= most && (double)moves <= path.length);
            times[moves]++;
        }
        for (int64_t moves = 1; moves <= MOST; moves++) {
            const double p = exp(sali_path_length_log_q(&path, most, moves));
            ck_assert_double_eq_tol((double)times[moves] / UNIFORMS, p, 2. / UNIFORMS);
            sum += p;
        }
        ck_assert_double_eq_tol(sum, 1, 1e-12);
    }
    ck_assert_int_eq(sali_path_length_draw(&(sali_path_length){ .length = 5 }, 0, 0.9), 0);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("spectrum");
    TCase *tests = statistics_create("spectrum");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, exact_samplers_forget_where_they_were, 0, N_TINY_SPACES);
    tcase_add_loop_test(tests, exact_samplers_of_one_or_two_variables_forget, 0, N_SMALL_SPACES);
    tcase_add_loop_test(tests, tempered_runs_forget_where_they_were, 0, 2);
    tcase_add_test(tests, exact_samplers_of_ready_models_forget);
    tcase_add_loop_test(tests, paths_move_less_than_is_free_now_and_then, 0, 4);
    tcase_add_test(tests, lengths_of_paths_have_their_probabilities);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_main(make());
}
