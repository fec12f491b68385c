/* SPDX-License-Identifier: MIT */
/* What the page asks of the library, without a page: formulas, chains that step, swaps. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "bridge.h"
#include "run/trajectory/trajectory.h"

/* ---- formulas (tests/models/test_formula.c has what they mean) */

/* Of a lattice of 3 x 4 spins, or of a pair with 5 levels from -1 to 1. */
static sal_model *on_square(const char *text, int *place)
{
    return play_formula(text, PLAY_SPINS, 3, 4, 0, 0, 0, place);
}

static sal_model *of_pair(const char *text, int *place)
{
    return play_formula(text, PLAY_ORDINAL, 1, 2, 5, -1, 1, place);
}

START_TEST(formulas_have_their_values)
{
    int place;
    static const int32_t stripes[12] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 }, levels[2] = { 0, 3 };
    double f[2];
    sal_model *square = on_square("sum(i~j: x[i] x[j]) + sum(i~j: (x[i] - x[j])^2)", &place);
    ck_assert_msg(square && place == -1, "%s", play_error());
    ck_assert_int_eq(play_f(square, 1, stripes, &f[0]), 0);
    ck_assert_double_eq_tol(f[0], 48, 1e-12); /* neighbours in a row differ, in a column agree */
    sal_model *pair = of_pair("sum(i~j: x[i] x[j]) + 3 x[1]", &place);
    ck_assert_int_eq(play_f(pair, 1, levels, &f[1]), 0);
    ck_assert_double_eq_tol(f[1], -0.5 + 1.5, 1e-15);
    play_model_close(square);
    play_model_close(pair);
}
END_TEST

static const struct {
    const char *text, *message;
    int place;
} mistakes[] = {
    { "", "is missing at the end", 0 },
    { "1 )", "expected an operator or the end, found ')'", 2 },
    { "x[12]", "there is no x[12]: the last one is x[11]", 2 },
    { "sum(i: x[j])", "x[j] stands outside of a sum(i~j: ..)", 9 },
};

START_TEST(mistakes_are_told_at_their_place)
{
    int place = -2;
    ck_assert_ptr_null(on_square(mistakes[_i].text, &place));
    ck_assert_msg(strstr(play_error(), mistakes[_i].message) != NULL, "%s: %s", mistakes[_i].text,
                  play_error());
    ck_assert_msg(place == mistakes[_i].place, "%s: %d", mistakes[_i].text, place);
}
END_TEST

START_TEST(long_formulas_and_bad_lattices_are_refused)
{
    char text[3001];
    int place;
    memset(text, '1', sizeof text - 1);
    text[3000] = '\0';
    ck_assert_ptr_null(on_square(text, &place));
    ck_assert_ptr_nonnull(strstr(play_error(), "at most 2000 characters"));
    ck_assert_ptr_null(play_formula("1", PLAY_SPINS, 0, 3, 0, 0, 0, &place));
    ck_assert_ptr_null(play_formula("1", PLAY_SPINS, 1000, 1000, 0, 0, 0, &place));
    ck_assert_ptr_null(play_formula("1", PLAY_ORDINAL, 1, 1, 1, 0, 1, &place));
    ck_assert_ptr_null(play_formula("1", PLAY_ORDINAL, 1, 1, 3, 1, 1, &place));
    ck_assert_int_eq(place, -1);
    ck_assert_ptr_null(play_formula("sum(i~j: x[i] x[j])", PLAY_SPINS, 1, 1, 0, 0, 0, &place));
    ck_assert_ptr_nonnull(strstr(play_error(), "no variable has a neighbour here"));
    ck_assert_int_eq(place, 5);
}
END_TEST

START_TEST(programs_are_printed)
{
    int place;
    sal_model *model = on_square("sum(i~j: x[i] x[j])", &place);
    char *text = play_program(model);
    ck_assert_ptr_nonnull(strstr(text, "edges"));
    free(text);
    play_model_close(model);
}
END_TEST

/* ---- chains */

