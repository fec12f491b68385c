/* SPDX-License-Identifier: MIT */
/* Data sets: files of every kind, slices, draws of a run, binarisation. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "core/alloc.h"
#include "io/arrays/npy.h"
#include "train/data.h"

static const char *write_npy(const char *name, sali_dtype dtype, int ndim, const int64_t *shape,
                             const void *values)
{
    sal_error err = { 0 };
    const char *path = temp_path(name);
    ck_ok(sali_npy_write(path, dtype, ndim, shape, values, &err), &err);
    return path;
}

/* One set of 2 x 2 pictures in three ranges. */
START_TEST(pictures_of_every_range_are_the_same)
{
    const int bytes[12] = { 0, 127, 128, 255, 1, 200, 90, 3, 255, 255, 0, 128 };
    const int64_t shape[] = { 3, 2, 2 };
    const sal_grey greys[] = { SAL_GREY_BYTES, SAL_GREY_SIGNED, SAL_GREY_UNIT };
    sal_error err = { 0 };
    temp_dir_make();
    for (int k = 0; k < 3; k++) {
        double values[12];
        sal_data data = { 0 };
        for (int i = 0; i < 12; i++) {
            values[i] = k == 0 ? bytes[i] : k == 1 ? bytes[i] / 127.5 - 1 : bytes[i] / 255.;
        }
        const char *path = write_npy("p.npy", SALI_DTYPE_F64, 3, shape, values);
        sal_data_options options = { .keep_intensity = true };
        ck_ok(sal_data_read(path, &options, &data, &err), &err);
        ck_assert(data.rows == 3 && data.variables == 4 && data.height == 2 && data.width == 2);
        ck_assert_int_eq(data.grey, greys[k]);
        ck_assert(!data.weight && !data.labels);
        for (int i = 0; i < 12; i++) {
            ck_assert_int_eq(data.codes[i], bytes[i] > 127);
            ck_assert_double_eq_tol(data.intensity[i], bytes[i] / 255., 1e-7);
        }
        sal_data_destroy(&data);
        ck_assert_ptr_null(data.intensity);
        options = (sal_data_options){ .grey = greys[k], .first = 1, .count = 1 };
        ck_ok(sal_data_read(path, &options, &data, &err), &err);
        ck_assert(data.rows == 1 && !data.intensity);
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(data.codes[i], bytes[4 + i] > 127);
        }
        sal_data_destroy(&data);
    }
    /* The range is that of the file, not of the rows read; or the one that is said. */
    const uint8_t dark[4] = { 0, 100, 100, 200 };
    sal_data data = { 0 };
    const char *path = write_npy("d.npy", SALI_DTYPE_U8, 3, (int64_t[]){ 1, 2, 2 }, dark);
    ck_ok(sal_data_read(path, &(sal_data_options){ .grey = SAL_GREY_BYTES }, &data, &err), &err);
    ck_assert(data.codes[1] == 0 && data.codes[2] == 0 && data.codes[3] == 1);
    sal_data_destroy(&data);
    ck_fails(sal_data_read(path, &(sal_data_options){ .white = 199 }, &data, &err), SAL_ERR_DATA,
             &err,
             "d.npy: values from 0 to 200; expected grey values from 0 to 199. Give the value of");
    ck_ok(sal_data_read(path, &(sal_data_options){ .white = 200 }, &data, &err), &err);
    ck_assert(data.codes[1] == 0 && data.grey == SAL_GREY_FIND && data.white == 200);
    sal_data_destroy(&data);
    temp_dir_remove();
}
END_TEST

/* Levels are equal parts of the range, whose last one has its end; pictures may be no squares. */
START_TEST(pictures_have_as_many_grey_levels_as_asked)
{
    static const uint8_t bytes[12] = { 0, 63, 64, 127, 128, 191, 192, 254, 255, 31, 32, 100 };
    static const uint8_t fours[12] = { 0, 0, 1, 1, 2, 2, 3, 3, 3, 0, 0, 1 };
    static const uint8_t eights[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 7, 0, 1, 3 };
    const struct {
        int64_t levels;
        const uint8_t *codes;
    } cases[] = { { 4, fours }, { 8, eights }, { 256, bytes } };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    const char *path = write_npy("g.npy", SALI_DTYPE_U8, 3, (int64_t[]){ 2, 2, 3 }, bytes);
    for (int k = 0; k < 3; k++) {
        const sal_data_options o = { .levels = cases[k].levels };
        ck_ok(sal_data_read(path, &o, &data, &err), &err);
        ck_assert(data.rows == 2 && data.height == 2 && data.width == 3);
        ck_assert_mem_eq(data.codes, cases[k].codes, 12);
        sal_data_destroy(&data);
    }
    const double units[4] = { 0, 0.24, 0.51, 1 }, halves[4] = { -1, -0.6, 0.1, 1 };
    for (int k = 0; k < 2; k++) { /* parts of the other ranges */
        path = write_npy("u.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 4, 1 }, k ? halves : units);
        ck_ok(sal_data_read(path, &(sal_data_options){ .levels = 4 }, &data, &err), &err);
        ck_assert_mem_eq(data.codes, ((uint8_t[]){ 0, 0, 2, 3 }), 4);
        sal_data_destroy(&data);
    }
    ck_ok(sal_data_read(path, &(sal_data_options){ .levels = 2 }, &data, &err), &err);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 0, 0, 1, 1 }), 4);
    sal_data_destroy(&data);
    const int64_t bad[] = { -1, 1, 257 };
    for (int k = 0; k < 3; k++) {
        ck_fails(sal_data_read(path, &(sal_data_options){ .levels = bad[k] }, &data, &err),
                 SAL_ERR_ARGUMENT, &err, "grey levels; expected 2 to 256");
    }
    const sal_data_options both = { .levels = 4, .keep_intensity = true };
    ck_fails(sal_data_read(path, &both, &data, &err), SAL_ERR_ARGUMENT, &err,
             "4 grey levels and keep_intensity; intensities");
    const sal_data_options codes = { .kind = SAL_DATA_CODES, .levels = 4 };
    ck_fails(sal_data_read(path, &codes, &data, &err), SAL_ERR_ARGUMENT, &err,
             "levels, keep_intensity and sides are for pictures");
    temp_dir_remove();
}
END_TEST

