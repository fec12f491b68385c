/* SPDX-License-Identifier: MIT */
/* The program on exact answers and several samplers, as its users call it: exact, compare. */
#include "cli_helpers.h"

#include <math.h>

#include <saltus/program.h>
#include <saltus/saltus.h>

/* The number `key` of an entry of a compare's samplers. */
static double figure(const json_t *object, const char *sampler, const char *key)
{
    size_t k;
    json_t *row;
    json_array_foreach(json_object_get(object, "samplers"), k, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "sampler")), sampler) == 0) {
            const json_t *value = json_object_get(row, key);
            ck_assert_msg(value != NULL, "%s has no %s", sampler, key);
            return json_is_null(value) ? NAN : json_number_value(value);
        }
    }
    ck_abort_msg("no %s", sampler);
    return NAN;
}

/* exact and compare warn where single precision is too coarse for the answers. */
START_TEST(coarse_exact_answers_are_told)
{
    static const char coarse[] =
        "<saltus-tape version=\"1\" dtype=\"f32\"><space><block name=\"s\" count=\"2\" "
        "kind=\"spin\"/></space><nodes><node op=\"state\"/><node op=\"square\" in=\"0\"/>"
        "<node op=\"sum\" in=\"1\"><ints>-1</ints></node><node op=\"scale\" in=\"2\"><reals>-1e6"
        "</reals></node></nodes><output node=\"3\"/></saltus-tape>";
    static const char *const commands[] = {
        "exact coarse.xml --json --dtype f32",
        "compare coarse.xml --samplers gibbs --draws 20 --json --dtype f32"
    };
    temp_write("coarse.xml", coarse, sizeof coarse - 1);
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(saltus("%s", commands[k]), 0);
        ck_assert_ptr_nonnull(strstr(errors, "single precision rounds it by up to"));
        ck_assert_ptr_nonnull(strstr(out, "single precision rounds it by up to"));
    }
    ck_run("exact coarse.xml");
    ck_assert_ptr_null(strstr(errors, "precision"));
}
END_TEST

START_TEST(exact_gives_what_can_be_worked_out_by_hand)
{
    temp_write("chain.uai", chain_uai, sizeof chain_uai - 1);
    temp_write("chain.uai.evid", "1 1 2\n", 6);
    ck_run("exact chain.uai --marginals m.json --json");
    json_t *object = json_out(), *file = json_load_file(temp_path("m.json"), 0, NULL);
    /* 3.5 = 0.25 (1 + 1) + 0.75 (2 + 1 + 1) */
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "log_z")), log(3.5), 1e-9);
    ck_assert_double_eq_tol(json_number_value(json_object_get(file, "log_z")), log(3.5), 1e-9);
    const json_t *rows = json_object_get(file, "marginals");
    double p = json_number_value(json_array_get(json_array_get(rows, 1), 0));
    ck_assert_double_eq_tol(p, 0.5, 1e-9);
    json_decref(object);
    json_decref(file);
    ck_run("exact chain.uai --evidence chain.uai.evid --marginals m.json");
    ck_assert_ptr_nonnull(strstr(out, "1 clamped"));
    file = json_load_file(temp_path("m.json"), 0, NULL);
    rows = json_object_get(file, "marginals");
    ck_assert_double_eq(json_number_value(json_array_get(json_array_get(rows, 1), 2)), 1);
    p = json_number_value(json_array_get(json_array_get(rows, 0), 1));
    ck_assert_double_eq_tol(p, 0.75, 1e-9);
    ck_assert_double_eq_tol(json_number_value(json_object_get(file, "log_z")), 0, 1e-9);
    json_decref(file);
    ck_refused(64, "2.14748e+09 states", "exact ising-dense:dim=31 --limit 100000000");
    ck_refused(64, "limit", "exact ising:side=2 --limit -3");
    ck_refused(74, "cannot be written", "exact ising:side=2 --marginals ''");
}
END_TEST

