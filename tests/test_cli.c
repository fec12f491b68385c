/* The program as its users call it: outputs, files, messages, exit codes. */
#include "temp_dir.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <saltus/saltus.h>
#include "io/npy.h"

/* What a command printed, stdout and stderr apart. */
static char out[1 << 16], errors[1 << 14];

static void read_all(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
}

/* Run "saltus ARGUMENTS" in the temporary directory; its exit code. */
static int saltus(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int saltus(const char *format, ...)
{
    char arguments[2048], command[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    snprintf(command, sizeof command, "cd %s && '%s' %s >stdout.txt 2>stderr.txt", temp_dir,
             SALTUS_PROGRAM, arguments);
    int status = system(command);
    read_all(temp_path("stdout.txt"), out, sizeof out);
    read_all(temp_path("stderr.txt"), errors, sizeof errors);
    ck_assert_msg(WIFEXITED(status), "saltus %s: killed", arguments);
    return WEXITSTATUS(status);
}

/* A call must succeed without a word on stderr. */
#define ck_run(...)                                                                               \
    do {                                                                                          \
        int ck_run_code = saltus(__VA_ARGS__);                                                    \
        ck_assert_msg(ck_run_code == 0 && errors[0] == '\0', "exit %d: %s", ck_run_code, errors); \
    } while (0)

/* A call must fail with this exit code and one line on stderr that contains `text`. */
#define ck_refused(code, text, ...)                                                            \
    do {                                                                                       \
        int ck_refused_code = saltus(__VA_ARGS__);                                             \
        ck_assert_msg(ck_refused_code == (code), "exit %d, expected %d: %s", ck_refused_code,  \
                      (code), errors);                                                         \
        ck_assert_msg(strstr(errors, (text)) != NULL, "'%s' lacks '%s'", errors, (text));      \
        ck_assert_msg(strchr(errors, '\n') == strrchr(errors, '\n'), "more than one line: %s", \
                      errors);                                                                 \
    } while (0)

static json_t *json_out(void)
{
    json_error_t error;
    json_t *object = json_loads(out, 0, &error);
    ck_assert_msg(object != NULL, "not one JSON object: %s\n%s", error.text, out);
    return object;
}

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
    ck_ok(sali_npy_read(temp_path("a.npy"), &a, &err), &err);
    ck_ok(sali_npy_read(temp_path("b.npy"), &b, &err), &err);
    ck_assert_int_eq(a.dtype, SALI_DTYPE_U8);
    ck_assert_int_eq(a.ndim, 3);
    ck_assert_int_eq(a.shape[0], 5);
    ck_assert_int_eq(a.shape[1], 50);
    ck_assert_int_eq(a.shape[2], 16);
    ck_assert_mem_eq(a.data, b.data, (size_t)a.count);
    sali_npy_free(&a);
    sali_npy_free(&b);
    ck_run("stats a.npy");
    ck_assert_ptr_nonnull(strstr(out, "R-hat"));
    ck_run("stats a.npy --json");
    json_decref(json_out());
}
END_TEST

/* What cannot succeed is refused before the chains run. */
START_TEST(sample_refuses_early)
{
    ck_refused(64, "expected 1 to", "sample ising:side=3 --chains 4611686018427387904");
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

START_TEST(counts_without_a_cap_are_sampled)
{
    sali_npy draws = { 0 };
    sal_error err = { 0 };
    ck_run("sample poisson:dim=2,rate=4 --chains 16 --draws 4000 --out p.npy --marginals p.json "
           "--json");
    json_t *summary = json_out();
    ck_assert_str_eq(json_string_value(json_object_get(summary, "sampler")), "gwg");
    json_decref(summary);
    ck_ok(sali_npy_read(temp_path("p.npy"), &draws, &err), &err);
    ck_assert_int_eq(draws.dtype, SALI_DTYPE_I32);
    ck_assert_int_eq(draws.count, 16 * 4000 * 2);
    sali_npy_free(&draws);
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
    ck_ok(sali_npy_read(temp_path("nd.npy"), &array, &err), &err);
    double d[4];
    ck_assert_int_eq(array.count, 4);
    sali_npy_doubles(&array, d);
    ck_assert_double_eq(d[0], -INFINITY);
    ck_assert_double_eq_tol(d[1], 0, 1e-14);
    ck_assert_double_eq_tol(d[2], log(3), 1e-14);
    ck_assert_double_eq_tol(d[3], -log(4), 1e-14);
    sali_npy_free(&array);
    ck_run("value poisson:dim=2,rate=1,cap=3 --state n.npy --out-differences nd.npy");
    ck_ok(sali_npy_read(temp_path("nd.npy"), &array, &err), &err);
    ck_assert_int_eq(array.count, 8);
    sali_npy_free(&array);
    ck_ok(sali_npy_write(temp_path("n.npy"), SALI_DTYPE_F64, 2, shape, x + 2, &err), &err);
    ck_refused(64, "no states", "value poisson:dim=2 --state n.npy --out-differences nd.npy");
    ck_ok(sali_npy_write(temp_path("n.npy"), SALI_DTYPE_F64, 2, shape, x, &err), &err);
    ck_refused(64, "no states", "value poisson:dim=2,cap=2 --state n.npy --out-differences nd.npy");
}
END_TEST

/* A small network whose marginals can be worked out by hand. */
static const char chain_uai[] = "MARKOV\n2\n2 3\n2\n1 0\n2 0 1\n2\n 0.25 0.75\n6\n 1 0 1  2 1 1\n";

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
    ck_ok(sali_npy_read(temp_path("best.npy"), &best, &err), &err);
    ck_assert(best.ndim == 1 && best.shape[0] == 9);
    sali_npy_free(&best);
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
    ck_refused(64, "'adapt', 'auto'", "sample ising:side=3 --sampler ncg --step-size best");
    ck_refused(64, "one of them", "sample ising:side=3 --tempering 2 --temperatures 1,2");
    ck_refused(64, "expected 1,T", "sample ising:side=3 --temperatures 1,x");
    ck_refused(64, "number 1 is 2", "sample ising:side=3 --temperatures 2,3");
    ck_refused(64, "--vote-ones", "sample ising:side=3 --vote-ones 2");
    ck_refused(64, "'state' or 'sites'", "sample ising:side=3 --vote all");
    ck_refused(64, ".npy", "sample ising:side=3 --best b.txt");
}
END_TEST

START_TEST(summaries_are_shown_and_scored)
{
    static const char text[] =
        "Bakers like rye. Rye bread is dark.\n\nThe sea was calm. Boats went\nout to sea early.";
    static const char best[] = "Bakers like rye.\nThe sea was calm.\n";
    int64_t shape[] = { 2, 4 };
    sal_error err;
    temp_write("doc.txt", text, sizeof text - 1);
    ck_ok(sali_npy_write(temp_path("states.npy"), SALI_DTYPE_I32, 2, shape,
                         (int32_t[]){ 1, 0, 1, 0, 0, 0, 0, 1 }, &err),
          &err);
    ck_run("show summary:file=doc.txt states.npy");
    ck_assert_str_eq(out, "Bakers like rye.\nThe sea was calm.\n\nBoats went out to sea early.\n");
    ck_run("sample summary:file=doc.txt,words=7 --sampler gibbs --anneal --draws 200 --show");
    const char *shown = strstr(out, "\n\n");
    ck_assert_ptr_nonnull(shown);
    temp_write("best.txt", shown + 2, strlen(shown + 2));
    ck_run("rouge best.txt best.txt --json");
    json_t *object = json_out();
    ck_assert_double_eq(json_real_value(json_object_get(object, "f")), 1);
    json_decref(object);
    temp_write("a.txt", best, sizeof best - 1);
    ck_run("rouge a.txt doc.txt"); /* 5 of 6 bigrams, not rye-the, among 16 */
    ck_assert_str_eq(out, "ROUGE-2          recall 0.3125, precision 0.8333, F 0.4545\n");
    ck_run("rouge a.txt doc.txt --n 1 --bytes 9"); /* "Bakers li": one of 2 words, of 17 */
    ck_assert_str_eq(out, "ROUGE-1          recall 0.0588, precision 0.5000, F 0.1053\n");
    ck_run("show potts:side=2 states.npy");
    ck_assert_str_eq(out, "0 = 1\n1 = 0\n2 = 1\n3 = 0\n\n0 = 0\n1 = 0\n2 = 0\n3 = 1\n");
    ck_ok(sali_npy_write(temp_path("states.npy"), SALI_DTYPE_I32, 1, shape + 1,
                         (int32_t[]){ 0, 0, 2, 0 }, &err),
          &err);
    ck_refused(65, "state 0 is none of ising", "show ising:side=2 states.npy");
    ck_refused(65, "expected codes of shape (.., 9)", "show ising:side=3 states.npy");
    ck_refused(64, "--show and --json", "sample ising:side=2 --show --json");
    ck_refused(64, "--n must be", "rouge a.txt doc.txt --n 0");
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
    ck_ok(sali_npy_read(temp_path("g.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[1], 4);
    double g[8], d[16];
    sali_npy_doubles(&array, g);
    ck_assert_double_eq(g[0], -2 + 0.25);
    sali_npy_free(&array);
    ck_ok(sali_npy_read(temp_path("d.npy"), &array, &err), &err);
    ck_assert_int_eq(array.shape[1], 8);
    sali_npy_doubles(&array, d);
    ck_assert_double_eq(d[1], 2 * g[0]);
    ck_assert_double_eq(d[0], 0);
    sali_npy_free(&array);
    ck_refused(65, "expected shape", "value ising:side=3 --state x.npy");
    ck_refused(64, "--state", "value ising:side=3");
    ck_refused(66, "none.npy", "value ising:side=3 --state none.npy");
}
END_TEST

/* Sites 1 and 3 vary together, site 2 by itself. */
START_TEST(alignments_are_converted_sampled_and_ranked)
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
    ck_run("contacts potts-alignment:file=c.txt,identity=1 --out d.csv");
    read_all(temp_path("d.csv"), text, sizeof text);
    ck_assert_int_eq(strncmp(text, "i,j,score,norm\n1,3,", 19), 0);
    n = 0;
    for (const char *c = text; *c; c++) {
        n += *c == '\n';
    }
    ck_assert_int_eq(n, 4);
    ck_run("contacts c.txt --out d.csv --separation 2 --top 5");
    read_all(temp_path("d.csv"), text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "norm\n1,3,"));
    ck_assert_ptr_null(strstr(text, "\n1,2,"));
    ck_assert_ptr_null(strstr(text, "\n2,3,"));
    ck_refused(64, "--out FILE.csv is needed", "contacts c.txt");
    ck_refused(64, "must be 1 or more", "contacts c.txt --out d.csv --top 0");
    ck_refused(65, "no couplings of sites", "contacts ising --out e.csv");
    ck_refused(65, "no couplings of sites", "contacts ising-dense --out e.csv");
}
END_TEST

START_TEST(train_writes_a_model_that_sample_reads)
{
    char log[4096];
    ck_run("train rbm:hidden=16 --data digits --iterations 40 --report 20 --batch 20 --buffer 60 "
           "--out run --json");
    json_decref(json_out());
    read_all(temp_path("run/log.csv"), log, sizeof log);
    ck_assert_ptr_nonnull(strstr(log, "mmd"));
    ck_assert_ptr_nonnull(strstr(log, "\n40,"));
    ck_run("sample run/model.xml --chains 4 --draws 20 --json");
    json_t *object = json_out();
    ck_assert_int_eq(json_integer_value(json_object_get(object, "variables")), 256);
    json_decref(object);
    ck_run("check run/model.xml --program");
    ck_run("train mlp:hidden=4,base=1 --data digits --iterations 2 --out run");
    ck_run("check run/model.xml");
    ck_assert_ptr_nonnull(strstr(out, "variables    256"));
    for (const char *const *name =
             (const char *[]){ "log.csv", "model.xml", "model.safetensors", "samples.png", NULL };
         *name; name++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", *name);
        remove(temp_path(path));
    }
    rmdir(temp_path("run"));
    ck_refused(66, "none.gz", "train rbm --data none.gz --out run");
    ck_refused(64, "--data", "train rbm --out run");
    ck_refused(64, "--data digits: rows of 256 numbers; the model has 16",
               "train rbm:visible=16 --data digits --out run");
    ck_refused(64, "the model has 100", "train ising --data digits --out run");
    temp_write("text.idx", "not pictures", 12);
    ck_refused(65, "text.idx", "train rbm --data text.idx --out run");
}
END_TEST

/* The whole way, and that the same options give the same figures for any number of threads. */
START_TEST(evaluate_reads_what_train_wrote)
{
    static const char *const keys[] = { "log_z",           "log_z_error",
                                        "log_z_jackknife", "effective_chains",
                                        "log_likelihood",  "log_likelihood_error" };
    static char first[sizeof out];
    const char *options = "--data digits --chains 20 --temperatures 30 --json";
    ck_run("train rbm:hidden=3 --data digits --out run --iterations 20 --steps 2 --threads 1");
    ck_run("evaluate run %s --threads 1", options);
    strcpy(first, out);
    json_t *object = json_out();
    for (int way = 0; way < 2; way++) {
        const json_t *part = json_object_get(object, way ? "reverse" : "forward");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            ck_assert_msg(json_is_number(json_object_get(part, keys[k])), "%s", keys[k]);
        }
    }
    ck_assert_str_eq(json_string_value(json_object_get(object, "reverse_from")), "test");
    ck_assert(json_is_number(json_object_get(object, "independent_log_likelihood")));
    ck_assert_ptr_null(json_object_get(object, "mmd"));
    json_decref(object);
    ck_run("evaluate run %s --threads 2", options);
    ck_assert_str_eq(out, first);
    ck_run("evaluate run/model.xml --params run/model.safetensors %s", options);
    ck_run("sample run/model.xml --chains 4 --draws 5 --warmup 20 --out draws.npy");
    ck_run("evaluate run %s --samples draws.npy", options);
    object = json_out();
    ck_assert_str_eq(json_string_value(json_object_get(object, "reverse_from")), "samples");
    ck_assert(json_number_value(json_object_get(object, "mmd")) > 0);
    json_decref(object);
    temp_write("run/ema.safetensors", "no tensors", 10); /* is preferred to the model's own */
    ck_refused(65, "ema.safetensors", "evaluate run %s", options);
    static const char *const files[] = { "ema.safetensors", "log.csv", "model.xml",
                                         "model.safetensors", "samples.png" };
    for (int k = 0; k < 5; k++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", files[k]);
        remove(temp_path(path));
    }
    rmdir(temp_path("run"));
}
END_TEST

START_TEST(evaluate_refuses_bad_options)
{
    ck_refused(64, "--data FILE (or digits) is needed", "evaluate rbm:visible=256");
    ck_refused(64, "--schedule cubic: expected linear, sigmoid or geometric",
               "evaluate rbm:visible=256 --data digits --schedule cubic");
    ck_refused(64, "--base mean: expected data or uniform",
               "evaluate rbm:visible=256 --data digits --base mean");
    ck_refused(64, "must be 1 or more", "evaluate rbm:visible=256 --data digits --chains 0");
    ck_refused(64, "--data digits: rows of 256 numbers; the model has 16",
               "evaluate ising:side=4 --data digits");
    ck_refused(64, "importance weights", "evaluate rbm:visible=256 --data digits --sampler dula");
    ck_refused(66, "the directory has no model.xml", "evaluate . --data digits");
    ck_run("sample ising:side=4 --draws 10 --out draws.npy");
    ck_refused(65, "--samples draws.npy: expected two states or more of 256 codes each",
               "evaluate rbm:visible=256 --data digits --samples draws.npy");
}
END_TEST

/* What a training left in "run". */
static void remove_trained(void)
{
    static const char *const names[] = { "log.csv", "model.xml", "model.safetensors", "samples.png",
                                         "ema.safetensors" };
    for (int k = 0; k < 5; k++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", names[k]);
        remove(temp_path(path));
    }
    rmdir(temp_path("run"));
}

START_TEST(inpaint_fills_in_what_is_hidden)
{
    uint8_t mask[256] = { 0 };
    sal_error err = { 0 };
    static char first[1 << 16];
    ck_run("train rbm:hidden=4 --data digits --iterations 3 --steps 2 --out run");
    saltus("inpaint run --data digits --mask top --out a.png --first 3 --steps 20 --samples 2");
    if (strstr(errors, "without libpng")) {
        test_skipped("built without libpng");
        remove_trained();
        return;
    }
    ck_assert_str_eq(errors, "");
    ck_assert_ptr_nonnull(strstr(out, "3 pictures, 2 samples of each, 128 of 256 pixels hidden"));
    remove(temp_path("a.png"));
    const char *again = "inpaint run --data digits --mask center --out a.png --rows 5,0,5 "
                        "--steps 20 --json --threads %d";
    for (int threads = 1; threads < 3; threads++) {
        ck_run(again, threads);
        ck_assert(threads == 1 || strcmp(out, first) == 0);
        strcpy(first, out);
    }
    json_t *object = json_out(), *rows = json_object_get(object, "rows");
    ck_assert_int_eq(json_integer_value(json_object_get(object, "hidden")), 64);
    ck_assert_int_eq(json_integer_value(json_array_get(rows, 0)), 5);
    ck_assert_int_eq(json_integer_value(json_array_get(rows, 1)), 0);
    ck_assert_uint_eq(json_array_size(rows), 3);
    double agreement = json_real_value(json_object_get(object, "agreement"));
    ck_assert(agreement > 0 && agreement < 1);
    json_decref(object);
    ck_assert_int_eq(access(temp_path("a.png"), R_OK), 0);
    mask[3] = mask[200] = 1;
    ck_ok(sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ 16, 16 }, mask, &err),
          &err);
    ck_run("inpaint run/model.xml --data digits --mask m.npy --out a.png --steps 20");
    ck_assert_ptr_nonnull(strstr(out, "8 samples of each, 2 of 256 pixels hidden"));
    /* Rows may be asked for more often than the file has any. */
    ck_ok(sali_npy_write(temp_path("one.npy"), SALI_DTYPE_U8, 3, (int64_t[]){ 1, 16, 16 }, mask,
                         &err),
          &err);
    ck_run("inpaint run/model.xml --data one.npy --mask top --out a.png --steps 20 --rows 0,0,0");
    ck_assert_ptr_nonnull(strstr(out, "3 pictures, 8 samples of each"));
    /* Averaged parameters, where a training wrote them, stand for the model's: these are none. */
    temp_write("run/ema.safetensors", "none", 4);
    ck_refused(65, "ema.safetensors", "inpaint run --data digits --mask top --out a.png");
    mask[0] = 2;
    sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ 16, 16 }, mask, NULL);
    ck_refused(65, "element 0 is 2",
               "inpaint run/model.xml --data digits --mask m.npy --out b.png");
    sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 1, (int64_t[]){ 16 }, mask, NULL);
    ck_refused(65, "a mask of 16 x 16",
               "inpaint run/model.xml --data digits --mask m.npy --out b.png");
    ck_refused(64, "from 0 to 999",
               "inpaint run/model.xml --data digits --mask top --out b.png --rows 0,1000");
    ck_refused(64, "--mask and --out", "inpaint run/model.xml --data digits --out b.png");
    ck_refused(64, "256 pixels and", "inpaint ising:side=4 --data digits --mask top --out b.png");
    ck_refused(64, "b.jpg: expected a file name that ends in .png",
               "inpaint run --data digits --mask top --out b.jpg");
    ck_refused(64, "not two levels", "inpaint potts --data digits --mask top --out b.png");
    ck_refused(64, "--samples 1 to",
               "inpaint run --data digits --mask top --out b.png --samples 0");
    ck_assert_int_ne(access(temp_path("b.png"), F_OK), 0);
    remove_trained();
}
END_TEST

