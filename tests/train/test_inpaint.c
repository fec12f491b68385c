/* SPDX-License-Identifier: MIT */
/* In-painting: conditional distributions, clamped variables, reproducibility, bad masks; sheets. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/figure.h>
#include <saltus/program.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "core/alloc.h"

enum { V = 6, STATES = 1 << V, ROWS = 3 };

static const uint8_t rows[ROWS][V] = { { 1, 0, 1, 1, 0, 0 },
                                       { 0, 0, 0, 1, 1, 1 },
                                       { 1, 1, 1, 1, 1, 1 } };
static const uint8_t masks[ROWS][V] = { { 0, 0, 0, 1, 1, 1 },
                                        { 1, 0, 1, 0, 1, 1 },
                                        { 1, 1, 1, 1, 1, 1 } };

/* f = sum_i h_i s_i + sum_i<j J_ij s_i s_j over binary variables. */
static double field(int i)
{
    return 0.7 * (i % 3) - 0.6;
}

static double coupling(int i, int j)
{
    return (i + 2 * j) % 4 - 1.4;
}

static double formula(const double *s, double *gradient, void *data)
{
    double f = 0;
    (void)data;
    for (int i = 0; i < V; i++) {
        double slope = field(i);
        for (int j = 0; j < V; j++) {
            slope += j == i ? 0 : coupling(i < j ? i : j, i < j ? j : i) * s[j];
        }
        f += 0.5 * s[i] * (slope + field(i));
        if (gradient) {
            gradient[i] = slope;
        }
    }
    return f;
}

static sal_model *new_model(void)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = V }, &err),
          &err);
    sal_callback callback = { .f = formula, .has_gradient = true };
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_space_destroy(space);
    return model;
}

/* p(s_i = 1 | known variables of a row), by the formula at all states that agree with them. */
static void conditional(const uint8_t *codes, const uint8_t *mask, double *p)
{
    double total = 0;
    memset(p, 0, V * sizeof *p);
    for (int state = 0; state < STATES; state++) {
        double s[V];
        int fits = 1;
        for (int i = 0; i < V; i++) {
            s[i] = state >> i & 1;
            fits = fits && (mask[i] || s[i] == codes[i]);
        }
        double weight = fits ? exp(formula(s, NULL, NULL)) : 0;
        total += weight;
        for (int i = 0; i < V; i++) {
            p[i] += weight * s[i];
        }
    }
    for (int i = 0; i < V; i++) {
        p[i] /= total;
    }
}

START_TEST(samples_have_the_conditional_marginals)
{
    enum { N = 8000 };
    sal_error err = { 0 };
    sal_model *model = new_model();
    int32_t *out = SALI_NEW_ARRAY(int32_t, ROWS * N * V);
    static const char *const samplers[] = { NULL, "gibbs", "pas" };
    for (int k = 0; k < 3; k++) {
        sal_inpaint_options options = {
            .sampler = samplers[k], .samples = N, .steps = 120, .mask_by_row = true, .seed = 5
        };
        ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, out, &err), &err);
        for (int r = 0; r < ROWS; r++) {
            double p[V];
            conditional(rows[r], masks[r], p);
            for (int i = 0; i < V; i++) {
                int ones = 0;
                for (int n = 0; n < N; n++) {
                    ones += out[(r * N + n) * V + i];
                }
                double share = ones / (double)N, error = sqrt(p[i] * (1 - p[i]) / N);
                ck_assert_msg(fabs(share - p[i]) <= 4 * error, "row %d, variable %d: %g, exact %g",
                              r, i, share, p[i]);
            }
        }
    }
    sali_free(out);
    sal_model_destroy(model);
}
END_TEST

START_TEST(known_variables_stay_and_unknown_ones_move)
{
    enum { N = 40 };
    sal_error err = { 0 };
    sal_model *model = new_model();
    int32_t out[ROWS * N * V];
    sal_inpaint_options options = { .samples = N, .steps = 20 };
    ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, out, &err), &err);
    for (int i = 0; i < V; i++) {
        int sum = 0;
        for (int k = 0; k < ROWS * N; k++) { /* one mask for all rows */
            ck_assert(masks[0][i] || out[k * V + i] == rows[k / N][i]);
            sum += out[k * V + i];
        }
        ck_assert(!masks[0][i] || (sum > 0 && sum < ROWS * N));
    }
    sal_model_destroy(model);
}
END_TEST

