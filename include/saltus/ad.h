/* The tape: a formula for f(s), the unnormalised log-probability of one state, written once.
 *
 * Expressions are small values. A mistake (shapes that do not fit, tapes that are mixed, no memory)
 * never shows in the formula itself: the first one is kept on the tape with the operation, its
 * shapes and the caller's file and line, later calls pass through, and sal_model_from_tape reports
 * it. One thread records a tape at a time. */
#ifndef SALTUS_AD_H
#define SALTUS_AD_H

#include <stdint.h>
#include <saltus/space.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SAL_MAX_RANK 4

/* Type of the numbers a tape computes with. */
typedef enum sal_dtype { SAL_F32 = 1, SAL_F64 } sal_dtype;

/* A shape: rank 0 (a scalar) to 4; row-major. */
typedef struct sal_shape {
    int32_t rank;
    int64_t dim[SAL_MAX_RANK];
} sal_shape;

/* SAL_SHAPE(500, 784); SAL_SCALAR. */
#define SAL_SHAPE(...)                                                                     \
    ((sal_shape){ .rank = (int32_t)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
                  .dim = { __VA_ARGS__ } })
#define SAL_SCALAR ((sal_shape){ .rank = 0, .dim = { 0 } })

typedef struct sal_tape sal_tape;

/* An expression: a node of a tape. Copy it freely; it lives as long as its tape. */
typedef struct sal_expr {
    sal_tape *tape;
    int32_t node; /* -1: invalid, after a mistake */
} sal_expr;

/* A new tape over a copy of `space`, or NULL when out of memory. */
SAL_API sal_tape *sal_tape_create(const sal_space *space, sal_dtype dtype);
SAL_API void sal_tape_destroy(sal_tape *tape); /* NULL is fine */

/* The first mistake made on the tape: SAL_OK, or its status with the message in *err. */
SAL_API sal_status sal_tape_check(const sal_tape *tape, sal_error *err);

/* The shape of an expression; rank -1 if it is invalid. */
SAL_API sal_shape sal_expr_shape(sal_expr a);

/* Every function below records one node, at the caller's file and line; call it by the macro of the
 * same name without _at (from other languages: pass NULL, 0). All are O(1) but for copies of their
 * arrays. Broadcasting follows NumPy: shapes are aligned at the last axis, 1 stretches. */
#define SAL_HERE __FILE__, __LINE__

/* ---- leaves */

/* The embedded state, shape [N] (see space.h), or the part of one block: [count], or
 * [count, states] for a categorical block. */
SAL_API sal_expr sal_state_at(const char *file, int line, sal_tape *tape);
SAL_API sal_expr sal_state_block_at(const char *file, int line, sal_tape *tape, const char *block);
#define sal_state(tape) sal_state_at(SAL_HERE, (tape))
#define sal_state_block(tape, block) sal_state_block_at(SAL_HERE, (tape), (block))

/* A named parameter, zero until it is set or loaded. Asking twice for a name gives the same node
 * when the shapes agree and is a mistake when not. */
SAL_API sal_expr sal_param_at(const char *file, int line, sal_tape *tape, const char *name,
                              sal_shape shape);
#define sal_param(tape, name, ...) sal_param_at(SAL_HERE, (tape), (name), __VA_ARGS__)

/* A constant array (copied), and a constant scalar. */
SAL_API sal_expr sal_constant_at(const char *file, int line, sal_tape *tape, const double *values,
                                 sal_shape shape);
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

SALI_DECLARE_UNARY(exp)
SALI_DECLARE_UNARY(log)      /* natural; log 0 = -inf */
SALI_DECLARE_UNARY(softplus) /* log(1 + exp a) */
SALI_DECLARE_UNARY(sigmoid)  /* 1 / (1 + exp(-a)) */
SALI_DECLARE_UNARY(tanh)
SALI_DECLARE_UNARY(square)
#define sal_exp(a) sal_exp_at(SAL_HERE, (a))
#define sal_log(a) sal_log_at(SAL_HERE, (a))
#define sal_softplus(a) sal_softplus_at(SAL_HERE, (a))
#define sal_sigmoid(a) sal_sigmoid_at(SAL_HERE, (a))
#define sal_tanh(a) sal_tanh_at(SAL_HERE, (a))
#define sal_square(a) sal_square_at(SAL_HERE, (a))

/* factor * a, for a fixed number; sal_neg(a) is sal_scale(a, -1). */
SAL_API sal_expr sal_scale_at(const char *file, int line, sal_expr a, double factor);
#define sal_scale(a, factor) sal_scale_at(SAL_HERE, (a), (factor))
#define sal_neg(a) sal_scale_at(SAL_HERE, (a), -1.0)

/* ---- reductions: over all elements (to a scalar), or over one axis (which disappears) */

SALI_DECLARE_UNARY(sum)
SALI_DECLARE_UNARY(mean)
SALI_DECLARE_UNARY(logsumexp) /* log sum exp, -inf of all -inf */
#define sal_sum(a) sal_sum_at(SAL_HERE, (a))
#define sal_mean(a) sal_mean_at(SAL_HERE, (a))
#define sal_logsumexp(a) sal_logsumexp_at(SAL_HERE, (a))

/* axis in -rank .. rank - 1; negative counts from the last. */
SAL_API sal_expr sal_sum_axis_at(const char *file, int line, sal_expr a, int axis);
SAL_API sal_expr sal_mean_axis_at(const char *file, int line, sal_expr a, int axis);
SAL_API sal_expr sal_logsumexp_axis_at(const char *file, int line, sal_expr a, int axis);
#define sal_sum_axis(a, axis) sal_sum_axis_at(SAL_HERE, (a), (axis))
#define sal_mean_axis(a, axis) sal_mean_axis_at(SAL_HERE, (a), (axis))
#define sal_logsumexp_axis(a, axis) sal_logsumexp_axis_at(SAL_HERE, (a), (axis))

/* ---- linear algebra */

SALI_DECLARE_BINARY(dot)    /* sum_i a_i b_i of two vectors of one length: a scalar */
SALI_DECLARE_BINARY(matvec) /* [m, n] times [n]: [m] */
SALI_DECLARE_BINARY(matmul) /* [m, k] times [k, n]: [m, n] */
#define sal_dot(a, b) sal_dot_at(SAL_HERE, (a), (b))
#define sal_matvec(A, x) sal_matvec_at(SAL_HERE, (A), (x))
#define sal_matmul(A, B) sal_matmul_at(SAL_HERE, (A), (B))

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
 * Cost: value O(factors), gradient O(sum over factors and scope of the states). */
SAL_API sal_expr sal_table_at(const char *file, int line, sal_tape *tape, sal_expr T,
                              int64_t n_factors, const int64_t *scope_begin, const int64_t *scope);
#define sal_table(tape, T, n_factors, scope_begin, scope) \
    sal_table_at(SAL_HERE, (tape), (T), (n_factors), (scope_begin), (scope))

/* ---- shape */

/* The same numbers in row-major order under another shape of the same size. */
SAL_API sal_expr sal_reshape_at(const char *file, int line, sal_expr a, sal_shape shape);
#define sal_reshape(a, ...) sal_reshape_at(SAL_HERE, (a), __VA_ARGS__)

/* Elements start .. start + length - 1 along an axis. */
SAL_API sal_expr sal_slice_at(const char *file, int line, sal_expr a, int axis, int64_t start,
                              int64_t length);
#define sal_slice(a, axis, start, length) sal_slice_at(SAL_HERE, (a), (axis), (start), (length))

#ifdef __cplusplus
}
#endif
#endif
