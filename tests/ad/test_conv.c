/* SPDX-License-Identifier: MIT */
/* Convolution and pooling against sums written out, over many shapes; and the pixel-major layout
 * against the usual one. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "core/alloc.h"
#include "gradient_fixture.h"

typedef struct image_case {
    int64_t C, H, W, O, h, w, stride, padding;
} image_case;

static const image_case cases[] = {
    { 1, 7, 5, 3, 3, 3, 1, 1 },    { 3, 5, 7, 4, 3, 3, 1, 0 },   { 2, 9, 9, 16, 4, 4, 2, 1 },
    { 16, 6, 5, 17, 3, 2, 1, 1 },  { 17, 4, 4, 33, 1, 1, 1, 0 }, { 5, 8, 7, 32, 4, 4, 2, 1 },
    { 1, 10, 10, 16, 3, 3, 3, 2 }, { 2, 6, 6, 48, 2, 2, 3, 0 },  { 33, 3, 3, 2, 3, 3, 1, 2 },
    { 4, 1, 1, 5, 1, 1, 1, 0 },    { 4, 2, 2, 40, 2, 2, 1, 0 },  { 1, 4, 9, 1, 1, 4, 2, 0 },
    { 3, 5, 5, 8, 1, 1, 2, 1 },    { 2, 3, 3, 6, 4, 4, 1, 2 },   { 40, 4, 3, 16, 3, 3, 2, 1 },
};
#define CASES ((int)(sizeof cases / sizeof *cases))

/* ---- sums written out */

static double coefficient(int64_t k)
{
    return op_number(90000 + k, 0.5, 2);
}

/* f = sum_k coefficient(k) y_k for the convolution y, and its derivatives, chain by chain;
 * parameters: W, then b. Returns the size of a value's terms, which may cancel: the largest root of
 * the sum of their squares. */
static double write_out(const image_case *s, int64_t chains, const fixture *in, fixture *out)
{
    int64_t height = (s->H + 2 * s->padding - s->h) / s->stride + 1;
    int64_t width = (s->W + 2 * s->padding - s->w) / s->stride + 1;
    const double *W = in->flat, *b = W + s->O * s->C * s->h * s->w;
    double *dW = out->parameters, *db = dW + (b - W), squares[MOST_CHAINS] = { 0 }, size = 1;
    for (int64_t k = 0; k < chains * s->O * height * width; k++) {
        int64_t q = k % width, r = k / width % height, o = k / (width * height) % s->O;
        int64_t chain = k / (width * height * s->O);
        double c = coefficient(k % (s->O * height * width)), y = b[o];
        for (int64_t e = 0; e < s->C * s->h * s->w; e++) {
            int64_t j = e % s->w, i = e / s->w % s->h, channel = e / (s->w * s->h);
            int64_t row = r * s->stride - s->padding + i, column = q * s->stride - s->padding + j;
            if (row < 0 || row >= s->H || column < 0 || column >= s->W) {
                continue;
            }
            int64_t at = ((chain * s->C + channel) * s->H + row) * s->W + column;
            int64_t w = o * s->C * s->h * s->w + e;
            y += W[w] * in->x[at];
            dW[w] += c * in->x[at];
            out->gradient[at] += c * W[w];
        }
        db[o] += c;
        out->f[chain] += c * y;
        squares[chain] += c * y * c * y;
        size = fmax(size, sqrt(squares[chain]));
    }
    return size;
}

static fixture *record_case(const image_case *s, sal_dtype dtype)
{
    sal_tape *tape = tape_over(s->C * s->H * s->W, dtype);
    sal_expr W = sal_param(tape, "W", SAL_SHAPE(s->O, s->C, s->h, s->w));
    sal_expr b = sal_param(tape, "b", SAL_SHAPE(s->O));
    sal_expr x = sal_reshape(sal_state(tape), SAL_SHAPE(s->C, s->H, s->W));
    sal_expr y = sal_conv2d(x, W, b, s->stride, s->padding);
    sal_shape shape = sal_expr_shape(y);
    ck_assert_int_eq(shape.rank, 3);
    int64_t n = sali_shape_size(&shape);
    double *c = calloc((size_t)n, sizeof *c);
    for (int64_t k = 0; k < n; k++) {
        c[k] = coefficient(k);
    }
    sal_expr f = sal_sum(sal_mul(sal_constant(tape, c, shape), y));
    fixture *made = fixture_create(tape, f, true);
    free(c);
    sal_tape_destroy(tape);
    return made;
}

START_TEST(convolution_matches_the_sums_written_out)
{
    static const int64_t batches[] = { 1, 3, MOST_CHAINS };
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 2e-6 : 1e-13;
        for (int k = 0; k < 3; k++) {
            fixture *f = record_case(&cases[_i], (sal_dtype)dtype);
            fixture *want = record_case(&cases[_i], (sal_dtype)dtype);
            evaluate(f, batches[k]);
            double size = write_out(&cases[_i], batches[k], f, want);
            check_close("value", batches[k], f->f, want->f, tolerance, size);
            check_close("derivative", batches[k] * f->width, f->gradient, want->gradient, tolerance,
                        1);
            check_close("parameter", f->program->parameters_size, f->parameters, want->parameters,
                        tolerance, 1);
            fixture_destroy(f);
            fixture_destroy(want);
        }
    }
}
END_TEST

/* ---- layouts */

