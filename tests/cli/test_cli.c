/* SPDX-License-Identifier: MIT */
/* The program as its users call it: outputs, files, messages, exit codes. */
#include "cli_helpers.h"

#include <saltus/saltus.h>
#include "npy_file.h"
#include "limit_model.h"

START_TEST(sample_prints_the_documented_fields)
{
    const char *keys[] = { "model",     "sampler",         "variables", "chains",
                           "warmup",    "draws",           "seed",      "threads",
                           "step_size", "acceptance_rate", "mean_jump", "ess",
                           "rhat_max",  "ess_per_second",  "seconds",   "steps_per_second",
                           "warnings",  "log_prob_mean" };
    ck_run("sample ising:side=4,theta=0.1 --sampler ncg --chains 8 --draws 400 --seed 3 --json");
    json_t *object = json_out();
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        ck_assert_msg(json_object_get(object, keys[k]) != NULL, "no %s", keys[k]);
    }
    json_t *ess = json_object_get(object, "ess");
    ck_assert(json_number_value(json_object_get(ess, "min")) <=
              json_number_value(json_object_get(ess, "max")));
    ck_assert_int_eq(json_integer_value(json_object_get(object, "seed")), 3);
    json_decref(object);
    ck_run("sample ising:side=4,theta=0.1 --draws 200");
    ck_assert_ptr_nonnull(strstr(out, "acceptance"));
}
END_TEST

START_TEST(same_seed_writes_the_same_draws_for_any_threads)
{
    sali_npy a = { 0 }, b = { 0 };
    sal_error err = { 0 };
    ck_run("sample ising:side=4 --chains 5 --draws 50 --thin 2 --threads 1 --out a.npy");
    ck_run("sample ising:side=4 --chains 5 --draws 50 --thin 2 --threads 3 --out b.npy");
    ck_ok(npy_read(temp_path("a.npy"), &a, &err), &err);
    ck_ok(npy_read(temp_path("b.npy"), &b, &err), &err);
    ck_assert_int_eq(a.dtype, SALI_DTYPE_U8);
    ck_assert_int_eq(a.ndim, 3);
    ck_assert_int_eq(a.shape[0], 5);
    ck_assert_int_eq(a.shape[1], 50);
    ck_assert_int_eq(a.shape[2], 16);
    ck_assert_mem_eq(a.data, b.data, (size_t)a.count);
    npy_free(&a);
    npy_free(&b);
    ck_run("stats a.npy");
    ck_assert_ptr_nonnull(strstr(out, "R-hat"));
    ck_run("stats a.npy --json");
    json_decref(json_out());
}
END_TEST

/* What cannot succeed is refused before the chains run. */
START_TEST(sample_refuses_early)
{
    ck_refused(64, "an integer from 1 to", "sample ising:side=3 --chains 4611686018427387904");
    ck_refused(64, "more than", "sample ising:side=3 --draws 1099511627776 --thin 1099511627776");
    ck_refused(64, "--anneal", "sample ising:side=3 --anneal-from 3");
    ck_refused(64, "--tempering", "sample ising:side=3 --swap-every 3");
    ck_refused(64, "states", "sample ising:side=10 --check-exact --warmup 99999999999");
    ck_refused(74, "directory", "sample ising:side=3 --marginals . --warmup 99999999999");
    ck_run("sample ising:side=5 --check-exact --clamp 0=1,1=1,2=1,3=1,4=1,5=1,6=1,7=1,8=1,9=1,"
           "10=1,11=1 --draws 20");
    ck_assert_ptr_nonnull(strstr(out, "total variation"));
    ck_run("compare ising:side=10 --samplers block-gibbs --check-exact --draws 20 --warmup 9");
    ck_assert_ptr_nonnull(strstr(out, "no total variation"));
}
END_TEST

/* Counts have no last state: four bytes a draw, and marginals that end with "or more". */
/* log p_0 is about -280 here and the net says little: single precision loses what a step changes.
 */