typedef struct seen {
    int64_t done, total, stop_at;
    int calls;
} seen;

static int note(int64_t done, int64_t total, void *data)
{
    seen *s = data;
    ck_assert_int_ge(done, s->done);
    s->done = done;
    s->total = total;
    s->calls++;
    return s->stop_at > 0 && done >= s->stop_at;
}

START_TEST(progress_is_shown_and_can_stop_it)
{
    enum { N = 3, STEPS = 2000, SIZE = ROWS * N * V };
    sal_error err = { 0 };
    sal_model *model = new_model();
    int32_t whole[SIZE], out[SIZE];
    sal_inpaint_options options = { .samples = N, .steps = STEPS, .seed = 3 };
    ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, whole, &err), &err);
    for (int threads = 1; threads <= 2; threads++) {
        seen s = { 0 };
        options.progress = note;
        options.progress_data = &s;
        options.threads = threads;
        ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, out, &err), &err);
        ck_assert_mem_eq(out, whole, sizeof out);
        ck_assert_int_eq(s.done, ROWS * STEPS);
        ck_assert_int_eq(s.total, ROWS * STEPS);
        ck_assert_int_gt(s.calls, ROWS);
    }
    seen s = { .stop_at = STEPS + STEPS / 2 }; /* in the middle of the second row */
    options.progress_data = &s;
    options.threads = 1;
    ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, out, &err), &err);
    ck_assert_int_lt(s.done, 2 * STEPS);
    ck_assert_mem_eq(out, whole, sizeof out / ROWS);
    for (int i = SIZE / ROWS; i < SIZE; i++) {
        ck_assert_int_eq(out[i], -1);
    }
    sal_model_destroy(model);
}
END_TEST

/* Unknown codes of the rows count for nothing, nor do other rows. */
START_TEST(results_depend_on_seed_row_and_what_is_known_only)
{
    enum { N = 70, SIZE = ROWS * N * V };
    sal_error err = { 0 };
    sal_model *model = new_model();
    static int32_t first[SIZE], out[SIZE];
    uint8_t other[ROWS][V];
    memcpy(other, rows, sizeof rows);
    for (int i = 0; i < V; i++) {
        other[0][i] = masks[0][i] ? 200 : rows[0][i];
    }
    sal_inpaint_options options = {
        .sampler = "ncg", .samples = N, .steps = 50, .mask_by_row = true, .seed = 9, .threads = 1
    };
    ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, first, &err), &err);
    for (int threads = 2; threads <= 7; threads += 5) {
        options.threads = threads;
        memset(out, 0, sizeof out);
        ck_ok(sal_inpaint(model, ROWS, other[0], masks[0], &options, out, &err), &err);
        ck_assert_mem_eq(out, first, sizeof out);
        memset(out, 0, sizeof out);
        ck_ok(sal_inpaint(model, 1, rows[0], masks[0], &options, out, &err), &err);
        ck_assert_mem_eq(out, first, sizeof out / ROWS);
    }
    options.seed = 10;
    ck_ok(sal_inpaint(model, ROWS, rows[0], masks[0], &options, out, &err), &err);
    ck_assert_mem_ne(out, first, sizeof out);
    /* Equal rows have random numbers of their own. */
    uint8_t equal[2][V] = { { 0 } }, all[V] = { 1, 1, 1, 1, 1, 1 };
    options.mask_by_row = false;
    ck_ok(sal_inpaint(model, 2, equal[0], all, &options, out, &err), &err);
    ck_assert_mem_ne(out, out + N * V, N * V * sizeof *out);
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_masks_codes_and_options_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = new_model();
    uint8_t mask[ROWS][V], codes[ROWS][V];
    int32_t out[ROWS * 8 * V];
    sal_inpaint_options options = { .steps = 2, .mask_by_row = true };
    memcpy(mask, masks, sizeof masks);
    memcpy(codes, rows, sizeof rows);
    mask[1][4] = 2;
    ck_fails(sal_inpaint(model, ROWS, codes[0], mask[0], &options, out, &err), SAL_ERR_ARGUMENT,
             &err, "row 1: the mask of variable 4 is 2");
    memset(mask[1], 0, V);
    ck_fails(sal_inpaint(model, ROWS, codes[0], mask[0], &options, out, &err), SAL_ERR_ARGUMENT,
             &err, "row 1: its mask leaves nothing unknown");
    memcpy(mask, masks, sizeof masks);
    codes[0][2] = 2;
    ck_fails(sal_inpaint(model, ROWS, codes[0], mask[0], &options, out, &err), SAL_ERR_ARGUMENT,
             &err, "row 0, variable 2: code 2; expected 0 to 1");
    codes[0][2] = 0;
    const sal_inpaint_options bad[] = {
        { .steps = 1 }, { .steps = -5 }, { .samples = -1 }, { .threads = -1 }, { .threads = 5000 }
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ck_fails(sal_inpaint(model, 1, codes[0], mask[0], &bad[k], out, &err), SAL_ERR_ARGUMENT,
                 &err, "inpaint: ");
    }
    ck_fails(sal_inpaint(model, 0, codes[0], mask[0], NULL, out, &err), SAL_ERR_ARGUMENT, &err,
             "0 rows");
    options.sampler = "gwq";
    ck_fails(sal_inpaint(model, ROWS, codes[0], mask[0], &options, out, &err), SAL_ERR_ARGUMENT,
             &err, "inpaint: row 0: ");
    ck_fails(sal_inpaint(model, 1, codes[0], NULL, NULL, out, &err), SAL_ERR_ARGUMENT, &err,
             "NULL");
    sal_model_destroy(model);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    sal_error err = { 0 };
    sal_model *model = new_model();
    int32_t out[2 * V];
    sal_inpaint_options options = { .samples = 1, .steps = 2, .threads = 1 };
    ck_alloc_sweep(sal_inpaint(model, 2, rows[0], masks[0], &options, out, &err), (void)0);
    sal_model_destroy(model);
}
END_TEST

