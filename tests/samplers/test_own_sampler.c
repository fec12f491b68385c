/* SPDX-License-Identifier: MIT */
/* Samplers of the caller's own, from a descriptor: used wherever the library's are, and refused or
 * found out where they are wrong. */
#include "alloc_fail.h"
#include "own_samplers.h"
#include "run_helpers.h"
#include "samplers/own/own.h"
#include "temp_dir.h"
#include "train/trainer.h"

static sal_model *model_over(const char *space_name)
{
    return tiny_formula_over(space_name, SAL_F64);
}

static sal_run_options options_of(const char *sampler)
{
    return (sal_run_options){ .sampler = sampler, .own_samplers = own_all };
}

/* ---- runs */

START_TEST(many_chains_have_the_exact_distribution)
{
    static const char *const samplers[] = { "own-gwg", "own-lb", "own-ncg" };
    sal_model *model = model_over("factors");
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options o = options_of(samplers[k]);
        o.chains = TEST_CHAINS(2000);
        o.warmup = 60;
        o.step_size = strcmp(samplers[k], "own-ncg") == 0 ? 2 : 0;
        o.draws = 1;
        sal_run *run = run_it(model, &o);
        sal_run_summary s = summary_of(run);
        double p = last_states_p(model, run);
        ck_assert_msg(p > 1e-4, "%s: p = %g", samplers[k], p);
        ck_assert_str_eq(s.sampler, samplers[k]);
        ck_assert(isnan(s.step_size) == (strcmp(samplers[k], "own-ncg") != 0));
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(threads_do_not_change_bits)
{
    static const char *const samplers[] = { "own-gwg", "own-ncg", "own-flips:more=1" };
    static const char *const spaces[] = { "mixed", "mixed", "binary" };
    enum { CHAINS = 70, DRAWS = 30 };
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_model *model = model_over(spaces[k]);
        sal_run *runs[3];
        for (int t = 0; t < 3; t++) {
            sal_run_options o = options_of(samplers[k]);
            o.threads = (int[]){ 1, 2, 7 }[t];
            o.chains = CHAINS;
            o.warmup = 100;
            o.draws = DRAWS;
            o.record.draws = true;
            runs[t] = run_it(model, &o);
        }
        size_t values = CHAINS * DRAWS * sizeof(double);
        for (int t = 1; t < 3; t++) {
            int bytes;
            const void *a = sal_run_draws(runs[0], &bytes), *b = sal_run_draws(runs[t], &bytes);
            ck_assert_mem_eq(sal_run_log_probs(runs[0]), sal_run_log_probs(runs[t]), values);
            ck_assert_mem_eq(a, b, (size_t)(CHAINS * DRAWS * model->space->n_variables * bytes));
            sal_run_destroy(runs[t]);
        }
        sal_run_destroy(runs[0]);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(step_sizes_are_adapted)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=5,theta=0.1", SAL_F64, &model, &err), &err);
    sal_run_options o = options_of("own-ncg");
    o.warmup = 1500;
    o.draws = 1000;
    sal_run *run = run_it(model, &o);
    sal_run_summary s = summary_of(run);
    ck_assert_msg(fabs(s.acceptance_rate - 0.574) < 0.05, "acceptance %g", s.acceptance_rate);
    sal_run_destroy(run);
    o.sampler = "own-gwg";
    o.step_size = 1;
    run_refused(model, &o, SAL_ERR_ARGUMENT, "sampler 'own-gwg' has no step size");
    sal_model_destroy(model);
}
END_TEST

/* Two modes that single flips do not cross: replicas do. */
START_TEST(tempering_crosses_between_modes)
{
    static const double temperatures[] = { 1, 1.8, 3.5, 8 };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0.9", SAL_F64, &model, &err), &err);
    int32_t *init = calloc(24 * 9, sizeof *init);
    double up[2];
    for (int tempered = 0; tempered < 2; tempered++) {
        sal_run_options o = options_of("own-gwg");
        double marginals[18];
        o.chains = 24;
        o.init = init;
        o.warmup = 300;
        o.draws = 150;
        o.tempering.replicas = tempered ? 4 : 1;
        o.tempering.temperatures = tempered ? temperatures : NULL;
        sal_run *run = run_it(model, &o);
        ck_ok(sal_run_marginals(run, marginals, &err), &err);
        up[tempered] = marginals[1];
        sal_run_destroy(run);
    }
    ck_assert_msg(up[0] < 0.1 && fabs(up[1] - 0.5) < 0.1, "%g %g", up[0], up[1]);
    free(init);
    sal_model_destroy(model);
}
END_TEST

/* At temperature T the target is exp(f / T), and gradients come divided by T too. */
static double seen[4];

static void look(const sal_origin *s, sal_random *random, int32_t *to)
{
    (void)random;
    (void)to;
    seen[0] = s->f;
    seen[1] = s->gradient[0];
    seen[2] = sal_origin_difference(s, 0, 1 - s->codes[0]);
    seen[3] = s->beta;
}

static double surely(const sal_origin *s, const int32_t *to)
{
    (void)s;
    (void)to;
    return 0;
}

static const sal_sampler_descriptor looking = {
    .name = "looking",
    .needs_gradient = true,
    .needs_differences = true,
    .draw = look,
    .log_q = surely,
};
static const sal_sampler_descriptor *const looking_list[] = { &looking, NULL };

START_TEST(temperatures_multiply_what_proposals_see)
{
    sal_model *model = model_over("binary");
    int32_t code[4] = { 0, 1, 0, 1 }, to[4];
    double f, gradient[4], differences[8], temperature = 2.5;
    sal_error err;
    sal_run_options o = { .sampler = "looking",
                          .own_samplers = looking_list,
                          .tempering = { .replicas = 1, .temperatures = &temperature } };
    ck_ok(sal_model_evaluate(model, 1, code, &f, gradient, differences, &err), &err);
    ck_ok(sal_sampler_draw_proposals(model, &o, code, 1, to, &err), &err);
    ck_assert_double_eq_tol(seen[0], f / 2.5, 1e-12);
    ck_assert_double_eq_tol(seen[1], gradient[0] / 2.5, 1e-12);
    ck_assert_double_eq_tol(seen[2], differences[1] / 2.5, 1e-12);
    ck_assert_double_eq_tol(seen[3], 0.4, 1e-15);
    sal_model_destroy(model);
}
END_TEST

START_TEST(annealing_and_clamping_take_them)
{
    sal_model *model = model_over("factors");
    int64_t variable = 3;
    int32_t code = 1, best[TINY_MOST_REALS];
    double largest = -INFINITY, f[TINY_MOST_STATES], pi[TINY_MOST_STATES], found;
    sal_error err;
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < states_count(model->space); i++) {
        int32_t codes[TINY_MOST_REALS] = { 0 };
        state_codes(model->space, i, codes);
        largest = codes[variable] == code ? fmax(largest, f[i]) : largest;
    }
    sal_run_options o = options_of("own-lb");
    o.annealing.on = true;
    o.clamps.n = 1;
    o.clamps.variables = &variable;
    o.clamps.codes = &code;
    sal_run *run = run_it(model, &o);
    ck_ok(sal_run_best(run, best, &found, &err), &err);
    ck_assert_double_eq_tol(found, largest, 1e-12);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* ---- other uses */

START_TEST(annealed_importance_sampling_takes_them)
{
    static const char *const samplers[] = { "own-gwg", "own-ncg" };
    sal_model *model = model_over("factors");
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    for (int k = 0; k < 2; k++) {
        sal_ais_options o = {
            .sampler = samplers[k], .own_samplers = own_all, .temperatures = 100, .chains = 100
        };
        sal_ais_estimate e;
        ck_ok(sal_ais(model, &o, &e, NULL, &err), &err);
        ck_assert_msg(fabs(e.log_z - exact.log_z) < 4 * e.standard_error, "%s: %g, exactly %g",
                      samplers[k], e.log_z, exact.log_z);
        ck_assert_msg(e.standard_error < 0.2, "%s: standard error %g", samplers[k],
                      e.standard_error);
    }
    sal_model_destroy(model);
}
END_TEST

/* Most states are forbidden, chains of AIS start anywhere, and a finite state is always accepted.
 */
START_TEST(chains_leave_forbidden_states)
{
    sal_space *space = tiny_space_make(tiny_space_named("label"));
    sal_model *model = tiny_tables(space, SAL_F64);
    sal_error err;
    sal_exact exact;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    sal_ais_options o = {
        .sampler = "own-ncg", .own_samplers = own_all, .temperatures = 50, .chains = 200
    };
    sal_ais_estimate e;
    ck_ok(sal_ais(model, &o, &e, NULL, &err), &err);
    ck_assert_int_gt(e.dead, 0);
    ck_assert(fabs(e.log_z - exact.log_z) < 4 * e.standard_error);

    sali_sampler_settings settings;
    const sali_sampler *sampler;
    ck_ok(sali_sampler_choose_from(own_all, "own-ncg", model, 1, &sampler, &settings, &err), &err);
    bench b = bench_open(sampler, model, &settings, 1, 40 * states_count(space), 0);
    int64_t left = 0, stayed = 0;
    double *f = malloc((size_t)b.chains->n * sizeof *f);
    memcpy(f, b.chains->f, (size_t)b.chains->n * sizeof *f);
    sali_engine(sampler)->step(b.self, b.chains);
    for (int64_t c = 0; c < b.chains->n; c++) {
        bool forbidden = f[c] == -INFINITY;
        left += forbidden && b.chains->f[c] > -INFINITY;
        stayed += forbidden && b.chains->f_new[c] > -INFINITY && !b.chains->accepted[c];
        ck_assert(forbidden || b.chains->f[c] > -INFINITY);
    }
    ck_assert_int_gt(left, 0);
    ck_assert_int_eq(stayed, 0);
    ck_assert_int_lt(b.chains->bad_chain, 0);
    free(f);
    bench_close(&b);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(in_painting_takes_them)
{
    sal_model *model = model_over("binary");
    static const uint8_t codes[4] = { 1, 0, 0, 1 }, mask[4] = { 0, 1, 1, 0 };
    int32_t out[8 * 4];
    sal_error err;
    sal_inpaint_options o = { .sampler = "own-gwg", .own_samplers = own_all, .steps = 20 };
    ck_ok(sal_inpaint(model, 1, codes, mask, &o, out, &err), &err);
    for (int k = 0; k < 8; k++) {
        ck_assert(out[4 * k] == 1 && out[4 * k + 3] == 1);
    }
    sal_model_destroy(model);
}
END_TEST

/* Training in one go, and stopped and resumed: the same bits, what the sampler tunes included. */
static void train(const char *directory, int64_t iterations, double *values)
{
    uint8_t codes[30 * 6];
    sal_data data = { .rows = 30, .variables = 6, .codes = codes };
    sal_model *model = NULL;
    sal_trainer *t = NULL;
    sal_error err;
    for (int i = 0; i < 30 * 6; i++) {
        codes[i] = (uint8_t)((i * 13 / 5 + i / 6) % 3 == 0);
    }
    ck_ok(sal_model_open("rbm:visible=6,hidden=3", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_train_start(model, "rbm:visible=6,hidden=3", &data, 1, &err), &err);
    sal_train_options o = { .sampler = "own-flips",
                            .own_samplers = own_all,
                            .iterations = iterations,
                            .batch = 10,
                            .buffer.chains = 20,
                            .steps = 5,
                            .checkpoint = { .directory = directory, .resume = directory != NULL } };
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, iterations - t->iteration, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
}

START_TEST(training_takes_them_and_resumes)
{
    double once[64] = { 0 }, twice[64] = { 0 };
    temp_dir_make();
    train(NULL, 24, once);
    train(temp_dir, 11, twice);
    ck_assert_mem_ne(once, twice, sizeof once);
    train(temp_dir, 24, twice);
    ck_assert_mem_eq(once, twice, sizeof once);
    temp_dir_remove();
}
END_TEST

/* ---- what is tuned */

/* The two numbers that own-flips tunes. */
static void tuned_pair(const sal_run *run, double tuned[2])
{
    sali_state_item items[SALI_MOST_STATE];
    ck_assert_int_eq(sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, items),
                     2);
    tuned[0] = *(double *)items[0].data;
    tuned[1] = *(double *)items[1].data;
}

START_TEST(what_is_tuned_can_be_kept)
{
    sal_model *model = NULL;
    sal_tuning *tuning = NULL;
    sal_error err;
    ck_ok(sal_model_open("ising:side=3,theta=0.05", SAL_F64, &model, &err), &err);
    sal_run_options o = options_of("own-flips");
    sal_run *run = run_it(model, &o);
    double tuned[2], other[2];
    tuned_pair(run, tuned);
    ck_assert_int_gt((int)tuned[0], 3); /* nearly all is accepted: more flips */
    ck_assert(tuned[0] == floor(tuned[0]) && tuned[0] <= 6);
    ck_assert(tuned[1] > 0.3 && tuned[1] <= 1);
    ck_ok(sal_run_tuning(run, &tuning, &err), &err);
    o.tuning = tuning;
    o.warmup = -1;
    sal_run *again = run_it(model, &o);
    tuned_pair(again, other);
    ck_assert_mem_eq(tuned, other, sizeof tuned);
    sal_run_destroy(again);
    o.sampler = "own-flips:more=2";
    run_refused(model, &o, SAL_ERR_DATA, "the tuning is of sampler 'own-flips:more=0'");
    sal_tuning_destroy(tuning);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static void adapt_to_nothing(const sal_sampler_window *w, double *tuned, const void *data)
{
    (void)data;
    tuned[0] = w->done > 60 ? NAN : 1;
}

START_TEST(tuned_numbers_must_be_numbers)
{
    sal_model *model = model_over("binary");
    sal_sampler_descriptor d = own_flips;
    const sal_sampler_descriptor *const list[] = { &d, NULL };
    sal_run_options o = { .sampler = "own-flips", .own_samplers = list };
    d.adapt = adapt_to_nothing;
    run_refused(model, &o, SAL_ERR_ARGUMENT, "sampler 'own-flips': adapt made 'flips' NaN");
    sal_model_destroy(model);
}
END_TEST

/* ---- counts without a cap, by exact differences */

static void walk(const sal_origin *s, sal_random *random, int32_t *to)
{
    to[0] += sal_random_below(random, 2) ? 1 : s->codes[0] > 0 ? -1 : 0;
}

static double walk_log_q(const sal_origin *s, const int32_t *to)
{
    int32_t step = to[0] - s->codes[0];
    return step == 1 || step == (s->codes[0] > 0 ? -1 : 0) ? -log(2) : -INFINITY;
}

START_TEST(counts_without_a_cap_are_moved)
{
    sal_sampler_descriptor d = { .name = "walk", .draw = walk, .log_q = walk_log_q };
    const sal_sampler_descriptor *const list[] = { &d, NULL };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    double marginals[SAL_COUNT_LEVELS];
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "k", .kind = SAL_COUNT, .count = 1 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(sal_state(tape)), -0.7), &model, &err), &err);
    sal_run_options o = { .sampler = "walk", .own_samplers = list, .draws = 50000 };
    run_refused(model, &o, SAL_ERR_UNSUPPORTED, "it does not move counts without a cap");
    d.kinds = SAL_MOVES_UNBOUNDED;
    sal_run *run = run_it(model, &o);
    ck_ok(sal_run_marginals(run, marginals, &err), &err);
    for (int k = 0; k < 4; k++) { /* geometric */
        ck_assert_double_eq_tol(marginals[k], (1 - exp(-0.7)) * exp(-0.7 * k), 0.02);
    }
    sal_run_destroy(run);
    sal_tape_destroy(tape);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* ---- random numbers and weights */

START_TEST(helpers_do_what_they_say)
{
    enum { N = 40000 };
    sal_random random = { .stream = { .seed = 3, .purpose = SALI_RNG_TEST } };
    sal_random again = random, late = random;
    const double w[5] = { log(1), -INFINITY, log(3), log(4), -INFINITY };
    const double none[2] = { -INFINITY, -INFINITY }, bad[2] = { 0, NAN }, much[2] = { INFINITY, 0 };
    double counts[5] = { 0 }, expected[5] = { N / 8.0, 0, 3 * N / 8.0, N / 2.0, 0 };
    double below[7] = { 0 }, even[7], sum = 0, squares = 0;
    ck_assert_double_eq_tol(sal_log_sum_exp(5, w), log(8), 1e-14);
    ck_assert(sal_log_sum_exp(2, none) == -INFINITY && isnan(sal_log_sum_exp(2, bad)));
    ck_assert(sal_log_sum_exp(0, NULL) == -INFINITY && sal_log_sum_exp(2, much) == INFINITY);
    ck_assert_int_eq(sal_random_softmax(&random, 2, none), -1);
    ck_assert_int_eq(sal_random_softmax(&random, 2, bad), -1);
    ck_assert_int_eq(sal_random_softmax(&random, 2, much), -1);
    ck_assert_double_eq(sal_random_uniform(&random), sal_random_uniform(&again));
    for (int k = 0; k < N; k++) {
        double z = sal_random_normal(&random);
        counts[sal_random_softmax(&random, 5, w)]++;
        below[sal_random_below(&random, 7)]++;
        sum += z;
        squares += z * z;
    }
    for (int k = 0; k < 7; k++) {
        even[k] = N / 7.0;
    }
    ck_assert(chi_square_p(5, counts, expected) > 1e-4 && chi_square_p(7, below, even) > 1e-4);
    ck_assert_double_eq_tol(sum / N, 0, 4 / sqrt(N));
    ck_assert_double_eq_tol(squares / N, 1, 4 * sqrt(2.0 / N));
    late.next = 1 << 25; /* past the last: the first again, of no other purpose's */
    random = (sal_random){ .stream = late.stream };
    ck_assert_double_eq(sal_random_uniform(&late), sal_random_uniform(&random));
}
END_TEST

/* ---- descriptors that are not right */

static const sal_setting twice[] = { { "a", 0, 0, 1, false, NULL, NULL },
                                     { "a", 0, 0, 1, false, NULL, NULL },
                                     { 0 } };
static const sal_setting outside[] = { { "a", 2, 0, 1, false, NULL, NULL }, { 0 } };
static const sal_setting endless[] = { { "a", 2, 0, INFINITY, false, NULL, NULL }, { 0 } };
static const sal_setting half[] = { { "a", 0.5, 0, 1, true, NULL, NULL }, { 0 } };
static const sal_setting colon[] = { { "a:b", 0, 0, 1, false, NULL, NULL }, { 0 } };
#define LETTERS_41 "a23456789b23456789c23456789d23456789e2345"
static const sal_setting far_too_long[] = { { .name = LETTERS_41 }, { 0 } };
static const char *const words[] = { "few", "many", NULL }, *const spaced[] = { "a b", NULL };
static const sal_setting worded[] = { { .name = "a", .standard = 1, .choices = words }, { 0 } };
static const sal_setting third[] = { { .name = "a", .standard = 2, .choices = words }, { 0 } };
static const sal_setting both[] = {
    { .name = "a", .standard = 8, .low = 2, .high = 7, .whole = true, .choices = words }, { 0 }
};
static const sal_setting odd[] = { { .name = "a", .choices = spaced }, { 0 } };
static const sal_setting nine[] = {
    { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" }, { .name = "e" },
    { .name = "f" }, { .name = "g" }, { .name = "h" }, { .name = "i" }, { 0 }
};

static sal_status no_work(const sal_model *model, const double *values, const void *data,
                          void **work, sal_error *err)
{
    (void)model;
    (void)values;
    (void)data;
    (void)work;
    strcpy(err->message, "it is Sunday");
    return SAL_ERR_UNSUPPORTED;
}

static void end_work(void *work)
{
    free(work);
}

static int64_t no_row(const sal_space *space, const double *values, const void *data)
{
    (void)space;
    (void)values;
    (void)data;
    return 0;
}

static const char *only_sundays(const sal_model *model, const double *values, const void *data)
{
    (void)model;
    (void)values;
    return data;
}

#define BASE .name = "x", .draw = own_flips_draw, .log_q = own_flips_log_q

START_TEST(bad_descriptors_are_refused)
{
    const struct {
        sal_sampler_descriptor d;
        const char *text;
        sal_status status;
    } cases[] = {
        { { .draw = own_draw },
          "own_samplers[1]: its name is NULL; expected letters",
          SAL_ERR_ARGUMENT },
        { { .name = "a,b" },
          "own_samplers[1]: its name is 'a,b'; expected letters",
          SAL_ERR_ARGUMENT },
        { { .name = "" }, "its name is ''", SAL_ERR_ARGUMENT },
        { { .name = LETTERS_41 },
          "its name is '" LETTERS_41 "'; expected letters, digits, '_' and '-', at most 40",
          SAL_ERR_ARGUMENT },
        { { .name = "gwg" },
          "own_samplers[1]: the library has a sampler 'gwg' already",
          SAL_ERR_ARGUMENT },
        { { .name = "dmala" }, "the library has a sampler 'dmala' already", SAL_ERR_ARGUMENT },
        { { .name = "own-lb" },
          "own_samplers[1]: 'own-lb' is the name of number 0 too",
          SAL_ERR_ARGUMENT },
        { { .name = "x" }, "sampler 'x': draw is NULL", SAL_ERR_ARGUMENT },
        { { .name = "x", .draw = own_draw },
          "sampler 'x': log_q is NULL; without it",
          SAL_ERR_ARGUMENT },
        { { BASE, .create = no_work }, "create and destroy go together", SAL_ERR_ARGUMENT },
        { { BASE, .prepare = own_weights }, "row_size and prepare go together", SAL_ERR_ARGUMENT },
        { { BASE, .adapt = own_flips_adapt }, "tuned and adapt go together", SAL_ERR_ARGUMENT },
        { { BASE, .tuned = own_flips_tuned }, "tuned and adapt go together", SAL_ERR_ARGUMENT },
        { { BASE, .engine = sali_sampler_find("lb")->engine },
          "engine is not NULL; only the library's own samplers have one",
          SAL_ERR_ARGUMENT },
        { { BASE, .kinds = 1 },
          "sampler 'x': kinds is 0x1; expected an OR of SAL_MOVES_*",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = twice },
          "sampler 'x': setting 'a' is there twice",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = outside },
          "needs finite numbers low <= standard <= high",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = endless },
          "needs finite numbers low <= standard <= high",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = half },
          "is whole, but its range or default is not",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = third },
          "setting 'a' has a default that is none of its choices",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = both },
          "needs finite numbers low <= standard <= high",
          SAL_ERR_ARGUMENT },
        { { BASE, .settings = odd }, "setting 'a' has a choice of", SAL_ERR_ARGUMENT },
        { { BASE, .settings = colon }, "has a name of other characters", SAL_ERR_ARGUMENT },
        { { BASE, .settings = far_too_long }, "more than 40 characters", SAL_ERR_ARGUMENT },
        { { BASE, .tuned = nine, .adapt = own_flips_adapt },
          "tuned 'i' is one too many",
          SAL_ERR_ARGUMENT },
        { { BASE, .create = no_work, .destroy = end_work },
          "sampler 'x': create: it is Sunday",
          SAL_ERR_UNSUPPORTED },
        { { BASE, .row_size = no_row, .prepare = own_weights },
          "row_size gave 0; expected 1",
          SAL_ERR_ARGUMENT },
        { { BASE, .obstacle = only_sundays, .data = "it works on Sundays only" },
          "sampler 'x' cannot sample tape: it works on Sundays only; samplers that can: ",
          SAL_ERR_UNSUPPORTED },
    };
    sal_model *model = model_over("binary");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sal_sampler_descriptor *const list[] = { &own_lb, &cases[k].d, NULL };
        sal_run_options o = { .sampler = "x", .own_samplers = list };
        run_refused(model, &o, cases[k].status ? cases[k].status : SAL_ERR_ARGUMENT, cases[k].text);
    }
    sal_run_options o = options_of("own-flips:more=7");
    run_refused(model, &o, SAL_ERR_ARGUMENT, "more");
    o.sampler = "own";
    run_refused(model, &o, SAL_ERR_ARGUMENT,
                "there is no sampler 'own'; there are: own-gwg, own-lb, own-ncg, own-loose");
    sal_model_destroy(model);
}
END_TEST