START_TEST(check_tells_rounding_from_wrong_gradients)
{
    double gradient, taylor;
    ck_run("check usps-conv:channels=2,states=3,base=1 --dtype f32");
    const char *line = strstr(out, "gradient ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "gradient within %lf of central differences", &gradient), 1);
    line = strstr(out, "first-order ones are off by ");
    ck_assert_ptr_nonnull(line);
    ck_assert_int_eq(sscanf(line, "first-order ones are off by %lf", &taylor), 1);
    ck_assert_double_le(gradient, 2e-3);
    ck_assert_double_le(taylor, 1);
}
END_TEST

/* Tables with zeros forbid states; off the lattice f is +inf beside them, which is no fault. */
START_TEST(models_with_forbidden_states_are_checked)
{
    static const char zeros[] = "MARKOV\n3\n2 2 3\n2\n3 0 1 2\n1 2\n"
                                "12\n 1 0 2  0 3 1  0 0.5 1  4 1 0\n3\n 1 2 0.5\n";
    static const char equal[] = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n 1 0 0 3\n";
    temp_write("zeros.uai", zeros, sizeof zeros - 1);
    temp_write("equal.uai", equal, sizeof equal - 1);
    for (int k = 0; k < 4; k++) {
        ck_run("check %s --dtype %s", k % 2 ? "zeros.uai" : "equal.uai", k / 2 ? "f32" : "f64");
        ck_assert_ptr_null(strstr(out, "not checked"));
        ck_assert_ptr_nonnull(
            strstr(out, k % 2 ? "of central differences" : "not compared: every change"));
        ck_assert_ptr_nonnull(strstr(out, "evaluating neighbours: within "));
        ck_assert_ptr_null(strstr(out, "nan"));
    }
}
END_TEST

/* The root has an infinite slope at 0, which no difference can be held against. */
START_TEST(slopes_that_cannot_be_checked_are_said)
{
    static const char root[] =
        "<saltus-tape version=\"1\" dtype=\"f64\"><space><block name=\"b\" count=\"4\" "
        "kind=\"binary\"/></space><nodes><node op=\"state\"/><node op=\"pow\" in=\"0\"><reals>0.5"
        "</reals></node><node op=\"sum\" in=\"1\"><ints>-1</ints></node></nodes>"
        "<output node=\"2\"/></saltus-tape>";
    temp_write("root.xml", root, sizeof root - 1);
    ck_refused(65, "of 16 slopes could be checked", "check root.xml");
    ck_assert_ptr_nonnull(strstr(out, "of 16 could be checked"));
    ck_refused(65, "of 16 slopes could be checked", "check root.xml --json");
    ck_assert_ptr_nonnull(strstr(out, "\"skipped\":"));
}
END_TEST

START_TEST(counts_without_a_cap_are_sampled)
{
    sali_npy draws = { 0 };
    sal_error err = { 0 };
    ck_run("sample poisson:dim=2,rate=4 --chains 16 --draws 4000 --out p.npy --marginals p.json "
           "--json");
    json_t *summary = json_out();
    ck_assert_str_eq(json_string_value(json_object_get(summary, "sampler")), "gwg");
    json_decref(summary);
    ck_ok(npy_read(temp_path("p.npy"), &draws, &err), &err);
    ck_assert_int_eq(draws.dtype, SALI_DTYPE_I32);
    ck_assert_int_eq(draws.count, 16 * 4000 * 2);
    npy_free(&draws);
    json_t *file = json_load_file(temp_path("p.json"), 0, NULL);
    json_t *row = json_array_get(json_object_get(file, "marginals"), 1);
    ck_assert_int_eq((int)json_array_size(row), 64);
    double p = exp(-4);
    for (int k = 0; k < 10; p *= 4.0 / ++k) {
        ck_assert_double_eq_tol(json_number_value(json_array_get(row, (size_t)k)), p, 0.02);
    }
    json_decref(file);
    ck_run("stats p.npy --json");
    json_decref(json_out());
    ck_run("sample poisson:dim=2,rate=4,cap=6 --sampler gibbs --draws 100 --marginals p.json");
    file = json_load_file(temp_path("p.json"), 0, NULL);
    ck_assert_int_eq((int)json_array_size(json_array_get(json_object_get(file, "marginals"), 0)),
                     7);
    json_decref(file);
    ck_run("check poisson:dim=2");
    ck_assert_ptr_nonnull(strstr(out, "2 x count\n"));
    ck_assert_ptr_nonnull(strstr(out, "gwg"));
    ck_assert_ptr_null(strstr(out, "gibbs"));
    ck_run("check poisson:dim=2,cap=6");
    ck_assert_ptr_nonnull(strstr(out, "2 x count, 7 states\n"));
    ck_assert_ptr_nonnull(strstr(out, "gibbs"));
    ck_refused(64, "counts without a cap", "sample poisson --sampler gibbs");
}
END_TEST

START_TEST(values_of_counts)
{
    sali_npy array = { 0 };
    sal_error err = { 0 };
    const double x[4] = { 0, 3, 1.5, 2 };
    const int64_t shape[2] = { 1, 2 };
    ck_ok(sali_npy_write(temp_path("n.npy"), SALI_DTYPE_F64, 2, shape, x, &err), &err);
    ck_run("value poisson:dim=2,rate=1 --state n.npy --out-differences nd.npy");
    ck_ok(npy_read(temp_path("nd.npy"), &array, &err), &err);
    double d[4];
    ck_assert_int_eq(array.count, 4);
    sali_npy_doubles(&array, d);
    ck_assert_double_eq(d[0], -INFINITY);
    ck_assert_double_eq_tol(d[1], 0, 1e-14);
    ck_assert_double_eq_tol(d[2], log(3), 1e-14);
    ck_assert_double_eq_tol(d[3], -log(4), 1e-14);
    npy_free(&array);
    ck_run("value poisson:dim=2,rate=1,cap=3 --state n.npy --out-differences nd.npy");
    ck_ok(npy_read(temp_path("nd.npy"), &array, &err), &err);
    ck_assert_int_eq(array.count, 8);
    npy_free(&array);
    ck_ok(sali_npy_write(temp_path("n.npy"), SALI_DTYPE_F64, 2, shape, x + 2, &err), &err);
    ck_refused(64, "no states", "value poisson:dim=2 --state n.npy --out-differences nd.npy");
    ck_ok(sali_npy_write(temp_path("n.npy"), SALI_DTYPE_F64, 2, shape, x, &err), &err);
    ck_refused(64, "no states", "value poisson:dim=2,cap=2 --state n.npy --out-differences nd.npy");
}
END_TEST

/* The graph of a ready-made model, in a file, makes the same model. */
START_TEST(random_graphs_are_converted)
{
    static const char *const models[] = { "max-cut:graph=ba,nodes=30,degree=8,weights=sign",
                                          "clique:nodes=20,density=0.3", "ising-er:nodes=12" };
    for (int k = 0; k < 3; k++) {
        const char *name = k == 1 ? "clique" : "max-cut";
        ck_run("convert %s graph.gset", models[k]);
        ck_run("sample %s:file=graph.gset --draws 20 --json", name);
        json_t *from_file = json_out();
        ck_run("sample %s%s --draws 20 --json", k == 2 ? "max-cut" : models[k],
               k == 2 ? ":nodes=12" : "");
        json_t *made = json_out();
        ck_assert(json_number_value(json_object_get(from_file, "log_prob_mean")) ==
                  json_number_value(json_object_get(made, "log_prob_mean")));
        json_decref(from_file);
        json_decref(made);
    }
    ck_refused(64, "multiple", "convert max-cut:graph=rb,nodes=3,group=7 graph.gset");
    ck_refused(64, "max-cut: degree means nothing for graph=rb",
               "convert max-cut:graph=rb,degree=7 graph.gset");
    ck_refused(64, "group means nothing for graph=ba", "convert clique:graph=ba,group=7 g.gset");
    ck_refused(64, "density means nothing for graph=torus",
               "convert independent-set:graph=torus,density=0.1 g.gset");
    ck_refused(64, "degree means nothing for graph=er by density",
               "convert max-cut:density=0.1,degree=3 g.gset");
    ck_refused(64, "degree means nothing for graph=er by density",
               "convert clique:degree=3 g.gset");
}
END_TEST

/* The word after --anneal may be left out, whatever comes next. */
START_TEST(annealing_takes_a_word_or_none)
{
    ck_run("sample --anneal ising:side=3 --draws 20");
    ck_assert_ptr_nonnull(strstr(out, "annealed"));
    ck_run("sample ising:side=3 --draws 20 --anneal");
    ck_run("sample --anneal reheat ising:side=3 --draws 600 --thin 9");
    ck_assert_ptr_nonnull(strstr(out, "heated"));
    ck_run("sample ising:side=3 --draws 20 --anneal=linear --sampler gibbs");
    ck_run("sample ising:side=3 --draws 20 --anneal rlsa --coolings 3");
    ck_assert_ptr_nonnull(strstr(out, "rlsa"));
    ck_assert_ptr_nonnull(strstr(out, "the best of 3 coolings"));
    ck_run("sample independent-set:nodes=20 --anneal --time 0.2s --best set.npy");
    ck_assert_ptr_nonnull(strstr(out, "decoded          independent set"));
    ck_refused(64, "yes|no or [linear|reheat|rlsa]", "sample ising:side=3 --anneal=fast");
    ck_refused(64, "unexpected 'fast'", "sample ising:side=3 --anneal fast");
    ck_refused(64, "want --anneal", "sample ising:side=3 --coolings 3");
}
END_TEST

START_TEST(tempering_anneals_and_votes_are_printed)
{
    ck_run("sample ising:side=3,theta=0.3 --sampler gibbs --tempering 4 --draws 100 --json");
    json_t *object = json_out(), *tempering = json_object_get(object, "tempering");
    ck_assert_uint_eq(json_array_size(json_object_get(tempering, "temperatures")), 4);
    ck_assert_uint_eq(json_array_size(json_object_get(tempering, "swap_rates")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "thin")), 9);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "warmup")), 9000);
    json_decref(object);
    ck_run("sample ising:side=3,theta=0.3 --temperatures 1,2.5 --swap-every 3 --draws 100");
    ck_assert_ptr_nonnull(strstr(out, "2, 1 to 2.5"));
    ck_run("sample ising:side=3,theta=0.3,bias=0.1 --anneal --draws 100 --best best.npy --json");
    object = json_out();
    json_t *state = json_object_get(object, "best_state");
    ck_assert_uint_eq(json_array_size(state), 9);
    for (size_t v = 0; v < 9; v++) {
        ck_assert_int_eq(json_integer_value(json_array_get(state, v)), 1);
    }
    ck_assert(json_number_value(json_object_get(object, "best_log_prob")) > 0);
    json_decref(object);
    sali_npy best = { 0 };
    sal_error err = { 0 };
    ck_ok(npy_read(temp_path("best.npy"), &best, &err), &err);
    ck_assert(best.ndim == 1 && best.shape[0] == 9);
    npy_free(&best);
    ck_run("sample ising:side=3,bias=1 --draws 50 --vote sites --vote-ones 2 --vote-out v.npy "
           "--json");
    object = json_out();
    int ones = 0;
    state = json_object_get(json_object_get(object, "vote"), "state");
    for (size_t v = 0; v < 9; v++) {
        ones += (int)json_integer_value(json_array_get(state, v));
    }
    ck_assert_int_eq(ones, 2);
    json_decref(object);
    ck_run("sample ising:side=3,bias=3 --draws 50 --vote state");
    ck_assert_ptr_nonnull(strstr(out, "of 200 draws"));
}
END_TEST

