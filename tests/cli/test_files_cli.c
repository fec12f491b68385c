/* SPDX-License-Identifier: MIT */
/* What the program says of the files that it reads. */
#include "cli_helpers.h"

#include <math.h>

#include <saltus/space.h>

/* a and its child b, p(a) = .3 .7, p(b = 1 | a) = .9 .8, as pgmpy writes it: a fastest. */
static const char pgmpy[] = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n.3 .7\n4\n.1 .2 .9 .8\n";
/* The same in the order of the format. */
static const char network[] = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n.3 .7\n4\n.1 .9 .2 .8\n";

/* A call must succeed with one line on stderr that contains `text`. */
#define ck_remarks(text, ...)                                                    \
    do {                                                                         \
        int remarks_code = saltus(__VA_ARGS__);                                  \
        ck_assert_msg(remarks_code == 0 && strstr(errors, (text)) &&             \
                          strchr(errors, '\n') == strrchr(errors, '\n'),         \
                      "exit %d, '%s' lacks '%s'", remarks_code, errors, (text)); \
    } while (0)

static double number_of(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

START_TEST(the_order_of_pgmpy_is_read_and_reported)
{
    temp_write("p.uai", pgmpy, sizeof pgmpy - 1);
    temp_write("n.uai", network, sizeof network - 1);
    temp_write("b.evid", "1 1 0\n", 6);
    ck_run("exact n.uai --evidence b.evid --json");
    json_t *object = json_out();
    double log_z = number_of(object, "log_z");
    ck_assert_double_eq_tol(log_z, log(.3 * .1 + .7 * .2), 1e-12);
    ck_assert_ptr_null(json_object_get(object, "remarks"));
    json_decref(object);
    ck_remarks("saltus: p.uai: its tables are read with the first variable",
               "exact p.uai --evidence b.evid --json");
    object = json_out();
    ck_assert_double_eq_tol(number_of(object, "log_z"), log_z, 1e-12);
    const char *remark = json_string_value(json_array_get(json_object_get(object, "remarks"), 0));
    ck_assert_ptr_nonnull(strstr(remark, "as pgmpy writes them"));
    json_decref(object);
    ck_remarks("as pgmpy writes them", "sample p.uai --draws 20 --chains 2");
    /* and written in the order of the format */
    ck_remarks("as pgmpy writes them", "convert p.uai again.uai");
    ck_run("exact again.uai --evidence b.evid --json");
    object = json_out();
    ck_assert_double_eq_tol(number_of(object, "log_z"), log_z, 1e-12);
    json_decref(object);
    temp_write("w.uai", "BAYES 1 2 1 1 0 2 .3 .6\n", 24);
    ck_refused(65, "w.uai: table 1, of variable 0: a row sums to 0.9", "exact w.uai");
}
END_TEST

START_TEST(evidence_on_all_variables_gives_the_log_probability)
{
    temp_write("n.uai", network, sizeof network - 1);
    temp_write("two.evid", "2\n 2 0 1 1 1\n 1 1 0\n", 20);
    ck_refused(64,
               "two.evid: holds 2 samples of evidence; choose one by its number, from 1 "
               "(--sample K)",
               "exact n.uai --evidence two.evid");
    ck_refused(64, "no sample 3 of evidence; expected 1 to 2",
               "sample n.uai --evidence two.evid --sample 3");
    ck_refused(64, "--sample chooses a sample of --evidence FILE", "exact n.uai --sample 1");
    ck_run("exact n.uai --evidence two.evid --sample 2 --json");
    json_t *object = json_out();
    ck_assert_double_eq_tol(number_of(object, "log_z"), log(.3 * .1 + .7 * .2), 1e-12);
    json_decref(object);
    ck_run("exact n.uai --evidence two.evid --sample 1 --marginals m.json --json");
    object = json_out();
    ck_assert_double_eq_tol(number_of(object, "log_z"), log(.7 * .8), 1e-12);
    ck_assert_double_eq(number_of(object, "entropy"), 0);
    ck_assert(number_of(object, "variables") == 0 && number_of(object, "clamped") == 2);
    json_decref(object);
    object = json_load_file(temp_path("m.json"), 0, NULL);
    json_t *row = json_array_get(json_object_get(object, "marginals"), 1);
    ck_assert_double_eq(json_number_value(json_array_get(row, 1)), 1);
    json_decref(object);
    ck_run("exact n.uai --clamp 0=1,1=1");
    ck_assert_ptr_nonnull(strstr(out, "log Z            -0.5798184953 (natural)"));
    ck_refused(64, "nothing to sample; leave one free. For the log-probability",
               "sample n.uai --clamp 0=1,1=1");
    ck_refused(64, "fixed to both", "exact n.uai --clamp 0=1,1=1,0=0");
    ck_refused(64, "code 2", "exact n.uai --clamp 0=1,1=2");
    temp_write("never.uai", "MARKOV 1 2 1 1 0 2 0 1\n", 23);
    ck_refused(65, "f is -inf there", "exact never.uai --clamp 0=0");
}
END_TEST

/* Counts without a cap have 64 entries, of which the last is "63 or more". */
START_TEST(marginals_of_clamped_counts)
{
    ck_run("exact poisson:dim=2 --clamp 0=3,1=99 --marginals m.json");
    json_t *object = json_load_file(temp_path("m.json"), 0, NULL);
    for (size_t v = 0; v < 2; v++) {
        const json_t *row = json_array_get(json_object_get(object, "marginals"), v);
        ck_assert_uint_eq(json_array_size(row), SAL_COUNT_LEVELS);
        for (size_t k = 0; k < SAL_COUNT_LEVELS; k++) {
            const double p = json_number_value(json_array_get(row, k));
            ck_assert_double_eq(p, k == (v == 0 ? 3 : 63) ? 1 : 0);
        }
    }
    json_decref(object);
}
END_TEST

START_TEST(what_is_read_of_an_alignment_is_reported)
{
    static const char plain[] = ">a\nMKVLA\n>b\nMK-LA\n>c\nMRVLA\n";
    static const char lower[] = ">a\nacgua\n>b\nac-ua\n>c\nagguc\n";
    static const char a2m[] = ">a\nMKwLA\n>b\nMKLX\n>c\nMK.LX\n";
    temp_write("plain.fa", plain, sizeof plain - 1);
    temp_write("lower.fa", lower, sizeof lower - 1);
    temp_write("a2m.fa", a2m, sizeof a2m - 1);
    ck_run("sample plain.fa --draws 10 --chains 2");
    ck_assert_ptr_nonnull(
        strstr(out, "file             plain.fa: 3 sequences of 5 sites (protein)\nmodel"));
    ck_run("sample plain.fa --draws 10 --chains 2 --json");
    json_t *object = json_out();
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(object, "remarks"), 0)),
                     "plain.fa: 3 sequences of 5 sites (protein)");
    json_decref(object);
    ck_remarks("lower.fa: 3 sequences of 5 sites (RNA); no letter is in upper case",
               "sample lower.fa --draws 10 --chains 2");
    ck_remarks("a2m.fa: 3 sequences of 4 sites (protein); 1 lower-case letters are insertions and "
               "were dropped; 2 letters in 2 sequences are outside the alphabet",
               "convert a2m.fa a2m.aln");
    ck_remarks("1 sequences of 4 sites (protein); 1 lower-case letters are insertions and were "
               "dropped; 2 sequences with letters outside the alphabet were dropped",
               "sample potts-alignment:file=a2m.fa,unknown=drop --draws 10 --chains 2");
    ck_refused(64, "--unknown x: expected gap|drop",
               "train rbm --data plain.fa --kind alignment --unknown x --out t");
    ck_refused(64, "--duplicates x: expected keep|drop",
               "train rbm --data plain.fa --kind alignment --duplicates x --out t");
}
END_TEST