START_TEST(compare_puts_the_figures_of_sample_side_by_side)
{
    ck_run("compare ising:side=3,theta=0.1 --samplers gwg,ncg:step-size=0.5,gibbs --chains 4 "
           "--draws 500 --thin 2 --seed 7 --threads 2 --check-exact --json");
    json_t *first = json_out();
    ck_run("compare ising:side=3,theta=0.1 --samplers ncg:step-size=0.5,gibbs --chains 4 "
           "--draws 500 --thin 2 --seed 7 --threads 1 --check-exact --json");
    json_t *again = json_out();
    ck_run("sample ising:side=3,theta=0.1 --sampler ncg --step-size 0.5 --chains 4 --draws 500 "
           "--thin 2 --seed 7 --check-exact --json");
    json_t *alone = json_out();
    const char *keys[] = { "acceptance_rate", "mean_jump", "rhat_max", "total_variation",
                           "total_variation_ideal" };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        double value = json_number_value(json_object_get(alone, keys[k]));
        ck_assert_double_eq(figure(first, "ncg:step-size=0.5", keys[k]), value);
        ck_assert_double_eq(figure(again, "ncg:step-size=0.5", keys[k]), value);
        ck_assert(!isnan(figure(first, "gwg", keys[k])));
    }
    ck_assert_double_eq(figure(first, "ncg:step-size=0.5", "step_size"), 0.5);
    ck_assert_double_eq(figure(first, "gibbs", "marginal_error"),
                        figure(again, "gibbs", "marginal_error"));
    ck_assert(figure(first, "gwg", "pair_l1") < 0.2 && figure(first, "gwg", "pair_l1") > 0);
    ck_assert(figure(first, "gwg", "covariance_error") > 0);
    ck_assert(figure(first, "gwg", "autocorrelation_time") > 1);
    ck_assert(figure(first, "gwg", "ess_per_step") > 0);
    const char *best = json_string_value(json_object_get(first, "best"));
    ck_assert_ptr_nonnull(best);
    ck_assert_double_ge(figure(first, best, "ess_per_second"),
                        figure(first, "gwg", "ess_per_second"));
    ck_assert_double_ge(figure(first, best, "ess_per_second"),
                        figure(first, "gibbs", "ess_per_second"));
    json_decref(first);
    json_decref(again);
    json_decref(alone);
}
END_TEST

/* The gradient of facility location is 0 for what is closed, so chains stay where they are; and
 * dula is not exact. */
START_TEST(compare_has_no_winner_that_is_wrong)
{
    ck_run("compare facility-location --samplers gwg,ncg,dula --draws 300 --threads 1 --json");
    json_t *object = json_out();
    ck_assert(json_is_null(json_object_get(object, "best")));
    json_decref(object);
    ck_run("compare facility-location --samplers gwg,ncg --draws 300 --threads 1");
    ck_assert_ptr_nonnull(strstr(out, "no exact sampler has an R-hat below 1.1"));
    ck_run("compare ising:side=3,theta=0.1 --samplers dula,gwg --draws 500 --threads 1");
    ck_assert_ptr_nonnull(strstr(out, "most effective draws a second: gwg (of exact samplers"));
    ck_run("compare ising:side=3,theta=0.1 --samplers gwg --draws 500 --threads 1");
    ck_assert_ptr_null(strstr(out, "most effective"));
}
END_TEST

START_TEST(compare_lists_every_sampler_and_why_some_cannot_run)
{
    size_t k;
    json_t *row;
    ck_run("compare potts:side=2 --chains 2 --draws 20 --warmup 20 --threads 1 --json");
    json_t *object = json_out();
    sal_sampler_info info;
    for (int64_t s = 0; sal_sampler_list(s, &info); s++) {
        bool found = false;
        json_array_foreach(json_object_get(object, "samplers"), k, row)
        {
            if (strcmp(json_string_value(json_object_get(row, "sampler")), info.name) == 0) {
                found = true;
                ck_assert_int_eq(json_is_true(json_object_get(row, "exact")), info.exact);
            }
        }
        ck_assert_msg(found, "%s is not listed", info.name);
    }
    json_decref(object);
    /* a window of levels is for ordinal variables */
    int code = saltus("compare ising:side=2 --samplers gwg:radius=2,gibbs --chains 2 --draws 20 "
                      "--threads 1");
    ck_assert_int_eq(code, 0);
    ck_assert_msg(strstr(out, "gibbs") != NULL, "%s", out);
    ck_assert_msg(strstr(out, "exact answers by enumeration") != NULL, "%s", out);
    ck_assert_msg(strstr(out, "IAT") != NULL && strstr(out, "pair L1") != NULL, "%s", out);
}
END_TEST