/* Words stand for 0, 1, ..., as for the library's own samplers. */
START_TEST(keys_may_be_words)
{
    const sal_sampler_descriptor d = { BASE, .settings = worded, .tuned = own_flips_tuned,
                                       .adapt = own_flips_adapt };
    const sal_sampler_descriptor *const list[] = { &d, &own_flips, NULL };
    static const char *const samplers[] = { "own-flips:more=1", "x:a=many", "x", "x:a=few" };
    sal_model *model = model_over("binary");
    sal_run *runs[4];
    for (int k = 0; k < 4; k++) {
        sal_run_options o = options_of(samplers[k]);
        o.own_samplers = list;
        runs[k] = run_it(model, &o);
    }
    size_t bytes =
        (size_t)(summary_of(runs[0]).chains * summary_of(runs[0]).draws) * sizeof(double);
    ck_assert_mem_eq(sal_run_log_probs(runs[0]), sal_run_log_probs(runs[1]), bytes);
    ck_assert_mem_eq(sal_run_log_probs(runs[0]), sal_run_log_probs(runs[2]), bytes);
    ck_assert_mem_ne(sal_run_log_probs(runs[0]), sal_run_log_probs(runs[3]), bytes);
    for (int k = 0; k < 4; k++) {
        sal_run_destroy(runs[k]);
    }
    sal_run_options o = { .sampler = "x:a=none", .own_samplers = list };
    run_refused(model, &o, SAL_ERR_ARGUMENT, "x: a=none; expected few or many");
    sal_model_destroy(model);
}
END_TEST

