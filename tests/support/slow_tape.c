/* SPDX-License-Identifier: MIT */
#include "slow_tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct array {
    sal_shape shape;
    double *at;
} array;

/* Where an op is computed: its node, its operands, and the state. */
typedef struct place {
    const sali_node *node;
    array in[4];
    array out;
    const sal_space *space;
    const int32_t *codes;
} place;

static double largest;

double slow_largest(void)
{
    return largest;
}

static int64_t size_of(const sal_shape *shape)
{
    int64_t size = 1;
    for (int32_t d = 0; d < shape->rank; d++) {
        size *= shape->dim[d];
    }
    return size;
}

/* The indices of element k. */
static void indices_of(const sal_shape *shape, int64_t k, int64_t *index)
{
    for (int32_t d = shape->rank - 1; d >= 0; d--) {
        index[d] = k % shape->dim[d];
        k /= shape->dim[d];
    }
}

static int64_t element_of(const sal_shape *shape, const int64_t *index)
{
    int64_t k = 0;
    for (int32_t d = 0; d < shape->rank; d++) {
        k = k * shape->dim[d] + index[d];
    }
    return k;
}

/* Element k of the output, in an operand that broadcasts: axes are matched from the last. */
static double broadcast(const place *p, int32_t which, int64_t k)
{
    const array *a = &p->in[which];
    int64_t index[SAL_MAX_RANK], own[SAL_MAX_RANK];
    indices_of(&p->out.shape, k, index);
    for (int32_t d = 0; d < a->shape.rank; d++) {
        own[d] = a->shape.dim[d] == 1 ? 0 : index[p->out.shape.rank - a->shape.rank + d];
    }
    return a->at[element_of(&a->shape, own)];
}

/* ---- one number from one to three */

static double unary(const sali_node *node, double a)
{
    const double *r = node->reals;
    switch (node->op) {
    case SALI_OP_scale:
        return r[0] * a;
    case SALI_OP_exp:
        return exp(a);
    case SALI_OP_log:
        return log(a);
    case SALI_OP_softplus:
        return a > 0 ? a + log1p(exp(-a)) : log1p(exp(a));
    case SALI_OP_sigmoid:
        return 1 / (1 + exp(-a));
    case SALI_OP_silu:
        return a / (1 + exp(-a));
    case SALI_OP_gelu:
        return a * (1 + erf(a / sqrt(2))) / 2;
    case SALI_OP_elu:
        return a > 0 ? a : r[0] * expm1(a);
    case SALI_OP_at_most:
        return a <= r[0] ? 0 : -INFINITY;
    case SALI_OP_tanh:
        return tanh(a);
    case SALI_OP_square:
        return a * a;
    case SALI_OP_sqrt:
        return sqrt(a);
    case SALI_OP_log1p:
        return log1p(a);
    case SALI_OP_abs:
        return fabs(a);
    case SALI_OP_relu:
        return a > 0 ? a : 0;
    case SALI_OP_clamp:
        return a < r[0] ? r[0] : a > r[1] ? r[1] : a;
    case SALI_OP_lgamma:
        return lgamma(a);
    case SALI_OP_pow:
        return pow(a, r[0]);
    case SALI_OP_sin:
        return sin(a);
    case SALI_OP_cos:
        return cos(a);
    case SALI_OP_erf:
        return erf(a);
    default:
        abort(); /* no formula for this op */
    }
}

static double binary(sali_op_id op, double a, double b)
{
    switch (op) {
    case SALI_OP_add:
        return a + b;
    case SALI_OP_sub:
        return a - b;
    case SALI_OP_mul:
        return a * b;
    case SALI_OP_div:
        return a / b;
    case SALI_OP_minimum:
        return a < b ? a : b;
    case SALI_OP_maximum:
        return a > b ? a : b;
    default:
        abort(); /* no formula for this op */
    }
}

static void elementwise(const place *p)
{
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        double a = broadcast(p, 0, k);
        p->out.at[k] = p->node->n_in == 1   ? unary(p->node, a)
                       : p->node->n_in == 2 ? binary(p->node->op, a, broadcast(p, 1, k))
                       : a != 0             ? broadcast(p, 1, k)
                                            : broadcast(p, 2, k);
    }
}

/* ---- along an axis, or over everything (axis -1) */

typedef struct line {
    int64_t n, first, step;
} line;

/* The elements that share all indices with element k but the one of the axis. */
static line line_through(const sal_shape *shape, int64_t axis, int64_t k)
{
    int64_t index[SAL_MAX_RANK];
    if (axis < 0) {
        return (line){ size_of(shape), 0, 1 };
    }
    indices_of(shape, k, index);
    index[axis] = 0;
    int64_t step = 1;
    for (int32_t d = (int32_t)axis + 1; d < shape->rank; d++) {
        step *= shape->dim[d];
    }
    return (line){ shape->dim[axis], element_of(shape, index), step };
}