/* Each sampler as the library does on its own, unless it is told: 10 sweeps of 144 variables. */
START_TEST(compare_warms_up_as_sample_does)
{
    const char *options = "--chains 1 --draws 4 --threads 1 --json";
    const char *samplers[] = { "gibbs", "gwg", "ncg", "block-gibbs" };
    json_t *object, *alone;
    ck_run("compare ising:side=12 --samplers gibbs,gwg,ncg,block-gibbs %s", options);
    object = json_out();
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        ck_run("sample ising:side=12 --sampler %s %s", samplers[k], options);
        alone = json_out();
        ck_assert_double_eq(figure(object, samplers[k], "warmup"),
                            json_number_value(json_object_get(alone, "warmup")));
        json_decref(alone);
    }
    ck_assert_double_eq(figure(object, "gibbs", "warmup"), 1440);
    ck_assert_double_eq(figure(object, "ncg", "warmup"), 1000);
    json_decref(object);
    for (int warmup = 0; warmup < 8; warmup += 7) {
        ck_run("compare ising:side=12 --samplers gibbs %s --warmup %d", options, warmup);
        object = json_out();
        ck_assert_double_eq(figure(object, "gibbs", "warmup"), warmup);
        json_decref(object);
    }
    ck_refused(64, "--warmup -1: expected an integer from 0", "compare ising:side=2 --warmup -1");
}
END_TEST

/* A run too short to time is timed again; what it says of ESS and rate then still fits together.
 * Whether its timings agree is the machine's affair. */
START_TEST(compare_keeps_the_ess_of_short_runs_when_it_times_them_again)
{
    ck_run("compare ising:side=3,theta=0.1 --samplers gwg,gibbs --chains 2 --draws 50 --warmup 10 "
           "--threads 1 --json");
    json_t *object = json_out();
    const char *samplers[] = { "gwg", "gibbs" };
    for (int k = 0; k < 2; k++) {
        double rate = figure(object, samplers[k], "steps_per_second");
        double of_ess = figure(object, samplers[k], "ess_per_second");
        double per_step = figure(object, samplers[k], "ess_per_step");
        ck_assert(rate > 0);
        ck_assert_double_eq_tol(of_ess / rate, 2 * per_step, 1e-6 * per_step);
    }
    json_decref(object);
}
END_TEST

/* Chains have exact answers and a statistic, with clamped variables too; where pairs are too many,
 * marginals are compared without them. */
START_TEST(compare_knows_chains_and_their_reconstruction_error)
{
    const char *quick = "--samplers block-gibbs --chains 2 --draws 50 --warmup 9 --threads 1";
    ck_run("compare hmm:length=30 --clamp 3=1 %s --json", quick);
    json_t *object = json_out(), *reference = json_object_get(object, "reference");
    ck_assert_str_eq(json_string_value(json_object_get(reference, "source")), "forward-backward");
    ck_assert(json_is_true(json_object_get(reference, "pairs")));
    ck_assert(figure(object, "block-gibbs", "statistic") > 0);
    ck_assert(figure(object, "block-gibbs", "pair_l1") < 0.2);
    json_decref(object);
    ck_run("compare fhmm:length=100,factors=10 %s --json", quick);
    object = json_out();
    reference = json_object_get(object, "reference");
    ck_assert(json_is_false(json_object_get(reference, "pairs")));
    ck_assert(figure(object, "block-gibbs", "marginal_error") > 0);
    json_decref(object);
    ck_run("compare hmm:length=30 %s", quick);
    ck_assert_ptr_nonnull(strstr(out, "statistic: mean reconstruction error of the draws"));
    ck_run("compare ising:side=2 %s", quick);
    ck_assert_ptr_null(strstr(out, "statistic"));
}
END_TEST

