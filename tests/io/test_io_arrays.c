/* SPDX-License-Identifier: MIT */
/* Arrays of numbers in every format: IDX, .npy, USPS digits, LIBSVM's text, tables. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/program.h>
#include "alloc_fail.h"
#include "io/format.h"
#include "npy_file.h"

static const sali_format *named(const char *name)
{
    const sali_format *format = NULL;
    sal_error err = { 0 };
    ck_ok(sali_format_named(name, &format, &err), &err);
    return format;
}

static sal_status parse(const char *format, const char *text, sali_content *out, sal_error *err)
{
    return sali_format_parse(named(format), "f", text, (int64_t)strlen(text), out, err);
}

static void check_array(const sal_array *a, int ndim, const int64_t *shape, const double *values)
{
    int64_t count = 1;
    ck_assert_int_eq(a->ndim, ndim);
    for (int d = 0; d < ndim; d++) {
        ck_assert_int_eq(a->shape[d], shape[d]);
        count *= shape[d];
    }
    ck_assert_int_eq(a->count, count);
    ck_assert_mem_eq(a->values, values, (size_t)count * sizeof *values);
}

typedef struct bad_text {
    const char *text, *message;
} bad_text;

static void check_bad(const char *format, const bad_text *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_fails(parse(format, cases[i].text, &content, &err), SAL_ERR_DATA, &err,
                 cases[i].message);
        ck_assert_ptr_null(content.array.values);
    }
}

/* ---- tables */

START_TEST(tables_are_read_in_every_dialect)
{
    static const char *const texts[] = {
        "1,2.5,-3\n4,0,6e2\n",
        "a,\"2, 3, 4\",\n1,2.5,-3\n4,0,6e2",
        "\"x\";\"y\";\"z\"\r\n1;2.5;-3\r\n\r\n4;0;6e2\r\n",
        "1\t2.5\t-3\n4\t0\t6e2\n",
        "\xef\xbb\xbf# a comment, with a comma\n  1  2.5 -3 \n# more\n 4 +0 600.0\n\n",
        "\"1\", \"2.5\" ,-3\n 4 ,0, 6E+2 ",
        "name other more\n1 2.5 -3\n4 0 600",
    };
    static const int64_t shape[] = { 2, 3 };
    static const double values[] = { 1, 2.5, -3, 4, 0, 600 };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        ck_ok(parse("table", texts[i], &c, &err), &err);
        ck_assert_int_eq(c.kind, SALI_CONTENT_ARRAY);
        check_array(&c.array, 2, shape, values);
        ck_assert_ptr_null(c.array.labels);
        sali_content_free(&c);
    }
}
END_TEST

/* Whether the remark on what was read has a text, and warns unless that is a plain fact; NULL:
 * there is no remark. */
static void check_remark(const sali_remark *remark, const char *text, bool fact)
{
    ck_assert_msg(text ? remark->text && strstr(remark->text, text) : !remark->text,
                  "remark '%s', expected '%s'", remark->text ? remark->text : "none",
                  text ? text : "none");
    ck_assert_msg(remark->warns == (text && !fact), "%s", text ? text : "none");
}

