/* SPDX-License-Identifier: MIT */
/* Files of Potts models in which every number tells its sites and letters, and f of these numbers
 * written out. Files are in temp_dir. */
#ifndef TEST_POTTS_FILES_H
#define TEST_POTTS_FILES_H

#include <math.h>

#include <saltus/saltus.h>

#include "temp_dir.h"

#define LETTERS "-ACDEFGHIKLMNPQRSTVWY"

/* A number for each field and coupling, by the sites and the letters. */
static inline double field(int64_t i, char a)
{
    return sin(3.0 * (double)i + 0.7 * a);
}

static inline double coupling(int64_t i, int64_t j, char a, char b)
{
    return cos(1.3 * (double)i + 2.9 * (double)j + 0.2 * a * b + 0.31 * a);
}

/* f of these numbers at codes of the alphabet `letters`. */
static inline double written_out(const char *letters, int64_t sites, const int32_t *codes)
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

static inline sal_model *opened(const char *specification)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static inline double value(const sal_model *model, const int32_t *codes)
{
    double f = NAN;
    sal_error err = { 0 };
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* State number k of some that differ in all sites. */
static inline void fill_state(int k, int64_t sites, int64_t states, int32_t *codes)
{
    for (int64_t i = 0; i < sites; i++) {
        codes[i] = (int32_t)((k * (2 * i + 3) + i * i) % states);
    }
}

/* That f of the model is that of the numbers above, plus a constant. */
static inline void compare(const sal_model *model, const char *letters, int64_t sites)
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

/* ---- files */

/* Write the numbers of an alphabet, in its order or backwards; states as numbers if `as_numbers`.
 */
static inline void write_adabmdca(const char *name, const char *letters, int64_t sites,
                                  bool as_numbers)
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

static inline void put_numbers(FILE *file, bool wide, int64_t n, const double *numbers)
{
    for (int64_t k = 0; k < n; k++) {
        const double x = numbers ? numbers[k] : 0.25;
        const float single = (float)x;
        fwrite(wide ? (const void *)&x : &single, wide ? sizeof x : sizeof single, 1, file);
    }
}

/* plmc has the gap as '.', too. */
static inline char gap_as_minus(char letter)
{
    return letter == '.' ? '-' : letter;
}

/* The numbers of these letters, as plmc writes them. */
static inline void write_plmc(const char *name, const char *letters, int64_t sites, bool wide)
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

#endif
