/* SPDX-License-Identifier: MIT */
/* Decoding of states to feasible ones, and the decoded states of runs. */
#include "graph_formulas.h"

#include "models/decoding.h"
#include "models/statistic.h"
#include "models/zoo/random_graph.h"
#include "run_helpers.h"

enum { NODES = 14, STATES = 400 };

/* A graph with weights, some of them below 0; freed by sali_graph_free. */
static sali_content weighted_graph(uint64_t seed, double p, bool weighted)
{
    sali_random_graph spec = { .nodes = NODES, .p = p, .seed = seed };
    sali_content content = { .kind = SALI_CONTENT_GRAPH };
    sali_stream stream = { .seed = seed, .purpose = SALI_RNG_TEST };
    double u[NODES];
    sal_error err;
    ck_ok(sali_random_graph_draw(&spec, &content.graph, &err), &err);
    sali_rng_uniform_f64(&stream, NODES, u);
    content.graph.node_weights = weighted ? calloc(NODES, sizeof(double)) : NULL;
    for (int i = 0; weighted && i < NODES; i++) {
        content.graph.node_weights[i] = i == 0 ? 3 : 3.5 * u[i] - 0.5;
    }
    return content;
}

static void random_state(uint64_t seed, uint64_t step, int32_t *codes)
{
    sali_stream stream = { .seed = seed, .step = step, .purpose = SALI_RNG_TEST };
    double u[NODES + 1];
    sali_rng_uniform_f64(&stream, NODES + 1, u);
    for (int i = 0; i < NODES; i++) {
        codes[i] = u[i] < u[NODES];
    }
}

static double weight_of(const graph_case *t, const int32_t *codes, bool adjacent, int *violated)
{
    return selection(t, codes, adjacent, violated);
}

/* Of random states: feasible; at least the weight less the largest weight for each conflict; no
 * node of positive weight could be added; decoding again changes nothing. */
START_TEST(decoded_states_are_feasible_and_maximal)
{
    for (int k = 0; k < 8; k++) {
        const bool adjacent = k % 2 == 0;
        sali_content content = weighted_graph((uint64_t)k, 0.15 + 0.1 * k, k >= 4);
        graph_case t = { &content.graph, 0, 0, 1, 2, 0, 1 };
        sal_model *model = make_of(adjacent ? "independent-set" : "clique", &content, SAL_F64);
        for (uint64_t step = 1; step <= STATES; step++) {
            int32_t codes[NODES], again[NODES];
            int before, after, more;
            double f, expected;
            sal_error err;
            random_state(3, step, codes);
            double weight = weight_of(&t, codes, adjacent, &before);
            ck_ok(sal_model_decode(model, codes, &f, &err), &err);
            double decoded = weight_of(&t, codes, adjacent, &after);
            ck_assert_int_eq(after, 0);
            ck_assert_double_ge(decoded, weight - largest_of(&content.graph) * before - 1e-12);
            expected = (adjacent ? independent_set : clique)(codes, &t);
            ck_assert_double_eq_tol(f, expected, 1e-12);
            memcpy(again, codes, sizeof codes);
            ck_ok(sal_model_decode(model, again, NULL, &err), &err);
            ck_assert_mem_eq(again, codes, sizeof codes);
            for (int i = 0; i < NODES; i++) {
                bool useful = !content.graph.node_weights || content.graph.node_weights[i] > 0;
                if (!codes[i] && useful) {
                    again[i] = 1;
                    weight_of(&t, again, adjacent, &more);
                    ck_assert_int_gt(more, 0);
                    again[i] = 0;
                }
            }
        }
        sal_model_destroy(model);
        free(content.graph.node_weights);
        content.graph.node_weights = NULL;
        sali_graph_free(&content.graph);
    }
}
END_TEST