/* Headings as pandas and R write them; 0 and 0,1 before whole numbers may be a row. */
START_TEST(headings_are_told_from_rows)
{
    static const struct {
        const char *text;
        int64_t rows, columns;
        double first;
        const char *remark;
    } cases[] = {
        { "0,1,2\n7,8,9\n", 1, 3, 7, "line 1 (0, .., 2) counts the columns, as pandas" },
        { "0 1 2\n7 8 9\n1 2 3\n", 2, 3, 7, "line 1 (0, .., 2) counts" },
        { "\n0\n1.5\n2\n", 2, 1, 1.5, "line 2 (0) counts the columns" },
        { "0,1\n3,.5\n", 1, 2, 3, "line 1 (0, 1) counts the columns" },
        { ",0,1,2\n0,7,8,9\n1,4,5,6\n", 2, 3, 7, "the first column has the names of the rows" },
        { "\"\",\"V1\",\"V2\"\n\"Mazda RX4\",5,6\n\"b\",7,8\n", 2, 2, 5, "names of the rows" },
        { "V1 V2\n1 5 6\n2 7 8\n", 2, 2, 5, "names of the rows" },
        { "label,1x1,1x2\n3,5,6\n", 1, 3, 3, "line 1 (label, .., 1x2) is a heading" },
        { "x\n3\n", 1, 1, 3, "line 1 (x) is a heading" },
        { "0,1\n1,0\n", 2, 2, 0, "line 1 (0, 1) is taken for a row of numbers" },
        { "0\n3\n", 2, 1, 0, "is taken for a row" },
        { "0,1,2\n", 1, 3, 0, NULL },
        { "0.0,1,2\n7,8,9\n", 2, 3, 0, NULL },
        { "0,1,3\n7,8,9\n", 2, 3, 0, NULL },
        { "+0,1,2\n7,8,9\n", 2, 3, 0, NULL },
        { "1,2,3\n7,8,9\n", 2, 3, 1, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        ck_ok(parse("table", cases[i].text, &c, &err), &err);
        ck_assert_msg(c.array.shape[0] == cases[i].rows && c.array.shape[1] == cases[i].columns &&
                          c.array.count == cases[i].rows * cases[i].columns,
                      "%s: %lld x %lld", cases[i].text, (long long)c.array.shape[0],
                      (long long)c.array.shape[1]);
        ck_assert_double_eq(c.array.values[0], cases[i].first);
        const char *remark = cases[i].remark;
        check_remark(&c.remark, remark, remark && strstr(remark, ") is a heading"));
        ck_assert(c.label_first == (strncmp(cases[i].text, "label", 5) == 0));
        sali_content_free(&c);
    }
    sal_error err = { 0 };
    sali_content c = { 0 };
    ck_fails(parse("table", ",0,1\n0,7,8\n1,4\n", &c, &err), SAL_ERR_DATA, &err,
             "f:3: 1 columns; the rows before have 2");
    ck_alloc_sweep(parse("table", ",0,1\n0,7,8\n", &c, &err), sali_content_free(&c));
}
END_TEST

START_TEST(an_array_has_the_remark_on_its_file)
{
    sal_error err = { 0 };
    sal_array array = { 0 };
    const char *path = temp_write("h.csv", "0,1,2\n7,8,9\n", 12);
    ck_ok(sal_array_read(path, SAL_COLUMNS_FIND, &array, &err), &err);
    ck_assert(array.warns && strncmp(array.remark, path, strlen(path)) == 0);
    ck_assert_ptr_nonnull(strstr(array.remark, "h.csv: line 1 (0, .., 2) counts the columns"));
    sal_array_free(&array);
    ck_alloc_sweep(sal_array_read(path, SAL_COLUMNS_FIND, &array, &err), sal_array_free(&array));
    path = temp_write("h.csv", "x,y\n7,8\n", 8);
    ck_ok(sal_array_read(path, SAL_COLUMNS_FIND, &array, &err), &err);
    ck_assert(!array.warns && strstr(array.remark, "h.csv: line 1 (x, y) is a heading"));
    sal_array_free(&array);
    path = temp_write("h.csv", "7,8\n", 4);
    ck_ok(sal_array_read(path, SAL_COLUMNS_FIND, &array, &err), &err);
    ck_assert(!array.warns && !array.remark);
    sal_array_free(&array);
}
END_TEST

START_TEST(bad_tables_are_refused)
{
    static const bad_text cases[] = {
        { "", "f: holds no row of numbers" },
        { "# 1 2\n\n", "holds no row" },
        { "a,b\n", "holds no row" },
        { "a,b\nc,d\n", "f:2: column 1: expected a finite decimal number, found 'c'" },
        { "1,2\n3,NA\n", "f:2: column 2: expected a finite decimal number, found 'NA'" },
        { "1,a\n2,3\n", "f:1: column 2" },
        { "1,2\n3,\n", "f:2: column 2: expected a finite decimal number, found ''" },
        { "1,2\n3\n", "f:2: 1 columns; the rows before have 2" },
        { "1,2\n3,4,5\n", "f:2: 3 columns; the rows before have 2" },
        { "1 2\n3 nan\n", "found 'nan'" },
        { "1 2\n3 1e999\n", "found '1e999'" },
        { "1 2\n3 0x10\n", "found '0x10'" },
        { "1,2\n3 4\n", "column 1: expected a finite decimal number, found '3 4'" },
        { "1,2\n\"3,4\n", "column 1: expected a finite decimal number" },
    };
    check_bad("table", cases, sizeof cases / sizeof *cases);
}
END_TEST

/* ---- LIBSVM */

START_TEST(libsvm_rows_are_dense_with_zeros_in_the_gaps)
{
    static const char text[] =
        "# usps\n10 1:-1 2:.5 4:1\n\n3 3:-.25 # a row\n+1\r\n-2.0 1:1e-2 4:0";
    static const int64_t shape[] = { 4, 4 };
    static const double values[] = { -1, .5, 0, 1, 0, 0, -.25, 0, 0, 0, 0, 0, .01, 0, 0, 0 };
    static const int32_t labels[] = { 10, 3, 1, -2 };
    sal_error err = { 0 };
    sali_content c = { 0 };
    ck_ok(parse("libsvm", text, &c, &err), &err);
    check_array(&c.array, 2, shape, values);
    ck_assert_mem_eq(c.array.labels, labels, sizeof labels);
    sali_content_free(&c);
}
END_TEST

/* Columns begin at 0 where an index, the heading of scikit-learn, the other file or the number of
 * columns says so. */
START_TEST(columns_of_libsvm_files_begin_at_0_or_1)
{
    static const char zero[] =
        "# Generated by dump_svmlight_file\n# Column indices are zero-based\n"
        "0 1:1 3:2\n",
                      one[] = "# Column indices are one-based\n0 1:1 3:2\n";
    static const struct {
        const char *text;
        sali_reading known;
        int64_t columns; /* of the row 0, 1, 0, 2, or without its first zero */
        int base;
        const char *remark;
    } cases[] = {
        { "0 1:1 3:2\n", { 0 }, 3, 1, "columns are counted from 1, as LIBSVM counts (nothing" },
        { "0 1:1 3:2\n1 0:4\n", { 0 }, 4, 0, "columns are counted from 0, as an index 0 says" },
        { zero, { 0 }, 4, 0, "columns are counted from 0, as its heading says" },
        { one, { 0 }, 3, 1, NULL },
        { "0 1:1 3:2\n", { .columns_from = SAL_COLUMNS_FROM_0 }, 4, 0, NULL },
        { "0 1:1 3:2\n", { .columns_from = SAL_COLUMNS_FROM_1 }, 3, 1, NULL },
        { "# zero-based\n0 1:1 3:2\n",
          { 0 },
          4,
          0,
          "columns are counted from 0, as its heading says" },
        { "# one-based\n0 1:1 3:2\n", { 0 }, 3, 1, NULL },
        { "0 1:1 3:2\n",
          { 0 },
          3,
          1,
          "0: a first line \"# zero-based\" or \"# one-based\" decides)" },
        { "0 1:1 3:2\n", { .asks = true }, 3, 1, "counts from 0: --columns-from 0 or 1 decides)" },
        { "0 1:1 3:2\n", { .columns = 4 }, 4, 0, "(a first line \"# one-based\" says otherwise)" },
        { "0 1:1 3:2\n",
          { .columns = 4, .asks = true },
          4,
          0,
          "(--columns-from 1 says otherwise)" },
        { "0 1:1 3:2\n", { .columns = 4 }, 4, 0, "the largest index, 3, is then that of the last" },
        { "0 1:1 3:2\n", { .columns = 3 }, 3, 1, NULL },
        { "0 1:1 3:2\n", { .columns = 6 }, 6, 1, "nothing in the file says so" },
        { "0 1:1 3:2\n", { .pictures = true }, 4, 0, "the last of 4 columns" },
        { "0 1:1 3:2 4:0\n", { .pictures = true }, 4, 1, NULL },
        { "0 1:1 3:2\n",
          { .companion = { SAL_COLUMNS_FROM_0, true, 5 } },
          6,
          0,
          "as the file that goes with it says" },
        { "0 1:1 3:2\n", { .companion = { SAL_COLUMNS_FROM_1, true, 5 } }, 5, 1, NULL },
        { "0 1:1 3:2\n",
          { .columns = 6, .companion = { SAL_COLUMNS_FROM_1, false, 6 } },
          6,
          1,
          NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        const char *text = cases[i].text;
        ck_ok(sali_format_parse_as(named("libsvm"), "f", text, (int64_t)strlen(text),
                                   &cases[i].known, &c, &err),
              &err);
        ck_assert_msg(c.array.shape[1] == cases[i].columns, "case %d: %lld columns", (int)i,
                      (long long)c.array.shape[1]);
        ck_assert_double_eq(c.array.values[1 - cases[i].base], 1);
        ck_assert_double_eq(c.array.values[3 - cases[i].base], 2);
        ck_assert_int_eq(c.columns.from, cases[i].base ? SAL_COLUMNS_FROM_1 : SAL_COLUMNS_FROM_0);
        const char *remark = cases[i].remark;
        check_remark(&c.remark, remark,
                     remark && (strstr(remark, "an index 0") || strstr(remark, "its heading")));
        sali_content_free(&c);
    }
    sal_error err = { 0 };
    sali_content c = { 0 };
    const sali_reading from_1 = { .columns_from = SAL_COLUMNS_FROM_1 };
    ck_fails(sali_format_parse_as(named("libsvm"), "f", "1 0:1\n", 6, &from_1, &c, &err),
             SAL_ERR_DATA, &err, "f: has the index 0, and its columns were said to be counted");
}
END_TEST

START_TEST(bad_libsvm_rows_are_refused)
{
    static const bad_text cases[] = {
        { "", "without elements" },
        { "1\n2\n", "without elements" },
        { "x 1:1", "f:1: expected a label (a whole number of 32 bits), found 'x'" },
        { "1.5 1:1", "found '1.5'" },
        { "9999999999 1:1", "found '9999999999'" },
        { "1,2 1:1", "found '1,2'" },
        { "1 1:1\n2 1:1 0:1",
          "f:2: expected INDEX:VALUE, the indices rising from 0 or 1, found '0:1'" },
        { "1 -1:1", "found '-1:1'" },
        { "1 2:1 2:1", "found '2:1'" },
        { "1 2:1 1:1", "found '1:1'" },
        { "1 1:", "found '1:'" },
        { "1 :1", "found ':1'" },
        { "1 1", "expected INDEX:VALUE" },
        { "1 1:nan", "found '1:nan'" },
        { "1 qid:3 1:1", "f:1: expected INDEX:VALUE, as files of rankings, whose rows have a query "
                         "(qid), are not read, found 'qid:3'" },
        { "1 qi:3 1:1", "the indices rising from 0 or 1, found 'qi:3'" },
        { "1 99999999999999999999:1", "found '99999999999999999999:1'" },
        { "1 9223372036854775807:1", "too sparse for an array" },
        { "1 1:1\n1 4611686018427387904:1", "too sparse for an array" },
        { "1 1:1\n1 100000000:1", "2 rows with indices up to 100000000 are too sparse" },
    };
    check_bad("libsvm", cases, sizeof cases / sizeof *cases);
}
END_TEST

/* ---- USPS */

/* Two digits: "6.0000 -1.0000 -0.6310 ..."; value k of row r is a multiple of 1/200. */
static double usps_value(int r, int k)
{
    return (double)((37 * k + 101 * r) % 401 - 200) / 200;
}

static char *make_usps(const char *first)
{
    char *text = malloc(8000), *at = text;
    ck_assert_ptr_nonnull(text);
    for (int r = 0; r < 2; r++) {
        at += sprintf(at, "%s", r ? "5.0000" : first);
        for (int k = 0; k < 256; k++) {
            at += sprintf(at, " %.4f", usps_value(r, k));
        }
        at += sprintf(at, " \n");
    }
    return text;
}

START_TEST(usps_digits_are_pictures_with_labels)
{
    char *text = make_usps("6.0000");
    sal_error err = { 0 };
    sali_content c = { 0 };
    ck_ok(parse("usps", text, &c, &err), &err);
    ck_assert(c.array.ndim == 3 && c.array.shape[0] == 2);
    ck_assert(c.array.shape[1] == 16 && c.array.shape[2] == 16 && c.array.count == 512);
    ck_assert(c.array.labels[0] == 6 && c.array.labels[1] == 5);
    for (int k = 0; k < 512; k++) {
        ck_assert_double_eq_tol(c.array.values[k], usps_value(k / 256, k % 256), 1e-12);
    }
    sali_content_free(&c);
    static const char *const labels[] = { "10.0", "-1", "1.5", "x" };
    for (int k = 0; k < 4; k++) {
        free(text);
        text = make_usps(labels[k]);
        ck_fails(parse("usps", text, &c, &err), SAL_ERR_DATA, &err,
                 k < 3 ? "f:1: the label is" : "f:1: expected a digit");
    }
    memcpy(text, "3 4", 3);
    ck_fails(parse("usps", text, &c, &err), SAL_ERR_DATA, &err, "f:1: 41; expected a value");
    *strrchr(text, '.') = '\0'; /* the last line is cut */
    memcpy(text, "3 -", 3);
    ck_ok(parse("usps", text, &c, &err), &err); /* "0" instead of "0.1234" */
    sali_content_free(&c);
    *strrchr(text, ' ') = '\0';
    ck_fails(parse("usps", text, &c, &err), SAL_ERR_DATA, &err, "f:2: 256 numbers; expected a");
    ck_fails(parse("usps", "\n", &c, &err), SAL_ERR_DATA, &err, "f: holds no digit");
    free(text);
}
END_TEST

/* ---- files: which format, and back */

static void read_file(const char *path, const char *format, sali_content *out)
{
    sal_error err = { 0 };
    const sali_format *found = NULL;
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, out, &found, &err), &err);
    ck_assert_str_eq(found->name, format);
}

