/* SPDX-License-Identifier: MIT */
/* Elimination against enumeration, against closed forms, and against published networks' answers.
 */
#include <math.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "elimination_helpers.h"
#include "io/networks/marginals.h"
#include "models/exact/exact.h"
#include "tiny_models.h"

/* ---- small networks */

typedef struct network {
    int64_t n, m, begin[40], scope[200], entries;
    int32_t states[16];
    double tables[20000];
} network;

/* Scopes of 0 to 4 variables in any order, cardinalities 1 to 4, entries of which the share
 * `zeros` is -inf: the entry 0 never, so that state 0 .. 0 is possible. */
static void draw_network(network *g, double zeros)
{
    *g = (network){ .n = 1 + below(8), .m = 1 + below(12) };
    for (int64_t v = 0; v < g->n; v++) {
        g->states[v] = (int32_t)(1 + below(4));
    }
    for (int64_t j = 0; j < g->m; j++) {
        int64_t length = below(g->n < 4 ? g->n + 1 : 5), size = 1, at = g->begin[j];
        for (int64_t k = 0; k < length;) {
            int64_t v = below(g->n);
            bool taken = false;
            for (int64_t l = 0; l < k; l++) {
                taken |= g->scope[at + l] == v;
            }
            g->scope[at + k] = v;
            size *= taken ? 1 : g->states[v];
            k += !taken;
        }
        g->begin[j + 1] = at + length;
        for (int64_t k = 0; k < size; k++) {
            bool zero = k > 0 && uniform() < zeros;
            g->tables[g->entries++] = zero ? -INFINITY : 6 * uniform() - 3;
        }
    }
}

static sal_model *network_model(const network *g)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(g->n, g->states, g->m, g->begin, g->scope, g->tables, SAL_F64,
                                 &model, &err),
          &err);
    return model;
}

START_TEST(random_networks_have_enumerations_answers)
{
    static network g;
    int deep = 0;
    for (int k = 0; k < (TEST_SANITIZED ? 60 : 400); k++) {
        draw_network(&g, k % 3 * 0.3);
        sal_model *model = network_model(&g);
        deep += check_oracles(model, 1e-12).width >= 3;
        sal_model_destroy(model);
    }
    ck_assert_int_ge(deep, 10);
}
END_TEST