START_TEST(exact_says_what_is_not_known)
{
    ck_run("exact mixture:dim=30 --json");
    json_t *object = json_out();
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "log_z")), 0, 1e-9);
    ck_assert(json_is_null(json_object_get(object, "entropy")));
    json_decref(object);
    ck_run("exact mixture:dim=30");
    ck_assert_ptr_nonnull(strstr(out, "closed form"));
    ck_assert_ptr_null(strstr(out, "entropy"));
    ck_run("exact bernoulli:dim=30");
    ck_assert_ptr_nonnull(strstr(out, "entropy"));
}
END_TEST

START_TEST(compare_for_equal_time_stops_by_the_clock)
{
    ck_run("compare ising:side=3 --samplers gwg,gibbs --chains 2 --draws 50 --warmup 10 "
           "--threads 1 --time 0.3s --json");
    json_t *object = json_out();
    ck_assert(figure(object, "gwg", "draws") > 0);
    ck_assert(figure(object, "gwg", "thin") >= 1);
    ck_assert_double_eq(json_number_value(json_object_get(object, "time")), 0.3);
    json_decref(object);
    ck_refused(64, "10s", "compare ising --time soon");
    ck_refused(64, "10s", "compare ising --time -3s");
    ck_refused(64, "10s", "compare ising --time 0");
}
END_TEST

START_TEST(exact_eliminates_where_there_are_too_many_states)
{
    ck_run("exact ising:side=6 --json");
    json_t *object = json_out();
    ck_assert_str_eq(json_string_value(json_object_get(object, "oracle")), "elimination");
    ck_assert_int_ge(json_integer_value(json_object_get(object, "width")), 10);
    ck_assert_int_ge(json_integer_value(json_object_get(object, "memory")), 10000);
    json_decref(object);
    ck_run("exact ising:side=6 --memory 1.5M");
    ck_assert_msg(strstr(out, "by               elimination, induced width 1") != NULL, "%s", out);
    ck_assert_msg(strstr(out, "MiB of tables") != NULL, "%s", out);
    ck_refused(64, "its induced width is", "exact ising:side=6 --memory 10K");
    ck_refused(64, "--memory 1X: expected a size", "exact ising:side=6 --memory 1X");
    ck_refused(64, "--memory 0: expected a size", "compare ising:side=6 --memory 0");
    ck_run("compare ising:side=5 --samplers gibbs --chains 2 --draws 20 --threads 1");
    ck_assert_msg(strstr(out, "exact answers by elimination") != NULL, "%s", out);
    ck_assert_msg(strstr(out, "pair L1") != NULL, "%s", out);
}
END_TEST

/* Exact marginals from a file beside the network, or given; only if made for the same evidence. */
START_TEST(compare_reads_exact_marginals_made_for_the_same_evidence)
{
    const char quick[] = "--samplers gibbs --chains 8 --draws 200 --threads 1 --limit 1 --memory 1 "
                         "--json";
    temp_write("chain.uai", chain_uai, sizeof chain_uai - 1);
    temp_write("chain.uai.evid", "1 1 2\n", 6);
    ck_run("compare chain.uai %s", quick);
    json_t *object = json_out();
    ck_assert(json_is_null(json_object_get(object, "reference")));
    ck_assert(isnan(figure(object, "gibbs", "marginal_error")));
    json_decref(object);
    ck_run("exact chain.uai --marginals chain.mar.json --json");
    ck_run("compare chain.uai %s", quick);
    object = json_out();
    ck_assert(figure(object, "gibbs", "marginal_error") < 0.1);
    ck_assert(isnan(figure(object, "gibbs", "pair_l1")));
    json_decref(object);
    ck_run("compare chain.uai --evidence chain.uai.evid %s", quick); /* left alone */
    object = json_out();
    ck_assert(json_is_null(json_object_get(object, "reference")));
    json_decref(object);
    ck_refused(65, "other evidence",
               "compare chain.uai --evidence chain.uai.evid --marginals-exact chain.mar.json %s",
               quick);
    ck_run("exact chain.uai --evidence chain.uai.evid --marginals given.json --json");
    ck_run("compare chain.uai --evidence chain.uai.evid --marginals-exact given.json %s", quick);
    object = json_out();
    ck_assert(figure(object, "gibbs", "marginal_error") < 0.1);
    json_decref(object);
    ck_refused(65, "other evidence", "compare chain.uai --marginals-exact given.json %s", quick);
    const char bad[] = "{\"marginals\": [[0.5, 0.5]]}";
    temp_write("bad.json", bad, sizeof bad - 1);
    ck_refused(65, "bad.json: marginals of 1", "compare chain.uai --marginals-exact bad.json %s",
               quick);
    ck_refused(66, "none.json", "compare chain.uai --marginals-exact none.json %s", quick);
    temp_write("chain.mar.json", "{", 1);
    ck_refused(65, "chain.mar.json:1", "compare chain.uai %s", quick);
}
END_TEST