static double reduced(sali_op_id op, const double *at, line l)
{
    double most = -INFINITY, sum = 0, exps = 0;
    for (int64_t i = 0; i < l.n; i++) {
        double x = at[l.first + i * l.step];
        sum += x;
        most = x > most ? x : most;
    }
    for (int64_t i = 0; i < l.n; i++) {
        exps += exp(at[l.first + i * l.step] - most);
    }
    return op == SALI_OP_sum         ? sum
           : op == SALI_OP_mean      ? sum / (double)l.n
           : op == SALI_OP_logsumexp ? most + log(exps)
                                     : most;
}

static void reduction(const place *p)
{
    int64_t axis = p->node->ints[0], index[SAL_MAX_RANK], more[SAL_MAX_RANK];
    const sal_shape *from = &p->in[0].shape;
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        indices_of(&p->out.shape, k, index);
        for (int32_t d = 0; d < from->rank; d++) {
            more[d] = d < axis ? index[d] : d == axis || axis < 0 ? 0 : index[d - 1];
        }
        int64_t element = axis < 0 ? 0 : element_of(from, more);
        p->out.at[k] = reduced(p->node->op, p->in[0].at, line_through(from, axis, element));
    }
}

static void along(const place *p)
{
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        line l = line_through(&p->out.shape, p->node->ints[0], k);
        const double *at = p->in[0].at;
        if (p->node->op == SALI_OP_softmax) {
            p->out.at[k] = exp(at[k] - reduced(SALI_OP_logsumexp, at, l));
        } else {
            l.n = (k - l.first) / l.step + 1;
            p->out.at[k] = reduced(SALI_OP_sum, at, l);
        }
    }
}

/* ---- products */

static void product(const place *p)
{
    const double *A = p->in[0].at, *B = p->in[1].at;
    const sal_shape *a = &p->in[0].shape, *b = &p->in[1].shape;
    int64_t inner = a->dim[a->rank - 1], columns = b->rank > 1 ? b->dim[b->rank - 1] : 1;
    int64_t rows = a->rank > 1 ? a->dim[a->rank - 2] : 1;
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        int64_t column = k % columns, row = k / columns % rows, batch = k / columns / rows;
        p->out.at[k] = 0;
        for (int64_t i = 0; i < inner; i++) {
            p->out.at[k] +=
                A[(batch * rows + row) * inner + i] * B[(batch * inner + i) * columns + column];
        }
    }
}

static void symmetrise(const place *p)
{
    int64_t n = p->out.shape.dim[0];
    const int64_t *group = p->node->n_ints ? p->node->ints : NULL;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            double half = (p->in[0].at[i * n + j] + p->in[0].at[j * n + i]) / 2;
            p->out.at[i * n + j] = group && group[i] == group[j] ? 0 : half;
        }
    }
}

static void quad(const place *p)
{
    int64_t n = p->in[0].shape.dim[0];
    p->out.at[0] = 0;
    for (int64_t k = 0; k < n * n; k++) {
        p->out.at[0] += p->in[1].at[k] * p->in[0].at[k / n] * p->in[0].at[k % n];
    }
}

static void edges(const place *p)
{
    p->out.at[0] = 0;
    for (int64_t e = 0; e < p->node->n_ints / 2; e++) {
        const int64_t *pair = p->node->ints + 2 * e;
        p->out.at[0] += p->in[1].at[e] * p->in[0].at[pair[0]] * p->in[0].at[pair[1]];
    }
}

static void table(const place *p)
{
    const int64_t *ints = p->node->ints;
    const double *T = p->in[1].at;
    int64_t n_factors = *ints++;
    p->out.at[0] = 0;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t length = *ints++, entry = 0, size = 1;
        for (int64_t j = 0; j < length; j++) {
            int64_t v = *ints++, states = p->space->variables[v].states;
            entry = entry * states + p->codes[v];
            size *= states;
        }
        p->out.at[0] += T[entry];
        T += size;
    }
}

/* ---- images [C, H, W] */

static double pixel(const array *a, int64_t c, int64_t row, int64_t column)
{
    const int64_t *dim = a->shape.dim;
    bool inside = row >= 0 && row < dim[1] && column >= 0 && column < dim[2];
    return inside ? a->at[(c * dim[1] + row) * dim[2] + column] : 0;
}

static void convolution(const place *p)
{
    const array *x = &p->in[0], *weight = &p->in[1], *bias = &p->in[2];
    int64_t stride = p->node->ints[0], padding = p->node->ints[1], y[3], tap[4];
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        indices_of(&p->out.shape, k, y);
        p->out.at[k] = bias->at[y[0]];
        for (int64_t t = 0; t < size_of(&weight->shape); t++) {
            indices_of(&weight->shape, t, tap);
            if (tap[0] == y[0]) {
                p->out.at[k] += weight->at[t] * pixel(x, tap[1], y[1] * stride - padding + tap[2],
                                                      y[2] * stride - padding + tap[3]);
            }
        }
    }
}

