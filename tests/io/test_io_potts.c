/* SPDX-License-Identifier: MIT */
/* Parameters of Potts models: f of files against f written out, gauges, writing and reading again,
 * parameters of any model. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>

#include <saltus/program.h>

#include "alloc_fail.h"
#include "io/format.h"
#include "models/model.h"
#include "models/structure/potts.h"

#define LETTERS "-ACDEFGHIKLMNPQRSTVWY"

/* A number for each field and coupling, by the sites and the letters. */
static double field(int64_t i, char a)
{
    return sin(3.0 * (double)i + 0.7 * a);
}

static double coupling(int64_t i, int64_t j, char a, char b)
{
    return cos(1.3 * (double)i + 2.9 * (double)j + 0.2 * a * b + 0.31 * a);
}

/* f of these numbers at codes of the alphabet `letters`. */
static double written_out(const char *letters, int64_t sites, const int32_t *codes)
{
    double f = 0;
    for (int64_t i = 0; i < sites; i++) {
        f += field(i, letters[codes[i]]);
        for (int64_t j = i + 1; j < sites; j++) {
            f += coupling(i, j, letters[codes[i]], letters[codes[j]]);
        }
    }
    return f;
}

static sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static double value(const sal_model *model, const int32_t *codes)
{
    double f = NAN;
    sal_error err = { 0 };
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* State number k of some that differ in all sites. */
static void fill_state(int k, int64_t sites, int64_t states, int32_t *codes)
{
    for (int64_t i = 0; i < sites; i++) {
        codes[i] = (int32_t)((k * (2 * i + 3) + i * i) % states);
    }
}

/* That f of the model is that of the numbers above, plus a constant. */
static void compare(const sal_model *model, const char *letters, int64_t sites)
{
    const int64_t q = (int64_t)strlen(letters);
    int32_t codes[8];
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), sites);
    ck_assert_int_eq(sal_space_states(sal_model_space(model), 0), q);
    fill_state(0, sites, q, codes);
    const double constant = value(model, codes) - written_out(letters, sites, codes);
    for (int k = 1; k < 60; k++) {
        fill_state(k, sites, q, codes);
        ck_assert_double_eq_tol(value(model, codes), written_out(letters, sites, codes) + constant,
                                1e-10);
    }
}

/* ---- adabmDCA, bmDCA */

/* Write the numbers of an alphabet, in its order or backwards; states as numbers if `as_numbers`.
 */
static void write_adabmdca(const char *name, const char *letters, int64_t sites, bool as_numbers)
{
    FILE *file = fopen(temp_path(name), "w");
    const int q = (int)strlen(letters);
    char a[16], b[16];
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + 1; j < sites; j++) {
            for (int k = q * q - 1; k >= 0; k--) {
                snprintf(a, sizeof a, as_numbers ? "%d" : "%c",
                         as_numbers ? k / q : letters[k / q]);
                snprintf(b, sizeof b, as_numbers ? "%d" : "%c",
                         as_numbers ? k % q : letters[k % q]);
                fprintf(file, "J %d %d %s %s %.17g\n", (int)i, (int)j, a, b,
                        coupling(i, j, letters[k / q], letters[k % q]));
            }
        }
    }
    for (int64_t i = 0; i < sites; i++) {
        for (int k = 0; k < q; k++) {
            snprintf(a, sizeof a, as_numbers ? "%d" : "%c", as_numbers ? k : letters[k]);
            fprintf(file, "h %d %s %.17g\n", (int)i, a, field(i, letters[k]));
        }
    }
    fclose(file);
}

START_TEST(adabmdca_means_the_sum_of_its_numbers)
{
    static const char *const alphabets[] = { LETTERS, "-ACGU", "-ACGT" };
    for (int k = 0; k < 6; k++) {
        write_adabmdca("p.dat", alphabets[k / 2], 4, k % 2);
        sal_model *model = opened(temp_path("p.dat"));
        compare(model, alphabets[k / 2], 4);
        const char *remark = sal_model_remark(model, NULL);
        ck_assert_int_eq(remark && strstr(remark, "states are numbers"), k % 2);
        sal_model_destroy(model);
    }
}
END_TEST

