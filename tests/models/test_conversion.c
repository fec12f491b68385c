/* SPDX-License-Identifier: MIT */
/* Pairwise networks as energies and back: the same distribution, whatever the constant. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "graph_check.h"
#include "models/conversion.h"

/* Four variables; factors on (1 0), (2), (), (3 1), (0 1) and (2) again. */
static const char pairwise[] = "MARKOV\n4\n2 2 2 2\n6\n2 1 0\n1 2\n0\n2 3 1\n2 0 1\n1 2\n"
                               "4 .5 1e-3 2 7\n2 3 .25\n1 5\n4 1 2 3 .125\n4 9 8 7 6\n2 1 10\n";

/* f of the model that is a file, minus f of its state 0. */
static void differences_of_f(const char *path, int variables, double *out)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(path, SAL_F64, &model, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), variables);
    for (int state = 0; state < 1 << variables; state++) {
        int32_t codes[8];
        for (int v = 0; v < variables; v++) {
            codes[v] = state >> v & 1;
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &out[state], NULL, NULL, &err), &err);
    }
    for (int state = (1 << variables) - 1; state >= 0; state--) {
        out[state] -= out[0];
    }
    sal_model_destroy(model);
}

START_TEST(a_network_and_its_energy_are_one_distribution)
{
    sal_error err = { 0 };
    sali_content network = { 0 }, graph = { 0 };
    double f[16], back[16];
    const char *path = temp_write("a.uai", pairwise, sizeof pairwise - 1);
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &network, NULL, &err), &err);
    ck_ok(sali_content_write(temp_path("a.coo"), NULL, &network, &err), &err);
    ck_ok(sali_content_read(temp_path("a.coo"), NULL, SALI_CONTENT_NONE, &graph, NULL, &err), &err);
    ck_assert_int_eq(graph.kind, SALI_CONTENT_GRAPH);
    ck_assert_int_eq(graph.graph.vartype, SALI_VARTYPE_BINARY);
    ck_ok(sali_content_write(temp_path("b.uai"), NULL, &graph, &err), &err);
    differences_of_f(path, 4, f);
    differences_of_f(temp_path("b.uai"), 4, back);
    for (int state = 0; state < 16; state++) {
        ck_assert_double_eq_tol(
            f[state], graph_energy(&graph.graph, 0) - graph_energy(&graph.graph, state), 1e-12);
        ck_assert_double_eq_tol(f[state], back[state], 1e-12);
    }
    sali_content_free(&network);
    sali_content_free(&graph);
}
END_TEST

/* The states of a spin are -1 and 1, in this order. */
START_TEST(an_energy_of_spins_is_a_network)
{
    static const char *const texts[] = {
        "# vartype=SPIN\n0 0 .5\n1 1 -.25\n0 1 2\n1 2 -1\n2 0 .125\n0 1 .5\n",
        "# vartype=BINARY\n2 2 3\n0 1 2\n1 2 -1\n2 0 .125\n",
    };
    for (int k = 0; k < 2; k++) {
        sal_error err = { 0 };
        sali_content graph = { 0 };
        double f[8];
        const char *path = temp_write("a.coo", texts[k], strlen(texts[k]));
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &graph, NULL, &err), &err);
        ck_ok(sali_content_write(temp_path("a.uai"), NULL, &graph, &err), &err);
        differences_of_f(temp_path("a.uai"), 3, f);
        for (int state = 0; state < 8; state++) {
            ck_assert_double_eq_tol(
                f[state], graph_energy(&graph.graph, 0) - graph_energy(&graph.graph, state), 1e-12);
        }
        sali_content_free(&graph);
    }
}
END_TEST