/* ---- samplers that are found out while they run */

static void draw_far(const sal_origin *s, sal_random *random, int32_t *to)
{
    to[1] = s->step == 20 ? 2 : (int32_t)sal_random_below(random, 2);
}

static void draw_first(const sal_origin *s, sal_random *random, int32_t *to)
{
    (void)s;
    to[1] = (int32_t)sal_random_below(random, 2);
}

static double log_half(const sal_origin *s, const int32_t *to)
{
    (void)s;
    (void)to;
    return -log(2);
}

static double log_two(const sal_origin *s, const int32_t *to)
{
    return to[1] == s->codes[1] ? log(2) : -log(2);
}

static double log_never(const sal_origin *s, const int32_t *to)
{
    return to[1] == s->codes[1] ? -INFINITY : 0;
}

static double log_back(const sal_origin *s, const int32_t *to)
{
    (void)to;
    return s->codes[1] == 1 ? -log(2) : NAN;
}

static const struct {
    sal_sampler_descriptor d;
    const char *text;
} faults[] = {
    { { .name = "far", .draw = draw_far, .log_q = log_half },
      "sampler 'far': draw gave a code out of range: 2, at chain 0, step 20, state " },
    { { .name = "two", .draw = draw_first, .log_q = log_two },
      "sampler 'two': log_q of what draw gave is no log-probability of a state that can be drawn: "
      "0.693147, at chain " },
    { { .name = "never", .draw = draw_first, .log_q = log_never },
      "sampler 'never': log_q of what draw gave is no log-probability of a state that can be "
      "drawn: -inf, at chain " },
    { { .name = "back", .draw = draw_first, .log_q = log_back }, "sampler 'back': log_q of " },
};

