/* SPDX-License-Identifier: MIT */
/* What elimination refuses, before it takes time or memory, and with which reason. */
#include <math.h>
#include <saltus/saltus.h>
#include <sys/resource.h>

#include "elimination_helpers.h"
#include "models/exact/exact.h"
#include "models/structure/local_terms.h"

static double first_real(const double *x, double *gradient, void *data)
{
    (void)gradient;
    (void)data;
    return x[0];
}

START_TEST(what_is_too_wide_or_not_local_is_refused_with_the_reason)
{
    const struct {
        const char *model, *text;
        int64_t memory;
        bool pairs;
    } cases[] = {
        { "ising:side=16", "its induced width is 3", 0, false },
        { "ising:side=16", "GiB of memory, more than the 1 GiB allowed", 0, false },
        { "ising:side=16", "--evidence", 0, false },
        { "ising:side=8", "its induced width is 1", 100000, false },
        { "ising:side=10", "ask for marginals only", 0, true },
        { "rbm:visible=30,hidden=30", "all variables are in one term, by softplus", 0, false },
        { "poisson", "counts without a cap", 0, false },
        { "potts:side=9,states=60", "more than", 4096, false },
    };
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = open_model(cases[k].model);
        int64_t N = sal_space_width(sal_model_space(model));
        double *covariance = cases[k].pairs ? new_numbers(N * N) : NULL;
        sal_exact exact = { .log_z = 7 };
        sal_exact_options options = { .memory = cases[k].memory };
        ck_fails(sal_model_exact(model, &options, &exact, NULL, NULL, covariance, &err),
                 SAL_ERR_UNSUPPORTED, &err, cases[k].text);
        ck_assert_double_eq(exact.log_z, 7);
        free(covariance);
        sal_model_destroy(model);
    }
    sal_model *model = open_model("ising:side=2");
    sal_exact exact;
    ck_fails(sal_model_exact(model, &(sal_exact_options){ .memory = -1 }, &exact, NULL, NULL, NULL,
                             &err),
             SAL_ERR_ARGUMENT, &err, "memory -1");
    sal_model_destroy(model);
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    ck_ok(sal_model_from_callback(space, &(sal_callback){ .f = first_real }, &model, &err), &err);
    ck_fails(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "a function, not a formula");
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* The most memory that the process has held, in bytes. */
static double peak_memory(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_maxrss * 1024;
}

/* A factor over a core of 13 variables, and leaves that hang on three of them each. */
static sal_model *core_with_leaves(int64_t leaves)
{
    enum { CORE = 13 };
    int64_t n = CORE + leaves, m = 1 + leaves, at = 1 << CORE;
    int32_t *states = malloc((size_t)n * sizeof *states);
    int64_t *begin = malloc((size_t)(m + 1) * sizeof *begin);
    int64_t *scope = malloc((size_t)(CORE + 4 * leaves) * sizeof *scope);
    double *tables = new_numbers(at + 16 * leaves);
    for (int64_t v = 0; v < n; v++) {
        states[v] = 2;
    }
    for (int64_t v = 0; v < CORE; v++) {
        scope[v] = v;
    }
    for (int64_t k = 0; k < at + 16 * leaves; k++) {
        tables[k] = 0;
    }
    begin[0] = 0;
    for (int64_t j = 1; j <= m; j++) {
        int64_t first = begin[j] = CORE + 4 * (j - 1), a = below(CORE);
        for (int64_t k = 0; j < m && k < 3; k++) {
            scope[first + k] = (a + k) % CORE;
        }
        if (j < m) {
            scope[first + 3] = CORE + j - 1;
        }
    }
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(n, states, m, begin, scope, tables, SAL_F64, &model, &err), &err);
    free(states);
    free(begin);
    free(scope);
    free(tables);
    return model;
}

START_TEST(many_leaves_on_a_wide_core_take_no_memory_each)
{
    const int64_t leaves = TEST_SANITIZED ? 1000 : 20000;
    sal_model *model = core_with_leaves(leaves);
    sal_exact exact;
    sal_error err;
    double before = peak_memory();
    ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, (double)(leaves + 13) * log(2), 1e-6);
    ck_assert(TEST_SANITIZED || peak_memory() - before < 40e6); /* sanitizers have their own */
    sal_model_destroy(model);
}
END_TEST

START_TEST(hubs_of_too_many_leaves_are_refused_as_such)
{
    sal_model *model = core_with_leaves(60000);
    sal_exact exact;
    sal_error err;
    ck_fails(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "too many neighbours to find an order");
    sal_model_destroy(model);
}
END_TEST

