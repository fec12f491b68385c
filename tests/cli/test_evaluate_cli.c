/* SPDX-License-Identifier: MIT */
/* saltus evaluate as its users call it: data of any kind, few states to start from, Ctrl-C. */
#include "spawn_program.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>

/* 12 rows of 4 codes below 3, of which the last two are held out. */
static const char codes[] = "0,1,2,0\n1,1,0,2\n2,0,0,1\n0,0,1,1\n2,2,1,0\n1,0,2,2\n"
                            "0,2,0,1\n1,1,1,0\n2,1,0,0\n0,0,2,2\n1,2,2,1\n2,2,0,2\n";
static const char alignment[] = ">a\nACD-\n>b\nACDE\n>c\nACDE\n>d\nGCDE\n>e\nACW-\n>f\nGHWE\n";
/* f = 0, so log Z = 4 log 3. */
#define FLAT "evaluate categorical:dim=4,states=3,scale=0 --data codes.csv --kind codes "

static void setup(void)
{
    temp_dir_make();
    temp_write("codes.csv", codes, sizeof codes - 1);
    temp_write("a.fa", alignment, sizeof alignment - 1);
}

/* What the words print as JSON; the caller frees it. */
static json_t *json_of(const char *words)
{
    static char text[1 << 14];
    json_error_t error;
    succeeds(words);
    read_text("stdout.txt", text, sizeof text);
    json_t *object = json_loads(text, 0, &error);
    ck_assert_msg(object != NULL, "%s: %s", error.text, text);
    return object;
}

static double number_of(const json_t *object, const char *way, const char *key)
{
    const json_t *part = way ? json_object_get(object, way) : object;
    const json_t *value = json_object_get(part, key);
    ck_assert_msg(json_is_number(value), "%s: no number", key);
    return json_number_value(value);
}

static bool printed(const char *what)
{
    char text[4096];
    read_text("stdout.txt", text, sizeof text);
    return strstr(text, what) != NULL;
}

START_TEST(codes_of_a_table_are_evaluated)
{
    const char *const ways[] = { "forward", "reverse" };
    json_t *object = json_of(FLAT "--base uniform --temperatures 5 --samples codes.csv --json");
    for (int k = 0; k < 2; k++) {
        ck_assert_double_eq_tol(number_of(object, ways[k], "log_z"), 4 * log(3.0), 1e-8);
        ck_assert_double_eq_tol(number_of(object, ways[k], "log_likelihood"), -4 * log(3.0), 1e-8);
    }
    ck_assert_double_eq_tol(number_of(object, "both_ways", "log_z"), 4 * log(3.0), 1e-8);
    ck_assert_double_eq_tol(number_of(object, "both_ways", "log_likelihood"), -4 * log(3.0), 1e-8);
    ck_assert(number_of(object, NULL, "mmd") >= 0);
    ck_assert(number_of(object, NULL, "mmd2_v") >
              number_of(object, NULL, "mmd") * number_of(object, NULL, "mmd"));
    ck_assert(number_of(object, NULL, "independent_log_likelihood") < -4 * log(3.0));
    json_decref(object);
    succeeds(FLAT "--temperatures 5");
    ck_assert(printed("nats a row, standard error"));
    ck_assert(!printed("log Z both ways  "));
    succeeds(FLAT "--base uniform --temperatures 5 --samples codes.csv");
    ck_assert(printed("log Z both ways  "));
    ck_assert(printed("(log Z both ways)"));
    ck_assert(printed("(variables with the training frequencies)"));
}
END_TEST

/* The held-out rows themselves are nearer than chance, others are not. */
START_TEST(an_mmd_of_no_difference_is_below_noise)
{
    static const char zeros[] = "0,0,0,0\n0,0,0,0\n0,0,0,0\n";
    temp_write("zeros.csv", zeros, sizeof zeros - 1);
    succeeds(FLAT "--test codes.csv --temperatures 5 --samples codes.csv");
    ck_assert(printed(
        "MMD              below noise, samples to held-out rows (root of the U-statistic)\n"));
    succeeds(FLAT "--test codes.csv --temperatures 5 --samples zeros.csv");
    ck_assert(printed("MMD              0."));
    ck_assert(!printed("MMD              below noise"));
    ck_assert(printed(" as a V-statistic, log10 -"));
    /* So do the rows of the verdict: training rows are the held-out ones. */
    ck_assert(printed("  MMD, U-statistic  "));
    ck_assert(printed("       below noise\n"));
    ck_assert(!printed("0.0000"));
}
END_TEST