START_TEST(faults_of_a_sampler_end_a_run)
{
    sal_model *model = model_over("binary");
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        const sal_sampler_descriptor *const list[] = { &faults[k].d, NULL };
        sal_run_options o = { .sampler = faults[k].d.name, .own_samplers = list };
        sal_ais_options a = { .sampler = faults[k].d.name, .own_samplers = list, .steps = 30 };
        sal_ais_estimate e;
        sal_error err;
        run_refused(model, &o, SAL_ERR_ARGUMENT, faults[k].text);
        ck_fails(sal_ais(model, &a, &e, NULL, &err), SAL_ERR_ARGUMENT, &err, faults[k].text);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(faults_of_a_sampler_end_a_training)
{
    uint8_t codes[10 * 6] = { 0, 1, 1, 0, 1 };
    sal_data data = { .rows = 10, .variables = 6, .codes = codes };
    const sal_sampler_descriptor *const list[] = { &faults[0].d, NULL };
    sal_train_options o = { .sampler = "far", .own_samplers = list, .steps = 30, .batch = 5 };
    sal_model *model = NULL;
    sal_trainer *t = NULL;
    sal_error err;
    ck_ok(sal_model_open("rbm:visible=6,hidden=3", SAL_F64, &model, &err), &err);
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_fails(sal_trainer_run(t, 50, &err), SAL_ERR_ARGUMENT, &err,
             "sampler 'far': draw gave a code out of range: 2, at chain ");
    sal_trainer_destroy(t);
    sal_model_destroy(model);
}
END_TEST

static void draw_far_from_ones(const sal_origin *s, sal_random *random, int32_t *to)
{
    (void)random;
    to[1] = s->codes[0] == 1 ? 2 : 0;
}

/* The only row with a one is at some place of the batch, whose chains are in two shards. */
START_TEST(faults_name_the_chain_of_the_batch)
{
    uint8_t codes[64 * 6] = { 1 };
    bool halves[2] = { false, false };
    sal_data data = { .rows = 64, .variables = 6, .codes = codes };
    const sal_sampler_descriptor far = { .name = "far",
                                         .draw = draw_far_from_ones,
                                         .log_q = log_half };
    const sal_sampler_descriptor *const list[] = { &far, NULL };
    sal_train_options o = {
        .sampler = "far", .own_samplers = list, .objective = SAL_CD, .steps = 1, .batch = 64
    };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open("rbm:visible=6,hidden=3", SAL_F64, &model, &err), &err);
    for (o.seed = 0; o.seed < 8; o.seed++) {
        ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "at chain ");
        const int chain = atoi(strstr(err.message, "at chain ") + strlen("at chain "));
        ck_assert_int_lt(chain, 64);
        halves[chain / 32] = true;
    }
    ck_assert(halves[0] && halves[1]);
    sal_model_destroy(model);
}
END_TEST