START_TEST(tuning_is_written_then_read)
{
    ck_run("sample ising:side=3 --sampler ncg --tempering 3 --draws 20 --tuning t.json --json");
    json_t *first = json_out();
    ck_run("sample ising:side=3 --sampler ncg --draws 20 --seed 8 --tuning t.json --json");
    json_t *second = json_out();
    ck_assert(
        json_equal(json_object_get(first, "step_size"), json_object_get(second, "step_size")));
    ck_assert(json_equal(json_object_get(json_object_get(first, "tempering"), "temperatures"),
                         json_object_get(json_object_get(second, "tempering"), "temperatures")));
    json_decref(first);
    json_decref(second);
    ck_refused(65, "9 free variables, not 16", "sample ising:side=4 --sampler ncg --tuning t.json");
    ck_run("sample ising:side=3 --sampler ncg --step-size auto --draws 20");
    ck_run("sample ising:side=3 --sampler ncg --step-size adapt --draws 20");
    ck_refused(64, "expected adapt|auto|X", "sample ising:side=3 --sampler ncg --step-size best");
    ck_refused(64, "one of them", "sample ising:side=3 --tempering 2 --temperatures 1,2");
    ck_refused(64, "expected 1,T", "sample ising:side=3 --temperatures 1,x");
    ck_refused(64, "number 1 is 2", "sample ising:side=3 --temperatures 2,3");
    ck_refused(64, "--vote-ones", "sample ising:side=3 --vote-ones 2");
    ck_refused(64, "'state' or 'sites'", "sample ising:side=3 --vote all");
    ck_refused(64, ".npy", "sample ising:side=3 --best b.txt");
}
END_TEST

START_TEST(states_are_shown)
{
    int64_t shape[] = { 2, 4 };
    sal_error err;
    ck_ok(sali_npy_write(temp_path("states.npy"), SALI_DTYPE_I32, 2, shape,
                         (int32_t[]){ 1, 0, 1, 0, 0, 0, 0, 1 }, &err),
          &err);
    ck_run("show ising:side=2 states.npy");
    ck_assert_str_eq(out, "0\n2\n\n3\n");
    ck_run("sample clique:nodes=4,density=1 --sampler gibbs --anneal --draws 200 --show");
    const char *shown = strstr(out, "\n\n");
    ck_assert_ptr_nonnull(shown);
    ck_assert_str_eq(shown + 2, "0\n1\n2\n3\n");
    ck_run("show potts:side=2 states.npy");
    ck_assert_str_eq(out, "0 = 1\n1 = 0\n2 = 1\n3 = 0\n\n0 = 0\n1 = 0\n2 = 0\n3 = 1\n");
    ck_run("show potts:side=2 states.npy --states 1");
    ck_assert_str_eq(out, "1 of 2 states, evenly spaced (--states N shows more)\n\nstate 0:\n"
                          "0 = 1\n1 = 0\n2 = 1\n3 = 0\n");
    ck_run("sample potts:side=2 --chains 3 --draws 20 --out many.npy");
    ck_run("show potts:side=2 many.npy");
    ck_assert_int_eq(strncmp(out, "10 of 60 states, evenly", 23), 0);
    ck_assert_ptr_nonnull(strstr(out, "\n\nstate 54:\n0 = "));
    ck_run("show potts:side=2 many.npy --states 60");
    ck_assert_ptr_null(strstr(out, "state"));
    ck_refused(64, "--states 0; expected 1", "show potts:side=2 many.npy --states 0");
    ck_ok(sali_npy_write(temp_path("states.npy"), SALI_DTYPE_I32, 1, shape + 1,
                         (int32_t[]){ 0, 0, 2, 0 }, &err),
          &err);
    ck_refused(65, "state 0 is none of ising", "show ising:side=2 states.npy");
    ck_refused(65, "expected codes of shape (.., 9)", "show ising:side=3 states.npy");
    ck_refused(64, "--show and --json", "sample ising:side=2 --show --json");
}
END_TEST

START_TEST(networks_are_sampled_given_evidence)
{
    temp_write("chain.uai", chain_uai, sizeof chain_uai - 1);
    temp_write("chain.uai.evid", "1 1 2\n", 6);
    ck_run("sample chain.uai --sampler gibbs --chains 64 --draws 2000 --marginals m.json --json");
    json_t *file = json_load_file(temp_path("m.json"), 0, NULL);
    json_t *rows = json_object_get(file, "marginals");
    ck_assert_int_eq((int)json_array_size(rows), 2);
    /* p(x0, x1) is (0.25, 0, 0.25; 1.5, 0.75, 0.75) / 3.5 */
    double p = json_number_value(json_array_get(json_array_get(rows, 1), 0));
    ck_assert_double_eq_tol(p, 0.5, 0.01);
    json_decref(file);
    ck_run("sample chain.uai --evidence chain.uai.evid --chains 64 --draws 2000 --marginals "
           "m.json --json");
    file = json_load_file(temp_path("m.json"), 0, NULL);
    rows = json_object_get(file, "marginals");
    ck_assert_double_eq(json_number_value(json_array_get(json_array_get(rows, 1), 2)), 1);
    p = json_number_value(json_array_get(json_array_get(rows, 0), 1));
    ck_assert_double_eq_tol(p, 0.75, 0.01);
    json_decref(file);
    ck_run("sample chain.uai --clamp 0=1 --marginals m.json --json");
    ck_refused(64, "VARIABLE=CODE", "sample chain.uai --clamp 0:1");
    ck_refused(64, "code 7", "sample chain.uai --clamp 0=7");
    ck_refused(64, "variable 9", "sample chain.uai --clamp 9=0");
}
END_TEST

START_TEST(an_impossible_network_is_refused_with_the_factors)
{
    const char text[] = "MARKOV 1 2 2  1 0 1 0  2 1 0  2 0 1";
    temp_write("never.uai", text, sizeof text - 1);
    ck_refused(65, "factors that forbid", "sample never.uai");
}
END_TEST

