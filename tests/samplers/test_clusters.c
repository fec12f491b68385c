/* SPDX-License-Identifier: MIT */
/* Samplers of clusters: transition matrices against sums over all sets of bonds, from the numbers
 * that a model was made of; draws against exact averages; large graphs; refusals. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "run_helpers.h"
#include "same_runs.h"
#include "samplers/clusters/clusters.h"

#define TOLERANCE 1e-12

/* ---- models by hand: f = sum field_i(s_i) + sum theta_e [s_i = s_j] */

enum { MOST_V = 6, MOST_Q = 4, MOST_E = 8 };

typedef struct by_hand {
    const char *name;
    int n, edges;
    int32_t states[MOST_V];
    int64_t ends[MOST_E][2];
    double theta[MOST_E];
    double field; /* deviation of the fields */
} by_hand;

static const by_hand models[] = {
    { "frustrated spins in fields",
      5,
      6,
      { 2, 2, 2, 2, 2 },
      { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 0, 4 }, { 1, 3 } },
      { 0.9, -0.7, 0.4, 1.3, 0.6, -0.2 },
      0.5 },
    { "spins",
      5,
      5,
      { 2, 2, 2, 2, 2 },
      { { 0, 1 }, { 1, 2 }, { 0, 2 }, { 3, 2 }, { 4, 0 } },
      { 0.9, 0.7, 0.4, 1.3, 0.6 },
      0 },
    { "labels in fields",
      4,
      4,
      { 3, 3, 3, 3 },
      { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 3 } },
      { 0.8, 0.3, 1.1, 0.5 },
      0.6 },
    { "labels", 3, 3, { 4, 4, 4 }, { { 0, 1 }, { 1, 2 }, { 0, 2 } }, { 0.8, 0.3, 1.1 }, 0 },
    { "labels and bits, which add",
      5,
      5,
      { 3, 2, 3, 1, 2 },
      { { 0, 2 }, { 1, 4 }, { 0, 1 }, { 2, 4 }, { 2, 3 } },
      { 0.9, -0.8, 0, 0, 0 },
      0.4 },
};
#define N_MODELS ((int)(sizeof models / sizeof *models))

/* field[i * MOST_Q + k]; and of each edge, what is added to its table and so to the fields. */
static void fill_fields(const by_hand *m, double *field, double *first, double *second)
{
    tiny_normals(31, MOST_V * MOST_Q, m->field, field);
    tiny_normals(32, MOST_E * MOST_Q, m->field, first);
    tiny_normals(33, MOST_E * MOST_Q, m->field, second);
}

/* The fields with all that tables add to them. */
static void sum_fields(const by_hand *m, double *field)
{
    double first[MOST_E * MOST_Q], second[MOST_E * MOST_Q];
    fill_fields(m, field, first, second);
    for (int e = 0; e < m->edges; e++) {
        for (int k = 0; k < MOST_Q; k++) {
            field[m->ends[e][0] * MOST_Q + k] += first[e * MOST_Q + k];
            field[m->ends[e][1] * MOST_Q + k] += second[e * MOST_Q + k];
        }
    }
}

static sal_model *make_model(const by_hand *m, sal_dtype dtype)
{
    double field[MOST_V * MOST_Q], first[MOST_E * MOST_Q], second[MOST_E * MOST_Q];
    double tables[MOST_E * MOST_Q * MOST_Q + MOST_V * MOST_Q];
    int64_t begin[MOST_E + MOST_V + 1] = { 0 }, scope[2 * MOST_E + MOST_V], size = 0, scopes = 0;
    sal_model *model = NULL;
    sal_error err;
    fill_fields(m, field, first, second);
    for (int e = 0; e < m->edges; e++) {
        const int64_t i = m->ends[e][0], j = m->ends[e][1];
        for (int x = 0; x < m->states[i]; x++) {
            for (int y = 0; y < m->states[j]; y++) {
                tables[size++] =
                    first[e * MOST_Q + x] + second[e * MOST_Q + y] + (x == y ? m->theta[e] : 0);
            }
        }
        scope[scopes++] = i;
        scope[scopes++] = j;
        begin[e + 1] = scopes;
    }
    for (int i = 0; i < m->n; i++) {
        for (int x = 0; x < m->states[i]; x++) {
            tables[size++] = field[i * MOST_Q + x];
        }
        scope[scopes++] = i;
        begin[m->edges + i + 1] = scopes;
    }
    ck_ok(sal_model_from_factors(m->n, m->states, m->edges + m->n, begin, scope, tables, dtype,
                                 &model, &err),
          &err);
    return model;
}