/* What a libsvm file leaves out at the end of rows is zero, if the sides are known. */
START_TEST(pictures_of_given_sides_are_read)
{
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    temp_write("a.svm", "7 1:1 5:1\n3 2:1\n", 16);
    temp_write("a.csv", "1,0,0,0,1,0\n0,1,0,0,0,0\n", 24);
    static const uint8_t expected[] = { 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0 };
    const sal_data_options sides = { .height = 2, .width = 3, .columns_from = SAL_COLUMNS_FROM_1 };
    for (int k = 0; k < 2; k++) {
        ck_ok(sal_data_read(temp_path(k == 0 ? "a.svm" : "a.csv"), &sides, &data, &err), &err);
        ck_assert(data.rows == 2 && data.variables == 6 && data.height == 2 && data.width == 3);
        ck_assert_mem_eq(data.codes, expected, sizeof expected);
        ck_assert(k == 1 || (data.labels[0] == 7 && data.labels[1] == 3));
        sal_data_destroy(&data);
    }
    ck_alloc_sweep(sal_data_read(temp_path("a.svm"), &sides, &data, &err), sal_data_destroy(&data));
    const sal_data_options codes = { .kind = SAL_DATA_CODES,
                                     .columns = 6,
                                     .columns_from = SAL_COLUMNS_FROM_1 };
    ck_ok(sal_data_read(temp_path("a.svm"), &codes, &data, &err), &err);
    ck_assert_int_eq(data.variables, 6);
    ck_assert_mem_eq(data.codes, expected, sizeof expected);
    sal_data_destroy(&data);
    const sal_data_options negative = { .columns = -1 };
    ck_fails(sal_data_read(temp_path("a.svm"), &negative, &data, &err), SAL_ERR_ARGUMENT, &err,
             "-1 columns");
    temp_dir_remove();
}
END_TEST

START_TEST(codes_and_draws_are_read_as_they_are)
{
    const int32_t values[12] = { 0, 3, 255, 7, 1, 0, 4, 4, 2, 9, 30, 200 };
    const int64_t shape[] = { 2, 3, 2 };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    const char *path = write_npy("c.npy", SALI_DTYPE_I32, 3, shape, values);
    ck_ok(sal_data_read(path, &(sal_data_options){ .kind = SAL_DATA_CODES }, &data, &err), &err);
    ck_assert(data.rows == 2 && data.variables == 6 && data.height == 3 && data.width == 2);
    for (int i = 0; i < 12; i++) {
        ck_assert_int_eq(data.codes[i], values[i]);
    }
    sal_data_destroy(&data);
    sal_data_options draws = { .kind = SAL_DATA_DRAWS, .first = 2, .count = 3 };
    ck_ok(sal_data_read(path, &draws, &data, &err), &err);
    ck_assert(data.rows == 3 && data.variables == 2 && data.height == 0 && data.width == 0);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(data.codes[i], values[4 + i]);
    }
    sal_data_destroy(&data);
    path = temp_write("l.svm", "7 1:1 2:2\n-3 1:4 3:1\n5 2:9\n", 27);
    sal_data_options tail = { .kind = SAL_DATA_CODES, .first = 1 };
    ck_ok(sal_data_read(path, &tail, &data, &err), &err);
    ck_assert(data.rows == 2 && data.variables == 3 && data.labels);
    ck_assert(data.labels[0] == -3 && data.labels[1] == 5);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 4, 0, 1, 0, 9, 0 }), 6);
    sal_data_destroy(&data);
    temp_dir_remove();
}
END_TEST