START_TEST(alignments_are_evaluated)
{
    const char *command = "evaluate potts-alignment:file=a.fa --data a.fa --kind alignment "
                          "--temperatures 10 --chains 5 --json";
    char weighted[400];
    json_t *object = json_of(command);
    double independent = number_of(object, NULL, "independent_log_likelihood");
    ck_assert(isfinite(number_of(object, "forward", "log_likelihood")));
    json_decref(object);
    snprintf(weighted, sizeof weighted, "%s --identity 0.5", command); /* other frequencies */
    object = json_of(weighted);
    ck_assert(fabs(number_of(object, NULL, "independent_log_likelihood") - independent) > 1e-3);
    ck_assert_ptr_null(json_object_get(object, "pearson"));
    json_decref(object);
    /* the model's alignment is the data; samples are compared with it */
    succeeds("sample potts-alignment:file=a.fa --chains 4 --draws 50 --out s.npy");
    object = json_of("evaluate potts-alignment:file=a.fa --temperatures 10 --chains 5 --samples "
                     "s.npy --json");
    ck_assert(fabs(number_of(object, NULL, "pearson")) <= 1);
    json_decref(object);
    succeeds("evaluate potts-alignment:file=a.fa --temperatures 10 --chains 5 --samples s.npy");
    ck_assert(printed("connected pair frequencies of samples and training rows"));
}
END_TEST

/* A state that two chains start from would count twice in the standard error. */
START_TEST(reverse_chains_are_at_most_the_states_to_start_from)
{
    json_t *object = json_of(FLAT "--temperatures 5 --chains 7 --json");
    ck_assert(number_of(object, NULL, "chains") == 7);
    ck_assert(number_of(object, "forward", "chains") == 7);
    ck_assert(number_of(object, "reverse", "chains") == 2);
    json_decref(object);
    object = json_of(FLAT "--temperatures 5 --chains 7 --samples codes.csv --json");
    ck_assert(number_of(object, "reverse", "chains") == 7);
    json_decref(object);
    succeeds(FLAT "--temperatures 5 --chains 20 --samples codes.csv");
    ck_assert(printed("of 20\n"));
    ck_assert(printed("of 12 (from all 12 samples)\n"));
}
END_TEST

START_TEST(bad_data_are_refused)
{
    fails(64, "--kind rows: expected pictures|codes|draws|alignment",
          "evaluate rbm:visible=4 --data codes.csv --kind rows");
    fails(64, "rows of 4 numbers; the model has 5 variables",
          "evaluate rbm:visible=5 --data codes.csv --kind codes");
    fails(64, "code 2; expected 0 to 1", "evaluate rbm:visible=4 --data codes.csv --kind codes");
    temp_write("one.csv", "0,1,2,0\n", 8);
    fails(65, "--samples one.csv: expected two states or more of 4 codes each",
          FLAT "--samples one.csv");
    temp_write("b.csv", "0,1,2,0\n1,1,3,2\n", 16);
    fails(65, "--samples b.csv: code 3 of variable 2; expected 0 to 2", FLAT "--samples b.csv");
    temp_write("c.csv", "0,1,2,0\n1,1,0.5,2\n", 18);
    fails(65, "--samples c.csv: code 0.5 of variable 2", FLAT "--samples c.csv");
}
END_TEST

/* Rows of the phase that the model hardly is in: reverse paths that start there give too little. */
START_TEST(reverse_paths_from_other_states_are_called_so)
{
    static char rows[60 * 36 * 2 + 1];
    for (int i = 0; i < 60 * 36; i++) {
        rows[2 * i] = i % 29 == 0 ? '1' : '0';
        rows[2 * i + 1] = i % 36 == 35 ? '\n' : ',';
    }
    temp_write("minus.csv", rows, sizeof rows - 1);
#define MINUS " --data minus.csv --kind codes --temperatures 100 --fresh 0"
    succeeds("evaluate ising:side=6,theta=0.4,bias=1" MINUS);
    ck_assert(printed("standard errors the wrong way round: the held-out rows that"));
    json_t *object = json_of("evaluate ising:side=6,theta=0.4,bias=1" MINUS " --json");
    ck_assert_int_eq(json_array_size(json_object_get(object, "warnings")), 1);
    json_decref(object);
    /* so many temperatures that paths of both directions end near the truth */
    succeeds("evaluate ising:side=6,theta=0.1" MINUS " --temperatures 2000");
    ck_assert(!printed("wrong way"));
}
END_TEST

