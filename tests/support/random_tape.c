/* SPDX-License-Identifier: MIT */
#include "random_tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

#define MAX_POOL 64
#define MAX_ABS 3.0 /* results are scaled down to it */
#define MAX_SIZE 64 /* larger shapes are leaves: a constant's values are on the stack */

/* An expression with an interval that holds all its elements. */
typedef struct term {
    sal_expr e;
    double low, high;
} term;

typedef struct generator {
    sal_tape *tape;
    const uint8_t *choices; /* what the next choices are made by; after these, */
    size_t n_choices;
    sali_stream stream; /* random words */
    uint32_t drawn;
    random_style style;
    double state_low, state_high;
    term pool[MAX_POOL]; /* what may be used again */
    int n_pool;
    int n_params;
} generator;

/* ---- choices */

static int64_t below(generator *g, int64_t n)
{
    if (g->n_choices > 0) {
        g->n_choices--;
        return *g->choices++ % n;
    }
    return sali_rng_below(&g->stream, g->drawn++, (uint32_t)n);
}

static bool chance(generator *g, int percent)
{
    return below(g, 100) < percent;
}

static double number(generator *g, double low, double high)
{
    return low + (high - low) * (double)below(g, 1 << 20) / (1 << 20);
}

void random_numbers(uint64_t seed, uint32_t k, int64_t n, double low, double high, double *out)
{
    sali_stream stream = { .seed = seed, .chain = k, .step = 1, .purpose = SALI_RNG_TEST };
    sali_rng_uniform_f64(&stream, n, out);
    for (int64_t i = 0; i < n; i++) {
        out[i] = low + (high - low) * out[i];
    }
}

static sal_space *random_space(generator *g)
{
    static const double levels[] = { -1.5, 0.25, 1, 2.5 };
    static const char *const names[] = { "a", "b", "c" };
    sal_space *space = sal_space_create();
    int64_t n = 1 + below(g, 3);
    g->state_low = 0;
    g->state_high = 1;
    for (int64_t b = 0; b < n; b++) {
        sal_block block = { .name = names[b], .kind = SAL_BINARY, .count = 1 + below(g, 3) };
        switch (below(g, 6)) {
        case 1:
            block.kind = SAL_SPIN;
            g->state_low = fmin(g->state_low, -1);
            break;
        case 2:
            block.kind = SAL_ORDINAL;
            block.levels = levels;
            block.states = g->style == RANDOM_QUADRATIC ? 2 : 2 + below(g, 3);
            g->state_low = levels[0];
            g->state_high = fmax(g->state_high, 2.5);
            break;
        case 3:
            block.kind = SAL_CATEGORICAL;
            block.states = 1 + below(g, 3);
            break;
        case 4:
            block.kind = SAL_COUNT;
            block.cap = g->style == RANDOM_QUADRATIC ? 1 : 1 + below(g, 3);
            g->state_high = fmax(g->state_high, (double)block.cap);
            break;
        default:
            break;
        }
        sal_space_add(space, &block, NULL);
    }
    return space;
}

static sal_shape random_shape(generator *g)
{
    sal_shape shape = { .rank = (int32_t)below(g, 4) };
    shape.rank = shape.rank == 3 && !chance(g, 30) ? 1 : shape.rank;
    for (int32_t i = 0; i < shape.rank; i++) {
        shape.dim[i] = 1 + below(g, shape.rank == 1 ? 7 : 4);
    }
    return shape;
}

/* ---- recording */

static term record(generator *g, sali_op_id op, int32_t n_in, const term *in, int64_t n_ints,
                   const int64_t *ints, int64_t n_reals, const double *reals, double low,
                   double high)
{
    sal_expr inputs[4];
    for (int32_t k = 0; k < n_in; k++) {
        inputs[k] = in[k].e;
    }
    sal_expr e = sali_record(g->tape, &(sali_node_spec){ .op = op,
                                                         .n_in = n_in,
                                                         .in = inputs,
                                                         .n_ints = n_ints,
                                                         .ints = ints,
                                                         .n_reals = n_reals,
                                                         .reals = reals,
                                                         .file = __FILE__,
                                                         .line = __LINE__ });
    return (term){ e, low, high };
}