/* A table of all states of two variables is computed in a block as large as itself. */
START_TEST(memory_of_tables_with_long_axes_is_counted)
{
    const int32_t states[] = { 1000, 1000 };
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    double *table = new_numbers(1000000);
    memset(table, 0, 1000000 * sizeof *table);
    sal_model *model = NULL;
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_from_factors(2, states, 1, begin, scope, table, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_ge(exact.memory, 4 * 8e6); /* term, joint table, scratch, block */
    sal_model_destroy(model);
    free(table);
}
END_TEST

/* Of a lattice the cost is told. What takes long to see is given up and not known: of dense
 * couplings of 600 spins reading takes longer, and of those of 300 the graph. */
START_TEST(a_cost_that_takes_long_to_see_is_not_known)
{
    static const char *const models[] = { "ising-dense:dim=600", "ising-dense:dim=300" };
    const char *oracle = NULL;
    double cost = -1;
    sal_error err;
    for (int k = 0; k < 2; k++) {
        sal_model *model = open_model(models[k]);
        ck_fails(sali_exact_cost(model, &oracle, &cost, &err), SAL_ERR_UNSUPPORTED, &err,
                 k == 0 ? "its formula is too long" : "too many neighbours");
        ck_assert_ptr_null(oracle);
        ck_assert_double_eq(cost, -1);
        sal_model_destroy(model);
    }
    sal_model *model = open_model("ising:side=9");
    ck_ok(sali_exact_cost(model, &oracle, &cost, &err), &err);
    ck_assert_str_eq(oracle, "elimination");
    ck_assert(cost > 1e7 && cost < 2e8);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_is_too_wide_or_dear_is_refused_before_its_tables_are_made)
{
    sal_model *model = open_model("potts-dense:dim=20,states=6");
    sali_local_terms terms;
    char why[200] = "";
    sal_error err;
    ck_ok(sali_local_terms_read(model, 0x1p30, INT64_MAX, &terms, why, sizeof why, &err), &err);
    ck_assert_ptr_null(terms.tables);
    ck_assert_int_eq(terms.n_terms, 20 * 19 / 2 + 20);
    ck_assert_int_eq(terms.n_tables, 20 * 19 / 2 * 36 + 20 * 6);
    ck_assert_double_ge(terms.effort, 20 * 19 / 2 * 36 * 36);
    ck_ok(sali_local_terms_fill(&terms, why, sizeof why, &err), &err);
    ck_assert_ptr_nonnull(terms.tables);
    sali_local_terms_free(&terms);
    sal_model_destroy(model);

    model = open_model("ising:side=3");
    sali_question q = {
        .model = model, .options.memory = 1 << 20, .steps = INT64_MAX, .affordable = 1
    };
    sali_offer offer = { .width = -1 };
    ck_ok(sali_oracle_elimination.offer(&q, &offer, &err), &err);
    ck_assert(!offer.serves && !offer.plan);
    ck_assert_str_eq(offer.why, "it would cost more than another oracle");
    q.affordable = INFINITY;
    ck_ok(sali_oracle_elimination.offer(&q, &offer, &err), &err);
    ck_assert(offer.serves && offer.plan);
    sali_oracle_elimination.release(offer.plan);
    sal_model_destroy(model);
}
END_TEST

START_TEST(numbers_of_states_past_the_range_of_doubles_are_powers_of_ten)
{
    sal_model *model = open_model("ising:side=100");
    sal_exact exact;
    sal_error err;
    ck_fails(sal_model_exact(model, &by_enumeration, &exact, NULL, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "it has 10^3010 states, more than");
    sal_model_destroy(model);
    model = open_model("ising:side=10");
    ck_fails(sal_model_exact(model, &by_enumeration, &exact, NULL, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "it has 1.26765e+30 states, more than");
    sal_model_destroy(model);
}
END_TEST

START_TEST(terms_that_are_not_numbers_are_errors)
{
    const int32_t states[] = { 2, 2 };
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    const double bad[] = { NAN, INFINITY };
    for (int k = 0; k < 2; k++) {
        const double table[] = { 0, bad[k], 0, 0 };
        sal_model *model = NULL;
        sal_exact exact;
        sal_error err;
        if (sal_model_from_factors(2, states, 1, begin, scope, table, SAL_F64, &model, &err) ==
            SAL_OK) {
            ck_fails(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err),
                     SAL_ERR_MODEL, &err, "f is NaN or +inf");
        }
        sal_model_destroy(model);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("elimination_limits");
    TCase *tcase = tcase_create("small"), *large = tcase_create("large"),
          *leaves = tcase_create("leaves");
    tcase_add_test(large, what_is_too_wide_or_not_local_is_refused_with_the_reason);
    tcase_add_test(leaves, many_leaves_on_a_wide_core_take_no_memory_each);
    if (!TEST_SANITIZED) { /* a minute there */
        tcase_add_test(leaves, hubs_of_too_many_leaves_are_refused_as_such);
    }
    tcase_add_test(tcase, memory_of_tables_with_long_axes_is_counted);
    tcase_add_test(tcase, a_cost_that_takes_long_to_see_is_not_known);
    tcase_add_test(tcase, what_is_too_wide_or_dear_is_refused_before_its_tables_are_made);
    tcase_add_test(tcase, numbers_of_states_past_the_range_of_doubles_are_powers_of_ten);
    tcase_add_test(tcase, terms_that_are_not_numbers_are_errors);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, large);
    suite_add_tcase(suite, leaves);
    return test_main(suite);
}