/* Draws have all variables, also clamped ones, and the probabilities of the model. */
START_TEST(exact_draws_are_written)
{
    sal_array draws;
    sal_error err;
    double ones = 0;
    temp_write("chain.uai", chain_uai, sizeof chain_uai - 1);
    ck_run("exact chain.uai --clamp 1=0 --draws 20000 --seed 3 --out d.npy --json");
    json_t *object = json_out();
    ck_assert_int_eq(json_integer_value(json_object_get(object, "draws")), 20000);
    ck_assert_str_eq(json_string_value(json_object_get(object, "out")), "d.npy");
    json_decref(object);
    ck_ok(sal_array_read(temp_path("d.npy"), SAL_COLUMNS_FIND, &draws, &err), &err);
    ck_assert_int_eq(draws.ndim, 3);
    ck_assert(draws.shape[0] == 1 && draws.shape[1] == 20000 && draws.shape[2] == 2);
    for (int64_t d = 0; d < 20000; d++) {
        ones += draws.values[2 * d];
        ck_assert(draws.values[2 * d + 1] == 0);
    }
    ck_assert_double_eq_tol(ones / 20000, 6 / 7.0, 5 * sqrt(6 / 49.0 / 20000));
    sal_array_free(&draws);
    ck_run("exact chain.uai --clamp 0=1,1=2 --draws 3 --out d.npy");
    ck_assert_ptr_nonnull(strstr(out, "draws            3, independent, in d.npy"));
    ck_ok(sal_array_read(temp_path("d.npy"), SAL_COLUMNS_FIND, &draws, &err), &err);
    ck_assert(draws.count == 6 && draws.values[4] == 1 && draws.values[5] == 2);
    sal_array_free(&draws);
    ck_run("exact poisson:dim=2,rate=250,cap=400 --draws 500 --out d.npy");
    ck_ok(sal_array_read(temp_path("d.npy"), SAL_COLUMNS_FIND, &draws, &err), &err);
    double most = 0;
    for (int64_t k = 0; k < draws.count; k++) {
        most = fmax(most, draws.values[k]);
    }
    ck_assert(draws.count == 1000 && most > 255 && most <= 400);
    sal_array_free(&draws);
    ck_refused(64, "--draws N, of 1 or more, and --out FILE.npy go together",
               "exact chain.uai --draws 3");
    ck_refused(64, "--draws N, of 1 or more, and --out FILE.npy go together",
               "exact chain.uai --out d.npy");
    ck_refused(64, "ends in .npy", "exact chain.uai --draws 3 --out d.nc");
}
END_TEST