static term scaled(generator *g, term a, double factor)
{
    double x = a.low * factor, y = a.high * factor;
    return record(g, SALI_OP_scale, 1, &a, 0, NULL, 1, &factor, fmin(x, y), fmax(x, y));
}

static term shifted(generator *g, term a, double by)
{
    term constant = { sal_scalar(g->tape, by), by, by };
    return record(g, SALI_OP_add, 2, (term[]){ a, constant }, 0, NULL, 0, NULL, a.low + by,
                  a.high + by);
}

/* Bring a term into the range in which an op is tested, by an affine map. */
static term fitted(generator *g, term a, sali_op_id id)
{
    const sali_op *op = sali_op_f64(id);
    double width = a.high - a.low, room = op->test_high - op->test_low;
    if (a.low >= op->test_low && a.high <= op->test_high) {
        return a;
    }
    if (width > room) {
        a = scaled(g, a, 0.999 * room / width);
    }
    return a.low < op->test_low || a.high > op->test_high
               ? shifted(g, a, (op->test_low + op->test_high - a.low - a.high) / 2)
               : a;
}

static term kept_small(generator *g, term a)
{
    double most = fmax(fabs(a.low), fabs(a.high));
    return most > MAX_ABS ? scaled(g, a, MAX_ABS / most) : a;
}

static term random_param(generator *g, sal_shape shape)
{
    char name[32];
    snprintf(name, sizeof name, "p%d", g->n_params++);
    return (term){ sal_param(g->tape, name, shape), -1, 1 };
}

static term random_constant(generator *g, sal_shape shape)
{
    double values[512];
    for (int64_t k = 0; k < sali_shape_size(&shape); k++) {
        values[k] = number(g, -1, 1);
    }
    return (term){ sal_constant(g->tape, values, shape), -1, 1 };
}

/* One entry in 16 is not zero, for the ops and the pass that run over these only. */
static term sparse_constant(generator *g, sal_shape shape)
{
    double values[512] = { 0 };
    for (int64_t k = sali_shape_size(&shape) / 16; k > 0; k--) {
        values[below(g, sali_shape_size(&shape))] = number(g, -1, 1);
    }
    return (term){ sal_constant(g->tape, values, shape), -1, 1 };
}

static term reshaped(generator *g, term a, sal_shape shape)
{
    return record(g, SALI_OP_reshape, 1, &a, shape.rank, shape.dim, 0, NULL, a.low, a.high);
}

/* Coordinates of the state in a shape; distinct ones if there are enough. */
static term coordinates(generator *g, sal_shape shape)
{
    term s = { sal_state(g->tape), g->state_low, g->state_high };
    int64_t n = sali_shape_size(&shape), width = g->tape->space->width, ints[513] = { 0 };
    if (n <= width) {
        ints[1] = below(g, width - n + 1);
        ints[2] = n;
        s = record(g, SALI_OP_slice, 1, &s, 3, ints, 0, NULL, s.low, s.high);
    } else {
        for (int64_t k = 0; k < n; k++) {
            ints[1 + k] = below(g, width);
        }
        s = record(g, SALI_OP_gather, 1, &s, n + 1, ints, 0, NULL, s.low, s.high);
    }
    return shape.rank == 1 ? s : reshaped(g, s, shape);
}

static term leaf(generator *g, sal_shape shape)
{
    int64_t kind = below(g, 10);
    return kind < 6   ? coordinates(g, shape)
           : kind < 8 ? random_param(g, shape)
                      : random_constant(g, shape);
}

/* An earlier term of this shape, if there is one. */
static bool find_again(generator *g, sal_shape shape, term *out)
{
    int found = 0;
    for (int k = 0; k < g->n_pool; k++) {
        sal_shape other = sal_expr_shape(g->pool[k].e);
        if (sali_shape_equal(&shape, &other) && below(g, ++found) == 0) {
            *out = g->pool[k];
        }
    }
    return found > 0;
}

/* ---- productions */

static term grow(generator *g, sal_shape shape, int depth);

static bool has_kink(sali_op_id op)
{
    return op == SALI_OP_abs || op == SALI_OP_relu || op == SALI_OP_elu || op == SALI_OP_clamp ||
           op == SALI_OP_max || op == SALI_OP_minimum || op == SALI_OP_maximum ||
           op == SALI_OP_where;
}