/* ---- matrices by sums over sets of bonds */

/* Label the clusters of a set of bonds, by their first variables. */
static void label_clusters(const by_hand *m, uint32_t bonds, int *cluster)
{
    for (int i = 0; i < m->n; i++) {
        cluster[i] = i;
    }
    for (int pass = 0; pass < m->n; pass++) {
        for (int e = 0; e < m->edges; e++) {
            int *a = &cluster[m->ends[e][0]], *b = &cluster[m->ends[e][1]];
            if (bonds >> e & 1) {
                *a = *b = *a < *b ? *a : *b;
            }
        }
    }
}

/* The probability of a set of bonds at a state. */
static double bonds_chance(const by_hand *m, double beta, const int32_t *codes, uint32_t bonds)
{
    double p = 1;
    for (int e = 0; e < m->edges; e++) {
        const bool same = codes[m->ends[e][0]] == codes[m->ends[e][1]];
        const bool satisfied = m->theta[e] > 0 ? same : m->theta[e] < 0 && !same;
        const double open = satisfied ? exp(-beta * fabs(m->theta[e])) : 1;
        p *= bonds >> e & 1 ? 1 - open : open;
    }
    return p;
}

/* The fields of the variables of a cluster, shifted by t; only of those whose code `to` is that if
 * `to` is not NULL, else -inf. */
static double shifted_fields(const by_hand *m, const double *field, const int *cluster, int c,
                             const int32_t *codes, int t, const int32_t *to)
{
    double sum = 0;
    for (int i = 0; i < m->n; i++) {
        const int32_t code = (codes[i] + t) % m->states[i];
        sum += cluster[i] == c ? field[i * MOST_Q + code] : 0;
        sum = to && cluster[i] == c && to[i] != code ? -INFINITY : sum;
    }
    return sum;
}

/* Given the bonds, the probability that all clusters become those of `to`. */
static double sweep_chance(const by_hand *m, const double *field, double beta, const int *cluster,
                           const int32_t *codes, const int32_t *to)
{
    double p = 1;
    for (int c = 0; c < m->n; c++) {
        double all = 0, wanted = 0;
        for (int t = 0; cluster[c] == c && t < m->states[c]; t++) {
            all += exp(beta * shifted_fields(m, field, cluster, c, codes, t, NULL));
            wanted += exp(beta * shifted_fields(m, field, cluster, c, codes, t, to));
        }
        p *= cluster[c] == c ? wanted / all : 1;
    }
    return p;
}

/* Given the bonds, the probability that one cluster becomes that of `to`, which is another state.
 */
static double wolff_chance(const by_hand *m, const double *field, double beta, double stay,
                           const int *cluster, const int32_t *codes, const int32_t *to)
{
    int movable = 0;
    double p = 0;
    for (int i = 0; i < m->n; i++) {
        movable += m->states[i] > 1;
    }
    for (int first = 0; first < m->n; first++) {
        const int c = cluster[first], q = m->states[first];
        for (int t = 1; t < q; t++) {
            double now = shifted_fields(m, field, cluster, c, codes, 0, NULL);
            double then = shifted_fields(m, field, cluster, c, codes, t, to);
            bool others_stay = true;
            for (int i = 0; i < m->n; i++) {
                others_stay &= cluster[i] == c || to[i] == codes[i];
            }
            p += others_stay ? (1 - stay) * fmin(1, exp(beta * (then - now))) / movable / (q - 1)
                             : 0;
        }
    }
    return p;
}