/* Evidence on some of the variables: what is left has enumeration's answers, or none at all. */
START_TEST(evidence_is_conditioned_on_and_may_be_impossible)
{
    static network g;
    int possible = 0, impossible = 0;
    for (int k = 0; k < (TEST_SANITIZED ? 60 : 300); k++) {
        int64_t variables[16], n = 0;
        int32_t codes[16];
        sal_error err;
        draw_network(&g, 0.4);
        for (int64_t v = 1; v < g.n; v++) {
            if (uniform() < 0.5) {
                variables[n] = v;
                codes[n++] = (int32_t)below(g.states[v]);
            }
        }
        sal_model *model = network_model(&g), *clamped = NULL;
        ck_ok(sal_model_clamp(model, n, variables, codes, &clamped, &err), &err);
        sal_exact exact = { .log_z = 7 };
        if (sal_model_exact(clamped, &by_enumeration, &exact, NULL, NULL, NULL, &err) == SAL_OK) {
            check_oracles(clamped, 1e-12);
            possible++;
        } else {
            ck_fails(sal_model_exact(clamped, &by_elimination, &exact, NULL, NULL, NULL, &err),
                     SAL_ERR_MODEL, &err, "f is -inf at all states");
            ck_assert_double_eq(exact.log_z, 7);
            impossible++;
        }
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
    ck_assert_int_ge(possible, 30);
    ck_assert_int_ge(impossible, 10);
}
END_TEST

/* ---- formulas of every sort */

START_TEST(local_formulas_over_every_kind_are_served_and_others_refused)
{
    int served = 0, refused = 0;
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            sal_exact exact;
            sal_error err;
            if (!model) {
                continue;
            }
            if (sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err) == SAL_OK) {
                check_oracles(model, 1e-12);
                served++;
            } else {
                ck_assert_msg(strstr(err.message, "elimination: ") != NULL, "%s", err.message);
                refused++;
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
    ck_assert_msg(served >= 10 && refused >= 5, "%d served, %d refused", served, refused);
}
END_TEST

START_TEST(ready_made_models_have_enumerations_answers)
{
    const char *names[] = { "ising:side=4,theta=0.3,bias=0.2",
                            "ising:side=4,cyclic=0,theta=-0.7",
                            "ising:side=2",
                            "ising:side=1,bias=1",
                            "ising-dense:dim=10,scale=0.5",
                            "potts:side=3,states=3",
                            "potts:side=2,states=7,theta=-1,cyclic=0",
                            "potts-dense:dim=4,states=5,scale=0.5,field=1",
                            "poisson:dim=4,cap=6,interaction=0.1",
                            "fhmm:length=5,factors=3",
                            "random-factors:n=10,m=8,p=0.3,seed=4",
                            "random-factors:n=6,m=9,p=0.4,states=4,seed=2" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_model *model = open_model(names[k]);
        check_oracles(model, 1e-11);
        sal_model_destroy(model);
    }
}
END_TEST

/* Spins, bits, levels, counts and labels in one formula of table, edges, products, quotients and
 * functions of elements, each behind other linear ops. */
static sal_model *mixed_model(void)
{
    static const double levels[] = { -1.5, 0, 0.5, 3 };
    const double weights[] = { 0.3, -0.7, 1.1 }, T[] = { 0.1, -0.4, 0.9, -INFINITY, 0.2, 1.3 };
    const int64_t pairs[] = { 0, 2, 3, 1, 4, 4 }, begin[] = { 0, 2 }, scope[] = { 7, 0 };
    const int64_t picks[] = { 5, 2, 2 };
    const double mixing[] = {
        0, 0.5, 0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.3, 0
    };
    sal_space *space = sal_space_create();
    const sal_block blocks[] = {
        { .name = "b", .kind = SAL_BINARY, .count = 2 },
        { .name = "s", .kind = SAL_SPIN, .count = 2 },
        { .name = "o", .kind = SAL_ORDINAL, .count = 1, .states = 4, .levels = levels },
        { .name = "c", .kind = SAL_COUNT, .count = 2, .cap = 3 },
        { .name = "l", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 },
        { .name = "one", .kind = SAL_CATEGORICAL, .count = 1, .states = 1 },
    };
    sal_error err;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        ck_ok(sal_space_add(space, &blocks[k], &err), &err);
    }
    ck_assert_int_eq(sal_space_width(space), 11);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), counts = sal_slice(s, 0, 5, 2), ends = sal_slice(s, 0, 0, 4);
    sal_expr f = sal_edges(s, sal_constant(tape, weights, SAL_SHAPE(3)), 3, pairs);
    f = sal_add(
        f, sal_scale(sal_table(tape, sal_constant(tape, T, SAL_SHAPE(6)), 1, begin, scope), 2));
    f = sal_sub(f, sal_sum(sal_lgamma(sal_add(counts, sal_scalar(tape, 1)))));
    f = sal_add(f, sal_div(sal_sum(sal_exp(sal_mul(sal_slice(ends, 0, 0, 2), /* b_i s_i */
                                                   sal_slice(ends, 0, 2, 2)))),
                           sal_scalar(tape, 3)));
    f = sal_add(f, sal_mean(sal_tanh(sal_gather(s, 0, 3, picks))));
    sal_expr mixed = sal_matvec(sal_constant(tape, mixing, SAL_SHAPE(2, 11)), s);
    f = sal_add(f, sal_dot(mixed, sal_softplus(mixed)));
    f = sal_add(f, sal_add(sal_sum(counts), sal_scalar(tape, -2.5)));
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(formulas_of_many_ops_are_read_and_clamped_variables_are_constants)
{
    sal_model *model = mixed_model(), *clamped = NULL;
    sal_error err;
    check_oracles(model, 1e-12);
    for (int64_t v = 0; v < 8; v++) {
        const int64_t variables[] = { v, (v + 3) % 8 };
        const int32_t codes[] = { 1, 1 };
        ck_ok(sal_model_clamp(model, 2, variables, codes, &clamped, &err), &err);
        check_oracles(clamped, 1e-12);
        sal_model_destroy(clamped);
    }
    sal_model_destroy(model);
}
END_TEST

/* Log-probabilities that no double holds: the one state of largest f is far below the product of
 * the largest messages. */