START_TEST(parameters_of_potts_models_are_models)
{
    temp_write("j.dat", "J 0 1 - A 0.25\nh 0 - 0.1\n", 25);
    temp_write("h.txt", "h 0 3 -1e-3\nh 1 0 1\n", 20);
    temp_write("j.csv", "J 0 1 2\n", 8);
    ck_remarks("9 of 10 fields are not given, and are 0", "sample j.dat --draws 10 --chains 2");
    ck_remarks("4 states are numbers, and taken for the letters ACGU", "convert h.txt h.dat");
    ck_refused(64, "a Potts model can be written as: adabmdca (.dat)",
               "convert h.txt h.npy --from adabmdca");
    ck_refused(64, "--gauge x: expected as-is, zero-sum or lattice-gas",
               "convert j.dat k.dat --gauge x");
    temp_write("n.csv", "1,2\n", 4);
    ck_refused(64, "a gauge is for parameters of Potts models",
               "convert n.csv k.csv --gauge zero-sum");
    ck_refused(65, "expected a finite decimal number", "convert j.csv j.npy");
    ck_refused(65, "open it in place of the model",
               "value ising:side=2 --params j.dat --state n.csv");
}
END_TEST

#define POTTS                                                          \
    "J 0 1 - A 0.5\nh 0 - 0.25\nh 0 A 0\nh 0 C 0\nh 0 G -1\nh 0 U 0\n" \
    "h 1 - 0\nh 1 A 0\nh 1 C 0\nh 1 G 0\nh 1 U 2\n"
#define WILD ">wild\n-A\n"
#define MUTANTS ">A2U\n-U\n>-1G\nGA\n"

