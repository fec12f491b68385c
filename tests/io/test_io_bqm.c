/* SPDX-License-Identifier: MIT */
/* dimod's binary files of energies. */
#include "temp_dir.h"

#include "alloc_fail.h"
#include "graph_check.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const sali_format *const bqm = &sali_format_bqm;

/* A file being made. */
typedef struct bytes {
    unsigned char data[1024];
    int64_t size;
} bytes;

static void put_int(bytes *b, uint64_t value, int size)
{
    for (int k = 0; k < size; k++) {
        b->data[b->size++] = (unsigned char)(value >> 8 * k);
    }
}

static void put_bias(bytes *b, double value, int size)
{
    float single = (float)value;
    uint32_t low;
    uint64_t bits;
    memcpy(&low, &single, sizeof low);
    memcpy(&bits, &value, sizeof bits);
    put_int(b, size == 4 ? low : bits, size);
}

/* Text, filled up by blanks so that the whole has a multiple of 64 bytes; its length before it. */
static void put_padded(bytes *b, const char *text)
{
    int64_t at = b->size, length = (int64_t)strlen(text);
    int64_t padded = (at + 4 + length + 63) / 64 * 64 - at - 4;
    put_int(b, (uint64_t)padded, 4);
    memset(b->data + b->size, ' ', (size_t)padded);
    memcpy(b->data + b->size, text, (size_t)length);
    b->size += padded;
}

/* The energy 0.5 + a - 2 b + 4 a b - b c of spins a, b, c, and d, which is alone, as dimod lays it
 * out. `starts` and `neighbours` may be changed. */
static bytes make_bqm(int version, int bias, const char *header, const char *labels,
                      const uint32_t starts[4], const uint32_t neighbours[4])
{
    static const double linear[] = { 1, -2, 0, 0 }, quadratic[] = { 4, 4, -1, -1 };
    bytes b = { .size = 8 };
    memcpy(b.data, "DIMODBQM", 8);
    put_int(&b, (uint64_t)version, 1);
    put_int(&b, 0, 1);
    put_padded(&b, header);
    put_bias(&b, 0.5, bias);
    for (int v = 0; v < 4; v++) {
        put_int(&b, starts[v], 4);
        put_bias(&b, linear[v], bias);
    }
    for (int k = 0; k < 4; k++) {
        put_int(&b, neighbours[k], 4);
        put_bias(&b, quadratic[k], bias);
    }
    if (labels) {
        memcpy(b.data + b.size, "VARS", 4);
        b.size += 4;
        put_padded(&b, labels);
    }
    return b;
}

#define HEADER(dtype, shape, variables, vartype)                                                \
    "{\"dtype\": \"" dtype "\", \"itype\": \"int32\", \"ntype\": \"uint32\", \"shape\": " shape \
    ", \"type\": \"BinaryQuadraticModel\", \"variables\": " variables ", \"vartype\": " vartype \
    "}\n"
static const uint32_t right_starts[] = { 0, 1, 3, 4 }, right_neighbours[] = { 1, 0, 2, 1 };

static bytes good_bqm(void)
{
    return make_bqm(2, 8, HEADER("float64", "[4, 2]", "true", "\"SPIN\""),
                    "[\"a\", 7, [0, 1], \"\\u00e9\"]", right_starts, right_neighbours);
}

static sal_status parse_bqm(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(bqm, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

START_TEST(binary_files_of_dimod_are_read)
{
    static const char *const names[] = { "a", "7", "[0,1]", "\303\251" };
    sal_error err = { 0 };
    for (int kind = 0; kind < 4; kind++) {
        bytes b =
            kind == 0 ? good_bqm()
            : kind == 1
                ? make_bqm(2, 4, HEADER("float32", "[4, 2]", "false", "\"BINARY\""), NULL,
                           right_starts, right_neighbours)
                : make_bqm(1, 8,
                           kind == 2 ? HEADER("float64", "[4, 2]",
                                              "[\"a\", 7, [0, 1], "
                                              "\"\\u00e9\"]",
                                              "\"SPIN\"")
                                     : HEADER("float64", "[4, 2]", "[0, 1, 2, 3]", "\"BINARY\""),
                           NULL, right_starts, right_neighbours);
        bool spins = kind % 2 == 0;
        const char *path = temp_write(kind < 2 ? "a.bqm" : "a", b.data, (size_t)b.size);
        sali_content content = { 0 };
        const sali_format *found = NULL;
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, &found, &err), &err);
        ck_assert_ptr_eq(found, bqm);
        const sali_graph *g = &content.graph;
        ck_assert_int_eq(g->vartype, spins ? SALI_VARTYPE_SPIN : SALI_VARTYPE_BINARY);
        ck_assert_int_eq(!g->names, !spins);
        for (int v = 0; spins && v < 4; v++) {
            ck_assert_str_eq(g->names[v], names[v]);
        }
        double all[16];
        for (int state = 0; state < 16; state++) {
            double x = graph_value(g->vartype, state, 0), y = graph_value(g->vartype, state, 1);
            all[state] = 0.5 + x - 2 * y + 4 * x * y - y * graph_value(g->vartype, state, 2);
        }
        graph_check_energies(g, 4, all);
        sali_content_free(&content);
    }
}
END_TEST