START_TEST(probabilities_far_below_the_range_of_doubles_are_kept)
{
    const int32_t states[] = { 2, 2, 2 };
    const int64_t begin[] = { 0, 2, 4, 5, 6 }, scope[] = { 0, 1, 1, 2, 0, 2 };
    const double minus = -INFINITY;
    const double tables[] = { 0, minus, minus, -900, 0, minus, minus, -800, -1000, 0.5, minus, 0 };
    sal_model *model = NULL;
    sal_exact exact;
    double marginals[6];
    sal_error err;
    ck_ok(sal_model_from_factors(3, states, 4, begin, scope, tables, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_exact(model, &by_elimination, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, -1699.5, 1e-12);
    ck_assert_double_eq_tol(exact.log_prob_mean, -1699.5, 1e-12);
    ck_close(6, marginals, (double[]){ 0, 1, 0, 1, 0, 1 }, 1e-15);
    sal_model_destroy(model);
}
END_TEST

/* ---- closed forms */

/* K sum of s_i s_j over the edges of a torus of rows x columns, both at least 3, or, open, of a
 * grid with free borders. */
static sal_model *lattice(int64_t rows, int64_t columns, double K, bool open)
{
    int64_t n = rows * columns, edges = 0, *pairs = malloc((size_t)(4 * n) * sizeof *pairs);
    double *weights = new_numbers(2 * n);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const int64_t next[] = { i * columns + (j + 1) % columns,
                                     (i + 1) % rows * columns + j };
            const bool inside[] = { j + 1 < columns, i + 1 < rows };
            for (int k = 0; k < 2; k++) {
                if (inside[k] || !open) {
                    weights[edges] = K;
                    pairs[2 * edges] = i * columns + j;
                    pairs[2 * edges++ + 1] = next[k];
                }
            }
        }
    }
    sal_space *space = sal_space_create();
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = n }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr w = sal_constant(tape, weights, SAL_SHAPE(edges));
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, sal_edges(sal_state(tape), w, edges, pairs), &model, &err),
          &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    free(weights);
    free(pairs);
    return model;
}

/* log of exp a + sign exp b, signs carried along. */
static double log_plus(double a, double b, double sign)
{
    return a > b ? a + log1p(sign * exp(b - a)) : b + log(sign + exp(a - b));
}

/* log Z of a torus of M rows of N, K > 0 (Kaufman 1949; in this form Beale 1996). */
static double kaufman(int64_t M, int64_t N, double K)
{
    double sums[4] = { 0 }, sign = 1; /* logs of the products of 2 cosh, 2 sinh (M gamma_r / 2) */
    for (int64_t r = 0; r < 2 * N; r++) {
        double c = cosh(2 * K) / tanh(2 * K) - cos(M_PI * (double)r / (double)N);
        double gamma = r == 0 ? 2 * K + log(tanh(K)) : acosh(c), half = (double)M * gamma / 2;
        int even = r % 2 == 0 ? 2 : 0;
        sign = even && half < 0 ? -sign : sign;
        sums[even] += fabs(half) + log1p(exp(-2 * fabs(half)));
        sums[even + 1] += fabs(half) + log1p(-exp(-2 * fabs(half)));
    }
    double all = log_plus(sums[0], sums[1], 1);
    all = log_plus(all, sums[2], 1);
    all = log_plus(all, sums[3], sign); /* gamma_0 < 0 above the critical temperature */
    return (double)(M * N) / 2 * log(2 * sinh(2 * K)) - log(2) + all;
}

START_TEST(cyclic_ising_lattices_have_kaufmans_partition_function)
{
    const int64_t shapes[][2] = { { 3, 3 }, { 4, 4 }, { 3, 40 }, { 5, 60 },
                                  { 6, 6 }, { 9, 8 }, { 10, 10 } };
    const double couplings[] = { 0.1, 0.4, 0.44068679350977147, 0.9 };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes - (TEST_SANITIZED ? 2 : 0); k++) {
        for (size_t c = 0; c < (k < 5 ? 4 : 1); c++) {
            double K = k < 5 ? couplings[c] : 0.4;
            sal_model *model = lattice(shapes[k][0], shapes[k][1], K, false);
            double want = kaufman(shapes[k][0], shapes[k][1], K);
            sal_exact exact;
            sal_error err;
            ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
            ck_assert_msg(fabs(exact.log_z - want) <= 1e-11 * want,
                          "%lld x %lld, K %g: %.15g, %.15g", (long long)shapes[k][0],
                          (long long)shapes[k][1], K, exact.log_z, want);
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(long_open_chains_have_their_closed_form)
{
    const int64_t n = TEST_SANITIZED ? 2000 : 50000;
    const double K = 0.7;
    sal_model *model = lattice(1, n, K, true);
    double *marginals = new_numbers(2 * n);
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_int_eq(exact.width, 1);
    ck_assert_double_eq_tol(exact.log_z, log(2) + (double)(n - 1) * log(2 * cosh(K)),
                            1e-13 * (double)n);
    ck_assert_double_eq_tol(exact.log_prob_mean, (double)(n - 1) * K * tanh(K), 1e-13 * (double)n);
    for (int64_t k = 0; k < 2 * n; k++) {
        ck_assert_double_eq_tol(marginals[k], 0.5, 1e-12);
    }
    free(marginals);
    sal_model_destroy(model);
}
END_TEST

START_TEST(pairs_of_a_chain_decay_with_the_distance)
{
    const int64_t n = 60, R = 2 * n;
    const double K = 0.8;
    sal_model *model = lattice(1, n, K, true);
    double *pairs = new_numbers(R * R), *covariance = new_numbers(n * n);
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, pairs, covariance, &err), &err);
    ck_assert_str_eq(exact.oracle, "elimination");
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double c = pow(tanh(K), (double)llabs(i - j));
            ck_assert_double_eq_tol(covariance[i * n + j], c, 1e-12);
            ck_assert_double_eq_tol(pairs[2 * i * R + 2 * j + 1], i == j ? 0 : (1 - c) / 4, 1e-12);
        }
    }
    free(pairs);
    free(covariance);
    sal_model_destroy(model);
}
END_TEST