START_TEST(value_writes_arrays)
{
    sali_npy array = { 0 };
    sal_error err = { 0 };
    const double x[8] = { -1, -1, -1, -1, 1, 1, 1, -1 };
    const int64_t shape[2] = { 2, 4 };
    ck_ok(sali_npy_write(temp_path("x.npy"), SALI_DTYPE_F64, 2, shape, x, &err), &err);
    ck_run("value ising:side=2,theta=0.5,bias=0.25 --dtype f64 --state x.npy");
    ck_assert_str_eq(out, "3\n0.5\n"); /* 4 edges of 2 theta; two agree and two do not */
    ck_run("value ising:side=2,theta=0.5,bias=0.25 --dtype f64 --state x.npy --out-value f.npy "
           "--out-gradient g.npy --out-differences d.npy");
    ck_ok(npy_read(temp_path("g.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[1], 4);
    double g[8], d[16];
    sali_npy_doubles(&array, g);
    ck_assert_double_eq(g[0], -2 + 0.25);
    npy_free(&array);
    ck_ok(npy_read(temp_path("d.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[1], 8);
    sali_npy_doubles(&array, d);
    ck_assert_double_eq(d[1], 2 * g[0]);
    ck_assert_double_eq(d[0], 0);
    npy_free(&array);
    ck_refused(65, "expected shape", "value ising:side=3 --state x.npy");
    ck_refused(64, "--state", "value ising:side=3");
    ck_refused(66, "none.npy", "value ising:side=3 --state none.npy");
}
END_TEST

/* What a remark on a libsvm file advises can be done where it is said. */
START_TEST(ambiguous_columns_can_be_decided_where_that_is_said)
{
    static const char option[] = "--columns-from 0 or 1 decides", line[] = "a first line \"# zero";
    temp_write("rows.svm", "0 1:1 3:2\n1 1:1 3:2\n", 20);
    temp_write("zero.svm", "# zero-based\n0 1:1 3:2\n1 1:1 3:2\n", 33);
    ck_assert_int_eq(saltus("convert rows.svm rows.csv"), 0);
    ck_assert_msg(strstr(errors, option), "%s", errors);
    ck_run("convert rows.svm rows.csv --columns-from 0");
    ck_run("stats rows.csv --json");
    ck_assert_msg(strstr(out, "\"chains\": 2, \"draws\": 4"), "%s", out);
    ck_assert_int_eq(saltus("stats rows.svm --json"), 0);
    ck_assert_msg(strstr(errors, line) && strstr(out, "\"draws\": 3"), "%s", errors);
    ck_assert_int_eq(saltus("stats zero.svm --json"), 0);
    ck_assert_msg(!strstr(errors, line) && strstr(out, "\"draws\": 4"), "%s", errors);
    ck_run("stats rows.svm --columns-from 0 --json");
    ck_assert_msg(strstr(out, "\"draws\": 4"), "%s", out);
    ck_refused(64, "--columns-from '2'; expected 0 or 1",
               "convert rows.svm x.csv --columns-from 2");
    ck_refused(64, "--columns-from '2'; expected 0 or 1", "stats rows.svm --columns-from 2");
    ck_refused(64, "rows.csv: no libsvm file", "stats rows.csv --columns-from 1");
    ck_assert_int_eq(saltus("exact regression:file=rows.svm"), 0);
    ck_assert_msg(strstr(errors, line) && !strstr(errors, "--columns"), "%s", errors);
}
END_TEST

START_TEST(alignments_are_converted_and_sampled)
{
    char text[1000];
    static const char *const rows[] = { "ACA", "ADA", "WCW", "WDW", "YCY", "YDY" };
    int n = 0;
    for (int i = 0; i < 6; i++) {
        n += sprintf(text + n, ">s%d x\n%s\n", i, rows[i]);
    }
    temp_write("a.fa", text, (size_t)n);
    ck_run("convert a.fa b.aln");
    read_all(temp_path("b.aln"), text, sizeof text);
    ck_assert_str_eq(text, "ACA\nADA\nWCW\nWDW\nYCY\nYDY\n");
    ck_run("convert b.aln c.txt --to stockholm");
    read_all(temp_path("c.txt"), text, sizeof text);
    ck_assert_str_eq(text, "# STOCKHOLM 1.0\n1 ACA\n2 ADA\n3 WCW\n4 WDW\n5 YCY\n6 YDY\n//\n");
    ck_refused(64, "an alignment can be written as: aln (.aln), fasta", "convert a.fa a.uai");
    ck_run("sample c.txt --draws 100 --chains 2");
}
END_TEST

/* Draws as sequences, which are the draws of the array and can be read. */
START_TEST(draws_are_written_as_sequences)
{
    char text[4096];
    static const char rna[] = ">a\nACGU\n>b\nGGCU\n>c\nCU-A\n";
    temp_write("r.fa", rna, sizeof rna - 1);
    const char *draw = "sample potts-alignment:file=r.fa --chains 2 --draws 3 --seed 4 --out";
    ck_run("%s d.npy", draw);
    ck_run("%s d.fasta", draw);
    read_all(temp_path("d.fasta"), text, sizeof text);
    ck_assert_int_eq(strncmp(text, ">chain1_draw1\n", 14), 0);
    ck_assert_ptr_nonnull(strstr(text, ">chain2_draw3\n"));
    ck_run("convert d.npy e.fasta");
    char other[4096];
    read_all(temp_path("e.fasta"), other, sizeof other);
    ck_assert_str_eq(text, other);
    ck_assert_uint_eq(strspn(strstr(text, "draw1\n") + 6, "-ACGU"), 4);
    ck_run("%s d.sto --alphabet dna", draw);
    read_all(temp_path("d.sto"), text, sizeof text);
    ck_assert_ptr_null(strchr(strchr(text, '\n'), 'U'));
    ck_run("sample categorical:dim=3,states=21 --draws 2 --chains 1 --out p.aln");
    ck_refused(64, "sequences have letters of an alphabet of 5 (RNA, DNA) or 21",
               "sample ising:side=3 --draws 2 --out i.fasta");
    ck_refused(64, "sequences have letters of protein", "%s d.fasta --alphabet protein", draw);
    ck_refused(64, "alphabet=x; expected auto, protein, rna, dna or", "%s d.fasta --alphabet x",
               draw);
    ck_refused(64, "--alphabet dna goes with --out NAME.fasta", "%s d.npy --alphabet dna", draw);
    ck_refused(64, "sequences have letters of -ABC, and", "%s d.fasta --alphabet=-ABC", draw);
    ck_run("%s d.aln --alphabet=-WXYZ", draw);
    read_all(temp_path("d.aln"), text, sizeof text);
    ck_assert_uint_eq(strspn(text, "-WXYZ\n"), strlen(text));
    ck_refused(64, ".npy or .nc; for sequences in .fasta, for pictures in .png", "%s d.txt", draw);
    ck_run("sample ising:side=3 --draws 2 --out i.npy");
    ck_run("convert i.npy i.fasta"); /* codes 0 and 1 are letters too */
    temp_write("w.csv", "0,21\n1,2\n", 9);
    ck_refused(64, "letters have codes 0 to 20, and element 1 of the array is 21",
               "convert w.csv w.fasta");
}
END_TEST

/* Ten pictures in a row, two pixels a variable, lines of one pixel between. */
static void ck_sheet(const char *name, int rows, int height, int width)
{
    int sides[2];
    png_sides(name, sides);
    ck_assert_int_eq(sides[0], rows * (2 * height + 1) + 1);
    ck_assert_int_eq(sides[1], 10 * (2 * width + 1) + 1);
}

/* A table of one column, 300 rows, or every third of them. */
static void write_column(const char *name, int step)
{
    char text[601];
    int n = 0;
    for (int row = 0; row < 300; row += step) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%d\n", row * row % 7 < 3);
    }
    temp_write(name, text, (size_t)n);
}

START_TEST(draws_are_written_as_pictures)
{
    if (saltus("sample ising:side=4 --chains 1 --draws 1 --out a.png") != 0) {
        ck_assert_ptr_nonnull(strstr(errors, "libpng"));
        return;
    }
    ck_run("sample ising:side=4 --chains 5 --draws 60 --seed 3 --out a.png");
    ck_sheet("a.png", 10, 4, 4);
    ck_run("sample ising:side=4 --chains 5 --draws 60 --seed 3 --out a.npy");
    ck_run("convert a.npy b.png");
    static char a[1 << 16], b[1 << 16];
    read_all(temp_path("a.png"), a, sizeof a);
    read_all(temp_path("b.png"), b, sizeof b);
    ck_assert_mem_eq(a, b, sizeof a);
    ck_run("sample ising:side=4 --chains 2 --draws 10 --shape 2x8 --out a.png");
    ck_sheet("a.png", 2, 2, 8);
    ck_run("convert a.npy b.png --shape 8x2");
    ck_sheet("b.png", 10, 8, 2);
    write_column("all.csv", 1);
    write_column("third.csv", 3);
    ck_run("convert all.csv a.png");
    ck_run("convert third.csv b.png");
    read_all(temp_path("a.png"), a, sizeof a);
    read_all(temp_path("b.png"), b, sizeof b);
    ck_assert_mem_eq(a, b, sizeof a);
}
END_TEST

START_TEST(what_is_no_picture_is_refused)
{
    ck_refused(64, "binary, spin or ordinal variables", "sample poisson:dim=4 --out a.png");
    ck_refused(64, "in .npy or .nc", "sample categorical:dim=4,states=3 --out a.png");
    ck_refused(64, "8 variables are no squares; give --shape",
               "sample bernoulli:dim=8 --out a.png");
    ck_refused(64, "there are 8 variables", "sample bernoulli:dim=8 --out a.png --shape 3x3");
    ck_refused(64, "as in 20x16", "sample bernoulli:dim=8 --out a.png --shape 2x4x1");
    ck_refused(64, "as in 20x16", "sample bernoulli:dim=8 --out a.png --shape -2x-4");
    ck_refused(64, "--shape wants", "sample bernoulli:dim=8 --out a.npy --shape 2x4");
    temp_write("w.csv", "0,1,1\n1,0,0\n", 12);
    ck_refused(64, "3 variables are no squares", "convert w.csv w.png");
    ck_refused(64, "NAME.png", "convert w.csv w.npy --shape 1x3");
}
END_TEST

/* Models whose random states are forbidden are checked where sampling starts, and kinks are said;
 * the gradient is within the slopes on both sides of them. */
START_TEST(check_starts_where_sampling_does_and_knows_kinks)
{
    double error = 1;
    sal_error err;
    sal_model *model = tiny_limit(SAL_F64);
    ck_ok(sal_model_save(model, temp_path("limit.xml"), &err), &err);
    sal_model_destroy(model);
    ck_run("check limit.xml");
    ck_assert_ptr_null(strstr(out, "not checked"));
    const char *line = strstr(out, "gradient     within ");
    ck_assert(line && sscanf(line, "gradient     within %lf", &error) == 1);
    ck_assert_double_lt(error, 1e-7);
    ck_assert_ptr_nonnull(strstr(out, "  kinks      in "));
    ck_assert_ptr_nonnull(strstr(out, " of 16 coordinates"));
    const char *smooth[] = { "ising:side=4", "poisson:dim=4", "rbm:visible=50,hidden=60",
                             "clique:nodes=20" };
    for (size_t k = 0; k < sizeof smooth / sizeof *smooth; k++) {
        ck_run("check %s", smooth[k]);
        ck_assert_ptr_nonnull(strstr(out, "gradient     within "));
        ck_assert_ptr_null(strstr(out, "kinks"));
    }
}
END_TEST

/* Both variables must agree: no change of one is allowed. Beside it, one that may change. */
START_TEST(check_says_where_it_compared_nothing)
{
    static const char agree[] = "MARKOV\n2\n3 3\n1\n2 0 1\n9\n1 0 0 0 2 0 0 0 3\n";
    static const char free_too[] =
        "MARKOV\n3\n3 3 2\n2\n2 0 1\n1 2\n9\n1 0 0 0 2 0 0 0 3\n2\n1 2\n";
    temp_write("agree.uai", agree, sizeof agree - 1);
    temp_write("free.uai", free_too, sizeof free_too - 1);
    ck_run("check agree.uai");
    ck_assert_ptr_nonnull(strstr(out, "gradient     not compared: every change of one variable is "
                                      "forbidden (f is -inf) at the 4 states looked at\n"));
    ck_assert_ptr_nonnull(strstr(out, "first-order ones are not compared, as no change is"));
    ck_run("check agree.uai --json");
    json_t *json = json_out(), *found = json_object_get(json, "derivatives");
    ck_assert(json_is_null(json_object_get(found, "gradient_error")));
    ck_assert(json_is_null(json_object_get(found, "first_order_error")));
    ck_assert(json_is_real(json_object_get(found, "against_error")));
    json_decref(json);
    ck_run("check free.uai");
    ck_assert_ptr_null(strstr(out, "not compared"));
}
END_TEST

/* sum_i (s_i - least)^1.5 of three bits as bits.xml. */
static void save_powers(double least)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = 3 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F32);
    sal_expr x = sal_sub(sal_state(tape), sal_scalar(tape, least));
    ck_ok(sal_model_from_tape(tape, sal_sum(sal_pow(x, 1.5)), &model, &err), &err);
    ck_ok(sal_model_save(model, temp_path("bits.xml"), &err), &err);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}

/* Differences stay where f is defined; and where it is not defined at a state, no exit of 0. */
START_TEST(check_fails_where_it_could_not_check)
{
    double error = 1;
    save_powers(0);
    ck_run("check bits.xml");
    const char *line = strstr(out, "gradient     within ");
    ck_assert(line && sscanf(line, "gradient     within %lf", &error) == 1);
    ck_assert_double_lt(error, 1e-5);
    save_powers(0.5);
    ck_refused(65, "check: derivatives not checked: ", "check bits.xml");
    ck_assert_ptr_nonnull(strstr(out, "derivatives  not checked: "));
    ck_refused(65, "check: derivatives not checked: ", "check bits.xml --json");
    json_t *json = json_out();
    ck_assert(json_is_null(json_object_get(json, "derivatives")));
    ck_assert(json_is_string(json_object_get(json, "not_checked")));
    json_decref(json);
}
END_TEST

/* As a model, as data and as a file to convert, not only as parameters. */
START_TEST(files_of_torch_save_are_told_everywhere)
{
    static const char pickle[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    temp_write("x.pt", pickle, sizeof pickle - 1);
    ck_refused(65, "x.pt: is a file of Python's torch.save", "sample x.pt");
    ck_refused(65, "python3 -c", "sample ising:file=x.pt");
    ck_refused(65, "python3 -c", "check rbm --params x.pt");
    ck_refused(65, "python3 -c", "train rbm --data x.pt --out run");
    ck_refused(65, "python3 -c", "train rbm --data x.pt --test x.pt --out run");
    ck_refused(65, "python3 -c", "evaluate rbm --data x.pt --kind codes");
    ck_refused(65, "numpy.save(\"data.npy\", x.numpy())", "convert x.pt x.npy");
}
END_TEST

START_TEST(sample_reports_the_statistic)
{
    ck_run("sample hmm:length=30 --draws 50 --warmup 9 --json");
    json_t *object = json_out(), *statistic = json_object_get(object, "statistic");
    ck_assert_str_eq(json_string_value(json_object_get(statistic, "name")), "reconstruction error");
    ck_assert(json_number_value(json_object_get(statistic, "mean")) > 0);
    ck_assert(json_number_value(json_object_get(statistic, "deviation")) > 0);
    ck_assert(json_is_null(json_object_get(statistic, "best")));
    json_decref(object);
    ck_run("sample hmm:length=30 --draws 50 --warmup 9 --anneal");
    ck_assert_ptr_nonnull(strstr(out, "statistic        reconstruction error "));
    ck_assert_ptr_nonnull(strstr(out, "; of the best state "));
    ck_run("sample ising:side=2 --draws 50 --warmup 9");
    ck_assert_ptr_null(strstr(out, "statistic"));
}
END_TEST

static const char peer_script[] = "echo \"$@\" >>calls.txt\n"
                                  "echo a line that is not JSON\n"
                                  "echo '{\"sampler\": \"gwg\", \"steps_per_s\": 2}'\n"
                                  "echo '{\"sampler\": \"other\", \"steps_per_s\": 3}'\n"
                                  "test \"$1\" != potts\n";

START_TEST(bench_puts_a_peer_beside_its_own_figures)
{
    temp_write("peer.sh", peer_script, sizeof peer_script - 1);
    ck_run("bench ising-lattice --side 4 --batch 2 --threads 1 --seconds 0.01 --json --samplers "
           "gwg,ncg:step-size=0.3 --peer 'sh peer.sh'");
    char *second = strchr(out, '\n');
    ck_assert_ptr_nonnull(second);
    *second++ = '\0';
    json_t *gwg = json_out(), *ncg = json_loads(second, 0, NULL);
    double rate = json_number_value(json_object_get(gwg, "steps_per_s"));
    ck_assert_double_eq(json_number_value(json_object_get(gwg, "peer_steps_per_s")), 2);
    ck_assert_double_eq_tol(json_number_value(json_object_get(gwg, "ratio")), rate / 2,
                            1e-8 * rate);
    ck_assert(json_is_null(json_object_get(ncg, "ratio")));
    ck_assert_str_eq(json_string_value(json_object_get(ncg, "sampler")), "ncg");
    json_decref(gwg);
    json_decref(ncg);
    char calls[512];
    read_all(temp_path("calls.txt"), calls, sizeof calls);
    ck_assert_str_eq(calls, "ising-lattice --batch 2 --threads 1 --seconds 0.01 --steps 50 --side "
                            "4 --samplers gwg,ncg\n");
    int code = saltus("bench potts --dim 4 --states 3 --batch 2 --threads 1 --seconds 0.01 --peer "
                      "'sh peer.sh'");
    ck_assert_int_eq(code, 0); /* what the peer said before it failed counts */
    ck_assert_ptr_nonnull(strstr(errors, "the peer failed on potts (exit 1)"));
    ck_assert_ptr_nonnull(strstr(out, "ratio"));
    ck_refused(64, "ising-lattice", "bench nothing --peer true");
    ck_refused(64, "1 to 4096", "bench potts --threads 0");
}
END_TEST

/* A bound is work over the rates of the machine, for the whole batch. Whether a step takes longer
 * is no test: rates are measured at another moment, when the machine may be busy. */
START_TEST(bench_says_how_far_from_the_machines_limits_a_case_is)
{
    ck_run("bench ising-dense --batch 64 --threads 1 --seconds 0.05 --samplers ncg --json --bound");
    json_t *object = json_out();
    double bound = json_number_value(json_object_get(object, "bound_ms"));
    double step = json_number_value(json_object_get(object, "ms_per_step"));
    ck_assert(bound > 0 && step > 0);
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "of_bound")), bound / step,
                            1e-6 * bound / step);
    json_decref(object);
    ck_run("bench ordinal --batch 2 --threads 1 --seconds 0.01 --samplers ncg --bound");
    ck_assert_ptr_nonnull(strstr(out, "Gflop/s in sgemm"));
    ck_assert_ptr_nonnull(strstr(out, "of it"));
    ck_run("bench rbm-train --batch 2 --threads 1 --seconds 0.01 --steps 1 --json --peer 'echo "
           "{\\\"sampler\\\": \\\"train\\\", \\\"steps_per_s\\\": 7}; true'");
    object = json_out();
    ck_assert_double_eq(json_number_value(json_object_get(object, "peer_steps_per_s")), 7);
    ck_assert_str_eq(json_string_value(json_object_get(object, "sampler")), "pcd-block-gibbs-K1");
    json_decref(object);
}
END_TEST

START_TEST(mistakes_get_one_line_and_the_right_code)
{
    ck_refused(64, "unknown command 'smaple'", "smaple ising");
    ck_refused(64, "unknown option", "sample ising --chain 3");
    ck_refused(64, "integer", "sample ising --chains three");
    ck_refused(64, "needs a value", "sample ising --chains");
    ck_refused(64, "no value", "sample ising --json=1");
    ck_refused(64, "expected MODEL", "sample");
    ck_refused(64, "unexpected", "sample ising rbm");
    ck_refused(64, "gwg", "sample ising --sampler gwq");
    ck_refused(64, "step size", "sample ising --sampler gwg --step-size 0.1");
    ck_refused(64, "--step-size", "sample ising --sampler ncg --step-size -1");
    ck_refused(64, "'una' accepts every proposal", "sample ising --sampler una --step-size auto");
    ck_refused(64, "ends in .npy or .nc", "sample ising --out draws.txt");
    ck_refused(64, "--save-warmup wants --out NAME.nc", "sample ising --save-warmup");
    ck_refused(64, "f32 or f64", "sample ising --dtype f16");
    ck_refused(66, "isng", "sample isng");
    ck_refused(66, "none.uai", "sample none.uai");
    ck_refused(66, "none.evid", "sample ising --evidence none.evid");
    ck_refused(64, "side", "sample ising:sides=4");
    ck_refused(66, "none.npy", "stats none.npy");
    ck_refused(64, "ising-dense", "bench nothing");
    ck_refused(64, "samplers, models", "list everything");
    ck_refused(64, "expected samplers, models", "list");
    temp_write("cut.uai", chain_uai, sizeof chain_uai - 8);
    ck_refused(65, "cut.uai:", "sample cut.uai");
    temp_write("bad.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", 40);
    ck_refused(65, "bad.xml", "sample bad.xml");
    ck_refused(74, "cannot be written", "sample ising:side=2 --marginals ''");
    temp_write("a.npy", "not tensors at all, but long enough", 35);
    ck_refused(65, "a.npy", "sample ising:side=2 --params a.npy");
    ck_refused(64, "4096", "sample ising:side=2 --threads 4294967297");
    ck_refused(64, "an integer from 1 to", "sample ising:side=2 --chains 0");
    ck_refused(64, "an integer of 0 or more", "sample ising:side=2 --seed 18446744073709551616");
    ck_refused(64, "step_size", "sample rbm:visible=6,hidden=3 --sampler ncg --step-size 1e-40");
    ck_refused(66, "has no model.xml", "sample ./");
    ck_refused(74, "no-such-dir", "sample ising:side=2 --draws 5 --out no-such-dir/a.npy");
}
END_TEST

/* Contents, not only status: what is written reads back as the same graph. */
START_TEST(convert_writes_other_formats)
{
    static const char graph[] = "<graphml><key id='w' for='edge' attr.name='weight'/><graph>"
                                "<node id='0'/><node id='1'/><node id='2'/>"
                                "<edge source='0' target='1'><data key='w'>2.5</data></edge>"
                                "<edge source='2' target='0'/></graph></graphml>";
    char text[500];
    temp_write("a.graphml", graph, sizeof graph - 1);
    ck_assert_int_eq(saltus("convert a.graphml a.gset"), 0);
    ck_assert_str_eq(errors, "saltus: a.graphml: 1 edge has no weight, which is taken as 1\n");
    ck_assert_str_eq(out, "");
    read_all(temp_path("a.gset"), text, sizeof text);
    ck_assert_str_eq(text, "3 2\n1 2 2.5\n3 1 1\n");
    ck_run("convert a.gset G1 --to gset");
    ck_run("convert G1 a.col");
    read_all(temp_path("a.col"), text, sizeof text);
    ck_assert_str_eq(text, "p edge 3 2\ne 1 2 2.5\ne 1 3\n");
    ck_run("convert a.col b.txt --from dimacs --to graphml");
    ck_run("convert b.txt b.gset");
    read_all(temp_path("b.gset"), text, sizeof text);
    ck_assert_str_eq(text, "3 2\n1 2 2.5\n1 3 1\n");
    temp_write("a.uai", chain_uai, sizeof chain_uai - 1);
    ck_run("convert a.uai b.uai");
    temp_write("e.coo", "# vartype=SPIN\n0 1 0.5\n1 1 -1\n", 30);
    ck_run("convert e.coo e.uai");
    ck_run("exact e.uai --json");
    json_t *object = json_out(); /* f = s1 - s0 s1 / 2 */
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "log_z")),
                            log(2 * cosh(0.5) * 2 * cosh(1.0)), 1e-9);
    json_decref(object);
}
END_TEST