/* Couplings that are not listed are 0; so are fields, with a warning. */
START_TEST(what_a_file_leaves_out_is_zero)
{
    static const char text[] = "J 0 2 A U 0.5\r\n\nh 1 C 2\nh 0 - -1\n";
    static const int32_t codes[][3] = { { 1, 2, 4 }, { 0, 2, 4 }, { 1, 0, 4 }, { 1, 0, 0 } };
    static const double f[] = { 2.5, 1, 0.5, 0 };
    bool warns = false;
    temp_write("p.dat", text, sizeof text - 1);
    sal_model *model = opened(temp_path("p.dat"));
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq(value(model, codes[k]), f[k]);
    }
    ck_assert_ptr_nonnull(strstr(sal_model_remark(model, &warns), "13 of 15 fields are not given"));
    ck_assert(warns);
    sal_model_destroy(model);
}
END_TEST

/* ---- CCMpred */

static const char ccmpred[] = "ARNDCQEGHILKMFPSTWYV-";

/* The numbers of proteins, as CCMpred writes them: the gap has no field. */
static void write_ccmpred(const char *name, int64_t sites, const char *after)
{
    FILE *file = fopen(temp_path(name), "w");
    for (int64_t i = 0; i < sites; i++) {
        for (int a = 0; a < 20; a++) {
            fprintf(file, "%.17g\t", field(i, ccmpred[a]) - field(i, '-'));
        }
        fprintf(file, "\n");
    }
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + 1; j < sites; j++) {
            fprintf(file, "# %d %d\n", (int)i, (int)j);
            for (int k = 0; k < 21 * 21; k++) {
                fprintf(file, "%.17g\t%s", coupling(i, j, ccmpred[k / 21], ccmpred[k % 21]),
                        k % 21 == 20 ? "\n" : "");
            }
        }
    }
    fprintf(file, "%s", after);
    fclose(file);
}

START_TEST(ccmpred_means_the_sum_of_its_numbers)
{
    write_ccmpred("p.raw", 4, "#>META> {\"version\": \"0.3.2\"}");
    sal_model *model = opened(temp_path("p.raw"));
    compare(model, LETTERS, 4);
    sal_model_destroy(model);
}
END_TEST

/* ---- plmc */

static void put_numbers(FILE *file, bool wide, int64_t n, const double *numbers)
{
    for (int64_t k = 0; k < n; k++) {
        const double x = numbers ? numbers[k] : 0.25;
        const float single = (float)x;
        fwrite(wide ? (const void *)&x : &single, wide ? sizeof x : sizeof single, 1, file);
    }
}

/* plmc has the gap as '.', too. */
static char gap_as_minus(char letter)
{
    return letter == '.' ? '-' : letter;
}

/* The numbers of these letters, as plmc writes them. */
static void write_plmc(const char *name, const char *letters, int64_t sites, bool wide)
{
    FILE *file = fopen(temp_path(name), "wb");
    const int q = (int)strlen(letters);
    const int32_t head[] = { (int32_t)sites, q, 5, 2, 100 };
    const int64_t pairs = sites * (sites - 1) / 2;
    double numbers[21 * 21];
    fwrite(head, sizeof head, 1, file);
    put_numbers(file, wide, 5, NULL);
    fwrite(letters, 1, (size_t)q, file);
    put_numbers(file, wide, 7, NULL);
    for (int64_t i = 0; i < sites; i++) {
        fwrite(letters, 1, 1, file);
    }
    for (int32_t i = 0; i < sites; i++) {
        fwrite(&i, sizeof i, 1, file);
    }
    put_numbers(file, wide, sites * q, NULL);
    for (int64_t i = 0; i < sites; i++) {
        for (int a = 0; a < q; a++) {
            numbers[a] = field(i, gap_as_minus(letters[a]));
        }
        put_numbers(file, wide, q, numbers);
    }
    put_numbers(file, wide, pairs * q * q, NULL);
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + 1; j < sites; j++) {
            for (int k = 0; k < q * q; k++) {
                numbers[k] =
                    coupling(i, j, gap_as_minus(letters[k / q]), gap_as_minus(letters[k % q]));
            }
            put_numbers(file, wide, q * q, numbers);
        }
    }
    fclose(file);
}