/* What a training's log says of its last iteration, but for the seconds that it took: equal for
 * equal pictures. */
static void train_on(const char *data, char *line, size_t room)
{
    char text[4096];
    int begin = 0;
    ck_run("train rbm:hidden=3 --data %s --out run --iterations 3 --steps 2 --batch 5 --threads 1",
           data);
    read_all(temp_path("run/log.csv"), text, sizeof text);
    sscanf(text, "%*[^\n] %*d,%*f,%*f,%*f,%n", &begin);
    ck_assert_int_gt(begin, 0);
    snprintf(line, room, "%s", text + begin);
    for (const char *const *name =
             (const char *[]){ "log.csv", "model.xml", "model.safetensors", "samples.png", NULL };
         *name; name++) {
        char path[64];
        snprintf(path, sizeof path, "run/%s", *name);
        remove(temp_path(path));
    }
    rmdir(temp_path("run"));
}

/* One set of 3 x 3 pictures with values of bytes, from -1 to 1 and from 0 to 1. */
START_TEST(pictures_are_read_from_every_array_format)
{
    char idx[16 + 90] = "\0\0\10\3\0\0\0\12\0\0\0\3\0\0\0\3", first[500], line[500];
    FILE *svm = fopen(temp_path("p.svm"), "w"), *csv = fopen(temp_path("p.csv"), "w");
    ck_assert(svm && csv);
    for (int r = 0; r < 10; r++) {
        fprintf(svm, "%d", r % 3);
        for (int k = 0; k < 9; k++) {
            int grey = (r * 71 + k * 113 + r * k * 37) % 256;
            idx[16 + 9 * r + k] = (char)grey;
            fprintf(svm, " %d:%.6f", k + 1, grey / 127.5 - 1);
            fprintf(csv, "%.6f%s", grey / 255., k < 8 ? "," : "\n");
        }
        fprintf(svm, "\n");
    }
    fclose(svm);
    fclose(csv);
    temp_write("p-idx3-ubyte", idx, sizeof idx);
    train_on("p-idx3-ubyte", first, sizeof first);
    ck_run("convert p-idx3-ubyte p.npy");
    ck_run("convert p.svm q-idx2-ubyte");
    static const char *const others[] = { "p.npy", "p.svm", "p.csv", "q-idx2-ubyte", NULL };
    for (int k = 0; others[k]; k++) {
        train_on(others[k], line, sizeof line);
        ck_assert_str_eq(line, first);
    }
    temp_write("r.csv", "1 2 3\n4 5 6\n", 12);
    ck_refused(65,
               "r.csv: expected pictures: an array of three dimensions, or rows with a square "
               "number of columns; whole numbers in rows of any length are the kind codes",
               "train rbm --data r.csv --out run");
    temp_write("s.csv", "1 2 3 -4\n4 5 6 7\n", 17);
    ck_refused(65, "s.csv: expected grey values", "train rbm --data s.csv --out run");
    temp_write("t.uai", chain_uai, sizeof chain_uai - 1);
    ck_refused(64, "t.uai: not recognised as an array", "train rbm --data t.uai --out run");
}
END_TEST

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
    json_decref(first);
    json_decref(again);
    json_decref(alone);
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