/* A walk makes the steps of a run without warm-up. */
START_TEST(walks_step_as_runs_do)
{
    static const char *const samplers[] = { "gibbs", "gwg", "pas", "ncg", "avg" };
    enum { CHAINS = 3, DRAWS = 40 };
    sal_model *model = play_model("ising:side=4,theta=0.3");
    for (int k = 0; k < 5; k++) {
        const sal_run_options o = { .sampler = samplers[k],
                                    .chains = CHAINS,
                                    .draws = DRAWS,
                                    .warmup = -1,
                                    .seed = 5,
                                    .step_size = k >= 3 ? 0.4 : 0,
                                    .record.draws = true };
        sal_run *run = NULL;
        sal_error err;
        int bytes;
        ck_assert(sal_sample(model, &o, &run, &err) == SAL_OK);
        const uint8_t *draws = sal_run_draws(run, &bytes);
        play_walk *walk = play_walk_open(model, samplers[k], o.step_size, CHAINS, 5, NULL, NULL);
        ck_assert_msg(walk != NULL, "%s", play_error());
        for (int d = 0; d < DRAWS; d++) {
            ck_assert_int_eq(play_walk_step(walk, 1), 0);
            for (int c = 0; c < CHAINS; c++) {
                for (int v = 0; v < 16; v++) {
                    ck_assert_int_eq(play_walk_codes(walk)[c * 16 + v],
                                     draws[(c * DRAWS + d) * 16 + v]);
                }
            }
        }
        play_walk_close(walk);
        sal_run_destroy(run);
    }
    play_model_close(model);
}
END_TEST

/* Colder chains have larger f; after swaps temperatures are where they were. */
START_TEST(chains_at_temperatures_swap_states)
{
    static const double temperatures[] = { 1, 3, 30 };
    sal_model *model = play_model("ising:side=8,theta=0.5");
    play_walk *walk = play_walk_open(model, "gibbs", 0, 3, 1, NULL, temperatures);
    double mean[3] = { 0 };
    int swaps = 0;
    uint8_t made[3];
    for (int k = 0; k < 400; k++) {
        ck_assert_int_eq(play_walk_step(walk, 64), 0);
        for (int r = 0; r < 3; r++) {
            mean[r] += play_walk_f(walk)[r] / 400;
        }
        ck_assert_int_eq(play_walk_swap(walk, k % 2, made), 0);
        swaps += made[0] + made[1];
        ck_assert_int_eq(made[2], 0);
    }
    ck_assert(mean[0] > mean[1] + 10 && mean[1] > mean[2] + 10);
    ck_assert_int_gt(swaps, 0);
    play_walk_close(walk);
    play_model_close(model);
}
END_TEST

START_TEST(states_and_temperatures_can_be_set)
{
    int32_t codes[16] = { 0 };
    double means[2];
    sal_model *model = play_model("ising:side=4,theta=0.2");
    play_walk *walk = play_walk_open(model, "gwg", 0, 1, 1, codes, NULL);
    ck_assert_double_eq_tol(play_walk_f(walk)[0], 0.2 * 64, 1e-12);
    ck_assert_int_eq(play_walk_step(walk, 10), 0);
    memcpy(play_walk_codes(walk), codes, sizeof codes);
    play_walk_set_temperature(walk, 0, 1e-3);
    ck_assert_int_eq(play_walk_refresh(walk), 0);
    ck_assert_double_eq_tol(play_walk_f(walk)[0], 0.2 * 64, 1e-12);
    play_walk_means(walk, means);
    ck_assert_int_eq(play_walk_step(walk, 50), 0); /* so cold that nothing moves */
    play_walk_means(walk, means);
    ck_assert_double_lt(means[1], 1e-12);
    play_walk_close(walk);
    play_model_close(model);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    sal_model *model = play_model("ising:side=3");
    ck_assert_ptr_null(play_model("no-such-model"));
    ck_assert_ptr_nonnull(strstr(play_error(), "no-such-model"));
    ck_assert_ptr_null(play_walk_open(model, "no-such-sampler", 0, 1, 1, NULL, NULL));
    ck_assert_ptr_null(play_walk_open(model, "gwg", 0, 0, 1, NULL, NULL));
    ck_assert_ptr_null(play_walk_open(model, "gwg", 0.5, 1, 1, NULL, NULL));
    ck_assert_ptr_null(play_walk_open(model, "gwg", 0, 1, 1, (const int32_t[9]){ 0, 7 }, NULL));
    play_walk *walk = play_walk_open(model, "gwg", 0, 1, 1, NULL, NULL);
    play_walk_codes(walk)[3] = -1;
    ck_assert_int_eq(play_walk_refresh(walk), -1);
    play_walk_close(walk);
    ck_assert(play_tune(model, "no-such-sampler", 1, 10, 1) < 0);
    ck_assert(isnan(play_tune(model, "gwg", 1, 10, 1)));
    ck_assert_int_eq(play_set(model, "W", (const double[]){ 1 }), -1);
    play_model_close(model);
}
END_TEST