/* By the probabilities of all six states, the products of the two tables' entries. */
/* log10 of Z in the file z.PR. */
static double log10_of_pr(void)
{
    char text[128];
    read_all(temp_path("z.PR"), text, sizeof text);
    ck_assert_int_eq(strncmp(text, "PR\n", 3), 0);
    return atof(text + 3);
}

START_TEST(log_z_is_estimated)
{
    ck_run("logz ising:side=3,theta=0.2 --sweeps 100 --warmup 64 --seed 1 --out-pr z.PR --json");
    json_t *z = json_out();
    const double log_z = json_number_value(json_object_get(z, "log_z"));
    const double error = json_number_value(json_object_get(z, "log_z_error"));
    const double entropy = json_number_value(json_object_get(z, "entropy"));
    const double entropy_error = json_number_value(json_object_get(z, "entropy_error"));
    ck_assert(json_is_true(json_object_get(z, "trusted")));
    ck_assert_int_eq(json_integer_value(json_object_get(z, "sweeps")), 100);
    ck_assert_double_eq_tol(log10_of_pr(), log_z / log(10), 1e-9);
    json_decref(z);
    ck_run("exact ising:side=3,theta=0.2 --json");
    z = json_out();
    ck_assert_double_eq_tol(log_z, json_number_value(json_object_get(z, "log_z")), 4 * error);
    ck_assert_double_eq_tol(entropy, json_number_value(json_object_get(z, "entropy")),
                            4 * entropy_error);
    json_decref(z);
    ck_run("logz ising:side=3,theta=0.2 --clamp 0=1 --sweeps 100 --warmup 64");
    ck_assert_ptr_nonnull(strstr(out, "8 variables (and 1 clamped)"));
    ck_assert_ptr_nonnull(strstr(out, "from both ends"));
    ck_assert_ptr_nonnull(strstr(out, " nats, 0."));
    ck_assert_ptr_nonnull(strstr(out, " a variable\n"));
    ck_assert_ptr_null(strstr(out, "allowed"));
    ck_assert_int_eq(saltus("logz ising:side=12,theta=0.6 --sweeps 20 --warmup 32 --steps 1"), 0);
    ck_assert_ptr_nonnull(strstr(errors, "help"));
    ck_refused(64, "until", "logz ising:side=3 --until ess=4");
    ck_refused(64, "dula", "logz ising:side=3 --sampler dula");
}
END_TEST

