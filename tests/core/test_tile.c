/* SPDX-License-Identifier: MIT */
/* Tiles against sums written out, for every instruction set of the machine. */
#include "test.h"

#include <stdbool.h>

#include "core/alloc.h"
#include "core/vector/tile.h"

#define N_STEPS 3
#define MOST_ROWS 30
#define MOST_DEPTH 32
#define MOST_COLUMNS 32

/* Numbers that are exact in float, and whose sums are too: kernels must agree to the last bit. */
static double number(int64_t k)
{
    return (double)((k * 37 + k / 7) % 11 - 5);
}

typedef struct arrays {
    int64_t size;
    void *a, *b, *init, *c;
} arrays;

static double get(bool wide, const void *values, int64_t k)
{
    return wide ? ((const double *)values)[k] : (double)((const float *)values)[k];
}

static void *fill(bool wide, int64_t n, int64_t first)
{
    void *to = sali_alloc(n, wide ? sizeof(double) : sizeof(float));
    for (int64_t k = 0; k < n; k++) {
        if (wide) {
            ((double *)to)[k] = number(first + k);
        } else {
            ((float *)to)[k] = (float)number(first + k);
        }
    }
    return to;
}

static arrays make_arrays(bool wide)
{
    int64_t n = 8 * MOST_ROWS * (MOST_DEPTH + MOST_COLUMNS);
    return (arrays){ .a = fill(wide, n, 1),
                     .b = fill(wide, n, 200),
                     .init = fill(wide, n, 3000),
                     .c = fill(wide, n, 40000) };
}

static void free_arrays(arrays *m)
{
    sali_free(m->a);
    sali_free(m->b);
    sali_free(m->init);
    sali_free(m->c);
}

static const sali_tile_step steps[N_STEPS] = { { 2, 0 }, { 0, 1 }, { 1, 2 } };

/* Element (r, j) of the sum; B_s is transposed for dots. */
static double expected(bool wide, const sali_tile *t, int64_t r, int64_t j, bool dots)
{
    double sum = 0;
    for (int64_t s = 0; s < t->n_steps; s++) {
        for (int64_t k = 0; k < t->depth; k++) {
            int64_t b =
                t->steps[s].b * t->b_step + (dots ? j * t->b_depth + k : k * t->b_depth + j);
            sum += get(wide, t->a, t->steps[s].a * t->a_step + r * t->a_row + k * t->a_depth) *
                   get(wide, t->b, b);
        }
    }
    return sum;
}

static void check_product(bool wide, const sali_tile_kernel *kernel, int64_t rows, int64_t width,
                          int64_t depth, bool transposed)
{
    arrays m = make_arrays(wide);
    sali_tile t = { .n_steps = N_STEPS,
                    .steps = steps,
                    .depth = depth,
                    .a = m.a,
                    .b = m.b,
                    .init = m.init,
                    .c = m.c,
                    .a_step = rows * depth,
                    .a_row = transposed ? 1 : depth,
                    .a_depth = transposed ? rows : 1,
                    .b_step = depth * (width + 1),
                    .b_depth = width + 1,
                    .init_row = rows % 2 ? 0 : width,
                    .c_row = width + 3 };
    kernel->product(&t, rows, width);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t j = 0; j < width + 3; j++) {
            double got = get(wide, m.c, r * t.c_row + j);
            double want =
                j < width ? get(wide, m.init, r * t.init_row + j) + expected(wide, &t, r, j, false)
                          : number(40000 + r * t.c_row + j);
            ck_assert_msg(got == want, "f%d, %lld x %lld: (%lld, %lld) is %g, not %g",
                          wide ? 64 : 32, (long long)rows, (long long)width, (long long)r,
                          (long long)j, got, want);
        }
    }
    free_arrays(&m);
}

static void check_dots(bool wide, const sali_tile_kernel *kernel, int64_t rows, int64_t columns,
                       int64_t depth)
{
    arrays m = make_arrays(wide);
    sali_tile t = { .n_steps = N_STEPS,
                    .steps = steps,
                    .depth = depth,
                    .a = m.a,
                    .b = m.b,
                    .c = m.c,
                    .a_step = rows * (depth + 1),
                    .a_row = depth + 1,
                    .a_depth = 1,
                    .b_step = columns * depth,
                    .b_depth = depth,
                    .c_row = columns };
    kernel->dots(&t, rows, columns);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t j = 0; j < columns; j++) {
            double got = get(wide, m.c, r * columns + j);
            double want = number(40000 + r * columns + j) + expected(wide, &t, r, j, true);
            ck_assert_msg(got == want, "f%d, %lld rows, depth %lld: dot (%lld, %lld) is %g, not %g",
                          wide ? 64 : 32, (long long)rows, (long long)depth, (long long)r,
                          (long long)j, got, want);
        }
    }
    free_arrays(&m);
}

/* _i: instruction set, then type. */
START_TEST(tiles_match_sums_written_out)
{
    bool wide = _i % 2;
    const sali_tile_kernel *kernel =
        &(wide ? sali_tile_kernels_f64 : sali_tile_kernels_f32)[_i / 2];
    if (_i / 2 > (int)sali_isa_best()) {
        fprintf(stderr, "SKIPPED: this machine lacks instruction set %d\n", _i / 2);
        return;
    }
    for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
        for (int64_t width = 1; width <= SALI_TILE_VECTORS * kernel->lanes; width++) {
            check_product(wide, kernel, rows, width, 1, false);
            check_product(wide, kernel, rows, width, 5, false);
            check_product(wide, kernel, rows, width, 5, true);
        }
        for (int64_t depth = 1; depth <= MOST_DEPTH; depth++) {
            check_dots(wide, kernel, rows, 1, depth);
            check_dots(wide, kernel, rows, 3, depth);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile");
    TCase *kernels = tcase_create("kernels");
    tcase_add_loop_test(kernels, tiles_match_sums_written_out, 0, 2 * SALI_ISA_COUNT);
    suite_add_tcase(suite, kernels);
    return test_main(suite);
}
