/* SPDX-License-Identifier: MIT */
/* Parameters of Potts models: gauges, writing and reading again, parameters of any model. */
#include "potts_files.h"

#include <saltus/program.h>

#include "alloc_fail.h"
#include "models/model.h"
#include "models/structure/potts.h"

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

START_TEST(memory_that_runs_out_is_told)
{
    sal_model *model = opened("potts:side=2,states=3,theta=0.7");
    sali_potts p = { 0 };
    sal_error err = { 0 };
    ck_alloc_sweep(sali_potts_of_model(model, &p, &err), sali_potts_free(&p));
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("potts_parameters");
    TCase *tcase = tcase_create("potts_parameters");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, gauges_keep_f_and_have_their_zeros);
    tcase_add_test(tcase, the_setting_gauge_changes_parameters_and_keeps_differences);
    tcase_add_test(tcase, what_is_written_reads_back);
    tcase_add_test(tcase, plmc_is_written_with_the_same_bits);
    tcase_add_test(tcase, what_plmc_cannot_hold_is_refused);
    tcase_add_test(tcase, alphabets_of_ones_own_are_kept);
    tcase_add_test(tcase, letters_are_kept);
    tcase_add_test(tcase, any_potts_model_has_parameters);
    tcase_add_test(tcase, squares_are_fields);
    tcase_add_test(tcase, numbers_that_overflow_in_a_gauge_are_refused);
    tcase_add_test(tcase, other_models_have_none);
    tcase_add_test(tcase, memory_that_runs_out_is_told);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