/* --fix-sum, where models are opened: one of the nine spins is 1, with eight edges to others. */
START_TEST(sums_are_fixed)
{
    const int32_t codes[2][9] = { { 0, 1 }, { 1, 1 } };
    const int64_t shape[2] = { 1, 9 };
    sal_error err = { 0 };
    ck_run("exact ising:side=3,theta=0.2 --fix-sum spin=-7 --json");
    json_t *object = json_out();
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "log_z")), log(9) + 4, 1e-9);
    json_decref(object);
    ck_run("exact ising:side=3,theta=0.2 --fix-sum spin=-7 --clamp 3=1");
    ck_assert_ptr_nonnull(strstr(out, "entropy          0\n"));
    ck_run("check ising:side=3 --fix-sum spin=-7");
    ck_assert_ptr_nonnull(strstr(out, "9 x spin, 2 states, sum fixed to -7\n"));
    ck_run("check --formula 'a: categorical(3)[4] labels 2 1 1; a[0] == a[1]'");
    ck_assert_ptr_nonnull(strstr(out, "4 x categorical, 3 states, labels fixed to 2 1 1\n"));
    ck_run("compare ising:side=3 --fix-sum spin=-7 --samplers exchange,gwg --draws 50");
    ck_assert_ptr_nonnull(strstr(out, "cannot keep the fixed sum of block 'spin'"));
    for (int k = 0; k < 2; k++) {
        const char *path = temp_path(k ? "two.npy" : "one.npy");
        ck_ok(sali_npy_write(path, SALI_DTYPE_I32, 2, shape, codes[k], &err), &err);
    }
    ck_run("value ising:side=3,theta=0.2 --dtype f64 --fix-sum spin=-7 --codes --state one.npy");
    ck_assert_double_eq_tol(strtod(out, NULL), 4, 1e-9);
    ck_refused(64, "sums to -5; its sum is fixed to -7",
               "value ising:side=3 --fix-sum spin=-7 --codes --state two.npy");
    ck_refused(64, "expected an odd number from -9 to 9", "exact ising:side=3 --fix-sum spin=0");
    ck_refused(66, "there are: spin", "sample ising:side=3 --fix-sum x=1");
    ck_refused(64, "expected BLOCK=SUM", "sample ising:side=3 --fix-sum spin");
    ck_refused(64, "expected BLOCK=SUM", "sample ising:side=3 --fix-sum spin=1.5");
    ck_refused(64, "cannot keep the fixed sum",
               "sample ising:side=3 --fix-sum spin=1 --sampler gwg");
    ck_refused(64, "9.07514e+09 states; it can list 1048576",
               "sample ising:side=6 --fix-sum spin=0 --check-exact --draws 5");
}
END_TEST

