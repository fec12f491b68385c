/* SPDX-License-Identifier: MIT */
/* Samplers of whole blocks: pieces are exact joint conditionals, graphs have all that interacts,
 * and what cannot be done is refused. (Balance, steps and caches: with all other samplers.) */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "models/zoo/fhmm.h"
#include "models/structure.h"
#include "models/structure/interactions.h"
#include "samplers/blocks/colour_classes.h"
#include "transition.h"

#define TOLERANCE 1e-12

/* ---- pieces */

/* Probability of j given all variables of state i but those that move[v]. */
static void check_conditional(const transition *t, const sal_space *space, const bool *move,
                              const char *where)
{
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    for (int64_t i = 0; i < t->n; i++) {
        double expected[TINY_MOST_STATES], sum = 0;
        state_codes(space, i, from);
        for (int64_t j = 0; j < t->n; j++) {
            bool reached = true;
            state_codes(space, j, to);
            for (int64_t v = 0; v < space->n_variables; v++) {
                reached &= move[v] || from[v] == to[v];
            }
            expected[j] = reached ? t->pi[j] : 0;
            sum += expected[j];
        }
        for (int64_t j = 0; t->pi[i] > 0 && j < t->n; j++) {
            ck_assert_msg(fabs(t->P[i * t->n + j] - expected[j] / sum) < TOLERANCE,
                          "%s: from %d to %d: %.15g, expected %.15g", where, (int)i, (int)j,
                          t->P[i * t->n + j], expected[j] / sum);
        }
    }
}

/* Each piece of the sweep of a sampler is the joint conditional of the variables whose label it
 * is, at any temperature. */
static void check_pieces(const char *specification, const sal_model *model, int64_t pieces,
                         const int64_t *label)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    sal_error err;
    ck_ok(sali_sampler_choose(specification, model, 0, &sampler, &settings, &err), &err);
    ck_assert_int_eq(pieces_of(sampler, model, &settings), pieces);
    for (int64_t piece = 0; piece < pieces; piece++) {
        for (int hot = 0; hot < 2; hot++) {
            bool move[TINY_MOST_REALS];
            for (int64_t v = 0; v < model->space->n_variables; v++) {
                move[v] = label[v] == piece;
            }
            transition t =
                transition_make(sampler, model, &settings, hot ? 0.4 : 1, (uint64_t)piece);
            check_conditional(&t, model->space, move, specification);
            transition_free(&t);
        }
    }
}

static sal_model *builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

START_TEST(pieces_are_joint_conditionals)
{
    static const int64_t factors[] = { 0, 1, 0, 1, 0, 1 }, slices[] = { 0, 0, 1, 1, 2, 2 };
    static const int64_t halves[] = { 0, 0, 0, 0, 1, 1 };
    static const int64_t checkers[] = { 0, 1, 0, 1, 0, 1, 0 };
    sal_model *fhmm = builtin("fhmm:length=3,factors=2,sigma=0.8,p=0.7,v=0.3,seed=5");
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_space *small = tiny_space_make(tiny_space_named("factors"));
    sal_model *formula = tiny_formula(small, SAL_F64), *tables = tiny_tables(small, SAL_F64);
    check_pieces("block-gibbs", fhmm, 2, factors);
    check_pieces("gibbs:block=4", fhmm, 2, halves);
    check_pieces("hamming-ball:radius=2,blocks=model", fhmm, 3, slices); /* the ball is the slice */
    check_pieces("gibbs:block=4", formula, 2, halves);
    check_pieces("gibbs:block=2", tables, 3, slices);
    check_pieces("block-gibbs", tables, 2, checkers);
    sal_model_destroy(formula);
    sal_model_destroy(tables);
    sal_model_destroy(fhmm);
    sal_space_destroy(space);
    sal_space_destroy(small);
}
END_TEST