/* Files that cannot be read get the message of the reader that their suffix asks for. */
START_TEST(rows_of_numbers_tell_less_than_the_suffix_of_a_graph)
{
    static const struct {
        const char *name, *text, *format;
    } cases[] = {
        { "a.coo", "0 1 2\n", "coo" },
        { "a.uai", "0 1 2\n", "uai" },
        { "a.bin", "DIMODBQM\x02", "bqm" },
        { "a.txt", "0 1 2\n", "table" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        const sali_format *found = NULL;
        const char *path = temp_write(cases[k].name, cases[k].text, strlen(cases[k].text));
        ck_ok(sali_format_find(path, SALI_CONTENT_NONE, &found, &err), &err);
        ck_assert_str_eq(found->name, cases[k].format);
    }
}
END_TEST

START_TEST(formats_are_told_by_suffix_and_content)
{
    static const struct {
        const char *name, *text, *format;
    } cases[] = {
        { "a.csv", "1,2\n3,4\n", "table" },
        { "a.tsv", "1\t2\n", "table" },
        { "a.txt", "1 2\n3 4\n", "table" },
        { "a", "1 2\n3 4\n", "table" },
        { "a.libsvm", "1 1:2\n", "libsvm" },
        { "usps", "1 1:2\n", "libsvm" },
        { "usps.txt", "1 1:2\n", "libsvm" },
        { "usps.t", "1 1:2 3:4\n", "libsvm" },
        { "a.txt", "MARKOV 1 2 0\n", "uai" },
        { "a.txt", "# vartype=SPIN\n0 1 2\n", "coo" },
        { "a.csv", "# vartype=SPIN\n0 1 2\n", "coo" },
        { "a.coo", "2 1\n1 2 3\n", "gset" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_content c = { 0 };
        read_file(temp_write(cases[i].name, cases[i].text, strlen(cases[i].text)), cases[i].format,
                  &c);
        sali_content_free(&c);
    }
    char *text = make_usps("6");
    static const char *const names[] = { "zip.train", "zip.test", "zip", "zip.txt" };
    for (int k = 0; k < 4; k++) {
        sali_content c = { 0 };
        read_file(temp_write(names[k], text, strlen(text)), "usps", &c);
        sali_content_free(&c);
    }
    free(text);
}
END_TEST

/* Values that need bytes, floats or doubles come back the same from every format that holds them.
 */
START_TEST(written_arrays_read_back_in_the_smallest_type)
{
    static const struct {
        double values[6];
        sali_dtype dtype;
    } cases[] = {
        { { 0, 255, 7, 1, 2, 3 }, SALI_DTYPE_U8 },
        { { 0, 1, 2, 1, 2, 3 }, SALI_DTYPE_U8 }, /* no heading in a table */
        { { 0, 256, 7, 1, 2, 3 }, SALI_DTYPE_F32 },
        { { -1, 0, .5, 1, 2, 3 }, SALI_DTYPE_F32 },
        { { -1, .1, .5, 1, 2, 3 }, SALI_DTYPE_F64 },
        { { 1e300, 5e-324, -1e-40, 1, 2, 3 }, SALI_DTYPE_F64 },
    };
    static const char *const names[] = { "a-idx3-ubyte", "a.npy", "a.csv", "a.tsv", "a.txt" };
    static const char *const formats[] = { "idx", "npy", "table", "table", "table" };
    static const int64_t shape[] = { 2, 3 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_content c = { .kind = SALI_CONTENT_ARRAY,
                           .array = { .ndim = 2,
                                      .shape = { 2, 3 },
                                      .count = 6,
                                      .values = (double *)cases[i].values } };
        for (int k = 0; k < 5; k++) {
            sal_error err = { 0 };
            sali_content back = { 0 };
            ck_ok(sali_content_write(temp_path(names[k]), NULL, &c, &err), &err);
            read_file(temp_path(names[k]), formats[k], &back);
            check_array(&back.array, 2, shape, cases[i].values);
            sali_content_free(&back);
        }
        sal_error err = { 0 };
        sali_npy npy = { 0 };
        ck_ok(npy_read(temp_path("a.npy"), &npy, &err), &err);
        ck_assert_int_eq(npy.dtype, cases[i].dtype);
        npy_free(&npy);
    }
}
END_TEST

static void check_bytes(const char *path, const void *want, size_t size)
{
    unsigned char bytes[100];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, file), size);
    fclose(file);
    ck_assert_mem_eq(bytes, want, size);
}