START_TEST(alignments_have_codes_and_weights)
{
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    /* The first two agree at 3 of 4 sites, the third with none. */
    const char *path = temp_write("a.aln", "ACDE\nACD-\nYWVT\nYWVT\n", 20);
    sal_data_options options = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.75 };
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert(data.rows == 4 && data.variables == 4 && data.height == 0);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 1, 2, 3, 4, 1, 2, 3, 0, 20, 19, 18, 17 }), 12);
    for (int r = 0; r < 4; r++) {
        ck_assert_double_eq(data.weight[r], 0.5);
    }
    sal_data_destroy(&data);
    /* Weights are those among the rows that are read. */
    options.first = 1;
    options.count = 2;
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert(data.rows == 2 && data.weight[0] == 1 && data.weight[1] == 1);
    ck_assert_int_eq(data.codes[3], 0);
    sal_data_destroy(&data);
    options.identity = 0;
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert_ptr_null(data.weight);
    sal_data_destroy(&data);
    /* Sequences are an alignment without a kind, too, with options of alignments or not. */
    ck_ok(sal_data_read(path, NULL, &data, &err), &err);
    ck_assert(data.rows == 4 && data.codes[4] == 1 && !data.weight);
    sal_data_destroy(&data);
    ck_ok(sal_data_read(path, &(sal_data_options){ .identity = 0.75 }, &data, &err), &err);
    ck_assert(data.rows == 4 && data.weight && data.weight[3] == 0.5);
    sal_data_destroy(&data);
    path = temp_write("a.txt", ">a\nACDE\n>b\nYWVT\n", 16);
    ck_ok(sal_data_read(path, NULL, &data, &err), &err);
    ck_assert(data.rows == 2 && data.variables == 4);
    sal_data_destroy(&data);
    temp_dir_remove();
}
END_TEST

START_TEST(data_of_nucleotides_have_five_codes)
{
    sal_error err = { 0 };
    sal_data data = { 0 }, part = { 0 };
    temp_dir_make();
    const char *path = temp_write("a.aln", "ACGU\nTTN-\n", 10);
    sal_data_options options = { .kind = SAL_DATA_ALIGNMENT };
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert_str_eq(data.alphabet, "-ACGT");
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 1, 2, 3, 4, 4, 4, 0, 0 }), 8);
    ck_ok(sal_data_split(&data, 1, NULL, &part, &err), &err);
    ck_assert_str_eq(part.alphabet, "-ACGT");
    sal_data_destroy(&part);
    sal_data_destroy(&data);
    options.alphabet = "protein";
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert_str_eq(data.alphabet, "-ACDEFGHIKLMNPQRSTVWY");
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 1, 2, 6, 0, 17, 17, 12, 0 }), 8);
    sal_data_destroy(&data);
    temp_dir_remove();
}
END_TEST

/* Counts made by another program from the same files. */
START_TEST(public_sets_have_their_known_counts)
{
    const struct {
        const char *file;
        int64_t rows, side, white, first_white; /* of all rows, and of the first 1000 */
        double grey;                            /* sum of the bytes */
    } sets[] = {
        { "data/mnist-t10k-images-idx3-ubyte.gz", 10000, 28, 1052359, 97145, 264923200 },
        { "data/usps-test-images-idx3-ubyte.gz", 2007, 16, 138350, 70123, 35061379 },
        { "data/usps-train-images-idx3-ubyte.gz", 7291, 16, 478213, 68097, 121121351 },
    };
    for (int k = 0; k < 3; k++) {
        sal_error err = { 0 };
        sal_data data = { 0 }, held = { 0 };
        const char *path = test_data(sets[k].file);
        if (!path) {
            continue;
        }
        ck_ok(sal_data_read(path, &(sal_data_options){ .keep_intensity = true }, &data, &err),
              &err);
        ck_assert(data.rows == sets[k].rows && data.height == sets[k].side &&
                  data.width == sets[k].side && data.grey == SAL_GREY_BYTES);
        int64_t white = 0, first_white = 0, count = data.rows * data.variables;
        double grey = 0;
        for (int64_t i = 0; i < count; i++) {
            white += data.codes[i];
            first_white += i < 1000 * data.variables ? data.codes[i] : 0;
            grey += 255. * (double)data.intensity[i];
        }
        ck_assert_int_eq(white, sets[k].white);
        ck_assert_int_eq(first_white, sets[k].first_white);
        ck_assert_double_eq_tol(grey / sets[k].grey, 1, 1e-6);
        ck_ok(sal_data_split(&data, 1000, NULL, &held, &err), &err);
        ck_assert(data.rows == sets[k].rows - 1000 && held.rows == 1000);
        for (int64_t i = 0; i < 1000 * data.variables; i++) {
            white -= held.codes[i];
        }
        for (int64_t i = 0; i < data.rows * data.variables; i++) {
            white -= data.codes[i];
        }
        ck_assert_int_eq(white, 0);
        sal_data_destroy(&data);
        sal_data_destroy(&held);
    }
    const char *path = test_data("data/1atzA.aln");
    sal_data data = { 0 };
    sal_error err = { 0 };
    if (path) {
        ck_ok(sal_data_read(path, &(sal_data_options){ .kind = SAL_DATA_ALIGNMENT }, &data, &err),
              &err);
        int64_t gaps = 0, alanines = 0;
        for (int64_t i = 0; i < data.rows * data.variables; i++) {
            gaps += data.codes[i] == 0;
            alanines += data.codes[i] == 1;
        }
        ck_assert(data.rows == 3068 && data.variables == 75);
        ck_assert(gaps == 16922 && alanines == 11830);
        sal_data_destroy(&data);
    }
}
END_TEST

