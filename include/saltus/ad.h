/* The tape: a formula for f(s), the unnormalised log-probability of one state, written once.
 *
 * Expressions are small values. A mistake (shapes that do not fit, tapes that are mixed, no memory)
 * never shows in the formula itself: the first one is kept on the tape with the operation, its
 * shapes and the caller's file and line, later calls pass through, and sal_model_from_tape reports
 * it. One thread records a tape at a time. */
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

/* Type of the numbers a tape computes with. */
typedef enum sal_dtype {
    SAL_F32 = 1, /* float */
    SAL_F64      /* double */
} sal_dtype;

/* A shape: rank 0 (a scalar) to 4; row-major. */
typedef struct sal_shape {
    int32_t rank;              /* number of axes */
    int64_t dim[SAL_MAX_RANK]; /* their sizes; unused ones are 0 */
} sal_shape;

/* A shape by its sizes: SAL_SHAPE(500, 784). */
#define SAL_SHAPE(...)                                                                     \
    ((sal_shape){ .rank = (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
                  .dim = { __VA_ARGS__ } })

/* The shape of a single number. */
#define SAL_SCALAR ((sal_shape){ .rank = 0, .dim = { 0 } })

/* A tape: the record of a formula. One thread at a time works on it. */
typedef struct sal_tape sal_tape;

/* An expression: a node of a tape. Copy it freely; it lives as long as its tape. */
typedef struct sal_expr {
    sal_tape *tape; /* where it is recorded */
    int32_t node;   /* -1: invalid, after a mistake */
} sal_expr;

/* A new tape over a copy of `space`, or NULL when out of memory. */
SAL_API sal_tape *sal_tape_create(const sal_space *space, sal_dtype dtype);

/* Free a tape and with it its expressions; NULL is fine. Models made of it live on. */
SAL_API void sal_tape_destroy(sal_tape *tape);

/* The first mistake made on the tape.
 * Returns: SAL_OK, or the status of the mistake: SAL_ERR_SHAPE, SAL_ERR_ARGUMENT, SAL_ERR_MEMORY.
 * Cost:    O(1).
 * Threads: one at a time. */
SAL_API sal_status sal_tape_check(const sal_tape *tape, sal_error *err);

/* Passes that rewrite a tape when a model is made of it. None changes f at states of the space. */
typedef enum sal_pass {
    SAL_PASS_DEAD_CODE = 1, /* drop what f does not need */
    SAL_PASS_COMMON = 2,    /* compute equal expressions once */
    /* Write polynomials of two-level variables in linear form (s^2 is s of a binary variable, 1 of
     * a spin). The gradient becomes that of another extension of f, so gradient-based proposals
     * change, though not what they sample. Where powers, sal_quad and sal_edges of the state were
     * all that kept f from being multilinear, differences are then read off the gradient. */
    SAL_PASS_CANONICAL = 4,
    SAL_PASS_FUSION = 8,   /* run elementwise expressions together, a few chains at a time */
    SAL_PASS_BUFFERS = 16, /* values that are not needed at once share memory */
    /* Write s'As, by sal_quad, or by sal_matvec or sal_matmul and a dot or sum, as sal_edges where
     * A is a constant (no parameter) of which few entries are not zero. f is the same but for
     * rounding. */
    SAL_PASS_SPARSE = 32,
    SAL_PASS_DEFAULT =
        SAL_PASS_DEAD_CODE | SAL_PASS_COMMON | SAL_PASS_FUSION | SAL_PASS_BUFFERS | SAL_PASS_SPARSE
} sal_pass;

/* Choose the passes, an OR of SAL_PASS_* (0: none), instead of SAL_PASS_DEFAULT, for models made
 * of the tape from now on. An unknown bit is a mistake, kept on the tape. */
SAL_API void sal_tape_set_passes(sal_tape *tape, uint32_t passes);

/* The shape of an expression; rank -1 if it is invalid. */
SAL_API sal_shape sal_expr_shape(sal_expr a);

/* Every function below records one node, at the caller's file and line; call it by the macro of the
 * same name without _at (from other languages: pass NULL, 0). All are O(1) but for copies of their
 * arrays. Broadcasting follows NumPy: shapes are aligned at the last axis, 1 stretches. */
#define SAL_HERE __FILE__, __LINE__

/* ---- leaves */

/* The embedded state, shape [N] (see space.h). */
SAL_API sal_expr sal_state_at(const char *file, int line, sal_tape *tape);

/* The part of the state that belongs to one block: [count], or [count, states] for a categorical
 * block. */
SAL_API sal_expr sal_state_block_at(const char *file, int line, sal_tape *tape, const char *block);
#define sal_state(tape) sal_state_at(SAL_HERE, (tape))
#define sal_state_block(tape, block) sal_state_block_at(SAL_HERE, (tape), (block))

/* A named parameter, zero until it is set or loaded. Asking twice for a name gives the same node
 * when the shapes agree and is a mistake when not. */
SAL_API sal_expr sal_param_at(const char *file, int line, sal_tape *tape, const char *name,
                              sal_shape shape);
#define sal_param(tape, name, ...) sal_param_at(SAL_HERE, (tape), (name), __VA_ARGS__)

/* A constant array (copied). */
SAL_API sal_expr sal_constant_at(const char *file, int line, sal_tape *tape, const double *values,
                                 sal_shape shape);

/* A constant number. */
SAL_API sal_expr sal_scalar_at(const char *file, int line, sal_tape *tape, double value);
#define sal_constant(tape, values, ...) sal_constant_at(SAL_HERE, (tape), (values), __VA_ARGS__)
#define sal_scalar(tape, value) sal_scalar_at(SAL_HERE, (tape), (value))

/* ---- elementwise */

#define SALI_DECLARE_UNARY(name) SAL_API sal_expr sal_##name##_at(const char *, int, sal_expr a);
#define SALI_DECLARE_BINARY(name) \
    SAL_API sal_expr sal_##name##_at(const char *, int, sal_expr a, sal_expr b);

SALI_DECLARE_BINARY(add) /* a + b */
SALI_DECLARE_BINARY(sub) /* a - b */
SALI_DECLARE_BINARY(mul) /* a b */
SALI_DECLARE_BINARY(div) /* a / b */
#define sal_add(a, b) sal_add_at(SAL_HERE, (a), (b))
#define sal_sub(a, b) sal_sub_at(SAL_HERE, (a), (b))
#define sal_mul(a, b) sal_mul_at(SAL_HERE, (a), (b))
#define sal_div(a, b) sal_div_at(SAL_HERE, (a), (b))

SALI_DECLARE_UNARY(exp)      /* e^a */
SALI_DECLARE_UNARY(log)      /* natural; log 0 = -inf */
SALI_DECLARE_UNARY(softplus) /* log(1 + exp a) */
SALI_DECLARE_UNARY(sigmoid)  /* 1 / (1 + exp(-a)) */
SALI_DECLARE_UNARY(silu)     /* a / (1 + exp(-a)), also called swish */
SALI_DECLARE_UNARY(gelu)   /* a/2 (1 + erf(a / sqrt 2)): PyTorch's default, not its tanh formula */
SALI_DECLARE_UNARY(tanh)   /* the hyperbolic tangent */
SALI_DECLARE_UNARY(square) /* a a */
#define sal_exp(a) sal_exp_at(SAL_HERE, (a))
#define sal_log(a) sal_log_at(SAL_HERE, (a))
#define sal_softplus(a) sal_softplus_at(SAL_HERE, (a))
#define sal_sigmoid(a) sal_sigmoid_at(SAL_HERE, (a))
#define sal_silu(a) sal_silu_at(SAL_HERE, (a))
#define sal_gelu(a) sal_gelu_at(SAL_HERE, (a))
#define sal_tanh(a) sal_tanh_at(SAL_HERE, (a))
#define sal_square(a) sal_square_at(SAL_HERE, (a))

SALI_DECLARE_UNARY(sin)    /* of radians */
SALI_DECLARE_UNARY(cos)    /* of radians */
SALI_DECLARE_UNARY(erf)    /* 2 / sqrt(pi) int_0^a exp(-t^2) dt */
SALI_DECLARE_UNARY(sqrt)   /* NaN below 0; derivative infinite at 0 */
SALI_DECLARE_UNARY(log1p)  /* log(1 + a); -inf at -1, NaN below */
SALI_DECLARE_UNARY(abs)    /* derivative 0 at 0 */
SALI_DECLARE_UNARY(relu)   /* max(a, 0); derivative 0 at 0 */
SALI_DECLARE_UNARY(lgamma) /* log |Gamma(a)|; derivative digamma; infinite at 0, -1, -2, ... */
#define sal_sin(a) sal_sin_at(SAL_HERE, (a))
#define sal_cos(a) sal_cos_at(SAL_HERE, (a))
#define sal_erf(a) sal_erf_at(SAL_HERE, (a))
#define sal_sqrt(a) sal_sqrt_at(SAL_HERE, (a))
#define sal_log1p(a) sal_log1p_at(SAL_HERE, (a))
#define sal_abs(a) sal_abs_at(SAL_HERE, (a))
#define sal_relu(a) sal_relu_at(SAL_HERE, (a))
#define sal_lgamma(a) sal_lgamma_at(SAL_HERE, (a))

/* min(a, b). A NaN operand gives NaN, here and in all functions but where one operand is not taken.
 * At a tie the derivative is the first operand's. */
SALI_DECLARE_BINARY(minimum)
/* max(a, b), likewise. */
SALI_DECLARE_BINARY(maximum)
#define sal_minimum(a, b) sal_minimum_at(SAL_HERE, (a), (b))
#define sal_maximum(a, b) sal_maximum_at(SAL_HERE, (a), (b))

/* min(max(a, low), high) for fixed numbers low <= high, perhaps infinite. The derivative is 1
 * between them and 0 outside and at them. */
SAL_API sal_expr sal_clamp_at(const char *file, int line, sal_expr a, double low, double high);
#define sal_clamp(a, low, high) sal_clamp_at(SAL_HERE, (a), (low), (high))

/* a above 0, else alpha (exp(a) - 1) for a fixed finite alpha; usual is alpha = 1. The derivative
 * at 0 is alpha, as PyTorch's. */
SAL_API sal_expr sal_elu_at(const char *file, int line, sal_expr a, double alpha);
#define sal_elu(a, alpha) sal_elu_at(SAL_HERE, (a), (alpha))

/* a^p for a fixed finite number p. A negative a needs a whole p, else NaN; a^0 is 1. The derivative
 * is p a^(p-1), infinite at 0 for p < 1 other than 0. */
SAL_API sal_expr sal_pow_at(const char *file, int line, sal_expr a, double p);
#define sal_pow(a, p) sal_pow_at(SAL_HERE, (a), (p))

/* a where cond is not 0 (a NaN is not), else b; all three broadcast. cond gets no derivative, and
 * the operand that is not taken gets 0, even if its value is infinite or NaN. */
SAL_API sal_expr sal_where_at(const char *file, int line, sal_expr cond, sal_expr a, sal_expr b);
#define sal_where(cond, a, b) sal_where_at(SAL_HERE, (cond), (a), (b))

/* factor * a, for a fixed number; sal_neg(a) is sal_scale(a, -1). */
SAL_API sal_expr sal_scale_at(const char *file, int line, sal_expr a, double factor);
#define sal_scale(a, factor) sal_scale_at(SAL_HERE, (a), (factor))
#define sal_neg(a) sal_scale_at(SAL_HERE, (a), -1.0)

/* ---- reductions: over all elements (to a scalar), or over one axis (which disappears) */

SALI_DECLARE_UNARY(sum)       /* sum of the elements */
SALI_DECLARE_UNARY(mean)      /* their mean */
SALI_DECLARE_UNARY(logsumexp) /* log sum exp, -inf of all -inf */
SALI_DECLARE_UNARY(max)       /* NaN if one is; derivative to the first of the largest elements */
#define sal_sum(a) sal_sum_at(SAL_HERE, (a))
#define sal_mean(a) sal_mean_at(SAL_HERE, (a))
#define sal_logsumexp(a) sal_logsumexp_at(SAL_HERE, (a))
#define sal_max(a) sal_max_at(SAL_HERE, (a))

/* Sums along an axis in -rank .. rank - 1; negative counts from the last. */
SAL_API sal_expr sal_sum_axis_at(const char *file, int line, sal_expr a, int axis);
/* Means along an axis, counted so. */
SAL_API sal_expr sal_mean_axis_at(const char *file, int line, sal_expr a, int axis);
/* log sum exp along an axis. */
SAL_API sal_expr sal_logsumexp_axis_at(const char *file, int line, sal_expr a, int axis);
/* The largest along an axis. */
SAL_API sal_expr sal_max_axis_at(const char *file, int line, sal_expr a, int axis);
#define sal_sum_axis(a, axis) sal_sum_axis_at(SAL_HERE, (a), (axis))
#define sal_mean_axis(a, axis) sal_mean_axis_at(SAL_HERE, (a), (axis))
#define sal_logsumexp_axis(a, axis) sal_logsumexp_axis_at(SAL_HERE, (a), (axis))
#define sal_max_axis(a, axis) sal_max_axis_at(SAL_HERE, (a), (axis))

/* ---- over all elements, in row-major order, or along one axis; the shape stays */

SALI_DECLARE_UNARY(cumsum)  /* sums of the elements up to each one */
SALI_DECLARE_UNARY(softmax) /* exp a_k / sum_l exp a_l; NaN if all are -inf */
#define sal_cumsum(a) sal_cumsum_at(SAL_HERE, (a))
#define sal_softmax(a) sal_softmax_at(SAL_HERE, (a))

/* Sums up to each element along an axis in -rank .. rank - 1; negative counts from the last. */
SAL_API sal_expr sal_cumsum_axis_at(const char *file, int line, sal_expr a, int axis);
/* Softmax along an axis, counted so. */
SAL_API sal_expr sal_softmax_axis_at(const char *file, int line, sal_expr a, int axis);
#define sal_cumsum_axis(a, axis) sal_cumsum_axis_at(SAL_HERE, (a), (axis))
#define sal_softmax_axis(a, axis) sal_softmax_axis_at(SAL_HERE, (a), (axis))

/* ---- linear algebra */

SALI_DECLARE_BINARY(dot)    /* sum_i a_i b_i of two vectors of one length: a scalar */
SALI_DECLARE_BINARY(matvec) /* [m, n] times [n]: [m] */
SALI_DECLARE_BINARY(matmul) /* [m, k] times [k, n]: [m, n] */
/* [b, m, k] times [b, k, n], one product for each of the first axis: [b, m, n]. */
SALI_DECLARE_BINARY(batched_matmul)
#define sal_dot(a, b) sal_dot_at(SAL_HERE, (a), (b))
#define sal_matvec(A, x) sal_matvec_at(SAL_HERE, (A), (x))
#define sal_matmul(A, B) sal_matmul_at(SAL_HERE, (A), (B))
#define sal_batched_matmul(A, B) sal_batched_matmul_at(SAL_HERE, (A), (B))

/* s'Js of a vector s [n] and couplings J [n, n] that do not depend on the state. J counts as
 * (J + J')/2, so its gradient is symmetric. There is no factor 1/2. */
SAL_API sal_expr sal_quad_at(const char *file, int line, sal_expr s, sal_expr J);
#define sal_quad(s, J) sal_quad_at(SAL_HERE, (s), (J))

/* sum_e w_e s_i(e) s_j(e) over a list of n_edges pairs (copied), `pairs` = i0, j0, i1, j1, ...;
 * s [n], w [n_edges] not depending on the state. */
SAL_API sal_expr sal_edges_at(const char *file, int line, sal_expr s, sal_expr w, int64_t n_edges,
                              const int64_t *pairs);
#define sal_edges(s, w, n_edges, pairs) sal_edges_at(SAL_HERE, (s), (w), (n_edges), (pairs))

/* Sum of factors' log-potentials: factor m has the table T[table_m ..] over the variables
 * scope[scope_begin[m]] .. scope[scope_begin[m+1] - 1] (indices of the space's variables, distinct
 * within a factor), last variable fastest; tables follow one another in T [sum of sizes], which
 * does not depend on the state. An entry -inf forbids its states. As a function of reals it is the
 * multilinear extension: for two-level variables linear in the level, for categorical ones in the
 * one-hot. Ordinal variables of more than two levels cannot be in a scope.
 * Cost:    value O(factors), gradient O(sum over factors and scope of the states). */
SAL_API sal_expr sal_table_at(const char *file, int line, sal_tape *tape, sal_expr T,
                              int64_t n_factors, const int64_t *scope_begin, const int64_t *scope);
#define sal_table(tape, T, n_factors, scope_begin, scope) \
    sal_table_at(SAL_HERE, (tape), (T), (n_factors), (scope_begin), (scope))

/* ---- images [C, H, W] (a state is made one by sal_reshape) */

/* Convolution with bias, as PyTorch's Conv2d (a cross-correlation):
 * y[o, r, q] = bias[o] + sum_cij weight[o, c, i, j] x[c, r stride - padding + i,
 *                                                     q stride - padding + j],
 * pixels outside of x being 0.
 * Params:  x [C, H, W]; weight [O, C, h, w] and bias [O] not depending on the state; stride >= 1;
 *          padding >= 0; h <= H + 2 padding, w <= W + 2 padding.
 * Returns: y [O, (H + 2 padding - h) / stride + 1, (W + 2 padding - w) / stride + 1], rounded down.
 * Cost:    2 O C per output pixel and tap within the image; as much for the gradient by x, and by
 *          the weights. Taps on the padding cost nothing. */
SAL_API sal_expr sal_conv2d_at(const char *file, int line, sal_expr x, sal_expr weight,
                               sal_expr bias, int64_t stride, int64_t padding);
#define sal_conv2d(x, weight, bias, stride, padding) \
    sal_conv2d_at(SAL_HERE, (x), (weight), (bias), (stride), (padding))

/* Means over windows of kernel x kernel pixels, `stride` apart, without padding: x [C, H, W] gives
 * [C, (H - kernel) / stride + 1, (W - kernel) / stride + 1], rounded down. */
SAL_API sal_expr sal_avg_pool2d_at(const char *file, int line, sal_expr x, int64_t kernel,
                                   int64_t stride);
#define sal_avg_pool2d(x, kernel, stride) sal_avg_pool2d_at(SAL_HERE, (x), (kernel), (stride))

/* Maxima over the same windows; NaN if one pixel is. The derivative goes to the first of the
 * largest pixels, row by row, as PyTorch's. */
SAL_API sal_expr sal_max_pool2d_at(const char *file, int line, sal_expr x, int64_t kernel,
                                   int64_t stride);
#define sal_max_pool2d(x, kernel, stride) sal_max_pool2d_at(SAL_HERE, (x), (kernel), (stride))

/* ---- sets: s [n] selects i if s_i = 1 and not if s_i = 0, as a block of binary variables does */

/* log det(A_S), where A_S are the rows and columns of A [n, n] that s selects (0 if none); of
 * sal_masked_quad_inverse y_S' B_S^-1 y_S, with y [n]. A and B are symmetric (they count as
 * (A + A')/2) and positive definite; they and y do not depend on the state. The result is NaN if
 * A_S is not positive definite.
 * Math:  for real s, with D = diag(s), E = D^1/2, M = E A E + (I - D) diag(A):
 *        log det M - sum_i (1 - s_i) log A_ii and y'E M^-1 E y, which agree with the above at
 *        s in {0,1}^n. The determinant is multilinear in s up to the factor prod_i A_ii^s_i.
 *        Defined for s in [0,1]^n, NaN where s_i < 0. On the lattice the derivatives are, with v
 *        the part of A_ii that the other selected variables leave unexplained over A_ii: of the
 *        first, log A_ii + v - 1 at s_i = 0 and log A_ii + 1 - 1/v at s_i = 1 (the change itself is
 *        log A_ii + log v); of the second, r^2 / B_ii and r^2 / (B_ii v^2), r the residual of y_i
 *        (the change itself is r^2 / (B_ii v)).
 * Cost:  O(k^3 + n) of k selected; gradient of the first O(k^2 n), of the second O(k n) more. */
SALI_DECLARE_BINARY(masked_logdet)
/* y_S' B_S^-1 y_S, of which more at sal_masked_logdet. */
SAL_API sal_expr sal_masked_quad_inverse_at(const char *file, int line, sal_expr s, sal_expr B,
                                            sal_expr y);
#define sal_masked_logdet(s, A) sal_masked_logdet_at(SAL_HERE, (s), (A))
#define sal_masked_quad_inverse(s, B, y) sal_masked_quad_inverse_at(SAL_HERE, (s), (B), (y))

/* log det(I + D G D) with D = diag(s), s [n], G [n, n]; of sal_ridge_quad_inverse
 * y'D (I + D G D)^-1 D y, with y [n]. I + D G D is the matrix of a ridge regression on columns
 * X_i s_i, with G = X'X / lambda. G is symmetric (it counts as (G + G')/2) without negative
 * eigenvalues; it and y do not depend on the state. The result is NaN where I + D G D is not
 * positive definite.
 * Math:  defined for any real s. The derivatives are 0 where s_i = 0; at s_i = 1 that of the first
 *        is 2 (1 - H_ii), between 0 and 2, where H = (I + D G D)^-1, and that of the second
 *        2 (H D y)_i^2. They foretell what removing i would change far better than those of the
 *        masked_ functions where columns repeat each other, and nothing of adding it.
 * Cost:  O(k^3 + n) of k with s_i != 0; gradient of the first O(k^3), of the second O(k) more. */
SALI_DECLARE_BINARY(ridge_logdet)
/* y'D (I + D G D)^-1 D y, of which more at sal_ridge_logdet. */
SAL_API sal_expr sal_ridge_quad_inverse_at(const char *file, int line, sal_expr s, sal_expr G,
                                           sal_expr y);
#define sal_ridge_logdet(s, G) sal_ridge_logdet_at(SAL_HERE, (s), (G))
#define sal_ridge_quad_inverse(s, G, y) sal_ridge_quad_inverse_at(SAL_HERE, (s), (G), (y))

/* sum_j max(0, max_i s_i C_ij): what the selected rows of C [n, m] cover (facility location). C is
 * meant to be nonnegative and does not depend on the state. Kinked: a column's derivative goes to
 * the first row that attains its maximum, none if that is 0; so a row that is not selected has
 * derivative 0 on the lattice, whatever it would add.
 * Cost:    O(k m) of k selected. */
SALI_DECLARE_BINARY(max_coverage)
#define sal_max_coverage(s, C) sal_max_coverage_at(SAL_HERE, (s), (C))

/* ---- shape */

/* The same numbers in row-major order under another shape of the same size. */
SAL_API sal_expr sal_reshape_at(const char *file, int line, sal_expr a, sal_shape shape);
#define sal_reshape(a, ...) sal_reshape_at(SAL_HERE, (a), __VA_ARGS__)

/* Two different axes, in -rank .. rank - 1, change places: the transpose of a matrix is
 * sal_transpose(A, 0, 1). */
SAL_API sal_expr sal_transpose_at(const char *file, int line, sal_expr a, int axis, int other);
#define sal_transpose(a, axis, other) sal_transpose_at(SAL_HERE, (a), (axis), (other))

/* Elements start .. start + length - 1 along an axis. */
SAL_API sal_expr sal_slice_at(const char *file, int line, sal_expr a, int axis, int64_t start,
                              int64_t length);
#define sal_slice(a, axis, start, length) sal_slice_at(SAL_HERE, (a), (axis), (start), (length))

/* n_parts >= 1 expressions one after the other along an axis; their other sizes are equal. */
SAL_API sal_expr sal_concat_at(const char *file, int line, const sal_expr *parts, int64_t n_parts,
                               int axis);
#define sal_concat(parts, n_parts, axis) sal_concat_at(SAL_HERE, (parts), (n_parts), (axis))

/* Elements along an axis by index (copied), in any order, some perhaps several times. */
SAL_API sal_expr sal_gather_at(const char *file, int line, sal_expr a, int axis, int64_t n_indices,
                               const int64_t *indices);
#define sal_gather(a, axis, n_indices, indices) \
    sal_gather_at(SAL_HERE, (a), (axis), (n_indices), (indices))

/* ---- what operations there are */

/* One operation of formulas. */
typedef struct sal_op_info {
    const char *name;   /* as in saved tapes */
    const char *doc;    /* the formula, one line */
    const char *degree; /* how the degree of its value in the state follows from its inputs' */
    int32_t inputs;     /* how many; -1: one or more */
    uint32_t fixed;     /* bit k: input k, from 0, must not depend on the state */
    bool changes; /* its value follows changes of single variables; else it is evaluated anew */
} sal_op_info;

/* Operation `index`, from 0; false past the end. */
SAL_API bool sal_op_list(int64_t index, sal_op_info *info);

#ifdef __cplusplus
}
#endif
#endif