START_TEST(mutants_are_held_against_the_wild_type)
{
    temp_write("p.dat", POTTS, sizeof POTTS - 1);
    temp_write("wild.fa", WILD, sizeof WILD - 1);
    temp_write("mutants.fa", MUTANTS, sizeof MUTANTS - 1);
    temp_write("long.fa", ">a\nACGU\n", 8);
    ck_assert_int_eq(saltus("value p.dat --state mutants.fa --against wild.fa"), 0);
    ck_assert_str_eq(out, "sequence\tf\tdifference\nA2U\t2.25\t1.5\n-1G\t-1\t-1.75\n");
    ck_assert_int_eq(saltus("value p.dat --state mutants.fa"), 0);
    ck_assert_str_eq(out, "sequence\tf\nA2U\t2.25\n-1G\t-1\n");
    ck_assert_int_eq(saltus("value p.dat --state mutants.fa --against wild.fa --json"), 0);
    json_t *object = json_out();
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(object, "sequence"), 1)),
                     "-1G");
    ck_assert_double_eq(json_real_value(json_array_get(json_object_get(object, "difference"), 1)),
                        -1.75);
    json_decref(object);
    ck_refused(65, "--against mutants.fa: 2 states; expected one",
               "value p.dat --state mutants.fa --against mutants.fa");
    ck_refused(65, "long.fa: sequences of 4 sites; the model has 2", "value p.dat --state long.fa");
    ck_refused(65, "the model's variables are not all categorical",
               "value ising:side=2 --state long.fa");
    temp_write("protein.fa", ">p\nMK\n>q\nAC\n", 12);
    temp_write("nameless.fa", ">\n-A\n", 5);
    ck_refused(
        65, "protein.fa: sequence 1 ('p') has the letter 'M' at site 1, which the alphabet -ACGU",
        "value p.dat --state protein.fa");
    ck_refused(65, "the model's variables are not all categorical",
               "value --formula 'x: ordinal(5)[4]; sum(i: x[i])' --state long.fa");
    ck_refused(64, "--codes: wild.fa holds sequences", "value p.dat --state wild.fa --codes");
    ck_assert_int_eq(saltus("value p.dat --state nameless.fa"), 0);
    ck_assert_str_eq(out, "sequence\tf\n1\t0.75\n");
    ck_refused(64, "--against needs --json or printed values",
               "value p.dat --state mutants.fa --against wild.fa --out-value f.npy");
}
END_TEST

/* An alphabet of one's own, from the alignment to sequences of new draws and back; lower-case
 * letters are letters of their own. */
START_TEST(an_alphabet_of_ones_own_goes_all_the_way)
{
    char text[4096];
    static const char own[] = ">a\n1aA\n>b\n0Aa\n>c\n--a\n>d\n01x\n";
    temp_write("own.fa", own, sizeof own - 1);
    temp_write("wild.fa", ">w\n1aA\n", 7);
    temp_write("n.uai", network, sizeof network - 1);
    ck_remarks("own.fa: 4 sequences of 3 sites (-01aA); 1 letters in 1 sequences are outside",
               "sample potts-alignment:file=own.fa,alphabet=-01aA --sampler gibbs --draws 50 "
               "--chains 1 --out d.fasta");
    read_all(temp_path("d.fasta"), text, sizeof text);
    ck_assert_uint_eq(strspn(strstr(text, "draw1\n") + 6, "-01aA"), 3);
    ck_remarks("own.fa: 4 sequences of 3 sites (-01aA); 1 letters",
               "train potts-alignment:file=own.fa,alphabet=-01aA --out own --batch 2 --buffer 4 "
               "--iterations 2 --test wild.fa --pearson 0");
    ck_assert_ptr_nonnull(strstr(out, "4 sequences of 3 sites (-01aA)"));
    /* a target that so few chains do not show */
    ck_assert_int_eq(saltus("train potts-alignment:file=own.fa,alphabet=-01aA --out noisy "
                            "--batch 2 --buffer 4 --iterations 2 --test wild.fa"),
                     0);
    ck_assert_ptr_nonnull(strstr(errors, "saltus: 4 chains of a perfect model would show"));
    ck_assert_ptr_nonnull(strstr(errors, "what helps: --buffer 40 or more"));
    ck_run("sample own --sampler gibbs --draws 50 --chains 1 --out d.fasta");
    read_all(temp_path("d.fasta"), text, sizeof text);
    ck_assert_uint_eq(strspn(strstr(text, "draw1\n") + 6, "-01aA"), 3);
    ck_run("convert own own.dat");
    ck_run("convert d.fasta d.sto --alphabet=-01aA");
    read_all(temp_path("d.sto"), text, sizeof text);
    ck_assert_uint_eq(strspn(strstr(text, "draw1 ") + 6, "-01aA"), 3);
    ck_refused(65, "has the character", "convert d.fasta e.sto");
    ck_refused(64,
               "an alphabet is for sequences, draws and parameters of Potts models; n.uai holds",
               "convert n.uai n.xmlbif --alphabet=rna");
    ck_run("value own --state d.fasta --against wild.fa");
    snprintf(text, sizeof text, "%.4000s", out);
    ck_run("value potts-parameters:file=own.dat,alphabet=-01aA --dtype f64 --state d.fasta "
           "--against wild.fa");
    double difference[2] = { 0 }, f;
    ck_assert_int_eq(sscanf(strstr(text, "draw1\t"), "draw1\t%lf\t%lf", &f, &difference[0]), 2);
    ck_assert_int_eq(sscanf(strstr(out, "draw1\t"), "draw1\t%lf\t%lf", &f, &difference[1]), 2);
    ck_assert_double_eq_tol(difference[0], difference[1], 1e-5);
    ck_refused(65,
               "own.fa: sequence 4 ('d') has the letter 'x' at site 3, which the alphabet -01aA",
               "value own --state own.fa");
    ck_run("evaluate own --data wild.fa --kind alignment --test wild.fa");
    ck_refused(64,
               "the 5 letters of the alphabet -Aa01; the model's variables have 5 states, -01aA",
               "evaluate own --data wild.fa --kind alignment --test wild.fa --alphabet=-Aa01");
    ck_refused(64, "potts-alignment: alphabet=-0-; expected",
               "sample potts-alignment:file=own.fa,alphabet=-0-");
}
END_TEST