START_TEST(idx_files_are_written_byte_by_byte_as_expected)
{
    static const unsigned char bytes[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 3, 255 };
    static const unsigned char floats[] = { 0, 0, 13, 2,    0,    0, 0,    2, 0, 0,
                                            0, 1, 63, 0x80, 0x00, 0, 0xc0, 0, 0, 0 };
    double values[] = { 3, 255 };
    sali_content c = { .kind = SALI_CONTENT_ARRAY,
                       .array = { .ndim = 2, .shape = { 2, 1 }, .count = 2, .values = values } };
    sal_error err = { 0 };
    const char *path = temp_path("a.idx");
    ck_ok(sali_content_write(path, NULL, &c, &err), &err);
    check_bytes(path, bytes, sizeof bytes);
    values[0] = 1;
    values[1] = -2;
    ck_ok(sali_content_write(path, NULL, &c, &err), &err);
    check_bytes(path, floats, sizeof floats);
}
END_TEST

START_TEST(arrays_that_a_format_cannot_hold_are_refused)
{
    double values[] = { 1, 2 };
    sali_content c = { .kind = SALI_CONTENT_ARRAY,
                       .array = { .ndim = 3, .shape = { 1, 2, 1 }, .count = 2, .values = values } };
    sal_error err = { 0 };
    ck_fails(sali_content_write(temp_path("a.csv"), NULL, &c, &err), SAL_ERR_ARGUMENT, &err,
             "an array of 3 dimensions; a table has rows and columns");
    ck_fails(sali_content_write(temp_path("a.train"), NULL, &c, &err), SAL_ERR_ARGUMENT, &err,
             "an array can be written as: idx (-ubyte), npy (.npy), table (.csv)");
    ck_assert_int_eq(temp_count(), 0);
    /* files without elements, of no dimension, or with numbers that are none */
    static const int64_t none[] = { 2, 0 };
    const double bad[] = { 1, NAN };
    sali_content out = { 0 };
    const char *path = temp_path("a.npy");
    ck_ok(sali_npy_write(path, SALI_DTYPE_F64, 2, none, bad, &err), &err);
    ck_fails(sali_content_read(path, NULL, 0, &out, NULL, &err), SAL_ERR_DATA, &err,
             "an array of 2 dimensions without elements");
    ck_ok(sali_npy_write(path, SALI_DTYPE_F64, 0, none, bad, &err), &err);
    ck_fails(sali_content_read(path, NULL, 0, &out, NULL, &err), SAL_ERR_DATA, &err,
             "an array of 0 dimensions");
    ck_ok(sali_npy_write(path, SALI_DTYPE_F64, 1, (int64_t[]){ 2 }, bad, &err), &err);
    ck_fails(sali_content_read(path, NULL, 0, &out, NULL, &err), SAL_ERR_DATA, &err,
             "element 1 is nan; expected finite numbers");
    static const unsigned char inf[] = { 0, 0, 13, 1, 0, 0, 0, 1, 0x7f, 0x80, 0, 0 };
    path = temp_write("a.idx", inf, sizeof inf);
    ck_fails(sali_content_read(path, NULL, 0, &out, NULL, &err), SAL_ERR_DATA, &err,
             "element 0 is inf");
}
END_TEST