/* Models whose random states are forbidden are checked where sampling starts, and kinks are said;
 * the gradient is within the slopes on both sides of them. */
START_TEST(check_starts_where_sampling_does_and_knows_kinks)
{
    double error = 1;
    ck_run("check retrieval");
    ck_assert_ptr_null(strstr(out, "not checked"));
    const char *line = strstr(out, "gradient     within ");
    ck_assert(line && sscanf(line, "gradient     within %lf", &error) == 1);
    ck_assert_double_lt(error, 1e-7);
    ck_assert_ptr_nonnull(strstr(out, "  kinks      in "));
    ck_assert_ptr_nonnull(strstr(out, " of 236 coordinates"));
    const char *smooth[] = { "ising:side=4", "poisson:dim=4", "rbm:visible=50,hidden=60",
                             "clique:nodes=20" };
    for (size_t k = 0; k < sizeof smooth / sizeof *smooth; k++) {
        ck_run("check %s", smooth[k]);
        ck_assert_ptr_nonnull(strstr(out, "gradient     within "));
        ck_assert_ptr_null(strstr(out, "kinks"));
    }
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
    ck_refused(64, "1 or more", "compare ising:side=2 --draws 0");
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
    ck_refused(64, "at least 1", "bench potts --batch 0");
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
    ck_refused(64, "1 or more", "sample ising:side=2 --chains 0");
    ck_refused(64, "2^63", "sample ising:side=2 --seed 18446744073709551615");
    ck_refused(64, "step_size", "sample rbm:visible=6,hidden=3 --sampler ncg --step-size 1e-40");
    ck_refused(66, "has no model.xml", "sample ./");
    ck_refused(74, "no-such-dir", "sample ising:side=2 --draws 5 --out no-such-dir/a.npy");
}
END_TEST