/* With 64 bits to all digits; the letters in another order than ours, with and without the gap. */
START_TEST(plmc_means_the_sum_of_its_numbers)
{
    static const struct {
        const char *file, *order;
    } cases[] = { { LETTERS, LETTERS },
                  { "ACDEFGHIKLMNPQRSTVWY", "ACDEFGHIKLMNPQRSTVWY" },
                  { "-UGCA", "-ACGU" },
                  { ".ACGU", "-ACGU" },
                  { "TGCA", "ACGT" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_plmc("p.model", cases[k].file, 4, true);
        sal_model *model = opened(temp_path("p.model"));
        compare(model, cases[k].order, 4);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(plmc_has_numbers_of_32_bits_too)
{
    int32_t codes[4];
    write_plmc("p.model", "-ACGU", 4, false);
    sal_model *model = opened(temp_path("p.model"));
    for (int k = 0; k < 20; k++) {
        fill_state(k, 4, 5, codes);
        ck_assert_double_eq_tol(value(model, codes), written_out("-ACGU", 4, codes), 1e-5);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- gauges */

static void fill(sali_potts *p)
{
    const int64_t q = p->states, N = p->sites * q;
    for (int64_t k = 0; k < N; k++) {
        p->h[k] = field(k / q, LETTERS[k % q]);
        for (int64_t l = 0; l < N; l++) {
            const int64_t i = k < l ? k : l, j = k < l ? l : k;
            p->J[k * N + l] =
                k / q == l / q ? 0 : coupling(i / q, j / q, LETTERS[i % q], LETTERS[j % q]);
        }
    }
}

/* What a gauge makes 0: the sum of n numbers, or the first. */
static double level(sal_gauge gauge, int64_t n, const double *x, int64_t stride)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += gauge == SAL_GAUGE_ZERO_SUM || k == 0 ? x[k * stride] : 0;
    }
    return sum;
}

START_TEST(gauges_keep_f_and_have_their_zeros)
{
    enum { SITES = 4, Q = 5, N = SITES * Q };
    double h[N], J[N * N];
    for (int gauge = SAL_GAUGE_ZERO_SUM; gauge <= SAL_GAUGE_LATTICE_GAS; gauge++) {
        sali_potts p = { .sites = SITES, .states = Q, .h = h, .J = J };
        int32_t codes[SITES];
        double constant = NAN;
        sal_error err = { 0 };
        fill(&p);
        ck_ok(sali_potts_set_gauge(&p, (sal_gauge)gauge, &err), &err);
        for (int k = 0; k < N; k++) {
            for (int j = 0; j < SITES; j++) {
                ck_assert_double_eq_tol(level((sal_gauge)gauge, Q, &J[k * N + j * Q], 1), 0, 1e-12);
                ck_assert_double_eq_tol(level((sal_gauge)gauge, Q, &J[j * Q * N + k], N), 0, 1e-12);
            }
            for (int l = 0; l < N; l++) {
                ck_assert_double_eq(J[k * N + l], J[l * N + k]);
            }
        }
        for (int i = 0; i < SITES; i++) {
            ck_assert_double_eq_tol(level((sal_gauge)gauge, Q, &h[i * Q], 1), 0, 1e-12);
        }
        for (int k = 0; k < 60; k++) {
            double f = 0;
            fill_state(k, SITES, Q, codes);
            for (int i = 0; i < SITES; i++) {
                f += h[i * Q + codes[i]];
                for (int j = i + 1; j < SITES; j++) {
                    f += J[(i * Q + codes[i]) * N + j * Q + codes[j]];
                }
            }
            f -= written_out(LETTERS, SITES, codes);
            constant = k == 0 ? f : constant;
            ck_assert_double_eq_tol(f, constant, 1e-12);
        }
    }
}
END_TEST

START_TEST(the_setting_gauge_changes_parameters_and_keeps_differences)
{
    char text[600];
    double h[21];
    write_adabmdca("p.dat", "-ACGU", 4, false);
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = { "as-is", "zero-sum", "lattice-gas" };
        sal_error err = { 0 };
        snprintf(text, sizeof text, "potts-parameters:file=%s,gauge=%s", temp_path("p.dat"),
                 names[k]);
        sal_model *model = opened(text);
        double all[20];
        compare(model, "-ACGU", 4);
        ck_ok(sal_model_get_params(model, "h", all, &err), &err);
        memcpy(h, all, sizeof all);
        ck_assert_int_eq(fabs(level(SAL_GAUGE_ZERO_SUM, 5, h, 1)) < 1e-12, k == 1);
        ck_assert_int_eq(h[0] == 0, k == 2);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- writing */

START_TEST(what_is_written_reads_back)
{
    static const char *const outs[] = { "q.dat", "q.raw" };
    sal_error err = { 0 };
    write_adabmdca("p.dat", LETTERS, 4, false);
    for (int k = 0; k < 2; k++) {
        for (int gauge = SAL_GAUGE_AS_IS; gauge <= SAL_GAUGE_LATTICE_GAS; gauge++) {
            ck_ok(sal_convert(temp_path("p.dat"), temp_path(outs[k]),
                              &(sal_convert_options){ .gauge = (sal_gauge)gauge }, NULL, &err),
                  &err);
            sal_model *model = opened(temp_path(outs[k]));
            compare(model, LETTERS, 4);
            sal_model_destroy(model);
        }
    }
    ck_fails(sal_convert(temp_path("p.dat"), temp_path("p.npy"), NULL, NULL, &err),
             SAL_ERR_ARGUMENT, &err,
             "a Potts model can be written as: adabmdca (.dat), ccmpred (.raw), plmc (.model");
    write_adabmdca("p.dat", "-ACGU", 4, false);
    ck_fails(sal_convert(temp_path("p.dat"), temp_path("r.raw"), NULL, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "5 states, -ACGU; this format is for proteins");
}
END_TEST

/* The bytes of a file; *size receives their number. */
static unsigned char *bytes_of(const char *name, size_t *size)
{
    FILE *file = fopen(temp_path(name), "rb");
    unsigned char *bytes = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(file);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* What plmc wrote with 32 bits has the same bits again: letters, fields, couplings. What the model
 * has not is what its readers take: no sequences, no target, frequencies that sum to 1. */
START_TEST(plmc_is_written_with_the_same_bits)
{
    static const char *const alphabets[] = { LETTERS, "-ACGU", "ACGT", "-BAXb" };
    const int64_t sites = 4, pairs = 6;
    for (int k = 0; k < 4; k++) {
        const size_t q = strlen(alphabets[k]);
        size_t in_size, out_size;
        sal_error err = { 0 };
        write_plmc("p.model", alphabets[k], sites, false);
        ck_ok(sal_convert(temp_path("p.model"), temp_path("q.model"), NULL, NULL, &err), &err);
        unsigned char *in = bytes_of("p.model", &in_size), *out = bytes_of("q.model", &out_size);
        const size_t fields = 4 * (size_t)sites * q, couplings = 4 * (size_t)pairs * q * q;
        ck_assert_uint_eq(in_size, out_size + 7 * 4); /* the weights of 7 sequences */
        ck_assert_mem_eq(in + in_size - couplings, out + out_size - couplings, couplings);
        ck_assert_mem_eq(in + in_size - 2 * couplings - fields,
                         out + out_size - 2 * couplings - fields, fields);
        int32_t head[5], site;
        float numbers[5], sum = 0, f;
        memcpy(head, out, sizeof head);
        memcpy(numbers, out + sizeof head, sizeof numbers);
        ck_assert(head[0] == sites && head[1] == (int32_t)q && head[2] == 0 && head[3] == 0);
        ck_assert(numbers[0] == 0 && numbers[1] == 0 && numbers[2] == -1 && numbers[3] == -1);
        const unsigned char *at = out + sizeof head + sizeof numbers;
        ck_assert_mem_eq(at, alphabets[k], q);
        ck_assert_mem_eq(at + q, "----", 4);
        memcpy(&site, at + q + 4 + 4 * 3, sizeof site);
        ck_assert_int_eq(site, 4);
        for (size_t a = 0; a < q; a++) {
            memcpy(&f, at + q + 4 + 4 * 4 + 4 * a, sizeof f);
            sum += f;
        }
        ck_assert_float_eq_tol(sum, 1, 1e-6F);
        free(in);
        free(out);
        sal_model *model = opened(temp_path("q.model")), *first = opened(temp_path("p.model"));
        int32_t codes[4];
        for (int state = 0; state < 20; state++) {
            fill_state(state, sites, (int64_t)q, codes);
            ck_assert_double_eq(value(model, codes), value(first, codes));
        }
        ck_assert_str_eq(sal_space_block(sal_model_space(model), 0)->letters, alphabets[k]);
        sal_model_destroy(model);
        sal_model_destroy(first);
    }
}
END_TEST

START_TEST(what_plmc_cannot_hold_is_refused)
{
    sal_error err = { 0 };
    temp_write("big.dat", "J 0 1 A C 1e39\nh 0 - 0\n", 23);
    ck_fails(sal_convert(temp_path("big.dat"), temp_path("b.model"), NULL, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "a parameter is 1e+39; expected numbers of 32 bits");
    temp_write("three.dat", "J 0 1 0 2 1\nh 0 0 0\n", 20);
    ck_fails(sal_convert(temp_path("three.dat"), temp_path("b.model"), NULL, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "3 states without letters; states of plmc are letters");
}
END_TEST

/* Letters of one's own: plmc's file has them; of adabmDCA's they are given, in the order of the
 * codes. */
START_TEST(alphabets_of_ones_own_are_kept)
{
    char text[600];
    sal_error err = { 0 };
    sal_model *model = NULL;
    write_plmc("p.model", "BA-xb", 4, true); /* the gap becomes the first */
    model = opened(temp_path("p.model"));
    compare(model, "-BAxb", 4);
    ck_assert_str_eq(sal_space_block(sal_model_space(model), 0)->letters, "-BAxb");
    ck_ok(sal_model_save(model, temp_path("m.xml"), &err), &err);
    sal_model_destroy(model);
    ck_ok(sal_convert(temp_path("m.xml"), temp_path("p.dat"), NULL, NULL, &err), &err);
    ck_fails(sal_model_open(temp_path("p.dat"), 0, &model, &err), SAL_ERR_DATA, &err,
             "expected a state (an upper-case letter");
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-BAxb", temp_path("p.dat"));
    model = opened(text);
    compare(model, "-BAxb", 4);
    sal_model_destroy(model);
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-xbBA", temp_path("p.model"));
    model = opened(text);
    compare(model, "-xbBA", 4);
    sal_model_destroy(model);
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-BAxc", temp_path("p.model"));
    ck_fails(sal_model_open(text, 0, &model, &err), SAL_ERR_DATA, &err,
             "the letters 'BA-xb'; expected those of -BAxc, in any order");
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-BAx", temp_path("p.dat"));
    ck_fails(sal_model_open(text, 0, &model, &err), SAL_ERR_DATA, &err,
             "expected a state (a letter of the alphabet or a number from 0)");
    write_adabmdca("n.dat", "-BAxb", 4, true); /* states as numbers are codes of the alphabet */
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-BAxb", temp_path("n.dat"));
    model = opened(text);
    compare(model, "-BAxb", 4);
    ck_assert_ptr_null(sal_model_remark(model, NULL));
    sal_model_destroy(model);
    snprintf(text, sizeof text, "potts-parameters:file=%s,alphabet=-BAx", temp_path("n.dat"));
    ck_fails(sal_model_open(text, 0, &model, &err), SAL_ERR_DATA, &err,
             "it has states that are not among the letters -BAx");
}
END_TEST

/* Letters stay what they are: those of DNA, and those without the gap. */
START_TEST(letters_are_kept)
{
    static const char *const alphabets[] = { "-ACGT", "ACGT", "ACGU", "ACDEFGHIKLMNPQRSTVWY" };
    sal_error err = { 0 };
    for (int k = 0; k < 4; k++) {
        char text[64] = "";
        write_plmc("p.model", alphabets[k], 3, true);
        ck_ok(sal_convert(temp_path("p.model"), temp_path("p.dat"), NULL, NULL, &err), &err);
        sal_model *model = opened(temp_path("p.dat"));
        compare(model, alphabets[k], 3);
        sal_model_destroy(model);
        FILE *file = fopen(temp_path("p.dat"), "r");
        ck_assert_ptr_nonnull(fgets(text, sizeof text, file));
        fclose(file);
        ck_assert_int_eq(text[6], alphabets[k][0]);
    }
}
END_TEST

/* Parameters of a formula that was written for nothing of the kind. */
START_TEST(any_potts_model_has_parameters)
{
    sal_error err = { 0 };
    int32_t codes[4];
    sal_model *model = opened("potts:side=2,states=3,theta=0.7");
    ck_ok(sal_model_save(model, temp_path("m.xml"), &err), &err);
    ck_ok(sal_convert(temp_path("m.xml"), temp_path("m.dat"), NULL, NULL, &err), &err);
    sal_model *back = opened(temp_path("m.dat"));
    fill_state(0, 4, 3, codes);
    const double constant = value(back, codes) - value(model, codes);
    for (int k = 1; k < 40; k++) {
        fill_state(k, 4, 3, codes);
        ck_assert_double_eq_tol(value(back, codes), value(model, codes) + constant, 1e-12);
    }
    sal_model_destroy(back);
    sal_model_destroy(model);
}
END_TEST

/* The model of a formula's text as parameters. */
static sal_status parameters_of(const char *text, sali_potts *p, sal_error *err)
{
    sal_model *model = opened(text);
    sal_status status = sali_potts_of_model(model, p, err);
    sal_model_destroy(model);
    return status;
}

/* Squares of the one-hot reals, which a trained J may have, are fields. */
START_TEST(squares_are_fields)
{
    enum { Q = 3, V = 2, N = V * Q };
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(
              space, &(sal_block){ .name = "x", .kind = SAL_CATEGORICAL, .count = V, .states = Q },
              &err),
          &err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    double J[N * N];
    for (int k = 0; k < N * N; k++) {
        J[k] = cos(k) + cos(k % N * N + k / N);
    }
    sal_expr x = sal_reshape(sal_state(t), SAL_SHAPE(N));
    sal_expr f = sal_scale(sal_quad(x, sal_constant(t, J, SAL_SHAPE(N, N))), 0.5);
    sal_model *model = NULL;
    sali_potts p = { 0 };
    ck_ok(sal_model_from_tape(t, f, &model, &err), &err);
    ck_ok(sali_potts_of_model(model, &p, &err), &err);
    for (int a = 0; a < Q; a++) {
        for (int b = 0; b < Q; b++) {
            const int32_t codes[] = { a, b };
            ck_assert_double_eq_tol(p.h[a] + p.h[Q + b] + p.J[a * N + Q + b], value(model, codes),
                                    1e-12);
        }
    }
    sali_potts_free(&p);
    sal_model_destroy(model);
    sal_tape_destroy(t);
    sal_space_destroy(space);
}
END_TEST

START_TEST(numbers_that_overflow_in_a_gauge_are_refused)
{
    static const char text[] =
        "J 0 1 0 1 1.7e308\nJ 0 2 0 1 1.7e308\nJ 0 3 0 1 1.7e308\nh 0 0 1.7e308\n";
    sal_error err = { 0 };
    temp_write("big.dat", text, sizeof text - 1);
    ck_fails(sal_convert(temp_path("big.dat"), temp_path("b.dat"),
                         &(sal_convert_options){ .gauge = SAL_GAUGE_ZERO_SUM }, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "too large for this gauge");
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(other_models_have_none)
{
    sali_potts p = { 0 };
    sal_error err = { 0 };
    ck_fails(parameters_of("ising:side=2", &p, &err), SAL_ERR_ARGUMENT, &err,
             "has variables with labels, equally many");
    ck_fails(
        parameters_of(
            "formula: x: categorical(3)[4]; (x[0] == 1) * (x[1] == 2) * (x[2] == 0) + (x[3] == 1)",
            &p, &err),
        SAL_ERR_ARGUMENT, &err, "does not show fields and couplings");
    ck_fails(
        parameters_of("formula: x: categorical(21)[4]; 5 (x[0] == 1) * (x[1] == 2) * (x[2] == 3)",
                      &p, &err),
        SAL_ERR_ARGUMENT, &err, "does not show fields and couplings");
    ck_assert_ptr_null(p.h);
}
END_TEST

/* ---- mistakes */

#define H5 "h 0 - 1\n"
#define FIELDS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n"

START_TEST(mistakes_are_told_with_their_place)
{
    static const struct {
        const char *format, *text, *message;
    } cases[] = {
        { "adabmdca", "", "no lines" },
        { "adabmdca", H5 "J 0 1 A C\n", "mem:2: " },
        { "adabmdca", H5 "J 0 1 A C x\n",
          "mem:2: expected a value (a finite decimal number), found 'x'" },
        { "adabmdca", H5 "J 0 1 A C nan\n", "mem:2: expected a value (a finite decimal number)" },
        { "adabmdca", H5 "J 0 1 A C 1 2\n", "mem:2: " },
        { "adabmdca", H5 "J 1 0 A C 1\n",
          "mem:2: a coupling of sites 1 and 0; expected the lower" },
        { "adabmdca", H5 "J 1 1 A C 1\n", "mem:2: a coupling of sites 1 and 1" },
        { "adabmdca", H5 "J 0 -1 A C 1\n", "mem:2: expected a site, from 0" },
        { "adabmdca", H5 "J 0 99999999999 A C 1\n", "mem:2: expected a site, from 0" },
        { "adabmdca", H5 "J 0 1 a C 1\n", "mem:2: expected a state" },
        { "adabmdca", H5 "J 0 1 A 2 1\n", "some states are letters, others are numbers" },
        { "adabmdca", H5 "J 0 1 A B 1\n", "the letters are those of no alphabet with a name" },
        { "adabmdca", H5 H5, "mem:2: this field is given twice" },
        { "adabmdca", "J 0 1 A C 1\n" H5 "J 0 1 A C 1\n", "mem:3: this coupling is given twice" },
        { "adabmdca", H5 "K 0 1\n",
          "mem:2: expected 'J i j a b value' or 'h i a value', found 'K'" },
        { "adabmdca", "h 0 0 1\n", "1 sites of 1 states" },
        { "adabmdca", "h 19999 1 1\n", "20000 sites of 2 states" },
        { "adabmdca", "J 0 951 A C 1\nh 0 A 1\nh 951 Y 1\n",
          "3 lines, the last site 951 of 21 states: the couplings would take 3.2 GB, for 19992 "
          "fields. Is the number of a site wrong?" },
        { "adabmdca", "h 0 19999 1\n", "1 lines, the last site 0 of 20000 states" },
        { "ccmpred", "", "0 sites of 21 states" },
        { "ccmpred", "1 2 3\n", "mem:1: " },
        { "ccmpred", FIELDS "# 0 0\n", "mem:2: sites 0 and 0; expected the lower one first" },
        { "ccmpred", FIELDS FIELDS "# 0 1\n1 2\n", "mem:4: " },
        { "ccmpred", FIELDS FIELDS "# 0 2\n", "mem:3: expected a site" },
        { "ccmpred", FIELDS FIELDS, "0 pairs of 2 sites; expected all 1: the file is cut" },
        { "ccmpred", FIELDS FIELDS "# 0 1\n", "expected 21 couplings, found the end of the file" },
        { "ccmpred", FIELDS "#>META> {}\n" FIELDS,
          "mem:3: expected '# i j' before more couplings" },
        { "plmc", "", "its size is not that of parameters by plmc" },
        { "plmc", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "its size is not that of parameters by plmc" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sali_format *format;
        sali_content content = { 0 };
        sal_error err = { 0 };
        ck_ok(sali_format_named(cases[k].format, &format, &err), &err);
        ck_fails(sali_format_parse(format, "mem", cases[k].text, (int64_t)strlen(cases[k].text),
                                   &content, &err),
                 SAL_ERR_DATA, &err, cases[k].message);
        ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
    }
}
END_TEST

/* 900 sites of proteins would take 2.9 GB. */
START_TEST(a_cut_file_takes_no_memory_for_all_its_couplings)
{
    static char text[900 * 40 + 40];
    sali_content content = { 0 };
    sal_error err = { 0 };
    for (int64_t i = 0; i < 900; i++) {
        for (int a = 0; a < 20; a++) {
            memcpy(text + i * 40 + 2 * a, a < 19 ? "0 " : "0\n", 2);
        }
    }
    strcpy(text + sizeof text - 40, "# 0 1\n0 0\n");
    ck_fails(
        sali_format_parse(&sali_format_ccmpred, "mem", text, (int64_t)strlen(text), &content, &err),
        SAL_ERR_DATA, &err,
        "36010 bytes are too few for the couplings of all pairs of its 900 sites");
}
END_TEST

START_TEST(letters_of_plmc_are_those_of_an_alphabet)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    write_plmc("p.model", "AC\tG", 3, false);
    ck_fails(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err), SAL_ERR_DATA, &err,
             "expected each letter once, in any order");
    write_plmc("p.model", "ACGA", 3, false);
    ck_fails(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err), SAL_ERR_DATA, &err,
             "the letters 'ACGA'");
}
END_TEST

START_TEST(memory_that_runs_out_is_told)
{
    static const char text[] = "J 0 1 0 1 0.5\nh 0 1 2\nh 1 2 -1\n";
    sal_model *model = opened("potts:side=2,states=3,theta=0.7");
    sali_content content = { 0 };
    sali_potts p = { 0 };
    sal_error err = { 0 };
    ck_alloc_sweep(
        sali_format_parse(&sali_format_adabmdca, "mem", text, sizeof text - 1, &content, &err),
        sali_content_free(&content));
    ck_alloc_sweep(sali_potts_of_model(model, &p, &err), sali_potts_free(&p));
    sal_model_destroy(model);
    write_plmc("p.model", "-ACGU", 3, false);
    ck_alloc_sweep(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err),
                   sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_potts");
    TCase *tcase = tcase_create("io_potts");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, adabmdca_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, what_a_file_leaves_out_is_zero);
    tcase_add_test(tcase, ccmpred_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, plmc_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, plmc_has_numbers_of_32_bits_too);
    tcase_add_test(tcase, gauges_keep_f_and_have_their_zeros);
    tcase_add_test(tcase, the_setting_gauge_changes_parameters_and_keeps_differences);
    tcase_add_test(tcase, what_is_written_reads_back);
    tcase_add_test(tcase, any_potts_model_has_parameters);
    tcase_add_test(tcase, letters_are_kept);
    tcase_add_test(tcase, plmc_is_written_with_the_same_bits);
    tcase_add_test(tcase, what_plmc_cannot_hold_is_refused);
    tcase_add_test(tcase, alphabets_of_ones_own_are_kept);
    tcase_add_test(tcase, squares_are_fields);
    tcase_add_test(tcase, numbers_that_overflow_in_a_gauge_are_refused);
    tcase_add_test(tcase, other_models_have_none);
    tcase_add_test(tcase, mistakes_are_told_with_their_place);
    tcase_add_test(tcase, a_cut_file_takes_no_memory_for_all_its_couplings);
    tcase_add_test(tcase, letters_of_plmc_are_those_of_an_alphabet);
    tcase_add_test(tcase, memory_that_runs_out_is_told);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