/* Models whose sites have no gap: draws are sequences without it, and data with a gap are left
 * out. */
START_TEST(models_without_a_gap_take_and_give_sequences)
{
    char text[4096];
    static const char rna[] = ">a\nACGU\n>b\nGGCU\n>c\nCU-A\n>d\nUUAG\n>e\nCCNA\n";
    temp_write("r.fa", rna, sizeof rna - 1);
    temp_write("t.fa", rna, 16);
    ck_run("sample categorical:dim=4,states=4 --draws 30 --chains 1 --seed 2 --out d.fasta");
    ck_run("sample categorical:dim=4,states=4 --draws 30 --chains 1 --seed 2 --out d.npy");
    read_all(temp_path("d.fasta"), text, sizeof text);
    ck_assert_ptr_nonnull(strchr(text, 'A'));
    ck_assert_ptr_nonnull(strchr(text, 'U'));
    ck_assert_ptr_null(strchr(text, '-'));
    ck_run("sample categorical:dim=4,states=20 --draws 60 --chains 1 --seed 2 --out p.aln");
    read_all(temp_path("p.aln"), text, sizeof text);
    ck_assert_uint_eq(strspn(text, "ACDEFGHIKLMNPQRSTVWY\n"), strlen(text));
    ck_assert(strchr(text, 'A') && strchr(text, 'Y'));
    ck_remarks("r.fa: 3 sequences of 4 sites (ACGU); 2 sequences with gaps or letters outside the "
               "alphabet were dropped",
               "train potts-alignment:file=r.fa,alphabet=ACGU --out gapless --batch 2 --buffer 4 "
               "--iterations 2 --test t.fa --pearson 0");
    ck_remarks("r.fa: 3 sequences of 4 sites (ACGU); 2 sequences with gaps",
               "evaluate gapless --data r.fa --kind alignment --test t.fa");
    ck_refused(65,
               "r.fa: sequence 3 ('c') has the gap '-' at site 3, which the alphabet ACGU lacks",
               "evaluate gapless --data r.fa --kind alignment --test t.fa --unknown error");
    ck_refused(65, "r.fa: sequence 3 ('c') has the gap '-'", "value gapless --state r.fa");
    ck_run("value gapless --state t.fa");
    ck_run("convert gapless gapless.dat");
    read_all(temp_path("gapless.dat"), text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "h 0 U "));
    ck_assert_ptr_null(strstr(text, "h 0 - "));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files_cli");
    TCase *tcase = tcase_create("files_cli");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, the_order_of_pgmpy_is_read_and_reported);
    tcase_add_test(tcase, evidence_on_all_variables_gives_the_log_probability);
    tcase_add_test(tcase, marginals_of_clamped_counts);
    tcase_add_test(tcase, what_is_read_of_an_alignment_is_reported);
    tcase_add_test(tcase, parameters_of_potts_models_are_models);
    tcase_add_test(tcase, mutants_are_held_against_the_wild_type);
    tcase_add_test(tcase, an_alphabet_of_ones_own_goes_all_the_way);
    tcase_add_test(tcase, models_without_a_gap_take_and_give_sequences);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