/* Windows of 3x3 with every padding, wide enough for Winograd's way. */
static sal_expr record_wide(sal_expr x)
{
    x = sal_silu(layer("a", x, 16, 3, 1, 1));
    x = sal_silu(layer("b", x, 32, 3, 1, 2));
    x = sal_silu(layer("c", x, 48, 3, 1, 0));
    x = sal_silu(layer("d", x, 16, 3, 1, 1));
    return sal_avg_pool2d(x, 8, 1);
}

/* Everything that keeps pixels first, and things that do not: a parameter per channel, a sum. */
static sal_expr record_mixed(int kind, sal_expr x)
{
    sal_tape *tape = x.tape;
    sal_expr y = sal_silu(layer("first", x, 17, 3, 1, 1));
    y = sal_scale(layer("second", y, 16, 4, 2, 1), 0.5);
    sal_expr z = sal_silu(layer("third", y, 16, 3, 1, 1));
    if (kind > 0) {
        z = sal_mul(z, sal_param(tape, "gain", SAL_SHAPE(16, 1, 1)));
    }
    y = sal_tanh(sal_add(y, z));
    if (kind > 1) {
        y = sal_add(y, sal_mul(sal_sum(y), sal_scalar(tape, 0.01)));
    }
    y = sal_add(sal_avg_pool2d(y, 2, 1), sal_max_pool2d(y, 2, 1));
    return sal_softplus(layer("last", y, 5, 2, 2, 0));
}

static fixture *record_net(int kind, sal_dtype dtype, bool layouts, int *pixel_major)
{
    sal_tape *tape = tape_over(2 * 9 * 8, dtype);
    sal_expr x = sal_reshape(sal_state(tape), SAL_SHAPE(2, 9, 8));
    sal_expr y = kind == 3 ? record_wide(x) : record_mixed(kind, x);
    fixture *made = fixture_create(tape, sal_sum(y), layouts);
    *pixel_major = 0;
    for (int32_t i = 0; i < made->program->n_nodes; i++) {
        *pixel_major += made->program->nodes[i].pixel_major;
    }
    sal_tape_destroy(tape);
    return made;
}

START_TEST(layouts_do_not_change_values)
{
    static const int expected[] = { 11, 5, 5, 8 };
    for (int dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-5 : 1e-13;
        for (int64_t chains = 1; chains <= MOST_CHAINS; chains += 8) {
            int used, none;
            fixture *a = record_net(_i, (sal_dtype)dtype, true, &used);
            fixture *b = record_net(_i, (sal_dtype)dtype, false, &none);
            ck_assert_int_eq(used, expected[_i]);
            ck_assert_int_eq(none, 0);
            evaluate(a, chains);
            evaluate(b, chains);
            check_close("value", chains, a->f, b->f, tolerance, 1);
            check_close("derivative", chains * a->width, a->gradient, b->gradient, tolerance, 1);
            check_close("parameter", a->program->parameters_size, a->parameters, b->parameters,
                        tolerance, 1);
            fixture_destroy(a);
            fixture_destroy(b);
        }
    }
}
END_TEST

/* ---- memory */

/* All that holds buffers of a convolution. */
static sal_status make_and_destroy(const sal_tape *tape, sal_expr f)
{
    sali_program *program = NULL;
    sali_params *params = NULL;
    sali_workspace *ws = NULL;
    sal_error err = { 0 };
    sal_status status = sali_program_create(tape, f, &program, &err);
    if (status == SAL_OK) {
        status = sali_params_create(program, &params, &err);
    }
    if (status == SAL_OK) {
        status = sali_workspace_create(program, params, 3, SALI_WANT_STATE_GRADIENT, &ws, &err);
    }
    sali_workspace_destroy(ws);
    sali_params_destroy(params);
    sali_program_destroy(program);
    return status;
}

START_TEST(every_failing_allocation_is_reported)
{
    sal_tape *tape = tape_over(2 * 9 * 8, SAL_F32);
    sal_expr x = sal_reshape(sal_state(tape), SAL_SHAPE(2, 9, 8));
    sal_expr f = sal_sum(layer("only", x, 3, 3, 1, 1));
    ck_alloc_sweep(make_and_destroy(tape, f), );
    sal_tape_destroy(tape);
}
END_TEST

/* ---- silu */

START_TEST(silu_of_infinities_is_its_limit)
{
    const sali_op *op = sali_op_f64(SALI_OP_silu);
    const double x[4] = { -(double)INFINITY, (double)INFINITY, -1000, 1000 };
    double y[4], slope[4], adjoint[4] = { 1, 1, 1, 1 }, to[4] = { 0 };
    sal_shape shape = SAL_SHAPE(4);
    sali_arg in = { .value = x, .adjoint = to, .stride = 4, .size = 4, .shape = &shape };
    sali_call call = { .chains = 1,
                       .in = &in,
                       .out = { .value = y, .adjoint = adjoint, .size = 4, .shape = &shape },
                       .saved = slope };
    op->forward(&call);
    op->backward(&call);
    ck_assert_double_eq(y[0], 0);
    ck_assert(isinf(y[1]) && y[1] > 0);
    ck_assert_double_eq(y[2], 0);
    ck_assert_double_eq(y[3], 1000);
    const double slopes[4] = { 0, 1, 0, 1 };
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq_tol(to[k], slopes[k], 1e-12);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv");
    TCase *images = tcase_create("images");
    tcase_add_loop_test(images, convolution_matches_the_sums_written_out, 0, CASES);
    tcase_add_loop_test(images, layouts_do_not_change_values, 0, 4);
    tcase_add_test(images, every_failing_allocation_is_reported);
    tcase_add_test(images, silu_of_infinities_is_its_limit);
    suite_add_tcase(suite, images);
    return test_main(suite);
}