/* Without acceptance: not exact, so neither tempered nor adapted. */
START_TEST(unadjusted_ones_take_all)
{
    sal_sampler_descriptor d = own_ncg;
    const sal_sampler_descriptor *const list[] = { &d, NULL };
    sal_model *model = model_over("factors");
    d.unadjusted = true;
    d.log_q = NULL;
    sal_run_options o = { .sampler = "own-ncg", .own_samplers = list };
    sal_run *run = run_it(model, &o);
    ck_assert_double_eq(summary_of(run).acceptance_rate, 1);
    sal_run_destroy(run);
    o.tempering.replicas = 3;
    run_refused(model, &o, SAL_ERR_UNSUPPORTED, "own-ncg");
    sal_model_destroy(model);
}
END_TEST

/* ---- memory */

START_TEST(allocation_failures_are_errors)
{
    static const char *const samplers[] = { "own-lb", "own-ncg", "own-flips" };
    sal_model *model = model_over("binary");
    for (int k = 0; k < 3; k++) {
        sal_run_options o = options_of(samplers[k]);
        sal_run *run = NULL;
        sal_error err;
        o.warmup = 60;
        o.draws = 2;
        ck_alloc_sweep(sal_sample(model, &o, &run, &err), sal_run_destroy(run));
    }
    sal_model_destroy(model);
}
END_TEST