/* The UAI's MAR has all variables, observed ones as point masses; PR is in log10. */
START_TEST(uai_results_are_written_and_compared_with)
{
    const char quick[] =
        "--samplers gibbs --chains 8 --draws 200 --threads 1 --limit 1 --memory 1 --json";
    const char mar[] = "MAR\n2\n2 0.14285714285714285 0.8571428571428571\n3 1 0 0\n";
    char text[200];
    temp_write("chain.uai", chain_uai, sizeof chain_uai - 1);
    ck_run("exact chain.uai --clamp 1=0 --marginals m.MAR --out-pr m.PR --json");
    json_t *object = json_out();
    double log_z = json_number_value(json_object_get(object, "log_z"));
    json_decref(object);
    read_all(temp_path("m.MAR"), text, sizeof text);
    double p[5], want[5];
    const char *const format = "MAR\n2\n2 %lf %lf\n3 %lf %lf %lf\n";
    ck_assert_int_eq(sscanf(text, format, &p[0], &p[1], &p[2], &p[3], &p[4]), 5);
    ck_assert_int_eq(sscanf(mar, format, &want[0], &want[1], &want[2], &want[3], &want[4]), 5);
    for (int k = 0; k < 5; k++) {
        ck_assert_double_eq_tol(p[k], want[k], 1e-12);
    }
    read_all(temp_path("m.PR"), text, sizeof text);
    ck_assert_int_eq(sscanf(text, "PR\n%lf\n", &p[0]), 1);
    ck_assert_double_eq_tol(p[0] * log(10), log_z, 1e-9); /* 10 digits are printed */
    ck_run("compare chain.uai --clamp 1=0 --marginals-exact m.MAR %s", quick);
    object = json_out();
    ck_assert(figure(object, "gibbs", "marginal_error") < 0.1);
    ck_assert_double_eq_tol(
        json_number_value(json_object_get(json_object_get(object, "reference"), "log_z")), log_z,
        1e-9);
    json_decref(object);
    ck_refused(65, "other evidence", "compare chain.uai --clamp 1=1 --marginals-exact m.MAR %s",
               quick);
    ck_run("exact chain.uai --marginals chain.uai.MAR");
    ck_run("compare chain.uai %s", quick);
    ck_assert_ptr_nonnull(strstr(out, "chain.uai.MAR"));
    ck_run("sample chain.uai --clamp 1=0 --sampler gibbs --chains 64 --draws 2000 --marginals "
           "s.MAR");
    read_all(temp_path("s.MAR"), text, sizeof text);
    ck_assert_int_eq(sscanf(text, format, &p[0], &p[1], &p[2], &p[3], &p[4]), 5);
    for (int k = 0; k < 5; k++) {
        ck_assert_double_eq_tol(p[k], want[k], 0.02);
    }
    ck_refused(64, "count without a cap",
               "sample poisson:dim=2,rate=4 --draws 100 --marginals s.MAR");
}
END_TEST

/* Variables and states by the names in the file; names go before numbers, which stay valid. */
START_TEST(networks_with_names_are_clamped_by_name)
{
    static const char bif[] =
        "<BIF VERSION='0.3'><NETWORK>"
        "<VARIABLE><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>"
        "<VARIABLE><NAME>wet</NAME><OUTCOME>1</OUTCOME><OUTCOME>0</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>rain</FOR><TABLE>.75 .25</TABLE></DEFINITION>"
        "<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>.125 .875 .5 .5</TABLE></DEFINITION>"
        "</NETWORK></BIF>";
    static const struct {
        const char *clamp;
        double z;
    } cases[] = {
        { "rain=yes", .25 },
        { "rain=0", .75 },
        { "0=no", .75 },
        { "0=1", .25 },
        { "wet=1", .75 * .125 + .25 * .5 }, /* its name, not its number */
        { "1=0", .75 * .875 + .25 * .5 },
    };
    temp_write("w.xml", bif, sizeof bif - 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_run("exact w.xml --clamp %s --json", cases[k].clamp);
        json_t *object = json_out();
        ck_assert_double_eq_tol(exp(json_number_value(json_object_get(object, "log_z"))),
                                cases[k].z, 1e-9);
        json_decref(object);
    }
    static const char *const commands[] = { "exact w.xml", "sample w.xml --draws 20" };
    for (int k = 0; k < 2; k++) {
        ck_run("%s --clamp wet=0 --marginals m.json", commands[k]);
        json_t *file = json_load_file(temp_path("m.json"), 0, NULL);
        char *names = json_dumps(json_object_get(file, "names"), JSON_COMPACT);
        char *states = json_dumps(json_object_get(file, "states"), JSON_COMPACT);
        ck_assert_str_eq(names, "[\"rain\",\"wet\"]");
        ck_assert_str_eq(states, "[[\"no\",\"yes\"],[\"1\",\"0\"]]");
        free(names);
        free(states);
        json_decref(file);
    }
    ck_refused(64, "by the names in the file", "exact w.xml --clamp rain=maybe");
    ck_refused(64, "by the names in the file", "exact w.xml --clamp hail=yes");
    ck_refused(64, "by the names in the file", "exact w.xml --clamp ra=yes");
    ck_refused(64, "by the names in the file", "exact w.xml --clamp rain,wet=1");
    ck_refused(64, "codes 0 to 1", "exact w.xml --clamp rain=2");
}
END_TEST