START_TEST(splits_keep_what_belongs_to_rows)
{
    sal_error err = { 0 };
    sal_data data = { .rows = 5, .variables = 2, .height = 1, .width = 2 }, part = { 0 };
    data.codes = SALI_NEW_ARRAY(uint8_t, 10);
    data.intensity = SALI_NEW_ARRAY(float, 10);
    data.weight = SALI_NEW_ARRAY(double, 5);
    data.labels = SALI_NEW_ARRAY(int32_t, 5);
    for (int i = 0; i < 10; i++) {
        data.codes[i] = (uint8_t)i;
        data.intensity[i] = (float)i / 16;
        data.weight[i / 2] = i / 2 + 0.5;
        data.labels[i / 2] = -i / 2;
    }
    ck_ok(sal_data_split(&data, 2, NULL, &part, &err), &err);
    ck_assert(data.rows == 3 && part.rows == 2 && part.variables == 2 && part.width == 2);
    for (int i = 0; i < 4; i++) {
        ck_assert(part.codes[i] == 6 + i && part.intensity[i] == (float)(6 + i) / 16);
        ck_assert(part.weight[i / 2] == 3 + i / 2 + 0.5 && part.labels[i / 2] == -3 - i / 2);
    }
    sal_data_destroy(&part);
    const int64_t bad[] = { -1, 0, 3, 4, INT64_MAX };
    for (int k = 0; k < 5; k++) {
        ck_fails(sal_data_split(&data, bad[k], NULL, &part, &err), SAL_ERR_ARGUMENT, &err,
                 "of 3 rows to hold out; expected at least 1, and one must stay");
    }
    sal_data empty = { .rows = 3, .variables = 2 };
    ck_fails(sal_data_split(&empty, 1, NULL, &part, &err), SAL_ERR_ARGUMENT, &err, "of 0 rows");
    ck_assert_int_eq(data.rows, 3);
    ck_alloc_sweep(sal_data_split(&data, 1, NULL, &part, &err),
                   (sal_data_destroy(&part), data.rows = 3));
    sal_data_destroy(&data);
}
END_TEST

/* Rows 10 g + k, k < sizes[g], differ from one another at one of 10 variables: chains of a cluster;
 * rows of different g at all. */
static sal_data clustered(int groups, const int *sizes)
{
    sal_data data = { .variables = 10 };
    for (int g = 0; g < groups; g++) {
        data.rows += sizes[g];
    }
    data.codes = sali_alloc(data.rows, 10);
    data.weight = sali_alloc(data.rows, sizeof(double));
    data.labels = sali_alloc(data.rows, sizeof(int32_t));
    int64_t r = 0;
    for (int k = 0, left = 1; left; k++) { /* clusters are interleaved */
        left = 0;
        for (int g = 0; g < groups; g++) {
            if (k < sizes[g]) {
                memset(data.codes + 10 * r, 3 * g, 10);
                for (int i = 0; i < k && i < 20; i++) { /* one variable more than the row before */
                    data.codes[10 * r + i % 10]++;
                }
                data.weight[r] = (double)(r + 1);
                data.labels[r++] = g;
                left++;
            }
        }
    }
    return data;
}

/* No label is on both sides, rows keep what belongs to them, and as many are held out as said. */
static void ck_split(int groups, const int *sizes, double share, uint64_t seed, int64_t held)
{
    sal_error err = { 0 };
    sal_data data = clustered(groups, sizes), test = { 0 };
    const int64_t rows = data.rows;
    int64_t clusters = 0;
    bool out[100] = { false };
    ck_ok(sal_data_split_by_identity(&data, 0.9, share, seed, &test, &clusters, &err), &err);
    ck_assert_int_eq(clusters, groups);
    ck_assert_int_eq(test.rows, held);
    ck_assert_int_eq(data.rows + test.rows, rows);
    double sum = 0;
    for (int64_t r = 0; r < test.rows; r++) {
        out[test.labels[r]] = true;
        ck_assert(r == 0 || test.weight[r] > test.weight[r - 1]);
        sum += test.weight[r];
    }
    for (int64_t r = 0; r < data.rows; r++) {
        ck_assert(!out[data.labels[r]]);
        ck_assert(data.codes[10 * r + 9] / 3 == data.labels[r] || sizes[data.labels[r]] > 10);
        sum += data.weight[r];
    }
    ck_assert_double_eq(sum, (double)(rows * (rows + 1) / 2));
    sal_data_destroy(&data);
    sal_data_destroy(&test);
}