/* The values of an elementwise op of one operand on an interval, by trying. */
static term unary_of(generator *g, sali_op_id id, term a, int64_t n_reals, const double *reals)
{
    enum { POINTS = 65 };
    double x[POINTS], y[POINTS], saved[2 * POINTS], low = INFINITY, high = -INFINITY;
    sal_shape shape = SAL_SHAPE(POINTS);
    sali_node node = { .op = id, .n_reals = n_reals, .reals = (double *)reals };
    sali_arg in = { .value = x, .stride = POINTS, .size = POINTS, .shape = &shape };
    for (int k = 0; k < POINTS; k++) {
        x[k] = a.low + (a.high - a.low) * k / (POINTS - 1);
    }
    sali_op_f64(id)->forward(
        &(sali_call){ .node = &node,
                      .chains = 1,
                      .in = &in,
                      .saved = saved,
                      .out = { .value = y, .stride = POINTS, .size = POINTS, .shape = &shape } });
    for (int k = 0; k < POINTS; k++) {
        low = fmin(low, y[k]);
        high = fmax(high, y[k]);
    }
    double margin = 0.01 * (high - low);
    return record(g, id, 1, &a, 0, NULL, n_reals, reals, low - margin, high + margin);
}

static term unary(generator *g, term a)
{
    sali_op_id id;
    do {
        id = (sali_op_id)below(g, SALI_OP_COUNT);
    } while (sali_op_f64(id)->arity != 1 || sali_op_f64(id)->layout != SALI_LAYOUT_SAME);
    double reals[2] = { 0 };
    int64_t n_reals =
        id == SALI_OP_scale || id == SALI_OP_pow || id == SALI_OP_elu || id == SALI_OP_at_most ? 1
        : id == SALI_OP_clamp                                                                  ? 2
                                                                                               : 0;
    if (g->style != RANDOM_ANY && has_kink(id)) {
        id = SALI_OP_tanh;
        n_reals = 0;
    }
    reals[0] = id == SALI_OP_pow       ? (double)below(g, 9) / 2 - 1
               : id == SALI_OP_clamp   ? -0.5
               : id == SALI_OP_at_most ? 1e9
                                       : number(g, -1.5, 1.5);
    reals[1] = 0.75;
    return unary_of(g, id, fitted(g, a, id), n_reals, reals);
}

/* The shape of an operand that stretches to `shape`. */
static sal_shape stretching(generator *g, sal_shape shape)
{
    if (chance(g, 60) || shape.rank == 0) {
        return shape;
    }
    if (chance(g, 30)) {
        return SAL_SCALAR;
    }
    sal_shape part = shape;
    if (chance(g, 50)) {
        part.rank--;
        memmove(part.dim, part.dim + 1, (size_t)part.rank * sizeof *part.dim);
    } else {
        part.dim[below(g, part.rank)] = 1;
    }
    return part;
}

static double corner(sali_op_id op, double a, double b)
{
    return op == SALI_OP_add   ? a + b
           : op == SALI_OP_sub ? a - b
           : op == SALI_OP_mul ? a * b
                               : a / b;
}

static term binary_of(generator *g, sali_op_id op, term a, term b)
{
    double low = fmin(a.low, b.low), high = fmax(a.high, b.high);
    if (op != SALI_OP_minimum && op != SALI_OP_maximum) {
        double ll = corner(op, a.low, b.low), lh = corner(op, a.low, b.high);
        double hl = corner(op, a.high, b.low), hh = corner(op, a.high, b.high);
        low = fmin(fmin(ll, lh), fmin(hl, hh));
        high = fmax(fmax(ll, lh), fmax(hl, hh));
    }
    return record(g, op, 2, (term[]){ a, b }, 0, NULL, 0, NULL, low, high);
}

static term binary(generator *g, sal_shape shape, int depth)
{
    static const sali_op_id ops[] = { SALI_OP_add, SALI_OP_sub,     SALI_OP_mul,
                                      SALI_OP_div, SALI_OP_minimum, SALI_OP_maximum };
    sali_op_id op = ops[below(g, g->style == RANDOM_ANY ? 6 : 4)];
    term a = fitted(g, grow(g, shape, depth), op);
    term b = fitted(g, grow(g, stretching(g, shape), depth), op);
    return chance(g, 50) ? binary_of(g, op, a, b) : binary_of(g, op, b, a);
}