/* ---- hostile files */

static const sali_format *swept;

static sal_status parse_swept(const void *data, int64_t size, sal_error *err)
{
    sali_content c = { 0 };
    sal_status status = sali_format_parse(swept, "mem", data, size, &c, err);
    sali_format_recognises(swept, data, size);
    sali_content_free(&c);
    return status;
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    static const char table[] = "\"a\", b\n1,2.5\n# c\n-3,1e2\n";
    static const char rows[] = "1 1:.5 4:-1\n2 2:1 # c\n";
    static const unsigned char idx[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 3, 255 };
    char *usps = make_usps("6.0000");
    swept = named("table");
    temp_sweep(parse_swept, table, sizeof table - 1);
    swept = named("libsvm");
    temp_sweep(parse_swept, rows, sizeof rows - 1);
    swept = named("idx");
    temp_sweep(parse_swept, idx, sizeof idx);
    swept = named("usps");
    for (int64_t n = 0; n < (int64_t)strlen(usps); n += TEST_SANITIZED ? 7 : 1) {
        temp_parse_copy(parse_swept, (const unsigned char *)usps, n);
    }
    free(usps);
}
END_TEST

/* sal_array_write and sal_array_read: .npy keeps what is not finite, other formats are read too. */
START_TEST(arrays_go_to_files_and_back)
{
    double values[] = { 1, -INFINITY, 0.5, 3, 1e300, -0.0 };
    const sal_array written = { .ndim = 2, .shape = { 2, 3 }, .count = 6, .values = values };
    sal_array read = { 0 };
    sal_error err = { 0 };
    ck_ok(sal_array_write(temp_path("a.npy"), &written, &err), &err);
    ck_ok(sal_array_read(temp_path("a.npy"), SAL_COLUMNS_FIND, &read, &err), &err);
    check_array(&read, 2, written.shape, values);
    sal_array_free(&read);
    ck_assert_ptr_null(read.values);

    ck_ok(sal_file_write(temp_path("a.csv"), "1,2\n3,4\n", 8, &err), &err);
    ck_ok(sal_array_read(temp_path("a.csv"), SAL_COLUMNS_FIND, &read, &err), &err);
    check_array(&read, 2, (int64_t[]){ 2, 2 }, (double[]){ 1, 2, 3, 4 });
    sal_array_free(&read);

    ck_fails(sal_array_read(temp_path("none.npy"), SAL_COLUMNS_FIND, &read, &err),
             SAL_ERR_NOT_FOUND, &err, "none");
    ck_ok(sal_file_write(temp_path("cut.npy"), "\x93NUMPY\1", 7, &err), &err);
    ck_fails(sal_array_read(temp_path("cut.npy"), SAL_COLUMNS_FIND, &read, &err), SAL_ERR_DATA,
             &err, "cut.npy");
    ck_assert_ptr_null(read.values);
}
END_TEST