/* Fresh samples; of a training its chains, too. */
START_TEST(the_model_is_judged_by_its_own_samples)
{
    json_t *object = json_of(FLAT "--temperatures 5 --json");
    const json_t *verdict = json_object_get(object, "verdict");
    ck_assert_str_eq(json_string_value(json_object_get(verdict, "verdict")), "unknown");
    ck_assert(number_of(verdict, NULL, "chains") == 25 && number_of(verdict, NULL, "draws") == 40);
    ck_assert_double_eq_tol(number_of(verdict, "log_z", "forward"), 4 * log(3.0), 0.5);
    ck_assert(json_is_null(json_object_get(json_object_get(verdict, "log_z"), "bennett")));
    ck_assert(number_of(verdict, "mmd", "fresh") >= 0);
    json_decref(object);
    object = json_of(FLAT "--temperatures 5 --fresh 0 --json");
    ck_assert(json_is_null(json_object_get(object, "verdict")));
    ck_assert(json_is_null(json_object_get(object, "entropy")));
    json_decref(object);
    /* the entropy is that of enumeration */
    object = json_of("exact potts:side=2,states=3,theta=1 --json");
    const double entropy = number_of(object, NULL, "entropy");
    json_decref(object);
    object = json_of("evaluate potts:side=2,states=3,theta=1 --data codes.csv --kind codes --json");
    ck_assert_double_eq_tol(number_of(object, NULL, "entropy"), entropy,
                            4 * number_of(object, NULL, "entropy_error"));
    ck_assert_double_lt(number_of(object, NULL, "entropy_error"), 0.5);
    json_decref(object);
    succeeds("evaluate potts:side=2,states=3,theta=1 --data codes.csv --kind codes");
    ck_assert(printed("nats, standard error 0."));
    ck_assert(printed(" a variable (log Z - mean f of fresh samples)\n"));
    fails(64, "--fresh must be 0 to", FLAT "--fresh -1");
    succeeds("train rbm:hidden=2 --data digits --iterations 2 --fresh 0 --buffer 60 --out run");
    object = json_of("evaluate run --data digits --temperatures 5 --chains 10 --fresh 400 --json");
    verdict = json_object_get(object, "verdict");
    ck_assert(number_of(verdict, NULL, "persistent_rows") == 60);
    ck_assert_str_eq(json_string_value(json_object_get(verdict, "verdict")), "unlike");
    json_decref(object);
}
END_TEST

/* Ctrl-C once the forward half is printed: it stays, and the rest that is known follows. */
START_TEST(an_interrupt_keeps_the_forward_half)
{
    char text[2048];
    pid_t pid = start("evaluate rbm:visible=256,hidden=4 --data digits --chains 4 --temperatures "
                      "20000 --threads 1");
    struct timespec moment = { 0, 1000000 };
    for (int k = 0;
         k < 60000 && !(access(temp_path("stdout.txt"), F_OK) == 0 && printed("log Z forward"));
         k++) {
        nanosleep(&moment, NULL);
    }
    kill(pid, SIGINT);
    ck_assert_int_eq(finish(pid), 0);
    read_text("stderr.txt", text, sizeof text);
    ck_assert_str_eq(text, "saltus: stopped; there is the forward estimate only\n");
    ck_assert(printed("log Z forward"));
    ck_assert(printed("(log Z forward)"));
    ck_assert(printed("independent"));
    ck_assert(!printed("reverse"));
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("evaluate_cli");
    TCase *tc = tcase_create("evaluate_cli");
    tcase_add_checked_fixture(tc, setup, temp_dir_remove);
    tcase_add_test(tc, codes_of_a_table_are_evaluated);
    tcase_add_test(tc, an_mmd_of_no_difference_is_below_noise);
    tcase_add_test(tc, alignments_are_evaluated);
    tcase_add_test(tc, reverse_chains_are_at_most_the_states_to_start_from);
    tcase_add_test(tc, bad_data_are_refused);
    tcase_add_test(tc, reverse_paths_from_other_states_are_called_so);
    tcase_add_test(tc, the_model_is_judged_by_its_own_samples);
    tcase_add_test(tc, an_interrupt_keeps_the_forward_half);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