static void pooling(const place *p)
{
    int64_t kernel = p->node->ints[0], stride = p->node->ints[1], y[3];
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        indices_of(&p->out.shape, k, y);
        double most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < kernel * kernel; i++) {
            double a =
                pixel(&p->in[0], y[0], y[1] * stride + i / kernel, y[2] * stride + i % kernel);
            most = a > most ? a : most;
            sum += a;
        }
        p->out.at[k] = p->node->op == SALI_OP_max_pool2d ? most : sum / (double)(kernel * kernel);
    }
}

/* ---- parts, and other orders */

/* The operand's element that stands at element k of the output. */
static double picked(const place *p, int64_t k)
{
    const int64_t *ints = p->node->ints;
    int64_t index[SAL_MAX_RANK], kept;
    int32_t which = 0;
    indices_of(&p->out.shape, k, index);
    switch (p->node->op) {
    case SALI_OP_slice:
        index[ints[0]] += ints[1];
        break;
    case SALI_OP_gather:
        index[ints[0]] = ints[1 + index[ints[0]]];
        break;
    case SALI_OP_transpose:
        kept = index[ints[0]];
        index[ints[0]] = index[ints[1]];
        index[ints[1]] = kept;
        break;
    case SALI_OP_concat:
        for (; index[ints[0]] >= p->in[which].shape.dim[ints[0]]; which++) {
            index[ints[0]] -= p->in[which].shape.dim[ints[0]];
        }
        break;
    default: /* reshape */
        return p->in[0].at[k];
    }
    return p->in[which].at[element_of(&p->in[which].shape, index)];
}

static void parts(const place *p)
{
    for (int64_t k = 0; k < size_of(&p->out.shape); k++) {
        p->out.at[k] = picked(p, k);
    }
}

static void (*formula_of(sali_op_id op))(const place *)
{
    switch (op) {
    case SALI_OP_sum:
    case SALI_OP_mean:
    case SALI_OP_logsumexp:
    case SALI_OP_max:
        return reduction;
    case SALI_OP_softmax:
    case SALI_OP_cumsum:
        return along;
    case SALI_OP_dot:
    case SALI_OP_matvec:
    case SALI_OP_matmul:
    case SALI_OP_batched_matmul:
        return product;
    case SALI_OP_symmetrise:
        return symmetrise;
    case SALI_OP_quad:
        return quad;
    case SALI_OP_edges:
        return edges;
    case SALI_OP_table:
        return table;
    case SALI_OP_conv2d:
        return convolution;
    case SALI_OP_avg_pool2d:
    case SALI_OP_max_pool2d:
        return pooling;
    case SALI_OP_reshape:
    case SALI_OP_slice:
    case SALI_OP_gather:
    case SALI_OP_transpose:
    case SALI_OP_concat:
        return parts;
    default:
        return elementwise;
    }
}

/* ---- the tape */

static void mark(const sal_tape *tape, int32_t node, bool *needed)
{
    if (!needed[node]) {
        needed[node] = true;
        for (int32_t k = 0; k < tape->nodes[node].n_in; k++) {
            mark(tape, tape->nodes[node].in[k], needed);
        }
    }
}

double slow_value(const sal_tape *tape, sal_expr f, const sal_model *model, const int32_t *codes,
                  const double *x)
{
    array *values = calloc((size_t)tape->n_nodes, sizeof *values);
    bool *needed = calloc((size_t)tape->n_nodes, sizeof *needed);
    mark(tape, f.node, needed);
    largest = 0;
    for (int32_t i = 0; i <= f.node; i++) {
        const sali_node *node = &tape->nodes[i];
        int64_t size = size_of(&node->shape);
        array *out = &values[i];
        if (!needed[i]) {
            continue;
        }
        *out = (array){ node->shape, calloc((size_t)size + 1, sizeof(double)) };
        if (node->op == SALI_OP_state) {
            memcpy(out->at, x, (size_t)size * sizeof *x);
        } else if (node->op == SALI_OP_constant) {
            memcpy(out->at, node->reals, (size_t)size * sizeof *x);
        } else if (node->op == SALI_OP_param) {
            if (sal_model_get_params(model, node->name, out->at, NULL) != SAL_OK) {
                abort();
            }
        } else {
            place p = { .node = node, .out = *out, .space = tape->space, .codes = codes };
            for (int32_t k = 0; k < node->n_in && k < 4; k++) {
                p.in[k] = values[node->in[k]];
            }
            formula_of(node->op)(&p);
        }
        for (int64_t k = 0; k < size; k++) {
            largest = fabs(out->at[k]) > largest ? fabs(out->at[k]) : largest;
        }
    }
    double value = values[f.node].at[0];
    for (int64_t i = 0; i < tape->n_nodes; i++) {
        free(values[i].at);
    }
    free(values);
    free(needed);
    return value;
}
