/* SPDX-License-Identifier: MIT */
/* The tape: a formula for f(s), the unnormalised log-probability of one state, written once.
 *
 * Expressions are small values. You need not check each one for mistakes (shapes that do not fit,
 * mixed tapes, no memory): the tape keeps the first mistake with its operation, shapes, and your
 * file and line. Later calls do nothing, and sal_model_from_tape reports the mistake. One thread
 * records a tape at a time. */
#ifndef SALTUS_AD_H
#define SALTUS_AD_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/space.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest rank of a shape. */
#define SAL_MAX_RANK 4

/* The type of the numbers that a tape computes with. */
typedef enum sal_dtype {
    SAL_DTYPE_DEFAULT = 0, /* where a type is asked for: that of the file, or the usual one */
    SAL_F32 = 1,           /* float */
    SAL_F64 = 2            /* double */
} sal_dtype;

/* A shape: rank 0 (a scalar) to 4; row-major. */
typedef struct sal_shape {
    int32_t rank;              /* number of axes */
    int64_t dim[SAL_MAX_RANK]; /* sizes of the axes; unused ones are 0 */
} sal_shape;

/* A shape given by its sizes: SAL_SHAPE(500, 784). */
#ifdef __cplusplus
#define SAL_SHAPE_RANK(a, b, c, d, rank, ...) rank /* the number of sizes */
#define SAL_SHAPE(...) (sal_shape{ SAL_SHAPE_RANK(__VA_ARGS__, 4, 3, 2, 1, 0), { __VA_ARGS__ } })
#define SAL_SCALAR (sal_shape{ 0, { 0 } })
#else
#define SAL_SHAPE(...)                                                                     \
    ((sal_shape){ .rank = (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
                  .dim = { __VA_ARGS__ } })
#define SAL_SCALAR ((sal_shape){ .rank = 0, .dim = { 0 } }) /* that of a single number */
#endif

/* A tape: the record of a formula. One thread at a time works on it. */
typedef struct sal_tape sal_tape;

/* An expression: a node of a tape. You can copy it freely; it lives as long as its tape. */
typedef struct sal_expr {
    sal_tape *tape; /* the tape that records the expression */
    int32_t node;   /* -1: invalid, after a mistake */
} sal_expr;

/* Create a tape over a copy of `space`; NULL when out of memory. */
SAL_API sal_tape *sal_tape_create(const sal_space *space, sal_dtype dtype);

/* Free a tape and its expressions; NULL is fine. Models made from the tape live on. */
SAL_API void sal_tape_destroy(sal_tape *tape);

/* Report the first mistake made on the tape.
 * Returns: SAL_OK, or the status of the mistake: SAL_ERR_SHAPE, SAL_ERR_ARGUMENT, SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_tape_check(const sal_tape *tape, sal_error *err);

/* Passes that rewrite a tape when a model is made from it. No pass changes f at states of the
 * space. */
typedef enum sal_pass {
    SAL_PASS_NONE = 0,      /* no pass */
    SAL_PASS_DEAD_CODE = 1, /* drop expressions that f does not need */
    SAL_PASS_COMMON = 2,    /* compute equal expressions once */
    /* Write polynomials of two-level variables in linear form (s^2 is s for a binary variable, 1
     * for a spin). The gradient becomes that of another extension of f, so gradient-based proposals
     * change, though not the distribution that they sample. If only powers, sal_quad and sal_edges
     * of the state kept f from being multilinear, the gradient then gives the differences. */
    SAL_PASS_CANONICAL = 4,
    SAL_PASS_FUSION = 8,   /* run elementwise expressions together, a few chains at a time */
    SAL_PASS_BUFFERS = 16, /* values that are not needed at the same time share memory */
    /* Write s'As (by sal_quad, or by sal_matvec or sal_matmul and a dot or sum) as sal_edges if A
     * is a constant (no parameter) with few nonzero entries. f stays the same except for rounding.
     */
    SAL_PASS_SPARSE = 32,
    /* Write sums of products of coordinates of the state, w s_i s_j .. with a w that is constant or
     * an element of a parameter, as sal_edges or, of three to six different variables with two
     * levels or one-hot states, as sal_table. f stays the same except for rounding. */
    SAL_PASS_PRODUCTS = 64,
    /* Take what f adds whatever the state is (constants, expressions of parameters alone) out of
     * sums, to be added last, in double: a large constant then costs no digits in single precision.
     * f stays the same except for rounding. */
    SAL_PASS_CONSTANTS = 128,
    SAL_PASS_DEFAULT = SAL_PASS_DEAD_CODE | SAL_PASS_COMMON | SAL_PASS_FUSION | SAL_PASS_BUFFERS |
                       SAL_PASS_SPARSE | SAL_PASS_PRODUCTS | SAL_PASS_CONSTANTS
} sal_pass;

/* Choose the passes for models made from the tape from now on, instead of SAL_PASS_DEFAULT: an OR
 * of SAL_PASS_*, or SAL_PASS_NONE. An unknown bit is a mistake, kept on the tape. */
SAL_API void sal_tape_set_passes(sal_tape *tape, uint32_t passes);

/* The shape of an expression; rank -1 if it is invalid. */
SAL_API sal_shape sal_expr_shape(sal_expr a);

/* Every function below records one node, with the caller's file and line; call it through the macro
 * of the same name without _at. All cost O(1), plus copies of their arrays. Broadcasting follows
 * NumPy: shapes are aligned at the last axis, and sizes of 1 stretch. */
#define SAL_HERE __FILE__, __LINE__

/* ---- leaves */

/* The part of the state that belongs to one block: [count], or [count, states] for a categorical
 * block. NULL: the whole embedded state, shape [N] (see space.h), as sal_state gives it. */
SAL_API sal_expr sal_state_block_at(const char *file, int line, sal_tape *tape, const char *block);
#define sal_state(tape) sal_state_block_at(SAL_HERE, (tape), 0)
#define sal_state_block(tape, block) sal_state_block_at(SAL_HERE, (tape), (block))

/* A named parameter, zero until it is set or loaded. A second call with the same name gives the
 * same node if the shapes agree; otherwise it is a mistake. Parameters are numbered as they are
 * recorded. C leaves it to the compiler which argument of a call comes first: record two parameters
 * in two statements, or their order in the flat vector may be another one with another compiler. */
SAL_API sal_expr sal_param_at(const char *file, int line, sal_tape *tape, const char *name,
                              sal_shape shape);
#define sal_param(tape, name, ...) sal_param_at(SAL_HERE, (tape), (name), __VA_ARGS__)

/* A constant array (copied). */
SAL_API sal_expr sal_constant_at(const char *file, int line, sal_tape *tape, const double *values,
                                 sal_shape shape);
#define sal_constant(tape, values, ...) sal_constant_at(SAL_HERE, (tape), (values), __VA_ARGS__)

/* A constant number. */
static inline sal_expr sal_scalar_at(const char *file, int line, sal_tape *tape, double value)
{
    const sal_shape scalar = { 0, { 0 } };
    return sal_constant_at(file, line, tape, &value, scalar);
}
#define sal_scalar(tape, value) sal_scalar_at(SAL_HERE, (tape), (value))

/* ---- any operation */

/* An operation given by name. From C the macros below are easier; from other languages
 * sal_operation_at is the only function needed. */
typedef struct sal_operation {
    const char *op;      /* a name of docs/ops.md; not a leaf */
    int32_t n_in;        /* number of inputs */
    const sal_expr *in;  /* [n_in], in the order of the macro's arguments */
    int64_t n_ints;      /* number of integer attributes: axes, sizes, indices */
    const int64_t *ints; /* [n_ints], in the order of the macro's arguments; copied. Leave out an
                            optional axis for the operation over all elements */
    int64_t n_reals;     /* number of real attributes */
    const double *reals; /* [n_reals], in the order of the macro's arguments; copied */
} sal_operation;

/* Record an operation. From other languages pass NULL and 0 for file and line.
 * Cost:    O(inputs + attributes). */
SAL_API sal_expr sal_operation_at(const char *file, int line, const sal_operation *operation);

/* The forms of sal_operation_at that the macros use. This one: one input. */
static inline sal_expr sal_op1_at(const char *file, int line, const char *op, sal_expr a)
{
    const sal_operation o = { op, 1, &a, 0, 0, 0, 0 };
    return sal_operation_at(file, line, &o);
}

/* Two inputs. */
static inline sal_expr sal_op2_at(const char *file, int line, const char *op, sal_expr a,
                                  sal_expr b)
{
    const sal_expr in[2] = { a, b };
    const sal_operation o = { op, 2, in, 0, 0, 0, 0 };
    return sal_operation_at(file, line, &o);
}

/* Three inputs. */
static inline sal_expr sal_op3_at(const char *file, int line, const char *op, sal_expr a,
                                  sal_expr b, sal_expr c)
{
    const sal_expr in[3] = { a, b, c };
    const sal_operation o = { op, 3, in, 0, 0, 0, 0 };
    return sal_operation_at(file, line, &o);
}

/* One input and up to three integers, of which the first `n` count. */
static inline sal_expr sal_op_ints_at(const char *file, int line, const char *op, sal_expr a,
                                      int64_t n, int64_t i, int64_t j, int64_t k)
{
    const int64_t ints[3] = { i, j, k };
    const sal_operation o = { op, 1, &a, n, ints, 0, 0 };
    return sal_operation_at(file, line, &o);
}

/* One input and up to two real numbers, of which the first `n` count. */
static inline sal_expr sal_op_reals_at(const char *file, int line, const char *op, sal_expr a,
                                       int64_t n, double x, double y)
{
    const double reals[2] = { x, y };
    const sal_operation o = { op, 1, &a, 0, 0, n, reals };
    return sal_operation_at(file, line, &o);
}

/* ---- elementwise */

#define sal_add(a, b) sal_op2_at(SAL_HERE, "add", (a), (b)) /* a + b */
#define sal_sub(a, b) sal_op2_at(SAL_HERE, "sub", (a), (b)) /* a - b */
#define sal_mul(a, b) sal_op2_at(SAL_HERE, "mul", (a), (b)) /* a b */
#define sal_div(a, b) sal_op2_at(SAL_HERE, "div", (a), (b)) /* a / b */

#define sal_exp(a) sal_op1_at(SAL_HERE, "exp", (a))       /* e^a */
#define sal_log(a) sal_op1_at(SAL_HERE, "log", (a))       /* natural; log 0 = -inf */
#define sal_sin(a) sal_op1_at(SAL_HERE, "sin", (a))       /* of radians */
#define sal_cos(a) sal_op1_at(SAL_HERE, "cos", (a))       /* of radians */
#define sal_tanh(a) sal_op1_at(SAL_HERE, "tanh", (a))     /* the hyperbolic tangent */
#define sal_erf(a) sal_op1_at(SAL_HERE, "erf", (a))       /* 2 / sqrt(pi) int_0^a exp(-t^2) dt */
#define sal_square(a) sal_op1_at(SAL_HERE, "square", (a)) /* a a */
#define sal_softplus(a) sal_op1_at(SAL_HERE, "softplus", (a)) /* log(1 + exp a) */
#define sal_sigmoid(a) sal_op1_at(SAL_HERE, "sigmoid", (a))   /* 1 / (1 + exp(-a)) */
#define sal_silu(a) sal_op1_at(SAL_HERE, "silu", (a))         /* a / (1 + exp(-a)): swish */

/* a/2 (1 + erf(a / sqrt 2)): PyTorch's default, not its tanh formula. */
#define sal_gelu(a) sal_op1_at(SAL_HERE, "gelu", (a))

#define sal_sqrt(a) sal_op1_at(SAL_HERE, "sqrt", (a))   /* NaN below 0; derivative infinite at 0 */
#define sal_log1p(a) sal_op1_at(SAL_HERE, "log1p", (a)) /* log(1 + a); -inf at -1, NaN below */
#define sal_abs(a) sal_op1_at(SAL_HERE, "abs", (a))     /* derivative 0 at 0 */
#define sal_relu(a) sal_op1_at(SAL_HERE, "relu", (a))   /* max(a, 0); derivative 0 at 0 */

/* log |Gamma(a)|; derivative digamma; infinite at 0, -1, -2, ... */
#define sal_lgamma(a) sal_op1_at(SAL_HERE, "lgamma", (a))

/* min(a, b). A NaN operand gives NaN, here and in all functions except for the operand that
 * sal_where does not take. At a tie the first operand gets the derivative. */
#define sal_minimum(a, b) sal_op2_at(SAL_HERE, "minimum", (a), (b))
/* max(a, b). NaN and ties are as in sal_minimum. */
#define sal_maximum(a, b) sal_op2_at(SAL_HERE, "maximum", (a), (b))

/* min(max(a, low), high) for fixed numbers low <= high, which may be infinite. The derivative is 1
 * between low and high, and 0 outside and at them. */
#define sal_clamp(a, low, high) sal_op_reals_at(SAL_HERE, "clamp", (a), 2, (low), (high))

/* A hard limit: 0 where a <= most, -inf above it, for a fixed number. The derivative counts as 0. A
 * term of f that is a limit, or a sum of several, forbids states; samplers that take slopes of f
 * can leave such terms out (mana, una), so that they see what lies behind a limit. */
#define sal_at_most(a, most) sal_op_reals_at(SAL_HERE, "at_most", (a), 1, (most), 0)

/* a if a is above 0, else alpha (exp(a) - 1), for a fixed finite alpha, usually 1. The derivative
 * at 0 is alpha, as in PyTorch. */
#define sal_elu(a, alpha) sal_op_reals_at(SAL_HERE, "elu", (a), 1, (alpha), 0)

/* log of the integral of exp(h a - U(h)) / sqrt(2 pi) over a real number h, a double rectified
 * linear unit (dReLU), with U(h) = h^2 / (2 (1 + eta)) + Delta h for h > 0, h^2 / (2 (1 - eta)) -
 * Delta h for h < 0, and eta = tanh t: a^2 / 2 where Delta and t are 0. The derivative by a is the
 * mean of h. Delta and t have the shape of a or one element, and do not depend on the state.
 * Source: Tubiana, Cocco & Monasson 2019, eLife 8:e39397. */
#define sal_drelu(a, delta, t) sal_op3_at(SAL_HERE, "drelu", (a), (delta), (t))

/* a^p for a fixed finite number p. If a is negative, p must be an integer, else the result is NaN;
 * a^0 is 1. The derivative is p a^(p-1), infinite at 0 for p < 1 other than 0. */
#define sal_pow(a, p) sal_op_reals_at(SAL_HERE, "pow", (a), 1, (p), 0)

/* a where cond is not 0 (NaN is not 0), else b; all three broadcast. cond gets no derivative. The
 * operand that is not taken gets derivative 0, even if its value is infinite or NaN. */
#define sal_where(cond, a, b) sal_op3_at(SAL_HERE, "where", (cond), (a), (b))

/* factor * a for a fixed number; sal_neg(a) is sal_scale(a, -1). */
#define sal_scale(a, factor) sal_op_reals_at(SAL_HERE, "scale", (a), 1, (factor), 0)
#define sal_neg(a) sal_scale((a), -1.0) /* -a */

/* ---- reductions: over all elements (to a scalar), or over one axis (which disappears). An axis is
 * in -rank .. rank - 1; a negative axis counts from the last. */

/* The sum of the elements. */
#define sal_sum(a) sal_op1_at(SAL_HERE, "sum", (a))
#define sal_sum_axis(a, axis) sal_op_ints_at(SAL_HERE, "sum", (a), 1, (axis), 0, 0)

/* The mean of the elements. */
#define sal_mean(a) sal_op1_at(SAL_HERE, "mean", (a))
#define sal_mean_axis(a, axis) sal_op_ints_at(SAL_HERE, "mean", (a), 1, (axis), 0, 0)

/* log sum exp of the elements; -inf if all are -inf. */
#define sal_logsumexp(a) sal_op1_at(SAL_HERE, "logsumexp", (a))
#define sal_logsumexp_axis(a, axis) sal_op_ints_at(SAL_HERE, "logsumexp", (a), 1, (axis), 0, 0)

/* The largest element; NaN if any is NaN. The first of the largest elements gets the derivative. */
#define sal_max(a) sal_op1_at(SAL_HERE, "max", (a))
#define sal_max_axis(a, axis) sal_op_ints_at(SAL_HERE, "max", (a), 1, (axis), 0, 0)

/* ---- scans: over all elements, in row-major order, or along one axis; the shape stays */

/* The cumulative sums of the elements. */
#define sal_cumsum(a) sal_op1_at(SAL_HERE, "cumsum", (a))
#define sal_cumsum_axis(a, axis) sal_op_ints_at(SAL_HERE, "cumsum", (a), 1, (axis), 0, 0)

/* exp a_k / sum_l exp a_l; NaN if all are -inf. */
#define sal_softmax(a) sal_op1_at(SAL_HERE, "softmax", (a))
#define sal_softmax_axis(a, axis) sal_op_ints_at(SAL_HERE, "softmax", (a), 1, (axis), 0, 0)

/* ---- linear algebra */

/* sum_i a_i b_i of two vectors of equal length: a scalar. */
#define sal_dot(a, b) sal_op2_at(SAL_HERE, "dot", (a), (b))

/* [m, n] times [n]: [m]. */
#define sal_matvec(A, x) sal_op2_at(SAL_HERE, "matvec", (A), (x))

/* [m, k] times [k, n]: [m, n]. */
#define sal_matmul(A, B) sal_op2_at(SAL_HERE, "matmul", (A), (B))

/* [b, m, k] times [b, k, n], one product for each index of the first axis: [b, m, n]. */
#define sal_batched_matmul(A, B) sal_op2_at(SAL_HERE, "batched_matmul", (A), (B))

/* s'Js of a vector s [n] and couplings J [n, n] that do not depend on the state. J counts as
 * (J + J')/2, so the gradient of J is symmetric. There is no factor 1/2. */
#define sal_quad(s, J) sal_op2_at(SAL_HERE, "quad", (s), (J))

/* sum_e w_e s_i(e) s_j(e) over a list of n_edges pairs (copied), `pairs` = i0, j0, i1, j1, ...;
 * s [n]; w [n_edges] does not depend on the state. */
static inline sal_expr sal_edges_at(const char *file, int line, sal_expr s, sal_expr w,
                                    int64_t n_edges, const int64_t *pairs)
{
    const sal_expr in[2] = { s, w };
    const int64_t n_ints = n_edges < INT64_MAX / 4 ? 2 * n_edges : -1; /* refused */
    const sal_operation o = { "edges", 2, in, n_ints, pairs, 0, 0 };
    return sal_operation_at(file, line, &o);
}
#define sal_edges(s, w, n_edges, pairs) sal_edges_at(SAL_HERE, (s), (w), (n_edges), (pairs))

/* Sum of the factors' log-potentials: factor m has the table T[table_m ..] over the variables
 * scope[scope_begin[m]] .. scope[scope_begin[m+1] - 1] (indices of the space's variables, distinct
 * within a factor), last variable fastest. Tables follow one another in T [sum of sizes], which
 * does not depend on the state. An entry -inf forbids its states. As a function of reals the sum is
 * the multilinear extension: linear in the level of a two-level variable, and in the one-hot of a
 * categorical variable. Ordinal variables of more than two levels cannot be in a scope.
 * Cost:    value O(factors), gradient O(sum over factors and scope of the states). */
SAL_API sal_expr sal_table_at(const char *file, int line, sal_tape *tape, sal_expr T,
                              int64_t n_factors, const int64_t *scope_begin, const int64_t *scope);
#define sal_table(tape, T, n_factors, scope_begin, scope) \
    sal_table_at(SAL_HERE, (tape), (T), (n_factors), (scope_begin), (scope))

/* ---- images [C, H, W] (sal_reshape makes an image of a state) */

/* Convolution with bias, as PyTorch's Conv2d (a cross-correlation):
 * y[o, r, q] = bias[o] + sum_cij weight[o, c, i, j] x[c, r stride - padding + i,
 *                                                     q stride - padding + j],
 * where pixels outside of x are 0.
 * Params:  x [C, H, W]; weight [O, C, h, w] and bias [O] do not depend on the state; stride >= 1;
 *          padding >= 0; h <= H + 2 padding, w <= W + 2 padding.
 * Returns: y [O, (H + 2 padding - h) / stride + 1, (W + 2 padding - w) / stride + 1], rounded down.
 * Cost:    2 O C per output pixel and tap within the image; the gradients by x and by the weights
 *          each cost as much. Taps on the padding cost nothing. */
static inline sal_expr sal_conv2d_at(const char *file, int line, sal_expr x, sal_expr weight,
                                     sal_expr bias, int64_t stride, int64_t padding)
{
    const sal_expr in[3] = { x, weight, bias };
    const int64_t ints[2] = { stride, padding };
    const sal_operation o = { "conv2d", 3, in, 2, ints, 0, 0 };
    return sal_operation_at(file, line, &o);
}
#define sal_conv2d(x, weight, bias, stride, padding) \
    sal_conv2d_at(SAL_HERE, (x), (weight), (bias), (stride), (padding))

/* Means over windows of kernel x kernel pixels, `stride` apart, without padding: x [C, H, W] gives
 * [C, (H - kernel) / stride + 1, (W - kernel) / stride + 1], rounded down. */
#define sal_avg_pool2d(x, kernel, stride) \
    sal_op_ints_at(SAL_HERE, "avg_pool2d", (x), 2, (kernel), (stride), 0)

/* Maxima over the windows of sal_avg_pool2d; NaN if a pixel is NaN. The first of the largest
 * pixels, row by row, gets the derivative, as in PyTorch. */
#define sal_max_pool2d(x, kernel, stride) \
    sal_op_ints_at(SAL_HERE, "max_pool2d", (x), 2, (kernel), (stride), 0)

/* ---- sets: s [n] selects i if s_i = 1 and not if s_i = 0, as a block of binary variables does */

/* log det(A_S), where A_S are the rows and columns of A [n, n] that s selects (0 if none);
 * sal_masked_quad_inverse is y_S' B_S^-1 y_S, with y [n]. A and B are symmetric (they count as
 * (A + A')/2) and positive definite; A, B and y do not depend on the state. The result is NaN if
 * A_S is not positive definite.
 * Math:  for real s, with D = diag(s), E = D^1/2, M = E A E + (I - D) diag(A):
 *        log det M - sum_i (1 - s_i) log A_ii and y'E M^-1 E y, which agree with the above at
 *        s in {0,1}^n. The determinant is multilinear in s up to the factor prod_i A_ii^s_i.
 *        Defined for s in [0,1]^n, NaN where s_i < 0. For the derivatives on the lattice, let v be
 *        the share of A_ii that the other selected variables leave unexplained. Of the first:
 *        log A_ii + v - 1 at s_i = 0 and log A_ii + 1 - 1/v at s_i = 1 (the change itself is
 *        log A_ii + log v); of the second: r^2 / B_ii and r^2 / (B_ii v^2), r the residual of y_i
 *        (the change itself is r^2 / (B_ii v)).
 * Cost:  O(k^3 + n) for k selected; gradient of the first O(k^2 n), of the second O(k n) more. */
#define sal_masked_logdet(s, A) sal_op2_at(SAL_HERE, "masked_logdet", (s), (A))
/* y_S' B_S^-1 y_S: see sal_masked_logdet. */
#define sal_masked_quad_inverse(s, B, y) sal_op3_at(SAL_HERE, "masked_quad_inverse", (s), (B), (y))

/* log det(I + D G D) with D = diag(s), s [n], G [n, n]; sal_ridge_quad_inverse is
 * y'D (I + D G D)^-1 D y, with y [n]. I + D G D is the matrix of a ridge regression on columns X_i
 * s_i, with G = X'X / lambda. G is symmetric (it counts as (G + G')/2) without negative
 * eigenvalues; G and y do not depend on the state. The result is NaN where I + D G D is not
 * positive definite.
 * Math:  defined for any real s. The derivatives are 0 where s_i = 0. At s_i = 1 that of the first
 *        is 2 (1 - H_ii), between 0 and 2, where H = (I + D G D)^-1, and that of the second is
 *        2 (H D y)_i^2. They predict the change from removing i far better than those of the
 *        masked_ functions where columns repeat each other, but say nothing about adding i.
 * Cost:  O(k^3 + n) for k with s_i != 0; gradient of the first O(k^3), of the second O(k) more. */
#define sal_ridge_logdet(s, G) sal_op2_at(SAL_HERE, "ridge_logdet", (s), (G))
/* y'D (I + D G D)^-1 D y: see sal_ridge_logdet. */
#define sal_ridge_quad_inverse(s, G, y) sal_op3_at(SAL_HERE, "ridge_quad_inverse", (s), (G), (y))

/* sum_j max(0, max_i s_i C_ij): what the selected rows of C [n, m] cover (facility location). C
 * should be nonnegative and does not depend on the state. The function has kinks: the first row
 * that attains a column's maximum gets the column's derivative, or none if the maximum is 0. So on
 * the lattice a row that is not selected has derivative 0, whatever it would add.
 * Cost:    O(k m) for k selected. */
#define sal_max_coverage(s, C) sal_op2_at(SAL_HERE, "max_coverage", (s), (C))

/* sum_j E max(0, max_{i in S} C_ij), where S holds i with probability s_i, independently: the
 * multilinear extension of sal_max_coverage, which it equals at s in {0,1}^n. C does not depend on
 * the state. The derivative by s_i is the exact change when i joins or leaves S. At a state the
 * derivative by C is 1 for each column's largest row in S, if above 0: the first of rows that tie.
 * Math:    for a column in descending order, sum_k c_k s_k prod_{l < k} (1 - s_l), c_k >= 0.
 * Cost:    O(n m) off the lattice; at a state a column ends at its second selected row. Sorting C
 *          costs O(n m log n) once an update of the parameters.
 * Source:  Xiang et al. 2023, eq. 11, for facility location. */
#define sal_expected_coverage(s, C) sal_op2_at(SAL_HERE, "expected_coverage", (s), (C))

/* ---- shape */

/* The same numbers in row-major order under another shape of the same size. */
static inline sal_expr sal_reshape_at(const char *file, int line, sal_expr a, sal_shape shape)
{
    const int64_t rank = shape.rank <= SAL_MAX_RANK ? shape.rank : -1; /* refused */
    const sal_operation o = { "reshape", 1, &a, rank, shape.dim, 0, 0 };
    return sal_operation_at(file, line, &o);
}
#define sal_reshape(a, ...) sal_reshape_at(SAL_HERE, (a), __VA_ARGS__)

/* Exchange two different axes, in -rank .. rank - 1: the transpose of a matrix is
 * sal_transpose(A, 0, 1). */
#define sal_transpose(a, axis, other) \
    sal_op_ints_at(SAL_HERE, "transpose", (a), 2, (axis), (other), 0)

/* Elements start .. start + length - 1 along an axis. */
#define sal_slice(a, axis, start, length) \
    sal_op_ints_at(SAL_HERE, "slice", (a), 3, (axis), (start), (length))

/* Join n_parts >= 1 expressions along an axis; their other sizes are equal. */
static inline sal_expr sal_concat_at(const char *file, int line, const sal_expr *parts,
                                     int32_t n_parts, int64_t axis)
{
    const sal_operation o = { "concat", n_parts, parts, 1, &axis, 0, 0 };
    return sal_operation_at(file, line, &o);
}
#define sal_concat(parts, n_parts, axis) sal_concat_at(SAL_HERE, (parts), (n_parts), (axis))

/* Elements along an axis by index (copied), in any order; indices may repeat. */
SAL_API sal_expr sal_gather_at(const char *file, int line, sal_expr a, int axis, int64_t n_indices,
                               const int64_t *indices);
#define sal_gather(a, axis, n_indices, indices) \
    sal_gather_at(SAL_HERE, (a), (axis), (n_indices), (indices))

#ifdef __cplusplus
}
#endif
#endif