/* Well-separated classes are found, features that say nothing rank at random. */
START_TEST(retrieve_gives_the_mean_average_precision)
{
    double found[2];
    for (int k = 0; k < 2; k++) {
        ck_run(
            "retrieve retrieval:rows=30,classes=3,most=5,spread=%s --queries 3 --draws 300 --json",
            k ? "1000" : "0.2");
        json_t *object = json_out(), *rows = json_object_get(object, "queries");
        double sum = 0;
        ck_assert_int_eq(json_array_size(rows), 3);
        for (size_t q = 0; q < 3; q++) {
            const json_t *row = json_array_get(rows, q);
            ck_assert_int_eq(json_integer_value(json_object_get(row, "query")), (int)q);
            sum += json_number_value(json_object_get(row, "average_precision"));
        }
        found[k] = json_number_value(json_object_get(object, "mean_average_precision"));
        ck_assert_double_eq_tol(found[k], sum / 3, 1e-9);
        json_decref(object);
    }
    ck_assert_double_gt(found[0], 0.8);
    ck_assert_double_lt(found[1], 0.6);
    ck_run("retrieve retrieval --queries 1 --first 2 --draws 100 --sampler gibbs");
    ck_assert_ptr_nonnull(strstr(out, "query 2 "));
    ck_assert_ptr_nonnull(strstr(out, "(1 queries, gibbs)"));
    ck_refused(64, "'query' is given twice", "retrieve retrieval:query=1");
    ck_refused(64, "has no parameter 'query'", "retrieve ising");
    ck_refused(64, "query=60 is none of the 60", "retrieve retrieval --first 60");
    ck_refused(64, "--queries 1 to", "retrieve retrieval --queries 0");
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
    ck_run("convert a.graphml a.gset");
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
    tcase_add_test(tcase, sample_prints_the_documented_fields);
    tcase_add_test(tcase, same_seed_writes_the_same_draws_for_any_threads);
    tcase_add_test(tcase, tempering_anneals_and_votes_are_printed);
    tcase_add_test(tcase, tuning_is_written_then_read);
    tcase_add_test(tcase, sample_refuses_early);
    tcase_add_test(tcase, check_tells_rounding_from_wrong_gradients);
    tcase_add_test(tcase, counts_without_a_cap_are_sampled);
    tcase_add_test(tcase, values_of_counts);
    tcase_add_test(tcase, summaries_are_shown_and_scored);
    tcase_add_test(tcase, networks_are_sampled_given_evidence);
    tcase_add_test(tcase, an_impossible_network_is_refused_with_the_factors);
    tcase_add_test(tcase, value_writes_arrays);
    tcase_add_test(tcase, alignments_are_converted_sampled_and_ranked);
    tcase_add_test(tcase, train_writes_a_model_that_sample_reads);
    tcase_add_test(tcase, evaluate_reads_what_train_wrote);
    tcase_add_test(tcase, evaluate_refuses_bad_options);
    tcase_add_test(tcase, inpaint_fills_in_what_is_hidden);
    tcase_add_test(tcase, pictures_are_read_from_every_array_format);
    tcase_add_test(tcase, exact_gives_what_can_be_worked_out_by_hand);
    tcase_add_test(tcase, exact_eliminates_where_there_are_too_many_states);
    tcase_add_test(tcase, compare_puts_the_figures_of_sample_side_by_side);
    tcase_add_test(tcase, compare_lists_every_sampler_and_why_some_cannot_run);
    tcase_add_test(tcase, compare_knows_chains_and_their_reconstruction_error);
    tcase_add_test(tcase, check_starts_where_sampling_does_and_knows_kinks);
    tcase_add_test(tcase, sample_reports_the_statistic);
    tcase_add_test(tcase, exact_says_what_is_not_known);
    tcase_add_test(tcase, compare_for_equal_time_stops_by_the_clock);
    tcase_add_test(tcase, compare_reads_exact_marginals_made_for_the_same_evidence);
    tcase_add_test(tcase, uai_results_are_written_and_compared_with);
    tcase_add_test(tcase, networks_with_names_are_clamped_by_name);
    tcase_add_test(tcase, compare_refuses_samplers_that_do_not_exist);
    tcase_add_test(tcase, bench_puts_a_peer_beside_its_own_figures);
    tcase_add_test(tcase, mistakes_get_one_line_and_the_right_code);
    tcase_add_test(tcase, retrieve_gives_the_mean_average_precision);
    tcase_add_test(tcase, convert_writes_other_formats);
    tcase_add_test(tcase, convert_refuses_what_cannot_be);
    tcase_add_test(tcase, help_and_lists_are_there);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