static Suite *make(void)
{
    Suite *suite = suite_create("own_sampler");
    TCase *tc = tcase_create("own");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, many_chains_have_the_exact_distribution);
    tcase_add_test(tc, threads_do_not_change_bits);
    tcase_add_test(tc, step_sizes_are_adapted);
    tcase_add_test(tc, tempering_crosses_between_modes);
    tcase_add_test(tc, temperatures_multiply_what_proposals_see);
    tcase_add_test(tc, annealing_and_clamping_take_them);
    tcase_add_test(tc, annealed_importance_sampling_takes_them);
    tcase_add_test(tc, chains_leave_forbidden_states);
    tcase_add_test(tc, in_painting_takes_them);
    tcase_add_test(tc, training_takes_them_and_resumes);
    tcase_add_test(tc, what_is_tuned_can_be_kept);
    tcase_add_test(tc, tuned_numbers_must_be_numbers);
    tcase_add_test(tc, counts_without_a_cap_are_moved);
    tcase_add_test(tc, helpers_do_what_they_say);
    tcase_add_test(tc, bad_descriptors_are_refused);
    tcase_add_test(tc, keys_may_be_words);
    tcase_add_test(tc, faults_of_a_sampler_end_a_run);
    tcase_add_test(tc, faults_of_a_sampler_end_a_training);
    tcase_add_test(tc, faults_name_the_chain_of_the_batch);
    tcase_add_test(tc, unadjusted_ones_take_all);
    tcase_add_test(tc, allocation_failures_are_errors);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return test_main(make());
}