START_TEST(the_entropy_is_that_of_all_states)
{
    static const double product[] = { 0.25, 0, 0.25, 1.5, 0.75, 0.75 };
    double sum = 0, entropy = 0;
    for (int k = 0; k < 6; k++) {
        sum += product[k];
    }
    for (int k = 0; k < 6; k++) {
        entropy -= product[k] > 0 ? product[k] / sum * log(product[k] / sum) : 0;
    }
    temp_write("a.uai", chain_uai, sizeof chain_uai - 1);
    ck_run("exact a.uai --json");
    json_t *object = json_out();
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "log_z")), log(sum), 1e-9);
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "entropy")), entropy, 1e-9);
    json_decref(object);
    ck_run("exact a.uai");
    const char *line = strstr(out, "entropy ");
    ck_assert_ptr_nonnull(line);
    ck_assert_double_eq_tol(strtod(line + strlen("entropy "), NULL), entropy, 1e-8);
}
END_TEST

START_TEST(convert_refuses_what_cannot_be)
{
    temp_write("a.uai", chain_uai, sizeof chain_uai - 1);
    temp_write("G1", "2 1\n1 2\n", 8);
    temp_write("none", "of them", 7);
    temp_write("e.coo", "# vartype=SPIN\n0 1 1\n", 21);
    ck_refused(64, "there is no format 'gexf'; there are: ", "convert G1 b --to gexf");
    ck_refused(64, "there is no format 'gexf'", "convert G1 b.gset --from gexf");
    ck_refused(64, "G1.png: a graph can be written as: graphml", "convert G1 G1.png");
    ck_refused(64, "a graph can be written as", "convert G1 b --to tape");
    ck_refused(64, "a network can be written as: uai (.uai)", "convert a.uai b --to tape");
    ck_refused(64, "b.uai: only an energy", "convert G1 b.uai");
    ck_refused(64, "b.coo: an energy has variables of two states", "convert a.uai b.coo");
    ck_refused(64, "none: not recognised; expected one of: ", "convert none b.gset");
    ck_refused(65, "a.uai:1: ", "convert a.uai b.gset --from gset");
    ck_refused(64, "b.gset: this format holds weights", "convert e.coo b.gset");
    ck_refused(66, "missing.gset", "convert missing.gset b.gset");
    ck_refused(74, "no-such-dir", "convert G1 no-such-dir/b.gset");
    ck_refused(74, ".", "convert G1 . --to gset");
    ck_refused(64, "expected IN OUT", "convert G1");
    ck_assert_int_ne(access(temp_path("b.gset"), F_OK), 0);
}
END_TEST