START_TEST(clusters_are_held_out_as_a_whole)
{
    const int ones[20] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const int mixed[6] = { 9, 2, 3, 4, 1, 1 }, two[2] = { 7, 5 }, few[3] = { 18, 1, 1 };
    for (uint64_t seed = 0; seed < 20; seed++) {
        ck_split(20, ones, 0.25, seed, 5);
        ck_split(2, two, 0.1, seed, 5); /* neither fits: the smaller one, fewer than half */
        ck_split(3, few, 0.5, seed, 2); /* what there is beside the large one */
        sal_error err = { 0 };
        sal_data data = clustered(6, mixed), test = { 0 };
        ck_ok(sal_data_split_by_identity(&data, 0.9, 0.2, seed, &test, NULL, &err), &err);
        ck_assert(test.rows >= 3 && test.rows <= 4); /* of 20: the order of the clusters decides */
        sal_data_destroy(&data);
        sal_data_destroy(&test);
    }
}
END_TEST

/* Every row is on one side, with what belongs to it, in its order; and all are held out alike. */
START_TEST(random_rows_are_held_out)
{
    enum { ROWS = 20, HELD = 5, SEEDS = 400 };
    const int groups[ROWS] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    int times[ROWS] = { 0 };
    sal_error err = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sal_data data = clustered(ROWS, groups), whole = clustered(ROWS, groups), test = { 0 };
        const size_t V = (size_t)data.variables;
        ck_ok(sal_data_split(&data, HELD, &seed, &test, &err), &err);
        ck_assert(test.rows == HELD && data.rows == ROWS - HELD);
        int64_t t = 0, d = 0;
        for (int64_t r = 0; r < ROWS; r++) {
            const bool held = t < HELD && test.weight[t] == whole.weight[r];
            const sal_data *side = held ? &test : &data;
            const int64_t at = held ? t++ : d++;
            ck_assert_double_eq(side->weight[at], whole.weight[r]);
            ck_assert_int_eq(side->labels[at], whole.labels[r]);
            ck_assert_mem_eq(side->codes + (size_t)at * V, whole.codes + (size_t)r * V, V);
            times[r] += held;
        }
        ck_assert(t == HELD && d == ROWS - HELD);
        sal_data_destroy(&data);
        sal_data_destroy(&test);
        sal_data_destroy(&whole);
    }
    for (int r = 0; r < ROWS; r++) { /* 100 expected, standard deviation 8.7 */
        ck_assert_msg(abs(times[r] - SEEDS * HELD / ROWS) < 40, "row %d: %d", r, times[r]);
    }
    sal_data data = clustered(ROWS, groups), test = { 0 };
    ck_fails(sal_data_split(&data, 0, &(uint64_t){ 0 }, &test, &err), SAL_ERR_ARGUMENT, &err,
             "hold out");
    ck_fails(sal_data_split(&data, ROWS, &(uint64_t){ 0 }, &test, &err), SAL_ERR_ARGUMENT, &err,
             "one must stay");
    ck_assert_int_eq(data.rows, ROWS);
    sal_data_destroy(&data);
}
END_TEST