static void check_by_bonds(const by_hand *m, const char *sampler, double beta)
{
    double field[MOST_V * MOST_Q];
    const bool sweep = strcmp(sampler, "swendsen-wang") == 0;
    const sali_sampler_settings settings = { 0 };
    sal_model *model = make_model(m, SAL_F64);
    transition t = transition_make(sali_sampler_find(sampler), model, &settings, beta, 3);
    sum_fields(m, field);
    ck_assert_msg(balance_breach(t.n, t.pi, t.P) < TOLERANCE, "%s: %s: balance", sampler, m->name);
    ck_assert_msg(invariance_breach(t.n, t.pi, t.P) < TOLERANCE, "%s: %s: invariance", sampler,
                  m->name);
    for (int64_t k = 0; k < t.n * t.n; k++) {
        int32_t from[MOST_V], to[MOST_V];
        int cluster[MOST_V];
        double p = 0;
        state_codes(model->space, k / t.n, from);
        state_codes(model->space, k % t.n, to);
        for (uint32_t bonds = 0; bonds < 1u << m->edges; bonds++) {
            const double chance = bonds_chance(m, beta, from, bonds);
            label_clusters(m, bonds, cluster);
            p += chance == 0 ? 0
                 : sweep     ? chance * sweep_chance(m, field, beta, cluster, from, to)
                             : chance * wolff_chance(m, field, beta, t.stay, cluster, from, to);
        }
        ck_assert_msg((k / t.n == k % t.n && !sweep) || fabs(p - t.P[k]) < TOLERANCE,
                      "%s: %s at beta %g: P(%d, %d) is %.15g, by bonds %.15g", sampler, m->name,
                      beta, (int)(k / t.n), (int)(k % t.n), t.P[k], p);
    }
    transition_free(&t);
    sal_model_destroy(model);
}

START_TEST(matrices_are_sums_over_all_sets_of_bonds)
{
    static const double betas[] = { 0.3, 1, 2.5 };
    for (int b = 0; b < 3; b++) {
        check_by_bonds(&models[_i], "swendsen-wang", betas[b]);
        check_by_bonds(&models[_i], "wolff", betas[b]);
    }
}
END_TEST

/* Steps from every state are as often what the matrix says. */
START_TEST(steps_are_drawn_as_the_matrix_says)
{
    static const char *const samplers[] = { "swendsen-wang", "wolff" };
    for (int k = 0; k < 2 * 2; k++) {
        sal_model *model = make_model(&models[_i], k / 2 ? SAL_F32 : SAL_F64);
        const sal_run_options options = { .sampler = samplers[k % 2],
                                          .draws = TEST_CHAINS(4000),
                                          .seed = 5 };
        sal_balance balance;
        sal_error err;
        ck_ok(sal_sampler_balance(model, &options, &balance, NULL, &err), &err);
        ck_assert_msg(balance.frequency < 5, "%s: %s: frequencies are off by %g deviations",
                      samplers[k % 2], models[_i].name, balance.frequency);
        ck_assert_int_eq(balance.unreached, 0);
        sal_model_destroy(model);
    }
}
END_TEST

/* One step of many chains from each state, at an inverse temperature. */
static void check_frequencies(const by_hand *m, const char *name, double beta)
{
    const int64_t each = TEST_CHAINS(2000);
    const sali_sampler *sampler = sali_sampler_find(name);
    const sali_sampler_settings settings = { 0 };
    sal_model *model = make_model(m, SAL_F64);
    transition t = transition_make(sampler, model, &settings, beta, 0);
    bench b = bench_open(sampler, model, &settings, beta, each * t.n, 0);
    double counts[TINY_MOST_STATES * TINY_MOST_STATES] = { 0 };
    sali_sampler_steps(sampler, b.self, b.chains, 1);
    for (int64_t c = 0; c < each * t.n; c++) {
        counts[c % t.n * t.n + state_of(model->space, b.chains->codes + c * m->n)]++;
    }
    for (int64_t i = 0; i < t.n; i++) {
        double expected[TINY_MOST_STATES];
        for (int64_t j = 0; j < t.n; j++) {
            expected[j] = (double)each * t.P[i * t.n + j];
        }
        const double p = chi_square_p((int)t.n, counts + i * t.n, expected);
        ck_assert_msg(p > 1e-6, "%s: %s at beta %g: from state %d p = %g", name, m->name, beta,
                      (int)i, p);
    }
    transition_free(&t);
    bench_close(&b);
    sal_model_destroy(model);
}

