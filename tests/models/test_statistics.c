/* SPDX-License-Identifier: MIT */
/* The statistics of ready-made models, against their definitions. */
#include "test.h"

#include <math.h>
#include <saltus/saltus.h>

#include "models/zoo/builtin.h"
#include "models/content.h"
#include "models/statistic.h"

static sal_model *make(const char *specification, const sali_content *content)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sali_builtin_make(specification, content, SAL_F64, &model, &err), &err);
    ck_assert_ptr_nonnull(model->statistic);
    return model;
}

/* A square 0-1-2-3 with the diagonal 0-2, nodes of weights 1, 2, 3, 4. */
static int64_t pairs[] = { 0, 1, 1, 2, 2, 3, 3, 0, 0, 2 };
static double edge_weights[] = { 1, 2, 4, 8, -16 }, node_weights[] = { 1, 2, 3, 4 };

static sali_content square(void)
{
    return (sali_content){ .kind = SALI_CONTENT_GRAPH,
                           .graph = { .nodes = 4,
                                      .edges = 5,
                                      .pairs = pairs,
                                      .weights = edge_weights,
                                      .node_weights = node_weights } };
}

static void check_states(const char *specification, const char *name, const int32_t (*states)[4],
                         const double *values, int n)
{
    sali_content content = square();
    sal_model *model = make(specification, &content);
    ck_assert_str_eq(model->statistic->name, name);
    for (int k = 0; k < n; k++) {
        double value = model->statistic->of(model, states[k]);
        ck_assert_msg(fabs(value - values[k]) < 1e-12, "%s, state %d: %g, not %g", specification, k,
                      value, values[k]);
    }
    sal_model_destroy(model);
}

START_TEST(cuts_do_not_depend_on_beta)
{
    const int32_t states[][4] = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 1 } };
    const double cuts[] = { 0, 0, 1 + 8 - 16, 1 + 2 + 4 + 8 };
    check_states("max-cut:beta=3", "cut", states, cuts, 4);
}
END_TEST

/* The weight of a set without conflicts, or a bound that one within it reaches. */
START_TEST(sets_pay_the_largest_weight_for_a_conflict)
{
    const int32_t states[][4] = { { 0, 0, 0, 0 }, { 0, 1, 0, 1 }, { 1, 0, 1, 0 }, { 1, 1, 1, 1 } };
    const double independent[] = { 0, 6, 4 - 4, 10 - 5 * 4 }, cliques[] = { 0, 6 - 4, 4, 10 - 4 };
    check_states("independent-set:beta=2,penalty=5", "weight without conflicts", states,
                 independent, 4);
    check_states("clique:beta=2,penalty=5", "weight without conflicts", states, cliques, 4);
}
END_TEST

START_TEST(segmentations_are_held_against_the_clean_picture)
{
    double picture[] = { 0, 10, 10, 0, 5, 10 };
    const int32_t same[] = { 0, 1, 1, 0, 0, 1 }, other[] = { 1, 1, 0, 0, 1, 1 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = {
                                 .ndim = 2, .shape = { 2, 3 }, .count = 6, .values = picture } };
    sal_model *model = make("segmentation", &content), *observed = NULL;
    sal_error err;
    ck_assert_str_eq(model->statistic->name, "wrong pixels (share)");
    ck_assert_double_eq(model->statistic->of(model, same), 0);
    ck_assert_double_eq_tol(model->statistic->of(model, other), 2.0 / 6, 1e-15);
    sal_model_destroy(model);
    ck_ok(sali_builtin_make("segmentation:pixels=observed", &content, SAL_F64, &observed, &err),
          &err);
    ck_assert_ptr_null(observed->statistic); /* the truth is not known */
    sal_model_destroy(observed);
    model = make("segmentation:side=3", NULL); /* a disc of one row and column */
    const int32_t disc[] = { 0, 1, 0, 1, 1, 1, 0, 1, 0 };
    ck_assert_double_eq(model->statistic->of(model, disc), 0);
    sal_model_destroy(model);
}
END_TEST

static Suite *statistics_suite(void)
{
    Suite *suite = suite_create("statistics");
    TCase *tcase = tcase_create("statistics");
    tcase_add_test(tcase, cuts_do_not_depend_on_beta);
    tcase_add_test(tcase, sets_pay_the_largest_weight_for_a_conflict);
    tcase_add_test(tcase, segmentations_are_held_against_the_clean_picture);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(statistics_suite());
}
