/* SPDX-License-Identifier: MIT */
/* The list of formats, the format of a given file, and files from one format into another, by the
 * public functions. */
#include "temp_dir.h"

#include <saltus/io.h>
#include <saltus/program.h>

#include "alloc_fail.h"

static const char triangle[] =
    "3 3\n1 2 1\n2 3 -2\n1 3 4\n"; /* max-cut: nodes and edges, then i j w */

START_TEST(formats_of_one_content_are_adjacent)
{
    sal_format_info info = { 0 }, other;
    const char *seen[16] = { NULL };
    int64_t n = 0, contents = 0;
    for (; sal_format_list(n, &info); n++) {
        ck_assert(info.name[0] && info.doc[0] && info.content[0] && (info.reads || info.writes));
        if (contents == 0 || strcmp(seen[contents - 1], info.content) != 0) {
            for (int64_t k = 0; k < contents; k++) {
                ck_assert_str_ne(seen[k], info.content);
            }
            seen[contents++] = info.content;
        }
        for (int64_t k = 0; k < n; k++) {
            ck_assert(sal_format_list(k, &other));
            ck_assert_str_ne(other.name, info.name);
        }
    }
    ck_assert_int_gt(n, 12);
    ck_assert_int_gt(contents, 3);
    ck_assert(!sal_format_list(-1, &other) && !sal_format_list(n + 1, &other));
}
END_TEST

START_TEST(a_file_is_told_by_its_name_and_by_its_content)
{
    static const struct {
        const char *name, *text, *format;
    } files[] = {
        { "g.mc", triangle, "gset" },
        { "nameless", "p edge 2 1\ne 1 2\n", "dimacs" },
        { "x.csv", "1,2\n3,4\n", "table" },
        { "a.fasta", ">one\nACDE\n", "fasta" },
        { "n.uai", "MARKOV\n1\n2\n1\n1 0\n2\n 1 3\n", "uai" },
        { "n.fg", "1\n\n1\n0\n2\n2\n0 1\n1 3\n", "fg" },
        { "unnamed", "# a\n1\n\n2\n0 1\n2 2\n1\n0 1\n", "fg" },
        { "n.bif", "network n {\n}\n", "bif" },
        { "n.txt", "// a\nnetwork \"n\" { }\n", "bif" },
        { "x.bif", "<?xml version=\"1.0\"?>\n<BIF VERSION=\"0.3\"/>\n", "xmlbif" },
        { "n.net", "%\nnet\n{\n}\n", "hugin" },
        { "n.dat", "node a\n{\n}\n", "hugin" },
        { "pajek.net", "*Vertices 2\n", "hugin" },
    };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        sal_format_info info = { 0 };
        const char *path = temp_write(files[k].name, files[k].text, strlen(files[k].text));
        ck_ok(sal_format_find(path, &info, &err), &err);
        ck_assert_str_eq(info.name, files[k].format);
    }
    sal_format_info mark = { .name = "mark" };
    ck_fails(sal_format_find(temp_write("what", "?", 1), &mark, &err), SAL_ERR_ARGUMENT, &err,
             "what: no format of Saltus fits it");
    ck_fails(sal_format_find(temp_path("none.csv"), &mark, &err), SAL_ERR_NOT_FOUND, &err, "none");
    ck_assert_str_eq(mark.name, "mark");
}
END_TEST

/* The bytes of a file, for comparison. */
static size_t read_bytes(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(bytes, 1, room, file);
    fclose(file);
    return n;
}

START_TEST(a_graph_keeps_its_weights_in_another_format)
{
    static char first[4096], again[4096];
    sal_error err = { 0 };
    temp_write("g.mc", triangle, strlen(triangle));
    ck_ok(sal_convert(temp_path("g.mc"), temp_path("plain"), &(sal_convert_options){ .to = "gset" },
                      NULL, &err),
          &err);
    ck_ok(sal_convert(temp_path("g.mc"), temp_path("g.graphml"), NULL, NULL, &err), &err);
    ck_ok(sal_convert(temp_path("g.graphml"), temp_path("again"),
                      &(sal_convert_options){ .to = "gset" }, NULL, &err),
          &err);
    size_t n = read_bytes(temp_path("plain"), first, sizeof first);
    ck_assert_uint_ge(n, strlen(triangle));
    ck_assert_uint_eq(read_bytes(temp_path("again"), again, sizeof again), n);
    ck_assert_mem_eq(first, again, n);
}
END_TEST

