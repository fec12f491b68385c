/* SPDX-License-Identifier: MIT */
/* The search for the radius of a window by the mean jump. */
#include "run_helpers.h"

#include <math.h>

#include "samplers/radius_search.h"

enum { CHAINS = 4 };

static sal_model *open_model(const char *specification)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

/* What jumps over which radius: largest at `peak`. */
static double jump_of(double radius, double peak)
{
    return 1 / (1 + fabs(radius - peak));
}

/* A warm-up in windows of `window` steps, in which chains jump by their radius; used[r] counts the
 * steps with radius r. */
static double found_radius(double most, double peak, int64_t total, int64_t window, int64_t *used)
{
    sal_model *model = open_model("ising:side=2");
    sali_chains *chains = NULL;
    sali_radius_search r;
    sal_error err = { 0 };
    ck_ok(sali_chains_create(model, CHAINS, 0, 0, &chains, &err), &err);
    sali_radius_search_begin(&r, true, most);
    sali_warmup w = { .model = model, .n_shards = 1, .chains = &chains, .total = total };
    while (w.done < total && (total < SALI_WARMUP_ENDLESS || r.stage != SALI_RADIUS_FOUND)) {
        w.window = window < total - w.done ? window : total - w.done;
        w.done += w.window;
        used[(int)r.radius] += w.window;
        for (int c = 0; c < CHAINS; c++) {
            chains->jump_sum[c] = jump_of(r.radius, peak) * (double)w.window;
        }
        double before = r.radius;
        bool changed = sali_radius_search_adapt(&r, &w);
        ck_assert(changed == (r.radius != before));
    }
    ck_assert(r.stage == SALI_RADIUS_FOUND || (total < 4 * window && r.radius == 1));
    sali_chains_destroy(chains);
    sal_model_destroy(model);
    return r.radius;
}

/* Candidates 1, 5, 10, 15, 20 in the second quarter, and what lies between two of them in the
 * third, each for a fifth or sixth of it. */
START_TEST(the_radius_of_the_largest_jump_is_found)
{
    static const int peaks[] = { 1, 2, 7, 12, 17, 19, 23, 40 };
    static const int want[] = { 1, 2, 7, 12, 17, 19, 20, 20 };
    static const int64_t totals[] = { 2000, 1000, SALI_WARMUP_ENDLESS };
    for (size_t k = 0; k < sizeof peaks / sizeof *peaks; k++) {
        for (int t = 0; t < 3; t++) {
            int64_t used[64] = { 0 };
            double radius = found_radius(49, peaks[k], totals[t], 25, used);
            ck_assert_double_eq(radius, want[k]);
            int64_t turn = (t == 2 ? SALI_RADIUS_ENDLESS : totals[t]) / 24 - 25;
            ck_assert_int_ge(used[10], turn);
            ck_assert_int_ge(used[20], turn);
            ck_assert_int_ge(used[want[k]], turn);
        }
    }
}
END_TEST

/* Windows that do not divide the turns, short warm-ups, radii that reach everything. */
START_TEST(any_warm_up_finds_a_radius)
{
    for (int64_t total = 1; total < 400; total += 7) {
        for (int64_t window = 1; window < 60; window += 13) {
            int64_t used[64] = { 0 };
            double radius = found_radius(6, 5, total < 4 ? 4 : total, window, used);
            ck_assert(radius >= 1 && radius <= 6 && radius == floor(radius));
        }
    }
    int64_t used[64] = { 0 };
    ck_assert_double_eq(found_radius(1, 7, 1000, 25, used), 1);
    ck_assert_double_eq(found_radius(4, 7, 1000, 25, used), 4);
    ck_assert_int_eq(used[5], 0);
    ck_assert_double_eq(found_radius(49, 2, 990, 10, used), 2);
}
END_TEST

static double mean_jump(sal_model *model, const char *sampler, double radius)
{
    char text[64];
    snprintf(text, sizeof text, "%s:radius=%g", sampler, radius);
    sal_run_options options = {
        .sampler = text, .chains = 20, .warmup = 500, .draws = 2000, .seed = 7
    };
    sal_run *run = run_it(model, &options);
    double jump = summary_of(run).mean_jump;
    sal_run_destroy(run);
    return jump;
}

/* What runs find jumps as far as any candidate does. */
START_TEST(samplers_take_the_radius_that_jumps_furthest)
{
    static const char *const samplers[] = { "gwg", "mh-uniform", "dlmc" };
    static const double radii[] = { 1, 2, 3, 4, 5, 10 };
    sal_model *model = open_model("ordinal-poly2:dim=6,levels=40,shift=minus,normalised=1");
    for (int k = 0; k < 3; k++) {
        char text[64];
        sal_tuning *tuning = NULL;
        const double *radius;
        sal_error err = { 0 };
        snprintf(text, sizeof text, "%s:radius=search", samplers[k]);
        sal_run_options options = { .sampler = text, .chains = 20, .warmup = 4000, .draws = 10 };
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_tuning(run, &tuning, &err), &err);
        ck_ok(sal_tuning_values(tuning, "sampler.radius", &radius, NULL, &err), &err);
        double found = mean_jump(model, samplers[k], *radius);
        for (size_t i = 0; i < sizeof radii / sizeof *radii; i++) {
            ck_assert_double_gt(found, 0.97 * mean_jump(model, samplers[k], radii[i]));
        }
        sal_tuning_destroy(tuning);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* Another number on the same grid: 1/2 + (r - 1) / 38. */
START_TEST(other_numbers_stand_for_radii)
{
    sali_radius_search r;
    sal_model *model = open_model("ising:side=2");
    sali_chains *chains = NULL;
    sal_error err = { 0 };
    ck_ok(sali_chains_create(model, CHAINS, 0, 0, &chains, &err), &err);
    sali_radius_search_begin_for(&r, true, "beta", 0.5, 1. / 38, 1);
    sali_warmup w = { .model = model, .n_shards = 1, .chains = &chains, .window = 25 };
    double least = 2, largest = 0;
    ck_assert_double_eq(r.radius, 0.5);
    for (w.total = 1000; w.done < w.total; w.done += w.window) {
        least = fmin(least, r.radius);
        largest = fmax(largest, r.radius);
        for (int c = 0; c < CHAINS; c++) {
            chains->jump_sum[c] = jump_of(r.radius, 0.5 + 17. / 38) * 25;
        }
        sali_radius_search_adapt(&r, &w);
    }
    w.done = w.total;
    sali_radius_search_adapt(&r, &w);
    ck_assert_double_eq_tol(least, 0.5, 1e-15);
    ck_assert_double_eq_tol(largest, 1, 1e-15);
    ck_assert_double_eq_tol(r.radius, 0.5 + 17. / 38, 1e-15);
    sali_chains_destroy(chains);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("radius_search");
    TCase *tcase = tcase_create("radius_search");
    tcase_add_test(tcase, the_radius_of_the_largest_jump_is_found);
    tcase_add_test(tcase, any_warm_up_finds_a_radius);
    tcase_add_test(tcase, samplers_take_the_radius_that_jumps_furthest);
    tcase_add_test(tcase, other_numbers_stand_for_radii);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