/* The same thing twice, for the pass that finds it. */
static term twice(generator *g, sal_shape shape, int depth)
{
    term a = grow(g, shape, depth), b = grow(g, shape, depth);
    term first = binary_of(g, SALI_OP_mul, a, b), second = binary_of(g, SALI_OP_mul, b, a);
    return binary_of(g, SALI_OP_add, kept_small(g, first), kept_small(g, second));
}

/* What the canonical extension rewrites: powers of coordinates. */
static term power(generator *g, sal_shape shape)
{
    term x = coordinates(g, shape);
    if (chance(g, 40)) {
        return unary_of(g, SALI_OP_square, x, 0, NULL);
    }
    if (chance(g, 50)) {
        return unary_of(g, SALI_OP_pow, x, 1, (double[]){ 2 + (double)below(g, 2) });
    }
    double most = fmax(x.low * x.low, x.high * x.high);
    return record(g, SALI_OP_mul, 2, (term[]){ x, x }, 0, NULL, 0, NULL, -most, most);
}

static term choice(generator *g, sal_shape shape, int depth)
{
    term cond = chance(g, 50) ? coordinates(g, shape) : random_constant(g, shape);
    term a = grow(g, shape, depth), b = grow(g, stretching(g, shape), depth);
    return record(g, SALI_OP_where, 3, (term[]){ cond, a, b }, 0, NULL, 0, NULL, fmin(a.low, b.low),
                  fmax(a.high, b.high));
}

static term reduction_of(generator *g, sali_op_id op, term a, int64_t axis, int64_t n)
{
    a = fitted(g, a, op);
    double size = (double)n;
    double low = op == SALI_OP_sum ? size * a.low : a.low;
    double high = op == SALI_OP_sum         ? size * a.high
                  : op == SALI_OP_logsumexp ? a.high + log(size)
                                            : a.high;
    return record(g, op, 1, &a, 1, &axis, 0, NULL, low, high);
}

/* Softmax and sums up to each element, along an axis or over all. */
static term along(generator *g, sal_shape shape, int depth)
{
    sali_op_id op = chance(g, 50) ? SALI_OP_softmax : SALI_OP_cumsum;
    double n = (double)sali_shape_size(&shape);
    int64_t axis = below(g, shape.rank + 1) - 1;
    term a = fitted(g, grow(g, shape, depth), op);
    return op == SALI_OP_softmax
               ? record(g, op, 1, &a, 1, &axis, 0, NULL, 0, 1)
               : record(g, op, 1, &a, 1, &axis, 0, NULL, n * fmin(a.low, 0), n * fmax(a.high, 0));
}

/* The last axis and the first change places. */
static term transposed(generator *g, sal_shape shape, int depth)
{
    int64_t axes[2] = { shape.rank - 1, 0 };
    sal_shape turned = shape;
    turned.dim[0] = shape.dim[axes[0]];
    turned.dim[axes[0]] = shape.dim[0];
    term a = grow(g, turned, depth);
    return record(g, SALI_OP_transpose, 1, &a, 2, axes, 0, NULL, a.low, a.high);
}

/* With one more axis, which is summed over; or everything, to a scalar. */
static term reduction(generator *g, sal_shape shape, int depth)
{
    static const sali_op_id ops[] = { SALI_OP_sum, SALI_OP_mean, SALI_OP_logsumexp, SALI_OP_max };
    sali_op_id op = ops[below(g, g->style == RANDOM_ANY ? 4 : 3)];
    if (shape.rank == 0 && chance(g, 50)) {
        sal_shape all = random_shape(g);
        return reduction_of(g, op, grow(g, all, depth), -1, sali_shape_size(&all));
    }
    if (shape.rank >= 3) {
        return grow(g, shape, depth);
    }
    int64_t axis = below(g, shape.rank + 1), n = 1 + below(g, 4);
    sal_shape more = shape;
    memmove(more.dim + axis + 1, more.dim + axis, (size_t)(shape.rank - axis) * sizeof *more.dim);
    more.dim[axis] = n;
    more.rank++;
    return reduction_of(g, op, grow(g, more, depth), axis, n);
}