/* Without the heading DIMODBQM a file .bqm is a text of dimod's COO. */
START_TEST(a_bqm_may_be_a_text)
{
    static const char text[] = "# vartype=SPIN\n0 1 2\n";
    sal_error err = { 0 };
    const sali_format *found = NULL;
    ck_ok(sali_format_find(temp_write("t.bqm", text, sizeof text - 1), 0, &found, &err), &err);
    ck_assert_str_eq(found->name, "coo");
}
END_TEST

START_TEST(bad_binary_files_are_refused)
{
    static const struct {
        int version;
        const char *header, *labels;
        uint32_t starts[4], neighbours[4];
        const char *message;
    } cases[] = {
#define RIGHT { 0, 1, 3, 4 }, { 1, 0, 2, 1 }
        { 3, HEADER("float64", "[4, 2]", "false", "\"SPIN\""), NULL, RIGHT,
          "f: is of version 3.0 of dimod's binary files; 1 and 2 are read" },
        { 2, "{", NULL, RIGHT, "no valid JSON" },
        { 2, "{}", NULL, RIGHT, "\"dtype\" is missing; expected a text" },
        { 2, HEADER("object", "[4, 2]", "false", "\"SPIN\""), NULL, RIGHT,
          "\"dtype\" is none of the types that Saltus reads: float32 and float64" },
        { 2, HEADER("float16", "[4, 2]", "false", "\"SPIN\""), NULL, RIGHT, "\"dtype\" is none" },
        { 2, HEADER("float64", "[4]", "false", "\"SPIN\""), NULL, RIGHT, "\"shape\": expected" },
        { 2, HEADER("float64", "[0, 0]", "false", "\"SPIN\""), NULL, RIGHT, "\"shape\": expected" },
        { 2, HEADER("float64", "[4, 200]", "false", "\"SPIN\""), NULL, RIGHT, "\"shape\": exp" },
        { 2, HEADER("float64", "[4611686018427387904, 2]", "false", "\"SPIN\""), NULL, RIGHT,
          "\"shape\": expected" },
        { 2, HEADER("float64", "[4, 2]", "false", "\"INTEGER\""), NULL, RIGHT,
          "\"vartype\": expected SPIN or BINARY" },
        { 2,
          HEADER("float64", "[4, 2]", "false", "\"SPIN\""),
          NULL,
          { 0, 3, 1, 4 },
          { 1, 0, 2, 1 },
          "the neighbours of variable 2 start at a wrong place" },
        { 2,
          HEADER("float64", "[4, 2]", "false", "\"SPIN\""),
          NULL,
          { 0, 1, 3, 5 },
          { 1, 0, 2, 1 },
          "the neighbours of variable 3 start at a wrong place" },
        { 2,
          HEADER("float64", "[4, 2]", "false", "\"SPIN\""),
          NULL,
          { 0, 1, 3, 4 },
          { 1, 0, 4, 1 },
          "variable 1 has a neighbour that is none" },
        { 2,
          HEADER("float64", "[4, 2]", "false", "\"SPIN\""),
          NULL,
          { 0, 1, 3, 4 },
          { 1, 1, 2, 1 },
          "variable 1 has a neighbour that is none" },
        { 2,
          HEADER("float64", "[4, 2]", "false", "\"SPIN\""),
          NULL,
          { 0, 1, 3, 4 },
          { 1, 2, 2, 1 },
          "lists some pairs of variables only once" },
        { 2, HEADER("float64", "[4, 2]", "true", "\"SPIN\""), NULL, RIGHT, "f: ends too early" },
        { 2, HEADER("float64", "[4, 2]", "true", "\"SPIN\""), "[1, 2]", RIGHT,
          "has 2 names; expected one for each of 4 variables" },
        { 2, HEADER("float64", "[4, 2]", "true", "\"SPIN\""), "[1, 2, 3, \"1\"]", RIGHT,
          "two variables have the name '1'" },
    };
    sal_error err = { 0 };
    for (int64_t k = 0; k < N(cases); k++) {
        bytes b = make_bqm(cases[k].version, 8, cases[k].header, cases[k].labels, cases[k].starts,
                           cases[k].neighbours);
        ck_fails(parse_bqm(b.data, b.size, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
    ck_fails(parse_bqm("DIMODCQM\001\002\000\000\000\000", 14, &err), SAL_ERR_DATA, &err,
             "f: is a binary file of dimod, of another model than a quadratic one (BQM)");
    bytes b = make_bqm(2, 8, HEADER("float64", "[4, 2]", "false", "\"SPIN\""), NULL, right_starts,
                       right_neighbours);
    memset(b.data + b.size - 8, 0xff, 8);
    ck_fails(parse_bqm(b.data, b.size, &err), SAL_ERR_DATA, &err, "expected finite numbers");
}
END_TEST

START_TEST(damaged_files_and_failing_allocations_are_survived)
{
    bytes b = good_bqm();
    sal_error err = { 0 };
    sali_content content = { 0 };
    temp_sweep(parse_bqm, b.data, b.size);
    ck_alloc_sweep(sali_format_parse(bqm, "f", (const char *)b.data, b.size, &content, &err),
                   sali_content_free(&content));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_bqm");
    TCase *tcase = tcase_create("bqm");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, binary_files_of_dimod_are_read);
    tcase_add_test(tcase, a_bqm_may_be_a_text);
    tcase_add_test(tcase, bad_binary_files_are_refused);
    tcase_add_test(tcase, damaged_files_and_failing_allocations_are_survived);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