START_TEST(compare_refuses_samplers_that_do_not_exist)
{
    ck_refused(64, "gwq", "compare ising:side=2 --samplers gwg,gwq");
    ck_refused(64, "step size", "compare ising:side=2 --samplers gwg:step-size=0.1");
    ck_refused(64, "step-size", "compare ising:side=2 --samplers ncg:step-size=no");
    ck_refused(64, "nonsense", "compare ising:side=2 --samplers gwg:radius=0,nonsense=2,gibbs");
    ck_refused(64, "nonsense", "compare ising:side=2 --samplers ncg:step-size=1,nonsense=2,gibbs");
    ck_refused(64, "--samplers", "compare ising:side=2 --samplers ,gwg");
    ck_refused(64, "--samplers", "compare ising:side=2 --samplers ''");
    ck_refused(64, "an integer from 1 to", "compare ising:side=2 --draws 0");
}
END_TEST

START_TEST(compare_couples_chains)
{
    ck_run("compare ising:side=3,theta=0.1 --samplers gibbs,dula --draws 20 --couplings 30 --json");
    json_t *object = json_out();
    const double near = figure(object, "gibbs", "steps_to_01");
    ck_assert(near >= figure(object, "gibbs", "steps_to_25") && near < 1000);
    ck_assert(figure(object, "gibbs", "meeting_time") < near);
    ck_assert_double_eq(figure(object, "gibbs", "pairs"), 30);
    ck_assert_double_eq(figure(object, "gibbs", "pairs_not_met"), 0);
    ck_assert(isnan(figure(object, "dula", "steps_to_01")));
    json_decref(object);
    ck_run("compare ising:side=3,theta=3 --samplers gibbs --draws 20 --couplings 30");
    ck_assert_ptr_nonnull(strstr(out, "of 30 pairs did not meet in 20000 steps: no bound on TV"));
    ck_assert_ptr_null(strstr(out, "TV<"));
    ck_run("compare ising:side=3,theta=0.1 --samplers gibbs --draws 20");
    ck_assert_ptr_null(strstr(out, "meeting"));
    ck_refused(64, "--couplings -1", "compare ising:side=3 --samplers gibbs --couplings -1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_cli");
    TCase *tcase = tcase_create("compare_cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, coarse_exact_answers_are_told);
    tcase_add_test(tcase, exact_gives_what_can_be_worked_out_by_hand);
    tcase_add_test(tcase, exact_eliminates_where_there_are_too_many_states);
    tcase_add_test(tcase, compare_puts_the_figures_of_sample_side_by_side);
    tcase_add_test(tcase, compare_has_no_winner_that_is_wrong);
    tcase_add_test(tcase, compare_lists_every_sampler_and_why_some_cannot_run);
    tcase_add_test(tcase, compare_warms_up_as_sample_does);
    tcase_add_test(tcase, compare_keeps_the_ess_of_short_runs_when_it_times_them_again);
    tcase_add_test(tcase, compare_knows_chains_and_their_reconstruction_error);
    tcase_add_test(tcase, exact_says_what_is_not_known);
    tcase_add_test(tcase, compare_for_equal_time_stops_by_the_clock);
    tcase_add_test(tcase, compare_reads_exact_marginals_made_for_the_same_evidence);
    tcase_add_test(tcase, exact_draws_are_written);
    tcase_add_test(tcase, uai_results_are_written_and_compared_with);
    tcase_add_test(tcase, networks_with_names_are_clamped_by_name);
    tcase_add_test(tcase, compare_couples_chains);
    tcase_add_test(tcase, compare_refuses_samplers_that_do_not_exist);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