START_TEST(steps_at_temperatures_are_drawn_as_the_matrix_says)
{
    check_frequencies(&models[_i], "swendsen-wang", 0.4);
    check_frequencies(&models[_i], "wolff", 0.4);
    check_frequencies(&models[_i], "swendsen-wang", 2);
    check_frequencies(&models[_i], "wolff", 2);
}
END_TEST

static void check_invariance(const contract_case *k)
{
    const bool clusters =
        strcmp(k->sampler->name, "swendsen-wang") == 0 || strcmp(k->sampler->name, "wolff") == 0;
    if (clusters) {
        transition t = transition_make(k->sampler, k->model, &k->settings, k->beta, 0);
        ck_assert_msg(invariance_breach(t.n, t.pi, t.P) < TOLERANCE, "%s", k->where);
        transition_free(&t);
    }
}

/* A fixed neighbour is a field of its own. */
START_TEST(clamped_models_have_fields_of_what_is_fixed)
{
    static const int64_t variable = 1;
    static const int32_t code = 1;
    sal_model *whole = make_model(&models[_i], SAL_F64), *clamped = NULL;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sal_model_clamp(whole, 1, &variable, &code, &clamped, &err), &err);
    ck_ok(sali_sampler_choose("wolff", clamped, 0, &sampler, &settings, &err), &err);
    for_every_sampler(clamped, clamped, "clamped", check_invariance);
    for_every_sampler(clamped, clamped, "clamped, at the other temperature", check_invariance);
    sal_model_destroy(clamped);
    sal_model_destroy(whole);
}
END_TEST

/* ---- the graph of a model */

static void check_value(const sal_model *model, double tolerance, const char *where)
{
    sali_couplings *couplings = NULL;
    sali_cluster_graph graph;
    const char *why;
    double f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    sal_error err;
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &couplings, &err), &err);
    ck_ok(sali_cluster_graph_read(model, couplings, &graph, &why, &err), &err);
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        int32_t codes[TINY_MOST_REALS];
        state_codes(model->space, i, codes);
        const double value = sali_cluster_graph_value(&graph, codes);
        ck_assert_msg(fabs(value - f[i]) < tolerance, "%s: f is %.15g, by the graph %.15g", where,
                      f[i], value);
    }
    sali_cluster_graph_free(&graph);
    sali_couplings_destroy(couplings);
}

START_TEST(graph_gives_f)
{
    static const char *const ready[] = { "ising:side=2,theta=0.3,bias=0.2",
                                         "max-cut:nodes=4,degree=2.5,weights=normal,seed=2",
                                         "ising-dense:dim=6,scale=0.5",
                                         "potts:side=2,states=3,theta=0.7,cyclic=0",
                                         "potts:side=2,states=2,theta=-0.7" };
    for (size_t k = 0; k < sizeof ready / sizeof *ready; k++) {
        for (int type = 0; type < 2; type++) {
            sal_model *model = NULL;
            sal_error err;
            ck_ok(sal_model_open(ready[k], type ? SAL_F32 : SAL_F64, &model, &err), &err);
            check_value(model, type ? 1e-4 : TOLERANCE, ready[k]);
            sal_model_destroy(model);
        }
    }
    for (int k = 0; k < N_MODELS; k++) {
        sal_model *model = make_model(&models[k], SAL_F64);
        check_value(model, TOLERANCE, models[k].name);
        sal_model_destroy(model);
    }
}
END_TEST