START_TEST(what_cannot_be_divided_is_refused)
{
    const int one[1] = { 12 }, giant[2] = { 12, 1 }, tiny[3] = { 1, 1, 1 };
    sal_error err = { 0 };
    sal_data data = clustered(1, one), test = { .rows = 77 };
    ck_fails(sal_data_split_by_identity(&data, 0.9, 0.1, 0, &test, NULL, &err), SAL_ERR_DATA, &err,
             "nearly all of the 12 rows are of one cluster, of 1 in all");
    ck_assert(data.rows == 12 && test.rows == 77);
    ck_fails(sal_data_split_by_identity(&data, 1.5, 0.1, 0, &test, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "identity 1.5");
    ck_fails(sal_data_split_by_identity(&data, 0.9, 1, 0, &test, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "share 1");
    sal_data_destroy(&data);
    data = clustered(2, giant);
    ck_fails(sal_data_split_by_identity(&data, 0.9, 0.1, 0, &test, NULL, &err), SAL_ERR_DATA, &err,
             "of 2 in all");
    /* identity 1: only equal rows are linked, and here none are */
    ck_alloc_sweep(sal_data_split_by_identity(&data, 1, 0.1, 0, &test, NULL, &err),
                   sal_data_destroy(&test));
    sal_data_destroy(&data);
    data = clustered(3, tiny);
    ck_fails(sal_data_split_by_identity(&data, 0.9, 0.5, 0, &test, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "3 rows");
    sal_data_destroy(&data);
}
END_TEST

START_TEST(the_public_family_is_divided)
{
    sal_error err = { 0 };
    sal_data data = { 0 }, test = { 0 };
    const sal_data_options options = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.8 };
    int64_t clusters = 0;
    if (!test_data("data/RF00379.fasta")) {
        return;
    }
    ck_ok(sal_data_read(test_data("data/RF00379.fasta"), &options, &data, &err), &err);
    ck_ok(sal_data_split_by_identity(&data, 0.8, 0.1, 0, &test, &clusters, &err), &err);
    ck_assert(clusters == 1258 && test.rows == 382);
    ck_assert_int_eq(data.rows + test.rows, 3827);
    for (int64_t r = 0; r < test.rows; r++) {
        for (int64_t t = 0; t < data.rows; t++) {
            int equal = 0;
            for (int64_t i = 0; i < 136; i++) {
                equal += test.codes[r * 136 + i] == data.codes[t * 136 + i];
            }
            ck_assert_int_lt(equal, 109); /* 0.8 * 136 = 108.8 */
        }
    }
    sal_data_destroy(&data);
    sal_data_destroy(&test);
}
END_TEST

START_TEST(a_run_gives_its_draws)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_data data = { 0 };
    int bytes = 0;
    ck_ok(sal_model_open("ising:side=3,theta=0.2", 0, &model, &err), &err);
    sal_run_options options = { .chains = 3, .draws = 7, .warmup = -1, .record.draws = true };
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_ok(sal_data_from_run(run, &data, &err), &err);
    ck_assert(data.rows == 21 && data.variables == 9);
    ck_assert_mem_eq(data.codes, sal_run_draws(run, &bytes), 21 * 9);
    sal_data_destroy(&data);
    /* What it saves is read as the same. */
    temp_dir_make();
    ck_ok(sal_run_save(run, temp_path("d.npy"), NULL, &err), &err);
    sal_data_options as = { .kind = SAL_DATA_DRAWS };
    ck_ok(sal_data_read(temp_path("d.npy"), &as, &data, &err), &err);
    ck_assert(data.rows == 21 && data.variables == 9);
    ck_assert_mem_eq(data.codes, sal_run_draws(run, &bytes), 21 * 9);
    sal_data_destroy(&data);
    temp_dir_remove();
    sal_run_destroy(run);
    options.record.draws = false;
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_fails(sal_data_from_run(run, &data, &err), SAL_ERR_ARGUMENT, &err, "kept no draws");
    ck_fails(sal_data_from_run(NULL, &data, &err), SAL_ERR_ARGUMENT, &err, "kept no draws");
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static double large_counts(const double *x, double *gradient, void *data)
{
    (void)gradient;
    (void)data;
    return 100 * x[0];
}

/* Codes above 255 have no place. */
START_TEST(draws_with_large_codes_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_data data = { 0 };
    sal_space *space = sal_space_create();
    sal_block block = { .name = "n", .kind = SAL_ORDINAL, .count = 1, .states = 300 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_callback callback = { .f = large_counts };
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    sal_run_options options = {
        .sampler = "gibbs", .chains = 1, .draws = 2, .warmup = 1, .record.draws = true
    };
    ck_ok(sal_sample(model, &options, &run, &err), &err);
    ck_fails(sal_data_from_run(run, &data, &err), SAL_ERR_DATA, &err, "draw 0 has code 299");
    sal_run_destroy(run);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

/* Means and covariances of the variables over uses, rows and seeds; each within five standard
 * errors, and 0 and 1 exactly. */
START_TEST(binarised_pixels_are_independent_with_their_intensities)
{
    enum { V = 600, FAR = 256, ROWS = 2, USES = 4000 };
    sal_data data = { .rows = ROWS, .variables = V };
    data.codes = SALI_NEW_ARRAY(uint8_t, ROWS * V);
    data.intensity = SALI_NEW_ARRAY(float, ROWS *V);
    for (int i = 0; i < ROWS * V; i++) {
        data.intensity[i] = i % 11 == 0 ? 0 : i % 11 == 10 ? 1 : (float)(i % 97 + 1) / 99;
    }
    static int sum[ROWS * V], next[ROWS * V], far[ROWS * V], again[V], rows_alike[V];
    static int32_t codes[ROWS][V], before[V];
    for (int use = 0; use < USES; use++) {
        for (int r = 0; r < ROWS; r++) {
            sali_data_binarise(&data, r, 3, (uint64_t)use, codes[r]);
            for (int v = 0; v < V; v++) {
                ck_assert(codes[r][v] == 0 || codes[r][v] == 1);
                sum[r * V + v] += codes[r][v];
                next[r * V + v] += codes[r][v] * codes[r][(v + 1) % V];
                far[r * V + v] += codes[r][v] * codes[r][(v + FAR) % V];
            }
        }
        for (int v = 0; v < V; v++) {
            again[v] += use > 0 && before[v] && codes[0][v];
            rows_alike[v] += codes[0][v] && codes[1][v];
            before[v] = codes[0][v];
        }
    }
    for (int i = 0; i < ROWS * V; i++) {
        int r = i / V, v = i % V;
        double p = (double)data.intensity[i], q = (double)data.intensity[r * V + (v + 1) % V];
        double other = (double)data.intensity[V + v];
        double away = (double)data.intensity[r * V + (v + FAR) % V];
        ck_assert(p != 0 || sum[i] == 0);
        ck_assert(p != 1 || sum[i] == USES);
        const double rates[] = { p, p * q, p * p, p * other, p * away };
        const int counts[] = { sum[i], next[i], r ? -1 : again[v], r ? -1 : rows_alike[v], far[i] };
        for (int k = 0; k < 5; k++) {
            double n = k == 2 ? USES - 1 : USES, error = sqrt(n * rates[k] * (1 - rates[k]));
            /* Products of successive uses share one: their variance is up to 3 times as large. */
            error *= k == 2 ? sqrt(3) : 1;
            ck_assert_msg(counts[k] < 0 || fabs(counts[k] - n * rates[k]) <= 5 * error,
                          "variable %d, figure %d: %d, expected %g", i, k, counts[k], n * rates[k]);
        }
    }
    sal_data_destroy(&data);
}
END_TEST

START_TEST(binarisation_is_a_function_of_seed_row_and_use)
{
    enum { V = 300 };
    sal_data data = { .rows = 3, .variables = V }, half = { .rows = 3, .variables = V / 2 };
    static int32_t first[V], other[V];
    data.codes = SALI_NEW_ARRAY(uint8_t, 3 * V);
    data.intensity = SALI_NEW_ARRAY(float, 3 * V);
    for (int i = 0; i < 3 * V; i++) {
        data.intensity[i] = 0.5F;
        data.codes[i] = (uint8_t)(i % 7);
    }
    const uint64_t far = UINT64_C(1) << 40;
    sali_data_binarise(&data, 2, 8, far, first);
    sali_data_binarise(&data, 2, 8, far, other);
    ck_assert_mem_eq(first, other, sizeof first);
    const uint64_t changes[][3] = { { 1, 8, far }, { 2, 9, far }, { 2, 8, far + 1 }, { 2, 8, 0 } };
    for (int k = 0; k < 4; k++) {
        sali_data_binarise(&data, (int64_t)changes[k][0], changes[k][1], changes[k][2], other);
        ck_assert_mem_ne(first, other, sizeof first);
    }
    /* A variable's number does not depend on how many there are. */
    half.codes = data.codes;
    half.intensity = data.intensity;
    sali_data_binarise(&half, 2, 8, far, other);
    ck_assert_mem_eq(first, other, V / 2 * sizeof *first);
    sali_free(data.intensity);
    data.intensity = NULL;
    sali_data_binarise(&data, 1, 8, far, other);
    for (int v = 0; v < V; v++) {
        ck_assert_int_eq(other[v], data.codes[V + v]);
    }
    sal_data_destroy(&data);
}
END_TEST

START_TEST(bad_files_and_options_are_refused)
{
    sal_error err = { 0 };
    sal_data data = { .rows = 77 };
    temp_dir_make();
    const double values[6] = { 0, 1, 2, 3, 4, 300 }, halves[4] = { 0, 0.5, 1, 1 };
    write_npy("six.npy", SALI_DTYPE_F64, 2, (int64_t[]){ 2, 3 }, values);
    const double wide[6] = { -2, 1, 2, 3, 4, 300 };
    write_npy("square.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 3 }, wide);
    write_npy("halves.npy", SALI_DTYPE_F64, 2, (int64_t[]){ 1, 4 }, halves);
    temp_write("a.aln", "ACDE\nACD-\n", 10);
    temp_write("six.svm", "1 1:1 3:1\n2 2:1\n", 16);
    const struct {
        const char *file;
        sal_data_options options;
        sal_status status;
        const char *text;
    } cases[] = {
        { "none.npy", { 0 }, SAL_ERR_NOT_FOUND, "none.npy" },
        { "six.npy", { 0 }, SAL_ERR_DATA, "six.npy: 2 dimensions, the last of 3; expected pict" },
        { "six.npy", { 0 }, SAL_ERR_DATA, "as libsvm files do, or pictures are no squares" },
        { "six.npy",
          { .height = 2, .width = 2 },
          SAL_ERR_DATA,
          "the last of 3; expected pictures of 2 x 2" },
        { "square.npy", { .height = 3, .width = 2 }, SAL_ERR_DATA, "pictures of 3 x 2" },
        { "six.npy", { .height = 2 }, SAL_ERR_ARGUMENT, "pictures of 2 x 0" },
        { "six.npy", { .height = -1, .width = -3 }, SAL_ERR_ARGUMENT, "two positive sides" },
        { "six.npy", { .height = INT64_MAX, .width = 2 }, SAL_ERR_ARGUMENT, "positive sides" },
        { "six.svm", { .height = INT64_MAX, .width = 1 }, SAL_ERR_DATA, "too large" },
        { "six.npy",
          { .kind = SAL_DATA_CODES, .height = 1, .width = 3 },
          SAL_ERR_ARGUMENT,
          "sides are for pictures" },
        { "square.npy",
          { 0 },
          SAL_ERR_DATA,
          "square.npy: values from -2 to 300; expected greys from -1 to 1, or from 0" },
        { "square.npy", { .grey = SAL_GREY_UNIT }, SAL_ERR_DATA, "grey values from 0 to 1" },
        { "halves.npy", { .kind = SAL_DATA_CODES }, SAL_ERR_DATA, "row 0, variable 1 is 0.5" },
        { "six.npy", { .kind = SAL_DATA_CODES }, SAL_ERR_DATA, "row 1, variable 2 is 300" },
        { "six.npy", { .kind = SAL_DATA_DRAWS }, SAL_ERR_DATA, "row 1, variable 2 is 300" },
        { "six.npy", { .kind = SAL_DATA_ALIGNMENT }, SAL_ERR_ARGUMENT, "as an alignment" },
        { "a.aln", { .keep_intensity = true }, SAL_ERR_ARGUMENT, "as an array" },
        { "a.aln", { .kind = SAL_DATA_CODES }, SAL_ERR_ARGUMENT, "as an array" },
        { "halves.npy", { .first = 1 }, SAL_ERR_ARGUMENT, "there are 1" },
        { "halves.npy", { .first = -1 }, SAL_ERR_ARGUMENT, "there are 1" },
        { "halves.npy", { .count = 2 }, SAL_ERR_ARGUMENT, "there are 1" },
        { "halves.npy", { .first = INT64_MAX, .count = 2 }, SAL_ERR_ARGUMENT, "there are 1" },
        { "a.aln", { .kind = SAL_DATA_ALIGNMENT, .first = 2 }, SAL_ERR_ARGUMENT, "there are 2" },
        { "a.aln", { .kind = 4 }, SAL_ERR_ARGUMENT, "kind 4" },
        { "halves.npy", { .grey = 5 }, SAL_ERR_ARGUMENT, "grey 5" },
        { "a.aln", { .kind = SAL_DATA_ALIGNMENT, .identity = NAN }, SAL_ERR_ARGUMENT, "identity" },
        { "halves.npy",
          { .identity = 0.8 },
          SAL_ERR_ARGUMENT,
          "unknown and duplicates are for alignments" },
        { "halves.npy",
          { .alphabet = "rna" },
          SAL_ERR_ARGUMENT,
          "unknown and duplicates are for alignments" },
        { "a.aln",
          { .kind = SAL_DATA_ALIGNMENT, .alphabet = "dan" },
          SAL_ERR_ARGUMENT,
          "data: alphabet=dan; did you mean 'dna'?" },
        { "a.aln", { .kind = SAL_DATA_ALIGNMENT, .unknown = 3 }, SAL_ERR_ARGUMENT, "unknown 3" },
        { "a.aln",
          { .kind = SAL_DATA_ALIGNMENT, .duplicates = 2 },
          SAL_ERR_ARGUMENT,
          "duplicates 2" },
        { "halves.npy",
          { .duplicates = SAL_DUPLICATES_DROP },
          SAL_ERR_ARGUMENT,
          "unknown and duplicates are for alignments" },
        { "six.npy",
          { .kind = SAL_DATA_CODES, .keep_intensity = true },
          SAL_ERR_ARGUMENT,
          "keep_intensity and sides are for pictures" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_data_read(temp_path(cases[k].file), &cases[k].options, &data, &err),
                 cases[k].status, &err, cases[k].text);
        ck_assert(data.rows == 77 && !data.codes);
    }
    /* The bad row is not read. */
    sal_data_options one = { .kind = SAL_DATA_CODES, .count = 1 };
    ck_ok(sal_data_read(temp_path("six.npy"), &one, &data, &err), &err);
    sal_data_destroy(&data);
    ck_fails(sal_data_read(NULL, NULL, &data, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    sal_data_options weighted = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.5 };
    ck_alloc_sweep(sal_data_read(temp_path("a.aln"), &weighted, &data, &err),
                   sal_data_destroy(&data));
    sal_data_options grey = { .keep_intensity = true };
    ck_alloc_sweep(sal_data_read(temp_path("halves.npy"), &grey, &data, &err),
                   sal_data_destroy(&data));
    temp_dir_remove();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data");
    TCase *tcase = tcase_create("data");
    tcase_add_test(tcase, pictures_of_every_range_are_the_same);
    tcase_add_test(tcase, pictures_have_as_many_grey_levels_as_asked);
    tcase_add_test(tcase, pictures_of_given_sides_are_read);
    tcase_add_test(tcase, codes_and_draws_are_read_as_they_are);
    tcase_add_test(tcase, alignments_have_codes_and_weights);
    tcase_add_test(tcase, data_of_nucleotides_have_five_codes);
    tcase_add_test(tcase, public_sets_have_their_known_counts);
    tcase_add_test(tcase, splits_keep_what_belongs_to_rows);
    tcase_add_test(tcase, clusters_are_held_out_as_a_whole);
    tcase_add_test(tcase, random_rows_are_held_out);
    tcase_add_test(tcase, what_cannot_be_divided_is_refused);
    tcase_add_test(tcase, the_public_family_is_divided);
    tcase_add_test(tcase, a_run_gives_its_draws);
    tcase_add_test(tcase, draws_with_large_codes_are_refused);
    tcase_add_test(tcase, binarised_pixels_are_independent_with_their_intensities);
    tcase_add_test(tcase, binarisation_is_a_function_of_seed_row_and_use);
    tcase_add_test(tcase, bad_files_and_options_are_refused);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