START_TEST(arrays_survive_failing_allocations)
{
    sal_error err = { 0 };
    sali_content c = { 0 };
    char *usps = make_usps("6");
    ck_alloc_sweep(parse("usps", usps, &c, &err), sali_content_free(&c));
    ck_alloc_sweep(parse("table", "a b\n1 2\n3 4\n", &c, &err), sali_content_free(&c));
    ck_alloc_sweep(parse("libsvm", "1 1:2\n", &c, &err), sali_content_free(&c));
    ck_ok(parse("table", "1 2\n3 4\n", &c, &err), &err);
    static const char *const names[] = { "a.idx", "a.npy", "a.csv" };
    for (int k = 0; k < 3; k++) {
        const char *path = temp_path(names[k]);
        sali_content back = { 0 };
        ck_alloc_sweep(sali_content_write(path, NULL, &c, &err), (void)0);
        ck_alloc_sweep(sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &back, NULL, &err),
                       sali_content_free(&back));
    }
    sali_content_free(&c);
    free(usps);
    ck_assert_int_eq(temp_count(), 3);
}
END_TEST

START_TEST(public_data_are_read)
{
    const char *path = test_data("data/usps-test-images-idx3-ubyte.gz");
    if (!path) {
        return;
    }
    sali_content c = { 0 }, back = { 0 };
    sal_error err = { 0 };
    read_file(path, "idx", &c);
    ck_assert(c.array.ndim == 3 && c.array.shape[0] == 2007 && c.array.shape[2] == 16);
    ck_ok(sali_content_write(temp_path("u.npy"), NULL, &c, &err), &err);
    read_file(temp_path("u.npy"), "npy", &back);
    check_array(&back.array, 3, c.array.shape, c.array.values);
    sali_content_free(&c);
    sali_content_free(&back);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_arrays");
    TCase *tcase = tcase_create("arrays");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, tables_are_read_in_every_dialect);
    tcase_add_test(tcase, bad_tables_are_refused);
    tcase_add_test(tcase, headings_are_told_from_rows);
    tcase_add_test(tcase, an_array_has_the_remark_on_its_file);
    tcase_add_test(tcase, columns_of_libsvm_files_begin_at_0_or_1);
    tcase_add_test(tcase, libsvm_rows_are_dense_with_zeros_in_the_gaps);
    tcase_add_test(tcase, bad_libsvm_rows_are_refused);
    tcase_add_test(tcase, usps_digits_are_pictures_with_labels);
    tcase_add_test(tcase, formats_are_told_by_suffix_and_content);
    tcase_add_test(tcase, rows_of_numbers_tell_less_than_the_suffix_of_a_graph);
    tcase_add_test(tcase, written_arrays_read_back_in_the_smallest_type);
    tcase_add_test(tcase, idx_files_are_written_byte_by_byte_as_expected);
    tcase_add_test(tcase, arrays_that_a_format_cannot_hold_are_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, arrays_go_to_files_and_back);
    tcase_add_test(tcase, arrays_survive_failing_allocations);
    tcase_add_test(tcase, public_data_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