static bool satisfiable(const char *specification)
{
    sali_couplings *couplings = NULL;
    sali_cluster_graph graph;
    const char *why;
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    ck_ok(sali_couplings_create(model, SALI_BIT_COUPLINGS, &couplings, &err), &err);
    ck_ok(sali_cluster_graph_read(model, couplings, &graph, &why, &err), &err);
    const bool result = sali_cluster_graph_is_satisfiable(&graph);
    sali_cluster_graph_free(&graph);
    sali_couplings_destroy(couplings);
    sal_model_destroy(model);
    return result;
}

START_TEST(frustration_is_seen)
{
    ck_assert(satisfiable("ising:side=4,theta=0.3,bias=0.1"));
    ck_assert(satisfiable("ising:side=4,theta=-0.3"));  /* a chessboard */
    ck_assert(!satisfiable("ising:side=5,theta=-0.3")); /* an odd ring */
    ck_assert(!satisfiable("ising-dense:dim=8"));
    ck_assert(satisfiable("potts:side=3,theta=0.3"));
}
END_TEST

/* ---- refusals */

static void check_refused(sal_model *model, const char *why)
{
    static const char *const samplers[] = { "swendsen-wang", "wolff" };
    for (int k = 0; k < 2; k++) {
        const sal_run_options options = { .sampler = samplers[k], .draws = 2 };
        run_refused(model, &options, SAL_ERR_UNSUPPORTED, why);
    }
    sal_model_destroy(model);
}

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* Two variables with a table. */
static sal_model *pair_model(int32_t p, int32_t q, const double *table)
{
    const int32_t states[] = { p, q };
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(2, states, 1, begin, scope, table, SAL_F64, &model, &err), &err);
    return model;
}