static int is_png(const char *path)
{
    unsigned char head[8] = { 0 };
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(head, 1, 8, file) : 0;
    if (file) {
        fclose(file);
    }
    return n == 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

START_TEST(sheets_are_written)
{
    sal_error err = { 0 };
    const double greys[2 * 6] = { 0, 0.3, 0.6, 1, 0, 1, NAN, 1, 0, 0, 2, -1 };
    sal_images sheet = { .n = 2, .height = 3, .width = 2, .values = greys, .columns = 2 };
    temp_dir_make();
    const char *path = temp_path("sheet.png");
    sal_status status = sal_sheet_write(path, &sheet, 4, &err);
    if (status == SAL_ERR_UNSUPPORTED) {
        test_skipped("built without libpng");
    } else {
        ck_ok(status, &err);
        ck_assert(is_png(path));
    }
    const sal_images bad[] = { { 0, 3, 2, greys, 2 },
                               { 2, INT64_MAX, 2, greys, 2 },
                               { 2, 3, 2, greys, -1 },
                               { 2, 3, 2, NULL, 0 } };
    const char *const words[] = { "0 pictures", "pictures", "columns", "sheet.png" };
    for (int k = 0; k < 4; k++) {
        ck_fails(sal_sheet_write(path, &bad[k], 4, &err), SAL_ERR_ARGUMENT, &err, words[k]);
    }
    ck_fails(sal_sheet_write(path, NULL, 4, &err), SAL_ERR_ARGUMENT, &err, "sheet.png");
    temp_dir_remove();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inpaint");
    TCase *tcase = tcase_create("inpaint");
    tcase_add_test(tcase, known_variables_stay_and_unknown_ones_move);
    tcase_add_test(tcase, progress_is_shown_and_can_stop_it);
    tcase_add_test(tcase, results_depend_on_seed_row_and_what_is_known_only);
    tcase_add_test(tcase, bad_masks_codes_and_options_are_refused);
    tcase_add_test(tcase, every_failed_allocation_is_reported);
    tcase_add_test(tcase, sheets_are_written);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("statistics");
    tcase_add_test(tcase, samples_have_the_conditional_marginals);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