/* A callback has no tape: its states are evaluated in batches, here more than one holds. */
START_TEST(blocks_of_a_callback_are_joint_conditionals)
{
    static const int64_t first[] = { 0, 0, 0, 0, 0, 1, 1 };
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_callback(space, SAL_F64);
    check_pieces("gibbs:block=5", model, 2, first);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- the RBM's layers */

/* p(v -> v') = sum_h p(h | v) p(v' | h), with the units' probabilities written out. */
static double layer_move(const double *W, const double *b, const double *c, int32_t v, int32_t to,
                         double beta)
{
    double sum = 0;
    for (int32_t h = 0; h < 8; h++) {
        double p = 1;
        for (int k = 0; k < 3; k++) {
            double odds = c[k];
            for (int i = 0; i < 4; i++) {
                odds += W[k * 4 + i] * (v >> (3 - i) & 1);
            }
            double one = 1 / (1 + exp(-beta * odds));
            p *= h >> k & 1 ? one : 1 - one;
        }
        for (int i = 0; i < 4; i++) {
            double odds = b[i];
            for (int k = 0; k < 3; k++) {
                odds += W[k * 4 + i] * (h >> k & 1);
            }
            double one = 1 / (1 + exp(-beta * odds));
            p *= to >> (3 - i) & 1 ? one : 1 - one;
        }
        sum += p;
    }
    return sum;
}

START_TEST(layers_are_drawn_given_each_other)
{
    sal_model *model = tiny_builtin(0, SAL_F64);
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    double W[12], b[4], c[3];
    sal_error err;
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    ck_ok(sal_model_get_params(model, "b", b, &err), &err);
    ck_ok(sal_model_get_params(model, "c", c, &err), &err);
    for (int hot = 0; hot < 2; hot++) {
        double beta = hot ? 0.6 : 1;
        transition t = transition_make(sampler, model, &settings, beta, 0);
        for (int32_t i = 0; i < 16; i++) {
            for (int32_t j = 0; j < 16; j++) {
                ck_assert_double_eq_tol(exp(t.log_q[i * 16 + j]), layer_move(W, b, c, i, j, beta),
                                        TOLERANCE);
            }
        }
        transition_free(&t);
    }
    sal_model_destroy(model);
}
END_TEST

/* New parameters hold from the next step on. */
START_TEST(layers_follow_new_parameters)
{
    sal_model *model = tiny_builtin(0, SAL_F64);
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    double W[12] = { 0 }, b[4] = { 40, -40, 40, -40 }, c[3] = { 0 };
    sal_error err;
    bench shard = bench_open(sampler, model, &settings, 1, 16, 0);
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    sali_engine(sampler)->refresh(shard.self, shard.chains);
    sali_engine(sampler)->step(shard.self, shard.chains);
    for (int v = 0; v < 4; v++) {
        ck_assert_int_eq(shard.chains->codes[v], v % 2 == 0);
    }
    bench_close(&shard);
    sal_model_destroy(model);
}
END_TEST

/* Steps beside a rest that is far from linear: their states are those of exp(f), by chi-square.
 * (The matrices of the contract tests do not see what a step makes of its ratio.) */
static void check_distribution(double scale, double beta)
{
    enum { CHAINS = 64, STEPS = 4000, APART = 4, STATES = 16 };
    sal_model *model = builtin("mlp:visible=4,hidden=6,layers=1,units=2");
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    double p[STATES], counts[STATES] = { 0 }, chi_square = 0, total = 0, net[128];
    int32_t codes[STATES * 4];
    sal_error err;
    ck_assert_int_le(sal_model_parameters_size(model), 128);
    tiny_normals(9, sal_model_parameters_size(model), scale, net);
    ck_ok(sal_model_set_params(model, NULL, net, &err), &err);
    for (int i = 0; i < STATES; i++) {
        state_codes(model->space, i, codes + 4 * i);
    }
    ck_ok(sal_model_evaluate(model, STATES, codes, p, NULL, NULL, &err), &err);
    for (int i = 0; i < STATES; i++) {
        p[i] = exp(beta * p[i]);
        total += p[i];
    }
    bench shard = bench_open(sampler, model, &settings, beta, CHAINS, 0);
    for (int step = -100; step < STEPS; step++) {
        sali_engine(sampler)->step(shard.self, shard.chains);
        for (int c = 0; step >= 0 && step % APART == 0 && c < CHAINS; c++) {
            const int32_t *x = shard.chains->codes + 4 * c;
            int at = 0;
            while (memcmp(codes + 4 * at, x, 4 * sizeof *x) != 0) {
                at++;
            }
            counts[at]++;
        }
    }
    for (int i = 0; i < STATES; i++) {
        const double expected = p[i] / total * CHAINS * STEPS / APART;
        chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    /* draws are nearly independent; the .9999 quantile is 44.3 with 15 degrees of freedom */
    ck_assert_msg(chi_square < 60, "chi-square %g with 15 degrees of freedom", chi_square);
    bench_close(&shard);
    sal_model_destroy(model);
}

START_TEST(steps_beside_a_rest_keep_the_distribution)
{
    check_distribution(2, 0.3);
    check_distribution(1, 1);
}
END_TEST

/* Beside a rest that parameters leave out, as before a net's training, draws are exact: steps
 * at once, and a refresh that steps follow, leave the bits of one step after another, with f of the
 * last states. */
START_TEST(steps_at_once_beside_a_rest_that_is_0)
{
    enum { CHAINS = 7, STEPS = 700, V = 4 };
    sal_model *model = builtin("mlp:visible=4,hidden=6,layers=1,units=2");
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    const double last[6] = { 0 }; /* of the net's last layer */
    double f[CHAINS], W[2 * V], stayed = 0;
    sal_error err;
    tiny_normals(3, 2 * V, 1, W);
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    ck_ok(sal_model_set_params(model, "net.2.weight", last, &err), &err);
    ck_assert(!sali_structure_is_whole(model));
    bench one = bench_open(sampler, model, &settings, 1, CHAINS, 0);
    bench all = bench_open(sampler, model, &settings, 1, CHAINS, 0);
    sali_sampler_go(sampler, all.self, all.chains, STEPS);
    for (int step = 0; step < STEPS; step++) {
        sali_engine(sampler)->step(one.self, one.chains);
        for (int c = 0; c < CHAINS; c++) {
            stayed += !one.chains->accepted[c];
        }
    }
    ck_assert_mem_eq(one.chains->codes, all.chains->codes, CHAINS * V * sizeof(int32_t));
    ck_assert_mem_eq(one.chains->f, all.chains->f, sizeof f);
    ck_ok(sal_model_evaluate(model, CHAINS, all.chains->codes, f, NULL, NULL, &err), &err);
    ck_assert_mem_eq(all.chains->f, f, sizeof f);
    for (int c = 0; c < CHAINS; c++) {
        ck_assert_double_eq(all.chains->acceptance_sum[c], STEPS);
        ck_assert_double_eq(all.chains->jump_sum[c], one.chains->jump_sum[c]);
    }
    /* by the probability of staying only */
    ck_assert_double_eq_tol(stayed / (CHAINS * STEPS), one.chains->stay, 0.02);
    bench_close(&one);
    bench_close(&all);
    sal_model_destroy(model);
}
END_TEST

/* ---- interactions */

static bool are_neighbours(const sali_interactions *graph, int64_t i, int64_t j)
{
    bool found = false;
    for (int64_t k = graph->begin[i]; k < graph->begin[i + 1]; k++) {
        found |= graph->neighbour[k] == j;
    }
    return found;
}

/* f(s with both moved) - f(s with i moved) - f(s with j moved) + f(s), for the moves to other codes
 * of random states: 0 unless i and j are neighbours, and not always 0 if they are. */
static void check_graph(const sal_model *model, const char *where)
{
    const sal_space *space = model->space;
    int64_t V = space->n_variables;
    sali_interactions graph;
    bool known;
    sal_error err;
    ck_ok(sali_interactions_create(model, &graph, &known, &err), &err);
    ck_assert_msg(known, "%s: no graph", where);
    for (int64_t i = 0; i < V; i++) {
        for (int64_t j = 0; j < i; j++) {
            double largest = 0;
            for (uint64_t trial = 0; trial < 20; trial++) {
                int32_t codes[4 * 64];
                double f[4];
                sali_stream stream = { .seed = trial, .purpose = SALI_RNG_TEST };
                for (int64_t k = 0; k < 4; k++) {
                    sali_stream same = stream;
                    for (int64_t v = 0; v < V; v++) {
                        int32_t states = space->variables[v].states;
                        codes[k * V + v] =
                            (int32_t)sali_rng_below(&same, (uint32_t)v, (uint32_t)states);
                        bool moves = (v == i && k & 1) || (v == j && k & 2);
                        codes[k * V + v] = (codes[k * V + v] + moves) % states;
                    }
                }
                ck_ok(sal_model_evaluate(model, 4, codes, f, NULL, NULL, &err), &err);
                largest = fmax(largest, fabs(f[3] - f[1] - f[2] + f[0]));
            }
            bool listed = are_neighbours(&graph, i, j);
            ck_assert_msg(listed == are_neighbours(&graph, j, i), "%s: not symmetric", where);
            ck_assert_msg(listed == (largest > 1e-9), "%s: %d and %d: %s, interaction %g", where,
                          (int)i, (int)j, listed ? "neighbours" : "apart", largest);
        }
    }
    sali_interactions_free(&graph);
}

/* A sum over windows of three variables, as a product, a square and a softplus of their weighted
 * sum; a dot product of parts of the state; a quadratic form with zeros. */
static sal_model *windows(const sal_space *space)
{
    enum { N = 8 };
    double W[3 * N] = { [0] = 1, [1] = -1.5, [N + 2] = 1.1, [N + 4] = 0.4, [2 * N + 5] = 0.7 };
    double J[N * N] = { [3] = 0.6, [6 * N + 7] = -0.8 }, w[1] = { 0.9 };
    static const int64_t pair[] = { 0, 6 };
    sal_model *model = NULL;
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr h = sal_matvec(sal_constant(tape, W, SAL_SHAPE(3, N)), s);
    sal_expr ends = sal_dot(sal_slice(s, 0, 0, 2), sal_slice(s, 0, 4, 2));
    sal_expr f = sal_add(sal_sum(sal_softplus(h)), sal_scale(sal_sum(sal_square(h)), 0.3));
    f = sal_add(f,
                sal_add(sal_scale(ends, 1.3), sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N)))));
    f = sal_sub(f, sal_edges(s, sal_constant(tape, w, SAL_SHAPE(1)), 1, pair));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Choices by conditions that vary: each operand interacts with the condition, and not with the
 * other operand; a condition of parameters alone joins nothing; and a condition alone decides
 * between two numbers. */