START_TEST(what_clusters_cannot_serve_is_refused)
{
    const double bent[9] = { 1, 0, 0, 0, 1, 0.5, 0, 0, 1 };
    const double forbidden[4] = { 0, -INFINITY, 0, 0 };
    check_refused(opened("rbm:visible=4,hidden=3"), "a sum of terms of one and two variables");
    check_refused(opened("potts:side=3,theta=-0.2"), "theta of 0 or more");
    check_refused(opened("ordinal-poly2:dim=2,levels=4"), "ordinal variables of two levels");
    check_refused(opened("poisson:dim=3"), "does not move counts");
    check_refused(pair_model(3, 3, bent), "Potts form");
    check_refused(opened("potts-dense:dim=30"), "Potts form");
    check_refused(pair_model(2, 2, forbidden), "tables forbid states");
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    const int64_t triple[] = { 0, 1, 2 }, begin[] = { 0, 3 };
    const double table[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
    sal_model *model = NULL;
    sal_error err;
    sal_expr f = sal_table(tape, sal_constant(tape, table, SAL_SHAPE(8)), 1, begin, triple);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    check_refused(model, "f has larger ones");
}
END_TEST

/* A parameter that becomes what clusters cannot serve ends the steps with the reason. */
START_TEST(parameters_are_read_again)
{
    const sali_sampler_settings settings = { 0 };
    const double other = 0.9, wrong = -0.4;
    sal_error err;
    for (int k = 0; k < 2; k++) {
        const sali_sampler *sampler = sali_sampler_find(k ? "wolff" : "swendsen-wang");
        sal_model *model = opened("potts:side=2,states=3,theta=0.3");
        bench b = bench_open(sampler, model, &settings, 1, states_count(model->space), 0);
        ck_ok(sal_model_set_params(model, "theta", &other, &err), &err);
        sali_bench_start(&b);
        transition t = transition_of(&b);
        ck_assert(invariance_breach(t.n, t.pi, t.P) < TOLERANCE);
        transition_free(&t);
        ck_ok(sal_model_set_params(model, "theta", &wrong, &err), &err);
        sali_bench_start(&b);
        sali_sampler_steps(sampler, b.self, b.chains, 3);
        ck_fails(sali_chains_report(b.chains, sampler, 0, &err), SAL_ERR_ARGUMENT, &err,
                 "theta of 0 or more");
        bench_close(&b);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- draws */

/* Means over independent chains against those of all states. */
static void check_means(const char *specification, const char *sampler)
{
    enum { CHAINS = 64, DRAWS = 250 };
    sal_model *model = opened(specification);
    const int64_t V = model->space->n_variables, n = states_count(model->space);
    const sal_run_options options = { .sampler = sampler,
                                      .chains = CHAINS,
                                      .draws = DRAWS,
                                      .warmup = 200,
                                      .seed = 11,
                                      .record.draws = true };
    double total = 0, mean[2] = { 0 }, sum[2] = { 0 }, square[2] = { 0 };
    int32_t *codes = malloc((size_t)(n * V) * sizeof *codes);
    double *f = malloc((size_t)n * sizeof *f);
    sal_error err;
    for (int64_t i = 0; i < n; i++) {
        state_codes(model->space, i, codes + i * V);
    }
    ck_ok(sal_model_evaluate(model, n, codes, f, NULL, NULL, &err), &err);
    for (int64_t i = 0; i < n; i++) {
        total += exp(f[i]);
        mean[0] += exp(f[i]) * f[i];
        mean[1] += exp(f[i]) * (codes[i * V] == codes[i * V + V / 2]);
    }
    sal_run *run = run_it(model, &options);
    const sali_draw_record *record = sali_run_record(run);
    for (int64_t c = 0; c < CHAINS; c++) {
        double of_chain[2] = { 0 };
        for (int64_t d = 0; d < DRAWS; d++) {
            const uint8_t *state = (const uint8_t *)record->draws + (c * DRAWS + d) * V;
            of_chain[0] += record->log_prob[c * DRAWS + d] / DRAWS;
            of_chain[1] += (double)(state[0] == state[V / 2]) / DRAWS;
        }
        for (int k = 0; k < 2; k++) {
            sum[k] += of_chain[k] / CHAINS;
            square[k] += of_chain[k] * of_chain[k] / CHAINS;
        }
    }
    for (int k = 0; k < 2; k++) {
        const double error = sqrt((square[k] - sum[k] * sum[k]) / (CHAINS - 1));
        ck_assert_msg(fabs(sum[k] - mean[k] / total) < 5 * error, "%s, %s: mean %d is %g, not %g",
                      specification, sampler, k, sum[k], mean[k] / total);
    }
    sal_run_destroy(run);
    free(codes);
    free(f);
    sal_model_destroy(model);
}

START_TEST(averages_of_runs_are_exact)
{
    static const char *const ready[] = { "ising:side=3,theta=0.25,bias=0.1",
                                         "ising:side=4,theta=0.22,cyclic=0",
                                         "potts:side=3,states=3,theta=0.35",
                                         "ising-dense:dim=10,scale=0.3" };
    check_means(ready[_i / 2], _i % 2 ? "wolff" : "swendsen-wang");
}
END_TEST

START_TEST(f_is_current_and_threads_do_not_matter)
{
    static const char *const samplers[] = { "swendsen-wang", "wolff" };
    for (int k = 0; k < 4; k++) {
        sal_model *model =
            opened(k / 2 ? "potts:side=6,states=3,theta=0.4" : "ising:side=9,theta=0.2,bias=0.01");
        sal_run_options options = { .sampler = samplers[k % 2],
                                    .chains = 70,
                                    .draws = 40,
                                    .threads = 1,
                                    .seed = 3,
                                    .thin = 3,
                                    .record.draws = true };
        sal_error err;
        sal_run *one = run_it(model, &options);
        options.threads = 3;
        sal_run *three = run_it(model, &options);
        same_runs(samplers[k % 2], one, three);
        const int64_t V = model->space->n_variables;
        int32_t *last = malloc((size_t)(70 * V) * sizeof *last);
        double f[70];
        ck_ok(sal_run_last(one, last, &err), &err);
        ck_ok(sal_model_evaluate(model, 70, last, f, NULL, NULL, &err), &err);
        for (int64_t c = 0; c < 70; c++) {
            const double kept = sali_run_record(one)->log_prob[c * 40 + 39];
            ck_assert_double_eq_tol(kept, f[c], 1e-9 * (1 + fabs(f[c])));
        }
        free(last);
        sal_run_destroy(one);
        sal_run_destroy(three);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(resumed_runs_have_the_same_bits)
{
    static const int64_t at[] = { 26, 151 };
    static const char *const samplers[] = { "swendsen-wang", "wolff" };
    for (int k = 0; k < 2; k++) {
        sal_model *model = opened("ising:side=6,theta=0.2,bias=0.05");
        const sal_run_options options = {
            .sampler = samplers[k], .chains = 40, .draws = 60, .warmup = 50, .seed = 2, .thin = 4
        };
        check_stops(samplers[k], model, options, 2, at, 2);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- advice */

static void check_advice(sal_model *model, const char *sampler, bool expected)
{
    const sal_run_options options = { .sampler = sampler, .warmup = 50, .draws = 50 };
    char text[SAL_WARNING_SIZE];
    sal_run *run = run_it(model, &options);
    const sal_run_summary s = summary_of(run);
    sal_run_warning(&s, text, sizeof text);
    ck_assert_int_eq(s.clusters, expected);
    ck_assert_msg((strstr(text, "Try --sampler swendsen-wang or wolff") != NULL) == expected, "%s",
                  text);
    sal_run_destroy(run);
    sal_model_destroy(model);
}

/* Only where chains disagree, there is no oracle, and edges do not contradict each other. */
START_TEST(runs_that_have_not_mixed_are_told_of_clusters)
{
    check_advice(opened("ising:side=40,theta=0.25"), "gibbs", true);
    check_advice(opened("ising:side=40,theta=-0.25"), "gwg", true);
    check_advice(opened("potts:side=40,theta=0.6"), "gibbs", true);
    check_advice(opened("ising:side=40,theta=0.25"), "wolff", false);
    check_advice(opened("ising-dense:dim=300,scale=0.5"), "gibbs", false); /* contradicts */
    check_advice(opened("bernoulli:dim=40"), "gibbs", false);              /* mixes */
    check_advice(opened("ising:side=8,theta=0.3"), "gibbs", false);        /* an oracle serves */
    check_advice(opened("rbm:visible=300,hidden=100,scale=1"), "gibbs", false);
}
END_TEST

/* ---- graphs of more edges and variables than random words are made for at once */

enum { RING = 9000 };

/* A ring of spins with couplings K. */
static sal_model *ring_model(double K)
{
    int64_t *pairs = malloc(2 * RING * sizeof *pairs);
    double *weights = malloc(RING * sizeof *weights);
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "s", .kind = SAL_SPIN, .count = RING };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    for (int64_t i = 0; i < RING; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = (i + 1) % RING;
        weights[i] = i % 3 ? K : -K;
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr w = sal_constant(tape, weights, SAL_SHAPE(RING));
    ck_ok(sal_model_from_tape(tape, sal_edges(sal_state(tape), w, RING, pairs), &model, &err),
          &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    free(pairs);
    free(weights);
    return model;
}

/* One step of Swendsen-Wang on a ring from a state where all edges are satisfied leaves each of
 * them satisfied with probability 1 - exp(-2 K) / 2, all but independently. */
START_TEST(all_edges_of_a_large_graph_get_their_chance)
{
    const double K = 0.6, p = 1 - exp(-2 * K) / 2;
    enum { PARTS = 9, CHAINS = 40 };
    const sali_sampler_settings settings = { 0 };
    double satisfied[PARTS] = { 0 }, up[PARTS] = { 0 };
    sal_model *model = ring_model(K);
    bench b = bench_open(sali_sampler_find("swendsen-wang"), model, &settings, 1, 1, 0);
    for (uint64_t c = 0; c < CHAINS; c++) {
        int32_t *codes = b.chains->codes;
        for (int64_t i = 0; i < RING; i++) { /* 0 1 1 1 0 0 0 1 1 1 .. */
            codes[i] = (int32_t)((i + 2) / 3 % 2);
        }
        b.chains->id[0] = (uint32_t)c;
        sali_bench_start(&b);
        sali_sampler_steps(b.sampler, b.self, b.chains, 1);
        for (int64_t i = 0; i < RING; i++) {
            const bool same = codes[i] == codes[(i + 1) % RING];
            satisfied[i * PARTS / RING] += same == (i % 3 > 0);
            up[i * PARTS / RING] += codes[i];
        }
    }
    const double count = (double)RING / PARTS * CHAINS;
    for (int k = 0; k < PARTS; k++) {
        ck_assert_double_eq_tol(satisfied[k] / count, p, 5 * sqrt(p * (1 - p) / count));
        ck_assert_double_eq_tol(up[k] / count, 0.5, 0.05);
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

/* Far below any temperature of order one cluster is the whole lattice. */
START_TEST(cold_clusters_span_the_lattice)
{
    static const char *const samplers[] = { "swendsen-wang", "wolff" };
    const sali_sampler_settings settings = { 0 };
    sal_model *model = opened("ising:side=400,theta=10"); /* 160,000 spins */
    const int64_t V = model->space->n_variables;
    for (int k = 0; k < 2; k++) {
        bench b = bench_open(sali_sampler_find(samplers[k]), model, &settings, 1, 1, 0);
        memset(b.chains->codes, 0, (size_t)V * sizeof(int32_t));
        sali_bench_start(&b);
        int flips = 0;
        for (int step = 0; step < 12; step++) {
            const int32_t before = b.chains->codes[0];
            sali_sampler_steps(b.sampler, b.self, b.chains, 1);
            for (int64_t i = 1; i < V; i++) {
                ck_assert_int_eq(b.chains->codes[i], b.chains->codes[0]);
            }
            flips += b.chains->codes[0] != before;
        }
        ck_assert_msg(flips >= (k ? 10 : 2), "%s: %d flips", samplers[k], flips);
        bench_close(&b);
    }
    sal_model_destroy(model);
}
END_TEST

/* Without couplings every variable is a cluster, and gets a bit of its own. */
START_TEST(hot_clusters_are_single_variables)
{
    const sali_sampler_settings settings = { 0 };
    sal_model *model = opened("ising:side=400,theta=0");
    const int64_t V = model->space->n_variables;
    double sum[16] = { 0 };
    bench b = bench_open(sali_sampler_find("swendsen-wang"), model, &settings, 1, 1, 0);
    sali_sampler_steps(b.sampler, b.self, b.chains, 1);
    for (int64_t i = 0; i < V; i++) {
        sum[i * 16 / V] += b.chains->codes[i];
    }
    for (int k = 0; k < 16; k++) {
        ck_assert_double_eq_tol(sum[k] * 16 / (double)V, 0.5, 5 * 0.5 * sqrt(16 / (double)V));
    }
    bench_close(&b);
    sal_model_destroy(model);
}
END_TEST

static Suite *clusters_suite(void)
{
    Suite *suite = suite_create("clusters");
    TCase *tcase = tcase_create("graphs");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, graph_gives_f);
    tcase_add_test(tcase, frustration_is_seen);
    tcase_add_test(tcase, what_clusters_cannot_serve_is_refused);
    tcase_add_test(tcase, parameters_are_read_again);
    tcase_add_test(tcase, f_is_current_and_threads_do_not_matter);
    tcase_add_test(tcase, resumed_runs_have_the_same_bits);
    tcase_add_test(tcase, runs_that_have_not_mixed_are_told_of_clusters);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("matrices");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, matrices_are_sums_over_all_sets_of_bonds, 0, N_MODELS);
    tcase_add_loop_test(tcase, steps_are_drawn_as_the_matrix_says, 0, N_MODELS);
    tcase_add_loop_test(tcase, steps_at_temperatures_are_drawn_as_the_matrix_says, 0, N_MODELS);
    tcase_add_loop_test(tcase, clamped_models_have_fields_of_what_is_fixed, 0, N_MODELS);
    tcase_add_loop_test(tcase, averages_of_runs_are_exact, 0, 8);
    tcase_add_test(tcase, all_edges_of_a_large_graph_get_their_chance);
    tcase_add_test(tcase, cold_clusters_span_the_lattice);
    tcase_add_test(tcase, hot_clusters_are_single_variables);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(clusters_suite());
}