/* Where the columns of a libsvm file begin; nothing decides where they do in this one. */
START_TEST(columns_of_libsvm_files_begin_where_the_caller_says)
{
    static const double from[][4] = { { 1, 0, 2 }, { 0, 1, 0, 2 }, { 1, 0, 2 } };
    sal_error err = { 0 };
    temp_write("rows.svm", "0 1:1 3:2\n1 1:1 3:2\n", 20);
    for (int k = SAL_COLUMNS_FIND; k <= SAL_COLUMNS_FROM_1; k++) {
        sal_array arrays[2] = { { 0 } };
        char *remark = NULL;
        ck_ok(sal_convert(temp_path("rows.svm"), temp_path("rows.npy"),
                          &(sal_convert_options){ .columns_from = (sal_columns_from)k }, &remark,
                          &err),
              &err);
        ck_assert_int_eq(remark && strstr(remark, "--columns-from 0 or 1"), k == 0);
        sal_free(remark);
        ck_ok(sal_array_read(temp_path("rows.svm"), (sal_columns_from)k, &arrays[0], &err), &err);
        ck_assert_int_eq(arrays[0].remark != NULL, k == 0);
        ck_assert(!arrays[0].remark || strstr(arrays[0].remark, "a first line"));
        ck_ok(sal_array_read(temp_path("rows.npy"), SAL_COLUMNS_FIND, &arrays[1], &err), &err);
        for (int a = 0; a < 2; a++) {
            ck_assert_int_eq((int)arrays[a].shape[1], k == SAL_COLUMNS_FROM_0 ? 4 : 3);
            ck_assert_mem_eq(arrays[a].values, from[k],
                             (size_t)arrays[a].shape[1] * sizeof(double));
            sal_array_free(&arrays[a]);
        }
    }
    sal_array none = { 0 };
    ck_fails(sal_convert(temp_path("rows.npy"), temp_path("x.csv"),
                         &(sal_convert_options){ .columns_from = SAL_COLUMNS_FROM_0 }, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "rows.npy: no libsvm file");
    ck_fails(sal_convert(temp_path("."), temp_path("x.xml"),
                         &(sal_convert_options){ .columns_from = SAL_COLUMNS_FROM_0 }, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "no libsvm file");
    ck_fails(sal_array_read(temp_path("rows.npy"), SAL_COLUMNS_FROM_1, &none, &err),
             SAL_ERR_ARGUMENT, &err, "rows.npy: no libsvm file");
    ck_fails(sal_array_read(temp_path("rows.svm"), (sal_columns_from)3, &none, &err),
             SAL_ERR_ARGUMENT, &err, "columns_from 3");
}
END_TEST

START_TEST(what_cannot_be_converted_leaves_the_file_there)
{
    static const struct {
        const char *in, *from, *out, *to;
        sal_status status;
        const char *text;
    } cases[] = {
        { "g.mc", NULL, "old.xyz", NULL, SAL_ERR_ARGUMENT, "old.xyz" },
        { "g.mc", NULL, "old.csv", "no-format", SAL_ERR_ARGUMENT, "'no-format'" },
        { "g.mc", "no-format", "old.csv", NULL, SAL_ERR_ARGUMENT, "'no-format'" },
        { "g.mc", NULL, "old.fasta", NULL, SAL_ERR_ARGUMENT, "fasta" },
        { "g.mc", "uai", "old.uai", NULL, SAL_ERR_DATA, "g.mc" },
        { "none.mc", NULL, "old.graphml", NULL, SAL_ERR_NOT_FOUND, "none.mc" },
    };
    sal_error err = { 0 };
    char bytes[8];
    temp_write("g.mc", triangle, strlen(triangle));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        temp_write(cases[k].out, "old", 3);
        sal_status status = sal_convert(
            temp_path(cases[k].in), temp_path(cases[k].out),
            &(sal_convert_options){ .from = cases[k].from, .to = cases[k].to }, NULL, &err);
        ck_assert_msg(status == cases[k].status && strstr(err.message, cases[k].text), "%s: %d, %s",
                      cases[k].out, status, err.message);
        ck_assert_uint_eq(read_bytes(temp_path(cases[k].out), bytes, sizeof bytes), 3);
    }
}
END_TEST

START_TEST(running_out_of_memory_is_reported)
{
    sal_error err = { 0 };
    sal_format_info info;
    temp_write("g.mc", triangle, strlen(triangle));
    ck_alloc_sweep(sal_format_find(temp_path("g.mc"), &info, &err), (void)0);
    ck_alloc_sweep(sal_convert(temp_path("g.mc"), temp_path("g.graphml"), NULL, NULL, &err),
                   (void)0);
    ck_assert_int_eq(temp_count(), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("formats");
    TCase *tcase = tcase_create("formats");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, formats_of_one_content_are_adjacent);
    tcase_add_test(tcase, a_file_is_told_by_its_name_and_by_its_content);
    tcase_add_test(tcase, a_graph_keeps_its_weights_in_another_format);
    tcase_add_test(tcase, columns_of_libsvm_files_begin_where_the_caller_says);
    tcase_add_test(tcase, what_cannot_be_converted_leaves_the_file_there);
    tcase_add_test(tcase, running_out_of_memory_is_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