START_TEST(help_and_lists_are_there)
{
    ck_run("--help");
    ck_assert_ptr_nonnull(strstr(out, "sample"));
    ck_run("help sample");
    ck_assert_ptr_nonnull(strstr(out, "--sampler"));
    ck_run("train --help");
    ck_run("--version");
    ck_run("list samplers");
    ck_assert_ptr_nonnull(strstr(out, "gwg"));
    ck_assert_ptr_nonnull(strstr(out, "also called dmala"));
    ck_run("list models");
    ck_assert_ptr_nonnull(strstr(out, "rbm"));
    ck_run("list ops");
    ck_assert_ptr_nonnull(strstr(out, "logsumexp"));
    ck_run("list formats");
    ck_assert_ptr_nonnull(strstr(out, "a graph:\n  graphml    read, write  .graphml\n"));
    ck_assert_ptr_nonnull(strstr(out, "by itself the model ising\n"));
    ck_run("bench ising-dense --dim 10 --batch 4 --threads 1 --seconds 0.01 --samplers ncg");
    json_decref(json_out());
    ck_run("bench conv-grad --batch 3 --threads 1 --seconds 0.01");
    json_decref(json_out());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *tcase = tcase_create("cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, models_with_forbidden_states_are_checked);
    tcase_add_test(tcase, sample_prints_the_documented_fields);
    tcase_add_test(tcase, same_seed_writes_the_same_draws_for_any_threads);
    tcase_add_test(tcase, tempering_anneals_and_votes_are_printed);
    tcase_add_test(tcase, random_graphs_are_converted);
    tcase_add_test(tcase, annealing_takes_a_word_or_none);
    tcase_add_test(tcase, tuning_is_written_then_read);
    tcase_add_test(tcase, sample_refuses_early);
    tcase_add_test(tcase, check_tells_rounding_from_wrong_gradients);
    tcase_add_test(tcase, slopes_that_cannot_be_checked_are_said);
    tcase_add_test(tcase, counts_without_a_cap_are_sampled);
    tcase_add_test(tcase, values_of_counts);
    tcase_add_test(tcase, states_are_shown);
    tcase_add_test(tcase, networks_are_sampled_given_evidence);
    tcase_add_test(tcase, an_impossible_network_is_refused_with_the_factors);
    tcase_add_test(tcase, value_writes_arrays);
    tcase_add_test(tcase, ambiguous_columns_can_be_decided_where_that_is_said);
    tcase_add_test(tcase, alignments_are_converted_and_sampled);
    tcase_add_test(tcase, draws_are_written_as_sequences);
    tcase_add_test(tcase, draws_are_written_as_pictures);
    tcase_add_test(tcase, what_is_no_picture_is_refused);
    tcase_add_test(tcase, files_of_torch_save_are_told_everywhere);
    tcase_add_test(tcase, check_says_where_it_compared_nothing);
    tcase_add_test(tcase, check_fails_where_it_could_not_check);
    tcase_add_test(tcase, check_starts_where_sampling_does_and_knows_kinks);
    tcase_add_test(tcase, sample_reports_the_statistic);
    tcase_add_test(tcase, bench_puts_a_peer_beside_its_own_figures);
    tcase_add_test(tcase, bench_says_how_far_from_the_machines_limits_a_case_is);
    tcase_add_test(tcase, mistakes_get_one_line_and_the_right_code);
    tcase_add_test(tcase, convert_writes_other_formats);
    tcase_add_test(tcase, log_z_is_estimated);
    tcase_add_test(tcase, sums_are_fixed);
    tcase_add_test(tcase, the_entropy_is_that_of_all_states);
    tcase_add_test(tcase, convert_refuses_what_cannot_be);
    tcase_add_test(tcase, help_and_lists_are_there);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