static term product(generator *g, sali_op_id op, term a, term b, int64_t terms)
{
    double most = (double)terms * fmax(fabs(a.low), fabs(a.high)) * fmax(fabs(b.low), fabs(b.high));
    return record(g, op, 2, (term[]){ a, b }, 0, NULL, 0, NULL, -most, most);
}

/* A vector: the state, coordinates, or anything. */
static term some_vector(generator *g, int64_t n, int depth)
{
    return chance(g, 50) ? coordinates(g, SAL_SHAPE(n)) : grow(g, SAL_SHAPE(n), depth);
}

static term quadratic_form(generator *g, term x)
{
    int64_t n = sal_expr_shape(x.e).dim[0];
    term J = chance(g, 70) ? random_param(g, SAL_SHAPE(n, n)) : sparse_constant(g, SAL_SHAPE(n, n));
    term S = record(g, SALI_OP_symmetrise, 1, &J, 0, NULL, 0, NULL, -1, 1);
    double most = (double)(n * n) * fmax(x.low * x.low, x.high * x.high);
    return record(g, SALI_OP_quad, 2, (term[]){ x, S }, 0, NULL, 0, NULL, -most, most);
}

/* A quadratic form by products. */
static term sparse_form(generator *g, term x)
{
    int64_t n = sal_expr_shape(x.e).dim[0];
    term image = product(g, SALI_OP_matvec, sparse_constant(g, SAL_SHAPE(n, n)), x, n);
    return chance(g, 50) ? product(g, SALI_OP_dot, x, image, n)
                         : product(g, SALI_OP_dot, image, x, n);
}

static term edge_list(generator *g, term x)
{
    int64_t n = sal_expr_shape(x.e).dim[0], n_edges = 1 + below(g, 6), pairs[12];
    for (int64_t k = 0; k < 2 * n_edges; k++) {
        pairs[k] = below(g, n);
    }
    term w = random_param(g, SAL_SHAPE(n_edges));
    double most = (double)n_edges * fmax(x.low * x.low, x.high * x.high);
    return record(g, SALI_OP_edges, 2, (term[]){ x, w }, 2 * n_edges, pairs, 0, NULL, -most, most);
}

/* One or two factors over distinct variables of the state; nothing if they cannot be in a scope. */
static bool table(generator *g, term *out)
{
    const sal_space *space = g->tape->space;
    int64_t ints[8] = { 1 + below(g, 2) }, at = 1, size = 0;
    for (int64_t m = 0; m < ints[0]; m++) {
        int64_t length = space->n_variables > 1 ? 1 + below(g, 2) : 1, entries = 1;
        int64_t first = below(g, space->n_variables);
        ints[at++] = length;
        for (int64_t k = 0; k < length; k++) {
            const sali_variable *v = &space->variables[(first + k) % space->n_variables];
            if (v->width == 1 && v->states > 2) {
                return false;
            }
            entries *= v->states;
            ints[at++] = (first + k) % space->n_variables;
        }
        size += entries;
    }
    term in[2] = { { sal_state(g->tape), g->state_low, g->state_high },
                   random_param(g, SAL_SHAPE(size)) };
    *out = record(g, SALI_OP_table, 2, in, at, ints, 0, NULL, -2, 2);
    return true;
}

static term scalar(generator *g, int depth)
{
    int64_t n = 1 + below(g, 6);
    term made;
    switch (below(g, 7)) {
    case 0:
        return quadratic_form(g, some_vector(g, n, depth));
    case 6:
        return sparse_form(g, some_vector(g, n, depth));
    case 1:
        return edge_list(g, some_vector(g, n, depth));
    case 2:
        made = grow(g, SAL_SHAPE(n), depth);
        return product(g, SALI_OP_dot, made, some_vector(g, n, depth), n);
    case 3:
        return table(g, &made) ? made : leaf(g, SAL_SCALAR);
    default:
        return reduction(g, SAL_SCALAR, depth);
    }
}