/* ---- passes down a denoising chain */

enum { BITS = 4, LEVELS = 3 };
static const double keep[] = { 1, 0.7, 0.2, 0 }, logits[] = { -1, 0, 0.5, 2 },
                    sizes[] = { 0.4, 0.8, 0 };
static const int32_t steps[] = { 5, 3, 2 };

static sal_model *make_chain(void)
{
    double values[200];
    sal_model *model = play_model("mlp:visible=4,hidden=3,levels=3,units=2,layers=1");
    ck_assert_msg(model != NULL, "%s", play_error());
    ck_assert_int_le(sal_model_parameters_size(model), 200);
    for (int k = 0; k < 200; k++) {
        values[k] = 1.3 * sin(0.9 * k);
    }
    ck_assert_int_eq(play_set(model, NULL, values), 0);
    return model;
}

/* All levels of a pass are a step of a run along the trajectory. */
START_TEST(passes_go_as_runs_do)
{
    enum { CHAINS = 6, DRAWS = 30 };
    const int64_t counts[] = { steps[0], steps[1], steps[2] };
    double log_base[2 * BITS];
    sali_noise *noise = NULL;
    sal_model *joint = make_chain(), *model = NULL;
    sal_space *space = sali_levels_space(joint);
    sal_run *run = NULL;
    sal_error err;
    int bytes, changed = 0;
    for (int v = 0; v < BITS; v++) {
        log_base[2 * v] = -log1p(exp(logits[v]));
        log_base[2 * v + 1] = -log1p(exp(-logits[v]));
    }
    ck_assert(sali_noise_create(space, LEVELS, keep, log_base, &noise, &err) == SAL_OK);
    sal_trajectory *t = sali_trajectory_of_noise(sal_model_parameters_size(joint), noise, counts,
                                                 sizes, "dlmcf:balance=barker");
    ck_assert(sal_trajectory_model(t, joint, &model, &err) == SAL_OK);
    const sal_run_options o = { .sampler = "dlmcf:balance=barker",
                                .trajectory = t,
                                .steps_per_level = 1,
                                .chains = CHAINS,
                                .draws = DRAWS,
                                .warmup = -1,
                                .seed = 5,
                                .record.draws = true };
    ck_assert_msg(sal_sample(model, &o, &run, &err) == SAL_OK, "%s", err.message);
    const uint8_t *draws = sal_run_draws(run, &bytes);
    play_pass *pass = play_pass_open(joint, o.sampler, keep, logits, steps, sizes, CHAINS, 5);
    ck_assert_msg(pass != NULL, "%s", play_error());
    for (int d = 0; d < DRAWS; d++) {
        int32_t before[CHAINS * BITS];
        for (int level = LEVELS - 1; level >= 0; level--) {
            memcpy(before, play_pass_codes(pass), sizeof before);
            ck_assert_int_eq(play_pass_level(pass), level);
            changed += memcmp(before, play_pass_codes(pass), sizeof before) != 0;
        }
        for (int c = 0; c < CHAINS; c++) {
            for (int v = 0; v < BITS; v++) {
                ck_assert_int_eq(play_pass_codes(pass)[c * BITS + v],
                                 draws[(c * DRAWS + d) * BITS + v]);
            }
        }
        play_pass_begin(pass);
    }
    ck_assert_int_gt(changed, DRAWS * LEVELS / 2);
    play_pass_close(pass);
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_trajectory_destroy(t);
    sal_space_destroy(space);
    play_model_close(joint);
}
END_TEST