START_TEST(names_come_along)
{
    sal_error err = { 0 };
    sali_content graph = { 0 }, network = { 0 }, back = { 0 };
    ck_ok(graph_parse(&sali_format_coo, "# vartype=SPIN\n5 5 1\n7 5 1\n", &graph.graph, &err),
          &err);
    graph.kind = SALI_CONTENT_GRAPH;
    ck_ok(sali_content_convert(&graph, SALI_CONTENT_NETWORK, &network, &err), &err);
    ck_assert_str_eq(network.network.names[0], "5");
    ck_assert_str_eq(network.network.names[1], "7");
    ck_ok(sali_content_convert(&network, SALI_CONTENT_GRAPH, &back, &err), &err);
    ck_assert_str_eq(back.graph.names[1], "7");
    sali_content_free(&graph);
    sali_content_free(&network);
    sali_content_free(&back);
}
END_TEST

START_TEST(what_is_no_energy_is_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "MARKOV 2 2 3 0", "a.coo: an energy has variables of two states, and variable 1 of the "
                            "network has 3" },
        { "MARKOV 3 2 2 2 1 3 0 1 2 8 1 1 1 1 1 1 1 1",
          "an energy has terms of two variables at most, and factor 0 of the network has 3" },
        { "MARKOV 1 2 2 0 1 0 1 1 2 1 0",
          "an energy is finite, and factor 1 of the network forbids a state" },
    };
    sal_error err = { 0 };
    for (int k = 0; k < 3; k++) {
        sali_content content = { 0 };
        const char *path = temp_write("a.uai", cases[k].text, strlen(cases[k].text));
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, NULL, &err), &err);
        ck_fails(sali_content_write(temp_path("a.coo"), NULL, &content, &err), SAL_ERR_ARGUMENT,
                 &err, cases[k].message);
        ck_fails(sali_content_write(temp_path("a.png"), NULL, &content, &err), SAL_ERR_ARGUMENT,
                 &err, "a network can be written as: uai (.uai)");
        sali_content_free(&content);
    }
    sali_content graph = { .kind = SALI_CONTENT_GRAPH };
    ck_ok(graph_parse(&sali_format_gset, "2 1\n1 2\n", &graph.graph, &err), &err);
    ck_fails(sali_content_write(temp_path("b.uai"), NULL, &graph, &err), SAL_ERR_ARGUMENT, &err,
             "only an energy of spin or binary variables is a network");
    sali_content_free(&graph);
    const sali_content tape = { .kind = SALI_CONTENT_TAPE };
    ck_fails(sali_content_write(temp_path("b.uai"), NULL, &tape, &err), SAL_ERR_ARGUMENT, &err,
             "b.uai: a saved tape has no other format");
    ck_assert(!sali_content_converts(SALI_CONTENT_GRAPH, SALI_CONTENT_GRAPH));
    ck_assert(!sali_content_converts(SALI_CONTENT_TAPE, SALI_CONTENT_GRAPH));
}
END_TEST

START_TEST(conversions_survive_failing_allocations)
{
    sal_error err = { 0 };
    sali_content graph = { .kind = SALI_CONTENT_GRAPH }, network = { 0 }, out = { 0 };
    ck_ok(graph_parse(&sali_format_coo, "# vartype=SPIN\n5 5 1\n7 5 1\n", &graph.graph, &err),
          &err);
    ck_alloc_sweep(sali_content_convert(&graph, SALI_CONTENT_NETWORK, &out, &err),
                   sali_content_free(&out));
    ck_ok(sali_content_convert(&graph, SALI_CONTENT_NETWORK, &network, &err), &err);
    ck_alloc_sweep(sali_content_convert(&network, SALI_CONTENT_GRAPH, &out, &err),
                   sali_content_free(&out));
    sali_content_free(&graph);
    sali_content_free(&network);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conversion");
    TCase *tcase = tcase_create("conversion");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, a_network_and_its_energy_are_one_distribution);
    tcase_add_test(tcase, an_energy_of_spins_is_a_network);
    tcase_add_test(tcase, names_come_along);
    tcase_add_test(tcase, what_is_no_energy_is_refused);
    tcase_add_test(tcase, conversions_survive_failing_allocations);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