static term vector(generator *g, int64_t n, int depth)
{
    int64_t m = 1 + below(g, 4), ints[8] = { 0 };
    switch (below(g, 5)) {
    case 0: {
        term A = chance(g, 20)   ? sparse_constant(g, SAL_SHAPE(n, m))
                 : chance(g, 60) ? random_param(g, SAL_SHAPE(n, m))
                                 : grow(g, SAL_SHAPE(n, m), depth);
        return product(g, SALI_OP_matvec, A, grow(g, SAL_SHAPE(m), depth), m);
    }
    case 1: {
        term a = grow(g, SAL_SHAPE(n + 2), depth);
        ints[1] = below(g, 3);
        ints[2] = n;
        return record(g, SALI_OP_slice, 1, &a, 3, ints, 0, NULL, a.low, a.high);
    }
    case 2: {
        term a = grow(g, SAL_SHAPE(m), depth);
        for (int64_t k = 0; k < n && k < 7; k++) {
            ints[1 + k] = below(g, m);
        }
        return n > 7 ? grow(g, SAL_SHAPE(n), depth)
                     : record(g, SALI_OP_gather, 1, &a, n + 1, ints, 0, NULL, a.low, a.high);
    }
    case 3: {
        if (n == 1) {
            return reshaped(g, grow(g, SAL_SCALAR, depth), SAL_SHAPE(1));
        }
        int64_t first = 1 + below(g, n - 1);
        term a = grow(g, SAL_SHAPE(first), depth), b = grow(g, SAL_SHAPE(n - first), depth);
        return record(g, SALI_OP_concat, 2, (term[]){ a, b }, 1, ints, 0, NULL, fmin(a.low, b.low),
                      fmax(a.high, b.high));
    }
    default:
        return reduction(g, SAL_SHAPE(n), depth);
    }
}

static term matrix(generator *g, sal_shape shape, int depth)
{
    int64_t k = 1 + below(g, 3), m = shape.dim[0], n = shape.dim[1];
    if (m == n && chance(g, 30)) {
        term a = grow(g, shape, depth);
        return record(g, SALI_OP_symmetrise, 1, &a, 0, NULL, 0, NULL, a.low, a.high);
    }
    if (chance(g, 40)) {
        return chance(g, 50) ? transposed(g, shape, depth)
                             : reshaped(g, grow(g, SAL_SHAPE(m * n), depth), shape);
    }
    term A = grow(g, SAL_SHAPE(m, k), depth), B = grow(g, SAL_SHAPE(k, n), depth);
    return product(g, SALI_OP_matmul, A, B, k);
}

/* Images [C, H, W]: convolution of the same size, pooling of a picture twice as large, products. */
static term image(generator *g, sal_shape shape, int depth)
{
    int64_t C = 1 + below(g, 2), b = shape.dim[0];
    if (chance(g, 15)) {
        return transposed(g, shape, depth);
    }
    if (chance(g, 20)) {
        term A = grow(g, SAL_SHAPE(b, shape.dim[1], C), depth);
        term B = grow(g, SAL_SHAPE(b, C, shape.dim[2]), depth);
        return product(g, SALI_OP_batched_matmul, A, B, C);
    }
    if (chance(g, 40)) {
        term x = grow(g, SAL_SHAPE(shape.dim[0], 2 * shape.dim[1], 2 * shape.dim[2]), depth);
        sali_op_id pool =
            g->style == RANDOM_ANY && chance(g, 50) ? SALI_OP_max_pool2d : SALI_OP_avg_pool2d;
        return record(g, pool, 1, &x, 2, (int64_t[]){ 2, 2 }, 0, NULL, x.low, x.high);
    }
    term x = grow(g, SAL_SHAPE(C, shape.dim[1], shape.dim[2]), depth);
    term weight = random_param(g, SAL_SHAPE(shape.dim[0], C, 3, 3));
    term bias = random_param(g, SAL_SHAPE(shape.dim[0]));
    double most = 1 + 9 * (double)C * fmax(fabs(x.low), fabs(x.high));
    return record(g, SALI_OP_conv2d, 3, (term[]){ x, weight, bias }, 2, (int64_t[]){ 1, 1 }, 0,
                  NULL, -most, most);
}