/* An order is chosen for its work: its width may be a little more than the least. */
START_TEST(widths_of_known_graphs)
{
    const struct {
        int64_t rows, columns;
        bool open;
        int32_t least, most;
    } cases[] = {
        { 1, 30, true, 1, 1 }, { 2, 30, true, 2, 2 }, { 30, 6, true, 6, 8 }, { 30, 3, false, 6, 8 }
    };
    sal_exact exact;
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = lattice(cases[k].rows, cases[k].columns, 0.1, cases[k].open);
        ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
        ck_assert_int_ge(exact.width, cases[k].least);
        ck_assert_int_le(exact.width, cases[k].most);
        ck_assert(exact.memory > 0 && exact.memory < 1 << 20);
        sal_model_destroy(model);
    }
    sal_model *torus = open_model("ising:side=8"); /* by min-weight alone: 8 MB */
    ck_ok(sal_model_exact(torus, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_msg(exact.memory < 6e6, "%g", exact.memory);
    sal_model_destroy(torus);
    sal_model *dense = open_model("ising-dense:dim=12");
    ck_ok(sal_model_exact(dense, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_int_eq(exact.width, 11);
    sal_model_destroy(dense);
}
END_TEST

/* ---- which oracle */

START_TEST(the_cheaper_oracle_answers)
{
    sal_exact exact;
    sal_error err;
    sal_model *model = open_model("ising:side=2");
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "enumeration");
    ck_assert_int_eq(exact.width, -1);
    sal_model_destroy(model);
    model = lattice(1, 20, 0.3, true); /* 2^20 states, within the limit */
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "elimination");
    ck_assert_int_eq(exact.width, 1);
    sal_model_destroy(model);
}
END_TEST

/* Tables large enough that threads share them. */
START_TEST(same_bits_for_any_number_of_threads)
{
    sal_model *model = open_model(TEST_SANITIZED ? "ising:side=7" : "ising:side=8,bias=0.1");
    sal_exact want, exact;
    double marginals[2][128] = { { 0 } };
    sal_error err;
    for (int threads = 1; threads <= 7; threads += threads == 2 ? 5 : 1) {
        sal_exact_options options = { .oracle = "elimination", .threads = threads };
        ck_ok(sal_model_exact(model, &options, &exact, marginals[threads > 1], NULL, NULL, &err),
              &err);
        want = threads == 1 ? exact : want;
        ck_assert(exact.log_z == want.log_z && exact.log_prob_mean == want.log_prob_mean);
        ck_assert(threads == 1 || memcmp(marginals[0], marginals[1], sizeof *marginals) == 0);
    }
    ck_assert(exact.memory > 1 << 20);
    sal_model_destroy(model);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_model *model = mixed_model(), *clamped = NULL;
    const int64_t variables[] = { 1 };
    const int32_t codes[] = { 1 };
    sal_exact exact;
    sal_error err = { 0 };
    sal_exact_options options = { .oracle = "elimination", .threads = 1 };
    double covariance[100];
    ck_ok(sal_model_clamp(model, 1, variables, codes, &clamped, &err), &err);
    ck_alloc_sweep(sal_model_exact(clamped, &options, &exact, NULL, NULL, covariance, &err),
                   (void)0);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

/* ---- published networks */

typedef struct given_network {
    sal_model *whole, *model; /* without and with its evidence */
    int64_t n, *variables;
    int32_t *codes;
} given_network;

static const char *network_file(const char *name, const char *suffix)
{
    char relative[100];
    snprintf(relative, sizeof relative, "data/uai/%s.%s", name, suffix);
    return test_data(relative);
}

/* False, and said to be skipped, if the files are not there. */
static bool open_network(const char *name, given_network *g)
{
    sal_error err;
    const char *path = network_file(name, "uai");
    if (!path) {
        return false;
    }
    *g = (given_network){ 0 };
    ck_ok(sal_model_open(path, SAL_F64, &g->whole, &err), &err);
    ck_ok(sal_model_evidence(network_file(name, "uai.evid"), g->whole, 0, &g->n, &g->variables,
                             &g->codes, NULL, &err),
          &err);
    ck_ok(sal_model_clamp(g->whole, g->n, g->variables, g->codes, &g->model, &err), &err);
    return true;
}

static void close_network(given_network *g)
{
    sal_model_destroy(g->model);
    sal_model_destroy(g->whole);
    sal_free(g->variables);
    sal_free(g->codes);
}

/* Keep the rows of free variables, in place. */
static void keep_free(const given_network *g, double *rows)
{
    const sal_space *space = sal_model_space(g->whole);
    double *to = rows;
    for (int64_t v = 0; v < sal_space_variables(space); rows += sal_space_states(space, v++)) {
        bool fixed = false;
        for (int64_t k = 0; k < g->n; k++) {
            fixed |= g->variables[k] == v;
        }
        if (!fixed) {
            memmove(to, rows, (size_t)sal_space_states(space, v) * sizeof *to);
            to += sal_space_states(space, v);
        }
    }
}

static void check_network(const char *name)
{
    given_network g;
    if (!open_network(name, &g)) {
        return;
    }
    sal_error err;
    sal_exact exact;
    int64_t R = count_states(g.model), evidence;
    double *got = new_numbers(R), *want = new_numbers(count_states(g.whole)), log_z;
    ck_ok(sali_marginals_read(network_file(name, "mar.json"), sal_model_space(g.whole), want,
                              &log_z, &evidence, &err),
          &err);
    keep_free(&g, want);
    ck_ok(sal_model_exact(g.model, NULL, &exact, got, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, log_z, 1e-12 * fabs(log_z));
    ck_close(R, got, want, 1e-10); /* the files have ten decimals */
    free(got);
    free(want);
    close_network(&g);
}

START_TEST(published_networks_have_their_published_answers)
{
    static const char *const names[] = { "BN_1",     "CSP_12", "Segmentation_11",
                                         "Grids_11", "DBN_11", "ObjectDetection_12" };
    for (int k = 0; k < (TEST_SANITIZED ? 3 : 6); k++) {
        check_network(names[k]);
    }
}
END_TEST

START_TEST(a_published_network_that_is_too_wide_is_refused)
{
    given_network g;
    sal_exact exact;
    sal_error err;
    if (open_network("BN_8", &g)) {
        ck_fails(sal_model_exact(g.model, NULL, &exact, NULL, NULL, NULL, &err),
                 SAL_ERR_UNSUPPORTED, &err, "its induced width is 2");
        ck_assert_msg(strstr(err.message, "GiB of memory, more than the 1 GiB allowed") != NULL,
                      "%s", err.message);
        close_network(&g);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("elimination");
    TCase *tcase = tcase_create("small"), *large = tcase_create("large");
    tcase_add_test(tcase, random_networks_have_enumerations_answers);
    tcase_add_test(tcase, evidence_is_conditioned_on_and_may_be_impossible);
    tcase_add_test(tcase, local_formulas_over_every_kind_are_served_and_others_refused);
    tcase_add_test(tcase, ready_made_models_have_enumerations_answers);
    tcase_add_test(tcase, formulas_of_many_ops_are_read_and_clamped_variables_are_constants);
    tcase_add_test(tcase, probabilities_far_below_the_range_of_doubles_are_kept);
    tcase_add_test(large, cyclic_ising_lattices_have_kaufmans_partition_function);
    tcase_add_test(large, long_open_chains_have_their_closed_form);
    tcase_add_test(tcase, pairs_of_a_chain_decay_with_the_distance);
    tcase_add_test(tcase, widths_of_known_graphs);
    tcase_add_test(tcase, the_cheaper_oracle_answers);
    tcase_add_test(large, same_bits_for_any_number_of_threads);
    tcase_add_test(tcase, allocation_failures_are_reported);
    tcase_add_test(large, published_networks_have_their_published_answers);
    tcase_add_test(large, a_published_network_that_is_too_wide_is_refused);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, large);
    return test_main(suite);
}