static sal_model *choices(const sal_space *space)
{
    const double one = 1.5, two = -0.4, w[] = { 0.7, -0.9 };
    sal_model *model = NULL;
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), bit[8];
    for (int k = 0; k < 8; k++) {
        bit[k] = sal_slice(s, 0, k, 1);
    }
    sal_expr by_state = sal_where(bit[0], sal_sin(sal_scale(bit[1], 2)), sal_exp(bit[2]));
    sal_expr by_number = sal_where(sal_constant(tape, &one, SAL_SHAPE(1)), bit[3], bit[4]);
    sal_expr numbers = sal_where(bit[5], sal_constant(tape, &one, SAL_SHAPE(1)),
                                 sal_constant(tape, &two, SAL_SHAPE(1)));
    sal_expr by_two = sal_where(sal_sub(bit[5], bit[6]), sal_constant(tape, &w[0], SAL_SHAPE(1)),
                                sal_scale(bit[7], w[1]));
    sal_expr f = sal_add(sal_add(by_state, by_number), sal_add(numbers, by_two));
    ck_ok(sal_model_from_tape(tape, sal_sum(f), &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

START_TEST(graphs_have_exactly_what_interacts)
{
    static const char *const specifications[] = { "ising:side=4", "ising:side=3,cyclic=0",
                                                  "fhmm:length=4,factors=3", NULL };
    sal_space *space = sal_space_create();
    sal_block block = { .name = "s", .kind = SAL_BINARY, .count = 8 };
    sal_error err;
    for (int k = 0; specifications[k]; k++) {
        sal_model *model = builtin(specifications[k]);
        check_graph(model, specifications[k]);
        sal_model_destroy(model);
    }
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_model *model = windows(space);
    check_graph(model, "windows");
    sal_model_destroy(model);
    model = choices(space);
    check_graph(model, "choices");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(graphs_of_clamped_models_have_the_free_variables)
{
    static const int64_t fixed[] = { 5, 0, 9 };
    static const int32_t codes[] = { 1, 0, 1 };
    sal_model *model = builtin("ising:side=4"), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 3, fixed, codes, &clamped, &err), &err);
    check_graph(clamped, "clamped");
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(an_even_lattice_is_a_checkerboard)
{
    sal_model *model = builtin("ising:side=6");
    sali_blocks classes;
    const char *why;
    sal_error err;
    ck_ok(sali_colour_classes(model, &classes, &why, &err), &err);
    ck_assert_ptr_null(why);
    ck_assert_int_eq(classes.n, 2);
    ck_assert_int_eq(classes.begin[1], 18);
    for (int64_t k = 0; k < 18; k++) {
        ck_assert_int_eq((classes.sites[k] / 6 + classes.sites[k] % 6) % 2, 0);
    }
    sali_blocks_free(&classes);
    sal_model_destroy(model);
}
END_TEST

/* ---- refusals */

static void check_refused(const char *model_specification, const char *sampler, sal_status status,
                          const char *text)
{
    sal_model *model = builtin(model_specification);
    sal_run *run = NULL;
    sal_error err;
    ck_fails(
        sal_sample(model,
                   &(sal_run_options){ .sampler = sampler, .chains = 2, .warmup = 1, .draws = 1 },
                   &run, &err),
        status, &err, text);
    sal_model_destroy(model);
}

START_TEST(what_cannot_be_done_is_refused)
{
    check_refused("ising-dense:dim=6", "block-gibbs", SAL_ERR_UNSUPPORTED, "gibbs");
    check_refused("usps-conv", "block-gibbs", SAL_ERR_UNSUPPORTED, "few variables");
    check_refused("ising:side=6", "gibbs:block=36", SAL_ERR_ARGUMENT, "6.872e+10 joint states");
    check_refused("ising:side=20", "hamming-ball:block=400,radius=3", SAL_ERR_ARGUMENT,
                  "smaller radius");
    check_refused("ising:side=6", "hamming-ball:blocks=model", SAL_ERR_UNSUPPORTED,
                  "blocks=consecutive");
}
END_TEST

/* Blocks and radii larger than the space are the space. */
START_TEST(sizes_beyond_the_space_are_cut)
{
    sal_model *model = builtin("ising:side=2");
    static const int64_t all[] = { 0, 0, 0, 0 };
    check_pieces("gibbs:block=100", model, 1, all);
    check_pieces("hamming-ball:block=70,radius=70", model, 1, all);
    sal_model_destroy(model);
}
END_TEST

static Suite *block_samplers_suite(void)
{
    Suite *suite = suite_create("block_samplers");
    TCase *tcase = tcase_create("blocks");
    tcase_set_timeout(tcase, 240);
    tcase_add_test(tcase, pieces_are_joint_conditionals);
    tcase_add_test(tcase, blocks_of_a_callback_are_joint_conditionals);
    tcase_add_test(tcase, layers_are_drawn_given_each_other);
    tcase_add_test(tcase, layers_follow_new_parameters);
    tcase_add_test(tcase, steps_beside_a_rest_keep_the_distribution);
    tcase_add_test(tcase, steps_at_once_beside_a_rest_that_is_0);
    tcase_add_test(tcase, graphs_have_exactly_what_interacts);
    tcase_add_test(tcase, graphs_of_clamped_models_have_the_free_variables);
    tcase_add_test(tcase, an_even_lattice_is_a_checkerboard);
    tcase_add_test(tcase, what_cannot_be_done_is_refused);
    tcase_add_test(tcase, sizes_beyond_the_space_are_cut);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(block_samplers_suite());
}