static term of_shape(generator *g, sal_shape shape, int depth)
{
    return shape.rank == 0   ? scalar(g, depth)
           : shape.rank == 1 ? vector(g, shape.dim[0], depth)
           : shape.rank == 2 ? matrix(g, shape, depth)
                             : image(g, shape, depth);
}

static term produce(generator *g, sal_shape shape, int depth)
{
    term again;
    int64_t k = below(g, 100);
    if (depth <= 0 || k < 5 || sali_shape_size(&shape) > MAX_SIZE) {
        return k < 20 && find_again(g, shape, &again) ? again : leaf(g, shape);
    }
    return k < 35   ? unary(g, grow(g, shape, depth - 1))
           : k < 55 ? binary(g, shape, depth - 1)
           : k < 60 ? twice(g, shape, depth - 1)
           : k < 65 ? power(g, shape)
           : k < 70 ? (find_again(g, shape, &again) ? again : leaf(g, shape))
           : k < 73 ? along(g, shape, depth - 1)
           : k < 76 && g->style == RANDOM_ANY ? choice(g, shape, depth - 1)
                                              : of_shape(g, shape, depth - 1);
}

static term grow(generator *g, sal_shape shape, int depth)
{
    term made = kept_small(g, produce(g, shape, depth));
    if (g->n_pool < MAX_POOL) {
        g->pool[g->n_pool++] = made;
    }
    return made;
}

/* ---- polynomials of degree two */

static bool has_one_hot(const sal_space *space)
{
    return space->width != space->n_variables;
}

/* Coordinates that degree rules can follow: the state, or parts of it where there is no one-hot. */
static term traceable(generator *g)
{
    int64_t width = g->tape->space->width;
    return has_one_hot(g->tape->space) || chance(g, 50)
               ? (term){ sal_state(g->tape), g->state_low, g->state_high }
               : coordinates(g, SAL_SHAPE(1 + below(g, width)));
}

static term quadratic_term(generator *g)
{
    int64_t n = 1 + below(g, 6);
    term weight = chance(g, 50) ? random_param(g, SAL_SHAPE(n)) : random_constant(g, SAL_SHAPE(n));
    switch (below(g, 4)) {
    case 0:
        return quadratic_form(g, traceable(g));
    case 1:
        return edge_list(g, traceable(g));
    case 2:
        return product(g, SALI_OP_dot, power(g, SAL_SHAPE(n)), weight, n);
    default:
        return product(g, SALI_OP_dot, weight, coordinates(g, SAL_SHAPE(n)), n);
    }
}

static term quadratic(generator *g)
{
    term sum = quadratic_term(g);
    for (int64_t k = below(g, 4); k > 0; k--) {
        sum = binary_of(g, SALI_OP_add, scaled(g, sum, number(g, -1, 1)), quadratic_term(g));
    }
    return sum;
}

/* ---- the tape */

sal_tape *random_tape(uint64_t seed, random_style style, sal_dtype dtype, sal_expr *f)
{
    return random_tape_by(NULL, 0, seed, style, dtype, f);
}

sal_tape *random_tape_by(const uint8_t *choices, size_t n_choices, uint64_t seed,
                         random_style style, sal_dtype dtype, sal_expr *f)
{
    generator g = { .choices = choices,
                    .n_choices = n_choices,
                    .stream = { .seed = seed, .chain = 0, .purpose = SALI_RNG_TEST },
                    .style = style };
    sal_space *space = random_space(&g);
    g.tape = sal_tape_create(space, dtype);
    sal_space_destroy(space);
    *f = style == RANDOM_QUADRATIC ? quadratic(&g).e : grow(&g, SAL_SCALAR, 5).e;
    if (chance(&g, 30)) {
        grow(&g, random_shape(&g), 2); /* nobody needs it */
    }
    return g.tape;
}

bool random_tape_leaves_out(sali_op_id op)
{
    return op == SALI_OP_masked_logdet || op == SALI_OP_masked_quad_inverse ||
           op == SALI_OP_ridge_logdet || op == SALI_OP_ridge_quad_inverse ||
           op == SALI_OP_max_coverage || op == SALI_OP_expected_coverage || op == SALI_OP_drelu;
}