START_TEST(a_pass_begins_anew_at_any_level)
{
    enum { CHAINS = 50 };
    int32_t before[CHAINS * BITS];
    sal_model *model = make_chain();
    play_pass *pass = play_pass_open(model, "gwg", keep, logits, steps, sizes, CHAINS, 1);
    play_model_close(model); /* the pass holds it */
    memcpy(before, play_pass_codes(pass), sizeof before);
    play_pass_begin(pass);
    ck_assert_int_ne(memcmp(before, play_pass_codes(pass), sizeof before), 0);
    ck_assert_int_eq(play_pass_level(pass), LEVELS - 1);
    play_pass_begin(pass);
    for (int level = LEVELS - 1; level >= 0; level--) {
        ck_assert_int_eq(play_pass_level(pass), level);
    }
    ck_assert_int_eq(play_pass_level(pass), -1);
    ck_assert_ptr_nonnull(strstr(play_error(), "at its end"));
    play_pass_close(pass);
}
END_TEST

START_TEST(passes_that_cannot_be_are_refused)
{
    static const double rising[] = { 1, 0.2, 0.7, 0 };
    sal_model *plain = play_model("ising:side=3"), *model = make_chain(),
              *labels = play_model("mlp:visible=4,hidden=3,levels=3,states=4");
    ck_assert_ptr_null(play_pass_open(plain, "gwg", keep, logits, steps, sizes, 2, 1));
    ck_assert_ptr_nonnull(strstr(play_error(), "a model with levels"));
    ck_assert_ptr_null(play_pass_open(labels, "gwg", keep, logits, steps, sizes, 2, 1));
    ck_assert_ptr_nonnull(strstr(play_error(), "two states"));
    ck_assert_ptr_null(play_pass_open(model, "gwg", rising, logits, steps, sizes, 2, 1));
    ck_assert_ptr_null(play_pass_open(model, "gwg", keep, logits, steps, sizes, 0, 1));
    ck_assert_ptr_null(play_pass_open(model, "mh-uniform", keep, logits, steps, sizes, 2, 1));
    ck_assert_ptr_null(play_pass_open(model, "no-such-sampler", keep, logits, steps, sizes, 2, 1));
    ck_assert_ptr_null(
        play_pass_open(model, "gwg", keep, logits, (const int32_t[3]){ 1, 0, 1 }, sizes, 2, 1));
    ck_assert_ptr_nonnull(strstr(play_error(), "level 1 needs"));
    play_pass_close(NULL);
    play_model_close(labels);
    play_model_close(model);
    play_model_close(plain);
}
END_TEST

static Suite *playground_suite(void)
{
    Suite *suite = suite_create("playground");
    TCase *tcase = tcase_create("formulas");
    tcase_add_test(tcase, formulas_have_their_values);
    tcase_add_loop_test(tcase, mistakes_are_told_at_their_place, 0,
                        (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_test(tcase, long_formulas_and_bad_lattices_are_refused);
    tcase_add_test(tcase, programs_are_printed);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("chains");
    tcase_add_test(tcase, walks_step_as_runs_do);
    tcase_add_test(tcase, chains_at_temperatures_swap_states);
    tcase_add_test(tcase, states_and_temperatures_can_be_set);
    tcase_add_test(tcase, what_cannot_be_is_refused);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("passes");
    tcase_add_test(tcase, passes_go_as_runs_do);
    tcase_add_test(tcase, a_pass_begins_anew_at_any_level);
    tcase_add_test(tcase, passes_that_cannot_be_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(playground_suite());
}