/* A star: its centre has all the conflicts and goes, though it is listed first. */
START_TEST(the_node_with_most_conflicts_goes)
{
    int64_t star[] = { 0, 1, 0, 2, 0, 3, 0, 4 };
    double ones[] = { 1, 1, 1, 1 }, heavy[] = { 9, 1, 1, 1, 1 };
    for (int weighted = 0; weighted < 2; weighted++) {
        sali_content content = { .kind = SALI_CONTENT_GRAPH };
        content.graph = (sali_graph){ .nodes = 5,
                                      .edges = 4,
                                      .pairs = star,
                                      .weights = ones,
                                      .node_weights = weighted ? heavy : NULL };
        sal_model *model = make_of("independent-set", &content, SAL_F64);
        int32_t codes[] = { 1, 1, 1, 1, 1 };
        double f;
        sal_error err;
        ck_ok(sal_model_decode(model, codes, &f, &err), &err);
        ck_assert_int_eq(codes[0], weighted);
        ck_assert_double_eq(f, weighted ? 9 : 4);
        /* clamped, it stays, and the others go */
        const int64_t centre = 0;
        const int32_t one = 1;
        int32_t leaves[] = { 1, 1, 1, 1 };
        sal_model *clamped = NULL;
        ck_ok(sal_model_clamp(model, 1, &centre, &one, &clamped, &err), &err);
        ck_ok(sal_model_decode(clamped, leaves, &f, &err), &err);
        ck_assert(!leaves[0] && !leaves[1] && !leaves[2] && !leaves[3]);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

/* Clamped variables keep their codes, whether the model is clamped or the run clamps them. */
START_TEST(clamped_variables_stay)
{
    sali_content content = weighted_graph(5, 0.3, false);
    graph_case t = { &content.graph, 0, 0, 1, 2, 0, 1 };
    sal_model *model = make_of("independent-set", &content, SAL_F64), *clamped = NULL;
    const int64_t variables[] = { 2, 6 };
    const int32_t fixed[] = { 1, 0 };
    sal_error err;
    ck_ok(sal_model_clamp(model, 2, variables, fixed, &clamped, &err), &err);
    for (int by_run = 0; by_run < 2; by_run++) {
        sal_run_options options = { .draws = 50, .warmup = 50, .annealing.on = true };
        if (by_run) {
            options.clamps = (sal_clamps){ .n = 2, .variables = variables, .codes = fixed };
        }
        sal_run *run = run_it(by_run ? model : clamped, &options);
        int32_t part[NODES], codes[NODES];
        int violated;
        double f;
        ck_ok(sal_run_decoded(run, part, &f, &err), &err);
        for (int v = 0, k = 0; v < NODES; v++) {
            codes[v] = by_run ? part[v] : v == 2 ? 1 : v == 6 ? 0 : part[k++];
        }
        ck_assert(codes[2] == 1 && codes[6] == 0);
        ck_assert_double_eq_tol(f, weight_of(&t, codes, true, &violated), 1e-12);
        ck_assert_int_eq(violated, 0);
        sal_run_destroy(run);
    }
    int32_t part[NODES - 2], codes[NODES];
    int violated;
    double f;
    for (int v = 0; v < NODES - 2; v++) {
        part[v] = 1;
    }
    ck_ok(sal_model_decode(clamped, part, &f, &err), &err);
    for (int v = 0, k = 0; v < NODES; v++) {
        codes[v] = v == 2 ? 1 : v == 6 ? 0 : part[k++];
    }
    ck_assert_double_eq_tol(f, weight_of(&t, codes, true, &violated), 1e-12);
    ck_assert_int_eq(violated, 0);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
    sali_graph_free(&content.graph);
}
END_TEST

/* Where clamped nodes conflict, the report says so. */
START_TEST(conflicts_of_clamped_variables_are_named)
{
    sal_model *model[2] = { NULL };
    const int64_t variables[] = { 0, 1 };
    const int32_t fixed[] = { 1, 1 };
    sal_error err;
    ck_ok(sal_model_open("independent-set:nodes=12,graph=ba,degree=2", SAL_F64, &model[0], &err),
          &err); /* nodes 0 and 1 of this tree are neighbours */
    ck_ok(sal_model_open("clique:nodes=12,density=0", SAL_F64, &model[1], &err), &err);
    for (int k = 0; k < 2; k++) {
        for (int n = 1; n <= 2; n++) {
            sal_run_options options = { .draws = 20,
                                        .warmup = 20,
                                        .annealing.on = true,
                                        .clamps = {
                                            .n = n, .variables = variables, .codes = fixed } };
            sal_run *run = run_it(model[k], &options);
            const char *expected = n == 1 ? (k ? "clique" : "independent set")
                                          : (k ? "no clique: clamped" : "no independent set: cl");
            ck_assert_int_eq(strncmp(summary_of(run).decoded, expected, strlen(expected)), 0);
            sal_run_destroy(run);
        }
        sal_model_destroy(model[k]);
    }
}
END_TEST

/* Any other model: no change of one variable raises f any more. */
START_TEST(other_models_rise_to_a_local_maximum)
{
    const char *models[] = { "max-cut:nodes=40,weights=sign", "potts:side=4,states=3,theta=1",
                             "ising:side=5,theta=0.5" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(models[k], SAL_F64, &model, &err), &err);
        const sal_space *space = sal_model_space(model);
        int32_t codes[64] = { 0 };
        double before, f, differences[256];
        ck_ok(sal_model_evaluate(model, 1, codes, &before, NULL, NULL, &err), &err);
        codes[3] = 1;
        ck_ok(sal_model_decode(model, codes, &f, &err), &err);
        double same;
        ck_ok(sal_model_evaluate(model, 1, codes, &same, NULL, differences, &err), &err);
        ck_assert_double_eq_tol(f, same, 1e-12);
        for (int64_t e = 0; e < space->n_states; e++) {
            ck_assert_double_le(differences[e], 1e-12);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* A run's decoded state is feasible whatever the penalty, is at least as good as the best state
 * where that is feasible, and has the same bits for any number of threads. */
START_TEST(runs_decode_what_they_meet)
{
    const char *models[] = { "independent-set:nodes=60,degree=12,penalty=0.5",
                             "independent-set:nodes=60,degree=12", "clique:nodes=40" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = NULL;
        sal_error err;
        int32_t codes[2][60];
        ck_ok(sal_model_open(models[k], SAL_F64, &model, &err), &err);
        for (int threads = 1; threads <= 2; threads++) {
            sal_run_options options = {
                .chains = 70, .draws = 30, .warmup = 10, .annealing.on = true, .threads = threads
            };
            sal_run *run = run_it(model, &options);
            sal_run_summary s = summary_of(run);
            ck_ok(sal_run_decoded(run, codes[threads - 1], NULL, &err), &err);
            ck_assert_str_eq(s.decoded, k < 2 ? "independent set" : "clique");
            ck_assert_double_eq(s.statistic_decoded, s.decoded_log_prob);
            ck_assert(k == 0 || s.decoded_log_prob >= s.best_log_prob - 1e-9);
            sal_run_destroy(run);
        }
        ck_assert_mem_eq(codes[0], codes[1], sizeof(int32_t) * (k < 2 ? 60 : 40));
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(what_cannot_be_decoded_is_refused)
{
    sal_model *model = NULL;
    sal_error err;
    int32_t codes[9] = { 0 }, bad[9] = { 5 };
    ck_ok(sal_model_open("ising:side=3", SAL_F64, &model, &err), &err);
    ck_fails(sal_model_decode(NULL, codes, NULL, &err), SAL_ERR_ARGUMENT, &err, "model is NULL");
    ck_fails(sal_model_decode(model, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err, "codes are NULL");
    ck_fails(sal_model_decode(model, bad, NULL, &err), SAL_ERR_ARGUMENT, &err, "5");
    ck_assert_int_eq(bad[0], 5);
    sal_run *run = run_it(model, &(sal_run_options){ .draws = 5, .annealing.on = true });
    ck_fails(sal_run_decoded(run, codes, NULL, &err), SAL_ERR_ARGUMENT, &err, "rule");
    ck_assert_ptr_null(summary_of(run).decoded);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decoding");
    TCase *tc = tcase_create("decoding");
    tcase_add_test(tc, decoded_states_are_feasible_and_maximal);
    tcase_add_test(tc, the_node_with_most_conflicts_goes);
    tcase_add_test(tc, clamped_variables_stay);
    tcase_add_test(tc, conflicts_of_clamped_variables_are_named);
    tcase_add_test(tc, other_models_rise_to_a_local_maximum);
    tcase_add_test(tc, runs_decode_what_they_meet);
    tcase_add_test(tc, what_cannot_be_decoded_is_refused);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
