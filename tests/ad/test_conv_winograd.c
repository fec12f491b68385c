/* SPDX-License-Identifier: MIT */
/* Winograd's way of a convolution against the sums over taps, over shapes for which it is taken and
 * others like them. */
#include "gradient_fixture.h"

#include <string.h>

#include "core/vector/tile.h"

/* The convolution reads an image of C channels; `taken` if channels are whole vectors. */
typedef struct window_case {
    int64_t C, H, W, O, side, stride, padding;
    bool taken;
} window_case;

static const window_case cases[] = {
    /* windows of 3x3: whole tiles, cut ones, oblong, every padding */
    { 16, 8, 8, 32, 3, 1, 1, true },
    { 32, 7, 9, 16, 3, 1, 0, true },
    { 16, 6, 5, 16, 3, 1, 2, true },
    { 16, 5, 6, 48, 3, 1, 3, true },
    { 16, 2, 2, 16, 3, 1, 2, true },
    { 16, 3, 4, 16, 3, 1, 1, true },
    { 64, 8, 3, 64, 3, 1, 1, true },
    { 16, 5, 5, 16, 3, 1, 1, false }, /* four tiles for 25 pixels */
    /* of 2x2 */
    { 16, 9, 7, 32, 2, 1, 1, true },
    { 48, 5, 9, 16, 2, 1, 0, true },
    { 16, 5, 1, 16, 2, 1, 2, true },
    /* of 4x4 and 6x6 by two phases along an axis */
    { 16, 16, 8, 16, 4, 2, 1, true },
    { 16, 17, 18, 32, 4, 2, 0, true },
    { 32, 11, 13, 16, 4, 2, 3, true },
    { 64, 8, 8, 64, 4, 2, 1, true }, /* more points than the nearest caches hold */
    { 16, 14, 13, 16, 6, 2, 2, true },
    { 16, 4, 4, 32, 4, 2, 1, false }, /* a tile for four pixels */
    /* what it is not made for */
    { 16, 12, 12, 16, 3, 2, 1, false },
    { 16, 12, 12, 16, 6, 3, 1, false },
    { 16, 12, 12, 16, 4, 1, 1, false },
    { 16, 8, 8, 16, 1, 1, 0, false },
    { 17, 8, 8, 16, 3, 1, 1, false },
    { 16, 8, 8, 3, 3, 1, 1, false },
};
#define CASES ((int)(sizeof cases / sizeof *cases))

/* Between convolutions of single pixels, so that every element has an input and an adjoint of its
 * own, and all layouts may be pixel-major. */
static fixture *record(const window_case *c, sal_dtype dtype, bool layouts)
{
    sal_tape *tape = tape_over(2 * c->H * c->W, dtype);
    sal_expr x = sal_reshape(sal_state(tape), SAL_SHAPE(2, c->H, c->W));
    x = layer("in", x, c->C, 1, 1, 0);
    x = sal_silu(layer("window", x, c->O, c->side, c->stride, c->padding));
    x = sal_silu(layer("out", x, 2, 1, 1, 0));
    fixture *made = fixture_create(tape, sal_sum(x), layouts);
    sal_tape_destroy(tape);
    return made;
}

/* Whether the program keeps transformed weights for its second convolution. */
static bool has_points(const fixture *f, const window_case *c)
{
    const sali_node *found = NULL;
    for (int32_t i = 0; i < f->program->n_nodes; i++) {
        const sali_node *node = &f->program->nodes[i];
        bool conv = f->program->steps[i].op == sali_op_of(f->program->dtype, SALI_OP_conv2d);
        found = conv && node->ints[1] == c->padding && node->shape.dim[0] == c->O ? node : found;
    }
    ck_assert_ptr_nonnull(found);
    const sali_node *in[3];
    for (int k = 0; k < 3; k++) {
        in[k] = &f->program->nodes[found->in[k]];
    }
    int64_t lanes = f->program->dtype == SAL_F32 ? sali_tile_f32()->lanes : sali_tile_f64()->lanes;
    int64_t C = (c->C + lanes - 1) / lanes * lanes, O = (c->O + lanes - 1) / lanes * lanes;
    int64_t most = 2 * C * O * c->side * c->side + O;
    return sali_op_of(f->program->dtype, SALI_OP_conv2d)->prepared_size(found, in) > most;
}

START_TEST(winograds_way_is_that_of_the_taps)
{
    static const int64_t batches[] = { 1, 7, MOST_CHAINS };
    const window_case *c = &cases[_i];
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-5 : 1e-13;
        fixture *a = record(c, (sal_dtype)dtype, true), *b = record(c, (sal_dtype)dtype, false);
        ck_assert_int_eq(has_points(a, c), c->taken);
        for (int k = 0; k < 3; k++) {
            evaluate(a, batches[k]);
            evaluate(b, batches[k]);
            check_close("value", batches[k], a->f, b->f, tolerance, 1);
            check_close("derivative", batches[k] * a->width, a->gradient, b->gradient, tolerance,
                        1);
            check_close("parameter", a->program->parameters_size, a->parameters, b->parameters,
                        tolerance, 1);
        }
        fixture_destroy(a);
        fixture_destroy(b);
    }
}
END_TEST

START_TEST(a_chain_has_the_same_bits_alone)
{
    const window_case *c = &cases[_i];
    fixture *f = record(c, SAL_F32, true);
    evaluate(f, MOST_CHAINS);
    for (int64_t chain = 0; chain < MOST_CHAINS; chain += 8) {
        size_t bytes = (size_t)f->width * sizeof(double);
        double value = f->f[chain], *gradient = malloc(bytes);
        memcpy(gradient, f->gradient + chain * f->width, bytes);
        fixture *alone = record(c, SAL_F32, true);
        memcpy(alone->x, f->x + chain * f->width, bytes);
        evaluate(alone, 1);
        ck_assert_double_eq(alone->f[0], value);
        ck_assert_int_eq(memcmp(alone->gradient, gradient, bytes), 0);
        fixture_destroy(alone);
        free(gradient);
    }
    fixture_destroy(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv_winograd");
    TCase *windows = tcase_create("windows");
    tcase_add_loop_test(windows, winograds_way_is_that_of_the_taps, 0, CASES);
    tcase_add_loop_test(windows, a_chain_has_the_same_bits_alone, 0, CASES);
    suite_add_tcase(suite, windows);
    return test_main(suite);
}
